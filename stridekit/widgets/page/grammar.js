// The grammar of typed lines, and their parser: `.permute(1, 0)`, `[1:, ::2]`, `y = x[1:] + 1`.
//
//     steps    = [ name "=" ] [ tensor ] step { step }      no tensor: then the dot is optional
//     step     = "[" item { "," item } [ "," ] "]"
//              | "." name [ "(" [ argument { "," argument } [ "," ] ] ")" ] [ "[" int "]" ]
//     item     = "..." | "None" | int | [ bound ] ":" [ bound ] [ ":" [ bound ] ]
//     bound    = int | "None"
//     argument = [ name "=" ] ( int | ints | "None" | format )
//     ints     = "(" [ int { "," int } [ "," ] ] ")" | "[" [ int { "," int } [ "," ] ] "]"
//     int      = [ "-" ] digits                             no 0 in front, nothing beyond 2^53
//     format   = "torch" "." name | a name in quotes
//
//     line     = name "=" ( chain | operand sign operand )  a name is bound
//              | chain op operand                           in place: a name, or it ends in "]"
//              | chain "." name "(" [ operand [ "," ] ] ")"
//     chain    = name { step }
//     operand  = chain | int
//     sign     = "+" | "-" | "*"
//     op       = "=" | "+=" | "-=" | "*="
//
// Names have ASCII letters, digits and _. Spaces and tabs may stand between tokens; a dot and its
// name are one token. "#" begins a comment. A line is Python with Python's meaning: `(3)` is the
// int 3. The index behind a call picks one of several results, as in `split(2)[0]`. Formats may
// also be given in quotes, or without the name of the parameter; a step's `text` then has the form
// that torch takes. `plain` undoes the changes that slides and chats make to a line, such as curly
// quotes, and takes away the characters around it, such as a semicolon. alias_explorer/session.js
// reads `line`. tests/course/live_lines.py lets torch run the lines that are read, and those that
// are not.

import { apply, counted, product, Refused, tuple } from "./layout.js";

/** @import { Layout, Step } from "./layout.js" */

/**
 * A value in a call: an int, ints, None as null, or a format as its name.
 * @typedef {number | number[] | string | null} Value
 */

/**
 * A value with the name of its parameter, or "".
 * @typedef {[word: string, value: Value]} Argument
 */

const MOST_CHARACTERS = 1000;

/**
 * The operations, as a sentence lists them, and their parameters as torch has them; a property has
 * null.
 * @type {Record<string, string | null>}
 */
