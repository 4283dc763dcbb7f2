"""The exercises of notebook 01: the references are torch's answers, other formulas do not pass."""

import ctypes
import itertools

import pytest
import torch
from hypothesis import given

from stridekit.exercises import strides as ex
from stridekit.exercises.readers.answers import view_of
from stridekit.exercises.running import describe
from tests.strategies import tensors

# The reference solutions, against torch ---------------------------------------------------------


def same_view(x, ours, theirs):
    """True for one layout on the storage of x; where nobody steps, a stride is free."""
    read = view_of("x")
    return read(ours, {"x": x}).facts == read(theirs, {"x": x}).facts


@given(tensors(max_size=3))
def test_address_is_where_torch_finds_the_element(x):
    for index in itertools.product(*map(range, x.shape)):
        away = x[index].data_ptr() - x.untyped_storage().data_ptr()
        assert ex.address.reference(x, index) == away


def test_contiguous_stride_is_that_of_a_new_tensor():
    for ndim in range(5):
        for shape in itertools.product(range(4), repeat=ndim):
            assert ex.contiguous_stride.reference(shape) == torch.empty(shape).stride()


def sliced(shape, stride, offset, dim, start, stop, step):
    """The answer of torch."""
    x = torch.empty(1000).as_strided(shape, stride, offset)
    y = x[(slice(None),) * dim + (slice(start, stop, step),)]
    return list(y.shape), list(y.stride()), y.storage_offset()


def test_slice_layout_is_that_of_the_slice():
    bounds = [None, *range(-6, 7)]
    layouts = [((4, 5), (5, 1), 0), ((3, 5), (2, 9), 7), ((0, 3), (3, 1), 4), ((2, 1), (0, 6), 1)]
    for layout, dim in itertools.product(layouts, range(2)):
        for start, stop, step in itertools.product(bounds, bounds, range(1, 5)):
            shape, stride, offset = ex.slice_layout.reference(*layout, dim, start, stop, step)
            expected = sliced(*layout, dim, start, stop, step)
            assert (list(shape), list(stride), offset) == expected


@given(tensors(1, min_ndim=1).filter(lambda x: x.stride(0) > 0))
def test_recover_slice_gives_back_the_view(base):
    bounds = range(base.numel() + 1)
    for start, stop, step in itertools.product(bounds, bounds, range(1, 4)):
        view = base[start:stop:step]
        assert describe(base[ex.recover_slice.reference(base, view)]) == describe(view)


@given(tensors())
def test_raw_bytes_are_those_of_the_storage(x):
    assert ex.raw_bytes.reference(x) == bytes(x.untyped_storage().tolist())


@given(tensors(2, min_ndim=2))
def test_the_ladder_is_what_torch_returns(x):
    for i in range(x.size(0)):
        assert same_view(x, ex.row.reference(x, i), x[i])
    for j in range(x.size(1)):
        assert same_view(x, ex.column.reference(x, j), x[:, j])
    assert same_view(x, ex.diagonal.reference(x), x.diagonal())
    assert ex.trace.reference(x) == x.diagonal().sum()


@given(tensors(1, min_ndim=1))
def test_windows_are_those_of_unfold(x):
    for size in range(1, x.numel() + 1):
        assert same_view(x, ex.windows.reference(x, size), x.unfold(0, size, 1))


# Right answers by other means -----------------------------------------------------------------


def array_of_bytes(t):
    """Read through a ctypes array, which no fence holds back."""
    storage = t.untyped_storage()
    if storage.nbytes() == 0:
        return b""
    return (ctypes.c_ubyte * storage.nbytes()).from_address(storage.data_ptr())


def bytes_view(t):
    """The storage as a tensor of bytes."""
    storage = t.untyped_storage()
    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),))


def stop_past_the_last(base, view):
    """Another stop that makes the same slice."""
    step = view.stride(0) // base.stride(0)
    start = (view.storage_offset() - base.storage_offset()) // base.stride(0)
    return slice(start, start + (len(view) - 1) * step + 1 if len(view) else start, step)


