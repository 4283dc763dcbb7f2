"""audit: it counts what torch's profiler counts, it changes nothing, and it keeps nothing."""

import ast
import gc
import linecache
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import _get_current_dispatch_mode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

import stridekit
from stridekit.audit import Audit, kernels
from stridekit.audit.events import Kind, Place, kind_of
from tests.core.audit_models import MODELS


class Run(NamedTuple):
    """The output and the gradients of a run, the state of random numbers, and the watcher."""

    tensors: list[torch.Tensor]
    random: torch.Tensor
    watcher: Any


def run(name, watch):
    torch.manual_seed(0)
    model, *inputs = MODELS[name]()
    parameters = [*model.parameters()] if isinstance(model, torch.nn.Module) else []
    with watch() as watched:
        out = model(*inputs)
        if out.requires_grad:
            torch.autograd.backward([out], [torch.ones_like(out)])
    grads = [x.grad for x in (*inputs, *parameters) if x.is_leaf and x.grad is not None]
    return Run([out, *grads], torch.get_rng_state(), watched)


@cache
def audited(name):
    return run(name, stridekit.audit)


def counted(profiler):
    """How many copies torch's own profiler saw."""
    return sum(event.count for event in profiler.key_averages() if event.key == "aten::copy_")


def watch():
    return profile(activities=[ProfilerActivity.CPU])


def assert_alike(tensors, expected):
    for x, y in zip(tensors, expected, strict=True):
        assert x.stride() == y.stride() and x.requires_grad == y.requires_grad
        assert x.is_meta or torch.equal(x, y)


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")  # torch 2.12, of one cycle
@pytest.mark.parametrize("name", MODELS)
def test_an_audit_counts_what_the_profiler_counts_and_explains_each_byte_of_it(name):
    alone = run(name, watch)
    watched = audited(name)
    assert_alike(watched.tensors, alone.tensors)
    assert torch.equal(watched.random, alone.random)
    audit = watched.watcher
    assert len(audit.copies) == counted(alone.watcher)
    explained = sum(finding.copied for finding in (*audit.findings, *audit.own))
    assert explained == audit.bytes == sum(copy.bytes for copy in audit.of_layouts())
    assert audit.unwatched == ()
    audit.assert_no_copies(max_bytes=explained)
    if explained:
        with pytest.raises(AssertionError, match="to change layouts"):
            audit.assert_no_copies(max_bytes=explained - 1)


class Sub(torch.Tensor):
    pass


def tensor(*shape, **options):
    return torch.arange(float(torch.tensor(shape).prod()), **options).view(shape)


def filled_by(source):
    return torch.zeros(3, 3).copy_(source)


def in_complex(*shape):
    return tensor(*shape).to(torch.complex64)


# Calls that reach copy_ from all sides: libraries, numbers, transforms, other dtypes, formats.
CALLS = {
    "a conjugate": lambda: in_complex(3, 2).conj().t().contiguous(),
    "into a conjugate": lambda: torch.zeros(2, 3).to(torch.complex64).copy_(tensor(3, 2).t()),
    "negated": lambda: in_complex(3, 2).conj().imag.t().contiguous(),
    "vmap": lambda: torch.vmap(lambda a: a.t().contiguous())(tensor(4, 2, 3)),
    "grad": lambda: torch.func.grad(lambda a: (a.t().contiguous() ** 2).sum())(tensor(2, 3)),
    "a subclass": lambda: tensor(3, 4).as_subclass(Sub).t().contiguous(),
    "sparse to dense": lambda: filled_by(torch.eye(3).to_sparse().to_dense()),
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
    "a complex": lambda: in_complex(3) * (2 + 1j),
    "attention": lambda: F.scaled_dot_product_attention(*3 * [tensor(1, 2, 4, 8)]),
}


@pytest.mark.parametrize("name", CALLS)
def test_copies_of_all_kinds_of_calls_are_those_of_the_profiler(name):
    with stridekit.audit() as audit:
        watched = CALLS[name]()
    with watch() as profiler:
        alone = CALLS[name]()
    assert len(audit.copies) == counted(profiler)
    assert_alike(tree_leaves(watched), tree_leaves(alone))


