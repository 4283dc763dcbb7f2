// The grid of indices: the last two dims as rows and columns, further dims as planes.

import { boxFor, fill, h, set } from "../page/dom.js";
import { elementName, product, range, unflatten } from "../page/layout.js";
import { createBoxes } from "./canvas.js";
import { describeCell } from "./views.js";

const MAX_HTML = 256; // cells drawn as HTML; more are drawn on a canvas
const GAP = 4;
const HEAD = 20; // column numbers, and the name of their dim where rows leave room for it
const TITLE = 18; // of a plane
const LEAST = 20; // px from row to row of HTML cells

// The places of planes and cells and the total size, for a shape, a width and the longest label. Rows are lower where
// `room`, a height, is less than they would take.
export function gridGeometry(shape, width, wraps = true, longest = 1, room = Infinity) {
  const deep = shape.length > 2;
  const dense = product(shape) > MAX_HTML || (shape.at(-2) ?? 0) > 64;
  const [rows, columns] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
  const gap = dense ? 1 : columns > 12 ? 2 : GAP;
  // Long labels get wider cells, but never break rows of a matrix: these would lose the numbers of their columns.
  const wide = boxFor(longest, 9);
  const roomy = shape.length === 1 || !wraps || columns * (wide + gap) + 56 <= width;
  const narrow = dense ? 8 : Math.max(columns > 12 ? 24 : 30, roomy ? wide : 0);
  // As many cells in a line as fit, but short rows that may not wrap stay whole.
  const most = Math.floor((width - 56) / ((dense ? 12 : narrow) + gap));
  const isWhole = columns <= most || (columns <= 32 && !wraps);
  const perLine = isWhole ? Math.max(columns, 1) : 2 ** Math.floor(Math.log2(Math.max(most, 4)));
  const lines = Math.ceil(columns / perLine); // long rows go on in the next line
  const gutter = deep ? 26 : shape.length ? 56 : 4; // row numbers, and the names of dims
  const top = (shape.length ? HEAD : 0) + (deep ? TITLE : 0);
  const widest = dense ? (deep ? 12 : 34) : Math.max(deep ? 40 : 52, boxFor(longest, 11));
  const cell = Math.max(narrow, Math.min(widest, Math.floor((width - gutter) / perLine) - gap));
  const planeWidth = gutter + perLine * (cell + gap);
  const count = product(shape.slice(0, -2));
  const fit = Math.max(1, Math.floor((width + 16) / (planeWidth + 16)));
  // Four dims make a table of planes, if a row of them fits.
  const table = shape.length === 4 && shape[1] <= fit && !(dense && shape[1] < fit / 2);
  const across = Math.max(table ? shape[1] : Math.min(fit, count), 1);
  const down = Math.ceil(count / across);
  const between = lines > 1 && rows > 1 ? 5 : 0;
  const best = dense ? (deep || rows * lines > 40 ? 12 : Math.min(cell, 24)) + gap : deep ? 34 : 38;
  const fair = Math.floor(
    (room - down * (top + rows * between + 12)) / Math.max(down * rows * lines, 1),
  );
  const least = dense ? 9 : LEAST;
  const pitch = fair >= least ? Math.min(best, fair) : dense ? best : least; // what is cut anyway need not be tiny
  const height = pitch - (dense ? gap : pitch < 30 ? 2 : GAP);
  const rowHeight = lines * pitch + between;
  const planeHeight = top + rows * rowHeight;
  const place = (plane) => [
    (plane % across) * (planeWidth + 16),
    Math.floor(plane / across) * (planeHeight + 12),
  ];
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
    planeWidth,
    planeHeight,
    width: (table ? shape[1] : Math.min(fit, count)) * (planeWidth + 16) - 16,
    totalHeight: down * (planeHeight + 12) - 12,
    /** The top left corner of the cell that comes `flat`-th. */
    corner(flat) {
      const [x, y] = place(Math.floor(flat / (rows * columns)));
      const [row, column] = [Math.floor(flat / columns) % rows, flat % columns];
      return [
        x + gutter + (column % perLine) * (cell + gap),
        y + top + row * rowHeight + Math.floor(column / perLine) * pitch,
      ];
    },
  };
}

/** The index that a key leads to, or null: arrows, Home and End in the plane, Page keys for planes. */
export function step(shape, index, key) {
  const [dim, by] = MOVES[key] ?? [];
  const moved = shape.length + dim;
  if (!(moved >= 0)) return null;
  return index.map((i, d) => (d === moved ? Math.min(Math.max(i + by, 0), shape[d] - 1) : i));
}

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
  "Shift+PageUp": [-4, -1],
  "Shift+PageDown": [-4, 1],
};

