// AttentionExplorer: the copies of attention, in five boxes, over the memories that they leave. The
// state in the model is the settings and {followed}; the box under the pointer belongs to this
// view.

import { fill, h, paragraphs, set, show } from "../page/dom.js";
import { range, tuple } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import {
  createChips,
  createChoice,
  createElements,
  createSettings,
  createSizes,
  named,
} from "../page/panels.js";
import { createShell } from "../page/shell.js";
import {
  ATTENTION,
  arrowText,
  cells,
  code,
  facts,
  inside,
  kvChoices,
  labels,
  MOST,
  memories,
  order,
  PACKINGS,
  place,
  ROTARY,
  reached,
  steps,
  summary,
} from "./flow.js";

/** @import { Element, State, Step } from "./flow.js" */

const STACKED = 560; // px: below this, the boxes stand below one another
const BETWEEN = 12; // px from pane to pane
const NARROWEST = 14; // px of a box with its gap, under a mouse,
const TOUCHED = 20; // stacked, under a finger,
const WIDEST = 34; // and at most
const GAP = 1; // px
const SIZES = [
  ...Object.entries(MOST).map(([name, max]) => [name, { min: 1, max }]),
  ["dim", { min: 2, max: 4, step: 2 }],
];
const IDEAS = [
  ["attention", "attention"],
  ["packing", "packing"],
  ["rotary", "rotary"],
  ["shared", "shared heads"],
  ["sizes", "sizes"],
  ["all", "everything"],
];

