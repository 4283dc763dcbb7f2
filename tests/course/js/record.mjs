// Records of data by their digests, in a file of JSON. After a change that is meant, look at the
// widgets, then write all digests again:
//
//     STRIDEKIT_RECORD_DRAWINGS=yes make test TEST_ARGS=tests/course/test_javascript.py

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import test from "node:test";

const IS_RECORDING = Boolean(process.env.STRIDEKIT_RECORD_DRAWINGS);

/** What JSON has no place for, and numbers without the last digits of their fraction. */
function plain(_key, value) {
  if (value instanceof Set || value instanceof Map) return [...value];
  return typeof value === "number" ? Number(value.toFixed(4)) : value;
}

/**
 * A function that compares named data with the record in a file beside this one.
 * @param {string} file
 */
export function openRecord(file) {
  const url = new URL(file, import.meta.url);
  /** @type {Record<string, string>} */
  const record = JSON.parse(readFileSync(url, "utf-8"));
  /** @type {Record<string, string>} */
  const present = {};

  test.after(() => {
    const sorted = Object.fromEntries(Object.entries(present).sort());
    if (IS_RECORDING) writeFileSync(url, `${JSON.stringify(sorted, null, 2)}\n`);
  });

  return (/** @type {string} */ name, /** @type {unknown} */ data) => {
    const json = JSON.stringify(data, plain);
    present[name] = createHash("sha256").update(json).digest("hex").slice(0, 8);
    if (!IS_RECORDING)
      assert.equal(present[name], record[name], `${name} is otherwise than ${file} remembers`);
  };
}
