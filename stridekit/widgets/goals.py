"""Goals inside a widget, as data that Python and the browser read alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stridekit._arguments import a_kind, items_of, shown

# The types of facts.
_DESCRIPTIONS = {
    bool: "True or False",
    int: "an int",
    str: "a text",
    tuple: "a tuple of ints or texts",
}


class Goal:
    """A goal to reach in an explorer: a line to read, and the facts that are then true.

    The facts are those of the widget, `explorer.facts`. A goal is reached when a change makes all of its
    facts true, whoever makes the change, and stays reached; `explorer.goals` shows it. Raises ValueError
    for a goal without a text or a fact, TypeError for a text that is no str.

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
            raise ValueError(
                f"goal {text!r} has no fact: say what is then true, as in contiguous=True"
            )
        self.text = text
        self.facts = facts

    def __repr__(self) -> str:
        facts = [f"{name}={value!r}" for name, value in self.facts.items()]
        return f"Goal({', '.join([repr(self.text), *facts])})"


def goals_json(goals: Any, types: Mapping[str, type], owner: str) -> list[dict[str, Any]]:
    """Return goals as a widget's state has them.

    `types` are those of the owner's facts. Raises TypeError or ValueError for a goal that is out of reach.
    """
    items = items_of(goals)
    if items is None:
        raise TypeError(f"goals is {a_kind(goals)}: give a list of Goal")
    texts = set()
    for k, goal in enumerate(items):
        if not isinstance(goal, Goal):
            raise TypeError(
                f"goals[{k}] is {a_kind(goal)}: give a Goal, as in Goal('…', shape=(2, 3))"
            )
        if goal.text in texts:
            raise ValueError(f"two goals say {goal.text!r}: each has a text of its own")
        texts.add(goal.text)
    return [{"text": goal.text, "facts": _facts_json(goal, types, owner)} for goal in items]


def _facts_json(goal: Goal, types: Mapping[str, type], owner: str) -> dict[str, Any]:
    facts = {}
    for name, value in goal.facts.items():
        if name not in types:
            raise ValueError(
                f"goal {goal.text!r} asks for {name!r}, which {owner} does not know: "
                f"it knows {', '.join(types)}"
            )
        facts[name] = [*value] if isinstance(value, tuple | list) else value
        if not _fits(facts[name], types[name]):
            raise TypeError(
                f"goal {goal.text!r}: {name} is {shown(value)}, {a_kind(value)}: "
                f"give {_DESCRIPTIONS[types[name]]}"
            )
    return facts


def _fits(value: Any, cls: type) -> bool:
    """Return whether a value of JSON can be a fact of this type."""
    if cls is tuple:
        return type(value) is list and {*map(type, value)} <= {int, str}
    return type(value) is cls