export function render(view) {
  const shell = createShell(view, {
    label: "attention explorer",
    kind: "sk-attention",
    draw,
    code,
    moves: true,
    facts,
  });
  const { id, motion } = shell;
  const hand = {
    onHover: (element) => shell.hover(element && sourceOf(element)),
    onMove: (element) => shell.put({ followed: sourceOf(element) }),
  };

  const choices = createSettings(
    { attention: ATTENTION, packing: PACKINGS, rotary: ROTARY },
    chooseAndMove,
  );
  const groups = createChips("heads of k and v", (kv_heads) => chooseAndMove({ kv_heads }));
  const sizes = createSizes(id, "sizes", SIZES, choose);
  const boxes = range(5).map(() => h("div", { class: "sk-step" }));
  const qkv = createMemory(id, "qkv", "the memory of qkv", hand);
  const others = [
    createMemory(id, "rotary", "the memory after rotary", hand),
    createMemory(id, "attention", "the memory of out", hand),
    createMemory(id, "merge", "the memory of y", hand),
  ];
  const first = h("div", { class: "sk-cut" }, h("div", {}, boxes[0], qkv.caption), boxes[1]);
  const rest = h(
    "div",
    { class: "sk-rest" },
    ...others.map((memory, k) => h("div", {}, boxes[k + 2], memory.caption, memory.node)),
  );
  const [idea, where] = paragraphs("sk-idea", "sk-place");
  const reasons = h("ul", { class: "sk-reasons" });

  function draw() {
    /** @type {State} */
    const state = shell.state();
    const spot = shell.hovered ?? state.followed;
    const path = steps(state);
    drawSettings(state);
    path.forEach((step, k) => {
      fill(boxes[k], ...stepBox(step, k === 0));
    });
    drawMemories(state, spot);
    set(idea, "text", summary(path));
    fill(reasons, ...path.flatMap((step) => step.why).map((text) => ["li", { text }]));
    const sentence = place(state, spot);
    set(where, "text", sentence);
    const { followed, ...chosen } = state;
    remember(JSON.stringify(chosen), path);
    shell.speak(`${sentence} ${idea.textContent}`);
  }

  /**
   * The values go from memory to memory. Bytes that are written go one by one, each to its own
   * place. A view of them, which only reads them in another way, goes as one piece.
   * @param {string} settingsNow
   * @param {Step[]} path
   */
  function remember(settingsNow, path) {
    if (settingsNow === remembered) return;
    remembered = settingsNow;
    const isView = path[4].arrows[0].word === "view";
    motion.remember(settingsNow, () => {
      const [turned, out, y] = others;
      const first = turned.count() ? turned : qkv;
      const moves = [
        ...written(qkv, turned),
        ...written(first, out),
        ...written(out, y, isView ? Infinity : undefined),
      ];
      return { layers: others.map(({ node }) => node), moves };
    });
  }
  let remembered = "";

  /** The boxes of a memory come from those of the memory before, which hold the same values. */
  function written(before, after, turn) {
    const moves = [];
    for (const k of range(after.count())) {
      const origin = before.boxOf(after.sourceAt(k));
      const box = after.box(k);
      if (origin) moves.push({ box, start: wayFrom(origin, box), turn, isNew: true });
    }
    return moves;
  }

  /** Another choice, not a drag of a slider: the values move. */
  function chooseAndMove(changed) {
    const before = remembered;
    choose(changed);
    if (remembered !== before) motion.play();
  }

  function drawSettings(state) {
    choices.draw(state);
    const counts = kvChoices(state.heads, state.packing);
    groups.draw(
      counts.map((n) => ({ text: String(n), isPressed: n === state.kv_heads, value: n })),
    );
    sizes.draw(state);
  }

  /** Draw all memories, with the followed element and the part of out and y that it goes into. */
  function drawMemories(state, spot) {
    const isStacked = shell.width < STACKED;
    for (const node of [first, rest]) set(node, "data-stacked", String(isStacked));
    const tensors = memories(state, spot[0]);
    const third = isStacked ? shell.width : Math.floor((shell.width - 2 * BETWEEN) / 3);
    const ranges = reached(state, spot);
    const isLit = ([part, ...index]) =>
      (part === "out" || part === "y") &&
      index.every((i, d) => ranges[d][0] <= i && i < ranges[d][1]);
    for (const memory of [qkv, ...others]) {
      const width = memory === qkv ? shell.width : third;
      memory.layOut(tensors[memory.name], state, width, isStacked);
      memory.light(spot, state.followed, isLit);
    }
  }

  /** Change a setting. Heads are grouped only as 3HD, and by a number that divides them. */
  function choose(changed) {
    /** @type {State} */
    const before = shell.state();
    const next = { ...before, ...changed };
    const isGrouped = before.kv_heads < before.heads;
    const fits = kvChoices(next.heads, next.packing).includes(next.kv_heads);
    if (changed.kv_heads === undefined && !(isGrouped && fits)) next.kv_heads = next.heads;
    shell.change({ ...next, followed: inside(next, before.followed) });
  }

  // One question at a time: its setting alone, or all settings with the code of each step.
  const ideas = createChoice("what to change", IDEAS, showIdea);
  const settings = {
    ...choices.nodes,
    shared: named("heads of k and v", groups.node),
    sizes: sizes.node,
  };

  function showIdea(chosen) {
    const isAll = chosen === "all";
    ideas.draw(chosen);
    for (const [name, node] of Object.entries(settings)) show(node, isAll || name === chosen);
    for (const node of [first, rest]) set(node, "data-plain", isAll ? null : "");
  }

  showIdea("attention");
  const questions = h("div", { class: "sk-head" }, ...Object.values(settings));
  const flow = h("div", { class: "sk-flow sk-pane" }, first, qkv.node, rest);
  return shell.open(
    named("change", ideas.node),
    h("div", { class: "sk-bounded" }, questions, flow, idea, reasons, where),
  );
}

// A step ------------------------------------------------------------------------------------------

/** @param {Step} step */
function stepBox({ name, arrows, tensors, note, code: lines }, isFirst) {
  const pointer = ["span", { text: "→ ", "aria-hidden": "true" }];
  const words = arrows.map((arrow) => [
    "span",
    { text: arrowText(arrow), "data-word": arrow.word },
  ]);
  const rows = Object.entries(tensors).map(([tensor, { shape, stride, storage_offset }]) => {
    const start = name === "heads" ? ` offset ${storage_offset}` : "";
    return [
      "li",
      {},
      ["b", { text: tensor }],
      ["span", { text: tuple(shape) }],
      ["span", { text: `stride ${tuple(stride)}${start}` }],
    ];
  });
  return [
    [
      "div",
      { class: "sk-stephead" },
      ...(isFirst ? [] : [pointer]),
      ["strong", { text: name }],
      ["span", { class: "sk-arrows" }, ...words],
    ],
    ["ul", { class: "sk-tensors" }, ...rows],
    ["p", { class: "sk-note", text: note }],
    ["code", { text: lines.join("\n") }],
  ];
}

