"""CacheExplorer without a browser: each step against torch in all settings; its words, its state."""

import io
from contextlib import redirect_stdout
from itertools import product

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from stridekit.lessons.attention import matmul_copies
from stridekit.widgets.engine import Script
from tests.core.fuzz_attention import OperationLog

growth = Script("cache_explorer/growth.js")
ROOM, LONG, DIM, WAYS = growth.ROOM, growth.LONG, growth.DIM, growth.WAYS
NAMES, VALUES = growth.CHOICES.keys(), growth.CHOICES.values()
# All that can be chosen, after any number of tokens.
SETTINGS = [dict(zip(NAMES, values, strict=True)) for values in product(*VALUES)]
EMPTY = -1.0
WHERE = {"cat": "of cat's tape", "in place": "in place", "blocks": "of the pool"}


class Caches:
    """The three caches of torch, grown as the code says; each number tells whose it is."""

    def __init__(self, s):
        self.s, self.first = s, s["order"] == "heads first"
        count = s["batch"] * ROOM // s["block"]
        self.cat = self.memory(s["batch"], tokens=0)
        self.ready = self.memory(s["batch"], tokens=ROOM)
        self.pool = self.memory(count, tokens=s["block"])
        self.table = torch.empty(s["batch"], 0, dtype=torch.long)

    def memory(self, outer, tokens):
        inner = (self.s["heads"], tokens) if self.first else (tokens, self.s["heads"])
        return torch.full((outer, *inner, DIM), EMPTY)

    def keep(self, t):
        """Add token t to all of them; the bytes that each writes."""
        s = self.s
        k = self.memory(s["batch"], tokens=1)
        by_heads = k if self.first else k.transpose(1, 2)
        for b in range(s["batch"]):
            for h in range(s["heads"]):
                by_heads[b, h] = 100 * b + 10 * h + t
        with OperationLog() as seen:
            self.cat = torch.cat([self.cat, k], 2 if self.first else 1)
        assert seen.operations == ["cat"]
        at = (slice(None),) * (2 if self.first else 1)
        self.ready[*at, t : t + 1] = k
        self.table = torch.tensor(growth.tables(s | {"tokens": t + 1}))
        for b, n in enumerate(self.table[:, -1].tolist()):
            slot = self.pool[n, :, t % s["block"]] if self.first else self.pool[n, t % s["block"]]
            slot.copy_(by_heads[b, :, 0])
        return {"cat": self.cat.nbytes, "in place": k.nbytes, "blocks": k.nbytes}

    def keys(self, tokens):
        """The keys of each way, and what gathering them fills."""
        turn = (lambda x: x) if self.first else (lambda x: x.transpose(1, 2))
        with OperationLog() as seen:
            gathered = self.pool[self.table]
            merged = (
                gathered.transpose(1, 2).flatten(2, 3) if self.first else gathered.flatten(1, 2)
            )
        copied = gathered.nbytes + sum(nbytes for _, nbytes in seen.clones)
        ways = {"cat": turn(self.cat), "in place": turn(self.ready), "blocks": turn(merged)}
        return {way: x[:, :, :tokens] for way, x in ways.items()}, copied


@pytest.mark.parametrize("attention", growth.CHOICES["attention"])
@pytest.mark.parametrize("order", growth.CHOICES["order"])
def test_every_token_is_kept_and_read_as_by_torch(order, attention):
    """Bytes, the clones of `@` and of `matmul_copies`, the path of SDPA, and each box of the memories."""
    for s in SETTINGS:
        if (s["order"], s["attention"], s["tokens"]) != (order, attention, ROOM):
            continue
        grown = Caches(s)
        query = torch.ones(s["batch"], s["heads"], 1, DIM)
        for tokens in range(1, ROOM + 1):
            kept = grown.keep(tokens - 1)
            keys, gathered = grown.keys(tokens)
            for way, k in keys.items():
                with OperationLog() as seen:
                    if attention == "@":
                        query @ k.mT
                    else:
                        scaled_dot_product_attention(query, k, k)
                cloned = sum(nbytes for _, nbytes in seen.clones)
                expected = (kept[way], gathered if way == "blocks" else 0, cloned)
                assert (*growth.written(s, way, tokens).values(),) == expected, (s, way, tokens)
                if attention == "@":
                    assert matmul_copies(query, k.mT) == (0, cloned, 0)
                else:
                    assert any("flash" in name for name in seen.operations)
                layout = growth.keys(s, way, tokens, ROOM)
                assert (layout["shape"], layout["stride"]) == ([*k.shape], [*k.stride()])
            assert_boxes(s | {"tokens": tokens}, grown)


def assert_boxes(s, grown):
    """The memories of torch, read from end to end, are the boxes."""
    for way, x in zip(WAYS, (grown.cat, grown.ready, grown.pool), strict=True):
        boxes = growth.boxes(s, way)
        told = [EMPTY if box is None else 100 * box[0] + 10 * box[1] + box[2] for box in boxes]
        assert x.reshape(-1, DIM)[:, 0].tolist() == told, (s, way)
        for k, box in enumerate(boxes):
            assert growth.label(box) == ("abc"[box[1]] + str(box[2]) if box else "")
            if box and box[2] == s["tokens"] - 1:
                assert f"box {k} {WHERE[way]}" in growth.place(s, box)


def test_blocks_come_in_no_order():
    """The odd ones of a pool, then the even ones, for one sequence after the other."""
    s = dict(zip(NAMES, (5, 2, 1, 2, "heads first", "@"), strict=True))
    assert growth.tables(s) == [[1, 5, 0], [3, 7, 2]]


def test_the_code_does_what_is_shown():
    """It runs by itself, with few tokens and many, and its caches have the shapes that are shown."""
    for s in SETTINGS:
        if s["tokens"] not in (0, 3, ROOM):
            continue
        names = {}
        with redirect_stdout(io.StringIO()) as said:
            exec(growth.code(s), names)
        assert names["cat"].numel() == len(growth.boxes(s, "cat")) * DIM
        assert names["pool"].numel() == len(growth.boxes(s, "blocks")) * DIM
        if s["tokens"]:
            assert names["table"].tolist() == growth.tables(s)
            cat, ready = names["cat"], names["ready"]
            assert ready[tuple(map(slice, cat.shape))].equal(cat)
            assert names["blocks"][tuple(map(slice, cat.shape))].equal(cat)
            last = s["tokens"] if s["attention"] == "@" else DIM
            assert said.getvalue() == f"torch.Size({[s['batch'], s['heads'], 1, last]})\n" * 3


def test_curves_are_sums_and_tell_the_ratio():
    """512 tokens by cat write 256.5 times what they write in place, if all is read without a copy."""
    s = dict(zip(NAMES, (3, 1, 3, 2, "heads first", "@"), strict=True))
    totals = growth.curves(s)
    for way, curve in totals.items():
        steps = [sum(growth.written(s, way, t).values()) for t in range(1, LONG + 1)]
        assert curve == [0, *(sum(steps[:k]) for k in range(1, len(steps) + 1))]
    assert totals["cat"][-1] / totals["in place"][-1] == 256.5
    assert growth.whole(totals).endswith("cat writes 256.5 times as much as in place.")
