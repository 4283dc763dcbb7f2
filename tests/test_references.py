"""The solutions of the exercises answer like torch, whatever they are given."""

import itertools
import math
import random

import numpy as np
import pytest
import torch
from hypothesis import given

from stridekit import memset, shares_memory, shares_storage
from stridekit.exercises import (
    attention,
    contiguity,
    strides,
    views,
)
from stridekit.exercises.attention.heads import needed
from stridekit.exercises.hardware import MOST_STEPS, Queue
from stridekit.exercises.readers.answers import free_where_unused, view_of
from stridekit.exercises.readers.copies import CopyLog
from stridekit.exercises.running import describe
from stridekit.lessons.attention import matmul_copies
from tests.strategies import tensors
from tests.wrong_answers.contiguity import torch_view


def layouts(ndim, sizes=range(4), steps=range(5)):
    """Every shape and stride of `ndim` dims."""
    return itertools.product(
        itertools.product(sizes, repeat=ndim), itertools.product(steps, repeat=ndim)
    )


def new_shapes(numel, ndim):
    """Every shape of `ndim` dims and `numel` elements."""
    if ndim == 0:
        return [()] if numel == 1 else []
    heads = [n for n in range(1, numel + 1) if numel % n == 0]
    return [(n, *rest) for n in heads for rest in new_shapes(numel // n, ndim - 1)]


def copies(call, *given):
    """What a call answers, and the bytes of each copy on the way."""
    with CopyLog(*given) as log:
        answer = call(*given)
    return answer, log.copies


def same_view(x, ours, theirs):
    """True for one layout on the storage of x; where nobody steps, a stride is free."""
    read = view_of("x")
    return read(ours, {"x": x}).facts == read(theirs, {"x": x}).facts


@given(tensors(max_size=3))
def test_bytes_and_addresses_are_where_torch_has_them(x):
    start = x.untyped_storage().data_ptr()
    for index in itertools.product(*map(range, x.shape)):
        assert strides.address.reference(x, index) == x[index].data_ptr() - start
    assert strides.raw_bytes.reference(x) == bytes(x.untyped_storage().tolist())
    reached = views.memset_of.reference(x)
    assert len(reached) == len(memset(x)) and all(start + byte in memset(x) for byte in reached)


@given(tensors(1, min_ndim=1).filter(lambda x: x.stride(0) > 0))
def test_recover_slice_gives_back_the_view(base):
    bounds = range(base.numel() + 1)
    for start, stop, step in itertools.product(bounds, bounds, range(1, 4)):
        view = base[start:stop:step]
        assert describe(base[strides.recover_slice.reference(base, view)]) == describe(view)


@given(tensors(2, min_ndim=2))
def test_the_ladder_is_what_torch_returns(x):
    for i in range(x.size(0)):
        assert same_view(x, strides.row.reference(x, i), x[i])
        kept = views.keep_row.reference(x, i)
        assert torch.equal(kept, x[i]) and kept.dtype == x.dtype and not shares_memory(kept, x)
        assert kept.untyped_storage().nbytes() == kept.numel() * kept.itemsize
    for j in range(x.size(1)):
        assert same_view(x, strides.column.reference(x, j), x[:, j])
    assert same_view(x, strides.diagonal.reference(x), x.diagonal())
    assert strides.trace.reference(x) == x.diagonal().sum()


def test_is_contiguous_and_mergeable_are_torchs_answers():
    for shape, stride in (it for ndim in range(4) for it in layouts(ndim)):
        theirs = torch.empty_strided(shape, stride, device="meta").is_contiguous()
        assert contiguity.is_contiguous.reference(shape, stride) == theirs, (shape, stride)
    for shape, stride in (it for n in (2, 3) for it in layouts(n, steps=(0, 1, 2, 3, 6))):
        for d in range(len(shape) - 1):
            merged = (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :])
            works = torch_view(shape, stride, merged) is not None
            assert contiguity.mergeable.reference(shape, stride, d) == works, (shape, stride, d)


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
def test_view_stride_is_that_of_the_view(ndim):
    for shape, stride in layouts(ndim, (1, 2, 3, 4), (0, 1, 2, 4) if ndim == 3 else range(9)):
        for new_shape in [s for k in range(4) for s in new_shapes(math.prod(shape), k)]:
            ours = contiguity.view_stride.reference(shape, stride, new_shape)
            theirs = torch_view(shape, stride, new_shape)
            assert (ours is None) == (theirs is None), (shape, stride, new_shape)
            if ours is not None:
                free = [free_where_unused(new_shape, s) for s in (ours, theirs)]
                assert free[0] == free[1], (shape, stride, new_shape)


def test_clone_stride_is_that_of_the_clone():
    for shape, stride in (it for n in range(4) for it in layouts(n, (1, 2, 3), (0, 1, 2, 4, 7, 9))):
        steps = [s for s in stride if s > 0]
        if len(steps) == len(set(steps)):
            clone = torch.empty_strided(shape, stride).clone()
            ours = contiguity.clone_stride.reference(shape, stride)
            free = [free_where_unused(shape, s) for s in (ours, clone.stride())]
            assert free[0] == free[1], (shape, stride)


def test_by_columns_is_the_given_line_with_no_needless_copy():
    whole = torch.arange(4 * 5 * 6).view(4, 5, 6)
    for y in map(whole.permute, itertools.permutations(range(3))):
        cuts = [y[1:], y[:, ::2], y[:, :, 1:3], y[:, 1:2], y[..., :1], y[:, :0]]
        for x in (y, *cuts, y[:1].expand(3, -1, -1), y[:, :, :1].expand(-1, -1, 4)):
            turned = x.transpose(1, 2)
            ours, made = copies(contiguity.by_columns.reference, x)
            assert ours.tolist() == [matrix.t().reshape(-1).tolist() for matrix in x]
            assert sum(nbytes for _, nbytes in made) in {0, x.numel() * x.element_size()}
            view = torch_view(tuple(turned.shape), turned.stride(), tuple(ours.shape))
            assert bool(made) == (x.numel() > 0 and view is None)


def test_unviewable_is_refused_and_none_only_where_nothing_is():
    for shape, stride in (it for n in range(4) for it in layouts(n, range(4), (0, 1, 2, 3, 6))):
        answer, numel = contiguity.unviewable.reference(shape, stride), math.prod(shape)
        if answer is not None:
            assert math.prod(answer) == numel and torch_view(shape, stride, answer) is None
        elif numel:
            every = [s for k in range(4) for s in new_shapes(numel, k)]
            assert all(torch_view(shape, stride, s) is not None for s in every)


def test_the_queue_is_a_device_that_works_while_the_host_goes_on():
    queue = Queue([50, 20], first=400, busy=7)
    read = [queue.clock()]
    for calls in (
        (queue.work,),
        (queue.synchronize,),
        (queue.work, queue.work),
        (queue.synchronize,),
    ):
        for call in calls:
            call()
        read.append(queue.clock())
    assert read == [0, 1, 7 + 450, 459, 458 + 20 + 50]
    queue = Queue([1])
    for _ in range(MOST_STEPS):
        queue.clock()
    with pytest.raises(RuntimeError, match="does your loop end"):
        queue.clock()  # fmt: skip


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


def test_matmul_clones_are_those_that_the_log_shows():
    rng, cloned = random.Random(2), 0
    for _ in range(1000):
        batch = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
        own = [[n if rng.random() < 0.8 else 1 for n in batch][rng.choice((0, -1)) :] for _ in "ab"]
        a = drawn(rng, (*own[0], rng.randint(1, 3), 2))
        b = drawn(rng, (*own[1], 2, rng.randint(1, 3)))
        if rng.random() < 0.2:
            b = b.expand(*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])
        clones = attention.matmul_clones.reference(a, b)
        made = [n for name, n in copies(torch.matmul, a, b)[1] if name == "clone"]
        assert [n for n in clones if n] == made and clones == matmul_copies(a, b)[:2]
        cloned += any(clones)
    assert 200 < cloned < 800


