// The panes of the alias explorer: a small grid for each tensor, and a tape for each storage.
// Each name has a hue and a pattern, those of x, y or z: in its grid, and as a lane through the boxes of the tape that it reaches.

import { boxFor, fill, fit, h, set, show } from "../page/dom.js";
import { elementName, nameAt, numel, range, sum, tuple, unflatten } from "../page/layout.js";
import { createMarks, createStrip } from "../page/panels.js";
import { elementsOf, NAMES, namesOf } from "./session.js";

const PITCHES = [44, 40, 36, 33, 30]; // of a grid's boxes, the widest that lets all grids stand side by side
const NARROW = PITCHES.at(-1);
const [HEAD, SIDE] = [18, 34]; // room for the numbers above and beside a grid
const [LETTER, CHARACTER] = [40, 7.3]; // widths above them: the letter, and a character of the numbers
const APART = 18; // between planes that stand side by side
const BETWEEN = 20; // between grids, and between storages
const [SLOT, LEAST, GAP] = [46, 33, 3]; // pitch of a storage's boxes, the most and the least, and what is between them
const [VALUE, LANE] = [22, 13]; // heights in a box of a storage: the number, and the lane of each name below it
const GUTTER = 34; // room for the number of a row's first element
const WIDE = 600; // in a narrower widget, short lines let two grids stand side by side
const BAR = 10; // room for the scroll bar of a pane

const longestOf = (texts) => Math.max(1, ...texts.map((text) => text.length));
const isAt = (where, tape, element) => where?.tape === tape && where.element === element;

/** The classes of a box: it may be pointed at; if the last line wrote it, it flashes, by one of two classes in turn. */
function marksAt({ session: { touched, log }, pointed }, tape, element) {
  const isWritten = touched.some(([t, e]) => t === tape && e === element);
  return (
    (isAt(pointed, tape, element) ? " is-spot" : "") +
    (isWritten ? ` is-written is-flash${log.length % 2}` : "")
  );
}

/** The grids of the existing tensors of these names. `hand` is {onHover, onMove}, told {tape, element}. */
export function createOwned(id, names, hand) {
  const cards = names.map((name, k) => createCard(`${id}-${NAMES[k]}`, name, NAMES[k], hand));
  const node = h("div", { class: "sk-owned sk-pane" }, ...cards.map((card) => card.node));

  /** With the widest boxes with which all grids stand side by side, first with numbers in two lines, then in three. */
  function draw(view, whole) {
    const there = cards.filter((card) => card.read(view));
    const width = whole - BAR;
    const looks = [2, 3].flatMap((lines) => PITCHES.map((pitch) => ({ pitch, lines, width })));
    const fits = (look) =>
      sum(there.map((card) => card.widthOf(look) + BETWEEN)) - BETWEEN <= width;
    const look = looks.find(fits) ?? { pitch: 40, lines: width < WIDE ? 3 : 2, width };
    for (const card of there) card.draw(view, look);
  }

  /** The boxes of a name's grid: [node, tape, element] each. */
  return { node, draw, boxesOf: (name) => cards[names.indexOf(name)].boxes() };
}

