"""E4, E5 and E6: which step copies, and a copy where one is needed."""

import copy  # noqa: F401 (for mistakes)
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise, product
from operator import mul
from typing import Any

import torch

from stridekit.exercises import confusions as shared
from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import as_int, as_tensor, shares, value_facts
from stridekit.exercises.running import Arguments, Outcome, describe
from stridekit.exercises.views.memory_sets import memset_of  # noqa: F401 (for mistakes)
from stridekit.tensors.sharing import (  # noqa: F401 (for mistakes)
    is_view,
    memset,
    shares_memory,
    shares_storage,
)


def read_kept(answer: Any, args: Arguments) -> Outcome:
    """Read a tensor, and judge it by its values and by the storage that it keeps alive."""
    answer = as_tensor(answer)
    nbytes = answer.untyped_storage().nbytes()
    storage = name_storage(answer, args["big"])
    shown = f"{answer.dtype}, shape {tuple(answer.shape)}, on {storage} of {nbytes} bytes"
    return Outcome(value_facts(answer) | {"storage": storage, "bytes kept": nbytes}, shown)


def name_storage(answer: torch.Tensor, big: torch.Tensor) -> str:
    """Return whose storage the answer lies on, in words."""
    storage = answer.untyped_storage()
    start = storage.data_ptr()
    big_storage = big.untyped_storage()
    big_start = big_storage.data_ptr()
    starts_before_its_end = start < big_start + big_storage.nbytes()
    ends_behind_its_start = big_start < start + storage.nbytes()
    if starts_before_its_end and ends_behind_its_start:
        return "big's storage"
    # torch can resize only a storage of its own.
    return "a storage of its own" if storage.resizable() else "a storage borrowed from elsewhere"


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
        "A view keeps the whole storage alive, however small it is: "
        "`row.untyped_storage().nbytes()` says what you hold.",
        "So the row has to move to a storage of its own. `contiguous()` moves it only where it is "
        "not contiguous already; is there something that always copies?",
        "First cut, then copy: the row alone, by `clone()`.",
    ],
    otherwise=(
        "Compare your result with `big[i]`: dtype, shape and values. Then print its "
        "`untyped_storage().nbytes()`: is it as many bytes as the elements need?"
    ),
    takeaway="clone() after the cut: the row has its own bytes, and the rest can go.",
)
def keep_row(big: torch.Tensor, i: int) -> torch.Tensor:
    """Row i of big, on a storage that holds this row and nothing else.

    big     a 2-D strided tensor of any dtype, perhaps sliced, transposed or expanded
    i       an int from 0 to big.size(0) - 1
    return  a 1-D tensor with the dtype and values of `big[i]`. Its storage belongs to torch
            (not to an array) and has as many bytes as the elements need, and no more
    """
    return big[i].clone()


