// AttentionExplorer: what attention copies on its way, in five boxes, over the memories that they leave.
// The state in the model is the settings and {followed}; the box under the pointer belongs to this view.

import { fill, h, paragraphs, set, show } from "../page/dom.js";
import { range, tuple } from "../page/layout.js";
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

const STACKED = 560; // px: below this, the boxes stand below one another
const BETWEEN = 14;
const [NARROWEST, TOUCHED, WIDEST, GAP] = [14, 20, 34, 1]; // a box and its gap: under a mouse, stacked, at most
const KEYS = { qkv: "qb is q of head 1", attention: "; b2: head 1, token 2" };
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
const MEMORIES = {
  qkv: "the memory of qkv",
  rotary: "the memory after rotary",
  attention: "the memory of out",
  merge: "the memory of y",
};

export function render(view) {
  const shell = createShell(view, {
    label: "attention explorer",
    kind: "sk-attention",
    draw,
    code,
    facts,
  });
  const { id, state } = shell;
  const hand = {
    onHover: (element) => shell.hover(element && sourceOf(element)),
    onMove: (element) => shell.put({ followed: sourceOf(element) }),
  };

  const choices = createSettings(
    { attention: ATTENTION, packing: PACKINGS, rotary: ROTARY },
    choose,
  );
  const groups = createChips("heads of k and v", (kv_heads) => choose({ kv_heads }));
  const sizes = createSizes(id, "sizes", SIZES, choose);
  const boxes = range(5).map(() => h("div", { class: "sk-step" }));
  const shown = Object.entries(MEMORIES).map(([name, title]) => [
    name,
    createMemory(id, name, title, hand),
  ]);
  const [qkv, ...others] = shown.map(([, memory]) => memory);
  const first = h("div", { class: "sk-cut" }, h("div", {}, boxes[0], qkv.says), boxes[1]);
  const rest = h(
    "div",
    { class: "sk-rest" },
    ...others.map((memory, k) => h("div", {}, boxes[k + 2], memory.says, memory.node)),
  );
  const [idea, where] = paragraphs("sk-idea", "sk-place");
  const whys = h("ul", { class: "sk-reasons" });

  function draw() {
    const s = state();
    const spot = shell.hovered ?? s.followed;
    choices.draw(s);
    groups.draw(
      kvChoices(s.heads, s.packing).map((n) => ({
        text: String(n),
        isPressed: n === s.kv_heads,
        value: n,
      })),
    );
    sizes.draw(s);
    const made = steps(s);
    made.forEach((step, k) => fill(boxes[k], ...stepBox(step, k === 0)));
    const isStacked = shell.width < STACKED;
    for (const node of [first, rest]) set(node, "data-stacked", String(isStacked));
    const parts = memories(s, spot[0]);
    const width = isStacked ? shell.width : Math.floor((shell.width - 2 * BETWEEN) / 3);
    for (const [name, memory] of shown)
      memory.layOut(parts[name], s, name === "qkv" ? shell.width : width, isStacked);
    set(idea, "text", summary(made));
    fill(whys, ...made.flatMap((step) => step.why).map((text) => ["li", { text }]));
    const goes = reached(s, spot);
    const isLit = ([part, ...index]) =>
      (part === "out" || part === "y") && index.every((i, d) => goes[d][0] <= i && i < goes[d][1]);
    for (const [name, memory] of shown) {
      const own = { attention: "out", merge: "y" }[name];
      const here = ([part, ...index]) =>
        own && part !== "q" ? "" : String([own ?? part, ...index]);
      memory.draw({ spot: here(spot), selected: here(s.followed), isLit });
    }
    const said = place(s, spot);
    set(where, "text", said);
    shell.speak(`${said} ${idea.textContent}`);
  }

  /** Heads are grouped only as 3HD, and by what divides them. */
  function choose(changed) {
    const before = state();
    const next = { ...before, ...changed };
    const isGrouped = before.kv_heads < before.heads;
    if (
      changed.kv_heads === undefined &&
      (!isGrouped || !kvChoices(next.heads, next.packing).includes(next.kv_heads))
    )
      next.kv_heads = next.heads;
    shell.change({ ...next, followed: inside(next, before.followed) });
  }

  // One question at a time: its setting alone, or all of them with the code of each step.
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
  const asked = h("div", { class: "sk-head" }, ...Object.values(settings));
  return shell.open(
    h("div", {}, named("change", ideas.node), asked),
    first,
    qkv.node,
    rest,
    idea,
    whys,
    where,
  );
}

