"""Every widget fits one screen, at the width that JupyterLab gives it in a window of 1280 by 900 px."""

from itertools import product

import pytest
import torch

from stridekit import Layout, audit, explore, widgets
from tests.browser.pages import beyond, button, enter, grid, painted, press, too_small, widen
from tests.messages import BUCKET
from tests.needs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.long]

WIDTH, AT_FIRST, IN_USE = 850, 620, 720  # px
NAMES = {"torch": torch, "nn": torch.nn, "Layout": Layout, "explore": explore, "audit": audit}
NAMES |= {name: getattr(widgets, name) for name in widgets.__all__}


def each_preset(w):
    """Press each of the layouts to start from, and a chain of three operations from each."""
    for name in w.locator(".sk-presets button").all_inner_texts():
        button(w, name).click()
        yield
        enter(w, "then", "[1:]", ".unsqueeze(0)", ".contiguous()")
        yield
        enter(w, "then", ".view(7, 9, 11)")  # refused, with a reason
        yield


def every_limit(w):
    """Take each slider to its end, and say why it stops there."""
    for slider in w.locator(".sk-slider input").all():
        press(slider, "End", "ArrowRight")
        yield


def every_line(w):
    """Run each of the lines to try, and some that are refused or asked about at length."""
    for line in w.locator(".sk-presets button").all_inner_texts():
        button(w, line).click()
        yield
    for line in ("y = x.T.reshape(-1)", "z = y * 400", "z = x.unfold(0, 2, 1)", "y = x[:1].expand(4, 6)",
                 "z += 1", "y += x", "x = x.frob()", "y = x" + ".t().contiguous()" * 40):  # fmt: skip
        enter(w, "run a line", line)
        yield


def every_view(w):
    """From each layout, each shape to try, at each step; and texts that are refused."""
    for name in w.locator(".sk-presets button").all_inner_texts():
        button(w, name).click()
        for target in w.locator(".sk-examples button").all_inner_texts():
            button(w, target).click()
            yield from every_step(w)
    enter(w, "x has shape", "4 by 6 " * 40)
    yield
    enter(w, "stride", "999, 999")
    yield


def every_step(w):
    """Walk to the end."""
    while button(w, "next").get_attribute("aria-disabled") == "false":
        yield
        button(w, "next").click()
    yield


def every_box(w):
    """Tick the boxes, one after the other, until all are ticked."""
    for box in w.get_by_role("checkbox").all():
        box.check()
        yield


def every_bin(w):
    """Put all cards into the first bin, what comes back into the second, and the rest into the third."""
    for name in ("view", "copy", "it depends"):
        for _ in range(24):
            if w.locator(".sk-card").is_visible():
                button(w, name).click()
                yield


def every_way(w):
    """The largest sizes and grouped heads, by every chip."""
    button(w, "everything").click()
    for name in ("batch", "tokens", "heads", "dim"):
        press(w.get_by_role("slider", name=name, exact=True), "End")
    for few in ("1", "4", "2"):
        w.get_by_role("group", name="heads of k and v").get_by_role("button", name=few).click()
        for rotary in w.get_by_role("group", name="rotary").get_by_role("button").all():
            rotary.click()
            for attention in ("@", "SDPA"):
                button(w, attention).click()
                yield
    for packing in ("H3D", "HD3"):
        button(w, packing).click()
        for attention in ("@", "SDPA"):
            button(w, attention).click()
            yield
    grid(w, "the memory of qkv").locator(".sk-box").nth(380).click()
    yield


def every_order(w):
    """The largest sizes, by every chip, and the first and the last tokens."""
    for name in ("batch", "heads"):
        press(w.get_by_role("slider", name=name, exact=True), "End")
    for tokens in ("0", "1", "8"):
        w.get_by_role("slider", name="tokens", exact=True).fill(tokens)
        for chips in product(("heads first", "tokens first"), ("@", "SDPA"), ("2", "4")):
            for chip in chips:
                button(w, chip).click()
            yield


def at_rest(_):
    """Change nothing."""
    yield


