"""Python, the browser and torch on the same cases: numbers, sentences, refusals and the states of widgets.

Each function draws one case and compares all that both sides compute of it; torch decides, or a model that
counts slowly. tests/course/test_live.py has Hypothesis draw, `make fuzz` draws many more.
"""

import re
from collections.abc import Callable
from itertools import product
from math import prod
from random import Random
from typing import Any

import torch

from stridekit import Layout, LayoutError, output_layout, shares_memory
from stridekit._arguments import many
from stridekit.memory.memset import MemorySet
from stridekit.widgets import ReshapeStepper, StrideExplorer
from stridekit.widgets.engine import Script
from stridekit.widgets.explorer import Explorer
from stridekit.widgets.notation import layout_json
from stridekit.widgets.stride_explorer.widget import words
from stridekit.widgets.traversal_explorer.widget import Counts, Walk, costs
from tests.core import steps as drawn
from tests.course import live_lines

page = Script("page/layout.js")
grammar = Script("page/grammar.js")
stepper = Script("reshape_stepper/steps.js")
STORAGE = torch.empty(5000)


def numbers(x: Layout) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    return x.shape, x.stride, x.storage_offset


def result_or_refusal(run: Callable[..., Any], *args: Any, **named: Any) -> tuple[Any, str]:
    """Return the result of a function and "", or None and the message of torch's or Python's error."""
    try:
        return run(*args, **named), ""
    except (LayoutError, IndexError, RuntimeError) as error:
        return None, str(error)


def refusal(run: Callable[..., Any], *args: Any) -> str:
    return result_or_refusal(run, *args)[1]


# Elementwise operations ------------------------------------------------------------------------------


def sums(r: Random) -> None:
    """Two operands, or one and a number, that mostly broadcast: dense, cut, repeated, in any order."""
    tensors = drawn.operands(r, 2)
    tensors[1] = r.choice((*[tensors[1]] * 4, tensors[0], torch.ones(())))
    operands = [Layout.of(x) for x in r.sample(tensors, 2)]
    result, why = result_or_refusal(page.elementwise, *map(layout_json, operands))
    views = [STORAGE.as_strided(x.shape, x.stride) for x in operands]
    torchs, torchs_why = result_or_refusal(torch.add, *views)
    assert result == (None if torchs_why else layout_json(Layout.of(torchs))), operands
    assert why == refusal(output_layout, *operands), operands
    assert bool(why) == bool(torchs_why), operands


# Operations ------------------------------------------------------------------------------------------

OPERATIONS = ["__getitem__", *[name for name in drawn.ARGUMENTS if name in grammar.SIGNATURES]]
# The first of no pieces: Python refuses the index of its tuple, and the page has words of its own.
NO_PIECES = "is out of range for 0 pieces"


def operations(r: Random) -> None:
    """Each operation: the page comes to Python's layout, or refuses it in the same words."""
    for name in OPERATIONS:
        assert_operation_is_pythons(r, name)


def assert_operation_is_pythons(r: Random, name: str) -> None:
    x = Layout.of(drawn.tensor(r))
    text = drawn.source(name, drawn.ARGUMENTS[name](r, x))
    if name in grammar.PIECES:
        text += "[0]"
    result, why = result_or_refusal(grammar.after, layout_json(x), text)
    if NO_PIECES in why:
        return
    expected, pythons_why = result_or_refusal(eval, f"x{text}", {"x": x})
    assert why == pythons_why, (x, text)
    assert result == (None if why else layout_json(expected)), (x, text)


FORMATS = {
    "contiguous_format": torch.contiguous_format,
    "channels_last": torch.channels_last,
    "channels_last_3d": torch.channels_last_3d,
    "preserve_format": torch.preserve_format,
}


