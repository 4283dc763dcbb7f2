"""AttentionExplorer: heads on their way from a packed projection to the merged output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stridekit._arguments import a_kind, int_, ints, items_of, shown, wrap_index
from stridekit.layout import LayoutError
from stridekit.widgets.explorer import Choices, setting
from stridekit.widgets.goals import Goal


class AttentionExplorer(Choices, script="attention_explorer/flow.js"):
    """The copies of attention between the projection and the merged heads, from layouts alone.

    A packed projection is cut into heads, rotated, attended to and merged; each step is a view, writes
    new tensors, or copies. Sizes go up to a `batch` of 2, 4 `tokens` and 4 `heads` of `dim` 2 or 4; with
    fewer `kv_heads`, k and v have shared heads. `packing` is "3HD", "H3D" or "HD3", `rotary` "none" or one
    of two orders of its sum, and `attention` "@" or "SDPA". `followed` is the element that lights up in
    each memory. All of them follow the hand and can be set; a wrong value raises LayoutError (ValueError),
    or IndexError for an index, and the picture stays as it was. `code` reproduces the picture in torch.

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
        middle = [int_("heads", heads) // 2, int_("tokens", tokens) // 2, int_("dim", dim) // 2]
        super().__init__(
            goals,
            batch=batch,
            tokens=tokens,
            heads=heads,
            dim=dim,
            kv_heads=heads if kv_heads is None else kv_heads,
            packing=packing,
            rotary=rotary,
            attention=attention,
            followed=("q", 0, *middle),
        )

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        settings = super()._checked(state)
        heads, kv_heads, packing = (settings[name] for name in ("heads", "kv_heads", "packing"))
        if kv_heads not in self._script.kvChoices(heads, "3HD"):
            raise LayoutError(
                f"{heads} heads do not divide into {kv_heads} groups: kv_heads divides heads"
            )
        if kv_heads not in self._script.kvChoices(heads, packing):
            raise LayoutError(
                f"packing is {packing!r} with kv_heads={kv_heads} of {heads}: "
                'grouped heads are packed as "3HD"'
            )
        return settings | {"followed": self._element(settings, state["followed"])}

    def _element(self, settings: dict[str, Any], element: Any) -> list[str | int]:
        """Return the element as JSON holds it, with an index that counts from 0."""
        part, *index = items_of(element) or ("",)
        if not isinstance(part, str) or part not in ("q", "k", "v") or len(index) != 4:
            raise LayoutError(
                f"followed is {shown(element)}, {a_kind(element)}: "
                'give "q", "k" or "v" and an index, as in ("q", 0, 1, 2, 3)'
            )
        shape = self._script.headsShape(settings, part)
        indices = ints("followed[1:]", index)
        return [part, *(wrap_index(indices[d], d, shape[d]) for d in range(4))]

    def _change(self, **changed: Any) -> None:
        """Change a setting; heads stay ungrouped, and a smaller shape keeps the element inside."""
        state = self._state
        if "heads" in changed and state["kv_heads"] == state["heads"]:
            changed["kv_heads"] = changed["heads"]
        if "followed" not in changed:
            settings = self._checked(state | changed | {"followed": ["q", 0, 0, 0, 0]})
            changed["followed"] = self._script.inside(settings, state["followed"])
        super()._change(**changed)

    batch = setting("batch", "The number of sequences.")
    tokens = setting("tokens", "The number of tokens of each.")
    heads = setting("heads", "The number of heads of q.")
    dim = setting("dim", "The number of elements of a head: 2 or 4.")
    kv_heads = setting("kv_heads", "The number of heads of k and v, which divides that of q.")
    packing = setting("packing", 'The order of the dims in a row of qkv: "3HD", "H3D" or "HD3".')
    rotary = setting("rotary", 'The rotation of q and k: "none", or the sum as it is written.')
    attention = setting("attention", 'Attention by "@" or by "SDPA".')
    followed = setting("followed", 'The element that is followed: "q", "k" or "v", and an index.')
