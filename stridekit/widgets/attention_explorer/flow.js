// The way from a packed projection to the merged heads: the layouts of each step, its copies, and
// sentences about them. tests/course/test_attention_explorer.py compares all settings with torch.

import { after as run } from "../page/grammar.js";
import {
  contiguousStride,
  counted,
  elementwise,
  listed,
  numel,
  offset,
  product,
  range,
  rowMajor,
  sum,
  tuple,
  unflatten,
  viewStride,
} from "../page/layout.js";

/** @import { Layout } from "../page/layout.js" */

/**
 * An element of q, k, v, out or y: its tensor, and its index (batch, head, token, dim).
 *
 * @typedef {[part: string, b: number, h: number, t: number, d: number]} Element
 */

/**
 * The settings, and the element that lights up.
 *
 * @typedef {object} State
 * @property {number} batch
 * @property {number} tokens
 * @property {number} heads
 * @property {number} dim
 * @property {number} kv_heads
 * @property {string} packing
 * @property {string} rotary
 * @property {string} attention
 * @property {Element} followed
 */

/**
 * The way to tensors of a step: a "view", "new" tensors, which any implementation has to write, or
 * a "copy".
 *
 * @typedef {{ word: "view" | "new" | "copy", names: string[], nbytes: number }} Arrow
 */

/**
 * A box of the picture: a step with the tensors that it leaves, its lines of code, and the reason
 * of each copy.
 *
 * @typedef {object} Step
 * @property {string} name
 * @property {Arrow[]} arrows
 * @property {Record<string, Layout>} tensors
 * @property {string[]} code
 * @property {string} note
 * @property {string[]} why
 */

export const MOST = { batch: 2, tokens: 4, heads: 4 };
export const PACKINGS = ["3HD", "H3D", "HD3"];
export const ROTARY = ["none", "x*cos + rot(x)*sin", "rot(x)*sin + x*cos"];
export const ATTENTION = ["@", "SDPA"];
const upTo = (most) => range(most).map((k) => k + 1);
/** The values of each part of a state, but for the followed element. */
export const CHOICES = {
  batch: upTo(MOST.batch),
  tokens: upTo(MOST.tokens),
  heads: upTo(MOST.heads),
  dim: [2, 4],
  kv_heads: upTo(MOST.heads),
  packing: PACKINGS,
  rotary: ROTARY,
  attention: ATTENTION,
};
/** @type {State} */
export const EXAMPLE = {
  batch: 1,
  tokens: 1,
  heads: 1,
  dim: 2,
  kv_heads: 1,
  packing: PACKINGS[0],
  rotary: ROTARY[0],
  attention: ATTENTION[0],
  followed: ["q", 0, 0, 0, 0],
};
const ITEMSIZE = 4;
const LETTERS = "abcd"; // of the heads

/** The numbers of heads that k and v can have; grouped heads are packed as 3HD. */
export function kvChoices(heads, packing) {
  if (packing !== "3HD") return [heads];
  return upTo(heads).filter((n) => heads % n === 0);
}

/** @param {State} state */
export const headsShape = ({ batch, heads, kv_heads, tokens, dim }, part) => [
  batch,
  part === "q" ? heads : kv_heads,
  tokens,
  dim,
];

// The steps ---------------------------------------------------------------------------------------

const fresh = (...shape) => rowMajor(shape, ITEMSIZE);
const nbytes = (x) => numel(x) * x.itemsize;

/** @type {Arrow} */
const VIEW = { word: "view", names: [], nbytes: 0 };

/** @type {(word: "new" | "copy", tensors: Record<string, Layout>) => Arrow} */
const arrowTo = (word, tensors) => ({
  word,
  names: Object.keys(tensors),
  nbytes: sum(Object.values(tensors).map(nbytes)),
});

/**
 * The five steps.
 *
 * @param {State} state
 * @returns {Step[]}
 */
export function steps(state) {
  const projected = linear(state);
  const cut = cutIntoHeads(state, projected.tensors.qkv);
  const turned = rotary(state, cut.tensors);
  const { q, k, v } = { ...cut.tensors, ...turned.tensors };
  const attended =
    state.attention === "@" ? attendByProducts(state, q, k, v) : attendBySdpa(state, q, k, v);
  return [projected, cut, turned, attended, merge(state, attended.tensors.out)];
}

