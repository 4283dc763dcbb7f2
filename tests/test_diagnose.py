"""diagnose: each message as the library really raises it, its numbers, and its cure, which is run."""

import ast
import itertools
import os
import re
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from math import prod
from typing import NamedTuple

import einops
import numpy as np
import onnx
import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from onnx import checker
from onnx.helper import make_tensor
from onnx.numpy_helper import from_array
from onnx.reference import ReferenceEvaluator
from torch.nn.attention import SDPBackend, sdpa_kernel

from stridekit import Layout, LayoutError, diagnose
from stridekit.tensors.messages import FAMILIES
from tests.test_notebooks import PATHS

short, sdpa = torch.int16, torch.nn.functional.scaled_dot_product_attention
FLOAT, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
assert_size_stride = torch._C._dynamo.guards.assert_size_stride


def z(*shape, **options):
    return torch.zeros(shape, **options)


def grown(n=4):
    """A tensor that autograd follows, and that is no leaf."""
    return torch.ones(n, requires_grad=True) * 1


class Flat(torch.autograd.Function):
    """Returns a view from a custom Function."""

    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, grad):
        return grad


def under_no_grad(view):
    with torch.no_grad():
        return view()


def inferred(n=3):
    with torch.inference_mode():
        return torch.ones(n)


def flash(q):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return sdpa(q, q, q)


def changed(times):
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    for _ in range(times):
        y += 1
    y.sum().backward()


def read_only():
    a = np.arange(3)
    a.flags.writeable = False
    return a


def with_shape(a, shape):
    a.shape = shape


def save(**tensors):
    safetensors.torch.save(tensors)


class Overlapping(torch.nn.Module):
    """Parameters that are slices of one buffer."""

    def __init__(self):
        super().__init__()
        self.a, self.b = (torch.nn.Parameter(half) for half in z(6).unfold(0, 4, 2))


def graph(lines):
    """A model of ONNX whose input X has shape (4, 6)."""
    head = '<ir_version: 10, opset_import: ["" : 18]> g (float[4, 6] X) => (float[a, b] Y) '
    return onnx.parser.parse_model(head + lines)


RESHAPE = "<int64[2] s = {5, -1}> { Y = Reshape(X, s) }"
OF_OTHER_SIZE = "<float[4, 5] Z> { Z = Abs(X) Y = Abs(Z) }"


def infer(lines):
    return onnx.shape_inference.infer_shapes(graph(lines), strict_mode=True)


def inferred_anew(lines):
    model = graph(lines)
    del model.graph.value_info[:]
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def evaluate(lines):
    return ReferenceEvaluator(graph(lines)).run(None, {"X": np.zeros((4, 6), np.float32)})


def declared_as(dtype, a):
    tensor = from_array(a)
    tensor.data_type = dtype
    checker.check_tensor(tensor)


def write(y, x=1):
    y += x


class Case(NamedTuple):
    """A call that raises or warns, what the diagnosis says, and a call that follows its advice."""

    title: str
    provoke: Callable[[], object]
    says: str
    cured: Callable[[], object] | None = None


