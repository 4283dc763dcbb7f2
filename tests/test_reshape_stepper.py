"""ReshapeStepper without a browser: its presets and its state. tests/live.py compares its walk."""

from pathlib import Path

import nbformat
import torch

from stridekit import Goal, Layout, ReshapeStepper
from stridekit.widgets.notation import layout_of
from stridekit.widgets.reshape_stepper.widget import script

PRESETS = [(p["expression"], layout_of(p["layout"]), p["targets"]) for p in script.PRESETS]
X = Layout((4, 8), itemsize=4)[:, :6]


def test_presets_are_the_views_they_name():
    """Each expression, run by torch, has the preset's layout; most offer views and refusals."""
    for expression, layout, targets in PRESETS:
        x = eval(expression, {"torch": torch})
        assert Layout.of(x) == layout, expression
        assert {x.reshape(target).numel() for target in targets} == {x.numel()}
    free = [{not layout.why_not_view(t) for t in targets} for _, layout, targets in PRESETS]
    assert [k for k, found in enumerate(free) if found == {True}] == [0, 3, 5]
    assert {False} not in free


def test_ones_own_layout_is_the_first_to_choose():
    """Its targets merge each two neighbours, or all dims; a layout that is a preset is not repeated."""
    assert ReshapeStepper()._given == ReshapeStepper(Layout((6, 4), (1, 6), 0, 4))._given == []
    (mine,) = ReshapeStepper(torch.arange(24.0).view(2, 3, 4).permute(1, 0, 2))._given
    assert mine["name"] == "as given" and mine["targets"] == [[6, 4], [3, 8], [24]]
    assert Layout.of(eval(mine["expression"])) == Layout(**mine["layout"])


def test_state_from_python():
    """Layout, target, step and index are set and read; a new layout keeps the target where it fits."""
    stepper = ReshapeStepper(torch.arange(32.0).view(4, 8)[:, :6], shape=(2, -1))
    assert stepper.layout == X and stepper.target == (2, 12) and stepper.step == 0
    assert stepper.result is None and stepper.why == X.why_not_view(2, 12)
    stepper.step = -1
    assert stepper.step == 4 and stepper.facts["finished"]
    stepper.index = (2, 1)
    assert stepper.index == (2, 1) and stepper.new_index == (1, 1)
    stepper.target = 2, 2, 6
    assert stepper.step == 0 and stepper.why == ""
    assert stepper.result == X.view(2, 2, 6)
    stepper.layout = torch.arange(24).view(6, 4).T
    assert stepper.target == (2, 2, 6) and stepper.index == (2, 1)
    stepper.layout = torch.arange(6)
    assert stepper.target == (6,) and stepper.index == (5,)
    stepper.layout = torch.empty(0, 3)
    assert stepper.index is None and stepper.new_index is None


def lesson_steppers():
    """The steppers of lesson 03, each made by its own cell."""
    lesson = nbformat.read(Path(__file__).parent.parent / "notebooks/03_contiguity.ipynb", 4)
    for cell in lesson.cells:
        if cell.cell_type == "code" and "ReshapeStepper(" in cell.source:
            names = {"w": torch.arange(32).view(4, 8)[:, :6]}
            *lines, last = cell.source.splitlines()
            exec("\n".join(lines), {"Goal": Goal, "ReshapeStepper": ReshapeStepper}, names)
            yield eval(last, {"ReshapeStepper": ReshapeStepper}, names)


X24 = Layout((4, 6), itemsize=4)
REACHED = [  # for each stepper: changes one after the other, and how many goals are then reached
    [
        ({"step": -1}, 1),
        ({"target": (4, 3, 2, 1)}, 1),
        ({"target": (8, 3)}, 2),
        ({"layout": X24[:, ::2]}, 2),
        ({"target": (2, 3, 2)}, 3),
        ({"layout": X24.t(), "target": (3, 2, 4)}, 4),
    ],
    [({"step": 2}, 0), ({"step": 0}, 1), ({"target": (4, 6)}, 2), ({"target": (2, 2, 6)}, 3)],
]


def test_the_goals_of_the_lesson_can_be_reached_and_are_recognised():
    for stepper, changes in zip(lesson_steppers(), REACHED, strict=True):
        assert len(stepper.goals) >= 3 and not any(stepper.goals.values())
        for state, count in changes:
            for name, value in state.items():
                setattr(stepper, name, value)
            assert sum(stepper.goals.values()) == count
        assert all(stepper.goals.values())
