"""Every public name meets everything: the right answer or a clear error, and the tables say which.

A name that takes a tensor is a column of COLUMNS, and TABLE has a letter for each kind of input: "." for an
answer, which an oracle confirms, else the initial of the error. A name that takes something else has a row
in ARGUMENTS for each of its parameters. A public name in none of the tables fails the test of all names.
"""

import copy
import linecache
import pickle
import re
import traceback
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch

import stridekit
from stridekit import Layout, LayoutError, MemorySet, Undecided, timing
from stridekit.audit import Audit
from stridekit.cost.bandwidth import bandwidth
from stridekit.cost.refetch import CacheSets
from stridekit.cost.warp import warp_sectors
from stridekit.elementwise import broadcast_tensors
from stridekit.lessons import attention, gpu
from stridekit.lessons.claims import claim, show_runs
from stridekit.lessons.selfcheck import self_check
from tests.core import agree, fuzz_layout
from tests.core.brute_force import numbers
from tests.core.robust_inputs import INPUTS, WORDS, meet

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
NAMES |= {name: getattr(attention, name) for name in attention.__all__}
NAMES |= {"torch": torch, "np": np, "timing": timing, "gpu": gpu}
NAMES |= {"bandwidth": bandwidth, "CacheSets": CacheSets, "warp_sectors": warp_sectors}
NAMES |= {"broadcast_tensors": broadcast_tensors, "claim": claim, "show_runs": show_runs}
NAMES |= {"self_check": self_check, "Comparison": timing.Comparison, "Audit": Audit}


def refusal(error, words=""):
    """The initial of an error that stridekit raises on purpose, with these words; fails for any other."""
    kind = next((c for c, e in ERRORS.items() if type(error) is e), None)
    assert kind, f"{type(error).__name__} is not documented: {error}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno).strip()
    told = frame.filename.startswith(PACKAGE) and line.startswith("raise ")
    assert told, f"not raised by stridekit but at {frame.filename}:{frame.lineno}: {error}"
    said = str(error)
    assert words in said and len(said) > 20 and not FROM_INSIDE.search(said), said
    return kind


def rows(table):
    """The letters of each row of a table, and the text behind them, which may span several lines."""
    letters, found = "", {}
    for line in table.strip("\n").splitlines():
        first, _, more = line.partition("  ") if line[0] != " " else (letters, "", line)
        separator = " " if found.get(first, "").endswith(",") else "; "
        found[first] = (found[first] + separator if first in found else "") + more.strip()
        letters = first
    return found.items()


# What takes a tensor ---------------------------------------------------------------------------------

OTHER = torch.arange(4.0)  # lies elsewhere
FAR = Layout((4,), storage_offset=2**40)  # where Layouts count


def other(x):
    return FAR if isinstance(x, Layout) else OTHER


def raw(t):
    t = t.detach().as_subclass(torch.Tensor)
    return t.view(torch.uint8).tolist() if t.numel() else []


def stored(x):
    """The bytes of whole elements in the storage."""
    whole = torch.empty(0, dtype=torch.uint8).set_(x.untyped_storage()).tolist()
    return whole[: len(whole) // x.element_size() * x.element_size()]


def origin(x):
    try:
        return (0,) * x.ndim
    except (AttributeError, TypeError, RuntimeError):  # no tensor, or none with dims
        return ()


def told(explanation):
    lines = dict(explanation.lines)
    return explanation.title.partition(" of ")[2], lines["contiguous"]


def like(x):
    shape, stride, _, item = numbers(x)
    dtype = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.cdouble}[item]
    return torch.empty_strided(shape, stride, dtype=dtype, device="meta")


def reached(m):
    return m.stop - m.first, m.count()


def turned(x):
    """What x can be multiplied with; x itself where that has no answer."""
    with suppress(LayoutError, TypeError):
        return Layout.of(x).mT
    return x


def resolved(x):
    """A loop reads a clone of a tensor that has yet to be conjugated or negated."""
    return x.resolve_conj().resolve_neg() if isinstance(x, torch.Tensor) else x


