// ChannelsLastExplorer in numbers and words: places in both memory formats, the flags, the facts,
// the code.

import { readSteps } from "../page/grammar.js";
import {
  apply,
  elementName,
  flatten,
  isInFormat,
  offset,
  product,
  range,
  rowMajor,
  tuple,
  unflatten,
  verdict,
} from "../page/layout.js";

/** @import { Layout, Verdict } from "../page/layout.js" */

/**
 * The sizes (N, C, H, W), the index of the selected element, and the group that lights up with the
 * element.
 *
 * @typedef {{ shape: number[], index: number[], highlight: string }} State
 */

export const MAX_SIZES = [3, 4, 3, 5]; // two tapes of these sizes are legible on one screen
export const CHOICES = { highlight: ["pixel", "channel"] };
/** @type {State} */
export const EXAMPLE = { shape: [2, 3, 2, 4], index: [0, 1, 1, 2], highlight: "pixel" };
export const FORMATS = ["contiguous_format", "channels_last"];
export const LETTERS = "abcd"; // of the channels
const ARGUMENT = "memory_format=torch.channels_last";
const [CLONE] = readSteps(`.clone(${ARGUMENT})`);
const [CONTIGUOUS] = readSteps(`.contiguous(${ARGUMENT})`);

// Elements ----------------------------------------------------------------------------------------

/** The layout in each format. */
export function layouts(shape) {
  const x = rowMajor(shape, 4);
  return { contiguous_format: x, channels_last: apply(x, CLONE).layout };
}

/**
 * The text in the box of x[n, c, h, w]: a letter for the channel, digits for the pixel.
 *
 * @param {number[]} index
 */
export const label = ([, c, h, w]) => `${LETTERS[c]}${h}${w}`;

/**
 * The indices that light up with x[n, c, h, w]: all channels of its pixel, or all pixels of its
 * channel.
 *
 * @param {number[]} shape
 * @param {number[]} index
 * @param {string} highlight
 */
export function group(shape, [n, c, h, w], highlight) {
  if (highlight === "pixel") return range(shape[1]).map((k) => [n, k, h, w]);
  return range(shape[2]).flatMap((i) => range(shape[3]).map((j) => [n, c, i, j]));
}

/**
 * The number of elements from a member of the group to the next; null if the group has one member.
 *
 * @param {Layout} layout
 * @param {number[]} index
 * @param {string} highlight
 */
export function step(layout, index, highlight) {
  const places = group(layout.shape, index, highlight).map((i) => offset(layout, i));
  if (places.length === 1) return null;
  places.sort((a, b) => a - b);
  return places[1] - places[0];
}

/** The elements in each order of memory, by their numbers in row-major order. */
export function orders(shape) {
  const flats = range(product(shape));
  return {
    contiguous_format: flats,
    channels_last: flats.map((k) => flatten(shape, unflatten(shape, k, [0, 2, 3, 1]))),
  };
}

/**
 * The elements line by line across planes, of which `across` stand side by side: a divisor of C.
 */
export function planes(shape, across) {
  const [n, c, h, w] = shape;
  return range(product(shape)).map((k) => {
    const [image, row, i, column, j] = unflatten([n, c / across, h, across, w], k);
    return flatten(shape, [image, row * across + column, i, j]);
  });
}

/** The largest divisor of n that is no more than `room`, and at least 1. */
export function largestDivisor(n, room) {
  let divisor = Math.max(Math.min(n, room), 1);
  while (n % divisor) divisor -= 1;
  return divisor;
}

// Words -------------------------------------------------------------------------------------------

/** @param {number | null} elements */
export function apart(elements) {
  if (elements === null) return "one element alone";
  return elements === 1 ? "side by side" : `${elements} elements apart`;
}

