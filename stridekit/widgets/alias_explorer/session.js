// The tensors x, y and z, and the effect of typed lines on them: views, copies, writes in place. A
// session is immutable: `run(session, text)` returns the next one, or throws Refused.
// tests/course/live_lines.py lets torch run the same lines: values, storages and refusals have to
// be torch's.

/** @import { Layout, Step } from "../page/layout.js" */

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
  same,
  suggestedFormat,
  viewStride,
  whyNotContiguous,
  whyNotCounted,
} from "../page/layout.js";

/**
 * The state of the explorer, from which the session follows: the shape of the first tensor, the
 * lines that were run, and the names if they are not x, y and z.
 * @typedef {{shape: number[], steps: string[], names?: string[]}} State
 */

/**
 * A tensor on one of the tapes. A tape holds the values of a storage.
 * @typedef {{tape: number, layout: Layout}} Tensor
 */

/**
 * A line that was run: the kind of its effect, a sentence on it, and a warning about a write that
 * torch allows.
 * @typedef {{text: string, kind: "view" | "copy" | "write", sentence: string, warning: string}} Entry
 */

/**
 * `called` are the three names, `opened` says for each tape which line opened it, `length` counts
 * the characters of all lines, and `touched` are the places [tape, element] that the last line
 * changed.
 * @typedef {object} Session
 * @property {string[]} called
 * @property {number[][]} tapes
 * @property {string[]} opened
 * @property {Record<string, Tensor>} tensors
 * @property {Entry[]} log
 * @property {number} length
 * @property {[number, number][]} touched
 */

export const NAMES = ["x", "y", "z"];
const MAX_CELLS = 96;
const MAX_DIMS = 4;
const MAX_VALUE = 99_999;
const MAX_TEXT = 10_000; // characters of all lines together, far more than a hand types
const INTERNAL =
  "unsupported operation: more than one element of the written-to tensor refers to a single memory " +
  "location. Please clone() the tensor before performing the operation.";
const PARTIAL =
  "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single " +
  "memory location. Please clone() the tensor before performing the operation.";

/**
 * The session before the first line: the first name is torch.arange(n).view(shape).
 * @param {number[]} shape
 * @returns {Session}
 */
export function begin(shape, called = NAMES) {
  const layout = rowMajor(shape, 8);
  requireRoom(called[0], layout);
  return {
    called,
    tapes: [range(numel(layout))],
    opened: [""],
    tensors: { [called[0]]: { tape: 0, layout } },
    log: [],
    length: 0,
    touched: [],
  };
}

/**
 * @param {Session} session
 * @param {string} text
 * @returns {Session}
 */
export function run(session, text) {
  const line = readLine(text, session.called);
  const after = "bind" in line ? bind(session, line) : write(session, line);
  const length = session.length + line.text.length;
  if (length > MAX_TEXT) refuse("the steps have more than 10,000 characters: run fewer");
  return { ...after, length };
}

/** @param {Session} session */
export const namesOf = ({ called, tensors }) =>
  called.filter((name) => Object.hasOwn(tensors, name));

/** @param {Tensor} tensor */
export const elementsOf = ({ layout }) => reach(layout).elements;

// Reading a line: the rule `line` of page/grammar.js ----------------------------------------------

/**
 * A name and the operations on it.
 * @typedef {{name: string, steps: Step[], text: string}} Chain
 */

/** @typedef {Chain | number} Operand */

/**
 * A line that binds a name, to a view or a copy, or to the result of a sum, a difference or a
 * product.
 * @typedef {{text: string, bind: string, source: Chain}} Binding
 * @typedef {{text: string, bind: string, left: Operand, sign: string, right: Operand}} Computation
 */

/**
 * A line that writes in place. Operations without an argument have no source.
 * @typedef {{text: string, target: Chain, op: string, source: Operand | null}} Writing
 */

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
const OF_SIGN = { "+": "add_", "-": "sub_", "*": "mul_" };
/** @param {string[]} names */
const formsOf = ([x, y]) =>
  `write ${y} = ${x}[1:, ::2] or ${y} = ${x} + 1 to make a tensor, ${y} += 100 or ${y}[0] = 7 to write to one`;

