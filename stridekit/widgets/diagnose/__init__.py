"""Diagnose: a box to paste an error or a warning into."""

from stridekit.widgets.diagnose.widget import Diagnose

__all__ = ["Diagnose"]
