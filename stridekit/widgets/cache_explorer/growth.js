// A cache of keys, grown by a token a step: what lies in its memory, what each step writes, and what is said of it.
// `cat` makes a new tensor of all tokens so far. In place, the token is written into a tensor of full length. In blocks, it
// is written into the last block of its sequence, or into a new one of a pool; to be read, the blocks are gathered. Then
// attention reads the keys, and `@` may clone them. tests/course/test_cache_explorer.py compares each step with torch.

import {
  contiguousStride,
  grouped,
  product,
  range,
  sum,
  tuple,
  viewStride,
} from "../page/layout.js";

export const ROOM = 8; // tokens of the picture,
export const LONG = 512; // and of the curves
export const SIZES = { tokens: [0, ROOM], batch: [1, 2], heads: [1, 3] };
export const BLOCKS = [2, 4];
export const ORDERS = ["heads first", "tokens first"];
export const ATTENTION = ["@", "SDPA"];
export const CHOICES = {
  ...Object.fromEntries(
    Object.entries(SIZES).map(([name, [least, most]]) => [
      name,
      range(most - least + 1).map((k) => least + k),
    ]),
  ),
  block: BLOCKS,
  order: ORDERS,
  attention: ATTENTION,
};
export const EXAMPLE = {
  tokens: 0,
  batch: 1,
  heads: 1,
  block: 2,
  order: ORDERS[0],
  attention: "@",
};
export const WAYS = ["cat", "in place", "blocks"];
export const DIM = 64;
const ITEMSIZE = 4;

const isFirst = ({ order }) => order === ORDERS[0];
const inner = (s, tokens) => (isFirst(s) ? [s.heads, tokens] : [tokens, s.heads]);
const bytes = (shape) => product(shape) * ITEMSIZE;
const exchanged = ([a, b, c, d]) => [a, c, b, d];

/** The keys (batch, heads, tokens, dim) as attention gets them, and the bytes copied to read them. */
export function keys(s, way, tokens, room = LONG) {
  if (way !== "blocks") {
    const stride = contiguousStride([s.batch, ...inner(s, way === "cat" ? tokens : room), DIM]);
    return {
      stride: isFirst(s) ? stride : exchanged(stride),
      copied: 0,
      shape: [s.batch, s.heads, tokens, DIM],
    };
  }
  const count = Math.ceil(tokens / s.block);
  const all = count * s.block;
  const copied = bytes([s.batch, s.heads, all, DIM]);
  const shape = [s.batch, s.heads, tokens, DIM];
  if (!isFirst(s))
    return { shape, stride: exchanged(contiguousStride([s.batch, all, s.heads, DIM])), copied };
  // pool[table] is (batch, count, heads, block, dim): heads come forward, and each head's blocks merge, or are copied.
  const [b, n, h, t, d] = contiguousStride([s.batch, count, s.heads, s.block, DIM]);
  const wanted = [s.batch, s.heads, all, DIM];
  const merged = viewStride(
    [s.batch, s.heads, count, s.block, DIM],
    [b, h, n, t, d],
    wanted,
  ).stride;
  return {
    shape,
    stride: merged ?? contiguousStride(wanted),
    copied: merged ? copied : 2 * copied,
  };
}

export function written(s, way, tokens) {
  const row = bytes([s.batch, s.heads, DIM]);
  const { shape, stride, copied } = keys(s, way, tokens);
  const merges = viewStride(shape, stride, [s.batch * s.heads, tokens, DIM]).stride; // to one batch dim
  return {
    kept: way === "cat" ? tokens * row : row,
    gathered: copied,
    cloned: s.attention === "@" && !merges ? bytes(shape) : 0,
  };
}

const total = (s, way, tokens) => sum(Object.values(written(s, way, tokens)));

/** For each way, the bytes that all steps up to each have written, up to LONG tokens. */
export function curves(s) {
  return Object.fromEntries(
    WAYS.map((way) => {
      let all = 0;
      return [way, [0, ...range(LONG).map((k) => (all += total(s, way, k + 1)))]];
    }),
  );
}

/** The numbers of the pool's blocks, in the order in which they are handed out. */
function pool({ batch, block }) {
  const all = range((batch * ROOM) / block);
  return [...all.filter((n) => n % 2), ...all.filter((n) => n % 2 === 0)];
}

export function tables(s) {
  const free = pool(s);
  const count = Math.ceil(s.tokens / s.block);
  return range(s.batch).map((b) => range(count).map((k) => free[k * s.batch + b]));
}

/** Each head and token of one piece of memory, as they lie. */
const places = (s, tokens) =>
  isFirst(s)
    ? range(s.heads).flatMap((h) => range(tokens).map((t) => [h, t]))
    : range(tokens).flatMap((t) => range(s.heads).map((h) => [h, t]));

/** The vectors in a way's memory, [sequence, head, token], one after the other; null where nothing was written yet. */
export function boxes(s, way) {
  if (way !== "blocks")
    return range(s.batch).flatMap((b) =>
      places(s, way === "cat" ? s.tokens : ROOM).map((place) =>
        place[1] < s.tokens ? [b, ...place] : null,
      ),
    );
  const owners = new Map(tables(s).flatMap((row, b) => row.map((n, k) => [n, [b, k]])));
  return range(pool(s).length).flatMap((n) => {
    const [b, k] = owners.get(n) ?? [0, LONG];
    return places(s, s.block).map(([h, t]) =>
      k * s.block + t < s.tokens ? [b, h, k * s.block + t] : null,
    );
  });
}

