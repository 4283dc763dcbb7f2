"""E1, E4 and E5: which step of a chain made a layout, which does nothing, and which can go."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import as_ints
from stridekit.exercises.running import Arguments, Outcome

# The solutions quote `Steps`, and the sources of mistakes call `results`.
from stridekit.exercises.views.which_copies import Steps, case, read_number_of_step, results
from stridekit.layout import Layout
from stridekit.tensors.sharing import shares_memory  # noqa: F401 (for mistakes)

Condition = Callable[[torch.Tensor, torch.Tensor], bool]

MATRIX = "torch.arange(24).view(4, 6)"
CUBE = "torch.arange(24).view(2, 3, 4)"
HEADS = "torch.arange(48).view(2, 3, 2, 4)"
IMAGES = "torch.arange(120.0).view(2, 3, 4, 5)"
CHANNELS_LAST = "t.to(memory_format=torch.channels_last)"


@exercise(
    title="which step made the layout that has to be copied?",
    read=read_number_of_step,
    cases=[
        case(MATRIX, "t.t()"),
        case(MATRIX, "t.view(2, 2, 6)", "t.transpose(1, 2)"),
        case(MATRIX, "t.t()", "t[None]", "t.squeeze(0)"),
        case(MATRIX, "t[1:]", "t[:2]", "t[None]"),
        case(CUBE, "t.transpose(0, 1)", "t.contiguous()", "t.transpose(1, 2)", "t[None]"),
        case(CUBE, "t.transpose(0, 1)", "t[None]", "t.contiguous()", "t.view(3, 8)"),
        case(MATRIX, "t[:, 2]"),
        case(CUBE, "t[:, :, 1]", "t[None]"),
        case(CUBE, "t.transpose(0, 1)", "t[..., :2]", "t[..., 0]"),
        case(MATRIX, "t.t()", "t[:3]", "t[None]"),
        case(CUBE, "t.transpose(0, 1)", "t[:, :, 1]"),
        case(MATRIX, "t.t()", "t[:, 2:]", "t.unflatten(0, (2, 3))"),
        case(MATRIX, "t.t()", "t.t()"),
        case(MATRIX, "t.t()", "t.t()", "t.t()"),
        case(CUBE, "t.permute(1, 2, 0)", "t[1:]", "t.permute(2, 0, 1)"),
        case(CUBE, "t.permute(1, 2, 0)", "t.permute(2, 0, 1)", "t[None]"),
        case(CUBE, "t.transpose(1, 2)", "t[:, :1]"),
        case(CUBE, "t.transpose(1, 2)", "t.reshape(8, 3)", "t[2:]"),
        case(MATRIX, "t[:, ::2]", "t.clone()", "t.t()", "t.clone()", "t[1:]"),
        case(MATRIX, "t[1:2]", "t.expand(4, 6)", "t[1:]"),
        case(IMAGES, CHANNELS_LAST, "t[:1]", "t + 1"),
        case(IMAGES, CHANNELS_LAST, "t.permute(0, 2, 3, 1)"),
        case(IMAGES, "t.permute(0, 2, 3, 1)", "t.contiguous()", "t.permute(0, 3, 1, 2)", "t * 2"),
        case(MATRIX, "t.unflatten(1, (2, 3))", "t.transpose(0, 1)", "t[:1]", "t[0]"),
        case(CUBE, "t.transpose(1, 2)", "t.permute(1, 2, 0)", "t[..., 0]"),
        case(CUBE, "t.transpose(1, 2)", "t.permute(1, 2, 0)", "t + 1", "t[..., 0]", "t[None]"),
        case("torch.arange(16).view(4, 4)", "t.t()", "t.view(2, 2, 4).transpose(1, 2)[:, :, :1]"),
        (  # one function is two steps
            "x = torch.arange(24).view(2, 3, 4)\n"
            "same = lambda t: t.transpose(1, 2)\n"
            "steps = [\n    same,\n    lambda t: t.contiguous(),\n    same,\n]"
        ),
        case("torch.zeros(3, 0)", "t.t()"),
        case(MATRIX),
    ],
    hints=[
        "Is there a copy at all? Run all steps, and ask `Layout.of(t).why_not_view(-1)`: an empty "
        "answer means that `t.view(-1)` works.",
        "If there is a copy, try each step: give it a contiguous tensor, and run the steps after "
        "it as well. For which steps is the copy still needed?",
        "Go through the steps, with x as it goes into each. Run `steps[k:]` on `x.contiguous()`. "
        "The answer is the last k for which `why_not_view(-1)` still has a reason.",
    ],
    otherwise=(
        "Take the steps of the input above, one line each. Put `contiguous()` before one of them, "
        "and run the rest. Does `view(-1)` work on the result?"
    ),
    takeaway=(
        "The line that copies is seldom the line to mend. Look for the line that made the layout."
    ),
)
def made_by(x: torch.Tensor, steps: "Steps") -> int:
    """The number of the step that made the layout which `reshape(-1)` of the result has to copy.

    It is the last step that still leads to this copy if it gets a contiguous tensor. So try each
    step k: step k and all later steps run on `contiguous()` of the tensor that went into step k.

    x       a contiguous tensor
    steps   functions from tensor to tensor; the first gets x, each other one the result before it
    return  an int, 0 for the first step; len(steps) if `reshape(-1)` copies nothing
    """
    made = len(steps)
    for k, step in enumerate(steps):
        t = x.contiguous()
        for later in steps[k:]:
            t = later(t)
        if Layout.of(t).why_not_view(-1):
            made = k
        x = step(x)
    return made if Layout.of(x).why_not_view(-1) else len(steps)


def has_no_view(t: torch.Tensor) -> bool:
    return bool(Layout.of(t).why_not_view(-1))


def is_not_contiguous(t: torch.Tensor) -> bool:
    return not t.is_contiguous()


def has_changed(before: torch.Tensor, after: torch.Tensor) -> bool:
    return (before.shape, before.stride()) != (after.shape, after.stride())


def needs_a_copy(x: torch.Tensor, steps: Steps) -> bool:
    return bool(steps) and has_no_view(results(x, steps)[-1])


def first_true(values: Iterable[bool], steps: Steps) -> int:
    """Return the number of the first step whose value is True; len(steps) if none is."""
    return next((k for k, value in enumerate(values) if value), len(steps))


def last_true(values: Iterable[bool], steps: Steps) -> int:
    """Return the number of the last step whose value is True; len(steps) if none is."""
    return max((k for k, value in enumerate(values) if value), default=len(steps))


def last_change(x: torch.Tensor, steps: Steps) -> int:
    return max(steps_where(has_changed, x, steps), default=len(steps))


def last_to_lose_the_view(x: torch.Tensor, steps: Steps) -> int:
    """Return the last step whose input had a flat view and whose result has none."""
    lost = steps_where(lambda a, b: has_no_view(b) and not has_no_view(a), x, steps)
    return max(lost, default=len(steps))


def last_to_lose_contiguity(x: torch.Tensor, steps: Steps) -> int:
    """Return the last step whose input was contiguous and whose result is not."""
    lost = steps_where(lambda a, b: a.is_contiguous() and not b.is_contiguous(), x, steps)
    return max(lost, default=len(steps))


def last_without_which_it_is_viewed(x: torch.Tensor, steps: Steps) -> int:
    """Return the last step without which the result of the chain has a flat view."""
    number = len(steps)
    for k in range(len(steps)):
        t = x
        for step in [*steps[:k], *steps[k + 1 :]]:
            t = step(t)
        if not has_no_view(t):
            number = k
    return number if needs_a_copy(x, steps) else len(steps)


def number_by_index(number: int, steps: Steps) -> int:
    return steps.index(steps[number]) if number < len(steps) else number


made_by.wrong |= {
    (
        "steps[k:] => steps[k : k + 1]",
        "steps[k:] => steps[k : k + 1] && x = step(x) => x = step(x.contiguous())",
    ): (
        "You try each step alone, without the steps after it. A later step can undo what a step "
        "does: an index takes away the gap that a slice left. Run the rest of the chain as well."
    ),
    (
        "Layout.of(t).why_not_view(-1) => not t.is_contiguous()",
        "Layout.of(x).why_not_view(-1) => not x.is_contiguous()",
        "Layout.of(t).why_not_view(-1) => not t.is_contiguous() && "
        "Layout.of(x).why_not_view(-1) => not x.is_contiguous()",
        "last_to_lose_contiguity(x, steps) if steps and is_not_contiguous(results(x, steps)[-1]) "
        "else len(steps)",
    ): (
        "You ask whether a tensor is contiguous. A column is not contiguous, and yet `view(-1)` "
        "works on it, because the strides of its dims merge. Ask for the view instead."
    ),
    "made if Layout.of(x).why_not_view(-1) else len(steps) => made": (
        "You name a step without asking first whether the result needs a copy at all. A step "
        "that another step undoes does not count."
    ),
    "        x = step(x)\n => ": shared.ON_THE_FIRST.format("step"),
    "first_true(map(has_no_view, results(x, steps)), steps)": (
        "You answer with the first step after which no view is possible. A later step can undo it, "
        "or a copy can end it. Look from the end."
    ),
    "first_true(map(is_not_contiguous, results(x, steps)), steps)": (
        "You answer with the first step whose result is not contiguous. Some such results can be "
        "viewed without a copy, and a later step may undo it."
    ),
    "last_true(map(has_no_view, results(x, steps)), steps)": (
        "You answer with the last step whose result has no flat view. If the end of the chain has "
        "none, this is always the last step, even if an earlier step made the layout."
    ),
    "last_true(map(is_not_contiguous, results(x, steps)), steps)": (
        "You answer with the last step whose result is not contiguous. A step that only passes a "
        "bad layout on has such a result, too. What would it return for a contiguous tensor?"
    ),
    (
        "last_change(x, steps)",
        "last_change(x, steps) if needs_a_copy(x, steps) else len(steps)",
    ): (
        "You answer with the last step that changes the shape or the stride. `t[None]` changes "
        "both, and does not lead to a copy. Is the copy still needed if your step gets a contiguous "
        "tensor?"
    ),
    "max(len(steps) - 1, 0) if needs_a_copy(x, steps) else len(steps)": (
        "You answer with the last step wherever there is a copy. Give it a contiguous tensor: "
        "perhaps its result can be viewed then."
    ),
    "0 if needs_a_copy(x, steps) else len(steps)": (
        "You answer with the first step wherever there is a copy. The copy may still be needed if "
        "a later step gets a contiguous tensor."
    ),
    "made = k => return k": (
        "You stop at the first step for which the copy is still needed. The task asks for the last "
        "of these steps."
    ),
    "t = x.contiguous() => t = step(x).contiguous() && steps[k:] => steps[k + 1 :]": (
        "You make the result of step k contiguous, so your number is one too small. Make the input "
        "of step k contiguous."
    ),
    "made_by(x, steps) + 1": shared.FROM_ZERO.format("step"),
    "made_by(x, steps) - 1": (
        "You name the step before. The answer is the step that makes the layout, not the last "
        "good step before it."
    ),
    "last_without_which_it_is_viewed(x, steps)": (
        "You leave a step out and run the others. They may not work without it, or do something "
        "else. Let the step run, but on a contiguous tensor."
    ),
    (
        "last_to_lose_the_view(x, steps)",
        "last_to_lose_the_view(x, steps) if needs_a_copy(x, steps) else len(steps)",
        "last_to_lose_contiguity(x, steps) if needs_a_copy(x, steps) else len(steps)",
    ): (
        "You answer with the last step that turns a tensor with a flat view into a tensor without. "
        "A later step can undo that, and a step can replace a bad layout by another bad layout."
    ),
    "number_by_index(made_by(x, steps), steps)": shared.INDEX,
}


def read_numbers_of_steps(answer: Any, args: Arguments) -> Outcome:
    """Read a list of numbers of steps, in any order."""
    numbers = tuple(sorted(as_ints(answer, "a list of ints")))
    return Outcome({"steps": numbers}, str([*numbers]))


@exercise(
    title="which calls do nothing?",
    read=read_numbers_of_steps,
    cases=[
        case(MATRIX, "t.contiguous()", "t.t()", "t.contiguous()"),
        case(MATRIX, "t.t()", "t.contiguous()", "t.contiguous()", "t.t()"),
        case(MATRIX, "t.clone()"),
        case("torch.zeros(4, 4)", "t.t()", "t.contiguous()", "t.contiguous()"),
        case("torch.zeros(4, 6)", "t.float()", "t.t()", "t.float()", "t.double()"),
        case(MATRIX, "t[:2]", "t[:2]", "t[None]"),
        case(MATRIX, "t.reshape(4, 6)", "t.flatten()", "t.ravel()"),
        case(MATRIX, "t.t()", "t.reshape(6, 4)", "t.reshape(4, 6)"),
        case(MATRIX, "t.view(4, 6)", "t[:]", "t.detach()", "t.t()"),
        case(IMAGES, CHANNELS_LAST, CHANNELS_LAST, "t.contiguous()", "t.contiguous()"),
        case(
            IMAGES,
            "t.permute(0, 2, 3, 1)",
            "t.contiguous()",
            "t.permute(0, 3, 1, 2)",
            CHANNELS_LAST,
        ),
        case("torch.zeros(6, 1).t()", "t.contiguous()"),
        case("torch.arange(6)[None]", "t.expand(1, 6)", "t.expand(4, 6)", "t.contiguous()"),
        case("torch.zeros(4, 6)", "t.view(torch.int32)", "t.view(torch.int32)"),
        case("torch.zeros(24)", "t[:12]", "t.as_strided((12,), (1,), 6)", "t[:]"),
        case("torch.zeros(24)", "t[6:18]", "t.as_strided((12,), (1,), 2)", "t[:]"),
        case("torch.ones(3, 4)[:, :2]", "t.clone()", "t * 1", "t.contiguous()"),
        case("torch.ones(2, 3)", "t + 0", "t.to(torch.float32)"),
        case(
            "torch.zeros(24)",
            "t[:6].view(2, 3)",
            "t.as_strided((3, 3), (3, 1))",
            "t.as_strided((3, 3), (6, 1))",
        ),
        (  # one function is two steps
            "x = torch.arange(24).view(4, 6)\n"
            "same = lambda t: t.contiguous()\n"
            "steps = [\n    lambda t: t.t(),\n    same,\n    same,\n]"
        ),
        case(MATRIX),
    ],
    hints=[
        "A call that does nothing returns the same bytes, read in the same way. Which four "
        "questions about a tensor decide that?",
        "Run the chain step by step. Compare the result of each step with its input: "
        "`data_ptr()`, shape, stride and dtype.",
        "In the loop `for k, step in enumerate(steps)`, let y = step(x). If all four are equal, k "
        "is in the list. Then let x = y.",
    ],
    otherwise=(
        "Run the steps of the input above in a cell, one line each. Print data_ptr(), shape, "
        "stride and dtype before and after each line. Where do all four stay?"
    ),
    takeaway="A call that does nothing copies as soon as a layout before it changes.",
)
def does_nothing(x: torch.Tensor, steps: "Steps") -> list[int]:
    """The numbers of the steps that return their input unchanged.

    Such a step returns a tensor at the same address, with the same shape, stride and dtype. It
    may be another object.

    x       a tensor with elements
    steps   functions from tensor to tensor; the first gets x, each other one the result before it
    return  a list of ints, 0 for the first step
    """
    numbers = []
    for k, step in enumerate(steps):
        y = step(x)
        same = y.data_ptr() == x.data_ptr() and y.shape == x.shape
        if same and y.stride() == x.stride() and y.dtype == x.dtype:
            numbers.append(k)
        x = y
    return numbers


def steps_where(condition: Condition, x: torch.Tensor, steps: Steps) -> list[int]:
    """Return the numbers of the steps for whose input and result the condition holds."""
    pairs = pairwise([x, *results(x, steps)])
    return [k for k, (before, after) in enumerate(pairs) if condition(before, after)]


def is_the_same(before: torch.Tensor, after: torch.Tensor) -> bool:
    has_same_place = before.data_ptr() == after.data_ptr() and before.dtype == after.dtype
    return has_same_place and not has_changed(before, after)


does_nothing.wrong |= {
    "y.data_ptr() == x.data_ptr() and  => ": (
        "You compare all but the address. A copy can have the same shape, stride and dtype."
    ),
    " and y.shape == x.shape => ": (
        "You leave the shape out. A slice can have the address and the strides of the whole tensor."
    ),
    "y.stride() == x.stride() and  => ": (
        "You leave the stride out. The transpose of a square has the shape and the address of the "
        "square."
    ),
    " and y.dtype == x.dtype => ": (
        "You leave the dtype out. `view(torch.int32)` changes the dtype of a float tensor and "
        "nothing else."
    ),
    "        x = y =>         pass": shared.ON_THE_FIRST.format("step"),
    "steps_where(lambda a, b: a.data_ptr() == b.data_ptr(), x, steps)": (
        "You compare addresses alone. A transpose, a slice or a view with another dtype begins at "
        "the same byte and reads on in another way."
    ),
    "y.data_ptr() == x.data_ptr() => y.storage_offset() == x.storage_offset()": (
        "You compare storage offsets. An offset counts from the start of a storage, and a copy "
        "has a storage of its own. Compare `data_ptr()`."
    ),
    (
        "y.data_ptr() == x.data_ptr() => shares_memory(x, y)",
        "y.data_ptr() == x.data_ptr() => "
        "y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()",
    ): (
        "You ask whether the two share memory. On the same storage, `as_strided` can begin at "
        "another byte. Compare where they begin."
    ),
    "steps_where(shares_memory, x, steps)": (
        "You ask whether bytes are shared. Every view shares them. A call that does nothing also "
        "keeps the shape, the stride and the dtype."
    ),
    "steps_where(torch.equal, x, steps)": (
        "You compare values. A copy has the same values, but it fills new memory, and that is not "
        "nothing."
    ),
    "steps_where(lambda a, b: a is b, x, steps)": (
        "You ask for the same object. `t[:]` returns another object with the same bytes in the "
        "same layout, and that counts as nothing, too."
    ),
    "steps_where(lambda a, b: a.is_contiguous(), x, steps)": (
        "You ask whether the input of a step is contiguous. This decides what `contiguous()` does, "
        "but not what other steps do."
    ),
    "[k for k, y in enumerate(results(x, steps)) if is_the_same(x, y)]": (
        "You compare each result with the first x. Compare it with the input of its own step."
    ),
    "[steps.index(steps[k]) for k in does_nothing(x, steps)]": shared.INDEX,
    "[]": (
        "You find no step that does nothing. `contiguous()` of a contiguous tensor is one. Does "
        "your loop set x before it compares?"
    ),
    "[k for k in range(len(steps)) if k not in does_nothing(x, steps)]": shared.THE_OTHERS.format(
        "do something"
    ),
    "[k + 1 for k in does_nothing(x, steps)]": shared.FROM_ZERO.format("step"),
}


@exercise(
    title="which steps can go?",
    read=read_numbers_of_steps,
    cases=[
        case(MATRIX, "t.t()", "t.contiguous()", "t.view(-1)"),
        case(MATRIX, "t.t()", "t.contiguous()", "t.reshape(-1)"),
        case(MATRIX, "t.contiguous()", "t.t()", "t.reshape(-1)"),
        case(MATRIX, "t[1:]", "t.contiguous()", "t.view(-1)"),
        case(MATRIX, "t.t()", "t.contiguous()", "t + 1"),
        case(MATRIX, "t.t()", "t.contiguous()", "t.contiguous()", "t.view(-1)"),
        case(MATRIX, "t.t()", "t.contiguous()", "t.as_strided((3,), (1,))"),
        case(
            HEADS,
            "t.transpose(1, 2)",
            "t.contiguous()",
            "t * 2",
            "t.transpose(1, 2)",
            "t.contiguous()",
            "t.view(2, 3, 8)",
        ),
        case(
            HEADS,
            "t.transpose(1, 2)",
            "t.contiguous()",
            "t * 2",
            "t.transpose(1, 2)",
            "t.reshape(2, 3, 8)",
        ),
        case("torch.eye(3)", "t.t()", "t + 1"),
        case("torch.ones(3, 3)", "t.contiguous()", "t.t()", "t.contiguous()", "t.view(9)"),
        case(IMAGES, CHANNELS_LAST, "t.permute(0, 2, 3, 1)", "t.view(-1)"),
        case(IMAGES, CHANNELS_LAST, "t.contiguous()", "t.flatten(1)"),
        case(IMAGES, CHANNELS_LAST, "t.contiguous()", "t.view(2, 60)"),
        case("torch.zeros(2, 3)", "t.float()", "t.double()", "t.float()"),
        case(MATRIX, "t.expand(2, 4, 6)", "t.contiguous()", "t.view(8, 6)"),
        case(MATRIX, "t.expand(1, 4, 6)", "t.contiguous()", "t.view(4, 6)"),
        case(MATRIX, "t.t()", "t.contiguous()", "t.view(-1)", "t.contiguous()", "t[None]"),
        case(MATRIX, "t[None]", "t[0]", "t.contiguous()", "t.sum(1)"),
        case(IMAGES, CHANNELS_LAST, "t.contiguous()", "t.view(2, 60)", "t.clone()"),
        (  # one function is two steps
            "x = torch.arange(24).view(4, 6)\n"
            "same = lambda t: t.contiguous()\n"
            "steps = [\n    lambda t: t.t(),\n    same,\n    same,\n    lambda t: t.view(-1),\n]"
        ),
        (
            "x = torch.arange(24).view(4, 6)\n"
            "same = lambda t: t.contiguous()\n"
            "steps = [\n    same,\n    lambda t: t.t(),\n    same,\n    lambda t: t.view(-1),\n]"
        ),
        case(MATRIX, "t.t()", "t.contiguous()", "t[None]", "t.transpose(1, 2)", "t[0]"),
        "x = torch.ones(3, 3)\n"
        "same = lambda t: t.t()\n"
        "steps = [\n    same,\n    lambda t: t + 1,\n    same,\n]",
        case(MATRIX, "t.contiguous()", "t.float()", "t.float()"),
        case(MATRIX, "t.contiguous()", "t.contiguous()"),
        case(MATRIX),
    ],
    hints=[
        "To learn whether a step can go, leave it out and run the chain. What has to be the same "
        "at the end, and what can happen on the way?",
        "Run all steps, then all but step k, and compare the two with `torch.equal`. If a later "
        "step raises an error, k cannot go.",
        "For each k, call `run([*steps[:k], *steps[k + 1:]])` in a `try` with "
        "`except (RuntimeError, IndexError)`, and compare with `run(steps)`. `torch.equal` does not "
        "look at the dtype, so compare the dtypes as well.",
    ],
    otherwise=(
        "Run the steps of the input above in a cell, one line each, and leave out one of them. "
        "Does the chain still come to its end? Does it end with the same values?"
    ),
    takeaway=(
        "Later steps decide whether a copy is needed: without it they raise, or read other values."
    ),
)
def can_go(x: torch.Tensor, steps: "Steps") -> list[int]:
    """The numbers of the steps without which the chain gives the same result, each tried alone.

    Two results are the same if their shapes, dtypes and values are equal, in any layout. A chain
    that raises an error without a step gives no result.

    x       a tensor
    steps   functions from tensor to tensor; the first gets x, each other one the result before it
    return  a list of ints, 0 for the first step
    """

    def run(some: "Steps") -> torch.Tensor:
        t = x
        for step in some:
            t = step(t)
        return t

    whole, numbers = run(steps), []
    for k in range(len(steps)):
        try:
            left = run([*steps[:k], *steps[k + 1 :]])
        except (RuntimeError, IndexError):
            continue
        if left.dtype == whole.dtype and torch.equal(left, whole):
            numbers.append(k)
    return numbers


def are_equal_after_broadcast(left: torch.Tensor, whole: torch.Tensor) -> bool:
    try:
        return bool((left == whole).all())
    except RuntimeError:  # these shapes do not broadcast
        return False


can_go.slots["run([*steps[:k], *steps[k + 1 :]])"] = {
    "run([step for step in steps if step is not steps[k]])": (
        "Right wherever no function is two steps. You leave out every step that is the same "
        "function. Leave out one step, by its number."
    ),
    "run([step for j, step in enumerate(steps) if j != steps.index(steps[k])])": shared.INDEX,
    "run(steps[:k])": "You leave out step k and all later steps. The later steps stay.",
}
can_go.slots["left.dtype == whole.dtype and torch.equal(left, whole)"] = {
    "True": (
        "You ask only whether the chain comes to its end. It can end with other values or in "
        "another shape, because a later step reads the layout."
    ),
    "left.shape == whole.shape": (
        "You compare shapes alone. Without a step, a result of the same shape can have other values."
    ),
    "torch.equal(left, whole)": (
        "You leave the dtype out. `torch.equal` compares numbers, and a float can be equal to a "
        "double."
    ),
    "left.dtype == whole.dtype and torch.equal(left, whole) and left.stride() == whole.stride()": (
        "You ask for equal strides, too. Two results in different layouts are the same if their "
        "shapes, dtypes and values are."
    ),
    "left.dtype == whole.dtype and left.data_ptr() == whole.data_ptr()": (
        "You compare addresses. Each run makes tensors of its own: compare shapes, dtypes and "
        "values."
    ),
    "left.dtype == whole.dtype and are_equal_after_broadcast(left, whole)": (
        "You compare with `==`, which broadcasts: shapes (4, 6) and (1, 4, 6) then count as equal. "
        "`torch.equal` compares the shapes as well."
    ),
}
can_go.slots["(RuntimeError, IndexError)"] = {
    "RuntimeError": (
        "You catch RuntimeError alone. With fewer dims, torch raises an IndexError for a dim that "
        "does not exist."
    ),
    "ZeroDivisionError": (
        "Without one of the steps the chain raises an error, and your function stops there. The "
        "error is an answer: that step is needed. Catch it."
    ),
}
can_go.wrong |= {
    "run([*steps[:k], *steps[k + 1 :]]) => "
    "run(steps[:k])\n            whole = run(steps[: k + 1])": (
        "You ask whether the step itself changes values. `contiguous()` never does, but a later "
        "`view` can need it."
    ),
    "left.dtype == whole.dtype and  => left is not whole and left.dtype == whole.dtype and ": (
        "Right unless both results are one object. A step that returns its input can go as well."
    ),
    "run([*steps[:k], *steps[k + 1 :]]) => "
    "run([step for j, step in enumerate(steps) if j not in (k, *numbers)])": (
        "You leave out one step, and then look for others without it. Try each step alone, with "
        "all other steps in the chain."
    ),
    "continue => break": (
        "Right up to the first step without which the chain raises an error. Try the later steps "
        "as well: put the `try` inside the loop."
    ),
    "does_nothing.reference(x, steps)": (
        "You name the steps that do nothing here. A copy does something, and it can go as well if "
        "no later step needs it."
    ),
    "[k for k in range(len(steps)) if k not in can_go(x, steps)]": (
        shared.THE_OTHERS.format("are needed")
    ),
    "[k + 1 for k in can_go(x, steps)]": shared.FROM_ZERO.format("step"),
    "steps_where(lambda a, b: not shares_memory(a, b), x, steps)": (
        "You name the steps that copy. Later steps decide whether a copy is needed: leave it out, "
        "and run them."
    ),
    "[]": (
        "You find no step that can go. Compare shapes, dtypes and values, not layouts, addresses "
        "or objects."
    ),
}
