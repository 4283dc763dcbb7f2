// A strip: numbered boxes in rows, one tab stop, arrow keys from box to box. Each widget paints them its own way.

import { OWN_KEYS, fill, h, inRows, reachedBy, set } from "./dom.js";
import { range } from "./layout.js";

// `layOut(count, perRow, width, apart)` places the boxes and `draw(look, active)` patches them: look(k) returns
// {text, kind, says, style} for box k, where `kind` is its classes and `says` is read aloud. `apart` may widen the
// gaps between groups of `columns` or `rows`: [how many in a group, px], and give the boxes another `height`. `of(k)` is
// what box k stands for: `onHover` gets it, or null, and `onMove` when a hand proposes another active box, which the
// caller keeps.
export function createStrip(id, { label, of = (k) => k, onHover = () => {}, onMove, height = 34, gap = 4, narrowest = 18 }) {
  const node = h("div", {
    class: "sk-strip", role: "grid", tabindex: "0", ...OWN_KEYS, "aria-label": label,
    onkeydown(event) {
      const { count, perRow } = geometry;
      if (event.key === "Escape") return node.blur();
      const led = reachedBy(event.key, reached, perRow, count);
      if (led === undefined) return;
      event.preventDefault();
      const next = reached === null ? 0 : led;
      if (next >= 0 && next < count) onMove(of(next));
    },
    onpointerover: ({ target: { dataset: { box } } }) => onHover(box ? of(Number(box)) : null),
    onpointerleave: () => onHover(null),
    onclick: ({ target: { dataset: { box } } }) => box && onMove(of(Number(box))),
  });
  const together = [Infinity, 0];
  let geometry = { pitch: 40 };
  let reached = null;

  function layOut(count, perRow, width, apart = {}) {
    const pitch = Math.max(narrowest, Math.min(52, Math.floor(width / perRow)));
    geometry = { count, perRow, pitch, columns: together, rows: together, height, ...apart };
    const { columns, rows: groups, height: tall } = geometry;
    // The tracks of a CSS grid place the boxes: a style per box would double the time of a frame.
    const across = range(perRow).map((c) => `${pitch - gap + extra(columns, c)}px`);
    const down = range(Math.ceil(count / perRow)).map((r) => `${tall + extra(groups, r)}px`);
    set(node, "style", count ? `--height:${tall}px;gap:${gap}px;grid-template:${down.join(" ")}/${across.join(" ")}` : null);
  }

  function draw(look, active = null) {
    reached = active;
    const { count, perRow, columns } = geometry;
    const boxes = range(count).map((k) => {
      const { text, kind = "", says, style = "" } = look(k);
      const before = extra(columns, k % perRow);
      return ["div", {
        role: "gridcell", id: idOf(k), "data-box": String(k), text, class: `sk-box ${kind}`, "aria-label": says,
        "aria-selected": String(k === active), style: `${before ? `margin-left:${before}px;` : ""}${style}` || null,
      }];
    });
    fill(node, ...inRows(boxes, perRow));
    set(node, "aria-activedescendant", active in boxes ? idOf(active) : null);
  }

  const idOf = (k) => `${id}-b${Math.floor(k / geometry.perRow)}-${k % geometry.perRow}`;
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
    box: (k) => node.children[Math.floor(k / geometry.perRow)].children[k % geometry.perRow],
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
