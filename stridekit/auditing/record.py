"""A run, recorded: each op that torch dispatches, its tensors' layouts, its module and its line.

Four watchers work at once. A dispatch mode sees each op with its operands. A kernel of `copy_` sees what is
copied inside. torch's profiler knows of which call an op is a part, by a mark around each. And while a run
is watched, two methods of torch.Tensor report calls that return what they were given: those dispatch
nothing. No tensor is kept: a storage is a number, known by a weak reference.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial, wraps
from inspect import CO_OPTIMIZED, unwrap
from math import prod
from types import FrameType
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.utils._python_dispatch import TorchDispatchMode

from stridekit._arguments import MAX_INT
from stridekit.auditing import inside
from stridekit.auditing.places import Place, Spot, place, spot
from stridekit.layout import Layout

PINNED = 4  # so many times its bytes is the storage of a view that is small
MARK = "stridekit's op "  # what names of marks begin with
# Private to torch: where one is missing, a report notes what it cannot tell.
_node: Any = getattr(torch._C, "_current_autograd_node", None)
_sequence_number: Any = getattr(torch.autograd, "_get_sequence_nr", None)
_UNKNOWN: tuple[int, Any] = (-1, lambda: None)
_Marker = getattr(torch._C._profiler, "_RecordFunctionFast", torch.profiler.record_function)
try:
    # The older of torch's two profilers: it tells what begins and ends in its order, at half the cost.
    from torch.autograd import ProfilerConfig, ProfilerState
    from torch.autograd import _disable_profiler_legacy as _end
    from torch.autograd import _enable_profiler_legacy as _begin

    _NAMES_ONLY: Any = ProfilerConfig(
        ProfilerState.CPU, *5 * [False], torch._C._profiler._ExperimentalConfig()
    )
except (ImportError, AttributeError, TypeError):
    _NAMES_ONLY = None
try:
    from torch._C._dynamo import eval_frame as _frames

    # How a compiler is to treat a frame, and what it calls.
    _SKIP: Any = _frames._FrameExecStrategy(*2 * [_frames._FrameAction.SKIP])
except (ImportError, AttributeError):
    _SKIP = None


@dataclass(
    slots=True, unsafe_hash=True
)  # not frozen: a run makes thousands, and that takes twice as long
class Operand:
    """A tensor that an op read or made; `storage` numbers the storages of a run, `version` their states."""

    storage: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    itemsize: int
    dtype: str
    version: int

    @property
    def layout(self) -> Layout:
        """Its layout, in a storage that bears its number."""
        return Layout(
            self.shape, self.stride, self.offset, self.itemsize, storage=f"storage {self.storage}"
        )


@dataclass(slots=True)
class Op:
    """An op that was dispatched. `call` is what was called: reshape, where the op is clone.

    `by_engine`: autograd's engine ran it, by one of torch's derivative formulas.
    """

    number: int
    name: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    module: str
    spot: Spot | None
    backward: bool
    by_engine: bool
    start: float
    seconds: float
    writes: bool
    again: Callable[[torch.Tensor], Any] | None = None  # a view, for another tensor
    call: str = ""

    @property
    def place(self) -> Place | None:
        """The reader's line."""
        return place(*self.spot) if self.spot else None


@dataclass(frozen=True, slots=True)
class CopyCall:
    """A call of copy_ in op number `op`; `storage` is that of its source, or -1. Strides may be missing."""

    op: int
    shape: tuple[int, ...]
    target: tuple[int, ...]
    itemsize: int
    source_shape: tuple[int, ...]
    source: tuple[int, ...]
    dtype: str
    storage: int
    same_dtype: bool
    same_device: bool


@dataclass(slots=True)
class Idle:
    """A call about layouts that returned what it was given, before op `number`."""

    number: int
    name: str
    operand: Operand
    module: str
    spot: Spot | None


