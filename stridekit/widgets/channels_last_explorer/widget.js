// ChannelsLastExplorer: a tensor, and its elements in memory in both formats, side by side where
// there is room. The state in the model is {shape, index, highlight}; the box under the pointer
// belongs to this view.

import { fill, fit, h, paragraphs, set, setAll } from "../page/dom.js";
import { flatten, product, range, same, unflatten } from "../page/layout.js";
import { wayFrom } from "../page/motion.js";
import {
  createChoice,
  createCode,
  createElements,
  createMarks,
  createSizes,
  createVerdicts,
} from "../page/panels.js";
import { createShell, WIDE } from "../page/shell.js";
import {
  apart,
  badge,
  code,
  FORMATS,
  facts,
  group,
  LETTERS,
  label,
  largestDivisor,
  layouts,
  MAX_SIZES,
  orders,
  place,
  planes,
  spread,
  step,
  verdicts,
} from "./formats.js";

/** @import { State } from "./formats.js" */

const CONTROLS = 230; // px: the width of the controls where they stand beside the planes
const BETWEEN = 24; // px from part to part
const NARROWEST = 23; // px of a box and its gap
const NAMES = 44; // px left of the planes, for the images
const NUMBERS = 28; // px left of a tape
const GAP = 3; // px from box to box,
const BETWEEN_IMAGES = 6; // from image to image,
const BETWEEN_PLANES = 14; // and from plane to plane
const HEAD = 20; // px above a row of planes
const HIGHLIGHTS = [
  ["pixel", "a pixel's channels"],
  ["channel", "a channel's pixels"],
];
const SIZES = [
  ["N", "images"],
  ["C", "channels"],
  ["H", "height"],
  ["W", "width"],
];

const ROOM = { planes: 138, tape: 180 }; // px of height, where parts stand side by side
const HEIGHT = { least: 11, most: 27 }; // px of a box there

/** The height of a box with which so many rows, in groups of an image, fit into a room. */
function boxHeight(rows, images, room) {
  const fair = Math.floor((room - (images - 1) * BETWEEN_IMAGES) / rows) - GAP;
  return Math.max(HEIGHT.least, Math.min(fair, HEIGHT.most));
}

