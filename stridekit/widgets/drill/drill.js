// The state of a drill after its answers: the question on screen, the words about it, the streak
// and the shares of right answers, and which mistake the next question tempts to.

import { Refused } from "../page/layout.js";
import { ask, KINDS, KINDS_BY_LESSON, MISTAKES } from "./questions.js";
import { createRandom } from "./random.js";

/** @import { Question } from "./questions.js" */

/**
 * An answer: the kind of the question, the mistake that the question tempted to, and the mistake
 * that the answer shows, "" if it was right.
 * @typedef {[kind: string, focus: string, mistake: string]} Answer
 */

/**
 * `kind` is a kind of question or MIXED; `said` is the choice that was taken on the question on
 * screen, whose answer is then the last of the answers.
 * @typedef {{ kind: string, seed: number, answers: Answer[], said: number | null }} State
 */

/**
 * The answers before this drill, each with its day as "2026-11-29", "" in old records.
 * @typedef {[...answer: Answer, day: string]} Dated
 * @typedef {{ today: string, answers: Dated[] }} Before
 */

export const MIXED = "mixed";
export const NAMES = [MIXED, ...KINDS];
const FEW = 3; // questions that lie between a mistake and the next question about it
const RECENT = 20; // answers of a kind that decide how often it comes up
const ENOUGH = 3; // answers of a kind, none of them right, after which the next kind opens, too

/** @type {Before} */
const NOTHING = { today: "", answers: [] };

/** @type {(state: State) => Answer[]} */
const pastOf = ({ answers, said }) => (said === null ? answers : answers.slice(0, -1));

/**
 * All answers. A record of another version of stridekit may name other questions.
 * @type {(answers: Answer[], before: Before) => Dated[]}
 */
const historyOf = (answers, { today, answers: earlier }) => [
  ...earlier.filter(([kind, focus]) => MISTAKES[kind]?.includes(focus)),
  ...answers.map((answer) => /** @type {Dated} */ ([...answer, today])),
];

/**
 * The question on screen. It follows from the state and from the answers before this drill.
 * @param {State} state
 * @returns {Question}
 */
export function question(state, before = NOTHING) {
  const past = pastOf(state);
  const random = createRandom(state.seed, past.length);
  const kinds = state.kind === MIXED ? KINDS : [state.kind];
  const history = historyOf(past, before);
  const due = dueMistakes(history, before.today).find(([kind]) => kinds.includes(kind));
  if (due) return ask(due[0], due[1], random, !wasRight(due[0], history));
  /** @type {[kind: string, weight: number][]} */
  const weights = openKinds(kinds, history).map((kind) => [kind, weightOf(kind, history)]);
  const kind = random.pickByWeight(weights);
  return ask(kind, random.pick(MISTAKES[kind]), random, !wasRight(kind, history));
}

/**
 * The mistakes that it is time to ask about again, those that have waited longest first: a few
 * questions after each wrong answer until one is right, and once more on another day.
 * @type {(history: Dated[], today: string) => [kind: string, mistake: string][]}
 */
function dueMistakes(history, today) {
  /** @type {Map<string, { kind: string, mistake: string, made: string, mended: string, at: number }>} */
  const open = new Map();
  for (const [at, [kind, focus, mistake, day]] of history.entries()) {
    const asked = open.get(`${kind} ${focus}`);
    if (asked) {
      asked.at = at;
      if (!mistake) asked.mended = day;
      if (!mistake && asked.made !== day) open.delete(`${kind} ${focus}`);
    }
    if (!mistake) continue;
    open.delete(`${kind} ${mistake}`); // the newest stands last
    open.set(`${kind} ${mistake}`, { kind, mistake, made: day, mended: "", at });
  }
  const waiting = [...open.values()].filter(({ mended, at }) =>
    mended ? mended !== today : history.length - at > FEW,
  );
  waiting.sort((a, b) => a.at - b.at);
  return waiting.map(({ kind, mistake }) => [kind, mistake]);
}

/** @type {(kind: string, history: Dated[]) => boolean} */
const wasRight = (kind, history) =>
  history.some(([answered, , mistake]) => answered === kind && !mistake);

/**
 * The kinds that may come up: those that were asked before, and the next one of the lessons as soon as
 * all before it were answered. So a mixed drill begins with the first lesson.
 * @type {(kinds: string[], history: Dated[]) => string[]}
 */
function openKinds(kinds, history) {
  const known = history.map(([kind]) => kind);
  const open = new Set(kinds.filter((kind) => known.includes(kind)));
  for (const kind of KINDS_BY_LESSON.filter((name) => kinds.includes(name))) {
    open.add(kind);
    if (!wasRight(kind, history) && known.filter((answered) => answered === kind).length < ENOUGH)
      break;
  }
  return kinds.filter((kind) => open.has(kind));
}

