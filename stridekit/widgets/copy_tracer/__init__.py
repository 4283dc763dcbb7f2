"""CopyTracer: a run as a list of modules and lines, with its copies and what made them necessary."""

from stridekit.widgets.copy_tracer.widget import CopyTracer

__all__ = ["CopyTracer"]
