"""CacheExplorer without a browser: each step against torch in all settings; its words, its state."""

import io
from contextlib import redirect_stdout
from itertools import accumulate, product

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from stridekit.lessons.attention import matmul_copies
from stridekit.widgets.engine import Script
from tests.core.fuzz_attention import OperationLog

growth = Script("cache_explorer/growth.js")
ROOM = growth.ROOM
LONG = growth.LONG
DIM = growth.DIM
CACHES = growth.WAYS  # the names of the three caches
NAMES = growth.CHOICES.keys()
# All states, after any number of tokens.
STATES = [dict(zip(NAMES, choices, strict=True)) for choices in product(*growth.CHOICES.values())]
EMPTY = -1.0
PLACES = {
    "cat": "of cat's tape",
    "in place": "in place",
    "blocks": "of the pool",
}


class Caches:
    """The three caches of torch, grown as the code does; each number tells its sequence, head and token."""

    def __init__(self, state):
        self.state = state
        self.is_heads_first = state["order"] == "heads first"
        blocks = state["batch"] * ROOM // state["block"]
        self.cat = self.memory(state["batch"], tokens=0)
        self.ready = self.memory(state["batch"], tokens=ROOM)
        self.pool = self.memory(blocks, tokens=state["block"])
        self.table = torch.empty(state["batch"], 0, dtype=torch.long)

    def memory(self, outer, tokens):
        heads = self.state["heads"]
        inner = (heads, tokens) if self.is_heads_first else (tokens, heads)
        return torch.full((outer, *inner, DIM), EMPTY)

    def keep(self, t):
        """Add token t to all caches, and return the bytes that each writes."""
        k = self.memory(self.state["batch"], tokens=1)
        by_heads = k if self.is_heads_first else k.transpose(1, 2)
        heads = product(range(self.state["batch"]), range(self.state["heads"]))
        for b, h in heads:
            by_heads[b, h] = 100 * b + 10 * h + t
        token_dim = 2 if self.is_heads_first else 1
        with OperationLog() as log:
            self.cat = torch.cat([self.cat, k], token_dim)
        assert log.operations == ["cat"]
        self.ready.narrow(token_dim, t, 1).copy_(k)
        self.keep_in_block(t, by_heads[:, :, 0])
        return {
            "cat": self.cat.nbytes,
            "in place": k.nbytes,
            "blocks": k.nbytes,
        }

    def keep_in_block(self, t, by_heads):
        tables = growth.tables(self.state | {"tokens": t + 1})
        self.table = torch.tensor(tables)
        row = t % self.state["block"]
        for b, table in enumerate(tables):
            block = self.pool[table[-1]]
            piece = block[:, row] if self.is_heads_first else block[row]
            piece.copy_(by_heads[b])

    def keys(self, tokens):
        """The keys in each cache, and the bytes that gathering the blocks fills."""
        with OperationLog() as log:
            gathered = self.pool[self.table]
            if self.is_heads_first:
                merged = gathered.transpose(1, 2).flatten(2, 3)
            else:
                merged = gathered.flatten(1, 2)
        copied = gathered.nbytes + sum(nbytes for _, nbytes in log.clones)
        keys = {}
        for cache, x in (("cat", self.cat), ("in place", self.ready), ("blocks", merged)):
            by_heads = x if self.is_heads_first else x.transpose(1, 2)
            keys[cache] = by_heads[:, :, :tokens]
        return keys, copied


@pytest.mark.parametrize("attention", growth.CHOICES["attention"])
@pytest.mark.parametrize("order", growth.CHOICES["order"])
def test_every_token_is_kept_and_read_as_by_torch(order, attention):
    """Bytes, the clones of `@` and of `matmul_copies`, the path of SDPA, and each box of the memories."""
    chosen = {"order": order, "attention": attention, "tokens": ROOM}
    states = [state for state in STATES if state == state | chosen]
    for state in states:
        caches = Caches(state)
        for tokens in range(1, ROOM + 1):
            assert_token(state, caches, tokens)
            assert_boxes(state | {"tokens": tokens}, caches)