CASES = [
    Case("a view of dims that do not merge", lambda: z(4, 6).t().view(24), "x.reshape(shape)",
         lambda: z(4, 6).t().reshape(24)),
    Case("a shape for another number of elements", lambda: z(24).view(5, 5),
         "shape (5, 5) has 25 elements, and there are 24"),
    Case("a shape for another number of elements", lambda: z(24).view(6, 2),
         "(12, 2) or (6, 4)", lambda: (z(24).view(12, 2), z(24).view(6, 4))),
    Case("a shape for another number of elements", lambda: z(24).view(7, -1),
         "24 / 7, which is no whole number"),
    Case("an array's shape for another number of elements", lambda: np.arange(6).reshape(4, 2),
         "(3, 2)", lambda: np.arange(6).reshape(3, 2)),
    Case("an array's shape for another number of elements", lambda: np.arange(24).reshape(5, -1),
         "24 / 5, which is no whole number"),
    Case("an array's shape for another number of elements", lambda: np.arange(24).reshape(-1, 5),
         "24 / 5, which is no whole number"),
    Case("an array's shape for another number of elements", lambda: np.arange(24).reshape(-1, 5, 2),
         "shape (5, 2) has 10 elements, and there are 24; or it was (-1, 5, 2)"),
    Case("an array's shape for another number of elements", lambda: np.arange(24).reshape(7),
         "shape (7,) has 7 elements, and there are 24\n"),
    Case("an array's shape for another number of elements", lambda: np.arange(24).reshape(3, 4),
         "shape (3, 4) has 12 elements, and there are 24\n"),
    Case("sizes that do not multiply to the dim", lambda: z(3, 8).unflatten(1, (3, 2)),
         "unflatten cuts dim 1, of size 8, into [3, 2]", lambda: z(3, 8).unflatten(1, (-1, 2))),
    Case("a new shape in place that would need a copy",
         lambda: with_shape(np.zeros((2, 3)).T, (6,)), "a.reshape(shape)",
         lambda: np.zeros((2, 3)).T.reshape(6)),
    Case("an array that runs backwards", lambda: torch.from_numpy(np.arange(6)[::-1]), "a.copy()",
         lambda: torch.from_numpy(np.arange(6)[::-1].copy())),
    Case("a slice that runs backwards", lambda: z(4)[::-1], "x.flip(0)", lambda: z(4).flip(0)),
    Case("a slice that runs backwards", lambda: z(4).as_strided((4,), (-1,), 3), "negative strides"),
    Case("a tensor on a read-only array", lambda: torch.from_numpy(read_only()), "torch.tensor(a)",
         lambda: (torch.from_numpy(read_only().copy()), torch.tensor(read_only()))),
    Case("a tensor on a read-only array", lambda: torch.frombuffer(b"abcd", dtype=torch.int8),
         "np.frombuffer of bytes"),
    Case("a write to a read-only array", lambda: np.broadcast_to(0, 3).__setitem__(0, 1),
         "np.broadcast_to"),
    Case("a write to a read-only array",
         lambda: write(np.broadcast_to(np.zeros(1), (3,))[:]), "a = a.copy()",
         lambda: write(np.broadcast_to(np.zeros(1), (3,)).copy()[:])),
    Case("a write to elements that share memory", lambda: z(1).expand(3).add_(1), "x = x.clone()",
         lambda: (z(1).expand(3).clone().add_(1), z(1).expand(3).contiguous().add_(1))),
    Case("a write to memory that is still read", lambda: (x := z(6), write(x[1:], x[:-1])),
         "x[1:] += x[:-1].clone()", lambda: (x := z(6), write(x[1:], x[:-1].clone()))),
    Case("a layout that leaves its storage", lambda: z(6).as_strided((3, 3), (3, 1)),
         "index (2, 2) is element 8; the storage has 6 elements, and ends with element 5"),
    Case("a layout that leaves its storage", lambda: z(0).as_strided((1,), (1,)), "the storage is empty"),
    Case("storage that is not torch's to resize", lambda: torch.from_numpy(np.zeros(3)).resize_(5),
         "x = x.clone()", lambda: torch.from_numpy(np.zeros(3)).clone().resize_(5)),
    Case("floats that make no complex numbers", lambda: torch.view_as_complex(z(2, 4).t()),
         "x.contiguous()", lambda: torch.view_as_complex(z(2, 4).t().contiguous())),
    Case("floats that make no complex numbers", lambda: torch.view_as_complex(z(3, 4)),
         "x.unflatten(-1, (-1, 2))", lambda: torch.view_as_complex(z(3, 4).unflatten(-1, (-1, 2)))),
    Case("floats that make no complex numbers", lambda: torch.view_as_complex(z(9)[1:].view(4, 2)),
         "x.clone()", lambda: torch.view_as_complex(z(9)[1:].view(4, 2).clone())),
    Case("floats that make no complex numbers", lambda: torch.view_as_complex(z(3, 3)[:, :2]),
         "a step of this tensor", lambda: torch.view_as_complex(z(3, 3)[:, :2].contiguous())),
    Case("a dtype of another size", lambda: z(4, 3, dtype=short).view(torch.int32),
         "2 elements of Short make one of Int, and the last dim has 3",
         lambda: z(4, 3, dtype=short)[..., :2].contiguous().view(torch.int32)),
    Case("a dtype of another size", lambda: z(4, 4).t().view(short), "its stride is 4",
         lambda: z(4, 4).t().contiguous().view(short)),
    Case("a dtype of another size", lambda: z(6, dtype=short)[1:5].view(torch.int32), "at element 1",
         lambda: z(6, dtype=short)[1:5].clone().view(torch.int32)),
    Case("a dtype of another size", lambda: z(3, 5, dtype=short)[:, :4].view(torch.int32),
         "stride(0) is 5", lambda: z(3, 5, dtype=short)[:, :4].contiguous().view(torch.int32)),
    Case("an array's dtype of another size", lambda: np.zeros((3, 4)).T.view(np.int16),
         "np.ascontiguousarray(a)", lambda: np.ascontiguousarray(np.zeros((3, 4)).T).view(np.int16)),
    Case("a size that does not expand", lambda: z(3, 4).expand(3, 5),
         "in dim 1 of the result a size of 4 would become 5", lambda: z(3, 4).unsqueeze(1).expand(3, 5, 4)),
    Case("a size that does not expand", lambda: z(4).expand(3, 5), "in dim 1 of the result"),
    Case("a size that does not expand", lambda: z(3, 4).__setitem__(0, z(5)), "x[i] = y"),
    Case("a size for too few dims", lambda: z(3, 4).__setitem__(0, z(3, 4)), "x[i] = y"),
    Case("a size for too few dims", lambda: z(3, 4).expand(4), "keeps the 2 that are there: it got 1",
         lambda: z(3, 4).expand(5, -1, -1)),
    Case("shapes that do not broadcast", lambda: z(2, 3) + z(2),
         "in dim 1 of the result a has 3 and b has 2",
         lambda: (z(2, 3) + z(2).unsqueeze(1), z(2, 3) + z(2)[:, None])),
    Case("arrays that do not broadcast", lambda: np.zeros((2, 3)) + np.zeros(2),
         "in dim 1 of the result sizes 3 and 2 meet", lambda: np.zeros((2, 3)) + np.zeros(2)[:, None]),
    Case("arrays that do not broadcast",
         lambda: np.where(np.zeros(3), np.zeros((4, 3)), np.zeros((2, 1))), "result sizes 4 and 2 meet"),
    Case("arrays that do not broadcast", lambda: np.zeros((2, 3)).__setitem__(0, np.zeros(4)),
         "in dim 0 of the result sizes 4 and 3 meet"),
    Case("arrays that do not broadcast", lambda: np.zeros((2, 3)).__setitem__(0, np.zeros((2, 3))),
         "a[...] = b broadcasts b alone"),
    Case("a result that does not fit in place", lambda: z(3).add_(z(2, 3)),
         "the result has shape [2, 3], its place [3]", lambda: z(3) + z(2, 3)),
    Case("a result that does not fit in place", lambda: write(np.zeros(3), np.zeros((2, 3))),
         "the result has shape [2,3], its place [3,]", lambda: np.zeros(3) + np.zeros((2, 3))),
    Case("a permutation of other dims", lambda: z(4, 6).permute(0, 2, 1),
         "there are 2 dims, and it names 3", lambda: z(4, 6).mT),
    Case("a permutation of other dims", lambda: np.zeros((4, 6)).transpose(0, 2, 1),
         "the tensor has another number", lambda: np.zeros((4, 6)).swapaxes(-1, -2)),
    Case("a permutation of other dims", lambda: infer("{ Y = Transpose<perm = [0, 2, 1]>(X) }"),
         "there are 2 dims, and it names 3", lambda: infer("{ Y = Transpose<perm = [1, 0]>(X) }")),
    Case("a permutation of other dims", lambda: infer("{ Y = Transpose<perm = [0, -1]>(X) }"),
         "each of the dims 0 to 1 once, and none from the end"),
    Case("a permutation of other dims", lambda: evaluate("{ Y = Transpose<perm = [0]>(X) }"),
         "there are 2 dims, and it names 1"),
    Case("matrices that do not multiply", lambda: z(2, 3) @ z(5, 3), "x @ w.t() is (2x3) @ (3x5)",
         lambda: z(2, 3) @ z(5, 3).t()),
    Case("matrices that do not multiply", lambda: z(2, 3) @ z(2, 5), "x.t() @ w is (3x2) @ (2x5)",
         lambda: z(2, 3).t() @ z(2, 5)),
    Case("matrices that do not multiply", lambda: torch.nn.Linear(4, 5)(z(2, 4, 3)), "(..., n)",
         lambda: torch.nn.Linear(4, 5)(z(2, 4, 3).mT)),
    Case("a matrix and a vector that do not multiply", lambda: z(4, 3) @ z(4), "m.t() @ v",
         lambda: z(4, 3).t() @ z(4)),
    Case("batches of matrices that do not multiply", lambda: z(2, 3, 4) @ z(2, 3, 4), "q @ k.mT",
         lambda: z(2, 3, 4) @ z(2, 3, 4).mT),
    Case("channels-last for another number of dims",
         lambda: z(3, 4, 5).to(memory_format=torch.channels_last), "(N, C, H, W)",
         lambda: z(3, 4, 5).unsqueeze(0).to(memory_format=torch.channels_last)),
    Case("channels-last for another number of dims",
         lambda: z(3, 4).contiguous(memory_format=torch.channels_last_3d), "(N, C, D, H, W)"),
    Case("strides that a compiled function did not expect",
         lambda: assert_size_stride(z(3, 4).t(), (4, 3), (3, 1)),
         "dim 0 has stride 1, not 3; dim 1 has stride 4, not 1",
         lambda: assert_size_stride(z(3, 4).t().contiguous(), (4, 3), (3, 1))),
    Case("strides that a compiled function did not expect",
         lambda: assert_size_stride(z(3, 4), (3, 5), (9, 1)),
         "dim 0 has stride 4, not 9; dim 1 has size 4, not 5"),
    Case("no way to compute attention", lambda: flash(z(1, 1, 3, 8)[..., ::2]), "why_no_flash",
         lambda: flash(z(1, 1, 3, 8)[..., ::2].contiguous())),
    Case("a tensor that changed before its gradient", lambda: changed(2),
         "shape (3,), the output of Exp, for the backward pass, and since then it was written to 2 times",
         lambda: changed(0)),
    Case("a write to one of several views", lambda: write(grown().split(2)[0]), "Split returned",
         lambda: (x := grown(), write(x[:2]), x.split(2)[0] + 1)),
    Case("a write to one of several views", lambda: [write(row) for row in grown()], "for loop"),
    Case("a write to one of several views",
         lambda: (x := grown(), a := x.split(2)[0], write(x), a.sum().backward()), "the tensor behind"),
    Case("a write to a view that autograd did not make", lambda: write(Flat.apply(grown())), "y.clone()",
         lambda: write(Flat.apply(grown()).clone())),
    Case("a write to a view that was made without gradients",
         lambda: (x := grown(), write(under_no_grad(lambda: x[0:2]))), "the same side of no_grad",
         lambda: (x := grown(), under_no_grad(lambda: write(x[0:2])))),
    Case("a write to a parameter", lambda: torch.ones(3, requires_grad=True).add_(1), "torch.no_grad()",
         lambda: under_no_grad(lambda: torch.ones(3, requires_grad=True).add_(1))),
    Case("a write to a parameter", lambda: write(torch.ones(3, requires_grad=True)[:2]), "a view of it"),
    Case("a tensor of inference mode", lambda: (grown(3) * inferred()).sum().backward(), "x.clone()",
         lambda: (grown(3) * inferred().clone()).sum().backward()),
    Case("a tensor of inference mode", lambda: inferred().add_(1), "torch.no_grad()",
         lambda: (inferred().clone().add_(1), under_no_grad(lambda: z(3)).add_(1))),
    Case("an array of a tensor with a gradient", lambda: grown().numpy(), "x.detach().numpy()",
         lambda: grown().detach().numpy()),
    Case("tensors that would be saved twice", lambda: (x := z(4), save(a=x, b=x[1:])), "'b'",
         lambda: (x := z(4), save(a=x, b=x[1:].clone()))),
    Case("tensors that would be saved twice",
         lambda: safetensors.torch.save_model(Overlapping(), os.devnull), "'b'",
         lambda: save(**{name: p.clone() for name, p in Overlapping().state_dict().items()})),
    Case("a tensor that cannot be saved as it lies",
         lambda: save(x=z(1, 3, 4, 4).to(memory_format=torch.channels_last)), "a model in channels-last"),
    Case("a tensor that cannot be saved as it lies", lambda: save(weight=z(4, 6).t()),
         "weight.contiguous()", lambda: save(weight=z(4, 6).t().contiguous())),
    Case("a dim that does not divide into groups",
         lambda: einops.rearrange(z(4, 6), "(a b) c -> a b c", a=3), "a dim of 4 into rows of 3"),
    Case("a pattern for another number of dims", lambda: einops.rearrange(z(4, 6), "a b c -> c b a"),
         "names 3 dims, the tensor has 2", lambda: einops.rearrange(z(4, 6), "... b -> b ...")),
    Case("an ONNX tensor that its values do not fill", lambda: make_tensor("w", FLOAT, [2, 3], [1.0, 2.0]),
         "the declared shape has 6 elements, and 2 are given",
         lambda: checker.check_tensor(from_array(np.zeros((2, 3))))),
    Case("an ONNX tensor that its values do not fill",
         lambda: make_tensor("w", FLOAT, [2, 3], np.zeros((2, 3)).tobytes(), raw=True),
         "take 24 bytes, and there are 48: a dtype of 2 times the size",
         lambda: declared_as(FLOAT, np.zeros((2, 3)).astype(np.float32))),
    Case("an ONNX tensor that its values do not fill", lambda: declared_as(DOUBLE, np.zeros(3, np.float32)),
         "take 24 bytes, and there are 12: a dtype of 1/2 times the size"),
    Case("an ONNX tensor that its values do not fill",
         lambda: make_tensor("w", FLOAT, [3], b"abcd", raw=True), "take 12 bytes, and there are 4\n"),
    Case("a declared shape that the graph does not give", lambda: infer(OF_OTHER_SIZE),
         "has size 6 in dim 1, and was declared to have 5",
         lambda: (inferred_anew(OF_OTHER_SIZE), evaluate(OF_OTHER_SIZE))),
    Case("a declared shape that the graph does not give",
         lambda: checker.check_model(graph("<float[4] Z> { Z = Abs(X) Y = Size(Z) }"), full_check=True),
         "has 2 dims, and was declared to have 1"),
    Case("a Reshape with a -1 that fits nothing", lambda: infer(RESHAPE), "no whole number"),
    Case("an array's shape for another number of elements", lambda: evaluate(RESHAPE),
         "24 / 5, which is no whole number"),
    Case("inputs of an ONNX node that do not agree", lambda: infer("{ Y = MatMul(X, X) }"),
         "rows of A as long as columns of B", lambda: infer("{ Z = Transpose(X) Y = MatMul(X, Z) }")),
    Case("inputs of an ONNX node that do not agree", lambda: infer("{ Y = Gemm(X, X) }"),
         "in one size: it is 4 in one, 6 in the other", lambda: infer("{ Y = Gemm<transB = 1>(X, X) }")),
    Case("inputs of an ONNX node that do not agree",
         lambda: infer("{ Z = Transpose(X) Y = Concat<axis = 0>(X, Z) }"),
         "in dim 1: it is 4 in one, 6 in the other"),
    Case("inputs of an ONNX node that do not agree", lambda: infer("{ Z = Transpose(X) Y = Add(X, Z) }"),
         "(op_type:Add): [ShapeInferenceError] Incompatible dimensions"),
    Case("arrays that do not broadcast", lambda: evaluate("<int64[2] s = {5, 6}> { Y = Expand(X, s) }"),
         "in dim 0 of the result sizes 4 and 5 meet"),
]  # fmt: skip
DDP = "a gradient laid out unlike its bucket"


