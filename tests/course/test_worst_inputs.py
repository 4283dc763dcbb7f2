"""The worst inputs that we know end soon and in little memory, with an answer, Undecided or a refusal.

Each call runs in a process of its own, forked from one that has loaded torch.
"""

import itertools
import multiprocessing
import sys
import time
from typing import NamedTuple

import pytest
import torch

from stridekit import Layout
from stridekit.exercises import strides, views
from tests.core.robustness import refusal
from tests.course.forks import end_fork_server
from tests.course.test_robustness import NAMES

if not sys.platform.startswith("linux"):
    pytest.skip("the memory of a call is read in the way of Linux", allow_module_level=True)

import resource

# CPU time of one process, so the load of the machine does not count. The slowest call needs a second.
MOST_SECONDS = 4
MOST_MEGABYTES = 500
# The kernel stops a call that goes far beyond.
GUARD_SECONDS = 30
GUARD_BYTES = 3 << 30


class Case(NamedTuple):
    """A call whose answer and its repr are measured; the set-up before it is not."""

    call: str
    setup: str = ""


GRIDS = """\
x = torch.empty(3000, 3000)
grids = [x[k % 7 :: 2 + k % 5, k % 3 :: 3 + k % 4] for k in range(3000)]"""
INTERLEAVED = "L((10**9,) * 3, (10**9 + 7, 10**9 + 9, 10**9 + 21))"  # its three steps interleave
HARD = "L((2,) * 60, [10**12 + k**5 for k in range(60)])"
DEEP = "L((2,) * 900, [2**k + 2 ** (k // 2) for k in range(900)])"
ALSO_DEEP = "L((2,) * 900, [2**k + 2 ** (k // 3) for k in range(900)], 1)"
# Whether a sum of the weights falls into the holes is a subset-sum problem.
WEIGHTS = "w = [7**k % 10**18 for k in range(60)]"
HOLES = "holes = L((63, 10**20 - 1), (10**20, 1), sum(w[::2]) + 2)"
TRIPLED = "x = L((2,) * 600, [3**k for k in range(600)])"
CHAIN = "def chain(x):\n    for _ in range(3000): x = x.t()\n    return x.t().reshape(-1)"
MOVES = "m = [('x.t()', 'copy')] * 10**4"
HUGE = "t = torch.ones(()).expand(10**9, 10**9)"
DIGITS = f"shape '[{'9' * 4000}, -1]' is invalid for input of size {'7' * 4000}"

