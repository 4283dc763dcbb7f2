"""make fuzz: hundreds of thousands of random cases, stridekit against torch, NumPy and brute force.

A family is a function that draws one case from a `random.Random` and compares. Hypothesis seeds the Random
and runs the family again with smaller seeds where it fails, to print the smallest. It takes a millisecond
for an example and a case takes a tenth of that, so an example is a batch of cases.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from random import Random

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests import fuzz_attention, fuzz_layout, fuzz_memory, live

FAMILIES: dict[str, Callable[[Random], None]] = {
    **fuzz_layout.CASES,
    **fuzz_attention.CASES,
    **fuzz_memory.CASES,
    **live.CASES,
}
BATCH = 20  # cases of one example: 2,000 of each family in the profile quick, 20,000 in long
FEWER = {"sdpa": 4}  # of a family whose cases take long


def batch(family: str, r: Random) -> None:
    """Draw some cases of a family; AssertionError for a mismatch, or whatever else goes wrong."""
    for _ in range(FEWER.get(family, BATCH)):
        FAMILIES[family](r)


def prepared() -> Callable[[str], None]:
    """Hypothesis' test of one family: as many batches as the profile has examples."""
    return given(r=st.randoms(use_true_random=True))(batch)


def main(arguments: list[str] | None = None) -> int:
    """Run all families, or those named; print the count of each, and its first mismatch."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("families", nargs="*", default=[*FAMILIES], help="all of them")
    parser.add_argument("--cases", type=int, default=600_000, help="how many in all (600000)")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one each time")
    asked = parser.parse_args(arguments)
    number = time.time_ns() % 10**9 if asked.seed is None else asked.seed
    examples = -(-asked.cases // (BATCH * len(asked.families)))
    thorough = settings(
        max_examples=examples,
        derandomize=False,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    print(f"seed {number}, {len(asked.families)} families of {examples * BATCH:,} cases")
    wrong = 0
    for family in asked.families:
        begin = time.monotonic()
        try:
            seed(number)(thorough(prepared()))(family)
        except Exception as error:  # whatever it is, it is a finding
            wrong += 1
            print("".join(traceback.format_exception_only(error)))
        print(f"  {family:<24} {time.monotonic() - begin:6.1f} s", flush=True)
    print(f"{wrong} of {len(asked.families)} families have a mismatch, seed {number}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
