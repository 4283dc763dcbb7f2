// The elements that a layout of any size reaches: how many there are, and the index of one of them.
// Nothing is enumerated. The count is that of stridekit/memory/strided_set.py.

/** @import { Layout } from "../page/layout.js" */

import { extent, firstOf } from "../page/layout.js";

/**
 * A step, and for how many places it is taken.
 * @typedef {[step: number, count: number]} Generator
 */

/**
 * Steps that interleave, as one digit of every number: its unit, and its generators, whose steps are
 * multiples of the unit.
 * @typedef {{ unit: number, generators: Generator[] }} Level
 */

const MOST_MARKED = 2 ** 18; // elements that are marked one by one where steps interleave
const MOST_TRIED = 2000; // indices that are tried to find an element
const DEEPEST = 16; // counts within counts

/** @param {Generator[]} generators */
const reachOf = (generators) =>
  generators.reduce((total, [step, count]) => total + step * (count - 1), 0);

/** @type {(a: number, b: number) => number} */
const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/**
 * The number of different elements that a layout reaches; null if its strides interleave too much for
 * an exact count.
 * @param {Pick<Layout, "shape" | "stride">} layout
 */
export function countReached({ shape, stride }) {
  if (shape.includes(0)) return 0;
  /** @type {Generator[]} */
  const generators = [];
  for (const [d, size] of shape.entries())
    if (size > 1 && stride[d]) generators.push([Math.abs(stride[d]), size]);
  const count = countMade(generators, 0);
  return Number.isNaN(count) ? null : count;
}

/** @type {(generators: Generator[], depth: number) => number} NaN if it is not decided */
function countMade(generators, depth) {
  const counts = levelsOf(merged(generators)).map((level) => countLevel(level, depth));
  return counts.reduce((a, b) => a * b, 1);
}

/**
 * Join each step that goes on evenly from finer steps.
 * @param {Generator[]} generators
 */
function merged(generators) {
  /** @type {Generator[]} */
  const joined = [];
  const sorted = [...generators].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  for (const [step, count] of sorted) {
    const k = joined.findLastIndex(([fine, many]) => step % fine === 0 && step <= fine * many);
    if (k < 0) {
      joined.push([step, count]);
    } else {
      const [fine, many] = joined[k];
      joined[k] = [fine, many + (step / fine) * (count - 1)];
    }
  }
  return joined;
}

/**
 * Group steps into levels: a level's unit is larger than all finer steps together can reach.
 * @param {Generator[]} generators
 */
function levelsOf(generators) {
  /** @type {Level[]} */
  const levels = [];
  let end = generators.length; // the generators from here on are in levels
  let unit = 0;
  for (let k = end - 1; k >= 0; k--) {
    unit = gcd(unit, generators[k][0]);
    if (unit <= reachOf(generators.slice(0, k))) continue;
    levels.push({ unit, generators: generators.slice(k, end) });
    end = k;
    unit = 0;
  }
  return levels;
}

/** @type {(level: Level, depth: number) => number} */
function countLevel({ unit, generators }, depth) {
  /** @type {Generator[]} */
  const scaled = generators.map(([step, count]) => [step / unit, count]);
  const [[a, n]] = scaled;
  if (scaled.length === 1) return n;
  if (scaled.length > 2) return countInterleaved(scaled, depth);
  // i*a + j*b repeats exactly where (i, j) moves by a multiple of (b, -a).
  const [b, m] = scaled[1];
  return n * m - Math.max(0, n - b) * Math.max(0, m - a);
}

/**
 * Count by marks until the pattern repeats; from then on each further copy adds as many new numbers
 * as the copy before.
 * @type {(generators: Generator[], depth: number) => number}
 */
