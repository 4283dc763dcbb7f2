"""Each widget in a real JupyterLab, by mouse and by keyboard: the page, the kernel and torch agree."""

import pytest
import torch
from playwright.sync_api import expect

from tests.browser.pages import (
    BOX,
    BY_HAND,
    active,
    button,
    code,
    drag,
    enter,
    grid,
    hears,
    in_kernel,
    ints,
    labelled,
    middle,
    press,
    rerun,
    run_last_cell,
    stats,
    text,
    texts,
)
from tests.needs import needs_chromium
from tests.widget_kinds import KINDS

pytestmark = needs_chromium


@pytest.fixture
def make(kinds_page):
    """`make(source)` shows a new widget w in the last cell; JupyterLab must not react to its keys."""
    cells = kinds_page.locator(".jp-Cell")
    count = cells.count()

    def make(source):
        run_last_cell(kinds_page, f"w = {source}\ndisplay(w)")
        w = cells.last.locator(".stridekit")
        w.wait_for()
        kinds_page.mouse.move(5, 5)
        return w

    yield make
    assert cells.count() == count


@pytest.fixture
def kernel(lab, kinds_page):
    """`kernel(expression)`: the kernel's value, once it has heard of all changes on the page."""
    return lambda expression: in_kernel(lab, kinds_page, expression)


# The stride explorer -------------------------------------------------------------------------------------

PRESETS = [
    *("slice", "row-major", "column-major", "transpose", "every 2nd", "diagonal", "broadcast"),
    "windows",
]


def assert_strides(w, kernel):
    """torch makes the numbers in the grid of the code, and the kernel has the same code."""
    assert ints(w, ".sk-cell") == eval(code(w)).flatten().int().tolist()
    assert kernel("w.code") == code(w)


def test_strides_by_mouse(make, kernel):
    """Every preset and its other expression; a grip is dragged; hovering links slot and cell."""
    w = make("StrideExplorer()")
    assert texts(w, ".sk-presets button") == PRESETS
    for name in PRESETS:
        button(w, name).click()
        assert_strides(w, kernel)
        same = text(w, ".sk-also").removeprefix("# the same as ")
        assert eval(same).flatten().int().tolist() == ints(w, ".sk-cell"), name
    button(w, "diagonal").click()
    w.locator(".sk-tapebox").scroll_into_view_if_needed()  # the mouse reaches what is in the window
    drag(w, "stride[0]", 6)
    w.page.mouse.up()
    assert code(w) == "torch.arange(40.).as_strided((4,), (4,), 2)"
    assert_strides(w, kernel)
    w.locator(".sk-slot").nth(14).hover()
    assert text(w, ".sk-sentence").startswith("x[3] is element 14")


def test_strides_by_keyboard(make, kernel):
    """A slider stops where torch does; the grid is walked; a chain is typed and undone."""
    w = make("StrideExplorer()")
    stride = labelled(w, "stride[1]")
    press(stride, *["ArrowRight"] * 3)
    assert code(w) == "torch.arange(40.).as_strided((4, 6), (8, 2), 2)"
    assert text(w, ".sk-why").startswith("stride[1] stops at 2: beyond it, x[3, 5]")
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.arange(40.0).as_strided((4, 6), (8, 3), 2)
    press(stride, *["ArrowLeft"] * 3)
    assert_strides(w, kernel)
    press(button(w, "row-major"), "Enter")
    cells = grid(w, "elements of x by index")
    press(cells, "Home", "ArrowUp", "ArrowRight", "a", "d", "d", "x", "End")
    index = eval(kernel("w.index"))
    number = index[0] * 8 + 7
    assert active(cells) == f"x[{index[0]}, 7]: element {number}, byte {4 * number}"
    hears(w, f"= {number}: x[{index[0]}, 7] is element {number} of the storage: byte {4 * number}")
    for typed in (".T", "[1:]", "contiguous().view(5, 7)"):
        enter(w, "then", typed)
        assert_strides(w, kernel)
    assert code(w) == "torch.arange(40.).view(5, 8).T[1:].contiguous().view(5, 7)"
    press(labelled(w, "then"), "Control+z")
    assert_strides(w, kernel)
    assert code(w) == "torch.arange(40.).view(5, 8).T[1:]"


# The alias explorer --------------------------------------------------------------------------------------