function createCard(id, name, kind, hand) {
  // `all` and `texts` in the order of the indices, `elements` in that of the strip's boxes
  const own = { tensor: null, all: [], texts: [], elements: [] };
  const strip = createStrip(id, {
    label: `elements of ${name} by index`,
    height: 27,
    gap: GAP,
    ...hand,
    of: (k) => ({ tape: own.tensor.tape, element: own.elements[k] }),
  });
  const numbers = h("span", { class: "sk-numbers" });
  const title = h(
    "p",
    { class: "sk-title sk-named" },
    h("span", { class: `sk-letter is-${kind}`, text: name }),
    numbers,
  );
  const heads = createMarks("sk-heads");
  const body = h("div", { class: "sk-body" }, heads.node, strip.node);
  const node = h(
    "div",
    { class: `sk-card is-${kind}`, role: "group", "aria-label": `tensor ${name}` },
    title,
    body,
  );

  /** Take what the session has for this name; false if that is nothing. */
  function read({ session }) {
    const tensor = session.tensors[name];
    show(node, tensor);
    if (!tensor) return false;
    const all = elementsOf(tensor);
    Object.assign(own, {
      tensor,
      all,
      texts: all.map((element) => String(session.tapes[tensor.tape][element])),
    });
    return true;
  }

  function numbersIn(lines) {
    const { shape, stride, storage_offset } = own.tensor.layout;
    const all = [
      `shape ${tuple(shape)}`,
      `stride ${tuple(stride)}`,
      `storage_offset ${storage_offset}`,
    ];
    return lines === 3 ? all : [all.slice(0, 2).join(", "), all[2]];
  }

  const gridFor = (look) =>
    arrange(own.tensor.layout.shape, numel(own.tensor.layout), longestOf(own.texts), look);
  const widthOf = (look) =>
    Math.max(
      gridFor(look).width,
      LETTER + CHARACTER * (name.length - 1 + longestOf(numbersIn(look.lines))),
    );

  function draw(view, look) {
    const { shape } = own.tensor.layout;
    const { perRow, columns, rows, top, side, pitch, flats, isWhole } = gridFor(look);
    const [ndim, count] = [shape.length, flats.length];
    const apart = ndim > 2 && isWhole ? { columns: [columns, APART], rows: [rows, HEAD + 4] } : {};
    strip.layOut(count, perRow, pitch * perRow, apart);
    set(numbers, "text", numbersIn(look.lines).join("\n"));
    set(body, "style", `padding:${top}px 0 0 ${side}px`);
    // The numbers of columns and lines, and the names of planes.
    const every = (step) => range(Math.ceil(count / step)).map((k) => k * step);
    const across = isWhole && ndim ? range(Math.min(perRow, count)) : [];
    const down = (ndim === 1 && !isWhole) || (ndim > 1 && isWhole) ? every(perRow) : [];
    const planes =
      isWhole && ndim > 2
        ? every(columns).filter((at) => Math.floor(at / perRow) % rows === 0)
        : [];
    heads.draw([
      ...across.map((at) => [at % columns, side + strip.middle(at)[0], top - HEAD, "is-column"]),
      ...down.map((at, line) => [
        isWhole ? line % rows : at,
        side - 8,
        top + strip.middle(at)[1] - 9,
        "is-line",
      ]),
      ...planes.map((at) => [
        elementName(unflatten(shape, flats[at]).slice(0, -2), name),
        side + strip.left(at),
        at < perRow ? 0 : top + strip.top(at) - HEAD,
        "is-plane",
      ]),
    ]);
    set(strip.node, "data-empty", count ? null : "no elements");

    const {
      tensor: { tape, layout },
      texts,
    } = own;
    own.elements = flats.map((flat) => own.all[flat]);
    fit(strip.node, texts, strip.boxWidth());
    const active = own.elements.findIndex((element) => isAt(view.spot, tape, element));
    strip.draw(
      (k) => {
        const [element, text] = [own.elements[k], texts[flats[k]]];
        const says = `${nameAt(layout.shape, flats[k], name)}: ${text}, element ${element}`;
        return { text, says, kind: `sk-of is-${kind}${marksAt(view, tape, element)}` };
      },
      active < 0 ? null : active,
    );
  }

  const boxes = () => own.elements.map((element, k) => [strip.box(k), own.tensor.tape, element]);

  return { node, read, widthOf, draw, boxes };
}

// The places of the boxes of a tensor, no further apart than `pitch`. Planes of more than two dims stand side by side,
// as many as fit and make full lines. Columns that do not fit continue in the next line. `flats` is the flat index at
// each place.
function arrange(shape, count, longest, look) {
  const [columns, rows, stack] = [shape.at(-1) ?? 1, shape.at(-2) ?? 1, shape.at(-3) ?? 1];
  const room = look.width - (shape.length > 1 ? SIDE : 0);
  const least = Math.max(NARROW, boxFor(longest, 9) + GAP);
  const isWhole = columns * least <= room;
  const fits = (many) => stack % many === 0 && many * columns * least + (many - 1) * APART <= room;
  const across =
    isWhole && count
      ? range(stack)
          .map((k) => stack - k)
          .find(fits)
      : 1;
  const lines = Math.ceil((columns * least) / (room - SIDE));
  const perRow = Math.max(1, isWhole ? across * columns : Math.ceil(columns / lines));
  const apart = (across - 1) * APART;
  const pitch = Math.max(least, Math.min(look.pitch, Math.floor((room - apart) / perRow)));
  const side = (shape.length > 1 ? isWhole : !isWhole) ? SIDE : 0; // wrapped rows of a matrix have no numbers
  const flatAt = (k) => {
    const [line, column] = [Math.floor(k / perRow), k % perRow];
    const plane = Math.floor(line / rows) * across + Math.floor(column / columns);
    return (plane * rows + (line % rows)) * columns + (column % columns);
  };
  return {
    columns,
    rows,
    across,
    perRow,
    isWhole,
    pitch,
    side,
    width: side + perRow * pitch + apart,
    flats: range(count).map((k) => (isWhole ? flatAt(k) : k)),
    top: !shape.length || !isWhole ? 0 : shape.length > 2 ? 2 * HEAD : HEAD,
  };
}

