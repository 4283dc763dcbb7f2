"""Findings of audit: planted defects by kind, line and bytes, and none where they are mended."""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import einops
import pytest
import torch
import torch.fx
import torch.nn.functional as F
from torch import nn

import stridekit
from stridekit._arguments import in_bytes
from stridekit.audit.findings import (
    EXPLICIT,
    GRADIENT,
    IDLE,
    KINDS,
    LEAVE_FIRST,
    LEAVE_OUT,
    LOST,
    MIXED,
    NO_SMALLER,
    OF_OP,
    OWN,
    REPEATED,
    RESHAPE,
    SMALL,
    TRIP,
    TWO,
    WRITE_GRADIENT,
    WRITTEN_OUT,
)
from tests.core.audit_defects import DEFECTS, LAST, image, last, randn


@pytest.mark.parametrize("defect", DEFECTS.values(), ids=DEFECTS)
def test_a_planted_defect_is_found_and_nothing_where_it_is_mended(defect):
    (finding,) = stridekit.audit(defect.planted, *defect.inputs).findings
    assert (finding.kind, finding.bytes) == (defect.kind, defect.bytes)
    assert finding.first.place.line == defect.planted.__code__.co_firstlineno
    assert (finding.cause.expression if finding.cause else "") == defect.cause
    assert stridekit.audit(defect.clean, *defect.inputs).findings == ()


def test_each_kind_is_planted():
    assert {defect.kind for defect in DEFECTS.values()} == {*KINDS} - {
        GRADIENT,
        WRITE_GRADIENT,
        OWN,
    }
    assert len(DEFECTS) >= 40


# Near misses ----------------------------------------------------------------------------------------


def two_layouts(x):
    y = x.permute(0, 2, 1, 3) * 1
    return y.contiguous(), y.to(memory_format=LAST)


def written_in_between(w):
    before = w.t().contiguous()
    w.add_(1)
    return before, w.t().contiguous()


def in_windows(x):
    rows = image(x).permute(0, 2, 3, 1)
    return rows.view(2, 3, 2, 3, 2, 4).transpose(2, 3).reshape(-1, 2, 2, 4)


def there_and_twice_back(x):
    turned = x.t().contiguous()
    return (turned + 1).t().contiguous(), (turned * 2).t().contiguous()


def on_another_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def called_twice(x, y):
    def helper(t):
        return t.contiguous()

    return helper(x), helper(y)


def attend(x, y):
    return ATTENTION(x, y, y, need_weights=False)[0]


ATTENTION = nn.MultiheadAttention(16, 2, batch_first=True).eval().requires_grad_(False)
TABLE = randn(6, 6, 4)
ROW_MAJOR = torch.contiguous_format
PHOTO = last(2, 4, 6, 6)
X = randn(4, 6)


class NearMiss(NamedTuple):
    """Code that differs in one thing from code with another finding, and the kinds that audit finds."""

    function: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    kinds: list[str]


NEAR = {
    "two layouts are no repeated copy": NearMiss(
        function=two_layouts,
        inputs=(randn(2, 3, 4, 5),),
        kinds=[EXPLICIT, EXPLICIT],
    ),
    "a tensor that changes is copied anew": NearMiss(
        function=written_in_between,
        inputs=(randn(4, 6),),
        kinds=[EXPLICIT, EXPLICIT],
    ),
    "a tensor that had changed before is copied anew": NearMiss(
        function=lambda w: written_in_between(w.add_(1)),
        inputs=(randn(4, 6),),
        kinds=[EXPLICIT, EXPLICIT],
    ),
    "a part that comes back is no round trip": NearMiss(
        function=lambda x: x.t().contiguous()[:2].t().contiguous(),
        inputs=(X,),
        kinds=[EXPLICIT, EXPLICIT],
    ),
    "two tensors are no repeated copy": NearMiss(
        function=lambda x, y: (x.t().contiguous(), y.t().contiguous()),
        inputs=(X, randn(4, 6)),
        kinds=[EXPLICIT, EXPLICIT],
    ),
    "a bias is no image": NearMiss(
        function=lambda x: x.permute(2, 0, 1).unsqueeze(0).contiguous(),
        inputs=(TABLE,),
        kinds=[EXPLICIT],
    ),
    "a sum of biases has no formats": NearMiss(
        function=lambda x, y: x.permute(2, 0, 1).unsqueeze(0) + y,
        inputs=(TABLE, randn(1, 4, 6, 6)),
        kinds=[],
    ),
    "an input of an image op is an image": NearMiss(
        function=lambda x: image(x.contiguous()),
        inputs=(PHOTO,),
        kinds=[LOST],
    ),
    "windows of an image keep its channels last": NearMiss(
        function=in_windows,
        inputs=(PHOTO,),
        kinds=[RESHAPE],
    ),
    "a copy at the door is asked for": NearMiss(
        function=lambda x: x.to(memory_format=LAST),
        inputs=(randn(2, 4, 6, 6),),
        kinds=[],
    ),
    "clone copies by its name": NearMiss(
        function=lambda x: x.t().clone(memory_format=torch.contiguous_format),
        inputs=(X,),
        kinds=[],
    ),
    "another dtype is no layout": NearMiss(
        function=lambda x: x.t().to(torch.float64),
        inputs=(X,),
        kinds=[],
    ),
    "one size is in both formats": NearMiss(
        function=lambda x, y: image(x) + y,
        inputs=(last(2, 1, 6, 6), randn(2, 1, 6, 6)),
        kinds=[],
    ),
    "a module is told apart": NearMiss(
        function=nn.Sequential(nn.Flatten(0), nn.Unflatten(0, (6, 4)), nn.Flatten(0)),
        inputs=(X.t(),),
        kinds=[RESHAPE],
    ),
    "a view of a quarter is small": NearMiss(
        function=lambda x: (x * 2)[:2],
        inputs=(randn(8, 8),),
        kinds=[SMALL],
    ),
    "a larger one is not": NearMiss(
        function=lambda x: (x * 2)[:3],
        inputs=(randn(8, 8),),
        kinds=[],
    ),
    "three small views of one tensor": NearMiss(
        function=lambda x: [y.unbind()[:3] for y in [x * 2]],
        inputs=(randn(8, 8),),
        kinds=[],
    ),
    "two small views of one tensor": NearMiss(
        function=lambda x: [y.unbind()[:2] for y in [x * 2]],
        inputs=(randn(8, 8),),
        kinds=[SMALL],
    ),
    "one number, expanded": NearMiss(
        function=lambda x: (x * 2)[0, 0].expand(100),
        inputs=(randn(8, 8),),
        kinds=[SMALL],
    ),
    "a small view of an input": NearMiss(
        function=lambda x: x[0],
        inputs=(randn(8, 8),),
        kinds=[],
    ),
    "a call on another thread": NearMiss(
        function=lambda x: on_another_thread(lambda: x.contiguous()),
        inputs=(X,),
        kinds=[],
    ),
    "a call that does nothing": NearMiss(
        function=lambda x: called_twice(x, x * 2),
        inputs=(X,),
        kinds=[IDLE],
    ),
    "a call that copies elsewhere in the run": NearMiss(
        function=lambda x: called_twice(x, x.t()),
        inputs=(X,),
        kinds=[EXPLICIT],
    ),
    "contiguous that torch calls itself": NearMiss(
        function=lambda w: F.embedding(torch.tensor([1, 2]), w, max_norm=1.0),
        inputs=(X,),
        kinds=[],
    ),
    "to another device or dtype is no call for a layout": NearMiss(
        function=lambda x: x.to("cpu").to(torch.float32) * 2,
        inputs=(X,),
        kinds=[],
    ),
    "clone in a loop is a repeated copy": NearMiss(
        function=lambda x: [x.t().clone(memory_format=ROW_MAJOR) for _ in range(2)],
        inputs=(X,),
        kinds=[REPEATED],
    ),
    "clone there is half of a round trip": NearMiss(
        function=lambda x: torch.relu(x.t().clone(memory_format=ROW_MAJOR)).t().contiguous(),
        inputs=(X,),
        kinds=[TRIP],
    ),
    "clone back is half of a round trip": NearMiss(
        function=lambda x: torch.relu(x.t().contiguous()).t().clone(memory_format=ROW_MAJOR),
        inputs=(X,),
        kinds=[TRIP],
    ),
    "one op that copies a tensor twice does not repeat it": NearMiss(
        function=lambda x: torch.linalg.lstsq(x, x),
        inputs=(randn(5, 3),),
        kinds=[OF_OP],
    ),
    "a copy inside an op is not half of a round trip": NearMiss(
        function=lambda x: F.layer_norm(x.permute(0, 2, 1), (5,)).permute(0, 2, 1).contiguous(),
        inputs=(randn(2, 5, 4),),
        kinds=[OF_OP, EXPLICIT],
    ),
    "there, back and there again are one round trip": NearMiss(
        function=lambda x: x.t().contiguous().t().contiguous().t().contiguous(),
        inputs=(X,),
        kinds=[TRIP, EXPLICIT],
    ),
    "there and twice back are one round trip": NearMiss(
        function=there_and_twice_back,
        inputs=(X,),
        kinds=[TRIP, EXPLICIT],
    ),
    "a part of an image that is an image no more": NearMiss(
        function=lambda x: image(x)[:, :, 0].view(2, 2, 2, 6).contiguous(),
        inputs=(PHOTO,),
        kinds=[EXPLICIT],
    ),
    "a write in place keeps its format": NearMiss(
        function=lambda x, y: image(x).add_(y),
        inputs=(PHOTO, randn(2, 4, 6, 6)),
        kinds=[],
    ),
    "an image that an op makes of nothing": NearMiss(
        function=lambda: image(torch.zeros(2, 4, 6, 6)),
        inputs=(),
        kinds=[],
    ),
    "a convolution whose copies are not seen": NearMiss(
        function=lambda x, w: F.conv2d(x, w),
        inputs=(PHOTO.to("meta"), randn(4, 4, 3, 3).to("meta")),
        kinds=[TWO],
    ),
    "a convolution of one format whose copies are not seen": NearMiss(
        function=lambda x, w: F.conv2d(x, w),
        inputs=(PHOTO.to("meta"), last(4, 4, 3, 3).to("meta")),
        kinds=[],
    ),
    "contiguous on the same line": NearMiss(
        function=lambda x: attend(x.contiguous(), x + 1),
        inputs=(randn(2, 6, 16),),
        kinds=[IDLE],
    ),
}


