// A strip: numbered boxes in rows, one tab stop, arrow keys from box to box. Each widget paints them its own way.

import { OWN_KEYS, h, pool, reachedBy, set } from "./dom.js";

// `layOut(count, perRow, width, apart)` places the boxes and `draw(look, active)` patches them: look(k) returns
// {text, kind, says, style} for box k, where `kind` is its classes and `says` is read aloud. `apart` may widen the
// gaps between groups of `columns` or `rows`: [how many in a group, px], and give the boxes another `height`. `of(k)` is
// what box k stands for: `onHover` gets it, or null, and `onMove` when a hand proposes another active box, which the
// caller keeps.
export function createStrip(id, { label, of = (k) => k, onHover = () => {}, onMove, height = 34, gap = 4, narrowest = 18 }) {
  const node = h("div", {
    class: "sk-strip", role: "grid", tabindex: "0", ...OWN_KEYS, "aria-label": label,
    onkeydown: keyed,
    onpointerover: ({ target: { box } }) => onHover(box === undefined ? null : of(box)),
    onpointerleave: () => onHover(null),
    onclick: ({ target: { box } }) => box !== undefined && onMove(of(box)),
  });
  // Each row keeps its own boxes: when rows grow shorter, the remaining boxes stay in place.
  const rows = pool(node, (r) => {
    const row = h("div", { role: "row", class: "sk-row" });
    const make = (c) => h("div", { role: "gridcell", class: "sk-box", id: `${id}-b${r}-${c}`, text: "" });
    return Object.assign(row, { take: pool(row, make) });
  });
  const together = [Infinity, 0];
  let boxes = [];
  let geometry = { pitch: 40 };
  let reached = null;

  function layOut(count, perRow, width, apart = {}) {
    const pitch = Math.max(narrowest, Math.min(52, Math.floor(width / perRow)));
    geometry = { count, perRow, pitch, columns: together, rows: together, height, ...apart };
    const { columns, rows: groups, height: tall } = geometry;
    const lines = rows(Math.ceil(count / perRow));
    boxes = lines.flatMap((row, r) => [...row.take(Math.min(perRow, count - r * perRow))]);
    for (const [k, box] of boxes.entries()) {
      const before = extra(columns, k % perRow);
      Object.assign(box, { box: k, place: before ? `margin-left:${before}px;` : "" });
    }
    // The tracks of a CSS grid place the boxes: a style per box would double the time of a frame.
    const across = Array.from({ length: perRow }, (_, c) => `${pitch - gap + extra(columns, c)}px`);
    const down = lines.map((_, r) => `${tall + extra(groups, r)}px`);
    set(node, "style", count ? `--height:${tall}px;gap:${gap}px;grid-template:${down.join(" ")}/${across.join(" ")}` : null);
  }

  function draw(look, active = null) {
    reached = active;
    boxes.forEach((box, k) => {
      const { text, kind = "", says, style = "" } = look(k);
      set(box, "text", text);
      set(box, "class", `sk-box ${kind}`);
      set(box, "aria-label", says);
      set(box, "aria-selected", String(k === active));
      set(box, "style", box.place + style || null);
    });
    set(node, "aria-activedescendant", boxes[active]?.id ?? null);
  }

  function keyed(event) {
    const { count, perRow } = geometry;
    if (event.key === "Escape") return node.blur();
    const led = reachedBy(event.key, reached, perRow, count);
    if (led === undefined) return;
    event.preventDefault();
    const next = reached === null ? 0 : led;
    if (next >= 0 && next < count) onMove(of(next));
  }

  /** The extra space before the n-th column or row, and its sum up to there. */
  const extra = ([many, px], n) => (n > 0 && n % many === 0 ? px : 0);
  const extras = ([many, px], n) => Math.floor(n / many) * px;

  const left = (k, { perRow, pitch, columns } = geometry) => (k % perRow) * pitch + extras(columns, k % perRow);
  function top(k) {
    const row = Math.floor(k / geometry.perRow);
    return row * (geometry.height + gap) + extras(geometry.rows, row);
  }

  return {
    node, layOut, draw, left, top,
    middle: (k) => [left(k) + (geometry.pitch - gap) / 2, top(k) + geometry.height / 2],
    boxWidth: () => geometry.pitch - gap,
    box: (k) => boxes[k],
  };
}

// A strip whose boxes stand for elements. `put` takes {element, text, says, kind} of each. `light` marks the `spot`, and all for
// which `isLit(element)`; keys go on from the `selected` one. These two are elements as texts.
export function createElements(id, options) {
  let boxes = [];
  const strip = createStrip(id, { of: (k) => boxes[k].element, ...options });
  return {
    ...strip,
    put: (elements) => (boxes = elements.map((each) => ({ ...each, key: String(each.element) }))),
    light: ({ spot, selected, isLit }) => strip.draw((k) => {
      const { element, text, says, kind, key } = boxes[k];
      return { text, says, kind: `${kind}${key === spot ? " is-here" : isLit(element) ? " is-lit" : ""}` };
    }, boxes.findIndex(({ key }) => key === selected)),
  };
}
