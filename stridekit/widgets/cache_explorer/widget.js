// CacheExplorer: the same tokens in three memories, and the curves of what they write.
// The state in the model is the settings; the vector that is followed belongs to this view.

import { fill, h, paragraphs, set, show, s as svg } from "../page/dom.js";
import { grouped, range } from "../page/layout.js";
import { createElements, createPlayer, createSettings, createSizes } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import {
  ATTENTION,
  BLOCKS,
  boxes,
  code,
  curves,
  facts,
  LONG,
  label,
  now,
  ORDERS,
  place,
  ROOM,
  rowOf,
  SIZES,
  WAYS,
  whole,
} from "./growth.js";

const STACKED = 560; // px: below this, the memories stand below one another
const BETWEEN = 20;
const PLAY_MS = 900; // for a token
const [WIDEST, HEIGHT] = [600, 104]; // px of the chart,
const [SCALE, NAMES, TOP] = [56, 120, 12]; // and beside it and above it
const TICKS = range(5).map((k) => (k * LONG) / 4);
const STEPS = range(65).map((k) => (k * LONG) / 64);

export function render(view) {
  const shell = createShell(view, { label: "cache explorer", kind: "sk-cache", draw, code, facts });
  const { id, state } = shell;
  let followed = [0, 0, 0]; // sequence, head, token

  function change(changed) {
    player.stop();
    shell.put(changed);
  }

  const player = createPlayer(shell, "tokens", { most: () => ROOM, pause: () => PLAY_MS });
  const sizes = createSizes(
    id,
    "sizes",
    Object.entries(SIZES).map(([name, [min, max]]) => [name, { min, max }]),
    change,
  );
  const [tokens] = sizes.node.children;
  sizes.node.prepend(h("div", { class: "sk-playing" }, player.node, tokens));
  const choices = createSettings({ order: ORDERS, attention: ATTENTION, block: BLOCKS }, change);
  const hand = {
    onHover: shell.hover,
    onMove(vector) {
      if (!vector) return;
      [followed, shell.hovered] = [vector, null];
      draw();
    },
  };
  const panes = WAYS.map((way) => createPane(`${id}-${way.replace(" ", "-")}`, way, hand));
  const chart = svg("svg", {
    height: HEIGHT + 26,
    role: "img",
    "aria-label": "bytes written, by tokens",
  });
  const [idea, where] = paragraphs("sk-idea", "sk-place");
  const row = h("div", { class: "sk-ways" }, ...panes.map(({ node }) => node));

  let [known, totals] = ["", null];

  function draw() {
    const s = state();
    const { tokens: count, ...rest } = s;
    const settings = String(Object.values(rest));
    if (settings !== known) totals = curves(s);
    known = settings;
    sizes.draw(s, { tokens: `${count} of ${ROOM}` });
    choices.draw(s);
    player.draw(true);
    const spot =
      shell.hovered ??
      [s.batch, s.heads, Math.max(count, 1)].map((size, k) => Math.min(followed[k], size - 1));
    const isStacked = shell.width < STACKED;
    set(row, "data-stacked", String(isStacked));
    const width = isStacked ? shell.width : Math.floor((shell.width - 2 * BETWEEN) / 3);
    for (const pane of panes) pane.draw(s, spot, totals, width);
    const across = Math.min(WIDEST, shell.width - NAMES - SCALE);
    set(chart, "width", String(SCALE + across + NAMES));
    fill(chart, ...chartOf(totals, count, across));
    set(idea, "text", whole(totals));
    set(where, "text", place(s, spot));
    shell.speak(
      `${count} tokens. ${WAYS.map((way) => `${way}: ${now(s, way).join(", ")}`).join(". ")}.`,
    );
  }

  const first = h("div", { class: "sk-head" }, ...Object.values(choices.nodes));

  return shell.open(first, sizes.node, row, where, h("div", { class: "sk-chart" }, chart), idea);
}

