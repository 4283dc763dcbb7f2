"""Arguments in words: articles as they are spoken; symbolic sizes are refused."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from stridekit import Layout, LayoutError, explain, explain_view, memset, read_element, traffic
from stridekit._arguments import a_kind

SPOKEN = (
    "an int, a float, an ndarray, a uint8, a list, an object, a NoneType, a Tensor, a dict, a set, "
    "an Index, an Exception, an UninitializedParameter, an UntypedStorage, an Undecided, an Upsample, "
    "a UserDict, a UUID, a Union, a UnicodeError, a ufunc, a Unit, an OrderedDict, a OneHot, an Euler, "
    "an LSTM, an MLP, an NDFrame, a Layout, a MemorySet, a SymInt, a Named, an X, a Y, a _Private, an Area"
).replace("an Euler", "a Euler")


@pytest.mark.parametrize("spoken", SPOKEN.split(", "))
def test_the_article_of_a_type(spoken):
    """The article follows the sound of the name, not its first letter."""
    assert a_kind(type(spoken.split(" ")[1], (), {})()) == spoken


def test_the_article_of_a_type_without_a_name():
    """Python allows such a type."""
    assert a_kind(type("", (), {})()) == "a "


def symbolic():
    """A fake tensor with symbolic sizes, as torch.export makes them, and its shape environment."""
    env = ShapeEnv()
    dynamic = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC, DimDynamic.STATIC])
    x = FakeTensorMode(shape_env=env).from_tensor(torch.ones(5, 4), symbolic_context=dynamic)
    return x, env


UNBACKED = ShapeEnv().create_unbacked_symint()
ASKED = {
    "Layout.of": (lambda x: Layout.of(x), r"shape\[0\]"),
    "explain": (lambda x: explain(x), r"shape\[0\]"),
    "explain of its transpose": (lambda x: explain(x.t()), r"shape\[1\]"),
    "explain of a flat view": (lambda x: explain(x.flatten()), r"shape\[0\]"),
    "explain of one row": (lambda x: explain(x[0]), "the size of the storage in bytes"),
    "explain_view": (lambda x: explain_view(x, -1), r"shape\[0\]"),
    "memset": (lambda x: memset(x), r"shape\[0\]"),
    "traffic": (lambda x: traffic(reads=x), r"shape\[0\]"),
    "a shape": (lambda x: Layout(x.shape), r"shape\[0\]"),
    "a stride": (lambda x: Layout((2, 3), (x.shape[0], 1)), r"stride\[0\]"),
    "an offset": (lambda x: Layout((2, 3), (3, 1), x.shape[0]), "storage_offset"),
    "an index": (lambda x: Layout((2, 3))[x.shape[0]], "an index"),
    "a slice": (lambda x: Layout((2, 3))[x.shape[0] :], "an index"),
    "a view": (lambda x: Layout((2, 3)).view(x.shape[0], 1), r"shape\[0\]"),
    "unbacked shape": (lambda x: Layout((UNBACKED, 3)), r"shape\[0\]"),
    "unbacked index": (lambda x: Layout((2, 3))[UNBACKED], "an index"),
    "unbacked element": (lambda x: read_element(torch.ones(3), UNBACKED), "an index"),
}


@pytest.mark.parametrize("name", ASKED)
def test_symbolic_sizes_are_refused(name):
    """Reading a symbolic size as a number would fix that number in the traced graph."""
    (ask, what), (x, env) = ASKED[name], symbolic()
    with pytest.raises(LayoutError, match=rf"^{what} is symbolic, .*[su]\d+.*: it stands for many"):
        ask(x)
    assert str(x.shape[0]).startswith("s") and not env.guards and not env.replacements


def test_tensors_of_a_trace_without_symbols():
    """Fake tensors with plain sizes are explained as usual."""
    with FakeTensorMode():
        x = torch.empty(5, 4)
    assert explain(x[1:]).title.endswith("shape (4, 4), stride (4, 1), storage_offset 4")
