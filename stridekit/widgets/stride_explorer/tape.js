// The storage as a tape: rows of slots, with marks around them from marks.js.

import { createBoxes } from "./canvas.js";
import { range } from "../page/layout.js";
import { boxFor, fill, h, s, set } from "../page/dom.js";
import { marksOf } from "./marks.js";
import { describeSlot } from "./words.js";

const MAX_ROWS = 24;
const DENSE_SLOT = 13;
const MAX_DENSE_ROWS = 128;
// px of a slot, and between two rows with marks: a bracket, a line of labels, and the tips of steps from above
const [ROOMY, TIGHT] = [{ slot: 30, band: 27 }, { slot: 26, band: 25 }];

/** The rows of the tape: reached ones, single rows between them, and gaps that say how much they leave out. */
export function tapeRows(storageSize, perRow, owners, most = MAX_ROWS) {
  const total = Math.ceil(storageSize / perRow);
  const reached = Array.from(owners.keys(), (element) => Math.floor(element / perRow));
  const wanted = new Set([...range(total <= 8 ? total : 0), ...reached]);
  const rows = [];
  let next = 0;
  for (const row of [...[...wanted].sort((a, b) => a - b), total]) {
    if (rows.length >= most && row < total) continue;
    if (row - next === 1) rows.push({ row: next });
    else if (row > next) rows.push({ gap: row - next, elements: Math.min(row * perRow, storageSize) - next * perRow });
    if (row < total) rows.push({ row });
    next = row + 1;
  }
  return rows;
}

// The places of the slots: as many in a row as fit, at most 16, so that a row of 4-byte elements is one cache line. If
// that makes too many rows, slots are small, and a row is four lines. `longest` is the length of the longest label; a
// `tight` tape has lower rows.
export function tapeGeometry(storageSize, layout, width, owners, longest = 1, tight = false) {
  const digits = String(storageSize * layout.itemsize).length; // of byte addresses
  const gutter = Math.max(54, 30 + 8 * digits);
  const least = Math.max(34, boxFor(longest, 9) + 4);
  let perRow = [16, 8, 4].find((count) => width >= gutter + count * least) ?? 4;
  const reached = new Set(Array.from(owners.keys(), (element) => Math.floor(element / perRow)));
  const dense = reached.size > MAX_ROWS;
  if (dense) perRow = [64, 32, 16].find((count) => width >= gutter + count * 12) ?? 16;
  const pitch = dense
    ? Math.min(16, Math.floor((width - gutter) / perRow))
    : Math.max(34, Math.min(Math.max(52, boxFor(longest, 11) + 4), Math.floor((width - gutter) / perRow)));
  const { slot, band } = tight ? TIGHT : ROOMY;
  const [height, gap] = dense ? [DENSE_SLOT, 1] : [slot, 4];
  const rows = tapeRows(storageSize, perRow, owners, dense ? MAX_DENSE_ROWS : MAX_ROWS);
  const rowOf = (element) => Math.floor(element / perRow);
  const start = layout.storage_offset;
  const first = rowOf(start);
  const targets = new Set(layout.stride.map((step) => rowOf(start + step)));
  // Rows leave room for their marks. If rows are few, all do, so that nothing jumps during a drag.
  const few = rows.length <= 4;
  const arcs = 12 + Math.max(layout.shape.length, 1) * 16;
  const marked = (above, below) => few || first === above?.row || targets.has(below?.row);
  // A step that ends below the label of the offset has its own label below that one.
  const isBelow = (step) => rowOf(start + step) === first + 1 && Math.abs((step - perRow) * pitch - 65) < 85;
  const second = layout.stride.some(isBelow) ? 18 : 0;
  const tops = new Map();
  let y = 0;
  const placed = rows.map((row, k) => {
    const above = rows[k - 1];
    y += row.row === first ? arcs : k === 0 ? (few ? band : 2) : marked(above, row) ? band : dense ? 7 : 11;
    if (row.row === first + 1) y += second;
    const top = y;
    if (row.gap) y += 16;
    else {
      tops.set(row.row, y);
      y += height;
    }
    return { ...row, y: top };
  });
  y += marked(rows.at(-1)) || !dense ? band : 8;
  return {
    perRow, pitch, gutter, rows: placed, bottom: y, slot: pitch - gap, height, dense, storageSize,
    width: gutter + perRow * pitch, room: width,
    has: (element) => tops.has(rowOf(element)),
    left: (element) => gutter + (element % perRow) * pitch,
    middle: (element) => gutter + (element % perRow) * pitch + (pitch - gap) / 2,
    top: (element) => tops.get(rowOf(element)),
    /** The room under the row of an element, for its marks. */
    below: (element) => {
      const k = rows.findIndex(({ row }) => row === rowOf(element));
      return (placed[k + 1]?.y ?? y) - placed[k].y - height;
    },
  };
}

