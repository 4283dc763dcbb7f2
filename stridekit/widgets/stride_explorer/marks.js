// The marks around the slots of the tape as plain data: paths, labels and grips.
//
// Strides are steps from the first element to its neighbour along a dim: arcs within a row, swings from
// row to row, loops where the stride is 0. The offset is a measure from the storage's start.

import { CACHE_LINE } from "../page/layout.js";

const LOW = 14; // how high the innermost arc rises, and how much higher each one around it
const HIGHER = 16;
const LABELLED = 128; // an arc as wide as this carries its label on top
const LABEL = 16; // the height of a label

export function marksOf(g, view) {
  const marks = { paths: [], tags: [], grips: [] };
  addresses(g, view, marks);
  cacheLines(g, view, marks);
  offsetBar(g, view, marks);
  const lifts = steps(g, view, marks);
  ends(g, view, marks);
  walk(g, view, lifts, marks);
  cacheLineTag(g, view, marks);
  flag(g, view, marks);
  return marks;
}

/** The path of one step from slot to slot; `shift` separates steps that would coincide. */
export function stepPath(g, from, to, lift, shift = 0) {
  const [y0, y1] = [g.top(from), g.top(to)];
  const x0 = g.middle(from) + (from === to || y0 !== y1 ? shift : 0);
  const x1 = g.middle(to) + shift;
  const high = y0 - lift * (from === to ? 1.5 : 1.34);
  if (from === to)
    return `M${x0 - 7},${y0 - 2}C${x0 - 26},${high} ${x0 + 26},${high} ${x0 + 7},${y0 - 7}`;
  if (y0 === y1) return `M${x0},${y0 - 2}C${x0},${high} ${x1},${high} ${x1},${y1 - 7}`;
  const down = y0 < y1 ? 1 : -1;
  const start = down > 0 ? y0 + g.height : y0;
  const end = down > 0 ? y1 - 7 : y1 + g.height + 7;
  const way = Math.abs(end - start);
  return `M${x0},${start}C${x0},${start + Math.min(22, way / 2) * down} ${x1},${end - Math.min(44, way) * down} ${x1},${end}`;
}

function edges([text, x, y, kind]) {
  const width = 7 * text.length + 8;
  const left = x - (kind.includes("is-left") ? width : kind.includes("is-centred") ? width / 2 : 0);
  return [left, left + width, y];
}

/** Add a label at the first of some places where it lies on no other label and on no grip; returns whether there is one. */
function place(g, { tags, grips }, places) {
  // The diamonds at the ends of dims hang from their slots, over the labels.
  const high = (kind) => (kind.startsWith("sk-end") ? LABEL - 2 : LABEL / 2);
  const taken = tags.map(edges).concat(grips.map(([x, y, kind]) => [x - 8, x + 8, y - high(kind)]));
  const free = places.find((tag) => {
    const [left, right, top] = edges(tag);
    return isInside(g, tag) && taken.every(([l, r, t]) => right <= l || r <= left || Math.abs(t - top) >= LABEL);
  });
  if (free) tags.push(free);
  return Boolean(free);
}

function isInside(g, tag) {
  const [left, right] = edges(tag);
  return left >= 0 && right <= Math.max(g.room, g.width);
}

/** Add a label for certain: at one of some places, beside what is in the way of the first one, or on it. */
function placeSomewhere(g, marks, places) {
  const [text, , y, kind] = places[0];
  const beyond = marks.tags.map(edges).filter(([, , top]) => top === y).map(([, right]) => [text, right + 4, y, kind]);
  if (!place(g, marks, places.concat(beyond))) marks.tags.push(places.find((tag) => isInside(g, tag)) ?? places[0]);
}

const arrow = (x, y) => `M${x - 6},${y - 9}h12l-6,9z`;

function addresses(g, { layout }, { tags }) {
  for (const row of g.rows)
    if (row.gap) tags.push([`⋯ ${row.elements} elements not shown`, g.gutter, row.y, "sk-gap"]);
    else tags.push([`${row.row * g.perRow * layout.itemsize} B`, g.gutter - 12, row.y + g.height / 2 - LABEL / 2, "is-left sk-byte"]);
}

