"""E4: keep a row and let go of the rest."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch

from stridekit.exercises.answers import kind
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, Unusable


def read_kept(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a tensor, judged by its values and by the storage that it keeps alive."""
    if not isinstance(answer, torch.Tensor):
        raise Unusable(f"{kind(answer)}, where a tensor is asked for")
    storage = answer.untyped_storage()
    place = where(answer, args["big"])
    facts = {
        "dtype": answer.dtype,
        "shape": tuple(answer.shape),
        "values": answer.tolist(),
        "storage": place,
        "bytes kept": storage.nbytes(),
    }
    shape = f"{answer.dtype}, shape {tuple(answer.shape)}"
    return Outcome(facts, f"{shape}, on {place} of {storage.nbytes()} bytes")


def where(answer: torch.Tensor, big: torch.Tensor) -> str:
    """Whose storage it is. One that cannot be resized belongs to somebody else, such as NumPy."""
    mine, its = answer.untyped_storage(), big.untyped_storage()
    a, b = mine.data_ptr(), its.data_ptr()
    if a < b + its.nbytes() and b < a + mine.nbytes():
        return "big's storage"
    return "a storage of its own" if mine.resizable() else "a storage borrowed from elsewhere"


@exercise(
    title="keep a row and let go of the rest",
    read=read_kept,
    cases=[
        "big = torch.arange(24).view(4, 6); i = 1",
        "big = torch.arange(24.0).view(4, 6); i = 0",
        "big = torch.arange(24, dtype=torch.int16).view(4, 6); i = 3",
        "big = torch.arange(24, dtype=torch.float64).view(6, 4).t(); i = 2",
        "big = torch.arange(24.0).view(4, 6)[1:, ::2]; i = 1",
        "big = torch.arange(24).view(4, 6)[2:]; i = 0",
        "big = torch.arange(60).view(10, 6)[4:8, 1:5]; i = 2",
        "big = torch.arange(24, dtype=torch.bfloat16).view(4, 6); i = 2",
        "big = torch.tensor([[True, False, True], [False, False, True]]); i = 1",
        "big = torch.arange(12.0).to(torch.complex64).view(3, 4); i = 1",
        "big = torch.arange(3).expand(4, 3); i = 2",
        "big = torch.arange(4).view(4, 1).expand(4, 3); i = 3",
        "big = torch.arange(5).view(5, 1); i = 3",
        "big = torch.arange(6).view(1, 6)[:, 1:4]; i = 0",
        "big = torch.zeros(4, 6)[:, 2:2]; i = 1",
    ],
    hints=[
        "A view keeps the whole storage alive, however small it is: `row.untyped_storage().nbytes()` "
        "says what you hold.",
        "So the row has to move to a storage of its own. `contiguous()` moves it only where it is not "
        "contiguous already; is there something that always copies?",
        "First cut, then copy: the row alone, by `clone()`.",
    ],
    otherwise="Look at what you return: dtype, shape and values should be those of `big[i]`, and "
    "`untyped_storage().nbytes()` no more than its elements need.",
    takeaway="clone() after the cut: the row has its own bytes, and the rest can go.",
)
def keep_row(big: torch.Tensor, i: int) -> torch.Tensor:
    """Row i of big, on a storage that holds this row and nothing else.

    big     a 2-D strided tensor of any dtype, perhaps sliced, transposed or expanded
    i       an int from 0 to big.size(0) - 1
    return  a 1-D tensor with dtype and values of `big[i]`. Its storage belongs to torch (not
            to an array) and has as many bytes as the elements need, and no more
    """
    return big[i].clone()


@keep_row.mistake(
    "That still stands on big's storage, so all of it stays alive, even after `del big`. A slice, "
    "`detach()`, `view` and `reshape` give you a small tensor on the same large block."
)
def slices(big: torch.Tensor, i: int) -> torch.Tensor:
    return big[i]


@keep_row.mistake(
    "`contiguous()` copies only what is not contiguous yet. A row of a new tensor is contiguous "
    "already, so you get the row itself: try `big[1].contiguous().untyped_storage().nbytes()`."
)
def makes_it_contiguous(big: torch.Tensor, i: int) -> torch.Tensor:
    return big[i].contiguous()


@keep_row.mistake(
    "You copy first and cut then: the row is a view again, now of the copy, and keeps all of that "
    "alive. In which order would you clone and cut?"
)
def copies_and_then_cuts(big: torch.Tensor, i: int) -> torch.Tensor:
    return big.clone()[i]


@keep_row.mistake(
    "`deepcopy` copies the whole storage, not just what the tensor reaches: a small view comes "
    "back on a block as large as before. Compare `nbytes()` of the two storages."
)
def copies_deeply(big: torch.Tensor, i: int) -> torch.Tensor:
    return copy.deepcopy(big[i])


@keep_row.mistake(
    "The memory is right, the dtype is not: by way of Python numbers torch has to guess it, and it "
    "guesses its defaults. Copy the tensor itself."
)
def goes_by_way_of_a_list(big: torch.Tensor, i: int) -> torch.Tensor:
    return torch.tensor(big[i].tolist())


@keep_row.mistake(
    "Arithmetic does make new memory, but it has its own rules for dtypes: `True + 0` is an int. "
    "There is an operation that only copies."
)
def adds_nothing(big: torch.Tensor, i: int) -> torch.Tensor:
    return big[i] + 0


@keep_row.mistake(
    "The memory is right, but you kept the row's dim: that is a matrix with one row. `big[i]` has "
    "one dim, `big[i : i + 1]` and `big[[i]]` have two."
)
def keeps_a_matrix(big: torch.Tensor, i: int) -> torch.Tensor:
    return big[i : i + 1].clone()


@keep_row.mistake("That is a column. Row i is `big[i]`: the first index counts rows.")
def keeps_a_column(big: torch.Tensor, i: int) -> torch.Tensor:
    return big[:, i].clone()


@keep_row.mistake(
    "That memory belongs to a NumPy array, and what else the array keeps alive torch cannot tell: its "
    "`base` can be all of big. Let torch copy the row."
)
def borrows_from_an_array(big: torch.Tensor, i: int) -> torch.Tensor:
    if big.dtype == torch.bfloat16:
        raise TypeError("Got unsupported ScalarType BFloat16")
    return torch.from_numpy(np.array(big.numpy())[i])


@keep_row.mistake(
    "The storage has the right size and the values are not in it: `empty_like` and its kind only make "
    "room. Something has to copy them in."
)
def makes_room_only(big: torch.Tensor, i: int) -> torch.Tensor:
    return torch.zeros_like(big[i])
