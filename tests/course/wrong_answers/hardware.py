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
        "always ask for several pieces": [
            TWO_PIECES,
            f"{TWO_PIECES} && queue.clock() - start => (queue.clock() - start) / 2",
        ],
        "is still in the queue: `work()` only asks": [
            f"{START} => queue.synchronize(); {START} && queue.synchronize()\n        samples => samples"
        ],
        "At your first reading of the clock there is still work": [
            f"{BEGIN} => samples = [queue.work() for _ in range(3)][3:]"
        ],
        "the warm-up is one of them": [
            f"{BEGIN} => queue.synchronize(); samples = [] && range(repeats) => range(repeats + 1) && "
            f"return => samples.remove(max(samples)); return"
        ],
        # Even if the answer happens to be right.
        "You ask for no work between two readings": [
            f"{START} => start = 0 && queue.clock() - start => 0"
        ],
        "Your index is one too small": [f"{QUARTILE} => sorted(samples)[int(repeats / 4) - 1]"],
        "so your times are negative": ["queue.clock() - start => -(queue.clock() - start)"],
        "You read the clock once before all samples": [
            "samples = [] => samples, start = [], queue.clock() && "
            "        start = queue.clock()\n        queue.work() =>         queue.work()"
        ],
        "That is the largest sample": [f"{QUARTILE} => sorted(samples)[-1]"],
        GENERAL: [
            f"{QUARTILE} => max(samples) + 1",
            f"{QUARTILE} => sorted(samples)[min(1, repeats - 1)] + (repeats > 4)",
        ],
        ANOTHER_KIND: ["[time_it(queue, 1) for _ in range(repeats)]"],
        STOPS: [lambda queue, repeats: [*iter(lambda: queue.clock() < 10**6, False)]],
    },
)

READ = "read + written"
refused(
    ex.slowdown,
    {
        "as if the warp only read": [
            lambda stride: 8 * stride / 8,
            # The results are written as far apart as the numbers are read.
            f"{READ} => 2 * read",
        ],
        "At stride 1 your bar is 0.5": [lambda stride: stride / 2],
        "At stride 1 your bar is 2": [lambda stride: 1 + stride],
        "Your bars are equal": [lambda stride: 128 / 128],
        "You count a sector for each lane": [lambda stride: (32 + 4) / 8],
        "A sector has 32 bytes and a float has 4": [
            lambda stride: (len({k * stride // 32 for k in range(32)}) + 4) / 8
        ],
        "the number of sectors that the warp moves": [lambda stride: 4 * stride + 4],
        "upside down": [lambda stride: 8 / (4 * stride + 4)],
        "That is the additional time": [lambda stride: (stride - 1) / 2],
        GENERAL: [lambda stride: (stride + 2) / 3, lambda stride: 1 + stride // 4],
        ANOTHER_KIND: [lambda stride: {stride: (stride + 1) / 2}],
    },
)

refused(
    ex.warp_sectors,
    {
        "every sector from the first element to the last": [
            "-(-32 * stride * itemsize // 32) if stride else 1"
        ],
        "You add one sector for an offset": [
            "len({lane * stride * itemsize // 32 for lane in range(32)}) + bool(offset)"
        ],
        GENERAL: ["range(32) => range(30)", "// 32 => // 16"],
    },
)