def test_numbers_are_copied_as_they_are():
    for number, dtype in ((True, torch.bool), (2**53 + 1, torch.int64), (1 / 3, torch.float64)):
        with stridekit.audit() as audit:
            assert torch.zeros((), dtype=dtype).copy_(number).item() == number
        assert [copy.bytes for copy in audit.copies] == [dtype.itemsize]


ROWS = (3, 4), (4, 1)
COLUMNS = (3, 4), (1, 3)
WITH_GAPS = (3, 4), (8, 1)
ONE_ROW = (1, 4), (4, 1)
SPREAD = (3, 4), (0, 1)
NO_STRIDES = (12,), ()
KINDS_OF_COPIES = {
    # target, source, the operand as the op received it, whether it is a write: the kind
    "another order": (ROWS, COLUMNS, COLUMNS, False, Kind.LAYOUT),
    "another order than an op had made": (ROWS, COLUMNS, None, False, Kind.INSIDE),
    "another order, written": (ROWS, COLUMNS, COLUMNS, True, Kind.WRITE),
    "the same order": (ROWS, ROWS, ROWS, False, Kind.CLONE),
    "no gaps any more": (ROWS, WITH_GAPS, WITH_GAPS, False, Kind.LAYOUT),
    "into gaps": (WITH_GAPS, ROWS, ROWS, False, Kind.WRITE),
    "into gaps of nothing": (((0, 4), (8, 1)), ((0, 4), (4, 1)), None, False, Kind.CLONE),
    "one element": (((1, 1), (1, 1)), ((1, 1), (7, 7)), None, False, Kind.CLONE),
    "two elements": (((2,), (1,)), ((2,), (3,)), None, False, Kind.INSIDE),
    "other strides of a size of 1": (ONE_ROW, ((1, 4), (9, 1)), ONE_ROW, False, Kind.CLONE),
    "another shape": (ROWS, ((4,), (1,)), ((4,), (1,)), False, Kind.BROADCAST),
    "an expanded operand": (ROWS, SPREAD, SPREAD, False, Kind.EXPANDED),
    "expanded by the op": (ROWS, SPREAD, ONE_ROW, False, Kind.BROADCAST),
    "expanded by the op, from a size of 1": (ROWS, SPREAD, ((1, 4), (0, 1)), False, Kind.BROADCAST),
    "expanded by the op, from its own": (ROWS, SPREAD, None, False, Kind.BROADCAST),
    "a stride of 0 without a step": (
        ((2, 1, 3), (3, 3, 1)),
        ((2, 1, 3), (1, 0, 2)),
        ((2, 1, 3), (1, 0, 2)),
        False,
        Kind.LAYOUT,
    ),
    "from what has no strides": (((12,), (1,)), NO_STRIDES, None, False, Kind.CLONE),
    "into what has no strides": (NO_STRIDES, ((12,), (2,)), None, False, Kind.CLONE),
}


@pytest.mark.parametrize("name", KINDS_OF_COPIES)
def test_a_copy_is_of_one_kind(name):
    target, source, operand, is_write, kind = KINDS_OF_COPIES[name]
    assert kind_of(target, source, operand, is_write) == kind


COPIED = {
    "a dtype": (lambda x: x.double(), {"dtype": (1, 96)}),
    "a dtype in another order": (
        lambda x: x.t().half().contiguous(),
        {"dtype": (1, 24), "layout": (1, 24)},
    ),
    "a device": (lambda x: x.to("meta"), {"device": (1, 48)}),
    "a write": (lambda x: torch.zeros(4, 3).copy_(x.t()), {"write": (1, 48)}),
    "a clone": (lambda x: x.clone(), {"clone": (1, 48)}),
    "asked for": (
        lambda x: x.t().clone(memory_format=torch.contiguous_format),
        {"asked for": (1, 48)},
    ),
    "a broadcast": (lambda x: torch.zeros(2, 3, 4).copy_(x), {"write": (1, 96)}),
    "nothing": (lambda x: x.t() * x.t(), {}),
}


