// The words and the steps of a prediction, for the page and for Python's repr.

import { tuple } from "../page/layout.js";

/**
 * A question as widget.py sends it; `answer` is the position of a choice, a number or an array of numbers.
 * @typedef {{question: string, kind: "choice"|"number"|"tuple", choices: string[], quoted: boolean[],
 *   answer: any, why: string, experiment: string, output: string, remarks: [any, string][]}} Problem
 * What was said: the wrong `first` guess, what was `said` at last, and whether the answer is shown.
 * @typedef {{first?: any, said: any, shown: boolean}} State
 */

export const OPEN = { first: null, said: null, shown: false };

export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The state after a guess: a wrong one leaves one more try. @param {Problem} problem @param {State} state */
export function commit({ answer }, { first = null }, said) {
  if (first === null && !isSame(said, answer)) return { first: said, said: null, shown: false };
  return { first, said, shown: true };
}

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

/** A sign and a sentence about what was said; two "" before that. @param {Problem} problem @param {State} state */
export function verdict(problem, { first = null, said, shown }) {
  const answer = inSentence(problem, problem.answer);
  if (!shown) return first === null ? ["", ""] : ["✗", `not ${inSentence(problem, first)}: one more try`];
  if (said === null) return ["·", `${first === null ? "you skipped this one: " : ""}it is ${answer}`];
  if (isSame(said, problem.answer)) return ["✓", `you said ${answer}, and so it is`];
  return ["✗", `you said ${inSentence(problem, said)}, it is ${answer}`];
}

/** The remark on the last guess; "" if it has none. @param {Problem} problem @param {State} state */
export function remark({ remarks }, { first = null, said }) {
  return remarks.find(([wrong]) => isSame(wrong, said ?? first))?.[1] ?? "";
}

/** The card as lines of text. @param {State} state @param {Problem} problem */
export function told(state, problem) {
  const reveal = [problem.why, problem.experiment, problem.output && problem.output.replace(/^/gm, "# ")];
  return [
    `Predict: ${problem.question}`,
    problem.choices.join(" | "),
    verdict(problem, state).join(" ").trim(),
    remark(problem, state),
    ...(state.shown ? reveal : []),
  ].join("\n").split("\n").filter(Boolean);
}
