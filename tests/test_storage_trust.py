"""The raw reader checks everything: an `out` without memory, a subclass that lies about its own."""

import os
import re
import warnings

import numpy as np
import pytest
import torch

from stridekit import explain, memset, read_element, read_storage, storage_view
from stridekit.tensors.storage import bytes_missing

# A place for the copy ------------------------------------------------------------------------


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


# Subclasses that say something else of themselves ---------------------------------------------


def lies():
    """Everything that a subclass can claim about itself."""
    elsewhere = torch.arange(100.0, 200.0)
    calls = {
        "untyped_storage": elsewhere.untyped_storage(),
        "storage_offset": 3,
        "stride": (2,),
        "element_size": 1,
        "numel": 100,
        "data_ptr": elsewhere.data_ptr(),
        "is_contiguous": True,
        "is_conj": True,
        "is_neg": True,
        "size": torch.Size([100]),
        "dim": 3,
        "__len__": 100,
    }
    names = "detach view as_strided as_subclass conj copy_ contiguous flatten __getitem__"
    calls |= dict.fromkeys(names.split(), elsewhere)
    found = {name: {name: lambda self, *a, _v=v, **k: _v} for name, v in calls.items()}
    values = {"shape": torch.Size([100]), "dtype": torch.uint8, "nbytes": 400, "data": elsewhere}
    values |= {"itemsize": 1, "ndim": 3, "device": torch.device("cpu"), "requires_grad": False}
    found |= {name: {name: property(lambda self, _v=v: _v)} for name, v in values.items()}
    answers = {getattr(torch.Tensor, name): value for name, value in calls.items()}
    answers |= {
        getattr(torch.Tensor, name).__get__: v for name, v in values.items() if name != "data"
    }

    def torch_function(cls, function, types, args=(), kwargs=None):
        if function in answers:
            return answers[function]
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    found["__torch_function__"] = {"__torch_function__": classmethod(torch_function)}
    dispatch = classmethod(lambda cls, function, types, args=(), kwargs=None: elsewhere)
    found["__torch_dispatch__"] = {"__torch_dispatch__": dispatch}
    return found


LIES = lies()


@pytest.mark.parametrize("lie", LIES)
def test_a_subclass_is_not_believed(lie):
    """The reader reads and writes the memory that torch knows."""
    liar, whole = type("Liar", (torch.Tensor,), LIES[lie]), torch.arange(8.0)
    for view in (whole, whole[2:6], whole[::2]):
        x = view.as_subclass(liar)
        assert torch.equal(read_storage(x), whole)
        assert torch.equal(storage_view(x), whole)
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
    liar = x[2:6].as_subclass(type("Liar", (torch.Tensor,), LIES["untyped_storage"]))
    assert explain(liar).lines == explain(x[2:6]).lines
    assert memset(liar) == memset(x[2:6])
    x.untyped_storage().resize_(16)
    assert "it has only 4 (after a resize_" in dict(explain(liar).lines)["storage"]
    with pytest.raises(ValueError, match=r"^this tensor reaches 8 bytes past the end"):
        memset(liar)


def test_how_many_bytes_are_missing():
    """Up to the last byte that an index reaches; 0 without elements or memory."""
    x = torch.arange(12.0)
    views = {
        x: (0, 2, 48),
        x[:6]: (0, 0, 24),
        x[::11]: (0, 2, 48),
        x[6:6]: (0, 0, 0),
        x[12:]: (0, 0, 0),
        x.view(3, 4).t()[1:3, :2]: (0, 0, 28),
        x.view(torch.uint8)[47:]: (0, 2, 48),
    }
    for k, nbytes in enumerate([48, 46, 0]):
        x.untyped_storage().resize_(nbytes)
        assert [bytes_missing(view) for view in views] == [missing[k] for missing in views.values()]
    for other in (torch.empty(3, device="meta"), torch.eye(3).to_sparse()):
        assert bytes_missing(other) == 0


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
    x = claiming(x, 8)
    with pytest.raises(ValueError, match="bytes 28 to 32, but the storage has only 16 bytes"):
        read_element(x, 7)
    with pytest.raises(ValueError, match="bytes 0 to 32, but its storage has only 16 bytes"):
        read_storage(torch.zeros(8), out=x)


def claiming(base, numel, offset=0):
    """A tensor of `numel` elements, whatever its storage can hold, as resize_ can leave it."""
    return torch.ops.inductor._reinterpret_tensor(base, (numel,), (1,), offset)


@pytest.mark.parametrize("name", ["stride", "storage_offset", "requires_grad", "is_meta", "layout"])
@pytest.mark.parametrize("nbytes", [0, 16])
def test_a_storage_that_shrinks_while_it_is_asked(name, nbytes):
    """A subclass may run code before the bytes are counted."""
    real = getattr(torch.Tensor, name)
    victims = []

    def shrinking(self, *args):
        for victim in victims:
            victim.untyped_storage().resize_(nbytes)
        return real(self) if callable(real) else real.__get__(self)

    kind = property(shrinking) if not callable(real) else shrinking
    shrinker = type("Shrinker", (torch.Tensor,), {name: kind})

    def fresh():
        victims.clear()
        return torch.ones(64), torch.zeros(64).as_subclass(shrinker)

    x, out = fresh()
    victims.append(x)
    with pytest.raises(ValueError, match=f"the storage has {nbytes // 4} elements"):
        read_storage(x, out=out)
    x, out = fresh()
    victims.append(out.as_subclass(torch.Tensor))
    with pytest.raises(ValueError, match=f"its storage has only {nbytes} bytes"):
        read_storage(x, out=out)
    if name != "requires_grad":  # which nobody asks of what is read
        _, t = fresh()
        victims.append(t.as_subclass(torch.Tensor))
        assert len(read_storage(t)) == nbytes // 4
        _, t = fresh()
        victims.append(t.as_subclass(torch.Tensor))
        with pytest.raises(ValueError, match=f"but the storage has only {nbytes} bytes"):
            read_element(t, 63)


def test_an_index_that_shrinks_the_storage():
    """The bytes are counted after the index has become an int."""

    class Index:
        def __index__(self):
            x.untyped_storage().resize_(8)
            return 3

    x = torch.ones(4)
    with pytest.raises(ValueError, match="bytes 12 to 16, but the storage has only 8 bytes"):
        read_element(x, Index())
