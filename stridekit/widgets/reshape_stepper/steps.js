// The rule of `view` as a walk: one sentence per step, from the last dim to the verdict. First neighbouring dims that step
// evenly are merged into chunks, then each chunk is cut into the new dims.
// A step is {part, says, dims, new_dims, needed, run, taken, stride}. `part` is start, merge, cut, stuck or end; `dims` and
// `new_dims` are the dims that it names. `needed` is the stride at which dim `dims[0]` merges, null for steps that need none.
// `run` is the chunk, [elements, stride]; `taken` and `stride` belong to the new dim.

import { after } from "../page/grammar.js";
import {
  chunksOf,
  counted,
  extent,
  numel,
  offset,
  offsetAt,
  product,
  range,
  rowMajor,
  sameLayout,
  tuple,
  unflatten,
  viewStride,
  whyNotContiguous,
  whyNotCounted,
} from "../page/layout.js";

const elements = (count) => counted(count, "element");
const spaced = (count, stride) => elements(count) + (count > 1 ? ` in steps of ${stride}` : "");

const step = (part, says, more = {}) => ({
  part,
  says,
  dims: [],
  new_dims: [],
  needed: null,
  run: null,
  taken: "",
  stride: null,
  ...more,
});

/** Every step of viewing the layout as `target`, which is complete and has as many elements. */
export function stepsOf(layout, target) {
  const { shape, stride } = layout;
  const question = `Can shape ${tuple(shape)}, stride ${tuple(stride)} be viewed as ${tuple(target)}?`;
  if (numel(layout) === 0)
    return [
      step("start", question),
      step("end", "Yes: there are no elements, so no step can go wrong."),
    ];
  const first = shape.length
    ? "First: which neighbouring dims step evenly?"
    : "There is one element.";
  return [
    step("start", `${question} ${first}`),
    ...merging(layout),
    ...cutting(layout, target),
    verdict(layout, target),
  ];
}

function verdict({ shape, stride }, target) {
  const { reason, stride: found } = viewStride(shape, stride, target);
  return step(
    "end",
    reason
      ? `There is no such view: ${reason}.`
      : `Every chunk is used up. The view has stride ${tuple(found)}: nothing moves.`,
  );
}

function merging({ shape, stride }) {
  let run = null; // the chunk: how many elements, and their stride
  return range(shape.length)
    .reverse()
    .map((d) => {
      const [size, found] = [shape[d], stride[d]];
      let [says, needed] = ["", null];
      if (!run) {
        run = [size, found];
        says = `Dim ${d} is the last: it starts a chunk, ${spaced(...run)}.`;
      } else if (size === 1) {
        says = `Dim ${d} has size 1: nothing steps along it, so it joins whatever its stride.`;
      } else {
        needed = run[0] * run[1];
        const merges = found === needed;
        const asked = `Dim ${d}: stride ${found} found, ${run[0]} · ${run[1]} = ${needed} needed.`;
        run = merges ? [run[0] * size, run[1]] : [size, found];
        says = `${asked} ${merges ? "It merges: the chunk has" : "It does not merge: a new chunk begins,"} ${spaced(...run)}.`;
      }
      return step("merge", says, { dims: [d], needed, run });
    });
}

const ONE = { first: 0, last: -1, numel: 1, stride: 1 }; // a 0-d tensor: one element, cut into sizes of 1

function cutting({ shape, stride }, target) {
  const told = [];
  let d = target.length;
  for (const chunk of shape.length ? chunksOf(shape, stride).reverse() : [ONE]) {
    let filled = 1;
    const started = d;
    while (d > 0 && (filled < chunk.numel || target[d - 1] === 1)) {
      d -= 1;
      told.push(taking(chunk, filled, d, target[d]));
      filled *= target[d];
      if (filled > chunk.numel) return opened(told);
    }
    if (started === d && chunk.last >= 0)
      told.push(
        step(
          "cut",
          `The chunk of dim ${chunk.last} is 1 element: there is nothing to cut.`,
          about(chunk),
        ),
      );
  }
  return opened(told);
}

const about = (chunk) => ({
  dims: range(chunk.last - chunk.first + 1).map((k) => chunk.first + k),
  run: [chunk.numel, chunk.stride],
});
const opened = ([first, ...others]) =>
  first ? [{ ...first, says: `Now the chunks are cut. ${first.says}` }, ...others] : [];

