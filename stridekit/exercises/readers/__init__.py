"""What makes facts of an answer: its kind, its layout, and the bytes that it copied."""
