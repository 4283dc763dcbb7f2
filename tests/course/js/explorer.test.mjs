// The stride explorer's pictures without a page: where slots, labels and grips stand.

import assert from "node:assert/strict";
import test from "node:test";

import { offset, reach } from "../../../stridekit/widgets/page/layout.js";
import { marksOf } from "../../../stridekit/widgets/stride_explorer/marks.js";
import { tapeGeometry, tapeRows } from "../../../stridekit/widgets/stride_explorer/tape.js";

test("a large tape leaves out what is not reached, and counts it", () => {
  const owners = new Map([
    [0, [0]],
    [1000, [1]],
    [1999, [2]],
  ]);
  const rows = tapeRows(2000, 16, owners);
  assert.deepEqual(
    rows.map((row) => row.row ?? `+${row.gap}`),
    [0, "+61", 62, "+61", 124],
  );
  const shown = rows.filter((row) => !row.gap).length * 16;
  const left = rows.reduce((sum, row) => sum + (row.elements ?? 0), 0);
  assert.equal(shown + left, 2000);
});

/** What the tape draws for a layout on a storage, with the given index selected and term lit. */
function drawn(layout, storageSize, index = null, lit = null) {
  const { owners } = reach(layout);
  const element = index === null ? null : offset(layout, index);
  const view = { layout, storageSize, owners, index, lit, spot: { element } };
  const g = tapeGeometry(storageSize, layout, 900, owners);
  return { g, ...marksOf(g, view) };
}

test("no two grips lie on each other, also where strides are equal", () => {
  for (const shape of [
    [3, 3],
    [1, 1],
  ])
    for (const stride of [
      [1, 1],
      [0, 0],
      [16, 16],
      [8, 1],
    ]) {
      const { grips } = drawn({ shape, stride, storage_offset: 0, itemsize: 4 }, 64);
      const places = new Set(grips.map(([x, y]) => `${x},${y}`));
      assert.equal(places.size, stride[0] ? 5 : 3, `${shape} ${stride}`);
    }
});

test("no two labels lie on each other, wherever steps lead", () => {
  const width = (text) => 7 * text.length;
  const cases = [
    [8, 1],
    [9, 1],
    [16, 1],
    [1, 2],
    [17, 16],
    [15, 1],
    [0, 1],
    [2, 1],
    [5, 4],
  ].flatMap((stride) =>
    [0, 1, 2, 5].flatMap((start) =>
      [
        [96, null],
        [40, null],
        [40, 0],
        [40, 1],
      ].map((rest) => [stride, start, ...rest]),
    ),
  );
  for (const [stride, start, storageSize, lit] of cases) {
    const layout = { shape: [3, 3], stride, storage_offset: start, itemsize: 4 };
    const boxes = drawn(layout, storageSize, [1, 1], lit).tags.map(([text, x, y, kind]) => {
      const left =
        x -
        (kind.includes("is-left")
          ? width(text)
          : kind.includes("is-centred")
            ? width(text) / 2
            : 0);
      return { text, left, right: left + width(text), y };
    });
    for (const a of boxes)
      for (const b of boxes) {
        const areApart =
          a === b || a.right <= b.left || b.right <= a.left || Math.abs(a.y - b.y) >= 14;
        assert.ok(
          areApart,
          `${a.text} and ${b.text}: ${stride} ${start} of ${storageSize}, ${lit} lit`,
        );
      }
  }
});
