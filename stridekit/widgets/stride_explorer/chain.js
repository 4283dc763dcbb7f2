// A chain of operations: a tensor to start from, and steps in torch's notation, as `.permute(1, 0)`
// and `[1:, ::2]`. tests/course/live_lines.py lets torch run the same chains.

/** @import { Layout } from "../page/layout.js" */
/** @import { Window } from "./window.js" */

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
  range,
  reach,
  rowMajor,
  sameLayout,
  tried,
  tuple,
  unflatten,
  verdict,
} from "../page/layout.js";
import { countReached, ownersIn } from "./reached.js";
import { formula, place, code as strided, verdicts, whyNotDrawn } from "./views.js";
import { isWhole, MAX_DIMS, partOf, windowName } from "./window.js";

/**
 * The code of a tensor, its layout, and the steps from there. The layout on screen is the result of
 * the last one.
 * @typedef {{source: string, start: Layout, steps: string[]}} Chain
 */

/**
 * The state of the explorer: the layout, the selected index, null if there are no elements, the
 * chain that led there, null before the first step, the window on a layout that is too large to be
 * drawn whole, and whether the boxes have values where they could have the numbers of places.
 * @typedef {Layout & Rest} State
 * @typedef {{index: number[] | null, chain?: Chain | null, window?: Window | null, values?: boolean}} Rest
 */

/**
 * The result of a step, or the start. `storageSize` belongs to the storage at that stage, and
 * `copied` says that the step made it, from the elements that `read` reaches. `copies` and `steps`
 * count from the start.
 * @typedef {object} Stage
 * @property {string} text
 * @property {Layout} layout
 * @property {boolean} copied
 * @property {Layout | null} read
 * @property {number} storageSize
 * @property {number} copies
 * @property {number} steps
 */

const MOST_STEPS = 100;

/**
 * The stage after one more step. Throws Refused.
 * @returns {Stage}
 */
function next(stage, step) {
  const { layout, copied, read } = apply(stage.layout, step);
  const storageSize = copied ? numel(layout) : stage.storageSize;
  const why = whyNotDrawn(layout, storageSize);
  if (why) throw new Refused(`${step.text}: ${why}`);
  return {
    text: step.text,
    layout,
    copied,
    read: copied ? read : null,
    storageSize,
    copies: stage.copies + Number(copied),
    steps: stage.steps + 1,
  };
}

/**
 * The start, then the result of each step; `tensor` is the name that steps may begin with.
 * @param {Chain} chain
 * @param {number} storageSize
 * @param {string} [tensor]
 */
export function stagesOf({ source, start, steps }, storageSize, tensor) {
  const stage = { text: source, layout: start, copied: false, read: null, storageSize };
  return onward({ ...stage, copies: 0, steps: 0 }, steps, tensor);
}

/**
 * A stage, then the result of each further step; a text has one step or several. Throws Refused.
 * @param {Stage} stage
 * @param {string[]} texts
 */
export function onward(stage, texts, tensor = "x") {
  const steps = texts.slice(0, MOST_STEPS + 1).flatMap((text) => readSteps(text, tensor));
  if (stage.steps + steps.length > MOST_STEPS)
    throw new Refused(`a chain has at most ${MOST_STEPS} steps: begin another one`);
  const stages = [stage];
  for (const step of steps) stages.push(next(stages[stages.length - 1], step));
  return stages;
}

/** The last stage. There is always the start. */
export const endOf = (stages) => stages[stages.length - 1];

/**
 * A function from an element of the last storage to the element of the first storage that has its
 * value, back through all copies; null for an element that no copy wrote.
 * @param {Stage[]} stages
 * @returns {(element: number) => number | null}
 */
export function sourceOf(stages) {
  const copies = stages.filter(({ copied }) => copied).reverse();
  const owners = copies.map(({ layout }) => ownersIn(layout));
  return (element) => {
    let source = element;
    for (const [k, { layout, read }] of copies.entries()) {
      const index = owners[k].of(source);
      if (!index || !read) return null;
      // The copy has read its elements in the order of its indices.
      source = offset(read, unflatten(read.shape, flatten(layout.shape, index)));
    }
    return source;
  };
}

/**
 * The same for several elements at once, for Python.
 * @param {Stage[]} stages
 * @param {number[]} elements
 */
export const sourcesOf = (stages, elements) => elements.map(sourceOf(stages));

/**
 * The elements of the first storage whose values a window shows.
 * @param {State} state
 * @param {number} storageSize
 */
export function sourcesInWindow({ index, chain, window = null, values, ...layout }, storageSize) {
  const { elements } = reach(partOf(layout, window));
  const stages = chain ? stagesOf(chain, storageSize) : [];
  const sources = sourcesOf(stages, elements).filter((source) => source !== null);
  return [...new Set(sources)];
}

export function memoryOf(stage, before) {
  const { copied, storageSize } = stage;
  if (copied) return `copy: new storage of ${counted(storageSize, "element")}`;
  return sameLayout(stage.layout, before.layout) ? "the same layout" : "view";
}

/** The chain after a change by hand: it is kept up to its last copy, if there was one. */
export function closed(chain, stages, layout) {
  const lastCopy = stages.findLastIndex((stage) => stage.copied);
  if (chain === null || lastCopy < 0) return null;
  return { ...chain, steps: [...chain.steps.slice(0, lastCopy), strided("", layout)] };
}

/**
 * Steps that are possible here and change something, the most instructive first.
 * @param {Stage} stage
 * @returns {{text: string, copied: boolean}[]}
 */
