// The words and the steps of a prediction, for the page and for Python's repr. A problem is as widget.py sends it: its answer is
// the position of a choice, a number or an array of numbers.

import { tuple } from "../page/layout.js";

/** The state before an answer: the wrong `first` guess, what was `said` at last, and whether the answer is shown. */
export const OPEN = { first: null, said: null, shown: false };
export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The state after a guess: a wrong one leaves one more try. */
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

/** A sign and a sentence about what was said; two "" before that. */
export function verdict(problem, { first = null, said, shown }) {
  const answer = inSentence(problem, problem.answer);
  if (!shown)
    return first === null ? ["", ""] : ["✗", `not ${inSentence(problem, first)}: one more try`];
  if (said === null)
    return ["·", `${first === null ? "you skipped this one: " : ""}it is ${answer}`];
  if (isSame(said, problem.answer)) return ["✓", `you said ${answer}, and so it is`];
  return ["✗", `you said ${inSentence(problem, said)}, it is ${answer}`];
}

/** The remark on the last guess; "" if it has none. */
export function remark({ remarks }, { first = null, said }) {
  return remarks.find(([wrong]) => isSame(wrong, said ?? first))?.[1] ?? "";
}

export function told(state, problem) {
  const reveal = [
    problem.why,
    problem.experiment,
    problem.output && problem.output.replace(/^/gm, "# "),
  ];
  return [
    `Predict: ${problem.question}`,
    problem.choices.join(" | "),
    verdict(problem, state).join(" ").trim(),
    remark(problem, state),
    ...(state.shown ? reveal : []),
  ]
    .join("\n")
    .split("\n")
    .filter(Boolean);
}
