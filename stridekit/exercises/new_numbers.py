"""Cards that ask again with new numbers: torch gives each its right choice.

A function stands for one card, which it names by the beginning of its question. It returns the same
question about other numbers. `random` draws them, so that no two choices are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import torch

from stridekit._defaults import torch_defaults
from stridekit.widgets import Predict

Maker = Callable[[Random], Predict]
_MAKERS: dict[str, Maker] = {}


def problem(question: str, random: Random) -> dict[str, Any] | None:
    """Return a card's problem with new numbers; None if the card has the same numbers each time."""
    maker = next((maker for start, maker in _MAKERS.items() if question.startswith(start)), None)
    if maker is None:
        return None
    with torch_defaults():
        return dict(maker(random)._problem)


def beginnings() -> list[str]:
    """Return how the questions begin that have new numbers."""
    return [*_MAKERS]


def _varies(start: str) -> Callable[[Maker], Maker]:
    """Register a function for the card whose question begins like this."""

    def register(maker: Maker) -> Maker:
        _MAKERS[start] = maker
        return maker

    return register


def _shuffled(random: Random, *choices: Any) -> list[Any]:
    """Return choices in a new order, so that nobody learns the place of the right one."""
    return random.sample(choices, len(choices))


def _remarks(answer: Any, remarks: Mapping[Any, str]) -> dict[Any, str]:
    """Return the remarks on answers that are wrong with these numbers."""
    return {wrong: text for wrong, text in remarks.items() if wrong != answer}


@_varies("How many bytes do the numbers of `torch.zeros(5, 8)` take?")
def _bytes_of_zeros(random: Random) -> Predict:
    rows, columns = random.sample(range(3, 10), 2)
    answer = torch.zeros(rows, columns).nbytes
    return Predict(
        f"How many bytes do the numbers of `torch.zeros({rows}, {columns})` take?",
        answer,
        why=f"{rows} * {columns} numbers of 4 bytes each: torch makes float32 by default.",
        remarks={rows * columns: "That is how many numbers there are; each takes several bytes."},
    )


@_varies("`big` has shape (40, 60) and stride (60, 1).")
def _element_of_big(random: Random) -> Predict:
    rows, columns = random.sample(range(20, 90, 10), 2)
    i, j = random.sample(range(2, 10), 2)
    answer = torch.empty(rows, columns)[i, j].storage_offset()
    return Predict(
        f"`big` has shape ({rows}, {columns}) and stride ({columns}, 1). "
        f"Which element of the storage is `big[{i}, {j}]`?",
        answer,
        why=f"{i} steps of {columns} and {j} steps of 1, from the start.",
        remarks={
            i + j: "That adds up the indices. Each index counts steps of a different length.",
            i * rows + j: f"A row of `big` is {columns} numbers long, not {rows}.",
        },
    )


@_varies("What is the stride of `x.t()`, of shape (6, 4)?")
def _stride_of_transpose(random: Random) -> Predict:
    rows, columns = random.sample(range(3, 10), 2)
    x = torch.empty(rows, columns)
    return Predict(
        f"`x` is new, of shape ({rows}, {columns}). What is the stride of `x.t()`?",
        x.t().stride(),
        choices=_shuffled(random, (rows, 1), (columns, 1), (1, columns), (1, rows)),
        why="`t()` swaps the two strides and moves no number.",
        remarks={
            (rows, 1): "You would get that if the numbers were moved into a new tensor.",
            (columns, 1): "Those are the strides of `x`. Its first index is now the second one.",
            (
                1,
                rows,
            ): "The rows of `x` lie one row apart, and a row has as many numbers as columns.",
        },
    )


@_varies("What are the strides of `x.numpy()`, in bytes?")
def _numpy_strides(random: Random) -> Predict:
    columns = random.randint(3, 9)
    dtype = random.choice([torch.int16, torch.float32, torch.int64])
    x = torch.empty(4, columns, dtype=dtype)
    size = x.element_size()
    return Predict(
        f"`x` is new, of shape (4, {columns}), with elements of {size} bytes. "
        "What are the strides of `x.numpy()`, in bytes?",
        x.numpy().strides,
        why=f"A step of {columns} elements of {size} bytes is {columns * size} bytes.",
        remarks={x.stride(): "These are steps in elements, torch's unit."},
    )


@_varies("Which element of the storage is `z[1, 1]`?")
def _element_of_slice(random: Random) -> Predict:
    columns = random.randint(5, 9)
    down, right = random.sample(range(1, 4), 2)
    x = torch.empty(6, columns)
    z = x[down:, right:]
    start = z.storage_offset()
    return Predict(
        f"`x` is new, of shape (6, {columns}), and `z = x[{down}:, {right}:]`. "
        "Which element of the storage is `z[1, 1]`?",
        z[1, 1].storage_offset(),
        why=f"From where `z` begins: {start} + 1 * {columns} + 1 * 1.",
        remarks={
            columns + 1: "The steps are right, but they begin where `z` begins.",
            start + z.size(1) + 1: "The rows of `z` still lie as far apart as those of `x`.",
        },
    )


@_varies("What is the stride of `torch.empty(2, 3, 4)`?")
def _stride_of_empty(random: Random) -> Predict:
    shape = tuple(random.sample(range(2, 7), 3))
    first, second, third = shape
    answer = torch.empty(shape).stride()
    remarks = {
        (1, first, first * second): "That is by columns. New tensors in torch are by rows.",
        (second, third, 1): "A step along dim 0 passes whole rows, not single elements.",
        (first * second * third, second * third, third): "That is one step too far along each dim.",
    }
    return Predict(
        f"What is the stride of `torch.empty{shape}`?",
        answer,
        why="A step along a dim passes over everything to its right.",
        remarks=_remarks(answer, remarks),
    )


