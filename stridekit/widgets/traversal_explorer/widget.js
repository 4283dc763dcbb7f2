// TraversalExplorer: one scrubber over one or two walks, or a warp in their place.
// The state in the model is {walks, visit, cache_lines, alignment, warp}. Each view plays on its own.

import { fill, fit, h, paragraphs, s, set, setAll, show } from "../page/dom.js";
import { CACHE_LINE, counted, dimOrder, numel, range, reach, tuple } from "../page/layout.js";
import { createChips, createPlayer, createSelect, createSlider, terms } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import {
  CACHE_SIZES,
  code,
  comparison,
  countsOf,
  EXAMPLE,
  facts,
  ITEMSIZES,
  LANES,
  laneBytes,
  orderName,
  PRESETS,
  SECTOR,
  sectorsOf,
  visitSentence,
  visitsOf,
  warpSentence,
} from "./traversal.js";

const PLAY_MS = 8000; // for a whole walk, if an eye can follow it
const GAP = 32; // between the panes
const NARROW = 760; // below this, one pane stands under the other

const WARP_LESSON =
  "32 threads of a GPU read in step, and memory comes in sectors of 32 bytes: neighbours share them. " +
  "Lane t reads element t · stride + offset.";

const LEGEND =
  "A row is a cache line of 64 bytes. ● it is in the cache, ○ it has left, ×2 it was loaded twice. " +
  "Above, a stroke for each visit: tall ones are misses, short ones hits.";

const mostVisits = ({ walks }) => Math.max(...walks.map(numel));
const numbersOf = (walks) =>
  String(walks.flatMap(({ name, ...numbers }) => Object.entries(numbers).sort()));

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "traversal explorer",
      kind: "sk-traversal",
      traits: ["_given", "_note"],
      draw,
      code,
      facts,
    },
  );
  const { id, state, put: change } = shell;
  let lastWarp = EXAMPLE.warp;

  const presets = createChips("walks to start from", pick);

  const most = () => mostVisits(state());
  const player = createPlayer(shell, "visit", {
    most,
    pause: () => Math.max(40, Math.min(250, PLAY_MS / most())),
  });
  const scrub = createSlider(`${id}-visit`, "visit", {
    onInput(visit) {
      player.stop();
      change({ visit });
    },
  });
  const scrubber = h("div", { class: "sk-scrubber" }, player.node, ...scrub.nodes);
  const cache = createSelect(
    `${id}-cache`,
    "cache",
    CACHE_SIZES.map((n) => counted(n, "line")),
    (k) => change({ cache_lines: CACHE_SIZES[k] }),
  );
  const itemsize = createSelect(
    `${id}-itemsize`,
    "itemsize",
    ITEMSIZES.map((n) => counted(n, "byte")),
    (k) => {
      const walks = state().walks.map((walk) => ({ ...walk, itemsize: ITEMSIZES[k] }));
      change({ walks, alignment: aligned(ITEMSIZES[k]) });
    },
  );
  const shift = createSlider(`${id}-alignment`, "alignment", {
    onInput: (alignment) => change({ alignment }),
  });
  const controls = h(
    "div",
    { class: "sk-controls" },
    cache.node,
    itemsize.node,
    h("div", { class: "sk-choice" }, ...shift.nodes),
  );

  const [note, verdict] = paragraphs("sk-note sk-lesson", "sk-verdict");
  const paneNodes = [0, 1].map((k) =>
    createWalkPane(`${id}-${k}`, {
      onOrder: (order) => change({ walks: state().walks.with(k, { ...state().walks[k], order }) }),
    }),
  );
  const panes = h("div", { class: "sk-panes" }, ...paneNodes.map((pane) => pane.node));
  const legend = h("p", { class: "sk-note sk-legend", text: LEGEND });
  const walksNode = h("div", {}, scrubber, controls, panes, verdict, legend);
  const warpPane = createWarpPane(id, {
    onChange: (changes) => change({ warp: { ...state().warp, ...changes } }),
  });

  function draw() {
    const now = state();
    const { walks, warp, visit, cache_lines, alignment } = now;
    const known = [...model.get("_given"), ...PRESETS];
    const current = warp
      ? null
      : known.find((preset) => numbersOf(preset.walks) === numbersOf(walks));
    presets.draw([
      ...known.map((preset) => ({
        text: preset.name,
        isPressed: preset === current,
        value: preset,
      })),
      { text: "a GPU's warp", isPressed: Boolean(warp), value: null },
    ]);
    set(note, "text", warp ? WARP_LESSON : current?.lesson || model.get("_note"));
    show(walksNode, !warp);
    show(warpPane.node, warp);
    if (warp) {
      player.stop();
      lastWarp = warp;
      return shell.speak(warpPane.draw(warp, shell.width));
    }
    const most = mostVisits(now);
    const size = Math.max(...walks.map((walk) => walk.itemsize));
    scrub.draw(visit, `${visit} of ${most}`, {
      max: most,
      "aria-valuetext": `${visit} of ${most}`,
    });
    player.draw(most > 0);
    cache.select.selectedIndex = CACHE_SIZES.indexOf(cache_lines);
    itemsize.select.selectedIndex = ITEMSIZES.indexOf(size);
    const says = `${alignment} bytes after the start of a line`;
    shift.draw(alignment, `${alignment} bytes`, {
      max: 64 - size,
      step: size,
      "aria-valuetext": says,
    });

    const beside = walks.length > 1 && shell.width >= NARROW;
    const width = Math.min(beside ? Math.floor((shell.width - GAP) / 2) : shell.width, 620);
    set(panes, "style", `--pane:${width}px`);
    show(paneNodes[1].node, walks.length > 1);
    const [left, right] = walks.map((walk, k) => paneNodes[k].draw(walk, now, width));
    const sides = beside ? ["left", "right"] : ["upper", "lower"];
    const words = right ? comparison(left.counts, right.counts, sides) : "";
    set(verdict, "text", words && `${words[0].toUpperCase()}${words.slice(1)}.`);
    return shell.speak(
      right ? `${sides[0]} ${left.words}; ${sides[1]} ${right.words}; ${words}` : left.words,
    );
  }

  function pick(preset) {
    player.stop();
    if (!preset) return change({ warp: lastWarp });
    const { walks } = preset;
    return change({
      walks,
      visit: mostVisits(preset),
      alignment: aligned(walks[0].itemsize),
      warp: null,
    });
  }

  /** The alignment, rounded down to where an element of this size may begin. */
  const aligned = (size) => state().alignment - (state().alignment % size);

  return shell.open(presets.node, note, walksNode, warpPane.node);
}