/** @returns {Step} */
function linear({ batch, tokens, heads, kv_heads, dim }) {
  const channels = heads * dim;
  const width = (heads + 2 * kv_heads) * dim;
  const tensors = { qkv: fresh(batch, tokens, width) };
  const x = `torch.rand(${batch}, ${tokens}, ${channels})`;
  return {
    name: "linear",
    arrows: [arrowTo("new", tensors)],
    tensors,
    code: [`qkv = ${x} @ torch.rand(${channels}, ${width})`],
    note: "",
    why: [],
  };
}

/** @returns {Step} */
function cutIntoHeads({ heads, kv_heads, dim, packing }, qkv) {
  const step = { name: "heads", arrows: [VIEW], note: "", why: [] };
  if (kv_heads < heads) {
    const widths = `[${[heads, kv_heads, kv_heads].map((n) => n * dim).join(", ")}]`;
    const turn = `unflatten(2, (-1, ${dim})).transpose(1, 2)`;
    const [q, k, v] = range(3).map((n) => run(qkv, `.split(${widths}, 2)[${n}].${turn}`));
    const line = `q, k, v = (x.${turn} for x in qkv.split(${widths}, 2))`;
    return { ...step, tensors: { q, k, v }, code: [line] };
  }
  const sizes = { 3: 3, H: heads, D: dim };
  const row = [...packing].map((letter) => sizes[letter]);
  const [three, head, last] = [..."3HD"].map((letter) => 2 + packing.indexOf(letter));
  const views = `.unflatten(2, ${tuple(row)}).permute(${three}, 0, ${head}, 1, ${last})`;
  const [q, k, v] = range(3).map((n) => run(qkv, `${views}[${n}]`));
  return { ...step, tensors: { q, k, v }, code: [`q, k, v = qkv${views}`] };
}

/**
 * @param {State} state
 * @param {Record<string, Layout>} parts
 * @returns {Step}
 */
function rotary(state, { q, k }) {
  const { tokens, dim, rotary: formula } = state;
  if (formula === "none") {
    const note = "not used: q, k and v stay in qkv";
    return { name: "rotary", arrows: [], tensors: {}, code: [], note, why: [] };
  }
  const tensors = { q: rotated(state, q), k: rotated(state, k) };
  const half = dim / 2;
  return {
    name: "rotary",
    arrows: [arrowTo("new", tensors)],
    tensors,
    code: [
      `cos, sin = torch.rand(2, ${tokens}, ${dim})`,
      `rot = lambda x: torch.cat([-x[..., ${half}:], x[..., :${half}]], -1)`,
      `q = ${formula.replaceAll("x", "q")}`,
      `k = ${formula.replaceAll("x", "k")}`,
    ],
    note: "the first summand decides the order",
    why: [],
  };
}

/** The sum of two products; `cat`, in the second one, returns a contiguous tensor. */
function rotated({ tokens, dim, rotary: formula }, x) {
  const angles = fresh(tokens, dim);
  const withCos = elementwise(x, angles);
  const withSin = elementwise(fresh(...x.shape), angles);
  return formula === ROTARY[1] ? elementwise(withCos, withSin) : elementwise(withSin, withCos);
}

/**
 * @param {State} state
 * @returns {Step}
 */
function attendByProducts({ heads, kv_heads, tokens, dim }, q, k, v) {
  const arrows = [];
  const code = [];
  const why = [];
  if (kv_heads < heads) {
    k = fresh(...q.shape);
    v = fresh(...q.shape);
    const times = heads / kv_heads;
    arrows.push(arrowTo("copy", { k, v }));
    code.push(`k = k.repeat_interleave(${times}, 1)`, `v = v.repeat_interleave(${times}, 1)`);
    why.push(
      kv_heads === 1
        ? "k and v are copied: repeat_interleave writes their head once for each head of q."
        : `k and v are copied: head h of q meets their head h // ${times}, ` +
            "and no stride says that.",
    );
  }
  const clones = clonesOf(q, k, v, "@ makes");
  const tensors = { scores: fresh(...q.shape.slice(0, 3), tokens), out: fresh(...q.shape) };
  return {
    name: "attention",
    arrows: [...arrows, ...clones.arrows, arrowTo("new", tensors)],
    tensors,
    code: [...code, `scores = q @ k.mT / ${dim}**0.5`, "out = scores.softmax(-1) @ v"],
    note: "",
    why: [...why, ...clones.why],
  };
}

/**
 * Heads are as many or grouped, and all sizes fit, so flash runs wherever the last strides are 1.
 *
 * @returns {Step}
 */
