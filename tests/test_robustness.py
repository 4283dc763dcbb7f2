"""Every public name meets everything: the right answer or a clear error, and the tables say which.

What takes a tensor is a column of COLUMNS, and TABLE has a letter for each kind of input: "." for an
answer, which an oracle confirms, else the initial of the error. What takes something else has a row in
ARGUMENTS for each of its parameters. A public name that is in none of the tables fails the first test.
"""

import inspect
import linecache
import re
import traceback
from math import prod
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

import stridekit
from stridekit import Layout, LayoutError, MemorySet, Undecided, plots, timing
from tests.robust_inputs import INPUTS, meet
from tests.robust_truth import bytes_of, is_flat, numbers, row_major, starts

PACKAGE = str(Path(stridekit.__file__).parent)
ERRORS = {
    "T": TypeError,
    "L": LayoutError,
    "V": ValueError,
    "I": IndexError,
    "U": Undecided,
    "E": timing.TimingError,
    "R": RuntimeError,
}
# What Python, torch and NumPy say of a value that got too far.
FROM_INSIDE = re.compile(
    "object has no attr|unsupported operand|not subscriptable|not supported between|not iterable|"
    "positional arg|cannot be interpreted|unhashable|descriptor|expected str|has no len|Internal err"
)
NAMES = {name: getattr(stridekit, name) for name in stridekit.__all__}
NAMES |= {"torch": torch, "np": np, "timing": timing, "plots": plots}


def refusal(error):
    """The initial of an error that a person can work with; fails for any other."""
    kind = next((c for c, e in ERRORS.items() if type(error) is e), None)
    assert kind, f"{type(error).__name__} is not documented: {error}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno).strip()
    told = frame.filename.startswith(PACKAGE) and line.startswith("raise ")
    assert told, f"not raised by stridekit but at {frame.filename}:{frame.lineno}: {error}"
    assert len(str(error)) > 20 and not FROM_INSIDE.search(str(error)), str(error)
    return kind


# What takes a tensor ---------------------------------------------------------------------------------

OTHER = torch.arange(4.0)  # lies elsewhere
FAR = Layout((4,), storage_offset=2**40)  # where Layouts count
SIX = Layout((4, 6), itemsize=4)


def other(x):
    return FAR if isinstance(x, Layout) else OTHER


def whole(x):
    """The elements of the storage, bit by bit."""
    return torch.empty(0, dtype=torch.uint8).set_(x.untyped_storage()).tolist()


def raw(t):
    t = t.detach().as_subclass(torch.Tensor)
    return t.view(torch.uint8).tolist() if t.numel() else []


def fit(x):
    """The bytes of whole elements."""
    count = x.untyped_storage().nbytes() // x.element_size()
    return whole(x)[: count * x.element_size()]


def item_of(x):
    return x[(0,) * x.ndim].item()


def origin(x):
    try:
        return (0,) * x.ndim
    except (AttributeError, TypeError, RuntimeError):  # no tensor, or none with dims
        return ()


def given(x, default):
    """The numbers of x; without one the widget brings its own."""
    return default if x is None else numbers(x)


def told(explanation):
    lines = dict(explanation.lines)
    return explanation.title.partition(" of ")[2], lines["contiguous"] == "yes"


def traffic_of(x):
    found = stridekit.traffic(reads=x).operands[0]
    return found.useful, found.lines


