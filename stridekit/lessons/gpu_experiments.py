"""The GPU experiments of lesson 08: what is compared, what an article published, what sectors predict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import conv2d, max_pool2d

# The article times calls with %timeit, each followed by torch.cuda.synchronize(): a launch and a wait are
# in its milliseconds, and weigh in those below 0.1.
ARTICLE = "“PyTorch for Scientists!” by nikitaved (its torch: 2.8.0.dev20250521+cu128)"
ARTICLE_GPU = "a GPU that it does not name"

UNKNOWN_L2 = 32 * 2**20  # bytes, where no GPU tells: some have more, some less

Functions = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Experiment:
    """Functions to compare on a device, the first of them the baseline.

    `make(device, n)` makes them for tensors whose dims are about n. By the same names, `published` has the
    milliseconds that the article gives, and `sectors` how many sectors of 32 bytes one warp reads and
    writes, if a count of sectors answers the question. `flush` is that of `compare`, and `setting`
    holds while they run.
    """

    name: str
    make: Callable[[torch.device, int], Functions]
    n: int
    published: Mapping[str, float] = field(default_factory=dict)
    sectors: Mapping[str, int] = field(default_factory=dict)
    flush: bool = True
    setting: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def predicted(self) -> dict[str, float]:
        """The sectors of each variant as a multiple of the first one's."""
        return {
            name: count / next(iter(self.sectors.values())) for name, count in self.sectors.items()
        }


def _add(device: torch.device, n: int) -> Functions:
    x = torch.rand(n, n, n, device=device)
    wide = torch.rand(n, n, n, 5, device=device)[..., 0]
    holes = torch.rand(n, n, 4, n, device=device)[..., 0, :]
    return {
        "contiguous": partial(x.add, 3),
        "permuted": partial(x.permute(2, 1, 0).add, 3),
        "stride 5": partial(wide.add, 3),
        "rows with holes": partial(holes.add, 3),
    }


def _mul(device: torch.device, n: int) -> Functions:
    x, y = torch.rand(2, n, n, n, device=device)
    return {
        "both alike": partial(torch.mul, x, y),
        "one transposed (0, 2)": partial(torch.mul, x, y.transpose(0, 2)),
        "one transposed (0, 1)": partial(torch.mul, x, y.transpose(0, 1)),
        "one transposed (1, 2)": partial(torch.mul, x, y.transpose(1, 2)),
        "both transposed": partial(torch.mul, x.transpose(0, 2), y.transpose(0, 2)),
    }


def _max(device: torch.device, n: int) -> Functions:
    x = torch.rand(n, n, device=device)
    return {"dim -1": partial(x.max, -1), "dim -2": partial(x.max, -2)}


def _matmul(device: torch.device, n: int) -> Functions:
    a, b = torch.rand(2, n, n, device=device)
    return {
        "a @ b": partial(torch.matmul, a, b),
        "a @ b.mT": partial(torch.matmul, a, b.mT),
        "a.mT @ b": partial(torch.matmul, a.mT, b),
        "a.mT @ b.mT": partial(torch.matmul, a.mT, b.mT),
    }


def _low_rank(device: torch.device, n: int) -> Functions:
    def product(k: int) -> Callable[[], Tensor]:
        x, y = torch.rand(n, k, device=device), torch.rand(k, n, device=device)
        return partial(torch.matmul, x, y)

    return {f"k = {k}": product(k) for k in (2, 4, 8, 16, 32)}


def _sweep(device: torch.device, n: int) -> Functions:
    storage, out = torch.rand(32 * n, device=device), torch.empty(n, device=device)
    return {
        f"stride {step}": partial(torch.neg, storage[: n * step : step], out=out)
        for step in STRIDES
    }


def _shift(device: torch.device, n: int) -> Functions:
    # Each row is read by one warp, and shares no sector with the next: what a warp fetches in vain
    # helps no other.
    storage, out = torch.rand(n, 64, device=device), torch.empty(n, 32, device=device)
    return {
        f"from element {first}": partial(torch.neg, storage[:, first : first + 32], out=out)
        for first in SHIFTS
    }


def _l2_bytes(device: torch.device) -> int:
    if device.type != "cuda":
        return UNKNOWN_L2
    return torch.cuda.get_device_properties(device).L2_cache_size or UNKNOWN_L2


