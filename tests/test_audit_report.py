"""An audit as people use it: to read, to keep, to compare, in a test, without a call, from a shell."""

import copy
import json
import pickle
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import stridekit
from stridekit.audit import Audit, run
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
    assert sum(count for count, _ in found.copied.values()) == len(found.copies)
    assert found.bytes == found.copied["layout"][1] == 128 + 2 * 64


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
        "128 B in 2 copies, copy by reshape, in reshape, Turned",
        "y[..., :2].reshape(2, 8)",
        "0 B, call that does nothing, in contiguous, Turned",
        "not seen: reordering inside one kernel of oneDNN",
        "compiled functions",
    ):
        assert words in text
    page = found._repr_html_()
    for words in ("y[..., :2].reshape(2, 8)", "stride (16, 4, 1)", "  3  0 B"):
        assert words in page


@pytest.mark.parametrize("name", ["vit_channels_last", "checkpointed", "functions_alone"])
def test_it_comes_back_from_json(name):
    model, *inputs = MODELS[name]()
    found = stridekit.audit(model, *inputs, backward=name != "functions_alone")
    again = Audit.from_json(found.to_json())
    assert again == found
    assert str(again) == str(found)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": 0}', '{"schema": 4, "name": "x", "events": 3}', "[" * 9999]
)
def test_another_text_is_no_audit(text):
    with pytest.raises(ValueError, match="this is not an audit that to_json wrote"):
        Audit.from_json(text)


def test_a_layout_that_is_none_is_refused(found):
    values = json.loads(found.to_json())
    values["findings"][0]["occurrences"][0]["layouts"][1] = [1]
    with pytest.raises(ValueError, match="this is not an audit that to_json wrote"):
        Audit.from_json(json.dumps(values))


def test_a_text_that_was_changed_is_refused_or_displayed(found):
    """Parts of the JSON are dropped, doubled or made odd: what is read can be shown in each way."""
    draw = random.Random(0)
    odd = ["null", "-1", "1e999", "9" * 23, "[]", "{}", '"x"', "true", "NaN", "[[1]]"]
    text, refused = found.to_json(), 0
    spots = [match.span() for match in re.finditer(r'"[^"]*"|-?\d+|null|true|false|\[\]', text)]
    for _ in range(400):
        start, end = draw.choice(spots)
        changed = text[:start] + draw.choice([*odd, "", text[start:end] * 2]) + text[end:]
        try:
            read = Audit.from_json(changed)
        except ValueError as error:
            refused += "this is not an audit that to_json wrote" in str(error)
            continue
        shown = (str(read), read._repr_html_(), read.report(), read.copied)
        assert all(shown) and read.table("line") and read.compare(found) and read.to_json()
        assert repr(stridekit.CopyTracer(read))
    assert refused > 200


def test_it_can_be_pickled_and_copied(found):
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), copy.copy(found)):
        assert again == found and str(again) == str(found)
        with pytest.raises(ValueError, match="only what audit"):
            again.without(found.findings[0])


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


def test_a_pattern_that_matches_nothing_is_named(found):
    with pytest.raises(AssertionError, match="allow has 'conv\\*', which matches nothing"):
        found.assert_no_copies(allow=["*", "conv*"])


def test_a_module_is_allowed_with_and_without_its_class(model, x):
    for name in ("0", "0 (Turned)"):
        stridekit.audit(nn.Sequential(model), x).assert_no_copies(allow=[name])


def test_so_many_bytes_may_be_allowed(found):
    found.assert_no_copies(max_bytes=256)
    with pytest.raises(AssertionError):
        found.assert_no_copies(max_bytes=255)
    with pytest.raises(ValueError, match="max_bytes is '1 MB', a str: give an int"):
        found.assert_no_copies(max_bytes="1 MB")
    with pytest.raises(ValueError, match="max_bytes is -1"):
        found.assert_no_copies(max_bytes=-1)
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