@pytest.mark.parametrize("name", COPIED)
def test_copies_are_counted_by_their_purpose(name):
    function, copied = COPIED[name]
    assert stridekit.audit(function, tensor(3, 4)).copied == copied


PLACES = {
    Place("/home/you/model.py", 31, "forward"): "model.py:31",
    Place(r"C:\\you\\model.py", 31, "forward"): "model.py:31",
    Place("/tmp/ipykernel_12/34.py", 5, "<module>"): "module:5",
    Place("/tmp/ipykernel_12/34.py", 5, "heads"): "heads:5",
    Place("/tmp/ipykernel_12/more/34.py", 5, "heads"): "34.py:5",
    Place("<stdin>", 1, "<module>"): "module:1",
    Place("", 1, "heads"): ":1",
}


def test_a_place_in_a_notebook_bears_its_functions_name():
    assert {place: str(place) for place in PLACES} == PLACES


@pytest.mark.parametrize("length", [99, 100, 101, 300])
def test_a_long_expression_keeps_its_ends(length):
    name = "x" * (length - len(".t().contiguous()"))
    names = {name: tensor(3, 4)}
    source = f"{name}.t().contiguous()"
    linecache.cache[source] = (len(source), None, [source], source)
    with stridekit.audit() as audit:
        eval(compile(source, source, "eval"), names)
    (finding,) = audit.findings
    expected = source
    if length > 100:
        expected = f"{source[:60]} … {source[-37:]}"
    assert finding.first.place.expression == expected
    assert len(expected) <= 100


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_copy_inside_of_a_copy_is_none():
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    with stridekit.audit() as audit:
        nested.clone().copy_(nested)
    # torch's profiler sees one more, inside of the last.
    assert {kind: count for kind, (count, _) in audit.copied.items()} == {"clone": 5}
    assert {copy.bytes for copy in audit.copies if copy.shape == (18,)} == {72}


def test_an_op_that_fails_has_copied_nothing():
    with stridekit.audit() as audit:
        with pytest.raises(torch.linalg.LinAlgError):
            torch.linalg.cholesky(-torch.eye(4)[:, :3].mT @ torch.eye(4)[:, :3])
        tensor(3, 4).t().contiguous()
    assert [copy.bytes for copy in audit.copies] == [48]
    assert audit.events[-1].call == "contiguous"


def test_a_compiled_function_runs_as_it_was_written_and_stays_compiled():
    compiles = []

    def backend(graph, _inputs):
        compiles.append(graph)
        return graph

    torch.compiler.reset()
    written = lambda x: (x.t().contiguous() + 1).relu()  # noqa: E731
    compiled = torch.compile(torch.nn.ReLU(), backend=backend)
    function = torch.compile(written, backend=backend)
    for _ in range(2):
        stridekit.audit(compiled, tensor(3, 4))
        audit = stridekit.audit(function, tensor(3, 4))
        (finding,) = audit.findings
        assert finding.first.place.line == written.__code__.co_firstlineno
        assert torch.equal(function(tensor(3, 4)), written(tensor(3, 4)))
        compiled(tensor(3, 4))
    assert len(compiles) == 2


class Wrapped(torch.Tensor):
    """A tensor whose ops run on another, which it holds."""

    @staticmethod
    def __new__(cls, held):
        return cls._make_wrapper_subclass(cls, held.shape, strides=held.stride())

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args = [x.held if isinstance(x, cls) else x for x in args]
        return cls(func(*args, **kwargs or {}))


def test_the_ops_that_a_subclass_runs_are_recorded():
    wrapped = Wrapped(tensor(3, 4))
    audit = stridekit.audit(lambda: wrapped.t().contiguous())
    assert audit.copied == {"layout": (1, 48)}
    assert [x.first.place.expression for x in audit.findings] == ["wrapped.t().contiguous()"]
    assert [op.name for op in audit.events] == ["t", "clone"]

    rows = [torch.ones(2, 3), torch.ones(4, 3)]
    jagged = torch.nested.nested_tensor(rows, layout=torch.jagged)
    turned = stridekit.audit(lambda: jagged.transpose(1, 2).contiguous())
    assert [finding.kind for finding in turned.findings] == ["explicit copy"]
    assert turned.findings[0].bytes == 72
    assert Audit.from_json(turned.to_json()) == turned


