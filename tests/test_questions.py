"""Questions about a whole layout against torch: contiguous, dense, its order of dims, torch's limits."""

import itertools
from collections import Counter

import numpy as np
import pytest
import torch

from stridekit import Layout, LayoutError
from tests.agree import needs_settled_dim_order, numbers
from tests.steps import FORMATS


@needs_settled_dim_order
def test_dim_order_among_formats():
    """None, one or several of the listed formats fit; dims of size 1 may have odd strides."""
    base, answered = torch.empty(64), Counter()
    lists = [[], FORMATS[:1], FORMATS[1:2], FORMATS[:2], FORMATS[:1] * 2]
    for shape in ((2, 1, 2, 3), (2, 3, 1, 1), (1, 2, 2, 1)):
        dense, last = Layout(shape).stride, Layout(shape).clone(memory_format=FORMATS[1]).stride
        for odd in itertools.product((0, 1, 2, 5, 6, 7), repeat=2):
            for steps in (dense, last):
                rest = iter(odd)
                stride = [next(rest) if n == 1 else s for n, s in zip(shape, steps, strict=True)]
                x = base.as_strided(shape, stride)
                for formats in lists:
                    fitting = sum(x.is_contiguous(memory_format=f) for f in formats)
                    try:
                        expected = x.dim_order(ambiguity_check=formats)
                    except RuntimeError:
                        expected = None
                        with pytest.raises(LayoutError, match="is not unique"):
                            Layout.of(x).dim_order(ambiguity_check=formats)
                    else:
                        assert Layout.of(x).dim_order(ambiguity_check=formats) == expected
                    answered[fitting, expected is None] += 1
    assert answered[2, True] > 100 and answered[1, False] > 100 and not answered[2, False]


def test_an_array_read_backwards_is_dense():
    """NumPy's negative strides leave no hole; a copy goes forwards, in the same order."""
    array = np.arange(24, dtype=np.int16).reshape(4, 6).T[::-1, ::-1]
    layout = Layout.of(array)
    assert layout.is_dense() and layout.stride == (-1, -6)
    copy = array.copy(order="K")
    assert numbers(layout.clone()) == numbers(Layout.of(copy)) == [((6, 4), (1, 6), 0, 2)]
    assert Layout.of(array[::2]).why_not_dense().endswith("element 2 is a hole")
    assert Layout((3, 0), (-2, 1)).clone().stride == (1, 1)  # a size of 0 counts as 1


def test_why_not_torch_negative_strides_of_nothing():
    """torch and as_strided check all strides, even those of dims without a step."""
    nothing = np.ndarray((0, 3), np.int64, buffer=bytearray(64), offset=24, strides=(-24, 8))
    with pytest.raises(
        ValueError, match="At least one stride in the given numpy array is negative"
    ):
        torch.from_numpy(nothing)
    assert Layout((0, 3), (-3, 1)).why_not_torch().startswith("dim 0 has stride -3")
    with pytest.raises(RuntimeError, match="Negative strides are not supported"):
        torch.empty(4).as_strided((0,), (-1,))


def test_why_not_torch_beyond_64_bits():
    """torch counts elements and bytes in 64 bits."""
    one = torch.empty(1, dtype=torch.uint8, device="meta")
    assert one.expand(2**31, 2**31).numel() == 2**62
    assert Layout((2**31, 2**31), (0, 0)).why_not_torch() == ""
    with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
        one.expand(2**32, 2**31)
    for layout in [
        Layout((2**32, 2**31), (0, 0)),
        Layout((1,), (2**63,)),
        Layout((1,), (1,), 2**62, 2),
        Layout((2**63, 0)),
    ]:
        assert "is beyond 2**63 - 1" in layout.why_not_torch()
    assert Layout((2**40, 2**40, 0), (0, 0, 0)).why_not_torch() == ""
    assert one.as_strided((1,), (2**63 - 1,)).stride() == (2**63 - 1,)
    assert Layout((1,), (2**63 - 1,)).why_not_torch() == ""


IMAGE, WIDE = Layout((2, 3, 4, 5)), Layout((2, 3, 4, 5), (99, 1, 15, 3))


@pytest.mark.parametrize(
    ("layout", "name", "sentence"),
    [
        (Layout((4, 6), (8, 1)), "contiguous_format", "dim 0 has stride 8, 6 is needed"),
        (Layout((4, 6)).t(), "contiguous_format", "dim 1 has stride 6, 1 is needed"),
        (IMAGE, "channels_last", "dim 1 has stride 20, 1 is needed"),
        (WIDE, "channels_last", "dim 0 has stride 99, 60 is needed"),
        (Layout((4, 6)), "channels_last", "channels_last has 4 dims, this layout has 2"),
        (IMAGE, "channels_last_3d", "channels_last_3d has 5 dims, this layout has 4"),
    ],
)
def test_reasons_of_contiguity(layout, name, sentence):
    """The innermost dim with a wrong stride is named, or the wrong number of dims."""
    assert layout.why_not_contiguous(name) == sentence
