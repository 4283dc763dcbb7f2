"""Python, the browser and torch on the same cases: numbers, sentences, refusals and the states of widgets.

Each function draws one case and compares all that both sides compute of it; torch decides, or a model that
counts slowly. tests/course/test_live.py has Hypothesis draw, `make fuzz` draws many more.
"""

import re
from collections.abc import Callable
from itertools import chain, product
from math import prod
from random import Random
from typing import Any

import torch

from stridekit import Layout, LayoutError, output_layout, shares_memory
from stridekit.widgets import ReshapeStepper, StrideExplorer
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.notation import layout_json
from stridekit.widgets.stride_explorer.widget import words
from stridekit.widgets.traversal_explorer.widget import Counts, Walk, costs
from tests.core import steps as drawn
from tests.course import live_lines

page = Script("page/layout.js")
STORAGE = torch.empty(5000)


def numbers(x: Layout) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    return x.shape, x.stride, x.storage_offset


def tried(run: Callable[..., Any], *given: Any) -> tuple[Any, str]:
    """The result of a function and "", or None and the words in which Python or torch refuses."""
    try:
        return run(*given), ""
    except (LayoutError, IndexError, RuntimeError) as error:
        return None, str(error)


def sums(r: Random) -> None:
    """Two operands, or one and a number, that mostly broadcast: dense, cut, repeated, in any order."""
    tensors = drawn.operands(r, 2)
    tensors[1] = r.choice((*[tensors[1]] * 4, tensors[0], torch.ones(())))
    operands = [Layout.of(x) for x in r.sample(tensors, 2)]
    given = [layout_json(x) for x in operands]
    y, why = tried(page.elementwise, *given)
    theirs, refused = tried(torch.add, *(STORAGE.as_strided(x.shape, x.stride) for x in operands))
    assert y == (None if refused else layout_json(Layout.of(theirs))), operands
    assert why == tried(output_layout, *operands)[1] and bool(why) == bool(refused), operands


def explorer(r: Random) -> None:
    """A layout within its storage: elements and owners, verdicts, places, code, and where sliders stop."""
    shape = [r.choice(range(6)) if r.random() < 0.9 else 9 for _ in range(r.randint(0, 4))]
    if r.random() < 0.1:
        shape = r.choice(([250, 2, 2], [2, 250, 2], [2, 250], [40, 3, 2, 2], [3, 40, 1, 2]))
    stride = [r.choice((0, 1, 1, 2, 3, 5, 8, 20)) for _ in shape]
    x = Layout(shape, stride, r.choice((0, 0, 1, 7)), r.choice((1, 2, 4, 8, 16)))
    size = x.span.stop + r.choice((0, 1, 13, 200))
    tensor, given = torch.arange(size).as_strided(*numbers(x)), layout_json(x)

    elements, owners = page.reach(given).values()
    assert elements == tensor.flatten().tolist()
    reached: dict[int, list[int]] = {}
    for flat, element in enumerate(elements):
        reached.setdefault(element, []).append(flat)
    assert dict(owners) == reached
    verdicts(x, size, reached, tensor.is_contiguous())
    index = tuple(r.randrange(n) for n in shape) if elements else None
    layout_facts(given | {"index": index, "chain": None}, tensor)
    source = words.code("x", given)
    assert torch.equal(eval(source, {"x": torch.arange(size)}), tensor)
    if elements:
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
    assert page.whyNotCounted(given) == ""
    assert page.dimOrder(given) == [*x.dim_order()] == [*tensor.dim_order()]
    sliders = [*product(("size", "stride"), range(x.ndim)), ("storage_offset", 0)]
    slider_max = words.slidersFor(given, size)
    limits = [words.limit(given, size, slider_max, *slider, "t") for slider in sliders]
    for (what, dim), (most, why) in zip(sliders, limits, strict=True):
        assert 0 <= most <= slider_max[what]
        assert most == slider_max[what] or "the slider ends here" not in why
        stops(x, size, (what, dim), most, why)


def facts(kind: type[Explorer], state: dict[str, Any]) -> dict[str, Any]:
    """The facts of a state, which are of the kinds that goals may ask for."""
    known = kind._facts(state)
    assert {name: type(value) for name, value in known.items() if value is not None}.items() <= (
        kind.FACTS.items()
    )
    return known


def layout_facts(state: dict[str, Any], x: torch.Tensor) -> None:
    """What goals may ask of a layout, beside torch's view of its storage."""
    known = facts(StrideExplorer, state)
    assert known["contiguous"] == x.is_contiguous()
    if x.ndim == 4:
        assert known["channels_last"] == x.is_contiguous(memory_format=torch.channels_last)
    assert known["reached"] == x.unique().numel()
    assert known["holes"] == (x.max() - x.min() + 1 - known["reached"] if x.numel() else 0)
    assert known["overlaps"] == (known["reached"] < x.numel())
    assert known["element"] == (None if state["index"] is None else x[state["index"]].item())
    assert known["elements"] == (tuple(x.flatten().tolist()) if x.numel() <= 64 else None)
    alone = known["reached"] == x.numel()
    assert known["dense"] == (alone and not known["holes"]) or not x.numel()
    if x.ndim == 2:
        alike = len(x) > 1 and x.numel() > 0 and bool((x == x[0]).all())
        assert known["rows_alike"] == (alike and x.stride(0) == 0) == alike


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
    target = [k for n in x.shape for k in torch.empty(n).view(drawn.new_shape(r, n, 0)).shape]
    for _ in range(r.choice((0, 1, 2))):  # two neighbours become one
        k = r.randint(0, len(target))
        target[k : k + 2] = [prod(target[k : k + 2])] * bool(target[k:])
    if r.random() < 0.05:
        x, target = Layout((2, 0, 4), itemsize=4), [0, 5]
    reshape(x, tuple(target))