NOTEBOOK = """import marimo

app = marimo.App()


@app.cell
def _():
    import torch

    def merge(x):
        heads = x.t().contiguous()
        return heads.t().reshape(-1) * 2
    return (merge,)
"""


@pytest.mark.parametrize("columns", [0, 4])
def test_an_expression_of_a_marimo_cell_is_whole(tmp_path, columns):
    """marimo compiles a cell as it shows it, at the lines of its file; some versions shift the columns."""
    path = tmp_path / "notebook.py"
    path.write_text(NOTEBOOK, encoding="utf-8")
    cell = "\n".join(line[4:] for line in NOTEBOOK.splitlines()[7:-1])
    tree = ast.parse(cell)
    for node in ast.walk(tree):
        if hasattr(node, "col_offset"):
            node.col_offset += columns
            node.end_col_offset += columns
    names = {}
    exec(compile(ast.increment_lineno(tree, 7), str(path), "exec"), names)
    found = stridekit.audit(names["merge"], torch.rand(3, 4))
    texts = [event.place.expression for event in found.events if event.place]
    assert "x.t().contiguous()" in texts
    assert "heads.t().reshape(-1)" in texts


def test_nearly_each_op_has_the_line_of_its_forward_pass():
    """An op of a backward pass has the line and the module of the op that it belongs to."""
    forward = []
    for name in MODELS:
        forward += [event for event in audited(name).watcher.events if not event.backward]
    with_line = [event for event in forward if event.place and event.place.expression]
    assert len(forward) > 500 and len(with_line) >= 0.99 * len(forward)
    # A detach of a finished gradient belongs to no op; torch 2.9 detaches twice.
    events = [x for x in audited("gpt").watcher.events if x.backward and x.name != "detach"]
    back = [event for event in events if event.place.file.endswith("audit_models.py")]
    assert len(back) > 0.8 * len(events)
    assert {event.module for event in back} >= {"GPT.blocks.0.attention.qkv", "GPT.head"}


def test_an_op_that_runs_again_for_its_gradient_has_its_line():
    """In a module of torch's, it has the line of the module's call."""
    events = audited("redone").watcher.events
    again = {x.call: x.place.expression for x in events if x.backward and "softmax" in x.call}
    assert again["softmax"] == "(q @ k.transpose(-2, -1)).softmax(-1)"
    assert again["log_softmax"] == "checkpoint(of_torch, y, use_reentrant=False)"


def hooks():
    """Return the places where audit hooks into torch; an audit that runs makes them unequal to all."""
    for key in (kernels.COPY_KEY, kernels.CALL_KEY):
        if torch._C._dispatch_tls_is_dispatch_key_included(key):
            return object()
    return (
        torch.nn.Module.__call__,
        vars(torch.Tensor).get("contiguous"),
        vars(torch.Tensor).get("to"),
        torch._ops.HigherOrderOperator.dispatch,
        _get_current_dispatch_mode(),
        torch.autograd._profiler_enabled(),
        [*kernels.copy_listeners],
    )


def failing(x):
    x.t().contiguous()
    raise KeyError("of the model")


def test_nothing_stays_behind():
    before = hooks()
    layer = torch.nn.Linear(3, 3)
    stridekit.audit(layer, torch.ones(2, 3), backward=True)
    assert hooks() == before and layer.bias.grad.tolist() == [2, 2, 2]
    with pytest.raises(KeyError, match="of the model"):
        stridekit.audit(failing, torch.ones(2, 3))
    with pytest.raises(KeyError), stridekit.audit() as audit:
        failing(torch.ones(2, 3))
    assert hooks() == before
    assert audit.bytes == 24  # of what ran until then


def test_a_module_that_fails_leaves_the_next_one_its_name():
    class Fails(torch.nn.Module):
        def forward(self, x):
            raise ValueError("no")

    with stridekit.audit() as audit:
        with pytest.raises(ValueError, match="no"):
            torch.nn.Sequential(Fails())(torch.ones(3))
        torch.nn.Sequential(torch.nn.ReLU())(torch.ones(3))
    assert audit.events[-1].module == "Sequential.0 (ReLU)"


