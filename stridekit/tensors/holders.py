"""Which tensors and arrays an object holds and by which names, and which live in the process.

No code of an object runs: containers are read by the methods of dict, list and set themselves, and
attributes from the instance. Nothing that is found outlives the caller's references.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections import deque
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from traceback import walk_stack
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from stridekit._arguments import shown
from stridekit._torch import no_overrides

# Values without parts that could hold a tensor, or whose parts belong to everybody.
_NO_PARTS = (
    *(str, bytes, bytearray, int, float, complex, type(None), type, range, slice),
    *(ModuleType, FunctionType, BuiltinFunctionType, MethodType, FrameType),
)
_SEQUENCES = (list, tuple, deque, set, frozenset)
CONTAINERS = (dict, *_SEQUENCES)
_MOST_OBJECTS = 200_000  # that are opened to find the names of living tensors
UNNAMED = "unnamed"
_REFERENCES_OF_FRAME = 3  # to a dict that a frame, a variable and an argument refer to
_CHUNK = 1_000  # objects whose referents are listed at a time


class Held(NamedTuple):
    """A tensor, an array or an object of another library, and its name: a path, such as `state[0]`.

    A living tensor that no variable leads to is UNNAMED. `in_file` is False for gradients,
    which torch.save leaves out.
    """

    name: str
    value: Any
    in_file: bool = True


def is_array(x: Any) -> bool:
    """Return True for a NumPy array. isinstance would run the code of an object's `__class__`."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(x), numpy.ndarray)


def as_base_array(x: Any) -> Any:
    """Return an array of a subclass as NumPy itself sees it, on the same memory."""
    numpy = sys.modules["numpy"]
    return x if type(x) is numpy.ndarray else numpy.ndarray.view(x, numpy.ndarray)


def is_tensor_by_type(x: Any) -> bool:
    """Return True for a torch.Tensor, again without the code of an object."""
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(x), torch.Tensor)


def held_by(*roots: tuple[str, Any], most: int | None = None) -> Iterator[Held]:
    """Yield what named objects hold, those with short paths first; at most `most` objects are opened.

    A tensor comes once for each of its names. Each container is opened once. What lies in a container
    comes before any of its containers is opened, so one large container hides nothing beside it.
    """
    seen: set[int] = set()
    waiting: deque[tuple[str, Any]] = deque()
    parts = [*roots]
    opened = 0
    while True:
        for name, value in parts:
            kind = type(value)
            if issubclass(kind, _NO_PARTS):
                continue
            is_new = id(value) not in seen
            seen.add(id(value))
            if is_array(value):
                yield Held(name or "x", value)
            elif is_tensor_by_type(value):
                yield Held(name or "x", value)
                if is_new:
                    yield from _gradient(name or "x", value)
                    waiting.append((name or "x", value))
            elif hasattr(kind, "__dlpack__"):
                yield Held(name or "x", value)
            elif is_new:
                waiting.append((name, value))
        if not waiting or opened == most:
            return
        parts = [*_parts(*waiting.popleft())]
        opened += 1


def _own(t: Any, attribute: str) -> Any:
    """Return an attribute of a tensor as torch has it, whatever a subclass reports; None of a stand-in."""
    import torch

    descriptor: Any = getattr(torch.Tensor, attribute)
    try:
        with no_overrides():
            return descriptor.__get__(t)
    except RuntimeError:
        return None


def _gradient(name: str, t: Any) -> Iterator[Held]:
    """Yield the gradient of a tensor that has one; torch would warn of a tensor that keeps none."""
    keeps_one = _own(t, "is_leaf") or _own(t, "retains_grad")
    gradient = _own(t, "grad") if keeps_one else None
    if gradient is not None:
        yield Held(f"{name}.grad", gradient, in_file=False)


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a container or an object, with their names."""
    kind = type(value)
    if is_tensor_by_type(value):
        yield from _parts_of_tensor(name, value)
    elif issubclass(kind, dict):
        yield from _parts_of_dict(name, value)
    elif issubclass(kind, _SEQUENCES):
        base = next(base for base in _SEQUENCES if issubclass(kind, base))
        fields = getattr(kind, "_fields", ()) if base is tuple else ()
        for k, part in enumerate(base.__iter__(value)):
            if k < len(fields):
                yield _attribute(name, fields[k]), part
            else:
                yield f"{name}[{k}]", part
    elif is_module(kind):
        yield from _parts_of_module(name, value)
    else:
        yield from _parts_of_object(name, value)


def _parts_of_dict(name: str, value: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values of a dict, and its keys that are tensors; at the top a name is the key itself."""
    for key, part in [*dict.items(value)]:
        if issubclass(type(key), str):
            yield f"{name}[{key!r}]" if name else str.__str__(key), part
        else:
            yield f"{name}[{_shown_key(key)}]", part
        if is_tensor_by_type(key):
            yield f"a key of {name or 'x'}", key


def _shown_key(key: Any) -> str:
    """Return the text of a number, a tuple or a tensor; the repr of another key may run any code."""
    if issubclass(type(key), (*_NO_PARTS, tuple)) or is_tensor_by_type(key):
        return shown(key)
    return type(key).__name__


def is_module(kind: type) -> bool:
    """Return True for nn.Module and its subclasses."""
    torch_nn = sys.modules.get("torch.nn")
    return torch_nn is not None and issubclass(kind, torch_nn.Module)