/** The grid widget: `resize` lays it out for a shape, `draw` patches it to a view. */
export function createGrid(id, hand) {
  const idOf = (k) =>
    `${id}-c${geometry.dense ? k : `${Math.floor(k / geometry.columns)}-${k % geometry.columns}`}`;
  const boxes = createBoxes({ kind: "sk-grid", cell: "sk-cell", ...hand });
  const { node } = boxes;
  const flag = h("span", { class: "sk-flag" });
  const marks = h("div", { class: "sk-marks", "aria-hidden": "true" });
  let [heads, shape, tensor] = [[], [], "x"];
  let geometry = gridGeometry(shape, 300);

  /** Place the cells, which keep to a height of `room` if they can. Returns width and height. */
  function resize({ layout, name, longest }, width, wraps, room) {
    geometry = gridGeometry(layout.shape, width, wraps, longest, room);
    shape = layout.shape;
    tensor = name;
    set(node, "aria-label", `elements of ${name} by index`);
    const empty = shape.includes(0);
    const [w, t] = empty ? [200, 60] : [geometry.width, geometry.totalHeight];
    set(box, "style", `width:${w}px;height:${t}px;--slot:${geometry.height}px`);
    set(box, "data-empty", empty ? "no elements: a size is 0" : null);
    heads = headsOf();
    return [w, t];
  }

  /** Numbers of rows and columns, names of dims, and a title over each plane: [text, x, y, class, plane, number] each. */
  function headsOf() {
    const all = [];
    const last = shape.length - 1;
    const { dense, cell, height, columns, rows, perLine, lines, rowHeight, gutter, corner } =
      geometry;
    // Where numbers would touch, some are hidden until they are lit.
    const every = [dense && cell < 26 ? (cell < 18 ? 8 : 4) : 1, dense && height < 16 ? 4 : 1];
    const number = (n, step, x, y, kind, plane) => {
      if (n % step === 0 || last < 2)
        all.push([n, x, y, n % step ? `${kind} is-sparse` : kind, plane, n]);
    };
    for (const plane of range(shape.includes(0) ? 0 : geometry.count)) {
      const [x, y] = geometry.place(plane);
      if (last > 1) {
        const title = elementName([...unflatten(shape.slice(0, -2), plane), ":", ":"], tensor);
        all.push([title, x + gutter, y, "sk-title"]);
      } else if (last >= 0)
        all.push([`dim ${last} →`, x + gutter - 2, y, `sk-dim sk-origin sk-d${last}`]);
      if (last === 1) {
        const middle = y + geometry.top + (rows * rowHeight) / 2;
        all.push([`← dim ${last - 1}`, x + 11, middle, `sk-dim sk-upright sk-d${last - 1}`]);
      }
      for (const c of range(last >= 0 && lines === 1 ? perLine : 0))
        number(
          c,
          every[0],
          x + corner(c)[0] + cell / 2,
          y + geometry.top - HEAD,
          "sk-number sk-column",
          plane,
        );
      for (const r of range(last > 0 ? rows : 0))
        number(
          r,
          every[1],
          x + gutter - 10,
          y + corner(r * columns)[1] + height / 2 - 9,
          "sk-number sk-line",
          plane,
        );
      for (const line of range(lines > 1 && last === 0 ? lines : 0))
        if (line % every[1] === 0)
          all.push([
            line * perLine,
            gutter - 10,
            corner(line * perLine)[1] + height / 2 - 9,
            "sk-number sk-line",
          ]);
    }
    return all;
  }

  function draw(view) {
    const { spot, elements, sharers, label, selected } = view;
    const {
      dense,
      cell,
      height,
      width,
      totalHeight: tall,
      corner,
      columns,
      rows,
      count,
    } = geometry;
    const numbers = range(product(shape));
    const laid = {
      numbers,
      places: numbers.map((flat) => [...corner(flat), cell, height]),
      columns,
      idOf,
      plate: dense ? { width, height: tall, rows: rows * count } : null,
    };
    const markOf = (flat) => (flat === spot.flat ? "spot" : sharers.has(flat) ? "sharer" : "");
    const describe = boxes.draw(
      laid,
      (flat) => [Math.floor(flat / columns) % 6, label(elements[flat]), markOf(flat)],
      (flat) => describeCell(view, flat),
      selected,
    );
    if (dense && spot.flat !== null) {
      const [x, y] = corner(spot.flat);
      set(flag, "style", `left:${x + cell / 2}px;top:${y - 22}px`);
    }
    set(flag, "text", boxes.texts() || spot.flat === null ? "" : label(spot.element));
    const [at, plane] =
      spot.flat === null
        ? [[], -1]
        : [unflatten(shape, spot.flat), Math.floor(spot.flat / (rows * columns))];
    fill(
      marks,
      ...heads.map(([text, x, y, kind, inPlane, number]) => {
        const d = shape.length - (kind.includes("sk-column") ? 1 : 2);
        const lit = inPlane === plane && at[d] === number ? String(d) : null;
        return [
          "span",
          {
            text: String(text),
            class: `sk-head ${kind}`,
            style: `left:${x}px;top:${y}px`,
            "data-lit": lit,
          },
        ];
      }),
      ...(dense ? [flag] : []),
    );
    return describe;
  }

  const box = h("div", { class: "sk-gridbox" }, node, marks);
  return {
    node: h("div", { class: "sk-pane" }, box),
    resize,
    draw,
    cells: boxes.nodes,
    geometry: () => geometry,
  };
}
