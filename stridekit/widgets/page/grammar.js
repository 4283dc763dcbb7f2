// The grammar of typed lines, and their parser: `.permute(1, 0)`, `[1:, ::2]`, `y = x[1:] + 1`.
//
//     steps    = [ name "=" ] [ tensor ] step { step }      behind no tensor, the first dot may be left out
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
//              | chain op operand                           in place: a name, or a chain that ends in "]"
//              | chain "." name "(" [ operand [ "," ] ] ")"
//     chain    = name { step }
//     operand  = chain | int
//     sign     = "+" | "-" | "*"
//     op       = "=" | "+=" | "-=" | "*="
//
// Names have ASCII letters, digits and _. Spaces and tabs may stand between tokens; a dot and its name are one
// token. "#" begins a comment. A line is Python with Python's meaning: `(3)` is the int 3. The index behind a
// call picks one of several results, as in `split(2)[0]`. Formats may also be given in quotes, or without the
// name of the parameter; a step's `text` then has the form that torch takes. What slides and chats make of a line,
// such as curly quotes, and what stands around it, such as a semicolon, is `plain` again.
// alias_explorer/session.js reads `line`. tests/course/live_lines.py lets torch run what is read, and what is not.

import { apply, counted, product, Refused, tuple } from "./layout.js";

const MOST_CHARACTERS = 1000;

/** The operations, as a sentence lists them, and their parameters as torch has them; a property has null. */
export const SIGNATURES = Object.fromEntries(
  Object.entries({
    permute: "*dims: int",
    "transpose swapdims": "dim0: int, dim1: int",
    swapaxes: "axis0: int, axis1: int",
    "movedim moveaxis": "source: int|ints, destination: int|ints",
    t: "",
    "T mT H mH": null,
    adjoint: "",
    select: "dim: int, index: int",
    narrow: "dim: int, start: int, length: int",
    split: "split_size: int|ints, dim: int = 0",
    chunk: "chunks: int, dim: int = 0",
    unbind: "dim: int = 0",
    tensor_split: "sections: int|ints, dim: int = 0",
    "hsplit vsplit dsplit": "*sections: int|ints",
    diagonal: "offset: int = 0, dim1: int = 0, dim2: int = 1",
    unfold: "dimension: int, size: int, step: int",
    unsqueeze: "dim: int",
    squeeze: "*dim: int = all",
    "expand broadcast_to view": "*size: int",
    unflatten: "dim: int, sizes: ints",
    detach: "",
    as_strided: "size: ints, stride: ints, storage_offset: int = None",
    reshape: "*shape: int",
    flatten: "start_dim: int = 0, end_dim: int = -1",
    ravel: "",
    contiguous: "memory_format: format = torch.contiguous_format",
    to: "memory_format: format",
    clone: "memory_format: format = None",
    flip: "*dims: int",
    repeat: "*repeats: int",
    tile: "*dims: int",
  }).flatMap(([names, parameters]) => names.split(" ").map((name) => [name, parameters])),
);
export const PIECES = ["split", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit"];
export const OTHERS = new Map(
  Object.entries({
    "the picture shows it":
      "shape size stride storage_offset numel nelement ndim dim element_size itemsize is_contiguous data_ptr storage " +
      "untyped_storage item tolist numpy dim_order",
    "the elements keep their dtype in the picture":
      "dtype type type_as float double half bfloat16 int long short byte bool real imag view_as_real view_as_complex",
    "write the sizes out, as in .expand(3, 4)": "expand_as view_as reshape_as",
    "write .detach()": "data",
    "the picture follows no such order; .flip(0), .repeat(2, 1) and .clone() copy as well":
      "roll rot90 fliplr flipud repeat_interleave index_select take gather masked_select tril triu cat stack",
    "it computes new values; an AliasExplorer runs y = x + 1":
      "add sub mul div neg abs exp relu clamp sum mean max min argmax sort cumsum diff softmax",
    "it writes; an AliasExplorer runs y.add_(1)": "add_ sub_ mul_ neg_ zero_ fill_ copy_",
  }).flatMap(([instead, names]) => names.split(" ").map((name) => [name, instead])),
);
const KINDS = {
  int: Number.isInteger,
  ints: Array.isArray,
  format: (value) => typeof value === "string",
};
const WORDS = {
  int: "an int",
  ints: "ints in brackets, as (2, 3)",
  format: "a format, as torch.channels_last",
};
const SIZES = ["size", "sizes", "shape", "repeats", "dims"]; // parameters whose numbers multiply
const FORMS = "write operations as .permute(1, 0) or [1:, ::2]";
const GATHERED =
  "lists, masks and tensors gather elements into a new storage; write ints and slices, as [1:, ::2]";
const NOT_EXACT = `a browser counts exactly up to ${Number.MAX_SAFE_INTEGER}`;
const NAME = "[A-Za-z_][A-Za-z0-9_]*";
const TOKEN = new RegExp(
  String.raw`[ \t]*(\.\.\.|\.?${NAME}|0|[1-9][0-9]*|[-+*]=|"${NAME}"|'${NAME}'|.)`,
  "gsu",
);
const PARAMETER = /(\*?)(\w+): ([\w|]+)(?: = ([\w.-]+))?/g;
const FUNCTION = new RegExp(
  String.raw`\btorch\.(${NAME})\([ \t]*(${NAME})[ \t]*(?:,[ \t]*|(?=\)))`,
  "g",
);
const DOT = new RegExp(String.raw`[ \t]*\.[ \t]+(?=${NAME})`, "g");
const UNSHOWN = /[\x00-\x1f\x7f-\xa0\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ud800-\udfff]/gu;

// What is written otherwise on slides and in chats: quotes, dashes, spaces, and the wide forms of ASCII.
const PLAIN = [
  [/[‘’‚‛′]/g, "'"],
  [/[“”„‟″]/g, '"'],
  [/[‐‑‒–—−]/g, "-"],
  [/[\xa0\u2002\u2003\u2007\u2009\u200a\u202f\u3000]/g, " "],
  [/[\u200b\u2060\ufeff]/g, ""],
  [/…/g, "..."],
  [/×/g, "*"],
  [/[\uff01-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0)],
];

/** The operations in a text, at least one, on a tensor of this name: [{name, args, text, piece}]. Throws Refused. */
export function readSteps(text, tensor = "x") {
  const reader = createReader(behind(plain(text), tensor), FORMS);
  const steps = [reader.step()];
  while (reader.token()) steps.push(reader.step());
  return steps;
}

export const after = (layout, text) =>
  readSteps(text).reduce((now, step) => apply(now, step).layout, layout);

/** A line as Python has it, without a prompt, a comment, or what separates it from the next one. */
export function plain(text) {
  if ([...text].length > MOST_CHARACTERS)
    throw new Refused(`a line has at most ${MOST_CHARACTERS} characters: write several`);
  const ascii = PLAIN.reduce((now, [other, char]) => now.replace(other, char), text);
  const line = ascii
    .split("#")[0]
    .replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "")
    .replace(/^>>> /, "");
  return line
    .replace(/[ \t\r\n;,]+$/, "")
    .replace(FUNCTION, "$2.$1(")
    .replace(DOT, ".");
}

