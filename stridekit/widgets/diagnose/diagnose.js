// What an error or a warning means: the mirror of stridekit/tensors/diagnose.py, over the families that Python sends.

import { DECODERS } from "./decoders.js";

const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/; // Python's
const TOO_LONG = /\d{20,}/g;

/** [title, lines] as Python's Explanation has them, or null for an empty box; `known` is what Python sends. */
export function diagnose({ families, unknown, known }, text) {
  const line = text.split(SPACE).filter(Boolean).join(" ").replace(TOO_LONG, "…");
  const found = new Map();
  for (const family of families)
    for (const match of line.matchAll(new RegExp(family.pattern, "gu"))) found.set(match[0], { match, family });
  if (!line) return null;
  if (!found.size) return [unknown, [["message", shortened(line)], ["known", known]]];
  const { match, family } = [...found.values()].reduce((last, one) => (one.match.index > last.match.index ? one : last));
  const several = ["others", `${found.size} messages are known here; this is the last one`];
  return [family.title, [...linesOf(family, match), ...(found.size > 1 ? [several] : [])]];
}

function linesOf({ words, lesson, decoder }, match) {
  const groups = Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, value]) => [name, value ?? ""]));
  const told = decoder ? DECODERS[decoder](groups) : {};
  const filled = Object.entries(words).map(([label, sentence]) =>
    [label, told[label] || sentence.replace(/\{(\w+)\}/g, (_, name) => groups[name])]);
  return [["message", match[0]], ...filled, ["lesson", lesson]];
}

/** The first 200 characters, of which one may take two places. */
function shortened(line) {
  const begin = [...line.slice(0, 402)];
  return begin.length > 200 ? `${begin.slice(0, 200).join("")} …` : line;
}

/** The source of the widget with a text in its box. */
export const code = (text) => `Diagnose(${text && JSON.stringify(text)})`;