/** The part of a cache line in each row: [line, first element, last element]. */
function cacheLineParts(g, { layout, storageSize }) {
  const perLine = Math.max(1, Math.floor(CACHE_LINE / layout.itemsize));
  return g.rows.filter((row) => !row.gap).flatMap(({ row }) => {
    const [parts, end] = [[], Math.min((row + 1) * g.perRow, storageSize)];
    for (let e = row * g.perRow, stop; e < end; e = stop) {
      const line = Math.floor(e / perLine);
      stop = Math.min((line + 1) * perLine, end);
      parts.push([line, e, stop - 1, e % perLine === 0, stop % perLine === 0]);
    }
    return parts;
  });
}

/** A bracket under the slots of each cache line; that of the selected element is dark. */
function cacheLines(g, view, { paths }) {
  const { spot, layout } = view;
  const dark = Math.floor((spot.element ?? -Infinity) * layout.itemsize / CACHE_LINE);
  for (const [line, first, last, opens, closes] of cacheLineParts(g, view)) {
    if (g.dense && line !== dark) continue;
    const [x0, x1, y] = [g.left(first), g.left(last) + g.slot, g.top(first) + g.height + 5];
    const bracket = `M${x0},${opens ? y - 3 : y}V${y}H${x1}${closes ? `V${y - 3}` : ""}`;
    paths.push([bracket, line === dark ? "sk-line is-dark" : "sk-line"]);
  }
}

/** The number of the dark cache line, where there is room; the sentence under the formula always has it. */
function cacheLineTag(g, view, marks) {
  const { element } = view.spot;
  const part = element === null ? undefined : cacheLineParts(g, view).find(([, first, last]) => element >= first && element <= last);
  if (part === undefined || g.below(element) < LABEL + 7) return;
  const [line, first, last] = part;
  const y = g.top(first) + g.height + 7;
  place(g, marks, [[`cache line ${line}`, g.left(last) + g.slot, y, "is-left sk-cacheline"]]);
}

/** Small slots have no text: the label of the element that is pointed at stands above its slot. */
function flag(g, { spot, label }, { tags }) {
  if (!g.dense || spot.element === null || !g.has(spot.element)) return;
  tags.push([label(spot.element), g.middle(spot.element), g.top(spot.element) - 22, "sk-flag"]);
}

function offsetBar(g, { layout }, { paths }) {
  for (const { row } of g.rows.filter((r) => !r.gap)) {
    const [first, stop] = [row * g.perRow, Math.min((row + 1) * g.perRow, layout.storage_offset)];
    if (stop <= first) continue;
    const y = g.top(first) + g.height + 10;
    paths.push([`M${g.left(first)},${y}H${g.left(stop - 1) + g.slot}`, "sk-measure"]);
  }
}

/** One step per dim with a grip at its tip; returns the height of each dim's arc. */
function steps(g, { layout, lit, index, storageSize }, { paths, tags, grips }) {
  const [start, lifts, taken] = [layout.storage_offset, [], new Map()];
  if (layout.shape.includes(0) || !g.has(start)) return lifts;
  offsetTag(g, start, lit !== null && lit !== "offset", { tags, grips });
  const labels = []; // once all grips stand
  inwards(layout.stride).forEach((d, rank) => {
    const to = start + layout.stride[d];
    lifts[d] = LOW + HIGHER * rank;
    if (to >= storageSize || !g.has(to)) return;
    const sameRow = g.top(to) === g.top(start);
    // Steps to the same slot stand side by side, and so do steps that go straight down.
    const lane = sameRow ? to : "down";
    const shift = (taken.get(lane) ?? 0) * (sameRow ? 13 : 8);
    taken.set(lane, (taken.get(lane) ?? 0) + 1);
    const faded = lit !== null && lit !== d ? " is-faded" : "";
    const x = g.middle(to) + shift + (to === start ? 7 : 0);
    const y = g.top(to) - 1;
    const walked = lit === d && index?.[d] && layout.stride[d]; // the walk takes the step's place
    if (!walked) {
      paths.push([stepPath(g, start, to, lifts[d], shift), `sk-step sk-d${d}${faded}`]);
      paths.push([arrow(x, y), `sk-tip sk-d${d}${faded}`]);
      labels.push([d, [start, to], x, lifts[d], faded]);
    }
    grips.push([x, y - 8, `sk-d${d}`, `stride[${d}]`]);
  });
  for (const label of labels) strideTag(g, layout, { tags, grips }, ...label);
  return lifts;
}

