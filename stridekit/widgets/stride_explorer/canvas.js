// A grid of boxes for pointer and keys. Its boxes are HTML, or, where HTML would be slow, drawn on one canvas, a plate:
// there a screen reader gets one live cell, the active one.

import { fill, fit, h, inRows, OWN_KEYS, set, setAll } from "../page/dom.js";

const NAMES = ["row0", "row1", "row2", "row3", "row4", "row5", "pale", "ink", "muted", "line"];
const LEAST_TEXT = 8; // px: smaller digits are not drawn

// A node of role grid with boxes of class `cell`, known by number.
// `draw` takes {numbers, places, columns, plate, idOf}: the numbers of the boxes, their places [x, y, w, h], how many make a row,
// and the size of the plate, if they are to be painted. And what they look like: look(number) is [tint, text, mark, attributes],
// where the tint is 0 to 5 or null for a hole, and the mark "spot", "sharer" or ""; says(number) is read aloud, and `active` has
// been reached by keys. It returns a function, if any, that sets what HTML boxes say: no eye waits for that.
export function createBoxes({ kind, cell, onHover, onSelect, onKey, signal }) {
  const grid = h("div", {
    class: kind,
    role: "grid",
    tabindex: "0",
    ...OWN_KEYS,
    onkeydown: (event) => (event.key === "Escape" ? grid.blur() : onKey(event)),
    onpointerover: (event) => boxes.plate || onHover(pointedAt(event)),
    onpointermove: (event) => boxes.plate && hover(pointedAt(event)),
    onpointerleave: () => hover(null),
    onclick: (event) => pointedAt(event) !== null && onSelect(pointedAt(event)),
  });
  const canvas = h("canvas", { class: "sk-plate", "aria-hidden": "true" });
  const probes = h(
    "span",
    { hidden: "" },
    ...NAMES.map((name) => h("i", { style: `color:var(--sk-${name})` })),
  );
  let [boxes, looks, textSize, colours, hovered, live] = [{}, [], 0, null, null, null];
  const nodes = () => [...grid.querySelectorAll(`.${cell}`)];

  const media = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) =>
    matchMedia(query),
  );
  const themed = new MutationObserver(repaint);
  for (const query of media) query.addEventListener("change", repaint, { signal });
  themed.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  signal.addEventListener("abort", () => themed.disconnect(), { once: true });

  function pointedAt({ target, clientX, clientY }) {
    if (!boxes.plate) return target.dataset.box ? Number(target.dataset.box) : null;
    const { left, top } = canvas.getBoundingClientRect();
    const isIn = (at, first, size) => at >= first && at < first + size + 1; // with the gap
    const k = boxes.places.findIndex(
      ([x, y, w, height]) => isIn(clientX - left, x, w) && isIn(clientY - top, y, height),
    );
    return boxes.numbers[k] ?? null;
  }

  function hover(box) {
    if (box !== null && box === hovered) return;
    hovered = box;
    onHover(box);
  }

  function draw(laid, look, says, active) {
    const { numbers, places, columns, plate, idOf } = (boxes = laid);
    const at = active === null ? -1 : numbers.indexOf(active);
    looks = numbers.map(look);
    setAll(grid, {
      "aria-rowcount": plate && String(plate.rows),
      "aria-colcount": plate && String(columns),
      "aria-activedescendant": at < 0 ? null : idOf(at, active),
    });
    if (plate) return drawPlate(at, at < 0 ? "" : says(active));
    fit(
      grid,
      looks.map(([, text]) => text),
      places[0]?.[2] ?? 0,
    );
    fill(
      grid,
      ...inRows(
        looks.map(([tint, text, mark, attributes], k) => [
          "div",
          {
            role: "gridcell",
            id: idOf(k, numbers[k]),
            "data-box": String(numbers[k]),
            text,
            "aria-selected": String(k === at),
            class: `${cell} ${tint === null ? "is-hole" : `sk-r${tint}`}${mark && ` is-${mark}`}`,
            style: `left:${places[k][0]}px;top:${places[k][1]}px;width:${places[k][2]}px`,
            ...attributes,
          },
        ]),
        columns,
      ),
    );
    return () => nodes().forEach((node, k) => set(node, "aria-label", says(boxes.numbers[k])));
  }

  /** The canvas, and a live cell: a new one for another active box, so that a screen reader notices. */
  function drawPlate(at, label) {
    const { numbers, places, columns, plate, idOf } = boxes;
    const dots = devicePixelRatio || 1; // in a px
    const [width, height] = [plate.width, plate.height].map((size) => Math.ceil(size * dots));
    setAll(canvas, { width, height, style: `width:${width / dots}px;height:${height / dots}px` });
    canvas.getContext("2d").setTransform(dots, 0, 0, dots, 0, 0);
    const id = at < 0 ? null : idOf(at, numbers[at]);
    if (live?.firstChild.id !== id)
      live =
        id && h("div", { role: "row" }, h("div", { role: "gridcell", class: "sk-active", id }));
    fill(grid, canvas, probes, ...(live ? [live] : []));
    paintAll();
    if (!live) return;
    const [x, y, w, tall] = places[at];
    set(live, "aria-rowindex", String(Math.floor(numbers[at] / columns) + 1));
    setAll(live.firstChild, {
      "aria-colindex": String((numbers[at] % columns) + 1),
      "aria-selected": "true",
      "aria-label": label,
      style: `transform:translate(${x}px,${y}px);width:${w}px;height:${tall}px`,
    });
  }

  function repaint() {
    colours = null;
    if (boxes.plate) paintAll();
  }

  function paintAll() {
    const { places } = boxes;
    const longest = looks.reduce((most, look) => Math.max(most, look[1].length), 1);
    const [, , w, height] = places[0] ?? [0, 0, 4, 1];
    const fits = Math.min(Math.floor((w - 4) / (0.6 * longest)), height - 1, 14);
    textSize = fits < LEAST_TEXT ? 0 : fits; // one size for all: the longest fits, or none is drawn
    if (!colours?.ink) colours = read();
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    looks.forEach((look, k) => paint(pen, places[k], look));
  }

  /** The theme's colours; a node outside the page has none. */
  function read() {
    const hues = Object.fromEntries(
      NAMES.map((name, k) => [name, getComputedStyle(probes.children[k]).color]),
    );
    const mono = getComputedStyle(grid).getPropertyValue("--mono") || "monospace";
    return { ...hues, forced: media[1].matches, font: mono };
  }

  function paint(pen, [x, y, w, height], [tint, text, mark]) {
    const { forced, ink, muted, line, pale } = colours;
    pen.fillStyle = forced ? "Canvas" : tint === null ? pale : colours[`row${tint}`];
    pen.fillRect(x, y, w, height);
    if (tint === null || forced)
      outline(pen, [x, y, w, height], 1, forced && tint !== null ? ink : line, tint === null);
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

  return { node: grid, draw, nodes, texts: () => textSize > 0 };
}
