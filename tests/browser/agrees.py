"""What a widget on a page shows of its state, for each kind: its script's words, torch's numbers."""

import torch

from stridekit import diagnose
from stridekit.widgets.engine import Script
from stridekit.widgets.format_tracer import network as net
from stridekit.widgets.notation import layout_json
from stridekit.widgets.sort.widget import BINS
from stridekit.widgets.stride_explorer.widget import words as strides
from tests.browser.pages import each, grid, ints, stats, text, texts
from tests.walks import costs, counts_of, sectors_of, visits_of

growth, flow = Script("cache_explorer/growth.js"), Script("attention_explorer/flow.js")
formats = Script("format_tracer/network.js")
channels, walk_of = Script("channels_last_explorer/words.js"), Script("reshape_stepper/steps.js")
SIGNS = {True: "✓", False: "✗", None: "·"}


def strides_agree(w, made):
    """The numbers in the grid are torch's of the code; verdicts, terms and the place are the script's."""
    layout, index = made.layout, made.index
    told = [f"{SIGNS[good]} {said}" for good, said in strides.verdicts(layout_json(layout), 1)]
    assert texts(w, ".sk-verdicts li:visible")[:-1] in (
        [],
        told[:-1],
    )  # the last tells of the storage
    if made.code.startswith("torch.") and w.locator(".sk-cell").count():
        assert ints(w, ".sk-cell") == eval(made.code).flatten().int().tolist()
    if index is None:
        assert text(w, ".sk-sentence") == "There is no element: a size is 0."
    elif not w.locator(".is-lit").count():
        terms = " + ".join(texts(w, ".sk-term span")).replace("·", "*")
        assert not terms or f"= {eval(terms)}" == text(w, ".sk-total")


def aliases_agree(w, made):
    """Each box has torch's value after the lines; the lines are in the log."""
    names = {}
    exec(made.code, names | {"torch": torch}, names)
    for name in made.tensors:
        shown, values = ints(w, f".sk-card.is-{name} .sk-box"), names[name].flatten().tolist()
        assert shown == values if names[name].ndim < 3 else sorted(shown) == sorted(values)
    assert texts(w, ".sk-log code") == [*made.steps]


def reshapes_agree(w, made):
    """The sentence is that of the step; at its end, a refusal shows torch's words and the copy."""
    told, why = walk_of.stepsOf(layout_json(made.layout), made.target), made.why
    step, said = told[made.step], w.locator(".sk-sentence")
    assert said.inner_text() == step["says"]
    assert text(w, ".sk-count") == f"step {made.step} of {len(told) - 1}"
    end = "bad" if why else "good"
    assert said.get_attribute("data-part") == (end if step["part"] == "end" else step["part"])
    if step["part"] == "end":
        assert w.locator(".sk-dimbox.is-stuck, .sk-seam.is-crossed").count() == 2 * bool(why)
        assert w.locator(".sk-copy").is_visible() == bool(why)


def channels_agree(w, made):
    """Sentences, flags, steps; on each tape the indices in the order of torch's memory."""
    shape, index, highlight = made.shape, made.index, made.highlight
    assert text(w, ".sk-idea") == channels.spread(shape, index, highlight)
    assert text(w, ".sk-place") == channels.place(shape, index)
    steps = [channels.step(at, index, highlight) for at in channels.layouts(shape).values()]
    assert texts(w, ".sk-apart") == [*map(channels.apart, steps)]
    told = [f"{SIGNS[good]} {said}" for good, said in channels.verdicts(shape)]
    assert texts(w, ".sk-verdicts li") == told and text(w, ".sk-badge") == channels.badge(shape)
    x = torch.arange(torch.tensor(shape).prod()).view(shape)
    for name, t in zip(channels.FORMATS, (x, x.to(memory_format=torch.channels_last)), strict=True):
        memory = t.as_strided((t.numel(),), (1,))
        at = torch.stack(torch.unravel_index(memory, shape), 1).tolist()
        boxes = grid(w, f"{name}: the order of memory").locator(".sk-box")
        assert each(boxes, "ariaLabel") == [f"x{i}: element {k}" for k, i in enumerate(at)]


