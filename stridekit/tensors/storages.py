"""storages(x): which storages an object keeps alive, who reaches how much of each, and what a file takes.

A view of a few bytes keeps its whole storage alive, in memory and in a file of torch.save. A block of
memory that several tensors or arrays have handles on counts as one storage here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from stridekit._arguments import a_kind, in_bytes, many
from stridekit._table import Table, columns
from stridekit._torch import as_plain
from stridekit.memory.memset import MemorySet, count_together
from stridekit.memory.strided_set import BUDGET, Budget
from stridekit.tensors.files import (
    NO_FILE,
    File,
    listed,
    safe_file,
    safe_model_file,
    storage_of,
    torch_file,
)
from stridekit.tensors.holders import (
    CONTAINERS,
    Held,
    as_base_array,
    base_of_array,
    held_by,
    is_array,
    is_module,
    is_tensor_by_type,
    living,
)
from stridekit.tensors.sharing import block_of, memset
from stridekit.tensors.storage import require_memory

_FIRST = 5  # storages that the text shows
_MOST_REASONS = 3  # tensors that are not counted, in the text
_LARGE = 2  # a clone is advised if it is at most this part of what it frees
_MOST_STEPS = BUDGET // 10  # for one count: a tenth of a second
_NOT_SEEN = (
    "memory that only C++ holds, such as the tensors that autograd saved for a backward pass"
)


class Holder(NamedTuple):
    """A tensor or an array on a storage: its name, dtype, shape, and the bytes that it reaches.

    `nbytes` are those of its elements, as in a clone. `reached` counts each byte once; None if that was
    not decided. `first` and `stop` are the range of its bytes, from the start of the storage.

    >>> import torch
    >>> row = storages({"row": torch.zeros(1000, 4)[2]}).storages[0].holders[0]
    >>> row.name, row.reached, row.first, row.stop
    ('row', 16, 32, 48)
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    reached: int | None
    first: int
    stop: int
    is_array: bool

    def __str__(self) -> str:
        library = "NumPy " if self.is_array else ""
        return f"{self.name}, {library}{self.dtype} {self.shape}"


class KeptStorage(NamedTuple):
    """A block of memory, the bytes of it that are reached, and the holders that keep it alive.

    `reached` counts the bytes that at least one holder reaches; None if that was not decided. `handles`
    counts torch's storages over the block, and `device` is where it lies.

    >>> import torch
    >>> x = torch.zeros(1000, 4)
    >>> storages([x[0], x[1].numpy()]).storages[0].names
    ['[0]', '[1]']
    """

    nbytes: int
    reached: int | None
    holders: tuple[Holder, ...]
    handles: int
    device: str

    @property
    def names(self) -> list[str]:
        """The names of the holders."""
        return [holder.name for holder in self.holders]

    @property
    def saves(self) -> int:
        """The bytes that are free once a clone stands in the place of each holder."""
        return max(0, self.nbytes - self._cloned())

    @property
    def is_kept_by_small_views(self) -> bool:
        """True if clones of all holders take at most half of the storage."""
        return self._cloned() * _LARGE <= self.nbytes

    def _cloned(self) -> int:
        return sum(holder.nbytes for holder in self.holders)


