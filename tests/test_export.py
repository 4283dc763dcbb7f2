"""The export without a browser: the content of pages, and refusals that write nothing."""

import html
import json
import os
import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from nbconvert.exporters import templateexporter

from stridekit._kept import VARIABLE
from stridekit.exercises.strides import row
from stridekit.export import lesson, pages
from stridekit.export.fetched import loaded_from_elsewhere
from stridekit.export.outline import outline
from stridekit.plots import IS_FOR_PAGES
from stridekit.timing.records import ALONE
from tests.notebook_rules import TRACES

code, words = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell

CELLS = [
    words(
        "# Try $x_0$ & more\n\n- **You will** see [the next one](other.ipynb#part).\n"
        "- A [page](https://example.org/a.ipynb)."
    ),
    code("import ipywidgets\nfrom stridekit.widgets import Predict\np = Predict('Really?', True)"),
    code("p"),
    code("p.committed = False\nprint('<b>not bold</b>')\np"),
    code("ipywidgets.IntSlider(description='stride')"),
    code("1 / 0", metadata={"tags": ["raises-exception"]}),
    words("$$\\text{a\\_b} + i_0 \\cdot 2$$ and `$5`"),
]


def write(path, *cells):
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=list(cells))))
    return path


def run(source, folder):
    return pages.main([str(source), "-o", str(folder)])


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One notebook with every kind of thing, as a page."""
    folder = tmp_path_factory.mktemp("a folder")
    source = write(folder / "kinds.ipynb", *CELLS)
    assert run(source, folder / "new" / "site") == 0
    (written,) = (folder / "new" / "site").iterdir()
    assert written.name == "kinds.html"
    return written.read_text(encoding="utf-8")


def test_a_widget_is_written_once_however_often_it_is_shown(page):
    """Two views share the state at the end of the run; other outputs say that they need a kernel."""
    assert re.findall(r'data-widget="(\d+)"', page) == ["0", "0"]
    assert page.count("export default") == 1
    assert r"\"said\": 1".replace("\\", "") in page
    assert page.count("This needs a running kernel") == 1
    assert "<pre>IntSlider(value=0, description='stride')</pre>" in page


def test_words_outputs_and_errors(page):
    """Formulas are MathML, links lead from page to page, and texts are escaped."""
    assert "<mtext>a_b</mtext>" in page and "$$\\text" not in page
    assert "<code>$5</code>" in page and "<title>Try x0 &amp; more</title>" in page
    assert 'href="other.html#part"' in page and 'href="https://example.org/a.ipynb"' in page
    assert "&lt;b&gt;not bold&lt;/b&gt;" in page
    assert "ZeroDivisionError: division by zero" in page
    assert "The lesson <code>kinds.ipynb</code> as a page." in page and "make lab" in page


def test_the_page_depends_on_no_machine_and_no_network(page):
    text = re.sub(r"data:image/png[^\"]*", "", page)
    assert [why for pattern, why in TRACES.items() if re.search(pattern, text)] == []
    assert loaded_from_elsewhere(page) == ""


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([code("1"), code("\n1 / 0")], 'cell 2 ("1 / 0"): ZeroDivisionError: division by zero'),
        ([code("import os\n\nos._exit(1)")], 'cell 1 ("import os"): the kernel died'),
    ],
)  # fmt: skip
def test_a_notebook_that_fails_leaves_nothing(cells, sentence, tmp_path, capfd):
    """Not even the pages of good notebooks are written."""
    write(tmp_path / "a.ipynb", words("# Well"))
    bad = write(tmp_path / "b.ipynb", *cells)
    assert run(tmp_path, tmp_path / "site") == 1
    # A kernel that is ended while it is busy may say so itself.
    said = [line for line in capfd.readouterr().err.splitlines() if "[IPKernelApp]" not in line]
    assert said == [f"{bad}, {sentence}"]
    assert not (tmp_path / "site").exists()


def test_refusals(tmp_path, capsys):
    """Before anything is executed."""
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "named").mkdir()
    write(tmp_path / "named" / "Index.ipynb")
    well, out = write(tmp_path / "a.ipynb", words("# A")), tmp_path / "out"
    refused = [
        (tmp_path / "none.ipynb", out, "does not exist: name a notebook, or a folder of notebooks"),
        (tmp_path / "file", out, "is not a notebook (.ipynb)"),
        (tmp_path / "empty", out, "has no notebooks"),
        (write(tmp_path / "a\udc80.ipynb"), out, "'a\\udc80.ipynb' cannot be the name of a page"),
        (
            tmp_path / "named",
            out,
            "would take the name of the front page or of a page of the reference",
        ),
        (well, tmp_path / "file", "is a file: name a folder to write to"),
    ]
    for source, folder, sentence in refused:
        assert run(source, folder) == 1
        said = capsys.readouterr()
        assert sentence in said.err and said.out == "" and not out.exists()


def test_a_file_that_is_not_a_notebook_is_refused(tmp_path, capsys):
    path = tmp_path / "a.ipynb"
    path.write_text("# no JSON")
    assert run(path, tmp_path / "out") == 1
    assert f"{path}, it is not a notebook: " in capsys.readouterr().err


MENDS = "a package that pages are made with cannot be imported ({}): pip install --force-reinstall "
GIVES = "{} is not installed: pip install 'stridekit[export]' brings it\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModuleNotFoundError("", name="nbconvert.exporters"), GIVES.format("nbconvert")),
        (ModuleNotFoundError("", name="jinja2"), GIVES.format("jinja2")),
        (ImportError("cannot import name 'x'"),
         MENDS.format("cannot import name 'x'") + "'stridekit[export]' repairs it\n"),
    ],
)  # fmt: skip
def test_a_package_that_cannot_be_imported_is_named(error, said, tmp_path, monkeypatch, capsys):
    """The package itself does not need the extra."""

    def fails(name):
        raise error

    monkeypatch.setattr(pages, "import_module", fails)
    assert run(write(tmp_path / "a.ipynb"), tmp_path / "out") == 1
    assert capsys.readouterr().err == said


# Without executing anything ---------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    """Export without a kernel: every notebook has the same page."""
    nothing = SimpleNamespace(widget_state={}, widget_buffers={})
    monkeypatch.setattr(lesson, "run", lambda *args, **kwargs: nothing)


class Page(HTMLParser):
    """The links and the texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.links, self.texts = [], []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if (tag, name) == ("a", "href")]

    def handle_data(self, data):
        self.texts.append(data)


