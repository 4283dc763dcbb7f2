"""The raw reader against torch: every dtype, every kind of view, and what it refuses."""

import weakref
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
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
)
from stridekit.tensors.storage import storage_view
from tests.strategies import tensors

# All that torch has, with no exception: a tensor of each can be made by viewing bytes.
DTYPES = sorted({d for d in vars(torch).values() if isinstance(d, torch.dtype)}, key=str)


class Named(torch.Tensor):
    """A subclass with memory."""


READERS = {
    "read_storage": read_storage,
    "read_element": lambda t: read_element(t, 0),
    "storage_view": storage_view,
}


# What is read --------------------------------------------------------------------------------


def test_there_are_as_many_dtypes_as_torch_has():
    """The list is complete, and has the odd ones."""
    newest = getattr(torch, "float4_e2m1fn_x2", torch.bool)  # torch 2.6 has none
    assert len(DTYPES) >= 44
    assert {torch.bool, torch.complex32, newest, torch.bits1x8} <= set(DTYPES)


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


def test_bytes_are_read_not_values():
    """torch's own copy of a bool turns the byte 255 into 1; the reader shows 255."""
    raw = torch.tensor([0, 1, 2, 255], dtype=torch.uint8)
    x = raw.view(torch.bool)
    assert x.clone().view(torch.uint8).tolist() == [0, 1, 1, 1]
    assert read_storage(x).view(torch.uint8).tolist() == [0, 1, 2, 255]


@given(tensors(), st.data())
def test_elements_of_any_tensor(x, data):
    """The element at the computed address is torch's element at the index."""
    if x.numel() == 0:
        return
    index = tuple(data.draw(st.integers(-n, n - 1)) for n in x.shape)
    assert read_element(x, index) == x[index].item()


@given(tensors())
def test_storage_of_any_tensor(x):
    """The whole storage, whatever part of it the tensor reaches: as a copy and as a view."""
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
        whole = storage_view(pending)
        assert torch.equal(whole, x) and not (whole.is_conj() or whole.is_neg())
    assert storage_view(x.conj().imag).tolist() == [1, 2, 3, -4]


@pytest.mark.parametrize(
    "ask",
    [
        *(*READERS.values(), memset, explain),
        *(partial(question, torch.ones(3)) for question in (is_view, shares_storage, relation)),
    ],
)
def test_a_lazy_clone_stays_lazy(ask):
    """Asking a copy-on-write tensor does not make the copy, as data_ptr() would."""
    x = torch.arange(6.0)
    clone = torch._lazy_clone(x)
    ask(clone)
    assert torch._C._is_cow_tensor(clone) and torch._C._is_cow_tensor(x)
    storage_view(clone)[0] = 7
    assert clone[0] == 7 and x[0] == 0 and not shares_memory(x, clone)


# The view of the storage ---------------------------------------------------------------------


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


def test_the_view_of_a_subclass_is_a_plain_tensor():
    """A plain tensor shows the memory, not what the subclass makes of it."""
    x = torch.ones(3).as_subclass(Named)
    storage_view(x)[0] = 7
    assert type(storage_view(x)) is torch.Tensor and x[0] == 7 and x._version == 1


def test_the_view_of_a_storage_that_grows():
    """It keeps its length, and follows the memory to its new place."""
    x = torch.arange(4.0)
    whole = storage_view(x)
    x.untyped_storage().resize_(1 << 20)
    x[0] = 7
    assert whole.tolist() == [7, 1, 2, 3] and len(storage_view(x)) == 1 << 18


def test_a_storage_shrunk_behind_the_tensor():
    """torch lets resize_ free the memory under a tensor: the reader notices."""
    x = torch.ones(4)
    x.untyped_storage().resize_(8)
    assert read_element(x, 1) == 1.0
    with pytest.raises(ValueError, match="bytes 8 to 12, but the storage has only 8 bytes"):
        read_element(x, 2)
    assert read_storage(x).tolist() == storage_view(x).tolist() == [1, 1]
    x.untyped_storage().resize_(11)
    with pytest.raises(ValueError, match="bytes 8 to 12, but the storage has only 11 bytes"):
        read_element(x, 2)
    x.untyped_storage().resize_(0)
    assert read_storage(x).tolist() == storage_view(x).tolist() == []


# A place for the copy ------------------------------------------------------------------------


def test_out_in_the_memory_that_is_read():
    """Even if two storages lie over the same memory."""
    buffer = bytearray(32)
    x = torch.frombuffer(buffer, dtype=torch.float32, count=4)
    for out in (x, x.view(2, 2).view(4), torch.frombuffer(buffer, dtype=torch.float32, count=4)):
        with pytest.raises(ValueError, match="out lies in the memory that is read"):
            read_storage(x, out=out)
    beside = torch.frombuffer(buffer, dtype=torch.float32, offset=16)
    assert read_storage(x, out=beside) is beside and read_storage(beside, out=x) is x
    one = torch.zeros(9).as_strided((1,), (5,), 2)  # a size of 1 may have any stride
    assert read_storage(torch.ones(1), out=one).tolist() == [1]


# What is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("reader", READERS)
def test_refused_where_new_tensors_are_stand_ins(reader):
    """Without memory to read into, even a plain tensor cannot be read."""
    x = torch.ones(3)
    inside = pytest.raises(ValueError, match="there is nothing to read into: read outside of it")
    with FakeTensorMode(), inside:
        READERS[reader](x)
    for transform in (torch.func.grad, torch.func.functionalize):
        with inside:
            transform(lambda y: READERS[reader](x) is None or y.sum())(torch.ones(2))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_by_a_real_copy():
    """Bytes on a GPU come to the host first; the view stays there."""
    x = torch.arange(24.0, device="cuda").view(4, 6)[1:, ::2]
    assert read_storage(x).device.type == "cpu"
    assert read_storage(x).tolist() == list(range(24))
    assert read_element(x, (2, 1)) == x[2, 1].item()
    assert storage_view(x).device == x.device and storage_view(x).tolist() == list(range(24))
