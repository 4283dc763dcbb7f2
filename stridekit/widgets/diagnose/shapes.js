// Messages about shapes: views and reshapes, pieces and dims, broadcasting, indices.

import {
  completeShape,
  counted,
  listed,
  product,
  range,
  sum,
  tuple,
  viewStride,
} from "../page/layout.js";
import { dimsApart, LOOK, NUMPY, namedDims, REFUSED, taughtBy } from "./reading.js";

const COMPUTED = "a size computed from another tensor, or the smaller last batch of an epoch";
const MISSING =
  "a dim that is missing in the middle: (N, 1) became (N,), or a reduction without keepdim=True";

/** Compare a shape with a number of elements that it does not hold. */
function explainNumel(shape, numel) {
  if (shape.includes(-1)) return explainUnknownSize(product(shape.filter((n) => n !== -1)), numel);
  const fitting = [];
  for (const d of range(shape.length)) {
    const rest = product(shape.toSpliced(d, 1));
    if (rest > 0 && numel % rest === 0) fitting.push(tuple(shape.with(d, numel / rest)));
  }
  const held = counted(product(shape), "element");
  return {
    means: `shape ${tuple(shape)} has ${held}, and there are ${numel}`,
    cure: fitting.length
      ? `change one size: ${fitting.join(" or ")}`
      : `no change of one size is enough: ${LOOK}`,
  };
}

/** Explain why no size fits a -1 whose other sizes multiply to `others`. */
function explainUnknownSize(others, numel) {
  if (others)
    return {
      means: `-1 stands for ${numel} / ${Math.abs(others)}, which is no whole number`,
      cure: `the other sizes have to multiply to a divisor of ${numel}: ${LOOK}`,
    };
  if (numel)
    return {
      means: `the other sizes multiply to 0, and there are ${numel} elements: no size fits the -1`,
      cure: `a size of 0 holds nothing: ${LOOK}`,
    };
  return {
    means: "0 times any size is 0, so nothing says what the -1 stands for",
    cure: "write the size in place of the -1",
  };
}

/** Name the last dim of the result in which sizes do not broadcast. */
function explainBroadcast(shapes) {
  const ndim = Math.max(...shapes.map((shape) => shape.length));
  for (const back of range(ndim)) {
    const sizes = shapes.map((shape) => shape.at(-1 - back));
    const unlike = new Set(sizes.filter((n) => n !== undefined && n !== 1));
    if (unlike.size > 1)
      return {
        means:
          `shapes are compared from the last dim on: in dim ${ndim - 1 - back} ` +
          `of the result sizes ${listed([...unlike])} meet, and none is 1`,
      };
  }
  return null;
}

/** The shapes in a text; a remapped shape, as in (2,3)->(2,newaxis), counts as remapped. */
function shapesIn(text) {
  const remapped = text.replace(/\([\d,]*\)->/g, "");
  const shapes = remapped.match(/\((?:[\d,]|newaxis)*\)/g) ?? [];
  return shapes.map((shape) => {
    const sizes = shape.slice(1, -1).split(",").filter(Boolean);
    return sizes.map((size) => (size === "newaxis" ? 1 : Number(size)));
  });
}

