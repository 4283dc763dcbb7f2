"""Readers: each turns an answer into facts to compare and words to show.

A reader accepts other types if the idea is right (a list for a tuple, a 0-d tensor for an int), and
compares exactly what they hold. It raises Unusable for all others, and names what it can use.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

import torch

from stridekit._arguments import a_kind, many
from stridekit.exercises.running import Arguments, Outcome, Read, Unusable, describe

_MAX_LENGTH = 10_000  # items: more than any answer needs, and an iterator may be endless


def as_int(value: Any, wanted: str = "an int") -> int:
    """Return an int, which may also be a 0-d tensor, a NumPy int, or a float such as 6.0."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    with suppress(TypeError):
        if not isinstance(whole, bool):
            return operator.index(whole)
    raise Unusable(f"{type_in_words(value)}, where {wanted} is asked for")


def as_ints(value: Any, wanted: str = "a tuple of ints") -> tuple[int, ...]:
    """Return a tuple of ints, from any ordered iterable of values that `as_int` takes."""
    is_ordered = isinstance(value, Iterable) and not isinstance(value, str | bytes | set | dict)
    if not is_ordered or (isinstance(value, torch.Tensor) and value.ndim != 1):
        raise Unusable(f"{type_in_words(value)}, where {wanted} is asked for")
    return tuple(as_int(item, "an int in the tuple") for item in islice(value, _MAX_LENGTH))


def type_in_words(value: Any) -> str:
    """Return the type of a value in words, with its shape or length if it has one.

    >>> type_in_words(torch.zeros(2, 3)), type_in_words([1, 2]), type_in_words(0.5)
    ('a tensor of shape (2, 3)', 'a list of 2', 'a float')
    """
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, tuple | list | set | dict):
        return f"{a_kind(value)} of {len(value)}"
    return a_kind(value)


def read_yes_or_no(answer: Any, args: Arguments) -> Outcome:
    """Read True or False: Python's, NumPy's or a 0-d tensor of them."""
    plain = _unwrapped(answer)
    if not isinstance(plain, bool):
        raise Unusable(f"{type_in_words(answer)}, where True or False is asked for")
    return Outcome({"answer": plain}, str(plain))


def read_stride(answer: Any, args: Arguments) -> Outcome:
    """Read a stride: one int per dim."""
    stride = as_ints(answer)
    return Outcome({"stride": stride}, str(stride))


def read_stride_of(name: str, *, or_none: bool = False) -> Read:
    """Make a reader of strides for the shape in the argument `name`, and of None with `or_none`."""
    wanted = "a tuple of ints or None" if or_none else "a tuple of ints"

    def read(answer: Any, args: Arguments) -> Outcome:
        if answer is None and or_none:
            return Outcome({"stride": None}, "None")
        stride = as_ints(answer, wanted)
        return Outcome({"stride": free_where_unused(args[name], stride)}, str(stride))

    return read


def free_where_unused(shape: Sequence[int], stride: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the stride, with "free" for each dim along which no index steps.

    Return it unchanged if it has another number of dims than the shape.

    >>> free_where_unused((4, 1, 6), (6, 99, 1))
    (6, 'free', 1)
    """
    if len(stride) != len(shape):
        return stride
    return tuple("free" if n <= 1 or 0 in shape else s for n, s in zip(shape, stride, strict=True))


def read_parts(*names: str) -> Read:
    """Make a reader of (shape, stride) or of (shape, stride, offset), as the names say."""
    count = "two" if len(names) == 2 else "three"

    def read(answer: Any, args: Arguments) -> Outcome:
        if not isinstance(answer, tuple | list) or len(answer) != len(names):
            parts = ", ".join(names)
            raise Unusable(
                f"{type_in_words(answer)}, where the {count} parts ({parts}) are asked for"
            )
        facts: dict[str, Any] = {}
        for name, part in zip(names, answer, strict=True):
            if name == "offset":
                facts[name] = as_int(part, "an offset")
            else:
                facts[name] = as_ints(part, f"a {name}")
        return Outcome(facts, ", ".join(f"{name} {part}" for name, part in facts.items()))

    return read


def as_tensor(answer: Any, role: str = "") -> torch.Tensor:
    """Return the answer if it is a tensor; `role` ends the message that refuses all others."""
    if not isinstance(answer, torch.Tensor):
        raise Unusable(f"{type_in_words(answer)}, where a tensor is asked for{role}")
    return answer


def value_facts(t: torch.Tensor) -> dict[str, Any]:
    """Return dtype, shape and values as facts."""
    return {"dtype": t.dtype, "shape": tuple(t.shape), "values": t.tolist()}


def layout_facts(t: torch.Tensor) -> dict[str, Any]:
    """Return shape, stride and storage_offset as facts; a dim of size 0 or 1 has a free stride."""
    stride = tuple(s if n > 1 else "free" for n, s in zip(t.shape, t.stride(), strict=True))
    return {"shape": tuple(t.shape), "stride": stride, "storage_offset": t.storage_offset()}


def shares(t: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether the two are on the same storage."""
    return t.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


_THROUGH_NUMPY = (
    "That reads {base}'s own memory and copies nothing. But what came through NumPy has a storage "
    "of its own, which begins at its first element: its storage_offset is 0. A view that torch "
    "makes of {base} stays on {base}'s storage."
)


def view_of(base: str, *, ndim: int | None = None) -> Read:
    """Make a reader of views of the argument named `base`; `ndim` is the number of their dims."""

    def read(answer: Any, args: Arguments) -> Outcome:
        answer = as_tensor(answer, f": a view of {base}")
        storage = args[base].untyped_storage()
        hint = ""
        sharing: bool | str
        if shares(answer, args[base]):
            sharing = True
            place = f"on {base}'s storage"
        elif 0 <= answer.data_ptr() - storage.data_ptr() < storage.nbytes():
            sharing = "memory"
            place = f"in {base}'s memory, which it takes for a storage of its own"
            hint = _THROUGH_NUMPY.format(base=base)
        else:
            sharing = False
            place = "on a storage of its own"
        if ndim not in (None, answer.ndim):
            verb = "is" if ndim == 1 else "are"
            hint = (
                f"Your answer has {many(answer.ndim, 'dim')}, "
                f"and {ndim} {verb} asked for: one size and one stride for each."
            )
        layout = layout_facts(answer)
        facts = {
            "dtype": answer.dtype,
            "shape": layout["shape"],
            "sharing": sharing,
            "stride": layout["stride"],
            "storage_offset": layout["storage_offset"],
            "values": answer.tolist(),
        }
        return Outcome(facts, f"{describe(answer)}, {place}", hint)

    return read


def read_number(answer: Any, args: Arguments) -> Outcome:
    """Read one number: a Python number, or a 0-d tensor or array of one."""
    answer = _unwrapped(answer)
    if isinstance(answer, bool) or not isinstance(answer, int | float | complex):
        raise Unusable(
            f"{type_in_words(answer)}, where one number is asked for, "
            "a Python number or a 0-d tensor"
        )
    return Outcome({"value": answer}, str(answer))


def read_uses(answer: Any, args: Arguments) -> Outcome:
    """Read a number of uses; a fraction is shown with a few digits."""
    outcome = read_number(answer, args)
    value = outcome.facts["value"]
    return replace(outcome, shown=f"{value:g}") if isinstance(value, float) else outcome


def _unwrapped(answer: Any) -> Any:
    """Return the Python value in a 0-d tensor or a NumPy scalar; anything else as it is."""
    holds_one = getattr(answer, "ndim", None) == 0 and hasattr(answer, "item")
    return answer.item() if holds_one else answer
