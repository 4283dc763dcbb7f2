"""E5 and E6: a cache that grows in place, and blocks of a pool as a view where possible."""

from dataclasses import replace
from typing import Any, cast

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.mistakes import row_major  # noqa: F401 (for mistakes)
from stridekit.exercises.readers.answers import view_of
from stridekit.exercises.readers.copies import Logged, logging_copies
from stridekit.exercises.running import Arguments, Outcome, snapshot
from stridekit.tensors.storage import bytes_missing


def read_appended(answer: Any, args: Arguments) -> Outcome:
    """Read a view of the cache, with what the cache holds now, and whether anything is new."""
    cache = args["cache"]
    copies = list(cast(Logged, args).log.copies)
    outcome = view_of("cache")(answer, args)
    facts = outcome.facts | {"cache": snapshot(cache), "anything new": bool(copies)}
    copied = "".join(f", {nbytes} new bytes by {name}" for name, nbytes in copies)
    content = "nothing: its storage was shrunk" if bytes_missing(cache) else cache.tolist()
    shown = f"{outcome.shown}{copied}\ncache now: {content}"
    return replace(outcome, facts=facts, shown=shown)


TOKEN = "torch.arange(24.0).view(2, 3, 1, 4)"
NUMBERS = "torch.arange(96.0).view(2, 3, 4, 4)"
NEGATIVE = "-torch.arange(1.0, 25.0).view(2, 3, 1, 4)"


@exercise(
    title="append to a cache, without a copy",
    read=read_appended,
    fence=logging_copies,
    writes=("cache",),
    cases=[
        "cache = torch.zeros(1, 1, 4, 2); k = torch.tensor([[[[5.0, 6.0]]]]); t = 0",
        "cache = torch.zeros(1, 2, 4, 3); k = torch.arange(1.0, 7.0).view(1, 2, 1, 3); t = 2",
        f"cache = {NUMBERS}; k = {NEGATIVE}; t = 1",
        f"cache = {NUMBERS}; k = {NEGATIVE}; t = 3",
        f"cache = torch.zeros(2, 4, 3, 4).transpose(1, 2)  # by tokens\nk = {TOKEN}; t = 2",
        f"cache = torch.ones(2, 2, 3, 4, 4)[1]  # of k and v\nk = {TOKEN}; t = 1",
        f"cache = torch.ones(4, 3, 5, 4)[::2, :, 1:]; k = {TOKEN}; t = 2",
        f"cache = torch.ones(2, 3, 8, 4)[:, :, ::2]; k = {TOKEN}; t = 2",
        "cache = torch.ones(2, 3, 4, 4)\nk = torch.arange(72.0).view(2, 1, 3, 3, 4)[:, :, 1]"
        ".transpose(1, 2); t = 2  # of a packed row",
        "cache = torch.ones(2, 3, 4, 4); k = torch.arange(4.0).expand(2, 3, 1, 4); t = 2",
        "cache = torch.ones(2, 1, 4, 8); k = torch.arange(16.0).view(2, 1, 1, 8); t = 2",
        "cache = torch.ones(2, 16, 4, 1); k = torch.arange(32.0).view(2, 16, 1, 1); t = 2",
        f"cache = torch.ones(2, 3, 1, 4); k = {TOKEN}; t = 0  # one place",
        "cache = torch.ones(1, 3, 4, 4, dtype=torch.float16)\n"
        "k = torch.arange(12, dtype=torch.float16).view(1, 3, 1, 4); t = 1",
        "cache = torch.ones(0, 3, 4, 4); k = torch.ones(0, 3, 1, 4); t = 1",
    ],
    hints=[
        "The cache has room for the new token already. In which dim, and at which index, does the "
        "token belong?",
        "An assignment to a slice writes into its tensor: `cache[:, :, ...] = k`. The first t + 1 "
        "positions are a slice as well.",
        "Write with `cache[:, :, t : t + 1] = k`. Return `cache[:, :, : t + 1]`. Neither makes new "
        "memory.",
    ],
    otherwise=(
        "The check looks at the content of the cache after your call, and whether your answer is a "
        "view of its first t + 1 positions. Which of the two differs here?"
    ),
    takeaway="A cache with room grows by one write and one slice. `cat` would copy all of it.",
)
def append(cache: torch.Tensor, k: torch.Tensor, t: int) -> torch.Tensor:
    """Write k to position t of the cache, and return all positions up to it.

    Not allowed: new memory, except for indices.

    cache   a tensor of shape (B, H, Tmax, D), perhaps sliced or transposed. Write to it, and
            leave the rest of its storage as it is
    k       a tensor of shape (B, H, 1, D) and the same dtype
    t       the position, an int from 0 to Tmax - 1
    return  a view of the cache: its first t + 1 positions, of shape (B, H, t + 1, D)
    """
    cache[:, :, t : t + 1] = k
    return cache[:, :, : t + 1]


