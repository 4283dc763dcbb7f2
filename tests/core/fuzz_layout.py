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
ALL = [*FORMATS, torch.preserve_format]

# What torch calls differently.
TORCHS: dict[str, Callable[..., Any]] = {
    "view_dtype": lambda x, itemsize: x.view(BY_ITEMSIZE[itemsize]),
    "view_as_real": torch.view_as_real,
    "view_as_complex": torch.view_as_complex,
    "alias": torch.ops.aten.alias,
    "to": lambda x, itemsize=None, **asked: x.to(BY_ITEMSIZE.get(itemsize, x.dtype), **asked),
}


def code(x: Tensor) -> str:
    return f"Layout({tuple(x.shape)}, {x.stride()}, {x.storage_offset()}, {x.element_size()})"


def codes(tensors: list[Tensor]) -> str:
    return ", ".join(map(code, tensors))


def same(x: Tensor, name: str, *args: Any, **kwargs: Any) -> Any:
    """`layout.name(*args)` is what torch makes of it, or both refuse; returns torch's, or None.

    `copied` tells whether torch's result lies in another storage.
    """
    given = expected = found = None
    try:
        with warnings.catch_warnings():  # torch warns of some numbers of dims, but answers
            warnings.simplefilter("ignore")
            ours = TORCHS.get(name)
            found = ours(x, *args, **kwargs) if ours else use(x, name, args, kwargs)
        expected = [(*one, storage_of(y) != storage_of(x)) for one, y in each(found)]
        if any(size < 0 for shape, *_ in expected for size in shape):
            expected = found = None  # torch made a size of -1, which Layout refuses
    except TORCH_REFUSALS:
        pass
    try:
        given = [(*one, y.copied) for one, y in each(use(Layout.of(x), name, args, kwargs))]
    except REFUSALS as refusal:
        if str(refusal).endswith("index out of range"):  # Python's own: an accident
            raise AssertionError(f"{code(x)}{steps.source(name, args)}: {refusal}") from refusal
    line = f"{code(x)}{steps.source(name, args)}{f' with {kwargs}' if kwargs else ''}"
    assert given == expected, f"{line} is {given}, torch has {expected}"
    return found


