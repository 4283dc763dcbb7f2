"""Random layouts and random operations on them: one generator for the properties, the fuzz and the browser.

Everything is drawn with a `random.Random`, so that a seed repeats a case and a case takes microseconds.
Hypothesis can hand in such a Random too (`strategies.py`), and then shrinks what it finds.
"""

from collections.abc import Callable
from functools import cache
from math import prod
from random import Random
from typing import Any

import torch

DTYPES = [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128]
FORMATS = [torch.contiguous_format, torch.channels_last, torch.channels_last_3d]
FORMAT_ORDERS = {4: (1, 3, 2, 0), 5: (1, 4, 3, 2, 0)}


def numbers(r: Random, shape=None, max_ndim=5, sizes=(0, 1, 1, 2, 2, 3, 4), min_ndim=0):
    """A shape, a stride and an offset: dense, cut out of something dense, repeated or overlapping."""
    if shape is None:
        shape = r.choices(sizes, k=r.randint(min_ndim, max_ndim))
    ndim = len(shape)
    density = r.random()
    innermost_step = r.choice((1, 1, 1, 2))
    if density < 0.25:
        stride = r.choices((0, 1, 1, 2, 3, 4, 6, 7, 12), k=ndim)
    else:
        order = range(ndim)[::-1] if density < 0.5 else FORMAT_ORDERS.get(ndim)
        if not order or density > 0.6:
            order = r.sample(range(ndim), ndim)
        stride = nested_stride(r, shape, order, innermost_step, density)
    return tuple(shape), tuple(stride), r.choice((0, 0, 1, 2, 3, 4, 8))


def nested_stride(r: Random, shape, order, step: int, density: float) -> list[int]:
    """A stride that packs the dims in this order; from a density of 0.8 on with gaps or repetitions."""
    stride = [0] * len(shape)
    for d in order:
        is_repeated = density > 0.95 and r.random() < 0.4
        if not is_repeated:
            stride[d] = r.choice((step, step, 1)) if shape[d] == 1 else step
        has_gap = density > 0.8 and r.random() < 0.3
        step *= max(shape[d], 1) + has_gap
    return stride


def tensor(r: Random, shape=None, dtype=None, **limits: Any) -> torch.Tensor:
    """A tensor with such numbers, on a storage with room for all of them."""
    storage = memory(dtype or r.choice(DTYPES))
    return storage.as_strided(*numbers(r, shape, **limits))


@cache
def memory(dtype: torch.dtype) -> torch.Tensor:
    """A storage with room for all tensors of the dtype."""
    return torch.zeros(1 << 16, dtype=dtype)


def operands(r: Random, count: int, dtypes=(torch.float32,), max_ndim=5) -> list[torch.Tensor]:
    """Tensors that broadcast, often of one shape, and mostly of the first dtypes in their order."""
    full_shape = r.choices((0, 1, 1, 2, 2, 3, 3), k=r.randint(0, max_ndim))
    tensors = []
    for k in range(count):
        shape = [size if r.random() < 0.85 else r.choice((1, 1, 1, 2)) for size in full_shape]
        shape = shape[r.choice((0, 0, 0, r.randint(0, len(full_shape)))) :]
        tensors.append(tensor(r, shape, dtypes[k % len(dtypes)]))
    return tensors


def dim(r: Random, x) -> int:
    """A dim of x, counted from either side, rarely out of range."""
    count = max(len(x.shape), 1)
    if r.random() < 0.95:
        return r.randint(-count, count - 1)
    return r.choice((-count - 1, count))


def among(r: Random, low: int, high: int) -> int:
    """A number between the two, rarely just outside."""
    if high < low or r.random() < 0.1:
        return r.choice((low - 1, high + 1))
    return r.randint(low, high)


def size_of(x, d: int) -> int:
    """The size of a dim, and 2 for a dim out of range."""
    return x.shape[d] if -len(x.shape) <= d < len(x.shape) else 2


def index(r: Random, shape) -> tuple[Any, ...]:
    """A basic index: ints, slices, None and ... in any mix, rarely out of range."""
    items: list[Any] = []
    for size in shape[: r.randint(0, len(shape))]:
        i = r.randint(-size, max(size - 1, 0))
        bound = r.randint(-size - 2, size + 2)
        if r.random() < 0.05:
            i = r.choice((size, -size - 1))
        step = r.randint(1, 3)
        items.append(r.choice((i, slice(i, bound), slice(bound, None, step), slice(None))))
    for item in r.choice(([], [], [None], [...], [..., None], [None, None])):
        items.insert(r.randint(0, len(items)), item)
    return tuple(items)


@cache
def divisors(n: int) -> list[int]:
    """The divisors of n but 1."""
    return [k for k in range(2, n + 1) if n % k == 0]


