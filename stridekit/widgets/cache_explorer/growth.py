"""A cache of keys, grown by a token a step: what lies in its memory, and what each step writes.

`cat` makes a new tensor of all tokens so far. In place, the token is written into a tensor of full length.
In blocks, it is written into the last block of its sequence, or into a new one of a pool; to be read, the
blocks are gathered. Then attention reads the keys, and `@` may clone them.

growth.js says the same, so that the picture follows the hand; tests/live.py compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from stridekit.layout import Layout

ROOM, LONG = 8, 512  # tokens of the picture, and of the curves
SIZES = {"tokens": (0, ROOM), "batch": (1, 2), "heads": (1, 3)}
DIM, ITEMSIZE = 64, 4  # a box is a vector of so many numbers
BLOCKS = (2, 4)  # tokens of a block
ORDERS = ("heads first", "tokens first")
ATTENTION = ("@", "SDPA")
WAYS = ("cat", "in place", "blocks")
LETTERS = "abc"

Vector = tuple[int, int, int]  # sequence, head, token


class Settings(NamedTuple):
    """What the hand can set: the tokens so far, the sizes, and how the keys lie and are read."""

    tokens: int
    batch: int
    heads: int
    block: int
    order: str
    attention: str


def settings(state: Mapping[str, Any]) -> Settings:
    """The settings in a widget's state."""
    return Settings(*(state[name] for name in Settings._fields))


# Layouts ----------------------------------------------------------------------------------------------


def _memory(s: Settings, *outer: int, tokens: int) -> Layout:
    """New memory for so many tokens, behind outer dims, in the order of the settings."""
    inner = (s.heads, tokens) if s.order == "heads first" else (tokens, s.heads)
    return Layout((*outer, *inner, DIM), itemsize=ITEMSIZE)


def _heads_first(s: Settings, x: Layout) -> Layout:
    return x if s.order == "heads first" else x.transpose(-3, -2)


