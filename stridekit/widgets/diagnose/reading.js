// How a family of messages is written down, and what its decoder may use. A template is the text of the library with
// its fields in braces: {n} is an integer, {shape,} a list in brackets, {shapes:} several of them, {op*} a word, {names~} a
// short text, {~} any text.

import { tuple } from "../page/layout.js";

export const TORCH = "no: torch refuses, and nothing has changed";
export const NUMPY = "no: NumPy refuses, and nothing has changed";
export const REFUSED = "no: the library refuses, and nothing has changed";
export const LOOK = "print x.shape one line earlier";

const PATTERNS = {
  "": (name) => `(?<${name}>-?\\d{1,16}(?!\\d))`,
  ",": (name) =>
    `(?<${name}>torch\\.Size\\(\\[[^\\[\\]]{0,400}\\]\\)|[\\[({][^\\[\\](){}]{0,400}[\\])}])`,
  ":": (name) => `(?<${name}>(?:[\\[(](?:[\\d, ]|newaxis){0,80}[\\])](?:->|,? )?){1,30})`,
  "+": (name) => `(?<${name}>(?:size|stride|storage_offset)\\(-?\\d{0,4}\\))`,
  "&": (name) => {
    const dim = "size \\d{1,19}==\\d{1,19}, stride \\d{1,19}==\\d{1,19} at dim=\\d{1,9}";
    return `(?<${name}>${dim}(?:; expected ${dim}){0,40})`;
  },
  "*": (name) => `(?<${name}>[\\w.]{1,100})`,
  "~": (name) => (name ? `(?<${name}>.{1,200}?)` : ".{0,400}?"),
};

/** The regular expression of a template, which matches where it is put, and the text that it begins with. */
export function compiled(template) {
  const [begin, ...rest] = template.split(/\{(\w*)([,:*~+&]?)\}/);
  const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const kinds = {};
  let source = literal(begin);
  for (let k = 0; k < rest.length; k += 3) {
    const [name, kind, text] = rest.slice(k, k + 3);
    kinds[name] = kind;
    source += PATTERNS[kind](name) + literal(text);
  }
  return { pattern: new RegExp(source, "y"), kinds, begin };
}

/** The numbers of a list as it is printed: [2, 3], (2,), torch.Size([2]); null if one of them is a name. */
export function numbers(text) {
  const items = text
    .replace(/torch\.Size|[[\](){} ]/g, "")
    .replaceAll("newaxis", "-1")
    .split(",")
    .filter(Boolean);
  return items.every((item) => /^-?\d{1,16}$/.test(item)) ? items.map(Number) : null;
}

/** The fields of a match as numbers and lists, and as texts; `exact` is false if a number is a name or too large. */
export function fieldsOf(groups = {}, kinds) {
  const [fields, texts] = [{}, {}];
  let exact = true;
  for (const [name, text] of Object.entries(groups)) {
    const [isList, isNumber] = [kinds[name] === ",", kinds[name] === ""];
    fields[name] = isList ? numbers(text) : isNumber ? Number(text) : text;
    texts[name] = isList && fields[name] ? tuple(fields[name]) : text;
    const sizes = isList ? (fields[name] ?? [NaN]) : isNumber ? [fields[name]] : [];
    exact &&= Number.isSafeInteger(sizes.reduce((all, n) => all * Math.max(Math.abs(n), 1), 1));
  }
  return { fields, texts, exact };
}

export const apart = (some, others) => some.flatMap((n, d) => (n === others[d] ? [] : [d]));
export const dimsOf = (dims) => `${dims.length === 1 ? "dim" : "dims"} ${dims.join(", ")}`;

// Families that a section of a lesson explains; each may name another section and lesson, and another harm than torch's.
// What a message means may be several sentences: the first counts of whose fields all are known, {n dim} being "2 dims".
export const taughtBy = (lesson, section, families) =>
  families.map((family) => ({ lesson, section, harm: TORCH, ...family }));
