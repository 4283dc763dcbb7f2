// operations.js and view_rule.js against the answers of Python: numbers, copies and refusals.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Refused, readSteps } from "../../stridekit/widgets/page/grammar.js";
import { apply, elementwise, sameLayout } from "../../stridekit/widgets/page/operations.js";
import { chunksOf } from "../../stridekit/widgets/page/view_rule.js";

const read = (text) => readSteps(text)[0];
const cases = JSON.parse(readFileSync(new URL("../fixtures/operations.json", import.meta.url)));

test("every step gives Python's layout, or is refused with Python's sentence", () => {
  for (const { layout, step, result, error } of cases)
    if (error) assert.throws(() => apply(layout, read(step)), new Refused(error), step);
    else {
      const { layout: after, copied } = apply(layout, read(step));
      assert.deepEqual({ ...after, copied }, result, step);
    }
});

test("the fixture refuses often enough, and copies", () => {
  assert.ok(cases.filter(({ error }) => error).length > 80);
  assert.ok(cases.filter(({ result }) => result?.copied).length > 20);
});

test("elementwise gives torch's layout of a new tensor, sizes of 0 and 1 included", () => {
  const sums = JSON.parse(readFileSync(new URL("../fixtures/elementwise.json", import.meta.url)));
  assert.ok(sums.filter(({ shape }) => shape?.includes(0)).length > 100);
  for (const { operands, error, shape, stride } of sums) {
    const layouts = operands.map(([shape, stride]) => ({ shape, stride, storage_offset: 0, itemsize: 8 }));
    if (error) assert.throws(() => elementwise(...layouts), new Refused(error));
    else assert.deepEqual(elementwise(...layouts), { shape, stride, storage_offset: 0, itemsize: 8 });
  }
});

test("a step may be written with or without its dot, spaces and trailing commas", () => {
  const x = { shape: [4, 6], stride: [6, 1], storage_offset: 0, itemsize: 4 };
  for (const text of [".permute(1, 0)", "permute((1,0))", " .permute( [1, 0,] ) ", ".T", "mT", ".t()"])
    assert.deepEqual(apply(x, read(text)).layout.shape, [6, 4], text);
  assert.deepEqual(apply(x, read("[1:, None, ::2]")).layout.shape, [3, 1, 3]);
  assert.deepEqual(apply(x, read("[..., -1]")).layout.storage_offset, 5);
  assert.ok(sameLayout(x, apply(x, read("[...]")).layout));
});

test("chunks are the runs of dims that step evenly", () => {
  assert.deepEqual(chunksOf([2, 3, 4], [12, 4, 1]), [{ first: 0, last: 2, numel: 24, stride: 1 }]);
  assert.equal(chunksOf([3, 4], [8, 1]).length, 2);
});
