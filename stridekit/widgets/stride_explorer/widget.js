// StrideExplorer: draws the model's state, and writes it back when a hand changes it.
// The state in the model is {layout, index, chain}. The box under the pointer, the slot that the keys have reached and
// the lit term belong to this view. Every event ends in `draw`, which patches what differs; what is not under the hand
// follows a frame later.

import {
  button,
  createMotion,
  h,
  isCut,
  paragraphs,
  reachedBy,
  s,
  set,
  show,
  wayFrom,
} from "../page/dom.js";
import { flatten, offset, reach, sameLayout, unflatten } from "../page/layout.js";
import { createCode, createPresets, createVerdicts } from "../page/panels.js";
import { cellOf, createShell } from "../page/shell.js";
import { closed, code as codeOf, facts, followed, stagesOf } from "./chain.js";
import { createChain } from "./chain_panel.js";
import { createGrid, step } from "./grid.js";
import { createFormula, createSliders } from "./sliders.js";
import { createTape } from "./tape.js";
import { code, formula, verdicts, viewOf, words } from "./views.js";

const TRAITS = [
  "_more",
  "_presets",
  "_values",
  "_note",
  "_name",
  "_slider_max",
  "storage_size",
  "source",
];
const WIDE = 720; // px: the sliders stand beside the grid, and all panes fit one screen
const ROOM = 478; // px for grid and tape there: rows are low if they would take more, and then the panes scroll
const [SLIDER, WORDS] = [26, 18]; // px of a slider, and of a line of words under them
const BESIDE = 340; // width of the sliders when they stand beside the grid
const EDGE = 6; // px around what scrolls, for outlines
const PAIRED = 540; // width for two columns of sliders

