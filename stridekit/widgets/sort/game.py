"""The game from its moves: what is still to sort, what lies where, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

BINS = ("view", "copy", "it depends")
Cards = Sequence[dict[str, Any]]
Moves = Sequence[Sequence[int]]  # the number of a card, and that of a bin


class Standing(NamedTuple):
    """The numbers of cards: those to sort, next first; those in each bin; those that came back."""

    pile: list[int]
    bins: list[list[int]]
    back: list[int]


def standing(cards: Cards, moves: Moves) -> Standing:
    """Where the cards are after some moves; raises ValueError for one that cannot be made."""
    now = Standing([*range(len(cards))], [[], [], []], [])
    for k, (card, to) in enumerate(moves):
        if {type(card), type(to)} != {int} or not (0 <= card < len(cards) and 0 <= to < 3):
            raise ValueError(f"moves[{k}] is {[card, to]}: no card and no bin have these numbers")
        if card not in now.pile:
            raise ValueError(f"moves[{k}]: {cards[card]['call']} is in its bin already")
        now.pile.remove(card)
        right = cards[card]["bin"] == to
        (now.bins[to] if right else now.pile).append(card)
        if not right and card not in now.back:
            now.back.append(card)
    return now


def verdict(cards: Cards, moves: Moves) -> tuple[str, str]:
    """A sign and a sentence on the last move; both are "" before the first."""
    if not moves:
        return "", ""
    card, to = cards[moves[-1][0]], moves[-1][1]
    if card["bin"] == to:
        return "✓", f"`{card['call']}` {card['how']}."
    return "✗", f"`{card['call']}` {card['against'][to]}. It goes back under the pile."


def progress(cards: Cards, moves: Moves) -> str:
    """How far the game is; at its end, what to look at again."""
    pile, _, back = standing(cards, moves)
    count = len(cards)
    if pile:
        return f"{count - len(pile)} of {count} sorted"
    again = ", ".join(f"`{cards[card]['call']}`" for card in back)
    look = f". Look again at {again}" if back else ""
    return f"All {count} sorted, {count - len(back)} at the first try{look}."


def code(made: str, cards: Cards, moves: Moves) -> str:
    """The source of a game as it stands; `made` is that of a new one, but for its last bracket."""
    pairs = [f"({cards[card]['quoted']}, '{BINS[to]}')" for card, to in moves]
    return f"{made}, moves=[{', '.join(pairs)}])" if pairs else f"{made})"
