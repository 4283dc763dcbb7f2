// The storage as a tape: rows of slots, with marks around them.

import { boxFor, fill, h, s, set } from "../page/dom.js";
import { CACHE_LINE, numel, range, sum } from "../page/layout.js";
import { createBoxes } from "./canvas.js";
import { describeSlot } from "./views.js";

const [MAX_ROWS, DENSE_SLOT, MAX_DENSE_ROWS] = [24, 13, 128];
const LEAST = 148; // px that a tape keeps even if the grid then has to scroll
// px of a slot, and between two rows with marks: a bracket, a line of labels, and the tips of steps from above
const [ROOMY, TIGHT] = [
  { slot: 30, band: 27 },
  { slot: 26, band: 25 },
];

/** The rows of the tape: reached ones, single rows between them, and gaps that say how much they leave out. */
export function tapeRows(storageSize, perRow, owners, most = MAX_ROWS) {
  const total = Math.ceil(storageSize / perRow);
  const reached = Array.from(owners.keys(), (element) => Math.floor(element / perRow));
  const wanted = new Set([...range(total <= 8 ? total : 0), ...reached]);
  const rows = [];
  let next = 0;
  for (const row of [...[...wanted].sort((a, b) => a - b), total]) {
    if (rows.length >= most && row < total) continue;
    if (row - next === 1) rows.push({ row: next });
    else if (row > next)
      rows.push({ gap: row - next, elements: Math.min(row * perRow, storageSize) - next * perRow });
    if (row < total) rows.push({ row });
    next = row + 1;
  }
  return rows;
}

// The places of the slots: as many in a row as fit, at most 16, so that a row of 4-byte elements is one cache line. If
// that makes too many rows, slots are small, and a row is four lines. `longest` is the length of the longest label; a
// `tight` tape has lower rows.
export function tapeGeometry(storageSize, layout, width, owners, longest = 1, tight = false) {
  const digits = String(storageSize * layout.itemsize).length; // of byte addresses
  const gutter = Math.max(54, 30 + 8 * digits);
  const least = Math.max(34, boxFor(longest, 9) + 4);
  let perRow = [16, 8, 4].find((count) => width >= gutter + count * least) ?? 4;
  const reached = new Set(Array.from(owners.keys(), (element) => Math.floor(element / perRow)));
  const dense = reached.size > MAX_ROWS;
  if (dense) perRow = [64, 32, 16].find((count) => width >= gutter + count * 12) ?? 16;
  const pitch = dense
    ? Math.min(16, Math.floor((width - gutter) / perRow))
    : Math.max(
        34,
        Math.min(Math.max(52, boxFor(longest, 11) + 4), Math.floor((width - gutter) / perRow)),
      );
  const { slot, band } = tight ? TIGHT : ROOMY;
  const [height, gap] = dense ? [DENSE_SLOT, 1] : [slot, 4];
  const rows = tapeRows(storageSize, perRow, owners, dense ? MAX_DENSE_ROWS : MAX_ROWS);
  const rowOf = (element) => Math.floor(element / perRow);
  const start = layout.storage_offset;
  const first = rowOf(start);
  const targets = new Set(layout.stride.map((step) => rowOf(start + step)));
  // Rows leave room for their marks. If rows are few, all do, so that nothing jumps during a drag.
  const few = rows.length <= 4;
  const arcs = 12 + Math.max(layout.shape.length, 1) * 16;
  const marked = (above, below) => few || first === above?.row || targets.has(below?.row);
  // A step that ends below the label of the offset has its own label below that one.
  const isBelow = (step) =>
    rowOf(start + step) === first + 1 && Math.abs((step - perRow) * pitch - 65) < 85;
  const second = layout.stride.some(isBelow) ? 18 : 0;
  const tops = new Map();
  let y = 0;
  const placed = rows.map((row, k) => {
    const above = rows[k - 1];
    y +=
      row.row === first
        ? arcs
        : k === 0
          ? few
            ? band
            : 2
          : marked(above, row)
            ? band
            : dense
              ? 7
              : 11;
    if (row.row === first + 1) y += second;
    const top = y;
    if (row.gap) y += 16;
    else {
      tops.set(row.row, y);
      y += height;
    }
    return { ...row, y: top };
  });
  y += marked(rows.at(-1)) || !dense ? band : 8;
  return {
    perRow,
    pitch,
    gutter,
    rows: placed,
    bottom: y,
    slot: pitch - gap,
    height,
    dense,
    storageSize,
    width: gutter + perRow * pitch,
    room: width,
    has: (element) => tops.has(rowOf(element)),
    left: (element) => gutter + (element % perRow) * pitch,
    middle: (element) => gutter + (element % perRow) * pitch + (pitch - gap) / 2,
    top: (element) => tops.get(rowOf(element)),
    /** The room under the row of an element, for its marks. */
    below: (element) => {
      const k = rows.findIndex(({ row }) => row === rowOf(element));
      return (placed[k + 1]?.y ?? y) - placed[k].y - height;
    },
  };
}

