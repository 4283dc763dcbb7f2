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
from itertools import chain
from operator import itemgetter
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from stridekit._extras import extra
from stridekit.timing.comparison import Ratio
from stridekit.widgets import palette

with extra("lab"):
    from matplotlib import rc_context
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
    from matplotlib.patheffects import withStroke
    from PIL import Image

BLUE = palette.DIMS[1][0]
RUST = palette.DIMS[0][0]
GREEN = palette.DIMS[2][0]
INK = palette.INK[0]
MUTED = palette.MUTED[0]
LINE = palette.LINE[0]
DPI = 130
CURVES = [(BLUE, "o", "-"), (RUST, "s", "--"), (GREEN, "^", ":")]  # differ without colour too


class Source(NamedTuple):
    """Where a number comes from: the colour of its points, the look of its bar, and its label."""

    color: str
    bar: dict[str, Any]
    label: str


SOURCES = {
    "predicted": Source(
        BLUE, {"facecolor": "white", "edgecolor": BLUE, "hatch": "//"}, "predicted"
    ),
    "published": Source(MUTED, {"color": LINE}, "published"),
    "recorded": Source(RUST, {"color": RUST}, "recorded, with\nits 95 % interval"),
    "here": Source(GREEN, {"color": GREEN}, "measured here, with\nits 95 % interval"),
}
NOTE_LETTERS = 138  # as many fit below a picture
ROW_LETTERS = 21  # as many fit to the left of a bar
HALO = [withStroke(linewidth=3, foreground="white")]  # keeps words and intervals apart from bars
INTERVAL: dict[str, Any] = {
    "color": INK,
    "linewidth": 1.2,
    "marker": "|",
    "markersize": 7,
    "path_effects": HALO,
}
BESIDE: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)}  # where a legend stands
X_IN_DATA = ("data", "axes fraction")
Y_IN_DATA = ("axes fraction", "data")
DOTTED: dict[str, Any] = {"linewidth": 1, "linestyle": (0, (2, 3))}
in_style = rc_context(
    {
        "text.parse_math": False,  # a $ in a name is a $
        "text.color": INK,
        "font.size": 8,
        "figure.facecolor": "white",
        "figure.constrained_layout.w_pad": 0.12,
        "figure.constrained_layout.h_pad": 0.08,
        "axes.facecolor": "white",
        "axes.edgecolor": LINE,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.labelsize": 9,
        "axes.labelcolor": INK,
        "axes.titlesize": 9,
        "axes.titlelocation": "left",
        "xtick.labelsize": 9,
        "xtick.labelcolor": INK,
        "xtick.color": MUTED,
        "ytick.labelsize": 9,
        "ytick.labelcolor": INK,
        "ytick.color": MUTED,
        "legend.frameon": False,
    }
)
# In the metadata of an output: JupyterLab and pages invert a picture on white paper in the dark.
ON_WHITE = {"needs_background": "light"}
# If this variable is set, a measured picture has a second form for phones, of this type and width.
IS_FOR_PAGES = "STRIDEKIT_PAGES"
NARROW = "application/vnd.stridekit.narrow+png"
NARROW_INCHES = 3.8


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
    times = 1 / ratio.value if 0 < ratio.value < 1 else ratio.value
    return f"{times:.3g}x {ratio.verdict}"


