"""Plots: they draw on the given Axes, and show the given numbers.

What is drawn is asked for by where it stands. Texts of all kinds in one heap would hold anything: a
missing number is found among the ticks.
"""

import base64
import io
import re
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from stridekit.lessons import plots
from stridekit.timing import Comparison, Ratio
from stridekit.widgets import palette

COMPARISON = Comparison(
    {"rows": [[1e-3, 1e-3]] * 4, "columns": [[3e-3, 3e-3]] * 4, "again": [[1e-3, 1e-3]] * 4},
    [[0, 1, 2]] * 4, dict.fromkeys(("rows", "columns", "again"), 1), 1, "cpu",
)  # fmt: skip


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


def supxlabel(drawn):
    return drawn.figure.get_supxlabel()


def bars(drawn):
    """The rows of bars, from one end to the other, and whether they are hatched."""
    return [
        (round(bar.get_y() + bar.get_height() / 2, 9), bar.get_x(), bar.get_x() + bar.get_width(),
         bool(bar.get_hatch()))
        for bar in drawn.patches
    ]  # fmt: skip


def test_a_sweep_draws_a_curve_for_each_name():
    curves = {"p": [1, 2, 4], "m": [1, 2, 3], "n": [4, 2, 1]}
    drawn = plots.draw_sweep([1, 2, 4], curves, marks={2: "here"})
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
    named = plots.draw_sweep([1, 2], {"p": [1, 2]}, xlabel="rank", ylabel="time")
    assert (named.get_xlabel(), named.get_ylabel()) == ("rank", "time")


def test_a_measured_curve_has_its_intervals():
    """A ratio stands at its value, and a line in the colour of its curve covers its interval."""
    measured = [1, Ratio(0.5, 0.4, 0.7), Ratio(0.25, 0.2, 0.3)]
    drawn = plots.draw_sweep([1, 2, 4], {"m": measured})
    _, curve, *intervals = drawn.lines
    assert list(curve.get_ydata()) == [1, 0.5, 0.25]
    ends = [line.get_xydata().tolist() for line in intervals]
    assert ends == [[[2, 0.4], [2, 0.7]], [[4, 0.2], [4, 0.3]]]
    assert {line.get_color() for line in intervals} == {curve.get_color()}


JOBS = {"dot": (2e9, 1e6), "add": (1e6, 12e6), "half": (6e6, 3e6)}
# 12 GB/s, 20 GFLOP/s, and 6 of the 20 that its bytes allow.
TAKEN = {"add": 1e-3, "dot": 0.1, "half": 1e-3}


def roofline(seconds, jobs=JOBS, **options):
    return plots.draw_roofline(jobs, seconds, memory="add", arithmetic="dot", **options)


def test_a_roofline_has_the_ceilings_that_two_jobs_reach():
    """The slope goes through the one, the height through the other, and the ridge lies where they meet."""
    drawn = roofline({"recorded": TAKEN})
    roof, ridge, points = drawn.lines[:3]
    ends = [1 / 24, 20 / 12, 4000]
    assert list(roof.get_xdata()) == pytest.approx(ends)
    assert list(roof.get_ydata()) == pytest.approx([0.5, 20, 20])
    assert list(ridge.get_xdata()) == pytest.approx([20 / 12] * 2)
    assert points.get_xydata().tolist() == [
        pytest.approx(at) for at in ([2000, 20], [1 / 12, 1], [2, 6])
    ]
    assert (drawn.get_xscale(), drawn.get_yscale()) == ("log", "log")
    assert drawn.get_xlabel() == "FLOP per byte; the dotted line is the ridge"
    assert drawn.get_ylabel() == "GFLOP/s"


