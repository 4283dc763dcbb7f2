"""An audit as people use it: to read, to keep, to compare, in a test, without a call, from a shell."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import stridekit
from stridekit.auditing import inside, record
from stridekit.auditing.copies import COPY, copies_of
from tests.audit_models import MODELS

ROOT = Path(__file__).parent.parent


class Turned(nn.Module):
    """Three copies on two lines, and a call that does nothing."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = x.transpose(1, 2)
        y = self.linear(y.contiguous())
        for _ in range(2):
            y = y + y[..., :2].reshape(2, 8).sum()
        return y.contiguous()


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return Turned()


@pytest.fixture(scope="module")
def x():
    return torch.randn(2, 4, 4)


@pytest.fixture(scope="module")
def found(model, x):
    return stridekit.audit(model, x)


def test_bytes_are_counted_by_kind(found):
    copies = found.copied
    assert copies.count == len(found.copies)
    assert copies.bytes == sum(size for _, size in copies.by_kind.values())
    assert copies.layouts == copies.by_kind["layout"][1] == 128 + 2 * 64
    assert str(copies).splitlines()[0] == f"{copies.count} copies, {copies.bytes} B"


def test_tables_add_up_to_the_same(found):
    for by in ("line", "op", "module"):
        table = found.table(by)
        assert sum(int(count) for _, count, _ in table.rows) == 3
        assert table.title in table._repr_html_()
    assert found.table("op").rows == (("contiguous", "1", "128 B"), ("reshape", "2", "128 B"))
    assert found.table("module").rows == (("Turned", "3", "256 B"),)


def test_its_text_names_line_cause_and_advice(found):
    text = str(found)
    assert text.startswith("audit of Turned: 3 findings; 3 of 4 copies changed a layout, 256 B")
    for words in (
        "128 B, copy by reshape, in reshape, 2 times, Turned",
        "y[..., :2].reshape(2, 8)",
        "0 B, call that does nothing, in contiguous, Turned",
        "not seen: what oneDNN",
        "compiled functions",
    ):
        assert words in text
    page = found._repr_html_()
    assert page.count("<tr>") == 2 + len(found.findings)


@pytest.mark.parametrize("name", ["vit_channels_last", "checkpointed", "functions_alone"])
def test_it_comes_back_from_json(name):
    model, *inputs = MODELS[name]()
    found = stridekit.audit(model, *inputs, backward=name != "functions_alone")
    again = stridekit.Audit.from_json(found.to_json())
    assert again == found
    assert str(again) == str(found)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": 0}', '{"schema": 1, "name": "x", "events": 3}', "[" * 9999]
)
def test_another_text_is_no_audit(text):
    with pytest.raises(ValueError, match="this is not an audit that to_json wrote"):
        stridekit.Audit.from_json(text)


def test_a_trace_has_each_op_in_its_place(found):
    events = json.loads(found.to_chrome_trace())["traceEvents"]
    assert [event["name"] for event in events] == [event.name for event in found.events]
    assert sum(event["args"]["copied bytes"] for event in events) == found.copied.layouts
    assert all(a["ts"] + a["dur"] <= b["ts"] for a, b in itertools.pairwise(events))


def test_a_test_of_ones_own_fails_with_the_lines(found):
    with pytest.raises(AssertionError) as raised:
        found.assert_no_copies()
    words = str(raised.value)
    assert words.startswith("Turned copied 256 B to change layouts, and 0 B are allowed")
    assert "test_audit_report.py" in words and ".reshape(2, 8)" in words
    assert "call that does nothing" not in words
    with pytest.raises(AssertionError, match="128 B"):
        found.assert_no_copies(allow="explicit copy")


@pytest.mark.parametrize(
    "allow", ["*copy*", ["copy by reshape", "contiguous"], ["Turned"], ["test_audit_report.py:*"]]
)
def test_what_is_allowed_does_not_fail(found, allow):
    found.assert_no_copies(allow=allow)


def test_so_many_bytes_may_be_allowed(found):
    found.assert_no_copies(max_bytes=256)
    with pytest.raises(AssertionError):
        found.assert_no_copies(max_bytes=255)
    with pytest.raises(TypeError, match="max_bytes"):
        found.assert_no_copies(max_bytes="1 MB")
    with pytest.raises((TypeError, ValueError), match="allow"):
        found.assert_no_copies(allow=3)


def test_two_audits_are_compared():
    def before(x):
        return x.t().reshape(-1) + x.t().contiguous().view(-1)

    def after(x):
        return x.t().reshape(-1) + x[:, 1:].reshape(-1).sum()

    x = torch.ones(3, 4)
    table = stridekit.audit(before, x).compare(stridekit.audit(after, x))
    assert table.rows == (
        ("repeated copy x.t().reshape(-1)", "48 B", "gone"),
        ("repeated copy x.t().contiguous()", "48 B", "gone"),
        ("copy by reshape x.t().reshape(-1)", "0 B", "48 B, new"),
        ("copy by reshape x[:, 1:].reshape(-1)", "0 B", "36 B, new"),
        ("copies of layouts", "96 B", "84 B"),
    )
    with pytest.raises(TypeError, match="after"):
        stridekit.audit(before, x).compare(3)


