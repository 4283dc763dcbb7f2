"""AttentionExplorer without a browser: each step against torch in all settings; its words, its state."""

from itertools import product, starmap
from random import Random

import pytest
import torch

from stridekit import Layout
from stridekit.widgets import AttentionExplorer
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json
from tests.fuzz_attention import Seen

flow = Script("attention_explorer/flow.js")
NAMES, VALUES = flow.CHOICES.keys(), flow.CHOICES.values()
# All that can be chosen, with an element.
SETTINGS = [
    dict(zip(NAMES, values, strict=True)) | {"followed": ["q", 0, 0, 0, 0]}
    for values in product(*VALUES)
    if values[4] in flow.kvChoices(values[2], values[5])
]
WORDS = [*product(*(flow.CHOICES[name] for name in ("packing", "rotary", "attention")))]


def chosen(*words):
    """The settings with this packing, rotary and attention."""
    return [s for s in SETTINGS if (s["packing"], s["rotary"], s["attention"]) == words]


def storage(x):
    return x.untyped_storage().data_ptr()


class Run:
    """The code of each step, run by torch: its names, and for each step what was seen."""

    def __init__(self, s):
        self.names = {"torch": torch}
        self.before, self.after, self.seen = {}, {}, {}
        for step in flow.steps(s):
            self.before[step["name"]] = dict(self.names)
            with Seen() as seen:
                exec("\n".join(step["code"]), self.names)
            self.after[step["name"]] = dict(self.names)
            self.seen[step["name"]] = seen


@pytest.mark.parametrize("some", [12, pytest.param(None, marks=pytest.mark.long)])
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_step_is_torchs(words, some):
    """The numbers of every tensor, the bytes of every copy, what is a view, and the path of SDPA."""
    for s in Random(0).sample(chosen(*words), some) if some else chosen(*words):
        run = Run(s)
        for step in flow.steps(s):
            names, seen = run.after[step["name"]], run.seen[step["name"]]
            for name, x in step["tensors"].items():
                assert x == layout_json(Layout.of(names[name])), (s, step["name"], name)
            assert_copies(s, step, run, seen)
            if step["arrows"] and step["arrows"][0]["word"] == "view":
                source = names[{"heads": "qkv", "merge": "out"}[step["name"]]]
                assert {storage(names[name]) for name in step["tensors"]} == {storage(source)}, s
        flash = any("flash" in name for name in run.seen["attention"].operations)
        assert flow.facts(s)["flash"] == flash, s


def assert_copies(s, step, run, seen):
    """Each clone that torch makes, and what it reads; what is new is as long as its tensors."""
    copies = [arrow for arrow in step["arrows"] if arrow["word"] == "copy"]
    sizes = [arrow["nbytes"] // len(arrow["names"]) for arrow in copies for _ in arrow["names"]]
    assert [nbytes for _, nbytes in seen.clones] == sizes, (s, step["name"])
    if step["name"] != "attention" or s["attention"] == "@":  # the math path scales q and k before
        read = [
            storage(run.before[step["name"]][name]) for arrow in copies for name in arrow["names"]
        ]
        assert [address for address, _ in seen.clones] == read, (s, step["name"])
    for why in [why for why in step["why"] if "merge" in why]:
        assert steps_of(s, step, run.after[step["name"]]) in why, s
    new = [arrow for arrow in step["arrows"] if arrow["word"] == "new"]
    made = [run.after[step["name"]][name] for arrow in new for name in arrow["names"]]
    assert [arrow["nbytes"] for arrow in new] == [sum(x.nbytes for x in made)] * len(new)


def steps_of(s, step, names):
    """The strides that do not merge, in the first tensor that is cloned."""
    name = step["arrows"][-2 if step["name"] == "attention" else 0]["names"][0]
    x, outer, inner = names[name], 0, 1
    if step["name"] == "merge":
        outer, inner = 1, 3
    elif s["attention"] == "SDPA" and name != "v":
        x = x * 2.0  # as the math path does
    return f"(stride {x.stride(outer)} found, {x.shape[inner] * x.stride(inner)} needed)"


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_values_and_memories(words):
    """The output is that of a loop over heads, and each box of a memory holds the element that it says."""
    for s in Random(0).sample(chosen(*words), 12):
        run = Run(s)
        cut, turned = run.after["heads"], run.after["rotary"]
        group = s["heads"] // s["kv_heads"]
        expected = torch.cat(
            [
                (turned["q"][:, h] @ turned["k"][:, h // group].mT / s["dim"] ** 0.5).softmax(-1)
                @ turned["v"][:, h // group]
                for h in range(s["heads"])
            ],
            -1,
        )
        torch.testing.assert_close(run.names["y"], expected)
        heads = run.names["y"].unflatten(2, (s["heads"], s["dim"])).transpose(1, 2)
        for part in "qkv":
            tensors = {"qkv": cut, "rotary": turned, "attention": run.names, "merge": {"y": heads}}
            for memory, parts in flow.memories(s, part).items():
                for k, (name, *index) in enumerate(flow.cells(parts)):
                    x = tensors[memory][name]
                    assert x[tuple(index)].storage_offset() == k, (s, memory)


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
        assert changed == [
            [*i] for i in product(*starmap(range, flow.reached(s, (part, *index))))
        ], (s, index)


def attended(s, q, k, v):
    asked = {"enable_gqa": s["kv_heads"] < s["heads"]}
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, **asked)


def test_the_words_of_an_element():
    """Where it lies is its storage_offset, before and after the rotation; and where it goes."""
    s = dict(zip(NAMES, (2, 3, 4, 4, 2, "3HD", flow.ROTARY[2], "@"), strict=True))
    run = Run(s)
    for part, goes in (("q", "4 elements of out: out[1, 1, 2, :]"),
                       ("k", "24 elements of out: out[1, 2:4, :, :]"),
                       ("v", "6 elements of out: out[1, 2:4, :, 3]")):  # fmt: skip
        before, after = (
            run.after[name][part][1, 1, 2, 3].storage_offset() for name in ("heads", "rotary")
        )
        rotated = f", after rotary element {after} of {part}" * (part != "v")
        assert flow.place(s, (part, 1, 1, 2, 3)) == (
            f"{part}[1, 1, 2, 3] is element {before} of qkv{rotated}. It goes into {goes}."
        )


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
    assert flow.labels("qkv", row) == ["qb", "", "kb"] and flow.labels("rotary", row[:2]) == [
        "b2",
        "",
    ]


def test_state_is_read_and_set_from_python():
    """Each property can be read and set; a smaller shape keeps the element inside."""
    w = AttentionExplorer(goals=[])
    assert (w.batch, w.tokens, w.heads, w.dim, w.kv_heads) == (2, 3, 2, 4, 2)
    assert (w.packing, w.rotary, w.attention) == ("3HD", "none", "@")
    w.followed = ("v", -1, 1, 2, -1)
    assert w.followed == ("v", 1, 1, 2, 3)
    w.batch, w.dim = 1, 2
    assert w.followed == ("v", 0, 1, 2, 1)
    w.heads = 4  # which were not grouped, and are not
    assert w.kv_heads == 4
    w.kv_heads = 1
    assert w.followed == ("v", 0, 0, 2, 1)
    w.heads = 3
    assert w.kv_heads == 1 and w.code == flow.code(w._state)
    w.kv_heads, w.packing = 3, "HD3"
    w.rotary, w.attention = flow.ROTARY[1], "SDPA"
    assert "attention: new: 72 bytes; math, as dim 3 of v has stride 3: flash takes 1" in repr(w)
