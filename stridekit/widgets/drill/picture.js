// The picture that explains an answer: a grid for each tensor, whose boxes hold the numbers of their
// elements, and the storage as a tape. A box that is pointed at shows its partners on the other side.

import { fit, h, set, show } from "../page/dom.js";
import { nameAt, product, range, reach } from "../page/layout.js";
import { createElements } from "../page/panels.js";
import { flatsOf, planesAcross } from "../page/planes.js";

/** @import { Picture } from "./drawn.js" */

const MOST_GRIDS = 2;
const NARROWEST = 25; // px of a box with its gap
const BETWEEN_PLANES = 12; // px, side by side and below one another
const BOXES = { height: 24, gap: 3, narrowest: NARROWEST };

/**
 * A box that a hand points at: the number of its strip, -1 for the tape, and its own number there.
 * @typedef {{ strip: number, box: number }} Pointed
 */

/**
 * @param {string} id
 * @param {{ onHover: (spot: Pointed | null) => void, onMove: (spot: Pointed) => void }} hand
 */
export function createPicture(id, { onHover, onMove }) {
  /** @param {number} strip */
  const handOf = (strip) => ({
    onHover: (/** @type {number | null} */ box) => onHover(box === null ? null : { strip, box }),
    onMove: (/** @type {number} */ box) => onMove({ strip, box }),
  });
  const grids = range(MOST_GRIDS).map((k) => createGrid(`${id}-g${k}`, handOf(k)));
  const tape = createTape(`${id}-t`, handOf(-1));
  const caption = h("p", { class: "sk-caption" });
  const node = h(
    "div",
    { class: "sk-scene" },
    h("div", { class: "sk-grids" }, ...grids.map((grid) => grid.node)),
    tape.node,
    caption,
  );

  /** @type {(picture: Picture, width: number, pointed: Pointed | null) => void} */
  function draw(picture, width, pointed) {
    const { tones, spot } = picture;
    for (const [k, grid] of grids.entries()) grid.put(picture.grids[k], tones, width);
    tape.put(picture, width);
    const elementsOf = (/** @type {Pointed} */ { strip, box }) =>
      strip < 0 ? box : grids[strip].elementAt(box);
    const element = pointed ? elementsOf(pointed) : spot;
    for (const [k, grid] of grids.entries())
      grid.light(element, pointed?.strip === k ? pointed.box : null);
    tape.light(element, pointed?.strip === -1 ? pointed.box : null);
    set(caption, "prose", picture.caption);
  }

  return { node, draw };
}

/**
 * @typedef {{ onHover: (box: number | null) => void, onMove: (box: number) => void }} StripHand
 */

/** @type {(id: string, hand: StripHand) => any} */
function createGrid(id, hand) {
  const strip = createElements(id, { label: "", ...BOXES, ...hand, of: (k) => flats[k] });
  const title = h("p", { class: "sk-title" });
  const node = h("div", { class: "sk-grid" }, title, strip.node);
  /** @type {number[]} */
  let flats = []; // the flat index at each place
  /** @type {number[]} */
  let elements = []; // by flat index

  /** @type {(grid: Picture["grids"][0] | undefined, tones: Picture["tones"], width: number) => void} */
  function put(grid, tones, width) {
    show(node, grid);
    if (!grid) {
      strip.put([]);
      strip.layOut(0, 1, width);
      return;
    }
    const { name, layout } = grid;
    ({ elements } = reach(layout));
    const places = arrange(layout.shape, width);
    ({ flats } = places);
    const { perRow, columns, rows } = places;
    set(title, "prose", `elements of \`${name}\``);
    set(strip.node, "aria-label", `elements of ${name}, by index`);
    strip.layOut(flats.length, perRow, perRow * 34, {
      columns: [columns, BETWEEN_PLANES],
      rows: [rows, BETWEEN_PLANES],
    });
    strip.put(
      flats.map((flat) => ({
        element: flat,
        text: String(elements[flat]),
        says: `${nameAt(layout.shape, flat, name)}: element ${elements[flat]}`,
        kind: `sk-r${tones[elements[flat]]}`,
      })),
    );
    fit(strip.node, elements.map(String), strip.boxWidth());
  }

  /** @type {(element: number | null, flat: number | null) => void} */
  function light(element, flat) {
    strip.light({
      spot: flat === null ? undefined : String(flat),
      selected: flat === null ? undefined : String(flat),
      isLit: (other) => elements[other] === element,
    });
  }

  return { node, put, light, elementAt: (/** @type {number} */ flat) => elements[flat] };
}

/**
 * The flat index at each place, in lines of whole planes.
 * @type {(shape: number[], width: number) => { flats: number[], perRow: number, columns: number, rows: number }}
 */
export function arrange(shape, width) {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  const planes = product(shape.slice(0, -2));
  const across = planesAcross(planes, columns * NARROWEST, BETWEEN_PLANES, width);
  return { flats: flatsOf(shape, across), perRow: across * columns, columns, rows };
}

/** @type {(id: string, hand: StripHand) => any} */
function createTape(id, hand) {
  const strip = createElements(id, {
    label: "the storage, in the order of memory",
    ...BOXES,
    ...hand,
  });
  const title = h("p", { class: "sk-title" });
  const node = h("div", { class: "sk-tape" }, title, strip.node);

  /** @type {(picture: Picture, width: number) => void} */
  function put({ tones, perRow: perLine }, width) {
    const count = tones.length;
    const perRow = boxesInRow(count, perLine, width);
    const rowsOfLine = perLine ? perLine / perRow : 1;
    set(title, "text", perLine ? "its storage, a cache line in each row" : "its storage");
    strip.layOut(count, perRow, Math.min(width, perRow * 34), {
      rows: rowsOfLine > 1 ? [rowsOfLine, 8] : [Infinity, 0],
    });
    strip.put(
      tones.map((tone, element) => ({
        element,
        text: String(element),
        says: `element ${element}${tone === null ? ", which is not reached" : ""}`,
        kind: tone === null ? "is-hole" : `sk-r${tone}`,
      })),
    );
    fit(strip.node, range(count).map(String), strip.boxWidth());
  }

  /** @type {(element: number | null, box: number | null) => void} */
  function light(element, box) {
    strip.light({
      spot: element === null ? undefined : String(element),
      selected: box === null ? undefined : String(box),
      isLit: () => false,
    });
  }

  return { node, put, light };
}

/**
 * The boxes in a row of the storage: those of a cache line, or 16; halves of them where a row is
 * wider than the picture.
 * @param {number} count
 * @param {number | null | undefined} perLine of a cache line
 * @param {number} width
 */
export function boxesInRow(count, perLine, width) {
  let perRow = perLine ?? Math.min(16, Math.max(count, 1));
  if (perRow * NARROWEST > width) perRow = perLine ?? 16; // whose halves are whole numbers
  while (perRow * NARROWEST > width && perRow % 2 === 0) perRow /= 2;
  return perRow;
}
