"""E6: the same result with fewer bytes copied."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from stridekit.exercises.answers import kind
from stridekit.exercises.copy_log import Logged, logging_copies
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable, describe

OUTSIDE = (
    "Your line takes memory that no operation of torch made here: a list's, or a NumPy array's. What "
    "is copied there nobody counts. Stay with views and copies of x."
)


def read_with_copies(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a tensor, with what was copied on the way; fewer bytes than needed are fine."""
    if not isinstance(answer, Tensor):
        raise Unusable(f"{kind(answer)}, where a tensor is asked for")
    log, x = cast(Logged, args).log, args["x"]
    copies, outside = list(log.copies), log.outside or not log.knows(answer)
    needed = 0 if x.transpose(1, 2).is_contiguous() else x.numel() * x.element_size()
    copied = sum(nbytes for _, nbytes in copies)
    by = ", ".join(f"{nbytes} by {name}" for name, nbytes in copies)
    facts: dict[str, Any] = {
        "dtype": answer.dtype,
        "shape": tuple(answer.shape),
        "values": answer.tolist(),
        "stride": answer.stride() if answer.numel() else "free",
        "bytes copied": "outside torch" if outside else max(copied, needed),
    }
    shown = f"{describe(answer)}, {copied} bytes copied" + (f": {by}" if copied else "")
    return Outcome(facts, shown, OUTSIDE if outside else "")


Y = "y = torch.arange(24).view(2, 3, 4)"
W = "w = torch.arange(48).view(2, 4, 6)"


@exercise(
    title="the same with fewer copies",
    read=read_with_copies,
    fence=logging_copies,
    cases=[
        f"{Y}; x = y",
        f"{Y}; x = y.transpose(1, 2)",
        f"{W}; x = w[:, :, :3]",
        f"{W}; x = w[:, :, ::2]",
        f"{W}; x = w[:, 1:].transpose(1, 2)",
        f"{W}; x = w.transpose(1, 2)[:, ::2]",
        "x = torch.arange(24).view(4, 3, 2).transpose(1, 2)[::2]",
        f"{Y}; x = y.permute(2, 0, 1)",
        f"{Y}; x = y.permute(1, 2, 0)",
        f"{Y}; x = y.permute(2, 1, 0)",
        "x = torch.arange(18, dtype=torch.int16).view(2, 3, 3)",
        "x = torch.arange(18, dtype=torch.int16).view(2, 3, 3).transpose(1, 2)",
        "x = torch.arange(40, dtype=torch.float32).view(2, 4, 5)[1:, :, 1:4]",
        "x = torch.arange(40, dtype=torch.float32).view(2, 5, 4)[1:].transpose(1, 2)",
        "x = torch.arange(6).view(1, 2, 3).expand(4, 2, 3)",
        "x = torch.arange(3).expand(2, 4, 3)",
        "x = torch.arange(12).view(2, 6, 1)",
        "x = torch.arange(12).view(2, 1, 6)",
        "x = torch.arange(24).view(2, 12, 1)[:, ::2]",
        "x = torch.arange(24).view(4, 1, 6)[::2]",
        "x = torch.tensor([[[7]]])",
        "x = torch.empty(2, 0, 3)",
        "x = torch.empty(0, 2, 3)",
    ],
    hints=[
        "Count the copies of the given line on `x = torch.empty(2, 4, 6)[:, :, :3]`: which of its "
        "four steps move elements? What does the first of them change, as far as the result goes?",
        "The elements have to be read by columns, and that is what `x.transpose(1, 2)` does, without "
        "a copy. From there on: what gives a contiguous tensor, and copies only if it has to?",
        "`contiguous()` gives back the very same tensor if it is contiguous. So one of the two in "
        "the line is enough: the one behind the transpose.",
    ],
    otherwise="Go through your line on this input: after each step, which shape and which stride, and "
    "does it stand in new memory? Only what the next step needs should be copied.",
    takeaway="First the views, then at most one copy, in the order that is wanted in the end.",
)
def by_columns(x: torch.Tensor) -> torch.Tensor:
    """Each matrix of x as one row, read by columns, with fewer copies than this line makes.

        x.contiguous().transpose(1, 2).contiguous().view(x.size(0), x.size(1) * x.size(2))

    x       a tensor of three dims, perhaps sliced, transposed or expanded
    return  the same tensor: its shape, its stride and its values. It may be a view of x. No
            more bytes are copied than have to be: x.numel() elements, and none where x lies
            in memory by columns already
    """
    return x.transpose(1, 2).contiguous().view(x.size(0), x.size(1) * x.size(2))