export function render({ model, el }) {
  const shell = createShell(
    { model, el },
    {
      label: "stride explorer",
      kind: "sk-explorer",
      traits: TRAITS,
      draw,
      // A reason belongs to the slider that was just moved, not to later changes.
      forget: () => own.sliding || sliders.say(""),
      code: (state) => codeOf(state, model.get("source")),
      facts,
    },
  );
  const NOWHERE = { hoverFlat: null, hoverSlot: null, tapeCursor: null };
  const own = { ...NOWHERE, lit: null, dragging: null, sliding: false };
  const { id, signal } = shell;

  const presets = createPresets((preset) => {
    widest = null;
    chainPanel.restart();
    change(preset.layout, shell.state().index);
  });
  const hidden = "layouts to start from, operations, sizes, the formula, the code";
  const more = button(
    "more",
    () => {
      model.set("_more", true);
      model.save_changes();
      presets.node.firstChild.focus();
    },
    { class: "sk-button sk-more", title: hidden },
  );
  const head = h("div", {}, more, presets.node);
  const chainPanel = createChain(id, {
    name: () => model.get("_name"),
    /** Another chain from the same start; the selected element is followed to its new index. */
    onSteps(steps) {
      const { layout, index, chain } = stateNow();
      const next = { source: expressionOf(layout), start: layout, ...chain, steps };
      const [{ storageSize, labels }, before] = [stages()[0], stages().at(-1)];
      const after = stagesOf(next, storageSize, labels).at(-1);
      const flat = followed(before, after, index);
      const reached = flat === null ? index : unflatten(after.layout.shape, flat);
      change(after.layout, reached, steps.length ? next : null);
    },
  });
  const sliders = createSliders(id, {
    onLit: lightUp,
    onChange(what, dim, value) {
      const { layout, index, chain } = stateNow();
      const key = { size: "shape", stride: "stride" }[what];
      if (key) layout[key] = layout[key].with(dim, value);
      else layout.storage_offset = value;
      own.sliding = true;
      chainPanel.restart();
      change(layout, index, closed(chain, stages(), layout));
      own.sliding = false;
    },
  });
  const grid = createGrid(id, {
    signal,
    onHover: (flat) => own.dragging || hover("hoverFlat", flat),
    onSelect: select,
    onKey(event) {
      const { layout, index, chain } = stateNow();
      const key = event.shiftKey && event.key.startsWith("Page") ? `Shift+${event.key}` : event.key;
      const next = index && step(layout.shape, index, key);
      if (!next) return;
      event.preventDefault();
      change(layout, next, chain);
    },
  });
  const tape = createTape(id, {
    signal,
    onHover: (slot) => own.dragging || hover("hoverSlot", slot),
    onSelect: goToSlot,
    onKey(event) {
      const { perRow } = tape.geometry();
      const size = stages().at(-1).storageSize;
      const { layout, index } = stateNow();
      const now = own.tapeCursor ?? (index ? offset(layout, index) : 0);
      const slot = reachedBy(event.key, now, perRow, size);
      if (event.key === "Enter" || event.key === " ") {
        own.tapeCursor = null; // the next owner of the same slot
        goToSlot(now);
      } else if (slot === undefined) return;
      else if (slot >= 0 && slot < size) goToSlot(slot);
      event.preventDefault();
    },
    /** A grip on the tape: its slider follows the slot under the pointer, limits and reasons included. */
    onDrag(event) {
      event.preventDefault();
      const slotAt = tape.locator();
      own.dragging = event.currentTarget.dataset.what;
      const held = new AbortController();
      const hear = (type, react) =>
        document.addEventListener(type, react, { signal: AbortSignal.any([signal, held.signal]) });
      hear("pointermove", (moved) => {
        const [slider, { storage_offset, stride }] = [sliders.find(own.dragging), shell.state()];
        if (!slider) return;
        const steps = slotAt(moved) - (slider.what === "storage_offset" ? 0 : storage_offset);
        sliders.change(
          slider,
          Math.max(slider.what === "size" ? Math.floor(steps / stride[slider.dim]) + 1 : steps, 0),
        );
      });
      for (const end of ["pointerup", "pointercancel"])
        hear(end, () => {
          own.dragging = null;
          held.abort();
        });
    },
  });
  const formulaPanel = createFormula(lightUp);
  const verdictList = createVerdicts();
  const codeBox = createCode();
  const link = s("path", { class: "sk-link" });
  const [caption, note] = paragraphs("sk-caption", "sk-note");
  const top = h("div", { class: "sk-top" }, grid.node, sliders.node);
  const stage = h(
    "div",
    { class: "sk-stage" },
    s("svg", { class: "sk-drawing", "aria-hidden": "true" }, link),
    top,
    caption,
    tape.node,
  );
  const foot = h("div", { class: "sk-foot" }, formulaPanel.node, verdictList.node, codeBox.node);
  const rest = h("div", { class: "sk-bounded" }, note, chainPanel.node, stage, foot);
  const motion = createMotion(stage);

  let widest = null; // how far the sliders reach
  let spot = {}; // the element that the link leads to
  let seen = null; // the stage on screen

  function draw() {
    const now = stages();
    const { labels, layout, storageSize } = now.at(-1);
    const view = viewOf(
      {
        state: shell.state(),
        storageSize,
        sliderMax: sliderMax(layout, storageSize),
        name: model.get("_name"),
        values: labels.length ? labels : null,
      },
      own,
    );
    sliders.draw(view);
    const isAll = model.get("_more"); // at first a beginner sees the grid, the tape, the strides and the goals
    show(more, !isAll);
    for (const pane of [presets.node, chainPanel.node, foot]) show(pane, isAll);
    set(sliders.node, "data-few", isAll ? null : "");
    const copy = now.findLast(({ copied }) => copied);
    const made =
      copy &&
      `The storage that ${copy.text} made: small numbers count its elements, large ones are the values.`;
    set(caption, "text", made ?? "");
    arrange(view);
    const describe = [grid.draw(view), tape.draw(view)];
    spot = view.spot;
    const [g, cells] = [tape.geometry(), grid.geometry()]; // scrolled to what is pointed at in the other
    if (spot.flat !== null && own.hoverFlat === null)
      showSpan(grid.node, cells.corner(spot.flat)[1], cells.height);
    if (g.has(spot.element) && own.hoverSlot === null)
      showSpan(tape.node, g.top(spot.element), g.height);
    drawLink();
    const [before, after] = [seen, now.at(-1)];
    seen = after;
    const isSame = before?.steps === after.steps && sameLayout(before.layout, after.layout);
    if (!before || isSame || own.sliding || own.dragging) return () => tell(view, now, describe);
    tell(view, now, describe);
    move(view, before, after);
  }

  /** What a hand does not look at: while it moves something, this comes a frame later. */
  function tell(view, now, describe) {
    const { layout, storageSize, owners, index } = view;
    for (const each of describe) each?.();
    const sentence = words(view);
    const preset = presets.draw(model.get("_presets"), now.at(-1).copies ? null : layout);
    chainPanel.draw(now, shell.width);
    formulaPanel.draw(view, sentence);
    verdictList.draw(verdicts(layout, storageSize, owners));
    codeBox.draw(codeOf(shell.state(), model.get("source")), preset);
    set(note, "text", model.get("_note"));
    shell.speak(index === null ? sentence : `${formula(layout, index)}: ${sentence}`);
  }

  function stateNow() {
    const { index, chain = null, ...layout } = shell.state();
    return { layout, index, chain };
  }

  /** The stages of the chain, the start first; without steps, the layout alone. */
  function stages() {
    const { layout, chain } = stateNow();
    const begun = chain ?? { source: expressionOf(layout), start: layout, steps: [] };
    return stagesOf(begun, model.get("storage_size"), model.get("_values"));
  }

  /** The code for the layout on screen: a preset's expression, or as_strided. */
  function expressionOf(layout) {
    const preset = model.get("_presets").find((p) => sameLayout(p.layout, layout));
    return preset?.expression ?? code(model.get("source"), layout);
  }

  /** The ends of the sliders, which grow with the chain and shrink again only with the next preset. */
  function sliderMax({ shape, stride }, storageSize) {
    const { size, stride: step, storage_offset } = widest ?? model.get("_slider_max");
    return (widest = {
      size: Math.max(size, ...shape),
      stride: Math.max(step, ...stride),
      storage_offset: Math.max(storage_offset, storageSize - 1),
    });
  }

  /** Give grid and tape their places; their rows are low where room is short. */
  function arrange(view) {
    const room = shell.width >= WIDE ? ROOM : Infinity;
    const long = tape.resize(view, shell.width, false);
    if (arrangeTop(view, room, long) + long > room)
      arrangeTop(view, room, tape.resize(view, shell.width, true));
    set(rest, "data-wide", shell.width < WIDE ? null : "");
  }

  /** The grid with the sliders beside it or above it, for a tape below; returns their height. */
  function arrangeTop(view, room, long) {
    const ndim = view.layout.shape.length;
    const isWide = shell.width >= WIDE;
    const resize = (width, wraps, room) => grid.resize(view, width, wraps, room - long);
    const beside = shell.width - BESIDE - 24;
    let [width, height] = resize(isWide ? beside : shell.width, !isWide, room);
    const stacked = !isWide || width > beside || grid.geometry().lines > 1;
    const lines = stacked || ndim > 2 ? ndim : 2 * ndim; // of sliders, over that of the offset
    const sliding = SLIDER * (lines + 1) + 2 * WORDS;
    if (stacked && isWide) [, height] = resize(shell.width, true, room - sliding);
    const paired = stacked ? shell.width >= PAIRED : ndim > 2;
    set(
      top,
      "style",
      `min-height:${stacked ? sliding + Math.min(height, 120) : Math.min(height, sliding)}px`,
    );
    set(top, "class", `sk-top${stacked ? " is-stacked" : ""}${paired ? " is-paired" : ""}`);
    return stacked ? height + sliding : Math.max(height, sliding);
  }

  let isPlaced = false;
  const placed = new ResizeObserver(() => {
    const slider = sliders.find("stride[0]");
    if (!isPlaced && slider) takeKeys(el, slider.input, signal);
    isPlaced = true;
    drawLink();
  });
  for (const pane of [top, caption, tape.node]) placed.observe(pane);
  stage.addEventListener("scroll", drawLink, { capture: true });

  function showSpan(pane, y, height) {
    if (isCut(pane))
      pane.scrollTop = Math.max(
        Math.min(pane.scrollTop, y - 24),
        y + height + 24 - pane.clientHeight,
      );
  }

  /** The dotted line from the grid's lower edge, below the selected cell, to its slot. */
  function drawLink() {
    const [g, cells] = [tape.geometry(), grid.geometry()];
    const { offsetLeft, offsetTop, scrollTop, clientHeight } = tape.node;
    const y = g?.has(spot.element) ? g.top(spot.element) - scrollTop : -1;
    if (y < 0 || y > clientHeight || spot.flat === null) return set(link, "d", "");
    const x0 = grid.node.offsetLeft + EDGE + cells.corner(spot.flat)[0] + cells.cell / 2;
    const y0 =
      grid.node.offsetTop + EDGE + Math.min(cells.totalHeight, grid.node.clientHeight - 2 * EDGE);
    const [x1, y1] = [offsetLeft + EDGE + g.middle(spot.element), offsetTop + EDGE + y];
    const bend = Math.max(20, (y1 - y0) / 2);
    set(link, "d", `M${x0},${y0}C${x0},${y0 + bend} ${x1},${y1 - bend} ${x1},${y1}`);
  }

  // Another layout at once, by a preset, a step, Python or an undo: its numbers come out of their slots, which stay. A copy
  // writes slots: there they come out of their cells. Not while a hand moves a slider: that is the motion.
  function move({ elements }, before, { layout, copies }) {
    if (sameLayout(before.layout, layout) && before.copies === copies) return;
    motion.end(); // what moves reaches out of its pane, which would look cut
    if (tape.geometry().dense || [grid.node, tape.node].some(isCut)) return;
    const [cells, slots] = [grid.cells(), elements.map(tape.slot)];
    const ways = cells.map((cell, flat) => slots[flat] && wayFrom(slots[flat], cell));
    if (copies <= before.copies) return motion.travel(grid.node, cells, ways);
    motion.travel(
      tape.node,
      slots,
      ways.map((way) => way?.map((by) => -by)),
    );
  }

  function change(layout, index, chain = null) {
    const { shape } = layout;
    const inside = shape.map((n, d) => Math.min(index ? (index[d] ?? 0) : n >> 1, n - 1));
    Object.assign(own, NOWHERE);
    shell.change({ ...layout, index: shape.includes(0) ? null : inside, chain });
  }

  function select(flat) {
    const { layout, chain } = stateNow();
    change(layout, unflatten(layout.shape, flat), chain);
  }

  function goToSlot(slot) {
    const { layout, index } = stateNow();
    const owned = reach(layout).owners.get(slot);
    if (owned) {
      const current = index === null ? -1 : owned.indexOf(flatten(layout.shape, index));
      select(owned[own.tapeCursor === null ? (current + 1) % owned.length : Math.max(current, 0)]);
    }
    own.tapeCursor = slot;
    shell.redraw();
  }

  function hover(which, what) {
    own.hoverFlat = own.hoverSlot = null;
    own[which] = what;
    shell.redraw();
  }

  function lightUp(term) {
    own.lit = term;
    shell.redraw();
  }

  shell.atEnd(() => {
    placed.disconnect();
    motion.end();
  });
  return shell.open(head, rest);
}

