"""Notebooks as a site: their cells, the refusal of odd ones, and the pages that Sphinx writes."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
import torch
from nbformat import v4
from PIL import Image

import stridekit
from stridekit import diagnose
from stridekit.exercises import lesson as reading
from stridekit.export import cheat_sheet, families, gallery, lesson, pictures, reference, site
from stridekit.export.reference import public_names
from stridekit.lessons.notebook import NotebookError, fold
from stridekit.widgets import Predict
from stridekit.widgets.offline import offline
from tests.course.widget_kinds import KINDS, hidden_widgets

ROOT = Path(__file__).parents[2]
code = v4.new_code_cell
words = v4.new_markdown_cell
output = v4.new_output
BEHIND = lesson.BEHIND.partition(r"\g")[0]
CARD = code("Predict('How many?', 4711, why='So many.')")
NOT_RUN = SimpleNamespace(widget_state={})
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


def write(path, *cells):
    nbformat.write(v4.new_notebook(cells=list(cells)), path)
    return path


def printed(source, text):
    return code(source, outputs=[output("stream", text=text)])


@pytest.fixture
def no_kernel(monkeypatch):
    """Export the outputs that a notebook has."""
    monkeypatch.setattr(lesson.form, "run", lambda *args, **options: NOT_RUN)


def settled(*cells):
    """Return the cells of a page, each as its source and its tags."""
    notebook = nbformat.from_dict(v4.new_notebook(cells=list(cells)))
    lesson.settle(notebook, {})
    return [(cell.source, *cell.metadata.get("tags", [])) for cell in notebook.cells]


def test_what_gives_an_answer_away_is_folded_up_to_a_heading():
    """A card's own code is gone, and code that an author folded. A comment in code is no heading."""
    explains = words("These are 4711:\n\n```\n# 4711\n```\n\n## Next\n\nText.")
    folds = {"source_hidden": True}
    closed = code("# Set-up: five\nx = 5", metadata={"jupyter": folds})
    looked_up = printed("# For reference: six\n6", "6")
    looked_up.metadata["jupyter"] = folds | {"outputs_hidden": True}
    cells = [printed("0", "first"), CARD, printed("f()", "4711"), closed, looked_up, explains]
    assert settled(*cells, printed("g()", "4711")) == [
        ("0",),
        (CARD.source, "remove-input"),
        ("f()", "hide-output"),
        ("# Set-up: five\nx = 5", "hide-input"),
        ("# For reference: six\n6", "hide-cell"),
        (f"{BEHIND}These are 4711:\n\n```\n# 4711\n```\n\n\n\n</details>\n\n## Next\n\nText.",),
        ("g()",),
    ]


def test_pages_and_notebooks_fold_the_same_outputs():
    """Each output that a notebook folds behind a card is folded on its page."""
    count = 0
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        fold(notebook)
        hidden = [c.source for c in notebook.cells if "outputs_hidden" in str(c.metadata)]
        page = settled(*notebook.cells)
        folded = [source for source, *tags in page if {"hide-output", "hide-cell"} & {*tags}]
        assert [source for source in hidden if source not in folded] == []
        count += len(hidden)
    assert count > 150


def test_a_section_has_its_mark_below_its_heading():
    """One inside another only where the two differ; a lesson without essentials has one mark."""
    sources = [
        "# 01 Strides\n\nwords",
        "## Memory is one line\n\nwords",
        "### Play with it\n\nwords",
        "## The formula",
        "### Play with it",
        "### More",
        "## The diagonal",
        "words\n\n### Exercise 1: to a byte (about 8 minutes)",
        "### Further",
    ]
    essential, further = (
        f'\n\n<p class="sk-path-mark" data-mark="{word}">{word}</p>\n'
        for word in ("essential", "further")
    )

    def marked(name, *check):
        notebook = v4.new_notebook(cells=[v4.new_markdown_cell(source) for source in sources])
        offer = reading.lesson_of([*(("markdown", source) for source in sources), *check], name)
        lesson.mark_sections(notebook, offer)
        return [cell.source for cell in notebook.cells]

    imports = ("code", "from stridekit.exercises import strides as ex")
    row = (imports, ("code", "ex.row.check(row)"))
    assert marked("01_strides", *row) == [
        "# 01 Strides\n\nwords",
        f"## Memory is one line{essential}\n\nwords",
        f"### Play with it{further}\n\nwords",
        f"## The formula{essential}",
        "### Play with it",
        f"### More{further}",
        f"## The diagonal{further}",
        "words\n\n### Exercise 1: to a byte (about 8 minutes)",
        "### Further",
    ]
    assert marked("00_start", *row) == marked("01_strides") == sources
    sources[1] = "# No title\n\nwords"
    assert marked("04_other", *row) == [f"# 01 Strides{further}\n\nwords", *sources[1:]]