def assert_token(state, caches, tokens):
    """Keep one more token in torch's caches, and compare what that and reading all keys cost."""
    kept = caches.keep(tokens - 1)
    keys, gathered = caches.keys(tokens)
    for cache, k in keys.items():
        expected = [
            kept[cache],
            gathered if cache == "blocks" else 0,
            cloned_by_attention(state, k),
        ]
        written = growth.written(state, cache, tokens)
        assert list(written.values()) == expected, (state, cache, tokens)
        layout = growth.keys(state, cache, tokens, ROOM)
        assert layout["shape"] == [*k.shape]
        assert layout["stride"] == [*k.stride()]


def cloned_by_attention(state, k):
    """The bytes that attention over the keys clones, as torch and `matmul_copies` count them."""
    query = torch.ones(state["batch"], state["heads"], 1, DIM)
    with OperationLog() as log:
        if state["attention"] == "@":
            query @ k.mT
        else:
            scaled_dot_product_attention(query, k, k)
    cloned = sum(nbytes for _, nbytes in log.clones)
    if state["attention"] == "@":
        assert matmul_copies(query, k.mT) == (0, cloned, 0)
    else:
        assert any("flash" in name for name in log.operations)
    return cloned


def assert_boxes(state, caches):
    """The memories of torch, read from end to end, are the boxes."""
    memories = (caches.cat, caches.ready, caches.pool)
    for cache, memory in zip(CACHES, memories, strict=True):
        boxes = growth.boxes(state, cache)
        numbers = memory.reshape(-1, DIM)[:, 0].tolist()
        for k, (box, number) in enumerate(zip(boxes, numbers, strict=True)):
            if box is None:
                assert number == EMPTY, (state, cache)
                assert growth.label(box) == ""
                continue
            b, h, t = box
            assert number == 100 * b + 10 * h + t, (state, cache)
            assert growth.label(box) == f"{'abc'[h]}{t}"
            if t == state["tokens"] - 1:
                assert f"box {k} {PLACES[cache]}" in growth.place(state, box)


def test_blocks_come_in_no_order():
    """The odd blocks of a pool come first, then the even ones, for one sequence after the other."""
    state = {
        "tokens": 5,
        "batch": 2,
        "heads": 1,
        "block": 2,
        "order": "heads first",
        "attention": "@",
    }
    assert growth.tables(state) == [[1, 5, 0], [3, 7, 2]]


@pytest.mark.parametrize("tokens", [0, 3, ROOM])
def test_the_code_does_what_is_shown(tokens):
    """It runs by itself, with few tokens and many, and its caches have the shapes that are shown."""
    for state in STATES:
        if state["tokens"] != tokens:
            continue
        names = {}
        with redirect_stdout(io.StringIO()) as printed:
            exec(growth.code(state), names)
        cat = names["cat"]
        assert cat.numel() == len(growth.boxes(state, "cat")) * DIM
        assert names["pool"].numel() == len(growth.boxes(state, "blocks")) * DIM
        if tokens:
            assert names["table"].tolist() == growth.tables(state)
            filled = tuple(map(slice, cat.shape))
            assert names["ready"][filled].equal(cat)
            assert names["blocks"][filled].equal(cat)
            last = tokens if state["attention"] == "@" else DIM
            shape = [state["batch"], state["heads"], 1, last]
            assert printed.getvalue() == f"torch.Size({shape})\n" * 3


def test_curves_are_sums_and_tell_the_ratio():
    """512 tokens by cat write 256.5 times the bytes in place, if all keys are read without a copy."""
    state = {
        "tokens": 3,
        "batch": 1,
        "heads": 3,
        "block": 2,
        "order": "heads first",
        "attention": "@",
    }
    totals = growth.curves(state)
    for cache, curve in totals.items():
        written = [growth.written(state, cache, t) for t in range(1, LONG + 1)]
        steps = [sum(nbytes.values()) for nbytes in written]
        assert curve == [0, *accumulate(steps)]
    assert totals["cat"][-1] / totals["in place"][-1] == 256.5
    assert growth.whole(totals).endswith("cat writes 256.5 times as much as in place.")
