"""Calls that raise or warn as `diagnose` explains it: the rows of messages.txt, and the names in them."""

# ruff: noqa: F401  (the rows use these imports)
import linecache
import os
import re
import tempfile
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import einops
import einops.layers.torch
import numpy as np
import onnx
import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from onnx import checker
from onnx.helper import make_tensor
from onnx.numpy_helper import from_array
from onnx.reference import ReferenceEvaluator
from PIL.Image import fromarray
from safetensors.torch import load, save, save_model
from torch import distributed, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, default_collate

# messages.txt has the words of these versions; others may say something else.
HAS_MESSAGES_OF_ROWS = torch.__version__.startswith("2.13") and np.__version__ >= "2"

FLOAT = onnx.TensorProto.FLOAT
DOUBLE = onnx.TensorProto.DOUBLE
short = torch.int16
last = torch.channels_last
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


class Backward(torch.autograd.Function):
    """A copy whose backward hands the gradient to a call."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, call: Callable[..., Any]) -> torch.Tensor:
        ctx.call = call
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.call(grad), None


def leaf(*shape: int, **options: Any) -> torch.Tensor:
    return z(*shape, requires_grad=True, **options)


def accumulated(grad: torch.Tensor) -> None:
    """Let a backward pass add to a gradient that lies otherwise than its parameter."""
    x = leaf(*grad.shape)
    x.grad = grad
    (x * 2).sum().backward()


def by(backend: SDPBackend, x: torch.Tensor) -> object:
    return inside(sdpa_kernel(backend), lambda: sdpa(x, x, x))


def changed(times: int) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    for _ in range(times):
        y += 1
    y.sum().backward()


def changed_slices(times: int) -> None:
    x = torch.ones(3, requires_grad=True) * 1
    x[0] = 2
    y = x * x
    for _ in range(times):
        x[1] = 3
    y.sum().backward()


def stepped(layer: nn.Module, x: torch.Tensor, steps: int = 1) -> None:
    """Let an optimizer write to the weight of a layer between two backward passes."""
    optimizer = torch.optim.SGD(layer.parameters())
    y = layer(x.requires_grad_())
    y.sum().backward(retain_graph=True)
    for _ in range(steps):
        optimizer.step()
    y.sum().backward()


def loaded(layer: nn.Linear, **options: Any) -> object:
    """Return the result of a layer of 3 inputs and 4 outputs that got its weights anew."""
    layer.load_state_dict(nn.Linear(3, 4).state_dict(), **options)
    return layer(z(3))


def recompiled(*inputs: torch.Tensor, dynamic: bool | None = None) -> None:
    """Call a compiled function with one input after the other; compiling it again is an error."""
    torch._dynamo.reset()
    function = torch.compile(lambda x: x + 1, backend="eager", dynamic=dynamic)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for x in inputs:
            function(x)


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
        windows = z(6).unfold(0, 4, 2)
        self.a = nn.Parameter(windows[0])
        self.b = nn.Parameter(windows[1])


class Sliced(nn.Module):
    """One buffer, which is a part of a larger tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("part", z(6)[:2])


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


def sharded(weight: torch.Tensor) -> None:
    from torch.distributed.fsdp import fully_shard  # in 0.7 s, for which no other test waits

    layer = nn.Linear(2, 2, bias=False)
    layer.weight = nn.Parameter(weight)
    fully_shard(layer, mesh=init_device_mesh("cpu", (1,)))


def picture(a: np.ndarray) -> object:
    return Figure().subplots().imshow(a)


def jagged() -> torch.Tensor:
    return torch.nested.nested_tensor([z(2, 3), z(4, 3)], layout=torch.jagged)


all_to_all = distributed.all_to_all_single
all_gather = distributed.all_gather
isend = distributed.isend
DDP = nn.parallel.DistributedDataParallel


@torch.library.custom_op("stridekit_tests::same", mutates_args=())
def returns_its_input(x: torch.Tensor) -> torch.Tensor:
    return x


@torch.library.custom_op("stridekit_tests::turned", mutates_args=())
def turned(x: torch.Tensor) -> torch.Tensor:
    return x.t().clone()


@turned.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(x.shape[1], x.shape[0])


def fake(call: Callable[..., Any], real: Callable[..., Any] = torch.clone) -> None:
    """Compare a fake kernel of an operation with its real one, on a tensor of shape (3, 2)."""

    def operation(x: torch.Tensor) -> torch.Tensor:
        return real(x)

    op = torch.library.custom_op("stridekit_tests::promising", operation, mutates_args=())
    op.register_fake(call)
    torch.library.opcheck(op, (z(3, 2),), test_utils="test_faketensor")


@torch.library.custom_op("stridekit_tests::plain", mutates_args=())
def without_fake(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


def first_batch(loader: DataLoader) -> Any:
    """The first batch; the error keeps the worker, which would keep open what this process closes."""
    batches = iter(loader)
    try:
        return next(batches)
    finally:
        batches._shutdown_workers()


def opcheck() -> None:
    torch.library.opcheck(turned, (z(3, 2),))


@dataclass(eq=False)
class Row:
    """A call, the lines of its diagnosis that its numbers decide, and a call that follows the advice."""

    title: str
    call: str
    lines: dict[str, str]
    works: str
    given: str

    def error(self) -> Any:
        """Return the exception, or the first warning, or the quoted text."""
        if self.call.startswith('"'):
            return eval(self.call)
        return raised(lambda: run(self.call))


def run(source: str, /, **names: object) -> Any:
    """Return the value of an expression; a traceback shows its source."""
    linecache.cache[source] = (len(source), None, [source], source)
    return eval(compile(source, source, "eval"), {**globals(), **names})


def raised(call: Callable[[], object]) -> Any:
    """Return the exception of a call, or its first warning, which torch gives once in a process."""
    torch.set_warn_always(True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            return error
        finally:
            torch.set_warn_always(False)
    return caught[0] if caught else AssertionError("nothing was raised")


def _rows() -> list[Row]:
    """Read messages.txt, whose head explains its form."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    text = re.sub(r"\n {8}", " ", text)  # join continued lines
    rows: list[Row] = []
    for family in text.split("## ")[1:]:
        title, _, blocks = family.partition("\n")
        for calls, explanation in re.findall(
            r"((?:^\S.*\n)+)((?: {4}.*\n)+)", blocks, re.MULTILINE
        ):
            lines = dict(line.strip().split(": ", 1) for line in explanation.splitlines())
            works = lines.pop("works", "")
            given = lines.pop("given", "")
            rows += [Row(title, call, lines, works, given) for call in calls.splitlines()]
    return rows


ROWS = _rows()
