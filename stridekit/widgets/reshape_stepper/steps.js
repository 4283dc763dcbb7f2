// The rule of `view` as a walk: one sentence per step, from the last dim to the verdict. First
// neighbouring dims that step evenly are merged into chunks, then each chunk is cut into the new
// dims.

/** @import { Chunk, Layout } from "../page/layout.js" */

import { after } from "../page/grammar.js";
import {
  chunksOf,
  counted,
  extent,
  numel,
  offset,
  offsetAt,
  product,
  range,
  rowMajor,
  sameLayout,
  tuple,
  unflatten,
  viewStride,
  whyNotContiguous,
  whyNotCounted,
} from "../page/layout.js";

/**
 * The state of the stepper: the layout, the complete new shape, the step that the walk has reached,
 * and the row-major number of the followed element, null if there are no elements.
 * @typedef {Layout & {target: number[], step: number, flat: number | null}} State
 */

/**
 * A number of elements, and the distance between two of them.
 * @typedef {[number, number]} Run
 */

/**
 * A step of the walk. `dims` and `new_dims` are the dims that it names. `needed` is the stride at
 * which dim `dims[0]` merges, null for steps that do not compare strides. `run` is the chunk;
 * `taken` and `stride` belong to the new dim.
 * @typedef {object} Step
 * @property {"start" | "merge" | "cut" | "stuck" | "end"} part
 * @property {string} says
 * @property {number[]} dims
 * @property {number[]} new_dims
 * @property {number | null} needed
 * @property {Run | null} run
 * @property {string} taken
 * @property {number | null} stride
 */

/**
 * A layout worth a look, the torch expression that makes it, and shapes to try on it.
 * @typedef {{name: string, expression: string, layout: Layout, targets: number[][]}} Preset
 */

// The walk ----------------------------------------------------------------------------------------

const elements = (count) => counted(count, "element");
const spaced = (count, gap) => elements(count) + (count > 1 ? ` in steps of ${gap}` : "");

/**
 * @param {Step["part"]} part
 * @param {string} says
 * @param {Partial<Step>} details
 * @returns {Step}
 */
const step = (part, says, details = {}) => ({
  part,
  says,
  dims: [],
  new_dims: [],
  needed: null,
  run: null,
  taken: "",
  stride: null,
  ...details,
});

/**
 * Every step of viewing the layout as `target`, which is complete and has as many elements.
 * @param {Layout} layout
 * @param {number[]} target
 */
export function stepsOf(layout, target) {
  const { shape, stride } = layout;
  const question = `Can shape ${tuple(shape)}, stride ${tuple(stride)} be viewed as ${tuple(target)}?`;
  if (numel(layout) === 0)
    return [
      step("start", question),
      step("end", "Yes: there are no elements, so no step can go wrong."),
    ];
  const first = shape.length
    ? "First: which neighbouring dims step evenly?"
    : "There is one element.";
  return [
    step("start", `${question} ${first}`),
    ...mergingSteps(layout),
    ...cuttingSteps(layout, target),
    step("end", verdictOf(layout, target)),
  ];
}

function verdictOf({ shape, stride }, target) {
  const view = viewStride(shape, stride, target);
  if (!view.stride) return `There is no such view: ${view.reason}.`;
  return `Every chunk is used up. The view has stride ${tuple(view.stride)}: nothing moves.`;
}

/**
 * One step for each dim, from the last one: it joins the chunk to its right, or begins another one.
 */
