// Messages about tensors and arrays on their way to another library, device or program.

import { counted, extent, numel, tuple, whyNotCounted } from "../page/layout.js";
import { REFUSED, taughtBy } from "./reading.js";

const FIRST = "a tensor of torch, which has its channels first: (C, H, W)";
const COLOURS = [3, 4]; // channels of a picture

/** Explain an array that matplotlib does not take for a picture. */
function explainPicture({ shape }) {
  const [first, last] = [shape[0], shape.at(-1)];
  const ndim = shape.length;
  if (ndim < 2)
    return {
      means: `${tuple(shape)} has ${counted(ndim, "dim")}, and a picture has rows and columns`,
      cause: "a picture that was flattened",
      cure: "a.reshape(rows, columns), which is a view where a is contiguous",
    };
  if (ndim === 3 && COLOURS.includes(first))
    return {
      means: `the last dim of ${tuple(shape)} has ${last}, and the first has the ${first} channels`,
      cure: "a.transpose(1, 2, 0), a view",
    };
  if (ndim === 3)
    return {
      means: `the last dim of ${tuple(shape)} has ${last}: a picture has 1, 3 or 4 channels there`,
      cause: first === 1 ? FIRST : "features, or a stack of pictures",
      cure: first === 1 ? "a[0], a view" : "a[..., 0], a view of one channel",
    };
  const means = `${tuple(shape)} has ${ndim} dims: a batch of pictures`;
  const cause = "a batch, of which one picture was meant";
  if (ndim > 4) return { means, cause, cure: "a[(0,) * (a.ndim - 2)], a view of one picture" };
  if (last === 1 || COLOURS.includes(last))
    return { means, cause, cure: "a[0], a view of the first picture" };
  if (COLOURS.includes(shape[1]))
    return { means, cure: "a[0].transpose(1, 2, 0), a view of the first picture" };
  return { means, cause, cure: "a[0, 0], a view of one picture" };
}

/** Explain an array whose pixels, of shape `item` behind two dims, have no mode in Pillow. */
function explainPixels(item, dtype) {
  const ofPixel = item.slice(2);
  const isByte = dtype === "|u1";
  const asBytes = isByte ? "" : `, and to bytes: (a * 255).astype(np.uint8) if a is 0 to 1`;
  if (ofPixel.length > 1)
    return {
      means: `the array has ${counted(item.length, "dim")}: a batch of pictures`,
      cause: FIRST,
      cure: `a[0].transpose(1, 2, 0), a view of the first picture${asBytes}`,
    };
  const channels = ofPixel[0] ?? 1;
  if (ofPixel.length && channels === 1)
    return {
      means: "the last dim has 1: Pillow takes a picture without colours as (H, W)",
      cause: "a tensor (1, H, W) whose channels were moved to the end, or keepdims=True",
      cure: `a[..., 0], a view${asBytes}`,
    };
  if (channels <= 4)
    return {
      means: `Pillow has no pictures of ${counted(channels, "channel")} of dtype ${dtype}`,
      cause: "a dtype other than uint8, such as float32 from 0 to 1",
      cure: "(a * 255).astype(np.uint8) for floats from 0 to 1, a.astype(np.uint8) for 0 to 255",
    };
  return {
    means: `the last dim has ${channels}, and Pillow looks for 2 to 4 channels there: (H, W, C)`,
    cause: FIRST,
    cure: `a.transpose(1, 2, 0), a view of (3, H, W); a[0] of (1, H, W)${asBytes}`,
  };
}

/** Explain gaps or shared elements, which JAX does not take over. */
function explainCompact({ shape, stride }) {
  if (!shape || shape.length !== stride.length) return null;
  const layout = { shape, stride, storage_offset: 0, itemsize: 1 };
  if ([...shape, ...stride].some((n) => n < 0) || whyNotCounted(layout)) return null;
  const count = numel(layout);
  const reached = extent(layout);
  const subject = `strides ${tuple(stride)} put the ${counted(count, "element")} of shape`;
  if (count === reached) return null;
  const where = reached > count ? "with gaps between them" : "some of which share memory";
  return `${subject} ${tuple(shape)} into ${reached}, ${where}`;
}

const ELSEWHERE = {
  means: "an array shares the tensor's memory, and NumPy reads only memory of the CPU",
  cause: "a result of a model on its way to a plot, a metric or a file",
  cure: "x.detach().cpu().numpy(), a copy",
};
const NO_MEMORY = "a meta tensor has shape, strides and dtype, but no memory and no elements";

