"""E5: find the step of a pipeline that copies."""

from collections.abc import Callable, Sequence

import torch

from stridekit.exercises.answers import as_int
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome
from stridekit.tensors.sharing import shares_memory

Step = Callable[[torch.Tensor], torch.Tensor]
Steps = Sequence[Step]


def read_number_of_step(answer: object, args: Arguments) -> Outcome:
    """An answer that is the number of a step; that of none is shown in words."""
    k = as_int(answer)
    none = " (no step copies)" if k == len(args["steps"]) else ""
    return Outcome({"step": k}, f"{k}{none}")


def case(x: str, *steps: str) -> str:
    """The case of a pipeline: each step is an expression in t."""
    listed = "".join(f"\n    lambda t: {step}," for step in steps)
    return f"x = {x}\nsteps = [{listed}\n]" if steps else f"x = {x}\nsteps = []"


NEW = "torch.arange(24).view(4, 6)"
FLOAT = "torch.zeros(4, 6)"


@exercise(
    title="find the hidden copy",
    read=read_number_of_step,
    cases=[
        case(NEW, "t[1:]", "t.clone()", "t[:2]"),
        case(NEW, "t.t()", "t.reshape(-1)"),
        case(NEW, "t[1:]", "t.contiguous()", "t.view(-1)"),
        case(NEW, "t.t()", "t.contiguous()", "t.t()"),
        case(NEW, "t[:2]", "t[[0, 1]]"),
        case(NEW, "t[1:3]", "t[range(0, 2)]", "t[0]"),
        case(FLOAT, "t.float()", "t[2]", "t.flatten()"),
        case(NEW, "t.float()", "t[2]", "t.flatten()"),
        case(FLOAT, "t.to(torch.float32)", "t.to(torch.float64)"),
        case(NEW, "t.detach()", "t[1:]", "t.detach()"),
        case(NEW, "torch.from_numpy(t.numpy()[1:])", "t[:, ::2]"),
        case(NEW, "torch.from_numpy(t.numpy()[1:])", "torch.tensor(t.numpy())"),
        case(NEW, "t.clone().t()", "t[1:]"),
        case(NEW, "t[None]", "t.squeeze()", "t.expand(3, 4, 6)", "t.reshape(-1)"),
        case(NEW, "t[:, None].expand(4, 5, 6)", "t.flatten(1)"),
        case(NEW, "t[:, None].expand(4, 5, 6)", "t.flatten(0, 0)", "t.permute(2, 0, 1)"),
        case(NEW, "t.unfold(1, 2, 2)", "t.reshape(4, 6)", "t + 0"),
        case(FLOAT + "[:, ::2]", "t.reshape(-1)", "t[1:]"),
        case(FLOAT + "[1:, 2:4]", "t.reshape(3, 2)", "t.flatten()", "t[:3]"),
        case(FLOAT, "t[1:]", "t.clone()", "t.t()", "t.clone()", "t.reshape(-1)"),
        case(FLOAT, "+t", "t[2:].chunk(2)[1]", "t * 1"),
        case(FLOAT, "t.view(torch.int32)", "t[:, 3]", "t.ravel()"),
        case(FLOAT, "t.t().contiguous().t()", "t.contiguous()"),
        case(FLOAT + ".t()", "t.contiguous()"),
        case(FLOAT, "t.diagonal()", "t.reshape(2, 2)", "t.reshape(4)"),
        case(FLOAT, "t[1:].as_strided((4,), (6,), 6)", "t[1:]"),
        case(FLOAT),
    ],
    hints=[
        "Run the steps one after the other, each on what the last one made, and look at two "
        "neighbours at a time: do they share a byte?",
        "Neither values nor `is`, `data_ptr()`, `_is_view()` or contiguity tell. stridekit's "
        "`shares_memory(a, b)` does, and so does your own `share_bytes`.",
        "`for k, step in enumerate(steps)`: y = step(x); if the two share no byte, k is the answer; if "
        "they do, go on with x = y. Behind the loop: `len(steps)`.",
    ],
    otherwise="Run the steps of the input above by hand, one line each, and ask `relation(y, x)` after "
    "each of them. Which is the first to say that no byte is shared?",
    takeaway="The same names can view or copy: the bytes tell, one step at a time.",
)
def first_copy(x: torch.Tensor, steps: "Steps") -> int:
    """The number of the first step whose result shares no byte with what went in.

    x       a tensor with elements
    steps   functions from tensor to tensor; the first gets x, each other one the result before it
    return  an int, 0 for the first step; len(steps) where no step copies
    """
    for k, step in enumerate(steps):
        y = step(x)
        if not shares_memory(y, x):
            return k
        x = y
    return len(steps)


def copies(x: torch.Tensor, steps: Steps) -> list[int]:
    """The numbers of all steps that copy."""
    found = []
    for k, step in enumerate(steps):
        y = step(x)
        if not shares_memory(y, x):
            found.append(k)
        x = y
    return found


def first(
    says_copy: Callable[[torch.Tensor, torch.Tensor], bool], running: bool = True
) -> Callable[[torch.Tensor, Steps], int]:
    """The wrong answer that finds a copy by this test of (before, after)."""

    def answer(x: torch.Tensor, steps: Steps) -> int:
        before = x
        for k, step in enumerate(steps):
            after = step(before)
            if says_copy(before if running else x, after):
                return k
            before = after
        return len(steps)

    return answer


