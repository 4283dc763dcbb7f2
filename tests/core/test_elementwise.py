"""Elementwise operations: torch's own results, and the loops of its TensorIterator."""

import itertools
import json
import re
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit import Layout, shares_memory
from stridekit.elementwise import loop_nest, output_layout
from tests.core import loop_nest_cases
from tests.core.agree import numbers

ROOT = Path(__file__).parents[2]
NESTS = json.loads(loop_nest_cases.FILE.read_text(encoding="utf-8"))


def all_dtypes():
    """The dtypes of plain tensors; quantized ones stand for other numbers."""
    dtypes = set()
    for member in vars(torch).values():
        if isinstance(member, torch.dtype) and "q" not in str(member):
            dtypes.add(member)
    return sorted(dtypes, key=str)


@pytest.mark.filterwarnings("ignore:B?Complex(Half|32) support is experimental:UserWarning")
def test_output_of_all_pairs_of_dtypes():
    compared = set()
    dtypes = all_dtypes()
    operations = [  # each with the itemsize of its result, if that is always the same
        (torch.add, None),
        (torch.mul, None),
        (torch.eq, 1),
    ]
    for x_dtype, y_dtype in itertools.combinations_with_replacement(dtypes, 2):
        x = torch.empty(4, 1, dtype=x_dtype).expand(4, 2)
        y = torch.empty(2, 4, dtype=y_dtype).t()
        x_scalar = x[0, 0]
        y_scalar = y[0, 0]
        pairs = [
            (x, y),
            (y, x),
            (x, y_scalar),
            (x_scalar, y),
            (x_scalar, y_scalar),
        ]
        for operands, (operation, itemsize) in itertools.product(pairs, operations):
            try:
                result = operation(*operands)
            except (RuntimeError, TypeError):
                continue  # torch has no such dtype in this operation, or no common one
            output = output_layout(*operands, itemsize=itemsize)
            assert numbers(output) == numbers(result), (operation, operands)
            compared.add((x_dtype, y_dtype))
    assert len(dtypes) > 35
    assert len(compared) > 100
    for dtype in (torch.bool, torch.uint64, torch.complex32):
        assert (dtype, dtype) in compared


def test_a_gpu_casts_without_a_copy():
    """TensorIterator makes temporaries only on the CPU; the tensors are fake, so no GPU is needed."""
    with FakeTensorMode():
        x = torch.empty(4, 1, device="cuda").expand(4, 2)
        y = torch.empty(2, 4, dtype=torch.float64, device="cuda").t()
        out = torch.empty(2, 4, device="cuda").t()
    written, *_ = loop_nest(y, y, out=out)
    assert written == Layout((8,), (1,), 0, 4)
    assert numbers(output_layout(x, y)) == [((4, 2), (1, 4), 0, 8)]
    result, x_loops, y_loops = loop_nest(x, y)
    assert numbers(result) == [((2, 4), (4, 1), 0, 8)]
    assert x_loops == Layout((2, 4), (0, 1), 0, 4)
    assert y_loops == Layout((2, 4), (4, 1), 0, 8)


def test_the_stored_loops_are_those_of_the_torch_that_is_locked():
    lock = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    version = re.search(r"^torch==(\S+)", lock, re.MULTILINE)[1]
    stored_version = NESTS["torch"]
    assert stored_version.rpartition(".")[0] == version.rpartition(".")[0], (
        f"{loop_nest_cases.FILE.name} is of torch {stored_version}, the lock names {version}: "
        "run python -m tests.core.loop_nest_cases"
    )


def test_loop_nest_is_torchs():
    cases = NESTS["cases"]
    mixed_dtypes = 0
    mixed_dtypes_with_out = 0
    for case in cases:
        out = case["out"]
        operands = list(case["inputs"])
        if out:
            operands.append(out)
        dtypes = {dtype for *_, dtype in operands}
        is_mixed = len(dtypes) > 1
        mixed_dtypes += is_mixed
        mixed_dtypes_with_out += is_mixed and bool(out)
        nest = loop_nest_cases.stridekits_nest(out, case["inputs"])
        assert nest == (case["loops"], case["strides"], case["itemsizes"]), case
    assert len(cases) > 700
    assert mixed_dtypes > 250
    assert mixed_dtypes_with_out > 100


def test_a_result_lies_in_a_storage_of_its_own():
    """As torch's new tensor does; a given output stays where it is, and so do the inputs."""
    x = Layout((4, 6))
    first = output_layout(x, x)
    second = output_layout(x, x)
    assert first.copied
    assert len({x.storage, first.storage, second.storage}) == 3
    assert not shares_memory(first, x)
    assert not shares_memory(first, second)
    output, operand, _ = loop_nest(x, x.clone(), out=Layout((4, 6), storage="out"))
    assert output.storage == "out"
    assert operand.storage == ""
    repeated = Layout((0, 3), (0, 0))  # torch writes to it if there is nothing to write
    written, _ = loop_nest(Layout((0, 3)), out=repeated)
    assert written.shape == (0,)
    output, operand = loop_nest(first)
    assert operand.storage == first.storage
    assert output.storage != first.storage


def test_loops_of_operands_that_are_cast():
    """A cast operand or output takes part as a copy, and is marked as one; bools are written directly."""
    x = torch.empty(4, 6)
    layout = Layout((4, 6), itemsize=4)
    nest = loop_nest(x, x.double())
    assert [loops.copied for loops in nest] == [True, True, False]
    assert [loops.itemsize for loops in nest] == [8, 8, 8]
    turned = torch.empty(6, 4).t()
    written, *_ = loop_nest(x, x.double(), out=turned)
    assert written.copied
    assert written.itemsize == 8
    assert written.shape == (24,)  # all are contiguous: one loop
    written, *_ = loop_nest(x, x.double(), out=turned.bool())
    assert not written.copied
    assert written.itemsize == 1
    assert written.shape == (6, 4)
    written, *_ = loop_nest(x, layout, out=layout)
    assert not written.copied
    written, _ = loop_nest(layout, out=x.bool())
    assert not written.copied
