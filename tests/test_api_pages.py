"""The reference: every public name has its place, with its examples, and every link leads somewhere."""

import html
import re
from xml.etree import ElementTree

import pytest

import stridekit
from stridekit import Layout, timing
from stridekit.export import pages
from stridekit.export.fetched import loaded_from_elsewhere
from stridekit.export.lesson import Lesson
from stridekit.export.reference import (
    Example,
    _cell,
    _place,
    contents,
    parts_of,
    public_names,
    reference,
    signature,
)  # fmt: skip
from tests.notebook_rules import TRACES

REFERENCE = reference()
PAGES = {subject.file: body for subject, body in REFERENCE}
CONTENTS = contents([subject for subject, _ in REFERENCE])
ENTRIES = {entry.name: entry for subject, _ in REFERENCE for entry in subject.entries}
MEMBERS = [member for entry in ENTRIES.values() for member in entry.members]


def attributes(body, name):
    """The values of an attribute, for all elements; fails if an element is not closed in its order."""
    every = ElementTree.fromstring(f"<page>{body}</page>").iter()
    return [element.get(name) for element in every if name in element.attrib]


IDS = {file: attributes(body, "id") for file, body in PAGES.items()}


def shown(text):
    """A piece of HTML as a reader sees it."""
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def section(name):
    """The part of a page that is about a public name."""
    every = "".join(PAGES.values())
    (found,) = re.findall(rf'<section><h2 id="{name}">.*?</section>', every, re.DOTALL)
    return found


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_every_public_name_has_its_signature_its_words_and_its_examples(entry):
    """The examples of its members and their outputs are included."""
    text = shown(section(entry.name))
    module = "stridekit" if entry.name in stridekit.__all__ else "stridekit.timing"
    assert f"from {module} import {entry.name}" in text
    assert entry.signature in text and entry.contract and entry.contract.replace("`", "") in text
    parts = [*entry.parts, *(part for member in entry.members for part in member.parts)]
    for part in parts:
        if isinstance(part, Example):
            assert part.source in text and part.output in text
    assert ">>>" not in text


def test_the_names_stand_in_the_order_in_which_a_learner_meets_them():
    assert list(ENTRIES) == public_names()
    assert [name for name in ENTRIES if name in stridekit.__all__] == stridekit.__all__
    assert sorted(ENTRIES) == sorted({*stridekit.__all__, *timing.__all__})


@pytest.mark.parametrize("file", PAGES)
def test_anchors_are_unique_and_links_lead_somewhere(file):
    """Links within the page, to other pages, and from the front page."""
    assert len(IDS[file]) == len(set(IDS[file])) > 0
    for link in attributes(PAGES[file] + CONTENTS, "href"):
        other, _, anchor = link.partition("#")
        assert not anchor or anchor in IDS[other or file], link
        assert not other or other in PAGES, link


def test_methods_properties_and_what_can_be_set_have_a_place():
    text = shown(section("Layout"))
    assert "Layout.permute(*dims" in text and "Layout.of(x: Any) -> Layout" in text
    assert "Layout.of class method" in text and "Layout.permute method" not in text
    assert "Layout.copied property" in text and "_storage" not in text.split("Layout.offset")[0]
    text = shown(section("StrideExplorer"))
    assert "StrideExplorer.chain property, can be set" in text
    assert "StrideExplorer.layout trait, can be set and observed" in text
    assert "StrideExplorer.storage_size trait\n" in text.replace("traitS", "trait\nS")
    assert [member.name for member in MEMBERS if not member.parts] == []


def test_a_name_in_code_leads_to_where_it_is_explained():
    """A name does not link to itself."""
    assert 'href="reference-sharing.html#memset"><code>memset</code>' in section("relation")
    assert 'href="reference-layouts.html#Layout.of"><code>Layout.of</code>' in section("explain")
    places = {"memset": "a.html#memset", "T.of": "b.html#T.of"}
    assert _place("memset()", places, "memset") is None
    assert _place("stridekit.memset()", places, "T") == "a.html#memset"
    assert _place("of", places, "T") == "b.html#T.of"
    assert _place("of", places, "memset") is None


def test_nothing_of_this_machine_is_on_the_pages():
    text = shown("".join(PAGES.values()))
    assert [why for pattern, why in TRACES.items() if re.search(pattern, text)] == []


def test_what_a_docstring_becomes():
    """Code up to an output is one cell, directives are for doctest, and paragraphs are joined."""
    doc = """
    One `a < b`,
    two.

    >>> f(1,
    ...   2)
    >>> 3  # doctest: +ELLIPSIS
    3

    Three.

    >>> x = 1
    """
    cells = [Example("f(1,\n  2)\n3", "3"), Example("x = 1", "")]
    assert parts_of(doc) == ["One `a < b`, two.", cells[0], "Three.", cells[1]]
    assert parts_of(None) == []
    cell = _cell(Example("x < y", "<b> & more"))
    assert "<pre>&lt;b&gt; &amp; more</pre>" in cell and "<b>" not in cell and "x < y" not in cell


def test_signatures():
    def f(a, *b: int, c: "str" = "d", e=Layout, **g): ...

    def h(x: int, *, y: float = 0.5, _hidden: int = 0) -> "Layout": ...

    assert signature(f, "f") == "f(a, *b: int, c: str = 'd', e=…, **g)"
    assert signature(h, "h") == "h(x: int, *, y: float = 0.5) -> Layout"
    assert signature(h, "h" * 90).count("\n") == 4


def test_a_site_has_the_reference_and_leads_to_it(tmp_path, monkeypatch):
    """A single notebook has none, and no lesson may have the name of one of its pages."""
    monkeypatch.setattr(pages, "_lesson", lambda path: Lesson("A", "", "", ""))
    source = tmp_path / "a.ipynb"
    source.touch()
    pages.export(source, tmp_path / "one")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["a.html"]
    pages.export(tmp_path, tmp_path / "site")
    front = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert {*PAGES, "a.html", "index.html", "search-index.js"} == {
        p.name for p in (tmp_path / "site").iterdir()
    }
    assert all(f'href="{file}"' in front for file in PAGES)
    page = (tmp_path / "site" / "reference-layouts.html").read_text(encoding="utf-8")
    assert "--jp-mirror-editor-keyword-color" in page and "prefers-color-scheme: dark" in page
    assert '<li class="sk-level3"><a href="#Layout.of">.of</a></li>' in page
    assert loaded_from_elsewhere(page) == ""
    (tmp_path / "reference-a.ipynb").touch()
    with pytest.raises(pages.ExportError, match="of a page of the reference: rename it"):
        pages.export(tmp_path, tmp_path / "other")
