"""Plots: they draw on the given Axes, and show the given numbers.

The tests read each text and line at its place. In a list of all texts, a missing number might be found
among the ticks.
"""

import base64
import io
from itertools import combinations, pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

from stridekit.lessons import plots
from stridekit.timing import Ratio
from stridekit.widgets import palette


def words_and_places(axes):
    return [(text.get_text(), pytest.approx(text.xy)) for text in axes.texts]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def points(line):
    return pytest.approx(line.get_xydata())


def heights(lines):
    return pytest.approx([line.get_ydata()[0] for line in lines])


def test_a_sweep_draws_a_curve_for_each_name_and_its_intervals():
    """A ratio stands at its value, and a line in the colour of its curve covers its interval."""
    curves = {
        "p": [1, 2, 4],
        "m": [1, Ratio(2, 1.5, 2.5), 3],
        "n": [4, 2, 1],
    }
    axes = plots.draw_sweep([1, 2, 4], curves, marks={2: "here", 4: "there"})
    no_difference, p, m, interval, n, here, there = axes.lines
    assert list(no_difference.get_ydata()) == [1, 1]
    assert list(p.get_ydata()) == [1, 2, 4]
    assert list(m.get_ydata()) == [1, 2, 3]
    assert list(n.get_ydata()) == [4, 2, 1]
    for line in (p, m, n):
        assert list(line.get_xdata()) == [1, 2, 4]
    assert interval.get_xydata().tolist() == [[2, 1.5], [2, 2.5]]
    assert interval.get_color() == m.get_color()
    for look in ("get_color", "get_marker", "get_linestyle"):
        assert len({getattr(line, look)() for line in (p, m, n)}) == 3
    assert words_and_places(axes) == [("here", (2, 0)), ("there", (4, 0))]
    assert here.get_xdata()[0] == 2
    assert there.get_xdata()[0] == 4
    first_text, second_text = axes.texts
    assert first_text.xyann[1] < second_text.xyann[1]  # neighbours stand at two heights
    assert legend(axes) == ["p", "m", "n"]
    assert axes.get_xscale() == "log"
    assert axes.get_yscale() == "log"
    assert axes.xaxis.get_transform().base == 2
    assert axes.yaxis.get_transform().base == 2
    assert axes.get_xlabel() == "stride, in elements"
    assert axes.get_ylabel() == "times stride 1"


# FLOP and bytes of each job, and its seconds: 12 GB/s, 20 GFLOP/s, and 6 of the 20 that its bytes allow.
JOBS = {"dot": (2e9, 1e6), "add": (1e6, 12e6), "half": (6e6, 3e6)}
SECONDS = {"add": 1e-3, "dot": 0.1, "half": 1e-3}


def roofline(seconds, jobs=JOBS, memory="add", arithmetic="dot"):
    return plots.draw_roofline(jobs, seconds, memory=memory, arithmetic=arithmetic)


def test_a_roofline_has_the_ceilings_that_two_jobs_reach():
    """The slope goes through one job, the height through the other, and the ridge lies where they meet."""
    axes = roofline({"recorded": SECONDS, "here": {"add": 2e-3, "dot": 0.2}})
    roof, ridge, recorded, _, _, here, *_ = axes.lines
    assert points(roof) == [[1 / 24, 0.5], [20 / 12, 20], [4000, 20]]
    assert list(ridge.get_xdata()) == pytest.approx([20 / 12] * 2)
    assert points(recorded) == [[2000, 20], [1 / 12, 1], [2, 6]]
    assert points(here) == [[2000, 10], [1 / 12, 0.5]]
    # The jobs are numbered from left to right, beside their points.
    assert words_and_places(axes) == [
        ("1", (1 / 12, 1)),
        ("2", (2, 6)),
        ("3", (2000, 20)),
    ]
    for text in axes.texts:
        assert np.hypot(*text.xyann) > 8
    assert legend(axes) == [
        "recorded: 12 GB/s,\n20 GFLOP/s",
        "measured here: 6 GB/s,\n10 GFLOP/s",
        "1  add",
        "2  half",
        "3  dot",
    ]
    assert recorded.get_markerfacecolor() == plots.RUST
    assert here.get_markerfacecolor() == "white"
    assert here.get_color() == plots.GREEN
    assert axes.get_xscale() == "log"
    assert axes.get_yscale() == "log"
    assert axes.get_xlabel() == "FLOP per byte; the dotted line is the ridge"
    assert axes.get_ylabel() == "GFLOP/s"


