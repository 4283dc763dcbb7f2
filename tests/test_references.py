"""The solutions of the exercises answer like torch, whatever they are given."""

import itertools
import math
import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import memset, shares_memory, shares_storage
from stridekit.exercises import (
    attention,
    channels_last,
    contiguity,
    hardware,
    performance,
    strides,
    views,
)
from stridekit.exercises.attention.heads import needed
from stridekit.exercises.hardware import MOST_STEPS, Queue
from stridekit.exercises.readers.answers import free_where_unused, view_of
from stridekit.exercises.readers.copies import CopyLog
from stridekit.exercises.running import describe
from stridekit.lessons.attention import matmul_copies, packed_heads
from stridekit.widgets.traversal_explorer.widget import Warp
from tests.right_answers import head, lines_by_bytes, part_of
from tests.strategies import tensors
from tests.wrong_answers.contiguity import torch_view

NHWC = torch.channels_last


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


# 01 -------------------------------------------------------------------------------------------


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


def test_strides_of_new_tensors_are_torchs():
    for shape in (shape for n in range(5) for shape in itertools.product(range(4), repeat=n)):
        assert strides.contiguous_stride.reference(shape) == torch.empty(shape).stride()
        if len(shape) == 4:
            new = torch.empty(shape, memory_format=NHWC)
            assert channels_last.channels_last_stride.reference(shape) == new.stride()


def test_slice_layout_is_that_of_the_slice():
    bounds = [None, *range(-6, 7)]
    some = [((4, 5), (5, 1), 0), ((3, 5), (2, 9), 7), ((0, 3), (3, 1), 4), ((2, 1), (0, 6), 1)]
    for layout, *rest in itertools.product(some, range(2), bounds, bounds, range(1, 5)):
        assert strides.slice_layout.reference(*layout, *rest) == part_of(*layout, *rest)


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


@given(tensors(1, min_ndim=1))
def test_windows_are_those_of_unfold(x):
    for size in range(1, x.numel() + 1):
        assert same_view(x, strides.windows.reference(x, size), x.unfold(0, size, 1))


# 02 -------------------------------------------------------------------------------------------


def test_share_bytes_is_what_stridekit_and_numpy_say():
    x = torch.arange(24, dtype=torch.int16).view(4, 6)
    n = np.arange(24, dtype=np.int32).reshape(4, 6)
    y = torch.from_numpy(n)
    family = [
        *(x, x[1:], x[:, ::2], x[:, 1::2], x.t()[2], x[2, 3], x[:0], x.view(torch.uint8)[1, 3:5]),
        *(x.unfold(1, 2, 3), x[0, :2].expand(3, 2), x.reshape(-1)[5::7], x.detach()[3:]),
        *(x.clone(), x.numpy()[::-1, ::-2], n, n[::-1], n[::2, 1::2], n[1:1]),
        *(y, y[:, 3], y.t()[::2, 1:], n.T[4]),
    ]
    for a, b in itertools.product(family, repeat=2):
        said = views.share_bytes.reference(a, b)
        assert said == shares_memory(a, b) == np.shares_memory(np.asarray(a), np.asarray(b))


def test_permute_layout_is_that_of_permute():
    some = [
        ((2, 3, 4, 5), (60, 20, 5, 1)),
        ((3, 3, 1, 2), (1, 7, 0, 3)),
        ((0, 2, 1, 4), (8, 4, 4, 1)),
    ]
    for (shape, stride), n in itertools.product(some, range(5)):
        x = torch.empty_strided(shape[:n], stride[:n])
        for dims in itertools.permutations(range(n)):
            for signed in itertools.product(*[(d, d - n) for d in dims]):
                y = x.permute(signed)
                ours = views.permute_layout.reference(shape[:n], stride[:n], signed)
                assert ours == (tuple(y.shape), y.stride())  # fmt: skip


