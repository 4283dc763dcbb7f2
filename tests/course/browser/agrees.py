"""What a widget on a page shows of its state, for each kind: its script's words, torch's numbers.

A function for each kind returns what stands where: under a CSS selector the texts that are seen there,
or, under "selector @name", an attribute or a property of each node. A function in their place says
whether they fit.
"""

import torch

from stridekit import diagnose
from stridekit.widgets.engine import Script
from stridekit.widgets.format_tracer import network as net
from stridekit.widgets.notation import layout_json
from stridekit.widgets.sort.widget import BINS
from stridekit.widgets.stride_explorer.widget import words as strides
from stridekit.widgets.traversal_explorer.widget import costs

growth, flow = Script("cache_explorer/growth.js"), Script("attention_explorer/flow.js")
formats = Script("format_tracer/network.js")
channels, walk_of = Script("channels_last_explorer/formats.js"), Script("reshape_stepper/steps.js")
SIGNS = {True: "✓", False: "✗", None: "·"}


def said_by(verdicts):
    return [f"{SIGNS[good]} {said}" for good, said in verdicts]


def of_strides(made):
    """The numbers in the grid are torch's of the code; verdicts, terms and their sum are the script's."""
    told = said_by(strides.verdicts(layout_json(made.layout), 1))[:-1]  # the last is of the storage

    def numbers(cells):
        if not cells or not made.code.startswith("torch."):
            return True
        return [*map(int, cells)] == eval(made.code).flatten().int().tolist()

    def sums(parts):
        *terms, total = parts
        return not terms or f"= {eval(' + '.join(terms).replace('·', '*'))}" == total

    empty = ["There is no element: a size is 0."]
    return {
        ".sk-verdicts li": lambda seen: seen[:-1] in ([], told),
        ".sk-cell": numbers,
        ".sk-sentence": lambda seen: (seen == empty) == (made.index is None),
        ".sk-term span, .sk-total": lambda seen: not seen or sums(seen),
    }


def of_aliases(made):
    """Each box has torch's value after the lines; the lines are in the log."""
    names = {}
    exec(made.code, names | {"torch": torch}, names)
    wanted = {".sk-log code": [*made.steps]}
    for name, card in zip(made._state.get("names", "xyz"), "xyz", strict=True):
        if (x := names.get(name)) is not None:
            values = [*map(str, x.flatten().tolist())]
            wanted[f".sk-card.is-{card} .sk-box"] = lambda seen, values=values, x=x: (
                seen == values if x.ndim < 3 else sorted(seen) == sorted(values)
            )
    return wanted


def of_a_reshape(made):
    """The sentence is that of the step; at its end, a refusal shows torch's words and the copy."""
    told, stuck = walk_of.stepsOf(layout_json(made.layout), made.target), bool(made.why)
    step = told[made.step]
    is_end = step["part"] == "end"
    wanted = {
        ".sk-sentence": [" ".join(step["says"].split())],
        ".sk-count": [f"step {made.step} of {len(told) - 1}"],
        ".sk-sentence @data-part": [("bad" if stuck else "good") if is_end else step["part"]],
    }
    if is_end:
        marks = ".sk-dimbox.is-stuck, .sk-seam.is-crossed"
        wanted[f":is({marks}) @localName"] = lambda seen: len(seen) == 2 * stuck
        wanted[".sk-copy"] = lambda seen: bool(seen) == stuck
    return wanted


def of_channels(made):
    """Sentences, flags, steps; on each tape the indices in the order of torch's memory."""
    shape, index, highlight = made.shape, made.index, made.highlight
    steps = [channels.step(at, index, highlight) for at in channels.layouts(shape).values()]
    wanted = {
        ".sk-idea": [channels.spread(shape, index, highlight)],
        ".sk-place": [channels.place(shape, index)],
        ".sk-apart": [channels.apart(step) for step in steps if channels.apart(step)],
        ".sk-verdicts li": said_by(channels.verdicts(shape)),
        ".sk-badge": [*filter(None, [channels.badge(shape)])],
    }
    x = torch.arange(torch.tensor(shape).prod()).view(shape)
    for name, t in zip(channels.FORMATS, (x, x.to(memory_format=torch.channels_last)), strict=True):
        memory = t.as_strided((t.numel(),), (1,))
        at = torch.stack(torch.unravel_index(memory, shape), 1).tolist()
        boxes = f"[aria-label*='{name}: the order of memory'] .sk-box @ariaLabel"
        wanted[boxes] = [f"x{i}: element {k}" for k, i in enumerate(at)]
    return wanted


