"""What has a toolbar shares the state in which it began; explorers have goals over facts as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

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
        """The state with plain ints. Raises LayoutError for a state that the picture cannot show."""
        raise NotImplementedError

    def _change(self, **changed: Any) -> None:
        self._state = self._checked(self._state | changed)

    def _check(self, state: dict[str, Any]) -> None:
        if self._checked(state) != state:
            raise LayoutError(f"the picture cannot show {state}")


class Explorer(Framed):
    """A framed widget with goals.

    The facts of a state follow from it alone. Its script computes them, and exports EXAMPLE, a state in
    which none is None: so a goal is recognised in a kernel and on an exported page alike.
    """

    FACTS: ClassVar[Mapping[str, type]]

    _goals = traitlets.List().tag(sync=True)
    _done = traitlets.List().tag(sync=True, echo_update=False)  # what either side has seen reached

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "_script") and not hasattr(cls, "FACTS"):
            example = cls._facts(cls._script.EXAMPLE)
            cls.FACTS = {name: type(value) for name, value in example.items()}

    @classmethod
    def _facts(cls, state: dict[str, Any], *known: Any) -> dict[str, Any]:
        return {name: plain(value) for name, value in cls._script.facts(state, *known).items()}

    @property
    def facts(self) -> dict[str, Any]:
        """What goals can ask for, as it is now."""
        return self._facts(self._state, *self._known)

    @property
    def goals(self) -> dict[str, bool]:
        """The goals, by their texts, and whether each has been reached."""
        return {goal["text"]: k in self._done for k, goal in enumerate(self._goals)}

    def _aim(self, goals: Iterable[Goal]) -> None:
        """Set the goals, once; what holds already is reached when it has been left and comes back."""
        self._goals = goals_json(goals, self.FACTS, type(self).__name__)

    def __repr__(self) -> str:
        aims = [f"\n  {'✓' if done else '○'} goal: {text}" for text, done in self.goals.items()]
        return "".join([super().__repr__(), *aims])

    @traitlets.observe("_state")
    def _look(self, change: Any) -> None:
        if self._goals:
            facts = (self._facts(change[k], *self._known) for k in ("old", "new"))
            before, now = ({*_script.heldBy(each, self._goals)} for each in facts)
            self._done = self._kept(now - before)

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take a page's change; what it has seen reached is added to what Python knows."""
        if "_done" in sync_data:
            sync_data = {**sync_data, "_done": self._kept(sync_data["_done"])}
        super().set_state(sync_data)

    def _kept(self, reached: Iterable[int]) -> list[int]:
        """What has been reached stays so, whichever side has seen it."""
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
    """A value of JSON as Python shows it: a list is a tuple."""
    return tuple(value) if isinstance(value, list) else value


Turn = Callable[[Any], Any]


def setting(
    name: str, doc: str, shown: Turn = plain, taken: Turn = lambda value: value
) -> property:
    """A part of the state that can be read as `shown`, and set by the explorer's `_change`, as `taken`."""

    def put(explorer: Any, value: Any) -> None:
        explorer._change(**{name: taken(value)})

    return property(lambda explorer: shown(explorer._state[name]), put, doc=doc)


def choice(name: str, value: Any, values: Sequence[Any]) -> Any:
    """A value that is one of some. Raises LayoutError for another one."""
    known = f"give one of {', '.join(map(repr, values))}"
    if isinstance(values[0], int):
        value = int_(name, value)
        if [*values] == [*range(values[0], values[-1] + 1)]:
            known = f"the picture holds {values[0]} to {values[-1]}"
    if not isinstance(value, type(values[0])) or value not in values:
        raise LayoutError(f"{name} is {shown(value)}: {known}")
    return value
