"""Views that keep every element: dims in another order, dims added, dropped or repeated.

A dim is a pair of a size and a stride. Here the pairs change places, or come and go where nothing
steps along them: a dim of size 1, and a repeated dim, whose stride is 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from stridekit._arguments import LayoutError, different_dims, shape_of, varargs, wrap_dim
from stridekit._strided import Strided, insert


class ViewsOfDims(Strided):
    """torch's view operations on the dims as a whole."""

    __slots__ = ()

    # Dims in another order ----------------------------------------------------------------------

    def permute(self, *dims: int | Iterable[int]) -> Self:
        """`x.permute(dims)`: dim d of the result is dim `dims[d]` of this layout.

        >>> Layout((2, 3, 4)).permute(2, 0, 1)
        Layout(shape=(4, 2, 3), stride=(1, 12, 4), storage_offset=0, itemsize=1)
        """
        wanted = varargs("dims", dims)
        order = [self._dim(d) for d in wanted]
        if sorted(order) != list(range(self.ndim)):
            raise LayoutError(
                f"{wanted} does not name each dim of shape {self.shape} exactly once: "
                f"use a permutation of {tuple(range(self.ndim))}"
            )
        return self._pick(order)

    def transpose(self, dim0: int, dim1: int) -> Self:
        """`x.transpose(dim0, dim1)`: the two dims change places.

        >>> Layout((2, 3, 4)).transpose(0, -1)
        Layout(shape=(4, 3, 2), stride=(1, 4, 12), storage_offset=0, itemsize=1)
        """
        a, b = self._dim(dim0), self._dim(dim1)
        order = list(range(self.ndim))
        if order:  # a 0-d layout accepts dims 0 and -1, and stays as it is
            order[a], order[b] = order[b], order[a]
        return self._pick(order)

    def swapdims(self, dim0: int, dim1: int) -> Self:
        """`x.swapdims(dim0, dim1)`: another name of `transpose`."""
        return self.transpose(dim0, dim1)

    def swapaxes(self, axis0: int, axis1: int) -> Self:
        """`x.swapaxes(axis0, axis1)`: NumPy's name of `transpose`."""
        return self.transpose(axis0, axis1)

    def t(self) -> Self:
        """`x.t()`: the transpose of a matrix; fewer dims stay as they are, more are refused."""
        if self.ndim > 2:
            raise LayoutError(
                f"t() is for at most 2 dims, shape {self.shape} has {self.ndim}: "
                "use transpose(dim0, dim1)"
            )
        return self.transpose(0, 1) if self.ndim == 2 else self

    @property
    def T(self) -> Self:
        """`x.T`: all dims in reverse order.

        torch 2.13 still answers for other than 2 dims, but warns that it will refuse them.
        """
        return self._pick(range(self.ndim)[::-1])

    @property
    def mT(self) -> Self:
        """`x.mT`: the transpose of each matrix in a batch: the last two dims change places.

        A single dim is refused; a 0-d layout stays as it is (torch warns there).

        >>> Layout((5, 2, 3)).mT
        Layout(shape=(5, 3, 2), stride=(6, 1, 3), storage_offset=0, itemsize=1)
        """
        return self._matrix_transpose("mT")

    @property
    def mH(self) -> Self:
        """`x.mH`: as `mT`; a complex tensor is also marked to be conjugated when read."""
        return self._matrix_transpose("mH")

    def adjoint(self) -> Self:
        """`x.adjoint()`: another name of `mH`."""
        return self._matrix_transpose("adjoint()")

    @property
    def H(self) -> Self:
        """`x.H`: as `mH`, for a single matrix."""
        if self.ndim > 2:
            raise LayoutError(
                f"H is for one matrix, shape {self.shape} has {self.ndim} dims: use mH"
            )
        return self._matrix_transpose("H")

    def movedim(self, source: int | Iterable[int], destination: int | Iterable[int]) -> Self:
        """`x.movedim(source, destination)`: some dims to new places, the others keep their order.

        >>> Layout((2, 3, 4)).movedim(0, -1)
        Layout(shape=(3, 4, 2), stride=(4, 1, 12), storage_offset=0, itemsize=1)
        """
        sources = different_dims("source", source, self.shape)
        places = different_dims("destination", destination, self.shape)
        if len(sources) != len(places):
            raise LayoutError(
                f"source {source} has {len(sources)} dims but destination {destination} has "
                f"{len(places)}: give one destination for each source"
            )
        # A 0-d layout accepts dims 0 and -1, and has nothing to move.
        order = [d for d in range(self.ndim) if d not in sources]
        for place, d in sorted(zip(places, sources, strict=True)) if self.shape else ():
            order.insert(place, d)
        return self._pick(order)

    def moveaxis(self, source: int | Iterable[int], destination: int | Iterable[int]) -> Self:
        """`x.moveaxis(source, destination)`: NumPy's name of `movedim`."""
        return self.movedim(source, destination)

    # Dims of size 1 -----------------------------------------------------------------------------

    def unsqueeze(self, dim: int) -> Self:
        """`x.unsqueeze(dim)`: a new dim of size 1. Its stride is what torch reports; nothing steps it.

        >>> Layout((2, 3)).unsqueeze(1)
        Layout(shape=(2, 1, 3), stride=(3, 3, 1), storage_offset=0, itemsize=1)
        """
        dim = wrap_dim(dim, self.ndim + 1, self.shape)
        step = self.shape[dim] * self.stride[dim] if dim < self.ndim else 1
        return self._view(insert(self.shape, dim, 1), insert(self.stride, dim, step))

    def squeeze(self, dim: int | Iterable[int] | None = None) -> Self:
        """`x.squeeze(dim)`: without its dims of size 1, or without those named that have size 1.

        >>> Layout((1, 3, 1)).squeeze(0)
        Layout(shape=(3, 1), stride=(1, 1), storage_offset=0, itemsize=1)
        """
        every = range(self.ndim)
        named = every if dim is None else different_dims("dim", dim, self.shape)
        return self._pick(d for d in every if self.shape[d] != 1 or d not in named)

    # Repeated dims ------------------------------------------------------------------------------

    def expand(self, *sizes: int | Iterable[int]) -> Self:
        """`x.expand(sizes)`: repeat dims of size 1, and new leading dims, by a stride of 0.

        -1 keeps a size. No element is copied, so several indices share one.

        >>> Layout((3, 1)).expand(2, 3, 4)
        Layout(shape=(2, 3, 4), stride=(0, 1, 0), storage_offset=0, itemsize=1)
        """
        wanted = varargs("sizes", sizes)
        new = len(wanted) - self.ndim
        if new < 0:
            raise LayoutError(
                f"cannot expand shape {self.shape} to {wanted}: give at least {self.ndim} sizes"
            )
        shape, stride = list(wanted), [0] * len(wanted)
        for d in reversed(range(len(wanted))):
            if d >= new:
                old, step = self.shape[d - new], self.stride[d - new]
                shape[d] = old if wanted[d] == -1 else wanted[d]
            else:  # a new dim behaves like one of size 1, with the stride of unsqueeze
                old, step = 1, shape[d + 1] * stride[d + 1] if d + 1 < len(wanted) else 0
            if shape[d] < 0:
                raise LayoutError(
                    f"cannot expand shape {self.shape} to {wanted}: size {shape[d]} of dim {d} is "
                    "negative, and -1 keeps the size only of a dim that is there"
                )
            if old not in (1, shape[d]):
                raise LayoutError(
                    f"cannot expand shape {self.shape} to {wanted}: dim {d} of the result has size "
                    f"{old} here, and only a size of 1 expands"
                )
            stride[d] = step if shape[d] == old else 0
        return self._view(shape, stride)

    def expand_as(self, other: Any) -> Self:
        """`x.expand_as(other)`: `expand` to the shape of a layout, a tensor or an array."""
        return self.expand(shape_of(other))

    def broadcast_to(self, *size: int | Iterable[int]) -> Self:
        """`x.broadcast_to(size)`: another name of `expand`."""
        return self.expand(*size)

    # Helpers ------------------------------------------------------------------------------------

    def _pick(self, dims: Iterable[int]) -> Self:
        """These dims, in this order."""
        dims = tuple(dims)
        return self._view([self.shape[d] for d in dims], [self.stride[d] for d in dims])

    def _matrix_transpose(self, name: str) -> Self:
        if self.ndim == 1:
            raise LayoutError(
                f"{name} is for matrices and batches of them, shape {self.shape} has 1 dim: "
                "unsqueeze(0) or unsqueeze(1) makes a matrix of it"
            )
        return self.transpose(-2, -1) if self.shape else self