stepper = Script("reshape_stepper/steps.js")
MESSAGE = tried(torch.zeros(2, 3).t().view, 6)[1]


def reshape(x: Layout, target: tuple[int, ...]) -> None:
    """The walk of one view, beside torch's verdict, and the picture of each step."""
    given = layout_json(x)
    told = stepper.stepsOf(given, target)
    runs = [step["run"] for step in told]
    assert_walk_is_torchs(x, target, told)
    assert_chunks_are_views(x, [step for step in told if step["part"] == "merge"])
    for k in range(len(told)):
        view = stepper.viewOf({**given, "target": target, "step": k, "flat": 0})
        assert (len(view["dims"]), len(view["fresh"])) == (x.ndim, len(target))
        # At the end, why the walk stopped.
        shown = k - (k == len(told) - 1 and told[k - 1]["part"] == "stuck")
        step, (count, gap) = told[shown], runs[shown] or (0, 0)
        assert view["run"] == [x.storage_offset + n * gap for n in unique(count, gap)]
        if step["part"] == "cut" and step["new_dims"]:
            taken = unique(target[step["new_dims"][0]], step["stride"])
            assert view["taken"] == [x.storage_offset + n * step["stride"] for n in taken]
    reshape_facts(x, target, given | {"target": target, "step": len(told) - 1})
    if x.numel and not x.why_not_view(target):
        stride = x.view(target).stride
        assert [new["stride"] for new in view["fresh"]] == [[f"stride {n}", str(n)] for n in stride]


def reshape_facts(x: Layout, target: tuple[int, ...], state: dict[str, Any]) -> None:
    """At the last step, with the last element selected: what goals may ask, beside the code and torch."""
    known = facts(ReshapeStepper, state | {"flat": max(x.numel - 1, 0)})
    names: dict[str, Any] = {"torch": torch}
    exec(stepper.code(state, []), names)
    old, new = names["x"], names["y"]
    assert (old.shape, old.stride(), new.shape) == (known["shape"], known["stride"], target)
    assert known["finished"] and known["target"] == target
    assert known["viewable"] == (shares_memory(old.reshape(target), old) or not x.numel)
    if known["viewable"] and x.numel:
        assert known["new_stride"] == new.stride()
        assert new[known["new_index"]] == old[known["index"]] == known["element"]


def unique(count: int, step: int | None) -> range:
    """The numbers of the steps that lead to elements of their own: a step of 0 leads nowhere."""
    return range(count if step else min(count, 1))


def assert_walk_is_torchs(x: Layout, target: tuple[int, ...], told: list[dict[str, Any]]) -> None:
    """The walk ends as torch does: with the strides of the view, or at the dim that it refuses."""
    tensor = torch.empty_strided(x.shape, x.stride, dtype=torch.uint8)
    view, refused = tried(tensor.view, target)
    meant = [*map(tuple, stepper.consequences(layout_json(x), target))] if x.numel else []
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
    found = re.findall(r"dims? (\d+)(?: to (\d+))? \((\d+) elements?(?: in steps of (\d+))?.", said)
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
    elif r.random() < 0.2:  # lines come again after others: the oldest one was used since
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
    firsts = [line for line, *_ in lines]
    hits = [*slow_hits(firsts, cache_lines)]
    visits = [*zip(elements, firsts, hits, strict=True)]
    assert [(v["element"], v["line"], v["hit"]) for v in found] == visits, (x, order)
    for end in (upto, x.numel):
        counted = Counts(**costs.countsOf(found, x.itemsize, end))
        assert counted == slow_counts(x.itemsize, elements, lines, hits, end), (x, order)
    for k in r.sample(range(len(visits)), min(len(visits), 5)):
        assert (firsts[k] in (found[k - 1]["cached"] if k else [])) == hits[k]
    if visits and upto:
        element, line, hit = visits[upto - 1]
        told = costs.visitSentence(way, found, upto)
        loads = sum(visit[1:] == (line, False) for visit in visits[:upto])
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


def slow_counts(size: int, elements: list[int], lines: Any, hits: list[bool], upto: int) -> Counts:
    """Counted over bytes, not elements."""
    touched, minimum = (len({*chain.from_iterable(rows)}) for rows in (lines[:upto], lines))
    used = {e * size + k for e in elements[:upto] for k in range(size)}
    loads = hits[:upto].count(False)
    return Counts(upto, touched, loads, minimum, len(used), 64 * loads)


_FAMILIES = (sums, explorer, reshapes, walks)
CASES: dict[str, Callable[[Random], None]] = {family.__name__: family for family in _FAMILIES}
CASES |= live_lines.CASES