/** The step in which new dim `d` takes its elements from the rest of the chunk. */
function taking(chunk, filled, d, size) {
  const [stride, total] = [filled * chunk.stride, filled * size];
  const here = { ...about(chunk), new_dims: [d], stride };
  const name = `New dim ${d} of size ${size}`;
  if (size === 1)
    return step(
      "cut",
      `${name} takes nothing: any stride would do, torch gives it ${stride}.`,
      here,
    );
  const product = `${filled} · ${size} = ${total}`;
  const taken = `${product} of ${chunk.numel}`;
  if (total > chunk.numel)
    return step("stuck", `${name}: ${product}, but this chunk has ${elements(chunk.numel)}.`, {
      ...here,
      dims: [chunk.first - 1, ...here.dims],
      taken,
      stride: null,
    });
  const gets = filled > 1 ? `${filled} · ${chunk.stride} = ${stride}` : stride;
  const end = total === chunk.numel ? ": this chunk is used up." : " elements are taken.";
  return step("cut", `${name} gets stride ${gets}. ${taken}${end}`, { ...here, taken });
}

const MESSAGE =
  "view size is not compatible with input tensor's size and stride (at least one dimension spans " +
  "across two contiguous subspaces). Use .reshape(...) instead.";

/** The result of the view, torch's error decoded, and its alternatives: [phrase, sentence] pairs. */
export function consequences(layout, target) {
  const { shape, stride, itemsize } = layout;
  const sizes = target.join(", ");
  const copy = `all ${elements(numel(layout))}, ${numel(layout) * itemsize} bytes`;
  const [reshape, contiguous] = [`.reshape(${sizes})`, `.contiguous().view(${sizes})`];
  const { reason, chunk, dim } = viewStride(shape, stride, target);
  const needless = whyNotContiguous(layout)
    ? `copies ${copy}, which this view does not need`
    : "the same view: x is contiguous as it is";
  if (!reason)
    return [
      [`.view(${sizes})`, "a view: the same elements, 0 bytes are copied"],
      [reshape, "the same view: reshape copies only where there is none"],
      [contiguous, needless],
    ];
  const outer = chunksOf(shape, stride).find(({ last }) => last === chunk.first - 1);
  return [
    ["torch says", MESSAGE],
    ['"at least one dimension"', `new dim ${dim}, of size ${target[dim]}`],
    ['"spans across two contiguous subspaces"', `${describe(outer)} and ${describe(chunk)}`],
    [reshape, `copies ${copy}, into a storage of its own`],
    [contiguous, "does the same in two steps: the copy, then a view of it"],
  ];
}

const describe = ({ first, last, numel: count, stride }) =>
  `${last > first ? `dims ${first} to ${last}` : `dim ${first}`} (${spaced(count, stride)})`;

/** A sentence on the place of one element in both shapes and in memory; `moved` is null until it is known. */
export function followed(element, [name, newName], flat, moved) {
  const both = `${name} is number ${flat} in row-major order, and so is ${newName}`;
  if (moved === null) return `${both}.`;
  return moved
    ? `${both}. Element ${element} of the storage is copied to element ${flat} of the new one.`
    : `${both}. Both are element ${element} of the same storage.`;
}

// What Python and the toolbar ask of a state ---------------------------------------------------------

const [MOST_DIMS, MOST_ELEMENTS] = [6, 256];

