"""The same operation on a Layout and on a tensor: the same numbers, or a refusal on both sides."""

import pytest

from stridekit import LayoutError

REFUSALS = (LayoutError, IndexError)
TORCH_REFUSALS = (RuntimeError, IndexError, ValueError)


def agree(layout_operation, torch_operation):
    """Both operations give the same layouts, or both refuse; Layout refuses negative sizes too."""
    try:
        expected = numbers(torch_operation())
        if any(size < 0 for shape, *_ in expected for size in shape):
            raise ValueError("torch made a negative size: see the test of that surprise")
    except TORCH_REFUSALS:
        with pytest.raises(REFUSALS) as refusal:
            layout_operation()
        # Python's own "tuple index out of range" is an accident, no refusal.
        assert not str(refusal.value).endswith("index out of range")
        return
    assert numbers(layout_operation()) == expected


def numbers(results):
    """Shape, stride, storage_offset and itemsize of one result, or of each of several."""
    return [
        (x.shape, x.stride, x.storage_offset, x.itemsize)
        if isinstance(x.stride, tuple)
        else (tuple(x.shape), x.stride(), x.storage_offset(), x.element_size())
        for x in (results if isinstance(results, (tuple, list)) else [results])
    ]


def storage_of(x):
    """The identity of a storage; the address does not tell empty ones apart."""
    return x.untyped_storage()._cdata
