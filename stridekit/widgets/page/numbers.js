// Numbers as people write them: `1,024`, `5*8*4`, `2**20`, `160 bytes`, `12 KiB`; and tuples of
// them. Commas, spaces or _ may group digits, which may have a point and an exponent. In a tuple,
// commas separate numbers, and so do spaces where nothing is computed. Numbers are floats, which
// are exact up to 2^53.

import { product, Refused } from "./layout.js";

/** @typedef {"number" | "tuple"} Kind */

const MOST_CHARACTERS = 200;
const MOST_POWER = 2000;
const SCALES = new Map([
  ["kib", 2 ** 10],
  ["mib", 2 ** 20],
  ["gib", 2 ** 30],
]);
const FORMS = {
  number: "write it like 1024, 2.5 or 2 * 3 * 4",
  tuple: "write whole numbers with commas between them",
};
const GROUPS = String.raw`\d{1,3}(?:,\d{3})+(?!\d)|\d{1,3}(?: \d{3})+(?!\d)|\d+(?:_\d+)*`;
const TOKEN = new RegExp(
  String.raw`^[ \t]*((?:(?:${GROUPS})(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.,])|\*\*|[-+*/^()])`,
);
const UNIT = /[ \t]*([A-Za-zµ][A-Za-zµ \t]*)$/;
/** @type {Record<string, (a: number, b: number) => number>} */
const OPERATORS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};
/** @type {Record<string, string>} */
const PLAIN = {
  "×": "*",
  "·": "*",
  "÷": "/",
  "−": "-",
  "–": "-",
  "\xa0": " ",
  "\u2009": " ",
  "\u202f": " ",
};
const BRACKETS = [
  ["torch.Size(", ")"],
  ["(", ")"],
  ["[", "]"],
];

/** @param {string} text */
const trim = (text) => text.replace(/^[ \t]+|[ \t]+$/g, "");
/** @param {string} word */
const singular = (word) => word.replace(/s$/, "");

/**
 * The number, or the ints of a tuple, that a text means as an answer to a question. Throws Refused.
 * @param {string} kind
 * @param {string} text
 */
export function readAnswer(kind, text, question = "") {
  const answer = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (!answer) throw new Refused("Write your answer first: a guess is enough.");
  if ([...answer].length > MOST_CHARACTERS)
    throw new Refused(`An answer has at most ${MOST_CHARACTERS} characters: write it shorter.`);
  const plain = answer.replace(/[×·÷−–\xa0\u2009\u202f]/g, (char) => PLAIN[char]);
  if (kind === "tuple") return readTuple(plain, answer);
  const unit = plain.match(UNIT);
  if (!unit?.index) return requireExact(compute(plain, answer, "number"), answer);
  const scale = scaleOf(unit[1], answer, question);
  const value = compute(plain.slice(0, unit.index), answer, "number");
  return requireExact(value * scale, answer);
}

/**
 * The factor of the words behind a number.
 * @type {(unit: string, answer: string, question: string) => number}
 */
function scaleOf(unit, answer, question) {
  const questionWords = (question.toLowerCase().match(/[a-zµ]+/g) ?? []).map(singular);
  const isInBytes = /\b(many|in) bytes\b/.test(question.toLowerCase());
  /** @type {string[]} */
  const words = unit.toLowerCase().match(/[^ \t]+/g) ?? [];
  const scale = SCALES.get(words[0]);
  if (isInBytes && words.length === 1 && scale) return scale;
  for (const word of words) {
    if (isInBytes && ["kb", "mb", "gb"].includes(word))
      throw unreadable(
        word.toUpperCase(),
        answer,
        "it may count by 1,000 or by 1,024; write KiB or the number",
      );
    const isByte = word === "b" && isInBytes;
    if (!isByte && !questionWords.includes(singular(word)))
      throw unreadable(word, answer, "the question asks for no such thing; write the number alone");
  }
  return 1;
}

/**
 * (1, 6), [1,6], 1 6 and torch.Size([1, 6]) are one answer; 6 alone is (6,).
 * @type {(plain: string, answer: string) => number[]}
 */