def formats_agree(w, made):
    """Below each layer that is on, what torch makes of both inputs; below the others nothing."""
    which = net.INPUTS.index(made.shape)
    rows = zip(net.LAYERS, formats.trace(net.network(), which, made.layers), strict=True)
    told = {layer.code: [*map(passage, row)] if row else [[], []] for layer, row in rows}
    assert dict(w.locator("tbody tr").evaluate_all(PASSAGES)[1:]) == told


PASSAGES = """(rows) => rows.map(({ children: [layer, ...cells] }) => [
  layer.textContent,
  cells.map((cell) => [...cell.children].map((part) => part.textContent).filter(Boolean)),
])"""


def passage(row):
    said = row["note"] if row["label"] or row["note"] else "nothing comes here"
    stride = [str(tuple(row["stride"]))] if row["stride"] else []
    name, _, taken = row["label"].partition(", ")
    return [part for part in (name, *stride, taken, said) if part]


def walks_agree(w, made):
    """Counts, each line's elements, loads and place in the cache; or those of the warp."""
    assert text(w, ".sk-scrubber output").startswith(f"{made.visit} of ") or made.warp
    if made.warp:
        found, pane = sectors_of(made.warp), w.locator(".sk-warp")
        assert text(pane, ".sk-sentence") == costs.warpSentence(made.warp._asdict())
        assert pane.locator(".sk-sector").count() == found["touched"]
        return
    for walk, pane in zip(made.walks, w.locator(".sk-panes > .sk-walk:visible").all(), strict=True):
        visits = visits_of(walk.layout, walk.order, made.cache_lines, made.alignment)
        seen = visits[: made.visit]
        found = counts_of(visits, walk.layout.itemsize, len(seen))
        assert stats(pane) == {
            "visits": str(found.visits),
            "lines loaded": f"{found.misses}{'!' * (found.misses > found.lines)}",
            "would do": str(found.lines),
            "bytes used / loaded": f"{found.bytes_used} / {found.bytes_loaded}",
        }
        held = [*dict.fromkeys(visit.line for visit in reversed(seen))][: made.cache_lines]
        for row in pane.locator(".sk-lines li").all():
            line = int(text(row, ".sk-line-name").split()[1])
            loads = sum(visit.line == line and not visit.hit for visit in seen)
            sign = "●" if line in held else "○" if loads else ""
            assert texts(row, ".sk-held, .sk-loads") == [f"×{loads}", sign]


def sort_agrees(w, made):
    """The cards in the bins are those that were put there and belong there."""
    put = [move for move in made.moves if made.answers[move[0]] == move[1]]
    for name, node in zip(BINS, w.locator(".sk-bin").all(), strict=True):
        assert texts(node, "li > code") == [call for call, to in put if to == name]


def attention_agrees(w, made):
    """All words and boxes; the followed one and where it goes are marked."""
    s, followed = made._state, made._state["followed"]
    steps = flow.steps(s)
    assert texts(w, ".sk-stephead strong") == [step["name"] for step in steps]
    arrows = [flow.arrowText(arrow) for step in steps for arrow in step["arrows"]]
    assert texts(w, ".sk-arrows > span") == arrows
    assert texts(w, ".sk-step > .sk-note") == [step["note"] for step in steps]
    strides = [str(tuple(x["stride"])) for step in steps for x in step["tensors"].values()]
    assert all(map(str.__contains__, texts(w, ".sk-tensors li"), strides))
    assert text(w, ".sk-idea") == flow.summary(steps)
    assert texts(w, ".sk-reasons li") == [why for step in steps for why in step["why"]]
    assert text(w, ".sk-place") == flow.place(s, followed)
    goes = flow.reached(s, followed)
    memories = {"qkv": "of qkv", "rotary": "after rotary", "attention": "of out", "merge": "of y"}
    for name, parts in flow.memories(s, followed[0]).items():
        boxes = grid(w, f"the memory {memories[name]}").locator(".sk-box")
        kinds = each(boxes, "className")
        for cell, kind in zip(flow.cells(parts), kinds, strict=True):
            is_out = cell[0] in ("out", "y")
            same = is_out and cell[1:] == followed[1:] and followed[0] == "q"
            lit = is_out and all(a <= i < b for i, (a, b) in zip(cell[1:], goes, strict=True))
            marks = " is-here" if same or cell == followed else " is-lit" * lit
            assert kind == f"sk-box sk-r{cell[2]}{marks}", (name, cell)


