"""Goals without a browser: what is recognised and stays, what is refused; facts are in live.py."""

import ast

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
WIDE, START = Layout((5, 8), (1, 1), itemsize=4), Layout((5, 8), itemsize=4)


def test_a_goal_is_reached_by_a_change_and_stays():
    """What holds at the start does not count until it was left."""
    w = StrideExplorer(START, goals=GOALS)
    assert w.goals == {"Overlap": False, "Come back": False}
    w.index = (1, 1)
    assert not any(w.goals.values())
    w.layout = WIDE
    assert w.goals == {"Overlap": True, "Come back": False}
    w.chain = [".T"]
    w.layout = START
    assert w.goals == {"Overlap": True, "Come back": True}
    assert repr(GOALS[1]) == "Goal('Come back', contiguous=True, shape=(5, 8))"


def test_what_a_page_has_seen_counts_and_nothing_is_taken_back():
    """A hand passes states that never reach the kernel; what it sends may be older than Python."""
    w = StrideExplorer(START, goals=GOALS)
    w.close()
    w.comm = Wire()
    w.set_state({"_done": [1], "_change_id": 0.25})
    assert w.goals == {"Overlap": False, "Come back": True}
    w.set_state({"_state": {**w._state, "stride": [1, 1]}, "_done": [1], "_change_id": 0.5})
    assert w._done == [0, 1] and w.comm.sent[-1]["_done"] == [0, 1]
    w.set_state({"_done": [7, -1], "_change_id": 0.75})
    assert w._done == [0, 1]


def test_every_explorer_takes_goals_and_tells_of_them():
    """In its repr, below the rest, and only if it has some."""
    for kind in EXPLORERS:
        cls, name = getattr(widgets, kind), next(iter(make(kind).FACTS))
        wanted = make(kind, RIGHT[kind][0]).facts[name]
        plain, w = cls(), cls(goals=[Goal("Do it", **{name: wanted})])
        assert repr(w) == f"{plain!r}\n  ○ goal: Do it"
        exec(RIGHT[kind][0], {"w": w, "Layout": Layout})
        if plain.facts[name] != wanted:
            assert repr(w).endswith("\n  ✓ goal: Do it")
    t = torch.arange(6).view(2, 3)
    assert explore(t, goals=[Goal("Turn it", shape=(3, 2))]).goals == {"Turn it": False}


def test_reset_leads_to_the_first_display():
    for kind in EXPLORERS:
        w = make(kind)
        assert w._start == {}
        first = w._state
        w._repr_mimebundle_()
        exec(RIGHT[kind][0], {"w": w, "Layout": Layout})
        w._repr_mimebundle_()
        assert w._start == first != w._state


# What the goals of each lesson are set over, beside stridekit, and a way to each of them.
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
REACHED = {text: ast.literal_eval(way) for text, way in rows("goals of lessons, and a way to each")}


PUBLIC = {name: getattr(stridekit, name) for name in dir(stridekit)}


def made(source, names):
    """The widget that a cell of a lesson shows."""
    *before, shown = ast.parse(source).body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(shown.value), "cell", "eval"), names)


def test_each_goal_of_the_lessons_can_be_reached_and_is_not_given():
    left = set(REACHED)
    for lesson, around in LESSONS.items():
        path = next(path for path in PATHS if path.stem.startswith(lesson))
        for source in [cell.source for cell in code_of(path) if "Goal(" in cell.source]:
            names = {"torch": torch, **PUBLIC, **around}
            for text in made(source, dict(names)).goals:
                w = made(source, dict(names))
                assert not any(w.goals.values()), source
                for name, value in REACHED[text].items():
                    itemsize = w.layout.itemsize if name == "layout" else 0
                    setattr(w, name, Layout(*value, itemsize=itemsize) if itemsize else value)
                assert w.goals[text], text
                left.discard(text)
    assert not left