/**
 * How often a kind comes up among all: the more of its last answers were wrong, the more often.
 * @type {(kind: string, history: Dated[]) => number}
 */
function weightOf(kind, history) {
  const recent = history.filter(([answered]) => answered === kind).slice(-RECENT);
  const wrong = recent.filter(([, , mistake]) => mistake).length;
  return 1 + (4 * (wrong + 1)) / (recent.length + 2);
}

/**
 * The state after a choice. Throws Refused for a second choice, and for one that is not there.
 * @type {(state: State, before: Before, choice: number) => State}
 */
export function answer(state, before, choice) {
  const { kind, focus, choices } = question(state, before);
  if (state.said !== null) throw new Refused("this question is answered: go on to the next one");
  if (!(choice in choices))
    throw new Refused(`there is no choice ${choice}: give 0 to ${choices.length - 1}`);
  const { mistake } = choices[choice];
  return { ...state, answers: [...state.answers, [kind, focus, mistake]], said: choice };
}

/** @type {(state: State) => State} */
export const next = (state) => ({ ...state, said: null });

/**
 * The reason why no drill can have a state; "" if one can.
 * @type {(state: State, before: Before) => string}
 */
export function whyNot(state, before) {
  const { kind, seed, answers, said } = state;
  if (!NAMES.includes(kind)) return `kind ${kind} is not one of ${NAMES.join(", ")}`;
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32)
    return `seed ${seed} is not a whole number from 0 to ${2 ** 32 - 1}`;
  for (const [k, [answered, focus, mistake]] of answers.entries()) {
    const known = MISTAKES[answered] ?? [];
    if (!known.includes(focus) || !["", ...known].includes(mistake))
      return `answers[${k}] names no question that there is`;
  }
  if (said === null) return "";
  const taken = question(state, before).choices[said];
  if (!Number.isInteger(said) || !taken) return `said is ${said}, which is no choice`;
  const mistake = answers.at(-1)?.[2];
  return mistake === taken.mistake ? "" : "said and the last answer are not the same choice";
}

/**
 * The number of right answers in a row, up to now and at most.
 * @type {(state: State, before?: Before) => { now: number, best: number }}
 */
export function streak({ answers }, before = NOTHING) {
  let now = 0;
  let best = 0;
  for (const [, , mistake] of historyOf(answers, before)) {
    now = mistake ? 0 : now + 1;
    best = Math.max(best, now);
  }
  return { now, best };
}

/**
 * For each kind that was asked, how many answers were right, and how many there were.
 * @type {(state: State, before?: Before) => Record<string, [right: number, count: number]>}
 */
export function shares({ answers }, before = NOTHING) {
  /** @type {Record<string, [right: number, count: number]>} */
  const result = {};
  for (const kind of KINDS) {
    const own = historyOf(answers, before).filter(([answered]) => answered === kind);
    const right = own.filter(([, , mistake]) => !mistake).length;
    if (own.length) result[kind] = [right, own.length];
  }
  return result;
}

/**
 * A sign and a sentence on the choice that was taken, and the remark on its mistake; three "" before
 * that.
 * @type {(state: State, asked: Question) => [sign: "" | "✓" | "✗", sentence: string, remark: string]}
 */
export function verdict({ said }, { choices, right }) {
  if (said === null) return ["", "", ""];
  const answer = choices[right].text;
  if (said === right) return ["✓", `right: ${answer}`, ""];
  return ["✗", `you said ${choices[said].text}; right is ${answer}`, choices[said].remark];
}

/**
 * The streak and the number of questions in words.
 * @type {(state: State, before?: Before) => string}
 */
export function score(state, before = NOTHING) {
  const { now, best } = streak(state, before);
  const number = pastOf(state).length + 1;
  return `question ${number}, streak ${now}, best ${best}`;
}

/**
 * The lines of the repr.
 * @type {(state: State, before?: Before) => string[]}
 */
export function told(state, before = NOTHING) {
  const asked = question(state, before);
  const [sign, sentence, remark] = verdict(state, asked);
  const lines = [`Drill: ${state.kind}, ${score(state, before)}`, asked.text];
  for (const [k, { text }] of asked.choices.entries()) lines.push(`${k + 1}  ${text}`);
  if (sign) lines.push(`${sign} ${sentence}`, remark, asked.why);
  for (const [kind, [right, count]] of Object.entries(shares(state, before)))
    lines.push(`${kind}: ${right} of ${count} right`);
  return lines.filter(Boolean);
}
