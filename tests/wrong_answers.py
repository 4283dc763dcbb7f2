"""Wrong answers, as people write them, and a few words of the hint that each of them should get.

They are written on their own, not derived from the mistakes that the exercises know: what matters
is that a check recognises the reasoning in other people's code.
"""

import ctypes
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch

from stridekit.exercises import Exercise
from stridekit.exercises import strides as ex


class Wrong(NamedTuple):
    """A wrong answer to an exercise, and words that only its own hint has."""

    exercise: Exercise
    words: str
    answer: Callable


WRONG: list[Wrong] = []


def wrong(exercise, words):
    """Collect the decorated function as a wrong answer."""

    def collect(answer):
        WRONG.append(Wrong(exercise, words, answer))
        return answer

    return collect


# address --------------------------------------------------------------------------------------


@wrong(ex.address, "Try a slice")
def address_without_offset(t, index):
    where = 0
    for i, s in zip(index, t.stride(), strict=True):
        where += i * s * t.element_size()
    return where


@wrong(ex.address, "That is the number of the element")
def address_in_elements(t, index):
    where = t.storage_offset()
    for d in range(t.ndim):
        where += index[d] * t.stride(d)
    return where


@wrong(ex.address, "`t.storage_offset()` counts elements, not bytes")
def address_with_bare_offset(t, index):
    return t.storage_offset() + t.itemsize * sum(
        map(math.prod, zip(index, t.stride(), strict=True))
    )


@wrong(ex.address, "the steps are still in elements")
def address_with_numpy_strides_in_mind(t, index):
    return t.storage_offset() * t.itemsize + sum(
        i * s for i, s in zip(index, t.stride(), strict=True)
    )


@wrong(ex.address, "as if t were freshly made")
def address_by_fresh_strides(t, index):
    fresh = torch.empty(t.shape).stride()
    return (t.storage_offset() + sum(i * s for i, s in zip(index, fresh, strict=True))) * t.itemsize


@wrong(ex.address, "in reading order")
def address_of_the_flat_index(t, index):
    flat = 0
    for i, n in zip(index, t.shape, strict=True):
        flat = flat * n + i
    return flat * t.itemsize


@wrong(ex.address, "another one at every run")
def address_in_the_process(t, index):
    return t[index].data_ptr()


@wrong(ex.address, "You took 4 bytes an element for granted")
def address_of_float32(t, index):
    return 4 * (sum(i * s for i, s in zip(index, t.stride(), strict=True)) + t.storage_offset())


@wrong(ex.address, "off the value")
def address_from_the_value(t, index):
    return t[index].to(torch.int64).item() * t.element_size()


# contiguous_stride ----------------------------------------------------------------------------


@wrong(ex.contiguous_stride, "Walk one row")
def stride_from_the_neighbour(shape):
    return [shape[d + 1] if d + 1 < len(shape) else 1 for d in range(len(shape))]


@wrong(ex.contiguous_stride, "That is the shape")
def stride_is_the_shape(shape):
    return list(shape)


@wrong(ex.contiguous_stride, "also counts the size of d itself")
def stride_with_its_own_size(shape):
    strides, step = [], 1
    for n in shape[::-1]:
        step *= n or 1
        strides = [step, *strides]
    return strides


@wrong(ex.contiguous_stride, "column-major")
def stride_of_fortran(shape):
    strides, step = [], 1
    for n in shape:
        strides.append(step)
        step *= max(1, n)
    return tuple(strides)


@wrong(ex.contiguous_stride, "from back to front")
def stride_not_turned_round(shape):
    strides, step = [], 1
    for n in shape[::-1]:
        strides.append(step)
        step *= max(1, n)
    return tuple(strides)


@wrong(ex.contiguous_stride, "A size of 0 wipes out your product")
def stride_zeroed(shape):
    return tuple(math.prod(shape[d:]) for d in range(1, len(shape) + 1))


@wrong(ex.contiguous_stride, "Nobody ever steps along it")
def stride_of_one_is_zero(shape):
    real = torch.empty(shape).stride()
    return [s * (n != 1) for n, s in zip(shape, real, strict=True)]


@wrong(ex.contiguous_stride, "strides in bytes")
def stride_of_numpy(shape):
    return np.empty(shape).strides


# slice_layout ---------------------------------------------------------------------------------


