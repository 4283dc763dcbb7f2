// reshape_stepper/steps.js against Python's sentences, and the geometry of the two rows of dims.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { spread } from "../../stridekit/widgets/reshape_stepper/figure.js";
import { consequences, followed, stepsOf } from "../../stridekit/widgets/reshape_stepper/steps.js";
import { readTarget, viewOf } from "../../stridekit/widgets/reshape_stepper/view.js";

const { cases, followed: told } = JSON.parse(readFileSync(new URL("../fixtures/reshape_stepper.json", import.meta.url)));

test("every step of every walk is Python's, and so is what follows", () => {
  for (const { layout, target, steps, consequences: meant } of cases) {
    assert.deepEqual(stepsOf(layout, target), steps, JSON.stringify([layout, target]));
    assert.deepEqual(consequences(layout, target), meant, JSON.stringify([layout, target]));
  }
});

test("the followed element is told in Python's words", () => {
  assert.deepEqual([null, true, false].map((moved) => followed(7, ["x[1, 2]", "y[3]"], 5, moved)), told);
});

test("the fixture has views and refusals", () => {
  const stuck = cases.filter(({ steps }) => steps.some(({ part }) => part === "stuck")).length;
  assert.ok(stuck > 40 && cases.length - stuck > 40, `${stuck} of ${cases.length}`);
});

test("every step has a picture", () => {
  for (const { layout, target, steps } of cases)
    steps.forEach((_, step) => {
      const view = viewOf({ ...layout, target, step, flat: 0 });
      assert.equal(view.dims.length, layout.shape.length);
      assert.equal(view.fresh.length, target.length);
    });
});

test("at the end the new dims have the view's strides", () => {
  for (const { layout, target, steps } of cases) {
    const view = viewOf({ ...layout, target, step: steps.length - 1, flat: 0 });
    if (view.reason || layout.shape.includes(0)) continue;
    assert.deepEqual(view.fresh.map(({ stride }) => stride), view.stride.map((one) => [`stride ${one}`, `${one}`]));
  }
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

test("boundaries of one product stand one above the other, and nothing overlaps", () => {
  for (const { layout, target } of cases) {
    const places = spread(layout.shape, target, 800);
    for (const row of [places.old, places.fresh])
      row.forEach(([left, width], d) => {
        assert.ok(width > 0 && left >= -1e-9 && left + width <= 800 + 1e-9, JSON.stringify([layout, target]));
        if (d) assert.ok(Math.abs(row[d - 1][0] + row[d - 1][1] - left) < 1e-9);
      });
    if (layout.shape.includes(0) || layout.shape.includes(1) || target.includes(1)) continue;
    const inner = (shape, d) => shape.slice(d).reduce((a, b) => a * b, 1);
    layout.shape.forEach((_, d) => target.forEach((_, e) => {
      const same = inner(layout.shape, d) === inner(target, e);
      if (same) assert.ok(Math.abs(places.old[d][0] - places.fresh[e][0]) < 1e-9);
    }));
  }
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
