"""TraversalExplorer: the order in which an operation walks memory, and the cache lines that it loads."""

from stridekit.widgets.traversal_explorer.widget import TraversalExplorer

__all__ = ["TraversalExplorer"]