def test_the_review_has_each_card_and_some_with_new_numbers():
    """All of them have the name under which site.js keeps the answer in the lesson."""
    cards = [
        Predict("What is the stride of `x.diagonal()`?", (7,)),
        Predict("Which is “it”, <a> or b?", "b", choices=["a", "b"]),
    ]
    asked = [
        (lesson.Card("The diagonal", "", card._problem), widget)
        for card, widget in zip(cards, offline(cards), strict=True)
    ]
    page = SimpleNamespace(offer=reading.Lesson("01_strides", "01 Strides"), cards=asked)
    nodes = [*site._asked({"01_strides": page})]
    first, *anew, other = nodes
    assert len(anew) == site.NEW_NUMBERS and {node.name for node in anew} == {first.name}
    assert first.name == "tuple | What is the stride of `x.diagonal()`?"
    questions = {node.widget.state["_problem"]["question"] for node in nodes[:4]}
    assert len(questions) == 4
    assert other.name == "choice | Which is “it”, <a> or b? | a | b"
    assert other.node(4) == (
        '<div data-card="4" data-page="01_strides.html" data-lesson="01 Strides" '
        'data-section="The diagonal" data-anchor="The-diagonal" '
        'data-name="choice | Which is “it”, &lt;a&gt; or b? | a | b"></div>'
    )


def test_the_review_gives_the_setting_of_a_card_and_leaves_out_what_only_its_lesson_asks():
    cards = [
        Predict("`slots` was all zeros. How many 7s?", 2),
        Predict("The cell above has measured on your machine. Which?", "b", choices=["a", "b"]),
    ]
    asked = [
        (lesson.Card("Two rows", "", card._problem), widget)
        for card, widget in zip(cards, offline(cards), strict=True)
    ]
    page = SimpleNamespace(offer=reading.Lesson("02_views", "02 Views"), cards=asked)
    (node,) = site._asked({"02_views": page})
    assert node.name == "number | `slots` was all zeros. How many 7s?"
    assert node.widget.state["_problem"]["question"] == (
        "Given `slots = torch.zeros(4)`. `slots` was all zeros. How many 7s?"
    )


def test_exercises_that_follow_each_other_have_one_note_that_code_does_not_run():
    checks = [f"ex.{name}.check({name})" for name in "abc"]
    first, second, third = map(code, checks)
    page = settled(first, second, words("Then."), third)
    note = lesson.NOT_HERE
    assert page == [(text,) for text in (note, *checks[:2], "Then.", note, checks[2])]


def test_calls_for_help_and_the_map_are_left_out_and_words_about_jupyterlab_say_so():
    check = code("def row(x, i):\n    ...\n\n\nex.row.check(row)")
    page = settled(
        code(lesson.form.GUARD),
        code("ex.row.hint()"),
        code("progress()"),
        code("from stridekit import review\n\nreview()"),
        check,
        words("## Now\nPress Shift+Enter."),
        words("Shift."),
    )
    assert page == [
        (lesson.NOT_HERE,),
        (check.source,),
        ("## Now\n" + lesson.FOR_LAB.format("Press Shift+Enter."),),
        ("Shift.",),
    ]


