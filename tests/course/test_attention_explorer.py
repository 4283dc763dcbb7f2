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


def all_states():
    """All states in which k and v may have so many heads, with one element followed."""
    states = []
    for choices in product(*flow.CHOICES.values()):
        state = dict(zip(flow.CHOICES, choices, strict=True))
        if state["kv_heads"] in flow.kvChoices(state["heads"], state["packing"]):
            state["followed"] = ["q", 0, 0, 0, 0]
            states.append(state)
    return states


STATES = all_states()


@pytest.mark.parametrize("sample", [5, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.parametrize("attention", flow.CHOICES["attention"])
@pytest.mark.parametrize("rotary", flow.CHOICES["rotary"])
@pytest.mark.parametrize("packing", flow.CHOICES["packing"])
def test_every_step_is_torchs(packing, rotary, attention, sample):
    """Each tensor and its memory, the bytes of copies, the views, the path of SDPA, and the output."""
    chosen = {"packing": packing, "rotary": rotary, "attention": attention}
    states = [state for state in STATES if state == state | chosen]
    if sample:
        states = [states[-1], *Random(0).sample(states, sample)]
    for state in states:
        names_after = run_steps(state)
        rotated = names_after["rotary"]
        names = names_after["merge"]
        heads = names["y"].unflatten(2, (state["heads"], state["dim"])).transpose(1, 2)
        expected = attended(state, rotated["q"], rotated["k"], rotated["v"])
        torch.testing.assert_close(heads, expected)
        tensors = {
            "qkv": names_after["heads"],
            "rotary": rotated,
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
            sources = {"heads": "qkv", "merge": "out"}
            source = names[sources[step["name"]]]
            for tensor in step["tensors"]:
                assert address(names[tensor]) == address(source), state
        if step["name"] == "attention":
            is_flash = any("flash" in operation for operation in log.operations)
            assert flow.facts(state)["flash"] == is_flash, state
        names_after[step["name"]] = names
    return names_after


def assert_memories(state, part, tensors):
    """The boxes of each memory are the elements of its tensors, in the order of memory."""
    for memory, layouts in flow.memories(state, part).items():
        for k, (name, *index) in enumerate(flow.cells(layouts)):
            element = tensors[memory][name][tuple(index)]
            assert element.storage_offset() == k, (state, memory)


def address(x):
    return x.untyped_storage().data_ptr()


def assert_copies(state, step, before, names, log):
    """Torch makes each copy, reads its tensor, and writes as many bytes as the new tensors have."""
    sizes = []
    addresses = []
    for arrow in step["arrows"]:
        if arrow["word"] == "copy":
            nbytes_of_each = arrow["nbytes"] // len(arrow["names"])
            for name in arrow["names"]:
                sizes.append(nbytes_of_each)
                addresses.append(address(before[name]))
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
    arrow = step["arrows"][-2 if step["name"] == "attention" else 0]
    name = arrow["names"][0]
    x = names[name]
    if step["name"] == "merge":
        outer = 1
        inner = 3
    else:
        outer = 0
        inner = 1
        if state["attention"] == "SDPA" and name != "v":
            x = x * 2.0  # as the math path does
    needed = x.shape[inner] * x.stride(inner)
    return f"(stride {x.stride(outer)} found, {needed} needed)"


@pytest.mark.parametrize("part", ["q", "k", "v"])
def test_where_an_element_goes(part):
    """A change of the element changes these elements of the output, and no others."""
    random = Random(part)
    states = [state for state in STATES if state["tokens"] > 1 and state["rotary"] == "none"]
    for state in random.sample(states, 40):
        tensors = {}
        for name in "qkv":
            shape = flow.headsShape(state, name)
            tensors[name] = torch.rand(shape, dtype=torch.float64)
        index = tuple(map(random.randrange, tensors[part].shape))
        before = attended(state, **tensors)
        tensors[part][index] += 1
        after = attended(state, **tensors)
        changed = (after != before).nonzero().tolist()
        reached = starmap(range, flow.reached(state, (part, *index)))
        assert changed == list(map(list, product(*reached))), (state, index)


def attended(state, q, k, v):
    is_grouped = state["kv_heads"] < state["heads"]
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=is_grouped)


def test_the_words_of_an_element():
    """Its storage_offset, before and after the rotation, and the part of out that it reaches."""
    state = {
        "batch": 2,
        "tokens": 3,
        "heads": 4,
        "dim": 4,
        "kv_heads": 2,
        "packing": "3HD",
        "rotary": flow.ROTARY[2],
        "attention": "@",
    }
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
    by_heads = {"shape": (2, 3, 5, 4), "stride": (60, 20, 4, 1)}
    assert flow.order(by_heads) == "head by head"
    by_tokens = {"shape": (2, 3, 5, 4), "stride": (60, 4, 12, 1)}
    assert flow.order(by_tokens) == "token by token"
    one_head = {"shape": (2, 1, 5, 4)}
    assert flow.order(one_head) == "one order for heads and tokens"
    row = [("q", 0, 1, 2, 0), ("q", 0, 1, 2, 1), ("k", 0, 1, 2, 0)]
    assert flow.labels("qkv", row) == ["qb", "", "kb"]
    assert flow.labels("rotary", row[:2]) == ["b2", ""]
