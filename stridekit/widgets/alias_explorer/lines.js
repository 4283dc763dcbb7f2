// The lines of the alias explorer: the rule `line` of page/grammar.js. `y = x[1:, ::2]` and `y = x + 1` bind a name;
// `y += 100`, `y[0] = 7` and `y.add_(x)` write in place. An operand is a name with operations on it, or an int; nothing
// else can be expressed.

import { createReader, plain } from "../page/grammar.js";

/** The argument of each operation in place: none, an int, or a tensor. */
const IN_PLACE = {
  ".zero_": "", ".neg_": "", ".fill_": "int", ".copy_": "tensor",
  ".add_": "int or tensor", ".sub_": "int or tensor", ".mul_": "int or tensor",
};
const OPERATORS = { "=": "[]", "+=": "add_", "-=": "sub_", "*=": "mul_" };
const formsOf = ([x, y]) =>
  `write ${y} = ${x}[1:, ::2] or ${y} = ${x} + 1 to make a tensor, ${y} += 100 or ${y}[0] = 7 to write to one`;

// The parsed line: {text, bind, source}, {text, bind, left, sign, right} or {text, target, op, source}. `source`
// is a chain, an int, or null, and an operand a chain or an int; a chain is {name, steps, text}.
export function readLine(text, called = ["x", "y"]) {
  const reader = createReader(plain(text), formsOf(called));
  const said = line(reader);
  reader.need("");
  return { text: reader.written(), ...said };
}

function line(reader) {
  const target = chain(reader);
  const { name, steps } = target;
  if (!steps.length && reader.take("=")) {
    const left = operand(reader);
    const sign = reader.take("+", "-", "*");
    if (left.steps && !sign) return { bind: name, source: left };
    const right = sign ? operand(reader) : left;
    if (!left.steps && !right.steps) throw reader.wrong();
    return { bind: name, left, sign, right };
  }
  if (!(steps.length && steps.at(-1).name !== "[]")) {
    const sign = reader.take(...Object.keys(OPERATORS));
    if (sign) return { target, op: OPERATORS[sign], source: operand(reader) };
  }
  const op = reader.take(...Object.keys(IN_PLACE));
  if (!op) throw reader.wrong();
  reader.need("\\(");
  const source = IN_PLACE[op] ? operand(reader, IN_PLACE[op]) : null;
  if (source !== null) reader.take(",");
  reader.need("\\)");
  return { target, op: op.slice(1), source };
}

/** A name and the operations on it, up to one in place. */
function chain(reader) {
  const [name, steps] = [reader.name(), []];
  while (/^[.[]/.test(reader.token()) && !Object.hasOwn(IN_PLACE, reader.token())) steps.push(reader.step());
  return { name, steps, text: name + steps.map((step) => step.text).join("") };
}

function operand(reader, takes = "int or tensor") {
  if (takes.includes("int") && reader.atInt()) return reader.number();
  if (!takes.includes("tensor")) throw reader.wrong();
  return chain(reader);
}
