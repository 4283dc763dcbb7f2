"""Layout against torch on random cases: a family for each operation, and for what is asked in another way.

Each function of CASES draws one case with the `random.Random` that it is given, does the same with a
tensor and with its layout, and raises AssertionError with the Python that repeats the layout's side.
"""

import re
import warnings
from collections.abc import Callable
from functools import partial
from math import prod
from random import Random
from typing import Any

import numpy as np
import torch

from stridekit import Layout
from stridekit.elementwise import broadcast_tensors, loop_nest, output_layout
from tests.core import steps
from tests.core.agree import REFUSALS, TORCH_REFUSALS, numbers, storage_of
from tests.core.brute_force import visited
from tests.core.steps import DTYPES, FORMATS, operands, tensor

Tensor = torch.Tensor

BY_ITEMSIZE = {dtype.itemsize: dtype for dtype in DTYPES}
ALL_FORMATS = [*FORMATS, torch.preserve_format]

# The operations that are no methods of a tensor under the name of Layout.
TORCH_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "view_dtype": lambda x, itemsize: x.view(BY_ITEMSIZE[itemsize]),
    "view_as_real": torch.view_as_real,
    "view_as_complex": torch.view_as_complex,
    "alias": torch.ops.aten.alias,
    "to": lambda x, itemsize=None, **options: x.to(dtype_of(itemsize, x), **options),
}


def dtype_of(itemsize: Any, x: Tensor) -> torch.dtype:
    """The dtype that Layout.to is given as such or by its itemsize; that of the tensor for None."""
    if isinstance(itemsize, torch.dtype):
        return itemsize
    return BY_ITEMSIZE.get(itemsize, x.dtype)


def code(x: Tensor) -> str:
    """The Python of a tensor's layout."""
    return f"Layout({tuple(x.shape)}, {x.stride()}, {x.storage_offset()}, {x.element_size()})"


def codes(tensors: list[Tensor]) -> str:
    return ", ".join(map(code, tensors))


def check_operation(x: Tensor, name: str, *args: Any, **kwargs: Any) -> Any:
    """Compare `layout.name(*args)` with torch: equal, or both refuse. Return torch's result, or None.

    `copied` tells whether torch's result lies in another storage.
    """
    source = f"{code(x)}{steps.source(name, args)}"
    if kwargs:
        source += f" with {kwargs}"
    expected = result = None
    try:
        with warnings.catch_warnings():  # torch warns of some numbers of dims, but answers
            warnings.simplefilter("ignore")
            result = apply_torch(x, name, args, kwargs)
    except TORCH_REFUSALS:
        pass
    else:
        views = as_list(result)
        if any(min(view.shape, default=0) < 0 for view in views):
            result = None  # torch made a size of -1, which Layout refuses
        else:
            copied = [storage_of(view) != storage_of(x) for view in views]
            expected = list(zip(numbers(views), copied, strict=True))
    actual = None
    try:
        layouts = as_list(apply(Layout.of(x), name, args, kwargs))
        copied = [layout.copied for layout in layouts]
        actual = list(zip(numbers(layouts), copied, strict=True))
    except REFUSALS as refusal:
        if str(refusal).endswith("index out of range"):  # Python's own: an accident
            raise AssertionError(f"{source}: {refusal}") from refusal
    assert actual == expected, f"{source} is {actual}, torch has {expected}"
    return result


