"""Readers turn an answer into facts: its type, its layout, and the bytes that it copied."""
