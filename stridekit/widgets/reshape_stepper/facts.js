// What Python and the toolbar ask of a state: the facts that goals are set over, the code, all sentences; and for a layout
// whether it fits the picture.

import { after } from "../page/grammar.js";
import { extent, numel, offset, product, rowMajor, sameLayout, tuple, unflatten, viewStride, whyNotCounted } from "../page/layout.js";
import { consequences, stepsOf } from "./steps.js";

const [MOST_DIMS, MOST_ELEMENTS] = [6, 256];

const preset = (name, count, steps, targets) =>
  ({ name, expression: `torch.arange(${count}.)${steps}`, layout: after(rowMajor([count], 4), steps), targets });
/** Layouts worth a look, the torch expression that makes each, and shapes to try on it. */
export const PRESETS = [
  preset("contiguous", 24, ".view(4, 6)", [[3, 8], [2, 12], [24], [2, 2, 3, 2]]),
  preset("transposed", 24, ".view(4, 6).T", [[24], [2, 3, 4], [3, 8], [6, 2, 2]]),
  preset("rows cut out", 32, ".view(4, 8)[:, :6]", [[2, 12], [2, 2, 6], [4, 2, 3], [3, 8]]),
  preset("every 2nd column", 24, ".view(4, 6)[:, ::2]", [[12], [2, 6], [3, 4]]),
  preset("permuted", 24, ".view(2, 3, 4).permute(2, 0, 1)", [[4, 6], [24], [2, 2, 6], [8, 3]]),
  preset("sizes of 1", 24, ".view(1, 4, 6).permute(1, 0, 2)", [[24], [4, 6], [2, 1, 12], [4, 6, 1]]),
  preset("expanded", 6, ".expand(4, 6)", [[24], [2, 2, 6], [4, 2, 3]]),
  preset("channels-last", 24, ".view(2, 2, 2, 3).permute(0, 3, 1, 2)", [[2, 3, 4], [2, 12], [6, 4], [24]]),
];
export const EXAMPLE = { ...rowMajor([], 1), target: [], step: 0, flat: 0 };

const made = (layout) =>
  `torch.arange(${layout.storage_offset + extent(layout)}.).as_strided(${tuple(layout.shape)}, ${tuple(layout.stride)}, ${layout.storage_offset})`;

/** A layout as a preset of its own, unless it is one of the others. */
export const given = (layout) =>
  PRESETS.some((other) => sameLayout(other.layout, layout) && other.layout.itemsize === layout.itemsize) ? []
    : [{ name: "as given", expression: made(layout), layout, targets: targetsOf(layout.shape) }];

/** The layout, the target and its strides, the walk's step, the followed element in both shapes. */
export function facts({ target, step, flat, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const { stride: found, reason } = viewStride(shape, stride, target);
  const indexIn = (sizes) => (flat === null ? null : unflatten(sizes, flat));
  const index = indexIn(shape);
  return {
    shape, stride, storage_offset, target,
    viewable: !reason,
    new_stride: reason ? null : found,
    step,
    finished: step === count({ target, ...layout }) - 1,
    index,
    new_index: indexIn(target),
    element: index && offset(layout, index),
  };
}

export const count = ({ target, ...layout }) => stepsOf(layout, target).length;

export function code({ target, step, flat, ...layout }, own) {
  const known = [...own, ...PRESETS].find((other) => sameLayout(other.layout, layout))?.expression;
  const how = viewStride(layout.shape, layout.stride, target).reason ? "reshape" : "view";
  return `x = ${known ?? made(layout)}\ny = x.${how}(${target.join(", ") || "()"})`;
}

export function told({ target, step, flat, ...layout }) {
  const { shape, stride } = layout;
  return [
    `ReshapeStepper: shape ${tuple(shape)}, stride ${tuple(stride)} as ${tuple(target)}`,
    ...stepsOf(layout, target).map(({ says }, k) => `${k}. ${says}`),
    ...(numel(layout) ? consequences(layout, target).map(([phrase, sentence]) => `${phrase}: ${sentence}`) : []),
  ];
}

/** The reason why the picture cannot hold a layout; "" if it can. */
export function whyNotShown(layout) {
  const { shape, stride } = layout;
  const why = whyNotCounted(layout);
  if (why) return why;
  if (shape.length > MOST_DIMS) return `shape ${tuple(shape)} has ${shape.length} dims: the picture holds ${MOST_DIMS}`;
  if (numel(layout) > MOST_ELEMENTS)
    return `shape ${tuple(shape)} has ${numel(layout)} elements: the picture holds ${MOST_ELEMENTS}`;
  return extent(layout) > MOST_ELEMENTS
    ? `shape ${tuple(shape)}, stride ${tuple(stride)} spans ${extent(layout)} elements: the picture holds ${MOST_ELEMENTS}`
    : "";
}

/** Shapes to try on any x: each two neighbouring dims merged, and all of them. */
export function targetsOf(shape) {
  const merged = shape.slice(1).map((size, d) => [...shape.slice(0, d), shape[d] * size, ...shape.slice(d + 2)]);
  const all = new Map([...merged, [product(shape)]].map((target) => [String(target), target]));
  return [...all.values()].slice(0, 4);
}
