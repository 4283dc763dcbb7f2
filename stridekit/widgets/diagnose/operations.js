// Messages of operations that want a shape: convolutions, norms, losses, products, attention.

import {
  contiguousStride,
  counted,
  listed,
  product,
  range,
  same,
  sum,
  tuple,
  whyNotCounted,
} from "../page/layout.js";
import { dimsApart, LOOK, NUMPY, namedDims, REFUSED, TORCH, taughtBy } from "./reading.js";
import { explainUnlike, IN_ATTENTION } from "./shapes.js";

const OTHER_WAY =
  "features in a dim other than the last, a flatten too early or too late, " +
  "or a weight that lies the other way round";

// A line of torch's traceback: Module.to converts each weight.
const OF_A_MODULE = /module\.py", line \d{1,6}, in (?:convert|_apply)\b/;

/** Explain why an (a, b) matrix and a (c, d) matrix do not multiply. */
function explainProduct(a, b, c, d) {
  const means =
    `the rows of mat1 have ${b} elements, ` + `the columns of mat2 have ${c}: they have to agree`;
  if (b === d)
    return {
      means,
      cure: `mat2 lies the other way round: x @ w.t() is (${a}x${b}) @ (${d}x${c}), a view`,
    };
  if (a === c)
    return {
      means,
      cure: `mat1 lies the other way round: x.t() @ w is (${b}x${a}) @ (${c}x${d}), a view`,
    };
  return { means };
}

/** Explain where a gradient lies otherwise than the tensor that it belongs to, and if it matters. */
function explainGradient({ shape, ours, theirs }, owner, eachStep) {
  if (!shape || shape.some((n) => n < 0)) return null;
  const isStride = (stride) => stride.length === shape.length && stride.every((n) => n >= 0);
  if (!isStride(ours) || !isStride(theirs)) return null;
  if (whyNotCounted({ shape, stride: ours, storage_offset: 0, itemsize: 1 })) return null;
  const dims = dimsApart(ours, theirs);
  const where = dims.length ? namedDims(dims) : "no dim";
  if (shape.includes(0))
    return {
      means: `a gradient of shape ${tuple(shape)} has no elements`,
      harm: "no: there is nothing to copy",
      cure: "nothing has to be done",
    };
  if (dims.every((d) => shape[d] === 1))
    return {
      means:
        `the strides ${tuple(ours)} and ${tuple(theirs)} differ only ` +
        `where no index takes a step (${where} of sizes ${tuple(shape)}): ` +
        "every element has the same address in both",
      harm: "no: same addresses, harmless",
      cure: "nothing has to be done",
    };
  const all = counted(product(shape), "element");
  return {
    means:
      `the gradient has strides ${tuple(ours)}, ${owner} ${tuple(theirs)}: ` +
      `they differ in ${where}, so elements lie elsewhere`,
    harm: `in time: ${eachStep} ${all} in another order`,
  };
}

