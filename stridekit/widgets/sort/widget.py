"""Sort: calls to sort into those that view, those that copy, and those where it depends."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import traitlets

from stridekit._arguments import a_kind, ints, items_of, shown, texts
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Framed
from stridekit.widgets.sort import judge

QUESTION = "A view of `x`, a copy, or does it depend on `x`?"
PAIR = "as in [('x.t()', 'view')]"
game = Script("sort/game.js")
BINS = game.BINS


class Sort(Framed, script="sort/game.js"):
    """Calls on cards, to be sorted into three bins: view, copy, it depends. torch is the judge.

    `calls` are expressions with x in them; a text may hold several, with semicolons between them. Each is
    run on `x`, and on each of the tensors of `also` in its place, which are expressions with x as well. A
    call whose results always share memory with their tensor is a view, one whose results never do is a
    copy, and of others it depends. So `also` has to bring that to light. x itself is never written to.

    `moves` are the moves so far, pairs of a call and a bin; set them to play. A wrong move puts the card
    back under the pile. `answers` has torch's verdicts. Raises TypeError or ValueError for an impossible
    game: a call that fails on x, whose result has no memory, or that is no expression with x.

    >>> x = torch.arange(24.0).view(4, 6)
    >>> game = Sort(x, "x[1:]; x + 1; x.reshape(-1)", also="x.t(); x[:, 2:]")
    >>> game.moves = [("x[1:]", "view"), ("x.reshape(-1)", "view")]
    >>> game.answers
    {'x[1:]': 'view', 'x + 1': 'copy', 'x.reshape(-1)': 'it depends'}
    """

    _knows = ("_game",)
    _game = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        x: torch.Tensor,
        *calls: str,
        also: str | Iterable[str],
        moves: Iterable[tuple[str, str]] = (),
    ) -> None:
        sources = judge.expressions("calls", calls, judge.MOST_CALLS)
        also = [also] if isinstance(also, str) else also
        other_tensors = judge.expressions("also", also, judge.MOST_TENSORS)
        if "x" in other_tensors:
            raise ValueError("also has x, on which each call is run anyway: name other tensors")
        tensors = ("x", *other_tensors)
        self._cards = judge.cards(judge.checked(x), sources, tensors)
        super().__init__(_state={"moves": self._numbered(moves)})
        self._game = {
            "question": QUESTION,
            "tried": f"`x` is {x.dtype} of shape {tuple(x.shape)}; "
            f"torch has run each call on {judge.listed(tensors)}",
            "cards": self._cards,
            "made": f"Sort(x, {'; '.join(sources)!r}, also={'; '.join(other_tensors)!r}",
        }

    @property
    def moves(self) -> tuple[tuple[str, str], ...]:
        """The moves so far: pairs of a call and the bin that it was put into, also a wrong one."""
        return tuple((self._cards[k]["call"], BINS[b]) for k, b in self._state["moves"])

    @moves.setter
    def moves(self, moves: Iterable[tuple[str, str]]) -> None:
        self._state = {"moves": self._numbered(moves)}

    @property
    def answers(self) -> dict[str, str]:
        """The bin of each call, by torch's verdict."""
        return {card["call"]: BINS[card["bin"]] for card in self._cards}

    def _numbered(self, moves: Any) -> list[list[int]]:
        """Return moves as the state has them, if they can be made one after the other."""
        items = items_of(moves)
        if items is None:
            raise TypeError(f"moves is {shown(moves)}, {a_kind(moves)}: give pairs, {PAIR}")
        calls = [card["call"] for card in self._cards]
        pairs = [texts(f"moves[{k}]", move) for k, move in enumerate(items)]
        for k, pair in enumerate(pairs):
            if len(pair) != 2 or pair[0] not in calls or pair[1] not in BINS:
                raise ValueError(
                    f"moves[{k}] is {shown(pair)}: give a call of this game and a bin, {PAIR}; "
                    f"the bins are {', '.join(BINS)}"
                )
        numbers = [[calls.index(call), BINS.index(name)] for call, name in pairs]
        game.standing(self._cards, numbers)  # raises for an impossible move
        return numbers

    def _check(self, state: dict[str, Any]) -> None:
        game.standing(self._cards, [ints("a move", move) for move in list(state["moves"])])
