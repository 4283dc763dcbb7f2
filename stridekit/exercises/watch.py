"""Watch an answer at work, and note the layouts that torch makes on the way.

This is for tasks about one function, as x[2] is a right row, but states none of its numbers; and for tasks
on bare numbers, which torch could answer by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode


@dataclass(frozen=True)
class Means:
    """How the work has to be done, and the hint for right answers that do it otherwise.

    By one torch function; or by any means, if there is no hint; or else without a tensor of that shape.
    """

    function: str = ""
    hint: str = ""

    @property
    def words(self) -> str:
        """How it has to be done, for a headline."""
        return f"by {self.function}" if self.function else "without a tensor"


ANY_MEANS = Means()
WITHOUT_A_TENSOR = Means(
    hint="The right answer, and torch has worked it out. Now do without it: ints and tuples are enough. "
    "Which of them does torch look at, and in which order?"
)


# What torch could be asked in place of working it out.
QUESTIONS = ("stride", "storage_offset", "is_contiguous", "data_ptr", "dim_order")
MOST_ELEMENTS = 10_000  # of a view, more than an answer has


class Made(NamedTuple):
    """A tensor that was made: how, and in words; the elements of an input's storage that it reaches."""

    words: str
    elements: frozenset[Hashable] = frozenset()
    by_the_means: bool = False


def by_the_means(made: Iterable[Made], expected: Iterable[Made]) -> bool:
    """True if the means have reached the elements that they should, and nothing else was made."""
    wanted = frozenset[Hashable]().union(*(one.elements for one in expected))
    reached = [one.elements for one in made if one.elements <= wanted]
    return all(one.by_the_means for one in made) and wanted == frozenset().union(*reached)


class Watch(TorchFunctionMode):
    """Notes what torch makes while an answer is worked out.

    For a task about one function: what it makes, as a method or not, and each view of an input that another
    makes, unless it is an element of the former or has its input's numbers, as a transpose does. For a task
    without a tensor: those of the given `shape`, and those that are asked for their layout. To put numbers
    into a tensor, or to calculate with one, is no other means.
    """

    def __init__(self, means: Means, args: Mapping[str, Any]) -> None:
        super().__init__()
        self.means = means
        self.shape = tuple(args.get("shape", ()))
        self.bases = {name: t for name, t in args.items() if isinstance(t, torch.Tensor)}
        self.made: list[Made] = []
        self.own: list[torch.Tensor] = []  # made by the function

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the call, and note its result, or what it asks, if that is to be noted."""
        name, inputs = name_of(func), [*tensors_in((args, kwargs or {}))]
        known = [*map(numbers_of, inputs)]  # before a call that works in place
        result = func(*args, **(kwargs or {}))
        made = [*tensors_in(result)]
        if not self.means.function:
            asked = inputs[:1] if name in QUESTIONS else []
            for t in [*asked, *(t for t in made if self._has_the_shape(name, t))]:
                self._note("torch", t)
        elif name in (self.means.function, f"{self.means.function}_"):
            self.own += made
            for t in made:
                self._note(
                    self.means.function, t, elements_of(t) if self._owner(t) else {"elsewhere"}
                )
        else:
            of_own = any(t is own for t in inputs for own in self.own)
            for t in made:
                if self._owner(t) and numbers_of(t) not in known and (t.ndim or not of_own):
                    self._note(name, t)
        return result

    def _has_the_shape(self, name: str, t: torch.Tensor) -> bool:
        return (
            len(self.shape) > 1  # of one dim are also the tensors that somebody calculates with
            and t.shape == self.shape
            and name not in ("tensor", "as_tensor")
        )

    def _owner(self, t: torch.Tensor) -> str:
        """The name of the first input on whose storage t is; "" if it is on none."""
        try:
            return next((name for name, base in self.bases.items() if shares(t, base)), "")
        except RuntimeError:  # there is no storage, as inside torch.vmap
            return ""

    def _note(self, how: str, t: torch.Tensor, elements: Iterable[Hashable] = ()) -> None:
        facts, owner = layout_facts(t), self._owner(t)
        place = f"{owner}'s storage" if owner else "another storage"
        stride = str(facts["stride"]).replace("'", "")  # (free, 6) instead of ('free', 6)
        words = (
            f"by {how}: shape {facts['shape']}, stride {stride}, storage_offset "
            f"{facts['storage_offset']}, on {place}"
        )
        made = Made(words, frozenset(elements), how == self.means.function)
        self.made += [made] * (made not in self.made)


def name_of(func: Any) -> str:
    """The name of a torch function, a method, a property or an overload, as one writes it."""
    own = getattr(func, "__self__", None)
    name = getattr(own if inspect.isgetsetdescriptor(own) else func, "__name__", "")
    return {"__getitem__": "indexing", "__iter__": "iterating"}.get(name, name.split(".")[0])


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the strided tensors among the arguments or the results of a call."""
    if isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_nested:
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in([*value.values()])


def numbers_of(t: torch.Tensor) -> tuple[Any, ...]:
    """The offset, and the sizes with their strides in any order, as far as these are not free."""
    dims = zip(t.shape, layout_facts(t)["stride"], strict=True)
    return t.storage_offset(), sorted((n, str(step)) for n, step in dims if n != 1)


def elements_of(t: torch.Tensor) -> Iterable[Hashable]:
    """The elements of the storage that t reaches; something else if these are far too many."""
    if t.numel() > MOST_ELEMENTS:
        return {"too many"}
    steps = ([i * s for i in range(n)] for n, s in zip(t.shape, t.stride(), strict=True))
    return {t.storage_offset() + sum(walk) for walk in product(*steps)}


def layout_facts(t: torch.Tensor) -> dict[str, Any]:
    """Shape, stride and storage_offset as facts; the stride of a dim of size 0 or 1 is free."""
    stride = tuple(s if n > 1 else "free" for n, s in zip(t.shape, t.stride(), strict=True))
    return {
        "shape": tuple(t.shape),
        "stride": stride,
        "storage_offset": t.storage_offset(),
    }


def shares(t: torch.Tensor, other: torch.Tensor) -> bool:
    """True if the two are on the same storage."""
    return t.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def lies_in(t: torch.Tensor, other: torch.Tensor) -> bool:
    """True if t begins in the memory of the other's storage, as what came through NumPy does."""
    storage = other.untyped_storage()
    return 0 <= t.data_ptr() - storage.data_ptr() < storage.nbytes()
