// The tensors x, y and z, and the effect of typed lines on them: views, copies, writes in place.
//
// A session is
//   {called: [name …], tapes: [values …], opened: [why …], tensors: {x: {tape, layout}}, log: [{text, kind, sentence, warning}], length, touched}
// and is immutable: `run(session, text)` returns the next one, or throws Refused. tests/course/live_lines.py lets torch run the
// same lines: values, storages and refusals have to be torch's.

import { createReader, plain } from "../page/grammar.js";
import {
  apply,
  copied,
  counted,
  elementwise,
  isDense,
  lastOf,
  nameAt,
  numel,
  product,
  range,
  reach,
  refuse,
  rowMajor,
  suggestedFormat,
  viewStride,
  whyNotContiguous,
  whyNotCounted,
} from "../page/layout.js";

export const NAMES = ["x", "y", "z"];
const [MAX_CELLS, MAX_DIMS, MAX_VALUE] = [96, 4, 99_999];
const MAX_TEXT = 10_000; // characters of all lines together, far more than a hand types
const INTERNAL =
  "unsupported operation: more than one element of the written-to tensor refers to a single memory " +
  "location. Please clone() the tensor before performing the operation.";
const PARTIAL =
  "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single " +
  "memory location. Please clone() the tensor before performing the operation.";

/** The session before the first line, x = torch.arange(n).view(shape), where x, y and z are `called` so. */
export function begin(shape, called = NAMES) {
  const layout = rowMajor(shape, 8);
  requireRoom(called[0], layout);
  const tensors = { [called[0]]: { tape: 0, layout } };
  return {
    called,
    tapes: [range(numel(layout))],
    opened: [""],
    tensors,
    log: [],
    length: 0,
    touched: [],
  };
}

export function run(session, text) {
  const line = readLine(text, session.called);
  const after = line.bind ? bind(session, line) : write(session, line);
  const length = session.length + line.text.length;
  if (length > MAX_TEXT) refuse("the steps have more than 10,000 characters: run fewer");
  return { ...after, length };
}

export const namesOf = ({ called, tensors }) =>
  called.filter((name) => Object.hasOwn(tensors, name));
export const elementsOf = ({ layout }) => reach(layout).elements;

// A line is read: the rule `line` of page/grammar.js ------------------------------------------------