def test_nothing_is_kept_alive():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4))
    inputs = torch.randn(2, 4)
    references = []
    model[0].register_forward_hook(lambda _m, _i, out: references.append(weakref.ref(out)))
    audit = stridekit.audit(model, inputs, backward=True)
    for value in (model, model[0].weight, inputs, inputs.untyped_storage()):
        references.append(weakref.ref(value))
    del value
    model.zero_grad()
    del model, inputs
    gc.collect()
    assert [reference() for reference in references] == [None] * 5
    assert audit.events


def test_the_search_for_small_views_keeps_nothing_alive():
    x = torch.randn(8, 8)
    with stridekit.audit() as audit:
        y = x * 2
        kept = y[0]
        del y
    assert [finding.kind for finding in audit.findings] == ["small view of a large storage"]
    x_is_gone = weakref.ref(x)
    del x
    assert x_is_gone() is None
    assert kept.shape == (8,)


def test_the_search_for_small_views_leaves_a_dict_of_local_variables():
    with stridekit.audit() as audit:
        kept = (torch.randn(8, 8) * 2)[0]
        variables = locals()
    assert [finding.kind for finding in audit.findings] == ["small view of a large storage"]
    assert variables["kept"] is kept


def test_a_small_view_that_is_kept_as_an_array_is_found():
    with stridekit.audit() as audit:
        y = torch.randn(8, 8) * 2
        kept = {"first": y[0].numpy()[2:]}
        del y
    assert [finding.kind for finding in audit.findings] == ["small view of a large storage"]
    assert audit.findings[0].bytes == 256 - 32  # torch keeps the row for the array
    assert kept["first"].shape == (6,)


def test_the_search_for_small_views_leaves_the_variables_of_a_script():
    """They are no copies, unlike those of a function."""
    source = "with stridekit.audit() as audit:\n    kept = (torch.ones(8, 8) * 2)[0]\nafter = kept"
    names = {"stridekit": stridekit, "torch": torch}
    exec(source, names)
    assert names["after"].shape == (8,)
    assert [finding.kind for finding in names["audit"].findings] == [
        "small view of a large storage"
    ]


def test_each_storage_has_a_number_of_its_own():
    audit = stridekit.audit(lambda: [torch.zeros(64).sum().item() for _ in range(4)])
    numbers = set()
    for op in audit.events:
        numbers.update(out.storage for out in op.outputs)
    assert len(numbers) == 8


def test_an_audit_that_runs_is_left_alone_and_a_profiler_may_run_inside():
    before = hooks()
    x = torch.ones(3)
    with stridekit.audit() as outer, ThreadPoolExecutor(1) as other_thread:
        with pytest.raises(RuntimeError, match="another audit runs"):
            stridekit.audit(torch.relu, x)
        with pytest.raises(RuntimeError, match="another audit runs"):
            other_thread.submit(stridekit.audit, torch.relu, x).result()
        with watch() as profiler:
            torch.relu(x)
    assert hooks() == before and "aten::relu" in str(profiler.key_averages())
    for audit in (outer, stridekit.audit(torch.relu, x)):
        assert [event.name for event in audit.events] == ["relu"]


def generates(x):
    yield x.t().contiguous()


async def awaits(x):
    return x.t().contiguous()


def on_another_thread(x):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(torch.nn.ReLU(), x).result()


def on_a_thread(work, x):
    results = []
    thread = threading.Thread(target=lambda: results.append(work(x)))
    thread.start()
    thread.join()
    return results[0]


def on_an_older_pool(work, x):
    return OLDER_POOL.submit(work, x).result()


def on_a_thread_of_a_thread(work, x):
    return on_a_thread(partial(on_a_thread, work), x)


OLDER_POOL = ThreadPoolExecutor(1)
OTHER_THREADS = (on_a_thread, on_an_older_pool, on_a_thread_of_a_thread)


def transposed_copy(x):
    return x.t().contiguous()


