"""E3 and E4: the view rule by hand, and a shape that a tensor cannot be viewed as."""

from math import prod
from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.contiguity.order import is_contiguous, stepped, steps_evenly
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints
from stridekit.exercises.readers.answers import as_ints, read_stride_of
from stridekit.exercises.running import Arguments, Outcome, Unusable
from stridekit.exercises.watch import without_a_tensor
from stridekit.rules import contiguous_stride  # noqa: F401 (for mistakes)


@exercise(
    title="the stride of a view, or None where there is none",
    read=read_stride_of("new_shape", or_none=True),
    means=without_a_tensor("Layout"),
    cases=[
        # the layout of torch.empty(4, 6)
        "shape, stride, new_shape = (4, 6), (6, 1), (24,)",
        "shape, stride, new_shape = (4, 6), (6, 1), (3, 8)",
        "shape, stride, new_shape = (4, 6), (6, 1), (2, 2, 3, 2)",
        # the layout of torch.empty(4, 8)[:, :6]
        "shape, stride, new_shape = (4, 6), (8, 1), (2, 2, 6)",
        "shape, stride, new_shape = (4, 6), (8, 1), (2, 2, 2, 3)",
        "shape, stride, new_shape = (4, 6), (8, 1), (24,)",
        "shape, stride, new_shape = (4, 6), (8, 1), (2, 12)",
        "shape, stride, new_shape = (4, 6), (8, 1), (8, 3)",
        "shape, stride, new_shape = (4, 6), (8, 1), (4, 3, 2)",
        "shape, stride, new_shape = (4, 6), (8, 1), (4, 6)",
        # the layout of torch.empty(4, 6).t()
        "shape, stride, new_shape = (6, 4), (1, 6), (24,)",
        "shape, stride, new_shape = (6, 4), (1, 6), (3, 2, 4)",
        "shape, stride, new_shape = (6, 4), (1, 6), (6, 2, 2)",
        "shape, stride, new_shape = (6, 4), (1, 6), (4, 6)",
        "shape, stride, new_shape = (6, 4), (1, 6), (6, 4)",
        # the layout of torch.empty(4, 6)[:, ::2]
        "shape, stride, new_shape = (4, 3), (6, 2), (12,)",
        "shape, stride, new_shape = (4, 3), (6, 2), (2, 6)",
        "shape, stride, new_shape = (4, 3), (6, 2), (2, 2, 3)",
        # the layout of torch.empty(4, 6)[::2]
        "shape, stride, new_shape = (2, 6), (12, 1), (2, 2, 3)",
        "shape, stride, new_shape = (2, 6), (12, 1), (12,)",
        "shape, stride, new_shape = (2, 6), (12, 1), (3, 4)",
        # a column
        "shape, stride, new_shape = (4,), (6,), (2, 2)",
        # other layouts
        "shape, stride, new_shape = (12,), (3,), (2, 3, 2)",
        # the layout of torch.empty(2, 3, 4).permute(2, 0, 1)
        "shape, stride, new_shape = (4, 2, 3), (1, 12, 4), (4, 6)",
        "shape, stride, new_shape = (4, 2, 3), (1, 12, 4), (2, 2, 3, 2)",
        "shape, stride, new_shape = (4, 2, 3), (1, 12, 4), (8, 3)",
        "shape, stride, new_shape = (4, 2, 3), (1, 12, 4), (24,)",
        # channels-last
        "shape, stride, new_shape = (2, 3, 2, 2), (12, 1, 6, 3), (2, 3, 4)",
        "shape, stride, new_shape = (2, 3, 2, 2), (12, 1, 6, 3), (6, 4)",
        "shape, stride, new_shape = (2, 3, 2, 2), (12, 1, 6, 3), (2, 12)",
        # the layout of torch.empty(2, 3, 4)[:, :2]
        "shape, stride, new_shape = (2, 2, 4), (12, 4, 1), (2, 8)",
        "shape, stride, new_shape = (2, 2, 4), (12, 4, 1), (4, 4)",
        # the layout of torch.empty(2, 3, 4)[:, :, :2]
        "shape, stride, new_shape = (2, 3, 2), (12, 4, 1), (6, 2)",
        "shape, stride, new_shape = (2, 3, 2), (12, 4, 1), (2, 6)",
        # the layout of torch.empty(3, 3, 3).transpose(0, 1)
        "shape, stride, new_shape = (3, 3, 3), (3, 9, 1), (9, 3)",
        # other layouts
        "shape, stride, new_shape = (4, 4), (1, 4), (16,)",
        "shape, stride, new_shape = (4, 4), (1, 4), (2, 2, 4)",
        # the layout of torch.empty(6).expand(4, 6)
        "shape, stride, new_shape = (4, 6), (0, 1), (2, 2, 6)",
        "shape, stride, new_shape = (4, 6), (0, 1), (24,)",
        # other layouts
        "shape, stride, new_shape = (3, 2, 2), (0, 2, 1), (3, 4)",
        # the layout of torch.empty(1).expand(2, 3)
        "shape, stride, new_shape = (2, 3), (0, 0), (6,)",
        "shape, stride, new_shape = (2, 3), (0, 0), (3, 2)",
        # other layouts
        "shape, stride, new_shape = (4, 1, 6), (6, 99, 1), (24,)",
        "shape, stride, new_shape = (4, 1, 6), (6, 99, 1), (2, 12)",
        "shape, stride, new_shape = (4, 1, 6), (6, 99, 1), (4, 6)",
        "shape, stride, new_shape = (1, 4, 3), (5, 8, 1), (2, 2, 3)",
        "shape, stride, new_shape = (4, 3, 1), (3, 1, 7), (12,)",
        "shape, stride, new_shape = (1, 6, 1), (0, 2, 0), (2, 3)",
        "shape, stride, new_shape = (4, 6), (6, 1), (4, 1, 6)",
        "shape, stride, new_shape = (4, 6), (6, 1), (1, 24, 1)",
        "shape, stride, new_shape = (4, 6), (8, 1), (1, 2, 1, 2, 1, 6, 1)",
        "shape, stride, new_shape = (4, 6), (8, 1), (4, 1, 2, 1, 3)",
        "shape, stride, new_shape = (4, 6), (8, 1), (8, 1, 3)",
        "shape, stride, new_shape = (6, 4), (1, 6), (1, 24)",
        # other layouts
        "shape, stride, new_shape = (), (), (1, 1)",
        "shape, stride, new_shape = (1, 1), (4, 9), ()",
        "shape, stride, new_shape = (), (), ()",
        "shape, stride, new_shape = (0, 3), (7, 2), (3, 0)",
        "shape, stride, new_shape = (3, 0), (2, 5), (0,)",
        "shape, stride, new_shape = (2, 0, 3), (1, 9, 4), (5, 0, 7)",
    ],
    hints=[
        "First collect the chunks, from the last dim to the first: how many elements, and how far "
        "apart? A dim joins the chunk after it where `stride[d] == shape[d + 1] * stride[d + 1]`. "
        "Leave sizes of 1 out before you begin.",
        "Then cut the chunks, again from the end: the last new dim gets the step of the last "
        "chunk, the one before it that step times its size, until the chunk is used up.",
        "Keep the elements that are left in this chunk. A new size that does not divide them "
        "would straddle the boundary: None. When none is left, go on with the next chunk and its "
        "step. Without any element, every stride will do.",
    ],
    otherwise=(
        "Do it on paper: the chunks of shape and stride first, each with its number of elements "
        "and its step. Then cut them into new_shape from the end. Does one new size reach into two "
        "chunks?"
    ),
    takeaway=(
        "Merge what steps evenly, cut it anew, and never across a boundary: that is all of view."
    ),
)
def view_stride(
    shape: tuple[int, ...], stride: tuple[int, ...], new_shape: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The stride of `x.view(new_shape)`, or None where torch refuses; found without a tensor.

    shape, stride   those of x, in elements
    new_shape       a tuple of ints >= 0 that multiply to as many elements; there is no -1 in it
    return          the stride of the view, one int for each new dim, or None. The stride of a
                    new dim of size 1 is free, and so are all where there is no element.

    Not allowed: `Layout`, and a question to torch such as `stride()`.
    """
    if 0 in shape:
        return (1,) * len(new_shape)
    chunks: list[list[int]] = []  # [elements, step] of each, the innermost first
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and chunks and step == chunks[-1][0] * chunks[-1][1]:
            chunks[-1][0] *= size
        elif size != 1:
            chunks.append([size, step])
    new_stride: list[int] = []
    left, step = 1, 1
    for size in reversed(new_shape):
        if left == 1 and size != 1:
            left, step = chunks.pop(0)
        if left % size:
            return None
        new_stride.insert(0, step)
        left //= size
        step *= size
    return tuple(new_stride)


def contiguous(shape: Ints, stride: Ints) -> bool:
    return bool(is_contiguous.reference(shape, stride))


def answer_if(condition: bool, answer: Ints | None) -> Ints | None:
    return answer if condition else None


def is_one_chunk(shape: Ints, stride: Ints) -> bool:
    return steps_evenly(*stepped(shape, stride))


def ends(shape: Ints) -> set[int]:
    """Return for each dim the number of elements in it and the dims after it."""
    return {prod(shape[d:]) for d in range(len(shape))}


view_stride.only |= {
    "0 in shape": (
        "Right wherever there is an element. Without an element, torch makes every view. Return "
        "any stride there."
    ),
    "view_stride(shape, stride, new_shape) is None": (
        "Right wherever torch makes the view. Where it refuses, the answer is None, and nothing "
        "else: that is where a new size does not divide what is left of its chunk."
    ),
    "1 in shape": (
        "Right wherever x has no size of 1. No index steps along such a dim, so it does not break "
        "a chunk. Leave it out before you look for chunks."
    ),
    "1 in new_shape": (
        "Right wherever no new size is 1. A new dim of size 1 straddles nothing, and its stride is "
        "free: put any number there, and go on with the same chunk."
    ),
    "len(new_shape) < len(shape)": (
        "Right wherever the view has as many dims as x, or more. A view can also have fewer dims, "
        "if the dims of x that it merges step evenly."
    ),
    "0 in stride": (
        "Right wherever no stride is 0. Expanded dims follow the same rule. They merge where the "
        "equation holds, because 0 == n * 0, and a new dim cut from them has stride 0."
    ),
}
view_stride.wrong |= {
    "tuple((stride or (1,))[-1] * s for s in contiguous_stride(new_shape))": (
        "You multiply the last stride by the strides of a new tensor. That is right if all of x "
        "steps evenly. Elsewhere a new dim begins with the step of its own chunk, or has none."
    ),
    "stride if len(shape) == len(new_shape) else None": (
        "You keep the stride if the number of dims stays. (4, 6) and (3, 8) both have two dims, "
        "and their steps differ."
    ),
    "(view := view_stride(shape, stride, new_shape)) and tuple(4 * s for s in view)": (
        shared.ELEMENTS
    ),
    "size != 1 and chunks and step == chunks[-1][0] * chunks[-1][1] => False": (
        "You cut the old dims, but never merge two. Where "
        "`stride[d] == shape[d + 1] * stride[d + 1]` the two are one chunk, and a new dim may run "
        "through both."
    ),
    "left, step = chunks.pop(0) => left, step = chunks.pop(0)[0], 1": (
        "Your first step in a chunk is 1. The elements of a chunk lie as far apart as the "
        "innermost of its old dims steps."
    ),
    (
        "step *= size => step = size",
        "left, step = 1, 1 => left, step, first = 1, 1, 1"
        " && left, step = chunks.pop(0) => (left, step), first = chunks[0], chunks.pop(0)[1]"
        " && step *= size => step = size * first",
    ): (
        "Inside a chunk the step is a running product: each new dim steps as far as all of the dim "
        "after it, and that is its size times its own step. Yours leaves out one of the factors."
    ),
    "size != 1 and chunks and step == => chunks and step =="
    " && elif size != 1 => else"
    " && if left == 1 => while left == 1": (
        "A dim of size 1 in x breaks one of your chunks. No index steps along it, so its stride "
        "does not matter. Leave sizes of 1 out first."
    ),
    (
        "contiguous_stride(new_shape) if stride == contiguous_stride(shape) else None",
        "contiguous_stride(new_shape) if contiguous(shape, stride) else None",
        "stride if shape == new_shape else "
        "contiguous_stride(new_shape) if contiguous(shape, stride) else None",
    ): (
        "You ask for a contiguous tensor. A view needs less: only that no new dim straddles two "
        "chunks. `torch.empty(4, 8)[:, :6]` is not contiguous, and `.view(2, 2, 6)` works."
    ),
    "contiguous_stride(new_shape)": (
        "You answer the stride of a new tensor. A view uses the memory of x. If x has gaps or "
        "another order, so does the view."
    ),
    "None if view_stride(shape, stride, new_shape) is None else contiguous_stride(new_shape)": (
        "You know when a view exists. But its strides are not those of a new tensor: the first "
        "step in each chunk is the step of the chunk."
    ),
    "None if view_stride(shape, stride, new_shape) is None else "
    "tuple((stepped(shape, stride)[1] or (1,))[-1] * s for s in contiguous_stride(new_shape))": (
        "Your strides go on from one chunk into the next as if x had no gap there. Where a new "
        "chunk begins, begin again with its own step."
    ),
    "None if 1 in new_shape else view_stride(shape, stride, new_shape)": (
        "You refuse a new shape for its sizes of 1. They straddle nothing: put any stride there, "
        "and go on with the same chunk."
    ),
    "stride": (
        "You keep the stride as it is. It has one number for each old dim. The new dims need steps "
        "of their own."
    ),
    "(view := view_stride(shape, stride, new_shape)) and "
    "answer_if(all(n < 2 or s in stride for n, s in zip(new_shape, view)), view)": (
        "You merge, but never cut: a new dim of yours is a whole chunk or an old dim. A chunk of 6 "
        "can be cut into (2, 3) just as well: only boundaries between chunks are closed."
    ),
    "(view := view_stride(shape[::-1], stride[::-1], new_shape[::-1])) and view[::-1]": (
        "You merge from the wrong side, as if the first index ran fastest. In reading order the "
        "last one does: compare `stride[d]` with `shape[d + 1] * stride[d + 1]`, and not the "
        "reverse."
    ),
    "(view := view_stride(shape, stride, new_shape)) and view[::-1]": shared.BACK_TO_FRONT,
    "answer_if((old := ends(shape)) <= (new := ends(new_shape)) or new <= old, "
    "view_stride(shape, stride, new_shape))": (
        "You ask that new dims fit inside old ones or gather whole ones, dim by dim. But inside a "
        "chunk the old boundaries are gone: (4, 6) with stride (6, 1) is one run of 24, and (3, 8) "
        "a view."
    ),
    "answer_if(0 in shape or shape == new_shape or is_one_chunk(shape, stride), "
    "view_stride(shape, stride, new_shape))": (
        "One boundary makes you refuse every other shape. Only a new dim across it is refused. On "
        "both sides you may cut. `torch.empty(4, 8)[:, :6].view(2, 2, 6)` works."
    ),
}
view_stride.exact |= {
    "stride if shape == new_shape else None": (
        "You answer None whenever the shape changes. But a view can cut a dim in two, and merge "
        "two dims that step evenly. Then its strides are asked for."
    ),
    "(view_stride(shape, stride, new_shape), None)[1]": (
        "You answer None for every input. A function without a `return` does so. Return the stride "
        "of the view wherever it exists."
    ),
}

ANOTHER_ERROR = (
    "torch refuses that shape because it has another number of elements: that is the message "
    '"shape is invalid for input of size …", which is not about strides. Keep the number.'
)
NO_BOUNDARY = (
    "torch makes that view, so no new dim of it reaches across a boundary between two chunks. Is "
    "there one in this x? If so, which shape has a dim across every boundary? If not, answer None."
)


def read_refused_shape(answer: Any, args: Arguments) -> Outcome:
    """Read a shape that torch refuses to view, or None for a tensor where torch refuses none.

    Any refused shape is right, so the shape itself is compared only where it is wrong.
    """
    if answer is None:
        return Outcome({"answer": "None"}, "None: every shape of as many elements can be viewed")
    shape = as_ints(answer, "a shape or None")
    numel = prod(args["shape"])
    if len(shape) > 64 or min(shape, default=0) < -1 or shape.count(-1) > 1:
        raise Unusable(f"{shape}, where a shape of at most 64 sizes and one -1 is asked for")
    if not fits(shape, numel):
        count = f"{prod(shape)} elements, and x has {numel}"
        facts = {"answer": "a shape", "elements": prod(shape)}
        return Outcome(facts, f"shape {shape}: {count}", ANOTHER_ERROR)
    facts = {"answer": "a shape", "elements": numel, "refused": True}
    x = torch.empty_strided(args["shape"], args["stride"], dtype=torch.uint8, device="meta")
    try:
        view = x.view(shape)
    except RuntimeError:
        return Outcome(facts, f"a shape that torch refuses to view, such as {shape}")
    facts |= {"refused": False, "shape": shape}
    shown = f"shape {shape}: torch makes that view, of stride {view.stride()}"
    return Outcome(facts, shown, NO_BOUNDARY)


def fits(shape: Ints, numel: int) -> bool:
    """Return whether a shape, perhaps with one -1, can hold `numel` elements."""
    if -1 not in shape:
        return prod(shape) == numel
    product_of_others = -prod(shape)
    return product_of_others != 0 and numel % product_of_others == 0


@exercise(
    title="a shape that cannot be viewed",
    read=read_refused_shape,
    means=without_a_tensor(),
    cases=[
        "shape, stride = (6, 4), (1, 6)  # torch.empty(4, 6).t()",
        "shape, stride = (4, 6), (6, 1)  # torch.empty(4, 6)",
        "shape, stride = (4, 6), (8, 1)  # torch.empty(4, 8)[:, :6]",
        "shape, stride = (4, 3), (6, 2)  # torch.empty(4, 6)[:, ::2]",
        "shape, stride = (12,), (2,)  # torch.empty(24)[::2]",
        "shape, stride = (4,), (6,)  # torch.empty(4, 6)[:, 2]",
        "shape, stride = (2, 6), (12, 1)  # torch.empty(4, 6)[::2]",
        "shape, stride = (4, 4), (1, 4)  # torch.empty(4, 4).t()",
        "shape, stride = (2, 3, 4), (12, 4, 1)  # y = torch.empty(2, 3, 4)",
        "shape, stride = (4, 2, 3), (1, 12, 4)  # y.permute(2, 0, 1)",
        "shape, stride = (2, 2, 4), (12, 4, 1)  # y[:, :2]",
        "shape, stride = (2, 3, 2), (12, 4, 1)  # y[:, :, :2]",
        "shape, stride = (2, 3, 2), (12, 4, 2)  # y[:, :, ::2]",
        "shape, stride = (1, 3, 4), (12, 4, 1)  # y[1:]",
        "shape, stride = (2, 3), (12, 4)  # y[:, :, 2]",
        "shape, stride = (3, 3, 3), (3, 9, 1)  # torch.empty(3, 3, 3).transpose(0, 1)",
        "shape, stride = (3, 3, 3), (1, 3, 9)  # torch.empty(3, 3, 3).permute(2, 1, 0)",
        "shape, stride = (2, 3, 4, 5), (60, 20, 5, 1)  # torch.empty(2, 3, 4, 5)",
        "shape, stride = (2, 5, 3, 4), (60, 1, 20, 5)  # an image in channels-last",
        "shape, stride = (4, 6), (0, 1)  # torch.empty(6).expand(4, 6)",
        "shape, stride = (6, 4), (1, 0)  # the same, turned",
        "shape, stride = (4, 6), (0, 0)  # torch.empty(1).expand(4, 6)",
        "shape, stride = (2, 3, 2), (0, 0, 0)",
        "shape, stride = (4, 1, 6), (6, 99, 1)",
        "shape, stride = (4, 1, 6), (7, 6, 1)",
        "shape, stride = (1, 6), (1, 1)",
        "shape, stride = (6, 1), (5, 5)",
        "shape, stride = (2, 1), (9, 1)",
        "shape, stride = (2, 2), (1, 2)",
        "shape, stride = (1, 1), (3, 8)",
        "shape, stride = (), ()",
        "shape, stride = (1,), (5,)",
        "shape, stride = (3, 0), (1, 7)",
        "shape, stride = (2, 0, 3), (1, 1, 1)",
    ],
    hints=[
        "If x is one chunk, no new dim can straddle a boundary: there is none. And if it has two?",
        "Which new dim straddles a boundary for sure, wherever it is? A very large one.",
        "The shape with all elements in one dim straddles every boundary. So find out whether "
        "there is a boundary at all: two neighbours that do not merge, with the sizes of 1 left "
        "out.",
    ],
    otherwise=(
        "Write down the chunks of this input. Is there a boundary? If so, a shape with a dim that "
        "reaches across it is refused; if not, torch makes every view."
    ),
    takeaway=(
        "One chunk: every shape. Two: at least not the flat one. So `view(-1)` is the whole test."
    ),
)
def unviewable(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...] | None:
    """A shape of as many elements that x cannot be viewed as; found without making a tensor.

    shape, stride   those of x, in elements
    return          a tuple of ints for which `x.view` raises "view size is not compatible
                    with …"; any one will do. None where torch makes every view

    Not allowed: a question to torch such as `stride()` or `is_contiguous()`.
    """
    if 0 in shape:
        return None
    dims = [(n, s) for n, s in zip(shape, stride, strict=True) if n != 1]
    for d in range(len(dims) - 1):
        size, step = dims[d + 1]
        if dims[d][1] != size * step:
            return (torch.Size(shape).numel(),)
    return None


unviewable.only |= {
    "0 in shape": ("Right wherever there is an element. If a size is 0, torch makes every view."),
    "1 in shape": (
        "Right wherever no size is 1. A dim of size 1 neither makes a boundary nor removes one. "
        "Leave it out, and compare the dims that are then neighbours."
    ),
    "0 in stride": (
        "Right wherever no stride is 0. An expanded dim follows the same rule: beside another dim "
        "it is a boundary, beside an expanded one it is not."
    ),
}
unviewable.wrong |= {
    "if n != 1] => ]": (
        "A dim of size 1 does not make a boundary, because no index steps along it. Shape (4, 1, "
        "6) with stride (6, 99, 1) is one chunk. Leave sizes of 1 out before you compare neighbours."
    ),
    ("if n != 1] => if n != 1][-2:]", "if n != 1] => if n != 1][:2]"): (
        "You give up too early, and answer None where two dims merge. A slice of the middle dim "
        "makes a boundary further out, and a slice of the last dim makes one further in."
    ),
    (
        "None if stride == contiguous_stride(shape) else (prod(shape),)",
        "None if contiguous(shape, stride) else (prod(shape),)",
    ): (
        "You offer the flat shape wherever x is not contiguous. A tensor that is not can still be "
        "one chunk: `torch.empty(24)[::2]` steps evenly, and every shape of 12 elements is a view."
    ),
    "None if list(stride) == sorted(stride, reverse=True) else (prod(shape),)": (
        "You look at the order of the strides alone. A gap makes a boundary too. Look at "
        "`torch.empty(4, 8)[:, :6]`, whose strides are in order."
    ),
    "None if stride[-1:] in ((), (1,)) else (prod(shape),)": (
        "You look at the last stride alone. A boundary can lie further out, and a longer last step "
        "can be even. Compare each pair of neighbours."
    ),
    "shape[::-1]": (
        "You turn the shape round. For a transposed matrix that is often refused, but not for "
        "every x: find the boundary between two chunks, and a dim that straddles it."
    ),
    "unviewable(shape, stride) and shape[::-1]": (
        "You turn the shape round where there is a boundary. A square one turned round is itself. "
        "Which shape has a dim across every boundary?"
    ),
    "unviewable(shape, stride) or ()": (
        "() is a shape as well: it has one element. Return None if torch makes every view."
    ),
    "shape": (
        "That is x's own shape, and x is a view of itself. Which dim reaches across a boundary?"
    ),
}
unviewable.exact |= {
    "(unviewable(shape, stride), None)[1]": (
        "You answer None for every input. A function without a `return` does so. Some tensors have "
        "shapes that torch refuses: try `torch.empty(4, 6).t().view(24)`."
    ),
    "(prod(shape),)": (
        "You return a shape for every x. If x is one chunk, torch makes every view. Answer None "
        "there."
    ),
}