/**
 * The parsed line. Throws Refused.
 * @param {string} text
 * @returns {Binding | Computation | Writing}
 */
export function readLine(text, called = ["x", "y"]) {
  const reader = createReader(plain(text), formsOf(called));
  const line = parseLine(reader);
  reader.need("");
  return { text: reader.written(), ...line };
}

function parseLine(reader) {
  const target = parseChain(reader);
  if (!target.steps.length && reader.take("=")) return parseBinding(reader, target.name);
  const isAssignable = !target.steps.length || target.steps.at(-1)?.name === "[]";
  const operator = isAssignable ? reader.take(...Object.keys(OPERATORS)) : "";
  if (operator) return { target, op: OPERATORS[operator], source: parseOperand(reader) };
  const op = reader.take(...Object.keys(IN_PLACE));
  if (!op) throw reader.wrong();
  reader.need("\\(");
  const source = IN_PLACE[op] ? parseOperand(reader, IN_PLACE[op]) : null;
  if (source !== null) reader.take(",");
  reader.need("\\)");
  return { target, op: op.slice(1), source };
}

function parseBinding(reader, bind) {
  const left = parseOperand(reader);
  const sign = reader.take("+", "-", "*");
  if (!sign) {
    if (typeof left === "number") throw reader.wrong();
    return { bind, source: left };
  }
  const right = parseOperand(reader);
  if (typeof left === "number" && typeof right === "number") throw reader.wrong();
  return { bind, left, sign, right };
}

/**
 * A name and the operations on it, up to one in place.
 * @returns {Chain}
 */
