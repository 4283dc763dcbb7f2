"""Widgets share pages: the sheet of one must not reach another."""

import re

import pytest

from stridekit import widgets
from stridekit.widgets import assets
from tests.widget_kinds import KINDS

SHEETS = sorted(path for path in assets._HERE.rglob("*.css") if path.name != "base.css")


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.parent.name)
def test_a_sheet_is_one_block_of_its_own_kind(path):
    """Everything but keyframes is nested in `.stridekit.sk-<kind>`, the class of that widget alone."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    outside, depth = "", 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if depth == 0:
            outside += char
    heads = [head.strip() for head in outside.split("}") if head.strip()]
    kinds = [head for head in heads if not head.startswith("@keyframes")]
    assert len(kinds) == 1 and re.fullmatch(r"\.stridekit\.sk-[a-z]+", kinds[0]), kinds


def test_every_widget_has_a_kind_of_its_own():
    """The shells' class names differ, and each is that of the sheet."""
    kinds = {
        name: re.findall(r'kind: "(sk-(?!d|offset)[a-z]+)", traits', getattr(widgets, name)._module)
        for name in KINDS
    }
    assert kinds == {name: [kind.css.removeprefix(".")] for name, kind in KINDS.items()}
    assert len({kind.css for kind in KINDS.values()}) == len(KINDS) == len(SHEETS)
