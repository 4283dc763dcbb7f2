"""The exercises of notebook 06: the references are torch's answers, and right answers of any form pass."""

import random
from itertools import pairwise

import numpy as np
import pytest
import torch

from stridekit import Layout
from stridekit.exercises import attention as ex
from stridekit.exercises.attention.heads import needed
from stridekit.exercises.mistakes import Formula
from stridekit.exercises.readers.copies import CopyLog
from stridekit.lessons.attention import matmul_copies, packed_heads
from tests.test_exercises import head
from tests.test_hostile_answers import HARM

PACKINGS = ["3HD", "H3D", "HD3"]


def copies(call, *given):
    """What a call answers, and the bytes of each clone on the way."""
    with CopyLog(*given) as log:
        answer = call(*given)
    return answer, [nbytes for name, nbytes in log.copies if name == "clone"]


def drawn(rng, shape):
    """A tensor of a shape: its dims in any order in memory, some of them sliced."""
    order = rng.sample(range(len(shape)), len(shape))
    wide = [n * rng.choice((1, 1, 1, 2)) for n in shape]
    x = torch.arange(float(np.prod(wide))).view([wide[d] for d in order])
    x = x.permute([order.index(d) for d in range(len(shape))])
    for d, n in enumerate(shape):
        every_other = wide[d] == 2 * n and rng.random() < 0.5
        x = x[(slice(None),) * d + (slice(None, None, 2) if every_other else slice(-n, None),)]
    return x


# The reference solutions, against torch ---------------------------------------------------------


def test_head_layout_is_that_of_the_view():
    rng = random.Random(1)
    for _ in range(500):
        sizes = [rng.randint(1, 4) for _ in range(4)]
        which, packing = rng.choice("qkv"), rng.choice(PACKINGS)
        shape, stride, offset = ex.head_layout.reference(*sizes, which, packing)
        theirs = head(*sizes, which, packing)
        assert (shape, offset) == (theirs[0], theirs[2])
        assert all(n == 1 or a == b for n, a, b in zip(shape, stride, theirs[1], strict=True))
        assert packed_heads(*sizes, packing)["qkv".index(which)].storage_offset == offset


def test_matmul_clones_are_those_that_the_log_shows():
    rng, cloned = random.Random(2), 0
    for _ in range(2000):
        batch = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
        own = [[n if rng.random() < 0.8 else 1 for n in batch][rng.choice((0, -1)) :] for _ in "ab"]
        a, b = (
            drawn(rng, (*own[0], rng.randint(1, 3), 2)),
            drawn(rng, (*own[1], 2, rng.randint(1, 3))),
        )
        if rng.random() < 0.2:
            b = b.expand(*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])
        clones = ex.matmul_clones.reference(a, b)
        assert [n for n in clones if n] == copies(torch.matmul, a, b)[1]
        assert clones == matmul_copies(a, b)[:2]
        cloned += any(clones)
    assert 400 < cloned < 1600


def test_heads_merge_without_a_copy_where_torch_has_a_view():
    rng, free = random.Random(3), 0
    for _ in range(1000):
        y = drawn(rng, [rng.randint(1, 4) for _ in range(4)])
        merged, clones = copies(ex.merge_heads.reference, y)
        assert torch.equal(merged, torch.cat(y.unbind(1), -1))
        assert sum(clones) == needed({"y": y})
        free += not clones
    assert 200 < free < 800


