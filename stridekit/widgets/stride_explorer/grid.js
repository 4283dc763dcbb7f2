// The grid of indices: the last two drawn dims as rows and columns, further dims as planes.

/** @import { Boxes, Hand, Look } from "./canvas.js" */
/** @import { View } from "./views.js" */

import { boxFor, fill, h, set } from "../page/dom.js";
import { product, range } from "../page/layout.js";
import { createBoxes } from "./canvas.js";
import { createPane } from "./pane.js";
import { describeCell, isOdd } from "./views.js";

const MAX_HTML = 256; // cells drawn as HTML; more are drawn on a canvas
const GAP = 4;
const HEAD = 20; // column numbers, and the name of their dim where rows leave room for it
const TITLE = 18; // of a plane
const LEAST_NAMED = 60; // px of rows beside which the name of their dim fits
const LEAST_PITCH = { dense: 9, html: 20 }; // px from row to row
const BETWEEN_PLANES = { x: 16, y: 12 };

/**
 * The places of planes and cells and the total size, for a shape, a width and the longest label.
 * Rows are lower where `room`, a height, is less than they would take.
 * @typedef {ReturnType<typeof gridGeometry>} GridGeometry
 */
export function gridGeometry(shape, width, wraps = true, longest = 1, room = Infinity) {
  const ndim = shape.length;
  const rows = shape.at(-2) ?? 1;
  const columns = shape.at(-1) ?? 1;
  const count = product(shape.slice(0, -2));
  const dense = product(shape) > MAX_HTML || rows > 64;
  const line = lineGeometry(shape, width, wraps, longest, dense);
  const { gap, perLine, lines, gutter, cell } = line;

  const top = (ndim ? HEAD : 0) + (ndim > 2 ? TITLE : 0);
  const planeWidth = gutter + perLine * (cell + gap);
  const stepX = planeWidth + BETWEEN_PLANES.x;
  const across = planesAcross(shape, Math.floor((width + BETWEEN_PLANES.x) / stepX), dense);
  const down = Math.ceil(count / across);

  const between = lines > 1 && rows > 1 ? 5 : 0; // rows that go on in further lines stand apart
  const heads = down * (top + rows * between + BETWEEN_PLANES.y);
  const fair = Math.floor((room - heads) / Math.max(down * rows * lines, 1));
  const best = bestPitch(shape, line, dense);
  const least = dense ? LEAST_PITCH.dense : LEAST_PITCH.html;
  let pitch = Math.min(best, fair);
  if (fair < least) pitch = dense ? best : least; // what is cut anyway need not be tiny
  let height = pitch - gap;
  if (!dense) height = pitch - (pitch < 30 ? 2 : GAP);
  const rowHeight = lines * pitch + between;
  const stepY = top + rows * rowHeight + BETWEEN_PLANES.y;

  /** The top left corner of a plane. */
  const place = (plane) => [(plane % across) * stepX, Math.floor(plane / across) * stepY];

  /** The top left corner of the cell that comes `flat`-th. */
  function corner(flat) {
    const [x, y] = place(Math.floor(flat / (rows * columns)));
    const row = Math.floor(flat / columns) % rows;
    const column = flat % columns;
    return [
      x + gutter + (column % perLine) * (cell + gap),
      y + top + row * rowHeight + Math.floor(column / perLine) * pitch,
    ];
  }

  return {
    rows,
    columns,
    perLine,
    lines,
    dense,
    gutter,
    top,
    cell,
    height,
    rowHeight,
    count,
    place,
    corner,
    width: across * stepX - BETWEEN_PLANES.x,
    totalHeight: down * stepY - BETWEEN_PLANES.y,
  };
}

/**
 * The cells in one line of a plane: how many, how wide, how far apart, and in how many lines a row
 * goes on.
 */
