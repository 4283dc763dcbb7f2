"""Every public name meets every kind of value, and returns the right answer or raises a clear error.

A name that takes a tensor has a row in QUESTIONS; the parameters of any other call have one in ARGUMENTS.
A public name in none of the tables fails the test of all names. tests/course/test_robustness.py holds the
names of widgets and lessons. The module robustness.py explains the form of the tables.
"""

import pytest
import torch

import stridekit as sk
from stridekit import Layout, MemorySet, timing
from stridekit.cost.warp import warp_sectors
from stridekit.elementwise import broadcast_tensors
from tests.core import agree, fuzz_layout
from tests.core.brute_force import block, numbers
from tests.core.robustness import (
    CORE,
    TORCH_STRIDES,
    Question,
    duplicates,
    example_names,
    read_arguments,
    read_results,
    words_of,
)

# Arguments that stand for a tensor -----------------------------------------------------------------

ELSEWHERE = torch.arange(4.0)
FAR_AWAY = Layout((4,), storage_offset=2**40)  # in the storage of all layouts


def unrelated(x):
    return FAR_AWAY if isinstance(x, Layout) else ELSEWHERE


def bytes_of_elements(t):
    plain = t.detach().as_subclass(torch.Tensor)
    return plain.view(torch.uint8).tolist() if plain.numel() else []


