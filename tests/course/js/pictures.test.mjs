// The places of all cells, slots, marks and words of the stride explorer and of a reshape, for many
// layouts, widths and pointers. pictures.json has a digest of each layout's (record.mjs).

import assert from "node:assert/strict";
import test from "node:test";

import { arrange, pitchFor } from "../../../stridekit/widgets/alias_explorer/panes.js";
import * as drill from "../../../stridekit/widgets/drill/picture.js";
import { numel, range } from "../../../stridekit/widgets/page/layout.js";
import { spread } from "../../../stridekit/widgets/reshape_stepper/figure.js";
import { gridGeometry, movedIndex } from "../../../stridekit/widgets/stride_explorer/grid.js";
import { marksOf } from "../../../stridekit/widgets/stride_explorer/marks.js";
import { tapeGeometry, tapeRows } from "../../../stridekit/widgets/stride_explorer/tape.js";
import * as views from "../../../stridekit/widgets/stride_explorer/views.js";
import { middleOf, windowFor } from "../../../stridekit/widgets/stride_explorer/window.js";
import * as lines from "../../../stridekit/widgets/traversal_explorer/lines.js";
import { openRecord } from "./record.mjs";

/** @import { Layout } from "../../../stridekit/widgets/page/layout.js" */
/** @import { Pointer } from "../../../stridekit/widgets/stride_explorer/views.js" */

const assertPictured = openRecord("pictures.json");

/** @type {[shape: number[], stride: number[], offset: number, itemsize: number, size: number][]} */
const LAYOUTS = [
  [[], [], 7, 8, 40],
  [[5], [3], 4, 2, 40],
  [[70], [1], 0, 1, 70],
  [[3, 4], [10, 1], 3, 4, 40],
  [[4, 6], [1, 4], 0, 16, 24],
  [[4, 6], [8, 1], 2, 4, 50],
  [[3, 3], [1, 1], 5, 4, 64],
  [[3, 4], [0, 2], 1, 4, 40],
  [[3, 0], [1, 1], 2, 4, 40],
  [[3, 4], [-4, 1], 20, 8, 40],
  [[3, 2], [16, 15], 1, 4, 96],
  [[3, 2], [-20, 1], 60, 4, 96],
  [[6, 4], [0, 2], 1, 4, 40],
  [[5, 7], [2, 3], 0, 4, 40],
  [[2, 2, 3, 2], [9, 6, 2, 1], 5, 16, 40],
  [[2, 3, 4, 5], [60, 20, 5, 1], 0, 2, 120],
  [[3, 40], [40, 1], 0, 4, 120],
  [[4, 4], [20_000, 999], 17, 4, 80_000],
  [[16, 32], [32, 1], 0, 4, 512],
  [[64, 64], [1, 64], 0, 4, 4096],
  [[12, 5, 9], [45, 9, 1], 0, 4, 540],
  [[300, 300], [300, 1], 0, 4, 90_000],
  [[6, 5, 4, 3, 2, 70], [8400, 1680, 420, 140, 70, 1], 0, 4, 50_400],
];
const WIDTHS = [914, 560, 390];
/** @type {Pointer} */
const NOWHERE = { hoverFlat: null, hoverSlot: null, tapeCursor: null, lit: null };

/**
 * What may be pointed at: nothing, a cell, a slot, a slot by keys, and each term.
 * @param {Layout} layout
 */
function pointersFor({ shape, storage_offset }) {
  /** @type {Partial<Pointer>[]} */
  const parts = [
    {},
    { hoverFlat: 0 },
    { hoverFlat: 5 },
    { hoverFlat: 1e6 },
    { hoverSlot: 0 },
    { hoverSlot: storage_offset + 1 },
    { hoverSlot: 30, tapeCursor: 2 },
    { tapeCursor: storage_offset },
    { hoverFlat: 1, tapeCursor: 3 },
    { lit: "offset" },
    ...range(shape.length).map((lit) => ({ lit })),
  ];
  return parts.map((part) => ({ ...NOWHERE, ...part }));
}