sk = stridekit
# What each name is asked.
COLUMNS = {
    "Layout.of": lambda x: numbers(Layout.of(x)),
    "explain": lambda x: told(sk.explain(x)),
    "explain_view": lambda x: " can be " in sk.explain_view(x, -1).title,
    "read_storage": lambda x: raw(sk.read_storage(x)),
    "read_element": lambda x: sk.read_element(x, origin(x)),
    "storage_view": lambda x: raw(sk.storage_view(x)),
    "explore": lambda x: sk.explore(x).layout.stride[:4],
    "StrideExplorer": lambda x: numbers(sk.StrideExplorer(x).layout),
    "ReshapeStepper": lambda x: numbers(sk.ReshapeStepper(x).layout)[:2],
    "TraversalExplorer": lambda x: numbers(sk.TraversalExplorer(x).layout)[1],
    "memset": lambda x: reached(sk.memset(x)),
    "MemorySet.of": lambda x: reached(MemorySet.of(x)),
    "is_view": lambda x: (sk.is_view(x, x), sk.is_view(x, other(x))),
    "shares_memory": lambda x: (sk.shares_memory(x, x), sk.shares_memory(x, other(x))),
    "shares_storage": lambda x: (sk.shares_storage(x, x), sk.shares_storage(x, OTHER)),
    "has_internal_overlap": sk.has_internal_overlap,
    "relation": lambda x: (sk.relation(x, x).is_view, sk.relation(x, other(x)).shares_memory),
    "output_layout": lambda x: numbers(sk.output_layout(x, x)),
    "loop_nest": lambda x: agree.numbers(sk.loop_nest(x, x)),
    "broadcast_tensors": lambda x: broadcast_tensors(x, Layout((1,)))[0].stride[-1:],
    "traffic": lambda x: sk.traffic(reads=x).operands[0].useful,
    "warp_sectors": lambda x: warp_sectors(x).useful,
    "matmul_copies": lambda x: attention.matmul_copies(x, turned(x)),
    "sdpa_output": lambda x: numbers(attention.sdpa_output(x, x, x)),
    "why_no_flash": lambda x: attention.why_no_flash(x, x, x),
    "Layout.expand_as": lambda x: Layout(()).expand_as(x).shape,
    "Sort": lambda x: sk.Sort(x, "x.view_as(x); x.clone()", also="x[None]").answers,
}
# The truth, where it is not the answer for the layout of the input, which other tests compare with torch.
TRUTHS = {
    "Layout.of": numbers,
    "read_storage": stored,
    "read_element": lambda x: x[(0,) * x.ndim].item(),
    "storage_view": stored,
    "explore": lambda x: numbers(x)[1][:4],
    "shares_storage": lambda x: (isinstance(x, torch.Tensor) or x.nbytes > 0, False),
    "loop_nest": lambda x: COLUMNS["loop_nest"](Layout.of(resolved(x))),
    "Layout.expand_as": lambda x: tuple(x.shape),
    "Sort": lambda x: {"x.view_as(x)": "view", "x.clone()": "copy"},
}
# What the widgets begin with.
GIVEN_NONE = {
    "StrideExplorer": Layout((4, 6), (8, 1), 2, 4),
    "ReshapeStepper": Layout((4, 6)),
    "TraversalExplorer": Layout((6, 8)),
}
# The same bytes as a layout, where elements lie at no whole number of elements, or have no bytes.
SAME_BYTES = {"packed field": Layout((5, 4), (5, 1), 1), "no bytes": Layout((0,))}


def truth(name, kind, x):
    if name in TRUTHS:
        return TRUTHS[name](x)
    known = GIVEN_NONE[name] if x is None else SAME_BYTES.get(kind)
    return COLUMNS[name](known or Layout.of(x))


# They tell what they take, not what the input is.
OWN_WORDS = {"MemorySet.of", "Layout.expand_as", *(name for name in COLUMNS if "xplore" in name)}
OWN_WORDS |= {"ReshapeStepper", "Sort", "sdpa_output", "why_no_flash"}

