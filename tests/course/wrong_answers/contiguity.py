"""Wrong answers to the exercises of notebook 03."""

import math

import torch

from stridekit.exercises import contiguity as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, OUTSIDE, refused


def torch_view(shape, stride, new_shape):
    """The answer of torch."""
    x = torch.empty_strided(shape, stride, device="meta")
    try:
        return x.view(new_shape).stride()
    except RuntimeError:
        return None


def merges_but_never_cuts(shape, stride, new_shape):
    view = torch_view(shape, stride, new_shape)
    if view is None:
        return None
    steps = {s for n, s in zip(new_shape, view, strict=True) if n != 1}
    return view or None if 0 in shape or steps <= {*stride} else None


VIEW = "(stride_ := view_stride(shape, stride, new_shape))"
refused(
    ex.view_stride,
    {
        "You merge, but never cut": [
            merges_but_never_cuts,
        ],
        "leaves out one of the factors": [
            "step *= size => step = size",
            "left, step = 1, 1 => left, step, chunk = 1, 1, (1, 1) "
            "&& step *= size => step = size * chunk[1] "
            "&& left, step = chunks.pop(0) => left, step = chunk = chunks.pop(0)",
        ],
        "Your first step in a chunk is 1": [
            "left, step = chunks.pop(0) => left, step = chunks.pop(0)[0], 1"
        ],
        "the answer is None, and nothing else": [
            lambda *layouts: torch_view(*layouts) or (),
            f"[stride[-1]] * len(new_shape) if {VIEW} is None else stride_",
        ],
        "Right wherever no new size is 1": [
            f"{VIEW} and [s for n, s in zip(new_shape, stride_) if n != 1]"
        ],
        "the same multiple of the right number": [f"{VIEW} and [s * 4 for s in stride_]"],
        "You multiply the last stride by the strides of a new tensor": [
            lambda shape, stride, new_shape: tuple(
                (stride[-1] if stride else 1) * math.prod(new_shape[d + 1 :])
                for d in range(len(new_shape))
            ),
            "tuple(stride[-1] * prod(new_shape[d + 1 :]) for d in range(len(new_shape)))",
        ],
        "You keep the stride if the number of dims stays": [
            lambda shape, stride, new_shape: stride if len(new_shape) == len(stride) else None
        ],
        GENERAL: ["(sum(stride),) * len(new_shape)"],
        "Right wherever torch makes the view": [f"False if {VIEW} is None else stride_"],
        "Right wherever no stride is 0": [f"None if 0 in stride else {VIEW}"],
        ANOTHER_KIND: ["False"],
    },
)


RIGHT = "is_contiguous(shape, stride)"
DENSE = "torch.empty_strided([n for n, s in zip(shape, stride) if s], [s for s in stride if s])"
refused(
    ex.is_contiguous,
    {
        "Right wherever there is an element": [
            "0 in shape => 0 in shape[1:]",
            "0 in shape => 0 in shape[-1:]",
        ],
        "Right for one dim and for two": [
            "needed *= size => needed = size",
            f"{RIGHT} or len(shape) > 2",
        ],
        "Right wherever no stride is 0": [f"0 in shape or {DENSE}.is_contiguous()"],
        "Your test lets a stride be larger": ["step != needed => step < needed"],
        "You look at the first stride alone": [
            "0 in shape or not shape or stride[0] == prod(shape[1:])",
            lambda shape, stride: not shape or stride[0] == math.prod(shape[1:]),
        ],
        "You only refuse a stride of 0": ["0 not in stride"],
        GENERAL: [f"{RIGHT} != (sum(shape) % 2)"],
        ANOTHER_KIND: [f"'yes' if {RIGHT} else 'no'"],
    },
)

RIGHT = "mergeable(shape, stride, d)"
refused(
    ex.mergeable,
    {
        "If any size of x is 0": [
            "0 in shape[d : d + 2] or (shape[d] == 1 or shape[d + 1] == 1 "
            "or stride[d] == stride[d + 1] * shape[d + 1])"
        ],
        "You ask that the inner dim steps by 1": [
            "0 in shape or 1 in shape[d : d + 2] or (stride[d], stride[d + 1]) == (shape[d + 1], 1)"
        ],
        "Right if there are only two dims": [
            f"{RIGHT} and len(shape) == 2",
            "mergeable(shape, stride, 0)",
        ],
        "Right wherever no stride is 0": [f"{RIGHT} and stride[d] > 0"],
        "Right wherever no size is 1": [f"1 in shape or {RIGHT}"],
        "You look at the inner stride alone": [
            "0 in shape or 1 in shape[d:d+2] or stride[d+1] == 1"
        ],
        "You ask for a last stride of 1": [
            "0 in shape or 1 in shape[d:d+2] or "
            "(stride[-1] == 1 and stride[d] == stride[d + 1] * shape[d + 1])"
        ],
        "You go the other way round": [
            "0 in shape or 1 in shape[d:d+2] or stride[d] * shape[d + 1] == stride[d + 1]"
        ],
        "You ask that the outer stride is the larger": [
            "0 in shape or 1 in shape[d:d+2] or stride[d + 1] < stride[d]"
        ],
        GENERAL: ["stride[d] == shape[d + 1] + stride[d + 1]"],
        ANOTHER_KIND: ["(shape[d] * shape[d + 1], stride[d + 1])"],
    },
)