// One walk on the lines that it loads. Only the choice of its order takes the focus: the scrubber moves both ---

const MOST_LINES = 40; // drawn; more are counted below
const HEIGHT = 240; // of all lines together, so that they fit one screen
const ONE_COLUMN = 12; // up to so many lines the numbers in the boxes can be read
const WHOLE_SPAN = 16; // up to this span, untouched lines in between are drawn too
const NAME = 54; // width of the column left of the bytes
const LOADS = 52; // and of the one right of them
const BETWEEN = 16; // two columns of lines
const STROKES = 26; // height of the visits' strokes

const permutations = (dims) =>
  dims.length < 2
    ? [dims]
    : dims.flatMap((d) =>
        permutations(dims.filter((other) => other !== d)).map((rest) => [d, ...rest]),
      );

export function createWalkPane(id, { onOrder }) {
  const [name, numbers] = [h("strong"), h("span", { class: "sk-numbers" })];
  const loops = createSelect(`${id}-order`, "loops", [], (k) => onOrder(options[k]));
  const order = loops.select;
  const stats = h("dl", { class: "sk-stats" });
  const list = h("ol", { class: "sk-lines" });
  const [more, sentence] = paragraphs("sk-note", "sk-sentence");
  const strokes = s("svg", { class: "sk-strokes", "aria-hidden": "true", height: String(STROKES) });
  const node = h(
    "div",
    { class: "sk-walk", role: "group" },
    h("div", { class: "sk-walk-head" }, name, numbers),
    loops.node,
    stats,
    strokes,
    sentence,
    list,
    more,
  );

  let options = [];

  function draw(walk, { visit, cache_lines, alignment }, width) {
    const visits = visitsOf(walk, cache_lines, alignment);
    const upto = Math.min(visit, visits.length);
    const counts = countsOf(visits, walk.itemsize, upto);
    const words = visitSentence(walk, visits, upto);
    set(node, "aria-label", `${walk.name}, ${orderName(walk.order)}`);
    set(name, "text", walk.name);
    set(numbers, "text", `shape ${tuple(walk.shape)}, stride ${tuple(walk.stride)}`);
    const torchs = String(dimOrder(walk));
    options = permutations(range(walk.shape.length));
    fill(
      order,
      ...options.map((dims) => [
        "option",
        { text: orderName(dims) + (String(dims) === torchs ? " · torch's order" : "") },
      ]),
    );
    order.selectedIndex = options.findIndex((dims) => String(dims) === String(walk.order));
    order.disabled = options.length < 2;
    fill(
      stats,
      ...terms([
        ["visits", counts.visits],
        [
          "lines loaded",
          counts.misses,
          { "data-many": counts.misses > counts.lines ? "true" : null },
        ],
        ["would do", counts.lines],
        ["bytes used / loaded", `${counts.bytes_used} / ${counts.bytes_loaded}`],
      ]),
    );
    drawLines(walk, visits, upto, new Set(visits[upto - 1]?.cached), alignment, width);
    const step = width / Math.max(visits.length, 1);
    const paths = { rest: "", misses: "", hits: "" };
    visits.forEach(({ hit }, k) => {
      const [kind, high] = k >= upto ? ["rest", 2] : hit ? ["hits", 6] : ["misses", STROKES - 4];
      paths[kind] += `M${(step * (k + 0.5)).toFixed(1)},${STROKES - 2}v-${high}`;
    });
    setAll(strokes, {
      width: String(width),
      style: `--thick:${Math.max(1, Math.min(step - 1, 7))}px`,
    });
    fill(
      strokes,
      ...Object.entries(paths).map(([kind, d]) => ["path", { class: `sk-${kind}`, d }]),
    );
    set(sentence, "text", words);
    set(sentence, "data-hit", upto ? String(visits[upto - 1].hit) : null);
    return { counts, words };
  }

  function drawLines(walk, visits, upto, cached, alignment, width) {
    const { itemsize } = walk;
    // All lines from the first to the last if they are few, else the touched ones; many lines still fit one screen.
    const touched = [...new Set(visits.map(({ line }) => line))].sort((a, b) => a - b);
    const span = touched.length ? touched.at(-1) - touched[0] + 1 : 0;
    const all = span <= WHOLE_SPAN ? range(span).map((k) => touched[0] + k) : touched;
    const [lines, left] = [all.slice(0, MOST_LINES), Math.max(all.length - MOST_LINES, 0)];
    const columns = lines.length > ONE_COLUMN && width >= 380 ? 2 : 1;
    const rows = Math.ceil(lines.length / columns);
    const height = Math.max(12, Math.min(26, Math.floor(HEIGHT / rows)));
    const wide = Math.floor((width - (columns - 1) * BETWEEN) / columns);
    const boxWidth = ((wide - NAME - LOADS) / CACHE_LINE) * itemsize;
    const isWritten = boxWidth >= 14 && height >= 20;
    const inner = walk.shape.at(-1) ?? 1;
    const done = visits.slice(0, upto);
    const seen = new Set(done.map(({ element }) => element));
    const at = (byte, size) =>
      `left:${(byte / CACHE_LINE) * 100}%;width:${(size / CACHE_LINE) * 100}%`;
    const tintOf = (element, k) =>
      seen.has(element)
        ? ` sk-r${Math.floor(k / inner) % 6}${element === done.at(-1).element ? " is-here" : ""}`
        : "";
    const boxes = [...reach(walk).owners]
      .reverse()
      .map(([element, [k]]) => ({ element, k, byte: alignment + element * itemsize }))
      .filter(({ byte }) => lines.includes(Math.floor(byte / CACHE_LINE)));
    const before = alignment
      ? [["span", { class: "sk-before", style: at(0, alignment), title: "before the storage" }]]
      : [];
    set(more, "text", left ? `and ${counted(left, "more line")}` : "");
    set(list, "class", boxWidth < 10 ? "sk-lines is-narrow" : "sk-lines");
    set(list, "style", `--row:${height}px;--down:${rows};--name:${NAME}px;--loads:${LOADS}px`);
    fit(
      list,
      boxes.map(({ element }) => String(element)),
      boxWidth,
    );
    fill(
      list,
      ...lines.map((line) => {
        const count = done.filter((visit) => visit.line === line && !visit.hit).length;
        const isHeld = cached.has(line);
        const says = `cache line ${line}: loaded ${counted(count, "time")}${isHeld ? ", in the cache" : ""}`;
        const own = boxes
          .filter(({ byte }) => Math.floor(byte / CACHE_LINE) === line)
          .map(({ element, k, byte }) => [
            "span",
            { class: `sk-byte-box${tintOf(element, k)}`, style: at(byte % CACHE_LINE, itemsize) },
            ["span", { text: isWritten ? String(element) : "" }],
          ]);
        return [
          "li",
          { "data-held": isHeld ? "in" : count ? "out" : null, "aria-label": says },
          ["span", { class: "sk-line-name", text: `line ${line}` }],
          ["span", { class: "sk-bytes" }, ...own, ...(line ? [] : before)],
          [
            "span",
            { class: "sk-loads", text: `×${count}`, "data-many": count > 1 ? "true" : null },
          ],
          ["span", { class: "sk-held", text: isHeld ? "●" : count ? "○" : "" }],
        ];
      }),
    );
  }

  return { node, draw };
}

