"""Questions about a layout as a whole: whether it is contiguous, dense, torch's, and in which order.

What can be answered no has a `why_not_…` beside it, which gives the reason as a sentence and "" for
yes; the answer derives from it, so that verdict and reason cannot part.
"""

from __future__ import annotations

from typing import Any, Self

from stridekit._arguments import LayoutError, shown
from stridekit._strided import Strided
from stridekit.dim_order import outermost_first, why_not_dense, why_not_sorted, why_not_unique
from stridekit.memory_format import format_name, name_of_format, why_not_contiguous
from stridekit.view_rule import chunks

# What a torch tensor can be made of: elements of so many bytes, and numbers of 64 bits.
_TORCH_ITEMSIZES = (1, 2, 4, 8, 16)
_LARGEST = 2**63 - 1


class Questions(Strided):
    """What the numbers say about the order in memory."""

    __slots__ = ()

    def is_contiguous(self, memory_format: Any = "contiguous_format") -> bool:
        """Whether the elements lie one after the other in the order of the memory format.

        Like `torch.Tensor.is_contiguous`: strides of size-1 dims do not matter and an empty layout
        is contiguous. It says nothing about how much storage a tensor keeps alive.

        >>> Layout((4, 6)).is_contiguous(), Layout((4, 6)).t().is_contiguous()
        (True, False)
        """
        return not self.why_not_contiguous(memory_format)

    def why_not_contiguous(self, memory_format: Any = "contiguous_format") -> str:
        """Why `is_contiguous` is False, as a sentence with the numbers; "" where it is True.

        The same sentence says why `contiguous(memory_format)` copies.

        >>> Layout((4, 6), (8, 1)).why_not_contiguous()
        'dim 0 has stride 8, 6 is needed'
        """
        name = format_name(memory_format)
        return why_not_contiguous(self.shape, self.stride, name)

    @property
    def memory_format(self) -> str:
        """The memory format in which the layout is contiguous: its name, or "both", or "neither".

        The names are contiguous_format, channels_last (4 dims) and channels_last_3d (5 dims). "both"
        is contiguous_format and the one for this number of dims: sizes of 1 or 0 leave the order open.

        >>> Layout((2, 3, 4, 5)).contiguous("channels_last").memory_format
        'channels_last'
        >>> Layout((2, 1, 4, 5)).memory_format
        'both'
        """
        return name_of_format(self.shape, self.stride)

    def dim_order(self, *, ambiguity_check: bool | list[Any] = False) -> tuple[int, ...]:
        """The dims from the outermost in memory to the innermost: `torch.Tensor.dim_order`.

        With `ambiguity_check=True`, or a list of memory formats of which not exactly one fits, raises
        LayoutError where other orders would do as well.

        >>> Layout((2, 3, 4)).permute(2, 0, 1).dim_order()
        (1, 2, 0)
        """
        if not isinstance(ambiguity_check, (bool, list)):
            raise LayoutError(
                f"ambiguity_check is {shown(ambiguity_check)}: give True, False or a list of memory formats"
            )
        formats = ambiguity_check if isinstance(ambiguity_check, list) else []
        fitting = sum(self.is_contiguous(memory_format) for memory_format in formats)
        reason = ""
        if ambiguity_check is not False and fitting != 1:
            reason = why_not_unique(self.shape, self.stride)
        if ambiguity_check and not reason:
            reason = why_not_sorted(self.shape, self.stride)
        if reason:
            raise LayoutError(
                f"the dim order of shape {self.shape}, stride {self.stride} is not unique: "
                f"{reason}. Use ambiguity_check=False for one that will do."
            )
        return outermost_first(self.shape, self.stride)

    def is_dense(self) -> bool:
        """Whether the elements fill their range one by one, in some order of the dims.

        torch calls it non-overlapping and dense: `clone` and its like keep such strides.

        >>> Layout((4, 6)).t().is_dense(), Layout((4, 6))[:, ::2].is_dense()
        (True, False)
        """
        return not self.why_not_dense()

    def why_not_dense(self) -> str:
        """Why `is_dense` is False: a hole or a shared element, by its number; "" where it is True.

        >>> Layout((4, 6))[:, ::2].why_not_dense()
        'dim 1 has stride 2, 1 is needed: element 1 is a hole'
        >>> Layout((6,)).unfold(0, 3, 1).why_not_dense()
        'dim 1 has stride 1, 4 is needed: two indices share element 1'
        """
        return why_not_dense(self.shape, self.stride, self.span.start)

    def coalesce(self) -> Self:
        """The same elements in the same order with as few dims as possible.

        Neighbouring dims that step evenly are merged, dims of size 1 dropped. (torch's method of
        this name is about sparse tensors.)

        >>> Layout((2, 3, 4)).coalesce()
        Layout(shape=(24,), stride=(1,), storage_offset=0, itemsize=1)
        >>> Layout((2, 3, 4))[:, :2].coalesce()
        Layout(shape=(2, 8), stride=(12, 1), storage_offset=0, itemsize=1)
        """
        if self.numel == 0:
            return self._view((0,), (1,))
        stepped = [(n, s) for n, s in zip(self.shape, self.stride, strict=True) if n != 1]
        merged = chunks(tuple(n for n, _ in stepped), tuple(s for _, s in stepped))
        return self._view([c.numel for c in merged], [c.stride for c in merged])

    def why_not_torch(self) -> str:
        """Why no torch tensor can have this layout, but an array may; "" where one can.

        torch has no negative strides, and no elements of other than 1, 2, 4, 8 or 16 bytes.

        >>> import numpy as np
        >>> Layout.of(np.arange(4)[::-1]).why_not_torch()
        'dim 0 has stride -1: torch has no negative strides, copy the array first'
        """
        for d, step in enumerate(self.stride):
            if step < 0:
                return f"dim {d} has stride {step}: torch has no negative strides, copy the array first"
        if self.itemsize not in _TORCH_ITEMSIZES:
            return f"an element has {self.itemsize} bytes: those of torch have 1, 2, 4, 8 or 16"
        stop = self.span.stop * self.itemsize
        largest = max(*self.shape, *self.stride, self.numel, self.storage_offset, stop)
        if largest > _LARGEST:
            return f"{largest} is beyond 2**63 - 1: torch counts elements and bytes in 64 bits"
        return ""
