// The panes of the alias explorer: a small grid for each tensor, and a tape for each storage.
//
// Each name has its letter, its hue and its pattern: in its grid, and as a lane through the boxes of the tape
// that it reaches.

import { elementsOf, namesOf } from "./story.js";
import { elementName, numel, tuple, unflatten } from "../page/core.js";
import { fit, h, pool, set } from "../page/dom.js";
import { createStrip } from "../page/strip.js";

const [CELL, NARROW] = [44, 30]; // pitch of a grid's boxes, and the least
const [HEAD, SIDE] = [20, 34]; // room for the numbers above and beside a grid
const GUTTER = 40; // room for the number of a row's first element
const NAMES = ["x", "y", "z"];

/** A box that the last line wrote flashes: two classes by turns, so that it does so each time. */
const written = ({ story }, tape, element) =>
  story.touched.some(([t, e]) => t === tape && e === element)
    ? ` is-written is-flash${story.log.length % 2}`
    : "";

/** The grids of the tensors that there are. */
export function createOwned(id, { onHover, onMove }) {
  const node = h("div", { class: "sk-owned" });
  const cards = NAMES.map((name) => createCard(id, name, { onHover, onMove }));
  node.append(...cards.map((card) => card.node));
  return { node, draw: (view, width) => cards.forEach((card) => card.draw(view, width)) };
}

function createCard(id, name, { onHover, onMove }) {
  const own = { tensor: null, elements: [] };
  const place = (k) => ({ tape: own.tensor.tape, element: own.elements[k], from: name });
  const strip = createStrip(`${id}-${name}`, {
    label: `elements of ${name} by index`, height: 29,
    onHover: (k) => onHover(k === null ? null : place(k)),
    onMove: (k) => onMove(place(k)),
  });
  const numbers = h("span", { class: "sk-numbers" });
  const title = h("p", { class: "sk-title sk-named" }, h("span", { class: `sk-letter is-${name}`, text: name }), numbers);
  const heads = h("div", { class: "sk-heads", "aria-hidden": "true" });
  const headNodes = pool(heads, () => h("span"));
  const body = h("div", { class: "sk-body" }, heads, strip.node);
  const node = h("div", { class: `sk-card is-${name}`, role: "group", "aria-label": `tensor ${name}` }, title, body);
  let laidOut = null;

  function layOut({ layout }, width) {
    const { shape } = layout;
    const [count, columns] = [numel(layout), shape.at(-1) ?? 1];
    const most = Math.floor((width - 24) / NARROW);
    const wrapped = columns > most; // then the numbers above and beside would be wrong
    const side = shape.length > 1 && !wrapped ? SIDE + 20 * (shape.length - 2) : 0;
    const perRow = Math.max(1, Math.min(columns, most));
    strip.layOut(count, perRow, Math.min(CELL * perRow, width - side - 24));
    set(body, "style", `padding:${shape.length && !wrapped ? HEAD : 0}px 0 0 ${side}px`);
    const across = count && shape.length && !wrapped ? perRow : 0;
    const down = across && shape.length > 1 ? count / perRow : 0;
    headNodes(across + down).forEach((head, k) => {
      const row = k - across;
      const x = row < 0 ? side + strip.middle(k)[0] : side - 8;
      const y = row < 0 ? 0 : HEAD + strip.top(row * perRow) + strip.height / 2 - 9;
      set(head, "text", row < 0 ? String(k) : unflatten(shape.slice(0, -1), row).join(", "));
      set(head, "class", row < 0 ? "is-column" : "is-line");
      set(head, "style", `left:${x}px;top:${y}px`);
    });
    set(strip.node, "data-empty", count ? null : "no elements");
  }

  function draw(view, width) {
    const tensor = view.story.tensors[name];
    set(node, "hidden", tensor ? null : "");
    if (!tensor) return;
    const { shape, stride, storage_offset } = tensor.layout;
    const key = `${shape} ${width}`;
    Object.assign(own, { tensor, elements: elementsOf(tensor) });
    if (key !== laidOut) layOut(tensor, width);
    laidOut = key;
    set(numbers, "text", `shape ${tuple(shape)}, stride ${tuple(stride)}\nstorage_offset ${storage_offset}`);
    const values = view.story.tapes[tensor.tape];
    const { pointed, spot } = view;
    const isAt = (where, k) => where?.tape === tensor.tape && where.element === own.elements[k];
    fit(strip.node, own.elements.map((element) => String(values[element])), strip.boxWidth());
    const active = own.elements.findIndex((_, k) => isAt(spot, k));
    strip.draw((k) => {
      const element = own.elements[k];
      return {
        text: String(values[element]),
        kind: `sk-of is-${name}${isAt(pointed, k) ? " is-spot" : ""}${written(view, tensor.tape, element)}`,
        says: `${elementName(unflatten(shape, k), name)}: ${values[element]}, element ${element}`,
      };
    }, active < 0 ? null : active);
  }

  return { node, draw };
}

