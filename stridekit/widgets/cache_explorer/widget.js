// CacheExplorer: the same tokens in three memories, and the curves of what they write.
//
// The state in the model is the settings; the vector that is followed belongs to this view.

import { ATTENTION, BLOCKS, LONG, ORDERS, ROOM, SIZES, WAYS, boxes, code, curves, facts, grouped, label, now, place, rowOf, whole } from "./growth.js";
import { h, pool, s as svg, set } from "../page/dom.js";
import { createSetting, createSlider } from "../page/panels.js";
import { createPlayer } from "../page/player.js";
import { createShell } from "../page/shell.js";
import { createStrip } from "../page/strip.js";

const STACKED = 560; // px: below this, the memories stand below one another
const BETWEEN = 20;
const PLAY_MS = 900; // for a token
const CHART = [600, 104]; // px at most
const [SCALE, NAMES, TOP] = [56, 120, 12]; // px beside it and above it
const TICKS = [0, LONG / 4, LONG / 2, (3 * LONG) / 4, LONG];
const STEPS = Array.from({ length: 65 }, (_, k) => (k * LONG) / 64);

function render({ model, el }) {
  const shell = createShell({ model, el }, {
    label: "cache explorer", kind: "sk-cache", traits: ["_state"], draw,
    code: () => code(model.get("_state")), facts,
  });
  const { id } = shell;
  const state = () => model.get("_state");
  let followed = [0, 0, 0]; // sequence, head, token
  let hovered = null;

  function change(changed) {
    player.stop();
    shell.change({ ...state(), ...changed });
  }

  const player = createPlayer({
    left: () => ROOM - state().tokens,
    step: () => shell.change({ ...state(), tokens: state().tokens + 1 }),
    rewind: () => shell.change({ ...state(), tokens: 0 }),
    redraw: draw,
    pause: () => PLAY_MS,
  });
  const sliders = Object.entries(SIZES).map(([name, [min, max]]) => [name,
    createSlider(`${id}-${name}`, name, { min, max, onInput: (value) => change({ [name]: value }) })]);
  const choices = Object.entries({ order: ORDERS, attention: ATTENTION, block: BLOCKS }).map(([name, values]) => [name,
    createSetting(name, values, (value) => change({ [name]: value }))]);
  const panes = WAYS.map((way) => createPane(`${id}-${way.replace(" ", "-")}`, way, {
    onHover: (vector) => {
      hovered = vector;
      draw();
    },
    onMove: (vector) => {
      [followed, hovered] = [vector, null];
      draw();
    },
  }));
  const chart = createChart();
  const idea = h("p", { class: "sk-idea" });
  const where = h("p", { class: "sk-place" });

  let known = "";
  let totals = null;

  function draw() {
    const s = state();
    const { tokens, ...rest } = s;
    if (String(Object.values(rest)) !== known) totals = curves(s);
    known = String(Object.values(rest));
    for (const [name, slider] of sliders) slider.draw(s[name], name === "tokens" ? `${tokens} of ${ROOM}` : undefined);
    for (const [name, choice] of choices) choice.draw(s[name]);
    player.draw(true);
    const [b, head, t] = followed;
    const spot = hovered ?? [Math.min(b, s.batch - 1), Math.min(head, s.heads - 1), Math.min(t, Math.max(tokens - 1, 0))];
    const isStacked = shell.width < STACKED;
    set(row, "data-stacked", String(isStacked));
    const width = isStacked ? shell.width : Math.floor((shell.width - 2 * BETWEEN) / 3);
    panes.forEach((pane) => pane.draw(s, spot, totals, width));
    chart.draw(totals, tokens, shell.width);
    set(idea, "text", whole(totals));
    set(where, "text", place(s, spot));
    shell.speak(`${tokens} tokens. ${WAYS.map((way) => `${way}: ${now(s, way).join(", ")}`).join(". ")}.`);
  }

  const first = h("div", { class: "sk-head" }, ...choices.map(([, choice]) => choice.node));
  const sizes = h("div", { class: "sk-sizes", role: "group", "aria-label": "sizes" },
    h("div", { class: "sk-playing" }, player.node, h("div", { class: "sk-slider" }, ...sliders[0][1].nodes)),
    ...sliders.slice(1).map(([, { nodes }]) => h("div", { class: "sk-slider" }, ...nodes)));
  const row = h("div", { class: "sk-ways" }, ...panes.map(({ node }) => node));
  shell.atEnd(player.stop);
  return shell.open(first, sizes, row, where, chart.node, idea);
}

