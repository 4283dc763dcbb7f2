"""The settings of AttentionExplorer: steps, words and elements, in Python and in the browser."""

from collections.abc import Callable
from itertools import product
from random import Random

from stridekit.widgets import AttentionExplorer
from stridekit.widgets.attention_explorer import flow
from stridekit.widgets.attention_explorer.flow import Settings
from stridekit.widgets.notation import layout_json
from tests.live_facts import same
from tests.pipe import as_json, ask, ask_all

FLOW = "attention_explorer/flow"
SIZES = [*product(*(range(1, most + 1) for most in flow.MOST.values()), flow.DIMS)]
# All that can be chosen.
SETTINGS = [
    Settings(*sizes, kv_heads, packing, rotary, attention)
    for packing, rotary, attention in product(flow.PACKINGS, flow.ROTARY, flow.ATTENTION)
    for sizes in SIZES
    for kv_heads in flow.kv_choices(sizes[2], packing)
]


def compare(s: Settings) -> None:
    """All that follows from the settings alone."""
    given, found = s._asdict(), flow.steps(s)
    steps = [
        {
            **step._asdict(),
            "arrows": [arrow._asdict() for arrow in step.arrows],
            "tensors": {name: layout_json(x) for name, x in step.tensors.items()},
        }
        for step in found
    ]
    assert ask(f"{FLOW}/steps", given) == as_json(steps), s
    arrows = [arrow for step in found for arrow in step.arrows]
    said = [
        flow.summary(found),
        flow.code(s),
        flow.kv_choices(s.heads, s.packing),
        *(arrow.text for arrow in arrows),
    ]
    asked = [
        (f"{FLOW}/summary", steps),
        (f"{FLOW}/code", given),
        (f"{FLOW}/kvChoices", s.heads, s.packing),
        *((f"{FLOW}/arrowText", arrow._asdict()) for arrow in arrows),
    ]
    assert ask_all(asked) == said, s


def attention(r: Random) -> None:
    """Settings, and an element of each of q, k and v: memories, labels, and where the element goes."""
    s = r.choice(SETTINGS)
    given = s._asdict()
    compare(s)
    for part in "qkv":
        element = (part, *map(r.randrange, flow.heads_shape(s, part)))
        memories = flow.memories(s, part)
        theirs = ask(f"{FLOW}/memories", given, part)
        assert [*theirs] == [*memories]
        for name, parts in memories.items():
            assert theirs[name] == {one: layout_json(x) for one, x in parts.items()}, (s, name)
            cells = flow.cells(parts)
            assert ask(f"{FLOW}/cells", theirs[name]) == as_json(cells)
            assert ask(f"{FLOW}/labels", name, cells) == flow.labels(name, cells)
            if name != "qkv":
                orders = [ask(f"{FLOW}/order", x) for x in theirs[name].values()]
                assert orders == [flow.order(x) for x in parts.values()]
        ranges = [[one.start, one.stop] for one in flow.reached(s, element)]
        assert ask(f"{FLOW}/reached", given, element) == ranges
        assert ask(f"{FLOW}/place", given, element) == flow.place(s, element)
        assert ask(f"{FLOW}/headsShape", given, part) == [*flow.heads_shape(s, part)]


def attention_facts(r: Random) -> None:
    """Goals over two states; the code of the first is Python's."""
    made = []
    for s in r.sample(SETTINGS, 2):
        w = AttentionExplorer(**s._asdict())
        w.followed = ("v", *map(r.randrange, flow.heads_shape(s, "v")))
        made.append(w)
    assert same("attention_explorer", flow, made[0]._state, made[1]._state) == made[0].facts
    assert ask(f"{FLOW}/code", made[0]._state) == made[0].code


CASES: dict[str, Callable[[Random], None]] = {
    family.__name__: family for family in (attention, attention_facts)
}
