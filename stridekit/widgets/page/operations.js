// torch's view operations on layouts, for pictures that answer without a kernel. Python's Layout is the truth:
// tests/fixtures/operations.json and tests/fuzz_lines.py pin numbers and sentences to its answers.
//
// `apply(layout, step)` gives {layout, copied}, or throws with Python's sentence; grammar.js reads a step.

import { numel, product, tuple, whyNotContiguous } from "./core.js";
import { dimOrder, packed } from "./dim_order.js";
import { Refused } from "./grammar.js";
import { completeShape, contiguousStride, viewStride } from "./view_rule.js";

const range = (n) => Array.from({ length: n }, (_, k) => k);
const change = (values, at, ...others) => [...values.slice(0, at), ...others, ...values.slice(at + 1)];
const insert = (values, at, value) => [...values.slice(0, at), value, ...values.slice(at)];

const refuse = (sentence) => {
  throw new Refused(sentence);
};

/** The layout after a step, and whether torch has to copy: {layout, copied}. Throws Refused. */
export function apply(layout, { name, args }) {
  const { copied = false, ...numbers } = { ...layout, ...OPERATIONS[name](layout, ...args) };
  return { layout: numbers, copied };
}

const wrap = (dim, { shape }, ndim = shape.length) => {
  const count = Math.max(ndim, 1);
  if (dim < -count || dim >= count)
    refuse(`dim ${dim} is out of range for shape ${tuple(shape)}: use ${-count} to ${count - 1}`);
  return (dim + count) % count;
};
const pick = ({ shape, stride }, dims) => ({
  shape: dims.map((d) => shape[d]), stride: dims.map((d) => stride[d]),
});
const fresh = (shape) => ({ shape, stride: contiguousStride(shape), storage_offset: 0, copied: true });

function permute(x, wanted) {
  const order = wanted.map((d) => wrap(d, x));
  if (String([...order].sort((a, b) => a - b)) !== String(range(x.shape.length)))
    refuse(
      `${tuple(wanted)} does not name each dim of shape ${tuple(x.shape)} exactly once: ` +
        `use a permutation of ${tuple(range(x.shape.length))}`,
    );
  return pick(x, order);
}

function transpose(x, dim0, dim1) {
  const [a, b] = [wrap(dim0, x), wrap(dim1, x)];
  return pick(x, range(x.shape.length).map((d) => (d === a ? b : d === b ? a : d)));
}

function matrix(x) {
  if (x.shape.length === 1)
    refuse(
      `mT is for matrices and batches of them, shape ${tuple(x.shape)} has 1 dim: ` +
        "unsqueeze(0) or unsqueeze(1) makes a matrix of it",
    );
  return x.shape.length ? transpose(x, -2, -1) : x;
}

function select(x, dim, i) {
  if (!x.shape.length) refuse("a 0-d layout has one element and no dims: there is nothing to cut");
  const d = wrap(dim, x);
  const size = x.shape[d];
  if (i < -size || i >= size)
    refuse(
      `index ${i} is out of range for dim ${d} of size ${size}: ` +
        (size ? `use ${-size} to ${size - 1}` : "it has no elements"),
    );
  return {
    ...x, shape: change(x.shape, d), stride: change(x.stride, d),
    storage_offset: x.storage_offset + ((i + size) % size) * x.stride[d],
  };
}

function cut(x, d, [first, last, by]) {
  const [size, step] = [x.shape[d], by ?? 1];
  if (step < 1)
    refuse(`slice step ${step} is not positive: torch has no negative strides, use .flip (a copy)`);
  const clamp = (i, otherwise) => {
    if (i === undefined || i === null) return otherwise;
    return Math.min(Math.max(i < 0 ? i + size : i, 0), size);
  };
  const [start, stop] = [clamp(first, 0), clamp(last, size)];
  return {
    ...x,
    shape: change(x.shape, d, Math.max(Math.ceil((stop - start) / step), 0)),
    stride: change(x.stride, d, x.stride[d] * step),
    storage_offset: x.storage_offset + start * x.stride[d],
  };
}

function index(x, ...items) {
  const used = items.filter((item) => item !== null && item !== "...").length;
  if (used > x.shape.length)
    refuse(`${used} indices for shape ${tuple(x.shape)}: it has ${x.shape.length} dims`);
  let [result, d] = [x, 0];
  for (const item of items)
    if (item === "...") d += x.shape.length - used; // each ... skips all that it can
    else if (d > result.shape.length - Number(item !== null))
      refuse("a second ... leaves no dim for what follows: give one at the most");
    else if (item === null) result = { ...result, ...unsqueeze(result, d++) };
    else if (item.slice) result = cut(result, d++, item.slice);
    else result = select(result, d, item);
  return result;
}