@in_style
def draw_claim(baseline: str, sources: Mapping[str, Mapping[str, Any]]) -> Axes:
    """Draw predicted ratios beside measured ones: bars as long as the time, where the baseline takes 1.

    `sources` maps "predicted" and "published" to numbers, "recorded" and "here" to a `timing.Ratio`, each
    for some names. The grey band is "same": within 5 %. The line on a measured bar is its interval.
    """
    names = list(dict.fromkeys(chain.from_iterable(sources.values())))
    bars = len(sources) * len(names)
    height = 1.15 + min(0.26 * bars, max(3.0, 0.15 * bars))
    ax = Figure((8, height), layout="constrained").subplots()
    ax.axvspan(0.95, 1.05, color=LINE, alpha=0.6, linewidth=0)
    ax.axvline(1, color=MUTED, linewidth=1)
    _annotate(ax, "1: no difference", (1, 1), (0, 3), color=MUTED, ha="center", xycoords=X_IN_DATA)
    thickness = 0.72 / len(sources)
    longest = 1.0
    for place, (source, ratios) in enumerate(sources.items()):
        offset = 0.8 * ((place + 0.5) / len(sources) - 0.5)
        for name, ratio in ratios.items():
            y = names.index(name) + offset
            end = _draw_bar(ax, y, thickness, ratio, SOURCES[source].bar)
            longest = max(longest, end)
    ax.set_xlim(0, longest * 1.35)  # words stand to the right
    labels = [wrap(name, ROW_LETTERS, break_on_hyphens=False) or [name] for name in names]
    ax.set_yticks(range(len(names)), ["\n".join(lines) for lines in labels])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(f"time, as multiples of “{baseline}”", wrap=True)
    shown = [SOURCES[source] for source in sources]
    ax.legend(handles=[Patch(label=source.label, **source.bar) for source in shown], **BESIDE)
    return ax


def _draw_bar(
    ax: Axes, y: float, thickness: float, ratio: Ratio | float, look: dict[str, Any]
) -> float:
    """Draw a ratio as a bar with its interval and its words; return where the interval ends."""
    if isinstance(ratio, Ratio):
        length = ratio.value
        end = ratio.high
        ax.plot([ratio.low, ratio.high], [y, y], **INTERVAL)
    else:
        length = end = ratio
    ax.barh(y, length, thickness, **look)
    _annotate(ax, in_words(ratio), (max(end, 1), y), (7, 0), va="center", path_effects=HALO)
    return end


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
    _use_log_axes(ax, 2)
    ax.axhline(1, color=MUTED, linewidth=1, zorder=0)
    handles = []
    for values, (color, marker, line) in zip(curves.values(), CURVES, strict=False):
        points = [getattr(value, "value", value) for value in values]
        handles += ax.plot(steps, points, marker + line, color=color)
        for step, value in zip(steps, values, strict=True):
            if isinstance(value, Ratio):
                ends = [value.low, value.high]
                ax.plot([step, step], ends, color=color, marker="_", markersize=9)
    for number, (step, text) in enumerate((marks or {}).items()):
        ax.axvline(step, color=MUTED, **DOTTED)
        height = 3 + 12 * (number % 2)  # neighbours in two lines
        _annotate(ax, text, (step, 0), (3, height), color=MUTED, xycoords=X_IN_DATA)
    ax.set_xlabel(xlabel, wrap=True)
    ax.set_ylabel(ylabel)
    ax.legend(handles, list(curves))
    return ax


@in_style
def draw_runs(sources: Mapping[str, Sequence[float]]) -> Axes:
    """Draw runs in order, as multiples of the lower quartile of their source, with the mean of the first.

    `sources` maps "recorded", "here" or both to the seconds of runs of one function.
    """
    ax = Figure((8, 2.4), layout="constrained").subplots()
    ratios = {source: np.array(runs) / np.quantile(runs, 0.25) for source, runs in sources.items()}
    handles = []
    for (source, multiples), marker in zip(ratios.items(), ".x", strict=False):
        numbers = range(1, len(multiples) + 1)
        handles += ax.plot(numbers, multiples, marker, color=SOURCES[source].color, markersize=4)
    if len(sources) > 1:
        ax.legend(handles, list(sources))
    mean = float(np.mean(next(iter(ratios.values()))))
    ax.axhline(1, color=INK, linewidth=1)
    ax.axhline(mean, color=BLUE, linewidth=1, linestyle="--")
    _annotate(ax, "lower quartile", (1, 1), va="top", xycoords=Y_IN_DATA)
    _annotate(ax, "mean", (1, mean), color=BLUE, va="bottom", xycoords=Y_IN_DATA)
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
    _use_log_axes(ax, 10)
    intensities = {name: flop / moved for name, (flop, moved) in jobs.items()}
    handles: dict[str, Any] = {}
    numbered: dict[str, tuple[float, float]] = {}
    for source, taken in seconds.items():
        color, _, label = SOURCES[source]
        bandwidth = jobs[memory][1] / taken[memory]
        peak = jobs[arithmetic][0] / taken[arithmetic]
        ridge = peak / bandwidth
        ends = [min(intensities.values()) / 2, ridge, max(*intensities.values(), ridge) * 2]
        roof = [min(end * bandwidth, peak) / 1e9 for end in ends]
        label = label.partition(",")[0]
        label = f"{label}: {bandwidth / 1e9:.3g} GB/s,\n{peak / 1e9:.3g} GFLOP/s"
        [handles[label]] = ax.plot(ends, roof, color=color, linewidth=1.5)
        ax.axvline(ridge, color=color, **DOTTED)
        speeds = {name: jobs[name][0] / taken[name] / 1e9 for name in jobs if name in taken}
        points = {name: (intensities[name], speed) for name, speed in speeds.items()}
        xs, ys = zip(*points.values(), strict=True)
        fill = "white" if source == "here" else color
        ax.plot(xs, ys, "o", ms=5, color=color, markerfacecolor=fill)
        numbered = points | numbered  # the number stands at the recorded point
    from_left = sorted(numbered.items(), key=itemgetter(1))
    for number, (name, point) in enumerate(from_left, start=1):
        _annotate(ax, str(number), point, (0, -10), ha="center", va="center", path_effects=HALO)
        [handles[f"{number}  {name}"]] = ax.plot([], [], linestyle="")
    ax.set_xlabel("FLOP per byte; the dotted line is the ridge", wrap=True)
    ax.set_ylabel("GFLOP/s")
    ax.legend(list(handles.values()), list(handles), **BESIDE)
    return ax