def use(x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    found = getattr(x, name)
    return found(*args, **kwargs) if callable(found) else found


def each(results: Any) -> Any:
    several = results if isinstance(results, (tuple, list)) else [results]
    return zip(numbers(several), several, strict=True)


def answer(question: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return question(*args, **kwargs)
    except (*TORCH_REFUSALS, *REFUSALS):
        return None


def operation(name: str, r: Random) -> None:
    x = DRAWN.get(name, tensor)(r)
    if name == "unflatten" and not x.ndim and r.random() < 0.9:
        return  # torch takes milliseconds for each of these refusals
    args = steps.ARGUMENTS[name](r, x)
    found = same(x, name, *args)
    if name == "view":
        why = Layout.of(x).why_not_view(*args)
        assert (why == "") == (found is not None), f"{code(x)}.why_not_view{args} is {why!r}"


def rows(r: Random) -> Tensor:
    """A tensor whose last dim has stride 1, the others often even ones."""
    x = tensor(r)
    if not x.ndim or r.random() < 0.2:
        return x
    return x.as_strided(x.shape, [*(r.choice((1, 2, 4)) * s for s in x.stride()[:-1]), 1])


def pairs(r: Random) -> Tensor:
    """A tensor that mostly ends in two parts of one complex number."""
    x = tensor(r, max_ndim=4, dtype=r.choice((torch.float16, torch.float32, torch.float64)))
    if r.random() < 0.2:
        return x
    return x.as_strided([*x.shape, 2], [*(r.choice((1, 2, 2, 2)) * s for s in x.stride()), 1])


def small(r: Random) -> Tensor:
    return tensor(r, max_ndim=4)


def flattish(r: Random) -> Tensor:
    return tensor(r, sizes=(1, 2, 3, 4, 6))


DRAWN = {"view_dtype": rows, "view_as_complex": pairs, "unflatten": flattish}
DRAWN |= dict.fromkeys(("view_as_real", "real", "imag"), partial(tensor, dtype=torch.complex128))
DRAWN |= dict.fromkeys(("expand", "broadcast_to", "expand_as", "view", "reshape"), small)


def contiguous(r: Random) -> None:
    same(image(r), "contiguous", **r.choice(({}, {"memory_format": r.choice(ALL)})))


def clone(r: Random) -> None:
    same(image(r), "clone", memory_format=r.choice([*ALL, None]))


def to(r: Random) -> None:
    asked: dict[str, Any] = {"memory_format": r.choice([*ALL, None])}
    if r.random() < 0.3:
        asked["copy"] = r.random() < 0.5
    same(image(r), "to", *r.choice(((), (2,), (4,))), **asked)


def image(r: Random) -> Tensor:
    """Often of 4 or 5 dims, with sizes of 1, where memory formats are ambiguous."""
    few = r.choice((0, 4))
    dtype = r.choice((torch.float16, torch.float32))
    return tensor(r, sizes=(0, 1, 1, 1, 2, 2, 3), min_ndim=few, dtype=dtype)


def chains(r: Random) -> None:
    """Five views, one of the other: each layout is made of the one before, not of a tensor."""
    x = tensor(r, max_ndim=4)
    layout, line = Layout.of(x), code(x)
    for _ in range(5):
        seed = r.random()
        (layout, text), (x, _) = (steps.viewed(Random(seed), y) for y in (layout, x))
        line += text
        assert numbers(layout) == numbers(x), f"{line} is {layout}, torch has {numbers(x)}"
        assert not layout.storage, line


def contiguity(r: Random) -> None:
    x, memory_format = image(r), r.choice(ALL)
    why = Layout.of(x).why_not_contiguous(memory_format)
    is_contiguous = x.is_contiguous(memory_format=memory_format)
    assert is_contiguous == (why == ""), f"{code(x)}.why_not_contiguous({memory_format}) is {why!r}"
    fitting = [str(f)[6:] for f in FORMATS if x.is_contiguous(memory_format=f)]
    name = Layout.of(x).memory_format
    expected = {0: "neither", 2: "both"}.get(len(fitting), "".join(fitting))
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
    reached, reason = visited(layout), re.fullmatch(NOT_DENSE, why)
    assert reason, why
    dim, stride, needed, first, last, shared = (int(n or 0) for n in reason.groups())
    assert layout.stride[dim] == stride != needed, f"{code(x)}: {why}"
    if reason[6]:
        assert reached.count(shared) > 1, f"{code(x)}: {why}"
    else:
        hole = {*range(first, max(first, last) + 1)}
        assert {first - 1, max(hole) + 1} <= {*reached}, f"{code(x)}: {why}"
        assert not hole & {*reached}, f"{code(x)}: {why}"


NOT_DENSE = (
    r"dim (\d+) has stride (\d+), (\d+) is needed: "
    r"(?:elements? (\d+)(?: to (\d+) are| is) a hole|two indices share element (\d+))"
)


def coalesce(r: Random) -> None:
    """The same elements in the same order, and no two dims left that would merge."""
    x = tensor(r, sizes=(0, 1, 2, 2, 3), max_ndim=4)
    merged = Layout.of(x).coalesce()
    assert visited(merged) == visited(Layout.of(x)), f"{code(x)}.coalesce() is {merged}"
    inner = [n * s for n, s in zip(merged.shape, merged.stride, strict=True)][1:]
    merge = [step == all_of_it for step, all_of_it in zip(merged.stride, inner, strict=False)]
    assert 1 not in merged.shape and not any(merge), f"{code(x)}.coalesce() is {merged}"
    assert x.numel() or (merged.shape, merged.stride) == ((0,), (1,)), merged


def dim_order(r: Random) -> None:
    x = tensor(r, sizes=(0, 1, 2, 2, 3) if r.random() < 0.3 else (2, 3, 4))
    check = r.choice((False, True, r.sample(ALL, r.randint(0, 3))))
    expected = answer(x.dim_order, ambiguity_check=check)
    given = answer(Layout.of(x).dim_order, ambiguity_check=check)
    assert given == expected, f"{code(x)}.dim_order({check}) is {given}, torch has {expected}"


def elementwise_output(r: Random) -> None:
    """Of one, two and three operands, and of a comparison, whose result has other elements."""
    tensors = operands(r, r.choice((1, 2, 2, 3)))
    if r.random() < 0.3:
        other = tensors[0] if r.random() < 0.5 else image(r).float()
        tensors = tensors[:1] + [other] * (len(tensors) - 1)
    compute, itemsize = (torch.neg, torch.add, torch.addcmul)[len(tensors) - 1], None
    if r.random() < 0.2 and len(tensors) < 3:
        compute, itemsize = (torch.isnan, torch.gt)[len(tensors) - 1], 1
    expected = answer(lambda: numbers(compute(*tensors)))
    given = answer(lambda: numbers(output_layout(*tensors, itemsize=itemsize)))
    assert given == expected, f"output_layout({codes(tensors)}) is {given}, torch has {expected}"


def loop_visits(r: Random) -> None:
    """The loops pair the same elements of the operands as their broadcast layouts do."""
    layouts = [Layout.of(x) for x in operands(r, 2, max_ndim=4)]
    try:
        broadcast = broadcast_tensors(*layouts)
    except REFUSALS:
        return
    out = output_layout(*layouts)
    given_out = r.random() < 0.5
    if given_out:  # in another order of the dims
        out = Layout(out.shape[::-1], storage_offset=3, itemsize=4).T
    nest = loop_nest(*layouts, out=out if given_out else None)
    expected = sorted(zip(*map(visited, (out, *broadcast)), strict=True))
    found = sorted(zip(*map(visited, nest), strict=True))
    assert found == expected, f"loop_nest{(*layouts,)} is {nest}"


def broadcasting(r: Random) -> None:
    tensors = operands(r, r.choice((2, 3)))
    expected = answer(lambda: numbers(torch.broadcast_tensors(*tensors)))
    given = answer(lambda: numbers(broadcast_tensors(*tensors)))
    assert given == expected, f"broadcast_tensors({codes(tensors)}): {given}, torch has {expected}"


def numpy_arrays(r: Random) -> None:
    shape = r.choices((0, 1, 2, 3), k=r.randint(0, 4))
    array = np.zeros(shape, r.choice(("u1", "f2", "f4", "f8", "c16", "S3", "S32", "S0", "S1")))
    array = array.transpose(r.sample(range(len(shape)), len(shape)))
    array = array[(..., *(slice(None, None, r.choice((1, 1, 2, -1, -2))) for _ in shape))]
    layout = Layout.of(array)
    try:
        tensor_of_it = torch.from_numpy(array)
    except (ValueError, TypeError):
        # torch.from_numpy also looks at the dtype, which a layout does not know.
        known = array.dtype.kind != "S" or array.itemsize not in BY_ITEMSIZE
        assert layout.why_not_torch() or not known, f"{layout} of {array.dtype} is torch's"
    else:
        assert not layout.why_not_torch(), f"{layout} of {array.dtype} is torch's"
        assert layout == Layout.of(tensor_of_it) or not array.size, f"{layout} is not torch's"
        assert numbers(layout.clone()) == numbers(tensor_of_it.clone()), f"{layout}.clone()"
    if prod(shape) > 1:
        strides = [s // max(array.itemsize, 1) for s in array.copy(order="K").strides]
        stepped = [d for d, size in enumerate(array.shape) if size > 1]
        copied = [layout.clone().stride[d] for d in stepped]
        assert copied == [strides[d] for d in stepped], f"{layout}.clone(), NumPy has {strides}"


OPERATIONS: dict[str, Callable[[Random], None]]
OPERATIONS = {name: partial(operation, name) for name in steps.ARGUMENTS}
OPERATIONS |= {"contiguous": contiguous, "clone": clone, "to": to}
_OTHERS = (
    *(chains, contiguity, dense, coalesce, dim_order, numpy_arrays),
    *(elementwise_output, loop_visits, broadcasting),
)
CASES = OPERATIONS | {family.__name__: family for family in _OTHERS}
