"""Plots: they draw on the given Axes, and show the given numbers.

What is drawn is asked for by where it stands. Texts of all kinds in one heap would hold anything: a
missing number is found among the ticks.
"""

import base64
import io
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from PIL import Image

from stridekit import palette, plots
from stridekit.timing import Comparison, Ratio

COMPARISON = Comparison(
    {"rows": [[1e-3, 1e-3]] * 4, "columns": [[3e-3, 3e-3]] * 4, "again": [[1e-3, 1e-3]] * 4},
    [[0, 1, 2]] * 4, dict.fromkeys(("rows", "columns", "again"), 1), 1, "cpu",
)  # fmt: skip


def ax():
    return Figure().subplots()


def words(drawn):
    """The texts among the marks, each with the place that it belongs to."""
    return [(text.get_text(), text.xy) for text in drawn.texts]


def names(drawn):
    """The names of the rows, from top to bottom."""
    low, high = drawn.get_ylim()
    rows = sorted(zip(drawn.get_yticks(), drawn.get_yticklabels(), strict=True))
    return [label.get_text() for _, label in (rows if low > high else rows[::-1])]


def legend(drawn):
    return [text.get_text() for text in drawn.get_legend().get_texts()]


def bars(drawn):
    """The rows of bars, from one end to the other, and whether they are hatched."""
    return [
        (round(bar.get_y() + bar.get_height() / 2, 9), bar.get_x(), bar.get_x() + bar.get_width(),
         bool(bar.get_hatch()))
        for bar in drawn.patches
    ]  # fmt: skip


def test_a_comparison_shows_each_ratio_and_its_verdict():
    where = ax()
    assert COMPARISON.plot(where) is where
    assert words(where) == [
        ("1: no difference", (1, 1)), ("3.00 slower", (3, 0)), ("1.00 same", (1, 1))
    ]  # fmt: skip
    assert names(where) == ["columns", "again"]
    assert where.get_xlabel() == "time for each second of “rows”"


def test_a_ratio_stands_on_its_interval_over_the_band_of_the_same():
    found = {"b": Ratio(2, 1.5, 4), "c": Ratio(0.5, 0.25, 0.6)}
    drawn = plots.draw_comparison(SimpleNamespace(ratios=found, names=("a", *found)), ax())
    marks = [one for one in drawn.containers if isinstance(one, ErrorbarContainer)]
    spans = [one[2][0].get_segments()[0].tolist() for one in marks]
    assert spans == [[[1.5, 0], [4, 0]], [[0.25, 1], [0.6, 1]]]
    assert [one[0].get_xdata()[0] for one in marks] == [2, 0.5]
    [band] = drawn.patches
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((0.95, 1.05))
    assert drawn.get_xscale() == "log"
    low, high = drawn.get_xlim()
    assert 0.2 < low < 0.25 and 4 < high < 5
    assert list(drawn.get_xticks()) == [0.5, 1, 2]
    assert list(drawn.get_xticks(minor=True)) == []


def test_ticks_of_ratios_are_numbers_that_a_reader_knows():
    """Where there is room, with those that are near 1."""
    shown = []
    for low, high in ((0.01, 100), (0.4, 2.5)):
        drawn = ax()
        plots._log_ratio_axis(drawn, low, high)
        shown.append(" ".join(label.get_text() for label in drawn.get_xticklabels()))
    assert shown == ["0.01 0.02 0.05 0.1 0.2 0.5 1 2 5 10 20 50 100", "0.5 0.8 1 1.25 2"]


def test_predicted_stands_beside_measured():
    """Each as multiples of its own first, in the order of the names, from the top."""
    predicted = {"b": 10, "a": 30, "c": 5}
    drawn = plots.draw_predicted(predicted, {"b": 2e-3, "a": 5e-3, "c": 3e-3}, ax())
    assert [text.get_text() for text in drawn.texts] == ["1", "3", "0.5", "1", "2.5", "1.5"]
    assert bars(drawn) == [
        (-0.18, 0, 1, True), (0.82, 0, 3, True), (1.82, 0, 0.5, True),
        (0.18, 0, 1, False), (1.18, 0, 2.5, False), (2.18, 0, 1.5, False),
    ]  # fmt: skip
    assert names(drawn) == ["b", "a", "c"] and drawn.get_xlabel() == "times “b”"
    handles = drawn.get_legend().get_patches()
    assert legend(drawn) == ["predicted", "measured"]
    assert [bool(handle.get_hatch()) for handle in handles] == [True, False]


