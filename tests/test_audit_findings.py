"""What audit finds: planted defects by kind, line and bytes; nothing where they are mended."""

import inspect

import pytest

import stridekit
from stridekit.auditing.findings import KINDS
from tests.audit_defects import DEFECTS

EACH = pytest.mark.parametrize("name", DEFECTS)


def line_of(function, mark):
    lines, first = inspect.getsourcelines(function)
    return next((first + k for k, line in enumerate(lines) if f"# {mark}" in line), None)


@EACH
def test_a_planted_defect_is_found(name):
    defect = DEFECTS[name]
    (found,) = stridekit.audit(defect.planted, *defect.inputs).findings
    assert (found.kind, found.bytes) == (defect.kind, defect.bytes)
    assert found.place.line == line_of(defect.planted, "here")
    made = line_of(defect.planted, "made")
    assert (found.cause and found.cause.line) == made


@EACH
def test_nothing_is_found_where_it_is_mended(name):
    defect = DEFECTS[name]
    assert stridekit.audit(defect.clean, *defect.inputs).findings == ()


def test_each_kind_is_planted():
    assert {defect.kind for defect in DEFECTS.values()} == set(KINDS)
    assert len(DEFECTS) >= 40
