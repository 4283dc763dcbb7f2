"""E2, E3 and E4: the stride of a `.grad`, the gradients that arrive inside, and views of a bucket."""

from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import Ints
from stridekit.exercises.readers.answers import (
    as_tensor,
    layout_facts,
    read_stride_of,
    shares,
    type_in_words,
    view_of,
)
from stridekit.exercises.running import Arguments, Outcome, Unusable, describe
from stridekit.exercises.watch import without_a_tensor
from stridekit.layout import Layout

# The stride of a leaf's .grad -----------------------------------------------------------------------


@exercise(
    title="the stride of a parameter's gradient",
    read=read_stride_of("shape"),
    means=without_a_tensor(),
    cases=[
        "shape, stride = (3, 4), (4, 1)",
        "shape, stride = (3, 4), (1, 3)  # transposed",
        "shape, stride = (3, 4), (8, 1)  # rows with gaps",
        "shape, stride = (3, 4), (8, 2)  # every second column",
        "shape, stride = (3, 4), (0, 1)  # expanded",
        "shape, stride = (2, 3, 4, 5), (60, 1, 15, 3)  # channels-last",
        "shape, stride = (4, 3), (1, 8)  # transposed, with gaps",
        "shape, stride = (2, 3, 4), (12, 1, 3)",
        "shape, stride = (2, 3, 4), (1, 8, 2)",
        "shape, stride = (2, 3, 4), (3, 1, 6)",
        "shape, stride = (2, 3, 4), (4, 16, 1)",
        "shape, stride = (5,), (1,)",
        "shape, stride = (5,), (2,)",
        "shape, stride = (4, 3), (1, 1)  # windows",
        "shape, stride = (2, 2), (1, 1)",
        "shape, stride = (3, 2, 2), (1, 6, 3)",
        "shape, stride = (1, 4, 3), (99, 1, 4)",
        "shape, stride = (2, 1, 3), (1, 50, 2)",
        "shape, stride = (1, 4, 2), (0, 4, 1)",
        "shape, stride = (4, 1, 3), (1, 7, 4)",
        "shape, stride = (1, 5), (1, 3)",
        "shape, stride = (), ()",
    ],
    hints=[
        "`.grad` is a tensor of its own. Which strides would let the optimizer walk the parameter and "
        "its gradient side by side?",
        "The parameter's own, if its elements fill their memory without a gap, in whatever order of "
        "the dims. If there are gaps, or indices that share an element, which stride does any new "
        "tensor have?",
        "`Layout(shape, stride).is_dense()` says whether the elements fill their memory one by one. "
        "The answer is the parameter's stride if so, else `Layout(shape).stride`.",
    ],
    otherwise=(
        "Make the parameter with `torch.zeros(...).as_strided(shape, stride).requires_grad_()`, call "
        "`(p * 2).sum().backward()`, and look at `p.grad.stride()`."
    ),
    takeaway=(
        "A dense parameter gives its `.grad` its own strides. Any other gets a contiguous `.grad`."
    ),
)
def grad_stride(shape: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """The stride of `.grad` after the first backward pass, for a parameter of this layout.

    The parameter is a leaf, its `.grad` was None, and `backward()` had no `create_graph`.

    shape, stride   the parameter's, in elements
    return          the stride of its `.grad`; where no index steps, any int is right

    Not allowed: a question to torch such as `stride()`.
    """
    layout = Layout(shape, stride)
    return stride if layout.is_dense() else Layout(shape).stride


grad_stride.slots["layout.is_dense()"] = {
    "True": (
        "You give the gradient the parameter's stride, always. A parameter with gaps or with shared "
        "elements has a gradient without: what would lie in its gaps?"
    ),
    ("False", "layout.is_contiguous()"): (
        "You make every gradient contiguous. Transposed and channels-last parameters fill their memory, "
        "too, in another order. torch gives their gradients the same strides, so the optimizer reads "
        "both in the order of memory."
    ),
    ("stride[-1:] == (1,)", "1 in stride"): (
        "You look for a stride of 1. Rows with gaps have it as well, and their gradient has no gaps. Ask "
        "whether the elements fill their memory."
    ),
    "0 not in stride": (
        "You copy every stride without a 0. A slice has no 0 and has gaps, and windows share elements: "
        "both get a contiguous gradient."
    ),
}
grad_stride.slots["Layout(shape).stride"] = {
    "layout.clone().stride": (
        "You give a parameter with gaps a gradient in its order of dims, as `clone` does. The gradient "
        "of such a parameter is contiguous."
    ),
    "Layout(shape[::-1]).stride": (
        "Your contiguous stride is that of the shape from back to front. The last dim has stride 1."
    ),
}
grad_stride.wrong |= {
    "(0,) * len(shape)": (
        "You answer with the gradient that comes from `sum()`, which has stride 0. `.grad` is a tensor "
        "that the next backward pass adds to, so it has memory for each element."
    ),
    "tuple(sorted(stride, reverse=True))": (
        "You sort the strides. A gradient has the parameter's own strides, or those of a new tensor."
    ),
}

# Gradients on their way -----------------------------------------------------------------------------

GRID = "torch.arange(12.0).view(3, 4)"
CUBE = "torch.arange(24.0).view(2, 3, 4)"


def case(g: str, step: str, shape: str) -> str:
    """Return the source of a case: the gradient of a result, the step, and the shape of x."""
    return f"g = {g}; step = {step}; shape = {shape}"


@exercise(
    title="the gradient that arrives at x",
    read=view_of("g"),
    cases=[
        case("torch.arange(4.0)", '"sum", 0', "3, 4"),
        case("torch.arange(3.0)", '"sum", 1', "3, 4"),
        case(GRID, '"transpose", 0, 1', "4, 3"),
        case(GRID, '"cat", 1', "3, 2"),
        case(GRID, '"slice", 0, 1', "5, 4"),
        case("torch.arange(8.0).view(2, 4)", '"sum", 1', "2, 3, 4"),
        case("torch.arange(6.0).view(2, 3)", '"sum", 2', "2, 3, 4"),
        case("torch.arange(12.0).view(3, 4).double()", '"sum", 0', "2, 3, 4"),
        case("torch.tensor(2.0)", '"sum", 0', "5,"),
        case("torch.ones(()).expand(4)", '"sum", 0', "4, 4"),
        case("torch.arange(4.0)", '"sum", 1', "4, 4"),
        case("torch.arange(16.0).view(4, 4)", '"sum", 1', "4, 4, 4"),
        case(CUBE, '"transpose", 0, 2', "4, 3, 2"),
        case(CUBE, '"transpose", 1, 2', "2, 4, 3"),
        case("torch.arange(9.0).view(3, 3)", '"transpose", 0, 1', "3, 3"),
        case("torch.arange(3.0).expand(4, 3)", '"transpose", 0, 1', "3, 4"),
        case(f"{CUBE}[1]", '"transpose", 0, 1', "4, 3"),
        case(GRID, '"cat", 0', "2, 4"),
        case(GRID, '"cat", 0', "3, 4"),
        case(CUBE, '"cat", 1', "2, 1, 4"),
        case(f"{CUBE}.transpose(1, 2)", '"cat", 2', "2, 4, 2"),
        case("torch.ones(()).expand(3, 4)", '"cat", 1', "3, 1"),
        case("torch.arange(12).view(3, 4).half()[:, 1:]", '"cat", 1', "3, 2"),
        case(GRID, '"slice", 1, 2', "3, 7"),
        case(f"{GRID}.double()", '"slice", 0, 0', "4, 4"),
        case(f"{GRID}.t()", '"slice", 1, 1', "4, 4"),
        case("torch.ones(()).expand(2, 3)", '"slice", 0, 1', "4, 3"),
        case("torch.arange(4.0)", '"slice", 0, 3', "9,"),
        case("torch.zeros(0, 3)", '"transpose", 0, 1', "3, 0"),
    ],
    hints=[
        "Take the steps one at a time. For `sum`: how much does the loss change if one element of x "
        "grows by 1? As much as if the sum grows by 1, for each element of the row that is summed.",
        "So three of the four gradients hold numbers of g alone, and a view of g shows them: repeated "
        "for sum, transposed back for transpose, cut out for cat. Only a slice has elements of x that "
        "do not reach the result.",
        "sum: `g.unsqueeze(dim).expand(shape)`. transpose: `g.transpose(a, b)`. cat: `g.narrow(dim, "
        "start, shape[dim])`, where x is the last piece. slice: new zeros, with g copied to "
        "`narrow(dim, start, g.size(dim))` of them.",
    ],
    otherwise=(
        "Run the step on `x = torch.rand(shape, requires_grad=True)`, and look at "
        "`torch.autograd.grad(result, x, g)`: its values, its stride, and whether it shares g's memory."
    ),
    takeaway="A backward pass makes views where it can: expanded, transposed, sliced.",
)
def arrives(g: torch.Tensor, step: "tuple[Any, ...]", shape: tuple[int, ...]) -> torch.Tensor:
    """The gradient that x receives, laid out as torch's, if the result of a step has gradient g.

    g       the gradient of the result: a tensor of any layout. It must not change
    step    the step and its numbers:
            ("sum", dim)            x.sum(dim)
            ("transpose", a, b)     x.transpose(a, b)
            ("cat", dim)            torch.cat([..., x], dim), with x as the last piece
            ("slice", dim, start)   x.narrow(dim, start, n), n indices from start on
    shape   the shape of x, a tuple of ints
    return  a tensor of this shape and g's dtype: for a slice new and contiguous, else a view of g
    """
    match step:
        case "sum", dim:
            return g.unsqueeze(dim).expand(shape)
        case "transpose", a, b:
            return g.transpose(a, b)
        case "cat", dim:
            before = g.size(dim) - shape[dim]
            return g.narrow(dim, before, shape[dim])
        case _, dim, start:
            full = torch.zeros(shape, dtype=g.dtype)
            full.narrow(dim, start, g.size(dim)).copy_(g)
            return full


arrives.slots["g.unsqueeze(dim).expand(shape)"] = {
    ("g.unsqueeze(dim).expand(shape).contiguous()", "g.unsqueeze(dim).expand(shape).clone()"): (
        "The gradient of your sum has the right values in new memory. torch repeats g by a stride of 0: "
        "`expand` alone."
    ),
    "g.expand(shape)": (
        "You expand g without a new dim. `expand` adds dims at the front, so it repeats g along dim 0, "
        "whichever dim was summed. `unsqueeze(dim)` makes the dim that is repeated."
    ),
    (
        "g.unsqueeze(dim).expand(shape) / shape[dim]",
        "(g / shape[dim]).unsqueeze(dim).expand(shape)",
    ): (
        "You divide by the number of elements, which is the gradient of a mean. Each element of a sum "
        "has the whole gradient."
    ),
    "g.unsqueeze(dim)": (
        "The gradient of your sum has a single index along the dim that was summed. x has "
        "`shape[dim]` of them: `expand`."
    ),
    "torch.ones(shape, dtype=g.dtype)": (
        "You answer 1 for each element that was summed. That is the gradient for the sum itself. The "
        "chain rule multiplies it by g."
    ),
}
arrives.slots["g.transpose(a, b)"] = {
    ("g.transpose(a, b).contiguous()", "g.transpose(a, b).clone()"): (
        "The gradient of your transpose is a copy, or it would be for a g that is not transposed itself. "
        "Another transpose, which copies nothing, is enough."
    ),
    ("g.reshape(shape)", "g.contiguous().view(shape)"): (
        "Your gradient of a transpose has the right shape and mixed values: reshape does not transpose."
    ),
    "g": "A gradient has the shape of its x. Exchange the two dims of g as the step did.",
}
arrives.slots["before, shape[dim]"] = {
    "0, shape[dim]": (
        "You cut out the first piece of g. x is the last piece of the cat, so its part begins after the "
        "others."
    ),
    "shape[dim], before": (
        "You exchange start and length. `narrow(dim, start, length)`: x's part begins after the other "
        "pieces, and is as long as x."
    ),
}
arrives.wrong[
    "return g.narrow(dim, before, shape[dim]) => return g.narrow(dim, before, shape[dim]).contiguous()"
] = "The gradient of your cat is a copy where the slice has gaps. torch hands the slice of g on as it is."
arrives.wrong[
    "return g.narrow(dim, before, shape[dim]) => return g.narrow(dim, before, shape[dim]).clone()"
] = "The gradient of your cat has the right values in new memory. torch hands the slice of g on as it is."
arrives.slots["dim, start, g.size(dim)"] = {
    "dim, 0, g.size(dim)": (
        "You write g at the beginning of the zeros. The slice began at `start`."
    ),
}
arrives.slots["torch.zeros(shape, dtype=g.dtype)"] = {
    "torch.zeros(shape)": shared.DTYPE.format("g"),
    "torch.ones(shape, dtype=g.dtype)": (
        "You give the elements outside of the slice the gradient 1. They do not reach the result, so "
        "their gradient is 0."
    ),
}
arrives.wrong["return full => return g"] = (
    "You return g for a slice. A gradient has the shape of its x, and 0 for each element that the slice "
    "left out."
)

# A bucket -------------------------------------------------------------------------------------------


def read_views(answer: Any, args: Arguments) -> Outcome:
    """Read a list of views of the flat tensor: their number, and then shape, stride and place of each."""
    if not isinstance(answer, list | tuple):
        raise Unusable(f"{type_in_words(answer)}, where a list of tensors is asked for")
    facts: dict[str, Any] = {"number of views": len(answer)}
    lines = []
    for number, item in enumerate(answer):
        view = as_tensor(item, " in the list")
        on_flat = shares(view, args["flat"])
        facts[f"view {number}"] = (view.dtype, layout_facts(view), on_flat)
        place = "on flat's storage" if on_flat else "on a storage of its own"
        lines.append(f"{describe(view)}, {place}")
    return Outcome(facts, "\n".join(lines) or "an empty list")


CONV = "torch.zeros(2, 3, 2, 2).to(memory_format=torch.channels_last)"


@exercise(
    title="gradients as views of one bucket",
    read=read_views,
    cases=[
        "flat = torch.zeros(20); params = [torch.zeros(4, 3), torch.zeros(4)]",
        f"flat = torch.zeros(30); params = [{CONV}, torch.zeros(2)]",
        "flat = torch.zeros(17); params = [torch.zeros(5), torch.zeros(4, 3).t()]",
        "flat = torch.zeros(24)[4:]; params = [torch.zeros(4, 3).t(), torch.zeros(4)]",
        f"flat = torch.zeros(64)[10:]; params = [torch.zeros(2, 3), {CONV}, torch.zeros(7)]",
        "flat = torch.zeros(16).double(); params = [torch.zeros(4, 3).double().t(), "
        "torch.zeros(4).double()]",
        "flat = torch.zeros(30); w = torch.zeros(6, 4); params = [w[2:4], w[4:], w[0]]",
        "flat = torch.zeros(12); params = [torch.zeros(()), torch.zeros(0, 3), torch.zeros(2, 3).t()]",
        "flat = torch.zeros(30); params = [torch.zeros(2, 3, 4).permute(1, 2, 0), torch.zeros(3)]",
        "flat = torch.zeros(30); params = [torch.zeros(3, 8).t(), torch.zeros(2, 3)]",
        "flat = torch.zeros(9); params = [torch.zeros(3, 3).t()]",
        "flat = torch.zeros(5); params = []",
    ],
    hints=[
        "The views lie on flat one after the other. Where does the second one begin, and how long is "
        "the first one?",
        "A view with another stride than the contiguous one needs `as_strided`: a shape, a stride and "
        "a place. The shape and the stride are the parameter's.",
        "Begin with `start = flat.storage_offset()`, because `as_strided` counts from the start of the "
        "storage. For each parameter, take `flat.as_strided(param.shape, param.stride(), start)`, "
        "then add `param.numel()` to start.",
    ],
    otherwise=(
        "Print shape, stride and storage_offset of each view beside those of its parameter. The first "
        "two have to be equal. The third has to be where the view before it ends."
    ),
    takeaway="A gradient can be a view of a bucket, with the strides of its parameter.",
)
def grad_views(flat: torch.Tensor, params: list[torch.Tensor]) -> list[torch.Tensor]:
    """Views of a flat tensor for the gradients of some parameters, with the parameters' strides.

    flat    a 1-D tensor with stride 1, long enough for all parameters. It may be a slice
    params  a list of dense tensors of flat's dtype, whose dims lie in any order
    return  a list with a view of flat for each parameter, in their order: with its shape and
            stride, on the elements of flat that follow those of the view before
    """
    views = []
    start = flat.storage_offset()
    for param in params:
        view = flat.as_strided(param.shape, param.stride(), start)
        views.append(view)
        start += param.numel()
    return views


def contiguous_stride(param: torch.Tensor) -> Ints:
    return Layout(tuple(param.shape)).stride


grad_views.slots["flat.storage_offset()"] = {
    "0": shared.ABSOLUTE.format("flat"),
    "flat.storage_offset() * flat.itemsize": shared.ELEMENTS,
}
grad_views.slots["param.shape, param.stride()"] = {
    "param.shape, contiguous_stride(param)": (
        "Your views have contiguous strides, as from `view(param.shape)`. A channels-last or transposed "
        "parameter has others: DDP warns about such views, and copies each gradient into another order."
    ),
    ("param.shape[::-1], param.stride()", "param.shape, param.stride()[::-1]"): (
        "A size and its stride stand at different places in your views. Take both in the parameter's "
        "order."
    ),
}
grad_views.slots["param.numel()"] = {
    "param.nbytes": (
        "You advance by the bytes of a parameter. torch counts the place of a view in elements."
    ),
    "len(param)": (
        "You advance by the first size of a parameter. A view has `param.numel()` elements."
    ),
    "param.untyped_storage().nbytes() // param.itemsize": (
        "You advance by the storage of a parameter. A parameter may be a slice of a larger storage: its "
        "view has `param.numel()` elements."
    ),
    "0": "All your views begin at one place, so the gradients overwrite each other. Advance by numel.",
    "param.numel() + 1": "You leave an element of flat free after each view. They follow each other.",
}
grad_views.wrong |= {
    (
        "views.append(view) => views.append(view.clone())",
        "views.append(view) => views.append(torch.zeros_like(view))",
    ): "Your list holds new tensors. What is written to them does not reach flat.",
    "param.stride(), start) => param.stride(), param.storage_offset())": (
        "Your views begin where the parameters begin in their own storages. Here they follow each other "
        "on flat's storage."
    ),
    "return views => return views[::-1]": "The right views, the last one first.",
    "in params => in params[::-1]": (
        "You lay the last parameter first. The task asks for the order of the list."
    ),
}
