"""Watch by which functions of torch and of stridekit an answer is made."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

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

    def allows(self, name: str) -> bool:
        """Return whether an answer may call the torch function of that name."""
        if self.function:
            return name in NUMBERS | {self.function}
        return not self.hint or name not in QUESTIONS


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

    Whatever it calls on results of the one function is free, such as their sum; so is a view with the
    numbers of its input, such as its transpose.
    """

    def __init__(self, means: Means) -> None:
        super().__init__()
        self.means, self.used, self.is_on = means, not means.function, False
        self.others: tuple[str, ...] = ()
        self._own: list[torch.Tensor] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the calls of torch and of stridekit inside, where the means restrict them."""
        with ExitStack() as stack:
            if self.means.hint or self.means.whole:
                stack.enter_context(self)
            if self.means.whole:
                stack.callback(sys.setprofile, sys.getprofile())
                sys.setprofile(self._called)
            yield

    def _note(self, name: str) -> None:
        if name not in self.others:
            self.others += (name,)

    def _called(self, frame: FrameType, event: str, arg: Any) -> None:
        """Note a call of stridekit from outside, by name: `Layout` for a method of it."""
        if event != "call" or not self.is_on or not _is_ours(frame.f_globals.get("__name__", "")):
            return
        if frame.f_back and _is_ours(frame.f_back.f_globals.get("__name__", "")):
            return
        own = type(frame.f_locals.get("self")).__name__
        for part in (*frame.f_code.co_qualname.split("."), own):
            if part in self.means.whole:
                self._note(f"stridekit.{part}")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.is_on:
            return func(*args, **(kwargs or {}))
        name, given = name_of(func), tensors_in((args, kwargs or {}))
        known = [*map(_numbers_of, given)]  # before a call that works in place
        is_own = bool(given) and all(any(t is own for own in self._own) for t in given)
        result = func(*args, **(kwargs or {}))
        made, is_it = tensors_in(result), name.rstrip("_") == self.means.function
        is_same = bool(made) and all(_numbers_of(t) in known for t in made)
        if is_own or (is_it and (not is_same or all(t.numel() < 2 for t in made))):
            self._own += made
        self.used |= is_it
        if name in self.means.whole:
            self._note(f"torch.{name}")
        elif not (is_own or is_it or (is_same and self.means.function) or self.means.allows(name)):
            self._note(name)
        return result


def _is_ours(module: str) -> bool:
    return module.startswith("stridekit.") and not module.startswith("stridekit.exercises")


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


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Return the tensors among arguments or results."""
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
