// A grid of boxes for pointer and keys. Its boxes are HTML, or, where HTML would be slow, drawn on
// one canvas, a plate: there a screen reader gets one live cell, the active one.

import { fill, fit, h, inRows, OWN_KEYS, scaleOf, set, setAll } from "../page/dom.js";

/**
 * Where a box is.
 * @typedef {[x: number, y: number, width: number, height: number]} Place
 */

/**
 * The boxes of a frame: their numbers, how many make a row, and the place and the id of the k-th
 * box. The boxes of a row begin below one another only where the row goes on in a further line.
 * @typedef {object} Boxes
 * @property {number[]} numbers
 * @property {number} columns
 * @property {(k: number) => Place} placeOf
 * @property {(k: number, number: number) => string} idOf
 * @property {Plate | null} plate for boxes that are to be painted
 */

/**
 * The size of a plate, its number of rows, the length of the longest text, and the part of the plate
 * that can be seen.
 * @typedef {object} Plate
 * @property {number} width
 * @property {number} height
 * @property {number} rows
 * @property {number} longest
 * @property {Seen} seen
 */

/** @import { Seen } from "./pane.js" */

/**
 * How a box looks: its tint is 0 to 5, null for a hole, or "outside" for an element that the window
 * does not show. A text that is NaN or infinite is odd.
 * @typedef {object} Look
 * @property {number | "outside" | null} tint
 * @property {boolean} [isOdd]
 * @property {string} text
 * @property {"spot" | "sharer" | ""} mark
 * @property {Record<string, string | null>} [attributes]
 */

/**
 * The colours of the host's theme by name, and its font for numbers; `isForced` is true if the
 * system forces its own colours.
 * @typedef {{hues: Record<string, string>, isForced: boolean, font: string}} Theme
 */

/**
 * The reactions to a pointer and to keys. `onHover` gets the number of a box or null, `onSelect` a
 * number.
 * @typedef {object} Hand
 * @property {(box: number | null) => void} onHover
 * @property {(box: number) => void} onSelect
 * @property {(event: KeyboardEvent) => void} onKey
 * @property {AbortSignal} signal
 */

const TINTS = ["row0", "row1", "row2", "row3", "row4", "row5"];
const COLOURS = [...TINTS, "pale", "ink", "muted", "line", "bad", "paper"];
const GAP = 1; // px between boxes on a plate
const LEAST_TEXT = 8; // px: smaller digits are not drawn
const BEYOND = 64; // px of a plate that are painted above and below what can be seen

/**
 * A node of role grid, of class `kind`, with boxes of class `cell`, known by number.
 * @param {Hand & {kind: string, cell: string}} options
 */
