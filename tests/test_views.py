"""Every view operation of torch: on a Layout and on a tensor the same numbers, or a refusal."""

import inspect
import itertools
import re
from math import prod

import numpy as np
import pytest
import torch

from stridekit import Layout, LayoutError
from tests import fuzz_layout

# torch's operations that return their input's memory, and are no method of Layout.
NO_METHOD = {
    "sparse tensors have no stride": [
        *("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices"),
    ],
    "the same layout; only a bit is set, or nothing happens": [
        *("conj", "positive", "resolve_conj", "resolve_neg", "lift_fresh"),
    ],
    "another device": ["cpu", "cuda", "pin_memory"],
    "torch.linalg's diagonal, with other defaults": ["linalg_diagonal"],
    "no method of tensors": ["as_tensor", "slice_inverse"],
}
NAMED = {"align_to", "refine_names", "rename"}  # named tensors, which torch 2.13 no longer has
OTHER_NAME = {"slice": "__getitem__", "matrix_H": "H", "numpy_T": "T"}


def view_operations_of_torch():
    """The public operations of aten that return an alias of their tensor, by their schemas."""
    for schema in torch._C._jit_get_all_schemas():
        first = schema.arguments[0] if schema.arguments else None
        if schema.name.startswith("aten::") and first and str(first.type) == "Tensor":
            name = schema.name.removeprefix("aten::")
            aliases = [value.alias_info for value in schema.returns if value.alias_info]
            if aliases and not any(a.is_write for a in aliases) and not name.startswith("_"):
                yield name


def test_no_view_operation_is_forgotten():
    left_out = set(itertools.chain(*NO_METHOD.values()))
    found = set(view_operations_of_torch()) - NAMED
    assert left_out <= found, "an operation that torch no longer has"
    names = {OTHER_NAME.get(name, name) for name in found - left_out} | {"view_dtype"}
    assert len(names) > 45, "torch hides its schemas?"
    assert {name for name in names if not hasattr(Layout, name)} == set()
    assert names - {"coalesce"} <= set(fuzz_layout.OPERATIONS), "draw arguments for it in steps.py"


NAMED_OTHERWISE = {"to", "tensor_split", "view_dtype"}  # and what has no arguments, or only varargs


@pytest.mark.parametrize("name", sorted(set(fuzz_layout.OPERATIONS) - NAMED_OTHERWISE))
def test_arguments_have_torchs_names(name):
    method = getattr(Layout, name)
    parameters = inspect.signature(method).parameters.values() if callable(method) else []
    own = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL][1:]
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    assert not own or own in [[a.name for a in schema.arguments[1:]] for schema in schemas]


SMALL = list(itertools.product((1, 2, 3), repeat=3))


def test_view_exhaustively():
    """Every layout of three dims of 1 to 3, as every shape of up to three dims: size-1 dims and all."""
    base = torch.empty(64)
    shapes = [s for n in (1, 2) for s in itertools.product(range(1, 28), repeat=n)]
    targets = {
        numel: [(1, numel, 1), *(s for s in shapes if prod(s) == numel)]
        for numel in set(map(prod, SMALL))
    }
    for shape, stride in itertools.product(SMALL, itertools.product((0, 1, 2, 3, 4, 6), repeat=3)):
        x, layout = base.as_strided(shape, stride), Layout(shape, stride)
        for target in targets[prod(shape)]:
            try:
                expected = x.view(target).stride()
            except RuntimeError:
                assert layout.why_not_view(target), (shape, stride, target)
            else:
                assert layout.view(target).stride == expected, (shape, stride, target)


