// Messages about memory: strides and storages, shared memory and writes to it, gradients,
// contiguity, compiled code.

import { counted, lastOf, product, tuple, whyNotCounted } from "../page/layout.js";
import { dimsApart, NUMPY, namedDims, REFUSED, taughtBy } from "./reading.js";
import { explainUnlike } from "./shapes.js";

// The names of an array in messages of Python and of NumPy.
const IS_ARRAY = /^(?:ndarray|numpy\.ndarray|memoryview|buffer)$/;
const WRONG_GRADIENT = "no: the alternative would be a wrong gradient";

/** Compare the last element that a layout reaches with the end of its storage. */
function explainSpan({ shape, stride, offset, itemsize, size }) {
  const layout = { shape, stride, storage_offset: offset, itemsize };
  const isLayout = shape.length === stride.length && itemsize >= 1;
  if (!isLayout || [...shape, ...stride, offset].some((n) => n < 0)) return null;
  if (whyNotCounted(layout)) return null;
  const held = Math.floor(size / itemsize);
  const storage = held
    ? `the storage has ${counted(held, "element")}, and ends with element ${held - 1}`
    : "the storage is empty";
  if (shape.includes(0)) return { means: `no element is reached; ${storage}` };
  const index = tuple(shape.map((n) => n - 1));
  return { means: `index ${index} is element ${lastOf(layout)}; ${storage}` };
}

const CLONE =
  "x.clone(memory_format=torch.contiguous_format).view(dtype), " +
  "a copy without gaps that starts at 0";

/** Explain why elements of another size cannot lie where the elements of a tensor are. */
function explainDtypeView({ what, ratio, old, next, got }) {
  if (ratio === undefined) {
    if (got === undefined)
      return {
        means: `a tensor of 0 dims has one element, and ${old} and ${next} differ in size`,
        cure:
          "x.reshape(1).view(dtype) for smaller elements; " +
          "one element does not fill a larger one",
      };
    return {
      means:
        `the bytes of ${old} and ${next} only line up where the last dim has no gaps; ` +
        `its stride is ${got}`,
      cure: CLONE,
    };
  }
  if (ratio < 1) return null;
  const rule = `${counted(ratio, "element")} of ${old} make one of ${next}`;
  if (what === "size(-1)")
    return { means: `${rule}, and the last dim has ${got}`, cure: cureForSize(got, ratio) };
  if (what === "storage_offset()")
    return {
      means: `${rule}, and the tensor starts in the middle of one, at element ${got}`,
      cure: CLONE,
    };
  return {
    means: `${rule}, and ${what} is ${got}: such a step ends in the middle of one`,
    cure: CLONE,
  };
}

/** The cure for a last dim whose size is no multiple of `ratio`. */
function cureForSize(size, ratio) {
  const kept = size - (size % ratio);
  if (kept)
    return (
      `cut or pad the last dim to a multiple of ${ratio}: ` +
      `x[..., :${kept}].clone(memory_format=torch.contiguous_format).view(dtype)`
    );
  return `pad the last dim to a multiple of ${ratio}: F.pad(x, (0, ${ratio - size})).view(dtype)`;
}

const PAIRS = "complex numbers are counted in pairs of floats, and ";
// x.contiguous() would return x where only a dim of size 1, or an empty one, is in the way.
const PAIRS_COPIED =
  "torch.view_as_complex(x.clone(memory_format=torch.contiguous_format)), a copy";

// The explanations of view_as_complex, by the end of torch's message.
const COMPLEX = {
  "last dimension of size 2": {
    means: "a complex number is two floats: the last dim has to be that pair",
    cure: "x.unflatten(-1, (x.shape[-1] // 2, 2)), a view, makes pairs of an even number",
  },
  "last dimension with stride 1": {
    means: "the two floats of a complex number are neighbours in memory, and here they are not",
    cure: PAIRS_COPIED,
  },
  "storage_offset divisible by 2": {
    means: `${PAIRS}this tensor starts in the middle of one`,
    cure: PAIRS_COPIED,
  },
  "stride divisible by 2 for all but last dimension": {
    means: `${PAIRS}a step of this tensor ends in the middle of one`,
    cure: PAIRS_COPIED,
  },
};

/** A dim as compiled code checks it, "size 4==3, stride 1==1 at dim=0", in words. */
function checkedDim(check) {
  const [size, expectedSize, stride, expectedStride, d] = check.match(/\d+/g);
  const differences = [];
  if (size !== expectedSize) differences.push(`size ${size}, not ${expectedSize}`);
  if (stride !== expectedStride) differences.push(`stride ${stride}, not ${expectedStride}`);
  return `dim ${d} has ${differences.join(" and ") || "what was expected"}`;
}

