// The stride explorer's sentences and numbers: verdicts, places, code, and the limits of the
// picture and of its sliders.

/** @import { Layout } from "../page/layout.js" */
/** @import { Window } from "./window.js" */

import { after } from "../page/grammar.js";
import {
  CACHE_LINE,
  counted,
  elementName,
  extent,
  firstOf,
  flatten,
  grouped,
  lastOf,
  numel,
  offset,
  range,
  reach,
  rowMajor,
  sum,
  tuple,
  unflatten,
  whyNotContiguous,
  whyNotCounted,
} from "../page/layout.js";
import { countReached, ownersIn } from "./reached.js";
import { partOf } from "./window.js";

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
 * it reaches. The numbers are those of the whole layout, and follow from its shape and strides.
 * @returns {[boolean | null, string][]}
 */
export function verdicts(layout, storageSize) {
  const whyNot = whyNotContiguous(layout);
  return [
    [!whyNot, whyNot ? `not contiguous: ${whyNot}` : "contiguous"],
    ...negativeVerdict(layout),
    ...reachVerdicts(layout, storageSize),
  ];
}

/** @returns {[boolean | null, string][]} */
function reachVerdicts(layout, storageSize) {
  const reached = countReached(layout);
  if (reached === null)
    return [[null, "holes and shared elements are not counted: the strides interleave too much"]];
  const count = numel(layout);
  const holes = extent(layout) - reached;
  const elements = counted(grouped(reached), "element");
  const bytes = `${grouped(reached * layout.itemsize)} of ${grouped(storageSize * layout.itemsize)} bytes`;
  return [
    [
      !holes,
      holes
        ? `${counted(grouped(holes), "hole")} between the first and the last element`
        : "no holes",
    ],
    [
      count === reached,
      count === reached
        ? "no two indices share an element"
        : `${grouped(count)} indices share ${elements}`,
    ],
    [null, `reaches ${grouped(reached)} of ${counted(grouped(storageSize), "element")} (${bytes})`],
  ];
}

