// The numbers in messages about layouts, decoded: the mirror of stridekit/tensors/decoders.py, in its order. Python is
// the truth, and tests/live_diagnose.py compares the two. Numbers are BigInts: a message may have 19 digits.

import { counted, range, tuple } from "../page/layout.js";

const LOOK = "print x.shape one line earlier";

const ints = (text) => (text.match(/-?\d+/g) ?? []).map(BigInt);
const prod = (numbers) => numbers.reduce((a, b) => a * b, 1n);
const put = (values, at, ...others) => [...values.slice(0, at), ...others, ...values.slice(at + 1)];

/** The last element of a layout; null for numbers that belong to none. */
function lastOf(shape, stride, offset = 0n, itemsize = 1n) {
  if (shape.length !== stride.length || shape.some((n) => n < 0n) || itemsize < 1n) return null;
  if (!prod(shape)) return offset - 1n;
  const steps = shape.map((n, d) => (n - 1n) * stride[d]);
  const [low, high] = [steps.filter((step) => step < 0n), steps.filter((step) => step > 0n)]
    .map((some) => some.reduce((a, b) => a + b, offset));
  return low < 0n ? null : high;
}

function shape(found) {
  const [shape, numel] = [ints(found.shape), BigInt(found.numel)];
  const product = prod(shape);
  if (shape.includes(-1n))
    return {
      means: `-1 stands for ${numel} / ${product < 0n ? -product : product}, which is no whole number`,
      cure: `the other sizes have to multiply to a divisor of ${numel}: ${LOOK}`,
    };
  const fits = range(shape.length).flatMap((d) => {
    const n = prod(put(shape, d));
    return n > 0n && numel % n === 0n ? [tuple(put(shape, d, numel / n))] : [];
  });
  return {
    means: `shape ${tuple(shape)} has ${counted(product, "element")}, and there are ${numel}`,
    cure: fits.length ? `change one size: ${fits.join(" or ")}` : `no change of one size is enough: ${LOOK}`,
  };
}

function arrayShape({ shape: written, numel }) {
  const text = written.replaceAll("newaxis", "-1");
  const sizes = ints(text);
  if (sizes.length === 1 && !text.includes(",")) return shape({ shape: `-1, ${text}`, numel }); // one dim is written (5,)
  const [words, product] = [shape({ shape: text, numel }), prod(sizes)];
  const others = product < 0n ? -product : product;
  if (!sizes.includes(-1n) && sizes.length > 1 && (!others || BigInt(numel) % others))
    words.means += `; or it was ${tuple([-1n, ...sizes])}, of which NumPy leaves out the -1: ${BigInt(numel)} / ${others} ` +
      "is no whole number";
  return words;
}

function gradStrides(found) {
  const [sizes, ours, theirs] = [found.sizes, found.strides, found.bucket_strides].map(ints);
  if (!found.sizes || [ours, theirs].some((strides) => lastOf(sizes, strides) === null)) return {};
  const apart = range(ours.length).filter((d) => ours[d] !== theirs[d]);
  const dims = `${apart.length === 1 ? "dim" : "dims"} ${apart.join(", ") || "none"}`;
  if (apart.every((d) => sizes[d] === 1n) || !prod(sizes))
    return {
      means: `the strides ${tuple(ours)} and ${tuple(theirs)} differ only where no index takes a step (${dims} of ` +
        `sizes ${tuple(sizes)}): every element has the same address in both`,
      harm: "no: same addresses, harmless",
      cure: "nothing has to be done",
    };
  return {
    means: `the gradient has strides ${tuple(ours)}, DDP's bucket ${tuple(theirs)}: they differ in ${dims}, so ` +
      "elements lie elsewhere",
    harm: `in time: each step copies ${counted(prod(sizes), "element")} in another order`,
  };
}

function compiled(found) {
  const dims = found.dims.match(/size \d+==\d+, stride \d+==\d+ at dim=\d+/g).map(ints);
  const told = dims.map(([size, expectedSize, stride, expectedStride, d]) => {
    const sizes = size !== expectedSize && `size ${size}, not ${expectedSize}`;
    const strides = stride !== expectedStride && `stride ${stride}, not ${expectedStride}`;
    return `dim ${d} has ${[sizes, strides].filter(Boolean).join(" and ")}`;
  });
  return { means: `the code was compiled for other numbers: ${told.join("; ")}` };
}

function outOfBounds(found) {
  const [shape, stride] = [ints(found.sizes), ints(found.strides)];
  const [offset, itemsize, size] = [found.offset, found.itemsize, found.size].map(BigInt);
  const last = lastOf(shape, stride, offset, itemsize);
  if (last === null) return {};
  const held = size / itemsize;
  const storage = held
    ? `the storage has ${counted(held, "element")}, and ends with element ${held - 1n}`
    : "the storage is empty";
  return { means: `index ${tuple(shape.map((n) => n - 1n))} is element ${last}; ${storage}` };
}

function product({ a, b, c, d }) {
  const [m, inner, other, n] = [a, b, c, d].map(BigInt);
  const means = `the rows of mat1 have ${inner} elements, the columns of mat2 have ${other}: they have to agree`;
  if (inner === n)
    return { means, cure: `mat2 lies the other way round: x @ w.t() is (${m}x${inner}) @ (${n}x${other}), a view` };
  if (m === other)
    return { means, cure: `mat1 lies the other way round: x.t() @ w is (${inner}x${m}) @ (${other}x${n}), a view` };
  return { means };
}

