"""The worst inputs that we know end soon and in little memory, with an answer, Undecided or a refusal.

Each is asked in a process of its own, forked from one that has torch loaded.
"""

import itertools
import multiprocessing
import sys
import time

import pytest
import torch

import stridekit
from stridekit.exercises import strides, views
from tests.core.test_robustness import NAMES, refusal

if not sys.platform.startswith("linux"):
    pytest.skip("what a call takes is read as Linux has it", allow_module_level=True)

import resource

# CPU time of one process, so the load of the machine does not count. The slowest call needs a second.
MOST_SECONDS, MOST_MEGABYTES = 4, 500
GUARD = 3 << 30, 30  # bytes and CPU seconds after which a call is stopped
KNOWN = NAMES | {"L": stridekit.Layout, "itertools": itertools, "strides": strides, "views": views}

# The outcome ("." for an answer, else the initial of the error, as in test_robustness), the set-up, which
# is not measured, and the call. The repr of the answer is measured too.
TANGLED = "L((10**9,) * 3, (10**9 + 7, 10**9 + 9, 10**9 + 21))"  # three steps that interleave
HARD = "L((2,) * 60, [10**12 + k**5 for k in range(60)])"
DEEP = "L((2,) * 900, [2**k + 2 ** (k // 2) for k in range(900)])"
WEIGHTS = "w = [7**k % 10**18 for k in range(60)]"
# Does a sum of weights meet one?
HOLES = "holes = L((63, 10**20 - 1), (10**20, 1), sum(w[::2]) + 2)"
CHAIN = "def chain(x):\n    for _ in range(3000): x = x.t()\n    return x.t().reshape(-1)"
ROWS = [
    ("L", "", "L(itertools.count(1))"),
    (".", "", "L((2,) * 1000).permute(*range(1000)[::-1]).clone()"),
    (".", "", "explain(L((10**6, 10**6), (7, 11)))"),
    (".", "", f"explain({DEEP})"),
    (".", "t = torch.zeros(2, 10**7)[1]", "read_storage(t)[-1]"),
    (".", "", "MemorySet(0, [(3**k, 2) for k in range(1000)], 'cpu')"),
    ("U", "", "max(memset(L((2,) * 900, [10**3 + k * k for k in range(900)])))"),
    ("U", "", "10**6 + 1 in memset(L((2,) * 900, [10**6 + k * k for k in range(900)]))"),
    (".", "", "memset(L((2,) * 600, [3**k for k in range(600)])).blocks()"),
    ("U", "", f"memset({TANGLED}).blocks()"),
    (".", "", "memset(L((10**3,) * 8, (7, 11, 13, 17, 19, 23, 29, 31))).blocks(10**6 + 3)"),
    ("U", "", "memset(L((4000,) * 20, range(3001, 3041, 2))).count()"),
    ("U", "", "memset(L((10**4,) * 3, (6, 10, 15), 10**11)) <= memset(L((10**12,) * 2, (7, 11)))"),
    (".", "x = L((2,) * 600, [3**k for k in range(600)])", "memset(x[:1]) <= memset(x)"),
    ("U", "", "memset(L((10**9,) * 3, (6, 10, 15), 10**10)) < memset(L((10**9,) * 3, (15, 21, 35)))"),
    ("U", f"{WEIGHTS}; {HOLES}", "is_view(L((2,) * 60, w, 10**20), holes)"),
    (".", "", f"is_view({DEEP}, L((10**9,) * 3, (2, 3, 10**400)))"),
    ("U", "", f"shares_memory({DEEP}, L((2,) * 900, [2**k + 2 ** (k // 3) for k in range(900)], 1))"),
    ("U", "", f"has_internal_overlap({HARD})"),
    (".", "", "loop_nest(*[L((2,) * 60), L((2,) * 60).T] * 500)"),
    ("V", "", "traffic(itertools.repeat(L((3,))))"),
    ("U", "", "traffic([L((10 + k,)) for k in range(10**4)])"),
    ("V", "", f"traffic([{DEEP}] * 50)"),
    (".", "", "CacheSets(2**19, 1).misses(L((2**19,), (17,), itemsize=4))"),
    (".", "t = torch.empty(()).expand(10**9, 10**9)", "explore(t)"),
    ("L", "", "setattr(StrideExplorer(L((4, 4))), 'chain', ['.clone()' * 100] * 1000)"),
    (".", "x = L((64, 64), (1, 64))", "setattr(StrideExplorer(x), 'chain', ['.clone()'] * 100)"),
    ("L", "", "AliasExplorer((4, 6), ['y = x.as_strided((0, 50000000), (1, 1))'])"),
    ("L", "", "AliasExplorer((4, 6), ['y = x' + '.t()' * 240] * 1000)"),
    (".", "s = 'Grad strides do not match bucket view strides' * 400", "repr(Diagnose(s))"),
    ("V", "t = torch.ones(()).expand(10**9, 10**9)", "Sort(t, 'x.clone()', also='x.t()')"),
    ("V", "t = torch.ones(4, 6)", "Sort(t, '(' * 10**6 + 'x', also='x.t()')"),
    (".", "m = [('x.t()', 'copy')] * 10**4", "Sort(torch.ones(4, 6), 'x.t()', also='-x', moves=m)"),
    (".", "t = torch.ones(64, 64)", "audit(lambda: [t.t().reshape(-1) for _ in range(300)])"),
    (".", CHAIN, "audit(chain, torch.ones(4, 4))"),
    (".", f"{CHAIN}\na = audit(chain, torch.ones(4, 4))", "repr(CopyTracer(a))"),
    (".", "", "diagnose('Traceback (most recent call last):' + '\\n' * 10**6)"),
    (".", "", "diagnose(f\"shape '[{'9' * 4000}, -1]' is invalid for input of size {'7' * 4000}\")"),
    (".", "n = 10**(10**6)", "strides.address.check(lambda *x: n)"),
    (".", "", "strides.row.check(lambda x, i: x.as_strided((10**9, 10**9), (0, 0)))"),
    (".", "", "strides.contiguous_stride.check(lambda x: range(10**8))"),
    (".", "n = {*range(10**6)}", "views.memset_of.check(lambda x: n)"),
]  # fmt: skip


def ask(answer, setup, call):
    """Send the outcome of the call, its CPU seconds, and the megabytes that it took at its peak."""
    names = dict(KNOWN)
    torch.set_num_threads(1)
    exec(setup, names)
    with open("/proc/self/statm", encoding="ascii") as file:
        room = int(file.read().split()[0]) * resource.getpagesize() + GUARD[0]
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CPU, (GUARD[1], GUARD[1]))
    # Of this process alone: what was there before the call is not the call's.
    begun, held = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        repr(eval(call, names))
        met = "."
    except Exception as error:
        met = refusal(error)
    seconds = time.process_time() - begun
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) / 1024
    answer.send((met, seconds, megabytes))


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@pytest.mark.parametrize(("outcome", "setup", "call"), ROWS, ids=lambda text: text[:60])
def test_it_answers_or_says_why_not(processes, outcome, setup, call):
    answers, answer = processes.Pipe(duplex=False)
    process = processes.Process(target=ask, args=(answer, setup, call))
    process.start()
    process.join()
    assert answers.poll(), "stopped: it took all the time or memory that there was"
    met, seconds, megabytes = answers.recv()
    assert met == outcome
    assert seconds < MOST_SECONDS
    assert megabytes < MOST_MEGABYTES
