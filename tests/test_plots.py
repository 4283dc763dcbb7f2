"""Plots: they draw on the Axes that they are given, and show the numbers that they were given."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from stridekit import plots
from stridekit.timing import Comparison

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


def test_a_roofline_shows_shares_of_the_ceiling():
    drawn = plots.draw_roofline({"add": 0.96, "gather": 0.02}, ax())
    assert {"96%", "2%", "the ceiling"} <= texts(drawn)
    assert drawn.get_xlim()[1] > 1


def test_without_axes_a_figure_is_made():
    before = plt.get_fignums()
    made = plots.draw_roofline({"add": 0.5})
    assert len(plt.get_fignums()) == len(before) + 1
    plt.close(made.figure)
