// Reading the lines of the alias explorer: `y = x[1:, ::2]` and `y = x + 1` bind a name; `y += 100`, `y[0] = 7`
// and `y.add_(x)` write in place. Python's lines.py reads the same lines with Python's own parser.

import { Refused, read } from "../page/operations.js";

const FORMS = "write y = x[1:, ::2] or y = x + 1 to make a tensor, y += 100 or y[0] = 7 to write to one";
const OPERATORS = { "+=": "add_", "-=": "sub_", "*=": "mul_" };
/** How each operation in place takes its one argument: not at all, as an int, as a tensor. */
const IN_PLACE = {
  zero_: "", neg_: "", fill_: "int", copy_: "tensor",
  add_: "int or tensor", sub_: "int or tensor", mul_: "int or tensor",
};
const CLOSING = { "(": ")", "[": "]" };

/**
 * A line: {text, bind, source}, {text, bind, computed: {sign, operands, text}} or {text, target, op, source};
 * `source` is a chain, an int, or null, and an operand a chain or an int. A chain is
 * {name, text, links}: its links are the operations, each with the text of the chain up to its end.
 */
export function readLine(text) {
  const unreadable = () => new Refused(`cannot read "${text}": ${FORMS}`);
  const line = text.trim();
  const start = chain(line);
  if (!start) throw unreadable();
  const { links } = start;
  const last = links.at(-1);
  const [, operator, value] = /^\s*([-+*]?=)(?!=)(.*)$/s.exec(line.slice(start.text.length)) ?? [];
  if (operator === "=" && !links.length) {
    const source = whole(value);
    if (source) return { text: line, bind: start.name, source };
    const computed = arithmetic(value.trim());
    if (computed) return { text: line, bind: start.name, computed };
  } else if (operator && (!links.length || last.text.startsWith("["))) {
    const source = intOf(value) ?? whole(value);
    if (source !== null) return { text: line, target: start, op: OPERATORS[operator] ?? "[]", source };
  } else if (!operator && start.text === line && last) {
    const [, op, argument] = /^\.(\w+_)\((.*)\)$/s.exec(last.text) ?? [];
    const takes = op in IN_PLACE ? IN_PLACE[op] : null;
    const source = takes === null ? null : argumentOf(takes, argument);
    const target = chain(line.slice(0, line.length - last.text.length));
    if (source !== null) return { text: line, target, op, source: takes ? source : null };
  }
  throw unreadable();
}

/** What stands in the brackets of an operation that `takes` it; null where it cannot. */
function argumentOf(takes, text) {
  if (!takes) return text.trim() ? null : 0;
  return (takes.includes("int") ? intOf(text) : null) ?? (takes.includes("tensor") ? whole(text) : null);
}

const intOf = (text) => (/^\s*-?\d+\s*$/.test(text) ? Number(text) : null);

/** `x + 1`: {sign, operands, text}; null if it is none. */
function arithmetic(text) {
  const left = /^-?\d+/.exec(text)?.[0] ?? chain(text)?.text;
  if (!left) return null;
  const [, sign, right] = /^\s*([-+*])(.*)$/s.exec(text.slice(left.length)) ?? [];
  if (!sign) return null;
  const operands = [left, right].map((one) => intOf(one) ?? whole(one));
  const usable = !operands.includes(null) && operands.some((one) => typeof one !== "number");
  return usable ? { sign, operands, text } : null;
}

function whole(text) {
  const found = chain(text.trim());
  return found && found.text === text.trim() ? found : null;
}

/** The longest chain that a text begins with: a name, then indices, calls and properties. */
function chain(text) {
  const [name] = /^[A-Za-z_]\w*/.exec(text) ?? [];
  if (!name) return null;
  const links = [];
  let at = name.length;
  for (;;) {
    const [head] = /^(\[|\.[A-Za-z_]\w*\(?)/.exec(text.slice(at)) ?? [];
    if (!head) break;
    const end = "[(".includes(head.at(-1)) ? closing(text, at + head.length - 1) : at + head.length;
    if (end === null) break;
    links.push({ text: text.slice(at, end), upTo: text.slice(0, end) });
    at = end;
  }
  return { name, links, text: text.slice(0, at) };
}

/** Behind the bracket that closes the one at a place; null if none does. */
function closing(text, at) {
  const open = [];
  for (let k = at; k < text.length; k++) {
    if (text[k] in CLOSING) open.push(CLOSING[text[k]]);
    else if (text[k] === open.at(-1)) open.pop();
    if (!open.length) return k + 1;
  }
  return null;
}

/** The operation that a link stands for. */
export function readLink({ text }) {
  const step = read(text);
  if (["contiguous", "clone"].includes(step.name) && step.args.length)
    throw new Refused(`cannot read "${text}": write .${step.name}(), without a format`);
  return step;
}