def raised(call):
    """The exception of a call, or its first warning, which torch would give only once in a process."""
    torch.set_warn_always(True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            return error
        finally:
            torch.set_warn_always(False)
    return told[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_message_as_it_is_raised(case):
    """And once more as pasted text, wrapped as a terminal wraps it, behind a traceback."""
    error = raised(case.provoke)
    found = diagnose(error)
    assert found.title == case.title and case.says in str(found)
    assert all(sentence and not re.search(r"\{\w+\}", sentence) for _, sentence in found.lines)
    text = str(getattr(error, "message", error))
    pasted = "\n".join(
        [
            '  File "a.py", line 7',
            *textwrap.wrap(f"RuntimeError: {text}", 60, break_on_hyphens=False),
            ">>> ",
        ]
    )
    assert diagnose(pasted) == found


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.cured], ids=lambda case: case.title
)
def test_a_cure_works(case):
    case.cured()


@pytest.mark.parametrize("node", ["Split", "SplitBackward0"])  # the second in torch 2.9
def test_an_op_has_one_name_in_all_versions(node):
    text = (
        f"Output 0 of {node} is a view and is being modified inplace. This view is the output of a "
    )
    assert "Split returned" in str(diagnose(f"{text}function that returns multiple views."))
    text = (
        f"modified by an inplace operation: [torch.FloatTensor [3]], which is output 0 of {node}, "
    )
    assert "output of Split," in str(
        diagnose(f"{text}is at version 2; expected version 0 instead.")
    )


