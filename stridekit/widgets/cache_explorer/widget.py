"""CacheExplorer: a cache of keys that grows by a token a step, in three ways."""

from __future__ import annotations

from collections.abc import Iterable

from stridekit.widgets.explorer import Choices, setting
from stridekit.widgets.goals import Goal


class CacheExplorer(Choices, script="cache_explorer/growth.js"):
    """Step through tokens, and watch what a cache of keys writes: by `cat`, in place, and in blocks.

    After `tokens` steps, up to 8, each memory is shown; a box is the key of one head and token, 64 floats.
    A `batch` of up to 2 sequences has up to 3 `heads`; a `block` has 2 or 4 tokens. The memory has the
    `order` "heads first" or "tokens first", and `attention` reads it by "@" or "SDPA". Counted are the
    bytes of elements that are written to new memory or to the cache: to keep the token, to gather blocks,
    and to clone for `@`. Curves have their sums up to 512 tokens. All of it follows the hand and can be
    set; a wrong value raises LayoutError (ValueError), and the picture stays as it was. `code` grows all
    three.

    >>> facts = CacheExplorer(order="tokens first").facts
    >>> facts["cat_written"], facts["in_place_written"], facts["blocks_written"]
    (11264, 9216, 17408)
    """

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
        sizes = {"tokens": tokens, "batch": batch, "heads": heads, "block": block}
        super().__init__(goals, **sizes, order=order, attention=attention)

    tokens = setting("tokens", "The number of tokens so far, from 0 to 8.")
    batch = setting("batch", "The number of sequences.")
    heads = setting("heads", "The number of heads.")
    block = setting("block", "The number of tokens of a block: 2 or 4.")
    order = setting("order", 'The order of each memory: "heads first" or "tokens first".')
    attention = setting("attention", 'What reads the keys: "@" or "SDPA".')
