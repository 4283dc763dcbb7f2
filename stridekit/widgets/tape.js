// The storage as a tape: rows of slots, with steps, offset and cache lines drawn as what they are.

import { CACHE_LINE } from "./core.js";
import { OWN_KEYS, h, moveTo, pool, s, set } from "./dom.js";

const GUTTER = 64; // byte addresses
const SLOT = 36;
const MAX_ROWS = 24;

/** Rows of the tape: those that are reached, their neighbours, and gaps that say what they leave out. */
export function tapeRows(storageSize, perRow, owners) {
  const total = Math.ceil(storageSize / perRow);
  const wanted = new Set();
  if (total <= 8) for (let row = 0; row < total; row++) wanted.add(row);
  for (const element of owners.keys()) wanted.add(Math.floor(element / perRow));
  const rows = [];
  let next = 0;
  const skip = (to) => {
    if (to - next <= 1) for (; next < to; next++) rows.push({ row: next });
    else rows.push({ gap: to - next, elements: Math.min(to * perRow, storageSize) - next * perRow });
  };
  for (const row of [...wanted].sort((a, b) => a - b)) {
    if (rows.length >= MAX_ROWS) break;
    skip(row);
    rows.push({ row });
    next = row + 1;
  }
  if (next < total) skip(total);
  return rows;
}

/** Where slots go: as many in a row as fit, 16 at most, so that a row of 4-byte elements is one line. */
export function tapeGeometry(storageSize, layout, width, owners) {
  const perRow = [16, 8, 4].find((count) => width >= GUTTER + count * 40) ?? 4;
  const pitch = Math.max(34, Math.min(52, Math.floor((width - GUTTER) / perRow)));
  const rows = tapeRows(storageSize, perRow, owners);
  const rowOf = (element) => Math.floor(element / perRow);
  const first = rowOf(layout.storage_offset);
  const targets = new Set(layout.stride.map((step) => rowOf(layout.storage_offset + step)));
  // Rows leave room for what is drawn at them. Few rows all leave it, so that nothing jumps in a drag.
  const few = rows.length <= 4;
  const arcs = 20 + 17 * Math.max(layout.shape.length, 1);
  const above = (row) => (row === first ? arcs : few || targets.has(row) ? 26 : 8);
  const below = (row) => (few || row === first ? 26 : 12);
  const tops = new Map();
  let y = 0;
  const placed = rows.map((row) => {
    if (row.gap) {
      y += 30;
      return { ...row, y: y - 24 };
    }
    y += above(row.row);
    tops.set(row.row, y);
    const top = y;
    y += SLOT + below(row.row);
    return { ...row, y: top };
  });
  return {
    perRow, pitch, rows: placed, height: y, slot: pitch - 4,
    width: GUTTER + perRow * pitch,
    has: (element) => tops.has(rowOf(element)),
    left: (element) => GUTTER + (element % perRow) * pitch,
    middle: (element) => GUTTER + (element % perRow) * pitch + (pitch - 4) / 2,
    top: (element) => tops.get(rowOf(element)),
  };
}

/** The path of one step from slot to slot: an arc in a row, a swung line between rows, a loop for 0. */
export function stepPath(g, from, to, lift, shift = 0) {
  const [x0, x1, y0, y1] = [g.middle(from), g.middle(to) + shift, g.top(from), g.top(to)];
  if (from === to)
    return `M${x0 - 7},${y0 - 2}C${x0 - 26},${y0 - lift * 1.5} ${x0 + 26},${y0 - lift * 1.5} ${x0 + 7},${y1 - 7}`;
  if (y0 === y1)
    return `M${x0},${y0 - 2}C${x0},${y0 - lift * 1.34} ${x1},${y0 - lift * 1.34} ${x1},${y1 - 7}`;
  const [start, end] = y0 < y1 ? [y0 + SLOT, y1 - 7] : [y0, y1 + SLOT + 7];
  const bend = y0 < y1 ? 22 : -22;
  return `M${x0},${start}C${x0},${start + bend} ${x1},${end - 2 * bend} ${x1},${end}`;
}

const arrow = (x, y) => `M${x - 6},${y - 9}h12l-6,9z`;

