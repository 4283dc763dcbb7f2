// The panes of the alias explorer: a small grid for each tensor, and a tape for each storage. Each
// name has a hue and a pattern, those of x, y or z: in its grid, and as a lane through the boxes of
// the tape that it reaches.

/** @import { Session, Tensor } from "./session.js" */

import { boxFor, fill, fit, h, set, show } from "../page/dom.js";
import { elementName, nameAt, numel, range, sum, tuple, unflatten } from "../page/layout.js";
import { createMarks, createStrip } from "../page/panels.js";
import { flatsOf, planesAcross } from "../page/planes.js";
import { elementsOf, NAMES, namesOf } from "./session.js";

/**
 * A box of a tape, and all boxes of grids that show it.
 * @typedef {{tape: number, element: number}} Spot
 */

/**
 * An index (flat) that reaches an element, with the name of its tensor.
 * @typedef {{name: string, flat: number}} Owner
 */

/**
 * What all panes draw. `owners` has the owners of each element of each tape. `pointed` is under the
 * pointer or has been reached by keys, `spot` has been reached by keys.
 * @typedef {object} View
 * @property {Session} session
 * @property {Owner[][][]} owners
 * @property {Spot | null} pointed
 * @property {Spot | null} spot
 */

/**
 * The pitch of the boxes of all grids at most, the lines of their numbers, and the width of their
 * pane.
 * @typedef {{pitch: number, lines: number, width: number}} Look
 */

// The pitches of a grid's boxes: the widest one that lets all grids stand side by side.
const PITCHES = [44, 40, 36, 33, 30];
const NARROWEST = 30;
const HEAD = 18; // room for the numbers above a grid
const SIDE = 34; // room for the numbers beside a grid
const LETTER = 40; // width of the letter above a grid
const CHARACTER = 7.3; // width of a character of the numbers above a grid
const BETWEEN_PLANES = 18; // that stand side by side
const BETWEEN = 16; // between grids, and between storages
const TAPE_PITCH = { most: 46, least: 33 };
const GAP = 3; // between the boxes of a grid and of a storage
const VALUE = 22; // height of the number in a box of a storage
const LANE = 13; // height of the lane of each name below it
const GUTTER = 34; // room for the number of a row's first element
const WIDE = 600; // in a narrower widget, short lines let two grids stand side by side
const BAR = 10; // room for the scroll bar of a pane

const longestOf = (texts) => Math.max(1, ...texts.map((text) => text.length));
const isAt = (spot, tape, element) => spot?.tape === tape && spot.element === element;

/**
 * The classes of a box: it may be pointed at; if the last line wrote it, it flashes, by one of two
 * classes in turn.
 */
function marksAt({ session: { touched, log }, pointed }, tape, element) {
  const isWritten = touched.some(([t, e]) => t === tape && e === element);
  const spotClass = isAt(pointed, tape, element) ? " is-spot" : "";
  return isWritten ? `${spotClass} is-written is-flash${log.length % 2}` : spotClass;
}

// Grids -------------------------------------------------------------------------------------------

/**
 * The grids of the existing tensors of these names.
 * @param {string} id
 * @param {string[]} names
 * @param {{onHover: (spot: Spot | null) => void, onMove: (spot: Spot) => void}} hand
 */
export function createOwned(id, names, hand) {
  const cards = names.map((name, k) => createCard(`${id}-${NAMES[k]}`, name, NAMES[k], hand));
  const node = h("div", { class: "sk-owned sk-pane" }, ...cards.map((card) => card.node));

  /**
   * Draw with the widest boxes with which all grids stand side by side, first with numbers in two
   * lines, then in three.
   */
  function draw(view, paneWidth) {
    const drawnCards = cards.filter((card) => card.read(view));
    const width = paneWidth - BAR;
    const looks = [2, 3].flatMap((lines) => PITCHES.map((pitch) => ({ pitch, lines, width })));
    const widthOf = (look) => sum(drawnCards.map((card) => card.widthOf(look) + BETWEEN)) - BETWEEN;
    const fallback = { pitch: 40, lines: width < WIDE ? 3 : 2, width };
    const look = looks.find((candidate) => widthOf(candidate) <= width) ?? fallback;
    for (const card of drawnCards) card.draw(view, look);
  }

  return {
    node,
    draw,
    /** The boxes of a name's grid, with their spots. */
    boxesOf: (name) => cards[names.indexOf(name)].boxes(),
  };
}

