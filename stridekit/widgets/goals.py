"""Goals inside a widget: what is to be reached, as data that Python and the browser read alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stridekit._arguments import a_kind, items_of, shown

_KINDS = {bool: "True or False", int: "an int", str: "a text", tuple: "a tuple of ints or texts"}


class Goal:
    """Something to reach in an explorer: a line to read, and the facts that are then true.

    The facts are those of the widget, `explorer.facts`. A goal is reached when a change makes all of its
    facts true, whoever makes it, and stays so; `explorer.goals` tells. Raises ValueError for a goal
    without a text or a fact, TypeError for a text that is none.

    >>> from stridekit import Layout, StrideExplorer
    >>> explorer = StrideExplorer(goals=[Goal("Close the gaps", contiguous=True, reached=24)])
    >>> explorer.layout = Layout((4, 6), itemsize=4)
    >>> explorer.goals
    {'Close the gaps': True}
    """

    def __init__(self, text: str, /, **facts: Any) -> None:
        if not isinstance(text, str):
            raise TypeError(f"the text of a goal is {a_kind(text)}: give a line to read")
        if not text.strip():
            raise ValueError("the text of a goal is empty: give a line to read")
        if not facts:
            advice = "say what is then true, as in contiguous=True"
            raise ValueError(f"goal {text!r} has no fact: {advice}")
        self.text, self.facts = text, facts

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self.facts.items()]
        return f"Goal({', '.join([repr(self.text), *given])})"


def goals_json(goals: Any, kinds: Mapping[str, type], owner: str) -> list[dict[str, Any]]:
    """Goals as a widget's state has them. Raises TypeError or ValueError for what it cannot reach."""
    given = items_of(goals)
    if given is None:
        raise TypeError(f"goals is {a_kind(goals)}: give a list of Goal")
    for k, goal in enumerate(given):
        if not isinstance(goal, Goal):
            advice = "give a Goal, as in Goal('…', shape=(2, 3))"
            raise TypeError(f"goals[{k}] is {a_kind(goal)}: {advice}")
        if goal.text in [other.text for other in given[:k]]:
            raise ValueError(f"two goals say {goal.text!r}: each has a text of its own")
    wanted = [{name: _wanted(goal, name, kinds, owner) for name in goal.facts} for goal in given]
    return [{"text": goal.text, "facts": facts} for goal, facts in zip(given, wanted, strict=True)]


def _wanted(goal: Goal, name: str, kinds: Mapping[str, type], owner: str) -> Any:
    value = goal.facts[name]
    if name not in kinds:
        known = f"{owner} does not know: it knows {', '.join(kinds)}"
        raise ValueError(f"goal {goal.text!r} asks for {name!r}, which {known}")
    plain = [*value] if isinstance(value, tuple | list) else value
    fits = type(plain) is (list if kinds[name] is tuple else kinds[name])
    if not fits or (kinds[name] is tuple and not {*map(type, plain)} <= {int, str}):
        given = f"{name} is {shown(value)}, {a_kind(value)}"
        raise TypeError(f"goal {goal.text!r}: {given}: give {_KINDS[kinds[name]]}")
    return plain
