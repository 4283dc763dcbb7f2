// The facts of a state, over which goals are set, as in facts.py. tests/live.py compares the two.

import { isDense, isInFormat, numel, offset, range, reach, unflatten } from "../page/layout.js";

const MOST_ELEMENTS = 64;

export function facts({ index, chain, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const reached = reach(layout).owners.size;
  const count = numel(layout);
  const elements = () => range(count).map((flat) => offset(layout, unflatten(shape, flat)));
  return {
    shape, stride, storage_offset, index, reached,
    contiguous: isInFormat("contiguous_format", layout),
    channels_last: isInFormat("channels_last", layout),
    dense: isDense(layout),
    overlaps: reached < count,
    element: index && offset(layout, index),
    steps: chain ? chain.steps.length : 0,
    rows_alike: shape.length === 2 && count > 0 && shape[0] > 1 && stride[0] === 0,
    elements: count <= MOST_ELEMENTS ? elements() : null,
  };
}
