"""Typed lines: what the scripts read and refuse, in which words, and that torch does the same."""

# ruff: noqa: E501  (a sentence stands in one line)

import inspect
import re
from random import Random

import pytest
import torch

from stridekit import Layout, LayoutError
from stridekit.widgets import AliasExplorer, StrideExplorer
from stridekit.widgets.notation import MAX_SAFE_INTEGER
from tests import fuzz, live, live_lines
from tests.live_lines import Chains, Sessions, chain, grammar, session

SIGNATURES = grammar.SIGNATURES
STEPS_FORM = ": write operations as .permute(1, 0) or [1:, ::2]"
GATHERS = "cannot stand in an index here: lists, masks and tensors gather elements into a new storage; write ints and slices, as [1:, ::2]"
ITS_NAME = "the tensor in the picture is x, write x.t() or .t()"
DIMS = "write .transpose(dim0: int, dim1: int)"

# Texts on a layout of shape (5, 8), and the shape that they come to.
READ = {
    ".permute(1, 0)": (8, 5),
    "permute((1, 0))": (8, 5),
    " permute( [ 1,0, ] )\t": (8, 5),
    ".permute(dims=(1, 0))": (8, 5),
    "T": (8, 5),
    ".transpose(dim1=0, dim0=1)": (8, 5),
    ".squeeze(dim=0)": (5, 8),
    ".squeeze(0, 1)": (5, 8),
    ".squeeze(())": (5, 8),
    ".view((40))": (40,),
    ".view(40,)": (40,),
    ".view(size=(4, -1))": (4, 10),
    ".reshape(shape=[8, 5])": (8, 5),
    ".expand(size=(2, 5, 8))": (2, 5, 8),
    ".diagonal(dim1=1, dim2=0)": (5,),
    ".diagonal(-1, dim2=1)": (4,),
    ".unfold(1, size=3, step=2)": (5, 3, 3),
    ".unfold(dimension=1, size=3, step=2)": (5, 3, 3),
    ".flatten(end_dim=0)": (5, 8),
    ".select(index=-1, dim=0)": (8,),
    ".as_strided((2,), (1,), None)": (2,),
    ".as_strided(stride=(1,), size=[2], storage_offset=38)": (2,),
    ".clone(memory_format=None)": (5, 8),
    ".clone(None)": (5, 8),
    "[1:, ::2]": (4, 4),
    "[None:2:None, -0]": (2,),
    "[::]": (5, 8),
    f"[0{' ' * 997}]": (8,),
    "[..., ..., ]": (5, 8),
    "[None, ..., 0]": (1, 5),
    ".t ( ) [1:] .T  # two views and a comment": (5, 7),
    ".t().reshape(-1)": (40,),
    "view(1, 5, 2, 4).contiguous('channels_last')": (1, 5, 2, 4),
    "view(1, 5, 2, 4).to(torch.channels_last)": (1, 5, 2, 4),
    ".to(memory_format=torch.contiguous_format)": (5, 8),
    ".transpose(0,1).reshape(-1)": (40,),
    ".narrow(1, 2, 3).swapaxes(0, axis1=1).swapdims(0, 1)": (5, 3),
    ".narrow(dim=1, start=-3, length=2)": (5, 2),
    ".unflatten(1, (2, -1)).movedim((0, 1), (-1, 0)).moveaxis(0, 1)": (4, 2, 5),
    ".mT.mH.H.adjoint()": (5, 8),
    ".broadcast_to(2, -1, 8).detach()": (2, 5, 8),
    ".flip(0, 1).flip(dims=(0,))": (5, 8),
    "[0][0].flip(-1)": (),
    ".repeat(2, 1, 1).tile(2)": (2, 5, 16),
    ".split(2)[0].split([3, 5], dim=1)[-1]": (2, 5),
    ".chunk(2)[1].unbind()[0]": (8,),
    ".unbind(dim=1) [7]": (5,),
    ".tensor_split(3, 1)[2].tensor_split((1, 2))[1]": (1, 2),
    ".hsplit(2)[1].vsplit(1, 3)[1]": (2, 4),
    ".unsqueeze(0).dsplit([2])[0]": (1, 5, 2),
    # The tensor's name, torch's functions, and what is pasted.
    "x.T": (8, 5),
    "x [1:]": (4, 8),
    "y = x.T": (8, 5),
    "x=x[1:].t();": (8, 4),
    "torch.transpose(x, 0, 1)": (8, 5),
    "y = torch.t( x )[1:]": (7, 5),
    ">>> x.view(-1, 4)": (10, 4),
    " .t() . T ,": (5, 8),
    "．ｔ（）［１：］": (7, 5),
    "view(1, 5, 2, 4).clone(‘channels_last’)": (1, 5, 2, 4),
    "[…, −1:]": (5, 1),
    "[\xa0 1]": (8,),
    "T\u200b": (8, 5),
}
# Texts that are refused, and what the refusal says.
REFUSED = {
    "": f'cannot read "" at its end{STEPS_FORM}',
    "# T": f'cannot read "" at its end{STEPS_FORM}',
    "[1:": f'cannot read "[1:" at its end{STEPS_FORM}',
    ".t()" * 101: "a chain has at most 100 steps: begin another one",
    ".t()" * 99 + ".view(7)": "cannot view shape (8, 5), stride (1, 8) as (7,): (7,) has 7 elements, the layout has 40.",
    "[]": f'cannot read "[]" at "]"{STEPS_FORM}',
    "[1,, 2]": f'cannot read "[1,, 2]" at ","{STEPS_FORM}',
    "[1 2]": f'cannot read "[1 2]" at "2"{STEPS_FORM}',
    "[1:2:3:4]": f'cannot read "[1:2:3:4]" at ":"{STEPS_FORM}',
    "[(1)]": f'cannot read "[(1)]" at "("{STEPS_FORM}',
    "[[0, 1]]": f'"[" {GATHERS}',
    "[True]": f'"True" {GATHERS}',
    "[x >= 0]": f'"x" {GATHERS}',
    "[0x1]": f'cannot read "[0x1]" at "x1"{STEPS_FORM}',
    "[1_0]": f'cannot read "[1_0]" at "_0"{STEPS_FORM}',
    "[007]": f'cannot read "[007]" at "0"{STEPS_FORM}',
    "[1.0]": f'cannot read "[1.0]" at "."{STEPS_FORM}',
    "[1e0]": f'cannot read "[1e0]" at "e0"{STEPS_FORM}',
    "[+1]": f'cannot read "[+1]" at "+"{STEPS_FORM}',
    "[-(-1)]": f'cannot read "[-(-1)]" at "("{STEPS_FORM}',
    "[٣]": f'cannot read "[٣]" at "٣"{STEPS_FORM}',
    ".view(*x)": f'cannot read ".view(*x)" at "*"{STEPS_FORM}',
    ".view(4, (6, (1)))": f'cannot read ".view(4, (6, (1)))" at "("{STEPS_FORM}',
    ".view(open('x'))": f"cannot read \".view(open('x'))\" at \"open\"{STEPS_FORM}",
    ".view(-1);.T": f'cannot read ".view(-1);.T" at ";"{STEPS_FORM}',
    ". 1": f'cannot read ". 1" at "."{STEPS_FORM}',
    ".T\n[1:]": f'cannot read ".T�[1:]" at "�"{STEPS_FORM}',
    "[\0]": f'cannot read "[�]" at "�"{STEPS_FORM}',
    "[\ud800]": f'cannot read "[�]" at "�"{STEPS_FORM}',
    "[\u200e 1]": f'cannot read "[� 1]" at "�"{STEPS_FORM}',
    "T\u200e": f'cannot read ".T�" at "�"{STEPS_FORM}',
    "\u2028T": f'cannot read "�T" at "�"{STEPS_FORM}',
    "😀" * 1000: f'cannot read "{"😀" * 1000}" at "😀"{STEPS_FORM}',
    "𝟙": f'cannot read "𝟙" at "𝟙"{STEPS_FORM}',
    ".clone('channels_last)": f"cannot read \".clone('channels_last)\" at \"'\"{STEPS_FORM}",
    ".slogdet()": f"slogdet is not known here: {', '.join(SIGNATURES)} are",
    ".numpy()": "numpy is not known here: the picture shows it",
    ".double()": "double is not known here: the elements keep their dtype in the picture",
    ".to(torch.float16)": "memory_format float16 is not one of contiguous_format, channels_last, channels_last_3d, preserve_format",
    ".expand_as(x)": "expand_as is not known here: write the sizes out, as in .expand(3, 4)",
    "roll(1)": "roll is not known here: the picture follows no such order; .flip(0), .repeat(2, 1) and .clone() copy as well",
    "x.add_(1)": "add_ is not known here: it writes; an AliasExplorer runs y.add_(1)",
    ".transpse(0, 1)": "transpse is not known here: write .transpose",
    "torch.sum(x)": "sum is not known here: it computes new values; an AliasExplorer runs y = x + 1",
    "x": f'cannot read "" at its end{STEPS_FORM}',
    "y.T": f'cannot read "y.T": {ITS_NAME}',
    "y = z[1:]": f'cannot read "y = z[1:]": {ITS_NAME}',
    "y = x + 1": f'cannot read "y = x + 1": {ITS_NAME}',
    "torch.flip(x[1:], (0,))": f'cannot read "torch.flip(x[1:], (0,))": {ITS_NAME}',
    ".split(2)": ".split(2) makes several tensors: write .split(2)[0] for the first",
    ".split(2).T": ".split(2) makes several tensors: write .split(2)[0] for the first",
    ".split(2)[1:]": f'cannot read ".split(2)[1:]" at ":"{STEPS_FORM}',
    ".split(2)[3]": ".split(2)[3] is out of range for 3 pieces: use -3 to 2",
    ".chunk(1)[-2]": ".chunk(1)[-2] is out of range for 1 piece: use -1 to 0",
    f".split(({MAX_SAFE_INTEGER}, 4))[0]": f"split_sizes ({MAX_SAFE_INTEGER}, 4) add up to {MAX_SAFE_INTEGER + 4}, dim 0 has size 5: give sizes of 0 or more that add up to it",
    ".split((2, 2))[0]": "split_sizes (2, 2) add up to 4, dim 0 has size 5: give sizes of 0 or more that add up to it",
    ".tensor_split(60000)[0]": "that would be 60,000 layouts of 2 dims, 50,000 are the most: ask for single ones by select or narrow",
    ".hsplit(3)[0]": "dim 1 of size 8 does not divide into 3 equal sections: use tensor_split, whose sections may differ by one",
    ".hsplit(sections=(2,))[0]": "cannot apply .hsplit(sections=(2,)): sections is (2,), not an int; write .hsplit(*sections: int|ints)",
    ".movedim(0, (0, 1))": "source 0 has 1 dims but destination (0, 1) has 2: give one destination for each source",
    ".movedim((0,), 1)": "source (0,) and destination 1 are of two kinds: give two ints, or two tuples",
    ".flip(0, 0)": "dims (0, 0) names dim 0 twice: give each dim once",
    ".repeat(2)": "cannot repeat shape (5, 8) (2,) times: give 2 numbers or more, of 0 or more",
    "constructor": f"constructor is not known here: {', '.join(SIGNATURES)} are",
    ".T()": "T takes no call: write .T",
    ".permute": "write .permute(), with its arguments",
    ".transpose(0)": f"cannot apply .transpose(0): dim1 is missing; {DIMS}",
    ".transpose(0, 1, 2)": f"cannot apply .transpose(0, 1, 2): it takes 2 arguments, not 3; {DIMS}",
    ".transpose(0, dim0=1)": f"cannot apply .transpose(0, dim0=1): dim0 is given twice; {DIMS}",
    ".transpose(0, axis=1)": f"cannot apply .transpose(0, axis=1): it has no axis; {DIMS}",
    ".transpose(dim0=0, 1)": f"cannot apply .transpose(dim0=0, 1): an argument without a name follows one with a name; {DIMS}",
    ".transpose(0, None)": f"cannot apply .transpose(0, None): dim1 is None, not an int; {DIMS}",
    ".transpose((0,), 1)": f"cannot apply .transpose((0,), 1): dim0 is (0,), not an int; {DIMS}",
    ".view()": "cannot apply .view(): size is missing; write .view(*size: int)",
    ".view(None)": "cannot apply .view(None): size is None, not ints in brackets, as (2, 3); write .view(*size: int)",
    ".view(size=40)": "cannot apply .view(size=40): size is 40, not ints in brackets, as (2, 3); write .view(*size: int)",
    ".view(torch.int32)": "cannot apply .view(torch.int32): the elements keep their dtype in the picture; write .view(*size: int)",
    ".view(dtype='int32')": "cannot apply .view(dtype='int32'): the elements keep their dtype in the picture; write .view(*size: int)",
    ".to(dtype=torch.int32)": "cannot apply .to(dtype=torch.int32): the elements keep their dtype in the picture; write .to(memory_format: format)",
    ".expand('a')": "cannot apply .expand('a'): size is torch.a, not ints in brackets, as (2, 3); write .expand(*size: int)",
    ".view(94906267, 94906267)": f"cannot apply .view(94906267, 94906267): size is (94906267, 94906267): a browser counts exactly up to {MAX_SAFE_INTEGER} elements; write .view(*size: int)",
    ".view(0, 94906267, 94906267)": f"cannot apply .view(0, 94906267, 94906267): size is (0, 94906267, 94906267): a browser counts exactly up to {MAX_SAFE_INTEGER} elements; write .view(*size: int)",
    ".contiguous(None)": "cannot apply .contiguous(None): memory_format is None, not a format, as torch.channels_last; write .contiguous(memory_format: format = torch.contiguous_format)",
    ".contiguous('wide')": "memory_format wide is not one of contiguous_format, channels_last, channels_last_3d",
    ".clone('channels_last')": "channels_last has 4 dims, shape (5, 8) has 2: use contiguous_format, or unsqueeze the missing dims",
    ".clone('channels_last_3d')": "channels_last_3d has 5 dims, shape (5, 8) has 2: use contiguous_format, or unsqueeze the missing dims",
    ".squeeze((0, -2))": "dim (0, -2) names dim 0 twice: give each dim once",
    ".permute(0, 0)": "(0, 0) does not name each dim of shape (5, 8) exactly once: use a permutation of (0, 1)",
    "[..., ..., 0]": "a second ... leaves no dim for what follows: give at most one",
    ".as_strided((2, 2), (-1,), -1)": "stride (-1,) has a negative one: torch has no negative strides, use .flip (a copy)",
    ".as_strided((2, 2), (1,), -1)": "storage_offset -1 is negative: a storage starts at 0",
    ".as_strided((2, -2), (1,))": "shape (2, -2) has 2 dims but stride (1,) has 1: give one stride for each dim",
    ".as_strided((2, -2), (1, 1))": "size -2 of dim 1 is negative: sizes are 0 or more",
    ".as_strided((0, 50000000), (1, 1))": ".as_strided((0, 50000000), (1, 1)): shape (0, 50000000) has a size of 50000000: the picture holds 4096; explore(t) shows a corner",
    ".as_strided((0, 4097), (1, 1))": ".as_strided((0, 4097), (1, 1)): shape (0, 4097) has a size of 4097: the picture holds 4096; explore(t) shows a corner",
    f".as_strided((2,), ({MAX_SAFE_INTEGER},))": f".as_strided((2,), ({MAX_SAFE_INTEGER},)): numbers beyond {MAX_SAFE_INTEGER} are not exact in a browser",
    ".unfold(0, 2, 0)": "step is 0: give 1 or more",
    ".unfold(0, -1, 1)": "a window of -1 does not fit dim 0 of size 5",
    f".as_strided((1,), ({MAX_SAFE_INTEGER},)).unsqueeze(0)[::2]": f"[::2]: numbers beyond {MAX_SAFE_INTEGER} are not exact in a browser",
    f"[{MAX_SAFE_INTEGER + 1}]": f"{MAX_SAFE_INTEGER + 1} is too large: a browser counts exactly up to {MAX_SAFE_INTEGER}",
    f"[-{'9' * 900}]": f"{'9' * 900} is too large: a browser counts exactly up to {MAX_SAFE_INTEGER}",
    "[" + "0, " * 400 + "]": "a line has at most 1000 characters: write several",
    "[" + "0, " * 300 + "]": "300 indices for shape (5, 8): it has 2 dims",
    "(" * 999: f'cannot read "{"(" * 999}" at "("{STEPS_FORM}',
}  # fmt: skip