function mergingSteps({ shape, stride }) {
  const last = shape.length - 1;
  const steps = [];
  /** @type {Run} */
  let run = [1, 1];
  for (let d = last; d >= 0; d--) {
    const size = shape[d];
    const found = stride[d];
    const [count, gap] = run;
    /** @type {number | null} */
    let needed = null;
    let says = `Dim ${d} has size 1: nothing steps along it, so it joins whatever its stride.`;
    if (d === last) {
      run = [size, found];
      says = `Dim ${d} is the last: it starts a chunk, ${spaced(...run)}.`;
    } else if (size !== 1) {
      needed = count * gap;
      says = `Dim ${d}: stride ${found} found, ${count} · ${gap} = ${needed} needed.`;
      if (found === needed) {
        run = [count * size, gap];
        says += ` It merges: the chunk has ${spaced(...run)}.`;
      } else {
        run = [size, found];
        says += ` It does not merge: a new chunk begins, ${spaced(...run)}.`;
      }
    }
    steps.push(step("merge", says, { dims: [d], needed, run }));
  }
  return steps;
}

/** The chunk of a 0-d tensor: one element, cut into sizes of 1. */
const ONE_ELEMENT = { first: 0, last: -1, numel: 1, stride: 1 };

/**
 * One step for each new dim, from the last one: it takes its elements from a chunk, or gets stuck
 * at its end.
 */
function cuttingSteps({ shape, stride }, target) {
  const steps = [];
  const chunks = shape.length ? chunksOf(shape, stride) : [ONE_ELEMENT];
  let d = target.length; // the new dims from here on are done
  for (const chunk of chunks.reverse()) {
    let filled = 1;
    const firstNewDim = d;
    while (d > 0 && (filled < chunk.numel || target[d - 1] === 1)) {
      d -= 1;
      steps.push(takingStep(chunk, filled, d, target[d]));
      filled *= target[d];
      if (filled > chunk.numel) return begun(steps);
    }
    if (d === firstNewDim && chunk.last >= 0) {
      const says = `The chunk of dim ${chunk.last} is 1 element: there is nothing to cut.`;
      steps.push(step("cut", says, partsOf(chunk)));
    }
  }
  return begun(steps);
}

/** Let the first step say that the cutting begins. */
function begun(steps) {
  if (!steps.length) return [];
  const [first, ...rest] = steps;
  return [{ ...first, says: `Now the chunks are cut. ${first.says}` }, ...rest];
}

/**
 * @param {Chunk} chunk
 * @returns {{dims: number[], run: Run}}
 */
const partsOf = ({ first, last, numel: count, stride }) => ({
  dims: range(last - first + 1).map((k) => first + k),
  run: [count, stride],
});

/** The step in which new dim `d` takes its elements from the rest of the chunk. */
function takingStep(chunk, filled, d, size) {
  const stride = filled * chunk.stride;
  const total = filled * size;
  const details = { ...partsOf(chunk), new_dims: [d], stride };
  const name = `New dim ${d} of size ${size}`;
  if (size === 1) {
    const says = `${name} takes nothing: any stride would do, torch gives it ${stride}.`;
    return step("cut", says, details);
  }
  const equation = `${filled} · ${size} = ${total}`;
  const taken = `${equation} of ${chunk.numel}`;
  if (total > chunk.numel) {
    const says = `${name}: ${equation}, but this chunk has ${elements(chunk.numel)}.`;
    const dims = [chunk.first - 1, ...details.dims];
    return step("stuck", says, { ...details, dims, taken, stride: null });
  }
  const found = filled > 1 ? `${filled} · ${chunk.stride} = ${stride}` : stride;
  const rest = total === chunk.numel ? ": this chunk is used up." : " elements are taken.";
  return step("cut", `${name} gets stride ${found}. ${taken}${rest}`, { ...details, taken });
}

// Sentences ---------------------------------------------------------------------------------------

const MESSAGE =
  "view size is not compatible with input tensor's size and stride (at least one dimension spans " +
  "across two contiguous subspaces). Use .reshape(...) instead.";

/**
 * The result of the view, torch's error decoded, and its alternatives: pairs of a phrase and a
 * sentence.
 * @param {Layout} layout
 * @param {number[]} target
 * @returns {[string, string][]}
 */
