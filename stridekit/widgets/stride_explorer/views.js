// What the stride explorer says about a layout: verdicts, places, code, and the limits of the picture and of sliders.

import { after } from "../page/grammar.js";
import {
  CACHE_LINE,
  counted,
  elementName,
  extent,
  flatten,
  lastOf,
  nameAt,
  numel,
  offset,
  product,
  range,
  reach,
  rowMajor,
  sum,
  tuple,
  unflatten,
  whyNotContiguous,
  whyNotCounted,
} from "../page/layout.js";

export const MAX_DIMS = 4;
const [MAX_CELLS, MAX_PLANES] = [4096, 256];
const MAX_ROWS = 256; // of a plane; more would make a page metres long

/** The views [name, steps] that show what strides can do, as far as a shape has them. */
const viewsOf = (shape) =>
  !product(shape) || !shape.length
    ? []
    : [
        ...(shape.length < 2
          ? []
          : [
              ["transpose", ".mT"],
              ["every 2nd", "[..., ::2]"],
              ["diagonal", ".diagonal(0, -2, -1)"],
              ["broadcast", `[..., :1, :].expand(${shape.join(", ")})`],
            ]),
        ["windows", `.unfold(-1, ${Math.min(3, shape.at(-1))}, 1)`],
      ];
const preset =
  (x, source) =>
  ([name, steps]) => ({ name, layout: steps ? after(x, steps) : x, expression: source + steps });

/** A layout as given, and views of it: {name, layout, expression} each. */
export const presetsOf = (x, source) =>
  [["as given", ""], ...viewsOf(x.shape)].map(preset(x, source));

const SLICE = ".view(5, 8)[:4, 2:]";
/** A slice of 40 numbers, where sizes, strides and the offset have room both ways; and other readings. */
export const DEFAULTS = [
  ["slice", SLICE],
  ["row-major", ".view(5, 8)"],
  ["column-major", ".view(8, 5).mT"],
  ...viewsOf([4, 6])
    .slice(0, -1)
    .map(([name, steps]) => [name, SLICE + steps]),
  ["windows", "[2:20].unfold(0, 6, 3)"],
].map(preset(rowMajor([40], 4), "torch.arange(40.)"));

/** The end of each kind of slider: far enough to play, near enough to aim. */
export function slidersFor({ shape, stride }, storageSize) {
  const far = storageSize <= 64 ? storageSize - 1 : Math.max(64, 2 * Math.max(0, ...stride));
  return {
    size: Math.max(shape.length <= 2 ? 16 : 8, ...shape),
    stride: shape.length ? Math.max(far, ...stride, 1) : 1,
    storage_offset: Math.max(storageSize - 1, 0),
  };
}

export function verdicts(layout, storageSize, owners = reach(layout).owners) {
  const why = whyNotContiguous(layout);
  const [count, reached] = [numel(layout), owners.size];
  const holes = extent(layout) - reached;
  const bytes = `(${reached * layout.itemsize} of ${storageSize * layout.itemsize} bytes)`;
  const sharing = `${count} indices share ${counted(reached, "element")}`;
  return [
    [!why, why ? `not contiguous: ${why}` : "contiguous"],
    [
      !holes,
      holes ? `${counted(holes, "hole")} between the first and the last element` : "no holes",
    ],
    [count === reached, count === reached ? "no two indices share an element" : sharing],
    [null, `reaches ${reached} of ${counted(storageSize, "element")} ${bytes}`],
  ];
}

export function place(layout, index, name = "x") {
  const element = offset(layout, index);
  const byte = element * layout.itemsize;
  const line = Math.floor(byte / CACHE_LINE);
  return `${elementName(index, name)} is element ${element} of the storage: byte ${byte}, cache line ${line}`;
}

export function formula(layout, index) {
  const terms = index.map((i, d) => `${i}*${layout.stride[d]}`);
  return `${[layout.storage_offset, ...terms].join(" + ")} = ${offset(layout, index)}`;
}

export const code = (source, { shape, stride, storage_offset }) =>
  `${source}.as_strided(${tuple(shape)}, ${tuple(stride)}, ${storage_offset})`;

/** The reason why the picture cannot hold a layout on a storage; "" if it can. */
export function whyNotDrawn(layout, storageSize) {
  const { shape, stride, storage_offset } = layout;
  const why = whyNotCounted(layout);
  if (why) return why;
  const [count, rows, planes, largest] = [
    numel(layout),
    shape.at(-2),
    product(shape.slice(0, -2)),
    Math.max(0, ...shape),
  ];
  const both = `${shape.length} dims and ${count} elements: the picture holds ${MAX_DIMS} and ${MAX_CELLS}`;
  const [, tooMany] =
    [
      [shape.length > MAX_DIMS || count > MAX_CELLS, both],
      [largest > MAX_CELLS, `a size of ${largest}: the picture holds ${MAX_CELLS}`], // though a 0 leaves no elements
      [rows > MAX_ROWS, `${rows} rows: the picture holds ${MAX_ROWS}`],
      [planes > MAX_PLANES, `${planes} planes: the picture holds ${MAX_PLANES}`],
    ].find(([isSo]) => isSo) ?? [];
  if (tooMany) return `shape ${tuple(shape)} has ${tooMany}; explore(t) shows a corner`;
  if (stride.some((step) => step < 0))
    return `stride ${tuple(stride)} is negative: torch has no such tensors`;
  const last = lastOf(layout);
  if (last < storageSize) return "";
  const numbers = `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset}`;
  return `${numbers} reaches element ${last}, and the storage ends at ${storageSize - 1}`;
}

