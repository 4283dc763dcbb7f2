"""The solutions of the exercises answer like torch, whatever they are given."""

import math
import random
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given

from stridekit import memset, shares_memory
from stridekit.exercises import attention, contiguity, strides, views
from stridekit.exercises.attention.heads import needed
from stridekit.exercises.hardware import Queue
from stridekit.exercises.readers.answers import free_where_unused, view_of
from stridekit.exercises.readers.copies import CopyLog
from stridekit.exercises.running import describe
from stridekit.lessons.attention import matmul_copies
from tests.core.strategies import tensors
from tests.course.wrong_answers.contiguity import torch_view


def layouts(ndim, steps):
    """Every shape and stride of `ndim` dims."""
    sizes = range(4)
    return product(product(sizes, repeat=ndim), product(steps, repeat=ndim))


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
    for index in product(*map(range, x.shape)):
        assert strides.address.reference(x, index) == x[index].data_ptr() - start
    assert strides.raw_bytes.reference(x) == bytes(x.untyped_storage().tolist())
    reached = views.memset_of.reference(x)
    assert len(reached) == len(memset(x)) and all(start + byte in memset(x) for byte in reached)


@given(tensors(1, min_ndim=1).filter(lambda x: x.stride(0) > 0))
def test_recover_slice_gives_back_the_view(base):
    bounds = range(base.numel() + 1)
    for start, stop, step in product(bounds, bounds, range(1, 4)):
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


@pytest.mark.parametrize(("ndim", "steps"), enumerate(([], range(9), range(7), [0, 1, 2, 6])))
def test_what_is_asked_of_a_layout_is_answered_as_by_torch(ndim, steps):
    for shape, stride in layouts(ndim, steps):
        x, numel = torch.empty_strided(shape, stride, device="meta"), math.prod(shape)
        assert contiguity.is_contiguous.reference(shape, stride) == x.is_contiguous()
        for d in range(ndim - 1):
            merged = (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :])
            works = torch_view(shape, stride, merged) is not None
            assert contiguity.mergeable.reference(shape, stride, d) == works, (shape, stride, d)
        if len({*stride} - {0}) == ndim:
            ours, theirs = contiguity.clone_stride.reference(shape, stride), x.clone().stride()
            assert used(shape, ours) == used(shape, theirs), (shape, stride)
        every = [s for k in range(4) for s in new_shapes(numel, k)] if numel else []
        views = {new: torch_view(shape, stride, new) for new in every}
        for new, theirs in views.items():
            ours = contiguity.view_stride.reference(shape, stride, new)
            assert used(new, ours) == used(new, theirs), (shape, stride, new)
        refused = contiguity.unviewable.reference(shape, stride)
        assert (refused is None) == (None not in views.values()), (shape, stride)
        if refused is not None:
            assert math.prod(refused) == numel and torch_view(shape, stride, refused) is None


def used(shape, stride):
    """A stride, free where nobody steps; None where there is none."""
    return None if stride is None else free_where_unused(shape, tuple(stride))


def test_the_queue_is_a_device_that_works_while_the_host_goes_on():
    queue = Queue([50, 20], first=400, busy=7)
    read = [queue.clock()]
    for names in (["work"], ["synchronize"], ["work", "work"], ["synchronize"]):
        for name in names:
            getattr(queue, name)()
        read.append(queue.clock())
    assert read == [0, 1, 7 + 450, 459, 458 + 20 + 50]


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
    for _ in range(300):
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
    assert 60 < cloned < 240


def test_heads_merge_without_a_copy_where_torch_has_a_view():
    rng, free = random.Random(3), 0
    for _ in range(300):
        y = drawn(rng, [rng.randint(1, 4) for _ in range(4)])
        merged, clones = copies(attention.merge_heads.reference, y)
        assert torch.equal(merged, torch.cat(y.unbind(1), -1))
        assert sum(nbytes for _, nbytes in clones) == needed({"y": y})
        free += not clones
    assert 60 < free < 240
