"""audit: it counts what torch's profiler counts, it changes nothing, and it keeps nothing."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

import stridekit
from stridekit.audit import Audit, record
from stridekit.audit.events import COPY
from tests.audit_models import MODELS

BOTH_WAYS = pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
EACH_MODEL = pytest.mark.parametrize("name", MODELS)


def made(name, backward):
    torch.manual_seed(0)
    model, *inputs = MODELS[name]()
    if backward and not any(one.requires_grad for one in tree_leaves(model(*inputs))):
        pytest.skip("nothing here has a gradient")
    return model, inputs


def run(model, inputs, backward):
    """A run as `audit` makes it, and all that it leaves: outputs and gradients."""
    torch.manual_seed(1)
    out = model(*inputs)
    if backward:
        torch.autograd.backward([out], [torch.ones_like(out)])
    parameters = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    return [
        out,
        *(one.grad for one in (*inputs, *parameters) if one.is_leaf and one.grad is not None),
    ]


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")  # torch 2.12, of one cycle
@EACH_MODEL
@BOTH_WAYS
def test_copies_are_those_of_the_profiler(name, backward):
    model, inputs = made(name, backward)
    counted = profiled(lambda: run(model, inputs, backward))
    model, inputs = made(name, backward)
    assert len(stridekit.audit(model, *inputs, backward=backward).copies) == counted


def profiled(run):
    """How many copies torch's own profiler sees."""
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        run()
    return sum(event.count for event in profiler.key_averages() if event.key == COPY)


class Sub(torch.Tensor):
    pass


def tensor(*shape, **options):
    return torch.arange(float(torch.tensor(shape).prod()), **options).view(shape)


# What reaches copy_ from all sides: functions of a library, numbers, transforms, other dtypes, formats.
CALLS = {
    "a conjugate": lambda: tensor(3, 2).to(torch.complex64).conj().t().contiguous(),
    "into a conjugate": lambda: torch.zeros(2, 3).to(torch.complex64).copy_(tensor(3, 2).t()),
    "negated": lambda: tensor(3, 2).to(torch.complex64).conj().imag.t().contiguous(),
    "vmap": lambda: torch.vmap(lambda a: a.t().contiguous())(tensor(4, 2, 3)),
    "grad": lambda: torch.func.grad(lambda a: (a.t().contiguous() ** 2).sum())(tensor(2, 3)),
    "a subclass": lambda: tensor(3, 4).as_subclass(Sub).t().contiguous(),
    "sparse to dense": lambda: torch.zeros(3, 3).copy_(torch.eye(3).to_sparse().to_dense()),
    "meta": lambda: tensor(3, 4).to("meta").t().contiguous(),
    "sort": lambda: tensor(4, 5).t().sort(dim=0),
    "solve": lambda: torch.linalg.solve(torch.eye(4) + tensor(4, 4), tensor(4, 2)),
    "inverse": lambda: torch.linalg.inv(2 * torch.eye(3).t()),
    "half": lambda: tensor(3, 4).half().t().contiguous().bfloat16() @ torch.ones(3, 2).bfloat16(),
    "interpolate": lambda: F.interpolate(tensor(1, 3, 4, 4), scale_factor=2, mode="bilinear"),
    "an int": lambda: tensor(4, dtype=torch.float32) / 3 + 2**40,
    "a long int": lambda: tensor(2, dtype=torch.float64) * 0 == 2**53,
    "a bool": lambda: torch.arange(3, dtype=torch.int32).ne(True),
    "a float": lambda: torch.where(torch.eye(2) > 0, 1 / 3, tensor(2, 2, dtype=torch.float64).t()),
    "a complex": lambda: tensor(3).to(torch.complex64) * (2 + 1j),
    "attention": lambda: F.scaled_dot_product_attention(*3 * [tensor(1, 2, 4, 8)]),
}


@pytest.mark.parametrize("name", CALLS)
def test_copies_of_all_kinds_of_calls_are_those_of_the_profiler(name):
    alone = CALLS[name]()
    with stridekit.audit() as found:
        watched = CALLS[name]()
    assert len(found.copies) == profiled(CALLS[name])
    for one, other in zip(tree_leaves(watched), tree_leaves(alone), strict=True):
        assert one.stride() == other.stride()
        assert one.is_meta or torch.equal(one, other)


def test_numbers_are_copied_as_they_are():
    for number in (True, 2**53 + 1, 1 / 3, 2 + 1j):
        target = torch.zeros((), dtype=record._DTYPES[type(number)])
        assert record._copy(target, number).item() == number
        record._switch(False)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_copy_inside_of_a_copy_is_none():
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    with stridekit.audit() as found:
        nested.clone().copy_(nested)
    # torch's profiler sees one more, inside of the last.
    assert {kind: count for kind, (count, _) in found.copied.items()} == {"clone": 5}
    assert {copy.bytes for copy in found.copies if copy.shape == (18,)} == {72}


