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

    >>> CacheExplorer(order="tokens first")
    CacheExplorer: 3 tokens, batch 2, heads 2, blocks of 2, tokens first, read by @
      cat: keep: 3,072 bytes, 2 of 3 tokens again; @ clones 3,072 bytes; 11,264 bytes so far
      in place: keep: 1,024 bytes; @ clones 3,072 bytes; 9,216 bytes so far
      blocks: keep: 1,024 bytes; pool[table]: 4,096 bytes; @ clones 3,072 bytes; 17,408 bytes so far
      512 tokens write, in bytes: cat 268,958,720, in place 135,004,160, blocks 269,746,176. cat writes \
1.992 times as much as in place.
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
