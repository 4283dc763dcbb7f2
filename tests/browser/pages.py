"""What browser tests do on a page: ask the kernel, run a cell, change the theme, call axe.

They wait for what is to come, not for a time: that depends on the machine.
"""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

expect.set_options(timeout=30_000)

THEMES = {
    "light": ("JupyterLab Light", False),
    "dark": ("JupyterLab Dark", False),
    "forced, light": ("JupyterLab Light", True),
    "forced, dark": ("JupyterLab Dark", True),
}


def settled(page):
    """Wait until the kernel has answered to all that was done by hand."""
    assert page.evaluate(
        _SETTLED
    )  # no function to wait for: Playwright would not wait for a promise


def in_kernel(lab, page, expression):
    """What the kernel says, once it has been told: that happens after the paint."""
    settled(page)
    return lab.run_code(page, f"print({expression})").strip()


# The models of all widgets that the page shows.
MODELS = """async () => {
  const cells = jupyterapp.shell.currentWidget.content.widgets;
  const areas = cells.flatMap((cell) => cell.outputArea?.widgets ?? []);
  const shown = areas.flatMap((area) => [...area.children()]).filter((output) => output._manager);
  const managers = new Set(await Promise.all(shown.map((output) => output._manager.promise)));
  return Promise.all([...managers].flatMap((manager) => Object.values(manager._models)));
}"""
_SETTLED = f"""async () => {{
  const models = await ({MODELS})();
  const waits = (model) => model.get('_turn') && model.get('_turn') !== model.get('_seen');
  for (const until = performance.now() + 30_000; models.some(waits); ) {{
    if (performance.now() > until) throw new Error('the kernel has not answered');
    await new Promise((done) => setTimeout(done, 5));
  }}
  return models.length;
}}"""


def painted(page):
    """Wait until what has changed is laid out and on screen, and has come to rest there."""
    page.evaluate(_PAINTED)


# The first frame tells of new sizes, the second has what was drawn for them.
_PAINTED = """async () => {
  for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
  const fading = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
  await Promise.allSettled(fading.map((animation) => animation.finished));
}"""


def resize(page, width, height=900):
    """Give the page another size, and wait until its widgets have taken it."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("(width) => innerWidth === width", arg=width)
    painted(page)


def hears(w, words):
    """Wait until a widget has said these words aloud, once the hand rests."""
    expect(w.locator(".sk-spoken").first).to_contain_text(words)


def rerun(lab, page, css):
    """Run all cells anew, and wait until each widget of a kind has made way for its successor."""
    count = page.locator(css).evaluate_all("(all) => all.map((node) => (node.old = true)).length")
    lab.run_all(page)
    page.wait_for_function(_RENEWED, arg=[css, count])


_RENEWED = """([css, count]) => {
  const all = [...document.querySelectorAll(css)];
  return all.length === count && all.every((node) => !node.old);
}"""


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
    painted(page)  # colours fade from theme to theme


def see_all_of(page):
    """A window as high as all its widgets: what is outside of it has no contrast for axe."""
    bottoms = "(all) => all.map((node) => node.getBoundingClientRect().bottom + scrollY)"
    lowest = max(page.locator(".stridekit").evaluate_all(bottoms))
    resize(page, page.viewport_size["width"], int(lowest) + 400)


def assert_accessible(page, selector=None, rules=()):
    """axe finds nothing on the page or in what is selected, and has looked at each widget there.

    That is to say that one of the rules has passed there: for all rules, that on contrast.
    """
    page.evaluate(Axe().axe_script)
    found = page.evaluate(_AXE, [selector, list(rules)])
    assert found["violations"] == []
    assert found["seen"] == page.locator(".stridekit").count(), "axe skipped a widget"
    assert rules or found["contrast"] > 0


_AXE = """async ([selector, rules]) => {
  // The nodes themselves are enough: a selector for each of them takes long to find.
  const options = { elementRef: true, selectors: false, ...(rules.length && { runOnly: rules }) };
  const found = await axe.run(selector ?? document, options);
  const passes = found.passes.filter(({ id }) => rules.length || id === 'color-contrast');
  const nodes = passes.flatMap((rule) => rule.nodes.map((node) => node.element));
  return {
    violations: found.violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]),
    contrast: nodes.length,
    seen: new Set(nodes.map((node) => node.closest('.stridekit')).filter((root) => root)).size,
  };
}"""


# A hand ----------------------------------------------------------------------------------------------


def button(w, name):
    """The button of this name."""
    return w.get_by_role("button", name=name, exact=True)


def enter(w, label, *texts):
    """Type texts into a line, and send each with Enter."""
    line = w.get_by_label(label, exact=True)
    for text in texts:
        line.fill(text)
        line.press("Enter")


def text(w, css):
    """What a node says, as a person sees it."""
    return w.locator(css).inner_text()


def texts(w, css):
    """What each of several nodes says."""
    return w.locator(css).all_inner_texts()


def ints(w, css):
    """The numbers that are shown."""
    return [int(text) for text in texts(w, css)]


def each(nodes, name):
    """A property of each of several nodes, or None."""
    return nodes.evaluate_all(f"(all) => all.map((node) => node.{name} ?? null)")


def pressed(chips):
    """The names of the buttons that are pressed."""
    names = zip(each(chips, "innerText"), each(chips, "ariaPressed"), strict=True)
    return [name for name, state in names if state == "true"]


# What changes each widget.
BY_HAND = {
    "StrideExplorer": lambda w: button(w, "column-major").click(),
    "AliasExplorer": lambda w: enter(w, "run a line", "z = x.t()"),
    "ReshapeStepper": lambda w: button(w, "transposed").click(),
    "ChannelsLastExplorer": lambda w: button(w, "a channel's pixels").click(),
    "TraversalExplorer": lambda w: w.get_by_label("visit", exact=True).fill("20"),
    "Predict": lambda w: enter(w, "your prediction", "1, 6"),
}


def press(node, *keys):
    """Give a node the focus, and press keys there."""
    node.focus()
    for key in keys:
        node.page.keyboard.press(key)


def prevented(node, key):
    """Press a key on a node: whether the widget kept it, so that the page does not scroll as well."""
    press(node, key)
    pressed, kept = node.page.evaluate("lastKey")
    assert pressed == key.split("+")[-1]
    return kept


def focused(w):
    """What has the focus: the text that names it, or "body"."""
    return w.page.evaluate(_FOCUSED)


_FOCUSED = """() => {
  const node = document.activeElement;
  if (node === document.body) return 'body';
  return node.ariaLabel ?? node.labels?.[0]?.innerText ?? node.innerText;
}"""


def stop_the_clock(page):
    """From now on time goes on only by `page.clock.run_for(ms)`."""
    page.clock.install(time=0)
    page.clock.pause_at(60)
