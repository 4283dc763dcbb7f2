"""The tests test: a few planted defects turn them red here, all of them under `make mutate`."""

import pytest

import mutate
from mutate import MUTATIONS, Mutation

BY_NAME = {mutation.name: mutation for mutation in MUTATIONS}
# One defect of the package, one of the browser's half, one stored output.
SHORT = (
    "the formula drops the offset",
    "the picture's formula drops the offset",
    "a stored verdict is turned round",
)


def test_there_are_many_defects_in_many_files_and_each_has_a_name():
    assert len(BY_NAME) == len(MUTATIONS) >= 200
    assert len({mutation.file for mutation in MUTATIONS}) >= 60


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name.replace(" ", "_"))
def test_each_defect_still_has_its_place(mutation):
    """After a change of the source the list has to follow."""
    text = (mutate.ROOT / mutation.file).read_text(encoding="utf-8")
    assert mutate.mutated(text, mutation) != text
    assert (mutate.ROOT / mutation.tests).is_file()


def test_a_defect_without_a_place_is_refused():
    with pytest.raises(ValueError, match="has 0 times what it replaces"):
        mutate.mutated("return x", Mutation("none", "a.py", "return y", "", "a.py"))
    with pytest.raises(ValueError, match="has 2 times"):
        mutate.mutated("x x", Mutation("two", "a.py", "x", "y", "a.py"))


def test_defects_are_read_line_by_line():
    """Indented lines keep their indents; a defect may replace a line by nothing."""
    one, two = "    one\n    -   x\n    -\n    - y\n", "    two\n    - z\n    + w\n"
    wanted = [
        Mutation("one", "a.py", "  x\n\ny", "", "b.py"),
        Mutation("two", "a.py", "z", "w", "b.py"),
    ]
    text = f"# a title\n\na.py is held by b.py\n{one}{two}"
    assert mutate.read(text) == wanted


def test_a_survivor_is_named(monkeypatch, capsys):
    """Each row is printed as soon as it is known, the summary last; a survivor makes the exit status 1."""
    known = [Mutation(name, "a.py", "", "", "a.py") for name in ("a", "longer")]
    rows = ["a       tests/test_a.py::b", "longer  SURVIVED: a test is missing"]

    def caught(mutations):
        assert mutations == known
        yield "a", "tests/test_a.py::b"
        assert capsys.readouterr().out == f"{rows[0]}\n"
        yield "longer", ""

    monkeypatch.setattr(mutate, "MUTATIONS", known)
    monkeypatch.setattr(mutate, "caught", caught)
    monkeypatch.setattr("sys.argv", ["mutate.py"])
    assert mutate.main() == 1
    assert capsys.readouterr().out == f"{rows[1]}\n1 of 2 defects were noticed\n"


def test_tests_that_do_not_end_have_noticed(monkeypatch, tmp_path):
    """A defect may make a loop endless: that is one row, not the end of all rows."""
    monkeypatch.setattr(mutate, "TIMEOUT", 0)
    copy = object.__new__(mutate.Copy)
    copy.root = tmp_path / "0"
    copy.root.mkdir()
    assert copy.why_red(["."]) == "no end within 0 s"


def test_a_few_defects_turn_the_tests_red(record_property):
    found = dict(mutate.caught([BY_NAME[name] for name in SHORT]))
    assert all(found.values()), found
    record_property(
        "summary", f"defects: {len(found)} of {len(MUTATIONS)} were planted and noticed"
    )
