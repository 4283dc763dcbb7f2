// What an error or a warning means: the last known message of a text, with its numbers decoded.

import { counted } from "../page/layout.js";
import { LIBRARIES } from "./libraries.js";
import { MEMORY } from "./memory.js";
import { OPERATIONS } from "./operations.js";
import { compiled, fieldsOf } from "./reading.js";
import { SHAPES } from "./shapes.js";

export const FAMILIES = [...SHAPES, ...OPERATIONS, ...MEMORY, ...LIBRARIES].map((family) => ({ ...family, says: [family.says].flat() }));
export const UNKNOWN = "a message that stridekit does not know";
export const KNOWN = `${counted(FAMILIES.length, "kind")} of messages, about shapes, strides, shared memory, dtypes, gradients, ` +
  "attention, NumPy, safetensors, einops, ONNX";
export const ASK = "Paste an error or a warning";
export const MOST = 20_000; // characters in the box

const LABELS = ["means", "harm", "cause", "cure"];
const LED_ON = /exception was the direct cause of the following|During handling of the above exception, another/;
const CONTEXT = 3000; // characters before a message that say where it comes from

// The words of a text are looked up one by one, so a text costs as much as it is long. A template is known by the word
// that fewest others have; those without a word that surely stands between spaces are searched for one after the other.
const FORMS = FAMILIES.flatMap((family) => family.says.map((says) => ({ family, ...compiled(says) })));
const SEARCHED = FORMS.filter(({ words }) => !words.length);
const [LOOKED_UP, uses] = [new Map(), new Map()];
for (const { words } of FORMS) for (const word of words) uses.set(word, (uses.get(word) ?? 0) + 1);
for (const form of FORMS.filter(({ words }) => words.length)) {
  const word = form.words.reduce((rare, next) => (uses.get(next) < uses.get(rare) ? next : rare));
  form.before = form.begin.indexOf(` ${word} `) + 1;
  LOOKED_UP.set(word, [...(LOOKED_UP.get(word) ?? []), form]);
}

/** [title, lines] of a text whose white space is single spaces. */
export function diagnose(line) {
  const matches = matchesIn(line);
  if (!matches.length) return [UNKNOWN, [["message", shortened(line) || "empty"], ["known", KNOWN]]];
  const last = matches.reduce((a, b) => (b.end > a.end ? b : a));
  const { form: { family }, match } = last;
  const lines = [["message", match[0].trim()], ...wordsOf(last, line), ["lesson", family.lesson]];
  const texts = new Set(matches.map((each) => each.match[0]));
  if (LED_ON.test(line.slice(match.index)))
    lines.push(["raised", "the error after this message is not known here; this is the last known one of those that led to it"]);
  if (texts.size > 1) lines.push(["others", `${texts.size} messages are known here; this is the last one`]);
  return [family.title, lines];
}

/** How often a pattern is tried on a text, and the patterns: what the cost of a text depends on. */
export function tries(line) {
  let count = 0;
  matchesIn(line, () => (count += 1));
  return count;
}
export const PATTERNS = FORMS.map(({ pattern }) => pattern.source);

/** What is known in a text, without matches inside of others. */
function matchesIn(line, tried = () => {}) {
  const matches = [];
  const tryAt = (place, form) => {
    tried();
    form.pattern.lastIndex = place;
    const match = place >= 0 && form.pattern.exec(line);
    if (!match) return;
    const end = place + match[0].length;
    while (matches.length && matches.at(-1).place >= place && matches.at(-1).end <= end) matches.pop();
    if (!matches.length || matches.at(-1).end < end) matches.push({ form, match, place, end });
  };
  for (const form of SEARCHED)
    for (let at = line.indexOf(form.begin); at >= 0; at = line.indexOf(form.begin, at + 1)) tryAt(at, form);
  const searched = matches.splice(0);
  let place = 0;
  for (const word of line.split(" ")) {
    LOOKED_UP.get(word)?.forEach((form) => tryAt(place - form.before, form));
    place += word.length + 1;
  }
  return [...searched, ...matches];
}

function wordsOf({ form: { family, kinds }, match }, line) {
  const { fields, texts, exact } = fieldsOf(match.groups, kinds);
  const before = line.slice(Math.max(match.index - CONTEXT, 0), match.index);
  const decoded = exact && family.decode?.(fields, { raw: match.groups, text: match[0], before });
  const told = typeof decoded === "string" && decoded ? { means: decoded } : decoded; // a text is what the message means
  const filled = (sentence) => sentence.replace(/\{(\w+)\}/g, (_, name) => texts[name] ?? "…");
  return LABELS.map((label) => [label, told?.[label] ?? filled(family[label])]);
}

/** The first 200 characters, of which one may take two places. */
function shortened(line) {
  const begin = [...line.slice(0, 402)];
  return begin.length > 200 ? `${begin.slice(0, 200).join("")} …` : line;
}

export const code = ({ text }) => `Diagnose(${text && JSON.stringify(text)})`;