export const OPERATIONS = [
  ...taughtBy("04_channels_last", "Four dims on one line", [
    {
      title: "an input with other channels",
      templates: [
        "Given {kind*}={groups}, weight of size {weight,}, " +
          "expected input{input,} to have {wanted} channels, but got {got} channels instead",
        "Invalid channel dimensions",
      ],
      means: "dim 1 of the input is the channels, and has to fit the weight",
      cause: "another layer in front, or an image in grey or with an alpha channel",
      cure: LOOK,
      decode({ input, wanted, got }) {
        if (!input) return null;
        const last = input.length - 1;
        if (input.length > 2 && input[last] === wanted) {
          const order = [0, last, ...range(last).slice(1)];
          // torch prints a batch of one where there is none. movedim counts from the end.
          const moved = input[0] === 1 ? `movedim(-1, ${-last})` : `permute(${order.join(", ")})`;
          return {
            means:
              `dim 1 of ${tuple(input)} has ${got}, and the last dim has the ${wanted} channels: ` +
              "this is (N, …, C), torch's convolutions take (N, C, …)",
            cause: "an image as NumPy, PIL, OpenCV or TensorFlow keep it, with its channels last",
            cure: `x.${moved}, a view that is channels-last in memory, which convolutions like`,
          };
        }
        if (input[0] === 1 && wanted === 1)
          return {
            means: `${tuple(input)} is one image of ${got} channels, the weight is made for one`,
            cause: "images without colours, whose batch was taken for channels",
            cure: `x.reshape(-1, 1, ${input.slice(2).join(", ")}), a batch of ${got}`,
          };
        if (input[0] === wanted)
          return {
            means:
              `dim 1 of ${tuple(input)} has ${got}, and dim 0 has the ${wanted} channels: ` +
              "batch and channels are exchanged",
            cure: "x.transpose(0, 1), a view",
          };
        return (
          `dim 1 of ${tuple(input)} is the channels: ` +
          `it has ${got}, and the weight is made for ${wanted}`
        );
      },
    },
    {
      title: "a norm for other channels",
      templates: [
        "running_{stat*} should contain {got} elements not {wanted}",
        "weight should contain {got} elements not {wanted}",
        "Expected weight to be a vector of size equal to the number of channels in input, " +
          "but got weight of shape {weight,} and input of shape {input,}",
      ],
      means: "dim 1 of the input is the channels, and has to fit the norm",
      cause: "an input with its channels last (N, H, W, C), or a norm made for another layer",
      cure:
        "x.movedim(-1, 1), a view, for channels in the last dim; " +
        "nn.LayerNorm(C) normalises the last dim",
      decode: ({ got, wanted, weight, input }) =>
        `dim 1 of the input has ${got ?? input[1]} channels, ` +
        `the norm is made for ${wanted ?? weight[0]}`,
    },
    {
      title: "an input with another number of dims",
      templates: [
        "Expected {n}D (unbatched) or {m}D (batched) input to {op*}, " +
          "but got input of size: {input,}",
        "expected {n}D input (got {got}D input)",
        "expected {n}D or {m}D input (got {got}D input)",
        "Got {got}D input, but {mode*} mode needs {n}D input",
        "non-empty 3D or 4D (batch mode) tensor expected for input",
        "Expected input to be {n}D or {m}D, got {got}D instead",
        "Padding size {size} is not supported for {got}D input tensor",
        "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported",
      ],
      means: "the operation counts its dims from the batch and the channels on",
      cause: "an image without its batch or channel dim, or with a dim too many",
      cure: "x.unsqueeze(0) adds a dim in front, x.squeeze(dim) drops one of size 1: both are views",
      decode({ input, n, m = n, got = input?.length }) {
        if (got === undefined) return null;
        const subject = input ? tuple(input) : "the input";
        const wanted = [...new Set([n, m])].filter(Boolean).join(" or ") || "another number";
        const means = `${subject} has ${counted(got, "dim")}; the operation takes ${wanted}`;
        if (got > m)
          return {
            means,
            cause: "a dim of size 1, or H and W where rows are meant",
            cure:
              "x.squeeze(dim), a view without a dim of size 1; " +
              `x.flatten(${m - 1}) joins the last dims, as (N, C, H, W) needs it`,
          };
        if (got === n - 1) return { means, cure: "x.unsqueeze(0), a view with a dim in front" };
        return means;
      },
    },
    {
      title: "a kernel that is larger than its input",
      lesson: "01_strides",
      section: "Built from your own code: a convolution",
      templates:
        "Calculated padded input size per channel: ({input~}). " +
        "Kernel size: ({kernel~}). Kernel size can't be greater than actual input size",
      means: "with its padding the input has {input}, and the kernel {kernel}",
      cause: "a small image in a deep network, or H and W in the place of C: (N, H, W, C)",
      cure:
        "a larger image, fewer layers with a stride, " +
        "or x.movedim(-1, -3), a view, for an image with its channels last",
      decode({ kernel }) {
        const dims = kernel.split("x").length;
        const cure =
          "a larger input, fewer layers with a stride, " +
          `or x.movedim(-1, ${-1 - dims}), a view, for an input with its channels last`;
        return dims === 2 ? null : { cure };
      },
    },
    {
      title: "channels-last for another number of dims",
      section: "Four dims or five",
      templates: [
        "required rank {rank} tensor to use {format*} format",
        "Only tensors of rank {rank} can use the {format*} memory format",
      ],
      means: "{format} is an order of {rank} dims, and the tensor has another number",
      cause: "an image without its batch dim, or a format for another kind of image",
      cure: "x.unsqueeze(0), a batch of one, if x lacks that alone",
      decode({ format, rank }, { before }) {
        const dims = { 3: "(N, C, L)", 4: "(N, C, H, W)", 5: "(N, C, D, H, W)" }[rank];
        if (!dims) return null;
        const means = `${format} is an order of ${dims}, and the tensor has another number of dims`;
        const isVolume = rank === 5;
        const other = isVolume ? "channels_last" : "channels_last_3d";
        const kind = isVolume ? "2" : "3";
        if (OF_A_MODULE.test(before))
          return {
            means,
            cause: `a model of convolutions over ${kind} dims`,
            cure: `model.to(memory_format=torch.${other}), the format of these convolutions`,
          };
        return {
          means,
          cure:
            `x.unsqueeze(0), a batch of one, if x has ${rank - 1} dims without its batch; ` +
            `torch.${other} for images of ${kind} dims`,
        };
      },
    },
  ]),
  ...taughtBy("06_attention", "Which operand does @ clone?", [
    {
      title: "a norm over another last dim",
      lesson: "07_your_model",
      section: "One module, by hand and by audit",
      templates:
        "Given normalized_shape={shape,}, " +
        "expected input with shape {~}, but got input of size{input,}",
      means: [
        "the last dims of {input} have to be {shape}",
        "the norm takes the last dims, which have to be {shape}",
      ],
      cause: "features in a dim other than the last: (N, C, H, W) or (batch, features, time)",
      cure:
        "x.movedim(1, -1), a view, brings the features to the end; " +
        "the result moves back by movedim(-1, 1)",
    },
    {
      title: "groups that do not divide the channels",
      lesson: "04_channels_last",
      section: "A network that became slower",
      templates: [
        "num_channels ({size}) must be divisible by num_groups ({n})",
        "num_channels must be divisible by num_groups",
        "embed_dim must be divisible by num_heads",
        "Number of channels must be divisible by groups. Got {size} channels and {n} groups",
        "Expected number of channels in input to be divisible by num_groups, " +
          "but got input of shape {input,} and num_groups={n}",
        "Number of heads in key and value must divide the number of heads in",
        "divisible by the square of upscale_factor, " +
          "but input.size(-3)={size} is not divisible by {n}",
      ],
      means: "groups and heads are cuts of a dim into equal rows",
      cause: "a size that was changed without the other",
      cure: "a number of groups or heads that divides the size",
      decode({ n, input, size = input?.[1] }) {
        if (size === undefined || !n) return null;
        return `${size} / ${n} is no whole number: ${size % n} would be left over`;
      },
    },
    {
      title: "features of another size",
      section: "Weights are views, too",
      templates: [
        "input.size(-1) must be equal to input_size. Expected {wanted}, got {got}",
        "was expecting embedding dimension of {wanted}, but got {got}",
        "input has inconsistent input_size: got {got} expected {wanted}",
        "Expected hidden[{n}] size {want,}, got {hidden,}",
        "Expected hidden size {want,}, got {hidden,}",
      ],
      means: [
        "the last dim has {got} features, the layer is made for {wanted}",
        "the last dim of the input is the features",
      ],
      cause:
        "features in another dim than the last, or batch and time exchanged: " +
        "batch_first=True takes (batch, time, features)",
      cure:
        "x.transpose(0, 1), a view, exchanges batch and time; " +
        "x.transpose(1, 2) features and time",
      decode({ want, hidden }) {
        if (!want) return null;
        return {
          ...explainUnlike(hidden, want),
          cause: "a state of another batch, or of a network with other sizes",
          cure: `torch.zeros(${want.join(", ")}), a state without a past, or none, which is the same`,
        };
      },
    },
    {
      title: "a loss of two shapes",
      lesson: "01_strides",
      section: "Sizes of 1 and 0, and no dims at all",
      templates: [
        "Using a target size ({target,}) that is different to the input size ({input,}). " +
          "This will likely lead to incorrect results",
        "Using a target size ({target,}) that is different to the input size ({input,})",
        "Target size ({target,}) must be the same as input size ({input,})",
      ],
      means: "the loss compares element by element, and first broadcasts one to the other",
      cause: "a prediction of shape (N, 1) and a target of shape (N,)",
      cure: "prediction.squeeze(-1) or target[:, None]: both are views",
      decode({ target, input }, { text }) {
        const ndim = Math.max(target.length, input.length);
        const [a, b] = [target, input].map((shape) => [
          ...new Array(ndim - shape.length).fill(1),
          ...shape,
        ]);
        if (a.some((n, d) => n !== b[d] && n !== 1 && b[d] !== 1))
          return { ...explainUnlike(target, input), harm: TORCH, cure: LOOK };
        const result = a.map((n, d) => (n === 1 ? b[d] : n));
        const isOneToOne = product(target) === product(input);
        return {
          cure: isOneToOne
            ? `target.reshape(${input.join(", ")}), a view where target is contiguous`
            : LOOK,
          means: `${tuple(target)} and ${tuple(input)} broadcast to ${tuple(result)}`,
          harm: text.includes("incorrect")
            ? "yes: the loss compares elements that do not belong together, and is a wrong number"
            : TORCH,
        };
      },
    },
    {
      title: "a target for other classes",
      lesson: "01_strides",
      section: "Sizes of 1 and 0, and no dims at all",
      templates: [
        "size mismatch (got input: {input,} , target: {target,}",
        "Expected input batch_size ({a}) to match target batch_size ({b})",
        "Expected target size {wanted,}, got {target,}",
        "only batches of spatial targets supported ({n}D tensors) but got targets of dimension: {got}",
        "only batches of spatial targets supported ({n}D tensors) but got targets of size: : {target,}",
        "0D or 1D target tensor expected, multi-target not supported",
      ],
      means: [
        "the input has a batch of {a}, the target of {b}",
        "without its classes in dim 1 the input is {wanted}, and the target {target}",
        "the input (N, C, H, W) takes a target (N, H, W) of {n dim}, and the target has {got}",
        "the input (N, C, H, W) takes a target (N, H, W) of {n dim}, and the target is {target}",
        "the classes are dim 1 of the input: (N, C, d1, …) with a target of shape (N, d1, …)",
      ],
      cause: "classes in the last dim, as in (N, T, C), or a target with a dim of size 1",
      cure:
        "logits.movedim(-1, 1), a view; " +
        "logits.reshape(-1, C) with target.reshape(-1); target.squeeze(1)",
      decode({ input, target, n, got = target?.length }) {
        if (n !== undefined && got > n)
          return {
            cause: "a target with a dim of size 1, (N, 1, H, W), or with a plane for each class",
            cure: "target.squeeze(1), a view; target.argmax(1) for a plane for each class",
          };
        if (n !== undefined)
          return { cause: "one class for each image, and a model that classifies each pixel" };
        if (!input) return null;
        const wanted = input.toSpliced(1, 1);
        const means = `without its classes in dim 1, ${tuple(input)} is ${tuple(wanted)}`;
        return same(wanted, target) ? means : `${means}, and the target is ${tuple(target)}`;
      },
    },
    {
      title: "a gradient of another shape",
      lesson: "04_channels_last",
      section: "Gradients",
      templates: [
        "attempting to assign a gradient of size '{a,}' to a tensor of size '{b,}'",
        "grad_output[{n}] has a shape of {a,} and output[{m}] has a shape of {b,}",
        "returned an invalid gradient at index {n} - " +
          "got {a,} but expected shape compatible with {b,}",
      ],
      means: "a gradient has the shape of its tensor",
      cause: "a backward that forgets a transpose or a broadcast, or a weight that was replaced",
      cure: "grad.t() for a transpose; grad.sum(dim, keepdim=True) for a dim that was broadcast",
      decode({ a, b }) {
        if (!b) return null;
        const isTurned = a.length === 2 && same(a.toReversed(), b);
        const cure = isTurned
          ? "grad.t(), a view"
          : `a gradient of shape ${tuple(b)}: grad.sum(dim, keepdim=True) for a broadcast dim`;
        return { ...explainUnlike(a, b), cure };
      },
    },
    {
      title: "a weight of another shape",
      section: "Weights are views, too",
      templates:
        "copying a param with shape {a,} from checkpoint, the shape in current model is {b,}",
      means: "a checkpoint is copied weight by weight, into a weight of the same shape",
      cause: "a model with other sizes than the one that was saved",
      cure:
        "build the model with the sizes of the checkpoint: " +
        "its config.json or its keys tell them",
      decode({ a, b }) {
        const explanation = explainUnlike(a, b);
        if (same(a, b) || !same(a.toReversed(), b)) return explanation;
        return {
          ...explanation,
          cause:
            "a weight that lies the other way round: " +
            "nn.Linear keeps (out, in), Conv1D of transformers (in, out)",
          cure: "state[name] = state[name].t(), a view; load_state_dict copies it into place",
        };
      },
    },
    {
      title: "a matrix and a vector that do not multiply",
      templates: [
        "size mismatch, got input ({n}), mat ({rows}x{columns}), vec ({size})",
        "inconsistent tensor size, expected tensor [{a}] and src [{b}] to have",
      ],
      means: [
        "the vectors have {a} and {b} elements: they have to agree",
        "the rows of the matrix have {columns} elements, the vector has {size}: they have to agree",
        "the rows of the matrix are as long as the vector",
      ],
      cause:
        "a matrix that lies the other way round, or a vector that is a batch of something else",
      cure: "m.t() @ v, a view, if the matrix has as many rows as the vector has elements",
      decode: ({ rows, size }) => (rows !== undefined && rows === size ? null : { cure: LOOK }),
    },
    {
      title: "letters of einsum that do not fit",
      templates: [
        "subscript {letter*} has size {b} for operand {n} " +
          "which does not broadcast with previously seen size {a}",
        "the number of subscripts in the equation ({letters}) does " +
          "not match the number of dimensions ({dims}) for operand {n}",
        "einstein sum subscripts string contains too many subscripts for operand {n}",
        "contracted dimensions need to match, " +
          "but first has size {a} in dim {d} and second has size {b} in dim {e}",
      ],
      means: [
        "{letter} is {b} in operand {n} (the first is 0), and {a} before",
        "operand {n} (the first is 0) has {dims dim} and {letters letter}",
        "dim {d} of the first has {a}, dim {e} of the second {b}: they are summed together",
        "a letter has one size in all operands, and each dim has a letter",
      ],
      harm: REFUSED,
      cause: "two letters exchanged, or a missing batch dim",
      cure: `${LOOK}; write "..." for batch dims`,
    },
    {
      title: "matrices that are not square",
      templates: [
        "must be batches of square matrices, but they are {a} by {b} matrices",
        "Last 2 dimensions of the array must be square",
        "Incompatible shapes of A and B for the equation AX = B ({a}x{b} and {c}x{d})",
      ],
      means: [
        "A has {a} rows, and B has {c}",
        "the last two dims have {a} and {b}",
        "the last two dims are the matrix, all dims before them are batches",
      ],
      harm: REFUSED,
      cause: "a matrix dim that is not among the last two",
      cure: "x.movedim(...), a view, brings rows and columns to the end",
    },
    {
      title: "matrices that do not multiply",
      templates: [
        "mat1 and mat2 shapes cannot be multiplied ({a}x{b} and {c}x{d})",
        "a and b must have same reduction dim, but got {m,} X {n,}",
        "tensors {i} and {j} with shapes {m,} and {n,} cannot be multiplied",
        "contraction dimension of mat_a and mat_b must match",
      ],
      means: "the rows of the first matrix are as long as the columns of the second",
      cause: OTHER_WAY,
      cure: "bring the features to the last dim; nn.Linear(n, ...) takes (..., n)",
      decode({ a, b, c, d, m, n }) {
        if (m) return explainProduct(m[0], m[1], n[0], n[1]);
        return a === undefined ? null : explainProduct(a, b, c, d);
      },
    },
    {
      title: "arrays that do not multiply",
      templates: [
        "Input operand {n} has a mismatch in its core dimension {dim}, " +
          "with gufunc signature {~} (size {b} is different from {a})",
        "shapes {left,} and {right,} not aligned: {a} (dim {d}) != {b} (dim {e})",
        "Input operand {n} does not have enough dimensions",
        "shape-mismatch for sum",
      ],
      means: [
        "dim {d} of {left} has {a} elements, dim {e} of {right} has {b}: they have to agree",
        "in operand {n} (the first is 0) core dim {dim} has {b}, " +
          "and the other operand has {a}: they have to agree",
        "the last dim of the first array is as long as the last but one of the second",
      ],
      harm: NUMPY,
      cause: OTHER_WAY,
      cure: "a @ b.swapaxes(-1, -2), with a view of b, if b lies the other way round",
      decode({ n, a, left, right }) {
        if (n !== undefined && a === undefined)
          return {
            means: "a number has no dim to sum over: use * in place of @",
            cause: "a number where an array was expected",
            cure: "a * b",
          };
        if (left?.length !== 2 || right.length !== 2) return left ? { cure: LOOK } : null;
        if (left[1] === right[1]) return { cure: "a @ b.T, with a view of b" };
        if (left[0] === right[0]) return { cure: "a.T @ b, with a view of a" };
        return { cure: LOOK };
      },
    },
    {
      title: "batches of matrices that do not multiply",
      templates:
        "Expected size for first two dimensions of batch2 tensor to be: " +
        "{wanted,} but got: {got,}",
      means: "batches agree, and rows of the first are as long as columns of the second",
      cause: "k where its transpose belongs, as in q @ k, or batches that differ",
      cure: "q @ k.mT: .mT exchanges the last two dims, a view",
      decode({ wanted, got }, { before }) {
        const batch = wanted[0] === 1 ? "1 matrix" : `${wanted[0]} matrices`;
        const means =
          `the first operand has ${batch} with rows of ${wanted[1]}, ` +
          `the second ${got[0]} with columns of ${got[1]}`;
        if (!IN_ATTENTION.test(before)) return means;
        return {
          means,
          cause: "a query and a key of different head sizes",
          cure: "project both to one head size: the last dims of query and key have to agree",
        };
      },
    },
    {
      title: "too few dims for a product",
      templates: [
        "batch1 must be a 3D tensor",
        "batch2 must be a 3D tensor",
        "mat2 must be a matrix",
        "self must be a matrix",
        "1D tensors expected, but got {a}D and {b}D tensors",
        "both arguments to matmul need to be at least 1D, but they are {a}D and {b}D",
      ],
      means:
        "mm takes matrices, bmm batches of them, dot vectors; " +
        "only matmul (@) takes all and broadcasts",
      cause: "a missing or an additional batch dim",
      cure: "a @ b, a product that takes and broadcasts batches",
      decode(_, { text }) {
        if (text.includes("matmul"))
          return { cause: "a number where a matrix was expected", cure: "a * b" };
        return text.startsWith("1D") ? { cure: "a.flatten() @ b.flatten()" } : null;
      },
    },
    {
      title: "heads that are not grouped",
      section: "Fewer heads for k and v",
      templates:
        "Expect query and key/value to have the same number of heads but got Hq={a} and Hkv={b}",
      means: "{a} heads of the query meet {b} of key and value",
      cause: "grouped heads: several heads of the query share one of key and value",
      cure: "flex_attention(..., enable_gqa=True)",
    },
    {
      title: "a mask of attention of another shape",
      section: "Masks with a stride of 0",
      templates: [
        "The shape of the {n}D attn_mask is {a,}, but should be {b,}",
        "Attention mask should be of size {b,}, but is {a,}",
        "Attention weights should be of size {b,}, but is {a,}",
        "attn_output` should be of size {b,}, but is {a,}",
      ],
      means:
        "a mask has a row for each query and a column for each key, " +
        "and broadcasts over heads and batches",
      cause:
        "a cache of keys that the mask does not count, " +
        "heads and batch exchanged, or a mask of another batch",
      cure: "mask[:, None, None, :] for one value a key, mask[None] for one a pair: both are views",
      decode: ({ a, b }) => explainUnlike(a, b),
    },
    {
      title: "no way to compute attention",
      section: "Attention in one call",
      templates: [
        "No available kernel. Aborting execution",
        "No viable backend for scaled_dot_product_attention was found",
        "All fused kernels require the last dimension of the input to have stride 1. " +
          "Got Query.stride(-1): {q}, Key.stride(-1): {k}, Value.stride(-1): {v}",
        "All fused kernels require the last dimension of the input to have stride 1",
        "last dimension to have stride 1",
      ],
      means: "sdpa_kernel allows only paths that cannot take these layouts, dtypes or masks",
      cause:
        "a last stride other than 1, sizes of q, k and v that differ, dropout, " +
        "or a mask on the flash path",
      cure: "why_no_flash(q, k, v) names the reason; .contiguous() repairs a stride",
      decode({ q, k, v }) {
        const reasons = [];
        for (const [name, stride] of Object.entries({ query: q, key: k, value: v })) {
          if (stride !== undefined && stride !== 1) reasons.push(`${stride} in the ${name}`);
        }
        return reasons.length ? `the last stride has to be 1: it is ${listed(reasons)}` : null;
      },
    },
  ]),
];

