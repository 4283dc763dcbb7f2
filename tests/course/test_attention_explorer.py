"""AttentionExplorer without a browser: each step against torch in all settings; its words, its state."""

from itertools import product, starmap
from random import Random

import pytest
import torch

from stridekit import Layout
from stridekit.widgets import AttentionExplorer
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from tests.core.fuzz_attention import OperationLog

flow = Script("attention_explorer/flow.js")
NAMES, VALUES = flow.CHOICES.keys(), flow.CHOICES.values()
# All states, with one element.
SETTINGS = [
    dict(zip(NAMES, values, strict=True)) | {"followed": ["q", 0, 0, 0, 0]}
    for values in product(*VALUES)
    if values[4] in flow.kvChoices(values[2], values[5])
]
WORDS = [*product(*(flow.CHOICES[name] for name in ("packing", "rotary", "attention")))]


@pytest.mark.parametrize("sample", [5, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_step_is_torchs(words, sample):
    """Each tensor and its memory, the bytes of copies, the views, the path of SDPA, and the output."""
    states = [s for s in SETTINGS if (s["packing"], s["rotary"], s["attention"]) == words]
    if sample:
        states = [states[-1], *Random(0).sample(states, sample)]
    for state in states:
        names_after = run_steps(state)
        names = names_after["merge"]
        heads = names["y"].unflatten(2, (state["heads"], state["dim"])).transpose(1, 2)
        expected = attended(state, *(names_after["rotary"][part] for part in "qkv"))
        torch.testing.assert_close(heads, expected)
        tensors = {
            "qkv": names_after["heads"],
            "rotary": names_after["rotary"],
            "attention": names,
            "merge": {"y": heads},
        }
        for part in "qkv":
            assert_memories(state, part, tensors)


def run_steps(state):
    """Run the code of each step, compare it with the step, and return the names after each."""
    names = {"torch": torch}
    names_after = {}
    for step in flow.steps(state):
        before = names
        names = dict(before)
        with OperationLog() as log:
            exec("\n".join(step["code"]), names)
        for tensor, x in step["tensors"].items():
            assert x == layout_json(Layout.of(names[tensor])), (state, step["name"], tensor)
        assert_copies(state, step, before, names, log)
        if step["arrows"] and step["arrows"][0]["word"] == "view":
            source = names[{"heads": "qkv", "merge": "out"}[step["name"]]]
            assert {address(names[tensor]) for tensor in step["tensors"]} == {address(source)}, (
                state
            )
        if step["name"] == "attention":
            is_flash = any("flash" in operation for operation in log.operations)
            assert flow.facts(state)["flash"] == is_flash, state
        names_after[step["name"]] = names
    return names_after


def assert_memories(state, part, tensors):
    """The boxes of each memory are the elements of its tensors, in the order of memory."""
    for memory, layouts in flow.memories(state, part).items():
        for k, (name, *index) in enumerate(flow.cells(layouts)):
            assert tensors[memory][name][tuple(index)].storage_offset() == k, (state, memory)


def address(x):
    return x.untyped_storage().data_ptr()


def assert_copies(state, step, before, names, log):
    """Torch makes each copy, reads its tensor, and writes as many bytes as the new tensors have."""
    sizes = []
    addresses = []
    for arrow in step["arrows"]:
        if arrow["word"] == "copy":
            sizes += [arrow["nbytes"] // len(arrow["names"])] * len(arrow["names"])
            addresses += [address(before[name]) for name in arrow["names"]]
        if arrow["word"] == "new":
            assert arrow["nbytes"] == sum(names[name].nbytes for name in arrow["names"])
    assert [nbytes for _, nbytes in log.clones] == sizes, (state, step["name"])
    if step["name"] != "attention" or state["attention"] == "@":
        # The math path scales q and k before.
        assert [source for source, _ in log.clones] == addresses, (state, step["name"])
    for reason in step["why"]:
        if "merge" in reason:
            assert unmerged_strides(state, step, names) in reason, state


def unmerged_strides(state, step, names):
    """The strides that do not merge, in the first tensor that is cloned."""
    name = step["arrows"][-2 if step["name"] == "attention" else 0]["names"][0]
    x = names[name]
    outer, inner = (1, 3) if step["name"] == "merge" else (0, 1)
    if step["name"] != "merge" and state["attention"] == "SDPA" and name != "v":
        x = x * 2.0  # as the math path does
    return f"(stride {x.stride(outer)} found, {x.shape[inner] * x.stride(inner)} needed)"


@pytest.mark.parametrize("part", ["q", "k", "v"])
def test_where_an_element_goes(part):
    """A change of the element changes these elements of the output, and no others."""
    random = Random(part)
    states = [s for s in SETTINGS if s["tokens"] > 1 and s["rotary"] == "none"]
    for state in random.sample(states, 40):
        tensors = {
            name: torch.rand(flow.headsShape(state, name), dtype=torch.float64) for name in "qkv"
        }
        index = tuple(map(random.randrange, flow.headsShape(state, part)))
        before = attended(state, **tensors)
        tensors[part][index] += 1
        changed = (attended(state, **tensors) != before).nonzero().tolist()
        reached = product(*starmap(range, flow.reached(state, (part, *index))))
        assert changed == [[*i] for i in reached], (state, index)


def attended(state, q, k, v):
    is_grouped = state["kv_heads"] < state["heads"]
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=is_grouped)


def test_the_words_of_an_element():
    """Its storage_offset, before and after the rotation, and the part of out that it reaches."""
    state = dict(zip(NAMES, (2, 3, 4, 4, 2, "3HD", flow.ROTARY[2], "@"), strict=True))
    names = {"torch": torch}
    names_after = {}
    for step in flow.steps(state)[:3]:
        exec("\n".join(step["code"]), names)
        names_after[step["name"]] = dict(names)
    for part, reached in (
        ("q", "4 elements of out: out[1, 1, 2, :]"),
        ("k", "24 elements of out: out[1, 2:4, :, :]"),
        ("v", "6 elements of out: out[1, 2:4, :, 3]"),
    ):
        before = names_after["heads"][part][1, 1, 2, 3].storage_offset()
        after = names_after["rotary"][part][1, 1, 2, 3].storage_offset()
        rotated = f", after rotary element {after} of {part}" if part != "v" else ""
        assert flow.place(state, (part, 1, 1, 2, 3)) == (
            f"{part}[1, 1, 2, 3] is element {before} of qkv{rotated}. It goes into {reached}."
        )


def test_the_words_of_the_way():
    """All copies, their reasons, and the order and the labels of the memories."""
    shared = repr(AttentionExplorer(heads=4, kv_heads=1))
    for sentence in (
        "4 copies on the way, of k, v, q and out: 1536 bytes.",
        "k and v are copied: repeat_interleave writes their head once for each head of q.",
        "q is copied: @ makes one batch of each, and dims 0 and 1 do not merge",
    ):
        assert sentence in shared
    grouped = AttentionExplorer(heads=4, kv_heads=2, rotary=flow.ROTARY[2])
    assert "head h of q meets their head h // 2, and no stride says that." in repr(grouped)
    assert grouped.facts["q_stride"] == (48, 12, 4, 1)
    assert grouped.facts["copies"] == ("k", "v", "out")
    shape = (2, 3, 5, 4)
    assert flow.order({"shape": shape, "stride": (60, 20, 4, 1)}) == "head by head"
    assert flow.order({"shape": shape, "stride": (60, 4, 12, 1)}) == "token by token"
    assert flow.order({"shape": (2, 1, 5, 4)}) == "one order for heads and tokens"
    row = [("q", 0, 1, 2, 0), ("q", 0, 1, 2, 1), ("k", 0, 1, 2, 0)]
    assert flow.labels("qkv", row) == ["qb", "", "kb"]
    assert flow.labels("rotary", row[:2]) == ["b2", ""]
