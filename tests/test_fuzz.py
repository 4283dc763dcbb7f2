"""make fuzz, in short: every family at a fixed seed; and that it finds what is wrong."""

import pytest

from stridekit.memory.memset import MemorySet
from tests import fuzz, live

CASES = 300


@pytest.mark.parametrize("family", [name for name in fuzz.FAMILIES if name not in live.CASES])
def test_no_mismatch(family):
    """The first cases of one seed; those that ask the browser are in test_live.py."""
    assert fuzz.run(family, seed=1, count=CASES) == []


def test_a_mistake_is_found_and_can_be_run_again(monkeypatch, capsys):
    """A count that is off by one is reported with its case, and makes the command fail."""
    count = MemorySet.count
    monkeypatch.setattr(
        MemorySet, "count", lambda self, *budget: count(self, *budget) + (self.first > 30)
    )
    monkeypatch.setattr(fuzz, "FAMILIES", {"two_layouts": fuzz.FAMILIES["two_layouts"]})
    assert fuzz.main(["--cases", "200", "--seed", "3"]) == 1
    printed = capsys.readouterr().out
    assert "seed 3, 1 families of 200 cases" in printed and "0 mismatches" not in printed
    case = next(line for line in printed.splitlines() if line.startswith("3 two_layouts"))
    with pytest.raises(AssertionError):
        fuzz.main(["--case", case.partition(":")[0]])
    monkeypatch.setattr(MemorySet, "count", count)
    assert fuzz.main(["--case", case.partition(":")[0]]) == 0
