// CacheExplorer: the same tokens in three memories, and the curves of the bytes that they write.
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
  ORDERS,
  place,
  ROOM,
  rowOf,
  SIZES,
  stepOf,
  WAYS,
  whole,
} from "./growth.js";

/** @import { State, Vector, Way } from "./growth.js" */

/** @typedef {ReturnType<typeof curves>} Totals */

const STACKED = 560; // px: below this, the memories stand below one another
const BETWEEN = 16; // px from memory to memory
const MEMORY = 226; // px of height for the boxes of a memory
const GAP = 2; // px from box to box,
const APART = 5; // and more between sequences or blocks
const BOX = { least: 9, most: 18 }; // px of height
const PLAY_MS = 900; // for a token
const ABOVE = [0, -44]; // px from its place, from where a box comes that a step writes

export function render(view) {
  const shell = createShell(view, {
    label: "cache explorer",
    kind: "sk-cache",
    draw,
    code,
    moves: true,
    facts,
  });
  const { id, motion } = shell;
  /** @type {Vector} */
  let followed = [0, 0, 0];

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
  const [tokensSlider] = sizes.node.children;
  sizes.node.prepend(h("div", { class: "sk-playing" }, player.node, tokensSlider));
  const choices = createSettings({ order: ORDERS, attention: ATTENTION, block: BLOCKS }, change);
  const hand = {
    onHover: shell.hover,
    onMove(vector) {
      if (!vector) return;
      followed = vector;
      shell.hovered = null;
      draw();
    },
  };
  const panes = WAYS.map((way) => createPane(`${id}-${way.replace(" ", "-")}`, way, hand));
  const chart = svg("svg", {
    height: CHART_HEIGHT,
    role: "img",
    "aria-label": "bytes written, by tokens",
  });
  const [idea, where] = paragraphs("sk-idea", "sk-place");
  const row = h("div", { class: "sk-ways" }, ...panes.map(({ node }) => node));

  // The curves depend on all settings but the number of tokens, and are computed when one of these
  // changes.
  let settingsOfCurves = "";
  /** @type {Totals} */
  let totals;

  function draw() {
    /** @type {State} */
    const state = shell.state();
    const { tokens, ...rest } = state;
    const settings = String(Object.values(rest));
    if (settings !== settingsOfCurves) totals = curves(state);
    settingsOfCurves = settings;
    sizes.draw(state, { tokens: `${tokens} of ${ROOM}` });
    choices.draw(state);
    player.draw(true);

    const spot = shell.hovered ?? followedIn(state);
    const isStacked = shell.width < STACKED;
    set(row, "data-stacked", String(isStacked));
    const width = isStacked ? shell.width : Math.floor((shell.width - 2 * BETWEEN) / 3);
    for (const pane of panes) pane.draw(state, spot, totals, width);

    const across = Math.min(WIDEST, shell.width - NAMES - SCALE);
    set(chart, "width", String(SCALE + across + NAMES));
    fill(chart, ...chartOf(totals, tokens, across));
    set(idea, "text", whole(totals));
    set(where, "text", place(state, spot));
    move(state);
    const steps = WAYS.map((way) => `${way}: ${stepOf(state, way).join(", ")}`);
    shell.speak(`${tokens} tokens. ${steps.join(". ")}.`);
  }

  /** @type {State | null} */
  let drawn = null;

  /**
   * All boxes that the newest token's step writes come to their places, side by side in the three
   * memories: with cat, these are the boxes of all tokens.
   * @param {State} state
   */
  function move(state) {
    if (JSON.stringify(state) === JSON.stringify(drawn)) return;
    const oneLess = JSON.stringify({ ...state, tokens: state.tokens - 1 });
    const isNext = JSON.stringify(drawn) === oneLess;
    drawn = state;
    if (!state.tokens) {
      motion.forget();
      return;
    }
    motion.remember(state, () => ({
      layers: panes.map(({ node }) => node),
      moves: panes.flatMap(({ written }) => written(state)),
    }));
    if (isNext) motion.play(player.stay());
  }

  /**
   * The vector that is followed, or the nearest one that exists.
   *
   * @param {State} state
   * @returns {Vector}
   */
  function followedIn({ batch, heads, tokens }) {
    const [b, head, t] = followed;
    return [
      Math.min(b, batch - 1),
      Math.min(head, heads - 1),
      Math.min(t, Math.max(tokens, 1) - 1),
    ];
  }

  const first = h("div", { class: "sk-head" }, ...Object.values(choices.nodes));

  return shell.open(first, sizes.node, row, where, h("div", { class: "sk-chart" }, chart), idea);
}

// The memory of one way ---------------------------------------------------------------------------

/**
 * @param {string} id
 * @param {Way} way
 */
