"""A hand that uses a widget: the rows of hands.txt on a plain page, of lab_hands.txt in JupyterLab.

A row is a name and some lines `what a hand does => what is then seen`, both of several parts between |. It
begins with the widget of the last line that is not indented; a deeper indented line goes on with the one
above it. A row whose name ends with * is long: at most four lines of the scripts are its own.

    click, tap, hover, drag, fill, press …   what a hand does, by the names in DO
    T is text          the texts of all T that are seen, with / between them
    T has text, T lacks text, T starts text, T counts 3
    T @name is text    an attribute of each T, or a property; - where there is none
    {a.b(c)} is text   a value in Python, where w is the widget
    key is kept        the widget keeps the last key from the page, and otherwise it is let go
    focus is text      the text or the label of what has the focus
    heard is text      what is said aloud when the hand rests

T is the name of a button, a grid or another control (chips of a group are group/name), or a CSS selector;
A >> B is a B inside of A, and behind # stands which one of several, from 0.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from stridekit import Goal, explore
from tests.course.browser import pages
from tests.course.browser.agrees import shown_by
from tests.course.browser.turned import Turned
from tests.course.test_copy_tracer import Twice
from tests.course.widget_kinds import NAMES

MOST_HIGH = 720  # px, of a widget


class Row(NamedTuple):
    """A widget as source, a name, and its lines: actions, and what is seen after them."""

    make: str
    name: str
    lines: list[tuple[list[str], list[str]]]


def parts_of(text):
    return [part.strip() for part in re.split(r" \|(?: |$)", f"{text} ") if part.strip()]


def rows(name):
    """Return the rows of a table, as parameters of a test."""
    parameters = []
    make = ""
    lines = []
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    for line in re.sub(r"\n {12,}", " ", text).splitlines():
        if line.startswith("        "):
            actions, _, wanted = f"{line} ".partition(" => ")
            lines.append((parts_of(actions), parts_of(wanted)))
        elif line.startswith("    "):
            lines = []
            row = Row(make, line.strip(), lines)
            kind = re.match(r"\w+", make)[0].replace("explore", "StrideExplorer")
            marks = [pytest.mark.long] if row.name.endswith("*") else []
            parameters.append(pytest.param(row, id=f"{kind} {row.name.rstrip('*')}", marks=marks))
        elif line and not line.startswith("#"):
            make = line
    return parameters


class Hand:
    """A hand on a widget on a plain page, and the widget in Python that follows."""

    def __init__(self, show, make):
        self.widget = eval(make, HAND_NAMES)
        self.w = show(self.widget)
        self.page = self.w.page

    def follow(self, row, drawings=None):
        """Do all actions of a row, and check what is seen, and how it is drawn."""
        for actions, wanted in row.lines:
            for action in actions:
                self.do(action)
            self.agrees(is_pointing=bool(actions) and actions[-1].startswith(STAYS))
            for sight in wanted:
                self.sees(sight)
            if drawings:
                drawings.take(self.w, " | ".join(actions))

    def node(self, target):
        """Return the nodes that a target names."""
        outer, _, inner = target.rpartition(" >> ")
        w = self.node(outer) if outer else self.w
        name, _, which = inner.partition(" #")
        group, slash, chip = name.rpartition("/")
        if IS_CSS.match(name):
            nodes = w.locator(name)
        elif slash:
            chips = w.get_by_role("group", name=group, exact=True)
            nodes = chips.get_by_role("button")
            if chip:
                nodes = pages.button(chips, chip)
        else:
            controls = w.get_by_label(name, exact=True).and_(w.locator("input, select, textarea"))
            grids = w.locator(f":is([role=grid], [role=listbox])[aria-label*={json.dumps(name)}]")
            nodes = pages.button(w, name).or_(controls).or_(grids)
        return nodes.nth(int(which)) if which else nodes

    def do(self, action):
        """Do one action: a verb, its target, and behind a colon a text or another target."""
        verb, _, rest = action.partition(" ")
        arguments = [rest]
        if verb not in ("page", "python"):  # their code may have a colon
            target, _, text = rest.partition(": ")
            arguments = [target.removesuffix(":"), text]
        DO[verb](self, *filter(None, arguments))

    def agrees(self, is_pointing, most_high=MOST_HIGH):
        """Give the state on the page to the widget in Python: both show the same, and nothing is cut."""
        if not is_pointing:
            pages.away(self.w)
        state = self.page.evaluate(STATE)
        self.widget.set_state({"_state": state})
        assert self.widget._state == state
        wanted = {} if is_pointing else shown_by(self.widget)
        seen, cut, height = self.w.evaluate(SEEN, [*wanted])
        for name, expected in wanted.items():
            fits = expected(seen[name]) if callable(expected) else seen[name] == expected
            assert fits, (name, seen[name], expected)
        assert cut == [], cut
        assert height <= most_high or self.page.viewport_size["width"] < pages.WIDTH, height

    def sees(self, wanted):
        """Wait until this is seen, for many frames."""
        subject, verb, text = WANTED.fullmatch(wanted).groups()
        for _ in range(1000):
            seen = self.seen(subject, verb)
            if COMPARE[verb](seen, text):
                return
            pages.wait_for_frame(self.w)
        pytest.fail(f"{wanted}: it is\n{seen}")

    def seen(self, subject, verb):
        """Return what is now seen of a subject, as text."""
        if subject.startswith("{"):
            return self.value(subject[1:-1])
        if subject == "focus":
            return self.page.evaluate(pages.FOCUSED).strip()
        if subject == "heard":
            return self.w.locator(":scope > .sk-spoken").text_content()
        if subject == "key":
            return "kept" if self.page.evaluate("lastKey")[1] else "let go"
        target, _, name = subject.partition(" @")
        nodes = self.node(target)
        if verb == "counts":
            return str(nodes.count())
        return " / ".join(nodes.evaluate_all(NAMED if name else TEXTS, name))

    def value(self, source):
        """Return a value in Python, as text."""
        return str(eval(source, HAND_NAMES | {"w": self.widget, "page": self.page, "root": self.w}))


STATE = f"async () => {{ await ({pages.NEXT_FRAME})(); return models[0].get('_state'); }}"
TAGS = "li|dt|dd|td|th|tbody|table|input|option|fieldset|legend|textarea"
IS_CSS = re.compile(rf"[.\[:]|({TAGS})\b(?! )|.* > |tbody|fieldset|legend")
WANTED = re.compile(r"({.*}|.*?) (is|has|lacks|starts|counts) ?(.*)")
COMPARE = {
    "is": str.__eq__,
    "counts": str.__eq__,
    "has": str.__contains__,
    "starts": str.startswith,
    "lacks": lambda seen, text: text not in seen,
}
TEXTS = """(all) => all.filter((node) => node.checkVisibility())
  .map((node) => (node.innerText ?? node.textContent).replace(/\\s+/g, ' ').trim()).filter(Boolean)"""
NAMED = """(all, name) => all.map((node) => {
  const isOwn = name === 'value' || typeof node[name] === 'boolean' || !node.hasAttribute(name);
  return String((isOwn ? node[name] : node.getAttribute(name)) ?? '-');
})"""
# The nodes with a defect, and the height: the right end of a node lies outside, a finger would miss it,
# JupyterLab would take its keys, or the Tab key stops at it and not at its grid.
SIZE = """(root) => {
  const edge = root.getBoundingClientRect().right + 0.5;
  const all = [...root.querySelectorAll('p, li, code, span, dt, dd, button, input, textarea, select')];
  const isBeyond = (node) => node.getBoundingClientRect().right > edge && !node.closest('.sk-steps');
  const cut = all.filter(isBeyond); // but for what scrolls
  const targets = all.filter((node) => node.matches('button, input, textarea, select'));
  const isSmall = (node) => node.offsetParent && Math.min(node.offsetHeight, node.offsetWidth) < 24;
  const small = targets.map((node) => node.closest('label') ?? node).filter(isSmall);
  const stops = [...targets, ...root.querySelectorAll('a, [tabindex="0"]')];
  const astray = stops.filter((node) => node.dataset.lmSuppressShortcuts !== 'true');
  const [grid, other] = [':is([role=grid], [role=listbox])', ':not([role=grid], [role=listbox], .sk-log)'];
  const inner = root.querySelectorAll(`${grid} :is(button, input, [tabindex]), [tabindex="0"]${other}`);
  const goals = root.querySelector('.sk-goals')?.offsetHeight ?? 0;
  const height = root.hasAttribute('popover') ? 0 : root.offsetHeight - goals; // of full width
  return [[...cut, ...small, ...astray, ...inner].map((node) => node.outerHTML), height];
}"""
# The texts of each selector, or the attribute @name of each node; and the size.
SEEN = f"""(root, names) => [Object.fromEntries(names.map((selector) => {{
  const [css, name] = selector.split(' @');
  const all = [...root.querySelectorAll(css)];
  return [selector, name ? ({NAMED})(all, name) : ({TEXTS})(all)];
}})), ...({SIZE})(root)]"""


# Actions -----------------------------------------------------------------------------------------------


def press(hand, target, keys):
    hand.node(target).focus()
    type_keys(hand, keys)


def type_keys(hand, keys):
    for key in keys.split():
        key, _, times = key.partition("×")
        for _ in range(int(times or 1)):
            hand.page.keyboard.press(key)


def enter(hand, target, lines=""):
    for line in lines.split(" ; "):
        hand.node(target).fill(line)
        hand.node(target).press("Enter")


def click(hand, target):
    """Click a node. A box among others may be on its way, and a hand waits until it is there."""
    if target.startswith("."):
        wait_for_boxes(hand)
    hand.node(target).click()


def wait_for_boxes(hand):
    hand.page.wait_for_function("!document.querySelector('[data-moving]')")


def hold(hand, start, end):
    """Press on a node, and move to another one, or so many pixels to the right of it."""
    end, _, aside = end.partition(" by ")
    wait_for_boxes(hand)
    pages.painted(hand.page)
    hand.page.mouse.move(*pages.middle(hand.node(start)))
    hand.page.mouse.down()
    x, y = pages.middle(hand.node(end))
    hand.page.mouse.move(x + int(aside or 0), y, steps=4)


def drag(hand, start, end):
    hold(hand, start, end)
    hand.page.mouse.up()


def swipe_to(hand, start, end, last="touchEnd"):
    """Drag with a finger."""
    x, y = pages.middle(hand.node(start))
    end_x, end_y = pages.middle(hand.node(end))
    pages.swipe(hand.page, (x, y), end_x - x, end_y - y, last)


def in_python(hand, code):
    """Change the widget w in Python, and show its state on the page."""
    exec(code, HAND_NAMES | {"w": hand.widget})
    hand.page.evaluate(SHOW, hand.widget._state)


SHOW = """(state) => {
  models[0].set('_answered_id', models[0].get('_change_id'));
  models[0].set('_state', state);
}"""


def paste(hand, target, text):
    hand.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    press(hand, target, "Control+A Control+V")


STAYS = ("hover", "hold", "stay")  # after these, the pointer is where it was
LONG = "x" * 30_000 + "😀" + "KeyError".rjust(19_999)
DO = {
    "click": click,
    "tap": lambda hand, target: hand.node(target).tap(),
    "hover": lambda hand, target: hand.node(target).hover(),
    "focus": lambda hand, target: hand.node(target).focus(),
    "blur": lambda hand: hand.page.evaluate("document.activeElement.blur()"),
    "away": lambda hand: pages.away(hand.w),
    "stay": lambda hand: None,
    "press": press,
    "keys": type_keys,
    "down": lambda hand, key: hand.page.keyboard.down(key),
    "up": lambda hand, key: hand.page.keyboard.up(key),
    "type": lambda hand, target, text: hand.node(target).press_sequentially(text),
    "fill": lambda hand, target, text="": hand.node(target).fill(text),
    "fill-long": lambda hand, target: hand.node(target).fill(LONG),
    "enter": enter,
    "choose": lambda hand, target, text: hand.node(target).select_option(text),
    "paste": paste,
    "hold": hold,
    "drag": drag,
    "release": lambda hand: hand.page.mouse.up(),
    "swipe": swipe_to,
    "swipe-off": lambda hand, start, end: swipe_to(hand, start, end, "touchCancel"),
    "width": lambda hand, width: pages.resize(hand.page, int(width)),
    "clock": lambda hand: pages.stop_the_clock(hand.page),
    "wait": lambda hand, ms: hand.page.clock.run_for(int(ms)),
    "page": lambda hand, script: hand.page.evaluate(script),
    "python": in_python,
}


# Names in the Python of rows ---------------------------------------------------------------------------


def tops(root, css):
    """Return the number of rows of text in which nodes stand."""
    tops = "(all) => all.map((node) => Math.round(node.getBoundingClientRect().y))"
    return len({*root.locator(css).evaluate_all(tops)})


def off_middle(root, css, target_css, *which):
    """Return the largest distance in px between the middles of nodes and of their targets."""
    targets = [root.locator(target_css).nth(k) for k in which]
    pairs = zip(root.locator(css).all(), targets, strict=True)
    return max(abs(pages.middle(a)[0] - pages.middle(b)[0]) for a, b in pairs)


def lanes_of(box):
    """Return the words in the lanes of a storage's box that have room in it, from above."""
    return box.evaluate("""(node) => {
      const [style, after] = [getComputedStyle(node), getComputedStyle(node, '::after')];
      const lanes = Math.floor((node.offsetHeight - parseFloat(after.top)) / parseFloat(after.lineHeight));
      const says = (k) => style.getPropertyValue(`--says${k}`).replaceAll('"', '');
      return Array.from({ length: lanes }, (_, k) => says(k));
    }""")


# The number of nodes that are narrower than their texts, whether the end of a text is in sight, and the
# number of lists that are narrower than their longest option.
CUT = "(all) => all.filter((node) => node.scrollWidth > node.clientWidth + 1).length"
IS_ON_TOP = """(node) => {
  const text = document.createRange();
  text.selectNodeContents(node);
  const { right, top, bottom } = text.getBoundingClientRect();
  return document.elementFromPoint(right - 1, (top + bottom) / 2) === node;
}"""
NARROWED = """(all) => all.filter((select) => {
  const free = select.cloneNode(true);
  free.style.cssText = 'position: absolute; width: max-content; max-width: none';
  select.after(free);
  const wanted = free.offsetWidth;
  free.remove();
  return select.offsetWidth < wanted;
}).length"""
HAND_NAMES = NAMES | {
    "Goal": Goal,
    "explore": explore,
    "is_seen": pages.is_seen,
    "tops": tops,
    "lanes_of": lanes_of,
    "off_middle": off_middle,
    "Turned": Turned,
    "Twice": Twice,
    "CUT": CUT,
    "NARROWED": NARROWED,
    "IS_ON_TOP": IS_ON_TOP,
}