NAMES = ["a#b", "javascript:alert(1)", "50% of it?", "<b>&amp;'\"", "a\\b", "ä ö", "__init__"]
NAMES += ["//host"]


@pytest.mark.parametrize("name", NAMES)
def test_the_front_page_leads_to_a_lesson_of_any_name(name, tmp_path, quick):
    """It shows the name as it is if the notebook has no title."""
    name = name.replace("/", "∕")  # no file has the other
    write(tmp_path / f"{name}.ipynb", code("1"))
    assert run(tmp_path, tmp_path / "site") == 0
    front = Page(tmp_path / "site" / "index.html")
    link = front.links[0]
    assert re.fullmatch(r"[\w.%~-]+", link, re.ASCII) and urlsplit(link).path == link
    assert (tmp_path / "site" / unquote(link)).read_text(encoding="utf-8").startswith(pages.MARK)
    assert name in front.texts
    assert f"{name}.ipynb" in Page(tmp_path / "site" / f"{name}.html").texts


def test_what_is_written_again_is_only_what_was_written(tmp_path, quick, capsys):
    """Pages of an earlier export are replaced."""
    write(tmp_path / "a.ipynb", words("# A"))
    site = tmp_path / "site"
    assert run(tmp_path, site) == 0
    write(tmp_path / "a.ipynb", words("# B"))
    assert run(tmp_path, site) == 0
    assert "<title>B</title>" in (site / "a.html").read_text(encoding="utf-8")
    assert [path.name for path in site.iterdir() if path.suffix != ".html"] == ["search-index.js"]


