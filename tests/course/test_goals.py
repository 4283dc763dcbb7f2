"""Goals without a browser: they are recognised, stay reached, or are refused; facts are in live.py."""

import ast

import pytest
import torch

import stridekit
from stridekit import Goal, Layout, explore, widgets
from stridekit.widgets import StrideExplorer
from stridekit.widgets.explorer import Explorer
from tests.course.test_notebooks import PATHS, code_of
from tests.course.test_shared_state import Wire
from tests.course.widget_kinds import KINDS, RIGHT, make, rows

EXPLORERS = [kind for kind in KINDS if issubclass(getattr(widgets, kind), Explorer)]
GOALS = [Goal("Overlap", overlaps=True), Goal("Come back", contiguous=True, shape=(5, 8))]
START = Layout((5, 8), itemsize=4)
OVERLAPPING = Layout((5, 8), (1, 1), itemsize=4)


def test_a_goal_is_reached_by_a_change_and_stays():
    """A goal that holds at the start does not count until it was left."""
    w = StrideExplorer(START, goals=GOALS)
    assert w.goals == {"Overlap": False, "Come back": False}
    w.index = (1, 1)
    assert not any(w.goals.values())
    w.layout = OVERLAPPING
    assert w.goals == {"Overlap": True, "Come back": False}
    w.chain = [".T"]
    w.layout = START
    assert w.goals == {"Overlap": True, "Come back": True}
    assert repr(GOALS[1]) == "Goal('Come back', contiguous=True, shape=(5, 8))"


def test_a_goal_that_a_page_saw_reached_counts_and_none_is_taken_back():
    """A hand passes states that never reach the kernel, and a message may be older than Python's state."""
    w = StrideExplorer(START, goals=GOALS)
    w.close()
    w.comm = Wire()
    w.set_state({"_done": [1], "_change_id": 0.25})
    assert w.goals == {"Overlap": False, "Come back": True}
    w.set_state({"_state": {**w._state, "stride": [1, 1]}, "_done": [1], "_change_id": 0.5})
    assert w._done == [0, 1] and w.comm.sent[-1]["_done"] == [0, 1]
    w.set_state({"_done": [7, -1], "_change_id": 0.75})
    assert w._done == [0, 1]


@pytest.mark.parametrize("kind", EXPLORERS)
def test_every_explorer_takes_goals_and_shows_them_below_its_repr(kind):
    cls = getattr(widgets, kind)
    name = next(iter(cls().FACTS))
    goal_value = make(kind, RIGHT[kind][0]).facts[name]
    without_goals = cls()
    w = cls(goals=[Goal("Do it", **{name: goal_value})])
    assert repr(w) == f"{without_goals!r}\n  ○ goal: Do it"
    exec(RIGHT[kind][0], {"w": w, "Layout": Layout})
    if without_goals.facts[name] != goal_value:
        assert repr(w).endswith("\n  ✓ goal: Do it")


def test_explore_takes_goals():
    t = torch.arange(6).view(2, 3)
    assert explore(t, goals=[Goal("Turn it", shape=(3, 2))]).goals == {"Turn it": False}


@pytest.mark.parametrize("kind", EXPLORERS)
def test_reset_leads_to_the_first_display(kind):
    w = make(kind)
    assert w._start == {}
    first = w._state
    w._repr_mimebundle_()
    exec(RIGHT[kind][0], {"w": w, "Layout": Layout})
    w._repr_mimebundle_()
    assert w._start == first != w._state


# The names that the cells with goals use, besides those of stridekit, by lesson.
x = torch.arange(24).view(4, 6)
LESSONS = {
    "00": {},
    "01": {"x": x, "z": x[1:, 2:], "w": torch.arange(6).as_strided((4, 3), (1, 1), 0)},
    "02": {},
    "03": {"w": torch.arange(32).view(4, 8)[:, :6]},
    "04": {"x": torch.ones(2, 3, 2, 4)},
    "06": {},
    "07": {},
}
PUBLIC = {name: getattr(stridekit, name) for name in dir(stridekit)}
# The values of a widget's properties that reach a goal, by its text.
SOLUTIONS = {
    text: ast.literal_eval(values) for text, values in rows("goals of lessons, and a way to each")
}


def shown_by(source, names):
    """Return the widget that a cell of a lesson shows."""
    *statements, last = ast.parse(source).body
    names = {"torch": torch, **PUBLIC, **names}
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_each_goal_of_the_lessons_can_be_reached_and_is_not_given():
    reached = set()
    for lesson, names in LESSONS.items():
        path = next(path for path in PATHS if path.stem.startswith(lesson))
        for source in [cell.source for cell in code_of(path) if "Goal(" in cell.source]:
            for text in shown_by(source, names).goals:
                w = shown_by(source, names)
                assert not any(w.goals.values()), source
                for name, value in SOLUTIONS[text].items():
                    if name == "layout":
                        value = Layout(*value, itemsize=w.layout.itemsize)
                    setattr(w, name, value)
                assert w.goals[text], text
                reached.add(text)
    assert reached == set(SOLUTIONS)
