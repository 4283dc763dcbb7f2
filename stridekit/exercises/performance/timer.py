"""E1: a device that returns before its work is done, and how to time it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from statistics import median  # noqa: F401  (in sources alone)

from stridekit.exercises.answers import read_number
from stridekit.exercises.core import exercise

MOST_STEPS = 10_000
LAUNCH = 1  # what the host needs to ask for work


class Queue:
    """Ask it for work and it returns at once; `synchronize` waits until the work is done.

    Its n-th piece of work takes `work[n]` microseconds, from the front again after the last; the very
    first takes `first` more. For the first `busy` microseconds it works for somebody else. To ask for a
    piece takes the host 1 microsecond. `clock` tells the host's time. Nothing here is random, and
    nothing depends on the machine.

    >>> queue = Queue([50], first=400)
    >>> queue.work()
    >>> queue.clock()
    1
    >>> queue.synchronize()
    >>> queue.clock()
    451
    """

    def __init__(self, work: Sequence[int], first: int = 0, busy: int = 0) -> None:
        self._costs = cycle(work)
        self._first = first
        self._host = 0
        self._free = busy  # when the device will have done all that it was asked for
        self._steps = 0

    def work(self) -> None:
        """Ask for one piece of work. It stands in the queue when this returns; it is not done."""
        self._step()
        self._host += LAUNCH
        self._free = max(self._free, self._host) + next(self._costs) + self._first
        self._first = 0

    def synchronize(self) -> None:
        """Wait until nothing is left in the queue."""
        self._step()
        self._host = max(self._host, self._free)

    def clock(self) -> int:
        """The host's time, in microseconds."""
        self._step()
        return self._host

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise RuntimeError(f"the queue was used {MOST_STEPS:,} times: does your loop end?")


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


# The slots, in the order in which the cases show them.
SAMPLE = "queue.work()\n        queue.synchronize()"
WARM_UP = "queue.work()\n    queue.synchronize()"
QUARTILE = "sorted(samples)[repeats // 4]"

FIRST_SAMPLE = (
    "Your first sample holds what should be over before it starts: the first piece ever, or what "
    "was still in the queue. Before the first reading ask for one piece and wait for it; within a "
    "sample, wait after the work."
)
MEDIAN = (
    "That is the median. On a machine where half of the samples are disturbed it is a disturbed one; "
    "the task asks for the lower quartile, `sorted(samples)[repeats // 4]`."
)

time_it.slots[SAMPLE] = {
    "queue.work()": "The clock sees the asking alone: `work()` returns after 1 microsecond, with "
    "the work still in the queue. `queue.synchronize()` belongs after the work and *before* the "
    "second reading.",
}
time_it.slots[WARM_UP] = {
    "queue.synchronize()": "The first piece of work is among your samples, and it is not like the "
    "others: kernels are loaded and memory is fetched then. Ask for one piece before you start to "
    "time, and wait for it.",
    "pass": FIRST_SAMPLE,
    "queue.work()": "You warm up without waiting for it: your first sample waits for the warm-up's "
    "work as well. `queue.synchronize()` once more, before the first reading.",
}
time_it.slots[QUARTILE] = {
    "sum(samples) / repeats": "That is the mean, and one disturbed sample moves it as far as it "
    "likes. The lower quartile is what the work takes while the machine is left alone: "
    "`sorted(samples)[repeats // 4]`.",
    "median(samples)": MEDIAN,
    "sorted(samples)[repeats // 2]": MEDIAN,
    "min(samples)": "That is the smallest sample: a single lucky one decides, and the more you "
    "take the luckier it is. The lower quartile is `sorted(samples)[repeats // 4]`.",
    "samples[repeats // 4]": "You take a quarter of the way through the samples as they came. A "
    "quartile is about their sizes: sort them first.",
    "sorted(samples)[3 * repeats // 4]": "That is the upper quartile, three quarters of the way "
    "up: the disturbed samples. Sort them, smallest first, and go a quarter of the way.",
}
time_it.wrong |= {
    "time_it(queue, 1)": "One run is no measurement: it may be the disturbed one. Take `repeats` "
    "samples, and then their lower quartile.",
}


@time_it.mistake(
    "You wait once, at the end, and divide: the launches hide behind the work before them, and one "
    "disturbed piece moves the whole. Wait within each sample, and keep the samples apart."
)
def divides_the_whole(queue: Queue, repeats: int) -> float:
    queue.work()
    queue.synchronize()
    start = queue.clock()
    for _ in range(repeats):
        queue.work()
    queue.synchronize()
    return (queue.clock() - start) / repeats
