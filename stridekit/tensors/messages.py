"""What errors and warnings about layouts mean: a family of messages has a pattern, words, and a decoder.

Patterns are matched against text whose whitespace is single spaces. Words may have slots for the groups
of the pattern; a decoder says in their place what takes arithmetic on the numbers of the message.
"""

from __future__ import annotations

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


# What most refusals do.
_REFUSED = "no: torch refuses, and nothing has changed"
_VIEWED_SHAPE = (
    "a size was computed from another tensor, or the batch of the last step of an epoch is smaller"
)

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
        r"shape '\[(?P<shape>[-\d, ]{0,600})\]' is invalid for input of size (?P<numel>\d+)",
        "",
        _REFUSED,
        _VIEWED_SHAPE,
        "",
        "03_contiguity",
        decoders.shape,
    ),
    Family(
        "an array's shape for another number of elements",
        r"cannot reshape array of size (?P<numel>\d+) into shape \((?P<shape>[-\d, ]{0,600})\)",
        "",
        "no: NumPy refuses, and nothing has changed",
        _VIEWED_SHAPE,
        "",
        "03_contiguity",
        decoders.shape,
    ),
    Family(
        "sizes that do not multiply to the dim",
        r"Provided sizes \[(?P<sizes>[-\d, ]{0,600})\] don't multiply up to the size of dim (?P<dim>\d+) "
        r"\((?P<size>\d+)\)",
        "unflatten cuts dim {dim}, of size {size}, into [{sizes}]: their product has to be {size}",
        _REFUSED,
        "a number of heads or groups that does not divide the size",
        "one of the sizes may be -1, which torch computes",
        "03_contiguity",
    ),
    Family(
        "a new shape in place that would need a copy",
        r"[Ii]ncompatible shape for (?:a non-contiguous array|in-place modification)",
        "a.shape = ... changes shape and strides and moves nothing; no strides give that shape here",
        "no: NumPy refuses, and nothing has changed",
        "a transposed or sliced array",
        "a.reshape(shape), which copies where it has to",
        "03_contiguity",
    ),
    Family(
        "an array that runs backwards",
        "At least one stride in the given numpy array is negative",
        "the array has a negative stride, as a[::-1] and np.flip make; torch's strides are 0 or more",
        _REFUSED,
        "a flip of NumPy, or an image library that turns pictures or exchanges colours by a slice",
        "torch.from_numpy(a.copy()), or torch.flip behind it: both copy",
        "01_strides",
    ),
    Family(
        "a slice that runs backwards",
        "step must be greater than zero|Negative strides are not supported at the moment",
        "torch has no negative strides, so what x[::-1] asks for cannot be a view",
        _REFUSED,
        "NumPy's way to flip, or as_strided with a negative stride",
        "x.flip(0), a copy",
        "01_strides",
    ),
    Family(
        "an array that must not be written",
        "(?:NumPy array|buffer) is not writable, and PyTorch does not support non-writable tensors",
        "the tensor shares the array's memory, and torch will not keep you from writing to it",
        "only if you write: then the array's owner sees it, or the process crashes (a file mapped to "
        "read)",
        "a broadcast or read-only array, np.frombuffer of bytes, or a file mapped to read",
        "torch.from_numpy(a.copy()) or torch.tensor(a), if you will write",
        "02_views",
    ),
    Family(
        "a write to an array that must not be written",
        "assignment destination is read-only|output array is read-only",
        "the array's memory belongs to something that may not change, or several indices share an "
        "element",
        "no: NumPy refuses, and nothing has changed",
        "np.broadcast_to, np.frombuffer of bytes, or a file mapped to read",
        "a = a.copy(), then write",
        "02_views",
    ),
    Family(
        "a write to elements that share memory",
        "more than one element of the written-to tensor refers to a single memory location",
        "the tensor written to has internal overlap: a stride of 0 gives several indices one address; "
        "overlapping windows, as of unfold, torch does not notice",
        _REFUSED,
        "expand or broadcast_to in front of an operation in place",
        "x = x.clone() (or .contiguous()) before the write; memset(x) and has_internal_overlap(x) tell",
        "02_views",
    ),
    Family(
        "a write to memory that is still read",
        "some elements of the input tensor and the written-to tensor refer to a single memory location",
        "input and output overlap without being the same: some elements would be read after they "
        "were overwritten",
        _REFUSED,
        "a shift within one tensor, as x[1:] += x[:-1], or out= given a view of the input",
        "clone the input: x[1:] += x[:-1].clone(); relation(y, x) draws the overlap",
        "02_views",
    ),
    Family(
        "a layout that leaves its storage",
        r"setStorage: sizes \[(?P<sizes>[-\d, ]{0,600})\], strides \[(?P<strides>[-\d, ]{0,600})\], "
        r"storage offset (?P<offset>\d+), and itemsize (?P<itemsize>\d+) requiring a storage size of (?P<needs>\d+) are out of bounds "
        r"for storage "
        r"of size (?P<size>\d+)",
        "{needs} bytes are needed, the storage has {size}",
        _REFUSED,
        "as_strided with a size, stride or storage_offset that is too large; counted in elements, "
        "not in bytes",
        "smaller sizes, or a smaller storage_offset: Layout(size, stride, offset).span says which "
        "elements are reached",
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
        r"Tensor must have a (?P<what>last dimension of size 2|last dimension with stride 1"
        r"|storage_offset divisible by 2|stride divisible by 2 for all but last dimension)",
        "",
        _REFUSED,
        "view_as_complex (rotary embeddings, spectra) of halves, of a transpose or of a slice",
        "",
        "06_attention",
        decoders.pairs,
    ),
    Family(
        "a dtype of another size",
        r"self\.(?P<what>size\(-1\)|stride\(-?\d+\)|storage_offset\(\)) must be (?:divisible by "
        r"(?P<ratio>\d+)|1) "
        r"to view (?P<old>\w+) as (?P<new>\w+) \(different element sizes\), but got (?P<got>\d+)",
        "",
        _REFUSED,
        "x.view(dtype) of a transpose, a slice, or of an odd number of elements",
        "",
        "01_strides",
        decoders.dtype_view,
    ),
    Family(
        "an array's dtype of another size",
        "To change to a dtype of a different size, the last axis must be contiguous",
        "an array's bytes can be read as another dtype only where its last dim lies without gaps",
        "no: NumPy refuses, and nothing has changed",
        "a.view(dtype) of a transpose or of a slice with a step",
        "np.ascontiguousarray(a).view(dtype), a copy",
        "01_strides",
    ),
    Family(
        "a size that does not expand",
        r"The expanded size of the tensor \((?P<wanted>\d+)\) must match the existing size "
        r"\((?P<size>\d+)\) at "
        r"non-singleton dimension (?P<dim>\d+)",
        "",
        _REFUSED,
        "dims counted from the left; expand counts from the last one, as broadcasting does",
        "x.unsqueeze(dim) where a size of 1 is missing, or x.repeat(...), which copies",
        "01_strides",
        decoders.expanded,
    ),
    Family(
        "a size for too few dims",
        r"the number of sizes provided \((?P<sizes>\d+)\) must be greater or equal to the number of "
        r"dimensions in "
        r"the tensor \((?P<dims>\d+)\)",
        "expand may add dims in front, but keeps the {dims} that are there: it got {sizes}",
        _REFUSED,
        "a dim that was to go away",
        "write them all: -1 keeps a size, as in x.expand(5, -1, -1)",
        "01_strides",
    ),
    Family(
        "shapes that do not broadcast",
        r"The size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\) at "
        r"non-singleton "
        r"dimension (?P<dim>\d+)",
        "shapes are compared from the last dim on: in dim {dim} of the result a has {a} and b has "
        "{b}, and neither is 1",
        _REFUSED,
        "a dim that is missing in the middle: (N, 1) became (N,), or a reduction without keepdim=True",
        "x.unsqueeze(dim) or x[:, None], a view, where the size of 1 belongs",
        "01_strides",
    ),
    Family(
        "matrices that do not multiply",
        r"mat1 and mat2 shapes cannot be multiplied \((?P<a>\d+)x(?P<b>\d+) and (?P<c>\d+)x(?P<d>\d+)\)",
        "",
        _REFUSED,
        "features in another dim than the last, a flatten too early or too late, or a weight that lies "
        "the other way round",
        "bring the features to the last dim; nn.Linear(n, ...) takes (..., n)",
        "06_attention",
        decoders.product,
    ),
    Family(
        "a matrix and a vector that do not multiply",
        r"size mismatch, got input \(\d+\), mat \((?P<rows>\d+)x(?P<columns>\d+)\), vec "
        r"\((?P<size>\d+)\)",
        "the rows of the matrix have {columns} elements, the vector has {size}: they have to agree",
        _REFUSED,
        "a matrix that lies the other way round, or a vector that is a batch of something else",
        "m.t() @ v, a view, if the matrix has as many rows as the vector has elements",
        "01_strides",
    ),
    Family(
        "batches of matrices that do not multiply",
        r"Expected size for first two dimensions of batch2 tensor to be: \[(?P<batch>\d+), "
        r"(?P<inner>\d+)\] but got: "
        r"\[(?P<got_batch>\d+), (?P<got>\d+)\]",
        "the first operand has {batch} matrices with rows of {inner}, the second {got_batch} with "
        "columns of {got}",
        _REFUSED,
        "k where its transpose belongs, as in q @ k, or batches that differ",
        "q @ k.mT: .mT exchanges the last two dims, a view",
        "06_attention",
    ),
    Family(
        "channels-last for another number of dims",
        r"required rank (?P<rank>[45]) tensor to use (?P<format>channels_last(?:_3d)?) format",
        "",
        _REFUSED,
        "a picture without its batch",
        "x.unsqueeze(0) first: a batch of one",
        "04_channels_last",
        decoders.channels_last,
    ),
    Family(
        "a gradient that lies otherwise than its bucket",
        r"Grad strides do not match bucket view strides(?:.{0,400}?grad\.sizes\(\) = \[(?P<sizes>[\d, "
        r"]*)\], "
        r"strides\(\) = \[(?P<strides>[\d, ]{0,600})\] bucket_view\.sizes\(\) = \[[\d, ]{0,600}\], "
        r"strides\(\) = \[(?P<bucket_strides>[\d, ]{0,600})\])?",
        "DDP keeps gradients in one buffer, in the order of the parameters; this one arrived in "
        "another order",
        "in time at most: it depends on the strides behind the message; paste those lines too",
        "a model that became channels-last after DDP had wrapped it; or the weight of a 1x1 convolution",
        "give the model its memory format before DDP wraps it, and keep it",
        "04_channels_last",
        decoders.grad_strides,
    ),
    Family(
        "strides that a compiled function did not count on",
        r"(?P<dims>expected size \d+==\d+, stride \d+==\d+ at dim=\d+"
        r"(?:; expected size \d+==\d+, stride \d+==\d+ at dim=\d+)*)",
        "",
        "no: the check stops before compiled code reads wrong addresses",
        "a custom operation whose fake version promises other strides than the real one returns",
        "let both return the same strides, for example .contiguous(); torch.library.opcheck compares "
        "them",
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
        "why_no_flash(q, k, v) names the reason; .contiguous() mends a stride",
        "06_attention",
    ),
    Family(
        "a tensor that changed before its gradient",
        r"modified by an inplace operation: \[(?P<type>[\w.]+) \[(?P<shape>[\d, ]{0,600})\]\](?:, which is "
        r"output \d+ of "
        r"(?P<op>\w+),)? is at version (?P<found>\d+); expected version (?P<expected>\d+)",
        "",
        "no: the alternative would be a wrong gradient",
        "an operation in place (+=, relu_, x[...] = ...) on it, "
        "or on any view of it: all of them count one version",
        "write y = y + 1 for y += 1; torch.autograd.set_detect_anomaly(True) names the forward line",
        "02_views",
        decoders.version,
    ),
    Family(
        "a write to one of several views",
        r"Output \d+ of (?P<op>\w+) is a view and (?:is being|its base or another view of its base "
        r"has been) "
        "modified inplace. This view is the output of a function that returns multiple views",
        "{op} returned several views of one tensor, and autograd follows no write to a single one, "
        "nor to all",
        "no: the alternative would be a wrong gradient",
        "an operation in place on a result of split, chunk or unbind, in a for loop over a tensor, or on "
        "the tensor behind them",
        "a = a + 1 for a += 1, or write through an index before you split: x[:2] += 1",
        "02_views",
    ),
    Family(
        "a write to a view that autograd did not make",
        r"is a view and is being modified inplace. This view was created inside a custom Function",
        "the custom Function returned a view, or its input; a write would go around its backward",
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
        r"a (?P<view>view of a )?leaf Variable that requires grad is being used in an in-place operation",
        "a leaf is where gradients end, so autograd cannot put a write in front of it; a view of it "
        "is its memory",
        _REFUSED,
        "setting or scaling weights by hand",
        "with torch.no_grad(): around the write",
        "02_views",
    ),
    Family(
        "a tensor of inference mode",
        r"Inference tensors cannot be saved for backward|Inplace update to inference tensor outside "
        r"InferenceMode",
        "what torch.inference_mode() makes counts no versions, so autograd cannot trust it later",
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
        r"Some tensors share memory, this will lead to duplicate memory on "
        r"disk[^\[]*\[(?P<names>[^\]]*)\]",
        "safetensors writes the bytes of each tensor on its own; these share memory: {names}",
        "no: safetensors refuses; saved, they would take their bytes twice, and be apart when loaded",
        "tied weights, or slices of one buffer",
        "save_model(model, path), which keeps one and notes the other, or .clone() "
        "where they should part",
        "02_views",
    ),
    Family(
        "a tensor that is not saved as it lies",
        r"You are trying to save a non contiguous tensor: `(?P<name>[^`]*)`",
        "safetensors stores rows one after the other, without strides; {name} lies otherwise",
        "no: safetensors refuses",
        "a transposed weight, or a slice of a larger one",
        "{name}.contiguous() before you save, which also leaves the rest of its storage behind",
        "03_contiguity",
    ),
    Family(
        "a dim that does not divide into groups",
        r"can't divide axis of length (?P<size>\d+) in chunks of (?P<chunk>\d+)",
        "einops has to split a dim of {size} into rows of {chunk}, and {chunk} does not divide {size}",
        "no: einops refuses",
        "a size in brackets, or the order of names in it",
        "print the shape; in (a b), b is the inner, faster one",
        "03_contiguity",
    ),
    Family(
        "a pattern for another number of dims",
        r"Wrong shape: expected (?P<wanted>\d+) dims. Received (?P<got>\d+)-dim tensor",
        "the left side of the pattern names {wanted} dims, the tensor has {got}",
        "no: einops refuses",
        "a batch or a channel that is missing",
        'name them all, or write "..." for the rest',
        "03_contiguity",
    ),
)