def test_every_family_is_raised_here():
    assert {case.title for case in CASES} | {DDP} == {family.title for family in FAMILIES}
    assert {family.lesson for family in FAMILIES} <= {path.stem for path in PATHS}


@given(st.lists(st.integers(0, 12), min_size=1, max_size=3), st.integers(0, 24))
def test_every_shape_that_is_advised_fits(shape, numel):
    """And each that differs in one size is advised."""
    cure = dict(diagnose(f"shape '{shape}' is invalid for input of size {numel}").lines)["cure"]
    fits = {
        tried
        for d, n in itertools.product(range(len(shape)), range(numel + 1))
        if prod(shape[:d] + shape[d + 1 :])
        and prod(tried := (*shape[:d], n, *shape[d + 1 :])) == numel
    }
    assert set(map(ast.literal_eval, re.findall(r"\(.*?\)", cure))) == fits


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_a_gradient_is_harmless_where_every_address_is_the_same(sizes, data):
    strides = st.lists(st.integers(0, 9), min_size=len(sizes), max_size=len(sizes)).map(tuple)
    ours, theirs = data.draw(strides), data.draw(strides)
    text = (
        "Grad strides do not match bucket view strides. This may indicate grad was not created ...\n"
        f"grad.sizes() = {sizes}, strides() = {list(ours)}\n"
        f"bucket_view.sizes() = {sizes}, strides() = {list(theirs)}"
    )
    everywhere = list(np.ndindex(*sizes))
    a, b = ([Layout(sizes, s).offset(index) for index in everywhere] for s in (ours, theirs))
    assert ("harmless" in dict(diagnose(text).lines)["harm"]) == (a == b)


