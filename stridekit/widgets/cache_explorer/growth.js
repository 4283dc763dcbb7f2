// A cache of keys, grown by a token a step: its memory, the bytes that each step writes, and
// sentences about both.
//
// A cache grows in one of three ways. `cat` makes a new tensor of all tokens so far. In place, the
// token is written into a tensor of full length. In blocks, the token is written into the last
// block of its sequence, or into a new block of a pool; to be read, the blocks are gathered. Then
// attention reads the keys, and `@` may clone them. tests/course/test_cache_explorer.py compares
// each step with torch.

import {
  contiguousStride,
  grouped,
  product,
  range,
  sum,
  tuple,
  viewStride,
} from "../page/layout.js";

/**
 * The settings.
 *
 * @typedef {object} State
 * @property {number} tokens
 * @property {number} batch
 * @property {number} heads
 * @property {number} block
 * @property {string} order
 * @property {string} attention
 */

/** @typedef {"cat" | "in place" | "blocks"} Way */

/**
 * The key of one sequence, head and token: a box of the picture.
 *
 * @typedef {[number, number, number]} Vector
 */

export const ROOM = 8; // tokens of the picture,
export const LONG = 512; // and of the curves
export const SIZES = { tokens: [0, ROOM], batch: [1, 2], heads: [1, 3] };
export const BLOCKS = [2, 4];
export const ORDERS = ["heads first", "tokens first"];
export const ATTENTION = ["@", "SDPA"];
/** @param {number[]} bounds */
const numbersFrom = ([least, most]) => range(most - least + 1).map((k) => least + k);
export const CHOICES = {
  tokens: numbersFrom(SIZES.tokens),
  batch: numbersFrom(SIZES.batch),
  heads: numbersFrom(SIZES.heads),
  block: BLOCKS,
  order: ORDERS,
  attention: ATTENTION,
};
/** @type {State} */
export const EXAMPLE = {
  tokens: 0,
  batch: 1,
  heads: 1,
  block: 2,
  order: ORDERS[0],
  attention: "@",
};
/** @type {Way[]} */
export const WAYS = ["cat", "in place", "blocks"];
export const DIM = 64;
const ITEMSIZE = 4;

// The bytes of a step -----------------------------------------------------------------------------

/** @param {{ order: string }} state */
const isHeadsFirst = ({ order }) => order === ORDERS[0];
/** The sizes of heads and tokens, in the order of the memory. */
const inOrder = (state, tokens) =>
  isHeadsFirst(state) ? [state.heads, tokens] : [tokens, state.heads];
const bytes = (shape) => product(shape) * ITEMSIZE;
/** @param {number[]} sizes */
const transposed = ([a, b, c, d]) => [a, c, b, d];

/**
 * The keys (batch, heads, tokens, dim) as attention gets them, and the bytes copied to read them.
 *
 * @param {State} state
 * @param {Way} way
 * @param {number} tokens
 */
export function keys(state, way, tokens, room = LONG) {
  const shape = [state.batch, state.heads, tokens, DIM];
  if (way === "blocks") return { shape, ...gathered(state, tokens) };
  const length = way === "cat" ? tokens : room;
  const stride = contiguousStride([state.batch, ...inOrder(state, length), DIM]);
  return { shape, stride: isHeadsFirst(state) ? stride : transposed(stride), copied: 0 };
}

/**
 * The strides of the blocks that hold so many tokens, gathered from the pool, and the bytes copied
 * for them.
 */
function gathered({ batch, heads, block, order }, tokens) {
  const count = Math.ceil(tokens / block);
  const length = count * block;
  const copied = bytes([batch, heads, length, DIM]);
  if (!isHeadsFirst({ order }))
    return { stride: transposed(contiguousStride([batch, length, heads, DIM])), copied };
  // pool[table] is (batch, count, heads, block, dim). The heads come forward, and then the blocks
  // of each head merge, or are copied once more.
  const [b, n, h, t, d] = contiguousStride([batch, count, heads, block, DIM]);
  const wanted = [batch, heads, length, DIM];
  const merged = viewStride([batch, heads, count, block, DIM], [b, h, n, t, d], wanted).stride;
  if (merged) return { stride: merged, copied };
  return { stride: contiguousStride(wanted), copied: 2 * copied };
}

