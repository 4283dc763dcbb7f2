"""One JupyterLab and one browser for all browser tests, on a copy of the notebooks."""

import shutil

import nbformat
import pytest

from browser_lab import ROOT, find_chromium, running_lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A running JupyterLab whose root holds copies of the project's notebooks."""
    assert find_chromium(), "chromium is not installed"
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    with running_lab(root, tmp_path_factory.mktemp("scratch")) as lab:
        yield lab


@pytest.fixture(scope="module")
def notebook(lab):
    """Write a notebook with the given code cells, and open it with all cells run: returns the page."""
    pages = []

    def open_page(*sources, **options):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        name = f"scratch-{len(list(lab.root.iterdir()))}.ipynb"
        book = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        nbformat.write(book, lab.root / name)
        page = lab.open(name, **options)
        pages.append(page)
        lab.run_all(page)
        return page

    yield open_page
    for page in pages:
        lab.close(page)
