"""The raw reader against torch: every dtype, every kind of view, a place for the copy, tensors that lie."""

import ctypes
import itertools
import mmap
import os
import re
import sys
import warnings
import weakref
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.multiprocessing.reductions import StorageWeakRef

from stridekit import (
    explain,
    is_view,
    memset,
    read_element,
    read_storage,
    relation,
    shares_memory,
    shares_storage,
    storage_view,
)
from stridekit.tensors.storage import bytes_missing
from tests.strategies import tensors

# All that torch has, with no exception: a tensor of each can be made by viewing bytes.
DTYPES = sorted({d for d in vars(torch).values() if isinstance(d, torch.dtype)}, key=str)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    """The storage comes back byte for byte, and each element as torch indexes it, where torch can."""
    raw = torch.arange(6 * dtype.itemsize, dtype=torch.uint8)
    view = raw.view(dtype).view(2, 3)[:, 1:]
    result, whole = read_storage(view), storage_view(view)
    assert result.dtype is whole.dtype is dtype and result.shape == whole.shape == (6,)
    assert torch.equal(result.view(torch.uint8), raw)
    assert torch.equal(whole.view(torch.uint8), raw) and whole.data_ptr() == raw.data_ptr()
    for index in [(0, 0), (0, 1), (1, 0), (-1, -1)]:
        try:
            expected = view[index].item()
        except RuntimeError:  # a NotImplementedError in some versions
            with pytest.raises(TypeError, match=f"element of {dtype} has no Python number"):
                read_element(view, index)
        else:
            assert read_element(view, index) == expected


@given(tensors(), st.data())
def test_any_tensor(x, data):
    """The element at an index, and the whole storage, whatever part of it the tensor reaches."""
    if x.numel():
        index = tuple(data.draw(st.integers(-n, n - 1)) for n in x.shape)
        assert read_element(x, index) == x[index].item()
    numel = x.untyped_storage().nbytes() // x.element_size()
    whole = torch.as_strided(x, (numel,), (1,), 0)
    result, view, out = read_storage(x), storage_view(x), torch.empty(numel, dtype=x.dtype)
    assert torch.equal(result, whole) and torch.equal(view, whole)
    assert numel == 0 or result.data_ptr() != whole.data_ptr() == view.data_ptr()
    assert read_storage(x, out=out) is out and torch.equal(out, whole)


def test_bytes_that_fill_no_element():
    """Ten bytes hold two elements of four; the last two bytes are left out."""
    ten = torch.arange(10, dtype=torch.uint8).untyped_storage()
    x = torch.empty(0, dtype=torch.int32).set_(ten, 1, (1,), (1,))
    for result in (read_storage(x), storage_view(x)):
        assert result.view(torch.uint8).tolist() == list(range(8))


def test_pending_conj_and_neg():
    """The storage is shown as it is; read_element gives the value that indexing gives."""
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert torch.equal(read_storage(x.conj()), x)
    assert read_element(x.conj(), 1) == x.conj()[1].item() == 3 + 4j
    assert read_element(x.conj().imag, 1) == x.conj().imag[1].item() == 4.0
    for pending in (x.conj(), torch._neg_view(x), torch._neg_view(x.conj())):
        assert read_element(pending, 1) == pending[1].item()
        whole = storage_view(pending)
        assert torch.equal(whole, x) and not (whole.is_conj() or whole.is_neg())
    assert storage_view(x.conj().imag).tolist() == [1, 2, 3, -4]


READERS = [read_storage, lambda t: read_element(t, 0), storage_view, memset, explain]
READERS += [partial(question, torch.ones(3)) for question in (is_view, shares_storage, relation)]


@pytest.mark.parametrize("ask", READERS)
def test_a_lazy_clone_stays_lazy(ask):
    """Asking a copy-on-write tensor does not make the copy, as data_ptr() would."""
    x = torch.arange(6.0)
    clone = torch._lazy_clone(x)
    ask(clone)
    assert torch._C._is_cow_tensor(clone) and torch._C._is_cow_tensor(x)
    storage_view(clone)[0] = 7
    assert clone[0] == 7 and x[0] == 0 and not shares_memory(x, clone)


