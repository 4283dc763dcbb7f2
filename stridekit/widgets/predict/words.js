// The words of a prediction: widget.py is the truth of the verdicts, and tests/live.py compares the two.

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
