"""`make bench`: measure the marks that stridekit sets itself, as ratios or medians of one run.

`make bench BENCH_ARGS="audit latency"` measures two of the marks: memory, audit and latency.
`make bench BENCH_ARGS="memory --picture"` also draws docs/memory-sets.png, a picture of the guide.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import timeit
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import torch
from playwright.sync_api import Browser
from torch import nn

from chromium import find_chromium, running_browser
from stridekit import Layout, audit, has_internal_overlap, is_view, memset, shares_memory, widgets
from stridekit.timing import compare
from stridekit.widgets import StrideExplorer, palette
from stridekit.widgets.offline import offline_page

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "memory-sets.png"
SIZES = (10**3, 10**6, 10**9, 10**12)
NOWHERE = 0x100_0000_0000  # an address: NumPy compares arrays without a look at their memory
NUMPY_WORK = 10**7  # NumPy gives up after about a second


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


def elements(x: Layout) -> set[int]:
    """Return the elements that a layout reaches, one by one."""
    offsets = [
        range(0, size * stride, stride) if stride else [0]
        for size, stride in zip(x.shape, x.stride, strict=True)
    ]
    return {x.storage_offset + sum(steps) for steps in product(*offsets)}


def micros(question: Callable[[], object], calls: int = 40, rounds: int = 15) -> float:
    """Return the median microseconds of a call."""
    timer = timeit.Timer(question, timer=time.perf_counter)
    return statistics.median(timer.repeat(rounds, calls)) / calls * 1e6


def numpy_array(x: Layout) -> Any:
    """Return an array with a layout, over memory that does not exist."""
    interface = {
        "version": 3,
        "typestr": "<f4",
        "shape": x.shape,
        "strides": tuple(x.itemsize * stride for stride in x.stride),
        "data": (NOWHERE + x.storage_offset * x.itemsize, True),
    }
    return np.asarray(SimpleNamespace(__array_interface__=interface))


def numpy_micros(y: Layout, x: Layout) -> float:
    """Return the microseconds of numpy.shares_memory, or infinity where NumPy gives up."""
    arrays = numpy_array(y), numpy_array(x)
    # NumPy's stub accepts only two values of max_work.
    shares = partial(np.shares_memory, *arrays, max_work=NUMPY_WORK)  # type: ignore[arg-type]
    try:
        first = micros(shares, calls=1, rounds=1)
    except np.exceptions.TooHardError:
        return float("inf")
    return micros(shares, calls=max(1, int(1000 / first)), rounds=5)


class Question(NamedTuple):
    """A question about two views, and how one library answers it.

    `micros` measures the answer for `y` and `x`, whose base has at most `most_elements`.
    """

    library: str
    text: str
    micros: Callable[[Any, Any], float]
    most_elements: int = 10**12


QUESTIONS = [
    Question("stridekit", "subset", lambda y, x: micros(lambda: is_view(y, x))),
    Question("stridekit", "overlap", lambda y, x: micros(lambda: shares_memory(y, x))),
    Question("stridekit", "internal overlap", lambda y, x: micros(lambda: has_internal_overlap(y))),
    Question("stridekit", "count", lambda y, x: micros(lambda: len(memset(y)))),
    Question("numpy.shares_memory", "overlap", numpy_micros),
    Question(
        "Python sets",
        "subset",
        lambda y, x: micros(lambda: elements(y) <= elements(x), calls=1, rounds=1),
        most_elements=10**6,
    ),
    Question(
        "Python sets",
        "overlap",
        lambda y, x: micros(lambda: elements(y) & elements(x), calls=1, rounds=1),
        most_elements=10**6,
    ),
]
# The microseconds of a library's answer to a question: for each size, one for each pair of views.
Times = dict[tuple[str, str], dict[int, list[float]]]


def memory_sets(draws_picture: bool) -> None:
    """Print the median of each question at each size, and draw them if asked to."""
    times = measure_questions()
    print("memory sets: microseconds a question at 10^3, 10^6, 10^9 and 10^12 elements")
    slowest = 0.0
    for (library, text), rows in times.items():
        medians = [statistics.median(row) for row in rows.values()]
        print(f"  {library:<20} {text:<17}", *(f"{median:10,.1f}" for median in medians))
        if library == "stridekit":
            slowest = max(slowest, medians[-1])
    print(f"  stridekit's slowest median at 10^12: {slowest:.1f} µs, the mark is 20")
    if draws_picture:
        style = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
        with plt.rc_context(style):
            draw(times).savefig(PICTURE, dpi=110)
        print(f"plot: {PICTURE}")


def measure_questions() -> Times:
    """Return the time of each question about each pair of views, at each size that it can take."""
    times: Times = {(question.library, question.text): {} for question in QUESTIONS}
    for numel in SIZES:
        size = round(numel ** (1 / 4))
        views = pairs(Layout((size, size, size, size), itemsize=4))
        for question in QUESTIONS:
            if numel <= question.most_elements:
                answers = [question.micros(y, x) for y, x in views]
                times[question.library, question.text][numel] = answers
    return times


def draw(times: Times) -> Any:
    """Draw median time against size, with a band from the quickest to the slowest pair."""
    looks = {
        "stridekit": (palette.DIMS[1][0], "o-"),
        "numpy.shares_memory": (palette.DIMS[0][0], "s--"),
        "Python sets": (palette.DIMS[2][0], "^:"),
    }
    titles = {"overlap": "Do y and x share a byte?", "subset": "Is y a view of x?"}
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for axes, (question, title) in zip(panels, titles.items(), strict=True):
        axes.set(xscale="log", yscale="log", xlabel="elements of the base", xticks=SIZES)
        axes.set_title(title, loc="left", fontweight="bold")
        axes.grid(axis="y", color=palette.LINE[0], linewidth=0.6)
        for library, (colour, style) in looks.items():
            if rows := times.get((library, question)):
                draw_curve(axes, rows, library, colour, style)
    panels[0].set_ylabel("microseconds a question")
    handles, names = panels[0].get_legend_handles_labels()
    note = "median of nine pairs of views;\nband: the quickest to the slowest"
    look = {"frameon": False, "loc": "upper right", "alignment": "left"}
    panels[1].legend(handles, names, title=note, **look)
    return figure


def draw_curve(
    axes: Any, rows: dict[int, list[float]], library: str, colour: str, style: str
) -> None:
    """Draw the times of a library, with a cross where it gives up for some pairs."""
    medians = []
    quickest = []
    slowest = []
    for numel, row in rows.items():
        answered = [time for time in row if time < float("inf")]
        medians.append(statistics.median(answered))
        quickest.append(min(answered))
        slowest.append(max(answered))
        if len(answered) < len(row):
            axes.plot([numel], [slowest[-1]], "x", markersize=9, color=colour)
            axes.annotate(
                f"TooHardError\nfor {len(row) - len(answered)} of {len(row)} pairs",
                (numel, slowest[-1]),
                (0, 8),
                textcoords="offset points",
                ha="right",
                color=colour,
            )
    axes.plot([*rows], medians, style, color=colour, label=library)
    axes.fill_between([*rows], quickest, slowest, color=colour, alpha=0.12)


# Audits, key presses --------------------------------------------------------------------------------


def audits() -> None:
    """Print the time of an audited forward pass as a ratio to the plain one, on one thread."""
    torch.set_num_threads(1)
    blocks = [nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU()] * 3
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
    print_audit_ratio(nn.Sequential(*blocks).eval(), torch.randn(4, 64, 56, 56))
    print_audit_ratio(encoder, torch.randn(4, 64, 256))
    few, many = (micros(partial(audit, take_steps, count), 1, 3) for count in (1000, 4000))
    print(f"audit of 4,000 steps in place: {many / few:.1f} times 1,000 of them; the mark is 5")


def print_audit_ratio(model: nn.Module, x: torch.Tensor) -> None:
    """Print how much longer a forward pass of a model takes while it is audited."""
    passes: dict[str, Callable[[], Any]] = {
        "plain": partial(model, x),
        "audited": partial(audit, model, x),
    }
    with torch.no_grad():
        ratio = compare(passes, max_seconds=60).ratios["audited"]
    print(f"audit of a {type(model).__name__}: {ratio} times as long as the plain pass")


def take_steps(count: int) -> None:
    """Take steps of SGD, each with a transposed copy of the weight."""
    weight = torch.rand(64, 64)
    gradient = torch.rand(64, 64)
    for _ in range(count):
        weight.mul_(0.9).sub_(gradient, alpha=0.1)
        weight.t().reshape(-1)


# The time from the key event to a message that a frame's callback sends, which arrives after the paint.
WATCH = """({ ownerDocument }) => {
  globalThis.waits = [];
  ownerDocument.addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => waits.push(performance.now() - timeStamp);
    channel.port2.postMessage(0);
  }), true);
}"""


def explorers() -> list[Any]:
    """Return the explorers with sliders."""
    return [
        StrideExplorer(Layout((6, 8)), 2 * 6 * 8),
        StrideExplorer(Layout((64, 64)), 2 * 64 * 64),
        widgets.AttentionExplorer(),
        widgets.CacheExplorer(),
        widgets.ChannelsLastExplorer(),
        widgets.TraversalExplorer(),
    ]


def latency() -> None:
    """Print the time from a key press on a slider to the painted frame, for each explorer."""
    if find_chromium() is None:
        print("latency: not measured, because Chromium is not installed")
        return
    with running_browser() as browser:
        for explorer in explorers():
            waits = measure_latency(browser, explorer)
            print(f"key press to frame, {type(explorer).__name__}: {summary(waits)}")


def measure_latency(browser: Browser, explorer: Any, rounds: int = 30) -> list[float]:
    """Return the milliseconds from each press of a key on the first slider to the painted frame.

    A round is a step there and a step back.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(offline_page([explorer]), "utf-8")
        page = browser.new_page()
        page.goto(file.as_uri())
        slider = page.locator(".sk-offset input, input[type=range]").first
        slider.evaluate(WATCH)
        for key in ("ArrowRight", "ArrowLeft") * rounds:
            slider.press(key)
            page.wait_for_timeout(50)
        waits = page.evaluate("waits")
        page.close()
    return list(waits)


def summary(waits: list[float]) -> str:
    """Return the median and the 95th percentile of some milliseconds."""
    p95 = statistics.quantiles(waits, n=20, method="inclusive")[-1]
    return f"median {statistics.median(waits):.1f} ms (mark 12), p95 {p95:.1f} ms (mark 30)"


def main() -> None:
    """Measure the marks that the command line names, or all of them."""
    parser = argparse.ArgumentParser(description="Measure the marks that stridekit sets itself.")
    parser.add_argument("marks", nargs="*", metavar="mark", help="memory, audit or latency")
    parser.add_argument("--picture", action="store_true", help="draw docs/memory-sets.png again")
    options = parser.parse_args()
    marks: dict[str, Callable[[], object]] = {
        "memory": partial(memory_sets, options.picture),
        "audit": audits,
        "latency": latency,
    }
    for name in options.marks:
        if name not in marks:
            parser.error(f"no mark is called {name}: {', '.join(marks)} are")
    for name in options.marks or marks:
        marks[name]()


if __name__ == "__main__":
    main()
