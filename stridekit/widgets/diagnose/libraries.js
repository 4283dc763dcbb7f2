// Messages of einops, safetensors, transformers, ONNX and of distributed training.

import { counted, numel, product, same, sum, tuple, whyNotCounted } from "../page/layout.js";
import { apart, dimsOf, LOOK, taughtBy } from "./reading.js";

const EINOPS = "no: einops refuses";
const NOT_RUN = "no: onnx stops, and nothing runs";

export const LIBRARIES = [
  ...taughtBy("03_contiguity", "Back to the heads", [
    { title: "a dim that does not divide into groups", says: "can't divide axis of length {size} in chunks of {n}",
      means: "einops has to cut a dim of {size} into rows of {n}, and {n} does not divide {size}", harm: EINOPS,
      cause: "a wrong size, or names in brackets in the wrong order", cure: "print the shape; in (a b), b is the inner, faster one",
    }, { title: "a dim of another size than its pattern", says: "Shape mismatch, {size} != {wanted}",
      means: "a dim has {size}, and the sizes of its names multiply to {wanted}", harm: EINOPS,
      cause: "a size given by name, as in h=5, that the tensor does not have, or one name for dims of two sizes",
      cure: "leave one size of each bracket out: einops computes it",
      decode: ({ size, wanted }) => (wanted && size % wanted === 0 && wanted > 1
        ? `a dim has ${size}, and the sizes of its names multiply to ${wanted}: ${size / wanted} times as much` : ""),
    }, { title: "a pattern for another number of dims", says: [
        "Wrong shape: expected {wanted} dims. Received {got}-dim tensor",
        "Wrong shape: expected >={wanted} dims. Received {got}-dim tensor",
        "has shape {shape,}, while pattern {pattern~} assumes at least {least} axes",
        "received input of wrong dim with shape {shape,}",
        "Can't parse shape with different number of dimensions: {pattern~} torch.Size"],
      means: "the left side of the pattern names another number of dims than the tensor has", harm: EINOPS, cause: "a missing batch or channel dim",
      cure: 'name them all, or write "..." for the rest',
      decode({ wanted, got, shape, least }, { text }) {
        const least_ = text.includes(">=") ? "at least " : "";
        if (wanted !== undefined) return `the left side of the pattern names ${least_}${counted(wanted, "dim")}, the tensor has ${got}`;
        if (!shape) return "";
        return `${tuple(shape)} has ${counted(shape.length, "dim")}` + (least ? `, the pattern names ${least}` : "");
      },
    }, { title: "a name on one side of a pattern", says: [
        "Identifiers only on one side of expression (should be on both): {names,}", "Identifiers only on one side of expression",
        "Unexpected identifiers on the {side*} side of {what~}: {names,}", "Unexpected identifiers on the {side*} side of",
        "Specify sizes for new axes in repeat", "Could not infer sizes for", "Indexing expression contains duplicate dimension",
        "is not used in transform", "Non-unitary anonymous axes are not supported"],
      means: "rearrange moves every dim: each name stands once on each side; repeat adds dims whose size is given, reduce drops some", harm: EINOPS,
      cause: "a name that was forgotten or misspelt, or a dim that is to disappear or appear",
      cure: "reduce(x, pattern, 'mean') drops a dim, repeat(x, pattern, n=2) adds one, a 1 in the pattern is a dim of size 1",
    }, { title: "pieces that do not unpack", says: "could not split axis of size {size} into requested [{shapes~}]",
      means: "the shapes of the pieces have to hold as many elements as the dim", harm: EINOPS,
      cause: "packed_shapes of another tensor than the one that is unpacked", cure: "keep what pack returned beside its tensor",
      decode({ size, shapes }) {
        const sizes = [...shapes.matchAll(/\(([-\d, ]*)\)/g)].map(([, text]) => product(text.split(",").filter((n) => n.trim()).map(Number)));
        const total = sum(sizes.map(Math.abs));
        if (sizes.some((n) => n < 0)) return { means: `no size in place of the -1 makes the pieces of ${shapes} add up to ${size}` };
        return { means: `the pieces have ${sizes.join(" + ")} = ${total} elements, the dim has ${size}` };
      },
    }, { title: "a tensor that cannot be saved as it lies", section: "A cure for slices that keep too much?",
      says: ["You are trying to save a non contiguous tensor: `{name~}`", "You are trying to save a non contiguous tensor"],
      means: "safetensors stores rows one after the other, without strides; the tensor lies otherwise", harm: "no: safetensors refuses",
      cause: "a transposed weight, a slice of a larger one, or a model in channels-last",
      cure: "x.contiguous() before you save, which also leaves the rest of its storage behind",
      decode: ({ name }) => (name ? { means: `safetensors stores rows one after the other, without strides; ${name} lies otherwise`,
        cure: `${name}.contiguous() before you save, which also leaves the rest of its storage behind` } : ""),
    }, { title: "a declared shape that the graph does not give", section: "The message, decoded", says: [
        "Inferred shape and existing shape differ in dimension {dim}: ({inferred}) vs ({declared})",
        "Inferred shape and existing shape differ in rank: ({inferred}) vs ({declared})"],
      means: "an output of a node has another shape than was declared", harm: NOT_RUN,
      cause: "a graph edited after its shapes had been written into it: another batch size, another node",
      cure: "del model.graph.value_info[:] and infer_shapes(model) again; correct a wrong output by hand",
      decode: ({ inferred, declared, dim }) => ({
        means: `an output of the node has ${dim === undefined ? counted(inferred, "dim") : `size ${inferred} in dim ${dim}`}, and was declared to have ${declared}`,
      }),
    }, { title: "a Reshape with a -1 that fits nothing", section: "The message, decoded", says: "Dimension could not be inferred: incompatible shapes",
      means: "-1 stands for the number of elements divided by the other sizes: here that is no whole number", harm: NOT_RUN,
      cause: "sizes that became constants when the model was exported, and an input of another size",
      cure: "onnx.reference.ReferenceEvaluator(model).run(None, inputs) stops at that node, with the numbers",
    },
  ]),
  ...taughtBy("02_views", "Saving views", [
    { title: "tensors that would be saved twice", says: [
        "Some tensors share memory, this will lead to duplicate memory on disk{~}[{names~}]",
        "no suitable name to keep for saving amongst: {names~}. None",
        "Some tensors share memory, this will lead to duplicate memory on disk",
        "The weights trying to be saved contained shared tensors {names~} that"],
      means: "safetensors writes the bytes of each tensor on its own, and these share memory",
      harm: "no: safetensors refuses; saved, they would take twice the bytes, and no longer share when loaded",
      cause: "tied weights, or overlapping slices of one buffer",
      cure: "tied weights: save_model(model, path), which keeps one and notes the other; slices, of which none holds all of the memory: .clone()",
      decode: ({ names }, { raw }) => (names ? `safetensors writes the bytes of each tensor on its own; these share memory: ${raw.names}` : ""),
    },
  ]),
  ...taughtBy("01_strides", "Two units: elements and bytes", [
    { title: "an ONNX tensor that its values do not fill", says: [
        "Number of values ({values}) does not match tensor dimensions requiring {count} elements",
        "Raw data size does not match tensor's size. Expected {needs} bytes, but got {size} bytes",
        "raw_data size ({size} bytes) is too small for the declared shape and type ({needs} bytes required)",
        "Error while deserializing: invalid shape, data type, or offset for tensor"],
      means: "the bytes of the tensor are more or fewer than its shape and dtype need", harm: "no: the library refuses",
      cause: "a shape written by hand, float64, NumPy's default, declared as FLOAT, or a file that was cut off",
      cure: "numpy_helper.from_array(a) takes shape and dtype from the array; a.astype(np.float32) before it",
      decode({ count, values, needs, size }) {
        if (count !== undefined) return `the declared shape has ${counted(count, "element")}, and ${values} are given`;
        if (needs === undefined) return "";
        const means = `the declared shape and dtype take ${counted(needs, "byte")}, and there are ${size}`;
        const [few, many] = [Math.min(needs, size), Math.max(needs, size)];
        if (!few || ![2, 4, 8].includes(many / few)) return { means };
        return { means: `${means}: a dtype of ${size === few ? "1/" : ""}${many / few} times the size would explain it` };
      },
    },
  ]),
  ...taughtBy("06_attention", "Which operand does @ clone?", [
    { title: "inputs of an ONNX node that do not agree", says: [
        "[ShapeInferenceError] Incompatible dimensions", "Dimension mismatch in unification between {a} and {b}",
        "Can't merge shape info.{~}Inferred={a} Declared={b} Dimension={dim}"],
      means: "MatMul needs rows of A as long as columns of B; most others broadcast: sizes are equal, or 1", harm: NOT_RUN,
      cause: "a weight that lies the other way round, or a dim that is missing or too many",
      cure: "onnx.reference.ReferenceEvaluator(model).run(None, inputs) stops at that node, with the numbers",
      decode: ({ a, b, dim }) => (a === undefined ? {}
        : `two shapes have to agree in ${dim === undefined ? "one size" : `dim ${dim}`}: it is ${a} in one, ${b} in the other`),
    },
  ]),
  ...taughtBy("04_channels_last", "Gradients", [
    { title: "a gradient laid out unlike its bucket", says: [
        "Grad strides do not match bucket view strides{~}grad.sizes() = {shape,}, strides() = {ours,}{~}bucket_view.sizes() = " +
          "{bucket,}, strides() = {theirs,}",
        "Grad strides do not match bucket view strides"],
      means: "DDP keeps gradients in one buffer, in the order of the parameters; this one arrived in another order",
      harm: "at most in time: the strides at its end decide; paste the whole message",
      cause: "a model that became channels-last after DDP had wrapped it; or the weight of a 1x1 convolution",
      cure: "give the model its memory format before DDP wraps it, and keep it",
      decode({ shape, ours, theirs }) {
        if (!shape) return "";
        const fits = [ours, theirs].every((stride) => stride?.length === shape.length && stride.every((n) => n >= 0));
        if (!fits || shape.some((n) => n < 0) || whyNotCounted({ shape, stride: ours, storage_offset: 0 })) return {};
        const dims = apart(ours, theirs);
        const where = dims.length ? dimsOf(dims) : "no dim";
        if (shape.includes(0))
          return { means: `a gradient of shape ${tuple(shape)} has no elements`, harm: "no: there is nothing to copy", cure: "nothing has to be done" };
        if (dims.every((d) => shape[d] === 1))
          return {
            means: `the strides ${tuple(ours)} and ${tuple(theirs)} differ only where no index takes a step (${where} of sizes ` +
              `${tuple(shape)}): every element has the same address in both`,
            harm: "no: same addresses, harmless", cure: "nothing has to be done",
          };
        return {
          means: `the gradient has strides ${tuple(ours)}, DDP's bucket ${tuple(theirs)}: they differ in ${where}, so elements lie elsewhere`,
          harm: `in time: each step copies ${counted(numel({ shape }), "element")} in another order`,
        };
      },
    }, { title: "a process with other strides",
      says: ["appears not to match strides of the same param in process 0", "appears not to match sizes of the same param in process 0"],
      means: "DDP sends bytes as they lie, so a parameter has one shape and one memory order in all processes",
      harm: "no: DDP refuses, before processes would read each other's elements at wrong places",
      cause: "a model that is channels-last in one process only, or built with other sizes",
      cure: "build the model in the same way in each process",
    }, { title: "tensors of other sizes, gathered", says: [
        "invalid tensor size at index {n} (expected {want,}, got {got,})", "Split sizes doesn't match total dim 0 size",
        "output tensor size must be equal to world_size times input tensor size",
        "input tensor must be the same size as output size times world size"],
      means: "each process sends as many elements as the others expect", harm: "no: the process group refuses",
      cause: "a smaller last batch, or sequences of different lengths", cure: `pad to one size, or use all_gather_object; ${LOOK}`,
      decode: ({ want, got, n }) => (want ? `tensor ${n} of the list has shape ${tuple(got)}, and ${tuple(want)} arrives` +
        (same([...got].sort(), [...want].sort()) ? ": the same sizes in another order" : "") : ""),
    },
  ]),
];
