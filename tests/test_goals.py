"""Goals without a browser: what is recognised and stays, what is refused; facts are in live_facts.py."""

import pytest
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


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: Goal("Go"), ValueError, "goal 'Go' has no fact: say what is then true"),
        (lambda: Goal(" ", shape=(1,)), ValueError, "the text of a goal is empty"),
        (lambda: Goal(3, shape=(1,)), TypeError, "the text of a goal is an int"),
        (
            lambda: StrideExplorer(goals=Goal("Go", steps=1)),
            TypeError,
            "goals is a Goal: give a list",
        ),
        (lambda: StrideExplorer(goals=["Go"]), TypeError, r"goals\[0\] is a str: give a Goal"),
        (lambda: StrideExplorer(goals=[GOALS[0]] * 2), ValueError, "two goals say 'Overlap'"),
        (
            lambda: StrideExplorer(goals=[Goal("Go", contigous=True)]),
            ValueError,
            "goal 'Go' asks for 'contigous', which StrideExplorer does not know: it knows shape, stride, ",
        ),
        (
            lambda: StrideExplorer(goals=[Goal("Go", contiguous=1)]),
            TypeError,
            "goal 'Go': contiguous is 1, an int: give True or False",
        ),
        (
            lambda: explore(torch.ones(2), goals=[Goal("Go", shape=(2.0,))]),
            TypeError,
            r"goal 'Go': shape is \(2.0,\), a tuple: give a tuple of ints or texts",
        ),
    ],
)
def test_a_goal_that_cannot_be_is_refused(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_a_goal_shows_how_it_was_made():
    assert repr(GOALS[1]) == "Goal('Come back', contiguous=True, shape=(5, 8))"


# The goals of lesson 04, and what reaches each of them.
REACHED = {
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
}  # fmt: skip


def test_each_goal_of_lesson_04_can_be_reached_and_is_not_given():
    lesson = Notebook.read(next(path for path in PATHS if path.stem.startswith("04")))
    sources = [cell.source for cell, _ in lesson.cells("code") if "goals=[" in cell.source]
    for source in sources:
        shown = source[source.index("\n\n") + 2 :] if source.startswith("from") else source
        names = {"x": torch.ones(2, 3, 2, 4), **{n: getattr(stridekit, n) for n in dir(stridekit)}}
        for text in eval(shown, names).goals:
            w = eval(shown, names)
            assert not any(w.goals.values())
            for name, value in REACHED[text].items():
                setattr(w, name, value)
            assert w.goals[text]
    assert len(REACHED) == sum(source.count("Goal(") for source in sources)
