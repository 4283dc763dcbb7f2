"""Views of the same memory: another shape, elements of another size, strides of your own.

`view` keeps the elements in their order and cuts it into other dims, where the strides allow it (the
rule is in `view_rule`). The others look at the same bytes as elements of another size, or take any
numbers that you give them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from stridekit._arguments import LayoutError, int_, ints, shape_of, varargs
from stridekit._strided import Strided, change
from stridekit.view_rule import complete_shape, view_stride

# The bytes of torch's complex dtypes: a real and an imaginary number of half as many each.
_COMPLEX_ITEMSIZES = (4, 8, 16)


class ViewsOfElements(Strided):
    """torch's view operations that keep the memory, and give it other dims or elements."""

    __slots__ = ()

    # Another shape ------------------------------------------------------------------------------

    def view(self, *shape: int | Iterable[int]) -> Self:
        """`x.view(shape)`: the same elements in the same order under another shape, never a copy.

        One size may be -1. Raises LayoutError, with the reason, where no stride can do it. For
        `x.view(dtype)` there is `view_dtype`.

        >>> Layout((4, 6)).view(2, 2, -1)
        Layout(shape=(2, 2, 6), stride=(12, 6, 1), storage_offset=0, itemsize=1)
        >>> Layout((4, 3)).t().view(12)
        Traceback (most recent call last):
        ...
        stridekit.LayoutError: cannot view shape (3, 4), stride (1, 3) as (12,): dims 0 and 1 \
do not merge (stride 1 found, 12 needed), and the new dim 0 of size 12 would straddle them. Use \
.reshape(12) to copy.
        """
        wanted = varargs("shape", shape)
        new_shape = self._complete("view", wanted)
        stride, reason = view_stride(self.shape, self.stride, new_shape)
        if reason:
            raise LayoutError(
                f"cannot view shape {self.shape}, stride {self.stride} as {wanted}: {reason}. "
                f"Use .reshape({', '.join(map(str, wanted))}) to copy."
            )
        return self._view(new_shape, stride)

    def why_not_view(self, *shape: int | Iterable[int]) -> str:
        """Why `view(shape)` fails: the two dims and the numbers; "" where it works.

        The same sentence says why `reshape(shape)` copies.

        >>> Layout((3, 8))[:, :6].why_not_view(18)
        'dims 0 and 1 do not merge (stride 8 found, 6 needed), and the new dim 0 of size 18 would \
straddle them'
        >>> Layout((3, 8))[:, :6].why_not_view(3, 2, 3)
        ''
        """
        try:
            new_shape = complete_shape(self.numel, varargs("shape", shape))
        except ValueError as error:
            return str(error)
        return view_stride(self.shape, self.stride, new_shape)[1]

    def view_as(self, other: Any) -> Self:
        """`x.view_as(other)`: `view` as the shape of a layout, a tensor or an array."""
        return self.view(shape_of(other))

    def unflatten(self, dim: int, sizes: Iterable[int]) -> Self:
        """`x.unflatten(dim, sizes)`: one dim becomes several, which always is a view.

        One size may be -1.

        >>> Layout((4, 6)).t().unflatten(0, (2, -1))
        Layout(shape=(2, 3, 4), stride=(3, 1, 6), storage_offset=0, itemsize=1)
        """
        dim, wanted = self._dim_to_cut(dim), ints("sizes", sizes)
        if not wanted:
            raise LayoutError("sizes is empty: give the sizes that the dim becomes")
        try:
            new_sizes = complete_shape(self.shape[dim], wanted)
        except ValueError as error:
            raise LayoutError(
                f"cannot unflatten dim {dim} of size {self.shape[dim]} into {wanted}: {error}"
            ) from None
        return self.view(change(self.shape, dim, *new_sizes))

    # Elements of another size -------------------------------------------------------------------

    def view_dtype(self, itemsize: int) -> Self:
        """`x.view(dtype)` for a dtype of `itemsize` bytes: the same bytes as larger or smaller elements.

        The last dim is cut or joined, so its stride has to be 1; for larger elements everything else
        has to divide. Raises LayoutError where it does not.

        >>> Layout((4, 6), itemsize=4).view_dtype(2)
        Layout(shape=(4, 12), stride=(12, 1), storage_offset=0, itemsize=2)
        >>> Layout((4, 6), itemsize=4).view_dtype(8)
        Layout(shape=(4, 3), stride=(3, 1), storage_offset=0, itemsize=8)
        """
        old, new = self.itemsize, int_("itemsize", itemsize)
        if new < 1 or (old % new and new % old):
            raise LayoutError(
                f"elements of {old} bytes cannot be viewed with {new} bytes: one has to divide the other"
            )
        if old == new:
            return self
        if not self.shape:
            raise LayoutError(
                f"a 0-d layout has no dim to cut or join: its one element stays {old} bytes"
            )
        if self.stride[-1] != 1:
            raise LayoutError(
                f"the last dim has stride {self.stride[-1]}: only with stride 1 do its bytes lie in a row"
            )
        return self._cut_elements(old // new) if new < old else self._join_elements(new // old)

    def view_as_real(self) -> Self:
        """`torch.view_as_real(x)` of a complex x: real and imaginary part become a last dim of 2.

        A layout does not know whether its elements are complex: that is for you to know. Elements
        of other than 4, 8 or 16 bytes are refused: torch has no such complex dtype.

        >>> Layout((3,), itemsize=8).view_as_real()
        Layout(shape=(3, 2), stride=(2, 1), storage_offset=0, itemsize=4)
        """
        parts = self._complex_parts()
        return parts._view((*parts.shape, 2), (*parts.stride, 1))

    @property
    def real(self) -> Self:
        """`x.real` of a complex x (see `view_as_real`); a real tensor's `.real` is itself.

        >>> Layout((3,), itemsize=8).real
        Layout(shape=(3,), stride=(2,), storage_offset=0, itemsize=4)
        """
        return self._complex_parts()

    @property
    def imag(self) -> Self:
        """`x.imag` of a complex x (see `view_as_real`): half an element behind `real`."""
        parts = self._complex_parts()
        return parts._view(storage_offset=parts.storage_offset + 1)

    def view_as_complex(self) -> Self:
        """`torch.view_as_complex(x)`: the last dim, of size 2 and stride 1, becomes one complex element.

        >>> Layout((3, 2), itemsize=4).view_as_complex()
        Layout(shape=(3,), stride=(1,), storage_offset=0, itemsize=8)
        """
        if 2 * self.itemsize not in _COMPLEX_ITEMSIZES:
            raise LayoutError(
                f"torch has no complex elements of {2 * self.itemsize} bytes: a part has 2, 4 or 8"
            )
        if (self.shape[-1:], self.stride[-1:]) != ((2,), (1,)):
            raise LayoutError(
                f"shape {self.shape}, stride {self.stride} does not end in a dim of size 2 and "
                "stride 1, for the real and the imaginary part"
            )
        # Nothing steps along a size of 1, so torch lets its stride be odd, and rounds it down.
        odd = [s for n, s in zip(self.shape[:-1], self.stride, strict=False) if n != 1 and s % 2]
        if odd or self.storage_offset % 2:
            what = f"stride {odd[0]}" if odd else f"storage_offset {self.storage_offset}"
            raise LayoutError(f"{what} is odd: it would point between the parts of an element")
        halves = [s // 2 for s in self.stride[:-1]]
        return self._view(self.shape[:-1], halves, self.storage_offset // 2, 2 * self.itemsize)

    # Numbers of your own, or none ---------------------------------------------------------------

    def as_strided(
        self, size: Iterable[int], stride: Iterable[int], storage_offset: int | None = None
    ) -> Self:
        """`x.as_strided(size, stride, storage_offset)`: any numbers, on the same storage.

        The offset is that of the storage, not relative to this layout; without one it stays. torch
        also refuses what leaves the storage, whose size a layout does not know.

        >>> Layout((4, 6))[1:].as_strided((3,), (7,))
        Layout(shape=(3,), stride=(7,), storage_offset=6, itemsize=1)
        """
        steps = ints("stride", stride)
        if min(steps, default=0) < 0:
            raise LayoutError(
                f"stride {steps} has a negative one: torch has no negative strides, use .flip (a copy)"
            )
        offset = None if storage_offset is None else int_("storage_offset", storage_offset)
        if offset is not None and offset < 0:
            raise LayoutError(f"storage_offset {offset} is negative: a storage starts at 0")
        return self._view(ints("size", size), steps, offset)

    def detach(self) -> Self:
        """`x.detach()`: the same layout; only autograd loses track."""
        return self

    def alias(self) -> Self:
        """`torch.ops.aten.alias(x)`: the same layout, as another tensor. So are `x[...]` and `x.data`."""
        return self

    # Helpers ------------------------------------------------------------------------------------

    def _complete(self, verb: str, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """The wanted shape with its -1 worked out; raises LayoutError where the elements do not fit."""
        try:
            return complete_shape(self.numel, wanted)
        except ValueError as error:
            raise LayoutError(
                f"cannot {verb} shape {self.shape}, stride {self.stride} as {wanted}: {error}."
            ) from None

    def _cut_elements(self, ratio: int) -> Self:
        """Each element becomes `ratio` smaller ones."""
        return self._view(
            (*self.shape[:-1], self.shape[-1] * ratio),
            (*(s * ratio for s in self.stride[:-1]), 1),
            self.storage_offset * ratio,
            self.itemsize // ratio,
        )

    def _join_elements(self, ratio: int) -> Self:
        """Each `ratio` elements become a larger one, if nothing points between them."""
        numbers = {f"stride {s} of dim {d}": s for d, s in enumerate(self.stride[:-1])}
        numbers |= {"storage_offset": self.storage_offset, "the last size": self.shape[-1]}
        for what, number in numbers.items():
            if number % ratio:
                raise LayoutError(
                    f"{what}, {number}, is not divisible by {ratio}, and {ratio} elements of "
                    f"{self.itemsize} bytes make one of {self.itemsize * ratio}"
                )
        return self._view(
            (*self.shape[:-1], self.shape[-1] // ratio),
            (*(s // ratio for s in self.stride[:-1]), 1),
            self.storage_offset // ratio,
            self.itemsize * ratio,
        )

    def _complex_parts(self) -> Self:
        """The real parts of complex elements."""
        if self.itemsize not in _COMPLEX_ITEMSIZES:
            raise LayoutError(
                f"torch has no complex elements of {self.itemsize} bytes: they have 4, 8 or 16"
            )
        doubled = [2 * s for s in self.stride]
        return self._view(self.shape, doubled, 2 * self.storage_offset, self.itemsize // 2)
