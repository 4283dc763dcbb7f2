// The costs of walking a layout: cache lines and hits of a loop order, sectors of a warp; walks
// worth a look; and the answers to Python and the toolbar. Everything is counted by simulation:
// visit after visit through a cache that drops the cache line used longest ago.
// tests/course/live.py compares that with torch and with slower counting.

/** @import { Layout } from "../page/layout.js" */

import {
  CACHE_LINE,
  counted,
  elementName,
  numel,
  offset,
  range,
  tuple,
  unflatten,
} from "../page/layout.js";

/**
 * A layout with an `order`, its dims outermost first, and its `name` in sentences.
 * @typedef {Layout & {name: string, order: number[]}} Walk
 */

/**
 * A visit to an element: its cache line, whether the cache had it, and the cache lines that the
 * cache has afterwards.
 * @typedef {{element: number, line: number, hit: boolean, cached: number[]}} Visit
 */

/**
 * The numbers of a warp, in elements; only the itemsize is in bytes. Lane t reads element
 * t * stride + offset.
 * @typedef {{itemsize: number, stride: number, offset: number}} Warp
 */

/**
 * The state of the explorer: one or two walks, the number of visits made, the size of the cache,
 * the bytes from the start of a cache line to that of the storage, and the warp that is shown in
 * place of the walks.
 * @typedef {object} State
 * @property {Walk[]} walks
 * @property {number} visit
 * @property {number} cache_lines
 * @property {number} alignment
 * @property {Warp | null} warp
 */

/**
 * One or two walks side by side, and the lesson in them.
 * @typedef {{name: string, walks: Walk[], lesson: string}} Preset
 */

export const SECTOR = 32; // bytes
export const LANES = 32;
export const ITEMSIZES = [1, 2, 4, 8, 16];
export const CACHE_SIZES = [1, 2, 4, 8, 16, 32];

// Walks -------------------------------------------------------------------------------------------

const indexAt = ({ shape, order }, k) => unflatten(shape, k, order);

/**
 * Every visit of a walk.
 * @param {Walk} walk
 * @param {number} cacheLines
 * @param {number} alignment
 * @returns {Visit[]}
 */
export function visitsOf(walk, cacheLines, alignment) {
  /** @type {number[]} */
  const cache = []; // the cache line used longest ago is the first
  return range(numel(walk)).map((k) => {
    const element = offset(walk, indexAt(walk, k));
    const line = Math.floor((alignment + element * walk.itemsize) / CACHE_LINE);
    const hit = cache.includes(line);
    if (hit) cache.splice(cache.indexOf(line), 1);
    cache.push(line);
    if (cache.length > cacheLines) cache.shift();
    return { element, line, hit, cached: [...cache] };
  });
}

/**
 * The costs of the visits before `upto`.
 * @param {Visit[]} visits
 * @param {number} itemsize
 */
export function countsOf(visits, itemsize, upto = visits.length) {
  const visited = visits.slice(0, upto);
  const misses = visited.filter(({ hit }) => !hit).length;
  return {
    visits: visited.length,
    lines: new Set(visited.map(({ line }) => line)).size,
    misses,
    minimum: new Set(visits.map(({ line }) => line)).size,
    bytes_used: new Set(visited.map(({ element }) => element)).size * itemsize,
    bytes_loaded: misses * CACHE_LINE,
  };
}

export function orderName(order) {
  if (!order.length) return "no dims";
  if (order.length === 1) return "dim 0";
  const dims = `dims ${tuple(order)}`;
  if (String(order) === "0,1") return `row by row, ${dims}`;
  if (String(order) === "1,0") return `column by column, ${dims}`;
  return dims;
}

/** A sentence on the loaded lines, the fewest possible, and the share of bytes used. */
export function countsSentence({ visits, lines, misses, bytes_used, bytes_loaded }) {
  const least = misses <= lines ? "as few as can be" : `${lines} would do`;
  const verb = visits === 1 ? "loads" : "load";
  const loads = `${counted(visits, "visit")} ${verb} ${counted(misses, "cache line")}`;
  return `${loads}, ${least}: ${bytes_used} of ${bytes_loaded} bytes are used`;
}

