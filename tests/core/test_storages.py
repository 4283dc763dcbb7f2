"""storages: torch.save and safetensors write the predicted bytes, and brute force counts the rest."""

import gc
import io
import json
import pickle
import sys
import weakref
import zipfile

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from stridekit import Layout, storages
from stridekit.tensors.files import SAFE_DTYPES
from stridekit.tensors.holders import base_of_array, living
from tests.core import steps
from tests.core.brute_force import bytes_of
from tests.core.robust_inputs import INPUTS, Wrapper, meet
from tests.core.strategies import storage


@pytest.fixture(autouse=True)
def young_process():
    """Hide what earlier tests have left: a search through all of it takes 20 s in a full worker."""
    gc.freeze()
    yield
    gc.unfreeze()


def bytes_in_file(x):
    """Return the bytes of the storages in a file of torch.save; None if it refuses."""
    buffer = io.BytesIO()
    try:
        torch.save(x, buffer)
    except (RuntimeError, KeyError):
        return None
    with zipfile.ZipFile(buffer) as archive:
        return sum(file.file_size for file in archive.infolist() if "/data/" in file.filename)


def data_of(file):
    """Return the bytes behind the header of safetensors."""
    length = int.from_bytes(file[:8], "little")
    json.loads(file[8 : 8 + length])
    return len(file) - 8 - length


def bytes_in_safetensors(state_dict):
    try:
        return data_of(safetensors.torch.save(state_dict))
    except (RuntimeError, ValueError, KeyError):
        return None


def bytes_of_save_model(model, folder):
    try:
        safetensors.torch.save_model(model, str(folder / "model"))
    except (RuntimeError, ValueError, KeyError):
        return None
    return data_of((folder / "model").read_bytes())


# Random state_dicts --------------------------------------------------------------------------------

DTYPES = [torch.uint8, torch.float32, torch.float32, torch.complex64, torch.float64]


def random_state_dict(r):
    """Return tensors on up to three storages: the whole, views of any kind, equal ones, other dtypes."""
    tensors = []
    for _ in range(r.randint(1, 3)):
        base = storage(r.choice((0, 1, 12, 24)), r.choice(DTYPES))
        tensors += [base] * r.choice((0, 1, 1, 2))
        for _ in range(r.randint(0, 3)):
            view = base
            for _ in range(r.randint(1, 3)):
                view, _ = steps.viewed(r, view)
            tensors.append(view)
        if r.random() < 0.1:
            tensors.append(base.view(torch.uint8))
    r.shuffle(tensors)
    return {f"t{k}": t for k, t in enumerate(tensors)}


randoms = st.randoms(use_true_random=False)


@given(randoms)
def test_the_numbers_are_the_truth(r):
    state_dict = random_state_dict(r)
    kept = storages(state_dict)
    assert kept.uncounted == ()
    of_storage = {}
    for name, t in state_dict.items():
        if t.untyped_storage().nbytes():
            of_storage.setdefault(t.untyped_storage()._cdata, []).append(name)
    assert sorted(s.names for s in kept.storages) == sorted(of_storage.values())
    for s in kept.storages:
        assert s.nbytes == state_dict[s.names[0]].untyped_storage().nbytes()
        assert s.reached == len(set().union(*(bytes_of(state_dict[name]) for name in s.names)))
        assert (s.handles, s.device) == (1, "cpu")
        for holder in s.holders:
            t = state_dict[holder.name]
            start = t.untyped_storage().data_ptr()
            places = {address - start for address in bytes_of(t)}
            assert holder.reached == len(places)
            assert (holder.first, holder.stop) == (
                min(places, default=0),
                max(places, default=-1) + 1,
            )
            assert (holder.shape, holder.nbytes) == (tuple(t.shape), t.nbytes)
            assert f"torch.{holder.dtype}" == str(t.dtype)
    order = [s.saves for s in kept.storages]
    assert order == sorted(order, reverse=True)


