// Can a tensor be viewed as a shape?

import {
  chunksOf,
  contiguousStride,
  range,
  reach,
  same,
  tuple,
  viewStride,
  whyNotContiguous,
} from "../page/layout.js";
import { draw, numbersOf, setupOf, tonesOf } from "./drawn.js";

/** @import { Layout } from "../page/layout.js" */
/** @import { Draft, Wrong } from "./drawn.js" */
/** @import { Random } from "./random.js" */

const MISTAKES = {
  "only if contiguous":
    "A view does not need a contiguous tensor. It needs dims that step evenly wherever the new shape merges them.",
  "packed by rows":
    "Those are the strides of a packed tensor of the new shape. A view keeps the elements where they are.",
  "even steps":
    "That takes the elements to lie evenly, one inner stride apart. They do so only inside of dims that merge.",
  "has an offset": "storage_offset does not count: the view begins where `x` begins.",
  "every merge fails":
    "Those two dims do merge: the outer stride is the inner size times the inner stride.",
  "number of elements": "Both shapes have the same number of elements.",
};

/**
 * @param {Random} random
 * @returns {Draft | null}
 */
function draft(random) {
  const x = draw(random, { most: 48 });
  const { layout } = x;
  const { shape, stride, storage_offset: start } = layout;
  const wanted = drawWanted(random, shape);
  if (same(wanted, shape)) return null;
  const inner = stride.at(-1) ?? 1;
  const packed = contiguousStride(wanted);
  const result = viewStride(shape, stride, wanted);
  /** @type {Wrong[]} */
  const wrong = [
    ["packed by rows", yes(packed)],
    ["even steps", yes(packed.map((step) => step * inner))],
    ["number of elements", `no: \`${tuple(wanted)}\` has another number of elements`],
  ];
  // Where no view exists, this would not be wrong: some dims do not step evenly.
  if (result.stride && whyNotContiguous(layout))
    wrong.push(["only if contiguous", "no: `x` is not contiguous"]);
  if (start) wrong.push(["has an offset", `no: storage_offset is ${start}, and 0 is needed`]);
  for (const d of mergingDims(layout)) wrong.push(["every merge fails", unmerged(d, d + 1)]);
  const { elements } = reach(layout);
  const columns = wanted.at(-1) ?? 1;
  return {
    text: `\`x\` has ${numbersOf(layout)}. Can it be viewed as \`${tuple(wanted)}\`?`,
    setup: setupOf("x", x),
    experiment: `x.view(${wanted.join(", ")}).stride()`,
    answer: result.stride
      ? yes(result.stride)
      : unmerged(result.chunk.first - 1, result.chunk.first),
    wrong,
    why: result.stride ? whyPossible(layout, result.stride) : `${capital(result.reason)}.`,
    picture: {
      grids: [{ name: "x", layout }],
      tones: tonesOf(x, elements, (flat) => Math.floor(flat / columns)),
      spot: null,
      perRow: null,
      caption: result.stride
        ? `Each tint is a row of the shape \`${tuple(wanted)}\`. Its elements lie evenly.`
        : `Each tint is to be a row of the shape \`${tuple(wanted)}\`. No single stride per dim leads through them.`,
    },
  };
}

/** @param {number[]} stride */
const yes = (stride) => `yes, with stride \`${tuple(stride)}\``;

/** @type {(outer: number, inner: number) => string} */
const unmerged = (outer, inner) => `no: dims ${outer} and ${inner} do not merge`;

/** @param {string} sentence */
const capital = (sentence) => `${sentence[0].toUpperCase()}${sentence.slice(1)}`;

/**
 * The dims that merge with the next one.
 * @param {Layout} layout
 */
const mergingDims = ({ shape, stride }) =>
  range(shape.length - 1).filter((d) => stride[d] === shape[d + 1] * stride[d + 1]);

/** @type {(layout: Layout, result: number[]) => string} */
function whyPossible({ shape, stride }, result) {
  const names = chunksOf(shape, stride).map(({ first, last, stride: step }) =>
    first === last
      ? `dim ${first} steps by ${step}`
      : `dims ${first} to ${last} merge and step by ${step}`,
  );
  return (
    `${capital(names.join(", "))}. No size of the new shape straddles two of these parts, ` +
    `so a view exists, with stride \`${tuple(result)}\`.`
  );
}

/**
 * Another shape of as many elements: neighbouring sizes are merged, split, or both.
 * @type {(random: Random, shape: number[]) => number[]}
 */
function drawWanted(random, shape) {
  let wanted = [...shape];
  for (const change of random.shuffled([merged, split]).slice(0, random.between(1, 2)))
    wanted = change(random, wanted);
  return wanted;
}

/** @type {(random: Random, shape: number[]) => number[]} */
function merged(random, shape) {
  if (shape.length < 2) return shape;
  const d = random.below(shape.length - 1);
  return shape.toSpliced(d, 2, shape[d] * shape[d + 1]);
}

/** @type {(random: Random, shape: number[]) => number[]} */
function split(random, shape) {
  const d = random.below(shape.length);
  const factors = range(shape[d]).filter((n) => n > 1 && shape[d] % n === 0);
  if (!factors.length) return shape;
  const factor = random.pick(factors);
  return shape.toSpliced(d, 1, factor, shape[d] / factor);
}

export const view = {
  lesson: ["03_contiguity", "The rule of view"],
  mistakes: MISTAKES,
  draft,
};
