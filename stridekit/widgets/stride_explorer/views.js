// The stride explorer's sentences and numbers: verdicts, places, code, and the limits of the
// picture and of its sliders.

/** @import { Layout } from "../page/layout.js" */

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

/**
 * A layout to start from, and the code that makes it.
 * @typedef {{name: string, layout: Layout, expression: string}} Preset
 */

/**
 * The numbers of a layout that sliders change; the first two exist for each dim.
 * @typedef {"size" | "stride" | "storage_offset"} Field
 */

/**
 * How far the sliders of each field reach.
 * @typedef {Record<Field, number>} SliderMax
 */

export const MAX_DIMS = 4;
const MAX_CELLS = 4096;
const MAX_PLANES = 256;
const MAX_ROWS = 256; // of a plane; more would make a page metres long

// Presets -----------------------------------------------------------------------------------------

/** The operations [name, steps] that show what strides can do, as far as a shape has them. */
function viewsOf(shape) {
  if (!shape.length || shape.includes(0)) return [];
  const windows = ["windows", `.unfold(-1, ${Math.min(3, shape.at(-1))}, 1)`];
  if (shape.length < 2) return [windows];
  return [
    ["transpose", ".mT"],
    ["every 2nd", "[..., ::2]"],
    ["diagonal", ".diagonal(0, -2, -1)"],
    ["broadcast", `[..., :1, :].expand(${shape.join(", ")})`],
    windows,
  ];
}

/** @returns {Preset} */
const presetOf = (start, source, name, steps) => ({
  name,
  layout: steps ? after(start, steps) : start,
  expression: source + steps,
});

/** A layout itself, and views of it. */
export const presetsOf = (layout, source) =>
  [["as given", ""], ...viewsOf(layout.shape)].map(([name, steps]) =>
    presetOf(layout, source, name, steps),
  );

const SLICE = ".view(5, 8)[:4, 2:]";
const FORTY_NUMBERS = rowMajor([40], 4);
/**
 * A slice of 40 numbers, where sizes, strides and the offset have room both ways; and other
 * readings.
 */
export const DEFAULTS = [
  ["slice", SLICE],
  ["row-major", ".view(5, 8)"],
  ["column-major", ".view(8, 5).mT"],
  ...viewsOf([4, 6])
    .slice(0, -1)
    .map(([name, steps]) => [name, SLICE + steps]),
  ["windows", "[2:20].unfold(0, 6, 3)"],
].map(([name, steps]) => presetOf(FORTY_NUMBERS, "torch.arange(40.)", name, steps));

// Sentences ---------------------------------------------------------------------------------------

/**
 * Whether a layout is contiguous, has no holes and shares no elements, and how much of the storage
 * it reaches.
 * @returns {[boolean | null, string][]}
 */
export function verdicts(layout, storageSize, owners = reach(layout).owners) {
  const whyNot = whyNotContiguous(layout);
  const count = numel(layout);
  const reached = owners.size;
  const holes = extent(layout) - reached;
  const elements = counted(reached, "element");
  const bytes = `${reached * layout.itemsize} of ${storageSize * layout.itemsize} bytes`;
  return [
    [!whyNot, whyNot ? `not contiguous: ${whyNot}` : "contiguous"],
    [
      !holes,
      holes ? `${counted(holes, "hole")} between the first and the last element` : "no holes",
    ],
    [
      count === reached,
      count === reached ? "no two indices share an element" : `${count} indices share ${elements}`,
    ],
    [null, `reaches ${reached} of ${counted(storageSize, "element")} (${bytes})`],
  ];
}

export function place(layout, index, name = "x") {
  const element = offset(layout, index);
  const byte = element * layout.itemsize;
  const cacheLine = Math.floor(byte / CACHE_LINE);
  return `${elementName(index, name)} is element ${element} of the storage: byte ${byte}, cache line ${cacheLine}`;
}

export function formula(layout, index) {
  const terms = index.map((i, d) => `${i}*${layout.stride[d]}`);
  return `${[layout.storage_offset, ...terms].join(" + ")} = ${offset(layout, index)}`;
}

export const code = (source, { shape, stride, storage_offset }) =>
  `${source}.as_strided(${tuple(shape)}, ${tuple(stride)}, ${storage_offset})`;

// Limits ------------------------------------------------------------------------------------------