/** The tape widget: `resize` lays it out, `draw` patches it; `slotAt` finds the slot under a pointer. */
export function createTape(id, { onHover, onSelect, onKey, onDrag }) {
  const node = h("div", {
    class: "sk-tape", role: "grid", tabindex: "0", ...OWN_KEYS,
    "aria-label": "elements of the storage, in the order of memory",
    onkeydown: onKey,
    onpointerover: (event) => onHover(event.target.element ?? null),
    onpointerleave: () => onHover(null),
    onclick: (event) => event.target.element !== undefined && onSelect(event.target.element),
  });
  const ink = s("svg", { class: "sk-ink", "aria-hidden": "true" });
  const tags = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const handles = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const box = h("div", { class: "sk-tapebox" }, ink, node, tags, handles);
  const lines = pool(node, () => h("div", { role: "row", class: "sk-row" }));
  const paths = pool(ink, () => s("path"));
  const labels = pool(tags, () => h("span"));
  const grips = pool(handles, () => h("span", { onpointerdown: (event) => onDrag(event) }));
  let g = null;
  let lifts = []; // how high the arc of each dim rises
  let slots = new Map();
  let built = "";

  function resize(view, width) {
    g = tapeGeometry(view.storageSize, view.layout, width, view.owners);
    const key = `${g.perRow} ${view.storageSize} ${g.rows.map((r) => r.row ?? `+${r.gap}`)}`;
    if (key !== built) build(view.storageSize);
    built = key;
    for (const [element, slot] of slots)
      set(slot, "style",
        `transform:translate(${g.left(element)}px,${g.top(element)}px);width:${g.slot}px`);
    set(box, "style", `width:${g.width}px;height:${g.height}px`);
    return g.height;
  }

  function build(storageSize) {
    slots = new Map();
    const kept = g.rows.filter((row) => !row.gap);
    lines(kept.length).forEach((line, k) => {
      line.replaceChildren();
      const first = kept[k].row * g.perRow;
      for (let e = first; e < Math.min(first + g.perRow, storageSize); e++) {
        const number = h("small");
        const text = h("span");
        const badge = h("sup");
        const slot = h("div", { role: "gridcell", class: "sk-slot", id: `${id}-s${e}` }, number, text, badge);
        Object.assign(slot, { element: e, number, value: text, badge });
        line.append(slot);
        slots.set(e, slot);
      }
    });
  }

  function draw(view) {
    const { spot, owners, elements, layout, values } = view;
    const columns = layout.shape.at(-1) ?? 1;
    for (const [element, slot] of slots) {
      const owned = owners.get(element);
      set(slot.value, "text", values ? values[element] : String(element));
      set(slot.number, "text", values ? String(element) : "");
      set(slot.badge, "text", owned && owned.length > 1 ? `×${owned.length}` : "");
      const state = element === spot.element ? " is-spot" : "";
      set(slot, "class", `sk-slot${owned ? "" : " is-hole"}${values ? " has-number" : ""}${state}`);
      set(slot, "data-row", owned ? String(Math.floor(owned[0] / columns) % 6) : null);
      set(slot, "aria-label", view.describeSlot(element));
      set(slot, "aria-selected", String(element === view.tapeCursor));
    }
    const active = view.tapeCursor;
    set(node, "aria-activedescendant", slots.has(active) ? `${id}-s${active}` : null);
    drawInk(view, elements);
  }

  /** Steps, offset, cache lines and the lit walk: lists of shapes, patched into the pools. */
  function drawInk(view) {
    const shapes = [...cacheLines(view), ...offsetBar(view)];
    const texts = addresses(view);
    const handlesNow = [];
    steps(view, shapes, texts, handlesNow);
    walk(view, shapes);
    paths(shapes.length).forEach((path, k) => {
      set(path, "d", shapes[k][0]);
      set(path, "class", shapes[k][1]);
    });
    labels(texts.length).forEach((label, k) => {
      const [text, x, y, kind] = texts[k];
      set(label, "text", text);
      set(label, "class", `sk-tag ${kind}`);
      moveTo(label, x, y);
    });
    grips(handlesNow.length).forEach((grip, k) => {
      const [x, y, kind, what] = handlesNow[k];
      set(grip, "class", `sk-grip ${kind}`);
      set(grip, "title", `drag to change ${what}`);
      grip.what = what;
      moveTo(grip, x - 12, y - 12);
    });
  }

  function addresses({ layout, storageSize }) {
    return g.rows.map((row) =>
      row.gap
        ? [`⋯ ${row.elements} elements not shown`, GUTTER, row.y, "sk-gap"]
        : [`${row.row * g.perRow * layout.itemsize} B`, GUTTER - 12, row.y + 9, "sk-byte"],
    ).filter(() => storageSize > 0);
  }

  /** A bracket under the slots of each cache line; the selected element's is dark. */
  function cacheLines({ spot, layout, storageSize }) {
    const perLine = Math.max(1, Math.floor(CACHE_LINE / layout.itemsize));
    const dark = spot.element === null ? -1 : Math.floor(spot.element / perLine);
    const found = [];
    for (const { row } of g.rows.filter((r) => !r.gap)) {
      const end = Math.min((row + 1) * g.perRow, storageSize);
      for (let e = row * g.perRow; e < end; ) {
        const line = Math.floor(e / perLine);
        const stop = Math.min((line + 1) * perLine, end);
        const [x0, x1, y] = [g.left(e), g.left(stop - 1) + g.slot, g.top(e) + SLOT + 5];
        const [open, close] = [e % perLine === 0 ? `M${x0},${y - 3}V${y}` : `M${x0},${y}`,
          stop % perLine === 0 ? `H${x1}V${y - 3}` : `H${x1}`];
        found.push([open + close, line === dark ? "sk-line is-dark" : "sk-line"]);
        e = stop;
      }
    }
    return found;
  }

  function offsetBar({ layout }) {
    const end = layout.storage_offset;
    const found = [];
    for (const { row } of g.rows.filter((r) => !r.gap)) {
      const [first, stop] = [row * g.perRow, Math.min((row + 1) * g.perRow, end)];
      if (stop <= first) continue;
      const y = g.top(first) + SLOT + 12;
      found.push([`M${g.left(first)},${y}H${g.left(stop - 1) + g.slot}`, "sk-measure"]);
    }
    return found;
  }

  /** One arc a dim, from the first element to its neighbour along that dim, with a grip at its tip. */
  function steps(view, shapes, texts, grip) {
    const { layout, lit, index, storageSize } = view;
    lifts = [];
    const start = layout.storage_offset;
    if (layout.shape.includes(0) || !g.has(start)) return;
    // Short steps inside, long ones around them, and around all the loops of those that go nowhere.
    const length = (d) => layout.stride[d] || Infinity;
    const order = layout.stride.map((_, d) => d).sort((a, b) => (length(a) < length(b) ? -1 : length(a) > length(b) ? 1 : b - a));
    const taken = new Map();
    order.forEach((d, rank) => {
      const to = start + layout.stride[d];
      if (to >= storageSize || !g.has(start) || !g.has(to)) return;
      const shared = taken.get(to) ?? 0;
      taken.set(to, shared + 1);
      const lift = (lifts[d] = 15 + 17 * rank);
      const shift = shared * 13;
      const faded = lit !== null && lit !== d ? " is-faded" : "";
      const tip = [g.middle(to) + (to === start ? 7 : 0) + shift, g.top(to) - 1];
      if (lit !== d || !index?.[d]) {
        shapes.push([stepPath(g, start, to, lift, shift), `sk-step sk-d${d}${faded}`]);
        shapes.push([arrow(...tip), `sk-tip sk-d${d}${faded}`]);
      }
      texts.push([`stride[${d}] = ${layout.stride[d]}`, ...labelPlace(start, to, lift, tip), `sk-d${d}${faded} ${labelSide(start, to)}`]);
      grip.push([tip[0], tip[1] - 8, `sk-d${d}`, `stride[${d}]`]);
    });
    const y = g.top(start) + SLOT + 12;
    texts.push([`storage_offset = ${start}`, g.left(start) + 8, y - 5, `sk-offset ${lit !== null && lit !== "offset" ? "is-faded" : ""}`]);
    grip.push([g.left(start), y, "sk-offset", "storage_offset"]);
  }

  const long = (from, to) => g.top(from) === g.top(to) && g.middle(to) - g.middle(from) > 128;
  const labelSide = (from, to) => (long(from, to) ? "is-centred" : "");
  /** On a long arc the label sits at its height; otherwise right of the tip. */
  function labelPlace(from, to, lift, tip) {
    if (from === to) return [g.middle(from) + 12, g.top(from) - lift - 12];
    if (long(from, to)) return [(g.middle(from) + g.middle(to)) / 2, g.top(from) - lift - 9];
    return [tip[0] + 9, tip[1] - (g.top(from) === g.top(to) ? lift + 4 : 20)];
  }

  /** The lit term walked step by step: from the partial sum before it to the one after. */
  function walk({ lit, layout, index }, shapes) {
    if (lit === null || lit === "offset" || index === null) return;
    let from = layout.storage_offset;
    for (let d = 0; d < lit; d++) from += index[d] * layout.stride[d];
    const hops = index[lit] > 24 ? 1 : index[lit];
    const length = hops === 1 ? index[lit] * layout.stride[lit] : layout.stride[lit];
    for (let k = 0; k < hops && length > 0; k++, from += length) {
      if (!g.has(from) || !g.has(from + length)) continue;
      shapes.push([stepPath(g, from, from + length, lifts[lit] ?? 15), `sk-hop sk-d${lit}`]);
      shapes.push([arrow(g.middle(from + length), g.top(from + length) - 1), `sk-tip sk-d${lit}`]);
    }
  }

  /** The slot under a pointer: the nearest one of the nearest row. */
  function slotAt(event) {
    const bounds = box.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const rows = g.rows.filter((row) => !row.gap);
    const distance = (row) => Math.abs(row.y + SLOT / 2 - y);
    const { row } = rows.reduce((best, r) => (distance(r) < distance(best) ? r : best));
    const column = Math.floor((x - GUTTER) / g.pitch);
    return row * g.perRow + Math.min(Math.max(column, 0), g.perRow - 1);
  }

  return { node: box, focusable: node, resize, draw, slotAt, geometry: () => g };
}
