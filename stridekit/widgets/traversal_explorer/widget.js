// TraversalExplorer: one scrubber over one or two walks, or a warp in their place.
// The state in the model is {walks, visit, cache_lines, alignment, warp}. Each view plays on its own.

import { counted, numel, range } from "../page/layout.js";
import { fill, fit, h, paragraphs, s, set, show } from "../page/dom.js";
import { createChips, createPlayer, createSelect, createSlider, terms } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import {
  CACHE_SIZES, EXAMPLE, ITEMSIZES, LANES, PRESETS, SECTOR, code, comparison, facts, laneBytes, sectorsOf, warpSentence,
} from "./traversal.js";
import { createWalkPane } from "./walk_pane.js";

const PLAY_MS = 8000; // for a whole walk, if an eye can follow it
const GAP = 32; // between the panes
const NARROW = 760; // below this, one pane stands under the other

const WARP_LESSON =
  "32 threads of a GPU read in step, and memory comes in sectors of 32 bytes: neighbours share them. " +
  "Lane t reads element t · stride + offset.";

const LEGEND = "A row is a cache line of 64 bytes. ● it is in the cache, ○ it has left, ×2 it was loaded twice. " +
  "Above, a stroke for each visit: tall ones are misses, short ones hits.";

const mostVisits = ({ walks }) => Math.max(...walks.map(numel));
const numbersOf = (walks) => String(walks.flatMap(({ name, ...numbers }) => Object.entries(numbers).sort()));

