"""The tests test: a few planted defects turn them red here, all of them under `make mutate`."""

from collections import Counter

import pytest

import mutate
from mutations import MUTATIONS, SHORT, Mutation

BY_NAME = {mutation.name: mutation for mutation in MUTATIONS}


def test_there_are_many_and_each_has_a_name():
    assert len(BY_NAME) == len(MUTATIONS) >= 40
    assert set(SHORT) <= set(BY_NAME)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name.replace(" ", "_"))
def test_each_defect_still_has_its_place(mutation):
    """After a change of the source the table has to follow."""
    text = (mutate.ROOT / mutation.file).read_text(encoding="utf-8")
    assert mutate.mutated(text, mutation) != text
    assert (mutate.ROOT / mutation.tests).is_file()


def test_defects_are_planted_in_many_files():
    files = Counter(mutation.file for mutation in MUTATIONS)
    assert len(files) >= 20


def test_a_defect_without_a_place_is_refused():
    with pytest.raises(ValueError, match="has 0 times what it replaces"):
        mutate.mutated("return x", Mutation("none", "a.py", "return y", "", "a.py"))
    with pytest.raises(ValueError, match="has 2 times"):
        mutate.mutated("x x", Mutation("two", "a.py", "x", "y", "a.py"))


def test_what_survives_is_named():
    assert mutate.table({"a": "tests/test_a.py::b", "longer": ""}) == (
        "a       tests/test_a.py::b\n"
        "longer  SURVIVED: a test is missing\n"
        "1 of 2 defects were noticed"
    )


def test_a_few_defects_turn_the_tests_red(record_property):
    found = mutate.caught([BY_NAME[name] for name in SHORT])
    assert all(found.values()), mutate.table(found)
    record_property(
        "summary", f"defects: {len(found)} of {len(MUTATIONS)} were planted and noticed"
    )
