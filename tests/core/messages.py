"""Calls that raise or warn as `diagnose` explains it; the rows are in messages.txt.

A row is `call => says => cure`: a call, a part of its diagnosis, a call that follows its advice. A line
`# title` names the family of the rows below it. The part is what the message means, then what else the
numbers decide. A row in quotes is a text that cannot be provoked here.
"""

import linecache
import os  # noqa: F401, for the rows
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import einops
import einops.layers.torch
import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import checker
from onnx.helper import make_tensor
from onnx.numpy_helper import from_array
from onnx.reference import ReferenceEvaluator
from safetensors.torch import load, save, save_model
from torch import distributed, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, default_collate

# By the rows.
USED = checker, flex_attention, make_tensor, F, DataLoader, default_collate, einops, zlib
USED += FakeTensorMode, save, save_model
FLOAT, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
short, last = torch.int16, torch.channels_last
sdpa = F.scaled_dot_product_attention
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
as_strided = np.lib.stride_tricks.as_strided
RESHAPE = "<int64[2] s = {5, -1}> { Y = Reshape(X, s) }"
OF_OTHER_SIZE = "<float[4, 5] Z> { Z = Abs(X) Y = Abs(Z) }"
BUCKET = """UserWarning: Grad strides do not match bucket view strides. It may be slow.
grad.sizes() = [8, 4, 1, 1], strides() = [4, 1, 4, 4]
bucket_view.sizes() = [8, 4, 1, 1], strides() = [4, 1, 1, 1]"""
FIELDS = np.zeros(3, np.dtype([("a", np.int8), ("b", np.int32)]))


def z(*shape: int, **options: Any) -> torch.Tensor:
    return torch.zeros(shape, **options)


def meta(*shape: int) -> torch.Tensor:
    return z(*shape, device="meta")


def inside(context: Any, call: Callable[[], Any]) -> Any:
    with context:
        return call()


def compiled(function: Callable[..., Any], *inputs: torch.Tensor, backend: str = "eager") -> Any:
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, fullgraph=True)(*inputs)


class Model(nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> object:
        return self.function(x)


def exported(function: Callable[..., object], x: torch.Tensor, dynamic: bool = False) -> object:
    shapes = {"x": {0: torch.export.Dim("b", min=2)}} if dynamic else None
    return torch.export.export(Model(function), (x,), dynamic_shapes=shapes)


def grown(n: int = 4) -> torch.Tensor:
    """A tensor that autograd follows and that is not a leaf."""
    return torch.ones(n, requires_grad=True) * 1


class Custom(torch.autograd.Function):
    """A function of its own, whose backward hands the gradient on as it comes."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, call: Callable[..., Any]) -> torch.Tensor:
        return call(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return grad, None


def by(backend: SDPBackend, x: torch.Tensor) -> object:
    return inside(sdpa_kernel(backend), lambda: sdpa(x, x, x))


def changed(times: int) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    for _ in range(times):
        y += 1
    y.sum().backward()


def recomputed() -> None:
    calls = []

    def function(x: torch.Tensor) -> torch.Tensor:
        calls.append(x)
        return (x.t() if len(calls) > 1 else x).exp().sum()

    checkpoint(function, z(3, 2, requires_grad=True), use_reentrant=False).backward()


def read_only() -> np.ndarray:
    a = np.arange(3)
    a.flags.writeable = False
    return a


def cut_off() -> None:
    header = b'{"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 20]}}'
    load(len(header).to_bytes(8, "little") + header + bytes(20))


class Overlapping(nn.Module):
    """Parameters that are slices of one buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = (nn.Parameter(half) for half in z(6).unfold(0, 4, 2))


def graph(lines: str) -> Any:
    """A model of ONNX whose input X has shape (4, 6)."""
    head = '<ir_version: 10, opset_import: ["" : 18]> g (float[4, 6] X) => (float[a, b] Y) '
    return onnx.parser.parse_model(head + lines)


def infer(lines: str) -> object:
    return onnx.shape_inference.infer_shapes(graph(lines), strict_mode=True)


def inferred_anew(lines: str) -> object:
    model = graph(lines)
    del model.graph.value_info[:]
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def evaluate(lines: str) -> object:
    return ReferenceEvaluator(graph(lines)).run(None, {"X": np.zeros((4, 6), np.float32)})


def declared_as(dtype: int, a: np.ndarray) -> None:
    tensor = from_array(a)
    tensor.data_type = dtype
    checker.check_tensor(tensor)


def in_group(call: Callable[[], object]) -> None:
    """A call among processes, of which there is one."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"file://{folder}/store"
        distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
        try:
            call()
        finally:
            distributed.destroy_process_group()


all_to_all, all_gather = distributed.all_to_all_single, distributed.all_gather
isend = distributed.isend


@torch.library.custom_op("stridekit_tests::same", mutates_args=())
def returns_its_input(x: torch.Tensor) -> torch.Tensor:
    return x


@torch.library.custom_op("stridekit_tests::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    return x.t().clone()


@turned.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape[1], x.shape[0])


def first_batch(loader: DataLoader) -> Any:
    """The first batch; the error keeps the worker, which would keep open what this process closes."""
    batches = iter(loader)
    try:
        return next(batches)
    finally:
        batches._shutdown_workers()


def opcheck() -> None:
    torch.library.opcheck(turned, (z(3, 2),))


class Row(NamedTuple):
    """A call, a part of its diagnosis, and a call that follows the advice."""

    title: str
    call: str
    says: str
    cure: str

    def error(self) -> Any:
        """The exception, or the first warning, or the quoted text."""
        return eval(self.call) if self.call.startswith('"') else raised(lambda: run(self.call))


def run(source: str) -> object:
    """The value of an expression, whose source a traceback shows."""
    linecache.cache[source] = (len(source), None, [source], source)
    return eval(compile(source, source, "eval"), globals())


def raised(call: Callable[[], object]) -> Any:
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
    return told[0] if told else AssertionError("nothing was raised")


def _rows() -> list[Row]:
    title, rows = "", []
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            title = line[2:]
        elif line:
            call, says, *cure = line.split("  =>  ")
            rows.append(Row(title, call, says, *(cure or [""])))
    return rows


ROWS = _rows()
