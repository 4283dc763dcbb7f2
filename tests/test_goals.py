"""Goals without a browser: what is recognised and stays, what is refused; facts are in live_facts.py."""

import ast

import torch

import stridekit
from stridekit import Goal, Layout, explore, widgets
from stridekit.widgets import AliasExplorer, StrideExplorer
from stridekit.widgets.explorer import Explorer
from tests.test_notebooks import PATHS, Notebook
from tests.test_shared_state import Wire
from tests.widget_kinds import KINDS, RIGHT, make

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


def test_a_goal_of_lesson_01_is_recognised_by_whatever_way():
    """Rows that are alike of any length, from anywhere; the same elements as a row or with a dim more."""
    alike, row = (
        Goal("Alike", rows_alike=True),
        Goal("A row", elements=(0, 9, 18, 27, 36)),
    )
    for goal, right, wrong in (
        (
            alike,
            [((4, 6), (0, 1), 2), ((2, 3), (0, 0)), ((9, 1), (0, 7))],
            [((1, 6), (0, 1)), ((4, 6), (1, 0))],
        ),
        (row, [((5,), (9,)), ((1, 5), (3, 9))], [((5,), (9,), 1), ((4,), (9,))]),
    ):
        for layouts, reached in ((right, True), (wrong, False)):
            for layout in layouts:
                w = StrideExplorer(goals=[goal])
                w.layout = Layout(*layout, itemsize=4)
                assert w.goals == {goal.text: reached}, layout
    w.chain = [".view(2, 2)[:, :0]"]
    assert w.facts["elements"] == () and not w.facts["rows_alike"]
    assert StrideExplorer(Layout((5, 13))).facts["elements"] is None


def test_facts_are_those_of_now():
    w = AliasExplorer((4,), ["y = x[::2]", "y += 1"])
    assert w.facts["changed"] == ("y", "x") and w.facts["y_and_x"] == "inside"
    assert w.facts.keys() == w.FACTS.keys()
    assert w.code == "x = torch.arange(4).view(4)\ny = x[::2]\ny += 1"


def test_reset_leads_to_the_first_display():
    for kind in EXPLORERS:
        w = make(kind)
        assert w._start == {}
        first = w._state
        w._repr_mimebundle_()
        exec(RIGHT[kind][0], {"w": w, "Layout": Layout})
        w._repr_mimebundle_()
        assert w._start == first != w._state


def test_a_goal_shows_how_it_was_made():
    assert repr(GOALS[1]) == "Goal('Come back', contiguous=True, shape=(5, 8))"


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
ALIKE, SKIPS, REFUSED = ((4, 6), (0, 1), 2), ((2, 3), (1, 2)), {"target": (2, 12)}
REACHED = {
    "Make all rows the same": {"layout": ALIKE},
    "Close the gaps": {"layout": ((4, 6), (6, 1), 2)},
    "Swap rows and columns": {"layout": ((6, 4), (1, 8), 2)},
    "Make all rows show the same numbers": {"layout": ALIKE},
    "Make a single row 0, 9, 18, 27, 36": {"layout": ((5,), (9,))},
    "Let x[2, 3] be element 30": {"layout": ((4, 6), (6, 1), 15), "index": (2, 3)},
    "Move z down to the left corner of x": {"layout": ((3, 4), (6, 1), 6)},
    "Show the last column of x: 5, 11, 17, 23": {"layout": ((4,), (6,), 5)},
    "Show all of x again": {"layout": ((4, 6), (6, 1))},
    "Repeat rows in place of columns: 0, 1, 2 three times": {"layout": ((3, 3), (0, 1))},
    "Show one number twelve times": {"layout": ((4, 3), (0, 0), 3)},
    "Undo it: one column 0, 1, 2, 3": {"layout": ((4, 1), (1, 0))},
    "Make windows of 4 in place of 3": {"layout": ((3, 4), (1, 1))},
    "Let a window skip every other number: 0, 2, 4": {"layout": SKIPS},
    "Lay two windows side by side": {"layout": ((2, 3), (3, 1))},
    "Change x through y, but not z": {"steps": ["y = x[1:, ::2]", "z = x[:, 5:]", "y += 100"]},
    "Let z share y's storage, but no element": {"steps": ["y = x[1:, ::2]", "z = x[:, 5:]"]},
    "Give y a storage of its own": {"steps": ["y = x[1:, ::2].clone()", "z = x[:, 4:]"]},
    "Change z alone": {"steps": ["y = x[:, :-1].clone()", "z = x[0].clone()", "z += 1"]},
    "Let y lie inside z": {"steps": ["y = x[0]", "z = x[:2]"]},
    "Let y overlap itself": {"steps": ["y = x[:1].expand(3, 4)", "z = x[:, 1:]"]},
    "Walk to the last step": {"step": -1},
    "Find a shape that these rows refuse": REFUSED,
    "Every 2nd column: reach strides (12, 4, 2)": {
        "layout": ((4, 3), (6, 2)), "target": (2, 3, 2),
    },
    "Transposed: reach strides (2, 1, 6)": {"layout": ((6, 4), (1, 6)), "target": (3, 2, 4)},
    "Walk back to the question": {"step": 0},
    "Fix the shape: let there be a view": {"target": (2, 2, 2, 3)},
    "Reach strides (16, 8, 1)": {"target": (2, 2, 6)},
    "Select the element that is number 24 in both orders": {"index": (1, 0, 0, 0)},
    "Bring a channel's pixels 2 apart in channels_last": {
        "shape": (2, 2, 2, 4), "highlight": "channel",
    },
    "Bring a pixel's channels 15 apart in contiguous_format": {"shape": (2, 3, 3, 5)},
    "Make both flags True": {"shape": (2, 1, 2, 4)},
    "Bring a channel's pixels side by side in channels_last": {
        "shape": (2, 1, 2, 4), "highlight": "channel",
    },
    "Bring a pixel's channels side by side in contiguous_format": {"shape": (2, 3, 1, 1)},
    "Lose channels_last on the way": {"layers": ["cat"]},
    "Lose it, and have it back at the end": {"layers": ["unsqueeze", "batch_norm"]},
    "Have torch refuse a layer": {"layers": ["view"]},
    "Copy nothing, with batch 2 and 2 heads": {"attention": "SDPA"},
    "Let the order of a sum cost a copy": {"attention": "SDPA", "rotary": "rot(x)*sin + x*cos"},
    "Send SDPA to the math path": {"attention": "SDPA", "packing": "HD3"},
    "Copy nothing, with @": {"heads": 1},
    "Keep all 8 tokens": {"tokens": 8},
    "Let @ clone what lies in place": {"tokens": 8, "order": "tokens first"},
    "Leave it so, and clone nothing": {"tokens": 8, "order": "tokens first", "attention": "SDPA"},
    "Gather each key once": {"tokens": 8, "order": "tokens first"},
}  # fmt: skip


PUBLIC = {name: getattr(stridekit, name) for name in dir(stridekit)}


def made(source, names):
    """The widget that a cell of a lesson shows."""
    *before, shown = ast.parse(source).body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(shown.value), "cell", "eval"), names)


def test_each_goal_of_the_lessons_can_be_reached_and_is_not_given():
    left = set(REACHED)
    for lesson, around in LESSONS.items():
        book = Notebook.read(next(path for path in PATHS if path.stem.startswith(lesson)))
        for source in [cell.source for cell, _ in book.cells("code") if "Goal(" in cell.source]:
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
