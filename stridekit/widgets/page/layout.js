// Layouts in the browser, for pictures that react without a kernel. This is the one port of Python's arithmetic, in
// the same order: Layout (the formula, the questions, the views, the copies), the rules on bare shapes and strides, and
// what an elementwise operation returns. torch is the truth: tests/course/live.py lets it run the same operations.
// A layout is {shape, stride, storage_offset, itemsize}, counted in elements; an index is an array. Operations that
// torch would refuse throw Refused, with the text of Python's errors.

export const CACHE_LINE = 64; // bytes

/** An operation that torch would refuse, or a text that is not a line. */
export class Refused extends Error {}

export const refuse = (sentence) => {
  throw new Refused(sentence);
};
/** What an action returns, and ""; or null, and why it is refused. */
export function tried(act) {
  try {
    return [act(), ""];
  } catch (error) {
    if (error instanceof Refused) return [null, error.message];
    throw error;
  }
}

export const range = (count) => Array.from({ length: count }, (_, k) => k);
export const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
export const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const innermostFirst = ({ shape }) => range(shape.length).reverse();
export const same = (some, others) => String(some) === String(others);

// How numbers are written ----------------------------------------------------------------------------

export const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;
/** Names in a row: "a", "a and b", "a, b and c". */
export const listed = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");
/** A number and its word, in the plural unless it is 1. */
export const counted = (count, word) => `${count} ${word}${Number(count) === 1 ? "" : "s"}`;
/** A number with its digits in groups, without Intl, which Python's engine has not. */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
/** A verdict [good, sentence] with its sign; good is null for neither. */
export const verdict = ([good, sentence]) =>
  `${good === null ? "·" : good ? "✓" : "✗"} ${sentence}`;
/** The element at an index: x[2, 3], or x for a 0-d tensor. */
export const elementName = (index, name) => (index.length ? `${name}[${index.join(", ")}]` : name);
/** The same for the `flat`-th element in row-major order. */
export const nameAt = (shape, flat, name) => elementName(unflatten(shape, flat), name);

// The value and the address formula ------------------------------------------------------------------

export const rowMajor = (shape, itemsize) => ({
  shape,
  stride: contiguousStride(shape),
  storage_offset: 0,
  itemsize,
});
export const numel = ({ shape }) => product(shape);

export const offset = (layout, index) =>
  index.reduce((sum, i, d) => sum + i * layout.stride[d], layout.storage_offset);
/** The same for the `flat`-th index in row-major order. */
export const offsetAt = (layout, flat) => offset(layout, unflatten(layout.shape, flat));

/** The number of elements from the first to the last reached one, inclusive. */
export const extent = ({ shape, stride }) =>
  shape.includes(0) ? 0 : shape.reduce((sum, n, d) => sum + (n - 1) * stride[d], 1);
/** The last reached element; -1 if there is none. */
export const lastOf = (layout) =>
  extent(layout) ? layout.storage_offset + extent(layout) - 1 : -1;

/** The `flat`-th index in row-major order, or with its loops in another `order`, outermost first. */
export function unflatten(shape, flat, order = range(shape.length)) {
  const index = shape.map(() => 0);
  for (const d of [...order].reverse()) {
    index[d] = flat % shape[d];
    flat = Math.floor(flat / shape[d]);
  }
  return index;
}

export const flatten = (shape, index) => index.reduce((flat, i, d) => flat * shape[d] + i, 0);

/** The element of each index in row-major order, and the (flat) indices that own each element. */
export function reach({ shape, stride, storage_offset }) {
  // Each dim repeats the elements of the dims inside it, a stride further on.
  const within = shape.reduceRight(
    (inner, size, d) => range(size).flatMap((i) => inner.map((element) => i * stride[d] + element)),
    [0],
  );
  const elements = within.map((element) => storage_offset + element);
  const owners = new Map();
  for (const [flat, element] of elements.entries())
    if (!owners.get(element)?.push(flat)) owners.set(element, [flat]);
  return { elements, owners };
}