/** How many boxes a row of the picture has: a head's tokens, a token's heads, or a block. */
export const rowOf = (s, way) =>
  way === "blocks" ? s.heads * s.block : isFirst(s) ? (way === "cat" ? s.tokens : ROOM) : s.heads;
export const label = (vector) => (vector ? `${"abc"[vector[1]]}${vector[2]}` : "");

export function now(s, way) {
  if (!s.tokens) return ["nothing is written yet"];
  const { kept, gathered, cloned } = written(s, way, s.tokens);
  const old = way === "cat" && s.tokens > 1 ? `, ${s.tokens - 1} of ${s.tokens} tokens again` : "";
  return [
    `keep: ${grouped(kept)} bytes${old}`,
    ...(gathered ? [`pool[table]: ${grouped(gathered)} bytes`] : []),
    cloned
      ? `@ clones ${grouped(cloned)} bytes`
      : `${s.attention} reads ${gathered ? "that" : "them"} without a copy`,
  ];
}

export function whole(found) {
  const ends = WAYS.map((way) => `${way} ${grouped(found[way][LONG])}`).join(", ");
  const times = Number((found.cat[LONG] / found["in place"][LONG]).toPrecision(4));
  return `${LONG} tokens write, in bytes: ${ends}. cat writes ${times} times as much as in place.`;
}

const WHERE = { cat: "of cat's tape", "in place": "in place", blocks: "of the pool" };

/** Where one vector lies in each memory, in boxes. */
export function place(s, [b, h, t]) {
  const name = `Sequence ${b}, head ${h}, token ${t}`;
  if (t >= s.tokens) return `${name}: not written yet.`;
  const at = (way) => boxes(s, way).findIndex((vector) => String(vector) === String([b, h, t]));
  const spots = WAYS.map((way) => `box ${at(way)} ${WHERE[way]}`);
  return `${name}: ${spots.join(", ")}, each labelled ${label([b, h, t])}.`;
}

export function told(s) {
  const totals = curves(s);
  return [
    `CacheExplorer: ${s.tokens} tokens, batch ${s.batch}, heads ${s.heads}, blocks of ${s.block}, ${s.order}, read by ${s.attention}`,
    ...WAYS.map(
      (way) => `${way}: ${now(s, way).join("; ")}; ${grouped(totals[way][s.tokens])} bytes so far`,
    ),
    whole(totals),
  ];
}

export function code(s) {
  const first = isFirst(s);
  const shape = (outer, tokens) => tuple([outer, ...inner(s, tokens), DIM]);
  const [at, key] = first ? [":, :, t : t + 1", "k[:, :, 0]"] : [":, t : t + 1", "k[:, 0]"];
  const [merged, turn] = first
    ? ["transpose(1, 2).flatten(2, 3)", ""]
    : ["flatten(1, 2)", ".transpose(1, 2)"];
  const free = pool(s);
  const upto = `${turn}[:, :, :${s.tokens}]`;
  return [
    "import torch",
    `cat, ready = torch.empty${shape(s.batch, 0)}, torch.empty${shape(s.batch, ROOM)}`,
    `pool, free = torch.empty${shape(free.length, s.block)}, torch.tensor([${free.join(", ")}])`,
    `for t in range(${s.tokens}):`,
    `    k = torch.rand${shape(s.batch, 1)}`,
    `    cat = torch.cat([cat, k], ${first ? 2 : 1})`,
    `    ready[${at}] = k`,
    `    table = free[: ${s.batch} * (t // ${s.block} + 1)].view(-1, ${s.batch}).t()`,
    `    pool[table[:, -1], ${first ? ":, " : ""}t % ${s.block}] = ${key}`,
    ...(s.tokens
      ? [
          `q = torch.rand(${s.batch}, ${s.heads}, 1, ${DIM})`,
          `blocks = pool[table].${merged}`,
          `for keys in (cat${turn}, ready${upto}, blocks${upto}):`,
          s.attention === "@"
            ? "    print((q @ keys.mT).shape)"
            : "    print(torch.nn.functional.scaled_dot_product_attention(q, keys, keys).shape)",
        ]
      : []),
  ].join("\n");
}

/** The settings, the bytes that all steps so far have written, and those of the last one's copies. */
export function facts(s) {
  const last = (way) => (s.tokens ? written(s, way, s.tokens) : { gathered: 0, cloned: 0 });
  const [cat, inPlace, blocks] = WAYS.map((way) => ({
    ...last(way),
    written: sum(range(s.tokens).map((k) => total(s, way, k + 1))),
  }));
  return {
    ...s,
    cat_written: cat.written,
    in_place_written: inPlace.written,
    blocks_written: blocks.written,
    cat_cloned: cat.cloned,
    in_place_cloned: inPlace.cloned,
    blocks_gathered: blocks.gathered,
  };
}
