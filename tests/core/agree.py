"""The numbers by which a Layout and a tensor are compared, and the tests that need a newer torch."""

import inspect

import pytest
import torch
from torch._prims_common import compute_elementwise_output_logical_to_physical_perm as _order

from stridekit import LayoutError
from tests.core import brute_force

REFUSALS = (LayoutError, IndexError)
TORCH_REFUSALS = (RuntimeError, IndexError, ValueError)


def numbers(results):
    """Shape, stride, storage_offset and itemsize of one result, or of each of several."""
    if not isinstance(results, (tuple, list)):
        results = [results]
    return [brute_force.numbers(x) for x in results]


def storage_of(x):
    """The identity of a storage; empty storages have one address."""
    return x.untyped_storage()._cdata


def _takes_odd_steps():
    """Return True if view_as_complex accepts an odd stride of a dim of size 1."""
    try:
        return len(torch.view_as_complex(torch.zeros(2).as_strided((1, 2), (3, 1)))) == 1
    except RuntimeError:
        return False


needs_settled_dim_order = pytest.mark.skipif(
    "ambiguity_check" not in inspect.signature(_order).parameters,
    reason=f"torch {torch.__version__} takes some dim orders for unique that are not",
)
needs_odd_steps = pytest.mark.skipif(
    not _takes_odd_steps(),
    reason=f"view_as_complex of torch {torch.__version__} minds the stride of a dim of size 1",
)
needs_flash_for_grouped_heads = pytest.mark.skipif(
    torch.__version__ < (2, 9),
    reason=f"torch {torch.__version__} repeats grouped heads, and has other rules for masks",
)
