// Numbers that look random and follow from a seed alone: the same on a page and in Python's engine.

/** @typedef {ReturnType<typeof createRandom>} Random */

/**
 * The generator mulberry32 of a seed and the number of a question.
 * @param {number} seed
 * @param {number} number
 */
export function createRandom(seed, number) {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35);

  /** A number from 0 up to, but without, 1. */
  function next() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** @param {number} count */
  const below = (count) => Math.floor(next() * count);

  /** @type {(least: number, most: number) => number} */
  const between = (least, most) => least + below(most - least + 1);

  /**
   * @template Item
   * @param {readonly Item[]} items
   * @returns {Item}
   */
  const pick = (items) => items[below(items.length)];

  /**
   * @template Item
   * @param {readonly Item[]} items
   */
  function shuffled(items) {
    const rest = [...items];
    /** @type {Item[]} */
    const result = [];
    while (rest.length) result.push(...rest.splice(below(rest.length), 1));
    return result;
  }

  /**
   * One of several names; a name of double weight comes up twice as often.
   * @param {[name: string, weight: number][]} weights
   */
  function pickByWeight(weights) {
    let rest = next() * weights.reduce((total, [, weight]) => total + weight, 0);
    for (const [name, weight] of weights) {
      if (rest < weight) return name;
      rest -= weight;
    }
    return weights[0][0];
  }

  return { below, between, pick, shuffled, pickByWeight };
}
