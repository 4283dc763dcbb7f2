"""review: ask again what the reader got wrong or saw long ago, from the record alone."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import date
from html import escape
from importlib.resources import files
from random import Random
from typing import Any

from stridekit._arguments import int_
from stridekit._extras import extra
from stridekit.exercises import given, new_numbers
from stridekit.exercises.reports import Panel, Row
from stridekit.widgets import Predict, kept

with extra("widgets"):
    import ipywidgets

MOST = 50  # cards in one review


@dataclass(frozen=True)
class Card:
    """A card of a lesson: the titles of its lesson and section, and all that it shows."""

    lesson: str
    section: str
    problem: dict[str, Any]

    @property
    def question(self) -> str:
        """The question, which is the card's name on record."""
        return str(self.problem["question"])

    def again(self, random: Random) -> dict[str, Any]:
        """Return what a review asks: with new numbers, or with the setting that the lesson gave."""
        anew = new_numbers.problem(self.question, random)
        return anew or given.in_review(self.problem)

    @property
    def place(self) -> str:
        """Where the lesson explains it."""
        return f"{self.lesson}: {self.section}" if self.section else self.lesson


@dataclass(frozen=True)
class _Seen:
    """The last answer to a card: its day, unless an old record has none, and if it was right."""

    day: date | None
    is_right: bool


def cards() -> dict[str, Card]:
    """Return the cards that a review can ask, by their questions, as `make refresh` stored them."""
    stored = json.loads(files("stridekit.exercises").joinpath("cards.json").read_text("utf-8"))
    result = {}
    for lesson in stored.values():
        for section, problem in lesson["cards"]:
            card = Card(lesson["title"], section, problem)
            result[card.question] = card
    return result


def review(count: int = 10, *, random: Random | None = None) -> Panel | Review:
    """Ask again up to `count` cards that you got wrong or saw long ago, some with new numbers.

    Wrong and skipped ones come first, then those seen on the earliest day; a card that you got right
    today waits. Below the cards stands which lesson to read again. Your answers are noted, so the next
    review asks others. `random` draws the new numbers. Raises ValueError for another count than 1 to 50.

    >>> review()
    · nothing to review yet
      Answer some cards in a lesson first, then call `review()` again.
    """
    count = int_("count", count)
    if not 1 <= count <= MOST:
        raise ValueError(f"a review has 1 to {MOST} cards, not {count:,}")
    try:
        seen = _seen()
    except kept.RecordError as error:
        return Panel("note", f"your record cannot be read: {error}")
    known = cards()
    if not any(question in known for question in seen):
        row = Row("", "Answer some cards in a lesson first, then call `review()` again.")
        return Panel("note", "nothing to review yet", (row,))
    due = [known[question] for question in _due(seen) if question in known]
    if not due:
        row = Row("", "Call `review()` again on another day, or after the next lesson.")
        headline = "nothing to review today: your last answers were all right"
        return Panel("passed", headline, (row,))
    return Review(due[:count], random or Random())


def _seen() -> dict[str, _Seen]:
    """Return the last answer to each question, in the order of the record. Raises RecordError."""
    seen: dict[str, _Seen] = {}
    for day, note in kept.history():
        question = note.get("card") or note.get("review")
        if question:
            seen.pop(question, None)  # the last answer decides about the place, too
            seen[question] = _Seen(day, note["right"] is True)
    return seen


def _due(seen: dict[str, _Seen]) -> list[str]:
    """Return the questions to ask again: wrong ones first, then those seen on the earliest day."""
    wrong = [question for question, last in seen.items() if not last.is_right]
    right = [question for question, last in seen.items() if last.is_right]
    earlier = [question for question in right if seen[question].day != kept.today()]
    earlier.sort(key=lambda question: seen[question].day or date.min)
    return wrong + earlier


class Review(ipywidgets.VBox):
    """Cards below each other, and below them what to read again, which follows the answers."""

    def __init__(self, asked: list[Card], random: Random) -> None:
        self._asked = asked
        self.cards = []
        for card in asked:
            self.cards.append(Predict.again(card.question, card.again(random)))
        self._summary = ipywidgets.HTML()
        children = []
        for card, widget in zip(asked, self.cards, strict=True):
            children += [ipywidgets.HTML(escape(card.place)), widget]
        super().__init__([*children, self._summary])
        for widget in self.cards:
            widget.observe(self._follow, names="_state")
        self._follow()

    @property
    def summary(self) -> Panel:
        """How many are answered, how many were right at once, and what to read again."""
        answers = [widget.first_was_right for widget in self.cards]
        answered = [is_right for is_right in answers if is_right is not None]
        pairs = zip(self._asked, answers, strict=True)
        places = Counter(card.place for card, is_right in pairs if is_right is False)
        rows = [
            Row("read again", f"{place} ({wrong} of its cards)" if wrong > 1 else place)
            for place, wrong in places.most_common()
        ]
        headline = f"{len(answered)} of {len(answers)} answered, {sum(answered)} right at once"
        if len(answered) < len(answers):
            return Panel("note", headline, tuple(rows))
        rows.append(Row("", "Run this cell again for other cards."))
        return Panel("note" if places else "passed", headline, tuple(rows))

    def _follow(self, change: object = None) -> None:
        """Show the summary of the present answers."""
        self._summary.value = self.summary._repr_html_()

    def __repr__(self) -> str:
        lines = []
        for card, widget in zip(self._asked, self.cards, strict=True):
            lines += [card.place, repr(widget), ""]
        return "\n".join([*lines, repr(self.summary)])
