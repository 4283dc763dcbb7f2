"""What kernels copy inside of an op, where no dispatch mode looks.

A mode is off while its op runs. So `copy_` gets a second kernel, which reports both tensors and then calls
`copy_` itself. It is registered under a dispatch key that no tensor carries, one that torch keeps for its
own tests, and it runs only while a thread has switched that key on, as `run` does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_NAME = "TESTING_ONLY_GenericMode"
_KEY = torch._C._parse_dispatch_key(_NAME)  # private to torch, as all of torch._C
_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128}
_thread = threading.local()
Report = Callable[[torch.Tensor, torch.Tensor], None]


def register() -> None:
    """Register the kernel; raises AttributeError or RuntimeError if this torch lacks the means."""
    _switch(False)
    others, mine = (torch.library.Library(name, "IMPL", _NAME) for name in ("_", "aten"))
    others.fallback(torch.library.fallthrough_kernel)
    mine.impl("copy_", _copy)
    _copy.held_by = others, mine  # type: ignore[attr-defined]  # a registration ends with its library


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Tell `report` of each copy that `run` makes on this thread, until the end of the block."""
    _thread.report = report
    try:
        yield
    finally:
        del _thread.report


def run(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run an op, in the handler of a mode, and report its copies.

    The profiler is off meanwhile: it would record each op once more.
    """
    _switch(True)
    torch._C._autograd._enable_record_function(False)
    try:
        return func(*args, **kwargs)
    finally:
        torch._C._autograd._enable_record_function(True)
        _switch(False)


def _copy(target: torch.Tensor, source: Any, non_blocking: bool = False) -> torch.Tensor:
    _switch(False)  # a copy inside of a copy does not count
    try:
        if not isinstance(source, torch.Tensor):
            # torch makes a tensor of a number, and hands it on to Python as a number again.
            source = torch.tensor(source, dtype=_DTYPES[type(source)])
        if report := getattr(_thread, "report", None):
            report(target, source)
        return torch.ops.aten.copy_.default(target, source, non_blocking)
    finally:
        _switch(True)


def _switch(on: bool) -> None:
    """Switch the kernel on or off for this thread: in a mode's handler, torch excludes its key."""
    torch._C._dispatch_tls_set_dispatch_key_excluded(_KEY, not on)
    torch._C._dispatch_tls_set_dispatch_key_included(_KEY, on)