COPIED = (
    "The cache is right, but on this input you return a copy of its first positions. Return the "
    "slice itself."
)

append.slots["cache[:, :, t : t + 1] = k"] = {
    "cache[:, :, t] = k": (
        "An int as an index removes its dim, but k has four dims. Keep the dim: `t : t + 1`."
    ),
    "cache[:, :, t] = k.squeeze()": (
        "`squeeze()` removes every dim of size 1, also B, H or D. Remove dim 2 alone, or keep all "
        "dims with `t : t + 1`."
    ),
    "pass": "The cache is as before, without k.",
    (
        "cache[:, :, [t]].copy_(k)",
        "cache.index_copy(2, torch.tensor([t]), k)",
        "cache[:, :, t : t + 1].add(k)",
    ): (
        "k is lost: the cache is as before. You write into a copy. Reading with a list or a tensor "
        "as the index copies, and a method without an underscore at its end makes a new tensor."
    ),
    (
        "cache[:, :, t - 1 : t] = k",
        "cache[:, :, max(t - 1, 0) : max(t, 1)] = k",
        "cache[:, :, t - 1 : t or None] = k",
    ): "You write one position too early: t positions come before k.",
    "cache[:, :, t + 1 : t + 2] = k": "You write one position too late. k belongs to index t.",
    "cache[:, :, -1:] = k": "You write to the last position of the cache, whatever t is.",
    "cache[:, :, :1] = k": "You write to the first position of the cache, whatever t is.",
    ("cache[:, t : t + 1] = k", "cache[:, t] = k[:, 0]"): (
        "You write to a head. Positions are dim 2 of (B, H, Tmax, D)."
    ),
    "cache[:, :, : t + 1] = k": (
        "You write k to all positions up to t. Earlier ones hold other tokens."
    ),
    "cache[:, :, t:] = k": "You write k to position t and to all later ones. Write to one position.",
    "cache[:, :, t : t + 1] += k": (
        "You add k to the old content. The place may hold anything: assign."
    ),
    "cache.flatten(0, 1)[:, t : t + 1] = k.flatten(0, 1)": (
        "On this input k is lost, perhaps in a reshape of the cache: if the dims do not merge, a "
        "reshape is a copy. Slices are always views."
    ),
    "cache.contiguous()[:, :, t : t + 1] = k": (
        "k is lost wherever the cache is not contiguous. There `contiguous()` returns a copy, and "
        "you write into that."
    ),
}
append.slots["return cache[:, :, : t + 1]"] = {
    "return cache[:, :, :t]": "You leave out the new token. The end of a slice is not part of it.",
    "return cache[:, :, : t + 2]": "You return one position too many. Position t is the last.",
    "return cache[:, :, t + 1 :]": "You return the positions after k. Return those up to k.",
    "return cache[:, :, -(t + 1) :]": (
        "You return the last t + 1 positions of the cache. k and the tokens before it are the first."
    ),
    "return cache": "You return all of the cache. Only its first t + 1 positions are filled.",
    ("return cache[:, :, t : t + 1]", "return cache[:, :, t]"): (
        "You return the new token alone. Attention needs all positions up to it."
    ),
    "return cache[:, :, : t + 1].contiguous()": COPIED,
    "return k": "You return k. Return a view of the cache, with all positions up to t.",
    "return cache[:, : t + 1]": "You cut the heads. Positions are dim 2 of (B, H, Tmax, D).",
}
append.wrong |= {
    "append(cache, k, t + 1)": (
        "You count positions from 1. Position t is index t, because t tokens come before it."
    ),
    (
        "return cache[:, :, : t + 1] => return cache[:, :, : t + 1].clone()",
        "return cache[:, :, : t + 1] => return cache[:, :, [*range(t + 1)]]",
    ): COPIED,
    (
        "cache[:, :, t : t + 1] = k => "
        "cache.copy_(torch.cat([cache[:, :, :t], k, cache[:, :, t + 1 :]], 2))",
        "cache[:, :, t : t + 1] = k => cache.copy_(cache.slice_scatter(k, 2, t, t + 1))",
        "cache[:, :, t : t + 1] = k => "
        "cache.copy_(torch.where(torch.arange(cache.size(2))[:, None] == t, k, cache))",
    ): ("The cache is right, but you filled new memory on the way. Write to one position alone."),
    ("torch.cat([cache[:, :, :t], k], 2)", "torch.cat([cache, k], 2)"): (
        "`cat` makes a new tensor and copies all old tokens into it, and the cache is without k. "
        "Write into the cache."
    ),
    (
        "append(cache.clone(), k, t)",
        "cache.slice_scatter(k, 2, t, t + 1)[:, :, : t + 1]",
        "torch.cat([cache[:, :, :t], k, cache[:, :, t + 1 :]], 2)[:, :, : t + 1]",
    ): (
        "The right positions in a new tensor, but the cache itself is as before. Write into the "
        "cache."
    ),
}


