"""What has a layout and no place: Layouts, meta and fake tensors. Their lines can be predicted too."""

from __future__ import annotations

from typing import Any

import torch

from stridekit.layout import Layout


def without_memory(x: Any) -> tuple[Layout, object] | None:
    """The layout of what has no memory, and what names its storage; None for what lies in memory.

    Two meta tensors on one storage have one name; a Layout says the name of its own. Raises TypeError
    and LayoutError as `Layout.of` does.

    >>> without_memory(torch.empty(3, device="meta"))[0]
    Layout(shape=(3,), stride=(1,), storage_offset=0, itemsize=4)
    >>> without_memory(torch.empty(3)) is None
    True
    """
    if isinstance(x, Layout):
        return x, ("storage", x.storage)
    layout = Layout.of(x)  # refuses what is not strided
    if isinstance(x, torch.Tensor):
        try:
            storage = x.untyped_storage()
        except NotImplementedError:  # inside vmap or grad: whoever asks for its memory says so
            return None
        if storage.device.type == "meta":
            return layout, ("meta", storage._cdata)
    return None
