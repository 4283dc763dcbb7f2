"""Plots: they draw on the given Axes, and show the given numbers.

What is drawn is asked for by where it stands. Texts of all kinds in one heap would hold anything: a
missing number is found among the ticks.
"""

import base64
import io
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

from stridekit.lessons import plots
from stridekit.timing import Ratio
from stridekit.widgets import palette


def words(drawn):
    return [(text.get_text(), pytest.approx(text.xy)) for text in drawn.texts]


def legend(drawn):
    return [text.get_text() for text in drawn.get_legend().get_texts()]


def points(line):
    return pytest.approx(line.get_xydata())


def test_a_sweep_draws_a_curve_for_each_name_and_its_intervals():
    """A ratio stands at its value, and a line in the colour of its curve covers its interval."""
    curves = {"p": [1, 2, 4], "m": [1, Ratio(2, 1.5, 2.5), 3], "n": [4, 2, 1]}
    drawn = plots.draw_sweep([1, 2, 4], curves, marks={2: "here", 4: "there"})
    level, *lines, here, there = drawn.lines
    p, m, interval, n = lines
    assert list(level.get_ydata()) == [1, 1]  # no difference
    assert [list(line.get_ydata()) for line in (p, m, n)] == [[1, 2, 4], [1, 2, 3], [4, 2, 1]]
    assert all(list(line.get_xdata()) == [1, 2, 4] for line in (p, m, n))
    assert interval.get_xydata().tolist() == [[2, 1.5], [2, 2.5]]
    assert interval.get_color() == m.get_color()
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in (p, m, n)]
    assert all(len(set(kind)) == 3 for kind in zip(*looks, strict=True))
    assert words(drawn) == [("here", (2, 0)), ("there", (4, 0))]
    assert [line.get_xdata()[0] for line in (here, there)] == [2, 4]
    assert drawn.texts[0].xyann[1] < drawn.texts[1].xyann[1]  # neighbours in two lines
    assert legend(drawn) == ["p", "m", "n"]
    assert (drawn.get_xscale(), drawn.get_yscale()) == ("log", "log")
    assert drawn.xaxis.get_transform().base == drawn.yaxis.get_transform().base == 2
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("stride, in elements", "times stride 1")


# FLOP and bytes of each job, and its seconds: 12 GB/s, 20 GFLOP/s, and 6 of the 20 that its bytes allow.
JOBS = {"dot": (2e9, 1e6), "add": (1e6, 12e6), "half": (6e6, 3e6)}
TAKEN = {"add": 1e-3, "dot": 0.1, "half": 1e-3}


def roofline(seconds, jobs=JOBS, memory="add", arithmetic="dot"):
    return plots.draw_roofline(jobs, seconds, memory=memory, arithmetic=arithmetic)


def test_a_roofline_has_the_ceilings_that_two_jobs_reach():
    """The slope goes through the one, the height through the other, and the ridge lies where they meet."""
    drawn = roofline({"recorded": TAKEN, "here": {"add": 2e-3, "dot": 0.2}})
    roof, ridge, recorded, _, _, here, *_ = drawn.lines
    assert points(roof) == [[1 / 24, 0.5], [20 / 12, 20], [4000, 20]]
    assert list(ridge.get_xdata()) == pytest.approx([20 / 12] * 2)
    assert points(recorded) == [[2000, 20], [1 / 12, 1], [2, 6]]
    assert points(here) == [[2000, 10], [1 / 12, 0.5]]
    # The jobs are numbered from left to right, beside their points.
    assert words(drawn) == [("1", (1 / 12, 1)), ("2", (2, 6)), ("3", (2000, 20))]
    assert all(np.hypot(*text.xyann) > 8 for text in drawn.texts)
    ceilings = ["recorded: 12 GB/s,\n20 GFLOP/s", "measured here: 6 GB/s,\n10 GFLOP/s"]
    assert legend(drawn) == [*ceilings, "1  add", "2  half", "3  dot"]
    fills = [line.get_markerfacecolor() for line in (recorded, here)]
    assert fills == [plots.RUST, "white"] and here.get_color() == plots.GREEN
    assert (drawn.get_xscale(), drawn.get_yscale()) == ("log", "log")
    assert drawn.get_xlabel() == "FLOP per byte; the dotted line is the ridge"
    assert drawn.get_ylabel() == "GFLOP/s"


