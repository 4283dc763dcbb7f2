"""Which strides gradients get: the rule of lesson 09 against the samples of torch's own tests.

torch keeps the rule for the `.grad` of a leaf, except where no index steps: at a size of 1, or in an empty
tensor. It promises nothing about gradients on their way to a leaf. A version may change any stride there,
so the last test asks only that many operations hand over gradients that are not contiguous.
"""

import sys
import types
import unittest
from itertools import islice

import pytest
import torch
from torch.utils._pytree import tree_leaves

from stridekit import tricky_layouts
from stridekit.exercises.readers.answers import free_where_unused
from stridekit.exercises.way_back import grad_stride

SAMPLES = 3  # of each operation
LAYOUTS = ("contiguous", "transposed", "channels-last", "padded", "stepped", "expanded first")


@pytest.fixture(scope="module")
def operations():
    """Return what torch's tests know of each operation that has a gradient."""
    # torch's tests import it for texts that they compare; the samples do not need it.
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = unittest.TestCase
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "expecttest", stand_in)
        # The import would forbid other tests to set flags of torch.
        patch.setattr(torch.backends, "disable_global_flags", lambda: None)
        from torch.testing._internal.common_methods_invocations import op_db
    assert not torch.backends.flags_frozen()
    return [op for op in op_db if op.supports_autograd and torch.float32 in op.dtypes]


def samples_of(op):
    """Return samples of an operation whose first argument is a tensor with strides and a gradient."""
    # `op.sample_inputs` looks through the stack for the name of a test, which takes most of its time.
    samples = op.sample_inputs_func(op, "cpu", torch.float32, requires_grad=True)
    return [
        sample
        for sample in islice(samples, SAMPLES)
        if isinstance(sample.input, torch.Tensor)
        and sample.input.layout is torch.strided
        and sample.input.requires_grad
    ]


def results_of(op, sample, x):
    """Return the results that depend on x; none if the operation does not take its layout."""
    try:
        result = op(x, *sample.args, **sample.kwargs)
    except RuntimeError:
        return []
    return [t for t in tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad]


def gradient_of(results, x):
    """Return the gradient that backward() stores at x; None if it fails or stores a sparse one."""
    try:
        torch.autograd.backward(results, [torch.ones_like(t) for t in results])
    except RuntimeError:
        return None
    has_strides = x.grad is not None and x.grad.layout is torch.strided
    return x.grad if has_strides else None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.long)])
def test_a_leaf_of_any_layout_gets_the_gradient_of_the_rule(operations, every):
    compared = 0
    for op in operations[::every]:
        for sample in samples_of(op):
            leaves = tricky_layouts(sample.input.detach())
            for name in leaves.keys() & {*LAYOUTS}:
                x = leaves[name].requires_grad_()
                gradient = gradient_of(results_of(op, sample, x), x)
                if gradient is None:
                    continue
                expected = grad_stride.reference(tuple(x.shape), x.stride())
                strides = [free_where_unused(x.shape, s) for s in (gradient.stride(), expected)]
                assert strides[0] == strides[1], (op.name, name, tuple(x.shape), x.stride())
                compared += 1
    assert compared > 4000 / every


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_gradients_on_their_way_have_strides_that_nobody_promised(operations):
    """For a contiguous x and a contiguous gradient of the result."""
    names = set()
    for op in operations:
        for sample in samples_of(op):
            x = tricky_layouts(sample.input.detach())["contiguous"].requires_grad_()
            arrived = []
            inner = x * 1
            inner.register_hook(arrived.append)
            results = results_of(op, sample, inner)
            if gradient_of(results, x) is not None and arrived:
                names |= {op.name for gradient in arrived if not gradient.is_contiguous()}
    assert {"fft.fft", "block_diag", "linalg.qr"} <= names
    assert 30 < len(names) < 100