def formats(r: Random) -> None:
    """contiguous, to and clone in each memory format: torch copies where the page does, or both refuse."""
    for name, format_name in product(("contiguous", "to", "clone"), FORMATS):
        memory = drawn.memory(torch.float32)
        x = memory.as_strided(*drawn.numbers(r, min_ndim=r.choice((0, 3, 4))))
        step = {"name": name, "args": [format_name]}
        outcome, why = result_or_refusal(page.apply, layout_json(Layout.of(x)), step)
        arguments = {"memory_format": FORMATS[format_name]}
        y, torchs_why = result_or_refusal(getattr(x, name), **arguments)
        assert bool(why) == bool(torchs_why), (x.shape, x.stride(), step)
        if y is not None:
            is_copy = y.untyped_storage().data_ptr() != memory.untyped_storage().data_ptr()
            assert outcome["copied"] == is_copy, (x.shape, x.stride(), step)
            assert outcome["layout"] == layout_json(Layout.of(y)), (x.shape, x.stride(), step)
            assert outcome["read"] == layout_json(Layout.of(x))


# The stride explorer ---------------------------------------------------------------------------------


def explorer(r: Random) -> None:
    """A layout within its storage: elements and owners, verdicts, places, code, and where sliders stop."""
    shape = [r.choice(range(6)) if r.random() < 0.9 else 9 for _ in range(r.randint(0, 4))]
    if r.random() < 0.1:
        shape = r.choice(([250, 2, 2], [2, 250, 2], [2, 250], [40, 3, 2, 2], [3, 40, 1, 2]))
    stride = [r.choice((0, 1, 1, 2, 3, 5, 8, 20)) for _ in shape]
    x = Layout(shape, stride, r.choice((0, 0, 1, 7)), r.choice((1, 2, 4, 8, 16)))
    size = x.span.stop + r.choice((0, 1, 13, 200))
    storage = torch.arange(size)
    tensor = storage.as_strided(*numbers(x))
    layout = layout_json(x)

    reached = assert_reach_is_torchs(layout, tensor)
    assert_verdicts(x, size, reached, tensor.is_contiguous())
    index = tuple(r.randrange(n) for n in shape) if tensor.numel() else None
    assert_layout_facts(layout | {"index": index, "chain": None}, tensor)
    assert torch.equal(eval(words.code("x", layout), {"x": storage}), tensor)
    if index is not None:
        assert_place(x, index, tensor[index].item())

    smaller = max(size - r.choice((0, 0, 1, 5)), 0)
    why = words.whyNotDrawn(layout, smaller)
    is_outside = bool(refusal(torch.empty(smaller).as_strided, *numbers(x)))
    assert is_outside == why.endswith(f"storage ends at {smaller - 1}")
    assert page.whyNotCounted(layout) == ""
    assert page.dimOrder(layout) == [*x.dim_order()] == [*tensor.dim_order()]
    assert_sliders_stop(x, size)


def assert_reach_is_torchs(layout: dict[str, Any], x: torch.Tensor) -> dict[int, list[int]]:
    """Return the positions, in row-major order, of the indices that reach each element."""
    elements, owners = page.reach(layout).values()
    assert elements == x.flatten().tolist()
    reached: dict[int, list[int]] = {}
    for position, element in enumerate(elements):
        reached.setdefault(element, []).append(position)
    assert dict(owners) == reached
    return reached


def assert_verdicts(
    x: Layout, size: int, reached: dict[int, list[int]], is_contiguous: bool
) -> None:
    """Contiguity, holes, shared elements and reach have their verdicts, each with its reason."""
    contiguity = "contiguous"
    if not is_contiguous:
        contiguity = f"not contiguous: {x.why_not_contiguous()}"
    hole_count = 0
    if reached:
        hole_count = max(reached) - min(reached) + 1 - len(reached)
    holes = "no holes"
    if hole_count:
        holes = f"{many(hole_count, 'hole', ',')} between the first and the last element"
    elements = many(len(reached), "element", ",")
    is_injective = len(reached) == x.numel
    sharing = "no two indices share an element"
    if not is_injective:
        sharing = f"{x.numel:,} indices share {elements}"
    in_bytes = f"{len(reached) * x.itemsize:,} of {size * x.itemsize:,} bytes"
    assert words.verdicts(layout_json(x), size) == [
        [is_contiguous, contiguity],
        [not hole_count, holes],
        [is_injective, sharing],
        [None, f"reaches {len(reached):,} of {many(size, 'element', ',')} ({in_bytes})"],
    ], x