def test_blocks_are_a_view_wherever_a_stride_leads_through_them():
    """Every stride is tried."""
    rng, views = random.Random(4), 0
    for _ in range(1000):
        pool = drawn(rng, (rng.randint(1, 5), 2, 2))
        table = [rng.randrange(len(pool)) for _ in range(rng.randint(1, 4))]
        found, right = ex.blocks.reference(pool, table), pool[table]
        start = pool[table[0]].storage_offset()
        most = (pool.untyped_storage().nbytes() // 4 - start) // max(len(table) - 1, 1)
        able = any(torch.equal(stepping(pool, len(table), s, start), right) for s in range(most))
        shared = found.untyped_storage().data_ptr() == pool.untyped_storage().data_ptr()
        assert torch.equal(found, right) and shared == able, (pool.shape, pool.stride(), table)
        views += able
    assert 300 < views < 900


def stepping(pool, count, stride, start):
    """A view of blocks that are a stride apart; nothing where it would leave the storage."""
    try:
        return pool.as_strided((count, *pool.shape[1:]), (stride, *pool.stride()[1:]), start)
    except RuntimeError:
        return torch.empty(0)


def test_scores_are_those_of_repeated_heads_and_k_stays_where_it_is():
    rng = random.Random(5)
    for _ in range(500):
        batch, groups, each, tokens, keys, dim = (rng.randint(1, 3) for _ in range(6))
        q = drawn(rng, (batch, groups * each, tokens, dim))
        k = torch.arange(float(batch * groups * keys * dim)).view(batch, groups, keys, dim)
        scores, clones = copies(ex.group_scores.reference, q, k)
        assert torch.equal(scores, q @ k.repeat_interleave(each, 1).mT)
        assert clones in ([], [q.nbytes])


# Right answers in other forms -------------------------------------------------------------------


def head_by_steps(B, T, H, D, which, packing):
    sizes, steps, step = {"3": 3, "H": H, "D": D}, {}, 1
    for letter in reversed(packing):
        steps[letter], step = step, step * sizes[letter]
    return [B, H, T, D], [T * step, steps["H"], step, steps["D"]], "qkv".index(which) * steps["3"]


def head_without_steps_of_one(B, T, H, D, which, packing):
    shape, stride, offset = ex.head_layout.reference(B, T, H, D, which, packing)
    return shape, [s * (n > 1) for n, s in zip(shape, stride, strict=True)], offset


def clones_by_view(a, b):
    batch, found = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), []
    for x in (a, b):
        x = x.expand(*batch, *x.shape[-2:])
        try:
            x.view(batch.numel(), *x.shape[-2:])
            found.append(0)
        except RuntimeError:
            found.append(x.numel() * x.element_size())
    return found


def clones_by_rows(a, b):
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    both = [x.expand(*batch, *x.shape[-2:]) for x in map(Layout.of, (a, b))]
    folded = [(batch.numel(), *x.shape[-2:]) for x in both]
    pairs = zip(both, folded, strict=True)
    return tuple(x.numel * x.itemsize if x.why_not_view(rows) else 0 for x, rows in pairs)


def blocks_by_slices(pool, table):
    steps = {b - a for a, b in pairwise(table)}
    if len(table) < 1 or len(steps) > 1 or min(steps, default=0) < 0:
        return torch.stack([pool[k] for k in table]) if table else pool[:0]
    step = min(steps, default=0)
    if step == 0:
        return pool[table[0]].expand(len(table), *pool.shape[1:])
    return pool.narrow(0, table[0], table[-1] - table[0] + 1)[::step]


