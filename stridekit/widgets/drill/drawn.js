// Random layouts of small storages, as views make them, and their words.

import { apply, lastOf, product, range, rowMajor, tuple } from "../page/layout.js";

/** @import { Layout } from "../page/layout.js" */
/** @import { Random } from "./random.js" */

/**
 * A tensor of a question: its layout, and the number of elements in its storage.
 * @typedef {{ layout: Layout, size: number }} Drawn
 */

/**
 * A choice that shows a mistake: the name of the mistake, and the text of the choice.
 * @typedef {[mistake: string, text: string]} Wrong
 */

/**
 * A question before its choices are chosen and shuffled.
 * @typedef {object} Draft
 * @property {string} text the question; code stands between backticks
 * @property {string} setup Python that makes the tensors
 * @property {string} experiment Python whose value is torch's answer
 * @property {string} answer the text of the right choice
 * @property {Wrong[]} wrong several mistakes may come to the same text, or to the right one
 * @property {string} why
 * @property {Picture} picture
 * @property {boolean} [isHard] true for a question that is not for a beginner
 * @property {string[]} [order] the texts of all choices, where these are always the same
 */

/**
 * The tensors as grids of element numbers, and their storage as a tape. `tones` has the tint of
 * each element of the storage, and null where no tensor reaches. `spot` is the element of which the
 * question asks, `perRow` the number of elements in a row of the tape if its rows are cache lines.
 * @typedef {object} Picture
 * @property {{ name: string, layout: Layout }[]} grids
 * @property {(number | null)[]} tones
 * @property {number | null} spot
 * @property {number | null} perRow
 * @property {string} caption
 */

/** @type {Record<number, string>} */
const DTYPES = { 1: "torch.uint8", 2: "torch.int16", 4: "torch.float32", 8: "torch.float64" };
const TONES = 6; // tints in the palette

/** @type {Record<string, (layout: Layout, random: Random) => Layout>} */
const CHANGES = {
  turned(layout, random) {
    const order = random.shuffled(range(layout.shape.length));
    return apply(layout, { name: "permute", args: [order] }).layout;
  },
  cut(layout, random) {
    const dim = random.below(layout.shape.length);
    const size = layout.shape[dim];
    const start = random.below(size - 1);
    const length = random.between(Math.min(2, size - start), size - start);
    return apply(layout, { name: "narrow", args: [dim, start, length] }).layout;
  },
  stepped(layout, random) {
    const dim = random.below(layout.shape.length);
    const slices = layout.shape.map((_, d) => ({ slice: [d === dim ? random.below(2) : null] }));
    slices[dim].slice = [slices[dim].slice[0], null, 2];
    return apply(layout, { name: "[]", args: slices }).layout;
  },
};

/**
 * A layout whose sizes are 2 or more: packed by rows, turned, cut or with steps.
 * @param {Random} random
 * @param {{ ndims?: number[], most?: number, itemsizes?: number[], ways?: string[] }} options
 * @returns {Drawn}
 */
export function draw(
  random,
  { ndims = [2, 2, 3], most = 60, itemsizes = [2, 4, 8], ways = Object.keys(CHANGES) } = {},
) {
  const shape = drawShape(random, random.pick(ndims), most);
  const itemsize = random.pick(itemsizes);
  const before = random.pick([0, 0, 1, 2, 3, 4, 5]); // elements of the storage before the tensor
  const count = product(shape);
  const base = { ...rowMajor(shape, itemsize), storage_offset: before };
  let layout = base;
  for (const way of random.shuffled(ways).slice(0, random.between(0, 2))) {
    const changed = CHANGES[way](layout, random);
    if (changed.shape.every((n) => n > 1)) layout = changed;
  }
  return { layout, size: before + count };
}

/** @type {(random: Random, ndim: number, most: number) => number[]} */
function drawShape(random, ndim, most) {
  const shape = range(ndim).map(() => random.between(2, ndim === 2 ? 7 : 5));
  while (product(shape) > most) shape[shape.indexOf(Math.max(...shape))] -= 1;
  return shape;
}

/**
 * Python that makes a tensor whose values are the numbers of its elements in the storage.
 * @type {(name: string, drawn: Drawn) => string}
 */
export function setupOf(name, { layout, size }) {
  const { shape, stride, storage_offset, itemsize } = layout;
  const numbers = `${tuple(shape)}, ${tuple(stride)}, ${storage_offset}`;
  return `${name} = torch.arange(${size}, dtype=${DTYPES[itemsize]}).as_strided(${numbers})`;
}

/**
 * The numbers of a layout in a sentence. The itemsize is named only where it counts.
 * @param {Layout} layout
 */
export function numbersOf({ shape, stride, storage_offset, itemsize }, hasItemsize = false) {
  const parts = [`shape \`${tuple(shape)}\``, `stride \`${tuple(stride)}\``];
  parts.push(`storage_offset ${storage_offset}`);
  if (hasItemsize) parts.push(`elements of ${itemsize} ${itemsize === 1 ? "byte" : "bytes"}`);
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/**
 * The tint of each element of a storage: `toneOf` gets the position of an index in row-major order.
 * @type {(drawn: Drawn, elements: number[], toneOf: (flat: number) => number) => (number | null)[]}
 */
export function tonesOf({ size, layout }, elements, toneOf) {
  /** @type {(number | null)[]} */
  const tones = new Array(Math.max(size, lastOf(layout) + 1)).fill(null);
  for (const [flat, element] of elements.entries()) tones[element] ??= toneOf(flat) % TONES;
  return tones;
}

/**
 * The tint of the rows of a tensor: those of its last dim.
 * @param {{ shape: number[] }} layout
 */
export function toneOfRows({ shape }) {
  const columns = shape.at(-1) ?? 1;
  return (/** @type {number} */ flat) => Math.floor(flat / columns);
}

const MOST_NAMED = 10;

/**
 * The numbers of elements in a sentence; only the first ones if there are many.
 * @param {number[]} elements
 */
export function named(elements) {
  const first = elements.slice(0, MOST_NAMED).join(", ");
  return elements.length > MOST_NAMED ? `${first}, …` : first;
}