@pytest.mark.parametrize("name", NEAR)
def test_a_near_miss_is_told_apart(name):
    function, inputs, kinds = NEAR[name]
    assert [x.kind for x in stridekit.audit(function, *inputs).findings] == kinds


def test_a_call_that_does_nothing_in_a_module():
    class Idle(nn.Module):
        def forward(self, x):
            return x.contiguous() * 2

    (finding,) = stridekit.audit(Idle(), X.clone().requires_grad_(), backward=True).findings
    first = finding.first
    assert (first.kind, first.module, first.backward, first.bytes) == (IDLE, "Idle", False, 0)
    assert first.layouts == ((4, 6), (6, 1), (6, 1))


class Both(torch.autograd.Function):
    """Copies one tensor in the forward pass, and again in a backward pass of the reader's."""

    @staticmethod
    def forward(ctx, x):
        ctx.turned = x.t()
        return ctx.turned.contiguous()

    @staticmethod
    def backward(ctx, grad):
        return (grad * ctx.turned.contiguous()).t()


class Back(torch.autograd.Function):
    """Turns a tensor in the forward pass, and turns it back in the backward pass."""

    @staticmethod
    def forward(ctx, x):
        ctx.rows = x.t().contiguous()
        return ctx.rows * 2

    @staticmethod
    def backward(ctx, grad):
        return ctx.rows.t().contiguous()


