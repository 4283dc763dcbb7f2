// TraversalExplorer: one scrubber over one or two walks, or a warp in their place. Each view plays
// on its own. traversal.js describes the state.

/** @import { View } from "../page/shell.js" */
/** @import { Preset, State, Warp } from "./traversal.js" */

import { h, paragraphs, set, show } from "../page/dom.js";
import { CACHE_LINE, counted, numel } from "../page/layout.js";
import { createChips, createPlayer, createSelect, createSlider } from "../page/panels.js";
import { createShell } from "../page/shell.js";
import { createWalkPane } from "./lines.js";
import { createWarpPane } from "./sectors.js";
import { CACHE_SIZES, code, comparison, EXAMPLE, facts, ITEMSIZES, PRESETS } from "./traversal.js";

const PLAY_MS = 8000; // for a whole walk, if an eye can follow it
const GAP = 32; // between the panes
const NARROW = 760; // below this, one pane stands under the other
const WIDEST = 620; // a pane

const WARP_LESSON =
  "32 threads of a GPU read in step, and memory comes in sectors of 32 bytes: neighbours share them. " +
  "Lane t reads element t · stride + offset.";

const LEGEND =
  "A row is a cache line of 64 bytes. ● it is in the cache, ○ it has left, ×2 it was loaded twice. " +
  "Above, a stroke for each visit: tall ones are misses, short ones hits.";

const visitsIn = ({ walks }) => Math.max(...walks.map(numel));

/** The numbers of walks as a text, whatever the names of the walks are. */
const numbersOf = (walks) =>
  String(walks.flatMap(({ name, ...numbers }) => Object.entries(numbers).sort()));