@dataclass(frozen=True, slots=True, repr=False)
class Storages:
    """The result of `storages`; prints as text, shows as a picture, and `table()` has a row per holder.

    `storages` are blocks of memory, those first of which clones free the most bytes. `torch_save` and
    `safetensors` are the bytes of data in a file, without names, shapes and padding; None if there is no
    file. `why_not_torch_save` and `why_not_safetensors` are the reasons why a library refuses.
    `torch_save_cloned` is for a file with clones in the place of `clone`. `uncounted` are pairs
    of a name and the reason why a tensor has no part in the numbers.

    >>> import torch
    >>> kept = storages([torch.zeros(1000, 4)[2]])
    >>> kept.nbytes, kept.reached, kept.torch_save
    (16000, 16, 16000)
    >>> kept.clone, kept.torch_save_cloned
    (('[0]',), 16)
    """

    storages: tuple[KeptStorage, ...]
    torch_save: int | None
    why_not_torch_save: str
    torch_save_cloned: int | None
    safetensors: int | None
    why_not_safetensors: str
    uncounted: tuple[tuple[str, str], ...]

    @property
    def nbytes(self) -> int:
        """The bytes that are kept alive."""
        return sum(storage.nbytes for storage in self.storages)

    @property
    def reached(self) -> int | None:
        """The bytes that some holder reaches; None if that was not decided."""
        counts = [storage.reached for storage in self.storages]
        return None if None in counts else sum(filter(None, counts))

    @property
    def clone(self) -> tuple[str, ...]:
        """The names of small views that keep large storages alive."""
        large = [storage for storage in self.storages if storage.is_kept_by_small_views]
        return tuple(name for storage in large for name in storage.names)

    def table(self) -> Table:
        """Return a table with a row for each holder: its bytes, those of its storage, and who shares it."""
        head = ("tensor", "reaches", "keeps", "shares its storage with")
        rows = []
        for storage in self.storages:
            names = storage.names
            for k, holder in enumerate(storage.holders):
                reached = "?" if holder.reached is None else f"{holder.reached:,}"
                sharers = listed(names, leave_out=k) if len(names) > 1 else "nobody"
                rows.append((str(holder), reached, f"{storage.nbytes:,}", sharers))
        return Table(self._title(), head, tuple(rows))

    def __str__(self) -> str:
        lines = [self._title()]
        if self.storages:
            rows = [_texts(storage) for storage in self.storages[:_FIRST]]
            lines += columns([("storage", "reached", "held by"), *rows], ">><")
        if remainder := self._remainder():
            lines.append(f"  {remainder}")
        if notes := self._notes():
            lines += columns(notes)
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(
            _tag("th", text, _LEFT) for text in ("storage", "reached", "held by", "where")
        )
        body = _tag("tr", head)
        longest = max([storage.nbytes for storage in self.storages], default=0)
        for storage in self.storages[:_FIRST]:
            cells = [_tag("td", escape(text), _LEFT) for text in _texts(storage)]
            bar = _tag("td", _bar(storage, longest), "width:24em")
            body += _tag("tr", "".join([*cells, bar]))
        caption = _tag(
            "caption", escape(self._title()), f"caption-side:top;font-weight:600;{_LEFT}"
        )
        lines = [_tag("table", caption + body)] if self.storages else [escape(self._title())]
        lines.append(escape(self._remainder()))
        lines += [f"<b>{label}</b> {escape(text)}" for label, text in self._notes()]
        return _tag("div", "".join(_tag("div", line) for line in lines if line))

    def _holders(self) -> list[Holder]:
        return [holder for storage in self.storages for holder in storage.holders]

    def _title(self) -> str:
        """Return the line that counts everything."""
        if not self.storages:
            return "no tensor or array with memory"
        holders = self._holders()
        arrays = sum(holder.is_array for holder in holders)
        counts = [many(len(holders) - arrays, "tensor", ",")] if arrays < len(holders) else []
        if arrays:
            counts.append(many(arrays, "array", ","))
        storages = many(len(self.storages), "storage", ",")
        reached = "?" if self.reached is None else in_bytes(self.reached)
        kept = f"{in_bytes(self.nbytes)} kept alive, {reached} reached"
        return f"{' and '.join(counts)} on {storages}: {kept}"

    def _remainder(self) -> str:
        """Return a line about the storages that the text leaves out."""
        rest = self.storages[_FIRST:]
        if not rest:
            return ""
        total = in_bytes(sum(storage.nbytes for storage in rest))
        return f"… and {many(len(rest), 'more storage', ',')} of {total}: table() shows all"

    def _notes(self) -> list[tuple[str, str]]:
        """Return labelled sentences: on files, on clones, and on what was not counted."""
        notes = []
        if self.torch_save is not None:
            text = f"writes {self.torch_save:,} bytes: each storage whole, and once"
            if any(holder.is_array for holder in self._holders()):
                text += "; and the elements of arrays, in its pickle"
            notes.append(("torch.save", text))
        elif self.why_not_torch_save:
            notes.append(("torch.save", f"refuses: {self.why_not_torch_save}"))
        if self.safetensors is not None:
            text = f"writes {self.safetensors:,} bytes: the elements of each tensor"
            notes.append(("safetensors", text))
        elif self.why_not_safetensors:
            notes.append(("safetensors", f"refuses: {self.why_not_safetensors}"))
        if self.clone:
            notes.append(("clone", self._advice()))
        if self.torch_save is None and not self.why_not_torch_save:  # of the process
            notes.append(("not seen", _NOT_SEEN))
        for name, reason in self.uncounted[:_MOST_REASONS]:
            notes.append(("not counted", f"{name}: {reason}"))
        if len(self.uncounted) > _MOST_REASONS:
            notes.append(("", f"and {len(self.uncounted) - _MOST_REASONS:,} more"))
        return notes

    def _advice(self) -> str:
        """Return the sentence that names small views, and what their clones free."""
        large = [storage for storage in self.storages if storage.is_kept_by_small_views]
        freed = in_bytes(sum(storage.saves for storage in large))
        names = listed(self.clone)
        if self.torch_save_cloned is None:
            return f"{names}: then {freed} less is kept alive"
        return (
            f"{names}: then torch.save writes {self.torch_save_cloned:,} bytes, "
            f"and {freed} less is kept alive"
        )


