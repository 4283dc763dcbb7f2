# The public names: __init__.py reads them here.
from stridekit.widgets.alias_explorer.widget import AliasExplorer as AliasExplorer
from stridekit.widgets.attention_explorer.widget import AttentionExplorer as AttentionExplorer
from stridekit.widgets.cache_explorer.widget import CacheExplorer as CacheExplorer
from stridekit.widgets.channels_last_explorer.widget import (
    ChannelsLastExplorer as ChannelsLastExplorer,
)
from stridekit.widgets.copy_tracer.widget import CopyTracer as CopyTracer
from stridekit.widgets.diagnose.widget import Diagnose as Diagnose
from stridekit.widgets.drill.widget import Drill as Drill
from stridekit.widgets.format_tracer.widget import FormatTracer as FormatTracer
from stridekit.widgets.goals import Goal as Goal
from stridekit.widgets.predict.widget import Predict as Predict
from stridekit.widgets.reshape_stepper.widget import ReshapeStepper as ReshapeStepper
from stridekit.widgets.sort.widget import Sort as Sort
from stridekit.widgets.stride_explorer.widget import StrideExplorer as StrideExplorer
from stridekit.widgets.stride_explorer.widget import explore as explore
from stridekit.widgets.traversal_explorer.widget import TraversalExplorer as TraversalExplorer
