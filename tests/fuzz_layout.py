"""Layout against torch on random cases, one function for each family of operations.

Each function of CASES draws one case with the `random.Random` that it is given, does the same with a
tensor and with its layout, and raises AssertionError with the Python that repeats the layout's side.
"""

import random
import warnings
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np
import torch

from stridekit import Layout
from stridekit.elementwise import broadcast_tensors, loop_nest, output_layout
from tests.agree import REFUSALS, TORCH_REFUSALS, numbers, storage_of

DTYPES = [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128]
BY_ITEMSIZE = {dtype.itemsize: dtype for dtype in DTYPES}
INTS = [torch.int8, torch.int16, torch.int32, torch.int64]
PROMOTED = [torch.bool, *INTS, torch.bfloat16, torch.complex64, *DTYPES]  # each with each other
STORAGES = {dtype: torch.zeros(1 << 16, dtype=dtype) for dtype in PROMOTED}
FORMATS = [torch.contiguous_format, torch.channels_last, torch.channels_last_3d]
FORMAT_ORDERS = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}

Random = random.Random
Tensor = torch.Tensor


# Tensors and arguments ------------------------------------------------------------------------------


def tensor(r: Random, shape=None, dtype=None, max_ndim=5, sizes=(0, 1, 1, 2, 2, 3, 4)) -> Tensor:
    """A tensor of any stride: dense, cut out of a dense one, expanded or overlapping; with an offset."""
    if shape is None:
        shape = r.choices(sizes, k=r.randint(0, max_ndim))
    ndim, kind = len(shape), r.random()
    if kind < 0.25:
        stride = r.choices((0, 1, 1, 2, 3, 4, 6, 7, 12), k=ndim)
    else:
        order = range(ndim)[::-1] if kind < 0.5 else FORMAT_ORDERS.get(ndim)
        if not order or kind > 0.6:
            order = r.sample(range(ndim), ndim)
        stride, step = [0] * ndim, r.choice((1, 1, 1, 2))
        for d in order:
            stride[d] = 0 if kind > 0.95 and r.random() < 0.4 else step
            step *= max(shape[d], 1) + (kind > 0.8 and r.random() < 0.3)
    return STORAGES[dtype or r.choice(DTYPES)].as_strided(
        shape, stride, r.choice((0, 0, 1, 2, 3, 4, 8))
    )


def dim(r: Random, x: Tensor) -> int:
    """A dim of x, counted from either side, rarely out of range."""
    count = max(x.ndim, 1)
    return r.randint(-count, count - 1) if r.random() < 0.95 else r.choice((-count - 1, count))


def size_of(x: Tensor, d: int) -> int:
    return x.shape[d] if -x.ndim <= d < x.ndim else 2


@cache
def divisors(n: int) -> list[int]:
    return [k for k in range(2, n + 1) if n % k == 0]


def regrouped(r: Random, numel: int) -> list[int]:
    """A shape for so many elements, with ones in it."""
    sizes, rest = [1] * r.choice((0, 0, 1, 2)), numel
    if numel == 0:
        sizes += [0, *r.choices((0, 1, 2, 3), k=r.randint(0, 2))]
    while rest > 1:
        sizes.append(r.choice(divisors(rest)))
        rest //= sizes[-1]
    r.shuffle(sizes)
    return sizes


def as_asked(r: Random, sizes: list[int], wrong: float = 0.05) -> list[int]:
    """The sizes, often with a -1 to work out, and rarely with one that does not fit."""
    if sizes and r.random() < 0.25:
        sizes[r.randrange(len(sizes))] = -1
    if sizes and r.random() < wrong:
        sizes[r.randrange(len(sizes))] = r.choice((-2, -1, 0, 5))
    return sizes


# Comparing ------------------------------------------------------------------------------------------


def code(x: Tensor) -> str:
    """Python that makes this tensor's layout anew."""
    return f"Layout({tuple(x.shape)}, {x.stride()}, {x.storage_offset()}, {x.element_size()})"


def same(
    x: Tensor, name: str, *args: Any, by: Callable[[], Any] | None = None, **kwargs: Any
) -> Any:
    """`layout.name(*args)` is what torch makes of it, or both refuse; returns both results, or None.

    Without arguments the name may be a property; `by` is for what torch calls differently.
    """
    try:
        found = by() if by else use(x, name, args, kwargs)
        expected = numbers(found)
        if any(size < 0 for shape, *_ in expected for size in shape):
            expected = None  # torch made a size of -1: see tests/test_views.py
    except TORCH_REFUSALS:
        expected = None
    try:
        result = use(Layout.of(x), name, args, kwargs)
        given = numbers(result)
    except REFUSALS as refusal:
        given = None
        if str(refusal).endswith("index out of range"):  # Python's own: an accident
            raise AssertionError(f"{code(x)}.{name}{args}: {refusal}") from refusal
    if given != expected:
        asked = ", ".join([*map(str, args), *(f"{k}={v}" for k, v in kwargs.items())])
        raise AssertionError(f"{code(x)}.{name}({asked}) is {given}, torch has {expected}")
    return None if given is None else (result, found)