function dtypeView({ what, ratio, old, new: wanted, got: written }) {
  const got = BigInt(written);
  if (!what)
    return {
      means: `the bytes of ${old} and ${wanted} only line up where the last dim has no gaps; its stride is ${got}`,
      cure: "x.contiguous().view(dtype), a copy",
    };
  const n = BigInt(ratio);
  const each = `${counted(n, "element")} of ${old} make one of ${wanted}`;
  if (what === "size(-1)")
    return {
      means: `${each}, and the last dim has ${got}`,
      cure: `cut or pad the last dim to a multiple of ${n}: x[..., :${got - got % n}].contiguous().view(dtype)`,
    };
  if (what === "storage_offset()")
    return {
      means: `${each}, and the tensor starts in the middle of one, at element ${got}`,
      cure: "x.clone().view(dtype): a copy starts at 0",
    };
  return {
    means: `${each}, and ${what} is ${got}: such a step ends in the middle of one`,
    cure: "x.contiguous().view(dtype), a copy",
  };
}

const PAIRS = "complex numbers are counted in pairs of floats, and ";
const COMPLEX = {
  "last dimension of size 2": [
    "a complex number is two floats: the last dim has to be that pair",
    "x.unflatten(-1, (-1, 2)) makes pairs of neighbours, if their number is even",
  ],
  "last dimension with stride 1": [
    "the two floats of a complex number are neighbours in memory, and here they are not",
    "torch.view_as_complex(x.contiguous()), a copy",
  ],
  "storage_offset divisible by 2": [
    `${PAIRS}this tensor starts in the middle of one`,
    "torch.view_as_complex(x.clone()), a copy",
  ],
  "stride divisible by 2 for all but last dimension": [
    `${PAIRS}a step of this tensor ends in the middle of one`,
    "torch.view_as_complex(x.contiguous()), a copy",
  ],
};

function pairs(found) {
  const [means, cure] = COMPLEX[found.what];
  return { means, cure };
}

function version(found) {
  const times = BigInt(found.found) - BigInt(found.expected);
  const which = found.op ? `, the output of ${found.op},` : "";
  return {
    means: `autograd kept a tensor of shape ${tuple(ints(found.shape))}${which} for the backward pass, and since then ` +
      `it was written to ${counted(times, "time")}: the gradient would be wrong`,
  };
}

const expanded = ({ dim, size, wanted }) => ({
  means: `in dim ${dim} of the result a size of ${size} would become ${wanted}: only a size of 1 can, by a stride of 0`,
});

function broadcast(found) {
  const shapes = found.shapes.match(/\([\d,]*\)/g).map((shape) => ints(shape).reverse());
  const dims = Math.max(...shapes.map((shape) => shape.length));
  for (const d of range(dims)) {
    const sizes = new Set(shapes.filter((shape) => d < shape.length && shape[d] !== 1n).map((shape) => shape[d]));
    if (sizes.size > 1)
      return {
        means: `shapes are compared from the last dim on: in dim ${dims - 1 - d} of the result sizes ` +
          `${[...sizes].join(" and ")} meet, and none is 1`,
      };
  }
  return {};
}

function permuted(found) {
  if (!(found.dims || found.perm)) return {};
  const dims = BigInt(found.dims || ints(found.shape).length);
  const named = BigInt(found.named || ints(found.perm).length);
  if (named === dims)
    return { means: `a permutation names each of the dims 0 to ${dims - 1n} once, and none from the end` };
  return { means: `a permutation names each dim once: there are ${counted(dims, "dim")}, and it names ${named}` };
}

function stored(found) {
  if (found.numel)
    return { means: `the declared shape has ${counted(BigInt(found.numel), "element")}, and ${found.values} are given` };
  const [needs, size] = [BigInt(found.needs || found.asked), BigInt(found.size || found.kept)];
  const means = `the declared shape and dtype take ${counted(needs, "byte")}, and there are ${size}`;
  const [few, much] = needs < size ? [needs, size] : [size, needs];
  if (!few || ![2n, 4n, 8n].some((n) => n * few === much)) return { means };
  return { means: `${means}: a dtype of ${size === few ? "1/" : ""}${much / few} times the size would explain it` };
}

function declared({ inferred, declared: said, dim }) {
  const has = dim ? `size ${inferred} in dim ${dim}` : counted(BigInt(inferred), "dim");
  return { means: `an output of the node has ${has}, and was declared to have ${said}` };
}

function disagreement({ a, b, c, d, dim }) {
  const [one, other] = [a || c, b || d];
  if (!one) return {};
  const which = dim ? `dim ${dim}` : "one size";
  return { means: `two shapes have to agree in ${which}: it is ${one} in one, ${other} in the other` };
}

const channelsLast = ({ format, rank }) => ({
  means: `${format} is an order of ${rank === "4" ? "(N, C, H, W)" : "(N, C, D, H, W)"}, and the tensor has another number of dims`,
});

/** The decoders by their names in Python. */
export const DECODERS = {
  shape, grad_strides: gradStrides, compiled, out_of_bounds: outOfBounds, product, dtype_view: dtypeView, pairs, version,
  expanded, channels_last: channelsLast, array_shape: arrayShape, broadcast, permuted, stored, declared, disagreement,
};
