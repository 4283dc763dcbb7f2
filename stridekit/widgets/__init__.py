"""Pictures of layouts that follow the hand. `StrideExplorer` is a widget, `explore(t)` makes one."""

from stridekit.widgets.stride_explorer import StrideExplorer, explore

__all__ = ["StrideExplorer", "explore"]
