"""Sort: calls to sort into views, copies, and those where it depends."""

from stridekit.widgets.sort.widget import Sort

__all__ = ["Sort"]
