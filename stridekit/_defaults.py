"""torch_defaults: torch as it is right after its import, for the checks of exercises and for widgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from stridekit._torch import private


@contextmanager
def torch_defaults() -> Iterator[None]:
    """New tensors are float32 on the CPU, autograd records, nothing is cast; afterwards all is as before.

    Code inside may change these defaults: they are restored. Also a decorator.

    >>> with torch.device("meta"), torch_defaults():
    ...     torch.zeros(2)
    tensor([0., 0.])
    """
    # A default device is a function mode, and set_default_device remembers its own. So take all
    # modes off: one more mode would change what some functions answer.
    modes = private("overrides._get_current_function_mode_stack")()
    dtype = torch.get_default_dtype()
    device_context = vars(private("_GLOBAL_DEVICE_CONTEXT"))  # of this thread
    with (
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.autocast("cpu", enabled=False),
    ):
        _replace_modes([])
        device = device_context.pop("device_context", None)
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            device_context.pop("device_context", None)
            if device is not None:  # torch 2.6 takes None for a device
                device_context["device_context"] = device
            _replace_modes(modes)


def _replace_modes(modes: Iterable[Any]) -> None:
    """Take all function modes off, and put these on."""
    count_modes = private("overrides._len_torch_function_stack")
    take_off = private("overrides._pop_mode")
    put_on = private("overrides._push_mode")
    while count_modes():
        take_off()
    for mode in modes:
        put_on(mode)
