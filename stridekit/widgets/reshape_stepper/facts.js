// What Python and the toolbar ask of a state: the facts that goals are set over, the code, all sentences; and for a layout
// whether it fits the picture.

import { extent, lastOf, numel, offset, product, sameLayout, tuple, unflatten, viewStride, whyNotCounted } from "../page/layout.js";
import { consequences, stepsOf } from "./steps.js";

const [MOST_DIMS, MOST_ELEMENTS] = [6, 256];

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

/** How many steps the walk has. */
export const count = ({ target, ...layout }) => stepsOf(layout, target).length;

/** The lines of torch that make the layout and the result; a copy, where there is no view. */
export function code(presets, { target, step, flat, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const own = `torch.arange(${lastOf(layout) + 1}.).as_strided(${tuple(shape)}, ${tuple(stride)}, ${storage_offset})`;
  const made = presets.find((preset) => sameLayout(preset.layout, layout))?.expression ?? own;
  const how = viewStride(shape, stride, target).reason ? "reshape" : "view";
  return `x = ${made}\ny = x.${how}(${target.join(", ") || "()"})`;
}

/** All that the repr says: the question, each step, and what follows from the last. */
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
