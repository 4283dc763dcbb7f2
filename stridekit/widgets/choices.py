"""Explorers whose state is a value for each of a few names, and that say what their script says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stridekit.layout import LayoutError
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer, choice, kinds
from stridekit.widgets.goals import Goal


class Choices(Explorer):
    """An explorer whose script exports the CHOICES of each name, and `facts`, `code` and `told` of a state.

    `told` has the lines of the repr.
    """

    _script: ClassVar[Script]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.FACTS = kinds(cls._facts(cls._first()))

    @classmethod
    def _facts(cls, state: dict[str, Any]) -> dict[str, Any]:
        return dict(cls._script.facts(state))

    @classmethod
    def _first(cls) -> dict[str, Any]:
        """A state, to learn the kinds of the facts from."""
        return {name: values[0] for name, values in cls._script.CHOICES.items()}

    def __init__(self, goals: Iterable[Goal], **chosen: Any) -> None:
        super().__init__(_state=self._checked(chosen))
        self._aim(goals)

    def _check(self, state: dict[str, Any]) -> None:
        if self._checked(state) != state:
            raise LayoutError(f"the picture cannot show {state}")

    def _change(self, **changed: Any) -> None:
        self._state = self._checked(self._state | changed)

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The state with plain ints. Raises LayoutError for a value that is no choice."""
        choices = self._script.CHOICES
        return {name: choice(name, state[name], values) for name, values in choices.items()}

    @property
    def code(self) -> str:
        """The torch code that does what is shown."""
        return str(self._script.code(self._state))

    def __repr__(self) -> str:
        return "\n  ".join([*self._script.told(self._state), *self._aims()])
