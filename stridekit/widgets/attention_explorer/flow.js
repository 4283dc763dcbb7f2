// The way from a packed projection to the merged heads: the layouts of each step, what it copies, and what is said of it.
// A step is a box of the picture: {name, arrows, tensors, code, note, why}. An arrow is how its tensors are reached: "view",
// "new" (it has to write them anyway), or "copy". tests/course/test_attention_explorer.py compares all settings with torch.

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
export const EXAMPLE = {
  ...Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first])),
  followed: ["q", 0, 0, 0, 0],
};
const ITEMSIZE = 4;
const LETTERS = "abcd";

export function arrowText({ word, names, nbytes }) {
  if (word === "view") return word;
  return `${word}${word === "copy" ? ` ${names.join(", ")}` : ""}: ${nbytes} bytes`;
}

export const kvChoices = (heads, packing) =>
  range(heads + 1).filter((n) => n && heads % n === 0 && (packing === "3HD" || n === heads));
export const headsShape = ({ batch, heads, kv_heads, tokens, dim }, part) => [
  batch,
  part === "q" ? heads : kv_heads,
  tokens,
  dim,
];

// The steps ------------------------------------------------------------------------------------------

const fresh = (...shape) => rowMajor(shape, ITEMSIZE);
const bytes = (x) => numel(x) * x.itemsize;
const arrow = (word, made) => ({
  word,
  names: Object.keys(made),
  nbytes: sum(Object.values(made).map(bytes)),
});
const step = (name, arrows, tensors, code, note = "", why = []) => ({
  name,
  arrows,
  tensors,
  code,
  note,
  why,
});
const VIEW = { word: "view", names: [], nbytes: 0 };

export function steps(s) {
  const projected = linear(s);
  const cut = heads(s, projected.tensors.qkv);
  const turned = rotary(s, cut.tensors);
  const { q, k, v } = { ...cut.tensors, ...turned.tensors };
  const attended = s.attention === "@" ? byProducts(s, q, k, v) : bySdpa(s, q, k, v);
  return [projected, cut, turned, attended, merge(s, attended.tensors.out)];
}

function linear({ batch, tokens, heads, kv_heads, dim }) {
  const [channels, width] = [heads * dim, (heads + 2 * kv_heads) * dim];
  const made = { qkv: fresh(batch, tokens, width) };
  const line = `qkv = torch.rand(${batch}, ${tokens}, ${channels}) @ torch.rand(${channels}, ${width})`;
  return step("linear", [arrow("new", made)], made, [line]);
}

function heads({ heads: h, kv_heads: kv, dim: d, packing }, qkv) {
  if (kv < h) {
    const cuts = `[${[h, kv, kv].map((n) => n * d).join(", ")}]`;
    const part = `unflatten(2, (-1, ${d})).transpose(1, 2)`;
    const [q, k, v] = [0, 1, 2].map((n) => run(qkv, `.split(${cuts}, 2)[${n}].${part}`));
    return step("heads", [VIEW], { q, k, v }, [
      `q, k, v = (x.${part} for x in qkv.split(${cuts}, 2))`,
    ]);
  }
  const row = [...packing].map((letter) => ({ 3: 3, H: h, D: d })[letter]);
  const [three, head, last] = [..."3HD"].map((letter) => 2 + packing.indexOf(letter));
  const line = `.unflatten(2, ${tuple(row)}).permute(${three}, 0, ${head}, 1, ${last})`;
  const [q, k, v] = [0, 1, 2].map((n) => run(qkv, `${line}[${n}]`));
  return step("heads", [VIEW], { q, k, v }, [`q, k, v = qkv${line}`]);
}

function rotary(s, parts) {
  if (s.rotary === "none") return step("rotary", [], {}, [], "not used: q, k and v stay in qkv");
  const made = { q: rotated(s, parts.q), k: rotated(s, parts.k) };
  const half = s.dim / 2;
  return step(
    "rotary",
    [arrow("new", made)],
    made,
    [
      `cos, sin = torch.rand(2, ${s.tokens}, ${s.dim})`,
      `rot = lambda x: torch.cat([-x[..., ${half}:], x[..., :${half}]], -1)`,
      ...["q", "k"].map((name) => `${name} = ${s.rotary.replaceAll("x", name)}`),
    ],
    "the first summand decides the order",
  );
}

