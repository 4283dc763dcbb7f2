// predict/words.js against what Python says, and the sentences about what could not be read.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { readAnswer, remark, verdict } from "../../stridekit/widgets/predict/words.js";

const { verdicts, reads } = JSON.parse(
  readFileSync(new URL("../fixtures/predict.json", import.meta.url), "utf8"),
);

test("verdicts and remarks are Python's", () => {
  for (const { problem, said, verdict: expected, remark: words } of verdicts) {
    assert.deepEqual(verdict(problem, said), expected);
    assert.equal(remark(problem, said), words);
  }
});

test("what is typed is read as it is meant, or refused", () => {
  for (const { kind, text, value } of reads) {
    const read = readAnswer(kind, text);
    if (value === null) assert.ok(read.why && read.value === undefined, text);
    else assert.deepEqual(read, { value }, text);
  }
});

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
