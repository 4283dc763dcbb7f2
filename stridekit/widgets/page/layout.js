// Layouts in the browser, for pictures that react without a kernel. This is the one port of
// Python's arithmetic, in the same order: Layout (the formula, the questions, the views, the
// copies), the rules on bare shapes and strides, and the result of an elementwise operation.
// torch is the truth: tests/course/live.py lets torch run the same operations. Operations that
// torch would refuse throw Refused, with the text of Python's errors.

/**
 * The numbers of a tensor, counted in elements; only the itemsize is in bytes.
 * @typedef {object} Layout
 * @property {number[]} shape
 * @property {number[]} stride
 * @property {number} storage_offset
 * @property {number} itemsize
 */
/** @typedef {Pick<Layout, "shape" | "stride">} Dims */

/**
 * A call of an operation, as grammar.js reads it. `text` is its source. `piece` is the index of
 * the tensor to take if the operation returns several.
 * @typedef {object} Step
 * @property {string} name
 * @property {any[]} args
 * @property {string} [text]
 * @property {number} [piece]
 */

/**
 * The layout after a step, whether torch has to copy, and the elements that a copy reads: a layout
 * whose order is that of the copy. A flip reads with negative strides, a repetition with strides
 * of 0.
 * @typedef {object} Outcome
 * @property {Layout} layout
 * @property {boolean} copied
 * @property {Layout} read
 */

/**
 * An operation returns the numbers that it changes, and may add the rest of an outcome.
 * @typedef {Dims & Partial<Layout> & { copied?: boolean, read?: Layout }} Result
 */

/** @typedef {[isGood: boolean | null, sentence: string]} Verdict */
/** @typedef {number | null | "..." | { slice: (number | null)[] }} IndexItem */

export const CACHE_LINE = 64; // bytes

/** An operation that torch would refuse, or a text that the grammar does not have. */
export class Refused extends Error {}

/** @type {(sentence: string) => never} */
export const refuse = (sentence) => {
  throw new Refused(sentence);
};

/**
 * The result of an action and "", or null and the reason why the action is refused.
 * @template Value
 * @param {() => Value} act
 * @returns {[value: Value, reason: ""] | [value: null, reason: string]}
 */
export function tried(act) {
  try {
    return [act(), ""];
  } catch (error) {
    if (error instanceof Refused) return [null, error.message];
    throw error;
  }
}

/** @param {number} count */
export function range(count) {
  const numbers = [];
  for (let k = 0; k < count; k++) numbers.push(k);
  return numbers;
}

/** @param {number[]} numbers */
export const product = (numbers) => numbers.reduce((a, b) => a * b, 1);

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** @param {{ shape: number[] }} layout */
const innermostFirst = ({ shape }) => range(shape.length).reverse();

/** @type {(a: unknown, b: unknown) => boolean} */
export const same = (a, b) => String(a) === String(b);

// How numbers are written -------------------------------------------------------------------------

/** @param {(number | string)[]} items */
export const tuple = (items) => `(${items.join(", ")}${items.length === 1 ? "," : ""})`;

/**
 * Names in a row: "a", "a and b", "a, b and c".
 * @param {string[]} names
 */
export const listed = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");

/**
 * A number and its word, in the plural unless it is 1.
 * @param {number | string} count
 * @param {string} word
 */
export const counted = (count, word) => `${count} ${word}${Number(count) === 1 ? "" : "s"}`;

/**
 * A number with its digits in groups, without Intl, which Python's engine does not have.
 * @param {number} number
 */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/**
 * A verdict with its sign. A verdict that is neither good nor bad has null.
 * @param {Verdict} verdict
 */
export function verdict([isGood, sentence]) {
  if (isGood === null) return `· ${sentence}`;
  return `${isGood ? "✓" : "✗"} ${sentence}`;
}

/**
 * The element at an index: x[2, 3], or x for a 0-d tensor.
 * @param {number[]} index
 * @param {string} name
 */
export const elementName = (index, name) => (index.length ? `${name}[${index.join(", ")}]` : name);

/**
 * The same for the `flat`-th element in row-major order.
 * @param {number[]} shape
 * @param {number} flat
 * @param {string} name
 */
export const nameAt = (shape, flat, name) => elementName(unflatten(shape, flat), name);

// The value and the address formula ---------------------------------------------------------------

/** @type {(shape: number[], itemsize: number) => Layout} */
export const rowMajor = (shape, itemsize) => ({
  shape,
  stride: contiguousStride(shape),
  storage_offset: 0,
  itemsize,
});

/** @param {{ shape: number[] }} layout */
export const numel = ({ shape }) => product(shape);

/** @type {(layout: Pick<Layout, "stride" | "storage_offset">, index: number[]) => number} */
export const offset = ({ stride, storage_offset }, index) =>
  index.reduce((element, i, d) => element + i * stride[d], storage_offset);

/**
 * The same for the `flat`-th index in row-major order.
 * @param {Omit<Layout, "itemsize">} layout
 * @param {number} flat
 */
export const offsetAt = (layout, flat) => offset(layout, unflatten(layout.shape, flat));

/**
 * The number of elements from the first to the last reached one, inclusive.
 * @param {Dims} layout
 */
export function extent({ shape, stride }) {
  if (shape.includes(0)) return 0;
  return shape.reduce((count, size, d) => count + (size - 1) * Math.abs(stride[d]), 1);
}

/**
 * The first reached element, if there is one. Strides of NumPy may be negative.
 * @param {Omit<Layout, "itemsize">} layout
 */