LINE_FORM = (
    ": write y = x[1:, ::2] or y = x + 1 to make a tensor, y += 100 or y[0] = 7 to write to one"
)
# Lines on x of shape (4, 6), with what they do, or how they are refused.
LINES = {
    "y=x[1:]": "view",
    "\ty = x [1:] . t() ;": "view",
    "y = torch.flip(x, (0,))": "copy",
    "y = x.chunk(2)[1].unflatten(1, (2, 3))": "view",
    "y = x.view(1, 2, 3, 4).contiguous('channels_last')": "copy",
    "y = x.clone(None)": "copy",
    "y = x.expand_as(x)": "expand_as is not known here: write the sizes out, as in .expand(3, 4)",
    "y = x [1:] .t()  # view: nothing was copied\n": "view",
    "y = x.squeeze(dim=0)": "view",
    "y = x.permute(dims=(1, 0)).reshape(shape=(-1,))": "copy",
    "y = x - -1": "copy",
    "y = -3*x": "copy",
    "y = x--1": "copy",
    "x.add_(x,)": "write",
    "x.fill_( -1 )": "write",
    "x [0]-=-1": "write",
    "y = x" + ".T" * 490: "view",
    "y = x" + ".t()" * 5000: "a line has at most 1000 characters: write several",
    "y = 5": f'cannot read "y = 5" at its end{LINE_FORM}',
    "y = 5 + 1": f'cannot read "y = 5 + 1" at its end{LINE_FORM}',
    "y = (x)": f'cannot read "y = (x)" at "("{LINE_FORM}',
    "y = x + 0x1": f'cannot read "y = x + 0x1" at "x1"{LINE_FORM}',
    "y = x + True": "True is not one of x, y and z: the picture has room for these three",
    "y = x + 1.0": f'cannot read "y = x + 1.0" at "."{LINE_FORM}',
    "y = -x": f'cannot read "y = -x" at "x"{LINE_FORM}',
    "y = x + 1 + 1": f'cannot read "y = x + 1 + 1" at "+"{LINE_FORM}',
    "y, z = x.chunk(2)": f'cannot read "y, z = x.chunk(2)" at ","{LINE_FORM}',
    "y = x; z = x": f'cannot read "y = x; z = x" at ";"{LINE_FORM}',
    "y = x\nz = x": f'cannot read "y = x�z = x" at "�"{LINE_FORM}',
    "y = \\x": f'cannot read "y = \\x" at "\\"{LINE_FORM}',
    "y = x = x": f'cannot read "y = x = x" at "="{LINE_FORM}',
    "y == x": f'cannot read "y == x" at "="{LINE_FORM}',
    "y: int = x": f'cannot read "y: int = x" at ":"{LINE_FORM}',
    "y = x.add_(1)": f'cannot read "y = x.add_(1)" at ".add_"{LINE_FORM}',
    "x.T += 3": f'cannot read "x.T += 3" at "+="{LINE_FORM}',
    "x /= 3": f'cannot read "x /= 3" at "/"{LINE_FORM}',
    "x xadd_(3)": f'cannot read "x xadd_(3)" at "xadd_"{LINE_FORM}',
    "x.fill_(x)": f'cannot read "x.fill_(x)" at "x"{LINE_FORM}',
    "x.copy_(1)": f'cannot read "x.copy_(1)" at "1"{LINE_FORM}',
    "x.neg_(1)": f'cannot read "x.neg_(1)" at "1"{LINE_FORM}',
    "x.add_()": f'cannot read "x.add_()" at ")"{LINE_FORM}',
    "x.add_(other=1)": f'cannot read "x.add_(other=1)" at "="{LINE_FORM}',
    "x.add_": f'cannot read "x.add_" at its end{LINE_FORM}',
    "x": f'cannot read "x" at its end{LINE_FORM}',
    "import os": f'cannot read "import os" at "os"{LINE_FORM}',
    "x.__class__": f"__class__ is not known here: {', '.join(SIGNATURES)} are",
    "y = x.clone('channels_last')": "channels_last has 4 dims, shape (4, 6) has 2: use contiguous_format, or unsqueeze the missing dims",
    f"x += {2**64}": f"{2**64} is too large: a browser counts exactly up to {MAX_SAFE_INTEGER}",
    f"x.fill_(-{MAX_SAFE_INTEGER})": "x would pass 99999: the boxes hold five digits",
    "y = x.as_strided((0, 50000000), (1, 1))": "x.as_strided((0, 50000000), (1, 1)) would have a size of 50000000: the picture holds 96",
    "y = x.as_strided((0, 97), (1, 1))": "x.as_strided((0, 97), (1, 1)) would have a size of 97: the picture holds 96",
    "y = x[1:] [0].as_strided((1,), (1,), 24)": "x[1:][0].as_strided((1,), (1,), 24) would reach element 24, and the storage ends at 23",
    f"y = x.as_strided((2,), ({MAX_SAFE_INTEGER},))": f"x.as_strided((2,), ({MAX_SAFE_INTEGER},)): numbers beyond {MAX_SAFE_INTEGER} are not exact in a browser",
    "x[:1, 0].expand(2)[:] = x[0, 0]": "x[:1, 0].expand(2)[:][0] and x[:1, 0].expand(2)[:][1] are both element 0, and torch refuses: \"unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.\"",
    f"y = x.unfold(1, 6, {MAX_SAFE_INTEGER})": "view",  # a step that nothing takes
    "y = x[None, 4:] + 1": "copy",
    "y = x[:, 6:].t() + 1": "copy",
    "__proto__ = x": "__proto__ is not one of x, y and z: the picture has room for these three",
    "y = constructor": "constructor is not one of x, y and z: the picture has room for these three",
}  # fmt: skip


