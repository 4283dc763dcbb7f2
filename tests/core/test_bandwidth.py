"""The bandwidth: which arrays are timed, whose speed it is, and what a store costs."""

from typing import NamedTuple

import pytest

from stridekit.cost import bandwidth as module
from stridekit.cost.bandwidth import Bandwidth, bandwidth
from stridekit.timing import Cache, Comparison, Hierarchy

MIB = 1 << 20
LARGE = (Cache("L2", 2 * MIB), Cache("L3", 32 * MIB))


def compared(fill, copy, triad, spread=0.0, device="cpu", threads=1):
    """A comparison whose samples have these seconds, or up to `spread` more of them."""
    rounds = 21
    seconds_of = {"fill": fill, "copy": copy, "triad": triad}
    samples = {}
    for i, (name, seconds) in enumerate(seconds_of.items()):
        factors = [1 + spread * (k * (3 + i) % 7) / 6 for k in range(rounds)]
        samples[name] = [[seconds * factor] for factor in factors]
    return Comparison(
        samples=samples,
        order=[[0, 1, 2]] * rounds,
        calls=dict.fromkeys(samples, 1),
        threads=threads,
        device=device,
    )


@pytest.fixture
def compare_calls(monkeypatch):
    """The calls of `compare`: the numbers that each function leaves in the first array, and the options.

    Nothing is timed.
    """
    calls = []

    def compare(functions, **options):
        values = {}
        for name, function in functions.items():
            values[name] = function().unique().tolist()
        calls.append((values, options))
        return compared(1e-3, 2e-3, 3e-3, threads=options["threads"])

    monkeypatch.setattr(module, "compare", compare)
    return calls


def set_machine(monkeypatch, caches, cores=4):
    """Let the machine have these caches and cores."""
    monkeypatch.setattr(module, "hierarchy", lambda: Hierarchy(caches, 4096, None))
    monkeypatch.setattr(module.os, "cpu_count", lambda: cores)


def test_what_is_timed(compare_calls):
    result = bandwidth(12 * 1024, repetitions=6, threads=2)
    values = {"fill": [1.0], "copy": [1.0], "triad": [7.0]}
    options = {"rounds": 6, "threads": 2, "device": "cpu"}
    assert compare_calls == [(values, options)]
    assert result.comparison.threads == 2
    assert result.nbytes == 12 * 1024
    speeds = {
        "fill": 4096 / 1e-3,
        "copy": 2 * 4096 / 2e-3,
        "triad": 3 * 4096 / 3e-3,
    }
    assert result.speeds == pytest.approx(speeds)


@pytest.mark.parametrize(
    ("caches", "size"),
    [
        ((), 240 * MIB),
        (LARGE, 240 * MIB),
        ((Cache("L3", 100 * MIB),), 400 * MIB),
        ((Cache("L3", 480 * MIB),), 768 * MIB),
        ((Cache("L3"),), 240 * MIB),
    ],
    ids=str,
)
def test_the_size_of_the_arrays(monkeypatch, caches, size):
    set_machine(monkeypatch, caches)
    full = module.torch.full

    def full_without_memory(*args, device):
        return full(*args, device="meta")

    monkeypatch.setattr(module.torch, "full", full_without_memory)
    monkeypatch.setattr(module, "compare", lambda *_, **__: compared(1.0, 2.0, 3.0))
    excess = bandwidth().nbytes - size
    assert 0 <= excess < 12  # no fewer, or memory might be called a cache


@pytest.mark.parametrize(
    ("threads", "cores", "mebibytes"),
    [
        (1, 8, [2, 32]),
        (3, 8, [6, 64]),
        (8, 8, [16, 64]),
        (20, 8, [16, 64]),
        (3, None, [6, 32]),
    ],
)
@pytest.mark.usefixtures("compare_calls")
def test_threads_have_a_cache_each(monkeypatch, threads, cores, mebibytes):
    """The caches that not all cores share count as often as they exist, but once a thread."""
    caches = (
        Cache("L2", 2 * MIB, shared_by=1),
        Cache("L3", 32 * MIB, shared_by=4),
        Cache("L4"),
    )
    set_machine(monkeypatch, caches, cores=cores)
    l2, l3, l4 = bandwidth(12288, repetitions=2, threads=threads).caches
    assert [l2.nbytes, l3.nbytes] == [number * MIB for number in mebibytes]
    assert l4 == Cache("L4")


class Location(NamedTuple):
    """The memory that arrays of this size reach, and why it may not be memory."""

    nbytes: int
    caches: tuple[Cache, ...]
    where: str
    why: str