export function firstOf({ shape, stride, storage_offset }) {
  return shape.reduce((e, size, d) => e + (size - 1) * Math.min(stride[d], 0), storage_offset);
}

/**
 * The last reached element; -1 if there is none.
 * @param {Omit<Layout, "itemsize">} layout
 */
export function lastOf(layout) {
  const count = extent(layout);
  return count ? firstOf(layout) + count - 1 : -1;
}

/**
 * The `flat`-th index in row-major order, or with its loops in another `order`, outermost first.
 * @param {number[]} shape
 * @param {number} flat
 * @param {number[]} order
 */
export function unflatten(shape, flat, order = range(shape.length)) {
  const index = shape.map(() => 0);
  let rest = flat;
  for (const d of [...order].reverse()) {
    index[d] = rest % shape[d];
    rest = Math.floor(rest / shape[d]);
  }
  return index;
}

/** @type {(shape: number[], index: number[]) => number} */
export const flatten = (shape, index) => index.reduce((flat, i, d) => flat * shape[d] + i, 0);

/**
 * The element of each index in row-major order, and the (flat) indices that own each element.
 * @param {Omit<Layout, "itemsize">} layout
 */
export function reach({ shape, stride, storage_offset }) {
  let elements = [storage_offset];
  for (const d of innermostFirst({ shape })) {
    // A dim repeats the elements of the dims inside it, a stride further on.
    const inner = elements;
    elements = range(shape[d]).flatMap((i) => inner.map((element) => element + i * stride[d]));
  }
  /** @type {Map<number, number[]>} */
  const owners = new Map();
  for (const [flat, element] of elements.entries()) {
    const indices = owners.get(element);
    if (indices) indices.push(flat);
    else owners.set(element, [flat]);
  }
  return { elements, owners };
}

/**
 * The storage that a copy makes: the value of each element that it reads, at the place of that
 * element in the new layout.
 * @template Value
 * @param {(element: number) => Value} valueAt
 * @param {Layout} read
 * @param {Layout} after
 */
export function copied(valueAt, read, after) {
  const sources = reach(read).elements;
  const targets = reach(after).elements;
  /** @type {Value[]} */
  const storage = [];
  for (const [flat, element] of sources.entries()) storage[targets[flat]] = valueAt(element);
  return storage;
}

/**
 * True for layouts with the same numbers; their itemsizes may differ.
 * @param {Omit<Layout, "itemsize">} a
 * @param {Omit<Layout, "itemsize">} b
 */
export const sameLayout = (a, b) =>
  same(a.shape, b.shape) && same(a.stride, b.stride) && a.storage_offset === b.storage_offset;

/**
 * The reason why the browser cannot hold the numbers of a layout exactly, NaN among them; "" if it
 * can.
 * @param {Layout} layout
 */
export function whyNotCounted(layout) {
  const { shape, stride, storage_offset } = layout;
  const numbers = [numel(layout), ...shape, ...stride, storage_offset, lastOf(layout) + 1];
  if (numbers.every((n) => n <= Number.MAX_SAFE_INTEGER)) return "";
  return `numbers beyond ${Number.MAX_SAFE_INTEGER} are not exact in a browser`;
}

// Questions ---------------------------------------------------------------------------------------

/**
 * The first dim of an order, innermost first, whose stride is not what the dims before it need.
 * @param {Dims} layout
 * @param {number[]} order
 */
function gapIn({ shape, stride }, order) {
  let needed = 1;
  for (const d of order) {
    if (shape[d] !== 1 && stride[d] !== needed) return { d, needed };
    needed *= shape[d];
  }
  return null;
}

/**
 * The reason why the layout is not contiguous in a format; "" if it is.
 * @param {Dims} layout
 */
export function whyNotContiguous(layout, format = "contiguous_format") {
  const { shape, stride } = layout;
  const order = ORDERS[format] ?? innermostFirst(layout);
  if (order.length !== shape.length)
    return `${format} has ${order.length} dims, this layout has ${shape.length}`;
  // Without elements every layout is contiguous, but the other formats compare strides even then.
  if (!ORDERS[format] && shape.includes(0)) return "";
  const gap = gapIn(layout, order);
  return gap ? `dim ${gap.d} has stride ${stride[gap.d]}, ${gap.needed} is needed` : "";
}

/** @type {(format: string, layout: Dims) => boolean} */
export const isInFormat = (format, layout) => !whyNotContiguous(layout, format);

/**
 * The dims from the outermost in memory to the innermost: the order of torch's loops over one
 * operand.
 * @param {Dims} layout
 */
export function dimOrder(layout) {
  const { shape, stride } = layout;
  const isContiguous = !whyNotContiguous(layout);
  const isChannelsLast = isInFormat("channels_last", layout);
  if (isContiguous && !isChannelsLast) return range(shape.length);
  if (isChannelsLast && !isContiguous) return [0, 2, 3, 1];
  return sorted(shape, stride).reverse();
}

/**
 * True if the elements fill their range one by one.
 * @param {Dims} layout
 */
export function isDense(layout) {
  const { shape, stride } = layout;
  const dims = range(shape.length)
    .filter((d) => shape[d] > 1)
    .sort((a, b) => stride[a] - stride[b]);
  return shape.includes(0) || !gapIn(layout, dims);
}

// The operations ----------------------------------------------------------------------------------

/**
 * Apply a step to a layout.
 * @param {Layout} layout
 * @param {Step} step
 * @returns {Outcome}
 */
