"""CopyTracer without a browser: each copy in its row, and chains from where a layout was made to it."""

import json
from itertools import pairwise

import pytest
import torch
from torch import nn

import stridekit
from stridekit import CopyTracer, audit
from stridekit.audit import Audit
from stridekit.audit.findings import IDLE
from stridekit.widgets.copy_tracer.run import MOST, MOST_STEPS, fewer, run_of, told_of
from tests.audit_defects import DEFECTS
from tests.audit_models import MODELS
from tests.test_audit_findings import line_of


def check(found, run):
    """What holds of the rows and chains of any audit of which all rows are shown."""
    rows, chains = run["rows"], run["chains"]
    assert sum(row["copied"] for row in rows) == found.bytes
    assert len(chains) == sum(len(finding.occurrences) for finding in found.findings)
    for k, chain in enumerate(chains):
        finding = found.findings[chain["finding"] - 1]
        *_, last = way = chain["rows"]
        assert all(a < b for a, b in pairwise(way))
        assert [r for r, row in enumerate(rows) if k in row["chains"]] == way
        assert chain["finding"] in rows[last]["about"]
        assert rows[last]["copied"] >= bool(finding.copied)
        places = [each.place for each in finding.occurrences if each.place]
        assert not places or any(
            rows[last]["line"] == str(at) and at.expression in rows[last]["source"] for at in places
        )
        if finding.cause:
            assert rows[way[0]]["line"] == str(finding.cause)
            assert finding.cause.expression in rows[way[0]]["source"]
        steps = chain["steps"]
        assert 1 <= len(steps) <= MOST_STEPS and all(len(step) == 4 for step in steps)
        roles = [role for role, *_ in steps]
        end = "copied by" if finding.copied else "kept by" if finding.made_by else "here"
        assert roles[-1] == end and set(roles[1:-1]) <= {"passed on by"}
        assert (roles[0] == "given as") <= any(each.given for each in finding.occurrences)
    told = {number for row in rows for number in row["about"]}
    assert told == set(range(1, len(found.findings) + 1))
    for row in rows:
        assert row["copied"] == 0 or row["did"].removeprefix("backward: ").startswith("copies ")
    assert json.loads(json.dumps(run)) == json.loads(
        json.dumps(run_of(Audit.from_json(found.to_json()), most=10**6))
    )


@pytest.mark.parametrize("name", MODELS)
def test_rows_and_chains_of_models(name):
    model, *inputs = MODELS[name]()
    found = audit(model, *inputs, backward=model(*inputs).requires_grad)
    check(found, run_of(found, most=10**6))


@pytest.mark.parametrize("name", DEFECTS)
def test_a_chain_leads_from_what_was_made_to_what_it_costs(name):
    defect = DEFECTS[name]
    found = audit(defect.planted, *defect.inputs)
    run = run_of(found)
    check(found, run)
    w = CopyTracer(found)
    here, made = (line_of(defect.planted, mark) for mark in ("here", "made"))
    assert run["rows"][w.row]["line"].endswith(f":{here}")
    first = run["chains"][0]["steps"][0]
    if made is not None:
        assert first[0] == "made by" and first[1].endswith(f":{made}")
    elif found.findings[0].first.given:
        assert first[0] == "given as" and "input" in first[1]


def merge(x):
    heads = x.view(2, 5, 3, 4).transpose(1, 2)
    heads.contiguous().contiguous()
    y = torch.relu(heads)
    y += 1
    return y.reshape(2, 60) * 2


def test_each_row_says_what_became_of_the_tensor():
    """A view; a call that does nothing, behind one that copies; a new tensor; a write; a copy."""
    rows = run_of(audit(merge, torch.rand(2, 5, 12)))["rows"]
    assert [(row["source"], row["did"], row["format"]) for row in rows] == [
        ("", "", "contiguous"),
        ("x.view(2, 5, 3, 4).transpose(1, 2)", "view", "neither"),
        ("heads.contiguous()", "copies 480 B", "contiguous"),
        ("heads.contiguous().contiguous()", "does nothing", "contiguous"),
        ("torch.relu(heads)", "new, 480 B", "neither"),
        ("y += 1", "in place", "neither"),
        ("y.reshape(2, 60) * 2", "copies 480 B", "contiguous"),
    ]
    assert rows[1]["layout"] == "(2, 3, 5, 4): (60, 4, 12, 1)" and rows[0]["line"] == "the input"


def test_steps_between_are_told():
    run = run_of(audit(merge, torch.rand(2, 5, 12)))
    chain = next(each for each in run["chains"] if "reshape" in each["steps"][-1][2])
    line = merge.__code__.co_firstlineno
    lies = "(2, 3, 5, 4): (60, 4, 12, 1)"
    assert chain["rows"] == [1, 4, 6]
    assert chain["title"] == "960 B in 2 copies, explicit copy, in contiguous; call 2"
    assert chain["steps"] == [
        ("made by", f"test_copy_tracer.py:{line + 1}", "x.view(2, 5, 3, 4).transpose(1, 2)", lies),
        ("passed on by", f"test_copy_tracer.py:{line + 3}", "torch.relu(heads)", lies),
        (
            "copied by",
            f"test_copy_tracer.py:{line + 5}",
            "y.reshape(2, 60)",
            f"{lies} to (60, 20, 4, 1)",
        ),
    ]


