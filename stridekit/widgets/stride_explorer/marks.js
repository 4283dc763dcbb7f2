// The marks around the slots of the tape: paths, labels and grips, as plain data.

/** @import { TapeGeometry } from "./tape.js" */
/** @import { Layout } from "../page/layout.js" */

import { CACHE_LINE, numel, range, sum } from "../page/layout.js";

/**
 * The path of a line and its class.
 * @typedef {[string, string]} Path
 */

/**
 * A label at a place, and its classes. It begins at x, or is centred there, or ends there.
 * @typedef {[string, number, number, string]} Tag
 */

/**
 * The place of a grip, its classes, and the slider that it moves.
 * @typedef {[number, number, string, string]} Grip
 */

/**
 * The part of a cache line in a row: its first and last element, and whether the cache line begins
 * and ends there.
 * @typedef {{cacheLine: number, first: number, last: number, opens: boolean, closes: boolean}} Part
 */

/**
 * The properties of a view that marks read: `part` is the layout that is drawn, `dims` are its dims,
 * and `lit` is the term of the formula that is lit.
 * @typedef {object} MarkedView
 * @property {Layout} layout
 * @property {Layout} part
 * @property {number[]} dims
 * @property {(flat: number) => string} named
 * @property {object | null} window
 * @property {number} storageSize
 * @property {{element: number | null}} spot
 * @property {number | "offset" | null} lit
 * @property {number[] | null} index
 * @property {(element: number) => string} label
 */

const LOW = 14; // how high the innermost arc rises
const HIGHER = 16; // how much higher each arc around it
const LABELLED = 128; // an arc as wide as this carries its label on top
const LABEL = 16; // the height of a label
const MOST_HOPS = 24; // that a walk shows one by one

/**
 * Everything to draw for a view on a geometry.
 * @param {TapeGeometry} g
 * @param {MarkedView} view
 */
