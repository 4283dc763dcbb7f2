"""Random cases of every family. `make fuzz` finds what is wrong, and prints how to see it again."""

import re
from random import Random

import pytest

from stridekit.memory.memset import MemorySet
from tests import fuzz, live
from tests.agree import needs_odd_steps, needs_settled_dim_order

NEEDS = {"dim_order": needs_settled_dim_order, "view_as_complex": needs_odd_steps}
FAMILIES = [
    pytest.param(name, marks=NEEDS.get(name, ()))
    for name in fuzz.FAMILIES
    if name not in live.CASES
]


@pytest.mark.parametrize("family", FAMILIES)
def test_family(family):
    """No mismatch; the families that ask the browser are in test_live.py."""
    fuzz.prepared()(family)


def test_a_mistake_is_found_and_can_be_drawn_again(monkeypatch, capsys):
    """A wrong count makes the command fail, which prints a seed that brings the case back."""
    count = MemorySet.count
    monkeypatch.setattr(
        MemorySet, "count", lambda self, *budget: count(self, *budget) + (self.first > 30)
    )
    assert fuzz.main(["two_layouts", "--cases", "200", "--seed", "3"]) == 1
    printed = capsys.readouterr().out
    assert "seed 3, 1 families of 200 cases" in printed and "AssertionError" in printed
    seed = int(re.search(r"r=Random\((\d+)\)", printed)[1])
    with pytest.raises(AssertionError):
        fuzz.batch("two_layouts", Random(seed))
    monkeypatch.setattr(MemorySet, "count", count)
    fuzz.batch("two_layouts", Random(seed))
    assert fuzz.main(["two_layouts", "--cases", "200", "--seed", "3"]) == 0