export function render(view) {
  const shell = createShell(view, {
    label: "channels-last explorer",
    kind: "sk-channels",
    draw,
    code,
    moves: true,
    facts,
  });
  const { id, motion } = shell;
  /** @type {() => State} */
  const state = shell.state;
  const hand = {
    onHover: shell.hover,
    onMove: (flat) => shell.put({ index: unflatten(state().shape, flat) }),
  };

  const choice = createChoice("what lights up", HIGHLIGHTS, (highlight) => {
    const isOther = highlight !== state().highlight;
    shell.put({ highlight });
    if (isOther) motion.play();
  });
  const key = h("p", { class: "sk-note", text: "b12 is channel b at h = 1, w = 2." });
  const head = h("div", { class: "sk-head" }, choice.node, key);
  const sizes = createSizes(
    id,
    "sizes of the tensor",
    SIZES.map(([name, meaning], d) => [
      d,
      { min: 1, max: MAX_SIZES[d] },
      [`${name} `, h("small", { text: meaning })],
      `sk-d${d}`,
    ]),
    resize,
  );
  const ambiguity = h("strong", { class: "sk-badge" });
  const pane = createPlanes(id, hand);
  const top = h(
    "div",
    { class: "sk-top" },
    h("div", { class: "sk-controls" }, sizes.node, ambiguity),
    pane.node,
  );
  const [idea, where] = paragraphs("sk-idea", "sk-place");
  const tapes = FORMATS.map((name) => createTape(id, name, hand));
  const both = h("div", { class: "sk-both" }, ...tapes.map((tape) => tape.node));
  const flags = createVerdicts();
  const codeBox = createCode();

  /** Change the size of a dim, and keep the index inside. */
  function resize(changed) {
    const { shape: before, index } = state();
    const shape = before.map((size, d) => changed[d] ?? size);
    shell.put({ shape, index: index.map((i, d) => Math.min(i, shape[d] - 1)) });
  }

  function draw() {
    const { shape, index, highlight } = state();
    layOut(shape);
    sizes.draw(shape);
    choice.draw(highlight);
    const note = badge(shape);
    setAll(ambiguity, { text: note, "data-ambiguous": String(note.startsWith("ambiguous")) });
    flags.draw(verdicts(shape));
    codeBox.draw(code({ shape }));

    const spot = shell.hovered === null ? index : unflatten(shape, shell.hovered);
    const lit = new Set(group(shape, spot, highlight).map((member) => flatten(shape, member)));
    const light = {
      spot: String(flatten(shape, spot)),
      selected: String(flatten(shape, index)),
      isLit: (flat) => lit.has(flat),
    };
    pane.draw(light);
    const layoutsByFormat = layouts(shape);
    FORMATS.forEach((name, k) => {
      const layout = layoutsByFormat[name];
      tapes[k].draw(light, layout, step(layout, spot, highlight));
    });
    const sentence = spread(shape, spot, highlight);
    const places = place(shape, spot);
    set(idea, "text", sentence);
    set(where, "text", places);
    remember(state());
    shell.speak(`${places} ${sentence}`);
  }

  /** @type {State | null} */
  let drawn = null;

  /**
   * The values go from their places in contiguous_format to those in channels_last: all of them, or
   * those that light up if these have changed last.
   * @param {State} next
   */
  function remember(next) {
    if (JSON.stringify(next) === JSON.stringify(drawn)) return;
    const { shape, index, highlight } = next;
    const isSameTensor = drawn !== null && same(drawn.shape, shape);
    drawn = next;
    const members = isSameTensor ? group(shape, index, highlight) : null;
    const flats = members?.map((member) => flatten(shape, member));
    motion.remember(next, () => travels(shape, flats));
  }

  function travels(shape, flats = range(product(shape))) {
    const [contiguous, last] = FORMATS.map((name) => orders(shape)[name]);
    const moving = new Set(flats);
    const moves = [];
    for (const [k, flat] of last.entries()) {
      if (!moving.has(flat)) continue;
      const box = tapes[1].box(k);
      moves.push({ box, start: wayFrom(tapes[0].box(contiguous.indexOf(flat)), box) });
    }
    return { layers: [tapes[1].node], moves };
  }

  function layOut(shape) {
    const isBeside = shell.width >= WIDE;
    for (const node of [top, both]) set(node, "data-beside", String(isBeside));
    const half = Math.floor((shell.width - BETWEEN) / 2);
    const width = isBeside ? half : shell.width;
    const [images, , lines] = shape;
    const tapeRows = product(shape) / rowOf(shape, width, NARROWEST);
    const height = Math.min(
      boxHeight(images * lines, images, ROOM.planes),
      boxHeight(tapeRows, images, ROOM.tape),
    );
    const boxes = isBeside ? { height, narrowest: NARROWEST } : { height: 27, narrowest: 24 };
    pane.layOut(shape, isBeside ? shell.width - CONTROLS - BETWEEN : shell.width, boxes);
    const ordersByFormat = orders(shape);
    FORMATS.forEach((name, k) => {
      tapes[k].layOut(shape, ordersByFormat[name], width, boxes);
    });
  }

  return shell.open(head, top, idea, where, both, flags.node, codeBox.node);
}

/** Put the elements of a shape into a strip, in an order of their row-major numbers. */
function put(strip, shape, order, says) {
  strip.put(
    order.map((flat, k) => {
      const index = unflatten(shape, flat);
      return {
        element: flat,
        text: label(index),
        kind: `sk-r${index[1]}`,
        says: says(`x[${index.join(", ")}]`, k),
      };
    }),
  );
  fit(strip.node, ["a00"], strip.boxWidth() + 6);
}

/**
 * The tensor by index: the planes of each image, one per channel, as many side by side as there is
 * room for.
 *
 * @param {string} id
 */