/** The operations behind the name of the tensor, which may be left out, and be given a new name. */
function behind(text, tensor) {
  const bound = text.match(new RegExp(`^${NAME}[ \\t]*=(?!=)[ \\t]*`));
  let rest = text.slice(bound?.[0].length ?? 0);
  const named = rest.match(new RegExp(`^(${NAME})[ \\t]*[.[]`));
  const wrong = `cannot read "${text}": the tensor in the picture is ${tensor}, write ${tensor}.t() or .t()`;
  if (rest.startsWith(tensor) && /^[ \t]*([.[]|$)/.test(rest.slice(tensor.length)))
    rest = rest.slice(tensor.length);
  else if (bound || (named && !Object.hasOwn(SIGNATURES, named[1])))
    throw new Refused(visible(wrong));
  return rest.replace(new RegExp(`^[ \\t]*(?=${NAME})`), ".");
}

const visible = (text) => text.replace(UNSHOWN, "\ufffd");

/** Reads the tokens of a plain text in order. `forms` is the advice in a refusal. */
export function createReader(text, forms) {
  const tokens = [...text.matchAll(TOKEN)].map((seen) => ({
    token: seen[1],
    end: seen.index + seen[0].length,
  }));
  let [at, written] = [0, text]; // in the form that torch takes

  /** The next token; "" at the end. */
  const token = () => tokens[at]?.token ?? "";

  function wrong() {
    const where = token() ? `"${token()}"` : "its end";
    return new Refused(visible(`cannot read "${text}" at ${where}: ${forms}`));
  }

  /** The next token, read, if it is one of these; "" if not. */
  function take(...wanted) {
    const seen = wanted.includes(token()) ? token() : "";
    at += Number(seen !== "");
    return seen;
  }

  function need(wanted) {
    const seen = token();
    if (!new RegExp(`^(?:${wanted})$`).test(seen)) throw wrong();
    at += 1;
    return seen;
  }

  const name = () => need(NAME);
  const atInt = () => /^[-0-9]/.test(token());

  function number() {
    const minus = take("-");
    const digits = need("[0-9]+");
    if (Number(digits) > Number.MAX_SAFE_INTEGER)
      throw new Refused(`${digits} is too large: ${NOT_EXACT}`);
    return minus ? 0 - Number(digits) : Number(digits);
  }

  /** What `read` returns for each of the parts, between commas, up to the closing bracket. */
  function several(read, closing) {
    const parts = [];
    while (!take(closing)) {
      parts.push(read());
      if (token() !== closing) need(",");
    }
    return parts;
  }

  function step() {
    const first = at;
    if (take("[")) {
      if (token() === "]") throw wrong();
      return { name: "[]", args: several(item, "]"), text: textFrom(first) };
    }
    const named = need(String.raw`\.${NAME}`).slice(1);
    if (!Object.hasOwn(SIGNATURES, named))
      throw new Refused(`${named} is not known here: ${insteadOf(named)}`);
    const [isProperty, isCalled] = [SIGNATURES[named] === null, take("(") !== ""];
    if (isProperty && isCalled) throw new Refused(`${named} takes no call: write .${named}`);
    if (!isProperty && !isCalled) throw new Refused(`write .${named}(), with its arguments`);
    const given = isCalled ? several(argument, ")") : [];
    const made = called(named, given, textFrom(first));
    written = written.replaceAll(textFrom(first), () => made.text);
    if (!PIECES.includes(named)) return made;
    if (!take("["))
      throw new Refused(`${made.text} makes several tensors: write ${made.text}[0] for the first`);
    const piece = number();
    need("\\]");
    return { ...made, text: textFrom(first), piece };
  }

  const textFrom = (first) =>
    text.slice(tokens[first].end - tokens[first].token.length, tokens[at - 1].end);

  /** An int, {slice}, null or `...`. */
  function item() {
    if (take("...")) return "...";
    const first = at;
    const parts = [bound()];
    while (parts.length < 3 && take(":")) parts.push(bound());
    if (at > first) return parts.length > 1 ? { slice: parts } : parts[0];
    if (token() !== "[" && !new RegExp(`^${NAME}`).test(token())) throw wrong();
    throw new Refused(`"${token()}" cannot stand in an index here: ${GATHERED}`);
  }

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

  return { written: () => written, token, wrong, take, need, name, atInt, number, step };
}

function insteadOf(name) {
  if (OTHERS.has(name)) return OTHERS.get(name);
  const known = Object.keys(SIGNATURES);
  const distances = known.map((other) => changes(name, other));
  const least = Math.min(...distances);
  if (least <= Math.min(2, Math.floor(name.length / 3)))
    return `write .${known[distances.indexOf(least)]}`;
  return `${known.join(", ")} are`;
}

/** How many letters to put in, leave out or exchange: the distance of Levenshtein. */
function changes(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j] + Number(a[i] !== b[j]), row[j + 1] + 1, next[j] + 1));
    row = next;
  }
  return row[b.length];
}