class Long(nn.Sequential):
    """A layout that many modules pass on, and one of them copies now and then."""

    def __init__(self, n, every):
        super().__init__(*[Turn() if k % every == every - 1 else nn.ReLU() for k in range(n)])

    def forward(self, x):
        return super().forward(x.t())


class Turn(nn.Module):
    def forward(self, x):
        return x.t().contiguous()


def test_a_long_way_is_told_by_its_ends():
    (chain,) = run_of(audit(lambda x: Long(20, 99)(x).reshape(-1), torch.rand(3, 4)))["chains"]
    assert len(chain["steps"]) == MOST_STEPS and len(chain["rows"]) == 22
    assert chain["steps"][2] == ("passed on by", "18 more calls", "", "")


def test_calls_of_one_expression_share_a_row():
    def loop(x):
        for _ in range(20):
            x = x.relu()
        return x

    assert len(run_of(audit(loop, torch.rand(3, 4)))["rows"]) == 2


class Twice(nn.Module):
    """One line that copies in two modules, on tensors of two shapes."""

    def __init__(self):
        super().__init__()
        self.turn = nn.ModuleList([Turn(), Turn()])

    def forward(self, x):
        return self.turn[0](x), self.turn[1](x[:2])


def test_each_time_has_its_own_module_and_layout():
    run = run_of(audit(Twice(), torch.rand(4, 6)))
    ends = [chain["steps"][-1] for chain in run["chains"]]
    assert [one[1].partition(",")[0] for one in ends] == ["turn.0 (Turn)", "turn.1 (Turn)"]
    assert [one[3] for one in ends] == ["(6, 4): (1, 6) to (4, 1)", "(6, 2): (1, 6) to (2, 1)"]
    assert [chain["title"].rpartition("; ")[2] for chain in run["chains"]] == ["call 1", "call 2"]


def test_the_backward_pass_says_so():
    x = torch.rand(4, 6, requires_grad=True)
    run = run_of(
        audit(lambda x: (x.t() * 2).t() * torch.rand(6, 4).t().contiguous(), x, backward=True)
    )
    assert any(row["did"].startswith("backward: new") for row in run["rows"])
    y = torch.rand(2, 3, 4, requires_grad=True)
    run = run_of(audit(lambda y: y.transpose(0, 1).reshape(-1), y, backward=True))
    assert not run["rows"][1]["did"].startswith("backward: ")


def test_a_block_and_a_run_of_nothing():
    x = torch.rand(3, 4).t()
    with audit() as a:
        x.reshape(-1)
    run = run_of(a)
    assert [row["did"] for row in run["rows"]] == ["copies 48 B"]
    assert run["chains"][0]["steps"][0] == ("made by", "code before the run", "", "(4, 3): (1, 4)")
    w = CopyTracer(audit(lambda: 1))
    assert [row["line"] for row in w._run["rows"]] == ["nothing ran"] and w.row == 0
    with pytest.raises(stridekit.LayoutError, match="row is 1: this run has rows 0 to 0"):
        w.row = 1


def test_of_a_long_run_rows_far_from_findings_are_left_out():
    found = audit(Long(1000, 100), torch.rand(3, 4))
    run = run_of(found)
    whole = run_of(found, most=10**6)
    assert len(run["rows"]) < 60 < MOST < len(whole["rows"])
    assert sum(row["calls"] for row in run["rows"]) == len(whole["rows"])
    for chain, same in zip(run["chains"], whole["chains"], strict=True):
        ours, theirs = (r["rows"][c["rows"][-1]] for r, c in ((run, chain), (whole, same)))
        assert ours == theirs
    text = str(CopyTracer(found))
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("…")]
    assert len(text.splitlines()) < 60
    assert sum(int(line.split()[1]) for line in lines) > 900  # counted once


def test_of_very_many_findings_the_largest_are_shown():
    """Every chain ends in a row that is shown and has its finding, wherever in the run that is."""

    def late(x, big):
        for _ in range(MOST):
            x = x.t().contiguous() + 1
        return big.t().contiguous(), x.t().contiguous().t()

    found = audit(late, torch.rand(2, 3), torch.rand(99, 98))
    run = run_of(found)
    rows, chains = run["rows"], run["chains"]
    assert len(rows) <= MOST
    assert all(
        chain["rows"] and chain["finding"] in rows[chain["rows"][-1]]["about"] for chain in chains
    )
    assert any(row["copied"] == 99 * 98 * 4 for row in rows)
    assert any("with findings" in row["line"] for row in rows)
    w = CopyTracer(found)
    assert rows[w.row]["about"] == [1] and len(str(w).splitlines()) < 60
    w.row = len(rows) - 1
    assert f"  {w.row}  " in str(w)


