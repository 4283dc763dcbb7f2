"""The bandwidth: which arrays are timed, whose speed it is, and what a store costs."""

import pytest

from stridekit.cost import bandwidth as module
from stridekit.cost.bandwidth import Bandwidth, bandwidth
from stridekit.timing import Cache, Comparison, Hierarchy

MIB = 1 << 20
LARGE = (Cache("L2", 2 * MIB), Cache("L3", 32 * MIB))


def compared(fill, copy, triad, spread=0.0, device="cpu", threads=1):
    """A comparison whose samples have these seconds, or up to `spread` more of them."""
    samples = {}
    for i, (name, seconds) in enumerate({"fill": fill, "copy": copy, "triad": triad}.items()):
        factors = [1 + spread * (k * (3 + i) % 7) / 6 for k in range(21)]
        samples[name] = [[seconds * factor] for factor in factors]
    return Comparison(samples, [[0, 1, 2]] * 21, dict.fromkeys(samples, 1), threads, device)


@pytest.fixture
def compare_calls(monkeypatch):
    """The calls of `compare`: the numbers that each function leaves in the first array, and the options.

    Nothing is timed.
    """
    calls = []

    def compare(functions, **options):
        values = {name: function().unique().tolist() for name, function in functions.items()}
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
    assert compare_calls == [(values, {"rounds": 6, "threads": 2, "device": "cpu"})]
    assert (result.comparison.threads, result.nbytes) == (2, 12 * 1024)
    speeds = {"fill": 4096 / 1e-3, "copy": 2 * 4096 / 2e-3, "triad": 3 * 4096 / 3e-3}
    assert result.speeds == pytest.approx(speeds)


@pytest.mark.parametrize(("caches", "size"), [
    ((), 240 * MIB),
    (LARGE, 240 * MIB),
    ((Cache("L3", 100 * MIB),), 400 * MIB),
    ((Cache("L3", 480 * MIB),), 768 * MIB),
    ((Cache("L3"),), 240 * MIB),
], ids=str)  # fmt: skip
def test_the_size_of_the_arrays(monkeypatch, caches, size):
    set_machine(monkeypatch, caches)
    full = module.torch.full
    # Arrays that take no memory.
    monkeypatch.setattr(module.torch, "full", lambda *args, device: full(*args, device="meta"))
    monkeypatch.setattr(module, "compare", lambda *_, **__: compared(1.0, 2.0, 3.0))
    assert 0 <= bandwidth().nbytes - size < 12  # no fewer, or memory might be called a cache


@pytest.mark.parametrize(
    ("threads", "cores", "mebibytes"),
    [(1, 8, [2, 32]), (3, 8, [6, 64]), (8, 8, [16, 64]), (20, 8, [16, 64]), (3, None, [6, 32])],
)
@pytest.mark.usefixtures("compare_calls")
def test_threads_have_a_cache_each(monkeypatch, threads, cores, mebibytes):
    """The caches that not all cores share count as often as they exist, but once a thread."""
    caches = Cache("L2", 2 * MIB, shared_by=1), Cache("L3", 32 * MIB, shared_by=4), Cache("L4")
    set_machine(monkeypatch, caches, cores=cores)
    l2, l3, l4 = bandwidth(12288, repetitions=2, threads=threads).caches
    assert [l2.nbytes, l3.nbytes] == [number * MIB for number in mebibytes]
    assert l4 == Cache("L4")


@pytest.mark.parametrize(("nbytes", "caches", "where", "why"), [
    (MIB, LARGE, "L2", "the arrays have 1 MiB, L2 2 MiB: it may hold all of them"),
    (32 * MIB, LARGE, "L3", "the arrays have 32 MiB, L3 32 MiB: it may hold all of them"),
    (33 * MIB, LARGE, "L3 and memory", "33 MiB, L3 32 MiB: it may hold a part of them"),
    (128 * MIB - 1, LARGE, "L3 and memory", "it may hold a part of them"),
    (128 * MIB, LARGE, "memory", ""),
    (MIB, (), "unknown", "the caches of this machine are unknown"),
    (MIB, (LARGE[0], Cache("L3")), "L2", "it may hold all"),
    (3 * MIB, (LARGE[0], Cache("L3")), "unknown", "so is whether this is memory"),
])  # fmt: skip
def test_a_cache_is_not_called_memory(nbytes, caches, where, why):
    result = Bandwidth(compared(1.0, 1.5, 2.0), nbytes, caches)
    assert result.where == where and why in result.why_not_memory()
    assert bool(result.why_not_memory()) == (where != "memory")
    title, *_, last = repr(result).splitlines()
    name = "memory or a cache" if where == "unknown" else where
    assert title.startswith(f"bandwidth of {name}: cpu, 1 thread, ")
    stores = "stores allocate: a line is read before it is written"
    assert last.strip() == (result.why_not_memory() or stores)


@pytest.mark.parametrize(("times", "spread", "store"), [
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
])  # fmt: skip
def test_what_a_store_costs(times, spread, store):
    """The intervals of both ratios lie on one side of what a store of 1.5 lines would take."""
    assert Bandwidth(compared(*times, spread=spread), 240 * MIB, LARGE).store == store
    assert Bandwidth(compared(*times), 32 * MIB, LARGE).store == "unclear"
    assert Bandwidth(compared(*times), 240 * MIB).store == "unclear"


def test_the_ceiling():
    result = Bandwidth(compared(0.9, 1.2, 1.7), 3 * 2**20, LARGE)
    assert result.ceiling == result.speeds["triad"] == pytest.approx(3 * 2**20 / 1.7)
    assert "ceiling: triad, " in repr(result)
    for fill in (0.9, 0.3):  # a fast fill is no ceiling
        assert "ceiling: copy, " in repr(Bandwidth(compared(fill, 1.2, 1.9), 3 * 2**20, LARGE))


def test_the_table():
    result = Bandwidth(compared(1e-2, 2e-2, 3e-2, 0.2, "cuda"), 240 * MIB, LARGE)
    title, _, *rows = repr(result).splitlines()
    assert title == "bandwidth of memory: cuda, 240 MiB in three arrays"
    fill, copy, triad, *notes = (row.split() for row in rows)
    assert fill[:1] + fill[-3:] == ["fill", "1", "1", "1"]
    assert copy[:1] + copy[-2:] == ["copy", "2", "1.5"] and triad[-2:] == ["3", "2"]
    assert copy[1] == copy[4] and float(copy[2]) < float(copy[4])
    assert " ".join(notes[1]) == "stores bypass the caches: a line is written without being read"
    html = result._repr_html_()
    assert "stores bypass" in html and "half of the samples" in html
