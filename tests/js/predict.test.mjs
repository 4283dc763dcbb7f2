// How predict/words.js refuses what it cannot read; tests/test_predict.py has what it reads.

import assert from "node:assert/strict";
import test from "node:test";

import { readAnswer } from "../../stridekit/widgets/predict/words.js";

test("a refusal names what it could not read", () => {
  const why = (kind, text) => readAnswer(kind, text).why;
  assert.equal(why("tuple", ""), "Write your answer first: a guess is enough.");
  const how = "write whole numbers with commas between them.";
  assert.equal(why("tuple", "(1, x)"), `I could not read “x” in “(1, x)”: ${how}`);
  assert.equal(why("tuple", "six"), `I could not read “six”: ${how}`);
  assert.equal(why("tuple", "1,,6"), `I could not read “1,,6”: ${how}`);
  assert.equal(
    why("number", "24 bytes"),
    "I could not read “24 bytes” as one number: write it like 1024 or 2.5.",
  );
});