/** The numbers of a geometry, and its functions at some elements. */
function placesIn(geometry, elements, names) {
  const at = names.map((name) => elements.map((element) => geometry[name](element)));
  return [geometry, at];
}

/**
 * All pictures of a layout.
 * @param {Layout} layout
 * @param {number} storageSize
 */
function picturesOf(layout, storageSize) {
  const middle = middleOf(layout);
  const last = middle && layout.shape.map((size) => size - 1);
  /** @type {any[][]} */
  const fields = [["storage_offset"]];
  for (const dim of range(layout.shape.length)) fields.push(["size", dim], ["stride", dim]);
  const sliders = views.slidersFor(layout, storageSize);
  const limits = fields.map(([field, dim]) =>
    views.limit(layout, storageSize, sliders, field, dim),
  );
  /** @type {any[]} */
  const pictures = [
    views.verdicts(layout, storageSize),
    limits,
    [0, 64, 65, 1000].map((size) => [
      views.slidersFor(layout, size),
      views.whyNotDrawn(layout, size),
    ]),
    views.presetsOf(layout, "t"),
  ];
  for (const index of [middle, last]) {
    const window = windowFor(layout, index);
    const state = { ...layout, index, chain: null, window, values: false };
    const sliderMax = views.slidersFor(layout, storageSize);
    const labelOf = (element) => (element % 7 ? String(element) : "nan");
    for (const [k, pointer] of pointersFor(layout).entries()) {
      const isNumbered = k % 2 === 1;
      const picture = { state, storageSize, sliderMax, name: "t", labelOf, isNumbered, longest: 1 };
      const view = views.viewOf(picture, pointer);
      const slots = range(Math.min(storageSize, 80));
      const cells = range(Math.min(numel(view.part), 20));
      const says = [views.words(view), cells.map(view.named), cells.map(view.indexOf)];
      const described = [
        cells.map((flat) => views.describeCell(view, flat)),
        k % 4 ? [] : slots.map((element) => views.describeSlot(view, element)),
      ];
      const odd = ["nan", "-inf", "1"].map((text) => views.isOdd(view, text));
      const { elements, spot, selected, sharers, tapeCursor, longest } = view;
      pictures.push([says, described, odd, elements, spot, selected, sharers, tapeCursor, longest]);
      const width = WIDTHS[k % WIDTHS.length];
      const tight = k % 2 === 0;
      const tape = tapeGeometry(storageSize, view.part, width, view.owners, 1 + (k % 5), tight);
      const shownSlots = slots.filter(tape.has);
      pictures.push(placesIn(tape, shownSlots, ["left", "middle", "top", "below"]));
      pictures.push(marksOf(tape, view));
    }
  }
  return pictures;
}

for (const [shape, stride, storage_offset, itemsize, size] of LAYOUTS) {
  const name = `${JSON.stringify(shape)} by ${JSON.stringify(stride)}, ${itemsize} bytes`;
  test(`the pictures of ${name}`, () => {
    const layout = { shape, stride, storage_offset, itemsize };
    assertPictured(name, picturesOf(layout, size));
  });
}

const GRID_SHAPES = [
  ...[[], [1], [12], [13], [40], [300], [0], [4, 6], [5, 12], [5, 13], [40, 3], [41, 3], [65, 2]],
  ...[
    [2, 40],
    [16, 16],
    [16, 17],
    [64, 64],
    [3, 0],
    [2, 3, 4],
    [7, 3, 4],
    [2, 9, 30],
    [9, 8, 8],
  ],
  ...[
    [2, 3, 4, 5],
    [3, 2, 2, 2],
    [2, 8, 8, 8],
    [1, 40, 2, 2],
    [2, 3, 16, 16],
  ],
];

test("the places of the cells of a grid", () => {
  const grids = [];
  for (const shape of GRID_SHAPES)
    for (const width of [914, 700, 550, 390])
      for (const longest of [1, 3, 6])
        for (const room of [Infinity, 300, 150])
          for (const wraps of [true, false]) {
            const grid = gridGeometry(shape, width, wraps, longest, room);
            const flats = range(Math.min(numel({ shape }), 70));
            grids.push([placesIn(grid, flats, ["corner"]), range(4).map(grid.place)]);
          }
  assertPictured("grids", grids);
});

