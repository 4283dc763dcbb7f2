// The marks around the slots of the tape as plain data: paths, labels and grips.
//
// Strides are steps from the first element to its neighbour along a dim: arcs within a row, swings from
// row to row, loops where the stride is 0. The offset is a measure from the storage's start.

import { CACHE_LINE } from "../page/layout.js";

const LOW = 15; // how high the innermost arc rises, and how much higher each one around it
const HIGHER = 17;
const LABELLED = 128; // an arc as wide as this carries its label on top

/** Everything to draw for a view on a geometry: {paths, tags, grips}. */
export function marksOf(g, view) {
  const marks = { paths: [], tags: [], grips: [] };
  addresses(g, view, marks);
  cacheLines(g, view, marks);
  offsetBar(g, view, marks);
  const lifts = steps(g, view, marks);
  ends(g, view, marks);
  walk(g, view, lifts, marks);
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
  return `M${x0},${start}C${x0},${start + 22 * down} ${x1},${end - 44 * down} ${x1},${end}`;
}

const arrow = (x, y) => `M${x - 6},${y - 9}h12l-6,9z`;

function addresses(g, { layout }, { tags }) {
  for (const row of g.rows)
    if (row.gap) tags.push([`⋯ ${row.elements} elements not shown`, g.gutter, row.y, "sk-gap"]);
    else tags.push([`${row.row * g.perRow * layout.itemsize} B`, g.gutter - 12, row.y + g.height / 2 - 9, "sk-byte"]);
}

/** A bracket under the slots of each cache line; that of the selected element is dark and labelled. */
function cacheLines(g, { spot, layout, storageSize }, { paths, tags }) {
  const perLine = Math.max(1, Math.floor(CACHE_LINE / layout.itemsize));
  const dark = spot.element === null ? -1 : Math.floor(spot.element / perLine);
  for (const { row } of g.rows.filter((r) => !r.gap)) {
    const end = Math.min((row + 1) * g.perRow, storageSize);
    if (g.dense && (spot.element < row * g.perRow || spot.element >= end)) continue;
    for (let e = row * g.perRow; e < end; ) {
      const line = Math.floor(e / perLine);
      const stop = Math.min((line + 1) * perLine, end);
      const [x0, x1, y] = [g.left(e), g.left(stop - 1) + g.slot, g.top(e) + g.height + 5];
      const open = e % perLine === 0 ? `M${x0},${y - 3}V${y}` : `M${x0},${y}`;
      const close = stop % perLine === 0 ? `H${x1}V${y - 3}` : `H${x1}`;
      if (line === dark || !g.dense) paths.push([open + close, line === dark ? "sk-line is-dark" : "sk-line"]);
      // Labelled only where there is room beside the offset's label; the sentence below always names it.
      const offset = layout.storage_offset;
      const room = g.top(offset) === g.top(e) && x1 > g.left(offset) ? g.middle(offset) + 140 : g.left(e);
      const gap = g.rows.some((r) => r.gap && r.y > y && r.y < y + 24) ? 290 : 75; // its label goes first
      if (spot.element >= e && spot.element < stop && x1 - room > gap)
        tags.push([`cache line ${line}`, x1, y + 6, "sk-cacheline"]);
      e = stop;
    }
  }
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
    const y = g.top(first) + g.height + 12;
    paths.push([`M${g.left(first)},${y}H${g.left(stop - 1) + g.slot}`, "sk-measure"]);
  }
}

/** One step per dim with a grip at its tip; returns the height of each dim's arc. */
function steps(g, { layout, lit, index, storageSize }, { paths, tags, grips }) {
  const [start, lifts, taken] = [layout.storage_offset, [], new Map()];
  if (layout.shape.includes(0) || !g.has(start)) return lifts;
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
      tags.push(strideTag(g, layout, d, [start, to], x, lifts[d], faded));
    }
    grips.push([x, y - 8, `sk-d${d}`, `stride[${d}]`]);
  });
  offsetTag(g, start, lit !== null && lit !== "offset", { tags, grips });
  return lifts;
}

/** The label of a step whose tip is at x: over a wide arc, else beside the tip, or over it at the edge. */
function strideTag(g, { stride }, d, [from, to], x, lift, faded = "") {
  const text = `stride[${d}] = ${stride[d]}`;
  const sameRow = g.top(from) === g.top(to);
  const y = g.top(to) - 1;
  const kind = `sk-stride sk-d${d}${faded}`;
  if (sameRow && x - g.middle(from) > LABELLED)
    return [text, (g.middle(from) + x) / 2, y - lift - 8, `${kind} is-centred`];
  const high = sameRow ? y - lift - 4 : y - 20;
  if (x + 9 + 7 * text.length > g.room) return [text, x + 9, high - 16, `${kind} is-left`];
  return [text, x + 9, high, kind];
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
  const y = g.top(start) + g.height + 12;
  const crowded = g.middle(start) + 150 > g.width;
  const side = crowded ? " is-left" : "";
  const x = crowded ? g.left(start) - 8 : g.middle(start) + 10;
  tags.push([`storage_offset = ${start}`, x, y - 1, `sk-offset${faded ? " is-faded" : ""}${side}`]);
  grips.push([g.left(start), y, "sk-offset", "storage_offset"]);
}

/** The lit term walked step by step: from the partial sum before it to the one after. */
function walk(g, { lit, layout, index }, lifts, { paths, tags }) {
  if (lit === null || lit === "offset" || index === null) return;
  let from = layout.storage_offset;
  for (let d = 0; d < lit; d++) from += index[d] * layout.stride[d];
  const hops = index[lit] > 24 ? 1 : index[lit];
  const length = hops === 1 ? index[lit] * layout.stride[lit] : layout.stride[lit];
  const lift = lifts[lit] ?? LOW;
  let label = null; // it stands at the end of the walk
  for (let k = 0; k < hops && length > 0; k++, from += length) {
    const to = from + length;
    if (!g.has(from) || !g.has(to)) continue;
    paths.push([stepPath(g, from, to, lift), `sk-hop sk-d${lit}`]);
    paths.push([arrow(g.middle(to), g.top(to) - 1), `sk-tip sk-d${lit}`]);
    label = strideTag(g, layout, lit, [from, to], g.middle(to), lift);
  }
  if (label) tags.push(label);
}
