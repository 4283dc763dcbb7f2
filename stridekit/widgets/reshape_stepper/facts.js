// The facts of a state, over which goals are set, as in facts.py, and its code, as in widget.py. tests/live.py
// compares the two.

import { lastOf, offset, sameLayout, tuple, unflatten, viewStride } from "../page/layout.js";
import { stepsOf } from "./steps.js";

export function facts({ target, step, flat, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const { stride: found, reason } = viewStride(shape, stride, target);
  const indexIn = (sizes) => (flat === null ? null : unflatten(sizes, flat));
  const index = indexIn(shape);
  return {
    shape, stride, storage_offset, target, step, index,
    viewable: !reason,
    new_stride: reason ? null : found,
    finished: step === stepsOf(layout, target).length - 1,
    new_index: indexIn(target),
    element: index && offset(layout, index),
  };
}

/** The lines of torch that make the layout and the result; a copy, where there is no view. */
export function code(presets, { target, step, flat, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const own = `torch.arange(${lastOf(layout) + 1}.).as_strided(${tuple(shape)}, ${tuple(stride)}, ${storage_offset})`;
  const made = presets.find((preset) => sameLayout(preset.layout, layout))?.expression ?? own;
  const how = viewStride(shape, stride, target).reason ? "reshape" : "view";
  return `x = ${made}\ny = x.${how}(${target.join(", ") || "()"})`;
}