def new_shape(r: Random, numel: int, wrong=0.05) -> list[int]:
    """A shape for so many elements, with ones in it, often a -1, and rarely a size that does not fit."""
    sizes = [1] * r.choice((0, 0, 1, 2))
    if numel == 0:
        sizes += [0, *r.choices((0, 1, 2, 3), k=r.randint(0, 2))]
    remaining = numel
    while remaining > 1:
        sizes.append(r.choice(divisors(remaining)))
        remaining //= sizes[-1]
    r.shuffle(sizes)
    if sizes and r.random() < 0.25:
        sizes[r.randrange(len(sizes))] = -1
    if sizes and r.random() < wrong:
        sizes[r.randrange(len(sizes))] = r.choice((-2, -1, 0, 5))
    return sizes


def one_by_one(r: Random, sizes: list[int]) -> tuple[Any, ...]:
    """Sizes as torch takes them: as separate arguments, or as one sequence."""
    if sizes and r.random() < 0.5:
        return tuple(sizes)
    sequence = r.choice((tuple, list))
    return (sequence(sizes),)


def like(sizes: list[int]) -> torch.Tensor:
    """A tensor without memory, of these sizes without their signs."""
    return torch.empty([abs(size) for size in sizes], device="meta")


def permutation(r: Random, x) -> list[int]:
    """All dims in any order, counted from either side, rarely with a dim twice."""
    order = [d - r.choice((0, len(x.shape))) for d in r.sample(range(x.ndim), x.ndim)]
    if order and r.random() < 0.1:
        order[0] = order[-1]
    return order


def several_dims(r: Random, x) -> tuple[list[int], list[int]]:
    """Sources and destinations, rarely with a dim twice or too few of them."""
    count = r.randint(0, x.ndim)
    sources = permutation(r, x)[:count]
    destinations = permutation(r, x)[:count]
    if destinations and r.random() < 0.1:
        destinations[0] = dim(r, x)
    return sources, destinations[: r.choice((9, 9, 9, 1))]


def expanded_shape(r: Random, x) -> list[int]:
    """The shape with dims of size 1 repeated, some as -1, and new leading dims; rarely not so."""
    sizes = [r.choice((size, size, -1, 3 if size == 1 else size)) for size in x.shape]
    leading_sizes = [r.choice((-1, 0, 1, 2, 3, 3)) for _ in range(r.randint(0, 2))]
    sizes = leading_sizes + sizes
    if sizes and r.random() < 0.1:
        sizes[r.randrange(len(sizes))] = r.randint(-2, 5)
    return sizes


def piece_sizes(r: Random, x, d: int) -> list[int]:
    """Sizes that usually add up to that of the dim."""
    sizes = [r.randint(0, 2) for _ in range(r.randint(0, 3))]
    last = size_of(x, d) - sum(sizes) if r.random() < 0.8 else r.randint(-1, 2)
    return [*sizes, last]


def cut_indices(r: Random) -> list[int]:
    """A few indices, in any order, negative and too large ones among them."""
    return [r.randint(-6, 6) for _ in range(r.randint(0, 3))]


def with_dim(draw: Callable[..., Any]) -> Callable[[Random, Any], tuple[Any, ...]]:
    """Arguments of which the last is any dim, or 0, which may be left out."""

    def arguments(r: Random, x) -> tuple[Any, ...]:
        d = dim(r, x) if r.random() < 0.7 else 0
        drawn = draw(r, x, d)
        if d or r.random() < 0.5:
            return (*drawn, d)
        return drawn

    return arguments


def select_arguments(r: Random, x) -> tuple[Any, ...]:
    d = dim(r, x)
    return d, among(r, -size_of(x, d), size_of(x, d) - 1)


def narrow_arguments(r: Random, x) -> tuple[Any, ...]:
    d = dim(r, x)
    start = among(r, -size_of(x, d), size_of(x, d))
    longest = -start if start < 0 else size_of(x, d) - start
    return d, start, among(r, 0, longest)


def diagonal_arguments(r: Random, x) -> tuple[Any, ...]:
    offset = r.randint(-5, 5)
    return r.choice(((), (offset,), (offset, *two_dims(r, x))))


def unfold_arguments(r: Random, x) -> tuple[Any, ...]:
    d = dim(r, x)
    return d, among(r, 0, size_of(x, d)), r.choice((1, 1, 2, 2, 3, 4, 0))


def unflatten_arguments(r: Random, x) -> tuple[Any, ...]:
    d = dim(r, x)
    return d, new_shape(r, size_of(x, d), wrong=0.01)


def as_strided_arguments(r: Random, x) -> tuple[Any, ...]:
    shape = r.choices((0, 1, 2, 3), k=r.randint(0, 4))
    stride = r.choices((0, 1, 2, 3, 7), k=len(shape))
    if stride and r.random() < 0.1:
        stride[0] = -1
    if r.random() < 0.05:
        shape.append(r.choice((2, -1)))
    return (shape, stride, *r.choice(((), (None,), (-1,), (0,), (5,))))


def two_dims(r: Random, x) -> tuple[Any, ...]:
    return dim(r, x), dim(r, x)


def movedim_arguments(r: Random, x) -> tuple[Any, ...]:
    draw = r.choice((two_dims, several_dims))
    return draw(r, x)