ALIASES = "AliasExplorer((4, 6), ['y = x[1:, ::2]', 'z = x[:, 4:]'])"


def assert_aliases(w, kernel, *lines):
    """After these lines, page and kernel have torch's numbers for each name."""
    names = {"x": torch.arange(24).view(4, 6)}
    for line in lines:
        exec(line, names)
    for name in "xyz":
        assert ints(w, f".sk-card.is-{name} .sk-box") == names[name].flatten().tolist()
    assert eval(kernel("w.values")) == {name: names[name].tolist() for name in "xyz"}
    assert eval(kernel("w.steps")) == lines


def test_aliases_by_mouse(make, kernel):
    """Examples are clicked and taken back, down to the lesson's lines; a slot lights its owners."""
    w, first = make(ALIASES), ["y = x[1:, ::2]", "z = x[:, 4:]"]
    assert_aliases(w, kernel, *first)
    button(w, "y += 100").click()
    assert_aliases(w, kernel, *first, "y += 100")
    button(w, "undo").click()
    assert_aliases(w, kernel, *first)
    enter(w, "run a line", "z = x.clone()")
    button(w, "reset").click()
    assert_aliases(w, kernel, *first)
    w.locator(".sk-storage .sk-box").nth(10).hover()
    assert text(w, ".sk-readout") == "element 10 holds 10: x[1, 4], y[0, 2], z[1, 0]"
    assert texts(w, ".sk-card .is-spot") == ["10"] * 3


def test_aliases_by_keyboard(make, kernel):
    """Lines are typed, and all who share have changed; a grid is walked, and is one tab stop."""
    w, lines = make(ALIASES), ["y = x[1:, ::2]", "z = x[:, 4:]"]
    for line in ("y += 100", "z[0] = 7", "x.mul_(2)"):
        enter(w, "run a line", line)
        lines.append(line)
        assert_aliases(w, kernel, *lines)
    assert text(w, ".sk-news").startswith("x.mul_(2) — x changed: ")
    press(grid(w, "elements of y by index"), "Home", "ArrowRight", "ArrowDown")
    hears(w, "element 14 holds 228: x[2, 2], y[1, 1]")
    for key in ("Tab", "Tab", "a", "d", "d", "ArrowRight"):
        w.page.keyboard.press(key)
    assert text(w, ".sk-readout").startswith("element 15 holds 30")


# The reshape stepper -------------------------------------------------------------------------------------

RESHAPE = "ReshapeStepper(torch.arange(32.).view(4, 8)[:, :6], shape=(2, 12))"


def test_reshapes_by_mouse(make, kernel):
    """A shape that torch refuses, with its message and the copy; one that torch accepts."""
    w = make(RESHAPE)
    x = torch.arange(32.0).view(4, 8)[:, :6]
    button(w, "next").click()
    button(w, "to the end").click()
    with pytest.raises(RuntimeError) as refused:
        x.view(2, 12)
    assert text(w, ".is-torch dd") == str(refused.value)
    assert ints(w, ".sk-copy .sk-box") == x.reshape(2, 12).flatten().int().tolist()
    w.locator(".sk-copy .sk-box").nth(7).click()
    assert kernel("w.step, w.index, w.result") == "4 (1, 1) None"
    button(w, "(2, 2, 6)").click()
    button(w, "to the end").click()
    new = w.get_by_role("list", name="dims of the new shape").locator(".sk-step")
    assert new.all_inner_texts() == [f"stride {s}" for s in x.view(2, 2, 6).stride()]
    assert kernel("w.target, w.result.stride") == f"(2, 2, 6) {x.view(2, 2, 6).stride()}"


