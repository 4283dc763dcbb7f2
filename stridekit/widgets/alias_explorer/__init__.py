"""AliasExplorer: up to three tensors on one storage, and the effect of a line of code on all of them."""