@pytest.mark.parametrize(
    Location._fields,
    [
        Location(
            nbytes=MIB,
            caches=LARGE,
            where="L2",
            why="the arrays have 1 MiB, L2 2 MiB: it may hold all of them",
        ),
        Location(
            nbytes=32 * MIB,
            caches=LARGE,
            where="L3",
            why="the arrays have 32 MiB, L3 32 MiB: it may hold all of them",
        ),
        Location(
            nbytes=33 * MIB,
            caches=LARGE,
            where="L3 and memory",
            why="33 MiB, L3 32 MiB: it may hold a part of them",
        ),
        Location(
            nbytes=128 * MIB - 1,
            caches=LARGE,
            where="L3 and memory",
            why="it may hold a part of them",
        ),
        Location(
            nbytes=128 * MIB,
            caches=LARGE,
            where="memory",
            why="",
        ),
        Location(
            nbytes=MIB,
            caches=(),
            where="unknown",
            why="the caches of this machine are unknown",
        ),
        Location(
            nbytes=MIB,
            caches=(LARGE[0], Cache("L3")),
            where="L2",
            why="it may hold all",
        ),
        Location(
            nbytes=3 * MIB,
            caches=(LARGE[0], Cache("L3")),
            where="unknown",
            why="so is whether this is memory",
        ),
    ],
)
def test_a_cache_is_not_called_memory(nbytes, caches, where, why):
    result = Bandwidth(compared(1.0, 1.5, 2.0), nbytes, caches)
    assert result.where == where
    assert why in result.why_not_memory()
    assert bool(result.why_not_memory()) == (where != "memory")
    title, *_, last = repr(result).splitlines()
    name = "memory or a cache" if where == "unknown" else where
    assert title.startswith(f"bandwidth of {name}: cpu, 1 thread, ")
    cost_of_stores = "stores allocate: a line is read before it is written"
    assert last.strip() == (result.why_not_memory() or cost_of_stores)


@pytest.mark.parametrize(
    ("times", "spread", "store"),
    [
        ((1, 2, 3), 0, "bypass"),
        ((1, 1.5, 2), 0, "allocate"),
        ((1, 1.26, 1.74), 0, "allocate"),  # reading costs less than writing
        ((1, 1.9, 2.6), 0, "bypass"),
        ((1, 1.5, 3), 0, "unclear"),  # the two say different things
        ((1, 2, 2.2), 0, "unclear"),
        ((1, 1, 1.5), 0, "unclear"),  # one more read costs nothing
        ((1, 1.6, 2.25), 0.4, "unclear"),  # the intervals reach too far
        ((1, 1.75, 2.4), 0.4, "unclear"),
        ((1, 2.5, 3.6), 0.1, "bypass"),
    ],
)
def test_what_a_store_costs(times, spread, store):
    """The intervals of both ratios lie on one side of what a store of 1.5 lines would take."""
    comparison = compared(*times, spread=spread)
    assert Bandwidth(comparison, 240 * MIB, LARGE).store == store
    quiet_comparison = compared(*times)
    assert Bandwidth(quiet_comparison, 32 * MIB, LARGE).store == "unclear"
    assert Bandwidth(quiet_comparison, 240 * MIB).store == "unclear"


def test_the_ceiling():
    result = Bandwidth(compared(0.9, 1.2, 1.7), 3 * MIB, LARGE)
    assert result.ceiling == result.speeds["triad"]
    assert result.ceiling == pytest.approx(3 * MIB / 1.7)
    assert "ceiling: triad, " in repr(result)
    for fill in (0.9, 0.3):  # a fast fill is no ceiling
        result = Bandwidth(compared(fill, 1.2, 1.9), 3 * MIB, LARGE)
        assert "ceiling: copy, " in repr(result)


def test_the_table():
    comparison = compared(1e-2, 2e-2, 3e-2, spread=0.2, device="cuda")
    result = Bandwidth(comparison, 240 * MIB, LARGE)
    title, _, *rows = repr(result).splitlines()
    assert title == "bandwidth of memory: cuda, 240 MiB in three arrays"
    fill, copy, triad, _, stores = (row.split() for row in rows)
    assert fill[0] == "fill"
    assert fill[-3:] == ["1", "1", "1"]
    assert copy[0] == "copy"
    assert copy[-2:] == ["2", "1.5"]
    assert triad[-2:] == ["3", "2"]
    assert copy[1] == copy[4]
    assert float(copy[2]) < float(copy[4])
    assert " ".join(stores) == "stores bypass the caches: a line is written without being read"
    html = result._repr_html_()
    assert "stores bypass" in html
    assert "half of the samples" in html