def test_a_claim_stands_on_bars_as_long_as_the_time():
    """In the order of the predicted names, whatever the order of the others."""
    here = {"c": Ratio(30.0, 25.0, 60.0)}
    recorded = {"b": Ratio(0.25, 0.2, 0.3), "c": Ratio(40.0, 30.0, 50.0)}
    kinds = {"predicted": {"c": 8.5, "b": 1}, "recorded": recorded, "here": here}
    drawn = plots.draw_claim("a", kinds)
    off = 0.8 / 3
    rows = [-off, 1 - off, 1, 0, off]
    _, *bars = drawn.patches  # the first is the band of the same
    assert [bar.get_y() + bar.get_height() / 2 for bar in bars] == pytest.approx(rows)
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [
        (0, length) for length in (8.5, 1, 0.25, 40, 30)
    ]
    assert [bool(bar.get_hatch()) for bar in bars] == [True, True, False, False, False]
    told = ["1: no difference", "8.5x slower", "same", "4x faster", "40x slower", "30x slower"]
    ends = [8.5, 1, 1, 50, 60]  # behind the interval
    assert words(drawn) == list(zip(told, [(1, 1), *zip(ends, rows, strict=True)], strict=True))
    middle, *intervals = drawn.lines
    assert list(middle.get_xdata()) == [1, 1]
    assert [line.get_xdata().tolist() for line in intervals] == [[0.2, 0.3], [30, 50], [25, 60]]
    assert [line.get_ydata()[0] for line in intervals] == pytest.approx([1, 0, off])
    interval = "with\nits 95 % interval"
    assert legend(drawn) == ["predicted", f"recorded, {interval}", f"measured here, {interval}"]
    assert [label.get_text() for label in drawn.get_yticklabels()] == ["c", "b"]
    assert drawn.get_ylim() == (1.5, -0.5)  # from top to bottom
    assert drawn.get_xlabel() == "time, as multiples of “a”"
    assert drawn.get_xscale() == "linear"
    assert drawn.get_xlim()[0] == 0 and drawn.get_xlim()[1] > 60
    assert plots.in_words(0) == "0x faster"


def test_a_claim_of_many_names_stays_on_a_screen():
    predicted = {f"the sum of a transposed matrix, into rows {k}": 1.0 for k in range(8)}
    measured = dict.fromkeys(predicted, Ratio(1, 0.9, 1.1))
    drawn = plots.draw_claim("a", {"predicted": predicted, "recorded": measured, "here": measured})
    assert drawn.figure.get_size_inches().tolist() == pytest.approx([8, 4.75])
    assert drawn.get_yticklabels()[0].get_text() == "the sum of a\ntransposed matrix,\ninto rows 0"


def test_runs_stand_over_their_own_quartile_and_the_mean_of_the_recorded_ones():
    recorded, here = [2.0, 2.0, 4.0, 4.0, 12.0], [30.0, 10.0, 10.0]
    drawn = plots.draw_runs({"recorded": recorded, "here": here})
    first, further, quartile, mean = drawn.lines
    assert first.get_xydata().tolist() == [[1, 1], [2, 1], [3, 2], [4, 2], [5, 6]]
    assert further.get_xydata().tolist() == [[1, 3], [2, 1], [3, 1]]
    assert first.get_marker() != further.get_marker() and legend(drawn) == ["recorded", "here"]
    assert [line.get_ydata()[0] for line in (quartile, mean)] == pytest.approx([1, 2.4])
    assert words(drawn) == [("lower quartile", (1, 1)), ("mean", (1, 2.4))]
    assert [text.get_va() for text in drawn.texts] == ["top", "bottom"]  # never on one another
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("run", "times the quartile")
    assert drawn.get_yscale() == "log"
    assert plots.draw_runs({"recorded": recorded}).get_legend() is None


RATIOS = {"a name that is of quite some length": Ratio(3, 1, 90), "b": Ratio(0.02, 0.01, 0.03)}
CLAIM = {"predicted": dict.fromkeys(RATIOS, 2), "recorded": RATIOS, "here": RATIOS}
PICTURES = {
    "claim": lambda: plots.draw_claim("a", CLAIM),
    "roofline": lambda: roofline({"here": TAKEN | {"half": 1e-4}}),
    "sweep": lambda: plots.draw_sweep([1, 2], {"one": [1, 2], "two": [2, 1]}),
    "runs": lambda: plots.draw_runs({"recorded": [1.0, 2.0]}),
}
SENTENCE = "time falls to about 8, stays nearly flat to 32, and then halves with each step"


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_a_note_stands_below_in_lines_by_which_the_picture_is_higher(draw):
    drawn, where = draw(), "one machine after another, " * 6
    before = drawn.figure.get_figheight()
    with plt.style.context("dark_background"):  # which changes nothing
        plots.MeasuredPicture(drawn, "x", noise=["y"], where=where)._repr_mimebundle_()
    assert drawn.figure.get_facecolor() == drawn.get_facecolor() == (1, 1, 1, 1)
    assert drawn.figure.get_figheight() - before == pytest.approx(0.3)
    note, page = drawn.figure._supxlabel, drawn.figure.bbox
    assert note.get_text() == where and note.get_color() == plots.MUTED
    assert note._get_wrapped_text().count("\n") == 1
    box = note.get_window_extent()
    assert box.x0 > 0 and box.y0 >= 0 and box.x1 < page.x1
    assert box.y1 < drawn.xaxis.label.get_window_extent().y0