def apply_torch(x: Tensor, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of torch's operation of this name."""
    if name in TORCH_FUNCTIONS:
        return TORCH_FUNCTIONS[name](x, *args, **kwargs)
    return apply(x, name, args, kwargs)


def apply(x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the method of this name, or return the property."""
    attribute = getattr(x, name)
    return attribute(*args, **kwargs) if callable(attribute) else attribute


def as_list(results: Any) -> list[Any]:
    """One result, or each of several."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


def answer(question: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a call; None if it refuses."""
    try:
        return question(*args, **kwargs)
    except (*TORCH_REFUSALS, *REFUSALS):
        return None


def operation(name: str, r: Random) -> None:
    draw = DRAWN.get(name, tensor)
    x = draw(r)
    if name == "unflatten" and not x.ndim and r.random() < 0.9:
        return  # torch takes milliseconds for each of these refusals
    args = steps.ARGUMENTS[name](r, x)
    result = check_operation(x, name, *args)
    if name == "view":
        why = Layout.of(x).why_not_view(*args)
        assert (why == "") == (result is not None), f"{code(x)}.why_not_view{args} is {why!r}"


def rows(r: Random) -> Tensor:
    """A tensor whose last dim has stride 1, the others often even ones."""
    x = tensor(r)
    if not x.ndim or r.random() < 0.2:
        return x
    outer_stride = [r.choice((1, 2, 4)) * step for step in x.stride()[:-1]]
    return x.as_strided(x.shape, [*outer_stride, 1])


def pairs(r: Random) -> Tensor:
    """A tensor that mostly ends in two parts of one complex number."""
    x = tensor(r, max_ndim=4, dtype=r.choice((torch.float16, torch.float32, torch.float64)))
    if r.random() < 0.2:
        return x
    stride = [r.choice((1, 2, 2, 2)) * step for step in x.stride()]
    return x.as_strided([*x.shape, 2], [*stride, 1])


def small(r: Random) -> Tensor:
    """A tensor of at most 4 dims."""
    return tensor(r, max_ndim=4)


def divisible(r: Random) -> Tensor:
    """A tensor with sizes that can be cut."""
    return tensor(r, sizes=(1, 2, 3, 4, 6))


# How the tensor of an operation is drawn; any tensor without an entry.
DRAWN = {"view_dtype": rows, "view_as_complex": pairs, "unflatten": divisible}
DRAWN |= dict.fromkeys(("view_as_real", "real", "imag"), partial(tensor, dtype=torch.complex128))
DRAWN |= dict.fromkeys(("expand", "broadcast_to", "expand_as", "view", "reshape"), small)


def contiguous(r: Random) -> None:
    options = r.choice(({}, {"memory_format": r.choice(ALL_FORMATS)}))
    check_operation(image(r), "contiguous", **options)


def clone(r: Random) -> None:
    check_operation(image(r), "clone", memory_format=r.choice([*ALL_FORMATS, None]))


def to(r: Random) -> None:
    options: dict[str, Any] = {"memory_format": r.choice([*ALL_FORMATS, None])}
    if r.random() < 0.3:
        options["copy"] = r.random() < 0.5
    dtype = r.choice(((), (2,), (4,), (torch.float16,), (torch.float32,)))
    check_operation(image(r), "to", *dtype, **options)


def cat(r: Random) -> None:
    """Tensors that mostly differ in the size of one dim, in one memory format or in several."""
    first = image(r)
    d = steps.dim(r, first)
    shapes = [list(first.shape)]
    for _ in range(r.randint(0, 2)):
        shape = list(first.shape)
        if -len(shape) <= d < len(shape):
            shape[d] = r.randint(0, 3)
        if r.random() < 0.1:
            shape = r.choice(([0], shape[1:], [*shape, 2]))
        shapes.append(shape)
    if r.random() < 0.1:
        shapes = [[0]] * len(shapes)  # torch joins nothing, along any dim
    check_joined(r, "cat", shapes, d)


def stack(r: Random) -> None:
    """Tensors that mostly have one shape, along a dim of theirs or behind the last."""
    first = image(r)
    shapes = [list(first.shape)] * r.randint(1, 3)
    if r.random() < 0.1:
        shapes = [*shapes, [2, *first.shape[1:]]]
    check_joined(r, "stack", shapes, steps.dim(r, first.unsqueeze(0)))


def check_joined(r: Random, name: str, shapes: list[list[int]], dim: int) -> None:
    """Compare a function of several tensors, of these shapes, with torch: equal, or both refuse."""
    tensors = [tensor(r, shape, torch.float32) for shape in shapes]
    if r.random() < 0.5:
        tensors = [in_format_of_images(x) for x in tensors]
    expected = answer(lambda: numbers(getattr(torch, name)(tensors, dim)))
    actual = answer(lambda: numbers(getattr(Layout, name)(tensors, dim)))
    source = f"Layout.{name}([{codes(tensors)}], {dim})"
    assert actual == expected, f"{source} is {actual}, torch has {expected}"


def in_format_of_images(x: Tensor) -> Tensor:
    """The tensor with its channels last, if it has 4 or 5 dims."""
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return x.contiguous(memory_format=formats.get(x.ndim, torch.contiguous_format))


def image(r: Random) -> Tensor:
    """A tensor, often of 4 or 5 dims, with sizes of 1, where memory formats are ambiguous."""
    min_ndim = r.choice((0, 4))
    dtype = r.choice((torch.float16, torch.float32))
    return tensor(r, sizes=(0, 1, 1, 1, 2, 2, 3), min_ndim=min_ndim, dtype=dtype)


def chains(r: Random) -> None:
    """Five views, each of the view before: each layout comes from a layout, not from a tensor."""
    x = tensor(r, max_ndim=4)
    layout = Layout.of(x)
    source = code(x)
    for _ in range(5):
        seed = r.random()
        layout, step = steps.viewed(Random(seed), layout)
        x, _ = steps.viewed(Random(seed), x)
        source += step
        assert numbers(layout) == numbers(x), f"{source} is {layout}, torch has {numbers(x)}"
        assert not layout.storage, source


def contiguity(r: Random) -> None:
    x = image(r)
    memory_format = r.choice(ALL_FORMATS)
    why = Layout.of(x).why_not_contiguous(memory_format)
    is_contiguous = x.is_contiguous(memory_format=memory_format)
    assert is_contiguous == (why == ""), f"{code(x)}.why_not_contiguous({memory_format}) is {why!r}"
    fitting = [format_ for format_ in FORMATS if x.is_contiguous(memory_format=format_)]
    expected = "neither"
    if len(fitting) == 1:
        expected = str(fitting[0]).removeprefix("torch.")
    elif fitting:
        expected = "both"
    name = Layout.of(x).memory_format
    assert name == expected, f"{code(x)}.memory_format is {name}"


def dense(r: Random) -> None:
    """torch's verdict; the reason names a hole that nothing fills, or an element that two share."""
    x = tensor(r, sizes=(0, 1, 2, 2, 3), max_ndim=4)
    layout = Layout.of(x)
    why = layout.why_not_dense()
    is_dense = torch.ops.aten.is_non_overlapping_and_dense(x)
    assert layout.is_dense() == is_dense == (why == ""), f"{code(x)}.why_not_dense() is {why!r}"
    if is_dense:
        return
    reached = visited(layout)
    reason = re.fullmatch(NOT_DENSE, why)
    assert reason, why
    dim, stride, needed, first, last, shared = (int(number or 0) for number in reason.groups())
    assert layout.stride[dim] == stride != needed, f"{code(x)}: {why}"
    if reason[6]:
        assert reached.count(shared) > 1, f"{code(x)}: {why}"
    else:
        last = max(first, last)  # a hole of one element names only the first
        assert {first - 1, last + 1} <= {*reached}, f"{code(x)}: {why}"
        assert not {*range(first, last + 1)} & {*reached}, f"{code(x)}: {why}"


NOT_DENSE = (
    r"dim (\d+) has stride (\d+), (\d+) is needed: "
    r"(?:elements? (\d+)(?: to (\d+) are| is) a hole|two indices share element (\d+))"
)


def coalesce(r: Random) -> None:
    """The same elements in the same order, and no two dims left that would merge."""
    x = tensor(r, sizes=(0, 1, 2, 2, 3), max_ndim=4)
    merged = Layout.of(x).coalesce()
    assert visited(merged) == visited(Layout.of(x)), f"{code(x)}.coalesce() is {merged}"
    assert 1 not in merged.shape, f"{code(x)}.coalesce() is {merged}"
    for d in range(1, merged.ndim):
        inner_extent = merged.shape[d] * merged.stride[d]
        assert merged.stride[d - 1] != inner_extent, f"{code(x)}.coalesce() is {merged}"
    assert x.numel() or (merged.shape, merged.stride) == ((0,), (1,)), merged


def dim_order(r: Random) -> None:
    x = tensor(r, sizes=(0, 1, 2, 2, 3) if r.random() < 0.3 else (2, 3, 4))
    check = r.choice((False, True, r.sample(ALL_FORMATS, r.randint(0, 3))))
    expected = answer(x.dim_order, ambiguity_check=check)
    actual = answer(Layout.of(x).dim_order, ambiguity_check=check)
    assert actual == expected, f"{code(x)}.dim_order({check}) is {actual}, torch has {expected}"


def elementwise_output(r: Random) -> None:
    """Compare the results of one, two and three operands, and of comparisons, which return bools."""
    tensors = operands(r, r.choice((1, 2, 2, 3)))
    if r.random() < 0.3:
        repeated = tensors[0] if r.random() < 0.5 else image(r).float()
        tensors = tensors[:1] + [repeated] * (len(tensors) - 1)
    compute = (torch.neg, torch.add, torch.addcmul)[len(tensors) - 1]
    itemsize = None
    if r.random() < 0.2 and len(tensors) < 3:
        compute = (torch.isnan, torch.gt)[len(tensors) - 1]
        itemsize = 1
    expected = answer(lambda: numbers(compute(*tensors)))
    actual = answer(lambda: numbers(output_layout(*tensors, itemsize=itemsize)))
    assert actual == expected, f"output_layout({codes(tensors)}) is {actual}, torch has {expected}"


def loop_visits(r: Random) -> None:
    """The loops pair the same elements of the operands as their broadcast layouts do."""
    layouts = [Layout.of(x) for x in operands(r, 2, max_ndim=4)]
    try:
        broadcast = broadcast_tensors(*layouts)
    except REFUSALS:
        return
    out = None
    output = output_layout(*layouts)
    if r.random() < 0.5:  # an output in another order of the dims
        output = out = Layout(output.shape[::-1], storage_offset=3, itemsize=4).T
    nest = loop_nest(*layouts, out=out)
    expected = sorted(zip(*map(visited, (output, *broadcast)), strict=True))
    actual = sorted(zip(*map(visited, nest), strict=True))
    assert actual == expected, f"loop_nest{(*layouts,)} is {nest}"


def broadcasting(r: Random) -> None:
    tensors = operands(r, r.choice((2, 3)))
    expected = answer(lambda: numbers(torch.broadcast_tensors(*tensors)))
    actual = answer(lambda: numbers(broadcast_tensors(*tensors)))
    assert actual == expected, (
        f"broadcast_tensors({codes(tensors)}): {actual}, torch has {expected}"
    )


def numpy_arrays(r: Random) -> None:
    shape = r.choices((0, 1, 2, 3), k=r.randint(0, 4))
    array = np.zeros(shape, r.choice(("u1", "f2", "f4", "f8", "c16", "S3", "S32", "S0", "S1")))
    array = array.transpose(r.sample(range(len(shape)), len(shape)))
    slices = [slice(None, None, r.choice((1, 1, 2, -1, -2))) for _ in shape]
    array = array[(..., *slices)]
    layout = Layout.of(array)
    try:
        x = torch.from_numpy(array)
    except (ValueError, TypeError):
        # torch.from_numpy also looks at the dtype, which a layout does not know.
        is_refused_for_dtype = array.dtype.kind == "S" and array.itemsize in BY_ITEMSIZE
        assert layout.why_not_torch() or is_refused_for_dtype, f"{layout} of {array.dtype}"
    else:
        assert not layout.why_not_torch(), f"{layout} of {array.dtype} is torch's"
        assert layout == Layout.of(x) or not array.size, f"{layout} is not torch's"
        assert numbers(layout.clone()) == numbers(x.clone()), f"{layout}.clone()"
    if prod(shape) > 1:
        expected = array.copy(order="K").strides
        copy = layout.clone()
        for d, size in enumerate(array.shape):
            is_equal = copy.stride[d] * array.itemsize == expected[d]
            assert size == 1 or is_equal, f"{layout}.clone(), NumPy's strides are {expected}"


OPERATIONS: dict[str, Callable[[Random], None]]
OPERATIONS = {name: partial(operation, name) for name in steps.ARGUMENTS}
OPERATIONS |= {"contiguous": contiguous, "clone": clone, "to": to, "cat": cat, "stack": stack}
FAMILIES = [
    chains,
    contiguity,
    dense,
    coalesce,
    dim_order,
    numpy_arrays,
    elementwise_output,
    loop_visits,
    broadcasting,
]
CASES = OPERATIONS | {family.__name__: family for family in FAMILIES}
