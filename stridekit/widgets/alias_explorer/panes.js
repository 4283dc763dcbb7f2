// The panes of the alias explorer: a small grid for each tensor, and a tape for each storage.
//
// Each name has a letter, a hue and a pattern: in its grid, and as a lane through the boxes of the tape that it reaches.

import { elementsOf, namesOf } from "./session.js";
import { elementName, numel, range, tuple, unflatten } from "../page/layout.js";
import { boxFor, fit, h, pool, set } from "../page/dom.js";
import { createMarks } from "../page/panels.js";
import { createStrip } from "../page/strip.js";

const [CELL, NARROW] = [44, 30]; // pitch of a grid's boxes, and the least
const [HEAD, SIDE] = [20, 34]; // room for the numbers above and beside a grid
const APART = 18; // between planes that stand side by side
const GUTTER = 40; // room for the number of a row's first element
const NAMES = ["x", "y", "z"];

/** A box that the last line wrote flashes; two alternating classes restart the animation each time. */
const written = ({ session }, tape, element) =>
  session.touched.some(([t, e]) => t === tape && e === element)
    ? ` is-written is-flash${session.log.length % 2}`
    : "";

/** The grids of the existing tensors. `hand` is {onHover, onMove}, told {tape, element}. */
export function createOwned(id, hand) {
  const node = h("div", { class: "sk-owned" });
  const cards = NAMES.map((name) => createCard(id, name, hand));
  node.append(...cards.map((card) => card.node));
  return { node, draw: (view, width) => cards.forEach((card) => card.draw(view, width)) };
}

function createCard(id, name, hand) {
  const own = { tensor: null, flats: [], elements: [] }; // flats and elements in the order of the strip's boxes
  const strip = createStrip(`${id}-${name}`, {
    label: `elements of ${name} by index`, height: 29, ...hand,
    of: (k) => ({ tape: own.tensor.tape, element: own.elements[k] }),
  });
  const numbers = h("span", { class: "sk-numbers" });
  const title = h("p", { class: "sk-title sk-named" }, h("span", { class: `sk-letter is-${name}`, text: name }), numbers);
  const heads = createMarks("sk-heads");
  const body = h("div", { class: "sk-body" }, heads.node, strip.node);
  const node = h("div", { class: `sk-card is-${name}`, role: "group", "aria-label": `tensor ${name}` }, title, body);
  let laidOut = null;

  function layOut({ layout }, width, longest) {
    const { shape } = layout;
    const count = numel(layout);
    const grid = arrange(shape, count, width, longest);
    const { perRow, columns, rows, across, top, side } = grid;
    own.flats = grid.flats;
    const most = width - side - (across - 1) * APART - 24;
    const apart = shape.length > 2 && grid.isWhole ? { columns: [columns, APART], rows: [rows, HEAD + 4] } : {};
    strip.layOut(count, perRow, Math.min(CELL * perRow, most), apart);
    set(body, "style", `padding:${top}px 0 0 ${side}px`);
    heads.draw((count ? marksOf(shape, grid) : []).map(({ kind, text, at }) => {
      const x = { "is-column": side + strip.middle(at)[0], "is-line": side - 8, "is-plane": side + strip.left(at) }[kind];
      const y = { "is-column": top - HEAD, "is-line": top + strip.top(at) + strip.height / 2 - 9,
        "is-plane": at < perRow ? 0 : top + strip.top(at) - HEAD }[kind];
      return [text, x, y, kind];
    }));
    set(strip.node, "data-empty", count ? null : "no elements");
  }

  /** The numbers of columns and lines, and the names of planes: each at a box, by its place in the strip. */
  function marksOf(shape, { perRow, columns, rows, flats, isWhole }) {
    if (!shape.length) return [];
    const every = (step) => range(Math.ceil(flats.length / step)).map((k) => k * step);
    const lines = every(perRow);
    if (!isWhole) return shape.length > 1 ? [] : lines.map((at) => ({ kind: "is-line", text: String(at), at }));
    const across = flats.slice(0, perRow).map((_, at) => ({ kind: "is-column", text: String(at % columns), at }));
    const down = lines.map((at, line) => ({ kind: "is-line", text: String(line % rows), at }));
    const planes = every(columns).filter((at) => Math.floor(at / perRow) % rows === 0).map((at) => ({
      kind: "is-plane", text: elementName(unflatten(shape, flats[at]).slice(0, -2), name), at,
    }));
    return [...across, ...(shape.length > 1 ? down : []), ...(shape.length > 2 ? planes : [])];
  }

  function draw(view, width) {
    const tensor = view.session.tensors[name];
    set(node, "hidden", tensor ? null : "");
    if (!tensor) return;
    const { shape, stride, storage_offset } = tensor.layout;
    const values = view.session.tapes[tensor.tape];
    const all = elementsOf(tensor);
    const texts = all.map((element) => String(values[element]));
    const longest = shape.length === 1 ? Math.max(1, ...texts.map((text) => text.length)) : 1;
    const key = `${shape} ${width} ${longest}`;
    if (key !== laidOut) layOut(tensor, width, longest);
    laidOut = key;
    Object.assign(own, { tensor, elements: own.flats.map((flat) => all[flat]) });
    set(numbers, "text", `shape ${tuple(shape)}, stride ${tuple(stride)}\nstorage_offset ${storage_offset}`);
    fit(strip.node, texts, strip.boxWidth());
    const { pointed, spot } = view;
    const isAt = (where, k) => where?.tape === tensor.tape && where.element === own.elements[k];
    const active = own.elements.findIndex((_, k) => isAt(spot, k));
    strip.draw((k) => {
      const element = own.elements[k];
      return {
        text: String(values[element]),
        kind: `sk-of is-${name}${isAt(pointed, k) ? " is-spot" : ""}${written(view, tensor.tape, element)}`,
        says: `${elementName(unflatten(shape, own.flats[k]), name)}: ${values[element]}, element ${element}`,
      };
    }, active < 0 ? null : active);
  }

  return { node, draw };
}

