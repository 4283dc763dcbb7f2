// The form of a family of messages, and the helpers of its decoder.

import { tuple } from "../page/layout.js";

/**
 * The sentences that explain a message, each behind its label.
 *
 * @typedef {{ means?: string, harm?: string, cause?: string, cure?: string }} Explanation
 */

/**
 * The texts that a decoder may read: its fields as they were printed, the message, and the text
 * before the message.
 *
 * @typedef {{ raw: Record<string, string>, text: string, before: string }} Context
 */

/**
 * Messages that mean the same.
 *
 * A template is a library's text with its fields in braces. The sign behind a field's name gives
 * the field's form: {n} is an integer, {shape,} a list in brackets, {shapes:} several lists, {op*}
 * a word, {names~} a short text and {~} any text. {what+}, {dims&} and {dtype%} are for one family
 * each.
 *
 * A label may have several sentences. The first sentence whose fields are all known counts, and {n
 * dim} becomes "2 dims".
 *
 * `decode` returns sentences that hold for these numbers alone: an Explanation, a string in the
 * place of { means }, or null.
 *
 * @typedef {object} Family
 * @property {string} title
 * @property {string} lesson
 * @property {string} section
 * @property {string | string[]} templates
 * @property {string | string[]} means
 * @property {string} harm
 * @property {string} cause
 * @property {string} cure
 * @property {(fields: any, context: Context) => Explanation | string | null} [decode]
 */

export const TORCH = "no: torch refuses, and nothing has changed";
export const NUMPY = "no: NumPy refuses, and nothing has changed";
export const REFUSED = "no: the library refuses, and nothing has changed";
export const LOOK = "print x.shape one line earlier";

// The source of a field's regular expression, by the field's sign.
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
  "%": (name) => `(?<${name}>[|<>=][a-zA-Z]\\d{1,4})`,
  "*": (name) => `(?<${name}>[\\w.:]{1,100})`,
  "~": (name) => (name ? `(?<${name}>.{1,200}?)` : ".{0,400}?"),
};

/**
 * Compile a template: a pattern that matches at its `lastIndex`, the sign of each field, and the
 * text in front of the first field.
 *
 * @param {string} template
 */
export function compiled(template) {
  const [begin, ...rest] = template.split(/\{(\w*)([,:*~+&%]?)\}/);
  const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  /** @type {Record<string, string>} */
  const signs = {};
  let source = literal(begin);
  for (let k = 0; k < rest.length; k += 3) {
    const [name, sign, text] = rest.slice(k, k + 3);
    signs[name] = sign;
    source += PATTERNS[sign](name) + literal(text);
  }
  return { pattern: new RegExp(source, "y"), signs, begin };
}

/**
 * The numbers of a printed list, [2, 3], (2,) or torch.Size([2]); null if one of them is a name.
 */
export function numbers(text) {
  const items = text
    .replace(/torch\.Size|[[\](){} ]/g, "")
    .replaceAll("newaxis", "-1")
    .split(",")
    .filter(Boolean);
  return items.every((item) => /^-?\d{1,16}$/.test(item)) ? items.map(Number) : null;
}

/** True if the numbers and their product are exact in JavaScript. */
const areExact = (sizes) =>
  Number.isSafeInteger(sizes.reduce((all, n) => all * Math.max(Math.abs(n), 1), 1));

/**
 * The fields of a match as numbers and lists, and as texts; `exact` is false if a number is a name
 * or too large.
 *
 * @param {Record<string, string>} groups
 * @param {Record<string, string>} signs
 */
export function fieldsOf(groups, signs) {
  /** @type {Record<string, any>} */
  const fields = { ...groups };
  const texts = { ...groups };
  let exact = true;
  for (const [name, text] of Object.entries(groups)) {
    if (signs[name] === "") {
      fields[name] = Number(text);
      exact &&= areExact([fields[name]]);
    } else if (signs[name] === ",") {
      const list = numbers(text);
      fields[name] = list;
      if (list) texts[name] = tuple(list);
      exact &&= list !== null && areExact(list);
    }
  }
  return { fields, texts, exact };
}

/** The dims in which two shapes, or two strides, differ. */
export const dimsApart = (a, b) => a.flatMap((n, d) => (n === b[d] ? [] : [d]));
export const namedDims = (dims) => `${dims.length === 1 ? "dim" : "dims"} ${dims.join(", ")}`;

/**
 * Families that a section of a lesson explains; each may name another section, lesson and harm.
 *
 * @param {string} lesson
 * @param {string} section
 * @param {(Omit<Family, "lesson" | "section" | "harm"> & Partial<Family>)[]} families
 * @returns {Family[]}
 */
export const taughtBy = (lesson, section, families) =>
  families.map((family) => ({ lesson, section, harm: TORCH, ...family }));