TRAIN = """
import sys, warnings, torch, torch.distributed as dist
dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}", rank=0, world_size=1)
conv = torch.nn.Conv2d(4, 8, int(sys.argv[2]), bias=False)
ddp = torch.nn.parallel.DistributedDataParallel(conv)
exec(sys.argv[3])
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    ddp(torch.rand(2, 4, 5, 5)).sum().backward()
dist.destroy_process_group()
from stridekit import diagnose
print(diagnose(told[0]))
"""


@pytest.mark.parametrize(
    ("size", "line", "says"),
    [
        (
            1,
            "conv.weight.register_hook(lambda grad: grad.as_strided(grad.shape, (4, 1, 4, 4)))",
            "no: same addresses, harmless",
        ),
        (
            3,
            "conv.weight.data = conv.weight.data.to(memory_format=torch.channels_last)",
            "in time: each step copies 288 elements in another order",
        ),
    ],
    ids=["1x1", "3x3"],
)
def test_a_gradient_in_another_order_than_its_bucket(size, line, says, tmp_path):
    """By DistributedDataParallel itself, in a process of its own: torch warns once in each."""
    command = [sys.executable, "-c", TRAIN, str(tmp_path / "store"), str(size), line]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert DDP in told and says in told  # torch 2.9 says more on stdout