def typed(text):
    """The stages of a text on the layout of shape (5, 8)."""
    return chain.stagesOf(
        Chains(Layout((5, 8), itemsize=4), 40).start | {"steps": [text]}, 40, None
    )


@pytest.mark.parametrize("text", READ)
def test_steps_are_read_as_torch_reads_them(text):
    """torch runs the text that is written; what is written is read again."""
    *_, last = stages = typed(text)
    assert tuple(last["layout"]["shape"]) == READ[text]
    assert typed("".join(stage["text"] for stage in stages[1:])) == stages
    assert Chains(Layout((5, 8), itemsize=4), 40, [f"v{k}" for k in range(40)]).type(text)


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:30])
def test_other_texts_are_refused(text):
    """The whole sentence is compared; torch refuses, too."""
    with pytest.raises(LayoutError) as refusal:
        typed(text)
    assert str(refusal.value) == REFUSED[text]
    assert not Chains(Layout((5, 8), itemsize=4), 40).type(text)


@pytest.mark.parametrize("text", LINES, ids=lambda text: text[:30])
def test_lines(text):
    """The kind of a line, or the whole refusal; torch runs or refuses the line as well."""
    try:
        found = session.sessionOf({"shape": [4, 6], "steps": [text]})["log"][0]["kind"]
    except LayoutError as error:
        found = str(error)
    assert found == LINES[text]
    assert Sessions((4, 6)).type(text) == (found in ("view", "copy", "write"))