/** The sum of two products; what `cat` returns is contiguous. */
function rotated({ tokens, dim, rotary: formula }, x) {
  const [first, second] = [x, fresh(...x.shape)].map((factor) =>
    elementwise(factor, fresh(tokens, dim)),
  );
  return formula === ROTARY[1] ? elementwise(first, second) : elementwise(second, first);
}

function byProducts(s, q, k, v) {
  const [arrows, code, why] = [[], [], []];
  if (s.kv_heads < s.heads) {
    k = v = fresh(...q.shape);
    arrows.push(arrow("copy", { k, v }));
    code.push(
      ...["k", "v"].map(
        (name) => `${name} = ${name}.repeat_interleave(${s.heads / s.kv_heads}, 1)`,
      ),
    );
    why.push(
      s.kv_heads === 1
        ? "k and v are copied: repeat_interleave writes their head once for each head of q."
        : `k and v are copied: head h of q meets their head h // ${s.heads / s.kv_heads}, and no stride says that.`,
    );
  }
  const [clone, because] = clones(q, k, v, "@ makes");
  const made = { scores: fresh(...q.shape.slice(0, 3), s.tokens), out: fresh(...q.shape) };
  code.push(`scores = q @ k.mT / ${s.dim}**0.5`, "out = scores.softmax(-1) @ v");
  return step("attention", [...arrows, ...clone, arrow("new", made)], made, code, "", [
    ...why,
    ...because,
  ]);
}

/** Heads are as many or grouped, and all sizes fit: flash runs wherever the last strides are 1. */
function bySdpa(s, q, k, v) {
  const strided = Object.entries({ q, k, v }).find(([, x]) => x.stride[3] !== 1);
  const made = { out: strided ? fresh(...q.shape) : run(q, ".clone()") };
  const code = [
    "F = torch.nn.functional",
    `out = F.scaled_dot_product_attention(q, k, v${s.kv_heads < s.heads ? ", enable_gqa=True" : ""})`,
  ];
  if (!strided)
    return step("attention", [arrow("new", made)], made, code, "flash: out is an empty_like(q)");
  const note = `math, as dim 3 of ${strided[0]} has stride ${strided[1].stride[3]}: flash takes 1`;
  const [clone, why] = clones(elementwise(q), elementwise(k), v, "the math path makes");
  return step("attention", [...clone, arrow("new", made)], made, code, note, why);
}

/** What `q @ k.mT` and the second product clone of them, and a reason with the numbers of the first: two lists of one or none. */
function clones(q, k, v, who) {
  const split = ({ shape: [b, h, ...matrix], stride }) =>
    "reason" in viewStride([b, h, ...matrix], stride, [b * h, ...matrix]);
  const copied = Object.entries({ q, k, v }).filter(([, x]) => split(x));
  if (!copied.length) return [[], []];
  const [[, { shape, stride }]] = copied;
  const reason = `dims 0 and 1 do not merge (stride ${stride[0]} found, ${shape[1] * stride[1]} needed)`;
  const clone = arrow("copy", Object.fromEntries(copied));
  return [[clone], [`${are(clone.names)} copied: ${who} one batch of each, and ${reason}.`]];
}

function merge({ batch, tokens, heads, dim }, out) {
  const shape = [batch, tokens, heads * dim];
  const turned = run(out, ".transpose(1, 2)");
  const { stride, reason } = viewStride(turned.shape, turned.stride, shape);
  const made = { y: { ...out, shape, stride: stride ?? contiguousStride(shape) } };
  const code = [`y = out.transpose(1, 2).reshape${tuple(shape)}`];
  if (!reason) return step("merge", [VIEW], made, code);
  return step("merge", [arrow("copy", { out })], made, code, "", [
    `out is copied: ${reason.split(", and")[0]}.`,
  ]);
}

// Words ----------------------------------------------------------------------------------------------

const are = (names) => `${listed(names)} ${names.length > 1 ? "are" : "is"}`;
const copies = (all) => all.flatMap(({ arrows }) => arrows).filter(({ word }) => word === "copy");
const copiedBytes = (all) => sum(copies(all).map(({ nbytes }) => nbytes));

export function summary(boxes) {
  const names = copies(boxes).flatMap((arrow) => arrow.names);
  if (!names.length) return "Nothing is copied on the way.";
  const many = names.length === 1 ? "1 copy" : `${names.length} copies`;
  return `${many} on the way, of ${listed(names)}: ${counted(copiedBytes(boxes), "byte")}.`;
}

