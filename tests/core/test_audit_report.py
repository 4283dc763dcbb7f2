"""An audit as people use it: to read, to keep, to compare, in a test, without a call, from a shell."""

import copy
import json
import os
import pickle
import random
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import stridekit
from stridekit.audit import Audit, kernels
from stridekit.audit.__main__ import main
from stridekit.audit.baseline import github_lines
from stridekit.cost import bandwidth
from stridekit.timing import speed
from tests.core.audit_models import MODELS


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


X = torch.randn(2, 4, 4)
MODEL = Turned()
A = stridekit.audit(MODEL, X)
NO_AUDIT = "this is not an audit that to_json wrote"


def test_bytes_are_counted_by_kind():
    assert sum(count for count, _ in A.copied.values()) == len(A.copies)
    assert A.bytes == A.copied["layout"][1] == 128 + 2 * 64


def test_tables_add_up_to_the_same():
    for group in ("line", "op", "module"):
        table = A.table(group)
        assert sum(int(count) for _, count, _ in table.rows) == 3
        assert table.title in table._repr_html_()
    assert A.table("op").rows == (("contiguous", "1", "128 B"), ("reshape", "2", "128 B"))
    assert A.table("module").rows == (("Turned", "3", "256 B"),)


def test_its_text_names_line_cause_and_advice():
    text = str(A)
    page = A._repr_html_()
    assert text.startswith("audit of Turned: 3 findings; 3 of 4 copies changed a layout, 256 B")
    for words in (
        "128 B in 2 copies, copy by reshape, in reshape, Turned",
        "y[..., :2].reshape(2, 8)",
        "0 B, call that does nothing, in contiguous, Turned",
    ):
        assert words in text
    for words in ("y[..., :2].reshape(2, 8)</code>", "stride (16, 4, 1)", ">3</span>0 B"):
        assert words in page
    asked = "asked for by clone(), or by to() of an input: "
    assert asked not in text
    last = stridekit.audit(lambda x: x.to(memory_format=torch.channels_last), X[None])
    assert f"{asked}128 B more, in 1 copy" in str(last)
    assert last.findings == ()
    page = last._repr_html_()
    assert page.index("there is nothing to change") < page.index(asked)


def test_the_time_of_a_finding_is_an_estimate(monkeypatch):
    monkeypatch.setattr(speed, "_measured", [])
    audit = stridekit.audit(lambda x: x.t().reshape(-1), torch.ones(1000, 1470))
    recorded = "an estimate: 0.8 ms, at 14.7 GB/s as recorded on another machine"
    assert f"time     {recorded}\n" in f"{audit.report()}\n"
    assert recorded in audit._repr_html_()
    assert "time     an estimate: 5.9 ms, at 2 GB/s\n" in f"{audit.report(speed=2e9)}\n"
    assert "an estimate" not in str(
        stridekit.audit(lambda x: x.t().reshape(-1), torch.ones(99, 99))
    )
    for odd in (0, -1, "fast", float("nan")):
        with pytest.raises(ValueError, match=r"speed is .*: give bytes per second"):
            audit.report(speed=odd)


@pytest.mark.parametrize(
    ("where", "device", "words"),
    [
        ("memory", "cpu", "at 2 GB/s as bandwidth() measured here"),
        ("L3 and memory", "cpu", "at 2 GB/s as bandwidth() measured here"),
        ("L2", "cpu", "as recorded on another machine"),
        ("unknown", "cpu", "as recorded on another machine"),
        ("memory", "cuda", "as recorded on another machine"),
    ],
)
def test_a_measured_bandwidth_of_memory_is_used_by_itself(monkeypatch, where, device, words):
    monkeypatch.setattr(speed, "_measured", [])
    monkeypatch.setattr(bandwidth, "clock_for", lambda device: None)
    monkeypatch.setattr(bandwidth, "_caches", lambda device, threads: ())
    monkeypatch.setattr(bandwidth, "compare", lambda *_, **__: None)
    monkeypatch.setattr(bandwidth.torch, "full", lambda *_, **__: torch.ones(4))
    monkeypatch.setattr(bandwidth.Bandwidth, "where", where)
    monkeypatch.setattr(bandwidth.Bandwidth, "speeds", {"copy": 2e9})
    audit = stridekit.audit(lambda x: x.t().reshape(-1), torch.ones(1000, 1470))
    assert "as recorded on another machine" in str(audit)
    bandwidth.bandwidth(48, device=device)
    assert words in str(audit) and words in audit._repr_html_()


