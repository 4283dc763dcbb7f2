"""Readers: each turns an answer into facts to compare and words to show.

A reader accepts other types where the idea is right (a list for a tuple, a 0-d tensor for an int) and
compares exactly what they hold. It raises Unusable, which says what it can use instead.
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

_MAX_LENGTH = 10_000  # more than any answer needs; ends an endless iterator


def as_int(value: Any, what: str = "an int") -> int:
    """Return an int, also written another way: as a 0-d tensor, a NumPy int, or the float 6.0."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    with suppress(TypeError):
        if not isinstance(whole, bool):
            return operator.index(whole)
    raise Unusable(f"{kind(value)}, where {what} is asked for")


def as_ints(value: Any, what: str = "a tuple of ints") -> tuple[int, ...]:
    """Return a tuple of ints, from any ordered iterable of what `as_int` takes."""
    ordered = isinstance(value, Iterable) and not isinstance(value, str | bytes | set | dict)
    if not ordered or (isinstance(value, torch.Tensor) and value.ndim != 1):
        raise Unusable(f"{kind(value)}, where {what} is asked for")
    return tuple(as_int(item, "an int in the tuple") for item in islice(value, _MAX_LENGTH))


def kind(value: Any) -> str:
    """Return the kind of value that came, with its shape if it has one.

    >>> kind(torch.zeros(2, 3)), kind([1, 2]), kind(0.5)
    ('a tensor of shape (2, 3)', 'a list of 2', 'a float')
    """
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    count = f" of {len(value)}" if isinstance(value, tuple | list | set | dict) else ""
    return f"{a_kind(value)}{count}"


def read_yes_or_no(answer: Any, args: Arguments) -> Outcome:
    """Read True or False: Python's, NumPy's or a 0-d tensor of them."""
    plain = _unwrapped(answer)
    if not isinstance(plain, bool):
        raise Unusable(f"{kind(answer)}, where True or False is asked for")
    return Outcome({"answer": plain}, str(plain))


def read_stride(answer: Any, args: Arguments) -> Outcome:
    """Read a stride: one int per dim."""
    stride = as_ints(answer)
    return Outcome({"stride": stride}, str(stride))


def read_stride_of(name: str, *, or_none: bool = False) -> Read:
    """Make a reader of strides for the shape in the argument `name`; with `or_none`, None is read too."""
    wanted = "a tuple of ints or None" if or_none else "a tuple of ints"

    def read(answer: Any, args: Arguments) -> Outcome:
        if answer is None and or_none:
            return Outcome({"stride": None}, "None")
        stride = as_ints(answer, wanted)
        return Outcome({"stride": free_where_unused(args[name], stride)}, str(stride))

    return read


def free_where_unused(shape: Sequence[int], stride: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the stride, with "free" where no index steps by it; unchanged if it does not fit the shape.

    >>> free_where_unused((4, 1, 6), (6, 99, 1))
    (6, 'free', 1)
    """
    if len(stride) != len(shape):
        return stride
    return tuple("free" if n <= 1 or 0 in shape else s for n, s in zip(shape, stride, strict=True))


def read_parts(*names: str) -> Read:
    """Make a reader of (shape, stride) or (shape, stride, offset), whichever is named."""
    wanted = f"the {('two', 'three')[len(names) - 2]} parts ({', '.join(names)})"

    def read(answer: Any, args: Arguments) -> Outcome:
        if not isinstance(answer, tuple | list) or len(answer) != len(names):
            raise Unusable(f"{kind(answer)}, where {wanted} are asked for")
        facts = {
            name: as_int(part, "an offset") if name == "offset" else as_ints(part, f"a {name}")
            for name, part in zip(names, answer, strict=True)
        }
        return Outcome(facts, ", ".join(f"{name} {part}" for name, part in facts.items()))

    return read


def as_tensor(answer: Any, of_what: str = "") -> torch.Tensor:
    """Return the answer if it is a tensor; `of_what` ends the sentence that refuses others."""
    if not isinstance(answer, torch.Tensor):
        raise Unusable(f"{kind(answer)}, where a tensor is asked for{of_what}")
    return answer


def value_facts(t: torch.Tensor) -> dict[str, Any]:
    """Return dtype, shape and values as facts."""
    return {"dtype": t.dtype, "shape": tuple(t.shape), "values": t.tolist()}


def layout_facts(t: torch.Tensor) -> dict[str, Any]:
    """Return shape, stride and storage_offset as facts; the stride of a dim of size 0 or 1 is free."""
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
    """Make a reader of tensors that should be views of the argument named `base`, with so many dims."""

    def read(answer: Any, args: Arguments) -> Outcome:
        answer, x = as_tensor(answer, f": a view of {base}"), args[base]
        storage = x.untyped_storage()
        lies_in = 0 <= answer.data_ptr() - storage.data_ptr() < storage.nbytes()  # as from NumPy
        sharing = shares(answer, x) or ("memory" if lies_in else False)
        (shape, *layout), values = layout_facts(answer).items(), answer.tolist()
        facts = dict([("dtype", answer.dtype), shape, ("sharing", sharing), *layout])
        where = {
            True: f"on {base}'s storage",
            False: "on a storage of its own",
            "memory": f"in {base}'s memory, which it takes for a storage of its own",
        }
        hint = _THROUGH_NUMPY.format(base=base) if sharing == "memory" else ""
        if ndim not in (None, answer.ndim):
            asked = f"{ndim} {'is' if ndim == 1 else 'are'} asked for: one size and one stride for each."
            hint = f"Your answer has {many(answer.ndim, 'dim')}, and {asked}"
        return Outcome(facts | {"values": values}, f"{describe(answer)}, {where[sharing]}", hint)

    return read


def read_number(answer: Any, args: Arguments) -> Outcome:
    """Read one number: a Python number, or a 0-d tensor or array of one."""
    wanted = "one number is asked for, a Python number or a 0-d tensor"
    answer = _unwrapped(answer)
    if isinstance(answer, bool) or not isinstance(answer, int | float | complex):
        raise Unusable(f"{kind(answer)}, where {wanted}")
    return Outcome({"value": answer}, str(answer))


def read_uses(answer: Any, args: Arguments) -> Outcome:
    """Read a number of uses; a fraction is shown with a few digits."""
    read = read_number(answer, args)
    value = read.facts["value"]
    return replace(read, shown=f"{value:g}") if isinstance(value, float) else read


def _unwrapped(answer: Any) -> Any:
    """Return the Python value in a 0-d tensor or a NumPy scalar; anything else as it is."""
    holds_one = getattr(answer, "ndim", None) == 0 and hasattr(answer, "item")
    return answer.item() if holds_one else answer
