// ChannelsLastExplorer: one tensor, and its elements in memory in both formats, side by side where there is room.
//
// The state in the model is {shape, index, highlight}; the box under the pointer belongs to this view.

import { FORMATS, badge, code, facts, group, layouts, orders, place, spread, step, verdicts } from "./words.js";
import { createPlanes, createSizes, createTape, rowOf } from "./panes.js";
import { flatten, product, unflatten } from "../page/layout.js";
import { h, set } from "../page/dom.js";
import { createChoice, createCode, createVerdicts } from "../page/panels.js";
import { createShell } from "../page/shell.js";

const CONTROLS = 230; // their width when they stand beside the planes, and the two tapes side by side,
const WIDE = 720; // in a picture this wide
const BETWEEN = 24;
const NARROWEST = 23; // a box and its gap
const HIGHLIGHTS = [["pixel", "a pixel's channels"], ["channel", "a channel's pixels"]];

/** The height of a box, by the rows of the tallest part: all of them fit one screen. */
const boxHeight = (rows) => (rows <= 6 ? 24 : rows <= 9 ? 18 : 15);

function render({ model, el }) {
  const shell = createShell({ model, el }, {
    label: "channels-last explorer", kind: "sk-channels", traits: ["_state"], draw,
    forget: () => (hovered = null), // the hovered element may not exist in a new shape
    code: () => code(model.get("_state")), facts,
  });
  const { id } = shell;
  const state = () => model.get("_state");
  const change = (changed) => shell.change({ ...state(), ...changed });
  const hand = { onHover: hover, onMove: select };
  let hovered = null; // the element under the pointer, by its number in row-major order

  const choice = createChoice("what lights up", HIGHLIGHTS, (highlight) => change({ highlight }));
  const key = h("p", { class: "sk-note", text: "b12 is channel b at h = 1, w = 2." });
  const head = h("div", { class: "sk-head" }, choice.node, key);
  const sizes = createSizes(id, resize);
  const ambiguity = h("strong", { class: "sk-badge" });
  const planes = createPlanes(id, hand);
  const top = h("div", { class: "sk-top" }, h("div", { class: "sk-controls" }, sizes.node, ambiguity), planes.node);
  const idea = h("p", { class: "sk-idea" });
  const where = h("p", { class: "sk-place" });
  const tapes = FORMATS.map((name) => createTape(id, name, hand));
  const both = h("div", { class: "sk-both" }, ...tapes.map((tape) => tape.node));
  const flags = createVerdicts();
  const codeBox = createCode();

  let laidOut = "";
  let now = {}; // depends only on the shape

  function draw() {
    const { shape, index, highlight } = state();
    if (`${shape} ${shell.width}` !== laidOut) layOut(shape);
    const here = hovered === null ? index : unflatten(shape, hovered);
    const view = {
      lit: new Set(group(shape, here, highlight).map((each) => flatten(shape, each))),
      spot: flatten(shape, here),
      selected: flatten(shape, index),
    };
    sizes.draw(shape);
    choice.draw(highlight);
    planes.draw(view);
    FORMATS.forEach((name, k) => tapes[k].draw(view, now[name], step(now[name], here, highlight)));
    const [sentence, placed] = [spread(shape, here, highlight), place(shape, here)];
    set(idea, "text", sentence);
    set(where, "text", placed);
    shell.speak(`${placed} ${sentence}`);
  }

  /** Redraw what depends on the shape or the width: the places of all boxes, the flags, the code. */
  function layOut(shape) {
    laidOut = `${shape} ${shell.width}`;
    now = layouts(shape);
    const beside = shell.width >= WIDE;
    set(top, "data-beside", String(beside));
    set(both, "data-beside", String(beside));
    const width = beside ? Math.floor((shell.width - BETWEEN) / 2) : shell.width;
    const [images, , lines] = shape;
    const rows = Math.max(images * lines, product(shape) / rowOf(shape, width, NARROWEST));
    const boxes = beside ? { height: boxHeight(rows), narrowest: NARROWEST } : { height: 27, narrowest: 24 };
    planes.layOut(shape, beside ? shell.width - CONTROLS - BETWEEN : shell.width, boxes);
    const inMemory = orders(shape);
    FORMATS.forEach((name, k) => tapes[k].layOut(shape, inMemory[name], width, boxes));
    const sentence = badge(shape);
    set(ambiguity, "text", sentence);
    set(ambiguity, "data-ambiguous", String(sentence.startsWith("ambiguous")));
    flags.draw(verdicts(shape));
    codeBox.draw(code({ shape }));
  }

  function hover(flat) {
    if (flat === hovered) return;
    hovered = flat;
    draw();
  }

  function select(flat) {
    hovered = null;
    change({ index: unflatten(state().shape, flat) });
  }

  function resize(d, size) {
    const { shape, index } = state();
    hovered = null;
    const next = shape.map((old, k) => (k === d ? size : old));
    change({ shape: next, index: index.map((i, k) => Math.min(i, next[k] - 1)) });
  }

  return shell.open(head, top, idea, where, both, flags.node, codeBox.node);
}

export default { render };
