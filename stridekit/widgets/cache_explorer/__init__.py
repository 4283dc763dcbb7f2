"""CacheExplorer: a cache of keys that grows by a token a step, in three ways."""
