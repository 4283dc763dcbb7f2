"""CacheExplorer: a cache of keys that grows by a token a step, in three ways."""

from stridekit.widgets.cache_explorer.widget import CacheExplorer

__all__ = ["CacheExplorer"]