const stepBox = ({ name, arrows, tensors, note, code: lines }, isFirst) => [
  [
    "div",
    { class: "sk-stephead" },
    ...(isFirst ? [] : [["span", { text: "→ ", "aria-hidden": "true" }]]),
    ["strong", { text: name }],
    [
      "span",
      { class: "sk-arrows" },
      ...arrows.map((arrow) => ["span", { text: arrowText(arrow), "data-word": arrow.word }]),
    ],
  ],
  [
    "ul",
    { class: "sk-tensors" },
    ...Object.entries(tensors).map(([called, { shape, stride, storage_offset: start }]) => [
      "li",
      {},
      ["b", { text: called }],
      ["span", { text: tuple(shape) }],
      ["span", { text: `stride ${tuple(stride)}${name === "heads" ? ` offset ${start}` : ""}` }],
    ]),
  ],
  ["p", { class: "sk-note", text: note }],
  ["code", { text: lines.join("\n") }],
];

const rowsOf = (many) => (many === 1 ? "a row is a token" : `${many} rows are a token`);
/** The name of an element in its tensor: y has its heads merged. */
const nameOf = ([part, b, h, t, d], dim) =>
  `${part}[${(part === "y" ? [b, t, h * dim + d] : [b, h, t, d]).join(", ")}]`;
/** The element of q, k or v that stands for one of any memory. */
const sourceOf = ([part, ...index]) => [part === "out" || part === "y" ? "q" : part, ...index];

/** A memory: its elements in boxes, in rows as long as a token's. `memory` is its name in flow.js. */
function createMemory(id, memory, title, hand) {
  const strip = createElements(`${id}-${memory}`, {
    label: title,
    gap: GAP,
    narrowest: NARROWEST,
    ...hand,
  });
  const says = h("p", { class: "sk-order" });
  return {
    node: h("div", { class: "sk-memory" }, strip.node),
    says,
    draw: strip.light,
    layOut(parts, s, width, isStacked) {
      const all = cells(parts);
      const row = all.length / (s.batch * s.tokens);
      for (const part of [strip.node, says]) show(part, all.length);
      strip.put([]);
      if (!all.length) return strip.layOut(0, 1, width);
      const least = isStacked ? TOUCHED : NARROWEST;
      const perRow = range(row)
        .map((k) => k + 1)
        .findLast((k) => row % k === 0 && k <= Math.max(width / least, 1));
      const rows = all.length / perRow;
      const height = isStacked ? 22 : rows <= 4 ? 18 : rows <= 6 ? 14 : 12;
      strip.layOut(all.length, perRow, Math.min(width, perRow * WIDEST), {
        rows: [rows / s.batch, 5],
        height,
      });
      strip.put(
        range(rows).flatMap((r) => {
          const here = all.slice(r * perRow, (r + 1) * perRow);
          return labels(memory, here).map((text, k) => ({
            text,
            element: here[k],
            kind: `sk-r${here[k][2]}`,
            says: `${nameOf(here[k], s.dim)}: element ${r * perRow + k}`,
          }));
        }),
      );
      set(strip.node, "data-fit", strip.boxWidth() >= 17 ? "11" : "9");
      const [name, x] = Object.entries(parts)[0];
      return set(
        says,
        "text",
        memory === "qkv"
          ? `${rowsOf(row / perRow)}; ${KEYS.qkv}`
          : `${name}, ${order(x)}${KEYS[memory] ?? ""}`,
      );
    },
  };
}