function parseChain(reader) {
  const name = reader.name();
  /** @type {Step[]} */
  const steps = [];
  while (/^[.[]/.test(reader.token()) && !Object.hasOwn(IN_PLACE, reader.token()))
    steps.push(reader.step());
  return { name, steps, text: name + steps.map((step) => step.text).join("") };
}

/** @returns {Operand} */
function parseOperand(reader, allowed = "int or tensor") {
  if (allowed.includes("int") && reader.atInt()) return reader.number();
  if (!allowed.includes("tensor")) throw reader.wrong();
  return parseChain(reader);
}

// Binding a name ----------------------------------------------------------------------------------

/**
 * @param {Session} session
 * @param {Binding | Computation} line
 */
function bind(session, line) {
  requireName(session, line.bind);
  if (!("source" in line)) return bound(session, line, compute(session, line), "");
  const { name, steps } = line.source;
  const viewSentence = steps.length
    ? "nothing was copied"
    : `${line.bind} is ${name}: one tensor with two names`;
  return bound(session, line, follow(session, session.tapes, line.source), viewSentence);
}

/**
 * The session in which a name has another tensor, which is a copy if there is a reason for one.
 * @returns {Session}
 */
function bound(session, { text, bind: name }, { tapes, tensor, reason }, viewSentence) {
  const opened = tapes.map((_, tape) => session.opened[tape] ?? `opened by ${text}`);
  const sentence = reason ? `on a storage of its own: ${reason}` : viewSentence;
  const entry = { text, kind: reason ? "copy" : "view", sentence, warning: "" };
  const tensors = { ...session.tensors, [name]: tensor };
  const log = [...session.log, entry];
  return { ...session, ...kept(tapes, opened, tensors), log, touched: [] };
}

/**
 * @param {Session} session
 * @param {Computation} line
 */
function compute(session, { left, sign, right }) {
  const textOf = (operand) => (typeof operand === "number" ? operand : operand.text);
  const expression = `${textOf(left)} ${sign} ${textOf(right)}`;
  const leftTensor = read(session, left);
  const rightTensor = read(session, right);
  const layout = elementwise(leftTensor.layout, rightTensor.layout);
  requireRoom(expression, layout);
  const leftValues = valuesIn(leftTensor, layout.shape);
  const rightValues = valuesIn(rightTensor, layout.shape);
  const op = COMPUTE[OF_SIGN[sign]];
  const valueAt = (k) => op(leftValues[k], rightValues[k]) + 0; // there is no -0
  const values = copied(valueAt, rowMajor(layout.shape, 8), layout);
  requireDigits(expression, values);
  return {
    tapes: [...session.tapes, values],
    tensor: { tape: session.tapes.length, layout },
    reason: `${sign} out of place makes a new tensor`,
  };
}

/** The layout of an operand, and the values of its storage. */
function read(session, operand) {
  if (typeof operand === "number") return { layout: rowMajor([], 8), values: [operand] };
  const { tapes, tensor } = follow(session, session.tapes, operand);
  return { layout: tensor.layout, values: tapes[tensor.tape] };
}

/** The values of an operand in row-major order, broadcast to a shape. */
const valuesIn = ({ layout, values }, shape) =>
  reach(expanded(layout, shape)).elements.map((element) => values[element]);

const expanded = (layout, shape) => apply(layout, { name: "expand", args: [shape] }).layout;

/** Free the storages that no name holds, and renumber the others. */
function kept(tapes, opened, tensors) {
  const used = new Set(Object.values(tensors).map(({ tape }) => tape));
  const held = range(tapes.length).filter((tape) => used.has(tape));
  const entries = Object.entries(tensors).map(([name, { tape, layout }]) => [
    name,
    { tape: held.indexOf(tape), layout },
  ]);
  return {
    tapes: held.map((tape) => tapes[tape]),
    opened: held.map((tape) => opened[tape]),
    tensors: Object.fromEntries(entries),
  };
}

/**
 * The tensor at the end of a chain, the storages then, and the reason for the last copy; "" if
 * there was none.
 * @param {Session} session
 * @param {number[][]} tapes
 * @param {Chain} chain
 */
function follow(session, tapes, { name, steps }) {
  requireName(session, name);
  if (!Object.hasOwn(session.tensors, name))
    refuse(`${name} is not there yet: make it, as in ${name} = ${session.called[0]}[1:]`);
  let tensor = session.tensors[name];
  let reason = "";
  let text = name;
  for (const step of steps) {
    const { tape, layout: before } = tensor;
    text += step.text;
    const { layout, copied: isCopied, read } = apply(before, step);
    const values = tapes[tape];
    requireRoom(text, layout, isCopied ? Infinity : values.length);
    if (isCopied) {
      const copy = copied((element) => values[element], read, layout);
      tensor = { tape: tapes.length, layout };
      tapes = [...tapes, copy];
      reason = whyCopied(step, before, layout);
    } else tensor = { tape, layout };
  }
  return { tapes, tensor, reason };
}

/** @returns {string} */
function whyCopied({ name, args }, before, after) {
  if (["clone", "flip", "repeat", "tile"].includes(name)) return `${name} always copies`;
  if (["reshape", "flatten"].includes(name))
    return viewStride(before.shape, before.stride, after.shape).reason ?? "";
  if (name === "to") return `torch takes it to be in ${suggestedFormat(before)}`;
  return whyNotContiguous(before, args[0]);
}

// Writing to a tensor -----------------------------------------------------------------------------

const second = (_, b) => b;
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

/**
 * @param {Session} session
 * @param {Writing} line
 */
function write(session, { text, target, op, source }) {
  const into = follow(session, session.tapes, target);
  const { tape, layout } = into.tensor;
  const elements = reach(layout).elements;
  const shared = sharedElement(layout, elements, target.text);
  const isTensor = source !== null && typeof source !== "number";
  const { tapes, operands } = isTensor
    ? operandsOf(session, into, { op, elements, shared, target, source })
    : { tapes: into.tapes, operands: elements.map(() => source) };
  if (!isTensor && !["fill_", "zero_"].includes(op) && repeats(layout))
    refuse(`${shared}, and torch refuses: "${INTERNAL}"`);

  const before = tapes[tape];
  const values = [...before];
  for (const [k, element] of elements.entries())
    values[element] = COMPUTE[op](values[element], operands[k]) + 0; // there is no -0
  requireDigits(target.text, values);
  const changed = new Set(elements.filter((element) => values[element] !== before[element]));

  const isLost = into.reason !== "";
  /** @type {[number, number][]} */
  const touched = isLost ? [] : Array.from(changed, (element) => [tape, element]);
  /** @type {Entry} */
  const entry = {
    text,
    kind: "write",
    sentence: isLost
      ? "the write went to a copy that no name holds: no tensor changed"
      : changeSentence(session, target.name, changed),
    warning: !isTensor || op === "[]" ? warningOf(shared, op, elements) : "",
  };
  return {
    ...session,
    ...kept(tapes.with(tape, values), session.opened, session.tensors),
    log: [...session.log, entry],
    touched,
  };
}

/** The storages after a source was read, and its value for each index of the target. */
function operandsOf(session, into, { op, elements, shared, target, source }) {
  const { tapes, tensor } = follow(session, into.tapes, source);
  const texts = { target: target.text, source: source.text };
  const visited = sourceElements(into.tensor, tensor, { op, elements, shared, texts });
  const values = tapes[tensor.tape];
  return { tapes, operands: visited.map((element) => values[element]) };
}

/**
 * The element that each index of the target reads. Refuses where torch does, or where it leaves the
 * result undefined.
 * @param {Tensor} target
 * @param {Tensor} source
 */
function sourceElements(target, source, { op, elements, shared, texts }) {
  const x = target.layout;
  const y = source.layout;
  const isSameStorage = target.tape === source.tape;
  const isSameShape = same(x.shape, y.shape);
  const isAssignment = op === "[]";
  const isCopy = isAssignment || op === "copy_";
  const wide = expanded(isAssignment && !isSameShape ? withoutLeadingOnes(y) : y, x.shape);
  const visited = reach(wide).elements;
  const isSameView =
    isSameStorage && same(x.stride, wide.stride) && x.storage_offset === wide.storage_offset;
  // torch sees that there is nothing to do, except for a 0-d tensor, which fills.
  const isScalar = isAssignment && !y.shape.length;
  if (isCopy && isSameView && (isSameShape || (isAssignment && !isScalar))) return visited;
  if (repeats(x)) refuse(`${shared}, and torch refuses: "${INTERNAL}"`);
  const isPartial = overlapsInPart(x, isAssignment && !isSameShape ? wide : y);
  if (isSameStorage && !isScalar && isPartial) {
    const common = new Set(visited.filter((element) => elements.includes(element))).size;
    refuse(
      `${texts.target} and ${texts.source} share ${counted(common, "element")}, and torch refuses: "${PARTIAL}"`,
    );
  }
  if (isScalar) return visited; // its value is taken before anything is written
  if (isSameStorage && isCopy && same(elements, visited)) return visited;
  if (shared)
    refuse(
      `${shared}, and each would get a value of its own: torch does not refuse, and does not define the result. ` +
        `Write to ${texts.target}.clone() instead`,
    );
  if (isSameStorage) requireOrder(x, elements, visited, texts, isCopy);
  return visited;
}

/** True where torch detects shared elements: it looks only for a stride of 0. */
const repeats = (x) => !isDense(x) && x.shape.some((n, d) => n > 1 && x.stride[d] === 0);

/**
 * A source as an assignment views it before it broadcasts: `view` writes the strides of all sizes
 * of 1 anew.
 */
function withoutLeadingOnes({ shape, stride, ...rest }) {
  const ones = [...shape, 0].findIndex((n) => n !== 1);
  const wanted = shape.slice(ones);
  return { ...rest, shape: wanted, stride: viewStride(shape, stride, wanted).stride };
}

/**
 * True where torch sees a partial overlap: dense tensors whose ranges meet, and are not the same
 * elements.
 */
function overlapsInPart(x, y) {
  const xCount = numel(x);
  const yCount = numel(y);
  if (!xCount || !yCount || !isDense(x) || !isDense(y)) return false;
  const xStart = x.storage_offset;
  const yStart = y.storage_offset;
  if (xStart === yStart && xCount === yCount) return !same(x.stride, y.stride);
  return xStart < yStart + yCount && yStart < xStart + xCount;
}

/** Refuse if an index reads what another one writes. */
function requireOrder(x, elements, visited, texts, isCopy) {
  const writers = new Map(elements.map((element, k) => [element, k]));
  if (isCopy)
    // An element that is overwritten with itself does not change.
    for (const [k, element] of elements.entries())
      if (visited[k] === element) writers.delete(element);
  const readerIndex = visited.findIndex((element, k) => (writers.get(element) ?? k) !== k);
  if (readerIndex < 0) return;
  const element = visited[readerIndex];
  const reader = nameAt(x.shape, readerIndex, texts.target);
  const writer = nameAt(x.shape, Number(writers.get(element)), texts.target);
  refuse(
    `${reader} would read element ${element}, which the same step writes as ${writer}: torch does not refuse, ` +
      `and the result depends on the order of visit. Use ${texts.source}.clone()`,
  );
}

/** A warning about a write that torch allows; "" if there is none. */
function warningOf(shared, op, elements) {
  if (!shared) return "";
  if (["fill_", "zero_", "[]"].includes(op)) return `${shared}: writing to one writes to the other`;
  const writes = new Map();
  for (const element of elements) writes.set(element, (writes.get(element) ?? 0) + 1);
  const most = Math.max(...writes.values());
  return `${shared}: torch does not refuse, and ${op} runs once for each index, up to ${most} times on one element`;
}

/** A sentence on the tensors that a write to the tensor of a name has changed. */
function changeSentence(session, written, changed) {
  const { tensors } = session;
  const isBeside = (name) => name !== written && tensors[name].tape === tensors[written].tape;
  const counts = [written, ...namesOf(session).filter(isBeside)].map((name) => {
    const elements = [...reach(tensors[name].layout).owners.keys()];
    const count = elements.filter((element) => changed.has(element)).length;
    return { name, count, size: elements.length };
  });
  const [first, ...rest] = counts.filter(({ count }) => count);
  if (!first) return "no value changed";
  return [
    `${first.name} changed: ${first.count} of its ${first.size} elements`,
    ...rest.map(({ name, count, size }) => `${name} changed too: ${count} of its ${size}`),
  ].join("; ");
}

/** The first two indices of one element, in words; "" where each index has its own. */
function sharedElement({ shape }, elements, name) {
  const repeated = elements.findIndex((element, k) => elements.indexOf(element) < k);
  if (repeated < 0) return "";
  const element = elements[repeated];
  const firstName = nameAt(shape, elements.indexOf(element), name);
  return `${firstName} and ${nameAt(shape, repeated, name)} are both element ${element}`;
}

// Limits ------------------------------------------------------------------------------------------

function requireName({ called }, name) {
  if (!called.includes(name))
    refuse(
      `${name} is not one of ${called[0]}, ${called[1]} and ${called[2]}: the picture has room for these three`,
    );
}

function requireDigits(text, values) {
  if (values.some((value) => Math.abs(value) > MAX_VALUE))
    refuse(`${text} would pass ${MAX_VALUE}: the boxes hold five digits`);
}

function requireRoom(text, layout, storageSize = Infinity) {
  const uncounted = whyNotCounted(layout);
  if (uncounted) refuse(`${text}: ${uncounted}`);
  const count = numel(layout);
  const ndim = layout.shape.length;
  if (count > MAX_CELLS || ndim > MAX_DIMS)
    refuse(
      `${text} would have ${count} elements in ${ndim} dims: the picture holds ${MAX_CELLS} in ${MAX_DIMS}`,
    );
  const largest = Math.max(0, ...layout.shape);
  if (largest > MAX_CELLS)
    refuse(`${text} would have a size of ${largest}: the picture holds ${MAX_CELLS}`);
  const last = lastOf(layout);
  if (last >= storageSize)
    refuse(`${text} would reach element ${last}, and the storage ends at ${storageSize - 1}`);
}

// Sharing -----------------------------------------------------------------------------------------

/**
 * How two tensors share memory: they have the "same" elements, those of the first lie "inside" or
 * "around" those of the second, or they share "some" or "none". One tensor may "overlap" itself.
 * @typedef {"same" | "inside" | "around" | "some" | "none" | "overlap"} RelationKind
 */

/**
 * Sentences on how each pair of tensors shares memory, and on tensors that overlap themselves.
 * @param {Session} session
 * @returns {{names: string[], kind: RelationKind, text: string}[]}
 */
export function relations(session) {
  const names = namesOf(session);
  const result = [];
  for (const [k, x] of names.entries())
    for (const y of names.slice(k + 1)) result.push({ names: [y, x], ...relation(session, y, x) });
  for (const name of names) {
    const tensor = session.tensors[name];
    const shared = sharedElement(tensor.layout, elementsOf(tensor), name);
    if (shared)
      result.push({ names: [name], kind: "overlap", text: `${name} overlaps itself: ${shared}` });
  }
  return result;
}

/**
 * The relation of two names.
 * @param {Session} session
 * @param {string} y
 * @param {string} x
 * @returns {{kind: RelationKind, text: string}}
 */
export function relation({ tensors }, y, x) {
  const ofY = new Set(elementsOf(tensors[y]));
  const ofX = new Set(elementsOf(tensors[x]));
  if (!ofY.size) return { kind: "none", text: `${y} is empty: it shares no element` };
  if (!ofX.size) return { kind: "none", text: `${x} is empty: it shares no element` };
  const nothing = `${y} and ${x} share no element`;
  if (tensors[y].tape !== tensors[x].tape)
    return { kind: "none", text: `${nothing}: they have two storages` };
  const count = [...ofY].filter((element) => ofX.has(element)).length;
  const isInside = count === ofY.size;
  const isAround = count === ofX.size;
  if (isInside && isAround)
    return { kind: "same", text: `${y} and ${x} have the same ${counted(count, "element")}` };
  if (isInside)
    return {
      kind: "inside",
      text: `${y} lies inside ${x}: ${count} of ${x}'s ${ofX.size} elements`,
    };
  if (isAround)
    return {
      kind: "around",
      text: `${x} lies inside ${y}: ${count} of ${y}'s ${ofY.size} elements`,
    };
  if (count)
    return {
      kind: "some",
      text: `${y} and ${x} share ${counted(count, "element")}, of ${y}'s ${ofY.size} and ${x}'s ${ofX.size}`,
    };
  const isApart = Math.min(...ofY) >= Math.max(...ofX) || Math.min(...ofX) >= Math.max(...ofY);
  const ranges = isApart
    ? ": one ends before the other begins"
    : ", though their ranges interleave";
  return { kind: "none", text: nothing + ranges };
}

// For Python and the toolbar ----------------------------------------------------------------------

/** @type {State} */
export const EXAMPLE = { shape: [4, 6], steps: ["y = x", "z = y"] };

/**
 * The session after all lines of a state. Throws Refused.
 * @param {State} state
 */
export const sessionOf = ({ shape, steps, names = NAMES }) =>
  steps.reduce(run, begin(shape, names));

/**
 * The lines run, what the last one did and changed, who overlaps itself, who shares with whom. In
 * the names of the facts, x, y and z stand for the three, whatever they are called.
 * @param {State} state
 */
export function facts(state) {
  const session = sessionOf(state);
  const [x, y, z] = session.called;
  const last = session.log.at(-1);
  const pairs = relations(session);
  const kindOf = (first, second) =>
    pairs.find(({ names }) => names[0] === first && names[1] === second)?.kind ?? null;
  const changes = (last?.sentence ?? "").matchAll(/(?:^|; )(\w+) changed/g);
  return {
    lines: session.log.length,
    last: last?.kind ?? null,
    changed: Array.from(changes, ([, name]) => name),
    overlapping: pairs.filter(({ kind }) => kind === "overlap").map(({ names: [name] }) => name),
    storages: session.tapes.length,
    y_and_x: kindOf(y, x),
    z_and_x: kindOf(z, x),
    z_and_y: kindOf(z, y),
  };
}

/** @param {State} state */
export function code({ shape, steps, names = NAMES }) {
  const sizes = shape.join(", ") || "()";
  return [`${names[0]} = torch.arange(${product(shape)}).view(${sizes})`, ...steps].join("\n");
}

/**
 * The lines of the explorer's repr.
 * @param {State} state
 */
export function told(state) {
  const session = sessionOf(state);
  const width = Math.max(0, ...session.log.map(({ text }) => text.length));
  const [start] = code(state).split("\n");
  return [
    `AliasExplorer: ${start}`,
    ...session.log.map((entry) => `${entry.text.padEnd(width)}  # ${effectOf(entry)}`),
    ...relations(session).map(({ text }) => text),
  ];
}

/**
 * The effect of a line, in words.
 * @param {Entry} entry
 */
export const effectOf = ({ kind, sentence }) =>
  kind === "write" ? sentence : `${kind}: ${sentence}`;
