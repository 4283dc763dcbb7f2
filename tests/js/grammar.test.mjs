// grammar.js by itself; tests/test_grammar.py holds it to what Python says.

import assert from "node:assert/strict";
import test from "node:test";

import { createReader, readSteps } from "../../stridekit/widgets/page/grammar.js";
import { Refused } from "../../stridekit/widgets/page/layout.js";

const steps = (text) => readSteps(text).map(({ name, args }) => [name, ...args]);

test("a text is read as operations with their arguments", () => {
  assert.deepEqual(steps("permute(1, 0)[1:, ::-2, None, ...].T"), [
    ["permute", [1, 0]], ["[]", { slice: [1, null] }, { slice: [null, null, -2] }, null, "..."], ["T"],
  ]);
  assert.deepEqual(steps(".diagonal(1, dim2=0).squeeze()"), [["diagonal", 1, undefined, 0], ["squeeze", undefined]]);
  assert.deepEqual(steps(".as_strided([2], (3,), None)"), [["as_strided", [2], [3], null]]);
  assert.equal(readSteps(".clone('channels_last') # dense")[0].text, ".clone(memory_format=torch.channels_last)");
  assert.ok(Object.is(steps("[-0]")[0][1], 0));
});

test("what cannot be read is refused with its place, and what to write instead", () => {
  const said = (text) => {
    try {
      return readSteps(text);
    } catch (error) {
      assert.ok(error instanceof Refused, `${text}: ${error.stack}`);
      return error.message;
    }
  };
  assert.equal(said("[1, 2"), 'cannot read "[1, 2" at its end: write operations as .permute(1, 0) or [1:, ::2]');
  assert.match(said(".view(1 2)"), /^cannot read ".view\(1 2\)" at "2": write/);
  assert.match(said(".numpy()"), /^numpy is not known here: permute, transpose/);
  assert.match(said("toString()"), /^toString is not known here/);
  assert.match(said(".unfold(0)"), /^cannot apply .unfold\(0\): size is missing; write .unfold\(dimension: int/);
  assert.match(said("(".repeat(1001)), /at most 1000 characters/);
  assert.match(said("\u{1f600}".repeat(1000)), /^cannot read "\u{1f600}/u); // a character is one, not two halves
});

test("a reader stands where it could not go on", () => {
  const reader = createReader("  y += -12 # so", "write y");
  assert.deepEqual([reader.text, reader.name(), reader.take("=", "+="), reader.number()], ["y += -12", "y", "+=", -12]);
  assert.equal(reader.wrong().message, 'cannot read "y += -12" at its end: write y');
});
