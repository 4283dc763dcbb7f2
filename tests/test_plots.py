"""Plots: they draw on the Axes that they are given, and show the numbers that they were given."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from stridekit import plots
from stridekit.timing import Comparison, Ratio

COMPARISON = Comparison(
    {"rows": [[1e-3, 1e-3]] * 4, "columns": [[3e-3, 3e-3]] * 4, "again": [[1e-3, 1e-3]] * 4},
    [[0, 1, 2]] * 4, dict.fromkeys(("rows", "columns", "again"), 1), 1, "cpu",
)  # fmt: skip


def texts(ax):
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    return {text.get_text() for text in [*ax.texts, *ticks, ax.xaxis.label, ax.yaxis.label]}


def ax():
    return Figure().subplots()


def test_a_comparison_shows_each_ratio_and_its_verdict():
    where = ax()
    assert COMPARISON.plot(where) is where
    assert {"3.00 slower", "1.00 same", "columns", "again"} <= texts(where)


def test_predicted_stands_beside_measured():
    drawn = plots.draw_predicted({"a": 10, "b": 30}, {"a": 2e-3, "b": 5e-3}, ax())
    assert {"1", "3", "2.5", "times “a”"} <= texts(drawn)
    with pytest.raises(ValueError, match="the same names"):
        plots.draw_predicted({"a": 1}, {"b": 1})


def test_a_sweep_draws_a_curve_for_each_name():
    drawn = plots.draw_sweep([1, 2, 4], {"p": [1, 2, 4], "m": [1, 2, 3]}, ax(), marks={2: "here"})
    assert [list(line.get_ydata()) for line in drawn.lines][:2] == [[1, 2, 4], [1, 2, 3]]
    assert "here" in texts(drawn)
    assert len({(line.get_marker(), line.get_linestyle()) for line in drawn.lines[:2]}) == 2
    with pytest.raises(ValueError, match="4 curves: give 3 at the most"):
        plots.draw_sweep([1, 2], {name: [1, 2] for name in "abcd"}, ax())


def test_a_roofline_shows_shares_of_the_ceiling():
    drawn = plots.draw_roofline({"add": 0.96, "gather": 0.02}, ax())
    assert {"96%", "2%", "the ceiling"} <= texts(drawn)
    assert drawn.get_xlim()[1] > 1


def test_a_claim_stands_on_bars_that_start_at_1():
    measured = {"b": Ratio(40.0, 30.0, 50.0), "c": Ratio(0.25, 0.2, 0.3)}
    drawn = plots.draw_claim("a", {"b": 8.5, "c": 1}, measured, ax(), verdicts={"b": "slower"})
    assert {"8.5", "40 slower", "1", "0.25", "b", "c"} <= texts(drawn)
    assert [(bar.get_x(), bar.get_width()) for bar in drawn.patches] == [
        (1, 7.5), (1, 39), (1, 0), (1, -0.75),
    ]  # fmt: skip
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["predicted", "measured"]
    with pytest.raises(ValueError, match="the same names"):
        plots.draw_claim("a", {"b": 1}, {"c": Ratio(1, 1, 1)})


def test_runs_stand_over_their_lower_quartile_and_their_mean():
    drawn = plots.draw_runs([2.0, 2.0, 2.0, 2.0, 12.0], ax())
    assert list(drawn.lines[0].get_ydata()) == [1, 1, 1, 1, 6]
    assert [line.get_ydata()[0] for line in drawn.lines[1:]] == [1, 2]
    assert {"mean", "lower quartile"} <= texts(drawn)


def test_a_measured_picture_has_stable_words_and_closes_its_figure():
    drawn = plots.draw_roofline({"add": 0.5})
    before = plt.get_fignums()
    data, about = plots.MeasuredPicture(drawn, "half of it")._repr_mimebundle_()
    assert drawn.get_title(loc="left") == "half of it"
    assert data["text/plain"] == "half of it" and data["image/png"]
    assert about["image/png"] == {"width": 800, "height": 134, "measured": True}
    assert len(plt.get_fignums()) == len(before) - 1


def test_without_axes_a_figure_is_made():
    before = plt.get_fignums()
    made = plots.draw_roofline({"add": 0.5})
    assert len(plt.get_fignums()) == len(before) + 1
    plt.close(made.figure)