def test_the_jobs_are_numbered_from_left_to_right_and_named_beside():
    drawn = roofline({"recorded": TAKEN, "here": {"add": 2e-3, "dot": 0.2}})
    assert words(drawn) == [
        (text, pytest.approx(at))
        for text, at in (("1", (1 / 12, 1)), ("2", (2, 6)), ("3", (2000, 20)))
    ]
    assert all(np.hypot(*text.xyann) > 8 for text in drawn.texts)
    ceilings = ["recorded: 12 GB/s,\n20 GFLOP/s", "measured here: 6 GB/s,\n10 GFLOP/s"]
    assert legend(drawn) == [*ceilings, "1  add", "2  half", "3  dot"]
    recorded, here = drawn.lines[2], drawn.lines[5]
    assert here.get_xydata().tolist() == [pytest.approx([2000, 10]), pytest.approx([1 / 12, 0.5])]
    fills = [line.get_markerfacecolor() for line in (recorded, here)]
    assert fills == [plots.RUST, "white"] and here.get_color() == plots.GREEN


def test_a_claim_stands_on_bars_as_long_as_the_time():
    """In the order of the predicted names, whatever the order of the others."""
    here = {"c": Ratio(30.0, 25.0, 60.0)}
    recorded = {"b": Ratio(0.25, 0.2, 0.3), "c": Ratio(40.0, 30.0, 50.0)}
    kinds = {"predicted": {"c": 8.5, "b": 1}, "recorded": recorded, "here": here}
    drawn = plots.draw_claim("a", kinds)
    off = 0.8 / 3
    assert bars(drawn)[1:] == [  # the first is the band of the same
        (pytest.approx(y), 0, end, hatched)
        for y, end, hatched in [
            (-off, 8.5, True), (1 - off, 1, True), (1, 0.25, False), (0, 40, False), (off, 30, False),
        ]
    ]  # fmt: skip
    told = ["1: no difference", "8.5x slower", "same", "4x faster", "40x slower", "30x slower"]
    places = [(1, 1), (8.5, -off), (1, 1 - off), (1, 1), (50, 0), (60, off)]  # behind the interval
    assert words(drawn) == [
        (text, pytest.approx(at)) for text, at in zip(told, places, strict=True)
    ]
    middle, *intervals = drawn.lines
    assert list(middle.get_xdata()) == [1, 1]
    assert [line.get_xdata().tolist() for line in intervals] == [[0.2, 0.3], [30, 50], [25, 60]]
    assert [line.get_ydata().tolist() for line in intervals] == [
        pytest.approx([y, y]) for y in (1, 0, off)
    ]
    interval = "with\nits 95 % interval"
    assert legend(drawn) == ["predicted", f"recorded, {interval}", f"measured here, {interval}"]
    assert names(drawn) == ["c", "b"]
    assert drawn.get_xlabel() == "time, as multiples of “a”"
    assert drawn.get_xscale() == "linear"
    assert drawn.get_xlim()[0] == 0 and drawn.get_xlim()[1] > 60


def test_noise_is_folded_below_a_picture_that_was_measured_here():
    drawn = plots.draw_runs({"here": [1.0, 2.0]})
    noisy = plots.MeasuredPicture(drawn, "runs", noise=("1 < 2", "x"))._repr_mimebundle_()[0]
    assert "<summary>noisy (2)</summary>1 &lt; 2<br>x</details>" in noisy["text/html"]
    assert noisy["image/png"] in noisy["text/html"]


def test_a_claim_of_many_names_stays_on_a_screen():
    """Eight names of three kinds; long names go on in a second line."""
    predicted = {f"the sum of a transposed matrix, into rows {k}": 1.0 for k in range(8)}
    measured = dict.fromkeys(predicted, Ratio(1, 0.9, 1.1))
    drawn = plots.draw_claim("a", {"predicted": predicted, "recorded": measured, "here": measured})
    assert drawn.figure.get_size_inches().tolist() == pytest.approx([8, 4.75])
    assert names(drawn)[0] == "the sum of a\ntransposed matrix,\ninto rows 0"