class Counts(nn.Module):
    """A batch norm's counter, a gradient, and a list: what a run leaves behind."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x.transpose(1, 2).contiguous())


def test_inputs_and_gradients_stay_as_they_are():
    model, x = Counts(), torch.randn(2, 4, 4).mul(1).requires_grad_()
    given = x.detach().clone()
    found = stridekit.audit(model, x, backward=True)
    state = copy.deepcopy(model.state_dict())
    grads = [x.grad.clone(), model.norm.weight.grad.clone()]
    assert found.without(of_kind(found, "explicit copy"), rounds=3).same
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert torch.equal(x.grad, grads[0]) and torch.equal(model.norm.weight.grad, grads[1])
    written = stridekit.audit(lambda x: x.mul_(2).mT.contiguous() + 1, y := given.clone())
    assert written.without(of_kind(written, "explicit copy"), rounds=3).same
    assert torch.equal(y, given * 2)


GLOBAL = Counts()
WEIGHT = torch.ones(4, requires_grad=True)


@pytest.mark.parametrize(
    ("function", "backward"),
    [
        (lambda x: GLOBAL(x), False),
        ((lambda model: lambda x: model(x))(GLOBAL), False),
        (lambda x: (x.transpose(1, 2).contiguous() * WEIGHT).sum(), True),
    ],
    ids=["a counter", "a closure", "a gradient"],
)
def test_a_function_that_changes_a_global_is_not_run_again(function, backward, x):
    found = stridekit.audit(function, x, backward=backward)
    count, grad = GLOBAL.norm.num_batches_tracked.item(), WEIGHT.grad
    with pytest.raises(ValueError, match="may change a tensor that it was not given"):
        found.without(of_kind(found, "explicit copy"))
    assert GLOBAL.norm.num_batches_tracked.item() == count and WEIGHT.grad is grad


def test_a_model_that_cannot_be_copied_is_not_run_again(x):
    class Held(nn.Module):
        def forward(self, x):
            return x.mT.contiguous() * self.scale

    model = Held()
    model.scale = torch.ones(4, requires_grad=True) * 2  # no leaf, which torch does not copy
    found = stridekit.audit(model, x)
    with pytest.raises(ValueError, match="cannot be copied"):
        found.without(of_kind(found, "explicit copy"))


def test_a_trial_tells_what_it_knows_where_time_is_short(x):
    found = stridekit.audit(lambda x: x.mT.contiguous() * 2, x)
    trial = found.without(found.findings[0], max_seconds=1e-9)
    assert (trial.same, trial.fewer, trial.comparison) == (True, 128, None)
    assert "128 B fewer" in repr(trial) and "not measured: " in repr(trial)
    assert repr(found.without(found.findings[0], rounds=4).comparison).startswith("4 rounds")


def test_a_call_whose_loss_copies_more_says_so(x):
    def twice(x):
        y = x.mT.contiguous()
        return y.flatten() + y.flatten()

    found = stridekit.audit(twice, x)
    trial = found.without(found.findings[0], rounds=3)
    assert (trial.same, trial.fewer) == (True, -128)
    assert "copied  128 B more" in repr(trial)


def test_a_torch_that_lacks_what_audit_needs_is_refused(monkeypatch):
    monkeypatch.setattr(run, "MISSING", "no copy_ to be seen")
    with pytest.raises(RuntimeError, match=r"audit does not run on torch .*: no copy_ to be seen"):
        stridekit.audit(torch.relu, torch.ones(3))


# From a shell -------------------------------------------------------------------------------------


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


def shell(*arguments, cwd=ROOT):
    run = [sys.executable, *map(str, arguments)]
    return subprocess.run(run, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("flag", ["--well", "--fail", "--exit"])
@pytest.mark.parametrize("as_module", [False, True])
def test_the_command_runs_a_script_as_python_does(tmp_path, flag, as_module):
    """Its own modules, its arguments, its name, its traceback and its status; then comes the report."""
    (tmp_path / "package").mkdir()
    script = tmp_path / "package" / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "package" / "helper.py").touch()
    (tmp_path / "helper.py").touch()
    what = ["-m", "package.script"] if as_module else [Path("package", "script.py")]
    alone = shell(*what, flag, cwd=tmp_path)
    watched = shell("-m", "stridekit.audit", *what, flag, cwd=tmp_path)
    assert watched.returncode == alone.returncode == {"--well": 0, "--fail": 1, "--exit": 7}[flag]
    assert watched.stdout.startswith(alone.stdout)
    report = watched.stdout.removeprefix(alone.stdout)
    assert "48 B, copy by reshape" in report
    assert "script.py:9  torch.ones(3, 4).t().reshape(-1)" in report
    assert ("not watched" in report) == (flag == "--fail")
    assert watched.stderr.splitlines()[-1:] == alone.stderr.splitlines()[-1:]
    if not as_module:
        assert watched.stderr == alone.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["nowhere.py"], 2, "can't open file 'nowhere.py': it does not exist"),
        (["-m", "no.such.module"], 1, "No module named no.such.module"),
        (["-m"], 2, "-m needs the name of a module"),
    ],
)
def test_a_script_that_is_not_there_gives_one_line(arguments, status, words):
    run = shell("-m", "stridekit.audit", *arguments)
    assert (run.returncode, run.stdout) == (status, "")
    assert run.stderr == f"python -m stridekit.audit: {words}\n"


def test_the_command_says_how_it_is_used():
    run = shell("-m", "stridekit.audit")
    assert run.returncode == 2
    assert "script.py" in run.stdout


def test_the_package_of_the_command_and_the_function_have_one_name():
    code = """
import stridekit.audit
from stridekit.audit import Audit, audit
print(stridekit.audit is audit, stridekit.audit(abs, 3).name)
"""
    assert shell("-c", code).stdout == "True abs\n"