/** @param {View} view */
export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "traversal explorer",
      kind: "sk-traversal",
      traits: ["_given", "_note"],
      draw,
      code,
      moves: true,
      facts,
    },
  );
  const { id, put: change, motion } = shell;
  const stateNow = () => /** @type {State} */ (shell.state());
  /** @type {Warp} */
  let lastWarp = EXAMPLE.warp;

  // The panes

  const presets = createChips("walks to start from", pick);
  const player = createPlayer(shell, "visit", {
    most: () => visitsIn(stateNow()),
    pause: () => Math.max(40, Math.min(250, PLAY_MS / visitsIn(stateNow()))),
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
    CACHE_SIZES.map((lines) => counted(lines, "line")),
    (k) => change({ cache_lines: CACHE_SIZES[k] }),
  );
  const itemsize = createSelect(
    `${id}-itemsize`,
    "itemsize",
    ITEMSIZES.map((size) => counted(size, "byte")),
    (k) => resize(ITEMSIZES[k]),
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

  const [note, verdict] = paragraphs("sk-note sk-lesson", "sk-idea sk-verdict");
  const walkPanes = [0, 1].map((k) =>
    createWalkPane(`${id}-${k}`, { onOrder: (order) => reorder(k, order) }),
  );
  const panes = h("div", { class: "sk-panes" }, ...walkPanes.map((pane) => pane.node));
  const legend = h("p", { class: "sk-note sk-legend", text: LEGEND });
  const walksNode = h("div", {}, scrubber, controls, panes, verdict, legend);
  const warpPane = createWarpPane(id, {
    onChange: (changes) => change({ warp: { ...stateNow().warp, ...changes } }),
  });

  // Drawing

  function draw() {
    const state = stateNow();
    const { warp } = state;
    drawPresets(state);
    show(walksNode, !warp);
    show(warpPane.node, warp);
    const words = warp ? drawWarp(warp) : drawWalks(state);
    move(state);
    shell.speak(words);
  }

  /** @type {State | null} */
  let drawn = null;

  /**
   * A visit: its line comes if it is not in the cache, and the walk goes on to its element. A warp:
   * each lane goes to its bytes.
   * @param {State} state
   */
  function move(state) {
    if (JSON.stringify(state) === JSON.stringify(drawn)) return;
    const before = drawn;
    drawn = state;
    const { warp, walks, visit } = state;
    if (!warp && !visit) {
      motion.forget();
      return;
    }
    const shownPanes = walkPanes.slice(0, walks.length);
    motion.remember(state, () =>
      warp
        ? { layers: [warpPane.node], moves: warpPane.moves() }
        : { layers: [panes], moves: shownPanes.flatMap(({ moves }) => moves()) },
    );
    const oneLess = JSON.stringify({ ...state, visit: visit - 1 });
    const isNext = JSON.stringify(before) === oneLess;
    const isOtherWarp = before && warp && before.warp?.itemsize !== warp.itemsize;
    if (isNext || isOtherWarp) motion.play(player.stay());
  }

  function drawPresets({ walks, warp }) {
    /** @type {Preset[]} */
    const offered = [...model.get("_given"), ...PRESETS];
    const isCurrent = (preset) => !warp && numbersOf(preset.walks) === numbersOf(walks);
    const current = offered.find(isCurrent);
    presets.draw([
      ...offered.map((preset) => ({
        text: preset.name,
        isPressed: preset === current,
        value: preset,
      })),
      { text: "a GPU's warp", isPressed: Boolean(warp), value: null },
    ]);
    const lesson = current?.lesson || model.get("_note");
    set(note, "text", warp ? WARP_LESSON : lesson);
  }

  /** Draw a warp; returns a sentence to speak. */
  function drawWarp(warp) {
    player.stop();
    lastWarp = warp;
    return warpPane.draw(warp, shell.width);
  }

  /** Draw the walks, side by side if there is room; returns a sentence to speak. */
  function drawWalks(state) {
    const { walks } = state;
    drawControls(state);
    const isBeside = walks.length > 1 && shell.width >= NARROW;
    const room = isBeside ? Math.floor((shell.width - GAP) / 2) : shell.width;
    const width = Math.min(room, WIDEST);
    set(panes, "style", `--pane:${width}px`);
    show(walkPanes[1].node, walks.length > 1);
    const [left, right] = walks.map((walk, k) => walkPanes[k].draw(walk, state, width));
    if (!right) {
      set(verdict, "text", "");
      return left.words;
    }
    const sides = isBeside ? ["left", "right"] : ["upper", "lower"];
    const words = comparison(left.counts, right.counts, sides);
    set(verdict, "text", `${words[0].toUpperCase()}${words.slice(1)}.`);
    return `${sides[0]} ${left.words}; ${sides[1]} ${right.words}; ${words}`;
  }

  function drawControls(state) {
    const { walks, visit, cache_lines, alignment } = state;
    const most = visitsIn(state);
    const largest = Math.max(...walks.map((walk) => walk.itemsize));
    const progress = `${visit} of ${most}`;
    scrub.draw(visit, progress, { max: most, "aria-valuetext": progress });
    player.draw(most > 0);
    cache.select.selectedIndex = CACHE_SIZES.indexOf(cache_lines);
    itemsize.select.selectedIndex = ITEMSIZES.indexOf(largest);
    shift.draw(alignment, `${alignment} bytes`, {
      max: CACHE_LINE - largest,
      step: largest,
      "aria-valuetext": `${alignment} bytes after the start of a line`,
    });
  }

  // The hand

  /** Begin with a preset, or with the last warp if there is none. */
  function pick(preset) {
    player.stop();
    if (!preset) {
      change({ warp: lastWarp });
      return;
    }
    const { walks } = preset;
    const alignment = alignedFor(walks[0].itemsize);
    change({ walks, visit: visitsIn(preset), alignment, warp: null });
  }

  function resize(size) {
    const walks = stateNow().walks.map((walk) => ({ ...walk, itemsize: size }));
    change({ walks, alignment: alignedFor(size) });
  }

  function reorder(k, order) {
    const { walks } = stateNow();
    change({ walks: walks.with(k, { ...walks[k], order }) });
  }

  /** The alignment, rounded down to where an element of this size may begin. */
  function alignedFor(size) {
    const { alignment } = stateNow();
    return alignment - (alignment % size);
  }

  const stage = h("div", { class: "sk-walkstage" }, walksNode, warpPane.node);
  return shell.open(presets.node, note, stage);
}