def sliced(shape, stride, offset, dim, start, stop, step):
    """What torch answers, for wrong answers that go astray in one place."""
    storage = torch.empty(1000)
    x = storage.as_strided(shape, stride, offset)
    y = x[(slice(None),) * dim + (slice(start, stop, step),)]
    return list(y.shape), list(y.stride()), y.storage_offset()


@wrong(ex.slice_layout, "the new stride is `step` times the old one")
def slice_with_the_old_stride(shape, stride, offset, dim, start, stop, step):
    new_shape, _, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    return new_shape, stride, new_offset


@wrong(ex.slice_layout, "does not hold x[0]")
def slice_at_the_old_offset(shape, stride, offset, dim, start, stop, step):
    kept = range(shape[dim])[start:stop:step]
    shape, stride = list(shape), list(stride)
    shape[dim], stride[dim] = len(kept), stride[dim] * step
    return shape, stride, offset


@wrong(ex.slice_layout, "it can be a slice already")
def slice_from_the_storage_start(shape, stride, offset, dim, start, stop, step):
    first = slice(start, stop).indices(shape[dim])[0]
    new_shape, new_stride, _ = sliced(shape, stride, offset, dim, start, stop, step)
    return new_shape, new_stride, first * stride[dim]


@wrong(ex.slice_layout, "the offset counts elements of the storage")
def slice_moved_by_start(shape, stride, offset, dim, start, stop, step):
    first = slice(start, stop).indices(shape[dim])[0]
    new_shape, new_stride, _ = sliced(shape, stride, offset, dim, start, stop, step)
    return new_shape, new_stride, offset + first


@wrong(ex.slice_layout, "the new, longer ones")
def slice_moved_after_the_stride_has_changed(shape, stride, offset, dim, start, stop, step):
    start, stop, step = slice(start, stop, step).indices(shape[dim])
    shape, stride = list(shape), list(stride)
    stride[dim] *= step
    shape[dim] = len(range(start, stop, step))
    return shape, stride, offset + start * stride[dim]


