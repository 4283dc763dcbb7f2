// What an error or a warning means: the last known message of a text, with its numbers decoded.

import { counted } from "../page/layout.js";
import { MEMORY } from "./memory.js";
import { LIBRARIES, OPERATIONS } from "./operations.js";
import { compiled, fieldsOf } from "./reading.js";
import { SHAPES } from "./shapes.js";

export const FAMILIES = [...SHAPES, ...OPERATIONS, ...MEMORY, ...LIBRARIES].map((family) => ({
  ...family,
  says: [family.says].flat(),
}));
export const UNKNOWN = "a message that stridekit does not know";
export const KNOWN =
  `${counted(FAMILIES.length, "kind")} of messages, about shapes, strides, shared memory, dtypes, gradients, ` +
  "attention, NumPy, safetensors, einops, ONNX";
export const ASK = "Paste an error or a warning";
export const MOST = 20_000; // characters in the box

const LABELS = ["means", "harm", "cause", "cure"];
const LED_ON =
  /exception was the direct cause of the following|During handling of the above exception, another/;
const CONTEXT = 3000; // characters before a message that say where it comes from

const FIELD = /\{(\w+)(?: (\w+))?\}/g;
const countOf = (field, word) => counted(Array.isArray(field) ? field.length : field, word);

const FORMS = FAMILIES.flatMap((family) =>
  family.says.map((says) => ({ family, ...compiled(says) })),
);

/** [title, lines] of a text whose white space is single spaces. */
export function diagnose(line) {
  const matches = matchesIn(line);
  const begin = [...line.slice(0, 402)]; // of which one character may take two places
  const shown = begin.length > 200 ? `${begin.slice(0, 200).join("")} …` : line || "empty";
  if (!matches.length)
    return [
      UNKNOWN,
      [
        ["message", shown],
        ["known", KNOWN],
      ],
    ];
  const {
    form: { family, kinds },
    match,
  } = matches.at(-1);
  const { fields, texts, exact } = fieldsOf(match.groups, kinds);
  const before = line.slice(Math.max(match.index - CONTEXT, 0), match.index);
  const decoded = exact && family.decode?.(fields, { raw: match.groups, text: match[0], before });
  const told = typeof decoded === "string" && decoded ? { means: decoded } : decoded; // a text is what the message means
  const isKnown = (sentence) =>
    exact && [...sentence.matchAll(FIELD)].every(([, name]) => name in fields);
  const filled = (sentences) => {
    const all = [sentences].flat();
    return (all.find(isKnown) ?? all.at(-1)).replace(FIELD, (_, name, word) =>
      word ? countOf(fields[name], word) : (texts[name] ?? "…"),
    );
  };
  const lines = [
    ["message", match[0].trim()],
    ...LABELS.map((label) => [label, told?.[label] ?? filled(family[label])]),
    ["lesson", family.lesson],
  ];
  const others = new Set(matches.map((each) => each.match[0]));
  if (LED_ON.test(line.slice(match.index)))
    lines.push([
      "raised",
      "the error after this message is not known here; this is the last known one of those that led to it",
    ]);
  if (others.size > 1)
    lines.push(["others", `${others.size} messages are known here; this is the last one`]);
  return [family.title, lines];
}

/** What is known in a text, in order, without matches inside of others. */
function matchesIn(line) {
  const matches = [];
  for (const form of FORMS)
    for (let at = line.indexOf(form.begin); at >= 0; at = line.indexOf(form.begin, at + 1)) {
      form.pattern.lastIndex = at;
      const match = form.pattern.exec(line);
      if (match) matches.push({ form, match, place: at, end: at + match[0].length });
    }
  matches.sort((a, b) => a.place - b.place || b.end - a.end);
  let reached = 0;
  return matches.filter(({ end }) => end > reached && (reached = end));
}

/** What the cost of a text depends on. */
export const PATTERNS = FORMS.map(({ pattern }) => pattern.source);

export const code = ({ text }) => `Diagnose(${text && JSON.stringify(text)})`;
