// What Python and the toolbar ask of a state: the facts that goals are set over, the costs, the code, all sentences.

import { counted, sameLayout, tuple } from "../page/layout.js";
import { PRESETS, comparison, countsOf, countsSentence, orderName, sectorsOf, visitsOf, warpSentence } from "./traversal.js";

/** A state in which no fact is null. */
export const EXAMPLE = { walks: PRESETS[0].walks, warp: { itemsize: 4, stride: 1, offset: 0 }, visit: 0, cache_lines: 0, alignment: 0 };

/** The costs of each walk so far. */
export const countsOfAll = ({ walks, cache_lines, alignment, visit }) =>
  walks.map((walk) => countsOf(visitsOf(walk, cache_lines, alignment), walk.itemsize, visit));

/** The left walk, the right one's order, the cache lines that each has loaded, the warp's sectors. */
export function facts(state) {
  const { walks, cache_lines, alignment, visit, warp } = state;
  const [loads, other_loads = null] = countsOfAll(state).map(({ misses }) => misses);
  const [{ shape, stride, itemsize, order }, other] = walks;
  return {
    shape, stride, itemsize, order, other_order: other?.order ?? null, cache_lines, alignment, visit, loads, other_loads,
    warp: warp && [warp.itemsize, warp.stride, warp.offset],
    sectors: warp && sectorsOf(warp).touched,
  };
}

/** The lines of the repr; a note says which corner of a large layout is walked. */
export function told(state, note) {
  const { walks, visit, cache_lines, alignment, warp } = state;
  if (warp) return [`TraversalExplorer: ${warpSentence(warp)}`];
  const costs = countsOfAll(state);
  return [
    `TraversalExplorer: ${counted(visit, "visit")}, a cache of ${counted(cache_lines, "line")}, alignment ${alignment}`,
    ...(note ? [note] : []),
    ...walks.flatMap(({ name, shape, stride, order }, k) => [
      `${["left ", "right"][k]}  ${name} of shape ${tuple(shape)}, stride ${tuple(stride)}: ${orderName(order)}`,
      `       ${countsSentence(costs[k])}`,
    ]),
    ...(costs.length > 1 ? [comparison(...costs)] : []),
  ];
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