// What a guard of torch.compile says of a tensor.
const UNLIKE = [
  "stride mismatch at index {dim}. expected {a}, actual {b}",
  "size mismatch at index {dim}. expected {a}, actual {b}",
  "rank mismatch. expected {a}, actual {b}",
];

/** Explain for which number the code was compiled. */
function explainUnlikeCompiled({ name, dim, a, b }, { text }) {
  // L['x'] is the local variable x.
  const tensor = /^L\['(\w+)'\]$/.exec(name ?? "")?.[1] ?? name ?? "the tensor";
  if (dim === undefined)
    return {
      means: `${tensor} has ${counted(b, "dim")}, and the code was compiled for ${a}`,
      cause: "inputs with a batch dim and without",
      cure: "x.unsqueeze(0), a view, for an input without its batch",
    };
  const word = text.includes("stride") ? "stride" : "size";
  const means = `dim ${dim} of ${tensor} has ${word} ${b}, and the code was compiled for ${a}`;
  if (word === "stride") return means;
  return {
    means,
    cause: "a smaller last batch, or sequences of different lengths",
    cure:
      "torch.compile(f, dynamic=True), " +
      `or torch._dynamo.mark_dynamic(x, ${dim}) before the first call`,
  };
}

/** The name that a text ends with, as in "ValueError: x.grad"; "" if it ends without one. */
function lastNameIn(text) {
  const match = /([\w.[\]']{1,60}(?: tensor)?)(?:\(\))?\W{0,3}$/.exec(text.slice(-80));
  const name = match ? match[1].replace(/\.$/, "") : "";
  return /^(?:in|\w*(?:Error|Warning|Exception))$/.test(name) ? "" : name;
}

/** The name of the operation that a node of autograd belongs to: "Exp" for ExpBackward0. */
const operationOf = (node) => node.replace(/^torch::autograd::/, "").replace(/Backward\d*$/, "");

const VARIABLES = "one of the variables needed for gradient computation has been ";
const WITH_NODE =
  "modified by an inplace operation: [{type*} {shape,}], " +
  "which is output {n} of {op*}, is at version {now}; expected version {then}";
const OF_A_LEAF =
  "modified by an inplace operation: [{type*} {shape,}] is at version {now}; " +
  "expected version {then}";
const CHANGED = [
  VARIABLES + WITH_NODE,
  VARIABLES + OF_A_LEAF,
  `${VARIABLES}modified by an inplace operation`,
  WITH_NODE,
  OF_A_LEAF,
];
const WRITTEN =
  "an operation in place (+=, relu_, x[...] = ...) on it or on any view of it: " +
  "they share one version counter";
const NO_WRITE =
  "write y = y + 1 in place of y += 1; " +
  "torch.autograd.set_detect_anomaly(True) names the forward line";
// A linear layer keeps the transpose of its weight.
const OF_A_WEIGHT = /^(?:T|Transpose|Permute|AsStrided)$/;

/** Explain how often a tensor was written to before its gradient, and by what. */
function explainChanged({ shape, op = "", now, then }) {
  if (!shape) return null;
  const operation = operationOf(op);
  const isOfSlice = operation === "CopySlices";
  let origin = "";
  if (isOfSlice) origin = ", the result of a write to a slice,";
  else if (op) origin = `, the output of ${operation},`;
  const means =
    `autograd kept a tensor of shape ${tuple(shape)}${origin} for the backward pass, ` +
    `and since then it was written to ${counted(now - then, "time")}: the gradient would be wrong`;
  if (isOfSlice)
    return {
      means,
      cause: "x[...] = ... on slices of one tensor, and a use of x between two of these writes",
      cure: "use x.clone() between two writes, or put the parts together by torch.stack or torch.cat",
    };
  if (!op || OF_A_WEIGHT.test(operation))
    return {
      means,
      cause: `optimizer.step() between two calls of backward(), if this is a weight; or ${WRITTEN}`,
      cure: `call backward() for all losses before the first step(); ${NO_WRITE}`,
    };
  return { means, cause: WRITTEN };
}

const OF_FAKE = "on FakeTensor and concrete Tensors, found";

/** Explain what the real kernel of an operation returned, and what its fake kernel promised. */
function explainPromise({ real, fake }, { text }) {
  if (text.includes("alias")) {
    if (fake === "True")
      return {
        means: "the fake kernel returned its input or a view of it, the real kernel a new tensor",
        cure: "let the fake kernel return torch.empty(...), with the real shape and strides",
      };
    return {
      means: "the real kernel returned its input or a view of it, the fake kernel a new tensor",
      cure: "return a clone from the real kernel",
    };
  }
  const said = (value) => (Array.isArray(value) ? tuple(value) : value);
  const word = /Shapes|Dtypes|Devices/.exec(text)?.[0].toLowerCase().slice(0, -1);
  if (!word || real === null || fake === null) return null;
  return `the real kernel returned ${word} ${said(real)}, the fake kernel promised ${said(fake)}`;
}

export const MEMORY = [
  ...taughtBy("01_strides", "Two units: elements and bytes", [
    {
      title: "an array that runs backwards",
      lesson: "04_channels_last",
      section: "A famous line, explained",
      templates: [
        "At least one stride in the given numpy array is negative",
        "some of the strides of a given numpy array are negative", // before torch 1.5
      ],
      means:
        "the array has a negative stride, as a[::-1] and np.flip make it; " +
        "torch's strides are 0 or more",
      cause:
        "a flip in NumPy, or an image library that mirrors pictures or swaps colours with a slice",
      cure: "torch.from_numpy(a.copy()), or torch.flip after the conversion: both copy",
    },
    {
      title: "a slice that runs backwards",
      section: "A slice changes three numbers",
      templates: [
        "step must be greater than zero",
        "Negative strides are not supported at the moment",
        "stride must be non-negative, got {stride}",
        "Storage size calculation overflowed with sizes={shape,} and strides={stride,}",
      ],
      means: "torch has no negative strides, so what x[::-1] asks for cannot be a view",
      cause: "NumPy's way of flipping, or as_strided with a negative stride",
      cure: "x.flip(0), a copy",
    },
    {
      title: "strides that end inside of an element",
      templates: ["array strides not a multiple of the element byte size"],
      means:
        "torch counts strides in elements, " +
        "and this array steps by a number of bytes that is no multiple of its itemsize",
      cause: "a field of a structured array, records of a file, or a packed dtype",
      cure: "torch.from_numpy(a.copy())",
    },
    {
      title: "bytes in the other order",
      templates: "given numpy array has byte order different from the native byte order",
      means:
        "each number of the array has its bytes the other way round, " +
        "and a tensor shares the array's memory",
      cause: "a file of another machine: a dtype with >, as in >f4",
      cure: 'a.astype(a.dtype.newbyteorder("=")), a copy',
    },
    {
      title: "a layout that leaves its storage",
      section: "Choose the numbers yourself",
      templates: [
        "setStorage: sizes {shape,}, strides {stride,}, " +
          "storage offset {offset}, and itemsize {itemsize} requiring a " +
          "storage size of {needs} are out of bounds for storage of size {size}",
        "as_strided_scatter: sizes {shape,}, strides {stride,}, " +
          "storage offset {offset} and itemsize {itemsize} requiring a " +
          "storage size of {needs} are out of bounds for storage of size {size}",
        "requested buffer length ({n} * {itemsize} bytes) after offset " +
          "({skipped} bytes) must not be greater than actual buffer length ({size} bytes)",
        "offset ({skipped} bytes) must be non-negative " +
          "and no greater than buffer length ({size} bytes) minus 1",
        "both buffer length ({size}) and count ({n}) must not be 0",
        "invalid storage offset {offset}",
        "strides is not compatible with available memory",
        "strides is incompatible with shape of requested array and size of buffer",
        "buffer is too small for requested array",
        "buffer is smaller than requested size",
      ],
      means:
        "the last element would lie behind the end of the memory, or the first before its start",
      harm: REFUSED,
      cause:
        "a size, stride or storage_offset that is too large: " +
        "torch counts them in elements, NumPy in bytes",
      cure:
        "smaller sizes, or a smaller storage_offset: " +
        "Layout(size, stride, offset).span says which elements it reaches",
      decode(fields) {
        const { n, itemsize, skipped, size, shape, needs } = fields;
        if (skipped === undefined && n !== undefined)
          return {
            means: size ? "0 elements are asked for" : "the buffer has no bytes",
            cure: "torch.empty(0, dtype=dtype), or leave the empty part of a file out",
          };
        if (n === undefined && skipped !== undefined)
          return {
            means: `byte ${skipped} is asked for first, the buffer has bytes 0 to ${size - 1}`,
            cure: `offset counts bytes, not elements: 0 to ${size - 1}`,
          };
        if (n !== undefined)
          return (
            `${skipped} + ${n} * ${itemsize} = ${skipped + n * itemsize} bytes are needed, ` +
            `the buffer has ${size}`
          );
        if (!shape) return null;
        const means = `${needs} bytes are needed, the storage has ${size}`;
        return { means, ...explainSpan(fields) };
      },
    },
    {
      title: "a shape and strides of different lengths",
      section: "Choose the numbers yourself",
      templates: [
        "mismatch in length of strides and shape",
        "dimensionality of sizes ({a}) must match dimensionality of strides ({b})",
        "unequal size length ({a}) and stride length ({b})",
        "strides, if given, must be the same length as shape",
      ],
      means: ["{a size} and {b stride} are given", "each dim has one size and one stride"],
      harm: REFUSED,
      cause: "as_strided or empty_strided with a forgotten dim",
      cure: "as many strides as sizes; Layout(shape).stride gives the row-major ones",
    },
    {
      title: "a dtype of another size",
      templates: [
        "self.stride(-1) must be 1 to view {old*} as {next*} (different element sizes), " +
          "but got {got}",
        "self.dim() cannot be 0 to view {old*} as {next*} (different element sizes)",
        "self.{what+} must be divisible by {ratio} to view {old*} " +
          "as {next*} (different element sizes), but got {got}",
      ],
      means: "elements of another size have to line up with those that are there",
      cause: "x.view(dtype) of a transpose, of a slice, or of a last dim that does not divide",
      cure: CLONE,
      decode: explainDtypeView,
    },
    {
      title: "an array's dtype of another size",
      templates: [
        "To change to a dtype of a different size, the last axis must be contiguous",
        "When changing to a larger dtype, " +
          "its size must be a divisor of the total size in bytes of the last axis",
        "Changing the dtype of a 0d array is only supported if the itemsize is unchanged",
        "buffer size must be a multiple of element size",
        "buffer length ({size} bytes) after offset ({offset} bytes) " +
          "must be a multiple of element size ({itemsize})",
      ],
      means:
        "bytes can be read as another dtype only where the last dim has no gaps, " +
        "and divides into its elements",
      harm: REFUSED,
      cause: "a.view(dtype) of a transpose or of a slice with a step, or bytes that are cut off",
      cure:
        "np.ascontiguousarray(a).view(dtype), a copy; " +
        "cut or pad bytes to a multiple of the itemsize",
      decode({ size, itemsize }) {
        if (!itemsize) return null;
        const rest = counted(size % itemsize, "byte");
        return `${rest} of ${size} would be left over: an element has ${itemsize}`;
      },
    },
    {
      title: "floats that make no complex numbers",
      lesson: "06_attention",
      section: "Rotary embeddings",
      templates: Object.keys(COMPLEX).map((end) => `Tensor must have a ${end}`),
      means: "a complex number is two floats that are neighbours in memory",
      cause: "view_as_complex (rotary embeddings, spectra) of halves, of a transpose or of a slice",
      cure: PAIRS_COPIED,
      decode(_, { text }) {
        const end = Object.keys(COMPLEX).find((key) => text.endsWith(key));
        return end ? COMPLEX[end] : null;
      },
    },
  ]),
  ...taughtBy("02_views", "What autograd calls a view", [
    {
      title: "a tensor on a read-only array",
      section: "Sharing is a question about two sets",
      templates: ["is not writable, and PyTorch does not support non-writable tensors"],
      means: "the tensor shares the array's memory, and torch will not keep you from writing to it",
      harm:
        "only if you write: the array's owner then sees it, " +
        "or the process crashes (a file mapped read-only)",
      cause: "a broadcast or read-only array, np.frombuffer of bytes, or a file mapped read-only",
      cure: "torch.from_numpy(a.copy()) or torch.tensor(a), if you mean to write",
    },
    {
      title: "a write to a read-only array",
      section: "Sharing is a question about two sets",
      templates: [
        "assignment destination is read-only",
        "output array is read-only",
        "sort array is read-only",
      ],
      means:
        "the array's memory belongs to something that may not change, " +
        "or several indices share an element",
      harm: NUMPY,
      cause: "np.broadcast_to, np.diagonal, np.frombuffer of bytes, or a file mapped read-only",
      cure: "a = a.copy() before the write",
    },
    {
      title: "a write to elements that share memory",
      section: "Writing where others live",
      templates: [
        "more than one element of the written-to tensor refers to a single memory location",
        "on expanded tensors is deprecated",
        "encountered a tensor being mutated that has internal overlap",
        "writing to an array with overlapping memory from np.broadcast_arrays",
      ],
      means:
        "several indices have one address, so a write to one changes the others; outside of " +
        "torch.compile torch notices only strides of 0, not the overlapping windows of unfold",
      harm:
        "yes, where it is a warning: elements are written more than once. " +
        "An error changes nothing",
      cause: "expand, broadcast_to or unfold in front of an operation in place",
      cure:
        "x = x.clone() (or .contiguous()) before the write; " +
        "memset(x) and has_internal_overlap(x) tell",
      decode: (_, { text }) =>
        text.startsWith("writing to an array") ? { cure: "a = a.copy() before the write" } : null,
    },
    {
      title: "a write to memory that is still read",
      section: "Reading and writing at once",
      templates:
        "some elements of the input tensor and the " +
        "written-to tensor refer to a single memory location",
      means:
        "input and output overlap without being the same: " +
        "some elements would be read after they had been overwritten",
      cause:
        "a shift within one tensor, as in x[1:] += x[:-1], or an out= that is a view of the input",
      cure: "clone the input: x[1:] += x[:-1].clone(); relation(y, x) draws the overlap",
      decode: (_, { before }) =>
        before.includes("_broadcast_coalesced")
          ? {
              means:
                "DDP flattens the parameters to send them, and a single one becomes a view " +
                "of itself; its strides at sizes of 1 keep torch from seeing the same elements",
              cause:
                "a module whose only parameter is the channels-last weight of a 1x1 convolution",
              cure:
                "param.data = param.data.clone(memory_format=torch.contiguous_format) " +
                "before DDP wraps the module; or a module with a bias",
            }
          : null,
    },
    {
      title: "an out= of another shape",
      lesson: "05_performance",
      section: "A new tensor costs pages",
      templates:
        "An output with one or more elements was resized since it had shape {old,}, " +
        "which does not match the required output shape {next,}",
      means:
        "the tensor given as out= has shape {old}, the result {next}: " +
        "torch gave it new sizes and strides, and memory if it was too small",
      harm:
        "yes, if something else looks at its memory: " +
        "views and arrays of it keep the old layout; later versions of torch refuse",
      cause: "a buffer that was made for another batch",
      cure: "out.resize_(0) first, or no out=",
      decode({ old, next }) {
        const needed = product(next);
        // The tensor may be a view of a storage that has room.
        const storage =
          needed > product(old)
            ? `, and a larger storage if its own had no room for ${counted(needed, "element")}`
            : " in the storage that it had";
        return (
          `the tensor given as out= has shape ${tuple(old)}, the result ${tuple(next)}: ` +
          `torch gave it new sizes and strides${storage}`
        );
      },
    },
    {
      title: "storage that is not torch's to resize",
      section: "How long memory lives",
      templates: [
        "Trying to resize storage that is not resizable",
        "Attempted to resize a view tensor to a larger size",
        "cannot resize variables that require grad",
      ],
      means:
        "the memory belongs to an array, a file, " +
        "another process or another tensor, so torch cannot make it larger",
      cause: "resize_ or out= on a tensor made by from_numpy or frombuffer, or on a view",
      cure: "x = x.clone() first, or let the operation make its own result",
      decode(_, { before }) {
        if (!/DataLoader worker|[\\/]collate\.py|collate_/.test(before)) return null;
        return {
          means:
            "a worker of the DataLoader stacks the items in shared memory with room for the " +
            "elements that they have; if all were as large as the first, they would need more",
          cause:
            "items of different sizes: " +
            "images that were not resized, sequences of different lengths",
          cure:
            "give all items one size, or pad them in collate_fn; " +
            "num_workers=0 shows the sizes: stack expects each tensor to be equal size",
        };
      },
    },
    {
      title: "an array that cannot be resized in place",
      section: "How long memory lives",
      templates: [
        "cannot resize this array: it does not own its data",
        "cannot resize an array that references or is referenced",
      ],
      means: "a.resize changes the memory under the array, and other arrays look at that memory",
      harm: NUMPY,
      cause: "a view of the array, or an array of another library's memory",
      cure: "np.resize(a, shape) or np.pad, which make a new array",
    },
    {
      title: "an array that cannot avoid a copy",
      section: "What depends on its input",
      templates: [
        "Unable to avoid copy while creating an array as requested",
        "can't alias tensor with dtype '{old*}' into dtype '{next*}'",
        "can't alias arbitrary sequence into a tensor",
      ],
      means:
        "copy=False asks for a view of the same memory, " +
        "and another dtype, order or a list needs memory of its own",
      harm: REFUSED,
      cause: "np.array(a, copy=False) of code for NumPy 1, where it meant: copy if needed",
      cure: "np.asarray(a), which copies if it has to",
      decode: (_, { text }) =>
        text.startsWith("can't alias")
          ? {
              cause: "torch.asarray(..., copy=False) of a list, or of an array of another dtype",
              cure: "torch.asarray(a), which copies if it has to",
            }
          : null,
    },
    {
      title: "an array of a tensor with a gradient",
      section: "Three notions, and where they part",
      templates: [
        "Can't call numpy() on Tensor that requires grad",
        "Can't export tensors that require gradient, use tensor.detach()",
      ],
      means: "the array would share the tensor's memory, and autograd could not see writes to it",
      cause: "a result or parameter on its way to a plot",
      cure: "x.detach().numpy(), a view",
    },
    {
      title: "an array of a tensor that is not as its bytes",
      section: "Three notions, and where they part",
      templates: [
        "Can't call numpy() on Tensor that has {~} bit set",
        "Can't export tensors with the conjugate bit set",
      ],
      means: "conj() and imag of it are views with a flag: the bytes are those of the other tensor",
      cause: "x.conj(), x.mH or x.H of a complex tensor",
      cure: "x.resolve_conj().numpy(), a copy",
      decode: (_, { text }) =>
        text.includes("negative")
          ? { cause: "the imaginary part of a conj()", cure: "x.resolve_neg().numpy(), a copy" }
          : null,
    },
    {
      title: "a tensor that changed before its gradient",
      templates: CHANGED,
      means: "autograd kept a tensor for the backward pass, and it was written to since then",
      harm: WRONG_GRADIENT,
      cause: `${WRITTEN}; or optimizer.step() between two calls of backward()`,
      cure: NO_WRITE,
      decode: explainChanged,
    },
    {
      title: "a write to one of several views",
      templates: [
        "Output {n} of {op*} is a view and {~} modified inplace. " +
          "This view is the output of a function that returns multiple views",
      ],
      means:
        "the operation returned several views of one tensor, " +
        "and autograd follows no write to a single one, nor to all",
      harm: WRONG_GRADIENT,
      cause:
        "an operation in place on a result of split, chunk or unbind, " +
        "on a row in a for loop over a tensor, or on the tensor behind them",
      cure:
        "write a = a + 1 in place of a += 1, " +
        "or write through an index before you split: x[:2] += 1",
      decode: ({ op }) =>
        `${operationOf(op)} returned several views of one tensor, ` +
        "and autograd follows no write to a single one, nor to all",
    },
    {
      title: "a write to a view that autograd did not make",
      templates:
        "is a view and is being modified inplace. " +
        "This view was created inside a custom Function",
      means:
        "the custom Function returned a view, or its input; " +
        "a write to it would bypass its backward",
      cause: "a forward that ends in a view or reshape, and an operation in place behind it",
      cure: "clone what the Function returns: y = y.clone(), or return a clone",
    },
    {
      title: "a write to a view that was made without gradients",
      templates:
        "A view was created in no_grad mode and is " +
        "being modified inplace with grad mode enabled",
      means:
        "autograd did not see the view being made, so it cannot carry a write back to the whole",
      cause: "a slice under torch.no_grad(), written to outside of it",
      cure: "make the view and write to it on the same side of no_grad",
    },
    {
      title: "a write to a parameter",
      templates: [
        "a view of a leaf Variable that requires grad is being used in an in-place operation",
        "a leaf Variable that requires grad is being used in an in-place operation",
      ],
      means:
        "a leaf is where gradients end, so autograd cannot put a write in front of it; " +
        "a view of it is its memory",
      cause: "weights that are set or scaled by hand",
      cure: "with torch.no_grad(): around the write",
    },
    {
      title: "a tensor of inference mode",
      templates: [
        "Inference tensors cannot be saved for backward",
        "Inplace update to inference tensor outside InferenceMode",
      ],
      means:
        "what torch.inference_mode() makes has no version counter, " +
        "so autograd cannot trust it later",
      cause: "an input or a cache that was made under inference_mode() and is used in training",
      cure: "x.clone() outside of it, or torch.no_grad() in its place",
    },
    {
      title: "a custom operation that returns its input",
      section: "Writing where others live",
      templates: [
        "may not alias any inputs to this custom operator",
        "is not defined to alias output but was aliasing",
        "Higher order ops do not support aliasing",
        "inputs to function body cannot alias outputs",
      ],
      means:
        "an output shares memory with an input, which the compiler takes to be different tensors",
      harm: "no: it stops before a write to one could change the other unseen",
      cause:
        "a branch or operation that returns its input, " +
        "or a view of it (x.view, x[...], x.contiguous() of a contiguous tensor)",
      cure: "return x.clone()",
    },
    {
      title: "a recomputed tensor of another shape",
      templates: "saved metadata: {'shape': {a,}, {~}recomputed metadata: {'shape': {b,}",
      means: "checkpointing runs the forward pass again, and this time a tensor had another shape",
      harm: WRONG_GRADIENT,
      cause:
        "a forward pass that depends on what changed in between: " +
        "a counter, a cache, a random number",
      cure: "let the forward pass depend on its inputs alone",
      decode: ({ a, b }) => explainUnlike(a, b),
    },
  ]),
  ...taughtBy("09_way_back", "A kernel that breaks its promise", [
    {
      title: "a fake kernel that promises another result",
      templates: [
        "Shapes {real,} and {fake,} are not equal!",
        "Dtypes {real*} and {fake*} are not equal!",
        "Devices {real*} and {fake*} are not equal!",
        "mismatched storage offset",
        `${OF_FAKE} mismatch in outputs_alias_inputs check {fake*} != {real*}`,
      ],
      means: "the fake kernel of an operation promises another tensor than the real kernel returns",
      harm: "no: opcheck compares them before compiled code believes the promise",
      cause: "a fake kernel that was written for other inputs, or before the real one changed",
      cure:
        "call both on this input, and let the fake kernel return torch.empty(...) " +
        "with the real shape, strides, dtype and device",
      decode: explainPromise,
    },
    {
      title: "an operation without a fake kernel",
      templates: [
        "There was no fake impl registered for {op~}. This is necessary for torch.compile",
        "there was no fake impl or Meta kernel registered",
        "Operator does not support running with fake tensors",
      ],
      means:
        "a compiler learns shape, strides and dtype of a result without running the operation, " +
        "and this operation does not say them",
      cause: "a custom operation under torch.compile, torch.export, opcheck or on meta tensors",
      cure:
        "register a fake kernel with op.register_fake: a function that returns torch.empty(...) " +
        "with the shape and the strides of the real result",
    },
    {
      title: "a fake tensor, which has no elements",
      templates: [
        ".numpy() is not supported for tensor subclasses",
        "DataDependentOutputException: aten.{op*}",
      ],
      means: "a fake tensor has shape, strides and dtype, and no elements that could be read",
      cause:
        "a fake kernel or traced code that asks for a number: " +
        "item(), tolist(), numpy(), or if x > 0",
      cure: "derive sizes and strides of the result from those of the inputs alone",
    },
    {
      title: "a gradcheck of elements that share memory",
      section: "A function that passes its tests",
      templates:
        "input has a dimension with stride 0. " +
        "gradcheck only supports inputs that are non-overlapping",
      means:
        "gradcheck changes one element at a time, and here one element stands for several indices",
      cause: "an expanded input",
      cure:
        "x.contiguous() as the input; to test gradients in other layouts, hand them to " +
        "torch.autograd.grad(y, x, g) for each g of tricky_layouts",
    },
    {
      title: "a backward pass that disagrees with its forward pass",
      section: "What arrives on the way back",
      templates: "Jacobian mismatch for output {n} with respect to input {m}",
      means:
        "the gradients of output {n} for input {m} are not the differences that " +
        "small steps of the input make",
      harm: "no: gradcheck stops before training could use wrong gradients",
      cause:
        "a wrong formula, an input that is not float64, " +
        "or a backward that takes an expanded, transposed or sliced gradient for packed",
      cure:
        "print stride() of the gradient in backward, and try g.contiguous(); " +
        "gradcheck of the function alone hands over contiguous gradients",
    },
  ]),
  ...taughtBy("03_contiguity", "Reading order, memory order", [
    {
      title: "strides that a compiled function did not expect",
      lesson: "09_way_back",
      section: "A kernel that breaks its promise",
      templates: [
        "expected {dims&}",
        "Stride mismatch! Strides are {real,} and {fake,} (mismatched at {d})",
        "Tensor strides mismatch! Expected: {fake,}, Got: {real,}",
      ],
      means: "code was compiled for other strides than the tensor has",
      harm: "no: the check stops before compiled code reads wrong addresses",
      cause:
        "a custom operation whose fake version promises other strides than the real one returns",
      cure:
        "let both return the same strides, for example by .contiguous(); " +
        "torch.library.opcheck compares them",
      decode({ dims, fake, real }, { before }) {
        if (dims) {
          const checks = dims.match(/size \d+==\d+, stride \d+==\d+ at dim=\d+/g);
          return `the code was compiled for other numbers: ${checks.map(checkedDim).join("; ")}`;
        }
        if (fake.length !== real.length) return null;
        const apart = namedDims(dimsApart(fake, real));
        const strides = before.includes(OF_FAKE)
          ? `the real kernel returned strides ${tuple(real)}, the fake kernel promised ${tuple(fake)}: they`
          : `the strides ${tuple(fake)} and ${tuple(real)}`;
        return `${strides} differ in ${apart}`;
      },
    },
    {
      title: "a tensor unlike the one that was compiled for",
      section: "The strides of a clone",
      templates: UNLIKE.flatMap((words) => [`tensor '{name~}' ${words}`, words]),
      means: "the code was compiled for tensors of other numbers",
      harm:
        "in time: the function is compiled once more, " +
        "and runs without the compiler after 8 times (recompile_limit)",
      cause: "inputs of several layouts: a transpose, a slice, a smaller last batch",
      cure: "x.contiguous() before the call gives all inputs one order, a copy where it has to",
      decode: explainUnlikeCompiled,
    },
    {
      title: "a matrix in the wrong order",
      templates: [
        "must be {order*}_major, got stride {stride,}",
        "must be row_major",
        "must be col_major",
        "tensor to be {order*} major in the last two dimensions, got strides {stride,}",
        "stride along {d} dim to be multiple of 16 bytes, got {got}",
        "strides should be multiple of 16 bytes",
      ],
      means:
        "the kernel takes rows one after the other in its first matrix, " +
        "columns in the second, each begun at a multiple of 16 bytes",
      cause: "a transpose too many or too few: w.t() of a contiguous weight is column-major",
      cure: "x.contiguous() is row-major, w.mT.contiguous().mT column-major: both copy",
      decode({ order = "", stride, d, got }, { text }) {
        const isRow = order.startsWith("row") || text.includes("row_major");
        const cure = isRow
          ? "x.contiguous(), a copy, is row-major"
          : "w.mT.contiguous().mT, a copy, is column-major";
        if (stride)
          return {
            means:
              `the last two strides are ${tuple(stride.slice(-2))}: ` +
              "row-major ends in 1, column-major has 1 before the last",
            cure,
          };
        if (!text.includes("16 bytes")) return { cure };
        const padded = {
          cause: "rows that are cut from longer ones, or whose length is no multiple of 16 bytes",
          cure: "F.pad(x, (0, -x.shape[-1] % 16)), a copy with rows of a multiple of 16 elements",
        };
        if (got === undefined) return padded;
        return {
          ...padded,
          means: `the stride of dim ${d} is ${got} elements, and that is no multiple of 16 bytes`,
        };
      },
    },
    {
      title: "a tensor that has to be contiguous",
      templates: [
        "must have contiguous last dimension",
        "last dimension must be contiguous",
        "must be contiguous in the last dimension",
        "Tensors must be contiguous",
        "must be contiguous",
        "must be a contiguous tensor",
        "has to be contiguous",
        "needs to be contiguous",
        "to be contiguous",
        "is not contiguous",
        "is not C-contiguous",
        "only supports contiguous",
        "Expected contiguous tensor, but got non-contiguous tensor for",
        "is_contiguous() to be true, but got false",
        "stride(-1) == 1 to be true, but got false",
        "casts are restricted to C-contiguous views",
        "requires contiguous",
        "is non-contiguous, this will lower the performance",
        "RNN module weights are not part of single contiguous chunk of memory",
      ],
      means:
        "a kernel, a network or a file takes the elements one after " +
        "the other in row-major order, and strides are not passed on",
      harm: "no: an error changes nothing; a warning means that each call copies",
      cause:
        "a transpose, a permute or a slice earlier on; the gradient of sum() or mean() " +
        "is expanded, with strides of 0; a channels-last tensor counts as not contiguous",
      cure: "x.contiguous() before the call, a copy; explain(x) tells which stride it is",
      decode(_, { text, before }) {
        const hasName = !/^(?:only|requires)/.test(text);
        const name = hasName ? lastNameIn(before) : "";
        if (text.startsWith("RNN"))
          return {
            means:
              "the weights of the network lie apart, and the GPU's kernel takes them as one block",
            cause: "weights that were moved, loaded, tied or made anew",
            cure: "rnn.flatten_parameters() once before the loop, which copies them into one block",
          };
        if (IS_ARRAY.test(name) || /C-contiguous/.test(text))
          return {
            means:
              `${name || "the array"} is read element by element in row-major order, ` +
              "and its strides are not passed on",
            cause: "a transposed array, or a slice with a step or of some columns",
            cure: "np.ascontiguousarray(a), a copy where a has gaps or another order",
          };
        if (/last|-1/.test(text))
          return (
            `${name || "the tensor"} needs stride 1 in its last dim; ` +
            "the other strides are passed on"
          );
        if (!name) return null;
        return (
          `${name} is read element by element in row-major order, ` +
          "and its strides are not passed on"
        );
      },
    },
  ]),
];