@pytest.fixture(scope="module", autouse=True)
def older_pool():
    """Start the thread of the pool before any audit."""
    OLDER_POOL.submit(int).result()
    yield
    OLDER_POOL.shutdown()


@pytest.mark.parametrize("elsewhere", OTHER_THREADS)
def test_copies_on_other_threads_are_a_gap_and_threads_without_copies_are_none(elsewhere):
    audit = stridekit.audit(elsewhere, transposed_copy, tensor(3, 4))
    assert audit.unwatched == ("copies on other threads were not recorded",)
    with pytest.raises(AssertionError, match="copies on other threads"):
        audit.assert_no_copies()
    audit = stridekit.audit(elsewhere, torch.t, tensor(3, 4))
    assert audit.unwatched == ()
    with stridekit.audit() as audit:
        transposed_copy(tensor(3, 4))
    assert (audit.bytes, audit.unwatched) == (48, ())


def test_a_thread_that_outlives_the_run_goes_on():
    may_go_on = threading.Event()
    results = []

    def work():
        may_go_on.wait()
        results.append(transposed_copy(tensor(3, 4)).stride())

    thread = threading.Thread(target=work)
    audit = stridekit.audit(thread.start)
    may_go_on.set()
    thread.join()
    assert (audit.unwatched, results) == ((), [(3, 1)])


def traced(mode):
    return lambda x: stridekit.audit(lambda x: make_fx(transposed_copy, tracing_mode=mode)(x), x)


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


# Audits of runs that cannot be watched as a whole, and words of their reports.
UNWATCHED = {
    "an outer mode": (under_flops, "FlopCounterMode was on around the run"),
    "a subclass under another mode": (
        lambda x: under_flops(Wrapped(x)),
        "ops that Wrapped runs of its own were not seen",
    ),
    "an outer fake mode": (under_fake, "FakeTensorMode was on around the run"),
    "fake tensors": (
        lambda x: stridekit.audit(torch.t, FakeTensorMode().from_tensor(x)),
        "fake tensors have no memory",
    ),
    "a fake mode inside": (
        lambda x: stridekit.audit(lambda: FakeTensorMode().from_tensor(x).t().contiguous()),
        "fake tensors have no memory",
    ),
    "a generator": (lambda x: stridekit.audit(generates, x), "it returned a generator"),
    "a generator in a list": (
        lambda x: stridekit.audit(lambda x: [generates(x)], x),
        "it returned a generator",
    ),
    "a map": (lambda x: stridekit.audit(lambda x: map(torch.t, x), x), "it returned a map"),
    "a coroutine": (lambda x: stridekit.audit(awaits, x), "it returned a coroutine"),
    "another thread": (
        lambda x: stridekit.audit(on_another_thread, x),
        "modules ran on other threads",
    ),
    "a trace of real tensors": (traced("real"), "ProxyTorchDispatchMode was on in the run"),
    "a trace of fake tensors": (traced("fake"), "fake tensors have no memory"),
    "a trace of symbols": (traced("symbolic"), "fake tensors have no memory"),
    "a block that was not entered": (lambda x: stridekit.audit(), "the block was not entered"),
    "a block that raised": (ended, "KeyError ended the run"),
}


@pytest.mark.parametrize("name", UNWATCHED)
def test_a_run_that_was_not_watched_as_a_whole_is_no_clean_bill(name):
    audit_of, words = UNWATCHED[name]
    audit = audit_of(tensor(3, 4))
    assert any(words in gap for gap in audit.unwatched)
    assert f"not watched: {audit.unwatched[0]}" in str(audit)
    assert words in audit._repr_html_()
    with pytest.raises(AssertionError, match="was not watched as a whole"):
        audit.assert_no_copies(max_bytes=10**9, allow="*")
    assert Audit.from_json(audit.to_json()) == audit


def test_a_block_that_has_not_ended_is_not_watched_yet():
    with stridekit.audit() as audit:
        with pytest.raises(AssertionError, match="has not ended"):
            audit.assert_no_copies()
        with pytest.raises(RuntimeError, match="has begun"), audit:
            pass
    audit.assert_no_copies()
    with pytest.raises(RuntimeError, match="has begun"), audit:
        pass


