"""The GPU experiments of lesson 08: an article's figures, those of a recorded GPU, and those of yours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Any, NamedTuple

import torch
from torch.nn.functional import conv2d

from stridekit._arguments import shown
from stridekit._defaults import torch_defaults
from stridekit._table import Table, html_table
from stridekit.lessons.records import RECORDED, Record, add, read
from stridekit.timing.clocks import TimingError, why_no_cuda
from stridekit.timing.fingerprint import machine
from stridekit.timing.rounds import compare

# Its milliseconds are of %timeit: a launch and torch.cuda.synchronize() weigh in those below 0.1.
ARTICLE = "“PyTorch for Scientists!” by nikitaved, torch 2.8.0.dev20250521+cu128, GPU not named"
RECORD = RECORDED.with_name("recorded_on_gpu.json")
STRIDES, SHIFTS, RANKS = (1, 2, 4, 8, 16, 32), (0, 1, 8, 31), (2, 4, 8, 16, 32)
Functions = Iterable[Callable[[], Any]]


@dataclass(frozen=True, repr=False)
class GpuResults(Table):
    """Ratios of times, by where they are from: what `gpu_results` returns. The title names the GPUs.

    `ratios` maps "predicted", "published", "recorded" and, where there is a GPU, "here" to the time of
    each variant as a multiple of that of the first variant of its experiment. The prediction is the ratio
    of the sectors that a warp asks for, as if nothing but traffic took time. A ratio is left out where
    sectors cannot be counted or nothing was measured.

    >>> gpu_results("x.add(3)").ratios["published"]["x.add(3): stride 5"]
    2.92
    """

    ratios: Mapping[str, Mapping[str, Any]]

    def plot(self) -> Any:
        """Return a picture of the ratios as bars, those of a variant side by side."""
        from stridekit.lessons import plots  # not above: a GPU machine may have no matplotlib

        ax, (_, *where) = plots.draw_claim("the first variant", self.ratios), self.title.split("\n")
        is_here = "here" in self.ratios
        return plots.MeasuredPicture(ax, repr(self), is_here, where="\n".join(where))

    def _repr_html_(self) -> str:
        title, *where = self.title.split("\n")
        return html_table(title, self.rows, head=self.head, foot="; ".join(where), align="<>>")


@torch_defaults()
def gpu_results(*names: str) -> GpuResults:
    """Return the experiments of these names, or all: predicted, published, recorded and measured here.

    One that fails here is left out, and the title has the reason. Raises TimingError for an unknown name.

    >>> gpu_results("x.max(dim)").head[:3]
    ('experiment', 'published', 'recorded')
    """
    chosen = [e for e in EXPERIMENTS if e.name in names or not names]
    if unknown := {*names} - {e.name for e in chosen}:
        known = ", ".join(e.name for e in EXPERIMENTS)
        raise TimingError(f"no experiment is called {shown(min(unknown))}: these are {known}")
    of, stored = read(RECORD)
    ratios: dict[str, dict[str, Any]] = {"predicted": {}, "published": {}, "recorded": {}}
    sources = {"published": ARTICLE, "recorded": _gpu(of)}
    if not why_no_cuda():
        ratios["here"], sources["here"] = {}, _gpu(machine())
    for e in chosen:
        parts = [e.ratios(1), e.ratios(0), stored[e.name].ratios]
        try:
            parts += [measure(e).ratios] if "here" in ratios else []
        except Exception as error:
            sources[f"{e.name} failed"] = shorten(f"{type(error).__name__}: {error}", 180)
        for column, part in zip(ratios.values(), parts, strict=False):
            column |= {f"{e.name}: {name}": ratio for name, ratio in part.items()}
    told = [f"{name}: {text}" for name, text in sources.items() if ratios.get(name, True)]
    title = "\n".join(["time, as multiples of the first variant", *told])
    ratios = {kind: of for kind, of in ratios.items() if of}
    rows = (
        (n, *(f"{getattr(of[n], 'value', of[n]):.2f}" if n in of else "" for of in ratios.values()))
        for n in ratios["recorded"]
    )
    return GpuResults(title, ("experiment", *ratios), tuple(rows), ratios)


def measure(e: Experiment, device: str = "cuda", *, scale: int = 1, **options: Any) -> Record:
    """Compare the variants on a device; `scale` divides the sizes, `options` are those of `compare`."""
    if device == "cuda":
        torch.cuda.empty_cache()  # what the one before has left
    with torch.device(device):
        functions = e.functions(max(e.n // scale, 4))
    return Record.of(compare(functions, device=device, **options))


def record() -> None:
    """Write the record anew, on the GPU of this machine, where torch and numpy are enough."""
    RECORD.unlink(missing_ok=True)
    for e in EXPERIMENTS:
        add(RECORD, e.name, measure(e))


def _gpu(of: Mapping[str, Any]) -> str:
    return f"{of['gpu']['name']}, torch {of['torch']}, {of['date']}"


# The experiments ---------------------------------------------------------------------------------


class Experiment(NamedTuple):
    """Functions to compare, the first of them the baseline.

    `make(n)` makes them for tensors whose dims are about n, on the default device. `variants` has the
    article's milliseconds, and the sectors of 32 bytes that one warp reads and writes; Nsight Compute
    counts as many on an H200. None: the article has no number, or sectors do not explain the time.
    """

    name: str
    make: Callable[[int], Functions]
    n: int
    variants: Mapping[str, tuple[float | None, int | None]]

    def functions(self, n: int) -> dict[str, Callable[[], Any]]:
        """Return the functions by the names of their variants."""
        return dict(zip(self.variants, self.make(n), strict=True))

    def ratios(self, place: int) -> dict[str, float]:
        """Return milliseconds or sectors as multiples of those of the first variant, which is left out."""
        (_, first), *others = [(name, values[place]) for name, values in self.variants.items()]
        return {name: round(value / first, 2) for name, value in others if first and value}


def _add(n: int) -> Functions:
    x, wide, rows = torch.rand(n, n, n), torch.rand(n, n, n, 5), torch.rand(n, n, 4, n)
    views = x, x.permute(2, 1, 0), wide[..., 0], rows[..., 0, :]
    return (partial(view.add, 3) for view in views)


def _mul(n: int) -> Functions:
    x, y = torch.rand(2, n, n, n)
    pairs = [(x, y), *((x, y.transpose(*dims)) for dims in ((0, 2), (0, 1), (1, 2)))]
    pairs.append((x.transpose(0, 2), y.transpose(0, 2)))
    return (partial(torch.mul, *pair) for pair in pairs)


def _max(n: int) -> Functions:
    x = torch.rand(n, n)
    return (partial(x.max, dim) for dim in (-1, -2))


def _matmul(n: int) -> Functions:
    a, b = torch.rand(2, n, n)
    return (partial(torch.matmul, *pair) for pair in ((a, b), (a, b.mT), (a.mT, b), (a.mT, b.mT)))


def _low_rank(n: int) -> Functions:
    pairs = ((torch.rand(n, k), torch.rand(k, n)) for k in RANKS)
    return (partial(torch.matmul, *pair) for pair in pairs)


def _sweep(n: int) -> Functions:
    storage, out = torch.rand(32 * n), torch.empty(n)
    return (partial(torch.neg, storage[: n * step : step], out=out) for step in STRIDES)


def _shift(n: int) -> Functions:
    # Each row is read by one warp, and shares no sector with the next: what a warp fetches in vain
    # helps no other.
    storage, out = torch.rand(n, 64), torch.empty(n, 32)
    return (partial(torch.neg, storage[:, first : first + 32], out=out) for first in SHIFTS)


def _conv(n: int, *, channels: int) -> Functions:
    x = torch.rand(16, channels, n, n, dtype=torch.bfloat16)
    w = torch.rand(channels, channels, 3, 3, dtype=torch.bfloat16)
    last = [t.to(memory_format=torch.channels_last) for t in (x, w)]
    return (partial(conv2d, *operands, padding=1) for operands in ((x, w), last))


FORMATS = {"NCHW": (None, None), "channels-last": (None, None)}
EXPERIMENTS = (
    Experiment("x.add(3)", _add, 512, {
        # In the article, the rows with holes lie 32 rows apart, and here 4.
        "contiguous": (1.5, 8), "permuted": (1.5, 8), "stride 5": (4.38, 24), "rows with holes": (1.53, 8),
    }),
    Experiment("x * y", _mul, 512, {
        "both alike": (2.24, 12), "one transposed (0, 2)": (19.7, 40), "one transposed (0, 1)": (None, 12),
        "one transposed (1, 2)": (None, 40), "both transposed": (2.25, 12),
    }),
    Experiment("x.max(dim)", _max, 1024, {"dim -1": (0.018, None), "dim -2": (0.0264, None)}),
    Experiment("matmul", _matmul, 2048, {
        "a @ b": (0.833, None), "a @ b.mT": (0.981, None), "a.mT @ b": (0.797, None),
        "a.mT @ b.mT": (0.825, None),
    }),
    Experiment("low-rank matmul", _low_rank, 2048, {
        f"k = {k}": (taken, None)
        for k, taken in zip(RANKS, (0.0386, 0.0386, 0.0378, 0.0408, 0.0408), strict=True)
    }),
    Experiment("-x, by stride", _sweep, 2**24, {
        f"stride {step}": (None, 4 + min(4 * step, 32)) for step in STRIDES
    }),
    Experiment("-x, by first element", _shift, 2**19, {
        f"from element {first}": (None, 8 + (first % 8 > 0)) for first in SHIFTS
    }),
    Experiment("conv2d 3x3, bfloat16, 64 channels", partial(_conv, channels=64), 64, FORMATS),
    Experiment("conv2d 3x3, bfloat16, 63 channels", partial(_conv, channels=63), 64, FORMATS),
)  # fmt: skip