export function consequences(layout, target) {
  const { shape, stride, itemsize } = layout;
  const sizes = target.join(", ");
  const reshape = `.reshape(${sizes})`;
  const contiguous = `.contiguous().view(${sizes})`;
  const everything = `all ${elements(numel(layout))}, ${numel(layout) * itemsize} bytes`;
  const view = viewStride(shape, stride, target);
  if (view.stride)
    return [
      [`.view(${sizes})`, "a view: the same elements, 0 bytes are copied"],
      [reshape, "the same view: reshape copies only where there is none"],
      [
        contiguous,
        whyNotContiguous(layout)
          ? `copies ${everything}, which this view does not need`
          : "the same view: x is contiguous as it is",
      ],
    ];
  const { chunk, dim } = view;
  const chunks = chunksOf(shape, stride);
  const outer = chunks[chunks.findIndex(({ first }) => first === chunk.first) - 1];
  return [
    ["torch says", MESSAGE],
    ['"at least one dimension"', `new dim ${dim}, of size ${target[dim]}`],
    ['"spans across two contiguous subspaces"', `${describe(outer)} and ${describe(chunk)}`],
    [reshape, `copies ${everything}, into a storage of its own`],
    [contiguous, "does the same in two steps: the copy, then a view of it"],
  ];
}

const describe = ({ first, last, numel: count, stride }) =>
  `${last > first ? `dims ${first} to ${last}` : `dim ${first}`} (${spaced(count, stride)})`;

/**
 * A sentence on the place of one element in both shapes and in memory.
 * @param {number} element
 * @param {string[]} names - the element in x and in y
 * @param {number} flat
 * @param {boolean | null} isCopied - null until it is known
 */
export function followed(element, [name, newName], flat, isCopied) {
  const numbers = `${name} is number ${flat} in row-major order, and so is ${newName}`;
  if (isCopied === null) return `${numbers}.`;
  if (!isCopied) return `${numbers}. Both are element ${element} of the same storage.`;
  return `${numbers}. Element ${element} of the storage is copied to element ${flat} of the new one.`;
}

// Presets -----------------------------------------------------------------------------------------

const MOST_DIMS = 6;
const MOST_ELEMENTS = 256;

/** @returns {Preset} */
const preset = (name, count, steps, targets) => ({
  name,
  expression: `torch.arange(${count}.)${steps}`,
  layout: after(rowMajor([count], 4), steps),
  targets,
});

export const PRESETS = [
  preset("contiguous", 24, ".view(4, 6)", [[3, 8], [2, 12], [24], [2, 2, 3, 2]]),
  preset("transposed", 24, ".view(4, 6).T", [[24], [2, 3, 4], [3, 8], [6, 2, 2]]),
  preset("rows cut out", 32, ".view(4, 8)[:, :6]", [
    [2, 12],
    [2, 2, 6],
    [4, 2, 3],
    [3, 8],
  ]),
  preset("every 2nd column", 24, ".view(4, 6)[:, ::2]", [[12], [2, 6], [3, 4]]),
  preset("permuted", 24, ".view(2, 3, 4).permute(2, 0, 1)", [[4, 6], [24], [2, 2, 6], [8, 3]]),
  preset("sizes of 1", 24, ".view(1, 4, 6).permute(1, 0, 2)", [
    [24],
    [4, 6],
    [2, 1, 12],
    [4, 6, 1],
  ]),
  preset("expanded", 6, ".expand(4, 6)", [[24], [2, 2, 6], [4, 2, 3]]),
  preset("channels-last", 24, ".view(2, 2, 2, 3).permute(0, 3, 1, 2)", [
    [2, 3, 4],
    [2, 12],
    [6, 4],
    [24],
  ]),
];

function expressionOf(layout) {
  const { shape, stride, storage_offset } = layout;
  const count = storage_offset + extent(layout);
  return `torch.arange(${count}.).as_strided(${tuple(shape)}, ${tuple(stride)}, ${storage_offset})`;
}