/** The tape widget: `resize` lays it out, `draw` patches it; `locator` finds slots under a pointer. */
export function createTape(id, { onDrag, ...hand }) {
  const boxes = createBoxes({ kind: "sk-tape", cell: "sk-slot", ...hand });
  const { node } = boxes;
  set(node, "aria-label", "elements of the storage, in the order of memory");
  const drawing = s("svg", { class: "sk-drawing", "aria-hidden": "true" });
  const tips = s("svg", { class: "sk-drawing", "aria-hidden": "true" });
  const tags = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const grips = h("div", { class: "sk-marks", "aria-hidden": "true" });
  const box = h("div", { class: "sk-tapebox" }, drawing, node, tags, tips, grips);
  const pane = h("div", { class: "sk-pane" }, box);
  let g = null;
  let numbers = []; // of the elements that are shown

  function resize(view, width, tight) {
    g = tapeGeometry(view.storageSize, view.layout, width, view.owners, view.longest, tight);
    set(box, "style", `width:${g.width}px;height:${g.bottom}px;--slot:${g.height}px`);
    set(pane, "style", `min-height:${Math.min(g.bottom, LEAST)}px`);
    return g.bottom;
  }

  function draw(view) {
    const { spot, owners, layout, values, label, storageSize } = view;
    const columns = layout.shape.at(-1) ?? 1;
    const firsts = g.rows.filter((row) => !row.gap).map(({ row }) => row * g.perRow);
    numbers = firsts.flatMap((first) =>
      range(Math.min(g.perRow, storageSize - first)).map((k) => first + k),
    );
    const laid = {
      numbers,
      places: numbers.map((e) => [g.left(e), g.top(e), g.slot, g.height]),
      columns: g.perRow,
      idOf: (_, element) => `${id}-s${element}`,
      plate: g.dense
        ? { width: g.width, height: g.bottom, rows: Math.ceil(storageSize / g.perRow) }
        : null,
    };
    const marks = marksOf(g, view);
    const at = (x, y) => `transform:translate(${x}px,${y}px)`;
    for (const [svg, areTips] of [
      [drawing, false],
      [tips, true],
    ]) {
      const paths = marks.paths.filter(([, kind]) => kind.startsWith("sk-tip") === areTips);
      fill(svg, ...paths.map(([d, kind]) => ["path", { d, class: kind }]));
    }
    fill(
      tags,
      ...marks.tags.map(([text, x, y, kind]) => [
        "span",
        { text, class: `sk-tag ${kind}`, style: at(x, y) },
      ]),
    );
    fill(
      grips,
      ...marks.grips.map(([x, y, kind, what]) => [
        "span",
        {
          class: `sk-grip ${kind}`,
          title: `drag to change ${what}`,
          "data-what": what,
          style: at(x - 12, y - 12),
          onpointerdown: onDrag,
          onmousedown: (event) => event.preventDefault(), // else the browser starts to select text
        },
      ]),
    );
    return boxes.draw(
      laid,
      (element) => {
        const owned = owners.get(element);
        const tint = owned ? Math.floor(owned[0] / columns) % 6 : null;
        return [
          tint,
          g.dense ? "" : label(element),
          element === spot.element ? "spot" : "",
          {
            "data-number": values ? String(element) : null,
            "data-owners": owned && owned.length > 1 ? `×${owned.length}` : null,
          },
        ];
      },
      (element) => describeSlot(view, element),
      view.tapeCursor,
    );
  }

  // A function from pointers to slots: the nearest slot of the nearest row, on the tape as it is now. A drag keeps
  // one, because a new size of the grid moves the tape under the pointer.
  function locator() {
    const bounds = box.getBoundingClientRect();
    const now = g;
    const rows = now.rows.filter((row) => !row.gap);
    return (event) => {
      const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
      const distance = (row) => Math.abs(row.y + now.height / 2 - y);
      const { row } = rows.reduce((best, r) => (distance(r) < distance(best) ? r : best));
      const column = Math.floor((x - now.gutter) / now.pitch);
      return row * now.perRow + Math.min(Math.max(column, 0), now.perRow - 1);
    };
  }

  return {
    node: pane,
    resize,
    draw,
    locator,
    geometry: () => g,
    slot: (element) => boxes.nodes()[numbers.indexOf(element)],
  };
}

