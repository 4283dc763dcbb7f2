"""AttentionExplorer: heads on their way from a packed projection to the merged output."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stridekit._arguments import a_kind, int_, ints, items_of, shown, wrap_index
from stridekit.layout import Layout, LayoutError
from stridekit.widgets.assets import module, style
from stridekit.widgets.attention_explorer import flow
from stridekit.widgets.explorer import Explorer, require_known, setting
from stridekit.widgets.goals import Goal

_TEXTS = {"packing": flow.PACKINGS, "rotary": flow.ROTARY, "attention": flow.ATTENTION}


class AttentionExplorer(Explorer):
    """What attention copies between the projection and the merged heads, from layouts alone.

    A packed projection is cut into heads, rotated, attended to and merged; each step is a view, writes
    what is new, or copies. Sizes go up to a `batch` of 2, 4 `tokens` and 4 `heads` of `dim` 2 or 4; with
    fewer `kv_heads`, k and v have shared heads. `packing` is "3HD", "H3D" or "HD3", `rotary` "none" or one
    of two orders of its sum, and `attention` "@" or "SDPA". `followed` is the element that lights up in
    each memory. All of them follow the hand and can be set; a wrong value raises LayoutError (ValueError),
    or IndexError for an index, and the picture stays as it was. `code` does what is shown.

    >>> AttentionExplorer(attention="SDPA")
    AttentionExplorer: batch 2, tokens 3, heads 2, dim 4, packed as 3HD
      linear: new: 576 bytes
        qkv: shape (2, 3, 24), stride (72, 24, 1), storage_offset 0
      heads: view
        q: shape (2, 2, 3, 4), stride (72, 4, 24, 1), storage_offset 0
        k: shape (2, 2, 3, 4), stride (72, 4, 24, 1), storage_offset 8
        v: shape (2, 2, 3, 4), stride (72, 4, 24, 1), storage_offset 16
      rotary: not used: q, k and v stay in qkv
      attention: new: 192 bytes; flash: out is an empty_like(q)
        out: shape (2, 2, 3, 4), stride (24, 4, 8, 1), storage_offset 0
      merge: view
        y: shape (2, 3, 8), stride (24, 8, 1), storage_offset 0
      Nothing is copied on the way.
      q[0, 1, 1, 2] is element 30 of qkv. It goes into 4 elements of out: out[0, 1, 1, :].
    """

    _module = module("attention_explorer/widget.js")
    _style = style("page/base.css", "attention_explorer/widget.css")

    FACTS, _facts = flow.FACTS, staticmethod(flow.facts)

    def __init__(
        self,
        batch: int = 2,
        tokens: int = 3,
        heads: int = 2,
        dim: int = 4,
        *,
        kv_heads: int | None = None,
        packing: str = "3HD",
        rotary: str = "none",
        attention: str = "@",
        goals: Iterable[Goal] = (),
    ) -> None:
        groups = heads if kv_heads is None else kv_heads
        s = _checked(flow.Settings(batch, tokens, heads, dim, groups, packing, rotary, attention))
        middle = [0, *(n // 2 for n in flow.heads_shape(s, "q")[1:])]
        super().__init__(_state=s._asdict() | {"followed": ["q", *middle]})
        self._aim(goals)

    def _check(self, state: dict[str, Any]) -> None:
        found = _followed(_checked(flow.settings(state)), state["followed"])
        if found != state["followed"]:
            raise LayoutError(f"the picture cannot show {state}")

    def _change(self, **changed: Any) -> None:
        """Change a setting; heads stay ungrouped, and a smaller shape keeps the element inside."""
        before = flow.settings(self._state)
        if "heads" in changed and before.kv_heads == before.heads:
            changed["kv_heads"] = changed["heads"]
        s = _checked(before._replace(**changed))
        part, *index = self._state["followed"]
        inside = [min(i, n - 1) for i, n in zip(index, flow.heads_shape(s, part), strict=True)]
        self._state = s._asdict() | {"followed": [part, *inside]}

    batch = setting("batch", "The number of sequences.")
    tokens = setting("tokens", "The number of tokens of each.")
    heads = setting("heads", "The number of heads of q.")
    dim = setting("dim", "The number of elements of a head: 2 or 4.")
    kv_heads = setting("kv_heads", "The number of heads of k and v, which divides that of q.")
    packing = setting("packing", 'The order of the dims in a row of qkv: "3HD", "H3D" or "HD3".')
    rotary = setting("rotary", 'How q and k are rotated: "none", or the sum as it is written.')
    attention = setting("attention", 'Attention by "@" or by "SDPA".')

    @property
    def followed(self) -> tuple[str | int, ...]:
        """The element that is followed: "q", "k" or "v", and its index (b, h, t, d)."""
        return tuple(self._state["followed"])

    @followed.setter
    def followed(self, element: Iterable[str | int]) -> None:
        found = _followed(flow.settings(self._state), element)
        self._state = self._state | {"followed": found}

    @property
    def code(self) -> str:
        """The torch code that does what is shown."""
        return flow.code(flow.settings(self._state))

    def __repr__(self) -> str:
        s = flow.settings(self._state)
        found = flow.steps(s)
        kv = f" (k and v: {s.kv_heads})" * (s.kv_heads < s.heads)
        lines = [
            f"AttentionExplorer: batch {s.batch}, tokens {s.tokens}, heads {s.heads}{kv}, dim {s.dim}, "
            f"packed as {s.packing}",
            *(line for step in found for line in _lines(step)),
            flow.summary(found),
            *(sentence for step in found for sentence in step.why),
            flow.place(s, self._state["followed"]),
        ]
        return "\n  ".join([*lines, *self._aims()])


def _lines(step: flow.Step) -> list[str]:
    said = "; ".join(filter(None, [*(arrow.text for arrow in step.arrows), step.note]))
    return [
        f"{step.name}: {said}",
        *(f"  {name}: {_numbers(x)}" for name, x in step.tensors.items()),
    ]


def _numbers(x: Layout) -> str:
    return f"shape {x.shape}, stride {x.stride}, storage_offset {x.storage_offset}"


def _checked(s: flow.Settings) -> flow.Settings:
    """The settings with plain ints, if the picture can show them."""
    numbers: dict[str, Any] = {name: int_(name, getattr(s, name)) for name in s._fields[:5]}
    s = s._replace(**numbers)
    for name, most in flow.MOST.items():
        if not 1 <= getattr(s, name) <= most:
            raise LayoutError(f"{name} is {getattr(s, name)}: the picture holds 1 to {most}")
    if s.dim not in flow.DIMS:
        raise LayoutError(f"dim is {s.dim}: the picture holds heads of 2 or 4 elements")
    for name, known in _TEXTS.items():
        require_known(name, getattr(s, name), known)
    if s.kv_heads not in flow.kv_choices(s.heads, "3HD"):
        raise LayoutError(
            f"{s.heads} heads do not divide into {s.kv_heads} groups: kv_heads divides heads"
        )
    if s.kv_heads not in flow.kv_choices(s.heads, s.packing):
        raise LayoutError(
            f"packing is {s.packing!r} with kv_heads={s.kv_heads} of {s.heads}: "
            'grouped heads are packed as "3HD"'
        )
    return s


def _followed(s: flow.Settings, element: Any) -> list[str | int]:
    """The element as JSON has it, its index counted from 0."""
    part, *index = items_of(element) or ("",)
    if not isinstance(part, str) or part not in ("q", "k", "v") or len(index) != 4:
        raise LayoutError(
            f'followed is {shown(element)}, {a_kind(element)}: give "q", "k" or "v" and an index, '
            'as in ("q", 0, 1, 2, 3)'
        )
    sizes = enumerate(flow.heads_shape(s, part))
    plain = ints("followed[1:]", index)
    return [part, *(wrap_index(i, d, n) for i, (d, n) in zip(plain, sizes, strict=True))]
