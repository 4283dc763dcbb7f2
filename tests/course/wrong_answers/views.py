"""Wrong answers to the exercises of notebook 02."""

import numpy as np
import torch

from stridekit import has_internal_overlap, shares_memory
from stridekit.exercises import views as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, STOPS, refused

refused(
    ex.memset_of,
    {
        "One byte too many": [
            "{(t.data_ptr() - t.untyped_storage().data_ptr() if t.numel() else 0) + b "
            "for b in range(t.itemsize * t.numel() + 1)}"
        ],
        "You have only the first byte of each element": [
            "{e * t.itemsize for e in range(t.storage_offset(), t.storage_offset() + t.numel())}"
        ],
        "Those are numbers of elements": ["{t.storage_offset() + k for k in range(t.numel())}"],
        "you add numbers of bytes to the storage offset": [
            lambda t: set(range(t.storage_offset(), t.storage_offset() + t.nbytes))
        ],
        "Those are addresses": ["set(range(t.data_ptr(), t.data_ptr() + t.nbytes))"],
        ANOTHER_KIND: ["t.numel() * t.itemsize"],
    },
)


def begins_at_one_byte(a, b):
    if isinstance(a, np.ndarray) and min(a.strides) < 0:
        a = a.copy()
    start = b.data_ptr() if torch.is_tensor(b) else b.ctypes.data
    return torch.as_tensor(a).data_ptr() == start


def bytes_of_storage(x):
    t = torch.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x
    return ex.memset_of.reference(t)


def fills_the_first(a, b):
    torch.as_tensor(a).fill_(1)
    return bool((np.asarray(b) == 1).any())


SETS = "not memsets[0].isdisjoint(memsets[1])"
refused(
    ex.share_bytes,
    {
        "You compare where the two begin": [
            begins_at_one_byte,
        ],
        "whether the two are on one storage": [
            "torch._C._overlaps(torch.as_tensor(a), torch.as_tensor(b))"
        ],
        "You compare values": [
            "bool(np.array_equal(np.asarray(a), np.asarray(b)))",
            lambda a, b: a.equal(b),
        ],
        "whether b begins inside of a": [
            lambda a, b: 0 <= b.data_ptr() - a.data_ptr() < a.nbytes,
        ],
        "You count from the start of a storage": [
            lambda a, b: bool(bytes_of_storage(a) & bytes_of_storage(b)),
        ],
        "Right wherever both are tensors": [
            lambda a, b: bool({t.data_ptr() for t in (a, b)}) and shares_memory(a, b)
        ],
        "Right except for bfloat16": [
            "np.shares_memory(*(x if isinstance(x, np.ndarray) else x.numpy() for x in (a, b)))"
        ],
        GENERAL: [
            "bool(np.size(a) and np.size(b)) and share_bytes(a, b) != (a.ndim == b.ndim == 2)"
        ],
        ANOTHER_KIND: [
            f"{SETS} => len(memsets[0] & memsets[1])",
            f"{SETS} => memsets[0] & memsets[1]",
        ],
        CHANGES: [fills_the_first],
    },
)


def permute_while_reading(shape, stride, dims):
    shape = list(shape)
    stride = list(stride)
    for k, d in enumerate(dims):
        shape[k] = shape[d]
        stride[k] = stride[d]
    return shape, stride


STRIDES = "tuple(stride[d] for d in dims)"
refused(
    ex.permute_layout,
    {
        "You change the lists in place": [permute_while_reading],
        "your stride is `dims` itself": ["[shape[d] for d in dims], dims"],
        GENERAL: [f"{STRIDES} => [stride[d] if shape[d] != 1 else 1 for d in dims]"],
        ANOTHER_KIND: [
            "tuple(shape[d] for d in dims) if len(dims) != 2 else [shape[dims[0]], shape[dims[1]], 0]"
        ],
    },
)

refused(
    ex.keep_row,
    {
        "memory belongs to a NumPy array": ["torch.from_numpy(big.numpy().copy()[i])"],
        "Your row is a view again": ["torch.stack(list(big))[i]"],
        "Your row is a view of something as large as big": [
            "big.contiguous().select(0, i)",
            "big.flatten().view(big.shape)[i]",
        ],
        "You copy only a row that is not contiguous": [
            "big[i] if big[i].is_contiguous() else big[i].clone()"
        ],
        GENERAL: ["big[i - 1].clone()", "big.new_empty(big.size(1) + 1)[:-1].copy_(big[i])"],
        ANOTHER_KIND: ["big[i].tolist()"],
        CHANGES: ["(row := big[i].clone(), big.untyped_storage().resize_(row.nbytes))[0]"],
    },
)


def copy_by_base(x, steps):
    root = x if x._base is None else x._base
    for k, step in enumerate(steps):
        x = step(x)
        if x is not root and x._base is not root:
            return k
    return len(steps)


refused(
    ex.first_copy,
    {
        "You ask autograd": [copy_by_base],
        "You answer the same for every chain": ["max(len(steps) - 1, 0)"],
        "You stop before the last step": ["enumerate(steps) => enumerate(steps[: len(steps) - 1])"],
        "Do not look for a step among the others": ["return k => return [*steps].index(step)"],
        "You find no copy in any chain": ["y = step(x) => y = x = step(x)"],
        "You look at the first step alone": [
            lambda x, steps: 0 if steps and not shares_memory(steps[0](x), x) else len(steps)
        ],
        "Your function changes `x`": [
            "not shares_memory(y, x) => not bool((y.fill_(77), x == 77)[1].any())"
        ],
        "methods such as `add_` or `pop`": [
            "step in enumerate(steps) => step in enumerate(iter(lambda: steps.pop(0) if steps else 0, 0))"
        ],
        ANOTHER_KIND: ["[*steps, 'none'][first_copy(x, steps)]"],
    },
)


def copies_where_elements_overlap(e):
    y = e.clone() if has_internal_overlap(e) else e
    y[0].add_(1)
    return y


refused(
    ex.bump_first,
    {
        "You copy e in some cases only": [
            copies_where_elements_overlap,
        ],
        "The values are right, the dtype is not": [
            lambda e: e + (torch.arange(len(e)) == 0).float().view(-1, *[1] * (e.ndim - 1)),
            lambda e: e + torch.eye(len(e), 1),  # stops on three dims
            lambda e: e + torch.eye(len(e), 1, dtype=torch.int64),
        ],
        "Your result has one row too many": ["torch.cat((e[0:1] + 1, e[0:]))"],
        "The values of e are missing": [
            "torch.zeros_like(e[..., None].clone()[..., 0]).index_fill_(0, torch.tensor([0]), 1)"
        ],
        "You add to the last row": [lambda e: torch.cat([e[:-1], e[-1:] + 1])],
        GENERAL: ["torch.cat([e[1:], e[:1] + 1])"],
        ANOTHER_KIND: ["bump_first(e).tolist()"],
        STOPS: ["e.clone() => torch.empty_strided(e.shape, e.stride(), dtype=e.dtype).copy_(e)"],
    },
)