def read_blocks(answer: Any, args: Arguments) -> Outcome:
    """Read a view of the pool, or a tensor in new memory, where any strides will do."""
    outcome = view_of("pool")(answer, args)
    facts = dict(outcome.facts)
    is_empty = answer.numel() == 0
    if is_empty or not facts["sharing"]:
        facts |= {"stride": "free", "storage_offset": "free"}
    if is_empty:
        facts["sharing"] = "free"
    return replace(outcome, facts=facts)


@exercise(
    title="blocks of a pool, as a view where strides can",
    read=read_blocks,
    cases=[
        "pool = torch.arange(48).view(6, 4, 2); table = [1, 2, 3]",
        "pool = torch.arange(48).view(6, 4, 2); table = [4, 0]",
        "pool = torch.arange(48).view(6, 4, 2); table = [0, 2, 4]",
        "pool = torch.arange(48).view(6, 4, 2); table = [3]",
        "pool = torch.arange(48).view(6, 4, 2); table = [2, 2, 2]  # one block, shared",
        "pool = torch.arange(48).view(6, 4, 2); table = [1, 2, 4]",
        "pool = torch.arange(48).view(6, 4, 2); table = [3, 2, 1]",
        "pool = torch.arange(48).view(6, 4, 2); table = [0, 2, 1, 3]",
        "pool = torch.arange(48).view(6, 4, 2); table = [1, 4]",
        "pool = torch.arange(48).view(6, 4, 2); table = [0, 1, 0]",
        "pool = torch.arange(48).view(6, 4, 2); table = [1, 1, 2]",
        "pool = torch.arange(48).view(6, 4, 2); table = [0, 1, 3, 4]",
        "pool = torch.arange(48).view(6, 4, 2); table = [0, 1, 2, 4]",
        "pool = torch.arange(48).view(6, 4, 2); table = [0, 1, 1, 3]",
        "pool = torch.arange(48).view(6, 4, 2); table = [5, 5]",
        "pool = torch.arange(48).view(6, 4, 2)[1:]; table = [1, 3]",
        "pool = torch.arange(48).view(6, 4, 2)[1:]; table = [2]",
        "pool = torch.arange(48).view(6, 4, 2)[::2]; table = [0, 1, 2]",
        "pool = torch.arange(48).view(6, 4, 2)[1::2]; table = [2, 0, 1]",
        "pool = torch.arange(48).view(6, 4, 2)[:, 1:3]; table = [1, 3, 5]",
        "pool = torch.arange(48.0).view(4, 6, 2).transpose(0, 1); table = [1, 2, 3]",
        "pool = torch.arange(48.0).view(2, 4, 6).permute(2, 1, 0)[1:]; table = [0, 2, 4]",
        "pool = torch.arange(48.0).view(4, 6, 2).transpose(0, 1); table = [3, 0, 1]",
        "pool = torch.arange(96, dtype=torch.int16).view(6, 2, 2, 4)[:, 1]; "
        "table = [2, 3]  # v of k and v",
        "pool = torch.arange(6); table = [1, 3, 5]",
        "pool = torch.arange(8).view(1, 4, 2); table = [0, 0, 0]",
        "pool = torch.arange(6, dtype=torch.float16).view(6, 1, 1); table = [5, 3, 1]",
        "pool = torch.arange(48).view(6, 4, 2); table = []  # no token yet",
        "pool = torch.zeros(6, 4, 0); table = [3, 1]",
    ],
    hints=[
        "A view steps from block to block by one stride. For which tables is there such a step? "
        "Write down the differences of neighbours.",
        "All differences have to be equal, and none may be negative, because torch does not have "
        "negative strides. 0 is a stride, too. With one block, every step is right.",
        "If there is a step, call `pool.as_strided(size, stride, storage_offset)`. The blocks are "
        "`step * pool.stride(0)` apart, and the first begins at "
        "`pool.storage_offset() + table[0] * pool.stride(0)`. Else return `pool[table]`.",
    ],
    otherwise=(
        "Compare your answer with `pool[table]`: first the values, then whose memory it is. Which "
        "step leads from each block of the table to the next, and is it always the same?"
    ),
    takeaway="A table is a view if its steps are equal and none goes back.",
)
def blocks(pool: torch.Tensor, table: list[int]) -> torch.Tensor:
    """The blocks of a paged cache, in the order of a table: a view of the pool wherever strides can.

    pool    a tensor of shape (N, ...), N blocks of any shape, perhaps sliced or transposed. No
            two of its elements share memory
    table   a list of ints from 0 to N - 1, which blocks to take; they may repeat
    return  a tensor with the shape and values of `pool[table]`: on the pool's storage wherever
            a view of torch has these values, else on its own storage. If there is no element,
            both are right
    """
    steps = {table[k + 1] - table[k] for k in range(len(table) - 1)}
    step = min(steps, default=0)
    if len(steps) > 1 or step < 0 or not table:
        return pool[table]
    return pool.as_strided(
        (len(table), *pool.shape[1:]),
        (step * pool.stride(0), *pool.stride()[1:]),
        pool.storage_offset() + table[0] * pool.stride(0),
    )