function render({ model, el }) {
  const shell = createShell({ model, el }, {
    label: "traversal explorer", kind: "sk-traversal", traits: ["_state", "_given", "_note"], draw, code, facts,
  });
  const { id, state, put: change } = shell;
  let lastWarp = EXAMPLE.warp;

  const presets = createChips("walks to start from", pick);

  const most = () => mostVisits(state());
  const player = createPlayer(shell, "visit", { most, pause: () => Math.max(40, Math.min(250, PLAY_MS / most())) });
  const scrub = createSlider(`${id}-visit`, "visit", {
    onInput(visit) {
      player.stop();
      change({ visit });
    },
  });
  const scrubber = h("div", { class: "sk-scrubber" }, player.node, ...scrub.nodes);
  const cache = createSelect(`${id}-cache`, "cache", CACHE_SIZES.map((n) => counted(n, "line")),
    (k) => change({ cache_lines: CACHE_SIZES[k] }));
  const itemsize = createSelect(`${id}-itemsize`, "itemsize", ITEMSIZES.map((n) => counted(n, "byte")), (k) => {
    const walks = state().walks.map((walk) => ({ ...walk, itemsize: ITEMSIZES[k] }));
    change({ walks, alignment: aligned(ITEMSIZES[k]) });
  });
  const shift = createSlider(`${id}-alignment`, "alignment", { onInput: (alignment) => change({ alignment }) });
  const controls = h("div", { class: "sk-controls" }, cache.node, itemsize.node,
    h("div", { class: "sk-choice" }, ...shift.nodes));

  const [note, verdict] = paragraphs("sk-note sk-lesson", "sk-verdict");
  const paneNodes = [0, 1].map((k) => createWalkPane(`${id}-${k}`, {
    onOrder: (order) => change({ walks: state().walks.with(k, { ...state().walks[k], order }) }),
  }));
  const panes = h("div", { class: "sk-panes" }, ...paneNodes.map((pane) => pane.node));
  const legend = h("p", { class: "sk-note sk-legend", text: LEGEND });
  const walksNode = h("div", {}, scrubber, controls, panes, verdict, legend);
  const warpPane = createWarpPane(id, { onChange: (changes) => change({ warp: { ...state().warp, ...changes } }) });

  function draw() {
    const now = state();
    const { walks, warp, visit, cache_lines, alignment } = now;
    const known = [...model.get("_given"), ...PRESETS];
    const current = warp ? null : known.find((preset) => numbersOf(preset.walks) === numbersOf(walks));
    presets.draw([
      ...known.map((preset) => ({ text: preset.name, isPressed: preset === current, value: preset })),
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
    scrub.draw(visit, `${visit} of ${most}`, { max: most, "aria-valuetext": `${visit} of ${most}` });
    player.draw(most > 0);
    cache.select.selectedIndex = CACHE_SIZES.indexOf(cache_lines);
    itemsize.select.selectedIndex = ITEMSIZES.indexOf(size);
    const says = `${alignment} bytes after the start of a line`;
    shift.draw(alignment, `${alignment} bytes`, { max: 64 - size, step: size, "aria-valuetext": says });

    const beside = walks.length > 1 && shell.width >= NARROW;
    const width = Math.min(beside ? Math.floor((shell.width - GAP) / 2) : shell.width, 620);
    set(panes, "style", `--pane:${width}px`);
    show(paneNodes[1].node, walks.length > 1);
    const [left, right] = walks.map((walk, k) => paneNodes[k].draw(walk, now, width));
    const sides = beside ? ["left", "right"] : ["upper", "lower"];
    const words = right ? comparison(left.counts, right.counts, sides) : "";
    set(verdict, "text", words && `${words[0].toUpperCase()}${words.slice(1)}.`);
    return shell.speak(right ? `${sides[0]} ${left.words}; ${sides[1]} ${right.words}; ${words}` : left.words);
  }

  function pick(preset) {
    player.stop();
    if (!preset) return change({ warp: lastWarp });
    const { walks } = preset;
    return change({ walks, visit: mostVisits(preset), alignment: aligned(walks[0].itemsize), warp: null });
  }

  /** The alignment, rounded down to where an element of this size may begin. */
  const aligned = (size) => state().alignment - (state().alignment % size);

  return shell.open(presets.node, note, walksNode, warpPane.node);
}

// A GPU's warp: 32 lanes above, the 32-byte sectors that they touch below, and a line from each lane to its bytes ---

const LANE_HEIGHT = 28;
const BETWEEN = 96; // from the lanes down to the sectors
const WIDEST = 120; // a sector

function createWarpPane(id, { onChange }) {
  const itemsize = createSelect(`${id}-warp-itemsize`, "itemsize", ITEMSIZES.map((size) => counted(size, "byte")),
    (k) => onChange({ itemsize: ITEMSIZES[k] }));
  const sliders = [["stride", 32], ["offset", 31]].map(([what, max]) => ({
    what, ...createSlider(`${id}-warp-${what}`, what, { max, onInput: (value) => onChange({ [what]: value }) }),
  }));
  const controls = h("div", { class: "sk-controls" }, itemsize.node,
    ...sliders.map(({ nodes }) => h("div", { class: "sk-choice" }, ...nodes)));
  const ties = s("path", { class: "sk-ties" });
  const drawing = s("svg", { class: "sk-warp-ties" }, ties);
  const slots = h("div");
  const stage = h("div", { class: "sk-warp-stage", "aria-hidden": "true" });
  const stats = h("dl", { class: "sk-stats" });
  const sentence = h("p", { class: "sk-sentence" });
  const node = h("div", { class: "sk-warp", role: "group", "aria-label": "a warp on its sectors" }, controls, stats, stage, sentence);

  function draw(warp, width) {
    itemsize.select.selectedIndex = ITEMSIZES.indexOf(warp.itemsize);
    for (const slider of sliders) slider.draw(warp[slider.what]);
    const { sectors, touched: count, minimum, bytesUsed, bytesLoaded } = sectorsOf(warp);
    const touched = [...new Set(sectors)];
    const [top, lane] = [LANE_HEIGHT + BETWEEN, Math.floor(width / LANES)];
    const sector = Math.min(WIDEST, Math.floor(width / count)); // side by side
    const inner = sector - (sector > 40 ? 6 : 3);
    const wide = (warp.itemsize / SECTOR) * inner; // a lane's bytes, and where they begin:
    const lefts = laneBytes(warp).map((byte, k) => touched.indexOf(sectors[k]) * sector + ((byte % SECTOR) / SECTOR) * inner);
    const box = (kind, more, left, y, size, ...children) =>
      ["span", { class: kind, style: `transform:translate(${left}px,${y}px);width:${size}px`, ...more }, ...children];
    set(stage, "style", `height:${top + LANE_HEIGHT + 26}px`);
    const numbered = lane < 16 ? 4 : 1; // on a phone every fourth lane has its number
    const every = Math.ceil((4 + 6.7 * String(touched.at(-1)).length) / sector); // so that numbers do not touch
    const named = (number, k) => (k % every ? "" : sector > 70 ? `sector ${number}` : String(number));
    fill(stage, drawing,
      ...range(LANES).map((k) => box("sk-lane", { text: k % numbered ? "" : String(k) }, k * lane, 0, lane - 2)),
      ...touched.map((number, k) => box("sk-sector", {}, k * sector, top, inner, ["small", { text: named(number, k) }])),
      slots); // above the sectors
    const widest = warp.stride ? 1.25 : 1.85; // two digits of 0.6 each, or "all"
    const size = Math.min(14, Math.floor((wide - 1) / widest));
    set(slots, "style", `font-size:${size}px`);
    fill(slots, ...range(warp.stride ? LANES : 1).map((k) => {
      const text = size < 8 ? "" : warp.stride ? String(k) : "all";
      return box("sk-slot-of-lane", { text }, lefts[k], top, Math.max(wide - 1, 1));
    }));
    fit(stage, ["00"], lane * numbered);
    const to = (left) => (left + wide / 2).toFixed(1);
    set(ties, "d", lefts.map((left, k) => `M${k * lane + lane / 2 - 1},${LANE_HEIGHT}L${to(left)},${top}`).join(""));
    fill(stats, ...terms([
      ["lanes", LANES], ["sectors loaded", count, { "data-many": count > minimum ? "true" : null }], ["would do", minimum],
      ["bytes used / loaded", `${bytesUsed} / ${bytesLoaded}`],
    ]));
    const words = warpSentence(warp);
    set(sentence, "text", words);
    return words;
  }

  return { node, draw };
}

export default { render };