/** The grid of a name, if there is a tensor; `hue` is the letter whose hue it has. */
function createCard(id, name, hue, hand) {
  /** @type {Tensor} */
  let tensor;
  /** @type {number[]} */
  let elements = []; // in the order of the indices
  /** @type {string[]} */
  let texts = []; // of these elements
  /** @type {number[]} */
  let boxElements = []; // in the order of the strip's boxes
  const strip = createStrip(id, {
    label: `elements of ${name} by index`,
    height: 27,
    gap: GAP,
    ...hand,
    of: (k) => ({ tape: tensor.tape, element: boxElements[k] }),
  });
  const numbers = h("span", { class: "sk-numbers" });
  const title = h(
    "p",
    { class: "sk-title sk-named" },
    h("span", { class: `sk-letter is-${hue}`, text: name }),
    numbers,
  );
  const heads = createMarks("sk-heads");
  const body = h("div", { class: "sk-body" }, heads.node, strip.node);
  const node = h(
    "div",
    { class: `sk-card is-${hue}`, role: "group", "aria-label": `tensor ${name}` },
    title,
    body,
  );

  /** Take what the session has for this name; false if that is nothing. */
  function read({ session }) {
    const isThere = Object.hasOwn(session.tensors, name);
    show(node, isThere);
    if (!isThere) return false;
    tensor = session.tensors[name];
    elements = elementsOf(tensor);
    texts = elements.map((element) => String(session.tapes[tensor.tape][element]));
    return true;
  }

  function numbersIn(lines) {
    const { shape, stride, storage_offset } = tensor.layout;
    const fields = [
      `shape ${tuple(shape)}`,
      `stride ${tuple(stride)}`,
      `storage_offset ${storage_offset}`,
    ];
    return lines === 3 ? fields : [fields.slice(0, 2).join(", "), fields[2]];
  }

  const geometryFor = (look) =>
    arrange(tensor.layout.shape, numel(tensor.layout), longestOf(texts), look);

  function widthOf(look) {
    const characters = name.length - 1 + longestOf(numbersIn(look.lines));
    return Math.max(geometryFor(look).width, LETTER + CHARACTER * characters);
  }

  function draw(view, look) {
    const { shape } = tensor.layout;
    const geometry = geometryFor(look);
    const { perRow, columns, rows, top, side, pitch, flats, isWhole } = geometry;
    const apart = { columns: [columns, BETWEEN_PLANES], rows: [rows, HEAD + 4] };
    strip.layOut(flats.length, perRow, pitch * perRow, shape.length > 2 && isWhole ? apart : {});
    set(numbers, "text", numbersIn(look.lines).join("\n"));
    set(body, "style", `padding:${top}px 0 0 ${side}px`);
    heads.draw(headsOf(geometry));
    set(strip.node, "data-empty", flats.length ? null : "no elements");
    fit(strip.node, texts, strip.boxWidth());
    drawBoxes(view, flats);
  }

  /** The numbers of columns and lines, and the names of planes. */
  function headsOf({ perRow, columns, rows, top, side, flats, isWhole }) {
    const { shape } = tensor.layout;
    const ndim = shape.length;
    const count = flats.length;
    const every = (step) => range(Math.ceil(count / step)).map((k) => k * step);
    const columnHeads = range(Math.min(perRow, count)).map((k) => {
      const [x] = strip.middle(k);
      return [k % columns, side + x, top - HEAD, "is-column"];
    });
    const lineHeads = every(perRow).map((k, line) => {
      const [, y] = strip.middle(k);
      return [isWhole ? line % rows : k, side - 8, top + y - 9, "is-line"];
    });
    if (!isWhole) return ndim === 1 ? lineHeads : [];
    if (ndim < 2) return ndim === 1 ? columnHeads : [];
    if (ndim === 2) return [...columnHeads, ...lineHeads];
    const firsts = every(columns).filter((k) => Math.floor(k / perRow) % rows === 0);
    const planeHeads = firsts.map((k) => {
      const plane = elementName(unflatten(shape, flats[k]).slice(0, -2), name);
      const y = k < perRow ? 0 : top + strip.top(k) - HEAD;
      return [plane, side + strip.left(k), y, "is-plane"];
    });
    return [...columnHeads, ...lineHeads, ...planeHeads];
  }

  function drawBoxes(view, flats) {
    const { tape, layout } = tensor;
    boxElements = flats.map((flat) => elements[flat]);
    const active = boxElements.findIndex((element) => isAt(view.spot, tape, element));
    const lookOf = (k) => {
      const element = boxElements[k];
      const text = texts[flats[k]];
      const says = `${nameAt(layout.shape, flats[k], name)}: ${text}, element ${element}`;
      return { text, says, kind: `sk-of is-${hue}${marksAt(view, tape, element)}` };
    };
    strip.draw(lookOf, active < 0 ? null : active);
  }

  const boxes = () =>
    boxElements.map((element, k) => ({ box: strip.box(k), tape: tensor.tape, element }));

  return { node, read, widthOf, draw, boxes };
}

