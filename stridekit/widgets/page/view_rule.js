// When a layout can be viewed as another shape: the rule of view_rule.py, and its sentences.
// tests/fixtures/operations.json pins both sides to the same answers.

import { product, tuple } from "./core.js";

/** The row-major stride of a shape. @param {number[]} shape */
export function contiguousStride(shape) {
  const stride = new Array(shape.length);
  for (let d = shape.length - 1, step = 1; d >= 0; d--) {
    stride[d] = step;
    step *= Math.max(shape[d], 1);
  }
  return stride;
}

/** Neighbouring dims `first … last` that step evenly, outermost chunk first. */
export function chunksOf(shape, stride) {
  const found = [];
  for (let d = shape.length - 1; d >= 0; d--) {
    const inner = found.at(-1);
    if (inner && (shape[d] === 1 || stride[d] === inner.numel * inner.stride))
      found[found.length - 1] = { ...inner, first: d, numel: shape[d] * inner.numel };
    else found.push({ first: d, last: d, numel: shape[d], stride: stride[d] });
  }
  return found.reverse();
}

/** The new shape with its one -1 worked out, and "" or why it cannot hold the elements. */
export function completeShape(numel, wanted) {
  const no = (why) => [null, why];
  const negative = wanted.find((size) => size < -1);
  if (negative !== undefined)
    return no(`size ${negative} is negative: give sizes of 0 or more, or one -1`);
  const unknown = wanted.flatMap((size, d) => (size === -1 ? [d] : []));
  if (unknown.length > 1)
    return no(`dims ${unknown[0]} and ${unknown[1]} are both -1: only one can be worked out`);
  const known = product(wanted.filter((size) => size !== -1));
  if (!unknown.length)
    return known === numel
      ? [wanted, ""]
      : no(`${tuple(wanted)} has ${known} element${known === 1 ? "" : "s"}, the layout has ${numel}`);
  if (known === 0) return no("any size would do for the -1 beside a 0: write the size out");
  if (numel % known) return no(`${numel} elements do not divide into ${known}: no size fits the -1`);
  return [wanted.map((size) => (size === -1 ? numel / known : size)), ""];
}

/** The stride of the view as a complete shape: {stride}, or {reason} why there is no such view. */
export function viewStride(shape, stride, wanted) {
  if (product(shape) === 0)
    return { stride: String(shape) === String(wanted) ? stride : contiguousStride(wanted) };
  const result = wanted.map(() => 1);
  let d = wanted.length - 1;
  for (const chunk of chunksOf(shape, stride).reverse()) {
    let filled = 1;
    while (d >= 0 && (filled < chunk.numel || wanted[d] === 1)) {
      result[d] = filled * chunk.stride;
      filled *= wanted[d];
      d -= 1;
    }
    if (filled !== chunk.numel) {
      do d += 1;
      while (wanted[d] === 1); // sizes of 1 that were passed meanwhile straddle nothing
      return { reason: boundary(shape, stride, chunk, d, wanted[d]), chunk, dim: d };
    }
  }
  return { stride: result };
}

/** Name the boundary below which the chunk ends and that the new dim would straddle. */
function boundary(shape, stride, chunk, dim, size) {
  let inner = chunk.first;
  while (shape[inner] === 1) inner += 1;
  const outer = chunk.first - 1;
  return (
    `dims ${outer} and ${inner} do not merge ` +
    `(stride ${stride[outer]} found, ${chunk.numel * chunk.stride} needed), ` +
    `and the new dim ${dim} of size ${size} would straddle them`
  );
}
