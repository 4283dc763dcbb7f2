"""The fixtures that pin operations.js: equal to what Layout says today, and Layout to torch."""

import json

import pytest
import torch

from stridekit import Layout, output_layout
from tests import elementwise_cases, operation_cases


def test_the_fixture_is_what_layout_says():
    """Where this fails, look at the change, then `python -m tests.operation_cases`."""
    assert operation_cases.FILE.read_text(encoding="utf-8") == operation_cases.text()


@pytest.mark.filterwarnings(
    "ignore:.*is deprecated:UserWarning", "ignore:The use of `x.T`:UserWarning"
)
def test_the_fixture_is_what_torch_says():
    """The same steps on real tensors: numbers, copies and refusals."""
    base = torch.empty(5000)
    for case in json.loads(operation_cases.FILE.read_text(encoding="utf-8")):
        layout, result = case["layout"], case["result"]
        x = base.as_strided(layout["shape"], layout["stride"], layout["storage_offset"])
        step = case["step"].replace('"channels_last"', "memory_format=torch.channels_last")
        try:
            y = eval(f"x{step}", {"x": x, "torch": torch})
        except (RuntimeError, IndexError):
            assert result is None, case
            continue
        assert (list(y.shape), list(y.stride())) == (result["shape"], result["stride"]), case
        copied = y.untyped_storage().data_ptr() != base.untyped_storage().data_ptr()
        assert copied == result["copied"] or x.numel() == 0, case
        assert y.storage_offset() == result["storage_offset"], case


def test_the_sums_of_the_fixture_are_torchs():
    """Where the text differs, look at the change, then `python -m tests.elementwise_cases`."""
    text = elementwise_cases.FILE.read_text(encoding="utf-8")
    assert text == elementwise_cases.text()
    base = torch.empty(5000)
    for case in json.loads(text):
        try:
            result = torch.add(*(base.as_strided(*operand) for operand in case["operands"]))
        except RuntimeError:
            assert "do not broadcast" in case["error"], case
        else:
            assert (list(result.shape), list(result.stride())) == (case["shape"], case["stride"])


def test_a_number_is_an_operand_of_no_dims():
    """As in the lines of the alias explorer: x[None, 4:] + 1 of no elements is a new tensor by rows."""
    x = torch.empty(4, 6)[None, 4:]
    assert (x + 1).stride() == output_layout(x, Layout((), itemsize=4)).stride == (6, 6, 1)
