"""Save, close, stop the kernel, reopen: all widgets live before anything is run. To open is no edit."""

import json
import shlex
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ALL_KINDS
from tests.browser.lab import LAB, ROOT, running_lab, write_notebook
from tests.browser.pages import BOX, BY_HAND, MODELS, button, enter, labelled, settled
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS

pytestmark = needs_chromium

DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
SAVE = "jupyterapp.commands.execute('docmanager:save')"
CLOSE = "jupyterapp.shell.currentWidget.close()"
# The state of each widget by its model.
STATES = f"""async () => Object.fromEntries((await ({MODELS})())
  .map((model) => [model.model_id, model.get('_state')]).filter(([, state]) => state))"""
FIRST, *OTHERS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
LESSONS = [FIRST, *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)]
# A second change of each widget by hand.
AGAIN = {
    "StrideExplorer": lambda w: button(w, "diagonal").click(),
    "AliasExplorer": lambda w: enter(w, "run a line", "z += 1"),
    "ReshapeStepper": lambda w: button(w, "to the end").click(),
    "ChannelsLastExplorer": lambda w: button(w, "a pixel's channels").click(),
    "TraversalExplorer": lambda w: labelled(w, "visit").fill("30"),
    "Predict": lambda w: button(w, "try again").click(),
    "Sort": lambda w: button(w, "view").click(),
    "AttentionExplorer": lambda w: button(w, "SDPA").click(),
    "CacheExplorer": lambda w: button(w, "tokens first").click(),
    "CopyTracer": lambda w: w.get_by_role("option").last.click(),
    "Diagnose": lambda w: labelled(w, BOX).fill("mat1 and mat2"),
}


def as_make_lab():
    """The command of `make lab`, which shows another folder here."""
    command = [
        "make",
        "-n",
        "--no-print-directory",
        "-o",
        ".venv/done",
        "lab",
        "IN_VENV=this-python",
    ]
    words = shlex.split(subprocess.check_output(command, cwd=ROOT, text=True).replace("\\\n", ""))
    # Its folder may have any name, which make would not quote.
    ours = {"this-python": [sys.executable], "--ServerApp.root_dir=.": []}
    return ["env", *(word for given in words for word in ours.get(given, [given]))]


@pytest.fixture(
    scope="module", params=["make lab", pytest.param("jupyter lab", marks=pytest.mark.long)]
)
def lab(request, browser, tmp_path_factory):
    """JupyterLab with the settings of the environment alone."""
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    command = as_make_lab() if request.param == "make lab" else LAB
    with running_lab(root, tmp_path_factory.mktemp("scratch"), browser, command, {}) as lab:
        yield lab


def widgets(page):
    """The roots of all widgets, when all are drawn."""
    roots = page.locator(".jp-OutputArea-output .stridekit")
    expect(roots).to_have_count(len(KINDS), timeout=60_000)
    return roots


def shown(page):
    """The states of all widgets once they are drawn, the code that they show, and the card's verdict."""
    roots = widgets(page)
    texts = roots.locator(".sk-code code").all_text_contents()
    verdict = page.locator(".sk-predict [role=status]").all_text_contents()
    return page.evaluate(STATES), texts, verdict


def play(page, hands):
    """Change each widget by hand; return what all then show."""
    for kind, hand in hands.items():
        hand(page.locator(KINDS[kind].css))
    return shown(page)


def save(page):
    page.evaluate(SAVE)
    assert not page.evaluate(DIRTY)


