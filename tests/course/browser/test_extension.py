"""JupyterLab's extension on a page of Chromium, without JupyterLab: see extension_page.js."""

import json
from pathlib import Path

import pytest

from stridekit.widgets.assets import module
from tests.course.browser.lab import ROOT
from tests.course.needs import needs_chromium

pytestmark = needs_chromium

# A type of widget that draws its state. A test may hold the code back, and sees what was closed.
CODE = """export default async function unpack(key, zip) {
  await globalThis.isReady;
  return {
    render({ model, el }) {
      if (zip === "broken") throw new Error("this code is broken");
      const draw = () => { el.textContent = `${key} ${zip} draws ${model.get("_state")}`; };
      model.on("change:_state", draw);
      draw();
      models.push(model);
      return () => ended.push(model.get("_state"));
    },
  };
}"""
FILES = {
    "": "",
    "extension.js": (ROOT / "labextension" / "static" / "extension.js").read_text("utf-8"),
    "page.js": Path(__file__).with_name("extension_page.js").read_text("utf-8"),
    "widgets/code.js": CODE,
    "widgets/host.js": f"{module('page/host.js')}\nexport {{ createModel }};",
    "widgets/predict.json": json.dumps({"key": "predict", "zip": "packed"}),
    "widgets/sort.json": json.dumps({"key": "sort", "zip": "packed"}),
    "widgets/drill.json": json.dumps({"key": "drill", "zip": "broken"}),
}
SITE = "http://localhost/static/"


