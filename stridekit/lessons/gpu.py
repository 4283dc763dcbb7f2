"""The GPU experiments of lesson 08: measured where there is a GPU, else an article's figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
STRIDES, SHIFTS = (1, 2, 4, 8, 16, 32), (0, 1, 8, 31)
Functions = dict[str, Callable[[], Any]]


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
        return html_table(self.source, self.rows, head=HEAD, named_rows=False)


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
        known = _over_first(experiment.published)
        variants = [*(experiment.sectors or experiment.published)][1:] or [""]
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
                functions = experiment.make(max(experiment.n // scale, 4))
            ratios = compare(functions, device=device, progress=False, **options).ratios
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

    `make(n)` makes them for tensors whose dims are about n, on the default device. By the same names,
    `published` has the milliseconds that the article gives, and `sectors` how many sectors of 32 bytes one
    warp reads and writes, if a count of sectors answers the question.
    """

    name: str
    make: Callable[[int], Functions]
    n: int
    published: Mapping[str, float] = {}
    sectors: Mapping[str, int] = {}

    def rows(self, ratios: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
        """Return the rows of these ratios, with those that are predicted."""
        predicted = _over_first(self.sectors)
        return [(self.name, n, ratio, predicted.get(n, "")) for n, ratio in ratios.items()]


def _over_first(values: Mapping[str, float]) -> dict[str, str]:
    """Return the values as multiples of the first, which is left out."""
    (_, first), *others = values.items() or [("", 1.0)]
    return {name: f"{value / first:.2f}" for name, value in others}


def _add(n: int) -> Functions:
    x = torch.rand(n, n, n)
    views = {"contiguous": x, "permuted": x.permute(2, 1, 0)}
    views |= {"stride 5": torch.rand(n, n, n, 5)[..., 0]}
    views |= {"rows with holes": torch.rand(n, n, 4, n)[..., 0, :]}
    return {name: partial(view.add, 3) for name, view in views.items()}


def _mul(n: int) -> Functions:
    x, y = torch.rand(2, n, n, n)
    pairs = {"both alike": (x, y)}
    for dims in ((0, 2), (0, 1), (1, 2)):
        pairs[f"one transposed {dims}"] = x, y.transpose(*dims)
    pairs["both transposed"] = x.transpose(0, 2), y.transpose(0, 2)
    return {name: partial(torch.mul, *pair) for name, pair in pairs.items()}


def _max(n: int) -> Functions:
    x = torch.rand(n, n)
    return {f"dim {dim}": partial(x.max, dim) for dim in (-1, -2)}


def _matmul(n: int) -> Functions:
    a, b = torch.rand(2, n, n)
    pairs = {"a @ b": (a, b), "a @ b.mT": (a, b.mT), "a.mT @ b": (a.mT, b)}
    pairs["a.mT @ b.mT"] = a.mT, b.mT
    return {name: partial(torch.matmul, *pair) for name, pair in pairs.items()}


def _low_rank(n: int) -> Functions:
    pairs = {k: (torch.rand(n, k), torch.rand(k, n)) for k in (2, 4, 8, 16, 32)}
    return {f"k = {k}": partial(torch.matmul, *pair) for k, pair in pairs.items()}


def _sweep(n: int) -> Functions:
    storage, out = torch.rand(32 * n), torch.empty(n)
    views = {f"stride {step}": storage[: n * step : step] for step in STRIDES}
    return {name: partial(torch.neg, view, out=out) for name, view in views.items()}


def _shift(n: int) -> Functions:
    # Each row is read by one warp, and shares no sector with the next: what a warp fetches in vain
    # helps no other.
    storage, out = torch.rand(n, 64), torch.empty(n, 32)
    views = {f"from element {first}": storage[:, first : first + 32] for first in SHIFTS}
    return {name: partial(torch.neg, view, out=out) for name, view in views.items()}


def _conv(n: int, *, channels: int) -> Functions:
    x = torch.rand(16, channels, n, n, dtype=torch.bfloat16)
    w = torch.rand(channels, channels, 3, 3, dtype=torch.bfloat16)
    last = [t.to(memory_format=torch.channels_last) for t in (x, w)]
    convolve = partial(conv2d, padding=1)
    return {"NCHW": partial(convolve, x, w), "channels-last": partial(convolve, *last)}


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
    Experiment("conv2d 3x3, bfloat16, 64 channels", partial(_conv, channels=64), 64),
    Experiment("conv2d 3x3, bfloat16, 63 channels", partial(_conv, channels=63), 64),
)  # fmt: skip