def states(path):
    """The models saved in a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]


def test_all_widgets_live_in_a_notebook_that_was_saved(lab):
    """They keep what was played and answered, and answer to hands; run again, Python sees them."""
    path = lab.root / "kept.ipynb"
    write_notebook(path, ALL_KINDS)
    page = lab.open(path.name)
    lab.run_all(page)
    said = play(page, BY_HAND)
    settled(page)
    assert page.locator(".sk-gone").count() == 0
    save(page)
    assert len(states(path)) == 2 * len(KINDS)
    lab.close(page)

    page = lab.open(path.name)
    assert shown(page) == said
    assert page.locator(".sk-gone").count() == len(KINDS)
    assert lab.run_code(page, "import sys; print('stridekit' in sys.modules)") == "False\n"
    assert not page.evaluate(DIRTY)
    said = play(page, AGAIN)
    assert page.evaluate(DIRTY)
    save(page)
    lab.close(page)

    page = lab.open(path.name)
    assert shown(page) == said
    lab.run_all(page)
    page.wait_for_function("!document.querySelector('.sk-gone')")
    assert "not found" not in page.locator(".jp-Notebook").inner_text()
    play(page, {"Predict": BY_HAND["Predict"]})
    card = f"w{[*KINDS].index('Predict')}"
    while lab.run_code(page, f"print({card}.committed)") == "None\n":
        page.wait_for_timeout(50)  # `settled` would wait for the models without a kernel, too
    assert lab.run_code(page, f"print({card}.committed)") == "(1, 6)\n"
    save(page)
    assert len(states(path)) == 2 * len(KINDS)
    lab.close(page)


def test_a_cell_that_is_drawn_late_finds_its_widget(lab):
    """It may be drawn when the kernel has connected, but what the notebook has saved is not yet read."""
    write_notebook(
        lab.root / "late.ipynb", ["from stridekit import Predict\nPredict('How many?', 3)"]
    )
    page = lab.open("late.ipynb")
    lab.run_all(page)
    page.locator(".sk-predict").wait_for()
    save(page)
    lab.close(page)
    page = lab.open("late.ipynb")
    page.locator(".sk-predict").wait_for()
    assert page.evaluate(DRAWN_LATE) == "sk-predict"
    lab.close(page)


DRAWN_LATE = """async () => {
  const [{ content }, view] = [jupyterapp.shell.currentWidget, 'application/vnd.jupyter.widget-view+json'];
  const manager = await content.rendermime.createRenderer(view)._manager.promise;
  await manager.clear_state();
  const late = content.rendermime.createRenderer(view);
  document.body.append(late.node);
  await late.renderModel({ data: content.widgets[0].model.outputs.get(0).data });
  for (let k = 0; k < 50 && !late.node.querySelector('.stridekit'); k++)
    await new Promise((later) => setTimeout(later, 100));
  const found = late.node.querySelector('.sk-predict') ? 'sk-predict' : late.node.innerText;
  late.node.remove();
  return found;
}"""


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_that_was_only_opened_is_clean(lab, name):
    """Closing it asks nothing, though JupyterLab has filled in what the stored form leaves out."""
    path = lab.root / "notebooks" / f"{name}.ipynb"
    stored = path.read_bytes()
    page = lab.open(f"notebooks/{path.name}")
    page.wait_for_function(FILLED_IN)
    assert not page.evaluate(DIRTY)
    page.evaluate(CLOSE)
    page.wait_for_function("!document.querySelector('.jp-NotebookPanel')")
    assert page.locator(".jp-Dialog").count() == 0
    assert path.read_bytes() == stored
    page.close()


FILLED_IN = "jupyterapp.shell.currentWidget.context.model.metadata.language_info.version"


@pytest.mark.long
def test_without_a_kernel_a_saved_widget_is_its_text(lab):
    """Opened as "Notebook (no kernel)", where ipywidgets reads nothing of what is saved."""
    path = lab.root / "still.ipynb"
    write_notebook(path, ["from stridekit.widgets import StrideExplorer\nStrideExplorer()"])
    page = lab.open(path.name)
    lab.run_all(page)
    save(page)
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    expect(page.locator(".sk-gone")).to_have_count(1)
    page.evaluate(CLOSE)
    with page.expect_event("pageerror") as error:
        page.evaluate(OPEN_ALONE, path.name)
    expect(page.locator(".jp-OutputArea-output")).to_contain_text("StrideExplorer: ")
    assert "oading" not in page.locator(".jp-Notebook").inner_text()
    page.close()
    assert lab.errors.pop() == error.value.message  # of ipywidgets
    assert error.value.message == "Cannot read properties of null (reading 'kernel')"


OPEN_ALONE = """async (path) => {
  const kernelPreference = { shouldStart: false, shouldReuse: false };
  await jupyterapp.commands.execute('docmanager:open', { path, factory: 'Notebook', kernelPreference });
}"""
