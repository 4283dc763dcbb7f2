"""Wrong answers to the exercises of notebook 08."""

from stridekit.exercises import hardware as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, GENERAL, STOPS, refused

START = "start = queue.clock()"
BEGIN = "queue.work()\n    queue.synchronize()\n    samples = []"
TWO_PIECES = f"{START} => {START}; queue.work()"
QUARTILE = "sorted(samples)[repeats // 4]"
refused(
    ex.time_it,
    {
        "always ask for more than one piece": [
            TWO_PIECES,
            f"{TWO_PIECES} && queue.clock() - start => (queue.clock() - start) / 2",
        ],
        "still in the queue: `work()` only asks": [
            f"{START} => queue.synchronize(); {START} && queue.synchronize()\n        samples => samples"
        ],
        "At your first reading of the clock there is still work": [
            f"{BEGIN} => samples = [queue.work() for _ in range(3)][3:]"
        ],
        "with the warm-up among them": [
            f"{BEGIN} => queue.synchronize(); samples = [] && range(repeats) => range(repeats + 1) && "
            f"return => samples.remove(max(samples)); return"
        ],
        # Even if the answer happens to be right.
        "Nothing is asked for between two readings": [
            f"{START} => start = 0 && queue.clock() - start => 0"
        ],
        GENERAL: [
            f"{QUARTILE} => max(samples) + 1",
            f"{QUARTILE} => sorted(samples)[min(1, repeats - 1)] + (repeats > 4)",
        ],
        ANOTHER_KIND: ["[time_it(queue, 1) for _ in range(repeats)]"],
        STOPS: [lambda queue, repeats: [*iter(lambda: queue.clock() < 10**6, False)]],
    },
)

refused(ex.warp_sectors, {GENERAL: ["range(32) => range(30)", "// 32 => // 16"]})