/**
 * The bytes that a step writes: to keep its token, to gather blocks, and to clone for `@`.
 *
 * @param {State} state
 * @param {Way} way
 * @param {number} tokens
 */
export function written(state, way, tokens) {
  const row = bytes([state.batch, state.heads, DIM]);
  const { shape, stride, copied } = keys(state, way, tokens);
  // `@` clones unless the batch and the heads merge.
  const isView = viewStride(shape, stride, [state.batch * state.heads, tokens, DIM]).stride;
  return {
    kept: way === "cat" ? tokens * row : row,
    gathered: copied,
    cloned: state.attention === "@" && !isView ? bytes(shape) : 0,
  };
}

/** For each way, the bytes written by the first 0, 1, … LONG steps. */
export function curves(state) {
  /** @type {Record<Way, number[]>} */
  const totals = { cat: [], "in place": [], blocks: [] };
  for (const way of WAYS) totals[way] = sumsOfSteps(state, way, LONG);
  return totals;
}

function sumsOfSteps(state, way, steps) {
  const sums = [0];
  for (const k of range(steps)) sums.push(sums[k] + sum(Object.values(written(state, way, k + 1))));
  return sums;
}

// The boxes of a memory ---------------------------------------------------------------------------

/** The numbers of the pool's blocks, in the order in which they are handed out: odd ones first. */
function freeBlocks({ batch, block }) {
  const blocks = range((batch * ROOM) / block);
  return [...blocks.filter((n) => n % 2), ...blocks.filter((n) => n % 2 === 0)];
}

/** The numbers of each sequence's blocks. */
export function tables(state) {
  const free = freeBlocks(state);
  const count = Math.ceil(state.tokens / state.block);
  return range(state.batch).map((b) => range(count).map((k) => free[k * state.batch + b]));
}

/** The [head, token] pairs of one sequence or block, in the order of the memory. */
function pairs(state, tokens) {
  const isFirst = isHeadsFirst(state);
  const [outer, inner] = inOrder(state, tokens);
  return range(outer * inner).map((k) => {
    const i = Math.floor(k / inner);
    const j = k % inner;
    return isFirst ? [i, j] : [j, i];
  });
}

/**
 * The vectors in the memory of a way, one after the other; null where nothing has been written yet.
 *
 * @param {State} state
 * @param {Way} way
 * @returns {(Vector | null)[]}
 */
export function boxes(state, way) {
  if (way === "blocks") return boxesOfPool(state);
  const length = way === "cat" ? state.tokens : ROOM;
  return range(state.batch).flatMap((b) =>
    pairs(state, length).map(([h, t]) => (t < state.tokens ? [b, h, t] : null)),
  );
}

/** @returns {(Vector | null)[]} */
function boxesOfPool(state) {
  const owners = new Map(); // [sequence, first token] of each block in use
  for (const [b, numbers] of tables(state).entries())
    for (const [k, number] of numbers.entries()) owners.set(number, [b, k * state.block]);

  return range(freeBlocks(state).length).flatMap((number) => {
    const [b, first] = owners.get(number) ?? [0, Infinity];
    return pairs(state, state.block).map(([h, t]) =>
      first + t < state.tokens ? [b, h, first + t] : null,
    );
  });
}

/** The number of boxes in a row of the picture: a head's tokens, a token's heads, or a block. */
export function rowOf(state, way) {
  if (way === "blocks") return state.heads * state.block;
  if (!isHeadsFirst(state)) return state.heads;
  return way === "cat" ? state.tokens : ROOM;
}

/** @param {Vector | null} vector */
export const label = (vector) => (vector ? `${"abc"[vector[1]]}${vector[2]}` : "");

// In words ----------------------------------------------------------------------------------------

/** The sentences about the last step of a way. */
export function stepOf(state, way) {
  if (!state.tokens) return ["nothing is written yet"];
  const { kept, gathered, cloned } = written(state, way, state.tokens);
  const isAgain = way === "cat" && state.tokens > 1;
  const again = isAgain ? `, ${state.tokens - 1} of ${state.tokens} tokens again` : "";
  const sentences = [`keep: ${grouped(kept)} bytes${again}`];
  if (gathered) sentences.push(`pool[table]: ${grouped(gathered)} bytes`);
  if (cloned) sentences.push(`@ clones ${grouped(cloned)} bytes`);
  else sentences.push(`${state.attention} reads ${gathered ? "that" : "them"} without a copy`);
  return sentences;
}

