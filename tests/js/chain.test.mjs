// What the pane of a chain offers, follows and keeps; tests/live_lines.py compares the chains themselves.

import assert from "node:assert/strict";
import test from "node:test";

import { closed, followed, stagesOf, suggestions } from "../../stridekit/widgets/stride_explorer/chain.js";

const START = { shape: [5, 8], stride: [8, 1], storage_offset: 0, itemsize: 4 };
const run = (steps) => stagesOf({ source: "x", start: START, steps }, 40, null);

test("a hand ends the chain; behind a copy, as_strided of the copy is what remains", () => {
  const steps = [".T", ".contiguous()", "[1:]"];
  const chain = { source: "x", start: START, steps };
  const layout = { ...START, shape: [2, 2] };
  assert.equal(closed(null, run([]), layout), null);
  assert.equal(closed({ ...chain, steps: [".T"] }, run([".T"]), layout), null);
  const left = closed(chain, run(steps), layout);
  assert.deepEqual(left.steps, [".T", ".contiguous()", ".as_strided((2, 2), (8, 1), 0)"]);
  assert.deepEqual(closed(left, run(left.steps), layout), left);
});

test("what is suggested exists, changes something, and says where it copies", () => {
  const offered = (steps) => suggestions(run(steps).at(-1));
  const texts = (steps) => offered(steps).map(({ text }) => text);
  assert.deepEqual(texts([]).slice(0, 4), [".T", "[1:]", "[:, ::2]", ".diagonal()"]);
  assert.ok(!texts([]).includes(".contiguous()") && texts([".T"]).includes(".contiguous()"));
  assert.ok(texts(["[:1]"]).includes(".expand(3, 8)"));
  assert.ok(!texts([".T"]).includes(".view(-1)"));
  assert.equal(offered([".T"]).find(({ text }) => text === ".reshape(-1)").copied, true);
  assert.equal(offered([]).find(({ text }) => text === ".reshape(-1)").copied, false);
  for (const steps of [["[0, 0]"], ["[0:0]"], ["[0]"], [".view(5, 2, 2, 2)"]])
    for (const text of texts(steps)) assert.ok(run([...steps, text]), text);
});

test("the selected element is followed through a view by its place, through a copy by its value", () => {
  const follow = (steps, index) => {
    const stages = run(steps);
    return followed(stages.at(-2), stages.at(-1), index);
  };
  assert.equal(follow([".T"], [2, 3]), 3 * 5 + 2);
  assert.equal(follow(["[1:]"], [0, 3]), null); // it is gone
  assert.equal(follow([".T", ".contiguous()"], [3, 2]), 3 * 5 + 2);
  assert.equal(follow([".T", ".contiguous()", "[1:]"], [1, 3]), 3); // by its place on the copy's own storage
  assert.equal(follow(["[0:0]"], [0, 0]), null);
});