def test_heads_merge_without_a_copy_where_torch_has_a_view():
    rng, free = random.Random(3), 0
    for _ in range(1000):
        y = drawn(rng, [rng.randint(1, 4) for _ in range(4)])
        merged, clones = copies(attention.merge_heads.reference, y)
        assert torch.equal(merged, torch.cat(y.unbind(1), -1))
        assert sum(nbytes for _, nbytes in clones) == needed({"y": y})
        free += not clones
    assert 200 < free < 800


def stepping(pool, count, stride, start):
    """A view of blocks that are a stride apart; nothing where it would leave the storage."""
    try:
        return pool.as_strided((count, *pool.shape[1:]), (stride, *pool.stride()[1:]), start)
    except RuntimeError:
        return torch.empty(0)


def test_blocks_are_a_view_wherever_a_stride_leads_through_them():
    """Every stride is tried."""
    rng, made = random.Random(4), 0
    for _ in range(1000):
        pool = drawn(rng, (rng.randint(1, 5), 2, 2))
        table = [rng.randrange(len(pool)) for _ in range(rng.randint(1, 4))]
        ours, right = attention.blocks.reference(pool, table), pool[table]
        start = pool[table[0]].storage_offset()
        most = (pool.untyped_storage().nbytes() // 4 - start) // max(len(table) - 1, 1)
        able = any(torch.equal(stepping(pool, len(table), s, start), right) for s in range(most))
        assert torch.equal(ours, right) and shares_storage(ours, pool) == able
        made += able
    assert 300 < made < 900
