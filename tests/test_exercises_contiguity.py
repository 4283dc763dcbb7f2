"""The exercises of notebook 03: the references are torch's answers, other formulas do not pass."""

import itertools
import math

import numpy as np
import pytest
import torch

from stridekit import Layout
from stridekit.exercises import contiguity as ex
from stridekit.exercises.readers.answers import free_where_unused
from stridekit.exercises.readers.copies import CopyLog
from tests.wrong_answers.contiguity import torch_view


def layouts(ndim, sizes=range(4), strides=range(5)):
    """Every shape and stride of `ndim` dims."""
    for shape in itertools.product(sizes, repeat=ndim):
        for stride in itertools.product(strides, repeat=ndim):
            yield shape, stride


def new_shapes(numel, ndim):
    """Every shape of `ndim` dims and `numel` elements."""
    if ndim == 0:
        return [()] if numel == 1 else []
    heads = [n for n in range(1, numel + 1) if numel % n == 0]
    return [(n, *rest) for n in heads for rest in new_shapes(numel // n, ndim - 1)]


def refused(shape, stride, new_shape):
    """True if torch refuses the view."""
    return torch_view(shape, stride, new_shape) is None


# The reference solutions, against torch ---------------------------------------------------------


def test_is_contiguous_is_torch_s_answer():
    for ndim in range(4):
        for shape, stride in layouts(ndim):
            theirs = torch.empty_strided(shape, stride, device="meta").is_contiguous()
            assert ex.is_contiguous.reference(shape, stride) == theirs, (shape, stride)


@pytest.mark.parametrize("ndim", [2, 3])
def test_mergeable_is_true_where_torch_makes_the_view(ndim):
    for shape, stride in layouts(ndim, strides=(0, 1, 2, 3, 6)):
        for d in range(ndim - 1):
            merged = (*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :])
            expected = not refused(shape, stride, merged)
            assert ex.mergeable.reference(shape, stride, d) == expected, (shape, stride, d)


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
def test_view_stride_is_that_of_the_view(ndim):
    for shape, stride in layouts(ndim, (1, 2, 3, 4), (0, 1, 2, 4) if ndim == 3 else range(9)):
        for new_shape in [s for k in range(4) for s in new_shapes(math.prod(shape), k)]:
            ours = ex.view_stride.reference(shape, stride, new_shape)
            theirs = torch_view(shape, stride, new_shape)
            assert (ours is None) == (theirs is None), (shape, stride, new_shape)
            if ours is not None:
                free = [free_where_unused(new_shape, s) for s in (ours, theirs)]
                assert free[0] == free[1], (shape, stride, new_shape)


def test_a_view_of_no_elements_always_exists():
    for shape, new_shape in itertools.product(itertools.product(range(3), repeat=3), repeat=2):
        if 0 in shape and 0 in new_shape:
            assert not refused(shape, (5, 2, 9), new_shape)
            assert ex.view_stride.reference(shape, (5, 2, 9), new_shape) is not None


def test_clone_stride_is_that_of_the_clone():
    for ndim in range(4):
        for shape, stride in layouts(ndim, (1, 2, 3), (0, 1, 2, 4, 7, 9)):
            steps = [s for s in stride if s > 0]
            if len(steps) == len(set(steps)):
                clone = torch.empty_strided(shape, stride).clone()
                ours = ex.clone_stride.reference(shape, stride)
                free = [free_where_unused(shape, s) for s in (ours, clone.stride())]
                assert free[0] == free[1], (shape, stride)


def given(x):
    """The line that the task of by_columns gives."""
    return x.contiguous().transpose(1, 2).contiguous().view(x.size(0), x.size(1) * x.size(2))


def tensors():
    """Tensors of three dims: whole, cut, stepped, turned, expanded, empty."""
    whole = torch.arange(4 * 5 * 6).view(4, 5, 6)
    for order in itertools.permutations(range(3)):
        x = whole.permute(order)
        yield from (x, x[1:], x[:, ::2], x[:, :, 1:3], x[:, 1:2], x[..., :1], x[:, :0])
        yield from (x[:1].expand(3, -1, -1), x[:, :, :1].expand(-1, -1, 4))


def turned(x):
    """The shape and the stride of x with its columns for rows."""
    y = x.transpose(1, 2)
    return tuple(y.shape), y.stride()


def test_by_columns_is_the_given_line_with_no_needless_copy():
    for x in tensors():
        expected = given(x)
        with CopyLog(x) as log:
            ours = ex.by_columns.reference(x)
        assert torch.equal(ours, expected) and not log.is_outside(ours)
        most = 0 if x.transpose(1, 2).is_contiguous() else x.numel() * x.element_size()
        assert sum(nbytes for _, nbytes in log.copies) in {0, most}
        assert bool(log.copies) == (x.numel() > 0 and refused(*turned(x), ours.shape))


def test_unviewable_is_refused_and_none_only_where_nothing_is():
    for ndim in range(4):
        for shape, stride in layouts(ndim, range(4), (0, 1, 2, 3, 6)):
            answer = ex.unviewable.reference(shape, stride)
            if answer is not None:
                assert math.prod(answer) == math.prod(shape) and refused(shape, stride, answer)
            elif math.prod(shape):
                every = [s for k in range(4) for s in new_shapes(math.prod(shape), k)]
                assert not any(refused(shape, stride, s) for s in every)


# Right answers by other means -----------------------------------------------------------------


def some_refused_shape(shape, stride):
    """The last refused shape of three dims, not the flat one."""
    for new_shape in new_shapes(math.prod(shape), 3)[::-1] + new_shapes(math.prod(shape), 1):
        if Layout(shape, stride).why_not_view(new_shape):
            return list(new_shape)
    return None


def columns_into_new_memory_if_needed(x):
    """Allocate and copy by hand."""
    n, h, w = x.shape
    if x.transpose(1, 2).is_contiguous():
        return x.as_strided((n, h * w), (h * w, 1))
    new = torch.empty(n, w, h, dtype=x.dtype)
    return new.copy_(x.transpose(1, 2)).view(n, h * w)


def evenly(shape, stride, new_shape):
    """Lay out the places in reading order, and look if they step evenly in the new shape."""
    if 0 in shape:
        return [0] * len(new_shape)
    grid = np.indices(shape).reshape(len(shape), math.prod(shape))
    places = (np.array(stride, dtype=int) @ grid).reshape(new_shape)
    steps = [np.unique(np.diff(places, axis=d)) for d in range(len(new_shape))]
    return None if any(len(s) > 1 for s in steps) else [int(s[0]) if len(s) else 7 for s in steps]


def into_place(shape, stride):
    """Sort the dims by stride, as torch does: by swaps, from which stride 0 keeps out."""
    order = list(range(len(shape)))[::-1]
    for i, j in itertools.product(range(len(shape)), repeat=2):
        a, b = (stride[order[k]] for k in (i, j))
        if i < j and 0 not in (a, b) and a > b:
            order[i], order[j] = order[j], order[i]
    sizes = itertools.accumulate([1, *(shape[d] or 1 for d in order)], int.__mul__)
    steps = dict(zip(order, sizes, strict=False))
    return [steps[d] for d in range(len(shape))]


BY_OTHER_MEANS = [
    (ex.view_stride, evenly),
    (ex.clone_stride, into_place),
    (
        ex.mergeable,
        lambda shape, stride, d: (
            0 in shape
            or evenly(shape[d : d + 2], stride[d : d + 2], (shape[d] * shape[d + 1],)) is not None
        ),
    ),
    (
        ex.unviewable,
        lambda *layout: (-1,) if evenly(*layout, (math.prod(layout[0]),)) is None else None,
    ),
    (
        ex.by_columns,
        lambda x: x.mT.contiguous().view(len(x), x.size(1) * x.size(2)),
    ),
    (ex.by_columns, lambda x: x.mT.flatten(1)),
    (ex.by_columns, lambda x: torch.einsum("nhw->nwh", x).reshape(len(x), x.size(1) * x.size(2))),
    (ex.is_contiguous, lambda *layout: np.bool_(ex.is_contiguous.reference(*layout))),
    (ex.is_contiguous, lambda *args: torch.tensor(ex.is_contiguous.reference(*args))),
    (ex.clone_stride, lambda *layout: [*ex.clone_stride.reference(*layout)]),
    (ex.by_columns, lambda x: x.mT.ravel().view(x.size(0), x.size(1) * x.size(2))),
    (ex.by_columns, lambda x: x.permute(0, 2, 1).contiguous().flatten(1)),
    (ex.by_columns, columns_into_new_memory_if_needed),
    (ex.by_columns, lambda x: x.transpose(1, 2).flatten(1).contiguous()),
    (ex.unviewable, some_refused_shape),
    (
        ex.unviewable,
        lambda shape, stride: (-1,) if ex.unviewable.reference(shape, stride) else None,
    ),
]


@pytest.mark.parametrize(("task", "answer"), BY_OTHER_MEANS)
def test_right_answers_by_other_means_pass(task, answer):
    assert task.check(answer).passed, task.check(answer)


# Where there is nothing to find ---------------------------------------------------------------


@pytest.mark.parametrize("task", [ex.view_stride, ex.unviewable])
def test_none_is_an_answer_where_there_is_nothing_to_find(task):
    report = task.check(lambda *args: None if len(args[0]) > 1 else task.reference(*args))
    assert report.status == "failed" and "yours     None" in report.text


def test_a_shape_with_a_minus_one_stands_for_what_it_would_be():
    report = ex.unviewable.check(lambda shape, stride: (-1, 1))
    assert "torch makes that view" in report.text
    assert "expected  None" in report.text
