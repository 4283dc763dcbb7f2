"""audit(model, *inputs): run something, watched."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from stridekit._arguments import a_kind
from stridekit.audit.findings import Search
from stridekit.audit.record import MISSING, Event, Recorder
from stridekit.audit.report import Audit
from stridekit.audit.trial import Again, run_of

_watched = threading.Lock()  # an audit changes torch for all threads
_LAZY = (Iterator, AsyncIterator, Awaitable)
_NOT_ENTERED = "the block was not entered: write `with audit() as a:` around it"
_NOT_LEFT = "the block has not ended"


def audit(model: Any = ..., *inputs: Any, backward: bool = False, **named: Any) -> Audit:
    """Run `model(*inputs, **named)` and say which lines copy because of a layout, and which made it so.

    `model` is a module or any other callable. With `backward=True` the gradient of its outputs' sum is
    computed as well, as a training step does. Without arguments, `with audit() as a:` watches a block. The
    result is an `Audit`; outputs, gradients, random numbers and strides are as without it. Raises
    TypeError if there is no model to call, ValueError for a gradient of what requires none, RuntimeError
    while a profiler or another audit runs, and whatever the model raises. The model cannot start a
    profiler of its own: torch refuses a second one.

    >>> import torch
    >>> x = torch.zeros(2, 3, 4, 5)
    >>> with audit() as a:
    ...     y = x.permute(0, 2, 3, 1).contiguous()
    >>> a.copied.layouts
    480
    """
    if MISSING:
        raise RuntimeError(f"audit does not run on torch {torch.__version__}: {MISSING}")
    if not isinstance(backward, bool):
        raise TypeError(f"backward is {a_kind(backward)}: give True or False")
    if model is ...:
        if given := [*named, *(["backward"] if backward else [])]:
            raise TypeError(f"audit got {', '.join(given)} and no model: name the model first")
        block = Audit("the block", unwatched=(_NOT_ENTERED,))
        block.block = _watching(block, None)
        return block
    if isinstance(model, type):
        name = model.__name__
        raise TypeError(f"model is the class {name}: give an instance of it, such as {name}(...)")
    if not callable(model):
        raise TypeError(f"model is {a_kind(model)}: give a module, or a function to call")
    kind, is_module = type(model).__name__, isinstance(model, torch.nn.Module)
    watched = Audit(kind if is_module else getattr(model, "__qualname__", kind))
    with _watching(watched, model, inputs, named) as run:
        run.ends = run_of(model, inputs, named, backward)
    watched.again = Again(model, inputs, named, backward, run)
    run.ends = None  # until here, so that what it keeps in memory is seen
    return watched


@contextmanager
def _watching(
    watched: Audit, model: Any, inputs: tuple[Any, ...] = (), named: Any = None
) -> Iterator[Recorder]:
    """Watch what runs until the end of the block, and fill in what was found."""
    if torch.autograd._profiler_enabled() or not _watched.acquire(blocking=False):
        raise RuntimeError("a profiler or another audit runs: one runs at a time, so end it first")
    run = Recorder(model)
    try:
        run.take(inputs, named or {})
        with run.watching():
            watched.unwatched = (_NOT_LEFT,)
            yield run
            run.gaps |= dict.fromkeys(_lazy(run.ends))
    except BaseException as error:
        run.gaps[f"{type(error).__name__} ended the run: what follows it did not run"] = None
        raise
    finally:
        _watched.release()
        _fill(watched, run)


def _fill(watched: Audit, run: Recorder) -> None:
    search = Search(run)
    watched.findings, watched.own = search.findings(), search.own()
    watched.copies, watched.unwatched = tuple(run.copies), tuple(run.gaps)
    watched.inputs = run.inputs
    names = [each.name for each in fields(Event)]
    watched.events = tuple(Event(*(getattr(op, name) for name in names)) for op in run.ops)


def _lazy(ends: Any) -> Iterator[str]:
    """What a run returned that has not run yet."""
    for leaf in tree_leaves(ends):
        if isinstance(leaf, _LAZY) and not isinstance(leaf, torch.Tensor):
            yield (
                f"it returned {a_kind(leaf)}, whose body has not run: audit a function that runs it to its "
                "end, by list(...) or asyncio.run(...)"
            )
            if hasattr(leaf, "close"):
                leaf.close()  # a coroutine that nobody awaits would warn