def exported(folder, *cells):
    """The page of a notebook of these cells, without its head and its scripts."""
    assert run(write(folder / "a.ipynb", *cells), folder / "one") == 0
    page = (folder / "one" / "a.html").read_text(encoding="utf-8").partition("<body>")[2]
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def shown(page):
    """A page as text, without what is folded away."""
    while re.search(FOLD, page):
        page = re.sub(FOLD, " ", page)
    return " ".join(re.sub(r"<[^>]*>", "", page).split())


FOLD = re.compile(r"<details(?:(?!<details).)*?</details>", re.DOTALL)
CARD = code(
    "Predict('How many?', 4711, why='So many.')", metadata={"jupyter": {"source_hidden": True}}
)


def printed(source, text):
    return code(source, outputs=[nbformat.v4.new_output("stream", text=text)])


def test_a_card_is_not_spoilt(tmp_path, quick):
    """Not by its code; the code that runs it and the words that explain it open, up to a heading."""
    explains = words("These are 4711.\n\n## The next subject\n\nText.")
    before, after = printed("0", "first"), code("x = 5")
    page = exported(tmp_path, words("# A"), before, CARD, printed("f()", "4711"), after, explains)
    assert "So many." not in page and "first" in shown(page)
    (fold,) = re.findall(r'<details class="sk-behind">(.*?)</details>', page, re.DOTALL)
    assert all(text in fold for text in ("4711", "f", "x", "These are 4711.")) and "<h2" not in fold
    assert "4711" not in shown(page) and shown(page).endswith("The next subject Text.")


AGAIN = code(CARD.source)


def test_a_hint_or_a_comment_breaks_no_fold(tmp_path, quick):
    """A fold ends where it should if a cell in it is left out, or has a # in a block of code."""
    cells = [code("from stridekit.exercises import strides as ex"), CARD, code("ex.row.hint()")]
    cells += [
        printed("f()", "4711"),
        words("Two:\n\n```\n# 4711\n```\n\nSo.\n\n## Next"),
        words("Last."),
    ]
    page = exported(tmp_path, *cells)
    assert page.count("<details") == page.count("</details>")
    assert shown(page).endswith("Next Last.") and "4711" not in shown(page)


@pytest.mark.parametrize(
    "after", [[], [words("So much for that.")], [AGAIN], [words("## B"), code("1")]]
)
def test_where_no_code_follows_a_card_nothing_is_folded(after, tmp_path, quick):
    assert "sk-behind" not in exported(tmp_path, CARD, *after)


def test_hints_and_a_solution_stand_below_an_exercise(tmp_path, quick):
    """In their order, each inside the one before; what only a kernel could say is left out."""
    blank = nbformat.v4.new_output("execute_result", {"text/plain": "○ row: not attempted yet"})
    cells = [
        code("from stridekit.exercises import strides as ex"),
        code("def row(x, i):\n    ...\n\n\nex.row.check(row)", outputs=[blank]),
        printed("ex.row.hint()", "a hint"),
    ]
    page = exported(tmp_path, *cells)
    assert "not attempted" not in page and "a hint" not in page and page.count("sk-help") == 1
    texts = ["make lab", "Hint 1 of 3", *row.hints, "Solution", "return x.as_strided", row.takeaway]
    plain = html.unescape(re.sub(r"<[^>]*>", "", page))
    places = [plain.index(text.replace("`", "")) for text in texts]
    assert places == sorted(places)
    assert len(re.findall("</details></details></details></details>", page)) == 1
    assert row.hints[0].split("`")[2] not in shown(page)


