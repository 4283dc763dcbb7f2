"""Watch an answer at work, and note the layouts that torch makes on the way.

This is for tasks about one function, as x[2] is a right row, but states none of its numbers; and for tasks
on bare numbers, which torch could answer by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


class Watch(TorchFunctionMode):
    """Notes the tensors that one torch function makes, as a method or not; or those of the given `shape`.

    To put numbers into a tensor, or to calculate with one, is no other means.
    """

    def __init__(self, means: Means, args: Mapping[str, Any]) -> None:
        super().__init__()
        self.means, name = means, means.function
        # also in place, and as an overload of torch.ops
        self.names = {name, f"{name}_", f"{name}.default"}
        self.shape = tuple(args.get("shape", ()))
        self.bases = {name: t for name, t in args.items() if isinstance(t, torch.Tensor)}
        self.noted: list[str] = []

    @property
    def made(self) -> tuple[str, ...]:
        """What the watched means has made, in words; that nothing was made, where nothing may be."""
        nothing = ["no tensor"] * (self.means.hint != "" and not self.means.function)
        return tuple(self.noted or nothing)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the call, and note its result if it is to be noted."""
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and self._is_watched(
            getattr(func, "__name__", ""), result
        ):
            self.noted.append(self._in_words(result))
        return result

    def _is_watched(self, name: str, result: torch.Tensor) -> bool:
        if self.means.function:
            return name in self.names
        return (
            bool(self.shape) and result.shape == self.shape and name not in ("tensor", "as_tensor")
        )

    def _in_words(self, t: torch.Tensor) -> str:
        facts = layout_facts(t)
        stride = str(facts["stride"]).replace("'", "")  # (free, 6) instead of ('free', 6)
        owners = [f"{name}'s storage" for name, base in self.bases.items() if shares(t, base)]
        return (
            f"shape {facts['shape']}, stride {stride}, "
            f"storage_offset {facts['storage_offset']}, on {owners[0] if owners else 'another storage'}"
        )


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