export const SIGNATURES = Object.fromEntries(
  entriesByName([
    ["permute", "*dims: int"],
    ["transpose swapdims", "dim0: int, dim1: int"],
    ["swapaxes", "axis0: int, axis1: int"],
    ["movedim moveaxis", "source: int|ints, destination: int|ints"],
    ["t", ""],
    ["T mT H mH", null],
    ["adjoint", ""],
    ["select", "dim: int, index: int"],
    ["narrow", "dim: int, start: int, length: int"],
    ["split", "split_size: int|ints, dim: int = 0"],
    ["chunk", "chunks: int, dim: int = 0"],
    ["unbind", "dim: int = 0"],
    ["tensor_split", "sections: int|ints, dim: int = 0"],
    ["hsplit vsplit dsplit", "*sections: int|ints"],
    ["diagonal", "offset: int = 0, dim1: int = 0, dim2: int = 1"],
    ["unfold", "dimension: int, size: int, step: int"],
    ["unsqueeze", "dim: int"],
    ["squeeze", "*dim: int = all"],
    ["expand broadcast_to view", "*size: int"],
    ["unflatten", "dim: int, sizes: ints"],
    ["detach", ""],
    ["as_strided", "size: ints, stride: ints, storage_offset: int = None"],
    ["reshape", "*shape: int"],
    ["flatten", "start_dim: int = 0, end_dim: int = -1"],
    ["ravel", ""],
    ["contiguous", "memory_format: format = torch.contiguous_format"],
    ["to", "memory_format: format"],
    ["clone", "memory_format: format = None"],
    ["flip", "*dims: int"],
    ["repeat", "*repeats: int"],
    ["tile", "*dims: int"],
  ]),
);
export const PIECES = ["split", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit"];

const KEEPS_DTYPE = "the elements keep their dtype in the picture";
/** Advice for names of torch that are no operations here. */
export const OTHERS = new Map(
  entriesByName([
    [
      "shape size stride storage_offset numel nelement ndim dim element_size itemsize " +
        "is_contiguous data_ptr storage untyped_storage item tolist numpy dim_order",
      "the picture shows it",
    ],
    [
      "dtype type type_as float double half bfloat16 int long short byte bool real imag " +
        "view_as_real view_as_complex",
      KEEPS_DTYPE,
    ],
    ["expand_as view_as reshape_as", "write the sizes out, as in .expand(3, 4)"],
    ["data", "write .detach()"],
    [
      "roll rot90 fliplr flipud repeat_interleave index_select take gather masked_select tril " +
        "triu cat stack",
      "the picture follows no such order; .flip(0), .repeat(2, 1) and .clone() copy as well",
    ],
    [
      "add sub mul div neg abs exp relu clamp sum mean max min argmax sort cumsum diff softmax",
      "it computes new values; an AliasExplorer runs y = x + 1",
    ],
    ["add_ sub_ mul_ neg_ zero_ fill_ copy_", "it writes; an AliasExplorer runs y.add_(1)"],
  ]),
);

/** @type {Record<string, (value: Value) => boolean>} */
const KINDS = {
  int: Number.isInteger,
  ints: Array.isArray,
  format: (value) => typeof value === "string",
};
/** @type {Record<string, string>} */
const WORDS = {
  int: "an int",
  ints: "ints in brackets, as (2, 3)",
  format: "a format, as torch.channels_last",
};
const SIZES = ["size", "sizes", "shape", "repeats", "dims"]; // parameters whose numbers multiply
const FORMS = "write operations as .permute(1, 0) or [1:, ::2]";
const GATHERED =
  "lists, masks and tensors gather elements into a new storage; " +
  "write ints and slices, as [1:, ::2]";
const NOT_EXACT = `a browser counts exactly up to ${Number.MAX_SAFE_INTEGER}`;

const NAME = "[A-Za-z_][A-Za-z0-9_]*";
const TOKEN = new RegExp(
  String.raw`[ \t]*(\.\.\.|\.?${NAME}|0|[1-9][0-9]*|[-+*]=|"${NAME}"|'${NAME}'|.)`,
  "gsu",
);
const BINDING = new RegExp(String.raw`^${NAME}[ \t]*=(?!=)[ \t]*`);
const TENSOR = new RegExp(String.raw`^(${NAME})[ \t]*[.[]`);
const PARAMETER = /(\*?)(\w+): ([\w|]+)(?: = ([\w.-]+))?/g;
const FUNCTION = new RegExp(
  String.raw`\btorch\.(${NAME})\([ \t]*(${NAME})[ \t]*(?:,[ \t]*|(?=\)))`,
  "g",
);
const DOT = new RegExp(String.raw`[ \t]*\.[ \t]+(?=${NAME})`, "g");
const UNSHOWN = /[\p{Cc}\xa0\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ud800-\udfff]/gu;

/**
 * Characters that slides and chats put in place of quotes, dashes and spaces.
 * @type {[pattern: RegExp, plain: string][]}
 */
const PLAIN = [
  [/[‘’‚‛′]/g, "'"],
  [/[“”„‟″]/g, '"'],
  [/[‐‑‒–—−]/g, "-"],
  [/[\xa0\u2002\u2003\u2007\u2009\u200a\u202f\u3000]/g, " "],
  [/[\u200b\u2060\ufeff]/g, ""],
  [/…/g, "..."],
  [/×/g, "*"],
];
const WIDE = /[\uff01-\uff5e]/g; // the wide forms of ASCII

/**
 * Give each name an entry of its own, in a table whose rows begin with several names.
 * @template Entry
 * @param {[names: string, entry: Entry][]} rows
 */
function entriesByName(rows) {
  /** @type {[name: string, entry: Entry][]} */
  const entries = [];
  for (const [names, entry] of rows)
    for (const name of names.split(" ")) entries.push([name, entry]);
  return entries;
}

/**
 * The operations in a text, at least one, on a tensor of this name. Throws Refused.
 * @param {string} text
 */
export function readSteps(text, tensor = "x") {
  const reader = createReader(withoutTensor(plain(text), tensor), FORMS);
  const steps = [reader.step()];
  while (reader.token()) steps.push(reader.step());
  return steps;
}

/** @type {(layout: Layout, text: string) => Layout} */
export const after = (layout, text) =>
  readSteps(text).reduce((before, step) => apply(before, step).layout, layout);

/**
 * A line as Python has it, without a prompt, a comment, or the characters that separate it from the
 * next line.
 * @param {string} text
 */
export function plain(text) {
  if ([...text].length > MOST_CHARACTERS)
    throw new Refused(`a line has at most ${MOST_CHARACTERS} characters: write several`);
  let ascii = text;
  for (const [pattern, char] of PLAIN) ascii = ascii.replace(pattern, char);
  ascii = ascii.replace(WIDE, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0));
  const [line] = ascii.split("#");
  return line
    .replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "")
    .replace(/^>>> /, "")
    .replace(/[ \t\r\n;,]+$/, "")
    .replace(FUNCTION, "$2.$1(")
    .replace(DOT, ".");
}

