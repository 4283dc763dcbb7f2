"""Elementwise operations: torch's own results, and the loops of its TensorIterator."""

import json
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, LayoutError, shares_memory
from stridekit.elementwise import broadcast_tensors, loop_nest, output_layout
from tests import loop_nest_cases
from tests.agree import agree, numbers
from tests.strategies import broadcastable, tensors
from tests.test_copies import images
from tests.test_questions import visited

NESTS = json.loads(loop_nest_cases.FILE.read_text(encoding="utf-8"))


@given(st.one_of(tensors(), images(), broadcastable(1).map(lambda found: found[0])))
def test_output_of_one(x):
    """Unary operations: a dense operand's strides stay, others are packed in their order."""
    if x.dtype != torch.uint8:
        agree(lambda: output_layout(Layout.of(x)), lambda: torch.neg(x))
    agree(lambda: output_layout(x, itemsize=1), lambda: torch.isnan(x))


@given(broadcastable(2))
def test_output_of_two(operands):
    """Binary operations, broadcast in either direction."""
    agree(lambda: output_layout(*operands), lambda: torch.add(*operands))
    agree(lambda: output_layout(*operands, itemsize=1), lambda: torch.gt(*operands))


@given(images(), images(), st.booleans())
def test_output_of_two_images(x, y, alike):
    """4 and 5 dims with sizes of 1, where memory formats are ambiguous; shapes may not broadcast."""
    y = y.as_strided(x.shape, x.stride()) if alike else y
    agree(lambda: output_layout(x, y), lambda: torch.add(x, y))


def test_alike_operands_keep_even_the_strides_that_nothing_steps():
    """Dense operands of one stride give just that stride; a single other one sorts the dims anew."""
    x, y = torch.empty(6).as_strided((2, 1, 3), (1, 99, 2)), torch.empty(2, 1, 3)
    assert output_layout(x, x).stride == torch.add(x, x).stride() == (1, 99, 2)
    assert output_layout(x, y).stride == torch.add(x, y).stride() == (1, 6, 2)


@given(broadcastable(3))
def test_output_of_three(operands):
    """The first operand that can tell two dims apart decides."""
    agree(lambda: output_layout(*operands), lambda: torch.addcmul(*operands))
    condition = operands[0] > 0
    agree(
        lambda: output_layout(condition, *operands[1:], itemsize=4),
        lambda: torch.where(condition, *operands[1:]),
    )


@given(broadcastable(2), st.booleans())
def test_output_of_mixed_dtypes(operands, first):
    """An operand that torch casts is copied densely first: its clone stands for it."""
    cast, other = operands[0], operands[1].double()
    layouts, tensors_ = [Layout.of(cast).clone(), Layout.of(other)], [cast, other]
    if first:
        layouts, tensors_ = layouts[::-1], tensors_[::-1]
    if cast.ndim and other.ndim:  # a 0-d operand does not decide the dtype
        agree(lambda: output_layout(*layouts, itemsize=8), lambda: torch.add(*tensors_))


def test_a_cast_operand_lies_otherwise_than_it_did():
    """Without the clone the answer would be another: the cut columns are packed first."""
    wide = torch.empty(4, 6, dtype=torch.float32).t()[::2]
    other = torch.empty(3, 4, dtype=torch.float64)
    assert torch.add(wide, other).stride() == (1, 3)
    same = torch.empty(1, 4, dtype=torch.float32).expand(3, 4)
    assert torch.add(same, other.t().contiguous().t()).stride() == (4, 1)
    cast, strided = Layout.of(same), Layout((3, 4), (1, 3), 0, 8)
    assert output_layout(cast.clone(), strided).stride == (4, 1)
    assert output_layout(cast, strided).stride == (1, 3)


@given(broadcastable(3))
def test_broadcast_tensors(operands):
    """torch.broadcast_tensors."""
    agree(lambda: broadcast_tensors(*operands), lambda: torch.broadcast_tensors(*operands))


# The loops ------------------------------------------------------------------------------------------


def test_the_stored_loops_are_this_torchs():
    """The file was written by the torch that is tested against."""
    version = torch.__version__.partition("+")[0]
    assert NESTS["torch"].rpartition(".")[0] == version.rpartition(".")[0], (
        f"{loop_nest_cases.FILE.name} is of torch {NESTS['torch']}, this is {version}: "
        "run python -m tests.loop_nest_cases"
    )


