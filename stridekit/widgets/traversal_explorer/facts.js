// The facts of a state, over which goals are set, and its code, as in facts.py. tests/live.py compares the two.

import { sameLayout, tuple } from "../page/layout.js";
import { sectorsOf, visitsOf } from "./traversal.js";

export function facts({ walks, cache_lines, alignment, visit, warp }) {
  const [loads, other_loads = null] = walks.map((walk) =>
    visitsOf(walk, cache_lines, alignment).slice(0, visit).filter(({ hit }) => !hit).length);
  const [{ shape, stride, itemsize, order }, other] = walks;
  return {
    shape, stride, itemsize, order, cache_lines, alignment, visit, loads, other_loads,
    other_order: other?.order ?? null,
    warp: warp && [warp.itemsize, warp.stride, warp.offset],
    sectors: warp && sectorsOf(warp).touched,
  };
}

/** The line of Python that makes the picture. */
export function code({ walks, cache_lines, alignment, visit, warp }) {
  const [left, right] = walks;
  const given = [layoutOf(left), tuple(left.order)];
  if (right) {
    if (!sameLayout(left, right) || left.itemsize !== right.itemsize) given.push(`other=${layoutOf(right)}`);
    given.push(`other_order=${tuple(right.order)}`);
  }
  given.push(`cache_lines=${cache_lines}`, `alignment=${alignment}`, `visit=${visit}`);
  if (warp) given.push(`warp=${tuple([warp.itemsize, warp.stride, warp.offset])}`);
  return `explorer = TraversalExplorer(${given.join(", ")})`;
}

const layoutOf = ({ shape, stride, storage_offset, itemsize }) =>
  `Layout(${tuple(shape)}, ${tuple(stride)}, ${storage_offset}, ${itemsize})`;
