"""Actions of browser tests on a page: ask the kernel, run a cell, change the theme, call axe, use a hand.

They wait for an event, not for a time, which would depend on the machine.
"""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PATIENCE = 120_000  # ms: whatever is waited for comes much sooner, also on a busy machine
expect.set_options(timeout=PATIENCE)

COLOURS = ["color-contrast", "link-in-text-block"]  # the rules of axe that depend on a theme


def settled(page):
    """Wait until the kernel has answered every change made by hand."""
    assert page.evaluate(_SETTLED)  # wait_for_function would take the promise for a result


def in_kernel(lab, page, expression):
    """Return an expression's value in the kernel, as text, after all changes on the page arrived."""
    settled(page)
    return lab.run_code(page, f"print({expression})").strip()


# The models of all widgets on the page.
MODELS = """async () => {
  const cells = jupyterapp.shell.currentWidget.content.widgets;
  const areas = cells.flatMap((cell) => cell.outputArea?.widgets ?? []);
  const shown = areas.flatMap((area) => [...area.children()]).filter((output) => output._manager);
  const managers = new Set(await Promise.all(shown.map((output) => output._manager.promise)));
  return Promise.all([...managers].flatMap((manager) => Object.values(manager._models)));
}"""
_SETTLED = f"""async () => {{
  const models = await ({MODELS})();
  const waits = (model) => model.get('_change_id') && model.get('_change_id') !== model.get('_answered_id');
  for (const until = performance.now() + 120_000; models.some(waits); ) {{
    if (performance.now() > until) throw new Error('the kernel has not answered');
    await new Promise((done) => setTimeout(done, 5));
  }}
  return models.length;
}}"""


def painted(page):
    """Wait until all changes are on screen and no transition runs."""
    page.evaluate(_PAINTED)


# The first frame reports new sizes, the second shows what was drawn for them.
_PAINTED = """async () => {
  for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
  const fading = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
  await Promise.allSettled(fading.map((animation) => animation.finished));
}"""


def looks_of(w):
    """Return how each node of a widget looks, to be compared with another host of the same width."""
    looks = w.evaluate(_LOOKS)
    assert len(looks) > 10
    return looks


# Only a page without a kernel has a link to copy in its menu.
_LOOKS = """(root) => {
  const names = ['display', 'position', 'width', 'height', 'padding', 'borderWidth', 'borderRadius', 'font',
    'color', 'backgroundColor', 'gridTemplateColumns'];
  const nodes = [root, ...root.querySelectorAll('*')].filter((node) => !node.closest('.sk-menu'));
  return nodes.map((node) => {
    const style = getComputedStyle(node);
    return [node.localName, node.getAttribute('class'), ...names.map((name) => style[name])];
  });
}"""


WIDTH = 914  # px: of a page on which a widget is as wide as in JupyterLab


def resize(page, width, height=900):
    """Give the page another size, and wait for its widgets to follow."""
    if page.viewport_size == {"width": width, "height": height}:
        return
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("(width) => innerWidth === width", arg=width)
    painted(page)


def is_seen(node):
    """Return whether the top of a node, and 10 px of it, stand inside the pane that scrolls it."""
    return node.evaluate(_IS_SEEN)


_IS_SEEN = """(node) => {
  const pane = node.closest('.sk-pane, .sk-log').getBoundingClientRect();
  const { top } = node.getBoundingClientRect();
  return pane.top - 1 <= top && top < pane.bottom - 10;
}"""


def middle(node):
    """Return the middle of a node."""
    box = node.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def run_last_cell(page, source):
    """Run a source in the last cell; return the text of its outputs as a reader sees it."""
    return page.evaluate(_RUN_LAST, source)


_RUN_LAST = """async (source) => {
  const book = jupyterapp.shell.currentWidget.content;
  book.activeCellIndex = book.widgets.length - 1;
  book.activeCell.model.sharedModel.setSource(source);
  await jupyterapp.commands.execute('notebook:run-cell');
  await new Promise(requestAnimationFrame);
  return book.activeCell.outputArea.node.innerText;
}"""


def see_all_of(page):
    """Make the window as high as its widgets: axe sees no contrast outside it."""
    bottoms = "(all) => all.map((node) => node.getBoundingClientRect().bottom + scrollY)"
    lowest = max(page.locator(".stridekit").evaluate_all(bottoms))
    resize(page, page.viewport_size["width"], int(lowest) + 400)


def assert_accessible(page, selector=None, only_colours=False):
    """Let axe check the page or its widgets, and make sure that it has looked at each widget.

    It has looked at a widget if a rule has passed there: for all rules, the one on contrast. In widgets,
    the rules on colours look at one text of each colour on each stack of backgrounds.
    """
    page.evaluate(Axe().axe_script)
    result = page.evaluate(_AXE, [selector, only_colours, COLOURS])
    assert result["violations"] == [], result["violations"]
    assert result["seen"] == page.locator(".stridekit").count(), "axe skipped a widget"
    assert only_colours or result["contrast"] > 0