function createPane(id, way, hand) {
  const strip = createElements(id, {
    label: `the memory of ${way}`,
    gap: GAP,
    narrowest: 16,
    ...hand,
  });
  const node = h("div", { class: "sk-way" });

  /**
   * @param {State} state
   * @param {Vector} spot
   * @param {Totals} totals
   * @param {number} width
   */
  function draw(state, spot, totals, width) {
    const vectors = boxes(state, way);
    layOut(vectors.length, state, width);
    show(strip.node, vectors.length > 0);
    strip.put(vectors.map((vector) => boxOf(vector, state)));
    strip.light({ spot: String(spot), selected: String(spot), isLit: () => false });
    set(strip.node, "data-fit", strip.boxWidth() >= 24 ? "11" : "9");

    const sentences = stepOf(state, way).map((text) => [
      "li",
      { text, "data-copies": String(/again|pool|clones/.test(text)) },
    ]);
    fill(
      node,
      ["strong", { text: way }],
      ["ul", { class: "sk-written" }, ...sentences],
      ["p", { class: "sk-total", text: `${grouped(totals[way][state.tokens])} bytes so far` }],
      ["p", { class: "sk-note", text: "no memory yet", hidden: vectors.length ? "" : null }],
      strip.node,
    );
  }

  /** Lay out the boxes in rows, with a gap between sequences or blocks. */
  function layOut(count, state, width) {
    const perRow = Math.max(rowOf(state, way), 1);
    const rows = count / perRow;
    const rowsTogether = way === "blocks" ? 1 : Math.max(rows / state.batch, 1);
    const groups = Math.ceil(rows / rowsTogether);
    const fair = Math.floor((MEMORY - (groups - 1) * APART) / Math.max(rows, 1)) - GAP;
    strip.layOut(count, perRow, Math.min(width, perRow * 34), {
      height: Math.max(BOX.least, Math.min(fair, BOX.most)),
      rows: [rowsTogether, APART],
    });
  }

  /** @param {State} state */
  function written(state) {
    const moves = [];
    for (const [k, vector] of boxes(state, way).entries()) {
      if (!vector) continue;
      const [b, head, token] = vector;
      const isNew = token === state.tokens - 1;
      // Boxes of the three memories that hold the same vector set off together.
      const turn = (b * state.heads + head) * ROOM + token;
      if (!isNew && way !== "cat") continue;
      moves.push({
        box: strip.box(k),
        start: ABOVE,
        turn,
        isNew: true,
        isStraight: true,
        wasThere: !isNew,
      });
    }
    return moves;
  }

  return { node, draw, written };
}

/**
 * @param {Vector | null} vector
 * @param {State} state
 */
function boxOf(vector, { tokens }) {
  if (!vector) return { element: null, text: "", says: "empty", kind: "sk-empty" };
  const [b, head, t] = vector;
  return {
    element: vector,
    text: label(vector),
    says: `sequence ${b}, head ${head}, token ${t}`,
    kind: `sk-r${head}${t === tokens - 1 ? " is-new" : ""}`,
  };
}

// The chart: bytes of all steps, on even scales from 0. A curve that lies on the floor writes next
// to nothing.

const WIDEST = 600; // px of the curves
const HEIGHT = 104; // px down to their floor
const CHART_HEIGHT = HEIGHT + 26; // px, with the ticks below
const SCALE = 56; // px left of the curves
const NAMES = 120; // px right of them
const TOP = 12; // px above them
const TICKS = range(5).map((k) => (k * LONG) / 4);
const STEPS = range(65).map((k) => (k * LONG) / 64);

/**
 * The nodes of the chart.
 *
 * @param {Totals} totals
 * @param {number} tokens
 * @param {number} width
 */
function chartOf(totals, tokens, width) {
  const most = Math.max(...WAYS.map((way) => totals[way][LONG]));
  const right = SCALE + width;
  const across = (t) => (SCALE + (t / LONG) * width).toFixed(1);
  const down = (bytes) => HEIGHT - (bytes / most) * (HEIGHT - TOP);

  const levels = levelsUpTo(most).flatMap((bytes) => {
    const y = down(bytes).toFixed(1);
    const text = bytes ? inMegabytes(bytes) : "0";
    return [
      ["line", { class: "sk-level", x1: SCALE, x2: right, y1: y, y2: y }],
      tick(text, SCALE - 6, (down(bytes) + 4).toFixed(1), "end"),
    ];
  });
  const lines = WAYS.map((way, k) => {
    const points = STEPS.map((t) => `${across(t)},${down(totals[way][t]).toFixed(1)}`);
    return ["polyline", { class: `sk-d${k}`, points: points.join(" ") }];
  });
  const ticks = TICKS.map((t) =>
    t < LONG
      ? tick(String(t), across(t), HEIGHT + 20, "middle")
      : tick(`${t} tokens`, across(t), HEIGHT + 20, "start"),
  );
  return [
    ["g", {}, ...levels],
    ...lines,
    ["line", { class: "sk-now", y1: TOP, y2: HEIGHT, x1: across(tokens), x2: across(tokens) }],
    ...namesOf(totals, right, down),
    ...ticks,
  ];
}

const tick = (text, x, y, anchor) => [
  "text",
  { class: "sk-tick", x, y, "text-anchor": anchor, text },
];

/** At most three even steps of bytes, and 0. */
function levelsUpTo(most) {
  const power = 10 ** Math.floor(Math.log10(most / 3));
  const factor = [1, 2, 5].find((n) => most / (n * power) <= 3) ?? 10;
  const step = factor * power;
  return range(Math.floor(most / step) + 1).map((k) => k * step);
}

/**
 * The names at the ends of the curves, from the lowest up, each 14 px or more above the one before.
 */
function namesOf(totals, x, down) {
  const ends = WAYS.map((way, k) => ({ way, k, y: down(totals[way][LONG]) }));
  ends.sort((a, b) => b.y - a.y);
  let y = Infinity;
  return ends.map((end) => {
    y = Math.min(end.y + 4, y - 14);
    const text = `${end.way}: ${inMegabytes(totals[end.way][LONG])}`;
    return ["text", { class: `sk-d${end.k}`, x, y: y.toFixed(1), text }];
  });
}

const inMegabytes = (bytes) => `${Number((bytes / 1e6).toPrecision(3))} MB`;
