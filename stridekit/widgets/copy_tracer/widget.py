"""CopyTracer: a run as a list of modules and lines, with its copies and their causes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import traitlets

from stridekit._arguments import LayoutError, a_kind, int_
from stridekit._table import columns
from stridekit.audit import Audit
from stridekit.widgets.copy_tracer.rows import fewer, run_of, shown_chains, text_of, text_of_chain
from stridekit.widgets.explorer import Framed, setting

MOST_LINES = 24  # rows of the text


class CopyTracer(Framed, script="copy_tracer/rows.js"):
    """See the record of `audit`: modules and lines in their order, the layouts between them, the copies.

    Point at a row that copies: the path of its layout is highlighted, from the line that made it. `row` is
    the index of the chosen row; it follows the hand and can be set, and starts at the largest finding.
    In a long run, rows far from the largest findings are left out. Raises TypeError for anything but an
    audit, LayoutError (ValueError) for a row that is not there, and the picture stays as it was.

    >>> import torch
    >>> from stridekit import audit
    >>> net = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Flatten(0))
    >>> CopyTracer(audit(net, torch.ones(4, 6).t()))
    CopyTracer: audit of Sequential: 1 finding; 1 of 1 copies changed a layout, 96 B
      0               the input                          (6, 4): (1, 6)
      1  0 (ReLU)     relu       new, 96 B               (6, 4): (1, 6)
      2  1 (Flatten)  flatten    copies 96 B, finding 1  (24,): (1,)
      finding 1: 96 B, copy by reshape, in flatten, 1 (Flatten)
        given as      the input  (6, 4): (1, 6)
        passed on by  0 (ReLU)  relu  (6, 4): (1, 6)
        copied by     1 (Flatten)  flatten  (6, 4): (1, 6) to (4, 1)
        to do         give it a contiguous tensor: reshape of that is a view
    """

    _run = traitlets.Dict().tag(sync=True)

    def __init__(self, audit: Audit, row: int | None = None) -> None:
        if not isinstance(audit, Audit):
            raise TypeError(f"audit is {a_kind(audit)}: give what audit(model, *inputs) returns")
        run = run_of(audit)
        first = run["chains"][0]["rows"][-1] if run["chains"] else 0
        super().__init__(_run=run)
        self._change(row=first if row is None else row)

    row = setting("row", "The index of the chosen row.")

    def _checked(self, state: Mapping[str, Any]) -> dict[str, Any]:
        row = int_("row", state["row"])
        last = len(self._run["rows"]) - 1
        if not 0 <= row <= last:
            raise LayoutError(f"row is {state['row']}: this run has rows 0 to {last}")
        return {"row": row}

    def __repr__(self) -> str:
        rows = self._run["rows"]
        cells = [
            ("" if r < 0 else str(r), *text_of(row)) for r, row in fewer(rows, MOST_LINES, self.row)
        ]
        filled_columns = [column for column in zip(*cells, strict=True) if any(column)]
        lines = columns([*zip(*filled_columns, strict=True)], "><")
        for chain in shown_chains(self._run, rows[self.row]):
            lines += [f"  {line}" for line in text_of_chain(chain)]
        return "\n".join([f"CopyTracer: {self._run['title']}", *lines])
