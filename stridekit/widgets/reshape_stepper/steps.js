// The rule of `view` as a walk: one sentence per step, from the last dim to the verdict. First neighbouring dims that step
// evenly are merged into chunks, then each chunk is cut into the new dims.
// A step is {part, says, dims, new_dims, needed, run, taken, stride}. `part` is start, merge, cut, stuck or end; `dims` and
// `new_dims` are the dims that it names. `needed` is the stride at which dim `dims[0]` merges, null for steps that need none.
// `run` is the chunk, [elements, stride]; `taken` and `stride` belong to the new dim.

import { chunksOf, counted, numel, range, tuple, viewStride, whyNotContiguous } from "../page/layout.js";

const elements = (count) => counted(count, "element");
const spaced = (count, stride) => elements(count) + (count > 1 ? ` in steps of ${stride}` : "");

const step = (part, says, more = {}) => ({
  part, says, dims: [], new_dims: [], needed: null, run: null, taken: "", stride: null, ...more,
});

/** Every step of viewing the layout as `target`, which is complete and has as many elements. */
export function stepsOf(layout, target) {
  const { shape, stride } = layout;
  const question = `Can shape ${tuple(shape)}, stride ${tuple(stride)} be viewed as ${tuple(target)}?`;
  if (numel(layout) === 0)
    return [step("start", question), step("end", "Yes: there are no elements, so no step can go wrong.")];
  const first = shape.length ? "First: which neighbouring dims step evenly?" : "There is one element.";
  return [step("start", `${question} ${first}`), ...merging(layout), ...cutting(layout, target), verdict(layout, target)];
}

function verdict({ shape, stride }, target) {
  const { reason, stride: found } = viewStride(shape, stride, target);
  return step("end", reason
    ? `There is no such view: ${reason}.`
    : `Every chunk is used up. The view has stride ${tuple(found)}: nothing moves.`);
}

function merging({ shape, stride }) {
  let run = null; // the chunk: how many elements, and their stride
  return range(shape.length).reverse().map((d) => {
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
      told.push(step("cut", `The chunk of dim ${chunk.last} is 1 element: there is nothing to cut.`, about(chunk)));
  }
  return opened(told);
}

const about = (chunk) => ({ dims: range(chunk.last - chunk.first + 1).map((k) => chunk.first + k), run: [chunk.numel, chunk.stride] });
const opened = ([first, ...others]) =>
  (first ? [{ ...first, says: `Now the chunks are cut. ${first.says}` }, ...others] : []);

/** The step in which new dim `d` takes its elements from the rest of the chunk. */
function taking(chunk, filled, d, size) {
  const [stride, total] = [filled * chunk.stride, filled * size];
  const here = { ...about(chunk), new_dims: [d], stride };
  const name = `New dim ${d} of size ${size}`;
  if (size === 1)
    return step("cut", `${name} takes nothing: any stride would do, torch gives it ${stride}.`, here);
  const product = `${filled} · ${size} = ${total}`;
  const taken = `${product} of ${chunk.numel}`;
  if (total > chunk.numel)
    return step("stuck", `${name}: ${product}, but this chunk has ${elements(chunk.numel)}.`, {
      ...here, dims: [chunk.first - 1, ...here.dims], taken, stride: null,
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
  const needless = whyNotContiguous(layout) ? `copies ${copy}, which this view does not need` : "the same view: x is contiguous as it is";
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
