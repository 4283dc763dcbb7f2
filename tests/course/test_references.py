"""The solutions of the exercises answer like torch, whatever they are given."""

import math
import random
from itertools import product

import pytest
import torch
from hypothesis import given

from stridekit import memset, shares_memory, tricky_layouts
from stridekit.exercises import attention, contiguity, strides, views, way_back
from stridekit.exercises.attention.heads import needed
from stridekit.exercises.hardware import Queue
from stridekit.exercises.readers.answers import free_where_unused, view_of
from stridekit.exercises.readers.copies import CopyLog
from stridekit.exercises.running import describe
from stridekit.lessons.attention import matmul_copies
from tests.core.strategies import tensors
from tests.course.wrong_answers.contiguity import torch_view


def layouts(ndim, steps):
    """Return every shape and stride of `ndim` dims."""
    sizes = range(4)
    return product(product(sizes, repeat=ndim), product(steps, repeat=ndim))


def new_shapes(numel, ndim):
    """Return every shape of `ndim` dims and `numel` elements."""
    if ndim == 0:
        return [()] if numel == 1 else []
    shapes = []
    for size in range(1, numel + 1):
        if numel % size == 0:
            shapes += [(size, *rest) for rest in new_shapes(numel // size, ndim - 1)]
    return shapes


def answer_and_copies(call, *args):
    """Return the answer of a call, and the bytes of each copy on the way."""
    with CopyLog(*args) as log:
        answer = call(*args)
    return answer, log.copies


def are_same_view(x, first, second):
    """Return whether two views of x have one layout; where no index steps, a stride is free."""
    read = view_of("x")
    return read(first, {"x": x}).facts == read(second, {"x": x}).facts


@given(tensors(max_size=3))
def test_bytes_and_addresses_are_where_torch_has_them(x):
    storage = x.untyped_storage()
    start = storage.data_ptr()
    for index in product(*map(range, x.shape)):
        address = x[index].data_ptr() - start
        assert strides.address.reference(x, index) == address
    assert strides.raw_bytes.reference(x) == bytes(storage.tolist())
    reached = views.memset_of.reference(x)
    expected = memset(x)
    assert len(reached) == len(expected)
    for byte in reached:
        assert start + byte in expected


@given(tensors(1, min_ndim=1).filter(lambda x: x.stride(0) > 0))
def test_recover_slice_gives_back_the_view(base):
    bounds = range(base.numel() + 1)
    for start, stop, step in product(bounds, bounds, range(1, 4)):
        view = base[start:stop:step]
        recovered = strides.recover_slice.reference(base, view)
        assert describe(base[recovered]) == describe(view)


@given(tensors(2, min_ndim=2))
def test_the_ladder_is_what_torch_returns(x):
    for i in range(x.size(0)):
        assert are_same_view(x, strides.row.reference(x, i), x[i])
        row = views.keep_row.reference(x, i)
        assert torch.equal(row, x[i])
        assert row.dtype == x.dtype
        assert not shares_memory(row, x)
        assert row.untyped_storage().nbytes() == row.nbytes
    for j in range(x.size(1)):
        assert are_same_view(x, strides.column.reference(x, j), x[:, j])
    assert are_same_view(x, strides.diagonal.reference(x), x.diagonal())
    assert strides.trace.reference(x) == x.diagonal().sum()


@pytest.mark.parametrize(
    ("ndim", "steps"),
    [
        (0, []),
        (1, range(9)),
        (2, range(7)),
        (3, [0, 1, 2, 6]),
    ],
)
def test_what_is_asked_of_a_layout_is_answered_as_by_torch(ndim, steps):
    for shape, stride in layouts(ndim, steps):
        x = torch.empty_strided(shape, stride, device="meta")
        assert contiguity.is_contiguous.reference(shape, stride) == x.is_contiguous()
        for d in range(ndim - 1):
            merged = (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :])
            works = torch_view(shape, stride, merged) is not None
            assert contiguity.mergeable.reference(shape, stride, d) == works, (shape, stride, d)
        if len({*stride} - {0}) == ndim:
            cloned = contiguity.clone_stride.reference(shape, stride)
            expected = used(shape, x.clone().stride())
            assert used(shape, cloned) == expected, (shape, stride)
        assert_views_are_torchs(shape, stride)


def assert_views_are_torchs(shape, stride):
    """Compare the stride of every view, and the shape that has none, with those of torch."""
    numel = math.prod(shape)
    torch_strides = {}
    for new_ndim in range(4) if numel else ():
        for new in new_shapes(numel, new_ndim):
            torch_strides[new] = torch_view(shape, stride, new)
    for new, torch_stride in torch_strides.items():
        view_stride = contiguity.view_stride.reference(shape, stride, new)
        assert used(new, view_stride) == used(new, torch_stride), (shape, stride, new)
    refused = contiguity.unviewable.reference(shape, stride)
    has_every_view = None not in torch_strides.values()
    assert (refused is None) == has_every_view, (shape, stride)
    if refused is not None:
        assert math.prod(refused) == numel
        assert torch_view(shape, stride, refused) is None


def used(shape, stride):
    """Return a stride that is free where no index steps; None for None."""
    return None if stride is None else free_where_unused(shape, tuple(stride))


def test_the_queue_is_a_device_that_works_while_the_host_goes_on():
    queue = Queue([50, 20], first=400, busy=7)
    readings = [queue.clock()]
    for names in (["work"], ["synchronize"], ["work", "work"], ["synchronize"]):
        for name in names:
            getattr(queue, name)()
        readings.append(queue.clock())
    assert readings == [0, 1, 7 + 450, 459, 458 + 20 + 50]


def drawn(rng, shape):
    """Draw a tensor of a shape: its dims in any order in memory, some of them sliced."""
    ndim = len(shape)
    order = rng.sample(range(ndim), ndim)
    wide = [n * rng.choice((1, 1, 1, 2)) for n in shape]
    in_memory = torch.arange(float(math.prod(wide))).view([wide[d] for d in order])
    places = [order.index(d) for d in range(ndim)]
    parts = []
    for d, n in enumerate(shape):
        takes_every_other = wide[d] == 2 * n and rng.random() < 0.5
        parts.append(slice(None, None, 2) if takes_every_other else slice(-n, None))
    return in_memory.permute(places)[tuple(parts)]


def batch_of_operand(rng, batch):
    """Draw batch dims that broadcast to a batch: some of size 1, and perhaps only the last."""
    sizes = [n if rng.random() < 0.8 else 1 for n in batch]
    return sizes[rng.choice((0, -1)) :]


def test_matmul_clones_are_those_that_the_log_shows():
    rng = random.Random(2)
    cloned = 0
    for _ in range(300):
        batch = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
        a_batch = batch_of_operand(rng, batch)
        b_batch = batch_of_operand(rng, batch)
        a = drawn(rng, (*a_batch, rng.randint(1, 3), 2))
        b = drawn(rng, (*b_batch, 2, rng.randint(1, 3)))
        if rng.random() < 0.2:
            batch_shape = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            b = b.expand(*batch_shape, *b.shape[-2:])
        clones = attention.matmul_clones.reference(a, b)
        _, copies = answer_and_copies(torch.matmul, a, b)
        logged = [nbytes for name, nbytes in copies if name == "clone"]
        assert [nbytes for nbytes in clones if nbytes] == logged
        assert clones == matmul_copies(a, b)[:2]
        cloned += any(clones)
    assert 60 < cloned < 240


def test_heads_merge_without_a_copy_where_torch_has_a_view():
    rng = random.Random(3)
    free = 0
    for _ in range(300):
        y = drawn(rng, [rng.randint(1, 4) for _ in range(4)])
        merged, clones = answer_and_copies(attention.merge_heads.reference, y)
        assert torch.equal(merged, torch.cat(y.unbind(1), -1))
        assert sum(nbytes for _, nbytes in clones) == needed({"y": y})
        free += not clones
    assert 60 < free < 240


STEPS = (0, 1, 2, 3, 4, 6)


@pytest.mark.parametrize(
    ("ndim", "every"), [(1, 1), (2, 1), (3, 7), pytest.param(3, 1, marks=pytest.mark.long)]
)
def test_grad_stride_is_the_stride_of_the_gradient_of_a_leaf(ndim, every):
    for shape, stride in [*layouts(ndim, STEPS)][::every]:
        leaf = torch.zeros(40).as_strided(shape, stride).requires_grad_()
        (leaf * 2).sum().backward()
        expected = free_where_unused(shape, leaf.grad.stride())
        assert free_where_unused(shape, way_back.grad_stride.reference(shape, stride)) == expected


def test_what_for_kernel_hands_over_gives_a_packed_kernel_the_right_numbers():
    for shape in ((), (4,), (3, 4), (3, 1), (2, 3, 4), (2, 3, 2, 2), (0, 3)):
        for name, g in tricky_layouts(torch.rand(shape)).items():
            source, target = way_back.for_kernel.reference(g)
            packed = source.as_strided((source.numel(),), (1,))
            target.as_strided((target.numel(),), (1,)).copy_(packed * 2)
            assert torch.equal(target, g * 2), name


def test_what_arrives_at_x_is_what_autograd_hands_over():
    """For gradients in all layouts: shape, stride, offset, memory and values."""
    for shape in ((3, 4), (4, 4), (2, 3, 4)):
        for dim in range(len(shape)):
            x = torch.zeros(shape, requires_grad=True)
            before = torch.zeros(shape).narrow(dim, 0, 1)
            results = {
                ("sum", dim): x.sum(dim),
                ("transpose", dim, 0): x.transpose(dim, 0),
                ("cat", dim): torch.cat([before, x], dim),
                ("slice", dim, 1): x.narrow(dim, 1, 1),
            }
            for step, result in results.items():
                for name, g in tricky_layouts(torch.rand(result.shape)).items():
                    (expected,) = torch.autograd.grad(result, x, g, retain_graph=True)
                    arriving = way_back.arrives.reference(g, step, shape)
                    read = view_of("g")
                    facts = [read(gradient, {"g": g}).facts for gradient in (arriving, expected)]
                    assert facts[0] == facts[1], (step, name)


def test_grad_views_are_the_views_that_ddp_gives_to_gradients():
    conv = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    linear = torch.nn.Linear(4, 2)
    linear.weight = torch.nn.Parameter(torch.rand(4, 2).t())
    model = torch.nn.Sequential(conv, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), linear)
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        parallel = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
        parallel(torch.rand(2, 3, 5, 5)).sum().backward()
    finally:
        torch.distributed.destroy_process_group()
    params = [*model.parameters()]
    flat = torch.empty(0).set_(params[0].grad.untyped_storage())
    views = way_back.grad_views.reference(flat, params)
    expected = [describe(param.grad) for param in params]
    assert [describe(view) for view in views] == expected
    assert len({param.grad.untyped_storage().data_ptr() for param in params}) == 1