/** The argument of each operation in place: none, an int, or a tensor. */
const IN_PLACE = {
  ".zero_": "",
  ".neg_": "",
  ".fill_": "int",
  ".copy_": "tensor",
  ".add_": "int or tensor",
  ".sub_": "int or tensor",
  ".mul_": "int or tensor",
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
  while (/^[.[]/.test(reader.token()) && !Object.hasOwn(IN_PLACE, reader.token()))
    steps.push(reader.step());
  return { name, steps, text: name + steps.map((step) => step.text).join("") };
}

function operand(reader, takes = "int or tensor") {
  if (takes.includes("int") && reader.atInt()) return reader.number();
  if (!takes.includes("tensor")) throw reader.wrong();
  return chain(reader);
}

// A name is bound ----------------------------------------------------------------------------------

function bind(session, line) {
  const { text, bind: name, source } = line;
  requireName(session, name);
  const { tapes, tensor, reason } = source
    ? follow(session, session.tapes, source)
    : compute(session, line);
  const opened = tapes.map((_, tape) => session.opened[tape] ?? `opened by ${text}`);
  const view = source?.steps.length
    ? "nothing was copied"
    : `${name} is ${source?.name}: one tensor with two names`;
  const sentence = reason ? `on a storage of its own: ${reason}` : view;
  const entry = { text, kind: reason ? "copy" : "view", sentence, warning: "" };
  const tensors = { ...session.tensors, [name]: tensor };
  return { ...session, ...kept(tapes, opened, tensors), log: [...session.log, entry], touched: [] };
}

function compute(session, { left: first, sign, right: second }) {
  const said = [first, sign, second].map((part) => part.text ?? part).join(" ");
  const read = [first, second].map((operand) => {
    if (typeof operand === "number") return { layout: rowMajor([], 8), values: [operand] };
    const { tapes, tensor } = follow(session, session.tapes, operand);
    return { layout: tensor.layout, values: tapes[tensor.tape] };
  });
  const layout = elementwise(...read.map((operand) => operand.layout));
  requireRoom(said, layout);
  const [left, right] = read.map(({ layout: own, values }) =>
    reach(expanded(own, layout.shape)).elements.map((element) => values[element]),
  );
  const op = COMPUTE[{ "+": "add_", "-": "sub_", "*": "mul_" }[sign]];
  const values = copied((k) => op(left[k], right[k]) + 0, rowMajor(layout.shape), layout);
  requireDigits(said, values);
  const tensor = { tape: session.tapes.length, layout };
  return {
    tapes: [...session.tapes, values],
    tensor,
    reason: `${sign} out of place makes a new tensor`,
  };
}

const expanded = (layout, shape) => apply(layout, { name: "expand", args: [shape] }).layout;

/** Free the storages that no name holds, and renumber the others. */
function kept(tapes, opened, tensors) {
  const held = range(tapes.length).filter((t) =>
    Object.values(tensors).some(({ tape }) => tape === t),
  );
  const entries = Object.entries(tensors).map(([name, { tape, layout }]) => [
    name,
    { tape: held.indexOf(tape), layout },
  ]);
  return {
    tapes: held.map((t) => tapes[t]),
    opened: held.map((t) => opened[t]),
    tensors: Object.fromEntries(entries),
  };
}

/** The tensor at the end of a chain, the storages then, and the reason for the last copy. */
function follow(session, tapes, { name, steps }) {
  requireName(session, name);
  if (!Object.hasOwn(session.tensors, name))
    refuse(`${name} is not there yet: make it, as in ${name} = ${session.called[0]}[1:]`);
  let tensor = session.tensors[name];
  let [reason, said] = ["", name];
  for (const step of steps) {
    const { tape, layout: before } = tensor;
    said += step.text;
    const { layout, copied: isCopy, read } = apply(before, step);
    requireRoom(said, layout, isCopy ? Infinity : tapes[tape].length);
    if (isCopy) {
      const values = tapes[tape];
      tapes = [...tapes, copied((element) => values[element], read, layout)];
      reason = whyCopied(step, before, layout);
    }
    tensor = { tape: isCopy ? tapes.length - 1 : tape, layout };
  }
  return { tapes, tensor, reason };
}

function whyCopied({ name, args }, before, { shape }) {
  if (["clone", "flip", "repeat", "tile"].includes(name)) return `${name} always copies`;
  if (["reshape", "flatten"].includes(name))
    return viewStride(before.shape, before.stride, shape).reason;
  if (name === "to") return `torch takes it to be in ${suggestedFormat(before)}`;
  return whyNotContiguous(before, args[0]);
}

// A tensor is written ------------------------------------------------------------------------------

function write(session, line) {
  const { text, target, op, source } = line;
  const into = follow(session, session.tapes, target);
  const constant = !source?.steps;
  const from = constant ? null : follow(session, into.tapes, source);
  const tapes = (from ?? into).tapes;
  const { tape, layout } = into.tensor;
  const elements = reach(layout).elements;
  const shared = sharedElement(layout, elements, target.text);
  const names = { target: target.text, source: constant ? "" : source.text };
  const visited = from ? requireDefined({ into, from, op, elements, shared, names }) : [];
  if (constant && !["fill_", "zero_"].includes(op) && repeats(layout))
    refuse(`${shared}, and torch refuses: "${INTERNAL}"`);

  const values = [...tapes[tape]];
  const given = visited.map((element) => tapes[from.tensor.tape][element]);
  elements.forEach((element, k) => {
    values[element] = COMPUTE[op](values[element], from ? given[k] : source) + 0; // there is no -0
  });
  requireDigits(names.target, values);

  const changed = new Set(elements.filter((element) => values[element] !== tapes[tape][element]));
  const next = kept(
    tapes.map((old, t) => (t === tape ? values : old)),
    session.opened,
    session.tensors,
  );
  const sentence = into.reason
    ? "the write went to a copy that no name holds: no tensor changed"
    : changes(session, target.name, tape, changed);
  const warning = constant || op === "[]" ? warn(shared, op, elements) : "";
  const entry = { text, kind: "write", sentence, warning };
  const touched = into.reason ? [] : [...changed].map((element) => [tape, element]);
  return { ...session, ...next, log: [...session.log, entry], touched };
}

const second = (a, b) => b;
const COMPUTE = {
  add_: (a, b) => a + b,
  sub_: (a, b) => a - b,
  mul_: (a, b) => a * b,
  neg_: (a) => -a,
  zero_: () => 0,
  fill_: second,
  copy_: second,
  "[]": second,
};

/** torch detects shared elements only by a stride of 0. */
const repeats = (x) => !isDense(x) && x.shape.some((n, d) => n > 1 && x.stride[d] === 0);

/** The element that each index of the target reads; throws where torch does, or leaves the result undefined. */
function requireDefined({ into, from, op, elements, shared, names }) {
  const [x, y] = [into.tensor.layout, from.tensor.layout];
  const same = into.tensor.tape === from.tensor.tape;
  const fits = String(x.shape) === String(y.shape);
  const wide = expanded(op === "[]" && !fits ? withoutLeadingOnes(y) : y, x.shape);
  const visited = reach(wide).elements;
  const isSame =
    same && String([x.stride, x.storage_offset]) === String([wide.stride, wide.storage_offset]);
  const isCopy = ["copy_", "[]"].includes(op);
  if (isCopy && isSame && ((op === "[]" && y.shape.length) || fits)) return visited; // torch sees that there is nothing to do, except for a 0-d tensor, which fills
  if (repeats(x)) refuse(`${shared}, and torch refuses: "${INTERNAL}"`);
  const scalar = op === "[]" && !y.shape.length;
  if (same && !scalar && overlapsInPart(x, op === "[]" && !fits ? wide : y)) {
    const both = new Set(visited.filter((element) => elements.includes(element))).size;
    refuse(
      `${names.target} and ${names.source} share ${counted(both, "element")}, and torch refuses: "${PARTIAL}"`,
    );
  }
  if (scalar) return visited; // its value is taken before anything is written
  if (same && isCopy && String(elements) === String(visited)) return visited;
  const each = `${shared}, and each would get a value of its own`;
  if (shared)
    refuse(
      `${each}: torch does not refuse, and does not define the result. Write to ${names.target}.clone() instead`,
    );
  if (same) requireOrder(x, elements, visited, names, isCopy);
  return visited;
}

/** As an assignment views what it broadcasts: `view` writes the strides of all sizes of 1 anew. */
function withoutLeadingOnes({ shape, stride, ...rest }) {
  const wanted = shape.slice([...shape, 0].findIndex((n) => n !== 1));
  return { ...rest, shape: wanted, stride: viewStride(shape, stride, wanted).stride };
}

/** True where torch sees a partial overlap: dense tensors whose ranges meet, and are not the same elements. */
function overlapsInPart(x, y) {
  if (!numel(x) || !numel(y) || !isDense(x) || !isDense(y)) return false;
  const [a, b, n, m] = [x.storage_offset, y.storage_offset, numel(x), numel(y)];
  if (a === b && n === m) return String(x.stride) !== String(y.stride);
  return a < b + m && b < a + n;
}

/** Refuse if an index reads what another one writes. */
function requireOrder(x, elements, visited, names, copies) {
  const writer = new Map(elements.map((element, k) => [element, k]));
  if (copies)
    // an element overwritten with itself does not change
    elements.forEach((element, k) => visited[k] === element && writer.delete(element));
  const k = visited.findIndex((element, at) => (writer.get(element) ?? at) !== at);
  if (k < 0) return;
  const [reader, other] = [k, writer.get(visited[k])].map((at) =>
    nameAt(x.shape, at, names.target),
  );
  refuse(
    `${reader} would read element ${visited[k]}, which the same step writes as ${other}: torch does not refuse, ` +
      `and the result depends on the order of visit. Use ${names.source}.clone()`,
  );
}

/** A warning about a write that torch allows; "" if there is none. */
function warn(shared, op, elements) {
  if (!shared) return "";
  if (["fill_", "zero_", "[]"].includes(op)) return `${shared}: writing to one writes to the other`;
  const most = Math.max(
    ...elements.map((element) => elements.filter((other) => other === element).length),
  );
  return `${shared}: torch does not refuse, and ${op} runs once for each index, up to ${most} times on one element`;
}

function changes(session, base, written, changed) {
  const { tensors } = session;
  const names = namesOf(session).filter((name) => tensors[name].tape === written);
  names.sort((a, b) => (b === base) - (a === base));
  const counts = names.map((name) => {
    const own = reach(tensors[name].layout).owners;
    const count = [...own.keys()].filter((element) => changed.has(element)).length;
    return [name, count, own.size];
  });
  const [first, ...others] = counts.filter(([, count]) => count);
  if (!first) return "no value changed";
  const [name, count, size] = first;
  return [
    `${name} changed: ${count} of its ${size} elements`,
    ...others.map(([other, n, all]) => `${other} changed too: ${n} of its ${all}`),
  ].join("; ");
}

/** The first two indices of one element, in words; "" where each index has its own. */
function sharedElement({ shape }, elements, name) {
  const k = elements.findIndex((element, at) => elements.indexOf(element) < at);
  if (k < 0) return "";
  const [first, second] = [elements.indexOf(elements[k]), k].map((flat) =>
    nameAt(shape, flat, name),
  );
  return `${first} and ${second} are both element ${elements[k]}`;
}

function requireName({ called }, name) {
  if (!called.includes(name))
    refuse(
      `${name} is not one of ${called[0]}, ${called[1]} and ${called[2]}: the picture has room for these three`,
    );
}

function requireDigits(said, values) {
  if (values.some((value) => Math.abs(value) > MAX_VALUE))
    refuse(`${said} would pass ${MAX_VALUE}: the boxes hold five digits`);
}

function requireRoom(said, layout, storageSize = Infinity) {
  const [count, ndim, largest] = [numel(layout), layout.shape.length, Math.max(0, ...layout.shape)];
  const why = whyNotCounted(layout);
  if (why) refuse(`${said}: ${why}`);
  if (count > MAX_CELLS || ndim > MAX_DIMS)
    refuse(
      `${said} would have ${count} elements in ${ndim} dims: the picture holds ${MAX_CELLS} in ${MAX_DIMS}`,
    );
  if (largest > MAX_CELLS)
    refuse(`${said} would have a size of ${largest}: the picture holds ${MAX_CELLS}`);
  const last = lastOf(layout);
  if (last >= storageSize)
    refuse(`${said} would reach element ${last}, and the storage ends at ${storageSize - 1}`);
}

// Who shares with whom -----------------------------------------------------------------------------

/** Sentences on how each pair of tensors shares memory, and on tensors that overlap themselves: [{names, kind, text}]. */
export function relations(session) {
  const names = namesOf(session);
  const pairs = names.flatMap((x, k) => names.slice(k + 1).map((y) => [y, x]));
  const overlaps = names.flatMap((name) => {
    const text = sharedElement(
      session.tensors[name].layout,
      elementsOf(session.tensors[name]),
      name,
    );
    return text
      ? [{ names: [name], kind: "overlap", text: `${name} overlaps itself: ${text}` }]
      : [];
  });
  return [...pairs.map(([y, x]) => ({ names: [y, x], ...relation(session, y, x) })), ...overlaps];
}

/** {kind, text} of two names; kind is "same", "inside", "around", "some" or "none". */
export function relation({ tensors }, y, x) {
  const [ys, xs] = [y, x].map((name) => new Set(elementsOf(tensors[name])));
  const is = (kind, text) => ({ kind, text });
  for (const [name, own] of [
    [y, ys],
    [x, xs],
  ])
    if (!own.size) return is("none", `${name} is empty: it shares no element`);
  const no = `${y} and ${x} share no element`;
  if (tensors[y].tape !== tensors[x].tape) return is("none", `${no}: they have two storages`);
  const both = [...ys].filter((element) => xs.has(element)).length;
  const [inside, around] = [both === ys.size, both === xs.size];
  if (inside && around)
    return is("same", `${y} and ${x} have the same ${counted(both, "element")}`);
  if (inside) return is("inside", `${y} lies inside ${x}: ${both} of ${x}'s ${xs.size} elements`);
  if (around) return is("around", `${x} lies inside ${y}: ${both} of ${y}'s ${ys.size} elements`);
  if (both)
    return is(
      "some",
      `${y} and ${x} share ${counted(both, "element")}, of ${y}'s ${ys.size} and ${x}'s ${xs.size}`,
    );
  const apart = Math.min(...ys) >= Math.max(...xs) || Math.min(...xs) >= Math.max(...ys);
  return is(
    "none",
    apart ? `${no}: one ends before the other begins` : `${no}, though their ranges interleave`,
  );
}

// What Python and the toolbar ask of a state ---------------------------------------------------------

const PAIRS = [
  [1, 0],
  [2, 0],
  [2, 1],
];
export const EXAMPLE = { shape: [4, 6], steps: ["y = x", "z = y"] };
/** The session after all lines of a state. Throws Refused. */
export const sessionOf = ({ shape, steps, names = NAMES }) =>
  steps.reduce(run, begin(shape, names));

// The lines run, what the last one did and changed, who overlaps itself, who shares with whom.
// Two names have the "same" elements, or those of the first lie "inside" or "around" those of the second, or they share
// "some" or "none". There x, y and z stand for the three, whatever they are called.
export function facts(state) {
  const session = sessionOf(state);
  const { called, log, tapes } = session;
  const last = log.at(-1);
  const pairs = relations(session);
  const kindOf = (y, x) =>
    pairs.find(({ names }) => names[0] === called[y] && names[1] === called[x])?.kind ?? null;
  return {
    lines: log.length,
    last: last?.kind ?? null,
    changed: [...(last?.sentence ?? "").matchAll(/(?:^|; )(\w+) changed/g)].map(([, name]) => name),
    overlapping: pairs.filter(({ kind }) => kind === "overlap").map(({ names: [name] }) => name),
    storages: tapes.length,
    ...Object.fromEntries(PAIRS.map(([y, x]) => [`${NAMES[y]}_and_${NAMES[x]}`, kindOf(y, x)])),
  };
}

export const code = ({ shape, steps, names = NAMES }) =>
  [
    `${names[0]} = torch.arange(${product(shape)}).view(${shape.join(", ") || "()"})`,
    ...steps,
  ].join("\n");

export function told(state) {
  const { log, ...session } = sessionOf(state);
  const width = Math.max(0, ...log.map(({ text }) => text.length));
  const lines = log.map(
    ({ text, kind, sentence }) =>
      `${text.padEnd(width)}  # ${kind === "write" ? sentence : `${kind}: ${sentence}`}`,
  );
  const [start] = code(state).split("\n");
  return [`AliasExplorer: ${start}`, ...lines, ...relations(session).map(({ text }) => text)];
}