function createPlanes(id, hand) {
  const strip = createElements(`${id}-planes`, {
    label: "the tensor: planes of channels",
    gap: GAP,
    ...hand,
  });
  const marks = createMarks();
  const node = h(
    "div",
    { class: "sk-planes", style: `--gutter:${NAMES}px;--head:${HEAD}px` },
    marks.node,
    strip.node,
  );

  function layOut(shape, width, { height, narrowest }) {
    const [n, c, rows, w] = shape;
    const planeWidth = narrowest * w + BETWEEN_PLANES;
    const across = largestDivisor(c, Math.floor((width - NAMES + BETWEEN_PLANES) / planeWidth));
    const room = width - NAMES - (across - 1) * BETWEEN_PLANES;
    const isWrapped = across < c;
    const order = planes(shape, across);
    strip.layOut(order.length, across * w, Math.min(room, across * w * 36), {
      columns: [w, BETWEEN_PLANES],
      rows: [rows, isWrapped ? HEAD : BETWEEN_IMAGES],
      height,
    });
    put(strip, shape, order, (name) => name);

    const cornerOf = (image, channel) => order.indexOf(flatten(shape, [image, channel, 0, 0]));
    const channelMark = (image, channel) => {
      const letter = LETTERS[channel];
      const text = w < 2 ? `${letter}: ${channel}` : `c = ${channel}: ${letter}`;
      const corner = cornerOf(image, channel);
      return [text, strip.left(corner), strip.top(corner) - HEAD + 1, "sk-d1"];
    };
    const imageMark = (image) => {
      const top = strip.top(cornerOf(image, 0)) + height / 2 - 9;
      return [`n = ${image}`, -NAMES, top, "sk-d0"];
    };
    // Without a second row of planes, the names above the first image serve all images.
    const named = range(isWrapped ? n : 1);
    marks.draw([
      ...named.flatMap((image) => range(c).map((channel) => channelMark(image, channel))),
      ...range(n).map(imageMark),
    ]);
  }

  return { node, layOut, draw: strip.light };
}

/**
 * The elements in the order of memory, under the strides of the format.
 *
 * @param {string} id
 * @param {string} name
 */
function createTape(id, name, hand) {
  const strip = createElements(`${id}-${name}`, {
    label: `${name}: the order of memory`,
    gap: GAP,
    ...hand,
  });
  const marks = createMarks();
  const head = h("div", { class: "sk-tapehead" });
  const tape = h(
    "div",
    { class: "sk-tape", style: `--gutter:${NUMBERS}px` },
    marks.node,
    strip.node,
  );

  function layOut(shape, order, width, { height, narrowest }) {
    const perRow = rowOf(shape, width, narrowest);
    const perImage = flatten(shape, [1, 0, 0, 0]);
    strip.layOut(order.length, perRow, Math.min(width - NUMBERS, perRow * 42), {
      rows: [perImage / perRow, BETWEEN_IMAGES],
      height,
    });
    put(strip, shape, order, (box, k) => `${box}: element ${k}`);
    const firsts = range(order.length / perRow).map((row) => row * perRow);
    marks.draw(firsts.map((k) => [String(k), -8, strip.top(k) + height / 2 - 9, "is-number"]));
  }

  /** @param {number | null} distance from a member of the group to the next, in elements */
  function draw(light, { stride }, distance) {
    strip.light(light);
    const strides = SIZES.map(([size], d) => [
      "span",
      { class: `sk-d${d}` },
      ["span", { text: `${size} ` }],
      ["b", { text: String(stride[d]) }],
    ]);
    fill(
      head,
      ["code", { text: name }],
      ["span", { class: "sk-apart", text: apart(distance), "data-near": String(distance === 1) }],
      ["span", { class: "sk-steps" }, ["span", { text: "stride " }], ...strides],
    );
  }

  return { node: h("div", {}, head, tape), layOut, draw, box: strip.box };
}

/** The number of boxes in a row of a tape: a divisor of an image. */
const rowOf = (shape, width, narrowest) =>
  largestDivisor(product(shape.slice(1)), Math.floor((width - NUMBERS) / narrowest));