/**
 * The places of the boxes of a tensor, no further apart than the look's pitch. Planes of more than
 * two dims stand side by side, as many as fit and make full lines. Columns that do not fit continue
 * in the next line. `flats` is the flat index at each place.
 * @param {number[]} shape
 * @param {number} count
 * @param {number} longest
 * @param {Look} look
 */
export function arrange(shape, count, longest, look) {
  const ndim = shape.length;
  const columns = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  const stack = shape.at(-3) ?? 1;
  const room = look.width - (ndim > 1 ? SIDE : 0);
  const least = Math.max(NARROWEST, boxFor(longest, 9) + GAP);
  const isWhole = columns * least <= room;
  const across = isWhole && count ? planesAcross(stack, columns * least, BETWEEN_PLANES, room) : 1;
  const lines = Math.ceil((columns * least) / (room - SIDE)); // of a row that is cut
  const perRow = Math.max(1, isWhole ? across * columns : Math.ceil(columns / lines));
  const apart = (across - 1) * BETWEEN_PLANES;
  const pitch = Math.max(least, Math.min(look.pitch, Math.floor((room - apart) / perRow)));
  const hasSide = ndim > 1 ? isWhole : !isWhole; // cut rows of a matrix have no numbers
  const side = hasSide ? SIDE : 0;
  let top = 0;
  if (ndim && isWhole) top = ndim > 2 ? 2 * HEAD : HEAD;

  return {
    columns,
    rows,
    perRow,
    isWhole,
    pitch,
    side,
    top,
    width: side + perRow * pitch + apart,
    flats: isWhole ? flatsOf(shape, across) : range(count),
  };
}

// Storages ----------------------------------------------------------------------------------------

const MOST_TAPES = 3; // a name holds one each, at most

/**
 * @param {string} id
 * @param {{onHover: (spot: Spot | null) => void, onMove: (spot: Spot) => void}} hand
 */
export function createTapes(id, hand) {
  const node = h("div", { class: "sk-tapes sk-pane" });
  const panes = range(MOST_TAPES).map((tape) => createTape(`${id}-t${tape}`, tape, hand));

  /**
   * @param {View} view
   * @param {number} width
   */
  function draw(view, width) {
    const { tapes } = view.session;
    const room = width - BAR;
    const pitch = pitchFor(tapes, room);
    const drawnPanes = panes.slice(0, tapes.length);
    for (const pane of drawnPanes) pane.draw(view, pitch, room);
    fill(node, ...drawnPanes.map((pane) => pane.node));
  }

  return { node, draw, boxOf: ({ tape, element }) => panes[tape].box(element) };
}