def width(x: Tensor) -> tuple[int, int]:
    """The shape of the result."""
    return x.size(0), x.size(1) * x.size(2)


TWO_COPIES = (
    "The same values, the same layout, and up to two copies. (reshape copies too, it only does not "
    "say so.) Which of your steps move elements, and what is the first copy good for in the end?"
)


@by_columns.mistake(TWO_COPIES)
def as_given(x: Tensor) -> Tensor:
    return x.contiguous().transpose(1, 2).contiguous().view(width(x))


@by_columns.mistake(TWO_COPIES)
def hides_a_copy_in_reshape(x: Tensor) -> Tensor:
    return x.contiguous().transpose(1, 2).reshape(width(x))


@by_columns.mistake(
    "You copy always, also where x lies in memory by columns already and a view would do. `clone` "
    "never asks; which method copies only if it has to?"
)
def clones_always(x: Tensor) -> Tensor:
    return x.transpose(1, 2).clone(memory_format=torch.contiguous_format).view(width(x))


@by_columns.mistake(
    "Twice the bytes on every input: you copy the elements, and then once more what is new already. "
    "One of these copies alone would do; which of them does nothing for the result?"
)
def clones_at_the_end(x: Tensor) -> Tensor:
    return x.transpose(1, 2).contiguous().view(width(x)).clone()


@by_columns.mistake(
    "Few copies, but not always the same layout: reshape stays a view wherever there is one, also "
    "one with gaps. Compare the strides where x is a slice of something that lies by columns."
)
def leaves_it_to_reshape(x: Tensor) -> Tensor:
    return x.transpose(1, 2).reshape(width(x))


BY_ROWS = (
    "reshape is not a transpose. It keeps the reading order, row by row, and only cuts it anew; the "
    "columns come first only after `transpose(1, 2)`."
)


@by_columns.mistake(BY_ROWS)
def forgets_the_transpose(x: Tensor) -> Tensor:
    return x.reshape(width(x))


@by_columns.mistake(BY_ROWS)
def forgets_the_transpose_of_a_copy(x: Tensor) -> Tensor:
    return x.contiguous().view(width(x))


@by_columns.mistake(
    "reshape is not a transpose. It keeps the reading order and gives it another shape: here the "
    "shape of the transpose, with the elements in the wrong places."
)
def reshapes_instead(x: Tensor) -> Tensor:
    return x.reshape(x.size(0), x.size(2), x.size(1)).transpose(1, 2).contiguous().view(width(x))


@by_columns.mistake(
    "You make it contiguous too early. The transpose behind it turns the strides round again, and "
    "view finds two chunks. Where in the line is a contiguous tensor needed?"
)
def makes_it_contiguous_too_early(x: Tensor) -> Tensor:
    return x.contiguous().transpose(1, 2).view(width(x))


@by_columns.mistake(
    "No copy at all: that is a view only where x lies in memory by columns already. Elsewhere torch "
    "refuses it, as it has to: one copy is needed."
)
def never_copies(x: Tensor) -> Tensor:
    return x.transpose(1, 2).view(width(x))


@by_columns.mistake(
    "clone keeps the order in memory, so behind the transpose it copies and changes nothing for "
    "view. `contiguous()` is the one that puts the elements in reading order."
)
def clones_in_the_old_order(x: Tensor) -> Tensor:
    return x.transpose(1, 2).clone().view(width(x))
