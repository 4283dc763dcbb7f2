// StrideExplorer: draws the model's state, and writes it back when a hand changes it. Every event
// ends in `draw`, which patches what differs; what is not under the hand follows a frame later.
// chain.js describes the state.

/** @import { Layout } from "../page/layout.js" */
/** @import { View as PageView } from "../page/shell.js" */
/** @import { Chain, Stage, State } from "./chain.js" */
/** @import { Field, Pointer, SliderMax } from "./views.js" */

import { cellOf, handOn, hasJustRun } from "../page/cell.js";
import { button, h, isCut, paragraphs, reachedBy, s, set, setAll, show } from "../page/dom.js";
import { offset, range, sameLayout, unflatten } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import { createChips, createCode, createPresets, createVerdicts } from "../page/panels.js";
import { createShell, WIDE } from "../page/shell.js";
import { closed, code as codeOf, endOf, facts, followed, sourceOf, stagesOf } from "./chain.js";
import { createChain } from "./chain_panel.js";
import { createGrid, movedIndex } from "./grid.js";
import { EDGE } from "./pane.js";
import { createFormula, createSliders } from "./sliders.js";
import { createTape } from "./tape.js";
import { code, formula, verdicts, viewOf, words } from "./views.js";
import { middleOf, windowFor } from "./window.js";
import { createWindow } from "./window_panel.js";

const TRAITS = [
  "_more",
  "_presets",
  "_values",
  "_seen",
  "_has_values",
  "_note",
  "_name",
  "_slider_max",
  "storage_size",
  "source",
];
// On a wide page the widget keeps its height: at most so many px for all that stands below the first
// row, and for grid and tape so many that the presets fit. Rows are low if they would take more, and
// then panes scroll.
const MOST = 672;
const FOR_PRESETS = 399;
// px of what stands above and below grid and tape, and of what comes and goes above them
const CHAIN = 34;
const WINDOW = 110; // its pane, and the formula in a row of its own
const SLIDERS_OF_WINDOW = 34; // in a row of their own
const FOOT = 135;
const MORE_TERMS = 46; // of four dims in the formula
const NOTE = 22;
const STEPS = 36;
const CAPTION = 24;
const SLIDER = 26; // px of a slider
const WORDS = 18; // px of a line of words under the sliders
const BESIDE = 340; // width of the sliders when they stand beside the grid
const PAIRED = 540; // width for two columns of sliders
const MOST_LINES = 4; // of sliders; more scroll
const MOST_LISTED = 4096; // elements whose texts are all measured

/** @type {Pick<Pointer, "hoverFlat" | "hoverSlot" | "tapeCursor">} */
const NOWHERE = { hoverFlat: null, hoverSlot: null, tapeCursor: null };

