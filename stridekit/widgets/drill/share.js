// How many bytes do two views share?

import {
  apply,
  counted,
  firstOf,
  lastOf,
  numel,
  range,
  reach,
  rowMajor,
  tuple,
} from "../page/layout.js";
import { named, setupOf } from "./drawn.js";

/** @import { Layout } from "../page/layout.js" */
/** @import { Draft } from "./drawn.js" */
/** @import { Random } from "./random.js" */

const MISTAKES = {
  "another start":
    "Two tensors that begin at different addresses can still share bytes: compare all that they reach.",
  "ranges that overlap":
    "That counts the overlap of the ranges from the first to the last byte. Strides may step over it.",
  "one storage": "Both lie in one storage, but neither has to reach all that the other reaches.",
  "in elements": "That counts elements. Each of them has several bytes.",
};

/**
 * @param {Random} random
 * @returns {Draft | null}
 */
function draft(random) {
  const itemsize = random.pick([2, 4, 8]);
  const shape = random.below(3)
    ? [random.between(4, 6), random.between(4, 6)]
    : [random.between(12, 24)];
  const x = { layout: rowMajor(shape, itemsize), size: numel({ shape }) };
  const first = drawPart(random, x.layout);
  const second = drawPart(random, x.layout);
  if (first.text === second.text) return null;
  const y = first.layout;
  const z = second.layout;
  const reachedByY = new Set(reach(y).elements);
  const inBoth = reach(z).elements.filter((element) => reachedByY.has(element));
  const overlap = Math.min(lastOf(y), lastOf(z)) - Math.max(firstOf(y), firstOf(z)) + 1;
  /** @type {[mistake: string, bytes: number][]} */
  const wrong = [
    ["another start", y.storage_offset === z.storage_offset ? inBoth.length * itemsize : 0],
    ["ranges that overlap", Math.max(overlap, 0) * itemsize],
    ["one storage", Math.min(numel(y), numel(z)) * itemsize],
    ["in elements", inBoth.length || Math.max(overlap, 0)],
  ];
  const bytes = inBoth.length * itemsize;
  const reachedByZ = new Set(reach(z).elements);
  const tones = range(x.size).map((element) => {
    if (reachedByY.has(element)) return reachedByZ.has(element) ? 5 : 0;
    return reachedByZ.has(element) ? 1 : null;
  });
  const shared = inBoth.length
    ? `${inBoth.length === 1 ? "element" : "elements"} ${named(inBoth)} in both`
    : "no element in both";
  return {
    text:
      `\`x\` is packed by rows, with shape \`${tuple(shape)}\` and elements of ${itemsize} bytes. ` +
      `How many bytes do \`y = x${first.text}\` and \`z = x${second.text}\` share?`,
    setup: `${setupOf("x", x)}\ny, z = x${first.text}, x${second.text}`,
    experiment: "len({*y.flatten().tolist()} & {*z.flatten().tolist()}) * x.itemsize",
    answer: String(bytes),
    wrong: wrong.map(([mistake, count]) => [mistake, String(count)]),
    why:
      `\`y\` reaches ${counted(numel(y), "element")} and \`z\` reaches ${numel(z)}, with ${shared}: ` +
      `${inBoth.length} · ${itemsize} = ${bytes} bytes.`,
    picture: {
      grids: [
        { name: "y", layout: y },
        { name: "z", layout: z },
      ],
      tones,
      spot: null,
      perRow: null,
      caption:
        "Cyan elements are in y alone, sand-coloured ones in z alone, and coral ones in both.",
    },
  };
}

/**
 * A part of a tensor, and the index that takes it.
 * @type {(random: Random, layout: Layout) => { text: string, layout: Layout }}
 */
function drawPart(random, layout) {
  const items = layout.shape.map((size) => drawItem(random, size));
  const texts = items.map(textOf);
  while (texts.length > 1 && texts.at(-1) === ":") texts.pop();
  const part = apply(layout, { name: "[]", args: items }).layout;
  return { text: `[${texts.join(", ")}]`, layout: part };
}

/** @type {(random: Random, size: number) => { slice: (number | null)[] }} */
function drawItem(random, size) {
  const start = random.pick([null, 1, 2, Math.floor(size / 2)]);
  const stop = random.pick([null, null, size - 1, Math.ceil(size / 2) + 1]);
  const way = random.below(4);
  if (way === 0) return { slice: [null, null] };
  if (way === 1) return { slice: [random.pick([null, 1]), null, random.between(2, 3)] };
  return { slice: [start, stop] };
}

/** @param {{ slice: (number | null)[] }} item */
const textOf = ({ slice }) => slice.map((bound) => bound ?? "").join(":");

export const share = {
  lesson: ["02_views", "Sharing is a question about two sets"],
  mistakes: MISTAKES,
  draft,
};
