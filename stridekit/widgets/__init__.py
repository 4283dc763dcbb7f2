"""Interactive pictures of layouts, as `StrideExplorer`; `explore(t)` shows it a tensor."""

import re
from importlib import import_module
from pkgutil import get_data
from typing import Any

from stridekit._extras import extra

# Type checkers read the same lines. A widget is loaded on first use, with the widget libraries.
_STUB = (get_data(__name__, "__init__.pyi") or b"").decode()
_HOMES = {
    name: home for home, name in re.findall(r"^from (\S+) import \(?\s*(\w+)", _STUB, re.MULTILINE)
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'stridekit.widgets' has no attribute {name!r}")
    with extra("widgets"):
        home = import_module(_HOMES[name])
    return getattr(home, name)


def __dir__() -> list[str]:
    """Offer the public names to tab completion, not the modules."""
    return __all__
