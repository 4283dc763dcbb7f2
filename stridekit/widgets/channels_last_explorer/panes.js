// The parts of ChannelsLastExplorer: sizes, the tensor's planes, a tape for each format, and the network.

import { flatten, tuple, unflatten } from "../page/layout.js";
import { LETTERS, MAX_SIZES, apart, label, perRow, trace } from "./words.js";
import { fit, h, set } from "../page/dom.js";
import { createChips, createMarks, createSlider } from "../page/panels.js";
import { createStrip } from "../page/strip.js";

const SIZES = [["N", "images"], ["C", "channels"], ["H", "height"], ["W", "width"]];
const GUTTER = 44; // left of the boxes, for the numbers
const HEIGHT = 28; // of a box
const GAP = 4;
const BETWEEN_IMAGES = 8;
const BETWEEN_PLANES = 22;

/** A native slider for each size. */
export function createSizes(id, onChange) {
  const sliders = SIZES.map(([name, what], d) =>
    createSlider(`${id}-size${d}`, [`${name} `, h("small", { text: what })], {
      min: "1", max: String(MAX_SIZES[d]), onInput: (size) => onChange(d, size),
    }));
  return {
    node: h("div", { role: "group", "aria-label": "sizes of the tensor" },
      ...sliders.map(({ nodes }, d) => h("div", { class: `sk-size sk-d${d}` }, ...nodes))),
    draw: (shape) => sliders.forEach((slider, d) => slider.draw(shape[d])),
  };
}

/** Chips, one of them pressed: choices are [value, text]. */
export function createChoice(name, choices, onPick) {
  const { node, draw } = createChips(name, onPick);
  return {
    node,
    draw: (current) => draw(choices.map(([value, text]) => ({ text, isPressed: value === current, value }))),
  };
}

/** The texts and tints of a strip's boxes in an order; they depend only on the shape. */
function boxesOf(shape, order, says) {
  return order.map((flat, k) => {
    const index = unflatten(shape, flat);
    const name = `x[${index.join(", ")}]`;
    return { flat, text: label(index), tint: `sk-r${index[1]}`, says: says(name, k) };
  });
}

const look = (boxes, { lit, spot }) => (k) => {
  const { flat, text, tint, says } = boxes[k];
  const kind = `${tint}${flat === spot ? " is-here" : lit.has(flat) ? " is-lit" : ""}`;
  return { text, says, kind };
};

/** A strip whose boxes stand for elements, known by their numbers in row-major order. */
function createElements(id, label, hand) {
  let boxes = [];
  const strip = createStrip(id, { label, height: HEIGHT, gap: GAP, of: (k) => boxes[k].flat, ...hand });
  return {
    strip,
    fill(made) {
      boxes = made;
      fit(strip.node, ["a00"], strip.boxWidth() + 3);
    },
    draw: (view) => strip.draw(look(boxes, view), boxes.findIndex(({ flat }) => flat === view.selected)),
  };
}

/** The tensor by index: for each image a row of planes, one per channel. */
export function createPlanes(id, hand) {
  const { strip, fill, draw } = createElements(`${id}-planes`, "the tensor: planes of channels", hand);
  const marks = createMarks();
  const node = h("div", { class: "sk-planes" }, marks.node, strip.node);
  return {
    node, draw,
    layOut(shape, order, width) {
      const [n, c, rows, w] = shape;
      const room = width - GUTTER - (c - 1) * BETWEEN_PLANES;
      strip.layOut(order.length, c * w, Math.min(room, c * w * 34), {
        columns: [w, BETWEEN_PLANES], rows: [rows, BETWEEN_PLANES],
      });
      fill(boxesOf(shape, order, (name) => name));
      const heads = Array.from({ length: c }, (_, k) =>
        [w < 2 ? `${LETTERS[k]}: ${k}` : `c = ${k}: ${LETTERS[k]}`, strip.left(k * w), -20, "sk-d1"]);
      const sides = Array.from({ length: n }, (_, k) =>
        [`n = ${k}`, -GUTTER, strip.top(k * rows * c * w) + 5, "sk-d0"]);
      marks.draw([...heads, ...sides]);
    },
  };
}

