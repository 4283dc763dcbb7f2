"""The raw reader against torch: every dtype, every kind of view, tensors that lie."""

import weakref

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from stridekit import (
    Layout,
    explain,
    memset,
    read_element,
    read_storage,
    shares_memory,
    shares_storage,
    storage_view,
    traffic,
)
from stridekit.tensors.storage import bytes_missing

# All dtypes of torch: a tensor of each can be made by viewing bytes.
DTYPES = sorted({d for d in vars(torch).values() if isinstance(d, torch.dtype)}, key=str)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    """The storage comes back byte for byte, and each element as torch indexes it, where torch can."""
    raw = torch.arange(6 * dtype.itemsize, dtype=torch.uint8)
    view = raw.view(dtype).view(2, 3)[:, 1:]
    for elements in (read_storage(view), storage_view(view)):
        assert elements.dtype is dtype and elements.shape == (6,)
        assert torch.equal(elements.view(torch.uint8), raw)
    assert storage_view(view).data_ptr() == raw.data_ptr()
    for index in [(0, 0), (0, 1), (1, 0), (-1, -1)]:
        try:
            expected = view[index].item()
        except RuntimeError:  # a NotImplementedError in some versions
            with pytest.raises(TypeError, match=f"element of {dtype} has no Python number"):
                read_element(view, index)
        else:
            assert read_element(view, index) == expected


def test_bytes_that_fill_no_element():
    ten = torch.arange(10, dtype=torch.uint8).untyped_storage()
    x = torch.empty(0, dtype=torch.int32).set_(ten, 1, (1,), (1,))
    for result in (read_storage(x), storage_view(x)):
        assert result.view(torch.uint8).tolist() == list(range(8))


def test_the_view_outlives_its_owner():
    x = torch.arange(1000.0)
    owner = weakref.ref(x)
    whole = storage_view(x[3:].view(-1, 1))
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
    x = torch.arange(6.0)
    clone = torch._lazy_clone(x)
    storage_view(clone)[0] = 7
    assert clone[0] == 7 and x[0] == 0 and not shares_memory(x, clone)


def test_a_storage_that_grows_or_shrinks_behind_the_tensor():
    x = torch.arange(4.0)
    whole = storage_view(x)
    x.untyped_storage().resize_(1 << 20)
    x[0] = 7
    assert whole.tolist() == [7, 1, 2, 3] and len(storage_view(x)) == 1 << 18
    for nbytes, remaining in ((11, [7, 1]), (8, [7, 1]), (0, [])):
        x.untyped_storage().resize_(nbytes)
        message = f"bytes 8 to 12, but the storage has only {nbytes} bytes"
        with pytest.raises(ValueError, match=message):
            read_element(x, 2)
        assert nbytes == 0 or read_element(x, 1) == 1.0
        assert read_storage(x).tolist() == storage_view(x).tolist() == remaining


@pytest.mark.parametrize(("nbytes", "k"), [(48, 0), (46, 1), (0, 2)])
def test_how_many_bytes_are_missing(nbytes, k):
    """Up to the last byte that an index reaches; 0 without elements or memory. memset refuses them."""
    x = torch.arange(12.0)
    views = [
        (x, (0, 2, 48)),
        (x[:6], (0, 0, 24)),
        (x[::11], (0, 2, 48)),
        (x[12:], (0, 0, 0)),
        (x.view(3, 4).t()[1:3, :2], (0, 0, 28)),
        (x.view(torch.uint8)[47:], (0, 2, 48)),
    ]
    x.untyped_storage().resize_(nbytes)
    for view, missing in views:
        assert bytes_missing(view) == missing[k]
        if missing[k]:
            message = f"^this tensor reaches {missing[k]} bytes past the end of its storage"
            with pytest.raises(ValueError, match=message):
                memset(view)
    for without_memory in (torch.empty(3, device="meta"), torch.eye(3).to_sparse()):
        assert bytes_missing(without_memory) == 0


ELSEWHERE = torch.arange(100.0, 200.0)
ANSWERS = {"untyped_storage": ELSEWHERE.untyped_storage(), "data_ptr": ELSEWHERE.data_ptr()}
ANSWERS |= {"stride": (2, 3), "storage_offset": 3, "element_size": 1, "numel": 100, "is_conj": True}
ANSWERS |= dict.fromkeys(["detach", "view", "as_strided", "as_subclass", "__getitem__"], ELSEWHERE)


class Liar(torch.Tensor):
    """Answers the questions of Python, and the functions and operations of torch, with another tensor."""

    shape = torch.Size([100])
    nbytes = 400
    data = ELSEWHERE
    is_meta = True
    is_nested = True
    is_cpu = False
    is_quantized = True
    layout = torch.sparse_coo
    device = torch.device("meta")

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        for name, answer in ANSWERS.items():
            if function is getattr(torch.Tensor, name):
                return answer
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, *_, **__):
        return ELSEWHERE


for name, answer in ANSWERS.items():
    setattr(Liar, name, lambda self, *_, answer=answer, **__: answer)


class LiarAboutItsStorage(torch.Tensor):
    untyped_storage = Liar.untyped_storage


@pytest.mark.parametrize("liar", [Liar, LiarAboutItsStorage])
def test_a_subclass_is_not_believed(liar):
    whole = torch.arange(8.0)
    for view in (whole, whole[2:6], whole[::2]):
        x = view.as_subclass(liar)
        assert torch.equal(read_storage(x), whole)
        assert torch.equal(storage_view(x), whole) and type(storage_view(x)) is torch.Tensor
        assert read_element(x, 1) == view[1].item()
        assert Layout.of(x) == Layout.of(view)
        assert explain(x).lines == explain(view).lines
        assert memset(x) == memset(view)
        assert shares_storage(x, whole)
        assert str(traffic(x)) == str(traffic(view))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_by_a_real_copy():
    x = torch.arange(24.0, device="cuda").view(4, 6)[1:, ::2]
    assert read_storage(x).device.type == "cpu"
    assert read_storage(x).tolist() == list(range(24))
    assert read_element(x, (2, 1)) == x[2, 1].item()
    assert storage_view(x).device == x.device and storage_view(x).tolist() == list(range(24))
