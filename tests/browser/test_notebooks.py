"""Every notebook in a real JupyterLab: run from top to bottom, as a reader does."""

import pytest

from tests.browser.lab import ROOT
from tests.browser.pages import resize
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

# Each output that is a widget has drawn something.
ALL_WIDGETS_DRAWN = """() => {
  const outputs = [...jupyterapp.shell.currentWidget.content.model.cells]
    .filter((cell) => cell.type === 'code')
    .flatMap(({ outputs }) => [...Array(outputs.length).keys()].map((k) => outputs.get(k)));
  const widgets = outputs.filter((o) => o.data['application/vnd.jupyter.widget-view+json']);
  const drawn = [...document.querySelectorAll('.jp-OutputArea .stridekit')]
    .filter((root) => root.innerText.trim());
  return widgets.length > 0 && drawn.length === widgets.length;
}"""

# The widgets that are wider than their cells, by their first words.
TOO_WIDE = """(roots) => roots
  .filter((node) => node.scrollWidth > node.clientWidth + 1)
  .map((node) => node.className + ': ' + node.innerText.slice(0, 60))"""

NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_runs_from_top_to_bottom(lab, name):
    """Every cell runs, only tagged cells raise, every widget draws, and none is too wide at 800 pixels."""
    page = lab.open(f"notebooks/{name}")
    lab.run_all(page)
    cells = page.evaluate(
        """() => [...jupyterapp.shell.currentWidget.content.model.cells]
          .filter((cell) => cell.type === 'code')
          .map((cell) => ({
            count: cell.executionCount,
            tags: cell.getMetadata('tags') ?? [],
            raised: [...Array(cell.outputs.length).keys()]
              .some((k) => cell.outputs.get(k).type === 'error'),
          }))"""
    )
    assert [cell["count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(cell["raised"] == ("raises-exception" in cell["tags"]) for cell in cells)
    page.wait_for_function(ALL_WIDGETS_DRAWN)
    text = page.locator(".jp-Notebook").inner_text()
    assert "Error displaying widget" not in text and "Loading widget" not in text
    resize(page, 800)
    assert page.locator(".jp-OutputArea .stridekit").evaluate_all(TOO_WIDE) == []
    lab.close(page)
