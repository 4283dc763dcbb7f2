// channels_last_explorer/words.js against the answers of Python and torch.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import * as words from "../../stridekit/widgets/channels_last_explorer/words.js";
import { flatten, offset, unflatten } from "../../stridekit/widgets/page/core.js";

const fixture = new URL("../fixtures/channels_last_explorer.json", import.meta.url);
const { shapes, elements, chains, network } = JSON.parse(readFileSync(fixture));

test("strides, flags, conversions and code of every shape are Python's", () => {
  for (const { shape, strides, badge, verdicts, code } of shapes) {
    for (const name of words.FORMATS)
      assert.deepEqual(words.layouts(shape)[name].stride, strides[name], `${name} of ${shape}`);
    assert.equal(words.badge(shape), badge);
    assert.deepEqual(words.verdicts(shape), verdicts);
    assert.equal(words.code(shape), code);
  }
  assert.equal(shapes.length, words.MOST.reduce((a, b) => a * b));
});

test("what lights up, how far apart it lies, and both sentences are Python's", () => {
  for (const { shape, index, highlight, steps, ...wanted } of elements) {
    assert.equal(words.label(index), wanted.label);
    assert.deepEqual(words.group(shape, index, highlight), wanted.group);
    assert.equal(words.spread(shape, index, highlight), wanted.spread);
    assert.equal(words.place(shape, index), wanted.place);
    for (const name of words.FORMATS)
      assert.equal(words.step(words.layouts(shape)[name], index, highlight), steps[name]);
  }
});

test("the boxes of a tape are the elements in the order of memory", () => {
  for (const { shape } of shapes) {
    const orders = words.orders(shape);
    for (const name of words.FORMATS)
      orders[name].forEach((flat, k) =>
        assert.equal(offset(words.layouts(shape)[name], unflatten(shape, flat)), k));
    const wanted = [...orders.contiguous_format].sort((a, b) => a - b);
    assert.deepEqual([...orders.planes].sort((a, b) => a - b), wanted);
  }
});

test("the planes are read line by line, across the channels", () => {
  const { planes } = words.orders([2, 3, 4, 5]);
  assert.deepEqual(unflatten([2, 3, 4, 5], planes[5]), [0, 1, 0, 0]);
  assert.deepEqual(unflatten([2, 3, 4, 5], planes[15]), [0, 0, 1, 0]);
  assert.equal(planes[60], flatten([2, 3, 4, 5], [1, 0, 0, 0]));
});

test("images begin rows of a tape, and rows fit", () => {
  for (const { shape } of shapes)
    for (const width of [20, 400, 856]) {
      const [, c, h, w] = shape;
      const row = words.perRow(shape, width);
      assert.equal((c * h * w) % row, 0);
      assert.ok(row === 1 || row * 28 <= width);
    }
  assert.equal(words.perRow([2, 3, 4, 5], 856), 30);
});

test("every chain of layers ends as it did in torch", () => {
  for (const { input, on, rows } of chains) {
    const passed = words.trace(network, input, on);
    assert.deepEqual(passed.filter((row) => row), rows, `${on}`);
    assert.equal(passed.length, network.layers.length);
  }
});