def test_a_widget_of_another_library_is_left_out_and_two_views_are_one_widget():
    zipped = stridekit.StrideExplorer()._code._zip
    states = {"well": {"_code": "IPY_MODEL_code", "_state": {}}, "code": {"_zip": zipped}}
    states["other"] = {"_model_module": "anywidget", "_esm": ""}
    outputs = []
    for key in ("other", "well", "well", "gone"):
        data = {lesson.form.WIDGET_VIEW: {"model_id": key}}
        outputs.append(output("display_data", data=data))
    notebook = v4.new_notebook(cells=[code("w", outputs=outputs)])
    assert len(lesson.settle(notebook, states)) == 1
    pages = [shown.data["text/html"] for shown in notebook.cells[0].outputs]
    assert ['data-widget="0"' in html for html in pages] == [False, True, True, False]
    assert [lesson.WITHOUT_KERNEL in html for html in pages] == [True, False, False, True]


def test_a_lesson_that_was_left_half_done_makes_the_page_of_a_new_one(tmp_path):
    """Old outputs, answers and folds are gone, and so are cells that a reader has emptied."""
    sources = ["x = 5", f"from stridekit import Predict\n{CARD.source}", "x + 1", "x + 2"]
    page = lesson.lesson(write(tmp_path / "new.ipynb", *map(code, sources), words("So.")))
    assert [widget.state["_state"]["shown"] for widget in page.widgets] == [False]
    card = stridekit.Predict("How many?", 4711, why="So many.")
    card.committed = 4711
    assert card.shown
    saved = {model.model_id: {"state": model.get_state()} for model in (card, card._code)}
    view = output("display_data", data={lesson.form.WIDGET_VIEW: {"model_id": card.model_id}})
    cells = [
        code(sources[0], execution_count=7),
        code(sources[1], execution_count=8, outputs=[view]),
        printed(sources[2], "an older run"),
        code(sources[3], metadata={"collapsed": True, "jupyter": {"outputs_hidden": False}}),
        words(""),
        code(" ", outputs=[view, output("stream", text="an older run")]),
        words("So."),
        code(""),
    ]
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata["widgets"] = {WIDGET_STATE: {"state": saved}}
    path = tmp_path / "half.ipynb"
    nbformat.write(notebook, path)
    half = lesson.lesson(path)
    assert [widget.state for widget in half.widgets] == [widget.state for widget in page.widgets]
    assert without_ids(half.notebook) == without_ids(page.notebook)


def without_ids(notebook):
    return [{key: cell[key] for key in cell if key != "id"} for cell in notebook.cells]


def test_a_lesson_runs_in_its_folder_with_this_python(tmp_path, monkeypatch):
    """It has all threads of the machine, because no byte of a page has to repeat."""
    calls = []

    def run(notebook, folder, **options):
        calls.append((folder, options["kernel_manager_class"]))
        return NOT_RUN

    monkeypatch.setattr(lesson.form, "run", run)
    lesson.lesson(write(tmp_path / "a.ipynb", words("# A")))
    assert calls == [(tmp_path, lesson.ThisPython)]
    assert "OMP_NUM_THREADS" not in lesson.ThisPython().kernel_spec.env


PICTURE = {"output_type": "display_data", "metadata": {}, "data": {"image/png": 7}}
VIDEO = {"cell_type": "video", "source": "", "metadata": {}, "id": "a"}
MALFORMED = {  # a cell, and a word of the message
    "a formula": (words("Well: $x^$ and $\\frac{1}$."), "formula"),
    "deep braces": (words("$" + "{" * 3000 + "x" + "}" * 3000 + "$"), "formula"),
    "a formula of its own": (words("$$\n\\left( x\n$$"), "formula"),
    "an unknown type": (VIDEO, "cell_type"),
    "metadata": (words("a") | {"metadata": ["tags"]}, "metadata"),
    "tags": (code("1") | {"metadata": {"tags": "all"}}, "tags"),
    "a picture": (code("1") | {"outputs": [PICTURE]}, "image/png"),
    "an output": (code("1") | {"outputs": 5}, "outputs"),
    "a source": (words("a") | {"source": 3}, "source"),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_notebook_is_named_with_its_cell_in_one_line(kind, tmp_path, no_kernel):
    cell, word = MALFORMED[kind]
    notebook = v4.new_notebook(cells=[words("# A")]) | {"nbformat_minor": 5}
    notebook["cells"].append(cell)
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook))
    with pytest.raises(SystemExit) as stopped:
        site.main([str(tmp_path / "a.ipynb"), "-o", str(tmp_path / "out")])
    message = stopped.value.code
    assert "\n" not in message and message.startswith(f"{tmp_path / 'a.ipynb'}, ")
    assert "cell 2" in message and word in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"nbformat": 4, "cells": [1]}'])
