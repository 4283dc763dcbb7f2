// What the reshape stepper shows at a step, computed from its state: dims, boundaries, chunks, storage.

import { chunksOf, counted, extent, numel, offsetAt, product, range, viewStride } from "../page/layout.js";
import { stepsOf } from "./steps.js";

const [PER_ROW, NARROW] = [24, 28]; // boxes in a row of the tape at most, and the px that each needs

export function viewOf({ target, step, flat, ...layout }) {
  const steps = stepsOf(layout, target);
  const at = Math.min(step, steps.length - 1);
  const now = steps[at];
  const done = at === steps.length - 1;
  const { stride, reason = "" } = viewStride(layout.shape, layout.stride, target);
  const view = { layout, target, flat, steps, at, now, done, reason, stride };
  const shown = done && reason ? steps.at(-2) : now; // after a failed walk the storage still shows where it got stuck
  return {
    ...view, ...dimsAt(view, steps.slice(0, at + 1)), ...tapeOf(layout, target, shown), caption: captionOf(layout, target, shown),
  };
}

// The looks of the dims, their boundaries and the chunks after the steps so far. The texts of a new dim come in two
// forms, [in full, in short].
function dimsAt({ layout, target, now, done, reason }, told) {
  const { shape, stride } = layout;
  const decided = Math.min(shape.length, ...told.filter(({ part }) => part === "merge").map(({ dims }) => dims[0]));
  // The chunks of the dims so far: dims to the left do not change how they merge.
  const chunks = numel(layout) ? chunksOf(shape.slice(decided), stride.slice(decided)) : [];
  const shifted = chunks.map((each) => ({ ...each, first: each.first + decided, last: each.last + decided }));
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
    boundaries: boundariesOf(shape, shifted, told).map((each) =>
      each.dim === outer && each.dim + 1 === inner ? { ...each, kind: `${each.kind} is-crossed` } : each),
    fresh: target.map((_, d) => {
      const cut = told.find(({ new_dims }) => new_dims.includes(d));
      if (!cut) return { kind: "", stride: ["", ""], taken: ["", ""] };
      const [isStuck, tint] = [cut.part === "stuck", shape.length ? tintOf(cut.dims.at(-1) ?? 0) : 0];
      return {
        kind: `${isStuck ? "is-stuck" : `sk-r${tint}`}${lit(now.new_dims, d)}`,
        stride: isStuck ? ["no stride", "none"] : [`stride ${cut.stride}`, String(cut.stride)],
        taken: [cut.taken, cut.taken.replace(/.*= (\d+) of /, "$1/")],
      };
    }),
  };
}

/** The decided boundaries between old dims `dim` and `dim + 1`; their labels, the longest first. */
function boundariesOf(shape, chunks, told) {
  const merges = told.filter(({ part, dims }) => part === "merge" && dims[0] < shape.length - 1);
  return merges.map(({ dims: [dim], needed, says }) => {
    if (needed === null) return { dim, kind: "is-merged", labels: ["✓ size 1: joins", "✓ size 1", "✓"] };
    const broken = chunks.some(({ last }) => last === dim);
    const [, found, product] = /stride (\d+) found, (\d+ · \d+ = \d+) needed/.exec(says);
    const sign = broken ? "✗" : "✓";
    const labels = [`${sign} stride ${found} found\n${product} needed`, `${sign} ${found} found\n${needed} needed`, `${sign}${found}\n${needed}`];
    return { dim, broken, kind: broken ? "is-broken" : "is-merged", labels };
  });
}

/** The elements of the storage that a step is about: those of its chunk and of its new dim. */
function tapeOf(layout, target, now) {
  const { storage_offset: start, shape, stride } = layout;
  const empty = { run: new Set(), taken: new Set(), uneven: now.part === "stuck", found: null, needed: null };
  if (!now.run) return empty;
  const along = (count, gap) => new Set(range(count).map((k) => start + k * gap));
  const view = { ...empty, run: along(...now.run) };
  if (now.part === "merge" && now.needed !== null) {
    view.found = start + stride[now.dims[0]];
    view.needed = start + now.needed;
  } else if (now.part === "cut" && now.new_dims.length) view.taken = along(target[now.new_dims[0]], now.stride);
  else if (now.part === "stuck") view.taken = new Set(beyond(layout, target, now));
  return view;
}

/** The elements that a stuck new dim would reach, with the new dims to its right that share its chunk. */
function beyond(layout, target, { dims, new_dims: [d] }) {
  const inside = product(layout.shape.slice(dims.at(-1) + 1)); // in the chunks that are used up
  const count = product(target.slice(d)) / inside;
  return range(count).map((k) => offsetAt(layout, k * inside));
}

function captionOf(layout, target, now) {
  const what = "the storage of x";
  const [d] = now.new_dims;
  if (!numel(layout)) return `${what}: no element is reached`;
  if (now.part === "merge") return `${what}; filled: the chunk so far`;
  if (d === undefined) return what;
  if (now.part === "cut") return `${what}; filled: the chunk; ringed: new dim ${d}, its ${target[d]} elements evenly spaced`;
  const uneven = now.run[0]; // the first step beyond the chunk
  const path = beyond(layout, target, now).slice(Math.max(uneven - 3, 0), uneven + 1).join(", ");
  return `${what}; filled: the chunk; ringed: where new dim ${d} would lead, ${uneven > 3 ? "…, " : ""}${path}, …: uneven steps`;
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