# A widget as source, and what a hand then does, which yields wherever the widget is to be measured. The
# first row of each group is the first state of its kind.
STRIDES = [
    ("StrideExplorer()", each_preset),
    ("StrideExplorer()", every_limit),
    ("StrideExplorer(Layout((2, 2, 3, 2), (18, 9, 2, 1), 2), 64)", every_limit),
    ("StrideExplorer(Layout((2, 3, 4)))", every_limit),
    ("StrideExplorer(Layout((24, 4), (16, 1), itemsize=4))", at_rest),  # a tape of 24 rows
    ("StrideExplorer(Layout((16, 16)))", at_rest),
    ("StrideExplorer(Layout((64, 64)))", at_rest),  # canvases
    ("StrideExplorer(Layout((16, 32)))", at_rest),
    ("explore(torch.arange(4096.).view(2, 8, 16, 16))", at_rest),
    ("explore(torch.zeros(300, 100)[::7], 'corner')", at_rest),
    ("StrideExplorer(Layout((4, 4), (20_000, 999), 17, 4), 80_000)", every_limit),
    ("explore(torch.tensor([[1, 2], [123456789012, 3]]))", at_rest),
]
# Many numbers, lines and dims: what does not fit scrolls in its pane.
ALIASES = [
    ("AliasExplorer()", every_line),
    ("AliasExplorer((4, 4, 6), ['y = x.clone()', 'z = y * -900', 'y = z[1:]'])", every_line),
    (
        "AliasExplorer((2, 3, 2, 2), ['y = x.permute(1, 2, 3, 0)', 'z = y.clone()', 'y += 1'])",
        every_line,
    ),
    ("AliasExplorer((96,), ['y = x.view(8, 12)', 'z = y.t().contiguous()', 'z += 1'])", at_rest),
    ("AliasExplorer((96, 1), ['y = x.clone()', 'z = x.clone()'] + ['z += 1'] * 40)", at_rest),
]
RESHAPES = [
    ("ReshapeStepper()", every_view),
    ("ReshapeStepper(torch.zeros(16, 16).T, (256,))", every_step),
    ("ReshapeStepper(torch.zeros(64, 4)[:, :3], (3, 64))", every_step),
    (
        "ReshapeStepper(Layout((2,) * 6, (32, 8, 16, 4, 1, 2)), (2, 2, 2, 1, 2, 2, 2, 1))",
        every_step,
    ),
    ("ReshapeStepper(torch.zeros(2, 0), (0, 3))", every_step),
]
CHANNELS = [
    (f"ChannelsLastExplorer({shape})", at_rest)
    for shape in ["", (3, 4, 3, 5), (3, 3, 3, 3), (3, 4, 2, 5)]
]
FORMATS = [
    ("FormatTracer()", every_box),
    ("FormatTracer((2, 1, 4, 4))", every_box),
]
TRAVERSALS = [
    ("TraversalExplorer()", at_rest),
    ("TraversalExplorer(warp=(4, 2, 0))", at_rest),
    ("TraversalExplorer(torch.zeros(41, 16)[:, :2], (0, 1))", at_rest),
    ("TraversalExplorer(torch.zeros(50, 60).t(), 'torch', visit=256)", at_rest),
]
# As many calls as there may be: eight of each kind, and all of them views.
CALLS = [
    "x[1:]; x + 0; x.reshape(-1); x.t(); x[[0, 2]]; x.flatten(); x.expand(2, 4, 6); x.clone()",
    "x.contiguous(); x[x > 0]; x.unfold(1, 2, 2); x.float(); x.diagonal(); x.flip(0); x.ravel()",
    "torch.cat([x]); x.view(24); x.to(torch.int32); x.detach(); x.repeat(1, 2); x.squeeze()",
    "x.tril(); torch.einsum('ij->ij', x); x.type(torch.float32)",
]
VIEWS = [f"x[:{1 + k % 3}, :{1 + k // 3}]" for k in range(24)]
SORTS = [
    (f"Sort(torch.ones(4, 6), *{calls}, also='x.t(); x[:, 2:]; x[1:]; x.int()')", every_bin)
    for calls in (CALLS, VIEWS)
]
ATTENTIONS = [
    ("AttentionExplorer()", every_way),
    ("AttentionExplorer(1, 1, 1, 2)", at_rest),
]
CACHES = [("CacheExplorer()", every_order), ("CacheExplorer(0, batch=1, heads=1)", at_rest)]
# Nothing pasted; the message with the most to say, behind a traceback of forty lines.
LONG_MESSAGE = "a line\n" * 40 + BUCKET
DIAGNOSES = [("Diagnose()", at_rest), (f"Diagnose({LONG_MESSAGE!r})", at_rest)]


def every_row(w):
    """Choose each call of the run."""
    for _ in w.get_by_role("option").all():
        yield
        w.get_by_role("listbox").press("ArrowDown")


# A run with a long way between what makes a layout and what copies it, and one with many copies.
LONG_WAY = "nn.Sequential(*[nn.ReLU() for _ in range(20)], nn.Flatten(0))"
MANY_COPIES = "nn.Sequential(*[nn.Flatten(0), nn.Unflatten(0, (64, 64))] * 20)"
COPIES = [
    (f"CopyTracer(audit(lambda x: {LONG_WAY}(x.t()), torch.rand(64, 64)))", at_rest),
    (
        f"CopyTracer(audit(lambda x: {MANY_COPIES}(x).t().reshape(-1), torch.rand(64, 64).t()))",
        every_row,
    ),
]
GROUPS = [STRIDES, ALIASES, RESHAPES, CHANNELS, FORMATS, TRAVERSALS, SORTS, ATTENTIONS, CACHES]
GROUPS += [DIAGNOSES, COPIES]


def shown(show, source):
    """The widget of a source at the width."""
    w = show(eval(source, NAMES))
    widen(w, WIDTH)
    assert w.evaluate("(node) => node.offsetWidth") == WIDTH
    return w


def height(w):
    """The height of a widget without its goals."""
    painted(w.page)
    return w.evaluate(
        "(node) => node.offsetHeight - (node.querySelector('.sk-goals')?.offsetHeight ?? 0)"
    )


@pytest.mark.parametrize("source", [group[0][0] for group in GROUPS])
def test_a_widget_begins_within_a_screen(show, source):
    assert height(shown(show, source)) <= AT_FIRST


@pytest.mark.parametrize(("source", "use"), [row for group in GROUPS for row in group])
def test_a_used_widget_stays_within_a_screen(show, source, use):
    w = shown(show, source)
    found = [height(w) for _ in use(w)]
    assert max(found) <= IN_USE, found


def test_on_a_phone_nothing_is_cut(show):
    """At 390 pixels nothing reaches beyond the page, and what is pressed or dragged has 24 pixels."""
    w = show(*[eval(group[0][0], NAMES) for group in GROUPS])
    w.page.set_viewport_size({"width": 390, "height": 800})
    w.page.wait_for_function("document.querySelector('.stridekit').clientWidth < 400")
    assert w.page.evaluate("document.documentElement.scrollWidth") == 390
    for one in w.all():
        assert beyond(one) == too_small(one) == []