# A rule of an operation in each, without any chance.
CALLS = """
__getitem__ s_[1:, ::2]; __getitem__ (-1,); __getitem__ s_[..., None, 1]; __getitem__ s_[2:1,]
__getitem__ (4,); __getitem__ s_[:, 9:]; __getitem__ s_[:, -2:]; __getitem__ s_[None, ..., ::3]
__getitem__ s_[1, ..., 0]; select 1, 2; select -1, -1; select 0, 9; narrow 1, 2, 3; narrow 0, -2, 2
narrow 0, 4, 0; unbind 1; split 3, 1; split 4; split_with_sizes [1, 2, 3], 1; chunk 4, 1; chunk 3
chunk 9, 1; tensor_split 4, 1; hsplit 2; vsplit 2; diagonal; diagonal 1; diagonal -2; diagonal 1, 1, 0
diagonal 9; diagonal 0, -1, 1; unfold 1, 3, 2; unfold 0, 4, 1; unfold 0, 1, 3; unfold -1, 2, 2
permute 1, 0; permute 2, 0, 1; permute 1, 2, 0; permute 0, 3, 1, 2; transpose 0, 1; transpose 0, -1
movedim 0, -1; movedim (0, 1), (1, 0); t; mT; squeeze; squeeze 1; squeeze 0; unsqueeze 0; unsqueeze 1
unsqueeze -1; expand 2, 4, 6; expand 3, 5, 4; expand -1, 6; view 24; view 2, 12; view 4, 3, 2; view -1
view 2, 2, 6; reshape 24; reshape -1; reshape 2, -1; ravel; flatten; flatten 0, 1; flatten 1; flatten 1, 1
unflatten 1, (2, -1); unflatten 0, (2, 2); as_strided (3,), (7,); as_strided (2, 2), (3, 1), 5
view 2, 0, 3; view_dtype 2; view_dtype 8; view_as_complex; contiguous; clone; flip 0; flip 0, 1; real; imag
contiguous memory_format=torch.channels_last; clone memory_format=torch.channels_last; to 2; repeat 2, 1
contiguous memory_format=torch.preserve_format; clone memory_format=torch.contiguous_format
repeat 2, 1, 3, 1, 1; to memory_format=torch.channels_last; to; tile 2
to memory_format=torch.contiguous_format, copy=True
"""
FEW = [
    ((4, 6), (8, 1), 2), ((6, 4), (1, 6)), ((3, 1, 4), (4, 9, 1), 4), ((2, 0, 3), (7, 5, 1), 1),
    ((3, 4), (0, 1)), ((24,), (2,), 1), ((), ()), ((2, 3, 4), (1, 2, 6)), ((4, 2), (4, 1), 6),
    ((2, 3, 4, 5), (60, 20, 5, 1)), ((2, 3, 4, 5), (60, 1, 15, 3)), ((2, 3, 4, 5), (120, 1, 15, 3)),
]  # fmt: skip


@pytest.mark.parametrize("call", re.split(r"; |\n", CALLS.strip()))
def test_each_rule_on_a_few_tensors(call):
    """By rows, by columns and with gaps; channels-last; repeated; with sizes of 0 and 1; without dims."""
    name, _, arguments = call.partition(" ")
    args, named = eval(
        f"given({arguments})", {"given": lambda *a, **n: (a, n), "s_": np.s_, "torch": torch}
    )
    numbers = torch.arange(512.0)
    x = torch.complex(numbers, numbers) if name in ("real", "imag") else numbers
    for shape, *more in FEW:
        fuzz_layout.same(x.as_strided(shape, *more), name, *args, **named)


def test_torch_expands_to_negative_sizes():
    """A surprise of torch 2.13: a new dim may get a size of -1 or -2 where another is 0."""
    assert torch.tensor(0).expand(0, -1).shape == (0, -1)
    assert torch.empty(0).expand(-2, 0).shape == (-2, 0)
    for layout, sizes in [(Layout(()), (0, -1)), (Layout((0,)), (-2, 0))]:
        with pytest.raises(
            LayoutError, match="is negative, and -1 keeps the size only of a dim that is there"
        ):
            layout.expand(sizes)


def test_torch_loses_count_at_a_second_ellipsis():
    """A surprise of torch 2.13: each ... skips all that it can, and what follows reads past the sizes."""
    x = torch.empty(2, 3, 4)
    with pytest.raises(IndexError, match="index 0 is out of bounds for dimension 2"):
        x[..., ..., 0]
    assert x[..., 0, ...].shape == (2, 3)  # nothing follows the second one
    assert Layout.of(x)[..., 0, ...].shape == (2, 3)
    for index in [(..., ..., 0), (..., ..., slice(0, 1)), (..., ..., None)]:
        with pytest.raises(IndexError, match=re.escape("a second ... leaves no dim for")):
            Layout.of(x)[index]