_LEFT = "text-align:left"


def _texts(storage: KeptStorage) -> tuple[str, str, str]:
    """Return the texts about a storage: its bytes, the reached bytes, and the holders."""
    reached = "?" if storage.reached is None else in_bytes(storage.reached)
    is_alone = len(storage.holders) == 1
    who = str(storage.holders[0]) if is_alone else listed(storage.names)
    return in_bytes(storage.nbytes), reached, who


def _bar(storage: KeptStorage, longest: int) -> str:
    """Return a box as long as the storage, in which a line for each of the first holders has its place."""
    lines = ""
    for holder in storage.holders[:_FIRST]:
        place = 100 * holder.first / storage.nbytes
        length = 100 * (holder.stop - holder.first) / storage.nbytes
        line = _tag("div", "", f"margin-left:{place:.4g}%;width:{length:.4g}%;{_LINE}")
        where = f"{holder.name}: bytes {holder.first:,} to {holder.stop:,} of {storage.nbytes:,}"
        lines += f'<div title="{escape(where)}">{line}</div>'
    return _tag("div", lines, f"width:{100 * storage.nbytes / longest:.4g}%;{_BOX}")


# The colour of the text is readable on light and on dark pages.
_BOX = "min-width:4px;border:1px solid currentColor;box-sizing:border-box;overflow:hidden"
_LINE = "min-width:2px;height:5px;margin-top:1px;margin-bottom:1px;background:currentColor"


def _tag(name: str, content: str, style: str = "") -> str:
    """Return an HTML element; its content is HTML."""
    opening = f'{name} style="{style}"' if style else name
    return f"<{opening}>{content}</{name}>"


# From objects to numbers --------------------------------------------------------------------------


def storages(x: Any = ...) -> Storages:
    """Say which storages x keeps alive, who reaches how much of each, and how large a file of x is.

    `x` is a tensor, an array, a state_dict, a module, or any nesting of containers and objects with
    attributes; names are paths such as `layer.weight` or `cache[3]`. Gradients count in memory, not in a
    file. Without x it is about all living tensors of the process, and the arrays over their memory, by
    the variables of the calling module. No data is read, and the result keeps nothing alive.

    `torch_save` is for objects that pickle by their attributes, and leaves out the elements of arrays.
    `safetensors` is what `save_file` writes for a dict, and `save_model` for a module. Tensors without a
    single memory (sparse, meta …) are listed as not counted. Raises TypeError for an x that is not a
    container and does not hold a tensor.

    >>> import torch
    >>> batch = torch.zeros(1000, 256)
    >>> storages({"row": batch[7], "seen": batch[:2]})
    2 tensors on 1 storage: 1.02 MB kept alive, 3.07 kB reached
      storage  reached  held by
      1.02 MB  3.07 kB  row and seen
      torch.save   writes 1,024,000 bytes: each storage whole, and once
      safetensors  writes 3,072 bytes: the elements of each tensor
      clone        row and seen: then torch.save writes 3,072 bytes, and 1.02 MB less is kept alive
    """
    if x is ...:
        uses, uncounted = _uses(living(sys._getframe(1)))
        groups = [group for group in _groups(uses) if any(use.handle for use in group)]
        return _result(_kept(groups), uncounted)
    if issubclass(type(x), type):
        raise TypeError(f"the class {x.__name__} holds no tensor: give an instance")
    uses, uncounted = _uses(held_by(("", x)))
    can_be_empty = issubclass(type(x), CONTAINERS) or is_module(type(x))
    if not (uses or uncounted or can_be_empty):
        raise TypeError(
            f"{a_kind(x)} holds no tensor or array: give a state_dict, a module, a container, a tensor, "
            "or nothing for all tensors that live"
        )
    kept = _kept(_groups(uses))
    return _result(
        kept, uncounted, _torch_file(uses), _torch_file_cloned(uses, kept), _safe_file(x)
    )


class _Use(NamedTuple):
    """A tensor or an array, the bytes that it reaches, the block that it keeps alive, and torch's storage.

    `number` counts in the order in which they were found. `handle` is the number of torch's storage;
    0 for an array that lies over none.
    """

    number: int
    held: Held
    value: Any
    reached: MemorySet
    block: MemorySet
    handle: int

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.value.nbytes

    @property
    def is_in_torch_file(self) -> bool:
        """True if torch.save writes its storage: not for a gradient, and an array is in the pickle."""
        return self.held.in_file and not is_array(self.value)


