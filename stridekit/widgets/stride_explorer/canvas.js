// A grid of boxes for pointer and keys. Its boxes are HTML, or, where HTML would be slow, drawn on one canvas, a plate:
// there a screen reader gets one live cell, the active one.

import { OWN_KEYS, fill, fit, h, inRows, set, setAll } from "../page/dom.js";

const NAMES = ["row0", "row1", "row2", "row3", "row4", "row5", "pale", "ink", "muted", "line"];
const LEAST_TEXT = 8; // px: smaller digits are not drawn

const THEME = ["(prefers-color-scheme: dark)", "(forced-colors: active)"];

// A node of role grid with boxes of class `cell`, known by number; a plate finds them by `boxAt(x, y)`.
// `layOut` takes the numbers of the boxes, their places [x, y, w, h], how many make a row, and the size of the plate if they
// are to be painted. `draw` takes what they look like: look(number) is [tint, text, mark, attributes], where the tint is 0 to 5
// or null for a hole, and the mark "spot", "sharer" or ""; says(number) is read aloud, and `active` has been reached by keys.
// It returns a function, if any, that sets what HTML boxes say: no eye waits for that.
export function createBoxes(idOf, { kind, cell, boxAt, onHover, onSelect, onKey }) {
  const grid = h("div", {
    class: kind, role: "grid", tabindex: "0", ...OWN_KEYS,
    onkeydown: (event) => (event.key === "Escape" ? grid.blur() : onKey(event)),
    onpointerover: (event) => isPlate || onHover(pointedAt(event)),
    onpointermove: (event) => isPlate && hover(pointedAt(event)),
    onpointerleave: () => hover(null),
    onclick: (event) => pointedAt(event) !== null && onSelect(pointedAt(event)),
  });
  const canvas = h("canvas", { class: "sk-plate", "aria-hidden": "true" });
  const probes = h("span", { hidden: "" }, ...NAMES.map((name) => h("i", { style: `color:var(--sk-${name})` })));
  const liveRows = [0, 1].map(() => h("div", { role: "row" }, h("div", { role: "gridcell", class: "sk-active" })));
  let [numbers, places, columns] = [[], [], 1];
  let isPlate = false;
  let painted = []; // the looks of the boxes on the plate
  let [textSize, colours, turn] = [0, null, 0];
  const nodes = () => [...grid.querySelectorAll(`.${cell}`)];

  const media = THEME.map((query) => matchMedia(query));
  const themed = new MutationObserver(repaint);

  function pointedAt({ target, clientX, clientY }) {
    if (!isPlate) return target.dataset.box ? Number(target.dataset.box) : null;
    const { left, top } = canvas.getBoundingClientRect();
    return boxAt(clientX - left, clientY - top);
  }

  let hovered = null;
  function hover(box) {
    if (box !== null && box === hovered) return;
    hovered = box;
    onHover(box);
  }

  function layOut(newNumbers, newPlaces, perRow, plate = null) {
    [numbers, places, columns, painted] = [newNumbers, newPlaces, perRow, []];
    setAll(grid, { "aria-rowcount": plate && String(plate.rows), "aria-colcount": plate && String(columns) });
    if (!plate) return close();
    if (!isPlate) open();
    const dots = devicePixelRatio || 1; // in a px
    const [width, height] = [plate.width, plate.height].map((size) => Math.ceil(size * dots));
    setAll(canvas, { width, height, style: `width:${width / dots}px;height:${height / dots}px` });
    canvas.getContext("2d").setTransform(dots, 0, 0, dots, 0, 0);
  }

  function draw(look, says, active) {
    const at = active === null ? -1 : numbers.indexOf(active);
    const now = numbers.map(look);
    if (isPlate) {
      paintAll(now);
      return activate(at, active, at < 0 ? "" : says(active));
    }
    fit(grid, now.map(([, text]) => text), places[0]?.[2] ?? 0);
    fill(grid, ...inRows(now.map(([tint, text, mark, attributes], k) => ["div", {
      role: "gridcell", id: idOf(k, numbers[k]), "data-box": String(numbers[k]), text, "aria-selected": String(k === at),
      class: `${cell} ${tint === null ? "is-hole" : `sk-r${tint}`}${mark && ` is-${mark}`}`,
      style: `left:${places[k][0]}px;top:${places[k][1]}px;width:${places[k][2]}px`, ...attributes,
    }]), columns));
    set(grid, "aria-activedescendant", at < 0 ? null : idOf(at, active));
    return () => nodes().forEach((node, k) => set(node, "aria-label", says(numbers[k])));
  }

  function open() {
    [isPlate, colours] = [true, null];
    fill(grid, canvas, probes);
    for (const query of media) query.addEventListener("change", repaint);
    themed.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  }

  function close() {
    if (!isPlate) return;
    isPlate = false;
    for (const query of media) query.removeEventListener("change", repaint);
    themed.disconnect();
  }

  function repaint() {
    colours = null;
    if (isPlate) paintAll(painted);
  }

  function paintAll(looks) {
    const longest = looks.reduce((most, look) => Math.max(most, look[1].length), 1);
    const [, , w, height] = places[0] ?? [0, 0, 4, 1];
    const fits = Math.min(Math.floor((w - 4) / (0.6 * longest)), height - 1, 14);
    const size = fits < LEAST_TEXT ? 0 : fits; // one size for all: the longest fits, or none is drawn
    textSize = size;
    if (!colours?.ink) colours = read();
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    looks.forEach((look, k) => paint(pen, places[k], look));
    painted = looks;
  }

  /** The theme's colours; a node outside the page has none. */
  function read() {
    const hues = Object.fromEntries(NAMES.map((name, k) => [name, getComputedStyle(probes.children[k]).color]));
    const mono = getComputedStyle(grid).getPropertyValue("--mono") || "monospace";
    return { ...hues, forced: media[1].matches, font: mono };
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
  function activate(k, number, label) {
    const id = k < 0 ? null : idOf(k, number);
    set(grid, "aria-activedescendant", id);
    if (k < 0) return;
    const same = liveRows[turn].isConnected && liveRows[turn].firstChild.id === id;
    if (!same) {
      liveRows[turn].remove();
      turn = 1 - turn;
      grid.append(liveRows[turn]);
    }
    const [x, y, w, height] = places[k];
    set(liveRows[turn], "aria-rowindex", String(Math.floor(number / columns) + 1));
    setAll(liveRows[turn].firstChild, {
      id, "aria-colindex": String((number % columns) + 1), "aria-selected": "true", "aria-label": label,
      style: `transform:translate(${x}px,${y}px);width:${w}px;height:${height}px`,
    });
  }

  return { node: grid, layOut, draw, close, nodes, texts: () => textSize > 0 };
}
