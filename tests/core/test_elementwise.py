"""Elementwise operations: torch's own results, and the loops of its TensorIterator."""

import itertools
import json

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit import Layout, shares_memory
from stridekit.elementwise import loop_nest, output_layout
from tests.core import loop_nest_cases
from tests.core.agree import numbers

NESTS = json.loads(loop_nest_cases.FILE.read_text(encoding="utf-8"))


def all_dtypes():
    """The dtypes of plain tensors; quantized ones stand for other numbers."""
    dtypes = {dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}
    return sorted((dtype for dtype in dtypes if "q" not in str(dtype)), key=str)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental:UserWarning")
def test_output_of_all_pairs_of_dtypes():
    compared = set()
    dtypes = all_dtypes()
    operations = [(torch.add, None), (torch.mul, None), (torch.eq, 1)]
    for x_dtype, y_dtype in itertools.combinations_with_replacement(dtypes, 2):
        x = torch.empty(4, 1, dtype=x_dtype).expand(4, 2)
        y = torch.empty(2, 4, dtype=y_dtype).t()
        pairs = [(x, y), (y, x), (x, y[0, 0]), (x[0, 0], y), (x[0, 0], y[0, 0])]
        for operands, (operation, itemsize) in itertools.product(pairs, operations):
            try:
                result = operation(*operands)
            except (RuntimeError, TypeError):
                continue  # torch has no such dtype in this operation, or no common one
            output = output_layout(*operands, itemsize=itemsize)
            assert numbers(output) == numbers(result), (operation, operands)
            compared.add((x_dtype, y_dtype))
    assert len(dtypes) > 40 and len(compared) > 100
    assert {(d, d) for d in (torch.bool, torch.uint64, torch.complex32)} <= compared


def test_a_gpu_casts_without_a_copy():
    """TensorIterator makes temporaries only on the CPU; the tensors are fake, so no GPU is needed."""
    with FakeTensorMode():
        x = torch.empty(4, 1, device="cuda").expand(4, 2)
        y = torch.empty(2, 4, dtype=torch.float64, device="cuda").t()
        out = torch.empty(2, 4, device="cuda").t()
    assert loop_nest(y, y, out=out)[0] == Layout((8,), (1,), 0, 4)
    assert numbers(output_layout(x, y)) == [((4, 2), (1, 4), 0, 8)]
    result, *inputs = loop_nest(x, y)
    assert numbers(result) == [((2, 4), (4, 1), 0, 8)]
    assert inputs == [Layout((2, 4), (0, 1), 0, 4), Layout((2, 4), (4, 1), 0, 8)]


def test_the_stored_loops_are_this_torchs():
    version = torch.__version__.partition("+")[0]
    assert NESTS["torch"].rpartition(".")[0] == version.rpartition(".")[0], (
        f"{loop_nest_cases.FILE.name} is of torch {NESTS['torch']}, this is {version}: "
        "run python -m tests.core.loop_nest_cases"
    )


def test_loop_nest_is_torchs():
    cases = NESTS["cases"]
    mixed_cases = []
    for case in cases:
        dtypes = {dtype for *_, dtype in (*case["inputs"], case["out"] or case["inputs"][0])}
        if len(dtypes) > 1:
            mixed_cases.append(case)
        nest = loop_nest_cases.stridekits_nest(case["out"], case["inputs"])
        assert nest == (case["loops"], case["strides"], case["itemsizes"]), case
    assert len(cases) > 700
    assert len(mixed_cases) > 250
    assert len([case for case in mixed_cases if case["out"]]) > 100


def test_a_result_lies_in_a_storage_of_its_own():
    """As torch's new tensor does; a given output stays where it is, and so do the inputs."""
    x = Layout((4, 6))
    first = output_layout(x, x)
    second = output_layout(x, x)
    assert first.copied and len({x.storage, first.storage, second.storage}) == 3
    assert not shares_memory(first, x) and not shares_memory(first, second)
    output, operand, _ = loop_nest(x, x.clone(), out=Layout((4, 6), storage="out"))
    assert (output.storage, operand.storage) == ("out", "")
    repeated = Layout((0, 3), (0, 0))  # torch writes to it if there is nothing to write
    assert loop_nest(Layout((0, 3)), out=repeated)[0].shape == (0,)
    output, operand = loop_nest(first)
    assert operand.storage == first.storage != output.storage


def test_loops_of_operands_that_are_cast():
    """A cast operand or output takes part as a copy, and is marked as one; bools are written directly."""
    x = torch.empty(4, 6)
    layout = Layout((4, 6), itemsize=4)
    nest = loop_nest(x, x.double())
    assert [(loops.copied, loops.itemsize) for loops in nest] == [(True, 8), (True, 8), (False, 8)]
    for out, copied in ((torch.empty(6, 4).t(), True), (torch.empty(6, 4).bool().t(), False)):
        written, *_ = loop_nest(x, x.double(), out=out)
        assert (written.copied, written.itemsize) == (copied, 8 if copied else 1)
        assert written.shape == ((24,) if copied else (6, 4))  # all are contiguous: one loop
    assert not loop_nest(x, layout, out=layout)[0].copied
    assert not loop_nest(layout, out=x.bool())[0].copied