/**
 * The operations of a line without the name of the tensor, which may be left out, and without the
 * name to which the result may be bound.
 * @type {(line: string, tensor: string) => string}
 */
function withoutTensor(line, tensor) {
  const binding = line.match(BINDING);
  let rest = line.slice(binding ? binding[0].length : 0);
  const isTensor = rest.startsWith(tensor) && /^[ \t]*([.[]|$)/.test(rest.slice(tensor.length));
  if (isTensor) {
    rest = rest.slice(tensor.length);
  } else {
    const named = rest.match(TENSOR);
    const isOtherTensor = named !== null && !Object.hasOwn(SIGNATURES, named[1]);
    if (binding || isOtherTensor)
      throw new Refused(
        visible(
          `cannot read "${line}": the tensor in the picture is ${tensor}, ` +
            `write ${tensor}.t() or .t()`,
        ),
      );
  }
  return rest.replace(new RegExp(String.raw`^[ \t]*(?=${NAME})`), ".");
}

/** @param {string} text */
const visible = (text) => text.replace(UNSHOWN, "\ufffd");

/**
 * Reads the tokens of a plain text in order. `forms` is the advice in a refusal.
 * @param {string} text
 * @param {string} forms
 */
export function createReader(text, forms) {
  const tokens = [...text.matchAll(TOKEN)].map((match) => ({
    token: match[1],
    end: match.index + match[0].length,
  }));
  let position = 0;
  let written = text; // in the form that torch takes

  /** The next token; "" at the end. */
  const token = () => tokens[position]?.token ?? "";

  function wrong() {
    const where = token() ? `"${token()}"` : "its end";
    return new Refused(visible(`cannot read "${text}" at ${where}: ${forms}`));
  }

  /**
   * Read the next token and return it if it is wanted; else return "".
   * @param {string[]} wanted
   */
  function take(...wanted) {
    const next = token();
    if (!wanted.includes(next)) return "";
    position += 1;
    return next;
  }

  /**
   * Read the next token, which has to match a pattern.
   * @param {string} pattern
   */
  function need(pattern) {
    const next = token();
    if (!new RegExp(`^(?:${pattern})$`).test(next)) throw wrong();
    position += 1;
    return next;
  }

  const name = () => need(NAME);
  const atInt = () => /^[-0-9]/.test(token());

  function number() {
    const isNegative = take("-") !== "";
    const digits = need("[0-9]+");
    if (Number(digits) > Number.MAX_SAFE_INTEGER)
      throw new Refused(`${digits} is too large: ${NOT_EXACT}`);
    return isNegative ? 0 - Number(digits) : Number(digits);
  }

  /**
   * Read parts with commas between them, up to the closing bracket.
   * @template Part
   * @param {() => Part} read
   * @param {string} closing
   */
  function several(read, closing) {
    /** @type {Part[]} */
    const parts = [];
    while (!take(closing)) {
      parts.push(read());
      if (token() !== closing) need(",");
    }
    return parts;
  }

  /** @returns {Step & { text: string }} */
  function step() {
    const first = position;
    if (take("[")) {
      if (token() === "]") throw wrong();
      const args = several(item, "]");
      return { name: "[]", args, text: textFrom(first) };
    }
    const operation = need(String.raw`\.${NAME}`).slice(1);
    if (!Object.hasOwn(SIGNATURES, operation))
      throw new Refused(`${operation} is not known here: ${insteadOf(operation)}`);
    const isProperty = SIGNATURES[operation] === null;
    const isCalled = take("(") !== "";
    if (isProperty && isCalled)
      throw new Refused(`${operation} takes no call: write .${operation}`);
    if (!isProperty && !isCalled) throw new Refused(`write .${operation}(), with its arguments`);
    const values = isCalled ? several(argument, ")") : [];
    const source = textFrom(first);
    const call = called(operation, values, source);
    written = written.replaceAll(source, () => call.text);
    if (!PIECES.includes(operation)) return call;
    if (!take("["))
      throw new Refused(`${call.text} makes several tensors: write ${call.text}[0] for the first`);
    const piece = number();
    need("\\]");
    return { ...call, text: textFrom(first), piece };
  }

  /**
   * The text from a token up to the last one that was read.
   * @param {number} first
   */
  function textFrom(first) {
    const start = tokens[first].end - tokens[first].token.length;
    return text.slice(start, tokens[position - 1].end);
  }

  /** An int, {slice}, null or `...`. */
  function item() {
    if (take("...")) return "...";
    const first = position;
    const parts = [bound()];
    while (parts.length < 3 && take(":")) parts.push(bound());
    if (position > first) return parts.length > 1 ? { slice: parts } : parts[0];
    if (token() !== "[" && !new RegExp(`^${NAME}`).test(token())) throw wrong();
    throw new Refused(`"${token()}" cannot stand in an index here: ${GATHERED}`);
  }

  function bound() {
    if (atInt()) return number();
    take("None");
    return null;
  }

  /** @returns {Argument} */
  function argument() {
    const isNamed = tokens[position + 1]?.token === "=";
    const word = isNamed ? name() : "";
    if (isNamed) need("=");
    return [word, value()];
  }

  /** @returns {Value} */
  function value() {
    if (take("[")) return several(number, "]");
    if (take("(")) {
      const ints = several(number, ")");
      const isTuple = ints.length !== 1 || tokens[position - 2].token === ",";
      return isTuple ? ints : ints[0];
    }
    if (take("None")) return null;
    if (take("torch")) return need(String.raw`\.${NAME}`).slice(1);
    if (atInt()) return number();
    return need(`["']${NAME}["']`).slice(1, -1);
  }

  return { written: () => written, token, wrong, take, need, name, atInt, number, step };
}

/** @param {string} name */
function insteadOf(name) {
  const advice = OTHERS.get(name);
  if (advice) return advice;
  const operations = Object.keys(SIGNATURES);
  const distances = operations.map((operation) => distance(name, operation));
  const least = Math.min(...distances);
  if (least <= Math.min(2, Math.floor(name.length / 3)))
    return `write .${operations[distances.indexOf(least)]}`;
  return `${operations.join(", ")} are`;
}

/**
 * How many letters to put in, leave out or exchange: the distance of Levenshtein.
 * @type {(a: string, b: string) => number}
 */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const exchanged = row[j] + Number(a[i] !== b[j]);
      next.push(Math.min(exchanged, row[j + 1] + 1, next[j] + 1));
    }
    row = next;
  }
  return row[b.length];
}

