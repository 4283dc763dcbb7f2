"""The GPU experiments of lesson 08: measured where there is a GPU, else an article's figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import Any, NamedTuple

import torch
from torch.nn.functional import conv2d

from stridekit._defaults import torch_defaults
from stridekit._table import columns, html_table
from stridekit.timing.clocks import why_no_cuda
from stridekit.timing.fingerprint import machine
from stridekit.timing.rounds import compare

# The article times calls with %timeit, each followed by torch.cuda.synchronize(): a launch and a wait are
# in its milliseconds, and weigh in those below 0.1.
ARTICLE = "“PyTorch for Scientists!” by nikitaved (its torch: 2.8.0.dev20250521+cu128)"
HEAD = ("experiment", "variant", "ratio", "predicted")
UNMEASURED = "unmeasured"
STRIDES, SHIFTS, RANKS = (1, 2, 4, 8, 16, 32), (0, 1, 8, 31), (2, 4, 8, 16, 32)
Functions = Iterable[Callable[[], Any]]


@dataclass(frozen=True, repr=False)
class GpuResults:
    """A table of ratios, and where they come from: what `gpu_results` returns.

    `source` tells if they were measured here or published, and on which GPU. `rows` has the experiment,
    the variant, its time as a multiple of the first variant's, and the predicted ratio: that of the sectors
    that a warp asks for, as if nothing but traffic took time. It is "" where sectors cannot be counted.

    >>> GpuResults("published", (("sum", "by columns", "2.50", "2.00"),))
    published
      experiment  variant     ratio  predicted
      sum         by columns  2.50   2.00
    """

    source: str
    rows: tuple[tuple[str, str, str, str], ...]

    def only(self, *names: str) -> GpuResults:
        """Return the results of these experiments only.

        >>> published().only("x.add(3)").rows[1]
        ('x.add(3)', 'stride 5', '2.92', '3.00')
        """
        rows = [row for name in names for row in self.rows if row[0] == name]
        return GpuResults(self.source, tuple(rows))

    def __repr__(self) -> str:
        return "\n".join([self.source, *columns([HEAD, *self.rows])])

    def _repr_html_(self) -> str:
        return html_table(self.source, self.rows, head=HEAD)


def gpu_results() -> GpuResults:
    """Return the GPU experiments, live or published; the first line names the GPU. Raises nothing.

    >>> import torch
    >>> torch.cuda.is_available() or gpu_results().source.partition(":")[0]
    'not measured here'
    """
    return published() if why_no_cuda() else run()


def published() -> GpuResults:
    """Return the article's figures, as ratios to the first of each experiment; others are unmeasured."""
    rows = []
    for experiment in EXPERIMENTS:
        known = experiment.ratios(0)
        variants = [*experiment.variants][1:]
        rows += experiment.rows({name: known.get(name, UNMEASURED) for name in variants})
    source = f"not measured here: figures of {ARTICLE}, which does not name its GPU"
    return GpuResults(source, tuple(rows))


@torch_defaults()
def run(device: str = "cuda", *, scale: int = 1, **options: Any) -> GpuResults:
    """Run every experiment on a device; `scale` divides the sizes, `options` are those of `compare`.

    An experiment that fails, say for want of memory, is noted with the reason, and the others go on.
    """
    here = machine()
    rows = []
    for experiment in EXPERIMENTS:
        if device == "cuda":
            torch.cuda.empty_cache()  # what the one before has left
        try:
            with torch.device(device):
                functions = experiment.functions(max(experiment.n // scale, 4))
            ratios = compare(functions, device=device, **options).ratios
            told = {name: f"{ratio} {ratio.verdict}" for name, ratio in ratios.items()}
        except Exception as error:
            told = {"": f"{UNMEASURED}: {shorten(f'{type(error).__name__}: {error}', 200)}"}
        rows += experiment.rows(told)
    where = here["gpu"]["name"] if device == "cuda" else here["processor"]
    source = f"measured here, live, on {where}, torch {here['torch']}, {here['date']}"
    return GpuResults(source, tuple(rows))


# The experiments ---------------------------------------------------------------------------------


class Experiment(NamedTuple):
    """Functions to compare, the first of them the baseline.

    `make(n)` makes them for tensors whose dims are about n, on the default device. `variants` has two
    numbers for each: the article's milliseconds, and the sectors of 32 bytes that one warp reads and
    writes. None stands for a number that the article does not have, or that does not explain the time.
    """

    name: str
    make: Callable[[int], Functions]
    n: int
    variants: Mapping[str, tuple[float | None, int | None]]

    def functions(self, n: int) -> dict[str, Callable[[], Any]]:
        """Return the functions by the names of their variants."""
        return dict(zip(self.variants, self.make(n), strict=True))

    def ratios(self, place: int) -> dict[str, str]:
        """Return milliseconds or sectors as multiples of those of the first variant, which is left out."""
        (_, first), *others = [(name, values[place]) for name, values in self.variants.items()]
        return {name: f"{value / first:.2f}" for name, value in others if first and value}

    def rows(self, ratios: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
        """Return a row for each of these ratios, with the predicted one."""
        predicted = self.ratios(1)
        return [(self.name, n, ratio, predicted.get(n, "")) for n, ratio in ratios.items()]


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
