"""How the answers of this lesson are read: strides of which some are free."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from stridekit.exercises.answers import as_ints
from stridekit.exercises.running import Arguments, Outcome

Ints = tuple[int, ...]


def free_where_unused(shape: Sequence[int], stride: Ints) -> tuple[Any, ...]:
    """The stride, "free" where no index steps by it; as it is if it does not fit the shape.

    >>> free_where_unused((4, 1, 6), (6, 99, 1))
    (6, 'free', 1)
    """
    if len(stride) != len(shape):
        return stride
    empty = prod(shape) == 0
    return tuple("free" if n <= 1 or empty else s for n, s in zip(shape, stride, strict=True))


def read_stride_of(name: str) -> Any:
    """A reader of strides for the shape in the argument `name`; None says that there are none."""

    def read(answer: Any, args: Arguments) -> Outcome:
        if answer is None:
            return Outcome({"stride": None}, "None")
        stride = as_ints(answer, "a tuple of ints or None")
        return Outcome({"stride": free_where_unused(args[name], stride)}, str(stride))

    return read


def read_packed_stride(answer: Any, args: Arguments) -> Outcome:
    """An answer that is the stride of a tensor of the argument `shape`."""
    stride = as_ints(answer)
    return Outcome({"stride": free_where_unused(args["shape"], stride)}, str(stride))
