"""What a text about layouts means, as diagnose.js says."""

from __future__ import annotations

from stridekit.tensors.explain import Explanation
from stridekit.widgets.engine import Script

script = Script("diagnose/diagnose.js")


def explanation(text: str) -> Explanation:
    """Explain the last known message of a text."""
    title, lines = script.diagnose(" ".join(text.split()))
    return Explanation(title, tuple(map(tuple, lines)))
