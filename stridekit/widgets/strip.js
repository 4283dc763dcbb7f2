// A strip: numbered boxes in rows, one tab stop, arrows from box to box. Widgets paint them as they like.

import { OWN_KEYS, deal, h, pool, set } from "./dom.js";

/**
 * `layOut(count, perRow, width)` places the boxes and `draw(look, active)` patches them: look(k) gives
 * {text, kind, says, style} of box k, `kind` being classes and `says` what is read aloud.
 * The box that the keys have reached is the caller's: `onMove(k)` proposes another.
 */
export function createStrip(id, { label, onHover = () => {}, onMove, height = 34, gap = 4 }) {
  const node = h("div", {
    class: "sk-strip", role: "grid", tabindex: "0", ...OWN_KEYS, "aria-label": label,
    onkeydown: keyed,
    onpointerover: (event) => onHover(event.target.box ?? null),
    onpointerleave: () => onHover(null),
    onclick: (event) => event.target.box !== undefined && onMove(event.target.box),
  });
  const rows = pool(node, () => h("div", { role: "row", class: "sk-row" }));
  const take = pool(document.createDocumentFragment(), (k) => {
    const box = h("div", { role: "gridcell", class: "sk-box", id: `${id}-b${k}`, text: "" });
    return Object.assign(box, { box: k });
  });
  let boxes = [];
  let geometry = { count: 0, perRow: 1, pitch: 40, width: 0 };
  let reached = null;

  function layOut(count, perRow, width) {
    const pitch = Math.max(18, Math.min(52, Math.floor(width / perRow)));
    geometry = { count, perRow, pitch, width: perRow * pitch - gap };
    const lines = rows(Math.ceil(count / perRow));
    boxes = take(count);
    deal(boxes, lines, perRow);
    boxes.forEach((box, k) => {
      const size = `width:${pitch - gap}px;height:${height}px;line-height:${height}px`;
      box.place = `transform:translate(${left(k)}px,${top(k)}px);${size}`;
    });
    set(node, "style", `width:${geometry.width}px;height:${bottom()}px`);
  }

  function draw(look, active = null) {
    reached = active;
    boxes.forEach((box, k) => {
      const { text, kind = "", says, style = "" } = look(k);
      set(box, "text", text);
      set(box, "class", `sk-box ${kind}`);
      set(box, "aria-label", says);
      set(box, "aria-selected", String(k === active));
      set(box, "style", `${box.place};${style}`);
    });
    set(node, "aria-activedescendant", active === null ? null : `${id}-b${active}`);
  }

  function keyed(event) {
    const { count, perRow } = geometry;
    const now = reached ?? -1;
    const moves = {
      ArrowLeft: now - 1, ArrowRight: now + 1, ArrowUp: now - perRow, ArrowDown: now + perRow,
      Home: 0, End: count - 1,
    };
    if (event.key === "Escape") return node.blur();
    if (!(event.key in moves)) return;
    event.preventDefault();
    const next = reached === null ? 0 : moves[event.key];
    if (next >= 0 && next < count) onMove(next);
  }

  const left = (k) => (k % geometry.perRow) * geometry.pitch;
  const top = (k) => Math.floor(k / geometry.perRow) * (height + gap);
  const bottom = () => Math.ceil(geometry.count / geometry.perRow) * (height + gap) - gap;

  return {
    node, layOut, draw, bottom,
    width: () => geometry.width,
    /** The middle of a box, from the strip's corner: for what is drawn between boxes. */
    middle: (k) => [left(k) + (geometry.pitch - gap) / 2, top(k) + height / 2],
    left, top,
    boxWidth: () => geometry.pitch - gap,
    height,
  };
}
