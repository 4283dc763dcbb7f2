// The stride explorer's pictures without a page: where slots, labels and grips stand.

import assert from "node:assert/strict";
import test from "node:test";

import { offset, reach } from "../../../stridekit/widgets/page/layout.js";
import { movedIndex } from "../../../stridekit/widgets/stride_explorer/grid.js";
import { marksOf } from "../../../stridekit/widgets/stride_explorer/marks.js";
import { countReached, ownersIn } from "../../../stridekit/widgets/stride_explorer/reached.js";
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
  const geometry = tapeGeometry(storageSize, layout, 900, owners, 1, false);
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

const SHAPES_OF_OWNERS = [[3, 4], [1, 5], [2, 3, 4], [6], [4, 3, 2, 2]];
const STRIDES_OF_OWNERS = [
  [7, 1, 20, 3],
  [0, 2, 5, 9],
  [-4, 1, -12, 30],
  [6, 10, 15, 1],
];

test("the owners of each element are those of a search through all indices", () => {
  for (const shape of SHAPES_OF_OWNERS)
    for (const steps of STRIDES_OF_OWNERS) {
      const layout = {
        shape,
        stride: steps.slice(0, shape.length),
        storage_offset: 50,
        itemsize: 1,
      };
      const reached = new Set(reach(layout).elements);
      const owners = ownersIn(layout);
      assert.equal(countReached(layout), reached.size);
      for (let element = 0; element < 130; element++) {
        const index = owners.of(element);
        assert.equal(owners.has(element), reached.has(element));
        assert.equal(index ? offset(layout, index) : null, reached.has(element) ? element : null);
      }
    }
});

test("a search that would take long has no answer", () => {
  const shape = new Array(30).fill(2);
  const stride = shape.map((_, d) => 1_000_000_007 + 7_919 * d * d * d); // a sum of subsets
  const owners = ownersIn({ shape, stride, storage_offset: 0, itemsize: 1 });
  assert.equal(owners.has(15_000_000_001), undefined);
  assert.equal(owners.of(15_000_000_001), undefined);
  assert.deepEqual(
    owners.of(stride[3]),
    shape.map((_, d) => Number(d === 3)),
  );
});

test("a search tries no digit whose rest the finer steps do not divide", () => {
  // Without that, the 2,344 digits that follow the first one are all tried.
  const layout = { shape: [10, 3000, 4000], stride: [9, 6, 4], storage_offset: 0, itemsize: 1 };
  assert.deepEqual(ownersIn(layout).of(20_002), [8, 2999, 484]);
});

test("keys move along the drawn dims, then along the others", () => {
  const shape = [9, 9, 9, 30];
  const from = [4, 4, 4, 20];
  /** @type {[key: string, index: number[]][]} */
  const moves = [
    ["ArrowRight", [4, 4, 5, 20]],
    ["ArrowUp", [3, 4, 4, 20]],
    ["Control+ArrowDown", [8, 4, 4, 20]],
    ["PageDown", [4, 4, 4, 21]],
    ["Shift+PageUp", [4, 3, 4, 20]],
    ["End", [4, 4, 8, 20]],
  ];
  for (const [key, index] of moves)
    assert.deepEqual(movedIndex(shape, from, key, [0, 2]), index, key);
  assert.equal(movedIndex([9], [4], "ArrowUp"), null);
  assert.equal(movedIndex([9], [4], "a"), null);
});