class Recorder(TorchDispatchMode):
    """Records what runs on this thread while `watching()` is open."""

    def __init__(self, root: Any = None) -> None:
        super().__init__()
        self.ops: list[Op] = []
        self.copied: list[CopyCall] = []
        self.idle: list[Idle] = []
        self.inputs: dict[str, Operand] = {}
        self.knows_calls = _NAMES_ONLY is not None  # which call an op is part of
        self.subclasses: set[str] = set()  # of tensors, whose own ops no mode sees
        self.knows_forward = None not in (_node, _sequence_number)  # the op that a gradient is of
        self.kept: dict[
            int, tuple[int, int]
        ] = {}  # by storage that lives on: bytes in use, and all
        self._root = weakref.ref(root) if isinstance(root, torch.nn.Module) else lambda: None
        self._storages = _Storages()
        self.made: set[int] = set()  # the storages that ops made
        self._modules: list[str] = []
        self._names: dict[int, str] = {}
        self._by_sequence: dict[int, int] = {}
        self._thread = threading.get_ident()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Whether torch has to wrap the handler, so that it is not compiled: not with `_SKIP`."""
        return _SKIP is None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record until the end of the block; what was hung into torch is taken out, whatever happens."""
        if self.knows_calls:
            _begin(_NAMES_ONLY)
        try:
            with ExitStack() as stack:
                hook = modules.register_module_forward_pre_hook(self._enter_module)
                stack.callback(hook.remove)
                hook = modules.register_module_forward_hook(self._leave_module, always_call=True)
                stack.callback(hook.remove)
                for name in ("contiguous", "to"):
                    stack.enter_context(replaced(name, partial(self._reporting, name)))
                stack.enter_context(inside.reporting(self._note_copy))
                stack.enter_context(self)
                yield
        finally:
            for events in _end() if self.knows_calls else ():
                self._name_calls(events)
            self.kept = self._storages.alive(self._smallest())

    def take(self, inputs: Any, named: dict[str, Any]) -> None:
        """Note what the run is given, by name."""
        for name, one in ({f"input {k}": one for k, one in enumerate(inputs)} | named).items():
            found = self._storages.operands(_tensors(one))
            names = [name] if len(found) == 1 else [f"{name}[{k}]" for k in range(len(found))]
            self.inputs |= zip(names, found, strict=True)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an op behind a mark, and write down what it read and made."""
        if types and (own := set(filter(_runs_its_own, types))):
            if not torch._C._len_torch_dispatch_stack():
                return NotImplemented  # the subclass runs ops of its own for it: those are recorded
            self.subclasses |= {kind.__name__ for kind in own}
        kwargs, number = kwargs or {}, len(self.ops)
        name, writes = _of_schema(func)
        given = _tensors(args) + (_tensors(kwargs) if kwargs else [])
        inputs = self._storages.operands(given)
        start = time.perf_counter()
        copied = len(self.copied)
        try:
            with _Marker(f"{MARK}{number}"):
                out = inside.run(func, args, kwargs)
        except BaseException:
            del self.copied[copied:]  # there will be no such op
            raise
        seconds = time.perf_counter() - start
        written = _tensors([_given(args, kwargs, key) for key in writes]) if writes else []
        for tensor in written:
            self._storages.written(tensor)
        known = self._storages.count
        outputs = self._storages.operands(_tensors(out))
        self.made.update(range(known, self._storages.count))
        again = None
        if len(given) == len(inputs) == 1 and not written and given[0] is args[0]:
            is_view = any(one.storage == inputs[0].storage for one in outputs)
            again = partial(_view_of, func, args[1:], kwargs) if is_view else None
        self.ops.append(
            Op(
                number, name, inputs, outputs, *self._where(number), start, seconds, bool(written),
                again, name,
            )
        )  # fmt: skip
        return out

    def _note_copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        storage = self._storages.number_of(source)
        self.copied.append(
            CopyCall(
                len(self.ops), *_extent(target), target.itemsize, *_extent(source), str(source.dtype),
                -1 if storage is None else storage,
                source.dtype == target.dtype, source.device == target.device,
            )
        )  # fmt: skip

    def _where(self, number: int) -> tuple[str, Spot | None, bool, bool]:
        """Module and spot of an op, or of that whose gradient it is; if it is one; if the engine ran it."""
        module = self._modules[-1] if self._modules else ""
        found, engine = spot(sys._getframe(2))
        if not self.knows_forward:
            return module, found, engine, engine
        node = _node()
        if node is None or not engine:  # the forward pass, or what checkpointing runs again
            self._by_sequence.setdefault(_sequence_number() - 1, number)
        elif (forward := self._by_sequence.get(node._sequence_nr())) is not None:
            module, found = self.ops[forward].module, self.ops[forward].spot
        return module, found, node is not None, node is not None and engine

    def _name_calls(self, events: Iterable[Any]) -> None:
        """Give each op the outermost call around its mark, from what began and ended on a thread."""
        call, outermost, depth = "", 0, 0
        for event in events:
            if not (name := event.name()):  # an end
                depth -= 1
                if depth == outermost:
                    call = ""
                continue
            if name.startswith(MARK):
                # The mark of an op that failed has the number of the next one, which comes later.
                if call and (number := int(name[len(MARK) :])) < len(self.ops):
                    self.ops[number].call = call
            elif not call and name.startswith("aten::"):
                call, outermost = name, depth
            depth += 1

    def _smallest(self) -> dict[int, int]:
        """The bytes of the smallest tensor in each storage that the run made."""
        found: dict[int, int] = {}
        for one in (one for op in self.ops for one in op.outputs if one.storage in self.made):
            found[one.storage] = min(
                found.get(one.storage, MAX_INT), prod(one.shape) * one.itemsize
            )
        return found

    def _enter_module(self, module: torch.nn.Module, _args: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        if not self._modules:
            prefix = "" if module is self._root() else type(module).__name__
            self._names = {
                id(one): ".".join(filter(None, [prefix, name])) or type(module).__name__
                for name, one in module.named_modules()
            }
        self._modules.append(self._names.get(id(module), type(module).__name__))

    def _leave_module(self, _module: torch.nn.Module, _args: Any, _out: Any) -> None:
        if threading.get_ident() == self._thread and self._modules:
            self._modules.pop()

    def _reporting(self, name: str, method: Any) -> Any:
        """A method of torch.Tensor that reports calls which were about a layout and did nothing.

        A function mode would see them too, but it switches the fast path of TransformerEncoderLayer off.
        """

        @wraps(method)
        def reported(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            out = method(tensor, *args, **kwargs)
            if out is tensor and (name == "contiguous" or kwargs.get("memory_format")):
                self._note_idle(name, tensor, sys._getframe(1))
            return out

        return reported

    def _note_idle(self, name: str, tensor: torch.Tensor, frame: Any) -> None:
        found, _ = spot(frame)
        operand = self._storages.operand(tensor)
        mine = found is not None and found[0] is frame.f_code  # and none of torch's own calls
        if operand is not None and mine and threading.get_ident() == self._thread:
            module = self._modules[-1] if self._modules else ""
            self.idle.append(Idle(len(self.ops), name, operand, module, found))


if _SKIP is not None:
    _frames.set_code_exec_strategy(unwrap(Recorder.__torch_dispatch__).__code__, _SKIP)


@contextmanager
def replaced(name: str, make: Callable[[Any], Any]) -> Iterator[None]:
    """Another method of torch.Tensor, made of the one that is there, until the end of the block."""
    own = vars(torch.Tensor).get(name)  # None where it comes from the base class
    setattr(torch.Tensor, name, make(getattr(torch.Tensor, name)))
    try:
        yield
    finally:
        if own is None:
            delattr(torch.Tensor, name)
        else:
            setattr(torch.Tensor, name, own)


class _Storages:
    """Numbers for storages, as long as they live: a freed address gets a new number when used again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Any]] = {}  # by address: a number, and the storage
        self._versions: list[int] = []

    @property
    def count(self) -> int:
        """How many have a number."""
        return len(self._versions)

    def operands(self, tensors: list[torch.Tensor]) -> tuple[Operand, ...]:
        """The operands that tensors are now."""
        return tuple(one for tensor in tensors if (one := self.operand(tensor)))

    def operand(self, tensor: torch.Tensor) -> Operand | None:
        """The operand that a tensor is now; None for one without strides."""
        try:
            storage, stride = tensor.untyped_storage(), tensor.stride()
        except (RuntimeError, NotImplementedError):  # sparse, or of a function transform
            return None
        if tensor.is_nested:  # its sizes are symbols
            return None
        number = self._number(storage)
        return Operand(
            number, tuple(tensor.shape), stride, tensor.storage_offset(), tensor.itemsize,
            str(tensor.dtype), self._versions[number],
        )  # fmt: skip

    def written(self, tensor: torch.Tensor) -> None:
        """Count a write to a tensor's storage."""
        if (number := self.number_of(tensor)) is not None:
            self._versions[number] += 1

    def alive(self, least: dict[int, int]) -> dict[int, tuple[int, int]]:
        """Of storages that still live: the bytes that tensors in use reach, and all of its bytes.

        Asked of storages by the bytes of their smallest view, where that is small: the search takes long.
        """
        found = [(number, storage()) for number, storage in self._known.values()]
        sizes = {n: one.nbytes() for n, one in found if one is not None and n in least}
        sizes = {n: size for n, size in sizes.items() if least[n] * PINNED <= size}
        del found
        living = [
            one
            for one in (gc.get_objects() if sizes else ())
            if issubclass(type(one), torch.Tensor) and self.number_of(one) in sizes
        ]
        in_use = _in_use(living)
        reached: dict[int, set[Operand]] = {number: set() for number in sizes}
        for operand in self.operands([one for one in living if id(one) in in_use]):
            reached[operand.storage].add(operand)
        return {n: (sum(map(_bytes, operands)), sizes[n]) for n, operands in reached.items()}

    def number_of(self, tensor: torch.Tensor) -> int | None:
        """The number of a tensor's storage, if it has one."""
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return None
        number, known = self._known.get(storage._cdata, _UNKNOWN)
        return number if known() is storage else None

    def _number(self, storage: Any) -> int:
        number, known = self._known.get(storage._cdata, _UNKNOWN)
        if known() is storage:
            return number
        number = len(self._versions)
        self._known[storage._cdata] = number, weakref.ref(storage)
        self._versions.append(0)
        return number


