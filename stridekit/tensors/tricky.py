"""Tensors in the layouts that break code for contiguous tensors: inputs for tests of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stridekit import rules
from stridekit._arguments import in_bytes
from stridekit.layout import Layout
from stridekit.tensors.storage import bytes_missing, readable

if TYPE_CHECKING:
    import torch

    Ints = tuple[int, ...]

_MOST_BYTES = 32 * 2**20  # of the elements of x


def tricky_layouts(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return tensors with the shape and the values of x in the layouts that kernels get wrong, by name.

    Each is new, with memory of its own, and has x's dtype, device and `requires_grad`. A layout that
    x's shape cannot have is left out, so call it for several shapes, also with sizes of 0 and 1.

    contiguous        the rows one after the other from the start of the storage
    offset            the same, one element later, so the address is aligned to one element only
    transposed        dense, with the dims in memory from the last to the first
    channels-last     of 4 or 5 dims: the channels of a pixel lie side by side
    padded            the last dim has stride 1, and a gap follows each row
    stepped           the last dim has stride 2
    expanded first    the first dim with several indices has stride 0; expanded last, the last one
    expanded all      every dim has stride 0, as the gradient from `sum()`
    overlapping       the last two dims with several indices have one stride, as of windows
    unused strides    odd strides where no index steps: at a size of 1, and in an empty tensor

    Gaps hold NaN, True or the largest int, so an answer that depends on a gap is conspicuous. An
    expanded or overlapping tensor repeats elements of x, so compare what a function returns for a
    tensor y of the dict with what it returns for `y.contiguous()`. Negative strides are missing:
    NumPy has them, torch does not. Raises like `read_storage` for anything but a tensor with memory,
    ValueError for a tensor whose elements take more than 32 MiB, and TypeError for four-bit floats.

    >>> import torch
    >>> tensors = tricky_layouts(torch.arange(6).view(2, 3))
    >>> {name: y.stride() for name, y in tensors.items() if name[0] == "e"}
    {'expanded first': (0, 1), 'expanded last': (1, 0), 'expanded all': (0, 0)}
    >>> def row_sums(y):  # wrong: it reads packed rows
    ...     return y.as_strided((y.numel(),), (1,)).view(y.shape).sum(1)
    >>> [name for name in ("offset", "padded") if row_sums(tensors[name])[1] != 3 + 4 + 5]
    ['padded']
    """
    import torch

    plain = readable(x)
    if plain.nbytes > _MOST_BYTES:
        raise ValueError(
            f"the elements take {in_bytes(plain.nbytes)}, and up to a dozen tensors are made of them: "
            f"give a tensor of at most {in_bytes(_MOST_BYTES)}"
        )
    missing = bytes_missing(plain)
    if missing:
        raise ValueError(
            f"this tensor reaches {missing} bytes past the end of its storage, which was shrunk (by "
            "resize_) behind its back"
        )
    shape = tuple(x.shape)
    try:
        with torch.no_grad():
            values = plain.new_empty(shape).copy_(plain)
            tensors = {name: _written(values, layout) for name, layout in _layouts(shape).items()}
            tensors |= _repeating(values, _dims_with_steps(shape))
    except NotImplementedError:
        raise TypeError(
            f"torch cannot fill a tensor of {x.dtype}: give its bytes, x.view(torch.uint8)"
        ) from None
    return {name: y.requires_grad_(x.requires_grad) for name, y in tensors.items()}


def _dims_with_steps(shape: Ints) -> list[int]:
    """Return the dims along which an index steps; an empty tensor has none."""
    return [] if 0 in shape else [d for d, size in enumerate(shape) if size > 1]


def _layouts(shape: Ints) -> dict[str, Layout]:
    """Return the layouts of a shape in which each element has a place of its own."""
    packed = Layout(shape)
    dims = _dims_with_steps(shape)
    layouts = {"contiguous": packed, "offset": Layout(shape, storage_offset=1)}
    if len(dims) > 1:
        layouts["transposed"] = Layout(shape[::-1]).permute(*range(len(shape))[::-1])
    if len(shape) in (4, 5):
        memory_format = "channels_last" if len(shape) == 4 else "channels_last_3d"
        last = Layout(shape, rules.stride_in_format(shape, memory_format))
        if not last.is_contiguous():
            layouts["channels-last"] = last
    if dims and dims[0] < len(shape) - 1:
        layouts["padded"] = Layout((*shape[:-1], shape[-1] + 1))[..., :-1]
    if dims and dims[-1] == len(shape) - 1:
        layouts["stepped"] = Layout((*shape[:-1], 2 * shape[-1]))[..., ::2]
    unused = {*range(len(shape))}.difference(dims)
    if unused:
        stride = [step + 1 if d in unused else step for d, step in enumerate(packed.stride)]
        layouts["unused strides"] = Layout(shape, stride)
    return layouts


def _written(values: torch.Tensor, layout: Layout) -> torch.Tensor:
    """Return the values in a layout on a new storage, whose gaps hold what no test expects."""
    count = max(layout.span.stop, layout.storage_offset)
    memory = values.new_full((count,), _conspicuous(values.dtype))
    y = memory.as_strided(layout.shape, layout.stride, layout.storage_offset)
    return y.copy_(values)


def _conspicuous(dtype: torch.dtype) -> float | int:
    """Return the number for the gaps: NaN, True or the largest int."""
    import torch

    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    return True if dtype is torch.bool else torch.iinfo(dtype).max


def _repeating(values: torch.Tensor, dims: list[int]) -> dict[str, torch.Tensor]:
    """Return the tensors in which several indices lead to one element of contiguous values.

    `dims` are those along which an index steps.
    """
    tensors = {}
    if len(dims) > 1:
        tensors["expanded first"] = _expanded(values, dims[:1])
        tensors["expanded last"] = _expanded(values, dims[-1:])
    if dims:
        tensors["expanded all"] = _expanded(values, dims)
    if len(dims) > 1:
        stride = [*values.stride()]
        stride[dims[-2]] = stride[dims[-1]]
        tensors["overlapping"] = values.clone().as_strided(values.shape, stride)
    return tensors


def _expanded(values: torch.Tensor, dims: list[int]) -> torch.Tensor:
    """Return the first elements along some dims, repeated there as `expand` does, with stride 0."""
    first = values
    for dim in dims:
        first = first.narrow(dim, 0, 1)
    packed = values.new_empty(first.shape).copy_(first)
    return packed.expand(values.shape)