// A GPU's warp: 32 lanes above, the 32-byte sectors that they touch below, and a line from each lane to its bytes ---

const LANE_HEIGHT = 28;
const DOWN = 96; // from the lanes down to the sectors
const WIDEST = 120; // a sector

function createWarpPane(id, { onChange }) {
  const itemsize = createSelect(
    `${id}-warp-itemsize`,
    "itemsize",
    ITEMSIZES.map((size) => counted(size, "byte")),
    (k) => onChange({ itemsize: ITEMSIZES[k] }),
  );
  const sliders = [
    ["stride", 32],
    ["offset", 31],
  ].map(([what, max]) => ({
    what,
    ...createSlider(`${id}-warp-${what}`, what, {
      max,
      onInput: (value) => onChange({ [what]: value }),
    }),
  }));
  const controls = h(
    "div",
    { class: "sk-controls" },
    itemsize.node,
    ...sliders.map(({ nodes }) => h("div", { class: "sk-choice" }, ...nodes)),
  );
  const ties = s("path", { class: "sk-ties" });
  const drawing = s("svg", { class: "sk-warp-ties" }, ties);
  const slots = h("div");
  const stage = h("div", { class: "sk-warp-stage", "aria-hidden": "true" });
  const stats = h("dl", { class: "sk-stats" });
  const sentence = h("p", { class: "sk-sentence" });
  const node = h(
    "div",
    { class: "sk-warp", role: "group", "aria-label": "a warp on its sectors" },
    controls,
    stats,
    stage,
    sentence,
  );

  function draw(warp, width) {
    itemsize.select.selectedIndex = ITEMSIZES.indexOf(warp.itemsize);
    for (const slider of sliders) slider.draw(warp[slider.what]);
    const { sectors, touched: count, minimum, bytesUsed, bytesLoaded } = sectorsOf(warp);
    const touched = [...new Set(sectors)];
    const [top, lane] = [LANE_HEIGHT + DOWN, Math.floor(width / LANES)];
    const sector = Math.min(WIDEST, Math.floor(width / count)); // side by side
    const inner = sector - (sector > 40 ? 6 : 3);
    const wide = (warp.itemsize / SECTOR) * inner; // a lane's bytes, and where they begin:
    const lefts = laneBytes(warp).map(
      (byte, k) => touched.indexOf(sectors[k]) * sector + ((byte % SECTOR) / SECTOR) * inner,
    );
    const box = (kind, more, left, y, size, ...children) => [
      "span",
      { class: kind, style: `transform:translate(${left}px,${y}px);width:${size}px`, ...more },
      ...children,
    ];
    set(stage, "style", `height:${top + LANE_HEIGHT + 26}px`);
    const numbered = lane < 16 ? 4 : 1; // on a phone every fourth lane has its number
    const every = Math.ceil((4 + 6.7 * String(touched.at(-1)).length) / sector); // so that numbers do not touch
    const named = (number, k) =>
      k % every ? "" : sector > 70 ? `sector ${number}` : String(number);
    fill(
      stage,
      drawing,
      ...range(LANES).map((k) =>
        box("sk-lane", { text: k % numbered ? "" : String(k) }, k * lane, 0, lane - 2),
      ),
      ...touched.map((number, k) =>
        box("sk-sector", {}, k * sector, top, inner, ["small", { text: named(number, k) }]),
      ),
      slots,
    ); // above the sectors
    const widest = warp.stride ? 1.25 : 1.85; // two digits of 0.6 each, or "all"
    const size = Math.min(14, Math.floor((wide - 1) / widest));
    set(slots, "style", `font-size:${size}px`);
    fill(
      slots,
      ...range(warp.stride ? LANES : 1).map((k) => {
        const text = size < 8 ? "" : warp.stride ? String(k) : "all";
        return box("sk-slot-of-lane", { text }, lefts[k], top, Math.max(wide - 1, 1));
      }),
    );
    fit(stage, ["00"], lane * numbered);
    const to = (left) => (left + wide / 2).toFixed(1);
    set(
      ties,
      "d",
      lefts
        .map((left, k) => `M${k * lane + lane / 2 - 1},${LANE_HEIGHT}L${to(left)},${top}`)
        .join(""),
    );
    fill(
      stats,
      ...terms([
        ["lanes", LANES],
        ["sectors loaded", count, { "data-many": count > minimum ? "true" : null }],
        ["would do", minimum],
        ["bytes used / loaded", `${bytesUsed} / ${bytesLoaded}`],
      ]),
    );
    const words = warpSentence(warp);
    set(sentence, "text", words);
    return words;
  }

  return { node, draw };
}