# One letter for each of COLUMNS, in their order, and the kinds of input that are met so.
TABLE = """
TTTTTTT...TTTTTTTTTTTTTTTLT  None
TTTTTTTTTTTTTTTTTTTTTTTTTLT  int, str, class, class Tensor
TTTTTTTTTTTTTTTTTTTTTTTTT.T  memoryview
LLLLLLLLLLLTLLLLLLLLLLLLL.L  coo, csr, mkldnn, quantized
LLLLLLLLLLLTLLLLLLLLLLLLLLL  nested, jagged, uninitialized
...VVV....VTVVVVV.........V  meta, fake
...VVV....VTVVVVV....I.LL.V  fake empty
...VVV.LL.VTVVVVV.........V  meta 10**18
...VVVLLLLVTVVVVV......LL.V  meta 2**62
...VVV....VTVVVVV...VV....V  wrapper, functional, functionalize
.V.VVVV...VTVVVVV...VV.LL.V  vmap
.V.VVVV...VTVVVVV...VV....V  grad
...........T...............  grid, requires_grad, Parameter, subclass, bfloat16, inference,
                             lazy clone, of NumPy
...........T..........LLL..  0-d, conj, neg, imag of conj
...........T...........LL..  bool, float8, windows
....I......T.........I.LL.V  empty
....T......T...........LL..  float4
.......LL..T..............V  expanded 10**18
...VVV.....T..............V  in FakeTensorMode
......L...VTVV..V...VV....V  shrunk
....V.L...VTVV..V...VV....V  shrunk to 0
...TTTT....T..............T  array, of torch
...TTTT....T..........LLL.T  array 0-d
...TTTT....T...........LL.T  masked, field
...TTTT....T.........I.LL.T  array empty
...TTTT....T.....LL...LLL.T  big-endian, object array
...TTTTLL..T..............T  array 10**18
...TTTTLLL.T...........LL.T  array 2**62
...TTTTLLL.T.....LLL..LLL.T  negative
...TTTT.LL.T.....LLL..LLL.T  structured
LLLTTTTLLL.T.....LLLLLLLL.T  packed field, no bytes
...TTTT.......V...........T  layout
...TTTT.......V.......LLL.T  layout 0-d
...TTTT.......V......I.LL.T  layout empty
...TTTTLL.....V........LL.T  layout 10**12
...TTTTLLL....V........LL.T  layout 2**62
...TTTTLLL....V..LLL..LLL.T  layout negative
...TTTT.LL....V..LLL..LLL.T  layout 3 bytes
"""
ROWS = {kind: letters for letters, kinds in rows(TABLE) for kind in kinds.split(", ")}


def test_the_table_has_each_kind():
    assert sorted(ROWS) == sorted(INPUTS)
    assert {len(row) for row in ROWS.values()} == {len(COLUMNS)}


