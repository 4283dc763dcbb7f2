"""Python, the browser and torch on the same cases: numbers, sentences, refusals and the states of widgets.

Each function draws one case and compares all that both sides compute of it; torch decides, or a model that
counts slowly. tests/test_live.py has Hypothesis draw, `make fuzz` draws many more.
"""

import re
from collections.abc import Callable
from itertools import product
from math import prod
from random import Random
from typing import Any

import torch

from stridekit import Layout, LayoutError, has_internal_overlap, output_layout, shares_memory
from stridekit.widgets import AliasExplorer, ReshapeStepper, StrideExplorer
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.goals import Goal, goals_json
from stridekit.widgets.notation import layout_json
from stridekit.widgets.stride_explorer.widget import words
from stridekit.widgets.traversal_explorer.widget import Counts, Walk, Warp
from tests import live_lines
from tests import steps as drawn
from tests.pipe import Refused, ask
from tests.walks import Visit, costs, sectors_of, visit_of

# Layouts ------------------------------------------------------------------------------------------------

STORAGE = torch.empty(5000)


def numbers(x: Layout) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    return x.shape, x.stride, x.storage_offset


def tried(run: Callable[..., Any], *given: Any) -> tuple[Any, str]:
    """The result of a function and "", or None and the words in which Python or torch refuses."""
    try:
        return run(*given), ""
    except (LayoutError, IndexError, RuntimeError) as error:
        return None, str(error)


def refusal(function: str, *given: Any) -> str:
    """The words in which the browser refuses; fails if it does not."""
    try:
        found = ask(function, *given)
    except Refused as error:
        return str(error)
    raise AssertionError(f"the browser has {found}")


def sums(r: Random) -> None:
    """Two operands, or one and a number: dense, cut, repeated; many sizes of 0 and 1; formats of images."""
    full = r.choices((0, 1, 1, 2, 2, 3), k=r.choice((0, 1, 2, 3, 4, 4)))
    one = strided(r, full)
    smaller = [r.choice((1, n, n, 2 * (r.random() < 0.05))) for n in full]
    other = r.choice((strided(r, full), strided(r, smaller[r.randint(0, len(full)) :]), one))
    operands = r.sample([one, r.choice((other, other, Layout((), itemsize=4)))], 2)
    given = [layout_json(x) for x in operands]
    tensors = [STORAGE.as_strided(x.shape, x.stride) for x in operands]
    y, why = tried(output_layout, *operands)
    theirs, refused = tried(torch.add, *tensors)
    assert bool(why) == bool(refused), operands
    if why:
        assert refusal("page/layout/elementwise", *given) == why
    else:
        assert ask("page/layout/elementwise", *given) == layout_json(y), operands
        assert (theirs.shape, theirs.stride()) == (y.shape, y.stride), operands


def strided(r: Random, shape: list[int]) -> Layout:
    """A shape and a stride: by rows, channels last or in any order, with gaps, repeated, overlapping."""
    order = r.choice([range(len(shape))[::-1], r.sample(range(len(shape)), len(shape))])
    if len(shape) == 4 and r.random() < 0.4:
        order = (1, 3, 2, 0)
    stride, step = [0] * len(shape), 1
    gaps, least = r.choice((0, 0, 0, 1)), r.choice((0, 1))
    for d in order:
        stride[d] = r.choice((step, step, step, step, 0, 1))
        step *= max(shape[d], least) + gaps
    return Layout(shape, stride, 0, 4)


# What the widgets say ----------------------------------------------------------------------------------


