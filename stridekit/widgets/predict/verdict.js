// The words and the steps of a prediction, for the page and for Python's repr.

import { tuple } from "../page/layout.js";

/**
 * An answer: the position of a choice, a number, or an array of numbers.
 *
 * @typedef {number | number[]} Answer
 */

/**
 * A card as widget.py sends it.
 *
 * @typedef {object} Problem
 * @property {string} question
 * @property {"choice" | "number" | "tuple"} kind
 * @property {string[]} choices
 * @property {boolean[]} quoted true for choices in words
 * @property {Answer} answer
 * @property {string} why
 * @property {string} experiment
 * @property {string} output
 * @property {[wrong: Answer, text: string][]} remarks
 * @property {string} [trouble] why the answer could not be noted, and what to do
 */

/**
 * The wrong `first` guess, the last answer that was `said`, and whether the answer is shown. A
 * state from before there were second guesses has no `first`.
 *
 * @typedef {{ first?: Answer | null, said: Answer | null, shown: boolean }} State
 */

/**
 * The state before an answer.
 *
 * @type {State}
 */
export const OPEN = { first: null, said: null, shown: false };
export const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * The state after a guess: a wrong first guess leaves one more try.
 *
 * @param {Problem} problem
 * @param {State} state
 * @param {Answer} guess
 * @returns {State}
 */
export function commit({ answer }, { first = null }, guess) {
  const isFinal = first !== null || isSame(guess, answer);
  return isFinal ? { first, said: guess, shown: true } : { first: guess, said: null, shown: false };
}

/**
 * An answer as part of a sentence: words in quotation marks, everything else as Python writes it.
 */
export function inSentence({ kind, choices, quoted }, answer) {
  if (kind === "tuple") return tuple(answer);
  if (kind === "number") return number(answer);
  return quoted[answer] ? `“${choices[answer]}”` : choices[answer];
}

/** A number as Python writes it: a small one has an exponent of two digits. */
export function number(value) {
  const isSmall = value !== 0 && Math.abs(value) < 1e-4;
  return isSmall ? value.toExponential().replace(/e-(\d)$/, "e-0$1") : String(value);
}

/**
 * A sign and a sentence about the guesses; two "" before the first guess.
 *
 * @param {Problem} problem
 * @param {State} state
 * @returns {[sign: string, sentence: string]}
 */
export function verdict(problem, { first = null, said, shown }) {
  if (!shown) {
    if (first === null) return ["", ""];
    return ["✗", `not ${inSentence(problem, first)}: one more try`];
  }
  const answer = inSentence(problem, problem.answer);
  if (said === null) {
    const skipped = first === null ? "you skipped this one: " : "";
    return ["·", `${skipped}it is ${answer}`];
  }
  if (isSame(said, problem.answer)) return ["✓", `you said ${answer}, and so it is`];
  return ["✗", `you said ${inSentence(problem, said)}, it is ${answer}`];
}

/**
 * The remark on the last guess; "" if it has none.
 *
 * @param {Problem} problem
 * @param {State} state
 */
export function remark({ remarks }, { first = null, said }) {
  const guess = said ?? first;
  const entry = remarks.find(([wrong]) => isSame(wrong, guess));
  return entry ? entry[1] : "";
}

/** The lines of the repr. */
export function told(state, problem) {
  const { question, choices, why, experiment, output } = problem;
  const parts = [
    `Predict: ${question}`,
    choices.join(" | "),
    verdict(problem, state).join(" ").trim(),
    remark(problem, state),
  ];
  if (state.shown) parts.push(why, experiment, output ? output.replace(/^/gm, "# ") : "");
  return parts.join("\n").split("\n").filter(Boolean);
}
