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
    found = {dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}
    return sorted((dtype for dtype in found if "q" not in str(dtype)), key=str)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental:UserWarning")
def test_output_of_all_pairs_of_dtypes():
    compared, dtypes = set(), all_dtypes()
    for one, two in itertools.combinations_with_replacement(dtypes, 2):
        x, y = torch.empty(4, 1, dtype=one).expand(4, 2), torch.empty(2, 4, dtype=two).t()
        for operands in ((x, y), (y, x), (x, y[0, 0]), (x[0, 0], y), (x[0, 0], y[0, 0])):
            for operation, itemsize in ((torch.add, None), (torch.mul, None), (torch.eq, 1)):
                try:
                    result = operation(*operands)
                except (RuntimeError, TypeError):
                    continue  # torch has no such dtype in this operation, or no common one
                found = output_layout(*operands, itemsize=itemsize)
                assert numbers(found) == numbers(result), (operation, operands)
                compared.add((one, two))
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
    cases, mixed = NESTS["cases"], []
    for case in cases:
        dtypes = {dtype for *_, dtype in (*case["inputs"], case["out"] or case["inputs"][0])}
        mixed += [case] * (len(dtypes) > 1)
        found = loop_nest_cases.of_stridekit(case["out"], case["inputs"])
        assert found == (case["loops"], case["strides"], case["itemsizes"]), case
    assert len(cases) > 700 and len(mixed) > 250 and sum(bool(x["out"]) for x in mixed) > 100


def test_a_result_lies_in_a_storage_of_its_own():
    """As torch's new tensor does; a given output stays where it is, and so do the inputs."""
    x, out = Layout((4, 6)), Layout((4, 6), storage="out")
    made, again = output_layout(x, x), output_layout(x, x)
    assert made.copied and len({x.storage, made.storage, again.storage}) == 3
    assert not shares_memory(made, x) and not shares_memory(made, again)
    assert [one.storage for one in loop_nest(x, x.clone(), out=out)[:2]] == ["out", ""]
    repeated = Layout((0, 3), (0, 0))  # which torch writes to if there is nothing to write
    assert loop_nest(Layout((0, 3)), out=repeated)[0].shape == (0,)
    result, nest = loop_nest(made)
    assert nest.storage == made.storage != result.storage


def test_loops_of_what_is_cast():
    """A cast operand or output takes part as a copy, and is marked as one; bools are written directly."""
    x, layout = torch.empty(4, 6), Layout((4, 6), itemsize=4)
    nests = loop_nest(x, x.double())
    assert [(one.copied, one.itemsize) for one in nests] == [(True, 8), (True, 8), (False, 8)]
    for out, copied in ((torch.empty(6, 4).t(), True), (torch.empty(6, 4).bool().t(), False)):
        written, *_ = loop_nest(x, x.double(), out=out)
        assert (written.copied, written.itemsize) == (copied, 8 if copied else 1)
        assert written.shape == ((24,) if copied else (6, 4))  # all are contiguous: one loop
    assert not loop_nest(x, layout, out=layout)[0].copied
    assert not loop_nest(layout, out=x.bool())[0].copied
