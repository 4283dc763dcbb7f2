// What both sides compute: the address formula and the sentences that follow from it. scene.py and
// layout.py are the truth; tests/fixtures/explorer.json pins this file to their answers.
//
// A layout is {shape, stride, storage_offset, itemsize}, counted in elements; an index is an array.

export const MAX_CELLS = 4096;
export const MAX_HTML = 256; // cells drawn as HTML; more are drawn on a canvas
export const MAX_DIMS = 4;
export const MAX_ROWS = 256; // of a plane; more would make a page of metres
const MAX_PLANES = 256;
export const CACHE_LINE = 64;
export const MOST = 2 ** 53 - 1; // counted exactly up to here

/** @typedef {{shape: number[], stride: number[], storage_offset: number, itemsize: number}} Layout */

/** Of no numbers it is 1. */
export const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
/** Numbers as Python writes a tuple. */
export const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;
const plural = (count) => (count === 1 ? "" : "s");

/** The number of indices. @param {Layout} layout */
export const numel = (layout) => product(layout.shape);

/** The element of the storage at an index. @param {Layout} layout @param {number[]} index */
export const offset = (layout, index) =>
  index.reduce((sum, i, d) => sum + i * layout.stride[d], layout.storage_offset);

/** The index that comes `flat`-th in row-major order. @param {number[]} shape @param {number} flat */
export function unflatten(shape, flat) {
  const index = new Array(shape.length);
  for (let d = shape.length - 1; d >= 0; d--) {
    index[d] = flat % shape[d];
    flat = Math.floor(flat / shape[d]);
  }
  return index;
}

/** Where an index comes in row-major order. @param {number[]} shape @param {number[]} index */
export const flatten = (shape, index) => index.reduce((flat, i, d) => flat * shape[d] + i, 0);

/** Element of each index in row-major order, and the indices (flat) that own each element. */
export function reach(layout) {
  const { shape, stride } = layout;
  const elements = new Array(numel(layout));
  const owners = new Map();
  const index = shape.map(() => 0);
  let element = layout.storage_offset;
  for (let flat = 0; flat < elements.length; flat++) {
    elements[flat] = element;
    const owned = owners.get(element);
    if (owned) owned.push(flat);
    else owners.set(element, [flat]);
    // The next index, as an odometer turns, and its element; a step that is not taken may be too long to count.
    for (let d = shape.length - 1; d >= 0; d--) {
      index[d] += 1;
      if (index[d] < shape[d]) {
        element += stride[d];
        break;
      }
      element -= (shape[d] - 1) * stride[d];
      index[d] = 0;
    }
  }
  return { elements, owners };
}

/** Why the layout is not contiguous; "" if it is. @param {Layout} layout */
export function whyNotContiguous({ shape, stride }) {
  if (shape.includes(0)) return "";
  let needed = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    if (shape[d] !== 1 && stride[d] !== needed)
      return `dim ${d} has stride ${stride[d]}, ${needed} is needed`;
    needed *= shape[d];
  }
  return "";
}

/** The verdicts [good, sentence] on a layout; good is null where it is neither. */
export function verdicts(layout, storageSize, owners = reach(layout).owners) {
  const why = whyNotContiguous(layout);
  const reached = owners.size;
  const last = layout.shape.reduce((sum, n, d) => sum + (n - 1) * layout.stride[d], 0);
  const span = reached ? last + 1 : 0;
  const holes = span - reached;
  const count = numel(layout);
  const bytes = `(${reached * layout.itemsize} of ${storageSize * layout.itemsize} bytes)`;
  return [
    [!why, why ? `not contiguous: ${why}` : "contiguous"],
    [
      !holes,
      holes ? `${holes} hole${plural(holes)} between the first and the last element` : "no holes",
    ],
    [
      count === reached,
      count === reached
        ? "no two indices share an element"
        : `${count} indices share ${reached} element${plural(reached)}`,
    ],
    [null, `reaches ${reached} of ${storageSize} element${plural(storageSize)} ${bytes}`],
  ];
}

/** Where one element lies, as a sentence. @param {Layout} layout @param {number[]} index */
export function place(layout, index, name = "x") {
  const element = offset(layout, index);
  const byte = element * layout.itemsize;
  const line = Math.floor(byte / CACHE_LINE);
  return `${elementName(index, name)} is element ${element} of the storage: byte ${byte}, cache line ${line}`;
}

/** The address formula with its numbers. @param {Layout} layout @param {number[]} index */
export function formula(layout, index) {
  const terms = index.map((i, d) => `${i}*${layout.stride[d]}`);
  return `${[layout.storage_offset, ...terms].join(" + ")} = ${offset(layout, index)}`;
}

