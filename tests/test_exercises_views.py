"""The exercises of notebook 02: the references are torch's answers, other ways of thought do not pass."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, memset, shares_memory, traffic
from stridekit.cost.warp import warp_sectors
from stridekit.exercises import attention, contiguity, hardware, performance, strides
from stridekit.exercises import views as ex
from stridekit.exercises.running import describe
from stridekit.exercises.views.memory_sets import read_byte_set
from stridekit.lessons.attention import matmul_copies
from tests.strategies import tensors

# The reference solutions, against torch ---------------------------------------------------------


@given(tensors())
def test_memset_of_is_stridekits_own_memory_set(t):
    start = t.untyped_storage().data_ptr()
    found = ex.memset_of.reference(t)
    assert len(found) == len(memset(t))
    assert all(start + byte in memset(t) for byte in found)


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
        said = ex.share_bytes.reference(a, b)
        assert said == shares_memory(a, b) == np.shares_memory(np.asarray(a), np.asarray(b))


def test_permute_layout_is_that_of_permute():
    layouts = [
        ((2, 3, 4, 5), (60, 20, 5, 1)),
        ((3, 3, 1, 2), (1, 7, 0, 3)),
        ((0, 2, 1, 4), (8, 4, 4, 1)),
    ]
    for shape, stride in layouts:
        for n in range(5):
            x = torch.empty_strided(shape[:n], stride[:n])
            for dims in itertools.permutations(range(n)):
                for signed in itertools.product(*[(d, d - n) for d in dims]):
                    y = x.permute(signed)
                    expected = tuple(y.shape), y.stride()
                    assert ex.permute_layout.reference(shape[:n], stride[:n], signed) == expected


@given(tensors(2, min_ndim=2))
def test_keep_row_has_its_own_bytes_and_no_more(big):
    for i in range(big.size(0)):
        row = ex.keep_row.reference(big, i)
        assert torch.equal(row, big[i]) and row.dtype == big.dtype
        assert row.untyped_storage().nbytes() == row.numel() * row.itemsize
        assert not shares_memory(row, big)


STEPS = {
    "t": False,
    "t[...]": False,
    "t.detach()": False,
    "torch.from_numpy(t.numpy())": False,
    "t.t()": False,
    "t.contiguous()": None,
    "t.reshape(-1, 2)": None,
    "t.clone()": True,
    "t + 0": True,
    "t[[0, 1]]": True,
    "t[:2, :2]": False,
}


@given(st.lists(st.sampled_from(list(STEPS)), max_size=6))
def test_first_copy_is_where_a_write_no_longer_comes_through(names):
    x = torch.zeros(4, 6)
    steps = [eval(f"lambda t: {name}", {"torch": torch}) for name in names]
    found = ex.first_copy.reference(x, steps)
    for step in steps[:found]:
        y = step(x)
        y += 1
        assert (x != 0).any(), "the copy before it was missed"
        x = y.zero_()
    if found < len(steps):
        y = steps[found](x)
        y += 1
        assert (x == 0).all()
        assert STEPS[names[found]] is not False
    assert True not in [STEPS[name] for name in names[:found]]


@given(tensors(min_ndim=1).filter(lambda e: e.size(0) and e.dtype != torch.uint8))
def test_bump_first_leaves_e_alone_and_can_be_written_to(e):
    before = e.clone()
    y = ex.bump_first.reference(e)
    assert torch.equal(e, before) and torch.equal(y[1:], before[1:])
    assert torch.equal(y[0], before[0] + 1)
    y[0] = 99
    assert torch.equal(y[1:], before[1:])


# Right answers by other means -----------------------------------------------------------------


def memset_as_addresses_of_elements(t):
    """Ask torch for the address of each element."""
    start = t.untyped_storage().data_ptr()
    indices = itertools.product(*map(range, t.shape))
    return frozenset(t[i].data_ptr() - start + k for i in indices for k in range(t.itemsize))


def memset_by_recursion(t):
    """One dim after the other, each from where the one before it has led."""

    def beyond(first, dims):
        if not dims:
            return {*range(first * t.itemsize, (first + 1) * t.itemsize)}
        (size, step), *rest = dims
        return set().union(*(beyond(first + i * step, rest) for i in range(size)))

    return beyond(t.storage_offset(), [*zip(t.shape, t.stride(), strict=True)])


def share_by_exercise_1(a, b):
    """The sets of the exercise before, counted from memory itself."""

    def found(it):
        if isinstance(it, np.ndarray):
            return {it[i].ctypes.data + k for i in slices(it) for k in range(it.itemsize)}
        start = it.untyped_storage().data_ptr()
        return {start + byte for byte in ex.memset_of.reference(it)}

    def slices(n):
        return [tuple(slice(i, i + 1) for i in index) for index in np.ndindex(n.shape)]

    return bool(found(a) & found(b))


def share_as_bytes_of_numpy(a, b):
    """NumPy's own test, with another dtype for the one that it does not have."""
    tensors = [torch.as_tensor(it) if not isinstance(it, np.ndarray) else it for it in (a, b)]
    return np.shares_memory(
        *(it.view(torch.int16) if it.dtype == torch.bfloat16 else it for it in tensors)
    )


