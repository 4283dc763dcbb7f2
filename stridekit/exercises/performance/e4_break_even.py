"""E4: after how many uses a copy has paid back, in lines."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from stridekit.exercises.answers import read_uses
from stridekit.exercises.core import exercise
from stridekit.exercises.performance import e2_cache_lines
from stridekit.exercises.performance.lines import dense_lines, lines_of

cache_lines = e2_cache_lines.cache_lines.reference


@exercise(
    title="when does a copy pay back, in lines?",
    read=read_uses,
    cases=[
        "t = torch.zeros(1000, 2)[:, 0]",
        "t = torch.zeros(320, 5)[:, 0]",
        "t = torch.zeros(64, 16)[:, 3]",
        "t = torch.zeros(64, 40)[:, 3]",
        "t = torch.zeros(96, 3, dtype=torch.float64)[:, 1]",
        "t = torch.zeros(200, 5, dtype=torch.uint8)[:, 2]",
        "t = torch.zeros(90, 2)[7:60, 1]",
        "t = torch.zeros(12, 64)[:, 4:36]",
        "t = torch.zeros(40, 4, 6)[:, 1, ::2]",
        "t = torch.zeros(7, 40)[:, 20:29].t()",
        "t = torch.zeros(64, 2, 16)[:, 0]",
        "t = torch.zeros(40, 24)",
        "t = torch.zeros(40, 24)[5:9]",
        "t = torch.zeros(1, 64, 30).permute(1, 2, 0)",
        "t = torch.zeros(40, 24).t()",
        "t = torch.zeros(16).expand(30, 16)",
        "t = torch.zeros(30, 1).expand(30, 20)",
        "t = torch.zeros(8, 4, 16)[:, ::2].transpose(0, 2)",
        "t = torch.zeros(9, 30)[:, 2:3]",
        "t = torch.zeros(9, 30)[4, 2]",
        "t = torch.zeros(9, 30)[:, 7:7]",
    ],
    hints=[
        "Count three things in lines: what t touches, what its dense copy fills, and what making the "
        "copy moves.",
        "To copy reads all of t and writes all of the copy. A use then reads the copy instead of t: how "
        "many lines does that save each time?",
        "0 if `t.is_contiguous()`. Else with a = lines of t and b = lines of the copy: "
        "`math.ceil((a + b) / (a - b))` if `a > b`, else `math.inf`.",
    ],
    otherwise="With a lines of t and b lines of its copy, n uses cost n*a without the copy, and "
    "a + b + n*b with it. Try your n, and n - 1.",
    takeaway="A copy pays back only where it is packed closer than what it copies, and is used again.",
)
def break_even(t: torch.Tensor) -> float:
    """After how many uses `c = t.contiguous()` has paid back, counted in cache lines of 64 bytes.

    t       a tensor on a storage whose byte 0 starts a line; a use reads each line of it once
    return  the smallest whole n >= 0 for which making c, and reading c n times, moves no more
            lines than reading t n times; math.inf if there is none. c starts a line, and
            where t is contiguous already it is t itself
    """
    if t.is_contiguous():
        return 0
    before = cache_lines(t.shape, t.stride(), t.storage_offset(), t.itemsize)
    after = math.ceil(t.numel() * t.itemsize / 64)
    if after >= before:
        return math.inf
    return math.ceil((before + after) / (before - after))


def lines_of_both(t: Tensor) -> tuple[int, int]:
    """How many lines t touches, and how many its dense copy fills."""
    return lines_of(t), dense_lines(t.shape, t.itemsize)


def uses(t: Tensor, cost: int, saved: int) -> float:
    """How many uses make up for a cost."""
    if t.is_contiguous():
        return 0
    return math.ceil(cost / saved) if saved > 0 else math.inf


@break_even.mistake(
    "You pay for writing the copy alone. To make it, t has to be read once, every line of it."
)
def forgets_to_read_t(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return uses(t, b, a - b)


@break_even.mistake(
    "You pay for reading t alone. The copy has to be written as well, every line of it."
)
def forgets_to_write_the_copy(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return uses(t, a, a - b)


@break_even.mistake(
    "You compare one use with one use, as if the copy were free. It is paid for once, by reading all of "
    "t and writing all of the copy."
)
def forgets_the_copy(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return 0 if t.is_contiguous() else 1 if a > b else math.inf


@break_even.mistake(
    "You divide by what a use costs with the copy. What pays it back is what a use *saves*: the lines "
    "of t less those of the copy."
)
def divides_by_a_use(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return uses(t, a + b, b if a > b else 0)


@break_even.mistake(
    "You count the bytes of the elements, and t has as many as its copy: so nothing would ever be saved. "
    "What differs is how many *lines* they lie on."
)
def counts_elements(t: Tensor) -> float:
    return 0 if t.is_contiguous() else math.inf


@break_even.mistake(
    "You charge a whole line for every element. Neighbours share lines, in t and in its copy: count the "
    "different lines of each."
)
def a_line_an_element(t: Tensor) -> float:
    a, b = t.numel(), dense_lines(t.shape, t.itemsize)
    return uses(t, a + b, a - b)


@break_even.mistake(
    "You round down. After that many uses the copy has not quite paid back; part of a use does not "
    "exist, so it takes one more."
)
def rounds_down(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return (a + b) // (a - b) if a > b and not t.is_contiguous() else break_even.reference(t)


@break_even.mistake(
    "The right quotient, not yet a count of uses: part of a use does not exist. What is the smallest "
    "whole number that is enough?"
)
def leaves_a_fraction(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return (a + b) / (a - b) if a > b and not t.is_contiguous() else break_even.reference(t)


@break_even.mistake(
    "One use too many where the sums are equal: then the copy has paid back exactly, and that counts."
)
def waits_until_it_is_cheaper(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return (a + b) // (a - b) + 1 if a > b and not t.is_contiguous() else break_even.reference(t)


@break_even.mistake(
    "`t.contiguous()` of a contiguous tensor is t itself: nothing is copied, so nothing has to be paid "
    "back. Ask `t.is_contiguous()` first."
)
def copies_what_is_contiguous(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return math.ceil((a + b) / (a - b)) if a > b else math.inf


NEVER = (
    "Right where the copy is packed closer. Where it touches as many lines as t, or more, no number of "
    "uses pays it back: the answer there is `math.inf`."
)


@break_even.mistake(NEVER)
def gives_what_the_formula_gives(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return 0 if t.is_contiguous() else math.ceil((a + b) / (a - b))


@break_even.mistake(NEVER)
def takes_the_size_of_the_difference(t: Tensor) -> float:
    a, b = lines_of_both(t)
    return 0 if t.is_contiguous() else math.inf if a == b else math.ceil((a + b) / abs(a - b))


@break_even.mistake(NEVER)
def answers_nought(t: Tensor) -> float:
    solved = break_even.reference(t)
    return 0 if solved == math.inf else solved


@break_even.mistake(NEVER)
def answers_minus_one(t: Tensor) -> float:
    solved = break_even.reference(t)
    return -1 if solved == math.inf else solved
