"""Pictures of predictions and measurements: each function returns the Axes of a new figure.

Each mark has its own colour and label, shape or line. Times are ratios; a note names the recorded machine.
pyplot does not know the figures, so a notebook shows each once: the output of its cell.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from operator import itemgetter
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from PIL import Image

from stridekit.timing.comparison import Ratio
from stridekit.widgets import palette

BLUE, RUST, GREEN = palette.DIMS[1][0], palette.DIMS[0][0], palette.DIMS[2][0]
INK, MUTED, LINE = palette.INK[0], palette.MUTED[0], palette.LINE[0]
DPI = 130
CURVES = [(BLUE, "o", "-"), (RUST, "s", "--"), (GREEN, "^", ":")]  # differ without colour too
# The colours of predictions and measurements, the looks of their bars, and their names.
KINDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "predicted": (BLUE, {"facecolor": "white", "edgecolor": BLUE, "hatch": "//"}, "predicted"),
    "published": (MUTED, {"color": LINE}, "published"),
    "recorded": (RUST, {"color": RUST}, "recorded, with\nits 95 % interval"),
    "here": (GREEN, {"color": GREEN}, "measured here, with\nits 95 % interval"),
}
NOTE_LETTERS, ROW_LETTERS = 138, 21  # in a line
# The line of an interval: its white edge keeps it apart from a bar.
HALO = [withStroke(linewidth=3, foreground="white")]
WHISKER: dict[str, Any] = {
    "color": INK, "linewidth": 1.2, "marker": "|", "markersize": 7, "path_effects": HALO,
}  # fmt: skip
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)}  # where a legend stands
IN_DATA = "data", "axes fraction"  # of the x axis
DOTTED: dict[str, Any] = {"linewidth": 1, "linestyle": (0, (2, 3))}
in_style = rc_context({
    "text.parse_math": False,  # names are shown as they are, with each $
    "font.size": 8, "figure.facecolor": "white", "axes.facecolor": "white", "text.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": LINE,
    "axes.labelsize": 9, "axes.labelcolor": INK, "axes.titlesize": 9, "axes.titlelocation": "left",
    "xtick.labelsize": 9, "xtick.labelcolor": INK, "xtick.color": MUTED,
    "ytick.labelsize": 9, "ytick.labelcolor": INK, "ytick.color": MUTED, "legend.frameon": False,
    "figure.constrained_layout.w_pad": 0.12, "figure.constrained_layout.h_pad": 0.08,
})  # fmt: skip
# In an output's metadata: its picture is on white paper. JupyterLab and pages turn it over in the dark.
ON_WHITE = {"needs_background": "light"}
# Where this variable is set, a measured picture has a second one for phones, of this kind and width.
IS_FOR_PAGES, NARROW, NARROW_INCHES = "STRIDEKIT_PAGES", "application/vnd.stridekit.narrow+png", 3.8


def in_words(ratio: Ratio | float) -> str:
    """Put a ratio of times into words, with its verdict.

    >>> in_words(0.0934), in_words(Ratio(1.3, 0.9, 1.6)), in_words(1.02)
    ('10.7x faster', '1.3x, inconclusive', 'same')
    """
    if not isinstance(ratio, Ratio):
        ratio = Ratio(ratio, ratio, ratio)
    if ratio.verdict == "same":
        return "same"
    if ratio.verdict == "inconclusive":
        return f"{ratio.value:.3g}x, inconclusive"
    return f"{1 / ratio.value if 0 < ratio.value < 1 else ratio.value:.3g}x {ratio.verdict}"


@in_style
def draw_claim(baseline: str, kinds: Mapping[str, Mapping[str, Any]]) -> Axes:
    """Draw predicted ratios beside measured ones: bars as long as the time, where the baseline takes 1.

    `kinds` maps "predicted" and "published" to numbers, "recorded" and "here" to a `timing.Ratio`, each for
    some names. The grey band is "same": within 5 %. The line on a measured bar is its interval.
    """
    names = dict.fromkeys(name for values in kinds.values() for name in values)
    bars = len(kinds) * len(names)
    height = 1.15 + min(0.26 * bars, max(3.0, 0.15 * bars))
    ax = Figure((8, height), layout="constrained").subplots()
    ax.axvspan(0.95, 1.05, color=LINE, alpha=0.6, linewidth=0)
    ax.axvline(1, color=MUTED, linewidth=1)
    _say(ax, "1: no difference", (1, 1), (0, 3), color=MUTED, ha="center", xycoords=IN_DATA)
    ratios = [ratio for values in kinds.values() for ratio in values.values()]
    longest = max([getattr(ratio, "high", ratio) for ratio in ratios] + [1])
    ax.set_xlim(0, longest * 1.35)  # words stand to the right
    rows = {name: row for row, name in enumerate(names)}
    for place, (kind, values) in enumerate(kinds.items()):
        off = 0.8 * ((place + 0.5) / len(kinds) - 0.5)
        for name, ratio in values.items():
            y, length, end = rows[name] + off, ratio, ratio
            if isinstance(ratio, Ratio):
                length, end = ratio.value, ratio.high
                ax.plot([ratio.low, end], [y, y], **WHISKER)
            ax.barh(y, length, 0.72 / len(kinds), **KINDS[kind][1])
            _say(ax, in_words(ratio), (max(end, 1), y), (7, 0), va="center", path_effects=HALO)
    lines = [wrap(name, ROW_LETTERS, break_on_hyphens=False) or [name] for name in rows]
    ax.set_yticks(range(len(rows)), ["\n".join(name) for name in lines])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlabel(f"time, as multiples of “{baseline}”", wrap=True)
    ax.legend(handles=[Patch(label=KINDS[kind][2], **KINDS[kind][1]) for kind in kinds], **BESIDE)
    return ax


@in_style
def draw_sweep(
    steps: Sequence[float],
    curves: Mapping[str, Sequence[Any]],
    *,
    xlabel: str = "stride, in elements",
    ylabel: str = "times stride 1",
    marks: Mapping[float, str] | None = None,
) -> Axes:
    """Draw one to three curves over a sweep of strides, on logarithmic axes; `marks` labels some strides.

    A curve has a number for each step, or a `timing.Ratio`, which is drawn with its interval.
    """
    ax = Figure((8, 3.2), layout="constrained").subplots()
    _log_axes(ax, 2)
    ax.axhline(1, color=MUTED, linewidth=1, zorder=0)
    named = {}
    for (name, values), (color, marker, line) in zip(curves.items(), CURVES, strict=False):
        points = [getattr(value, "value", value) for value in values]
        [named[name]] = ax.plot(steps, points, marker + line, color=color)
        for step, value in zip(steps, values, strict=True):
            if hasattr(value, "low"):
                ax.plot([step] * 2, [value.low, value.high], color=color, marker="_", markersize=9)
    for k, (at, text) in enumerate((marks or {}).items()):
        ax.axvline(at, color=MUTED, **DOTTED)
        above = 3 + 12 * (k % 2)  # neighbours in two lines
        _say(ax, text, (at, 0), (3, above), color=MUTED, xycoords=IN_DATA)
    ax.set_xlabel(xlabel, wrap=True)
    ax.set_ylabel(ylabel)
    ax.legend([*named.values()], [*named])
    return ax


@in_style
def draw_runs(kinds: Mapping[str, Sequence[float]]) -> Axes:
    """Draw runs in order, as multiples of the lower quartile of their kind, with the mean of the first.

    `kinds` maps "recorded", "here" or both to the seconds of runs of one function.
    """
    ax = Figure((8, 2.4), layout="constrained").subplots()
    ratios = {kind: np.array(runs) / np.quantile(runs, 0.25) for kind, runs in kinds.items()}
    named = {}
    for (kind, multiples), mark in zip(ratios.items(), ".x", strict=False):
        look: Any = {"color": KINDS[kind][0], "markersize": 4}
        [named[kind]] = ax.plot(range(1, len(multiples) + 1), multiples, mark, **look)
    if len(named) > 1:
        ax.legend([*named.values()], [*named])
    mean = float(np.mean(next(iter(ratios.values()))))
    ax.axhline(1, color=INK, linewidth=1)
    ax.axhline(mean, color=BLUE, linewidth=1, linestyle="--")
    where: Any = {"xycoords": ("axes fraction", "data")}
    _say(ax, "lower quartile", (1, 1), va="top", **where)
    _say(ax, "mean", (1, mean), color=BLUE, va="bottom", **where)
    ax.set_yscale("log", base=2)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("run")
    ax.set_ylabel("times the quartile")
    return ax


@in_style
def draw_roofline(
    jobs: Mapping[str, tuple[float, float]],
    seconds: Mapping[str, Mapping[str, float]],
    *,
    memory: str,
    arithmetic: str,
) -> Axes:
    """Draw each job's FLOP/s over its FLOP per byte, under the two ceilings that other jobs reach.

    `jobs` maps names to FLOP and bytes of one call; `seconds` maps "recorded" or "here" to the seconds that
    each took. The job `memory` sets the slope, its bytes a second; `arithmetic` the height, its FLOP/s.
    Left of the ridge, bytes arrive too late.
    """
    ax = Figure((8, 4), layout="constrained").subplots()
    _log_axes(ax, 10)
    at = {name: flop / moved for name, (flop, moved) in jobs.items()}
    points, named = dict[str, Any](), dict[str, Any]()
    for kind, taken in seconds.items():
        color, _, label = KINDS[kind]
        slope, height = jobs[memory][1] / taken[memory], jobs[arithmetic][0] / taken[arithmetic]
        ridge = height / slope
        ends = [min(at.values()) / 2, ridge, max(*at.values(), ridge) * 2]
        roof = [min(end * slope, height) / 1e9 for end in ends]
        told = f"{label.partition(',')[0]}: {slope / 1e9:.3g} GB/s,\n{height / 1e9:.3g} GFLOP/s"
        [named[told]] = ax.plot(ends, roof, color=color, linewidth=1.5)
        ax.axvline(ridge, color=color, **DOTTED)
        speed = {name: jobs[name][0] / taken[name] / 1e9 for name in jobs if name in taken}
        here = {name: (at[name], value) for name, value in speed.items()}
        fill = "white" if kind == "here" else color
        ax.plot(*zip(*here.values(), strict=True), "o", ms=5, color=color, markerfacecolor=fill)
        points = here | points  # the number stands at what is recorded
    for number, (name, point) in enumerate(sorted(points.items(), key=itemgetter(1)), start=1):
        _say(ax, str(number), point, (0, -10), ha="center", va="center", path_effects=HALO)
        [named[f"{number}  {name}"]] = ax.plot([], [], linestyle="")
    ax.set_xlabel("FLOP per byte; the dotted line is the ridge", wrap=True)
    ax.set_ylabel("GFLOP/s")
    ax.legend([*named.values()], [*named], **BESIDE)
    return ax


def _say(ax: Axes, text: str, at: Any, offset: Any = (4, 0), **look: Any) -> None:
    """Write a small text beside a point, `offset` points away."""
    ax.annotate(text, at, xytext=offset, textcoords="offset points", **look)


def _log_axes(ax: Axes, base: float) -> None:
    """Make both axes logarithmic, with plain numbers."""
    ax.loglog(base=base)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")


@dataclass(repr=False, eq=False)
class MeasuredPicture:
    """A picture of a measurement, and a text that is the same in every run.

    A notebook stores both. Tests compare the text, and a refresh keeps a stored picture while its text
    stays, unless `measured` is False: then all of it is recorded. `where` stands below, `noise` is folded.
    """

    ax: Axes
    text: str
    measured: bool = True
    noise: Sequence[str] = ()
    title: str = ""
    where: str = ""

    @in_style
    def __post_init__(self) -> None:
        self.figure: Any = self.ax.figure
        self.ax.set_title(self.title, wrap=True)
        self.figure.supxlabel(self.where, x=0.02, ha="left", color=MUTED, fontsize=8, wrap=True)
        self._grow(0.15 * len(wrap(self.where, NOTE_LETTERS)))

    def __repr__(self) -> str:
        return self.text

    @in_style
    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        width, height = (round(inches * 100) for inches in self.figure.get_size_inches())
        data = {"text/plain": self.text, "image/png": png(self.figure)}
        if self.noise:
            data["text/html"] = (
                f'<img class="jp-needs-light-background" width="{width}" alt="{escape(self.text)}" '
                f'src="data:image/png;base64,{data["image/png"]}"><details><summary>noisy '
                f"({len(self.noise)})</summary>{'<br>'.join(map(escape, self.noise))}</details>"
            )
        if IS_FOR_PAGES in os.environ:
            self._fit_phone()
            data[NARROW] = png(self.figure)
        about = {"width": width, "height": height} | ({"measured": True} if self.measured else {})
        return data, {"image/png": about} | ON_WHITE

    def _grow(self, inches: float) -> None:
        self.figure.set_figheight(self.figure.get_figheight() + inches)

    def _fit_phone(self) -> None:
        """Make the picture narrow: words go on in a new line, and the legend stands above."""
        self.figure.set_figwidth(NARROW_INCHES)
        self._grow(0.2)
        if legend := self.ax.get_legend():
            names = [text.get_text() for text in legend.get_texts()]
            legend.remove()
            self.figure.legend(legend.legend_handles, names, ncols=2, loc="outside upper left")
            self._grow(0.2 * len(names))


def png(figure: Figure) -> str:
    """Return a figure as base64 PNG of few colours, which is much smaller."""
    drawn, file = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=DPI)
    image = Image.open(drawn).convert("RGB").quantize(32, dither=Image.Dither.NONE)
    image.save(file, format="png", optimize=True)
    return base64.b64encode(file.getvalue()).decode()