function countInterleaved(generators, depth) {
  if (depth > DEEPEST) return Number.NaN;
  const longest = generators.reduce((best, one) => (one[1] > best[1] ? one : best));
  const [step, count] = longest;
  const rest = generators.filter((one) => one !== longest);
  const apart = Math.floor(reachOf(rest) / step) + 1; // copies so far from each other never overlap
  if (count <= apart) return countMarked(generators);
  /** @param {number} copies */
  const countOf = (copies) => countMade([...rest, [step, copies]], depth + 1);
  const numbers = countOf(apart);
  const fewer = apart > 1 ? countOf(apart - 1) : 0;
  return numbers + (count - apart) * (numbers - fewer);
}

/** @param {Generator[]} generators */
function countMarked(generators) {
  const size = reachOf(generators) + 1;
  if (size > MOST_MARKED) return Number.NaN;
  const isReached = new Uint8Array(size);
  isReached[0] = 1;
  for (const [step, count] of generators) {
    const left = new Float64Array(size); // how many steps may follow from a number
    for (let k = 0; k < size; k++) {
      if (isReached[k]) {
        left[k] = count - 1;
      } else if (k >= step && left[k - step] > 0) {
        isReached[k] = 1;
        left[k] = left[k - step] - 1;
      }
    }
  }
  return isReached.reduce((total, one) => total + one, 0);
}

/**
 * The owners of elements: `of` returns an index that leads to an element, or null; `has` returns
 * whether there is one. Both return undefined if the search takes too long.
 * @typedef {object} Owners
 * @property {(element: number) => number[] | null | undefined} of
 * @property {(element: number) => boolean | undefined} has
 */

/**
 * @param {Layout} layout
 * @returns {Owners}
 */
export function ownersIn(layout) {
  const { shape, stride } = layout;
  const first = firstOf(layout);
  const count = extent(layout);
  const isWithoutHoles = countReached(layout) === count;
  // The coarsest step comes first: it leaves one or two digits to try.
  const dims = [...shape.keys()]
    .filter((d) => shape[d] > 1 && stride[d] !== 0)
    .sort((a, b) => Math.abs(stride[b]) - Math.abs(stride[a]));
  const steps = dims.map((d) => Math.abs(stride[d]));
  const mosts = dims.map((d) => shape[d] - 1);
  // The distance that all finer steps reach together, and the divisor that they have in common.
  const reaches = [0];
  const divisors = [0];
  for (const k of [...dims.keys()].reverse()) {
    reaches.unshift(reaches[0] + steps[k] * mosts[k]);
    divisors.unshift(gcd(divisors[0], steps[k]));
  }
  const digits = dims.map(() => 0);
  let tries = 0;

  /**
   * Try the digits of a step, and those of finer steps, for what is left of a number.
   * @type {(k: number, rest: number) => boolean}
   */
  function isMade(k, rest) {
    if (k === dims.length) return rest === 0;
    const least = Math.max(0, Math.ceil((rest - reaches[k + 1]) / steps[k]));
    const most = Math.min(mosts[k], Math.floor(rest / steps[k]));
    for (let digit = most; digit >= least; digit--) {
      tries += 1;
      if (tries > MOST_TRIED) return false;
      const left = rest - digit * steps[k];
      if (left % divisors[k + 1]) continue; // behind the last step, that is NaN
      digits[k] = digit;
      if (isMade(k + 1, left)) return true;
    }
    return false;
  }

  /** @param {number} element */
  function isOwned(element) {
    tries = 0;
    if (isMade(0, element - first)) return true;
    return tries > MOST_TRIED ? undefined : false;
  }

  /** @param {number} element */
  const isInside = (element) => element >= first && element < first + count;

  /** @type {Map<number, boolean | undefined>} */
  const known = new Map(); // a tape asks for the same elements with each key

  return {
    of(element) {
      const isThere = isInside(element) && isOwned(element);
      if (!isThere) return isThere === undefined ? undefined : null;
      const index = shape.map(() => 0);
      for (const [k, d] of dims.entries())
        index[d] = stride[d] < 0 ? mosts[k] - digits[k] : digits[k];
      return index;
    },
    has(element) {
      if (isWithoutHoles || !isInside(element)) return isInside(element);
      if (!known.has(element)) known.set(element, isOwned(element));
      return known.get(element);
    },
  };
}
