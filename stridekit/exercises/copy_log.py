"""The bytes that an answer copies, counted by watching every operation below autograd."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from stridekit.exercises.answers import as_tensor
from stridekit.exercises.running import Arguments, Outcome, Read, describe


class CopyLog(TorchDispatchMode):
    """Notes each operation that fills a storage of its own, and how many bytes that has.

    `outside` is True if one of them read memory from elsewhere: a list's or an array's.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Spare the first check the import of torch's compiler, which takes seconds."""
        return False

    def __init__(self, *given: Any) -> None:
        super().__init__()
        self.copies: list[tuple[str, int]] = []
        self.outside = False
        self._known: dict[int, Any] = {}  # by address; kept alive, so that no address is used again
        for t in filter(_has_memory, given):
            self._remember(t)

    def knows(self, t: torch.Tensor) -> bool:
        """True if the storage of t was given, or made by an operation that was seen."""
        return not _has_memory(t) or t.untyped_storage().data_ptr() in self._known

    def _remember(self, t: torch.Tensor) -> None:
        self._known[t.untyped_storage().data_ptr()] = t.untyped_storage()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operation and note what it made."""
        kwargs = kwargs or {}
        taken = [t for t in tree_leaves((args, kwargs)) if _has_memory(t)]
        unknown = {t.untyped_storage().data_ptr() for t in taken if not self.knows(t)}
        self.outside |= bool(unknown)
        result = func(*args, **kwargs)
        for t in tree_leaves(result):
            if _has_memory(t) and not self.knows(t):
                if t.untyped_storage().data_ptr() in unknown:
                    continue
                self._remember(t)
                self.copies.append((func.overloadpacket.__name__, t.untyped_storage().nbytes()))
        return result


def _has_memory(t: Any) -> bool:
    return isinstance(t, torch.Tensor) and not t.is_meta and t.untyped_storage().nbytes() > 0


class Logged(dict[str, Any]):
    """The arguments of a call, and the log of what it copies."""

    log: CopyLog


@contextmanager
def logging_copies(fn: Callable[..., Any], arguments: Arguments) -> Iterator[Arguments]:
    """A fence that stops nothing and logs what is copied."""
    args = Logged(arguments)
    args.log = CopyLog(*args.values())
    with args.log:
        yield args


_OUTSIDE = (
    "Your line takes memory that no operation of torch made here: a list's, or a NumPy array's. "
    "Copies made there are not counted. Stay with operations of torch on what is handed in."
)


def read_with_copies(free: Callable[[Arguments], int]) -> Read:
    """A reader of tensors, with the bytes that were filled on the way: up to `free` of them are as good."""

    def read(answer: Any, args: Arguments) -> Outcome:
        answer, log = as_tensor(answer), cast(Logged, args).log
        made, outside = list(log.copies), log.outside or not log.knows(answer)
        new = sum(nbytes for _, nbytes in made)
        by = ", ".join(f"{nbytes} by {name}" for name, nbytes in made)
        facts: dict[str, Any] = {
            "dtype": answer.dtype,
            "shape": tuple(answer.shape),
            "values": answer.tolist(),
            "new bytes": "outside torch" if outside else max(new, free(args)),
        }
        shown = f"{describe(answer)}, {new} new bytes" + (f": {by}" if new else "")
        return Outcome(facts, shown, _OUTSIDE if outside else "")

    return read
