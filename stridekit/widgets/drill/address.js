// At which byte of its storage does an element begin?

import { contiguousStride, elementName, numel, offset, reach } from "../page/layout.js";
import { draw, numbersOf, setupOf, toneOfRows, tonesOf } from "./drawn.js";

/** @import { Draft, Wrong } from "./drawn.js" */
/** @import { Random } from "./random.js" */

const MISTAKES = {
  "without the offset":
    "That leaves out storage_offset: reading starts there, and not at the beginning of the storage.",
  "in elements":
    "That is the number of the element. Its byte is that number times the size of an element.",
  "packed by rows":
    "That counts with the strides of a tensor that is packed by rows. This tensor has strides of its own.",
  "strides in reverse":
    "That takes the strides from the wrong end: index i of a dim belongs to the stride of the same dim.",
  "offset in bytes": "That adds storage_offset as bytes. It counts elements, as the strides do.",
};

const MOST_IF_EASY = 20; // elements, in two dims

/**
 * @param {Random} random
 * @returns {Draft}
 */
function draft(random) {
  const x = draw(random, { itemsizes: [2, 4, 4, 8, 8] });
  const { layout } = x;
  const { shape, stride, storage_offset: start, itemsize } = layout;
  const index = shape.map((size) => random.below(size));
  const element = offset(layout, index);
  const name = elementName(index, "x");
  const inRows = { stride: contiguousStride(shape), storage_offset: start };
  const inReverse = { stride: stride.toReversed(), storage_offset: start };
  /** @type {[mistake: keyof typeof MISTAKES, byte: number][]} */
  const wrong = [
    ["without the offset", (element - start) * itemsize],
    ["in elements", element],
    ["packed by rows", offset(inRows, index) * itemsize],
    ["strides in reverse", offset(inReverse, index) * itemsize],
    ["offset in bytes", start + (element - start) * itemsize],
  ];
  const terms = index.map((i, d) => `${i} · ${stride[d]}`);
  const { elements } = reach(layout);
  return {
    text:
      `\`x\` has ${numbersOf(layout, true)}. ` +
      `At which byte of its storage does \`${name}\` begin?`,
    setup: setupOf("x", x),
    experiment: `${name}.data_ptr() - x.untyped_storage().data_ptr()`,
    answer: String(element * itemsize),
    wrong: wrong.map(([mistake, byte]) => [mistake, String(byte)]),
    isHard: shape.length > 2 || numel(layout) > MOST_IF_EASY,
    why:
      `The element is storage_offset plus index times stride for each dim: ` +
      `${start} + ${terms.join(" + ")} = ${element}. ` +
      `Each element has ${itemsize} bytes, so that it begins at byte ${element} · ${itemsize} = ${element * itemsize}.`,
    picture: {
      grids: [{ name: "x", layout }],
      tones: tonesOf(x, elements, toneOfRows(layout)),
      spot: element,
      perRow: null,
      caption: `${name} is element ${element} of the storage: byte ${element * itemsize}.`,
    },
  };
}

export const address = {
  lesson: ["01_strides", "The storage offset: where reading starts"],
  mistakes: MISTAKES,
  draft,
};