export function apply(layout, { name, args, piece = 0, text = "" }) {
  const results = OPERATIONS[name](layout, ...args);
  const result = Array.isArray(results) ? pick(results, piece, text) : results;
  const { copied = false, read = layout, ...numbers } = { ...layout, ...result };
  return { layout: numbers, copied, read };
}

/** @type {(pieces: Result[], piece: number, text: string) => Result} */
function pick(pieces, piece, text) {
  const count = pieces.length;
  if (piece < -count || piece >= count) {
    refuse(`${text} is out of range for ${counted(count, "piece")}: use ${-count} to ${count - 1}`);
  }
  return pieces[(piece + count) % count];
}

/**
 * A dim counted from 0; it may be given from the end. A 0-d layout takes dims 0 and -1.
 * @param {number} dim
 * @param {{ shape: number[] }} layout
 */
function wrap(dim, { shape }, ndim = shape.length) {
  const count = Math.max(ndim, 1);
  if (dim < -count || dim >= count)
    refuse(`dim ${dim} is out of range for shape ${tuple(shape)}: use ${-count} to ${count - 1}`);
  return (dim + count) % count;
}

/**
 * The same, but a 0-d layout is refused.
 * @param {number} dim
 * @param {Layout} x
 */
function wrapExisting(dim, x) {
  if (!x.shape.length) refuse("a 0-d layout has one element and no dims: there is nothing to cut");
  return wrap(dim, x);
}

/** @type {(layout: Dims, dims: number[]) => Dims} */
const only = ({ shape, stride }, dims) => ({
  shape: dims.map((d) => shape[d]),
  stride: dims.map((d) => stride[d]),
});

/** @param {number[]} shape */
const fresh = (shape, stride = contiguousStride(shape)) => ({
  shape,
  stride,
  storage_offset: 0,
  copied: true,
});

// Views of parts

/** @type {(x: Layout, ...items: IndexItem[]) => Layout} */
function index(x, ...items) {
  const used = items.filter((item) => item !== null && item !== "...").length;
  if (used > x.shape.length)
    refuse(`${used} indices for shape ${tuple(x.shape)}: it has ${x.shape.length} dims`);
  let result = x;
  let d = 0;
  for (const item of items) {
    if (item === "...") {
      d += x.shape.length - used; // each ... skips all that it can
      continue;
    }
    if (d > result.shape.length - Number(item !== null))
      refuse("a second ... leaves no dim for what follows: give at most one");
    if (item === null) {
      result = { ...result, ...unsqueeze(result, d) };
      d += 1;
    } else if (typeof item === "object") {
      result = cut(result, d, item.slice);
      d += 1;
    } else {
      result = select(result, d, item);
    }
  }
  return result;
}

/** @type {(x: Layout, dim: number, i: number) => Layout} */
function select(x, dim, i) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  if (size === 0) refuse(`index ${i} is out of range for dim ${d} of size 0: it has no elements`);
  if (i < -size || i >= size)
    refuse(`index ${i} is out of range for dim ${d} of size ${size}: use ${-size} to ${size - 1}`);
  return {
    ...x,
    shape: x.shape.toSpliced(d, 1),
    stride: x.stride.toSpliced(d, 1),
    storage_offset: x.storage_offset + ((i + size) % size) * x.stride[d],
  };
}

/** @type {(x: Layout, d: number, slice: (number | null)[]) => Layout} */
function cut(x, d, [first, last, sliceStep]) {
  const step = sliceStep ?? 1;
  if (step < 1)
    refuse(`slice step ${step} is not positive: torch has no negative strides, use .flip (a copy)`);
  const size = x.shape[d];
  const start = boundIn(size, first ?? 0);
  const stop = boundIn(size, last ?? size);
  return {
    ...x,
    shape: x.shape.toSpliced(d, 1, Math.max(Math.ceil((stop - start) / step), 0)),
    stride: x.stride.toSpliced(d, 1, x.stride[d] * step),
    storage_offset: x.storage_offset + start * x.stride[d],
  };
}

/** @type {(size: number, bound: number) => number} */
function boundIn(size, bound) {
  const fromStart = bound < 0 ? bound + size : bound;
  return Math.min(Math.max(fromStart, 0), size);
}

/** @type {(x: Layout, dim: number, start: number, length: number) => Layout} */
function narrow(x, dim, start, length) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  if (start < -size || start > size)
    refuse(`start ${start} is out of range for dim ${d} of size ${size}: use ${-size} to ${size}`);
  const first = start < 0 ? start + size : start;
  if (length < 0 || length > size - first)
    refuse(
      `length ${length} does not fit dim ${d} of size ${size} after start ${first}: ` +
        `use 0 to ${size - first}`,
    );
  return cut(x, d, [first, first + length]);
}

// Views of parts: pieces, one after the other

/** @type {(x: Layout, d: number, bounds: number[]) => Layout[]} */
function slices(x, d, bounds) {
  requirePieces(x, bounds.length - 1);
  return bounds.slice(1).map((stop, k) => cut(x, d, [bounds[k], stop]));
}

/** @type {(x: Layout, count: number) => void} */
function requirePieces({ shape }, count) {
  const ndim = shape.length;
  const most = Math.min(50_000, Math.floor(100_000 / Math.max(ndim, 1)));
  if (count > most)
    refuse(
      `that would be ${grouped(count)} layouts of ${ndim} dims, ${grouped(most)} are the most: ` +
        "ask for single ones by select or narrow",
    );
}

/** @type {(name: string, number: number) => void} */
function requirePositive(name, number) {
  if (number < 1) refuse(`${name} is ${number}: give 1 or more`);
}

