"""Watch by which functions of torch and of stridekit an answer is made."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from stridekit.audit.record import tensors_of

# What torch can be asked in place of working it out, and what the arguments of a view may come from.
QUESTIONS = {"stride", "storage_offset", "is_contiguous", "data_ptr", "dim_order"}
NUMBERS = {"size", "shape", "dim", "ndim", "numel", "stride", "storage_offset", "element_size"}
NUMBERS |= {"itemsize", "__len__", "sum"}


@dataclass(frozen=True)
class Means:
    """How an answer has to be made, and the hint for right answers that are made otherwise.

    By `function` of torch alone; if a hint has no function, without asking torch; and never by those
    functions of torch or stridekit that do the `whole` task.
    """

    function: str = ""
    hint: str = ""
    whole: tuple[str, ...] = ()


ANY_MEANS = Means()


def without_a_tensor(*whole: str) -> Means:
    """Return the means of a task on bare numbers."""
    hint = (
        "The right answer, and torch has worked it out. Now do without it: ints and tuples are enough. "
        "Which of them does torch look at, and in which order?"
    )
    return Means(hint=hint, whole=whole)


class Watch(TorchFunctionMode):
    """Notes the functions that an answer calls against its means, and whether it uses these.

    Where one function is to make the answer, the others count that take an argument, or a view with the
    same numbers, such as its transpose, and do not return one again.
    """

    def __init__(self, means: Means) -> None:
        super().__init__()
        self.means, self.used, self.is_on = means, not means.function, False
        self.others: dict[str, None] = {}  # in the order of the calls
        self._given: list[Any] = []

    @contextmanager
    def watching(self, *arguments: Any) -> Iterator[None]:
        """Watch the calls of torch and of stridekit inside, where the means restrict them."""
        self.is_on, before = False, sys.getprofile()
        self._given = [*map(_numbers_of, tensors_of(arguments))]
        with self if self.means.hint or self.means.whole else nullcontext():
            if self.means.whole:
                sys.setprofile(self._called)
            try:
                yield
            finally:
                sys.setprofile(before)

    def _called(self, frame: FrameType, event: str, arg: Any) -> None:
        """Note a call of stridekit by name: `Layout` for a method of it."""
        module = frame.f_globals.get("__name__", "") if event == "call" and self.is_on else ""
        if module.startswith("stridekit.") and not module.startswith("stridekit.exercises"):
            own = type(frame.f_locals.get("self")).__name__
            names = {*frame.f_code.co_qualname.split("."), own}
            self.others |= {f"stridekit.{name}": None for name in names & {*self.means.whole}}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, means, taken = name_of(func), self.means, tensors_of(args, kwargs or {})
        takes_given = any(_numbers_of(t) in self._given for t in taken if t.numel() > 1)
        result = func(*args, **(kwargs or {}))
        if self.is_on and name in means.whole:
            self.others[f"torch.{name}"] = None
        elif self.is_on and means.function:
            made = tensors_of(result)
            is_free = not takes_given or (made and all(_numbers_of(t) in self._given for t in made))
            is_it = name in (means.function, f"{means.function}_")
            self.used |= is_it
            if not is_it and not is_free and name not in NUMBERS:
                self.others[name] = None
        elif self.is_on and means.hint and name in QUESTIONS:
            self.others[name] = None
        return result


def _numbers_of(t: torch.Tensor) -> Any:
    """Return where the tensor starts, and its sizes above 1 with their strides, in any order."""
    try:
        dims = zip(t.shape, t.stride(), strict=True)
        return t.data_ptr(), sorted((n, s) for n, s in dims if n != 1)
    except RuntimeError:  # it has no strides, or no memory of its own
        return id(t)


def name_of(func: Any) -> str:
    """Return the name of a torch function, a method, a property or an overload, as one writes it."""
    own = getattr(func, "__self__", None)
    name = getattr(own if type(own).__name__ == "getset_descriptor" else func, "__name__", "")
    return {"__getitem__": "indexing", "__iter__": "iterating"}.get(name, name.split(".")[0])
