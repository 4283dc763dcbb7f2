"""AttentionExplorer: heads on their way from a packed projection to the merged output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stridekit._arguments import a_kind, int_, ints, items_of, shown, wrap_index
from stridekit.layout import LayoutError
from stridekit.widgets.explorer import Choices, setting
from stridekit.widgets.goals import Goal


class AttentionExplorer(Choices, script="attention_explorer/flow.js"):
    """What attention copies between the projection and the merged heads, from layouts alone.

    A packed projection is cut into heads, rotated, attended to and merged; each step is a view, writes
    what is new, or copies. Sizes go up to a `batch` of 2, 4 `tokens` and 4 `heads` of `dim` 2 or 4; with
    fewer `kv_heads`, k and v have shared heads. `packing` is "3HD", "H3D" or "HD3", `rotary` "none" or one
    of two orders of its sum, and `attention` "@" or "SDPA". `followed` is the element that lights up in
    each memory. All of them follow the hand and can be set; a wrong value raises LayoutError (ValueError),
    or IndexError for an index, and the picture stays as it was. `code` does what is shown.

    >>> [AttentionExplorer(attention=how).facts["copied"] for how in ("@", "SDPA")]
    [768, 0]
    """

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
        sizes = {"heads": heads, "tokens": tokens, "dim": dim}
        words = {"packing": packing, "rotary": rotary, "attention": attention}
        sizes["kv_heads"] = heads if kv_heads is None else kv_heads
        middle = ("q", 0, *(int_(name, sizes[name]) // 2 for name in ("heads", "tokens", "dim")))
        super().__init__(goals, batch=batch, **sizes, **words, followed=middle)

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        s = super()._checked(state)
        if s["kv_heads"] not in self._script.kvChoices(s["heads"], "3HD"):
            groups = f"{s['heads']} heads do not divide into {s['kv_heads']} groups"
            raise LayoutError(f"{groups}: kv_heads divides heads")
        if s["kv_heads"] not in self._script.kvChoices(s["heads"], s["packing"]):
            given = f"packing is {s['packing']!r} with kv_heads={s['kv_heads']} of {s['heads']}"
            raise LayoutError(f'{given}: grouped heads are packed as "3HD"')
        return s | {"followed": self._element(s, state["followed"])}

    def _element(self, s: dict[str, Any], element: Any) -> list[str | int]:
        """The element as JSON has it, its index counted from 0."""
        part, *index = items_of(element) or ("",)
        if not isinstance(part, str) or part not in ("q", "k", "v") or len(index) != 4:
            advice = 'give "q", "k" or "v" and an index, as in ("q", 0, 1, 2, 3)'
            raise LayoutError(f"followed is {shown(element)}, {a_kind(element)}: {advice}")
        sizes = enumerate(self._script.headsShape(s, part))
        plain = ints("followed[1:]", index)
        return [part, *(wrap_index(i, d, n) for i, (d, n) in zip(plain, sizes, strict=True))]

    def _change(self, **changed: Any) -> None:
        """Change a setting; heads stay ungrouped, and a smaller shape keeps the element inside."""
        state = self._state
        if "heads" in changed and state["kv_heads"] == state["heads"]:
            changed["kv_heads"] = changed["heads"]
        if "followed" not in changed:
            s = self._checked(state | changed | {"followed": ["q", 0, 0, 0, 0]})
            changed["followed"] = self._script.inside(s, state["followed"])
        super()._change(**changed)

    batch = setting("batch", "The number of sequences.")
    tokens = setting("tokens", "The number of tokens of each.")
    heads = setting("heads", "The number of heads of q.")
    dim = setting("dim", "The number of elements of a head: 2 or 4.")
    kv_heads = setting("kv_heads", "The number of heads of k and v, which divides that of q.")
    packing = setting("packing", 'The order of the dims in a row of qkv: "3HD", "H3D" or "HD3".')
    rotary = setting("rotary", 'How q and k are rotated: "none", or the sum as it is written.')
    attention = setting("attention", 'Attention by "@" or by "SDPA".')
    followed = setting("followed", 'The element that is followed: "q", "k" or "v", and an index.')