def test_a_file_that_is_not_a_notebook_is_refused_in_one_line(text, tmp_path):
    (tmp_path / "a.ipynb").write_text(text)
    with pytest.raises(NotebookError) as raised:
        lesson.read(tmp_path / "a.ipynb")
    assert "\n" not in str(raised.value)


def test_folders_and_names_that_cannot_be_written_are_refused(tmp_path, no_kernel):
    own_folder = tmp_path / "mine"
    own_folder.mkdir()
    (own_folder / "index.html").write_text("mine")
    notebook = write(tmp_path / "a.ipynb", words("# A"))
    out = tmp_path / "out"
    for source, folder, message in (
        (notebook, own_folder, "holds other files than an export"),
        (notebook, notebook, "holds other files than an export"),
        (own_folder, out, "is not a notebook"),
        (tmp_path / "none.ipynb", out, "is not a notebook"),
        (write(tmp_path / "diagnose.ipynb"), out, "cannot be the name of a page"),
    ):
        with pytest.raises(NotebookError, match=message):
            site.export(source, folder)
    assert (own_folder / "index.html").read_text() == "mine"


FIRST = [
    words("# 01 Strides\n\n- **You** walk, $x_0$, see [views](look.ipynb#Stride-&-again)."),
    words("## It's `x` & more\n\nThe view size is not compatible."),
    printed("print('of this machine')", "of this machine\n"),
    words("$$\\sum_i x_i$$"),
]
SECOND = [words("# 02 Views"), words("## Stride & again\n\nText."), words("### Deep\n\nMore.")]
README = (  # a link leads to a notebook, or to a page of the site
    "| [Another name](notebooks/walk.ipynb) | where is it? | compute it |\n"
    "| [02 Views](https://a.github.io/kit/look.html) | who else? | find them |\n"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site of two small lessons, exported twice into one folder."""
    root = tmp_path_factory.mktemp("a site")
    (root / "notebooks").mkdir()
    (root / "README.md").write_text(README)
    write(root / "notebooks" / "walk.ipynb", *FIRST)
    write(root / "notebooks" / "look.ipynb", *SECOND)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lesson.form, "run", lambda *args, **options: NOT_RUN)
        patch.delenv("GITHUB_REPOSITORY", raising=False)
        (root / "out").mkdir()
        (root / "out" / site.MARK).touch()
        (root / "out" / "old.html").touch()
        with hidden_widgets():
            site.export(root / "notebooks", root / "out")
    assert not (root / "out" / "old.html").exists()
    return root / "out"


class Parsed(HTMLParser):
    """The ids, the links and the text of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids = set()
        self.links = []
        self.sources = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids |= {attributes.get("id"), attributes.get("name")}
        if attributes.get("href"):
            self.links.append(attributes["href"])
        if tag != "a" and attributes.get("rel") != "canonical":
            self.sources += filter(None, [attributes.get("src"), attributes.get("href")])

    def handle_data(self, data):
        self.text += data


def assert_whole(folder):
    """Each link on the pages of a folder leads to a place, and nothing comes from elsewhere."""
    pages = {path.name: Parsed(path) for path in folder.glob("*.html")}
    for name, page in pages.items():
        for address in map(urlsplit, page.links):
            target = unquote(address.path) or name
            assert address.scheme or (folder / target).exists(), (name, address)
            if not address.scheme and address.fragment and target in pages:
                assert unquote(address.fragment) in pages[target].ids, (name, address)
        assert {urlsplit(source).scheme for source in page.sources} <= {"", "data"}, name
    return pages


def test_every_link_leads_somewhere_and_nothing_comes_from_elsewhere(built):
    assert {*assert_whole(built)} > {"walk.html", "diagnose.html", "search.html", "reference.html"}


def test_lessons_have_the_notebooks_titles_and_jupyterlabs_anchors(built):
    page = Parsed(built / "walk.html")
    assert "01 Strides" in page.text
    assert "It's-x-&-more" in page.ids
    assert any(link.startswith("look.html#") for link in page.links)
    assert "<math" in (built / "walk.html").read_text(encoding="utf-8")
    front = Parsed(built / "index.html")
    assert "where is it?" in front.text and front.text.count("compute it") == 1
    assert {"walk.html", "look.html", "gallery.html"} <= {*front.links}
    assert "01 Strides" in front.text and "02 Views" in front.text and "who else?" in front.text
    assert "Another name" not in front.text


def test_the_reference_has_every_public_name_with_links_and_nothing_of_this_machine(built):
    pages = {path.name: Parsed(path) for path in built.glob("reference-*.html")}
    ids = set().union(*(page.ids for page in pages.values()))
    assert {f"{module}.{name}" for _, module, name in public_names()} <= ids
    assert {"stridekit.Layout.permute", "stridekit.StrideExplorer.layout"} <= ids
    assert "StrideExplorer(layout=None, storage_size=None" in pages["reference-pictures.html"].text
    assert "stridekit.StrideExplorer.add_class" not in ids  # which ipywidgets defines
    assert "reference-sharing.html#stridekit.memset" in pages["reference-cost.html"].links
    assert str(ROOT) not in "".join(page.text for page in pages.values())


def test_the_search_knows_headings_words_and_outputs_and_gives_no_hint_away(built):
    text = (built / "_static" / "site-data.js").read_text(encoding="utf-8")
    data = json.loads(text.removeprefix("globalThis.stridekitSite = ").removesuffix(";\n"))
    sections = [text for _, _, heading, text in data["sections"] if heading.startswith("It's")]
    assert "not compatible" in sections[0] and "of this machine" in sections[0]
    hidden = "<p>open<details><summary>Hint</summary>secret</details></p>"
    raw = site.nodes.raw("", hidden, format="html")
    assert site._words(raw).split() == ["open"]


def test_each_family_has_a_page_headed_by_its_message(built):
    """The sentences have no fields; Diagnose knows the message, and lists and describes its page."""
    found = site.Diagnose._script.FAMILIES
    assert len(families.pages()) == len(found)
    listed = Parsed(built / "diagnose.html")
    for name, family in families.pages().items():
        message = families.message_of(family)
        page = (built / f"{name}.html").read_text(encoding="utf-8")
        (heading,) = re.findall(r"<h1>(.*?)<a ", page, re.DOTALL)
        title = " ".join(html.unescape(re.sub("<[^>]*>", "", heading)).split())
        assert title == " ".join(message.split())
        sentences = families.source(family, "").replace("{rubric}", "")
        assert not re.search(r"\{\w+[,:*~+&%]?\}", sentences)
        for label, text in diagnose(message).lines:
            is_shown = text in sentences
            assert label == "message" or is_shown == (label in families.LABELS), (name, label)
        assert f"{name}.html" in listed.links
        assert families._messages().get(family["title"]) in (None, message)
        assert '<meta name="description" content="' + html.escape(family["title"]) in page
        if family["title"] in families._messages():
            assert diagnose(message).title == family["title"]


def test_each_widget_is_in_the_gallery_with_the_line_that_makes_it():
    assert {*KINDS} <= {*gallery.names()}
    for name in gallery.names():
        assert type(gallery.made(name)).__name__ == name
        assert f"\n{gallery.line_of(name)}\n" in gallery.source()


@pytest.mark.parametrize("call", [*cheat_sheet.VIEWS, *cheat_sheet.DEPENDS, *cheat_sheet.COPIES])
def test_the_cheat_sheet_says_what_torch_does(call):
    x = torch.arange(24.0).view(cheat_sheet.SHAPE)
    y = eval(call, {"x": x})
    layout = cheat_sheet.after(call)
    shares = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert layout.copied != shares
    assert (layout.shape, layout.stride) == (y.shape, y.stride())
    assert layout.storage_offset == y.storage_offset()
    if call not in cheat_sheet.DEPENDS:
        assert shares == (call in cheat_sheet.VIEWS)


def test_the_formats_of_the_cheat_sheet_are_torchs():
    for name in cheat_sheet.FORMATS:
        y = torch.empty(cheat_sheet.IMAGES, memory_format=getattr(torch, name))
        assert f"| `torch.{name}` | {y.stride()} |" in cheat_sheet.fields()["formats"]


def test_each_lesson_has_a_picture_of_its_own():
    names = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    drawn = [pictures.picture(name) for name in names]
    assert all(drawn) and len({*drawn}) == len(drawn)
    layout = pictures.LAYOUTS["03"][0]
    assert pictures.picture("03_contiguity").count("<rect") == layout.numel + len(layout.span)
    assert pictures.picture("notes") == ""


@pytest.mark.parametrize(
    ("variable", "origin", "base"),
    [
        ("Own/kit", "", "https://own.github.io/kit/"),
        ("", "git@github.com:own/kit.git", "https://own.github.io/kit/"),
        ("", "https://github.com/own/kit", "https://own.github.io/kit/"),
        ("", "https://example.org/own/kit", ""),
        ("", "", ""),
    ],
)
def test_the_address_of_the_site_is_that_of_its_repository(
    variable, origin, base, tmp_path, monkeypatch
):
    monkeypatch.setenv("GITHUB_REPOSITORY", variable)
    done = SimpleNamespace(stdout=f"{origin}\n")
    monkeypatch.setattr(site.subprocess, "run", lambda *args, **options: done)
    assert site._base_address(tmp_path) == base


def test_the_head_of_a_page_describes_it_and_the_sitemap_names_it(tmp_path):
    head = site.Head("https://own.github.io/kit/", {"a": "What <it> is. " * 30})
    tags = head.tags("a", "A & b")
    (words,) = re.findall(r'name="description" content="(.*?)"', tags)
    assert html.unescape(words).startswith("What <it> is.") and words.endswith(" …")
    assert '<meta property="og:title" content="A &amp; b">' in tags
    assert '<meta property="og:url" content="https://own.github.io/kit/a.html">' in tags
    pattern = r'property="og:image" content="https://own.github.io/kit/_static/(.*?)"'
    (picture,) = re.findall(pattern, tags)
    with Image.open(site.HERE / "static" / picture) as shared:
        assert shared.size == (1200, 630)
    alone = site.Head("", {}).tags("a", "A")
    assert "og:url" not in alone
    assert "og:image" not in alone
    (tmp_path / "a b.html").touch()
    site._write_sitemap(tmp_path, head.base)
    text = (tmp_path / "sitemap.xml").read_text(encoding="utf-8")
    assert "<loc>https://own.github.io/kit/a%20b.html</loc>" in text


def test_every_page_is_described_and_code_stays_as_it_is(built):
    """Without a repository no page has an address."""
    for path in built.glob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert re.search(r'<meta name="description" content="[^"]{20,}">', page), path
        assert 'rel="canonical"' not in page
    assert not (built / "sitemap.xml").exists()
    backwards = next(n for n, f in families.pages().items() if "runs backwards" in f["title"])
    assert "…, ::-1" not in (built / f"{backwards}.html").read_text(encoding="utf-8")


def test_docstrings_are_plain_text():
    lines = "Takes *args, a_ and | of `x*y`.\n\n>>> f(*x)\n2*x\n\nMore *".splitlines()
    reference.escape(None, "", "", None, None, lines)
    escaped = "Takes \\*args, a\\_ and \\| of `x*y`.\n\n>>> f(*x)\n2*x\n\nMore \\*"
    assert lines == escaped.splitlines()