/** A sentence on visit `number`, counted from 1. */
export function visitSentence(walk, visits, number) {
  if (!visits.length) return "there is no element to visit: a size is 0";
  if (number === 0) return `no visit yet, ${visits.length} to come`;
  const count = Math.min(number, visits.length);
  const { element, line } = visits[count - 1];
  const name = elementName(indexAt(walk, count - 1), walk.name);
  const outcome = outcomeOf(visits.slice(0, count));
  return `visit ${count} of ${visits.length}: ${name}, element ${element}, cache line ${line}: ${outcome}`;
}

/** The outcome of the last of some visits: a hit, or a miss that loads its cache line again. */
function outcomeOf(visits) {
  const { line, hit } = visits[visits.length - 1];
  if (hit) return "a hit";
  const loads = visits.filter((visit) => visit.line === line && !visit.hit).length;
  return loads === 1 ? "a miss, loaded" : `a miss, now loaded ${loads} times`;
}

/**
 * A sentence on which of two walks loads more, and how many times as much; `sides` names their
 * places.
 */
export function comparison(left, right, sides = ["left", "right"]) {
  const fewest = Math.min(left.misses, right.misses);
  const most = Math.max(left.misses, right.misses);
  if (fewest === most) return `both load ${counted(most, "cache line")}`;
  const [cheaper, dearer] = right.misses > left.misses ? sides : [...sides].reverse();
  if (fewest === 0) return `the ${dearer} one loads ${most}, the ${cheaper} one none`;
  const tenths = Math.floor((20 * most + fewest) / (2 * fewest)); // rounded
  return `the ${dearer} one loads ${tenths / 10} times as many cache lines as the ${cheaper} one`;
}

// A warp ------------------------------------------------------------------------------------------

/** The byte at which the element of each lane begins. */
export const laneBytes = ({ itemsize, stride, offset }) =>
  range(LANES).map((lane) => (lane * stride + offset) * itemsize);

/**
 * The sector of each lane, and what they cost.
 * @param {Warp} warp
 */
export function sectorsOf(warp) {
  const sectors = laneBytes(warp).map((byte) => Math.floor(byte / SECTOR));
  const bytesUsed = warp.itemsize * (warp.stride ? LANES : 1);
  const touched = new Set(sectors).size;
  return {
    sectors,
    touched,
    minimum: Math.ceil(bytesUsed / SECTOR),
    bytesUsed,
    bytesLoaded: touched * SECTOR,
  };
}

export function warpSentence(warp) {
  const { touched, minimum } = sectorsOf(warp);
  const least = touched > minimum ? `${minimum} would do` : "as few as can be";
  const offset = warp.offset ? `, offset ${warp.offset}` : "";
  return (
    `${LANES} lanes, ${counted(warp.itemsize, "byte")} each, stride ${warp.stride}${offset}: ` +
    `${counted(touched, "sector")}, ${least}; ${wasteOf(warp)}`
  );
}

function wasteOf(warp) {
  const { bytesUsed, bytesLoaded } = sectorsOf(warp);
  const waste = bytesLoaded - bytesUsed;
  if (!waste) return "every byte is used";
  if (2 * waste === bytesLoaded && warp.offset === 0) return "half of each is thrown away";
  return `${waste} of ${bytesLoaded} bytes are thrown away`;
}

// Presets -----------------------------------------------------------------------------------------

/** @returns {Walk} */
const walk = (name, shape, stride, order = range(shape.length)) => ({
  name,
  shape,
  stride,
  storage_offset: 0,
  itemsize: 8,
  order,
});
const ROWS = walk("x", [6, 8], [8, 1]);
const TURNED = walk("x.t()", [8, 6], [1, 8]);
const COLUMNS = [1, 0];
const permuted = (order) => walk("x.permute(2, 0, 1)", [4, 2, 6], [1, 24, 4], order);

/**
 * Walks mostly over 48 numbers of 8 bytes, which fill six cache lines.
 * @type {Preset[]}
 */