@given(randoms)
def test_torch_writes_so_many_bytes_before_and_after_clones(r):
    state_dict = random_state_dict(r)
    kept = storages(state_dict)
    assert kept.torch_save == bytes_in_file(state_dict)
    assert (kept.torch_save is None) == bool(kept.why_not_torch_save)
    assume(kept.torch_save is not None)
    cloned = {name: t.clone() if name in kept.clone else t for name, t in state_dict.items()}
    assert kept.torch_save_cloned == bytes_in_file(cloned)
    freed = sum(s.saves for s in kept.storages if {*s.names} <= {*kept.clone})
    assert kept.torch_save - kept.torch_save_cloned == freed
    assert kept.nbytes - storages(cloned).nbytes == freed
    for s in kept.storages:
        clones = sum(state_dict[name].nbytes for name in s.names)
        assert s.saves == max(0, s.nbytes - clones)
        assert ({*s.names} <= {*kept.clone}) == (2 * clones <= s.nbytes)


@given(randoms)
def test_safetensors_writes_so_many_bytes_or_refuses(r):
    state_dict = random_state_dict(r)
    kept = storages(state_dict)
    assert kept.safetensors == bytes_in_safetensors(state_dict)
    assert (kept.safetensors is None) == bool(kept.why_not_safetensors)


@given(randoms)
def test_save_model_writes_so_many_bytes_or_refuses(tmp_path_factory, r):
    model = torch.nn.Module()
    for name, t in random_state_dict(r).items():
        model.register_buffer(name, t)
    kept = storages(model)
    assert kept.safetensors == bytes_of_save_model(model, tmp_path_factory.getbasetemp())
    assert kept.torch_save == bytes_in_file(model)


ALL_DTYPES = sorted({v for v in vars(torch).values() if isinstance(v, torch.dtype)}, key=str)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_each_dtype(dtype):
    try:
        t = torch.zeros(16, dtype=torch.uint8).view(dtype)[1:]
    except (RuntimeError, TypeError):
        pytest.skip("no strided tensor has this dtype")
    x = {"x": t}
    kept = storages(x)
    if kept.uncounted:
        assert "quantized" in kept.uncounted[0][1]
        return
    assert (kept.torch_save, kept.safetensors) == (bytes_in_file(x), bytes_in_safetensors(x))
    bytes_and_dtype = {"x": t, "bytes": t.view(torch.uint8) if t.itemsize == 1 else t}
    assert storages(bytes_and_dtype).torch_save == bytes_in_file(bytes_and_dtype)


def test_the_dtypes_of_safetensors_are_those_of_the_library():
    known = {str(dtype).removeprefix("torch.") for dtype in safetensors.torch._SIZE if dtype}
    assert {name for name in SAFE_DTYPES if hasattr(torch, name)} == known


# What people have ----------------------------------------------------------------------------------


class LanguageModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 8)
        self.head = torch.nn.Linear(8, 50, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("places", torch.zeros(1000, 8)[:5])


def test_a_language_model_with_tied_weights_and_a_slice():
    model = LanguageModel()
    kept = storages(model.state_dict())
    assert repr(kept) == (
        "3 tensors on 2 storages: 33.6 kB kept alive, 1.76 kB reached\n"
        "  storage  reached  held by\n"
        "    32 kB    160 B  places, float32 (5, 8)\n"
        "   1.6 kB   1.6 kB  embed.weight and head.weight\n"
        "  torch.save   writes 33,600 bytes: each storage whole, and once\n"
        "  safetensors  refuses: embed.weight and head.weight share memory: clone all but one, or use "
        "save_model\n"
        "  clone        places: then torch.save writes 1,760 bytes, and 31.8 kB less is kept alive"
    )
    of_model = storages(model)
    assert of_model.storages[0].names == ["places"]
    assert of_model.why_not_safetensors.startswith("no tensor covers the whole storage of places")
    model.places = model.places.clone()
    assert storages(model).safetensors == 1_760
    assert not storages(model).clone


def test_gradients_count_in_memory_and_not_in_a_file():
    model = torch.nn.Linear(8, 4)
    model(torch.ones(2, 8)).sum().backward()
    kept = storages(model)
    names = {name for s in kept.storages for name in s.names}
    assert names == {"weight", "bias", "weight.grad", "bias.grad"}
    assert (kept.nbytes, kept.torch_save) == (2 * 144, 144)
    assert bytes_in_file(model) == 144


def test_a_history_of_losses_that_are_views():
    """Each keeps the losses of its whole batch."""
    losses = [torch.rand(4096)[k] for k in range(8)]
    kept = storages({"epoch": 3, "losses": losses})
    assert (kept.nbytes, kept.reached, kept.torch_save_cloned) == (8 * 16_384, 32, 32)
    assert kept.clone == tuple(f"losses[{k}]" for k in range(8))
    text = str(kept)
    assert "… and 3 more storages of 49.2 kB: table() shows all" in text
    assert "losses[0], losses[1], losses[2] and 5 more: then torch.save writes 32 bytes" in text
    assert len(kept.table().rows) == 8


def test_rows_of_one_batch_share_it():
    """Each is small, and together they need the whole."""
    batch = torch.zeros(8, 100)
    kept = storages([*batch])
    assert [s.names for s in kept.storages] == [[f"[{k}]" for k in range(8)]]
    assert (kept.reached, kept.storages[0].saves, kept.clone) == (3_200, 0, ())
    sharers = [row[-1] for row in kept.table().rows]
    assert kept.table().rows[0][1:] == ("400", "3,200", "[1], [2], [3] and 4 more")
    assert sharers[2] == "[0], [1], [3] and 4 more"
    assert sharers[3:] == ["[0], [1], [2] and 4 more"] * 5


@pytest.mark.parametrize(("rows", "advised"), [(4, True), (5, False)])
def test_a_clone_is_advised_up_to_half_of_the_storage(rows, advised):
    kept = storages([torch.zeros(8, 100)[:rows]])
    assert kept.clone == (("[0]",) if advised else ())
    assert ("clone" in str(kept)) == advised


def test_an_expanded_tensor_would_grow_in_a_clone():
    x = torch.zeros(100)
    kept = storages([x[:1].expand(1000)])
    assert (kept.reached, kept.storages[0].saves, kept.clone) == (4, 0, ())


def test_an_empty_view_keeps_its_storage_alive():
    kept = storages({"none": torch.zeros(100)[3:3]})
    assert (kept.nbytes, kept.reached, kept.clone) == (400, 0, ("none",))
    assert storages({"none": torch.zeros(0)}).storages == ()
    assert repr(storages([torch.zeros(0)])).startswith("no tensor or array with memory")


def test_an_optimizer_and_its_state():
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    state_dict = optimizer.state_dict()
    kept = storages(state_dict)
    names = {name for s in kept.storages for name in s.names}
    assert "state[0]['exp_avg']" in names and len(names) == 6
    assert kept.torch_save == bytes_in_file(state_dict) == 2 * (4 + 24 + 24) - 2 * 16 + 0
    of_object = {name for s in storages(optimizer).storages for name in s.names}
    assert "param_groups[0]['params'][0]" in of_object


def test_a_batch_that_torch_and_numpy_share():
    """A storage over a part of an array keeps the array alive, and torch.save writes the part alone."""
    array = np.arange(1000.0)
    batch = {"array": array[10:20], "tensor": torch.from_numpy(array[500:])}
    kept = storages(batch)
    (s,) = kept.storages
    assert (s.names, s.nbytes, s.reached, s.handles) == (["array", "tensor"], 8000, 4080, 1)
    assert [holder.is_array for holder in s.holders] == [True, False]
    assert kept.torch_save == bytes_in_file(batch) == 4000
    assert str(kept).startswith(
        "1 tensor and 1 array on 1 storage: 8 kB kept alive, 4.08 kB reached"
    )
    assert "and the elements of arrays, in its pickle" in str(kept)


def test_a_small_array_over_the_memory_of_torch():
    """audit misses it: nothing but an array keeps the result of the run."""
    kept = storages({"row": torch.zeros(1000, 10)[3].numpy()})
    (s,) = kept.storages
    assert (s.nbytes, s.reached, s.handles, kept.clone) == (40_000, 40, 1, ("row",))


def test_two_storages_over_one_memory_are_one_block_and_two_in_a_file():
    x = torch.zeros(100)
    pair = {"x": x, "back": torch.from_numpy(x.numpy())}
    kept = storages(pair)
    (s,) = kept.storages
    assert (s.nbytes, s.handles) == (400, 2)
    assert kept.torch_save == bytes_in_file(pair) == 800


def test_neighbours_in_memory_are_two():
    array = np.zeros(100)
    halves = [torch.from_numpy(array[:50]), torch.from_numpy(array[50:])]
    assert len(storages(halves).storages) == 2
    assert len(storages([*halves, array[49:51]]).storages) == 1


def test_a_lazy_clone_stays_lazy():
    x = torch._lazy_clone(torch.ones(3, 4))
    assert storages({"x": x}).safetensors == 48
    assert torch._C._is_cow_tensor(x)


def test_a_large_dict_hides_no_names_beside_it(monkeypatch):
    monkeypatch.setattr("stridekit.tensors.holders._MOST_OBJECTS", 500)
    large = {k: [k] for k in range(1000)}
    outputs = {k: torch.zeros(70 + k) for k in range(3)}
    names = {held.name for held in living(sys._getframe())}
    assert {f"outputs[{k}]" for k in outputs} <= names
    assert len(large) == 1000


@pytest.mark.parametrize(
    "words", ["2 tensors and 2 arrays on 4 storages", "1 tensor and 1 array on"]
)
def test_the_title_counts_tensors_and_arrays(words):
    count = int(words[0])
    arrays = [np.zeros(3) for _ in range(count)]
    assert str(storages([*arrays, *(torch.zeros(3) for _ in range(count))])).startswith(words)


def test_containers_and_objects_have_paths_for_names():
    class Slots:
        __slots__ = ("row", "unset")

    class Sub(torch.Tensor):
        pass

    slots = Slots()
    slots.row = torch.zeros(1)
    sub = torch.zeros(2).as_subclass(Sub)
    sub.extra = [torch.zeros(3)]
    key = torch.zeros(4)
    point = torch.max(torch.zeros(2, 2), 0)  # a named tuple
    module = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False))
    module.cache = {"k": torch.zeros(5)}
    x = {
        "a.b": slots,
        3: (sub,),
        "key": {key: 1},
        "point": point,
        "m": module,
        "set": {torch.ones(7)},
    }
    x["itself"] = x
    names = {name for s in storages(x).storages for name in s.names}
    assert names == {
        "a.b.row",
        "[3][0]",
        "[3][0].extra[0]",
        "a key of key",
        "point[0]",
        "point[1]",
        "m.0.weight",
        "m.cache['k']",
        "set[0]",
    }
    (named,) = storages(torch.zeros(2)).storages
    assert named.names == ["x"]


