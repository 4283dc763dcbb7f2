"""CopyTracer without a browser: each copy in its row, and chains from where a layout was made to it."""

import json
from itertools import pairwise

import pytest
import torch
from torch import nn

import stridekit
from stridekit import Audit, CopyTracer, audit
from stridekit.auditing.findings import IDLE
from stridekit.widgets.copy_tracer.run import MOST, MOST_STEPS, gaps, run_of
from tests.audit_defects import DEFECTS
from tests.audit_models import MODELS
from tests.test_audit import made
from tests.test_audit_findings import line_of


def check(found, run):
    """What holds of the rows and chains of any audit of which all rows are shown."""
    rows, chains = run["rows"], run["chains"]
    assert sum(row["copied"] for row in rows) == found.copied.layouts
    assert len(chains) == sum(finding.count for finding in found.findings)
    for k, chain in enumerate(chains):
        finding = found.findings[chain["finding"] - 1]
        *_, last = way = chain["rows"]
        assert all(a < b for a, b in pairwise(way))
        assert [r for r, row in enumerate(rows) if k in row["chains"]] == way
        assert chain["finding"] in rows[last]["about"]
        assert rows[last]["copied"] >= bool(finding.copied)
        if finding.place:
            assert rows[last]["line"] == str(finding.place)
            assert finding.place.expression in rows[last]["source"]
        if finding.cause:
            assert rows[way[0]]["line"] == str(finding.cause)
            assert finding.cause.expression in rows[way[0]]["source"]
        steps = chain["steps"]
        assert 1 <= len(steps) <= MOST_STEPS and all(len(step) == 4 for step in steps)
        roles = [role for role, *_ in steps]
        end = "copied by" if finding.copied else "kept by" if finding.made_by else "here"
        assert roles[-1] == end and set(roles[1:-1]) <= {"passed on by"}
        assert (roles[0] == "given as") <= (finding.made_by == "an input")
    told = {number for row in rows for number in row["about"]}
    assert told == set(range(1, len(found.findings) + 1))
    for row in rows:
        assert row["copied"] == 0 or row["did"].startswith("copies ")
    assert json.loads(json.dumps(run)) == json.loads(
        json.dumps(run_of(Audit.from_json(found.to_json()), most=10**6))
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
def test_rows_and_chains_of_models(name, backward):
    model, inputs = made(name, backward)
    found = audit(model, *inputs, backward=backward)
    check(found, run_of(found, most=10**6))
    assert len(run_of(found)["rows"]) <= 2 * MOST


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
    elif found.findings[0].made_by == "an input":
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
    chain = next(one for one in run["chains"] if "reshape" in one["title"])
    line = merge.__code__.co_firstlineno
    lies = "(2, 3, 5, 4): (60, 4, 12, 1)"
    assert chain["rows"] == [1, 4, 5, 6] and chain["title"] == "480 B, copy by reshape, in reshape"
    assert chain["steps"] == [
        ("made by", f"test_copy_tracer.py:{line + 1}", "x.view(2, 5, 3, 4).transpose(1, 2)", lies),
        ("passed on by", f"test_copy_tracer.py:{line + 3}", "torch.relu(heads)", lies),
        ("passed on by", f"test_copy_tracer.py:{line + 4}", "y += 1", lies),
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
    assert [one[1].partition(",")[0] for one in ends] == ["turn.0", "turn.1"]
    assert [one[3] for one in ends] == ["(6, 4): (1, 6) to (4, 1)", "(6, 2): (1, 6) to (2, 1)"]
    assert [chain["title"].rpartition(", ")[2] for chain in run["chains"]] == [
        "call 1 of 2",
        "call 2 of 2",
    ]


def test_the_backward_pass_says_so():
    x = torch.rand(4, 6, requires_grad=True)
    rows = run_of(audit(lambda x: x.t().reshape(-1) * 2, x, backward=True))["rows"]
    assert any(row["did"].startswith("backward: ") for row in rows)
    assert not rows[1]["did"].startswith("backward: ")


def test_a_block_and_a_run_of_nothing():
    x = torch.rand(3, 4).t()
    with audit() as a:
        x.reshape(-1)
    run = run_of(a)
    assert [row["did"] for row in run["rows"]] == ["copies 48 B"]
    assert run["chains"][0]["steps"][0] == ("made by", "what was there before", "", "")
    w = CopyTracer(audit(lambda: 1))
    assert [row["line"] for row in w._run["rows"]] == ["nothing ran"] and w.row == 0
    with pytest.raises(stridekit.LayoutError, match="row is 1: this run has rows 0 to 0"):
        w.row = 1


def test_of_a_long_run_rows_far_from_findings_are_left_out():
    found = audit(Long(1000, 100), torch.rand(3, 4))
    run = run_of(found)
    whole = run_of(found, most=10**6)
    assert len(run["rows"]) < 60 < MOST < len(whole["rows"])
    out = sum(int(row["line"].split()[1]) for row in run["rows"] if row["line"].startswith("…"))
    assert out + sum(not row["line"].startswith("…") for row in run["rows"]) == len(whole["rows"])
    for chain, same in zip(run["chains"], whole["chains"], strict=True):
        ours, theirs = (r["rows"][c["rows"][-1]] for r, c in ((run, chain), (whole, same)))
        assert ours == theirs
    text = str(CopyTracer(found))
    assert len(text.splitlines()) < 60 and "more calls" in text


def test_very_many_times_of_a_finding_are_not_all_told():
    found = audit(lambda x: [x.t().contiguous() for _ in range(2 * MOST)], torch.rand(2, 3))
    run = run_of(found)
    assert found.findings[0].count == 2 * MOST and len(run["chains"]) == MOST
    assert len(run["rows"]) <= 2 * MOST and len(str(CopyTracer(found)).splitlines()) < 60


def test_what_is_left_out_is_counted():
    rows = [{"about": [], "copied": 0} for _ in range(10)]
    rows[4]["copied"] = 8
    assert list(gaps(rows, 10)) == [(0, r) for r in range(11)]
    assert list(gaps(rows, 9, 9)) == [(3, 3), (0, 4), (0, 5), (2, 8), (0, 9), (0, 10)]
    assert list(gaps([], 9)) == [(0, 0)]


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