def of_formats(made):
    """Below each layer that is on, what torch makes of both inputs; below the others nothing."""

    def parts(row):
        said = row["note"] if row["label"] or row["note"] else "nothing comes here"
        stride = [str(tuple(row["stride"]))] if row["stride"] else []
        name, _, taken = row["label"].partition(", ")
        return [part for part in (name, *stride, taken, said) if part]

    passed = formats.trace(net.network(), net.INPUTS.index(made.shape), made.layers)
    wanted = {}
    for k, sides in enumerate(passed):
        for side in (0, 1):
            cell = f"tbody tr:nth-child({k + 2}) td:nth-of-type({side + 1}) > * @textContent"
            shown = parts(sides[side]) if sides else []
            wanted[cell] = lambda seen, shown=shown: [*filter(None, seen)] == shown
    return wanted


def of_walks(made):
    """Counts, each line's loads and place in the cache; or those of the warp."""
    if made.warp:
        return {
            ".sk-warp .sk-sentence": [costs.warpSentence(made.warp._asdict())],
            ".sk-warp .sk-sector @localName": lambda seen: len(seen) == len({*made.warp.sectors}),
        }
    wanted = {".sk-scrubber output": lambda seen: seen[0].startswith(f"{made.visit} of ")}
    for k, walk in enumerate(made.walks):
        pane = f".sk-panes > .sk-walk:nth-of-type({k + 1})"
        count = made.other_counts if k else made.counts
        stats = [count.visits, count.misses, count.lines]
        used = f"{count.bytes_used} / {count.bytes_loaded}"
        wanted[f"{pane} .sk-stats dd"] = [*map(str, stats), used]
        many = "true" if count.misses > count.lines else "-"
        wanted[f"{pane} .sk-stats > div @data-many"] = ["-", many, "-", "-"]
        visits = costs.visitsOf(walk.json(), made.cache_lines, made.alignment)[: made.visit]
        loaded = [visit["line"] for visit in visits if not visit["hit"]]
        held = visits[-1]["cached"] if visits else []

        def places(texts, held=held, loaded=loaded):
            lines = [int(name.split()[1]) for name in texts[::3]]
            signs = ["●" if line in held else "○" if line in loaded else "" for line in lines]
            counts = [f"×{loaded.count(line)}" for line in lines]
            return (texts[1::3], texts[2::3]) == (counts, signs)

        parts = ", ".join(f".sk-{part}" for part in ("line-name", "loads", "held"))
        wanted[f"{pane} .sk-lines :is({parts}) @textContent"] = places
    return wanted


def of_a_game(made):
    """The cards in the bins are those that were put there and belong there."""
    put = [move for move in made.moves if made.answers[move[0]] == move[1]]
    return {".sk-bin li > code": [call for name in BINS for call, to in put if to == name]}


def of_attention(made):
    """All words and boxes; the followed one and where it goes are marked."""
    s, followed = made._state, made._state["followed"]
    steps, goes = flow.steps(s), flow.reached(s, followed)
    arrows = [flow.arrowText(arrow) for step in steps for arrow in step["arrows"]]
    strides = [str(tuple(x["stride"])) for step in steps for x in step["tensors"].values()]
    wanted = {
        ".sk-stephead strong": [step["name"] for step in steps],
        ".sk-arrows > span": arrows,
        ".sk-step > .sk-note": [step["note"] for step in steps if step["note"]],
        ".sk-tensors li": lambda seen: all(map(str.__contains__, seen, strides)),
        ".sk-idea": [flow.summary(steps)],
        ".sk-reasons li": [why for step in steps for why in step["why"]],
        ".sk-place": [flow.place(s, followed)],
    }

    def marked(cell):
        is_out = cell[0] in ("out", "y")
        same = is_out and cell[1:] == followed[1:] and followed[0] == "q"
        if same or cell == followed:
            return f"sk-box sk-r{cell[2]} is-here"
        lit = is_out and all(a <= i < b for i, (a, b) in zip(cell[1:], goes, strict=True))
        return f"sk-box sk-r{cell[2]}" + (" is-lit" if lit else "")

    memories = {"qkv": "of qkv", "rotary": "after rotary", "attention": "of out", "merge": "of y"}
    for name, parts in flow.memories(s, followed[0]).items():
        boxes = f"[aria-label*='the memory {memories[name]}'] .sk-box @class"
        wanted[boxes] = [*map(marked, flow.cells(parts))]
    return wanted