NOTES = {
    "not seen: what oneDNN": lambda x: F.conv2d(x[None, None], torch.ones(1, 1, 1, 1)),
    "quantile took another formula": lambda x: x.quantile(0.5),
}


@pytest.mark.parametrize("words", NOTES)
def test_a_note_stands_where_it_is_true(words):
    x = torch.ones(3, 4)
    assert words in str(stridekit.audit(NOTES[words], x))
    assert words not in str(stridekit.audit(torch.relu, x))


def test_a_note_says_that_compiled_functions_ran():
    x = torch.ones(3, 4)
    compiled = torch.compile(torch.relu, backend="eager")
    words = "compiled functions ran"
    assert words in str(stridekit.audit(compiled, x))
    assert words not in str(stridekit.audit(torch.relu, x))


def test_copies_that_change_no_layout_are_summed():
    def forward(x):
        y = x.double()
        y[:1] = y[1]
        return torch.addmm(torch.ones(3), x, torch.ones(3, 3)), y.clone()

    audit = stridekit.audit(forward, torch.ones(2, 3))
    sums = "24 B written into tensors in 1 copy, 24 B broadcast in 1 copy, 48 B cast in 1 copy"
    assert f"\n  no layout changed: {sums}, 48 B cloned as they lie in 1 copy" in str(audit)
    assert audit.table("kind").rows == (
        ("dtype", "1", "48 B"), ("clone", "1", "48 B"), ("write", "1", "24 B"), ("broadcast", "1", "24 B"),
    )  # fmt: skip
    assert "no layout changed" not in str(stridekit.audit(lambda x: x.t(), torch.ones(2, 3)))


@pytest.mark.parametrize("name", ["vit_channels_last", "redone", "functions_alone"])
def test_it_comes_back_from_json(name):
    model, *inputs = MODELS[name]()
    before = stridekit.audit(model, *inputs, backward=name != "functions_alone")
    again = Audit.from_json(before.to_json())
    assert again == before and str(again) == str(before)


def test_another_text_is_no_audit():
    odd_texts = ["", "{}", "[]", "[" * 9999]
    odd_texts += ['{"schema": 0}', '{"schema": 5, "name": "x", "events": 3}']
    changed = [json.loads(A.to_json()) for _ in range(5 + len(A.events))]
    changed[0]["findings"][0]["occurrences"][0]["layouts"][1] = [1]  # which is no layout
    changed[1]["findings"][0]["occurrences"] = []
    changed[2]["findings"][0]["kind"] = "odd"
    changed[3]["copies"][0]["op"] = 10**6
    changed[4]["copies"][0]["operand"] = 9
    for k in range(len(A.events)):
        del changed[5 + k]["events"][k]
    for text in (*odd_texts, *map(json.dumps, changed)):
        with pytest.raises(ValueError, match=NO_AUDIT):
            Audit.from_json(text)


def changed_texts(text, count):
    """Texts of JSON in which one part is dropped, doubled or odd."""
    draw = random.Random(0)
    odd = ["null", "-1", "1e999", "9" * 23, "[]", "{}", '"x"', "true", "NaN", "[[1]]"]
    spots = [match.span() for match in re.finditer(r'"[^"]*"|-?\d+|null|true|false|\[\]', text)]
    for _ in range(count):
        start, end = draw.choice(spots)
        doubled = text[start:end] * 2
        yield text[:start] + draw.choice([*odd, "", doubled]) + text[end:]


def test_a_text_that_was_changed_is_refused_or_displayed():
    refused = 0
    for changed in changed_texts(A.to_json(), 200):
        try:
            read = Audit.from_json(changed)
        except ValueError as error:
            refused += NO_AUDIT in str(error)
            continue
        assert str(read) and read._repr_html_() and read.report() and read.copied
        assert read.table("line") and read.compare(A) and read.to_json()
    assert refused > 100


def test_it_can_be_pickled_and_copied():
    for copied in (pickle.loads(pickle.dumps(A)), copy.deepcopy(A), copy.copy(A)):
        assert copied == A and str(copied) == str(A)
        with pytest.raises(ValueError, match="only what audit"):
            copied.without(A.findings[0])


