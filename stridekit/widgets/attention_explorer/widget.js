// AttentionExplorer: what attention copies on its way, in five boxes, over the memories that they leave.
//
// The state in the model is the settings and {followed}; the box under the pointer belongs to this view.

import { ATTENTION, PACKINGS, ROTARY, code, facts, inside, kvChoices, memories, place, reached, steps, summary } from "./flow.js";
import { createMemory, createSizes, createStep, sourceOf } from "./panes.js";
import { h, pool, set } from "../page/dom.js";
import { createChips, createChoice, createSetting, named } from "../page/panels.js";
import { createShell } from "../page/shell.js";

const STACKED = 560; // px: below this, the boxes stand below one another
const BETWEEN = 14;
const IDEAS = [
  ["attention", "attention"], ["packing", "packing"], ["rotary", "rotary"], ["shared", "shared heads"], ["sizes", "sizes"],
  ["all", "everything"],
];
const MEMORIES = {
  qkv: "the memory of qkv", rotary: "the memory after rotary", attention: "the memory of out", merge: "the memory of y",
};

function render({ model, el }) {
  const shell = createShell({ model, el }, {
    label: "attention explorer", kind: "sk-attention", traits: ["_state"], draw,
    forget: () => (hovered = null), // the hovered element may not exist in a new shape
    code: () => code(model.get("_state")), facts,
  });
  const { id } = shell;
  const state = () => model.get("_state");
  const hand = { onHover: hover, onMove: (element) => shell.change({ ...state(), followed: sourceOf(element) }) };
  let hovered = null; // the element under the pointer

  const packing = createSetting("packing", PACKINGS, (value) => choose({ packing: value }));
  const attention = createSetting("attention", ATTENTION, (value) => choose({ attention: value }));
  const rotary = createSetting("rotary", ROTARY, (value) => choose({ rotary: value }));
  const groups = createChips("heads of k and v", (kv_heads) => choose({ kv_heads }));
  const grouped = named("heads of k and v", groups.node);
  const sizes = createSizes(id, choose);
  const boxes = ["linear", "heads", "rotary", "attention", "merge"].map((_, k) => createStep(k === 0));
  const shown = Object.entries(MEMORIES).map(([name, title]) => [name, createMemory(id, name, title, hand)]);
  const [qkv, ...others] = shown.map(([, memory]) => memory);
  const first = h("div", { class: "sk-cut" }, h("div", {}, boxes[0].node, qkv.says), boxes[1].node);
  const rest = h("div", { class: "sk-rest" }, ...others.map((memory, k) => h("div", {}, boxes[k + 2].node, memory.says, memory.node)));
  const idea = h("p", { class: "sk-idea" });
  const whys = h("ul", { class: "sk-reasons" });
  const why = pool(whys, () => h("li"));
  const where = h("p", { class: "sk-place" });

  let laidOut = "";

  function draw() {
    const s = state();
    const spot = hovered ?? s.followed;
    layOut(s, spot[0]);
    const goes = reached(s, spot);
    const isLit = ([part, ...index]) =>
      (part === "out" || part === "y") && index.every((i, d) => goes[d][0] <= i && i < goes[d][1]);
    const selected = String(s.followed);
    for (const [name, memory] of shown) {
      const own = { attention: "out", merge: "y" }[name];
      const here = (element) => (own ? (element[0] === "q" ? String([own, ...element.slice(1)]) : "") : String(element));
      memory.draw({ spot: here(spot), selected: own ? here(s.followed) : selected, isLit });
    }
    const said = place(s, spot);
    set(where, "text", said);
    shell.speak(`${said} ${idea.textContent}`);
  }

  /** Redraw what depends on the settings or the width: choices, boxes, the places of all elements, reasons. */
  function layOut(s, part) {
    const { followed, ...settings } = s;
    const now = `${Object.values(settings)} ${shell.width} ${part === "k"}`;
    if (now === laidOut) return;
    laidOut = now;
    packing.draw(s.packing);
    attention.draw(s.attention);
    rotary.draw(s.rotary);
    groups.draw(kvChoices(s.heads, s.packing).map((n) => ({ text: String(n), isPressed: n === s.kv_heads, value: n })));
    sizes.draw(s);
    const found = steps(s);
    found.forEach((step, k) => boxes[k].draw(step));
    const isStacked = shell.width < STACKED;
    for (const node of [first, rest]) set(node, "data-stacked", String(isStacked));
    const parts = memories(s, part);
    qkv.layOut(parts.qkv, s, shell.width, isStacked);
    const width = isStacked ? shell.width : Math.floor((shell.width - 2 * BETWEEN) / 3);
    shown.slice(1).forEach(([name, memory]) => memory.layOut(parts[name], s, width, isStacked));
    set(idea, "text", summary(found));
    const reasons = found.flatMap((step) => step.why);
    why(reasons.length).forEach((line, k) => set(line, "text", reasons[k]));
  }

  function hover(element) {
    const next = element && sourceOf(element);
    if (String(next) === String(hovered)) return;
    hovered = next;
    draw();
  }

  /** Heads are grouped only as 3HD, and by what divides them. */
  function choose(changed) {
    const before = state();
    const next = { ...before, ...changed };
    const isGrouped = before.kv_heads < before.heads;
    if (changed.kv_heads === undefined && (!isGrouped || !kvChoices(next.heads, next.packing).includes(next.kv_heads)))
      next.kv_heads = next.heads;
    shell.change({ ...next, followed: inside(next, before.followed) });
  }

  // One question at a time: its setting alone, or all of them with the code of each step.
  const ideas = createChoice("what to change", IDEAS, (name) => {
    chosen = name;
    showIdea();
  });
  const settings = { attention: attention.node, packing: packing.node, rotary: rotary.node, shared: grouped, sizes: sizes.node };
  const asked = h("div", { class: "sk-head" }, ...Object.values(settings));
  let chosen = IDEAS[0][0];

  function showIdea() {
    const isAll = chosen === "all";
    ideas.draw(chosen);
    for (const [name, node] of Object.entries(settings)) set(node, "hidden", isAll || name === chosen ? null : "");
    for (const node of [first, rest]) set(node, "data-plain", isAll ? null : "");
  }

  showIdea();
  return shell.open(h("div", {}, named("change", ideas.node), asked), first, qkv.node, rest, idea, whys, where);
}

export default { render };