@pytest.mark.parametrize(
    "text",
    [
        "Grad strides do not match bucket view strides.",
        "Grad strides do not match bucket view strides. grad.sizes() = [3], strides() = [1, 1] "
        "bucket_view.sizes() = [3], strides() = [1]",
    ],
)
def test_numbers_that_are_cut_off_decide_nothing(text):
    assert dict(diagnose(text).lines)["harm"].startswith("at most in time: the strides at its end")


def test_an_error_that_another_one_led_to():
    """Through causes, contexts and groups; the error itself counts most."""

    def chained(outer):
        try:
            z(4, 6).t().view(24)
        except RuntimeError as inner:
            raise outer from inner

    for outer in (KeyError("a"), ExceptionGroup("b", [KeyError("c")])):
        assert diagnose(raised(lambda outer=outer: chained(outer))).title == CASES[0].title
    grouped = ExceptionGroup("a", [ValueError("b"), RuntimeError("step must be greater than zero")])
    assert diagnose(grouped).title == "a slice that runs backwards"
    found = diagnose(raised(lambda: chained(ValueError("step must be greater than zero"))))
    assert found.title == "a slice that runs backwards"
    assert dict(found.lines)["others"] == "2 messages are known here; this is the last one"


def test_a_ring_of_errors_ends():
    a, b = KeyError("a"), KeyError("b")
    a.__cause__, b.__cause__ = b, a
    assert "does not know" in diagnose(a).title