def first_copy_from_the_back(x, steps):
    """Call itself for the steps that are left."""
    if not steps:
        return 0
    y = steps[0](x)
    return 1 + first_copy_from_the_back(y, steps[1:]) if shares_memory(y, x) else 0


def first_copy_by_its_own_sets(x, steps):
    """All results first; then the pairs, by the bytes of exercise 2."""
    made = list(itertools.accumulate(steps, lambda t, step: step(t), initial=x))
    shared = [ex.share_bytes.reference(a, b) for a, b in itertools.pairwise(made)]
    return [*shared, False].index(False)


def permuted_by_torch(shape, stride, dims):
    """Let a tensor do it."""
    y = torch.empty_strided(shape, stride).permute(dims)
    return y.shape, y.stride()


def copy_by_writing_and_taking_back(x, steps):
    """Try it with a write, and undo that."""
    for k, step in enumerate(steps):
        y = step(x)
        shared = False
        for index in itertools.product(*map(range, y.shape)):
            before, old = x.tolist(), y[index].clone()
            y[index] += 1
            shared |= x.tolist() != before
            y[index] = old
        if not shared:
            return k
        x = y
    return len(steps)


def bump_by_hand(e):
    """A new tensor, filled row by row."""
    y = torch.empty(e.shape, dtype=e.dtype)
    for k in range(len(e)):
        y[k] = e[k] + 1 if k == 0 else e[k]
    return y


BY_OTHER_MEANS = [
    (ex.memset_of, memset_as_addresses_of_elements),
    (ex.memset_of, lambda t: ex.memset_of.reference(t) or {}),
    (ex.memset_of, memset_by_recursion),
    (ex.share_bytes, share_by_exercise_1),
    (ex.share_bytes, share_as_bytes_of_numpy),
    (ex.share_bytes, lambda a, b: torch.tensor(ex.share_bytes.reference(a, b))),
    (ex.share_bytes, lambda a, b: np.bool_(ex.share_bytes.reference(a, b))),
    (ex.permute_layout, lambda *layout: list(map(torch.tensor, ex.permute_layout.reference(*layout)))),
    (ex.permute_layout, lambda shape, stride, dims: [
        [*map(of.__getitem__, dims)] for of in (shape, stride)]),
    (ex.permute_layout, lambda shape, stride, dims: list(
        zip(*[(shape[d], stride[d]) for d in dims], strict=True)) or ((), ())),
    (ex.permute_layout, lambda *numbers: [
        np.array(of, int)[[*numbers[2]]].tolist() for of in numbers[:2]]),
    (ex.keep_row, lambda big, i: torch.clone(big[i])),
    (ex.keep_row, lambda big, i: big[i : i + 1].clone()[0]),
    (ex.keep_row, lambda big, i: big[i].to(big.dtype, copy=True)),
    (ex.keep_row, lambda big, i: big[i].repeat(1)),
    (ex.keep_row, lambda big, i: torch.tensor(big[i].tolist(), dtype=big.dtype)),
    (ex.keep_row, lambda big, i: big[[i]][0]),
    (ex.keep_row, lambda big, i: big.clone()[i].clone()),
    (ex.keep_row, lambda big, i: big[i].detach().clone(memory_format=torch.contiguous_format)),
    (ex.keep_row, lambda big, i: torch.empty_like(big[i]).copy_(big[i])),
    (ex.keep_row, lambda big, i: big.index_select(0, torch.tensor([i])).squeeze(0)),
    (ex.keep_row, lambda big, i: torch.stack([big[i]])[0]),
    (ex.keep_row, lambda big, i: big[i].new_tensor(big[i].tolist())),
    (ex.first_copy, copy_by_writing_and_taking_back),
    (ex.first_copy, lambda x, steps: torch.tensor(ex.first_copy.reference(x, steps))),
    (ex.first_copy, first_copy_from_the_back),
    (ex.first_copy, first_copy_by_its_own_sets),
    (ex.bump_first, bump_by_hand),
    (ex.bump_first, lambda e: e + torch.eye(len(e), 1, dtype=e.dtype).view(-1, *[1] * (e.ndim - 1))),
    (ex.bump_first, lambda e: torch.where(
        (torch.arange(len(e)) == 0).view(-1, *[1] * (e.ndim - 1)), e + 1, e)),
    (ex.bump_first, lambda e: ex.bump_first.reference(e * 1)),
    (ex.bump_first, lambda e: torch.cat([e[:1] + 1, e[1:]])),
    (ex.bump_first, lambda e: torch.stack([row + (k == 0) for k, row in enumerate(e)])),
    (ex.bump_first, lambda e: torch.clone(e, memory_format=torch.contiguous_format).index_add_(
        0, torch.tensor([0]), torch.ones_like(e[:1]))),
]  # fmt: skip