export function order({ shape: [, heads, tokens], stride }) {
  if (heads === 1 || tokens === 1) return "one order for heads and tokens";
  return stride[2] > stride[1] ? "token by token" : "head by head";
}

/** The texts in a row of boxes: a letter for the head, where another vector begins; in qkv behind q, k or v. */
export function labels(memory, row) {
  const vectors = row.map((element) => String(element.slice(0, 4)));
  return row.map(([part, , head, token], k) => {
    if (vectors[k] === vectors[k - 1]) return "";
    return memory === "qkv" ? `${part}${LETTERS[head]}` : `${LETTERS[head]}${token}`;
  });
}

export const code = (s) =>
  steps(s)
    .flatMap((each) => each.code)
    .join("\n");

// Elements -------------------------------------------------------------------------------------------

/** The tensors in each memory that is drawn, as (batch, heads, tokens, dim). */
export function memories(s, part) {
  const [, cut, turned, attended, merged] = steps(s);
  const shown = part === "k" ? "k" : "q";
  return {
    qkv: cut.tensors,
    rotary: turned.tensors.q ? { [shown]: turned.tensors[shown] } : {},
    attention: { out: attended.tensors.out },
    merge: { y: run(merged.tensors.y, `.unflatten(2, (${s.heads}, ${s.dim})).transpose(1, 2)`) },
  };
}

/** The elements of some tensors, in the order of their memory. */
export function cells(parts) {
  const placed = Object.entries(parts).flatMap(([name, x]) =>
    range(numel(x))
      .map((flat) => unflatten(x.shape, flat))
      .map((index) => [offset(x, index), [name, ...index]]),
  );
  return placed.sort(([a], [b]) => a - b).map(([, element]) => element);
}

/** The element, where a smaller shape still has it. */
export const inside = (s, [part, ...index]) => [
  part,
  ...headsShape(s, part).map((size, d) => Math.min(index[d], size - 1)),
];

/** The indices of the output that an element goes into: for each dim [first, end]. */
export function reached({ heads, kv_heads, tokens, dim }, [part, b, h, t, d]) {
  const group = heads / kv_heads;
  return [
    [b, b + 1],
    part === "q" ? [h, h + 1] : [h * group, (h + 1) * group],
    part === "q" ? [t, t + 1] : [0, tokens],
    part === "v" ? [d, d + 1] : [0, dim],
  ];
}

export function place(s, element) {
  const [part, ...index] = element;
  const [, cut, turned] = steps(s);
  const after = turned.tensors[part];
  const where =
    `element ${offset(cut.tensors[part], index)} of qkv` +
    (after ? `, after rotary element ${offset(after, index)} of ${part}` : "");
  const ranges = reached(s, element);
  const many = counted(product(ranges.map(([first, end]) => end - first)), "element");
  const goes = ranges.map(([first, end], d) => {
    if (end - first === 1) return first;
    return end - first === headsShape(s, "q")[d] ? ":" : `${first}:${end}`;
  });
  return `${part}[${index.join(", ")}] is ${where}. It goes into ${many} of out: out[${goes.join(", ")}].`;
}

export function told(s) {
  const { batch, tokens, heads: all, kv_heads, dim, packing } = s;
  const boxes = steps(s);
  const groups = kv_heads < all ? ` (k and v: ${kv_heads})` : "";
  return [
    `AttentionExplorer: batch ${batch}, tokens ${tokens}, heads ${all}${groups}, dim ${dim}, packed as ${packing}`,
    ...boxes.flatMap(({ name, arrows, note, tensors }) => [
      `${name}: ${[...arrows.map(arrowText), note].filter(Boolean).join("; ")}`,
      ...Object.entries(tensors).map(
        ([called, { shape, stride, storage_offset }]) =>
          `  ${called}: shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset}`,
      ),
    ]),
    summary(boxes),
    ...boxes.flatMap(({ why }) => why),
    place(s, s.followed),
  ];
}

// Facts ----------------------------------------------------------------------------------------------

export function facts(s) {
  const { followed, ...settings } = s;
  const boxes = steps(s);
  const [, cut, turned, attended, merged] = boxes;
  return {
    ...settings,
    copied: copiedBytes(boxes),
    copies: copies(boxes).flatMap(({ names }) => names),
    flash: attended.note.startsWith("flash"),
    merge: merged.arrows[0].word,
    followed,
    q_stride: (turned.tensors.q ?? cut.tensors.q).stride,
    out_stride: attended.tensors.out.stride,
    y_stride: merged.tensors.y.stride,
  };
}
