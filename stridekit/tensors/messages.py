"""What errors and warnings about layouts mean: a family of messages has a pattern, words, and a decoder.

Patterns are matched against text whose whitespace is single spaces. In a pattern `<a>` is a number, and
`<a,>` several with commas between them. Words may have slots for the groups of the pattern; a decoder says
what takes arithmetic on the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from stridekit.tensors import decoders


class Family(NamedTuple):
    """Messages that mean the same. `lesson` is the notebook that teaches why."""

    title: str
    pattern: str
    means: str
    harm: str
    cause: str
    cure: str
    lesson: str
    decode: Callable[[decoders.Found], decoders.Words] | None = None

    @property
    def regex(self) -> str:
        """The pattern, its numbers written out."""
        one = re.sub(r"(?<!P)<(\w+)>", r"(?P<\1>\\d+)", self.pattern)
        return re.sub(r"<(\w+),>", r"(?P<\1>[-\\d, ]{0,600})", one)


# What most refusals do.
_REFUSED = "no: torch refuses, and nothing has changed"
_REFUSED_ANYWHERE = "no: it is refused, and nothing has changed"
_NOT_RUN = "no: onnx refuses, and nothing has run"
_NODE = r"(?:\(op_type:[^)]{1,99}\): )?\[ShapeInferenceError\] "
_VIEWED_SHAPE = "a size computed from another tensor, or the smaller last batch of an epoch"

FAMILIES = (
    Family(
        "a view of dims that do not merge",
        "view size is not compatible with input tensor's size and stride",
        "view never copies, and no stride gives the new shape: it joins dims that are not evenly "
        "spaced in memory",
        _REFUSED,
        "a transpose, permute, expand or slice in front of the view",
        "x.reshape(shape), which copies where it has to; explain_view(x, shape) says which dims, and "
        "how many bytes",
        "03_contiguity",
    ),
    Family(
        "a shape for another number of elements",
        r"shape '\[<shape,>\]' is invalid for input of size <numel>",
        "",
        _REFUSED,
        _VIEWED_SHAPE,
        "",
        "03_contiguity",
        decoders.shape,
    ),
    Family(
        "an array's shape for another number of elements",
        r"cannot reshape array of size <numel> into shape \((?P<shape>(?:[-\d, ]|newaxis){0,600})\)",
        "",
        "no: NumPy refuses, and nothing has changed",
        _VIEWED_SHAPE,
        "",
        "03_contiguity",
        decoders.array_shape,
    ),
    Family(
        "sizes that do not multiply to the dim",
        r"Provided sizes \[<sizes,>\] don't multiply up to the size of dim <dim> \(<size>\)",
        "unflatten cuts dim {dim}, of size {size}, into [{sizes}]: their product has to be {size}",
        _REFUSED,
        "a number of heads or groups that does not divide the size",
        "one of the sizes may be -1, which torch computes",
        "03_contiguity",
    ),
    Family(
        "a new shape in place that would need a copy",
        "[Ii]ncompatible shape for (?:a non-contiguous array|in-place modification)",
        "a.shape = ... changes shape and strides and moves nothing; no strides give that shape here",
        "no: NumPy refuses, and nothing has changed",
        "a transposed or sliced array",
        "a.reshape(shape), which copies where it has to",
        "03_contiguity",
    ),
    Family(
        "an array that runs backwards",
        "At least one stride in the given numpy array is negative",
        "the array has a negative stride, as a[::-1] and np.flip make it; torch's strides are 0 or more",
        _REFUSED,
        "a flip in NumPy, or an image library that mirrors pictures or swaps colours with a slice",
        "torch.from_numpy(a.copy()), or torch.flip after the conversion: both copy",
        "01_strides",
    ),
    Family(
        "a slice that runs backwards",
        "step must be greater than zero|Negative strides are not supported at the moment",
        "torch has no negative strides, so what x[::-1] asks for cannot be a view",
        _REFUSED,
        "NumPy's way of flipping, or as_strided with a negative stride",
        "x.flip(0), a copy",
        "01_strides",
    ),
    Family(
        "a tensor on a read-only array",
        "(?:NumPy array|buffer) is not writable, and PyTorch does not support non-writable tensors",
        "the tensor shares the array's memory, and torch will not keep you from writing to it",
        "only if you write: the array's owner then sees it, or the process crashes (a file mapped "
        "read-only)",
        "a broadcast or read-only array, np.frombuffer of bytes, or a file mapped read-only",
        "torch.from_numpy(a.copy()) or torch.tensor(a), if you mean to write",
        "02_views",
    ),
    Family(
        "a write to a read-only array",
        "assignment destination is read-only|output array is read-only",
        "the array's memory belongs to something that may not change, or several indices share an "
        "element",
        "no: NumPy refuses, and nothing has changed",
        "np.broadcast_to, np.frombuffer of bytes, or a file mapped read-only",
        "a = a.copy() before the write",
        "02_views",
    ),
    Family(
        "a write to elements that share memory",
        "more than one element of the written-to tensor refers to a single memory location",
        "a stride of 0 gives several indices one address, so a write to one would change the others; "
        "torch notices only strides of 0, not the overlapping windows of unfold",
        _REFUSED,
        "expand or broadcast_to in front of an operation in place",
        "x = x.clone() (or .contiguous()) before the write; memset(x) and has_internal_overlap(x) tell",
        "02_views",
    ),
    Family(
        "a write to memory that is still read",
        "some elements of the input tensor and the written-to tensor refer to a single memory location",
        "input and output overlap without being the same: some elements would be read after they "
        "had been overwritten",
        _REFUSED,
        "a shift within one tensor, as in x[1:] += x[:-1], or an out= that is a view of the input",
        "clone the input: x[1:] += x[:-1].clone(); relation(y, x) draws the overlap",
        "02_views",
    ),
    Family(
        "a layout that leaves its storage",
        r"setStorage: sizes \[<sizes,>\], strides \[<strides,>\], storage offset <offset>, and itemsize "
        "<itemsize> requiring a storage size of <needs> are out of bounds for storage of size <size>",
        "{needs} bytes are needed, the storage has {size}",
        _REFUSED,
        "as_strided with a size, stride or storage_offset that is too large: they count elements, "
        "not bytes",
        "smaller sizes, or a smaller storage_offset: Layout(size, stride, offset).span says which "
        "elements it reaches",
        "01_strides",
        decoders.out_of_bounds,
    ),
    Family(
        "storage that is not torch's to resize",
        "Trying to resize storage that is not resizable",
        "the memory belongs to an array, a file or another process, so torch cannot make it larger",
        _REFUSED,
        "resize_ or out= on a tensor made by from_numpy or frombuffer",
        "x = x.clone() first, or let the operation make its own result",
        "02_views",
    ),
    Family(
        "floats that make no complex numbers",
        "Tensor must have a (?P<what>last dimension of size 2|last dimension with stride 1|"
        "storage_offset divisible by 2|stride divisible by 2 for all but last dimension)",
        "",
        _REFUSED,
        "view_as_complex (rotary embeddings, spectra) of halves, of a transpose or of a slice",
        "",
        "06_attention",
        decoders.pairs,
    ),
    Family(
        "a dtype of another size",
        r"self\.(?:stride\(-1\) must be 1|(?P<what>size\(-1\)|stride\(\d+\)|storage_offset\(\)) must be "
        r"divisible by (?P<ratio>[1-9]\d*)) to view (?P<old>\w+) as (?P<new>\w+) "
        r"\(different element sizes\), but got <got>",
        "",
        _REFUSED,
        "x.view(dtype) of a transpose, of a slice, or of a last dim that does not divide",
        "",
        "01_strides",
        decoders.dtype_view,
    ),
    Family(
        "an array's dtype of another size",
        "To change to a dtype of a different size, the last axis must be contiguous",
        "an array's bytes can be read as another dtype only where its last dim has no gaps",
        "no: NumPy refuses, and nothing has changed",
        "a.view(dtype) of a transpose or of a slice with a step",
        "np.ascontiguousarray(a).view(dtype), a copy",
        "01_strides",
    ),
    Family(
        "a size that does not expand",
        r"The expanded size of the tensor \(<wanted>\) must match the existing size \(<size>\) at "
        "non-singleton dimension <dim>",
        "",
        _REFUSED,
        "dims counted from the left; expand counts from the last one, as broadcasting does; or x[i] = y, "
        "which expands y",
        "x.unsqueeze(dim) where a size of 1 is missing, or x.repeat(...) for a multiple, which copies; in "
        "x[i] = y a y of the shape of x[i]",
        "01_strides",
        decoders.expanded,
    ),
    Family(
        "a size for too few dims",
        r"the number of sizes provided \(<sizes>\) must be greater or equal to the number of dimensions "
        r"in the tensor \(<dims>\)",
        "expand may add dims in front and keeps the {dims} that are there: it got {sizes}",
        _REFUSED,
        "a dim that was meant to disappear: expand drops none; or x[i] = y, which expands y",
        "write them all: -1 keeps a size, as in x.expand(5, -1, -1); in x[i] = y a y of the shape of x[i]",
        "01_strides",
    ),
    Family(
        "shapes that do not broadcast",
        r"The size of tensor a \(<a>\) must match the size of tensor b \(<b>\) at non-singleton "
        "dimension <dim>",
        "shapes are compared from the last dim on: in dim {dim} of the result a has {a} and b has "
        "{b}, and neither is 1",
        _REFUSED,
        "a dim that is missing in the middle: (N, 1) became (N,), or a reduction without keepdim=True",
        "x.unsqueeze(dim) or x[:, None], a view, where the size of 1 belongs",
        "01_strides",
    ),
    Family(
        "arrays that do not broadcast",
        r"(?:operands could not be broadcast together with shapes |could not broadcast input array from "
        r"shape )(?P<shapes>\([\d,]*\)(?: (?:into shape )?\([\d,]*\)){1,30})",
        "a[...] = b broadcasts b alone: it needs no more dims than a[...], nor a size where that has 1",
        "no: NumPy refuses, and nothing has changed",
        "a dim that is missing in the middle: (N, 1) became (N,), or a reduction without keepdims=True",
        "a[:, None], a view, where the size of 1 belongs",
        "01_strides",
        decoders.broadcast,
    ),
    Family(
        "a result that does not fit in place",
        "output (?:operand )?with shape .<shape,>. doesn't match the broadcast shape .<wanted,>.",
        "the result has shape [{wanted}], its place [{shape}], and an operation in place changes no shape",
        _REFUSED_ANYWHERE,
        "x += y with a y that has more dims, or a size where x has 1",
        "x = x + y, which makes a new tensor",
        "01_strides",
    ),
    Family(
        "a permutation of other dims",
        r"(?:Invalid attribute perm|Inconsistent permutation) .<perm,>.,? (?:input|with) shape (?:= )?."
        r"<shape,>.|ordering of dimensions i\.e\. input\.dim\(\) = <dims> is not equal to len\(dims\) = "
        "<named>|axes don't match array",
        "a permutation names each dim once, and the tensor has another number of them",
        _REFUSED_ANYWHERE,
        "a missing batch or channel dim",
        "name all dims, from 0 on; for the last two alone torch has x.mT, NumPy a.swapaxes(-1, -2)",
        "01_strides",
        decoders.permuted,
    ),
    Family(
        "matrices that do not multiply",
        r"mat1 and mat2 shapes cannot be multiplied \(<a>x<b> and <c>x<d>\)",
        "",
        _REFUSED,
        "features in a dim other than the last, a flatten too early or too late, or a weight that lies "
        "the other way round",
        "bring the features to the last dim; nn.Linear(n, ...) takes (..., n)",
        "06_attention",
        decoders.product,
    ),
    Family(
        "a matrix and a vector that do not multiply",
        r"size mismatch, got input \(\d+\), mat \(<rows>x<columns>\), vec \(<size>\)",
        "the rows of the matrix have {columns} elements, the vector has {size}: they have to agree",
        _REFUSED,
        "a matrix that lies the other way round, or a vector that is a batch of something else",
        "m.t() @ v, a view, if the matrix has as many rows as the vector has elements",
        "01_strides",
    ),
    Family(
        "batches of matrices that do not multiply",
        r"Expected size for first two dimensions of batch2 tensor to be: \[<batch>, <inner>\] but got: "
        r"\[<got_batch>, <got>\]",
        "the first operand has {batch} matrices with rows of {inner}, the second {got_batch} with "
        "columns of {got}",
        _REFUSED,
        "k where its transpose belongs, as in q @ k, or batches that differ",
        "q @ k.mT: .mT exchanges the last two dims, a view",
        "06_attention",
    ),
    Family(
        "channels-last for another number of dims",
        "required rank (?P<rank>[45]) tensor to use (?P<format>channels_last(?:_3d)?) format",
        "",
        _REFUSED,
        "an image without its batch dim",
        "x.unsqueeze(0) first: a batch of one",
        "04_channels_last",
        decoders.channels_last,
    ),
    Family(
        "a gradient laid out unlike its bucket",
        r"Grad strides do not match bucket view strides(?:.{0,400}?grad\.sizes\(\) = \[<sizes,>\], "
        r"strides\(\) = \[<strides,>\] bucket_view\.sizes\(\) = \[<bucket_sizes,>\], "
        r"strides\(\) = \[<bucket_strides,>\])?",
        "DDP keeps gradients in one buffer, in the order of the parameters; this one arrived in "
        "another order",
        "at most in time: the strides at its end decide; paste the whole message",
        "a model that became channels-last after DDP had wrapped it; or the weight of a 1x1 convolution",
        "give the model its memory format before DDP wraps it, and keep it",
        "04_channels_last",
        decoders.grad_strides,
    ),
    Family(
        "strides that a compiled function did not expect",
        r"(?P<dims>expected size \d+==\d+, stride \d+==\d+ at dim=\d+"
        r"(?:; expected size \d+==\d+, stride \d+==\d+ at dim=\d+)*)",
        "",
        "no: the check stops before compiled code reads wrong addresses",
        "a custom operation whose fake version promises other strides than the real one returns",
        "let both return the same strides, for example by .contiguous(); torch.library.opcheck "
        "compares them",
        "03_contiguity",
        decoders.compiled,
    ),
    Family(
        "no way to compute attention",
        "No available kernel. Aborting execution.",
        "sdpa_kernel allows only paths that cannot take these layouts, dtypes or masks",
        _REFUSED,
        "a last stride other than 1, sizes of q, k and v that differ, dropout, or a mask on the "
        "flash path",
        "why_no_flash(q, k, v) names the reason; .contiguous() repairs a stride",
        "06_attention",
    ),
    Family(
        "a tensor that changed before its gradient",
        r"modified by an inplace operation: \[(?P<type>[\w.]+) \[<shape,>\]\](?:, which is output \d+ "
        r"of (?P<op>\w+?)(?:Backward\d+)?,)? is at version <found>; expected version <expected>",
        "",
        "no: the alternative would be a wrong gradient",
        "an operation in place (+=, relu_, x[...] = ...) on it or on any view of it: they share one "
        "version counter",
        "write y = y + 1 in place of y += 1; torch.autograd.set_detect_anomaly(True) names the "
        "forward line",
        "02_views",
        decoders.version,
    ),
    Family(
        "a write to one of several views",
        r"Output \d+ of (?P<op>\w+?)(?:Backward\d+)? is a view and (?:is being|its base .{0,40}been) "
        "modified inplace. This view is the output of a function that returns multiple views",
        "{op} returned several views of one tensor, and autograd follows no write to a single one, "
        "nor to all",
        "no: the alternative would be a wrong gradient",
        "an operation in place on a result of split, chunk or unbind, on a row in a for loop over a "
        "tensor, or on the tensor behind them",
        "write a = a + 1 in place of a += 1, or write through an index before you split: x[:2] += 1",
        "02_views",
    ),
    Family(
        "a write to a view that autograd did not make",
        "is a view and is being modified inplace. This view was created inside a custom Function",
        "the custom Function returned a view, or its input; a write to it would bypass its backward",
        _REFUSED,
        "a forward that ends in a view or reshape, and an operation in place behind it",
        "clone what the Function returns: y = y.clone(), or return a clone",
        "02_views",
    ),
    Family(
        "a write to a view that was made without gradients",
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled",
        "autograd did not see the view being made, so it cannot carry a write back to the whole",
        _REFUSED,
        "a slice under torch.no_grad(), written to outside of it",
        "make the view and write to it on the same side of no_grad",
        "02_views",
    ),
    Family(
        "a write to a parameter",
        "a (?P<view>view of a )?leaf Variable that requires grad is being used in an in-place operation",
        "a leaf is where gradients end, so autograd cannot put a write in front of it; a view of it "
        "is its memory",
        _REFUSED,
        "weights that are set or scaled by hand",
        "with torch.no_grad(): around the write",
        "02_views",
    ),
    Family(
        "a tensor of inference mode",
        "Inference tensors cannot be saved for backward|Inplace update to inference tensor outside "
        "InferenceMode",
        "what torch.inference_mode() makes has no version counter, so autograd cannot trust it later",
        _REFUSED,
        "an input or a cache that was made under inference_mode() and is used in training",
        "x.clone() outside of it, or torch.no_grad() in its place",
        "02_views",
    ),
    Family(
        "an array of a tensor with a gradient",
        r"Can't call numpy\(\) on Tensor that requires grad",
        "the array would share the tensor's memory, and autograd could not see writes to it",
        _REFUSED,
        "a result or parameter on its way to a plot",
        "x.detach().numpy(), a view",
        "02_views",
    ),
    Family(
        "tensors that would be saved twice",
        "Some tensors share memory, this will lead to duplicate memory on "
        r"disk[^\[]*\[(?P<names>[^\]]*)\]|no suitable name to keep for saving amongst: (?P<all>\{[^}]*\})",
        "safetensors writes the bytes of each tensor on its own; these share memory: {names}{all}",
        "no: safetensors refuses; saved, they would take twice the bytes, and no longer share when loaded",
        "tied weights, or overlapping slices of one buffer",
        "tied weights: save_model(model, path), which keeps one and notes the other; slices, of which none "
        "holds all of the memory: .clone()",
        "02_views",
    ),
    Family(
        "a tensor that cannot be saved as it lies",
        "You are trying to save a non contiguous tensor: `(?P<name>[^`]*)`",
        "safetensors stores rows one after the other, without strides; {name} lies otherwise",
        "no: safetensors refuses",
        "a transposed weight, a slice of a larger one, or a model in channels-last",
        "{name}.contiguous() before you save, which also leaves the rest of its storage behind",
        "03_contiguity",
    ),
    Family(
        "a dim that does not divide into groups",
        "can't divide axis of length <size> in chunks of <chunk>",
        "einops has to cut a dim of {size} into rows of {chunk}, and {chunk} does not divide {size}",
        "no: einops refuses",
        "a wrong size, or names in brackets in the wrong order",
        "print the shape; in (a b), b is the inner, faster one",
        "03_contiguity",
    ),
    Family(
        "a pattern for another number of dims",
        "Wrong shape: expected <wanted> dims. Received <got>-dim tensor",
        "the left side of the pattern names {wanted} dims, the tensor has {got}",
        "no: einops refuses",
        "a missing batch or channel dim",
        'name them all, or write "..." for the rest',
        "03_contiguity",
    ),
    Family(
        "an ONNX tensor that its values do not fill",
        r"Number of values \(<values>\) does not match tensor dimensions requiring <numel> elements|Raw "
        r"data size does not match tensor's size\. Expected <needs> bytes, but got <size> bytes|raw_data "
        r"size \(<kept> bytes\) is too small for the declared shape and type \(<asked> bytes required\)",
        "",
        "no: onnx refuses",
        "a shape written by hand, or float64, NumPy's default, declared as FLOAT",
        "numpy_helper.from_array(a) takes shape and dtype from the array; a.astype(np.float32) before it",
        "01_strides",
        decoders.stored,
    ),
    Family(
        "a declared shape that the graph does not give",
        rf"{_NODE}Inferred shape and existing shape differ in (?:rank|dimension <dim>): \(<inferred>\) vs "
        r"\(<declared>\)",
        "",
        _NOT_RUN,
        "a graph edited after its shapes had been written into it: another batch size, another node",
        "del model.graph.value_info[:] and infer_shapes(model) again; correct a wrong output by hand",
        "03_contiguity",
        decoders.declared,
    ),
    Family(
        "a Reshape with a -1 that fits nothing",
        f"{_NODE}Dimension could not be inferred: incompatible shapes",
        "-1 stands for the number of elements divided by the other sizes: here that is no whole number",
        _NOT_RUN,
        "sizes that became constants when the model was exported, and an input of another size",
        "onnx.reference.ReferenceEvaluator(model).run(None, inputs) stops at that node, with the numbers",
        "03_contiguity",
    ),
    Family(
        "inputs of an ONNX node that do not agree",
        _NODE + r"(?:Incompatible dimensions|Dimension mismatch in unification between <a> and <b>|"
        r"Can't merge shape info\..{0,99} Inferred=<c> Declared=<d> Dimension=<dim>)",
        "MatMul needs rows of A as long as columns of B; most others broadcast: sizes are equal, or 1",
        _NOT_RUN,
        "a weight that lies the other way round, or a dim that is missing or too many",
        "onnx.reference.ReferenceEvaluator(model).run(None, inputs) stops at that node, with the numbers",
        "06_attention",
        decoders.disagreement,
    ),
)
