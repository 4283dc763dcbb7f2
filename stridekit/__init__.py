"""stridekit: how tensors live in memory, to play with and to ask exactly.

>>> import torch
>>> from stridekit import is_view
>>> x = torch.arange(24.0).view(4, 6)
>>> is_view(x.t(), x), is_view(x.clone(), x)
(True, False)

`timing`, `widgets`, `lessons` and `exercises` are modules. `__init__.pyi` lists the public names.
"""

import re
from importlib import import_module
from importlib.util import find_spec
from pkgutil import get_data
from typing import Any

__version__ = "0.1.0"

# Type checkers read the same lines. Each module is imported when one of its names is first used.
_STUB = (get_data(__name__, "__init__.pyi") or b"").decode()
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+)", _STUB, re.MULTILINE)}
_MODULES = ("timing", "widgets", "lessons", "exercises")

# Without the packages of the widgets, help and `import *` show what the core has.
_HAS_WIDGETS = find_spec("anywidget") is not None
_NEED_WIDGETS = ("stridekit.widgets", "stridekit.exercises")
__all__ = [name for name, home in _HOMES.items() if _HAS_WIDGETS or home not in _NEED_WIDGETS]


def __getattr__(name: str) -> Any:
    """Import a public name, or one of the modules."""
    if name == "audit":  # the module, which can be called like the function of this name
        value = import_module("stridekit.audit")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"stridekit.{name}")
    elif name == "load_ipython_extension":  # of %load_ext stridekit
        from stridekit.widgets.diagnosis import load_ipython_extension as value
    else:
        raise AttributeError(f"module 'stridekit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Offer the public names to tab completion, not the modules behind them."""
    modules = [name for name in _MODULES if _HAS_WIDGETS or name != "exercises"]
    return [*__all__, *modules, *(name for name in globals() if name.startswith("__"))]