/** The storage that a copy makes: `valueOf` each element that it reads, at the place in the new layout. */
export function copied(valueOf, read, after) {
  const [from, to, storage] = [reach(read).elements, reach(after).elements, []];
  from.forEach((element, flat) => (storage[to[flat]] = valueOf(element)));
  return storage;
}

/** True for layouts with the same numbers; their itemsizes may differ. */
export const sameLayout = (a, b) =>
  same(a.shape, b.shape) && same(a.stride, b.stride) && a.storage_offset === b.storage_offset;

/** The reason why the browser cannot hold the numbers of a layout exactly, NaN among them; "" if it can. */
export function whyNotCounted(layout) {
  const { shape, stride, storage_offset } = layout;
  const numbers = [numel(layout), ...shape, ...stride, storage_offset, lastOf(layout) + 1];
  return numbers.every((n) => n <= Number.MAX_SAFE_INTEGER)
    ? ""
    : `numbers beyond ${Number.MAX_SAFE_INTEGER} are not exact in a browser`;
}

// Questions ------------------------------------------------------------------------------------------

/** The first dim, innermost first, whose stride is not what the dims before it need: {d, needed}, or null. */
function gapIn({ shape, stride }, order) {
  let needed = 1;
  for (const d of order) {
    if (shape[d] !== 1 && stride[d] !== needed) return { d, needed };
    needed *= shape[d];
  }
  return null;
}

/** The reason why the layout is not contiguous in a format; "" if it is. */
export function whyNotContiguous(layout, format = "contiguous_format") {
  const [ndim, order] = [layout.shape.length, ORDERS[format] ?? innermostFirst(layout)];
  if (order.length !== ndim) return `${format} has ${order.length} dims, this layout has ${ndim}`;
  if (!ORDERS[format] && layout.shape.includes(0)) return ""; // the other formats compare strides even so
  const gap = gapIn(layout, order);
  return gap ? `dim ${gap.d} has stride ${layout.stride[gap.d]}, ${gap.needed} is needed` : "";
}

export const isInFormat = (format, layout) => !whyNotContiguous(layout, format);

/** The dims from the outermost in memory to the innermost: the order of torch's loops over one operand. */
export function dimOrder(layout) {
  const { shape, stride } = layout;
  const isContiguous = !whyNotContiguous(layout);
  if (isContiguous !== isInFormat("channels_last", layout))
    return isContiguous ? range(shape.length) : [0, 2, 3, 1];
  return sorted(shape, stride).reverse();
}

/** True if the elements fill their range one by one. */
export function isDense(layout) {
  const { shape, stride } = layout;
  const dims = range(shape.length)
    .filter((d) => shape[d] > 1)
    .sort((a, b) => stride[a] - stride[b]);
  return shape.includes(0) || !gapIn(layout, dims);
}

// The operations -------------------------------------------------------------------------------------

// {layout, copied, read}: the layout after a step, whether torch has to copy, and then the elements that the copy reads,
// as a layout with its own order: that of a flip has negative strides, that of a repetition strides of 0. Throws Refused.
export function apply(layout, { name, args, piece, text }) {
  const made = OPERATIONS[name](layout, ...args);
  const {
    copied = false,
    read = layout,
    ...numbers
  } = { ...layout, ...(Array.isArray(made) ? pick(made, piece, text) : made) };
  return { layout: numbers, copied, read };
}

/** A place among so many, counted from 0; it may be given from the end. */
function placed(at, count, what, none) {
  if (at < -count || at >= count)
    refuse(`${what}: ${none && !count ? none : `use ${-count} to ${count - 1}`}`);
  return (at + count) % count;
}
const pick = (pieces, piece, text) =>
  pieces[
    placed(piece, pieces.length, `${text} is out of range for ${counted(pieces.length, "piece")}`)
  ];
const wrap = (dim, { shape }, ndim = shape.length) =>
  placed(dim, Math.max(ndim, 1), `dim ${dim} is out of range for shape ${tuple(shape)}`);
