// What the reshape stepper shows at a step, computed from its state: dims, boundaries, chunks, storage.

import { chunksOf, counted, extent, numel, offset, product, range, unflatten, viewStride } from "../page/layout.js";
import { stepsOf } from "./steps.js";

const [PER_ROW, NARROW] = [24, 28]; // boxes in a row of the tape at most, and the px that each needs

export function viewOf(state) {
  const { shape, stride: own, storage_offset, itemsize, target, flat } = state;
  const layout = { shape, stride: own, storage_offset, itemsize };
  const steps = stepsOf(layout, target);
  const at = Math.min(state.step, steps.length - 1);
  const now = steps[at];
  const told = steps.slice(0, at + 1);
  const done = at === steps.length - 1;
  const { stride, reason = "" } = viewStride(shape, own, target);
  const view = { layout, target, flat, steps, at, now, done, reason, stride };
  // After a failed walk the storage still shows where it got stuck.
  const shown = done && reason ? steps.at(-2) : now;
  return { ...view, ...dimsAt(view, told), ...tapeOf(layout, target, shown), caption: captionOf(layout, target, shown) };
}

/**
 * The looks of the dims, their boundaries and the chunks after the steps so far. The texts of a new dim come in two
 * forms, [in full, in short].
 */
function dimsAt({ layout, target, now, done, reason }, told) {
  const { shape, stride } = layout;
  const decided = Math.min(shape.length, ...told.filter(({ part }) => part === "merge").map(({ dims }) => dims[0]));
  // The chunks of the dims so far: dims to the left do not change how they merge.
  const chunks = numel(layout) ? chunksOf(shape.slice(decided), stride.slice(decided)) : [];
  const shifted = chunks.map((one) => ({ ...one, first: one.first + decided, last: one.last + decided }));
  const tintOf = (d) => (shape.length - 1 - (shifted.findLast(({ first }) => first <= d)?.last ?? 0) + 6) % 6;
  const lit = (dims, d) => (dims.includes(d) ? " is-lit" : "");
  const stuckAt = reason && told.find(({ part }) => part === "stuck");
  const [outer, inner] = stuckAt ? stuckAt.dims : [];
  return {
    dims: shape.map((_, d) => ({ kind: (d < decided ? "" : `sk-r${tintOf(d)}`) + lit(now.dims, d) })),
    chunks: shifted.map(({ first, last, numel: count, stride: gap }) => ({
      first, last, kind: `sk-r${tintOf(first)}${now.part !== "start" && now.dims.includes(last) ? " is-lit" : ""}`,
      texts: count === 1 ? ["1 element", "1"]
        : [`${counted(count, "element")} in steps of ${gap}`, `${count}, steps of ${gap}`, `${count} by ${gap}`],
    })),
    boundaries: boundariesOf(shape, shifted, told).map((one) =>
      one.dim === outer && one.dim + 1 === inner ? { ...one, kind: `${one.kind} is-crossed` } : one,
    ),
    fresh: target.map((_, d) => {
      const one = told.find(({ new_dims }) => new_dims.includes(d));
      if (!one) return { kind: "", stride: ["", ""], taken: ["", ""] };
      const tint = tintOf(one.dims.at(-1) ?? 0);
      const stuck = one.part === "stuck";
      return {
        kind: `${stuck ? "is-stuck" : `sk-r${shape.length ? tint : 0}`}${lit(now.new_dims, d)}`,
        stride: stuck ? ["no stride", "none"] : [`stride ${one.stride}`, String(one.stride)],
        taken: [one.taken, one.taken.replace(/.*= (\d+) of /, "$1/")],
      };
    }),
  };
}

/** The decided boundaries between old dims `dim` and `dim + 1`; their labels, the longest first. */
function boundariesOf(shape, chunks, told) {
  return told
    .filter(({ part, dims }) => part === "merge" && dims[0] < shape.length - 1)
    .map(({ dims: [dim], needed, says }) => {
      const merged = !chunks.some(({ last }) => last === dim);
      if (needed === null) return { dim, kind: "is-merged", labels: ["✓ size 1: joins", "✓ size 1", "✓"] };
      const [found, product] = [/stride (\d+) found, (\d+ · \d+ = \d+) needed/.exec(says)].flatMap((m) => [m[1], m[2]]);
      const sign = merged ? "✓" : "✗";
      return {
        dim, broken: !merged, kind: merged ? "is-merged" : "is-broken",
        labels: [
          `${sign} stride ${found} found\n${product} needed`, `${sign} ${found} found\n${needed} needed`, `${sign}${found}\n${needed}`,
        ],
      };
    });
}

/** The elements of the storage that a step is about: those of its chunk and of its new dim. */
function tapeOf(layout, target, now) {
  const { storage_offset: start, shape, stride } = layout;
  const empty = { run: new Set(), taken: new Set(), uneven: now.part === "stuck", found: null, needed: null };
  if (!now.run) return empty;
  const along = (count, gap) => new Set(range(count).map((k) => start + k * gap));
  const view = { ...empty, run: along(...now.run) };
  const [d] = now.new_dims;
  if (now.part === "merge" && now.needed !== null) {
    view.found = start + stride[now.dims[0]];
    view.needed = start + now.needed;
  } else if (now.part === "cut" && now.new_dims.length) view.taken = along(target[d], now.stride);
  else if (now.part === "stuck") view.taken = new Set(beyond(layout, target, now));
  return view;
}

/** The elements that a stuck new dim would reach, with the new dims to its right that share its chunk. */
function beyond(layout, target, { dims, new_dims: [d] }) {
  const inside = product(layout.shape.slice(dims.at(-1) + 1)); // in the chunks that are used up
  const count = product(target.slice(d)) / inside;
  return range(count).map((k) => offset(layout, unflatten(layout.shape, k * inside)));
}

function captionOf(layout, target, now) {
  const what = "the storage of x";
  if (!numel(layout)) return `${what}: no element is reached`;
  if (now.part === "merge") return `${what}; filled: the chunk so far`;
  if (now.part === "cut" && now.new_dims.length)
    return `${what}; filled: the chunk; ringed: new dim ${now.new_dims[0]}, its ${target[now.new_dims[0]]} elements evenly spaced`;
  if (now.part === "stuck") {
    const uneven = now.run[0]; // the first step beyond the chunk
    const path = beyond(layout, target, now).slice(Math.max(uneven - 3, 0), uneven + 1).join(", ");
    const dots = uneven > 3 ? "…, " : "";
    return `${what}; filled: the chunk; ringed: where new dim ${now.new_dims[0]} would lead, ${dots}${path}, …: uneven steps`;
  }
  return what;
}

/** The tape's first element, and how many it shows. */
export const spanOf = (layout) => [layout.storage_offset, extent(layout)];

/** Boxes per row: about the same in each, a multiple of the largest stride that fits. */
export function perRow({ stride }, size, width) {
  const most = Math.min(PER_ROW, Math.max(1, Math.floor(width / NARROW)));
  const unit = Math.max(1, ...stride.filter((step) => step <= most));
  const count = Math.ceil(size / (Math.floor(most / unit) * unit)) || 1;
  return Math.max(1, Math.min(Math.ceil(size / count / unit) * unit, size));
}