CALLED = [name for name in SIGNATURES if SIGNATURES[name] is not None and name != "to"]


@pytest.mark.parametrize("name", CALLED)
def test_parameters_have_torchs_names(name):
    """The order is torch's; `implicit` of expand is not for callers, and `to` takes a dtype first."""
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    known = [[a.name for a in schema.arguments[1:] if a.name != "implicit"] for schema in schemas]
    assert re.findall(r"(\w+):", SIGNATURES[name]) in known


def test_properties_are_properties():
    for name, signature in SIGNATURES.items():
        assert (signature is None) == isinstance(inspect.getattr_static(Layout, name), property)


def test_drawn_lines_are_compared():
    """They are families of the fuzz; a good share of the lines is accepted."""
    assert set(live_lines.CASES) <= set(live.CASES) <= set(fuzz.FAMILIES)
    for family in live_lines.CASES:
        live_lines.DRAWN.clear()
        for number in range(60):
            live.CASES[family](Random(number))
        assert 0.2 < live_lines.DRAWN[family, True] / live_lines.DRAWN.total() < 0.7


def test_several_steps_in_one_text():
    """Each becomes a step of its own, from Python or the page; if one is refused, all are."""
    explorer = StrideExplorer()
    explorer.chain = ["permute(1, 0)[1:]", ".T"]
    assert explorer.chain == (".permute(1, 0)", "[1:]", ".T")
    chain = {**explorer._state["chain"], "steps": ["T[1:]", "T # no more"]}
    explorer.set_state({"_state": {**explorer._state, "chain": chain}})
    assert explorer.chain == (".T", "[1:]", ".T")
    before = explorer._state
    with pytest.raises(LayoutError, match="dims 0 and 1 do not merge"):
        explorer.chain = ".T.view(-1)"
    assert explorer._state is before


@pytest.mark.parametrize("text", ["(" * 10**6, "y = " + "x[" * 10**5, "\ud800" * 10**5])
def test_long_texts_end_in_words(text):
    """From Python and from the browser, without deep recursion."""
    for make, value in ((AliasExplorer, [text]), (StrideExplorer, [text])):
        with pytest.raises(LayoutError, match="at most 1000 characters"):
            setattr(make(), "steps" if make is AliasExplorer else "chain", value)
    with pytest.raises(LayoutError, match="at most 1000 characters"):
        AliasExplorer().set_state({"_state": {"shape": [4, 6], "steps": [text]}})