@pytest.fixture
def claim_axes():
    """A claim about b and c: the names have the order of the predictions."""
    ratios = {
        "predicted": {"c": 8.5, "b": 1},
        "recorded": {"b": Ratio(0.25, 0.2, 0.3), "c": Ratio(40.0, 30.0, 50.0)},
        "here": {"c": Ratio(30.0, 25.0, 60.0)},
    }
    return plots.draw_claim("a", ratios)


THIRD = 0.8 / 3  # the height of a bar
ROWS = [-THIRD, 1 - THIRD, 1, 0, THIRD]  # c and b as predicted, b and c as recorded, c here


def test_a_claim_stands_on_bars_as_long_as_the_time(claim_axes):
    _, *bars = claim_axes.patches  # the first is the band of no difference
    middles = [bar.get_y() + bar.get_height() / 2 for bar in bars]
    assert middles == pytest.approx(ROWS)
    assert [bar.get_x() for bar in bars] == [0] * 5
    assert [bar.get_width() for bar in bars] == [8.5, 1, 0.25, 40, 30]
    are_hatched = [bool(bar.get_hatch()) for bar in bars]
    assert are_hatched == [True, True, False, False, False]
    no_difference, *intervals = claim_axes.lines
    assert list(no_difference.get_xdata()) == [1, 1]
    spans = [line.get_xdata().tolist() for line in intervals]
    assert spans == [[0.2, 0.3], [30, 50], [25, 60]]
    assert heights(intervals) == [1, 0, THIRD]


def test_the_words_of_a_claim_stand_behind_its_bars_and_intervals(claim_axes):
    assert words_and_places(claim_axes) == [
        ("1: no difference", (1, 1)),
        ("8.5x slower", (8.5, ROWS[0])),
        ("same", (1, ROWS[1])),
        ("4x faster", (1, ROWS[2])),
        ("40x slower", (50, ROWS[3])),
        ("30x slower", (60, ROWS[4])),
    ]
    assert legend(claim_axes) == [
        "predicted",
        "recorded, with\nits 95 % interval",
        "measured here, with\nits 95 % interval",
    ]
    names = [label.get_text() for label in claim_axes.get_yticklabels()]
    assert names == ["c", "b"]
    assert claim_axes.get_ylim() == (1.5, -0.5)  # from top to bottom
    assert claim_axes.get_xlabel() == "time, as multiples of “a”"
    assert claim_axes.get_xscale() == "linear"
    left, right = claim_axes.get_xlim()
    assert left == 0
    assert right > 60
    assert plots.in_words(0) == "0x faster"


def test_a_claim_of_many_names_stays_on_a_screen():
    names = [f"the sum of a transposed matrix, into rows {k}" for k in range(8)]
    measured = dict.fromkeys(names, Ratio(1, 0.9, 1.1))
    ratios = {
        "predicted": dict.fromkeys(names, 1.0),
        "recorded": measured,
        "here": measured,
    }
    axes = plots.draw_claim("a", ratios)
    assert axes.figure.get_size_inches().tolist() == pytest.approx([8, 4.75])
    first_label = axes.get_yticklabels()[0]
    assert first_label.get_text() == "the sum of a\ntransposed matrix,\ninto rows 0"


