// A grid of boxes for pointer and keys. Its boxes are HTML, or, where HTML would be slow, drawn on one canvas, a plate:
// there only boxes that differ are repainted, and a screen reader gets one live cell, the active one.

import { OWN_KEYS, h, set } from "../page/dom.js";

const NAMES = ["row0", "row1", "row2", "row3", "row4", "row5", "pale", "ink", "muted", "line"];
const LEAST_TEXT = 8; // px: smaller digits are not drawn
const ROOM = 256; // px: a canvas grows in steps, because each new size erases it
const THEME = ["(prefers-color-scheme: dark)", "(forced-colors: active)"];

const FAR = 1e5; // px: farther than any box
const placeOf = ([x, y]) => y * FAR + x;

/**
 * A node of role grid, whose boxes are known by number: HTML ones have it as `box`, those of a plate are found by
 * `boxAt(x, y)`. `layOut` sets the size of the plate and the places [x, y, w, h] of its boxes in rows and columns, null
 * for no plate; `draw` takes their looks: [tint, text, mark], where the tint is 0 to 5 or null for a hole, and the mark
 * "spot", "sharer" or "". `activate` names the box that the keys have reached.
 */
export function createPlate({ kind, boxAt, onHover, onSelect, onKey }) {
  const grid = h("div", {
    class: kind, role: "grid", tabindex: "0", ...OWN_KEYS,
    onkeydown: onKey,
    onpointerover: (event) => places || onHover(pointedAt(event)),
    onpointermove: (event) => places && hover(pointedAt(event)),
    onpointerleave: () => hover(null),
    onclick: (event) => pointedAt(event) !== null && onSelect(pointedAt(event)),
  });
  const canvas = h("canvas");
  const frame = h("div", { class: "sk-plate", "aria-hidden": "true" }, canvas);
  const probes = h("span", { hidden: "" }, ...NAMES.map((name) => h("i", { style: `color:var(--sk-${name})` })));
  const liveRows = [0, 1].map(() => h("div", { role: "row" }, h("div", { role: "gridcell", class: "sk-active" })));
  let places = null;
  let looks = [];
  let painted = new Map(); // place -> look
  let boxSize = "";
  let colours = null;
  let turn = 0;
  let textSize = 0;

  const media = THEME.map((query) => matchMedia(query));
  const themed = new MutationObserver(repaint);

  /** The number of the box under a pointer, or null. */
  function pointedAt({ target, clientX, clientY }) {
    if (!places) return target.box ?? null;
    const { left, top } = canvas.getBoundingClientRect();
    return boxAt(clientX - left, clientY - top);
  }

  let hovered = null;
  function hover(box) {
    if (box !== null && box === hovered) return;
    hovered = box;
    onHover(box);
  }

  function layOut(width, height, newPlaces, rows, columns) {
    set(grid, "aria-rowcount", newPlaces && String(rows));
    set(grid, "aria-colcount", newPlaces && String(columns));
    if (!newPlaces) return close();
    if (!places) open();
    places = newPlaces;
    set(frame, "style", `width:${width}px;height:${height}px;overflow:hidden`);
    grow(width, height, devicePixelRatio || 1);
    const sized = String(places[0]?.slice(2));
    if (sized !== boxSize) painted.clear();
    boxSize = sized;
  }

  let room = [0, 0, 1]; // width and height in px, and dots in each

  function grow(width, height, dots) {
    if (width <= room[0] && height <= room[1] && dots === room[2]) return;
    room = [...[width, height].map((size, k) => Math.max(Math.ceil(size / ROOM) * ROOM, room[k])), dots];
    canvas.width = room[0] * dots;
    canvas.height = room[1] * dots;
    set(canvas, "style", `width:${room[0]}px;height:${room[1]}px`);
    canvas.getContext("2d").setTransform(dots, 0, 0, dots, 0, 0);
    painted.clear();
  }

  function open() {
    colours = null;
    grid.append(frame, probes);
    for (const query of media) query.addEventListener("change", repaint);
    themed.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  }

  function close() {
    if (!places) return;
    places = null;
    for (const node of [frame, probes, ...liveRows]) node.remove();
    for (const query of media) query.removeEventListener("change", repaint);
    themed.disconnect();
  }

  /** The theme has changed: repaint every box in new colours. */
  function repaint() {
    colours = null;
    if (places) draw(looks);
  }

  function draw(newLooks) {
    looks = newLooks;
    const longest = looks.reduce((most, look) => Math.max(most, look[1].length), 1);
    const [, , w, height] = places[0] ?? [0, 0, 4, 1];
    const fits = Math.min(Math.floor((w - 4) / (0.6 * longest)), height - 1, 14);
    const size = fits < LEAST_TEXT ? 0 : fits; // one size for all: the longest fits, or none is drawn
    if (size !== textSize || !colours?.ink) painted.clear();
    textSize = size;
    if (!colours?.ink) colours = read();
    const pen = canvas.getContext("2d");
    if (!painted.size) pen.clearRect(0, 0, room[0], room[1]);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const before = painted;
    painted = new Map(looks.map((look, k) => [placeOf(places[k]), look]));
    // Wipe boxes that are gone first: another box may overlap their old place.
    for (const at of before.keys())
      if (!painted.has(at)) wipe(pen, [at % FAR, Math.floor(at / FAR), w, height]);
    looks.forEach((look, k) => {
      const old = before.get(placeOf(places[k]));
      if (old && old[0] === look[0] && (old[1] === look[1] || !textSize) && old[2] === look[2]) return;
      if (old) wipe(pen, places[k]);
      paint(pen, places[k], look);
    });
  }

  /** Clear a box; outlines stick out by half a pixel. */
  const wipe = (pen, [x, y, w, height]) => pen.clearRect(x - 0.5, y - 0.5, w + 1, height + 1);

  /** The theme's colours; a node outside the page has none. */
  function read() {
    const found = Object.fromEntries(NAMES.map((name, k) => [name, getComputedStyle(probes.children[k]).color]));
    const mono = getComputedStyle(grid).getPropertyValue("--mono") || "monospace";
    return { ...found, forced: media[1].matches, font: mono };
  }

  function paint(pen, [x, y, w, height], [tint, text, mark]) {
    const { forced, ink, muted, line, pale } = colours;
    pen.fillStyle = forced ? "Canvas" : tint === null ? pale : colours[`row${tint}`];
    pen.fillRect(x, y, w, height);
    if (tint === null || forced) outline(pen, [x, y, w, height], 1, forced && tint !== null ? ink : line, tint === null);
    if (textSize && text) {
      pen.font = `${mark === "spot" ? 700 : 400} ${textSize}px ${colours.font}`;
      pen.fillStyle = tint === null && !forced ? muted : ink;
      pen.fillText(text, x + w / 2, y + height / 2 + 1);
    }
    if (mark === "spot") outline(pen, [x, y, w, height], 3, forced ? "Highlight" : ink, false);
    if (mark === "sharer") outline(pen, [x, y, w, height], 2, ink, true);
  }

  /** A frame inside a box; dashed for holes and sharers. */
  function outline(pen, [x, y, w, height], thick, colour, dashed) {
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.setLineDash(dashed ? [3, 2] : []);
    pen.strokeRect(x + thick / 2, y + thick / 2, w - thick, height - thick);
  }

  /** The live cell: two take turns, so that a screen reader notices a change of the active box. */
  function activate(id, k, label, row, column) {
    set(grid, "aria-activedescendant", k === null ? null : `${id}${k}`);
    if (k === null) return;
    const [now, other] = [liveRows[turn], liveRows[1 - turn]];
    const same = now.isConnected && now.firstChild.id === `${id}${k}`;
    const shown = same ? now : other;
    if (!same) {
      turn = 1 - turn;
      now.remove();
      grid.append(shown);
    }
    const [x, y, w, height] = places[k];
    const cell = shown.firstChild;
    set(shown, "aria-rowindex", String(row + 1));
    set(cell, "id", `${id}${k}`);
    set(cell, "aria-colindex", String(column + 1));
    set(cell, "aria-selected", "true");
    set(cell, "aria-label", label);
    set(cell, "style", `transform:translate(${x}px,${y}px);width:${w}px;height:${height}px`);
  }

  return { node: grid, layOut, draw, activate, close, texts: () => textSize > 0 };
}
