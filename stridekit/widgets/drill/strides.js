// Which stride does an operation give?

import { apply, contiguousStride, range, reach, same, tuple, viewStride } from "../page/layout.js";
import { draw, numbersOf, setupOf, toneOfRows, tonesOf } from "./drawn.js";

/** @import { Layout, Step } from "../page/layout.js" */
/** @import { Draft } from "./drawn.js" */
/** @import { Random } from "./random.js" */

const MISTAKES = {
  "packed by rows":
    "Those are the strides of a tensor of the new shape that is packed by rows. A view moves no element, so its strides come from those of `x`.",
  "as before":
    "Those are strides of `x`. The operation changes how far apart the elements of a dim lie.",
  "inverse permutation":
    "That applies the permutation the other way round: dim 0 of the result is the dim of `x` that is named first.",
  "in bytes": "That counts bytes, as NumPy does. torch counts strides in elements.",
  "in reverse": "The numbers are right, but they stand in the order of the wrong dims.",
  "still a view":
    "Those strides belong to a view. This layout has to be copied, and the copy is packed by rows.",
};

/**
 * An operation on a layout: its step, and the stride of a mistake that only this operation has.
 * @typedef {object} Operation
 * @property {Step} step
 * @property {string} text
 * @property {number[]} [asBefore]
 * @property {number[]} [inverse]
 */

/** @type {Record<string, (layout: Layout, random: Random) => Operation | null>} */
const OPERATIONS = {
  permute({ shape, stride }, random) {
    const order = random.pick([
      [1, 2, 0],
      [2, 0, 1],
      [0, 2, 1],
    ]);
    if (shape.length !== 3) return null;
    const inverse = range(3).map((d) => stride[order.indexOf(d)]);
    const text = `.permute(${order.join(", ")})`;
    return { step: { name: "permute", args: [order] }, text, asBefore: stride, inverse };
  },
  transpose({ shape, stride }, random) {
    const [a, b] = random.shuffled(range(shape.length));
    const step = { name: "transpose", args: [a, b] };
    return { step, text: `.transpose(${a}, ${b})`, asBefore: stride };
  },
  stepped({ shape, stride }, random) {
    const dim = random.below(shape.length);
    if (shape[dim] < 3) return null;
    const by = random.pick([2, 2, 3]);
    const items = range(dim + 1).map((d) => ({ slice: d === dim ? [null, null, by] : [null] }));
    const texts = range(dim + 1).map((d) => (d === dim ? `::${by}` : ":"));
    return { step: { name: "[]", args: items }, text: `[${texts.join(", ")}]`, asBefore: stride };
  },
  row({ shape, stride }, random) {
    const dim = random.below(shape.length);
    const i = random.below(shape[dim]);
    const step = { name: "select", args: [dim, i] };
    const asBefore = stride.slice(0, -1);
    return { step, text: `.select(${dim}, ${i})`, asBefore };
  },
  expand({ shape, stride }, random) {
    const dim = random.below(shape.length + 1);
    const sizes = shape.toSpliced(dim, 0, random.between(2, 4));
    const step = { name: "expand", args: [sizes] };
    const asBefore = stride.toSpliced(dim, 0, dim < shape.length ? shape[dim] * stride[dim] : 1);
    return { step, text: `.unsqueeze(${dim}).expand(${sizes.join(", ")})`, asBefore };
  },
  unfold({ shape, stride }, random) {
    const dim = random.below(shape.length);
    const size = random.between(2, 3);
    const by = random.between(1, 2);
    if (shape[dim] < size + by) return null;
    const step = { name: "unfold", args: [dim, size, by] };
    return { step, text: `.unfold(${dim}, ${size}, ${by})`, asBefore: [...stride, 1] };
  },
  diagonal({ shape, stride }) {
    if (shape.length !== 2) return null;
    const asBefore = [Math.max(...stride)];
    return { step: { name: "diagonal", args: [] }, text: ".diagonal()", asBefore };
  },
  flatten({ shape, stride }, random) {
    const first = random.below(shape.length - 1);
    const sizes = shape.toSpliced(first, 2, shape[first] * shape[first + 1]);
    if (!viewStride(shape, stride, sizes).stride) return null;
    const step = { name: "view", args: [sizes] };
    return { step, text: `.view(${sizes.join(", ")})`, asBefore: stride.toSpliced(first + 1, 1) };
  },
  contiguous({ shape, stride }) {
    if (same(contiguousStride(shape), stride)) return null;
    return { step: { name: "contiguous", args: [] }, text: ".contiguous()", asBefore: stride };
  },
};

