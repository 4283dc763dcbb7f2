// The window on a large tensor: which dims the picture draws, where it begins in each of them, and
// the text by which a person moves it.

/** @import { Layout } from "../page/layout.js" */

import { numel, offset, product, Refused, range } from "../page/layout.js";

/**
 * The dims that are drawn, as planes, rows and columns, and for each dim of the tensor the index at
 * which the window begins. A dim that is not drawn has that one index.
 * @typedef {{ dims: number[], start: number[] }} Window
 */

/** @typedef {{ window: Window, index: number[] }} Place */

// The most that the picture draws without a window
export const MAX_DIMS = 4;
const MAX_CELLS = 4096;
const MAX_PLANES = 256;
const MAX_SIDE = 64; // cells across and down

export const MOST_DRAWN = 3; // dims of a window
/** The sizes of a window, by the number of its dims. */
const SIZES = [[], [32], [8, 8], [4, 4, 4]];

/**
 * True if the picture draws all of a tensor, and needs no window.
 * @param {{ shape: number[] }} layout
 */
export function isWhole({ shape }) {
  const count = numel({ shape });
  if (count === 0) return true;
  if (shape.length > MAX_DIMS || count > MAX_CELLS) return false;
  if (product(shape.slice(0, -2)) > MAX_PLANES) return false;
  return shape.length < 2 || Math.max(...shape) <= MAX_SIDE;
}

/**
 * The dims that are drawn until somebody chooses: the last two that have several indices.
 * @param {number[]} shape
 */
function usualDims(shape) {
  const long = range(shape.length).filter((d) => shape[d] > 1);
  return long.slice(-2);
}

/**
 * The sizes of a window.
 * @param {number[]} shape
 * @param {number[]} dims
 */
export const sizesOf = (shape, dims) =>
  dims.map((d, k) => Math.min(shape[d], SIZES[dims.length][k]));

/**
 * The index that is selected at first: in the middle of the whole tensor, or one step inside of the
 * window's corner, where the tape begins.
 * @param {{ shape: number[] }} layout
 * @returns {number[] | null}
 */
export function middleOf({ shape }) {
  if (shape.includes(0)) return null;
  if (isWhole({ shape })) return shape.map((n) => Math.floor(n / 2));
  const dims = usualDims(shape);
  return shape.map((_, d) => Number(dims.includes(d)));
}

/**
 * The window around an index: the wanted one if the index lies in it, or else the nearest one; null
 * if the picture draws the whole tensor.
 * @param {{ shape: number[] }} layout
 * @param {number[] | null} index
 * @param {Window | null} [wanted]
 * @returns {Window | null}
 */
export function windowFor({ shape }, index, wanted) {
  if (index === null || isWhole({ shape })) return null;
  const isFit = wanted?.start?.length === shape.length && areDrawable(shape, wanted.dims);
  const dims = isFit ? wanted.dims : usualDims(shape);
  const start = [...index];
  for (const [k, size] of sizesOf(shape, dims).entries()) {
    const d = dims[k];
    const first = isFit ? wanted.start[d] : 0;
    const last = Math.min(index[d], shape[d] - size);
    start[d] = Math.min(Math.max(first, index[d] - size + 1, 0), last);
  }
  return { dims, start };
}

/** @type {(shape: number[], dims: number[]) => boolean} */
function areDrawable(shape, dims) {
  const sorted = range(shape.length).filter((d) => dims.includes(d));
  return sorted.length > 0 && sorted.length <= MOST_DRAWN && String(sorted) === String(dims);
}

/**
 * The part of a tensor that is drawn, as a layout of its own.
 * @param {Layout} layout
 * @param {Window | null} window
 * @returns {Layout}
 */
export function partOf(layout, window) {
  const { shape, stride } = layout;
  if (window)
    return {
      ...layout,
      shape: sizesOf(shape, window.dims),
      stride: window.dims.map((d) => stride[d]),
      storage_offset: offset(layout, window.start),
    };
  const isTooLong = shape.length > MAX_DIMS || Math.max(0, ...shape) > MAX_SIDE;
  // Without elements there is nothing to draw, however long the other dims are.
  return numel(layout) === 0 && isTooLong ? { ...layout, shape: [0], stride: [1] } : layout;
}

/**
 * The window in torch's notation, as x[5, 0, 96:104, 0:8].
 * @param {{ shape: number[] }} layout
 * @param {Window} window
 * @param {string} name
 */