test("the rows of a tape, and what they leave out", () => {
  const tapes = [];
  for (const size of [1, 15, 16, 17, 128, 129, 700])
    for (const step of [1, 16, 17, 40, 90])
      for (const most of [3, 24]) {
        const owners = new Map();
        for (let element = 5; element < size; element += step) owners.set(element, [0]);
        tapes.push(tapeRows(size, 16, owners, most));
      }
  assertPictured("tapes", tapes);
});

test("a key moves an index along one dim, and never out of it", () => {
  const moves = [];
  const arrows = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
  const pages = ["Home", "End", "PageUp", "PageDown", "Shift+PageUp", "Shift+PageDown"];
  for (const key of [...arrows, ...arrows.map((arrow) => `Control+${arrow}`), ...pages, "Enter"])
    for (const at of [0, 1, 10, 18, 19])
      for (const ndim of [0, 1, 2, 3, 4, 5]) {
        const shape = new Array(ndim).fill(20);
        const index = new Array(ndim).fill(at);
        moves.push(movedIndex(shape, index, key), movedIndex(shape, index, key, [0, ndim - 1]));
      }
  assertPictured("moves", moves);
});

test("the boxes of old and new dims stand apart, and within their width", () => {
  const figures = [];
  for (const old of [[], [24], [0, 3], [4, 6], [2, 1, 3, 4], [1, 24, 1], [2, 2, 2, 3]])
    for (const fresh of [[], [24], [3, 8], [1, 24], [2, 2, 6], [4, 3, 1, 2]])
      for (const width of [900, 500, 320]) figures.push(spread(old, fresh, width));
  assertPictured("figures", figures);
});

test("the places of boxes in the grids of an alias and of a drill", () => {
  const places = [];
  for (const shape of GRID_SHAPES.filter((shape) => numel({ shape }) <= 300)) {
    for (const width of [914, 400, 250, 150, 90]) {
      const inDrill = drill.arrange(shape, width);
      const sorted = [...inDrill.flats].sort((a, b) => a - b);
      assert.deepEqual(sorted, range(numel({ shape }))); // each element has one place
      places.push(inDrill);
      for (const longest of [1, 3, 6])
        for (const pitch of [44, 33])
          places.push(arrange(shape, numel({ shape }), longest, { pitch, lines: 1, width }));
    }
    // Exactly as wide as two planes, and 1 px less.
    const width = 2 * (shape.at(-1) ?? 1) * 25 + 12;
    places.push(drill.arrange(shape, width), drill.arrange(shape, width - 1));
  }
  assertPictured("boxes of grids", places);
});

test("the boxes in a row of a storage", () => {
  const rows = [];
  for (const count of [0, 1, 7, 12, 16, 17, 40])
    for (const width of [914, 401, 400, 399, 300, 200, 199, 100, 90])
      for (const perLine of [undefined, 4, 8, 16, 32])
        rows.push(drill.boxesInRow(count, perLine, width));
  for (const room of [880, 400, 330, 329, 200])
    for (const counts of [[], [1], [10], [8, 24], [10, 10], [96]])
      for (const value of [1, 100, -12_345])
        rows.push(
          pitchFor(
            counts.map((count) => new Array(count).fill(value)),
            room,
          ),
        );
  assertPictured("rows of storages", rows);
});

test("the cache lines that are drawn, and the boxes in them", () => {
  const drawn = [];
  for (const touched of [[], [3], [0, 15], [0, 16], [2, 17], [2, 18], [40, 3, 40, 9], [7, 8, 7]])
    drawn.push(lines.linesToShow(touched.map((line) => ({ line }))));
  for (const [shape, stride, storage_offset, itemsize] of LAYOUTS)
    if (numel({ shape }) <= 120)
      for (const alignment of [0, 4, 60])
        drawn.push(lines.boxesOf({ shape, stride, storage_offset, itemsize }, alignment));
  for (const texts of [[], ["1"], ["1", "-12345"]])
    for (const height of [20, 19, 17, 16]) drawn.push(lines.widthFor(texts, height));
  assertPictured("cache lines", drawn);
});