keep_row.slots["big[i]"] = {
    "big[:, i]": "That is a column. Row i is `big[i]`: the first index counts rows.",
}
keep_row.slots[".clone()"] = {
    "": (
        "Your row is still on big's storage, so all of it stays alive, even after `del big`. A "
        "slice, `detach()`, `view` and `reshape` return a small tensor on the same large storage."
    ),
    ".contiguous()": (
        "You copy only a row that is not contiguous, as `contiguous()` does. A row of a new tensor "
        "is contiguous already, so you get the row itself: try "
        "`big[1].contiguous().untyped_storage().nbytes()`."
    ),
    " + 0": (
        "Arithmetic does make new memory, but it has its own rules for dtypes: `True + 0` is an "
        "int. There is an operation that only copies."
    ),
}
keep_row.wrong |= {
    ".clone() => .float()": (
        "You convert to one dtype. That copies only if the dtype changes, and then the result has "
        "the wrong dtype. Copy the row as it is."
    ),
    "big[i] => big[i : i + 1]": (
        "The memory is right, but you kept the row's dim: that is a matrix with one row. `big[i]` "
        "has one dim, `big[i : i + 1]` and `big[[i]]` have two."
    ),
    "big.clone()[i]": (
        "Your row is a view again, of a copy as large as big, and keeps all of it alive. What if "
        "you cut first?"
    ),
    "copy.deepcopy(big[i])": (
        "Your row came with a copy of the whole storage. `deepcopy` copies the storage, also the "
        "bytes that the tensor does not reach. Compare `nbytes()` of the two storages."
    ),
    "big.contiguous()[i]": (
        "Your row is a view of something as large as big: of big itself, or of the copy that "
        "`contiguous()` made. All of it stays alive. Cut first, then copy."
    ),
    (".clone() => .clone().float()", "torch.tensor(big[i].tolist())"): shared.DTYPE.format("big"),
    "torch.from_numpy(np.array(big.numpy())[i])": (
        "Your row's memory belongs to a NumPy array, which can keep much more alive through its "
        "`base`. Let torch copy the row."
    ),
    "torch.from_numpy(big[i].numpy())": (
        "The way to NumPy and back copies nothing. Your row, the array and big are on one memory, "
        "and all of it stays alive."
    ),
    "torch.zeros_like(big[i])": (
        "The storage has the right size, but the values are missing. `empty_like` and "
        "`zeros_like` only make room."
    ),
}
keep_row.exact["torch.tensor(big[i].numpy())"] = shared.NO_BFLOAT16


# first_copy quotes this name, so that its solution runs in a notebook, where the name is unknown.
Steps = Sequence[Callable[[torch.Tensor], torch.Tensor]]


def read_number_of_step(answer: object, args: Arguments) -> Outcome:
    """Read the number of a step; the number that stands for no step is explained."""
    k = as_int(answer)
    shown = f"{k} (no such step)" if k == len(args["steps"]) else str(k)
    return Outcome({"step": k}, shown)


def case(x: str, *steps: str) -> str:
    """Return the source of a case: a chain whose steps are expressions in t."""
    if not steps:
        return f"x = {x}\nsteps = []"
    lines = "".join(f"    lambda t: {step},\n" for step in steps)
    return f"x = {x}\nsteps = [\n{lines}]"


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
        case("torch.arange(24)", "t[:12]", "t.as_strided((12,), (1,), 6)", "t.clone()"),
        case(NEW, "t[:, ::2]", "t.as_strided((4, 3), (6, 2), 1)", "t.clone()"),
        (  # one function is two steps
            "x = torch.arange(24).view(4, 6)\n"
            "same = lambda t: t.contiguous()\n"
            "steps = [\n    same,\n    lambda t: t.t(),\n    same,\n]"
        ),
        case(FLOAT),
    ],
    hints=[
        "Run the steps one after the other, each on what the last one made, and look at two "
        "neighbours at a time: do they share a byte?",
        "Values, `is`, `data_ptr()`, `_is_view()` and contiguity do not tell. stridekit's "
        "`shares_memory(a, b)` does, and so does your own `share_bytes`.",
        "Loop with `for k, step in enumerate(steps)`, and call `y = step(x)`. If y and x do not "
        "share a byte, return k. Otherwise go on with `x = y`. Return `len(steps)` after the loop.",
    ],
    otherwise=(
        "Run the steps of the input above by hand, one line each, and ask `relation(y, x)` after "
        "each. Which is the first that shares no byte?"
    ),
    takeaway="The same names can view or copy: the bytes tell, one step at a time.",
)
def first_copy(x: torch.Tensor, steps: "Steps") -> int:
    """The number of the first step whose result shares no byte with what went into that step.

    Such a step copies, or leads to other bytes, as `as_strided` can: either way, a write to
    its result no longer reaches what went in.

    x       a tensor with elements
    steps   functions from tensor to tensor; the first gets x, each other one the result before it
    return  an int, 0 for the first step; len(steps) if there is no such step
    """
    for k, step in enumerate(steps):
        y = step(x)
        if not shares_memory(y, x):
            return k
        x = y
    return len(steps)


