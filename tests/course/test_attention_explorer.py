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
# All that can be chosen, with an element.
SETTINGS = [
    dict(zip(NAMES, values, strict=True)) | {"followed": ["q", 0, 0, 0, 0]}
    for values in product(*VALUES)
    if values[4] in flow.kvChoices(values[2], values[5])
]
WORDS = [*product(*(flow.CHOICES[name] for name in ("packing", "rotary", "attention")))]


@pytest.mark.parametrize("some", [5, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_step_is_torchs(words, some):
    """Each tensor and its memory, the bytes of copies, what is a view, the path of SDPA, and the output."""
    all_of_them = [s for s in SETTINGS if (s["packing"], s["rotary"], s["attention"]) == words]
    for s in [all_of_them[-1], *Random(0).sample(all_of_them, some)] if some else all_of_them:
        before, after = {"torch": torch}, {}
        for step in flow.steps(s):
            name, names = step["name"], dict(before)
            with OperationLog() as seen:
                exec("\n".join(step["code"]), names)
            for of, x in step["tensors"].items():
                assert x == layout_json(Layout.of(names[of])), (s, name, of)
            assert_copies(s, step, before, names, seen)
            if step["arrows"] and step["arrows"][0]["word"] == "view":
                source = names[{"heads": "qkv", "merge": "out"}[name]]
                assert {storage(names[of]) for of in step["tensors"]} == {storage(source)}, s
            if name == "attention":
                assert flow.facts(s)["flash"] == any("flash" in op for op in seen.operations), s
            before = after[name] = names
        heads = names["y"].unflatten(2, (s["heads"], s["dim"])).transpose(1, 2)
        expected = attended(s, *(after["rotary"][name] for name in "qkv"))
        torch.testing.assert_close(heads, expected)
        tensors = {"qkv": after["heads"], "rotary": after["rotary"], "attention": names}
        tensors["merge"] = {"y": heads}
        for memory, parts in [both for part in "qkv" for both in flow.memories(s, part).items()]:
            for k, (name, *index) in enumerate(flow.cells(parts)):
                assert tensors[memory][name][tuple(index)].storage_offset() == k, (s, memory)


def storage(x):
    return x.untyped_storage().data_ptr()


def assert_copies(s, step, before, names, seen):
    """Each clone that torch makes, and what it reads; what is new is as long as its tensors."""
    copies = [arrow for arrow in step["arrows"] if arrow["word"] == "copy"]
    sizes = [arrow["nbytes"] // len(arrow["names"]) for arrow in copies for _ in arrow["names"]]
    assert [nbytes for _, nbytes in seen.clones] == sizes, (s, step["name"])
    if step["name"] != "attention" or s["attention"] == "@":  # the math path scales q and k before
        read = [storage(before[name]) for arrow in copies for name in arrow["names"]]
        assert [address for address, _ in seen.clones] == read, (s, step["name"])
    for why in [why for why in step["why"] if "merge" in why]:
        assert steps_of(s, step, names) in why, s
    for arrow in [arrow for arrow in step["arrows"] if arrow["word"] == "new"]:
        assert arrow["nbytes"] == sum(names[name].nbytes for name in arrow["names"])


def steps_of(s, step, names):
    """The strides that do not merge, in the first tensor that is cloned."""
    name = step["arrows"][-2 if step["name"] == "attention" else 0]["names"][0]
    x, outer, inner = names[name], 0, 1
    if step["name"] == "merge":
        outer, inner = 1, 3
    elif s["attention"] == "SDPA" and name != "v":
        x = x * 2.0  # as the math path does
    return f"(stride {x.stride(outer)} found, {x.shape[inner] * x.stride(inner)} needed)"


@pytest.mark.parametrize("part", ["q", "k", "v"])
def test_where_an_element_goes(part):
    """A change of it changes these elements of the output, and no others."""
    r = Random(part)
    for s in r.sample([s for s in SETTINGS if s["tokens"] > 1 and s["rotary"] == "none"], 40):
        cut = {name: torch.rand(flow.headsShape(s, name), dtype=torch.float64) for name in "qkv"}
        index = tuple(map(r.randrange, flow.headsShape(s, part)))
        before = attended(s, **cut)
        cut[part][index] += 1
        changed = (attended(s, **cut) != before).nonzero().tolist()
        reached = product(*starmap(range, flow.reached(s, (part, *index))))
        assert changed == [[*i] for i in reached], (s, index)


def attended(s, q, k, v):
    asked = {"enable_gqa": s["kv_heads"] < s["heads"]}
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, **asked)


def test_the_words_of_an_element():
    """Where it lies is its storage_offset, before and after the rotation; and where it goes."""
    s = dict(zip(NAMES, (2, 3, 4, 4, 2, "3HD", flow.ROTARY[2], "@"), strict=True))
    made, names = {}, {"torch": torch}
    for step in flow.steps(s)[:3]:
        exec("\n".join(step["code"]), names)
        made[step["name"]] = dict(names)
    for part, goes in (("q", "4 elements of out: out[1, 1, 2, :]"),
                       ("k", "24 elements of out: out[1, 2:4, :, :]"),
                       ("v", "6 elements of out: out[1, 2:4, :, 3]")):  # fmt: skip
        before, after = (made[k][part][1, 1, 2, 3].storage_offset() for k in ("heads", "rotary"))
        rotated = f", after rotary element {after} of {part}" if part != "v" else ""
        said = f"{part}[1, 1, 2, 3] is element {before} of qkv{rotated}. It goes into {goes}."
        assert flow.place(s, (part, 1, 1, 2, 3)) == said


def test_the_words_of_the_way():
    """What is copied in all, why, and how the memories are ordered and labelled."""
    shared = repr(AttentionExplorer(heads=4, kv_heads=1))
    for said in (
        "4 copies on the way, of k, v, q and out: 1536 bytes.",
        "k and v are copied: repeat_interleave writes their head once for each head of q.",
        "q is copied: @ makes one batch of each, and dims 0 and 1 do not merge",
    ):
        assert said in shared
    grouped = AttentionExplorer(heads=4, kv_heads=2, rotary=flow.ROTARY[2])
    assert "head h of q meets their head h // 2, and no stride says that." in repr(grouped)
    found = {"q": grouped.facts["q_stride"], "copies": grouped.facts["copies"]}
    assert found == {"q": (48, 12, 4, 1), "copies": ("k", "v", "out")}
    q, y = {"shape": (2, 3, 5, 4), "stride": (60, 20, 4, 1)}, {"shape": (2, 3, 5, 4)}
    assert flow.order(q) == "head by head"
    assert flow.order(y | {"stride": (60, 4, 12, 1)}) == "token by token"
    assert flow.order({"shape": (2, 1, 5, 4)}) == "one order for heads and tokens"
    row = [("q", 0, 1, 2, 0), ("q", 0, 1, 2, 1), ("k", 0, 1, 2, 0)]
    assert flow.labels("qkv", row) == ["qb", "", "kb"]
    assert flow.labels("rotary", row[:2]) == ["b2", ""]
