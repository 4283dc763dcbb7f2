"""Save, stop the kernel, reopen: all widgets live before anything is run. To open is no edit."""

import json

from playwright.sync_api import expect

from tests.course.browser.pages import BY_HAND, MODELS, painted, run_last_cell, settled
from tests.course.needs import needs_chromium
from tests.course.widget_kinds import KINDS

pytestmark = needs_chromium

DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
SAVE = "jupyterapp.commands.execute('docmanager:save')"
# The state of each widget by its model.
STATES = f"""async () => Object.fromEntries((await ({MODELS})())
  .map((model) => [model.model_id, model.get('_state')]).filter(([, state]) => state))"""


def shown(page):
    """The states of all widgets once they are drawn, the code that they show, and the card's verdict."""
    roots = page.locator(".jp-OutputArea-output .stridekit")
    expect(roots).to_have_count(len(KINDS))
    texts = roots.locator(".sk-code code").all_text_contents()
    verdict = page.locator(".sk-predict [role=status]").all_text_contents()
    return page.evaluate(STATES), texts, verdict


def play(page, *kinds):
    """Change widgets by hand; return what all then show."""
    for kind in kinds:
        BY_HAND[kind](page.locator(KINDS[kind].css))
    return shown(page)


def saved(page, path):
    """Save a notebook; the states of widgets that are in it."""
    page.evaluate(SAVE)
    assert not page.evaluate(DIRTY)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    models = notebook["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert len(models) == 2 * len(KINDS)  # and what each kind shares
    states = {name: model["state"].get("_state") for name, model in models.items()}
    return {name: state for name, state in states.items() if state}


def test_all_widgets_live_in_a_notebook_that_was_saved(lab, kinds_page):
    """They keep what was played and answered, and answer to hands; run again, Python sees them."""
    page = kinds_page
    path = lab.root / "kinds.ipynb"
    run_last_cell(page, "pass")
    lab.run_all(page)
    states, *texts = play(page, *KINDS)
    settled(page)
    assert page.locator(".sk-gone").count() == 0
    kept = saved(page, path)
    assert kept.items() <= states.items()  # which has those that were here before, too
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    lab.open(path.name, page)
    assert shown(page) == (kept, *texts)
    assert page.locator(".sk-gone").count() == len(KINDS)
    assert lab.run_code(page, "import sys; print('stridekit' in sys.modules)") == "False\n"
    assert not page.evaluate(DIRTY)
    states, *_ = play(page, "AliasExplorer", "FormatTracer")
    assert page.evaluate(DIRTY)
    assert states != kept
    assert saved(page, path) == states
    lab.run_all(page)
    page.wait_for_function("!document.querySelector('.sk-gone')")
    assert "not found" not in page.locator(".jp-Notebook").inner_text()
    play(page, "Predict")
    number = list(KINDS).index("Predict")
    print_answer = f"print(w{number}.committed)"
    answer = lab.run_code(page, print_answer)
    while answer == "None\n":
        painted(page)  # `settled` would wait for the models without a kernel, too
        answer = lab.run_code(page, print_answer)
    assert answer == "(1, 6)\n"
    assert saved(page, path) != states
    assert page.evaluate(DRAWN_LATE) == "sk-explorer"


# The first widget, drawn when a slow kernel has connected, but what the notebook has saved is not yet read.
# ipywidgets looks for a model for two seconds.
DRAWN_LATE = """async () => {
  const { content, context, sessionContext } = jupyterapp.shell.currentWidget;
  const [view, { kernel }] = ['application/vnd.jupyter.widget-view+json', sessionContext.session];
  const manager = await content.rendermime.createRenderer(view)._manager.promise;
  await manager.clear_state();
  manager._restoredStatus = false;
  const late = content.rendermime.createRenderer(view);
  document.body.append(late.node);
  const drawn = late.renderModel({ data: content.widgets[1].model.outputs.get(0).data });
  const ask = kernel.requestCommInfo.bind(kernel);
  kernel.requestCommInfo = (what) => new Promise((done) => setTimeout(done, 2500)).then(() => ask(what));
  await manager.restoreWidgets(context.model, { loadKernel: false, loadNotebook: false });
  await drawn;
  for (const until = performance.now() + 120_000; !late.node.querySelector('.stridekit'); ) {
    if (performance.now() > until) return late.node.innerText;
    await new Promise(requestAnimationFrame);
  }
  const { classList } = late.node.querySelector('.stridekit');
  late.node.remove();
  return classList[1];
}"""
