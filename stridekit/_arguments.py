"""Checks of what callers pass: ints, shapes, dims and indices, and the numbers of tensors and arrays.

A refusal names the value, its kind and what to give instead. Like in torch, a dim or an index out
of range raises IndexError. torch is not imported, not even to ask a tensor for its numbers.
"""

from __future__ import annotations

import operator
import re
import reprlib
import sys
from collections.abc import Iterable, Mapping, Set, Sized
from itertools import islice
from typing import Any, Protocol, TypeAlias, TypeGuard

# Python writes out at most 4,300 digits: enough for sums and products of a few such numbers.
MAX_INT = 2**4096
# The items that are read from one sequence; an iterator may be endless.
MOST_ITEMS = 100_000


class LayoutError(ValueError):
    """A layout that does not exist, or an operation that has no view: a ValueError.

    Raised by `Layout` and functions that take one; the message names the shapes, the strides and
    the dim.

    >>> Layout((4, 6)).t().view(24)
    Traceback (most recent call last):
    stridekit.LayoutError: cannot view shape (6, 4), stride (1, 6) as (24,): dims 0 and 1 do not merge ...
    """

    __module__ = "stridekit"


class _HasShape(Protocol):
    @property
    def shape(self) -> Any: ...


class _Exported(Protocol):
    def __dlpack__(self) -> Any: ...


# A Layout, a torch tensor, a NumPy array, or an object that torch or NumPy can take as one.
Strided: TypeAlias = _HasShape | _Exported


class _HasItemsize(Protocol):
    @property
    def itemsize(self) -> int: ...


# A dtype of torch or NumPy, a type such as float, or the name of a dtype.
DType: TypeAlias = _HasItemsize | type | str

_TYPE_BYTES = {bool: 1, int: 8, float: 8, complex: 16}  # of the dtypes that torch makes of them
_DTYPE_NAME = re.compile(
    r"(?:torch\.|numpy\.|np\.)?(?:bool|(?:u?int|b?float|complex)(8|16|32|64|128|256)(?:_e\dm\d\w*)?)"
)


# Names that begin with the sound of a vowel: an ndarray, and an LSTM, whose letters are read one by
# one; but a uint8, a Union and a UUID.
_AN = re.compile(r"(?i:[ai]|e(?!u)|o(?!ne)|un(?!i(?!n))|up|nd)|[FHLMNRSX](?![a-z])")


def a_kind(value: Any) -> str:
    """Return the type of a value with its spoken article: an int, a float, an ndarray, a uint8."""
    return with_article(type(value).__name__)


def with_article(name: str) -> str:
    """Return a name with its spoken article."""
    return f"{'an' if _AN.match(name) else 'a'} {name}"


def many(count: int, noun: str, digits: str = "") -> str:
    """Return a number of things; `digits` is "," to group the digits.

    >>> many(1, "round"), many(1200, "copy", ","), many(2, "array")
    ('1 round', '1,200 copies', '2 arrays')
    """
    is_after_consonant = noun.endswith("y") and noun[-2] not in "aeo"
    plural = f"{noun[:-1]}ies" if is_after_consonant else f"{noun}s"
    return f"{count:{digits}} {noun if count == 1 else plural}"


def in_bytes(size: int) -> str:
    """Return a number of bytes with three digits.

    >>> in_bytes(48), in_bytes(9216), in_bytes(999_999)
    ('48 B', '9.22 kB', '1 MB')
    """
    rounded = float(f"{size:.3g}")
    for unit, unit_bytes in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(rounded) >= unit_bytes:
            return f"{rounded / unit_bytes:g} {unit}"
    return f"{size} B"


