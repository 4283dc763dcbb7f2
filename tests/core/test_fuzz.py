"""Random cases of every family, stridekit against torch, NumPy and brute force; `make fuzz` draws far more.

A family draws one case from a `random.Random` and compares. Hypothesis takes a millisecond for an example,
and a case takes a tenth of that, so an example is a batch of cases.
"""

import inspect

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout
from tests.core import fuzz_attention, fuzz_layout, fuzz_memory
from tests.core.agree import (
    needs_flash_for_grouped_heads,
    needs_odd_steps,
    needs_settled_dim_order,
)

FAMILIES = fuzz_layout.CASES | fuzz_attention.CASES | fuzz_memory.CASES
BATCH = 5  # cases of one example
FEWER = {"sdpa": 2}  # of a family whose cases take long
NEEDS = {
    "dim_order": needs_settled_dim_order,
    "sdpa": needs_flash_for_grouped_heads,
    "view_as_complex": needs_odd_steps,
}


@pytest.mark.parametrize(
    "family", [pytest.param(name, marks=NEEDS.get(name, ())) for name in FAMILIES]
)
@given(r=st.randoms(use_true_random=True))
def test_family(family, r):
    for _ in range(FEWER.get(family, BATCH)):
        FAMILIES[family](r)


# torch's operations that return their input's memory, and are no method of Layout.
NO_METHOD = {
    "sparse tensors have no stride": (
        "indices values crow_indices col_indices ccol_indices row_indices"
    ),
    "the same layout; only a bit is set, or nothing happens": (
        "conj positive resolve_conj resolve_neg lift_fresh"
    ),
    "another device": "cpu cuda pin_memory",
    "torch.linalg's diagonal, with other defaults": "linalg_diagonal",
    "no method of tensors": "as_tensor slice_inverse",
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
    without_method = set(" ".join(NO_METHOD.values()).split())
    operations = set(view_operations_of_torch()) - NAMED
    assert without_method <= operations, "an operation that torch no longer has"
    names = {OTHER_NAME.get(name, name) for name in operations - without_method}
    names.add("view_dtype")
    assert len(names) > 45, "torch hides its schemas?"
    assert {name for name in names if not hasattr(Layout, name)} == set()
    assert names - {"coalesce"} <= set(fuzz_layout.OPERATIONS), "draw arguments for it in steps.py"


NAMED_OTHERWISE = {
    "to",
    "tensor_split",
    "view",
    "view_dtype",
    "expand",
}  # and what has no arguments, or only varargs


@pytest.mark.parametrize("name", sorted(set(fuzz_layout.OPERATIONS) - NAMED_OTHERWISE))
def test_arguments_have_torchs_names(name):
    method = getattr(Layout, name)
    parameters = inspect.signature(method).parameters.values() if callable(method) else []
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL][1:]
    if not names:
        return
    torchs_names = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        torchs_names.append([argument.name for argument in schema.arguments[1:]])
    assert names in torchs_names
