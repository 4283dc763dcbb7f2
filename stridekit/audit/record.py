"""A run, recorded: each op that torch dispatches, its tensors' layouts, its module and its line.

Four watchers work at once. A dispatch mode sees each op with its operands; it is off while the op runs, so
a second kernel of `copy_` sees the copies inside. Second kernels of calls that torch takes apart, such as
reshape, name the call that an op is part of. Wrapped methods of torch report modules that run, and calls
that return their tensor: those dispatch nothing. No tensor is kept: a storage is a number.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property, wraps
from inspect import CO_OPTIMIZED
from traceback import walk_stack
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch.utils._pytree import tree_leaves

from stridekit._arguments import a_kind
from stridekit.audit.events import Copy, Event, Kind, Operand, Place, is_readers, kind_of, where

_SMALL = 4  # a view is small if its storage has so many times its bytes
_MOST_OBJECTS = 5_000  # of a frame that are searched for tensors which a program keeps
_PLAIN = {int, float, bool, type(None), torch.dtype}  # no tensors, which isinstance is slow to find
_NO_PARTS = (torch.Tensor, type, ModuleType, FunctionType)
_NoOverrides = torch._C.DisableTorchFunctionSubclass  # a subclass may refuse to tell its shape
_UNKNOWN: tuple[int, Any] = -1, lambda: None
_of_dtype = cache(lambda dtype: (dtype.itemsize, str(dtype)))
_watched = threading.Lock()  # an audit changes torch for all threads
_watching: list[Recorder] = []  # the one that holds the lock
_call: list[Any] = ["", 0]  # the name and the number of the outermost call that runs

try:
    # Private to torch. The first and the last of these names say which op a gradient belongs to.
    from torch._C import _current_autograd_node
    from torch._C import _dispatch_get_all_op_names as _all_ops
    from torch._C import _dispatch_has_kernel_for_dispatch_key as _has_kernel
    from torch._C import _dispatch_tls_set_dispatch_key_excluded as _exclude
    from torch._C import _dispatch_tls_set_dispatch_key_included as _include
    from torch.autograd import _get_sequence_nr

    # No tensor carries these dispatch keys: torch keeps them for its own tests.
    _KEYS = "TESTING_ONLY_GenericMode", "TESTING_ONLY_GenericWrapper"
    _KEY, _CALL = map(torch._C._parse_dispatch_key, _KEYS)
    MISSING = ""
except (ImportError, AttributeError, RuntimeError) as error:
    MISSING = str(error)


def _copy(target: torch.Tensor, source: Any, non_blocking: bool = False) -> torch.Tensor:
    _include(_KEY, False)  # a copy inside of a copy does not count
    try:
        for recorder in _watching:
            recorder.note_copy(target, torch.as_tensor(source))  # which may be a number
        return torch.ops.aten.copy_.default(target, source, non_blocking)
    finally:
        _include(_KEY, True)


def _calling(op: Any) -> Callable[..., Any]:
    """A kernel that notes the name of a call while it runs, as a mode sees only the ops inside of it."""
    name = op._schema.name.removeprefix("aten::")

    def call(*args: Any, **kwargs: Any) -> Any:
        _include(_CALL, False)  # a call inside of a call does not count
        _call[:] = name, _call[1] + 1
        try:
            return op(*args, **kwargs)
        finally:
            _call[0] = ""
            _include(_CALL, True)

    return call


@cache
def _register() -> list[torch.library.Library]:
    """Register these kernels once, which takes 0.1 s; torch uses them as long as the libraries live."""
    libraries = [torch.library.Library(x, "IMPL", key) for x in ("aten", "_") for key in _KEYS]
    copies, calls, *others = libraries
    for library in others:
        library.fallback(torch.library.fallthrough_kernel)
    copies.impl("copy_", _copy)
    for name in _all_ops():
        space, _, path = name.partition("::")
        packet, _, overload = path.partition(".")
        # Of an op in place, autograd may clone what is overwritten.
        in_place = packet.endswith("_") and not packet.endswith("__")
        if space == "aten" and (in_place or _has_kernel(name, "CompositeImplicitAutograd")):
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            calls.impl(op, _calling(op))
    return libraries


class Recorder(TorchDispatchMode):
    """Records what runs on this thread while `watching()` is open."""

    _should_skip_dynamo = classmethod(lambda cls: False)  # `watching` keeps the compiler off

    def __init__(self, root: Any, given: dict[str, Any]) -> None:
        super().__init__()
        self.ops: list[Event] = []
        self.marks: list[object] = []  # of each op; ops of one call, or of one formula, share it
        self.views: dict[int, Any] = {}  # ops to run with another tensor: func, args, kwargs
        self.copies: list[Copy] = []
        self.idle: list[Event] = []  # calls that returned what they were given, before that op
        self.inputs: dict[str, Operand] = {}
        self.gaps: dict[str, None] = {}  # what was not watched, in words
        self.kept: dict[int, int] = {}  # by storage: bytes that live on for a small view
        self.made: set[int] = set()  # the storages that ops made
        self.ends: Any = None  # what the run returned
        self._root = weakref.ref(root) if isinstance(root, torch.nn.Module) else lambda: None
        # Storages have numbers as long as they live: a freed address gets a new number when used again.
        self._known: dict[int, tuple[int, Any]] = {}  # by address: a number, and the storage
        self._latest: list[Operand] = []  # by number
        self._running: tuple[str, tuple[Operand, ...]] = "", ()
        self._modules: list[tuple[str, Any]] = [("", None)]  # that run, and where they were called
        self._names: dict[int, str] = {}  # of modules, by id
        self._roots: dict[Any, str] = {}  # weak references to the outermost, and their prefix
        self._by_sequence: dict[int, int] = {}
        self._thread = threading.get_ident()
        for name, value in given.items():
            operands = self._operands(tensors_of(value))
            names = [name] if len(operands) == 1 else [f"{name}[{k}]" for k in range(len(operands))]
            self.inputs |= zip(names, operands, strict=True)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record until the end of the block; whatever happens, all changes to torch are undone."""
        if not _watched.acquire(blocking=False):
            raise RuntimeError("another audit runs: end it, as only one can run")
        if outer := _get_current_dispatch_mode_stack():
            names = " and ".join(type(mode).__name__ for mode in outer)
            self.gaps[f"{names} was on around the run: copies inside of ops were not seen"] = None
        _watching.append(self)
        try:
            with ExitStack() as stack:
                _register()
                stack.callback(_include, _CALL, False)
                _include(_CALL, True)
                if "torch._dynamo" in sys.modules:  # run compiled functions as they were written
                    stack.enter_context(torch.compiler.set_stance("force_eager"))
                for value in vars(torch.overrides).values():
                    if hasattr(value, "cache_info") and not value.cache_info().currsize:
                        stack.callback(value.cache_clear)  # filled meanwhile: it holds our methods
                for kind, name, make in (
                    (torch.nn.Module, "__call__", self._entering),
                    (torch.Tensor, "contiguous", self._reporting),
                    (torch.Tensor, "to", self._reporting),
                ):
                    stack.enter_context(patch.object(kind, name, make(getattr(kind, name))))
                stack.enter_context(self)
                yield
            self.gaps |= dict.fromkeys(_lazy(self.ends))
        except BaseException as error:
            self.gaps[f"{type(error).__name__} ended the run: what follows it did not run"] = None
            raise
        finally:
            _watching.clear()
            _watched.release()
            self.copies = [copy for copy in self.copies if not self._is_of_watching(copy)]
            self._note_kept()

    def written_before(self) -> list[Any]:
        """Weak references to the storages that were there before the run, and that it wrote to."""
        written = {number for op in self.ops for number in op.writes} - self.made
        return [storage for number, storage in self._known.values() if number in written]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an op, and write down what it read and made."""
        no_dispatch = torch._C._disabled_torch_dispatch_impl
        own = types and {x.__name__ for x in types if x.__torch_dispatch__ is not no_dispatch}
        if own:
            if "FakeTensor" in own:
                self.gaps["fake tensors have no memory, so what they copy was not seen"] = None
            if not torch._C._len_torch_dispatch_stack():
                return NotImplemented  # the subclass runs ops of its own for it: those are recorded
            gap = "ops that {} runs of its own were not seen: another mode was on"
            self.gaps |= dict.fromkeys(map(gap.format, own - {"FakeTensor"}))
        kwargs, number, copied = kwargs or {}, len(self.ops), len(self.copies)
        name, writes = _of_schema(func)
        given = tensors_of(*args, *kwargs.values())
        inputs = self._operands(given)
        self._running = name, inputs
        try:
            _exclude(_KEY, False)  # as torch excludes it in a mode's handler
            _include(_KEY, True)
            out = func(*args, **kwargs)
        except BaseException:
            del self.copies[copied:]  # there will be no such op
            raise
        finally:
            _include(_KEY, False)
        targets = (args[k] if k < len(args) else kwargs.get(key) for k, key in writes)
        written = tuple(x.storage for x in self._operands(tensors_of(*targets))) if writes else ()
        for k in written:
            self._latest[k] = self._latest[k]._replace(version=self._latest[k].version + 1)
        known = len(self._latest)
        outputs = self._operands(tensors_of(out))
        self.made.update(range(known, len(self._latest)))
        is_unary = len(given) == len(inputs) == 1 and not written and given[0] is args[0]
        if is_unary and any(made.storage == inputs[0].storage for made in outputs):  # a view
            self.views[number] = func, args[1:], kwargs  # no tensor is kept
        module, at, mark, ways = self._where(number)
        call, calls = _call if _call[0] else (name, ~number)
        if call == "clone":  # torch clones a conjugated operand before it runs most ops
            with _NoOverrides():
                call = "resolve_conj" if given[0].is_conj() or given[0].is_neg() else call
        self.marks.append(mark or calls)
        self.ops.append(Event(name, call, module, at, inputs, outputs, *ways, number, written))
        return out

    def _operands(self, tensors: list[torch.Tensor]) -> tuple[Operand, ...]:
        operands = []
        with _NoOverrides():
            for tensor in tensors:
                try:
                    storage, stride = tensor.untyped_storage(), tensor.stride()
                except (RuntimeError, NotImplementedError):  # sparse, or of a function transform
                    continue
                number, known = self._known.get(storage._cdata, _UNKNOWN)
                if known() is not storage:
                    number = len(self._latest)
                    self._known[storage._cdata] = number, weakref.ref(storage)
                    self._latest.append(Operand(-1, (), (), -1, 0, "", 0))
                latest, shape, at = self._latest[number], tensor.shape, tensor.storage_offset()
                lies = number, shape, stride, at, *_of_dtype(tensor.dtype), latest.version
                if lies != latest:
                    if tensor.is_nested:  # its sizes are symbols
                        continue
                    self._latest[number] = Operand(number, tuple(shape), *lies[2:])
                operands.append(self._latest[number])
        return tuple(operands)

    def note_copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Write down a copy inside of the op that runs."""
        name, inputs = self._running
        with _NoOverrides():
            (shape, after), (_, before) = sides = _extent(target), _extent(source)
            at = source.layout is torch.strided and source.untyped_storage()._cdata
            copied = self._known.get(at, _UNKNOWN)[0], _of_dtype(source.dtype)[1]
            k = next((k for k, x in enumerate(inputs) if (x.storage, x.dtype) == copied), -1)
            given = inputs[k][1:3] if k >= 0 else None
            kind = kind_of(*sides, given, name == "copy_")
            kind = Kind.DTYPE if source.dtype != target.dtype else kind
            kind = Kind.DEVICE if source.device != target.device else kind
            size = target.numel() * target.itemsize
        self.copies.append(Copy(len(self.ops), kind, shape, before, after, size, k))

    def _is_of_watching(self, copy: Copy) -> bool:
        """Whether autograd copied zeros, because a mode is on, instead of writing a gradient to them."""
        op, before = self.ops[copy.op], self.ops[copy.op - 1]
        is_clone = op.by_engine and copy.kind == Kind.CLONE and copy.operand >= 0
        return is_clone and "zeros" in before.name and op.inputs[copy.operand] in before.outputs

    def _where(self, number: int) -> tuple[str, Place | None, object, tuple[bool, bool]]:
        """Module, line and call of an op, or of its forward op; if it is a gradient; if by the engine."""
        frame, (module, around) = sys._getframe(1).f_back, self._modules[-1]
        at, engine, call = where(frame, around)
        node = _current_autograd_node()
        if node is None or (frame and not engine):  # no frame: a thread of the engine's own
            self._by_sequence.setdefault(_get_sequence_nr() - 1, number)
            return module, at, call, (node is not None, False)
        sequence = node._sequence_nr()
        if (forward := self._by_sequence.get(sequence)) is not None:
            module, at = self.ops[forward].module, self.ops[forward].place
        return module, at, ("the gradient", sequence), (True, True)

    def _note_kept(self) -> None:
        """Note storages of the run that live on for a small view: the bytes that nothing in use reaches."""
        living = {number: known() for number, known in self._known.values() if number in self.made}
        sizes = {number: x.nbytes() for number, x in living.items() if x is not None}
        made = {out for op in self.ops for out in op.outputs if out.storage in sizes}
        large = {x.storage for x in made if x.nbytes * _SMALL <= sizes[x.storage]}
        views = {*self._operands(_in_use(self.ends, self._root()))} if large else set()
        for number in large:
            layouts = [view.layout for view in views if view.storage == number]
            reached = sum(min(x.numel, len(x.span)) * x.itemsize for x in layouts)
            if 0 < reached * _SMALL <= sizes[number]:
                self.kept[number] = sizes[number] - reached

    def _entering(self, call: Any) -> Any:
        """Module.__call__, which keeps names of modules that run; compiled ones warn of torch's hooks."""

        @wraps(call)
        def entering(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != self._thread:
                self.gaps["modules ran on other threads, which were not watched"] = None
                return call(module, *args, **kwargs)
            if len(self._modules) == 1:
                self._take_names(module)
            name = self._names.get(id(module), type(module).__name__)
            self._modules.append((name, where(sys._getframe(1), self._modules[-1][1])))
            try:
                return call(module, *args, **kwargs)
            finally:
                self._modules.pop()

        return entering

    def _take_names(self, module: torch.nn.Module) -> None:
        prefix = "" if module is self._root() else type(module).__name__
        self._roots[weakref.ref(module)] = prefix
        for name, part in module.named_modules(prefix=prefix):
            kind = type(part).__name__
            self._names[id(part)] = f"{name} ({kind})" if name[-1:].isdigit() else name or kind

    @cached_property
    def names(self) -> dict[int, str]:
        """The names of what the run was given, and of parameters and buffers, by storage."""
        names = {operand.storage: name for name, operand in self.inputs.items()}
        for known, prefix in self._roots.items():
            if module := known():
                for path, x in (*module.named_parameters(prefix), *module.named_buffers(prefix)):
                    place, _, key = path.rpartition(".")
                    for operand in self._operands([x]):
                        names.setdefault(operand.storage, f"{key} of {place}" if place else key)
        return names

    def _reporting(self, method: Any) -> Any:
        """Report calls that did nothing; a function mode would switch fast paths of torch.nn off."""

        @wraps(method)
        def reported(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            out, frame = method(tensor, *args, **kwargs), sys._getframe(1)
            name, is_here = method.__name__, threading.get_ident() == self._thread
            is_idle = out is tensor and (name == "contiguous" or kwargs.get("memory_format"))
            if is_idle and is_here and is_readers(frame.f_code):  # not a call of torch's
                at = self._modules[-1][0], where(frame)[0], self._operands([tensor])
                self.idle.append(Event(name, name, *at, (), False, False, len(self.ops), ()))
            return out

        return reported


def _in_use(*roots: Any) -> list[torch.Tensor]:
    """The tensors that variables of the reader's frames reach, and `roots`; others live in a graph."""
    groups = [[*roots]]
    for frame in (frame for frame, _ in walk_stack(sys._getframe()) if is_readers(frame.f_code)):
        groups.append([*frame.f_locals.values()])
        if frame.f_code.co_flags & CO_OPTIMIZED and isinstance(frame.f_locals, dict):
            frame.f_locals.clear()  # a copy, which would outlive what the function deletes
    for todo in groups:
        for value in todo:  # which grows meanwhile
            if len(todo) < _MOST_OBJECTS and not isinstance(value, _NO_PARTS):  # so rings end
                todo += gc.get_referents(value)[:_MOST_OBJECTS]
    return [x for todo in groups for x in todo if issubclass(type(x), torch.Tensor)]


def _lazy(ends: Any) -> Iterator[str]:
    """What a run returned that has not run yet."""
    for leaf in tree_leaves(ends):
        if isinstance(leaf, (Iterator, AsyncIterator, Awaitable)):
            advice = "audit a function that runs it to its end, by list(...) or asyncio.run(...)"
            yield f"it returned {a_kind(leaf)}, whose body has not run: {advice}"
            if hasattr(leaf, "close"):
                leaf.close()  # a coroutine that nobody awaits would warn


def tensors_of(*values: Any) -> list[torch.Tensor]:
    """The tensors of values, and of the sequences and dicts in them."""
    tensors: list[torch.Tensor] = []
    for value in values:
        if type(value) in _PLAIN:
            continue
        if isinstance(value, torch.Tensor):
            tensors.append(value)
        elif isinstance(value, (tuple, list, dict)):
            tensors += tensors_of(*(value.values() if isinstance(value, dict) else value))
    return tensors


@cache
def _of_schema(func: Any) -> tuple[str, tuple[tuple[int, str], ...]]:
    """The name of an op, and the place and the name of each argument that it writes to."""
    arguments = enumerate(func._schema.arguments)
    writes = ((k, x.name) for k, x in arguments if x.alias_info and x.alias_info.is_write)
    return func._schema.name.removeprefix("aten::"), tuple(writes)


def _extent(tensor: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides; a nested or a sparse tensor counts as one dim without strides."""
    has_strides = tensor.layout is torch.strided and not tensor.is_nested
    return (tuple(tensor.shape), tensor.stride()) if has_strides else ((tensor.numel(),), ())