def squeeze_arguments(r: Random, x) -> tuple[Any, ...]:
    several = permutation(r, x)[: r.randint(0, 3)]
    return r.choice(((), (dim(r, x),), (several,)))


def hsplit_arguments(r: Random, x) -> tuple[Any, ...]:
    sections = (r.randint(0, 4),)
    two_indices = (r.randint(-6, 6), r.randint(-6, 6))
    return r.choice((sections, (cut_indices(r),), two_indices))


def repeat_arguments(r: Random, x) -> tuple[Any, ...]:
    count = max(x.ndim + r.choice((0, 0, 0, 1, 2, -1)), 0)
    return one_by_one(r, r.choices((1, 2, 3, 0, -1), (12, 4, 2, 1, 1), k=count))


def same_numel(r: Random, x) -> list[int]:
    """A shape that mostly has as many elements as x."""
    return new_shape(r, prod(x.shape))


PROPERTIES = ("T", "mT", "mH", "H", "real", "imag")
WITHOUT_ARGUMENTS = (*PROPERTIES, "t", "adjoint", "view_as_real", "view_as_complex", "detach")
WITHOUT_ARGUMENTS += ("alias", "ravel", "contiguous")

# For each operation of Layout that torch has under this name: arguments that usually exist.
ARGUMENTS: dict[str, Callable[[Random, Any], tuple[Any, ...]]] = {
    **dict.fromkeys(WITHOUT_ARGUMENTS, lambda r, x: ()),
    "__getitem__": lambda r, x: (index(r, x.shape),),
    "select": select_arguments,
    "unbind": with_dim(lambda r, x, d: ()),
    **dict.fromkeys(("narrow", "narrow_copy"), narrow_arguments),
    "split": with_dim(lambda r, x, d: (r.choice((r.randint(-1, 5), piece_sizes(r, x, d))),)),
    "split_with_sizes": with_dim(lambda r, x, d: (piece_sizes(r, x, d),)),
    "chunk": with_dim(lambda r, x, d: (r.randint(-1, 6),)),
    "tensor_split": with_dim(lambda r, x, d: (r.choice((r.randint(-1, 6), cut_indices(r))),)),
    **dict.fromkeys(("hsplit", "vsplit", "dsplit"), hsplit_arguments),
    "diagonal": diagonal_arguments,
    "unfold": unfold_arguments,
    "permute": lambda r, x: one_by_one(r, permutation(r, x)),
    **dict.fromkeys(("transpose", "swapdims", "swapaxes"), two_dims),
    **dict.fromkeys(("movedim", "moveaxis"), movedim_arguments),
    "unsqueeze": lambda r, x: (dim(r, x),),
    "squeeze": squeeze_arguments,
    **dict.fromkeys(("expand", "broadcast_to"), lambda r, x: one_by_one(r, expanded_shape(r, x))),
    "expand_as": lambda r, x: (like(expanded_shape(r, x)),),
    **dict.fromkeys(("view", "reshape"), lambda r, x: one_by_one(r, same_numel(r, x))),
    "view_as": lambda r, x: (like(same_numel(r, x)),),
    "unflatten": unflatten_arguments,
    "view_dtype": lambda r, x: (r.choice((1, 2, 4, 8, 16)),),
    "as_strided": as_strided_arguments,
    "reshape_as": lambda r, x: (like(same_numel(r, x)),),
    "flatten": lambda r, x: r.choice(((), (dim(r, x),), two_dims(r, x))),
    "flip": lambda r, x: one_by_one(r, permutation(r, x)[: r.randint(0, 3)]),
    "repeat": repeat_arguments,
    "tile": lambda r, x: one_by_one(r, r.choices((0, 1, 1, 2, 3), k=r.randint(0, 4))),
}

# Views that most layouts have, of any size; each returns one layout.
USUAL = ["__getitem__", "select", "narrow", "diagonal", "permute", "unfold", "unflatten"]


def viewed(r: Random, x, names=USUAL) -> tuple[Any, str]:
    """A layout or a tensor after such an operation, the first drawn that exists, and its source."""
    for _ in range(100):
        name = r.choice(names)
        args = ARGUMENTS[name](r, x)
        try:
            view = getattr(x, name)
            if name not in PROPERTIES:
                view = view(*args)
        except (RuntimeError, IndexError, ValueError):
            continue
        return view, source(name, args)
    return x, ""


def source(name: str, args: tuple[Any, ...]) -> str:
    """A step as Python has it, to be written behind the name of a tensor or a layout."""
    if name in PROPERTIES:
        return f".{name}"
    if name == "__getitem__":
        return f"[{', '.join(map(_item, args[0])) or '...'}]"
    return f".{name}({', '.join(map(str, args))})"


def _item(item: Any) -> str:
    if not isinstance(item, slice):
        return "..." if item is ... else str(item)
    bounds = [item.start, item.stop]
    if item.step:
        bounds.append(item.step)
    return ":".join("" if bound is None else str(bound) for bound in bounds)
