"""Wrong answers to the exercises of notebook 05."""

import itertools
import math
import statistics

import numpy as np
import torch

from stridekit.exercises import performance as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, unnamed, wrong

# time_it --------------------------------------------------------------------------------------


def timed(queue, *steps):
    """The clock's difference around some steps."""
    before = queue.clock()
    for step in steps:
        step()
    return queue.clock() - before


@wrong(ex.time_it, "The clock sees the asking alone")
def time_without_waiting(queue, repeats):
    return sorted(timed(queue, queue.work) for _ in range(repeats))[repeats // 4]


@wrong(ex.time_it, "The clock sees the asking alone")
def time_waiting_too_late(queue, repeats):
    samples = []
    queue.work()
    queue.synchronize()
    while len(samples) < repeats:
        samples.append(timed(queue, queue.work))
        queue.synchronize()
    samples.sort()
    return samples[len(samples) // 4]


@wrong(ex.time_it, "The clock sees the asking alone")
def time_waiting_too_early(queue, repeats):
    queue.work()
    samples = []
    for _ in range(repeats):
        queue.synchronize()
        samples.append(timed(queue, queue.work))
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "The clock sees the asking alone")
def time_waiting_at_the_very_end(queue, repeats):
    queue.work()
    queue.synchronize()
    samples = [timed(queue, queue.work) for _ in range(repeats)]
    queue.synchronize()
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "Your first sample holds what should be over")
def time_cold(queue, repeats):
    samples = [timed(queue, queue.work, queue.synchronize) for _ in range(repeats)]
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "Your first sample holds what should be over")
def time_wait_then_work(queue, repeats):
    queue.work()
    samples = [timed(queue, queue.synchronize, queue.work) for _ in range(repeats)]
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "The first piece of work is among your samples")
def time_cold_on_an_empty_queue(queue, repeats):
    queue.synchronize()
    samples = sorted([timed(queue, queue.work, queue.synchronize) for _ in range(repeats)])
    return samples[len(samples) // 4]


@wrong(ex.time_it, "You warm up without waiting for it")
def time_warm_up_in_flight(queue, repeats):
    queue.work()
    samples = []
    for _ in range(repeats):
        samples.append(timed(queue, queue.work, queue.synchronize))
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "That is the mean")
def time_mean(queue, repeats):
    for _ in range(3):
        queue.work()
    queue.synchronize()
    return statistics.mean(timed(queue, queue.work, queue.synchronize) for _ in range(repeats))


@wrong(ex.time_it, "You wait once, at the end, and divide")
def time_throughput(queue, repeats):
    queue.work()
    queue.synchronize()
    return timed(queue, *[queue.work] * repeats, queue.synchronize) / repeats


@wrong(ex.time_it, "That is the median")
def time_median(queue, repeats):
    queue.work()
    queue.synchronize()
    return np.median([timed(queue, queue.work, queue.synchronize) for _ in range(repeats)])


