"""StrideExplorer: a grid of indices and the storage it is read from, linked both ways."""

from stridekit.widgets.stride_explorer.widget import StrideExplorer, explore

__all__ = ["StrideExplorer", "explore"]