def test_the_view_outlives_its_owner():
    """The storage lives as long as the view, and no longer."""
    x = torch.arange(1000.0)
    owner, whole = weakref.ref(x), storage_view(x[3:].view(-1, 1))
    del x
    assert owner() is None
    storage = StorageWeakRef(whole.untyped_storage())
    assert whole.tolist() == list(range(1000)) and not storage.expired()
    del whole
    assert storage.expired()


def test_writes_through_the_view():
    """Every tensor on the storage sees them, even leaves that require grad; autograd counts them."""
    p = torch.nn.Parameter(torch.zeros(2, 3))
    whole = storage_view(p[1, 1:])
    whole[0] = 7
    assert p[0, 0] == 7 and not whole.requires_grad and p.requires_grad and p._version == 1
    assert type(whole) is torch.Tensor


def test_a_storage_that_grows_or_shrinks_behind_the_tensor():
    """The view keeps its length and follows the memory; what resize_ freed is noticed."""
    x = torch.arange(4.0)
    whole = storage_view(x)
    x.untyped_storage().resize_(1 << 20)
    x[0] = 7
    assert whole.tolist() == [7, 1, 2, 3] and len(storage_view(x)) == 1 << 18
    for nbytes, left in ((11, [7, 1]), (8, [7, 1]), (0, [])):
        x.untyped_storage().resize_(nbytes)
        said = f"bytes 8 to 12, but the storage has only {nbytes} bytes"
        with pytest.raises(ValueError, match=said):
            read_element(x, 2)
        assert nbytes == 0 or read_element(x, 1) == 1.0
        assert read_storage(x).tolist() == storage_view(x).tolist() == left


def test_how_many_bytes_are_missing():
    """Up to the last byte that an index reaches; 0 without elements or memory."""
    x = torch.arange(12.0)
    views = {
        x: (0, 2, 48),
        x[:6]: (0, 0, 24),
        x[::11]: (0, 2, 48),
        x[12:]: (0, 0, 0),
        x.view(3, 4).t()[1:3, :2]: (0, 0, 28),
        x.view(torch.uint8)[47:]: (0, 2, 48),
    }
    for k, nbytes in enumerate([48, 46, 0]):
        x.untyped_storage().resize_(nbytes)
        assert [bytes_missing(view) for view in views] == [missing[k] for missing in views.values()]
    for other in (torch.empty(3, device="meta"), torch.eye(3).to_sparse()):
        assert bytes_missing(other) == 0


def test_out_in_the_memory_that_is_read():
    """Even if two storages lie over the same memory."""
    buffer = bytearray(32)
    x = torch.frombuffer(buffer, dtype=torch.float32, count=4)
    for out in (x, x.view(2, 2).view(4), torch.frombuffer(buffer, dtype=torch.float32, count=4)):
        with pytest.raises(ValueError, match="out lies in the memory that is read"):
            read_storage(x, out=out)
    beside = torch.frombuffer(buffer, dtype=torch.float32, offset=16)
    assert read_storage(x, out=beside) is beside and read_storage(beside, out=x) is x
    strided = torch.zeros(9).as_strided((1,), (5,), 2)  # a size of 1 may have any stride
    assert read_storage(torch.ones(1), out=strided).tolist() == [1]


def claiming(base, numel, offset=0):
    """A tensor of `numel` elements, whatever its storage can hold, as resize_ can leave it."""
    return torch.ops.inductor._reinterpret_tensor(base, (numel,), (1,), offset)


def test_out_whose_storage_was_shrunk():
    """The error tells the bytes of out and those of its storage."""
    out = torch.zeros(32, 2)[16:].view(-1)
    out.untyped_storage().resize_(136)
    told = (
        "out lies at bytes 128 to 256, but its storage has only 136 bytes: it was shrunk (by resize_?) "
        "behind the tensor's back; give torch.empty(32, dtype=torch.float32)"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        read_storage(torch.ones(32), out=out)
    assert read_storage(out)[32:].tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.complex128])
