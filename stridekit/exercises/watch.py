"""Watch which functions of torch and of stridekit make an answer."""

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

# Questions to torch that an answer has to work out, where a task says so.
QUESTIONS = {"stride", "storage_offset", "is_contiguous", "data_ptr", "dim_order"}
# Questions to torch that may give the arguments of a view.
NUMBERS = {
    "size",
    "shape",
    "dim",
    "ndim",
    "numel",
    "stride",
    "storage_offset",
    "element_size",
    "itemsize",
    "__len__",
    "sum",
}


@dataclass(frozen=True)
class Means:
    """The way in which an answer has to be made, and the hint for right answers made otherwise.

    With a `function`, that function of torch alone has to make it. With a hint and no function, an
    answer may not ask torch. The functions of torch or stridekit that do the `whole` task are never
    allowed.
    """

    function: str = ""
    hint: str = ""
    whole: tuple[str, ...] = ()


ANY_MEANS = Means()


def without_a_tensor(*whole: str) -> Means:
    """Return the means of a task on bare numbers."""
    hint = (
        "The right answer, and torch has worked it out. Now do without it: ints and tuples are "
        "enough. Which of them does torch look at, and in which order?"
    )
    return Means(hint=hint, whole=whole)


class Watch(TorchFunctionMode):
    """Notes the calls of an answer that its means do not allow, and whether it uses its means.

    If one function has to make the answer, calls of others count that take an argument of the task
    and return something else. A view with the same numbers, such as the transpose of an argument,
    counts as that argument.
    """

    def __init__(self, means: Means) -> None:
        super().__init__()
        self.means = means
        self.is_used = not means.function
        self.is_on = False
        self.other_calls: dict[str, None] = {}  # names in the order of the calls
        self._arguments: list[Any] = []  # the numbers of the tensors among the task's arguments

    @contextmanager
    def watching(self, *arguments: Any) -> Iterator[None]:
        """Watch the calls of torch and of stridekit inside, if the means restrict them."""
        self.is_on = False
        self._arguments = [*map(_numbers_of, tensors_of(arguments))]
        profile_before = sys.getprofile()
        with self if self.means.hint or self.means.whole else nullcontext():
            if self.means.whole:
                sys.setprofile(self._note_python_call)
            try:
                yield
            finally:
                sys.setprofile(profile_before)

    def _note_python_call(self, frame: FrameType, event: str, arg: Any) -> None:
        """Note a call of stridekit that does the whole task; `Layout` stands for its methods."""
        if event != "call" or not self.is_on:
            return
        module = frame.f_globals.get("__name__", "")
        if module.startswith("stridekit.") and not module.startswith("stridekit.exercises"):
            class_name = type(frame.f_locals.get("self")).__name__
            names = {*frame.f_code.co_qualname.split("."), class_name}
            for name in names.intersection(self.means.whole):
                self.other_calls[f"stridekit.{name}"] = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not self.is_on:
            return func(*args, **kwargs)
        # Look at the arguments before the call, which may change their layout.
        takes_argument = any(map(self._is_argument, tensors_of(args, kwargs)))
        result = func(*args, **kwargs)
        self._note_torch_call(name_of(func), takes_argument, result)
        return result

    def _note_torch_call(self, name: str, takes_argument: bool, result: Any) -> None:
        """Note a call of torch if it is what the task asks for, or if the means do not allow it."""
        function = self.means.function
        if name in self.means.whole:
            self.other_calls[f"torch.{name}"] = None
        elif not function:
            if self.means.hint and name in QUESTIONS:
                self.other_calls[name] = None
        elif name in (function, f"{function}_"):
            self.is_used = True
        elif takes_argument and name not in NUMBERS and not self._returns_argument(result):
            self.other_calls[name] = None

    def _is_argument(self, t: torch.Tensor) -> bool:
        """Return whether a tensor of several elements has the numbers of an argument."""
        return t.numel() > 1 and _numbers_of(t) in self._arguments

    def _returns_argument(self, result: Any) -> bool:
        """Return whether a result has tensors, and all of them the numbers of an argument."""
        tensors = tensors_of(result)
        return bool(tensors) and all(_numbers_of(t) in self._arguments for t in tensors)


def _numbers_of(t: torch.Tensor) -> Any:
    """Return where the tensor starts, and its sizes above 1 with their strides, in any order."""
    try:
        dims = zip(t.shape, t.stride(), strict=True)
        return t.data_ptr(), sorted((n, s) for n, s in dims if n != 1)
    except RuntimeError:  # it has no strides, or no memory of its own
        return id(t)


def name_of(func: Any) -> str:
    """Return the name of a torch function, method, property or overload, as people write it."""
    owner = getattr(func, "__self__", None)
    is_property = type(owner).__name__ == "getset_descriptor"
    name = getattr(owner if is_property else func, "__name__", "")
    if name == "__getitem__":
        return "indexing"
    if name == "__iter__":
        return "iterating"
    return str(name).partition(".")[0]
