"""Diagnose: a box to paste an error or a warning into, which says what it means."""
