// ChannelsLastExplorer: one tensor, and its elements in memory in both formats, side by side where there is room.
// The state in the model is {shape, index, highlight}; the box under the pointer belongs to this view.

import { fill, fit, h, paragraphs, set, setAll } from "../page/dom.js";
import { flatten, product, range, unflatten } from "../page/layout.js";
import {
  createChoice,
  createCode,
  createElements,
  createMarks,
  createSizes,
  createVerdicts,
} from "../page/panels.js";
import { createShell } from "../page/shell.js";
import {
  apart,
  badge,
  code,
  FORMATS,
  facts,
  group,
  LETTERS,
  label,
  layouts,
  MAX_SIZES,
  most,
  orders,
  place,
  planes,
  spread,
  step,
  verdicts,
} from "./formats.js";

const CONTROLS = 230; // their width when they stand beside the planes, and the two tapes side by side,
const WIDE = 720; // in a picture this wide
const BETWEEN = 24;
const NARROWEST = 23; // a box and its gap
const [NAMES, NUMBERS] = [44, 28]; // left of the planes, for the images, and left of a tape
const [GAP, BETWEEN_IMAGES, BETWEEN_PLANES] = [3, 6, 14];
const HEAD = 20; // above a row of planes
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

/** The height of a box, by the rows of the tallest part: all of them fit one screen. */
const boxHeight = (rows) => (rows <= 6 ? 24 : rows <= 9 ? 18 : 15);

