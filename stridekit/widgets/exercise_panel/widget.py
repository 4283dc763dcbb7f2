"""ExercisePanel: what an exercise says, with buttons for a check, for hints and for the solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from stridekit._arguments import int_
from stridekit.widgets.assets import module, style
from stridekit.widgets.base import StateWidget


class ExercisePanel(StateWidget):
    """A task or the report of a check, with the hints that were opened and, once shown, the solution.

    It knows no exercise. `task` and `report` are parts of a card: its "status", its "sign", and as HTML its
    "headline" and "rows". A report may have a line that it "says", and the name of the exercise that is
    "next". Hints and the solution are HTML as well. They open on the page, without a kernel. A check needs
    one: `on_check` takes what is then called, which answers by `tell`.

    >>> panel = ExercisePanel("double", report={"status": "blank", "sign": "○", "headline": "double: open",
    ...     "rows": ""}, hints=["Add n.", "Add n to n."], solution="n + n")
    >>> panel.hints_shown = 1
    >>> panel
    ExercisePanel: double, 1 of 2 hints
    """

    _module = module("exercise_panel/widget.js")
    _style = style("page/base.css", "exercise_panel/widget.css")

    _exercise = traitlets.Dict().tag(sync=True)
    _report = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        name: str,
        *,
        task: Mapping[str, str] | None = None,
        report: Mapping[str, str] | None = None,
        hints: Sequence[str] = (),
        solution: str = "",
    ) -> None:
        exercise = {"name": name, "task": task or {}, "hints": [*hints], "solution": solution}
        self._answers: Callable[[], None] = lambda: None
        super().__init__(
            _exercise=exercise, _report=report or {}, _state={"hints": 0, "solution": False}
        )
        self.on_msg(self._asked)

    @property
    def hints_shown(self) -> int:
        """How many hints are open."""
        return int(self._state["hints"])

    @hints_shown.setter
    def hints_shown(self, count: int) -> None:
        self._state = self._checked({**self._state, "hints": int_("hints_shown", count)})

    @property
    def solution_shown(self) -> bool:
        """True if the solution is open."""
        return bool(self._state["solution"])

    @solution_shown.setter
    def solution_shown(self, shown: bool) -> None:
        self._state = self._checked({**self._state, "solution": shown})

    def on_check(self, answer: Callable[[], None]) -> None:
        """Call `answer` when a reader asks for a check."""
        self._answers = answer

    def _asked(self, *_: Any) -> None:
        self.send({"heard": True})  # before the kernel is free to check
        self._answers()

    def tell(self, report: Mapping[str, str], note: str = "") -> None:
        """Show the report of another check, and a note beside the buttons."""
        checks = self._report.get("checks", 0) + 1  # so that equal reports are told as well
        self._report = {**report, "note": note, "checks": checks}

    def _check(self, state: dict[str, Any]) -> None:
        self._checked(state)

    def _checked(self, state: dict[str, Any]) -> dict[str, Any]:
        most = len(self._exercise["hints"])
        if not 0 <= int_("hints_shown", state["hints"]) <= most:
            raise ValueError(f"hints_shown is {state['hints']}: there are {most} hints")
        if state["solution"] not in (True, False):
            raise ValueError(f"solution_shown is {state['solution']!r}: give True or False")
        return state

    def __repr__(self) -> str:
        solution = ", with the solution" if self.solution_shown else ""
        count = len(self._exercise["hints"])
        return f"ExercisePanel: {self._exercise['name']}, {self.hints_shown} of {count} hints{solution}"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Without a picture: who displays a panel adds the text that stands for it without a kernel."""
        bundle: tuple[dict[str, Any], dict[str, Any]]
        bundle = anywidget.AnyWidget._repr_mimebundle_(self, **kwargs)
        return bundle