export const CONVERSIONS = [
  ...taughtBy("02_views", "Three notions, and where they part", [
    {
      title: "an array of a tensor on another device",
      templates: "can't convert {device*} device type tensor to numpy",
      ...ELSEWHERE,
      decode({ device }) {
        if (device !== "meta") return { means: `${ELSEWHERE.means}: this tensor is on ${device}` };
        return {
          means: NO_MEMORY,
          cause: 'a model built under torch.device("meta"), whose weights are not loaded yet',
          cure: "np.empty(x.shape) for an array of that shape; load the weights for their values",
        };
      },
    },
    {
      title: "an array of a dtype that NumPy does not have",
      section: "Sharing is a question about two sets",
      templates: ["Got unsupported ScalarType {dtype*}", "Unsupported dtype in DLTensor"],
      means: [
        "NumPy has no {dtype}, so it cannot look at the tensor's memory as it is",
        "NumPy lacks the tensor's dtype, so it cannot look at the tensor's memory as it is",
      ],
      cause: "a result of autocast, or a model that was loaded in bfloat16 or float8",
      cure: "x.float().numpy(), a copy; x.view(torch.uint8).numpy() shares the bytes",
      decode: ({ dtype }) =>
        dtype === "ComplexHalf" ? { cure: "x.to(torch.complex64).numpy(), a copy" } : null,
    },
  ]),
  ...taughtBy("02_views", "What is always a copy", [
    {
      title: "a tensor of a list of arrays",
      templates: "Creating a tensor from a list of numpy.ndarrays is extremely slow",
      means: "torch walks through the list as through Python numbers, one element at a time",
      harm: "in time alone: the values are right",
      cause: "samples that were collected in a list: torch.tensor([a, b, c])",
      cure: "torch.from_numpy(np.stack(arrays)), one copy",
    },
    {
      title: "a tensor of a tensor",
      templates: "To copy construct from a tensor, it is recommended to use sourceTensor",
      means: "torch.tensor(x) always copies, and autograd does not follow the copy back to x",
      harm: "only if x needs a gradient, which ends here; else in time, for a copy",
      cause: "torch.tensor around something that already is a tensor",
      cure: "x.detach().clone() for a copy, torch.as_tensor(x) for none",
    },
  ]),
  ...taughtBy("01_strides", "A slice changes three numbers", [
    {
      title: "a meta tensor, which has no elements",
      templates: [
        "Cannot copy out of meta tensor; no data!",
        "Tensor.item() cannot be called on meta tensors",
      ],
      means: `${NO_MEMORY}: there is nothing to copy`,
      cause:
        'a model built under torch.device("meta"), or weights that a library keeps on meta until ' +
        "they are needed",
      cure:
        'model.to_empty(device="cpu") gives it memory, and load_state_dict its values; ' +
        "load_state_dict(state, assign=True) does both",
    },
  ]),
  ...taughtBy("03_contiguity", "Dense: no gaps, in any order", [
    {
      title: "a tensor with gaps, on its way to JAX",
      templates: [
        "Only DLPack tensors with trivial (compact) striding are supported{~}" +
          "Dimensions were: {shape,}, strides were {stride,}",
        "Only DLPack tensors with trivial (compact) striding are supported",
      ],
      means: "JAX keeps elements without gaps, in any order of the dims: a transpose is taken over",
      harm: REFUSED,
      cause: "a slice, or a dim that was expanded",
      cure: "x.contiguous(), a copy; np.ascontiguousarray(a) for an array",
      decode: explainCompact,
    },
  ]),
  ...taughtBy("04_channels_last", "A famous line, explained", [
    {
      title: "an array that OpenCV cannot write to",
      templates: "Layout of the output array {name*} is incompatible with cv::Mat",
      means: [
        "OpenCV draws into the memory of {name}: it takes any distance between rows, but pixels " +
          "and channels have to follow one another, in a dtype that OpenCV has",
        "OpenCV draws into an array's memory: it takes any distance between rows, but pixels " +
          "and channels have to follow one another, in a dtype that OpenCV has",
      ],
      harm: REFUSED,
      cause:
        "x.permute(1, 2, 0).numpy() of a tensor, a[..., ::-1] from RGB to BGR, a flip, " +
        "or int64, which NumPy makes by default",
      cure: "a = np.ascontiguousarray(a), a copy, before the call; a.astype(np.uint8) for int64",
    },
    {
      title: "an array that is no picture",
      templates: [
        "Invalid shape {shape,} for image data",
        "Cannot handle this data type: {item,}, {dtype%}",
      ],
      means: "a picture is (H, W), or (H, W, C) with its 3 or 4 channels last",
      harm: REFUSED,
      cause: FIRST,
      cure: "a.transpose(1, 2, 0), a view",
      decode: ({ shape, item, dtype }) =>
        shape ? explainPicture({ shape }) : explainPixels(item, dtype),
    },
  ]),
];