ALLOWED = ["*copy*", ["copy by reshape", "contiguous"], ["Turned"], ["test_audit_report.py:*"]]


def test_a_test_of_ones_own_fails_with_the_lines():
    with pytest.raises(AssertionError) as raised:
        A.assert_no_copies()
    words = str(raised.value)
    assert words.startswith("Turned copied 256 B to change layouts, and 0 B are allowed")
    assert "test_audit_report.py" in words and ".reshape(2, 8)" in words
    assert "call that does nothing" not in words
    for allow in ALLOWED:
        A.assert_no_copies(allow=allow)
    for name in ("0", "0 (Turned)"):
        stridekit.audit(nn.Sequential(MODEL), X).assert_no_copies(allow=[name])
    A.assert_no_copies(max_bytes=256)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"allow": "explicit copy"}, AssertionError, "128 B"),
        ({"max_bytes": 255}, AssertionError, "copied 256 B"),
        ({"allow": ["*", "conv*"]}, AssertionError, "allow has 'conv\\*', which matches nothing"),
        ({"max_bytes": "1 MB"}, ValueError, "max_bytes is '1 MB', a str: give an int"),
        ({"max_bytes": -1}, ValueError, "max_bytes is -1"),
        ({"allow": 3}, ValueError, "allow"),
    ],
)
def test_what_is_not_allowed_fails(options, error, words):
    with pytest.raises(error, match=words):
        A.assert_no_copies(**options)


def test_the_failure_shows_the_line_of_the_test_alone():
    """pytest cuts the frames of assert_no_copies from what it prints."""
    with pytest.raises(AssertionError) as failure:
        A.assert_no_copies()
    shown_frames = failure.traceback.filter(failure)
    assert [Path(frame.path) for frame in shown_frames] == [Path(__file__)]


def test_a_finding_has_a_short_repr():
    explicit, reshaped, idle = A.findings
    made_by = f"made by transpose at {explicit.cause}"
    assert repr(explicit) == f"Finding('explicit copy', 128 B in 1 occurrence, {made_by})"
    assert repr(reshaped).startswith("Finding('copy by reshape', 128 B in 2 occurrences, made by")
    assert repr(idle) == "Finding('call that does nothing', 0 B in 1 occurrence)"


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
        A.compare(3)


def of_kind(audit, kind="explicit copy"):
    return next(finding for finding in audit.findings if finding.kind == kind)


def twice(x):
    y = x.mT.contiguous()
    return y.flatten() + y.flatten()


class LeftOut(NamedTuple):
    """A function that calls contiguous(), its input, and the trial without that call."""

    function: Callable[[torch.Tensor], torch.Tensor]
    x: torch.Tensor
    same: bool
    fewer: int
    words: str


TRIALS = {
    "linear then copies by itself": LeftOut(MODEL, X, same=True, fewer=0, words="the same"),
    "a sum does not": LeftOut(
        lambda x: x.permute(0, 2, 3, 1).contiguous().sum(0),
        torch.randn(2, 3, 4, 5),
        same=True,
        fewer=480,
        words="480 B fewer",
    ),
    "a view needs it": LeftOut(
        lambda x: x.t().contiguous().view(-1),
        torch.randn(3, 4),
        same=False,
        fewer=0,
        words="view size is not compatible",
    ),
    "two calls that follow copy instead": LeftOut(
        twice, X, same=True, fewer=-128, words="copied  128 B more"
    ),
}


@pytest.mark.parametrize("case", TRIALS.values(), ids=TRIALS)
def test_a_call_is_left_out(case):
    audit = stridekit.audit(case.function, case.x)
    trial = audit.without(of_kind(audit), rounds=3)
    assert (trial.same, trial.fewer) == (case.same, case.fewer)
    assert case.words in repr(trial)


def test_a_call_that_does_nothing_is_left_out():
    trial = A.without(of_kind(A, "call that does nothing"), rounds=4)
    assert (trial.same, trial.fewer, trial.why) == (True, 0, "")
    assert repr(trial.comparison).startswith("4 rounds")
    trial = A.without(of_kind(A), max_seconds=1e-9)
    assert (trial.same, trial.comparison) == (True, None)
    assert "not measured: " in repr(trial)


