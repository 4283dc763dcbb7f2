// The costs of walking a layout: cache lines and hits of a loop order, sectors of a warp; walks worth a look; and what Python
// and the toolbar ask of a state.
// Everything is counted by simulation: visit after visit through a cache that drops the line used longest ago. tests/course/live.py
// compares that with torch and with slower counting.
// A walk is a layout with an `order`, its dims outermost first, and its `name` in sentences.

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

export const SECTOR = 32;
export const LANES = 32;
export const ITEMSIZES = [1, 2, 4, 8, 16];
export const CACHE_SIZES = [1, 2, 4, 8, 16, 32];

const indexAt = ({ shape, order }, k) => unflatten(shape, k, order);

/** Every visit, {element, line, hit, cached}, through a cache that drops the line used longest ago: `cached` are those then in it. */
export function visitsOf(walk, cacheLines, alignment) {
  const cache = [];
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

export function countsOf(visits, itemsize, upto = visits.length) {
  const done = visits.slice(0, upto);
  const misses = done.filter(({ hit }) => !hit).length;
  return {
    visits: done.length,
    lines: new Set(done.map(({ line }) => line)).size,
    misses,
    minimum: new Set(visits.map(({ line }) => line)).size,
    bytes_used: new Set(done.map(({ element }) => element)).size * itemsize,
    bytes_loaded: misses * CACHE_LINE,
  };
}

export function orderName(order) {
  const dims = order.length > 1 ? `dims ${tuple(order)}` : order.length ? "dim 0" : "no dims";
  return ({ "0,1": "row by row, ", "1,0": "column by column, " }[String(order)] ?? "") + dims;
}

/** A sentence on the loaded lines, the fewest possible, and the share of bytes used. */
export function countsSentence({ visits, lines, misses, bytes_used, bytes_loaded }) {
  const least = misses <= lines ? "as few as can be" : `${lines} would do`;
  const load = `${counted(visits, "visit")} load${visits === 1 ? "s" : ""} ${counted(misses, "cache line")}`;
  return `${load}, ${least}: ${bytes_used} of ${bytes_loaded} bytes are used`;
}

/** A sentence on visit `number`, counted from 1. */
export function visitSentence(walk, visits, number) {
  if (!visits.length) return "there is no element to visit: a size is 0";
  if (number === 0) return `no visit yet, ${visits.length} to come`;
  const at = Math.min(number, visits.length);
  const { element, line, hit } = visits[at - 1];
  const loads = visits.slice(0, at).filter((visit) => visit.line === line && !visit.hit).length;
  const what = hit ? "a hit" : `a miss, ${loads === 1 ? "loaded" : `now loaded ${loads} times`}`;
  const name = elementName(indexAt(walk, at - 1), walk.name);
  return `visit ${at} of ${visits.length}: ${name}, element ${element}, cache line ${line}: ${what}`;
}

/** A sentence that says which of two walks loads more, and how many times as much; `sides` names their places. */
export function comparison(left, right, sides = ["left", "right"]) {
  const [few, many] = [Math.min(left.misses, right.misses), Math.max(left.misses, right.misses)];
  if (few === many) return `both load ${counted(many, "cache line")}`;
  const [less, more] = right.misses > left.misses ? sides : [...sides].reverse();
  if (few === 0) return `the ${more} one loads ${many}, the ${less} one none`;
  const tenths = Math.floor((20 * many + few) / (2 * few));
  return `the ${more} one loads ${tenths / 10} times as many cache lines as the ${less} one`;
}

export const laneBytes = ({ itemsize, stride, offset }) =>
  range(LANES).map((lane) => (lane * stride + offset) * itemsize);

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
  const { touched, minimum, bytesUsed, bytesLoaded } = sectorsOf(warp);
  const least = touched > minimum ? `${minimum} would do` : "as few as can be";
  const waste = bytesLoaded - bytesUsed;
  const half = 2 * waste === bytesLoaded && warp.offset === 0;
  const some = half
    ? "half of each is thrown away"
    : `${waste} of ${bytesLoaded} bytes are thrown away`;
  const where = `stride ${warp.stride}${warp.offset ? `, offset ${warp.offset}` : ""}`;
  return (
    `${LANES} lanes, ${counted(warp.itemsize, "byte")} each, ${where}: ` +
    `${counted(touched, "sector")}, ${least}; ${waste ? some : "every byte is used"}`
  );
}

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

/** One or two walks side by side, and the lesson in them: mostly 48 numbers of 8 bytes, which fill six cache lines. */
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
    walks: [
      [0, 1, 2],
      [1, 2, 0],
    ].map((order) => walk("x.permute(2, 0, 1)", [4, 2, 6], [1, 24, 4], order)),
    lesson:
      "Three dims have six orders; the one sorted by stride reads the memory from end to end.",
  },
];

export const EXAMPLE = {
  walks: PRESETS[0].walks,
  warp: { itemsize: 4, stride: 1, offset: 0 },
  visit: 0,
  cache_lines: 0,
  alignment: 0,
};
export const countsOfAll = ({ walks, cache_lines, alignment, visit }) =>
  walks.map((walk) => countsOf(visitsOf(walk, cache_lines, alignment), walk.itemsize, visit));

/** The left walk, the right one's order, the cache lines that each has loaded, the warp's sectors. */
export function facts(state) {
  const { walks, cache_lines, alignment, visit, warp } = state;
  const [loads, other_loads = null] = countsOfAll(state).map(({ misses }) => misses);
  const [{ shape, stride, itemsize, order }, other] = walks;
  return {
    shape,
    stride,
    itemsize,
    order,
    other_order: other?.order ?? null,
    cache_lines,
    alignment,
    visit,
    loads,
    other_loads,
    warp: warp && [warp.itemsize, warp.stride, warp.offset],
    sectors: warp && sectorsOf(warp).touched,
  };
}

export function told(state, note) {
  const { walks, visit, cache_lines, alignment, warp } = state;
  if (warp) return [`TraversalExplorer: ${warpSentence(warp)}`];
  const costs = countsOfAll(state);
  return [
    `TraversalExplorer: ${counted(visit, "visit")}, a cache of ${counted(cache_lines, "line")}, alignment ${alignment}`,
    ...(note ? [note] : []),
    ...walks.flatMap(({ name, shape, stride, order }, k) => [
      `${["left ", "right"][k]}  ${name} of shape ${tuple(shape)}, stride ${tuple(stride)}: ${orderName(order)}`,
      `       ${countsSentence(costs[k])}`,
    ]),
    ...(costs.length > 1 ? [comparison(...costs)] : []),
  ];
}

export function code({ walks: [left, right], cache_lines, alignment, visit, warp }) {
  const isOther = right && layoutOf(left) !== layoutOf(right);
  const given = [
    layoutOf(left),
    tuple(left.order),
    isOther && `other=${layoutOf(right)}`,
    right && `other_order=${tuple(right.order)}`,
    `cache_lines=${cache_lines}`,
    `alignment=${alignment}`,
    `visit=${visit}`,
    warp && `warp=${tuple([warp.itemsize, warp.stride, warp.offset])}`,
  ];
  return `explorer = TraversalExplorer(${given.filter(Boolean).join(", ")})`;
}

const layoutOf = ({ shape, stride, storage_offset, itemsize }) =>
  `Layout(${tuple(shape)}, ${tuple(stride)}, ${storage_offset}, ${itemsize})`;
