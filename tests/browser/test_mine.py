"""What a reader did is on record, in a real JupyterLab: the next kernel's map of the lessons shows it."""

import pytest

from stridekit.widgets.kept import VARIABLE
from tests.browser.lab import write_notebook
from tests.browser.pages import expect, in_kernel
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

# In a folder of its own, as a kernel starts beside its notebook.
LESSON = [
    f"import os\ndel os.environ[{VARIABLE!r}]",
    "from stridekit import Predict\nfrom stridekit.exercises import progress\n"
    "from stridekit.exercises import strides as ex",
    'Predict("How many?", 40)',
    "def column(x, j):\n    offset = x.storage_offset() + j * x.stride(1)\n"
    "    return x.as_strided((x.size(0),), (x.stride(0),), offset)\n\n\nex.column.check(column)",
]


def test_the_next_kernel_knows_what_was_done_in_this_one(lab):
    folder = lab.root / "mine"
    folder.mkdir()
    write_notebook(folder / "01_one.ipynb", LESSON)
    write_notebook(folder / "02_map.ipynb", [*LESSON[:2], "progress()"])
    page = lab.open("mine/01_one.ipynb")
    lab.run_all(page)
    expect(page.locator(".jp-OutputArea").last).to_contain_text("Well done: 1 of 10 in this lesson")
    assert lab.run_code(page, "print(ex.column.mine is column)").strip() == "True"
    page.locator(".sk-predict input").fill("41")
    page.keyboard.press("Enter")
    in_kernel(lab, page, "")
    lab.close(page)

    page = lab.open("mine/02_map.ipynb", 800, theme="dark")
    lab.run_all(page)
    assert [path.name for path in (folder / "my_answers").iterdir()] == ["record.jsonl"]
    row = page.locator(".jp-OutputArea tbody tr")
    assert row.locator("td").all_inner_texts() == ["1 of 1", "", "1 of 1", "0"]
    table = page.locator(".jp-OutputArea table")
    assert table.evaluate("(node) => node.scrollWidth <= node.parentElement.clientWidth")
    row.get_by_role("link").click()
    page.wait_for_function("jupyterapp.shell.currentWidget.context.path === 'mine/01_one.ipynb'")
    page.close()