def test_a_call_that_cannot_be_left_out_is_refused():
    class Held(nn.Module):
        def forward(self, x):
            return x.mT.contiguous() * self.scale

    model = Held()
    model.scale = torch.ones(4, requires_grad=True) * 2  # no leaf, which torch does not copy
    with stridekit.audit() as block:
        X.mT.contiguous()
    gone = stridekit.audit(nn.Identity(), torch.ones(3))
    held = stridekit.audit(model, X)
    for audit, finding, words in (
        (A, of_kind(A, "copy by reshape"), "cannot be left out"),
        (block, block.findings[0], "only what audit"),
        (gone, of_kind(A), "is no longer there"),
        (held, of_kind(held), "cannot be copied"),
    ):
        with pytest.raises(ValueError, match=words):
            audit.without(finding)
    with pytest.raises(TypeError, match="finding is"):
        A.without(3)


class Counts(nn.Module):
    """A model whose runs change a batch norm's counter, random numbers, and a gradient."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return F.dropout(self.norm(x.transpose(1, 2).contiguous()))


def test_state_inputs_gradients_and_random_numbers_stay_as_they_are():
    model = Counts()
    x = torch.randn(2, 4, 4).mul(1).requires_grad_()
    audit = stridekit.audit(model, x, backward=True)
    state = copy.deepcopy(model.state_dict())
    random_state = torch.get_rng_state()
    grads = [x.grad.clone(), model.norm.weight.grad.clone()]
    assert audit.without(of_kind(audit), rounds=3).same
    assert torch.equal(torch.get_rng_state(), random_state)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(x.grad, grads[0]) and torch.equal(model.norm.weight.grad, grads[1])


def test_an_input_that_a_function_writes_to_is_written_once():
    y = X.clone()
    audit = stridekit.audit(lambda x: x.mul_(2).mT.contiguous() + 1, y)
    assert audit.without(of_kind(audit), rounds=3).same
    assert torch.equal(y, X * 2)


GLOBAL = Counts()
WEIGHT = torch.ones(4, requires_grad=True)


def calling(model):
    return lambda x: model(x)


CHANGES_A_GLOBAL = {
    "a counter": (lambda x: GLOBAL(x), False),
    "a closure": (calling(GLOBAL), False),
    "a gradient": (lambda x: (x.transpose(1, 2).contiguous() * WEIGHT).sum(), True),
}


@pytest.mark.parametrize(("function", "backward"), CHANGES_A_GLOBAL.values(), ids=CHANGES_A_GLOBAL)
def test_a_function_that_changes_a_global_is_not_run_again(function, backward):
    audit = stridekit.audit(function, X, backward=backward)
    count = GLOBAL.norm.num_batches_tracked.item()
    grad = WEIGHT.grad
    with pytest.raises(ValueError, match="may change a tensor that it was not given"):
        audit.without(of_kind(audit))
    assert GLOBAL.norm.num_batches_tracked.item() == count and WEIGHT.grad is grad


def test_a_torch_without_the_dispatch_keys_of_audit_is_refused():
    with pytest.raises(
        RuntimeError, match=r"audit does not run on torch .* no dispatch key Nobody"
    ):
        kernels._dispatch_key("Nobody")


SCRIPT = """
import pickle
import sys
import helper
import torch
class Mine:
    pass
print(__name__, sys.argv, __file__, pickle.loads(pickle.dumps(Mine())).__class__ is Mine)
y = torch.ones(3, 4).t().reshape(-1)
if "--fail" in sys.argv:
    raise KeyError("of the script")
if "--exit" in sys.argv:
    sys.exit(7)
