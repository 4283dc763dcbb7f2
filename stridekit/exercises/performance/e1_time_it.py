"""E1: time work that returns before it is done."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from stridekit.exercises.answers import read_number
from stridekit.exercises.core import exercise
from stridekit.exercises.performance.queue import Queue


def quartile(samples: Sequence[int]) -> int:
    """The lower quartile, as the task has it."""
    return sorted(samples)[len(samples) // 4]


def case(queue: str, repeats: int) -> str:
    """One case; the device is imported, so that the line can be run in a cell."""
    return (
        "from stridekit.exercises.performance import Queue\n"
        f"queue = Queue({queue}); repeats = {repeats}"
    )


@exercise(
    title="time work that returns before it is done",
    read=read_number,
    # The pieces of work go around in a cycle as long as `repeats`, so it does not matter how often
    # one warms up: the samples are the same ones, in another order.
    cases=[
        case("[50]", 8),
        case("[50], first=400", 1),
        case("[50, 50, 90, 90], first=400", 4),
        case("[20, 30, 30, 30, 500, 31, 32, 33], first=1000", 8),
        case("[70, 10, 40], first=90", 3),
        case("[9, 8, 7, 6, 5, 4, 3, 2], first=30", 8),
        case("[60, 20, 60, 20, 60, 60, 80, 900], first=5", 8),
        case("[25], busy=300", 1),
        case("[25, 26, 27, 95], first=50, busy=300", 4),
        case("[0], first=10", 1),
        case("[3, 3, 3, 12, 700, 3, 3, 3, 12, 12, 12, 12], first=80", 12),
    ],
    hints=[
        "`queue.work()` only asks for work. Two readings of the clock measure the work itself only if "
        "the queue is empty at the first reading, and empty again at the second.",
        "Warm up first: ask for one piece of work, wait for it, and do not time it. Then take "
        "`repeats` samples, one piece of work each.",
        "A sample: read the clock, `work()`, `synchronize()`, read the clock again. Keep the "
        "differences in a list; `sorted(samples)[repeats // 4]` is the answer.",
    ],
    otherwise="Play it through on paper: what does the clock read before and after each line of yours, "
    "and what is still in the queue then? To ask for work takes 1 microsecond.",
    takeaway="Warm up, wait, read the clock, work, wait, read the clock: many times, and not the mean.",
)
def time_it(queue: Queue, repeats: int) -> int:
    """How long one piece of work takes, launch included: the lower quartile of `repeats` samples.

    queue    queue.work() asks for a piece of work and returns at once; queue.synchronize()
             waits until the queue is empty; queue.clock() reads the time. The first piece
             ever takes longer, and somebody else's work may still be in the queue
    repeats  how many samples to take after the warm-up, of one piece each: an int >= 1
    return   sorted(samples)[repeats // 4], in the clock's microseconds
    """
    queue.work()
    queue.synchronize()
    samples = []
    for _ in range(repeats):
        start = queue.clock()
        queue.work()
        queue.synchronize()
        samples.append(queue.clock() - start)
    return sorted(samples)[repeats // 4]


def sample(queue: Queue) -> int:
    """One sample, taken as it should be."""
    start = queue.clock()
    queue.work()
    queue.synchronize()
    return queue.clock() - start


def warmed(queue: Queue) -> Queue:
    """The queue, after a warm-up that is over."""
    queue.work()
    queue.synchronize()
    return queue


NO_WAITING = (
    "The clock sees the asking alone: `work()` returns after 1 microsecond, with the work still in the "
    "queue. `queue.synchronize()` belongs behind the work and *before* the second reading."
)


@time_it.mistake(NO_WAITING)
def never_waits(queue: Queue, repeats: int) -> int:
    queue.work()
    return launches(queue, repeats)


@time_it.mistake(NO_WAITING)
def waits_for_the_warm_up_alone(queue: Queue, repeats: int) -> int:
    return launches(warmed(queue), repeats)


def launches(queue: Queue, repeats: int) -> int:
    """The wrong samples of who does not wait."""
    samples = []
    for _ in range(repeats):
        start = queue.clock()
        queue.work()
        samples.append(queue.clock() - start)
    return quartile(samples)


@time_it.mistake(NO_WAITING)
def waits_after_the_second_reading(queue: Queue, repeats: int) -> int:
    warmed(queue)
    samples = []
    for _ in range(repeats):
        start = queue.clock()
        queue.work()
        stop = queue.clock()
        queue.synchronize()
        samples.append(stop - start)
    return quartile(samples)


FIRST_SAMPLE = (
    "Your first sample holds what should be over before it starts: the first piece ever, or what was "
    "still in the queue. Before the first reading ask for one piece and wait for it; within a sample, "
    "wait behind the work."
)


@time_it.mistake(FIRST_SAMPLE)
def waits_before_the_work(queue: Queue, repeats: int) -> int:
    queue.work()
    samples = []
    for _ in range(repeats):
        start = queue.clock()
        queue.synchronize()
        queue.work()
        samples.append(queue.clock() - start)
    return quartile(samples)


@time_it.mistake(
    "The first piece of work is among your samples, and it is not like the others: kernels are loaded "
    "and memory is fetched then. Ask for one piece before you start to time, and wait for it."
)
def does_not_warm_up(queue: Queue, repeats: int) -> int:
    queue.synchronize()
    return quartile([sample(queue) for _ in range(repeats)])


@time_it.mistake(FIRST_SAMPLE)
def starts_on_a_busy_queue(queue: Queue, repeats: int) -> int:
    return quartile([sample(queue) for _ in range(repeats)])


@time_it.mistake(
    "You warm up without waiting for it: your first sample waits for the warm-up's work as well. "
    "`queue.synchronize()` once more, before the first reading."
)
def does_not_wait_for_the_warm_up(queue: Queue, repeats: int) -> int:
    queue.work()
    return quartile([sample(queue) for _ in range(repeats)])


@time_it.mistake(
    "That is the mean, and one disturbed sample moves it as far as it likes. The lower quartile is "
    "what the work takes while the machine is left alone: `sorted(samples)[repeats // 4]`."
)
def takes_the_mean(queue: Queue, repeats: int) -> float:
    warmed(queue)
    return sum(sample(queue) for _ in range(repeats)) / repeats


@time_it.mistake(
    "You wait once, at the end, and divide: the launches hide behind the work before them, and one "
    "disturbed piece moves the whole. Wait within each sample, and keep the samples apart."
)
def divides_the_whole(queue: Queue, repeats: int) -> float:
    warmed(queue)
    start = queue.clock()
    for _ in range(repeats):
        queue.work()
    queue.synchronize()
    return (queue.clock() - start) / repeats


MEDIAN = (
    "That is the median. On a machine where half of the samples are disturbed it is a disturbed one; "
    "the task asks for the lower quartile, `sorted(samples)[repeats // 4]`."
)


@time_it.mistake(MEDIAN)
def takes_the_median(queue: Queue, repeats: int) -> float:
    warmed(queue)
    return median([sample(queue) for _ in range(repeats)])


@time_it.mistake(MEDIAN)
def takes_the_upper_median(queue: Queue, repeats: int) -> int:
    warmed(queue)
    return sorted(sample(queue) for _ in range(repeats))[repeats // 2]


@time_it.mistake(
    "That is the smallest sample: a single lucky one decides, and the more you take the luckier it is. "
    "The lower quartile is `sorted(samples)[repeats // 4]`."
)
def takes_the_minimum(queue: Queue, repeats: int) -> int:
    warmed(queue)
    return min(sample(queue) for _ in range(repeats))


@time_it.mistake(
    "One run is no measurement: it may be the disturbed one. Take `repeats` samples, and then their "
    "lower quartile."
)
def takes_one_sample(queue: Queue, repeats: int) -> int:
    return sample(warmed(queue))


@time_it.mistake(
    "You take a quarter of the way through the samples as they came. A quartile is about their sizes: "
    "sort them first."
)
def forgets_to_sort(queue: Queue, repeats: int) -> int:
    warmed(queue)
    return [sample(queue) for _ in range(repeats)][repeats // 4]


@time_it.mistake(
    "That is the upper quartile, three quarters of the way up: the disturbed samples. Sort them, "
    "smallest first, and go a quarter of the way."
)
def takes_the_upper_quartile(queue: Queue, repeats: int) -> int:
    warmed(queue)
    return sorted(sample(queue) for _ in range(repeats))[3 * repeats // 4]
