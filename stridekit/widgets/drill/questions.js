// The kinds of questions, and how a question gets its choices: the right one, the one that shows
// the mistake in focus, and others that show other mistakes.

import { address } from "./address.js";
import { contiguous } from "./contiguous.js";
import { format } from "./format.js";
import { lines } from "./lines.js";
import { share } from "./share.js";
import { strides } from "./strides.js";
import { view } from "./view.js";

/** @import { Draft, Picture, Wrong } from "./drawn.js" */
/** @import { Random } from "./random.js" */

/**
 * A kind of question: the lesson and the section that explain it, its mistakes with the remark on
 * each, and a function that drafts a question, or null if the numbers it drew make none.
 * @typedef {object} Kind
 * @property {string[]} lesson
 * @property {Record<string, string>} mistakes
 * @property {(random: Random) => Draft | null} draft
 */

/**
 * A choice, the mistake that it shows and the remark on it; both are "" for the right choice.
 * @typedef {{ text: string, mistake: string, remark: string }} Choice
 */

/**
 * @typedef {object} Question
 * @property {string} kind
 * @property {string} focus the mistake that one of the choices shows for certain
 * @property {string} text
 * @property {Choice[]} choices
 * @property {number} right the position of the right choice
 * @property {string} why
 * @property {string} setup
 * @property {string} experiment
 * @property {Picture} picture
 * @property {string[]} lesson
 */

const MOST_WRONG = 3; // choices
const MOST_DRAFTS = 2000;

/** @type {Record<string, Kind>} */
const TYPES = { address, strides, contiguous, view, share, format, lines };
export const KINDS = Object.keys(TYPES);

/** The kinds in the order of the lessons that explain them: later ones build on earlier ones. */
export const KINDS_BY_LESSON = KINDS.toSorted((a, b) =>
  TYPES[a].lesson[0].localeCompare(TYPES[b].lesson[0]),
);

/**
 * The names of the mistakes of each kind.
 * @type {Record<string, string[]>}
 */
export const MISTAKES = {};
for (const kind of KINDS) MISTAKES[kind] = Object.keys(TYPES[kind].mistakes);

/**
 * A question of a kind in which one choice shows a mistake; one for a beginner if it is to be easy.
 * @type {(kind: string, focus: string, random: Random, isEasy: boolean) => Question}
 */
export function ask(kind, focus, random, isEasy) {
  const { draft, lesson, mistakes } = TYPES[kind];
  for (let tries = 0; tries < MOST_DRAFTS; tries++) {
    const drafted = draft(random);
    const wrong = drafted ? wrongChoices(drafted, focus, random) : [];
    if (!drafted || wrong.length < MOST_WRONG || (isEasy && drafted.isHard)) continue;
    const { answer, order, text, why, setup, experiment, picture } = drafted;
    const choices = random
      .shuffled([["", answer], ...wrong])
      .map(([mistake, said]) => ({ text: said, mistake, remark: mistakes[mistake] ?? "" }));
    if (order) choices.sort((a, b) => order.indexOf(a.text) - order.indexOf(b.text));
    const right = choices.findIndex(({ mistake }) => mistake === "");
    return { kind, focus, text, choices, right, why, setup, experiment, picture, lesson };
  }
  throw new TypeError(`no ${kind} question tempts to “${focus}”`);
}

/**
 * Choices with different texts, none of them the right one, and first the one of the mistake in
 * focus; none at all if the draft does not have that one.
 * @type {(drafted: Draft, focus: string, random: Random) => Wrong[]}
 */
function wrongChoices({ answer, wrong }, focus, random) {
  const shuffled = random.shuffled(wrong);
  const focused = shuffled.find(([mistake, text]) => mistake === focus && text !== answer);
  if (!focused) return [];
  const choices = [focused];
  for (const [mistake, text] of shuffled) {
    const isTaken = [answer, ...choices.map(([, taken]) => taken)].includes(text);
    if (!isTaken && choices.length < MOST_WRONG) choices.push([mistake, text]);
  }
  return choices;
}
