// The parser of typed lines: a port of widgets/grammar.py, which has the grammar, function by function.
// tests/live_lines.py holds the two to the same layouts and the same words.

import { Refused, product, tuple } from "./layout.js";

const MOST_CHARACTERS = 1000;

/** The operations, as a sentence lists them, and their parameters as torch has them; a property has null. */
export const SIGNATURES = {
  permute: "*dims: int",
  transpose: "dim0: int, dim1: int",
  select: "dim: int, index: int",
  unsqueeze: "dim: int",
  squeeze: "*dim: int = all",
  expand: "*size: int",
  diagonal: "offset: int = 0, dim1: int = 0, dim2: int = 1",
  unfold: "dimension: int, size: int, step: int",
  view: "*size: int",
  reshape: "*shape: int",
  flatten: "start_dim: int = 0, end_dim: int = -1",
  contiguous: "memory_format: format = torch.contiguous_format",
  clone: "memory_format: format = None",
  t: "",
  T: null,
  mT: null,
  ravel: "",
  as_strided: "size: ints, stride: ints, storage_offset: int = None",
};
const KINDS = { int: Number.isInteger, ints: Array.isArray, format: (value) => typeof value === "string" };
const WORDS = { int: "an int", ints: "ints in brackets, as (2, 3)", format: "a format, as torch.channels_last" };
const FORMS = "write operations as .permute(1, 0) or [1:, ::2]";
const NAME = "[A-Za-z_][A-Za-z0-9_]*";
const TOKEN = new RegExp(String.raw`[ \t]*(\.\.\.|\.?${NAME}|0|[1-9][0-9]*|[-+*]=|"${NAME}"|'${NAME}'|.)`, "gsu");
const PARAMETER = /(\*?)(\w+): (\w+)(?: = ([\w.-]+))?/g;
const UNSHOWN = /[\x00-\x1f\x7f-\xa0\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ud800-\udfff]/gu;

/** The operations in a text, at least one: [{name, args, text}]. Throws Refused. */
export function readSteps(text) {
  const reader = createReader(text.replace(new RegExp(`^[ \\t\\r\\n]*(?=${NAME})`), "."), FORMS);
  const steps = [reader.step()];
  while (reader.token()) steps.push(reader.step());
  return steps;
}

/** Reads the tokens of a text in order. `forms` is the advice in a refusal. */
export function createReader(given, forms) {
  if ([...given].length > MOST_CHARACTERS)
    throw new Refused(`a line has at most ${MOST_CHARACTERS} characters: write several`);
  const text = given.split("#")[0].replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  const tokens = [...text.matchAll(TOKEN)].map((found) => ({ token: found[1], end: found.index + found[0].length }));
  let at = 0;

  /** The next token; "" at the end. */
  const token = () => tokens[at]?.token ?? "";

  /** The refusal of the next token. */
  function wrong() {
    const where = token() ? `"${token()}"` : "its end";
    return new Refused(`${`cannot read "${text}" at ${where}`.replace(UNSHOWN, "\ufffd")}: ${forms}`);
  }

  /** The next token, read, if it is one of these; "" if not. */
  function take(...wanted) {
    const found = wanted.includes(token()) ? token() : "";
    at += Number(found !== "");
    return found;
  }

  /** The next token, read; throws Refused unless it matches. */
  function need(wanted) {
    const found = token();
    if (!new RegExp(`^(?:${wanted})$`).test(found)) throw wrong();
    at += 1;
    return found;
  }

  /** The next token, a name. */
  const name = () => need(NAME);

  /** True if an int comes next. */
  const atInt = () => /^[-0-9]/.test(token());

  /** An int of either sign. */
  function number() {
    const minus = take("-");
    const digits = need("[0-9]+");
    if (Number(digits) > Number.MAX_SAFE_INTEGER)
      throw new Refused(`${digits} is too large: a browser counts exactly up to ${Number.MAX_SAFE_INTEGER}`);
    return minus ? 0 - Number(digits) : Number(digits);
  }

  /** The results of `one`, separated by commas, up to the closing bracket. */
  function several(one, closing) {
    const found = [];
    while (!take(closing)) {
      found.push(one());
      if (token() !== closing) need(",");
    }
    return found;
  }

  /** An operation with its arguments. */
  function step() {
    const first = at;
    if (take("[")) {
      if (token() === "]") throw wrong();
      return { name: "[]", args: several(item, "]"), text: textFrom(first) };
    }
    const named = need(String.raw`\.${NAME}`).slice(1);
    if (!Object.hasOwn(SIGNATURES, named))
      throw new Refused(`${named} is not known here: ${Object.keys(SIGNATURES).join(", ")} are`);
    const [isProperty, isCalled] = [SIGNATURES[named] === null, take("(") !== ""];
    if (isProperty && isCalled) throw new Refused(`${named} takes no call: write .${named}`);
    if (!isProperty && !isCalled) throw new Refused(`write .${named}(), with its arguments`);
    const given = isCalled ? several(argument, ")") : [];
    return called(named, given, textFrom(first));
  }

  /** The text from a token to the last one that was read. */
  const textFrom = (first) => text.slice(tokens[first].end - tokens[first].token.length, tokens[at - 1].end);

  /** An int, {slice}, null or `...`. */
  function item() {
    if (take("...")) return "...";
    const first = at;
    const parts = [bound()];
    while (parts.length < 3 && take(":")) parts.push(bound());
    if (at === first) throw wrong();
    return parts.length > 1 ? { slice: parts } : parts[0];
  }

  /** An int; null for None or for nothing. */
  function bound() {
    if (atInt()) return number();
    take("None");
    return null;
  }

  /** The name of a parameter, or "", and a value: an int, an array, null, or a format as its name. */
  function argument() {
    const word = tokens[at + 1]?.token === "=" ? name() : "";
    if (word) need("=");
    const bracket = take("(", "[");
    if (bracket) {
      const ints = several(number, bracket === "(" ? ")" : "]");
      const isAlone = bracket === "(" && ints.length === 1 && tokens[at - 2].token !== ",";
      return [word, isAlone ? ints[0] : ints];
    }
    if (take("None")) return [word, null];
    if (take("torch")) return [word, need(String.raw`\.${NAME}`).slice(1)];
    return [word, atInt() ? number() : need(`["']${NAME}["']`).slice(1, -1)];
  }

  return { text, token, wrong, take, need, name, atInt, number, step };
}

