// The words of a prediction: reading a typed answer, and the verdict. widget.py is the truth of the verdicts, and
// tests/live.py compares the two.

import { tuple } from "../page/layout.js";

/**
 * A question as widget.py sends it; `answer` is the position of a choice, a number or an array of numbers.
 * @typedef {{question: string, kind: "choice"|"number"|"tuple", choices: string[], quoted: boolean[],
 *   answer: any, why: string, experiment: string, output: string, remarks: [any, string][]}} Problem
 */

export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** An answer as part of a sentence: words in quotation marks, all else as Python writes it. */
export function inSentence({ kind, choices, quoted }, said) {
  if (kind === "tuple") return tuple(said);
  if (kind === "number") return number(said);
  return quoted[said] ? `“${choices[said]}”` : choices[said];
}

/** A number as Python writes it: with an exponent of two digits when it is small. */
export const number = (value) =>
  value !== 0 && Math.abs(value) < 1e-4
    ? value.toExponential().replace(/e-(\d)$/, "e-0$1")
    : String(value);

/** A sign and a sentence that compares the prediction with the answer. @param {Problem} problem */
export function verdict(problem, said) {
  const answer = inSentence(problem, problem.answer);
  if (said === null) return ["·", `you skipped this one: it is ${answer}`];
  if (isSame(said, problem.answer)) return ["✓", `you said ${answer}, and so it is`];
  return ["✗", `you said ${inSentence(problem, said)}, it is ${answer}`];
}

/** The remark on this prediction; "" if it has none. @param {Problem} problem */
export const remark = (problem, said) =>
  problem.remarks.find(([wrong]) => isSame(wrong, said))?.[1] ?? "";

/** A typed answer as {value}, or {why} it could not be read. */
export function readAnswer(kind, text) {
  if (!text.trim()) return { why: "Write your answer first: a guess is enough." };
  return kind === "tuple" ? readTuple(text.trim()) : readNumber(text.trim());
}

const BRACKETS = [["torch.Size(", ")"], ["(", ")"], ["[", "]"]];
const HOW_TUPLE = "write whole numbers with commas between them";

/** (1, 6), [1,6], 1 6 and torch.Size([1, 6]) are one answer; 6 alone is (6,). */
function readTuple(text) {
  let inner = text;
  for (const [open, close] of BRACKETS)
    if (inner.startsWith(open) && inner.endsWith(close) && inner.length >= open.length + 1)
      inner = inner.slice(open.length, -1).trim();
  if (inner === "") return { value: [] };
  const parts = inner.replace(/\s*,\s*$/, "").split(/\s*,\s*|\s+/);
  const odd = parts.find((part) => !/^[+-]?\d+$/.test(part) || !Number.isSafeInteger(Number(part)));
  if (odd === undefined) return { value: parts.map((part) => Number(part) + 0) }; // -0 is 0
  const where = odd === text || odd === "" ? `“${text}”` : `“${odd}” in “${text}”`;
  return { why: `I could not read ${where}: ${HOW_TUPLE}.` };
}

/** 24, -3, 2.5, 1e3 and 1_024 are numbers; 1,024 is not: it may mean two numbers. */
function readNumber(text) {
  const plain = /^[+-]?(\d+(_\d+)*(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text);
  const value = Number(text.replaceAll("_", "")) + 0; // -0 is 0
  if (plain && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return { value };
  return { why: `I could not read “${text}” as one number: write it like 1024 or 2.5.` };
}
