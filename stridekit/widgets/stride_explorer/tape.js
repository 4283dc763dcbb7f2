// The storage as a tape: rows of slots, with marks around them.

/** @import { Hand } from "./canvas.js" */
/** @import { Layout } from "../page/layout.js" */
/** @import { View } from "./views.js" */

import { boxFor, fill, h, s, scaleOf, set } from "../page/dom.js";
import { range } from "../page/layout.js";
import { createBoxes } from "./canvas.js";
import { marksOf } from "./marks.js";
import { createPane } from "./pane.js";
import { describeSlot, isOdd } from "./views.js";

const MAX_ROWS = { roomy: 24, dense: 128 };
const LEAST_HEIGHT = 148; // px that a tape keeps even if the grid then has to scroll
// px of a slot, and between two rows with marks: a bracket, a line of labels, and the tips of steps
// from above
const ROOMY = { slot: 30, band: 27 };
const TIGHT = { slot: 26, band: 25 };
const DENSE_SLOT = 13;
const BETWEEN_ROWS = { dense: 7, roomy: 11 }; // px between two rows without marks
const GAP_ROW = 16; // px of a line that stands for rows left out

/**
 * A row of slots, or the place of `gap` rows with so many elements that are left out.
 * @typedef {{row: number, gap?: undefined} | {gap: number, elements: number, row?: undefined}} TapeRow
 */

/**
 * The rows of the tape: reached ones, single rows between them, and gaps that say how much they
 * leave out.
 * @param {number} storageSize
 * @param {number} perRow
 * @param {Map<number, number[]>} owners
 * @returns {TapeRow[]}
 */
export function tapeRows(storageSize, perRow, owners, most = MAX_ROWS.roomy) {
  const total = Math.ceil(storageSize / perRow);
  const wanted = new Set([...range(total <= 8 ? total : 0), ...reachedRows(owners, perRow)]);
  const rows = [];
  let next = 0;
  for (const row of [...[...wanted].sort((a, b) => a - b), total]) {
    if (rows.length >= most && row < total) continue;
    const leftOut = row - next;
    if (leftOut === 1) rows.push({ row: next });
    else if (leftOut > 1) {
      const elements = Math.min(row * perRow, storageSize) - next * perRow;
      rows.push({ gap: leftOut, elements });
    }
    if (row < total) rows.push({ row });
    next = row + 1;
  }
  return rows;
}

const reachedRows = (owners, perRow) =>
  new Set(Array.from(owners.keys(), (element) => Math.floor(element / perRow)));

/**
 * The places of the slots: as many in a row as fit, at most 16, so that a row of 4-byte elements is
 * one cache line. If that makes too many rows, slots are small, and a row is four cache lines.
 * `longest` is the length of the longest label; a `tight` tape has lower rows.
 * @typedef {ReturnType<typeof tapeGeometry>} TapeGeometry
 * @param {number} storageSize
 * @param {Layout} layout
 * @param {number} width
 * @param {Map<number, number[]>} owners
 * @param {number} longest
 * @param {boolean} tight
 */