@pytest.mark.parametrize("kind", ROWS)
def test_each_kind_of_input(kind):
    for letter, name in zip(ROWS[kind], COLUMNS, strict=True):

        def do(x, letter=letter, name=name):
            try:
                found = COLUMNS[name](x)
            except Exception as error:
                met = refusal(error, "" if name in OWN_WORDS else WORDS.get(kind, ""))
            else:
                met = "." if found == truth(name, kind, x) else f"wrong: {found}"
            assert met == letter, name
            if kind == "lazy clone":  # which data_ptr() would make real
                assert torch._C._is_cow_tensor(x), name

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
# The letters of JUNK as above, and the calls that meet them so; "~" where nothing was asked (a time that
# would be spent, an error that a test before left). What is answered is right if what stands behind "=>"
# says so of `got`, or without it, if it is what torch gives for a tensor in place of the layout.
ARGUMENTS = """
LLLLLLLLLLIILLLL  x.offset((0, J)); x.select(J, 0); x.select(0, J); x.unbind(J); x.narrow(J, 0, 1)
                  x.narrow(0, J, 1); x.split(2, J); x.split_with_sizes([2, 2], J); x.chunk(2, J)
                  x.tensor_split(2, J); x.diagonal(0, J); x.diagonal(0, 0, J); x.unfold(J, 1, 1)
                  x.permute(J); x.permute(0, J); x.transpose(J, 0); x.transpose(0, J); x.movedim(J, 0)
                  x.movedim(0, J); x.unsqueeze(J)
                  x.unflatten(J, (2, 2)); x.flatten(J); x.flatten(0, J); read_element(T, (0, J))
                  warp_sectors(x, J)
LLLLLLLLLLLLLLLL  x.narrow(0, 0, J); x.split_with_sizes(J); x.unfold(0, J, 1); x.expand(J); x.expand(4, J)
                  x.broadcast_to(J); x.expand_as(J); x.view(J); x.view(4, J); x.view_as(J)
                  x.unflatten(0, J); x.view_dtype(J); x.as_strided(J, (1,)); x.as_strided((2,), J)
                  x.reshape(J); x.reshape_as(J); x.contiguous(J); x.is_contiguous(J)
                  x.why_not_contiguous(J); AliasExplorer(J); ChannelsLastExplorer(J)
                  FormatTracer(J); AttentionExplorer(J); CacheExplorer(heads=J)
TTTTTTTTTTTTTTTT  MemorySet.of(J); m.issubset(J); m.issuperset(J); m.isdisjoint(J)
LLLLLLLLLLVVLLLL  traffic(x, line=J); traffic(x, alignment=J); warp_sectors(x, sector=J)
                  warp_sectors(x, alignment=J)
EEEEEEEEEEEEEEEE  measure(f, min_run_time=1e-4, threads=J); measure(f, min_run_time=1e-4, device=J)
                  compare(J); compare(ab, rounds=2, threads=J)
                  compare(ab, rounds=2, device=J); cmp.measurement(J)
LLLLL.LLLLLLLLLL  x.tensor_split(J); x.hsplit(J); x.vsplit(J); z.dsplit(J)
                  Layout(J)  =>  got == Layout(())
.LLLLLLLLLLLLLLL  x.clone(memory_format=J)
                  Layout((2,), J)  =>  got == Layout((2,), (1,))
                  x.to(memory_format=J)  =>  got is x
LLLLLLLLLLL.LLLL  Layout((2,), (1,), J)  =>  got.storage_offset == J
                  Layout((2,), (1,), 0, J)  =>  got.itemsize == J
                  x.split(J)  =>  got == (x,)
                  x.chunk(J)  =>  got == x.split(1)
                  x.unfold(0, 1, J)  =>  got == Layout((1, 6, 1), (6 * J, 1, 6), 0, 4)
.LLLLLLLLLL.LLLL  x[::J]  =>  got == (x if J is None else Layout((1, 6), (6 * J, 1), 0, 4))
                  x.as_strided((2,), (1,), J)  =>  got == Layout((2,), (1,), J or 0, 4)
                  x.to(J)  =>  got is x if J is None else got.itemsize == J
                  output_layout(x, itemsize=J)  =>  got.itemsize == (J or 4)
TTTT.TTTTTTTTTTT  Goal(J, shape=(1,))  =>  got.text == J
                  explain(T, J)  =>  'x[i, j] is element' in str(got)
                  explore(T, J)  =>  'x[2, 3] is element 15' in str(got)
TTTTTTTTTTTTTTTT  CopyTracer(J)
TTTT.TTTTTTTTTTT  Diagnose(J)  =>  'does not know' in got.found.title
~TTT.TTTTTTTTTTT  diagnose(J)  =>  'does not know' in got.title
IIIIIIIIIIIILIII  x.offset(J); x.address(J); read_element(T, J)
EEEEEEEEE.EEEEEE  measure(J)  =>  got.median > 0
                  compare({"a": f, "b": J}, rounds=2)  =>  got.names
                  timing.page_faults(J)  =>  got >= 0
VVVV.VVVVVVVVVVV  Predict(J, 1)  =>  str(J) in repr(got)
                  Predict("?", 1, why=J)  =>  got.correct is None
                  Predict("?", 1, experiment=J)  =>  got.correct is None
.LLLLLLLLLIILLLL  x[J]; x[0, J]
LLLLLLLLLL..LLLL  x.diagonal(J)  =>  got == Layout((0,), (7,), 0, 4)
................  x.why_not_view(J)  =>  got and isinstance(got, str)
                  m == J  =>  got is False
.LLLLVLLLLLLLLLL  traffic(x, cache=64, order=J)  =>  got.lines_read == 2
EEEE.EEEEEEEEEEE  measure(f, min_run_time=1e-4, label=J)  =>  got.median > 0
LLLL.LLLLLLLLLLL  Layout((2,), storage=J)  =>  got.storage == J and got != Layout((2,))
.LLLLLLLLL..LLLL  x[J:]  =>  got == (x if J is None or J < 0 else x[4:])
.LLLL.LLLLIILLLL  x.squeeze(J)  =>  got == x
L.LLLLLLLLLLLLLL  x.to(copy=J)  =>  got is not x and got.copied
L.LLL.LLLLLLLLLL  x.dim_order(ambiguity_check=J)  =>  got == (0, 1)
TTTTT.TTTTTTTTTT  StrideExplorer(goals=J)  =>  got.goals == {}
TTTTTTTTTT..TTTT  StrideExplorer(goals=[Goal("a", reached=J)])  =>  got.goals == {"a": False}
T.TTTTTTTT..TTTT  J in m  =>  got is (0 <= J < 96)
LLLLL.LLLL..LLLL  explain_view(x, J)  =>  'cannot be viewed' in got.title
.TTTTTTTTTTTLLLL  loop_nest(x, out=J)  =>  got[0].shape == (24,)
TTTTTVTVTTTT...L  traffic(J)  =>  got.operands[0].useful == J.nbytes
TTTTT.T.TTTT...L  traffic(x, J)  =>  got.useful == 96 + getattr(J, 'nbytes', 0)
.LLLLLLLLLV.LLLL  traffic(x, cache=J)  =>  got.lines_read == 2
LLLLLLLLLLVVLLLL  warp_sectors(x, lanes=J)
VVVVVVVVVVVVVVVV  traffic(x, store=J)
EE~EEEEEEEE~EEEE  measure(f, min_run_time=J)
E.EEEEEEEEEEEEEE  measure(f, min_run_time=1e-4, flush=J)  =>  got.median > 0
                  compare(ab, rounds=2, flush=J)  =>  got.names
EEEEEEEEEEEEEEEE  measure(f, graph=J); compare(ab, graph=J)
.EEEEEEEEEE~EEEE  compare(ab, rounds=J, max_seconds=60)  =>  got.names
EE.EEEEEEEE.EEEE  compare(ab, rounds=2, max_seconds=J)  =>  got.names
EEEEEEEEEE..EEEE  compare(ab, rounds=2, seed=J)  =>  got.names
EEEEEEEEEEE~EEEE  timing.page_faults(f, J)
V..VV.VVVV.VVVVV  Predict("?", J)  =>  got.correct is None
.VVVVVVVVVVVVV.V  Predict("?", 1, choices=J)  =>  got.correct is None
.VVV.VVVVVVVVVVV  Predict("?", 1, experiment="x", output=J)  =>  got.correct is None
.VVVVVV.VVVVVVVV  Predict("?", 1, remarks=J)  =>  got.correct is None
LLLL.LLLLLLLLLLL  Sort(T, J, also="x.t()")  =>  got.answers == {J: "view"}
LLLLVVVLLLLLLLLL  Sort(T, "x", also=J)
LLLLLLLLLLL.LLLL  packed_heads(J, 5, 3, 4)  =>  got[0].shape[0] == J
                  packed_heads(2, J, 3, 4)  =>  got[0].shape[2] == J
                  packed_heads(2, 5, J, 4)  =>  got[0].shape[1] == J
                  packed_heads(2, 5, 3, J)  =>  got[0].shape[3] == J
                  packed_heads(2, 5, 3, 4, itemsize=J)  =>  got[0].itemsize == J
.LLLLLLLLLLLLLLL  packed_heads(2, 5, 3, 4, kv_heads=J)  =>  got[1].shape == (2, 3, 5, 4)
LLLLLLLLLLLLLLLL  packed_heads(2, 5, 3, 4, J); matmul_copies(x, x.mT, requires_grad=J)
                  sdpa_output(x, x, x, enable_gqa=J); why_no_flash(x, x, x, enable_gqa=J)
TTTTTTTTTTTTLLLL  matmul_copies(x, J); sdpa_output(x, J, x); sdpa_output(x, x, J); why_no_flash(x, x, J)
.TTTTTTTTTTTLLLL  sdpa_output(x, x, x, J)  =>  got.shape == (4, 6)
                  why_no_flash(x, x, x, J)  =>  "flash takes 4" in got
LL.LLLLLLLLLLLLL  sdpa_output(x, x, x, dropout_p=J)  =>  got.shape == (4, 6)
                  why_no_flash(x, x, x, dropout_p=J)  =>  "flash has no dropout" in got
L.LLLLLLLLLLLLLL  sdpa_output(x, x, x, is_causal=J)  =>  got.shape == (4, 6)
                  why_no_flash(x, x, x, is_causal=J)  =>  "flash takes 4" in got
TTTTTTTTTTTTTTTT  audit(J)
TVTTTTTTTTTTTTTT  audit(f, backward=J)
VVVVVVVVVVVVVVVV  audited.table(J); Audit.from_json(J)
TTTTTTTTTTTTTTTT  audited.compare(J); audited.without(J)
VVVVVVVVVVV.VVVV  is_view(T, T, budget=J)  =>  got is True
                  shares_memory(T, T, budget=J)  =>  got is True
                  has_internal_overlap(T, budget=J)  =>  got is False
                  relation(T, T, budget=J)  =>  got.is_view; traffic(T, budget=J)  =>  got.useful == 96
                  m.issubset(m, budget=J)  =>  got is True; m.issuperset(m, budget=J)  =>  got is True
                  m.isdisjoint(m, budget=J)  =>  got is False; m.count(budget=J)  =>  got == 96
                  m.blocks(budget=J)  =>  got.touched == 2
LLLL~.~LLLLLLLLL  audited.assert_no_copies(allow=J)  =>  got is None
LLLLLLLLLLV.LLLL  audited.assert_no_copies(max_bytes=J)  =>  got is None
LLLLLLLLLLL.LLLL  m.blocks(J)  =>  got.touched == 1
~LLLLLLLLLL~LLLL  bandwidth(J)
LLLLLLLLLLLELLLL  bandwidth(12288*4, repetitions=2, threads=J)
EEEEEEEEEEEEEEEE  bandwidth(device=J)
LLLLLLLLLLL.LLLL  CacheSets(J, 1)  =>  got.sets == J
                  CacheSets(1, J)  =>  got.ways == J
                  CacheSets(1, 1, J)  =>  got.line == J
LLLLL.LLLLLLLLLL  CacheSets(2, 2).misses(J)  =>  got == 0
.LLLLLLLLLLLLLLL  CacheSets(2, 2).misses(x, J)  =>  got == 2
"""