def test_a_nesting_of_any_depth():
    x = torch.zeros(2)
    for _ in range(10_000):
        x = [x]
    assert storages(x).nbytes == 8


# The process ---------------------------------------------------------------------------------------

of_module = torch.zeros(50, 1000)[7]
as_array = torch.zeros(60, 1000)[7].numpy()


def named(kept):
    return {name: s for s in kept.storages for name in s.names}


def test_all_that_live_are_found_by_their_variables():
    local = {"rows": [torch.zeros(70, 1000)[7]]}
    unreachable = torch.zeros(80, 1000)
    rows = (row for row in [unreachable.view(-1)[:10]])
    del unreachable
    kept = storages()
    assert kept.torch_save is None and kept.torch_save_cloned is None
    for name, nbytes in {
        "of_module": 200_000,
        "as_array": 240_000,
        "local['rows'][0]": 280_000,
    }.items():
        s = named(kept)[name]
        assert (s.nbytes, s.reached, s.names) == (nbytes, 4_000, [name])
        assert name in kept.clone
    (s,) = [s for s in kept.storages if s.nbytes == 320_000]
    assert (s.names, s.reached) == (["unnamed"], 40)
    assert "not seen" in str(kept)
    assert len([*rows]) == len(local["rows"])


def test_the_base_of_a_view_holds_memory_only_while_something_refers_to_it():
    base = torch.zeros(90, 1000)
    view = base[3]
    others = [base]
    assert {*named(storages())["view"].names} == {"base", "view"}
    del base
    assert {*named(storages())["view"].names} == {"others[0]", "view"}
    others.clear()
    assert named(storages())["view"].names == ["view"]
    assert view.numel() == 1000


