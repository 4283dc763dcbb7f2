"""torch where it is needed: what counts as a tensor, new tensors, and names that are private to torch.

A Layout needs no torch. So nothing here imports torch before a tensor or one of its names is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeGuard

from stridekit._arguments import a_kind

if TYPE_CHECKING:
    import torch
    from torch import Tensor as Tensor

# The dtype of a new tensor that is given only the bytes of an element.
_DTYPES = {1: "uint8", 2: "float16", 4: "float32", 8: "float64", 16: "complex128"}


def is_tensor(x: Any) -> TypeGuard[torch.Tensor]:
    """Return True for a torch.Tensor; without torch there is none."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and isinstance(x, torch_module.Tensor)


def as_plain(x: Any) -> Any:
    """Return a tensor of a subclass as torch itself sees it, and anything else as it is.

    A subclass can say anything about itself. A tensor without one stride per dim stays as it is, to be
    refused: torch crashes when a jagged one is stripped.
    """
    if not is_tensor(x):
        return x
    import torch

    if type(x) in (torch.Tensor, torch.nn.Parameter) or not _is_strided(x):
        return x
    return strip_subclass(x)


def _is_strided(t: torch.Tensor) -> bool:
    """Return True if torch itself, whatever a subclass says, has one shape and one stride for `t`."""
    import torch

    with no_overrides():
        layout = torch.Tensor.layout.__get__(t)
        is_nested = torch.Tensor.is_nested.__get__(t)
    return layout is torch.strided and not is_nested and not torch.nn.parameter.is_lazy(t)


def strip_subclass(t: torch.Tensor) -> torch.Tensor:
    """Return an alias of `t` that is a plain torch.Tensor, outside autograd's graph."""
    import torch

    with no_overrides():
        return torch.Tensor.as_subclass(torch.Tensor.detach(t), torch.Tensor)


@contextmanager
def no_overrides() -> Iterator[None]:
    """Keep the methods of a subclass from running."""
    with private("_C.DisableTorchFunction")(), private("_C._DisableTorchDispatch")():
        yield


@cache
def private(path: str) -> Any:
    """Return a private name of torch, such as "_C._data_address".

    Each is looked up where it is used, so that a torch without it costs that function alone. Raises
    RuntimeError, which names it and the version of torch, if this torch does not have it.
    """
    import torch

    try:
        return resolve_name(f"torch.{path}")
    except (ImportError, AttributeError):
        raise RuntimeError(
            f"this needs torch.{path}, which torch {torch.__version__} does not have: "
            "use a version from 2.6 to 2.14"
        ) from None


def empty_storage(count: int, itemsize: int, dtype: Any, device: Any) -> torch.Tensor:
    """Return a new 1-D tensor of so many elements, of the dtype or of the usual one of that itemsize."""
    import torch

    if dtype is None:
        dtype = _DTYPES[itemsize]
    return torch.empty(count, dtype=_torch_dtype(dtype), device=device)


def _torch_dtype(dtype: Any) -> Any:
    """Return what torch takes for a dtype that is given as such, by its name, or as one of NumPy."""
    import torch

    if isinstance(dtype, torch.dtype) or dtype in (bool, int, float, complex):
        return dtype  # torch takes these types for dtypes
    name = dtype
    if not isinstance(dtype, str):
        import numpy

        name = numpy.dtype(dtype).name
    return getattr(torch, name.rpartition(".")[2])


def borrowed(x: Any) -> Any:
    """Return what has the memory of x as a tensor or an array; x itself if it is one, or has no memory.

    Objects of other libraries, as JAX, CuPy and Arrow have them, hand over their memory by
    `__dlpack__` or `__array_interface__`. Nothing is copied.
    """
    if isinstance(x, type) or is_tensor(x):
        return x
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic)):
        return x  # the memory of a NumPy scalar does not last
    if hasattr(x, "__dlpack__"):
        import torch

        try:
            return torch.from_dlpack(x)
        except Exception as error:  # each library has errors of its own
            raise TypeError(f"{a_kind(x)} does not hand over its memory: {error}") from None
    interface = getattr(x, "__array_interface__", None)
    if isinstance(interface, dict) and isinstance(interface.get("data"), tuple):
        import numpy as np

        return np.asarray(x)
    return x