@_varies("What are shape, stride and offset of `cube[2, 1:3, 1:6:3]`?")
def _layout_of_slice(random: Random) -> Predict:
    i, j = random.sample(range(1, 4), 2)
    step = random.choice([2, 3])
    s = torch.empty(4, 5, 7)[i, j:, 1::step]
    shape = tuple(s.shape)

    def layout(stride: tuple[int, int], offset: int) -> str:
        return f"{shape}, {stride}, {offset}"

    answer = layout((7, step), s.storage_offset())
    return Predict(
        f"`cube` is new, of shape (4, 5, 7). What are shape, stride and offset of "
        f"`cube[{i}, {j}:, 1::{step}]`?",
        answer,
        choices=_shuffled(
            random,
            answer,
            layout((7, 1), s.storage_offset()),
            layout((7, step), i),
            layout((7 * step, 1), s.storage_offset()),
        ),
        why="Each start moves the offset, each step stretches its stride.",
        remarks={layout((7, 1), s.storage_offset()): "The step stretches a stride, too."},
    )


@_varies("What is the stride of `x.diagonal()`?")
def _stride_of_diagonal(random: Random) -> Predict:
    rows, columns = random.randint(2, 9), random.randint(3, 9)
    return Predict(
        f"`x` is new, of shape ({rows}, {columns}). What is the stride of `x.diagonal()`?",
        torch.empty(rows, columns).diagonal().stride(),
        why=f"One row down and one column to the right: {columns} + 1.",
        remarks={
            (columns,): "Straight down. The diagonal goes to the right as well.",
            (1,): "Straight to the right. The diagonal goes down as well.",
            (columns - 1,): "Down and to the left: that is the other diagonal.",
        },
    )


@_varies("How many bytes of new memory does `tall + flat` take?")
def _bytes_of_broadcast(random: Random) -> Predict:
    rows, columns = random.sample(range(100, 1000, 100), 2)
    total = torch.zeros(rows, 1) + torch.zeros(columns)
    return Predict(
        f"`tall` has shape ({rows}, 1), `flat` has shape ({columns},), both float32. "
        "How many bytes of new memory does `tall + flat` take?",
        total.nbytes,
        why=f"Its result has {rows} * {columns} numbers of 4 bytes. Nothing else is written.",
        remarks={
            total.numel(): "That is how many numbers the result has; each takes 4 bytes.",
            3 * total.nbytes: "No operand is written out at full size.",
        },
    )


@_varies("`cube` has shape (2, 3, 4). What is the shape of `cube.permute(1, 2, 0)`?")
def _shape_of_permute(random: Random) -> Predict:
    shape = tuple(random.sample(range(2, 8), 3))
    dims = random.choice([(1, 2, 0), (2, 0, 1)])
    other_way = (2, 0, 1) if dims == (1, 2, 0) else (1, 2, 0)
    cube = torch.empty(shape)
    answer = tuple(cube.permute(dims).shape)
    first, second, third = answer
    return Predict(
        f"`cube` has shape {shape}. What is the shape of `cube.permute{dims}`?",
        answer,
        choices=_shuffled(
            random, answer, tuple(cube.permute(other_way).shape), (third, second, first), shape
        ),
        why=f"`dims` lists sources: first dim {dims[0]}, then dim {dims[1]}, then dim {dims[2]}.",
        remarks={tuple(cube.permute(other_way).shape): "That is the inverse permutation."},
    )


@_varies("`a` is [[0, 1, 2], [3, 4, 5]]. What is row 1 of `a.reshape(3, 2)`?")
def _row_of_reshape(random: Random) -> Predict:
    start = random.randint(1, 50)
    a = torch.arange(start, start + 6).view(2, 3)
    return Predict(
        f"`a` is {a.tolist()}. What is row 1 of `a.reshape(3, 2)`?",
        tuple(a.reshape(3, 2)[1].tolist()),
        choices=_shuffled(
            random, tuple(a.t()[1].tolist()), (start + 2, start + 3), (start + 3, start + 4)
        ),
        why="`reshape` keeps the reading order and only cuts it anew.",
        remarks={
            tuple(a.t()[1].tolist()): "That is row 1 of `a.t()`, which exchanges the indices."
        },
    )


@_varies("`z = x.t()` has shape (6, 4). Where is `z[3, 2]` in `z.reshape(3, 8)`?")
def _place_after_reshape(random: Random) -> Predict:
    i, j = random.randint(1, 5), random.randint(0, 3)
    z = torch.arange(24).view(4, 6).t()
    place = tuple((z.reshape(3, 8) == z[i, j]).nonzero()[0].tolist())
    in_memory = divmod(int(z[i, j]), 8)
    number = i * 4 + j
    return Predict(
        f"`z` is the transpose of a new tensor and has shape (6, 4). "
        f"Where is `z[{i}, {j}]` in `z.reshape(3, 8)`?",
        place,
        why=f"It is number {i} * 4 + {j} = {number} in the reading order of `z`.",
        remarks=_remarks(
            place, {in_memory: "That is its place in memory. reshape counts in reading order."}
        ),
    )