/**
 * The places of the boxes of a tensor. Planes of more than two dims stand side by side, as many as fit and make full
 * lines. Columns that do not fit continue in the next line. `flats` is the flat index at each place.
 */
function arrange(shape, count, width, longest) {
  const [columns, rows, stack] = [shape.at(-1) ?? 1, shape.at(-2) ?? 1, shape.at(-3) ?? 1];
  const room = width - 24 - (shape.length > 1 ? SIDE : 0);
  const pitch = Math.max(NARROW, boxFor(longest, 9) + 4);
  const isWhole = columns * pitch <= room;
  const fits = (many) => stack % many === 0 && many * columns * NARROW + (many - 1) * APART <= room;
  const across = isWhole && count ? range(stack).map((k) => stack - k).find(fits) : 1;
  const lines = Math.ceil((columns * pitch) / (room - SIDE));
  const perRow = Math.max(1, isWhole ? across * columns : Math.ceil(columns / lines));
  const flatAt = (k) => {
    const [line, column] = [Math.floor(k / perRow), k % perRow];
    const plane = Math.floor(line / rows) * across + Math.floor(column / columns);
    return (plane * rows + (line % rows)) * columns + (column % columns);
  };
  return {
    columns, rows, across, perRow, isWhole,
    flats: range(count).map((k) => (isWhole ? flatAt(k) : k)),
    top: !shape.length || !isWhole ? 0 : shape.length > 2 ? 2 * HEAD : HEAD,
    side: (shape.length > 1 ? isWhole : !isWhole) ? SIDE : 0, // wrapped rows of a matrix have no numbers
  };
}

/** The storages, one below the other. */
export function createTapes(id, hand) {
  const node = h("div", { class: "sk-tapes" });
  const take = pool(node, (tape) => {
    const made = createTape(`${id}-t${tape}`, tape, hand);
    return Object.assign(made.node, { draw: made.draw });
  });
  return {
    node,
    draw: (view, width) => take(view.session.tapes.length).forEach((each) => each.draw(view, width)),
  };
}

function createTape(id, tape, hand) {
  const strip = createStrip(id, {
    label: `storage ${tape + 1}, in the order of memory`, height: 82, gap: 6, ...hand,
    of: (element) => ({ tape, element }),
  });
  const [what, why] = [h("span"), h("code")];
  const title = h("p", { class: "sk-title" }, what, why);
  const heads = createMarks("sk-heads");
  const body = h("div", { class: "sk-body", style: `padding-left:${GUTTER}px` }, heads.node, strip.node);
  const node = h("div", { class: "sk-storage" }, title, body);
  let laidOut = null;

  function layOut(count, width) {
    const rows = Math.max(1, Math.ceil(count / Math.floor((width - GUTTER - 8) / 46)));
    const perRow = Math.max(1, Math.ceil(count / rows));
    strip.layOut(count, perRow, width - GUTTER - 8);
    const firsts = range(Math.ceil(count / perRow)).map((row) => row * perRow);
    heads.draw(firsts.map((at) => [at, GUTTER - 10, strip.top(at) + 6, "is-line"]));
    set(strip.node, "data-empty", count ? null : "no elements");
  }

  function draw(view, width) {
    const { session, owners, pointed, spot } = view;
    const values = session.tapes[tape];
    if (laidOut !== `${values.length} ${width}`) layOut(values.length, width);
    laidOut = `${values.length} ${width}`;
    const names = namesOf(session).filter((name) => session.tensors[name].tape === tape);
    const number = session.tapes.length > 1 ? ` ${tape + 1}` : "";
    set(what, "text", `storage${number}: ${names.join(", ")}`);
    set(why, "text", session.opened[tape]);
    fit(strip.node, values.map(String), strip.boxWidth());
    const isAt = (where, element) => where?.tape === tape && where.element === element;
    strip.draw((element) => {
      const own = owners[tape][element];
      const says = own.map(({ name, flat }) =>
        elementName(unflatten(session.tensors[name].layout.shape, flat), name));
      return {
        text: String(values[element]),
        kind:
          `sk-lanes${own.length ? "" : " is-hole"}${isAt(pointed, element) ? " is-spot" : ""}` +
          written(view, tape, element),
        says: `element ${element}: ${values[element]}, ${says.join(", ") || "no tensor reaches it"}`,
        style: lanes(own),
      };
    }, spot?.tape === tape ? spot.element : null);
  }

  return { node, draw };
}

/** The lanes of the names that own a box, with a count if it is more than one. */
function lanes(own) {
  const parts = NAMES.flatMap((name) => {
    const count = own.filter((owner) => owner.name === name).length;
    const letter = count > 1 ? `${name}×${count}` : name;
    return count ? [`--${name}:var(--lane-${name});--${name}-says:"${letter}"`] : [];
  });
  return ["line-height:32px", ...parts].join(";");
}
