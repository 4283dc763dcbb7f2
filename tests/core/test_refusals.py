"""The sentences of refusals: what happened, with the numbers, and what to do.

Which kinds of values each name refuses is in tests/core/test_robustness.py; here are the words.
"""

import itertools
import re

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from stridekit import Layout
from stridekit._arguments import a_kind
from tests.core.test_robustness import known, refusal  # noqa: F401  (`known` is a fixture)


def raises():
    raise KeyError("lost")


@pytest.fixture(scope="module")
def named(known):  # noqa: F811
    """The names that calls use: those of test_robustness, and some more."""
    # Not above: these imports take two seconds in each worker.
    from torch.fx.experimental import symbolic_shapes as symbolic

    symbols = symbolic.ShapeEnv()
    first_dim = symbolic.StatelessSymbolicContext(
        dynamic_sizes=[symbolic.DimDynamic.DYNAMIC, symbolic.DimDynamic.STATIC]
    )
    of_symbols = FakeTensorMode(shape_env=symbols)
    with FakeTensorMode():
        on_gpu = torch.empty(2, 3, 4, device="cuda")
    yield known | {
        "itertools": itertools,
        "raises": raises,
        "gpu_tensor": on_gpu,
        "sym": of_symbols.from_tensor(torch.ones(5, 4), symbolic_context=first_dim),
        "unbacked": symbolic.ShapeEnv().create_unbacked_symint(),
        "q": torch.rand(2, 3, 5, 4),
        "h": Layout((2, 3, 5, 4), itemsize=4),
        "groups": Layout((2, 2, 5, 4), itemsize=4),
        "bools": Layout((2, 3, 5, 5)),
    }
    assert not symbols.guards and not symbols.replacements