@wrong(ex.slice_layout, "You round the size down")
def slice_of_floored_size(shape, stride, offset, dim, start, stop, step):
    start, stop, step = slice(start, stop, step).indices(shape[dim])
    shape, stride = list(shape), list(stride)
    shape[dim] = max(0, (stop - start) // step)
    moved = offset + start * stride[dim]
    stride[dim] *= step
    return shape, stride, moved


@wrong(ex.slice_layout, "Your size is stop - start")
def slice_of_stop_minus_start(shape, stride, offset, dim, start, stop, step):
    start, stop, step = slice(start, stop, step).indices(shape[dim])
    shape, stride = list(shape), list(stride)
    shape[dim] = max(0, stop - start)
    moved = offset + start * stride[dim]
    stride[dim] *= step
    return shape, stride, moved


def arithmetic(shape, stride, offset, dim, start, stop, step):
    """Ceil, multiply, add: right wherever 0 <= start <= stop <= size."""
    shape, stride = list(shape), list(stride)
    shape[dim] = max(0, math.ceil((stop - start) / step))
    moved = offset + start * stride[dim]
    stride[dim] *= step
    return shape, stride, moved


@wrong(ex.slice_layout, "can be None")
def slice_of_plain_numbers(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    start = max(start + n, 0) if start < 0 else min(start, n)
    stop = max(stop + n, 0) if stop < 0 else min(stop, n)
    return arithmetic(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "A slice may reach past the end")
def slice_past_the_end(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    start = 0 if start is None else start
    stop = n if stop is None else stop
    start, stop = start + n * (start < 0), stop + n * (stop < 0)
    return arithmetic(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "A negative bound counts from the end")
def slice_by_negatives(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    start = min(start or 0, n)
    stop = n if stop is None else min(stop, n)
    return arithmetic(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "torch does not make an exception")
def slice_of_nothing_stays(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    return (new_shape, new_stride, new_offset if new_shape[dim] else offset)


# recover_slice --------------------------------------------------------------------------------


@wrong(ex.recover_slice, "You look for view's values in base")
def recovered_by_equality(base, view):
    n = len(base)
    for start in range(n + 1):
        for step in range(1, n + 1):
            s = slice(start, start + step * len(view), step)
            if base[s].tolist() == view.tolist():
                return s
    return slice(0)


@wrong(ex.recover_slice, "You look for view's values in base")
def recovered_by_looking_up(base, view):
    places = [(base == value).nonzero()[0].item() for value in view]
    step = places[1] - places[0] if len(places) > 1 else 1
    return slice(places[0], places[-1] + 1, step)


@wrong(ex.recover_slice, "You count from the start of the storage")
def recovered_from_the_storage(base, view):
    step = view.stride()[0] // base.stride()[0]
    start = view.storage_offset() // base.stride()[0]
    return slice(start, start + len(view) * step, step)


@wrong(ex.recover_slice, "Your numbers count elements of the storage")
def recovered_in_storage_elements(base, view):
    start = view.storage_offset() - base.storage_offset()
    step = view.stride()[0]
    return slice(start, start + len(view) * step, step)


@wrong(ex.recover_slice, "start is right")
def recovered_with_a_long_step(base, view):
    start = (view.storage_offset() - base.storage_offset()) // base.stride(0)
    step = view.stride(0)
    return slice(start, start + len(view) * step, step)


@wrong(ex.recover_slice, "The step is right")
def recovered_with_a_far_start(base, view):
    start = view.storage_offset() - base.storage_offset()
    step = view.stride(0) // base.stride(0)
    return slice(start, start + len(view) * step, step)


def start_and_step(base, view):
    """The right two of three numbers."""
    step = view.stride(0) // base.stride(0)
    return (view.storage_offset() - base.storage_offset()) // base.stride(0), step


@wrong(ex.recover_slice, "One too few")
def recovered_without_the_last(base, view):
    start, step = start_and_step(base, view)
    last = start + (len(view) - 1) * step
    return slice(start, last, step)


@wrong(ex.recover_slice, "One too many")
def recovered_with_one_more(base, view):
    start, step = start_and_step(base, view)
    return slice(start, start + len(view) * step + 1, step)


@wrong(ex.recover_slice, "every kept element takes a whole step")
def recovered_with_a_short_stop(base, view):
    start, step = start_and_step(base, view)
    return slice(start, start + len(view), step)


@wrong(ex.recover_slice, "runs on to the end of base")
def recovered_without_a_stop(base, view):
    start, step = start_and_step(base, view)
    return slice(start, len(base), step)


@wrong(ex.recover_slice, "an empty view has no element to point to")
def recovered_with_data_ptr(base, view):
    _, step = start_and_step(base, view)
    distance = (view.data_ptr() - base.data_ptr()) // view.itemsize
    start = distance // base.stride(0)
    return slice(start, start + len(view) * step, step)


@wrong(ex.recover_slice, "Right while view has an element")
def recovered_up_to_the_last(base, view):
    start, step = start_and_step(base, view)
    last = start + (len(view) - 1) * step
    return slice(start, last + 1, step)


# raw_bytes ------------------------------------------------------------------------------------


@wrong(ex.raw_bytes, "You start at t's own first element")
def bytes_past_the_end(t):
    return ctypes.string_at(t.data_ptr(), len(t.untyped_storage()))


@wrong(ex.raw_bytes, "You start at the right byte and stop too soon")
def bytes_of_numel(t):
    return ctypes.string_at(t.untyped_storage().data_ptr(), t.nbytes)


@wrong(ex.raw_bytes, "as if they lay in one piece")
def bytes_of_t_alone(t):
    return ctypes.string_at(t.data_ptr(), t.nbytes)


@wrong(ex.raw_bytes, "a tidy copy")
def bytes_of_numpy(t):
    return t.numpy().tobytes()


@wrong(ex.raw_bytes, "but too short a way")
def bytes_back_by_elements(t):
    size = t.untyped_storage().nbytes()
    return ctypes.string_at(t.data_ptr() - t.storage_offset(), size)


@wrong(ex.raw_bytes, "Your size counts elements")
def bytes_by_the_element(t):
    storage = t.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), len(storage) // t.itemsize)


@wrong(ex.raw_bytes, "is in bytes already")
def bytes_of_bytes(t):
    storage = t.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), len(storage) * t.itemsize)


@wrong(ex.raw_bytes, "takes the bytes for a C string")
def bytes_of_a_c_string(t):
    return ctypes.string_at(t.untyped_storage().data_ptr())


@wrong(ex.raw_bytes, "An empty view has none to point to")
def bytes_back_from_nothing(t):
    size = t.untyped_storage().nbytes()
    return ctypes.string_at(t.data_ptr() - t.storage_offset() * t.itemsize, size)


# row ------------------------------------------------------------------------------------------


@wrong(ex.row, "counts from the start of the storage, not from x")
def row_relative(x, i):
    return x.as_strided(size=x.shape[1:], stride=x.stride()[1:], storage_offset=i * x.stride(0))


@wrong(ex.row, "You step from column to column by 1")
def row_of_ones(x, i):
    return torch.as_strided(x, (x.shape[1],), (1,), x[i].storage_offset())


@wrong(ex.row, "You go from row to row by the number of columns")
def row_packed(x, i):
    columns = x.shape[1]
    return x.as_strided((columns,), (x.stride(1),), i * columns + x.storage_offset())


@wrong(ex.row, "fit a freshly made matrix and no other")
def row_hard_coded(x, i):
    _, columns = x.shape
    return x.as_strided((columns,), (1,), columns * i)


@wrong(ex.row, "That is column i")
def row_confused_with_a_column(x, i):
    if i >= x.size(1):
        raise IndexError("no such column")
    return x[:, i]


@wrong(ex.row, "Your row starts i elements into x")
def row_from_i(x, i):
    return x.as_strided([x.size(1)], [x.stride(1)], x.storage_offset() + i)


@wrong(ex.row, "That is row 0, whatever i is")
def row_always_the_first(x, i):
    return x[0]


@wrong(ex.row, "You kept the row's dim")
def row_of_two_dims(x, i):
    return x.as_strided((1, x.size(1)), x.stride(), x.storage_offset() + i * x.stride(0))


@wrong(ex.row, "in new memory")
def row_as_a_new_tensor(x, i):
    return torch.stack(list(x[i])) if x.size(1) else torch.empty(0, dtype=x.dtype)


@wrong(ex.row, "gives x back only if x is contiguous")
def row_of_a_tidy_x(x, i):
    x = x.contiguous()
    return x.as_strided((x.size(1),), (1,), x.storage_offset() + i * x.size(1))


# column ---------------------------------------------------------------------------------------


@wrong(ex.column, "counts from the start of the storage, not from x")
def column_relative(x, j):
    return x.as_strided(x.shape[:1], x.stride()[:1], j * x.stride(1))


@wrong(ex.column, "You step down by the number of columns")
def column_packed(x, j):
    return x.as_strided((len(x),), (x.shape[1],), x[:, j].storage_offset())


@wrong(ex.column, "You start j elements into x")
def column_from_j(x, j):
    return x.as_strided((len(x),), (x.stride(0),), x.storage_offset() + j)


@wrong(ex.column, "fit a freshly made matrix and no other")
def column_hard_coded(x, j):
    rows, columns = x.shape
    return x.as_strided((rows,), (columns,), j)


@wrong(ex.column, "walk along the row")
def column_sideways(x, j):
    return x.as_strided((len(x),), (x.stride(1),), x.storage_offset() + j * x.stride(1))


@wrong(ex.column, "That is row j")
def column_confused_with_a_row(x, j):
    start = x.storage_offset() + j * x.stride(0)
    return x.as_strided((x.shape[1],), (x.stride(1),), start)


@wrong(ex.column, "The steps are right, their number is not")
def column_too_long(x, j):
    start = x.storage_offset() + j * x.stride(1)
    return x.as_strided((x.shape[1],), (x.stride(0),), start)


@wrong(ex.column, "That is column 0, whatever j is")
def column_always_the_first(x, j):
    return x.as_strided(x.shape[:1], x.stride()[:1])


@wrong(ex.column, "You kept the column's dim")
def column_of_two_dims(x, j):
    return x.as_strided((len(x), 1), x.stride(), x.storage_offset() + j * x.stride(1))


@wrong(ex.column, "in new memory")
def column_as_a_new_tensor(x, j):
    return torch.tensor([line[j] for line in x.tolist()], dtype=x.dtype)


@wrong(ex.column, "gives x back only if x is contiguous")
def column_of_a_tidy_x(x, j):
    x = x.contiguous()
    return x.as_strided((len(x),), (x.size(1),), x.storage_offset() + j)


# diagonal -------------------------------------------------------------------------------------


@wrong(ex.diagonal, "counts from the start of the storage, not from x")
def diagonal_relative(x):
    return x.as_strided((min(x.shape),), (sum(x.stride()),), 0)


@wrong(ex.diagonal, "the number of columns plus one")
def diagonal_of_a_new_matrix(x):
    return x.as_strided((min(x.size()),), (x.size(1) + 1,), x.storage_offset())


@wrong(ex.diagonal, "You only go down")
def diagonal_down(x):
    return x.as_strided((min(x.size()),), (x.stride(0),))


@wrong(ex.diagonal, "taller than wide")
def diagonal_of_n_rows(x):
    return x.as_strided((len(x),), (sum(x.stride()),), x.storage_offset())


@wrong(ex.diagonal, "wider than tall")
def diagonal_of_n_columns(x):
    return x.as_strided((x.shape[1],), (sum(x.stride()),), x.storage_offset())


@wrong(ex.diagonal, "in new memory")
def diagonal_as_a_new_tensor(x):
    return torch.tensor([x[k, k] for k in range(min(x.shape))], dtype=x.dtype)


@wrong(ex.diagonal, "gives x back only if x is contiguous")
def diagonal_of_a_tidy_x(x):
    x = x.contiguous()
    return x.as_strided((min(x.shape),), (sum(x.stride()),), x.storage_offset())


# trace ----------------------------------------------------------------------------------------


@wrong(ex.trace, "counts from the start of the storage, not from x")
def trace_relative(x):
    return x.as_strided((min(x.shape),), (sum(x.stride()),), 0).sum()


@wrong(ex.trace, "(number of columns + 1)th element")
def trace_of_a_new_matrix(x):
    return x.as_strided((min(x.shape),), (x.size(1) + 1,), x.storage_offset()).sum()


@wrong(ex.trace, "You add up the first column")
def trace_down(x):
    return x[: min(x.shape), :1].sum()


@wrong(ex.trace, "taller than wide")
def trace_of_n_rows(x):
    return x.as_strided((len(x),), (sum(x.stride()),), x.storage_offset()).sum()


@wrong(ex.trace, "wider than tall")
def trace_of_n_columns(x):
    return x.as_strided((x.shape[1],), (sum(x.stride()),), x.storage_offset()).sum()


@wrong(ex.trace, "You add up all of x")
def trace_of_everything(x):
    return sum(sum(line) for line in x.tolist())


@wrong(ex.trace, "Only the `.sum()` is missing")
def trace_not_summed(x):
    return x.as_strided((min(x.shape),), (sum(x.stride()),), x.storage_offset())


# windows --------------------------------------------------------------------------------------


@wrong(ex.windows, "counts from the start of the storage, not from x")
def windows_relative(x, size):
    return x.as_strided((len(x) - size + 1, size), x.stride() * 2, 0)


@wrong(ex.windows, "stand side by side")
def windows_apart(x, size):
    s = x.stride(0)
    return x.as_strided((len(x) // size, size), (size * s, s), x.storage_offset())


@wrong(ex.windows, "Your steps are 1")
def windows_of_ones(x, size):
    return x.as_strided((len(x) - size + 1, size), (1, 1), x.storage_offset())


@wrong(ex.windows, "One window is missing")
def windows_too_few(x, size):
    s = x.stride(0)
    return x.as_strided((len(x) - size, size), (s, s), x.storage_offset())


@wrong(ex.windows, "A window for every element")
def windows_too_many(x, size):
    s = x.stride(0)
    return x.as_strided((len(x), size), (s, s), x.storage_offset())


@wrong(ex.windows, "Your windows are the columns")
def windows_upright(x, size):
    s = x.stride(0)
    return x.as_strided((size, len(x) - size + 1), (s, s), x.storage_offset())


@wrong(ex.windows, "in new memory")
def windows_stacked(x, size):
    return torch.stack([x[k : k + size] for k in range(len(x) - size + 1)])


@wrong(ex.windows, "gives x back only if x is contiguous")
def windows_of_a_tidy_x(x, size):
    x = x.contiguous()
    return x.as_strided((len(x) - size + 1, size), (x.stride(0),) * 2, x.storage_offset())
