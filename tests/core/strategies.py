"""Hypothesis strategies over `steps`: what a Random draws there, Hypothesis draws here, and shrinks it."""

import torch
from hypothesis import strategies as st

from tests.core import steps

DTYPES = steps.DTYPES
randoms = st.randoms(use_true_random=False)


def tensors(max_ndim=5, max_size=4, min_ndim=0):
    """A tensor of any rank, stride (0 and overlaps included) and offset; values name the elements."""
    sizes = [n for n in (0, 1, 1, 2, 2, 3, 4) if n <= max_size]
    return randoms.map(lambda r: numbered(r, max_ndim=max_ndim, min_ndim=min_ndim, sizes=sizes))


def numbered(r, **limits):
    """Random numbers of a layout as a tensor, on a storage that reaches as far and no further."""
    shape, stride, offset = steps.numbers(r, **limits)
    reach = sum(max(n - 1, 0) * s for n, s in zip(shape, stride, strict=True))
    dtype = r.choice(DTYPES)
    return storage(offset + reach + r.randint(1, 3), dtype).as_strided(shape, stride, offset)


def storage(numel, dtype):
    """A fresh 1-D tensor of `numel` elements, 0, 1, 2 … (modulo what the dtype holds)."""
    return torch.arange(numel).remainder(251).to(dtype)
