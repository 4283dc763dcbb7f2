"""Pictures of predictions and measurements: each function returns the Axes of a new figure.

Each mark has its own colour and label, shape or line. Times are ratios; notes name the machine and noise.
pyplot does not know the figures, so a notebook shows each once: the output of its cell.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from html import escape
from operator import itemgetter
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator
from PIL import Image

from stridekit.lessons.claims import in_words
from stridekit.timing.comparison import Ratio
from stridekit.widgets import palette

BLUE, RUST, GREEN = palette.DIMS[1][0], palette.DIMS[0][0], palette.DIMS[2][0]
DPI = 130
CURVES = [(BLUE, "o", "-"), (RUST, "s", "--"), (GREEN, "^", ":")]  # differ without colour too
# The looks of predictions and measurements: colour, hatch and name.
KINDS = {
    "predicted": (BLUE, "//", "predicted"),
    "recorded": (RUST, "", "recorded, with\nits 95 % interval"),
    "here": (GREEN, "", "measured here, with\nits 95 % interval"),
}
Ratios = Mapping[str, Mapping[str, Any]]  # by kind and by name
NOTE_LETTERS, NOTES = 138, "notes"
# Where the number of a point may stand, in points from it: the nearest places first.
WAYS = [(-1, 0), (1, 0), (0, 1), (0, -1), (-0.7, 0.7), (0.7, -0.7)]
NEAR = [np.array(way) * far for far in (9, 18, 27) for way in WAYS]
INK, MUTED, LINE = palette.INK[0], palette.MUTED[0], palette.LINE[0]
# The line of an interval: its white edge keeps it apart from a bar.
HALO = [withStroke(linewidth=3, foreground="white")]
WHISKER: dict[str, Any] = {
    "color": INK, "linewidth": 1.2, "marker": "|", "markersize": 7, "path_effects": HALO,
}  # fmt: skip
# In an output's metadata: its picture is on white paper. JupyterLab and pages turn it over in the dark.
ON_WHITE = {"needs_background": "light"}
# Where this variable is set, a measured picture has a second one for phones, of this kind and width.
IS_FOR_PAGES, NARROW, NARROW_INCHES = "STRIDEKIT_PAGES", "application/vnd.stridekit.narrow+png", 3.8


def draw_claim(baseline: str, kinds: Ratios, *, notes: Sequence[str] = ()) -> Axes:
    """Draw predicted ratios beside measured ones: bars as long as the time, where the baseline takes 1.

    `kinds` maps "predicted" to a number for each name; "recorded" and "here" to a `timing.Ratio` for some.
    The grey band is "same": within 5 %. The line on a measured bar is its interval.
    """
    predicted = kinds["predicted"]
    bars = len(kinds) * len(predicted)
    ax = _axes(1.15 + min(0.26 * bars, max(3.0, 0.15 * bars)), notes)
    ax.axvspan(0.95, 1.05, color=LINE, alpha=0.6, linewidth=0)
    ax.axvline(1, color=MUTED, linewidth=1)
    where: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom"}
    _say(ax, "1: no difference", (1, 1), (0, 3), color=MUTED, **where)
    ratios = [ratio for values in kinds.values() for ratio in values.values()]
    longest = max([getattr(ratio, "high", ratio) for ratio in ratios] + [1])
    ax.set_xlim(0, longest * 1.35)  # words stand to the right
    rows = {name: row for row, name in enumerate(predicted)}
    for place, (kind, values) in enumerate(kinds.items()):
        off = 0.8 * ((place + 0.5) / len(kinds) - 0.5)
        for name, ratio in values.items():
            y, length, end = rows[name] + off, ratio, ratio
            if isinstance(ratio, Ratio):
                length, end = ratio.value, ratio.high
                ax.plot([ratio.low, end], [y, y], **WHISKER)
            ax.barh(y, length, 0.72 / len(kinds), **_look(kind))
            _say(ax, in_words(ratio), (max(end, 1), y), (7, 0), va="center")
    _label_rows(ax, list(predicted))
    ax.set_ylim(len(predicted) - 0.5, -0.5)
    _label_x(ax, f"time, as multiples of “{baseline}”", notes)
    named = {KINDS[kind][2]: Patch(**_look(kind)) for kind in kinds}
    _legend(ax, named, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def draw_sweep(
    steps: Sequence[float],
    curves: Mapping[str, Sequence[Any]],
    *,
    xlabel: str = "stride, in elements",
    ylabel: str = "times stride 1",
    marks: Mapping[float, str] | None = None,
    notes: Sequence[str] = (),
) -> Axes:
    """Draw one to three curves over a sweep of strides, on logarithmic axes; `marks` labels some strides.

    A curve has a number for each step, or a `timing.Ratio`, which is drawn with its interval.
    """
    ax = _axes(3.2, notes)
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
        ax.axvline(at, color=MUTED, linewidth=1, linestyle=(0, (2, 3)))
        where = {"xycoords": ("data", "axes fraction")}
        above = 3 + 12 * (k % 2)  # neighbours in two lines
        _say(ax, text, (at, 0), (3, above), color=MUTED, **where)
    _label_x(ax, xlabel, notes)
    ax.set_ylabel(ylabel, parse_math=False)
    _legend(ax, named)
    return ax


def draw_runs(
    seconds: Sequence[float],
    *,
    here: Sequence[float] | None = None,
    notes: Sequence[str] = (),
) -> Axes:
    """Draw runs of one function in order, as multiples of the lower quartile, with the mean marked.

    With `here`, `seconds` are recorded, and those are further runs, as multiples of their own quartile.
    """
    kinds = {"recorded": seconds} if here is None else {"recorded": seconds, "here": here}
    ax = _axes(2.4, notes)
    ratios = {kind: np.array(runs) / np.quantile(runs, 0.25) for kind, runs in kinds.items()}
    named = {}
    for (kind, multiples), mark, color in zip(ratios.items(), ".x", (RUST, GREEN), strict=False):
        [named[kind]] = ax.plot(
            range(1, len(multiples) + 1), multiples, mark, color=color, markersize=4
        )
    if here is not None:
        _legend(ax, named)
    mean = float(np.mean(next(iter(ratios.values()))))
    for at, text, color, line in ((1, "lower quartile", INK, "-"), (mean, "mean", BLUE, "--")):
        ax.axhline(at, color=color, linewidth=1, linestyle=line)
        _say(ax, text, (1, at), color=color, va="center", xycoords=("axes fraction", "data"))
    if mean < 1.4:  # the two words would overlap
        ax.texts[-1].set_verticalalignment("bottom")
        ax.texts[0].set_verticalalignment("top")
    ax.set_yscale("log", base=2)
    ax.yaxis.set_major_formatter("{x:g}")
    _label_x(ax, "run", notes)
    ax.set_ylabel("times the quartile")
    return ax


def draw_roofline(
    jobs: Mapping[str, tuple[float, float]],
    seconds: Mapping[str, Mapping[str, float]],
    *,
    memory: str,
    arithmetic: str,
    notes: Sequence[str] = (),
) -> Axes:
    """Draw each job's FLOP/s over its FLOP per byte, under the two ceilings that other jobs reach.

    `jobs` maps names to FLOP and bytes of one call; `seconds` maps "recorded" or "here" to the seconds that
    each took. The job `memory` sets the slope, its bytes a second; `arithmetic` the height, its FLOP/s.
    Left of the ridge, bytes arrive too late.
    """
    ax = _axes(4, notes)
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
        ax.axvline(ridge, color=color, linewidth=1, linestyle=(0, (2, 3)))
        speed = {name: jobs[name][0] / taken[name] / 1e9 for name in jobs if name in taken}
        here = {name: (at[name], value) for name, value in speed.items()}
        fill = "white" if kind == "here" else color
        ax.plot(*zip(*here.values(), strict=True), "o", ms=5, color=color, markerfacecolor=fill)
        points = here | points  # the number stands at what is recorded
    named |= _number(ax, dict(sorted(points.items(), key=itemgetter(1))))
    _label_x(ax, "FLOP per byte; the dotted line is the ridge", notes)
    ax.set_ylabel("GFLOP/s")
    _legend(ax, named, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _number(ax: Axes, points: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Number points away from points and other numbers; return a mark for the legend by each name."""
    named = {}
    ax.autoscale_view()
    taken = [*(72 / ax.figure.dpi * ax.transData.transform([*points.values()]))]
    for number, (name, point) in enumerate(points.items(), start=1):
        own = taken[number - 1]
        free = [way for way in NEAR if min(np.hypot(*(own + way - other)) for other in taken) > 8]
        way = [*free, NEAR[0]][0]
        taken.append(own + way)
        _say(ax, str(number), point, way, ha="center", va="center", path_effects=HALO)
        look: Any = {"color": INK, "markeredgewidth": 0, "markersize": 6 if number < 10 else 9}
        [named[name]] = ax.plot([], [], linestyle="", marker=f"${number}$", **look)
    return named


