"""Sort: calls to sort into those that view, those that copy, and those where it depends."""
