"""AliasExplorer: two or three tensors on one storage, and what a line of code does to all of them."""

from stridekit.widgets.alias_explorer.widget import AliasExplorer

__all__ = ["AliasExplorer"]