def test_loop_nest_is_torchs():
    """The loops of TensorIterator, for operands of every kind and with an output given."""
    assert len(NESTS["cases"]) > 300
    for case in NESTS["cases"]:
        found = loop_nest_cases.of_stridekit(case["out"], case["inputs"])
        assert found == (case["loops"], case["strides"]), case


@given(broadcastable(2, max_ndim=4), st.booleans())
def test_loops_visit_what_the_operation_pairs(operands, given_out):
    """Each index of the result once, with the elements of the inputs that belong to it."""
    layouts = [Layout.of(x) for x in operands]
    output = output_layout(*layouts)
    if given_out:
        output = Layout(output.shape[::-1], storage_offset=3, itemsize=4).T
    nest = loop_nest(*layouts, out=output if given_out else None)
    pairs = zip(*map(visited, (output, *broadcast_tensors(*layouts))), strict=True)
    assert sorted(zip(*map(visited, nest), strict=True)) == sorted(pairs)
    assert [one.itemsize for one in nest] == [4, 4, 4]


def test_loops_of_given_layouts():
    """Alike operands run as one loop; a given output comes first and decides."""
    x = Layout((4, 6), itemsize=4)
    assert [one.shape for one in loop_nest(x.t(), x.t())] == [(24,)] * 3
    assert numbers(loop_nest(x, x.t().contiguous().t())[0]) == numbers(x)
    out, given = loop_nest(x, out=Layout((4, 6), (1, 4), 5, 4))
    assert (out, given) == (Layout((6, 4), (4, 1), 5, 4), Layout((6, 4), (1, 6), 0, 4))
    assert numbers(loop_nest(Layout(()))) == numbers((Layout(()), Layout(())))


def test_a_result_lies_in_a_storage_of_its_own():
    """As torch's new tensor does; a given output stays where it is, and so do the inputs."""
    x, out = Layout((4, 6)), Layout((4, 6), storage="out")
    made, again = output_layout(x, x), output_layout(x, x)
    assert made.copied and len({x.storage, made.storage, again.storage}) == 3
    assert not shares_memory(made, x) and not shares_memory(made, again)
    assert [one.storage for one in loop_nest(x, x.clone(), out=out)[:2]] == ["out", ""]
    result, nest = loop_nest(made)
    assert nest.storage == made.storage != result.storage


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda x: output_layout(), "no operands: give at least one layout"),
        (
            lambda x: output_layout(x, Layout((4, 5))),
            "shapes (4, 6), (4, 5) do not broadcast: dim 1 of the result would be 6, but operand 1 "
            "has 5 there",
        ),
        (lambda x: output_layout(x, itemsize=0), "itemsize is 0 bytes"),
        (
            lambda x: output_layout(np.arange(4)[::-1]),
            "operand 0 is no torch tensor: dim 0 has stride -1",
        ),
        (lambda x: loop_nest(x, out=x.t()), "out has shape (6, 4), the result has (4, 6)"),
        (
            lambda x: loop_nest(x[:2], out=Layout((6,)).expand(2, 6)),
            "dim 0 of out has stride 0: its 2 indices would all write to one element",
        ),
        (
            lambda x: loop_nest(x, out=np.zeros((4, 6))[::-1]),
            "out is no torch tensor: dim 0 has stride -6",
        ),
    ],
)
def test_errors_say_what_and_why(make, sentence):
    """Each refusal names the numbers and what to do."""
    with pytest.raises(LayoutError, match=re.escape(sentence)):
        make(Layout((4, 6)))


def test_torch_writes_to_no_repeated_element():
    """The refusal of an output with a stride of 0 is torch's own; without elements it takes it."""
    x = torch.empty(4, 6)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.neg(x, out=torch.empty(6).expand(4, 6))
    nothing = torch.empty(0, 3).as_strided((0, 3), (0, 0))
    torch.neg(torch.empty(0, 3), out=nothing)
    assert loop_nest(Layout((0, 3)), out=Layout.of(nothing))[0].shape == (0,)
