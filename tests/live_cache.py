"""The settings of CacheExplorer: bytes, boxes and words, in Python and in the browser."""

from collections.abc import Callable
from itertools import product
from random import Random

from stridekit.widgets import CacheExplorer
from stridekit.widgets.cache_explorer import growth
from stridekit.widgets.cache_explorer.growth import Settings
from tests.live_facts import same
from tests.pipe import as_json, ask, ask_all

GROWTH = "cache_explorer/growth"
# All that can be chosen, after any number of tokens.
SETTINGS = [
    Settings(*numbers)
    for numbers in product(
        *(range(least, most + 1) for least, most in growth.SIZES.values()),
        growth.BLOCKS,
        growth.ORDERS,
        growth.ATTENTION,
    )
]


def compare(s: Settings) -> None:
    """All that follows from the settings alone, but for the curves."""
    given = s._asdict()
    for way in growth.WAYS:
        asked = [
            *((f"{GROWTH}/{name}", given, way) for name in ("boxes", "now", "rowOf")),
            *((f"{GROWTH}/written", given, way, t) for t in (1, 2, 3, s.tokens or 9, 500)),
        ]
        rows = growth.rows(s, way)
        steps = [growth.written(s, way, t)._asdict() for t in (1, 2, 3, s.tokens or 9, 500)]
        boxes, now, row, *written = ask_all(asked)
        assert boxes == as_json(growth.boxes(s, way)), (s, way)
        assert (now, written) == (growth.now(s, way), steps), (s, way)
        assert not rows or row == len(rows[0]), (s, way)
        assert [ask(f"{GROWTH}/label", box) for box in boxes[:9]] == [
            growth.label(box) for box in growth.boxes(s, way)[:9]
        ]
    assert ask(f"{GROWTH}/code", given) == growth.code(s), s


def caches(r: Random) -> None:
    """Settings with their curves, and the places of a few vectors."""
    s = r.choice(SETTINGS)
    compare(s)
    totals = ask(f"{GROWTH}/curves", s._asdict())
    assert totals == growth.curves(s), s
    assert ask(f"{GROWTH}/whole", totals) == growth.whole(growth.curves(s))
    for _ in range(3):
        vector = r.randrange(s.batch), r.randrange(s.heads), r.randrange(growth.ROOM)
        assert ask(f"{GROWTH}/place", s._asdict(), vector) == growth.place(s, vector)


def cache_facts(r: Random) -> None:
    """Goals over two states; the code of the first is Python's."""
    one, other = (CacheExplorer(**s._asdict()) for s in r.sample(SETTINGS, 2))
    assert same("cache_explorer", growth, one._state, other._state) == one.facts
    assert ask(f"{GROWTH}/code", one._state) == one.code


CASES: dict[str, Callable[[Random], None]] = {
    family.__name__: family for family in (caches, cache_facts)
}
