"""Save, stop the kernel, reopen: all widgets live before anything is run. To open is no edit."""

import json

import pytest
from playwright.sync_api import expect

from tests.course.browser.pages import BY_HAND, MODELS, painted, run_last_cell, settled
from tests.course.needs import needs_chromium
from tests.course.widget_kinds import KINDS

pytestmark = [needs_chromium, pytest.mark.long]

DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
SAVE = "jupyterapp.commands.execute('docmanager:save')"
# The state of each widget by its model.
STATES = f"""async () => Object.fromEntries((await ({MODELS})())
  .map((model) => [model.model_id, model.get('_state')]).filter(([, state]) => state))"""


def shown(page):
    """The code that each widget shows once it is drawn, and the card's verdict."""
    roots = page.locator(".jp-OutputArea-output .stridekit")
    expect(roots).to_have_count(len(KINDS))
    texts = roots.locator(".sk-code code").all_text_contents()
    return texts, page.locator(".sk-predict [role=status]").all_text_contents()


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
    played = play(page, *KINDS)
    settled(page)
    assert page.locator(".sk-gone").count() == 0
    kept = saved(page, path)
    assert (
        kept.items() <= page.evaluate(STATES).items()
    )  # which has those that were here before, too
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    lab.open(path.name, page)
    assert shown(page) == played
    assert page.locator(".sk-gone").count() == len(KINDS)
    assert lab.run_code(page, "import sys; print('stridekit' in sys.modules)") == "False\n"
    assert not page.evaluate(DIRTY)
    played = play(page, "AliasExplorer", "FormatTracer")
    assert page.evaluate(DIRTY)
    changed = saved(page, path)
    assert sum(changed[name] != kept[name] for name in kept) == 2

    # On a busy machine a kernel answers late; this one never does.
    busy = lab.new_page()
    busy.route_web_socket("**/channels*", lambda socket: None)
    busy.goto(lab.address(path.name))
    assert shown(busy) == played
    play(busy, "Sort")
    busy.close()

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
    assert saved(page, path) != changed
