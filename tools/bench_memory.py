"""The cost of asking about memory: memory sets beside NumPy and sets, the raw reader beside memcpy.

The same pairs of views of an (n, n, n, n) tensor are asked at each size, from 10^3 to 10^12, in one run.
Layouts and NumPy's arrays take no memory for that: their numbers are true, their bytes do not exist.
"""

from __future__ import annotations

import ctypes
import statistics
import timeit
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch

from stridekit import (
    Layout,
    has_internal_overlap,
    is_view,
    memset,
    palette,
    read_storage,
    shares_memory,
)
from stridekit._table import columns
from stridekit.timing import compare

SIZES = (10**3, 10**6, 10**9, 10**12)
Questions = dict[str, Callable[[Any, Any], Any]]
QUESTIONS: Questions = {
    "subset": is_view,
    "overlap": shares_memory,
    "internal overlap": lambda y, x: has_internal_overlap(y),
    "count": lambda y, x: len(memset(y)),
}
PICTURE = Path(__file__).parent.parent / "docs" / "memory-sets.png"
MARK, MARK_TENSORS = 20, 60  # microseconds
LOOKS = {
    "stridekit": (palette.DIMS[1][0], "o", "-"),
    "numpy.shares_memory": (palette.DIMS[0][0], "s", "--"),
    "Python sets": (palette.DIMS[2][0], "^", ":"),
}
WORK = 10**7  # what NumPy may try before it raises TooHardError: about a second
GIB = 1 << 30
ROUNDS = 4


def pairs(x: Any) -> dict[str, tuple[Any, Any]]:
    """(y, x) as real code makes them; x is (n, n, n, n), a Layout or a tensor."""
    return {
        "even rows, odd rows": (x[::2], x[1::2]),
        "block, whole": (x[1:, :-1], x),
        "transposed, block": (x.permute(3, 0, 1, 2)[1:], x[..., 1:]),
        "columns by 2, by 3": (x[..., ::2], x[..., ::3]),
        "a copy's columns, the same": (x[:, 1:, :, ::2], x[:, 1:, :, ::2]),
        "windows of 3, whole": (x.unfold(3, 3, 1), x),
        "diagonal, every 6th row": (x.diagonal(1, 0, 3), x[:, :, ::6]),
        "diagonal, rows by 2 and 3": (x.diagonal(0, 0, 3), x[:, ::2, ::3]),
        "diagonal, columns by 3": (x.diagonal(0, 0, 2)[..., 1:], x[:, 1:, :, ::3]),
    }


Times = dict[tuple[str, str], dict[int, list[float]]]
"""Microseconds for each pair of views, by who is asked what, and by the number of elements."""


def memory_sets() -> None:
    """Print one table of medians over all pairs and the marks, and plot the same numbers."""
    found: Times = defaultdict(lambda: defaultdict(list))
    for numel in SIZES:
        shape = (round(numel ** (1 / 4)),) * 4
        layout = Layout(shape, itemsize=4)
        _ask(found, "stridekit", QUESTIONS, numel, layout)
        for y, x in pairs(layout).values():
            found["numpy.shares_memory", "overlap"][numel].append(_numpy(_array(y), _array(x)))
        if numel <= 10**6:
            _ask(found, "Python sets", WITH_SETS, numel, layout, 3 if numel <= 10**4 else 1, 1)
        if numel <= 10**9:
            base = torch.empty(shape, dtype=torch.float32)  # reserved, never touched
            _ask(found, "from tensors", QUESTIONS, numel, base)
    _print(found)
    draw(found).savefig(PICTURE, dpi=110)
    print(f"plot: {PICTURE.relative_to(PICTURE.parent.parent)}")


def _ask(
    found: Times, who: str, questions: Questions, numel: int, base: Any, *repeats: int
) -> None:
    """Time each question about each pair of views of a base."""
    for y, x in pairs(base).values():
        for question, ask in questions.items():
            found[who, question][numel].append(_micros(partial(ask, y, x), *repeats))


def _filled(x: Layout) -> set[int]:
    steps = [range(0, n * s, s) if s else (0,) * n for n, s in zip(x.shape, x.stride, strict=True)]
    return set(map(sum, product((x.storage_offset,), *steps)))


WITH_SETS: Questions = {
    "subset": lambda y, x: _filled(y) <= _filled(x),
    "overlap": lambda y, x: not _filled(y).isdisjoint(_filled(x)),
    "internal overlap": lambda y, x: len(_filled(y)) < y.numel,
    "count": lambda y, x: len(_filled(y)),
}


def _array(x: Layout) -> Any:
    """NumPy's array of a layout, over memory that does not exist."""
    told = {
        "version": 3,
        "typestr": "<f4",
        "shape": x.shape,
        "strides": tuple(x.itemsize * s for s in x.stride),
        "data": ((1 << 40) + x.storage_offset * x.itemsize, True),
    }
    return np.asarray(SimpleNamespace(__array_interface__=told))


def _numpy(a: Any, b: Any) -> float:
    """Microseconds, or infinity where NumPy gives up."""
    # NumPy's stub knows only two values of max_work.
    shares = partial(np.shares_memory, a, b, max_work=WORK)  # type: ignore[arg-type]
    try:
        once = timeit.timeit(shares, number=1)
    except np.exceptions.TooHardError:
        return float("inf")
    return _micros(shares, 5, max(1, int(1e-3 / once)))