def test_runs_stand_over_their_own_quartile_and_the_mean_of_the_recorded_ones():
    runs = {
        "recorded": [2.0, 2.0, 4.0, 4.0, 12.0],
        "here": [30.0, 10.0, 10.0],
    }
    axes = plots.draw_runs(runs)
    recorded, here, quartile, mean = axes.lines
    assert recorded.get_xydata().tolist() == [[1, 1], [2, 1], [3, 2], [4, 2], [5, 6]]
    assert here.get_xydata().tolist() == [[1, 3], [2, 1], [3, 1]]
    assert recorded.get_marker() != here.get_marker()
    assert legend(axes) == ["recorded", "here"]
    assert heights([quartile, mean]) == [1, 2.4]
    assert words_and_places(axes) == [("lower quartile", (1, 1)), ("mean", (1, 2.4))]
    alignments = [text.get_va() for text in axes.texts]
    assert alignments == ["top", "bottom"]  # never on one another
    assert axes.get_xlabel() == "run"
    assert axes.get_ylabel() == "times the quartile"
    assert axes.get_yscale() == "log"
    of_record = plots.draw_runs({"recorded": runs["recorded"]})
    assert of_record.get_legend() is None


RATIOS = {
    "a name that is of quite some length": Ratio(3, 1, 90),
    "b": Ratio(0.02, 0.01, 0.03),
}
CLAIM = {
    "predicted": dict.fromkeys(RATIOS, 2),
    "recorded": RATIOS,
    "here": RATIOS,
}
PICTURES = {
    "claim": lambda: plots.draw_claim("a", CLAIM),
    "roofline": lambda: roofline({"here": SECONDS | {"half": 1e-4}}),
    "sweep": lambda: plots.draw_sweep([1, 2], {"one": [1, 2], "two": [2, 1]}),
    "runs": lambda: plots.draw_runs({"recorded": [1.0, 2.0]}),
}
SENTENCE = "time falls to about 8, stays nearly flat to 32, and then halves with each step"


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_a_note_stands_below_in_lines_by_which_the_picture_is_higher(draw):
    axes = draw()
    figure = axes.figure
    where = "one machine after another, " * 6
    height = figure.get_figheight()
    with plt.style.context("dark_background"):  # changes nothing
        plots.MeasuredPicture(axes, "x", noise=["y"], where=where)._repr_mimebundle_()
    assert figure.get_facecolor() == (1, 1, 1, 1)
    assert axes.get_facecolor() == (1, 1, 1, 1)
    assert figure.get_figheight() - height == pytest.approx(0.3)
    note = figure._supxlabel
    assert note.get_text() == where
    assert note.get_color() == plots.MUTED
    assert note._get_wrapped_text().count("\n") == 1
    box = note.get_window_extent()
    assert box.x0 > 0
    assert box.y0 >= 0
    assert box.x1 < figure.bbox.x1
    assert box.y1 < axes.xaxis.label.get_window_extent().y0


def open_png(text):
    return Image.open(io.BytesIO(base64.b64decode(text)))


def test_a_measured_picture_has_stable_words_and_is_shown_by_its_cell_alone():
    """pyplot does not know the figure; noise is folded below it."""
    axes = PICTURES["sweep"]()
    assert plt.get_fignums() == []
    picture = plots.MeasuredPicture(axes, "half of it", title="half", noise=("1 < 2", "x"))
    data, metadata = picture._repr_mimebundle_()
    assert axes.get_title(loc="left") == "half"
    assert data["text/plain"] == "half of it"
    assert metadata == {
        "image/png": {"width": 800, "height": 320, "measured": True},
        "needs_background": "light",
    }
    assert "<summary>noisy (2)</summary>1 &lt; 2<br>x</details>" in data["text/html"]
    assert data["image/png"] in data["text/html"]


def test_a_measured_picture_has_few_colours_and_the_bars_keep_their_own():
    data, _ = plots.MeasuredPicture(PICTURES["sweep"](), "x")._repr_mimebundle_()
    image = open_png(data["image/png"])
    assert image.format == "PNG"
    assert image.width == 8 * plots.DPI
    pixels_and_colours = image.convert("RGB").getcolors()
    colours = np.array([colour for _, colour in pixels_and_colours])
    blue = np.array(to_rgb(plots.BLUE)) * 255
    distances = np.abs(colours - blue).max(axis=1)
    assert len(colours) <= 32
    assert distances.min() < 16