def cache_agrees(w, made):
    """All words and boxes; the newest token is framed."""
    s = made._state
    totals = growth.curves(s)
    for way, pane in zip(growth.WAYS, w.locator(".sk-way").all(), strict=True):
        assert texts(pane, ".sk-written li") == growth.now(s, way)
        assert text(pane, ".sk-total") == f"{totals[way][s['tokens']]:,} bytes so far"
        held, boxes = growth.boxes(s, way), grid(w, f"the memory of {way}").locator(".sk-box")
        assert texts(boxes, "xpath=.") == [growth.label(box) for box in held]
        says = ["sequence {}, head {}, token {}".format(*box) if box else "empty" for box in held]
        assert each(boxes, "ariaLabel") == says
        new = ["is-new" in kind for kind in each(boxes, "className")]
        assert new == [bool(box) and box[2] == s["tokens"] - 1 for box in held]
    assert text(w, ".sk-idea") == growth.whole(totals)


def copies_agree(w, made):
    """Each row of the run; the findings of the chosen one, and the ways to them."""
    run = made._run
    rows, chains = run["rows"], [run["chains"][k] for k in run["rows"][made.row]["chains"]]
    option = "[role=option]"
    for css, told in {
        "module": [row["module"] for row in rows],
        "source": [row["line"] + row["source"] for row in rows],
        "did": [row["did"] + "".join(map(str, row["about"])) for row in rows],
    }.items():
        assert each(w.locator(f"{option} .sk-{css}"), "textContent") == told
    first = {}
    for chain in chains:
        first.setdefault(chain["finding"], chain)
    shown = [*first.values()][:2]
    titles = [f"{chain['finding']}: {chain['title']}" for chain in shown]
    assert texts(w, ".sk-ways p:first-child") == titles
    steps = [step for chain in shown for step in chain["steps"]]
    marks = {"made by": "●", "given as": "●", "passed on by": "○"}
    assert texts(w, "dt") == [f"{marks.get(role, '◆')} {role}" for role, *_ in steps]
    where = [" ".join(filter(None, step[1:3])) for step in steps]
    assert texts(w, "dd code:first-child") == where
    assert texts(w, "dd .sk-layout") == [" ".join(step[3].split()) for step in steps]
    for k, mark in enumerate(each(w.locator(".sk-mark"), "textContent")):
        at = [(chain["rows"].index(k), len(chain["rows"])) for chain in shown if k in chain["rows"]]
        assert mark == "".join("◆" if i == n - 1 else "○" if i else "●" for i, n in at[:1])
    assert each(w.locator(option), "className").index("is-here") == made.row


def diagnosis_agrees(w, made):
    """What Python says of the same message."""
    found = diagnose(made.text) if made.text else None
    assert text(w, ".sk-title") == (found.title if found else "")
    lines = [(label, " ".join(said.split())) for label, said in found.lines] if found else []
    shown = [*zip(texts(w, "dt"), texts(w, "dd"), strict=True)]
    assert shown == lines or (not found and [label for label, _ in shown] == ["known"])


def predict_agrees(w, made):
    """No answer can be given once the right one is shown."""
    assert each(w.locator("fieldset"), "disabled") == [made.shown]


AGREES = {
    "StrideExplorer": strides_agree,
    "AliasExplorer": aliases_agree,
    "ReshapeStepper": reshapes_agree,
    "ChannelsLastExplorer": channels_agree,
    "FormatTracer": formats_agree,
    "TraversalExplorer": walks_agree,
    "Predict": predict_agrees,
    "Sort": sort_agrees,
    "AttentionExplorer": attention_agrees,
    "CacheExplorer": cache_agrees,
    "CopyTracer": copies_agree,
    "Diagnose": diagnosis_agrees,
}
