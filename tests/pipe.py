"""The widgets' functions by name: `ask("page/layout/numel", {"shape": [2, 3]})`."""

import json
from collections.abc import Sequence
from typing import Any

from stridekit import LayoutError as Refused  # what a page refuses
from stridekit.widgets.engine import Script

__all__ = ["Refused", "as_json", "ask", "ask_all"]


def ask(function: str, *given: Any) -> Any:
    """The result of a function of a widget's file."""
    file, _, name = function.rpartition("/")
    return getattr(Script(f"{file}.js"), name)(*given)


def ask_all(requests: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The same of several functions."""
    return [ask(*request) for request in requests]


def as_json(value: Any) -> Any:
    """A value of Python as a page has it: tuples are lists."""
    return json.loads(json.dumps(value))