class Page:
    """A page with the extension; `play` runs the body of a function there and returns its value."""

    def __init__(self, page):
        self.page = page
        self.asked = []
        self.errors = []
        page.route("**/*", self.answer)
        page.on("console", lambda message: self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(SITE)
        page.add_script_tag(url=f"{SITE}extension.js")
        page.add_script_tag(url=f"{SITE}page.js", type="module")

    def answer(self, route):
        name = route.request.url.removeprefix(SITE)
        kind = {"json": "application/json", "js": "text/javascript"}.get(name.rpartition(".")[2])
        self.asked.append(name)
        route.fulfill(body=FILES[name], content_type=kind or "text/html")

    def play(self, body):
        self.errors.clear()
        self.asked.clear()
        return self.page.evaluate(f"() => inTime(async () => {{ {body} }})")


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context(viewport={"width": 800, "height": 600})
    yield Page(context.new_page())
    context.close()


# Saved widgets -------------------------------------------------------------------------------------


def test_a_saved_widget_is_drawn_without_a_kernel(page):
    """Its views share one model, a hand on it edits the notebook, and each type is loaded once."""
    drawn, texts, is_one, marks, edits, stored = page.play("""
      const saved = { a: savedWidget("one", "sort"), b: savedWidget("two", "sort") };
      const kernelPreference = { shouldStart: false };
      const { show, notebook, rendermime } = await openNotebook({ saved, kernelPreference });
      const views = [await show(viewOf("a")), await show(viewOf("a")), await show(viewOf("b"))];
      const texts = () => views.map(({ node }) => node.textContent);
      const drawn = texts();
      const edits = [notebook.dirty];
      models[0].set("_state", "three");
      edits.push(notebook.dirty);
      const isOne = [models[0] === models[1], models[1] === models[2]];
      const marks = [models[0].isSaved, rendermime.ranks];
      return [drawn, texts(), isOne, marks, edits, saved.a.state._state];
    """)
    assert drawn == ["sort packed draws one"] * 2 + ["sort packed draws two"]
    assert texts == ["sort packed draws three"] * 2 + ["sort packed draws two"]
    assert (is_one, edits) == ([True, False], [False, True])
    assert marks == [True, [0, -10, None]]  # JupyterLab prefers the factory of the lowest rank
    assert stored == "one"  # until the notebook is saved
    assert page.asked.count("widgets/sort.json") == 1
    assert page.errors == []


def test_what_a_hand_changed_is_written_when_the_notebook_is_saved(page):
    """And then once. The model goes on where the page shows the widget again."""
    written, states, is_same = page.play("""
      const saved = { a: savedWidget("one"), b: savedWidget("two") };
      const { show, notebook, saveState } = await openNotebook({ saved });
      for (const id of ["a", "b"]) await show(viewOf(id));
      const written = [];
      function save(status) {
        saveState.emit(status);
        written.push(notebook.written.join());
      }
      save("started");
      models[0].set("_state", "three");
      save("completed");
      save("started");
      save("started");
      await show(viewOf("a"));
      const { state } = notebook.metadata.widgets[STATE];
      const states = Object.values(state).map(({ state }) => state._state);
      return [written, states, models.at(-1) === models[0]];
    """)
    assert written == ["", "", "widgets", "widgets"]
    assert states == ["three", "two"]
    assert is_same


def test_a_widget_that_the_notebook_has_lost_is_not_written(page):
    written, saved = page.play("""
      const saved = { a: savedWidget("one"), b: savedWidget("two") };
      const { show, notebook, saveState } = await openNotebook({ saved });
      for (const id of ["a", "b"]) await show(viewOf(id));
      for (const model of models) model.set("_state", "changed");
      delete notebook.metadata.widgets[STATE].state.a;
      saveState.emit("started");
      const stored = notebook.metadata.widgets[STATE].state;
      notebook.metadata.widgets = undefined;
      for (const model of models) model.set("_state", "changed again");
      saveState.emit("started");
      return [notebook.written, stored];
    """)
    assert written == ["widgets"]
    assert {name: model["state"]["_state"] for name, model in saved.items()} == {"b": "changed"}


def test_a_kernel_that_has_a_widget_draws_it_instead(page):
    """As soon as ipywidgets is there, or has restored the models of the kernel; once each."""
    before, adopted, restored, last, closed = page.play("""
      const saved = { a: savedWidget("one"), b: savedWidget("two"), c: savedWidget("three") };
      const { show, addFactory, live, manager } = await openNotebook({ saved });
      const views = [];
      for (const id of ["a", "b", "c"]) views.push(await show(viewOf(id)));
      const texts = () => views.map(({ node }) => node.textContent);
      const before = texts();
      live.push("a");
      addFactory();
      await painted();
      const adopted = texts();
      live.push("b");
      manager.restored.emit();
      await painted();
      const restored = texts();
      for (const { node } of views) node.textContent = "untouched";
      manager.restored.emit();
      await painted();
      return [before, adopted, restored, texts(), ended];
    """)
    one, two, three = (f"predict packed draws {state}" for state in ("one", "two", "three"))
    assert before == [one, two, three]
    assert adopted == ["kernel draws a", two, three]
    assert restored == ["kernel draws a", "kernel draws b", three]
    assert last == ["untouched"] * 3
    assert closed == ["one", "two"]


def test_ipywidgets_may_come_later(page):
    has_factory, text = page.play("""
      const saved = { a: savedWidget("one") };
      const { show, addFactory, rendermime } = await openNotebook({ saved, isLate: true });
      const hasFactory = () => rendermime.getFactory(VIEW) !== undefined;
      const before = hasFactory();
      addFactory();
      const { node } = await show(viewOf("a"));
      return [[before, hasFactory()], node.textContent];
    """)
    assert (has_factory, text) == ([False, True], "predict packed draws one")


@pytest.mark.parametrize(
    ("output", "options", "text"),
    [
        ("other", "", "kernel draws other"),
        ("other", "kernelPreference: { shouldStart: false }", "<pre>text of other</pre>"),
        ("ours", "", "<div>predict packed draws one</div>"),
        ("ours", "live: ['ours']", "kernel draws ours"),
        ("missing", "", "kernel draws missing"),
        ("missing", "kernelPreference: { shouldStart: false }", "<pre>text of missing</pre>"),
    ],
)
def test_who_draws_an_output(page, output, options, text):
    """A kernel that has the widget, else the extension, else a kernel that may start, else its text."""
    shown, nameless = page.play(f"""
      const other = {{ state: {{ _anywidget_id: "other.Widget" }} }};
      const saved = {{ ours: savedWidget("one"), other }};
      const {{ show }} = await openNotebook({{ saved, {options} }});
      await painted(); // ipywidgets is there
      const {{ node }} = await show(viewOf("{output}"));
      const nameless = await show({{ data: {{ [VIEW]: {{ model_id: "{output}" }} }} }});
      return [node.innerHTML, nameless.node.innerHTML];
    """)
    assert shown == text
    assert nameless == ("<pre></pre>" if text.startswith("<pre>") else text)


def test_a_widget_whose_code_fails_shows_its_text_until_a_kernel_draws_it(page):
    text, later = page.play("""
      const saved = { a: savedWidget("one", "drill") };
      const { show, live, manager } = await openNotebook({ saved });
      await painted();
      const { node } = await show(viewOf("a"));
      const text = node.innerHTML;
      live.push("a");
      manager.restored.emit();
      await painted();
      return [text, node.innerHTML];
    """)
    assert (text, later) == ("<pre>text of a</pre>", "kernel draws a")
    assert "this code is broken" in "".join(page.errors)


def test_a_view_that_goes_is_closed_and_stays_away(page):
    """Also if it goes while its code is still on the way."""
    drawn, gone, closed, late = page.play("""
      const saved = { a: savedWidget("one"), b: savedWidget("two") };
      const { show, live, manager, rendermime } = await openNotebook({ saved });
      await painted();
      const view = await show(viewOf("a"));
      const drawn = view.node.innerHTML;
      view.disposed.emit();
      const gone = view.node.innerHTML;

      let letCodeCome;
      globalThis.isReady = new Promise((resolve) => { letCodeCome = resolve; });
      const late = rendermime.createRenderer(VIEW);
      const unfinished = late.renderModel(viewOf("b"));
      late.disposed.emit();
      letCodeCome();
      await unfinished;
      live.push("a", "b");
      manager.restored.emit();
      await painted();
      return [drawn, gone, ended, [late.node.innerHTML, view.node.innerHTML, models.length]];
    """)
    assert (drawn, gone, closed) == ("<div>predict packed draws one</div>", "", ["one"])
    assert late == ["", "", 1]
    assert page.errors == []


# Outputs that may run code ---------------------------------------------------------------------------


def test_html_is_trusted_if_the_sanitizer_leaves_it_as_it_is(page):
    """But for styles, which it rewrites; a style that takes a node out of its place is no style."""
    rows = {
        "<p>plain</p>": True,
        '<p style="color: red">red</p>': True,
        '<p><b style="POSITION: fixed">over all</b></p>': False,
        '<img onerror="run()">': False,
        '<p style="color: red"><img onerror="run()"></p>': False,
    }
    trusted = page.play(f"""
      const cells = {json.dumps([*rows])}.map((html) => ({{
        outputs: [{{ data: {{ "text/html": html, "text/plain": "" }} }}],
      }}));
      const {{ widgets }} = await openNotebook({{ cells }});
      return widgets.map(({{ model }}) => model.trusted);
    """)
    assert trusted == [*rows.values()]


# The way to the next cell ----------------------------------------------------------------------------

# Cells of 100 px in an area of 300 px, and whether the cell with a widget can be seen.
SCROLL = """
  const cells = Array.from({ length: 8 }, () => ({}));
  cells[CELL].html = '<div class="stridekit" style="height: 100px"></div>';
  const { content, scrolled, widgets } = await openNotebook({ cells });
  for (const { node } of widgets) node.style.height = "100px";
  content.node.scrollTop = TOP;
  const { node } = widgets[NEXT];
  CHANGE
  await content.scrollToItem(NEXT, "ALIGN", 7);
  return [content.node.scrollTop, scrolled];
"""


@pytest.mark.parametrize(
    ("cell", "top", "is_seen"),
    [(0, 99, True), (0, 100, False), (3, 1, True), (3, 0, False), (1, 100, True)],
)
def test_the_next_cell_comes_just_into_view_below_a_widget_that_is_seen(page, cell, top, is_seen):
    body = SCROLL.replace("CELL", str(cell)).replace("TOP", str(top)).replace("NEXT", "5")
    place, scrolled = page.play(body.replace("ALIGN", "smart").replace("CHANGE", ""))
    assert (place, scrolled) == ((300, []) if is_seen else (top, [[5, "smart", 7]]))


@pytest.mark.parametrize(("align", "change"), [("center", ""), ("smart", "node.remove();")])
def test_other_ways_to_a_cell_are_those_of_jupyterlab(page, align, change):
    body = SCROLL.replace("CELL", "0").replace("TOP", "0").replace("NEXT", "5")
    place, scrolled = page.play(body.replace("ALIGN", align).replace("CHANGE", change))
    assert (place, scrolled) == (0, [[5, align, 7]])


# Pictures as large as the window ---------------------------------------------------------------------

PRESENT = """
  const widget = (name, css) => `<div class="stridekit" style="position: fixed; height: 100px; ${css}">
    <button id="${name}" aria-label="full width" onclick="clicked.push(id)"></button></div>`;
  globalThis.clicked = [];
  const opened = await openNotebook({ cells: [CELLS] });
  const { commands, content, palette, shell } = opened;
  const command = commands.added["stridekit:present"];
  CHANGE
  const isEnabled = command.isEnabled();
  command.execute();
  await new Promise((resolve) => setTimeout(resolve, 80));
  return [isEnabled, clicked, document.activeElement.id, content.node.scrollTop];
"""


@pytest.mark.parametrize(
    ("cells", "presented"),
    [
        (["", ("first", "top: 0"), ("second", "top: 0")], "first"),
        (["", ("above", "top: -100px"), ("below", "top: 600px"), ("seen", "top: -99px")], "seen"),
        (["", ("low", "top: 599px")], "low"),
        ([("own", "top: -200px"), ("seen", "top: 0")], "own"),
        (["", ("above", "top: -100px"), ("below", "top: 600px")], ""),
        (["", ""], ""),
    ],
)
def test_the_picture_of_the_active_cell_is_presented_or_else_the_first_one_in_view(
    page, cells, presented
):
    htmls = [f"{{ html: widget('{row[0]}', '{row[1]}') }}" if row else "{}" for row in cells]
    body = PRESENT.replace("CELLS", ", ".join(htmls)).replace("CHANGE", "")
    is_enabled, clicked, focused, _ = page.play(body)
    assert is_enabled == bool(presented)
    assert clicked == ([presented] if presented else [])
    assert focused == presented


def test_the_focus_of_a_presented_picture_does_not_scroll_the_notebook(page):
    body = PRESENT.replace(
        "CELLS", '{ html: widget("own", "position: static; margin-top: 900px") }'
    )
    assert page.play(body.replace("CHANGE", "")) == [True, ["own"], "own", 0]


@pytest.mark.parametrize(
    "change",
    ["shell.currentWidget = null;", "shell.currentWidget = {};", "content.activeCell = null;"],
)
def test_without_a_notebook_no_picture_is_presented(page, change):
    body = PRESENT.replace("CELLS", "{ html: widget('own', 'top: 0') }").replace("CHANGE", change)
    assert page.play(body) == [False, [], "", 0]


def test_the_presenter_has_a_key_and_stands_in_the_palette(page):
    keys, items, label = page.play("""
      const { commands, palette } = await openNotebook();
      return [commands.keys, palette.items, commands.added["stridekit:present"].label];
    """)
    (binding,) = keys
    (item,) = items
    assert binding["command"] == item["command"] == "stridekit:present"
    assert (binding["keys"], binding["selector"]) == (["Accel Alt P"], ".jp-Notebook")
    assert item["category"] == "Notebook Operations"
    assert "Present" in label


# Folds -----------------------------------------------------------------------------------------------

FOLDS = """
  const hints = "<div><details><summary>Hint</summary>one</details>"
    + "<details><summary>Hint</summary>two</details></div>";
  const { content, widgets } = await openNotebook({ cells: [{ html: hints }, { html: hints }] });
  const folds = () => [...content.node.querySelectorAll("details")];
  async function set(number, isOpen) {
    folds()[number].open = isOpen;
    await painted();
  }
  async function runAgain(html = hints) {
    const [outputs] = content.node.querySelectorAll(".jp-OutputArea");
    outputs.innerHTML = "<p></p>";
    await painted();
    outputs.firstChild.innerHTML = html;
    await painted();
  }
  const open = () => folds().map((fold) => Number(fold.open)).join("");
"""


def test_a_fold_opens_again_if_its_cell_brings_the_same_text(page):
    """Another text stays closed, and so do a fold that was closed again and that of another cell."""
    shown = page.play(f"""{FOLDS}
      await set(1, true);
      const shown = [open()];
      await runAgain();
      shown.push(open());
      await runAgain(hints.replace("two", "three"));
      shown.push(open());
      await runAgain();
      await set(0, true);
      await set(1, false);
      await runAgain();
      shown.push(open());
      return shown;
    """)
    assert shown == ["0100", "0100", "0000", "1000"]


def test_a_fold_outside_of_outputs_is_left_alone(page):
    shown = page.play(f"""{FOLDS}
      const words = document.createElement("div");
      content.node.prepend(words);
      words.innerHTML = hints;
      await set(0, true);
      words.innerHTML = hints;
      await painted();
      return open();
    """)
    assert shown == "000000"
    assert page.errors == []
