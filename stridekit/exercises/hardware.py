"""The exercises of notebook 08: the sectors of a warp, a device that works by itself, a bar of a GPU."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import cycle, pairwise
from statistics import median  # noqa: F401 (for mistakes)
from typing import Any

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_number
from stridekit.exercises.running import Arguments, Outcome
from stridekit.exercises.watch import Means

__all__ = ["warp_sectors", "time_it", "slowdown"]
__dir__ = [*__all__, "Queue"].copy  # `ex.` and the tab key offer these alone

MOST_STEPS = 10_000
LAUNCH = 1  # what the host needs to ask for work


class Queue:
    """A simulated device: `work` returns at once, `synchronize` waits until the work is done.

    The n-th piece of work takes `work[n]` microseconds, and the list repeats when it is used up.
    The very first piece takes `first` microseconds more. For the first `busy` microseconds the
    device works for somebody else. Asking for a piece takes the host 1 microsecond. `clock`
    reads the host's time. Nothing here is random, and nothing depends on the machine.

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
        self._asked = 0
        self._readings: dict[int, bool] = {}  # by pieces asked for: whether any was left

    def work(self) -> None:
        """Ask for one piece of work. When this returns, the piece is in the queue, not done."""
        self._step()
        self._asked += 1
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
        self._readings[self._asked] = self._free > self._host
        return self._host

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise RuntimeError(f"the queue was used {MOST_STEPS:,} times: does your loop end?")


UNTIMED = (
    "You ask for no work between two readings of `queue.clock()`, so your answer cannot depend on "
    "how long the work takes. (`time.perf_counter()` does not read the clock of this device.)"
)
SEVERAL = (
    "Between two readings of the clock you always ask for several pieces of work, so no difference "
    "is the time of one piece. Dividing does not help, because one disturbed piece spoils the "
    "others. Read the clock before and after each piece."
)
NO_WAIT = (
    "At your second reading of the clock the piece is still in the queue: `work()` only asks for "
    "it, and returns after 1 microsecond. Wait for the piece before you read the clock."
)
NOT_EMPTY = (
    "At your first reading of the clock there is still work in the queue. Your sample then waits "
    "for that work as well. Wait before you read the clock."
)


def read_time(answer: Any, args: Arguments) -> Outcome:
    """Read a number, with a hint if the readings of the clock show a flaw in how it was measured.

    If they show that no single piece was timed, even the right number is wrong.
    """
    outcome = read_number(answer, args)
    readings: dict[int, bool] = args["queue"]._readings
    pieces_timed = [after - before for before, after in pairwise(readings)]
    if not pieces_timed or min(pieces_timed) > 1:
        flaw = SEVERAL if pieces_timed else UNTIMED
        return Outcome(outcome.facts | {"flaw": flaw}, outcome.shown, flaw)
    had_work_at_first, *had_work_later = readings.values()
    if all(had_work_later):
        return replace(outcome, hint=NO_WAIT)
    if had_work_at_first:
        return replace(outcome, hint=NOT_EMPTY)
    return outcome


def case(queue: str, repeats: int) -> str:
    """Return the source of a case; it imports the device, so that it can be run in a cell."""
    return (
        "from stridekit.exercises.hardware import Queue\n"
        f"queue = Queue({queue}); repeats = {repeats}"
    )