def calls():
    """The letters of each call in the table, the call, and the expression for a right answer."""
    for letters, text in rows(ARGUMENTS):
        for call in text.split("; "):
            yield letters, *(call.split("  =>  ") if "=>" in call else (call, ""))


@pytest.fixture(scope="module")
def known():
    x = Layout((4, 6), itemsize=4)
    f = lambda: None  # noqa: E731
    ab, quick = {"a": f, "b": f}, {"rounds": 2}
    more = {"x": x, "z": Layout((2, 3, 4), itemsize=8), "T": torch.ones(4, 6), "f": f, "ab": ab}
    more |= {"m": MemorySet.of(x), "audited": stridekit.audit(f), "quick": quick}
    return NAMES | more | {"cmp": timing.compare(ab, **quick)}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("letters", "call", "right"), [*calls()], ids=lambda v: v)
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
        assert met == letter, junk
        if met != ".":
            continue
        if right:
            assert eval(right, known, {"J": value, "got": got}), f"{junk}: {got}"
        else:
            tensors = known | {"x": like(known["x"]), "z": like(known["z"])}
            assert agree.numbers(got) == agree.numbers(eval(call, tensors, {"J": value})), junk


# Every name -------------------------------------------------------------------------------------------

# What only tells what was found, by an expression.
TOLD = """
x.ndim; x.numel; x.stride; x.span; x.copied
x.memory_format; x.is_dense(); x.why_not_dense(); x.why_not_torch()
x; m; explain(x); explain_view(T.t(), 24); diagnose("shape '[5, -1]' is invalid for input of size 24")
relation(x, x); traffic(x); CacheSets(64, 8); warp_sectors(x); self_check(); cmp; cmp.ratios['b']
measure(f, min_run_time=1e-4); bandwidth(12288, repetitions=2); claim(ab, 1, **quick)
gpu.gpu_results('matmul'); timing.machine(); timing.hierarchy(); timing.hierarchy()['L1']
timing.why_no_cuda(); m.where; m.counts_from_storage
LayoutError('no'); timing.TimingError('no'); timing.TooShort('no'); Undecided('no')
z[..., :2].view_as_complex(); matmul_copies(x, x.mT); audited; audited.copied
"""


@pytest.fixture(scope="module")
def found(known):
    return {call: eval(call, known) for call in re.split("; |\n", TOLD.strip())}


def test_every_public_name_has_a_row(found):
    """Give a new one a column, a row for each parameter, a random family, or a place in TOLD."""
    text = " ".join([*COLUMNS, *fuzz_layout.CASES, TOLD, ARGUMENTS])
    rows = {*re.findall(r"\w+", text), *(type(value).__name__ for value in found.values())}
    every = {*stridekit.__all__, *timing.__all__, *dir(Layout), *dir(MemorySet)}
    assert {name for name in every if not name.startswith("_")} <= rows


def test_results_and_errors_are_the_same_after_a_copy_and_a_pickle(found):
    for value in found.values():
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert type(again) is type(value) and repr(again) == repr(value)
            assert str(again) == str(value)
            assert again == value or isinstance(value, Exception)