def keys(s: Settings, way: str, tokens: int, room: int = LONG) -> tuple[Layout, int]:
    """The keys (batch, heads, tokens, dim) as attention gets them, and the bytes copied to read them.

    >>> keys(Settings(3, 2, 2, 2, "heads first", "@"), "in place", 3, room=8)
    (Layout(shape=(2, 2, 3, 64), stride=(1024, 512, 64, 1), storage_offset=0, itemsize=4), 0)
    """
    if way != "blocks":
        held = _memory(s, s.batch, tokens=tokens if way == "cat" else room)
        return _heads_first(s, held)[:, :, :tokens], 0
    count = -(-tokens // s.block)
    gathered = _memory(s, s.batch, count, tokens=s.block)
    copied = _bytes(gathered)
    by_heads = _heads_first(s, gathered).transpose(1, 2)  # (batch, heads, block, token, dim)
    if s.order == "heads first":
        merged = by_heads.reshape(s.batch, s.heads, count * s.block, DIM)
        copied += _bytes(merged) if merged.copied else 0
    else:
        merged = gathered.view(s.batch, count * s.block, s.heads, DIM).transpose(1, 2)
    return merged[:, :, :tokens], copied


def _bytes(x: Layout) -> int:
    return x.numel * x.itemsize


# What a step writes -------------------------------------------------------------------------------------


class Written(NamedTuple):
    """The bytes that one step writes: to keep the new token, to gather blocks, and to clone for `@`."""

    kept: int
    gathered: int
    cloned: int


def written(s: Settings, way: str, tokens: int) -> Written:
    """What the step to so many tokens writes.

    >>> s = Settings(3, 2, 2, 2, "tokens first", "@")
    >>> written(s, "cat", 3), written(s, "in place", 3)
    (Written(kept=3072, gathered=0, cloned=3072), Written(kept=1024, gathered=0, cloned=3072))
    """
    row = s.batch * s.heads * DIM * ITEMSIZE
    k, gathered = keys(s, way, tokens)
    cloned = _bytes(k) if s.attention == "@" and not _merges(k) else 0
    return Written(tokens * row if way == "cat" else row, gathered, cloned)


def _merges(k: Layout) -> bool:
    """True if `@` can make one batch dim of sequences and heads: then `matmul_copies` counts no clone."""
    sequences, heads, *matrix = k.shape
    return not k.why_not_view(sequences * heads, *matrix)


@cache
def _curves(s: Settings) -> dict[str, list[int]]:
    """For each way, the bytes that all steps up to each have written, up to LONG tokens."""
    found = {}
    for way in WAYS:
        total, found[way] = 0, [0]
        for tokens in range(1, LONG + 1):
            total += sum(written(s, way, tokens))
            found[way].append(total)
    return found


def curves(s: Settings) -> dict[str, list[int]]:
    """The same for any number of tokens on screen, which has no say in it."""
    return _curves(s._replace(tokens=0))


# What lies where ----------------------------------------------------------------------------------------


def tables(s: Settings) -> list[list[int]]:
    """The blocks of each sequence so far. New ones come from a pool in no order: first the odd ones.

    >>> tables(Settings(5, 2, 1, 2, "heads first", "@"))
    [[1, 5, 0], [3, 7, 2]]
    """
    count = s.batch * ROOM // s.block
    free = iter([*range(1, count, 2), *range(0, count, 2)])
    found: list[list[int]] = [[] for _ in range(s.batch)]
    for _ in range(0, s.tokens, s.block):
        for one in found:
            one.append(next(free))
    return found


def boxes(s: Settings, way: str) -> list[Vector | None]:
    """The vectors in a way's memory, one after the other; None where nothing was written yet."""
    if way != "blocks":
        length = s.tokens if way == "cat" else ROOM
        return [
            (b, *place) if place[1] < s.tokens else None
            for b in range(s.batch)
            for place in _places(s, length)
        ]
    owners = {n: (b, k) for b, row in enumerate(tables(s)) for k, n in enumerate(row)}
    found: list[Vector | None] = []
    for n in range(s.batch * ROOM // s.block):
        b, k = owners.get(n, (0, LONG))
        for head, t in _places(s, s.block):
            token = k * s.block + t
            found.append((b, head, token) if token < s.tokens else None)
    return found


def _places(s: Settings, tokens: int) -> Iterator[tuple[int, int]]:
    """Each head and token of one piece of memory, as they lie."""
    if s.order == "heads first":
        yield from ((h, t) for h in range(s.heads) for t in range(tokens))
    else:
        yield from ((h, t) for t in range(tokens) for h in range(s.heads))


def rows(s: Settings, way: str) -> list[list[Vector | None]]:
    """The same in the rows of the picture: a head's tokens, a token's heads, or a block."""
    found = boxes(s, way)
    of_head = s.tokens if way == "cat" else ROOM
    wide = (
        s.heads * s.block if way == "blocks" else of_head if s.order == "heads first" else s.heads
    )
    return [found[k : k + wide] for k in range(0, len(found), max(wide, 1))]


def label(vector: Vector | None) -> str:
    """The text in a box: a letter for the head, a digit for the token.

    >>> label((0, 1, 3)), label(None)
    ('b3', '')
    """
    return f"{LETTERS[vector[1]]}{vector[2]}" if vector else ""


# Words ------------------------------------------------------------------------------------------------


def now(s: Settings, way: str) -> list[str]:
    """What the last step has written, in words."""
    if not s.tokens:
        return ["nothing is written yet"]
    kept, gathered, cloned = written(s, way, s.tokens)
    old = f", {s.tokens - 1} of {s.tokens} tokens again" if way == "cat" and s.tokens > 1 else ""
    lines = [f"keep: {kept:,} bytes{old}"]
    if gathered:
        lines.append(f"pool[table]: {gathered:,} bytes")
    return [*lines, f"@ clones {cloned:,} bytes" if cloned else _free(s, gathered)]


def _free(s: Settings, gathered: int) -> str:
    return f"{s.attention} reads {'that' if gathered else 'them'} without a copy"


def whole(found: Mapping[str, list[int]]) -> str:
    """What the curves come to, in a sentence."""
    ends = ", ".join(f"{way} {found[way][-1]:,}" for way in WAYS)
    times = found["cat"][-1] / found["in place"][-1]
    return (
        f"{LONG} tokens write, in bytes: {ends}. cat writes {times:.4g} times as much as in place."
    )


def place(s: Settings, vector: Vector) -> str:
    """Where one vector lies in each memory, in boxes."""
    b, h, t = vector
    name = f"Sequence {b}, head {h}, token {t}"
    if t >= s.tokens:
        return f"{name}: not written yet."
    spots = [f"box {boxes(s, way).index(vector)} {_where(way)}" for way in WAYS]
    return f"{name}: {', '.join(spots)}."


def _where(way: str) -> str:
    return {"cat": "of cat's tape", "in place": "in place", "blocks": "of the pool"}[way]


def code(s: Settings) -> str:
    """The torch code that grows all three caches to what is shown.

    >>> print(code(Settings(3, 1, 2, 2, "heads first", "SDPA")).splitlines()[1])
    cat, ready = torch.empty(1, 2, 0, 64), torch.empty(1, 2, 8, 64)
    """
    first = s.order == "heads first"
    dim = 2 if first else 1

    def shape(*outer: int, tokens: int) -> str:
        return str((*outer, *((s.heads, tokens) if first else (tokens, s.heads)), DIM))

    count = s.batch * ROOM // s.block
    at = ":, :, t : t + 1" if first else ":, t : t + 1"
    slot = "table[:, -1], " + (":, " if first else "") + f"t % {s.block}"
    key = "k[:, :, 0]" if first else "k[:, 0]"
    merged = "transpose(1, 2).flatten(2, 3)" if first else "flatten(1, 2)"
    turn = "" if first else ".transpose(1, 2)"
    free = [*range(1, count, 2), *range(0, count, 2)]
    read = (
        "print((q @ keys.mT).shape)"
        if s.attention == "@"
        else "print(torch.nn.functional.scaled_dot_product_attention(q, keys, keys).shape)"
    )
    upto = f"[:, :, :{s.tokens}]"
    lines = [
        "import torch",
        f"cat, ready = torch.empty{shape(s.batch, tokens=0)}, torch.empty{shape(s.batch, tokens=ROOM)}",
        f"pool, free = torch.empty{shape(count, tokens=s.block)}, torch.tensor({free})",
        f"for t in range({s.tokens}):",
        f"    k = torch.rand{shape(s.batch, tokens=1)}",
        f"    cat = torch.cat([cat, k], {dim})",
        f"    ready[{at}] = k",
        f"    table = free[: {s.batch} * (t // {s.block} + 1)].view(-1, {s.batch}).t()",
        f"    pool[{slot}] = {key}",
    ]
    if s.tokens:
        lines += [
            f"q = torch.rand({s.batch}, {s.heads}, 1, {DIM})",
            f"blocks = pool[table].{merged}",
            f"for keys in (cat{turn}, ready{turn}{upto}, blocks{turn}{upto}):",
            f"    {read}",
        ]
    return "\n".join(lines)


# Facts ------------------------------------------------------------------------------------------------

FACTS = {
    **{"tokens": int, "batch": int, "heads": int, "block": int, "order": str, "attention": str},
    **{"cat_written": int, "in_place_written": int, "blocks_written": int},
    **{"cat_cloned": int, "in_place_cloned": int, "blocks_gathered": int},
}


def facts(state: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, the bytes that all steps so far have written, and those of the last one's copies."""
    s = settings(state)
    last = {way: written(s, way, s.tokens) if s.tokens else Written(0, 0, 0) for way in WAYS}
    totals = [sum(sum(written(s, way, t)) for t in range(1, s.tokens + 1)) for way in WAYS]
    return {
        **s._asdict(),
        **dict(zip(("cat_written", "in_place_written", "blocks_written"), totals, strict=True)),
        "cat_cloned": last["cat"].cloned,
        "in_place_cloned": last["in place"].cloned,
        "blocks_gathered": last["blocks"].gathered,
    }
