"""Wrong answers to the exercises of notebook 01."""

import ctypes
import math

import numpy as np
import torch

from stridekit.exercises import strides as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, TOO_FAR, unnamed, wrong

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


@wrong(ex.address, "made for a certain number of dims")
def address_of_three_dims(t, index):
    steps = sum(i * s for i, s in list(zip(index, t.stride(), strict=True))[:3])
    return (t.storage_offset() + steps) * t.itemsize


@wrong(ex.address, "made for a certain number of dims")
def address_of_four_dims(t, index):
    where = t.storage_offset()
    for d in range(min(t.ndim, 4)):
        where += index[d] * t.stride(d)
    return where * t.itemsize


@wrong(ex.address, "made for a certain number of dims")
def address_of_a_matrix(t, index):
    return (t.storage_offset() + index[0] * t.stride(0) + index[1] * t.stride(1)) * t.itemsize


@wrong(ex.address, "made for a certain number of dims")
def address_of_two_names(t, index):
    i, j = index
    return (t.storage_offset() + i * t.stride(0) + j * t.stride(1)) * t.itemsize


@wrong(ex.address, "the first index with the last stride")
def address_back_to_front(t, index):
    steps = sum(i * s for i, s in zip(reversed(index), t.stride(), strict=True))
    return t.itemsize * (t.storage_offset() + steps)


@unnamed(ex.address)
def address_of_the_next_byte(t, index):
    return ex.address.reference(t, index) + 1


@unnamed(ex.address)
def address_in_bits(t, index):
    return ex.address.reference(t, index) * 8


@unnamed(ex.address)
def address_counted_from_one(t, index):
    steps = sum((i + 1) * s for i, s in zip(index, t.stride(), strict=True))
    return (t.storage_offset() + steps) * t.itemsize


@unnamed(ex.address)
def address_of_sizes(t, index):
    return (t.storage_offset() + sum(map(math.prod, zip(index, t.shape, strict=True)))) * t.itemsize


@unnamed(ex.address)
def address_with_bytes_twice(t, index):
    steps = sum(map(math.prod, zip(index, t.stride(), strict=True)))
    return (t.storage_offset() * t.itemsize + steps) * t.itemsize


@wrong(ex.address, "in reading order")
def address_in_a_copy(t, index):
    copy = t.contiguous()
    return copy[index].data_ptr() - copy.untyped_storage().data_ptr()


@unnamed(ex.address)
def address_of_few_dims_by_heart(t, index):
    return ex.address.reference(t, index) if t.ndim < 3 else 0


@unnamed(ex.address)
def address_aligned_to_four(t, index):
    return ex.address.reference(t, index) // 4 * 4


@unnamed(ex.address)
def address_never_zero(t, index):
    return ex.address.reference(t, index) or 1


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


@wrong(ex.contiguous_stride, "A size of 0 wipes out your product")
def stride_by_division(shape):
    strides, step = [], math.prod(shape)
    for n in shape:
        step //= n
        strides.append(step)
    return strides


@wrong(ex.contiguous_stride, "A size of 0 wipes out your product")
def stride_by_careful_division(shape):
    strides, step = [], math.prod(shape)
    for n in shape:
        step //= n or 1
        strides.append(step)
    return strides


@wrong(ex.contiguous_stride, "strides in bytes")
def stride_of_a_float32_array(shape):
    return [4 * step for step in torch.empty(shape).stride()]


@wrong(ex.contiguous_stride, "its stride need not be 1")
def stride_of_one_is_one(shape):
    return [1 if n == 1 else s for n, s in zip(shape, torch.empty(shape).stride(), strict=True)]


@wrong(ex.contiguous_stride, "Shape () has no dims")
def stride_that_ends_in_one(shape):
    return *(math.prod(n or 1 for n in shape[d:]) for d in range(1, len(shape))), 1


@wrong(ex.contiguous_stride, "One number too many")
def stride_with_the_whole(shape):
    strides = [1]
    for n in shape[::-1]:
        strides.insert(0, strides[0] * (n or 1))
    return strides


@wrong(ex.contiguous_stride, "You add up the sizes after d")
def stride_of_a_sum(shape):
    strides, step = [], 0
    for n in shape[::-1]:
        strides.insert(0, step or 1)
        step += n
    return strides


