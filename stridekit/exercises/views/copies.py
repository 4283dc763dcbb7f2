"""E4, E5 and E6: which step copies, and a copy where one is needed."""

import copy  # noqa: F401 (the sources below use it)
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise, product
from typing import Any

import torch

from stridekit.exercises.answers import as_int, as_tensor
from stridekit.exercises.core import exercise
from stridekit.exercises.running import Arguments, Outcome, describe
from stridekit.exercises.watch import shares
from stridekit.tensors.sharing import is_view, shares_memory, shares_storage  # noqa: F401


def read_kept(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a tensor, judged by its values and by the storage that it keeps alive."""
    answer = as_tensor(answer)
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
    """The storage that the answer lies on, in words; torch can resize only a storage of its own."""
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


keep_row.slots["big[i]"] = {
    "big[:, i]": "That is a column. Row i is `big[i]`: the first index counts rows.",
}
keep_row.slots[".clone()"] = {
    "": "That still stands on big's storage, so all of it stays alive, even after `del big`. A "
    "slice, `detach()`, `view` and `reshape` give you a small tensor on the same large block.",
    ".contiguous()": "`contiguous()` copies only what is not contiguous yet. A row of a new tensor "
    "is contiguous already, so you get the row itself: try "
    "`big[1].contiguous().untyped_storage().nbytes()`.",
    " + 0": "Arithmetic does make new memory, but it has its own rules for dtypes: `True + 0` is "
    "an int. There is an operation that only copies.",
}
keep_row.alone["big[i]"] = {
    "big[i : i + 1]": "The memory is right, but you kept the row's dim: that is a matrix with one "
    "row. `big[i]` has one dim, `big[i : i + 1]` and `big[[i]]` have two.",
}
keep_row.wrong |= {
    "big.clone()[i]": "You copy first and cut then: the row is a view again, now of the copy, and "
    "keeps all of that alive. In which order would you clone and cut?",
    "copy.deepcopy(big[i])": "`deepcopy` copies the whole storage, not just what the tensor "
    "reaches: a small view comes back on a block as large as before. Compare `nbytes()` of the two "
    "storages.",
    "torch.tensor(big[i].tolist())": "The memory is right, the dtype is not: by way of Python "
    "numbers torch has to guess it, and it guesses its defaults. Copy the tensor itself.",
    "torch.from_numpy(np.array(big.numpy())[i])": "That memory belongs to a NumPy array, and torch "
    "cannot tell what else the array keeps alive: its `base` can be all of big. Let torch copy the "
    "row.",
    "torch.zeros_like(big[i])": "The storage has the right size and the values are not in it: "
    "`empty_like` and its kind only make room. Something has to copy them in.",
}


# first_copy quotes this name, so that its solution runs in a notebook, which does not know it.
Steps = Sequence[Callable[[torch.Tensor], torch.Tensor]]


def read_number_of_step(answer: object, args: Arguments) -> Outcome:
    """An answer that is the number of a step; the one that stands for none is explained."""
    k = as_int(answer)
    none = " (no step copies)" if k == len(args["steps"]) else ""
    return Outcome({"step": k}, f"{k}{none}")


def case(x: str, *steps: str) -> str:
    """The source of a case: a pipeline whose steps are expressions in t."""
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
        case(FLOAT, "t[1:].as_strided((3,), (6,), 6)", "t[1:]"),
        case(NEW + "[1:3]", "t.as_strided((4, 6), (6, 1), 0)", "t[0]", "t + 0"),
        case(NEW + "[1:3]", "t[0]", "t.as_strided((6,), (1,), 12)", "t[:3]"),
        case(FLOAT),
    ],
    hints=[
        "Run the steps one after the other, each on what the last one made, and look at two "
        "neighbours at a time: do they share a byte?",
        "Neither values nor `is`, `data_ptr()`, `_is_view()` or contiguity tell. stridekit's "
        "`shares_memory(a, b)` does, and so does your own `share_bytes`.",
        "`for k, step in enumerate(steps)`: y = step(x); if the two share no byte, k is the "
        "answer; if they do, go on with x = y. After the loop: `len(steps)`.",
    ],
    otherwise="Run the steps of the input above by hand, one line each, and ask `relation(y, x)` after "
    "each of them. Which is the first to say that no byte is shared?",
    takeaway="The same names can view or copy: the bytes tell, one step at a time.",
)
def first_copy(x: torch.Tensor, steps: "Steps") -> int:
    """The number of the first step whose result shares no byte with what went into that step.

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


def results(x: torch.Tensor, steps: Steps) -> list[torch.Tensor]:
    """The tensors that the steps make, one after the other."""
    return list(accumulate(steps, lambda t, step: step(t), initial=x))[1:]


def steps_that_copy(x: torch.Tensor, steps: Steps) -> list[int]:
    """The numbers of all steps that copy."""
    pairs = pairwise([x, *results(x, steps)])
    return [k for k, (before, after) in enumerate(pairs) if not shares_memory(before, after)]


POINTERS = (
    "You compare `data_ptr()`. A slice that begins later has another one and copies nothing: `x[1:]` "
    "does."
)
VIEWS = (
    "You ask autograd, by `_is_view()` or `_base`. It does not know `detach()` and NumPy's views, and "
    "the transpose of a clone is a view too: of the clone."
)
VALUES = (
    "You compare shapes or values. A copy has the same values, and a view can show others: that is the "
    "very point of both. Compare where they lie."
)
CONTIGUITY = (
    "You look at contiguity. A copy is often contiguous, but so are many views, such as `x[1:]`; and a "
    "step can copy what was contiguous before. Ask who shares bytes."
)
STORAGES = (
    "You compare storages, and that is nearly it. After a round trip through NumPy there are two "
    "storages on one memory, and the second may begin later: it is the bytes that count."
)
STRIDES = (
    "You go by the layout. A copy can have the same shape, stride and offset as what it copies, and "
    "every slice has others. Where the bytes are is not in those numbers."
)
SAME_FOR_ALL = (
    "You say the same of every chain. Run a few of them by hand: the steps that copy stand at "
    "different places."
)
NONE_COPIES = (
    "Right wherever a step copies. Where none does, the answer is `len(steps)`, one more than the "
    "last step's number: return it after the loop."
)

first_copy.slots["not shares_memory(y, x)"] = {
    "y.data_ptr() != x.data_ptr()": POINTERS,
    "not y._is_view()": VIEWS,
    "y._base is not x and y._base is not x._base": VIEWS,
    "y is not x": "You ask whether the result is the same Python object. A view is a new object on "
    "the same bytes: `x[:]` is not x, and copies nothing.",
    "not torch.equal(x, y)": VALUES,
    "sorted(map(float, x.flatten())) != sorted(map(float, y.flatten()))": VALUES,
    "y.is_contiguous()": CONTIGUITY,
    "y.is_contiguous() and not x.is_contiguous()": CONTIGUITY,
    "not y.is_contiguous()": CONTIGUITY,
    "not x.is_contiguous()": CONTIGUITY,
    "x.stride() != y.stride()": STRIDES,
    "y.storage_offset() == 0": STRIDES,
    "x.storage_offset() != y.storage_offset()": STRIDES,
}
first_copy.slots["x = y"] = {
    "pass": "You hand x to every step. They form a chain: each gets what the one before it made, "
    "and whether a `reshape` copies depends on what it gets.",
}
first_copy.slots["enumerate(steps)"] = {
    "enumerate(steps, 1)": "You count from 1. The steps are numbered like the items of any list: "
    "the first is step 0.",
}
first_copy.slots["return len(steps)"] = {
    "return -1": NONE_COPIES,
    "return None": NONE_COPIES,
}
first_copy.alone["not shares_memory(y, x)"] = {
    "not shares_storage(y, x)": "You ask whether the two are on one storage. `as_strided` can lead to "
    "other bytes of it, that the tensor before did not reach: one storage, and no byte in common.",
    "not is_view(y, x)": "You ask whether the result lies inside what went in. `as_strided` can reach "
    "further: then it is not inside, and yet the two share bytes.",
    "x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr()": STORAGES,
}


@first_copy.mistake(
    "You compare each result with the x of the start. The question is what went into the step: after "
    "`as_strided` that can lie elsewhere, and the next step still copies nothing of it."
)
def compared_with_the_start(x: torch.Tensor, steps: Steps) -> int:
    """Compare all results with the first x."""
    y = x
    for k, step in enumerate(steps):
        y = step(y)
        if not shares_memory(y, x):
            return k
    return len(steps)


first_copy.wrong |= {
    "[*(k for k, y in enumerate(results(x, steps)) if y._base is not x), len(steps)][0]": VIEWS,
    "[len(steps), *steps_that_copy(x, steps)][-1]": "You name the last step that copies, but the "
    "task asks for the first: stop there.",
    "len(steps_that_copy(x, steps))": "You count the copies. The task asks which step makes the "
    "first of them: its number in the list.",
    "0": SAME_FOR_ALL,
    "len(steps)": SAME_FOR_ALL,
    "len(steps) - 1": SAME_FOR_ALL,
    "first_copy(x.clone(), steps)": "You run the steps on a copy of x. A clone can have other "
    "strides than x, and then a `reshape` that copies on x is a view on the clone: run them on x "
    "itself.",
}


def read_repaired(answer: Any, args: Arguments) -> Outcome:
    """An answer that is a tensor on memory of its own, in which every index has its own element."""
    answer = as_tensor(answer)
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
    """True if no two indices of a small tensor lead to the same element."""
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
        "e = torch.ones(3, dtype=torch.bfloat16).expand(2, 3)",  # which NumPy does not have
    ],
    hints=[
        "e[0] and e[1] can be the same memory. A write there reaches both; and e belongs to the "
        "caller.",
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


EXPANDED_AGAIN = (
    "You copy a row and expand it again: the copy's rows are one row, as e's were. (And where e's rows "
    "differ, they are lost.)"
)

bump_first.slots["e.clone()"] = {
    "e": "You write into e's own memory. Where e is expanded, that one row is all of them: all "
    "rows grow, and so does the tensor that e was made from. A slice, `view` or `detach()` lies "
    "there too.",
    "copy.deepcopy(e)": "`deepcopy` copies the storage and keeps the strides: stride 0 is still "
    "there, and the rows of the copy are still one row. Print the copy's stride.",
    "e[:1].clone().expand(e.shape)": EXPANDED_AGAIN,
}
bump_first.slots["y[0] += 1"] = {
    "y[:, 0] += 1": "You add along another dim: `y[:, 0]` and `y[..., 0]` are a column. Row 0 is "
    "`y[0]`, whatever comes after it.",
    "y[0] = 1": "You replace row 0 by ones. It should keep its values and grow by 1: `+=`, not "
    "`=`.",
}
bump_first.alone["e.clone()"] = {
    "e.contiguous()": "`contiguous()` copies only what is not contiguous yet. Right for an "
    "expanded e; a plain one it hands back itself, and then you write into e: try both.",
}
bump_first.alone["y[0] += 1"] = {
    "y[0].add(1)": "Row 0 is as before. Without a trailing underscore, `add` makes a new tensor, "
    "and this one is thrown away.",
}
bump_first.wrong |= {
    "e.add_(1)": "You add to the whole tensor in place. On an expanded one torch refuses, as it "
    "should; on any other you change e, and every row of it.",
    "e + 1": "All rows have grown, and only row 0 should. e is safe, though: what you return is "
    "new memory. In new memory, one row alone can be written to.",
    "e[0] + 1": "That is row 0 alone, one more. Asked is all of e, of the same shape, with the "
    "other rows as they were.",
}
