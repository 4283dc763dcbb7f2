// Motion without a page: when boxes set off, on which paths, and which of many.

import assert from "node:assert/strict";
import test from "node:test";
import { range } from "../../../stridekit/widgets/page/layout.js";
import { BRISK, pathOf, SLOW, sampleOf, timesOf } from "../../../stridekit/widgets/page/motion.js";

for (const [name, pace] of Object.entries({ BRISK, SLOW })) {
  test(`boxes set off one after the other, and none too late: ${name}`, () => {
    assert.deepEqual(timesOf(0, pace), []);
    assert.deepEqual(timesOf(1, pace), [0]);
    assert.deepEqual(timesOf(3, pace), [0, pace.apart, 2 * pace.apart]);
    for (const count of [2, 24, 256]) {
      const times = timesOf(count, pace);
      assert.equal(times.length, count);
      assert.ok(times.every((time, k) => k === 0 || time > times[k - 1]));
      assert.ok(times[count - 1] <= pace.spread + 1e-9, `${count}: ${times[count - 1]}`);
    }
    assert.equal(timesOf(256, pace)[255], pace.spread);
  });
}

test("a step that has just been made is brisk unless another pace is asked for", () => {
  assert.deepEqual(timesOf(24), timesOf(24, BRISK));
  assert.ok(BRISK.travel + BRISK.spread < SLOW.travel);
});

/**
 * How far each point of a path lies to the side of the straight line.
 * @param {number[][]} path
 */
function asides(path) {
  const [x0, y0] = path[0];
  const [x1, y1] = path[path.length - 1];
  const length = Math.hypot(x1 - x0, y1 - y0);
  return path.map(([x, y]) => ((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)) / length);
}

for (const [from, to] of [
  [
    [0, 0],
    [100, 0],
  ],
  [
    [-300, 40],
    [0, 0],
  ],
  [
    [10, 900],
    [10, -900],
  ],
]) {
  test(`a path from ${from} to ${to} bends gently, to one side`, () => {
    const path = pathOf(from, to);
    assert.deepEqual([path[0], path[path.length - 1]], [from, to]);
    const bends = asides(path);
    const largest = Math.max(...bends);
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    assert.ok(largest > 5);
    assert.ok(largest <= Math.min(40, length / 10) + 1e-9);
    assert.ok(bends.every((bend) => bend > -1e-9));
    assert.equal(bends.indexOf(largest), (path.length - 1) / 2, "the middle is the furthest");
    const straight = asides(pathOf(from, to, true));
    assert.ok(straight.every((bend) => Math.abs(bend) < 1e-9));
  });
}

test("a short path has two points, and no direction is needed where nothing moves", () => {
  assert.deepEqual(pathOf([8, 0], [0, 0]), [
    [8, 0],
    [0, 0],
  ]);
  assert.deepEqual(pathOf([3, 3], [3, 3]), [
    [3, 3],
    [3, 3],
  ]);
});

test("of many boxes an even sample travels", () => {
  assert.deepEqual(sampleOf(range(5), 5), range(5));
  assert.deepEqual(sampleOf(range(10), 5), [0, 2, 4, 6, 8]);
  const sample = sampleOf(range(1000), 256);
  assert.equal(sample.length, 256);
  const steps = sample.slice(1).map((item, k) => item - sample[k]);
  assert.deepEqual([...new Set(steps)].sort(), [3, 4]);
});