/** The sentence about the ends of the curves. */
export function whole(totals) {
  const ends = WAYS.map((way) => `${way} ${grouped(totals[way][LONG])}`).join(", ");
  const times = Number((totals.cat[LONG] / totals["in place"][LONG]).toPrecision(4));
  return (
    `${LONG} tokens write, in bytes: ${ends}. ` + `cat writes ${times} times as much as in place.`
  );
}

const WHERE = { cat: "of cat's tape", "in place": "in place", blocks: "of the pool" };

/** The box of one vector in each memory, in words. */
export function place(state, vector) {
  const [b, h, t] = vector;
  const name = `Sequence ${b}, head ${h}, token ${t}`;
  if (t >= state.tokens) return `${name}: not written yet.`;
  const spots = WAYS.map((way) => {
    const box = boxes(state, way).findIndex((candidate) => String(candidate) === String(vector));
    return `box ${box} ${WHERE[way]}`;
  });
  return `${name}: ${spots.join(", ")}, each labelled ${label(vector)}.`;
}

/** The lines of the repr. */
export function told(state) {
  const { tokens, batch, heads, block, order, attention } = state;
  const totals = curves(state);
  return [
    `CacheExplorer: ${tokens} tokens, batch ${batch}, heads ${heads}, ` +
      `blocks of ${block}, ${order}, read by ${attention}`,
    ...WAYS.map((way) => {
      const sentences = stepOf(state, way).join("; ");
      return `${way}: ${sentences}; ${grouped(totals[way][tokens])} bytes so far`;
    }),
    whole(totals),
  ];
}

/** The code that grows all three caches. */
export function code(state) {
  const { tokens, batch, heads, block, attention } = state;
  const isFirst = isHeadsFirst(state);
  const shape = (outer, length) => tuple([outer, ...inOrder(state, length), DIM]);
  const free = freeBlocks(state);
  const lines = [
    "import torch",
    `cat, ready = torch.empty${shape(batch, 0)}, torch.empty${shape(batch, ROOM)}`,
    `pool, free = torch.empty${shape(free.length, block)}, torch.tensor([${free.join(", ")}])`,
    `for t in range(${tokens}):`,
    `    k = torch.rand${shape(batch, 1)}`,
    `    cat = torch.cat([cat, k], ${isFirst ? 2 : 1})`,
    `    ready[${isFirst ? ":, :, t : t + 1" : ":, t : t + 1"}] = k`,
    `    table = free[: ${batch} * (t // ${block} + 1)].view(-1, ${batch}).t()`,
    isFirst
      ? `    pool[table[:, -1], :, t % ${block}] = k[:, :, 0]`
      : `    pool[table[:, -1], t % ${block}] = k[:, 0]`,
  ];
  if (tokens) {
    const merged = isFirst ? "transpose(1, 2).flatten(2, 3)" : "flatten(1, 2)";
    const turned = isFirst ? "" : ".transpose(1, 2)";
    const cut = `${turned}[:, :, :${tokens}]`;
    lines.push(
      `q = torch.rand(${batch}, ${heads}, 1, ${DIM})`,
      `blocks = pool[table].${merged}`,
      `for keys in (cat${turned}, ready${cut}, blocks${cut}):`,
      attention === "@"
        ? "    print((q @ keys.mT).shape)"
        : "    print(torch.nn.functional.scaled_dot_product_attention(q, keys, keys).shape)",
    );
  }
  return lines.join("\n");
}

/**
 * The settings, the bytes that all steps so far have written, and the bytes of the last step's
 * copies.
 */
export function facts(state) {
  const sumOf = (way) => sumsOfSteps(state, way, state.tokens)[state.tokens];
  const none = { gathered: 0, cloned: 0 };
  const copiesOf = (way) => (state.tokens ? written(state, way, state.tokens) : none);
  return {
    ...state,
    cat_written: sumOf("cat"),
    in_place_written: sumOf("in place"),
    blocks_written: sumOf("blocks"),
    cat_cloned: copiesOf("cat").cloned,
    in_place_cloned: copiesOf("in place").cloned,
    blocks_gathered: copiesOf("blocks").gathered,
  };
}