const preset = (name, count, steps, targets) => ({
  name,
  expression: `torch.arange(${count}.)${steps}`,
  layout: after(rowMajor([count], 4), steps),
  targets,
});
/** Layouts worth a look, the torch expression that makes each, and shapes to try on it. */
export const PRESETS = [
  preset("contiguous", 24, ".view(4, 6)", [[3, 8], [2, 12], [24], [2, 2, 3, 2]]),
  preset("transposed", 24, ".view(4, 6).T", [[24], [2, 3, 4], [3, 8], [6, 2, 2]]),
  preset("rows cut out", 32, ".view(4, 8)[:, :6]", [
    [2, 12],
    [2, 2, 6],
    [4, 2, 3],
    [3, 8],
  ]),
  preset("every 2nd column", 24, ".view(4, 6)[:, ::2]", [[12], [2, 6], [3, 4]]),
  preset("permuted", 24, ".view(2, 3, 4).permute(2, 0, 1)", [[4, 6], [24], [2, 2, 6], [8, 3]]),
  preset("sizes of 1", 24, ".view(1, 4, 6).permute(1, 0, 2)", [
    [24],
    [4, 6],
    [2, 1, 12],
    [4, 6, 1],
  ]),
  preset("expanded", 6, ".expand(4, 6)", [[24], [2, 2, 6], [4, 2, 3]]),
  preset("channels-last", 24, ".view(2, 2, 2, 3).permute(0, 3, 1, 2)", [
    [2, 3, 4],
    [2, 12],
    [6, 4],
    [24],
  ]),
];
export const EXAMPLE = { ...rowMajor([], 1), target: [], step: 0, flat: 0 };

const made = (layout) =>
  `torch.arange(${layout.storage_offset + extent(layout)}.).as_strided(${tuple(layout.shape)}, ${tuple(layout.stride)}, ${layout.storage_offset})`;

/** A layout as a preset of its own, unless it is one of the others. */
export const given = (layout) =>
  PRESETS.some(
    (other) => sameLayout(other.layout, layout) && other.layout.itemsize === layout.itemsize,
  )
    ? []
    : [{ name: "as given", expression: made(layout), layout, targets: targetsOf(layout.shape) }];

/** The layout, the target and its strides, the walk's step, the followed element in both shapes. */
export function facts({ target, step, flat, ...layout }) {
  const { shape, stride, storage_offset } = layout;
  const { stride: found, reason } = viewStride(shape, stride, target);
  const indexIn = (sizes) => (flat === null ? null : unflatten(sizes, flat));
  const index = indexIn(shape);
  return {
    shape,
    stride,
    storage_offset,
    target,
    viewable: !reason,
    new_stride: reason ? null : found,
    step,
    finished: step === count({ target, ...layout }) - 1,
    index,
    new_index: indexIn(target),
    element: index && offset(layout, index),
  };
}

export const count = ({ target, ...layout }) => stepsOf(layout, target).length;

export function code({ target, step, flat, ...layout }, own) {
  const known = [...own, ...PRESETS].find((other) => sameLayout(other.layout, layout))?.expression;
  const how = viewStride(layout.shape, layout.stride, target).reason ? "reshape" : "view";
  return `x = ${known ?? made(layout)}\ny = x.${how}(${target.join(", ") || "()"})`;
}

export function told({ target, step, flat, ...layout }) {
  const { shape, stride } = layout;
  return [
    `ReshapeStepper: shape ${tuple(shape)}, stride ${tuple(stride)} as ${tuple(target)}`,
    ...stepsOf(layout, target).map(({ says }, k) => `${k}. ${says}`),
    ...(numel(layout)
      ? consequences(layout, target).map(([phrase, sentence]) => `${phrase}: ${sentence}`)
      : []),
  ];
}

/** The reason why the picture cannot hold a layout; "" if it can. */
export function whyNotShown(layout) {
  const { shape, stride } = layout;
  const why = whyNotCounted(layout);
  if (why) return why;
  if (shape.length > MOST_DIMS)
    return `shape ${tuple(shape)} has ${shape.length} dims: the picture holds ${MOST_DIMS}`;
  if (numel(layout) > MOST_ELEMENTS)
    return `shape ${tuple(shape)} has ${numel(layout)} elements: the picture holds ${MOST_ELEMENTS}`;
  return extent(layout) > MOST_ELEMENTS
    ? `shape ${tuple(shape)}, stride ${tuple(stride)} spans ${extent(layout)} elements: the picture holds ${MOST_ELEMENTS}`
    : "";
}

/** Shapes to try on any x: each two neighbouring dims merged, and all of them. */
export function targetsOf(shape) {
  const merged = shape
    .slice(1)
    .map((size, d) => [...shape.slice(0, d), shape[d] * size, ...shape.slice(d + 2)]);
  const all = new Map([...merged, [product(shape)]].map((target) => [String(target), target]));
  return [...all.values()].slice(0, 4);
}

