"""axe on all widgets in a real JupyterLab, in each theme and many states; and on the reference."""

import pytest

from stridekit.export import pages
from tests.browser.pages import (
    BOX,
    COLOURS,
    THEMES,
    assert_accessible,
    button,
    enter,
    labelled,
    painted,
    run_last_cell,
    see_all_of,
    settled,
    wear,
)
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS

pytestmark = needs_chromium


# Each widget goes through three states, the last of them the fullest; axe sees all widgets at once. A
# state is Python, or what a hand then does.
STATES = [
    # More cells than HTML draws; holes; a chain with a copy, and a refusal.
    (
        "w0.chain = []; w0.layout = Layout((4096,), (0,), 0, 4)",
        lambda w: press(w, "every 2nd"),
        lambda w: (press(w, "broadcast"), enter(w, "then", ".T", ".contiguous()", ".view(7)")),
    ),
    # Two views and their log; three tensors and a copy; a line that was refused, and an unsafe write.
    (
        "w1.steps = ['y = x[1:, ::2]', 'z = x[:, 4:]', 'y += 1']",
        "w1.steps = ['y = x[:1].expand(3, -1)', 'z = x.t().flatten()', 'y.fill_(3)']",
        lambda w: enter(w, "run a line", "w = x", "y += 1"),
    ),
    # In the middle; at the end of a view that is; of one that is not, after a shape that was refused.
    (
        lambda w: press(w, "rows cut out", "next", "next"),
        "w2.layout = Layout((4, 6), (6, 1), 0, 4); w2.target = (2, 12); w2.step = -1",
        lambda w: (press(w, "transposed", "to the end"), enter(w, "view it as", "5, 5")),
    ),
    # A channel's pixels; the most boxes; an ambiguous shape.
    (
        "w3.shape = (2, 3, 2, 4); w3.highlight = 'channel'",
        "w3.shape = (3, 4, 3, 5)",
        "w3.shape = (2, 1, 3, 5)",
    ),
    # The state at the start; a format that is lost, and a refusal; an ambiguous shape.
    (
        "w4.shape = (2, 3, 4, 4)",
        "w4.layers = ['unsqueeze', 'permute', 'view']",
        "w4.shape = (2, 1, 4, 4)",
    ),
    # Half-way through two walks; at their end; a warp.
    (
        lambda w: (press(w, "rows against columns"), labelled(w, "visit").fill("20")),
        lambda w: labelled(w, "visit").fill("48"),
        lambda w: press(w, "a GPU's warp"),
    ),
    # With a complaint; a wrong guess and its remark; answered wrong.
    (
        lambda w: press(w, *["try again"] * button(w, "try again").is_visible(), "Commit"),
        "w6.committed = (6, 1)",
        "w6.committed = (6, 2)",
    ),
    # At the start; with a card in each bin but one that came back; at the end.
    (
        "w7.moves = []",
        "w7.moves = [('x.t()', 'view'), ('x.reshape(-1)', 'it depends'), ('x + 0', 'view')]",
        lambda w: press(w, "copy"),
    ),
    # Copies at the start; a view alone, with k's heads shared; interleaved, all of it copied.
    (
        "w8.packing = '3HD'; w8.heads, w8.kv_heads, w8.rotary, w8.attention = 2, 2, 'none', '@'",
        "w8.kv_heads, w8.rotary, w8.attention = 1, 'x*cos + rot(x)*sin', 'SDPA'",
        lambda w: press(w, "everything", "HD3", "rot(x)*sin + x*cos"),
    ),
    # Copies in each way; none but cat's; nothing at all yet.
    (
        "w9.tokens, w9.attention, w9.order = 3, '@', 'tokens first'",
        "w9.tokens, w9.attention = 8, 'SDPA'",
        "w9.tokens = 0",
    ),
    # A copy and its way; the line that made the layout; a call without a finding.
    ("w10.row = 1", lambda w: w.get_by_role("option").last.hover(), "w10.row = 0"),
    # Nothing pasted; what nobody knows; a message with its diagnosis.
    (
        "w11.text = ''",
        lambda w: labelled(w, BOX).fill("KeyError: 'a'"),
        "w11.text = \"shape '[5]' is invalid for input of size 4\"",
    ),
]


