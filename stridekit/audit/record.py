"""A run, recorded: each op that torch dispatches, its tensors' layouts, its module and its line.

Four watchers work at once. A dispatch mode sees each op with its operands. The kernels of `kernels.py` see
the copies inside of ops, and name the call that an op is part of. Wrapped methods of torch report modules
that run, and calls that return their tensor, because those calls dispatch nothing. The recorder keeps no
tensor alive: a storage is a number.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from bisect import bisect, insort
from collections.abc import AsyncIterator, Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache, cached_property, partial, wraps
from inspect import CO_OPTIMIZED
from traceback import walk_stack
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from stridekit._arguments import a_kind
from stridekit._torch import private
from stridekit.audit import kernels
from stridekit.audit.events import (
    Copy,
    Event,
    Extent,
    Kind,
    Operand,
    Place,
    Spot,
    is_readers,
    kind_of,
    where,
)
from stridekit.audit.replay import Call, without_tensors
from stridekit.tensors.holders import base_of_array, is_array, local_variables

_SMALL = 4  # a view is small if its storage has so many times its bytes
# What is searched for tensors that a program keeps: objects of a frame that are opened, the parts of one
# of them, and all parts.
_MOST_OPENED = 5_000
_MOST_PARTS = 5_000
_MOST_OBJECTS = 50_000
_PLAIN = {int, float, bool, type(None), torch.dtype}  # no tensors, which isinstance is slow to find
_NO_PARTS = (torch.Tensor, type, ModuleType, FunctionType)
# Ops that may reorder a tensor in a kernel of a library, and calls that ask whether a mode is on.
_REORDERING = {"convolution", "convolution_backward", "mkldnn_rnn_layer", "_cudnn_rnn"}
_OTHER_FORMULAS = {"prod", "quantile", "nanquantile", "ctc_loss", "matrix_exp", "linalg_matrix_exp"}
_COMPOSITE_KEY = private("_C.DispatchKey").CompositeExplicitAutograd
_HigherOrderOperator = private("_ops.HigherOrderOperator")
_NoOverrides = private("_C.DisableTorchFunctionSubclass")  # a subclass may refuse to tell its shape
_dispatch_modes = private("utils._python_dispatch._get_current_dispatch_mode_stack")
_count_modes = private("_C._len_torch_dispatch_stack")
_no_dispatch = private("_C._disabled_torch_dispatch_impl")  # of subclasses that run no ops
_NO_STORAGE: tuple[int, Any] = (-1, lambda: None)  # a number and a dead reference
_size_and_name = cache(lambda dtype: (dtype.itemsize, str(dtype)))
_watched = threading.Lock()  # an audit changes torch for all threads


class Recorder(TorchDispatchMode):
    """Records what runs on this thread while `watching()` is open."""

    _should_skip_dynamo = classmethod(lambda cls: False)  # `watching` keeps the compiler off

    def __init__(self, root: Any, inputs: dict[str, Any]) -> None:
        super().__init__()
        self.ops: list[Event] = []
        self.marks: list[object] = []  # of each op; ops of one call, or of one formula, share it
        self.views: dict[int, Any] = {}  # ops to run with another tensor: func, args, kwargs
        self.calls: dict[int, Call] = {}  # other ops, to run again
        self.copies: list[Copy] = []
        # The marks of ops that autograd runs because an op wrote to a view, and the number of that op.
        self.write_gradients: dict[object, int] = {}
        self.idle: list[Event] = []  # calls that returned their own tensor, before that op
        self.inputs: dict[str, Operand] = {}
        self.gaps: dict[str, None] = {}  # an ordered set: what was not watched, in words
        self.kept: dict[int, int] = {}  # by storage: bytes that live on for a small view
        self.made: set[int] = set()  # the storages that ops made
        self.ends: Any = None  # what the run returned
        self._root = weakref.ref(root) if isinstance(root, torch.nn.Module) else lambda: None
        # By address: a number, and a weak reference. Storages have numbers as long as they live:
        # a freed address gets a new number when it is used again.
        self._storages: dict[int, tuple[int, Any]] = {}
        self._latest: list[Operand] = []  # by the number of a storage
        self._running_name = ""  # of the op that runs
        self._running_inputs: tuple[Operand, ...] = ()
        # The modules that run, and where they were called.
        self._modules: list[tuple[str, Spot | None]] = [("", None)]
        self._names: dict[int, str] = {}  # of modules, by id
        # By id: weak references to the outermost modules, and their prefixes.
        self._roots: dict[int, tuple[Any, str]] = {}
        self._by_sequence: dict[int, int] = {}  # forward ops, by autograd's sequence numbers
        self._sequences: list[int] = []  # those numbers, in order
        self._has_compiled_functions = False
        self._modes_around = 0  # other dispatch modes that were on before the run
        self._thread = threading.get_ident()
        self._other_threads: set[int] = set()  # threads that the run gave work to
        for name, value in inputs.items():
            operands = self._operands(tensors_of(value))
            if len(operands) == 1:
                self.inputs[name] = operands[0]
            else:
                self.inputs |= {f"{name}[{k}]": x for k, x in enumerate(operands)}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record until the end of the block; whatever happens, all changes to torch are undone."""
        if not _watched.acquire(blocking=False):
            raise RuntimeError("another audit runs: end it, as only one can run")
        self._modes_around = _count_modes()
        if self._modes_around > 0:
            self._note_modes("around")
        kernels.copy_listeners.append(self.note_copy)
        try:
            with ExitStack() as stack:
                kernels.register()
                stack.callback(kernels.include, kernels.CALL_KEY, False)
                kernels.include(kernels.CALL_KEY, True)
                if "torch._dynamo" in sys.modules:  # run compiled functions as they were written
                    stack.enter_context(torch.compiler.set_stance("force_eager"))
                    stack.enter_context(self._noting_compiled_functions())
                for value in vars(torch.overrides).values():
                    if hasattr(value, "cache_info") and not value.cache_info().currsize:
                        stack.callback(value.cache_clear)  # filled meanwhile: it holds our methods
                for cls, name, wrapped in (
                    (torch.nn.Module, "__call__", self._entering),
                    (torch.Tensor, "contiguous", self._reporting),
                    (torch.Tensor, "to", self._reporting),
                    (threading.Thread, "start", self._starting),
                    (ThreadPoolExecutor, "submit", self._submitting),
                    (_HigherOrderOperator, "dispatch", _watching_functions),
                ):
                    stack.enter_context(patch.object(cls, name, wrapped(getattr(cls, name))))
                stack.enter_context(self)
                yield
            self.gaps |= dict.fromkeys(_unfinished(self.ends))
        except BaseException as error:
            self.gaps[f"{type(error).__name__} ended the run: what follows it did not run"] = None
            raise
        finally:
            kernels.copy_listeners.clear()
            _watched.release()
            self.copies = [copy for copy in self.copies if not self._is_due_to_mode(copy)]
            self._note_kept()

    def notes(self) -> Iterator[str]:
        """Yield what an audit of this run does not see, and what ran otherwise than without it."""
        names = {op.name for op in self.ops}
        calls = {op.call for op in self.ops}
        if not names.isdisjoint(_REORDERING):
            yield "not seen: what oneDNN and cuDNN reorder inside of one kernel"
        if self._has_compiled_functions:
            yield "compiled functions ran as they were written"
        if others := sorted(calls & _OTHER_FORMULAS):
            yield f"{', '.join(others)} took another formula, as under any dispatch mode"

    def written_before(self) -> list[Any]:
        """Return weak references to storages that are older than the run, and that it wrote to."""
        written: set[int] = set()
        for op in self.ops:
            written.update(op.writes)
        written -= self.made
        return [reference for number, reference in self._storages.values() if number in written]

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an op, and write down what it read and made."""
        subclasses = _dispatching(types) if types else None
        other_modes = _count_modes()
        is_other_mode_on = other_modes > 0
        if other_modes > self._modes_around:
            self._note_modes("in")
        if subclasses:
            self._note_subclasses(subclasses, is_other_mode_on)
            if not is_other_mode_on:
                return NotImplemented  # the subclass runs ops of its own for it: those are recorded
        kwargs = kwargs or {}
        number = len(self.ops)
        copies_before = len(self.copies)
        name, written_arguments = _of_schema(func)
        tensors = tensors_of(*args, *kwargs.values())
        inputs = self._operands(tensors)
        self._running_name = name
        self._running_inputs = inputs
        try:
            kernels.exclude(kernels.COPY_KEY, False)  # as torch excludes it in a mode's handler
            kernels.include(kernels.COPY_KEY, True)
            out = func(*args, **kwargs)
        except BaseException:
            del self.copies[copies_before:]  # there will be no such op
            raise
        finally:
            kernels.include(kernels.COPY_KEY, False)
        writes: tuple[int, ...] = ()
        if written_arguments:
            targets = [args[k] if k < len(args) else kwargs.get(x) for k, x in written_arguments]
            writes = tuple([x.storage for x in self._operands(tensors_of(*targets))])
            for storage in writes:
                latest = self._latest[storage]
                self._latest[storage] = latest._replace(version=latest.version + 1)
        storages_before = len(self._latest)
        outputs = self._operands(tensors_of(out))
        self.made.update(range(storages_before, len(self._latest)))
        is_unary = len(tensors) == len(inputs) == 1 and not writes and tensors[0] is args[0]
        if is_unary and any(x.storage == inputs[0].storage for x in outputs):  # a view
            self.views[number] = func, args[1:], kwargs  # no tensor is kept
        elif tensors and len(tensors) == len(inputs) and not writes:
            arguments = without_tensors(args)
            options = tuple([(key, without_tensors(value)) for key, value in kwargs.items()])
            self.calls[number] = Call(func, arguments, options, tensors[0].device)
        module, place, mark, is_backward, by_engine = self._where(number)
        running_call = kernels.running_call
        if running_call.name:
            call = running_call.name
            self.marks.append(mark or running_call.number)
        else:
            call = name
            self.marks.append(mark or ~number)
        # Torch clones a conjugated operand before it runs most ops.
        if call == "clone" and _is_lazy(tensors[0]):
            call = "resolve_conj"
        event = Event(
            name, call, module, place, inputs, outputs, is_backward, by_engine, number, writes
        )
        self.ops.append(event)
        return out

    def _note_modes(self, where_on: str) -> None:
        """Note a gap for other dispatch modes: they run an op after this one, out of its sight."""
        names = [type(mode).__name__ for mode in _dispatch_modes()]
        verb = "was" if len(names) == 1 else "were"
        gap = f"{' and '.join(names)} {verb} on {where_on} the run: copies inside of ops were not seen"
        self.gaps[gap] = None

    def _note_subclasses(self, names: set[str], is_other_mode_on: bool) -> None:
        """Note gaps for subclasses of Tensor whose ops cannot be recorded."""
        if "FakeTensor" in names:
            self.gaps["fake tensors have no memory, so what they copy was not seen"] = None
        if is_other_mode_on:
            for name in names - {"FakeTensor"}:
                gap = f"ops that {name} runs of its own were not seen: another mode was on"
                self.gaps[gap] = None

    def _operands(self, tensors: list[torch.Tensor]) -> tuple[Operand, ...]:
        """Describe tensors by the numbers of their storages; an unchanged tensor keeps its Operand."""
        operands = []
        with _NoOverrides():
            for tensor in tensors:
                try:
                    storage = tensor.untyped_storage()
                    stride = tensor.stride()
                except (RuntimeError, NotImplementedError):  # sparse, or of a function transform
                    continue
                number, reference = self._storages.get(storage._cdata, _NO_STORAGE)
                if reference() is not storage:
                    number = len(self._latest)
                    self._storages[storage._cdata] = number, weakref.ref(storage)
                    self._latest.append(Operand(-1, (), (), -1, 0, "", 0))
                latest = self._latest[number]
                shape = tensor.shape
                offset = tensor.storage_offset()
                itemsize, dtype = _size_and_name(tensor.dtype)
                # A tuple, because an Operand takes longer to make.
                fields = number, shape, stride, offset, itemsize, dtype, latest.version
                if fields != latest:
                    if tensor.is_nested or _has_symbols(tensor):
                        continue
                    self._latest[number] = Operand(number, tuple(shape), *fields[2:])
                operands.append(self._latest[number])
        return tuple(operands)

    def note_copy(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Write down a copy inside of the op that runs."""
        if threading.get_ident() in self._other_threads:
            self.gaps["copies on other threads were not recorded"] = None
            return
        with _NoOverrides():
            target_extent = _extent(target)
            source_extent = _extent(source)
            is_strided = source.layout is torch.strided
            address = source.untyped_storage()._cdata if is_strided else 0
            storage, _ = self._storages.get(address, _NO_STORAGE)
            _, dtype = _size_and_name(source.dtype)
            index = -1  # of the copied tensor in the inputs of the op
            read_extent = None
            for k, operand in enumerate(self._running_inputs):
                if operand.storage == storage and operand.dtype == dtype:
                    index = k
                    read_extent = operand.shape, operand.stride
                    break
            if source.device != target.device:
                kind = Kind.DEVICE
            elif source.dtype != target.dtype:
                kind = Kind.DTYPE
            else:
                is_write = self._running_name == "copy_"
                kind = kind_of(target_extent, source_extent, read_extent, is_write)
            size = target.numel() * target.itemsize
        shape, after = target_extent
        _, before = source_extent
        self.copies.append(Copy(len(self.ops), kind, shape, before, after, size, index))

    def _is_due_to_mode(self, copy: Copy) -> bool:
        """Whether autograd copied zeros, because a mode is on, instead of writing a gradient to them."""
        op = self.ops[copy.op]
        previous = self.ops[copy.op - 1]
        is_clone = op.by_engine and copy.kind == Kind.CLONE and copy.operand >= 0
        return is_clone and "zeros" in previous.name and op.inputs[copy.operand] in previous.outputs

    def _where(self, number: int) -> tuple[str, Place | None, object, bool, bool]:
        """Return module, place and call of an op; whether it is a gradient, and autograd's engine ran it.

        An op that the engine runs has the module and the place of its forward op.
        """
        frame = sys._getframe(1).f_back
        module, called_at = self._modules[-1]
        place, in_engine, call = where(frame, called_at)
        node = kernels.current_autograd_node()
        if node is None or (frame and not in_engine):  # no frame: a thread of the engine's own
            sequence = kernels.next_sequence_number() - 1
            if sequence not in self._by_sequence:
                self._by_sequence[sequence] = number
                insort(self._sequences, sequence)
            return module, place, call, node is not None, False
        sequence = node._sequence_nr()
        mark = "the gradient", sequence
        forward_number = self._forward_of(node.name(), sequence)
        if forward_number is not None:
            forward = self.ops[forward_number]
            module = forward.module
            place = forward.place
            if node.name().endswith("CopySlices"):
                self.write_gradients[mark] = forward_number
        return module, place, mark, True, True

    def _forward_of(self, node_name: str, sequence: int) -> int | None:
        """Return the op that made a node of autograd's graph; None for a node that is older than the run.

        Some ops make further nodes after their own, such as CopySlices for a write to a view.
        """
        forward_number = self._by_sequence.get(sequence)
        if forward_number is None and not node_name.endswith("AccumulateGrad"):  # of a leaf
            position = bisect(self._sequences, sequence) - 1
            if position >= 0:
                return self._by_sequence[self._sequences[position]]
        return forward_number

    def _note_kept(self) -> None:
        """Note storages of the run that live on for a small view: the bytes that nothing in use reaches."""
        sizes: dict[int, int] = {}  # of the storages that live
        for number, reference in self._storages.values():
            storage = reference() if number in self.made else None
            if storage is not None:
                sizes[number] = storage.nbytes()
        candidates: set[int] = set()
        for op in self.ops:
            for out in op.outputs:
                if out.storage in sizes and out.nbytes * _SMALL <= sizes[out.storage]:
                    candidates.add(out.storage)
        if not candidates:
            return
        views = set(self._operands(_in_use(self.ends, self._root())))
        for number in candidates:
            layouts = [view.layout for view in views if view.storage == number]
            reached = sum(min(x.numel, len(x.span)) * x.itemsize for x in layouts)
            if 0 < reached * _SMALL <= sizes[number]:
                self.kept[number] = sizes[number] - reached

    def _entering(self, call: Any) -> Any:
        """Wrap Module.__call__ to note which modules run; compiled modules warn of torch's hooks."""

        @wraps(call)
        def entering(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() != self._thread:
                self.gaps["modules ran on other threads, which were not watched"] = None
                return call(module, *args, **kwargs)
            if len(self._modules) == 1:
                self._take_names(module)
            name = self._names.get(id(module), type(module).__name__)
            _, called_at = self._modules[-1]
            self._modules.append((name, where(sys._getframe(1), called_at)))
            try:
                return call(module, *args, **kwargs)
            finally:
                self._modules.pop()

        return entering

    def _starting(self, start: Any) -> Any:
        """Wrap Thread.start: the thread sees the copies that it makes."""

        @wraps(start)
        def starting(thread: threading.Thread) -> None:
            thread.run = self._elsewhere(thread.run)  # type: ignore
            start(thread)

        return starting

    def _submitting(self, submit: Any) -> Any:
        """Wrap ThreadPoolExecutor.submit, whose threads may be older than the run."""

        @wraps(submit)
        def submitting(
            pool: ThreadPoolExecutor, function: Any, /, *args: Any, **kwargs: Any
        ) -> Any:
            return submit(pool, self._elsewhere(function), *args, **kwargs)

        return submitting

    def _elsewhere(self, function: Any) -> Any:
        """Wrap a function for another thread: `note_copy` hears of its copies.

        No mode is on there, so the function's ops run as without audit.
        """

        @wraps(function)
        def elsewhere(*args: Any, **kwargs: Any) -> Any:
            thread = threading.get_ident()
            if thread in self._other_threads:  # a thread of a pool
                return function(*args, **kwargs)
            self._other_threads.add(thread)
            kernels.include(kernels.COPY_KEY, True)
            try:
                return function(*args, **kwargs)
            finally:
                kernels.include(kernels.COPY_KEY, False)
                self._other_threads.discard(thread)

        return elsewhere

    def _take_names(self, module: torch.nn.Module) -> None:
        """Note the names of the modules in an outermost module."""
        prefix = "" if module is self._root() else type(module).__name__
        self._roots[id(module)] = weakref.ref(module), prefix
        for path, part in _named(module.named_modules, prefix):
            class_name = type(part).__name__
            is_numbered = path[-1:].isdigit()
            self._names[id(part)] = f"{path} ({class_name})" if is_numbered else path or class_name

    @cached_property
    def names(self) -> dict[int, str]:
        """The names of the inputs, the parameters and the buffers of the run, by storage."""
        names = {operand.storage: name for name, operand in self.inputs.items()}
        for reference, prefix in self._roots.values():
            module = reference()
            if module is None:
                continue
            parameters = _named(module.named_parameters, prefix)
            for path, tensor in (*parameters, *_named(module.named_buffers, prefix)):
                owner, _, key = path.rpartition(".")
                for operand in self._operands([tensor]):
                    names.setdefault(operand.storage, f"{key} of {owner}" if owner else key)
        return names

    def _noting_compiled_functions(self) -> Any:
        """Wrap the function of the compiler that says how a compiled function is to run."""
        callback_of = private("_dynamo.eval_frame._callback_from_stance")

        def noting(callback: Any) -> Any:
            self._has_compiled_functions |= callable(callback)
            return callback_of(callback)

        return patch("torch._dynamo.eval_frame._callback_from_stance", noting)

    def _reporting(self, method: Any) -> Any:
        """Wrap a method to note calls that did nothing.

        A function mode would note them too, but it switches fast paths of torch.nn off.
        """
        name = method.__name__

        @wraps(method)
        def reporting(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            result = method(tensor, *args, **kwargs)
            if result is not tensor or threading.get_ident() != self._thread:
                return result
            frame = sys._getframe(1)
            asks_for_layout = name == "contiguous" or kwargs.get("memory_format")
            if asks_for_layout and is_readers(frame.f_code):  # not a call of torch's
                module, _ = self._modules[-1]
                place, _, _ = where(frame)
                inputs = self._operands([tensor])
                number = len(self.ops)
                self.idle.append(
                    Event(name, name, module, place, inputs, (), False, False, number, ())
                )
            return result

        return reporting


def _named(parts: Any, prefix: str) -> list[tuple[str, Any]]:
    """Return the named parts of a module; none of a module with parts that cannot be hashed."""
    try:
        return [*parts(prefix=prefix)]
    except TypeError:
        return []


def _watching_functions(dispatch: Any) -> Any:
    """Wrap HigherOrderOperator.dispatch, to record what the functions of torch.cond and others run.

    Functions of cond and map may return a single tensor. torch compiles them first, and its formulas of
    gradients take the tuple that they then return. Under audit they run as they were written.
    """

    @wraps(dispatch)
    def dispatching(operator: Any, key: Any, *args: Any, **kwargs: Any) -> Any:
        if Recorder not in operator.python_key_table:
            operator.py_impl(Recorder)(partial(_run_watched, operator))
        if operator.name() not in ("cond", "map_impl"):
            return dispatch(operator, key, *args, **kwargs)
        specs = []

        def flat(function: Any, *args: Any) -> Any:
            leaves, spec = tree_flatten(function(*args))
            specs.append(spec)
            return tuple(leaves)

        out = dispatch(operator, key, *_with_functions(flat, args), **kwargs)
        return tree_unflatten(tree_leaves(out), specs[-1]) if specs else out

    return dispatching


def _run_watched(operator: Any, mode: Recorder, *args: Any, **kwargs: Any) -> Any:
    """Run an operator, with the mode on while its functions run.

    The kernel of flex_attention is written in Python, so the mode is on for all of it. Kernels of cond and
    others refuse a mode, so what they run of their own is not seen. It changes no layout: scan of most
    versions of torch clones the first row as it lies.
    """
    if operator.name() == "flex_attention":
        kernel = operator.py_kernels[_COMPOSITE_KEY]
        with mode:
            return kernel(*args, **kwargs)
    if operator.name() == "flex_attention_backward":
        mode.gaps["what the backward pass of flex_attention runs of its own was not seen"] = None

    def watched(function: Any, *args: Any, **kwargs: Any) -> Any:
        with mode:
            return function(*args, **kwargs)

    args, kwargs = _with_functions(watched, (args, kwargs))
    return operator(*args, **kwargs)


def _with_functions(wrapper: Any, tree: Any) -> Any:
    """Return a tree of arguments where `wrapper` calls each function."""
    return tree_map(
        lambda leaf: wraps(leaf)(partial(wrapper, leaf)) if callable(leaf) else leaf, tree
    )


def _in_use(*roots: Any) -> list[torch.Tensor]:
    """Return the tensors that `roots` and the variables of the reader's frames reach.

    Other tensors live in a graph.
    """
    groups = [[*roots]]
    for frame, _ in walk_stack(sys._getframe()):
        if is_readers(frame.f_code):
            is_function = frame.f_code.co_flags & CO_OPTIMIZED
            variables = local_variables(frame) if is_function else frame.f_locals
            groups.append([*variables.values()])
    tensors: list[torch.Tensor] = []
    # The frames of a notebook or a test runner refer to the same objects, so each is opened once. The
    # groups keep all of them alive: no two have the same id.
    seen: set[int] = set()
    for objects in groups:
        opened = 0
        # The list grows meanwhile, by the parts of what stands beside each other.
        for value in objects:
            if issubclass(type(value), torch.Tensor):
                tensors.append(value)
            elif is_array(value):
                objects.append(base_of_array(value))  # the garbage collector does not know it
            elif len(objects) < _MOST_OBJECTS and not isinstance(value, _NO_PARTS):
                if opened == _MOST_OPENED or id(value) in seen:
                    continue
                seen.add(id(value))
                parts = gc.get_referents(value)[:_MOST_PARTS]
                if parts:
                    objects += parts
                    opened += 1
    return tensors


def _unfinished(ends: Any) -> Iterator[str]:
    """Yield a sentence for each iterator or coroutine that a run returned, and close coroutines."""
    for leaf in tree_leaves(ends):
        if isinstance(leaf, (Iterator, AsyncIterator, Awaitable)):
            yield (
                f"it returned {a_kind(leaf)}, whose body has not run: "
                "audit a function that runs it to its end, by list(...) or asyncio.run(...)"
            )
            if hasattr(leaf, "close"):
                leaf.close()  # a coroutine that nobody awaits would warn


def tensors_of(*values: Any) -> list[torch.Tensor]:
    """Return the tensors of values, and of the sequences and dicts in them."""
    tensors: list[torch.Tensor] = []
    for value in values:
        if type(value) in _PLAIN:
            continue
        if isinstance(value, torch.Tensor):
            tensors.append(value)
        elif isinstance(value, dict):
            tensors += tensors_of(*value.values())
        elif isinstance(value, (tuple, list)):
            tensors += tensors_of(*value)
    return tensors


def _dispatching(types: Any) -> set[str]:
    """Return the names of the subclasses of Tensor that handle ops themselves."""
    return {cls.__name__ for cls in types if cls.__torch_dispatch__ is not _no_dispatch}


@cache
def _of_schema(func: Any) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Return the name of an op, and the index and the name of each argument that it writes to."""
    writes = []
    for index, argument in enumerate(func._schema.arguments):
        if argument.alias_info and argument.alias_info.is_write:
            writes.append((index, argument.name))
    return func._schema.name.removeprefix("aten::"), tuple(writes)


def _is_lazy(tensor: torch.Tensor) -> bool:
    """Whether torch has yet to conjugate or to negate a tensor."""
    with _NoOverrides():
        return tensor.is_conj() or tensor.is_neg()


def _has_symbols(tensor: torch.Tensor) -> bool:
    """Whether torch traces a tensor with symbols in place of its sizes or strides."""
    numbers = (*tensor.shape, *tensor.stride(), tensor.storage_offset())
    return any(isinstance(number, torch.SymInt) for number in numbers)


def _extent(tensor: torch.Tensor) -> Extent:
    """Return shape and strides; a nested or a sparse tensor counts as one dim without strides."""
    if tensor.layout is torch.strided and not tensor.is_nested:
        return tuple(tensor.shape), tensor.stride()
    return (tensor.numel(),), ()