def _micros(ask: Callable[[], Any], rounds: int = 15, calls: int = 40) -> float:
    """The median round's time of one call."""
    return statistics.median(timeit.repeat(ask, repeat=rounds, number=calls)) / calls * 1e6


def _print(found: Times) -> None:
    print("memory sets: microseconds a question, median (slowest pair)")
    head = ("", "", *(f"10^{len(str(n)) - 1}" for n in SIZES))
    cells = [(*key, *(_cell(rows.get(n, [])) for n in SIZES)) for key, rows in found.items()]
    print("\n".join(columns([head, *cells], "<<>")))
    at_most = max(statistics.median(found["stridekit", q][SIZES[-1]]) for q in QUESTIONS)
    tensors = max(max(map(statistics.median, found["from tensors", q].values())) for q in QUESTIONS)
    print(
        f"the slowest median at 10^12: {at_most:.1f} µs, the mark is {MARK}; from tensors "
        f"{tensors:.1f} µs, the mark is {MARK_TENSORS}"
    )


def _cell(micros: list[float]) -> str:
    if not micros:
        return "–"
    hard = sum(m == float("inf") for m in micros)
    known = [m for m in micros if m < float("inf")]
    text = f"{_short(statistics.median(known))} ({_short(max(known))})" if known else ""
    return f"{text} {hard} too hard".strip() if hard else text


def _short(micros: float) -> str:
    if micros >= 1e5:
        return f"{micros / 1e6:.1f} s"
    return f"{micros:.1f}" if micros < 100 else f"{micros:,.0f}"


def draw(found: Times) -> Any:
    """Median time against size on logarithmic axes: overlap, beside NumPy, and subset, beside sets."""
    with plt.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
        for axes, question in zip(panels, ("overlap", "subset"), strict=True):
            axes.set(xscale="log", yscale="log", xlabel="elements of the base", xticks=SIZES)
            title = {"overlap": "Do y and x share a byte?", "subset": "Is y a view of x?"}
            axes.set_title(title[question], loc="left", fontweight="bold")
            axes.grid(axis="y", color=palette.LINE[0], linewidth=0.6)
            for who, (colour, marker, style) in LOOKS.items():
                rows = found.get((who, question), {})
                if rows:
                    _line(axes, rows, who, colour, marker, style)
        panels[0].set_ylabel("microseconds a question")
        panels[1].legend(
            *panels[0].get_legend_handles_labels(),
            frameon=False,
            loc="upper right",
            title="median of nine pairs of views;\nband: the quickest to the slowest",
            alignment="left",
        )
    return figure


def _line(
    axes: Any, rows: dict[int, list[float]], who: str, colour: str, marker: str, style: str
) -> None:
    """The median of a method at each size, and a band from its quickest to its slowest pair."""
    known = {n: [m for m in micros if m < float("inf")] for n, micros in rows.items()}
    medians, least, most = (list(map(of, known.values())) for of in (statistics.median, min, max))
    axes.plot(list(rows), medians, style, color=colour, marker=marker, label=who)
    axes.fill_between(list(rows), least, most, color=colour, alpha=0.12)
    for n, top in zip(rows, most, strict=True):
        hard, look = len(rows[n]) - len(known[n]), {"color": colour}
        if hard:
            text = f"TooHardError\nfor {hard} of {len(rows[n])} pairs"
            axes.plot([n], [top], marker="x", markersize=9, linestyle="none", **look)
            axes.annotate(text, (n, top), (0, 8), textcoords="offset points", ha="right", **look)


# The raw reader -------------------------------------------------------------------------------------


def storage_bandwidth(nbytes: int = GIB, rounds: int = ROUNDS) -> dict[str, float]:
    """The bandwidth of `read_storage` as a multiple of memcpy's, by the kind of memory it writes to.

    Memory that was never touched has to be fetched from the system page by page. So each way is
    compared with a memcpy into memory of the same kind.
    """
    source = torch.full((nbytes,), 7, dtype=torch.uint8)
    view = source.view(torch.float32)[1:]  # an offset: the storage is larger than the tensor
    warm = torch.ones(nbytes // 4)  # every page of it is there before the first round
    ways: dict[str, tuple[str, Callable[[], object], Callable[[], object]]] = {
        "warm": (
            "read_storage(x, out=…)",
            lambda: _memcpy(warm, source),
            lambda: read_storage(view, out=warm),
        ),
        "fresh": (
            "read_storage(x)",
            lambda: _memcpy(torch.empty(nbytes // 4), source),
            lambda: read_storage(view),
        ),
    }
    threads, ratios = torch.get_num_threads(), {}
    for memory, (call, memcpy, reader) in ways.items():
        both = {"memcpy": memcpy, "reader": reader}
        found = compare(both, rounds=rounds, threads=threads, progress=False)
        ratios[memory] = 1 / found.ratios["reader"].value
        # The lower quartile: what else the machine does only ever adds.
        speed = {who: nbytes / GIB / found.measurement(who).quartiles[0] for who in both}
        print(
            f"{call} into {memory} memory: {speed['reader']:.1f} GiB/s, {ratios[memory]:.2f} times "
            f"memcpy's {speed['memcpy']:.1f}; the mark is 0.9 (threads: {threads}, rounds: {rounds})"
        )
    return ratios


def _memcpy(target: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    ctypes.memmove(target.data_ptr(), source.data_ptr(), source.nbytes)
    return target