BY_OTHER_MEANS = [
    (ex.address, lambda t, index: t[index].data_ptr() - t.untyped_storage().data_ptr()),
    (ex.address, lambda t, index: torch.tensor(t[index].storage_offset() * t.itemsize)),
    (ex.address, lambda *args: float(ex.address.reference(*args))),
    (ex.contiguous_stride, lambda shape: torch.tensor(ex.contiguous_stride.reference(shape))),
    (ex.contiguous_stride, lambda shape: (s for s in ex.contiguous_stride.reference(shape))),
    (ex.slice_layout, lambda *args: list(map(torch.tensor, ex.slice_layout.reference(*args)))),
    (ex.recover_slice, stop_past_the_last),
    (ex.recover_slice, lambda *args: (stop_past_the_last(*args),)),  # base[(s,)] is base[s]
    (ex.raw_bytes, lambda t: bytes(t.untyped_storage().tolist())),
    (ex.raw_bytes, array_of_bytes),
    (ex.raw_bytes, lambda t: ctypes.string_at(t.untyped_storage().data_ptr(), len(bytes_view(t)))),
]


@pytest.mark.parametrize(("task", "answer"), BY_OTHER_MEANS)
def test_right_answers_by_other_means_pass(task, answer):
    assert task.check(answer).passed, task.check(answer)


# Right answers to the ladder, by as_strided and not ---------------------------------------------