def results(x: torch.Tensor, steps: Steps) -> list[torch.Tensor]:
    """Return what each step returns when the first gets x and each other one the last result."""
    return list(accumulate(steps, lambda t, step: step(t), initial=x))[1:]


def steps_that_copy(x: torch.Tensor, steps: Steps) -> list[int]:
    pairs = pairwise([x, *results(x, steps)])
    return [k for k, (before, after) in enumerate(pairs) if not shares_memory(before, after)]


VIEWS = (
    "You ask autograd, by `_is_view()` or `_base`. Its record leaves out `detach()` and NumPy's "
    "views, and the transpose of a clone counts as a view of the clone."
)

first_copy.slots["not shares_memory(y, x)"] = {
    "shares_memory(y, x)": (
        "You stop at the first step that shares memory with its input. Where does the sharing end?"
    ),
    "memset(y) != memset(x)": (
        "You ask whether the two reach the same bytes. `x[1:]` reaches fewer bytes than x, and "
        "copies nothing."
    ),
    "not is_view(x, y)": (
        "You ask whether the input of the step lies inside its result. A slice is the other way "
        "round: `x[1:]` lies inside x, and copies nothing."
    ),
    "x.untyped_storage().nbytes() != y.untyped_storage().nbytes()": (
        "You compare how large the storages are. A copy of all of x has a storage of the same "
        "size. Is it the same storage?"
    ),
    (
        "y.dtype != x.dtype",
        "torch.equal(x, y)",
        "not torch.equal(x, y)",
        "sorted(map(float, x.flatten())) != sorted(map(float, y.flatten()))",
    ): (
        "You compare shapes, dtypes or values. A copy can have equal ones, and a view can have "
        "different ones. Compare where the two lie."
    ),
    "y.data_ptr() != x.data_ptr()": (
        "You compare `data_ptr()`. `x[1:]` has another `data_ptr()` than x, and copies nothing."
    ),
    ("not y._is_view()", "y._base is not x and y._base is not x._base"): VIEWS,
    "y is not x": (
        "You ask whether the result is the same Python object. A view is a new object on the same "
        "bytes: `x[:]` is not x, and copies nothing."
    ),
    (
        "y.is_contiguous()",
        "y.is_contiguous() and not x.is_contiguous()",
        "not y.is_contiguous()",
        "not x.is_contiguous()",
    ): (
        "You look at contiguity. A copy is often contiguous, but so are many views, such as "
        "`x[1:]`. And a step can copy a contiguous tensor. Compare the bytes."
    ),
    (
        "x.stride() != y.stride()",
        "y.storage_offset() == 0",
        "x.storage_offset() != y.storage_offset()",
    ): (
        "You go by the layout. A copy can have the same shape, stride and offset, and every slice "
        "has others. These numbers do not say which memory is used."
    ),
}
first_copy.slots["x = y"] = {
    "pass": shared.ON_THE_FIRST.format("step"),
}
first_copy.slots["enumerate(steps)"] = {
    "enumerate(steps, 1)": shared.FROM_ZERO.format("step"),
}
first_copy.slots["return len(steps)"] = {
    ("return -1", "return None", "return len(steps) - 1"): (
        shared.NONE_IN_THE_CHAIN.format("step", "copies")
    ),
}
first_copy.wrong |= {
    "return k => return steps.index(step)": shared.INDEX,
    "enumerate(steps) => enumerate(steps[:-1])": (
        "You stop before the last step: if it is the first that copies, you find no copy. "
        "`range(n)` has n numbers, from 0 to n - 1."
    ),
    "enumerate(steps) => [*enumerate(steps)][1:]": (
        "You leave out the first step, which is number 0."
    ),
    "for k, step => start = x\n    for k, step"
    " && not shares_memory(y, x) => not shares_memory(y, start)": (
        "You compare each result with the first x. Compare it with the input of its own step, "
        "which can lie on other bytes after `as_strided`."
    ),
    "not shares_memory(y, x) => not memset_of.reference(x) & memset_of.reference(y)": (
        "Your sets count from the start of a storage. A copy has a storage of its own, with a "
        "byte 0 of its own. Compare addresses in memory."
    ),
    "not shares_memory(y, x) => not shares_storage(y, x)": (
        "You ask whether the two are on one storage. `as_strided` can lead to other bytes of the "
        "same storage, which the tensor before did not reach."
    ),
    (
        "not shares_memory(y, x) => not is_view(y, x)",
        "not shares_memory(y, x) => not is_view(y, x) and not is_view(x, y)",
    ): (
        "You ask whether one of the two lies inside the other. After `as_strided` they can meet "
        "in a part. One common byte is enough."
    ),
    (
        "not shares_memory(y, x) => not np.may_share_memory(x.numpy(), y.numpy())",
        "not shares_memory(y, x) => "
        "abs(x.data_ptr() - y.data_ptr()) >= min((x, y), key=torch.Tensor.data_ptr).nbytes",
    ): (
        "You ask whether the ranges meet, from the first byte to the last. But `x[:, ::2]` and "
        "`x[:, 1::2]` lie in each other's gaps. Their ranges meet, and they do not share a byte."
    ),
    "not shares_memory(y, x) => x.untyped_storage().data_ptr() != y.untyped_storage().data_ptr()": (
        "You compare storages, and that is close. After a round trip through NumPy there are two "
        "storages on one memory. Compare the bytes."
    ),
    "[*(k for k, y in enumerate(results(x, steps)) if y._base is not x), len(steps)][0]": VIEWS,
    "[len(steps), *steps_that_copy(x, steps)][-1]": (
        "You name the last step that copies, but the task asks for the first: stop there."
    ),
    "len(steps_that_copy(x, steps))": (
        "You count the copies. The task asks which step makes the first of them."
    ),
    (
        "[*(k - 1 for k in steps_that_copy(x, steps) if k), len(steps)][0]",
        "[*(k for k in steps_that_copy(x, steps) if k), len(steps)][0]",
    ): (
        "You compare the results with one another, and leave x out. Step 0 has an input, too: the "
        "first pair is x and the first result."
    ),
    "0 if steps_that_copy(x, steps[:1]) else len(steps)": (
        "You look at the first step alone. Is there a `return` inside the loop that should come "
        "after it?"
    ),
    ("0", "len(steps) - 1"): shared.ALIKE.format("chain"),
    "len(steps)": "You find no copy in any chain. Does your loop compare y with itself?",
    "first_copy(x.clone(), steps)": (
        "You run the steps on a copy of x. A clone can have other strides than x. Then `reshape` "
        "can be a view of the clone although it copies x. Run the steps on x itself."
    ),
}


