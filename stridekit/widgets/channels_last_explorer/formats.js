// What ChannelsLastExplorer counts and says: places in both memory formats, the flags, the facts, the code.

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

export const MAX_SIZES = [3, 4, 3, 5]; // what two tapes show legibly on one screen
export const CHOICES = { highlight: ["pixel", "channel"] };
export const EXAMPLE = { shape: [2, 3, 2, 4], index: [0, 1, 1, 2], highlight: "pixel" };
export const FORMATS = ["contiguous_format", "channels_last"];
export const LETTERS = "abcd";
const NAME = "memory_format=torch.channels_last";
const [CLONE, CONTIGUOUS] = ["clone", "contiguous"].flatMap((name) =>
  readSteps(`.${name}(${NAME})`),
);

export function layouts(shape) {
  const x = rowMajor(shape, 4);
  return { contiguous_format: x, channels_last: apply(x, CLONE).layout };
}

/** The text in the box of x[n, c, h, w]: a letter for the channel, digits for the pixel. */
export const label = ([, c, h, w]) => `${LETTERS[c]}${h}${w}`;

/** The indices that light up with x[n, c, h, w]: all channels of its pixel, or all pixels of its channel. */
export function group(shape, [n, c, h, w], highlight) {
  if (highlight === "pixel") return range(shape[1]).map((k) => [n, k, h, w]);
  return range(shape[2]).flatMap((i) => range(shape[3]).map((j) => [n, c, i, j]));
}

/** The number of elements from one of the group to the next; null if there is only one. */
export function step(layout, index, highlight) {
  const [first, second = null] = group(layout.shape, index, highlight)
    .map((i) => offset(layout, i))
    .sort((a, b) => a - b);
  return second && second - first;
}

export const apart = (steps) =>
  ({ null: "one element alone", 1: "side by side" })[steps] ?? `${steps} elements apart`;

/** A sentence on the distances within the group in each order: the idea of the widget. */
export function spread(shape, index, highlight) {
  const [n, c, h, w] = index;
  const count = group(shape, index, highlight).length;
  const [what, alone] = {
    pixel: [`channels of pixel (${n}, ${h}, ${w})`, `Pixel (${n}, ${h}, ${w}) has one channel`],
    channel: [`pixels of channel ${c} of image ${n}`, `Channel ${c} of image ${n} has one pixel`],
  }[highlight];
  if (count === 1) return `${alone}: there is nothing to step over.`;
  const both = layouts(shape);
  const steps = Object.fromEntries(
    FORMATS.map((name) => [name, step(both[name], index, highlight)]),
  );
  const [near, far] = [...FORMATS].sort((a, b) => steps[a] - steps[b]);
  if (steps[near] === steps[far]) return `The ${count} ${what} lie side by side in both orders.`;
  return `The ${count} ${what} lie side by side in ${near}, ${apart(steps[far])} in ${far}.`;
}

export function place(shape, index) {
  const both = layouts(shape);
  const where = FORMATS.map((name) => `element ${offset(both[name], index)} in ${name}`);
  return `${elementName(index, "x")} is ${where.join(", ")}.`;
}

/** A note that says if the flags tell the formats apart, and if not, which sizes are the cause. */
export function badge([, c, h, w]) {
  if (c > 1 && h * w > 1) return "not ambiguous: one flag is True, the other False";
  const names = { true: { true: "C, H and W are", false: "C is" }, false: { true: "H and W are" } }[
    c === 1
  ][h * w === 1];
  return `ambiguous: ${names} 1, so both flags are True`;
}

export function verdicts(shape) {
  const { contiguous_format: x, channels_last: converted } = layouts(shape);
  const asked = apply(x, CONTIGUOUS);
  const flag = !asked.copied;
  // A contiguous tensor is never taken for channels_last, whatever its flags say: .to always copies.
  return [
    [true, "x.is_contiguous() is True"],
    [flag, `x.is_contiguous(${NAME}) is ${flag ? "True" : "False"}`],
    [null, `x.contiguous(${NAME}) is ${outcome(asked.copied, asked.layout)}`],
    [null, `x.to(${NAME}) is ${outcome(true, converted)}`],
  ];
}

const outcome = (copied, { stride }) =>
  `${copied ? "a copy" : "x itself"}: stride ${tuple(stride)}`;

export const code = ({ shape }) =>
  `x = torch.arange(${product(shape)}.).view${tuple(shape)}\n` +
  "y = x.to(memory_format=torch.channels_last)";

/** The elements in each order of memory, by their numbers in row-major order. */
export function orders(shape) {
  const boxes = range(product(shape));
  return {
    contiguous_format: boxes,
    channels_last: boxes.map((k) => flatten(shape, unflatten(shape, k, [0, 2, 3, 1]))),
  };
}

/** The elements line by line across planes, of which so many stand side by side: a divisor of C. */
export function planes(shape, across) {
  const [n, c, h, w] = shape;
  return range(product(shape)).map((k) => {
    const [a, group, i, b, j] = unflatten([n, c / across, h, across, w], k);
    return flatten(shape, [a, group * across + b, i, j]);
  });
}

/** The largest divisor of a number that is no more than `room`, and at least 1. */
export const most = (number, room) =>
  range(number)
    .map((k) => k + 1)
    .findLast((k) => number % k === 0 && k <= Math.max(room, 1));

export const told = ({ shape, index, highlight }) => [
  `ChannelsLastExplorer: shape ${tuple(shape)}`,
  ...Object.entries(layouts(shape)).map(([name, { stride }]) => `${name}: stride ${tuple(stride)}`),
  place(shape, index),
  spread(shape, index, highlight),
  badge(shape),
  ...verdicts(shape).map(verdict),
];

/** The facts of a state, over which goals are set: its flags, and its element's place and group's step in each format. */
export function facts({ shape, index, highlight }) {
  const { contiguous_format: rows, channels_last: last } = layouts(shape);
  return {
    shape,
    index,
    highlight,
    ambiguous: isInFormat("channels_last", rows),
    contiguous_element: offset(rows, index),
    channels_last_element: offset(last, index),
    contiguous_step: step(rows, index, highlight),
    channels_last_step: step(last, index, highlight),
  };
}