def _uses(all_held: Iterable[Held]) -> tuple[list[_Use], tuple[tuple[str, str], ...]]:
    """Return what has memory, and the names of the rest with the reasons why it has no single one."""
    uses: list[_Use] = []
    uncounted = []
    for held in all_held:
        value = held.value
        try:
            if is_array(value):
                value = as_base_array(value)
                base = base_of_array(value)
                handle = storage_of(base) if is_tensor_by_type(base) else 0
            elif is_tensor_by_type(value):
                require_memory(value)
                handle = storage_of(value)
            else:
                raise TypeError(f"{a_kind(value)} is of another library: give torch.from_dlpack(x)")
            plain = as_plain(value)
            uses.append(_Use(len(uses), held, plain, memset(value), block_of(value), handle))
        except (TypeError, ValueError) as error:
            uncounted.append((held.name, str(error)))
    return uses, tuple(uncounted)


def _groups(uses: Iterable[_Use]) -> list[list[_Use]]:
    """Return the uses of each block of memory: of storages and arrays whose bytes overlap.

    The groups, and the uses in each, are in the order in which they were found.
    """
    groups: list[list[_Use]] = []
    last: MemorySet | None = None  # of the last group, the block that ends last
    for use in sorted(uses, key=lambda use: (use.block.space, use.block.first)):
        block = use.block
        if not block:  # a storage without bytes keeps nothing alive
            continue
        if last and last.space == block.space and block.first < last.stop:
            groups[-1].append(use)
        else:
            groups.append([use])
            last = None
        if last is None or block.stop > last.stop:
            last = block
    in_order = [sorted(group, key=lambda use: use.number) for group in groups]
    return sorted(in_order, key=lambda group: group[0].number)


_Kept = list[tuple[KeptStorage, list[_Use]]]


def _kept(groups: list[list[_Use]]) -> _Kept:
    """Describe each block of memory, with its uses; those come first of which clones free the most."""
    budget = Budget(BUDGET)
    kept = []
    for group in groups:
        first = min(use.block.first for use in group)
        stop = max(use.block.stop for use in group)
        holders = tuple(_holder(use, first, budget) for use in group)
        handles = len({use.handle for use in group if use.handle})
        reached = _count([use.reached for use in group], budget)
        storage = KeptStorage(stop - first, reached, holders, handles, group[0].block.space)
        kept.append((storage, group))
    return sorted(kept, key=lambda pair: (-pair[0].saves, -pair[0].nbytes))


def _holder(use: _Use, start: int, budget: Budget) -> Holder:
    """Describe a tensor or an array on a block that begins at the address `start`."""
    value = use.value
    dtype = str(value.dtype).removeprefix("torch.")
    first = use.reached.first - start if use.reached else 0
    stop = use.reached.stop - start if use.reached else 0
    reached = _count([use.reached], budget)
    shape = tuple(value.shape)
    is_numpy = is_array(value)
    return Holder(use.held.name, dtype, shape, use.nbytes, reached, first, stop, is_numpy)


def _count(sets: Sequence[MemorySet], budget: Budget) -> int | None:
    """Return the number of bytes in the sets; None if that takes too long."""
    return budget.within(_MOST_STEPS, lambda share: count_together(sets, share))


def _result(
    kept: _Kept,
    uncounted: tuple[tuple[str, str], ...],
    file: File = NO_FILE,
    cloned: int | None = None,
    safe: File = NO_FILE,
) -> Storages:
    described = tuple(storage for storage, _ in kept)
    return Storages(described, *file, cloned, *safe, uncounted)


def _torch_file(uses: Iterable[_Use]) -> File:
    """Return what torch.save writes for the tensors."""
    return torch_file([(use.held.name, use.value) for use in uses if use.is_in_torch_file])


def _torch_file_cloned(uses: Iterable[_Use], kept: _Kept) -> int | None:
    """Return the bytes that torch.save writes if small views of large storages are cloned."""
    cloned = 0
    replaced: set[int] = set()
    for storage, group in kept:
        if storage.is_kept_by_small_views:
            in_file = [use for use in group if use.is_in_torch_file]
            cloned += sum(use.nbytes for use in in_file)
            replaced.update(id(use) for use in in_file)
    rest = _torch_file(use for use in uses if id(use) not in replaced)
    return None if rest.nbytes is None else rest.nbytes + cloned


def _safe_file(x: Any) -> File:
    """Return what safetensors writes for a dict or a module; no file for anything else."""
    if not is_module(type(x)):
        return safe_file(x) if issubclass(type(x), dict) else NO_FILE
    try:
        state_dict = x.state_dict()
    except Exception as error:  # of the reader's code
        return File(None, f"state_dict() raises {type(error).__name__}")
    return safe_model_file(state_dict)
