// What Python and the toolbar ask of a state: the facts that goals are set over, the code, the end of a chain, all sentences.

import { extent, isDense, isInFormat, offset, reach, rowMajor, sameLayout, tuple, verdict } from "../page/layout.js";
import { closed, memoryOf, stagesOf } from "./chain.js";
import { code as strided, formula, place, verdicts } from "./words.js";

const MOST_ELEMENTS = 64; // of a layout that are told one by one, in reading order
export const EXAMPLE = { ...rowMajor([1], 1), index: [0] };

/** The layout's numbers, its properties, its reach, the selected element, the chain's steps. */
export function facts({ index, chain, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const { elements, owners } = reach(layout);
  const [reached, count] = [owners.size, elements.length];
  return {
    shape, stride, storage_offset,
    contiguous: isInFormat("contiguous_format", layout),
    channels_last: isInFormat("channels_last", layout),
    dense: isDense(layout),
    overlaps: reached < count,
    reached, index,
    holes: extent(layout) - reached,
    element: index && offset(layout, index),
    steps: chain ? chain.steps.length : 0,
    rows_alike: shape.length === 2 && count > 0 && shape[0] > 1 && stride[0] === 0,
    elements: count <= MOST_ELEMENTS ? elements : null,
  };
}

export const code = ({ index, chain, ...layout }, source) =>
  chain ? chain.source + chain.steps.join("") : strided(source, layout);

/** The last stage of a chain, with its steps in the form that torch takes. `tensor` is its name. Throws Refused. */
export function endOf(chain, storageSize, tensor) {
  const stages = stagesOf(chain, storageSize, undefined, tensor);
  return { ...stages.at(-1), steps: stages.slice(1).map(({ text }) => text) };
}

/** The chain to a layout: the same one if it ends there, or what a change by hand leaves of it. */
export function chainTo(layout, chain, storageSize) {
  const stages = stagesOf(chain, storageSize);
  const { layout: end } = stages.at(-1);
  return sameLayout(end, layout) && end.itemsize === layout.itemsize ? chain : closed(chain, stages, layout);
}

export function told(state, source, storageSize, name, note) {
  const { index, chain, ...layout } = state;
  const stages = stagesOf(chain ?? { source: name, start: layout, steps: [] }, storageSize);
  const steps = stages.slice(1).map((stage, k) => {
    const { shape, stride, storage_offset } = stage.layout;
    const numbers = `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset}`;
    return `${stage.text}: ${numbers}, ${memoryOf(stage, stages[k])}`;
  });
  const where = index ? [formula(layout, index), place(layout, index, name)] : [];
  const said = verdicts(layout, stages.at(-1).storageSize).map(verdict);
  return [`StrideExplorer: ${code(state, source)}`, ...(note ? [note] : []), ...steps, ...where, ...said];
}