def scores_head_by_head(q, k):
    each = q.size(1) // k.size(1)
    return torch.stack([q[:, h] @ k[:, h // each].mT for h in range(q.size(1))], 1)


def scores_one_by_one(q, k):
    out, each = q.new_empty(*q.shape[:3], k.size(2)), q.size(1) // k.size(1)
    for b, h in np.ndindex(*q.shape[:2]):
        torch.matmul(q[b, h], k[b, h // each].mT, out=out[b, h])
    return out


def written(statement, returned="cache[:, :, : t + 1]"):
    """An append in two lines."""
    return {"cache[:, :, t : t + 1] = k": statement, "cache[:, :, : t + 1]": returned}


RIGHT = [  # a function; or a line; or pieces of the solution and others in their place
    (ex.head_layout, head_by_steps),
    (ex.head_layout, head_without_steps_of_one),
    (ex.matmul_clones, clones_by_view),
    (ex.matmul_clones, clones_by_rows),
    (ex.merge_heads, "y.transpose(1, 2).reshape(y.size(0), y.size(2), -1)"),
    (ex.merge_heads, "y.movedim(2, 1).flatten(-2)"),
    (ex.merge_heads, "y.permute(0, 2, 1, 3).reshape(merged(y))"),
    (ex.merge_heads, "torch.flatten(y.swapaxes(-2, -3), 2, 3)"),
    (ex.merge_heads, "torch.einsum('bhtd->bthd', y).flatten(2)"),
    (ex.append, written("cache[:, :, t] = k[:, :, 0]")),
    (ex.append, written("cache[..., [t], :] = k", "cache[..., : t + 1, :]")),
    (ex.append, written("cache.narrow(2, t, 1).copy_(k)", "cache.narrow(2, 0, t + 1)")),
    (ex.append, written("cache.select(2, t).copy_(k.squeeze(2))")),
    (ex.append, written("cache.index_copy_(2, torch.tensor([t]), k)")),
    (ex.append, written("cache.index_copy_(2, torch.arange(t, t + 1), k)")),
    (ex.append, written("cache.scatter_(2, torch.tensor(t).expand(k.shape), k)")),
    (ex.append, written("cache.transpose(1, 2)[:, t] = k[:, :, 0]")),
    (ex.append, written("cache.unbind(2)[t].copy_(k[:, :, 0])")),
    (ex.append, written("cache.numpy()[:, :, t] = k.numpy()[:, :, 0]")),
    (
        ex.append,
        written("cache[torch.arange(k.size(0))[:, None], torch.arange(k.size(1)), t] = k[:, :, 0]"),
    ),
    (
        ex.append,
        written(
            "cache[:, :, t : t + 1].zero_().add_(k)",
            "cache.as_strided((*k.shape[:2], t + 1, k.size(3)), cache.stride(), cache.storage_offset())",
        ),
    ),
    (ex.blocks, blocks_by_slices),
    (ex.blocks, {"pool[table]": "pool[[0, *table]][1:]"}),
    (ex.blocks, {"pool[table]": "pool.index_select(0, torch.tensor(table, dtype=torch.long))"}),
    (ex.group_scores, scores_head_by_head),
    (ex.group_scores, scores_one_by_one),
    (ex.group_scores, {".view(B, H, T, S)": ".unflatten(2, (H // G, T)).flatten(1, 2)"}),
    (
        ex.group_scores,
        {"rows @ k.mT": "k @ rows.mT", ".view(B, H, T, S)": ".mT.reshape(B, H, T, S)"},
    ),
    (ex.group_scores, {"rows @ k.mT": "torch.einsum('bgrd,bgsd->bgrs', rows, k)"}),
    (ex.group_scores, {"rows @ k.mT": "torch.vmap(torch.vmap(lambda a, b: a @ b.mT))(rows, k)"}),
    (ex.group_scores, {"rows @ k.mT": "torch.bmm(rows.flatten(0, 1), k.flatten(0, 1).mT)"}),
    (
        ex.group_scores,
        "torch.einsum('bgntd,bgsd->bgnts', q.unflatten(1, (k.size(1), -1)), k).flatten(1, 2)",
    ),
]


@pytest.mark.parametrize(("task", "answer"), RIGHT)
def test_a_right_answer_may_have_another_form(task, answer):
    formula = Formula(task.reference)
    if isinstance(answer, str):
        answer = formula.answering(answer)
    elif isinstance(answer, dict):
        answer = formula.with_pieces(answer)
    report = task.check(answer)
    assert report.passed, report.text


# A cache may be written to, and nothing else ------------------------------------------------------


@pytest.mark.parametrize("name", HARM)
def test_a_cache_that_was_spoilt_is_noticed(name):
    """Its layout, its dtype and all of its storage are compared; k may not change at all."""

    def spoil_the_cache(cache, k, t):
        kept = ex.append.reference(cache, k, t)
        HARM[name](cache)
        return kept

    def spoil_k(cache, k, t):
        kept = ex.append.reference(cache, k, t)
        HARM[name](k)
        return kept

    for answer in (spoil_the_cache, spoil_k):
        report = ex.append.check(answer)
        assert report.status == "failed" and report.hint
    assert ex.append.check(ex.append.reference).passed


def test_what_lies_beside_the_cache_stays_as_it_is():
    def write_all(cache, k, t):
        kept = ex.append.reference(cache, k, t)
        if cache.untyped_storage().nbytes() > cache.nbytes:
            own = cache.clone()
            torch.empty(0, dtype=cache.dtype).set_(cache.untyped_storage()).fill_(9)
            cache.copy_(own)
        return kept

    report = ex.append.check(write_all)
    assert report.status == "failed" and "differs   cache" in report.text
