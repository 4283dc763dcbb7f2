"""StrideExplorer: a grid of indices and the storage that it reads, linked both ways."""