"""


def python(*arguments, **options):
    run = [sys.executable, *map(str, arguments)]
    return subprocess.run(run, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run `python -m stridekit.audit` with these arguments in this process, as torch loads slowly."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["-m"])
        monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # torch.distributed has its own
        monkeypatch.setattr(sys, "path", [os.getcwd(), *sys.path])
        monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code
        return status, *capsys.readouterr()

    yield run
    for name in ("helper", "package", "package.script"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("flag", "status", "as_module"),
    [
        ("--well", 0, False),
        ("--well", 0, True),
        ("--fail", 1, False),
        ("--fail", 1, True),
        ("--exit", 7, False),
    ],
)
def test_a_script_runs_as_by_python(tmp_path, monkeypatch, command, flag, status, as_module):
    """Its own modules, its arguments, its name, its traceback and its status; then comes the report."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "script.py").write_text(SCRIPT, encoding="utf-8")
    if as_module:
        script = ["-m", "package.script"]
        (tmp_path / "helper.py").touch()
    else:
        script = [str(Path("package", "script.py"))]
        (package / "helper.py").touch()
    fake = tmp_path / "fake"  # Python alone does not need all of torch
    fake.mkdir()
    (fake / "torch.py").write_text("from unittest import mock; ones = mock.MagicMock()", "utf-8")
    monkeypatch.chdir(tmp_path)
    alone = python(*script, flag, env=os.environ | {"PYTHONPATH": str(fake)})
    returned, out, err = command(*script, flag)
    assert returned == alone.returncode == status
    assert out.startswith(alone.stdout)
    report = out.removeprefix(alone.stdout)
    assert "48 B, copy by reshape" in report
    assert "script.py:9  torch.ones(3, 4).t().reshape(-1)" in report
    assert ("not watched" in report) == (flag == "--fail")
    assert err.splitlines()[-1:] == alone.stderr.splitlines()[-1:]
    assert as_module or err == alone.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [(["none.py"], 2, "No such file or directory"), (["-m", "no.such"], 1, "No module named 'no'")],
)
def test_a_script_that_is_not_there_gives_one_line(command, arguments, status, words):
    returned, out, err = command(*arguments)
    assert (returned, out, err.count("\n")) == (status, "", 1)
    assert err.startswith("stridekit audit: ") and words in err