/**
 * A layout as a preset of its own, unless it is one of the others.
 * @param {Layout} layout
 * @returns {Preset[]}
 */
export function ownPreset(layout) {
  const isPreset = PRESETS.some(
    (preset) => sameLayout(preset.layout, layout) && preset.layout.itemsize === layout.itemsize,
  );
  if (isPreset) return [];
  const targets = targetsOf(layout.shape);
  return [{ name: "as given", expression: expressionOf(layout), layout, targets }];
}

/** Shapes to try on any x: each two neighbouring dims merged, and all of them. */
export function targetsOf(shape) {
  const merged = shape
    .slice(1)
    .map((size, d) => [...shape.slice(0, d), shape[d] * size, ...shape.slice(d + 2)]);
  const targets = [...merged, [product(shape)]];
  const distinct = new Map(targets.map((target) => [String(target), target]));
  return [...distinct.values()].slice(0, 4);
}

/**
 * The reason why the picture cannot hold a layout; "" if it can.
 * @param {Layout} layout
 */
export function whyNotShown(layout) {
  const { shape, stride } = layout;
  const uncounted = whyNotCounted(layout);
  if (uncounted) return uncounted;
  if (shape.length > MOST_DIMS)
    return `shape ${tuple(shape)} has ${shape.length} dims: the picture holds ${MOST_DIMS}`;
  if (numel(layout) > MOST_ELEMENTS)
    return `shape ${tuple(shape)} has ${numel(layout)} elements: the picture holds ${MOST_ELEMENTS}`;
  if (extent(layout) > MOST_ELEMENTS)
    return `shape ${tuple(shape)}, stride ${tuple(stride)} spans ${extent(layout)} elements: the picture holds ${MOST_ELEMENTS}`;
  return "";
}

// For Python and the toolbar ----------------------------------------------------------------------

/** @type {State} */
export const EXAMPLE = { ...rowMajor([], 1), target: [], step: 0, flat: 0 };

/**
 * The layout, the target and its strides, the walk's step, the followed element in both shapes.
 * @param {State} state
 */