/** One way: its memory, and what the last step has written. */
function createPane(id, way, hand) {
  let found = [];
  const strip = createStrip(id, { label: `the memory of ${way}`, gap: 2, narrowest: 16, of: (k) => found[k] ?? null,
    onHover: hand.onHover, onMove: (vector) => vector && hand.onMove(vector) });
  const lines = h("ul", { class: "sk-written" });
  const line = pool(lines, () => h("li"));
  const total = h("p", { class: "sk-total" });
  const empty = h("p", { class: "sk-note", text: "no memory yet" });
  const node = h("div", { class: "sk-way" }, h("strong", { text: way }), lines, total, empty, strip.node);
  return {
    node,
    draw(s, spot, totals, width) {
      found = boxes(s, way);
      const perRow = Math.max(rowOf(s, way), 1);
      const rows = found.length / perRow;
      const height = rows > 8 ? 13 : 18;
      strip.layOut(found.length, perRow, Math.min(width, perRow * 34), { height, rows: [way === "blocks" ? 1 : Math.max(rows / s.batch, 1), 5] });
      set(strip.node, "hidden", found.length ? null : "");
      set(empty, "hidden", found.length ? "" : null);
      const isSpot = (vector) => String(vector) === String(spot);
      strip.draw((k) => {
        const vector = found[k];
        if (!vector) return { text: "", says: "empty", kind: "sk-empty" };
        const [b, head, t] = vector;
        const kind = `sk-r${head}${t === s.tokens - 1 ? " is-new" : ""}${isSpot(vector) ? " is-here" : ""}`;
        return { text: label(vector), says: `sequence ${b}, head ${head}, token ${t}`, kind };
      }, Math.max(found.findIndex((vector) => vector && isSpot(vector)), 0));
      set(strip.node, "data-fit", strip.boxWidth() >= 24 ? "11" : "9");
      const said = now(s, way);
      line(said.length).forEach((item, k) => {
        set(item, "text", said[k]);
        set(item, "data-copies", String(/again|pool|clones/.test(said[k])));
      });
      set(total, "text", `${grouped(totals[way][s.tokens])} bytes so far`);
    },
  };
}

/** What all steps have written, on even scales from 0: a curve that lies on the floor writes next to nothing. */
function createChart() {
  const [widest, height] = CHART;
  const figure = svg("svg", { height: height + 20, role: "img", "aria-label": "bytes written, by tokens" });
  const floor = svg("g");
  const level = pool(floor, () => {
    const parts = [svg("line", { class: "sk-level", x1: SCALE }), svg("text", { class: "sk-tick", x: SCALE - 6, "text-anchor": "end" })];
    const node = svg("g");
    node.append(...parts);
    return Object.assign(node, { parts });
  });
  const lines = WAYS.map((_, k) => svg("polyline", { class: `sk-way${k}` }));
  const marker = svg("line", { class: "sk-now", y1: TOP, y2: height });
  const names = WAYS.map((_, k) => svg("text", { class: `sk-name${k}` }));
  const ticks = TICKS.map((t) => Object.assign(svg("text", { class: "sk-tick", y: height + 15, "text-anchor": t ? "middle" : "start" }),
    { textContent: t ? String(t) : "0 tokens" }));
  figure.append(floor, ...lines, marker, ...names, ...ticks);
  const node = h("div", { class: "sk-chart" });
  node.append(figure);
  return {
    node,
    draw(totals, tokens, room) {
      const width = Math.min(widest, room - NAMES - SCALE);
      const most = Math.max(...WAYS.map((way) => totals[way][LONG]));
      const across = (t) => (SCALE + (t / LONG) * width).toFixed(1);
      const down = (n) => height - (n / most) * (height - TOP);
      const step = [1, 2, 5, 10].map((n) => n * 10 ** Math.floor(Math.log10(most / 3))).find((n) => most / n <= 3);
      level(Math.floor(most / step) + 1).forEach(({ parts: [line, text] }, k) => {
        for (const end of ["y1", "y2"]) set(line, end, down(k * step).toFixed(1));
        set(line, "x2", String(SCALE + width));
        set(text, "y", (down(k * step) + 4).toFixed(1));
        set(text, "text", k ? inMegabytes(k * step) : "0");
      });
      set(figure, "width", String(SCALE + width + NAMES));
      WAYS.forEach((way, k) => set(lines[k], "points", STEPS.map((t) => `${across(t)},${down(totals[way][t]).toFixed(1)}`).join(" ")));
      const ends = WAYS.map((way, k) => [down(totals[way][LONG]), k]).sort(([a], [b]) => b - a);
      let below = Infinity;
      for (const [y, k] of ends) {
        below = Math.min(y + 4, below - 14);
        set(names[k], "x", String(SCALE + width + 8));
        set(names[k], "y", below.toFixed(1));
        set(names[k], "text", `${WAYS[k]}: ${inMegabytes(totals[WAYS[k]][LONG])}`);
      }
      TICKS.forEach((t, k) => set(ticks[k], "x", across(t)));
      for (const end of ["x1", "x2"]) set(marker, end, across(tokens));
    },
  };
}

const inMegabytes = (n) => `${Number((n / 1e6).toPrecision(3))} MB`;

export default { render };
