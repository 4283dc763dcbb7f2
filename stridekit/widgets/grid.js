// The grid of indices: the last two dims as rows and columns, further dims as planes.

import { elementName, unflatten } from "./core.js";
import { OWN_KEYS, fit, h, pool, set } from "./dom.js";
import { describeCell } from "./view.js";

const GAP = 4;
const HEAD = 22; // column numbers
const LABEL = 22; // dim names, and the title of a plane

/** Where everything goes, for a shape and a width: planes, cells and the whole size. */
export function gridGeometry(shape, width) {
  const deep = shape.length > 2;
  const [rows, columns] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
  const gutter = deep ? 26 : shape.length > 1 ? 50 : 4; // row numbers, and the name of their dim
  const top = (shape.length ? HEAD : 0) + LABEL;
  const most = deep ? 40 : 52;
  const cell = Math.max(30, Math.min(most, Math.floor((width - gutter) / columns) - GAP));
  const height = deep ? 30 : 38;
  const planeWidth = gutter + columns * (cell + GAP);
  const planeHeight = top + rows * (height + GAP);
  const count = shape.slice(0, -2).reduce((a, b) => a * b, 1);
  const fit = Math.max(1, Math.floor((width + 16) / (planeWidth + 16)));
  // Four dims make a table of planes, if a row of them fits.
  const across = shape.length === 4 && shape[1] <= fit ? shape[1] : Math.min(fit, count);
  const place = (plane) => [
    (plane % Math.max(across, 1)) * (planeWidth + 16),
    Math.floor(plane / Math.max(across, 1)) * (planeHeight + 12),
  ];
  return {
    rows, columns, gutter, top, cell, height, count, place, planeWidth, planeHeight,
    width: across * (planeWidth + 16) - 16,
    totalHeight: Math.ceil(count / Math.max(across, 1)) * (planeHeight + 12) - 12,
    /** The top left corner of the cell that comes `flat`-th. */
    corner(flat) {
      const [x, y] = place(Math.floor(flat / (rows * columns)));
      const row = Math.floor(flat / columns) % rows;
      return [x + gutter + (flat % columns) * (cell + GAP), y + top + row * (height + GAP)];
    },
  };
}

/** The index that a key leads to, or null: arrows in the plane, Home and End, Page keys for planes. */
export function step(shape, index, key) {
  const next = [...index];
  const last = shape.length - 1;
  const move = (d, by) => {
    if (d < 0) return null;
    next[d] = Math.min(Math.max(next[d] + by, 0), shape[d] - 1);
    return next;
  };
  switch (key) {
    case "ArrowLeft": return move(last, -1);
    case "ArrowRight": return move(last, 1);
    case "ArrowUp": return move(last - 1, -1);
    case "ArrowDown": return move(last - 1, 1);
    case "Home": return move(last, -Infinity);
    case "End": return move(last, Infinity);
    case "PageUp": return move(last - 2, -1);
    case "PageDown": return move(last - 2, 1);
    case "Shift+PageUp": return move(last - 3, -1);
    case "Shift+PageDown": return move(last - 3, 1);
    default: return null;
  }
}

