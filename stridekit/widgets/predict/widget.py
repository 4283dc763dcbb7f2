"""Predict: a question that you answer before the right answer is shown."""

from __future__ import annotations

import base64
import math
import sys
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import Any

import traitlets

from stridekit._arguments import a_kind, int_, items_of, shown
from stridekit.widgets import kept
from stridekit.widgets.base import StateWidget
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import plain

_numbers = Script("page/numbers.js")
MAX_CHOICES = 100
MAX_ITEMS = 100  # of a tuple
MAX_DEPTH = 4  # of tuples in tuples


class Predict(StateWidget, script="predict/verdict.js"):
    """Ask for a prediction, then show the answer, the reason and the experiment.

    With `choices` (or an answer of True or False) you choose one of them. Otherwise you type the answer,
    which is a number or a tuple of ints such as a shape. `why` is the rule that explains the answer,
    `experiment` the code that shows it, and `output` what that code prints (by default the answer).
    `remarks` maps particular wrong answers to a text for each. Text between backticks is code.

    Let the cell compute the answer: then it is torch's, and the cell does not give it away.

    A wrong first guess gets its remark and one more try, then the answer is shown. `committed` is the last
    guess, or None before there is one; set it to answer, also to a text as you type it ("2 * 3 * 4",
    "12 KiB"), or to None to ask again. `correct` is None until then. Raises ValueError for a question that
    cannot be asked, or an answer that does not fit it.

    >>> import torch
    >>> x = torch.arange(24).view(4, 6)
    >>> predict = Predict("What is the stride of `x.t()`?", x.t().stride(),
    ...     choices=[(6, 1), (1, 6), (1, 4)], why="`t()` swaps the two.", experiment="x.t().stride()")
    >>> predict.committed = (1, 6)
    >>> predict.correct
    True
    """

    _knows = ("_problem",)
    _problem = traitlets.Dict().tag(sync=True)
    _reviewed = ""  # the question of the card that this one asks again, perhaps with new numbers
    _is_noted = False  # as a review

    def __init__(
        self,
        question: str,
        answer: Any,
        *,
        choices: Iterable[Any] | None = None,
        why: str = "",
        experiment: str = "",
        output: str | None = None,
        remarks: Mapping[Any, str] | None = None,
    ) -> None:
        texts = {"question": question, "why": why, "experiment": experiment}
        for name, text in (texts if output is None else texts | {"output": output}).items():
            if not isinstance(text, str):
                raise ValueError(f"{name} is {a_kind(text)}: give a text")
        if remarks is None:
            remarks = {}
        if not isinstance(remarks, Mapping):
            raise ValueError(f"remarks are {a_kind(remarks)}: give a dict, {{answer: text}}")
        if not question.strip():
            raise ValueError("the question is empty: say what to predict")
        if output is not None and not experiment:
            raise ValueError(f"output {output!r} belongs to no experiment: give its code as well")
        if choices is None and isinstance(answer, bool):
            choices = [True, False]
        self._choices = None if choices is None else _distinct(choices)
        self._kind = _kind_of(answer) if self._choices is None else "choice"
        super().__init__(_state=self._script.OPEN)
        if output is None:
            output = repr(_as_python(answer)) if experiment else ""
        offered = self._choices or []
        self._problem = texts | {
            "kind": self._kind,
            "choices": [_text(choice) for choice in offered],
            "quoted": [isinstance(choice, str) for choice in offered],
            "answer": self._to_json(answer, "the answer"),
            "output": output,
            "remarks": self._remarks(answer, remarks),
        }

    def _remarks(self, answer: Any, remarks: Mapping[Any, str]) -> list[list[Any]]:
        """Return the wrong answers and their remarks as JSON."""
        pairs = [[self._to_json(wrong, "the remark for"), text] for wrong, text in remarks.items()]
        if self._to_json(answer, "the answer") in [wrong for wrong, _ in pairs]:
            raise ValueError(
                f"there is a remark for {_text(answer)}, which is right: use `why` for that"
            )
        return pairs

    @staticmethod
    def packed(question: str, source: str) -> Any:
        """Make the card whose source is packed, for hosts that show all sources unfolded."""
        call = zlib.decompress(base64.b64decode(source)).decode()
        return eval(call, sys._getframe(1).f_globals)

    @classmethod
    def again(cls, question: str, problem: Mapping[str, Any]) -> Predict:
        """Make the card of a problem, whose first answer is noted as a review of a question."""
        card = cls("?", True)
        card._problem = dict(problem)
        card._kind = problem["kind"]
        card._choices = list(problem["choices"]) if card._kind == "choice" else None
        card._reviewed = question
        return card

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take the page's answer, and note the first one on record."""
        super().set_state(sync_data)
        if "_state" not in sync_data or self.first_was_right is None:
            return
        trouble = ""
        if not self._reviewed:
            trouble = self._note_card()
        elif not self._is_noted:
            self._is_noted = True
            trouble = kept.note(review=self._reviewed, right=self.first_was_right)
        if trouble:
            self._problem = {**self._problem, "trouble": trouble}

    def _note_card(self) -> str:
        """Note the first answer, unless one is on record; return what is in the way of it."""
        question = self._problem["question"]
        notes = []
        with suppress(kept.RecordError):
            notes = kept.record()
        if any(note.get("card") == question for note in notes):
            return ""
        is_skipped = self.first_was_right is False and self.correct is None
        return kept.note(card=question, right=None if is_skipped else self.first_was_right)

    @property
    def first_was_right(self) -> bool | None:
        """True if the first guess was right, False if it was wrong or skipped; None before that."""
        if self._state.get("first") is not None:
            return False
        return bool(self.correct) if self.shown else None

    @property
    def committed(self) -> Any:
        """The last guess: one of the choices, a number or a tuple; None before there is one."""
        return self._from_json(self._last_guess)

    @committed.setter
    def committed(self, value: Any) -> None:
        if isinstance(value, str) and self._choices is None:
            value = _numbers.readAnswer(self._kind, value, self._problem["question"])
        if value is None:
            self._state = self._script.OPEN
            return
        state = self._script.OPEN if self.shown else self._state
        guess = self._to_json(value, "the prediction")
        self._state = self._script.commit(self._problem, state, guess)

    @property
    def correct(self) -> bool | None:
        """True for a right guess, False for a wrong one; None before there is one."""
        guess = self._last_guess
        return None if guess is None else bool(guess == self._problem["answer"])

    @property
    def _last_guess(self) -> Any:
        """The last guess as JSON."""
        said = self._state["said"]
        return self._state.get("first") if said is None else said

    @property
    def shown(self) -> bool:
        """True once the answer is on screen: after the right guess or the second, or after `show()`."""
        return bool(self._state["shown"])

    def show(self) -> None:
        """Show the answer, without another guess."""
        self._state = {**self._state, "shown": True}

    def _check(self, state: dict[str, Any]) -> None:
        for guess in (state["said"], state.get("first")):
            value = self._from_json(guess)
            if value is not None and self._to_json(value, "the prediction") != guess:
                raise ValueError(f"{guess!r} is not a possible prediction")
        is_over = state["said"] is not None
        if state["shown"] not in (True, False) or (is_over and not state["shown"]):
            raise ValueError(f"a question cannot have the state {state}")
        if state.get("first") == self._problem["answer"]:
            raise ValueError(f"a right guess needs no second one: {state}")

    def _to_json(self, value: Any, subject: str) -> Any:
        """Return a value as JSON for the page: the position of a choice, a number, or a list."""
        if self._choices is not None:
            texts = [_text(choice) for choice in self._choices]
            if _text(value) not in texts:
                known = ", ".join(texts)
                raise ValueError(f"{subject} {_text(value)} is none of the choices: {known}")
            return texts.index(_text(value))
        if _kind_of(value) != self._kind:
            raise ValueError(f"{subject} {_text(value)} is not a {self._kind}, as the answer is")
        answer = _as_python(value)
        return list(answer) if isinstance(answer, tuple) else answer

    def _from_json(self, guess: Any) -> Any:
        if guess is None or self._choices is None:
            return plain(guess)
        return self._choices[guess]


