"""Values without a layout or without memory, and a sentence of the error each of them deserves."""

import warnings

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # nested and quantized tensors are deprecated or prototypes
    NO_LAYOUT = {
        "list": ([1, 2], "a list has no"),
        "None": (None, "a NoneType has no"),
        "number": (3.5, "a float has no"),
        "sparse_coo": (
            torch.eye(3).to_sparse(),
            "sparse_coo tensor keeps indices and values apart",
        ),
        "sparse_csr": (torch.eye(3).to_sparse_csr(), "sparse_csr tensor keeps indices and values"),
        "nested": (
            torch.nested.nested_tensor([torch.ones(2)]),
            "a nested tensor is several tensors",
        ),
        "jagged": (
            torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged),
            "a nested tensor is several tensors",
        ),
        "quantized": (
            torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
            "quantized tensor (torch.qint8) stores integers",
        ),
    }

with FakeTensorMode():
    _FAKE = torch.empty(3, 4)

NO_MEMORY = {
    "meta": (
        torch.empty(3, 4, device="meta"),
        "a meta tensor has a shape and a stride but no memory",
    ),
    "fake": (_FAKE, "this FakeTensor has no memory of its own"),
}
