"""relation(y, x): every notion of "y shares memory with x" side by side, marking what misleads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from stridekit._arguments import Strided, items_of, shown
from stridekit._torch import is_tensor, private
from stridekit.memory.memset import MemorySet, Undecided
from stridekit.memory.strided_set import BUDGET, Budget
from stridekit.tensors.explain import Explanation
from stridekit.tensors.sharing import first_address, has_internal_overlap, memset, shares_storage

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, repr=False)
class Relation(Explanation):
    """The result of `relation`; None if a question does not apply or was not decided.

    Prints as text and shows as a table, like an Explanation. `is_view`: all of y's bytes are x's;
    `is_base`: all of x's are y's; `shares_memory`: some belong to both. `shares_storage`: both lie
    in one block of memory; `same_data_ptr`: tensors or arrays begin at one address;
    `autograd_view`: the result of a tensor's `y._is_view()`.

    >>> import torch
    >>> apart = relation(torch.arange(10)[::2], torch.arange(10))  # two calls, two tensors
    >>> apart.is_view, apart.shares_memory, apart.autograd_view
    (False, False, True)
    """

    is_view: bool | None  # memset(y) <= memset(x)
    is_base: bool | None  # memset(x) <= memset(y)
    shares_memory: bool | None  # a byte in common
    shares_storage: bool  # one block of memory
    same_data_ptr: bool | None  # y.data_ptr() == x.data_ptr(), of tensors and arrays
    autograd_view: bool | None  # y._is_view(), of a tensor


_QUESTIONS = 6  # inside, around, sharing, overlap, and the two sizes


def relation(
    y: Strided, x: Strided, budget: int = BUDGET, *, names: Sequence[str] = ("y", "x")
) -> Relation:
    """Tell the notions of sharing apart for two tensors, arrays or Layouts, in one display.

    The memory line is exact. The others give the results of torch's own tests, and say "yet" where
    one of them misleads about the bytes. The sentences call the two by their `names`. Each of the
    six questions about bytes has a sixth of the budget, in steps. Raises like `memset`, and
    TypeError or ValueError for `names` that are not two different texts.

    >>> import torch
    >>> x = torch.arange(10)
    >>> relation(x[1::2], x[::2], names=("odd", "even"))
    odd and even share no byte
      memory    no byte in common, though the ranges interleave (odd has 40 bytes, even 40)
      storage   one, yet no byte is shared: torch._C._overlaps looks no further and says True
      data_ptr  different
      _is_view  True, yet odd does not lie inside even: the base that autograd knows is another
    """
    y_name, x_name = _two_texts(names)
    y_bytes = memset(y)
    x_bytes = memset(x)
    budget = -(-Budget(budget).steps // _QUESTIONS)
    answers = _answers(y_bytes, x_bytes, budget)
    one_storage = shares_storage(y, x)
    lines = [
        ("memory", _memory(y_name, x_name, y_bytes, x_bytes, answers, budget)),
        ("storage", _storage(y, x, one_storage, answers.shares)),
    ]
    same_pointer = None
    if not y_bytes.counts_from_storage:
        same_pointer = _data_ptr(y, y_bytes) == _data_ptr(x, x_bytes)
        lines.append(("data_ptr", _pointers(same_pointer, answers.shares)))
    autograd_view = None
    if is_tensor(y):
        autograd_view = y._is_view()
        lines.append(("_is_view", _autograd(y_name, x_name, y, x, autograd_view, answers.inside)))
    if _decide(lambda: has_internal_overlap(y, budget)):
        lines.append(
            ("overlap", f"two indices of {y_name} share a byte: a write to one changes the other")
        )
    title = _title(y_name, x_name, y_bytes, answers)
    return Relation(title, tuple(lines), *answers, one_storage, same_pointer, autograd_view)


def _two_texts(names: Sequence[str]) -> tuple[str, str]:
    """Return the names of y and x; raise TypeError or ValueError unless they are two different texts."""
    pair = items_of(names)
    if pair is None or not all(isinstance(name, str) for name in pair):
        raise TypeError(f"names are {shown(names)}: give two texts, as names=('odd', 'even')")
    if len(pair) != 2 or len({*pair}) != 2 or not all(name.strip() for name in pair):
        raise ValueError(f"names are {shown(names)}: give two different texts, y's and x's")
    return pair[0], pair[1]


class _Answers(NamedTuple):
    """The answers to the questions about bytes; None if a question was not decided."""

    inside: bool | None  # all bytes of y are bytes of x
    around: bool | None  # all bytes of x are bytes of y
    shares: bool | None  # some byte belongs to both


def _answers(y_bytes: MemorySet, x_bytes: MemorySet, budget: int) -> _Answers:
    """Return whether one set lies inside the other, and whether they have a byte in common."""
    inside = _decide(lambda: y_bytes.issubset(x_bytes, budget))
    around = _decide(lambda: x_bytes.issubset(y_bytes, budget))
    if y_bytes and x_bytes and (inside or around):
        return _Answers(inside, around, True)
    shares = _decide(lambda: not y_bytes.isdisjoint(x_bytes, budget))
    return _Answers(inside, around, shares)


def _decide(question: Callable[[], bool]) -> bool | None:
    """Return the answer to a question; None if it costs more than the budget."""
    try:
        return question()
    except Undecided:
        return None


def _is_lazy_clone(x: Any) -> bool:
    """Return True for a tensor whose bytes are copied when it is first written (copy on write)."""
    return is_tensor(x) and private("_C._is_cow_tensor")(x)


def _data_ptr(x: Any, bytes_of_x: MemorySet) -> int:
    """Return the value of x.data_ptr(), 0 for empty tensors; calling it would make a lazy clone real."""
    return first_address(x) if bytes_of_x else 0


def _title(y: str, x: str, y_bytes: MemorySet, answers: _Answers) -> str:
    """Return the sentence that sums up the answers; y and x are names."""
    if not y_bytes:
        return f"{y} is empty: inside of anything, and sharing with nothing"
    if answers.inside:
        return f"{y} is a view of {x}: every byte of {y} is a byte of {x}"
    if answers.shares is False:
        return f"{y} and {x} share no byte"
    if answers.shares is None:
        return f"whether {y} and {x} share a byte was not decided within the budget"
    if answers.inside is None:
        return f"{y} and {x} share bytes; whether all of {y}'s was not decided within the budget"
    return f"{y} is not a view of {x}, but they share bytes"


def _memory(
    y: str, x: str, y_bytes: MemorySet, x_bytes: MemorySet, answers: _Answers, budget: int
) -> str:
    """Return the line about the bytes; y and x are names."""
    inside, around, shares = answers
    if not y_bytes:
        return f"{y} has no byte"
    y_size = _size(y_bytes, budget)
    x_size = _size(x_bytes, budget)
    if inside and around:
        return f"the same {y_size} bytes"
    if inside:
        return f"{y}'s {y_size} bytes lie inside {x}'s {x_size}"
    if around:
        return f"{x}'s {x_size} bytes lie inside {y}'s {y_size}"
    sizes = f"({y} has {y_size} bytes, {x} {x_size})"
    if shares is None:
        return f"not decided: the strides interleave too much {sizes}"
    if shares and (inside is None or around is None):
        return f"some bytes in common; whether one lies inside the other was not decided {sizes}"
    if shares:
        return f"some bytes in common, and each has bytes of its own {sizes}"
    if y_bytes.space != x_bytes.space:
        return f"no byte in common: {y} is {y_bytes.where}, {x} {x_bytes.where} {sizes}"
    if y_bytes.first < x_bytes.stop and x_bytes.first < y_bytes.stop:
        return f"no byte in common, though the ranges interleave {sizes}"
    return f"no byte in common: one ends before the other begins {sizes}"


def _size(memory: MemorySet, budget: int) -> str:
    """Return the number of bytes as a text; "?" if it costs more than the budget."""
    try:
        return f"{memory.count(budget):,}"
    except Undecided:
        return "?"


def _autograd(
    y_name: str, x_name: str, y: torch.Tensor, x: Any, autograd_view: bool, inside: bool | None
) -> str:
    """Return the line about autograd's notion of a view."""
    if autograd_view and inside is False:
        why = "the base that autograd knows is another"
        if y._base is x:
            why = "as_strided can leave its base"
        return f"True, yet {y_name} does not lie inside {x_name}: {why}"
    if autograd_view or not inside or y.numel() == 0:
        return str(autograd_view)
    if y is x:
        return f"False: {y_name} is {x_name} itself"
    why = "autograd keeps no record of detach, inference mode, NumPy, set_"
    if getattr(x, "_base", None) is y:
        why = f"{y_name} is the base that {x_name} was made from"
    elif _is_lazy_clone(y) or _is_lazy_clone(x):
        why = "a lazy clone, to which the first write gives its own bytes"
    return f"False, yet {y_name} lies inside {x_name}: {why}"


def _storage(y: Any, x: Any, one_storage: bool, shares: bool | None) -> str:
    """Return the line about the storages."""
    if not one_storage:
        return "two"
    if is_tensor(y) and is_tensor(x):
        if not private("_C._is_alias_of")(y, x):
            return "two storages over one block of memory, yet torch takes them for unrelated"
        if shares is False and private("_C._overlaps")(y, x):
            return "one, yet no byte is shared: torch._C._overlaps looks no further and says True"
    return "one, yet no byte is shared" if shares is False else "one"


def _pointers(equal: bool, shares: bool | None) -> str:
    """Return the line about the addresses at which the two begin."""
    if equal and shares is False:
        return "equal, yet no byte is shared: for a tensor without elements torch says 0"
    if not equal and shares:
        return "different, yet bytes are shared: they only begin at different places"
    return "equal" if equal else "different"