def explorer(r: Random) -> None:
    """A layout within its storage: elements and owners, verdicts, places, code, and where sliders stop."""
    shape = [
        r.choice((0, 1, 2, 3, 4, 5)) if r.random() < 0.9 else 9 for _ in range(r.randint(0, 4))
    ]
    if r.random() < 0.1:
        shape = r.choice(([250, 2, 2], [2, 250, 2], [2, 250], [40, 3, 2, 2], [3, 40, 1, 2]))
    stride = [r.choice((0, 1, 1, 2, 3, 5, 8, 20)) for _ in shape]
    x = Layout(shape, stride, r.choice((0, 0, 1, 7)), r.choice((1, 2, 4, 8, 16)))
    size = x.span.stop + r.choice((0, 1, 13, 200))
    tensor, given = torch.arange(size).as_strided(*numbers(x)), layout_json(x)

    elements, owners = ask("page/layout/reach", given).values()
    assert elements == tensor.flatten().tolist()
    reached: dict[int, list[int]] = {}
    for flat, element in enumerate(elements):
        reached.setdefault(element, []).append(flat)
    assert dict(owners) == reached
    verdicts(x, size, reached, tensor.is_contiguous())
    source = words.code("x", given)
    assert torch.equal(eval(source, {"x": torch.arange(size)}), tensor)
    if elements:
        index = tuple(r.randrange(n) for n in shape)
        element = tensor[index].item()
        line = element * x.itemsize // 64
        where = f"element {element} of the storage: byte {element * x.itemsize}, cache line {line}"
        name = f"t[{', '.join(map(str, index))}]" if index else "t"
        assert words.place(given, index, "t") == f"{name} is {where}"
        terms, _, total = words.formula(given, index).partition(" = ")
        assert eval(terms) == int(total) == element and terms.count("*") == x.ndim
    small = max(size - r.choice((0, 0, 1, 5)), 0)
    why = words.whyNotDrawn(given, small)
    _, refused = tried(torch.empty(small).as_strided, *numbers(x))
    assert bool(refused) == why.endswith(f"storage ends at {small - 1}") or "picture holds" in why
    assert ask("page/layout/whyNotCounted", given) == ""
    assert ask("page/layout/dimOrder", given) == [*x.dim_order()] == [*tensor.dim_order()]
    sliders = [*product(("size", "stride"), range(x.ndim)), ("storage_offset", 0)]
    slider_max = words.slidersFor(given, size)
    limits = [words.limit(given, size, slider_max, *slider, "t") for slider in sliders]
    for (what, dim), (most, why) in zip(sliders, limits, strict=True):
        assert 0 <= most <= slider_max[what]
        assert most == slider_max[what] or "the slider ends here" not in why
        stops(x, size, (what, dim), most, why)


def verdicts(x: Layout, size: int, reached: dict[int, list[int]], contiguous: bool) -> None:
    """Contiguity, holes, shared elements and reach, each with its reason."""
    elements = f"{len(reached)} element{'s' * (len(reached) != 1)}"
    holes = max(reached) - min(reached) + 1 - len(reached) if reached else 0
    gaps = f"{holes} hole{'s' * (holes != 1)} between the first and the last element"
    alone = len(reached) == x.numel
    shared = "no two indices share an element" if alone else f"{x.numel} indices share {elements}"
    of = f"{size} element{'s' * (size != 1)} ({len(reached) * x.itemsize} of {size * x.itemsize} bytes)"
    why = x.why_not_contiguous()
    assert words.verdicts(layout_json(x), size) == [
        [contiguous, "contiguous" if contiguous else f"not contiguous: {why}"],
        [not holes, gaps if holes else "no holes"],
        [alone, shared],
        [None, f"reaches {len(reached)} of {of}"],
    ], x


def stops(x: Layout, size: int, slider: tuple[str, int], most: int, why: str) -> None:
    """At its limit a slider is inside the storage; one step further torch refuses, for this reason."""
    what, dim = slider

    def moved(value: int) -> Layout:
        shape, stride, offset = [*x.shape], [*x.stride], x.storage_offset
        if what == "storage_offset":
            offset = value
        else:
            (shape if what == "size" else stride)[dim] = value
        return Layout(shape, stride, offset, x.itemsize)

    label = what if what == "storage_offset" else f"{what}[{dim}]"
    assert why.startswith(f"{label} stops at {most}: ")
    assert words.whyNotDrawn(layout_json(moved(most)), size) == "", (x, size, label)
    beyond = moved(most + 1)
    if "beyond it" in why:
        corner = ", ".join(str(n - (n > 0)) for n in beyond.shape)
        where = f"t[{corner}] would be element {beyond.span.stop - 1}"
        assert why.endswith(f"beyond it, {where}, and the storage ends at {size - 1}"), (x, why)
        _, refused = tried(torch.empty(size).as_strided, *numbers(beyond))
        assert "out of bounds" in refused, (x, size, why)
    elif "the slider ends here" not in why:
        (held,) = re.findall(r"the picture holds (\d+) \w+$", why)
        refused = words.whyNotDrawn(layout_json(beyond), 10**9)
        assert re.search(rf"the picture holds (4 and )?{held};", refused), why