export function render(view) {
  const shell = createShell(view, {
    label: "channels-last explorer",
    kind: "sk-channels",
    draw,
    code,
    facts,
  });
  const { id, state } = shell;
  const hand = {
    onHover: shell.hover,
    onMove: (flat) => shell.put({ index: unflatten(state().shape, flat) }),
  };

  const choice = createChoice("what lights up", HIGHLIGHTS, (highlight) =>
    shell.put({ highlight }),
  );
  const key = h("p", { class: "sk-note", text: "b12 is channel b at h = 1, w = 2." });
  const head = h("div", { class: "sk-head" }, choice.node, key);
  const sizes = createSizes(
    id,
    "sizes of the tensor",
    SIZES.map(([name, what], d) => [
      d,
      { min: 1, max: MAX_SIZES[d] },
      [`${name} `, h("small", { text: what })],
      `sk-d${d}`,
    ]),
    (changed) => {
      const shape = Object.assign([...state().shape], changed);
      shell.put({ shape, index: state().index.map((i, d) => Math.min(i, shape[d] - 1)) });
    },
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

  function draw() {
    const { shape, index, highlight } = state();
    const now = layouts(shape);
    const beside = shell.width >= WIDE;
    for (const node of [top, both]) set(node, "data-beside", String(beside));
    const width = beside ? Math.floor((shell.width - BETWEEN) / 2) : shell.width;
    const [images, , lines] = shape;
    const rows = Math.max(images * lines, product(shape) / rowOf(shape, width, NARROWEST));
    const boxes = beside
      ? { height: boxHeight(rows), narrowest: NARROWEST }
      : { height: 27, narrowest: 24 };
    pane.layOut(shape, beside ? shell.width - CONTROLS - BETWEEN : shell.width, boxes);
    const inMemory = orders(shape);
    FORMATS.forEach((name, k) => tapes[k].layOut(shape, inMemory[name], width, boxes));
    const told = badge(shape);
    setAll(ambiguity, { text: told, "data-ambiguous": String(told.startsWith("ambiguous")) });
    flags.draw(verdicts(shape));
    codeBox.draw(code({ shape }));
    const here = shell.hovered === null ? index : unflatten(shape, shell.hovered);
    const lit = new Set(group(shape, here, highlight).map((each) => flatten(shape, each)));
    const [spot, selected] = [here, index].map((each) => String(flatten(shape, each)));
    const view = { spot, selected, isLit: (flat) => lit.has(flat) };
    sizes.draw(shape);
    choice.draw(highlight);
    pane.draw(view);
    FORMATS.forEach((name, k) => tapes[k].draw(view, now[name], step(now[name], here, highlight)));
    const [sentence, placed] = [spread(shape, here, highlight), place(shape, here)];
    set(idea, "text", sentence);
    set(where, "text", placed);
    shell.speak(`${placed} ${sentence}`);
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

/** The tensor by index: for each image its planes, one per channel, as many side by side as there is room for. */
function createPlanes(id, hand) {
  const strip = createElements(`${id}-planes`, {
    label: "the tensor: planes of channels",
    gap: GAP,
    ...hand,
  });
  const marks = createMarks();
  return {
    node: h(
      "div",
      { class: "sk-planes", style: `--gutter:${NAMES}px;--head:${HEAD}px` },
      marks.node,
      strip.node,
    ),
    draw: strip.light,
    layOut(shape, width, { height, narrowest }) {
      const [n, c, rows, w] = shape;
      const across = most(
        c,
        Math.floor((width - NAMES + BETWEEN_PLANES) / (narrowest * w + BETWEEN_PLANES)),
      );
      const room = width - NAMES - (across - 1) * BETWEEN_PLANES;
      const wrapped = across < c;
      const order = planes(shape, across);
      strip.layOut(order.length, across * w, Math.min(room, across * w * 36), {
        columns: [w, BETWEEN_PLANES],
        rows: [rows, wrapped ? HEAD : BETWEEN_IMAGES],
        height,
      });
      put(strip, shape, order, (name) => name);
      const corner = (image, k) => order.indexOf(flatten(shape, [image, k, 0, 0]));
      const named = (image) =>
        range(c).map((k) => [
          w < 2 ? `${LETTERS[k]}: ${k}` : `c = ${k}: ${LETTERS[k]}`,
          strip.left(corner(image, k)),
          strip.top(corner(image, k)) - HEAD + 1,
          "sk-d1",
        ]);
      const sides = range(n).map((k) => [
        `n = ${k}`,
        -NAMES,
        strip.top(corner(k, 0)) + height / 2 - 9,
        "sk-d0",
      ]);
      marks.draw([...range(wrapped ? n : 1).flatMap(named), ...sides]);
    },
  };
}

/** The elements in the order of memory, under the strides of the format. */
function createTape(id, name, hand) {
  const strip = createElements(`${id}-${name}`, {
    label: `${name}: the order of memory`,
    gap: GAP,
    ...hand,
  });
  const marks = createMarks();
  const head = h("div", { class: "sk-tapehead" });
  return {
    node: h(
      "div",
      {},
      head,
      h("div", { class: "sk-tape", style: `--gutter:${NUMBERS}px` }, marks.node, strip.node),
    ),
    layOut(shape, order, width, { height, narrowest }) {
      const inRow = rowOf(shape, width, narrowest);
      const image = flatten(shape, [1, 0, 0, 0]);
      strip.layOut(order.length, inRow, Math.min(width - NUMBERS, inRow * 42), {
        rows: [image / inRow, BETWEEN_IMAGES],
        height,
      });
      put(strip, shape, order, (box, k) => `${box}: element ${k}`);
      const firsts = range(order.length / inRow).map((row) => row * inRow);
      marks.draw(firsts.map((k) => [String(k), -8, strip.top(k) + height / 2 - 9, "is-number"]));
    },
    draw(view, { stride }, apartBy) {
      strip.light(view);
      fill(
        head,
        ["code", { text: name }],
        ["span", { class: "sk-apart", text: apart(apartBy), "data-near": String(apartBy === 1) }],
        [
          "span",
          { class: "sk-steps" },
          ["span", { text: "stride " }],
          ...SIZES.map(([size], d) => [
            "span",
            { class: `sk-d${d}` },
            ["span", { text: `${size} ` }],
            ["b", { text: String(stride[d]) }],
          ]),
        ],
      );
    },
  };
}

const rowOf = (shape, width, narrowest) =>
  most(product(shape.slice(1)), Math.floor((width - NUMBERS) / narrowest));
