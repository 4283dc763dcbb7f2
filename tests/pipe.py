"""The widgets' functions by name: `ask("page/layout/numel", {"shape": [2, 3]})`."""

from typing import Any

from stridekit import LayoutError as Refused  # what a page refuses
from stridekit.widgets.engine import Script

__all__ = ["Refused", "ask"]


def ask(function: str, *given: Any) -> Any:
    """The result of a function of a widget's file."""
    file, _, name = function.rpartition("/")
    return getattr(Script(f"{file}.js"), name)(*given)
