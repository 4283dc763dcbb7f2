// Numbers as people write them: `1,024`, `5*8*4`, `2**20`, `160 bytes`, `12 KiB`; and tuples of them.
// Commas, spaces or _ may group digits, which may have a point and an exponent. In a tuple, commas separate numbers, and so
// do spaces where nothing is computed. Numbers are floats, which are exact up to 2^53.

import { product, Refused } from "./layout.js";

const [MOST_CHARACTERS, MOST_POWER] = [200, 2000];
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
const COMPUTE = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};
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

const trim = (text) => text.replace(/^[ \t]+|[ \t]+$/g, "");
const singular = (word) => word.replace(/s$/, "");

/** The number, or the ints of a tuple, that a text means as an answer to a question. Throws Refused. */
export function readAnswer(kind, text, question = "") {
  const said = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  if (!said) throw new Refused("Write your answer first: a guess is enough.");
  if ([...said].length > MOST_CHARACTERS)
    throw new Refused(`An answer has at most ${MOST_CHARACTERS} characters: write it shorter.`);
  const plain = said.replace(/[×·÷−–\xa0\u2009\u202f]/g, (char) => PLAIN[char]);
  if (kind === "tuple") return readTuple(plain, said);
  const unit = plain.match(UNIT);
  if (!unit?.index) return whole(sumOf(plain, said, "number"), said);
  const scale = scaleOf(unit[1], said, question);
  return whole(sumOf(plain.slice(0, unit.index), said, "number") * scale, said);
}

/** What the words behind a number multiply it by. */
function scaleOf(unit, said, question) {
  const asked = (question.toLowerCase().match(/[a-zµ]+/g) ?? []).map(singular);
  const bytesAsked = /\b(many|in) bytes\b/.test(question.toLowerCase());
  const words = unit
    .toLowerCase()
    .split(/[ \t]+/)
    .filter(Boolean);
  if (bytesAsked && words.length === 1 && SCALES.has(words[0])) return SCALES.get(words[0]);
  for (const word of words) {
    if (bytesAsked && ["kb", "mb", "gb"].includes(word))
      throw unreadable(
        word.toUpperCase(),
        said,
        "it may count by 1,000 or by 1,024; write KiB or the number",
      );
    if (!asked.includes(singular(word)) && !(word === "b" && bytesAsked))
      throw unreadable(word, said, "the question asks for no such thing; write the number alone");
  }
  return 1;
}

/** (1, 6), [1,6], 1 6 and torch.Size([1, 6]) are one answer; 6 alone is (6,). */
function readTuple(plain, said) {
  for (const [open, close] of BRACKETS)
    if (plain.startsWith(open) && plain.endsWith(close) && closes(plain, open.length))
      return readTuple(trim(plain.slice(open.length, -1)), said);
  if (!plain) return [];
  if (/^[+-]?\d+([ \t]+[+-]?\d+)+,?$/.test(plain)) plain = plain.replace(/[ \t]+/g, ",");
  return plain
    .replace(/[ \t]*,$/, "")
    .split(",")
    .map((each) => {
      const value = whole(sumOf(trim(each), said, "tuple"), said);
      if (!Number.isInteger(value) || /\d[ \t]+\d/.test(each))
        throw unreadable(trim(each), said, FORMS.tuple);
      return value;
    });
}

/** True if the bracket before this place is closed by the last character. */
function closes(plain, at) {
  let depth = 1;
  return [...plain.slice(at, -1)].every(
    (char) => (depth += Number("([".includes(char)) - Number(")]".includes(char))) > 0,
  );
}

function whole(value, said) {
  if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
    throw unreadable("", said, "a browser counts exactly up to 2**53 - 1");
  return value + 0; // there is no -0
}

function unreadable(part, said, advice) {
  const where = part === "" || part === said ? `“${said}”` : `“${part}” in “${said}”`;
  return new Refused(`I could not read ${where}: ${advice}.`);
}

/** The sum in a part of what was said. */
function sumOf(part, said, kind) {
  let rest = part;
  const next = () => TOKEN.exec(rest)?.[1] ?? "";

  function wrong() {
    const hasComma = kind === "number" && /\d,\d/.test(part);
    const advice = hasComma
      ? "a comma groups three digits, as in 1,024, and 2.5 has a point"
      : FORMS[kind];
    return unreadable(kind === "tuple" ? part : "", said, advice);
  }

  /** The next token, read, if it is one of these; "" if not. */
  function take(...wanted) {
    const token = next();
    if (!wanted.includes(token)) return "";
    rest = rest.replace(TOKEN, "");
    return token;
  }

  /** Operands of one rank, between their signs, from left to right. */
  function row(operand, signs) {
    let value = operand();
    for (let sign = take(...signs); sign; sign = take(...signs)) {
      const other = operand();
      if (sign === "/" && other === 0) throw unreadable("", said, "nothing can be divided by 0");
      value = COMPUTE[sign](value, other);
    }
    return value;
  }
  const sum = () => row(() => row(power, ["*", "/"]), ["+", "-"]);

  function power() {
    const sign = take("+", "-");
    if (sign) return sign === "+" ? power() : 0 - power();
    const base = atom();
    if (!take("**", "^")) return base;
    const exponent = power();
    if (
      !Number.isInteger(exponent) ||
      Math.abs(exponent) > MOST_POWER ||
      (base === 0 && exponent < 0)
    )
      throw unreadable("", said, `a power is a whole number up to ${MOST_POWER}`);
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
    rest = rest.replace(TOKEN, "");
    return Number(digits.replace(/[,_ ]/g, ""));
  }

  const value = sum();
  if (trim(rest)) throw wrong();
  return value;
}
