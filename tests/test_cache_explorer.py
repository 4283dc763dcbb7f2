"""CacheExplorer without a browser: each step against torch in all settings; its words, its state."""

import io
from contextlib import redirect_stdout
from itertools import groupby

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from stridekit import LayoutError, matmul_copies
from stridekit.widgets import CacheExplorer
from stridekit.widgets.cache_explorer import growth
from stridekit.widgets.cache_explorer.growth import DIM, Settings
from tests.agree import numbers
from tests.fuzz_attention import Seen
from tests.live_cache import SETTINGS


def choice_of(s):
    return s.order, s.attention


CHOICES = {
    choice: [*group] for choice, group in groupby(sorted(SETTINGS, key=choice_of), key=choice_of)
}
EMPTY = -1.0


class Caches:
    """The three caches of torch, grown as the code says; each number tells whose it is."""

    def __init__(self, s):
        self.s, self.first = s, s.order == "heads first"
        count = s.batch * growth.ROOM // s.block
        self.cat = self.memory(s.batch, tokens=0)
        self.ready = self.memory(s.batch, tokens=growth.ROOM)
        self.pool = self.memory(count, tokens=s.block)
        self.table = torch.empty(s.batch, 0, dtype=torch.long)

    def memory(self, outer, tokens):
        inner = (self.s.heads, tokens) if self.first else (tokens, self.s.heads)
        return torch.full((outer, *inner, DIM), EMPTY)

    def keep(self, t):
        """Add token t to all of them; the bytes that each writes."""
        s = self.s
        k = self.memory(s.batch, tokens=1)
        by_heads = k if self.first else k.transpose(1, 2)
        for b in range(s.batch):
            for h in range(s.heads):
                by_heads[b, h] = 100 * b + 10 * h + t
        with Seen() as seen:
            self.cat = torch.cat([self.cat, k], 2 if self.first else 1)
        assert seen.operations == ["cat"]
        at = (slice(None),) * (2 if self.first else 1)
        self.ready[*at, t : t + 1] = k
        self.table = torch.tensor(growth.tables(s._replace(tokens=t + 1)))
        for b, n in enumerate(self.table[:, -1].tolist()):
            slot = self.pool[n, :, t % s.block] if self.first else self.pool[n, t % s.block]
            slot.copy_(by_heads[b, :, 0])
        return {"cat": self.cat.nbytes, "in place": k.nbytes, "blocks": k.nbytes}

    def keys(self, tokens):
        """The keys of each way, and what gathering them fills."""
        turn = (lambda x: x) if self.first else (lambda x: x.transpose(1, 2))
        with Seen() as seen:
            gathered = self.pool[self.table]
            merged = (
                gathered.transpose(1, 2).flatten(2, 3) if self.first else gathered.flatten(1, 2)
            )
        copied = gathered.nbytes + sum(nbytes for _, nbytes in seen.clones)
        ways = {"cat": turn(self.cat), "in place": turn(self.ready), "blocks": turn(merged)}
        return {way: x[:, :, :tokens] for way, x in ways.items()}, copied


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_every_step_is_torchs(choice):
    """The bytes of every step, the clones of `@`, and the path of SDPA; `matmul_copies` says the same."""
    for s in {s._replace(tokens=growth.ROOM) for s in CHOICES[choice]}:
        grown = Caches(s)
        query = torch.ones(s.batch, s.heads, 1, DIM)
        for tokens in range(1, growth.ROOM + 1):
            kept = grown.keep(tokens - 1)
            keys, gathered = grown.keys(tokens)
            for way, k in keys.items():
                with Seen() as seen:
                    if s.attention == "@":
                        query @ k.mT
                    else:
                        scaled_dot_product_attention(query, k, k)
                cloned = sum(nbytes for _, nbytes in seen.clones)
                expected = (kept[way], gathered if way == "blocks" else 0, cloned)
                assert growth.written(s, way, tokens) == expected, (s, way, tokens)
                if s.attention == "@":
                    assert matmul_copies(query, k.mT) == (0, cloned, 0)
                else:
                    assert any("flash" in name for name in seen.operations)
                layout, _ = growth.keys(s, way, tokens, room=growth.ROOM)
                assert numbers(layout) == numbers(k), (s, way, tokens)


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_each_box_holds_its_vector(choice):
    """The memories of torch, read from end to end, are the boxes."""
    for s in CHOICES[choice]:
        grown = Caches(s)
        for t in range(s.tokens):
            grown.keep(t)
        for way, x in zip(growth.WAYS, (grown.cat, grown.ready, grown.pool), strict=True):
            held = x.reshape(-1, DIM)[:, 0].tolist()
            boxes = growth.boxes(s, way)
            told = [EMPTY if box is None else 100 * box[0] + 10 * box[1] + box[2] for box in boxes]
            assert held == told, (s, way)
            assert [box for row in growth.rows(s, way) for box in row] == boxes


def test_the_code_does_what_is_shown():
    """It runs by itself, in all settings, and its caches have the shapes that are shown."""
    for s in SETTINGS:
        names = {}
        with redirect_stdout(io.StringIO()) as said:
            exec(growth.code(s), names)
        assert names["cat"].numel() == len(growth.boxes(s, "cat")) * DIM
        assert names["pool"].numel() == len(growth.boxes(s, "blocks")) * DIM
        if s.tokens:
            assert names["table"].tolist() == growth.tables(s)
            cat, ready = names["cat"], names["ready"]
            assert ready[tuple(map(slice, cat.shape))].equal(cat)
            assert names["blocks"][tuple(map(slice, cat.shape))].equal(cat)
            last = s.tokens if s.attention == "@" else DIM
            assert said.getvalue() == f"torch.Size({[s.batch, s.heads, 1, last]})\n" * 3


def test_curves_are_sums_and_tell_the_ratio():
    """512 tokens by cat write 256.5 times what they write in place, if all is read without a copy."""
    s = Settings(3, 1, 3, 2, "heads first", "@")
    totals = growth.curves(s)
    for way, curve in totals.items():
        steps = [sum(growth.written(s, way, t)) for t in range(1, growth.LONG + 1)]
        assert curve == [0, *(sum(steps[:k]) for k in range(1, len(steps) + 1))]
    assert totals["cat"][-1] / totals["in place"][-1] == 256.5
    assert growth.whole(totals).endswith("cat writes 256.5 times as much as in place.")


def test_state_is_read_and_set_from_python():
    w = CacheExplorer()
    assert (w.tokens, w.batch, w.heads, w.block, w.order, w.attention) == (
        *(3, 2, 2, 2),
        *("heads first", "@"),
    )
    w.tokens, w.order = 0, "tokens first"
    assert "cat: nothing is written yet; 0 bytes so far" in repr(w)
    w.tokens, w.batch, w.heads, w.block, w.attention = 8, 1, 3, 4, "SDPA"
    assert w.facts["cat_written"] == 36 * 3 * 256 and w.facts["in_place_cloned"] == 0
    assert w.code == growth.code(growth.settings(w._state))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: CacheExplorer(9), "tokens is 9: the picture holds 0 to 8"),
        (lambda: CacheExplorer(block=8), "block is 8: the picture has blocks of 2 or 4 tokens"),
        (lambda: CacheExplorer(order="C"), "order is 'C': give one of 'heads first', 'tokens first'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(make, said):
    with pytest.raises(LayoutError) as refusal:
        make()
    assert said in str(refusal.value)
