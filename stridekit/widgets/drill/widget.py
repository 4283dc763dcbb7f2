"""Drill: endless questions about random layouts, whose wrong choices show what people get wrong."""

from __future__ import annotations

from itertools import count
from typing import Any

import traitlets

from stridekit._arguments import LayoutError, int_
from stridekit.widgets import kept
from stridekit.widgets.base import StateWidget
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import choice

_script = Script("drill/drill.js")
MOST_BEFORE = 300  # answers of the record from which a drill goes on
_drills_made = count()  # without a seed, in this process


class Drill(StateWidget, script="drill/drill.js"):
    """Ask endless questions about random layouts, and explain each answer with a picture.

    `kind` is "address", "strides", "contiguous", "view", "share", "format", "lines", or "mixed" for all of
    them. Each wrong choice shows a known mistake. A mistake comes back with new numbers after a few other
    questions, and once more on another day. A mixed drill begins with the kind of the first lesson. As you
    answer, it adds the kinds of later lessons, and asks kinds that go wrong more often. In a notebook the
    answers are on record, so the next drill goes on from there.

    Equal seeds ask equal questions. The default seed counts the answers on record and the drills that this
    process made earlier without a seed. Raises LayoutError for an unknown kind, or a seed that is no int
    from 0 to 2**32 - 1.

    >>> drill = Drill("address", seed=1)
    >>> print(drill)
    Drill: address, question 1, streak 0, best 0
      `x` has shape `(3, 2)`, stride `(4, 2)`, storage_offset 3 and elements of 2 bytes. ...
      1  10
      2  7
      3  14
      4  8
    >>> drill.answer(3)
    True
    """

    _knows = ("_before",)
    _before = traitlets.Dict().tag(sync=True)
    _trouble = traitlets.Unicode().tag(sync=True)

    def __init__(self, kind: str = "mixed", *, seed: int | None = None) -> None:
        kind = choice("kind", kind, _script.NAMES)
        trouble = ""
        try:
            answers = _answers_on_record()
        except kept.RecordError as error:
            answers = []
            trouble = f"Your record cannot be read: {error}"
        seed = len(answers) + next(_drills_made) if seed is None else int_("seed", seed)
        before = {"today": kept.today().isoformat(), "answers": answers[-MOST_BEFORE:]}
        state = {"kind": kind, "seed": seed, "answers": [], "said": None}
        _refuse_impossible(state, before)
        super().__init__(_state=state, _before=before, _trouble=trouble)

    @property
    def kind(self) -> str:
        """The kind of the questions; another one asks a new question."""
        return str(self._state["kind"])

    @kind.setter
    def kind(self, kind: str) -> None:
        kind = choice("kind", kind, _script.NAMES)
        self._state = {**self._state, "kind": kind, "said": None}

    @property
    def question(self) -> str:
        """The question on screen."""
        return str(self._asked["text"])

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices on screen, in their order."""
        return tuple(offered["text"] for offered in self._asked["choices"])

    @property
    def streak(self) -> int:
        """The number of right answers in a row up to now."""
        return int(_script.streak(self._state, self._before)["now"])

    @property
    def shares(self) -> dict[str, tuple[int, int]]:
        """For each kind that was asked: how many answers were right, and how many there were."""
        shares = _script.shares(self._state, self._before)
        return {kind: (right, count) for kind, (right, count) in shares.items()}

    def answer(self, number: int) -> bool:
        """Choose an answer by its number on screen, from 1; return whether it is right.

        Nothing goes on record. Raises LayoutError for another number, and for a second answer.
        """
        position = int_("number", number) - 1
        self._state = _script.answer(self._state, self._before, position)
        return bool(self._asked["right"] == position)

    def next(self) -> None:
        """Ask the next question; one that was not answered stays."""
        self._state = _script.next(self._state)

    @property
    def _asked(self) -> dict[str, Any]:
        asked: dict[str, Any] = _script.question(self._state, self._before)
        return asked

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take the page's change, and note its new answers on record."""
        count = len(self._state["answers"])
        super().set_state(sync_data)
        for kind, asked, mistake in self._state["answers"][count:]:
            trouble = kept.note(drill=kind, asked=asked, mistake=mistake)
            if trouble:
                self._trouble = trouble

    def _check(self, state: dict[str, Any]) -> None:
        _refuse_impossible(state, self._before)


def _refuse_impossible(state: dict[str, Any], before: dict[str, Any]) -> None:
    """Raise LayoutError for a state that no drill can have."""
    reason = _script.whyNot(state, before)
    if reason:
        raise LayoutError(f"the drill cannot show this: {reason}")


def _answers_on_record() -> list[list[str]]:
    """Return kind, question, mistake and day of each answer to a drill. Raises RecordError."""
    return [
        [note["drill"], note["asked"], note["mistake"], day.isoformat() if day else ""]
        for day, note in kept.history()
        if "drill" in note
    ]