def test_the_map_of_the_lessons_is_the_sites_own(tmp_path, quick):
    source = "from stridekit.exercises import progress\n\nprogress()"
    cells = [words("Run the next cell to see it."), printed(source, "nothing yet"), words("After.")]
    text = shown(exported(tmp_path, *cells))
    assert "JupyterLab: Run the next cell to see it. After." in text and "nothing yet" not in text


def test_what_a_reader_has_tried_stays(tmp_path, quick):
    tried = nbformat.v4.new_output("execute_result", {"text/plain": "✗ row: not yet"})
    cells = [
        code("from stridekit.exercises import strides"),
        code("strides.row.check(1)", outputs=[tried]),
    ]
    assert "✗ row: not yet" in exported(tmp_path, *cells)


@pytest.mark.parametrize(
    "source",
    [
        "ex.row.check(row)",
        "from stridekit.exercises import strides as ex\nex.other.check(1)",
        "from stridekit.exercises import Exercise as ex\nex.row.check(1)",
        "f.check(1)",
    ],
)
def test_what_is_no_exercise_gets_no_help(source, tmp_path, quick):
    assert "sk-help" not in exported(tmp_path, code(source))


def test_words_about_jupyterlab_say_so(tmp_path, quick):
    for text in ("Press Shift+Enter.", "*Run → Run All Cells* does.", "Run the next cell again."):
        assert 'class="sk-in-lab"' in exported(tmp_path, words(text))
    assert 'class="sk-in-lab"' not in exported(tmp_path, words("It was run. Shift it."))


def test_headings_have_jupyterlabs_anchors_and_stand_in_the_contents(tmp_path, quick):
    """Each has its own, so a link from another notebook leads there."""
    cells = [
        words("# A"),
        words("## It's `x` & $y$"),
        words("### B\n\n## B"),
        words("## stridekit"),
    ]
    page = exported(tmp_path, *cells)
    anchors = re.findall(r'<h[1-6] id="([^"]*)"', page)
    assert [html.unescape(anchor) for anchor in anchors] == [
        "A",
        "It's-x-&-y",
        "B",
        "B-2",
        "the-stridekit",
    ]
    contents = page.partition("</nav>")[0]
    links = re.findall(r'class="sk-level(\d)"><a href="#([^"]*)">', contents)
    assert [(level, unquote(link)) for level, link in links] == [
        ("2", "It's-x-&-y"), ("3", "B"), ("2", "B-2"), ("2", "the-stridekit"),
    ]  # fmt: skip
    assert "<search" not in page and "sk-neighbours" not in page  # it is one file


def test_pages_lead_to_the_ones_before_and_after(tmp_path, quick):
    """Above and below; lessons to lessons, the reference to the reference."""
    for name in ("a", "b", "c"):
        write(tmp_path / f"{name}.ipynb", words(f"# {name}"))
    assert run(tmp_path, tmp_path / "site") == 0
    for name, ways in {
        "a": [("b.html", "next")],
        "b": [("a.html", "prev"), ("c.html", "next")],
        "c": [("b.html", "prev")],
        "reference-layouts": [("reference-raw_memory.html", "next")],
    }.items():
        page = (tmp_path / "site" / f"{name}.html").read_text(encoding="utf-8")
        assert re.findall(r'<a href="([^"]*)" rel="(prev|next)">', page) == 2 * ways


def test_the_index_has_headings_and_words_and_gives_nothing_away(tmp_path, quick):
    """No code, no outputs, no hints; of the reference each name."""
    cells = [
        words("# Strides\n\nAbout <them>.\n\n## Play `it`\n\n- One\n- two $x_0$"),
        printed("secret", "output"),
    ]
    write(tmp_path / "a b.ipynb", *cells, words("More."))
    assert run(tmp_path, tmp_path / "site") == 0
    text = (tmp_path / "site" / "search-index.js").read_text(encoding="utf-8")
    data = text.partition("globalThis.stridekitIndex = ")[2].removesuffix(";\n")
    index = json.loads(data)
    assert index[0] == ["a%20b.html", "Strides", [["Strides", "Strides", "About ."],
        ["Play-it", "Play it", "One two x0 More."]]]  # fmt: skip
    names = {anchor for _, _, sections in index for anchor, _, _ in sections}
    assert {"Layout.of", "memset", "compare"} <= names


