"""relation(y, x): every notion of "y shares memory with x" side by side, marking what misleads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from stridekit._arguments import items_of, shown
from stridekit.memory.memset import MemorySet, Undecided
from stridekit.memory.strided_set import BUDGET, Budget
from stridekit.tensors.explain import Explanation
from stridekit.tensors.sharing import first_address, has_internal_overlap, memset, shares_storage


@dataclass(frozen=True, slots=True, repr=False)
class Relation(Explanation):
    """The result of `relation`; None if a question does not apply or was not decided.

    Prints as text and shows as a table, like an Explanation. `is_view`: all of y's bytes are x's;
    `is_base`: all of x's are y's; `shares_memory`: some belong to both. `shares_storage`: both lie in one
    block of memory; `same_data_ptr`: tensors or arrays begin at one address; `autograd_view`: the result
    of a tensor's `y._is_view()`.

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
    y: Any, x: Any, budget: int = BUDGET, *, names: Sequence[str] = ("y", "x")
) -> Relation:
    """Tell the notions of sharing apart for two tensors, arrays or Layouts, in one display.

    The memory line is exact. The others give the results of torch's own tests, and say "yet" where one
    of them misleads about the bytes. The sentences call the two by their `names`. Each of the six questions
    about bytes has a sixth of the budget, in steps. Raises like `memset`, and TypeError or ValueError for
    `names` that are not two different texts.

    >>> x = torch.arange(10)
    >>> relation(x[1::2], x[::2], names=("odd", "even"))
    odd and even share no byte
      memory    no byte in common, though the ranges interleave (odd has 40 bytes, even 40)
      storage   one, yet no byte is shared: torch._C._overlaps looks no further and says True
      data_ptr  different
      _is_view  True, yet odd does not lie inside even: the base that autograd knows is another
    """
    called = _two_texts(names)
    mine, its = memset(y), memset(x)
    budget = -(-Budget(budget).steps // _QUESTIONS)
    inside = _decide(lambda: mine.issubset(its, budget))
    around = _decide(lambda: its.issubset(mine, budget))
    meet = bool(mine and its and (inside or around)) or _decide(
        lambda: not mine.isdisjoint(its, budget)
    )
    one_storage = shares_storage(y, x)
    at_one = None if mine.counts_from_storage else _data_ptr(y, mine) == _data_ptr(x, its)
    flag = y._is_view() if isinstance(y, torch.Tensor) else None
    sizes = _size(mine, budget), _size(its, budget)
    title, memory = _memory(called, sizes, mine, its, (inside, around, meet))
    lines = [("memory", memory), ("storage", _storage(y, x, one_storage, meet))]
    if at_one is not None:
        lines.append(("data_ptr", _pointers(at_one, meet)))
    if flag is not None:
        lines.append(("_is_view", _autograd(*called, y, x, flag, inside)))
    if _decide(lambda: has_internal_overlap(y, budget)):
        two = f"two indices of {called[0]} share a byte: a write to one changes the other"
        lines.append(("overlap", two))
    return Relation(title, tuple(lines), inside, around, meet, one_storage, at_one, flag)


def _two_texts(names: Sequence[str]) -> tuple[str, str]:
    pair = items_of(names)
    if pair is None or not all(isinstance(name, str) for name in pair):
        raise TypeError(f"names are {shown(names)}: give two texts, as names=('odd', 'even')")
    if len(pair) != 2 or len({*pair}) != 2 or not all(name.strip() for name in pair):
        raise ValueError(f"names are {shown(names)}: give two different texts, y's and x's")
    return pair[0], pair[1]


def _decide(question: Callable[[], bool]) -> bool | None:
    try:
        return question()
    except Undecided:
        return None


def _is_lazy_clone(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and torch._C._is_cow_tensor(x)


def _data_ptr(x: Any, bytes_of_x: MemorySet) -> int:
    """Return the value of x.data_ptr(), 0 for empty tensors; calling it would make a lazy clone real."""
    return first_address(x) if bytes_of_x else 0


def _first(*rows: tuple[object, str]) -> str:
    """Return the text of the first condition that holds."""
    return next(text for holds, text in rows if holds)


def _memory(
    names: tuple[str, str],
    sizes: tuple[str, str],
    mine: MemorySet,
    its: MemorySet,
    verdicts: tuple[bool | None, bool | None, bool | None],
) -> tuple[str, str]:
    """Return the title, and the line about the bytes."""
    (y, x), (own, other), (inside, around, meet) = names, sizes, verdicts
    undecided = "was not decided within the budget"
    title = _first(
        (not mine, f"{y} is empty: inside of anything, and sharing with nothing"),
        (inside, f"{y} is a view of {x}: every byte of {y} is a byte of {x}"),
        (meet is False, f"{y} and {x} share no byte"),
        (meet is None, f"whether {y} and {x} share a byte {undecided}"),
        (inside is None, f"{y} and {x} share bytes; whether all of {y}'s {undecided}"),
        (True, f"{y} is not a view of {x}, but they share bytes"),
    )
    some, none = "some bytes in common", "no byte in common"
    both = f"({y} has {own} bytes, {x} {other})"
    half = meet and None in (inside, around)
    ranges_meet = mine.first < its.stop and its.first < mine.stop
    memory = _first(
        (not mine, f"{y} has no byte"),
        (inside and around, f"the same {own} bytes"),
        (inside, f"{y}'s {own} bytes lie inside {x}'s {other}"),
        (around, f"{x}'s {other} bytes lie inside {y}'s {own}"),
        (meet is None, f"not decided: the strides interleave too much {both}"),
        (half, f"{some}; whether one lies inside the other was not decided {both}"),
        (meet, f"{some}, and each has bytes of its own {both}"),
        (mine.space != its.space, f"{none}: {y} is {mine.where}, {x} {its.where} {both}"),
        (ranges_meet, f"{none}, though the ranges interleave {both}"),
        (True, f"{none}: one ends before the other begins {both}"),
    )
    return title, memory


def _size(memory: MemorySet, budget: int) -> str:
    try:
        return f"{memory.count(budget):,}"
    except Undecided:
        return "?"


def _autograd(y_name: str, x_name: str, y: torch.Tensor, x: Any, flag: bool, inside: Any) -> str:
    if flag and inside is False:
        why = "the base that autograd knows is another"
        if y._base is x:
            why = "as_strided can leave its base"
        return f"True, yet {y_name} does not lie inside {x_name}: {why}"
    if flag or not inside or y.numel() == 0:
        return str(flag)
    if y is x:
        return f"False: {y_name} is {x_name} itself"
    lazy = _is_lazy_clone(y) or _is_lazy_clone(x)
    why = _first(
        (getattr(x, "_base", None) is y, f"{y_name} is the base that {x_name} was made from"),
        (lazy, "a lazy clone, to which the first write gives its own bytes"),
        (True, "autograd keeps no record of detach, inference mode, NumPy, set_"),
    )
    return f"False, yet {y_name} lies inside {x_name}: {why}"


def _storage(y: Any, x: Any, one_storage: bool, meet: bool | None) -> str:
    if not one_storage:
        return "two"
    if isinstance(y, torch.Tensor) and isinstance(x, torch.Tensor):
        if not torch._C._is_alias_of(y, x):
            return "two storages over one block of memory, yet torch takes them for unrelated"
        if meet is False and torch._C._overlaps(y, x):
            return "one, yet no byte is shared: torch._C._overlaps looks no further and says True"
    return "one, yet no byte is shared" if meet is False else "one"


def _pointers(equal: bool, meet: bool | None) -> str:
    if equal and meet is False:
        return "equal, yet no byte is shared: for a tensor without elements torch says 0"
    if not equal and meet:
        return "different, yet bytes are shared: they only begin at different places"
    return "equal" if equal else "different"
