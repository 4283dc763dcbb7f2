// The meaning of an error or a warning: the last known message of a text, with its numbers decoded.

import { counted, grouped } from "../page/layout.js";
import { joined, linesOf } from "./cleaning.js";
import { CONVERSIONS } from "./conversions.js";
import { MEMORY } from "./memory.js";
import { LIBRARIES, OPERATIONS } from "./operations.js";
import { compiled, fieldsOf } from "./reading.js";
import { SHAPES } from "./shapes.js";

/** @import { Explanation } from "./reading.js" */

/** @typedef {{ text: string }} State */

const ALL = [...SHAPES, ...OPERATIONS, ...MEMORY, ...CONVERSIONS, ...LIBRARIES];
export const FAMILIES = ALL.map((family) => ({
  ...family,
  templates: [family.templates].flat(),
}));
export const UNKNOWN = "a message that stridekit does not know";
export const KNOWN =
  `${counted(FAMILIES.length, "kind")} of messages, about shapes, strides, shared memory, ` +
  "dtypes, gradients, attention, NumPy, JAX, images, safetensors, einops, ONNX";
export const ASK = "Paste an error or a warning";
export const MOST = 20_000; // characters in the box

/** @type {(keyof Explanation)[]} */
const LABELS = ["means", "harm", "cause", "cure"];
const LED_ON =
  /exception was the direct cause of the following|During handling of the above exception, another/;
const CONTEXT = 3000; // characters before a message that say where it comes from

const FORMS = FAMILIES.flatMap((family) =>
  family.templates.map((template) => ({ family, ...compiled(template) })),
);
/** The time that a text takes depends on these. */
export const PATTERNS = FORMS.map(({ pattern }) => pattern.source);

/** @typedef {{ form: (typeof FORMS)[number], match: RegExpExecArray, end: number }} Match */

/**
 * [title, lines] of a text; a line is [label, sentence].
 *
 * `raised` is the error itself, if the text is more than that. If the text is only the end of a
 * longer one, `length` is the number of characters of that.
 *
 * @param {string} text
 * @param {{ raised?: string, length?: number }} [origin]
 * @returns {[string, [string, string][]]}
 */
export function diagnose(text, { raised = "", length = 0 } = {}) {
  const textLines = linesOf(text);
  const line = joined(textLines);
  const error = joined(raised ? linesOf(raised) : lastErrorOf(textLines));
  /** @type {[string, string][]} */
  const notes = [];
  if (length) {
    const read = [...text].length;
    notes.push(["read", `only the last ${grouped(read)} of ${grouped(length)} characters`]);
  }
  const matches = matchesIn(line);
  const last = matches.at(-1);
  if (!last) {
    const shown = error || (line.length > SHOWN ? textLines.at(-1) : line) || "empty";
    return [UNKNOWN, [["message", beginningOf(shown)], ["known", KNOWN], ...notes]];
  }
  const { family } = last.form;
  const { size } = new Set(matches.map(({ match }) => match[0]));
  if (size > 1) notes.unshift(["others", `${size} messages are known here; this is the last one`]);
  const unknown = unknownAfter(last.end, line, error);
  if (unknown) notes.unshift(["raised", unknown]);
  const message = last.match[0].trim();
  return [
    family.title,
    [["message", message], ...explain(last, line), ["lesson", family.lesson], ...notes],
  ];
}

const SHOWN = 200; // characters of an unknown message

/** The first 200 characters of a text. */
function beginningOf(line) {
  const characters = [...line.slice(0, 2 * SHOWN + 2)]; // a character may take two places
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join("")} …` : line;
}

// "a.py:3: UserWarning: …", "KeyError: 'a'", "KeyboardInterrupt", "torch._dynamo.exc.Unsupported: …"
const NAME_OF_ERROR =
  /^(?:\S{1,300}:\d{1,9}: )?(?:[\w.]{0,200}(?:Error|Exception|Warning|Interrupt|Exit)(?::|$)|[A-Za-z_]\w{0,100}\.[\w.]{1,200}:\s)/;

/** The last error of a text, from the line that begins with its name; no lines if there is none. */
function lastErrorOf(lines) {
  const start = lines.findLastIndex((line) => NAME_OF_ERROR.test(line));
  return start < 0 ? [] : lines.slice(start);
}

/**
 * A sentence about an unknown error behind the last known message, which ends at `end`; "" if there
 * is none.
 */
function unknownAfter(end, line, error) {
  const isAfter = error && line.endsWith(error) && line.length - error.length >= end;
  const quoted = isAfter ? `: ${beginningOf(error)}` : "";
  if (LED_ON.test(line.slice(end)))
    return `the error after this message is not known here, and this message led to it${quoted}`;
  return isAfter ? `an error after this message is not known here${quoted}` : "";
}

/**
 * The sentences for a match: those of its decoder, and those of its family for the other labels.
 *
 * @param {Match} match
 * @param {string} line
 * @returns {[string, string][]}
 */
function explain({ form: { family, signs }, match }, line) {
  const groups = match.groups ?? {};
  const { fields, texts, exact } = fieldsOf(groups, signs);
  const before = line.slice(Math.max(match.index - CONTEXT, 0), match.index);
  const decoded =
    exact && family.decode ? family.decode(fields, { raw: groups, text: match[0], before }) : null;
  const special = typeof decoded === "string" ? { means: decoded } : decoded;

  const isKnown = (sentence) =>
    exact && [...sentence.matchAll(FIELD)].every(([, name]) => name in fields);

  return LABELS.map((label) => {
    const sentences = [family[label]].flat();
    const general = sentences.find(isKnown) ?? sentences[sentences.length - 1];
    return [label, special?.[label] ?? filled(general, fields, texts)];
  });
}

const FIELD = /\{(\w+)(?: (\w+))?\}/g;

/** A sentence with its fields filled in: {n} as it is written, {n dim} as a number of dims. */
const filled = (sentence, fields, texts) =>
  sentence.replace(FIELD, (_, name, word) => {
    const field = fields[name];
    if (word) return counted(Array.isArray(field) ? field.length : field, word);
    return texts[name] ?? "…";
  });

/**
 * The known messages of a text, in order, without messages inside of others.
 *
 * @param {string} line
 */
function matchesIn(line) {
  /** @type {Match[]} */
  const matches = [];
  for (const form of FORMS) {
    let index = line.indexOf(form.begin);
    while (index >= 0) {
      form.pattern.lastIndex = index;
      const match = form.pattern.exec(line);
      if (match) matches.push({ form, match, end: index + match[0].length });
      index = line.indexOf(form.begin, index + 1);
    }
  }
  matches.sort((a, b) => a.match.index - b.match.index || b.end - a.end);
  let reached = 0;
  return matches.filter(({ end }) => {
    const isOutside = end > reached;
    reached = Math.max(reached, end);
    return isOutside;
  });
}

/** @param {State} state */
export const code = ({ text }) => `Diagnose(${text && JSON.stringify(text)})`;