RIGHT = "unviewable(shape, stride)"
MERGEABLE = ex.mergeable.reference
refused(
    ex.unviewable,
    {
        "neither makes a boundary nor removes": [
            lambda shape, stride: (
                None
                if all(MERGEABLE(shape, stride, d) for d in range(len(shape) - 1))
                else (math.prod(shape),)
            )
        ],
        "torch refuses that shape because it has another number of elements": [
            f"(sum((n - 1) * s for n, s in zip(shape, stride)) + 1 + prod(shape),) if {RIGHT} else None",
        ],
        "torch makes that view": [
            "(prod(shape), 1) if len(shape) == 2 else None",
            f"{RIGHT} and (2, prod(shape) // 2)",
        ],
        "Right wherever no stride is 0": [f"(-1,) if 0 in stride else {RIGHT}"],
        "You look at the order of the strides alone": [
            "None if all(a >= b for a, b in zip(stride, stride[1:])) else (prod(shape),)"
        ],
        "You look at the last stride alone": [
            "(prod(shape),) if stride and stride[-1] != 1 else None"
        ],
        GENERAL: [f"None if stride[-1:] == (2,) else {RIGHT}"],
        ANOTHER_KIND: ["(-1, -1)"],
    },
)


CLONE = "torch.empty_strided(shape, stride).clone()"
refused(
    ex.clone_stride,
    {
        "Right wherever no dim is expanded": [
            f"((x := torch.empty_strided(shape, stride)).contiguous() if 0 in stride else {CLONE}).stride()"
        ],
        "but in the order of memory": [f"sorted({CLONE}.stride())[::-1]"],
        "from back to front": [f"{CLONE}.stride()[::-1]"],
        "the same multiple of the right number": [f"[8 * step for step in {CLONE}.stride()]"],
        "counts the size of its own dim": [
            lambda shape, stride: [
                math.prod(n for n, t in zip(shape, stride, strict=True) if t <= s) for s in stride
            ]
        ],
        GENERAL: ["clone_stride(shape, stride) if len(shape) < 3 else stride"],
        ANOTHER_KIND: [CLONE],
    },
)

N = "x.size(0)"
H = "x.size(1)"
W = "x.size(2)"
refused(
    ex.by_columns,
    {
        "You copy on every input": [
            f"torch.empty({N}, {W}, {H}, dtype=x.dtype).copy_(x.mT).view({N}, {H} * {W})"
        ],
        "the dtype is not": [
            "by_columns(x.to(torch.float64))",
            f"torch.empty({N}, {W}, {H}).copy_(x.mT).view({N}, {H} * {W})",
        ],
        "as_strided takes your strides as they are": [
            f"x.as_strided(({N}, {W}, {H}), ({H} * {W}, 1, {W})).flatten(1)"
        ],
        "reshape does not transpose": [
            f"x.reshape({N}, {W}, {H}).transpose(1, 2).reshape({N}, {H} * {W})"
        ],
        "You copy once too often": [f"(x.transpose(1, 2) + 0).contiguous().view({N}, {H} * {W})"],
        OUTSIDE: [
            "torch.from_numpy(np.ascontiguousarray(x.numpy().transpose(0, 2, 1))).view(width(x))",
        ],
        "each matrix still has two dims": [f"x.mT.contiguous().view({N}, {W}, {H})"],
        "All matrices are in one row": ["x.transpose(1, 2).reshape(-1)"],
        "You exchange the matrices with their columns": [
            f"x.permute(2, 1, 0).reshape({N}, {H} * {W})"
        ],
        GENERAL: ["by_columns(x).flip(0)"],
        CHANGES: [f"x.transpose_(1, 2).contiguous().view({N}, {H} * {W})"],
    },
)

refused(
    ex.mergeable,
    {
        "but not for an inner one": [
            lambda shape, stride, d: shape[d] == 1 or stride[d] == stride[d + 1] * shape[d + 1],
        ],
        "You look for a size of 1 anywhere": [
            lambda shape, stride, d: 1 in shape or stride[d] == stride[d + 1] * shape[d + 1],
        ],
        "whether all of x is contiguous": [
            lambda shape, stride, d: (
                stride == tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))
            ),
        ],
    },
)