// Einops, safetensors, transformers, ONNX, distributed training -----------------------------------

const EINOPS = "no: einops refuses";
const NOT_RUN = "no: onnx stops, and nothing runs";

export const LIBRARIES = [
  ...taughtBy("03_contiguity", "Back to the heads", [
    {
      title: "a dim that does not divide into groups",
      templates: "can't divide axis of length {size} in chunks of {n}",
      means: "einops has to cut a dim of {size} into rows of {n}, and {n} does not divide {size}",
      harm: EINOPS,
      cause: "a wrong size, or names in brackets in the wrong order",
      cure: "print the shape; in (a b), b is the inner, faster one",
    },
    {
      title: "a dim of another size than its pattern",
      templates: "Shape mismatch, {size} != {wanted}",
      means: "a dim has {size}, and the sizes of its names multiply to {wanted}",
      harm: EINOPS,
      cause:
        "a size given by name, as in h=5, " +
        "that the tensor does not have, or one name for dims of two sizes",
      cure: "leave one size of each bracket out: einops computes it",
      decode({ size, wanted }) {
        if (wanted <= 1 || size % wanted) return null;
        return (
          `a dim has ${size}, and the sizes of its names multiply to ${wanted}: ` +
          `${size / wanted} times as much`
        );
      },
    },
    {
      title: "a pattern for another number of dims",
      templates: [
        "Wrong shape: expected {wanted} dims. Received {got}-dim tensor",
        "Wrong shape: expected >={fewest} dims. Received {got}-dim tensor",
        "has shape {shape,}, while pattern {pattern~} assumes at least {least} axes",
        "received input of wrong dim with shape {shape,}",
        "Can't parse shape with different number of dimensions: {pattern~} torch.Size",
      ],
      means: [
        "the left side of the pattern names {wanted dim}, the tensor has {got}",
        "the left side of the pattern names at least {fewest dim}, the tensor has {got}",
        "{shape} has {shape dim}, the pattern names {least}",
        "{shape} has {shape dim}",
        "the left side of the pattern names another number of dims than the tensor has",
      ],
      harm: EINOPS,
      cause: "a missing batch or channel dim",
      cure: 'name them all, or write "..." for the rest',
    },
    {
      title: "a name on one side of a pattern",
      templates: [
        "Identifiers only on one side of expression (should be on both): {names,}",
        "Identifiers only on one side of expression",
        "Unexpected identifiers on the {side*} side of {what~}: {names,}",
        "Unexpected identifiers on the {side*} side of",
        "Specify sizes for new axes in repeat",
        "Could not infer sizes for",
        "Indexing expression contains duplicate dimension",
        "is not used in transform",
        "Non-unitary anonymous axes are not supported",
      ],
      means:
        "rearrange moves every dim: each name stands once on each side; " +
        "repeat adds dims whose size is given, reduce drops some",
      harm: EINOPS,
      cause: "a name that was forgotten or misspelt, or a dim that is to disappear or appear",
      cure:
        "reduce(x, pattern, 'mean') drops a dim, " +
        "repeat(x, pattern, n=2) adds one, a 1 in the pattern is a dim of size 1",
    },
    {
      title: "pieces that do not unpack",
      templates: "could not split axis of size {size} into requested [{shapes~}]",
      means: "the shapes of the pieces have to hold as many elements as the dim",
      harm: EINOPS,
      cause: "packed_shapes of another tensor than the one that is unpacked",
      cure: "keep what pack returned beside its tensor",
      decode({ size, shapes }) {
        const counts = [...shapes.matchAll(/\(([-\d, ]*)\)/g)].map(([, shape]) => {
          const sizes = shape.split(",").filter((n) => n.trim());
          return product(sizes.map(Number));
        });
        if (counts.some((n) => n < 0))
          return `no size in place of the -1 makes the pieces of ${shapes} add up to ${size}`;
        const total = sum(counts);
        return `the pieces have ${counts.join(" + ")} = ${total} elements, the dim has ${size}`;
      },
    },
    {
      title: "a tensor that cannot be saved as it lies",
      section: "A cure for slices that keep too much?",
      templates: [
        "You are trying to save a non contiguous tensor: `{name~}`",
        "You are trying to save a non contiguous tensor",
      ],
      means: [
        "safetensors stores rows one after the other, without strides; {name} lies otherwise",
        "safetensors stores rows one after the other, without strides; the tensor lies otherwise",
      ],
      harm: "no: safetensors refuses",
      cause: "a transposed weight, a slice of a larger one, or a model in channels-last",
      cure: "x.contiguous() before you save, which also leaves the rest of its storage behind",
      decode({ name }) {
        if (!name) return null;
        return {
          cure:
            `${name}.contiguous() before you save, ` +
            "which also leaves the rest of its storage behind",
        };
      },
    },
    {
      title: "a declared shape that the graph does not give",
      section: "The message, decoded",
      templates: [
        "Inferred shape and existing shape differ in dimension {dim}: ({inferred}) vs ({declared})",
        "Inferred shape and existing shape differ in rank: ({inferred}) vs ({declared})",
      ],
      means: [
        "an output of the node has size {inferred} in dim {dim}, " +
          "and was declared to have {declared}",
        "an output of the node has {inferred dim}, and was declared to have {declared}",
        "an output of a node has another shape than was declared",
      ],
      harm: NOT_RUN,
      cause:
        "a graph edited after its shapes had been written into it: " +
        "another batch size, another node",
      cure:
        "del model.graph.value_info[:] and infer_shapes(model) again; " +
        "correct a wrong output by hand",
    },
    {
      title: "a Reshape with a -1 that fits nothing",
      section: "The message, decoded",
      templates: "Dimension could not be inferred: incompatible shapes",
      means:
        "-1 stands for the number of elements divided by the other sizes: " +
        "here that is no whole number",
      harm: NOT_RUN,
      cause:
        "sizes that became constants when the model was exported, and an input of another size",
      cure:
        "onnx.reference.ReferenceEvaluator(model).run(None, inputs) stops at that node, " +
        "with the numbers",
    },
  ]),
  ...taughtBy("02_views", "Saving views", [
    {
      title: "a slice that save_model refuses",
      templates: "no suitable name to keep for saving amongst: {names~}. None",
      means:
        "save_model keeps one tensor of each storage, " +
        "and none of these covers the whole of its storage: {names}",
      harm: "no: safetensors refuses, even for a single slice",
      cause: "a parameter or a buffer that is a slice of a larger tensor",
      cure:
        "keep .clone() of the slice in the module; " +
        "save_file(model.state_dict(), path) takes slices that do not overlap",
    },
    {
      title: "tensors that would be saved twice",
      templates: [
        "Some tensors share memory, this will lead to duplicate memory on disk{~}[{names~}]",
        "Some tensors share memory, this will lead to duplicate memory on disk",
        "The weights trying to be saved contained shared tensors {names~} that",
      ],
      means: [
        "safetensors writes the bytes of each tensor on its own; these share memory: {names}",
        "safetensors writes the bytes of each tensor on its own, and these share memory",
      ],
      harm:
        "no: safetensors refuses; " +
        "saved, they would take twice the bytes, and no longer share when loaded",
      cause: "tied weights, or overlapping slices of one buffer",
      cure:
        "tied weights: save_model(model, path), which keeps one and notes the other; " +
        "slices, of which none holds all of the memory: .clone()",
    },
  ]),
  ...taughtBy("01_strides", "Two units: elements and bytes", [
    {
      title: "an ONNX tensor that its values do not fill",
      templates: [
        "Number of values ({values}) does not match tensor dimensions requiring {count} elements",
        "Raw data size does not match tensor's size. Expected {needs} bytes, but got {size} bytes",
        "raw_data size ({size} bytes) is too small for the " +
          "declared shape and type ({needs} bytes required)",
        "Error while deserializing: invalid shape, data type, or offset for tensor",
      ],
      means: [
        "the declared shape has {count element}, and {values} are given",
        "the declared shape and dtype take {needs byte}, and there are {size}",
        "the bytes of the tensor are more or fewer than its shape and dtype need",
      ],
      harm: "no: the library refuses",
      cause:
        "a shape written by hand, float64, NumPy's default, " +
        "declared as FLOAT, or a file that was cut off",
      cure:
        "numpy_helper.from_array(a) takes shape and dtype from the array; " +
        "a.astype(np.float32) before it",
      decode({ needs, size }) {
        const ratio = Math.max(needs, size) / Math.min(needs, size);
        if (![2, 4, 8].includes(ratio)) return null;
        const times = size < needs ? `1/${ratio}` : `${ratio}`;
        return (
          `the declared shape and dtype take ${counted(needs, "byte")}, and there are ${size}: ` +
          `a dtype of ${times} times the size would explain it`
        );
      },
    },
  ]),
  ...taughtBy("06_attention", "Which operand does @ clone?", [
    {
      title: "inputs of an ONNX node that do not agree",
      templates: [
        "[ShapeInferenceError] Incompatible dimensions",
        "Dimension mismatch in unification between {a} and {b}",
        "Can't merge shape info.{~}Inferred={a} Declared={b} Dimension={dim}",
      ],
      means: [
        "two shapes have to agree in dim {dim}: it is {a} in one, {b} in the other",
        "two shapes have to agree in one size: it is {a} in one, {b} in the other",
        "MatMul needs rows of A as long as columns of B; " +
          "most others broadcast: sizes are equal, or 1",
      ],
      harm: NOT_RUN,
      cause: "a weight that lies the other way round, or a dim that is missing or too many",
      cure:
        "onnx.reference.ReferenceEvaluator(model).run(None, inputs) stops at that node, " +
        "with the numbers",
    },
  ]),
  ...taughtBy("04_channels_last", "Gradients", [
    {
      title: "a gradient laid out unlike its bucket",
      lesson: "09_way_back",
      section: "Buckets",
      templates: [
        "Grad strides do not match bucket view strides{~}grad.sizes() = {shape,}, " +
          "strides() = {ours,}{~}bucket_view.sizes() = {bucket,}, strides() = {theirs,}",
        "Grad strides do not match bucket view strides",
      ],
      means:
        "DDP keeps gradients in one buffer, in the order of the parameters; " +
        "this one arrived in another order",
      harm: "at most in time: the strides at its end decide; paste the whole message",
      cause:
        "a model that became channels-last after DDP had wrapped it; " +
        "or the weight of a 1x1 convolution",
      cure: "give the model its memory format before DDP wraps it, and keep it",
      decode: (fields) => explainGradient(fields, "DDP's bucket", "each step copies"),
    },
    {
      title: "a gradient laid out unlike its parameter",
      lesson: "09_way_back",
      section: "The contract is for the first gradient",
      templates: [
        "grad and param do not obey the gradient layout contract{~}grad.sizes() = {shape,}, " +
          "strides() = {ours,}{~}param.sizes() = {of_param,}, strides() = {theirs,}",
        "grad and param do not obey the gradient layout contract",
      ],
      means:
        "a dense parameter and its .grad usually have the same strides, and here they have not",
      harm: "at most in time: the strides at its end decide; paste the whole message",
      cause:
        "a .grad that was set by hand, or that is older than the parameter's memory format: " +
        "backward() adds to a .grad as it lies",
      cure: "param.grad = None, or zero_grad(): the next backward() makes one with the right strides",
      decode: (fields) => explainGradient(fields, "the parameter", "each step reads"),
    },
    {
      title: "a parameter that FSDP cannot shard",
      lesson: "06_attention",
      section: "Weights are views, too",
      templates: [
        "FSDP does not support non-contiguous parameters yet: " +
          "param.shape={shape,} param.stride()={stride,}",
        "FSDP does not support non-contiguous parameters yet",
      ],
      means: "FSDP cuts parameters into rows, so they have to be contiguous",
      harm: "no: FSDP refuses",
      cause: "a weight that was tied or set as the transpose of another one, or channels-last",
      cure:
        "param.data = param.data.contiguous(), a copy, before fully_shard; for channels-last " +
        "model.to(memory_format=torch.contiguous_format)",
      decode({ shape, stride }) {
        if (!shape) return null;
        const wanted = contiguousStride(shape);
        return (
          `FSDP cuts parameters into rows: shape ${tuple(shape)} has to have ` +
          `strides ${tuple(wanted)}, and has ${tuple(stride)}`
        );
      },
    },
    {
      title: "a process with other strides",
      templates: [
        "appears not to match strides of the same param in process 0",
        "appears not to match sizes of the same param in process 0",
      ],
      means:
        "DDP sends bytes as they lie, " +
        "so a parameter has one shape and one memory order in all processes",
      harm: "no: DDP refuses, before processes would read each other's elements at wrong places",
      cause: "a model that is channels-last in one process only, or built with other sizes",
      cure: "build the model in the same way in each process",
    },
    {
      title: "tensors of other sizes, gathered",
      templates: [
        "invalid tensor size at index {n} (expected {want,}, got {got,})",
        "Split sizes doesn't match total dim 0 size",
        "output tensor size must be equal to world_size times input tensor size",
        "input tensor must be the same size as output size times world size",
      ],
      means: "each process sends as many elements as the others expect",
      harm: "no: the process group refuses",
      cause: "a smaller last batch, or sequences of different lengths",
      cure: `pad to one size, or use all_gather_object; ${LOOK}`,
      decode({ want, got, n }) {
        if (!want) return null;
        const means = `tensor ${n} of the list has shape ${tuple(got)}, and ${tuple(want)} arrives`;
        const isReordered = same(got.toSorted(), want.toSorted());
        return isReordered ? `${means}: the same sizes in another order` : means;
      },
    },
  ]),
];