@unnamed(ex.contiguous_stride)
def stride_of_two_sizes(shape):
    return [math.prod(n or 1 for n in shape[d + 1 : d + 3]) for d in range(len(shape))]


@unnamed(ex.contiguous_stride)
def stride_of_four_dims_at_most(shape):
    return torch.empty(shape).stride()[-4:]


@unnamed(ex.contiguous_stride)
def stride_of_equal_sizes(shape):
    return [shape[-1] ** (len(shape) - 1 - d) for d in range(len(shape))]


@unnamed(ex.contiguous_stride)
def stride_of_an_empty_dim_is_zero(shape):
    return [s * (n != 0) for n, s in zip(shape, torch.empty(shape).stride(), strict=True)]


@unnamed(ex.contiguous_stride)
def stride_without_empty_dims(shape):
    return torch.empty([n for n in shape if n]).stride()


@unnamed(ex.contiguous_stride)
def stride_of_a_larger_shape(shape):
    return torch.empty([n + 1 for n in shape]).stride()


@unnamed(ex.contiguous_stride)
def stride_of_a_sorted_shape(shape):
    return torch.empty(sorted(shape)).stride()


@unnamed(ex.contiguous_stride, ANOTHER_KIND)
def stride_of_a_number_is_a_number(shape):
    return torch.empty(shape).stride() if shape else 1


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


def with_bounds(start, stop):
    """A slice_layout that makes start and stop plain in its own way, and is right otherwise."""

    def answer(shape, stride, offset, dim, first, last, step):
        n = shape[dim]
        return arithmetic(shape, stride, offset, dim, start(first, n), stop(last, n), step)

    return answer


def plain_start(bound, n):
    return slice(bound, None).indices(n)[0]


def plain_stop(bound, n):
    return slice(bound).indices(n)[1]