def memset_by_stridekit(t):
    """Every byte of the storage, asked one by one."""
    storage = t.untyped_storage()
    return {b for b in range(storage.nbytes()) if storage.data_ptr() + b in memset(t)}


BY_STRIDEKIT = [
    (ex.memset_of, memset_by_stridekit, "memset"),
    (ex.share_bytes, shares_memory, "shares_memory"),
    (ex.share_bytes, lambda a, b: not memset(a).isdisjoint(memset(b)), "memset"),
    (ex.share_bytes, lambda a, b: any(map(shares_memory, [a], [b])), "shares_memory"),
    (ex.permute_layout, lambda s, t, dims: ((x := Layout(s, t).permute(dims)).shape, x.stride), "Layout"),
    (strides.contiguous_stride, lambda shape: Layout([n or 1 for n in shape]).stride, "Layout"),
    (contiguity.is_contiguous, lambda *layout: np.bool_(Layout(*layout).is_contiguous()), "Layout"),
    (contiguity.clone_stride, lambda *layout: Layout(*layout).clone().stride, "Layout"),
    (contiguity.mergeable, lambda s, t, d: not Layout(s, t).why_not_view(
        *s[:d], s[d] * s[d + 1], *s[d + 2 :]), "Layout"),
    (attention.matmul_clones, lambda a, b: matmul_copies(a, b)[:2], "matmul_copies"),
    (performance.cache_lines, lambda *layout: traffic(Layout(*layout)).lines_read, "traffic"),
    (performance.bytes_moved, lambda x, y, out: traffic(reads=(x, y), writes=out).moved, "traffic"),
    (hardware.warp_sectors, lambda stride, offset, itemsize: warp_sectors(
        Layout((32,), (stride,), offset, itemsize)).sectors, "warp_sectors"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "answer", "name"), BY_STRIDEKIT)
def test_who_hands_the_task_to_stridekit_is_told_so(task, answer, name):
    """The call is named, as the log has it; the own way is still asked for."""
    report = task.check(answer)
    assert report.status == "note" and report.hint.startswith(
        f"The right answer, by `stridekit.{name}`"
    )
    assert task.check(task.reference).passed


@pytest.mark.parametrize(("task", "answer"), BY_OTHER_MEANS)
def test_right_answers_by_other_means_pass(task, answer):
    assert task.check(answer).passed, task.check(answer)


# Readers, and reports about arrays --------------------------------------------------------------


def test_runs_of_bytes_are_shown_and_long_lists_are_cut():
    t = torch.zeros(100, dtype=torch.int16)
    assert read_byte_set({2 * k for k in range(40)}, {"t": t}).shown == (
        "40 bytes: 0, 2, 4, 6, 8, 10, …"
    )


def test_arrays_of_a_case_are_described_and_guarded():
    report = ex.share_bytes.check(lambda a, b: isinstance(a, np.ndarray) != shares_memory(a, b))
    assert "array of shape" in report.text and "in bytes, 8 bytes an element" in report.text

    def writes(a, b):
        said = shares_memory(a, b)
        if isinstance(a, np.ndarray) and a.size:
            a[...] = 9
        return said

    assert "`a` is no longer what it was before the call" in ex.share_bytes.check(writes).text
    assert (
        describe(np.zeros((2, 3), np.int16)[:, ::-1])
        == "array of shape (2, 3), strides (6, -2) in bytes"
    )


def test_a_row_kept_for_its_values_alone_is_told_what_it_keeps():
    assert ex.keep_row.check(lambda big, i: big[i]).text.startswith(
        "✗ keep_row: not yet (right on 0 of 15 cases)\n"
        "  input     big = torch.arange(24).view(4, 6); i = 1\n"
        "            big: shape (4, 6), stride (6, 1), storage_offset 0, 8 bytes an element\n"
        "  expected  torch.int64, shape (6,), on a storage of its own of 48 bytes\n"
        "  yours     torch.int64, shape (6,), on big's storage of 192 bytes\n"
        "  differs   storage\n"
    )
