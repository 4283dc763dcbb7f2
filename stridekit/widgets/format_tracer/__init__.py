"""FormatTracer: which layers of a network keep channels_last, and which lose it."""

from stridekit.widgets.format_tracer.widget import FormatTracer

__all__ = ["FormatTracer"]