/** The same, but a 0-d layout is refused. */
function wrapExisting(dim, x) {
  if (!x.shape.length) refuse("a 0-d layout has one element and no dims: there is nothing to cut");
  return wrap(dim, x);
}
const only = ({ shape, stride }, dims) => ({
  shape: dims.map((d) => shape[d]),
  stride: dims.map((d) => stride[d]),
});
const fresh = (shape, stride = contiguousStride(shape)) => ({
  shape,
  stride,
  storage_offset: 0,
  copied: true,
});

// Views of parts

function index(x, ...items) {
  const used = items.filter((item) => item !== null && item !== "...").length;
  if (used > x.shape.length)
    refuse(`${used} indices for shape ${tuple(x.shape)}: it has ${x.shape.length} dims`);
  let [result, d] = [x, 0];
  for (const item of items)
    if (item === "...")
      d += x.shape.length - used; // each ... skips all that it can
    else if (d > result.shape.length - Number(item !== null))
      refuse("a second ... leaves no dim for what follows: give at most one");
    else if (item === null) result = { ...result, ...unsqueeze(result, d++) };
    else if (item.slice) result = cut(result, d++, item.slice);
    else result = select(result, d, item);
  return result;
}

function select(x, dim, i) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  const at = placed(
    i,
    size,
    `index ${i} is out of range for dim ${d} of size ${size}`,
    "it has no elements",
  );
  return {
    ...x,
    shape: x.shape.toSpliced(d, 1),
    stride: x.stride.toSpliced(d, 1),
    storage_offset: x.storage_offset + at * x.stride[d],
  };
}

function cut(x, d, [first, last, by]) {
  const [size, step] = [x.shape[d], by ?? 1];
  if (step < 1)
    refuse(`slice step ${step} is not positive: torch has no negative strides, use .flip (a copy)`);
  const clamp = (i, otherwise) => Math.min(Math.max(i < 0 ? i + size : (i ?? otherwise), 0), size);
  const [start, stop] = [clamp(first, 0), clamp(last, size)];
  return {
    ...x,
    shape: x.shape.toSpliced(d, 1, Math.max(Math.ceil((stop - start) / step), 0)),
    stride: x.stride.toSpliced(d, 1, x.stride[d] * step),
    storage_offset: x.storage_offset + start * x.stride[d],
  };
}

function narrow(x, dim, start, length) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  if (start < -size || start > size)
    refuse(`start ${start} is out of range for dim ${d} of size ${size}: use ${-size} to ${size}`);
  const first = start < 0 ? start + size : start;
  if (length < 0 || length > size - first)
    refuse(
      `length ${length} does not fit dim ${d} of size ${size} after start ${first}: use 0 to ${size - first}`,
    );
  return cut(x, d, [first, first + length]);
}

// Views of parts: pieces, one after the other

function slices(x, d, bounds) {
  requirePieces(x, bounds.length - 1);
  return bounds.slice(1).map((stop, k) => cut(x, d, [bounds[k], stop]));
}

function requirePieces({ shape }, count) {
  const most = Math.min(50_000, Math.floor(100_000 / Math.max(shape.length, 1)));
  const would = `that would be ${grouped(count)} layouts of ${shape.length} dims, ${grouped(most)} are the most`;
  if (count > most) refuse(`${would}: ask for single ones by select or narrow`);
  return count;
}

const positive = (name, number) =>
  number < 1 ? refuse(`${name} is ${number}: give 1 or more`) : number;

function unbind(x, dim = 0) {
  const d = wrapExisting(dim, x);
  return range(requirePieces(x, x.shape[d])).map((i) => select(x, d, i));
}

function split(x, piece, dim = 0) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  if (Array.isArray(piece)) {
    const total = piece.reduce((sum, n) => sum + BigInt(n), 0n); // exact, also where it is refused
    const what = `split_sizes ${tuple(piece)} add up to ${total}, dim ${d} has size ${size}`;
    if (piece.some((n) => n < 0) || total !== BigInt(size))
      refuse(`${what}: give sizes of 0 or more that add up to it`);
    return slices(
      x,
      d,
      piece.reduce((sums, n) => [...sums, sums.at(-1) + n], [0]),
    );
  }
  if (piece < 0 || (piece === 0 && size !== 0))
    refuse(`split_size ${piece} never gets through dim ${d} of size ${size}`);
  const count = requirePieces(x, Math.ceil(size / Math.max(piece, 1)));
  return slices(x, d, size ? [...range(count).map((k) => k * piece), size] : [0, 0]);
}