function unsqueeze(x, dim) {
  const d = wrap(dim, x, x.shape.length + 1);
  const step = d < x.shape.length ? x.shape[d] * x.stride[d] : 1;
  return { shape: insert(x.shape, d, 1), stride: insert(x.stride, d, step) };
}

function squeeze(x, dim = range(x.shape.length)) {
  const wanted = [dim].flat();
  const named = wanted.map((d) => wrap(d, x));
  const twice = named.find((d, k) => named.indexOf(d) < k);
  if (twice !== undefined) refuse(`dim ${tuple(wanted)} names dim ${twice} twice: give each dim once`);
  return pick(x, range(x.shape.length).filter((d) => x.shape[d] !== 1 || !named.includes(d)));
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

function diagonal(x, offset = 0, dim1 = 0, dim2 = 1) {
  const [a, b] = [wrap(dim1, x), wrap(dim2, x)];
  if (a === b) refuse(`dim1 and dim2 are both ${a}: a diagonal needs two different dims`);
  const [down, right] = [Math.max(-offset, 0), Math.max(offset, 0)];
  const size = Math.max(Math.min(x.shape[a] - down, x.shape[b] - right), 0);
  const rest = pick(x, range(x.shape.length).filter((d) => d !== a && d !== b));
  return {
    shape: [...rest.shape, size], stride: [...rest.stride, x.stride[a] + x.stride[b]],
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
    shape: [...change(x.shape, d, Math.floor((length - size) / step) + 1), size],
    stride: [...change(x.stride, d, old * step), old],
  };
}

/** The view as a shape: its numbers, or the reason why there is none. */
function viewed(x, wanted) {
  const [shape, wrong] = completeShape(numel(x), wanted);
  return wrong ? { wrong } : { shape, ...viewStride(x.shape, x.stride, shape) };
}

const sentence = (verb, x, wanted) =>
  `cannot ${verb} shape ${tuple(x.shape)}, stride ${tuple(x.stride)} as ${tuple(wanted)}:`;

function view(x, wanted) {
  const { wrong, reason, shape, stride } = viewed(x, wanted);
  if (wrong) refuse(`${sentence("view", x, wanted)} ${wrong}.`);
  if (reason)
    refuse(`${sentence("view", x, wanted)} ${reason}. Use .reshape(${wanted.join(", ")}) to copy.`);
  return { shape, stride };
}

function reshape(x, wanted) {
  const { wrong, reason, shape, stride } = viewed(x, wanted);
  if (wrong) refuse(`${sentence("reshape", x, wanted)} ${wrong}.`);
  return reason ? fresh(shape) : { shape, stride };
}

function flatten(x, first = 0, last = -1) {
  const [a, b] = [wrap(first, x), wrap(last, x)];
  if (a > b) refuse(`start_dim ${a} lies behind end_dim ${b}: swap them`);
  if (!x.shape.length) return reshape(x, [1]);
  if (a === b) return x;
  return reshape(x, [...x.shape.slice(0, a), product(x.shape.slice(a, b + 1)), ...x.shape.slice(b + 1)]);
}

/** The order in which each memory format walks the dims, innermost first. */
const ORDERS = { contiguous_format: null, channels_last: [1, 3, 2, 0], channels_last_3d: [1, 4, 3, 2, 0] };

function contiguous(x, format = "contiguous_format") {
  requireFormat(format, Object.keys(ORDERS));
  const { length } = ORDERS[format] ?? x.shape;
  const isThere = format === "contiguous_format" ? !whyNotContiguous(x)
    : length === x.shape.length && strideIn(format, x.shape).every((step, d) => x.shape[d] === 1 || x.stride[d] === step);
  return isThere ? x : { ...fresh(x.shape), stride: strideIn(format, x.shape) };
}

/** clone() keeps the strides of a dense layout, and packs others in the order of their strides. */
function clone(x, given) {
  const format = given ?? "preserve_format";
  requireFormat(format, [...Object.keys(ORDERS), "preserve_format"]);
  if (format !== "preserve_format") return { ...fresh(x.shape), stride: strideIn(format, x.shape) };
  return { ...fresh(x.shape), stride: isDense(x) ? x.stride : packed(x.shape, x.stride) };
}

function requireFormat(format, known) {
  if (!known.includes(format)) refuse(`memory_format ${format} is not one of ${known.join(", ")}`);
}

/** The stride of a new tensor in a memory format. */
function strideIn(format, shape) {
  const order = ORDERS[format];
  if (!order) return contiguousStride(shape);
  if (order.length !== shape.length)
    refuse(
      `${format} has ${order.length} dims, shape ${tuple(shape)} has ${shape.length}: ` +
        "use contiguous_format, or unsqueeze the missing dims",
    );
  const stride = [];
  order.reduce((step, d) => ((stride[d] = step), step * shape[d]), 1);
  return stride;
}

/** Whether the elements fill their range one by one. */
export function isDense({ shape, stride }) {
  if (shape.includes(0)) return true;
  const dims = range(shape.length).filter((d) => shape[d] > 1).sort((a, b) => stride[a] - stride[b]);
  let needed = 1;
  return dims.every((d) => {
    const fits = stride[d] === needed;
    needed *= shape[d];
    return fits;
  });
}

const OPERATIONS = {
  "[]": index, permute, transpose, select, unsqueeze, squeeze, expand, diagonal, unfold, view, reshape,
  flatten, contiguous, clone,
  t(x) {
    if (x.shape.length > 2)
      refuse(
        `t() is for at most 2 dims, shape ${tuple(x.shape)} has ${x.shape.length}: ` +
          "use transpose(dim0, dim1)",
      );
    return x.shape.length === 2 ? transpose(x, 0, 1) : x;
  },
  T: (x) => pick(x, range(x.shape.length).reverse()),
  mT: matrix,
  ravel: (x) => {
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
    if (shape.length !== stride.length)
      refuse(
        `shape ${tuple(shape)} has ${shape.length} dims but stride ${tuple(stride)} has ` +
          `${stride.length}: give one stride for each dim`,
      );
    const negative = shape.findIndex((n) => n < 0);
    if (negative >= 0)
      refuse(`size ${shape[negative]} of dim ${negative} is negative: sizes are 0 or more`);
    return { shape, stride, storage_offset };
  },
};

/** The layout of the new tensor that an elementwise operation returns; Python's elementwise.py has the rules. */
export function elementwise(...operands) {
  const shape = broadcastShape(operands.map((x) => x.shape));
  const alike = operands.every((x) => String(x.shape) === String(shape) && x.shape.length === shape.length);
  const stride = (alike && commonStride(operands)) || sortedStride(shape, operands);
  return { shape, stride, storage_offset: 0, itemsize: operands[0].itemsize };
}

/** The stride of the result where one loop from end to end visits all operands alike, or null. */
function commonStride(operands) {
  const [first] = operands;
  if (operands.every((x) => !whyNotContiguous(x))) return contiguousStride(first.shape);
  const inFormat = (x) => contiguous(x, "channels_last") === x;
  if (first.shape.length === 4 && operands.every(inFormat)) return strideIn("channels_last", first.shape);
  return operands.every((x) => String(x.stride) === String(first.stride)) && isDense(first) ? first.stride : null;
}

/** The stride of the result, packed in the order in which the operands are visited. */
function sortedStride(shape, operands) {
  const strides = operands.map((x) => {
    const front = shape.length - x.shape.length;
    return shape.map((size, d) => (d < front || (x.shape[d - front] === 1 && size !== 1) ? 0 : x.stride[d - front]));
  });
  const isByRows = dimOrder(shape, ...strides).every((d, k) => d === shape.length - 1 - k);
  return isByRows ? contiguousStride(shape) : packed(shape, ...strides); // which differ beside a size of 0
}

function broadcastShape(shapes) {
  const ndim = Math.max(...shapes.map((shape) => shape.length));
  const result = new Array(ndim).fill(1);
  shapes.forEach((shape, i) =>
    shape.forEach((size, own) => {
      const d = ndim - shape.length + own;
      if (size !== 1 && size !== result[d] && result[d] !== 1)
        refuse(
          `shapes ${shapes.map(tuple).join(", ")} do not broadcast: dim ${d} of the result would be ${result[d]}, ` +
            `but operand ${i} has ${size} there, and only a size of 1 is repeated`,
        );
      if (size !== 1) result[d] = size;
    }),
  );
  return result;
}

/** Whether two layouts are the same numbers. */
export const sameLayout = (a, b) =>
  String(a.shape) === String(b.shape) && String(a.stride) === String(b.stride) &&
  a.storage_offset === b.storage_offset && a.shape.length === b.shape.length;