def test_a_sweep_draws_a_curve_for_each_name():
    curves = {"p": [1, 2, 4], "m": [1, 2, 3], "n": [4, 2, 1]}
    drawn = plots.draw_sweep([1, 2, 4], curves, ax(), marks={2: "here"})
    assert list(drawn.lines[0].get_ydata()) == [1, 1]  # no difference
    assert [list(line.get_ydata()) for line in drawn.lines[1:4]] == list(curves.values())
    assert all(list(line.get_xdata()) == [1, 2, 4] for line in drawn.lines[1:4])
    assert words(drawn) == [("here", (2, 0))] and list(drawn.lines[4].get_xdata()) == [2, 2]
    looks = [(one.get_color(), one.get_marker(), one.get_linestyle()) for one in drawn.lines[1:4]]
    assert all(len(set(kind)) == 3 for kind in zip(*looks, strict=True))
    assert legend(drawn) == ["p", "m", "n"]
    assert (drawn.get_xscale(), drawn.get_yscale()) == ("log", "log")
    assert drawn.xaxis.get_transform().base == drawn.yaxis.get_transform().base == 2
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("stride, in elements", "times stride 1")
    named = plots.draw_sweep([1, 2], {"p": [1, 2]}, ax(), xlabel="rank", ylabel="time")
    assert (named.get_xlabel(), named.get_ylabel()) == ("rank", "time")


def test_a_measured_curve_has_its_intervals():
    """A ratio stands at its value, and a line in the colour of its curve covers its interval."""
    measured = [1, Ratio(0.5, 0.4, 0.7), Ratio(0.25, 0.2, 0.3)]
    drawn = plots.draw_sweep([1, 2, 4], {"m": measured}, ax())
    _, curve, *intervals = drawn.lines
    assert list(curve.get_ydata()) == [1, 0.5, 0.25]
    assert [line.get_xydata().tolist() for line in intervals] == [
        [[2, 0.4], [2, 0.7]],
        [[4, 0.2], [4, 0.3]],
    ]
    assert {line.get_color() for line in intervals} == {curve.get_color()}
    with pytest.raises(TypeError, match="m of 1 is -1: give a number above 0"):
        plots.draw_sweep([1, 2], {"m": [1, Ratio(-1, -1, -1)]}, ax())


def test_a_roofline_shows_shares_of_the_ceiling():
    """A number stands beside its bar, or inside if the ceiling would cross it."""
    shares = {"gather": 0.02, "sum": 0.8, "add": 0.96}
    drawn = plots.draw_roofline(shares, ax())
    assert words(drawn) == [
        ("2%", (0.02, 0)), ("80%", (0.8, 1)), ("96%", (0.96, 2)), ("the ceiling", (1, 1)),
    ]  # fmt: skip
    assert [text.get_ha() for text in drawn.texts[:3]] == ["left", "left", "right"]
    assert [end for _, _, end, _ in bars(drawn)] == list(shares.values())
    assert names(drawn) == list(shares)
    [ceiling] = drawn.lines
    assert list(ceiling.get_xdata()) == [1, 1] and drawn.get_xlim()[0] == 0
    assert drawn.get_xlabel() == "of the bandwidth that was measured here"
    assert drawn.get_xlim()[1] > 1.1 and plots.draw_roofline({"a": 3}, ax()).get_xlim()[1] > 3


def test_a_claim_stands_on_bars_that_start_at_1():
    measured = {"c": Ratio(40.0, 30.0, 50.0), "b": Ratio(0.25, 0.2, 0.3)}
    drawn = plots.draw_claim("a", {"c": 8.5, "b": 1}, measured, ax(), verdicts={"c": "slower"})
    assert bars(drawn)[1:] == [  # the first is the band of the same
        (-0.18, 1, 8.5, True), (0.18, 1, 40, False), (0.82, 1, 1, True), (1.18, 1, 0.25, False),
    ]  # fmt: skip
    strokes = [one.get_segments()[0] for one in drawn.collections]  # a bar of no length has its end
    assert [one[:, 0].tolist() for one in strokes] == [[8.5] * 2, [40] * 2, [1] * 2, [0.25] * 2]
    assert [one[1, 1] - one[0, 1] for one in strokes] == pytest.approx([0.32] * 4)
    assert {one.get_linewidth()[0] for one in drawn.collections} == {4}
    places = [(1, 1), (8.5, -0.18), (50, 0.18), (1, 0.82), (1, 1.18)]  # behind bar and interval
    assert [text for text, _ in words(drawn)] == [
        "1: no difference",
        "8.5",
        "40 slower",
        "1",
        "0.25",
    ]
    assert [where for _, where in words(drawn)] == [pytest.approx(place) for place in places]
    one, *intervals = drawn.lines
    assert list(one.get_xdata()) == [1, 1]
    assert [line.get_xydata().tolist() for line in intervals] == [
        [[30, 0.18], [50, 0.18]],
        [[0.2, 1.18], [0.3, 1.18]],
    ]
    kinds = ["predicted", "measured, with\nits 95 % interval"]
    assert names(drawn) == ["c", "b"] and legend(drawn) == kinds
    assert drawn.get_xlabel() == "time, as multiples of “a”: slower to the right"
    assert drawn.get_xscale() == "log"
    assert drawn.get_xlim()[0] < 0.2 and drawn.get_xlim()[1] > 50
    single = plots.draw_claim("a", {"b": 1}, {"b": Ratio(1, 1, 1)}, ax())
    assert legend(single) == kinds