function chunk(x, chunks, dim = 0) {
  const d = wrapExisting(dim, x);
  positive("chunks", chunks);
  if (x.shape[d] === 0) return slices(x, d, new Array(requirePieces(x, chunks) + 1).fill(0));
  return split(x, Math.ceil(x.shape[d] / chunks), d);
}

function tensorSplit(x, sections, dim = 0) {
  const d = wrapExisting(dim, x);
  const size = x.shape[d];
  if (Array.isArray(sections)) return slices(x, d, [0, ...sections, size]);
  const count = requirePieces(x, positive("sections", sections));
  const [each, longer] = [Math.floor(size / count), size % count];
  return slices(
    x,
    d,
    range(count + 1).map((i) => i * each + Math.min(i, longer)),
  );
}

/** hsplit, vsplit or dsplit: sections of equal size, or before indices. */
function splitEvenly(name, d, leastDims, x, sections) {
  if (x.shape.length < leastDims)
    refuse(
      `${name} takes ${leastDims} dims or more, shape ${tuple(x.shape)} has ${x.shape.length}`,
    );
  const why = `dim ${d} of size ${x.shape[d]} does not divide into ${sections} equal sections`;
  if (!Array.isArray(sections) && x.shape[d] % requirePieces(x, positive("sections", sections)))
    refuse(`${why}: use tensor_split, whose sections may differ by one`);
  return tensorSplit(x, sections, d);
}

// Views of parts: across dims

function diagonal(x, offset = 0, dim1 = 0, dim2 = 1) {
  const [a, b] = [wrap(dim1, x), wrap(dim2, x)];
  if (a === b) refuse(`dim1 and dim2 are both ${a}: a diagonal needs two different dims`);
  const [down, right] = [Math.max(-offset, 0), Math.max(offset, 0)];
  const size = Math.max(Math.min(x.shape[a] - down, x.shape[b] - right), 0);
  const rest = only(
    x,
    range(x.shape.length).filter((d) => d !== a && d !== b),
  );
  return {
    shape: [...rest.shape, size],
    stride: [...rest.stride, x.stride[a] + x.stride[b]],
    storage_offset: x.storage_offset + (size ? right * x.stride[b] + down * x.stride[a] : 0),
  };
}

function unfold(x, dim, size, step) {
  const d = wrap(dim, x);
  if (step < 1) refuse(`step is ${step}: give 1 or more`);
  const [length, old] = x.shape.length ? [x.shape[d], x.stride[d]] : [1, 1];
  if (size < 0 || size > length)
    refuse(`a window of ${size} does not fit dim ${d} of size ${length}`);
  if (!x.shape.length) return { shape: [size], stride: [old] };
  return {
    shape: [...x.shape.toSpliced(d, 1, Math.floor((length - size) / step) + 1), size],
    stride: [...x.stride.toSpliced(d, 1, old * step), old],
  };
}

// Views of dims

function permute(x, wanted) {
  const order = wanted.map((d) => wrap(d, x));
  const dims = range(x.shape.length);
  const why = `${tuple(wanted)} does not name each dim of shape ${tuple(x.shape)} exactly once`;
  if (
    !same(
      order.toSorted((a, b) => a - b),
      dims,
    )
  )
    refuse(`${why}: use a permutation of ${tuple(dims)}`);
  return only(x, order);
}

function transpose(x, dim0, dim1) {
  const [a, b] = [wrap(dim0, x), wrap(dim1, x)];
  return only(
    x,
    range(x.shape.length).map((d) => ({ [a]: b, [b]: a })[d] ?? d),
  );
}