/** @param {Layout} x */
function unbind(x, dim = 0) {
  const d = wrapExisting(dim, x);
  requirePieces(x, x.shape[d]);
  return range(x.shape[d]).map((i) => select(x, d, i));
}

/** @type {(x: Layout, piece: number | number[], dim?: number) => Layout[]} */
function split(x, piece, dim = 0) {
  const d = wrapExisting(dim, x);
  if (Array.isArray(piece)) return splitBySizes(x, piece, d);
  const size = x.shape[d];
  if (piece < 0 || (piece === 0 && size !== 0))
    refuse(`split_size ${piece} never gets through dim ${d} of size ${size}`);
  const count = Math.ceil(size / Math.max(piece, 1));
  requirePieces(x, count);
  if (size === 0) return slices(x, d, [0, 0]);
  const starts = range(count).map((k) => k * piece);
  return slices(x, d, [...starts, size]);
}

/** @type {(x: Layout, sizes: number[], d: number) => Layout[]} */
function splitBySizes(x, sizes, d) {
  const total = sizes.reduce((sum, n) => sum + BigInt(n), 0n); // exact, also where it is refused
  if (sizes.some((n) => n < 0) || total !== BigInt(x.shape[d]))
    refuse(
      `split_sizes ${tuple(sizes)} add up to ${total}, dim ${d} has size ${x.shape[d]}: ` +
        "give sizes of 0 or more that add up to it",
    );
  const bounds = [0];
  let stop = 0;
  for (const size of sizes) {
    stop += size;
    bounds.push(stop);
  }
  return slices(x, d, bounds);
}

/** @type {(x: Layout, chunks: number, dim?: number) => Layout[]} */
function chunk(x, chunks, dim = 0) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  requirePositive("chunks", chunks);
  if (size > 0) return split(x, Math.ceil(size / chunks), d);
  requirePieces(x, chunks);
  return slices(x, d, new Array(chunks + 1).fill(0));
}

/** @type {(x: Layout, sections: number | number[], dim?: number) => Layout[]} */
function tensorSplit(x, sections, dim = 0) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  if (Array.isArray(sections)) return slices(x, d, [0, ...sections, size]);
  requirePositive("sections", sections);
  requirePieces(x, sections);
  const shorter = Math.floor(size / sections);
  const longerCount = size % sections; // that many sections at the front have one element more
  const bounds = range(sections + 1).map((k) => k * shorter + Math.min(k, longerCount));
  return slices(x, d, bounds);
}

/**
 * hsplit, vsplit or dsplit: sections of equal size, or before indices.
 * @param {string} name
 * @param {number} d
 * @param {number} leastDims
 * @param {Layout} x
 * @param {number | number[]} sections
 */
function splitEvenly(name, d, leastDims, x, sections) {
  const ndim = x.shape.length;
  if (ndim < leastDims)
    refuse(
      `${name} takes ${counted(leastDims, "dim")} or more, shape ${tuple(x.shape)} has ${ndim}`,
    );
  if (!Array.isArray(sections)) {
    requirePositive("sections", sections);
    requirePieces(x, sections);
    if (x.shape[d] % sections)
      refuse(
        `dim ${d} of size ${x.shape[d]} does not divide into ${sections} equal sections: ` +
          "use tensor_split, whose sections may differ by one",
      );
  }
  return tensorSplit(x, sections, d);
}

// Views of parts: across dims

/** @param {Layout} x */
function diagonal(x, offset = 0, dim1 = 0, dim2 = 1) {
  const a = wrap(dim1, x);
  const b = wrap(dim2, x);
  if (a === b) refuse(`dim1 and dim2 are both ${a}: a diagonal needs two different dims`);
  const down = Math.max(-offset, 0);
  const right = Math.max(offset, 0);
  const size = Math.max(Math.min(x.shape[a] - down, x.shape[b] - right), 0);
  const first = size ? right * x.stride[b] + down * x.stride[a] : 0;
  const rest = only(
    x,
    range(x.shape.length).filter((d) => d !== a && d !== b),
  );
  return {
    shape: [...rest.shape, size],
    stride: [...rest.stride, x.stride[a] + x.stride[b]],
    storage_offset: x.storage_offset + first,
  };
}

/** @type {(x: Layout, dim: number, size: number, step: number) => Dims} */
function unfold(x, dim, size, step) {
  const d = wrap(dim, x);
  if (step < 1) refuse(`step is ${step}: give 1 or more`);
  const isScalar = x.shape.length === 0; // counts as one dim of size 1
  const length = isScalar ? 1 : x.shape[d];
  const stride = isScalar ? 1 : x.stride[d];
  if (size < 0 || size > length)
    refuse(`a window of ${size} does not fit dim ${d} of size ${length}`);
  if (isScalar) return { shape: [size], stride: [stride] };
  const windows = Math.floor((length - size) / step) + 1;
  return {
    shape: [...x.shape.toSpliced(d, 1, windows), size],
    stride: [...x.stride.toSpliced(d, 1, stride * step), stride],
  };
}

// Views of dims

/** @type {(x: Layout, wanted: number[]) => Dims} */
function permute(x, wanted) {
  const order = wanted.map((d) => wrap(d, x));
  const dims = range(x.shape.length);
  const ascending = order.toSorted((a, b) => a - b);
  if (!same(ascending, dims))
    refuse(
      `${tuple(wanted)} does not name each dim of shape ${tuple(x.shape)} exactly once: ` +
        `use a permutation of ${tuple(dims)}`,
    );
  return only(x, order);
}

