"""The GPU experiments of lesson 08: an article's figures, those of a recorded GPU, and those of yours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import torch
from torch.nn.functional import conv2d

from stridekit._arguments import shown
from stridekit._defaults import torch_defaults
from stridekit._table import Table, html_table
from stridekit.lessons.records import Record, add, read
from stridekit.timing.clocks import TimingError, why_no_cuda
from stridekit.timing.comparison import Ratio
from stridekit.timing.fingerprint import machine
from stridekit.timing.rounds import compare

# The article measured with %timeit. Below 0.1 ms, a launch and torch.cuda.synchronize() take much of that.
ARTICLE = "“PyTorch for Scientists!” by nikitaved, torch 2.8.0.dev20250521+cu128, GPU not named"
RECORD = files("stridekit.lessons") / "recorded_on_gpu.json"
STRIDES = (1, 2, 4, 8, 16, 32)
SHIFTS = (0, 1, 8, 31)
RANKS = (2, 4, 8, 16, 32)
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

        ax = plots.draw_claim("the first variant", self.ratios)
        _, *sources = self.title.split("\n")
        is_here = "here" in self.ratios
        return plots.MeasuredPicture(ax, repr(self), is_here, where="\n".join(sources))

    def _repr_html_(self) -> str:
        title, *sources = self.title.split("\n")
        return html_table(title, self.rows, head=self.head, foot="; ".join(sources), align="<>>")


@torch_defaults()
def gpu_results(*names: str) -> GpuResults:
    """Return the experiments of these names, or all: predicted, published, recorded and measured here.

    One that fails here is left out, and the title has the reason. Raises TimingError for an unknown name.

    >>> gpu_results("x.max(dim)").head[:3]
    ('experiment', 'published', 'recorded')
    """
    chosen = [e for e in EXPERIMENTS if e.name in names or not names]
    if unknown := {*names} - {e.name for e in chosen}:
        all_names = ", ".join(e.name for e in EXPERIMENTS)
        raise TimingError(f"no experiment is called {shown(min(unknown))}: these are {all_names}")
    machine_of_record, stored = read(RECORD)
    is_measured = not why_no_cuda()
    notes = {"published": ARTICLE, "recorded": _gpu(machine_of_record)}
    ratios: dict[str, dict[str, Any]] = {"predicted": {}, "published": {}, "recorded": {}}
    if is_measured:
        notes["here"] = _gpu(machine())
        ratios["here"] = {}
    for e in chosen:
        columns = {
            "predicted": e.ratios("sectors"),
            "published": e.ratios("milliseconds"),
            "recorded": stored[e.name].ratios,
        }
        if is_measured:
            try:
                columns["here"] = measure(e).ratios
            except Exception as error:  # the experiment is left out, and the title has the reason
                notes[f"{e.name} failed"] = shorten(f"{type(error).__name__}: {error}", 180)
        for source, column in columns.items():
            ratios[source] |= {f"{e.name}: {name}": ratio for name, ratio in column.items()}
    is_empty = {source for source, column in ratios.items() if not column}
    lines = [f"{name}: {note}" for name, note in notes.items() if name not in is_empty]
    title = "\n".join(["time, as multiples of the first variant", *lines])
    ratios = {source: column for source, column in ratios.items() if column}
    rows = []
    for name in ratios["recorded"]:
        cells = [_cell(column.get(name)) for column in ratios.values()]
        rows.append((name, *cells))
    return GpuResults(title, ("experiment", *ratios), tuple(rows), ratios)


def _cell(ratio: Ratio | float | None) -> str:
    """Return the text of a ratio in the table, which is empty where there is none."""
    if ratio is None:
        return ""
    return f"{ratio.value if isinstance(ratio, Ratio) else ratio:.2f}"


def measure(e: Experiment, device: str = "cuda", *, scale: int = 1, **options: Any) -> Record:
    """Compare the variants on a device; `scale` divides the sizes, `options` are those of `compare`."""
    if device == "cuda":
        torch.cuda.empty_cache()  # of the tensors of the experiment before
    with torch.device(device):
        functions = e.functions(max(e.n // scale, 4))
    return Record.of(compare(functions, device=device, **options))


def record() -> None:
    """Write the record anew, on the GPU of this machine, where torch and numpy are enough."""
    path = Path(str(RECORD))
    path.unlink(missing_ok=True)
    for e in EXPERIMENTS:
        add(path, e.name, measure(e))


def _gpu(fingerprint: Mapping[str, Any]) -> str:
    """Return the GPU, the torch and the date of a measurement."""
    return f"{fingerprint['gpu']['name']}, torch {fingerprint['torch']}, {fingerprint['date']}"


# The experiments ---------------------------------------------------------------------------------


class Variant(NamedTuple):
    """What is known of a function before it runs here.

    `milliseconds` are the article's. `sectors` of 32 bytes are those that one warp reads and writes. They
    are None where the article has no number, and where sectors do not explain the time.
    """

    milliseconds: float | None = None
    sectors: int | None = None


class Experiment(NamedTuple):
    """Functions to compare, the first of them the baseline.

    `make(n)` makes them for tensors whose dims are about n, on the default device, in the order of
    `variants`.
    """

    name: str
    make: Callable[[int], Functions]
    n: int
    variants: Mapping[str, Variant]

    def functions(self, n: int) -> dict[str, Callable[[], Any]]:
        """Return the functions by the names of their variants."""
        return dict(zip(self.variants, self.make(n), strict=True))

    def ratios(self, field: str) -> dict[str, float]:
        """Return a field of each variant as a multiple of that of the first variant, which is left out."""
        values = {name: getattr(variant, field) for name, variant in self.variants.items()}
        first_name, *other_names = values
        first = values[first_name]
        if not first:
            return {}
        return {name: round(values[name] / first, 2) for name in other_names if values[name]}


def _add(n: int) -> Functions:
    x = torch.rand(n, n, n)
    every_fifth = torch.rand(n, n, n, 5)[..., 0]
    rows_with_holes = torch.rand(n, n, 4, n)[
        ..., 0, :
    ]  # 4 rows apart; in the article, 32 rows apart
    views = [x, x.permute(2, 1, 0), every_fifth, rows_with_holes]
    return [partial(view.add, 3) for view in views]


def _mul(n: int) -> Functions:
    x, y = torch.rand(2, n, n, n)
    pairs = [
        (x, y),
        (x, y.transpose(0, 2)),
        (x, y.transpose(0, 1)),
        (x, y.transpose(1, 2)),
        (x.transpose(0, 2), y.transpose(0, 2)),
    ]
    return [partial(torch.mul, *pair) for pair in pairs]


def _max(n: int) -> Functions:
    x = torch.rand(n, n)
    return [partial(x.max, dim) for dim in (-1, -2)]


def _matmul(n: int) -> Functions:
    a, b = torch.rand(2, n, n)
    pairs = [(a, b), (a, b.mT), (a.mT, b), (a.mT, b.mT)]
    return [partial(torch.matmul, *pair) for pair in pairs]


def _low_rank(n: int) -> Functions:
    return [partial(torch.matmul, torch.rand(n, k), torch.rand(k, n)) for k in RANKS]


def _sweep(n: int) -> Functions:
    storage = torch.rand(32 * n)
    out = torch.empty(n)
    return [partial(torch.neg, storage[: n * step : step], out=out) for step in STRIDES]


def _shift(n: int) -> Functions:
    # Each row is read by one warp and shares no sector with the next one, so the unused bytes that a
    # warp fetches help no other warp.
    storage = torch.rand(n, 64)
    out = torch.empty(n, 32)
    return [partial(torch.neg, storage[:, first : first + 32], out=out) for first in SHIFTS]


def _conv(n: int, *, channels: int) -> Functions:
    x = torch.rand(16, channels, n, n, dtype=torch.bfloat16)
    w = torch.rand(channels, channels, 3, 3, dtype=torch.bfloat16)
    channels_last = [t.to(memory_format=torch.channels_last) for t in (x, w)]
    return [partial(conv2d, x, w, padding=1), partial(conv2d, *channels_last, padding=1)]


EXPERIMENTS = (
    Experiment(
        "x.add(3)",
        _add,
        512,
        {
            "contiguous": Variant(1.5, 8),
            "permuted": Variant(1.5, 8),
            "stride 5": Variant(4.38, 24),
            "rows with holes": Variant(1.53, 8),
        },
    ),
    Experiment(
        "x * y",
        _mul,
        512,
        {
            "both alike": Variant(2.24, 12),
            "one transposed (0, 2)": Variant(19.7, 40),
            "one transposed (0, 1)": Variant(sectors=12),
            "one transposed (1, 2)": Variant(sectors=40),
            "both transposed": Variant(2.25, 12),
        },
    ),
    Experiment("x.max(dim)", _max, 1024, {"dim -1": Variant(0.018), "dim -2": Variant(0.0264)}),
    Experiment(
        "matmul",
        _matmul,
        2048,
        {
            "a @ b": Variant(0.833),
            "a @ b.mT": Variant(0.981),
            "a.mT @ b": Variant(0.797),
            "a.mT @ b.mT": Variant(0.825),
        },
    ),
    Experiment(
        "low-rank matmul",
        _low_rank,
        2048,
        {
            "k = 2": Variant(0.0386),
            "k = 4": Variant(0.0386),
            "k = 8": Variant(0.0378),
            "k = 16": Variant(0.0408),
            "k = 32": Variant(0.0408),
        },
    ),
    Experiment(
        "-x, by stride",
        _sweep,
        2**24,
        {f"stride {step}": Variant(sectors=4 + min(4 * step, 32)) for step in STRIDES},
    ),
    Experiment(
        "-x, by first element",
        _shift,
        2**19,
        {f"from element {first}": Variant(sectors=8 + (first % 8 > 0)) for first in SHIFTS},
    ),
    Experiment(
        "conv2d 3x3, bfloat16, 64 channels",
        partial(_conv, channels=64),
        64,
        {"NCHW": Variant(), "channels-last": Variant()},
    ),
    Experiment(
        "conv2d 3x3, bfloat16, 63 channels",
        partial(_conv, channels=63),
        64,
        {"NCHW": Variant(), "channels-last": Variant()},
    ),
)