def test_reshapes_by_keyboard(make, kernel):
    """A shape is typed, the steps and the tape are walked."""
    w = make(RESHAPE)
    enter(w, "view it as", "2, -1, 6")
    assert w.get_by_label("view it as").input_value() == "2, 2, 6"
    enter(w, "view it as", "5, 5")
    assert w.locator(".sk-why").first.inner_text().endswith("has 25 elements, the layout has 24")
    assert kernel("w.target") == "(2, 2, 6)"
    enter(w, "view it as", "2, 12")
    press(button(w, "next"), "ArrowRight", "ArrowRight", "a", "d", "d")
    assert "stride 8 found, 6 · 1 = 6 needed" in text(w, ".sk-sentence")
    assert texts(w, ".sk-box.is-run") == ["0", "8", "16", "24"]
    press(button(w, "next"), "End")
    hears(w, "There is no such view: dims 0 and 1 do not merge")
    press(grid(w, "the storage of x"), "End")
    assert kernel("w.step, w.index, w.new_index") == "4 (3, 5) (1, 11)"
    for d, i in enumerate((0, 1)):
        w.get_by_label(f"index of y in dim {d}").fill(str(i))
    assert kernel("w.index, w.new_index") == "(0, 1) (0, 1)"
    assert text(w, ".sk-followed").startswith("x[0, 1] is number 1 in row-major order")


# Channels-last -------------------------------------------------------------------------------------------

TAPES = ("contiguous_format", "channels_last")


def tape(w, name):
    return grid(w, f"{name}: the order of memory")


def in_memory(t):
    """The labels of a tensor's elements in the order of its memory."""
    indices = torch.cartesian_prod(*map(torch.arange, t.shape)).tolist()
    indices.sort(key=lambda index: t[tuple(index)].storage_offset())
    return [f"{'abcd'[c]}{h}{v}" for _, c, h, v in indices]


def test_channels_by_mouse(make, kernel):
    """A box lights its channel on both tapes."""
    w = make("ChannelsLastExplorer()")
    button(w, "a channel's pixels").click()
    tape(w, "channels_last").locator(".sk-box").nth(19).click()
    classes = "all => all.flatMap((box, k) => (box.classList.contains('is-lit') ? [k] : []))"
    lit = [tape(w, name).locator(".sk-box").evaluate_all(classes) for name in TAPES]
    assert lit == [[k for k in range(8, 16) if k != 14], [k for k in range(1, 24, 3) if k != 19]]
    assert kernel("w.index, w.highlight") == "(0, 1, 1, 2) channel"


def test_channels_by_keyboard(make, kernel):
    """At any size the labels lie in the order of torch's memory; tapes and planes are walked."""
    w, shape = make("ChannelsLastExplorer()"), (1, 4, 3, 2)
    for label, size in zip(("N images", "C channels", "H height", "W width"), shape, strict=True):
        press(w.get_by_role("slider", name=label), "Home", *["ArrowRight"] * (size - 1))
    assert kernel("w.shape") == str(shape)
    made = {"torch": torch}
    exec(code(w), made)
    for number, (name, t) in enumerate(zip(TAPES, (made["x"], made["y"]), strict=True)):
        assert t.shape == shape
        assert texts(tape(w, name), ".sk-box") == in_memory(t)
        assert ints(w.locator(".sk-steps").nth(number), "b") == [*t.stride()]
    press(tape(w, "channels_last"), "Home", "ArrowRight", "a", "d", "d", "x")
    assert active(tape(w, "channels_last")) == "x[0, 1, 0, 0]: element 1"
    hears(w, "x[0, 1, 0, 0] is element 6 in contiguous_format, element 1 in channels_last.")
    planes = grid(w, "the tensor: planes of channels")
    press(planes, "Home", "ArrowDown", "ArrowRight", "ArrowRight")
    assert kernel("w.index") == "(0, 1, 1, 0)"


# Memory formats through layers ---------------------------------------------------------------------------


def test_formats_by_mouse(make, kernel):
    """Layers are switched on and off, with torch's results."""
    w = make("FormatTracer()")

    def row(name):
        return texts(w.locator("tbody tr").filter(has_text=name), "td")[1]

    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    assert row("F.relu(x)").startswith("channels_last")
    w.get_by_role("checkbox", name="x[0].unsqueeze(0)").check()
    lost = row("x[0].unsqueeze(0)")
    assert str(tuple(x[0].unsqueeze(0).stride())) in lost and "channels_last is lost" in lost
    w.get_by_role("checkbox", name="x[0].unsqueeze(0)").uncheck()
    w.get_by_role("checkbox", name="x.flatten(1)").uncheck()
    w.get_by_role("checkbox", name="x.view(len(x), -1)").check()
    assert "torch refuses: C is innermost" in row("x.view(len(x), -1)")
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        x.view(2, -1)
    assert kernel("w.layers") == "('conv2d', 'batch_norm', 'relu', 'max_pool2d', 'view')"


