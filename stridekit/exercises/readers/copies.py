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

# Names of arguments that only say where elements are.
_WHERE = {"index", "indices", "mask", "condition"}


class CopyLog(TorchDispatchMode):
    """Notes each storage that operations fill with elements of the arguments, and its bytes.

    Everything else that they fill is free: indices and masks, however they are made. `is_outside`
    finds elements that come from memory which no operation made, such as a list's or an array's.
    """

    _should_skip_dynamo = classmethod(lambda cls: False)  # or torch loads its compiler, in 1 s

    def __init__(self, *arguments: Any) -> None:
        super().__init__()
        # Storages by address; they are kept alive, so that no address is used again.
        self._kept: dict[int, Any] = {}
        self._data: set[int] = set()  # addresses of storages with elements of the arguments
        self._outside: set[int] = set()  # addresses of storages with elements from outside
        self._made: dict[int, tuple[str, int]] = {}  # by address: the operation, and the bytes
        for t in tensors_of(arguments):
            self._keep(t, self._data)

    @property
    def copies(self) -> list[tuple[str, int]]:
        """Each copy: the name of the operation that made its storage, and the storage's bytes."""
        with_elements = self._data | self._outside
        return [copy for address, copy in self._made.items() if address in with_elements]

    def is_outside(self, answer: torch.Tensor) -> bool:
        """Return whether the elements of an answer come from memory that no operation made."""
        address = _address(answer)
        return address != 0 and (address not in self._kept or address in self._outside)

    def _keep(self, t: torch.Tensor, addresses: set[int] | None = None) -> None:
        """Keep the tensor's storage alive, and add its address to a set."""
        if address := _address(t):
            self._kept[address] = t.untyped_storage()
            if addresses is not None:
                addresses.add(address)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        read = _tensors_read(func, args, kwargs)
        for t in read:
            if _address(t) not in self._kept:
                is_number = t.numel() <= 1  # a number is free
                self._keep(t, None if is_number else self._outside)
        result = func(*args, **kwargs)
        written = tensors_of(result)  # an operation in place returns what it wrote to
        for t in written:
            address = _address(t)
            if address and address not in self._kept:
                self._keep(t)
                operation = func.overloadpacket.__name__
                self._made[address] = (operation, t.untyped_storage().nbytes())
        for addresses in (self._data, self._outside):
            if any(_address(t) in addresses for t in read):
                addresses |= {*map(_address, written)} - {0}
        return result


def _tensors_read(func: Any, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """Return the tensors among the arguments whose elements an operation reads."""
    operation = func.overloadpacket.__name__
    if operation.startswith("new_") or operation.endswith("_like"):
        return []
    names = [argument.name for argument in func._schema.arguments]
    values = dict(zip(names, args, strict=False)) | kwargs
    return tensors_of([value for name, value in values.items() if name not in _WHERE])


def _address(t: torch.Tensor) -> int:
    """Return the address of the tensor's storage; 0 if it has no memory."""
    if t.layout is not torch.strided or t.is_meta:
        return 0
    storage = t.untyped_storage()
    return storage.data_ptr() if storage.nbytes() else 0


class Logged(dict[str, Any]):
    """The arguments of a call, and the log of its copies."""

    log: CopyLog


@contextmanager
def logging_copies(fn: Callable[..., Any], arguments: Mapping[str, Any]) -> Iterator[Logged]:
    """Log the copies inside: a fence that stops nothing."""
    args = Logged(arguments)
    args.log = CopyLog(*args.values())
    with args.log:
        yield args


OUTSIDE = (
    "Your line takes memory that no operation of torch made here: a list's, or a NumPy array's. "
    "Copies made there are not counted. Stay with operations of torch on what is handed in."
)


def read_with_copies(free: Callable[[Arguments], int]) -> Read:
    """Make a reader of tensors and of the bytes that were copied on the way.

    `free` returns the number of bytes that an answer may copy; fewer count as that many.
    """

    def read(answer: Any, args: Arguments) -> Outcome:
        answer = as_tensor(answer)
        log = cast(Logged, args).log
        copies = log.copies
        is_outside = log.is_outside(answer)
        new_bytes = sum(nbytes for _, nbytes in copies)
        facts = value_facts(answer)
        facts["new bytes"] = "outside torch" if is_outside else max(new_bytes, free(args))
        shown = f"{describe(answer)}, {new_bytes} new bytes"
        if new_bytes:
            shown += ": " + ", ".join(f"{nbytes} by {name}" for name, nbytes in copies)
        return Outcome(facts, shown, OUTSIDE if is_outside else "")

    return read
