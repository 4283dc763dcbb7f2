"""AliasExplorer without a browser: its state. tests/live_lines.py compares what lines do with torch."""

import pytest
import torch

from stridekit import Layout, LayoutError
from stridekit.widgets import AliasExplorer


def test_steps_are_the_state():
    """They are read, set and added to; the tensors follow."""
    explorer = AliasExplorer((4, 6), ["y = x[1:, ::2]"])
    explorer.steps += ("y += 100",)
    assert explorer.steps == ("y = x[1:, ::2]", "y += 100")
    assert explorer.tensors == {"x": Layout((4, 6), itemsize=8), "y": Layout((3, 3), (6, 2), 6, 8)}
    x = torch.arange(24).view(4, 6)
    x[1:, ::2] += 100
    assert explorer.values == {"x": x.tolist(), "y": x[1:, ::2].tolist()}
    with pytest.raises(LayoutError, match="z is not there: x, y are"):
        explorer.relation("z", "x")