/** @returns {[boolean | null, string][]} */
function negativeVerdict({ stride }) {
  const d = stride.findIndex((step) => step < 0);
  if (d < 0) return [];
  return [[false, `no torch tensor: the stride of dim ${d} is negative, so copy the array first`]];
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

const OF_NUMPY = '.ravel("K")'; // ends the code of a block of memory that is NumPy's

/** The code of a layout on a storage: torch's, or NumPy's, whose strides are in bytes. */
export function code(source, { shape, stride, storage_offset, itemsize }) {
  if (!source.endsWith(OF_NUMPY))
    return `${source}.as_strided(${tuple(shape)}, ${tuple(stride)}, ${storage_offset})`;
  const strides = stride.map((step) => step * itemsize);
  const first = `${source}[${storage_offset}:]`;
  return `np.lib.stride_tricks.as_strided(${first}, ${tuple(shape)}, ${tuple(strides)})`;
}

// Limits ------------------------------------------------------------------------------------------

/** The reason why the picture cannot hold a layout on a storage; "" if it can. */
export function whyNotDrawn(layout, storageSize) {
  const { shape, stride, storage_offset } = layout;
  const uncounted = whyNotCounted(layout);
  if (uncounted) return uncounted;
  const last = lastOf(layout);
  if (last < 0) return ""; // there is no element
  const first = firstOf(layout);
  if (first >= 0 && last < storageSize) return "";
  const numbers = `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset}`;
  if (first < 0) return `${numbers} reaches element ${first}, and the storage begins at 0`;
  return `${numbers} reaches element ${last}, and the storage ends at ${storageSize - 1}`;
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
  const most = sliderMax[field];

  const { base, step } = highest(layout, field, dim);
  const room = storageSize - 1 - base;
  let fitting = room >= 0 ? most : 0;
  if (step > 0) fitting = Math.max(Math.floor(room / step), 0);
  const isEmpty = (field === "size" ? shape.toSpliced(dim, 1) : shape).includes(0);
  if (isEmpty || fitting >= most) return [most, `${label} stops at ${most}: the slider ends here`];

  const lastIndex = shape.map((n, d) => (field === "size" && d === dim ? fitting : n - 1));
  const corner = elementName(lastIndex, name);
  const beyond = `beyond it, ${corner} would be element ${base + (fitting + 1) * step}`;
  return [
    fitting,
    `${label} stops at ${fitting}: ${beyond}, and the storage ends at ${storageSize - 1}`,
  ];
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
 * The model as the panes show it. `labelOf` is the text of an element of the storage: its value, or the
 * number of its place; `isNumbered` is true if the text is no number of a place, and `longest` is the
 * length of the longest text.
 * @typedef {object} Picture
 * @property {import("./chain.js").State} state
 * @property {number} storageSize
 * @property {(element: number) => string} labelOf
 * @property {boolean} isNumbered
 * @property {number} longest
 * @property {string} name
 * @property {SliderMax} sliderMax
 */

/**
 * The view that all panes draw, made once per frame. `layout` is the whole tensor, and `part` is what the window
 * shows of it; `dims` are the dims of the part, which begins at `start`. A (flat) index counts inside
 * of the part.
 * @typedef {ReturnType<typeof viewOf>} View
 */

/**
 * @param {Picture} picture
 * @param {Pointer} pointer
 */
export function viewOf(picture, pointer) {
  const { labelOf, name } = picture;
  const { index: selectedIndex, chain, window = null, values, ...layout } = picture.state;
  const part = partOf(layout, window);
  const dims = window?.dims ?? range(layout.shape.length);
  const start = window?.start ?? layout.shape.map(() => 0);
  const { elements, owners } = reach(part);
  /** @type {number | null} */
  let selected = null;
  if (selectedIndex !== null) {
    const inPart = dims.map((d) => selectedIndex[d] - start[d]);
    selected = flatten(part.shape, inPart);
  }
  const spot = spotOf(pointer, elements, owners, selected);
  const indexOf = (flat) => {
    const index = [...start];
    for (const [k, i] of unflatten(part.shape, flat).entries()) index[dims[k]] += i;
    return index;
  };
  return {
    ...picture,
    layout,
    part,
    dims,
    start,
    window,
    elements,
    owners,
    selected,
    spot,
    lit: pointer.lit,
    index: spot.flat === null ? null : indexOf(spot.flat),
    sharers: new Set(spot.element === null ? [] : owners.get(spot.element)),
    tapeCursor: pointer.tapeCursor ?? (selected === null ? null : elements[selected]),
    longest: elements.reduce((n, e) => Math.max(n, labelOf(e).length), picture.longest),
    label: labelOf,
    indexOf,
    named: (flat) => elementName(indexOf(flat), name),
    outside: window ? outsideOf(layout) : null,
  };
}

/** @type {{ text: string, owners: import("./reached.js").Owners } | null} */
let newest = null;

/** The owners of elements beyond the window; the same object while the layout stays. */
function outsideOf(layout) {
  const text = JSON.stringify(layout);
  if (newest?.text !== text) newest = { text, owners: ownersIn(layout) };
  return newest.owners;
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

/** True for the text of a value that is NaN or infinite; numbers of places are neither. */
export const isOdd = (view, text) => view.isNumbered && /nan|inf/.test(text);

/** The sentence under the formula: the place of what is pointed at, and who shares it. */
export function words(view) {
  const { spot, index, layout, sharers, name, window } = view;
  if (spot.element === null) return "There is no element: a size is 0.";
  if (index === null) return wordsOutside(view);
  const alsoThere = [...sharers].filter((flat) => flat !== spot.flat);
  if (!alsoThere.length) return place(layout, index, name);
  const verb = alsoThere.length === 1 ? "is" : "are";
  const where = window ? " in this window" : "";
  return `${place(layout, index, name)}, and so ${verb} ${namesOf(view, alsoThere, 3)}${where}`;
}

/** The sentence about an element that no index of the picture reaches. */
function wordsOutside({ spot, layout, outside, name }) {
  const owner = outside?.of(spot.element);
  if (owner) return `${place(layout, owner, name)}, outside of the window`;
  if (owner === undefined && outside)
    return `Element ${spot.element}: whether an index leads there takes too long to tell.`;
  return `Element ${spot.element} is never reached: no index leads there.`;
}

export function describeCell(view, flat) {
  const element = view.elements[flat];
  return `${view.named(flat)}: element ${element}, byte ${element * view.layout.itemsize}`;
}

export function describeSlot(view, element) {
  const flats = view.owners.get(element);
  const where = `element ${element}, byte ${element * view.layout.itemsize}`;
  if (flats) return `${where}: ${namesOf(view, flats, 4)}`;
  return `${where}: ${view.outside?.has(element) ? "outside of the window" : "no index"}`;
}
