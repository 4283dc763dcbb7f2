"""stridekit: how tensors live in memory, to play with and to ask exactly.

>>> import torch
>>> from stridekit import explain
>>> x = torch.arange(24.0).view(4, 6)
>>> explain(x[:, 2])
torch.float32 tensor of shape (4,), stride (6,), storage_offset 2
  element        x[i] is element 2 + 6*i of the storage, 4 bytes each
  contiguous     no: dim 0 has stride 6, 1 is needed
  memory format  none of torch's
  storage        4 of 24 elements are reached (16 of 96 bytes)
  overlap        none: every index has an element of its own

`exercises`, `plots`, `timing` and `widgets` are modules.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stridekit.attention import Clones, matmul_copies, packed_heads, sdpa_output, why_no_flash
from stridekit.audit import Audit, audit
from stridekit.cost.refetch import CacheSets
from stridekit.cost.traffic import Traffic, traffic
from stridekit.cost.warp import WarpSectors, warp_sectors
from stridekit.diagnosis import diagnose
from stridekit.elementwise import broadcast_tensors, loop_nest, output_layout
from stridekit.layout import Layout, LayoutError
from stridekit.memory.memset import MemorySet, Undecided
from stridekit.selfcheck import SelfCheck, self_check
from stridekit.tensors.explain import Explanation, explain
from stridekit.tensors.relation import Relation, relation
from stridekit.tensors.sharing import (
    has_internal_overlap,
    is_view,
    memset,
    shares_memory,
    shares_storage,
)
from stridekit.tensors.storage import read_element, read_storage, storage_view
from stridekit.tensors.view_error import explain_view

if TYPE_CHECKING:
    from stridekit.cost.bandwidth import Bandwidth, bandwidth
    from stridekit.timing import Comparison, Measurement, compare, measure
    from stridekit.widgets import (
        AliasExplorer,
        AttentionExplorer,
        CacheExplorer,
        ChannelsLastExplorer,
        CopyTracer,
        Diagnose,
        FormatTracer,
        Goal,
        Predict,
        ReshapeStepper,
        Sort,
        StrideExplorer,
        TraversalExplorer,
        explore,
    )

# In the order in which a learner meets them.
__all__ = [
    "Layout",
    "LayoutError",
    "explain",
    "Explanation",
    "explain_view",
    "diagnose",
    "Diagnose",
    "read_storage",
    "read_element",
    "storage_view",
    "StrideExplorer",
    "explore",
    "Goal",
    "Predict",
    "memset",
    "MemorySet",
    "is_view",
    "shares_memory",
    "shares_storage",
    "has_internal_overlap",
    "Undecided",
    "relation",
    "Relation",
    "AliasExplorer",
    "Sort",
    "ReshapeStepper",
    "ChannelsLastExplorer",
    "FormatTracer",
    "output_layout",
    "loop_nest",
    "broadcast_tensors",
    "TraversalExplorer",
    "traffic",
    "Traffic",
    "CacheSets",
    "warp_sectors",
    "WarpSectors",
    "bandwidth",
    "Bandwidth",
    "measure",
    "Measurement",
    "compare",
    "Comparison",
    "packed_heads",
    "matmul_copies",
    "Clones",
    "sdpa_output",
    "why_no_flash",
    "AttentionExplorer",
    "CacheExplorer",
    "audit",
    "Audit",
    "CopyTracer",
    "self_check",
    "SelfCheck",
]

__version__ = "0.1.0"

# What needs the widget libraries or torch's benchmarks is loaded on first use.
_WIDGETS = (
    *("StrideExplorer", "AliasExplorer", "ReshapeStepper", "ChannelsLastExplorer"),
    *("FormatTracer", "TraversalExplorer", "Predict", "Sort", "explore", "Goal"),
    *("AttentionExplorer", "CacheExplorer", "CopyTracer", "Diagnose"),
)
_TIMING = ("measure", "Measurement", "compare", "Comparison")
_LAZY = dict.fromkeys(_WIDGETS, "widgets") | dict.fromkeys(_TIMING, "timing")
_LAZY |= dict.fromkeys(("bandwidth", "Bandwidth"), "cost.bandwidth")
_LAZY["load_ipython_extension"] = "diagnosis"  # for %load_ext stridekit
_MODULES = ("exercises", "plots", "timing", "widgets")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"stridekit.{_LAZY[name]}"), name)
    if name in _MODULES:
        return import_module(f"stridekit.{name}")
    raise AttributeError(f"module 'stridekit' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that the tab key offers: yours, without the modules behind them."""
    return [*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))]
