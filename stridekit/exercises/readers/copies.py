"""The bytes that an answer copies, by a log of all operations below autograd."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from stridekit.audit.record import tensors_of
from stridekit.exercises.readers.answers import as_tensor, value_facts
from stridekit.exercises.running import Arguments, Outcome, Read, describe

# Arguments that only say where elements are.
_PLACES = {"index", "indices", "mask", "condition"}


class CopyLog(TorchDispatchMode):
    """Notes each storage that operations fill with the elements of what was given, and its bytes.

    Whatever else they fill is free: indices and masks, however they are made. `outside` is True where
    elements come from memory that no operation made: a list's or an array's.
    """

    _should_skip_dynamo = classmethod(lambda cls: False)  # or torch loads its compiler, in 1 s

    def __init__(self, *given: Any) -> None:
        super().__init__()
        self._kept: dict[int, Any] = {}  # by address; kept alive, so that no address is used again
        self._data: set[int] = set()
        self._outside: set[int] = set()
        self._made: dict[int, tuple[str, int]] = {}
        for t in tensors_of(given):
            self._keep(t, self._data)

    @property
    def copies(self) -> list[tuple[str, int]]:
        """Each copy as the name of the operation that made its storage, and the bytes of that."""
        return [
            made for address, made in self._made.items() if address in self._data | self._outside
        ]

    def is_outside(self, answer: torch.Tensor) -> bool:
        """Return whether the elements of an answer come from memory that no operation made."""
        address = _address(answer)
        return address != 0 and (address not in self._kept or address in self._outside)

    def _keep(self, t: torch.Tensor, into: set[int]) -> None:
        if address := _address(t):
            self._kept[address] = t.untyped_storage()
            into.add(address)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, packet = kwargs or {}, func.overloadpacket.__name__
        names = [argument.name for argument in func._schema.arguments]
        named = dict(zip(names, args, strict=False)) | kwargs
        is_new = packet.startswith("new_") or packet.endswith("_like")
        taken = tensors_of([it for name, it in named.items() if name not in _PLACES and not is_new])
        for t in taken:
            if _address(t) not in self._kept:
                self._keep(t, self._outside if t.numel() > 1 else set())  # a number is free
        result = func(*args, **kwargs)
        written = tensors_of(result)  # also what it wrote in place
        for t in written:
            if (address := _address(t)) and address not in self._kept:
                self._keep(t, set())
                self._made[address] = (packet, t.untyped_storage().nbytes())
        for kind in (self._data, self._outside):
            if any(_address(t) in kind for t in taken):
                kind |= {*map(_address, written)} - {0}
        return result


def _address(t: torch.Tensor) -> int:
    """Return the address of the tensor's storage; 0 where it has no memory."""
    is_strided = t.layout is torch.strided and not t.is_meta
    return t.untyped_storage().data_ptr() if is_strided and t.untyped_storage().nbytes() else 0


class Logged(dict[str, Any]):
    """The arguments of a call, and the log of what it copies."""

    log: CopyLog


@contextmanager
def logging_copies(fn: Callable[..., Any], arguments: Mapping[str, Any]) -> Iterator[Logged]:
    """Fence that stops nothing and logs what is copied."""
    args = Logged(arguments)
    args.log = CopyLog(*args.values())
    with args.log:
        yield args


_OUTSIDE = (
    "Your line takes memory that no operation of torch made here: a list's, or a NumPy array's. "
    "Copies made there are not counted. Stay with operations of torch on what is handed in."
)


def read_with_copies(free: Callable[[Arguments], int]) -> Read:
    """Make a reader of tensors, with the bytes that were copied on the way: up to `free` are as good."""

    def read(answer: Any, args: Arguments) -> Outcome:
        answer, log = as_tensor(answer), cast(Logged, args).log
        made, outside = log.copies, log.is_outside(answer)
        new = sum(nbytes for _, nbytes in made)
        by = ", ".join(f"{nbytes} by {name}" for name, nbytes in made)
        counted = "outside torch" if outside else max(new, free(args))
        facts = value_facts(answer) | {"new bytes": counted}
        shown = f"{describe(answer)}, {new} new bytes" + (f": {by}" if new else "")
        return Outcome(facts, shown, _OUTSIDE if outside else "")

    return read