def assert_apart(boxes):
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)


@pytest.mark.parametrize("name", ["claim", "roofline", "sweep"])
def test_on_pages_a_measured_picture_is_there_for_phones_too(monkeypatch, name):
    """Nothing is cut: words go on in a new line, and the legend stands above."""
    monkeypatch.setenv(plots.IS_FOR_PAGES, "")
    title = "" if name == "claim" else SENTENCE
    axes = PICTURES[name]()
    figure = axes.figure
    legend_texts = legend(axes)
    where = "a machine whose name goes on " * 3
    picture = plots.MeasuredPicture(axes, SENTENCE, title=title, where=where)
    figure.draw_without_rendering()
    height_beside_legend = axes.bbox.height
    data, _ = picture._repr_mimebundle_()
    wide_image = open_png(data["image/png"])
    assert wide_image.width == 8 * plots.DPI
    narrow_image = open_png(data[plots.NARROW])
    assert narrow_image.width == round(plots.NARROW_INCHES * plots.DPI)
    figure.draw_without_rendering()
    assert 0.75 < axes.bbox.height / height_beside_legend < 1.25
    texts = [axes._left_title, figure._supxlabel, *figure.legends]
    if name == "claim":
        texts += axes.get_yticklabels()
    boxes = [text.get_window_extent() for text in texts]
    label = axes.xaxis.label.get_window_extent()
    for box in (label, *boxes):
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
        assert not box.overlaps(axes.bbox)
    assert_apart(boxes)
    ticks = [tick.get_window_extent() for tick in axes.get_xticklabels()]
    for tick, next_tick in pairwise(ticks):
        assert tick.x1 <= next_tick.x0
    assert len(figure.legends[0].get_texts()) == len(legend_texts)
    assert axes.get_legend() is None


def draw_claim_with(name):
    ratios = {
        "predicted": {name: 2, "b": 1},
        "here": {name: Ratio(3, 1, 90)},
    }
    return plots.draw_claim(name, ratios)


def draw_roofline_with(name):
    seconds = {"here": {name: 1, "b": 1}}
    jobs = {name: (1, 2), "b": (3, 4)}
    return roofline(seconds, jobs, memory=name, arithmetic="b")


def draw_sweep_with(name):
    return plots.draw_sweep(
        [1, 2],
        {name: [1, 2]},
        marks={1: name},
        xlabel=name,
        ylabel=name,
    )


@pytest.mark.parametrize("name", [r"$\alpha$, in $", "$x$, $y$", "_private", r"\$"])
@pytest.mark.parametrize(
    ("draw", "places"),
    [
        (draw_claim_with, 4),
        (draw_roofline_with, 3),
        (draw_sweep_with, 6),
    ],
)
def test_names_are_shown_as_they_are(draw, places, name, monkeypatch):
    """matplotlib reads a text between two $ as a formula, and hides names that begin with _."""
    monkeypatch.setenv(plots.IS_FOR_PAGES, "")
    monkeypatch.setattr(plots, "png", lambda figure: "")  # takes a second
    axes = draw(name)
    plots.MeasuredPicture(axes, name, title=name, where=name)._repr_mimebundle_()
    texts = [text for text in axes.figure.findobj(Text) if name in text.get_text()]
    assert len(texts) >= places
    for text in texts:
        assert not text.get_parse_math()


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_can_be_read_on_paper_and_ink_on_each_tint(theme):
    """The contrast of WCAG is 4.5 or more, in pictures and widgets, in the light and in the dark."""
    texts = [
        palette.INK,
        palette.OFFSET,
        palette.MUTED,
        palette.GOOD,
        palette.BAD,
        *palette.DIMS,
    ]
    pairs = [(palette.PAPER, text) for text in texts]
    pairs += [(palette.INK, tint) for tint in palette.ROWS]
    for first, second in pairs:
        luminances = [luminance(colour[theme]) for colour in (first, second)]
        darker, lighter = sorted(luminances)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (first, second)


def luminance(colour):
    """Return the relative luminance, as WCAG defines it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