// What the picture shows at a step: dims, boundaries, chunks, storage -----------------------------

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
    ...view,
    ...dimsAt(view, steps.slice(0, at + 1)),
    ...tapeOf(layout, target, shown),
    caption: captionOf(layout, target, shown),
  };
}

// The looks of the dims, their boundaries and the chunks after the steps so far. The texts of a new dim come in two
// forms, [in full, in short].
function dimsAt({ layout, target, now, done, reason }, told) {
  const { shape, stride } = layout;
  const decided = Math.min(
    shape.length,
    ...told.filter(({ part }) => part === "merge").map(({ dims }) => dims[0]),
  );
  // The chunks of the dims so far: dims to the left do not change how they merge.
  const chunks = numel(layout) ? chunksOf(shape.slice(decided), stride.slice(decided)) : [];
  const shifted = chunks.map((each) => ({
    ...each,
    first: each.first + decided,
    last: each.last + decided,
  }));
  const tintOf = (d) =>
    (shape.length - 1 - (shifted.findLast(({ first }) => first <= d)?.last ?? 0) + 6) % 6;
  const lit = (dims, d) => (dims.includes(d) ? " is-lit" : "");
  const stuckAt = reason && told.find(({ part }) => part === "stuck");
  const [outer, inner] = stuckAt ? stuckAt.dims : [];
  return {
    dims: shape.map((_, d) => ({
      kind: (d < decided ? "" : `sk-r${tintOf(d)}`) + lit(now.dims, d),
    })),
    chunks: shifted.map(({ first, last, numel: count, stride: gap }) => ({
      first,
      last,
      kind: `sk-r${tintOf(first)}${now.part !== "start" && now.dims.includes(last) ? " is-lit" : ""}`,
      texts:
        count === 1
          ? ["1 element", "1"]
          : [
              `${counted(count, "element")} in steps of ${gap}`,
              `${count}, steps of ${gap}`,
              `${count} by ${gap}`,
            ],
    })),
    boundaries: boundariesOf(shape, shifted, told).map((each) =>
      each.dim === outer && each.dim + 1 === inner
        ? { ...each, kind: `${each.kind} is-crossed` }
        : each,
    ),
    fresh: target.map((_, d) => {
      const cut = told.find(({ new_dims }) => new_dims.includes(d));
      if (!cut) return { kind: "", stride: ["", ""], taken: ["", ""] };
      const [isStuck, tint] = [
        cut.part === "stuck",
        shape.length ? tintOf(cut.dims.at(-1) ?? 0) : 0,
      ];
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
    if (needed === null)
      return { dim, kind: "is-merged", labels: ["✓ size 1: joins", "✓ size 1", "✓"] };
    const broken = chunks.some(({ last }) => last === dim);
    const [, found, product] = /stride (\d+) found, (\d+ · \d+ = \d+) needed/.exec(says);
    const sign = broken ? "✗" : "✓";
    const labels = [
      `${sign} stride ${found} found\n${product} needed`,
      `${sign} ${found} found\n${needed} needed`,
      `${sign}${found}\n${needed}`,
    ];
    return { dim, broken, kind: broken ? "is-broken" : "is-merged", labels };
  });
}

/** The elements of the storage that a step is about: those of its chunk and of its new dim. */
function tapeOf(layout, target, now) {
  const { storage_offset: start, shape, stride } = layout;
  const empty = {
    run: new Set(),
    taken: new Set(),
    uneven: now.part === "stuck",
    found: null,
    needed: null,
  };
  if (!now.run) return empty;
  const along = (count, gap) => new Set(range(count).map((k) => start + k * gap));
  const view = { ...empty, run: along(...now.run) };
  if (now.part === "merge" && now.needed !== null) {
    view.found = start + stride[now.dims[0]];
    view.needed = start + now.needed;
  } else if (now.part === "cut" && now.new_dims.length)
    view.taken = along(target[now.new_dims[0]], now.stride);
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
  if (now.part === "cut")
    return `${what}; filled: the chunk; ringed: new dim ${d}, its ${target[d]} elements evenly spaced`;
  const uneven = now.run[0]; // the first step beyond the chunk
  const path = beyond(layout, target, now)
    .slice(Math.max(uneven - 3, 0), uneven + 1)
    .join(", ");
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