def test_the_outline_skips_what_is_not_read():
    body = "<p>before</p><h1>A</h1><div class='jp-Cell-outputWrapper'><div><p>no</p></div><p>no</p></div>"
    body += "<p>yes<script>no</script></p><nav><p>no</p></nav><h4>deep</h4><p>too</p>"
    assert [tuple(part) for part in outline(body)] == [(1, "", "A", "yes too")]


def link_to_ours(path, site):
    path.symlink_to(site / "ours.html")


def files(folder):
    """The files of a folder, with all that changes if they are written."""
    found = {path.name: path.lstat() for path in folder.iterdir()}
    return {name: (at.st_ino, at.st_mode, at.st_size, at.st_mtime_ns) for name, at in found.items()}


TAKEN = {
    "a page": lambda path, site: path.write_text("<!doctype html>mine"),
    "nothing": lambda path, site: path.touch(),
    "a folder": lambda path, site: path.mkdir(),
    "a link": link_to_ours,
    "a link to nothing": lambda path, site: path.symlink_to(site / "none"),
    "a pipe": lambda path, site: os.mkfifo(path),
}


@pytest.mark.parametrize(
    "name", ["index.html", "a.html", "reference-sharing.html", "search-index.js"]
)
@pytest.mark.parametrize("kind", TAKEN)
def test_a_place_that_is_taken_is_left_alone(kind, name, tmp_path, quick, capsys):
    write(tmp_path / "a.ipynb", words("# A"))
    site = tmp_path / "site"
    site.mkdir()
    (site / "ours.html").write_text(pages.MARK)
    TAKEN[kind](site / name, site)
    before = files(site)
    assert run(tmp_path, site) == 1
    said = capsys.readouterr()
    assert f"{site / name} exists and was not written by this export: move it, or" in said.err
    assert files(site) == before
    # Of what can be known beforehand, nothing is executed for nothing.
    assert ("executing" in said.out) is name.startswith("reference")


