"""The export without a browser: what is on a page, and what is refused with nothing written."""

import re

import nbformat
import pytest

from stridekit import export
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


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One notebook with every kind of thing, as a page."""
    folder = tmp_path_factory.mktemp("a folder")
    source = write(folder / "kinds.ipynb", *CELLS)
    assert export.main([str(source), "-o", str(folder / "new" / "site")]) == 0
    (written,) = (folder / "new" / "site").iterdir()
    assert written.name == "kinds.html"
    return written.read_text(encoding="utf-8")


def test_a_widget_is_written_once_however_often_it_is_shown(page):
    """Two views lead to one state, which is that of the end of the run."""
    assert re.findall(r'data-widget="(\d+)"', page) == ["0", "0"]
    assert page.count("export default") == 1
    assert r"\"said\": 1".replace("\\", "") in page


def test_what_needs_a_kernel_says_so(page):
    assert page.count("This needs a running kernel") == 1
    assert "<pre>IntSlider(value=0, description='stride')</pre>" in page


def test_formulas_are_mathml(page):
    assert "<mtext>a_b</mtext>" in page and "$$\\text" not in page
    assert "<code>$5</code>" in page and "<title>Try x0 &amp; more</title>" in page


def test_links_lead_from_page_to_page(page):
    """Those to notebooks elsewhere stay."""
    assert 'href="other.html#part"' in page and 'href="https://example.org/a.ipynb"' in page


def test_outputs_and_errors(page):
    assert "&lt;b&gt;not bold&lt;/b&gt;" in page
    assert "ZeroDivisionError: division by zero" in page
    text = re.sub(r"data:image/png[^\"]*", "", page)
    assert [why for pattern, why in TRACES.items() if re.search(pattern, text)] == []


def test_the_page_says_what_it_is(page):
    assert "This is the lesson <code>kinds.ipynb</code> as a page." in page
    assert "make lab" in page


def test_nothing_would_be_fetched(page):
    """No script, style, picture or font has an address."""
    fetched = re.findall(r"""(?:src|@import|url\()\s*=?\s*["']?(https?:|//)""", page)
    assert fetched == [] and '<link rel="stylesheet"' not in page


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([code("1"), code("\n1 / 0")], 'cell 2 ("1 / 0"): ZeroDivisionError: division by zero'),
        ([code("import os\n\nos._exit(1)")], 'cell 1 ("import os"): the kernel died'),
        ([words('<img src="https://example.org/a.png">')],
         "it loads https://example.org/a.png from the network: put the file beside the notebook"),
    ],
)  # fmt: skip
def test_one_that_fails_leaves_nothing(cells, sentence, tmp_path, capfd):
    """Not even the pages of those that are well."""
    write(tmp_path / "a.ipynb", words("# Well"))
    bad = write(tmp_path / "b.ipynb", *cells)
    assert export.main([str(tmp_path), "-o", str(tmp_path / "site")]) == 1
    # A kernel that is ended while it is busy may say so itself.
    said = [line for line in capfd.readouterr().err.splitlines() if "[IPKernelApp]" not in line]
    assert said == [f"{bad}, {sentence}"]
    assert not (tmp_path / "site").exists()


def test_refusals(tmp_path, capsys):
    """Before anything is executed."""
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "named").mkdir()
    write(tmp_path / "named" / "index.ipynb")
    well, out = write(tmp_path / "a.ipynb", words("# A")), tmp_path / "out"
    refused = [
        (tmp_path / "none.ipynb", out, "does not exist: name a notebook, or a folder of notebooks"),
        (tmp_path / "file", out, "is not a notebook (.ipynb)"),
        (tmp_path / "empty", out, "has no notebooks"),
        (tmp_path / "named", out, "would take the front page's name: rename it"),
        (well, tmp_path / "file", "is a file: name a folder to write to"),
    ]
    for source, folder, sentence in refused:
        assert export.main([str(source), "-o", str(folder)]) == 1
        said = capsys.readouterr()
        assert sentence in said.err and said.out == "" and not out.exists()


def test_what_is_no_notebook(tmp_path, capsys):
    path = tmp_path / "a.ipynb"
    path.write_text("# no JSON")
    assert export.main([str(path), "-o", str(tmp_path / "out")]) == 1
    assert f"{path}, it is not a notebook: " in capsys.readouterr().err


def test_the_extra_that_is_missing_is_named(tmp_path, capsys, monkeypatch):
    """The package itself needs nothing of it."""

    def missing(name):
        raise ModuleNotFoundError("No module named 'nbconvert'", name="nbconvert.exporters")

    monkeypatch.setattr(export, "import_module", missing)
    path = write(tmp_path / "a.ipynb", words("# A"))
    assert export.main([str(path), "-o", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == (
        "nbconvert is not installed: pip install 'stridekit[export]' brings it\n"
    )