def test_may_write_asks_for_the_addresses_of_the_rows():
    """Compare with the addresses themselves, for a kernel that writes rows of 16 bytes."""
    rng = random.Random(4)
    allowed = 0
    for _ in range(2000):
        shape = [rng.randint(0, 3) for _ in range(rng.randint(1, 3))]
        stride = [rng.choice((0, 1, 2, 4, 8)) for _ in shape]
        stride[-1] = rng.choice((0, 1, 1, 1, 1))
        t = torch.zeros(60).as_strided(shape, stride, rng.choice((0, 0, 4, 6)))
        rows = [t[index] for index in product(*map(range, shape[:-1]))]
        addresses = [row[k].data_ptr() for row in rows for k in range(len(row))]
        is_packed = all(row[1].data_ptr() == row.data_ptr() + 4 for row in rows if len(row) > 1)
        is_aligned = all(row.data_ptr() % 16 == 0 for row in rows if len(row))
        expected = is_packed and is_aligned and len({*addresses}) == len(addresses)
        assert way_back.may_write.reference(t) == expected, (shape, stride, t.storage_offset())
        allowed += expected
    assert 500 < allowed < 1500


def test_fake_halve_promises_what_the_real_kernel_returns():
    for shape in ((2, 3, 4, 6), (2, 3, 5, 3), (1, 2, 1, 1), (2, 1, 3, 3), (0, 3, 2, 2)):
        for name, images in tricky_layouts(torch.rand(shape)).items():
            real = images[:, :, ::2, ::2].clone(memory_format=torch.channels_last)
            fake = way_back.fake_halve.reference(images)
            assert fake.dtype == real.dtype and fake.shape == real.shape
            strides_there = [free_where_unused(t.shape, t.stride()) for t in (real, fake)]
            assert strides_there[0] == strides_there[1], name