def test_a_note_stands_below_every_picture():
    """In lines of the figure's width, by which it is higher."""
    where = "one machine after another, " * 6
    for drawn in (
        plots.draw_claim("a", {"predicted": {"b": 1}}),
        plots.draw_sweep([1, 2], {"p": [1, 2]}),
        plots.draw_runs({"recorded": [1.0, 2.0]}),
        plots.draw_roofline(JOBS, {"here": TAKEN}, memory="add", arithmetic="dot"),
    ):
        before = drawn.figure.get_figheight()
        plots.MeasuredPicture(drawn, "x", noise=["y"], where=where)._repr_mimebundle_()
        assert supxlabel(drawn) == where
        assert drawn.figure.get_figheight() - before == pytest.approx(0.3)
        notes, page = drawn.figure._supxlabel, drawn.figure.bbox
        box = notes.get_window_extent()
        assert notes._get_wrapped_text().count("\n") == 1 and notes.get_color() == plots.MUTED
        assert box.x0 > 0 and box.y0 >= 0 and box.x1 < page.x1
        assert box.y1 < drawn.xaxis.label.get_window_extent().y0
    with plt.style.context("dark_background"):  # which changes nothing
        bare = plots.MeasuredPicture(plots.draw_runs({"recorded": [1.0, 2.0]}), "x")
    assert bare.figure.get_facecolor() == bare.ax.get_facecolor() == (1, 1, 1, 1)
    assert bare.figure.get_figheight() == pytest.approx(2.4) and supxlabel(bare.ax) == ""


def test_runs_stand_over_their_lower_quartile_and_their_mean():
    drawn = plots.draw_runs({"recorded": [2.0, 2.0, 4.0, 4.0, 12.0]})
    assert drawn.lines[0].get_xydata().tolist() == [[1, 1], [2, 1], [3, 2], [4, 2], [5, 6]]
    assert [line.get_ydata()[0] for line in drawn.lines[1:]] == pytest.approx([1, 2.4])
    assert [text for text, _ in words(drawn)] == ["lower quartile", "mean"]
    assert [at for _, (_, at) in words(drawn)] == pytest.approx([1, 2.4])
    assert [text.get_va() for text in drawn.texts] == ["top", "bottom"]  # never on one another
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("run", "times the quartile")
    assert drawn.get_yscale() == "log"


def test_further_runs_have_a_quartile_of_their_own():
    """The mean is that of the recorded ones."""
    runs = {"recorded": [2.0, 2.0, 4.0, 4.0, 12.0], "here": [30.0, 10.0, 10.0]}
    drawn = plots.draw_runs(runs)
    assert drawn.lines[1].get_xydata().tolist() == [[1, 3], [2, 1], [3, 1]]
    assert [line.get_ydata()[0] for line in drawn.lines[2:]] == pytest.approx([1, 2.4])
    assert legend(drawn) == ["recorded", "here"]
    assert len({line.get_marker() for line in drawn.lines[:2]}) == 2


def test_a_measured_picture_has_stable_words_and_is_shown_by_its_cell_alone():
    """pyplot does not know the figure."""
    drawn = plots.draw_sweep([1, 2], {"add": [1, 0.5]})
    assert plt.get_fignums() == []
    data, about = plots.MeasuredPicture(drawn, "half of it", title="half")._repr_mimebundle_()
    assert drawn.get_title(loc="left") == "half" and data["text/plain"] == "half of it"
    look = {"width": 800, "height": 320, "measured": True}
    assert about == {"image/png": look, "needs_background": "light"}
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.format == "PNG" and image.width == 8 * plots.DPI
    colours = {color for _, color in image.convert("RGB").getcolors()}
    near = [max(map(abs, map(int.__sub__, rgb(plots.BLUE), color))) for color in colours]
    assert len(colours) <= 32 and min(near) < 16  # the bar has kept its own