// The marks around the slots: paths, labels and grips, as plain data ------------------------------

const [LOW, HIGHER] = [14, 16]; // how high the innermost arc rises, and how much higher each one around it
const LABELLED = 128; // an arc as wide as this carries its label on top
const LABEL = 16; // the height of a label

/** The path of one step from slot to slot; `shift` separates steps that would coincide. */
function stepPath(g, from, to, lift, shift = 0) {
  const [y0, y1] = [g.top(from), g.top(to)];
  const x0 = g.middle(from) + (from === to || y0 !== y1 ? shift : 0);
  const x1 = g.middle(to) + shift;
  const high = y0 - lift * (from === to ? 1.5 : 1.34);
  if (from === to)
    return `M${x0 - 7},${y0 - 2}C${x0 - 26},${high} ${x0 + 26},${high} ${x0 + 7},${y0 - 7}`;
  if (y0 === y1) return `M${x0},${y0 - 2}C${x0},${high} ${x1},${high} ${x1},${y1 - 7}`;
  const [down, start, end] = y0 < y1 ? [1, y0 + g.height, y1 - 7] : [-1, y0, y1 + g.height + 7];
  const way = Math.abs(end - start);
  return `M${x0},${start}C${x0},${start + Math.min(22, way / 2) * down} ${x1},${end - Math.min(44, way) * down} ${x1},${end}`;
}

const arrow = (x, y) => `M${x - 6},${y - 9}h12l-6,9z`;

/** The left edge, right edge and top of a label. */
function edges([text, x, y, kind]) {
  const width = 7 * text.length + 8;
  const left = x - (kind.includes("is-left") ? width : kind.includes("is-centred") ? width / 2 : 0);
  return [left, left + width, y];
}