function movedim(x, source, destination) {
  const sources = differentDims("source", source, x);
  const places = differentDims("destination", destination, x);
  const [from, to] = [source, destination].map((dims) =>
    Array.isArray(dims) ? tuple(dims) : dims,
  );
  const counts = `source ${from} has ${sources.length} dims but destination ${to} has ${places.length}`;
  if (sources.length !== places.length) refuse(`${counts}: give one destination for each source`);
  if (Array.isArray(source) !== Array.isArray(destination))
    refuse(`source ${from} and destination ${to} are of two kinds: give two ints, or two tuples`);
  const dims = range(x.shape.length);
  const others = dims.filter((d) => !sources.includes(d));
  return only(
    x,
    dims.map((place) => (places.includes(place) ? sources[places.indexOf(place)] : others.shift())),
  );
}

function differentDims(name, dims, x) {
  const wanted = [dims].flat();
  const wrapped = wanted.map((d) => wrap(d, x));
  const twice = wrapped.find((d, k) => wrapped.indexOf(d) < k);
  if (twice !== undefined)
    refuse(`${name} ${tuple(wanted)} names dim ${twice} twice: give each dim once`);
  return wrapped;
}

function matrix(x, name) {
  const why = `${name} is for matrices and batches of them, shape ${tuple(x.shape)} has 1 dim`;
  if (x.shape.length === 1) refuse(`${why}: unsqueeze(0) or unsqueeze(1) makes a matrix of it`);
  return x.shape.length ? transpose(x, -2, -1) : x;
}

function unsqueeze(x, dim) {
  const d = wrap(dim, x, x.shape.length + 1);
  const step = d < x.shape.length ? x.shape[d] * x.stride[d] : 1;
  return { shape: x.shape.toSpliced(d, 0, 1), stride: x.stride.toSpliced(d, 0, step) };
}

function squeeze(x, dim = range(x.shape.length)) {
  const named = differentDims("dim", dim, x);
  return only(
    x,
    range(x.shape.length).filter((d) => x.shape[d] !== 1 || !named.includes(d)),
  );
}

function expand(x, wanted) {
  const added = wanted.length - x.shape.length;
  const cannot = `cannot expand shape ${tuple(x.shape)} to ${tuple(wanted)}:`;
  if (added < 0) refuse(`${cannot} give at least ${x.shape.length} sizes`);
  const [shape, stride] = [[...wanted], wanted.map(() => 0)];
  for (const d of range(wanted.length).reverse()) {
    let [old, step] = [1, d + 1 < wanted.length ? shape[d + 1] * stride[d + 1] : 0];
    if (d >= added) {
      [old, step] = [x.shape[d - added], x.stride[d - added]];
      if (wanted[d] === -1) shape[d] = old;
    }
    if (shape[d] < 0)
      refuse(
        `${cannot} size ${shape[d]} of dim ${d} is negative, and -1 keeps the size only of a dim that is there`,
      );
    if (old !== 1 && old !== shape[d])
      refuse(`${cannot} dim ${d} of the result has size ${old} here, and only a size of 1 expands`);
    stride[d] = shape[d] === old ? step : 0;
  }
  return { shape, stride };
}

// Views of elements, and copies

/** The view in a shape, or what stands in for it where there is none. */
function viewed(verb, x, wanted, otherwise) {
  const cannot = `cannot ${verb} shape ${tuple(x.shape)}, stride ${tuple(x.stride)} as ${tuple(wanted)}:`;
  const [shape, wrong] = completeShape(numel(x), wanted);
  if (wrong) refuse(`${cannot} ${wrong}.`);
  const { reason, stride } = viewStride(x.shape, x.stride, shape);
  return reason ? otherwise(shape, `${cannot} ${reason}.`) : { shape, stride };
}

const view = (x, wanted) =>
  viewed("view", x, wanted, (_, why) =>
    refuse(`${why} Use .reshape(${wanted.join(", ")}) to copy.`),
  );
const reshape = (x, wanted) => viewed("reshape", x, wanted, (shape) => fresh(shape));