@wrong(ex.slice_layout, "0 is not None")
def slice_with_or(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    start, stop = start or 0, stop or n
    start = max(start + n, 0) if start < 0 else min(start, n)
    stop = max(stop + n, 0) if stop < 0 else min(stop, n)
    return arithmetic(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "goes round as often as it can")
def slice_with_a_stop_gone_round(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    if stop is not None and stop < 0 < n:
        stop = stop % n
    start, stop = plain_start(start, n), plain_stop(stop, n)
    return arithmetic(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "goes round as often as it can")
def slice_with_both_gone_round(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    start, stop = (b if b is None or b >= 0 or n == 0 else b % n for b in (start, stop))
    return sliced(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "counts it from the end once more")
def slice_counted_twice_from_the_end(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    start, stop = (b if b is None or b >= 0 else b + n for b in (start, stop))
    return sliced(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "still below 0. Bring such")
def slice_clamped_above_alone(shape, stride, offset, dim, start, stop, step):
    n = shape[dim]
    start = 0 if start is None else start
    stop = n if stop is None else stop
    start, stop = (b + n if b < 0 else min(b, n) for b in (start, stop))
    return arithmetic(shape, stride, offset, dim, start, stop, step)


@wrong(ex.slice_layout, "`stop` itself is not in the slice")
def slice_up_to_and_with_stop(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    first, last, _ = slice(start, stop, step).indices(shape[dim])
    new_shape[dim] = len(range(first, last + 1, step))
    return new_shape, new_stride, new_offset


@wrong(ex.slice_layout, "`stop` itself is not in the slice")
def slice_floored_and_one_more(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    first, last, _ = slice(start, stop, step).indices(shape[dim])
    new_shape[dim] = max((last - first) // step + 1, 0)
    return new_shape, new_stride, new_offset


@wrong(ex.slice_layout, "the size is 0 then, not below")
def slice_of_negative_size(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    first, last, _ = slice(start, stop, step).indices(shape[dim])
    new_shape[dim] = (last - first + step - 1) // step
    return new_shape, new_stride, new_offset


@wrong(ex.slice_layout, "packed into new memory")
def slice_with_fresh_strides(shape, stride, offset, dim, start, stop, step):
    new_shape, _, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    return new_shape, torch.empty(new_shape).stride(), new_offset


@wrong(ex.slice_layout, "You multiply every stride")
def slice_stepping_everywhere(shape, stride, offset, dim, start, stop, step):
    new_shape, _, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    return new_shape, [s * step for s in stride], new_offset


@wrong(ex.slice_layout, "torch does not make an exception")
def slice_of_an_empty_tensor_stays(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    return new_shape, new_stride, offset if 0 in shape else new_offset


@wrong(ex.slice_layout, "torch does not make an exception")
def slice_of_nothing_from_zero(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    return new_shape, new_stride, 0 if 0 in new_shape else new_offset


@unnamed(ex.slice_layout)
def slice_rounded_up_by_hand(shape, stride, offset, dim, start, stop, step):
    """Right also where start lies behind stop, unless the step does not divide the distance."""
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    first, last, _ = slice(start, stop, step).indices(shape[dim])
    new_shape[dim] = max(last - first, 0) // step + ((last - first) % step != 0)
    return new_shape, new_stride, new_offset


@unnamed(ex.slice_layout)
def slice_of_one_at_least(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    return [max(n, 1) for n in new_shape], new_stride, new_offset


@unnamed(ex.slice_layout)
def slice_of_dim_0(shape, stride, offset, dim, start, stop, step):
    return sliced(shape, stride, offset, 0, start, stop, step)


@unnamed(ex.slice_layout)
def slice_of_a_new_tensor(shape, stride, offset, dim, start, stop, step):
    return sliced(shape, torch.empty(shape).stride(), 0, dim, start, stop, step)


@unnamed(ex.slice_layout)
def slice_with_the_step_added(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    new_stride[dim] = stride[dim] + step - 1
    return new_shape, new_stride, new_offset


@unnamed(ex.slice_layout)
def slice_with_a_free_stride(shape, stride, offset, dim, start, stop, step):
    new_shape, new_stride, new_offset = sliced(shape, stride, offset, dim, start, stop, step)
    new_stride = [s if n > 1 else 1 for n, s in zip(new_shape, new_stride, strict=True)]
    return new_shape, new_stride, new_offset


@unnamed(ex.slice_layout, ANOTHER_KIND)
def slice_in_another_order(*args):
    return sliced(*args)[::-1]


for bounds in [
    (lambda b, n: min(plain_start(b, n), max(n - 1, 0)), plain_stop),  # start always an index
    (plain_start, lambda b, n: plain_stop(-1 if b is None else b, n)),  # None as -1
    (plain_start, lambda b, n: plain_stop(b and b + (b < 0), n)),  # -1 as the end
    (plain_start, lambda b, n: n if b is None else b % n if n else 0),  # a stop of n gone round
]:
    unnamed(ex.slice_layout)(with_bounds(*bounds))


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


@wrong(ex.recover_slice, "One too few")
def recovered_with_a_stop_inside(base, view):
    start, step = start_and_step(base, view)
    return slice(start, start + len(view) * step - 1, step)


@wrong(ex.recover_slice, "Your step is 1")
def recovered_without_a_step(base, view):
    start, step = start_and_step(base, view)
    return slice(start, start + len(view) * step)


@wrong(ex.recover_slice, "Your stop does not count from start")
def recovered_with_a_length_for_a_stop(base, view):
    start, step = start_and_step(base, view)
    return slice(start, len(view) * step, step)


@wrong(ex.recover_slice, "the wrong way round")
def recovered_backwards(base, view):
    start = (base.storage_offset() - view.storage_offset()) // base.stride(0)
    step = view.stride(0) // base.stride(0)
    return slice(start, start + len(view) * step, step)


@unnamed(ex.recover_slice)
def recovered_one_further(base, view):
    start, step = start_and_step(base, view)
    return slice(start + 1, start + 1 + len(view) * step, step)


@unnamed(ex.recover_slice)
def recovered_with_stop_and_step_exchanged(base, view):
    start, step = start_and_step(base, view)
    return slice(start, step, start + len(view) * step)


@unnamed(ex.recover_slice)
def recovered_by_addresses(base, view):
    start = view.data_ptr() - base.data_ptr()
    return slice(start, start + len(view))


@unnamed(ex.recover_slice)
def recovered_by_the_ends(base, view):
    values = base.tolist()
    return slice(values.index(view[0]), values.index(view[-1]) + 1, start_and_step(base, view)[1])


@unnamed(ex.recover_slice)
def recovered_from_the_end(base, view):
    start, step = start_and_step(base, view)
    return slice(start - len(base), start + len(view) * step - len(base), step)


@unnamed(ex.recover_slice)
def recovered_by_a_difference_of_strides(base, view):
    start, _ = start_and_step(base, view)
    step = view.stride(0) - base.stride(0) + 1
    return slice(start, start + len(view) * step, step)


@unnamed(ex.recover_slice)
def recovered_whole(base, view):
    return slice(None)


@unnamed(ex.recover_slice, ANOTHER_KIND)
def recovered_in_floats(base, view):
    start, step = start_and_step(base, view)
    return slice(start / 1, start + len(view) * step, step)


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


@wrong(ex.raw_bytes, "stop behind t's last element")
def bytes_up_to_the_last_element(t):
    reach = [(n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True)]
    size = (t.storage_offset() + sum(reach) + 1) * t.itemsize if t.numel() else 0
    return ctypes.string_at(t.untyped_storage().data_ptr(), size)


@wrong(ex.raw_bytes, "add t's offset to t's size")
def bytes_of_offset_and_numel(t):
    size = t.storage_offset() * t.itemsize + t.nbytes
    return ctypes.string_at(t.untyped_storage().data_ptr(), size)


@wrong(ex.raw_bytes, "Your size counts elements")
def bytes_of_numel_elements(t):
    return ctypes.string_at(t.untyped_storage().data_ptr(), t.numel())


def bytes_of_at_most(limit):
    """The wrong answer that stops at a fixed number of bytes."""

    def answer(t):
        storage = t.untyped_storage()
        return ctypes.string_at(storage.data_ptr(), min(storage.nbytes(), limit))

    return answer


for limit in (16, 64, 256, 512, 1000, 1024, 4096):
    unnamed(ex.raw_bytes)(bytes_of_at_most(limit))


@unnamed(ex.raw_bytes)
def bytes_in_a_list_of_a_thousand(t):
    return t.untyped_storage().tolist()[:1000]


@unnamed(ex.raw_bytes)
def bytes_but_one(t):
    storage = t.untyped_storage()
    return ctypes.string_at(storage.data_ptr(), max(storage.nbytes() - 1, 0))


@unnamed(ex.raw_bytes)
def bytes_from_the_second_on(t):
    storage = t.untyped_storage()
    return ctypes.string_at(storage.data_ptr() + 1, storage.nbytes())


@unnamed(ex.raw_bytes)
def bytes_reversed(t):
    return bytes(t.untyped_storage().tolist()[::-1])


@unnamed(ex.raw_bytes)
def bytes_of_zero(t):
    return bytes(t.untyped_storage().nbytes())


@unnamed(ex.raw_bytes)
def bytes_without_the_last_zeros(t):
    return bytes(t.untyped_storage().tolist()).rstrip(b"\0")


@unnamed(ex.raw_bytes)
def bytes_back_by_four(t):
    start = t.data_ptr() - t.storage_offset() * 4
    return ctypes.string_at(start, t.untyped_storage().nbytes())


@unnamed(ex.raw_bytes, CHANGES)
def bytes_taken_away(t):
    data = bytes(t.untyped_storage().tolist())
    t.untyped_storage().fill_(0)
    return data


@unnamed(ex.raw_bytes, ANOTHER_KIND)
def bytes_in_hexadecimal(t):
    return bytes(t.untyped_storage().tolist()).hex()


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


@wrong(ex.row, "You move i columns on")
def row_i_columns_on(x, i):
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.stride(1))


@wrong(ex.row, "walk down the column")
def row_downwards(x, i):
    return x.as_strided((x.size(1),), x.stride()[:1], x.storage_offset() + i * x.stride(0))


@wrong(ex.row, "a row has as many elements as")
def row_too_long(x, i):
    return x.as_strided((len(x),), (x.stride(1),), x.storage_offset() + i * x.stride(0))


@wrong(ex.row, "Nothing here is in bytes")
def row_with_an_offset_in_bytes(x, i):
    start = x.storage_offset() * x.itemsize + i * x.stride(0)
    return x.as_strided((x.size(1),), (x.stride(1),), start)


@wrong(ex.row, "Nothing here is in bytes")
def row_with_a_start_in_bytes(x, i):
    start = (x.storage_offset() + i * x.stride(0)) * x.itemsize
    return x.as_strided((x.size(1),), (x.stride(1),), start)


@wrong(ex.row, "Nothing here is in bytes")
def row_as_numpy_has_it(x, i):
    start = (x.storage_offset() + i * x.stride(0)) * x.itemsize
    return x.as_strided((x.size(1),), (x.stride(1) * x.itemsize,), start)


@unnamed(ex.row)
def row_after_the_next(x, i):
    start = x.storage_offset() + max(i - 1, 0) * x.stride(0)
    return x.as_strided((x.size(1),), (x.stride(1),), start)


@unnamed(ex.row)
def row_one_short(x, i):
    size = max(x.size(1) - 1, 0)
    return x.as_strided((size,), (x.stride(1),), x.storage_offset() + i * x.stride(0))


@unnamed(ex.row)
def row_with_size_and_stride_exchanged(x, i):
    return x.as_strided((x.stride(1),), (x.size(1),), x.storage_offset() + i * x.stride(0))


@unnamed(ex.row)
def row_1_whatever_i_is(x, i):
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + x.stride(0))


@unnamed(ex.row, TOO_FAR)
def row_of_six(x, i):
    return x.as_strided((6,), (x.stride(1),), x.storage_offset() + i * x.stride(0))


@unnamed(ex.row, CHANGES)
def row_in_place(x, i):
    return x.as_strided_((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.stride(0))


@unnamed(ex.row, ANOTHER_KIND)
def row_as_a_list(x, i):
    return x.as_strided((x.size(1),), (x.stride(1),), x.storage_offset() + i * x.stride(0)).tolist()


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


@wrong(ex.column, "You start j rows down")
def column_j_rows_down(x, j):
    return x.as_strided((len(x),), (x.stride(0),), j * x.stride(0) + x.storage_offset())


@wrong(ex.column, "Nothing here is in bytes")
def column_with_an_offset_in_bytes(x, j):
    start = x.storage_offset() * x.itemsize + j * x.stride(1)
    return x.as_strided((x.size(0),), (x.stride(0),), start)


@wrong(ex.column, "Nothing here is in bytes")
def column_with_a_start_in_bytes(x, j):
    start = (x.storage_offset() + j * x.stride(1)) * x.itemsize
    return x.as_strided((x.size(0),), (x.stride(0),), start)


@wrong(ex.column, "Nothing here is in bytes")
def column_as_numpy_has_it(x, j):
    start = (x.storage_offset() + j * x.stride(1)) * x.itemsize
    return x.as_strided((x.size(0),), (x.stride(0) * x.itemsize,), start)


@unnamed(ex.column)
def column_after_the_next(x, j):
    start = x.storage_offset() + max(j - 1, 0) * x.stride(1)
    return x.as_strided((x.size(0),), (x.stride(0),), start)


@unnamed(ex.column)
def column_one_short(x, j):
    size = max(x.size(0) - 1, 0)
    return x.as_strided((size,), (x.stride(0),), x.storage_offset() + j * x.stride(1))


@unnamed(ex.column)
def column_with_size_and_stride_exchanged(x, j):
    return x.as_strided((x.stride(0),), (x.size(0),), x.storage_offset() + j * x.stride(1))


@unnamed(ex.column)
def column_1_whatever_j_is(x, j):
    return x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + x.stride(1))


@unnamed(ex.column, TOO_FAR)
def column_of_six(x, j):
    return x.as_strided((6,), (x.stride(0),), x.storage_offset() + j * x.stride(1))


@unnamed(ex.column, CHANGES)
def column_in_place(x, j):
    return x.as_strided_((x.size(0),), (x.stride(0),), x.storage_offset() + j * x.stride(1))


@unnamed(ex.column, ANOTHER_KIND)
def column_as_a_list(x, j):
    return x.as_strided((x.size(0),), (x.stride(0),), x.storage_offset() + j * x.stride(1)).tolist()


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


@wrong(ex.diagonal, "You step one row down")
def diagonal_down_and_one(x):
    return x.as_strided((min(x.shape),), (x.stride(0) + 1,), x.storage_offset())


@wrong(ex.diagonal, "You multiply the two strides")
def diagonal_of_multiplied_strides(x):
    return x.as_strided((min(x.shape),), (math.prod(x.stride()),), x.storage_offset())


@wrong(ex.diagonal, "Nothing here is in bytes")
def diagonal_from_a_byte(x):
    start = x.storage_offset() * x.itemsize
    return x.as_strided((min(x.shape),), (sum(x.stride()),), start)


@unnamed(ex.diagonal)
def diagonal_one_short(x):
    size = max(min(x.shape) - 1, 0)
    return x.as_strided((size,), (sum(x.stride()),), x.storage_offset())


@unnamed(ex.diagonal)
def diagonal_along_the_first_row(x):
    return x.as_strided((min(x.shape),), (x.stride(1),), x.storage_offset())


@unnamed(ex.diagonal)
def diagonal_by_the_height_plus_one(x):
    return x.as_strided((min(x.shape),), (x.size(0) + 1,), x.storage_offset())


@unnamed(ex.diagonal)
def diagonal_to_the_left(x):
    start = x.storage_offset() + max(x.size(1) - 1, 0) * x.stride(1)
    step = max(x.stride(0) - x.stride(1), 0)
    return x.as_strided((min(x.shape),), (step,), start)


@unnamed(ex.diagonal, TOO_FAR)
def diagonal_from_the_second_element_on(x):
    start = x.storage_offset() + sum(x.stride())
    return x.as_strided((min(x.shape),), (sum(x.stride()),), start)


@unnamed(ex.diagonal, TOO_FAR)
def diagonal_by_the_sizes(x):
    return x.as_strided((min(x.shape),), (sum(x.shape),), x.storage_offset())


@unnamed(ex.diagonal)
def diagonal_as_a_column(x):
    return x.as_strided((min(x.shape), 1), (sum(x.stride()), 1), x.storage_offset())


@unnamed(ex.diagonal)
def diagonal_of_a_mask(x):
    return x * torch.eye(*x.shape, dtype=x.dtype)


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


@wrong(ex.trace, "Your step goes one row down")
def trace_down_and_one(x):
    return x.as_strided((min(x.shape),), (x.stride(0) + 1,), x.storage_offset()).sum()


@wrong(ex.trace, "the product of the two strides")
def trace_of_multiplied_strides(x):
    return x.as_strided((min(x.shape),), (math.prod(x.stride()),), x.storage_offset()).sum()


@wrong(ex.trace, "Nothing here is in bytes")
def trace_from_a_byte(x):
    start = x.storage_offset() * x.itemsize
    return x.as_strided((min(x.shape),), (sum(x.stride()),), start).sum()


@unnamed(ex.trace)
def trace_one_short(x):
    size = max(min(x.shape) - 1, 0)
    return x.as_strided((size,), (sum(x.stride()),), x.storage_offset()).sum()


@unnamed(ex.trace)
def trace_along_the_first_row(x):
    return x.as_strided((min(x.shape),), (x.stride(1),), x.storage_offset()).sum()


@unnamed(ex.trace)
def trace_by_the_height_plus_one(x):
    return x.as_strided((min(x.shape),), (x.size(0) + 1,), x.storage_offset()).sum()


@unnamed(ex.trace)
def trace_to_the_left(x):
    start = x.storage_offset() + max(x.size(1) - 1, 0) * x.stride(1)
    step = max(x.stride(0) - x.stride(1), 0)
    return x.as_strided((min(x.shape),), (step,), start).sum()


@unnamed(ex.trace, TOO_FAR)
def trace_from_the_second_element_on(x):
    start = x.storage_offset() + sum(x.stride())
    return x.as_strided((min(x.shape),), (sum(x.stride()),), start).sum()


@unnamed(ex.trace, TOO_FAR)
def trace_by_the_sizes(x):
    return x.as_strided((min(x.shape),), (sum(x.shape),), x.storage_offset()).sum()


@wrong(ex.trace, "in a tensor that still has a dim")
def trace_kept_in_a_dim(x):
    diagonal = x.as_strided((min(x.shape),), (sum(x.stride()),), x.storage_offset())
    return diagonal.sum(0, keepdim=True)


@wrong(ex.trace, "in a tensor that still has a dim")
def trace_put_in_a_dim(x):
    diagonal = x.as_strided((min(x.shape),), (sum(x.stride()),), x.storage_offset())
    return diagonal.sum()[None]


@wrong(ex.trace, "gives x back only if x is contiguous")
def trace_of_a_tidy_x(x):
    x = x.contiguous()
    return x.as_strided((min(x.shape),), (x.size(1) + 1,)).sum() if x.storage_offset() == 0 else 0


@unnamed(ex.trace)
def trace_multiplied(x):
    return x.as_strided((min(x.shape),), (sum(x.stride()),), x.storage_offset()).prod()


@unnamed(ex.trace)
def trace_of_the_first_element(x):
    return x.as_strided((), (), x.storage_offset())


@unnamed(ex.trace)
def trace_by_heart(x):
    return 12 if tuple(x.shape) == (3, 3) else x.trace()


@unnamed(ex.trace, CHANGES)
def trace_wiped_out(x):
    diagonal = x.as_strided((min(x.shape),), (sum(x.stride()),), x.storage_offset())
    return diagonal.clone().sum() + diagonal.zero_().sum()


@unnamed(ex.trace, ANOTHER_KIND)
def trace_in_a_list(x):
    return [x.trace().item()]


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


@wrong(ex.windows, "stand side by side")
def windows_apart_by_ones(x, size):
    return x.as_strided((len(x) - size + 1, size), (size, 1), x.storage_offset())


@wrong(ex.windows, "stand side by side")
def windows_few_and_apart_by_ones(x, size):
    return x.as_strided((len(x) // size, size), (size, 1), x.storage_offset())


@wrong(ex.windows, "stand side by side")
def windows_apart_and_too_many(x, size):
    s = x.stride(0)
    return x.as_strided((len(x) - size + 1, size), (size * s, s), x.storage_offset())


@wrong(ex.windows, "Inside a window you step by 1")
def windows_of_neighbours_in_the_storage(x, size):
    return x.as_strided((len(x) - size + 1, size), (x.stride(0), 1), x.storage_offset())


@wrong(ex.windows, "From window to window you step by 1")
def windows_one_element_of_the_storage_apart(x, size):
    return x.as_strided((len(x) - size + 1, size), (1, x.stride(0)), x.storage_offset())


@wrong(ex.windows, "Nothing here is in bytes")
def windows_from_a_byte(x, size):
    start = x.storage_offset() * x.element_size()
    return x.as_strided((len(x) - size + 1, size), x.stride() * 2, start)


@unnamed(ex.windows)
def windows_two_too_few(x, size):
    count = max(len(x) - size - 1, 0)
    return x.as_strided((count, size), x.stride() * 2, x.storage_offset())


@unnamed(ex.windows)
def windows_that_repeat_one_element(x, size):
    return x.as_strided((len(x) - size + 1, size), (x.stride(0), 0), x.storage_offset())


@unnamed(ex.windows)
def windows_that_are_all_the_first(x, size):
    return x.as_strided((len(x) - size + 1, size), (0, x.stride(0)), x.storage_offset())


@unnamed(ex.windows)
def windows_from_the_last_to_the_first(x, size):
    return x.unfold(0, size, 1).flip(0)


@unnamed(ex.windows, TOO_FAR)
def windows_of_three(x, size):
    return x.as_strided((len(x) - size + 1, 3), x.stride() * 2, x.storage_offset())


@unnamed(ex.windows, TOO_FAR)
def windows_one_further(x, size):
    return x.as_strided((len(x) - size + 1, size), x.stride() * 2, x.storage_offset() + 1)


@unnamed(ex.windows, TOO_FAR)
def windows_one_too_many(x, size):
    return x.as_strided((len(x) - size + 2, size), x.stride() * 2, x.storage_offset())


@unnamed(ex.windows, ANOTHER_KIND)
def windows_in_a_list(x, size):
    return [x[k : k + size] for k in range(len(x) - size + 1)]
