"""AttentionExplorer: what attention copies on its way from the projection to the merged heads."""

from stridekit.widgets.attention_explorer.widget import AttentionExplorer

__all__ = ["AttentionExplorer"]