def use(x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    found = getattr(x, name)
    return found(*args, **kwargs) if callable(found) else found


def same_copy(x: Tensor, name: str, *args: Any, **kwargs: Any) -> None:
    """`same`, and `copied` tells whether torch's result is in another storage."""
    both = same(x, name, *args, **kwargs)
    if both and both[0].copied != (storage_of(both[1]) != storage_of(x)):
        raise AssertionError(f"{code(x)}.{name}{args} {kwargs} is {both[0]}: copied is wrong")


def answer(question: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The answer, or None for a refusal."""
    try:
        return question(*args, **kwargs)
    except (*TORCH_REFUSALS, *REFUSALS):
        return None


def visited(layout: Layout) -> list[int]:
    """The elements in the order of visit."""
    elements = [layout.storage_offset]
    for size, step in zip(layout.shape, layout.stride, strict=True):
        elements = [e + i * step for e in elements for i in range(size)]
    return elements


# The families ---------------------------------------------------------------------------------------


def basic_indexing(r: Random) -> None:
    x = tensor(r)
    index: list[Any] = []
    for size in x.shape[: r.randint(0, x.ndim)]:
        i, j = r.randint(-size - 1, size), r.randint(-size - 2, size + 2)
        if index and r.random() < 0.1:
            i = size  # out of range
        index.append(r.choice((i, slice(i, j), slice(j, None, r.randint(1, 3)), slice(None))))
    for extra in r.choice(([], [None], [...], [..., None])):
        index.insert(r.randint(0, len(index)), extra)
    same(x, "__getitem__", tuple(index))


def part_of_a_dim(r: Random) -> None:
    x = tensor(r)
    d = dim(r, x)
    same(x, "select", d, r.randint(-3, 3))
    same(x, "narrow", d, r.randint(-4, 4), r.randint(-1, 3))
    if r.random() < 0.2:
        same(x, "unbind", d)


def permutations(r: Random) -> None:
    x = tensor(r)
    dims = [d - r.choice((0, x.ndim)) for d in r.sample(range(x.ndim), x.ndim)]
    if dims and r.random() < 0.1:
        dims[0] = dims[-1]
    same(x, "permute", dims)
    same(
        x,
        r.choice(("transpose", "swapdims", "swapaxes", "movedim", "moveaxis")),
        dim(r, x),
        dim(r, x),
    )


def movedims(r: Random) -> None:
    x = tensor(r)
    sources = [d - r.choice((0, x.ndim)) for d in r.sample(range(x.ndim), r.randint(0, x.ndim))]
    places = [d - r.choice((0, x.ndim)) for d in r.sample(range(x.ndim), len(sources))]
    if places and r.random() < 0.1:
        places[0] = dim(r, x)
    same(x, r.choice(("movedim", "moveaxis")), sources, places[: r.choice((9, 9, 9, 1))])
    with warnings.catch_warnings():  # torch warns of some numbers of dims, but answers
        warnings.simplefilter("ignore")
        same(x, r.choice(("t", "T", "mT", "mH", "H", "adjoint")))


def squeezes(r: Random) -> None:
    x = tensor(r)
    same(x, "unsqueeze", dim(r, x))
    same(x, "squeeze", *r.choice(([], [dim(r, x)], [[dim(r, x) for _ in range(r.randint(0, 3))]])))


def splits(r: Random) -> None:
    x = tensor(r)
    d = dim(r, x)
    sizes = [r.randint(0, 2) for _ in range(r.randint(0, 3))]
    rest = size_of(x, d) - sum(sizes) if r.random() < 0.8 else r.randint(-1, 2)
    cuts = [r.randint(-5, 6) for _ in range(r.randint(0, 3))]
    name, argument = r.choice(
        (
            ("split", r.randint(-1, 5)),
            ("split", [*sizes, rest]),
            ("split_with_sizes", [*sizes, rest]),
            ("chunk", r.randint(0, 5)),
            ("tensor_split", r.randint(0, 5)),
            ("tensor_split", cuts),
        )
    )
    same(x, name, argument, d)


def even_splits(r: Random) -> None:
    cuts = [r.randint(-5, 6) for _ in range(r.randint(0, 3))]
    same(tensor(r), r.choice(("hsplit", "vsplit", "dsplit")), r.choice((r.randint(0, 4), cuts)))


def expand(r: Random) -> None:
    x = tensor(r, max_ndim=4)
    sizes = [r.choice((n, n, -1, 3 if n == 1 else n)) for n in x.shape]
    sizes = [r.choice((-1, 0, 1, 2, 3, 3)) for _ in range(r.randint(0, 2))] + sizes
    if sizes and r.random() < 0.1:
        sizes[r.randrange(len(sizes))] = r.randint(-2, 5)
    same(x, r.choice(("expand", "broadcast_to")), sizes)


def diagonal_unfold(r: Random) -> None:
    x = tensor(r)
    d = dim(r, x)
    same(x, "diagonal", r.randint(-4, 4), d, dim(r, x))
    same(x, "unfold", d, r.randint(-1, 4), r.randint(0, 3))


def view(r: Random) -> None:
    x = tensor(r, max_ndim=4)
    shape = as_asked(r, regrouped(r, x.numel()))
    viewed = same(x, "view", shape)
    if bool(Layout.of(x).why_not_view(shape)) == bool(viewed):
        raise AssertionError(f"{code(x)}.why_not_view({shape}) is wrong")


def unflatten(r: Random) -> None:
    x = tensor(r, sizes=(1, 2, 3, 4, 6))
    d = r.randrange(x.ndim) if x.ndim else 0
    # torch takes milliseconds for each refusal here.
    if x.ndim or r.random() < 0.1:
        same(x, "unflatten", d, as_asked(r, regrouped(r, size_of(x, d)) or [1], wrong=0.01))


def view_dtype(r: Random) -> None:
    x = tensor(r)
    if x.ndim and r.random() < 0.8:
        x = x.as_strided(x.shape, [r.choice((1, 2, 4)) * s for s in x.stride()[:-1]] + [1])
    itemsize = r.choice((1, 2, 4, 8, 16))
    same(x, "view_dtype", itemsize, by=lambda: x.view(BY_ITEMSIZE[itemsize]))


def complex_views(r: Random) -> None:
    x = tensor(r, dtype=torch.complex128)
    same(x, "view_as_real", by=lambda: torch.view_as_real(x))
    same(x, r.choice(("real", "imag")))
    parts = tensor(r, dtype=r.choice((torch.float32, torch.float64)))
    if r.random() < 0.8:
        stride = [r.choice((1, 2, 2, 2)) * s for s in parts.stride()]
        parts = parts.as_strided([*parts.shape, 2], [*stride, 1])
    same(parts, "view_as_complex", by=lambda: torch.view_as_complex(parts))


def as_strided(r: Random) -> None:
    x = tensor(r)
    shape = r.choices((0, 1, 2, 3), k=r.randint(0, 4))
    stride = r.choices((0, 1, 2, 3, 7), k=len(shape))
    if stride and r.random() < 0.1:
        stride[0] = -1
    if r.random() < 0.05:
        shape.append(r.choice((2, -1)))
    same(x, "as_strided", shape, stride, r.choice((None, None, -1, 0, 5)))


def reshape(r: Random) -> None:
    x = tensor(r, max_ndim=4)
    same_copy(x, "reshape", as_asked(r, regrouped(r, x.numel())))
    same_copy(x, "ravel")


def flatten(r: Random) -> None:
    x = tensor(r)
    same_copy(x, "flatten", *r.choice(([], [dim(r, x)], [dim(r, x), dim(r, x)])))


def contiguous(r: Random) -> None:
    x = tensor(r, sizes=(0, 1, 1, 1, 2, 2, 3))
    memory_format = r.choice(FORMATS)
    same_copy(x, "contiguous", memory_format=memory_format)
    expected = x.is_contiguous(memory_format=memory_format)
    if Layout.of(x).is_contiguous(memory_format) != expected:
        raise AssertionError(f"{code(x)}.is_contiguous({memory_format}) is not {expected}")


def clone_to(r: Random) -> None:
    x = tensor(r, sizes=(0, 1, 1, 1, 2, 2, 3), dtype=r.choice((torch.float16, torch.float32)))
    asked = {"memory_format": r.choice([*FORMATS, torch.preserve_format, torch.preserve_format])}
    kind = r.randrange(4)
    if kind == 0:
        same_copy(x, "clone", **asked)
    elif kind == 1:
        same_copy(x, "to", **asked, copy=r.random() < 0.3)
    else:
        itemsize = r.choice((2, 4))
        same_copy(x, "to", itemsize, **asked, by=lambda: x.to(BY_ITEMSIZE[itemsize], **asked))


def dense_coalesce(r: Random) -> None:
    x = tensor(r, sizes=(0, 1, 2, 2, 3), max_ndim=4)
    layout = Layout.of(x)
    if layout.is_dense() != torch.ops.aten.is_non_overlapping_and_dense(x):
        raise AssertionError(f"{code(x)}.is_dense() is {layout.is_dense()}")
    merged = layout.coalesce()
    if visited(merged) != visited(layout):
        raise AssertionError(f"{code(x)}.coalesce() is {merged}")


def dim_order(r: Random) -> None:
    x = tensor(r, sizes=(0, 1, 2, 2, 3) if r.random() < 0.3 else (2, 3, 4))
    check = r.choice((False, True, r.sample(FORMATS, r.randint(0, 3))))
    expected = answer(x.dim_order, ambiguity_check=check)
    given = answer(Layout.of(x).dim_order, ambiguity_check=check)
    if given != expected:
        raise AssertionError(f"{code(x)}.dim_order({check}) is {given}, torch has {expected}")


def elementwise_output(r: Random) -> None:
    full = r.choices((0, 1, 2, 2, 3, 3), k=r.randint(0, 4))
    operands = []
    for _ in range(r.choice((1, 2, 2, 3))):
        shape = [n if r.random() < 0.85 else r.choice((1, 1, 1, 2)) for n in full]
        operands.append(
            tensor(r, shape[r.choice((0, 0, r.randint(0, len(full)))) :], torch.float32)
        )
    if r.random() < 0.2:
        operands = operands[:1] * len(operands)
    compute = (torch.neg, torch.add, torch.addcmul)[len(operands) - 1]
    expected = answer(lambda: numbers(compute(*operands)))
    given = answer(lambda: numbers(output_layout(*operands)))
    if given != expected:
        line = f"output_layout({', '.join(map(code, operands))})"
        raise AssertionError(f"{line} is {given}, torch has {expected}")


def loop_visits(r: Random) -> None:
    """The loops pair the same elements of the operands as their broadcast layouts do."""
    full = r.choices((0, 1, 2, 2), k=r.randint(0, 4))
    shapes = [[n if r.random() < 0.8 else 1 for n in full][r.choice((0, 0, 1)) :] for _ in range(2)]
    operands = [Layout.of(tensor(r, shape, torch.float32)) for shape in shapes]
    nest, broadcast = loop_nest(*operands), broadcast_tensors(*operands)
    expected = sorted(zip(*map(visited, (output_layout(*operands), *broadcast)), strict=True))
    if sorted(zip(*map(visited, nest), strict=True)) != expected:
        raise AssertionError(f"loop_nest{(*operands,)} is {nest}")


def mixed_dtypes(r: Random) -> None:
    """Operands of two or three dtypes, of which torch casts some; 0-d ones rarely decide the dtype."""
    full = r.choices((0, 1, 2, 2, 3, 3), k=r.randint(0, 4))
    dtypes = r.sample(PROMOTED, r.choice((2, 2, 3)))
    operands = []
    for dtype in dtypes[: r.choice((2, 3))]:
        shape = [n if r.random() < 0.85 else 1 for n in full]
        operands.append(tensor(r, shape[r.choice((0, 0, 0, r.randint(0, len(full)))) :], dtype))
    name = r.choice(("add", "mul", "eq", "maximum")) if len(operands) == 2 else "addcmul"
    with warnings.catch_warnings():  # halves may meet complex numbers, which is called experimental
        warnings.simplefilter("ignore")
        expected = answer(lambda: numbers(getattr(torch, name)(*operands)))
    if expected is None:
        return  # not every operation takes every dtype
    given = numbers(output_layout(*operands, itemsize=1 if name == "eq" else None))
    if given != expected:
        asked = ", ".join(f"{code(x)} of {x.dtype}" for x in operands)
        raise AssertionError(f"torch.{name} of {asked}: {given}, torch has {expected}")


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
        if not layout.why_not_torch() and array.dtype.kind != "S":
            raise AssertionError(f"{layout} of {array.dtype} is torch's") from None
    else:
        if layout.why_not_torch() or numbers(layout.clone()) != numbers(tensor_of_it.clone()):
            raise AssertionError(f"{layout} of {array.dtype} is not torch's")
    if prod(shape) > 1:
        steps = [s // max(array.itemsize, 1) for s in array.copy(order="K").strides]
        stepped = [d for d, size in enumerate(array.shape) if size > 1]
        if [layout.clone().stride[d] for d in stepped] != [steps[d] for d in stepped]:
            raise AssertionError(f"{layout}.clone() is {layout.clone()}, NumPy has {steps}")


CASES: dict[str, Callable[[Random], None]] = {
    case.__name__: case
    for case in (
        basic_indexing,
        part_of_a_dim,
        splits,
        even_splits,
        diagonal_unfold,
        permutations,
        movedims,
        squeezes,
        expand,
        view,
        unflatten,
        view_dtype,
        complex_views,
        as_strided,
        reshape,
        flatten,
        contiguous,
        clone_to,
        dense_coalesce,
        dim_order,
        elementwise_output,
        loop_visits,
        mixed_dtypes,
        numpy_arrays,
    )
}
