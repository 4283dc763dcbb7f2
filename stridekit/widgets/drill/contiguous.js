// Is a tensor contiguous, and why not?

import {
  contiguousStride,
  isDense,
  product,
  range,
  reach,
  rowMajor,
  whyNotContiguous,
} from "../page/layout.js";
import { draw, named, numbersOf, setupOf, toneOfRows, tonesOf } from "./drawn.js";

/** @import { Layout } from "../page/layout.js" */
/** @import { Draft, Drawn, Wrong } from "./drawn.js" */
/** @import { Random } from "./random.js" */

const MISTAKES = {
  "strides that fall":
    "Strides that fall from left to right are not enough: each has to be the product of the sizes to its right.",
  "without holes":
    "The elements fill their part of the storage without holes, but not in the order of the rows.",
  "any view": "A view of a contiguous tensor has strides of its own, and it is these that decide.",
  "has an offset": "storage_offset does not count: a contiguous tensor may begin anywhere.",
  "size-1 dim": "A dim of size 1 is never stepped along, so its stride does not count.",
  "larger storage":
    "The size of the storage does not count: a contiguous tensor may be a part of it.",
  "next size alone":
    "The stride that a dim needs is the product of all sizes to its right, and not the next size alone.",
  "own size":
    "The stride that a dim needs depends on the sizes to its right, and not on its own size.",
};

const YES = "yes";

/**
 * @param {Random} random
 * @returns {Draft}
 */
function draft(random) {
  const x = drawForContiguity(random);
  const { layout, size } = x;
  const { shape, stride, storage_offset: start } = layout;
  const why = whyNotContiguous(layout);
  const needed = contiguousStride(shape);
  /** @type {Wrong[]} */
  const wrong = [];
  if (why) wrong.push([mistakeOfYes(layout), YES]);
  if (start) wrong.push(["has an offset", `no: storage_offset is ${start}, and 0 is needed`]);
  if (size > product(shape))
    wrong.push([
      "larger storage",
      `no: its storage has ${size} elements, and it has ${product(shape)}`,
    ]);
  for (const d of range(shape.length)) {
    if (shape[d] === 1 && stride[d] !== needed[d])
      wrong.push(["size-1 dim", reasonAt(d, stride[d], needed[d])]);
    if (shape[d] === 1) continue;
    const next = shape[d + 1] ?? 1;
    if (next !== needed[d] && next !== stride[d])
      wrong.push(["next size alone", reasonAt(d, stride[d], next)]);
    if (shape[d] !== needed[d] && shape[d] !== stride[d])
      wrong.push(["own size", reasonAt(d, stride[d], shape[d])]);
  }
  const { elements } = reach(layout);
  const steps = shape.map((n, d) => `dim ${d} of size ${n} needs ${needed[d]}`).join(", ");
  const verdict = why
    ? `${why[0].toUpperCase()}${why.slice(1)}`
    : "Each stride is the needed one, and dims of size 1 do not count";
  return {
    text: `\`x\` has ${numbersOf(layout)}, in a storage of ${size} elements. Is it contiguous?`,
    setup: setupOf("x", x),
    experiment: "x.is_contiguous()",
    answer: why ? `no: ${why}` : YES,
    wrong,
    why: `From the right, each dim needs the product of the sizes to its right: ${steps}. ${verdict}.`,
    picture: {
      grids: [{ name: "x", layout }],
      tones: tonesOf(x, elements, toneOfRows(layout)),
      spot: null,
      perRow: null,
      caption: why
        ? `Read by rows, the elements are ${named(elements)}: they do not follow one another.`
        : `Read by rows, the elements are ${named(elements)}: each follows the one before it.`,
    },
  };
}

/** @type {(d: number, found: number, needed: number) => string} */
const reasonAt = (d, found, needed) => `no: dim ${d} has stride ${found}, ${needed} is needed`;

/**
 * The mistake of somebody who takes this layout to be contiguous.
 * @param {Layout} layout
 */
function mistakeOfYes(layout) {
  const { stride } = layout;
  if (isDense(layout)) return "without holes";
  const doFall = stride.every((step, d) => d === 0 || step <= stride[d - 1]);
  return doFall ? "strides that fall" : "any view";
}

/**
 * A layout that is often contiguous, and sometimes has a dim of size 1 with any stride.
 * @param {Random} random
 * @returns {Drawn}
 */
function drawForContiguity(random) {
  const x = random.below(2) ? draw(random) : drawContiguous(random);
  if (random.below(2)) return x;
  const { shape, stride } = x.layout;
  const d = random.below(shape.length + 1);
  const step = random.pick([1, 2, 3, 5, 7, 12]);
  return {
    ...x,
    layout: { ...x.layout, shape: shape.toSpliced(d, 0, 1), stride: stride.toSpliced(d, 0, step) },
  };
}

/**
 * Some rows of a tensor that is packed by rows.
 * @param {Random} random
 * @returns {Drawn}
 */
function drawContiguous(random) {
  const shape = range(random.between(2, 3)).map(() => random.between(2, 4));
  const before = random.below(5);
  const after = random.below(5);
  const layout = { ...rowMajor(shape, 4), storage_offset: before };
  return { layout, size: before + product(shape) + after };
}

export const contiguous = {
  lesson: ["03_contiguity", "The obvious test"],
  mistakes: MISTAKES,
  draft,
};
