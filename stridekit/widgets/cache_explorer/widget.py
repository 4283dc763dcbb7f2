"""CacheExplorer: a cache of keys that grows by a token a step, in three ways."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stridekit._arguments import int_
from stridekit.layout import LayoutError
from stridekit.widgets.assets import module, style
from stridekit.widgets.cache_explorer import growth
from stridekit.widgets.explorer import Explorer, require_known, setting
from stridekit.widgets.goals import Goal

_TEXTS = {"order": growth.ORDERS, "attention": growth.ATTENTION}


class CacheExplorer(Explorer):
    """Step through tokens, and watch what a cache of keys writes: by `cat`, in place, and in blocks.

    After `tokens` steps, up to 8, each memory is shown; a box is the key of one head and token, 64 floats.
    A `batch` of up to 2 sequences has up to 3 `heads`; a `block` has 2 or 4 tokens. The memory has the
    `order` "heads first" or "tokens first", and `attention` reads it by "@" or "SDPA". Counted are the
    bytes of elements that are written to new memory or to the cache: to keep the token, to gather blocks,
    and to clone for `@`. Curves have their sums up to 512 tokens. All of it follows the hand and can be
    set; a wrong value raises LayoutError (ValueError), and the picture stays as it was. `code` grows all
    three.

    >>> CacheExplorer(order="tokens first")
    CacheExplorer: 3 tokens, batch 2, heads 2, blocks of 2, tokens first, read by @
      cat: keep: 3,072 bytes, 2 of 3 tokens again; @ clones 3,072 bytes; 11,264 bytes so far
      in place: keep: 1,024 bytes; @ clones 3,072 bytes; 9,216 bytes so far
      blocks: keep: 1,024 bytes; pool[table]: 4,096 bytes; @ clones 3,072 bytes; 17,408 bytes so far
      512 tokens write, in bytes: cat 268,958,720, in place 135,004,160, blocks 269,746,176. cat writes \
1.992 times as much as in place.
    """

    _module = module("cache_explorer/widget.js")
    _style = style("page/base.css", "cache_explorer/widget.css")

    FACTS, _facts = growth.FACTS, staticmethod(growth.facts)

    def __init__(
        self,
        tokens: int = 3,
        *,
        batch: int = 2,
        heads: int = 2,
        block: int = 2,
        order: str = "heads first",
        attention: str = "@",
        goals: Iterable[Goal] = (),
    ) -> None:
        s = _checked(growth.Settings(tokens, batch, heads, block, order, attention))
        super().__init__(_state=s._asdict())
        self._aim(goals)

    def _check(self, state: dict[str, Any]) -> None:
        _checked(growth.settings(state))

    def _change(self, **changed: Any) -> None:
        self._state = _checked(growth.settings(self._state)._replace(**changed))._asdict()

    tokens = setting("tokens", "The number of tokens so far, from 0 to 8.")
    batch = setting("batch", "The number of sequences.")
    heads = setting("heads", "The number of heads.")
    block = setting("block", "The number of tokens of a block: 2 or 4.")
    order = setting("order", 'The order of each memory: "heads first" or "tokens first".')
    attention = setting("attention", 'What reads the keys: "@" or "SDPA".')

    @property
    def code(self) -> str:
        """The torch code that grows all three caches, and reads them."""
        return growth.code(growth.settings(self._state))

    def __repr__(self) -> str:
        s = growth.settings(self._state)
        totals = growth.curves(s)
        lines = [
            f"CacheExplorer: {s.tokens} tokens, batch {s.batch}, heads {s.heads}, blocks of {s.block}, "
            f"{s.order}, read by {s.attention}",
            *(
                f"{way}: {'; '.join(growth.now(s, way))}; {totals[way][s.tokens]:,} bytes so far"
                for way in growth.WAYS
            ),
            growth.whole(totals),
        ]
        return "\n  ".join([*lines, *self._aims()])


def _checked(s: growth.Settings) -> growth.Settings:
    """The settings with plain ints, if the picture can show them."""
    numbers: dict[str, Any] = {name: int_(name, getattr(s, name)) for name in s._fields[:4]}
    s = s._replace(**numbers)
    for name, (least, most) in growth.SIZES.items():
        if not least <= getattr(s, name) <= most:
            raise LayoutError(f"{name} is {getattr(s, name)}: the picture holds {least} to {most}")
    if s.block not in growth.BLOCKS:
        raise LayoutError(f"block is {s.block}: the picture has blocks of 2 or 4 tokens")
    for name, known in _TEXTS.items():
        require_known(name, getattr(s, name), known)
    return s