def test_a_base_that_only_another_function_holds():
    def caller():
        return called(torch.zeros(95, 1000))

    def called(base):
        view = base[3]
        names = named(storages())["view"].names
        assert view.numel() == 1000
        return {*names}

    assert caller() == {"base", "view"}


def test_names_that_belong_to_python_are_not_searched():
    globals()["__of_python__"] = [torch.zeros(77, 100)]
    globals()["_of_readers"] = [torch.zeros(78, 100)]
    names = {s.nbytes: s.names for s in storages().storages}
    del globals()["__of_python__"], globals()["_of_readers"]
    assert names[30_800] == ["unnamed"]
    assert names[31_200] == ["_of_readers[0]"]


def test_arrays_of_numpy_alone_are_left_out():
    alone = np.zeros(12_345)
    assert 98_760 not in [s.nbytes for s in storages().storages]
    both = torch.from_numpy(alone)
    assert {*named(storages())["both"].names} == {"alone", "both"}
    assert both.numel() == 12_345


def test_nothing_is_kept_alive():
    """Not even until the next collection; nor does a frame keep a copy of its variables."""
    gc.collect()
    gc.disable()
    try:
        x = torch.zeros(3)
        graph = {"x": x[1:], "array": np.zeros(3), "sparse": torch.eye(2).to_sparse()}
        gone = weakref.ref(x), weakref.ref(graph["array"]), weakref.ref(graph["sparse"])
        results = [storages(graph), storages(), storages()]
        del x, graph
        assert [reference() for reference in gone] == [None] * 3
        assert len(results) == 3
    finally:
        gc.enable()


def test_a_copy_that_locals_returned_stays_whole():
    number = 3
    copied = locals()
    storages()
    assert copied["number"] == number


# What has no part in the numbers -------------------------------------------------------------------

WITHOUT_MEMORY = (
    "coo csr mkldnn nested jagged quantized uninitialized meta fake wrapper functional vmap grad"
)


@pytest.mark.parametrize("kind", WITHOUT_MEMORY.split())
def test_what_has_no_single_memory_is_named_with_the_reason(kind):
    good = torch.zeros(2)
    kept = meet(kind, lambda x: storages({"good": good, "odd": x}))
    assert "good" in named(kept) and kept.torch_save >= 8
    ((name, reason),) = kept.uncounted
    assert name == "odd" and len(reason) > 20
    assert f"  not counted  odd: {reason}" in str(kept)
    assert kept.why_not_safetensors.startswith("odd: ")


def test_the_tensor_inside_a_wrapper_is_found_as_its_attribute():
    kept = storages({"w": Wrapper(torch.ones(3))})
    assert kept.storages[0].names == ["w.inner"]
    assert [name for name, _ in kept.uncounted] == ["w"]


def test_a_long_list_of_reasons_is_cut():
    kept = storages([torch.empty(3, device="meta")] * 9)
    assert "and 6 more" in str(kept) and len(kept.uncounted) == 9


def test_objects_whose_attributes_raise():
    class Hostile(torch.nn.Module):
        def __getattribute__(self, name):
            raise RuntimeError(name)

        __hash__ = None

    class OfArray(np.ndarray):
        @property
        def base(self):
            raise RuntimeError("base")

    class Lying:
        @property
        def __class__(self):
            raise RuntimeError("class")

        @property
        def __dict__(self):
            raise RuntimeError("dict")

    class OfDict(dict):
        def items(self):
            raise RuntimeError("items")

    module = Hostile.__new__(Hostile)
    object.__setattr__(module, "__dict__", {"_buffers": {"b": torch.zeros(2)}})
    parts = {
        "module": module,
        "array": np.zeros(2).view(OfArray),
        "lying": Lying(),
        "dict": OfDict(x=torch.zeros(2)),
    }
    assert {*named(storages(parts))} == {"module.b", "array", "dict['x']"}
    assert storages(module).why_not_safetensors == "state_dict() raises RuntimeError"
    assert "module.b" in named(storages())