def test_very_many_times_of_a_finding_are_not_all_told():
    found = audit(lambda x: [x.t().contiguous() for _ in range(2 * MOST)], torch.rand(2, 3))
    run = run_of(found)
    assert len(found.findings[0].occurrences) == 2 * MOST and 0 < len(run["chains"]) <= MOST
    assert len(run["rows"]) <= MOST and len(str(CopyTracer(found)).splitlines()) < 60


def test_a_row_tells_each_finding_once():
    def loop(x):
        for _ in range(3):
            x.contiguous()

    run = run_of(audit(loop, torch.rand(3, 4).t()))
    (row,) = run["rows"][1:]
    assert len(row["chains"]) == 3 and len(told_of(run, row)) == 1
    assert run["chains"][1]["title"] == "144 B in 3 copies, repeated copy, in contiguous; call 2"


def test_what_is_left_out_is_counted():
    rows = [{"about": [], "copied": 0, "calls": 1} for _ in range(10)]
    rows[4]["copied"] = 8
    assert [r for r, _ in fewer(rows, 10)] == list(range(10))
    shown = fewer(rows, 9, 9)
    assert [r for r, _ in shown] == [-1, 3, 4, 5, -1, 8, 9]
    assert [row["calls"] for r, row in shown if r < 0] == [3, 2]
    assert fewer([], 9) == []


def test_memory_that_a_call_made_itself_is_new():
    def made(x):
        y = torch.relu(x).t()
        z = torch.relu(x).add_(1)
        return y, z, x.t(), x.sum().item()

    rows = run_of(audit(made, torch.rand(3, 4)))["rows"]
    assert [row["did"] for row in rows] == ["", "new, 48 B", "new, 48 B", "view", "new, 4 B"]


def test_what_was_given_is_the_tensor_that_was_copied():
    """Not another one in the same storage, and not one that was there before."""
    w = torch.rand(6, 8)[:, ::2]

    def product(x):
        return x @ w

    (chain,) = run_of(audit(product, torch.rand(5, 6)))["chains"]
    assert chain["steps"][0] == ("made by", "code before the run", "", "(6, 4): (8, 2)")
    qkv = torch.rand(2, 12)
    q, k, v = qkv.chunk(3, -1)
    run = run_of(audit(lambda q, k, v: v.reshape(-1), q, k, v=v))
    assert [row["line"] for row in run["rows"][:3]] == ["input 0", "input 1", "v"]
    assert (
        run["chains"][0]["steps"][0][:2] == ("given as", "v") and run["chains"][0]["rows"][0] == 2
    )


def test_names_that_contain_one_another_are_two_calls():
    def two(x, xx):
        return x.t(), xx.t().contiguous()

    rows = run_of(audit(two, torch.rand(3, 4), torch.rand(3, 4)))["rows"]
    assert [row["source"] for row in rows[2:]] == ["x.t()", "xx.t().contiguous()"]


def turned(x):
    return x.t().reshape(-1)


@pytest.mark.parametrize(
    ("part", "value"),
    [("occurrences", []), ("kind", "odd"), ("events", [99])],
)
def test_json_of_what_did_not_run_is_refused(part, value):
    fields = json.loads(audit(turned, torch.rand(3, 4)).to_json())
    (finding,) = fields["findings"]
    (finding["occurrences"][0] if part == "events" else finding)[part] = value
    with pytest.raises(ValueError, match="not an audit that to_json wrote"):
        Audit.from_json(json.dumps(fields))
    fields = json.loads(audit(turned, torch.rand(3, 4)).to_json())
    fields["copies"][0]["op"] = len(fields["events"])
    with pytest.raises(ValueError, match="not an audit that to_json wrote"):
        Audit.from_json(json.dumps(fields))


def test_text_of_the_chosen_row():
    w = CopyTracer(audit(merge, torch.rand(2, 5, 12)), row=1)
    text = str(w).splitlines()
    assert text[0].startswith("CopyTracer: audit of merge: ") and len(w._run["rows"]) == 7
    assert text[8].startswith("  finding ") and any("to do" in line for line in text)
    w.row = 0
    assert len(str(w).splitlines()) == 8
    assert w.code == "CopyTracer(found, row=0)"


def test_a_call_that_does_nothing_stands_behind_all_that_ran():
    def last(x):
        y = x + 1
        return y.contiguous()

    run = run_of(audit(last, torch.rand(2, 3)))
    assert [row["did"] for row in run["rows"]] == ["", "new, 24 B", "does nothing"]
    assert IDLE in run["chains"][0]["title"] and run["chains"][0]["rows"] == [2]
