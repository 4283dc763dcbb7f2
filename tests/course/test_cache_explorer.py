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
ROOM, LONG, DIM, WAYS = growth.ROOM, growth.LONG, growth.DIM, growth.WAYS
NAMES, VALUES = growth.CHOICES.keys(), growth.CHOICES.values()
# All states, after any number of tokens.
STATES = [dict(zip(NAMES, values, strict=True)) for values in product(*VALUES)]
EMPTY = -1.0
WHERE = {"cat": "of cat's tape", "in place": "in place", "blocks": "of the pool"}


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
        for b in range(self.state["batch"]):
            for h in range(self.state["heads"]):
                by_heads[b, h] = 100 * b + 10 * h + t
        token_dim = 2 if self.is_heads_first else 1
        with OperationLog() as log:
            self.cat = torch.cat([self.cat, k], token_dim)
        assert log.operations == ["cat"]
        self.ready.narrow(token_dim, t, 1).copy_(k)
        self.keep_in_block(t, by_heads[:, :, 0])
        return {"cat": self.cat.nbytes, "in place": k.nbytes, "blocks": k.nbytes}

    def keep_in_block(self, t, by_heads):
        self.table = torch.tensor(growth.tables(self.state | {"tokens": t + 1}))
        row = t % self.state["block"]
        for b, block in enumerate(self.table[:, -1].tolist()):
            piece = self.pool[block, :, row] if self.is_heads_first else self.pool[block, row]
            piece.copy_(by_heads[b])

    def keys(self, tokens):
        """The keys of each way, and the bytes that gathering them fills."""
        with OperationLog() as log:
            gathered = self.pool[self.table]
            if self.is_heads_first:
                merged = gathered.transpose(1, 2).flatten(2, 3)
            else:
                merged = gathered.flatten(1, 2)
        copied = gathered.nbytes + sum(nbytes for _, nbytes in log.clones)
        keys = {"cat": self.cat, "in place": self.ready, "blocks": merged}
        if not self.is_heads_first:
            keys = {way: x.transpose(1, 2) for way, x in keys.items()}
        return {way: x[:, :, :tokens] for way, x in keys.items()}, copied


@pytest.mark.parametrize("attention", growth.CHOICES["attention"])
@pytest.mark.parametrize("order", growth.CHOICES["order"])
def test_every_token_is_kept_and_read_as_by_torch(order, attention):
    """Bytes, the clones of `@` and of `matmul_copies`, the path of SDPA, and each box of the memories."""
    for state in STATES:
        if (state["order"], state["attention"], state["tokens"]) != (order, attention, ROOM):
            continue
        caches = Caches(state)
        for tokens in range(1, ROOM + 1):
            kept = caches.keep(tokens - 1)
            keys, gathered = caches.keys(tokens)
            for way, k in keys.items():
                cloned = cloned_by_attention(state, k)
                expected = (kept[way], gathered if way == "blocks" else 0, cloned)
                written = growth.written(state, way, tokens)
                assert tuple(written.values()) == expected, (state, way, tokens)
                layout = growth.keys(state, way, tokens, ROOM)
                assert (layout["shape"], layout["stride"]) == ([*k.shape], [*k.stride()])
            assert_boxes(state | {"tokens": tokens}, caches)


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
    for way, x in zip(WAYS, (caches.cat, caches.ready, caches.pool), strict=True):
        boxes = growth.boxes(state, way)
        numbers = [EMPTY if box is None else 100 * box[0] + 10 * box[1] + box[2] for box in boxes]
        assert x.reshape(-1, DIM)[:, 0].tolist() == numbers, (state, way)
        for k, box in enumerate(boxes):
            assert growth.label(box) == ("abc"[box[1]] + str(box[2]) if box else "")
            if box and box[2] == state["tokens"] - 1:
                assert f"box {k} {WHERE[way]}" in growth.place(state, box)


def test_blocks_come_in_no_order():
    """The odd blocks of a pool come first, then the even ones, for one sequence after the other."""
    state = dict(zip(NAMES, (5, 2, 1, 2, "heads first", "@"), strict=True))
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
        assert names["cat"].numel() == len(growth.boxes(state, "cat")) * DIM
        assert names["pool"].numel() == len(growth.boxes(state, "blocks")) * DIM
        if tokens:
            assert names["table"].tolist() == growth.tables(state)
            cat = names["cat"]
            filled = tuple(map(slice, cat.shape))
            assert names["ready"][filled].equal(cat)
            assert names["blocks"][filled].equal(cat)
            last = tokens if state["attention"] == "@" else DIM
            shape = [state["batch"], state["heads"], 1, last]
            assert printed.getvalue() == f"torch.Size({shape})\n" * 3


def test_curves_are_sums_and_tell_the_ratio():
    """512 tokens by cat write 256.5 times the bytes in place, if all keys are read without a copy."""
    state = dict(zip(NAMES, (3, 1, 3, 2, "heads first", "@"), strict=True))
    totals = growth.curves(state)
    for way, curve in totals.items():
        steps = [sum(growth.written(state, way, t).values()) for t in range(1, LONG + 1)]
        assert curve == [0, *accumulate(steps)]
    assert totals["cat"][-1] / totals["in place"][-1] == 256.5
    assert growth.whole(totals).endswith("cat writes 256.5 times as much as in place.")