def test_formats_by_keyboard(make, kernel):
    """The space bar switches a layer, and what comes out at the end is said."""
    w = make("FormatTracer(layers=[])")
    press(w.get_by_role("checkbox", name="skip + x"), "Space")
    hears(
        w,
        "At the end, x in contiguous_format is: contiguous_format; x in channels_last is: ",
    )
    press(button(w, "x of shape (2, 1, 4, 4)"), "Enter")
    assert kernel("w.shape, w.layers") == "(2, 1, 4, 4) ('skip + x',)"


# Attention -----------------------------------------------------------------------------------------------


def memory(w, name):
    return grid(w, f"the memory {name}")


def run(w, kernel):
    """The names after the widget's code, which the page shows line by line and the kernel has too."""
    lines = "\n".join(texts(w, ".sk-step > code")).strip().splitlines()
    source = "\n".join(line for line in lines if line)
    assert kernel("w.code") == source
    names = {"torch": torch}
    exec(source, names)
    return names


def test_attention_by_mouse(make, kernel):
    """SDPA copies nothing, until q comes head by head; a box lights where it goes."""
    w = make("AttentionExplorer()")
    button(w, "everything").click()
    assert text(w, ".sk-idea") == "4 copies on the way, of q, k, v and out: 768 bytes."
    button(w, "SDPA").click()
    assert text(w, ".sk-idea") == "Nothing is copied on the way."
    names = run(w, kernel)
    assert names["y"].untyped_storage().data_ptr() == names["out"].untyped_storage().data_ptr()
    button(w, "rot(x)*sin + x*cos").click()
    assert text(w, ".sk-idea") == "1 copy on the way, of out: 192 bytes."
    assert str(run(w, kernel)["out"].stride()) in text(w, ".sk-rest")
    memory(w, "after rotary").locator(".sk-box").nth(17).click()
    assert kernel("w.followed") == "('q', 0, 1, 1, 1)"
    classes = "all => all.flatMap((box, k) => (box.className.match(/is-(lit|here)/) ? [k] : []))"
    lit = [memory(w, name).locator(".sk-box").evaluate_all(classes) for name in ("of out", "of y")]
    assert lit == [[16, 17, 18, 19], [12, 13, 14, 15]]


def test_attention_by_keyboard(make, kernel):
    """Sliders, chips and boxes are reached by keys; heads that are grouped end with another packing."""
    w = make("AttentionExplorer()")
    button(w, "everything").click()
    press(w.get_by_role("slider", name="heads", exact=True), "End")
    groups = w.get_by_role("group", name="heads of k and v")
    press(groups.get_by_role("button", name="2"), "Enter")
    assert run(w, kernel)["k"].shape == (2, 4, 3, 4)
    assert kernel("w.kv_heads, w.facts['copies']") == "2 ('k', 'v', 'q', 'out')"
    press(memory(w, "of qkv"), "Home", *["ArrowRight"] * 17, "a", "d", "d", "x", "ArrowDown")
    assert active(memory(w, "of qkv")) == "k[0, 0, 1, 1]: element 49"
    hears(
        w, "k[0, 0, 1, 1] is element 49 of qkv. It goes into 24 elements of out: out[0, 0:2, :, :]."
    )
    press(button(w, "HD3"), "Enter")
    assert kernel("w.kv_heads, w.followed") == "4 ('k', 0, 0, 1, 1)"
    assert texts(groups, "button") == ["4"]


# Caches --------------------------------------------------------------------------------------------------


def test_caches_by_mouse(make, kernel):
    """Another order makes `@` clone all, and SDPA nothing; the kernel's code does what is shown."""
    w = make("CacheExplorer(batch=1)")
    assert text(w, ".sk-way:nth-child(2) li:last-child") == "@ reads them without a copy"
    w.get_by_role("slider", name="batch", exact=True).fill("2")
    button(w, "tokens first").click()
    assert text(w, ".sk-way:nth-child(2) li:last-child") == "@ clones 3,072 bytes"
    names = {}
    exec(kernel("print(w.code)"), names)
    assert list(names["cat"].shape) == [2, 3, 2, 64] and names["table"].tolist() == [[1, 5], [3, 7]]
    button(w, "SDPA").click()
    assert kernel("w.facts['in_place_cloned'], w.facts['in_place_written']") == "0 3072"
    memory_of(w, "blocks").locator(".sk-box").nth(4).hover()
    assert text(w, ".sk-place").startswith("Sequence 0, head 0, token 0: box 0 of cat's tape")