export const IN_ATTENTION = /scaled_dot_product_attention|\bsdpa\(/;

/** Name the dims in which two shapes differ. */
export function explainUnlike(a, b) {
  if (!b) return null;
  if (a.length !== b.length)
    return { means: `${tuple(a)} has ${counted(a.length, "dim")}, ${tuple(b)} has ${b.length}` };
  return { means: `${tuple(a)} and ${tuple(b)} differ in ${namedDims(dimsApart(a, b))}` };
}

/** Explain an index of gather and scatter, or of index_select and others, which take a vector. */
function explainIndex({ index, shape, src, dim, n, size }, { text }) {
  if (text.includes("vector"))
    return {
      means: "index_select takes one number for each row that it selects, in a vector",
      cause: "an index with a dim of size 1, or a table of numbers",
      cure: "index.flatten() for a vector; x[index], a copy, takes an index of any shape in dim 0",
    };
  if (size !== undefined)
    return {
      cause: "an index for some of the rows, and a source with other ones",
      cure:
        n < size
          ? `source.narrow(dim, 0, ${n}), a view of as many rows as the index names`
          : `index[:${size}], a view of as many numbers as the source has rows`,
    };
  if (text.startsWith("`indices`"))
    return {
      cure: "np.expand_dims(indices, axis), a view; argmax(..., keepdims=True) keeps the dim",
    };
  if (!index) return null;
  const reasons = [];
  for (const d of range(index.length)) {
    if (d !== dim && index[d] > shape[d])
      reasons.push(`${index[d]} in dim ${d}, the tensor has ${shape[d]}`);
  }
  for (const d of range(src ? index.length : 0)) {
    if (index[d] > src[d]) reasons.push(`${index[d]} in dim ${d}, the source has ${src[d]}`);
  }
  if (!reasons.length) return null;
  const cuts = index.map((count, d) => {
    const most = Math.min(d === dim ? count : shape[d], src ? src[d] : count);
    return most < count ? `:${most}` : ":";
  });
  return {
    means: `the index has ${reasons.join("; ")}`,
    cause: "an index that was made for another tensor, or dims that were exchanged",
    cure: `index[${cuts.join(", ")}], a view, if the rest is not needed`,
  };
}

// The line with which torch calls the backward() of a custom function, as tracebacks show it.
const CALL_OF_BACKWARD = "user_fn(self";
const ARRIVED = {
  cause:
    "the gradient that arrives in backward(): sum() expands it, t() transposes it, " +
    "cat() sends a slice",
  cure: "grad.contiguous() before the view, or grad.reshape(shape): both copy where they have to",
};

export const SHAPES = [
  ...taughtBy("03_contiguity", "The message, decoded", [
    {
      title: "a view of dims that do not merge",
      templates: [
        "view size is not compatible with input tensor's size and stride",
        "Cannot view a tensor with shape {shape,} and " +
          "strides {stride,} as a tensor with shape {wanted,}!",
        "Cannot view a tensor with shape ",
        "Attempting to view a collapsed tensor, but no such view exists",
      ],
      means:
        "a dim of the new shape joins dims that are not evenly spaced in memory, " +
        "so no strides can give it",
      cause: "a transpose, a permute or a slice earlier on, or a channels-last tensor",
      cure:
        "x.reshape(shape), which copies where it has to; " +
        "explain_view(x, shape) tells which dims do not merge",
      decode({ shape, stride, wanted }, { before }) {
        if (before.includes(CALL_OF_BACKWARD)) return ARRIVED;
        if (!shape || shape.length !== stride.length) return null;
        const numel = product(shape);
        const [sizes] = completeShape(numel, wanted);
        const reason = sizes && viewStride(shape, stride, sizes).reason;
        if (!reason) return null;
        return {
          means: `${reason}: no stride gives ${tuple(wanted)}`,
          cure: `x.reshape(${wanted.join(", ")}), which copies all ${counted(numel, "element")}`,
        };
      },
    },
    {
      title: "a tensor without strides",
      section: "The rule of view",
      templates: [
        "Could not run 'aten::view' with arguments from the 'Sparse",
        "Mkldnn tensor does not support view",
        "NestedTensorImpl doesn't support strides",
        "Cannot access storage of {kind*}",
        "Cannot access data pointer of Tensor that doesn't have storage",
        "can't convert {kind*} layout tensor to numpy",
      ],
      means:
        "sparse, nested and oneDNN tensors do not keep their elements at offset + index * stride, " +
        "so they have no views, and no storage of their own",
      cause:
        "x.view, x.stride(), x.numpy(), x.data_ptr(), or an operation or a library that calls " +
        "them, on a tensor of another layout",
      cure: "x.to_dense() first; x.layout tells which layout a tensor has",
    },
    {
      title: "a view of a ragged tensor",
      section: "The rule of view",
      templates: "view(): cannot view shape ({shape~}) as [{wanted~}]",
      means:
        "a nested tensor has rows of different lengths: a name in ({shape}) stands for them, " +
        "so [{wanted}] has to begin with the batch and that dim",
      cause: "a view that joins the ragged dim with another, or leaves it out",
      cure:
        "x.values(), a view of all rows one after the other, which is an ordinary tensor; " +
        "x.to_padded_tensor(0) fills the rows up",
    },
    {
      title: "a shape for another number of elements",
      templates: "shape '{shape,}' is invalid for input of size {numel}",
      means: "the sizes multiply to another number than the {numel} elements that there are",
      cause: COMPUTED,
      cure: LOOK,
      decode: ({ shape, numel }) => explainNumel(shape, numel),
    },
    {
      title: "an array's shape for another number of elements",
      templates: "cannot reshape array of size {numel} into shape {shape,}",
      means: "the sizes multiply to another number than the {numel} elements that there are",
      harm: NUMPY,
      cause: COMPUTED,
      cure: LOOK,
      decode({ shape, numel }, { raw }) {
        // NumPy leaves out a -1 in front: (5) was (-1, 5), and (4, 2) may have been (-1, 4, 2).
        const withUnknown = [-1, ...shape];
        if (shape.length === 1 && !raw.shape.includes(",")) return explainNumel(withUnknown, numel);
        const explanation = explainNumel(shape, numel);
        const others = product(shape);
        const fits = others && numel % others === 0;
        if (shape.includes(-1) || shape.length <= 1 || fits) return explanation;
        const why = others ? `${numel} / ${others} is no whole number` : "0 times any size is 0";
        return {
          ...explanation,
          means:
            `${explanation.means}; or it was ${tuple(withUnknown)}, ` +
            `of which NumPy leaves out the -1: ${why}`,
        };
      },
    },
    {
      title: "more than one -1",
      templates: [
        "only one dimension can be inferred",
        "can only specify one unknown dimension",
        "received more than one -1 in",
      ],
      means:
        "a -1 is the number of elements divided by the other sizes, " +
        "so two of them have no single answer",
      harm: REFUSED,
      cause: "view(-1, n, -1), or a size that was computed as -1",
      cure: "write out all sizes but one",
    },
    {
      title: "a negative size",
      templates: [
        "invalid shape dimension {size} at index {d} of shape {shape,}",
        "invalid shape dimension {size}",
        "Trying to create tensor with negative dimension {size}: {shape,}",
        "negative dimensions are not allowed",
        "narrow(): length must be non-negative",
        "split_with_sizes expects split_sizes have only non-negative entries, " +
          "but got split_sizes={sizes,}",
        "split expects split_size be non-negative, but got split_size={n}",
      ],
      means:
        "a size is 0 or more; " +
        "only view and reshape take a single -1, which stands for what is left",
      harm: REFUSED,
      cause: "a size computed by a subtraction, or -1 where it has no meaning",
      cure: LOOK,
      decode({ size, d, shape, sizes, n }, { text }) {
        const piece = (sizes ?? []).findIndex((length) => length < 0);
        if (piece >= 0)
          return {
            means: `piece ${piece} of [${sizes.join(", ")}] has ${sizes[piece]}: sizes are 0 or more`,
            cure: "write the rest of the dim in the place of -1: x.shape[dim] - the other sizes",
          };
        if (n !== undefined)
          return {
            means: `each piece would have ${n}: sizes are 0 or more`,
            cure: "x.split(x.shape[dim], dim), a view of the whole dim",
          };
        if (text.startsWith("narrow"))
          return { cure: "x.narrow(dim, start, x.shape[dim] - start) for all that follows start" };
        if (!shape) return null;
        const dim = d ?? shape.indexOf(size);
        return `the size of dim ${dim} in ${tuple(shape)} is ${size}: sizes are 0 or more`;
      },
    },
    {
      title: "a -1 that any size fits",
      templates:
        "cannot reshape tensor of 0 elements into shape " +
        "{shape,} because the unspecified dimension size -1",
      means: "0 times any size is 0, so nothing says what the -1 stands for",
      cause: "an empty batch, or an empty selection",
      cure: "write the size in place of the -1, or leave empty batches out",
      decode: ({ shape }) =>
        `0 times any size is 0, so nothing says what dim ${shape.indexOf(-1)} would be`,
    },
    {
      title: "sizes that do not multiply to the dim",
      section: "Back to the heads",
      templates: "Provided sizes {sizes,} don't multiply up to the size of dim {dim} ({size})",
      means:
        "unflatten cuts dim {dim}, of size {size}, into {sizes}: their product has to be {size}",
      cause: "a number of heads or groups that does not divide the size",
      cure: "one of the sizes may be -1, which torch computes",
      decode({ sizes, dim, size }) {
        const others = product(sizes.filter((n) => n !== -1));
        let why = `they multiply to ${others}`;
        if (sizes.includes(-1))
          why = others ? `${size} / ${others} is no whole number` : "0 times any size is 0";
        return `unflatten cuts dim ${dim}, of size ${size}, into [${sizes.join(", ")}]: ${why}`;
      },
    },
    {
      title: "a new shape in place that would need a copy",
      section: "Six calls, told apart by bytes",
      templates: [
        "ncompatible shape for a non-contiguous array",
        "ncompatible shape for in-place modification",
        "Unable to avoid creating a copy while reshaping",
      ],
      means:
        "a.shape = ... and reshape(..., copy=False) change shape and strides and move nothing; " +
        "no strides give that shape here",
      harm: NUMPY,
      cause: "a transposed or sliced array",
      cure: "a.reshape(shape), which copies where it has to",
    },
    {
      title: "pieces that do not add up to the dim",
      lesson: "02_views",
      section: "For reference",
      templates: [
        "split_with_sizes expects split_sizes to sum exactly to {size} " +
          "(input tensor's size at dimension {dim}), but got split_sizes={sizes,}",
        "attempted to split along dimension {dim}, " +
          "but the size of the dimension {size} is not divisible by the split_size {n}",
        "array split does not result in an equal division",
      ],
      means: "pieces of equal size have to divide the dim, and given sizes have to add up to it",
      harm: REFUSED,
      cause: "a packing with another number of heads or channels, or an odd size",
      cure: "tensor_split(n) and np.array_split take any number of pieces",
      decode({ size, dim, sizes, n }) {
        if (sizes) return `the sizes add up to ${sum(sizes)}, dim ${dim} has ${size}`;
        return n ? `dim ${dim} has size ${size}, and ${size} / ${n} leaves ${size % n}` : null;
      },
    },
  ]),
  ...taughtBy("01_strides", "Sizes of 1 and 0, and no dims at all", [
    {
      title: "a window that is longer than the dim",
      lesson: "01_strides",
      section: "Built from your own code: a convolution",
      templates: [
        "maximum size for tensor at dimension {dim} is {size} but size is {n}",
        "window shape cannot be larger than input array shape",
        "start ({start}) + length ({n}) exceeds dimension size ({size})",
      ],
      means: "a window has to end inside of the dim, and the dim is shorter",
      harm: REFUSED,
      cause: "unfold, narrow or sliding_window_view of a short sequence, often the last of a file",
      cure: "pad the sequence first (F.pad), or leave short ones out",
      decode({ dim, size, n, start = 0 }) {
        if (size === undefined)
          return { cure: "pad the sequence first (np.pad), or leave short ones out" };
        const where = dim === undefined ? "the dim" : `dim ${dim}`;
        return `elements ${start} to ${start + n - 1} are asked for, ${where} has ${size}`;
      },
    },
    {
      title: "a dim that is not there",
      lesson: "02_views",
      section: "Permuting: which dim goes where",
      templates: [
        "Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})",
        "axis {dim} is out of bounds for array of dimension {ndim}",
        "Dimension specified as {dim} but tensor has no dimensions",
      ],
      means: "dims are counted from 0, or from -1 at the end",
      harm: REFUSED,
      cause:
        "a missing batch or channel dim, or an earlier squeeze() that dropped every dim of size 1",
      cure: `${LOOK}; x.squeeze(dim) drops a named dim alone; negative dims count from the end`,
      decode({ low, high = -1, dim, ndim = high + 1 }) {
        if (!ndim) return `a tensor of 0 dims has one element, and no dim ${dim}`;
        const numbers = `${low ?? -ndim} to ${ndim - 1}`;
        return `the dims are numbered ${numbers}, a new one included: there is no dim ${dim}`;
      },
    },
    {
      title: "a dim that is named twice",
      lesson: "02_views",
      section: "Permuting: which dim goes where",
      templates: [
        "dim {dim} appears multiple times in the list of dims",
        "repeated axis in transpose",
        "repeated dim in `source`",
        "repeated axis in `source` argument",
        "diagonal dimensions cannot be identical {dim}, {other}",
        "duplicate dims are not allowed",
      ],
      means: "a dim can go to one place only",
      harm: REFUSED,
      cause: "a permutation typed by hand, or a negative and a positive number for one dim",
      cure: "name each dim once; with 3 dims, -1 and 2 are the same one",
    },
    {
      title: "a permutation of other dims",
      lesson: "02_views",
      section: "Permuting: which dim goes where",
      templates: [
        "Invalid attribute perm {perm,}, input shape = {shape,}",
        "Inconsistent permutation {perm,} with shape {shape,}",
        "axes don't match array",
        "ordering of dimensions i.e. input.dim() = {dims} is not equal to len(dims) = {named}",
        "number of dims don't match in permute",
      ],
      means: "a permutation names each dim once, and the tensor has another number of them",
      harm: REFUSED,
      cause: "a missing batch or channel dim",
      cure:
        "name all dims, from 0 on; " +
        "for the last two alone torch has x.mT, NumPy a.swapaxes(-1, -2)",
      decode({ perm, shape, dims, named }) {
        const ndim = shape ? shape.length : dims;
        const count = perm ? perm.length : named;
        if (ndim === undefined) return null;
        const last = ndim - 1;
        if (count === ndim)
          return `a permutation names each of the dims 0 to ${last} once, and none from the end`;
        const existing = `there ${ndim === 1 ? "is" : "are"} ${counted(ndim, "dim")}`;
        return `a permutation names each dim once: ${existing}, and it names ${count}`;
      },
    },
    {
      title: ".T of other than two dims",
      lesson: "02_views",
      section: "Permuting: which dim goes where",
      templates: "The use of `x.T` on tensors of dimension other than 2",
      means:
        ".T reverses all dims: " +
        "of a batch (B, M, N) it makes (N, M, B), not a batch of transposed matrices",
      harm:
        "yes, if you meant a batch of matrices: the result has another shape or meaning; " +
        "later versions of torch refuse",
      cause: "x.T in code that once took a single matrix",
      cure:
        "x.mT exchanges the last two dims; " +
        "x.permute(*range(x.ndim)[::-1]) reverses all: both are views",
    },
    {
      title: "a transpose of other than a matrix",
      lesson: "02_views",
      section: "Permuting: which dim goes where",
      templates: [
        "t() expects a tensor with <= 2 dimensions, but self is {n}D",
        "tensor.{op*} is only supported on matrices{~}Got {n}-D",
        "tensor.adjoint() is only supported on matrices{~}Got {n}-D",
        "matrix transpose with ndim < 2 is undefined",
        "Input array must be at least 2-dimensional, but it is {n}",
      ],
      means:
        "t() and .H are for matrices; .mT, .mH and adjoint() are for matrices and batches of them",
      harm: REFUSED,
      cause: "a batch dim too many, or a vector where a matrix is meant",
      cure:
        "x.mT for a batch of matrices; " +
        "x[:, None] or x.unsqueeze(0) turns a vector into a matrix: all are views",
      decode({ n = 1, op }) {
        const means = `the tensor has ${counted(n, "dim")}: `;
        if (n < 2)
          return {
            means: `${means}there are no two dims to exchange`,
            cause: "a vector where a matrix is meant",
            cure: "x[None], a view with one row, or x[:, None], one with one column",
          };
        return {
          means: `${means}there are several pairs of dims to exchange, and x.mT takes the last`,
          cause: "a batch dim too many, or t() in code for a single matrix",
          cure: `x.${op === "H" ? "mH" : "mT"}, a view: it exchanges the last two dims`,
        };
      },
    },
    {
      title: "a size that does not expand",
      templates: [
        "The expanded size of the tensor ({wanted}) must match the " +
          "existing size ({size}) at non-singleton dimension {dim}",
        "The expanded size of the tensor (-1) isn't allowed in a leading, " +
          "non-existing dimension {dim}",
        "expand: attempting to expand a dimension of length {size} -> {wanted}",
        "expand: attempting to expand a dimension of length {size}!",
      ],
      means: [
        "in dim {dim} of the result a size of {size} would become {wanted}: " +
          "only a size of 1 can, by a stride of 0",
        "a size of {size} would become {wanted}: only a size of 1 can, by a stride of 0",
        "a size of {size} would become another: only a size of 1 can, by a stride of 0",
        "-1 keeps a size, and dim {dim} of the result is a new one, which has none to keep",
      ],
      cause:
        "dims counted from the left; " +
        "expand counts from the last one, as broadcasting does; or x[i] = y, which expands y",
      cure:
        "x.unsqueeze(dim) where a size of 1 is missing, or x.repeat(...) for a multiple, " +
        "which copies; in x[i] = y a y of the shape of x[i]",
    },
    {
      title: "a size for too few dims",
      templates: [
        "the number of sizes provided ({sizes}) must be greater or " +
          "equal to the number of dimensions in the tensor ({dims})",
        "Number of dimensions of repeat dims can not " +
          "be smaller than number of dimensions of tensor",
        "input operand has more dimensions than allowed by the axis remapping",
      ],
      means: [
        "expand may add dims in front and keeps the {dims} that are there: it got {sizes}",
        "expand, repeat and broadcast_to may add dims in front, and keep those that are there",
      ],
      harm: REFUSED,
      cause: "a dim that was meant to disappear: expand drops none; or x[i] = y, which expands y",
      cure:
        "write them all: -1 keeps a size, as in x.expand(5, -1, -1); " +
        "in x[i] = y a y of the shape of x[i]",
      decode(_, { text }) {
        if (text.includes("repeat")) return { cure: "x.repeat(2, 1): a number for each dim" };
        if (!text.startsWith("input operand")) return null;
        return { cure: "np.broadcast_to(a, (5, *a.shape)), a view, keeps the dims of a" };
      },
    },
    {
      title: "shapes that do not broadcast",
      templates: [
        "The size of tensor a ({a}) must match the size " +
          "of tensor b ({b}) at non-singleton dimension {dim}",
        "Attempting to broadcast a dimension of length {b} at {back}! Mismatching argument " +
          "at index {n} had {shape,}; but expected shape should be broadcastable to {wanted,}",
      ],
      means:
        "shapes are compared from the last dim on: " +
        "in dim {dim} of the result a has {a} and b has {b}, and neither is 1",
      cause: MISSING,
      cure: "x.unsqueeze(dim) or x[:, None], a view, where the size of 1 belongs",
      decode({ a, b, dim, wanted, shape }, { before }) {
        if (wanted) return explainBroadcast([wanted, shape]);
        const many = Math.max(a, b);
        const few = Math.min(a, b);
        if (dim !== 1 || few < 1 || many % few) return null;
        if (!IN_ATTENTION.test(before))
          return {
            cause:
              `${MISSING}; or attention with ${many} and ${few} heads, ` +
              "which needs enable_gqa=True",
          };
        if (a < b) return null; // heads of the query, and fewer than those of key and value
        return {
          means:
            `in dim 1 of the result a has ${a} and b has ${b}: ` +
            `${a} heads of the query meet ${b} of key and value`,
          cause: "grouped heads: several heads of the query share one of key and value",
          cure: "scaled_dot_product_attention(..., enable_gqa=True)",
        };
      },
    },
    {
      title: "arrays that do not broadcast",
      templates: [
        "operands could not be broadcast together with remapped shapes [original->remapped]: " +
          "{shapes~} and requested shape {into,}",
        "operands could not be broadcast together with remapped shapes [original->remapped]: " +
          "{shapes:}",
        "operands could not be broadcast together with shapes {shapes:}",
        "operands could not be broadcast together with shape {shapes:}",
        "could not broadcast {what~} from shape {a,} into shape {b,}",
        "objects cannot be broadcast to a single shape. " +
          "Mismatch is between arg {m} with shape {a,} and arg {n} with shape {b,}",
      ],
      means:
        "a[...] = b broadcasts b alone: " +
        "it needs no more dims than a[...], nor a size where that has 1",
      harm: NUMPY,
      cause: MISSING.replace("keepdim", "keepdims"),
      cure: "a[:, None], a view, where the size of 1 belongs",
      decode({ shapes, into, a, b }) {
        if (!shapes) return explainBroadcast([a, b]);
        return explainBroadcast(into ? [...shapesIn(shapes), into] : shapesIn(shapes));
      },
    },
    {
      title: "a result that does not fit in place",
      templates: [
        "output with shape {shape,} doesn't match the broadcast shape {wanted,}",
        "output operand with shape {shape,} doesn't match the broadcast shape {wanted,}",
      ],
      means:
        "the result has shape {wanted}, its place {shape}, " +
        "and an operation in place changes no shape",
      harm: REFUSED,
      cause: "x += y with a y that has more dims, or a size where x has 1",
      cure: "x = x + y, which makes a new tensor",
    },
    {
      title: "an index of another shape",
      lesson: "02_views",
      section: "Two rows, taken in two ways",
      templates: [
        "The shape of the mask {mask,} at index {dim} does not " +
          "match the shape of the indexed tensor {shape,} at index {axis}",
        "boolean index did not match indexed array along axis {dim}; " +
          "size of axis is {size} but size of corresponding boolean axis is {n}",
        "shape mismatch: indexing {kind*} could not be broadcast together with shapes {shapes:}",
        "shape mismatch: value {kind*} of shape {value,} {cannot~} " +
          "be broadcast to indexing result of shape {result,}",
        "cannot assign {given} input values to the {asked} output values where the mask is true",
        "mask and data must be the same size",
        "Number of elements of source < number of ones in mask",
        "too many indices for tensor of dimension {ndim}",
        "too many indices for array: array is {ndim}-dimensional, but {used} were indexed",
      ],
      means: [
        "dim {dim} of the mask has {n}, that of the array has {size}",
        "what is written has shape {value}, what is selected {result}",
        "the mask selects {asked}, and {given value} would be written",
        "the tensor has {ndim dim}, and more indices: {used}",
        "the tensor has {ndim dim}, and more indices",
        "a mask has the shape of the dims that it selects from, " +
          "and what is written has the shape of what is selected",
      ],
      harm: REFUSED,
      cause:
        "a mask or an index made for another tensor, or after a transpose; " +
        "a dim that squeeze() dropped",
      cure:
        "print the shapes of both; x[mask] with a mask of x.shape[:mask.ndim]; " +
        "torch.where(mask, y, x) broadcasts",
      decode({ mask, shape, dim, axis, shapes }, { text }) {
        const cure =
          "print the shapes of both; a[mask] with a mask of a.shape[:mask.ndim]; " +
          "np.where(mask, y, a) broadcasts";
        const ofLibrary = /array|boolean|mask is true|mask and data/.test(text) ? { cure } : {};
        if (shapes) {
          // As torch prints them, [2, 3], [4]; NumPy prints (2,3) (4,).
          const lists = shapes.replaceAll("[", "(").replaceAll("]", ")").replaceAll(", ", ",");
          return { ...explainBroadcast(shapesIn(lists)), ...ofLibrary };
        }
        if (ofLibrary.cure) return ofLibrary;
        if (!mask || !(dim in mask) || !(axis in shape)) return null;
        return (
          `dim ${dim} of the mask has ${mask[dim]}, ` +
          `dim ${axis} of the tensor has ${shape[axis]}`
        );
      },
    },
    {
      title: "an index tensor of another shape",
      lesson: "02_views",
      section: "Two rows, taken in two ways",
      templates: [
        "Index tensor must have the same number of dimensions as {what*} tensor",
        "`indices` and `arr` must have the same number of dimensions",
        "xpected index {index,} to be no larger than self {shape,} apart " +
          "from dimension {dim} and to be no larger size than src {src,}",
        "xpected index {index,} to be no larger than self {shape,} apart from dimension {dim}",
        "input and indices should have the same number of dimensions, " +
          "but got {a} dimensions for input, and {b} dimensions for indices",
        "Number of indices ({n}) should be equal to source.size(dim){~}({size})",
        "Index is supposed to be a vector",
      ],
      means: [
        "the tensor has {a dim}, the index {b}",
        "the index has {n element}, and the source has {size} in that dim",
        "gather and scatter look along one dim: " +
          "in all others the index is no larger than the tensor, and has as many dims",
      ],
      harm: REFUSED,
      cause: "an index without the dim that a reduction such as argmax dropped",
      cure:
        "index.unsqueeze(dim), a view; argmax(..., keepdim=True) keeps the dim; " +
        "torch.take_along_dim broadcasts",
      decode: explainIndex,
    },
    {
      title: "tensors of other sizes, joined",
      lesson: "02_views",
      section: "What is always a copy",
      templates: [
        "Sizes of tensors must match except in dimension {dim}. " +
          "Expected size {a} but got size {b} for tensor number {n} in the list",
        "Sizes of tensors must match except in dimension {dim}. " +
          "Expected {a} in dimension {d} but got {b} for tensor number {n} in the list",
        "along dimension {d}, " +
          "the array at index {m} has size {a} and the array at index {n} has size {b}",
        "Tensors must have same number of dimensions: got {p} and {q}",
        "Number of dimensions of tensors must match. " +
          "Expected {p}-D tensors, but got {q}-D for tensor number {n}",
        "the array at index {m} has {p} dimension(s) " +
          "and the array at index {n} has {q} dimension(s)",
        "zero-dimensional arrays cannot be concatenated",
        "zero-dimensional tensor (at position {n}) cannot be concatenated",
      ],
      means: [
        "one has {p dim}, another {q}: a dim is missing",
        "all sizes but that of dim {dim} have to agree: " +
          "dim {d} has {a} in the first tensor, and {b} in number {n} (the first is number 0)",
        "all sizes but that of the joined dim have to agree: " +
          "dim {d} has {a} in the first tensor, and {b} in number {n} (the first is number 0)",
        "all sizes but that of dim {dim} have to agree: " +
          "tensor number {n} (the first is number 0) has {b} where the first has {a}",
        "cat and concatenate put tensors one after the other in one dim, " +
          "so all other dims have to agree",
      ],
      harm: REFUSED,
      cause: "images or sequences of different sizes, a missing dim, or another dim than was meant",
      cure:
        "give the dim, as in torch.cat(tensors, dim=1); " +
        "pad the smaller ones; torch.stack makes a new dim",
      decode({ p }, { text }) {
        const isArray = text.includes("array");
        const stack = isArray ? "np.stack" : "torch.stack";
        if (text.startsWith("zero"))
          return {
            means: `a single element has no dim to be joined in: ${stack} makes one`,
            cause: "results of sum, mean or item, each of which is one element",
            cure: isArray ? "np.stack(arrays)" : "torch.stack(tensors)",
          };
        if (p !== undefined && isArray)
          return { cure: "np.expand_dims(a, axis), a view, adds a dim of size 1" };
        if (p !== undefined) return { cure: "x.unsqueeze(dim), a view, adds a dim of size 1" };
        if (!isArray) return null;
        return {
          cure:
            "give the axis, as in np.concatenate(arrays, axis=1); " +
            "pad the smaller ones; np.stack makes a new dim",
        };
      },
    },
    {
      title: "tensors of other sizes, stacked",
      lesson: "02_views",
      section: "What is always a copy",
      templates: [
        "stack expects each tensor to be equal size, " +
          "but got {a,} at entry {m} and {b,} at entry {n}",
        "stack expects each tensor to be equal size, but got {a,} at entry {m}",
        "stack expects each tensor to be equal size",
        "all input arrays must have the same shape",
        "each element in list of batch should be of equal size",
      ],
      means: "stack makes a new dim, along which all tensors have one shape",
      harm: REFUSED,
      cause:
        "items of different sizes: images that were not resized, sequences of different lengths",
      cure:
        "give all items one size, or pad them: " +
        "DataLoader(..., collate_fn=...) with torch.nn.utils.rnn.pad_sequence",
      decode({ a, b }, { text }) {
        if (text.includes("arrays"))
          return {
            cure: "give all arrays one shape: np.pad(a, widths) for the smaller ones, a copy",
          };
        return a ? explainUnlike(a, b) : null;
      },
    },
    {
      title: "rows of different lengths",
      section: "Memory is one line",
      templates: [
        "The requested array has an inhomogeneous shape after {n} dimensions. " +
          "The detected shape was {shape,}",
        "expected sequence of length {a} at dim {d} (got {b})",
      ],
      means: [
        "in dim {d} one row has {a} elements, another {b}",
        "the lists agree in {n dim}, and differ in dim {n}",
        "an array is a box: along each dim all rows have one length",
      ],
      harm: REFUSED,
      cause: "a list of lists or arrays of different lengths",
      cure:
        "pad the rows; " +
        "torch.nested or dtype=object keep them apart, without strides between them",
    },
  ]),
];