# Without a call -----------------------------------------------------------------------------------


def of_kind(found, kind):
    return next(one for one in found.findings if one.kind == kind)


def test_a_call_that_is_left_out(found, model, x):
    trial = found.without(of_kind(found, "explicit copy"))
    assert (trial.same, trial.fewer) == (True, 0)  # linear then copies by itself
    assert "the same" in repr(trial)
    trial = found.without(of_kind(found, "call that does nothing"))
    assert (trial.same, trial.fewer, trial.why) == (True, 0, "")


def test_a_call_that_saves_bytes():
    x = torch.randn(2, 3, 4, 5)
    found = stridekit.audit(lambda x: x.permute(0, 2, 3, 1).contiguous().sum(0), x)
    trial = found.without(found.findings[0])
    assert (trial.same, trial.fewer) == (True, 480)


def test_a_call_that_is_needed():
    x = torch.randn(3, 4)
    found = stridekit.audit(lambda x: x.t().contiguous().view(-1), x)
    trial = found.without(found.findings[0])
    assert not trial.same
    assert "view size is not compatible" in repr(trial)


def test_state_and_random_numbers_stay_as_they_are(x):
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)

        def forward(self, x):
            return F.dropout(self.norm(x.transpose(1, 2).contiguous()))

    model = Noisy()
    found = stridekit.audit(model, x)
    state, mean = torch.get_rng_state(), model.norm.running_mean.clone()
    assert found.without(found.findings[0]).same
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(model.norm.running_mean, mean)


def test_what_cannot_be_left_out(found, model, x):
    with pytest.raises(ValueError, match="cannot be left out"):
        found.without(of_kind(found, "copy by reshape"))
    with pytest.raises(TypeError, match="finding is"):
        found.without(3)
    with stridekit.audit() as block:
        x.t().contiguous() if x.ndim == 2 else x.mT.contiguous()
    with pytest.raises(ValueError, match="only what audit"):
        block.without(block.findings[0])
    gone = stridekit.audit(nn.Identity(), torch.ones(3))
    with pytest.raises(ValueError, match="is no longer there"):
        gone.without(of_kind(found, "explicit copy"))


# Without private names of torch, and from a shell -----------------------------------------------------


def test_where_copies_inside_are_not_seen_it_says_so(monkeypatch, found, model, x):
    monkeypatch.setattr(inside, "is_seen", lambda: False)
    less = stridekit.audit(model, x)
    assert "does not say what kernels do inside" in str(less)
    assert less.copied.by_kind["layout"] == found.copied.by_kind["layout"]  # torch dispatched them
    run = record.Recorder()
    with run.watching():
        torch.empty(2, 2).copy_(torch.ones(2, 2))
        torch.ones(2, dtype=torch.int32).to(torch.float64)
    assert [(copy.kind, run.ops[copy.op].name == COPY) for copy in copies_of(run)] == [
        ("write", True), ("dtype", False),
    ]  # fmt: skip


def test_without_the_profilers_events_it_says_what_is_missing(monkeypatch, found, model, x):
    monkeypatch.setattr(record, "_NAMES_ONLY", None)
    less = stridekit.audit(model, x)
    assert "does not say which call an op is part of" in str(less)
    assert less.copies == found.copies
    assert {event.call for event in less.events} == {event.name for event in less.events}


def test_without_the_op_of_a_gradient_it_says_what_is_missing(monkeypatch, model, x):
    monkeypatch.setattr(record, "_node", None)
    less = stridekit.audit(model, x.clone().requires_grad_(), backward=True)
    assert "does not say which op a gradient belongs to" in str(less)
    assert any(event.backward for event in less.events)
    assert all(event.module == "" for event in less.events if event.backward)


SCRIPT = """
import sys
import torch
print("arguments", sys.argv[1:])
x = torch.ones(3, 4)
y = x.t().reshape(-1)
if "--fail" in sys.argv:
    raise KeyError("of the script")
"""


@pytest.mark.parametrize("fails", [False, True])
def test_a_script_from_a_shell(tmp_path, fails):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    arguments = ["-m", "stridekit.audit", str(script), "--fail" if fails else "--well"]
    run = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "48 B, copy by reshape" in run.stdout
    assert "script.py:6  x.t().reshape(-1)" in run.stdout
    assert run.returncode == fails
    assert ("of the script" in run.stderr) == fails
    assert "USDT" not in run.stderr


def test_the_command_says_how_it_is_used():
    run = subprocess.run(
        [sys.executable, "-m", "stridekit.audit"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "script.py" in run.stdout


def test_the_module_of_the_command_is_the_function():
    code = "import stridekit.audit, torch; print(stridekit.audit(torch.relu, torch.ones(3)).name)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "relu" in run.stdout