export function marksOf(
  g,
  { layout, part, dims, named, window, storageSize, spot, lit, index, label },
) {
  const { stride, itemsize } = layout;
  const { storage_offset: start } = part;
  const isMovable = stride.every((step) => step >= 0);
  const { element } = spot;
  /** @type {Path[]} */
  const paths = [];
  /** @type {Tag[]} */
  const tags = [];
  /** @type {Grip[]} */
  const grips = [];
  const rows = g.rows.flatMap(({ row }) => (row === undefined ? [] : [row]));
  const parts = rows.flatMap(partsIn);

  // The dims by the lengths of their steps: short arcs nest inside, and loops of stride 0 are
  // outermost.
  const stepLength = (d) => Math.abs(stride[d]) || Number.MAX_VALUE;
  const dimsByLength = [...dims].sort((a, b) => stepLength(a) - stepLength(b) || b - a);
  const liftOf = (d) => LOW + HIGHER * Math.max(dimsByLength.indexOf(d), 0);
  const fading = (term) => (lit !== null && lit !== term ? " is-faded" : "");

  drawRowNames();
  drawCacheLines();
  if (!window) drawOffsetMeasure();
  if (numel(part) && g.has(start)) {
    drawOffsetTag();
    drawSteps();
  }
  if (numel(part) && !window && isMovable) drawEnds();
  drawWalk();
  drawSpot();
  return { paths, tags, grips };

  // Labels

  function isInside(tag) {
    const [left, right] = edges(tag);
    return left >= 0 && right <= Math.max(g.room, g.width);
  }

  /** Whether a label would lie on no other label and on no grip. */
  function isFree(tag) {
    const [left, right, top] = edges(tag);
    // The diamonds at the ends of dims hang from their slots, over the labels.
    const heightOf = (kind) => (kind.startsWith("sk-end") ? LABEL - 2 : LABEL / 2);
    const gripEdges = grips.map(([x, y, kind]) => [x - 8, x + 8, y - heightOf(kind)]);
    return [...tags.map(edges), ...gripEdges].every(
      ([l, r, t]) => right <= l || r <= left || Math.abs(t - top) >= LABEL,
    );
  }

  /** Add a label at the first of some places where it is free; returns whether there is one. */
  function addWhereFree(places) {
    const free = places.find((tag) => isInside(tag) && isFree(tag));
    if (free) tags.push(free);
    return free !== undefined;
  }

  /**
   * Add a label for certain: at one of some places, beside what is in the way of the first one, or
   * on it.
   */
  function addSomewhere(places) {
    const [text, , y, kind] = places[0];
    const inTheWay = tags.map(edges).filter(([, , top]) => top === y);
    const beyond = inTheWay.map(([, right]) => [text, right + 4, y, kind]);
    if (!addWhereFree([...places, ...beyond])) tags.push(places.find(isInside) ?? places[0]);
  }

  /**
   * Add the label of a step whose tip is at x: over a wide arc, else beside the tip, or over that.
   */
  function addStrideTag(d, from, to, x) {
    const text = `stride[${d}] = ${stride[d]}`;
    const kind = `sk-stride sk-d${d}${fading(d)}`;
    const beside = (y) => [
      [text, x + 12, y, kind],
      [text, x - 12, y, `${kind} is-left`],
    ];
    if (g.top(from) !== g.top(to)) {
      addSomewhere(beside(g.top(to) - LABEL - 3));
      return;
    }
    const y = g.top(to) - liftOf(d) - 5;
    const places = [...beside(y), ...beside(y - LABEL)];
    const middle = (g.middle(from) + x) / 2;
    if (x - g.middle(from) > LABELLED) places.unshift([text, middle, y - 4, `${kind} is-centred`]);
    addSomewhere(places);
  }

  // Rows

  /** The address of each row, or how much is left out. */
  function drawRowNames() {
    for (const placed of g.rows)
      if (placed.row === undefined)
        tags.push([`⋯ ${placed.elements} elements not shown`, g.gutter, placed.y, "sk-gap"]);
      else {
        const middle = placed.y + g.height / 2 - LABEL / 2;
        const byte = placed.row * g.perRow * itemsize;
        tags.push([`${byte} B`, g.gutter - 12, middle, "is-left sk-byte"]);
      }
  }

  /**
   * The parts of cache lines in a row.
   * @returns {Part[]}
   */
  function partsIn(row) {
    const perLine = Math.max(1, Math.floor(CACHE_LINE / itemsize));
    const rowStart = row * g.perRow;
    const rowEnd = Math.min(rowStart + g.perRow, storageSize);
    const firsts = range(rowEnd - rowStart)
      .map((k) => rowStart + k)
      .filter((e) => e === rowStart || e % perLine === 0);
    return firsts.map((first, k) => {
      const end = firsts[k + 1] ?? rowEnd;
      return {
        cacheLine: Math.floor(first / perLine),
        first,
        last: end - 1,
        opens: first % perLine === 0,
        closes: end % perLine === 0,
      };
    });
  }

  /**
   * A bracket under the slots of each cache line; that of the selected element is dark. A dense
   * tape has only this one.
   */
  function drawCacheLines() {
    const dark = element === null ? null : Math.floor((element * itemsize) / CACHE_LINE);
    for (const { cacheLine, first, last, opens, closes } of parts) {
      const isDark = cacheLine === dark;
      if (g.dense && !isDark) continue;
      const x0 = g.left(first);
      const x1 = g.left(last) + g.slot;
      const y = g.top(first) + g.height + 5;
      const bracket = `M${x0},${opens ? y - 3 : y}V${y}H${x1}${closes ? `V${y - 3}` : ""}`;
      paths.push([bracket, isDark ? "sk-line is-dark" : "sk-line"]);
    }
  }

  // The layout

  /** A line under the elements before the offset. */
  function drawOffsetMeasure() {
    for (const row of rows) {
      const first = row * g.perRow;
      const end = Math.min(first + g.perRow, start);
      const y = g.top(first) + g.height + 10;
      if (end > first)
        paths.push([`M${g.left(first)},${y}H${g.left(end - 1) + g.slot}`, "sk-measure sk-offset"]);
    }
  }

  function drawOffsetTag() {
    const isStart = start === layout.storage_offset;
    const text = isStart ? `storage_offset = ${start}` : named(0);
    const kind = `sk-offset${fading("offset")}`;
    const y = g.top(start) + g.height + 8;
    addSomewhere([
      [text, g.middle(start) + 4, y, kind],
      [text, g.left(start) - 12, y, `${kind} is-left`],
    ]);
    if (isStart && isMovable) grips.push([g.left(start), y + 2, "sk-offset", "storage_offset"]);
  }

  /** One step per dim, with a grip at its tip. */
  function drawSteps() {
    const lanes = new Map(); // how many steps each has
    const labelled = [];
    for (const d of dimsByLength) {
      const target = start + stride[d];
      if (target >= storageSize || !g.has(target)) continue;
      const isSameRow = g.top(target) === g.top(start);
      // Steps to the same slot stand side by side, and so do steps that go straight down.
      const lane = isSameRow ? target : "down";
      const count = lanes.get(lane) ?? 0;
      lanes.set(lane, count + 1);
      const shift = count * (isSameRow ? 13 : 8);
      const x = g.middle(target) + shift + (target === start ? 7 : 0);
      const y = g.top(target) - 1;
      const isWalked = lit === d && index?.[d] && stride[d]; // the walk takes the step's place
      if (!isWalked) {
        const path = stepPath(g, start, target, liftOf(d), shift);
        paths.push([path, `sk-step sk-d${d}${fading(d)}`]);
        paths.push([arrow(x, y), `sk-tip sk-d${d}${fading(d)}`]);
        labelled.push({ d, target, x });
      }
      if (isMovable) grips.push([x, y - 8, `sk-d${d}`, `stride[${d}]`]);
    }
    // Labels keep clear of grips, so all grips come first.
    for (const { d, target, x } of labelled) addStrideTag(d, start, target, x);
  }

  /**
   * A grip under the last element along each dim, to change its size; none where the stride is 0.
   */
  function drawEnds() {
    const shifts = new Map();
    for (const [d, size] of part.shape.entries()) {
      const last = start + (size - 1) * stride[d];
      if (stride[d] === 0 || last >= storageSize || !g.has(last)) continue;
      const shift = shifts.get(last) ?? 0;
      shifts.set(last, shift + 13);
      const y = g.top(last) + g.height + 5;
      grips.push([g.middle(last) + shift, y, `sk-end sk-d${d}`, `size[${d}]`]);
    }
  }

  // The selected or hovered element

  /**
   * The lit term walked step by step, from the partial sum before it to the one after; a long walk
   * is one hop.
   */
  function drawWalk() {
    if (lit === null || lit === "offset" || index === null) return;
    const isLong = index[lit] > MOST_HOPS;
    const hops = isLong ? 1 : index[lit];
    const length = isLong ? index[lit] * stride[lit] : stride[lit];
    if (length <= 0) return;
    const begin = layout.storage_offset + sum(range(lit).map((d) => index[d] * stride[d]));
    /** @type {{from: number, to: number} | null} */
    let lastHop = null; // the label stands at the end of the walk
    for (const k of range(hops)) {
      const from = begin + k * length;
      const to = from + length;
      if (!g.has(from) || !g.has(to)) continue;
      paths.push([stepPath(g, from, to, liftOf(lit)), `sk-hop sk-d${lit}`]);
      paths.push([arrow(g.middle(to), g.top(to) - 1), `sk-tip sk-d${lit}`]);
      lastHop = { from, to };
    }
    if (lastHop) addStrideTag(lit, lastHop.from, lastHop.to, g.middle(lastHop.to));
  }

  /**
   * The number of the dark cache line, where there is room; the sentence under the formula always
   * has it.
   */
  function drawSpot() {
    if (element === null) return;
    const part = parts.find(({ first, last }) => element >= first && element <= last);
    if (part && g.below(element) >= LABEL + 7) {
      const x = g.left(part.last) + g.slot;
      const y = g.top(part.first) + g.height + 7;
      addWhereFree([[`cache line ${part.cacheLine}`, x, y, "is-left sk-cacheline"]]);
    }
    // Small slots have no text: the label of the element that is pointed at stands above its slot.
    if (g.dense && g.has(element))
      tags.push([label(element), g.middle(element), g.top(element) - 22, "sk-flag"]);
  }
}