function attendBySdpa({ heads, kv_heads }, q, k, v) {
  const grouping = kv_heads < heads ? ", enable_gqa=True" : "";
  const code = [
    "F = torch.nn.functional",
    `out = F.scaled_dot_product_attention(q, k, v${grouping})`,
  ];
  const name = "attention";
  const strided = Object.entries({ q, k, v }).find(([, x]) => x.stride[3] !== 1);
  if (!strided) {
    const tensors = { out: run(q, ".clone()") };
    const note = "flash: out is an empty_like(q)";
    return { name, arrows: [arrowTo("new", tensors)], tensors, code, note, why: [] };
  }
  const [part, { stride }] = strided;
  const tensors = { out: fresh(...q.shape) };
  const note = `math, as dim 3 of ${part} has stride ${stride[3]}: flash takes 1`;
  // The math path scales q and k first.
  const clones = clonesOf(elementwise(q), elementwise(k), v, "the math path makes");
  return {
    name,
    arrows: [...clones.arrows, arrowTo("new", tensors)],
    tensors,
    code,
    note,
    why: clones.why,
  };
}

/**
 * The clones of q, k and v in the two products: an arrow, and a reason with the numbers of the
 * first clone.
 *
 * @returns {{ arrows: Arrow[], why: string[] }}
 */
function clonesOf(q, k, v, subject) {
  const isCloned = ([, { shape, stride }]) => {
    const [batch, heads, ...matrix] = shape;
    return "reason" in viewStride(shape, stride, [batch * heads, ...matrix]);
  };
  const cloned = Object.entries({ q, k, v }).filter(isCloned);
  if (!cloned.length) return { arrows: [], why: [] };
  const arrow = arrowTo("copy", Object.fromEntries(cloned));
  const [[, { shape, stride }]] = cloned;
  const strides = `stride ${stride[0]} found, ${shape[1] * stride[1]} needed`;
  const verb = cloned.length > 1 ? "are" : "is";
  const why =
    `${listed(arrow.names)} ${verb} copied: ${subject} one batch of each, ` +
    `and dims 0 and 1 do not merge (${strides}).`;
  return { arrows: [arrow], why: [why] };
}

/** @returns {Step} */
function merge({ batch, tokens, heads, dim }, out) {
  const shape = [batch, tokens, heads * dim];
  const turned = run(out, ".transpose(1, 2)");
  const { stride, reason } = viewStride(turned.shape, turned.stride, shape);
  return {
    name: "merge",
    arrows: [reason ? arrowTo("copy", { out }) : VIEW],
    tensors: { y: { ...out, shape, stride: stride ?? contiguousStride(shape) } },
    code: [`y = out.transpose(1, 2).reshape${tuple(shape)}`],
    note: "",
    why: reason ? [`out is copied: ${reason.split(", and")[0]}.`] : [],
  };
}

// Words -------------------------------------------------------------------------------------------

/** @param {Arrow} arrow */
export function arrowText({ word, names, nbytes }) {
  if (word === "view") return "view";
  if (word === "new") return `new: ${nbytes} bytes`;
  return `copy ${names.join(", ")}: ${nbytes} bytes`;
}

/** @param {Step[]} boxes */
const copiesIn = (boxes) =>
  boxes.flatMap(({ arrows }) => arrows).filter(({ word }) => word === "copy");
/** @param {Step[]} boxes */
const copiedBytes = (boxes) => sum(copiesIn(boxes).map((arrow) => arrow.nbytes));

export function summary(boxes) {
  const names = copiesIn(boxes).flatMap((arrow) => arrow.names);
  if (!names.length) return "Nothing is copied on the way.";
  const count = names.length === 1 ? "1 copy" : `${names.length} copies`;
  return `${count} on the way, of ${listed(names)}: ${counted(copiedBytes(boxes), "byte")}.`;
}

/** The order of heads and tokens in memory. */
export function order({ shape: [, heads, tokens], stride }) {
  if (heads === 1 || tokens === 1) return "one order for heads and tokens";
  return stride[2] > stride[1] ? "token by token" : "head by head";
}

/**
 * The texts in a row of boxes, one for each head of a token: the letter of the head, behind q, k or
 * v in qkv, and before the token in the other memories.
 *
 * @param {string} memory
 * @param {Element[]} row
 */
export function labels(memory, row) {
  const vectors = row.map((element) => String(element.slice(0, 4)));
  return row.map(([part, , head, token], k) => {
    if (vectors[k] === vectors[k - 1]) return "";
    return memory === "qkv" ? `${part}${LETTERS[head]}` : `${LETTERS[head]}${token}`;
  });
}

export const code = (state) =>
  steps(state)
    .flatMap((step) => step.code)
    .join("\n");

// Elements ----------------------------------------------------------------------------------------