class _Shown(reprlib.Repr):
    """A short repr that reads no memory: torch's own crashes on a storage that was shrunk."""

    def __init__(self) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxdict = 8
        self.maxstring = self.maxlong = self.maxother = 80

    def repr_int(self, x: int, level: int) -> str:
        if abs(x) <= MAX_INT:
            return super().repr_int(x, level)
        # Its digits would take long, or cannot be written.
        return f"<int of {x.bit_length():,} bits>"

    def repr_instance(self, x: Any, level: int) -> str:
        if not hasattr(type(x), "shape"):
            return super().repr_instance(x, level)
        try:
            return f"<{type(x).__name__} of shape {tuple(x.shape)}>"
        except Exception:  # neither a nested tensor nor a lazy module's parameter has a shape
            return f"<{type(x).__name__}>"


# The value that a caller passed, as an error quotes it.
shown = _Shown().repr


def wrong_argument_error(name: str, value: Any, advice: str) -> LayoutError:
    """Return the error about an argument of a wrong type."""
    return LayoutError(f"{name} is {shown(value)}, {a_kind(value)}: {advice}")


def _plain_int(name: str, value: Any) -> int | None:
    """Return the value as a plain int; None for anything else, True and 1.0 included."""
    number = value if type(value) is int else _index_of(name, value)
    if number is not None and abs(number) > MAX_INT:
        raise LayoutError(f"{name} is {shown(number)}: numbers go up to 2**4096")
    return number


def _index_of(name: str, value: Any) -> int | None:
    """Return the int that a value stands for in an index, as that of NumPy; None if it is none."""
    if isinstance(value, bool):
        return None
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.SymInt):
        # Making an int of it would fix that number in the graph that is being traced.
        raise LayoutError(
            f"{name} is symbolic, {value}: it stands for many numbers while a graph is traced; give an "
            "int, or a tensor made outside of the trace"
        )
    if torch is not None and isinstance(value, torch.Tensor) and value.dtype is torch.bool:
        return None  # operator.index would make 1 of True
    try:
        return operator.index(value)
    except Exception:  # TypeError, and what torch raises for tensors without a number
        return None


def int_(name: str, value: Any) -> int:
    """Return the value as a plain int."""
    number = _plain_int(name, value)
    if number is None:
        raise wrong_argument_error(name, value, "give an int")
    return number


def itemsize_of(dtype: Any) -> int | None:
    """Return the bytes of an element of a dtype; None for anything that is no dtype."""
    if isinstance(dtype, str):
        name = _DTYPE_NAME.fullmatch(dtype)
        if name is None:
            return None
        return int(name[1]) // 8 if name[1] else 1
    if isinstance(dtype, type) and dtype in _TYPE_BYTES:
        return _TYPE_BYTES[dtype]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(dtype, torch.dtype):
        return dtype.itemsize
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    is_scalar_type = isinstance(dtype, type) and issubclass(dtype, numpy.generic)
    if is_scalar_type or isinstance(dtype, numpy.dtype):
        return numpy.dtype(dtype).itemsize
    return None


def is_dtype(value: Any) -> TypeGuard[DType]:
    """Return True for a dtype of torch or NumPy, a type such as float, and the name of a dtype."""
    return itemsize_of(value) is not None


def element_bytes(name: str, value: Any) -> int:
    """Return the bytes of an element: the value itself if it is an int, else those of a dtype."""
    size = itemsize_of(value)
    if size is None:
        size = _plain_int(name, value)
    if size is None:
        raise wrong_argument_error(
            name, value, "give a dtype, its name as in 'float16', or its bytes as an int"
        )
    return size


def positive(name: str, value: Any) -> int:
    """Return the value as an int of 1 or more."""
    number = int_(name, value)
    if number < 1:
        raise LayoutError(f"{name} is {number}: give 1 or more")
    return number


def ints(name: str, values: Any) -> tuple[int, ...]:
    """Return the values as a tuple of plain ints."""
    are_plain = type(values) is tuple and {*map(type, values)} <= {int}
    if are_plain and len(values) <= MOST_ITEMS and max(map(abs, values), default=0) <= MAX_INT:
        return values  # the usual case, and each new layout passes here
    items = items_of(values)
    if items is None:
        raise wrong_argument_error(name, values, "give a tuple of ints")
    return tuple(int_(f"{name}[{d}]", value) for d, value in enumerate(items))