def test_caches_by_keyboard(make, kernel):
    """Tokens by a slider's keys, and playing; a memory is walked by arrows, and heard."""
    w = make("CacheExplorer()")
    press(w.get_by_role("slider", name="tokens", exact=True), "End")
    assert kernel("w.tokens, w.facts['cat_written']") == "8 36864"
    press(memory_of(w, "cat"), "Home", "ArrowRight", "a", "d", "d", "x", "ArrowDown")
    assert active(memory_of(w, "cat")) == "sequence 0, head 1, token 1"
    press(button(w, "4"), "Enter")
    hears(w, "8 tokens. cat: keep: 8,192 bytes, 7 of 8 tokens again, @ reads them without a copy.")
    assert kernel("w.block") == "4"


def memory_of(w, way):
    return grid(w, f"the memory of {way}")


# Traversals ----------------------------------------------------------------------------------------------


def pane(w, k):
    return w.locator(".sk-walk").nth(k)


def test_walks_by_mouse(make, kernel):
    """Rows against columns with caches of two sizes; the boxes of a slice; a transpose; a warp."""
    w = make("TraversalExplorer()")
    button(w, "rows against columns").click()
    for lines, misses in (("4 lines", [6, 48]), ("8 lines", [6, 6])):
        labelled(w, "cache").select_option(lines)
        found = [stats(pane(w, k))["lines loaded"].strip("!") for k in (0, 1)]
        assert [*map(int, found)] == misses
        assert kernel("[w.counts.misses, w.other_counts.misses]") == str(misses)
    x = torch.arange(96).view(6, 16)[:, ::2]
    button(w, "every 2nd column").click()
    assert sorted(ints(pane(w, 1), ".sk-byte-box")) == x.flatten().tolist()
    button(w, "transpose").click()
    pane(w, 0).locator("select").select_option("column by column, dims (1, 0) · torch's order")
    assert kernel("w.order, w.counts.misses") == "(1, 0) 6"
    button(w, "a GPU's warp").click()
    w.locator(".sk-warp").get_by_label("itemsize").select_option("8 bytes")
    assert kernel("w.warp.itemsize") == "8"


def test_walks_by_keyboard(make, kernel):
    """The scrubber moves both walks by one visit a key, to torch's elements."""
    w = make("TraversalExplorer()")
    press(button(w, "rows against columns"), "Enter")
    visit = labelled(w, "visit")
    press(visit, "Home", *["ArrowRight"] * 14, "a", "d", "d")
    x = torch.arange(48).view(6, 8)
    here = [ints(pane(w, k), ".is-here") for k in (0, 1)]
    assert here == [[int(order.flatten()[13])] for order in (x, x.t())]
    hears(w, "left visit 14 of 48: x[1, 5], element 13, cache line 1: a hit")
    assert kernel("w.visit") == "14"
    press(visit, "End")
    press(w.get_by_label("alignment"), "Home", "ArrowRight")
    assert kernel("w.alignment, w.counts.minimum") == "8 7"
    assert stats(pane(w, 0))["would do"] == "7"


# Predictions ---------------------------------------------------------------------------------------------

PREDICT = """\
Predict('What is the stride of `x.t()`?', x.t().stride(), choices=[(6, 1), (1, 6), (1, 4)],
        why='`t()` swaps the two.', experiment='x.t().stride()',
        remarks={(6, 1): 'That is the stride of `x` itself.'})"""


def test_predictions_by_mouse(make, kernel):
    """The prediction stays beside torch's answer, of which the page has nothing before."""
    w, stride = make(PREDICT), torch.arange(24).view(4, 6).t().stride()
    for _ in range(2):
        html = w.inner_html()
        assert not any(secret in html for secret in ("swaps", "x.t().stride()", "it is", "That is"))
        w.get_by_label("(6, 1)").check()
        button(w, "Commit").click()
        assert text(w, ".sk-answer") == "✗ not (6, 1): one more try"
        assert text(w, ".sk-remark") == "That is the stride of x itself."
        assert (
            "swaps" not in w.inner_html() and kernel("(w.committed, w.shown)") == "((6, 1), False)"
        )
        w.get_by_label("(1, 4)").check()
        button(w, "Commit").click()
        assert text(w, ".sk-answer") == f"✗ you said (1, 4), it is {stride}"
        assert eval(text(w, ".sk-output")) == stride
        assert kernel("(w.committed, w.correct)") == "((1, 4), False)"
        button(w, "try again").click()
        assert kernel("w.committed") == "None"
    button(w, "show me").click()
    assert kernel("(w.shown, w.committed)") == "(True, None)"


