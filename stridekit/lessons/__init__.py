"""Code that single lessons import."""