def press(w, *names):
    for name in names:
        button(w, name).last.click()


@pytest.mark.parametrize(
    ("theme", "rules"), [("light", ()), ("dark", COLOURS), ("forced, light", COLOURS)]
)
def test_the_fullest_states(lab, kinds_page, theme, rules):
    """axe finds nothing, colour contrast included."""
    for k, _ in enumerate(states_of_all(lab, kinds_page, theme)):
        if k == 2:
            assert_accessible(kinds_page, ".stridekit", rules)


@pytest.mark.long
@pytest.mark.parametrize("theme", THEMES)
def test_every_state(lab, kinds_page, theme):
    """axe finds nothing by any rule; under forced colours it sees the last states only."""
    for k, _ in enumerate(states_of_all(lab, kinds_page, theme)):
        if k == 2 or "forced" not in theme:
            assert_accessible(kinds_page, ".stridekit")


def states_of_all(lab, page, theme):
    """Take all widgets through their states, side by side."""
    run_last_cell(page, "pass")
    wear(lab, page, theme)
    for states in zip(*STATES, strict=True):
        for state, kind in zip(states, KINDS.values(), strict=True):
            if callable(state):
                state(page.locator(kind.css))
            else:
                settled(page)
                assert lab.run_code(page, state) == ""
        page.mouse.move(5, 5)
        see_all_of(page)
        yield


@pytest.mark.long
def test_two_of_a_kind_have_ids_of_their_own(lab, kinds_page):
    """Each model loads its own module, yet no two ids are equal: a label belongs to its own widget."""
    wear(lab, kinds_page, "light")
    run_last_cell(kinds_page, f"display({', '.join(kind.make for kind in KINDS.values())})")
    kinds_page.wait_for_function(
        "(n) => document.querySelectorAll('.stridekit').length === n", arg=2 * len(KINDS)
    )
    painted(kinds_page)
    assert kinds_page.locator(".stridekit").evaluate_all(IDS) == []
    rules = ["duplicate-id-aria", "landmark-unique", "label", "aria-valid-attr-value"]
    assert_accessible(kinds_page, ".stridekit", rules)


# Ids that two nodes have, and references that lead out of their widget or nowhere.
IDS = """(roots) => roots.flatMap((root) => {
  const aria = ['labelledby', 'describedby', 'controls', 'activedescendant'].map((name) => `aria-${name}`);
  const named = (id) => [...document.querySelectorAll(`[id='${id}']`)];
  const wrong = [...root.querySelectorAll('[id]')].map(({ id }) => id).filter((id) => named(id).length > 1);
  for (const name of ['for', ...aria])
    for (const node of root.querySelectorAll(`[${name}]`))
      for (const id of node.getAttribute(name).split(' ').filter((id) => id))
        if (!named(id).some((target) => root.contains(target))) wrong.push(`${name}=${id}`);
  return wrong;
})"""


@pytest.fixture(scope="module")
def reference(lab):
    """`show(name)`: a page of the reference, as the export writes it, without network."""
    written = pages._site({}, [])
    context = lab.context.browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()

    def show(name):
        page.set_content(written[f"reference-{name}.html"])
        return page

    yield show
    context.close()


# A page of functions only, and one with classes and lists of their members.
@pytest.mark.long
@pytest.mark.parametrize("name", ["raw_memory", "sharing"])
@pytest.mark.parametrize(
    ("scheme", "forced", "rules"),
    [("light", "none", ()), ("dark", "none", COLOURS), ("light", "active", COLOURS)],
    ids=["light", "dark", "forced"],
)
def test_the_reference(reference, name, scheme, forced, rules):
    """axe finds nothing on a page of either kind."""
    page = reference(name)
    assert (page.locator(".sk-members").count() > 0) == (name == "sharing")
    page.emulate_media(color_scheme=scheme, forced_colors=forced)
    assert_accessible(page, rules=rules)
