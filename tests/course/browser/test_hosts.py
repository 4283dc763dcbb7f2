"""A lesson in other hosts than `make lab`: JupyterLab without the extension, and Notebook 7."""

import json
import sys

import pytest

from tests.course.browser.lab import LAB, LAB_OPTIONS, QUIET, READY, running_lab, write_notebook
from tests.course.browser.pages import expect, press
from tests.course.needs import needs_chromium

CELLS = [
    "import torch\nimport stridekit\nfrom stridekit.exercises import strides as ex",
    "stridekit.StrideExplorer(torch.arange(24).view(4, 6))",
    "ex.row.check(lambda x, i: x[0])",
]
NOTEBOOK = ["env", QUIET, sys.executable, "-m", "notebook"]
OFF = {"disabledExtensions": {"stridekit": True}}


@needs_chromium
@pytest.mark.long
@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_widget_moves_and_hints_open(app, browser, tmp_path):
    pytest.importorskip(app if app == "notebook" else "jupyterlab")
    write_notebook(tmp_path / "lesson.ipynb", CELLS)
    command = [*NOTEBOOK, *LAB_OPTIONS] if app == "notebook" else LAB
    with running_lab(tmp_path, tmp_path / "scratch", browser, command) as host:
        if app == "lab":
            config = tmp_path / "scratch" / "config" / "labconfig"
            (config / "page_config.json").write_text(json.dumps(OFF))
        page = host.context.new_page()
        folder = "notebooks" if app == "notebook" else "lab/tree"
        page.goto(f"{host.url}{folder}/lesson.ipynb?token={host.token}")
        page.wait_for_function(READY, polling=100)
        host.run_all(page)
        label = page.get_by_label("stride[0]").first
        before = label.input_value()
        press(label, "ArrowRight")
        assert label.input_value() != before
        report = page.locator(".jp-OutputArea-output", has_text="row: not yet")
        steps = report.locator("summary:visible")
        for hints in (["Hint 1 of 3"], ["Hint 1 of 3", "Hint 2 of 3"]):
            expect(steps).to_have_text(hints)
            press(steps.last, "Enter")
    assert host.outside == []