// A memory: its elements in boxes, in rows as long as a token's -----------------------------------

// The tensor whose elements follow q, by the name of its memory in flow.js.
const OUTPUTS = { attention: "out", merge: "y" };

/** The element of q, k or v that stands for an element of any memory. */
const sourceOf = ([part, ...index]) => [part === "out" || part === "y" ? "q" : part, ...index];

/** The name of an element in its tensor: y has its heads merged. */
function nameOf([part, b, h, t, d], dim) {
  const index = part === "y" ? [b, t, h * dim + d] : [b, h, t, d];
  return `${part}[${index.join(", ")}]`;
}

function createMemory(id, name, title, hand) {
  const strip = createElements(`${id}-${name}`, {
    label: title,
    gap: GAP,
    narrowest: NARROWEST,
    ...hand,
  });
  const caption = h("p", { class: "sk-order" });
  /** @type {string[]} */
  let sources = []; // the element of q, k or v that stands for each box

  /**
   * @param {Record<string, any>} tensors
   * @param {State} state
   * @param {number} width
   * @param {boolean} isStacked
   */
  function layOut(tensors, state, width, isStacked) {
    const elements = cells(tensors);
    sources = elements.map((element) => String(sourceOf(element)));
    for (const node of [strip.node, caption]) show(node, elements.length > 0);
    strip.put([]);
    if (!elements.length) {
      strip.layOut(0, 1, width);
      return;
    }
    const perToken = elements.length / (state.batch * state.tokens);
    const fitting = Math.max(width / (isStacked ? TOUCHED : NARROWEST), 1);
    const perRow = largestDivisor(perToken, fitting);
    const rows = elements.length / perRow;
    strip.layOut(elements.length, perRow, Math.min(width, perRow * WIDEST), {
      rows: [rows / state.batch, 5],
      height: isStacked ? 22 : heightOf(rows),
    });
    strip.put(
      range(rows).flatMap((r) => {
        const row = elements.slice(r * perRow, (r + 1) * perRow);
        return labels(name, row).map((text, k) => ({
          text,
          element: row[k],
          kind: `sk-r${row[k][2]}`,
          says: `${nameOf(row[k], state.dim)}: element ${r * perRow + k}`,
        }));
      }),
    );
    set(strip.node, "data-fit", strip.boxWidth() >= 17 ? "11" : "9");
    set(caption, "text", captionOf(name, tensors, perToken / perRow));
  }

  /**
   * @param {Element} spot
   * @param {Element} followed
   */
  function light(spot, followed, isLit) {
    strip.light({ spot: keyIn(name, spot), selected: keyIn(name, followed), isLit });
  }

  return {
    name,
    node: strip.node,
    caption,
    layOut,
    light,
    box: strip.box,
    count: () => sources.length,
    /** @param {number} k */
    sourceAt: (k) => sources[k],
    /** The box that holds the value of an element. */
    boxOf(source) {
      const k = sources.indexOf(source);
      return k < 0 ? null : strip.box(k);
    },
  };
}

/** The key of the box that an element of q, k or v has in a memory; "" if it has none. */
function keyIn(memory, [part, ...index]) {
  const output = OUTPUTS[memory];
  if (!output) return String([part, ...index]);
  return part === "q" ? String([output, ...index]) : "";
}

/** The largest divisor of n that is at most `most`. */
function largestDivisor(n, most) {
  let divisor = Math.min(n, Math.floor(most));
  while (n % divisor) divisor -= 1;
  return divisor;
}

/** The height of a box in px. */
function heightOf(rows) {
  if (rows <= 4) return 20;
  return rows <= 6 ? 17 : 12;
}

function captionOf(memory, tensors, rowsPerToken) {
  if (memory === "qkv") {
    const rows = rowsPerToken === 1 ? "a row is a token" : `${rowsPerToken} rows are a token`;
    return `${rows}; qb is q of head 1`;
  }
  const [[tensor, x]] = Object.entries(tensors);
  const key = memory === "attention" ? "; b2: head 1, token 2" : "";
  return `${tensor}, ${order(x)}${key}`;
}