/** A call with its arguments matched to parameters. Throws Refused for what torch does not take. */
function called(name, given, text) {
  const signature = SIGNATURES[name] ?? "";
  const parameters = new Map(
    [...signature.matchAll(PARAMETER)].map((seen) => [seen[2], seen.slice(1)]),
  );
  const byPlace = given.flatMap(([word, value]) => (word ? [] : [value]));
  const wrong = (why) => new Refused(`cannot apply ${text}: ${why}; write .${name}(${signature})`);

  if (given.slice(0, byPlace.length).some(([word]) => word))
    throw wrong("an argument without a name follows one with a name");
  const dtypes = given.filter(
    ([word, it]) => word === "dtype" || (name === "view" && KINDS.format(it)),
  );
  if (dtypes.length && ["view", "to"].includes(name)) throw wrong(OTHERS.get("dtype"));
  const several =
    signature.startsWith("*") && byPlace.length > Number(signature.includes("int|ints"));
  if (several && byPlace.every(Number.isInteger))
    given = [["", byPlace], ...given.slice(byPlace.length)];
  const named = new Map();
  for (const [k, [givenWord, value]] of given.entries()) {
    if (!givenWord && k >= parameters.size)
      throw wrong(`it takes ${counted(parameters.size, "argument")}, not ${given.length}`);
    const word = givenWord || [...parameters.keys()][k];
    if (named.has(word)) throw wrong(`${word} is given twice`);
    if (!parameters.has(word)) throw wrong(`it has no ${word}`);
    const why = whyNot(value, ...parameters.get(word), givenWord);
    if (why) throw wrong(`${word} is ${why}`);
    named.set(word, value);
  }
  for (const [word, parameter] of parameters)
    if (!parameter[3] && !named.has(word)) throw wrong(`${word} is missing`);
  const format = named.get("memory_format");
  return {
    name,
    args: [...parameters.keys()].map((word) => named.get(word)),
    text:
      format === undefined
        ? text
        : `.${name}(memory_format=${format ? `torch.${format}` : "None"})`,
  };
}

/** The reason why a parameter cannot have a value; "" if it can. */
function whyNot(value, star, name, kind, fallback, byName) {
  let kinds = (kind.includes("|") ? kind : star ? "ints" : kind).split("|");
  if (name === "sections" && byName) kinds = ["int"]; // indices have another name
  const fits = kinds.some((each) => KINDS[each](value)) || (value === null && fallback === "None");
  const shown =
    value === null
      ? "None"
      : Array.isArray(value)
        ? tuple(value)
        : KINDS.int(value)
          ? value
          : `torch.${value}`;
  if (!fits && !(fallback === "all" && KINDS.int(value)))
    return `${shown}, not ${kinds.map((each) => WORDS[each]).join(" or ")}`;
  const sizes = SIZES.includes(name) && Array.isArray(value) ? value : [];
  if (product(sizes.map((n) => Math.max(Math.abs(n), 1))) > Number.MAX_SAFE_INTEGER)
    return `${shown}: ${NOT_EXACT} elements`;
  return "";
}