def stored_bytes(x):
    """Return the bytes of whole elements in the storage."""
    stored = torch.empty(0, dtype=torch.uint8).set_(x.untyped_storage()).tolist()
    return stored[: len(stored) // x.element_size() * x.element_size()]


def origin(x):
    try:
        return (0,) * x.ndim
    except (AttributeError, TypeError, RuntimeError):  # not a tensor, or one without dims
        return ()


def summary(explanation):
    return explanation.title.partition(" of ")[2], dict(explanation.lines)["contiguous"]


def extent(memory_set):
    return memory_set.stop - memory_set.first, memory_set.count()


def bytes_alive(x):
    """Return the bytes of the memory that x keeps alive, in a list; an empty one where it has none."""
    try:
        sk.memset(x)
    except ValueError:
        return []
    start, stop = block(x)
    return [stop - start] if start < stop else []


def nest_of_layout(x):
    """Return the loop nest of the layout of x; a loop reads a clone of a conjugated or negated tensor."""
    resolved = x.resolve_conj().resolve_neg() if isinstance(x, torch.Tensor) else x
    layout = Layout.of(resolved)
    return agree.numbers(sk.loop_nest(layout, layout))


# Expectations that several names share.
TORCH_DTYPES = f"{TORCH_STRIDES}; big-endian, object array: LayoutError"
READS_STORAGE = (
    "meta tensors, wrapped tensors, in FakeTensorMode: ValueError; "
    "arrays, uneven arrays, layouts: TypeError"
)
HAS_ADDRESSES = "meta tensors, wrapped tensors: ValueError; uneven arrays: answer"
HAS_STORAGE = f"{HAS_ADDRESSES}; shrunk tensors: ValueError"
TOUCHES_MEMORY = "wrapped tensors, shrunk tensors: ValueError"

QUESTIONS = {
    "Layout.of": Question(lambda x: numbers(Layout.of(x)), truth=numbers),
    "Layout.expand_as": Question(
        lambda x: Layout(()).expand_as(x).shape,
        "no tensors: LayoutError; memoryview, coo, csr, mkldnn, quantized, uneven arrays: answer",
        truth=lambda x: tuple(x.shape),
        names_kind=False,
    ),
    "explain": Question(lambda x: summary(sk.explain(x)), "vmap, grad: ValueError"),
    "explain_view": Question(lambda x: " can be " in sk.explain_view(x, -1).title),
    "read_storage": Question(
        lambda x: bytes_of_elements(sk.read_storage(x)), READS_STORAGE, truth=stored_bytes
    ),
    "read_element": Question(
        lambda x: sk.read_element(x, origin(x)),
        f"{READS_STORAGE}; shrunk to 0: ValueError; float4: TypeError; empty: IndexError",
        truth=lambda x: x[origin(x)].item(),
    ),
    "storage_view": Question(
        lambda x: bytes_of_elements(sk.storage_view(x)), READS_STORAGE, truth=stored_bytes
    ),
    "memset": Question(lambda x: extent(sk.memset(x)), HAS_STORAGE),
    "MemorySet.of": Question(
        lambda x: extent(MemorySet.of(x)), "TypeError; layouts: answer", names_kind=False
    ),
    "is_view": Question(lambda x: (sk.is_view(x, x), sk.is_view(x, unrelated(x))), HAS_STORAGE),
    "shares_memory": Question(
        lambda x: (sk.shares_memory(x, x), sk.shares_memory(x, unrelated(x))), HAS_STORAGE
    ),
    "shares_storage": Question(
        lambda x: (sk.shares_storage(x, x), sk.shares_storage(x, ELSEWHERE)),
        f"{HAS_ADDRESSES}; layouts: ValueError",
        truth=lambda x: (isinstance(x, torch.Tensor) or x.nbytes > 0, False),
    ),
    "has_internal_overlap": Question(sk.has_internal_overlap, HAS_ADDRESSES),
    "relation": Question(
        lambda x: (sk.relation(x, x).is_view, sk.relation(x, unrelated(x)).shares_memory),
        HAS_STORAGE,
    ),
    "storages": Question(
        lambda x: [s.nbytes for s in sk.storages(x).storages if "x" in s.names],
        "tensors without strides, uneven arrays: answer; layouts: TypeError",
        truth=bytes_alive,
        names_kind=False,
    ),
    "output_layout": Question(lambda x: numbers(sk.output_layout(x, x)), TORCH_DTYPES),
    "loop_nest": Question(
        lambda x: agree.numbers(sk.loop_nest(x, x)), TORCH_DTYPES, truth=nest_of_layout
    ),
    "tricky_layouts": Question(
        lambda x: {(y.shape, y.dtype) for y in sk.tricky_layouts(x).values()},
        f"{READS_STORAGE}; shrunk tensors, expanded 10**18: ValueError; float4: TypeError",
        truth=lambda x: {(x.shape, x.dtype)},
    ),
    "broadcast_tensors": Question(
        lambda x: broadcast_tensors(x, Layout((1,)))[0].stride[-1:], TORCH_STRIDES
    ),
    "traffic": Question(lambda x: sk.traffic(reads=x).operands[0].useful, TOUCHES_MEMORY),
    "warp_sectors": Question(
        lambda x: warp_sectors(x).useful,
        f"{TOUCHES_MEMORY}; empty, fake empty, array empty, layout empty: IndexError",
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_kind_of_input_is_answered_or_refused(name):
    assert QUESTIONS[name].outcomes() == QUESTIONS[name].expected()


# Other arguments -----------------------------------------------------------------------------------

ARGUMENTS = """
# Layouts: x has shape (4, 6), z has shape (2, 3, 4)
Layout({size 2})  but []: answer  =>  got == Layout(())
Layout((2,), {size (1,)})  but None: answer  =>  got == Layout((2,), (1,))
Layout((2,), (1,), {count 0})  =>  got.storage_offset == J
Layout((2,), (1,), 0, {count 1})  but None: answer  =>  got.itemsize == (J or 1)
Layout((2,), dtype={option "int8"})  but None: answer  =>  got.itemsize == 1
x.empty({option "float32"}, device="meta")  but None: answer  =>  got.dtype == torch.float32
Layout((2,), storage={label ""})  =>  got.storage == J and got != Layout((2,))
x.offset({position (0, 0)})
x.offset((0, {dim 0}))
x.address({position (0, 0)})

# Indexing and pieces
x[{dim 0}]  but None: answer
x[0, {dim 0}]  but None: answer
x[{count 0}:]  but None, -7: answer  =>  got == (x if J is None or J < 0 else x[4:])
x[::{count 1}]  but None: answer
    =>  got == (x if J is None else Layout((1, 6), (6 * J, 1), 0, 4))
x.select({dim 0}, {dim 0})
x.unbind({dim 0})
x.narrow({dim 0}, {dim 0}, {size 1})
x.narrow_copy({dim 0}, {dim 0}, {size 1})
x.split({count 2})  =>  got == (x,)
x.split(2, {dim 0})
x.split_with_sizes({size [2, 2]})
x.split_with_sizes([2, 2], {dim 0})
x.chunk({count 2})  =>  got == x.split(1)
x.chunk(2, {dim 0})
x.tensor_split({size 2})  but []: answer
x.tensor_split(2, {dim 0})
x.hsplit({size 2})  but []: answer
x.vsplit({size 2})  but []: answer
z.dsplit({size 2})  but []: answer
x.diagonal({count 0})  but -7: answer  =>  got == Layout((0,), (7,), 0, 4)
x.diagonal(0, {dim 0})
x.diagonal(0, 0, {dim 1})
x.unfold({dim 0}, {size 1}, 1)
x.unfold(0, 1, {count 1})  =>  got == Layout((1, 6, 1), (6 * J, 1, 6), 0, 4)

# The order and the number of dims
x.permute({dim 0})
x.permute(0, {dim 1})
x.transpose({dim 0}, {dim 0})
x.movedim({dim 0}, {dim 0})
x.squeeze({dim 0})  but None, []: answer  =>  got == x
x.unsqueeze({dim 0})
x.expand({size 4})
x.expand(4, {size 6})
x.broadcast_to({size 4})
x.expand_as({size x})
x.view({size 24})
x.view(4, {size 6})
x.view_as({size x})
x.why_not_view({anything 24})  =>  got and isinstance(got, str)
x.unflatten({dim 0}, (2, 2))
x.unflatten(0, {size (2, 2)})
x.view_dtype({size 4})
x.as_strided({size (2,)}, {size (1,)})
x.as_strided((2,), (1,), {count 0})  but None: answer  =>  got == Layout((2,), (1,), J or 0, 4)
explain_view(x, {size 5})  but [], -7, 10**30: answer  =>  'cannot be viewed' in got.title

# Copies and formats
x.reshape({size 24})
x.reshape_as({size x})
x.flatten({dim 0})
x.flatten(0, {dim 1})
x.contiguous({option "contiguous_format"})
x.is_contiguous({option "contiguous_format"})
x.why_not_contiguous({option "contiguous_format"})
x.clone(memory_format={option "contiguous_format"})  but None: answer
x.to({count 4})  but None: answer  =>  got is x if J is None else got.itemsize == J
x.to(itemsize={count 4})  but None: answer  =>  got is x if J is None else got.itemsize == J
x.flip(dims={size (0,)})  but []: answer  =>  got.stride == (6, 1)
x.view(dtype={size "float16"})
Layout.cat({option [x, x]})  but ['x']: TypeError
Layout.cat([x, {operand x}])  but matrix, meta: LayoutError
Layout.cat([x, x], {dim 0})
Layout.stack({option [x, x]})  but ['x']: TypeError
Layout.stack([x, x], {dim 0})
x.to(copy={flag True})  =>  got is not x and got.copied
x.to(memory_format={option None})  but None: answer  =>  got is x
x.dim_order(ambiguity_check={flag True})  but []: answer  =>  got == (0, 1)

# Elementwise operations
output_layout(x, itemsize={count 4})  but None: answer  =>  got.itemsize == (J or 4)
loop_nest(x, out={operand x})  but None: answer  =>  got[0].shape == (24,)

# Memory
explain(T, {text "T"})  =>  'x[i, j] is element' in str(got)
read_element(T, {position (0, 0)})
read_element(T, (0, {dim 0}))
MemorySet.of({object x})
m.issubset({object m})
m.issuperset({object m})
m.isdisjoint({object m})
m == {anything m}  =>  got is False
{object 3} in m  but True, -7, 10**30: answer  =>  got is (0 <= J < 96)
m.blocks({count 64})  =>  got.touched == 1
m.blocks(budget={budget 9})  =>  got.touched == 2
m.count(budget={budget 9})  =>  got == 96
m.issubset(m, budget={budget 9})  =>  got is True
m.issuperset(m, budget={budget 9})  =>  got is True
m.isdisjoint(m, budget={budget 9})  =>  got is False
is_view(T, T, budget={budget 9})  =>  got is True
shares_memory(T, T, budget={budget 9})  =>  got is True
has_internal_overlap(T, budget={budget 9})  =>  got is False
relation(T, T, budget={budget 9})  =>  got.is_view

# Traffic
traffic({operand x})  but [], {}: ValueError; matrix, meta, array: answer
    =>  got.operands[0].useful == J.nbytes
traffic(x, {operand x})  but [], {}, matrix, meta, array: answer
    =>  got.useful == 96 + getattr(J, 'nbytes', 0)
traffic(x, line={bounded 64})
traffic(x, alignment={bounded 0})
traffic(x, cache={bounded 64})  but None, 10**30: answer  =>  got.lines_read == 2
traffic(x, cache=64, order={option None})  but None: answer; []: ValueError  =>  got.lines_read == 2
traffic(x, store={choice "bypass"})
traffic(T, budget={budget 9})  =>  got.useful == 96
warp_sectors(x, {dim 0})
warp_sectors(x, sector={bounded 32})
warp_sectors(x, alignment={bounded 0})
warp_sectors(x, lanes={bounded 32})
CacheSets({count 1}, 1)  =>  got.sets == J
CacheSets(1, {count 1})  =>  got.ways == J
CacheSets(1, 1, {count 64})  =>  got.line == J
CacheSets(2, 2).misses({size x})  but []: answer  =>  got == 0
CacheSets(2, 2).misses(x, {size None})  but None: answer  =>  got == 2
bandwidth({size 12288})  but None, 10**30: not tried
bandwidth(12288*4, repetitions=2, threads={option 1})  but 10**30: TimingError
bandwidth(device={setting "cpu"})

# Timing; "not tried" where a measurement would really take so long
measure({function f})  =>  got.median > 0
measure(f, min_run_time={setting 1})  but 1.0, 10**30: not tried
measure(f, min_run_time=1e-4, label={setting ""})  but 'x': answer  =>  got.median > 0
measure(f, min_run_time=1e-4, flush={setting False})  but True: answer  =>  got.median > 0
measure(f, min_run_time=1e-4, threads={setting 1})
measure(f, min_run_time=1e-4, device={setting "cpu"})
measure(f, graph={setting False})
compare({setting ab})
compare({"a": f, "b": {function f}}, rounds=2)  =>  got.names
compare(ab, rounds={setting 2}, max_seconds=60)  but None: answer; 10**30: not tried  =>  got.names
compare(ab, rounds=2, max_seconds={setting 1})  but 1.0, 10**30: answer  =>  got.names
compare(ab, rounds=2, seed={setting 0})  but -7, 10**30: answer  =>  got.names
compare(ab, rounds=2, flush={setting False})  but True: answer  =>  got.names
compare(ab, rounds=2, threads={setting 1})
compare(ab, rounds=2, device={setting "cpu"})
compare(ab, graph={setting False})
cmp.measurement({setting "a"})
timing.page_faults({function f})  =>  got >= 0
timing.page_faults(f, {setting 1})  but 10**30: not tried

# Audits and errors; diagnose() explains the last exception, which another test may have left
audit({object f})
audit(f, backward={object True})  but True: ValueError
audited.table({choice "line"})
audited.compare({object audited})
audited.without({object None})
audited.assert_no_copies(allow={option ()})  but 'x', ['x']: not tried; []: answer  =>  got is None
audited.assert_no_copies(max_bytes={bounded 0})  but 10**30: answer  =>  got is None
Audit.from_json({choice "[]"})
diagnose({text ""})  but None: not tried  =>  'does not know' in got.title
"""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("argument", read_arguments(ARGUMENTS), ids=lambda argument: argument.call)
def test_junk_is_answered_or_refused(argument):
    assert argument.outcomes(example_names()) == argument.expected


# Every name ----------------------------------------------------------------------------------------

# Expressions whose values show a result or an error.
RESULTS = """
x.ndim; x.numel; x.stride; x.span; x.copied
x.memory_format; x.is_dense(); x.why_not_dense(); x.why_not_torch(); z[..., :2].view_as_complex()
x; m; m.where; m.counts_from_storage; storages([T]); relation(x, x); explain(x); explain_view(T.t(), 24)
traffic(x); CacheSets(64, 8); warp_sectors(x); bandwidth(12288, repetitions=2)
cmp; cmp.ratios['b']; measure(f, min_run_time=1e-4)
timing.machine(); timing.hierarchy(); timing.hierarchy()['L1']; timing.why_no_cuda()
LayoutError('no'); Undecided('no'); timing.TimingError('no'); timing.TooShort('no')
audited; audited.copied; diagnose("shape '[5, -1]' is invalid for input of size 24")
"""


@pytest.fixture(scope="module")
def results():
    return read_results(RESULTS, example_names())


def test_every_public_name_has_a_row(results):
    """Give a new name a question, a row for each parameter, a random family, or a result."""
    types = {type(value).__name__ for value in results.values()}
    with_row = types | words_of(*QUESTIONS, *fuzz_layout.CASES, ARGUMENTS, RESULTS)
    public = {*CORE, *timing.__all__, *dir(Layout), *dir(MemorySet)}
    assert {name for name in public if not name.startswith("_")} - with_row == set()


def test_results_and_errors_are_the_same_after_a_copy_and_a_pickle(results):
    for value in results.values():
        for duplicate in duplicates(value):
            assert type(duplicate) is type(value) and repr(duplicate) == repr(value)
            assert str(duplicate) == str(value)
            assert duplicate == value or isinstance(value, Exception)