@wrong(ex.time_it, "That is the median")
def time_middle(queue, repeats):
    queue.work()
    queue.synchronize()
    samples = [timed(queue, queue.work, queue.synchronize) for _ in range(repeats)]
    return sorted(samples)[len(samples) // 2]


@wrong(ex.time_it, "That is the smallest sample")
def time_best(queue, repeats):
    best = math.inf
    queue.work()
    queue.synchronize()
    for _ in range(repeats):
        best = min(best, timed(queue, queue.work, queue.synchronize))
    return best


@wrong(ex.time_it, "One run is no measurement")
def time_once(queue, repeats):
    queue.work()
    queue.synchronize()
    return timed(queue, queue.work, queue.synchronize)


@wrong(ex.time_it, "sort them first")
def time_unsorted(queue, repeats):
    queue.work()
    queue.synchronize()
    samples = [timed(queue, queue.work, queue.synchronize) for _ in range(repeats)]
    return samples[repeats // 4]


@wrong(ex.time_it, "That is the upper quartile")
def time_upper_quartile(queue, repeats):
    queue.work()
    queue.synchronize()
    samples = [timed(queue, queue.work, queue.synchronize) for _ in range(repeats)]
    return sorted(samples, reverse=True)[repeats - 1 - 3 * repeats // 4]


@unnamed(ex.time_it)
def time_two_at_once(queue, repeats):
    queue.work()
    queue.synchronize()
    twice = (queue.work, queue.work, queue.synchronize)
    return sorted(timed(queue, *twice) / 2 for _ in range(repeats))[repeats // 4]


@unnamed(ex.time_it)
def time_slowest(queue, repeats):
    queue.work()
    queue.synchronize()
    return max(timed(queue, queue.work, queue.synchronize) for _ in range(repeats)) + 1


@unnamed(ex.time_it)
def time_without_the_launch(queue, repeats):
    return ex.time_it.reference(queue, repeats) - 1


@unnamed(ex.time_it)
def time_by_the_second_best(queue, repeats):
    queue.work()
    queue.synchronize()
    samples = sorted(timed(queue, queue.work, queue.synchronize) for _ in range(repeats))
    return samples[min(1, repeats - 1)] + (repeats > 4)


@unnamed(ex.time_it, "Your function stops on this input.")
def time_until_it_is_long_enough(queue, repeats):
    start = queue.clock()
    while queue.clock() < start + 1000:
        pass


@unnamed(ex.time_it, ANOTHER_KIND)
def time_all_of_them(queue, repeats):
    return [timed(queue, queue.work, queue.synchronize) for _ in range(repeats)]


# cache_lines ----------------------------------------------------------------------------------


def bytes_of(shape, stride, offset, itemsize):
    """The first byte of each element, by index arithmetic on an arange."""
    byte = torch.tensor(offset * itemsize)
    for n, s in zip(shape, stride, strict=True):
        byte = byte[..., None] + torch.arange(n) * s * itemsize
    return byte.flatten().tolist()


def by_lines(t, line=64):
    """The line numbers of a tensor."""
    found = bytes_of(t.shape, t.stride(), t.storage_offset(), t.itemsize)
    return {byte // line for byte in found}


@wrong(ex.cache_lines, "You let the layout start at the start of a line")
def lines_aligned(shape, stride, offset, itemsize):
    return len({byte // 64 for byte in bytes_of(shape, stride, 0, itemsize)})


@wrong(ex.cache_lines, "That is the number of elements")
def lines_numel(shape, stride, offset, itemsize):
    return torch.Size(shape).numel()


@wrong(ex.cache_lines, "You pack the elements close together")
def lines_packed(shape, stride, offset, itemsize):
    return math.ceil(math.prod(shape) * itemsize / 64)


@wrong(ex.cache_lines, "You pack the elements close together")
def lines_packed_behind_the_offset(shape, stride, offset, itemsize):
    first = offset * itemsize
    return len({byte // 64 for byte in range(first, first + math.prod(shape) * itemsize)})


@wrong(ex.cache_lines, "You count every line from the first element to the last")
def lines_of_the_hull(shape, stride, offset, itemsize):
    found = bytes_of(shape, stride, offset, itemsize)
    return max(found) // 64 - min(found) // 64 + 1 if found else 0


@wrong(ex.cache_lines, "You count every line from the first element to the last")
def lines_of_the_span(shape, stride, offset, itemsize):
    if 0 in shape:
        return 0
    reach = sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) + 1
    return math.ceil(reach * itemsize / 64)


@wrong(ex.cache_lines, "You took 4 bytes an element for granted")
def lines_of_floats(shape, stride, offset, itemsize):
    return len({byte // 64 for byte in bytes_of(shape, stride, offset, 4)})


@wrong(ex.cache_lines, "You took 4 bytes an element for granted")
def lines_of_sixteen_elements(shape, stride, offset, itemsize):
    return len({element // 16 for element in bytes_of(shape, stride, offset, 1)})


@wrong(ex.cache_lines, "You divide elements by 64")
def lines_of_sixty_four_elements(shape, stride, offset, itemsize):
    indices = itertools.product(*map(range, shape))
    return len({(offset + np.dot(index, stride)) // 64 for index in indices})


@wrong(ex.cache_lines, "You count the lines of each row by itself")
def lines_row_by_row(shape, stride, offset, itemsize):
    if len(shape) == 0:
        return 1
    if len(shape) == 1:
        return len({byte // 64 for byte in bytes_of(shape, stride, offset, itemsize)})
    rows = [offset + i * stride[0] for i in range(shape[0])]
    return sum(lines_row_by_row(shape[1:], stride[1:], row, itemsize) for row in rows)


@wrong(ex.cache_lines, "you added it as bytes")
def lines_with_an_offset_in_bytes(shape, stride, offset, itemsize):
    return len({(byte + offset) // 64 for byte in bytes_of(shape, stride, 0, itemsize)})


@wrong(ex.cache_lines, "so no line is touched")
def lines_never_none(shape, stride, offset, itemsize):
    found = {byte // 64 for byte in bytes_of(shape, stride, offset, itemsize)}
    return len(found) or 1


@unnamed(ex.cache_lines)
def lines_of_128_bytes(shape, stride, offset, itemsize):
    return len({byte // 128 for byte in bytes_of(shape, stride, offset, itemsize)})


@unnamed(ex.cache_lines)
def lines_of_32_bytes(shape, stride, offset, itemsize):
    return len({byte // 32 for byte in bytes_of(shape, stride, offset, itemsize)})


@unnamed(ex.cache_lines)
def lines_by_reversed_strides(shape, stride, offset, itemsize):
    return len({b // 64 for b in bytes_of(shape, stride[::-1], offset, itemsize)})


@unnamed(ex.cache_lines)
def lines_in_bytes(shape, stride, offset, itemsize):
    return 64 * len({byte // 64 for byte in bytes_of(shape, stride, offset, itemsize)})


@unnamed(ex.cache_lines)
def lines_rounded_up(shape, stride, offset, itemsize):
    return len({math.ceil(byte / 64) for byte in bytes_of(shape, stride, offset, itemsize)})


@unnamed(ex.cache_lines)
def lines_and_one_more(shape, stride, offset, itemsize):
    return 1 + len({byte // 64 for byte in bytes_of(shape, stride, offset, itemsize)})


@unnamed(ex.cache_lines, "Your function stops on this input.")
def lines_of_matrices(shape, stride, offset, itemsize):
    (n, m), (s, t) = shape, stride
    return len({(offset + i * s + j * t) * itemsize // 64 for i in range(n) for j in range(m)})


# bytes_moved ----------------------------------------------------------------------------------


@wrong(ex.bytes_moved, "You forgot what is written")
def bytes_of_reads(x, y, out):
    return 64 * sum(len(by_lines(t)) for t in (x, y))


@wrong(ex.bytes_moved, "You forgot the second operand")
def bytes_of_a_unary_operation(x, y, out):
    return 64 * (len(by_lines(x)) + len(by_lines(out)))


@wrong(ex.bytes_moved, "You count the bytes of the elements")
def bytes_of_elements(x, y, out):
    return x.nbytes + y.nbytes + out.nbytes


@wrong(ex.bytes_moved, "as if each tensor were packed close")
def bytes_of_packed_lines(x, y, out):
    return sum(math.ceil(t.numel() * t.itemsize / 64) * 64 for t in (x, y, out))


@wrong(ex.bytes_moved, "You took 4 bytes an element for granted")
def bytes_of_floats(x, y, out):
    lines = 0
    for t in (x, y, out):
        found = bytes_of(t.shape, t.stride(), t.storage_offset(), 4)
        lines += len({byte // 64 for byte in found})
    return lines * 64


@wrong(ex.bytes_moved, "You took the itemsize of x for all three")
def bytes_of_one_dtype(x, y, out):
    lines, size = 0, x.element_size()
    for t in (x, y, out):
        lines += len({b // 64 for b in bytes_of(t.shape, t.stride(), t.storage_offset(), size)})
    return lines * 64


@wrong(ex.bytes_moved, "You left the storage offsets out")
def bytes_from_their_own_starts(x, y, out):
    lines = 0
    for t in (x, y, out):
        lines += len({byte // 64 for byte in bytes_of(t.shape, t.stride(), 0, t.itemsize)})
    return 64 * lines


@wrong(ex.bytes_moved, "That is the number of lines")
def bytes_as_lines(x, y, out):
    return len(by_lines(x)) + len(by_lines(y)) + len(by_lines(out))


@wrong(ex.bytes_moved, "You take three times the lines of x")
def bytes_thrice(x, y, out):
    return 3 * 64 * len(by_lines(x))


@wrong(ex.bytes_moved, "You count the whole storages")
def bytes_of_storages(x, y, out):
    whole = [torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()) for t in (x, y, out)]
    return sum(64 * len(by_lines(t)) for t in whole)


@wrong(ex.bytes_moved, "You count a line each time")
def bytes_of_a_line_each(x, y, out):
    return 64 * 3 * x.numel()


@unnamed(ex.bytes_moved)
def bytes_written_twice(x, y, out):
    return 64 * (len(by_lines(x)) + len(by_lines(y)) + 2 * len(by_lines(out)))


@unnamed(ex.bytes_moved)
def bytes_of_sectors(x, y, out):
    return 32 * sum(len(by_lines(t, 32)) for t in (x, y, out))


@unnamed(ex.bytes_moved)
def bytes_as_if_on_one_storage(x, y, out):
    return 64 * len(by_lines(x) | by_lines(y) | by_lines(out))


@unnamed(ex.bytes_moved)
def bytes_of_hulls(x, y, out):
    reach = [max(by_lines(t), default=0) - min(by_lines(t), default=1) + 1 for t in (x, y, out)]
    return 64 * sum(reach)


# break_even -----------------------------------------------------------------------------------


def of_both(t):
    """The lines of a tensor and of its dense copy."""
    return len(by_lines(t)), len(by_lines(torch.empty(t.shape, dtype=t.dtype)))


def settled(t):
    """What everybody gets right: nothing to copy, or nothing to save."""
    before, after = of_both(t)
    if t.is_contiguous():
        return 0
    return math.inf if after >= before else None


@wrong(ex.break_even, "You pay for writing the copy alone")
def even_without_reading(t):
    before, after = of_both(t)
    return settled(t) if settled(t) is not None else -(-after // (before - after))


@wrong(ex.break_even, "You pay for reading t alone")
def even_without_writing(t):
    before, after = of_both(t)
    return settled(t) if settled(t) is not None else math.ceil(before / (before - after))


@wrong(ex.break_even, "as if the copy were free")
def even_at_once(t):
    return 1 if settled(t) is None else settled(t)


@wrong(ex.break_even, "You divide by what a use costs with the copy")
def even_by_cost(t):
    before, after = of_both(t)
    return settled(t) if settled(t) is not None else math.ceil((before + after) / after)


@wrong(ex.break_even, "so nothing would ever be saved")
def even_in_elements(t):
    if t.is_contiguous():
        return 0
    copy = t.contiguous()
    saved = t.numel() * t.itemsize - copy.numel() * copy.itemsize
    return math.inf if saved <= 0 else (t.nbytes + copy.nbytes) / saved


@wrong(ex.break_even, "You charge a whole line for every element")
def even_a_line_each(t):
    if t.is_contiguous():
        return 0
    before, after = t.numel(), of_both(t)[1]
    return math.ceil((before + after) / (before - after)) if before > after else math.inf


@wrong(ex.break_even, "You round down")
def even_rounded_down(t):
    before, after = of_both(t)
    return settled(t) if settled(t) is not None else int((before + after) / (before - after))


@wrong(ex.break_even, "not yet a count of uses")
def even_fraction(t):
    before, after = of_both(t)
    return settled(t) if settled(t) is not None else (before + after) / (before - after)


@wrong(ex.break_even, "One use too many")
def even_by_counting_too_far(t):
    if settled(t) is not None:
        return settled(t)
    (before, after), n = of_both(t), 0
    while n * before <= before + after + n * after:
        n += 1
    return n


@wrong(ex.break_even, "nothing is copied")
def even_always_copying(t):
    before, after = of_both(t)
    return math.inf if before <= after else math.ceil((before + after) / (before - after))


@wrong(ex.break_even, "no number of uses pays it back")
def even_by_formula(t):
    if t.is_contiguous():
        return 0
    before, after = of_both(t)
    return -((before + after) // (after - before))


@wrong(ex.break_even, "no number of uses pays it back")
def even_minus_one(t):
    before, after = of_both(t)
    if t.is_contiguous():
        return 0
    return -1 if before <= after else math.ceil((before + after) / (before - after))


@wrong(ex.break_even, "no number of uses pays it back")
def even_zero_if_useless(t):
    before, after = of_both(t)
    if t.is_contiguous() or before <= after:
        return 0
    return math.ceil((before + after) / (before - after))


@unnamed(ex.break_even)
def even_by_itemsize(t):
    return 0 if t.is_contiguous() else t.itemsize


@unnamed(ex.break_even)
def even_always_never(t):
    before, after = of_both(t)
    found = ex.break_even.reference(t)
    return found if found in (0, math.inf) else found + before + after


@unnamed(ex.break_even)
def even_with_a_read_too_many(t):
    before, after = of_both(t)
    return (
        settled(t) if settled(t) is not None else math.ceil((2 * before + after) / (before - after))
    )


# warp_sectors ---------------------------------------------------------------------------------


def lanes(stride, offset, itemsize):
    """The first byte of each lane."""
    return (np.arange(32) * stride + offset) * itemsize


@wrong(ex.warp_sectors, "You let the warp start at the start of a sector")
def sectors_from_zero(stride, offset, itemsize):
    return len(np.unique(lanes(stride, 0, itemsize) // 32))


@wrong(ex.warp_sectors, "That is a sector for each lane")
def sectors_by_lane(stride, offset, itemsize):
    return 32


@wrong(ex.warp_sectors, "You took 4 bytes an element for granted")
def sectors_of_floats(stride, offset, itemsize):
    return len({(offset + k * stride) // 8 for k in range(32)})


@wrong(ex.warp_sectors, "Your blocks have 128 bytes")
def sectors_as_lines(stride, offset, itemsize):
    return len(np.unique(lanes(stride, offset, itemsize) // 128))


@wrong(ex.warp_sectors, "Your blocks have 64 bytes")
def sectors_of_a_cpu(stride, offset, itemsize):
    return len(set((lanes(stride, offset, itemsize) // 64).tolist()))


@wrong(ex.warp_sectors, "You divide the bytes that are wanted by 32")
def sectors_at_least(stride, offset, itemsize):
    return itemsize


@wrong(ex.warp_sectors, "You count every sector from the first lane's")
def sectors_in_between(stride, offset, itemsize):
    first, *_, last = lanes(stride, offset, itemsize) // 32
    return last - first + 1


@wrong(ex.warp_sectors, "You divide element numbers by 32")
def sectors_of_elements(stride, offset, itemsize):
    return len({(offset + stride * k) // 32 for k in range(32)})


@wrong(ex.warp_sectors, "You added the offset as bytes")
def sectors_with_an_offset_in_bytes(stride, offset, itemsize):
    return len(np.unique((lanes(stride, 0, itemsize) + offset) // 32))


@wrong(ex.warp_sectors, "The right sectors, in bytes")
def sectors_as_bytes(stride, offset, itemsize):
    return 32 * len(np.unique(lanes(stride, offset, itemsize) // 32))


@unnamed(ex.warp_sectors)
def sectors_of_33_lanes(stride, offset, itemsize):
    return len({(offset + stride * k) * itemsize // 32 for k in range(33)})


@unnamed(ex.warp_sectors)
def sectors_of_16_bytes(stride, offset, itemsize):
    return len(np.unique(lanes(stride, offset, itemsize) // 16))


# cheapest_first -------------------------------------------------------------------------------


def cost(v):
    """The lines of v and of a dense result."""
    return sum(of_both(v))


@wrong(ex.cheapest_first, "You go by the number of elements")
def order_by_size(expressions):
    return [name for name, _ in sorted(expressions.items(), key=lambda item: item[1].numel())]


@wrong(ex.cheapest_first, "You go by the bytes of the elements")
def order_by_bytes(expressions):
    return sorted(expressions, key=lambda name: expressions[name].nbytes)


@wrong(ex.cheapest_first, "You go by the stride")
def order_by_last_stride(expressions):
    return sorted(expressions, key=lambda name: (expressions[name].stride() or (0,))[-1])


@wrong(ex.cheapest_first, "You go by the stride")
def order_by_first_stride(expressions):
    return sorted(expressions, key=lambda name: max((0, *expressions[name].stride())))


@wrong(ex.cheapest_first, "You put the contiguous ones first")
def order_by_contiguity(expressions):
    good = [name for name, v in expressions.items() if v.is_contiguous()]
    return good + [name for name in expressions if name not in good]


@wrong(ex.cheapest_first, "You put the contiguous ones first")
def order_by_contiguity_and_lines(expressions):
    names = sorted(expressions, key=lambda name: cost(expressions[name]))
    return sorted(names, key=lambda name: expressions[name].is_contiguous(), reverse=True)


@wrong(ex.cheapest_first, "You go by what is read")
def order_by_lines_read(expressions):
    return sorted(expressions, key=lambda name: len(by_lines(expressions[name])))


@wrong(ex.cheapest_first, "You count what is written alone")
def order_by_lines_written(expressions):
    return sorted(expressions, key=lambda name: of_both(expressions[name])[1])


@wrong(ex.cheapest_first, "back to front")
def order_dearest_first(expressions):
    return sorted(expressions, key=lambda name: cost(expressions[name]), reverse=True)


@wrong(ex.cheapest_first, "You go by the size of the storages")
def order_by_storage(expressions):
    return sorted(expressions, key=lambda name: len(expressions[name].untyped_storage()))


@wrong(ex.cheapest_first, "You count 4 bytes for every element")
def order_of_floats(expressions):
    def floats(v):
        lines = {byte // 64 for byte in bytes_of(v.shape, v.stride(), v.storage_offset(), 4)}
        return len(lines) + math.ceil(v.numel() / 16)

    return sorted(expressions, key=lambda name: floats(expressions[name]))


@wrong(ex.cheapest_first, "You let every view start at the start of a line")
def order_without_offsets(expressions):
    def aligned(v):
        lines = {byte // 64 for byte in bytes_of(v.shape, v.stride(), 0, v.itemsize)}
        return len(lines) + of_both(v)[1]

    return sorted(expressions, key=lambda name: aligned(expressions[name]))


@unnamed(ex.cheapest_first)
def order_as_given(expressions):
    return list(expressions)


@unnamed(ex.cheapest_first)
def order_turned_round(expressions):
    return list(expressions)[::-1]


@unnamed(ex.cheapest_first)
def order_by_dims(expressions):
    return sorted(expressions, key=lambda name: (-expressions[name].ndim, name))


@unnamed(ex.cheapest_first, ANOTHER_KIND)
def order_of_three(expressions):
    return sorted(expressions)[:3]


@unnamed(ex.cheapest_first, ANOTHER_KIND)
def order_as_a_set(expressions):
    return set(expressions)


@unnamed(ex.cheapest_first, ANOTHER_KIND)
def order_as_a_dict(expressions):
    return 7