export const PRESETS = [
  {
    name: "rows against columns",
    walks: [ROWS, { ...ROWS, order: COLUMNS }],
    lesson:
      "One tensor, two loop orders. A column crosses six lines: a cache of four has dropped each of them before the " +
      "next column comes.",
  },
  {
    name: "transpose",
    walks: [TURNED, { ...TURNED, order: COLUMNS }],
    lesson:
      "x.t() is not slow. torch's elementwise operations sort their loops by stride, so that x.t() + 1 walks the " +
      "memory as x + 1 does.",
  },
  {
    name: "one loop, two layouts",
    walks: [ROWS, TURNED],
    lesson:
      "The same loops over both. Where two operands lie differently, no order suits both: one of them has to jump.",
  },
  {
    name: "every 2nd column",
    walks: [ROWS, walk("x[:, ::2]", [6, 8], [16, 2])],
    lesson:
      "Lines come whole: every second element uses half of each, and as many visits load twice as many lines.",
  },
  {
    name: "stride 5",
    walks: [walk("x", [24], [1]), walk("x[::5]", [24], [5])],
    lesson:
      "Every fifth number is wanted, and the four between come along: 8 bytes in 40 are of use.",
  },
  {
    name: "broadcast",
    walks: [walk("row.expand(6, 8)", [6, 8], [0, 1]), walk("column.expand(6, 8)", [6, 8], [1, 0])],
    lesson: "A stride of 0 comes back to the same elements: 48 visits, and hardly a line to load.",
  },
  {
    name: "3-d permuted",
    walks: [permuted([0, 1, 2]), permuted([1, 2, 0])],
    lesson:
      "Three dims have six orders; the one sorted by stride reads the memory from end to end.",
  },
];

// For Python and the toolbar ----------------------------------------------------------------------

/** @type {State & {warp: Warp}} */
export const EXAMPLE = {
  walks: PRESETS[0].walks,
  warp: { itemsize: 4, stride: 1, offset: 0 },
  visit: 0,
  cache_lines: 0,
  alignment: 0,
};

/**
 * The costs of each walk so far.
 * @param {State} state
 */
export const countsOfAll = ({ walks, cache_lines, alignment, visit }) =>
  walks.map((walk) => countsOf(visitsOf(walk, cache_lines, alignment), walk.itemsize, visit));

/**
 * The left walk, the right one's order, the cache lines that each has loaded, the warp's sectors.
 * @param {State} state
 */
export function facts(state) {
  const { walks, cache_lines, alignment, visit, warp } = state;
  const [loads, otherLoads = null] = countsOfAll(state).map(({ misses }) => misses);
  const [{ shape, stride, itemsize, order }, rightWalk] = walks;
  return {
    shape,
    stride,
    itemsize,
    order,
    other_order: rightWalk?.order ?? null,
    cache_lines,
    alignment,
    visit,
    loads,
    other_loads: otherLoads,
    warp: warp && [warp.itemsize, warp.stride, warp.offset],
    sectors: warp && sectorsOf(warp).touched,
  };
}

/**
 * The lines of the explorer's repr.
 * @param {State} state
 * @param {string} note
 */
export function told(state, note) {
  const { walks, visit, cache_lines, alignment, warp } = state;
  if (warp) return [`TraversalExplorer: ${warpSentence(warp)}`];
  const counts = countsOfAll(state);
  const sides = ["left ", "right"];
  return [
    `TraversalExplorer: ${counted(visit, "visit")}, a cache of ${counted(cache_lines, "line")}, alignment ${alignment}`,
    ...(note ? [note] : []),
    ...walks.flatMap(({ name, shape, stride, order }, k) => [
      `${sides[k]}  ${name} of shape ${tuple(shape)}, stride ${tuple(stride)}: ${orderName(order)}`,
      `       ${countsSentence(counts[k])}`,
    ]),
    ...(counts.length > 1 ? [comparison(counts[0], counts[1])] : []),
  ];
}

/** @param {State} state */
export function code({ walks: [left, right], cache_lines, alignment, visit, warp }) {
  const leftLayout = layoutCode(left);
  const values = [leftLayout, tuple(left.order)];
  if (right) {
    const rightLayout = layoutCode(right);
    if (rightLayout !== leftLayout) values.push(`other=${rightLayout}`);
    values.push(`other_order=${tuple(right.order)}`);
  }
  values.push(`cache_lines=${cache_lines}`, `alignment=${alignment}`, `visit=${visit}`);
  if (warp) values.push(`warp=${tuple([warp.itemsize, warp.stride, warp.offset])}`);
  return `explorer = TraversalExplorer(${values.join(", ")})`;
}

const layoutCode = ({ shape, stride, storage_offset, itemsize }) =>
  `Layout(${tuple(shape)}, ${tuple(stride)}, ${storage_offset}, ${itemsize})`;