const keepText = (event) => event.preventDefault(); // else the browser starts to select text

/** The tape widget: `resize` lays it out, `draw` patches it; `locator` finds slots under a pointer. */
export function createTape(id, { onHover, onSelect, onKey, onDrag }) {
  const boxes = createBoxes({ kind: "sk-tape", cell: "sk-slot", onHover, onSelect, onKey });
  const { node } = boxes;
  set(node, "aria-label", "elements of the storage, in the order of memory");
  const drawing = s("svg", { class: "sk-drawing", "aria-hidden": "true" });
  const tips = s("svg", { class: "sk-drawing", "aria-hidden": "true" });
  const tags = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const grips = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const box = h("div", { class: "sk-tapebox" }, drawing, node, tags, tips, grips);
  let g = null;
  let numbers = []; // of the elements that are shown

  function resize(view, width, tight) {
    g = tapeGeometry(view.storageSize, view.layout, width, view.owners, view.longest, tight);
    set(box, "style", `width:${g.width}px;height:${g.bottom}px;--slot:${g.height}px`);
    return g.bottom;
  }

  function draw(view) {
    const { spot, owners, layout, values, label, storageSize } = view;
    const columns = layout.shape.at(-1) ?? 1;
    const firsts = g.rows.filter((row) => !row.gap).map(({ row }) => row * g.perRow);
    numbers = firsts.flatMap((first) => range(Math.min(g.perRow, storageSize - first)).map((k) => first + k));
    const laid = {
      numbers, places: numbers.map((e) => [g.left(e), g.top(e), g.slot, g.height]), columns: g.perRow,
      idOf: (_, element) => `${id}-s${element}`,
      plate: g.dense ? { width: g.width, height: g.bottom, rows: Math.ceil(storageSize / g.perRow) } : null,
    };
    const marks = marksOf(g, view);
    const at = (x, y) => `transform:translate(${x}px,${y}px)`;
    for (const [svg, areTips] of [[drawing, false], [tips, true]]) {
      const paths = marks.paths.filter(([, kind]) => kind.startsWith("sk-tip") === areTips);
      fill(svg, ...paths.map(([d, kind]) => ["path", { d, class: kind }]));
    }
    fill(tags, ...marks.tags.map(([text, x, y, kind]) => ["span", { text, class: `sk-tag ${kind}`, style: at(x, y) }]));
    fill(grips, ...marks.grips.map(([x, y, kind, what]) => ["span", {
      class: `sk-grip ${kind}`, title: `drag to change ${what}`, "data-what": what, style: at(x - 12, y - 12),
      onpointerdown: onDrag, onmousedown: keepText,
    }]));
    return boxes.draw(laid, (element) => {
      const owned = owners.get(element);
      const tint = owned ? Math.floor(owned[0] / columns) % 6 : null;
      return [tint, g.dense ? "" : label(element), element === spot.element ? "spot" : "", {
        "data-number": values ? String(element) : null, "data-owners": owned && owned.length > 1 ? `×${owned.length}` : null,
      }];
    }, (element) => describeSlot(view, element), view.tapeCursor);
  }

  // A function from pointers to slots: the nearest slot of the nearest row, on the tape as it is now. A drag keeps
  // one, because a new size of the grid moves the tape under the pointer.
  function locator() {
    const bounds = box.getBoundingClientRect();
    const now = g;
    const rows = now.rows.filter((row) => !row.gap);
    return (event) => {
      const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
      const distance = (row) => Math.abs(row.y + now.height / 2 - y);
      const { row } = rows.reduce((best, r) => (distance(r) < distance(best) ? r : best));
      const column = Math.floor((x - now.gutter) / now.pitch);
      return row * now.perRow + Math.min(Math.max(column, 0), now.perRow - 1);
    };
  }

  return {
    node: h("div", { class: "sk-pane" }, box), resize, draw, locator,
    geometry: () => g,
    slot: (element) => boxes.nodes()[numbers.indexOf(element)],
    close: boxes.close,
  };
}