def test_predictions_by_keyboard(make, kernel):
    """Arrows choose and Enter commits; a shape may be typed in any usual way."""
    w = make(PREDICT)
    press(w.get_by_label("(6, 1)"), "ArrowDown", "a", "d", "d", "Enter")
    assert text(w, ".sk-answer") == "✓ you said (1, 6), and so it is"
    focused = "node => node === document.activeElement"
    assert w.get_by_role("status").first.evaluate(focused) and kernel("w.correct") == "True"
    w = make("Predict('What shape?', x.unfold(0, 3, 1).shape, why='windows last')")
    for typed, said in [
        ("", "Write your answer first: a guess is enough."),
        ("(2, y)", "I could not read “y” in “(2, y)”"),
        ("[2,6]", "✗ not (2, 6): one more try"),
        ("2 6", "That was your first guess: choose another answer."),
        ("[2,6, 3]", "✓ you said (2, 6, 3), and so it is"),
    ]:
        enter(w, "your prediction", typed)
        assert text(w, ".sk-answer").startswith(said)
    shape = torch.arange(24).view(4, 6).unfold(0, 3, 1).shape
    assert kernel("w.committed") == str(tuple(shape))


# Sorting -------------------------------------------------------------------------------------------------

SORT = "Sort(x, 'x.t(); x[[0, 2]]; x.reshape(-1)', also='x.t(); x[1:]')"


def test_sorting_by_mouse(kinds_page, make, kernel):
    """Each card is dragged where it belongs by torch; Python sees each move, also a wrong one."""
    w, x = make(SORT), torch.arange(24).view(4, 6)
    truth = {
        call: {eval(call).data_ptr() == x.data_ptr() for x in (x, x.t(), x[1:])}
        for call in ("x.t()", "x[[0, 2]]", "x.reshape(-1)")
    }
    right = {
        call: 2 if len(shares) == 2 else int(False in shares) for call, shares in truth.items()
    }
    for k in (1, 1, 2, 0):
        call, mouse = text(w, ".sk-card"), kinds_page.mouse
        w.locator(".sk-bins").scroll_into_view_if_needed()
        mouse.move(*middle(w.locator(".sk-card")))
        mouse.down()
        mouse.move(*middle(w.locator(".sk-bin").nth(k)), steps=3)
        mouse.up()
        assert text(w, ".sk-verdict").startswith("✓" if right[call] == k else "✗")
    assert kernel("[right for _, right in w.moves]") == "['copy', 'copy', 'it depends', 'view']"
    assert texts(w, ".sk-bin li > code") == [*truth]


def test_sorting_by_keyboard(make, kernel):
    """Letters put the cards; the game is over, and begun again."""
    w = make(SORT)
    press(button(w, "view"), "c", "c", "d", "v")
    assert text(w, ".sk-count") == "All 3 sorted, 2 at the first try. Look again at x.t()."
    assert kernel("(len(w.moves), dict(w.moves) == w.answers)") == "(4, True)"
    press(button(w, "sort them again"), "Enter", "v")
    assert kernel("w.moves") == "(('x.t()', 'view'),)"


# A message to paste --------------------------------------------------------------------------------------


def test_a_message_by_mouse(kinds_page, make, kernel):
    """It is pasted where a click put the cursor, and taken back by the toolbar; Python says the same."""
    w = make("Diagnose()")
    assert text(w, ".sk-title") == "" and texts(w, "dt") == ["known"]
    kinds_page.evaluate(
        "navigator.clipboard.writeText(`RuntimeError: shape '[5]' is invalid for input of size 4`)"
    )
    labelled(w, BOX).click()
    kinds_page.keyboard.press("Control+V")
    assert kernel("w.found.title") == text(w, ".sk-title")
    assert kernel("[list(line) for line in w.found.lines]") == str(lines(w))
    button(w, "undo").click()
    assert labelled(w, BOX).input_value() == "" and kernel("(w.text, w.found)") == "('', None)"