/** The reason why the picture cannot hold a layout on a storage; "" if it can. */
export function whyNotDrawn(layout, storageSize) {
  const { shape, stride, storage_offset } = layout;
  const uncounted = whyNotCounted(layout);
  if (uncounted) return uncounted;
  const excess = excessOf(layout);
  if (excess) return `shape ${tuple(shape)} has ${excess}; explore(t) shows a corner`;
  if (stride.some((step) => step < 0))
    return `stride ${tuple(stride)} is negative: torch has no such tensors`;
  const last = lastOf(layout);
  if (last < storageSize) return "";
  const numbers = `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset}`;
  return `${numbers} reaches element ${last}, and the storage ends at ${storageSize - 1}`;
}

/** A part of a layout that the picture has no room for, and the limit; "" if all of it fits. */
function excessOf(layout) {
  const { shape } = layout;
  const ndim = shape.length;
  const count = numel(layout);
  if (ndim > MAX_DIMS || count > MAX_CELLS)
    return `${ndim} dims and ${count} elements: the picture holds ${MAX_DIMS} and ${MAX_CELLS}`;
  const largest = Math.max(0, ...shape); // a 0 beside it leaves no elements
  if (largest > MAX_CELLS) return `a size of ${largest}: the picture holds ${MAX_CELLS}`;
  const rows = shape.at(-2) ?? 1;
  if (rows > MAX_ROWS) return `${rows} rows: the picture holds ${MAX_ROWS}`;
  const planes = product(shape.slice(0, -2));
  if (planes > MAX_PLANES) return `${planes} planes: the picture holds ${MAX_PLANES}`;
  return "";
}

/**
 * The end of the sliders of each field: far enough to play, near enough to aim.
 * @returns {SliderMax}
 */
export function slidersFor({ shape, stride }, storageSize) {
  const farthest = storageSize <= 64 ? storageSize - 1 : Math.max(64, 2 * Math.max(0, ...stride));
  return {
    size: Math.max(shape.length <= 2 ? 16 : 8, ...shape),
    stride: shape.length ? Math.max(farthest, ...stride, 1) : 1,
    storage_offset: Math.max(storageSize - 1, 0),
  };
}

/**
 * The limit of a slider, and why it stops there.
 * @param {Layout} layout
 * @param {number} storageSize
 * @param {SliderMax} sliderMax
 * @param {Field} field
 * @returns {[number, string]}
 */
export function limit(layout, storageSize, sliderMax, field, dim = 0, name = "x") {
  const { shape } = layout;
  const label = field === "storage_offset" ? field : `${field}[${dim}]`;
  /** @type {[number, string][]} */
  const bounds = [[sliderMax[field], "the slider ends here"]];
  if (field === "size") bounds.push(...pictureBounds(shape, dim));
  const [most, end] = bounds.reduce((least, bound) => (bound[0] < least[0] ? bound : least));

  const { base, step } = highest(layout, field, dim);
  const room = storageSize - 1 - base;
  let fitting = room >= 0 ? most : 0;
  if (step > 0) fitting = Math.max(Math.floor(room / step), 0);
  const isEmpty = (field === "size" ? shape.toSpliced(dim, 1) : shape).includes(0);
  if (isEmpty || fitting >= most) return [most, `${label} stops at ${most}: ${end}`];

  const lastIndex = shape.map((n, d) => (field === "size" && d === dim ? fitting : n - 1));
  const corner = elementName(lastIndex, name);
  const beyond = `beyond it, ${corner} would be element ${base + (fitting + 1) * step}`;
  return [
    fitting,
    `${label} stops at ${fitting}: ${beyond}, and the storage ends at ${storageSize - 1}`,
  ];
}

/**
 * The sizes of a dim at which the picture is full, each with its reason.
 * @returns {[number, string][]}
 */
function pictureBounds(shape, dim) {
  const rowDim = shape.length - 2; // this dim goes down the page, those before it make planes
  const otherDims = range(shape.length).filter((d) => d !== dim);
  const otherSizes = otherDims.map((d) => shape[d]);
  /** @type {[number, string][]} */
  const bounds = [
    [Math.floor(MAX_CELLS / product(otherSizes)), `the picture holds ${MAX_CELLS} elements`],
  ];
  if (dim === rowDim) bounds.push([MAX_ROWS, `the picture holds ${MAX_ROWS} rows`]);
  if (dim < rowDim) {
    const planes = product(otherSizes.slice(0, -2));
    bounds.push([Math.floor(MAX_PLANES / planes), `the picture holds ${MAX_PLANES} planes`]);
  }
  return bounds;
}

