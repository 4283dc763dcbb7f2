"""What it costs to watch a run: a forward pass under `audit`, measured beside the same without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

import stridekit
from stridekit.timing import compare


def audits() -> None:
    """Print the time of an audited forward pass, as a ratio to the plain one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        for name, model, x in (
            ("a network of convolutions", _convolutions(), torch.randn(4, 64, 56, 56)),
            ("a transformer of 6 layers", _transformer(), torch.randn(4, 64, 256)),
        ):
            with torch.no_grad():
                events = len(stridekit.audit(model, x).events)
                ways: dict[str, Callable[[], Any]] = {
                    "plain": partial(model, x),
                    "audited": partial(stridekit.audit, model, x),
                }
                found = compare(ways, max_seconds=60, progress=False)
            plain = found.measurement("plain").value
            ratio = found.ratios["audited"]
            print(f"audit of {name}, {events} ops, {plain * 1e3:.0f} ms: {ratio} times as long")
    finally:
        torch.set_num_threads(threads)


def _convolutions() -> nn.Module:
    layer = (nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())
    return nn.Sequential(*layer, *layer, *layer).eval()


def _transformer() -> nn.Module:
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    return nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).train()
