"""A lesson in each host that runs here: JupyterLab, with and without the extension, and Notebook 7."""

import json
import sys

import pytest

from tests.browser.lab import _READY, LAB_OPTIONS, running_lab, write_notebook
from tests.browser.pages import button, expect, press
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

CELLS = [
    "import torch\nfrom stridekit import Predict, StrideExplorer\n"
    "from stridekit.exercises import strides as ex",
    "StrideExplorer(torch.arange(24).view(4, 6))",
    "Predict('What is the stride of `x.t()`?', (1, 6), choices=[(6, 1), (1, 6), (1, 4)], why='It swaps.')",
    "def row(x, i):\n    return x[0]\n\n\nex.row.check(row)",
    "ex.column.check(lambda x, j: ex.column.reference(x, j))",
]
NOTEBOOK = [sys.executable, "-m", "notebook", "--JupyterNotebookApp.expose_app_in_browser=True"]
OFF = {"disabledExtensions": {"stridekit": True}}


@pytest.fixture(scope="module", params=["lab", "notebook", "without the extension"])
def page(request, browser, tmp_path_factory):
    """A page on a lesson of five cells, all of them run."""
    root, scratch = (tmp_path_factory.mktemp(name) for name in ("root", "scratch"))
    write_notebook(root / "lesson.ipynb", CELLS)
    command = {"command": [*NOTEBOOK, *LAB_OPTIONS]} if request.param == "notebook" else {}
    if request.param == "notebook":
        pytest.importorskip("notebook")
    with running_lab(root, scratch, browser, **command) as host:
        if request.param == "without the extension":
            (scratch / "config" / "labconfig" / "page_config.json").write_text(json.dumps(OFF))
        folder = "notebooks" if request.param == "notebook" else "lab/tree"
        page = host.context.new_page()
        page.goto(f"{host.url}{folder}/lesson.ipynb?token={host.token}")
        page.wait_for_function(_READY, polling=100)
        host.run_all(page)
        page.locator("details summary").first.wait_for()
        yield page
        page.close()
    assert host.outside == []


def test_a_widget_moves_a_card_has_two_steps_and_hints_open_one_after_another(page):
    label = page.get_by_label("stride[0]").first
    before = label.input_value()
    press(label, "ArrowRight")
    assert label.input_value() != before
    w = page.locator(".sk-predict")
    w.get_by_label("(6, 1)").check()
    button(w, "Commit").click()
    expect(w.locator(".sk-answer")).to_have_text("✗ not (6, 1): one more try")
    w.get_by_label("(1, 6)").check()
    page.keyboard.press("Enter")
    expect(w.locator(".sk-answer")).to_have_text("✓ you said (1, 6), and so it is")
    steps = page.locator(".jp-OutputArea-output", has_text="row: not yet").locator(
        "summary:visible"
    )
    expect(steps).to_have_text(["Hint 1 of 3"])
    press(steps.first, "Enter")
    expect(steps).to_have_text(["Hint 1 of 3", "Hint 2 of 3"])
    passed = page.locator(".jp-OutputArea-output", has_text="column: right on all")
    expect(passed).to_contain_text("Well done: 1 of 10 in this lesson. Next: diagonal.")