/**
 * A parameter in a signature; a variadic one takes several ints in a row.
 * @typedef {object} Parameter
 * @property {boolean} isVariadic
 * @property {string} name
 * @property {string} kind
 * @property {string} [fallback]
 */

/**
 * The parameters of a signature, by name and in order.
 * @param {string} signature
 */
function parametersOf(signature) {
  /** @type {Map<string, Parameter>} */
  const parameters = new Map();
  for (const [, star, name, kind, fallback] of signature.matchAll(PARAMETER))
    parameters.set(name, { isVariadic: star === "*", name, kind, fallback });
  return parameters;
}

/**
 * A call with its arguments matched to parameters. Throws Refused for a call that torch refuses.
 * @param {string} name
 * @param {Argument[]} values
 * @param {string} text
 */
function called(name, values, text) {
  const signature = SIGNATURES[name] ?? "";
  const parameters = parametersOf(signature);
  /** @param {string} why */
  const wrong = (why) => new Refused(`cannot apply ${text}: ${why}; write .${name}(${signature})`);

  const firstNamed = values.findIndex(([word]) => word);
  const lastUnnamed = values.findLastIndex(([word]) => !word);
  if (firstNamed >= 0 && firstNamed < lastUnnamed)
    throw wrong("an argument without a name follows one with a name");
  const isDtype = values.some(
    ([word, value]) => word === "dtype" || (name === "view" && KINDS.format(value)),
  );
  if (isDtype && (name === "view" || name === "to")) throw wrong(KEEPS_DTYPE);
  const args = gatherInts(signature, values);
  /** @type {Map<string, Value>} */
  const named = new Map();
  for (const [k, [givenWord, value]] of args.entries()) {
    if (!givenWord && k >= parameters.size)
      throw wrong(`it takes ${counted(parameters.size, "argument")}, not ${args.length}`);
    const word = givenWord || [...parameters.keys()][k];
    if (named.has(word)) throw wrong(`${word} is given twice`);
    const parameter = parameters.get(word);
    if (!parameter) throw wrong(`it has no ${word}`);
    const why = whyNot(value, parameter, givenWord !== "");
    if (why) throw wrong(`${word} is ${why}`);
    named.set(word, value);
  }
  for (const [word, { fallback }] of parameters)
    if (!fallback && !named.has(word)) throw wrong(`${word} is missing`);
  return {
    name,
    args: [...parameters.keys()].map((word) => named.get(word)),
    text: named.has("memory_format") ? formatText(name, named.get("memory_format")) : text,
  };
}