def test_the_command_says_how_it_is_used(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["-m", "-m"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(main.__code__.co_filename, run_name="__main__")
    assert "script.py" in capsys.readouterr().out


# Baselines ------------------------------------------------------------------------------------------


def thrifty(x):
    return x.t().reshape(-1)


def wasteful(x):
    return x.t().reshape(-1) + x[:, ::1].t().contiguous().view(-1)


def test_a_run_may_copy_no_more_than_its_baseline(tmp_path):
    path = tmp_path / "copies" / "of a model.json"
    x = torch.ones(3, 4)
    stridekit.audit(thrifty, x).assert_no_more_than(path)
    names = {"reshape | | x.t().reshape(-1)": 48}
    assert json.loads(path.read_text()) == {"schema": 1, "copied": 48, "findings": names}
    written = path.read_bytes()
    stridekit.audit(thrifty, x).assert_no_more_than(path)
    stridekit.audit(torch.relu, x).assert_no_more_than(path)  # which copies less
    assert path.read_bytes() == written
    with pytest.raises(AssertionError) as failure:
        stridekit.audit(wasteful, x).assert_no_more_than(path)
    words = str(failure.value)
    assert words.startswith(f"wasteful copied 96 B to change layouts, and {path} has 48 B. New is:")
    assert "x[:, ::1].t().contiguous()" in words and ".reshape(-1)" not in words
    stridekit.audit(wasteful, x).assert_no_more_than(path, update=True)
    stridekit.audit(wasteful, x).assert_no_more_than(path)
    with pytest.raises(AssertionError, match="copied 192 B to change layouts"):
        stridekit.audit(lambda x: wasteful(torch.cat([x, x])), x).assert_no_more_than(path)
    for odd_text in ("", "[]", '{"schema": 2}', '{"schema": 1, "copied": "x", "findings": {}}'):
        path.write_text(odd_text)
        with pytest.raises(ValueError, match="is not a baseline of audit"):
            stridekit.audit(thrifty, x).assert_no_more_than(path)
    path.unlink()
    with pytest.raises(AssertionError, match="was not watched as a whole"):
        stridekit.audit().assert_no_more_than(path)
    assert not path.exists()


RUN = """
import torch
x = torch.ones(3, 4)
x.t().reshape(-1)
if "--more" in __import__("sys").argv:
    x.t().contiguous()
"""


def test_the_command_compares_with_a_baseline(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("run.py").write_text(RUN, encoding="utf-8")
    baseline = ["--baseline", "copies.json"]
    status, out, err = command(*baseline, "run.py")
    assert (status, err) == (0, "") and out.endswith("is in copies.json: keep it with the code\n")
    for more, github in ((False, False), (True, False), (True, True)):
        arguments = [*baseline, *["--github"] * github, "run.py", *["--more"] * more]
        status, out, err = command(*arguments)
        assert status == more
        assert ("run.py copied 96 B to change layouts, and copies.json has 48 B" in err) == more
        lines = [line for line in out.splitlines() if line.startswith("::warning ")]
        assert len(lines) == github
        for line in lines:
            assert f"file={Path('run.py').resolve()},line=6::48 B, " in line
    status, _, err = command("--update", *baseline, "run.py", "--more")
    assert (status, err) == (0, "")
    assert command(*baseline, "run.py", "--more")[0] == 0
    status, out, _ = command("--github", "run.py")
    assert status == 0 and out.count("::warning ") == 1
    assert command("--baseline=copies.json", "run.py", "--more")[0] == 0
    Path("odd.json").write_text("{}", encoding="utf-8")
    for odd in (
        ["--update", "run.py"],
        ["--odd", "run.py"],
        ["--baseline"],
        ["--baseline", "odd.json", "run.py"],
        ["--baseline", "run.py/copies.json", "run.py"],
    ):
        status, _, err = command(*odd)
        assert status == 2 and err.startswith("stridekit audit: ") and err.count("\n") == 1
    assert command("--baseline")[2] == "stridekit audit: --baseline needs a FILE\n"


def test_annotations_escape_the_names_of_files():
    found = stridekit.audit(thrifty, torch.ones(3, 4))
    first = found.findings[0].first
    place = replace(first.place, file="C:\\a,b.py")
    odd = replace(first, place=place)
    (line,) = github_lines([replace(found.findings[0], occurrences=(odd,))])
    assert line.startswith(f"::warning file=C%3A\\a%2Cb.py,line={first.place.line}::48 B, copy by")


TEST = """
import stridekit, torch
x = torch.ones(3, 4)

def test_copies(copies_no_more):
    copies_no_more(stridekit.audit(lambda x: [x.t().reshape(-1) for _ in range(COUNT)], x))
"""


def test_a_fixture_of_pytest_compares_with_a_baseline(pytester):
    pytester.makeconftest('pytest_plugins = ["stridekit.pytest_plugin"]')
    update = "--update-copies"
    for count, *options, failed in ((1, 0), (1, 0), (2, 1), (2, update, 0), (2, 0)):
        pytester.makepyfile(test_mine=TEST.replace("COUNT", str(count)))
        result = pytester.runpytest_inprocess(*options)
        result.assert_outcomes(passed=1 - failed, failed=failed)
        if failed:
            result.stdout.fnmatch_lines(["*copied 96 B to change layouts, and *has 48 B. New is:*"])
    assert (pytester.path / "copies" / "test_mine-test_copies.json").exists()


TESTS_OF_ONE_NAME = """
import stridekit, torch
x = torch.ones(3, 4)

def none(x):
    return x.relu()

def one(x):
    return x.t().contiguous()

class TestOne:
    def test_copies(self, copies_no_more):
        copies_no_more(stridekit.audit(ONE, x))

class TestTwo:
    def test_copies(self, copies_no_more):
        copies_no_more(stridekit.audit(one, x))
        copies_no_more(stridekit.audit(TWO, x))
        copies_no_more(stridekit.audit(one, x))
"""


def test_each_call_of_the_fixture_has_a_baseline_of_its_own(pytester):
    pytester.makeconftest('pytest_plugins = ["stridekit.pytest_plugin"]')
    for one, two, failed in (("none", "none", 0), ("none", "one", 1), ("one", "none", 1)):
        text = TESTS_OF_ONE_NAME.replace("ONE", one).replace("TWO", two)
        pytester.makepyfile(test_mine=text)
        result = pytester.runpytest_inprocess()
        result.assert_outcomes(passed=2 - failed, failed=failed)
    names = [path.name for path in sorted((pytester.path / "copies").iterdir())]
    assert names == [
        "test_mine-TestOne-test_copies.json",
        "test_mine-TestTwo-test_copies-2.json",
        "test_mine-TestTwo-test_copies-3.json",
        "test_mine-TestTwo-test_copies.json",
    ]