export function createBoxes({ kind, cell, onHover, onSelect, onKey, signal }) {
  const grid = h("div", {
    class: kind,
    role: "grid",
    tabindex: "0",
    ...OWN_KEYS,
    onkeydown(event) {
      if (event.key === "Escape") grid.blur();
      else onKey(event);
    },
    onpointerover(event) {
      if (!boxes.plate) onHover(pointedAt(event));
    },
    onpointermove(event) {
      if (boxes.plate) hover(pointedAt(event));
    },
    onpointerleave: () => hover(null),
    onclick(event) {
      const box = pointedAt(event);
      if (box !== null) onSelect(box);
    },
  });
  const canvas = h("canvas", { class: "sk-plate", "aria-hidden": "true" });
  const probes = h(
    "span",
    { hidden: "" },
    ...COLOURS.map((name) => h("i", { style: `color:var(--sk-${name})` })),
  );
  /** @type {Boxes} */
  let boxes = { numbers: [], columns: 0, placeOf: () => [0, 0, 0, 0], idOf: String, plate: null };
  /** @type {(number: number) => Look} */
  let lookOf;
  const painted = { top: 0, height: 0 }; // the part of the plate that the canvas has
  let textSize = 0;
  /** @type {Theme | null} */
  let theme = null;
  /** @type {number | null} */
  let hovered = null;
  /** @type {ReturnType<typeof createLive> | null} */
  let live = null; // the active cell of a plate, in its row
  const nodes = () => [...grid.querySelectorAll(`.${cell}`)];

  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const forcedColours = matchMedia("(forced-colors: active)");
  for (const query of [darkScheme, forcedColours])
    query.addEventListener("change", repaint, { signal });
  const themed = new MutationObserver(repaint);
  // JupyterLab names its theme in the first two, marimo in the last.
  const attributeFilter = ["data-jp-theme-light", "data-jp-theme-name", "class"];
  themed.observe(document.body, { attributeFilter });
  signal.addEventListener("abort", () => themed.disconnect(), { once: true });

  function pointedAt({ target, clientX, clientY }) {
    if (!boxes.plate) return target.dataset.box ? Number(target.dataset.box) : null;
    const bounds = canvas.getBoundingClientRect();
    const pointerX = (clientX - bounds.left) / scaleOf(canvas);
    const pointerY = painted.top + (clientY - bounds.top) / scaleOf(canvas);
    const contains = (k) => {
      const [x, y, width, height] = boxes.placeOf(k);
      // The gap behind a box belongs to it.
      return (
        pointerX >= x && pointerX < x + width + 1 && pointerY >= y && pointerY < y + height + 1
      );
    };
    const k = paintedBoxes().find(contains);
    return k === undefined ? null : boxes.numbers[k];
  }

  function hover(box) {
    if (box !== null && box === hovered) return;
    hovered = box;
    onHover(box);
  }

  /**
   * Draw boxes, of which the `active` one has been reached by keys; `describe(number)` is read
   * aloud. Returns a function, if any, that sets what HTML boxes say: no eye waits for that.
   * @param {Boxes} nextBoxes
   * @param {(number: number) => Look} nextLookOf
   * @param {(number: number) => string} describe
   * @param {number | null} active
   */
  function draw(nextBoxes, nextLookOf, describe, active) {
    boxes = nextBoxes;
    lookOf = nextLookOf;
    const { numbers, columns, plate, idOf } = boxes;
    const activePlace = active === null ? -1 : numbers.indexOf(active);
    const isShown = active !== null && activePlace >= 0;
    setAll(grid, {
      "aria-rowcount": plate && String(plate.rows),
      "aria-colcount": plate && String(columns),
      "aria-activedescendant": isShown ? idOf(activePlace, active) : null,
    });
    if (plate) {
      drawPlate(plate, activePlace, isShown ? describe(active) : "");
      return undefined;
    }
    drawHtml(activePlace);
    return () => {
      for (const [k, node] of nodes().entries())
        set(node, "aria-label", describe(boxes.numbers[k]));
    };
  }

  function drawHtml(activePlace) {
    const { numbers, columns, idOf, placeOf } = boxes;
    const looks = numbers.map(lookOf);
    const [, , width] = numbers.length ? placeOf(0) : [0, 0, 0];
    fit(
      grid,
      looks.map(({ text }) => text),
      width,
    );
    const cells = looks.map(({ tint, text, mark, isOdd, attributes }, k) => [
      "div",
      {
        role: "gridcell",
        id: idOf(k, numbers[k]),
        "data-box": String(numbers[k]),
        text,
        "aria-selected": String(k === activePlace),
        class: `${cell} ${tintClass(tint)}${mark && ` is-${mark}`}${isOdd ? " is-odd" : ""}`,
        ...attributes,
      },
    ]);
    const rowStyle = (row) => styleOf(row * columns, Math.min((row + 1) * columns, numbers.length));
    fill(grid, ...inRows(cells, columns, rowStyle));
  }

  /**
   * The style of a row with the boxes from `first` to `end`: where it begins, and its lines and
   * columns. A box has no style of its own, so a new place of a row changes one node.
   * @type {(first: number, end: number) => string}
   */
  function styleOf(first, end) {
    const { placeOf } = boxes;
    const [x, y, width, height] = placeOf(first);
    let perLine = 1;
    while (first + perLine < end && placeOf(first + perLine)[1] === y) perLine += 1;
    const toRight = perLine > 1 ? placeOf(first + 1)[0] - x - width : 0;
    const below = first + perLine < end ? placeOf(first + perLine)[1] - y - height : 0;
    const lines = `auto-flow ${height}px/repeat(${perLine},${width}px)`;
    return `left:${x}px;top:${y}px;grid:${lines};gap:${below}px ${toRight}px`;
  }

  /**
   * Draw the canvas, and a live cell: a new one for another active box, so that a screen reader
   * notices.
   * @type {(plate: Plate, activePlace: number, label: string) => void}
   */
  function drawPlate(plate, activePlace, label) {
    const { numbers, columns, idOf, placeOf } = boxes;
    const number = numbers[activePlace];
    const id = activePlace < 0 ? null : idOf(activePlace, number);
    if (live?.cell.id !== id) live = id === null ? null : createLive(id);
    fill(grid, canvas, probes, ...(live ? [live.row] : []));
    takePart(plate);
    paint(plate);
    if (!live) return;
    const [x, y, cellWidth, cellHeight] = placeOf(activePlace);
    set(live.row, "aria-rowindex", String(Math.floor(number / columns) + 1));
    setAll(live.cell, {
      "aria-colindex": String((number % columns) + 1),
      "aria-selected": "true",
      "aria-label": label,
      style: `transform:translate(${x}px,${y}px);width:${cellWidth}px;height:${cellHeight}px`,
    });
  }

  function createLive(id) {
    const liveCell = h("div", { role: "gridcell", class: "sk-active", id });
    return { row: h("div", { role: "row" }, liveCell), cell: liveCell };
  }

  function repaint() {
    theme = null;
    if (boxes.plate) paint(boxes.plate);
  }

  /**
   * Show another part of the plate, which was scrolled or has another height.
   * @param {Seen} seen
   */
  function see(seen) {
    const { plate } = boxes;
    if (!plate) return;
    plate.seen = seen;
    const isAbove = Math.max(seen.top, 0) < painted.top;
    const end = Math.min(seen.top + seen.height, plate.height);
    if (!isAbove && end <= painted.top + painted.height) return;
    takePart(plate);
    paint(plate);
  }

  /**
   * Take the part of the plate that can be seen, and a little more: the canvas has only this part,
   * because a browser copies a canvas with each frame.
   * @param {Plate} plate
   */
  function takePart({ height, seen }) {
    const least = Math.max(seen.top - BEYOND, 0);
    painted.height = Math.min(seen.height + 2 * BEYOND, height);
    painted.top = Math.min(least, height - painted.height);
  }

  /** @param {Plate} plate */
  function paint({ width, longest }) {
    const dotsPerPx = devicePixelRatio || 1;
    const dots = [width, painted.height].map((px) => Math.ceil(px * dotsPerPx));
    const [across, down] = dots.map((count) => count / dotsPerPx);
    const style = `top:${painted.top}px;width:${across}px;height:${down}px`;
    setAll(canvas, { width: dots[0], height: dots[1], style });
    const [, , boxWidth, boxHeight] = boxes.numbers.length ? boxes.placeOf(0) : [0, 0, 4, 1];
    const fitting = Math.min(Math.floor((boxWidth - 4) / (0.6 * longest)), boxHeight - 1, 14);
    // One size for all: the longest fits, or none is drawn.
    textSize = fitting < LEAST_TEXT ? 0 : fitting;
    if (!theme?.hues.ink) theme = readTheme();
    const pen = penOf(canvas);
    pen.setTransform(dotsPerPx, 0, 0, dotsPerPx, 0, -painted.top * dotsPerPx);
    pen.clearRect(0, painted.top, width, painted.height);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const shown = paintedBoxes().map((k) => ({
      place: boxes.placeOf(k),
      look: lookOf(boxes.numbers[k]),
    }));
    paintGrounds(pen, shown, theme);
    for (const { place, look } of shown) paintBox(pen, place, look, theme);
  }

  /** The boxes of all rows that reach into the painted part. */
  function paintedBoxes() {
    const { numbers, columns, placeOf } = boxes;
    /** @type {number[]} */
    const shown = [];
    for (let first = 0; first < numbers.length; first += columns) {
      const end = Math.min(first + columns, numbers.length);
      const [, top] = placeOf(first);
      const [, lastTop, , height] = placeOf(end - 1);
      const isBelow = top >= painted.top + painted.height;
      if (isBelow || lastTop + height <= painted.top) continue;
      for (let k = first; k < end; k++) shown.push(k);
    }
    return shown;
  }

  /**
   * Paint the grounds of boxes: one rectangle for neighbours of one colour, and then the gaps
   * between columns. Thousands of rectangles would take most of a frame.
   */
  function paintGrounds(pen, shown, theme) {
    /** @type {Set<number>} */
    const gaps = new Set(); // where they begin
    let run = { x: 0, y: 0, width: 0, height: 0, ground: "" };

    function paintRun() {
      if (pen.fillStyle !== run.ground) pen.fillStyle = run.ground;
      pen.fillRect(run.x, run.y, run.width, run.height);
    }

    for (const { place, look } of shown) {
      const [x, y, width, height] = place;
      const ground = groundOf(look, theme);
      const end = run.x + run.width;
      const isNext = y === run.y && x === end + GAP;
      if (isNext) gaps.add(end);
      if (isNext && ground === run.ground) {
        run.width += GAP + width;
      } else {
        paintRun();
        run = { x, y, width, height, ground };
      }
    }
    paintRun();
    for (const x of gaps) pen.clearRect(x, painted.top, GAP, painted.height);
  }

  /** @type {(look: Look, theme: Theme) => string} */
  function groundOf({ tint, isOdd }, { hues, isForced }) {
    if (isForced) return "Canvas";
    if (isOdd) return hues.bad;
    return typeof tint === "number" ? hues[`row${tint}`] : hues.pale;
  }

  /**
   * Read the theme; a node outside the page has no colours.
   * @returns {Theme}
   */
  function readTheme() {
    const hues = Object.fromEntries(
      COLOURS.map((name, k) => [name, getComputedStyle(probes.children[k]).color]),
    );
    const font = getComputedStyle(grid).getPropertyValue("--mono") || "monospace";
    return { hues, isForced: forcedColours.matches, font };
  }

  /** Paint what is on the ground of a box: a dashed frame for a hole, its text, and its mark. */
  function paintBox(pen, place, { tint, text, mark, isOdd = false }, { hues, isForced, font }) {
    const [x, y, width, height] = place;
    const isTinted = typeof tint === "number";
    if (!isTinted) outline(pen, place, 1, hues.line, tint === null);
    else if (isForced) outline(pen, place, isOdd ? 2 : 1, hues.ink, false);
    if (textSize && text) {
      pen.font = `${mark === "spot" || isOdd ? 700 : 400} ${textSize}px ${font}`;
      pen.fillStyle = inkOn(tint, isOdd && !isForced, hues);
      pen.fillText(text, x + width / 2, y + height / 2 + 1);
    }
    if (mark === "spot") outline(pen, place, 3, isForced ? "Highlight" : hues.ink, false);
    if (mark === "sharer") outline(pen, place, 2, hues.ink, true);
  }

  /** The colour of a text. */
  function inkOn(tint, isOdd, hues) {
    if (isOdd) return hues.paper;
    return tint === null && !forcedColours.matches ? hues.muted : hues.ink;
  }

  /** Draw a frame inside a box; dashed for holes and sharers. */
  function outline(pen, [x, y, width, height], thickness, colour, isDashed) {
    pen.strokeStyle = colour;
    pen.lineWidth = thickness;
    pen.setLineDash(isDashed ? [3, 2] : []);
    const inset = thickness / 2;
    pen.strokeRect(x + inset, y + inset, width - thickness, height - thickness);
  }

  return { node: grid, draw, see, nodes, hasTexts: () => textSize > 0 };
}

/** @param {Look["tint"]} tint */
function tintClass(tint) {
  if (tint === null) return "is-hole";
  return tint === "outside" ? "is-outside" : `sk-r${tint}`;
}

/** A canvas gives the same pen each time. */
const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