class LostBackward(torch.autograd.Function):
    """Writes the gradient of an image in rows."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return image(grad).contiguous()


@pytest.mark.parametrize(
    ("function", "x", "is_backward"),
    [
        pytest.param(Both, randn(4, 6), [False, True], id="no repeated copy"),
        pytest.param(Back, randn(4, 6), [False, True], id="no round trip"),
        pytest.param(LostBackward, last(2, 4, 6, 6), [True], id="no loss of a format"),
    ],
)
def test_copies_of_the_two_passes_are_told_apart(function, x, is_backward):
    audit = stridekit.audit(function.apply, x.requires_grad_(), backward=True)
    occurrences = [x for finding in audit.findings for x in finding.occurrences]
    assert [x.kind for x in occurrences] == [EXPLICIT] * len(is_backward)
    assert [x.backward for x in occurrences] == is_backward


def test_a_gradient_of_two_formats_is_not_the_readers():
    photo = last(2, 4, 6, 6).requires_grad_()
    audit = stridekit.audit(lambda x, y: image(x) * y, photo, randn(2, 4, 6, 6), backward=True)
    (finding,) = audit.findings
    assert [(x.kind, x.backward) for x in finding.occurrences] == [(MIXED, False)]


def test_a_convolution_of_two_formats_is_about_its_input():
    weight = randn(4, 4, 3, 3).to("meta")
    (finding,) = stridekit.audit(F.conv2d, PHOTO.to("meta"), weight).findings
    assert (finding.kind, finding.bytes, finding.copied) == (TWO, 1152, 0)
    assert (finding.made_by, finding.first.layouts[1]) == ("input 0", PHOTO.stride())


def test_without_a_line_of_the_readers_no_call_is_the_ops_own():
    """A call that begins on a thread's stack may be several of somebody's."""
    x = randn(2, 1, 3, 4)
    y = randn(1, 2, 4, 3)
    assert stridekit.audit(torch.matmul, x, y).findings == ()
    with ThreadPoolExecutor(1) as pool:
        audit = pool.submit(stridekit.audit, torch.matmul, x, y).result()
    (finding,) = audit.findings
    assert (finding.first.place, finding.kind, audit.own) == (None, WRITTEN_OUT, ())
    assert "line     not known" in str(audit)


class Keeper:
    def __init__(self):
        self.rows = {"first": []}


def test_small_views_are_found_wherever_a_program_keeps_them():
    keeper = Keeper()
    block = nn.Identity()
    with stridekit.audit() as listed:
        keeper.rows["first"].append((randn(8, 8) * 2)[0])
    with stridekit.audit() as held:
        block.held = (randn(8, 8) * 3)[0]
    with stridekit.audit() as dropped:
        (randn(8, 8) * 4)[0].sum()
    assert [len(audit.findings) for audit in (listed, held, dropped)] == [1, 1, 0]


def test_a_large_dict_hides_nothing_that_lies_beside_it():
    large = {k: [k] for k in range(10_000)}
    rows = []
    with stridekit.audit() as whole:
        y = randn(8, 8) * 2
        rows.append(y)
        row = y[0]
        del y
    assert len(row) == 8 and whole.findings == ()
    rows.clear()
    with stridekit.audit() as small:
        rows.append([(randn(8, 8) * 2)[0].numpy()])
    assert [finding.kind for finding in small.findings] == [SMALL]
    assert len(large) == 10_000


def test_what_many_frames_refer_to_is_searched_once(monkeypatch):
    """The frames of a notebook or a test runner lead to the same objects."""
    from stridekit.audit import record

    everything = {k: {k: [k]} for k in range(1000)}
    rings = [everything]
    rings.append(rings)

    def called(frames, everything, rings):
        if frames > 1:
            return called(frames - 1, everything, rings)
        with stridekit.audit() as small:
            row = (randn(8, 8) * 2)[0]
        assert [finding.kind for finding in small.findings] == [SMALL]
        return row

    counted = mock.Mock(wraps=record.gc)
    monkeypatch.setattr(record, "gc", counted)
    costs = []
    for frames in (1, 20):
        counted.get_referents.reset_mock()
        called(frames, everything, rings)
        costs.append(counted.get_referents.call_count)
    assert costs[1] < costs[0] + 20 * 10


# One cause is one finding; every call has its own -----------------------------------------------------


def test_copies_of_one_layout_are_one_finding():
    def heads(x):
        turned = x.transpose(0, 1)
        once = turned.reshape(-1)
        again = (turned + 1).contiguous()
        return once, again, turned @ torch.ones(6, 3)

    (finding,) = stridekit.audit(heads, randn(6, 4)).findings
    assert finding.copied == sum(x.copied for x in finding.occurrences) == 2 * 96
    assert [occurrence.kind for occurrence in finding.occurrences] == [RESHAPE, EXPLICIT]
    assert finding.cause.expression == "x.transpose(0, 1)"
    assert "192 B in 2 copies" in str(stridekit.audit(heads, randn(6, 4)))


class Written(nn.Module):
    def forward(self, x):
        return torch.relu(x.t()).reshape(-1)


class Overrides(torch.Tensor):
    """A subclass as torch documents it: functions that it has no entry for are torch's own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class Strict(torch.Tensor):
    """A subclass that refuses all that it does not handle, look-ups of its shape as well."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in (torch.Tensor.t, torch.Tensor.contiguous):
            raise TypeError(f"no implementation of {func}")
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def reduced(x, *ops):
    return functools.reduce(lambda h, op: op(h), ops, x)


NORMALIZE = functools.partial(
    torch.native_layer_norm, normalized_shape=[4], weight=None, bias=None, eps=1e-5
)


ONE_LINE = {
    "reduce": (lambda x: reduced(x, torch.t, torch.relu, torch.ravel), X),
    "reduce by ops that torch does not take apart": (lambda x: reduced(x, torch.t, NORMALIZE), X),
    "interpreter": (torch.fx.Interpreter(torch.fx.symbolic_trace(Written())).run, randn(4, 6)),
    "graph": (torch.fx.symbolic_trace(Written()), randn(4, 6)),
    "overrides": (
        lambda x: torch.relu(x.t()).reshape(-1),
        randn(4, 6).as_subclass(Overrides),
    ),
    "strict": (lambda x: x.t().contiguous(), randn(4, 6).as_subclass(Strict)),
}


@pytest.mark.parametrize(("function", "x"), ONE_LINE.values(), ids=ONE_LINE)
def test_ops_that_one_line_calls_have_their_findings(function, x):
    audit = stridekit.audit(function, x)
    assert [finding.copied for finding in audit.findings] == [96] and audit.own == ()
    with pytest.raises(AssertionError, match="copied 96 B to change layouts"):
        audit.assert_no_copies()


def test_a_call_that_makes_a_layout_and_copies_it_is_listed_by_its_line():
    q = randn(1, 2, 5, 8)
    k = randn(2, 2, 5, 8)
    audit = stridekit.audit(lambda q, k: F.scaled_dot_product_attention(q, k, k + 1), q, k)
    (own,) = audit.own
    assert (audit.findings, own.kind, own.copied) == ((), OWN, 640)
    assert own.first.place.expression == "F.scaled_dot_product_attention(q, k, k + 1)"
    assert "640 B, the op's own copy, in scaled_dot_product_attention" in str(audit)
    assert "q, k and v have batches of 1, 2 and 2" in own.advice
    with pytest.raises(AssertionError, match="copied 640 B"):
        audit.assert_no_copies()
    audit.assert_no_copies(allow=[OWN])


def test_a_package_beside_torch_is_the_readers():
    """In site-packages, with a name that begins with torch's: paths are compared by their parts."""
    file = f"{Path(torch.__file__).parent}_beside_stridekit.py"
    names = {}
    source = "def heads(x):\n    turned = x.t()\n    return turned.reshape(-1)\n"
    exec(compile(source, file, "exec"), names)
    (finding,) = stridekit.audit(names["heads"], X).findings
    assert (finding.first.place.line, finding.cause.line, finding.kind) == (3, 2, RESHAPE)


# Names ----------------------------------------------------------------------------------------------


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(randn(4, 6).t())
        self.register_buffer("mask", randn(4, 6).t())

    def forward(self, x):
        return x + self.table.reshape(-1)


def test_a_parameter_and_a_buffer_have_their_names():
    model = nn.Sequential(nn.Identity(), Turned())
    masked = nn.Sequential(nn.Identity(), Turned())
    masked[1].forward = lambda x: x + masked[1].mask.reshape(-1)
    w = X.t()
    with stridekit.audit() as block:
        model(randn(24))
    for audit, name in (
        (block, "table of Sequential.1"),
        (stridekit.audit(model, randn(24)), "table of 1"),
        (stridekit.audit(masked, randn(24)), "mask of 1"),
        (stridekit.audit(masked[1], randn(24)), "mask"),
        (stridekit.audit(lambda: w.reshape(-1)), "a tensor from before the run"),
    ):
        assert [finding.made_by for finding in audit.findings] == [name]


def test_where_formats_meet_the_line_that_changed_one_is_named():
    conv = nn.Conv2d(4, 4, 3, padding=1).to(memory_format=LAST)

    def forward(x):
        y = conv(x)
        rows = y.contiguous()
        return torch.relu(rows) + y, conv(rows)

    audit = stridekit.audit(forward, last(2, 4, 6, 6))
    causes = {finding.kind: finding.cause for finding in audit.findings}
    assert {*causes} == {LOST, MIXED, TWO}
    assert causes[LOST] is None
    assert causes[MIXED].expression == causes[TWO].expression == "y.contiguous()"