STEPS = {
    "t": False,
    "t.detach()": False,
    "torch.from_numpy(t.numpy())": False,
    "t.t()": False,
    "t.contiguous()": None,
    "t.reshape(-1, 2)": None,
    "t.clone()": True,
    "t[[0, 1]]": True,
    "t[:2, :2]": False,
}


@given(st.lists(st.sampled_from(list(STEPS)), max_size=6))
def test_first_copy_is_where_a_write_no_longer_comes_through(names):
    x = torch.zeros(4, 6)
    steps = [eval(f"lambda t: {name}", {"torch": torch}) for name in names]
    first = views.first_copy.reference(x, steps)
    for step in steps[:first]:
        y = step(x)
        y += 1
        assert (x != 0).any(), "the copy before it was missed"
        x = y.zero_()
    if first < len(steps):
        y = steps[first](x)
        y += 1
        assert (x == 0).all() and STEPS[names[first]] is not False
    assert True not in [STEPS[name] for name in names[:first]]


@given(tensors(min_ndim=1).filter(lambda e: e.size(0) and e.dtype != torch.uint8))
def test_bump_first_leaves_e_alone_and_can_be_written_to(e):
    before = e.clone()
    y = views.bump_first.reference(e)
    assert torch.equal(e, before) and torch.equal(y[1:], before[1:])
    assert torch.equal(y[0], before[0] + 1)
    y[0] = 99
    assert torch.equal(y[1:], before[1:])


# 03 -------------------------------------------------------------------------------------------


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


def test_a_view_of_no_elements_always_exists():
    for shape, new_shape in itertools.product(itertools.product(range(3), repeat=3), repeat=2):
        if 0 in shape and 0 in new_shape:
            assert torch_view(shape, (5, 2, 9), new_shape) is not None
            assert contiguity.view_stride.reference(shape, (5, 2, 9), new_shape) is not None


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


# 04 -------------------------------------------------------------------------------------------


def batches():
    """NHWC images of every kind: whole, cut, stepped, turned, expanded, empty."""
    for shape in itertools.product(range(3), range(1, 4), range(1, 3), range(1, 4)):
        n, h, w, c = shape
        numel = math.prod(shape)
        yield torch.arange(numel).view(shape)
        yield torch.arange(2 * numel).view(n, h, w, 2 * c)[..., ::2]
        yield torch.arange(numel).view(n, w, h, c).transpose(1, 2)
        yield torch.arange(numel).view(n, c, h, w).permute(0, 2, 3, 1)
        yield torch.arange(h * w * c).view(h, w, c).expand(shape)


def test_channels_last_view_and_rows_of_images():
    """Every value is at its index; rows are copied where `view` refuses, and nowhere else."""
    for images in batches():
        x, (n, h, w, c) = channels_last.channels_last_view.reference(images), images.shape
        assert shares_storage(x, images) and x.storage_offset() == images.storage_offset()
        assert x.tolist() == images.permute(0, 3, 1, 2).tolist() and tuple(x.shape) == (n, c, h, w)
        rows = channels_last.flatten_images.reference(x)
        assert rows.tolist() == [image.reshape(c * h * w).tolist() for image in x]
        is_view = torch_view(tuple(x.shape), x.stride(), (n, c * h * w)) is not None
        assert shares_storage(rows, x) == is_view


def formats_of_torch(shape, stride):
    t = torch.empty_strided(shape, stride)
    flags = {"contiguous_format": t.is_contiguous()}
    flags["channels_last"] = t.is_contiguous(memory_format=NHWC)
    return {name for name, flag in flags.items() if flag}


def test_formats_are_those_that_torch_knows():
    for shape in itertools.product((0, 1, 2), (0, 1, 3), (0, 1, 2), (1, 2)):
        near = [
            torch.empty(shape, memory_format=f).stride() for f in (torch.contiguous_format, NHWC)
        ]
        near += [(*s[:d], s[d] + 1, *s[d + 1 :]) for s in near for d in range(4)]
        for stride in [*itertools.product((0, 1, 2, 4, 6, 12), repeat=4), *near]:
            ours = channels_last.formats.reference(shape, stride)
            assert ours == formats_of_torch(shape, stride)