// The explorer that opens a notebook takes the keys once Shift+Enter has run it: the next key moves a stride.
// Nowhere else: not below another widget or further down, not after Run All, not while somebody types, not where a notebook is only opened.
const SHORTCUTS = "data-lm-suppress-shortcuts"; // see OWN_KEYS in page/dom.js
const NEAR = 3; // cells from the top, where a title and the set-up may come first

/** Give the focus to a slider, if its widget is the notebook's first and Shift+Enter has just gone on to the next cell. */
function takeKeys(el, slider, signal) {
  const { cell, number, book, active: next, ahead } = cellOf(el);
  if (
    !next?.contains(document.activeElement) ||
    ahead !== 1 ||
    !book.matches(".jp-mod-commandMode")
  )
    return;
  if (number >= NEAR || !cell.contains(book.querySelector(".stridekit"))) return;
  addEventListener("keydown", goOn, { capture: true, signal });
  slider.addEventListener("blur", () => removeEventListener("keydown", goOn, true), { once: true });
  slider.focus({ preventScroll: true });

  /** Escape and Shift+Enter go on to the next cell; JupyterLab, which listens later, has the latter, too. */
  function goOn(event) {
    if (event.key !== "Escape" && !(event.key === "Enter" && event.shiftKey)) return;
    next.focus({ preventScroll: true });
    slider.removeAttribute(SHORTCUTS);
    setTimeout(() => slider.setAttribute(SHORTCUTS, "true"));
  }
}
