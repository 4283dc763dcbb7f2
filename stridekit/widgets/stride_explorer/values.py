"""The values of a storage, read where a picture shows them, and their short texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from stridekit._arguments import array_block
from stridekit._torch import is_tensor
from stridekit.layout import Layout
from stridekit.tensors.storage import storage_view

LONGEST = 12  # characters of a value that is no number, as a date

# Returns the values of elements of a storage, by their numbers.
Reader = Callable[[Sequence[int]], list[Any]]


def reader_of(x: Any, size: int) -> Reader | None:
    """Return a function that reads the storage of `x`, of `size` elements; None if there are no values.

    Layouts, meta and fake tensors have no values, and elements of four bits are no Python numbers. The
    memory of an array of objects holds addresses.
    """
    if isinstance(x, Layout) or getattr(x.dtype, "hasobject", False):
        return None
    try:
        read = _tensor_reader(x) if is_tensor(x) else _array_reader(x, size)
        read([0] if size else [])
    except (ValueError, RuntimeError, TypeError):
        return None
    return read


def _tensor_reader(t: torch.Tensor) -> Reader:
    def read(elements: Sequence[int]) -> list[Any]:
        whole = storage_view(t)  # a new one each time, because a storage may have shrunk
        if not elements or max(elements) >= len(whole):
            return ["" for _ in elements]
        numbers = torch.tensor(elements, device=whole.device)
        values: list[Any] = whole[numbers].tolist()
        return values

    return read


class _Block:
    """The memory that an array lies in, as an array of its elements; it keeps the array alive."""

    def __init__(self, array: Any, size: int) -> None:
        self.array = array
        start, _ = array_block(array)
        self.__array_interface__ = {
            "data": (start, True),
            "shape": (size,),
            "typestr": array.dtype.str,
            "descr": array.dtype.descr,
            "version": 3,
        }


def _array_reader(array: Any, size: int) -> Reader:
    import numpy as np

    whole = np.asarray(_Block(array, size)) if size else array.reshape(-1)

    def read(elements: Sequence[int]) -> list[Any]:
        values: list[Any] = whole[np.array(elements, dtype=int)].tolist()
        return values

    return read


def array_source(array: Any, name: str) -> str:
    """Return code for the memory that an array lies in: a flat array, or the tensor that it belongs to."""
    expression = owner = name
    base = array.base
    while base is not None:
        expression += ".base"
        if is_tensor(base):
            return expression
        if hasattr(base, "ravel"):
            owner = expression
        base = getattr(base, "base", None)
    return f'{owner}.ravel("K")'


def text_of(value: Any) -> str:
    """Write a value as text. A number takes six characters, or seven with a two-digit exponent.

    >>> [text_of(value) for value in (3.0, 0.12345, 999.6, -12345.6, 9.37e-12)]
    ['3', '0.123', '1000', '-12346', '9.4e-12']
    """
    if isinstance(value, complex):
        return f"{value:.2g}"
    if not isinstance(value, float):
        text = str(value)
        is_long = len(text) > LONGEST and not isinstance(value, int)
        return f"{text[: LONGEST - 1]}…" if is_long else text
    size = abs(value)
    if value.is_integer() and size < 1e5:
        return str(int(value))
    is_whole = 999.5 <= size < 99_999.5  # once it is rounded
    digits = f"{value:.0f}" if is_whole else f"{value:.3g}"
    if len(digits) > 6 and size >= 0.01:
        digits = f"{value:.2g}"
    elif len(digits) > 6:
        digits = f"{value:.1e}" if value > 0 else f"{value:.0e}"
    return digits.replace("e-0", "e-").replace("e+0", "e+")