function readTuple(plain, answer) {
  for (const [open, close] of BRACKETS)
    if (plain.startsWith(open) && plain.endsWith(close) && closesAtEnd(plain, open.length))
      return readTuple(trim(plain.slice(open.length, -1)), answer);
  if (!plain) return [];
  const isSpaced = /^[+-]?\d+([ \t]+[+-]?\d+)+,?$/.test(plain);
  const separated = isSpaced ? plain.replace(/[ \t]+/g, ",") : plain;
  const parts = separated.replace(/[ \t]*,$/, "").split(",");
  return parts.map((part) => readInt(part, answer));
}

/** @type {(part: string, answer: string) => number} */
function readInt(part, answer) {
  const text = trim(part);
  const value = requireExact(compute(text, answer, "tuple"), answer);
  if (!Number.isInteger(value) || /\d[ \t]+\d/.test(text))
    throw unreadable(text, answer, FORMS.tuple);
  return value;
}

/**
 * True if the bracket before a position is closed by the last character.
 * @type {(plain: string, position: number) => boolean}
 */
function closesAtEnd(plain, position) {
  let depth = 1;
  for (const char of plain.slice(position, -1)) {
    if ("([".includes(char)) depth += 1;
    if (")]".includes(char)) depth -= 1;
    if (depth === 0) return false;
  }
  return true;
}

/** @type {(value: number, answer: string) => number} */
function requireExact(value, answer) {
  const isExact = Math.abs(value) <= Number.MAX_SAFE_INTEGER; // false for NaN
  if (!isExact) throw unreadable("", answer, "a browser counts exactly up to 2**53 - 1");
  return value + 0; // there is no -0
}

/**
 * The refusal of a part of an answer, or with "" of all of it.
 * @type {(part: string, answer: string, advice: string) => Refused}
 */
function unreadable(part, answer, advice) {
  const where = part === "" || part === answer ? `“${answer}”` : `“${part}” in “${answer}”`;
  return new Refused(`I could not read ${where}: ${advice}.`);
}

/**
 * The value of a sum, which is a part of an answer.
 * @type {(part: string, answer: string, kind: Kind) => number}
 */
function compute(part, answer, kind) {
  let rest = part;
  const next = () => TOKEN.exec(rest)?.[1] ?? "";

  function wrong() {
    const hasComma = kind === "number" && /\d,\d/.test(part);
    const advice = hasComma
      ? "a comma groups three digits, as in 1,024, and 2.5 has a point"
      : FORMS[kind];
    return unreadable(kind === "tuple" ? part : "", answer, advice);
  }

  /** Take the next token off the rest. */
  function skip() {
    rest = rest.replace(TOKEN, "");
  }

  /**
   * Read the next token and return it if it is wanted; else return "".
   * @param {string[]} wanted
   */
  function take(...wanted) {
    const token = next();
    if (!wanted.includes(token)) return "";
    skip();
    return token;
  }

  /**
   * Operands of one rank, between their signs, from left to right.
   * @param {() => number} operand
   * @param {string[]} signs
   */
  function row(operand, signs) {
    let value = operand();
    for (let sign = take(...signs); sign; sign = take(...signs)) {
      const right = operand();
      if (sign === "/" && right === 0) throw unreadable("", answer, "nothing can be divided by 0");
      value = OPERATORS[sign](value, right);
    }
    return value;
  }

  const term = () => row(power, ["*", "/"]);
  const sum = () => row(term, ["+", "-"]);

  /** @returns {number} */
  function power() {
    if (take("+")) return power();
    if (take("-")) return 0 - power();
    const base = atom();
    if (!take("**", "^")) return base;
    const exponent = power();
    const isWhole = Number.isInteger(exponent) && Math.abs(exponent) <= MOST_POWER;
    if (!isWhole || (base === 0 && exponent < 0))
      throw unreadable("", answer, `a power is a whole number up to ${MOST_POWER}`);
    // Multiplications alone have the same result in every language.
    const whole = product(new Array(Math.abs(exponent)).fill(base));
    return exponent >= 0 ? whole : 1 / whole;
  }

  function atom() {
    if (take("(")) {
      const value = sum();
      if (!take(")")) throw wrong();
      return value;
    }
    const digits = next();
    if (!/^[.\d]/.test(digits)) throw wrong();
    skip();
    return Number(digits.replace(/[,_ ]/g, ""));
  }

  const value = sum();
  if (trim(rest)) throw wrong();
  return value;
}