function flattenDims(x, first = 0, last = -1) {
  const [a, b] = [wrap(first, x), wrap(last, x)];
  if (a > b) refuse(`start_dim ${a} comes after end_dim ${b}: swap them`);
  if (!x.shape.length) return reshape(x, [1]);
  if (a === b) return x;
  return reshape(x, x.shape.toSpliced(a, b - a + 1, product(x.shape.slice(a, b + 1))));
}

function unflattenDim(x, dim, wanted) {
  const d = wrapExisting(dim, x);
  if (!wanted.length) refuse("sizes is empty: give the sizes that the dim becomes");
  const [sizes, wrong] = completeShape(x.shape[d], wanted);
  if (wrong)
    refuse(`cannot unflatten dim ${d} of size ${x.shape[d]} into ${tuple(wanted)}: ${wrong}`);
  return view(x, x.shape.toSpliced(d, 1, ...sizes));
}

/** The dims of each memory format, innermost first. */
const ORDERS = {
  contiguous_format: null,
  channels_last: [1, 3, 2, 0],
  channels_last_3d: [1, 4, 3, 2, 0],
};

function contiguous(x, format = "contiguous_format") {
  requireFormat(format, Object.keys(ORDERS));
  return isInFormat(format, x) ? x : fresh(x.shape, strideIn(format, x.shape));
}

/** clone() keeps the strides of a dense layout, and packs others in the order of their strides. */
function clone(x, given) {
  const format = given ?? "preserve_format";
  requireFormat(format, [...Object.keys(ORDERS), "preserve_format"]);
  if (format !== "preserve_format") return fresh(x.shape, strideIn(format, x.shape));
  return fresh(x.shape, isDense(x) ? x.stride : packedIn(sorted(x.shape, x.stride), x.shape));
}

function requireFormat(format, known) {
  if (!known.includes(format)) refuse(`memory_format ${format} is not one of ${known.join(", ")}`);
}

/** to() copies where torch takes the tensor to be in another format, which is not contiguity. */
function to(x, format) {
  requireFormat(format, [...Object.keys(ORDERS), "preserve_format"]);
  const isThere = ["preserve_format", suggestedFormat(x)].includes(format);
  return isThere ? x : fresh(x.shape, strideIn(format, x.shape));
}

export function suggestedFormat({ shape, stride }) {
  const grows = (format) =>
    ORDERS[format]?.length === shape.length && stepsGrow(shape, stride, ORDERS[format]);
  return Object.keys(ORDERS).find(grows) ?? "contiguous_format";
}

/** True if each dim of the order steps over all dims inside it. */
function stepsGrow(shape, stride, order) {
  if (stride[1] === 0 || shape.includes(0)) return false;
  let extent = 0;
  for (const d of order) {
    if (stride[d] < extent || (d === 0 && extent === stride[1])) return false;
    extent = stride[d] * shape[d];
  }
  return true;
}

/** The reading of a flip counts some dims backwards. */
function flip(x, wanted) {
  const dims = differentDims("dims", wanted, x).filter((d) => d < x.shape.length); // 0-d accepts dims 0 and -1
  const storage_offset = dims.reduce(
    (first, d) => first + Math.max(x.shape[d] - 1, 0) * x.stride[d],
    x.storage_offset,
  );
  const stride = x.stride.map((step, d) => (dims.includes(d) ? 0 - step : step));
  return { ...clone(x), read: { ...x, stride, storage_offset } };
}

/** The reading of a repetition has a dim of stride 0 before each dim. */
function repeat(x, times) {
  const ones = new Array(Math.max(times.length - x.shape.length, 0)).fill(1);
  const [sizes, stride] = [
    [...ones, ...x.shape],
    [...ones, ...x.stride],
  ];
  const shape = sizes.map((size, d) => size * times[d] + 0); // there is no -0
  const cannot = `cannot repeat shape ${tuple(x.shape)} ${tuple(times)} times`;
  if (times.length < sizes.length || shape.some((size) => size < 0))
    refuse(`${cannot}: give ${x.shape.length} numbers or more, of 0 or more`);
  const read = {
    ...x,
    shape: sizes.flatMap((size, d) => [times[d], size]),
    stride: stride.flatMap((step) => [0, step]),
  };
  return { ...fresh(shape), read };
}

