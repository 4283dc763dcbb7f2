"""The bytes that torch.save and safetensors write for some tensors, or the reason why they refuse.

torch.save writes each storage whole and once, whatever its tensors reach of it. safetensors writes the
elements of each tensor, and refuses tensors that share memory. Both numbers count the data, without the
names, shapes and padding around it. Nothing is written or read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stridekit._arguments import a_kind
from stridekit._torch import as_plain, private
from stridekit.layout import Layout
from stridekit.tensors.storage import require_memory, storage_address, storage_bytes

if TYPE_CHECKING:
    import torch

# The dtypes that safetensors 0.8 can write, without "torch.".
SAFE_DTYPES = frozenset(
    {
        "bool",
        *("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
        *("float16", "bfloat16", "float32", "float64", "complex64"),
        *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
        "float4_e2m1fn_x2",
    }
)
_MOST_NAMES = 3


class File(NamedTuple):
    """The bytes of data that a library writes; or None, and the reason why it refuses.

    >>> File(None, "no tensor")
    File(nbytes=None, why_not='no tensor')
    """

    nbytes: int | None
    why_not: str = ""


NO_FILE = File(None)


def torch_file(tensors: Iterable[tuple[str, torch.Tensor]]) -> File:
    """Return what torch.save writes for named tensors that have memory, without their subclasses.

    It refuses to write one memory under two dtypes, and dtypes that it does not know. It writes dtypes
    that are newer than its TypedStorage as bytes.
    """
    import torch

    new_dtypes = private("storage._new_dtypes")()
    known_dtypes = private("storage._dtype_to_storage_type_map")()
    sizes: dict[int, int] = {}  # by storage
    first_users: dict[int, tuple[str, Any]] = {}  # by address
    for name, t in tensors:
        written_as = torch.uint8 if t.dtype in new_dtypes else t.dtype
        if written_as not in known_dtypes:
            return File(None, f"{name} is {t.dtype}, which it cannot write")
        sizes[storage_of(t)] = storage_bytes(t)
        first_name, first_dtype = first_users.setdefault(storage_address(t), (name, written_as))
        if storage_address(t) and first_dtype != written_as:
            return File(
                None,
                f"{first_name} and {name} view the same data as different types, "
                f"{first_dtype} and {written_as}: clone one of them",
            )
    return File(sum(sizes.values()))


def storage_of(t: torch.Tensor) -> int:
    """Return a number that two tensors have in common if torch holds one storage for both."""
    return private("_C._storage_address")(t)


class _Saved(NamedTuple):
    """The numbers of a tensor that safetensors compares; the addresses of an empty tensor are 0."""

    name: str
    layout: Layout
    dtype: str
    device: str
    start: int
    stop: (
        int | None
    )  # None if torch has no flat view of the tensor, which safetensors then asks for
    storage: tuple[str, int, int]  # device, address, size

    @property
    def nbytes(self) -> int:
        return self.layout.nbytes

    @property
    def is_complete(self) -> bool:
        _, address, size = self.storage
        return (self.start, self.nbytes) == (address, size)


def safe_file(state_dict: Any) -> File:
    """Return what `safetensors.torch.save_file(state_dict)` writes: the elements of each tensor."""
    read = _read(state_dict)
    if isinstance(read, File):
        return read
    tensors, groups = read
    for group in groups:
        if len(group) > 1:
            names = listed([saved.name for saved in group])
            return File(None, f"{names} share memory: clone all but one, or use save_model")
    for saved in tensors:
        if why_not := saved.layout.why_not_contiguous():
            return File(
                None, f"{saved.name} is not contiguous ({why_not}): call contiguous() first"
            )
    return File(sum(saved.nbytes for saved in tensors))


def safe_model_file(state_dict: Any) -> File:
    """Return what `safetensors.torch.save_model` writes for a module with this state_dict.

    It keeps one tensor for each shared storage, and refuses if no tensor covers the whole of it.
    """
    read = _read(state_dict)
    if isinstance(read, File):
        return read
    tensors, groups = read
    left_out: set[str] = set()
    for group in groups:
        complete = sorted(saved.name for saved in group if saved.is_complete)
        if not complete:
            names = listed([saved.name for saved in group])
            return File(None, f"no tensor covers the whole storage of {names}: clone what you keep")
        left_out.update(saved.name for saved in group if saved.name != complete[0])
    return File(sum(saved.nbytes for saved in tensors if saved.name not in left_out))


def _read(state_dict: Any) -> tuple[list[_Saved], list[list[_Saved]]] | File:
    """Return all tensors, and those that share memory as groups; a File with the reason of a refusal."""
    tensors = _saved(state_dict)
    if isinstance(tensors, str):
        return File(None, tensors)
    groups = _sharing(tensors)
    return File(None, groups) if isinstance(groups, str) else (tensors, groups)


def _saved(state_dict: Any) -> list[_Saved] | str:
    """Return the numbers of all tensors, or the reason why safetensors refuses one of them."""
    import torch

    if not issubclass(type(state_dict), dict):
        return "it takes a flat dict of names and tensors, as state_dict() returns it"
    tensors = []
    for name, t in dict.items(state_dict):
        if not isinstance(name, str):
            return f"a key is {a_kind(name)}, not a text"
        if not issubclass(type(t), torch.Tensor):
            return f"{name} is {a_kind(t)}, not a tensor: it takes a flat dict of names and tensors"
        try:
            require_memory(t)
        except (TypeError, ValueError) as error:
            return f"{name}: {error}"
        dtype = str(t.dtype).removeprefix("torch.")
        if dtype not in SAFE_DTYPES:
            return f"{name} is {dtype}, which it cannot write"
        tensors.append(_numbers(name, as_plain(t), dtype))
    return tensors


def _numbers(name: str, t: torch.Tensor, dtype: str) -> _Saved:
    layout = Layout.of(t)
    address = storage_address(t)
    start = address + layout.itemsize * layout.storage_offset if layout.numel else 0
    stop: int | None = start
    if layout.numel:
        is_flat = not layout.why_not_view(-1)
        stop = address + layout.itemsize * layout.span.stop if is_flat else None
    storage = (str(t.device), address, storage_bytes(t))
    return _Saved(name, layout, dtype, str(t.device), start, stop, storage)


def _sharing(tensors: Sequence[_Saved]) -> list[list[_Saved]] | str:
    """Return the groups of tensors that safetensors takes for shared: of one storage, and overlapping.

    It sorts by the first address, and compares each range with the one before it. Return the reason if
    it fails already there.
    """
    on_storage: dict[tuple[str, int, int], list[_Saved]] = {}
    for saved in tensors:
        _, address, size = saved.storage
        if address and size:
            on_storage.setdefault(saved.storage, []).append(saved)
    groups: list[list[_Saved]] = []
    for users in on_storage.values():
        if len(users) == 1:
            groups.append(users)
            continue
        ranges: list[tuple[int, int, str, _Saved]] = []
        for saved in users:
            if saved.stop is None:
                return (
                    f"{saved.name} shares a storage and has no flat view: call contiguous() first"
                )
            ranges.append((saved.start, saved.stop, saved.name, saved))
        last_stop = 0
        for start, stop, _, saved in sorted(ranges):
            if start >= last_stop:
                groups.append([])
            groups[-1].append(saved)
            last_stop = stop
    return groups


def listed(names: Sequence[str], leave_out: int | None = None) -> str:
    """Return a few names, without that of one number, and how many more there are."""
    first_numbers = range(min(len(names), _MOST_NAMES + 1))
    shown_names = [names[k] for k in first_numbers if k != leave_out][:_MOST_NAMES]
    more = len(names) - (leave_out is not None) - len(shown_names)
    if more:
        shown_names.append(f"{more:,} more")
    *first, last = shown_names
    return f"{', '.join(first)} and {last}" if first else last