def test_a_copy_into_channels_last_3d_is_blamed_on_the_line_that_left_it():
    film = randn(2, 3, 4, 4, 4).to(memory_format=torch.channels_last_3d)

    def forward(x):
        y = x * 2
        rows = y.contiguous()
        part = torch.relu(rows[:1])
        return part.to(memory_format=torch.channels_last_3d)

    audit = stridekit.audit(forward, film)
    back = [x for x in audit.findings if "channels_last_3d" in x.first.place.expression]
    assert [finding.cause.expression for finding in back] == ["y.contiguous()"]


def test_copies_by_autograd_are_labelled_with_the_forward_line():
    def forward(x, w):
        turned = x.transpose(1, 2)
        return F.linear(turned, w).transpose(1, 2).contiguous()

    x = randn(2, 6, 5).requires_grad_()
    w = randn(7, 6).requires_grad_()
    audit = stridekit.audit(forward, x, w, backward=True)
    by_autograd = []
    for finding in audit.findings:
        by_autograd += [x for x in finding.occurrences if x.kind == GRADIENT]
        if all(occurrence.backward for occurrence in finding.occurrences):
            assert "leave it out" not in finding.advice
    assert by_autograd and all(occurrence.backward for occurrence in by_autograd)
    assert {occurrence.place.expression for occurrence in by_autograd} <= {
        "x.transpose(1, 2)",
        "F.linear(turned, w)",
        "F.linear(turned, w).transpose(1, 2)",
        "F.linear(turned, w).transpose(1, 2).contiguous()",
    }


def added(x):
    y = x * 2
    y[:, 1:] += 1
    return y


def set_to_zero(x):
    y = x * 2
    y[0] = 0
    return y


def masked(x):
    y = x * 2
    y[:, 0].relu_()
    return y.relu()


def added_without_gradient(x):
    y = x.detach() * 2
    y[:, 1:] += 1
    return y + x


def added_to_all(x):
    y = x * 2
    y += 1
    return y


def padded(x):
    return x * 2 + F.pad(torch.ones(4, 5), (1, 0))


WRITES = {
    # the lines that write to a view, and the calls of the first one
    "an addition": (added, ["y[:, 1:]", "y[:, 1:] += 1"]),
    "a number": (set_to_zero, ["y[0]"]),
    "a method": (masked, ["y[:, 0].relu_()"]),
    "without a gradient": (added_without_gradient, []),
    "to the whole tensor": (added_to_all, []),
    "the cure": (padded, []),
}


@pytest.mark.parametrize("name", WRITES)
def test_the_gradient_of_a_write_to_a_view_is_on_the_line_of_the_write(name):
    function, expressions = WRITES[name]
    x = randn(4, 6).requires_grad_()
    audit = stridekit.audit(function, x, backward=True)
    found = [finding for finding in audit.findings if finding.kind == WRITE_GRADIENT]
    occurrences = found[0].occurrences if found else ()
    assert [x.place.expression for x in occurrences] == expressions
    assert len(found) == bool(expressions)
    assert all(x.bytes >= 4 * 24 and x.copied < x.bytes for x in occurrences)
    if expressions:  # the line of the audit is named for the gradient of the leaf alone
        late = [event for event in audit.events if event.by_engine and event.name != "detach"]
        assert "audit(" not in str([event.place for event in late])
    explained = sum(finding.copied for finding in (*audit.findings, *audit.own))
    assert explained == audit.bytes


CAUSES = {
    # the source of the line that made the layout, and how many ops lie on the path from it to the copy
    "a slice of a transpose that an op packs": (
        lambda x: (x.transpose(0, 2).narrow(1, 1, 2) + 1).reshape(-1),
        randn(2, 3, 4),
        "x.transpose(0, 2)",
        4,
    ),
    "a permutation that an index behind an op undoes": (
        lambda x: (x.mT.permute(1, 2, 0) + 1)[..., 0].reshape(-1),
        randn(2, 3, 4),
        "x.mT",
        5,
    ),
    "a dim of size 1 has no place in the order": (
        lambda x: (x[..., 1:].transpose(1, 2) + 1).reshape(-1),
        randn(2, 3, 2, 2),
        "x[..., 1:].transpose(1, 2)",
        3,
    ),
    "rows that touch fit a product": (
        lambda w: torch.mm(torch.ones(2, 4), w[:, ::2][:4]),
        randn(8, 8),
        "w[:, ::2]",
        3,
    ),
    "columns that touch fit a product": (
        lambda w: torch.mm(torch.ones(2, 4), w[:, ::2].t()),
        randn(5, 8),
        "w[:, ::2]",
        3,
    ),
    "rows that overlap do not": (
        lambda w: torch.mm(torch.ones(2, 4), (w * 1).as_strided((4, 4), (2, 1))),
        randn(20),
        "(w * 1).as_strided((4, 4), (2, 1))",
        2,
    ),
    "columns that overlap do not": (
        lambda w: torch.mm(torch.ones(2, 4), (w * 1).as_strided((4, 5), (1, 3))),
        randn(20),
        "(w * 1).as_strided((4, 5), (1, 3))",
        2,
    ),
    "an op that keeps the order hands it on": (
        lambda x: (torch.relu(x.t()) + 1).reshape(-1),
        X,
        "x.t()",
        4,
    ),
    "an op that makes its own order does not": (
        lambda x: torch.relu(x.t()).contiguous().t().reshape(-1),
        X,
        "torch.relu(x.t()).contiguous()",
        3,
    ),
    "a layout that came with an input": (lambda x: (x * 2).reshape(-1), X.t(), "", 2),
    "a view of an input": (lambda x: x[1:].reshape(-1), X.t(), "", 2),
}


def test_a_layout_is_traced_through_many_layers():
    def deep(x):
        for _ in range(80):
            x = torch.relu(x).detach()
        return x[:, :3].flatten(1)

    (finding,) = stridekit.audit(deep, last(2, 4, 6, 6)).findings
    assert (finding.cause, finding.made_by) == (None, "input 0")


@pytest.mark.parametrize("name", CAUSES)
def test_the_path_of_a_layout_begins_at_its_cause(name):
    function, x, expression, length = CAUSES[name]
    audit = stridekit.audit(function, x)
    first = audit.findings[0].first
    assert (first.cause.expression if first.cause else "") == expression
    assert len(first.events) == length
    assert [*first.events] == sorted(first.events) and first.events[0] >= 0
    if first.cause:
        assert audit.events[first.events[0]].place == first.cause


class Filtered(nn.Module):
    """A convolution whose weight is channels-last, and whose result is copied."""

    def __init__(self):
        super().__init__()
        self.filter = nn.Conv2d(4, 4, 3).to(memory_format=LAST)

    def forward(self, x):
        return self.filter(x).flatten()