POINTERS = (
    "You compare `data_ptr()`. A slice that begins later has another one and copies nothing: "
    "`x[1:]` does."
)
first_copy.mistake(POINTERS)(first(lambda x, y: y.data_ptr() != x.data_ptr()))
first_copy.mistake(POINTERS)(first(lambda x, y: y.data_ptr() != x.data_ptr(), running=False))

VIEWS = (
    "You ask autograd, by `_is_view()` or `_base`. It does not know `detach()` and NumPy's views, and "
    "the transpose of a clone is a view too: of the clone."
)
first_copy.mistake(VIEWS)(first(lambda x, y: not y._is_view()))
first_copy.mistake(VIEWS)(first(lambda x, y: y._base is not x and y._base is not x._base))
first_copy.mistake(VIEWS)(first(lambda x, y: y._base is not x, running=False))
first_copy.mistake(VIEWS)(first(lambda x, y: y._base is None))

first_copy.mistake(
    "You ask whether the result is the same Python object. A view is a new object on the same "
    "bytes: `x[:]` is not x, and copies nothing."
)(first(lambda x, y: y is not x))

VALUES = (
    "You compare shapes or values. A copy has the same values, and a view can show others: that is the "
    "very point of both. Compare where they lie."
)
first_copy.mistake(VALUES)(first(lambda x, y: not torch.equal(x, y)))
first_copy.mistake(VALUES)(first(lambda x, y: x.shape != y.shape))
first_copy.mistake(VALUES)(
    first(lambda x, y: sorted(map(float, x.flatten())) != sorted(map(float, y.flatten())))
)

CONTIGUITY = (
    "You look at contiguity. A copy is often contiguous, but so are many views, such as `x[1:]`; and "
    "a step can copy what was contiguous before. Ask who shares bytes."
)
first_copy.mistake(CONTIGUITY)(first(lambda x, y: y.is_contiguous()))
first_copy.mistake(CONTIGUITY)(first(lambda x, y: y.is_contiguous() and not x.is_contiguous()))
first_copy.mistake(CONTIGUITY)(first(lambda x, y: not y.is_contiguous()))
first_copy.mistake(CONTIGUITY)(first(lambda x, y: not x.is_contiguous()))

STORAGES = (
    "You compare storages, and that is nearly it. After a round trip through NumPy there are two "
    "storages on one memory, and the second may begin later: it is the bytes that count."
)
first_copy.mistake(STORAGES)(
    first(lambda x, y: x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr())
)
first_copy.mistake(STORAGES)(
    first(lambda x, y: x.untyped_storage()._cdata != y.untyped_storage()._cdata)
)
first_copy.mistake(STORAGES)(first(lambda x, y: not torch._C._is_alias_of(x, y)))

STRIDES = (
    "You go by the layout. A copy can have the same shape, stride and offset as what it copies, and "
    "every slice has others. Where the bytes are is not in those numbers."
)
first_copy.mistake(STRIDES)(first(lambda x, y: x.stride() != y.stride()))
first_copy.mistake(STRIDES)(first(lambda x, y: y.storage_offset() == 0))
first_copy.mistake(STRIDES)(first(lambda x, y: x.storage_offset() != y.storage_offset()))


@first_copy.mistake(
    "You count from 1. The steps are numbered like the items of any list: the first is step 0."
)
def counts_from_one(x: torch.Tensor, steps: Steps) -> int:
    found = copies(x, steps)
    return found[0] + 1 if found else len(steps)


@first_copy.mistake("You name the last step that copies, and asked is the first: stop there.")
def names_the_last(x: torch.Tensor, steps: Steps) -> int:
    return [len(steps), *copies(x, steps)][-1]


@first_copy.mistake(
    "You count the copies. Asked is which step makes the first of them: its number in the list."
)
def counts_the_copies(x: torch.Tensor, steps: Steps) -> int:
    return len(copies(x, steps))


SAME_FOR_ALL = (
    "You say the same of every chain. Run a few of them by hand: the steps that copy stand at "
    "different places."
)
first_copy.mistake(SAME_FOR_ALL)(lambda x, steps: 0)
first_copy.mistake(SAME_FOR_ALL)(lambda x, steps: len(steps))
first_copy.mistake(SAME_FOR_ALL)(lambda x, steps: len(steps) - 1)


@first_copy.mistake(
    "You hand x to every step. They form a chain: each gets what the one before it made, and whether a "
    "`reshape` copies depends on what it gets."
)
def hands_x_to_every_step(x: torch.Tensor, steps: Steps) -> int:
    for k, step in enumerate(steps):
        if not shares_memory(step(x), x):
            return k
    return len(steps)


@first_copy.mistake(
    "You run the steps on a copy of x. A clone can have other strides than x, and then a `reshape` "
    "that copies on x is a view on the clone: run them on x itself."
)
def works_on_a_clone(x: torch.Tensor, steps: Steps) -> int:
    return first_copy.reference(x.clone(), steps)


NONE_COPIES = (
    "Right wherever a step copies. Where none does, the answer is `len(steps)`, one more than the "
    "last step's number: return it behind the loop."
)


@first_copy.mistake(NONE_COPIES)
def says_minus_one_for_none(x: torch.Tensor, steps: Steps) -> int:
    return [*copies(x, steps), -1][0]


@first_copy.mistake(NONE_COPIES)
def says_nothing_for_none(x: torch.Tensor, steps: Steps) -> int | None:
    return [*copies(x, steps), None][0]