_AXE = """async ([selector, onlyColours, colours]) => {
  const look = (node) => {
    const { color, fontSize, fontWeight, background, opacity } = getComputedStyle(node);
    const behind = node.matches(selector) ? '' : look(node.parentElement);
    return [color, fontSize, fontWeight, background, opacity].join() + behind;
  };
  const hasText = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const withColours = { runOnly: colours };
  const runs = [];
  if (selector) {
    const texts = [...document.querySelectorAll(`${selector} *`)].filter(hasText);
    const kinds = new Map(texts.map((node) => [look(node), node]));
    runs.push([{ include: [...kinds.values()] }, withColours]);
    const withoutColours = { rules: Object.fromEntries(colours.map((id) => [id, { enabled: false }])) };
    if (!onlyColours) runs.push([selector, withoutColours]);
  } else runs.push([document, onlyColours ? withColours : {}]);
  const violations = [];
  const passed = [];
  for (const [part, rules] of runs) {
    // Return the nodes themselves: finding a selector for each of them is slow.
    const found = await axe.run(part, { ...rules, elementRef: true, selectors: false });
    violations.push(...found.violations);
    const passes = found.passes.filter(({ id }) => onlyColours || id === 'color-contrast');
    passed.push(...passes.flatMap((rule) => rule.nodes.map((node) => node.element)));
  }
  return {
    violations: violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]),
    contrast: passed.length,
    seen: new Set(passed.map((node) => node.closest('.stridekit')).filter((root) => root)).size,
  };
}"""


def button(w, name):
    """Return the button with this name."""
    return w.get_by_role("button", name=name, exact=True)


def wait_for_frame(w):
    """Wait for the frame after a change: a page draws a move of the hand at once, and its words later."""
    getattr(w, "page", w).evaluate(NEXT_FRAME)


NEXT_FRAME = """() => globalThis.isClockStopped
  || new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"""


def enter(w, label, *texts):
    """Type texts into a line, and send each with Enter."""
    line = w.get_by_label(label, exact=True)
    for text in texts:
        line.fill(text)
        line.press("Enter")


BOX = "Paste an error or a warning"
# A change by hand for each widget.
BY_HAND = {
    "StrideExplorer": lambda w: button(w, "column-major").click(),
    "AliasExplorer": lambda w: enter(w, "run a line", "z = x.t()"),
    "ReshapeStepper": lambda w: button(w, "transposed").click(),
    "ChannelsLastExplorer": lambda w: button(w, "a channel's pixels").click(),
    "FormatTracer": lambda w: w.get_by_role("checkbox").first.click(),
    "TraversalExplorer": lambda w: w.get_by_label("visit", exact=True).fill("20"),
    "Predict": lambda w: enter(w, "your prediction", "1, 6"),
    "Sort": lambda w: button(w, "copy").click(),
    "Drill": lambda w: w.locator(".sk-option").first.click(),
    "AttentionExplorer": lambda w: button(w, "SDPA").click(),
    "CacheExplorer": lambda w: button(w, "SDPA").click(),
    "CopyTracer": lambda w: w.get_by_role("option").last.click(),
    "Diagnose": lambda w: w.get_by_label(BOX).fill("KeyError: 'a'"),
}


# Every widget of an exported page is drawn.
ALIVE = "!document.querySelector('[data-widget]:not(:has(.stridekit))')"


def open_all(page):
    """Open all that is folded on a page."""
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    painted(page)


def swipe(page, start, right, down, last="touchEnd"):
    """Land with a finger at a point, and move it."""
    send = page.context.new_cdp_session(page).send
    for k in range(11):
        point = {"x": start[0] + right * k / 10, "y": start[1] + down * k / 10}
        kind = "touchMove" if k else "touchStart"
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    send("Input.dispatchTouchEvent", {"type": last, "touchPoints": []})
    # A page scrolls on after the finger has gone.
    before = None
    scroll = page.evaluate("scrollY")
    while scroll != before:
        painted(page)
        before = scroll
        scroll = page.evaluate("scrollY")
    wait_for_frame(page)


def away(w):
    """Move the pointer off the widget."""
    w.page.mouse.move(2, 2)


def press(node, *keys):
    """Focus a node, and press keys."""
    node.focus()
    for key in keys:
        node.page.keyboard.press(key)
    wait_for_frame(node)


FOCUSED = """() => {
  const node = document.activeElement;
  if (node === document.body) return 'body';
  return node.ariaLabel ?? node.labels?.[0]?.innerText ?? node.innerText;
}"""


def stop_the_clock(page):
    """Let time pass only by `page.clock.run_for(ms)`, once the sentence that waits is spoken."""
    page.evaluate("new Promise((go) => setTimeout(go, 250)).then(() => (isClockStopped = true))")
    if not page.evaluate("globalThis.hasClock"):
        page.clock.install(time=0)
        page.evaluate("() => { globalThis.hasClock = true; }")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)


def start_the_clock(page):
    """Let time pass by itself again."""
    page.clock.resume()
    page.evaluate("() => { isClockStopped = false; }")