def lines(w):
    """The labels and sentences of a diagnosis."""
    return [list(line) for line in zip(texts(w, "dt"), texts(w, "dd"), strict=True)]


def test_a_message_by_keyboard(make, kernel):
    """Typed, with letters that JupyterLab would take for its own; each change reaches Python."""
    w = make("Diagnose()")
    press(labelled(w, BOX), *"dda", "Enter", "b", "Backspace", "Escape")
    assert text(w, ".sk-title") == "a message that stridekit does not know"
    assert kernel("[w.text]") == r"['dda\n']" and lines(w)[0] == ["message", "dda"]
    press(labelled(w, BOX), "Control+A", *"step must be greater than zero")
    assert kernel("w.found.title") == text(w, ".sk-title") == "a slice that runs backwards"


# Copies --------------------------------------------------------------------------------------------------

MERGE = "CopyTracer(audit(lambda x: nn.Flatten(0)(nn.ReLU()(x.t())), torch.ones(4, 6)))"


def test_copies_by_mouse(make, kernel):
    """Pointing at the copy shows which line made the layout; a click chooses it in the kernel too."""
    w = make(MERGE)
    rows = w.get_by_role("option")
    assert kernel("w.row") == str(rows.count() - 1) == "3"
    assert texts(w, "dt") == ["● made by", "○ passed on by", "◆ copied by"]
    assert texts(w, "dd code:first-child")[0].endswith("x.t()")
    rows.first.hover()
    assert texts(w, "dt") == [] and kernel("w.row") == "3"
    rows.nth(1).click()
    assert kernel("w.row") == "1" and texts(w, "dt")[0] == "● made by"
    button(w, "undo").click()
    assert kernel("w.row") == "3"


def test_copies_by_keyboard(make, kernel):
    """From row to row, and to the next finding; letters stay with the widget."""
    w = make(MERGE)
    listbox = w.get_by_role("listbox")
    press(listbox, "Home", "a", "d", "d", "x", "ArrowDown")
    assert kernel("w.row") == "1" and active(listbox).endswith("x.t(), view, (6, 4): (1, 6)")
    press(listbox, "PageDown")
    assert kernel("w.row") == "3"
    hears(w, "Finding 1: 96 B, copy by reshape, in flatten, Flatten. made by ")


# Exercises -----------------------------------------------------------------------------------------------

EXERCISE = """\
from stridekit.exercises import strides as ex
def row(x, i): return x[0]
ex.row.check(row)"""


def test_an_exercise_opens_its_hints_and_a_pass_points_on(lab, notebook):
    """Also in a saved notebook that nobody ran and no kernel answers."""
    page = notebook(EXERCISE, "ex.row.check(lambda x, i: ex.row.reference(x, i))")
    report, passed = page.locator(".jp-OutputArea-output").all()
    expect(passed).to_contain_text("Well done: 1 of 10 in this lesson. Next: column.")
    assert report.locator("summary:visible").all_inner_texts() == ["Hint 1 of 3"]
    page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    report.locator("summary").first.focus()
    press(report.locator("summary").first, "Enter")
    assert report.locator("summary:visible").all_inner_texts() == ["Hint 1 of 3", "Hint 2 of 3"]
    expect(report).to_contain_text("makes any view of x's storage")


# All of them ---------------------------------------------------------------------------------------------


@pytest.mark.long
def test_rerun_cells_leave_nothing_behind(lab, kinds_page):
    """Even while one plays: each new view lives, and its changes reach the kernel."""
    walks = kinds_page.locator(".sk-traversal").first
    button(walks, "transpose").click()
    walks.locator(".sk-play").click()
    run_last_cell(kinds_page, "pass")
    for _ in range(2):
        rerun(lab, kinds_page, ".stridekit")
    for k, (kind, made) in enumerate(KINDS.items()):
        before = in_kernel(lab, kinds_page, f"w{k}._state")
        BY_HAND[kind](kinds_page.locator(made.css).first)
        assert in_kernel(lab, kinds_page, f"w{k}._state") != before, kind