def test_a_weight_is_a_cause_only_for_the_op_that_reads_it():
    audit = stridekit.audit(Filtered(), randn(2, 4, 6, 6))
    causes = {finding.kind: finding.made_by for finding in audit.findings}
    assert causes == {RESHAPE: "conv2d", TWO: "input 0"}
    model = Filtered().to(memory_format=torch.contiguous_format)
    (finding,) = stridekit.audit(model.filter, last(2, 4, 6, 6)).findings
    assert (finding.kind, finding.made_by) == (TWO, "weight")


def test_views_that_leave_a_format_and_come_back_are_not_its_cause():
    def shuffled(x, y):
        parts = image(x).view(2, 2, 2, 6, 6).transpose(1, 2)
        return parts.transpose(1, 2).view(2, 4, 6, 6) + y

    (finding,) = stridekit.audit(shuffled, last(2, 4, 6, 6), randn(2, 4, 6, 6)).findings
    assert (finding.kind, finding.cause, finding.made_by) == (MIXED, None, "input 1")


# Advice ---------------------------------------------------------------------------------------------


KEEP = "keep it, or change what needs it: "
MOVES = f"{KEEP}the copy moves on to "
PART = f"{LEAVE_OUT}; a part of the copy moves on to "


def normed_twice(x):
    h = x.t().contiguous()
    return F.layer_norm(h, (4,)) + F.layer_norm(h, (4,), eps=1e-3)


def halved(x):
    h = x.t().contiguous()
    return h * 2, h[:2].reshape(-1)


def pooled(x):
    h = x.expand(1, 2, 4, 6).transpose(2, 3).contiguous()
    return F.max_pool2d(h, 2)


def read_in_rows_and_turned(x):
    h = x.t().contiguous()
    return torch.relu(h) + torch.relu(h)


