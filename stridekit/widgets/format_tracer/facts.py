"""The facts of a FormatTracer's state, over which goals are set, and its code; facts.js has the same."""

from __future__ import annotations

from typing import Any

from stridekit.widgets.format_tracer import network as net

FACTS = {"shape": tuple, "layers": tuple, "formats": tuple, "lost": bool}


def facts(state: dict[str, Any]) -> dict[str, Any]:
    """The input's shape, the layers that are on, and the formats in which both outputs leave the last one.

    A format is "" where torch refuses a layer. `lost` is True if a layer loses channels_last.
    """
    on = tuple(name for name in net.NAMES if name in state["layers"])
    passed = net.trace(state["input"], on)
    last = passed[-1][1] if passed else net.starts(state["input"])
    return {
        "shape": net.INPUTS[state["input"]],
        "layers": on,
        "formats": tuple(passage.label for passage in last),
        "lost": any("channels_last is lost" in note for _, both in passed for *_, note in both),
    }


def code(state: dict[str, Any]) -> str:
    """The line of Python that makes the picture."""
    known = facts(state)
    return f"FormatTracer({known['shape']}, {[*known['layers']]})"