/** The grid widget: `resize` lays it out for a shape, `draw` patches it to a view. */
export function createGrid(id, { onHover, onSelect, onKey }) {
  const node = h("div", {
    class: "sk-grid", role: "grid", tabindex: "0", ...OWN_KEYS,
    "aria-label": "elements of x by index",
    onkeydown: onKey,
    onpointerover: (event) => onHover(flatOf(event.target)),
    onpointerleave: () => onHover(null),
    onclick: (event) => onSelect(flatOf(event.target)),
  });
  const marks = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const lines = pool(node, () => h("div", { role: "row", class: "sk-row" }));
  const heads = pool(marks, () => h("span", { class: "sk-head" }));
  let cells = [];
  let headNodes = [];
  let geometry = gridGeometry([], 300);
  let shape = null;
  let tensor = "x";

  const flatOf = (target) => (target.flat === undefined ? null : target.flat);

  function resize(newShape, width, tensorName) {
    geometry = gridGeometry(newShape, width);
    const sameShape = shape && String(shape) === String(newShape);
    shape = newShape;
    tensor = tensorName;
    if (!sameShape) build();
    cells.forEach((cell, flat) => {
      const [x, y] = geometry.corner(flat);
      const size = `width:${geometry.cell}px;height:${geometry.height}px`;
      set(cell, "style", `transform:translate(${x}px,${y}px);${size};line-height:${geometry.height}px`);
    });
    const empty = cells.length === 0;
    const [w, t] = empty ? [200, 60] : [geometry.width, geometry.totalHeight];
    set(box, "style", `width:${w}px;height:${t}px`);
    set(box, "data-empty", empty ? "no elements: a size is 0" : null);
    placeHeads();
    return [w, t];
  }

  function build() {
    const count = shape.reduce((a, b) => a * b, 1);
    const rows = lines(count ? count / geometry.columns : 0);
    cells = [];
    rows.forEach((row, r) => {
      row.replaceChildren();
      for (let c = 0; c < geometry.columns; c++) {
        const cell = h("div", { role: "gridcell", class: "sk-cell", id: `${id}-c${cells.length}` });
        cell.flat = cells.length;
        row.append(cell);
        cells.push(cell);
      }
      set(row, "data-row", r % 6);
    });
  }

  /** Numbers of rows and columns, names of dims, and a title over each plane. */
  function placeHeads() {
    const texts = [];
    const last = shape.length - 1;
    const planes = cells.length ? geometry.count : 0;
    for (let plane = 0; plane < planes; plane++) {
      const [x, y] = geometry.place(plane);
      const outer = unflatten(shape.slice(0, -2), plane);
      const title = last > 1 ? elementName([...outer, ":", ":"], tensor) : "";
      if (title) texts.push([title, x + geometry.gutter, y, "sk-title"]);
      if (last >= 0) {
        if (!title) texts.push([`dim ${last} →`, x + geometry.gutter, y, `sk-dim sk-d${last}`]);
        for (let c = 0; c < geometry.columns; c++) {
          const [cx] = geometry.corner(c);
          texts.push([c, x + cx + geometry.cell / 2, y + LABEL, "sk-number sk-column", plane, c]);
        }
      }
      if (last < 1) continue;
      if (!title) {
        const middle = y + geometry.top + (geometry.rows * (geometry.height + GAP)) / 2;
        texts.push([`← dim ${last - 1}`, x + 11, middle, `sk-dim sk-upright sk-d${last - 1}`]);
      }
      for (let r = 0; r < geometry.rows; r++) {
        const [, ry] = geometry.corner(r * geometry.columns);
        const middle = y + ry + geometry.height / 2 - 9;
        texts.push([r, x + geometry.gutter - 10, middle, "sk-number sk-line", plane, r]);
      }
    }
    headNodes = heads(texts.length);
    headNodes.forEach((head, k) => {
      const [text, x, y, kind, plane, number] = texts[k];
      set(head, "text", String(text));
      set(head, "class", `sk-head ${kind}`);
      head.where = [kind, plane, number];
      set(head, "style", `left:${x}px;top:${y}px`);
    });
  }

  function draw(view) {
    const { spot, elements, label, sharers } = view;
    const texts = elements.map(label);
    fit(node, texts, geometry.cell);
    cells.forEach((cell, flat) => {
      set(cell, "text", texts[flat]);
      const state = flat === spot.flat ? " is-spot" : sharers.has(flat) ? " is-sharer" : "";
      set(cell, "class", `sk-cell${state}`);
      set(cell, "aria-label", describeCell(view, flat));
      set(cell, "aria-selected", String(flat === view.selected));
    });
    set(node, "aria-activedescendant", view.selected === null ? null : `${id}-c${view.selected}`);
    const at = spot.flat === null ? [] : unflatten(shape, spot.flat);
    const plane = spot.flat === null ? -1 : Math.floor(spot.flat / (geometry.rows * geometry.columns));
    for (const head of headNodes) {
      const [kind, inPlane, number] = head.where;
      const d = kind.endsWith("sk-column") ? shape.length - 1 : shape.length - 2;
      const lit = inPlane === plane && number !== undefined && at[d] === number;
      set(head, "data-lit", lit ? String(d) : null);
    }
  }

  const box = h("div", { class: "sk-gridbox" }, node, marks);
  return { node: box, focusable: node, resize, draw,
    corner: (flat) => geometry.corner(flat),
    cellWidth: () => geometry.cell,
    bottom: () => geometry.totalHeight,
  };
}