def test_a_mode_inside_of_a_block_is_seen_through():
    with stridekit.audit() as audit, FlopCounterMode(display=False):
        tensor(3, 4).t().contiguous()
    assert (audit.bytes, audit.unwatched) == (48, ())


def sizes_of_caches():
    functions = [x for x in vars(torch.overrides).values() if hasattr(x, "cache_info")]
    return [function.cache_info().currsize for function in functions]


def test_an_audit_leaves_caches_as_they_were():
    for value in vars(torch.overrides).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()
    stridekit.audit(lambda: torch.overrides.get_overridable_functions())
    assert torch.Tensor.contiguous in torch.overrides.get_overridable_functions()[torch.Tensor]
    filled = sizes_of_caches()
    stridekit.audit(torch.relu, tensor(3))
    assert sizes_of_caches() == filled and any(filled)


def test_an_op_bears_the_name_of_the_outermost_call():
    x = torch.ones(3, 4)
    misfit = torch.ones(5, 5)
    column = (torch.ones(3, 2, requires_grad=True) * 1)[:, 0]
    conjugate = torch.ones(3, 2, dtype=torch.complex64).conj()[:, 0]
    with stridekit.audit() as audit:
        x.t().reshape(-1)
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            F.linear(x, misfit)
        with record_function("stridekit's own"):
            F.linear(x, x).t().flatten()
        column.pow_(2)
        conjugate.exp()
    assert [finding.first.op for finding in audit.findings[-2:]] == ["resolve_conj", "pow_"]
    assert [(op.name, op.call) for op in audit.events if "::" not in op.name] == [
        ("t", "t"),
        ("clone", "reshape"),
        ("_unsafe_view", "reshape"),
        ("t", "linear"),
        ("t", "linear"),
        ("mm", "linear"),
        ("t", "t"),
        ("clone", "flatten"),
        ("_unsafe_view", "flatten"),
        ("clone", "pow_"),
        ("pow_", "pow_"),
        ("clone", "resolve_conj"),
        ("exp", "exp"),
    ]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_gradients_on_a_gpu_are_watched_though_another_thread_computes_them():
    layers = torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(2), torch.nn.Linear(36, 2)
    x = torch.ones(2, 3, 8, 8, device="cuda").mT
    audit = stridekit.audit(torch.nn.Sequential(*layers).cuda(), x, backward=True)
    events = [audit.events[copy.op] for copy in audit.copies]
    copying = {event.name: event for event in events}
    assert copying["convolution_backward"].place == copying["convolution"].place
    assert audit.unwatched == ()


def test_the_fast_path_of_an_encoder_layer_is_left_on():
    model, x = MODELS["encoder_layer_on_its_fast_path"]()
    with torch.no_grad():
        audit = stridekit.audit(model, x)
    assert [event.name for event in audit.events] == ["_transformer_encoder_layer_fwd"]


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
def test_arguments_that_cannot_be_audited_are_refused(arguments, named, error, words):
    with pytest.raises(error, match=words):
        stridekit.audit(*arguments, **named)


def test_a_copy_without_a_module_or_a_line_has_a_row_of_a_table():
    x = tensor(2, 4, 4)
    audit = stridekit.audit(lambda x: (x.mT.contiguous(), x[:, 0].reshape(-1, 2)), x)
    assert audit.table("module").rows == (("outside of any", "2", "160 B"),)
    assert audit.table("op").rows == (("contiguous", "1", "128 B"), ("reshape", "1", "32 B"))
    with pytest.raises(ValueError, match="by is 'file': give one of 'line', 'op', 'module'"):
        audit.table("file")
    turned = x.mT
    with ThreadPoolExecutor(1) as pool:  # whose stack has no line of the reader's
        alone = pool.submit(stridekit.audit, torch.Tensor.contiguous, turned).result()
    assert alone.table().rows == (("unknown", "1", "128 B"),)
    assert alone.table().title == "copies of layouts by line"
    with pytest.raises(ValueError, match="'explicit copy' in contiguous cannot be left out"):
        alone.without(alone.findings[0])
