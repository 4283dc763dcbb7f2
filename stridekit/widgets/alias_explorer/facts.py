"""The facts of an AliasExplorer's state, over which goals are set, and its code; facts.js has the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from stridekit.widgets.alias_explorer.session import NAMES, Session

PAIRS = (("y", "x"), ("z", "x"), ("z", "y"))
FACTS = {
    **{"lines": int, "last": str, "changed": tuple, "overlapping": tuple, "storages": int},
    **{f"{y}_and_{x}": str for y, x in PAIRS},
}


def facts(state: dict[str, Any]) -> dict[str, Any]:
    """The lines run, what the last one did and changed, who overlaps itself, who shares with whom.

    Two names have the "same" elements, or those of the first lie "inside" or "around" those of the
    second, or they share "some" or "none". There x, y and z stand for the three, whatever they are called.
    """
    session = Session(state["shape"], state["steps"], state.get("names", NAMES))
    last = session.log[-1] if session.log else None
    names, called = session.names(), dict(zip(NAMES, session.called, strict=True))
    return {
        "lines": len(session.log),
        "last": last and last.kind,
        "changed": tuple(re.findall(r"(?:^|; )(\w+) changed", last.sentence)) if last else (),
        "overlapping": tuple(name for name in names if session.overlap(name)),
        "storages": len(session.tapes),
        **{f"{y}_and_{x}": _shares(session, called[y], called[x]) for y, x in PAIRS},
    }


def _shares(session: Session, y: str, x: str) -> str | None:
    if not {y, x} <= {*session.tensors}:
        return None
    mine, its = session.tensors[y], session.tensors[x]
    ys, xs = {*mine.elements()}, {*its.elements()}
    if mine.tape is not its.tape or not ys & xs:
        return "none"
    return "same" if ys == xs else "inside" if ys < xs else "around" if ys > xs else "some"


def code(shape: Sequence[int], steps: Iterable[str], name: str = "x") -> str:
    """The lines of torch that make the tensors.

    >>> print(code((4, 6), ["y = x[1:]"]))
    x = torch.arange(24).view(4, 6)
    y = x[1:]
    """
    sizes = ", ".join(map(str, shape)) or "()"
    return "\n".join([f"{name} = torch.arange({prod(shape)}).view({sizes})", *steps])
