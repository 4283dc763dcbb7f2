"""make fuzz: hundreds of thousands of random cases, stridekit against torch, NumPy and brute force.

Every case has a seed of its own, "<seed> <family> <number>", that is printed with a mismatch:
`python -m tests.fuzz --case "7 two_layouts 1234"` runs that one again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from random import Random

from tests import fuzz_layout, fuzz_memory, live, live_lines

FAMILIES: dict[str, Callable[[Random], None]] = {
    **fuzz_layout.CASES,
    **fuzz_memory.CASES,
    **live.CASES,
}


def run(family: str, seed: int, count: int) -> list[str]:
    """Run `count` cases of a family; the seeds and the texts of those that went wrong."""
    wrong = []
    for number in range(count):
        case = f"{seed} {family} {number}"
        try:
            FAMILIES[family](Random(case))
        except Exception as error:  # whatever it is, it is a finding
            wrong.append(f"{case}: {type(error).__name__}: {error}")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Run all families; prints each one's count, and the mismatches."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=600_000, help="how many in all (600000)")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one each time")
    parser.add_argument("--case", help="run one case again, by the seed that a mismatch printed")
    given = parser.parse_args(arguments)
    if given.case:
        FAMILIES[given.case.split()[1]](Random(given.case))
        print(f"{given.case}: no mismatch")
        return 0
    seed = time.time_ns() % 10**9 if given.seed is None else given.seed
    each = -(-given.cases // len(FAMILIES))
    print(f"seed {seed}, {len(FAMILIES)} families of {each:,} cases")
    total, wrong = 0, []
    for family in FAMILIES:
        begin = time.monotonic()
        found = run(family, seed, each)
        total, wrong = total + each, wrong + found
        speed = (time.monotonic() - begin) / each * 1e6
        print(
            f"  {family:<24} {each:>8,} cases {len(found):>4} mismatches {speed:6.0f} µs a case",
            flush=True,
        )
        if family in live_lines.CASES:
            refused, accepted = live_lines.drawn(family)
            print(f"  {'':<24} {refused + accepted:>8,} lines {accepted:>8,} accepted")
    if not live.CASES:
        print("  node is not installed: what the browser says is left out")
    print(*wrong[:20], sep="\n", end="\n" * bool(wrong))
    print(f"{total:,} cases, {len(wrong)} mismatches, seed {seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