export function tapeGeometry(storageSize, layout, width, owners, longest, tight) {
  const digits = String(storageSize * layout.itemsize).length; // of byte addresses
  const gutter = Math.max(54, 30 + 8 * digits);
  const { perRow, dense, pitch } = slotsFor(width - gutter, longest, owners);
  const gap = dense ? 1 : 4;
  const { slot, band } = tight ? TIGHT : ROOMY;
  const height = dense ? DENSE_SLOT : slot;
  const most = dense ? MAX_ROWS.dense : MAX_ROWS.roomy;
  const rows = tapeRows(storageSize, perRow, owners, most);
  const rowOf = (element) => Math.floor(element / perRow);

  const start = layout.storage_offset;
  const startRow = rowOf(start);
  const steppedRows = new Set(layout.stride.map((step) => rowOf(start + step)));
  // Rows leave room for their marks. If rows are few, all do, so that nothing jumps during a drag.
  const isFew = rows.length <= 4;
  const arcs = 12 + Math.max(layout.shape.length, 1) * 16;
  const hasMarks = (above, below) =>
    isFew || above?.row === startRow || (below && steppedRows.has(below.row));
  // A step that ends below the label of the offset has its own label below that one.
  const endsBelowLabel = (step) =>
    rowOf(start + step) === startRow + 1 && Math.abs((step - perRow) * pitch - 65) < 85;
  const secondLabel = layout.stride.some(endsBelowLabel) ? 18 : 0;

  /** The room above the k-th row. */
  function roomAbove(row, k) {
    if (row.row === startRow) return arcs;
    if (k === 0) return isFew ? band : 2;
    if (hasMarks(rows[k - 1], row)) return band;
    return dense ? BETWEEN_ROWS.dense : BETWEEN_ROWS.roomy;
  }

  /** @type {Map<number, number>} */
  const tops = new Map();
  /** @type {(TapeRow & {y: number})[]} */
  const placed = [];
  let y = 0;
  for (const [k, row] of rows.entries()) {
    y += roomAbove(row, k);
    if (row.row === startRow + 1) y += secondLabel;
    placed.push({ ...row, y });
    if (row.row !== undefined) tops.set(row.row, y);
    y += row.row === undefined ? GAP_ROW : height;
  }
  y += !dense || hasMarks(rows.at(-1), undefined) ? band : 8;

  const left = (element) => gutter + (element % perRow) * pitch;
  return {
    perRow,
    pitch,
    gutter,
    rows: placed,
    bottom: y,
    slot: pitch - gap,
    height,
    dense,
    storageSize,
    width: gutter + perRow * pitch,
    room: width,
    has: (element) => tops.has(rowOf(element)),
    left,
    middle: (element) => left(element) + (pitch - gap) / 2,
    /** The top of the row of an element, which the tape has. */
    top: (element) => /** @type {number} */ (tops.get(rowOf(element))),
    /** The room under the row of an element, for its marks. */
    below: (element) => {
      const k = rows.findIndex(({ row }) => row === rowOf(element));
      return (placed[k + 1]?.y ?? y) - placed[k].y - height;
    },
  };
}

/** How many slots a row of a width has, whether they are small, and how far apart they begin. */
function slotsFor(width, longest, owners) {
  const least = Math.max(34, boxFor(longest, 9) + 4);
  const perRow = [16, 8, 4].find((count) => width >= count * least) ?? 4;
  if (reachedRows(owners, perRow).size > MAX_ROWS.roomy) {
    const densePerRow = [64, 32, 16].find((count) => width >= count * 12) ?? 16;
    const pitch = Math.min(16, Math.floor(width / densePerRow));
    return { perRow: densePerRow, dense: true, pitch };
  }
  const widest = Math.max(52, boxFor(longest, 11) + 4);
  const pitch = Math.max(34, Math.min(widest, Math.floor(width / perRow)));
  return { perRow, dense: false, pitch };
}

/**
 * The tape widget: `resize` lays it out, `draw` patches it; `locator` finds slots under a pointer.
 * `onDrag` gets the press on a grip.
 * @param {string} id
 * @param {Hand & {onDrag: (event: PointerEvent) => void}} hand
 */