def lines_of(x):
    bytes_ = bytes_of(x)
    if isinstance(bytes_, range):
        return len(bytes_), -(-len(bytes_) // 64)
    return len(bytes_), len({b // 64 for b in bytes_})


def sectors_of(x):
    item = numbers(x)[3]
    return len({(a + k) // 32 for a in row_major(x, 32) for k in (0, item - 1)})


def described(x):
    shape, stride, offset, _ = numbers(x)
    n = [k for k, size in enumerate(shape) if size != 1]
    steps = [prod(shape[k + 1 :]) for k in n]
    return (
        f"shape {shape}, stride {stride}, storage_offset {offset}",
        0 in shape or [stride[k] for k in n] == steps,
    )


def like(x):
    """A meta tensor with the numbers of x."""
    shape, stride, _, item = numbers(x)
    dtype = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.cdouble}[item]
    return torch.empty_strided(shape, stride, dtype=dtype, device="meta")


def sum_of(x):
    return numbers(like(x) + like(x))


def memory_of(x):
    m = stridekit.memset(x)
    return (m.first, m.stop, m.count()) if m else None


def memory_is(x):
    b = bytes_of(x)
    return (b[0], b[-1] + 1, len(b)) if len(b) else None


def overlaps(x):
    return len(bytes_of(x)) < prod(numbers(x)[0]) * numbers(x)[3]


def spread(places):
    return places if isinstance(places, range) else sorted(places)


def nest(x):
    out, first, _ = stridekit.loop_nest(x, x)
    return spread(starts(first)), out.numel


def nest_is(x):
    """What is yet to be conjugated or negated is cloned first, and the loops read the clone."""
    lazy = isinstance(x, torch.Tensor) and (x.is_conj() or x.is_neg())
    return spread(starts(x.clone() if lazy else x)), prod(numbers(x)[0])


sk = stridekit
# For each name: what is asked, and the truth.
COLUMNS = {
    "Layout.of": (lambda x: numbers(Layout.of(x)), numbers),
    "explain": (lambda x: told(sk.explain(x)), described),
    "explain_view": (lambda x: " can be " in sk.explain_view(x, -1).title, is_flat),
    "read_storage": (lambda x: raw(sk.read_storage(x)), fit),
    "read_element": (lambda x: sk.read_element(x, origin(x)), item_of),
    "storage_view": (lambda x: raw(sk.storage_view(x)), fit),
    "explore": (lambda x: sk.explore(x).layout.stride[:4], lambda x: numbers(x)[1][:4]),
    "StrideExplorer": (
        lambda x: numbers(sk.StrideExplorer(x).layout),
        lambda x: given(x, ((5, 8), (8, 1), 0, 4)),
    ),
    "ReshapeStepper": (
        lambda x: numbers(sk.ReshapeStepper(x).layout)[:2],
        lambda x: given(x, RESHAPED)[:2],
    ),
    "TraversalExplorer": (
        lambda x: numbers(sk.TraversalExplorer(x).layout)[1],
        lambda x: given(x, WALKED)[1],
    ),
    "memset": (memory_of, memory_is),
    "MemorySet.of": (lambda x: MemorySet.of(x).count(), lambda x: len(bytes_of(x))),
    "is_view": (
        lambda x: (sk.is_view(x, x), sk.is_view(x, other(x))),
        lambda x: (True, not len(bytes_of(x))),
    ),
    "shares_memory": (
        lambda x: (sk.shares_memory(x, x), sk.shares_memory(x, other(x))),
        lambda x: (len(bytes_of(x)) > 0, False),
    ),
    "shares_storage": (
        lambda x: (sk.shares_storage(x, x), sk.shares_storage(x, OTHER)),
        lambda x: (isinstance(x, torch.Tensor | Layout) or x.nbytes > 0, False),
    ),
    "has_internal_overlap": (sk.has_internal_overlap, overlaps),
    "relation": (
        lambda x: (sk.relation(x, x).is_view, sk.relation(x, other(x)).shares_memory),
        lambda x: (True, False),
    ),
    "output_layout": (lambda x: numbers(sk.output_layout(x, x)), sum_of),
    "loop_nest": (nest, nest_is),
    "broadcast_tensors": (
        lambda x: sk.broadcast_tensors(x, Layout((1,)))[0].stride[-1:],
        lambda x: tuple(torch.broadcast_tensors(like(x), torch.empty(1))[0].stride()[-1:]),
    ),
    "traffic": (traffic_of, lines_of),
    "warp_sectors": (lambda x: sk.warp_sectors(x).sectors, sectors_of),
    "Layout.expand_as": (lambda x: Layout(()).expand_as(x).shape, lambda x: tuple(x.shape)),
}
RESHAPED, WALKED = ((4, 6), (6, 1)), ((6, 8), (8, 1))  # what the widgets begin with

# One letter for each of COLUMNS, in their order.
TABLE = """
None               TTTTTTT...TTTTTTTTTTTTL
int                TTTTTTTTTTTTTTTTTTTTTTL
nan                TTTTTTTTTTTTTTTTTTTTTTL
str                TTTTTTTTTTTTTTTTTTTTTTL
list               TTTTTTTTTTTTTTTTTTTTTTL
dict               TTTTTTTTTTTTTTTTTTTTTTL
object             TTTTTTTTTTTTTTTTTTTTTTL
class              TTTTTTTTTTTTTTTTTTTTTTL
class Tensor       TTTTTTTTTTTTTTTTTTTTTTL
class ndarray      TTTTTTTTTTTTTTTTTTTTTTL
bytes              TTTTTTTTTTTTTTTTTTTTTTL
memoryview         TTTTTTTTTTTTTTTTTTTTTT.
NumPy scalar       TTTTTTTTTTTTTTTTTTTTTT.
coo                LLLLLLLLLLLTLLLLLLLLLL.
csr                LLLLLLLLLLLTLLLLLLLLLL.
bsc                LLLLLLLLLLLTLLLLLLLLLL.
mkldnn             LLLLLLLLLLLTLLLLLLLLLL.
nested             LLLLLLLLLLLTLLLLLLLLLLL
jagged             LLLLLLLLLLLTLLLLLLLLLLL
quantized          LLLLLLLLLLLTLLLLLLLLLL.
uninitialized      LLLLLLLLLLLTLLLLLLLLLLL
meta               ...VVV....VTVVVVV......
meta 10**18        ...VVV.LL.VTVVVVV......
meta 2**62         ...VVVLLL.VTVVVVV......
fake               ...VVV....VTVVVVV......
wrapper            ...VVV....VTVVVVV...VV.
vmap               .V.VVVV...VTVVVVV...VV.
grad               .V.VVVV...VTVVVVV...VV.
grid               ...........T...........
empty              ....I......T.........I.
0-d                ...........T...........
requires_grad      ...........T...........
no leaf            ...........T...........
Parameter          ...........T...........
Buffer             ...........T...........
subclass           ...........T...........
torch_function     ...........T...........
conj               ...........T...........
neg                ...........T...........
imag of conj       ...........T...........
bool               ...........T...........
bfloat16           ...........T...........
float8             ...........T...........
float4             ....T......T...........
uint64             ...........T...........
complex128         ...........T...........
inference          ...........T...........
lazy clone         ...........T...........
expanded 10**18    .......LL..T...........
windows            ...........T...........
of NumPy           ...........T...........
in FakeTensorMode  ...VVV.....T...........
shrunk             ......L...VTVV..V...VV.
shrunk to 0        ....V.L...VTVV..V...VV.
array              ...TTTT....T...........
array empty        ...TTTT....T.........I.
array 0-d          ...TTTT....T...........
read-only          ...TTTT....T...........
big-endian         ...TTTT....T.....LL....
of torch           ...TTTT....T...........
memmap             ...TTTT....T...........
masked             ...TTTT....T...........
object array       ...TTTT....T.....LL....
array 10**18       ...TTTTLL..T...........
array 2**62        ...TTTTLL..T...........
datetime64         ...TTTT....T.....LL....
field              ...TTTT....T...........
negative           ...TTTTLLL.T.....LLL...
structured         ...TTTT.LL.T.....LLL...
texts              ...TTTT.LL.T.....LLL...
packed field       LLLTTTTLLL.T.....LLLLL.
no bytes           LLLTTTTLLL.T.....LLLLL.
layout             ...TTTT.......V........
layout empty       ...TTTT.......V......I.
layout 0-d         ...TTTT.......V........
layout 10**12      ...TTTTLL.....V........
layout 2**62       ...TTTTLL.....V........
layout negative    ...TTTTLLL....V..LLL...
layout copied      ...TTTT.......V........
layout 3 bytes     ...TTTT.LL....V..LLL...
"""
ROWS = dict(re.split(r"  +", row) for row in TABLE.strip().splitlines())


def test_the_table_has_each_kind():
    assert list(ROWS) == list(INPUTS)
    assert {len(row) for row in ROWS.values()} == {len(COLUMNS)}


@pytest.mark.parametrize("kind", ROWS)
def test_a_tensor_or_what_is_none(kind):
    """Each name answers it rightly, or refuses it in its own words; both as the table says."""
    for letter, (name, (ask, truth)) in zip(ROWS[kind], COLUMNS.items(), strict=True):

        def do(x, letter=letter, name=name, ask=ask, truth=truth):
            try:
                found = ask(x)
            except Exception as error:
                met = refusal(error)
            else:
                met = "." if found == truth(x) else f"wrong: {found}"
            assert met == letter, name

        meet(kind, do)


# What takes something else ----------------------------------------------------------------------------

JUNK = {
    "None": lambda: None,
    "True": lambda: True,
    "1.0": lambda: 1.0,
    "nan": lambda: float("nan"),
    "'x'": lambda: "x",
    "[]": list,
    "['x']": lambda: ["x"],
    "{}": dict,
    "object": object,
    "class": lambda: torch.Tensor,
    "-7": lambda: -7,
    "10**30": lambda: 10**30,
    "matrix": lambda: torch.ones(2, 2),
    "meta": lambda: torch.ones((), device="meta"),
    "array": lambda: np.arange(3.0),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
}
# For each parameter, J: a letter for each of JUNK as above, "~" where nothing was asked (a time that
# would be spent). What is answered is right if the last column says so of `got`, or without one, if it is
# what torch gives for a tensor in place of the layout.
ARGUMENTS = [
    ("LLLLL.LLLLLLLLLL", "Layout(J)", "got == Layout(())"),
    (".LLLLLLLLLLLLLLL", "Layout((2,), J)", "got == Layout((2,), (1,))"),
    ("LLLLLLLLLLL.LLLL", "Layout((2,), (1,), J)", "got.storage_offset == J"),
    ("LLLLLLLLLLL.LLLL", "Layout((2,), (1,), 0, J)", "got.itemsize == J"),
    ("LLLL.LLLLLLLLLLL", "Layout((2,), storage=J)", "got.storage == J and got != Layout((2,))"),
    ("IIIIIIIIIIIILIII", "x.offset(J)", ""),
    ("LLLLLLLLLLIILLLL", "x.offset((0, J))", ""),
    ("IIIIIIIIIIIILIII", "x.address(J)", ""),
    (".LLLLLLLLLIILLLL", "x[J]", ""),
    (".LLLLLLLLLIILLLL", "x[0, J]", ""),
    (".LLLLLLLLL..LLLL", "x[J:]", "got == (x if J is None or J < 0 else x[4:])"),
    (".LLLLLLLLLL.LLLL", "x[::J]", "got == (x if J is None else Layout((1, 6), (6 * J, 1), 0, 4))"),
    ("LLLLLLLLLLIILLLL", "x.select(J, 0)", ""),
    ("LLLLLLLLLLIILLLL", "x.select(0, J)", ""),
    ("LLLLLLLLLLIILLLL", "x.unbind(J)", ""),
    ("LLLLLLLLLLIILLLL", "x.narrow(J, 0, 1)", ""),
    ("LLLLLLLLLLIILLLL", "x.narrow(0, J, 1)", ""),
    ("LLLLLLLLLLLLLLLL", "x.narrow(0, 0, J)", ""),
    ("LLLLLLLLLLL.LLLL", "x.split(J)", "got == (x,)"),
    ("LLLLLLLLLLIILLLL", "x.split(2, J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.split_with_sizes(J)", ""),
    ("LLLLLLLLLLIILLLL", "x.split_with_sizes([2, 2], J)", ""),
    ("LLLLLLLLLLL.LLLL", "x.chunk(J)", "got == x.split(1)"),
    ("LLLLLLLLLLIILLLL", "x.chunk(2, J)", ""),
    ("LLLLL.LLLLLLLLLL", "x.tensor_split(J)", ""),
    ("LLLLLLLLLLIILLLL", "x.tensor_split(2, J)", ""),
    ("LLLLL.LLLLLLLLLL", "x.hsplit(J)", ""),
    ("LLLLL.LLLLLLLLLL", "x.vsplit(J)", ""),
    ("LLLLL.LLLLLLLLLL", "z.dsplit(J)", ""),
    ("LLLLLLLLLL..LLLL", "x.diagonal(J)", "got == Layout((0,), (7,), 0, 4)"),
    ("LLLLLLLLLLIILLLL", "x.diagonal(0, J)", ""),
    ("LLLLLLLLLLIILLLL", "x.diagonal(0, 0, J)", ""),
    ("LLLLLLLLLLIILLLL", "x.unfold(J, 1, 1)", ""),
    ("LLLLLLLLLLLLLLLL", "x.unfold(0, J, 1)", ""),
    ("LLLLLLLLLLL.LLLL", "x.unfold(0, 1, J)", "got == Layout((1, 6, 1), (6 * J, 1, 6), 0, 4)"),
    ("LLLLLLLLLLIILLLL", "x.permute(J)", ""),
    ("LLLLLLLLLLIILLLL", "x.permute(0, J)", ""),
    ("LLLLLLLLLLIILLLL", "x.transpose(J, 0)", ""),
    ("LLLLLLLLLLIILLLL", "x.transpose(0, J)", ""),
    ("LLLLLLLLLLIILLLL", "x.swapdims(J, 0)", ""),
    ("LLLLLLLLLLIILLLL", "x.swapaxes(0, J)", ""),
    ("LLLLLLLLLLIILLLL", "x.movedim(J, 0)", ""),
    ("LLLLLLLLLLIILLLL", "x.movedim(0, J)", ""),
    ("LLLLLLLLLLIILLLL", "x.moveaxis(J, 0)", ""),
    ("LLLLLLLLLLIILLLL", "x.unsqueeze(J)", ""),
    (".LLLL.LLLLIILLLL", "x.squeeze(J)", "got == x"),
    ("LLLLLLLLLLLLLLLL", "x.expand(J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.expand(4, J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.broadcast_to(J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.expand_as(J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.view(J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.view(4, J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.view_as(J)", ""),
    ("................", "x.why_not_view(J)", "got and isinstance(got, str)"),
    ("LLLLLLLLLLIILLLL", "x.unflatten(J, (2, 2))", ""),
    ("LLLLLLLLLLLLLLLL", "x.unflatten(0, J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.view_dtype(J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.as_strided(J, (1,))", ""),
    ("LLLLLLLLLLLLLLLL", "x.as_strided((2,), J)", ""),
    (".LLLLLLLLLL.LLLL", "x.as_strided((2,), (1,), J)", "got == Layout((2,), (1,), J or 0, 4)"),
    ("LLLLLLLLLLLLLLLL", "x.reshape(J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.reshape_as(J)", ""),
    ("LLLLLLLLLLIILLLL", "x.flatten(J)", ""),
    ("LLLLLLLLLLIILLLL", "x.flatten(0, J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.contiguous(J)", ""),
    (".LLLLLLLLLLLLLLL", "x.clone(memory_format=J)", ""),
    (".LLLLLLLLLL.LLLL", "x.to(J)", "got is x if J is None else got.itemsize == J"),
    (".LLLLLLLLLLLLLLL", "x.to(memory_format=J)", "got is x"),
    ("L.LLLLLLLLLLLLLL", "x.to(copy=J)", "got is not x and got.copied"),
    ("LLLLLLLLLLLLLLLL", "x.is_contiguous(J)", ""),
    ("LLLLLLLLLLLLLLLL", "x.why_not_contiguous(J)", ""),
    ("L.LLL.LLLLLLLLLL", "x.dim_order(ambiguity_check=J)", "got == (0, 1)"),
    (
        "TTTTTTTTTTTT...L",
        "Layout.of(J)",
        "got == Layout(J.shape, J.stride() if isinstance(J, torch.Tensor) else (1,), 0, J.itemsize)",
    ),
    ("LLLLLLLLLL..LLLL", 'MemorySet(J, [(1, 4)], "cpu")', "(got.first, got.count()) == (J, 4)"),
    ("TTTT.TTTTTTTTTTT", "MemorySet(0, [(1, 4)], J)", "got.space == J"),
    ("TTTTT.TTTTTTTTTT", 'MemorySet(0, J, "cpu")', "list(got) == [0]"),
    ("TTTTTTTTTTTTTTTT", "MemorySet.of(J)", ""),
    ("TTTTTTTTTTTTTTTT", "m.issubset(J)", ""),
    ("VVVVVVVVVVV.VVVV", "m.issubset(m, J)", "got"),
    ("TTTTTTTTTTTTTTTT", "m.issuperset(J)", ""),
    ("TTTTTTTTTTTTTTTT", "m.isdisjoint(J)", ""),
    ("VVVVVVVVVVV.VVVV", "m.isdisjoint(m, J)", "not got"),
    ("VVVVVVVVVVV.VVVV", "m.count(J)", "got == 96"),
    ("VVVVVVVVVVV.VVVV", "m.blocks(J)", "got.touched == 1"),
    ("VVVVVVVVVVV.VVVV", "m.blocks(64, J)", "got.touched == 2"),
    ("VVVVVVVVVVV.VVVV", "list(m.runs(J))", "got == [range(96)]"),
    ("T.TTTTTTTT..TTTT", "J in m", "got is (0 <= J < 96)"),
    ("................", "m == J", "got is False"),
    ("TTTT.TTTTTTTTTTT", "explain(T, J)", "'x[i, j] is element' in str(got)"),
    ("LLLLL.LLLL..LLLL", "explain_view(x, J)", "'cannot be viewed' in got.title"),
    ("IIIIIIIIIIIILIII", "read_element(T, J)", ""),
    ("LLLLLLLLLLIILLLL", "read_element(T, (0, J))", ""),
    (".TTTTTTTTTTTVVTL", "read_storage(T, out=J)", "got.tolist() == [1.0] * 24"),
    ("VVVVVVVVVVV.VVVV", "is_view(T, T, J)", "got"),
    ("VVVVVVVVVVV.VVVV", "shares_memory(T, T, J)", "got"),
    ("VVVVVVVVVVV.VVVV", "has_internal_overlap(T, J)", "not got"),
    ("VVVVVVVVVVV.VVVV", "relation(T, T, J)", "got.is_view"),
    (
        "TTTTTTTTTTTT...L",
        "output_layout(J)",
        "got.copied and got.stride == (J.clone().stride() if isinstance(J, torch.Tensor) else (1,))",
    ),
    (".LLLLLLLLLL.LLLL", "output_layout(x, itemsize=J)", "got.itemsize == (J or 4)"),
    (".TTTTTTTTTTTLLLL", "loop_nest(x, out=J)", "got[0].shape == (24,)"),
    ("TTTTTTTTTTTT...L", "broadcast_tensors(J)", "got == (Layout.of(J),)"),
    ("TTTTTVTVTTTT...L", "traffic(J)", "got.operands[0].useful == J.nbytes"),
    ("TTTTT.T.TTTT...L", "traffic(x, J)", "got.useful == 96 + getattr(J, 'nbytes', 0)"),
    ("LLLLLLLLLLVVLLLL", "traffic(x, line=J)", ""),
    (".LLLLLLLLLV.LLLL", "traffic(x, cache=J)", "got.lines_read == 2"),
    (".LLLLVLLLLLLLLLL", "traffic(x, cache=64, order=J)", "got.lines_read == 2"),
    ("LLLLLLLLLLVVLLLL", "traffic(x, alignment=J)", ""),
    ("VVVVVVVVVVV.VVVV", "traffic(x, budget=J)", "got.lines_read == 2"),
    ("VV.VVVVVVVV.VVVV", "traffic(x).fraction(J, 1e9)", "got == 128 / J / 1e9"),
    ("VV.VVVVVVVV.VVVV", "traffic(x).fraction(1., J)", "abs(got * J / 128 - 1) < 1e-9"),
    ("LLLLLLLLLLIILLLL", "warp_sectors(x, J)", ""),
    ("LLLLLLLLLLV.LLLL", "warp_sectors(x, lanes=J)", "got.useful == 96"),
    ("LLLLLLLLLLVVLLLL", "warp_sectors(x, sector=J)", ""),
    ("LLLLLLLLLLVVLLLL", "warp_sectors(x, alignment=J)", ""),
    ("LLLLLLLLLLVVLLLL", "bandwidth(J)", ""),
    ("LLLLLLLLLLVVLLLL", "bandwidth(12288*4, repetitions=J)", ""),
    ("LLLLLLLLLLVVLLLL", "bandwidth(12288*4, repetitions=2, threads=J)", ""),
    ("VVVVVVVVVVVVVVVV", "bandwidth(12288*4, repetitions=2, device=J)", ""),
    ("EEEEEEEEE.EEEEEE", "measure(J)", "got.median > 0"),
    ("E~~EEEEEEEE~EEEE", "measure(f, min_run_time=J)", ""),
    ("EEEEEEEEEEEEEEEE", "measure(f, min_run_time=1e-4, threads=J)", ""),
    ("EEEEEEEEEEEEEEEE", "measure(f, min_run_time=1e-4, device=J)", ""),
    ("EEEE.EEEEEEEEEEE", "measure(f, min_run_time=1e-4, label=J)", "got.median > 0"),
    ("EEEEEEEEEEEEEEEE", "compare(J)", ""),
    ("EEEEEEEEE.EEEEEE", 'compare({"a": f, "b": J})', "got.names"),
    (".EEEEEEEEEE~EEEE", 'compare({"a": f, "b": f}, rounds=J)', "got.names"),
    ("E..EEEEEEEE.EEEE", 'compare({"a": f, "b": f}, rounds=2, max_seconds=J)', "got.names"),
    ("EEEEEEEEEEEEEEEE", 'compare({"a": f, "b": f}, rounds=2, threads=J)', ""),
    ("EEEEEEEEEEEEEEEE", 'compare({"a": f, "b": f}, rounds=2, device=J)', ""),
    ("E.EEEEEEEE..EEEE", 'compare({"a": f, "b": f}, rounds=2, seed=J)', "got.names"),
    ("EEEEEEEEEEEEEEEE", "cmp.measurement(J)", ""),
    ("EEEEEEEEEEEEEEEE", "Comparison.from_json(J)", ""),
    ("EEEEEEEEEEEEEEEE", "timing.claim(J, 1)", ""),
    (
        "E..EEEEEEEEEEEEE",
        'timing.claim({"a": f, "b": f}, J, rounds=2, progress=False)',
        "got.holds is not None",
    ),
    (
        "E..EEEEEEEEEEEEE",
        'timing.claim({"a": f, "b": f}, {"a": 1, "b": J}, rounds=2, progress=False)',
        "got.holds is not None",
    ),
    (
        "EEEEE.EEEEEEEEEE",
        'timing.claim({"a": f, "b": f}, 1, slower=J, rounds=2, progress=False)',
        "got.holds is not None",
    ),
    (
        "EEEE.EEEEEEEEEEE",
        'timing.claim({"a": f, "b": f}, 1, baseline=J, rounds=2, progress=False)',
        "got.holds is not None",
    ),
    ("EEEEEEEEE.EEEEEE", "timing.page_faults(J)", "got >= 0"),
    ("EEEEEEEEEEE~EEEE", "timing.page_faults(f, J)", ""),
    ("TTTTTTTTTTTTTTTT", "plots.draw_comparison(J)", ""),
    (".TTTTTTTTTTTTTTT", "plots.draw_comparison(cmp, J)", "got.figure"),
    ("TTTTTTTVTTTTTTTT", 'plots.draw_predicted(J, {"a": 1})', ""),
    ("TT.TTTTTTT.TTTTT", 'plots.draw_predicted({"a": 1, "b": J}, {"a": 1, "b": 2})', "got.figure"),
    ("TTTTTTTVTTTTTTTT", 'plots.draw_predicted({"a": 1}, J)', ""),
    ("TTTTTTTVTTTTTTTT", 'plots.draw_claim("a", J, {"b": ratio})', ""),
    ("TTTTTTTVTTTTTTTT", 'plots.draw_claim("a", {"b": 1.}, J)', ""),
    ("TT.TTTTTTT.TTTTT", 'plots.draw_claim("a", {"b": J}, {"b": ratio})', "got.figure"),
    ("TTTTTTTTTTTTTTTT", 'plots.draw_sweep(J, {"a": [1, 2]})', ""),
    ("TTTTTTT.TTTTTTTT", "plots.draw_sweep([1, 2], J)", "got.figure"),
    ("TTTTTTTTTTTTTTTT", 'plots.draw_sweep([1, 2], {"a": J})', ""),
    (".TTTTTT.TTTTTTTT", 'plots.draw_sweep([1, 2], {"a": [1, 2]}, marks=J)', "got.figure"),
    ("TTTTTTT.TTTTTTTT", "plots.draw_roofline(J)", "got.figure"),
    ("TT.TTTTTTT.TTTTT", 'plots.draw_roofline({"a": J})', "got.figure"),
    ("TTTT.TTTTTTTTTTT", "plots.MeasuredPicture(ax, J)", "repr(got) == J"),
    ("TTTTTTTTTTTTTTTT", "plots.measured_png(J)", ""),
    (
        ".TTTTTTTTTTT...L",
        "StrideExplorer(J)",
        "got.layout == (Layout((5, 8), itemsize=4) if J is None else Layout.of(J))",
    ),
    (".LLLLLLLLLLLLLLL", "StrideExplorer(None, J)", "got.storage_size == 40"),
    ("TTTT.TTTTTTTTTTT", "explore(T, J)", "'x[2, 3] is element 15' in str(got)"),
    ("LLLLLLLLLLLLLLLL", "AliasExplorer(J)", ""),
    ("LLLLL.LLLLLLLLLL", "AliasExplorer((4,), J)", "got.steps == ()"),
    (
        ".TTTTTTTTTTT...L",
        "ReshapeStepper(J)",
        "got.layout.shape == ((4, 6) if J is None else J.shape)",
    ),
    (".LLLLLLLLLLLLLLL", "ReshapeStepper(x, J)", "got.layout == x"),
    ("LLLLLLLLLLLLLLLL", "ChannelsLastExplorer(J)", ""),
    (".LLLVVLLLLLLLLLL", "TraversalExplorer(x, J)", "got.order == (0, 1)"),
    (
        ".LLLVVLLLLLLLLLL",
        "TraversalExplorer(x, other=x, other_order=J)",
        "got.other_order == (0, 1)",
    ),
    ("LLLLLLLLLLVVLLLL", "TraversalExplorer(cache_lines=J)", ""),
    ("LLLLLLLLLLVVLLLL", "TraversalExplorer(alignment=J)", ""),
    (".LLLLVLLLLLLLLLL", "TraversalExplorer(warp=J)", "got.visit == 0 or got.visit"),
    ("VVVV.VVVVVVVVVVV", "Predict(J, 1)", "str(J) in repr(got)"),
    ("V..VV.VVVV.VVVVV", 'Predict("?", J)', "got.correct is None"),
    (".VVVVVVVVVVVVV.V", 'Predict("?", 1, choices=J)', "got.correct is None"),
    ("VVVV.VVVVVVVVVVV", 'Predict("?", 1, why=J)', "got.correct is None"),
    ("VVVV.VVVVVVVVVVV", 'Predict("?", 1, experiment=J)', "got.correct is None"),
    (".VVV.VVVVVVVVVVV", 'Predict("?", 1, experiment="x", output=J)', "got.correct is None"),
    (".VVVVVV.VVVVVVVV", 'Predict("?", 1, remarks=J)', "got.correct is None"),
    ("TTTTTTTTTTTTTTTT", "plots.MeasuredPicture(J, '')", ""),
    ("TTTTTTTTTTTTTTTT", "plots.draw_runs(J)", ""),
]


def names():
    x = Layout((4, 6), itemsize=4)
    f = int  # which does nothing
    compared = timing.compare({"a": f, "b": f}, rounds=2, progress=False)
    more = {"x": x, "z": Layout((2, 3, 4), itemsize=8), "m": MemorySet.of(x), "f": f}
    ax = plt.figure().subplots()
    ratio = timing.Ratio(1.2, 1.1, 1.3)
    return NAMES | more | {"T": torch.ones(4, 6), "cmp": compared, "ax": ax, "ratio": ratio}


@pytest.fixture(scope="module")
def known():
    yield names()
    plt.close("all")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("letters", "call", "right"), ARGUMENTS, ids=lambda v: v)
def test_an_argument(letters, call, right, known):
    assert len(letters) == len(JUNK)
    for letter, (junk, make) in zip(letters, JUNK.items(), strict=True):
        if letter == "~":
            continue
        value = make()
        try:
            got = eval(call, known, {"J": value})
        except Exception as error:
            met = refusal(error)
        else:
            met = "."
        plt.close("all")
        assert met == letter, junk
        if met != ".":
            continue
        if right:
            assert eval(right, known, {"J": value, "got": got}), f"{junk}: {got}"
        else:
            tensors = known | {"x": like(known["x"]), "z": like(known["z"])}
            assert both(got) == both(eval(call, tensors, {"J": value})), junk


def both(results):
    """The numbers of one result, or of several."""
    several = isinstance(results, tuple | list)
    return [numbers(x) for x in results] if several else numbers(results)


# Every name -------------------------------------------------------------------------------------------

# What needs no argument, and is compared with torch; what only tells what was found.
# fmt: off
PLAIN = [
    "ndim", "numel", "T", "mT", "mH", "H", "adjoint()", "t()", "real", "imag", "view_as_real()",
    "ravel()", "detach()", "flatten()", "contiguous()", "clone()", "is_contiguous()",
    "dim_order()", "squeeze()", "unbind()", "shape", "stride", "storage_offset", "itemsize",
]
# fmt: on
TOLD = {
    "Explanation": "explain(x)",
    "Relation": "relation(x, x)",
    "Traffic": "traffic(x)",
    "WarpSectors": "warp_sectors(x)",
    "SelfCheck, self_check": "self_check()",
    "Comparison": "cmp",
    "Measurement": "measure(f, min_run_time=1e-4)",
    "Bandwidth": "bandwidth(12288, repetitions=2)",
    "Ratio": "cmp.ratios['b']",
    "Claim": "timing.claim({'a': f, 'b': f}, 1, rounds=2, progress=False)",
    "GpuResults": "timing.gpu.published()",
    "machine": "timing.machine()",
    "why_no_cuda": "timing.why_no_cuda()",
    "gpu_results": "timing.gpu_results",
    "LayoutError": "LayoutError('no')",
    "TimingError": "timing.TimingError('no')",
    "Undecided": "Undecided('no')",
    "alias": "x.alias()",
    "copied, storage": "x.copied, x.storage",
    "span": "x.span",
    "coalesce": "x.coalesce()",
    "is_dense": "x.is_dense()",
    "why_not_dense": "x.why_not_dense()",
    "why_not_torch": "x.why_not_torch()",
    "memory_format": "x.memory_format",
    "view_as_complex": "Layout((3, 2), itemsize=4).view_as_complex()",
    "where": "m.where",
    "counts_from_storage": "m.counts_from_storage",
}


def test_every_public_name_has_a_row():
    """Give a new one a column, a row for each of its parameters, or a place among what only tells."""
    text = " ".join([*COLUMNS, *PLAIN, *TOLD, *(call for _, call, _ in ARGUMENTS)])
    rows = set(re.findall(r"\w+", text))
    drawn = {
        name
        for name, value in vars(plots).items()
        if inspect.getmodule(value) is plots and callable(value)
    }
    every = {*stridekit.__all__, *timing.__all__, *drawn, *dir(Layout), *dir(MemorySet)}
    assert {name for name in every if not name.startswith("_")} <= rows


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_needs_no_argument(name):
    """Whatever the layout: torch's answer, or a refusal where torch refuses too."""
    shapes = [(), (5,), (4, 6), (0, 3), (2, 3, 4), (1, 1), (10**9, 10**9)]
    for shape in shapes if name != "unbind()" else shapes[:-1]:
        t = torch.empty(shape, dtype=torch.complex64, device="meta")
        try:
            wanted = eval(f"t.{name}" if name[:5] != "view_" else "torch.view_as_real(t)")
        except (RuntimeError, IndexError, OverflowError):
            with pytest.raises((LayoutError, IndexError)) as refused:
                eval(f"x.{name}", {"x": Layout.of(t)})
            assert refusal(refused.value) in "LI"
            continue
        got = eval(f"x.{name}", {"x": Layout.of(t)})
        wanted = wanted() if callable(wanted) and not isinstance(wanted, torch.Tensor) else wanted
        if isinstance(wanted, torch.Tensor) or (
            wanted and type(wanted) is tuple and name[0] == "u"
        ):
            got, wanted = both(got), both(wanted)
        assert got == wanted, shape


@pytest.mark.parametrize("name", TOLD)
def test_what_only_tells(name, known):
    """It says the same twice, in words."""
    got = eval(TOLD[name], known)
    assert repr(got) == repr(got) and str(got) is not None
