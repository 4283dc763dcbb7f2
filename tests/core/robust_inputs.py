"""Every kind of value that a function may get for a tensor, and junk for its other arguments, by name."""

import warnings

import numpy as np
import torch
from numpy.lib.stride_tricks import as_strided
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit import Layout


class Plain(torch.Tensor):
    """A subclass that returns results of its own class, as most subclasses do."""


class Wrapper(torch.Tensor):
    """A subclass that holds the memory of another tensor, and may claim any numbers of its own."""

    @staticmethod
    def __new__(cls, inner, **claimed):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, **claimed)

    def __init__(self, inner, **claimed):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def unwrapped(x):
            return x.inner if isinstance(x, cls) else x

        return func(*map(unwrapped, args), **(kwargs or {}))


def grid(dtype=torch.float32):
    numbers = torch.arange(24).to(dtype)
    if dtype.is_complex:
        numbers = numbers * (1 + 2j)
    return numbers.view(4, 6)[1:, ::2]


def resized(nbytes):
    t = torch.ones(3, 4)
    t.untyped_storage().resize_(nbytes)
    return t


def fake():
    with FakeTensorMode():
        return torch.empty(3, 4)


def lazy_clone():
    return torch._lazy_clone(torch.ones(3, 4))


def nested(**options):
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], **options)


# The kinds of values. A table of expectations may name a single kind, or one of these groups.
GROUPS = {
    "no tensors": {
        "None": lambda: None,
        "int": lambda: 3,
        "str": lambda: "x",
        "class": lambda: int,
        "class Tensor": lambda: torch.Tensor,
        "memoryview": lambda: memoryview(b"abcd"),
    },
    "tensors without strides": {
        "coo": lambda: torch.eye(3).to_sparse(),
        "csr": lambda: torch.eye(3).to_sparse_csr(),
        "mkldnn": lambda: torch.eye(3).to_mkldnn(),
        "nested": nested,
        "jagged": lambda: nested(layout=torch.jagged),
        "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        "uninitialized": torch.nn.UninitializedParameter,
    },
    "meta tensors": {
        "meta": lambda: torch.empty(3, 4, device="meta"),
        "meta 10**18": lambda: torch.empty((), device="meta").expand(10**9, 10**9),
        "meta 2**62": lambda: torch.empty_strided((2,), (2**62,), dtype=torch.int8, device="meta"),
        "fake": fake,
        "fake empty": lambda: FakeTensorMode().from_tensor(torch.ones(0)),
    },
    "wrapped tensors": {
        "wrapper": lambda: Wrapper(torch.ones(3, 4)),
        "functional": lambda: torch._to_functional_tensor(torch.ones(3, 4)),
        "vmap": lambda: torch.ones(3, 4),  # `meet` hands over one row of it
        "grad": lambda: torch.ones(3, 4),
        "functionalize": lambda: torch.ones(3, 4),
    },
    "tensors": {
        "grid": grid,
        "empty": lambda: torch.ones(0, 3),
        "0-d": lambda: torch.tensor(2.5),
        "requires_grad": lambda: torch.ones(3, 4, requires_grad=True),
        "Parameter": lambda: torch.nn.Parameter(torch.ones(3, 4)),
        "subclass": lambda: grid().as_subclass(Plain),
        "conj": lambda: grid(torch.complex64).conj(),
        "neg": lambda: torch._neg_view(grid()),
        "imag of conj": lambda: grid(torch.complex64).conj().imag,
        "bool": lambda: grid(torch.bool),
        "bfloat16": lambda: grid(torch.bfloat16),
        "float8": lambda: grid(torch.float8_e4m3fn),
        "inference": torch.inference_mode()(grid),
        "lazy clone": lazy_clone,
        "expanded 10**18": lambda: torch.ones(()).expand(10**9, 10**9),
        "windows": lambda: torch.arange(10).unfold(0, 4, 2),
        "of NumPy": lambda: torch.from_numpy(np.arange(12.0)[3:].reshape(3, 3)),
        "in FakeTensorMode": lambda: torch.ones(3, 4),  # made outside, handed over inside
    },
    "shrunk tensors": {
        "shrunk": lambda: resized(20),
        "shrunk to 0": lambda: resized(0),
    },
    "arrays": {
        "array": lambda: np.arange(24.0).reshape(4, 6)[1:, ::2],
        "array empty": lambda: np.ones((0, 3)),
        "array 0-d": lambda: np.array(2.5),
        "big-endian": lambda: np.arange(12, dtype=">f4").reshape(3, 4).T,
        "of torch": lambda: torch.arange(12.0).view(3, 4)[:, 1:].numpy(),
        "masked": lambda: np.ma.masked_greater(np.arange(6.0), 3),
        "object array": lambda: np.array([None, "a", 3], object),
        "array 10**18": lambda: np.broadcast_to(np.float32(1), (10**9, 10**9)),
        "array 2**62": lambda: as_strided(np.zeros(1, np.int8), (2,), (2**62,)),
        "field": lambda: np.zeros(5, [("a", "i4"), ("b", "f4")])["b"],
        "negative": lambda: np.arange(12.0).reshape(3, 4)[::-1, 1:],
        "structured": lambda: np.zeros(5, [("a", "i4"), ("b", "f8")]),
    },
    # Their elements lie at no whole number of elements, or have no bytes.
    "uneven arrays": {
        "packed field": lambda: np.zeros(5, [("a", "i1"), ("b", "f4")])["b"],
        "no bytes": lambda: np.zeros(3, "V0"),
    },
    "layouts": {
        "layout": lambda: Layout((4, 6), itemsize=4)[1:, ::2],
        "layout empty": lambda: Layout((0, 3)),
        "layout 0-d": lambda: Layout((), itemsize=8),
        "layout 10**12": lambda: Layout((10**6, 10**6)),
        "layout 2**62": lambda: Layout((2,), (2**62,)),
        "layout negative": lambda: Layout((3, 4), (-4, 1), 8),
        "layout 3 bytes": lambda: Layout((3, 4), itemsize=3),
    },
}
FLOAT4 = getattr(torch, "float4_e2m1fn_x2", None)  # not in torch 2.6
GROUPS["float4"] = (
    {"float4": lambda: torch.zeros(6, dtype=torch.uint8).view(FLOAT4)} if FLOAT4 else {}
)
INPUTS = {kind: make for group in GROUPS.values() for kind, make in group.items()}