def test_no_link_is_followed_while_pages_are_written(tmp_path, quick):
    """Links in the folder are never followed."""
    write(tmp_path / "a.ipynb", words("# A"))
    site, victim = tmp_path / "site", tmp_path / "victim"
    site.mkdir()
    victim.write_text("mine")
    for name in (".a.html.part", ".index.html.part", ".stridekit-"):
        (site / name).symlink_to(victim)
    assert run(tmp_path, site) == 0
    assert victim.read_text() == "mine" and not victim.is_symlink()
    assert (site / ".a.html.part").is_symlink() and not (site / "a.html").is_symlink()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_no_halves(error, tmp_path, quick, monkeypatch, capsys):
    def fails(*args):
        raise error

    write(tmp_path / "a.ipynb", words("# A"))
    monkeypatch.setattr(os, "replace", fails)
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, tmp_path / "site")
    else:
        assert run(tmp_path, tmp_path / "site") == 1
        assert "No space left on device" in capsys.readouterr().err
    assert list((tmp_path / "site").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_pages_can_be_read_by_a_server(tmp_path, quick):
    """Pages have the mode of any new file."""
    write(tmp_path / "a.ipynb", words("# A"))
    assert run(tmp_path / "a.ipynb", tmp_path / "site") == 0
    (tmp_path / "new").touch()
    assert (tmp_path / "site" / "a.html").stat().st_mode == (tmp_path / "new").stat().st_mode


def test_templates_that_are_missing_are_named(tmp_path, monkeypatch, capsys):
    """Before anything is executed."""
    monkeypatch.setattr(templateexporter, "jupyter_path", lambda: [str(tmp_path / "share")])
    path = write(tmp_path / "a.ipynb", code("1"))
    for kept in ("", "lab"):  # all of them, or what they are made of
        (tmp_path / "share" / "nbconvert" / "templates" / kept).mkdir(parents=True)
        assert run(path, tmp_path / "out") == 1
        said = capsys.readouterr().err
        assert f"{path}, nbconvert's templates are not where Jupyter looks for them" in said
        assert said.count("\n") == 1 and "pip install --force-reinstall nbconvert" in said


def test_a_page_that_would_load_something_is_refused(tmp_path, quick, capsys):
    """In words or in what a cell shows."""
    shown = nbformat.v4.new_output("display_data", {"text/html": "<img srcset='//cdn.org/a.png'>"})
    for cell in (code("1", outputs=[shown]), words("<style>@import '//cdn.org/a.css'</style>")):
        assert run(write(tmp_path / "a.ipynb", cell), tmp_path / "out") == 1
        said = capsys.readouterr().err
        assert re.search(r"it loads //cdn.org/a.* from the network: put the file beside", said)
    assert not (tmp_path / "out").exists()


def test_the_lessons_stand_in_their_order_and_lead_back(tmp_path, quick):
    for name in ("10_b", "02_c", "01_a"):
        write(tmp_path / f"{name}.ipynb", words(f"# {name}\n\nAbout [another](01_a.ipynb)."))
    assert run(tmp_path, tmp_path / "site") == 0
    front = Page(tmp_path / "site" / "index.html").links
    lessons = [link for link in front if re.match(r"\d", link)]
    assert lessons == ["01_a.html", "01_a.html", "02_c.html", "01_a.html", "10_b.html", "01_a.html"]
    assert Page(tmp_path / "site" / "02_c.html").links[0] == "index.html"
    assert run(tmp_path / "02_c.ipynb", tmp_path / "single") == 0  # there is no front page
    assert "index.html" not in (tmp_path / "single" / "02_c.html").read_text(encoding="utf-8")


def test_a_lesson_runs_in_the_environment_of_whoever_exports_it(tmp_path, monkeypatch):
    """It has your threads and GPU, which the kernel of the tests hides."""
    asked = []
    done = SimpleNamespace(widget_state={}, widget_buffers={})
    monkeypatch.setattr(
        lesson, "run", lambda *args, **options: asked.append((args, options)) or done
    )
    lesson.lesson(write(tmp_path / "a.ipynb", words("# A")))
    [((_, folder, seconds), options)] = asked
    assert (folder, seconds) == (tmp_path, 300)
    assert options == {"kernel_manager_class": lesson.ThisPython}
    kernel = lesson.ThisPython().kernel_spec
    assert kernel.argv[0] == sys.executable
    assert kernel.env == {IS_FOR_PAGES: "1", ALONE: "1", VARIABLE: "no"}


def test_a_widget_that_cannot_live_on_a_page_is_left_out():
    """A widget with buffers or nested widgets, or one of another library, is left out."""
    state = {"_model_module": "anywidget", "_esm": "", "_state": {}}
    states = {
        "well": state,
        "bytes": state,
        "inside": state | {"_state": {"other": "IPY_MODEL_well"}},
        "controls": state | {"_model_module": "@jupyter-widgets/controls"},
        "no module": {"_model_module": "anywidget"},
    }
    found = lesson._Widgets(states, {"bytes": [{"path": ["_state"]}], "well": []})
    assert [found.number(name) for name in states] == [0, None, None, None, None]
    assert found.number("well") == 0 and len(found.shown) == 1 and found.number("gone") is None


def test_the_colours_are_those_of_the_readers_system():
    light, dark, *others = lesson.styles().split("@media (prefers-color-scheme: dark)")
    assert "--jp-layout-color0: white;" in light and "--jp-layout-color0: #111;" in dark
    assert others == []