def test_nothing_is_written_beside_out(dtype):
    """Every `out` that fits into its storage is written, every other refused; no other byte changes."""
    for held, offset, numel in itertools.product((1, 6, 24), (0, 1, 5, 23, 2**40), (1, 2, 24)):
        memory = torch.full((24 * dtype.itemsize,), 0xA5, dtype=torch.uint8)
        expected = memory.tolist()
        base = (
            torch.frombuffer(memory.numpy(), dtype=dtype, count=held)
            if held
            else torch.empty(0).to(dtype)
        )
        out, zeros = claiming(base, numel, offset), torch.zeros(numel, dtype=dtype)
        if offset + numel > held:
            with pytest.raises(
                ValueError, match=f"but its storage has only {held * dtype.itemsize} b"
            ):
                read_storage(zeros, out=out)
        else:
            read_storage(zeros, out=out)
            written = slice(offset * dtype.itemsize, (offset + numel) * dtype.itemsize)
            expected[written] = bytes(numel * dtype.itemsize)
        assert memory.tolist() == expected


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="mprotect is called as Linux has it"
)
def test_out_on_pages_of_which_one_is_for_reading():
    """The reader asks the kernel for the first byte and the last: a write would end Python."""
    page = mmap.PAGESIZE
    memory = torch.frombuffer(mmap.mmap(-1, 3 * page), dtype=torch.uint8)
    of_pages = ctypes.c_void_p(memory.data_ptr() + page), ctypes.c_size_t(page)
    assert ctypes.CDLL(None).mprotect(*of_pages, mmap.PROT_READ) == 0
    for start, refused in (
        (page - 24, False),
        (page - 12, True),
        (page, True),
        (2 * page - 12, True),
    ):
        out = memory[start : start + 24]
        if refused:
            with pytest.raises(ValueError, match="out lies in memory that may not be written"):
                read_storage(torch.ones(24, dtype=torch.uint8), out=out)
        else:
            read_storage(torch.ones(24, dtype=torch.uint8), out=out)
    assert memory.nonzero().flatten().tolist() == [*range(page - 24, page)]


def test_out_that_is_a_lazy_clone():
    """It gets bytes of its own, and the tensor that it was cloned from keeps its values."""
    x = torch.zeros(4)
    out = torch._lazy_clone(x)
    read_storage(torch.ones(4), out=out)
    assert out.tolist() == [1] * 4 and x.tolist() == [0] * 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the kernel is asked as POSIX has it")
def test_out_that_is_mapped_from_a_file(tmp_path):
    """A file mapped for reading is refused in words, where torch would crash Python."""
    path = tmp_path / "bytes"
    path.write_bytes(bytes(24))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that the array is not writable
        read_only = torch.from_numpy(np.memmap(path, np.uint8, mode="r"))
    with pytest.raises(ValueError, match="out lies in memory that may not be written"):
        read_storage(torch.ones(24, dtype=torch.uint8), out=read_only)
    for shared in (False, True):
        out = torch.from_file(str(path), shared=shared, size=24, dtype=torch.uint8)
        assert read_storage(torch.ones(24, dtype=torch.uint8), out=out).tolist() == [1] * 24
        assert path.read_bytes() == bytes([shared]) * 24


def test_autograd_notices_what_is_written_into_out():
    """The version counter is that of out; inference tensors, which have none, are written too."""
    weight = torch.ones(3, requires_grad=True)
    out = torch.ones(3)
    product = (weight * out).sum()
    read_storage(torch.zeros(3), out=out)
    assert out._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    with torch.inference_mode():
        made_there = torch.ones(3)
        assert read_storage(torch.full((3,), 5.0), out=out) is out and out.tolist() == [5, 5, 5]
    assert read_storage(torch.zeros(3), out=made_there).tolist() == [0, 0, 0]