function createPane(id, way, hand) {
  const strip = createElements(id, {
    label: `the memory of ${way}`,
    gap: 2,
    narrowest: 16,
    ...hand,
  });
  const node = h("div", { class: "sk-way" });
  return {
    node,
    draw(s, spot, totals, width) {
      const vectors = boxes(s, way);
      const perRow = Math.max(rowOf(s, way), 1);
      const rows = vectors.length / perRow;
      const apart = [way === "blocks" ? 1 : Math.max(rows / s.batch, 1), 5];
      strip.layOut(vectors.length, perRow, Math.min(width, perRow * 34), {
        height: rows > 8 ? 13 : 18,
        rows: apart,
      });
      show(strip.node, vectors.length);
      strip.put(
        vectors.map((vector) => {
          if (!vector) return { element: null, text: "", says: "empty", kind: "sk-empty" };
          const [b, head, t] = vector;
          const kind = `sk-r${head}${t === s.tokens - 1 ? " is-new" : ""}`;
          return {
            element: vector,
            text: label(vector),
            says: `sequence ${b}, head ${head}, token ${t}`,
            kind,
          };
        }),
      );
      strip.light({ spot: String(spot), selected: String(spot), isLit: () => false });
      set(strip.node, "data-fit", strip.boxWidth() >= 24 ? "11" : "9");
      fill(
        node,
        ["strong", { text: way }],
        [
          "ul",
          { class: "sk-written" },
          ...now(s, way).map((text) => [
            "li",
            { text, "data-copies": String(/again|pool|clones/.test(text)) },
          ]),
        ],
        ["p", { class: "sk-total", text: `${grouped(totals[way][s.tokens])} bytes so far` }],
        ["p", { class: "sk-note", text: "no memory yet", hidden: vectors.length ? "" : null }],
        strip.node,
      );
    },
  };
}

/** What all steps have written, on even scales from 0: a curve that lies on the floor writes next to nothing. */
function chartOf(totals, tokens, width) {
  const most = Math.max(...WAYS.map((way) => totals[way][LONG]));
  const right = SCALE + width;
  const across = (t) => (SCALE + (t / LONG) * width).toFixed(1);
  const down = (n) => HEIGHT - (n / most) * (HEIGHT - TOP);
  const step = [1, 2, 5, 10]
    .map((n) => n * 10 ** Math.floor(Math.log10(most / 3)))
    .find((n) => most / n <= 3);
  const levels = range(Math.floor(most / step) + 1).map((k) => k * step);
  const ends = WAYS.map((way, k) => [down(totals[way][LONG]), way, k]).sort(([a], [b]) => b - a);
  let below = Infinity;
  return [
    [
      "g",
      {},
      ...levels.map((n) => [
        "g",
        {},
        [
          "line",
          {
            class: "sk-level",
            x1: SCALE,
            x2: right,
            y1: down(n).toFixed(1),
            y2: down(n).toFixed(1),
          },
        ],
        [
          "text",
          {
            class: "sk-tick",
            x: SCALE - 6,
            "text-anchor": "end",
            y: (down(n) + 4).toFixed(1),
            text: n ? inMegabytes(n) : "0",
          },
        ],
      ]),
    ],
    ...WAYS.map((way, k) => [
      "polyline",
      {
        class: `sk-d${k}`,
        points: STEPS.map((t) => `${across(t)},${down(totals[way][t]).toFixed(1)}`).join(" "),
      },
    ]),
    ["line", { class: "sk-now", y1: TOP, y2: HEIGHT, x1: across(tokens), x2: across(tokens) }],
    ...ends.map(([y, way, k]) => {
      below = Math.min(y + 4, below - 14);
      return [
        "text",
        {
          class: `sk-d${k}`,
          x: right + 8,
          y: below.toFixed(1),
          text: `${way}: ${inMegabytes(totals[way][LONG])}`,
        },
      ];
    }),
    ...TICKS.map((t) => [
      "text",
      {
        class: "sk-tick",
        y: HEIGHT + 20,
        x: across(t),
        "text-anchor": t < LONG ? "middle" : "start",
        text: t < LONG ? String(t) : `${t} tokens`,
      },
    ]),
  ];
}

const inMegabytes = (n) => `${Number((n / 1e6).toPrecision(3))} MB`;