/** @type {(x: Layout, dim0: number, dim1: number) => Dims} */
function transpose(x, dim0, dim1) {
  const a = wrap(dim0, x);
  const b = wrap(dim1, x);
  const swapped = new Map([
    [a, b],
    [b, a],
  ]);
  const order = range(x.shape.length).map((d) => swapped.get(d) ?? d);
  return only(x, order);
}

/** @type {(x: Layout, source: number | number[], destination: number | number[]) => Dims} */
function movedim(x, source, destination) {
  const sources = differentDims("source", source, x);
  const places = differentDims("destination", destination, x);
  const from = Array.isArray(source) ? tuple(source) : source;
  const to = Array.isArray(destination) ? tuple(destination) : destination;
  if (sources.length !== places.length)
    refuse(
      `source ${from} has ${counted(sources.length, "dim")} but destination ${to} has ` +
        `${places.length}: give one destination for each source`,
    );
  if (Array.isArray(source) !== Array.isArray(destination))
    refuse(`source ${from} and destination ${to} are of two kinds: give two ints, or two tuples`);
  if (!x.shape.length) return x;
  const order = range(x.shape.length).filter((d) => !sources.includes(d));
  for (const place of places.toSorted((a, b) => a - b))
    order.splice(place, 0, sources[places.indexOf(place)]);
  return only(x, order);
}

/** @type {(name: string, dims: number | number[], x: Layout) => number[]} */
function differentDims(name, dims, x) {
  const wanted = [dims].flat();
  const wrapped = wanted.map((d) => wrap(d, x));
  const twice = wrapped.find((d, k) => wrapped.indexOf(d) < k);
  if (twice !== undefined)
    refuse(`${name} ${tuple(wanted)} names dim ${twice} twice: give each dim once`);
  return wrapped;
}

/** @type {(x: Layout, name: string) => Dims} */
function matrix(x, name) {
  if (x.shape.length === 1)
    refuse(
      `${name} is for matrices and batches of them, shape ${tuple(x.shape)} has 1 dim: ` +
        "unsqueeze(0) or unsqueeze(1) makes a matrix of it",
    );
  return x.shape.length ? transpose(x, -2, -1) : x;
}

/** @type {(x: Layout, dim: number) => Dims} */
function unsqueeze(x, dim) {
  const d = wrap(dim, x, x.shape.length + 1);
  const step = d < x.shape.length ? x.shape[d] * x.stride[d] : 1;
  return { shape: x.shape.toSpliced(d, 0, 1), stride: x.stride.toSpliced(d, 0, step) };
}

/** @type {(x: Layout, dim?: number | number[]) => Dims} */
function squeeze(x, dim = range(x.shape.length)) {
  const named = differentDims("dim", dim, x);
  const kept = range(x.shape.length).filter((d) => x.shape[d] !== 1 || !named.includes(d));
  return only(x, kept);
}

/** @type {(x: Layout, wanted: number[]) => Dims} */
function expand(x, wanted) {
  const added = wanted.length - x.shape.length;
  const from = tuple(x.shape);
  const to = tuple(wanted);
  if (added < 0)
    refuse(`cannot expand shape ${from} to ${to}: give at least ${x.shape.length} sizes`);
  const shape = [...wanted];
  const stride = wanted.map(() => 0);
  for (const d of range(wanted.length).reverse()) {
    const isNew = d < added;
    const isInnermost = d === wanted.length - 1;
    let size = 1;
    let step = isInnermost ? 0 : shape[d + 1] * stride[d + 1];
    if (!isNew) {
      size = x.shape[d - added];
      step = x.stride[d - added];
      if (wanted[d] === -1) shape[d] = size;
    }
    if (shape[d] < 0)
      refuse(
        `cannot expand shape ${from} to ${to}: size ${shape[d]} of dim ${d} is negative, ` +
          "and -1 keeps the size only of a dim that is there",
      );
    if (size !== 1 && size !== shape[d])
      refuse(
        `cannot expand shape ${from} to ${to}: dim ${d} of the result would ` +
          `have size ${shape[d]} instead of ${size}, and only a size of 1 expands`,
      );
    stride[d] = shape[d] === size ? step : 0;
  }
  return { shape, stride };
}

// Views of elements, and copies

/** @type {(x: Layout, wanted: number[]) => Dims} */
function view(x, wanted) {
  const shape = requireCompleteShape("view", x, wanted);
  const { stride, reason } = viewStride(x.shape, x.stride, shape);
  if (stride) return { shape, stride };
  return refuse(
    `cannot view shape ${tuple(x.shape)}, stride ${tuple(x.stride)} as ${tuple(wanted)}: ` +
      `${reason}. Use .reshape(${wanted.join(", ")}) to copy.`,
  );
}

/** @type {(x: Layout, wanted: number[]) => Result} */
function reshape(x, wanted) {
  const shape = requireCompleteShape("reshape", x, wanted);
  const { stride } = viewStride(x.shape, x.stride, shape);
  return stride ? { shape, stride } : fresh(shape);
}

/** @type {(verb: string, x: Layout, wanted: number[]) => number[]} */
function requireCompleteShape(verb, x, wanted) {
  const [shape, reason] = completeShape(numel(x), wanted);
  if (shape) return shape;
  return refuse(
    `cannot ${verb} shape ${tuple(x.shape)}, stride ${tuple(x.stride)} as ${tuple(wanted)}: ` +
      `${reason}.`,
  );
}