/** x[2, 3], or x where there are no dims. @param {number[]} index @param {string} name */
export const elementName = (index, name) =>
  index.length ? `${name}[${index.join(", ")}]` : name;

/** The torch expression that makes the layout on the storage of `source`. */
export const code = (source, { shape, stride, storage_offset }) =>
  `${source}.as_strided(${tuple(shape)}, ${tuple(stride)}, ${storage_offset})`;

/** How far a slider may go, and why it stops there: [limit, sentence]. */
export function limit(layout, storageSize, sliderMax, what, dim = 0, name = "x") {
  const label = what === "storage_offset" ? what : `${what}[${dim}]`;
  const { shape, stride, storage_offset } = layout;
  const others = shape.map((_, d) => d).filter((d) => what === "storage_offset" || d !== dim);
  const rest = others.reduce((sum, d) => sum + (shape[d] - 1) * stride[d], 0);
  // The highest element is `fixed + value * step`, value being where the slider stands.
  const [fixed, step] = {
    storage_offset: [rest, 1],
    stride: [storage_offset + rest, shape[dim] - 1],
    size: [storage_offset + rest - stride[dim], stride[dim]],
  }[what];
  const cells = product(others.map((d) => shape[d]));
  let most = sliderMax[what];
  let why = `${label} stops at ${most}: the slider ends here`;
  if (what === "size" && cells * most > MAX_CELLS) {
    most = Math.floor(MAX_CELLS / cells);
    why = `${label} stops at ${most}: the picture holds ${MAX_CELLS} elements`;
  }
  const last = shape.length - 2; // of the dims that go down the page
  const planes = product(others.filter((d) => d < last).map((d) => shape[d]));
  if (what === "size" && dim === last && most > MAX_ROWS) {
    most = MAX_ROWS;
    why = `${label} stops at ${most}: the picture holds ${MAX_ROWS} rows`;
  } else if (what === "size" && dim < last && planes * most > MAX_PLANES) {
    most = Math.floor(MAX_PLANES / planes);
    why = `${label} stops at ${most}: the picture holds ${MAX_PLANES} planes`;
  }
  const nothingReached = cells === 0 || (what !== "size" && shape.includes(0));
  const room = storageSize - 1 - fixed;
  const fits = step > 0 ? Math.max(Math.floor(room / step), 0) : room >= 0 ? most : 0;
  if (nothingReached || fits >= most) return [most, why];
  const corner = shape.map((n, d) => (what === "size" && d === dim ? fits : n - 1));
  return [
    fits,
    `${label} stops at ${fits}: beyond it, ${elementName(corner, name)} would be element ` +
      `${fixed + (fits + 1) * step}, and the storage ends at ${storageSize - 1}`,
  ];
}

/** The last element that is reached; -1 where none is. @param {Layout} layout */
export const lastOf = ({ shape, stride, storage_offset }) =>
  shape.includes(0) ? -1 : shape.reduce((sum, n, d) => sum + (n - 1) * stride[d], storage_offset);

/** Why not all numbers of a layout are exact here; "" if they are. @param {Layout} layout */
export function whyNotCounted(layout) {
  const { shape, stride, storage_offset } = layout;
  const numbers = [numel(layout), ...shape, ...stride, storage_offset, lastOf(layout) + 1];
  return Math.max(...numbers) > MOST ? `numbers beyond ${MOST} are not exact in a browser` : "";
}

/** Why the picture cannot hold a layout on a storage; "" if it can. */
export function whyNotDrawn(layout, storageSize) {
  const { shape, stride, storage_offset } = layout;
  const count = numel(layout);
  const tooLarge = whyNotCounted(layout);
  if (tooLarge) return tooLarge;
  if (shape.length > MAX_DIMS || count > MAX_CELLS)
    return (
      `shape ${tuple(shape)} has ${shape.length} dims and ${count} elements: ` +
      `the picture holds ${MAX_DIMS} and ${MAX_CELLS}; explore(t) shows a corner`
    );
  const planes = product(shape.slice(0, -2));
  const largest = Math.max(0, ...shape);
  const tooMany =
    largest > MAX_CELLS ? `a size of ${largest}: the picture holds ${MAX_CELLS}` // though a 0 leaves no elements
      : shape.at(-2) > MAX_ROWS ? `${shape.at(-2)} rows: the picture holds ${MAX_ROWS}`
      : planes > MAX_PLANES ? `${planes} planes: the picture holds ${MAX_PLANES}` : "";
  if (tooMany) return `shape ${tuple(shape)} has ${tooMany}; explore(t) shows a corner`;
  const last = lastOf(layout);
  if (last < storageSize) return "";
  return (
    `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${storage_offset} ` +
    `reaches element ${last}, and the storage ends at ${storageSize - 1}`
  );
}