def _annotate(ax: Axes, text: str, point: Any, offset: Any = (4, 0), **look: Any) -> None:
    """Write a small text beside a point; `offset` is in points of 1/72 inch."""
    ax.annotate(text, point, xytext=offset, textcoords="offset points", **look)


def _use_log_axes(ax: Axes, base: float) -> None:
    """Make both axes logarithmic, with plain numbers."""
    ax.loglog(base=base)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")


@dataclass(repr=False, eq=False)
class MeasuredPicture:
    """A picture of a measurement, and a text that is the same in every run.

    A notebook stores both. Tests compare the text. A refresh keeps the stored picture as long as the text
    is the same, unless `measured` is False, because then the whole picture is recorded. `where` stands
    below the picture: the recorded machine, and the noise of its record. `noise` is folded.
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
        for line in self.where.splitlines():
            self._grow(0.15 * len(wrap(line, NOTE_LETTERS)))

    def __repr__(self) -> str:
        return self.text

    @in_style
    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        width, height = (round(inches * 100) for inches in self.figure.get_size_inches())
        picture = png(self.figure)
        data = {"text/plain": self.text, "image/png": picture}
        if self.noise:
            data["text/html"] = (
                f'<img class="jp-needs-light-background" width="{width}" alt="{escape(self.text)}" '
                f'src="data:image/png;base64,{picture}"><details><summary>noisy '
                f"({len(self.noise)})</summary>{'<br>'.join(map(escape, self.noise))}</details>"
            )
        if IS_FOR_PAGES in os.environ:
            self._fit_phone()
            data[NARROW] = png(self.figure)
        about: dict[str, Any] = {"width": width, "height": height}
        if self.measured:
            about["measured"] = True
        return data, {"image/png": about} | ON_WHITE

    def _grow(self, inches: float) -> None:
        self.figure.set_figheight(self.figure.get_figheight() + inches)

    def _fit_phone(self) -> None:
        """Make the picture narrow: wrap its words, and move the legend above it."""
        self.figure.set_figwidth(NARROW_INCHES)
        self._grow(0.2)
        if legend := self.ax.get_legend():
            names = [text.get_text() for text in legend.get_texts()]
            legend.remove()
            self.figure.legend(legend.legend_handles, names, ncols=2, loc="outside upper left")
            self._grow(0.2 * len(names))


def png(figure: Figure) -> str:
    """Return a figure as base64 PNG of few colours, which is much smaller."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=DPI)
    image = Image.open(drawn).convert("RGB").quantize(32, dither=Image.Dither.NONE)
    small = io.BytesIO()
    image.save(small, format="png", optimize=True)
    return base64.b64encode(small.getvalue()).decode()
