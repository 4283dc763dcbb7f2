"""torch where it is needed: whether an object is a tensor, and names that are private to torch.

A Layout needs no torch. So nothing here imports torch before a tensor or one of its names is asked for.
"""

from __future__ import annotations

import sys
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import torch


def is_tensor(x: Any) -> TypeGuard[torch.Tensor]:
    """Return True for a torch.Tensor; without torch there is none."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and isinstance(x, torch_module.Tensor)


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