function strideIn(format, shape) {
  const order = ORDERS[format];
  if (!order) return contiguousStride(shape);
  const why = `${format} has ${order.length} dims, shape ${tuple(shape)} has ${shape.length}`;
  if (order.length !== shape.length)
    refuse(`${why}: use contiguous_format, or unsqueeze the missing dims`);
  return packedIn(order, shape);
}

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
  contiguous,
  to,
  clone,
  flip,
  repeat,
  hsplit: (x, sections) =>
    splitEvenly("hsplit", ...(x.shape.length === 1 ? [0, 1] : [1, 2]), x, sections),
  vsplit: (x, sections) => splitEvenly("vsplit", 0, 2, x, sections),
  dsplit: (x, sections) => splitEvenly("dsplit", 2, 3, x, sections),
  t(x) {
    const why = `t() is for at most 2 dims, shape ${tuple(x.shape)} has ${x.shape.length}`;
    if (x.shape.length > 2) refuse(`${why}: use transpose(dim0, dim1)`);
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
  tile: (x, times) =>
    repeat(x, [...new Array(Math.max(x.shape.length - times.length, 0)).fill(1), ...times]),
  ravel(x) {
    const whole = { ...x, ...contiguous(x) };
    return { ...whole, ...view(whole, [-1]) };
  },
  as_strided(x, shape, stride, offset) {
    const storage_offset = offset ?? x.storage_offset;
    if (stride.some((s) => s < 0))
      refuse(
        `stride ${tuple(stride)} has a negative one: torch has no negative strides, use .flip (a copy)`,
      );
    if (storage_offset < 0)
      refuse(`storage_offset ${storage_offset} is negative: a storage starts at 0`);
    const counts = `shape ${tuple(shape)} has ${shape.length} dims but stride ${tuple(stride)} has ${stride.length}`;
    if (shape.length !== stride.length) refuse(`${counts}: give one stride for each dim`);
    const d = shape.findIndex((n) => n < 0);
    if (d >= 0) refuse(`size ${shape[d]} of dim ${d} is negative: sizes are 0 or more`);
    return { shape, stride, storage_offset };
  },
};

// The rules, on bare shapes and strides --------------------------------------------------------------

export const contiguousStride = (shape) =>
  shape.map((_, d) => product(shape.slice(d + 1).map((size) => Math.max(size, 1))));

/** Neighbouring dims `first … last` that step evenly, outermost chunk first. */
export function chunksOf(shape, stride) {
  const chunks = [];
  for (const d of innermostFirst({ shape })) {
    const [inner] = chunks;
    if (inner && (shape[d] === 1 || stride[d] === inner.numel * inner.stride))
      chunks[0] = { ...inner, first: d, numel: shape[d] * inner.numel };
    else chunks.unshift({ first: d, last: d, numel: shape[d], stride: stride[d] });
  }
  return chunks;
}

/** The new shape with its one -1 worked out, and "" or why it cannot hold the elements. */
export function completeShape(count, wanted) {
  const no = (why) => [null, why];
  const negative = wanted.find((size) => size < -1);
  if (negative !== undefined)
    return no(`size ${negative} is negative: give sizes of 0 or more, or one -1`);
  const unknown = range(wanted.length).filter((d) => wanted[d] === -1);
  if (unknown.length > 1)
    return no(`dims ${unknown[0]} and ${unknown[1]} are both -1: only one can be worked out`);
  const known = product(wanted.filter((size) => size !== -1));
  if (!unknown.length && known === count) return [wanted, ""];
  if (!unknown.length)
    return no(`${tuple(wanted)} has ${counted(known, "element")}, the layout has ${count}`);
  if (known === 0) return no("any size would do for the -1 beside a 0: write the size out");
  if (count % known)
    return no(`${count} elements do not divide into ${known}: no size fits the -1`);
  return [wanted.map((size) => (size === -1 ? count / known : size)), ""];
}

