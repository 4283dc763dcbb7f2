// The facts of a state, over which goals are set, as in facts.py. tests/live.py compares the two.

import { isInFormat, offset } from "../page/layout.js";
import { layouts, step } from "./words.js";

export function facts({ shape, index, highlight }) {
  const { contiguous_format: rows, channels_last: last } = layouts(shape);
  return {
    shape, index, highlight,
    ambiguous: isInFormat("channels_last", rows),
    contiguous_element: offset(rows, index),
    channels_last_element: offset(last, index),
    contiguous_step: step(rows, index, highlight),
    channels_last_step: step(last, index, highlight),
  };
}
