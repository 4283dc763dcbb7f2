"""Watch an answer at work, and note the layouts that one torch function makes on the way.

This is for tasks about one function: x[2] is a right row, but states none of its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


@dataclass(frozen=True)
class Means:
    """The torch function that has to do the work, and the hint for right answers without it."""

    function: str = ""
    hint: str = ""


ANY_MEANS = Means()


class Watch(TorchFunctionMode):
    """Notes what one torch function makes, whether it is called as a method or as a function."""

    def __init__(self, function: str, args: Mapping[str, Any]) -> None:
        super().__init__()
        # also in place, and as an overload of torch.ops
        self.names = {function, f"{function}_", f"{function}.default"}
        self.bases = {name: t for name, t in args.items() if isinstance(t, torch.Tensor)}
        self.made: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the call, and note its result if it is a call of that function."""
        result = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in self.names and isinstance(result, torch.Tensor):
            self.made.append(self._in_words(result))
        return result

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
