"""The GPU experiments of lesson 08: live if there is a GPU, else recorded or published.

    python -m stridekit.lessons results.json

runs all of them and writes every sample, with versions, device and date. It needs torch 2.6 or newer and
stridekit, but not Jupyter. Without a GPU and without a record, the figures are those of an article, and the
rest is unmeasured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch

from stridekit._arguments import shown
from stridekit._defaults import torch_defaults
from stridekit._table import columns, html_table
from stridekit.lessons.gpu_experiments import ARTICLE, ARTICLE_GPU, EXPERIMENTS, Experiment
from stridekit.timing.clocks import TimingError, why_no_cuda
from stridekit.timing.comparison import Comparison
from stridekit.timing.rounds import compare

RECORD = Path(__file__).with_name("gpu_record.json")
HEAD = ("experiment", "variant", "ratio")
UNMEASURED = "unmeasured"


@dataclass(frozen=True, repr=False)
class GpuResults:
    """A table of ratios, and where they come from: what `gpu_results` returns.

    `source` tells if they were measured here, recorded or published, and on which GPU. `rows` has the
    experiment, the variant and its time as a multiple of the first variant's; `comparisons` has every
    sample in seconds, and is empty for published figures. `failed` says why an experiment has no
    figures. Where sectors can be counted, the table has the ratio that they predict as well: that of
    what a warp asks for, as if nothing but traffic took time.

    >>> GpuResults("published", (("sum", "by columns", "2.50"),), {})
    published
      sum  by columns  2.50
    """

    source: str
    rows: tuple[tuple[str, str, str], ...]
    comparisons: Mapping[str, Comparison]
    failed: Mapping[str, str] = field(default_factory=dict)

    def only(self, *names: str) -> GpuResults:
        """Return the results of these experiments only; an experiment without results is unmeasured.

        Raises TimingError for a name that no experiment has.

        >>> published().only("x.add(3)").rows[1]
        ('x.add(3)', 'stride 5', '2.92')
        """
        known = list(dict.fromkeys([row[0] for row in self.rows] + [e.name for e in EXPERIMENTS]))
        for name in names:
            if name not in known:
                raise TimingError(
                    f"{shown(name)} is not the name of an experiment: give {'; '.join(known)}"
                )
        rows: list[tuple[str, str, str]] = []
        for name in names:
            rows += [row for row in self.rows if row[0] == name] or [(name, "", UNMEASURED)]
        comparisons = {
            name: compared for name, compared in self.comparisons.items() if name in names
        }
        failed = {name: why for name, why in self.failed.items() if name in names}
        return replace(self, rows=tuple(rows), comparisons=comparisons, failed=failed)

    def __repr__(self) -> str:
        head, rows = self._table()
        # Two columns of numbers need their names.
        return "\n".join([self.source, *columns([head, *rows] if head != HEAD else rows)])

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return html_table(self.source, rows, head=head, named_rows=False)

    def _table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return the head and the rows; with the predicted ratios, if one of the rows has any."""
        predicted = {e.name: e.predicted for e in EXPERIMENTS}
        ratios = [predicted.get(name, {}).get(variant) for name, variant, _ in self.rows]
        if not any(ratios):
            return HEAD, self.rows
        cells = ["" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
        rows = [(*row, cell) for row, cell in zip(self.rows, cells, strict=True)]
        return (*HEAD, "predicted"), rows

    def to_json(self) -> str:
        """Return every sample of every comparison, its machine and date, and the reasons of failures."""
        samples = {
            name: json.loads(compared.to_json()) for name, compared in self.comparisons.items()
        }
        return json.dumps(samples | {name: {"failed": why} for name, why in self.failed.items()})


def gpu_results(record: Path = RECORD) -> GpuResults:
    """Return the GPU experiments: live, recorded, or published; the first line names the GPU.

    Raises TimingError for a record that this module did not write.

    >>> import torch
    >>> torch.cuda.is_available() or gpu_results(Path("none")).source.partition(",")[0]
    'not measured here'
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
    """Run every experiment on a device; `scale` divides the sizes. Raises TimingError without a GPU.

    An experiment that fails, say for want of memory, is noted with the reason, and the others go on.
    """
    if device == "cuda" and (why := why_no_cuda()):
        raise TimingError(why)
    outcomes: dict[str, Comparison | str] = {}
    for experiment in EXPERIMENTS:
        try:
            outcomes[experiment.name] = _measured(experiment, device, scale, rounds, max_seconds)
        except Exception as error:
            outcomes[experiment.name] = shorten(f"{type(error).__name__}: {error}", 200)
    return _of(outcomes, "measured here, live,")


def _measured(
    experiment: Experiment, device: str, scale: int, rounds: int | None, max_seconds: float
) -> Comparison:
    """Run one experiment. Its tensors live no longer, even if it raises."""
    if device == "cuda":
        torch.cuda.empty_cache()  # what the one before has left
    with experiment.setting():
        return compare(
            experiment.make(torch.device(device), max(experiment.n // scale, 4)),
            device=device,
            flush=experiment.flush,
            rounds=rounds,
            max_seconds=max_seconds,
            progress=False,
        )


def recorded(text: str) -> GpuResults:
    """Return the results that `to_json` wrote. Raises TimingError for another text."""
    try:
        outcomes = {name: _read(entry) for name, entry in json.loads(text).items()}
        results = _of(outcomes, "recorded")
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise TimingError(f"this is not a record of GPU results: {error}") from None
    if not results.comparisons:
        raise TimingError("this record has no results: run `python -m stridekit.lessons` again")
    return results


def _read(entry: Any) -> Comparison | str:
    """Return a comparison, or why there is none."""
    return str(entry["failed"]) if "failed" in entry else Comparison.from_json(json.dumps(entry))


def published() -> GpuResults:
    """Return the article's figures, as ratios to the first of each experiment; others are unmeasured."""
    rows = []
    for experiment in EXPERIMENTS:
        times = experiment.published
        for variant in list(experiment.sectors or times)[1:] or [""]:
            known = variant in times
            ratio = f"{times[variant] / next(iter(times.values())):.2f}" if known else UNMEASURED
            rows.append((experiment.name, variant, ratio))
    return GpuResults(
        f"not measured here, but published for {ARTICLE_GPU}, in {ARTICLE}", tuple(rows), {}
    )


def _of(outcomes: Mapping[str, Comparison | str], how: str) -> GpuResults:
    """Return the results of comparisons; a string says why there is none."""
    rows, source = [], "nothing could be measured"
    comparisons, failed = {}, {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, str):
            failed[name] = outcome
            rows.append((name, "", f"{UNMEASURED}: {outcome}"))
            continue
        comparisons[name] = outcome
        rows += [
            (name, variant, f"{ratio} {ratio.verdict}") for variant, ratio in outcome.ratios.items()
        ]
    if comparisons:
        first = next(iter(comparisons.values()))
        machine = first.machine
        where = machine["gpu"]["name"] if first.device == "cuda" else machine["processor"]
        source = f"{how} on {where}, torch {machine['torch']}, {machine['date']}"
    return GpuResults(source, tuple(rows), comparisons, failed)