export function createTape(id, { onDrag, ...hand }) {
  const boxes = createBoxes({ kind: "sk-tape", cell: "sk-slot", ...hand });
  const { node } = boxes;
  set(node, "aria-label", "elements of the storage, in the order of memory");
  const drawing = s("svg", { class: "sk-drawing", "aria-hidden": "true" });
  const tips = s("svg", { class: "sk-drawing", "aria-hidden": "true" });
  const tags = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const grips = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const box = h("div", { class: "sk-tapebox" }, drawing, node, tags, tips, grips);
  const pane = createPane(box);
  /** @type {TapeGeometry} */
  let geometry;
  /** @type {number[]} */
  let numbers = []; // of the elements that are shown

  function resize(view, width, tight) {
    const { storageSize, part, owners, longest } = view;
    geometry = tapeGeometry(storageSize, part, width, owners, longest, tight);
    return geometry.bottom;
  }

  /** @param {View} view */
  function draw(view) {
    const { width, bottom } = geometry;
    set(box, "style", `width:${width}px;height:${bottom}px`);
    set(pane.node, "style", `min-height:${leastHeight()}px`);
    drawMarks(marksOf(geometry, view));
    return drawSlots(view);
  }

  function drawMarks(marks) {
    const isTip = ([, kind]) => kind.startsWith("sk-tip");
    const pathNode = ([d, kind]) => ["path", { d, class: kind }];
    fill(drawing, ...marks.paths.filter((path) => !isTip(path)).map(pathNode));
    fill(tips, ...marks.paths.filter(isTip).map(pathNode));
    const moveTo = (x, y) => `transform:translate(${x}px,${y}px)`;
    fill(
      tags,
      ...marks.tags.map(([text, x, y, kind]) => [
        "span",
        { text, class: `sk-tag ${kind}`, style: moveTo(x, y) },
      ]),
    );
    fill(
      grips,
      ...marks.grips.map(([x, y, kind, slider]) => [
        "span",
        {
          class: `sk-grip ${kind}`,
          title: `drag to change ${slider}`,
          "data-what": slider,
          style: moveTo(x - 12, y - 12),
          onpointerdown: onDrag,
          onmousedown: (event) => event.preventDefault(), // else the browser starts to select text
        },
      ]),
    );
  }

  /** Draw the boxes; returns a function, if any, that sets what they say. */
  function drawSlots(view) {
    const { spot, owners, part, outside, label, isNumbered, storageSize, tapeCursor } = view;
    const { perRow, width, height, dense, bottom, slot, left, top } = geometry;
    const rows = geometry.rows.flatMap(({ row }) => (row === undefined ? [] : [row]));
    numbers = rows.flatMap((row) => {
      const first = row * perRow;
      return range(Math.min(perRow, storageSize - first)).map((k) => first + k);
    });
    const columns = part.shape.at(-1) ?? 1;
    const plate = {
      width,
      height: bottom,
      rows: Math.ceil(storageSize / perRow),
      longest: Infinity, // small slots have no text
      seen: pane.seen(),
    };

    function tintOf(element) {
      const flats = owners.get(element);
      if (flats) return Math.floor(flats[0] / columns) % 6;
      return outside?.has(element) ? "outside" : null;
    }

    return boxes.draw(
      {
        numbers,
        columns: perRow,
        placeOf: (k) => [left(numbers[k]), top(numbers[k]), slot, height],
        idOf: (_, element) => `${id}-s${element}`,
        plate: dense ? plate : null,
      },
      (element) => {
        const flats = owners.get(element);
        const text = label(element);
        return {
          tint: tintOf(element),
          text: dense || (!flats && text === "·") ? "" : text,
          mark: element === spot.element ? "spot" : "",
          isOdd: isOdd(view, text),
          attributes: {
            "data-number": isNumbered ? String(element) : null,
            "data-owners": flats && flats.length > 1 ? `×${flats.length}` : null,
          },
        };
      },
      (element) => describeSlot(view, element),
      tapeCursor,
    );
  }

  /**
   * A function from pointers to slots: the nearest slot of the nearest row, on the tape as it is
   * now. A drag keeps one, because a new size of the grid moves the tape under the pointer.
   */
  function locator() {
    const bounds = box.getBoundingClientRect();
    const scale = scaleOf(box);
    const { rows, height, gutter, pitch, perRow } = geometry;
    const slotRows = rows.filter(({ row }) => row !== undefined);
    return (event) => {
      const x = (event.clientX - bounds.left) / scale;
      const y = (event.clientY - bounds.top) / scale;
      const distance = (row) => Math.abs(row.y + height / 2 - y);
      const nearest = slotRows.reduce((best, row) => (distance(row) < distance(best) ? row : best));
      const column = Math.floor((x - gutter) / pitch);
      return Number(nearest.row) * perRow + Math.min(Math.max(column, 0), perRow - 1);
    };
  }

  /** Scroll to the row of an element, which the tape has, unless all of it can be seen. */
  function reveal(element) {
    pane.reveal(geometry.top(element), geometry.height, geometry.bottom);
  }

  /** Take note of what can be seen: after a scroll, and in another size of the pane. */
  function look() {
    pane.measure();
    boxes.see(pane.seen());
  }

  const leastHeight = () => Math.min(geometry.bottom, LEAST_HEIGHT);

  return {
    node: pane.node,
    seen: pane.seen,
    resize,
    leastHeight,
    reveal,
    draw,
    look,
    locator,
    /** The places on the tape; undefined before the first `resize`. */
    geometry: () => geometry,
    slot: (element) => boxes.nodes()[numbers.indexOf(element)],
  };
}