export function suggestions(stage) {
  return candidates(stage.layout).flatMap((text) => {
    const [after] = tried(() => next(stage, readSteps(text)[0]));
    if (!after || (sameLayout(after.layout, stage.layout) && !after.copied)) return [];
    return [{ text, copied: after.copied }];
  });
}

/** Steps that may exist for a shape, the most instructive first. */
function candidates({ shape }) {
  const ndim = shape.length;
  if (ndim === 0) return [".contiguous()", ".squeeze()", ".unsqueeze(0)", ".clone()"];
  const last = ndim - 1;
  const lastSize = shape[last];
  const singleDim = shape.indexOf(1);
  const texts = [];
  if (ndim === 2) texts.push(".T");
  if (ndim === 4) texts.push(".permute(0, 2, 3, 1)");
  else if (ndim > 2) texts.push(`.permute(${[last, ...range(last)].join(", ")})`);
  texts.push("[1:]", `[${":, ".repeat(last)}::2]`);
  if (ndim > 1) texts.push(".diagonal()");
  if (singleDim >= 0) texts.push(`.expand(${shape.with(singleDim, 3).join(", ")})`);
  texts.push(".contiguous()");
  if (ndim > 1) texts.push(".reshape(-1)");
  if (ndim < MAX_DIMS) texts.push(`.unfold(${last}, ${Math.min(3, lastSize)}, 1)`);
  if (lastSize > 2 && lastSize % 2 === 0)
    texts.push(`.view(${[...shape.slice(0, -1), 2, lastSize / 2].join(", ")})`);
  texts.push("[0]", "[:1]", ".squeeze()", ".unsqueeze(0)");
  if (ndim > 1) texts.push(".transpose(0, 1)", ".flatten(0, 1)", ".view(-1)");
  texts.push(".clone()");
  return texts;
}

/**
 * The new (flat) index of the element that was at an old index, so that the eye can follow it; or
 * null.
 * @param {Stage} before
 * @param {Stage} after
 * @param {number[] | null} index
 */
export function followed(before, after, index) {
  if (index === null) return null;
  if (before.copies === after.copies) {
    const owner = ownerOf(after.layout, offset(before.layout, index));
    if (owner !== null) return owner;
  }
  const isWhole = numel(before.layout) === numel(after.layout);
  return isWhole ? flatten(before.layout.shape, index) : null;
}

/** The (flat) index that owns an element, the first one of a small layout; or null. */
function ownerOf(layout, element) {
  if (isWhole(layout)) return reach(layout).owners.get(element)?.[0] ?? null;
  const index = ownersIn(layout).of(element);
  return index ? flatten(layout.shape, index) : null;
}

// For Python and the toolbar ----------------------------------------------------------------------

const MOST_ELEMENTS = 64; // of a layout whose elements are listed, in reading order
/** @type {State} */
export const EXAMPLE = { ...rowMajor([1], 1), index: [0] };

/**
 * The layout's numbers, its properties, its reach, the selected element, the chain's steps.
 * @param {State} state
 */
export function facts({ index, chain, window, values, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const reached = countReached(layout);
  const count = numel(layout);
  return {
    shape,
    stride,
    storage_offset,
    contiguous: isInFormat("contiguous_format", layout),
    channels_last: isInFormat("channels_last", layout),
    dense: isDense(layout),
    overlaps: reached === null ? null : reached < count,
    reached,
    index,
    holes: reached === null ? null : extent(layout) - reached,
    element: index && offset(layout, index),
    steps: chain ? chain.steps.length : 0,
    rows_alike: shape.length === 2 && count > 0 && shape[0] > 1 && stride[0] === 0,
    elements: count <= MOST_ELEMENTS ? reach(partOf(layout, null)).elements : null,
  };
}

/**
 * @param {State} state
 * @param {string} source
 */
export const code = ({ index, chain, window, values, ...layout }, source) =>
  chain ? chain.source + chain.steps.join("") : strided(source, layout);

/**
 * The chain to a layout, and why that is not drawn, "" if it is. The chain is kept if it ends
 * there; otherwise it becomes what a change by hand leaves of it.
 * @param {Layout} layout
 * @param {Chain | null} chain
 * @param {number} storageSize
 * @returns {[Chain | null, string]}
 */
export function chainTo(layout, chain, storageSize) {
  if (!chain) return [null, whyNotDrawn(layout, storageSize)];
  const stages = stagesOf(chain, storageSize);
  const written = { ...chain, steps: stages.slice(1).map(({ text }) => text) };
  const end = endOf(stages);
  const leadsThere = sameLayout(end.layout, layout) && end.layout.itemsize === layout.itemsize;
  const why = whyNotDrawn(layout, end.storageSize);
  return [leadsThere ? written : closed(written, stages, layout), why];
}

/**
 * The lines of the explorer's repr.
 * @param {State} state
 * @param {string} source
 * @param {number} storageSize
 * @param {string} name
 * @param {string} note
 */
export function told(state, source, storageSize, name, note) {
  const { index, chain, window, values, ...layout } = state;
  const stages = stagesOf(chain ?? { source: name, start: layout, steps: [] }, storageSize);
  const steps = stages.slice(1).map((stage, k) => {
    const { shape, stride, storage_offset } = stage.layout;
    const numbers = `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset}`;
    return `${stage.text}: ${numbers}, ${memoryOf(stage, stages[k])}`;
  });
  return [
    `StrideExplorer: ${code(state, source)}`,
    ...(note ? [note] : []),
    ...(window ? [`the picture shows ${windowName(layout, window, name)}`] : []),
    ...steps,
    ...(index ? [formula(layout, index), place(layout, index, name)] : []),
    ...verdicts(layout, endOf(stages).storageSize).map(verdict),
  ];
}
