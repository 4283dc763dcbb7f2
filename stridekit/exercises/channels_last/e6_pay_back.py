"""E6: after how many uses a conversion has paid back."""

from __future__ import annotations

import math
from fractions import Fraction

from stridekit.exercises.answers import read_uses
from stridekit.exercises.core import exercise


@exercise(
    title="when does the conversion pay back?",
    read=read_uses,
    # Times whose sums and products floats hold exactly, so that every way to count agrees.
    cases=[
        "convert = 100; before = 30; after = 20",
        "convert = 8; before = 5; after = 2",
        "convert = 7; before = 5; after = 2",
        "convert = 0.5; before = 0.375; after = 0.25",
        "convert = 1; before = 10; after = 1",
        "convert = 1.5; before = 8.0; after = 0.5",
        "convert = 12; before = 7; after = 3",
        "convert = 12; before = 7; after = 4",
        "convert = 13; before = 7; after = 4",
        "convert = 14; before = 7; after = 4",
        "convert = 1000; before = 3; after = 2",
        "convert = 0.75; before = 0.25; after = 0.125",
        "convert = 0; before = 2; after = 1",
        "convert = 5; before = 2; after = 2",
        "convert = 5; before = 2; after = 3",
        "convert = 0.5; before = 0.25; after = 0.75",
        "convert = 0; before = 2; after = 2",
        "convert = 0; before = 2; after = 3",
        "convert = 40; before = 0.0625; after = 0",
    ],
    hints=[
        "Without converting, n uses take `n * before`. With it, they take `convert + n * after`. For "
        "which n is the second no longer the larger?",
        "Each use saves `before - after`. How many of these savings make up for convert? Part of a use "
        "does not exist, and savings that are no savings never add up.",
        "`math.ceil(convert / (before - after))` where `after < before`; where it is not, 0 if convert "
        "is 0, and else `math.inf`.",
    ],
    otherwise="Try your n: `convert + n * after <= n * before` should hold, and no longer with n - 1. "
    "Where no n does it, answer math.inf.",
    takeaway="A conversion is worth it for what is used often: in a network, once at its entrance.",
)
def uses_to_pay_back(convert: float, before: float, after: float) -> float:
    """After how many uses a conversion has paid back.

    convert  what the conversion takes, once: a time >= 0
    before   what one use takes without it: a time >= 0, in the same unit
    after    what one use takes with it
    return   the smallest whole n >= 0 for which convert and n uses with it take no longer than n
             uses without; math.inf if there is none
    """
    if convert == 0:
        return 0
    if after >= before:
        return math.inf
    return math.ceil(convert / (before - after))


@uses_to_pay_back.mistake(
    "You round down. After that many uses the conversion has not quite paid back yet; part of a use "
    "does not exist, so it takes one more."
)
def rounds_down(convert: float, before: float, after: float) -> float:
    solved = solve(convert, before, after)
    return solved if solved in (0, math.inf) else convert // (before - after)


@uses_to_pay_back.mistake(
    "You round to the nearest number, which is sometimes the one below: then the conversion has not "
    "quite paid back yet. Half a use does not exist; round up."
)
def rounds_to_the_nearest(convert: float, before: float, after: float) -> float:
    solved = solve(convert, before, after)
    return solved if solved in (0, math.inf) else round(convert / (before - after))


@uses_to_pay_back.mistake(
    "The right quotient, not yet a count of uses: part of a use does not exist. What is the smallest "
    "whole number that is enough?"
)
def leaves_a_fraction(convert: float, before: float, after: float) -> float:
    solved = solve(convert, before, after)
    return solved if solved in (0, math.inf) else convert / (before - after)


TIME_OF_ONE_USE = (
    "You divide by the time of one use. What pays the conversion back is what a use *saves*: the "
    "difference between before and after."
)


@uses_to_pay_back.mistake(TIME_OF_ONE_USE)
def divides_by_after(convert: float, before: float, after: float) -> float:
    solved = solve(convert, before, after)
    return solved if solved in (0, math.inf) or not after else math.ceil(convert / after)


@uses_to_pay_back.mistake(TIME_OF_ONE_USE)
def divides_by_before(convert: float, before: float, after: float) -> float:
    solved = solve(convert, before, after)
    return solved if solved in (0, math.inf) else math.ceil(convert / before)


FOR_FREE = (
    "You compare one use with one use, as if converting were free. It has to be paid for once, and "
    "each use pays back only a little of it."
)


@uses_to_pay_back.mistake(FOR_FREE)
def forgets_the_conversion(convert: float, before: float, after: float) -> float:
    return 1 if after < before else math.inf


@uses_to_pay_back.mistake(FOR_FREE)
def forgets_the_conversion_from_zero(convert: float, before: float, after: float) -> float:
    return 0 if after < before else math.inf


NEVER = (
    "Right where a use gets cheaper. Where it gets no cheaper, no number of uses pays anything back: "
    "the answer there is `math.inf`, not what the formula happens to give."
)


@uses_to_pay_back.mistake(NEVER)
def divides_by_what_is_no_saving(convert: float, before: float, after: float) -> float:
    if convert == 0:
        return 0
    return math.ceil(convert / (before - after))


@uses_to_pay_back.mistake(NEVER)
def gives_a_negative_number(convert: float, before: float, after: float) -> float:
    return math.ceil(convert / (before - after))


@uses_to_pay_back.mistake(NEVER)
def takes_the_size_of_the_difference(convert: float, before: float, after: float) -> float:
    if convert == 0 or before == after:
        return solve(convert, before, after)
    return math.ceil(convert / abs(before - after))


@uses_to_pay_back.mistake(NEVER)
def answers_minus_one(convert: float, before: float, after: float) -> float:
    solved = solve(convert, before, after)
    return -1 if solved == math.inf else solved


@uses_to_pay_back.mistake(NEVER)
def answers_nought(convert: float, before: float, after: float) -> float:
    solved = solve(convert, before, after)
    return 0 if solved == math.inf else solved


@uses_to_pay_back.mistake(
    "One use too many where the sums are equal: then the conversion has paid back exactly, and that "
    "counts. The question is when it takes no longer, not when it is faster."
)
def waits_until_it_is_faster(convert: float, before: float, after: float) -> float:
    if after >= before:
        return math.inf
    return Fraction(convert) // (Fraction(before) - Fraction(after)) + 1


FREE = (
    "Right where the conversion costs something. A conversion that takes no time has paid back after "
    "0 uses, whatever a use takes then: the smallest n is asked for."
)


@uses_to_pay_back.mistake(FREE)
def always_asks_for_a_use(convert: float, before: float, after: float) -> float:
    return max(1, solve(convert, before, after))


@uses_to_pay_back.mistake(FREE)
def never_pays_back_what_is_free(convert: float, before: float, after: float) -> float:
    return solve(convert, before, after) if after < before else math.inf


solve = uses_to_pay_back.reference
