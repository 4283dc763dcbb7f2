"""The caches that a system reports: Linux's files, macOS's answers, and systems that report nothing."""

import subprocess
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stridekit.timing import Cache, Hierarchy, caches, hierarchy, machine

FILES = (
    "level",
    "type",
    "size",
    "coherency_line_size",
    "ways_of_associativity",
    "number_of_sets",
    "shared_cpu_list",
)
LINUX = [
    ("1", "Instruction", "64K", "64", "16", "64", "0"),
    ("1", "Data", "48K", "64", "12", "64", "0"),
    ("2", "Unified", "2048K", "64", "16", "2048", "0,2"),
    ("3", "Unified", "32M", "64", "0", "?", "0-3,8"),
]
MAC = """hw.cachelinesize: 128
hw.l1dcachesize: 65536
hw.perflevel0.l1dcachesize: 131072
hw.l2cachesize: 4194304
hw.perflevel0.l2cachesize: 12582912
hw.perflevel0.cpusperl2: 4
hw.l3cachesize: none
"""


@pytest.fixture
def system(monkeypatch, tmp_path):
    """A function that sets what a system reports, and returns the hierarchy; at first it is nothing."""
    monkeypatch.setattr(caches, "CACHES", tmp_path / "cache")
    monkeypatch.setattr(caches, "HUGE_PAGES", tmp_path / "enabled")
    monkeypatch.setattr(caches.mmap, "PAGESIZE", 16384)
    monkeypatch.setattr(caches.platform, "system", lambda: "Linux")

    def write_cache(folder, texts):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in zip(FILES, texts, strict=True):
            (folder / name).unlink(missing_ok=True)
            if text is not None:
                (folder / name).write_bytes(text.encode() + b"\n")

    def report(linux=(), mac=None, huge_pages=None):
        for k, texts in enumerate(linux):
            write_cache(tmp_path / "cache" / f"index{k}", texts)
        if huge_pages:
            (tmp_path / "enabled").write_text(huge_pages, encoding="utf-8")
        if mac is not None:
            monkeypatch.setattr(caches.platform, "system", lambda: "Darwin")
            monkeypatch.setattr(caches.subprocess, "run", mac)
        return hierarchy()

    return report


def test_the_caches_that_linux_reports(system):
    reported = system(LINUX, huge_pages="always [madvise] never\n")
    assert reported["L1"] == Cache("L1", 48 * 1024, line=64, ways=12, sets=64, shared_by=1)
    assert reported["L4"] == Cache("L4", None, None, None, None, None)
    without_size = ("4", "Unified", "?K", "64", "16", "64", "0")
    second_l1 = ("1", "Data", "32K", "64", "12", "64", "0")
    assert system([*LINUX, without_size, second_l1]).caches[:3] == reported.caches
    assert "L4" in repr(hierarchy())
    assert machine()["caches"] == {"L1": 48 * 1024, "L2": 2**21, "L3": 2**25}
    with pytest.raises(ValueError, match="level is 'L10'"):
        reported["L10"]


def test_the_caches_that_macos_reports(system):
    arguments = []

    def run(command, **_):
        arguments.extend(command)
        return SimpleNamespace(stdout=MAC)

    l1 = Cache("L1", 131072, line=128)
    l2 = Cache("L2", 12582912, line=128, shared_by=4)
    assert system(mac=run).caches == (l1, l2)
    assert {row.partition(":")[0] for row in MAC.splitlines()} <= {*arguments}


@pytest.mark.parametrize("error", [OSError, subprocess.TimeoutExpired("sysctl", 5), ValueError])
def test_a_system_that_reports_nothing(system, monkeypatch, error):
    """Nothing is guessed, and nothing raises. The program sysctl runs only on macOS."""

    def fails(*_, **__):
        raise error

    monkeypatch.setattr(caches.subprocess, "run", lambda *_, **__: pytest.fail("sysctl ran"))
    unknown = system()
    assert unknown == system(mac=fails) == Hierarchy((), 16384, None)
    assert repr(unknown) == (
        "caches of a core, and its pages\n"
        "  caches: unknown; pages of 16,384 bytes; transparent huge pages: unknown"
    )
    assert "caches: unknown" in unknown._repr_html_()


# The last digit is Arabic.
ODD = [None, "", "1", "2", "Data", "Unified", "0", "-1", "48K", "K", "4T", "1.5", "9" * 19, "0-"]
TEXTS = st.sampled_from([*ODD, "7-3", "é", "٣"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(*[TEXTS] * len(FILES)), min_size=3, max_size=3))
def test_odd_answers_are_unknown(system, rows):
    reported = system(rows)
    for cache in reported.caches:
        numbers = cache.nbytes, cache.line, cache.ways, cache.sets, cache.shared_by
        assert all(number is None or number > 0 for number in numbers)
    assert repr(reported) and reported._repr_html_()


@pytest.mark.parametrize("word", ["always", "madvise", "never"])
def test_the_table(system, word):
    reported = system(LINUX, huge_pages="always madvise never".replace(word, f"[{word}]"))
    assert repr(reported).splitlines()[1:] == [
        "           bytes  bytes of a line     ways     sets  shared by",
        "  L1      49,152               64       12       64     1 core",
        "  L2   2,097,152               64       16    2,048    2 cores",
        "  L3  33,554,432               64  unknown  unknown    5 cores",
        f"  pages of 16,384 bytes; transparent huge pages: {word}",
    ]
    html = reported._repr_html_()
    assert "<td" in html and "33,554,432" in html
