"""The texts that a widget on a page has to show for its state: its script's words, torch's numbers.

The function for a kind of widget returns the expected texts by CSS selector, or, for "selector @name", an
attribute or a property of each node. A function in place of the texts returns whether those seen fit.
"""

import torch

from stridekit import Layout, diagnose
from stridekit.widgets.engine import Script
from stridekit.widgets.format_tracer import network as net
from stridekit.widgets.notation import layout_json
from stridekit.widgets.sort.widget import BINS
from stridekit.widgets.stride_explorer.widget import words as strides
from stridekit.widgets.traversal_explorer.widget import costs

growth = Script("cache_explorer/growth.js")
flow = Script("attention_explorer/flow.js")
formats = Script("format_tracer/network.js")
channels = Script("channels_last_explorer/formats.js")
stepper = Script("reshape_stepper/steps.js")
SIGNS = {True: "✓", False: "✗", None: "·"}


def lines_of(verdicts):
    return [f"{SIGNS[is_good]} {text}" for is_good, text in verdicts]


def of_strides(widget):
    """The numbers in the grid are torch's of the code; verdicts, terms and their sum are the script's."""
    *verdicts, _ = lines_of(
        strides.verdicts(layout_json(widget.layout), 1)
    )  # the last counts bytes
    empty = ["There is no element: a size is 0."]

    def are_torchs(cells):
        if cells and widget._state["window"]:
            return widget._state["values"] or [*map(int, cells)] == places_in_window(widget)
        if not cells or not widget.code.startswith("torch."):
            return True
        return [*map(int, cells)] == eval(widget.code).flatten().int().tolist()

    def add_up(parts):
        if len(parts) < 2:
            return True
        *terms, total = parts
        return f"= {eval(' + '.join(terms).replace('·', '*'))}" == total

    return {
        ".sk-verdicts li": lambda seen: seen[:-1] in ([], verdicts),
        ".sk-cell": are_torchs,
        ".sk-sentence": lambda seen: (seen == empty) == (widget.index is None),
        ".sk-term span, .sk-total": add_up,
    }


def places_in_window(widget):
    """The places of the elements that torch has in the window, in the storage before any copy."""
    chain = widget._state["chain"]
    start = Layout(**chain["start"]) if chain else widget.layout
    places = torch.arange(widget.storage_size)
    x = places.as_strided(start.shape, start.stride, start.storage_offset)
    name = widget._name
    whole = eval(f"{name}{''.join(widget.chain)}", {name: x, "torch": torch})
    return eval(widget.window, {name: whole}).flatten().tolist()


def of_aliases(widget):
    """Each box has torch's value after the lines; the lines are in the log."""
    tensors = {}
    exec(widget.code, {"torch": torch}, tensors)

    def fits(x):
        values = [*map(str, x.flatten().tolist())]
        if x.ndim < 3:
            return values
        return lambda seen: (
            sorted(seen) == sorted(values)
        )  # the boxes of slices are in another order

    wanted = {".sk-log code": [*widget.steps]}
    for name, plain_name in zip(widget._state.get("names", "xyz"), "xyz", strict=True):
        if name in tensors:
            wanted[f".sk-card.is-{plain_name} .sk-box"] = fits(tensors[name])
    return wanted


def of_a_reshape(widget):
    """The sentence is that of the step; at its end, a refusal shows torch's words and the copy."""
    steps = stepper.stepsOf(layout_json(widget.layout), widget.target)
    step = steps[widget.step]
    wanted = {
        ".sk-sentence": [" ".join(step["says"].split())],
        ".sk-count": [f"step {widget.step} of {len(steps) - 1}"],
        ".sk-sentence @data-part": [step["part"]],
    }
    if step["part"] == "end":
        is_stuck = bool(widget.why)
        wanted[".sk-sentence @data-part"] = ["bad" if is_stuck else "good"]
        marks = ":is(.sk-dimbox.is-stuck, .sk-seam.is-crossed) @localName"
        wanted[marks] = lambda seen: len(seen) == (2 if is_stuck else 0)
        wanted[".sk-copy"] = lambda seen: bool(seen) == is_stuck
    return wanted


def of_channels(widget):
    """Sentences, flags, steps; on each tape the indices in the order of torch's memory."""
    shape = widget.shape
    index = widget.index
    highlight = widget.highlight
    layouts = channels.layouts(shape).values()
    steps = [channels.step(layout, index, highlight) for layout in layouts]
    wanted = {
        ".sk-idea": [channels.spread(shape, index, highlight)],
        ".sk-place": [channels.place(shape, index)],
        ".sk-apart": [channels.apart(step) for step in steps if channels.apart(step)],
        ".sk-verdicts li": lines_of(channels.verdicts(shape)),
        ".sk-badge": [*filter(None, [channels.badge(shape)])],
    }
    x = torch.arange(torch.tensor(shape).prod()).view(shape)
    for name, t in zip(channels.FORMATS, (x, x.to(memory_format=torch.channels_last)), strict=True):
        memory = t.as_strided((t.numel(),), (1,))
        indices = torch.stack(torch.unravel_index(memory, shape), 1).tolist()
        boxes = f"[aria-label*='{name}: the order of memory'] .sk-box @ariaLabel"
        wanted[boxes] = [f"x{i}: element {k}" for k, i in enumerate(indices)]
    return wanted