/**
 * The highest element that a layout reaches is `base + value * step`, for the value of a field's
 * slider.
 */
function highest({ shape, stride, storage_offset }, field, dim) {
  const spans = shape.map((n, d) => (n - 1) * stride[d]);
  if (field === "storage_offset") return { base: sum(spans), step: 1 };
  const base = storage_offset + sum(spans.toSpliced(dim, 1));
  if (field === "stride") return { base, step: shape[dim] - 1 };
  return { base: base - stride[dim], step: stride[dim] };
}

// The view ----------------------------------------------------------------------------------------

/**
 * What a view of the explorer keeps to itself: the hovered box of the grid and of the tape, the
 * slot that the keys have reached, and the term of the formula that is lit, each null if there is
 * none.
 * @typedef {object} Pointer
 * @property {number | null} hoverFlat
 * @property {number | null} hoverSlot
 * @property {number | null} tapeCursor
 * @property {number | "offset" | null} lit
 */

/**
 * What the model has to show.
 * @typedef {object} Picture
 * @property {import("./chain.js").State} state
 * @property {number} storageSize
 * @property {string[] | null} values - a text for each element of the storage
 * @property {string} name
 * @property {SliderMax} sliderMax
 */

/**
 * What all panes draw, once per frame.
 * @typedef {ReturnType<typeof viewOf>} View
 */

/**
 * @param {Picture} picture
 * @param {Pointer} pointer
 */
export function viewOf(picture, pointer) {
  const { storageSize, values, name } = picture;
  const { index: selectedIndex, chain, ...layout } = picture.state;
  const { shape } = layout;
  const { elements, owners } = reach(layout);
  const selected = selectedIndex === null ? null : flatten(shape, selectedIndex);
  const spot = spotOf(pointer, elements, owners, selected);
  const labels = values ?? [String(storageSize - 1)];
  return {
    ...picture,
    layout,
    elements,
    owners,
    selected,
    spot,
    lit: pointer.lit,
    index: spot.flat === null ? null : unflatten(shape, spot.flat),
    sharers: new Set(spot.element === null ? [] : owners.get(spot.element)),
    tapeCursor: pointer.tapeCursor ?? (selected === null ? null : elements[selected]),
    longest: Math.max(1, ...labels.map((label) => label.length)),
    label: (element) => (values ? values[element] : String(element)),
    named: (flat) => nameAt(shape, flat, name),
  };
}

/**
 * The index (flat) and the element that is pointed at: a hovered slot or cell, the tape's cursor,
 * or the selected index.
 * @returns {{flat: number | null, element: number | null}}
 */
function spotOf({ hoverFlat, hoverSlot, tapeCursor }, elements, owners, selected) {
  const slot = hoverSlot ?? (hoverFlat === null ? tapeCursor : null);
  if (slot !== null) {
    const slotOwners = owners.get(slot) ?? [];
    const flat = slotOwners.includes(selected) ? selected : (slotOwners[0] ?? null);
    return { flat, element: slot };
  }
  const isHovered = hoverFlat !== null && hoverFlat < elements.length;
  const flat = isHovered ? hoverFlat : selected;
  return { flat, element: flat === null ? null : elements[flat] };
}

/** A few names of indices, and how many further ones there are. */
function namesOf(view, flats, most) {
  const rest = flats.length > most ? ` and ${flats.length - most} more` : "";
  return flats.slice(0, most).map(view.named).join(", ") + rest;
}

/** The sentence under the formula: the place of what is pointed at, and who shares it. */
export function words(view) {
  const { spot, index, layout, sharers, name } = view;
  if (spot.element === null) return "There is no element: a size is 0.";
  if (index === null) return `Element ${spot.element} is never reached: no index leads there.`;
  const alsoThere = [...sharers].filter((flat) => flat !== spot.flat);
  if (!alsoThere.length) return place(layout, index, name);
  const verb = alsoThere.length === 1 ? "is" : "are";
  return `${place(layout, index, name)}, and so ${verb} ${namesOf(view, alsoThere, 3)}`;
}

export function describeCell(view, flat) {
  const element = view.elements[flat];
  return `${view.named(flat)}: element ${element}, byte ${element * view.layout.itemsize}`;
}

export function describeSlot(view, element) {
  const flats = view.owners.get(element);
  const indices = flats ? namesOf(view, flats, 4) : "no index";
  return `element ${element}, byte ${element * view.layout.itemsize}: ${indices}`;
}
