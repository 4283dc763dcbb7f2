"""One JupyterLab and one browser for all browser tests, on a copy of the notebooks."""

import shutil

import pytest

from browser_lab import ROOT, find_chromium, running_lab, write_notebook
from tests.quick import NO_STILLS
from tests.widget_kinds import KINDS

ALL_KINDS = [
    f"import torch\nfrom stridekit import Layout\nfrom stridekit.widgets import {', '.join(KINDS)}\n"
    f"x = torch.arange(24).view(4, 6)\n{NO_STILLS}",
    *[f"w{k} = {kind.make}\nw{k}" for k, kind in enumerate(KINDS.values())],
]


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
        pages.append(_open(lab, sources, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        lab.close(page)


@pytest.fixture(scope="session")
def kinds_page(lab):
    """A page for the tests of all widgets, without stills: cell k shows wk of KINDS; the last is empty."""
    page = _open(lab, [*ALL_KINDS, "pass"])
    yield page
    lab.close(page)


def _open(lab, sources, **options):
    name = f"scratch-{len(list(lab.root.iterdir()))}.ipynb"
    write_notebook(lab.root / name, sources)
    page = lab.open(name, **options)
    lab.run_all(page)
    return page


@pytest.fixture(autouse=True)
def nothing_goes_wrong(request):
    """No test may let a page leave the machine, or raise an error that nobody sees."""
    yield
    if "lab" in request.fixturenames:
        lab = request.getfixturevalue("lab")
        assert lab.outside == [] and lab.errors == []