/** A call with its arguments matched to parameters. Throws Refused for what torch does not take. */
function called(name, given, text) {
  const signature = SIGNATURES[name] ?? "";
  const parameters = new Map([...signature.matchAll(PARAMETER)].map((found) => [found[2], found.slice(1)]));
  const byPlace = given.flatMap(([word, value]) => (word ? [] : [value]));
  const wrong = (why) => new Refused(`cannot apply ${text}: ${why}; write .${name}(${signature})`);

  if (given.slice(0, byPlace.length).some(([word]) => word))
    throw wrong("an argument without a name follows one with a name");
  if (signature.startsWith("*") && byPlace.length && byPlace.every(Number.isInteger))
    given = [["", byPlace], ...given.slice(byPlace.length)];
  const named = new Map();
  for (const [k, [givenWord, value]] of given.entries()) {
    if (!givenWord && k >= parameters.size)
      throw wrong(`it takes ${parameters.size} arguments, not ${given.length}`);
    const word = givenWord || [...parameters.keys()][k];
    if (!parameters.has(word) || named.has(word))
      throw wrong(named.has(word) ? `${word} is given twice` : `it has no ${word}`);
    const why = whyNot(value, ...parameters.get(word));
    if (why) throw wrong(`${word} is ${why}`);
    named.set(word, value);
  }
  for (const [word, parameter] of parameters)
    if (!parameter[3] && !named.has(word)) throw wrong(`${word} is missing`);
  const format = named.get("memory_format");
  return {
    name,
    args: [...parameters.keys()].map((word) => named.get(word)),
    text: format ? `.${name}(memory_format=torch.${format})` : text,
  };
}

/** The reason why a parameter cannot have a value; "" if it can. */
function whyNot(value, star, name, given, fallback) {
  const kind = star ? "ints" : given;
  const fits = KINDS[kind](value) || (value === null && fallback === "None");
  const shown = value === null ? "None" : Array.isArray(value) ? tuple(value) : KINDS.int(value) ? value : `torch.${value}`;
  if (!fits && !(fallback === "all" && KINDS.int(value))) return `${shown}, not ${WORDS[kind]}`;
  const sizes = ["size", "shape"].includes(name) && kind === "ints" ? value : [];
  if (product(sizes.map((n) => Math.max(Math.abs(n), 1))) > Number.MAX_SAFE_INTEGER)
    return `${shown}: a browser counts exactly up to ${Number.MAX_SAFE_INTEGER} elements`;
  return "";
}