def test_on_pages_a_measured_picture_is_there_for_phones_too(monkeypatch):
    """Nothing is cut: words go on in a new line, and the legend stands above."""
    words = "time falls to about 8, stays nearly flat to 32, and then halves with each step"
    monkeypatch.setenv(plots.IS_FOR_PAGES, "")
    name, where = "a name that is of quite some length", "a machine whose name goes on " * 3
    ratios = {name: Ratio(3, 1, 90), "b": Ratio(0.02, 0.01, 0.03)}
    kinds = {"predicted": {name: 2, "b": 1}, "recorded": ratios, "here": ratios}
    jobs = {"add": TAKEN["add"], "dot": TAKEN["dot"], "half": 1e-4}
    for title, drawn in (
        ("", plots.draw_claim("a", kinds)),
        (words, plots.draw_roofline(JOBS, {"here": jobs}, memory="add", arithmetic="dot")),
        (words, plots.draw_sweep([1, 2], {"one": [1, 2], "two": [2, 1]})),
    ):
        kinds = len(legend(drawn))
        data, _ = plots.MeasuredPicture(drawn, words, title=title, where=where)._repr_mimebundle_()
        png = [io.BytesIO(base64.b64decode(data[kind])) for kind in ("image/png", plots.NARROW)]
        widths = [8 * plots.DPI, round(plots.NARROW_INCHES * plots.DPI)]
        assert [Image.open(image).width for image in png] == widths
        figure = drawn.figure
        figure.draw_without_rendering()
        page = figure.bbox
        named = drawn.get_yticklabels() if "b" in names(drawn) else []
        ticks = drawn.get_xticklabels()
        written = [drawn._left_title, figure._supxlabel, *named, *figure.legends]
        boxes = [one.get_window_extent() for one in (drawn.xaxis.label, *written)]
        assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
        assert all(page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
        assert not any(box.overlaps(drawn.bbox) for box in boxes)
        boxes = [one.get_window_extent() for one in written]
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
        ends = [(one.x0, one.x1) for one in (tick.get_window_extent() for tick in ticks)]
        assert all(a[1] <= b[0] for a, b in pairwise(ends))
        assert len(figure.legends[0].get_texts()) == kinds and drawn.get_legend() is None


@pytest.mark.parametrize("name", [r"$\alpha$, in $", "$x$, $y$", "_private", r"\$"])
def test_names_are_shown_as_they_are(name, monkeypatch):
    """matplotlib reads what stands between two $ as a formula, and hides names that begin with _."""
    monkeypatch.setenv(plots.IS_FOR_PAGES, "")
    kinds = {"predicted": {name: 2, "b": 1}, "here": {name: Ratio(3, 1, 90)}}
    jobs, roof = {name: (1, 2), "b": (3, 4)}, {"memory": name, "arithmetic": "b"}
    marks = {"marks": {1: name}, "xlabel": name, "ylabel": name}
    for drawn, places in (
        (plots.draw_claim(name, kinds), 4),
        (plots.draw_roofline(jobs, {"here": {name: 1, "b": 1}}, **roof), 3),
        (plots.draw_sweep([1, 2], {name: [1, 2]}, **marks), 6),
    ):
        plots.MeasuredPicture(drawn, name, title=name, where=name)._repr_mimebundle_()
        texts = [text for text in drawn.figure.findobj(Text) if name in text.get_text()]
        assert len(texts) >= places and not any(text.get_parse_math() for text in texts)


SHEETS = ("labextension/static/extension.js", "stridekit/export/static/site.css")


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
    dark = [np.array(rgb(color)) / 255 for color in ("#111111", palette.PAPER[1])]
    for paper in (turned("#ffffff"), *dark):
        assert contrast(turned(getattr(plots, name)), paper) >= 4.5
    assert np.abs(turned("#ffffff") * 255 - 17).max() < 1.5  # JupyterLab's own dark


def rgb(text):
    return tuple(int(two, 16) for two in re.findall("[0-9a-f]{2}", text))