/**
 * Several ints in a row become one argument of a variadic parameter.
 * @type {(signature: string, args: Argument[]) => Argument[]}
 */
function gatherInts(signature, args) {
  const byPlace = args.filter(([word]) => !word).map(([, value]) => value);
  const fewest = signature.includes("int|ints") ? 2 : 1; // there, a single int stays an int
  const isRow = signature.startsWith("*") && byPlace.length >= fewest;
  if (!isRow || !byPlace.every(Number.isInteger)) return args;
  const ints = /** @type {number[]} */ (byPlace);
  return [["", ints], ...args.slice(ints.length)];
}

/** @type {(name: string, format: Value | undefined) => string} */
function formatText(name, format) {
  return `.${name}(memory_format=${format ? `torch.${format}` : "None"})`;
}

/**
 * The reason why a parameter cannot have a value; "" if it can.
 * @type {(value: Value, parameter: Parameter, isByName: boolean) => string}
 */
function whyNot(value, parameter, isByName) {
  const { name, fallback } = parameter;
  const kinds = kindsOf(parameter, isByName);
  const fits =
    kinds.some((kind) => KINDS[kind](value)) ||
    (value === null && fallback === "None") ||
    (KINDS.int(value) && fallback === "all");
  if (!fits) return `${shown(value)}, not ${kinds.map((kind) => WORDS[kind]).join(" or ")}`;
  if (!SIZES.includes(name) || !Array.isArray(value)) return "";
  const sizes = value.map((n) => Math.max(Math.abs(n), 1));
  return product(sizes) > Number.MAX_SAFE_INTEGER ? `${shown(value)}: ${NOT_EXACT} elements` : "";
}

/** @type {(parameter: Parameter, isByName: boolean) => string[]} */
function kindsOf({ isVariadic, name, kind }, isByName) {
  if (name === "sections" && isByName) return ["int"]; // indices have another name
  if (isVariadic && !kind.includes("|")) return ["ints"];
  return kind.split("|");
}

/** @param {Value} value */
function shown(value) {
  if (value === null) return "None";
  if (Array.isArray(value)) return tuple(value);
  return KINDS.int(value) ? String(value) : `torch.${value}`;
}