def reshapes(r: Random) -> None:
    """A layout as another shape: every step, what follows, and the picture of each step."""
    shape = [r.choice((1, 2, 2, 3, 4, 6)) for _ in range(r.randint(0, 4))]
    grown = Layout([n * r.choice((1, 2)) for n in shape], itemsize=r.choice((1, 4)))
    x = grown[tuple(slice(n) for n in shape)] if shape else grown
    if r.random() < 0.3:
        x = x.permute(r.sample(range(x.ndim), x.ndim))
    if r.random() < 0.2:
        x = x.unsqueeze(r.randint(0, x.ndim)).expand(2, *[-1] * (x.ndim + 1))
    target = merge(r, merge(r, [n for n in x.shape for n in split(r, n)]))
    if r.random() < 0.05:
        x, target = Layout((2, 0, 4), itemsize=4), [0, 5]
    reshape(x, tuple(target))


def split(r: Random, n: int) -> list[int]:
    """A size as it is, or as two factors, or with a 1 beside it."""
    factors = [k for k in range(2, n) if n % k == 0]
    if factors and r.random() < 0.5:
        k = r.choice(factors)
        return [k, n // k]
    return [n, 1] if r.random() < 0.1 else [n]


def merge(r: Random, sizes: list[int]) -> list[int]:
    """Two neighbours multiplied, sometimes."""
    if len(sizes) < 2 or r.random() > 0.6:
        return sizes
    k = r.randrange(len(sizes) - 1)
    return [*sizes[:k], sizes[k] * sizes[k + 1], *sizes[k + 2 :]]


walk_of = Script("reshape_stepper/steps.js")
stepper = Script("reshape_stepper/steps.js")
MESSAGE = tried(torch.zeros(2, 3).t().view, 6)[1]


def reshape(x: Layout, target: tuple[int, ...]) -> None:
    """The walk of one view, beside torch's verdict, and the picture of each step."""
    given = layout_json(x)
    told = walk_of.stepsOf(given, target)
    runs = [step["run"] for step in told]
    assert_walk_is_torchs(x, target, told)
    assert_chunks_are_views(x, [step for step in told if step["part"] == "merge"])
    for k in range(len(told)):
        view = ask(
            "reshape_stepper/steps/viewOf", {**given, "target": target, "step": k, "flat": 0}
        )
        assert (len(view["dims"]), len(view["fresh"])) == (x.ndim, len(target))
        # At the end, why the walk stopped.
        shown = k - (k == len(told) - 1 and told[k - 1]["part"] == "stuck")
        step, (count, gap) = told[shown], runs[shown] or (0, 0)
        assert view["run"] == [x.storage_offset + n * gap for n in unique(count, gap)]
        if step["part"] == "cut" and step["new_dims"]:
            taken = unique(target[step["new_dims"][0]], step["stride"])
            assert view["taken"] == [x.storage_offset + n * step["stride"] for n in taken]
    if x.numel and not x.why_not_view(target):
        stride = x.view(target).stride
        assert [new["stride"] for new in view["fresh"]] == [[f"stride {n}", str(n)] for n in stride]


def typed(r: Random) -> None:
    """Numbers typed in each usual way, the x that they make, and the shapes to view it as."""
    ints = [r.choice((0, 1, 1, 2, 3, 4, 6, 12, 300, -1)) for _ in range(r.randint(0, 8))]
    line = r.choice((",", ", ", " ", "x", " × ", " * ")).join(map(str, ints))
    text = r.choice(("{}", " {} ", "({})", "[{}]", "({},)", "torch.Size([{}])")).format(line)
    assert ask(f"{FIELDS}/readInts", text) == ints, text
    shape = [*map(abs, ints)]
    x = strided(r, shape)
    given = layout_json(x)
    why = stepper.whyNotShown(given)
    fits = x.ndim <= 6 and x.numel <= 256 and len(x.span) <= 256
    assert fits == (why == "") and (fits or re.search("the picture holds (6|256)$", why)), x
    targets = stepper.targetsOf(shape)
    assert {*map(prod, targets)} == {x.numel} and ([x.numel] in targets or x.ndim > 4)
    assert {x.ndim - len(target) for target in targets} <= {1, x.ndim - 1}
    if -1 not in ints:
        rows = layout_json(Layout(shape, itemsize=4))
        why_not = stepper.whyNotShown(layout_json(Layout(shape)))
        read = ask(f"{FIELDS}/readShape", text, {"itemsize": 4})
        assert read == [None if why_not else rows, why_not]
        written = " ".join(map(str, x.stride))
        assert ask(f"{FIELDS}/readStride", written, given) == [None if why else given, why]


FIELDS = "reshape_stepper/fields"


def unique(count: int, step: int | None) -> range:
    """The numbers of the steps that lead to elements of their own: a step of 0 leads nowhere."""
    return range(count if step else min(count, 1))


def assert_walk_is_torchs(x: Layout, target: tuple[int, ...], told: list[dict[str, Any]]) -> None:
    """The walk ends as torch does: with the strides of the view, or at the dim that it refuses."""
    tensor = torch.empty_strided(x.shape, x.stride, dtype=torch.uint8)
    view, refused = tried(tensor.view, target)
    meant = [*map(tuple, walk_of.consequences(layout_json(x), target))] if x.numel else []
    sizes, copies = ", ".join(map(str, target)), f"copies all {x.numel} element"
    if refused:
        stuck, end = told[-2:]
        assert refused == MESSAGE and meant[0] == ("torch says", MESSAGE)
        assert end["says"] == f"There is no such view: {x.why_not_view(target)}."
        new, outer = stuck["new_dims"][0], stuck["dims"][0]
        assert stuck["part"] == "stuck" and f"the new dim {new} of size " in end["says"]
        assert f"dims {outer} and " in end["says"]
        assert meant[1] == ('"at least one dimension"', f"new dim {new}, of size {target[new]}")
        assert_subspaces(x, meant[2], outer)
        assert meant[3][0] == f".reshape({sizes})" and meant[3][1].startswith(copies)
        return
    assert not any(step["part"] == "stuck" for step in told)
    if x.numel:
        given = {step["new_dims"][0]: step["stride"] for step in told if step["new_dims"]}
        assert tuple(given[d] for d in range(len(target))) == view.stride()
        assert f"stride {view.stride()}" in told[-1]["says"]
        assert meant[0][0] == f".view({sizes})" and meant[1][1].startswith("the same view")
        assert meant[2][1].startswith(copies) != tensor.is_contiguous()


def assert_chunks_are_views(x: Layout, merging: list[dict[str, Any]]) -> None:
    """A dim joins the chunk to its right, of several elements, where torch views both as one dim."""
    last, count = x.ndim, 1
    tensor = torch.empty_strided(x.shape, x.stride, dtype=torch.uint8)
    for d, step in zip(reversed(range(x.ndim)), merging, strict=bool(x.numel)):
        joined = tensor.as_strided(x.shape[d : last + 1], x.stride[d : last + 1])
        begins = bool(re.search("starts a chunk|a new chunk begins", step["says"]))
        assert count == 1 or begins == bool(tried(joined.view, -1)[1]), x
        assert x.shape[d] > 1 or begins == (last == x.ndim), x
        last, count = (d, x.shape[d]) if begins else (last, count * x.shape[d])
        run = tensor.as_strided(x.shape[d : last + 1], x.stride[d : last + 1]).view(-1)
        assert step["run"][0] == len(run) == count
        assert count == 1 or step["run"][1] == run.stride(0), x


def assert_subspaces(x: Layout, meant: tuple[str, str], outer: int) -> None:
    """Two runs of dims, of which each can be viewed as one dim, and both together cannot."""
    phrase, said = meant
    found = re.findall(
        r"dims? (\d+)(?: to (\d+))? \((\d+) elements?(?: in steps of (\d+))?\)", said
    )
    assert phrase == '"spans across two contiguous subspaces"' and len(found) == 2
    (first, middle), (after, last) = [(int(a), int(b or a)) for a, b, *_ in found]
    assert (middle, after) == (outer, outer + 1)
    tensor = torch.empty_strided(x.shape, x.stride, dtype=torch.uint8)
    for (a, b), (*_, count, step) in zip([(first, middle), (after, last)], found, strict=True):
        run = tensor.as_strided(x.shape[a : b + 1], x.stride[a : b + 1]).view(-1)
        assert run.shape == (int(count),) and (not step or run.stride() == (int(step),))
    both = tensor.as_strided(x.shape[first : last + 1], x.stride[first : last + 1])
    assert tried(both.view, -1)[1] == MESSAGE


def walks(r: Random) -> None:
    """A walk through a cache, against torch and a model that looks back over all visits."""
    shape = [r.choice((1, 2, 3, 4, 5, 8)) for _ in range(r.choice((0, 1, 2, 2, 3, 3, 4)))]
    if r.random() < 0.05 and shape:
        shape[0] = 0
    itemsize = r.choice(costs.ITEMSIZES)
    x = Layout(shape, Layout(shape).stride, r.choice((0, 0, 3)), itemsize)
    if r.random() < 0.3:
        stride = [r.choice((0, 1, 1, 2, 5, 8)) for _ in shape]
        x = Layout(shape, stride, r.choice((0, 3)), itemsize)
    elif (
        r.random() < 0.2
    ):  # lines come again after others: what was used longest ago is not the oldest
        line = 64 // itemsize
        stride = [line, r.choice((3, 4, 5)) * line, line]
        wander = Layout((r.randint(3, 5), r.randint(2, 3), r.randint(2, 3)), stride, 0, itemsize)
        walk(wander, (0, 1, 2), 4, 0, r)
    elif x.ndim == 4 and r.random() < 0.4:
        x = Layout(*numbers(x.contiguous("channels_last")), itemsize)
    if x.ndim and r.random() < 0.6:
        x = x.permute(*r.sample(range(x.ndim), x.ndim))
    order = r.choice((tuple(r.sample(range(x.ndim), x.ndim)), x.dim_order()))
    walk(x, order, r.choice((1, 2, 4, 8)), r.choice((0, 0, *range(0, 64, itemsize))), r)


def walk(x: Layout, order: tuple[int, ...], cache_lines: int, alignment: int, r: Random) -> None:
    """One walk, counted slowly."""
    upto = r.randint(0, x.numel)
    way = Walk("t", x, order).json()
    found = costs.visitsOf(way, cache_lines, alignment)
    reach = torch.arange(5000).as_strided(*numbers(x))
    elements = reach.permute(order).flatten().tolist()
    lines = [[(alignment + e * x.itemsize + k) // 64 for k in range(x.itemsize)] for e in elements]
    assert all(len({*touched}) == 1 for touched in lines)  # aligned elements straddle nothing
    hits = [*slow_hits([line for line, *_ in lines], cache_lines)]
    visits = [*map(Visit, elements, (line for line, *_ in lines), hits)]
    assert [visit_of(**visit) for visit in found] == visits, (x, order)
    for end in (upto, x.numel):
        counted = Counts(**costs.countsOf(found, x.itemsize, end))
        assert counted == slow_counts(x.itemsize, elements, lines, hits, end), (x, order)
    for k in r.sample(range(len(visits)), min(len(visits), 5)):
        assert (visits[k].line in (found[k - 1]["cached"] if k else [])) == hits[k]
    if visits and upto:
        element, line, hit = visits[upto - 1]
        told = costs.visitSentence(way, found, upto)
        loads = sum(visit.line == line and not visit.hit for visit in visits[:upto])
        said = "a hit" if hit else "a miss, loaded" if loads == 1 else f"loaded {loads} times"
        assert told.startswith(f"visit {upto} of {len(visits)}: t") and told.endswith(said)
        assert f", element {element}, cache line {line}: " in told
        index = re.search(r"\[(.*)\]", told)
        assert reach[tuple(map(int, index[1].split(", "))) if index else ()] == element


def slow_hits(lines: list[int], cache_lines: int) -> Any:
    """A visit hits where fewer other lines than the cache holds came since the last visit to its line."""
    for k, line in enumerate(lines):
        before = [j for j in range(k) if lines[j] == line]
        yield bool(before) and len(set(lines[before[-1] + 1 : k])) < cache_lines


def slow_counts(
    size: int, elements: list[int], lines: list[list[int]], hits: list[bool], upto: int
) -> Counts:
    """Counted over bytes, not elements."""
    touched, misses = (
        [{line for row in rows for line in row} for rows in (lines[:upto], lines)],
        hits[:upto],
    )
    used = {e * size + k for e in elements[:upto] for k in range(size)}
    loads = misses.count(False)
    return Counts(upto, len(touched[0]), loads, len(touched[1]), len(used), 64 * loads)


def warps(r: Random) -> None:
    """Sectors from the bytes that each lane reads, of a tensor with that stride and offset."""
    warp = Warp(
        r.choice(costs.ITEMSIZES), r.choice((*range(33), 0, 1, 2)), r.choice((*range(32), 0, 0))
    )
    dtype = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}
    storage = torch.empty(2000, dtype=dtype[warp.itemsize])
    lanes = storage.as_strided((32,), (warp.stride,), warp.offset)
    starts = [lanes[t].data_ptr() - storage.data_ptr() for t in range(32)]
    touched = [{(byte + k) // 32 for k in range(warp.itemsize)} for byte in starts]
    used = {byte + k for byte in starts for k in range(warp.itemsize)}
    many = len(set().union(*touched))
    assert costs.laneBytes(warp._asdict()) == starts
    found = sectors_of(warp)
    assert touched == [{sector} for sector in found.pop("sectors")]
    assert found == {
        "touched": many, "minimum": -(-len(used) // 32), "bytesUsed": len(used), "bytesLoaded": 32 * many,
    }  # fmt: skip


# Facts, goals over them, and code that makes them ---------------------------------------------------------

Facts = dict[str, Any]


def checked(kind: type[Explorer], state: Facts, other: Facts) -> Facts:
    """The facts of a state, whose kinds are known; goals over those of two states tell them apart."""
    found, others = kind._facts(state), kind._facts(other)
    assert [*found] == [*kind.FACTS]
    assert all(type(value) in (kind.FACTS[name], type(None)) for name, value in found.items()), (
        found
    )
    known = {name: value for name, value in others.items() if value is not None}
    goals = goals_json(
        [Goal(name, **{name: value}) for name, value in known.items()], kind.FACTS, kind.__name__
    )
    held = {k for k, (name, value) in enumerate(known.items()) if found[name] == value}
    assert held == {*ask("page/goals/heldBy", found, goals)}
    return found


def explorer_facts(r: Random) -> None:
    """A layout with an index, perhaps at the end of a chain."""
    one, other = (_scene(r) for _ in range(2))
    found = checked(StrideExplorer, one, other)
    size = Layout(*(one[k] for k in ("shape", "stride", "storage_offset"))).span.stop
    x = torch.arange(size).as_strided(one["shape"], one["stride"], one["storage_offset"])
    assert found["contiguous"] == x.is_contiguous()
    if x.ndim == 4:
        assert found["channels_last"] == x.is_contiguous(memory_format=torch.channels_last)
    assert found["reached"] == x.unique().numel()
    assert found["holes"] == (x.max() - x.min() + 1 - found["reached"] if x.numel() else 0)
    assert found["overlaps"] == (found["reached"] < x.numel())
    if found["element"] is not None:
        assert found["element"] == x[tuple(one["index"])].item()
    if found["elements"] is not None:
        assert [*found["elements"]] == x.flatten().tolist()
    if x.ndim == 2:
        alike = len(x) > 1 and x.numel() > 0 and bool((x == x[0]).all())
        assert found["rows_alike"] == (alike and x.stride(0) == 0) == alike


def _scene(r: Random) -> Facts:
    x = Layout(*drawn.numbers(r), itemsize=r.choice((1, 4, 8)))
    index = None if 0 in x.shape else [r.randrange(n) for n in x.shape]
    chain = {"source": "x", "start": layout_json(x), "steps": r.choice([[".T"], [".T", ".T"]])}
    return layout_json(x) | {"index": index, "chain": r.choice([None, chain])}


FACT_LINES = """
y = x[1:, ::2]; z = x[:, 4:]; y = x; z = y; z = x.t().flatten(); y = x[:1].expand(3, -1); y += 100; x[0] = 7
z = y + 1; y[:] = 0; z = x[0].unfold(0, 3, 1); y = x.contiguous(); z.add_(1); x[::2] *= 2; y = x[:, ::2]
z = x[:, 1::2]; y = x[:2]; z = x[1:]; x[2:1] = 3; y = x.clone()
"""


def alias_facts(r: Random) -> None:
    """Some lines that torch takes."""
    states = []
    for _ in range(2):
        steps: list[str] = []
        for line in r.choices(re.split("; |\n", FACT_LINES.strip()), k=r.randint(0, 5)):
            try:
                AliasExplorer((4, 6), [*steps, line])
            except LayoutError:
                continue
            steps.append(line)
        states.append({"shape": [4, 6], "steps": steps})
    found = checked(AliasExplorer, states[0], states[1])
    w = AliasExplorer((4, 6), states[0]["steps"])
    names: dict[str, Any] = {"torch": torch}
    exec(w.code, names)
    x = {name: names[name] for name in "xyz" if name in names}
    assert w.facts == found and w.values == {name: t.tolist() for name, t in x.items()}
    assert len({t.untyped_storage().data_ptr() for t in x.values()}) == found["storages"]
    assert found["lines"] == len(w.steps)
    assert found["overlapping"] == tuple(name for name in x if has_internal_overlap(x[name]))


def reshape_facts(r: Random) -> None:
    """A layout, a new shape of as many elements, and a step of the walk."""
    states = []
    for _ in range(2):
        x = Layout([r.choice((1, 2, 3, 4)) for _ in range(r.randint(0, 3))], itemsize=4)
        x = x.permute(r.sample(range(x.ndim), x.ndim))
        sizes = [n for n in range(1, x.numel + 1) if x.numel % n == 0]
        first = r.choice(sizes)
        w = ReshapeStepper(x, r.choice([(first, -1), (x.numel,), (-1, 1, first)]))
        w.step = r.choice((0, -1))
        states.append(w._state)
    found = checked(ReshapeStepper, states[1], states[0])
    assert w.facts == found and found["finished"] == (w.step > 0)
    names: dict[str, Any] = {"torch": torch}
    exec(w.code, names)
    assert (names["x"].shape, names["x"].stride()) == (found["shape"], found["stride"])
    assert names["y"].shape == found["target"]
    assert found["viewable"] == shares_memory(names["x"].reshape(found["target"]), names["x"])
    if found["viewable"]:
        assert names["y"].stride() == found["new_stride"]
        assert names["y"][found["new_index"]] == names["x"][found["index"]] == found["element"]


_FAMILIES = (sums, explorer, reshapes, typed, walks, warps)
_FACTS = (explorer_facts, alias_facts, reshape_facts)
CASES: dict[str, Callable[[Random], None]] = {
    family.__name__: family for family in _FAMILIES + _FACTS
}
CASES |= live_lines.CASES