function lineGeometry(shape, width, wraps, longest, dense) {
  const ndim = shape.length;
  const columns = shape.at(-1) ?? 1;
  let gap = GAP;
  if (dense) gap = 1;
  else if (columns > 12) gap = 2;

  // Long labels get wider cells, but never break rows of a matrix: these would lose the numbers of
  // their columns.
  const labelled = boxFor(longest, 9);
  const hasLabels = ndim === 1 || !wraps || columns * (labelled + gap) + 56 <= width;
  let narrowest = columns > 12 ? 24 : 30;
  if (dense) narrowest = 8;
  else if (hasLabels) narrowest = Math.max(narrowest, labelled);

  // As many cells in a line as fit, but short rows that may not wrap stay whole.
  const most = Math.floor((width - 56) / ((dense ? 12 : narrowest) + gap));
  const isWhole = columns <= most || (columns <= 32 && !wraps);
  const perLine = isWhole ? Math.max(columns, 1) : 2 ** Math.floor(Math.log2(Math.max(most, 4)));

  let gutter = 4; // row numbers, and the names of dims
  if (ndim > 2) gutter = 26;
  else if (ndim) gutter = 56;
  let widest = Math.max(ndim > 2 ? 40 : 52, boxFor(longest, 11));
  if (dense) widest = ndim > 2 ? 12 : 34;
  const fair = Math.floor((width - gutter) / perLine) - gap;
  const cell = Math.max(narrowest, Math.min(widest, fair));
  return { gap, perLine, lines: Math.ceil(columns / perLine), gutter, cell };
}

/**
 * How many planes stand side by side where so many `fit`: four dims make a table of planes, if a
 * row of them fits.
 */
function planesAcross(shape, fit, dense) {
  const most = Math.max(fit, 1);
  const isTable = shape.length === 4 && shape[1] <= most && !(dense && shape[1] < most / 2);
  const across = isTable ? shape[1] : Math.min(most, product(shape.slice(0, -2)));
  return Math.max(across, 1);
}

/** The distance in px from line to line where there is room enough. */
function bestPitch(shape, { lines, gap, cell }, dense) {
  const isDeep = shape.length > 2;
  if (!dense) return isDeep ? 34 : 38;
  const isTall = (shape.at(-2) ?? 1) * lines > 40;
  return (isDeep || isTall ? 12 : Math.min(cell, 24)) + gap;
}

/**
 * The index that a key leads to, or null: arrows, Home and End in the plane, with Ctrl a window
 * further; Page keys for planes, and for dims that are not `drawn`.
 */
export function movedIndex(shape, index, key, drawn = range(shape.length)) {
  const [place, distance] = MOVES[key] ?? [0, 0];
  const hidden = range(shape.length).filter((d) => !drawn.includes(d));
  const dim = [...hidden, ...drawn].at(place) ?? 0;
  if (place === 0 || -place > shape.length) return null;
  const i = Math.max(index[dim] + distance, 0);
  return index.with(dim, Math.min(i, shape[dim] - 1));
}

const FAR = 8; // indices: a window

/** The dim that each key moves along, counted from the end, and how far. */
const MOVES = {
  ArrowLeft: [-1, -1],
  ArrowRight: [-1, 1],
  Home: [-1, -Infinity],
  End: [-1, Infinity],
  ArrowUp: [-2, -1],
  ArrowDown: [-2, 1],
  PageUp: [-3, -1],
  PageDown: [-3, 1],
  "Control+ArrowLeft": [-1, -FAR],
  "Control+ArrowRight": [-1, FAR],
  "Control+ArrowUp": [-2, -FAR],
  "Control+ArrowDown": [-2, FAR],
  "Shift+PageUp": [-4, -1],
  "Shift+PageDown": [-4, 1],
};

/**
 * A text beside the cells. The number of a row or column knows its plane and its dim, because it
 * lights up with the cell that is pointed at.
 * @typedef {{text: string | number, x: number, y: number, classes: string, plane?: number, dim?: number}} Head
 */