def _axes(height: float, notes: Sequence[str]) -> Axes:
    """Return the Axes of a new figure, which is higher by its notes."""
    height += 0.15 * len(wrap("; ".join(notes), NOTE_LETTERS))
    ax = Figure((8, height), layout="constrained", facecolor="white").subplots()
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(LINE)
    ax.tick_params(colors=MUTED, labelcolor=INK, labelsize=9)
    return ax


def _say(
    ax: Axes, text: str, at: Any, offset: Any = (4, 0), *, color: str = INK, **where: Any
) -> None:
    """Write a small text beside a point, `offset` points away."""
    look: dict[str, Any] = {"fontsize": 8, "color": color, "parse_math": False} | where
    ax.annotate(text, at, xytext=offset, textcoords="offset points", **look)


def _legend(where: Axes | Figure, named: Mapping[str, Any], **look: Any) -> None:
    """Show each mark with its name as it is: matplotlib itself reads $ as a formula, and hides "_x"."""
    look = {"frameon": False, "fontsize": 8} | look
    texts = where.legend([*named.values()], ["-"] * len(named), **look).get_texts()
    for text, name in zip(texts, named, strict=True):
        text.set(text=name, parse_math=False)


def _label_x(ax: Axes, label: str, notes: Sequence[str]) -> None:
    """Name the x axis, and write the notes below, from the left edge of the figure."""
    lines = wrap("; ".join(notes), NOTE_LETTERS)
    ax.set_xlabel(label + "\n" * len(lines), fontsize=9, parse_math=False)
    where: Any = {"xycoords": ("figure fraction", ax.xaxis.label), "va": "bottom", "gid": NOTES}
    where |= {"annotation_clip": False, "in_layout": False}
    if lines:
        _say(ax, "\n".join(lines), (0.02, 0), (0, 0), color=MUTED, **where)