def of_caches(made):
    """All words and boxes; the newest token is framed."""
    s = made._state
    totals = growth.curves(s)
    wanted = {
        ".sk-written li": [said for way in growth.WAYS for said in growth.stepOf(s, way)],
        ".sk-way .sk-total": [f"{totals[way][s['tokens']]:,} bytes so far" for way in growth.WAYS],
        ".sk-idea": [growth.whole(totals)],
    }
    for way in growth.WAYS:
        held, grid = growth.boxes(s, way), f"[aria-label*='the memory of {way}'] .sk-box"
        wanted[f"{grid} @textContent"] = [growth.label(box) for box in held]
        says = ["sequence {}, head {}, token {}".format(*box) if box else "empty" for box in held]
        wanted[f"{grid} @ariaLabel"] = says
        new = [bool(box) and box[2] == s["tokens"] - 1 for box in held]
        wanted[f"{grid} @class"] = lambda seen, new=new: ["is-new" in name for name in seen] == new
    return wanted


def of_copies(made):
    """Each row of the run; the findings of the chosen one, and the ways to them."""
    run = made._run
    rows, chains = run["rows"], [run["chains"][k] for k in run["rows"][made.row]["chains"]]
    first = {}
    for chain in chains:
        first.setdefault(chain["finding"], chain)
    shown = [*first.values()][:2]
    steps = [step for chain in shown for step in chain["steps"]]
    signs = {"made by": "●", "given as": "●", "passed on by": "○"}
    marks = []
    for k in range(len(rows)):
        at = [(chain["rows"].index(k), len(chain["rows"])) for chain in shown if k in chain["rows"]]
        marks.append("".join("◆" if i == n - 1 else "○" if i else "●" for i, n in at[:1]))
    option = "[role=option]"
    return {
        f"{option} .sk-module @textContent": [row["module"] for row in rows],
        f"{option} .sk-source @textContent": [row["line"] + row["source"] for row in rows],
        f"{option} .sk-did @textContent": [
            "".join([r["did"], *map(str, r["about"])]) for r in rows
        ],
        ".sk-ways p:first-child": [f"{chain['finding']}: {chain['title']}" for chain in shown],
        "dt": [f"{signs.get(role, '◆')} {role}" for role, *_ in steps],
        "dd code:first-child": [" ".join(filter(None, step[1:3])) for step in steps],
        "dd .sk-layout": [" ".join(step[3].split()) for step in steps if step[3]],
        ".sk-mark @textContent": marks,
        f"{option} @class": lambda seen: seen.index("is-here") == made.row,
    }


def of_a_message(made):
    """What Python says of the same message."""
    meaning = diagnose(made.text) if made.text else None
    lines = meaning.lines if meaning else []
    return {
        ".sk-title": [meaning.title] if meaning else [],
        "dt": [label for label, _ in lines] if meaning else lambda seen: seen in ([], ["known"]),
        "dd": [" ".join(said.split()) for _, said in lines] if meaning else lambda seen: True,
    }


def of_a_question(made):
    """No answer can be given once the right one is shown."""
    return {"fieldset @disabled": [str(made.shown).lower()]}


SHOWN = {
    "StrideExplorer": of_strides,
    "AliasExplorer": of_aliases,
    "ReshapeStepper": of_a_reshape,
    "ChannelsLastExplorer": of_channels,
    "FormatTracer": of_formats,
    "TraversalExplorer": of_walks,
    "Predict": of_a_question,
    "Sort": of_a_game,
    "AttentionExplorer": of_attention,
    "CacheExplorer": of_caches,
    "CopyTracer": of_copies,
    "Diagnose": of_a_message,
}


def shown_by(made):
    """What should stand where for a widget in Python."""
    return SHOWN[type(made).__name__](made)
