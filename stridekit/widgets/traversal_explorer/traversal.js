// The costs of walking a layout: cache lines and hits of a loop order, sectors of a warp. traversal.py is the truth,
// and tests/live.py compares the two; the sentence on one visit is only here.
//
// A walk is a layout with an `order`, its dims outermost first, and its `name` in sentences.

import { CACHE_LINE, counted, elementName, numel, offset, range, tuple, unflatten } from "../page/layout.js";

export const SECTOR = 32;
export const LANES = 32;
export const ITEMSIZES = [1, 2, 4, 8, 16];
export const CACHE_SIZES = [1, 2, 4, 8, 16, 32];

/** The `k`-th index of a walk. */
const indexAt = ({ shape, order }, k) => unflatten(shape, k, order);

/** Every visit, {element, line, hit}, through a cache that drops the line used longest ago. */
export function visitsOf(walk, cacheLines, alignment) {
  const cache = [];
  return range(numel(walk)).map((k) => {
    const element = offset(walk, indexAt(walk, k));
    const line = Math.floor((alignment + element * walk.itemsize) / CACHE_LINE);
    const hit = cache.includes(line);
    if (hit) cache.splice(cache.indexOf(line), 1);
    cache.push(line);
    if (cache.length > cacheLines) cache.shift();
    return { element, line, hit };
  });
}

/** The costs of the first `upto` visits. */
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

/** The lines in the cache after `upto` visits: those touched last. */
export function cachedLines(visits, upto, cacheLines) {
  const held = new Set();
  for (let k = Math.min(upto, visits.length) - 1; k >= 0 && held.size < cacheLines; k--) held.add(visits[k].line);
  return held;
}

// Sentences ----------------------------------------------------------------------------------------

/** The name of a loop order. @param {number[]} order */
export function orderName(order) {
  const dims = order.length > 1 ? `dims ${tuple(order)}` : order.length ? "dim 0" : "no dims";
  return ({ "0,1": "row by row, ", "1,0": "column by column, " }[String(order)] ?? "") + dims;
}

/** A sentence on visit `number`, counted from 1. */
export function visitSentence(walk, visits, number) {
  if (!visits.length) return "there is no element to visit: a size is 0";
  if (number === 0) return `no visit yet, ${visits.length} to come`;
  const at = Math.min(number, visits.length);
  const { element, line, hit } = visits[at - 1];
  const loads = visits.slice(0, at).filter((visit) => visit.line === line && !visit.hit).length;
  const loaded = loads === 1 ? "loaded" : `now loaded ${loads} times`;
  return (
    `visit ${at} of ${visits.length}: ${elementName(indexAt(walk, at - 1), walk.name)}, element ${element}, ` +
    `cache line ${line}: ${hit ? "a hit" : `a miss, ${loaded}`}`
  );
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

// A warp -------------------------------------------------------------------------------------------

/** The byte at which each lane's element begins. */
export const laneBytes = ({ itemsize, stride, offset }) =>
  range(LANES).map((lane) => (lane * stride + offset) * itemsize);

/** The 32-byte sector of each lane, and the costs. */
export function sectorsOf(warp) {
  const sectors = laneBytes(warp).map((byte) => Math.floor(byte / SECTOR));
  const bytesUsed = warp.itemsize * (warp.stride ? LANES : 1);
  const touched = new Set(sectors).size;
  return { sectors, touched, minimum: Math.ceil(bytesUsed / SECTOR), bytesUsed, bytesLoaded: touched * SECTOR };
}

export function warpSentence(warp) {
  const { touched, minimum, bytesUsed, bytesLoaded } = sectorsOf(warp);
  const least = touched > minimum ? `${minimum} would do` : "as few as can be";
  const waste = bytesLoaded - bytesUsed;
  const half = 2 * waste === bytesLoaded && warp.offset === 0;
  const thrown = !waste
    ? "every byte is used"
    : half ? "half of each is thrown away" : `${waste} of ${bytesLoaded} bytes are thrown away`;
  const offset = warp.offset ? `, offset ${warp.offset}` : "";
  return (
    `${LANES} lanes, ${counted(warp.itemsize, "byte")} each, stride ${warp.stride}${offset}: ` +
    `${counted(touched, "sector")}, ${least}; ${thrown}`
  );
}