def _label_rows(ax: Axes, names: Sequence[str], letters: int = 24) -> None:
    """Name the rows, a long name on several lines."""
    lines = [wrap(name, letters, break_on_hyphens=False) or [name] for name in names]
    ax.set_yticks(range(len(names)), ["\n".join(name) for name in lines], parse_math=False)


def _look(kind: str) -> dict[str, Any]:
    """Return the fill and the edge of a kind of bars."""
    color, hatch, _ = KINDS[kind]
    return {"facecolor": "white" if hatch else color, "edgecolor": color, "hatch": hatch}


def _log_axes(ax: Axes, base: float) -> None:
    """Make both axes logarithmic, with plain numbers."""
    ax.set_xscale("log", base=base)
    ax.set_yscale("log", base=base)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")


class MeasuredPicture:
    """A picture of a measurement, and a text that is the same in every run.

    A notebook stores both. Tests compare the text, and a refresh keeps a stored picture while its text
    stays, unless `measured` is False: then all of it is recorded. The signs of noise are folded below.

    >>> MeasuredPicture(Figure().subplots(), "flat, and then half")
    flat, and then half
    """

    def __init__(
        self,
        ax: Axes,
        text: str,
        measured: bool = True,
        noise: Sequence[str] = (),
        title: str = "",
    ) -> None:
        self.ax, self.text, self.measured, self.noise = ax, text, measured, noise
        ax.set_title(title, loc="left", fontsize=9, color=INK, parse_math=False)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        figure = self.ax.figure
        assert isinstance(figure, Figure)
        width, height = (round(inches * 100) for inches in figure.get_size_inches())
        image = png(figure)
        data = {"text/plain": self.text, "image/png": image}
        if self.measured and self.noise:
            data["text/html"] = (
                f'<img class="jp-needs-light-background" width="{width}" alt="{escape(self.text)}" '
                f'src="data:image/png;base64,{image}"><details><summary>noisy ({len(self.noise)})'
                f"</summary><ul><li>{'<li>'.join(map(escape, self.noise))}</ul></details>"
            )
        if IS_FOR_PAGES in os.environ:
            _narrow(self.ax, figure)
            data[NARROW] = png(figure)
        about: dict[str, Any] = {"width": width, "height": height}
        if self.measured:
            about["measured"] = True
        return data, {"image/png": about} | ON_WHITE


def _narrow(ax: Axes, figure: Figure) -> None:
    """Fit a picture to a phone: words go on in a new line, and the legend stands below."""
    title = wrap(ax.get_title(loc="left"), 54)
    figure.suptitle("\n".join(title), x=0.02, ha="left", fontsize=9, color=INK, parse_math=False)
    ax.set_title("", loc="left")
    label, named = wrap(ax.get_xlabel(), 34), {}
    for notes in (text for text in ax.texts if text.get_gid() == NOTES):
        lines = wrap(notes.get_text(), 58)
        notes.set_text("\n".join(lines))
        label += [""] * len(lines)
    ax.set_xlabel("\n".join(label))
    if isinstance(ax.yaxis.get_major_locator(), FixedLocator):
        _label_rows(ax, [name.get_text() for name in ax.get_yticklabels()], 21)
    if legend := ax.get_legend():
        legend.remove()
        names = [text.get_text() for text in legend.get_texts()]
        named = dict(zip(names, legend.legend_handles, strict=True))
        _legend(figure, named, ncols=2, loc="outside lower left")
    more = 0.14 * (len(title) + len(label)) + 0.08 * len(named)
    figure.set_size_inches(NARROW_INCHES, figure.get_size_inches()[1] + more)


def png(figure: Figure) -> str:
    """Return a figure as base64 PNG of few colours, which is much smaller."""
    if isinstance(engine := figure.get_layout_engine(), ConstrainedLayoutEngine):
        engine.set(w_pad=0.12, h_pad=0.08)
    figure.set_dpi(DPI)
    canvas, file = FigureCanvasAgg(figure), io.BytesIO()
    canvas.draw()
    pixels = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3])
    pixels.quantize(32, dither=Image.Dither.NONE).save(file, format="png", optimize=True)
    return base64.b64encode(file.getvalue()).decode()