/** The stride of the view as a complete shape: {stride}, or the {reason} why it does not exist. */
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
      do d += 1;
      while (wanted[d] === 1); // skipped sizes of 1 straddle nothing
      return { reason: boundary(shape, stride, chunk, d, wanted[d]), chunk, dim: d };
    }
  }
  return { stride: result };
}

/** Name the boundary below which the chunk ends and that the new dim would straddle. */
function boundary(shape, stride, chunk, dim, size) {
  let inner = chunk.first;
  while (shape[inner] === 1) inner += 1;
  const outer = chunk.first - 1;
  const numbers = `stride ${stride[outer]} found, ${chunk.numel * chunk.stride} needed`;
  return `dims ${outer} and ${inner} do not merge (${numbers}), and the new dim ${dim} of size ${size} would straddle them`;
}

// The dims of a shape, innermost first, sorted by several strides: the first stride that tells two dims apart
// decides. The algorithm is torch's reorder_dimensions.
function sorted(shape, ...strides) {
  const order = innermostFirst({ shape });
  const compare = (a, b) => {
    for (const stride of strides) {
      if (stride[a] === 0 || stride[b] === 0) continue; // a repeated dim fits in anywhere
      const verdict = stride[a] - stride[b] || (shape[a] > shape[b] ? 1 : 0);
      if (verdict) return verdict;
    }
    return 0;
  };
  for (let first = 1; first < order.length; first++)
    for (let place = first, other = first - 1; other >= 0; other--) {
      const verdict = compare(order[other], order[place]);
      if (verdict < 0) break;
      if (verdict === 0) continue;
      [order[other], order[place]] = [order[place], order[other]];
      place = other;
    }
  return order;
}

/** The stride that packs the dims of a shape densely in an order, innermost first. */
function packedIn(order, shape) {
  const stride = [];
  order.reduce((step, d) => ((stride[d] = step), step * shape[d]), 1);
  return stride;
}

// What an elementwise operation returns --------------------------------------------------------------

export function elementwise(...operands) {
  const shape = broadcastShape(operands.map((x) => x.shape));
  const alike = operands.every((x) => same(x.shape, shape));
  const stride = (alike && commonStride(operands)) || sortedStride(shape, operands);
  return { shape, stride, storage_offset: 0, itemsize: operands[0].itemsize };
}

/** The stride of the result where a single loop visits all operands, or null. */
function commonStride(operands) {
  const [first] = operands;
  if (operands.every((x) => !whyNotContiguous(x))) return contiguousStride(first.shape);
  if (operands.every((x) => isInFormat("channels_last", x)))
    return strideIn("channels_last", first.shape);
  return operands.every((x) => same(x.stride, first.stride)) && isDense(first)
    ? first.stride
    : null;
}

/** The stride of the result, packed in the order in which the operands are visited. */
function sortedStride(shape, operands) {
  const strides = operands.map((x) => {
    const front = shape.length - x.shape.length;
    return shape.map((size, d) =>
      d < front || (x.shape[d - front] === 1 && size !== 1) ? 0 : x.stride[d - front],
    );
  });
  const order = sorted(shape, ...strides);
  const isByRows = same(order, innermostFirst({ shape })); // where a size is 0, the two differ
  return isByRows ? contiguousStride(shape) : packedIn(order, shape);
}

function broadcastShape(shapes) {
  const ndim = Math.max(...shapes.map((shape) => shape.length));
  const result = new Array(ndim).fill(1);
  shapes.forEach((shape, i) =>
    shape.forEach((size, own) => {
      const d = ndim - shape.length + own;
      const sizes = `dim ${d} of the result would be ${result[d]}, but operand ${i} has ${size} there`;
      if (size !== 1 && size !== result[d] && result[d] !== 1)
        refuse(
          `shapes ${shapes.map(tuple).join(", ")} do not broadcast: ${sizes}, and only a size of 1 is repeated`,
        );
      if (size !== 1) result[d] = size;
    }),
  );
  return result;
}
