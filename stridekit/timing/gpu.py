"""The GPU experiments of lesson 05: live if there is a GPU, else recorded or published.

    python -m stridekit.timing results.json

runs all of them and writes every sample, with versions, device and date. It needs torch 2.6 or newer and
stridekit, but not Jupyter. Without a GPU and without a record, the figures are those that an article
published for its own GPU, and the table says so: nothing pretends to have been measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import conv2d, max_pool2d

from stridekit._defaults import torch_defaults
from stridekit._table import columns, html_table
from stridekit.timing.clocks import TimingError, why_no_cuda
from stridekit.timing.comparing import compare
from stridekit.timing.comparison import Comparison

RECORD = Path(__file__).with_name("gpu_record.json")
Functions = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Experiment:
    """Functions to compare on a device, the first of them the baseline.

    `make(device, n)` makes them for tensors whose dims are about n; `published` has the milliseconds
    that an article gives for the same question, by the same names, if it does.
    """

    name: str
    make: Callable[[torch.device, int], Functions]
    n: int
    published: Mapping[str, float]


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

    def copy(stride: int) -> Callable[[], Tensor]:
        return partial(out.copy_, storage[: n * stride : stride])

    return {f"stride {stride}": copy(stride) for stride in (1, 2, 4, 8, 16, 32)}


def _conv(device: torch.device, n: int) -> Functions:
    x = torch.rand(16, 64, n, n, device=device, dtype=torch.bfloat16)
    w = torch.rand(64, 64, 3, 3, device=device, dtype=torch.bfloat16)
    last = torch.channels_last
    return {
        "NCHW": partial(conv2d, x, w, padding=1),
        "channels-last": partial(
            conv2d, x.to(memory_format=last), w.to(memory_format=last), padding=1
        ),
    }


def _pool(device: torch.device, n: int) -> Functions:
    x = torch.rand(16, 64, n, n, device=device)
    return {
        "NCHW": partial(max_pool2d, x, 3, 2),
        "channels-last": partial(max_pool2d, x.to(memory_format=torch.channels_last), 3, 2),
    }


EXPERIMENTS = (
    Experiment(
        "x.add(3)", _add, 512,
        {"contiguous": 1.5, "permuted": 1.5, "stride 5": 4.38, "rows with holes": 1.53},
    ),
    Experiment(
        "x * y", _mul, 512,
        {"both alike": 2.24, "one transposed (0, 2)": 19.7, "both transposed": 2.25},
    ),
    Experiment("x.max(dim)", _max, 1024, {"dim -1": 0.018, "dim -2": 0.0264}),
    Experiment(
        "matmul", _matmul, 2048,
        {"a @ b": 0.833, "a @ b.mT": 0.981, "a.mT @ b": 0.797, "a.mT @ b.mT": 0.825},
    ),
    Experiment(
        "low-rank matmul", _low_rank, 2048,
        {"k = 2": 0.0386, "k = 4": 0.0386, "k = 8": 0.0378, "k = 16": 0.0408, "k = 32": 0.0408},
    ),
    Experiment("copy, by stride", _sweep, 2**24, {}),
    Experiment("conv2d 3x3, bfloat16", _conv, 64, {}),
    Experiment("max_pool2d 3x3", _pool, 128, {}),
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class GpuResults:
    """A table of ratios, and where they come from: what `gpu_results` returns.

    `source` tells if they were measured here, recorded or published. `rows` has the experiment, the
    variant and its time as a multiple of the first variant's; `comparisons` has every sample in seconds,
    and is empty for published figures.

    >>> GpuResults("published", (("sum", "by columns", "2.50"),), {})
    published
      sum  by columns  2.50
    """

    source: str
    rows: tuple[tuple[str, str, str], ...]
    comparisons: Mapping[str, Comparison]

    def __repr__(self) -> str:
        return "\n".join([self.source, *columns(self.rows)])

    def _repr_html_(self) -> str:
        head = ("experiment", "variant", "ratio")
        return html_table(self.source, self.rows, head=head, named_rows=False)

    def to_json(self) -> str:
        """Every sample of every comparison, with the machine and the date."""
        return json.dumps(
            {name: json.loads(one.to_json()) for name, one in self.comparisons.items()}
        )


def gpu_results(record: Path = RECORD) -> GpuResults:
    """The GPU experiments: live, recorded, or published; the first line says which.

    Raises TimingError for a record that this module did not write.

    >>> import torch
    >>> torch.cuda.is_available() or gpu_results(Path("none")).source
    'published figures of an article, for its own GPU: not measured here'
    """
    if not why_no_cuda():
        return run()
    if record.exists():
        return recorded(record.read_text(encoding="utf-8"))
    return published()


@torch_defaults()
def run(
    device: str = "cuda", *, scale: int = 1, rounds: int | None = None, max_seconds: float = 2.0
) -> GpuResults:
    """Run every experiment on a device; `scale` divides the sizes. Raises TimingError without a GPU."""
    if device == "cuda" and (why := why_no_cuda()):
        raise TimingError(why)
    comparisons = {}
    for experiment in EXPERIMENTS:
        functions = experiment.make(torch.device(device), max(experiment.n // scale, 4))
        comparisons[experiment.name] = compare(
            functions, device=device, rounds=rounds, max_seconds=max_seconds, progress=False
        )
        del functions
        if device == "cuda":
            torch.cuda.empty_cache()
    return _of(comparisons, "measured here, live")


def recorded(text: str) -> GpuResults:
    """The results that `to_json` wrote. Raises TimingError for another text."""
    try:
        found = json.loads(text)
        comparisons = {name: Comparison.from_json(json.dumps(one)) for name, one in found.items()}
    except (ValueError, AttributeError) as error:
        raise TimingError(f"this is not a record of GPU results: {error}") from None
    if not comparisons:
        raise TimingError("this record has no results: run `python -m stridekit.timing` again")
    machine = next(iter(comparisons.values())).machine
    where = (machine["gpu"] or {"name": machine["processor"]})["name"]
    return _of(comparisons, f"recorded on {where}, torch {machine['torch']}, {machine['date']}")


def published() -> GpuResults:
    """The figures of the article, as ratios to the first of each experiment."""
    rows = []
    for experiment in EXPERIMENTS:
        times = experiment.published
        rows += [
            (experiment.name, variant, f"{times[variant] / next(iter(times.values())):.2f}")
            for variant in list(times)[1:]
        ]
    source = "published figures of an article, for its own GPU: not measured here"
    return GpuResults(source, tuple(rows), {})


def _of(comparisons: Mapping[str, Comparison], source: str) -> GpuResults:
    rows = [
        (name, variant, f"{ratio} {ratio.verdict}")
        for name, comparison in comparisons.items()
        for variant, ratio in comparison.ratios.items()
    ]
    return GpuResults(source, tuple(rows), comparisons)