def test_an_op_that_fails_has_copied_nothing():
    with stridekit.audit() as found:
        with pytest.raises(torch.linalg.LinAlgError):
            torch.linalg.cholesky(-torch.eye(4)[:, :3].mT @ torch.eye(4)[:, :3])
        tensor(3, 4).t().contiguous()
    assert [copy.bytes for copy in found.copies] == [48]
    assert found.events[-1].call == "aten::contiguous"


def test_a_compiled_function_runs_as_it_was_written():
    torch.compiler.reset()
    written = lambda x: (x.t().contiguous() + 1).relu()  # noqa: E731
    compiled = torch.compile(written, backend="eager")
    for _ in range(2):
        found = stridekit.audit(compiled, tensor(3, 4))
        assert [one.first.place.line for one in found.findings] == [written.__code__.co_firstlineno]
        assert torch.equal(compiled(tensor(3, 4)), written(tensor(3, 4)))


class Wrapped(torch.Tensor):
    """A tensor whose ops run on another, which it holds."""

    @staticmethod
    def __new__(cls, held):
        return cls._make_wrapper_subclass(cls, held.shape, strides=held.stride())

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args = [one.held if isinstance(one, cls) else one for one in args]
        return cls(func(*args, **kwargs or {}))


def test_of_a_subclass_the_ops_that_it_runs_are_recorded():
    wrapped = Wrapped(tensor(3, 4))
    found = stridekit.audit(lambda: wrapped.t().contiguous())
    assert found.copied == {"layout": (1, 48)}
    assert [finding.first.place.expression for finding in found.findings] == [
        "wrapped.t().contiguous()"
    ]
    assert [op.name for op in found.events] == ["aten::t", "aten::clone"]

    jagged = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    turned = stridekit.audit(lambda: jagged.transpose(1, 2).contiguous())
    assert [one.kind for one in turned.findings] == ["explicit copy"]
    assert turned.findings[0].bytes == 72
    assert Audit.from_json(turned.to_json()) == turned


def test_where_another_mode_is_on_the_subclass_is_named():
    wrapped = Wrapped(tensor(3, 4))
    with FlopCounterMode(display=False):
        found = stridekit.audit(lambda: wrapped.t().clone())
    assert "ops that Wrapped runs of its own were not seen" in str(found)


@EACH_MODEL
@BOTH_WAYS
def test_results_are_as_without(name, backward):
    alone = run(*made(name, backward), backward)
    state = torch.get_rng_state()

    model, inputs = made(name, backward)
    with stridekit.audit() as found:
        watched = run(model, inputs, backward)
    assert torch.equal(torch.get_rng_state(), state)
    assert found.events
    for one, other in zip(watched, alone, strict=True):
        assert one.stride() == other.stride()
        assert one.requires_grad == other.requires_grad
        assert torch.equal(one, other)


def test_nearly_each_op_of_a_forward_pass_has_a_line():
    events = [
        event
        for name in MODELS
        for model, *inputs in [MODELS[name]()]
        for event in stridekit.audit(model, *inputs).events
    ]
    with_line = [event for event in events if event.place and event.place.expression]
    assert len(events) > 500
    assert len(with_line) >= 0.99 * len(events)


def test_ops_of_a_backward_pass_have_the_line_of_the_forward_pass():
    model, *inputs = MODELS["gpt"]()
    events = stridekit.audit(model, *inputs, backward=True).events
    back = [
        event for event in events if event.backward and event.place.file.endswith("audit_models.py")
    ]
    # What detaches a finished gradient has no op of its own; torch 2.9 does it twice.
    counted = [event for event in events if event.backward and event.name != "aten::detach"]
    assert len(back) > 0.8 * len(counted)
    assert {event.module for event in back} >= {"blocks.blocks.0.attention.qkv", "head"}


def test_what_is_run_again_for_its_gradient_has_its_line():
    model, *inputs = MODELS["checkpointed"]()
    events = stridekit.audit(model, *inputs, backward=True).events
    again = [event for event in events if event.backward and event.call == "aten::softmax"]
    assert {event.place.expression for event in again} == {"(q @ k.transpose(-2, -1)).softmax(-1)"}


def hung_in():
    return (
        torch.nn.Module.__call__,
        vars(torch.Tensor).get("contiguous"), vars(torch.Tensor).get("to"),
        _get_current_dispatch_mode(), torch.autograd._profiler_enabled(),
        torch._C._dispatch_tls_is_dispatch_key_included(record._KEY), vars(record._local).copy(),
    )  # fmt: skip


def failing(x):
    x.t().contiguous()
    raise KeyError("of the model")


