// In which memory format is a tensor?

import { apply, isDense, isInFormat, range, reach, rowMajor } from "../page/layout.js";
import { numbersOf, setupOf, tonesOf } from "./drawn.js";

/** @import { Layout } from "../page/layout.js" */
/** @import { Draft, Drawn, Wrong } from "./drawn.js" */
/** @import { Random } from "./random.js" */

const MISTAKES = {
  "one format only":
    "A tensor can be in both formats at once: where a size is 1, the two orders can be the same.",
  "size-1 dim": "Strides of dims of size 1 do not count: nobody steps along such a dim.",
  "order of the shape":
    "The shape is N, C, H, W in both formats. The strides say which dim is innermost in memory.",
  "formats exchanged":
    "In channels_last the channels are innermost: where C is 2 or more, stride[1] is 1.",
  "order without packing":
    "The strides are in the order of that format, but each has to be the product of the sizes inside it.",
  "any dense tensor":
    "A tensor without holes is in a format only if its dims lie in the order of that format.",
};

const CHOICES = ["contiguous", "channels_last", "both", "neither"];

/**
 * @param {Random} random
 * @returns {Draft}
 */
function draft(random) {
  const x = drawImages(random);
  const { layout } = x;
  const isRows = isInFormat("contiguous_format", layout);
  const isChannels = isInFormat("channels_last", layout);
  const answer = nameOf(isRows, isChannels);
  const { elements } = reach(layout);
  const [, channels, height, width] = layout.shape;
  return {
    text: `\`x\` holds images: it has ${numbersOf(layout)}. In which memory format is it?`,
    setup: setupOf("x", x),
    experiment:
      "[x.is_contiguous(memory_format=torch.contiguous_format), x.is_contiguous(memory_format=torch.channels_last)]",
    answer,
    wrong: CHOICES.filter((name) => name !== answer).map((name) => [
      mistakeOf(answer, name, layout),
      name,
    ]),
    order: CHOICES,
    why: `${whyIn("contiguous", layout, isRows)} ${whyIn("channels_last", layout, isChannels)}`,
    picture: {
      grids: [{ name: "x", layout }],
      tones: tonesOf(x, elements, (flat) => Math.floor(flat / (height * width)) % channels),
      spot: null,
      perRow: null,
      caption:
        "Each tint is a channel. In channels_last, the channels of a pixel lie side by side.",
    },
  };
}

/** @type {(isRows: boolean, isChannels: boolean) => string} */
function nameOf(isRows, isChannels) {
  if (isRows) return isChannels ? "both" : "contiguous";
  return isChannels ? "channels_last" : "neither";
}

/**
 * The dims of each format, innermost first, as they are named.
 * @type {Record<string, number[]>}
 */
const ORDERS = { contiguous: [3, 2, 1, 0], channels_last: [1, 3, 2, 0] };

/** @type {(format: string, layout: Layout, isIn: boolean) => string} */
function whyIn(format, { shape, stride }, isIn) {
  let needed = 1;
  /** @type {string[]} */
  const steps = [];
  for (const d of ORDERS[format]) {
    if (shape[d] !== 1) {
      const verb = stride[d] === needed ? "has stride" : `has stride ${stride[d]} and needs`;
      steps.push(`${"NCHW"[d]} ${verb} ${needed}`);
      if (stride[d] !== needed) break;
    }
    needed *= shape[d];
  }
  const found = steps.join(", ") || "all sizes are 1";
  return `${format}, from the innermost dim: ${found}, so ${isIn ? "yes" : "no"}.`;
}

/** @type {(answer: string, said: string, layout: Layout) => string} */
function mistakeOf(answer, said, layout) {
  if (answer === "both") return said === "neither" ? "size-1 dim" : "one format only";
  if (said === "both") return isDense(layout) ? "any dense tensor" : "order without packing";
  if (said === "neither") return layout.shape.includes(1) ? "size-1 dim" : "order of the shape";
  if (answer === "neither") return isDense(layout) ? "order of the shape" : "order without packing";
  return said === "contiguous" ? "order of the shape" : "formats exchanged";
}

/**
 * Small images: packed by rows, or by channels, or in another order, and sometimes cut.
 * @param {Random} random
 * @returns {Drawn}
 */
function drawImages(random) {
  const sizes = [random.between(1, 2), random.pick([1, 2, 3, 3]), random.between(1, 3)];
  const shape = [...sizes, random.between(1, 3)];
  const order = random.pick([[0, 1, 2, 3], [0, 2, 3, 1], [0, 2, 3, 1], random.shuffled(range(4))]);
  const base = rowMajor(
    order.map((d) => shape[d]),
    4,
  );
  const size = shape.reduce((a, b) => a * b, 1);
  const places = range(4).map((d) => order.indexOf(d));
  const whole = apply(base, { name: "permute", args: [places] }).layout;
  const d = random.below(4);
  if (random.below(3) || whole.shape[d] < 2) return { layout: whole, size };
  const args = [d, 0, random.between(1, whole.shape[d] - 1)];
  return { layout: apply(whole, { name: "narrow", args }).layout, size };
}

export const format = {
  lesson: ["04_channels_last", "In which format is a tensor?"],
  mistakes: MISTAKES,
  draft,
};
