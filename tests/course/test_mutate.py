"""The generator makes the defects that it names, and those that people wrote still have their place."""

from pathlib import Path

import pytest
import tree_sitter

import defects
import mutate

ROOT = Path(__file__).parents[2]
MOST_WRITTEN = 60  # the generator makes all others

# Sources, and the defects of each that an operator makes.
MADE = [
    ("another comparison", ".py", "a < b", ["a <= b"]),
    ("another comparison", ".py", "a is not b", ["a is b"]),
    ("another comparison", ".py", "x not in s", ["x in s"]),
    ("another comparison", ".js", "a !== b", ["a === b"]),
    ("another comparison", ".py", "0 < a < b", []),
    ("another arithmetic", ".py", "a + b", ["a - b"]),
    ("another arithmetic", ".py", 'a + "text"', []),
    ("exchanged operands", ".py", "a - b", ["b - a"]),
    ("exchanged operands", ".py", "f(a, b)", ["f(b, a)"]),
    ("exchanged operands", ".js", "f(a, b)", ["f(b, a)"]),
    ("exchanged operands", ".py", "f(a, a)", []),
    ("exchanged operands", ".py", "min(a, b)", []),
    ("exchanged operands", ".js", "Math.max(a, b)", []),
    ("exchanged operands", ".py", "f(a, b=c)", []),
    ("dropped term", ".py", "a and b", ["(a)", "(b)"]),
    ("dropped term", ".py", "a - b", ["(a)"]),
    ("dropped term", ".js", "a ?? b", ["(a)"]),
    ("dropped term", ".py", "not a", ["(a)"]),
    ("dropped term", ".js", "!a", ["(a)"]),
    ("dropped guard", ".py", "if a:\n    b", ["if False:\n    b", "if True:\n    b"]),
    ("dropped guard", ".js", "if (a) b;", ["if (false) b;", "if (true) b;"]),
    ("dropped guard", ".py", "a if b else c", ["a if False else c", "a if True else c"]),
    ("dropped guard", ".js", "a ? b : c", ["false ? b : c", "true ? b : c"]),
    ("dropped statement", ".py", "f(a)", ["pass"]),
    ("dropped statement", ".py", "a += 1", ["pass"]),
    ("dropped statement", ".py", "'''A docstring.'''", []),
    ("dropped statement", ".js", "f(a);", [";"]),
    ("off by one", ".py", "x[1]", ["x[2]"]),
    ("off by one", ".py", "x[17]", []),
    ("another default", ".py", "def f(a=True): g", ["def f(a=False): g"]),
    ("another default", ".js", "f({ a: false })", ["f({ a: true })"]),
]


@pytest.mark.parametrize(("operator", "suffix", "source", "made"), MADE)
def test_operator_makes_these_defects(operator, suffix, source, made):
    found = [defect for defect in defects.defects_in(source, suffix) if defect.operator == operator]
    assert [defect.planted_in(source) for defect in found] == made


def test_each_operator_is_tried():
    names = {operator.__name__.strip("_").replace("_", " ") for operator in defects.OPERATORS}
    assert names == {operator for operator, *_ in MADE}


@pytest.mark.parametrize("file", ["stridekit/layout.py", "stridekit/widgets/page/layout.js"])
def test_a_planted_defect_is_still_a_program(file):
    source = (ROOT / file).read_text(encoding="utf-8")
    suffix = Path(file).suffix
    parser = tree_sitter.Parser(defects.LANGUAGES[suffix])
    found = defects.defects_in(source, suffix)
    assert len(found) > 300
    for defect in found[::7]:
        changed = defect.planted_in(source)
        assert changed != source and not parser.parse(changed.encode()).root_node.has_error, defect


def test_an_equivalent_defect_still_exists_and_has_a_reason():
    """After a change of the source the list has to follow."""
    changes = set()
    for file in {file for file, _, _ in mutate.equivalent()}:
        source = (ROOT / file).read_text(encoding="utf-8")
        for defect in defects.defects_in(source, Path(file).suffix):
            planted = mutate.Planted(file, defect.operator, defect.old, defect.new, defect.start)
            changes.add(mutate.change_of(planted, source))
    assert mutate.equivalent().keys() - changes == set()
    assert [change for change, reason in mutate.equivalent().items() if len(reason) < 20] == []


def test_a_written_defect_has_a_name_and_still_its_place():
    """After a change of the source the list has to follow."""
    written = mutate.written_defects()
    assert len({planted.name for planted in written}) == len(written) <= MOST_WRITTEN
    lost = []
    for planted in written:
        text = (ROOT / planted.file).read_text(encoding="utf-8")
        has_place = text.count(planted.old) == 1 and planted.old != planted.new
        if not has_place or not (ROOT / planted.tests[0]).is_file():
            lost.append(planted.name)
    assert lost == []
