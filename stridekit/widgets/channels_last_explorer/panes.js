// The parts of ChannelsLastExplorer: sizes, the tensor's planes, and a tape for each format.

import { flatten, product, unflatten } from "../page/layout.js";
import { LETTERS, MAX_SIZES, apart, label, most, planes } from "./words.js";
import { fit, h, set } from "../page/dom.js";
import { createMarks, createSlider } from "../page/panels.js";
import { createStrip } from "../page/strip.js";

const SIZES = [["N", "images"], ["C", "channels"], ["H", "height"], ["W", "width"]];
const NAMES = 44; // left of the planes, for the images
const NUMBERS = 28; // and left of a tape
const GAP = 3;
const BETWEEN_IMAGES = 6;
const BETWEEN_PLANES = 14;
const HEAD = 20; // above a row of planes

/** A native slider for each size. */
export function createSizes(id, onChange) {
  const sliders = SIZES.map(([name, what], d) =>
    createSlider(`${id}-size${d}`, [`${name} `, h("small", { text: what })], {
      min: "1", max: String(MAX_SIZES[d]), onInput: (size) => onChange(d, size),
    }));
  return {
    node: h("div", { class: "sk-sizes", role: "group", "aria-label": "sizes of the tensor" },
      ...sliders.map(({ nodes }, d) => h("div", { class: `sk-slider sk-d${d}` }, ...nodes))),
    draw: (shape) => sliders.forEach((slider, d) => slider.draw(shape[d])),
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
  const strip = createStrip(id, { label, gap: GAP, of: (k) => boxes[k].flat, ...hand });
  return {
    strip,
    fill(made) {
      boxes = made;
      fit(strip.node, ["a00"], strip.boxWidth() + 6);
    },
    draw: (view) => strip.draw(look(boxes, view), boxes.findIndex(({ flat }) => flat === view.selected)),
  };
}

/** The tensor by index: for each image its planes, one per channel, as many side by side as there is room for. */
export function createPlanes(id, hand) {
  const { strip, fill, draw } = createElements(`${id}-planes`, "the tensor: planes of channels", hand);
  const marks = createMarks();
  const node = h("div", { class: "sk-planes", style: `--gutter:${NAMES}px;--head:${HEAD}px` }, marks.node, strip.node);
  return {
    node, draw,
    layOut(shape, width, { height, narrowest }) {
      const [n, c, rows, w] = shape;
      const across = most(c, Math.floor((width - NAMES + BETWEEN_PLANES) / (narrowest * w + BETWEEN_PLANES)));
      const room = width - NAMES - (across - 1) * BETWEEN_PLANES;
      const wrapped = across < c;
      const order = planes(shape, across);
      strip.layOut(order.length, across * w, Math.min(room, across * w * 36), {
        columns: [w, BETWEEN_PLANES], rows: [rows, wrapped ? HEAD : BETWEEN_IMAGES], height,
      });
      fill(boxesOf(shape, order, (name) => name));
      const corner = (image, k) => order.indexOf(flatten(shape, [image, k, 0, 0]));
      const named = (image) => Array.from({ length: c }, (_, k) =>
        [w < 2 ? `${LETTERS[k]}: ${k}` : `c = ${k}: ${LETTERS[k]}`, strip.left(corner(image, k)), strip.top(corner(image, k)) - HEAD + 1, "sk-d1"]);
      const images = Array.from({ length: n }, (_, k) => k);
      const sides = images.map((k) => [`n = ${k}`, -NAMES, strip.top(corner(k, 0)) + height / 2 - 9, "sk-d0"]);
      marks.draw([...images.slice(0, wrapped ? n : 1).flatMap(named), ...sides]);
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
  const head = h("div", { class: "sk-tapehead" }, h("code", { text: name }), gap,
    h("span", { class: "sk-steps" }, "stride ", ...steps.map((step) => step.node)));
  const tape = h("div", { class: "sk-tape", style: `--gutter:${NUMBERS}px` }, marks.node, strip.node);
  return {
    node: h("div", {}, head, tape),
    layOut(shape, order, width, { height, narrowest }) {
      const inRow = rowOf(shape, width, narrowest);
      const image = flatten(shape, [1, 0, 0, 0]);
      strip.layOut(order.length, inRow, Math.min(width - NUMBERS, inRow * 42), {
        rows: [image / inRow, BETWEEN_IMAGES], height,
      });
      fill(boxesOf(shape, order, (box, k) => `${box}: element ${k}`));
      const firsts = Array.from({ length: order.length / inRow }, (_, row) => row * inRow);
      marks.draw(firsts.map((k) => [String(k), -8, strip.top(k) + height / 2 - 9, "is-number"]));
    },
    draw(view, layout, apartBy) {
      draw(view);
      steps.forEach(({ number }, d) => set(number, "text", String(layout.stride[d])));
      set(gap, "text", apart(apartBy));
      set(gap, "data-near", String(apartBy === 1));
    },
  };
}

/** The number of boxes in a row of a tape: each image begins a row. */
export const rowOf = (shape, width, narrowest) => most(product(shape.slice(1)), Math.floor((width - NUMBERS) / narrowest));