CASES = {
    "answer": [
        Case("L((2,) * 1000).permute(*range(1000)[::-1]).clone()"),
        Case("explain(L((10**6, 10**6), (7, 11)))"),
        Case(f"explain({DEEP})"),
        Case("read_storage(t)[-1]", setup="t = torch.zeros(2, 10**7)[1]"),
        Case("MemorySet(0, [(3**k, 2) for k in range(1000)], 'cpu')"),
        Case("memset(x).blocks()", setup=TRIPLED),
        Case("memset(L((10**3,) * 8, (7, 11, 13, 17, 19, 23, 29, 31))).blocks(10**6 + 3)"),
        Case("memset(x[:1]) <= memset(x)", setup=TRIPLED),
        Case(f"is_view({DEEP}, L((10**9,) * 3, (2, 3, 10**400)))"),
        Case("storages(rows).table()", setup="rows = [*torch.zeros(10**4, 4)]"),
        Case("storages(grids)", setup=GRIDS),
        Case("loop_nest(*[L((2,) * 60), L((2,) * 60).T] * 500)"),
        Case("CacheSets(2**19, 1).misses(L((2**19,), (17,), itemsize=4))"),
        Case("explore(t)", setup="t = torch.empty(()).expand(10**9, 10**9)"),
        Case(
            "setattr(StrideExplorer(x), 'chain', ['.clone()'] * 100)",
            setup="x = L((64, 64), (1, 64))",
        ),
        Case(
            "repr(Diagnose(s))",
            setup="s = 'Grad strides do not match bucket view strides' * 400",
        ),
        Case("Sort(torch.ones(4, 6), 'x.t()', also='-x', moves=m)", setup=MOVES),
        Case(
            "audit(lambda: [t.t().reshape(-1) for _ in range(300)])",
            setup="t = torch.ones(64, 64)",
        ),
        Case("audit(chain, torch.ones(4, 4))", setup=CHAIN),
        Case("repr(CopyTracer(a))", setup=f"{CHAIN}\na = audit(chain, torch.ones(4, 4))"),
        Case("diagnose('Traceback (most recent call last):' + '\\n' * 10**6)"),
        Case("diagnose(s)", setup=f's = "{DIGITS}"'),
        Case("strides.address.check(lambda *x: n)", setup="n = 10**(10**6)"),
        Case("strides.row.check(lambda x, i: x.as_strided((10**9, 10**9), (0, 0)))"),
        Case("strides.contiguous_stride.check(lambda x: range(10**8))"),
        Case("views.memset_of.check(lambda x: n)", setup="n = {*range(10**6)}"),
    ],
    "Undecided": [
        Case("max(memset(L((2,) * 900, [10**3 + k * k for k in range(900)])))"),
        Case("10**6 + 1 in memset(L((2,) * 900, [10**6 + k * k for k in range(900)]))"),
        Case(f"memset({INTERLEAVED}).blocks()"),
        Case("memset(L((4000,) * 20, range(3001, 3041, 2))).count()"),
        Case("memset(L((10**4,) * 3, (6, 10, 15), 10**11)) <= memset(L((10**12,) * 2, (7, 11)))"),
        Case(
            "memset(L((10**9,) * 3, (6, 10, 15), 10**10)) < memset(L((10**9,) * 3, (15, 21, 35)))"
        ),
        Case("is_view(L((2,) * 60, w, 10**20), holes)", setup=f"{WEIGHTS}; {HOLES}"),
        Case(f"shares_memory({DEEP}, {ALSO_DEEP})"),
        Case(f"has_internal_overlap({HARD})"),
        Case("traffic([L((10 + k,)) for k in range(10**4)])"),
    ],
    "LayoutError": [
        Case("L(itertools.count(1))"),
        Case("setattr(StrideExplorer(L((4, 4))), 'chain', ['.clone()' * 100] * 1000)"),
        Case("AliasExplorer((4, 6), ['y = x.as_strided((0, 50000000), (1, 1))'])"),
        Case("AliasExplorer((4, 6), ['y = x' + '.t()' * 240] * 1000)"),
    ],
    "ValueError": [
        Case("traffic(itertools.repeat(L((3,))))"),
        Case(f"traffic([{DEEP}] * 50)"),
        Case("Sort(t, 'x.clone()', also='x.t()')", setup=HUGE),
        Case("Sort(t, '(' * 10**6 + 'x', also='x.t()')", setup="t = torch.ones(4, 6)"),
    ],
}


def answer(sender, case):
    """Send the outcome of a call, its CPU seconds, and the megabytes that it took at its peak."""
    names = NAMES | {"itertools": itertools, "L": Layout, "strides": strides, "views": views}
    torch.set_num_threads(1)
    exec(case.setup, names)
    with open("/proc/self/statm", encoding="ascii") as file:
        pages_now = int(file.read().split()[0])
    most_bytes = pages_now * resource.getpagesize() + GUARD_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (GUARD_SECONDS, GUARD_SECONDS))
    seconds_before = time.process_time()
    kilobytes_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        repr(eval(case.call, names))
        outcome = "answer"
    except Exception as error:
        outcome = refusal(error)
    seconds = time.process_time() - seconds_before
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - kilobytes_before
    sender.send((outcome, seconds, kilobytes / 1024))


@pytest.fixture(scope="module")
def processes():
    end_fork_server()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


ROWS = [(outcome, case) for outcome, cases in CASES.items() for case in cases]


@pytest.mark.parametrize(("expected", "case"), ROWS, ids=[case.call[:60] for _, case in ROWS])
def test_it_answers_or_says_why_not(processes, expected, case):
    receiver, sender = processes.Pipe(duplex=False)
    process = processes.Process(target=answer, args=(sender, case))
    process.start()
    process.join()
    assert receiver.poll(), "stopped: it took all the time or memory that there was"
    outcome, seconds, megabytes = receiver.recv()
    assert outcome == expected
    assert seconds < MOST_SECONDS
    assert megabytes < MOST_MEGABYTES
