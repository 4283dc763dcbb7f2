"""Widgets with a toolbar, which leads back to their first state, and explorers with goals over facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import traitlets

from stridekit._arguments import LayoutError, int_, shown
from stridekit.widgets.base import StateWidget
from stridekit.widgets.engine import Script
from stridekit.widgets.goals import Goal, goals_json

_script = Script("page/goals.js")


class Framed(StateWidget):
    """A widget with a toolbar, which leads back to the state of its first display."""

    # Empty: the object that the views of a page have in common.
    _page = traitlets.Dict().tag(sync=True)
    _start = traitlets.Dict().tag(sync=True)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self._start = self._start or self._state
        return super()._repr_mimebundle_(**kwargs)

    @property
    def code(self) -> str:
        """The code that reproduces the picture."""
        return str(self._script.code(self._state, *self._known))

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state with plain ints. Raises LayoutError for a state that cannot be shown."""
        raise NotImplementedError

    def _change(self, **changed: Any) -> None:
        """Change some parts of the state."""
        self._state = self._checked(self._state | changed)

    def _check(self, state: dict[str, Any]) -> None:
        if self._checked(state) != state:
            raise LayoutError(f"the picture cannot show {state}")


class Explorer(Framed):
    """A framed widget with goals.

    The facts of a state follow from the state alone. The script computes them, so a goal is recognised in a
    kernel and on an exported page alike. The script also exports EXAMPLE, a state in which no fact is None.
    """

    FACTS: ClassVar[Mapping[str, type]]

    _goals = traitlets.List().tag(sync=True)
    _done = traitlets.List().tag(sync=True, echo_update=False)  # goals that either side saw reached

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "_script") and not hasattr(cls, "FACTS"):
            example = cls._facts(cls._script.EXAMPLE)
            cls.FACTS = {name: type(value) for name, value in example.items()}

    @classmethod
    def restored(cls, state: Mapping[str, Any], **given: Any) -> Self:
        """Return an explorer in a state that the share menu of another one has copied.

        In a notebook, *copy this state* copies a cell with this call. `given` are further arguments of the
        class. Raises LayoutError for a state that the picture cannot show.

        >>> from stridekit import CacheExplorer
        >>> CacheExplorer.restored(CacheExplorer(5)._state).tokens
        5
        """
        explorer = cls(**given)
        explorer._check({**state})
        explorer._state = {**state}
        return explorer

    @classmethod
    def _facts(cls, state: dict[str, Any], *known: Any) -> dict[str, Any]:
        return {name: plain(value) for name, value in cls._script.facts(state, *known).items()}

    @property
    def facts(self) -> dict[str, Any]:
        """The facts that goals can ask for, as they are at present."""
        return self._facts(self._state, *self._known)

    @property
    def goals(self) -> dict[str, bool]:
        """The goals, by their texts, and whether each has been reached."""
        return {goal["text"]: k in self._done for k, goal in enumerate(self._goals)}

    def _aim(self, goals: Iterable[Goal]) -> None:
        """Set the goals, once; a goal that holds already is reached when it was left and holds again."""
        self._goals = goals_json(goals, self.FACTS, type(self).__name__)

    def __repr__(self) -> str:
        lines = [super().__repr__()]
        for text, is_done in self.goals.items():
            lines.append(f"  {'✓' if is_done else '○'} goal: {text}")
        return "\n".join(lines)

    @traitlets.observe("_state")
    def _note_goals(self, change: Any) -> None:
        if self._goals:
            before = self._goals_held_by(change["old"])
            after = self._goals_held_by(change["new"])
            self._done = self._with_done(after - before)

    def _goals_held_by(self, state: dict[str, Any]) -> set[int]:
        facts = self._facts(state, *self._known)
        return {*_script.heldBy(facts, self._goals)}

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a page's change; the goals that the page saw reached are added to those of Python."""
        if "_done" in sync_data:
            sync_data = {**sync_data, "_done": self._with_done(sync_data["_done"])}
        super().set_state(sync_data)

    def _with_done(self, reached: Iterable[int]) -> list[int]:
        """Return these goals and those reached before, whichever side saw it."""
        return [k for k in range(len(self._goals)) if k in self._done or k in reached]


class Choices(Explorer):
    """An explorer whose state is a value for each of a few names, from the script's CHOICES."""

    def __init__(self, goals: Iterable[Goal], **chosen: Any) -> None:
        super().__init__(_state=self._checked(chosen))
        self._aim(goals)

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        choices = self._script.CHOICES
        return {name: choice(name, state[name], values) for name, values in choices.items()}


def plain(value: Any) -> Any:
    """Return a value of JSON as Python shows it: a list is a tuple."""
    return tuple(value) if isinstance(value, list) else value


def setting(
    name: str,
    doc: str,
    from_json: Callable[[Any], Any] = plain,
    to_json: Callable[[Any], Any] = lambda value: value,
) -> property:
    """Make a property of a part of the state; the widget's `_change` sets it."""

    def get(widget: Any) -> Any:
        return from_json(widget._state[name])

    def put(widget: Any, value: Any) -> None:
        widget._change(**{name: to_json(value)})

    return property(get, put, doc=doc)


def choice(name: str, value: Any, values: Sequence[Any]) -> Any:
    """Return a value that is one of `values`. Raises LayoutError for another value."""
    advice = f"give one of {', '.join(map(repr, values))}"
    if isinstance(values[0], int):
        value = int_(name, value)
        if [*values] == [*range(values[0], values[-1] + 1)]:
            advice = f"the picture holds {values[0]} to {values[-1]}"
    if not isinstance(value, type(values[0])) or value not in values:
        raise LayoutError(f"{name} is {shown(value)}: {advice}")
    return value
