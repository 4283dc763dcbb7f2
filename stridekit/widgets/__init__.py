"""Interactive pictures of layouts, as `StrideExplorer`; `explore(t)` shows it a tensor."""

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stridekit.widgets.alias_explorer.widget import AliasExplorer
    from stridekit.widgets.attention_explorer.widget import AttentionExplorer
    from stridekit.widgets.cache_explorer.widget import CacheExplorer
    from stridekit.widgets.channels_last_explorer.widget import ChannelsLastExplorer
    from stridekit.widgets.copy_tracer.widget import CopyTracer
    from stridekit.widgets.diagnose.widget import Diagnose
    from stridekit.widgets.format_tracer.widget import FormatTracer
    from stridekit.widgets.goals import Goal
    from stridekit.widgets.predict.widget import Predict
    from stridekit.widgets.reshape_stepper.widget import ReshapeStepper
    from stridekit.widgets.sort.widget import Sort
    from stridekit.widgets.stride_explorer.widget import StrideExplorer, explore
    from stridekit.widgets.traversal_explorer.widget import TraversalExplorer

__all__ = [
    "AliasExplorer",
    "ReshapeStepper",
    "Diagnose",
    "StrideExplorer",
    "explore",
    "Goal",
    "ChannelsLastExplorer",
    "FormatTracer",
    "Predict",
    "Sort",
    "TraversalExplorer",
    "AttentionExplorer",
    "CacheExplorer",
    "CopyTracer",
]

# A widget is loaded on first use, with the widget libraries.
_HOMES = {"explore": "stride_explorer.widget", "Goal": "goals"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'stridekit.widgets' has no attribute {name!r}")
    home = _HOMES.get(name) or re.sub(r"\B(?=[A-Z])", "_", name).lower() + ".widget"
    return getattr(import_module(f"stridekit.widgets.{home}"), name)


def __dir__() -> list[str]:
    """Offer the public names to tab completion, not the modules."""
    return __all__