/** The limit of a slider, and why it stops there: [limit, sentence]. */
export function limit(layout, storageSize, sliderMax, what, dim = 0, name = "x") {
  const label = what === "storage_offset" ? what : `${what}[${dim}]`;
  const { shape, stride, storage_offset } = layout;
  const others = range(shape.length).filter((d) => what === "storage_offset" || d !== dim);
  const rest = sum(others.map((d) => (shape[d] - 1) * stride[d]));
  // The highest element is `fixed + value * step` for the slider's value.
  const [fixed, step] = {
    storage_offset: [rest, 1],
    stride: [storage_offset + rest, shape[dim] - 1],
    size: [storage_offset + rest - stride[dim], stride[dim]],
  }[what];
  const [cells, planes] = [others, others.filter((d) => d < shape.length - 2)].map((dims) =>
    product(dims.map((d) => shape[d])),
  );
  const holds = (most, each, things) => [
    Math.floor(most / each),
    `the picture holds ${most} ${things}`,
  ];
  const last = shape.length - 2; // this dim goes down the page, those before it make planes
  const ends = [[sliderMax[what], "the slider ends here"]];
  if (what === "size") ends.push(holds(MAX_CELLS, cells, "elements"));
  if (what === "size" && dim === last) ends.push(holds(MAX_ROWS, 1, "rows"));
  if (what === "size" && dim < last) ends.push(holds(MAX_PLANES, planes, "planes"));
  const [most, end] = ends.reduce((least, next) => (next[0] < least[0] ? next : least));
  const nothingReached = cells === 0 || (what !== "size" && shape.includes(0));
  const room = storageSize - 1 - fixed;
  const fits = step > 0 ? Math.max(Math.floor(room / step), 0) : room >= 0 ? most : 0;
  if (nothingReached || fits >= most) return [most, `${label} stops at ${most}: ${end}`];
  const corner = elementName(
    shape.map((n, d) => (what === "size" && d === dim ? fits : n - 1)),
    name,
  );
  const beyond = `beyond it, ${corner} would be element ${fixed + (fits + 1) * step}`;
  return [fits, `${label} stops at ${fits}: ${beyond}, and the storage ends at ${storageSize - 1}`];
}

// The view that all panes draw, once per frame. `given` is {state, storageSize, values, name, sliderMax} of the model; `own`
// belongs to this page: {hoverFlat, hoverSlot, tapeCursor, lit}, each null if there is none.
export function viewOf(given, own) {
  const { index: selectedIndex, chain, ...layout } = given.state;
  const { elements, owners } = reach(layout);
  const selected = selectedIndex === null ? null : flatten(layout.shape, selectedIndex);
  // What is pointed at: a hovered slot or cell, the tape's cursor, or the selected index.
  const slot = own.hoverSlot ?? (own.hoverFlat === null ? own.tapeCursor : null);
  const owned = owners.get(slot) ?? [];
  const cell = own.hoverFlat !== null && own.hoverFlat < elements.length ? own.hoverFlat : selected;
  const flat = slot === null ? cell : owned.includes(selected) ? selected : (owned[0] ?? null);
  const spot = { flat, element: slot ?? elements[flat] ?? null };
  return {
    ...given,
    layout,
    elements,
    owners,
    selected,
    spot,
    lit: own.lit,
    index: spot.flat === null ? null : unflatten(layout.shape, spot.flat),
    sharers: new Set(owners.get(spot.element)),
    tapeCursor: own.tapeCursor ?? (selected === null ? null : elements[selected]),
    longest: Math.max(
      1,
      ...(given.values ?? [String(given.storageSize - 1)]).map(({ length }) => length),
    ),
    label: (element) => (given.values ? given.values[element] : String(element)),
    named: (flat) => nameAt(layout.shape, flat, given.name),
  };
}

/** A few names of indices, and how many more there are. */
function some(view, flats, most) {
  const more = flats.length > most ? ` and ${flats.length - most} more` : "";
  return flats.slice(0, most).map(view.named).join(", ") + more;
}

/** The sentence under the formula: the place of what is pointed at, and who shares it. */
export function words(view) {
  const { spot, index, layout, sharers, name } = view;
  if (spot.element === null) return "There is no element: a size is 0.";
  if (index === null) return `Element ${spot.element} is never reached: no index leads there.`;
  const others = [...sharers].filter((flat) => flat !== spot.flat);
  if (!others.length) return place(layout, index, name);
  return `${place(layout, index, name)}, and so ${others.length === 1 ? "is" : "are"} ${some(view, others, 3)}`;
}

export const describeCell = (view, flat) =>
  `${view.named(flat)}: element ${view.elements[flat]}, byte ${view.elements[flat] * view.layout.itemsize}`;

export function describeSlot(view, element) {
  const owned = view.owners.get(element);
  const who = owned ? some(view, owned, 4) : "no index";
  return `element ${element}, byte ${element * view.layout.itemsize}: ${who}`;
}