# For some kinds: a part of the message with which each function refuses them.
WORDS = {
    "None": "a NoneType",
    "coo": "sparse_coo tensor keeps indices and values apart",
    "csr": "sparse_csr tensor keeps indices and values",
    "nested": "a nested tensor is several tensors",
    "jagged": "a nested tensor is several tensors",
    "quantized": "quantized tensor (torch.qint8) stores integers",
    "uninitialized": "UninitializedParameter has no shape and no memory",
    "meta": "a meta tensor has a shape and a stride but no memory",
    "fake": "this FakeTensor has no memory of its own",
    "wrapper": "this Wrapper has no memory of its own",
    "functional": "this Tensor has no memory of its own",
    "array": "torch.from_numpy shares an array's memory",
    "vmap": "inside vmap or grad",
    "grad": "inside vmap or grad",
    "functionalize": "inside vmap or grad",
    "in FakeTensorMode": "there is nothing to read into: read outside of it",
}

# Values for an argument that is not a tensor.
JUNK = {
    "None": lambda: None,
    "True": lambda: True,
    "1.0": lambda: 1.0,
    "nan": lambda: float("nan"),
    "'x'": lambda: "x",
    "[]": list,
    "['x']": lambda: ["x"],
    "{}": dict,
    "object": object,
    "class": lambda: torch.Tensor,
    "-7": lambda: -7,
    "10**30": lambda: 10**30,
    "matrix": lambda: torch.ones(2, 2),
    "meta": lambda: torch.ones((), device="meta"),
    "array": lambda: np.arange(3.0),
    "nested": nested,
}


def meet(kind, call):
    """Return `call(x)` for an x of this kind, inside its mode or transform, without torch's warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = INPUTS[kind]()
        if kind == "in FakeTensorMode":
            with FakeTensorMode(allow_non_fake_inputs=True):
                return call(x)
        if kind not in ("vmap", "grad", "functionalize"):
            return call(x)
        results = []

        def inside(row):
            results.append(call(row))
            return row.sum()

        transform = getattr(torch.func, kind)
        transform(inside)(x)
        return results[0]