def _parts_of_module(name: str, module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters, buffers, modules and other attributes of a module."""
    for attribute, value in _attributes(module):
        if attribute in ("_parameters", "_buffers", "_modules") and issubclass(type(value), dict):
            for key, part in [*dict.items(value)]:
                yield _attribute(name, key), part
        else:
            yield _attribute(name, attribute), value


def _parts_of_tensor(name: str, t: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and containers among the attributes of a tensor, not the mode of a fake one."""
    for attribute, part in _attributes(t):
        if is_tensor_by_type(part) or issubclass(type(part), CONTAINERS):
            yield _attribute(name, attribute), part


def _parts_of_object(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an instance."""
    for attribute, part in _attributes(value):
        yield _attribute(name, attribute), part


def _attribute(name: str, attribute: Any) -> str:
    return f"{name}.{attribute}" if name else f"{attribute}"


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of an instance's attributes and slots, past what its class defines."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except Exception:  # a class can make a property of it
        attributes = {}
    if issubclass(type(attributes), dict):
        yield from [*dict.items(attributes)]
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else tuple(slots):
            member: Any = base.__dict__.get(slot)
            if type(member) is _MEMBER:
                try:
                    yield slot, member.__get__(value)
                except AttributeError:  # nothing was assigned to it yet
                    continue


class _WithSlot:
    __slots__ = ("slot",)


_MEMBER = type(vars(_WithSlot)["slot"])


# The process --------------------------------------------------------------------------------------


def living(frame: FrameType) -> Iterator[Held]:
    """Yield each living tensor once, and NumPy arrays; names are those of the variables of a frame.

    Tensors that only C++ holds have no Python object, and are not found.
    """
    named: dict[int, Held] = {}
    for held in held_by(*_variables(frame), most=_MOST_OBJECTS):
        named.setdefault(id(held.value), held)
    yield from named.values()
    others = _others(named, frame)
    for value in others.values():
        yield Held(UNNAMED, value)
        if is_tensor_by_type(value):
            for held in _gradient("", value):
                if id(held.value) not in named and id(held.value) not in others:
                    yield held._replace(name=UNNAMED)


def _others(named: dict[int, Held], caller: FrameType) -> dict[int, Any]:
    """Return the living tensors and arrays without a name, by their ids.

    The base of a view lives on as an object. It holds the memory itself only if something else than the
    view refers to it.
    """
    tensor_types = _with_subclasses("torch", "Tensor")
    array_types = _with_subclasses("numpy", "ndarray")
    values: dict[int, Any] = {}
    referred = _values_of_frames(caller)
    objects = gc.get_objects()
    for start in range(0, len(objects), _CHUNK):
        chunk = objects[start : start + _CHUNK]
        values.update((id(value), value) for value in chunk if type(value) in tensor_types)
        for value in gc.get_referents(*chunk):
            if type(value) in array_types:
                values[id(value)] = value
            elif type(value) in tensor_types:
                referred.add(id(value))
    bases = {id(_base(held.value)) for held in named.values()}
    bases.update(id(_base(value)) for value in values.values())
    for number in named.keys() | (bases - referred):
        values.pop(number, None)
    return values


def _with_subclasses(module: str, name: str) -> set[type]:
    """Return a class of a module that may be loaded, and all classes that inherit from it."""
    if module not in sys.modules:
        return set()
    classes = [getattr(sys.modules[module], name)]
    for base in classes:  # the list grows meanwhile
        classes += type.__subclasses__(base)
    return set(classes)


def _base(value: Any) -> Any:
    """Return the tensor that a view or an array keeps: autograd's base, or the end of the `.base` chain."""
    if is_tensor_by_type(value):
        return _own(value, "_base")
    return base_of_array(value)


def base_of_array(array: Any) -> Any:
    """Return the object at the end of an array's `.base` chain; None of an array with its own memory."""
    base_of = sys.modules["numpy"].ndarray.base.__get__  # a subclass may have a base of its own
    base = base_of(array)
    while is_array(base):
        base = base_of(base)
    return base


def _values_of_frames(caller: FrameType) -> set[int]:
    """Return the ids of the values of local variables; the collector does not see functions that run.

    The frames of this package are left out: a frame that refers to itself would outlive its call.
    """
    innermost = sys._current_frames()
    innermost[threading.get_ident()] = caller
    values: set[int] = set()
    for frame in innermost.values():
        for each_frame, _ in walk_stack(frame):
            values.update(map(id, local_variables(each_frame).values()))
    return values


def local_variables(frame: FrameType) -> dict[str, Any]:
    """Return the local variables of a function; none of a module or a class, which has no others."""
    if not frame.f_code.co_flags & CO_OPTIMIZED:
        return {}
    variables = frame.f_locals
    copied = {**variables}
    # Before Python 3.13 it is a copy that the frame keeps: it would outlive what the function deletes.
    # Someone who called locals() has the same dict, and may still read it.
    if isinstance(variables, dict) and sys.getrefcount(variables) <= _REFERENCES_OF_FRAME:
        variables.clear()
    return copied


def _variables(frame: FrameType) -> list[tuple[str, Any]]:
    """Return the variables of a frame, and of those of its module that called it; `_` names come last.

    In a notebook, variables such as `_` and `_3` hold results of cells. Names such as `__loader__` belong
    to Python: under pytest, that one leads to all tests.
    """
    variables: dict[str, Any] = {}
    for caller, _ in walk_stack(frame):
        if caller.f_globals is frame.f_globals:
            variables = {**local_variables(caller), **variables}
    variables = {**frame.f_globals, **variables}
    readers = [(name, value) for name, value in variables.items() if not name.startswith("__")]
    return sorted(readers, key=lambda item: item[0].startswith("_"))