def of_formats(widget):
    """Below each layer that is on, the layouts that torch gives both inputs; below the others nothing."""

    def texts(row):
        name, _, details = row["label"].partition(", ")
        stride = str(tuple(row["stride"])) if row["stride"] else ""
        note = row["note"]
        if not row["label"] and not note:
            note = "nothing comes here"
        return [text for text in (name, stride, details, note) if text]

    wanted = {}
    layers = formats.trace(net.network(), net.INPUTS.index(widget.shape), widget.layers)
    for k, sides in enumerate(layers):
        for side in (0, 1):
            cell = f"tbody tr:nth-child({k + 2}) td:nth-of-type({side + 1}) > * @textContent"
            shown = texts(sides[side]) if sides else []
            wanted[cell] = lambda seen, shown=shown: [*filter(None, seen)] == shown
    return wanted


def of_walks(widget):
    """Counts, each line's loads and place in the cache; or those of the warp."""
    if widget.warp:
        return {
            ".sk-warp .sk-sentence": [costs.warpSentence(widget.warp._asdict())],
            ".sk-warp .sk-sector @localName": lambda seen: len(seen) == len({*widget.warp.sectors}),
        }
    wanted = {".sk-scrubber output": lambda seen: seen[0].startswith(f"{widget.visit} of ")}
    for k, walk in enumerate(widget.walks):
        pane = f".sk-panes > .sk-walk:nth-of-type({k + 1})"
        counts = widget.other_counts if k else widget.counts
        wanted[f"{pane} .sk-stats dd"] = [
            str(counts.visits),
            str(counts.misses),
            str(counts.lines),
            f"{counts.bytes_used} / {counts.bytes_loaded}",
        ]
        has_reloads = "true" if counts.misses > counts.lines else "-"
        wanted[f"{pane} .sk-stats > div @data-many"] = ["-", has_reloads, "-", "-"]
        visits = costs.visitsOf(walk.json(), widget.cache_lines, widget.alignment)[: widget.visit]
        parts = ":is(.sk-line-name, .sk-loads, .sk-held)"
        wanted[f"{pane} .sk-lines {parts} @textContent"] = lines_fit(visits)
    return wanted


def lines_fit(visits):
    """Return a function that says whether the names, loads and signs of cache lines fit the visits."""
    loaded = [visit["line"] for visit in visits if not visit["hit"]]
    cached = visits[-1]["cached"] if visits else []

    def sign(line):
        if line in cached:
            return "●"
        return "○" if line in loaded else ""

    def fit(texts):
        lines = [int(name.split()[1]) for name in texts[::3]]
        loads = [f"×{loaded.count(line)}" for line in lines]
        return texts[1::3] == loads and texts[2::3] == [sign(line) for line in lines]

    return fit


def of_a_game(widget):
    """The cards in the bins are those that were put there and belong there."""
    wanted = []
    for bin_name in BINS:
        for call, chosen in widget.moves:
            if chosen == bin_name == widget.answers[call]:
                wanted.append(call)
    return {".sk-bin li > code": wanted}


def of_attention(widget):
    """All words and boxes; the followed one and where it goes are marked."""
    state = widget._state
    followed = state["followed"]
    steps = flow.steps(state)
    arrows = []
    strides_shown = []
    reasons = []
    for step in steps:
        arrows += [flow.arrowText(arrow) for arrow in step["arrows"]]
        strides_shown += [str(tuple(x["stride"])) for x in step["tensors"].values()]
        reasons += step["why"]
    wanted = {
        ".sk-stephead strong": [step["name"] for step in steps],
        ".sk-arrows > span": arrows,
        ".sk-step > .sk-note": [step["note"] for step in steps if step["note"]],
        ".sk-tensors li": lambda seen: all(map(str.__contains__, seen, strides_shown)),
        ".sk-idea": [flow.summary(steps)],
        ".sk-reasons li": reasons,
        ".sk-place": [flow.place(state, followed)],
    }

    reached = flow.reached(state, followed)

    def classes(cell):
        is_output = cell[0] in ("out", "y")
        is_row_of_query = is_output and cell[1:] == followed[1:] and followed[0] == "q"
        if is_row_of_query or cell == followed:
            return f"sk-box sk-r{cell[2]} is-here"
        if is_output and all(a <= i < b for i, (a, b) in zip(cell[1:], reached, strict=True)):
            return f"sk-box sk-r{cell[2]} is-lit"
        return f"sk-box sk-r{cell[2]}"

    memories = {"qkv": "of qkv", "rotary": "after rotary", "attention": "of out", "merge": "of y"}
    for name, parts in flow.memories(state, followed[0]).items():
        boxes = f"[aria-label*='the memory {memories[name]}'] .sk-box @class"
        wanted[boxes] = [*map(classes, flow.cells(parts))]
    return wanted


