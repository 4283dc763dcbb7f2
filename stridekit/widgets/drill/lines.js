// How many cache lines have to be read?

import { CACHE_LINE, extent, numel, reach } from "../page/layout.js";
import { draw, numbersOf, setupOf, toneOfRows, tonesOf } from "./drawn.js";

/** @import { Draft } from "./drawn.js" */
/** @import { Random } from "./random.js" */

const MISTAKES = {
  "bytes of the elements":
    "That divides the bytes of the elements by 64. A line travels whole, also where only one element of it is read.",
  "a line for each element":
    "That counts a line for each element. Elements that lie in one line come together.",
  "the whole range":
    "That counts all lines from the first to the last byte. Lines that no element lies in are not read.",
  "without the offset":
    "That counts from storage_offset 0. The real offset moves the elements across the borders of lines.",
  "64 elements": "That takes a line to hold 64 elements. It holds 64 bytes.",
};

/**
 * @param {Random} random
 * @returns {Draft}
 */
function draft(random) {
  const itemsize = random.pick([4, 8]);
  const perLine = CACHE_LINE / itemsize;
  const most = 8 * perLine;
  const x = draw(random, { ndims: [2], most, itemsizes: [itemsize] });
  const stretched = stretch(x, random, most);
  const { layout } = stretched;
  const { elements } = reach(layout);
  const start = layout.storage_offset;
  const lines = linesOf(elements, perLine);
  /** @type {[mistake: string, count: number][]} */
  const wrong = [
    ["bytes of the elements", Math.ceil(numel(layout) / perLine)],
    ["a line for each element", numel(layout)],
    ["the whole range", linesOfRange(start, extent(layout), perLine)],
    [
      "without the offset",
      linesOf(
        elements.map((element) => element - start),
        perLine,
      ).length,
    ],
    ["64 elements", linesOf(elements, CACHE_LINE).length],
  ];
  return {
    text:
      `\`x\` has ${numbersOf(layout, true)}. Its storage begins at a cache line of 64 bytes. ` +
      "How many lines are read if all elements of `x` are read?",
    setup: setupOf("x", stretched),
    experiment: "len({int(element) * x.itemsize // 64 for element in x.flatten()})",
    answer: String(lines.length),
    wrong: wrong.map(([mistake, count]) => [mistake, String(count)]),
    why:
      `A line holds 64 / ${itemsize} = ${perLine} elements. ` +
      `The elements of \`x\` lie in lines ${lines.join(", ")}: that is ${lines.length}.`,
    picture: {
      grids: [{ name: "x", layout }],
      tones: tonesOf(stretched, elements, toneOfRows(layout)),
      spot: null,
      perRow: perLine,
      caption: "Each row of the storage is one cache line.",
    },
  };
}

/**
 * The same layout with a wider outer stride, so that its elements lie in several lines.
 * @type {(x: import("./drawn.js").Drawn, random: Random, most: number) => import("./drawn.js").Drawn}
 */
function stretch(x, random, most) {
  const { layout } = x;
  const outer = layout.stride.indexOf(Math.max(...layout.stride));
  const stride = layout.stride.with(outer, layout.stride[outer] * random.between(1, 4));
  const start = random.pick([0, 1, 2, 5, 7, 11]);
  const wider = { ...layout, stride, storage_offset: start };
  const size = start + extent(wider);
  if (size > most)
    return { layout: { ...layout, storage_offset: start }, size: start + extent(layout) };
  return { layout: wider, size };
}

/** @type {(elements: number[], perLine: number) => number[]} */
function linesOf(elements, perLine) {
  const lines = new Set(elements.map((element) => Math.floor(element / perLine)));
  return [...lines].sort((a, b) => a - b);
}

/** @type {(start: number, count: number, perLine: number) => number} */
const linesOfRange = (start, count, perLine) =>
  Math.floor((start + count - 1) / perLine) - Math.floor(start / perLine) + 1;

export const lines = {
  lesson: ["05_performance", "Memory travels in lines"],
  mistakes: MISTAKES,
  draft,
};