# time_it quotes Queue, so that its solution runs in its lesson, which does not import that name.
@exercise(
    title="time work that returns before it is done",
    read=read_time,
    # The times of the work repeat in a cycle as long as `repeats`. So however often an answer warms
    # up, it takes the same samples, in another order.
    cases=[
        case("[50]", 8),
        case("[50], first=400", 1),
        case("[50, 50, 90, 90], first=400", 4),
        case("[20, 30, 30, 30, 500, 31, 32, 33], first=1000", 8),
        case("[70, 10, 40], first=90", 3),
        case("[9, 8, 7, 6, 5, 4, 3, 2], first=30", 8),
        case("[60, 20, 60, 20, 60, 60, 80, 900], first=5", 8),
        case("[2, 30, 30, 30], first=1", 4),
        case("[40, 10, 20, 30, 70, 60, 50], first=20", 7),
        case("[25], busy=300", 1),
        case("[25, 26, 27, 95], first=50, busy=300", 4),
        case("[0], first=10", 1),
        case("[3, 3, 3, 12, 700, 3, 3, 3, 12, 12, 12, 12], first=80", 12),
    ],
    hints=[
        "`queue.work()` only asks for work. Two readings of the clock measure the work itself "
        "only if the queue is empty at the first reading, and empty again at the second.",
        "Warm up first: ask for one piece of work and wait for it, but do not time it. Then take "
        "`repeats` samples, with one piece of work each.",
        "For a sample, read the clock, call `work()` and `synchronize()`, and read the clock again. "
        "Keep the differences in a list. The answer is `sorted(samples)[repeats // 4]`.",
    ],
    otherwise=(
        "Trace your lines on paper. What does the clock read before and after each line, and what "
        "is in the queue at that moment? Asking for work takes 1 microsecond."
    ),
    takeaway=(
        "Warm up. Many times, read the clock, work, wait, and read it again. Report a quartile."
    ),
)
def time_it(queue: "Queue", repeats: int) -> int:
    """How long one piece of work takes, launch included: the lower quartile of `repeats` samples.

    queue    queue.work() asks for a piece of work and returns at once; queue.synchronize()
             waits until the queue is empty; queue.clock() reads the time. The very first
             piece takes longer, and other work may still be in the queue at the start
    repeats  how many samples to take after a warm-up, of one piece each: an int >= 1
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


def divides_the_whole(queue: Queue, repeats: int) -> float:
    queue.work()
    queue.synchronize()
    start = queue.clock()
    for _ in range(repeats):
        queue.work()
    queue.synchronize()
    return (queue.clock() - start) / repeats


time_it.slots["queue.work()\n        queue.synchronize()"] = {
    "queue.work()": NO_WAIT,
    "queue.work(); queue.work(); queue.synchronize()": SEVERAL,
}
time_it.slots["queue.work()\n    queue.synchronize()"] = {
    "queue.synchronize()": (
        "Your samples include the very first piece of work. It takes longer, because kernels are "
        "loaded then. Ask for one piece before the samples, and wait for it."
    ),
    "pass": (
        "Your first sample includes the very first piece, or work that was still in the queue. "
        "Before the samples, ask for one piece and wait for it."
    ),
    "queue.work()": NOT_EMPTY,
}
time_it.slots["sorted(samples)[repeats // 4]"] = {
    "sum(samples) / repeats": (
        "That is the mean. A single disturbed sample can move it as far as you like. The task asks "
        "for the lower quartile."
    ),
    ("median(samples)", "sorted(samples)[repeats // 2]"): (
        "That is the median. If half of the samples are disturbed, the median is a disturbed "
        "sample. The task asks for the lower quartile."
    ),
    "min(samples)": (
        "That is the smallest sample. A single lucky sample decides it, and with more samples it "
        "gets smaller. The task asks for the lower quartile."
    ),
    "max(samples)": (
        "That is the largest sample, which is a disturbed one. The task asks for the lower quartile."
    ),
    "sorted(samples)[repeats // 4 - 1]": (
        "Your index is one too small: the first sample has index 0. With fewer than 4 samples, your "
        "index is -1, which is the largest sample."
    ),
    "samples[repeats // 4]": (
        "You take a sample by its place in time. A quartile depends on the sizes of the samples: "
        "sort them first."
    ),
    ("sorted(samples)[3 * repeats // 4]", "np.quantile(samples, 0.75)"): (
        "That is the upper quartile, three quarters of the way up, where the disturbed samples are. "
        "Go up a quarter of the way."
    ),
    ("sorted(samples, reverse=True)[repeats // 4]", "sorted(samples)[-(repeats // 4)]"): (
        "You go a quarter of the way down from the largest sample, where the disturbed samples are. "
        "Start at the smallest."
    ),
    (
        "np.quantile(samples, 0.25)",
        "np.quantile(samples, 0.25, method='lower')",
        "np.quantile(samples, 0.25, method='higher')",
        "np.quantile(samples, 0.25, method='nearest')",
        "np.quantile(samples, 0.25, method='weibull')",
    ): (
        "There are several conventions for a quartile. Yours takes a neighbour of the right sample, "
        "or a value between two samples. The task says which sample to take."
    ),
}
time_it.wrong |= {
    "queue.work()\n        queue.synchronize() => queue.synchronize(); queue.work()": NO_WAIT,
    "divides_the_whole(queue, repeats)": SEVERAL,
    "queue.clock() - start => start - queue.clock()": (
        "You subtract the later reading from the earlier one, so your times are negative."
    ),
    "for _ in range(repeats):\n        start = queue.clock() => "
    "start = queue.clock()\n    for _ in range(repeats):": (
        "You read the clock once before all samples, so each sample includes the samples before it. "
        "Read the clock before each piece."
    ),
    "time_it(queue, 1)": (
        "You take one sample, and it may be a disturbed one. Take `repeats` samples, and then their "
        "lower quartile."
    ),
    "time_it(queue, repeats) - 1": (
        "You subtract the microsecond of the launch. The task counts it as a part of the work."
    ),
    "queue.work()\n    queue.synchronize()\n => \n && range(repeats) => range(repeats + 1)": (
        "Your answer is that of `repeats` + 1 samples: the warm-up is one of them. Leave it out "
        "before you sort."
    ),
}


@exercise(
    title="the sectors that a warp loads",
    read=read_number,
    means=Means(whole=("warp_sectors",)),
    cases=[
        "stride = 1; offset = 0; itemsize = 4",
        "stride = 2; offset = 0; itemsize = 4",
        "stride = 5; offset = 0; itemsize = 4",
        "stride = 8; offset = 0; itemsize = 4",
        "stride = 32; offset = 0; itemsize = 4",
        "stride = 1; offset = 1; itemsize = 4",
        "stride = 1; offset = 8; itemsize = 4",
        "stride = 3; offset = 7; itemsize = 4",
        "stride = 5; offset = 3; itemsize = 4",
        "stride = 1; offset = 0; itemsize = 8",
        "stride = 1; offset = 3; itemsize = 8",
        "stride = 4; offset = 0; itemsize = 8",
        "stride = 3; offset = 1; itemsize = 8",
        "stride = 1; offset = 0; itemsize = 2",
        "stride = 1; offset = 9; itemsize = 2",
        "stride = 7; offset = 15; itemsize = 2",
        "stride = 1; offset = 0; itemsize = 1",
        "stride = 1; offset = 31; itemsize = 1",
        "stride = 9; offset = 5; itemsize = 1",
        "stride = 40; offset = 3; itemsize = 1",
        "stride = 1; offset = 1; itemsize = 16",
        "stride = 3; offset = 1; itemsize = 16",
        "stride = 0; offset = 5; itemsize = 4",
        "stride = 0; offset = 0; itemsize = 8",
    ],
    hints=[
        "This is `cache_lines` of lesson 05 again, with 32 elements and blocks of 32 bytes.",
        "Lane k reads element `offset + k * stride`. At which byte does it start, and which "
        "sector holds that byte?",
        "For every lane of range(32), put `(offset + lane * stride) * itemsize // 32` into a set.",
    ],
    otherwise=(
        "Write down the byte at which each of the 32 elements starts, and divide each byte by 32. "
        "How many different whole numbers do you get?"
    ),
    takeaway="A warp loads least if neighbouring lanes read neighbouring bytes: it coalesces.",
)
def warp_sectors(stride: int, offset: int, itemsize: int) -> int:
    """How many 32-byte sectors a warp loads when each of its 32 lanes reads one element.

    Not allowed: stridekit's own `warp_sectors`, which does the whole task.

    stride    lane k reads element offset + k * stride of the storage: an int >= 0
    offset    the element of lane 0: an int >= 0
    itemsize  the bytes of an element: 1, 2, 4, 8 or 16
    return    the number of different sectors: sector k is the bytes 32*k to 32*k + 31 of the
              storage, whose byte 0 starts a sector
    """
    return len({(offset + lane * stride) * itemsize // 32 for lane in range(32)})


warp_sectors.slots["// 32"] = {
    "// 128": (
        "Your blocks have 128 bytes, like the cache line of a GPU. It consists of sectors of 32 "
        "bytes, and only the needed sectors travel."
    ),
    "// 64": "Your blocks have 64 bytes, like the cache line of a CPU. A sector of a GPU has 32.",
    "/ 32": shared.NOT_WHOLE.format("sector", 32),
    "% 32": shared.PLACE_IN.format("sector", 32),
}
warp_sectors.slots["itemsize"] = {"4": shared.ITEMSIZE.format("itemsize")}
warp_sectors.slots["offset"] = {
    "0": (
        "You start the warp at the start of a sector. With an offset it can reach into one more "
        "sector: drag the offset of the warp in the picture above."
    ),
    "offset / itemsize": shared.OFFSET_IN_BYTES,
    "offset * stride": "You multiply the offset by the stride. The offset is the element of lane 0.",
}
warp_sectors.wrong |= {
    "itemsize => 1": shared.DIVIDED_ELEMENTS.format("sector", 32),
    ("* stride => ", "32 * itemsize // 32"): (
        "You count the sectors of 32 elements in a row. Here the elements lie `stride` apart, and "
        "sectors travel whole."
    ),
    "32": "You count one sector for each lane. Lanes whose elements lie in one sector share it.",
    (
        "(offset + 31 * stride) * itemsize // 32 - offset * itemsize // 32 + 1",
        "stride * itemsize",
        "max(1, stride * itemsize)",
    ): shared.HULL.format("sector"),
    (
        "warp_sectors(stride, 0, itemsize) + (offset > 0)",
        "warp_sectors(stride, 0, itemsize) + (offset * itemsize % 32 > 0)",
    ): (
        "You add one sector for an offset. An offset moves every lane: count the sectors of the "
        "moved lanes."
    ),
    "32 * warp_sectors(stride, offset, itemsize)": shared.IN_BYTES.format("sectors"),
}
warp_sectors.exact |= {
    (
        "len({(offset + lane * stride) * itemsize // 32 for lane in range(31)})",
        "len({(offset + lane * stride) * itemsize // 32 for lane in range(33)})",
        "len({(offset + lane * stride) * itemsize // 32 for lane in range(1, 33)})",
        "len({(offset + lane * stride) * itemsize // 32 for lane in range(64)})",
    ): "Your warp does not have 32 lanes, numbered from 0 to 31.",
}


# The sectors miss the recorded bars by 14 % at most, and the nearest known mistake, to leave out what is
# written, misses one by 20 %. A test compares both with the record.
CLOSE = 1 / 6


@cache
def recorded_bars() -> dict[int, float]:
    """Return how long the recorded GPU took for each stride, as multiples of stride 1."""
    path = files("stridekit.lessons") / "recorded_on_gpu.json"
    records = json.loads(path.read_text(encoding="utf-8"))["records"]
    bars = {1: 1.0}
    for stride in (2, 4, 8):
        bars[stride] = records["-x, by stride"]["ratios"][f"stride {stride}"]["value"]
    bars[5] = records["x.add(3)"]["ratios"]["stride 5"]["value"]
    return bars


def read_bar(answer: Any, args: Arguments) -> Outcome:
    """Read a predicted bar. All predictions that are close to the record are the same fact."""
    outcome = read_number(answer, args)
    predicted = outcome.facts["value"]
    recorded = recorded_bars()[args["stride"]]
    is_close = abs(predicted / recorded - 1) <= CLOSE
    return Outcome(
        {"value": recorded if is_close else predicted},
        f"{predicted:.3g} times as long; the record has {recorded:.3g}",
    )


@exercise(
    title="predict a bar of the recorded GPU",
    read=read_bar,
    cases=[
        "stride = 1",
        "stride = 2",
        "stride = 4",
        "stride = 8",
        "stride = 5",
    ],
    hints=[
        "Count the sectors that one warp reads, and the sectors that it writes. Then count both for "
        "stride 1.",
        "A warp writes 32 floats side by side: 4 sectors, at every stride. It reads 4 sectors at "
        "stride 1. How many does it read at stride 2?",
        "Divide: `(read + 4) / (4 + 4)`, where `read` is "
        "`len({lane * stride * 4 // 32 for lane in range(32)})`.",
    ],
    otherwise=(
        "Take stride 2. The 32 floats reach over 256 bytes: how many sectors are that? How many does "
        "the warp write, and how many does it read and write at stride 1?"
    ),
    takeaway=(
        "Sectors, read and written, predict these bars within a sixth. Look at larger strides below."
    ),
)
def slowdown(stride: int) -> float:
    """How many times as long `-x` takes on a GPU as with stride 1, by the sectors of one warp.

    stride  the 32 lanes read floats of 4 bytes that lie `stride` elements apart, from the start
            of a sector; they write their results side by side. An int from 1 to 8
    return  what a warp reads and writes at this stride, over what it reads and writes at
            stride 1: a number within a sixth of the bar of an H200. (The bar of stride 5 is
            from `x.add(3)`, which reads and writes as much.)
    """
    read = len({lane * stride * 4 // 32 for lane in range(32)})
    written = 4
    return (read + written) / (4 + written)


slowdown.wrong |= {
    "stride": (
        "Your bars grow as the stride does, as if the warp only read. It also writes 32 results side "
        "by side: 4 sectors at every stride. Add these 4 to both numbers before you divide."
    ),
    "read + written => read": (
        "At stride 1 your bar is 0.5, and it has to be 1. You count what is written at stride 1 "
        "alone: the warp writes 4 sectors at every stride."
    ),
    "4 + written => 4": (
        "At stride 1 your bar is 2, and it has to be 1. Stride 1 writes 4 sectors too: divide by "
        "all that it reads and writes."
    ),
    "1": (
        "Your bars are equal, as if only the floats travelled that the warp asks for. Memory answers "
        "in whole sectors: at stride 2, half of each is thrown away, and twice as many are read."
    ),
    "(32 + 4) / 8": (
        "You count a sector for each lane. Up to stride 7, some neighbours lie in one sector and "
        "share it: put the numbers of the sectors into a set."
    ),
    "* 4 // 32 => // 32": (
        "You divide elements by 32. A sector has 32 bytes and a float has 4 of them: lane k reads "
        "from byte `k * stride * 4`."
    ),
    "8 * slowdown(stride)": (
        "That is the number of sectors that the warp moves. A bar is a multiple of stride 1: divide "
        "by the sectors that it moves there."
    ),
    "1 / slowdown(stride)": (
        "Your fraction is upside down. A bar longer than 1 takes longer: divide by what stride 1 moves."
    ),
    "slowdown(stride) - 1": (
        "That is the additional time. A bar starts at 0, so the bar of stride 1 is 1."
    ),
}