LAYERS = {
    "relu": torch.relu,
    "softmax": lambda t: t.softmax(1),
    "convert": lambda t: t.to(memory_format=NHWC) if t.ndim == 4 else t,
    "slice": lambda t: t[:, :1],
    "flatten": lambda t: t.flatten(1),
}


def test_first_to_lose_is_the_first_whose_flag_is_false():
    x = torch.rand(2, 3, 4, 5).to(memory_format=NHWC)
    for layers in itertools.product(LAYERS.values(), repeat=3):
        made = [*itertools.accumulate(layers, lambda t, layer: layer(t), initial=x)][1:]
        flags = [t.is_contiguous(memory_format=NHWC) for t in made]
        assert channels_last.first_to_lose.reference(layers, x) == [*flags, False].index(False)


times = st.integers(0, 40).map(lambda n: n / 8)


@given(times, times, times)
def test_uses_to_pay_back_is_the_first_number_that_does(convert, before, after):
    n = channels_last.uses_to_pay_back.reference(convert, before, after)
    if n == math.inf:
        assert after >= before and convert > 0
        return
    assert convert + n * after <= n * before
    assert n == 0 or convert + (n - 1) * after > (n - 1) * before


# 05 -------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 70)), max_size=4), st.integers(0, 100))
def test_cache_lines_are_those_of_all_bytes(dims, offset):
    shape, stride = zip(*dims, strict=True) if dims else ((), ())
    for itemsize in (1, 2, 4, 8, 16):
        layout = shape, stride, offset, itemsize
        assert performance.cache_lines.reference(*layout) == lines_by_bytes(*layout)


def test_the_sectors_of_every_warp_are_the_picture_s():
    for stride, offset, itemsize in itertools.product(range(33), range(33), (1, 2, 4, 8, 16)):
        expected = len(set(Warp(itemsize, stride, offset).sectors))
        assert hardware.warp_sectors.reference(stride, offset, itemsize) == expected


@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 30), st.integers(0, 5))
def test_breaking_even_is_the_first_use_that_costs_no_more(rows, apart, columns, first):
    t = torch.zeros(rows, apart, columns)[first:, 0]
    n, copy = performance.break_even.reference(t), t.contiguous()
    before = performance.bytes_moved.reference(t, t[:0], t[:0]) // 64
    after = -(-copy.numel() * 4 // 64)
    making = 0 if copy is t else before + after
    pays = [making + uses * after <= uses * before for uses in range(10_000)]
    assert n == (math.inf if True not in pays else pays.index(True))


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


# 06 -------------------------------------------------------------------------------------------


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


def test_head_layout_is_that_of_the_view():
    for *sizes, which, packing in itertools.product(*[(1, 2, 3)] * 4, "qkv", ("3HD", "H3D", "HD3")):
        shape, stride, offset = attention.head_layout.reference(*sizes, which, packing)
        theirs = head(*sizes, which, packing)
        assert (shape, offset) == (theirs[0], theirs[2])
        assert all(n == 1 or a == b for n, a, b in zip(shape, stride, theirs[1], strict=True))
        assert packed_heads(*sizes, packing)["qkv".index(which)].storage_offset == offset


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


def test_scores_are_those_of_repeated_heads_and_k_stays_where_it_is():
    rng = random.Random(5)
    for _ in range(500):
        batch, groups, each, tokens, keys, dim = (rng.randint(1, 3) for _ in range(6))
        q = drawn(rng, (batch, groups * each, tokens, dim))
        k = torch.arange(float(batch * groups * keys * dim)).view(batch, groups, keys, dim)
        scores, made = copies(attention.group_scores.reference, q, k)
        clones = [nbytes for name, nbytes in made if name == "clone"]
        assert torch.equal(scores, q @ k.repeat_interleave(each, 1).mT)
        assert clones in ([], [q.nbytes])
