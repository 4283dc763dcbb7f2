"""AttentionExplorer: heads on their way from a packed projection to the merged output."""
