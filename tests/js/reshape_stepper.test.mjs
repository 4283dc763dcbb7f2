// What the reshape stepper draws and reads beside its walk, which tests/live.py compares.

import assert from "node:assert/strict";
import test from "node:test";

import { spread } from "../../stridekit/widgets/reshape_stepper/figure.js";
import { followed } from "../../stridekit/widgets/reshape_stepper/steps.js";
import { readTarget, viewOf } from "../../stridekit/widgets/reshape_stepper/view.js";

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

test("many sizes of 1 leave half of the axis to the others", () => {
  const { fresh } = spread([24], [1, 1, 1, 1, 1, 1, 2, 12], 500);
  assert.equal(fresh[6][1] + fresh[7][1], 250);
  assert.ok(fresh[6][1] > 50);
});

test("sizes are read as a person writes them, and refused with the reason", () => {
  const x = { shape: [4, 6], stride: [6, 1] };
  for (const text of ["2, 12", "(2, 12)", " [2 12] ", "2,-1", "(-1, 12,)"])
    assert.deepEqual(readTarget(text, x), [[2, 12], ""], text);
  assert.deepEqual(readTarget("", { shape: [], stride: [] }), [[], ""]);
  const why = (text) => readTarget(text, x)[1];
  assert.equal(why("2 x 12"), 'cannot read "2 x 12": write sizes, such as 2, -1');
  assert.equal(why("5, 5"), "(5, 5) has 25 elements, the layout has 24");
  assert.equal(why("5, -1"), "24 elements do not divide into 5: no size fits the -1");
  assert.match(why("1 1 1 1 1 1 1 1 24"), /9 new dims do not fit/);
  assert.match(why("2--1"), /cannot read/);
});