def texts(name: str, values: Any) -> tuple[str, ...]:
    """Return the values as a tuple of texts; a single text is refused."""
    items = items_of(values)
    if items is None:
        raise wrong_argument_error(name, values, "give a sequence of texts")
    for k, value in enumerate(items):
        if not isinstance(value, str):
            raise wrong_argument_error(f"{name}[{k}]", value, "give a text")
    return items


def items_of(values: Any) -> tuple[Any, ...] | None:
    """Return a sequence as a tuple; None for a text, a set, a mapping and anything not iterable.

    Raises LayoutError for more items than anyone can mean, so that endless iterators end too.
    """
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Set, Mapping)):
        return None
    try:
        # Ask for the length first: iterating a tensor makes a tensor of each row.
        too_many = isinstance(values, Sized) and len(values) > MOST_ITEMS
        items = () if too_many else tuple(islice(values, MOST_ITEMS + 1))
    except Exception:  # 0-d arrays and nested tensors only claim to be iterable
        return None
    if too_many or len(items) > MOST_ITEMS:
        raise LayoutError(f"{a_kind(values)} with more than {MOST_ITEMS:,} values: give fewer")
    return items


def varargs(name: str, args: tuple[Any, ...], by_name: Any = None) -> tuple[int, ...]:
    """Return sizes as torch takes them: as separate arguments, as one sequence, or by name."""
    if by_name is not None:
        if args:
            raise LayoutError(f"{name} is given twice, by place and by name: give it once")
        return ints(name, by_name)
    if not args:
        raise LayoutError(f"{name} is missing: give ints, or () for no dims")
    return ints(name, args[0] if len(args) == 1 and is_sequence(args[0]) else args)