/**
 * The tensors in each memory that is drawn, as (batch, heads, tokens, dim).
 *
 * @param {State} state
 * @param {string} part
 */
export function memories(state, part) {
  const [, cut, turned, attended, merged] = steps(state);
  const shown = part === "k" ? "k" : "q";
  const { heads, dim } = state;
  return {
    qkv: cut.tensors,
    rotary: turned.tensors.q ? { [shown]: turned.tensors[shown] } : {},
    attention: { out: attended.tensors.out },
    merge: { y: run(merged.tensors.y, `.unflatten(2, (${heads}, ${dim})).transpose(1, 2)`) },
  };
}

/**
 * The elements of the tensors in one memory, in the order of the memory.
 *
 * @param {Record<string, Layout>} tensors
 * @returns {Element[]}
 */
export function cells(tensors) {
  /** @type {{ place: number, element: any }[]} */
  const placed = [];
  for (const [name, x] of Object.entries(tensors)) {
    for (const flat of range(numel(x))) {
      const index = unflatten(x.shape, flat);
      placed.push({ place: offset(x, index), element: [name, ...index] });
    }
  }
  placed.sort((a, b) => a.place - b.place);
  return placed.map(({ element }) => element);
}

/**
 * The element, or the nearest one that a smaller shape still has.
 *
 * @param {State} state
 * @param {Element} element
 */
export const inside = (state, [part, ...index]) => [
  part,
  ...headsShape(state, part).map((size, d) => Math.min(index[d], size - 1)),
];

/**
 * The indices of the output that an element goes into: for each dim [first, end].
 *
 * @param {State} state
 * @param {Element} element
 */
export function reached({ heads, kv_heads, tokens, dim }, [part, b, h, t, d]) {
  const group = heads / kv_heads;
  return [
    [b, b + 1],
    part === "q" ? [h, h + 1] : [h * group, (h + 1) * group],
    part === "q" ? [t, t + 1] : [0, tokens],
    part === "v" ? [d, d + 1] : [0, dim],
  ];
}

/** The place of an element in qkv and after rotary, and the part of out that it goes into. */
export function place(state, element) {
  const [part, ...index] = element;
  const [, cut, turned] = steps(state);
  const rotatedPart = turned.tensors[part];
  const before = `element ${offset(cut.tensors[part], index)} of qkv`;
  const after = rotatedPart
    ? `, after rotary element ${offset(rotatedPart, index)} of ${part}`
    : "";
  const ranges = reached(state, element);
  const count = counted(product(ranges.map(([first, end]) => end - first)), "element");
  const sizes = headsShape(state, "q");
  const items = ranges.map(([first, end], d) => {
    if (end - first === 1) return first;
    return end - first === sizes[d] ? ":" : `${first}:${end}`;
  });
  return (
    `${part}[${index.join(", ")}] is ${before}${after}. ` +
    `It goes into ${count} of out: out[${items.join(", ")}].`
  );
}

/** The lines of the repr. */
export function told(state) {
  const { batch, tokens, heads, kv_heads, dim, packing } = state;
  const groups = kv_heads < heads ? ` (k and v: ${kv_heads})` : "";
  const boxes = steps(state);
  return [
    `AttentionExplorer: batch ${batch}, tokens ${tokens}, heads ${heads}${groups}, ` +
      `dim ${dim}, packed as ${packing}`,
    ...boxes.flatMap(linesOf),
    summary(boxes),
    ...boxes.flatMap(({ why }) => why),
    place(state, state.followed),
  ];
}

function linesOf({ name, arrows, note, tensors }) {
  const words = [...arrows.map(arrowText), note].filter(Boolean);
  const layouts = Object.entries(tensors).map(([tensor, { shape, stride, storage_offset }]) => {
    const strides = `stride ${tuple(stride)}, storage_offset ${storage_offset}`;
    return `  ${tensor}: shape ${tuple(shape)}, ${strides}`;
  });
  return [`${name}: ${words.join("; ")}`, ...layouts];
}

// Facts -------------------------------------------------------------------------------------------

/** @param {State} state */
export function facts(state) {
  const { followed, ...settings } = state;
  const boxes = steps(state);
  const [, cut, turned, attended, merged] = boxes;
  return {
    ...settings,
    copied: copiedBytes(boxes),
    copies: copiesIn(boxes).flatMap(({ names }) => names),
    flash: attended.note.startsWith("flash"),
    merge: merged.arrows[0].word,
    followed,
    q_stride: (turned.tensors.q ?? cut.tensors.q).stride,
    out_stride: attended.tensors.out.stride,
    y_stride: merged.tensors.y.stride,
  };
}