/** The label of a step whose tip is at x: over a wide arc, else beside the tip, or over that. */
function strideTag(g, { stride }, marks, d, [from, to], x, lift, faded = "") {
  const text = `stride[${d}] = ${stride[d]}`;
  const sameRow = g.top(from) === g.top(to);
  const y = g.top(to) - 1 - (sameRow ? lift + 4 : LABEL + 2);
  const kind = `sk-stride sk-d${d}${faded}`;
  const over = [[text, (g.middle(from) + x) / 2, y - 4, `${kind} is-centred`]];
  const at = (height) => [[text, x + 12, height, kind], [text, x - 12, height, `${kind} is-left`]];
  const beside = at(y).concat(sameRow ? at(y - LABEL) : []);
  placeSomewhere(g, marks, sameRow && x - g.middle(from) > LABELLED ? over.concat(beside) : beside);
}

/** A grip under the last element along each dim, to change its size; none where the stride is 0. */
function ends(g, { layout, storageSize }, { grips }) {
  if (layout.shape.includes(0)) return;
  const taken = new Map();
  layout.shape.forEach((size, d) => {
    const last = layout.storage_offset + (size - 1) * layout.stride[d];
    if (layout.stride[d] === 0 || last >= storageSize || !g.has(last)) return;
    const shift = taken.get(last) ?? 0;
    taken.set(last, shift + 13);
    grips.push([g.middle(last) + shift, g.top(last) + g.height + 5, `sk-end sk-d${d}`, `size[${d}]`]);
  });
}

/** The order in which arcs nest: short steps inside, loops of stride 0 outermost. */
function inwards(stride) {
  const length = (d) => stride[d] || Number.MAX_VALUE;
  return stride.map((_, d) => d).sort((a, b) => length(a) - length(b) || b - a);
}

function offsetTag(g, start, faded, { tags, grips }) {
  const [text, kind] = [`storage_offset = ${start}`, `sk-offset${faded ? " is-faded" : ""}`];
  const y = g.top(start) + g.height + 8;
  placeSomewhere(g, { tags, grips }, [[text, g.middle(start) + 4, y, kind], [text, g.left(start) - 12, y, `${kind} is-left`]]);
  grips.push([g.left(start), y + 2, "sk-offset", "storage_offset"]);
}

/** The lit term walked step by step: from the partial sum before it to the one after. */
function walk(g, { lit, layout, index }, lifts, { paths, tags, grips }) {
  if (lit === null || lit === "offset" || index === null) return;
  let from = layout.storage_offset;
  for (let d = 0; d < lit; d++) from += index[d] * layout.stride[d];
  const hops = index[lit] > 24 ? 1 : index[lit];
  const length = hops === 1 ? index[lit] * layout.stride[lit] : layout.stride[lit];
  const lift = lifts[lit] ?? LOW;
  let last = null; // the label stands at the end of the walk
  for (let k = 0; k < hops && length > 0; k++, from += length) {
    const to = from + length;
    if (!g.has(from) || !g.has(to)) continue;
    paths.push([stepPath(g, from, to, lift), `sk-hop sk-d${lit}`]);
    paths.push([arrow(g.middle(to), g.top(to) - 1), `sk-tip sk-d${lit}`]);
    last = [from, to];
  }
  if (last) strideTag(g, layout, { tags, grips }, lit, last, g.middle(last[1]), lift);
}
