"""The raw reader against torch: every dtype, every kind of view, and what it refuses."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stridekit import read_element, read_storage
from tests.refused import NO_LAYOUT, NO_MEMORY
from tests.strategies import tensors

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16,
    torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    """The storage comes back whole, and each element is the one torch indexes."""
    whole = torch.tensor([0, 1, 1, 0, 1, 1]).to(dtype)
    view = whole.view(2, 3)[:, 1:]
    assert torch.equal(read_storage(view).view(torch.uint8), whole.view(torch.uint8))
    for i in range(2):
        for j in range(2):
            assert read_element(view, (i, j)) == view[i, j].item()


@given(tensors(), st.data())
def test_elements_of_any_tensor(x, data):
    """The computed address holds what torch finds at the index."""
    if x.numel() == 0:
        return
    index = tuple(data.draw(st.integers(-n, n - 1)) for n in x.shape)
    assert read_element(x, index) == x[index].item()


@given(tensors())
def test_storage_of_any_tensor(x):
    """The whole storage, whatever part of it the tensor reaches."""
    numel = x.untyped_storage().nbytes() // x.element_size()
    whole = torch.as_strided(x, (numel,), (1,), 0)
    result = read_storage(x)
    assert torch.equal(result, whole)
    assert numel == 0 or result.data_ptr() != whole.data_ptr()


def test_only_the_storage_is_read():
    """An offset view gives the same bytes as its base: nothing is read past the end."""
    buffer = bytearray(b"<<<<" + bytes(range(24)) + b">>>>")
    base = torch.frombuffer(buffer, dtype=torch.uint8, offset=4, count=24)
    for view in (base[20:], base.view(4, 6)[3, 2:], base.view(4, 6).t(), base[24:]):
        assert read_storage(view).tolist() == list(range(24))


def test_a_copy_not_a_view():
    """What is read does not change with the tensor."""
    x = torch.zeros(3)
    before = read_storage(x)
    x.fill_(7)
    assert before.tolist() == [0, 0, 0]


def test_gradients_numpy_and_empty():
    """requires_grad, memory from NumPy, and storages without a byte."""
    x = torch.ones(3, requires_grad=True)
    assert read_storage(x).tolist() == [1, 1, 1] and not read_storage(x).requires_grad
    assert read_element(x, 2) == 1.0
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    assert read_storage(torch.from_numpy(array)[1:]).tolist() == array.ravel().tolist()
    assert read_storage(torch.empty(0, 3)).shape == (0,)


def test_pending_conj_and_neg():
    """read_storage shows memory as it is; read_element the value that indexing gives."""
    x = torch.tensor([1 + 2j, 3 - 4j])
    assert torch.equal(read_storage(x.conj()), x)
    assert read_element(x.conj(), 1) == x.conj()[1].item() == 3 + 4j
    assert read_element(x.conj().imag, 1) == x.conj().imag[1].item() == 4.0


def test_a_storage_shrunk_behind_the_tensor():
    """torch lets resize_ free the memory under a tensor: the reader notices."""
    x = torch.ones(4)
    x.untyped_storage().resize_(8)
    assert read_element(x, 1) == 1.0
    with pytest.raises(ValueError, match="bytes 8 to 12, but the storage has only 8 bytes"):
        read_element(x, 2)
    assert read_storage(x).tolist() == [1, 1]


def test_wrong_index():
    """An index outside the shape never becomes an address."""
    x = torch.arange(24).view(4, 6)
    with pytest.raises(
        IndexError, match="index 4 is out of range for dim 0 of size 4: use -4 to 3"
    ):
        read_element(x, (4, 0))
    with pytest.raises(IndexError, match=re.escape("index (1,) has 1 numbers for shape (4, 6)")):
        read_element(x, 1)
    with pytest.raises(IndexError, match="it has no elements"):
        read_element(torch.empty(0), 0)


def test_a_dtype_without_numbers():
    """Packed four-bit floats have bytes but no Python number."""
    x = torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    with pytest.raises(TypeError, match=re.escape("see its bytes with read_storage(t).view(torch")):
        read_element(x, 0)
    assert read_storage(x).view(torch.uint8).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("name", [*NO_LAYOUT, *NO_MEMORY])
def test_refused(name):
    """No memory, no answer: an error that says what the value is."""
    value, sentence = (NO_LAYOUT | NO_MEMORY)[name]
    for read in (read_storage, lambda t: read_element(t, 0)):
        with pytest.raises((TypeError, ValueError), match=re.escape(sentence)):
            read(value)


def test_refused_inside_vmap():
    """A batched tensor stands for others."""
    with pytest.raises(ValueError, match="inside vmap or grad"):
        torch.vmap(read_storage)(torch.ones(2, 3))


def test_a_numpy_array_is_not_a_tensor():
    """The reader names the way to share an array's memory."""
    with pytest.raises(TypeError, match=re.escape("torch.from_numpy shares an array's memory")):
        read_storage(np.ones(3))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_by_a_real_copy():
    """Bytes on a GPU come to the host first."""
    x = torch.arange(24.0, device="cuda").view(4, 6)[1:, ::2]
    assert read_storage(x).device.type == "cpu"
    assert read_storage(x).tolist() == list(range(24))
    assert read_element(x, (2, 1)) == x[2, 1].item()
