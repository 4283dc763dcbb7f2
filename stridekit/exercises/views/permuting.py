"""E3: shape and stride after permute."""

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints, row_major  # noqa: F401 (for mistakes)
from stridekit.exercises.readers.answers import read_parts
from stridekit.exercises.watch import without_a_tensor


@exercise(
    title="shape and stride after permute",
    read=read_parts("shape", "stride"),
    means=without_a_tensor("Layout"),
    cases=[
        "shape, stride = (4, 6), (6, 1)\ndims = (1, 0)",
        "shape, stride = (4, 6), (6, 1)\ndims = (0, 1)",
        # the layout of torch.empty(2, 3, 4)
        "shape, stride = (2, 3, 4), (12, 4, 1)\ndims = (0, 2, 1)",
        "shape, stride = (2, 3, 4), (12, 4, 1)\ndims = (1, 2, 0)",
        "shape, stride = (2, 3, 4), (12, 4, 1)\ndims = (2, 0, 1)",
        # the layout of torch.empty(4, 5, 8)[1:, :, :4:2]
        "shape, stride = (3, 5, 2), (40, 8, 2)\ndims = (1, 2, 0)",
        "shape, stride = (3, 5, 2), (40, 8, 2)\ndims = (2, 1, 0)",
        # other layouts
        "shape, stride = (6, 4), (1, 6)\ndims = (1, 0)",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)\ndims = (0, 2, 3, 1)",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)\ndims = (0, 3, 1, 2)",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)\ndims = (1, 2, 3, 0)",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)\ndims = (2, 0, 3, 1)",
        "shape, stride = (3, 3, 3), (9, 3, 1)\ndims = (1, 2, 0)",
        "shape, stride = (1, 2, 3, 4), (24, 12, 4, 1)\ndims = (1, 2, 3, 0)",
        "shape, stride = (4, 3), (0, 1)\ndims = (1, 0)",
        "shape, stride = (2, 0, 3), (3, 3, 1)\ndims = (2, 0, 1)",
        "shape, stride = (3, 4, 2), (1, 1, 5)\ndims = (2, 0, 1)",
        "shape, stride = (2, 3, 4), (12, 4, 1)\ndims = (-1, 0, 1)",
        "shape, stride = (2, 3, 4), (12, 4, 1)\ndims = (1, -1, -3)",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)\ndims = (0, -2, -1, 1)",
        "shape, stride = (7,), (2,)\ndims = (0,)",
        "shape, stride = (), ()\ndims = ()",
    ],
    hints=[
        "permute moves nothing in memory. It only lists the dims in another order, and each dim "
        "brings its size and its stride along.",
        "`dims` is read from the result's side: dim d of the result is dim `dims[d]` of x. Which "
        "size and which stride does that dim have?",
        "So `shape[dims[d]]` and `stride[dims[d]]`, for d = 0, 1, 2, … in turn.",
    ],
    otherwise=(
        "Make the tensor with `torch.empty_strided(shape, stride)`, permute it, and look at the "
        "result's dims in turn: which dim of x does each come from?"
    ),
    takeaway="permute lists the dims in another order: sizes and strides travel together.",
)
def permute_layout(
    shape: tuple[int, ...], stride: tuple[int, ...], dims: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and stride of `x.permute(dims)`, without a tensor.

    shape, stride   x's, in elements
    dims            each dim of x once; a negative one counts from the end, as in torch
    return          (shape, stride) of the result, exactly torch's

    Not allowed: `Layout`, and a question to torch such as `stride()`.
    """
    return tuple(shape[d] for d in dims), tuple(stride[d] for d in dims)


def in_place(values: Ints, dims: Ints, swap: bool) -> Ints:
    """Return the values after place k got the value at place dims[k], for each k in turn."""
    changed = list(values)
    for k, d in enumerate(dims):
        replaced = changed[k]
        changed[k] = changed[d]
        if swap:
            changed[d] = replaced
    return tuple(changed)


INVERSE = "sorted(range(len(dims)), key=[d % len(dims) for d in dims].__getitem__)"
permute_layout.exact |= {
    (
        "permute_layout(shape, stride, [range(len(dims)).index(d) for d in dims])",
        "permute_layout(shape, stride, [*map(abs, dims)])",
        "permute_layout(shape, stride, [d + (d < 0) for d in dims])",
    ): (
        "Right as long as no dim is negative. As in any index of Python, -1 is the last dim and "
        "`-n` the first of n."
    ),
}
permute_layout.wrong |= {
    "tuple(stride[d] for d in dims) => row_major([shape[d] for d in dims])": (
        "The shape is right, but your stride is that of a new tensor of this shape. permute moves "
        "no element, so each dim keeps the step that it had: print "
        "`torch.empty(4, 6).t().stride()`."
    ),
    "tuple(stride[d] for d in dims) => dims": (
        "The shape is right, and your stride is `dims` itself. These are numbers of dims. A stride "
        "says how many elements one step passes."
    ),
    "tuple(stride[d] for d in dims) => stride": (
        "The shape is right, and the stride is still x's. If only the sizes change places, an "
        "index steps along the wrong dim."
    ),
    (
        f"stride[d] for d in dims => stride[d] for d in {INVERSE}",
        f"shape[d] for d in dims => shape[d] for d in {INVERSE}",
    ): (
        "One of your two lists is the inverse permutation. The same rule moves the sizes and the "
        "strides."
    ),
    "tuple(stride[d] for d in dims) => tuple(stride[d] for d in dims[::-1])": (
        "The shape is right, and the strides are in the opposite order. A size and its stride "
        "travel together."
    ),
    "tuple(stride[d] for d in dims) => tuple(sorted(stride, reverse=True))": (
        "Your strides come out sorted, the largest first. A permuted tensor may step far along its "
        "last dim."
    ),
    "tuple(shape[d] for d in dims) => shape": (
        "The stride is right, and the shape is still x's. Which of the dims has which size now? A "
        "size and its stride travel together."
    ),
    (
        f"permute_layout(shape, stride, {INVERSE})",
        "permute_layout(shape, stride, [dims.index(d) for d in range(len(dims))])",
        "permute_layout(shape, stride, sorted(range(len(dims)), key=dims.__getitem__))",
    ): (
        "That is the permutation the other way round. The two agree for two dims, and differ for a "
        "cycle of three. Look at `torch.empty(2, 3, 4).permute(1, 2, 0).shape`: where did each "
        "size come from?"
    ),
    "shape, stride": (
        "You return the layout of x. permute moves no element, but it lists the dims in another "
        "order. Which dim of x is dim 0 of the result?"
    ),
    "shape[::-1], stride[::-1]": (
        "You reverse the dims for every `dims`. For three dims, that is one of six permutations."
    ),
    (
        "in_place(shape, dims, True), in_place(stride, dims, True)",
        "in_place(shape, dims, False), in_place(stride, dims, False)",
    ): (
        "You change the lists in place. After the first step they are no longer the lists of x, "
        "and `dims` counts the dims of x. Write to new lists."
    ),
    "permute_layout(shape, stride, [d - 1 for d in dims])": shared.FROM_ZERO.format("dim"),
    "permute_layout(shape, stride, dims[::-1])": (
        "You read `dims` from its end. Begin with `dims[0]`."
    ),
    "permute_layout(shape, stride, dims)[::-1]": (
        "Both are right, in the wrong order: shape, then stride."
    ),
    "tuple(zip(*permute_layout(shape, stride, dims)))": (
        "You return a size and a stride for each dim. The task asks for two tuples: all sizes, "
        "and all strides."
    ),
    "sorted(shape, reverse=True), sorted(stride, reverse=True)": (
        "You sort. permute takes the dims in the order of `dims`, whether they are large or small."
    ),
}