def is_sequence(value: Any) -> TypeGuard[Iterable[Any]]:
    """Return True for what holds several values; a 0-d tensor or array only claims to be iterable."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0


def shape_of(other: Strided) -> tuple[int, ...]:
    """Return the shape of a layout, a tensor or an array, as for `view_as`."""
    try:
        shape = None if isinstance(other, type) else getattr(other, "shape", None)
    except RuntimeError:  # of a nested tensor
        shape = None
    if shape is None:
        raise LayoutError(f"{a_kind(other)} has no shape: give a layout, a tensor or an array")
    return ints("shape", shape)


def basic_index(item: Any) -> int:
    """Return one index as an int; lists, masks and tensors with dims would gather, and are refused."""
    number = None if getattr(item, "ndim", 0) else _plain_int("an index", item)
    if number is None:
        raise LayoutError(
            f"{shown(item)} is not a basic index: a layout takes ints, slices, ... and None; "
            "lists, masks and tensors gather elements into a new storage"
        )
    return number


def wrap_index(index: int, dim: int, size: int) -> int:
    """Return the index of a dim of that size, counted from 0."""
    if not -size <= index < size:
        advice = f"use {-size} to {size - 1}" if size else "it has no elements"
        raise IndexError(f"index {index} is out of range for dim {dim} of size {size}: {advice}")
    return index % size


def wrap_dim(dim: Any, ndim: int, shape: tuple[int, ...]) -> int:
    """Return a dim counted from 0; like torch, a 0-d layout accepts 0 and -1."""
    dim = int_("dim", dim)
    count = max(ndim, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"dim {dim} is out of range for shape {shape}: use {-count} to {count - 1}"
        )
    return dim % count


def different_dims(name: str, dims: Any, shape: tuple[int, ...]) -> list[int]:
    """Return one dim or several, counted from 0; raises LayoutError if one is named twice."""
    wanted = ints(name, dims if is_sequence(dims) else (dims,))
    wrapped = [wrap_dim(dim, len(shape), shape) for dim in wanted]
    for i, dim in enumerate(wrapped):
        if dim in wrapped[:i]:
            raise LayoutError(f"{name} {wanted} names dim {dim} twice: give each dim once")
    return wrapped


def numbers_of(x: Any) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """Return the shape, stride, storage_offset and itemsize of a strided torch tensor or a NumPy array."""
    if isinstance(x, type):
        raise TypeError(f"the class {x.__name__} has no layout: give a tensor or an array")
    if callable(getattr(x, "storage_offset", None)) and callable(getattr(x, "stride", None)):
        _refuse_without_stride(x)
        return tuple(x.shape), tuple(x.stride()), x.storage_offset(), x.element_size()
    if hasattr(x, "__array_interface__") and hasattr(x, "__array_finalize__"):
        return _numbers_of_array(x)  # not a NumPy scalar, which has no lasting memory
    raise TypeError(
        f"{a_kind(x)} has no layout: give a torch tensor or a NumPy array "
        "(torch.as_tensor makes one from numbers)"
    )


def _refuse_without_stride(x: Any) -> None:
    """Raise LayoutError for a torch tensor that is not one strided grid of elements."""
    if hasattr(x, "cls_to_become"):
        raise LayoutError(f"{a_kind(x)} has no shape and no memory yet: run its lazy module once")
    kind = str(x.layout).removeprefix("torch.")
    if getattr(x, "is_nested", False):
        raise LayoutError(
            "a nested tensor is several tensors of their own shapes: take one of x.unbind(), "
            "or pad it with torch.nested.to_padded_tensor"
        )
    if kind.startswith("sparse"):
        raise LayoutError(
            f"a {kind} tensor keeps indices and values apart and has no stride: "
            "ask its x.values(), or x.to_dense() for a strided copy"
        )
    if kind != "strided":
        raise LayoutError(f"a {kind} tensor hides its layout: x.to_dense() makes a strided copy")
    if x.is_quantized:
        raise LayoutError(
            f"a quantized tensor ({x.dtype}) stores integers for numbers: "
            "ask x.int_repr() for the integers, x.dequantize() for the numbers"
        )


def _numbers_of_array(x: Any) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """Return the byte strides of an array as elements, and its place in its block as an offset."""
    block, nbytes = array_block(x)
    start = _pointer(x) - block
    if x.size == 0 and not 0 <= start <= nbytes:
        start = 0  # an empty tensor has no address, and NumPy makes one up for its array
    for name, count in [("strides", step) for step in x.strides] + [("offset", start)]:
        if x.itemsize and count % x.itemsize:
            raise LayoutError(
                f"the {name} of this array, {count} bytes, are not a whole number of elements of "
                f"{x.itemsize} bytes (a field of a structured array?): np.ascontiguousarray copies it"
            )
    itemsize = max(x.itemsize, 1)  # Layout refuses elements of 0 bytes in its own words
    return x.shape, tuple(step // itemsize for step in x.strides), start // itemsize, x.itemsize


def array_block(x: Any) -> tuple[int, int]:
    """Return the first address of the memory that a NumPy array lies in, and its size in bytes.

    It belongs to the array, or the torch storage, at the end of the `.base` chain.
    """
    owner = x
    base = x.base
    while base is not None:
        if hasattr(base, "untyped_storage"):
            storage = base.untyped_storage()
            return storage.data_ptr(), storage.nbytes()
        if hasattr(base, "__array_interface__") and hasattr(base, "strides"):
            owner = base
        base = getattr(base, "base", None)
    if owner.size == 0:
        return _pointer(owner), 0
    extents = [(size - 1) * step for size, step in zip(owner.shape, owner.strides, strict=True)]
    lowest = sum(extent for extent in extents if extent < 0)  # strides may be negative
    return _pointer(owner) + lowest, sum(map(abs, extents)) + owner.itemsize


def _pointer(array: Any) -> int:
    return array.__array_interface__["data"][0]
