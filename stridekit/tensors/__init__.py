"""Questions about real tensors: their storage, who shares it, and why a view of them fails."""