ADVICE = {
    "free": (lambda x: x.t().contiguous() * 2, LEAVE_OUT),
    "a view": (lambda x: x.t().contiguous().view(-1), f"{KEEP}view in line "),
    "a view after an op": (lambda x: (x.t().contiguous() * 2).view(-1), f"{KEEP}view in line "),
    "a view after a view": (lambda x: x.t().contiguous()[1:].view(-1), f"{KEEP}view in line "),
    "view_as": (lambda x: x.t().contiguous().view_as(x), f"{KEEP}view_as in line "),
    "a reshape copies instead": (
        lambda x: x.t().contiguous().reshape(-1),
        f"{MOVES}reshape in line ",
    ),
    "a reshape of the op's result": (
        lambda x: (x.t().contiguous() * 2).flatten(),
        f"{MOVES}flatten in line ",
    ),
    "a reshape that is a view of either": (
        lambda x: x.t().contiguous()[:1].reshape(-1) + 1,
        LEAVE_OUT,
    ),
    "a reshape of a part": (halved, f"{PART}reshape in line "),
    "two kernels that copy": (normed_twice, f"{MOVES}layer_norm in line "),
    "a kernel that copies": (
        lambda x: torch.softmax(x.t().contiguous(), -1),
        f"{MOVES}softmax in line ",
    ),
    "a kernel that takes any strides": (lambda x: torch.cumsum(x.t().contiguous(), -1), LEAVE_OUT),
    "a kernel of pictures": (pooled, f"{MOVES}max_pool2d in line "),
    "a product that takes it turned": (lambda x: x.t().contiguous() @ x, LEAVE_OUT),
    "a list of tensors": (lambda x: torch.cat([x.t().contiguous(), x.t()]), LEAVE_OUT),
    "two ops of one tensor": (read_in_rows_and_turned, LEAVE_OUT),
    "a later copy that is then the only one": (
        lambda x: torch.relu(x.t().contiguous()).reshape(-1),
        f"{MOVES}reshape in line ",
    ),
    "a write to the copy": (lambda x: x.t().contiguous().add_(1), f"{KEEP}add_ in line "),
    "a write to the source": (lambda x: (x.t().contiguous(), x.mul_(2))[0], f"{KEEP}mul_ in line "),
    "an expand": (lambda x: x[:1].expand(4, 6).contiguous() + x, LEAVE_OUT),
    "an expand that is viewed": (
        lambda x: x[:1].expand(4, 6).contiguous().view(-1),
        f"{KEEP}view in line ",
    ),
    "there and back, by a view that needs it": (
        lambda x: torch.relu(x.t().contiguous().view(-1)).view(6, 4).t().contiguous() * 2,
        KINDS[TRIP],
    ),
    "there and back by reshape": (
        lambda x: x.t().reshape(3, 8).mul(2).view(6, 4).t().reshape(-1),
        KINDS[TRIP],
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_to_leave_a_call_out_holds(name):
    """If audit gives it, the result is the same without the call, and the run copies less by `saves`."""
    function, expected = ADVICE[name]
    x = randn(4, 6)
    audit = stridekit.audit(function, x)
    (finding,) = audit.findings
    assert finding.advice.startswith(expected)
    if expected == KINDS[TRIP]:
        return
    trial = audit.without(finding, rounds=3)
    assert trial.same == expected.startswith((LEAVE_OUT, MOVES)), trial
    if expected.startswith(MOVES):
        assert trial.fewer <= finding.saves == 0
    else:
        assert trial.fewer == finding.saves
    assert ("saves" in str(audit)) == expected.startswith(LEAVE_OUT)


def upsampled(x, **options):
    return F.interpolate(x, scale_factor=2, **options)


def repeated_heads(q, k, v):
    k = k[:, :, None].expand(2, 2, 2, 5, 8).reshape(2, 4, 5, 8)
    v = v[:, :, None].expand(2, 2, 2, 5, 8).reshape(2, 4, 5, 8)
    return F.scaled_dot_product_attention(q, k, v)


def attention_by_hand(q, k, v):
    scores = q @ k.mT / 8**0.5
    return (scores + 1).softmax(-1) @ v


HEADS = randn(2, 5, 4, 8).transpose(1, 2)
FEW_HEADS = randn(2, 5, 2, 8).transpose(1, 2)
IMAGE = randn(2, 64, 8, 8)
SEQUENCE = randn(2, 8, 5)
MASK = torch.ones(5, 5).tril().bool()
TO_LAST = "give it the tensor by .to(memory_format=torch.channels_last)"
ONCE = "call contiguous() once, where the layout is made"


def stream(h):
    for _ in range(3):
        h = h + F.layer_norm(h, h.shape[-1:])
    return h


def image_stream(h):
    for _ in range(3):
        h = h + F.layer_norm(h, h.shape[1:])
    return F.avg_pool2d(h, 2)


def read_twice(h):
    return h.softmax(-1), h.log_softmax(-1)


def upsampled_twice(x):
    y = upsampled(x + 1)
    return upsampled(y * 2)


def turned(x):
    return x.transpose(1, 2)


def upsampled_in_rows(x):
    return upsampled(x).contiguous()


def normed(x):
    return F.layer_norm(x, x.shape[-1:])


class Cured(NamedTuple):
    """Code with a finding, the same code with the cure that the finding names, and that advice."""

    function: Callable[..., Any]
    cured: Callable[..., Any]
    inputs: tuple[torch.Tensor, ...]
    advice: str


CURED = {
    "an upsampling of rows": Cured(
        upsampled, lambda x: upsampled(x.to(memory_format=LAST)), (IMAGE,), TO_LAST
    ),
    "an upsampling, bilinear": Cured(
        lambda x: upsampled(x, mode="bilinear"),
        lambda x: upsampled(x.to(memory_format=LAST), mode="bilinear"),
        (IMAGE,),
        TO_LAST,
    ),
    "upsamplings of two sizes on one line": Cured(
        lambda x: [upsampled(part) for part in (x, x[:1])],
        lambda x: [upsampled(part.to(memory_format=LAST)) for part in (x, x[:1])],
        (IMAGE,),
        TO_LAST,
    ),
    "an upsampling of what was upsampled on another line": Cured(
        upsampled_twice,
        lambda x: upsampled(upsampled((x + 1).to(memory_format=LAST)) * 2),
        (IMAGE,),
        TO_LAST,
    ),
    "upsamplings one after the other, on one line": Cured(
        lambda x: functools.reduce(lambda y, _: upsampled(y), range(3), x),
        lambda x: functools.reduce(lambda y, _: upsampled(y), range(3), x.to(memory_format=LAST)),
        (IMAGE,),
        TO_LAST,
    ),
    "an upsampling whose result is to be in rows": Cured(
        upsampled_in_rows,
        lambda x: upsampled_in_rows(x.to(memory_format=LAST)),
        (IMAGE,),
        TO_LAST,
    ),
    "a stream that keeps the layout": Cured(
        lambda x: stream(x.transpose(1, 2)),
        lambda x: stream(x.transpose(1, 2).contiguous()),
        (SEQUENCE,),
        ONCE,
    ),
    "an image that comes from a sequence, with its channels last by chance": Cured(
        lambda x: image_stream(x.transpose(1, 2).view(2, 8, 6, 6)),
        lambda x: image_stream(x.transpose(1, 2).view(2, 8, 6, 6).contiguous()),
        (randn(2, 36, 8),),
        ONCE,
    ),
    "two readers on two lines": Cured(
        lambda x: read_twice(x[:, 1:]),
        lambda x: read_twice(x[:, 1:].contiguous()),
        (X,),
        ONCE,
    ),
    "there and back": Cured(
        lambda x: torch.relu(x.t().contiguous()).t().contiguous() * 2,
        lambda x: torch.relu(x.t()).t().contiguous() * 2,
        (X,),
        LEAVE_FIRST,
    ),
    "there and back to a view": Cured(
        lambda x: torch.relu(x.t().contiguous()).t().contiguous().view(-1),
        lambda x: torch.relu(x.t()).t().contiguous().view(-1),
        (X,),
        LEAVE_FIRST,
    ),
}


@pytest.mark.parametrize("name", CURED)
def test_a_cure_saves_what_its_finding_promises(name):
    function, cured, inputs, advice = CURED[name]
    audit = stridekit.audit(function, *inputs)
    assert audit.findings[0].advice == advice
    assert f"saves    {in_bytes(audit.findings[0].saves)} in all" in str(audit)
    after = stridekit.audit(cured, *inputs)
    torch.testing.assert_close(cured(*inputs), function(*inputs))
    # to() of an input is asked for, and counts here as well
    copied, copied_after = (sum(copy.bytes for copy in x.copies) for x in (audit, after))
    assert sum(finding.saves for finding in audit.findings) == copied - copied_after > 0


def test_a_cure_saves_in_a_training_step_what_its_finding_promises():
    model = nn.Conv1d(8, 8, 1)
    x = randn(2, 8, 5)
    audit = stridekit.audit(lambda: normed(model(x).transpose(1, 2)), backward=True)
    (finding,) = audit.findings
    assert finding.advice == ONCE
    after = stridekit.audit(lambda: normed(model(x).transpose(1, 2).contiguous()), backward=True)
    assert finding.saves == audit.bytes - after.bytes == x.nbytes


NO_CURE = {
    # near misses: what a copy at the line that made the layout would not save
    "one reader": (lambda x: normed(x.transpose(1, 2)), f"{KINDS[OF_OP]}; {NO_SMALLER}"),
    "a part is written later": (
        lambda x: [(read_twice(y), y.mul_(2)) for y in [x.clone().transpose(1, 2)]],
        KINDS[REPEATED],
    ),
    "several tensors are made at once": (
        lambda x: [read_twice(y) for y in x.chunk(2, dim=2)],
        KINDS[REPEATED],
    ),
    "half of the calls on the line are not copied": (
        lambda x: [read_twice(y) if k else y * 2 for k, y in enumerate([turned(x), turned(x)])],
        KINDS[REPEATED],
    ),
}


@pytest.mark.parametrize("name", NO_CURE)
def test_a_cure_is_named_only_if_it_saves(name):
    function, advice = NO_CURE[name]
    finding = stridekit.audit(function, SEQUENCE).findings[0]
    assert (finding.advice, finding.saves) == (advice, 0)


def test_an_ops_own_copies_are_in_the_finding_whose_cure_removes_them():
    audit = stridekit.audit(upsampled, IMAGE)
    (finding,) = audit.findings
    assert finding.copied == audit.bytes and audit.own == ()
    with pytest.raises(AssertionError) as failure:
        audit.assert_no_copies()
    assert "leave it" not in str(failure.value)


def test_a_finding_that_is_to_be_kept_promises_nothing():
    def split(x, is_viewed):
        y = x.transpose(1, 2).contiguous()
        return y.view(-1) if is_viewed else y * 2

    audit = stridekit.audit(lambda x, y: (split(x, True), split(y, False)), SEQUENCE, SEQUENCE + 1)
    (finding,) = audit.findings
    assert finding.advice.startswith(KEEP) and finding.saves == 0
    assert "saves" not in str(audit)


def test_an_expanded_tensor_is_filled_without_a_copy_by_where():
    expanded = randn(2, 5, 1).expand(2, 5, 5)
    audit = stridekit.audit(lambda x: x.masked_fill(~MASK, 0.0), expanded)
    (finding,) = audit.findings
    assert finding.advice == "torch.where(mask, value, x) reads an expanded x as it is"
    assert stridekit.audit(lambda x: torch.where(MASK, x, 0.0), expanded).bytes == 0


def test_the_copies_of_a_gradient_within_one_call_are_its_own():
    attention = nn.MultiheadAttention(16, 2)
    x = randn(5, 2, 16)
    audit = stridekit.audit(lambda: attention(x, x, x, need_weights=False)[0], backward=True)
    assert audit.own and not any(finding.kind == GRADIENT for finding in audit.findings)
    turned = stridekit.audit(
        lambda w: (x @ w.mT).transpose(0, 1).reshape(-1),
        randn(16, 16).requires_grad_(),
        backward=True,
    )
    assert any(x.backward for finding in turned.findings for x in finding.occurrences)


def test_the_gradient_of_a_convolution_names_the_format_of_its_weight():
    convolution = nn.Conv2d(8, 8, 3)
    x = last(2, 8, 6, 6)
    audit = stridekit.audit(convolution, x, backward=True)
    assert {finding.advice for finding in audit.findings} == {KINDS[TWO]}
    convolution.to(memory_format=LAST)
    assert stridekit.audit(convolution, x, backward=True).findings == ()


def test_a_copy_by_einops_is_on_the_line_that_calls_it():
    def windows(x):
        return einops.rearrange(x, "b c (h p) -> b h (c p)", p=2)

    audit = stridekit.audit(windows, randn(2, 3, 8))
    (finding,) = audit.own
    assert finding.first.place.expression.startswith("einops.rearrange(x")
    heads = stridekit.audit(lambda x: einops.rearrange(x, "b n d -> b d n").softmax(-1), SEQUENCE)
    assert heads.findings[0].cause.expression.startswith("einops.rearrange(x")


def attend_turned(q, k, v, **options):
    turned = v.transpose(1, 2)
    return F.scaled_dot_product_attention(q, k, turned, **options)


def attend_twice(q, k, v):
    turned = v.transpose(1, 2)
    for _ in range(2):
        F.scaled_dot_product_attention(q, k, turned)


QUERY = randn(2, 2, 5, 8)
VALUE = randn(2, 5, 2, 8)
ROWS = randn(2, 4, 6, 6)
FILTERS = randn(4, 4, 3, 3)
MATH = "attention took the math path"
HAND_IN = "hand in the input as x.to(memory_format=torch.channels_last)"
KEPT_FORMAT = "keep the memory format at the line that made the layout"
OTHER_ADVICE = {
    "reshape of an input": (lambda x: x.reshape(-1), (X.t(),), "give it a contiguous tensor"),
    "reshape of a view": (lambda x: x.t().reshape(-1), (X,), KINDS[RESHAPE]),
    "an expanded tensor, reshaped": (
        lambda x: x[:1].expand(4, 6).reshape(-1),
        (X,),
        KINDS[WRITTEN_OUT],
    ),
    "an input in rows": (F.conv2d, (ROWS, last(4, 4, 3, 3)), HAND_IN),
    "a weight in rows": (F.conv2d, (PHOTO, FILTERS), KINDS[TWO]),
    "an input in rows, made by a line": (
        lambda x, w: F.conv2d((x + 1).contiguous(), w),
        (PHOTO, last(4, 4, 3, 3)),
        KEPT_FORMAT,
    ),
    "a product is no attention": (
        lambda a, b, c: torch.addmm(a, b, c[:, ::2]),
        (randn(3, 4), randn(3, 4), randn(4, 8)),
        KINDS[OF_OP],
    ),
    "attention by the math path": (attend_turned, (QUERY[:1], QUERY, VALUE), MATH),
    "attention by the math path, before all else": (
        F.scaled_dot_product_attention,
        (QUERY[:1], QUERY, VALUE.transpose(1, 2)),
        MATH,
    ),
    "attention by the math path, with a mask": (
        lambda q, k, v, m: attend_turned(q, k, v, attn_mask=m),
        (QUERY[:1], QUERY, VALUE, randn(5, 5)),
        MATH,
    ),
    "attention by the math path, with a mask of bools": (
        lambda q, k, v, m: attend_turned(q, k, v, attn_mask=m),
        (QUERY[:1], QUERY, VALUE, randn(5, 5) > 0),
        MATH,
    ),
    "attention by the math path, with a mask of one dim": (
        lambda q, k, v, m: attend_turned(q, k, v, attn_mask=m),
        (QUERY[:1], QUERY, VALUE, randn(5)),
        MATH,
    ),
    "attention of two tensors, with a mask of bools": (
        lambda q, v, m: [
            F.scaled_dot_product_attention(q, k, k, attn_mask=m) for k in [v.transpose(1, 2)]
        ],
        (QUERY[:1], VALUE, randn(5, 5) > 0),
        KINDS[OF_OP],
    ),
    "attention by the math path, twice": (
        attend_twice,
        (QUERY[:1], QUERY, VALUE),
        ONCE,
    ),
    "attention of two tensors": (
        lambda q, v: [F.scaled_dot_product_attention(q, k, k) for k in [v.transpose(1, 2)]],
        (QUERY[:1], VALUE),
        KINDS[OF_OP],
    ),
    "a kernel that has one reader": (
        lambda x: torch.softmax(x.t(), -1),
        (randn(4, 6),),
        KINDS[OF_OP],
    ),
    "a kernel that copies any layout": (
        torch.linalg.qr,
        (torch.eye(4) * 2,),
        "leave it: the op copies as much of any memory format",
    ),
    "a convolution whose small weight is in the other format": (
        F.conv2d,
        (randn(8, 32, 14, 14), last(16, 32, 1, 1)),
        KINDS[OF_OP],
    ),
    "a tensor with two readers that copy": (
        lambda x: [(y.softmax(-1), y.log_softmax(-1)) for y in [x[:, 1:]]],
        (randn(4, 6),),
        ONCE,
    ),
    "a tensor with two readers that copy it in two ways": (
        lambda x: [(upsampled(y), y.softmax(1)) for y in [x[:, :, 1:]]],
        (randn(2, 64, 7, 6),),
        "call to(memory_format=torch.channels_last) once, where the layout is made",
    ),
    "heads that are repeated": (
        repeated_heads,
        (HEADS, FEW_HEADS, FEW_HEADS.clone()),
        "scaled_dot_product_attention(q, k, v, enable_gqa=True)",
    ),
    "attention by hand": (
        attention_by_hand,
        (HEADS, HEADS.clone(), HEADS.clone()),
        "F.scaled_dot_product_attention takes q, k and v as they lie",
    ),
    "a product whose scores are padded before the softmax": (
        lambda q: F.pad(q @ q.mT, (1, 0)).softmax(-1),
        (HEADS,),
        KINDS[OF_OP],
    ),
    "a product without a softmax": (lambda q: (q @ q.mT).relu() @ q, (HEADS,), KINDS[REPEATED]),
    "a write before the copy": (
        lambda x: x.mul_(2).t().contiguous(),
        (randn(4, 6),),
        LEAVE_OUT,
    ),
    "a view of another part": (
        lambda x: (x.t().contiguous() + 1, x.view(-1)),
        (X,),
        LEAVE_OUT,
    ),
    "readers that can be followed": (
        lambda x: [copy + 1 for copy in [x.t().contiguous()] for _ in range(1999)],
        (X,),
        LEAVE_OUT,
    ),
    "readers that are too many": (
        lambda x: [copy + 1 for copy in [x.t().contiguous()] for _ in range(2000)],
        (X,),
        f"{KEEP}too much follows to say",
    ),
}


def heads_by_interleaving(q, k, **options):
    k = k.repeat_interleave(2, 1)
    return F.scaled_dot_product_attention(q, k, k, **options)


def heads_before_turning(q, k, **options):
    k = k.transpose(1, 2)[:, :, :, None].expand(2, 5, 2, 2, 8).reshape(2, 5, 4, 8).transpose(1, 2)
    return F.scaled_dot_product_attention(q, k, k, **options)


def heads_by_hand(q, k):
    k = k[:, :, None].expand(2, 2, 2, 5, 8).reshape(2, 4, 5, 8)
    return (q @ k.mT).softmax(-1) @ k


def channels_repeated(q, x):
    return q + x[:, :, None].expand(2, 2, 2, 5, 8).reshape(2, 4, 5, 8)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(
    ("function", "options", "helps"),
    [
        (heads_by_interleaving, {}, True),
        (heads_by_interleaving, {"is_causal": True}, True),
        (heads_by_interleaving, {"dropout_p": 0.1}, False),
        (heads_before_turning, {}, True),
        (heads_before_turning, {"dropout_p": 0.1}, False),
        (heads_by_hand, {}, True),
        (channels_repeated, {}, False),
    ],
)
def test_the_advice_on_repeated_heads_saves_copies(function, options, helps, backward):
    q = HEADS.clone().requires_grad_(backward)
    k = FEW_HEADS.clone().requires_grad_(backward)

    def grouped(q, k):
        return F.scaled_dot_product_attention(q, k, k, enable_gqa=True, **options)

    before = stridekit.audit(function, q, k, backward=backward, **options)
    after = stridekit.audit(grouped, q, k, backward=backward)
    advice = {finding.advice for finding in (*before.findings, *before.own)}
    if torch.__version__ < "2.9":  # its attention repeats the heads itself
        helps = helps and after.bytes < before.bytes
    assert any("enable_gqa=True" in text for text in advice) == helps
    if helps:
        assert after.bytes < before.bytes
        first = before.findings[0]
        assert "enable_gqa=True" in first.advice and not first.first.backward


@pytest.mark.parametrize("name", OTHER_ADVICE)
def test_advice_depends_on_what_made_the_layout_and_what_reads_it(name):
    if name == "heads that are repeated" and torch.__version__ < "2.9":
        pytest.skip("the attention of this torch repeats the heads itself")
    function, inputs, expected = OTHER_ADVICE[name]
    finding = stridekit.audit(function, *inputs).findings[-1]
    assert finding.advice.startswith(expected)


@pytest.mark.parametrize(
    ("bias", "dropout", "backward", "helps"),
    [
        ("learned", 0.0, True, False),
        ("learned", 0.0, False, True),
        ("fixed", 0.0, True, True),
        ("none", 0.0, True, True),
        ("none", 0.1, True, False),
    ],
)
def test_attention_of_torch_is_advised_only_if_it_copies_less(bias, dropout, backward, helps):
    """With dropout, and if the mask requires grad, it takes the math path, which copies as well."""
    shape = (1, 4, 5, 5)
    added = {
        "learned": randn(*shape).requires_grad_(backward),
        "fixed": randn(*shape),
        "none": torch.zeros(shape),
    }[bias]
    x = randn(2, 5, 32).requires_grad_(backward)

    def heads(x):
        return x.view(2, 5, 4, 8).transpose(1, 2)

    def by_hand(x, added):
        q = k = v = heads(x)
        weights = (q @ k.mT * 8**-0.5 + added * 1).softmax(-1)
        return F.dropout(weights, dropout) @ v

    def by_torch(x, added):
        q = k = v = heads(x)
        return F.scaled_dot_product_attention(q, k, v, added * 1, dropout)

    hand = stridekit.audit(by_hand, x, added, backward=backward)
    advice = {finding.advice[:31] for finding in hand.findings if not finding.first.backward}
    assert ("F.scaled_dot_product_attention " in advice) == helps
    copied = stridekit.audit(by_torch, x, added, backward=backward).bytes
    assert (copied < hand.bytes) == helps


def test_attention_on_the_math_path_says_why():
    q = randn(2, 2, 5, 8)

    def attend(q, k, v):
        turned = v.transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, turned)

    audit = stridekit.audit(attend, q[:1], q, randn(2, 5, 2, 8))
    (finding,) = [finding for finding in audit.findings if finding.kind == OF_OP]
    assert "attention took the math path, which copies: q, k and v have batches" in finding.advice
    flash = stridekit.audit(attend, q, q, randn(2, 5, 2, 8))
    assert not any("math path" in finding.advice for finding in flash.findings)


@pytest.mark.parametrize("is_learned", [False, True])
def test_attention_with_a_learned_mask_says_why_it_took_the_math_path(is_learned):
    bias = randn(1, 2, 5, 5).requires_grad_(is_learned)

    def attend(x):
        q, k, v = (part.unflatten(-1, (2, 8)).transpose(1, 2) for part in x.chunk(3, dim=-1))
        return F.scaled_dot_product_attention(q, k, v, bias * 2)

    audit = stridekit.audit(attend, randn(2, 5, 48).requires_grad_(), backward=True)
    advice = " ".join(finding.advice for finding in audit.findings)
    assert ("copies: attn_mask requires grad" in advice) == is_learned


def test_attention_in_several_layers_says_why_it_took_the_math_path():
    """A call may have the mark of a call in another layer."""
    projections = [nn.Linear(16, 16) for _ in range(4)]

    def attend(x):
        q = x.view(2, 5, 2, 8).transpose(1, 2)
        return F.scaled_dot_product_attention(q, q[:1], q[1:]).transpose(1, 2).reshape(x.shape)

    def layers(x):
        for projection in projections:
            x = attend(projection(x))
        return x

    audit = stridekit.audit(layers, randn(2, 5, 16))
    (finding,) = [finding for finding in audit.findings if finding.kind == OF_OP]
    assert (
        "attention took the math path, which copies: q, k and v have batches of 2, 1 and 1"
        in finding.advice
    )


def test_a_large_report_fits_one_screen_and_the_rest_folds_out():
    def lines(x):
        source = "\n".join(f"x{k} = x[:, {k}:].t().contiguous()" for k in range(40))
        exec(compile(source, "<many lines>", "exec"), {"x": x})

    audit = stridekit.audit(lines, randn(50, 50))
    assert len(audit.findings) == 40 and len(str(audit).splitlines()) <= 35
    assert "and 35 more of" in str(audit)
    assert len(audit.report().splitlines()) > 5 * 40
    page = audit._repr_html_()
    assert page.count("<details") == 1 and page.count("explicit copy") == 40
    assert page.index(">5</span>") < page.index("<details") < page.index(">6</span>")


def test_the_cost_of_the_search_is_linear(monkeypatch):
    """For tensors written in place, and for layouts that many steps hand on: steps are counted."""
    from stridekit.audit import causes

    def writes(count):
        s = randn(4, 6)
        for _ in range(count):
            s.mul_(0.9).add_(0.1)
            s.t().reshape(-1)

    def hands_on(count):
        h = randn(4, 6).t()
        for _ in range(count):
            h = torch.relu(h) + 1
            h.reshape(-1)

    def turns(count):
        h = randn(4, 4)
        for _ in range(count):
            h = h.t()
            h.reshape(-1)

    counted = mock.Mock(side_effect=causes.has_same_order)
    monkeypatch.setattr(causes, "has_same_order", counted)
    for program in (writes, hands_on, turns):
        counted.reset_mock()
        stridekit.audit(program, 200)
        few = counted.call_count
        counted.reset_mock()
        stridekit.audit(program, 800)
        assert counted.call_count < 5 * few + 9, program