export function windowName({ shape }, { dims, start }, name) {
  const sizes = sizesOf(shape, dims);
  const items = start.map((first, d) => {
    const k = dims.indexOf(d);
    return k < 0 ? String(first) : `${first}:${first + sizes[k]}`;
  });
  return `${name}[${items.join(", ")}]`;
}

/**
 * Where the window goes by a text: an index, as 5, 0, 96, 40, or with slices for the dims that are to
 * be drawn, as [5, :, 96:, :]. Dims that are not written stay. Throws Refused.
 * @param {string} text
 * @param {{ shape: number[] }} layout
 * @param {Place} from
 * @param {string} name
 * @returns {Place}
 */
export function readPlace(text, { shape }, { window, index }, name) {
  const items = itemsOf(text, shape.length, name);
  const sliced = range(shape.length).filter((d) => items[d]?.includes(":"));
  if (sliced.length > MOST_DRAWN)
    throw new Refused(`${sliced.length} slices: the picture draws ${MOST_DRAWN} dims at most`);
  const dims = sliced.length ? sliced : window.dims;
  const sizes = sizesOf(shape, dims);
  const newIndex = [...index];
  const start = [...window.start];
  for (const [d, item] of items.entries()) {
    const [first] = item.split(":");
    if (first === "") continue;
    const i = indexIn(Number(first), d, shape[d]);
    newIndex[d] = i;
    // A slice says where the window begins; an index comes into its middle.
    start[d] = sliced.includes(d) ? i : i - Math.floor((sizes[dims.indexOf(d)] ?? 0) / 2);
  }
  const around = windowFor({ shape }, newIndex, { dims, start });
  return { index: newIndex, window: around ?? window };
}

const ITEM = /^(-?\d+)?(?::(-?\d+)?)?$/;

/** @type {(text: string, ndim: number, name: string) => string[]} */
function itemsOf(text, ndim, name) {
  const bare = text.replaceAll(/\s/g, "");
  const inside = bare.startsWith(`${name}[`) ? bare.slice(name.length) : bare;
  const items = inside
    .replace(/^[[(]/, "")
    .replace(/[\])]$/, "")
    .split(",");
  if (items.at(-1) === "") items.pop();
  const misfit = items.find((item) => item === "" || !ITEM.test(item));
  if (misfit !== undefined || items.length === 0)
    throw new Refused(
      `cannot read "${misfit ?? text}": write an index, as ${range(ndim).fill(0).join(", ")}, ` +
        "or slices for the dims to draw, as 2:",
    );
  if (items.length > ndim)
    throw new Refused(`${items.length} indices for ${ndim} dims: give one for each dim`);
  return items;
}

/** @type {(i: number, d: number, size: number) => number} */
function indexIn(i, d, size) {
  if (i >= -size && i < size) return i < 0 ? i + size : i;
  throw new Refused(
    `index ${i} is out of range for dim ${d} of size ${size}: use ${-size} to ${size - 1}`,
  );
}

/**
 * The place after a step of the whole window along a dim, to a new start. The selected index keeps
 * its place in the window.
 * @param {{ shape: number[] }} layout
 * @param {Place} from
 * @param {Record<number, number>} starts by dim
 * @returns {Place}
 */
export function movedTo({ shape }, { window, index }, starts) {
  const { dims } = window;
  const sizes = sizesOf(shape, dims);
  const start = [...window.start];
  const newIndex = [...index];
  for (const d of Object.keys(starts).map(Number)) {
    const k = dims.indexOf(d);
    const most = shape[d] - (k < 0 ? 1 : sizes[k]);
    start[d] = Math.min(Math.max(starts[d], 0), most);
    newIndex[d] = index[d] + start[d] - window.start[d];
  }
  return { window: { dims, start }, index: newIndex };
}

/**
 * The window after a dim has been chosen, or is chosen no longer. A fourth dim takes the place of the
 * first.
 * @param {{ shape: number[] }} layout
 * @param {Place} from
 * @param {number} dim
 * @returns {Place}
 */
export function withDim({ shape }, { window, index }, dim) {
  const others = window.dims.filter((d) => d !== dim);
  let dims = others.length ? others : window.dims;
  if (!window.dims.includes(dim)) dims = [...others, dim].sort((a, b) => a - b);
  if (dims.length > MOST_DRAWN) dims = dims.filter((d) => d !== others[0]);
  const next = windowFor({ shape }, index, { dims, start: window.start });
  return { window: next ?? window, index };
}