/** The elements in the order of memory, under the strides of the format. */
export function createTape(id, name, hand) {
  const { strip, fill, draw } = createElements(`${id}-${name}`, `${name}: the order of memory`, hand);
  const steps = SIZES.map(([size], d) => {
    const number = h("b");
    return { number, node: h("span", { class: `sk-d${d}` }, `${size} `, number) };
  });
  const gap = h("span", { class: "sk-apart" });
  const marks = createMarks();
  const head = h("div", { class: "sk-tapehead" }, h("code", { text: name }),
    h("span", { class: "sk-steps" }, "stride ", ...steps.map((step) => step.node)), gap);
  const tape = h("div", { class: "sk-tape" }, marks.node, strip.node);
  return {
    node: h("div", {}, head, tape),
    layOut(shape, order, width) {
      const inRow = perRow(shape, width - GUTTER);
      const image = flatten(shape, [1, 0, 0, 0]);
      strip.layOut(order.length, inRow, Math.min(width - GUTTER, inRow * 42), {
        rows: [image / inRow, BETWEEN_IMAGES],
      });
      fill(boxesOf(shape, order, (box, k) => `${box}: element ${k}`));
      const firsts = Array.from({ length: order.length / inRow }, (_, row) => row * inRow);
      marks.draw(firsts.map((k) => [String(k), -10, strip.top(k) + 5, "is-number"]));
    },
    draw(view, layout, apartBy) {
      draw(view);
      steps.forEach(({ number }, d) => set(number, "text", String(layout.stride[d])));
      set(gap, "text", apart(apartBy));
      set(gap, "data-near", String(apartBy === 1));
    },
  };
}

/** A sentence on the output of the network, to be read aloud. */
const outcome = (last) => {
  if (!last) return "No layer is switched on.";
  const [first, second] = last.map(({ label, note }) => [label, note].filter(Boolean).join(", "));
  return `At the end, x in contiguous_format is: ${first || "nothing"}; x in channels_last is: ${second || "nothing"}.`;
};

/** A row for each layer, with a switch and its outputs for x in both formats. */
export function createNetwork(id, network, { onSwitch, onInput }) {
  const shapes = network.inputs.map(({ shape }, k) => [k, `x of shape ${tuple(shape)}`]);
  const choice = createChoice("input of the network", shapes, onInput);
  const cell = () => {
    const [chip, stride, taken, note] = [h("span"), h("code"), h("p"), h("p")];
    return { chip, stride, taken, note, node: h("td", {}, chip, stride, taken, note) };
  };
  const start = [cell(), cell()];
  const rows = network.layers.map(({ name, code }, k) => {
    const box = h("input", {
      type: "checkbox", id: `${id}-layer${k}`, onchange: () => onSwitch(name, box.checked),
    });
    const text = h("label", { for: `${id}-layer${k}` }, box, h("code", { text: code }));
    const cells = [cell(), cell()];
    const line = h("tr", {}, h("th", { scope: "row" }, text), ...cells.map(({ node }) => node));
    return { name, box, cells, line };
  });
  const heads = ["layer", "x in contiguous_format", "x in channels_last"];
  const table = h("table", {},
    h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col", text })))),
    h("tbody", {},
      h("tr", {}, h("th", { scope: "row" }, h("code", { text: "x" })), ...start.map(({ node }) => node)),
      ...rows.map(({ line }) => line)));

  /** @param {{label: string, stride: number[], note: string} | null} passage */
  function show({ chip, stride, taken, note }, passage) {
    const [format, otherwise = ""] = (passage?.label ?? "").split(", ");
    set(chip, "text", format);
    set(chip, "class", format ? `sk-format is-${format.replace(" ", "-")}` : "");
    set(taken, "text", otherwise);
    set(stride, "text", passage?.stride.length ? tuple(passage.stride) : "");
    const text = passage && !passage.label && !passage.note ? "nothing comes here" : passage?.note ?? "";
    set(note, "text", text);
    set(note, "class", text && !/^(a view|nothing)/.test(text) ? "sk-why" : "sk-note");
  }

  return {
    // A group, not a landmark: a page may have several.
    node: h("div", { class: "sk-network", role: "group", "aria-label": "a small network" },
      h("h3", { text: "Through a network: which layers keep channels_last?" }), choice.node, table),
    draw({ input, layers }) {
      choice.draw(input);
      network.inputs[input].starts.forEach((state, k) => show(start[k], { ...network.states[state], note: "" }));
      const passed = trace(network, input, layers);
      passed.forEach((passages, k) => {
        const { name, box, cells, line } = rows[k];
        box.checked = layers.includes(name);
        set(line, "class", passages ? null : "is-off");
        cells.forEach((each, side) => show(each, passages?.[side] ?? null));
      });
      return outcome(passed.findLast((passages) => passages));
    },
  };
}