/**
 * @param {Random} random
 * @returns {Draft | null}
 */
function draft(random) {
  const x = draw(random);
  const operation = OPERATIONS[random.pick(Object.keys(OPERATIONS))](x.layout, random);
  if (!operation) return null;
  const { step, text, asBefore = [], inverse } = operation;
  const from = step.name === "expand" ? unsqueezed(x.layout, text) : x.layout;
  const { layout, copied } = apply(from, step);
  const { shape, stride } = layout;
  /** @type {[mistake: string, stride: number[]][]} */
  const wrong = [
    ["packed by rows", contiguousStride(shape)],
    [copied ? "still a view" : "as before", asBefore],
    ["in bytes", stride.map((elements) => elements * layout.itemsize)],
    ["in reverse", stride.toReversed()],
  ];
  if (inverse) wrong.push(["inverse permutation", inverse]);
  const pictured = copied ? { layout, size: shape.reduce((a, b) => a * b, 1) } : { ...x, layout };
  const { elements } = reach(layout);
  return {
    text: `\`x\` has ${numbersOf(x.layout)}. What is the stride of \`x${text}\`?`,
    setup: setupOf("x", x),
    experiment: `x${text}.stride()`,
    answer: tuple(stride),
    wrong: wrong.map(([mistake, numbers]) => [mistake, tuple(numbers)]),
    why: `${WHY[step.name]} So the strides are \`${tuple(stride)}\`.`,
    picture: {
      grids: [{ name: copied ? "copy" : `x${text}`, layout }],
      tones: tonesOf(pictured, elements, toneOfRows(layout)),
      spot: null,
      perRow: null,
      caption: copied
        ? "The copy has a storage of its own, in which its rows follow one another."
        : `The elements of \`x${text}\`, by their numbers in the storage: ${stepsOf(layout)}.`,
    },
  };
}

/** @type {(layout: Layout, text: string) => Layout} */
function unsqueezed(layout, text) {
  const dim = Number(/unsqueeze\((\d+)/.exec(text)?.[1]);
  return apply(layout, { name: "unsqueeze", args: [dim] }).layout;
}

/**
 * How far one step along each dim leads.
 * @param {Layout} layout
 */
const stepsOf = ({ stride }) =>
  stride.map((elements, d) => `a step along dim ${d} leads ${elements} further`).join(", ");

/** @type {Record<string, string>} */
const WHY = {
  permute: "`permute` reorders the dims, and each dim takes its stride along.",
  transpose: "`transpose` exchanges two dims together with their strides.",
  "[]": "A slice with a step multiplies the stride of its dim by the step, and leaves the others.",
  select: "`select` fixes one index. Its dim goes, and the other dims keep their strides.",
  expand:
    "`expand` repeats elements without a copy: a step along the new dim stays at the same element, so its stride is 0.",
  unfold:
    "`unfold` makes windows: the dim steps from window to window, its stride times the step, and a new last dim walks inside a window with the old stride.",
  diagonal: "One step along the diagonal is a step down and a step to the right: both strides add.",
  view: "The two dims step evenly, so they merge into one dim with the stride of the inner one.",
  contiguous: "`x` is not contiguous, so `contiguous()` copies it, and the copy is packed by rows.",
};

export const strides = {
  lesson: ["01_strides", "A slice changes three numbers"],
  mistakes: MISTAKES,
  draft,
};