def _in_use(living: list[torch.Tensor]) -> set[int]:
    """The ids of tensors that a program can reach; the others live in a graph, or as `_base` of a view."""
    found: set[int] = set()
    if not living:
        return found
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename != __file__:
            found |= set(map(id, frame.f_locals.values()))
            if frame.f_code.co_flags & CO_OPTIMIZED and isinstance(frame.f_locals, dict):
                frame.f_locals.clear()  # a copy, which would outlive what the function deletes
        frame = frame.f_back
    for one in gc.get_referrers(*living):
        if one is not living and not isinstance(one, FrameType):
            found |= set(map(id, gc.get_referents(one)))
    return found


def _bytes(one: Operand) -> int:
    layout = one.layout
    return min(layout.numel, len(layout.span)) * one.itemsize


def _extent(tensor: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides; a nested tensor counts as one dim. It has no strides, nor has a sparse one."""
    if tensor.is_nested:
        return (tensor.numel(),), ()
    return tuple(tensor.shape), tensor.stride() if tensor.layout is torch.strided else ()


def _tensors(values: Any) -> list[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return []
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list, dict)) and value:
            found += _tensors(value)
    return found


@cache
def _of_schema(func: Any) -> tuple[str, tuple[tuple[int, str], ...]]:
    """The name of an op, and the place and the name of each argument that it writes to."""
    schema = func._schema
    arguments = enumerate(schema.arguments)
    return schema.name, tuple(
        (k, a.name) for k, a in arguments if a.alias_info and a.alias_info.is_write
    )


def _runs_its_own(kind: Any) -> bool:
    """Whether a class of tensors has a `__torch_dispatch__` of its own."""
    return kind.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl


def _given(args: Any, kwargs: Any, key: tuple[int, str]) -> Any:
    place, name = key
    return args[place] if place < len(args) else kwargs.get(name)


def _view_of(func: Any, rest: Any, kwargs: Any, tensor: torch.Tensor) -> Any:
    """The same view of another tensor."""
    return func(tensor, *rest, **kwargs)