/** A sentence on the distances within the group in each order: the idea of the widget. */
export function spread(shape, index, highlight) {
  const [n, c, h, w] = index;
  const isPixel = highlight === "pixel";
  const count = group(shape, index, highlight).length;
  if (count === 1) {
    const subject = isPixel
      ? `Pixel (${n}, ${h}, ${w}) has one channel`
      : `Channel ${c} of image ${n} has one pixel`;
    return `${subject}: there is nothing to step over.`;
  }
  const members = isPixel
    ? `channels of pixel (${n}, ${h}, ${w})`
    : `pixels of channel ${c} of image ${n}`;
  const layoutsByFormat = layouts(shape);
  const steps = FORMATS.map((name) => step(layoutsByFormat[name], index, highlight) ?? 0);
  if (steps[0] === steps[1]) return `The ${count} ${members} lie side by side in both orders.`;
  const near = steps[0] < steps[1] ? 0 : 1;
  const far = 1 - near;
  return (
    `The ${count} ${members} lie side by side in ${FORMATS[near]}, ` +
    `${apart(steps[far])} in ${FORMATS[far]}.`
  );
}

/** The place of an element in each format, in words. */
export function place(shape, index) {
  const layoutsByFormat = layouts(shape);
  const places = FORMATS.map(
    (name) => `element ${offset(layoutsByFormat[name], index)} in ${name}`,
  );
  return `${elementName(index, "x")} is ${places.join(", ")}.`;
}

/**
 * A note that says if the flags tell the formats apart, and if not, which sizes are the cause.
 *
 * @param {number[]} shape
 */
export function badge([, c, h, w]) {
  const isOneChannel = c === 1;
  const isOnePixel = h * w === 1;
  if (!isOneChannel && !isOnePixel) return "not ambiguous: one flag is True, the other False";
  let sizes = "H and W are";
  if (isOneChannel) sizes = isOnePixel ? "C, H and W are" : "C is";
  return `ambiguous: ${sizes} 1, so both flags are True`;
}

/**
 * @param {number[]} shape
 * @returns {Verdict[]}
 */
export function verdicts(shape) {
  const { contiguous_format: x, channels_last: converted } = layouts(shape);
  const { copied, layout } = apply(x, CONTIGUOUS);
  // A contiguous tensor is never taken for channels_last, whatever its flags say: .to always
  // copies.
  return [
    [true, "x.is_contiguous() is True"],
    [!copied, `x.is_contiguous(${ARGUMENT}) is ${copied ? "False" : "True"}`],
    [null, `x.contiguous(${ARGUMENT}) is ${outcome(copied, layout)}`],
    [null, `x.to(${ARGUMENT}) is ${outcome(true, converted)}`],
  ];
}

const outcome = (isCopy, { stride }) =>
  `${isCopy ? "a copy" : "x itself"}: stride ${tuple(stride)}`;

export const code = ({ shape }) =>
  `x = torch.arange(${product(shape)}.).view${tuple(shape)}\n` +
  "y = x.to(memory_format=torch.channels_last)";

/** The lines of the repr. */
export const told = ({ shape, index, highlight }) => [
  `ChannelsLastExplorer: shape ${tuple(shape)}`,
  ...Object.entries(layouts(shape)).map(([name, { stride }]) => `${name}: stride ${tuple(stride)}`),
  place(shape, index),
  spread(shape, index, highlight),
  badge(shape),
  ...verdicts(shape).map(verdict),
];

/**
 * The facts of a state, over which goals are set: its flags, the place of its element and the step
 * of its group in each format.
 *
 * @param {State} state
 */
export function facts({ shape, index, highlight }) {
  const { contiguous_format: contiguous, channels_last: last } = layouts(shape);
  return {
    shape,
    index,
    highlight,
    ambiguous: isInFormat("channels_last", contiguous),
    contiguous_element: offset(contiguous, index),
    channels_last_element: offset(last, index),
    contiguous_step: step(contiguous, index, highlight),
    channels_last_step: step(last, index, highlight),
  };
}
