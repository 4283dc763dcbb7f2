"""`make bench`: measure the marks that stridekit sets itself, as ratios or medians of one run.

`make bench BENCH_ARGS="memory audit"` measures some of them: memory, audit, latency.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import timeit
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from chromium import find_chromium, running_browser
from stridekit import Layout, audit, has_internal_overlap, is_view, memset, shares_memory, widgets
from stridekit.timing import compare
from stridekit.widgets import StrideExplorer, palette
from stridekit.widgets.offline import offline_page

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "memory-sets.png"
SIZES = (10**3, 10**6, 10**9, 10**12)


def pairs(x: Any) -> list[tuple[Any, Any]]:
    """Return views of an (n, n, n, n) tensor or Layout, in pairs as real code makes them."""
    return [
        (x[::2], x[1::2]),  # even rows, odd rows
        (x[1:, :-1], x),
        (x.permute(3, 0, 1, 2)[1:], x[..., 1:]),
        (x[..., ::2], x[..., ::3]),
        (x[:, 1:, :, ::2], x[:, 1:, :, ::2]),
        (x.unfold(3, 3, 1), x),
        (x.diagonal(1, 0, 3), x[:, :, ::6]),
        (x.diagonal(0, 0, 3), x[:, ::2, ::3]),
        (x.diagonal(0, 0, 2)[..., 1:], x[:, 1:, :, ::3]),
    ]


def filled(x: Layout) -> set[int]:
    """Return the elements that a layout reaches, one by one."""
    steps = [range(0, n * s, s) if s else (0,) * n for n, s in zip(x.shape, x.stride, strict=True)]
    return set(map(sum, product((x.storage_offset,), *steps)))


def numpy_micros(y: Layout, x: Layout) -> float:
    """Return the microseconds of numpy.shares_memory, or infinity where NumPy gives up."""

    def array(layout: Layout) -> Any:  # over memory that does not exist
        interface = {
            "version": 3,
            "typestr": "<f4",
            "shape": layout.shape,
            "strides": tuple(layout.itemsize * s for s in layout.stride),
            "data": ((1 << 40) + layout.storage_offset * layout.itemsize, True),
        }
        return np.asarray(SimpleNamespace(__array_interface__=interface))

    # NumPy's stub knows only two values of max_work.
    shares = partial(np.shares_memory, array(y), array(x), max_work=10**7)  # type: ignore[arg-type]
    try:
        once = timeit.timeit(shares, number=1)
    except np.exceptions.TooHardError:  # after about a second
        return float("inf")
    return micros(shares, max(1, int(1e-3 / once)), 5)


def micros(ask: Callable[[], object], calls: int = 40, rounds: int = 15) -> float:
    """Return the median microseconds of a call."""
    return statistics.median(timeit.repeat(ask, repeat=rounds, number=calls)) / calls * 1e6


# Who answers which question, how, and for how many elements at most.
QUESTIONS: dict[tuple[str, str], tuple[Callable[[Any, Any], float], int]] = {
    ("stridekit", "subset"): (lambda y, x: micros(partial(is_view, y, x)), 10**12),
    ("stridekit", "overlap"): (lambda y, x: micros(partial(shares_memory, y, x)), 10**12),
    ("stridekit", "internal overlap"): (lambda y, x: micros(lambda: has_internal_overlap(y)), 10**12),
    ("stridekit", "count"): (lambda y, x: micros(lambda: len(memset(y))), 10**12),
    ("numpy.shares_memory", "overlap"): (numpy_micros, 10**12),
    ("Python sets", "subset"): (lambda y, x: micros(lambda: filled(y) <= filled(x), 1, 1), 10**6),
    ("Python sets", "overlap"): (lambda y, x: micros(lambda: filled(y) & filled(x), 1, 1), 10**6),
}  # fmt: skip


def memory_sets() -> None:
    """Print the median of each question at each size, and draw the picture of the README."""
    times = {key: dict[int, list[float]]() for key in QUESTIONS}
    for numel in SIZES:
        views = pairs(Layout((round(numel ** (1 / 4)),) * 4, itemsize=4))
        for key, (ask, most) in QUESTIONS.items():
            if numel <= most:
                times[key][numel] = [ask(y, x) for y, x in views]
    print("memory sets: microseconds a question at 10^3, 10^6, 10^9 and 10^12 elements")
    for (who, question), rows in times.items():
        medians = (f"{statistics.median(row):10,.1f}" for row in rows.values())
        print(f"  {who:<20} {question:<17}", *medians)
    ours = [rows[SIZES[-1]] for (who, _), rows in times.items() if who == "stridekit"]
    print(
        f"  our slowest median at 10^12: {max(map(statistics.median, ours)):.1f} µs, the mark is 20"
    )
    with plt.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        draw(times).savefig(PICTURE, dpi=110)
    print(f"plot: {PICTURE}")


def draw(times: dict[tuple[str, str], dict[int, list[float]]]) -> Any:
    """Draw median time against size, with a band from the quickest to the slowest pair."""
    looks = {"stridekit": (1, "o-"), "numpy.shares_memory": (0, "s--"), "Python sets": (2, "^:")}
    titles = {"overlap": "Do y and x share a byte?", "subset": "Is y a view of x?"}
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for axes, (question, title) in zip(panels, titles.items(), strict=True):
        axes.set(xscale="log", yscale="log", xlabel="elements of the base", xticks=SIZES)
        axes.set_title(title, loc="left", fontweight="bold")
        axes.grid(axis="y", color=palette.LINE[0], linewidth=0.6)
        for who, (dim, style) in looks.items():
            colour, rows = palette.DIMS[dim][0], times.get((who, question), {})
            known = [[m for m in row if m < float("inf")] for row in rows.values()]
            medians, least, most = ([*map(of, known)] for of in (statistics.median, min, max))
            axes.plot([*rows], medians, style, color=colour, label=who if rows else None)
            axes.fill_between([*rows], least, most, color=colour, alpha=0.12)
            for (numel, row), less, top in zip(rows.items(), known, most, strict=True):
                if hard := len(row) - len(less):
                    text = f"TooHardError\nfor {hard} of {len(row)} pairs"
                    axes.plot([numel], [top], "x", markersize=9, color=colour)
                    looks_like = {"textcoords": "offset points", "ha": "right", "color": colour}
                    axes.annotate(text, (numel, top), (0, 8), **looks_like)
    panels[0].set_ylabel("microseconds a question")
    about = "median of nine pairs of views;\nband: the quickest to the slowest"
    handles = panels[0].get_legend_handles_labels()
    panels[1].legend(*handles, frameon=False, loc="upper right", title=about, alignment="left")
    return figure


# Watching, drawing ----------------------------------------------------------------------------------


def audits() -> None:
    """Print the time of an audited forward pass as a ratio to the plain one, on one thread."""
    torch.set_num_threads(1)
    layers = [nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()] * 3
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    for model, x in (
        (nn.Sequential(*layers).eval(), torch.randn(4, 64, 56, 56)),
        (nn.TransformerEncoder(layer, 6, enable_nested_tensor=False), torch.randn(4, 64, 256)),
    ):
        ways: dict[str, Callable[[], Any]] = {
            "plain": partial(model, x),
            "audited": partial(audit, model, x),
        }
        with torch.no_grad():
            ratio = compare(ways, max_seconds=60).ratios["audited"]
        print(f"audit of a {type(model).__name__}: {ratio} times as long as the plain pass")
    short, long = (
        min(timeit.repeat(partial(audit, _steps, n), number=1, repeat=3)) for n in (1000, 4000)
    )
    print(f"audit of 4,000 steps in place: {long / short:.1f} times 1,000 of them; the mark is 5")


def _steps(count: int) -> None:
    """Take steps of SGD, each with a transposed copy of the weight."""
    weight, gradient = torch.rand(64, 64), torch.rand(64, 64)
    for _ in range(count):
        weight.mul_(0.9).sub_(gradient, alpha=0.1)
        weight.t().reshape(-1)


# From the key event to the message that a frame's callback sends: after the paint, before what was put off.
WATCH = """({ ownerDocument }) => {
  globalThis.waits = [];
  ownerDocument.addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => waits.push(performance.now() - timeStamp);
    channel.port2.postMessage(0);
  }), true);
}"""


def latency(presses: int = 60) -> None:
    """Print the time from a key press on a slider to the painted frame, for each explorer with sliders."""
    if find_chromium() is None:
        print("latency: not measured, because Chromium is not installed")
        return
    strides = [StrideExplorer(Layout((n, m)), 2 * n * m) for n, m in ((6, 8), (64, 64))]
    kinds = "Attention Cache ChannelsLast Traversal"
    others = [getattr(widgets, f"{kind}Explorer")() for kind in kinds.split()]
    with tempfile.TemporaryDirectory() as folder, running_browser() as browser:
        for explorer in (*strides, *others):
            file = Path(folder) / "page.html"
            file.write_text(offline_page([explorer]), "utf-8")
            page = browser.new_page()
            page.goto(file.as_uri())
            slider = page.locator(".sk-offset input, input[type=range]").first
            slider.evaluate(WATCH)
            for k in range(presses):
                slider.press("ArrowRight" if k % 2 == 0 else "ArrowLeft")
                page.wait_for_timeout(50)
            print(
                f"key press to frame, {type(explorer).__name__}:", summary(page.evaluate("waits"))
            )


def summary(waits: list[float]) -> str:
    """Return the median of milliseconds, and what nineteen of twenty stay below."""
    p95 = statistics.quantiles(waits, n=20, method="inclusive")[-1]
    return f"median {statistics.median(waits):.1f} ms (mark 12), p95 {p95:.1f} ms (mark 30)"


MARKS: dict[str, Callable[[], object]] = {
    "memory": memory_sets,
    "audit": audits,
    "latency": latency,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or MARKS:
        if name not in MARKS:
            sys.exit(f"no mark is called {name}: {', '.join(MARKS)} are")
        MARKS[name]()