export function facts({ target, step, flat, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const newStride = viewStride(shape, stride, target).stride ?? null;
  const index = flat === null ? null : unflatten(shape, flat);
  return {
    shape,
    stride,
    storage_offset,
    target,
    viewable: newStride !== null,
    new_stride: newStride,
    step,
    finished: step === stepsOf(layout, target).length - 1,
    index,
    new_index: flat === null ? null : unflatten(target, flat),
    element: index && offset(layout, index),
  };
}

/**
 * How many steps the walk of a state has.
 * @param {State} state
 */
export const count = ({ target, step, flat, ...layout }) => stepsOf(layout, target).length;

/**
 * @param {State} state
 * @param {Preset[]} ownPresets
 */
export function code({ target, step, flat, ...layout }, ownPresets) {
  const presets = [...ownPresets, ...PRESETS];
  const known = presets.find((preset) => sameLayout(preset.layout, layout));
  const x = known ? known.expression : expressionOf(layout);
  const method = viewStride(layout.shape, layout.stride, target).reason ? "reshape" : "view";
  return `x = ${x}\ny = x.${method}(${target.join(", ") || "()"})`;
}

/**
 * The lines of the stepper's repr.
 * @param {State} state
 */
export function told({ target, step, flat, ...layout }) {
  const { shape, stride } = layout;
  const pairs = numel(layout) ? consequences(layout, target) : [];
  return [
    `ReshapeStepper: shape ${tuple(shape)}, stride ${tuple(stride)} as ${tuple(target)}`,
    ...stepsOf(layout, target).map(({ says }, k) => `${k}. ${says}`),
    ...pairs.map(([phrase, sentence]) => `${phrase}: ${sentence}`),
  ];
}

// The picture at a step: dims, boundaries, chunks, storage ----------------------------------------

const MOST_PER_ROW = 24; // boxes in a row of the tape
const NARROWEST = 28; // px of a box

/** @typedef {ReturnType<typeof viewOf>} View */

/** @param {State} state */
export function viewOf({ target, step, flat, ...layout }) {
  const steps = stepsOf(layout, target);
  const position = Math.min(step, steps.length - 1);
  const current = steps[position];
  const isDone = position === steps.length - 1;
  const { stride, reason = "" } = viewStride(layout.shape, layout.stride, target);
  // After a failed walk the storage still shows where it got stuck.
  const shown = isDone && reason ? steps[position - 1] : current;
  return {
    layout,
    target,
    flat,
    steps,
    position,
    current,
    isDone,
    reason,
    stride,
    ...dimsAt(layout, target, steps.slice(0, position + 1), reason !== ""),
    ...tapeOf(layout, target, shown),
    caption: captionOf(layout, target, shown),
  };
}

/**
 * The looks of the dims, their boundaries and the chunks after the `walked` steps, of which the
 * last is the current one.
 */
function dimsAt(layout, target, walked, isRefused) {
  const { shape } = layout;
  const current = walked[walked.length - 1];
  const mergedDims = walked.filter(({ part }) => part === "merge").map(({ dims }) => dims[0]);
  const firstMerged = Math.min(shape.length, ...mergedDims);
  const chunks = numel(layout) ? chunksFrom(layout, firstMerged) : [];
  const tintOf = (d) => {
    const chunk = chunks.findLast(({ first }) => first <= d);
    return (shape.length - 1 - (chunk ? chunk.last : 0) + 6) % 6;
  };
  const lit = (isLit) => (isLit ? " is-lit" : "");
  const stuck = isRefused ? walked.find(({ part }) => part === "stuck") : undefined;
  return {
    dims: shape.map((_, d) => ({
      kind: (d < firstMerged ? "" : `sk-r${tintOf(d)}`) + lit(current.dims.includes(d)),
    })),
    chunks: chunks.map((chunk) => ({
      first: chunk.first,
      last: chunk.last,
      kind: `sk-r${tintOf(chunk.first)}${lit(current.part !== "start" && current.dims.includes(chunk.last))}`,
      texts: chunkTexts(chunk),
    })),
    boundaries: boundariesOf(shape, chunks, walked).map((boundary) => {
      const isCrossed = stuck?.dims[0] === boundary.dim && stuck.dims[1] === boundary.dim + 1;
      return isCrossed ? { ...boundary, kind: `${boundary.kind} is-crossed` } : boundary;
    }),
    fresh: target.map((_, d) => {
      const cut = walked.find(({ new_dims }) => new_dims.includes(d));
      if (!cut) return { kind: "", stride: ["", ""], taken: ["", ""] };
      const tint = shape.length ? tintOf(cut.dims.at(-1) ?? 0) : 0;
      return newDim(cut, tint, lit(current.new_dims.includes(d)));
    }),
  };
}

/** The chunks of the dims from a dim on; the dims to the left do not change how they merge. */
function chunksFrom({ shape, stride }, dim) {
  const chunks = chunksOf(shape.slice(dim), stride.slice(dim));
  return chunks.map((chunk) => ({ ...chunk, first: chunk.first + dim, last: chunk.last + dim }));
}

/** The texts of a chunk, the longest first. */
function chunkTexts({ numel: count, stride: gap }) {
  if (count === 1) return ["1 element", "1"];
  return [
    `${elements(count)} in steps of ${gap}`,
    `${count}, steps of ${gap}`,
    `${count} by ${gap}`,
  ];
}

/** The looks of a new dim after its step; its texts come in two forms, in full and in short. */
function newDim({ part, stride, taken }, tint, lit) {
  const isStuck = part === "stuck";
  return {
    kind: `${isStuck ? "is-stuck" : `sk-r${tint}`}${lit}`,
    stride: isStuck ? ["no stride", "none"] : [`stride ${stride}`, String(stride)],
    taken: [taken, taken.replace(/.*= (\d+) of /, "$1/")],
  };
}

/** The decided boundaries between old dims `dim` and `dim + 1`; their labels, the longest first. */
function boundariesOf(shape, chunks, walked) {
  const last = shape.length - 1;
  const merges = walked.filter(({ part, dims }) => part === "merge" && dims[0] < last);
  return merges.map(({ dims: [dim], needed, says }) => {
    if (needed === null) {
      const labels = ["✓ size 1: joins", "✓ size 1", "✓"];
      return { dim, broken: false, kind: "is-merged", labels };
    }
    const broken = chunks.some((chunk) => chunk.last === dim);
    const sign = broken ? "✗" : "✓";
    const [, found, equation] = /stride (\d+) found, (\d+ · \d+ = \d+) needed/.exec(says) ?? [];
    const labels = [
      `${sign} stride ${found} found\n${equation} needed`,
      `${sign} ${found} found\n${needed} needed`,
      `${sign}${found}\n${needed}`,
    ];
    return { dim, broken, kind: broken ? "is-broken" : "is-merged", labels };
  });
}

/** The elements of the storage that a step is about: those of its chunk and of its new dim. */
function tapeOf(layout, target, { part, dims, new_dims, run, stride, needed }) {
  const start = layout.storage_offset;
  const along = (count, gap) => new Set(range(count).map((k) => start + k * gap));
  const isComparison = part === "merge" && needed !== null;
  const [newDim] = new_dims;
  let taken = new Set();
  if (part === "cut" && newDim !== undefined) taken = along(target[newDim], stride);
  else if (part === "stuck") taken = new Set(beyond(layout, target, dims, newDim));
  return {
    run: run ? along(...run) : new Set(),
    taken,
    isUneven: part === "stuck",
    found: isComparison ? start + layout.stride[dims[0]] : null,
    needed: isComparison ? start + needed : null,
  };
}

/**
 * The elements that a stuck new dim would reach, with the new dims to its right that share its
 * chunk.
 */
function beyond(layout, target, dims, newDim) {
  const inside = product(layout.shape.slice(dims.at(-1) + 1)); // in the chunks that are used up
  const count = product(target.slice(newDim)) / inside;
  return range(count).map((k) => offsetAt(layout, k * inside));
}

function captionOf(layout, target, { part, dims, new_dims: [newDim], run }) {
  const storage = "the storage of x";
  if (!numel(layout)) return `${storage}: no element is reached`;
  if (part === "merge") return `${storage}; filled: the chunk so far`;
  if (newDim === undefined) return storage;
  if (part === "cut")
    return `${storage}; filled: the chunk; ringed: new dim ${newDim}, its ${target[newDim]} elements evenly spaced`;
  const firstUneven = run[0]; // the first step beyond the chunk
  const shownFrom = Math.max(firstUneven - 3, 0);
  const path = beyond(layout, target, dims, newDim)
    .slice(shownFrom, firstUneven + 1)
    .join(", ");
  const dots = shownFrom > 0 ? "…, " : "";
  return `${storage}; filled: the chunk; ringed: where new dim ${newDim} would lead, ${dots}${path}, …: uneven steps`;
}

/** The tape's first element, and how many it shows. */
export const spanOf = (layout) => [layout.storage_offset, extent(layout)];

/** Boxes per row: about the same in each, a multiple of the largest stride that fits. */
export function perRow({ stride }, size, width) {
  const most = Math.min(MOST_PER_ROW, Math.max(1, Math.floor(width / NARROWEST)));
  const unit = Math.max(1, ...stride.filter((step) => step <= most));
  const longestRow = Math.floor(most / unit) * unit;
  const rows = Math.ceil(size / longestRow) || 1;
  return Math.max(1, Math.min(Math.ceil(size / rows / unit) * unit, size));
}
