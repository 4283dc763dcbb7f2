// The facts of a state, over which goals are set, as in facts.py. tests/live.py compares the two.

import { isDense, isInFormat, numel, offset, reach } from "../page/layout.js";

export function facts({ index, chain, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const reached = reach(layout).owners.size;
  return {
    shape, stride, storage_offset, index, reached,
    contiguous: isInFormat("contiguous_format", layout),
    channels_last: isInFormat("channels_last", layout),
    dense: isDense(layout),
    overlaps: reached < numel(layout),
    element: index && offset(layout, index),
    steps: chain ? chain.steps.length : 0,
  };
}
