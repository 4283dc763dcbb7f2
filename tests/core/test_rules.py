"""Rules of layouts in all small cases: every memory format against torch, and density by brute force."""

import re
from collections import Counter
from itertools import permutations, product

import pytest
import torch
from torch._prims_common import suggest_memory_format

from stridekit import explain
from stridekit.layout import Layout
from stridekit.rules import memory_formats, stride_in_format, suggested_format, why_not_dense

FORMATS = {
    "contiguous_format": torch.contiguous_format,
    "channels_last": torch.channels_last,
    "channels_last_3d": torch.channels_last_3d,
}
DIMS = {"channels_last": 4, "channels_last_3d": 5}
SHAPES = [shape for dims in (1, 3) for shape in product((0, 1, 2, 3), repeat=dims)]
SHAPES += [*product((1, 2, 3), repeat=4), (0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 4, 0)]
SHAPES += [*product((1, 2), repeat=5), (2, 3, 4, 5, 6), (1, 3, 4, 1, 6), (2, 0, 3, 4, 5)]


def formats_of(x):
    """Return the names of the memory formats in which torch calls a tensor contiguous."""
    fitting = [name for name in FORMATS if DIMS.get(name, x.ndim) == x.ndim]
    return [name for name in fitting if x.is_contiguous(memory_format=FORMATS[name])]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_the_strides_of_a_new_tensor(name):
    for shape in SHAPES:
        if DIMS.get(name, len(shape)) == len(shape):
            x = torch.empty(shape, memory_format=FORMATS[name])
            stride = stride_in_format(shape, name)
            assert 0 in shape or stride == x.stride(), shape
            assert name in memory_formats(shape, x.stride()) or 0 in shape, shape
            assert memory_formats(shape, x.stride()) == formats_of(x), shape


@pytest.mark.parametrize("ndim", [4, 5])
def test_formats_of_views_are_those_of_torch(ndim):
    """Of all orders of the dims, of slices and of repeated dims."""
    for shape in [(2, 3, 4, 5, 6)[:ndim], (2, 1, 3, 2, 1)[:ndim], (1, 3, 1, 1, 2)[:ndim]]:
        for order in permutations(range(ndim)):
            whole = torch.empty(sorted(shape)).permute(order)
            views = [whole, whole[:1], whole[:, 1:], whole[..., ::2], whole[:, :1].expand_as(whole)]
            for x in views:
                layout = (tuple(x.shape), x.stride())
                assert memory_formats(*layout) == formats_of(x), layout
                assert suggested_format(*layout) == name_of(suggest_memory_format(x)), layout


def name_of(memory_format):
    return str(memory_format).removeprefix("torch.")


@pytest.mark.parametrize("name", ["channels_last", "channels_last_3d"])
def test_explain_names_the_format(name):
    x = torch.empty((2, 3, 4, 5, 6)[: DIMS[name]]).to(memory_format=FORMATS[name])
    assert dict(explain(x).lines)["memory format"] == name
    assert dict(explain(x[:, :2]).lines)["memory format"] == "none of torch's"
    assert dict(explain(x.contiguous()).lines)["memory format"] == "contiguous_format"


def test_a_layout_is_dense_if_it_reaches_each_element_of_a_range_once():
    """And else the sentence names an element that two indices share, or those that none reaches."""
    for shape in [*product((0, 1, 2, 3), repeat=2), (2, 2, 3), (3, 1, 2)]:
        for stride in product((-3, -1, 0, 1, 2, 3, 6), repeat=len(shape)):
            counts = Counter(
                sum(k * step for k, step in zip(index, stride, strict=True))
                for index in product(*map(range, shape))
            )
            start = min(counts, default=0)
            reached = {element - start + 5 for element in counts}
            is_dense = reached == set(range(5, 5 + counts.total())) and counts.total() == len(
                counts
            )
            why = why_not_dense(shape, stride, 5)
            assert (why == "") == is_dense or not counts, (shape, stride, why)
            numbers = [int(number) for number in re.findall(r"\d+", why.partition(": ")[2])]
            if "share" in why:
                assert counts[numbers[0] - 5 + start] > 1, (shape, stride, why)
            elif why:
                hole = set(range(numbers[0], numbers[-1] + 1))
                assert not hole & reached and {min(hole) - 1, max(hole) + 1} <= reached


def test_explain_counts_reached_elements_of_the_storage():
    """Shared elements count once, so no more than the whole storage is ever reached."""
    for shape in [(3,), (2, 3), (2, 2, 2)]:
        for stride in product((0, 1, 2, 3), repeat=len(shape)):
            reached = torch.arange(12).as_strided(shape, stride, 1).unique().numel()
            x = torch.zeros(12).as_strided(shape, stride, 1)
            verb = f"{reached} of 12 elements are reached ({4 * reached} of 48 bytes)"
            assert dict(explain(x).lines)["storage"] == verb
            smallest = dict(explain(Layout(shape, stride, 1)).lines)["storage"]
            needed = 2 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
            least = 0 if 0 in shape else needed
            assert smallest.startswith(f"{reached} of {least} elements are reached")