/**
 * The grid widget: `resize` lays it out for a shape, `draw` patches it to a view.
 * @param {string} id
 * @param {Hand} hand
 */
export function createGrid(id, hand) {
  const boxes = createBoxes({ kind: "sk-grid", cell: "sk-cell", ...hand });
  const { node } = boxes;
  const flag = h("span", { class: "sk-flag" });
  const marks = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const box = h("div", { class: "sk-gridbox" }, node, marks);
  const pane = createPane(box);
  /** @type {number[]} */
  let shape = [];
  /** @type {View} */
  let shown; // the view that was laid out
  let geometry = gridGeometry(shape, 300);

  function idOf(flat) {
    const { dense, columns } = geometry;
    return dense ? `${id}-c${flat}` : `${id}-c${Math.floor(flat / columns)}-${flat % columns}`;
  }

  /** Place the cells, which keep to a height of `room` if they can. Returns width and height. */
  function resize(view, width, wraps, room) {
    shown = view;
    shape = view.part.shape;
    geometry = gridGeometry(shape, width, wraps, view.longest, room);
    return size();
  }

  const isEmpty = () => shape.includes(0);
  const size = () => (isEmpty() ? [200, 60] : [geometry.width, geometry.totalHeight]);

  /**
   * The texts around a plane: numbers of rows and columns, names of dims, a title.
   * @returns {Head[]}
   */
  function headsOf(plane) {
    const ndim = shape.length;
    const { cell, height, columns, rows, perLine, lines, rowHeight, gutter, top } = geometry;
    const [x, y] = geometry.place(plane);
    const { dims, start } = shown;
    const columnDim = dims[dims.length - 1];
    const rowDim = dims[dims.length - 2];
    const texts = [];
    if (ndim > 2) {
      texts.push({ text: titleOf(plane), x: x + gutter, y, classes: "sk-title" });
    } else if (ndim > 0) {
      const classes = `sk-dim sk-origin sk-d${columnDim}`;
      texts.push({ text: `dim ${columnDim} →`, x: x + gutter - 2, y, classes });
    }
    if (ndim === 2 && rows * rowHeight >= LEAST_NAMED) {
      const middle = y + top + (rows * rowHeight) / 2;
      const classes = `sk-dim sk-upright sk-d${rowDim}`;
      texts.push({ text: `← dim ${rowDim}`, x: x + 11, y: middle, classes });
    }
    if (ndim > 0 && lines === 1)
      for (const c of range(perLine)) {
        const [left] = geometry.corner(c);
        const place = { x: x + left + cell / 2, y: y + top - HEAD, plane, dim: columnDim };
        const number = start[columnDim] + c;
        texts.push(...numberHead(number, columnStep(), "sk-number sk-column", place));
      }
    if (ndim > 1)
      for (const r of range(rows)) {
        const [, rowTop] = geometry.corner(r * columns);
        const place = { x: x + gutter - 10, y: y + rowTop + height / 2 - 9, plane, dim: rowDim };
        texts.push(...numberHead(start[rowDim] + r, rowStep(), "sk-number sk-line", place));
      }
    if (ndim === 1 && lines > 1)
      for (const line of range(lines).filter((k) => k % rowStep() === 0)) {
        const [, lineTop] = geometry.corner(line * perLine);
        const place = { x: gutter - 10, y: lineTop + height / 2 - 9 };
        const number = start[columnDim] + line * perLine;
        texts.push({ text: number, classes: "sk-number sk-line", ...place });
      }
    return texts;
  }

  /** The name of a plane, as x[1, :, :]. */
  function titleOf(plane) {
    const { indexOf, dims, name } = shown;
    const index = indexOf(plane * geometry.rows * geometry.columns);
    const inPlane = dims.slice(-2);
    return `${name}[${index.map((i, d) => (inPlane.includes(d) ? ":" : i)).join(", ")}]`;
  }

  /**
   * Where numbers would touch, only every so many-th is shown, and the others of a single plane are
   * hidden until they are lit.
   */
  function numberHead(number, step, classes, place) {
    const isSparse = number % step !== 0;
    if (isSparse && shape.length > 2) return [];
    return [{ text: number, classes: isSparse ? `${classes} is-sparse` : classes, ...place }];
  }

  function columnStep() {
    const { dense, cell } = geometry;
    if (!dense || cell >= 26) return 1;
    return cell < 18 ? 8 : 4;
  }

  const rowStep = () => (geometry.dense && geometry.height < 16 ? 4 : 1);

  /** @param {View} view */
  function draw(view) {
    const { spot, label } = view;
    const { dense, cell, corner } = geometry;
    const [width, height] = size();
    set(node, "aria-label", `elements of ${view.name} by index`);
    set(box, "style", `width:${width}px;height:${height}px`);
    set(box, "data-empty", isEmpty() ? "no elements: a size is 0" : null);
    const describe = drawCells(view);
    if (dense && spot.flat !== null) {
      const [x, y] = corner(spot.flat);
      set(flag, "style", `left:${x + cell / 2}px;top:${y - 22}px`);
    }
    const isFlagged = !boxes.hasTexts() && spot.flat !== null && spot.element !== null;
    set(flag, "text", isFlagged ? label(spot.element ?? 0) : "");
    const isLit = litBy(view);
    const heads = isEmpty() ? [] : range(geometry.count).flatMap(headsOf);
    const texts = heads.map((head) => [
      "span",
      {
        text: String(head.text),
        class: `sk-head ${head.classes}`,
        style: `left:${head.x}px;top:${head.y}px`,
        "data-lit": isLit(head) ? String(head.dim) : null,
      },
    ]);
    fill(marks, ...texts, ...(dense ? [flag] : []));
    return describe;
  }

  /** Draw the boxes; returns a function, if any, that sets what they say. */
  function drawCells(view) {
    const { spot, elements, sharers, label, selected, longest } = view;
    const { dense, cell, height, corner, columns, rows, count } = geometry;
    const numbers = range(product(shape));
    const plate = {
      width: geometry.width,
      height: geometry.totalHeight,
      rows: rows * count,
      longest,
      seen: pane.seen(),
    };

    /** @returns {[number, number, number, number]} */
    function placeOf(flat) {
      const [x, y] = corner(flat);
      return [x, y, cell, height];
    }

    function markOf(flat) {
      if (flat === spot.flat) return "spot";
      return sharers.has(flat) ? "sharer" : "";
    }

    return boxes.draw(
      {
        numbers,
        columns,
        placeOf,
        idOf,
        plate: dense ? plate : null,
      },
      (flat) => ({
        tint: Math.floor(flat / columns) % 6,
        text: label(elements[flat]),
        mark: markOf(flat),
        isOdd: isOdd(view, label(elements[flat])),
      }),
      (flat) => describeCell(view, flat),
      selected,
    );
  }

  /** Scroll to a cell, unless the whole grid can be seen. */
  function reveal(flat) {
    const [, y] = geometry.corner(flat);
    pane.reveal(y, geometry.height, geometry.totalHeight);
  }

  /** Take note of what can be seen: after a scroll, and in another size of the pane. */
  function look() {
    pane.measure();
    boxes.see(pane.seen());
  }

  /** A function that recognises the numbers of the row and the column of a cell. */
  function litBy({ spot, index }) {
    if (spot.flat === null) return () => false;
    const { rows, columns } = geometry;
    const plane = Math.floor(spot.flat / (rows * columns));
    return (head) => head.plane === plane && index[head.dim] === head.text;
  }

  return {
    node: pane.node,
    seen: pane.seen,
    resize,
    reveal,
    draw,
    look,
    cells: boxes.nodes,
    geometry: () => geometry,
  };
}