def _l2(device: torch.device, n: int) -> Functions:
    # For n = 64, a chunk is a quarter of the L2. Every call reads one: the same one, or the next of 16. The
    # calls of a sample follow one another, so only the first finds what another function left behind.
    chunks = torch.rand(16, _l2_bytes(device) // 1024 * n, device=device).unbind()
    return {
        "the same quarter of L2": partial(_sum_next, cycle(chunks[:1])),
        "16 quarters in turn": partial(_sum_next, cycle(chunks)),
    }


def _sum_next(chunks: Iterator[Tensor]) -> Tensor:
    return next(chunks).sum()


def _conv(device: torch.device, n: int, *, channels: int, dtype: torch.dtype) -> Functions:
    x = torch.rand(16, channels, n, n, device=device, dtype=dtype)
    w = torch.rand(channels, channels, 3, 3, device=device, dtype=dtype)
    last = torch.channels_last
    return {
        "NCHW": partial(conv2d, x, w, padding=1),
        "channels-last": partial(
            conv2d, x.to(memory_format=last), w.to(memory_format=last), padding=1
        ),
    }


@contextmanager
def without_tf32() -> Iterator[None]:
    """Convolutions of float32 stay off the tensor cores; afterwards all is as before."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def _pool(device: torch.device, n: int) -> Functions:
    x = torch.rand(16, 64, n, n, device=device)
    return {
        "NCHW": partial(max_pool2d, x, 3, 2),
        "channels-last": partial(max_pool2d, x.to(memory_format=torch.channels_last), 3, 2),
    }


def _host_copy(device: torch.device, n: int, *, back: bool) -> Functions:
    """Copies of n elements from the host, or `back` to it; a stride is that of the source.

    Copies from pageable memory block the host, and events still time them: the first event passes while
    the host works, the second after the copy. So what the host does in between counts, as it should:
    it gathers a strided source, and stages pageable memory. Only what it does while the clock
    holds the queue goes unseen, about 20 microseconds a call, and such a copy takes milliseconds.
    """

    def rand(size: int, on_host: bool, pinned: bool) -> Tensor:
        pin = on_host and pinned and device.type == "cuda"  # without a GPU, no memory can be pinned
        return torch.rand(size, device="cpu" if on_host else device, pin_memory=pin)

    def copy(pinned: bool, step: int) -> Callable[[], Tensor]:
        source = rand(step * n, not back, pinned)[::step]
        return partial(rand(n, back, pinned).copy_, source, non_blocking=pinned)

    return {
        "pageable": copy(False, 1),
        "pinned": copy(True, 1),
        "pageable, stride 2": copy(False, 2),
        "pinned, stride 2": copy(True, 2),
    }


STRIDES, SHIFTS = (1, 2, 4, 8, 16, 32), (0, 1, 8, 31)

EXPERIMENTS = (
    Experiment(
        "x.add(3)", _add, 512,
        # In the article, the rows with holes lie 32 rows apart, and here 4.
        published={"contiguous": 1.5, "permuted": 1.5, "stride 5": 4.38, "rows with holes": 1.53},
        sectors={"contiguous": 8, "permuted": 8, "stride 5": 24, "rows with holes": 8},
    ),
    Experiment(
        "x * y", _mul, 512,
        published={"both alike": 2.24, "one transposed (0, 2)": 19.7, "both transposed": 2.25},
        sectors={
            "both alike": 12, "one transposed (0, 2)": 40, "one transposed (0, 1)": 12,
            "one transposed (1, 2)": 40, "both transposed": 12,
        },
    ),
    Experiment("x.max(dim)", _max, 1024, published={"dim -1": 0.018, "dim -2": 0.0264}),
    Experiment(
        "matmul", _matmul, 2048,
        published={"a @ b": 0.833, "a @ b.mT": 0.981, "a.mT @ b": 0.797, "a.mT @ b.mT": 0.825},
    ),
    Experiment(
        "low-rank matmul", _low_rank, 2048,
        published={
            "k = 2": 0.0386, "k = 4": 0.0386, "k = 8": 0.0378, "k = 16": 0.0408, "k = 32": 0.0408,
        },
    ),
    Experiment(
        "-x, by stride", _sweep, 2**24,
        sectors={f"stride {step}": 4 + min(4 * step, 32) for step in STRIDES},
    ),
    Experiment(
        "-x, by first element", _shift, 2**19,
        sectors={f"from element {first}": 8 + (first % 8 > 0) for first in SHIFTS},
    ),
    Experiment("x.sum(), in L2 or not", _l2, 64, flush=False),
    *(
        Experiment(f"conv2d 3x3, bfloat16, {channels} channels",
                   partial(_conv, channels=channels, dtype=torch.bfloat16), 64)
        for channels in (64, 63)
    ),
    Experiment("conv2d 3x3, float32 without TF32, 64 channels",
               partial(_conv, channels=64, dtype=torch.float32), 64, setting=without_tf32),
    Experiment("max_pool2d 3x3", _pool, 128),
    Experiment("copy, host to GPU", partial(_host_copy, back=False), 2**24, flush=False),
    Experiment("copy, GPU to host", partial(_host_copy, back=True), 2**24, flush=False),
)  # fmt: skip
