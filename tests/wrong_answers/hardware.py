"""Wrong answers to the exercises of notebook 08."""

import time

from stridekit.exercises import hardware as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, GENERAL, STOPS, refused


def timing(warm_ups=1, pieces=1, parts=1, wait="after", dropped=None, begin=True, clock=None):
    """The answer that warms up and takes samples in this way, without another mistake."""

    def time_it(queue, repeats):
        now = clock or queue.clock
        for _ in range(warm_ups):
            queue.work()
        if begin:
            queue.synchronize()
        samples = []
        for _ in range(repeats + (dropped is not None)):
            if wait == "before":
                queue.synchronize()
            start = now()
            for _ in range(pieces):
                queue.work()
            if wait == "after":
                queue.synchronize()
            samples.append((now() - start) / parts)
        if dropped:
            samples.remove(dropped(samples))
        return sorted(samples)[repeats // 4]

    return time_it


QUARTILE = "sorted(samples)[repeats // 4]"
refused(ex.time_it, {
    "always ask for more than one piece": [timing(3, 2, 1), timing(3, 2, 2)],
    "still in the queue: `work()` only asks": [timing(3, wait="before")],
    "At your first reading of the clock there is still work": [timing(3, begin=False)],
    "with the warm-up among them": [timing(0, dropped=max)],
    # Even if the answer happens to be right.
    "Nothing is asked for between two readings": [
        timing(clock=lambda: round(time.perf_counter())), timing(clock=int)],
    GENERAL: [
        f"{QUARTILE} => max(samples) + 1",
        f"{QUARTILE} => sorted(samples)[min(1, repeats - 1)] + (repeats > 4)",
    ],
    ANOTHER_KIND: ["[time_it(queue, 1) for _ in range(repeats)]"],
    STOPS: [lambda queue, repeats: [*iter(lambda: queue.clock() < 10**6, False)]],
})  # fmt: skip

refused(ex.warp_sectors, {GENERAL: ["range(32) => range(30)", "// 32 => // 16"]})