def in_place(x, i):
    """On a view of x, so that x stays as it is."""
    y = x[:]
    return y.as_strided_((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.stride(0))


def start(x, *index):
    """The element of the storage at which x[index] begins."""
    return x.storage_offset() + sum(i * step for i, step in zip(index, x.stride(), strict=False))


BY_AS_STRIDED = [
    (ex.row, in_place),
    (ex.row, lambda x, i: torch.as_strided(x, x.shape[1:], x.stride()[1:], start(x, i))),
    (ex.row, lambda x, i: torch.Tensor.as_strided(x.detach(), x.shape[-1:], x.stride()[-1:], start(x, i))),
    (ex.row, lambda x, i: x.as_strided((1, x.size(1)), x.stride(), start(x, i)).squeeze(0)),
    (ex.row, lambda x, i: x.as_strided((1, x.size(1)), (7, x.stride(1)), start(x, i))[0]),
    (ex.row, lambda x, i: x.as_strided((x.size(1), 1), (x.stride(1), 1), start(x, i)).flatten()),
    (ex.row, lambda x, i: ex.column.reference(x.t(), i)),
    (ex.column, lambda x, j: x.as_strided(
        storage_offset=start(x, 0, j), stride=[x.stride(0)], size=[len(x)])),
    (ex.column, lambda x, j: torch.as_strided(
        input=x, size=x.shape[:1], stride=x.stride()[:1], storage_offset=start(x, 0, j))),
    (ex.column, lambda x, j: x.as_strided((len(x), 1), x.stride(), start(x, 0, j))[:, 0]),
    (ex.diagonal, lambda x: torch.ops.aten.as_strided(x, (min(x.shape),), (sum(x.stride()),))),
    (ex.diagonal, lambda x: torch.ops.aten.as_strided.default(x, (min(x.shape),), (sum(x.stride()),))),
    (ex.diagonal, lambda x: x.as_strided([min(x.shape)], [sum(x.stride())]).detach()),
    (ex.diagonal, lambda x: x.as_strided((min(x.shape), 1), (sum(x.stride()), 1)).view(-1)),
    (ex.trace, lambda x: sum(x.as_strided((), (), start(x, k, k)) for k in range(min(x.shape)))),
    (ex.trace, lambda x: sum(x.as_strided((1,), (1,), start(x, k, k)).item() for k in range(min(x.shape)))),
    (ex.trace, lambda x: sum(ex.diagonal.reference(x))),
    (ex.trace, lambda x: x.as_strided((min(x.shape),), (sum(x.stride()),)).sum(0).item()),
    (ex.trace, lambda x: sum(x.as_strided((min(x.shape),), (sum(x.stride()),)).tolist())),
    (ex.trace, lambda x: x.as_strided((min(x.shape),), (sum(x.stride()),)).numpy().sum()),
    (ex.trace, lambda x: ex.diagonal.reference(x).sum()),
    (ex.windows, lambda x, size: x.as_strided((len(x) - size + 1, size), x.stride() * 2)),
    (ex.windows, lambda x, size: x.as_strided((size, len(x) - size + 1), x.stride() * 2).t()),
    (ex.windows, lambda x, size: x.as_strided((1, len(x) - size + 1, size), (0, *x.stride() * 2))[0]),
]  # fmt: skip


@pytest.mark.parametrize(("task", "answer"), BY_AS_STRIDED)
def test_every_way_to_call_as_strided_counts(task, answer):
    assert task.check(answer).passed, task.check(answer)


def decoy(x):
    """Call as_strided for something else."""
    x.as_strided((1,), (1,), 0)
    return x.trace()


NOT_BY_AS_STRIDED = [
    (ex.row, lambda x, i: x[i]),
    (ex.row, lambda x, i: x[i].as_strided((x.size(1),), (x.stride(1),))),
    (ex.row, lambda x, i: x.as_strided(x[i].size(), x[i].stride(), x[i].storage_offset())),
    (ex.row, lambda x, i: x.as_strided(x.shape[1:], x.stride()[1:], x[i:].storage_offset())),
    (ex.row, lambda x, i: x.as_strided(x[0].size(), x[0].stride(), start(x, i))),
    (ex.row, lambda x, i: list(x)[i].as_strided(x.shape[1:], x.stride()[1:])),
    (ex.row, lambda x, i: x.as_strided(x.shape, x.stride())[i]),
    (ex.row, lambda x, i: x[i] if i else x.as_strided((x.size(1),), (x.stride(1),))),
    (ex.row, lambda x, i: x.new_empty(0).set_(
        x.untyped_storage(), x[i].storage_offset(), x[i].shape, x[i].stride())),
    (ex.row, lambda x, i: x.t().select(1, i).detach()),
    (ex.column, lambda x, j: x[:, j]),
    (ex.column, lambda x, j: x.unbind(1)[j]),
    (ex.column, lambda x, j: x.as_strided(x.shape[:1], x.stride()[:1], x[:, j:].storage_offset())),
    (ex.diagonal, lambda x: x.diagonal()),
    (ex.diagonal, lambda x: x.t().diagonal()),
    (ex.diagonal, lambda x: x.as_strided(x.diagonal().shape, (sum(x.stride()),))),
    (ex.trace, lambda x: x.trace()),
    (ex.trace, lambda x: sum(x[k, k].item() for k in range(min(x.shape)))),
    (ex.windows, lambda x, size: x.unfold(0, size, 1)),
    (ex.windows, lambda x, size: x.unfold(0, len(x) - size + 1, 1).t()),
    (ex.windows, lambda x, size: x.as_strided(x.shape, x.stride()).unfold(0, size, 1)),
    (ex.windows, lambda x, size: x.as_strided(x.unfold(0, size, 1).shape, x.stride() * 2)),
    (ex.trace, lambda x: x.as_strided(x.shape, x.stride()).trace()),
    (ex.trace, lambda x: x.as_strided(x.diagonal().shape, x.diagonal().stride()).sum()),
    (ex.trace, decoy),
    (ex.trace, lambda x: (x * torch.eye(*x.shape)).sum()),
    (ex.trace, lambda x: x.clone(memory_format=torch.contiguous_format).as_strided(
        (min(x.shape),), (x.size(1) + 1,)).sum()),
]  # fmt: skip


@pytest.mark.parametrize(("task", "answer"), NOT_BY_AS_STRIDED)
def test_what_is_right_without_as_strided_is_told_so_kindly(task, answer):
    report = task.check(answer)
    assert not report.passed and report.attempted and report.status == "note"
    said = f"· {task.name}: right on all {len(task.cases)} cases, but not by as_strided alone"
    assert report.text.startswith(said)
    assert report.hint.startswith("Right ") and "`x.as_strided(size, stride, " in report.hint
    assert task.takeaway not in report.text  # which praises what has not been done
    assert report == task.check(answer)


def test_what_is_right_without_as_strided_sees_what_it_calls():
    assert ex.trace.check(lambda x: x.t().trace()).text == (
        "· trace: right on all 12 cases, but not by as_strided alone\n"
        "  calls  trace\n"
        "  hint   Right sums. Now say yourself which elements they add, from what x alone tells: one "
        "call\n         of `x.as_strided(size, stride, storage_offset)` makes the diagonal, and `.sum()` "
        "adds\n         it up.\n"
        "         `ex.trace.hint()` shows a hint, `ex.trace.solution()` one way to write it."
    )


@pytest.mark.parametrize(("size", "stride"), [((1, 6), (1, 4)), ((1, 6), (0, 1)), ((6,), (0,))])
def test_strides_that_happen_to_show_a_row_do_not_pass(size, stride):
    assert not ex.row.check(lambda x, i: x.as_strided(size, stride)).passed


def arithmetic(shape, stride, offset, dim, start, stop, step):
    """No None, no negatives, no clamping."""
    shape, stride = list(shape), list(stride)
    shape[dim] = max(0, -(-(stop - start) // step))
    offset += start * stride[dim]
    stride[dim] *= step
    return shape, stride, offset


def test_of_several_flaws_the_one_that_shows_is_named():
    report = ex.slice_layout.check(arithmetic)
    assert "can be None" in report.hint and "= 1, None, 4, 1" in report.text