/** The path of one step from slot to slot; `shift` separates steps that would coincide. */
function stepPath(g, from, to, lift, shift = 0) {
  const fromTop = g.top(from);
  const toTop = g.top(to);
  const x1 = g.middle(to) + shift;
  if (from === to) {
    const high = fromTop - lift * 1.5;
    return `M${x1 - 7},${fromTop - 2}C${x1 - 26},${high} ${x1 + 26},${high} ${x1 + 7},${fromTop - 7}`;
  }
  if (fromTop === toTop) {
    const x0 = g.middle(from);
    const high = fromTop - lift * 1.34;
    return `M${x0},${fromTop - 2}C${x0},${high} ${x1},${high} ${x1},${toTop - 7}`;
  }
  const x0 = g.middle(from) + shift;
  const isDown = fromTop < toTop;
  const direction = isDown ? 1 : -1;
  const y0 = isDown ? fromTop + g.height : fromTop;
  const y1 = isDown ? toTop - 7 : toTop + g.height + 7;
  const distance = Math.abs(y1 - y0);
  const bend0 = y0 + Math.min(22, distance / 2) * direction;
  const bend1 = y1 - Math.min(44, distance) * direction;
  return `M${x0},${y0}C${x0},${bend0} ${x1},${bend1} ${x1},${y1}`;
}

const arrow = (x, y) => `M${x - 6},${y - 9}h12l-6,9z`;

/** The left edge, right edge and top of a label. */
function edges([text, x, y, kind]) {
  const width = 7 * text.length + 8;
  let left = x;
  if (kind.includes("is-left")) left = x - width;
  else if (kind.includes("is-centred")) left = x - width / 2;
  return [left, left + width, y];
}