def open_png(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


def test_a_measured_picture_has_stable_words_and_is_shown_by_its_cell_alone():
    """pyplot does not know the figure; noise is folded below it."""
    drawn = PICTURES["sweep"]()
    assert plt.get_fignums() == []
    picture = plots.MeasuredPicture(drawn, "half of it", title="half", noise=("1 < 2", "x"))
    data, about = picture._repr_mimebundle_()
    assert drawn.get_title(loc="left") == "half" and data["text/plain"] == "half of it"
    look = {"width": 800, "height": 320, "measured": True}
    assert about == {"image/png": look, "needs_background": "light"}
    assert "<summary>noisy (2)</summary>1 &lt; 2<br>x</details>" in data["text/html"]
    assert data["image/png"] in data["text/html"]
    image = open_png(data["image/png"])
    assert image.format == "PNG" and image.width == 8 * plots.DPI
    colours = {color for _, color in image.convert("RGB").getcolors()}
    near = [np.abs(np.array(to_rgb(plots.BLUE)) * 255 - color).max() for color in colours]
    assert len(colours) <= 32 and min(near) < 16  # the bar has kept its own


@pytest.mark.parametrize("name", ["claim", "roofline", "sweep"])
def test_on_pages_a_measured_picture_is_there_for_phones_too(monkeypatch, name):
    """Nothing is cut: words go on in a new line, and the legend stands above."""
    monkeypatch.setenv(plots.IS_FOR_PAGES, "")
    title, drawn = SENTENCE * (name != "claim"), PICTURES[name]()
    kinds, where = len(legend(drawn)), "a machine whose name goes on " * 3
    picture = plots.MeasuredPicture(drawn, SENTENCE, title=title, where=where)
    data, _ = picture._repr_mimebundle_()
    widths = [open_png(data[kind]).width for kind in ("image/png", plots.NARROW)]
    assert widths == [8 * plots.DPI, round(plots.NARROW_INCHES * plots.DPI)]
    figure = drawn.figure
    figure.draw_without_rendering()
    page = figure.bbox
    named = drawn.get_yticklabels() if name == "claim" else []
    written = [drawn._left_title, figure._supxlabel, *named, *figure.legends]
    boxes = [text.get_window_extent() for text in (drawn.xaxis.label, *written)]
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    assert all(page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    assert not any(box.overlaps(drawn.bbox) for box in boxes)
    assert not any(a.overlaps(b) for k, a in enumerate(boxes[1:]) for b in boxes[1 : k + 1])
    ticks = [tick.get_window_extent() for tick in drawn.get_xticklabels()]
    assert all(left.x1 <= right.x0 for left, right in pairwise(ticks))
    assert len(figure.legends[0].get_texts()) == kinds and drawn.get_legend() is None


@pytest.mark.parametrize("name", [r"$\alpha$, in $", "$x$, $y$", "_private", r"\$"])
def test_names_are_shown_as_they_are(name, monkeypatch):
    """matplotlib reads what stands between two $ as a formula, and hides names that begin with _."""
    monkeypatch.setenv(plots.IS_FOR_PAGES, "")
    monkeypatch.setattr(plots, "png", lambda figure: "")  # which takes a second
    kinds = {"predicted": {name: 2, "b": 1}, "here": {name: Ratio(3, 1, 90)}}
    jobs, marks = {name: (1, 2), "b": (3, 4)}, {"marks": {1: name}, "xlabel": name, "ylabel": name}
    for drawn, places in (
        (plots.draw_claim(name, kinds), 4),
        (roofline({"here": {name: 1, "b": 1}}, jobs, name, "b"), 3),
        (plots.draw_sweep([1, 2], {name: [1, 2]}, **marks), 6),
    ):
        plots.MeasuredPicture(drawn, name, title=name, where=name)._repr_mimebundle_()
        texts = [text for text in drawn.figure.findobj(Text) if name in text.get_text()]
        assert len(texts) >= places and not any(text.get_parse_math() for text in texts)


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_can_be_read_on_paper_and_ink_on_each_tint(theme):
    """With a ratio of WCAG of 4.5 or more, in pictures and widgets, in the light and in the dark."""
    texts = [palette.INK, palette.OFFSET, palette.MUTED, palette.GOOD, palette.BAD, *palette.DIMS]
    pairs = [(palette.PAPER, text) for text in texts]
    pairs += [(palette.INK, tint) for tint in palette.ROWS]
    rgb = np.array([[to_rgb(colour[theme]) for colour in pair] for pair in pairs])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lights = np.sort(linear @ [0.2126, 0.7152, 0.0722]) + 0.05
    assert (lights[:, 1] / lights[:, 0]).min() >= 4.5