/** @type {(x: Layout, startDim?: number, endDim?: number) => Result} */
function flattenDims(x, startDim = 0, endDim = -1) {
  const first = wrap(startDim, x);
  const last = wrap(endDim, x);
  if (first > last) refuse(`start_dim ${first} comes after end_dim ${last}: swap them`);
  if (!x.shape.length) return reshape(x, [1]);
  if (first === last) return x;
  const size = product(x.shape.slice(first, last + 1));
  return reshape(x, x.shape.toSpliced(first, last - first + 1, size));
}

/** @type {(x: Layout, dim: number, wanted: number[]) => Dims} */
function unflattenDim(x, dim, wanted) {
  const d = wrapExisting(dim, x);
  if (!wanted.length) refuse("sizes is empty: give the sizes that the dim becomes");
  const [sizes, reason] = completeShape(x.shape[d], wanted);
  if (sizes) return view(x, x.shape.toSpliced(d, 1, ...sizes));
  return refuse(`cannot unflatten dim ${d} of size ${x.shape[d]} into ${tuple(wanted)}: ${reason}`);
}

/**
 * The dims of each memory format, innermost first.
 * @type {Record<string, number[] | null>}
 */
const ORDERS = {
  contiguous_format: null,
  channels_last: [1, 3, 2, 0],
  channels_last_3d: [1, 4, 3, 2, 0],
};
const PRESERVE = "preserve_format";

/** @param {Layout} x */
function contiguous(x, format = "contiguous_format") {
  requireFormat(format);
  const isPreserved = format === PRESERVE;
  const why = whyNotContiguous(x, isPreserved ? "contiguous_format" : format);
  if (!why) return x;
  if (isPreserved) refuse(`${why}: only clone copies in preserve_format`);
  return fresh(x.shape, strideIn(format, x.shape));
}

/**
 * clone() keeps the strides of a dense layout, and packs others in the order of their strides.
 * @param {Layout} x
 * @param {string | null} [memoryFormat]
 */
function clone(x, memoryFormat) {
  const format = memoryFormat ?? PRESERVE;
  requireFormat(format);
  if (format !== PRESERVE) return fresh(x.shape, strideIn(format, x.shape));
  if (isDense(x)) return fresh(x.shape, x.stride);
  const order = sorted(x.shape, x.stride);
  return fresh(x.shape, packedIn(order, x.shape));
}

/** @param {string} format */
function requireFormat(format) {
  const formats = [...Object.keys(ORDERS), PRESERVE];
  if (!formats.includes(format))
    refuse(`memory_format ${format} is not one of ${formats.join(", ")}`);
}

/**
 * to() copies where torch takes the tensor to be in another format, which is not contiguity.
 * @param {Layout} x
 * @param {string} format
 */
function to(x, format) {
  requireFormat(format);
  const isThere = format === PRESERVE || format === suggestedFormat(x);
  return isThere ? x : fresh(x.shape, strideIn(format, x.shape));
}

/** @param {Dims} layout */
export function suggestedFormat({ shape, stride }) {
  for (const [format, order] of Object.entries(ORDERS))
    if (order?.length === shape.length && stepsGrow(shape, stride, order)) return format;
  return "contiguous_format";
}

/**
 * True if each dim of the order steps over all dims inside it.
 * @type {(shape: number[], stride: number[], order: number[]) => boolean}
 */
function stepsGrow(shape, stride, order) {
  if (stride[1] === 0 || shape.includes(0)) return false;
  let extent = 0;
  for (const d of order) {
    if (stride[d] < extent || (d === 0 && extent === stride[1])) return false;
    extent = stride[d] * shape[d];
  }
  return true;
}

/**
 * The copy of a flip reads some dims backwards.
 * @type {(x: Layout, wanted: number[]) => Result}
 */
function flip(x, wanted) {
  const wrapped = differentDims("dims", wanted, x);
  const dims = wrapped.filter((d) => d < x.shape.length); // a 0-d layout accepts dims 0 and -1
  const stride = [...x.stride];
  let { storage_offset } = x;
  for (const d of dims) {
    stride[d] = 0 - x.stride[d]; // there is no -0
    storage_offset += Math.max(x.shape[d] - 1, 0) * x.stride[d];
  }
  return { ...clone(x), read: { ...x, stride, storage_offset } };
}

/**
 * The copy of a repetition reads each dim inside a new one of stride 0.
 * @type {(x: Layout, times: number[]) => Result}
 */
function repeat(x, times) {
  const added = new Array(Math.max(times.length - x.shape.length, 0)).fill(1);
  const sizes = [...added, ...x.shape];
  const stride = [...added, ...x.stride];
  const shape = sizes.map((size, d) => size * times[d] + 0); // there is no -0
  if (times.length < sizes.length || shape.some((size) => size < 0))
    refuse(
      `cannot repeat shape ${tuple(x.shape)} ${tuple(times)} times: ` +
        `give ${x.shape.length} numbers or more, of 0 or more`,
    );
  const read = {
    ...x,
    shape: sizes.flatMap((size, d) => [times[d], size]),
    stride: stride.flatMap((step) => [0, step]),
  };
  return { ...fresh(shape), read };
}

/** @type {(x: Layout, times: number[]) => Result} */
function tile(x, times) {
  const added = new Array(Math.max(x.shape.length - times.length, 0)).fill(1);
  return repeat(x, [...added, ...times]);
}

/** @type {(format: string, shape: number[]) => number[]} */
function strideIn(format, shape) {
  const order = ORDERS[format];
  if (!order) return contiguousStride(shape);
  if (order.length !== shape.length)
    refuse(
      `${format} has ${order.length} dims, shape ${tuple(shape)} has ${shape.length}: ` +
        "use contiguous_format, or unsqueeze the missing dims",
    );
  return packedIn(order, shape);
}

