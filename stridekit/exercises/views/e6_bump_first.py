"""E6: repair a write to an expanded tensor."""

from __future__ import annotations

import copy
from itertools import product
from typing import Any

import torch

from stridekit.exercises.answers import kind
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable, describe
from stridekit.exercises.watch import shares


def read_repaired(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a tensor on memory of its own, in which every index has its own element."""
    if not isinstance(answer, torch.Tensor):
        raise Unusable(f"{kind(answer)}, where a tensor is asked for")
    sharing = answer.numel() > 0 and shares(answer, args["e"])
    one_each = has_an_element_for_every_index(answer)
    facts = {
        "dtype": answer.dtype,
        "shape": tuple(answer.shape),
        "values": answer.tolist(),
        "sharing": sharing,
        "an element for every index": one_each,
    }
    shown = [str(answer.tolist()), describe(answer)]
    if sharing:
        shown.append("on e's storage")
    if not one_each:
        shown.append("several indices share an element")
    return Outcome(facts, "\n".join(shown))


def has_an_element_for_every_index(t: torch.Tensor) -> bool:
    """Whether no two indices of a small tensor lead to one element."""
    indices = product(*map(range, t.shape))
    places = {sum(i * s for i, s in zip(index, t.stride(), strict=True)) for index in indices}
    return len(places) == t.numel()


@exercise(
    title="repair a write to an expanded tensor",
    read=read_repaired,
    cases=[
        "e = torch.arange(3).expand(4, 3)",
        "e = torch.arange(12).view(4, 3)",
        "e = torch.arange(12.0).view(4, 3)[1:, :2]",
        "e = torch.arange(12, dtype=torch.int16).view(3, 4).t()",
        "e = torch.arange(24).view(4, 6)[::2, ::3]",
        "e = torch.arange(4).view(4, 1).expand(4, 3)",
        "e = torch.arange(6.0).unfold(0, 3, 1)",
        "e = torch.arange(6).view(1, 2, 3).expand(2, 2, 3)",
        "e = torch.arange(24).view(2, 3, 4).permute(2, 0, 1)",
        "e = torch.tensor(5.0).expand(2, 3)",
        "e = torch.tensor(7, dtype=torch.uint8).expand(3)",
        "e = torch.arange(5)[2:]",
        "e = torch.arange(5).expand(1, 5)",
        "e = torch.arange(8)[3:4]",
        "e = torch.zeros(3, 0)",
    ],
    hints=[
        "e[0] and e[1] can be the same memory. Whoever writes there, writes to both; and e belongs to "
        "whoever passed it in.",
        "So write to something else: a tensor with e's values in which every index has an element of "
        "its own. Which operation makes one whatever e looks like?",
        "`y = e.clone()`, then `y[0] += 1`, then return y. clone() of an expanded tensor lays all its "
        "rows out side by side.",
    ],
    otherwise="Compare your rows with e's, one by one: row 0 is one more, every other is as before, and "
    "e itself has not changed.",
    takeaway="Before a write, ask who else lives there. clone() gives every index a home of its own.",
)
def bump_first(e: torch.Tensor) -> torch.Tensor:
    """A tensor with e's values, but with 1 added to all of e[0]; e stays as it is.

    e       a strided tensor of numbers with a row or more; its rows may share their memory
    return  a tensor of e's shape and dtype, on a storage of its own, in which every index has an
            element of its own: so that a later write to one row changes no other
    """
    y = e.clone()
    y[0] += 1
    return y


@bump_first.mistake(
    "You write into e's own memory. Where e is expanded, that one row is all of them: all rows grow, "
    "and so does the tensor that e was made from. A slice, `view` or `detach()` lies there too."
)
def writes_to_e(e: torch.Tensor) -> torch.Tensor:
    e[0] += 1
    return e


@bump_first.mistake(
    "`contiguous()` copies only what is not contiguous yet. Right for an expanded e; a plain one it "
    "hands back itself, and then you write into e: try both."
)
def makes_it_contiguous(e: torch.Tensor) -> torch.Tensor:
    y = e.contiguous()
    y[0] += 1
    return y


@bump_first.mistake(
    "`deepcopy` copies the storage and keeps the strides: stride 0 is still there, and the rows of "
    "the copy are still one row. Print the copy's stride."
)
def copies_deeply(e: torch.Tensor) -> torch.Tensor:
    y = copy.deepcopy(e)
    y[0] += 1
    return y


EXPANDED_AGAIN = (
    "You copy a row and expand it again: the copy's rows are one row, as e's were. (And where e's "
    "rows differ, they are lost.)"
)


@bump_first.mistake(EXPANDED_AGAIN)
def copies_a_row_and_expands_it(e: torch.Tensor) -> torch.Tensor:
    y = e[:1].clone().expand(e.shape)
    y[0] += 1
    return y


@bump_first.mistake(EXPANDED_AGAIN)
def bumps_a_row_and_expands_it(e: torch.Tensor) -> torch.Tensor:
    return (e[:1] + 1).expand(e.shape)


@bump_first.mistake(
    "You add to the whole tensor in place. On an expanded one torch refuses, as it should; on any other "
    "you change e, and every row of it."
)
def adds_in_place(e: torch.Tensor) -> torch.Tensor:
    return e.add_(1)


@bump_first.mistake(
    "All rows have grown, and only row 0 should. e is safe, though: what you return is new memory. "
    "In new memory, one row alone can be written to."
)
def adds_to_all(e: torch.Tensor) -> torch.Tensor:
    return e + 1


@bump_first.mistake(
    "Row 0 is as before. Without a trailing underscore, `add` makes a new tensor, and this one is "
    "thrown away."
)
def throws_the_sum_away(e: torch.Tensor) -> torch.Tensor:
    y = e.clone()
    y[0].add(1)
    return y


@bump_first.mistake(
    "That is row 0 alone, one more. Asked is all of e, of the same shape, with the other rows as "
    "they were."
)
def returns_the_row(e: torch.Tensor) -> torch.Tensor:
    return e[0] + 1


@bump_first.mistake(
    "You add along another dim: `y[:, 0]` and `y[..., 0]` are a column. Row 0 is `y[0]`, whatever "
    "comes after it."
)
def bumps_a_column(e: torch.Tensor) -> torch.Tensor:
    y = e.clone()
    y[:, 0] += 1
    return y


@bump_first.mistake(
    "You replace row 0 by ones. It should keep its values and grow by 1: `+=`, not `=`."
)
def overwrites_the_row(e: torch.Tensor) -> torch.Tensor:
    y = e.clone()
    y[0] = 1
    return y