def read_repaired(answer: Any, args: Arguments) -> Outcome:
    """Read a tensor on memory of its own, in which every index has an element of its own."""
    answer = as_tensor(answer)
    sharing = answer.numel() > 0 and shares(answer, args["e"])
    is_one_to_one = has_an_element_for_every_index(answer)
    facts = value_facts(answer)
    facts |= {"sharing": sharing, "an element for every index": is_one_to_one}
    shown = [str(answer.tolist()), describe(answer)]
    if sharing:
        shown.append("on e's storage")
    if not is_one_to_one:
        shown.append("several indices share an element")
    return Outcome(facts, "\n".join(shown))


def has_an_element_for_every_index(t: torch.Tensor) -> bool:
    """Return whether no two indices of a small tensor lead to the same element."""
    indices = product(*map(range, t.shape))
    elements = {sum(map(mul, index, t.stride())) for index in indices}
    return len(elements) == t.numel()


@exercise(
    title="repair a write to an expanded tensor",
    read=read_repaired,
    cases=[
        "e = torch.arange(3).expand(4, 3)",
        "e = torch.arange(12).view(4, 3)",
        "e = torch.ones(4, 3)",  # no view
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
        "So write to something else: a tensor with e's values in which every index has an element "
        "of its own. Which operation makes one whatever e looks like?",
        "`y = e.clone()`, then `y[0] += 1`, then return y. clone() of an expanded tensor writes "
        "all its rows out, one after the other.",
    ],
    otherwise=(
        "Compare your rows with e's, one by one. Row 0 grows by 1, every other row is as before, "
        "and e itself does not change."
    ),
    takeaway=(
        "Before a write, ask who else lives there. clone() gives every index an element of its own."
    ),
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


bump_first.slots["e.clone()"] = {
    "e": (
        "You write into e's own memory. If e is expanded, all its rows are this one row, so all "
        "rows grow. So does the tensor that e was made from. A slice, `view` or `detach()` is on "
        "the same memory."
    ),
    "copy.deepcopy(e)": (
        "Your result has e's strides, and one of them can be 0. Then its rows are still one row, "
        "on other memory. (`deepcopy` copies a storage and keeps the strides.) Print the stride."
    ),
    "e[:1].clone().expand(e.shape)": (
        "Your result is one row, expanded, so all its rows grow together. (And if e's rows differ, "
        "the others are lost.)"
    ),
}
bump_first.slots["y[0] += 1"] = {
    "y[:, 0] += 1": (
        "You add along another dim: `y[:, 0]` and `y[..., 0]` are a column. Row 0 is `y[0]`."
    ),
    "y[0] = 1": (
        "You replace row 0 by ones. It should keep its values and grow by 1: `+=`, not `=`."
    ),
    "y[1:] += 1": "You add to every row but row 0.",
    "y[-1] += 1": "You add to the last row. Row 0 is the first, `y[0]`.",
}
bump_first.exact["bump_first(torch.tensor(e.numpy()))"] = shared.NO_BFLOAT16
bump_first.wrong |= {
    (
        "e.clone() => e.contiguous()",
        "e.clone() => (e if has_an_element_for_every_index(e) else e.clone())",
        "e.clone() => (e.clone() if 0 in e.stride() else e)",
        "e.clone() => (e.clone() if e.stride(0) == 0 else e)",
        "e.clone() => (e.clone() if e._is_view() else e)",
    ): (
        "You copy e in some cases only, as `contiguous()` does: it returns a contiguous e itself. "
        "In the other cases you write into e, which belongs to the caller."
    ),
    (
        "e.clone() => e.clone().float()",
        "e.clone() => e.clone().long()",
        "e.clone() => torch.tensor(e.tolist())",
        "e + torch.eye(len(e), 1)",
        "e + torch.eye(len(e), 1).long()",
    ): shared.DTYPE.format("e"),
    "y[0] += 1 => y[0, 0] += 1": "You add to one element of row 0. `y[0]` is the whole row.",
    "y[0] += 1 => y[0].add(1)": (
        "Row 0 is as before. (`y[0].add(1)` makes a new tensor. `y[0] += 1` writes to y.)"
    ),
    "e.add_(1)": (
        "You add to the whole tensor in place. torch refuses that for an expanded tensor. On any "
        "other tensor you change every row of e itself."
    ),
    "e + 1": (
        "All rows have grown, and only row 0 should. Your result is new memory, so e is safe. How "
        "do you write to one row of it?"
    ),
    "e[0] + 1": (
        "You return row 0 alone. The task asks for all of e, with the other rows as they were."
    ),
    "torch.cat([e[:1] + 1, e])": (
        "Your result has one row too many: e's own row 0 follows the row that you changed. Leave "
        "it out."
    ),
    "e.clone() => torch.zeros_like(e)": (
        "The values of e are missing. `zeros_like` and `empty_like` make memory of the right size "
        "and do not copy any values."
    ),
    "torch.stack([e[0] + 1, e[1]])": (
        "You return two rows. e can have any number of them, even one."
    ),
}