export function createTapes(id, hand) {
  const node = h("div", { class: "sk-tapes sk-pane" });
  const made = range(3).map((tape) => createTape(`${id}-t${tape}`, tape, hand)); // a name holds one each, at most

  function draw(view, width) {
    const { tapes } = view.session;
    const room = width - BAR;
    const least = Math.max(LEAST, boxFor(longestOf(tapes.flat().map(String)), 9) + GAP);
    const inOne = Math.floor(room / Math.max(1, ...tapes.map((values) => values.length)));
    const pitch =
      inOne < least
        ? Math.floor((room - GUTTER) / Math.floor((room - GUTTER) / least))
        : Math.min(inOne, SLOT);
    const shown = made.slice(0, tapes.length);
    for (const each of shown) each.draw(view, pitch, room);
    fill(node, ...shown.map((each) => each.node));
  }

  return { node, draw, boxOf: (tape, element) => made[tape].box(element) };
}

function createTape(id, tape, hand) {
  const strip = createStrip(id, {
    label: `storage ${tape + 1}, in the order of memory`,
    gap: GAP,
    ...hand,
    of: (element) => ({ tape, element }),
  });
  const [what, why] = [h("span"), h("code")];
  const title = h("p", { class: "sk-title" }, what, why);
  const heads = createMarks("sk-heads");
  const body = h("div", { class: "sk-body" }, heads.node, strip.node);
  const node = h("div", { class: "sk-storage" }, title, body);

  function draw(view, pitch, room) {
    const { session, owners, spot } = view;
    const values = session.tapes[tape];
    const names = namesOf(session).filter((name) => session.tensors[name].tape === tape);
    const count = values.length;
    const isOne = count * pitch <= room;
    const most = Math.max(1, Math.floor((room - GUTTER) / pitch));
    const rows = isOne ? 1 : Math.ceil(count / most);
    const perRow = Math.max(1, Math.ceil(count / rows));
    strip.layOut(count, perRow, pitch * perRow, { height: VALUE + LANE * names.length + 1 });
    const firsts = isOne ? [] : range(Math.ceil(count / perRow)).map((row) => row * perRow);
    set(body, "style", isOne ? null : `padding-left:${GUTTER}px`);
    heads.draw(firsts.map((at) => [at, GUTTER - 8, strip.top(at) + 2, "is-line"]));
    set(strip.node, "data-empty", count ? null : "no elements");
    const number = session.tapes.length > 1 ? ` ${tape + 1}` : "";
    set(what, "text", `storage${number}: ${names.join(", ")}`);
    set(why, "text", session.opened[tape]);
    fit(strip.node, values.map(String), strip.boxWidth());
    strip.draw(
      (element) => {
        const own = owners[tape][element];
        return {
          text: String(values[element]),
          kind: `sk-lanes${own.length ? "" : " is-hole"}${marksAt(view, tape, element)}`,
          says: `element ${element}: ${values[element]}, ${whoReaches(session, own)}`,
          style: lanes(own, names, session.called),
        };
      },
      spot?.tape === tape ? spot.element : null,
    );
  }

  return { node, draw, box: strip.box };
}

/** The names and indices of those that reach an element. */
export const whoReaches = ({ tensors }, owners) =>
  owners.map(({ name, flat }) => nameAt(tensors[name].layout.shape, flat, name)).join(", ") ||
  "no tensor reaches it";

/** The lanes of the names that own a box, each at the place of its name, with a count if it is more than one. */
const lanes = (own, names, called) =>
  names
    .flatMap((name, k) => {
      const count = own.filter((owner) => owner.name === name).length;
      const says = count === 1 ? name : name.length > 2 ? `×${count}` : `${name}×${count}`;
      return count
        ? [`--lane${k}:var(--lane-${NAMES[called.indexOf(name)]});--says${k}:"${says}"`]
        : [];
    })
    .join(";");
