"""The cheat sheet: which operation is a view, the strides after it, the formats, and what to check."""

from __future__ import annotations

from typing import Any

from stridekit.layout import Layout
from stridekit.rules import stride_in_format

SHAPE = (4, 6)
VIEWS = (
    *("x.t()", "x[1:]", "x[2]", "x[:, ::2]", "x[:, 1:5]", "x.narrow(0, 1, 2)", "x.view(2, 12)"),
    *("x.unflatten(1, (2, 3))", "x.unsqueeze(0)", "x[:, :1].expand(4, 6)", "x.diagonal()"),
    *("x.unfold(1, 3, 1)", "x.split(4, 1)[1]", "x.as_strided((2, 3), (1, 6), 2)", "x.detach()"),
)
DEPENDS = (
    *("x.reshape(24)", "x.t().reshape(24)", "x.contiguous()", "x.t().contiguous()"),
    *("x.flatten()", "x.t().flatten()", "x[:, ::2].reshape(12)", "x[:, :3].reshape(2, 2, 3)"),
)
COPIES = ("x.clone()", "x.t().clone()", "x.flip(0)", "x.repeat(2, 1)", "x.tile(1, 2)")
IMAGES = (2, 3, 4, 5)
FORMATS = ("contiguous_format", "channels_last")
CHECKS = (
    ("the layout", "`x.shape, x.stride(), x.storage_offset()`"),
    ("the place of `x[i, j]`", "`storage_offset + i*stride[0] + j*stride[1]`, in elements"),
    ("dense, in reading order", "`x.is_contiguous()`; all about a tensor: `explain(x)`"),
    (
        "will `view` do?",
        "dims a, b merge if `stride[a] == size[b] * stride[b]`: `explain_view(x, 24)`",
    ),
    ("one memory?", "`shares_memory(x, y)`; bytes alone: `x.data_ptr() == y.data_ptr()`"),
    ("elements that overlap?", "`has_internal_overlap(x)`; a dim that was expanded has stride 0"),
    ("images", "`x.is_contiguous(memory_format=torch.channels_last)`; C has stride 1"),
    ("which line copies?", "`audit(model, x)`; an error: `diagnose()` or the site's Diagnose"),
)


def after(call: str) -> Layout:
    """Return the layout after an operation on a contiguous x of shape (4, 6)."""
    scope: dict[str, Any] = {"x": Layout(SHAPE)}
    return eval(call, scope)


def _table(calls: tuple[str, ...]) -> str:
    lines = ["| operation | kind | shape | stride | offset |", "|---|---|---|---|---|"]
    for call in calls:
        layout = after(call)
        kind = "copy" if layout.copied else "view"
        lines.append(
            f"| `{call}` | {kind} | {layout.shape} | {layout.stride} | {layout.storage_offset} |"
        )
    return "\n".join(lines)


def _formats() -> str:
    lines = [f"| format of {IMAGES}, N C H W | stride |", "|---|---|"]
    for name in FORMATS:
        lines.append(f"| `torch.{name}` | {stride_in_format(IMAGES, name)} |")
    return "\n".join(lines)


def fields() -> dict[str, str]:
    """Return the parts of the page, by the names that pages/cheat_sheet.md gives them."""
    checks = ["| to find out | look at |", "|---|---|"]
    checks += [f"| {question} | {answer} |" for question, answer in CHECKS]
    return {
        "views": _table(VIEWS),
        "depends": _table(DEPENDS),
        "copies": _table(COPIES),
        "formats": _formats(),
        "checks": "\n".join(checks),
    }