/** @type {(x: Layout, shape: number[], stride: number[], offset?: number) => Result} */
function asStrided(x, shape, stride, offset) {
  const storage_offset = offset ?? x.storage_offset;
  if (stride.some((step) => step < 0))
    refuse(
      `stride ${tuple(stride)} has a negative one: ` +
        "torch has no negative strides, use .flip (a copy)",
    );
  if (shape.length !== stride.length)
    refuse(
      `shape ${tuple(shape)} has ${shape.length} dims but stride ${tuple(stride)} has ` +
        `${stride.length}: give one stride for each dim`,
    );
  const d = shape.findIndex((size) => size < 0);
  if (d >= 0) refuse(`size ${shape[d]} of dim ${d} is negative: sizes are 0 or more`);
  if (storage_offset < 0)
    refuse(
      `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset} ` +
        `reaches element ${storage_offset}: a storage starts at 0, so raise the offset`,
    );
  return { shape, stride, storage_offset };
}

/** @type {Record<string, (x: Layout, ...args: any[]) => Result | Result[]>} */
const OPERATIONS = {
  "[]": index,
  permute,
  transpose,
  swapdims: transpose,
  swapaxes: transpose,
  movedim,
  moveaxis: movedim,
  select,
  narrow,
  unbind,
  split,
  chunk,
  tensor_split: tensorSplit,
  hsplit(x, sections) {
    const dim = Math.min(x.shape.length - 1, 1);
    return splitEvenly("hsplit", dim, 1, x, sections);
  },
  vsplit: (x, sections) => splitEvenly("vsplit", 0, 2, x, sections),
  dsplit: (x, sections) => splitEvenly("dsplit", 2, 3, x, sections),
  diagonal,
  unfold,
  unsqueeze,
  squeeze,
  expand,
  broadcast_to: expand,
  view,
  unflatten: unflattenDim,
  detach: (x) => x,
  reshape,
  flatten: flattenDims,
  ravel(x) {
    const whole = { ...x, ...contiguous(x) };
    return { ...whole, ...view(whole, [-1]) };
  },
  contiguous,
  to,
  clone,
  flip,
  repeat,
  tile,
  as_strided: asStrided,
  t(x) {
    if (x.shape.length > 2)
      refuse(
        `t() is for at most 2 dims, shape ${tuple(x.shape)} has ${x.shape.length}: ` +
          "use transpose(dim0, dim1)",
      );
    return only(x, innermostFirst(x));
  },
  T: (x) => only(x, innermostFirst(x)),
  H(x) {
    if (x.shape.length > 2)
      refuse(`H is for one matrix, shape ${tuple(x.shape)} has ${x.shape.length} dims: use mH`);
    return matrix(x, "H");
  },
  mT: (x) => matrix(x, "mT"),
  mH: (x) => matrix(x, "mH"),
  adjoint: (x) => matrix(x, "adjoint()"),
};

// The rules, on bare shapes and strides -----------------------------------------------------------

/** @param {number[]} shape */
export function contiguousStride(shape) {
  const sizes = shape.map((size) => Math.max(size, 1));
  return shape.map((_, d) => product(sizes.slice(d + 1)));
}

/**
 * Neighbouring dims that step evenly, from `first` to `last`.
 * @typedef {{ first: number, last: number, numel: number, stride: number }} Chunk
 */

/**
 * The chunks of a layout, outermost first.
 * @param {number[]} shape
 * @param {number[]} stride
 */
export function chunksOf(shape, stride) {
  /** @type {Chunk[]} */
  const chunks = [];
  for (const d of innermostFirst({ shape })) {
    const [inner] = chunks;
    if (inner && (shape[d] === 1 || stride[d] === inner.numel * inner.stride))
      chunks[0] = { ...inner, first: d, numel: shape[d] * inner.numel };
    else chunks.unshift({ first: d, last: d, numel: shape[d], stride: stride[d] });
  }
  return chunks;
}

/**
 * The new shape with its one -1 worked out and "", or null and the reason why it cannot hold the
 * elements.
 * @param {number} count
 * @param {number[]} wanted
 * @returns {[shape: number[], reason: ""] | [shape: null, reason: string]}
 */
export function completeShape(count, wanted) {
  const negative = wanted.find((size) => size < -1);
  if (negative !== undefined)
    return [null, `size ${negative} is negative: give sizes of 0 or more, or one -1`];
  const [first, second] = range(wanted.length).filter((d) => wanted[d] === -1);
  if (second !== undefined)
    return [null, `dims ${first} and ${second} are both -1: only one can be worked out`];
  const numel = product(wanted.filter((size) => size !== -1));
  if (first === undefined) {
    if (numel === count) return [wanted, ""];
    return [null, `${tuple(wanted)} has ${counted(numel, "element")}, the layout has ${count}`];
  }
  if (numel === 0) return [null, "any size would do for the -1 beside a 0: write the size out"];
  if (count % numel)
    return [null, `${count} elements do not divide into ${numel}: no size fits the -1`];
  return [wanted.with(first, count / numel), ""];
}

/**
 * The stride of the view as a complete shape, or the reason why it does not exist, with the chunk
 * and the new dim at fault.
 * @typedef {{ stride: number[], reason?: never, chunk?: never, dim?: never }} ViewStride
 * @typedef {{ stride?: never, reason: string, chunk: Chunk, dim: number }} NoViewStride
 */