/** Everything to draw for a view on a geometry: {paths, tags, grips}. */
export function marksOf(g, { layout, storageSize, spot, lit, index, label }) {
  const { shape, stride, storage_offset: start, itemsize } = layout;
  const [paths, tags, grips] = [[], [], []];
  const shown = g.rows.filter((row) => !row.gap);
  const lifts = []; // of each dim's arc
  const faded = (what) => (lit !== null && lit !== what ? " is-faded" : "");

  function isInside(tag) {
    const [left, right] = edges(tag);
    return left >= 0 && right <= Math.max(g.room, g.width);
  }

  /** Add a label at the first of some places where it lies on no other label and on no grip; returns the label, if any. */
  function place(places) {
    // The diamonds at the ends of dims hang from their slots, over the labels.
    const high = (kind) => (kind.startsWith("sk-end") ? LABEL - 2 : LABEL / 2);
    const taken = tags
      .map(edges)
      .concat(grips.map(([x, y, kind]) => [x - 8, x + 8, y - high(kind)]));
    const free = places.find((tag) => {
      const [left, right, top] = edges(tag);
      return (
        isInside(tag) &&
        taken.every(([l, r, t]) => right <= l || r <= left || Math.abs(t - top) >= LABEL)
      );
    });
    if (free) tags.push(free);
    return free;
  }

  /** Add a label for certain: at one of some places, beside what is in the way of the first one, or on it. */
  function placeSomewhere(places) {
    const [text, , y, kind] = places[0];
    const beyond = tags
      .map(edges)
      .filter(([, , top]) => top === y)
      .map(([, right]) => [text, right + 4, y, kind]);
    if (!place([...places, ...beyond])) tags.push(places.find(isInside) ?? places[0]);
  }

  /** The part of a cache line in each row: [line, first element, last element, whether it begins there, ends there]. */
  const perLine = Math.max(1, Math.floor(CACHE_LINE / itemsize));
  const parts = shown.flatMap(({ row }) => {
    const [first, end] = [row * g.perRow, Math.min((row + 1) * g.perRow, storageSize)];
    const opening = range(end - first)
      .map((k) => first + k)
      .filter((e) => e === first || e % perLine === 0);
    return opening.map((e, k) => {
      const stop = opening[k + 1] ?? end;
      return [Math.floor(e / perLine), e, stop - 1, e % perLine === 0, stop % perLine === 0];
    });
  });

  /** One step per dim with a grip at its tip; short ones nest inside, and loops of stride 0 are outermost. */
  function steps() {
    if (!numel(layout) || !g.has(start)) return;
    const [text, kind, below] = [
      `storage_offset = ${start}`,
      `sk-offset${faded("offset")}`,
      g.top(start) + g.height + 8,
    ];
    placeSomewhere([
      [text, g.middle(start) + 4, below, kind],
      [text, g.left(start) - 12, below, `${kind} is-left`],
    ]);
    grips.push([g.left(start), below + 2, "sk-offset", "storage_offset"]);
    const [labels, taken] = [[], new Map()]; // labels once all grips stand
    const length = (d) => stride[d] || Number.MAX_VALUE;
    range(shape.length)
      .sort((a, b) => length(a) - length(b) || b - a)
      .forEach((d, rank) => {
        const to = start + stride[d];
        lifts[d] = LOW + HIGHER * rank;
        if (to >= storageSize || !g.has(to)) return;
        const sameRow = g.top(to) === g.top(start);
        // Steps to the same slot stand side by side, and so do steps that go straight down.
        const lane = sameRow ? to : "down";
        const shift = (taken.get(lane) ?? 0) * (sameRow ? 13 : 8);
        taken.set(lane, (taken.get(lane) ?? 0) + 1);
        const [x, y] = [g.middle(to) + shift + (to === start ? 7 : 0), g.top(to) - 1];
        const isWalked = lit === d && index?.[d] && stride[d]; // the walk takes the step's place
        if (!isWalked) {
          paths.push([stepPath(g, start, to, lifts[d], shift), `sk-step sk-d${d}${faded(d)}`]);
          paths.push([arrow(x, y), `sk-tip sk-d${d}${faded(d)}`]);
          labels.push([d, [start, to], x, lifts[d], faded(d)]);
        }
        grips.push([x, y - 8, `sk-d${d}`, `stride[${d}]`]);
      });
    for (const each of labels) strideTag(...each);
  }

  /** The label of a step whose tip is at x: over a wide arc, else beside the tip, or over that. */
  function strideTag(d, [from, to], x, lift, fading = "") {
    const [text, kind] = [`stride[${d}] = ${stride[d]}`, `sk-stride sk-d${d}${fading}`];
    const sameRow = g.top(from) === g.top(to);
    const y = g.top(to) - 1 - (sameRow ? lift + 4 : LABEL + 2);
    const over = [text, (g.middle(from) + x) / 2, y - 4, `${kind} is-centred`];
    const at = (height) => [
      [text, x + 12, height, kind],
      [text, x - 12, height, `${kind} is-left`],
    ];
    const beside = sameRow ? [...at(y), ...at(y - LABEL)] : at(y);
    placeSomewhere(sameRow && x - g.middle(from) > LABELLED ? [over, ...beside] : beside);
  }

  /** A grip under the last element along each dim, to change its size; none where the stride is 0. */
  function ends() {
    const shifts = new Map();
    shape.forEach((size, d) => {
      const last = start + (size - 1) * stride[d];
      if (!numel(layout) || stride[d] === 0 || last >= storageSize || !g.has(last)) return;
      const shift = shifts.get(last) ?? 0;
      shifts.set(last, shift + 13);
      grips.push([
        g.middle(last) + shift,
        g.top(last) + g.height + 5,
        `sk-end sk-d${d}`,
        `size[${d}]`,
      ]);
    });
  }

  /** The lit term walked step by step: from the partial sum before it to the one after. */
  function walk() {
    if (lit === null || lit === "offset" || index === null) return;
    const hops = index[lit] > 24 ? 1 : index[lit];
    const length = hops === 1 ? index[lit] * stride[lit] : stride[lit];
    const lift = lifts[lit] ?? LOW;
    let from = start + sum(range(lit).map((d) => index[d] * stride[d]));
    let last = null; // the label stands at the end of the walk
    for (let k = 0; k < hops && length > 0; k++, from += length) {
      const to = from + length;
      if (!g.has(from) || !g.has(to)) continue;
      paths.push([stepPath(g, from, to, lift), `sk-hop sk-d${lit}`]);
      paths.push([arrow(g.middle(to), g.top(to) - 1), `sk-tip sk-d${lit}`]);
      last = [from, to];
    }
    if (last) strideTag(lit, last, g.middle(last[1]), lift);
  }

  for (const { row, gap, elements, y } of g.rows)
    tags.push(
      gap
        ? [`⋯ ${elements} elements not shown`, g.gutter, y, "sk-gap"]
        : [
            `${row * g.perRow * itemsize} B`,
            g.gutter - 12,
            y + g.height / 2 - LABEL / 2,
            "is-left sk-byte",
          ],
    );

  // A bracket under the slots of each cache line; that of the selected element is dark.
  const { element } = spot;
  const dark = Math.floor(((element ?? -Infinity) * itemsize) / CACHE_LINE);
  for (const [line, first, last, opens, closes] of parts.filter(
    ([line]) => !g.dense || line === dark,
  )) {
    const [x0, x1, y] = [g.left(first), g.left(last) + g.slot, g.top(first) + g.height + 5];
    const bracket = `M${x0},${opens ? y - 3 : y}V${y}H${x1}${closes ? `V${y - 3}` : ""}`;
    paths.push([bracket, line === dark ? "sk-line is-dark" : "sk-line"]);
  }
  for (const { row } of shown) {
    const [first, stop] = [row * g.perRow, Math.min((row + 1) * g.perRow, start)];
    const y = g.top(first) + g.height + 10;
    if (stop > first)
      paths.push([`M${g.left(first)},${y}H${g.left(stop - 1) + g.slot}`, "sk-measure"]);
  }
  steps();
  ends();
  walk();
  // The number of the dark cache line, where there is room; the sentence under the formula always has it.
  const part =
    element !== null && parts.find(([, first, last]) => element >= first && element <= last);
  if (part && g.below(element) >= LABEL + 7)
    place([
      [
        `cache line ${part[0]}`,
        g.left(part[2]) + g.slot,
        g.top(part[1]) + g.height + 7,
        "is-left sk-cacheline",
      ],
    ]);
  // Small slots have no text: the label of the element that is pointed at stands above its slot.
  if (g.dense && element !== null && g.has(element))
    tags.push([label(element), g.middle(element), g.top(element) - 22, "sk-flag"]);
  return { paths, tags, grips };
}
