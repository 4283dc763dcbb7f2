// A chain of operations: a tensor to start from, and steps in torch's notation, as `.permute(1, 0)` and `[1:, ::2]`.
// tests/course/live_lines.py lets torch run the same chains.
// In the state a chain is {source, start, steps}, or null before the first step. The layout on screen is
// always the result of the last step.

import { readSteps } from "../page/grammar.js";
import {
  apply,
  counted,
  extent,
  flatten,
  isDense,
  isInFormat,
  numel,
  offset,
  Refused,
  reach,
  copied as rearranged,
  rowMajor,
  sameLayout,
  tried,
  tuple,
  verdict,
} from "../page/layout.js";
import { formula, MAX_DIMS, place, code as strided, verdicts, whyNotDrawn } from "./views.js";

const MOST_STEPS = 100;

/** The stage after one more step: {text, layout, copied, storageSize, labels, copies, steps}. Throws Refused. */
function next(stage, step) {
  const { layout, copied, read } = apply(stage.layout, step);
  const storageSize = copied ? numel(layout) : stage.storageSize;
  const why = whyNotDrawn(layout, storageSize);
  if (why) throw new Refused(`${step.text}: ${why}`);
  // A copy takes over the elements as it reads them, and their labels.
  const labelOf = (element) => stage.labels[element] ?? String(element);
  const labels = copied && stage.labels ? rearranged(labelOf, read, layout) : stage.labels;
  const [copies, steps] = [stage.copies + Number(copied), stage.steps + 1];
  return { text: step.text, layout, copied, storageSize, labels, copies, steps };
}

/** The start, then the result of each step on this `tensor`. `labels` are texts for the elements, [] for their numbers. */
export function stagesOf({ source, start, steps }, storageSize, labels, tensor) {
  return onward(
    { text: source, layout: start, copied: false, storageSize, labels, copies: 0, steps: 0 },
    steps,
    tensor,
  );
}

/** A stage, then the result of each further step; a text has one step or several on this `tensor`. Throws Refused. */
export function onward(stage, texts, tensor = "x") {
  const steps = texts.slice(0, MOST_STEPS + 1).flatMap((text) => readSteps(text, tensor));
  if (stage.steps + steps.length > MOST_STEPS)
    throw new Refused(`a chain has at most ${MOST_STEPS} steps: begin another one`);
  return steps.reduce((stages, step) => [...stages, next(stages.at(-1), step)], [stage]);
}

export function memoryOf(stage, before) {
  const { copied, storageSize } = stage;
  if (copied) return `copy: new storage of ${counted(storageSize, "element")}`;
  return sameLayout(stage.layout, before.layout) ? "the same layout" : "view";
}

/** The chain after a change by hand: it is kept up to its last copy, if there was one. */
export function closed(chain, stages, layout) {
  const last = stages.findLastIndex((stage) => stage.copied);
  if (chain === null || last < 0) return null;
  return { ...chain, steps: [...chain.steps.slice(0, last), strided("", layout)] };
}

/** Steps that are possible here and change something, the most instructive first: {text, copied}. */
export function suggestions(stage) {
  return candidates(stage.layout).flatMap((text) => {
    const [made] = tried(() => next({ ...stage, labels: undefined }, readSteps(text)[0])); // labels would take long
    return !made || (sameLayout(made.layout, stage.layout) && !made.copied)
      ? []
      : [{ text, copied: made.copied }];
  });
}

function candidates({ shape }) {
  const [ndim, single] = [shape.length, shape.indexOf(1)];
  const last = ndim - 1;
  const halves = [...shape.slice(0, -1), 2, shape[last] / 2];
  return [
    [ndim === 2, ".T"],
    [ndim > 2, `.permute(${[last, ...shape.keys()].slice(0, -1).join(", ")})`],
    [ndim > 0, "[1:]", `[${":, ".repeat(Math.max(last, 0))}::2]`],
    [ndim > 1, ".diagonal()"],
    [single >= 0, `.expand(${shape.map((n, d) => (d === single ? 3 : n)).join(", ")})`],
    [true, ".contiguous()"],
    [ndim > 1, ".reshape(-1)"],
    [ndim > 0 && ndim < MAX_DIMS, `.unfold(${last}, ${Math.min(3, shape[last])}, 1)`],
    [shape[last] > 2 && shape[last] % 2 === 0, `.view(${halves.join(", ")})`],
    [ndim > 0, "[0]", "[:1]"],
    [true, ".squeeze()", ".unsqueeze(0)"],
    [ndim > 1, ".transpose(0, 1)", ".flatten(0, 1)", ".view(-1)"],
    [true, ".clone()"],
  ].flatMap(([isThere, ...texts]) => (isThere ? texts : []));
}

/** The new (flat) index of the element that was at an old index, so that the eye can follow it; or null. */
export function followed(before, after, index) {
  if (index === null) return null;
  const [flat, element] = [flatten(before.layout.shape, index), offset(before.layout, index)];
  const to =
    before.copies === after.copies ? reach(after.layout).owners.get(element)?.[0] : undefined;
  return to ?? (numel(before.layout) === numel(after.layout) ? flat : null);
}

// What Python and the toolbar ask of a state ---------------------------------------------------------

const MOST_ELEMENTS = 64; // of a layout that are told one by one, in reading order
export const EXAMPLE = { ...rowMajor([1], 1), index: [0] };

/** The layout's numbers, its properties, its reach, the selected element, the chain's steps. */
export function facts({ index, chain, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const { elements, owners } = reach(layout);
  const [reached, count] = [owners.size, elements.length];
  return {
    shape,
    stride,
    storage_offset,
    contiguous: isInFormat("contiguous_format", layout),
    channels_last: isInFormat("channels_last", layout),
    dense: isDense(layout),
    overlaps: reached < count,
    reached,
    index,
    holes: extent(layout) - reached,
    element: index && offset(layout, index),
    steps: chain ? chain.steps.length : 0,
    rows_alike: shape.length === 2 && count > 0 && shape[0] > 1 && stride[0] === 0,
    elements: count <= MOST_ELEMENTS ? elements : null,
  };
}

export const code = ({ index, chain, ...layout }, source) =>
  chain ? chain.source + chain.steps.join("") : strided(source, layout);

/** The chain to a layout: the same one if it ends there, or what a change by hand leaves of it; and why it is not drawn. */
export function chainTo(layout, chain, storageSize) {
  if (!chain) return [null, whyNotDrawn(layout, storageSize)];
  const stages = stagesOf(chain, storageSize);
  const [end, same] = [stages.at(-1), { ...chain, steps: stages.slice(1).map(({ text }) => text) }];
  const isThere = sameLayout(end.layout, layout) && end.layout.itemsize === layout.itemsize;
  return [isThere ? same : closed(same, stages, layout), whyNotDrawn(layout, end.storageSize)];
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
  return [
    `StrideExplorer: ${code(state, source)}`,
    ...(note ? [note] : []),
    ...steps,
    ...where,
    ...said,
  ];
}