/** The storages, one below the other. */
export function createTapes(id, { onHover, onMove }) {
  const node = h("div", { class: "sk-tapes" });
  const take = pool(node, (tape) => {
    const made = createTape(`${id}-t${tape}`, tape, { onHover, onMove });
    return Object.assign(made.node, { draw: made.draw });
  });
  return {
    node,
    draw: (view, width) => take(view.story.tapes.length).forEach((each) => each.draw(view, width)),
  };
}

function createTape(id, tape, { onHover, onMove }) {
  const place = (element) => ({ tape, element, from: "tape" });
  const strip = createStrip(id, {
    label: `storage ${tape + 1}, in the order of memory`, height: 82, gap: 6,
    onHover: (element) => onHover(element === null ? null : place(element)),
    onMove: (element) => onMove(place(element)),
  });
  const [what, why] = [h("span"), h("code")];
  const title = h("p", { class: "sk-title" }, what, why);
  const heads = h("div", { class: "sk-heads", "aria-hidden": "true" });
  const headNodes = pool(heads, () => h("span", { class: "is-line" }));
  const body = h("div", { class: "sk-body", style: `padding-left:${GUTTER}px` }, heads, strip.node);
  const node = h("div", { class: "sk-storage" }, title, body);
  let laidOut = null;

  function layOut(count, width) {
    const rows = Math.max(1, Math.ceil(count / Math.floor((width - GUTTER - 8) / 46)));
    const perRow = Math.max(1, Math.ceil(count / rows));
    strip.layOut(count, perRow, width - GUTTER - 8);
    headNodes(Math.ceil(count / perRow)).forEach((head, row) => {
      set(head, "text", String(row * perRow));
      set(head, "style", `left:${GUTTER - 10}px;top:${strip.top(row * perRow) + 6}px`);
    });
    set(strip.node, "data-empty", count ? null : "no elements");
  }

  function draw(view, width) {
    const { story, owners, pointed, spot } = view;
    const values = story.tapes[tape];
    if (laidOut !== `${values.length} ${width}`) layOut(values.length, width);
    laidOut = `${values.length} ${width}`;
    const names = namesOf(story).filter((name) => story.tensors[name].tape === tape);
    const number = story.tapes.length > 1 ? ` ${tape + 1}` : "";
    set(what, "text", `storage${number}: ${names.join(", ")}`);
    set(why, "text", story.opened[tape]);
    fit(strip.node, values.map(String), strip.boxWidth());
    const isAt = (where, element) => where?.tape === tape && where.element === element;
    strip.draw((element) => {
      const own = owners[tape][element];
      const says = own.map(({ name, flat }) =>
        elementName(unflatten(story.tensors[name].layout.shape, flat), name));
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

/** The lanes of the names that own a box, with how often where it is more than once. */
function lanes(own) {
  const parts = NAMES.flatMap((name) => {
    const count = own.filter((owner) => owner.name === name).length;
    const letter = count > 1 ? `${name}×${count}` : name;
    return count ? [`--${name}:var(--lane-${name});--${name}-says:"${letter}"`] : [];
  });
  return ["line-height:32px", ...parts].join(";");
}