ELSEWHERE = torch.arange(100.0, 200.0)
LIES = {
    "untyped_storage": ELSEWHERE.untyped_storage(),
    "storage_offset": 3,
    "stride": (2,),
    "element_size": 1,
    "numel": 100,
    "data_ptr": ELSEWHERE.data_ptr(),
    "is_contiguous": True,
    "is_conj": True,
    "size": torch.Size([100]),
    "dim": 3,
    "detach": ELSEWHERE,
    "view": ELSEWHERE,
    "as_strided": ELSEWHERE,
    "as_subclass": ELSEWHERE,
    "copy_": ELSEWHERE,
    "__getitem__": ELSEWHERE,
}
VALUES = {"shape": torch.Size([100]), "dtype": torch.uint8, "nbytes": 400, "data": ELSEWHERE}


def torch_function(cls, function, types, args=(), kwargs=None):
    answers = {getattr(torch.Tensor, name): lie for name, lie in LIES.items()}
    if function in answers:
        return answers[function]
    with torch._C.DisableTorchFunctionSubclass():
        return function(*args, **(kwargs or {}))


LIARS = {
    "methods": {name: lambda self, *_, _lie=lie, **__: _lie for name, lie in LIES.items()},
    "properties": {name: property(lambda self, _v=value: _v) for name, value in VALUES.items()},
    "__torch_function__": {"__torch_function__": classmethod(torch_function)},
    "__torch_dispatch__": {"__torch_dispatch__": classmethod(lambda *_, **__: ELSEWHERE)},
}


@pytest.mark.parametrize("lie", LIARS)
def test_a_subclass_is_not_believed(lie):
    """The reader reads and writes the memory that torch knows, and returns plain tensors."""
    liar, whole = type("Liar", (torch.Tensor,), LIARS[lie]), torch.arange(8.0)
    for view in (whole, whole[2:6], whole[::2]):
        x = view.as_subclass(liar)
        assert torch.equal(read_storage(x), whole)
        assert torch.equal(storage_view(x), whole) and type(storage_view(x)) is torch.Tensor
        assert read_element(x, 1) == view[1].item()
    memory = torch.zeros(12)
    out = memory[2:10].as_subclass(liar)
    assert read_storage(whole, out=out) is out
    assert memory.tolist() == [0, 0, *range(8), 0, 0]
    memory.untyped_storage().resize_(16)
    with pytest.raises(ValueError, match="bytes 8 to 40, but its storage has only 16 bytes"):
        read_storage(whole, out=out)
    assert memory.untyped_storage().tolist()[:12] == [0] * 12


def test_a_storage_that_a_subclass_names_is_not_asked():
    """explain and memset use the size of the tensor's own storage."""
    x = torch.arange(8.0)
    names_another = {"untyped_storage": lambda self: ELSEWHERE.untyped_storage()}
    liar = x[2:6].as_subclass(type("Liar", (torch.Tensor,), names_another))
    assert explain(liar).lines == explain(x[2:6]).lines
    assert memset(liar) == memset(x[2:6])
    x.untyped_storage().resize_(16)
    assert "it has only 4 (after a resize_" in dict(explain(liar).lines)["storage"]
    with pytest.raises(ValueError, match=r"^this tensor reaches 8 bytes past the end"):
        memset(liar)


def test_a_storage_is_not_believed():
    """A storage can be of a subclass too."""

    class Longer(torch.UntypedStorage):
        def nbytes(self):
            return 10**6

        __len__ = nbytes

    x = torch.empty(0).set_(Longer(16), 0, (4,), (1,))
    assert x.untyped_storage().nbytes() == 10**6
    x.fill_(1)
    assert read_storage(x).tolist() == storage_view(x).tolist() == [1] * 4
    longer = claiming(x, 8)
    with pytest.raises(ValueError, match="bytes 28 to 32, but the storage has only 16 bytes"):
        read_element(longer, 7)
    with pytest.raises(ValueError, match="bytes 0 to 32, but its storage has only 16 bytes"):
        read_storage(torch.zeros(8), out=longer)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_by_a_real_copy():
    """Bytes on a GPU come to the host first; the view stays there."""
    x = torch.arange(24.0, device="cuda").view(4, 6)[1:, ::2]
    assert read_storage(x).device.type == "cpu"
    assert read_storage(x).tolist() == list(range(24))
    assert read_element(x, (2, 1)) == x[2, 1].item()
    assert storage_view(x).device == x.device and storage_view(x).tolist() == list(range(24))