class Silent(Exception):
    """Fails when it is asked what it says."""

    def __str__(self):
        raise ValueError


NO_RATIO = (
    "self.size(-1) must be divisible by 0 to view Short as Int (different element sizes), but got 3"
)
HUGE = f"shape '[5]' is invalid for input of size {'7' * 5000}"  # Python reads no such int
UNKNOWN = ["", "KeyError: 'a'", NO_RATIO, "x" * 10**6, HUGE, KeyError("a"), Silent()]


@pytest.mark.parametrize("error", UNKNOWN)
def test_what_is_not_known_is_said(error):
    found = diagnose(error)
    assert found.title == "a message that stridekit does not know"
    assert f"{len(FAMILIES)} kinds of messages" in str(found) and len(str(found)) < 500


MESSAGES = [
    str(getattr(error, "message", error)) for error in map(raised, (c.provoke for c in CASES))
]
NUMBERS = st.one_of(st.integers(-2, 9), st.integers(0, 2**64), st.just(10**5000))


@given(st.sampled_from(MESSAGES), st.data())
def test_other_numbers_never_break_it(message, data):
    """As typing errors, or a version of torch that counts otherwise, make them."""
    parts = re.split(r"(\d+)", message)
    parts[1::2] = [
        part if data.draw(st.booleans()) else f"{data.draw(NUMBERS):x}".replace("f", ", ")
        for part in parts[1::2]
    ]
    assert all(sentence for _, sentence in diagnose("".join(parts)).lines)


def test_numbers_that_belong_to_no_layout_are_left_out():
    text = (
        "setStorage: sizes [3], strides [1, 2], storage offset 0, and itemsize 4 requiring a storage size "
        "of 36 are out of bounds for storage of size 24"
    )
    assert dict(diagnose(text).lines)["means"] == "36 bytes are needed, the storage has 24"
    with pytest.raises(LayoutError):
        Layout((3,), (1, 2))


@pytest.mark.parametrize("name", ["last_exc", "last_value"])
def test_the_last_exception(name, monkeypatch):
    for known in ("last_exc", "last_value"):
        monkeypatch.delattr(sys, known, raising=False)
    with pytest.raises(ValueError, match="there is no last exception: hand in an error"):
        diagnose()
    monkeypatch.setattr(sys, name, raised(CASES[0].provoke), raising=False)
    assert diagnose().title == CASES[0].title


def test_in_a_notebook():
    """`%diagnose` after an exception, with a text behind it, and with lines below it."""
    program = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for source in ["%load_ext stridekit", "import torch; torch.zeros(4)[::-1]", "%diagnose",
               "%diagnose shape '[5]' is invalid for input of size 4",
               "%%diagnose\\nview size is not compatible with\\ninput tensor's size and stride"]:
    shell.run_cell(source)
"""
    command = [sys.executable, "-c", program.replace("\\\\", "\\")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    titles = re.findall("Out.*: *\n?(a .*)", printed)
    assert titles == ["a slice that runs backwards", *(CASES[k].title for k in (1, 0))]
