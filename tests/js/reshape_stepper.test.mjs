// What the reshape stepper draws and reads beside its walk, which tests/live.py compares.

import assert from "node:assert/strict";
import test from "node:test";

import { readShape, readStride, readTarget } from "../../stridekit/widgets/reshape_stepper/fields.js";
import { spread } from "../../stridekit/widgets/reshape_stepper/figure.js";
import { followed } from "../../stridekit/widgets/reshape_stepper/steps.js";
import { perRow, viewOf } from "../../stridekit/widgets/reshape_stepper/view.js";

test("where the followed element is in both shapes, and where it lies", () => {
  const both = "x[1, 2] is number 5 in row-major order, and so is y[3].";
  assert.deepEqual([null, true, false].map((moved) => followed(7, ["x[1, 2]", "y[3]"], 5, moved)), [
    both,
    `${both} Element 7 of the storage is copied to element 5 of the new one.`,
    `${both} Both are element 7 of the same storage.`,
  ]);
});

test("what is taken has a short form for a narrow box", () => {
  const view = viewOf({ shape: [4, 6], stride: [6, 1], storage_offset: 0, itemsize: 4, target: [2, 12], step: 4, flat: 0 });
  assert.deepEqual(view.fresh[0].taken, ["12 · 2 = 24 of 24", "24/24"]);
});

test("a box stands beside many sizes of 1 as wide as they, on a phone too", () => {
  const { fresh } = spread([2, 2, 2, 2, 2, 2], [2, 2, 2, 1, 2, 2, 2, 1], 328);
  assert.ok(Math.min(...fresh.map(([, width]) => width)) > 40);
});

test("many sizes of 1 leave half of the axis to the others", () => {
  const { fresh } = spread([24], [1, 1, 1, 1, 1, 1, 2, 12], 500);
  assert.equal(fresh[6][1] + fresh[7][1], 250);
  assert.ok(fresh[6][1] > 50);
});

test("at any width a row holds whole runs of the largest stride that fits", () => {
  const rows = (width) => perRow({ stride: [8, 1] }, 40, width);
  assert.deepEqual([900, 500, 250, 100, 10].map(rows), [24, 16, 8, 3, 1]);
});

const x = { shape: [4, 6], stride: [6, 1], storage_offset: 3, itemsize: 8 };

test("a new shape is read as a person writes it, and refused with the reason", () => {
  for (const text of ["2, 12", "(2, 12)", " [2 12] ", "2,-1", "(-1, 12,)", "2x12", "2 × 12", "torch.Size([2, 12])"])
    assert.deepEqual(readTarget(text, x), [[2, 12], ""], text);
  assert.deepEqual(readTarget("", { shape: [], stride: [] }), [[], ""]);
  const why = (text) => readTarget(text, x)[1];
  assert.equal(why("2 by 12"), 'cannot read "2 by 12": write sizes, such as 2, -1');
  assert.equal(why(`2${" by 12".repeat(90)}`), `cannot read "2${" by 12".repeat(9)} by 1…": write sizes, such as 2, -1`);
  assert.equal(why("5, 5"), "(5, 5) has 25 elements, the layout has 24");
  assert.equal(why("5, -1"), "24 elements do not divide into 5: no size fits the -1");
  assert.match(why("1 1 1 1 1 1 1 1 24"), /9 new dims do not fit/);
  for (const text of ["2--1", "2,,12", "1.5, 16", "2; 12", "two"])
    assert.match(why(text), /^cannot read/, text);
  assert.equal(why("9007199254740993"), "numbers beyond 9007199254740991 are not exact in a browser");
});

test("a shape of one's own begins row by row, and a stride of one's own keeps the rest", () => {
  assert.deepEqual(readShape("3 4x5", x), [{ shape: [3, 4, 5], stride: [20, 5, 1], storage_offset: 0, itemsize: 8 }, ""]);
  assert.deepEqual(readStride("(1, 4)", x), [{ ...x, stride: [1, 4] }, ""]);
  assert.equal(readShape("3, -4", x)[1], "size -4 is negative: give sizes of 0 or more");
  assert.equal(readStride("1", x)[1], "shape (4, 6) has 2 dims, stride (1,) is for 1: give one step for each");
  assert.equal(readStride("-6, 1", x)[1], "dim 0 has stride -6: torch has no negative strides");
  assert.equal(readStride("99, 1", x)[1], "shape (4, 6), stride (99, 1) spans 303 elements: the picture holds 256");
});
