// Many boxes on one canvas, for grids and tapes that would be slow as HTML: only boxes that differ are
// painted anew. What a screen reader needs of them is one live cell, the active one.

import { h, set } from "./dom.js";

const NAMES = ["row0", "row1", "row2", "row3", "row4", "row5", "pale", "ink", "muted", "line"];
const LEAST_TEXT = 8; // px: smaller digits are not drawn
const THEME = ["(prefers-color-scheme: dark)", "(forced-colors: active)"];

/**
 * A plate in a node of role grid. `layOut` gives it its size and the places [x, y, w, h] of its boxes, or null
 * for none; `draw` what they look like: [tint, text, mark], the tint 0 to 5 or null for a hole, the mark
 * "spot", "sharer" or "". `activate` says which box the keys have reached.
 */
export function createPlate(grid) {
  const canvas = h("canvas", { class: "sk-plate", "aria-hidden": "true" });
  const probes = h("span", { hidden: "" }, ...NAMES.map((name) => h("i", { style: `color:var(--sk-${name})` })));
  const rows = [0, 1].map(() => h("div", { role: "row" }, h("div", { role: "gridcell", class: "sk-active" })));
  let places = null;
  let size = [0, 0];
  let looks = [];
  let seen = [];
  let colours = null;
  let turn = 0;
  let textSize = 0;

  const media = THEME.map((query) => matchMedia(query));
  const themed = new MutationObserver(repaint);

  function layOut(width, height, newPlaces) {
    if (!newPlaces) return close();
    if (!places) open();
    [places, size, seen] = [newPlaces, [width, height], []];
    const dots = devicePixelRatio || 1;
    canvas.width = Math.ceil(width * dots);
    canvas.height = Math.ceil(height * dots);
    set(canvas, "style", `width:${width}px;height:${height}px`);
    canvas.getContext("2d").setTransform(dots, 0, 0, dots, 0, 0);
  }

  function open() {
    grid.append(canvas, probes);
    for (const query of media) query.addEventListener("change", repaint);
    themed.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  }

  function close() {
    if (!places) return;
    places = null;
    for (const node of [canvas, probes, ...rows]) node.remove();
    for (const query of media) query.removeEventListener("change", repaint);
    themed.disconnect();
  }

  /** The theme has changed: other colours, every box. */
  function repaint() {
    seen = [];
    if (places) draw(looks);
  }

  function draw(newLooks) {
    looks = newLooks;
    const longest = looks.reduce((most, look) => Math.max(most, look[1].length), 1);
    const fits = looks.length ? Math.floor((places[0][2] - 4) / (0.6 * longest)) : 0;
    if (fits !== textSize) seen = []; // all texts are as small as the longest needs, or none is drawn
    textSize = fits;
    const pen = canvas.getContext("2d");
    if (!seen.length) {
      colours = read();
      pen.clearRect(0, 0, ...size);
    }
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    looks.forEach((look, k) => {
      const old = seen[k];
      if (old && old[0] === look[0] && old[1] === look[1] && old[2] === look[2]) return;
      seen[k] = look;
      // A fill covers what was there; only what is drawn at the edges can stick out.
      if (old) pen.clearRect(places[k][0] - 0.5, places[k][1] - 0.5, places[k][2] + 1, places[k][3] + 1);
      paint(pen, places[k], look);
    });
  }

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
    if (textSize >= LEAST_TEXT) {
      pen.font = `${mark === "spot" ? 700 : 400} ${Math.min(14, textSize)}px ${colours.font}`;
      pen.fillStyle = tint === null && !forced ? muted : ink;
      pen.fillText(text, x + w / 2, y + height / 2 + 1);
    }
    if (mark === "spot") outline(pen, [x, y, w, height], 3, forced ? "Highlight" : ink, false);
    if (mark === "sharer") outline(pen, [x, y, w, height], 2, ink, true);
  }

  /** A frame inside of a box; dashed for holes and for those that share. */
  function outline(pen, [x, y, w, height], thick, colour, dashed) {
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.setLineDash(dashed ? [3, 2] : []);
    pen.strokeRect(x + thick / 2, y + thick / 2, w - thick, height - thick);
  }

  /** The live cell: two take turns, so that a screen reader notices that another one is active. */
  function activate(id, k, label, row, column) {
    if (k === null) return null;
    const [now, other] = [rows[turn], rows[1 - turn]];
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
    return `${id}${k}`;
  }

  /** Where a pointer is on the plate. */
  const point = (event) => {
    const bounds = canvas.getBoundingClientRect();
    return [event.clientX - bounds.left, event.clientY - bounds.top];
  };

  return { layOut, draw, activate, point, close, open: () => places !== null, texts: () => textSize >= LEAST_TEXT };
}