def facts_of(kind: type[Explorer], state: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a state, which have the types that goals may ask for."""
    facts = kind._facts(state)
    types = {name: type(value) for name, value in facts.items() if value is not None}
    assert types.items() <= kind.FACTS.items()
    return facts


def assert_layout_facts(state: dict[str, Any], x: torch.Tensor) -> None:
    """Goals may ask facts about a layout; torch's view of its storage confirms them."""
    facts = facts_of(StrideExplorer, state)
    reached = x.unique().numel()
    holes = int(x.max() - x.min()) + 1 - reached if x.numel() else 0
    assert facts["contiguous"] == x.is_contiguous()
    if x.ndim == 4:
        assert facts["channels_last"] == x.is_contiguous(memory_format=torch.channels_last)
    assert facts["reached"] == reached
    assert facts["holes"] == holes
    assert facts["overlaps"] == (reached < x.numel())
    assert facts["dense"] == (reached == x.numel() and not holes) or not x.numel()
    assert facts["element"] == (None if state["index"] is None else x[state["index"]].item())
    assert facts["elements"] == (tuple(x.flatten().tolist()) if x.numel() <= 64 else None)
    if x.ndim == 2:
        are_rows_equal = len(x) > 1 and x.numel() > 0 and bool((x == x[0]).all())
        assert facts["rows_alike"] == are_rows_equal
        assert are_rows_equal == (are_rows_equal and x.stride(0) == 0)


def assert_place(x: Layout, index: tuple[int, ...], element: int) -> None:
    """A sentence tells the place of an element, and a formula adds up to its number."""
    layout = layout_json(x)
    byte = element * x.itemsize
    name = f"t[{', '.join(map(str, index))}]" if index else "t"
    assert words.place(layout, index, "t") == (
        f"{name} is element {element} of the storage: byte {byte}, cache line {byte // 64}"
    )
    terms, _, total = words.formula(layout, index).partition(" = ")
    assert eval(terms) == int(total) == element and terms.count("*") == x.ndim


def assert_sliders_stop(x: Layout, size: int) -> None:
    """Each slider ends at its maximum, or sooner at the end of the storage."""
    layout = layout_json(x)
    slider_max = words.slidersFor(layout, size)
    for slider, dim in (*product(("size", "stride"), range(x.ndim)), ("storage_offset", 0)):
        most, why = words.limit(layout, size, slider_max, slider, dim, "t")
        assert 0 <= most <= slider_max[slider]
        assert most == slider_max[slider] or "the slider ends here" not in why
        assert_stop(x, size, slider, dim, most, why)


def with_number(x: Layout, slider: str, dim: int, value: int) -> Layout:
    """Return a layout with one other number, as after a slider has moved."""
    shape = [*x.shape]
    stride = [*x.stride]
    offset = x.storage_offset
    if slider == "size":
        shape[dim] = value
    elif slider == "stride":
        stride[dim] = value
    else:
        offset = value
    return Layout(shape, stride, offset, x.itemsize)


def assert_stop(x: Layout, size: int, slider: str, dim: int, most: int, why: str) -> None:
    """At its limit a slider is inside the storage; one step further torch refuses, for this reason."""
    label = slider if slider == "storage_offset" else f"{slider}[{dim}]"
    assert why.startswith(f"{label} stops at {most}: ")
    at_the_limit = with_number(x, slider, dim, most)
    assert words.whyNotDrawn(layout_json(at_the_limit), size) == "", (x, size, label)
    beyond = with_number(x, slider, dim, most + 1)
    if "beyond it" in why:
        corner = ", ".join(str(n - (n > 0)) for n in beyond.shape)
        place = f"t[{corner}] would be element {beyond.span.stop - 1}"
        assert why.endswith(f"beyond it, {place}, and the storage ends at {size - 1}"), (x, why)
        torchs = refusal(torch.empty(size).as_strided, *numbers(beyond))
        assert "out of bounds" in torchs, (x, size, why)
    else:
        assert why.endswith("the slider ends here")


# Windows on large layouts -----------------------------------------------------------------------------


def windows(r: Random) -> None:
    """A layout of up to 100,000 elements: its facts are torch's, and the window is torch's slice."""
    shape = [r.choice((1, 2, 3, 9, 40, 70, 300)) for _ in range(r.randint(1, 6))]
    while prod(shape) > 100_000:
        shape[shape.index(max(shape))] = r.choice((1, 2, 3))
    x = drawn_view(r, torch.arange(prod(shape)).view(shape))
    if x.numel() > 200_000:
        return
    explorer = StrideExplorer(Layout.of(x), x.untyped_storage().nbytes() // 8)
    explorer.index = [r.randrange(n) for n in x.shape]
    if explorer._state["window"]:
        explorer.window = place_text(r, x)
        moved = window_script.movedTo(explorer._state, explorer._state, moves(r, x))
        explorer._change(**moved)
        explorer._change(**window_script.withDim(explorer._state, moved, r.randrange(x.ndim)))
    assert_window(explorer, x)
    elements = x.unique()
    assert explorer.facts["contiguous"] == x.is_contiguous()
    assert explorer.facts["reached"] == len(elements)
    assert explorer.facts["holes"] == int(elements[-1] - elements[0]) + 1 - len(elements)
    assert explorer.facts["overlaps"] == (len(elements) < x.numel())
    assert_followed(r, explorer, x)


window_script = Script("stride_explorer/window.js")


def drawn_view(r: Random, x: torch.Tensor) -> torch.Tensor:
    """Return a view with other steps, holes or repeated elements."""
    x = x.permute(r.sample(range(x.ndim), x.ndim))
    for d in range(x.ndim):
        if r.random() < 0.2:
            x = x.narrow(d, 0, (x.size(d) + 1) // 2)
        if r.random() < 0.1 and x.size(d) > 3:
            x = x.unfold(d, r.choice((2, 3)), r.choice((1, 2, 3)))
    if r.random() < 0.3:
        x = x.unsqueeze(0).expand(r.choice((2, 80)), *[-1] * x.ndim)
    return x


def place_text(r: Random, x: torch.Tensor) -> str:
    """Return an index, with slices for some dims, as people type it."""
    sliced = r.sample(range(x.ndim), min(r.randint(0, 3), x.ndim))
    items = []
    for d, size in enumerate(x.shape):
        i = r.randrange(-size, size)
        items.append(r.choice((f"{i}:", ":")) if d in sliced else str(i))
    return f"x[{', '.join(items)}]"


def moves(r: Random, x: torch.Tensor) -> dict[int, int]:
    """Return starts for some dims, which may lie outside."""
    return {d: r.randint(-5, x.size(d) + 5) for d in r.sample(range(x.ndim), r.randint(1, x.ndim))}


def assert_window(explorer: StrideExplorer, x: torch.Tensor) -> None:
    """The window has the index inside, and shows the elements of torch's slice."""
    window = explorer._state["window"]
    layout = layout_json(explorer.layout)
    assert explorer.index is not None
    if window is None:
        assert explorer.window == "x" and x.ndim <= 4 and x.numel() <= 4096
        return
    part = eval(explorer.window, {"x": x})
    assert page.reach(window_script.partOf(layout, window))["elements"] == part.flatten().tolist()
    assert x[explorer.index] in part
    assert 1 <= len(window["dims"]) <= 3 and part.numel() <= 64
    assert [*range(part.numel())][: part.numel()] and part.ndim == len(window["dims"])


def assert_followed(r: Random, explorer: StrideExplorer, x: torch.Tensor) -> None:
    """After a view, the selected element is found at an index that torch has for it, if it has one."""
    d = r.randrange(x.ndim)
    text = r.choice((f".transpose({d}, 0)", f".narrow({d}, 0, {(x.size(d) + 1) // 2})", ".mT.mT"))
    if x.ndim < 2 and "mT" in text:
        return
    start = {"source": "x", "start": layout_json(explorer.layout), "steps": [text]}
    before, *_, after = live_lines.chain.stagesOf(start, explorer.storage_size)
    flat = live_lines.chain.followed(before, after, explorer.index)
    y = eval(f"x{text}", {"x": x})
    element = x[explorer.index].item()
    if flat is None:
        assert not (y == element).any()
    else:
        assert y.flatten()[flat] == element or y.numel() == x.numel()


def immense(r: Random) -> None:
    """Steps that interleave, up to the most that a browser counts: the count is a MemorySet's."""
    shape = [r.choice((2, 3, 5, 17, 100, 999, 10_000)) for _ in range(r.randint(1, 5))]
    stride = [r.choice((0, 1, 2, 3, 6, 10, 15, 99, 1000, 4099, 10**5)) for _ in shape]
    x = Layout(shape, stride, itemsize=4)
    layout = layout_json(x)
    if page.whyNotCounted(layout):
        return
    reached = StrideExplorer._facts(layout | {"index": None})["reached"]
    expected, undecided = result_or_refusal(MemorySet.of(x).count)
    assert undecided or reached is None or reached == expected // 4, x
    if len(shape) < 3:
        assert reached is not None, x


# The reshape stepper ---------------------------------------------------------------------------------


def reshapes(r: Random) -> None:
    """A layout as another shape: every step, the consequences, and the picture of each step."""
    shape = [r.choice((1, 2, 2, 3, 4, 6)) for _ in range(r.randint(0, 4))]
    x = Layout([n * r.choice((1, 2)) for n in shape], itemsize=r.choice((1, 4)))
    if shape:
        x = x[tuple(slice(n) for n in shape)]
    if r.random() < 0.3:
        x = x.permute(r.sample(range(x.ndim), x.ndim))
    if r.random() < 0.2:
        x = x.unsqueeze(r.randint(0, x.ndim)).expand(2, *[-1] * (x.ndim + 1))
    target: list[int] = []
    for n in x.shape:
        target += torch.empty(n).view(drawn.new_shape(r, n, 0)).shape
    for _ in range(r.choice((0, 1, 2))):  # two neighbours become one
        k = r.randint(0, len(target))
        if k < len(target):
            target[k : k + 2] = [prod(target[k : k + 2])]
    if r.random() < 0.05:
        x = Layout((2, 0, 4), itemsize=4)
        target = [0, 5]
    reshape(x, tuple(target))


VIEW_REFUSAL = refusal(torch.zeros(2, 3).t().view, 6)


def reshape(x: Layout, target: tuple[int, ...]) -> None:
    """The walk of one view, beside torch's verdict, and the picture of each step."""
    layout = layout_json(x)
    steps = stepper.stepsOf(layout, target)
    assert_walk_is_torchs(x, target, steps)
    assert_chunks_are_views(x, [step for step in steps if step["part"] == "merge"])
    for k in range(len(steps)):
        view = stepper.viewOf({**layout, "target": target, "step": k, "flat": 0})
        assert (len(view["dims"]), len(view["fresh"])) == (x.ndim, len(target))
        is_end_of_stuck_walk = k == len(steps) - 1 and steps[k - 1]["part"] == "stuck"
        # The end shows why the walk stopped.
        step = steps[k - 1] if is_end_of_stuck_walk else steps[k]
        count, gap = step["run"] or (0, 0)
        assert view["run"] == [x.storage_offset + n * gap for n in distinct_steps(count, gap)]
        if step["part"] == "cut" and step["new_dims"]:
            stride = step["stride"]
            taken = distinct_steps(target[step["new_dims"][0]], stride)
            assert view["taken"] == [x.storage_offset + n * stride for n in taken]
    assert_reshape_facts(x, target, layout | {"target": target, "step": len(steps) - 1})
    if x.numel and not x.why_not_view(target):
        strides = [[f"stride {n}", str(n)] for n in x.view(target).stride]
        assert [dim["stride"] for dim in view["fresh"]] == strides


def assert_reshape_facts(x: Layout, target: tuple[int, ...], state: dict[str, Any]) -> None:
    """At the last step, with the last element selected, the code and torch confirm the facts for goals."""
    facts = facts_of(ReshapeStepper, state | {"flat": max(x.numel - 1, 0)})
    names: dict[str, Any] = {"torch": torch}
    exec(stepper.code(state, []), names)
    old = names["x"]
    new = names["y"]
    assert (old.shape, old.stride(), new.shape) == (facts["shape"], facts["stride"], target)
    assert facts["finished"] and facts["target"] == target
    assert facts["viewable"] == (shares_memory(old.reshape(target), old) or not x.numel)
    if facts["viewable"] and x.numel:
        assert facts["new_stride"] == new.stride()
        assert new[facts["new_index"]] == old[facts["index"]] == facts["element"]


def distinct_steps(count: int, step: int | None) -> range:
    """Return the numbers of the steps that lead to elements of their own: a step of 0 leads nowhere."""
    return range(count if step else min(count, 1))


def tensor_like(x: Layout) -> torch.Tensor:
    return torch.empty_strided(x.shape, x.stride, dtype=torch.uint8)


def assert_walk_is_torchs(x: Layout, target: tuple[int, ...], steps: list[dict[str, Any]]) -> None:
    """The walk ends as torch does: with the strides of the view, or at the dim that it refuses."""
    tensor = tensor_like(x)
    view, torchs_refusal = result_or_refusal(tensor.view, target)
    consequences = []
    if x.numel:
        consequences = [tuple(pair) for pair in stepper.consequences(layout_json(x), target)]
    if torchs_refusal:
        assert torchs_refusal == VIEW_REFUSAL
        assert_walk_is_stuck(x, target, steps, consequences)
        return
    assert not any(step["part"] == "stuck" for step in steps)
    if x.numel:
        strides = {step["new_dims"][0]: step["stride"] for step in steps if step["new_dims"]}
        assert tuple(strides[d] for d in range(len(target))) == view.stride()
        assert f"stride {view.stride()}" in steps[-1]["says"]
        assert consequences[0][0] == f".view({', '.join(map(str, target))})"
        assert consequences[1][1].startswith("the same view")
        copies = consequences[2][1].startswith(f"copies all {x.numel} element")
        assert copies != tensor.is_contiguous()


def assert_walk_is_stuck(
    x: Layout,
    target: tuple[int, ...],
    steps: list[dict[str, Any]],
    consequences: list[tuple[str, str]],
) -> None:
    """The walk ends at the dim that has no stride, and explains each part of torch's message."""
    stuck, end = steps[-2:]
    new = stuck["new_dims"][0]
    outer = stuck["dims"][0]
    assert stuck["part"] == "stuck"
    assert end["says"] == f"There is no such view: {x.why_not_view(target)}."
    assert f"the new dim {new} of size " in end["says"] and f"dims {outer} and " in end["says"]
    message, dimension, subspaces, reshaped = consequences[:4]
    assert message == ("torch says", VIEW_REFUSAL)
    assert dimension == ('"at least one dimension"', f"new dim {new}, of size {target[new]}")
    assert_subspaces(x, subspaces, outer)
    assert reshaped[0] == f".reshape({', '.join(map(str, target))})"
    assert reshaped[1].startswith(f"copies all {x.numel} element")


def assert_chunks_are_views(x: Layout, merging: list[dict[str, Any]]) -> None:
    """A dim joins the chunk to its right, of several elements, where torch views both as one dim."""
    tensor = tensor_like(x)
    last = x.ndim  # the last dim of the chunk
    count = 1
    for d, step in zip(reversed(range(x.ndim)), merging, strict=bool(x.numel)):
        joined = tensor.as_strided(x.shape[d : last + 1], x.stride[d : last + 1])
        begins = bool(re.search("starts a chunk|a new chunk begins", step["says"]))
        assert count == 1 or begins == bool(refusal(joined.view, -1)), x
        assert x.shape[d] > 1 or begins == (last == x.ndim), x
        if begins:
            last = d
            count = 1
        count *= x.shape[d]
        run = tensor.as_strided(x.shape[d : last + 1], x.stride[d : last + 1]).view(-1)
        assert step["run"][0] == len(run) == count
        assert count == 1 or step["run"][1] == run.stride(0), x


def assert_subspaces(x: Layout, consequence: tuple[str, str], outer: int) -> None:
    """The dims form two runs; torch views each run as one dim, but not both together."""
    phrase, explanation = consequence
    assert phrase == '"spans across two contiguous subspaces"'
    pattern = r"dims? (\d+)(?: to (\d+))? \((\d+) elements?(?: in steps of (\d+))?."
    runs = re.findall(pattern, explanation)
    assert len(runs) == 2
    tensor = tensor_like(x)
    bounds = []
    for first, last, count, step in runs:
        start = int(first)
        stop = int(last or first) + 1
        run = tensor.as_strided(x.shape[start:stop], x.stride[start:stop]).view(-1)
        assert run.shape == (int(count),) and (not step or run.stride() == (int(step),))
        bounds.append((start, stop))
    (start, middle), (after, stop) = bounds
    assert middle == after == outer + 1
    both = tensor.as_strided(x.shape[start:stop], x.stride[start:stop])
    assert refusal(both.view, -1) == VIEW_REFUSAL


# The traversal explorer ------------------------------------------------------------------------------


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
    elif r.random() < 0.2:  # cache lines come again after others: the oldest one was used since
        line = 64 // itemsize
        stride = [line, r.choice((3, 4, 5)) * line, line]
        revisiting = Layout(
            (r.randint(3, 5), r.randint(2, 3), r.randint(2, 3)), stride, 0, itemsize
        )
        walk(revisiting, (0, 1, 2), 4, 0, r)
    elif x.ndim == 4 and r.random() < 0.4:
        x = Layout(*numbers(x.contiguous("channels_last")), itemsize)
    if x.ndim and r.random() < 0.6:
        x = x.permute(*r.sample(range(x.ndim), x.ndim))
    order = r.choice((tuple(r.sample(range(x.ndim), x.ndim)), x.dim_order()))
    walk(x, order, r.choice((1, 2, 4, 8)), r.choice((0, 0, *range(0, 64, itemsize))), r)


def walk(x: Layout, order: tuple[int, ...], cache_lines: int, alignment: int, r: Random) -> None:
    """One walk, counted slowly."""
    upto = r.randint(0, x.numel)
    state = Walk("t", x, order).json()
    visits = costs.visitsOf(state, cache_lines, alignment)
    storage = torch.arange(5000)
    elements = storage.as_strided(*numbers(x)).permute(order).flatten().tolist()
    lines = []
    for element in elements:
        byte = alignment + element * x.itemsize
        assert byte // 64 == (byte + x.itemsize - 1) // 64  # aligned elements straddle nothing
        lines.append(byte // 64)
    hits = slow_hits(lines, cache_lines)
    expected = [*zip(elements, lines, hits, strict=True)]
    assert [(v["element"], v["line"], v["hit"]) for v in visits] == expected, (x, order)
    for end in (upto, x.numel):
        counts = Counts(**costs.countsOf(visits, x.itemsize, end))
        assert counts == slow_counts(x.itemsize, elements, lines, hits, end), (x, order)
    for k in r.sample(range(len(visits)), min(len(visits), 5)):
        cached_before = visits[k - 1]["cached"] if k else []
        assert (lines[k] in cached_before) == hits[k]
    if visits and upto:
        sentence = costs.visitSentence(state, visits, upto)
        assert sentence.startswith(f"visit {upto} of {len(visits)}: t")
        assert_visit_sentence(sentence, x, expected[:upto])


def assert_visit_sentence(sentence: str, x: Layout, visits: list[tuple[int, int, bool]]) -> None:
    """The sentence names the element of the last visit, its index, its cache line, and the loads of it."""
    element, line, hit = visits[-1]
    loads = sum(visit[1:] == (line, False) for visit in visits)
    if hit:
        assert sentence.endswith("a hit")
    elif loads == 1:
        assert sentence.endswith("a miss, loaded")
    else:
        assert sentence.endswith(f"loaded {loads} times")
    assert f", element {element}, cache line {line}: " in sentence
    brackets = re.search(r"\[(.*)\]", sentence)
    index = tuple(map(int, brackets[1].split(", "))) if brackets else ()
    assert x.offset(index) == element


def slow_hits(lines: list[int], cache_lines: int) -> list[bool]:
    """A visit hits where fewer other lines than the cache holds came since the last visit to its line."""
    hits = []
    for k, line in enumerate(lines):
        before = [j for j in range(k) if lines[j] == line]
        hits.append(bool(before) and len(set(lines[before[-1] + 1 : k])) < cache_lines)
    return hits


def slow_counts(
    itemsize: int, elements: list[int], lines: list[int], hits: list[bool], upto: int
) -> Counts:
    """Count bytes, not elements."""
    bytes_used = {e * itemsize + k for e, k in product(elements[:upto], range(itemsize))}
    loads = hits[:upto].count(False)
    return Counts(upto, len(set(lines[:upto])), loads, len(set(lines)), len(bytes_used), 64 * loads)


_FAMILIES = (sums, operations, formats, explorer, windows, immense, reshapes, walks)
CASES: dict[str, Callable[[Random], None]] = {family.__name__: family for family in _FAMILIES}
CASES |= live_lines.CASES
