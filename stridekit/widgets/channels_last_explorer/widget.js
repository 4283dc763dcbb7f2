// ChannelsLastExplorer: one tensor, its elements in memory in both formats, and the effect of layers on them.
//
// The state in the model is {shape, index, highlight, layers, input}; the box under the pointer belongs to this view.

import { FORMATS, badge, code, group, layouts, orders, place, spread, step, verdicts } from "./words.js";
import { createChoice, createNetwork, createPlanes, createSizes, createTape } from "./panes.js";
import { facts } from "./facts.js";
import { flatten, unflatten } from "../page/layout.js";
import { h, set } from "../page/dom.js";
import { createCode, createVerdicts } from "../page/panels.js";
import { createShell } from "../page/shell.js";

const CONTROLS = 250; // their width when they stand beside the planes, in a picture this wide:
const WIDE = 880;
const HIGHLIGHTS = [["pixel", "a pixel's channels"], ["channel", "a channel's pixels"]];

function render({ model, el }) {
  const shell = createShell({ model, el }, {
    label: "channels-last explorer", kind: "sk-channels", traits: ["_state", "_network"], draw,
    forget: () => (hovered = null), // the hovered element may not exist in a new shape
    code: () => code(model.get("_state").shape), facts,
  });
  const { id } = shell;
  const state = () => model.get("_state");
  const change = (changed) => shell.change({ ...state(), ...changed });
  const hand = { onHover: hover, onMove: select };
  let spoken = ""; // the last sentence on the network
  let hovered = null; // the element under the pointer, by its number in row-major order

  const sizes = createSizes(id, resize);
  const choice = createChoice("what lights up", HIGHLIGHTS, (highlight) => change({ highlight }));
  const planes = createPlanes(id, hand);
  const tapes = FORMATS.map((name) => createTape(id, name, hand));
  const idea = h("p", { class: "sk-idea" });
  const where = h("p", { class: "sk-place" });
  const ambiguity = h("strong", { class: "sk-badge" });
  const flags = createVerdicts();
  const codeBox = createCode();
  const network = createNetwork(id, model.get("_network"), {
    onInput: (input) => change({ input }),
    onSwitch: (name, on) =>
      change({ layers: on ? [...state().layers, name] : state().layers.filter((other) => other !== name) }),
  });
  const key = h("p", { class: "sk-note", text: "b12 is channel b at h = 1, w = 2." });
  const controls = h("div", { class: "sk-controls" }, sizes.node, choice.node, key);
  const top = h("div", { class: "sk-top" }, controls, planes.node);

  let laidOut = "";
  let now = {}; // depends only on the shape

  function draw() {
    const { shape, index, highlight, ...rest } = state();
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
    FORMATS.forEach((name, k) => {
      const layout = now.layouts[name];
      tapes[k].draw(view, layout, step(layout, here, highlight));
    });
    const [sentence, placed] = [spread(shape, here, highlight), place(shape, here)];
    set(idea, "text", sentence);
    set(where, "text", placed);
    const passed = network.draw(rest);
    shell.speak(spoken && spoken !== passed ? passed : `${placed} ${sentence}`);
    spoken = passed;
  }

  /** Redraw what depends on the shape or the width: the places of all boxes, the flags, the code. */
  function layOut(shape) {
    laidOut = `${shape} ${shell.width}`;
    now = { layouts: layouts(shape), orders: orders(shape) };
    const beside = shell.width >= WIDE;
    set(top, "data-stacked", String(!beside));
    planes.layOut(shape, now.orders.planes, beside ? shell.width - CONTROLS - 24 : shell.width);
    FORMATS.forEach((name, k) => tapes[k].layOut(shape, now.orders[name], shell.width));
    const sentence = badge(shape);
    set(ambiguity, "text", sentence);
    set(ambiguity, "data-ambiguous", String(sentence.startsWith("ambiguous")));
    flags.draw(verdicts(shape));
    codeBox.draw(code(shape));
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

  return shell.open(top, idea, where, ...tapes.map((tape) => tape.node),
    h("div", { class: "sk-flags" }, ambiguity, flags.node), codeBox.node, network.node);
}

export default { render };