/** @param {PageView} view */
export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "stride explorer",
      kind: "sk-explorer",
      traits: TRAITS,
      draw,
      // A reason belongs to the slider that was just moved, not to later changes.
      forget() {
        if (!isSliding) sliders.say("");
      },
      code: (state) => codeOf(state, model.get("source")),
      moves: true,
      facts,
    },
  );
  const { id, signal, motion } = shell;
  const canFold = !model.get("_more");

  /** @type {Pointer} */
  const pointer = { ...NOWHERE, lit: null };
  let isSliding = false; // while a change comes from a slider
  let isDragging = false; // while a grip of the tape is held
  /** @type {SliderMax | null} */
  let widest = null; // how far the sliders reach
  /** @type {{flat: number | null, element: number | null}} */
  let spot = { flat: null, element: null }; // what the link joins
  /** @type {Stage | null} */
  let drawnStage = null;
  /** @type {import("./views.js").View} */
  let shown; // the newest view
  /** @type {{ for: any[], texts: Map<number, string> }} */
  let written = { for: [], texts: new Map() }; // the texts of elements, which a frame asks for often
  let leastTop = 0; // px that grid and sliders keep, however high the tape is
  /** @type {{ for: string, room: number } | null} */
  let reserved = null; // px for grid and tape, as long as the width and the presets stay

  // The panes

  const presets = createPresets((preset) => {
    widest = null;
    chainPanel.restart();
    change(preset.layout, shell.state().index);
  });
  const moreButton = button("more", toggleMore, {
    class: "sk-button sk-more",
    title: "layouts to start from, operations, sizes, the formula, the code",
  });
  const valueChips = createChips(
    "what the boxes show",
    (isValue) => shell.put({ values: isValue }),
    ["sk-presets sk-what", null],
  );
  const head = h("div", {}, moreButton, presets.node);
  const chainPanel = createChain(id, { name: () => model.get("_name"), onSteps: takeSteps });
  const windowPanel = createWindow(id, {
    onPlace({ window, index }) {
      const { layout, chain } = parts();
      change(layout, index, chain, window);
    },
  });
  const sliders = createSliders(id, { onLit: lightUp, onChange: slide });
  const grid = createGrid(id, {
    signal,
    onHover: (flat) => hover("hoverFlat", flat),
    onSelect: select,
    onKey: moveInGrid,
  });
  const tape = createTape(id, {
    signal,
    onHover: (slot) => hover("hoverSlot", slot),
    onSelect: goToSlot,
    onKey: moveOnTape,
    onDrag: drag,
  });
  const formulaPanel = createFormula(lightUp);
  const verdictList = createVerdicts();
  const codeBox = createCode();
  const link = s("path", { class: "sk-link" });
  const [caption, note] = paragraphs("sk-caption", "sk-note");
  const top = h("div", { class: "sk-top" }, grid.node, sliders.node);
  const stagePane = h(
    "div",
    { class: "sk-stage" },
    s("svg", { class: "sk-drawing", "aria-hidden": "true" }, link),
    top,
    caption,
    tape.node,
  );
  const foot = h("div", { class: "sk-foot" }, formulaPanel.node, verdictList.node, codeBox.node);
  const rest = h("div", { class: "sk-bounded" }, note, chainPanel.node, stagePane, foot);

  // The state

  /** The parts of the state. */
  function parts() {
    const state = /** @type {State} */ (shell.state());
    const { index, chain = null, window = null, values = false, ...layout } = state;
    return { layout, index, chain, window, values };
  }

  /** The stages of the chain, the start first; without steps, the layout alone. */
  function stagesNow() {
    const { layout, chain } = parts();
    const start = chain ?? { source: expressionOf(layout), start: layout, steps: [] };
    return stagesOf(start, model.get("storage_size"));
  }

  /** The code for the layout on screen: a preset's expression, or as_strided. */
  function expressionOf(layout) {
    const preset = model.get("_presets").find((p) => sameLayout(p.layout, layout));
    return preset?.expression ?? code(model.get("source"), layout);
  }

  /**
   * Find out how far the sliders reach: further as the chain grows, and less only with the next
   * preset.
   */
  function widen({ shape, stride }, storageSize) {
    const sliderMax = widest ?? model.get("_slider_max");
    widest = {
      size: Math.max(sliderMax.size, ...shape),
      stride: Math.max(sliderMax.stride, ...stride),
      storage_offset: Math.max(sliderMax.storage_offset, storageSize - 1),
    };
    return widest;
  }

  // Drawing

  /** The view of a state and its stages. */
  function viewOfStages(state, stages, sliderMax) {
    const { storageSize, copies } = endOf(stages);
    const name = model.get("_name");
    const isNumbered = Boolean(state.values) || copies > 0;
    const labelOf = isNumbered ? textsOf(state, stages) : String;
    let longest = String(storageSize - 1).length;
    if (isNumbered && storageSize <= MOST_LISTED)
      longest = Math.max(1, ...range(storageSize).map((element) => labelOf(element).length));
    const picture = { state, storageSize, sliderMax, name, labelOf, isNumbered, longest };
    return viewOf(picture, pointer);
  }

  /**
   * A function from an element to its text: its value, which a copy has taken along, or the number of
   * the place where it was at the start.
   */
  function textsOf({ values, chain }, stages) {
    const lists = [model.get("_values"), model.get("_seen")];
    const made = [Boolean(values), chain, ...lists];
    if (made.some((part, k) => part !== written.for[k])) written = { for: made, texts: new Map() };
    const { texts } = written;
    const source = sourceOf(stages);

    /** @type {(element: number) => string} */
    function textOf(element) {
      const place = source(element);
      if (place === null) return "";
      if (!values) return String(place);
      return lists[0][place] ?? lists[1][place] ?? "·";
    }

    return (element) => {
      const known = texts.get(element);
      if (known !== undefined) return known;
      const text = textOf(element);
      texts.set(element, text);
      return text;
    };
  }

  function draw() {
    const stages = stagesNow();
    const stage = endOf(stages);
    const { layout, storageSize } = stage;
    const view = viewOfStages(shell.state(), stages, widen(layout, storageSize));
    shown = view;
    sliders.draw(view);
    // A node that is moved loses the pointer and the focus.
    if (!view.window) windowPanel.node.remove();
    else if (windowPanel.node.parentNode !== rest) stagePane.before(windowPanel.node);
    windowPanel.draw(view);
    foot.classList.toggle("is-tall", view.window !== null);
    // At first a beginner sees the grid, the tape, the strides and the goals.
    const isAll = model.get("_more");
    show(moreButton, canFold);
    setAll(moreButton, { text: isAll ? "less" : "more", "aria-expanded": String(isAll) });
    for (const pane of [presets.node, chainPanel.node, foot]) show(pane, isAll);
    drawValueChips(isAll);
    set(sliders.node, "data-few", isAll ? null : "");
    set(caption, "text", captionOf(stages));
    arrange(view, stages);
    spot = view.spot;
    const describeGrid = grid.draw(view);
    const describeTape = tape.draw(view);
    showSpot();
    drawLink();

    const before = drawnStage;
    drawnStage = stage;
    const drawRest = () => {
      describeGrid?.();
      describeTape?.();
      drawWords(view, stages);
    };
    const isNew =
      before !== null && !(before.steps === stage.steps && sameLayout(before.layout, layout));
    if (isNew) motion.forget();
    // While a hand moves something, the words come a frame later.
    if (!isNew || isSliding || isDragging) return drawRest;
    drawRest();
    move(before, stage);
    return undefined;
  }

  /** Values or places: a choice where both are known. */
  function drawValueChips(isAll) {
    if (!isAll || !model.get("_has_values")) {
      valueChips.node.remove();
      return;
    }
    if (valueChips.node.parentNode !== head) head.append(valueChips.node);
    const { values } = parts();
    const title = "values in the boxes, or else the numbers of their places";
    valueChips.draw([{ text: "values", title, isPressed: values, value: !values }]);
  }

  function captionOf(stages) {
    const copy = stages.findLast(({ copied }) => copied);
    if (!copy) return "";
    const arePlaces = model.get("_has_values") && !parts().values;
    const large = arePlaces ? "where each one was before" : "the values";
    return `The storage that ${copy.text} made: small numbers count its elements, large ones are ${large}.`;
  }

  function drawWords(view, stages) {
    const { layout, storageSize, index } = view;
    const sentence = words(view);
    const preset = presets.draw(model.get("_presets"), endOf(stages).copies ? null : layout);
    chainPanel.draw(stages, shell.width);
    formulaPanel.draw(view, sentence);
    verdictList.draw(verdicts(layout, storageSize));
    codeBox.draw(codeOf(shell.state(), model.get("source")), preset);
    set(note, "text", model.get("_note"));
    shell.speak(index === null ? sentence : `${formula(layout, index)}: ${sentence}`);
  }

  /** Give grid and tape their places. On a wide page, their height stays while a hand plays. */
  function arrange(view, stages) {
    if (shell.width < WIDE) {
      arrangeIn(Infinity, view);
      return;
    }
    const room = reserve(view, stages);
    const stepsHeight = stages.length > 1 ? STEPS : 0;
    const captionHeight = captionOf(stages) ? CAPTION : 0;
    arrangeIn(room - stepsHeight - captionHeight - windowHeight(view), view);
  }

  /** The height that the window takes from grid and tape. */
  function windowHeight(view) {
    if (!view.window) return 0;
    return windowPanel.isDeep() ? WINDOW + SLIDERS_OF_WINDOW : WINDOW;
  }

  /** The height for grid and tape, which stays for this width and these presets. */
  function reserve(view, stages) {
    const [start] = stages;
    const isAll = model.get("_more");
    const what = JSON.stringify([shell.width, isAll, start.storageSize, model.get("_presets")]);
    if (reserved?.for === what) return reserved.room;
    let around = EDGE + (model.get("_note") ? NOTE : 0);
    const hasMoreTerms = view.layout.shape.length > 3 && !view.window;
    if (isAll) around += CHAIN + FOOT + (hasMoreTerms ? MORE_TERMS : 0);
    const most = MOST - around;
    const forPresets = isAll ? roomForPresets(view, start) : 0;
    const height = arrangeIn(most - windowHeight(view), view) + windowHeight(view);
    const least =
      leastTop + tape.leastHeight() + windowHeight(view) + (isAll ? STEPS + CAPTION : 0);
    const room = Math.max(Math.min(Math.max(forPresets, height), most), least);
    reserved = { for: what, room };
    set(rest, "style", `--sk-height:${room + around}px`);
    return room;
  }

  /** The height that the tallest preset takes, with a row of steps. */
  function roomForPresets({ sliderMax }, start) {
    const heights = model.get("_presets").map(({ layout }) => {
      const index = middleOf(layout);
      const window = windowFor(layout, index);
      const { values } = parts();
      const state = { ...layout, index, chain: null, window, values };
      return arrangeIn(FOR_PRESETS, viewOfStages(state, [start], sliderMax));
    });
    return Math.min(Math.max(0, ...heights) + STEPS, FOR_PRESETS);
  }

  /** Arrange grid and tape, with low rows where `room` is short; returns their height in px. */
  function arrangeIn(room, view) {
    const tapeHeight = tape.resize(view, shell.width, false);
    const height = arrangeTop(view, room - tapeHeight) + tapeHeight;
    if (height <= room) return height;
    const lowTapeHeight = tape.resize(view, shell.width, true);
    return arrangeTop(view, room - lowTapeHeight) + lowTapeHeight;
  }

  /**
   * Put the grid and the sliders beside or above one another in a height of `room`; returns their
   * height.
   */
  function arrangeTop(view, room) {
    const ndim = Math.min(view.layout.shape.length, MOST_LINES);
    const isWide = shell.width >= WIDE;
    const beside = shell.width - BESIDE - 24;
    let [width, height] = grid.resize(view, isWide ? beside : shell.width, !isWide, room);
    const isStacked = !isWide || width > beside || grid.geometry().lines > 1;
    const lines = isStacked || ndim > 2 ? ndim : 2 * ndim; // of sliders, over that of the offset
    const slidersHeight = SLIDER * (lines + 1) + 2 * WORDS;
    if (isStacked && isWide)
      [width, height] = grid.resize(view, shell.width, true, room - slidersHeight);
    const least = isStacked
      ? slidersHeight + Math.min(height, 120)
      : Math.min(height, slidersHeight);
    const isPaired = isStacked ? shell.width >= PAIRED : ndim > 2;
    leastTop = least;
    set(top, "style", `min-height:${least}px`);
    set(top, "class", `sk-top${isStacked ? " is-stacked" : ""}${isPaired ? " is-paired" : ""}`);
    return isStacked ? height + slidersHeight : Math.max(height, slidersHeight);
  }

  // Where the panes are, as the link needs it. It is measured when the browser has laid them out, so
  // that a key which moves none of them asks for nothing.
  const corners = { grid: [0, 0], tape: [0, 0] };
  let hasBeenPlaced = false;
  const placed = new ResizeObserver(() => {
    const slider = sliders.find("stride[0]");
    if (!hasBeenPlaced && slider) takeKeys(el, slider.input, signal);
    hasBeenPlaced = true;
    corners.grid = [grid.node.offsetLeft + EDGE, grid.node.offsetTop + EDGE];
    corners.tape = [tape.node.offsetLeft + EDGE, tape.node.offsetTop + EDGE];
    look();
    showSpot();
  });
  for (const pane of [top, grid.node, sliders.node, caption, tape.node]) placed.observe(pane);
  stagePane.addEventListener("scroll", look, { capture: true });

  /** Take note of what can be seen of grid and tape. */
  function look() {
    grid.look();
    tape.look();
    drawLink();
  }

  /** Scroll grid and tape to what is pointed at in the other one. */
  function showSpot() {
    if (spot.flat !== null && pointer.hoverFlat === null) grid.reveal(spot.flat);
    const { element } = spot;
    if (element !== null && tape.geometry().has(element) && pointer.hoverSlot === null)
      tape.reveal(element);
  }

  /** Draw the dotted line from the grid's lower edge, below the selected cell, to its slot. */
  function drawLink() {
    set(link, "d", linkPath());
  }

  function linkPath() {
    const slots = tape.geometry();
    const cells = grid.geometry();
    if (spot.flat === null || spot.element === null || !slots.has(spot.element)) return "";
    const seen = tape.seen();
    const y = slots.top(spot.element) - seen.top;
    if (y < EDGE || y > seen.height + EDGE) return "";
    const gridHeight = Math.min(cells.totalHeight, grid.seen().height - 2 * EDGE);
    const x0 = corners.grid[0] + cells.corner(spot.flat)[0] + cells.cell / 2;
    const y0 = corners.grid[1] + gridHeight;
    const x1 = corners.tape[0] + slots.middle(spot.element);
    const y1 = corners.tape[1] + y - EDGE;
    const bend = Math.max(20, (y1 - y0) / 2);
    return `M${x0},${y0}C${x0},${y0 + bend} ${x1},${y1 - bend} ${x1},${y1}`;
  }

  // Another layout at once, by a preset, a step, Python or an undo: its numbers come out of their
  // slots, which stay. A copy writes slots: there they come out of their cells. Not while a hand
  // moves a slider: that is the motion.
  /** @type {(before: Stage, stage: Stage) => void} */
  function move(before, stage) {
    const isCopy = stage.copies > before.copies;
    const isOther = !sameLayout(before.layout, stage.layout);
    if (!canMove() || !(isOther || isCopy || stage.copies < before.copies)) return;
    motion.remember(stage, () => (canMove() ? travels(isCopy) : null));
    motion.play();
  }

  /** What moves reaches out of its pane, which would look cut if the pane scrolled. */
  const canMove = () => !(tape.geometry().dense || isCut(grid.node) || isCut(tape.node));

  /** @returns {import("../page/motion.js").Scene} */
  function travels(isCopy) {
    const moves = [];
    for (const [flat, cell] of grid.cells().entries()) {
      const slot = tape.slot(shown.elements[flat]);
      if (!slot) continue;
      if (isCopy) moves.push({ box: slot, start: wayFrom(cell, slot), isNew: true });
      else moves.push({ box: cell, start: wayFrom(slot, cell) });
    }
    return { layers: [isCopy ? tape.node : grid.node], moves };
  }

  // The hand

  /**
   * Change the state to another layout, with the index, or else the middle, inside it.
   * @param {Layout} layout
   * @param {number[] | null} index
   * @param {Chain | null} chain
   * @param {import("./window.js").Window | null} window the wanted one
   */
  function change(layout, index, chain = null, window = parts().window) {
    let inside = middleOf(layout);
    if (inside && index) inside = layout.shape.map((n, d) => Math.min(index[d] ?? 0, n - 1));
    Object.assign(pointer, NOWHERE);
    shell.change({
      ...layout,
      index: inside,
      chain,
      window: windowFor(layout, inside, window),
      values: parts().values,
    });
  }

  /** Unfold the rest, or fold it again. */
  function toggleMore() {
    model.set("_more", !model.get("_more"));
    model.save_changes();
  }

  /** Take other steps from the same start; the selected element is followed to its new index. */
  function takeSteps(steps) {
    const { layout, index, chain } = parts();
    const newChain = { source: expressionOf(layout), start: layout, ...chain, steps };
    const stages = stagesNow();
    const [{ storageSize }] = stages;
    const after = endOf(stagesOf(newChain, storageSize));
    const flat = followed(endOf(stages), after, index);
    const newIndex = flat === null ? index : unflatten(after.layout.shape, flat);
    change(after.layout, newIndex, steps.length ? newChain : null);
  }

  /**
   * @param {Field} field
   * @param {number} dim
   * @param {number} value
   */
  function slide(field, dim, value) {
    const { layout, index, chain } = parts();
    if (field === "size") layout.shape = layout.shape.with(dim, value);
    else if (field === "stride") layout.stride = layout.stride.with(dim, value);
    else layout.storage_offset = value;
    isSliding = true;
    chainPanel.restart();
    change(layout, index, closed(chain, stagesNow(), layout));
    isSliding = false;
  }

  function select(flat) {
    const { layout, chain } = parts();
    change(layout, shown.indexOf(flat), chain);
  }

  function moveInGrid(event) {
    const { layout, index, chain, window } = parts();
    let { key } = event;
    if (event.shiftKey && key.startsWith("Page")) key = `Shift+${key}`;
    if (event.ctrlKey && key.startsWith("Arrow")) key = `Control+${key}`;
    const newIndex = index && movedIndex(layout.shape, index, key, window?.dims);
    if (!newIndex) return;
    event.preventDefault();
    change(layout, newIndex, chain);
  }

  function moveOnTape(event) {
    const { storageSize } = endOf(stagesNow());
    const { layout, index } = parts();
    const current = pointer.tapeCursor ?? (index ? offset(layout, index) : 0);
    if (event.key === "Enter" || event.key === " ") {
      pointer.tapeCursor = null; // the next owner of the same slot
      goToSlot(current);
      event.preventDefault();
      return;
    }
    const slot = reachedBy(event.key, current, tape.geometry().perRow, storageSize);
    if (slot === undefined) return;
    if (slot >= 0 && slot < storageSize) goToSlot(slot);
    event.preventDefault();
  }

  function goToSlot(slot) {
    const { owners, selected } = shown;
    const flats = owners.get(slot);
    if (flats) {
      const current = selected === null ? -1 : flats.indexOf(selected);
      const isAgain = pointer.tapeCursor === null;
      select(flats[isAgain ? (current + 1) % flats.length : Math.max(current, 0)]);
    } else {
      goOutside(slot);
    }
    pointer.tapeCursor = slot;
    shell.redraw();
  }

  /** Move the window to an element that it does not show. */
  function goOutside(slot) {
    const owner = shown.outside?.of(slot);
    const { layout, chain } = parts();
    if (owner) change(layout, owner, chain);
  }

  /**
   * Let the slider of a grip on the tape follow the slot under the pointer, limits and reasons
   * included.
   */
  function drag(event) {
    event.preventDefault();
    const slotAt = tape.locator();
    const slider = event.currentTarget.dataset.what;
    isDragging = true;
    const held = new AbortController();
    const whileHeld = { signal: AbortSignal.any([signal, held.signal]) };
    document.addEventListener("pointermove", (moved) => dragTo(slider, slotAt(moved)), whileHeld);
    for (const end of ["pointerup", "pointercancel"])
      document.addEventListener(
        end,
        () => {
          isDragging = false;
          held.abort();
        },
        whileHeld,
      );
  }

  function dragTo(name, slot) {
    const slider = sliders.find(name);
    if (!slider) return;
    const { storage_offset } = shown.part;
    const { stride } = shown.layout;
    const { field, dim } = slider;
    let value = slot;
    if (field === "stride") value = slot - storage_offset;
    if (field === "size") value = Math.floor((slot - storage_offset) / stride[dim]) + 1;
    sliders.change(slider, Math.max(value, 0));
  }

  /**
   * @param {"hoverFlat" | "hoverSlot"} pane
   * @param {number | null} box
   */
  function hover(pane, box) {
    if (isDragging) return;
    pointer.hoverFlat = null;
    pointer.hoverSlot = null;
    pointer[pane] = box;
    shell.redraw();
  }

  function lightUp(term) {
    pointer.lit = term;
    shell.redraw();
  }

  shell.atEnd(() => placed.disconnect());
  return shell.open(head, rest);
}

// The explorer that opens a notebook takes the keys once Shift+Enter has run it: the next key moves
// a stride. It does so nowhere else: not below another widget or further down, not after Run All,
// not while somebody types, not where a notebook is only opened.
const NEAR = 3; // cells from the top, where a title and the set-up may come first

/**
 * Give the focus to a slider, if its widget is the notebook's first and Shift+Enter has just gone
 * on to the next cell.
 */
function takeKeys(el, slider, signal) {
  const { cell, number, book, ahead } = cellOf(el);
  if (!cell || !book || ahead !== 1 || number >= NEAR || !hasJustRun(el)) return;
  if (!cell.contains(book.querySelector(".stridekit"))) return;

  /** @param {KeyboardEvent} event */
  function goOn(event) {
    const isShiftEnter = event.key === "Enter" && event.shiftKey;
    if (event.key === "Escape" || isShiftEnter) handOn(event, el);
  }

  addEventListener("keydown", goOn, { capture: true, signal });
  slider.addEventListener("blur", () => removeEventListener("keydown", goOn, true), { once: true });
  slider.focus({ preventScroll: true });
}
