// The stride explorer's pictures without a page: where slots, labels and grips stand.

import assert from "node:assert/strict";
import test from "node:test";

import { offset, reach } from "../../../stridekit/widgets/page/layout.js";
import { marksOf } from "../../../stridekit/widgets/stride_explorer/marks.js";
import { tapeGeometry, tapeRows } from "../../../stridekit/widgets/stride_explorer/tape.js";

/** @import { Layout } from "../../../stridekit/widgets/page/layout.js" */
/** @import { Tag } from "../../../stridekit/widgets/stride_explorer/marks.js" */

test("a large tape leaves out what is not reached, and counts it", () => {
  const owners = new Map([
    [0, [0]],
    [1000, [1]],
    [1999, [2]],
  ]);
  const rows = tapeRows(2000, 16, owners);
  const names = rows.map((row) => row.row ?? `+${row.gap}`);
  assert.deepEqual(names, [0, "+61", 62, "+61", 124]);
  let count = 0;
  for (const row of rows) count += row.gap === undefined ? 16 : row.elements;
  assert.equal(count, 2000);
});

/**
 * The marks of the tape for a layout on a storage, with an index selected and a term lit.
 * @param {Layout} layout
 * @param {number} storageSize
 * @param {number[] | null} index
 * @param {number | null} lit
 */
function marksFor(layout, storageSize, index = null, lit = null) {
  const { owners } = reach(layout);
  const spot = { element: index && offset(layout, index) };
  const geometry = tapeGeometry(storageSize, layout, 900, owners);
  const dims = layout.shape.map((_, d) => d);
  const whole = { layout, part: layout, dims, window: null, named: String };
  return marksOf(geometry, { ...whole, storageSize, index, lit, spot, label: String });
}

const GRIP_SHAPES = [
  [3, 3],
  [1, 1],
];
const GRIP_STRIDES = [
  [1, 1],
  [0, 0],
  [16, 16],
  [8, 1],
];

test("no two grips lie on each other, also where strides are equal", () => {
  for (const shape of GRIP_SHAPES)
    for (const stride of GRIP_STRIDES) {
      const { grips } = marksFor({ shape, stride, storage_offset: 0, itemsize: 4 }, 64);
      const places = new Set(grips.map(([x, y]) => `${x},${y}`));
      assert.equal(places.size, stride[0] ? 5 : 3, `${shape} ${stride}`);
    }
});

const LABEL_STRIDES = [
  [8, 1],
  [9, 1],
  [16, 1],
  [1, 2],
  [17, 16],
  [15, 1],
  [0, 1],
  [2, 1],
  [5, 4],
];

/** @type {[storageSize: number, lit: number | null][]} */
const LIT = [
  [96, null],
  [40, null],
  [40, 0],
  [40, 1],
];

/**
 * The box of a label, as wide as its text.
 * @param {Tag} tag
 */
function boxOf([text, x, y, kind]) {
  const width = 7 * text.length;
  let left = x;
  if (kind.includes("is-left")) left -= width;
  else if (kind.includes("is-centred")) left -= width / 2;
  return { text, left, right: left + width, y };
}

const areApart = (a, b) => a.right <= b.left || b.right <= a.left || Math.abs(a.y - b.y) >= 14;

test("no two labels lie on each other, wherever steps lead", () => {
  for (const stride of LABEL_STRIDES)
    for (const start of [0, 1, 2, 5])
      for (const [storageSize, lit] of LIT) {
        const layout = { shape: [3, 3], stride, storage_offset: start, itemsize: 4 };
        const boxes = marksFor(layout, storageSize, [1, 1], lit).tags.map(boxOf);
        const picture = `${stride} ${start} of ${storageSize}, ${lit} lit`;
        for (const [k, a] of boxes.entries())
          for (const b of boxes.slice(k + 1))
            assert.ok(areApart(a, b), `${a.text} and ${b.text}: ${picture}`);
      }
});