def of_caches(widget):
    """All words and boxes; the newest token is framed."""
    state = widget._state
    totals = growth.curves(state)
    written = []
    for way in growth.WAYS:
        written += growth.stepOf(state, way)
    wanted = {
        ".sk-written li": written,
        ".sk-way .sk-total": [
            f"{totals[way][state['tokens']]:,} bytes so far" for way in growth.WAYS
        ],
        ".sk-idea": [growth.whole(totals)],
    }

    def place(box):
        if not box:
            return "empty"
        sequence, head, token = box
        return f"sequence {sequence}, head {head}, token {token}"

    newest = state["tokens"] - 1
    for way in growth.WAYS:
        boxes = growth.boxes(state, way)
        grid = f"[aria-label*='the memory of {way}'] .sk-box"
        wanted[f"{grid} @textContent"] = [growth.label(box) for box in boxes]
        wanted[f"{grid} @ariaLabel"] = [place(box) for box in boxes]
        new = [bool(box) and box[2] == newest for box in boxes]
        wanted[f"{grid} @class"] = lambda seen, new=new: ["is-new" in name for name in seen] == new
    return wanted


def of_copies(widget):
    """Each row of the run; the findings of the chosen one, and the ways to them."""
    run = widget._run
    rows = run["rows"]
    first_chains = {}
    for k in rows[widget.row]["chains"]:
        chain = run["chains"][k]
        first_chains.setdefault(chain["finding"], chain)
    chains = [*first_chains.values()][:2]
    steps = []
    for chain in chains:
        steps += chain["steps"]
    signs = {"made by": "●", "given as": "●", "passed on by": "○"}
    option = "[role=option]"
    return {
        f"{option} .sk-module @textContent": [row["module"] for row in rows],
        f"{option} .sk-source @textContent": [row["line"] + row["source"] for row in rows],
        f"{option} .sk-did @textContent": [
            row["did"] + "".join(map(str, row["about"])) for row in rows
        ],
        ".sk-ways p:first-child": [f"{chain['finding']}: {chain['title']}" for chain in chains],
        "dt": [f"{signs.get(role, '◆')} {role}" for role, *_ in steps],
        "dd code:first-child": [" ".join(filter(None, step[1:3])) for step in steps],
        "dd .sk-layout": [" ".join(step[3].split()) for step in steps if step[3]],
        ".sk-mark @textContent": [mark_of(row, chains) for row in range(len(rows))],
        f"{option} @class": lambda seen: seen.index("is-here") == widget.row,
    }


def mark_of(row, chains):
    """Return the sign of a row by its place in the first chain that has it: first, between, or last."""
    for chain in chains:
        if row in chain["rows"]:
            place = chain["rows"].index(row)
            if place == len(chain["rows"]) - 1:
                return "◆"
            return "○" if place else "●"
    return ""


MOST_CHARACTERS = 20_000  # of a message in the box


def of_a_message(widget):
    """The words of Python's diagnosis of the same message."""
    if not widget.text:
        return {".sk-title": [], "dt": lambda seen: seen in ([], ["known"])}
    diagnosis = diagnose(widget.text)
    labels = [label for label, _ in diagnosis.lines]
    texts = [" ".join(text.split()) for _, text in diagnosis.lines]
    if len(widget.text) == MOST_CHARACTERS:  # the page knows how long the text was before
        return {
            ".sk-title": [diagnosis.title],
            "dt": [*labels, "read"],
            "dd": lambda seen: seen[:-1] == texts and " of 50,001 characters" in seen[-1],
        }
    return {".sk-title": [diagnosis.title], "dt": labels, "dd": texts}


def of_a_drill(widget):
    """The choices of the question, of which none can be taken once one is."""
    is_over = widget._state["said"] is not None
    return {
        ".sk-option > span:nth-of-type(1)": [text.replace("`", "") for text in widget.choices],
        ".sk-option @aria-disabled": [str(is_over).lower()] * 4,
        ".sk-count": lambda seen: f"streak {widget.streak}," in seen[0],
    }


def of_a_question(widget):
    """No answer can be given once the right one is shown."""
    return {"fieldset @disabled": [str(widget.shown).lower()]}


SHOWN = {
    "StrideExplorer": of_strides,
    "AliasExplorer": of_aliases,
    "ReshapeStepper": of_a_reshape,
    "ChannelsLastExplorer": of_channels,
    "FormatTracer": of_formats,
    "TraversalExplorer": of_walks,
    "Predict": of_a_question,
    "Sort": of_a_game,
    "Drill": of_a_drill,
    "AttentionExplorer": of_attention,
    "CacheExplorer": of_caches,
    "CopyTracer": of_copies,
    "Diagnose": of_a_message,
}


def shown_by(widget):
    """Return the texts that the page of a widget has to show, by selector."""
    return SHOWN[type(widget).__name__](widget)