def test_nothing_stays_behind():
    before = hung_in()
    stridekit.audit(torch.nn.Linear(3, 3), torch.ones(2, 3), backward=True)
    assert hung_in() == before


def test_nothing_stays_behind_where_the_model_fails():
    before = hung_in()
    with pytest.raises(KeyError, match="of the model"):
        stridekit.audit(failing, torch.ones(2, 3))
    with pytest.raises(KeyError), stridekit.audit() as found:
        failing(torch.ones(2, 3))
    assert hung_in() == before
    assert found.bytes == 24  # of what ran until then


def test_a_module_that_fails_leaves_the_next_one_its_name():
    class Fails(torch.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    with stridekit.audit() as found:
        with pytest.raises(ValueError, match="no"):
            torch.nn.Sequential(Fails())(torch.ones(3))
        torch.nn.Sequential(torch.nn.ReLU())(torch.ones(3))
    assert found.events[-1].module == "Sequential.0 (ReLU)"


def test_nothing_is_kept_alive():
    model, inputs, kept = torch.nn.Sequential(torch.nn.Linear(4, 4)), torch.randn(2, 4), []
    model[0].register_forward_hook(lambda _m, _i, out: kept.append(weakref.ref(out)))
    found = stridekit.audit(model, inputs, backward=True)
    gone = [weakref.ref(model), weakref.ref(model[0].weight), weakref.ref(inputs), *kept]
    storages = [weakref.ref(inputs.untyped_storage())]
    model.zero_grad()
    del model, inputs
    gc.collect()
    assert [ref() for ref in (*gone, *storages)] == [None] * 5
    assert found.events


def test_nor_is_what_a_search_for_small_views_has_met():
    x = torch.randn(8, 8)
    with stridekit.audit() as found:
        y = x * 2
        kept = y[0]
        del y
    assert [one.kind for one in found.findings] == ["small view of a large storage"]
    x_is_gone = weakref.ref(x)
    del x
    assert x_is_gone() is None
    assert kept.shape == (8,)


def test_a_profiler_that_runs_is_left_alone():
    before = hung_in()
    with profile(activities=[ProfilerActivity.CPU]), pytest.raises(RuntimeError, match="profiler"):
        stridekit.audit(torch.relu, torch.ones(3))
    assert hung_in() == before


def test_an_audit_that_runs_is_left_alone():
    before, x = hung_in(), torch.ones(3)
    with stridekit.audit() as found, ThreadPoolExecutor(1) as other_thread:
        with pytest.raises(RuntimeError, match="another audit runs"):
            stridekit.audit(torch.relu, x)
        with pytest.raises(RuntimeError, match="another audit runs"):
            other_thread.submit(stridekit.audit, torch.relu, x).result()
        torch.relu(x)
    assert hung_in() == before
    for one in (found, stridekit.audit(torch.relu, x)):
        assert [event.name for event in one.events] == ["aten::relu"]


def test_a_profiler_that_the_model_starts_is_refused_by_torch():
    before = hung_in()
    with stridekit.audit() as found:
        torch.ones(3)
        with pytest.raises(RuntimeError, match="already enabled"):
            profile(activities=[ProfilerActivity.CPU]).__enter__()
    assert hung_in() == before
    assert [event.name for event in found.events] == ["aten::ones"]


@EACH_MODEL
@BOTH_WAYS
def test_the_report_explains_each_byte_of_its_title(name, backward):
    model, inputs = made(name, backward)
    found = stridekit.audit(model, *inputs, backward=backward)
    explained = sum(finding.copied for finding in (*found.findings, *found.own))
    assert explained == found.bytes == sum(copy.bytes for copy in found.of_layouts())
    assert found.unwatched == ()
    if explained:
        with pytest.raises(AssertionError, match="to change layouts"):
            found.assert_no_copies(max_bytes=explained - 1)
    found.assert_no_copies(max_bytes=explained)


def generates(x):
    yield x.t().contiguous()


async def awaits(x):
    return x.t().contiguous()


def on_another_thread(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(torch.nn.ReLU(), x).result()


def under_flops(x):
    with FlopCounterMode(display=False):
        return stridekit.audit(torch.relu, x)


def under_fake(x):
    with FakeTensorMode():
        return stridekit.audit(lambda: torch.zeros(3, 4).t().contiguous())


def ended(x):
    block = stridekit.audit()
    with pytest.raises(KeyError), block:
        failing(x)
    return block


# What was not watched as a whole, and what a report says of it.
UNWATCHED = {
    "an outer mode": (under_flops, "FlopCounterMode was on around the run"),
    "an outer fake mode": (under_fake, "FakeTensorMode was on around the run"),
    "fake tensors": (
        lambda x: stridekit.audit(torch.t, FakeTensorMode().from_tensor(x)), "fake tensors have no memory",
    ),
    "a fake mode inside": (
        lambda x: stridekit.audit(lambda: FakeTensorMode().from_tensor(x).t().contiguous()), "fake tensors",
    ),
    "a generator": (lambda x: stridekit.audit(generates, x), "it returned a generator"),
    "a generator in a list": (lambda x: stridekit.audit(lambda x: [generates(x)], x), "a generator"),
    "a map": (lambda x: stridekit.audit(lambda x: map(torch.t, x), x), "it returned a map"),
    "a coroutine": (lambda x: stridekit.audit(awaits, x), "it returned a coroutine"),
    "another thread": (lambda x: stridekit.audit(on_another_thread, x), "modules ran on other threads"),
    "a block that was not entered": (lambda x: stridekit.audit(), "the block was not entered"),
    "a block that raised": (ended, "KeyError ended the run"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNWATCHED)
def test_what_was_not_watched_is_no_clean_bill(name):
    make, words = UNWATCHED[name]
    found = make(tensor(3, 4))
    assert any(words in gap for gap in found.unwatched)
    assert f"not watched: {found.unwatched[0]}" in str(found)
    assert words in found._repr_html_()
    with pytest.raises(AssertionError, match="was not watched as a whole"):
        found.assert_no_copies(max_bytes=10**9, allow="*")
    assert Audit.from_json(found.to_json()) == found


def test_a_block_that_has_not_ended_is_not_watched_yet():
    with stridekit.audit() as found:
        with pytest.raises(AssertionError, match="has not ended"):
            found.assert_no_copies()
        with pytest.raises(RuntimeError, match="has begun"), found:
            pass
    found.assert_no_copies()
    with pytest.raises(RuntimeError, match="has begun"), found:
        pass


def test_a_mode_inside_of_a_block_is_seen_through():
    with stridekit.audit() as found, FlopCounterMode(display=False):
        tensor(3, 4).t().contiguous()
    assert (found.bytes, found.unwatched) == (48, ())


def test_a_compiled_model_stays_compiled():
    torch.compiler.reset()
    compiles = []

    def backend(graph, _inputs):
        compiles.append(graph)
        return graph

    for watch in (False, True):
        torch.compiler.reset()
        compiles.clear()
        model = torch.compile(torch.nn.ReLU(), backend=backend)
        if watch:
            stridekit.audit(model, tensor(3, 4))
        model(tensor(3, 4))
        assert len(compiles) == 1


def test_the_caches_of_overrides_hold_nothing_of_an_audit():
    overrides = torch.overrides
    for value in vars(overrides).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()
    stridekit.audit(lambda: overrides.get_overridable_functions())
    assert torch.Tensor.contiguous in overrides.get_overridable_functions()[torch.Tensor]


def test_an_op_bears_the_name_of_the_outermost_call():
    x, long = torch.ones(3, 4), torch.ones(5, 5)
    with stridekit.audit() as found:
        x.t().reshape(-1)
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            F.linear(x, long)
        with record_function("stridekit's own"):
            F.linear(x, x).t().flatten()
    ours = [(one.name, one.call) for one in found.events if one.name.startswith("aten::")]
    assert [tuple(name.removeprefix("aten::") for name in one) for one in ours] == [
        ("t", "t"), ("clone", "reshape"), ("_unsafe_view", "reshape"),
        ("t", "linear"),
        ("t", "linear"), ("mm", "linear"), ("t", "t"), ("clone", "flatten"), ("_unsafe_view", "flatten"),
    ]  # fmt: skip


def test_the_fast_path_of_an_encoder_layer_is_left_on():
    model, x = MODELS["encoder_layer_on_its_fast_path"]()
    with torch.no_grad():
        found = stridekit.audit(model, x)
    assert [event.name for event in found.events] == ["aten::_transformer_encoder_layer_fwd"]


@pytest.mark.parametrize(
    ("arguments", "named", "error", "words"),
    [
        ((3,), {}, TypeError, "model is 3, an int|model is an int"),
        ((torch.relu, torch.ones(3)), {"backward": 1}, TypeError, "backward"),
        ((torch.relu, torch.ones(3)), {"backward": True}, ValueError, "no output requires grad"),
        ((None, torch.ones(3)), {}, TypeError, "model is a NoneType"),
        ((), {"backward": True}, TypeError, "audit got backward and no model"),
        ((), {"x": torch.ones(3)}, TypeError, "audit got x and no model"),
        ((torch.nn.ReLU,), {}, TypeError, "model is the class ReLU: give an instance"),
    ],
)
def test_what_cannot_be_audited(arguments, named, error, words):
    with pytest.raises(error, match=words):
        stridekit.audit(*arguments, **named)
