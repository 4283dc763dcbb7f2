"""Notebooks as pages, alive without a kernel or a network: `python -m stridekit.export`."""