/**
 * The pitch of the boxes of all storages: the longest storage has one row, or the boxes are small
 * and fill their rows.
 */
export function pitchFor(tapes, room) {
  const longest = longestOf(tapes.flat().map(String));
  const least = Math.max(TAPE_PITCH.least, boxFor(longest, 9) + GAP);
  const inOneRow = Math.floor(room / Math.max(1, ...tapes.map((values) => values.length)));
  if (inOneRow >= least) return Math.min(inOneRow, TAPE_PITCH.most);
  const perRow = Math.floor((room - GUTTER) / least);
  return Math.floor((room - GUTTER) / perRow);
}

function createTape(id, tape, hand) {
  const strip = createStrip(id, {
    label: `storage ${tape + 1}, in the order of memory`,
    gap: GAP,
    ...hand,
    of: (element) => ({ tape, element }),
  });
  const names = h("span");
  const origin = h("code");
  const title = h("p", { class: "sk-title" }, names, origin);
  const heads = createMarks("sk-heads");
  const body = h("div", { class: "sk-body" }, heads.node, strip.node);
  const node = h("div", { class: "sk-storage" }, title, body);

  function draw(view, pitch, room) {
    const { session } = view;
    const { tensors, tapes, opened } = session;
    const values = tapes[tape];
    const count = values.length;
    const holders = namesOf(session).filter((name) => tensors[name].tape === tape);
    const isOneRow = count * pitch <= room;
    const most = Math.max(1, Math.floor((room - GUTTER) / pitch));
    const rows = isOneRow ? 1 : Math.ceil(count / most);
    const perRow = Math.max(1, Math.ceil(count / rows));
    const height = VALUE + LANE * holders.length + 1;
    strip.layOut(count, perRow, pitch * perRow, { height });
    const firsts = isOneRow ? [] : range(Math.ceil(count / perRow)).map((row) => row * perRow);
    set(body, "style", isOneRow ? null : `padding-left:${GUTTER}px`);
    heads.draw(firsts.map((first) => [first, GUTTER - 8, strip.top(first) + 2, "is-line"]));
    set(strip.node, "data-empty", count ? null : "no elements");
    const number = tapes.length > 1 ? ` ${tape + 1}` : "";
    set(names, "text", `storage${number}: ${holders.join(", ")}`);
    set(origin, "text", opened[tape]);
    fit(strip.node, values.map(String), strip.boxWidth());
    drawBoxes(view, holders);
  }

  function drawBoxes(view, holders) {
    const { session, spot } = view;
    const lookOf = (element) => {
      const owners = view.owners[tape][element];
      const value = session.tapes[tape][element];
      const holeClass = owners.length ? "" : " is-hole";
      return {
        text: String(value),
        kind: `sk-lanes${holeClass}${marksAt(view, tape, element)}`,
        says: `element ${element}: ${value}, ${ownerNames(session, owners)}`,
        style: lanesOf(owners, holders, session.called),
      };
    };
    strip.draw(lookOf, spot?.tape === tape ? spot.element : null);
  }

  return { node, draw, box: strip.box };
}

/** The names and indices of those that reach an element. */
export const ownerNames = ({ tensors }, owners) =>
  owners.map(({ name, flat }) => nameAt(tensors[name].layout.shape, flat, name)).join(", ") ||
  "no tensor reaches it";

/**
 * The style with the lanes of the names that own a box, each at the place of its name, with a count
 * if it is more than one.
 */
function lanesOf(owners, holders, called) {
  const properties = [];
  for (const [k, name] of holders.entries()) {
    const count = owners.filter((owner) => owner.name === name).length;
    if (!count) continue;
    const hue = NAMES[called.indexOf(name)];
    properties.push(`--lane${k}:var(--lane-${hue})`, `--says${k}:"${laneText(name, count)}"`);
  }
  return properties.join(";");
}

function laneText(name, count) {
  if (count === 1) return name;
  return name.length > 2 ? `×${count}` : `${name}×${count}`;
}
