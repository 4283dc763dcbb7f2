"""TraversalExplorer: the order in which an operation walks memory, and the cache lines that it loads."""