def _distinct(choices: Iterable[Any]) -> list[Any]:
    """Return the choices as plain values; raise ValueError unless each reads differently."""
    items = items_of(choices)
    if items is None:
        raise ValueError(f"choices are {a_kind(choices)}: give a list or a tuple")
    if not 2 <= len(items) <= MAX_CHOICES:
        raise ValueError(f"a question has 2 to {MAX_CHOICES} choices, not {len(items):,}")
    values = [_as_python(choice) for choice in items]
    texts = [_text(choice) for choice in values]
    for text in texts:
        if not text.strip():
            raise ValueError("a choice is empty: give it words")
        if texts.count(text) > 1:
            raise ValueError(f"choice {text} is there {texts.count(text)} times: give it once")
    return values


def _kind_of(value: Any) -> str:
    """Return the kind of answer to type where there are no choices: "number" or "tuple"."""
    answer = _as_python(value)
    numbers = answer if isinstance(answer, tuple) else (answer,)
    are_ints = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
    if not are_ints and not (isinstance(answer, float) and math.isfinite(answer)):
        raise ValueError(
            f"{_text(value)} cannot be typed as a number or a tuple of ints: give choices=[…]"
        )
    if any(abs(n) >= 2**53 for n in numbers):
        raise ValueError(
            f"{_text(value)} is beyond 2**53 - 1, above which a browser no longer counts exactly"
        )
    return "tuple" if isinstance(answer, tuple) else "number"


def _as_python(value: Any, depth: int = 0) -> Any:
    """Return the value with torch's sizes, NumPy's numbers and whole floats as tuples and ints."""
    if isinstance(value, (tuple, list)):
        if len(value) > MAX_ITEMS or depth > MAX_DEPTH:
            raise ValueError(
                f"{a_kind(value)} of {len(value):,} values, {depth} deep, "
                "is more than a card has room for"
            )
        return tuple(_as_python(item, depth + 1) for item in value)
    if isinstance(value, (bool, str)) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int_("a number", value)
    number = float(value)
    return int(number) if number.is_integer() else number


def _text(value: Any) -> str:
    """Return a value as shown on screen; choices are compared by this text."""
    answer = _as_python(value)
    if isinstance(answer, str):
        return answer
    return repr(answer) if isinstance(answer, (tuple, int, float)) else shown(answer)
