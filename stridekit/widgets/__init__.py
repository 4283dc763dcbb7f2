"""Interactive pictures of layouts. `StrideExplorer` is one of them, and `explore(t)` shows it a tensor."""

from stridekit.widgets.alias_explorer import AliasExplorer
from stridekit.widgets.attention_explorer import AttentionExplorer
from stridekit.widgets.cache_explorer import CacheExplorer
from stridekit.widgets.channels_last_explorer import ChannelsLastExplorer
from stridekit.widgets.copy_tracer import CopyTracer
from stridekit.widgets.diagnose import Diagnose
from stridekit.widgets.exercise_panel import ExercisePanel as ExercisePanel  # what exercises show
from stridekit.widgets.format_tracer import FormatTracer
from stridekit.widgets.goals import Goal
from stridekit.widgets.predict import Predict
from stridekit.widgets.reshape_stepper import ReshapeStepper
from stridekit.widgets.sort import Sort
from stridekit.widgets.stride_explorer import StrideExplorer, explore
from stridekit.widgets.traversal_explorer import TraversalExplorer

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


def __dir__() -> list[str]:
    """Offer the public names to tab completion, not the modules."""
    return __all__
