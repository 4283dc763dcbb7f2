"""Wrong answers to the exercises of notebook 08."""

from itertools import product

from stridekit.exercises import hardware as ex
from stridekit.exercises.hardware.timer import QUARTILE, SAMPLE
from tests.wrong_answers.collecting import ANOTHER_KIND, formulas, general, unnamed, wrong
from tests.wrong_answers.performance import HULL, STOPS

ONE_SAMPLE = f"{SAMPLE}\n        samples.append(queue.clock() - start)"
general(
    ex.time_it,
    "time_it(queue, repeats) + 1",
    instead={
        QUARTILE: [
            "max(samples) + 1",
            "sorted(samples)[min(1, repeats - 1)] + (repeats > 4)",
        ],
    },
)


def timing(warm_ups=1, pieces=1, parts=1, clock=None):
    """The answer that warms up and takes samples in this way, without another mistake."""

    def time_it(queue, repeats):
        read = clock or queue.clock
        for _ in range(warm_ups):
            queue.work()
        queue.synchronize()
        samples = []
        for _ in range(repeats):
            start = read()
            for _ in range(pieces):
                queue.work()
            queue.synchronize()
            samples.append((read() - start) / parts)
        return sorted(samples)[repeats // 4]

    return time_it


SEVERAL = "always ask for more than one piece"
for asked, parts in ((2, 1), (2, 2), (10, 10)):
    wrong(ex.time_it, SEVERAL)(timing(3, asked, parts))


@wrong(ex.time_it, "still in the queue: `work()` only asks")
def waits_at_the_wrong_end(queue, repeats):
    for _ in range(3):
        queue.work()
    samples = []
    for _ in range(repeats):
        queue.synchronize()
        start = queue.clock()
        queue.work()
        samples.append(queue.clock() - start)
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "At your first reading of the clock there is still work")
def warms_up_three_times_and_does_not_wait(queue, repeats):
    for _ in range(3):
        queue.work()
    samples = []
    for _ in range(repeats):
        start = queue.clock()
        queue.work()
        queue.synchronize()
        samples.append(queue.clock() - start)
    return sorted(samples)[repeats // 4]


@wrong(ex.time_it, "with the warm-up among them")
def drops_the_largest(queue, repeats):
    """Often that is the first piece, but not always."""
    samples = []
    for _ in range(repeats + 1):
        start = queue.clock()
        queue.work()
        queue.synchronize()
        samples.append(queue.clock() - start)
    samples.remove(max(samples))
    return sorted(samples)[repeats // 4]


general(ex.time_it, "[time_it(queue, 1) for _ in range(repeats)]", told=ANOTHER_KIND)


@unnamed(ex.time_it, STOPS)
def time_until_it_is_long_enough(queue, repeats):
    start = queue.clock()
    while queue.clock() < start + 1000:
        pass


general(
    ex.warp_sectors,
    "max(1, warp_sectors(stride, offset, itemsize) - 1)",
    "stride * itemsize",
    instead={"range(32)": ["range(30)"], "// 32": ["// 16"]},
)

formulas(
    ex.time_it,
    {
        ONE_SAMPLE: [
            "queue.work(); samples.append(queue.clock() - start)",
            "queue.work(); samples.append(queue.clock() - start); queue.synchronize()",
            "queue.synchronize(); queue.work(); samples.append(queue.clock() - start)",
        ],
        QUARTILE: [
            "max(samples)",
            "samples[0]",
            "samples[-1]",
            "sorted(samples)[min(repeats // 4 + 1, repeats - 1)]",
            "sorted(samples)[max(repeats // 4 - 1, 0)]",
        ],
    },
)

STARTS = ["0", "offset", "offset * itemsize"]
STEPS = ["stride", "4 * stride", "itemsize * stride"]
BYTES = [f"({start} + lane * {step})" for start, step in product(STARTS, STEPS)]
formulas(
    ex.warp_sectors,
    {
        "(offset + lane * stride) * itemsize": [
            *BYTES[:-1],
            *(f"({byte} + itemsize)" for byte in BYTES),
        ],
        "// 32": ["// 16"],
        "range(32)": [f"range({lanes})" for lanes in (16, 31, 33, 64)],
        "len(": [HULL],
    },
)