@pytest.mark.parametrize("x", [None, 3, "x", object(), torch.Tensor, Layout((2, 3)), len])
def test_what_holds_no_tensor_is_refused(x):
    with pytest.raises(TypeError, match=r"holds no tensor.*: give "):
        storages(x)


@pytest.mark.parametrize("x", [[], {}, (), torch.nn.Module(), ["x", None]])
def test_an_empty_container_holds_nothing(x):
    kept = storages(x)
    assert (kept.storages, kept.nbytes, kept.reached, kept.torch_save) == ((), 0, 0, 0)


SQUARE = torch.zeros(4, 4)
SAFE_REFUSALS = {
    "epoch is an int, not a tensor": {"epoch": 3},
    "a key is an int, not a text": {3: torch.zeros(2)},
    "x is complex128, which it cannot write": {"x": torch.zeros(2, dtype=torch.complex128)},
    "x is not contiguous (dim 1": {"x": torch.zeros(2, 3).t()},
    "b shares a storage and has no flat view": {"a": SQUARE, "b": SQUARE[:, :2]},
}


@pytest.mark.parametrize("words", SAFE_REFUSALS)
def test_safetensors_refuses_with_the_reason(words):
    kept = storages(SAFE_REFUSALS[words])
    assert kept.safetensors is None and words in kept.why_not_safetensors
    assert f"refuses: {words}" in str(kept)
    with pytest.raises(Exception):  # noqa: B017, PT011  (each kind of refusal has a type of its own)
        safetensors.torch.save(SAFE_REFUSALS[words])


def test_a_list_says_nothing_of_safetensors():
    assert "safetensors" not in str(storages([torch.zeros(2)]))


def test_two_dtypes_on_one_storage_are_refused_as_torch_does():
    x = torch.zeros(4)
    kept = storages([x, x.view(torch.int32)])
    assert kept.why_not_torch_save == (
        "[0] and [1] view the same data as different types, torch.float32 and torch.int32: clone one of "
        "them"
    )
    assert "torch.save  refuses: [0] and [1]" in str(kept)


def test_a_count_that_takes_too_long_is_not_guessed():
    x = torch.empty(50_000, 50_000, dtype=torch.uint8)  # no page of it is touched
    kept = storages([x[::2, ::3], x[::3, ::2]])
    assert kept.reached is None and kept.storages[0].reached is None
    assert [holder.reached for holder in kept.storages[0].holders] == [
        25_000 * 16_667,
        16_667 * 25_000,
    ]
    assert "2.5 GB kept alive, ? reached" in str(kept)


# How it shows --------------------------------------------------------------------------------------


def test_the_picture_has_a_box_for_each_storage_and_a_line_for_each_holder():
    big = torch.zeros(100, 10)
    kept = storages({"<b>": big[50:75], "small": torch.zeros(500)})
    page = kept._repr_html_()
    assert "<b>:" not in page and "&lt;b&gt;: bytes 2,000 to 3,000 of 4,000" in page
    assert "margin-left:50%;width:25%" in page and "width:100%;min-width" in page
    assert "width:50%;min-width" in page and "small: bytes 0 to 2,000 of 2,000" in page
    assert "<b>clone</b> &lt;b&gt;: then torch.save writes 3,000 bytes" in page
    assert "<table" not in storages([])._repr_html_()


def test_each_kind_of_input_in_a_list_is_counted_or_named():
    for kind in INPUTS:
        kept = meet(kind, lambda x: storages([x]))
        assert pickle.loads(pickle.dumps(kept)) == kept
        assert str(kept) and kept._repr_html_() and str(kept.table())


class Owner(np.ndarray):
    """An array of a subclass that owns its memory: a view of it has it as its base."""


def test_the_base_of_an_array_of_a_subclass_ends():
    owner = np.ndarray.__new__(Owner, (3,))
    assert base_of_array(owner) is None