/**
 * @param {number[]} shape
 * @param {number[]} stride
 * @param {number[]} wanted
 * @returns {ViewStride | NoViewStride}
 */
export function viewStride(shape, stride, wanted) {
  if (shape.includes(0)) return { stride: same(shape, wanted) ? stride : contiguousStride(wanted) };
  const result = wanted.map(() => 1);
  let d = wanted.length - 1;
  for (const chunk of chunksOf(shape, stride).reverse()) {
    let filled = 1;
    while (d >= 0 && (filled < chunk.numel || wanted[d] === 1)) {
      result[d] = filled * chunk.stride;
      filled *= wanted[d];
      d -= 1;
    }
    if (filled !== chunk.numel) {
      let dim = d + 1;
      while (wanted[dim] === 1) dim += 1; // skipped sizes of 1 straddle nothing
      const reason = straddledBoundary(shape, stride, chunk, dim, wanted[dim]);
      return { reason, chunk, dim };
    }
  }
  return { stride: result };
}

/**
 * Name the boundary below which the chunk ends and that the new dim would straddle.
 * @type {(shape: number[], stride: number[], chunk: Chunk, dim: number, size: number) => string}
 */
function straddledBoundary(shape, stride, chunk, dim, size) {
  let inner = chunk.first;
  while (shape[inner] === 1) inner += 1;
  const outer = chunk.first - 1;
  const needed = chunk.numel * chunk.stride;
  return (
    `dims ${outer} and ${inner} do not merge (stride ${stride[outer]} found, ${needed} needed), ` +
    `and the new dim ${dim} of size ${size} would straddle them`
  );
}

/**
 * The dims of a shape, innermost first, sorted by several strides: the first stride that tells two
 * dims apart decides. The algorithm is torch's reorder_dimensions.
 * @type {(shape: number[], ...strides: number[][]) => number[]}
 */
function sorted(shape, ...strides) {
  const order = innermostFirst({ shape });
  /** @type {(a: number, b: number) => number} */
  const compare = (a, b) => {
    for (const stride of strides) {
      if (stride[a] === 0 || stride[b] === 0) continue; // a repeated dim fits in anywhere
      const difference = stride[a] - stride[b] || Number(shape[a] > shape[b]);
      if (difference) return difference;
    }
    return 0;
  };
  for (let first = 1; first < order.length; first++) {
    let place = first;
    for (let before = first - 1; before >= 0; before--) {
      const difference = compare(order[before], order[place]);
      if (difference < 0) break;
      if (difference === 0) continue;
      [order[before], order[place]] = [order[place], order[before]];
      place = before;
    }
  }
  return order;
}

/**
 * The stride that packs the dims of a shape densely in an order, innermost first.
 * @type {(order: number[], shape: number[]) => number[]}
 */
function packedIn(order, shape) {
  /** @type {number[]} */
  const stride = [];
  let step = 1;
  for (const d of order) {
    stride[d] = step;
    step *= shape[d];
  }
  return stride;
}

// The result of an elementwise operation ----------------------------------------------------------

/** @type {(...operands: Layout[]) => Layout} */
export function elementwise(...operands) {
  const shape = broadcastShape(operands.map((x) => x.shape));
  const hasOneShape = operands.every((x) => same(x.shape, shape));
  const stride = (hasOneShape && commonStride(operands)) || sortedStride(shape, operands);
  return { shape, stride, storage_offset: 0, itemsize: operands[0].itemsize };
}

/**
 * The stride of the result where a single loop visits all operands, or null.
 * @param {Layout[]} operands
 */
function commonStride(operands) {
  const [first] = operands;
  if (operands.every((x) => !whyNotContiguous(x))) return contiguousStride(first.shape);
  if (operands.every((x) => isInFormat("channels_last", x)))
    return strideIn("channels_last", first.shape);
  const hasOneStride = operands.every((x) => same(x.stride, first.stride));
  return hasOneStride && isDense(first) ? first.stride : null;
}

/**
 * The stride of the result, packed in the order in which the operands are visited.
 * @type {(shape: number[], operands: Layout[]) => number[]}
 */
function sortedStride(shape, operands) {
  const strides = operands.map((x) => broadcastStride(x, shape));
  const order = sorted(shape, ...strides);
  const isByRows = same(order, innermostFirst({ shape })); // where a size is 0, the two differ
  return isByRows ? contiguousStride(shape) : packedIn(order, shape);
}

/**
 * The stride of an operand as the shape of the result: 0 for each dim that it repeats.
 * @type {(operand: Layout, shape: number[]) => number[]}
 */
function broadcastStride(operand, shape) {
  const added = shape.length - operand.shape.length;
  return shape.map((size, d) => {
    const isRepeated = d < added || (operand.shape[d - added] === 1 && size !== 1);
    return isRepeated ? 0 : operand.stride[d - added];
  });
}

/** @param {number[][]} shapes */
function broadcastShape(shapes) {
  const ndim = Math.max(...shapes.map((shape) => shape.length));
  const result = new Array(ndim).fill(1);
  for (const [i, shape] of shapes.entries()) {
    const added = ndim - shape.length;
    for (const [k, size] of shape.entries()) {
      const d = added + k;
      if (size !== 1 && size !== result[d] && result[d] !== 1)
        refuse(
          `shapes ${shapes.map(tuple).join(", ")} do not broadcast: ` +
            `dim ${d} of the result would be ${result[d]}, but operand ${i} has ${size} there, ` +
            "and only a size of 1 is repeated",
        );
      if (size !== 1) result[d] = size;
    }
  }
  return result;
}