# The initial of the error, the calls, and a part of their sentence, or two with "…" between them. The names
# are those of `named`: a Layout x and a tensor T of shape (4, 6), the MemorySet m of x, and more.
REFUSALS = r"""
# Layouts
L  Layout((2, 3), (1,)) / Layout((2, 3), (1, 2, 3))  =>  shape (2, 3) has 2 dims but stride (1, … has
L  Layout((-2, 3, -4))  =>  size -2 of dim 0 is negative
L  Layout(5)  =>  shape is 5, an int: give a tuple of ints
L  Layout((2.0,))  =>  shape[0] is 2.0, a float: give an int
L  Layout((3,), (-1,))  =>  reaches element -2: a storage starts at 0
L  Layout((0,), storage_offset=-1)  =>  offset -1 reaches element -1
L  Layout((3,), itemsize=0)  =>  itemsize is 0 bytes: an element has at least 1
T  Layout.of(torch.nn.Parameter)  =>  the class Parameter has no layout: give a tensor
L  Layout.of(np.zeros(4, "i2, f4")["f1"])  =>  not a whole number of elements of 4 bytes
L  Layout.of(np.zeros(4, "i2, f4, i2")["f1"])  =>  the offset of this array, 2 bytes, are not a whole number
I  x.offset((1, 2, 0)) / x.address((1, 2, 0))  =>  index (1, 2, 0) has 3 numbers for shape (4, 6): give 2

# Symbolic sizes: to read one as a number would fix that number in the traced graph
L  explain(sym) / Layout.of(sym) / explain_view(sym, -1) / memset(sym) / traffic(sym) / Layout(sym.shape)
    =>  shape[0] is symbolic, s … : it stands for many
L  explain(sym.t())  =>  shape[1] is symbolic
L  explain(sym[0])  =>  the size of the storage in bytes is symbolic
L  Layout((2, 3), (sym.shape[0], 1))  =>  stride[0] is symbolic
L  Layout((2, 3), (3, 1), sym.shape[0])  =>  storage_offset is symbolic
L  x[sym.shape[0]] / x[sym.shape[0] :] / x[unbacked] / read_element(T[0], unbacked)
    =>  an index is symbolic

# Numbers, dims and values without end
L  Layout((2**5000,))  =>  shape[0] is <int of 5,001 bits>: numbers go up to 2**4096
L  Layout((2,), storage_offset=2**4096 + 1)  =>  storage_offset is <int of 4,097 bits>
L  Layout((2**3000, 2**3000), (0, 0))  =>  more than 2**4096 elements
L  Layout((1,) * 1001)  =>  1,001 dims are more than a layout has: 1,000
L  Layout(itertools.count())  =>  a count with more than 100,000 values: give fewer
L  Layout((10**6,)).split(1) / Layout((10**6,)).chunk(10**6) / Layout((10**6,)).unbind()
    =>  that would be 1,000,000 layouts of 1 dims, 50,000 are the most
L  Layout((10**6,)).tensor_split(60_000) / Layout((0,)).chunk(60_000)
    / Layout((60_000,)).split_with_sizes([1] * 60_000)  =>  that would be 60,000 layouts
L  Layout((10**6,)).tensor_split(range(60_000))  =>  that would be 60,001 layouts
L  Layout((2000,) * 60).unbind()  =>  that would be 2,000 layouts of 60 dims, 1,666 are the most

# Views
L  x[[0, 1]] / x[True]  =>  is not a basic index
L  x[::-1]  =>  slice step -1 is not positive: torch has no negative strides
I  x[4]  =>  index 4 is out of range for dim 0 of size 4: use -4 to 3
I  x[0, 0, 0]  =>  3 indices for shape (4, 6): it has 2 dims
I  x.narrow(0, 5, 1)  =>  start 5 is out of range for dim 0 of size 4: use -4 to 4
L  x.narrow(1, 2, 5)  =>  length 5 does not fit dim 1 of size 6 after 2: use 0 to 4
I  x.unbind(2)  =>  dim 2 is out of range for shape (4, 6): use -2 to 1
I  x[0, 0].split(1)  =>  a 0-d layout has one element and no dims
L  x.split(0)  =>  split_size 0 never gets through dim 0 of size 4
L  x.split([1, 2])  =>  split_sizes (1, 2) add up to 3, dim 0 has size 4
L  x.chunk(0) / x.unfold(0, 2, 0) / CacheSets(0, 8)  =>  is 0: give 1 or more
L  x.hsplit(4)  =>  dim 1 of size 6 does not divide into 4 equal sections
L  x.dsplit(2)  =>  dsplit takes 3 dims or more, shape (4, 6) has 2
L  x.diagonal(0, 1, -1)  =>  dim1 and dim2 are both 1
L  x.unfold(0, 5, 1)  =>  a window of 5 does not fit dim 0 of size 4
L  x.permute(0, 0) / CacheSets(64, 8).misses(x, (0, 0))  =>  (0, 0) does not name each dim
L  x[None].t()  =>  t() is for at most 2 dims, shape (1, 4, 6) has 3
L  x[None].H  =>  H is for one matrix, shape (1, 4, 6) has 3 dims: use mH
L  x[0].mT  =>  mT is for matrices and batches of them, shape (6,) has 1 dim
L  x.movedim((0, 1), 0)  =>  source (0, 1) and destination 0 have 2 and 1 dims
L  x.movedim((0,), 1)  =>  source (0,) and destination 1 are of two kinds
L  x.movedim((0, -2), (0, 1))  =>  source (0, -2) names dim 0 twice
L  x.squeeze((1, 1))  =>  dim (1, 1) names dim 1 twice: give each dim once
L  x.expand(8, 6)  =>  only a size of 1 expands
L  x.expand(6)  =>  give at least 2 sizes
L  Layout(()).expand(0, -1) / Layout((0,)).expand(-2, 0)  =>
    is negative, and -1 keeps the size only of a dim that is there
I  x[..., ..., 0] / x[..., ..., :1] / x[..., ..., None]  =>  a second ... leaves no dim for
L  x.expand_as(5)  =>  an int has no shape: give a layout, a tensor or an array
L  x.view(5, 5)  =>  (5, 5) has 25 elements, the layout has 24
L  x.view(-1, -1)  =>  dims 0 and 1 are both -1
L  x.view(5, -1)  =>  24 elements do not divide into 5
L  x[:0].view(0, -1)  =>  any size would do for the -1 beside a 0
L  x.view(-24, -1)  =>  size -24 is negative
L  x.unflatten(1, (4, -1))  =>  cannot unflatten dim 1 of size 6 into (4, -1): 6 elements
L  x.unflatten(1, ())  =>  sizes is empty
L  x.view_dtype(3)  =>  elements of 4 bytes cannot be viewed with 3 bytes
L  x[0, 0].view_dtype(2)  =>  a 0-d layout has no dim to cut or join
L  x.t().view_dtype(2)  =>  the last dim has stride 6: only with stride 1
L  x[:, 1:].view_dtype(8)  =>  storage_offset, 1, is not divisible by 2, and 2 elements of 4 bytes
L  x[:, :5].view_dtype(8)  =>  the last size, 5, is not divisible by 2
L  x.view_dtype(1).view_as_real()  =>  torch has no complex elements of 1 bytes
L  x.view_dtype(1).view_as_complex()  =>  torch has no complex elements of 2 bytes
L  x.view_as_complex()  =>  does not end in a dim of size 2 and stride 1
L  x[:, 1:3].view_as_complex()  =>  storage_offset 1 is odd: it would point between
L  x.as_strided((2,), (-1,), 3)  =>  stride (-1,) has a negative one
L  x.permute() / x.expand() / x.view() / x.reshape() / x.broadcast_to()  =>
    is missing: give ints, or () for no dims
L  x.hsplit() / x.vsplit() / x.dsplit()  =>  has no argument: give a number of sections, or indices

# Copies and formats
L  x.reshape(5)  =>  cannot reshape shape (4, 6), stride (6, 1) as (5,): (5,) has 5 el
L  x.reshape(1)  =>  (1,) has 1 element, the layout has 24
L  x.flatten(1, 0)  =>  start_dim 1 comes after end_dim 0: swap them
L  x.is_contiguous("nchw") / x.clone(memory_format="nchw")  =>  memory_format nchw is not one of
L  x.contiguous(None)  =>  memory_format None is not one of
L  x.contiguous("channels_last")  =>  channels_last has 4 dims, shape (4, 6) has 2
L  x.t().contiguous("preserve_format")  =>  dim 1 has stride 6, 1 is needed: only clone copies
L  x.to(copy=1)  =>  copy is 1, an int: give True or False
L  x.dim_order(ambiguity_check="channels_last")  =>  ambiguity_check is 'channels_last', a str: give
L  Layout((2, 1, 3)).dim_order(ambiguity_check=True)  =>  dim 1 has size 1 and could stand anywhere
L  Layout((2, 3), (1, 1)).dim_order(ambiguity_check=True)  =>  dims 0 and 1 both have stride 1
L  Layout((2, 3, 4), (1, 12, 1)).dim_order(ambiguity_check=True)  =>
    nothing tells dims 0 and 2 apart (sizes 2 and 4, strides

# Elementwise operations
L  output_layout()  =>  no operands: give at least one layout
L  output_layout(x, Layout((4, 5)))  =>
    shapes (4, 6), (4, 5) do not broadcast: dim 1 of the result would be 6, but operand 1 has 5 there
L  output_layout(np.arange(4)[::-1])  =>  operand 0 is not a torch tensor: dim 0 has stride -1
L  output_layout(torch.empty(2), np.array([None, 1]))  =>
    operand 1 is not a torch tensor: it is an array of dtype('O'), which torch does not have
L  output_layout(x, Layout((6,)))  =>  the operands are of different dtypes (itemsize 4, itemsize 1): torch
    casts some of them into dense copies first, and operand 0, a Layout, does not say
L  output_layout(T[0], T[0].int(), Layout((6,), itemsize=4))  =>  (torch.float32, torch.int32, itemsize 4):
    torch casts some of them into dense copies first, and operand 2, a Layout
L  output_layout(T[0], x.to(8), itemsize=8)  =>  (torch.float32, itemsize 8)
L  output_layout(T[0], T[0].to(torch.float8_e5m2))  =>
    torch promotes torch.float32 and torch.float8_e5m2 to no common dtype: cast one
L  loop_nest(x, out=x.t())  =>  out has shape (6, 4), the result has (4, 6)
L  loop_nest(x[:2], out=Layout((6,)).expand(2, 6))  =>
    dim 0 of out has stride 0: its 2 indices would all write to one element
L  loop_nest(x, out=np.zeros((4, 6))[::-1])  =>  out is not a torch tensor: dim 0 has stride -6
L  loop_nest(x, out=x.to(8)) / loop_nest(x, out=T.double())  =>
    out has elements of 8 bytes, the operands of 4: torch writes to an out of another dtype by

# Attention
L  packed_heads(2, 5, 3, 4, "HD")  =>  packing is 'HD': give the order of 3, H and D, as in "3HD"
L  packed_heads(2, 5, 3, 4, kv_heads=2)  =>  3 heads do not divide into 2 groups: kv_heads divides heads
L  packed_heads(2, 5, 4, 4, "H3D", kv_heads=2)  =>  packing is 'H3D' with kv_heads=2 of 4
L  matmul_copies(h, h)  =>  torch does not take these operands: Expected size for first two dimensions
L  matmul_copies(q, q.double().mT)  =>  expected scalar type torch.float32 but found torch.float64
L  matmul_copies(q.cfloat().conj(), q.cfloat().mT)  =>  a has yet to be conjugated, and torch copies it on
L  matmul_copies(q, torch._neg_view(q).mT)  =>  b has yet to be negated, and torch copies it on the way
L  matmul_copies(h, h.mT, requires_grad=(1, 0))  =>  requires_grad is (1, 0): give a bool for each
L  matmul_copies(gpu_tensor, gpu_tensor.mT)  =>  a is on cuda:0: these rules are of the CPU, give L
L  matmul_copies(Layout((3,), (-1,), 2), h)  =>  a is not a torch tensor: dim 0 has stride -1
L  sdpa_output(h, h, h[:, :, :3])  =>  Expected size for first two dimensions of batch2
L  sdpa_output(h, h, h[:, :, :0])  =>  v has no elements: without elements torch takes neither path
L  sdpa_output(h, q.int(), h)  =>  q is of torch.int32: SDPA takes floats
L  sdpa_output(bools, bools, bools)  =>  q has 1 byte an element
L  sdpa_output(h, h, h, Layout((5,)))  =>  attn_mask has shape (5,), the weights have (2, 3, 5, 5): give
L  sdpa_output(h, h, h, bools[None])  =>  attn_mask has shape (1, 2, 3, 5, 5), the weights have (2, 3, 5, 5)
L  sdpa_output(x[None, :1, :4].unfold(2, 3, 1), h[:1, :1, :3, :3], h[:1, :1, :3, :3])  =>
    last stride of 2, and torch 2.13 writes its output as
L  sdpa_output(h, h, h, Layout((5, 5), itemsize=8))  =>  Expected attn_mask dtype to be bool or float
L  sdpa_output(h, h, h[..., :3], bools, is_causal=True)  =>  not both, and flash does not run here
L  sdpa_output(h, h, h, dropout_p=1.5)  =>  dropout_p is 1.5: give a probability from 0 to 1
L  sdpa_output(h, h, h, is_causal=1)  =>  is_causal is 1, an int: give True or False

# Memory
T  m.issubset({0})  =>  {0} is a set, not a MemorySet: give memset(x)
T  read_element(np.ones(3), 0)  =>  an ndarray has no torch storage
T  relation(T, T, names=(1, 2))  =>  names are (1, 2): give two texts, as names=('odd', 'even')
V  relation(T, T, names=("y",)) / relation(T, T, names=("a", "a")) / relation(T, T, names=("a", " "))
    / relation(T, T, names=["a", "b", "c"])  =>  names are … : give two different texts, y's and x's

# Traffic
V  traffic()  =>  no operands: give reads=, writes= or both
T  traffic(7)  =>  reads is 7, an int: give a tensor, an array, a Layout
V  traffic(x, line=48) / warp_sectors(x, sector=48)  =>  is 48 bytes: give a power of two
V  traffic(x, alignment=64)  =>  give 0 to 63, within one line
V  traffic(x, cache=63)  =>  cache is 63 bytes: give one line of 64 bytes or more
V  traffic(x, order=(0, 1))  =>  give cache= too
V  traffic(x, cache=64, order=(0, 0))  =>  give each dim once
V  traffic(x, (x, x), cache=64)  =>  2 writes: ask for each of them
L  traffic(x, x[1:], cache=64)  =>  has shape
L  traffic((x, T.double()), cache=256)  =>  the operands are of different dtypes
L  traffic((T, T.double()), T.double(), cache=256)  =>
    read 0 goes by way of a copy (torch.float32 is cast to torch.float64)
L  traffic((T.double(), T.double()), T, cache=256)  =>
    write 0 goes by way of a copy (torch.float64 is cast to torch.float32)
L  traffic(torch._neg_view(T), T, cache=256)  =>  read 0 goes by way of a copy (it has yet to be negated)
L  traffic(T.cfloat().conj(), T.cfloat(), cache=256)  =>
    read 0 goes by way of a copy (it has yet to be conjugated)
V  traffic(x, store="through")  =>  store is 'through': give 'bypass' or 'allocate'
V  warp_sectors(x[:1].expand(10**6, 6), lanes=10_001)  =>  give 1 to 10,000
I  warp_sectors(x, 1)  =>  no warp 1 of 32 lanes … : 0 to 0
I  warp_sectors(x[:0])  =>  none, it is empty
V  warp_sectors(x, lanes=0)  =>  give 1 to 10,000
L  CacheSets(64, 8).misses(Layout((2000, 2000)))  =>  4,000,000 visits: give 524,288 at most
L  bandwidth(0)  =>  nbytes is 0: give 1 or more
E  bandwidth(12, repetitions=0)  =>  rounds=0: give the number of rounds
E  timing.hierarchy()["l2"] / timing.hierarchy()["L0"] / timing.hierarchy()["L22"]
    / timing.hierarchy()["L2\n"] / timing.hierarchy()[2]  =>  level is … : give 'L1', 'L2', 'L3' or 'L4'

# Your own model and your own error
T  audit(3)  =>  model is an int: give a module, or a function to call
T  audit(f, backward=1)  =>  backward is an int: give True or False
V  audit(f).table("file")  =>  by is 'file': give one of 'line', 'op', 'module'
T  audit(f).compare(3)  =>  after is an int: give an audit
T  audit(f).without(3)  =>  finding is an int: give one of the audit's findings
T  CopyTracer(3)  =>  audit is an int: give what audit(model, *inputs) returns
T  diagnose(3)  =>  error is an int: give an exception, a warning, or the text of one

# Timing
E  compare({})  =>  0 functions: a comparison needs two
E  compare({"a": f}) / claim({"a": f}, 1)  =>  1 function: a comparison needs two
E  compare(dict.fromkeys(map(str, range(101)), f))  =>  101 functions: a comparison needs two, at most 100
E  compare([f, f])  =>  of type list: give a dict
E  compare({"a": f, "b": 3})  =>  'b' is of type int, not a function
E  compare({"a": f, "b": raises})  =>  'b' raised KeyError in its warm-up … timed: 'lost'
E  compare(ab, rounds=0)  =>  rounds=0: give the number of rounds
E  compare(ab, max_seconds=0)  =>  max_seconds=0: give seconds
E  compare(ab, threads=0)  =>  threads=0: give the number of torch's threads as an int, 1 to 1024
E  compare(ab, threads=1025)  =>  threads=1025
E  compare(ab, seed="1")  =>  seed='1': give an int
E  compare(ab, device="tpu")  =>  device 'tpu' cannot be timed
E  compare(ab, graph=True)  =>  give device='cuda' as well
E  cmp.measurement("c")  =>  'c' was not compared: a, b were
E  compare(dict.fromkeys("abc", f), rounds=1).verdict  =>  these are 3: ask ratios
E  measure(f, min_run_time=float("inf"))  =>  min_run_time=inf
E  measure(f, label=3)  =>  label is of type int
E  claim(ab, {"a": 1, "c": 2})  =>  predicted a, c, to measure b
E  timing.page_faults(f, -1) / timing.page_faults(f, True) / timing.page_faults(f, 1.0)
    =>  calls= … : give how often to call it

# Questions to a learner
V  Predict(" ", 1)  =>  the question is empty
V  Predict("?", (1, 6), choices=[(6, 1), (1, 4)])  =>
    the answer (1, 6) is none of the choices: (6, 1), (1, 4)
V  Predict("?", 1, choices=[1, 2, "2"])  =>  choice 2 is there 2 times
V  Predict("?", 1, choices=[1])  =>  a question has 2 to 100 choices, not 1
V  Predict("?", 1, choices=range(101))  =>  a question has 2 to 100 choices, not 101
V  Predict("?", 1, choices=[1, (2,) * 101])  =>  a tuple of 101 values, 0 deep, is more than
V  Predict("?", 1, choices=[1, ((((((2,),),),),),)])  =>  a tuple of 1 values, 5 deep, is more
V  Predict("?", "a", choices=["a", " "])  =>  a choice is empty
V  Predict("?", "a view")  =>  a view cannot be typed as a number or a tuple of ints: give choices
V  Predict("?", (1, 2.5)) / Predict("?", torch.zeros(10**6)) / Predict("?", float("inf"))
    =>  cannot be typed
V  Predict("?", 2**60)  =>  is beyond 2**53
V  Predict("?", 8, output="8")  =>  belongs to no experiment
V  Predict("?", 8, remarks={8: "yes"})  =>  there is a remark for 8, which is right
V  Predict("?", 8, remarks={(8,): "no"})  =>  the remark for (8,) is not a number
V  Predict("?", True, remarks={"no": "no"})  =>  the remark for no is none of the choices

# Calls to sort
V  Sort(torch.ones(0, 3), "x.t()", also="x[1:]")  =>  x has shape (0, 3), no elements, and shares nothing
V  Sort(torch.ones(2**20), "x[1:]", also="x[1:]")  =>
    x has 1,048,576 elements in a storage of 4,194,304 bytes … give 1,048,576 at most
V  Sort(T, also="x.t()")  =>  calls has 0 expressions: give 1 to 24
V  Sort(T, "; ".join(f"x[{k}:]" for k in range(25)), also="x.t()")  =>  calls has 25 expressions
V  Sort(T, "x.t(); x .t()", "x.t()", also="x[1:]")  =>  calls: x.t() is there 2 times: give it once
V  Sort(T, "x.t(", also="x[1:]")  =>  calls: 'x.t(' is not Python: '(' was never closed
V  Sort(T, "x.t(); y = x", also="x[1:]")  =>  calls: y = x is no expression with x in it
V  Sort(T, "x[" + "0 + " * 20 + "0]", also="x.t()")  =>  is longer than a card: 48 characters
V  Sort(T, "x" + ".t()" * 10**6, also="x[1:]")  =>  calls has a text of 4,000,001 characters
V  Sort(T, "x.view(7)", also="x.t()")  =>  x.view(7) raises RuntimeError: shape '[7]' is invalid
V  Sort(T, "x.t()", also="x.view(7)")  =>  x.view(7) raises RuntimeError: shape '[7]' is invalid
V  Sort(T, "x.t()", also="x.shape")  =>  x.shape is no tensor with elements
V  Sort(T, "x.split(2)", also="x.t()")  =>  x.split(2) of x cannot be judged: a tuple has no memory set
V  Sort(T, "x[:0]", also="x.t()")  =>  x[:0] of x cannot be judged: it has no elements
V  Sort(T, "x[:2]", also="x[3:, :0]")  =>  x[3:, :0] is no tensor with elements
V  Sort(T, "x.t()", also="x; x[1:]")  =>  also has x, on which each call is run anyway"""
ROWS = [
    (row[0], *re.split(r"\s+=>\s+", re.sub(r"\n +", " ", row[3:])))
    for row in re.split(r"\n+(?! )", REFUSALS.strip())
    if row[0] != "#"
]


@pytest.mark.filterwarnings("ignore:ComplexHalf:UserWarning")
@pytest.mark.parametrize(("letter", "calls", "sentence"), ROWS, ids=lambda v: v[:60])
def test_a_refusal_says_what_and_why(letter, calls, sentence, named):
    for call in calls.split(" / "):
        with pytest.raises(Exception) as refused:  # noqa: PT011
            eval(call, dict(named))
        for part in sentence.split(" … "):
            assert refusal(refused.value, part) == letter, call


ARTICLES = (
    "an int, an ndarray, a uint8, a NoneType, a UserDict, a UUID, a Union, a UnicodeError, a ufunc, "
    "an UntypedStorage, an Undecided, an Upsample, an OrderedDict, a OneHot, a Euler, an LSTM, an MLP, "
    "an NDFrame, a MemorySet, a SymInt, a Named, an X, a Y, a _Private"
)


@pytest.mark.parametrize("spoken", ARTICLES.split(", "))
def test_the_article_follows_the_sound_of_a_type_s_name(spoken):
    assert a_kind(type(spoken.split(" ")[1], (), {})()) == spoken