def test_runs_stand_over_their_lower_quartile_and_their_mean():
    drawn = plots.draw_runs([2.0, 2.0, 4.0, 4.0, 12.0], ax())
    assert drawn.lines[0].get_xydata().tolist() == [[1, 1], [2, 1], [3, 2], [4, 2], [5, 6]]
    assert [line.get_ydata()[0] for line in drawn.lines[1:]] == pytest.approx([1, 2.4])
    assert [text for text, _ in words(drawn)] == ["lower quartile", "mean"]
    assert [at for _, (_, at) in words(drawn)] == pytest.approx([1, 2.4])
    assert [text.get_va() for text in drawn.texts] == ["center", "center"]
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("run", "times the quartile")
    assert drawn.get_yscale() == "log"


def test_a_mean_near_the_quartile_leaves_its_word_room():
    drawn = plots.draw_runs([1.0, 1.0, 1.0, 1.1], ax())
    assert [text.get_va() for text in drawn.texts] == ["top", "bottom"]


def test_a_measured_picture_has_stable_words_and_closes_its_figure():
    other, drawn = plt.figure(), plots.draw_roofline({"add": 0.5})
    before = plt.get_fignums()
    data, about = plots.MeasuredPicture(drawn, "half of it")._repr_mimebundle_()
    assert drawn.get_title(loc="left") == "half of it"
    assert data["text/plain"] == "half of it"
    picture = {"width": 800, "height": 134, "measured": True}
    assert about == {"image/png": picture, "needs_background": "light"}
    assert len(plt.get_fignums()) == len(before) - 1 and other.number in plt.get_fignums()
    plt.close(other)
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.format == "PNG" and image.width == 8 * plots.DPI
    colours = {color for _, color in image.convert("RGB").getcolors()}
    near = [max(map(abs, map(int.__sub__, rgb(plots.BLUE), color))) for color in colours]
    assert len(colours) <= 32 and min(near) < 16  # the bar has kept its own


def test_on_pages_a_measured_picture_is_there_for_phones_too(monkeypatch):
    """Nothing is cut: words go on in a new line, and the legend stands below."""
    words = "time falls to about 8, stays nearly flat to 32, and then halves with each step"
    monkeypatch.setenv(plots.IS_FOR_PAGES, "")
    drawn = plots.draw_predicted(
        {"a name of some length": 1, "b": 2}, {"a name of some length": 1, "b": 3}
    )
    data, _ = plots.MeasuredPicture(drawn, words)._repr_mimebundle_()
    images = [
        Image.open(io.BytesIO(base64.b64decode(data[kind]))) for kind in ("image/png", plots.NARROW)
    ]
    assert [image.width for image in images] == [
        8 * plots.DPI,
        round(plots.NARROW_INCHES * plots.DPI),
    ]
    figure = drawn.figure
    page, renderer = figure.bbox, figure.canvas.get_renderer()
    written = [figure._suptitle, drawn.xaxis.label, *drawn.get_yticklabels(), *figure.legends]
    boxes = [one.get_window_extent(renderer) for one in written]
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    assert not any(box.overlaps(drawn.bbox) for box in boxes)


SHEETS = ("labextension/static/extension.js", "stridekit/export/pages.css")


def turned(color):
    """The colour that the filter of the style sheets makes of another, by its specification."""
    root = Path(__file__).parent.parent
    found = {
        re.search(r"light-background \{ filter: invert\((\S+)\) hue-rotate\(180deg\); \}", sheet)[1]
        for sheet in ((root / name).read_text(encoding="utf-8") for name in SHEETS)
    }
    [amount] = map(float, found)  # the same in JupyterLab as on the pages
    inverted = np.array(rgb(color)) / 255 * (1 - 2 * amount) + amount
    grey = np.array([0.213, 0.715, 0.072])
    return np.clip(2 * grey @ inverted - inverted, 0, 1)


def contrast(one, other):
    """The ratio of WCAG between two colours from 0 to 1."""
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in (one, other)]
    dark, light = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ c) for c in linear)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", ["INK", "MUTED", "BLUE", "RUST", "GREEN"])
def test_pictures_can_be_read_in_the_light_and_turned_over_in_the_dark(name):
    """Text and marks have 4.5:1 on white; turned over, on what becomes of white and on both dark papers."""
    light = np.array(rgb(getattr(plots, name))) / 255
    assert contrast(light, np.ones(3)) >= 4.5
    for paper in (
        turned("#ffffff"),
        np.array(rgb("#111111")) / 255,
        np.array(rgb(palette.PAPER[1])) / 255,
    ):
        assert contrast(turned(getattr(plots, name)), paper) >= 4.5
    assert np.abs(turned("#ffffff") * 255 - 17).max() < 1.5  # JupyterLab's own dark


def rgb(text):
    return tuple(int(two, 16) for two in re.findall("[0-9a-f]{2}", text))


def test_without_axes_a_figure_is_made():
    """The figure has the look of the suite, whatever the style is."""
    before = plt.get_fignums()
    with plt.style.context("dark_background"):
        made = plots.draw_roofline({"add": 0.5})
    assert len(plt.get_fignums()) == len(before) + 1
    assert made.figure.get_facecolor() == (1, 1, 1, 1)
    plt.close(made.figure)
