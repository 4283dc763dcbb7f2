"""What browser tests do on a page: ask the kernel, run a cell, change the theme, call axe."""

from axe_playwright_python.sync_playwright import Axe

THEMES = {
    "light": ("JupyterLab Light", False),
    "dark": ("JupyterLab Dark", False),
    "forced, light": ("JupyterLab Light", True),
    "forced, dark": ("JupyterLab Dark", True),
}


def in_kernel(lab, page, expression):
    """What the kernel says, once it has been told: that happens after the paint."""
    page.wait_for_timeout(150)
    return lab.run_code(page, f"print({expression})").strip()


def run_last_cell(page, source):
    """Give the last cell another source, run it, and wait: the text of its outputs, as a reader sees it."""
    return page.evaluate(_RUN_LAST, source)


_RUN_LAST = """async (source) => {
  const book = jupyterapp.shell.currentWidget.content;
  book.activeCellIndex = book.widgets.length - 1;
  book.activeCell.model.sharedModel.setSource(source);
  await jupyterapp.commands.execute('notebook:run-cell');
  await new Promise(requestAnimationFrame);
  return book.activeCell.outputArea.node.innerText;
}"""


def wear(lab, page, theme):
    """Change to one of THEMES. JupyterLab's shell hides its overflow, where axe skips contrast."""
    name, forced = THEMES[theme]
    lab.set_theme(page, name)
    page.emulate_media(forced_colors="active" if forced else "none")
    page.add_style_tag(content=".jp-LabShell, body { overflow: visible !important }")
    page.wait_for_timeout(300)  # colours fade from theme to theme


def assert_accessible(page, selector=None):
    """axe finds nothing on the page, or in a part of it, and has looked at the contrast."""
    if selector:
        # Nor does axe see a contrast outside of the window.
        page.locator(selector).first.evaluate("(node) => node.scrollIntoView({ block: 'start' })")
        page.wait_for_timeout(50)
    found = Axe().run(page, context=selector).response
    assert [(v["id"], [n["html"] for n in v["nodes"]][:3]) for v in found["violations"]] == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}
