"""What callers hand in, checked at the door: ints, shapes, dims and indices."""

from __future__ import annotations

import operator
import re
import reprlib
import sys
from collections.abc import Iterable, Mapping, Set, Sized
from itertools import islice
from typing import Any

# Sums and products of a few such numbers can still be written out: Python refuses above 4,300 digits.
LARGEST = 2**4096
# Of whatever is handed in one behind the other, an endless iterator included.
MOST_ITEMS = 100_000


class LayoutError(ValueError):
    """A layout that does not exist, or an operation that has no view: a ValueError.

    Raised by `Layout` and by all that takes one; the message has the shapes, the strides and the dim.

    >>> Layout((4, 6)).t().view(24)
    Traceback (most recent call last):
    stridekit.LayoutError: cannot view shape (6, 4), stride (1, 6) as (24,): dims 0 and 1 do not merge ...
    """

    __module__ = "stridekit"


# Names that begin with the sound of a vowel. Not uint8, a Union and a UUID; but ndarray, and letters
# read one by one, as in an LSTM.
_AN = re.compile(r"(?i:[ai]|e(?!u)|o(?!ne)|un(?!i(?!n))|up|nd)|[FHLMNRSX](?![a-z])")


def a_kind(value: Any) -> str:
    """The type of a value with its article, as spoken: an int, a float, an ndarray, a uint8."""
    return with_article(type(value).__name__)


def with_article(name: str) -> str:
    """A name with the article that is spoken before it."""
    return f"{'an' if _AN.match(name) else 'a'} {name}"


class _Shown(reprlib.Repr):
    """A repr that stays short, and reads no memory: torch's own crashes where a storage was shrunk."""

    def __init__(self) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxdict = 8
        self.maxstring = self.maxlong = self.maxother = 80

    def repr_int(self, x: int, level: int) -> str:
        if abs(x) <= LARGEST:
            return super().repr_int(x, level)
        return (
            f"<int of {x.bit_length():,} bits>"  # its digits would take long, or cannot be written
        )

    def repr_instance(self, x: Any, level: int) -> str:
        if not hasattr(type(x), "shape"):
            return super().repr_instance(x, level)
        try:
            return f"<{type(x).__name__} of shape {tuple(x.shape)}>"
        except Exception:  # a nested tensor has none, nor has a lazy module's parameter
            return f"<{type(x).__name__}>"


# The value that a caller handed in, as an error quotes it.
shown = _Shown().repr


def _is_symbolic(value: Any) -> bool:
    """Whether this is torch's SymInt; taking it for an int would fix it in the graph that is traced."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.SymInt)


def int_(name: str, value: Any) -> int:
    """The value as a plain int; True and 1.0 are no ints here, nor is a size that stands for many."""
    if _is_symbolic(value):
        raise LayoutError(
            f"{name} is symbolic, {value}: it stands for many numbers while a graph is traced; give an "
            "int, or a tensor made outside of the trace"
        )
    if not isinstance(value, bool):
        try:
            return _of_a_size(name, operator.index(value))
        except LayoutError:
            raise
        except Exception:  # TypeError, and what torch raises for tensors without a number
            pass
    raise LayoutError(f"{name} is {shown(value)}, {a_kind(value)}: give an int")


def _of_a_size(name: str, value: int) -> int:
    if abs(value) > LARGEST:
        raise LayoutError(f"{name} is {shown(value)}: numbers go up to 2**4096")
    return value


def ints(name: str, values: Any) -> tuple[int, ...]:
    """The values as a tuple of plain ints."""
    plain = type(values) is tuple and {*map(type, values)} <= {int}
    if plain and len(values) <= MOST_ITEMS and max(map(abs, values), default=0) <= LARGEST:
        return values  # nearly always: each new layout comes by here
    items = items_of(values)
    if items is None:
        raise LayoutError(f"{name} is {shown(values)}, {a_kind(values)}: give a tuple of ints")
    return tuple(int_(f"{name}[{d}]", value) for d, value in enumerate(items))


def texts(name: str, values: Any) -> tuple[str, ...]:
    """The values as a tuple of texts; one text alone is none."""
    found = items_of(values)
    if found is None:
        raise LayoutError(f"{name} is {shown(values)}, {a_kind(values)}: give a sequence of texts")
    for k, value in enumerate(found):
        if not isinstance(value, str):
            raise LayoutError(f"{name}[{k}] is {shown(value)}, {a_kind(value)}: give a text")
    return found


def items_of(values: Any) -> tuple[Any, ...] | None:
    """A sequence as a tuple; None for a text, what has no order, and what cannot be iterated.

    Raises LayoutError for more than anyone can mean, as what has no end would never be read.
    """
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Set, Mapping)):
        return None
    try:
        # A tensor makes one of each of its rows before it hands out the first: ask for its length.
        many = isinstance(values, Sized) and len(values) > MOST_ITEMS
        found = () if many else tuple(islice(values, MOST_ITEMS + 1))
    except Exception:  # a 0-d array says that it can be iterated, and so does a nested tensor
        return None
    if many or len(found) > MOST_ITEMS:
        raise LayoutError(f"{a_kind(values)} with more than {MOST_ITEMS:,} values: give fewer")
    return found


def varargs(name: str, args: tuple[Any, ...]) -> tuple[int, ...]:
    """torch's convention: sizes as separate arguments or as one sequence."""
    if not args:
        raise LayoutError(f"{name} is missing: give ints, or () for no dims")
    one = len(args) == 1 and isinstance(args[0], Iterable) and not _is_0d(args[0])
    return ints(name, args[0] if one else args)


def _is_0d(value: Any) -> bool:
    """Whether this is a tensor or an array of no dims, which says that it can be iterated and cannot."""
    return bool(getattr(value, "ndim", 1) == 0)


def shape_of(other: Any) -> tuple[int, ...]:
    """The shape of what `view_as` and its kin take: a layout, a tensor or an array."""
    try:
        shape = None if isinstance(other, type) else other.shape
    except (AttributeError, RuntimeError):  # a nested tensor raises the latter
        shape = None
    if shape is None:
        raise LayoutError(f"{a_kind(other)} has no shape: give a layout, a tensor or an array")
    return ints("shape", shape)


def basic_index(item: Any) -> int:
    if _is_symbolic(item):
        return int_("an index", item)
    if not isinstance(item, bool) and not getattr(item, "ndim", 0):
        try:
            return _of_a_size("an index", operator.index(item))
        except LayoutError:
            raise
        except Exception:  # as in `int_`
            pass
    raise LayoutError(
        f"{shown(item)} is no basic index: a layout takes ints, slices, ... and None; lists, masks and "
        "tensors gather elements into a new storage"
    )


def wrap_dim(dim: Any, ndim: int, shape: tuple[int, ...]) -> int:
    """A dim counted from 0; like torch, a 0-d layout accepts 0 and -1."""
    dim, count = int_("dim", dim), max(ndim, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"dim {dim} is out of range for shape {shape}: use {-count} to {count - 1}"
        )
    return dim % count


def different_dims(name: str, dims: Any, shape: tuple[int, ...]) -> list[int]:
    """One dim or several, counted from 0; raises LayoutError where one is named twice."""
    wanted = ints(name, dims if isinstance(dims, Iterable) else (dims,))
    wrapped = [wrap_dim(dim, len(shape), shape) for dim in wanted]
    for i, dim in enumerate(wrapped):
        if dim in wrapped[:i]:
            raise LayoutError(f"{name} {wanted} names dim {dim} twice: give each dim once")
    return wrapped