NOT_EQUAL = (
    "Your view has one step, but the steps of this table differ. Compare all neighbours before you "
    "make a view."
)

blocks.slots["len(steps) > 1"] = {"False": NOT_EQUAL}
blocks.slots["table[0] * pool.stride(0)"] = {
    "0": ("Your view begins at block 0 of the pool. The first block of the table is table[0]."),
    "table[0]": "You begin table[0] elements into the pool. A block is `pool.stride(0)` elements.",
    "table[0] * pool[0].numel()": (
        "You multiply table[0] by the number of elements of a block. Only packed blocks are that "
        "far apart."
    ),
}
blocks.slots["step * pool.stride(0), "] = {
    "pool.stride(0), ": (
        "You always step to the next block of the pool. The table may skip blocks, or repeat one."
    ),
    "step, ": "Your step counts blocks. A stride counts elements.",
    "step * pool[0].numel(), ": (
        "You multiply the step by the number of elements of a block. Only packed blocks are that "
        "far apart."
    ),
}
blocks.slots["not table"] = {
    "len(table) < 2": (
        "You gather where the table has one block. A view of one block works with any stride."
    ),
}
blocks.slots["pool.storage_offset() + "] = {
    "": shared.ABSOLUTE.format("pool"),
}
blocks.slots["*pool.stride()[1:]"] = {
    "*row_major(pool.shape[1:])": (
        "Inside a block you take the strides of a new tensor. A sliced or transposed pool has "
        "other strides."
    ),
}
blocks.wrong |= {
    "len(steps) > 1 => (len(table) > 2 and table[2] - table[1] != table[1] - table[0])": (
        "You compare the first two steps alone. All steps have to be equal."
    ),
    "len(steps) > 1 => len(steps) > 1 or steps - {1}": (
        "You make a view of neighbouring blocks alone. A stride can skip blocks: any step from 0 on "
        "works if it is always the same."
    ),
    "len(steps) > 1 => len(steps) > 1 or 0 in steps": (
        "You gather where one block is repeated. The step is 0 there, and 0 is a stride, as after "
        "`expand`."
    ),
    (
        "step < 0 => False",
        "pool[table[0] : table[-1] + 1 : table[1] - table[0]] "
        "if len({b - a for a, b in zip(table, table[1:])}) == 1 else pool[table]",
    ): "A table that goes back cannot be a view, because torch does not have negative strides.",
    "    return pool.as_strided( => "
    "    return pool[table[0] :: step] if step else pool[table]\n"
    "    return pool.as_strided(": (
        "Your slice goes on to the end of the pool. The last block of the table is table[-1]."
    ),
    "    return pool.as_strided( => "
    "    return pool[table[0] : table[-1] : step] if step else pool[table]\n"
    "    return pool.as_strided(": (
        "The end of a slice is not part of it: yours leaves out the last block."
    ),
    ("pool[table]", "blocks(pool, table).clone()"): (
        "The right values, but always in new memory. An index that is a list gathers, whatever its "
        "numbers are. If the blocks are equally far apart, one stride leads through them."
    ),
    "pool[table[0] : table[-1] + 1 : table[1] - table[0]] if len(table) > 1 and "
    "table == [*range(table[0], table[-1] + 1, table[1] - table[0])] else pool[table]": (
        "You use a step of 0 in `range` or in a slice, which allow none. If one block is repeated, "
        "the step is 0."
    ),
    "blocks(pool, sorted(table))": (
        "Your blocks come in the order of the pool. The order of the table is that of the tokens."
    ),
    "blocks(pool, sorted(table) if table[::-1] == sorted(table) else table)": (
        "Where the table goes back, your blocks come in the order of the pool. Gather these blocks."
    ),
    ("pool[table[0] : table[0] + len(table)]", "pool[: len(table)]"): (
        "You take as many neighbours as the table has blocks. The table may skip blocks, repeat "
        "one, or go back. Look at each step."
    ),
    (
        "pool[table[0] : table[-1] + 1]",
        "pool[min(table) : max(table) + 1]",
        "pool[table[0] : table[-1] + 1] if table and table == sorted(table) else pool[table]",
    ): (
        "You take all blocks from the first to the last. The table may skip blocks, repeat one, or "
        "go back."
    ),
    "blocks(pool.contiguous(), table)": (
        "If the pool is sliced or transposed, your view lies in new memory, such as that of "
        "`pool.contiguous()`."
    ),
    "pool[table[0] : table[-1] : table[1] - table[0]]": (
        "Your slice ends before the last block, because the end of a slice is not part of it. And "
        "some tables have several steps, or a step of 0."
    ),
}
blocks.only |= {
    "not table": (
        "Right wherever there is a block. An empty table does not have a first block: gather."
    ),
    "len({*table}) == 1": (
        "Right wherever two blocks differ. If all are one block, the step is 0. A slice cannot have "
        "this step, but `expand` and `as_strided` can."
    ),
}
