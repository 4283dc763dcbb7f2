"""CopyTracer without a browser: each copy in its row, and chains from where a layout was made to it."""

import json
from itertools import pairwise

import pytest
import torch
from torch import nn

from stridekit import CopyTracer, audit
from stridekit.audit import Audit
from stridekit.widgets.copy_tracer.rows import MOST, MOST_STEPS, fewer, run_of, shown_chains
from tests.core.audit_defects import DEFECTS
from tests.core.audit_models import MODELS


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
        assert roles[0] != "given as" or rows[way[0]]["line"] == steps[0][1]
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
    line = f":{defect.planted.__code__.co_firstlineno}"
    assert run["rows"][w.row]["line"].endswith(line)
    first = run["chains"][0]["steps"][0]
    if defect.cause:
        assert first[0] == "made by" and first[1].endswith(line)
    elif found.findings[0].first.given:
        assert first[0] == "given as" and "input" in first[1]


def merge(x):
    heads = x.view(2, 5, 3, 4).transpose(1, 2)
    heads.contiguous().contiguous()
    y = torch.relu(heads)
    y += 1
    return y.reshape(2, 60) * 2


def made_here(x):
    y = torch.relu(x).t()
    z = torch.relu(x).add_(1)
    return y, z, x.t(), x.sum().item()


def in_a_loop(x):
    for _ in range(20):
        x = x.relu()
    return x


def two_names(x, xx):
    return x.t(), xx.t().contiguous()


MERGED = [
    ("", ""),
    ("x.view(2, 5, 3, 4).transpose(1, 2)", "view"),
    ("heads.contiguous()", "copies 480 B"),
    ("heads.contiguous().contiguous()", "does nothing"),
    ("torch.relu(heads)", "new, 480 B"),
    ("y += 1", "in place"),
    ("y.reshape(2, 60) * 2", "copies 480 B"),
]
MADE = [
    ("", ""),
    ("torch.relu(x).t()", "new, 48 B"),
    ("torch.relu(x).add_(1)", "new, 48 B"),
    ("x.t()", "view"),
    ("x.sum().item()", "new, 4 B"),
]
NAMED = [("", ""), ("", ""), ("x.t()", "view"), ("xx.t().contiguous()", "copies 48 B")]


@pytest.mark.parametrize(("fn", "shapes", "told"), [
    (merge, [(2, 5, 12)], MERGED),
    (made_here, [(3, 4)], MADE),
    (in_a_loop, [(3, 4)], [("", ""), ("x.relu()", "new, 48 B")]),
    (two_names, [(3, 4), (3, 4)], NAMED),
])  # fmt: skip
def test_a_row_for_each_expression_says_what_became_of_the_tensor(fn, shapes, told):
    run = run_of(audit(fn, *map(torch.rand, shapes)))
    assert [(row["source"], row["did"]) for row in run["rows"]] == told


def test_steps_between_are_told():
    run = run_of(audit(merge, torch.rand(2, 5, 12)))
    chain = next(each for each in run["chains"] if "reshape" in each["steps"][-1][2])
    line, lies = merge.__code__.co_firstlineno, "(2, 3, 5, 4): (60, 4, 12, 1)"
    assert chain["rows"] == [1, 4, 6]
    assert chain["title"] == "960 B in 2 copies, explicit copy, in contiguous; call 2"
    at = [f"test_copy_tracer.py:{line + k}" for k in (1, 3, 5)]
    assert chain["steps"] == [
        ("made by", at[0], "x.view(2, 5, 3, 4).transpose(1, 2)", lies),
        ("passed on by", at[1], "torch.relu(heads)", lies),
        ("copied by", at[2], "y.reshape(2, 60)", f"{lies} to (60, 20, 4, 1)"),
    ]


class Turn(nn.Module):
    def forward(self, x):
        return x.t().contiguous()


def long(n, every):
    """Calls that pass a layout on, and one of them copies now and then."""
    layers = nn.Sequential(*[Turn() if k % every == every - 1 else nn.ReLU() for k in range(n)])
    return lambda x: layers(x.t())


def test_a_long_way_is_told_by_its_ends():
    (chain,) = run_of(audit(lambda x: long(20, 99)(x).reshape(-1), torch.rand(3, 4)))["chains"]
    assert len(chain["steps"]) == MOST_STEPS and len(chain["rows"]) == 22
    assert chain["steps"][2] == ("passed on by", "18 more calls", "", "")


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
    assert [end[1].partition(",")[0] for end in ends] == ["turn.0 (Turn)", "turn.1 (Turn)"]
    assert [end[3] for end in ends] == ["(6, 4): (1, 6) to (4, 1)", "(6, 2): (1, 6) to (2, 1)"]
    assert [chain["title"].rpartition("; ")[2] for chain in run["chains"]] == ["call 1", "call 2"]


def test_what_was_there_or_given_begins_a_way():
    """The tensor that was copied: not another one in the same storage."""
    w = torch.rand(6, 8)[:, ::2]
    (chain,) = run_of(audit(lambda x: x @ w, torch.rand(5, 6)))["chains"]
    assert chain["steps"][0] == ("made by", "code before the run", "", "(6, 4): (8, 2)")
    q, k, v = torch.rand(2, 12).chunk(3, -1)
    run = run_of(audit(lambda q, k, v: v.reshape(-1), q, k, v=v))
    assert [row["line"] for row in run["rows"][:3]] == ["input 0", "input 1", "v"]
    (chain,) = run["chains"]
    assert chain["steps"][0][:2] == ("given as", "v") and chain["rows"][0] == 2
    assert [row["line"] for row in run_of(audit(lambda: 1))["rows"]] == ["nothing ran"]


def test_of_a_long_run_rows_far_from_findings_are_left_out_and_counted():
    found = audit(long(1000, 100), torch.rand(3, 4))
    run, whole = run_of(found), run_of(found, most=10**6)
    assert len(run["rows"]) < 60 < MOST < len(whole["rows"])
    assert sum(row["calls"] for row in run["rows"]) == len(whole["rows"])
    for chain, same in zip(run["chains"], whole["chains"], strict=True):
        ours, theirs = (r["rows"][c["rows"][-1]] for r, c in ((run, chain), (whole, same)))
        assert ours == theirs
    lines = [line.strip() for line in str(CopyTracer(found)).splitlines()]
    left = [int(line.split()[1]) for line in lines if line.startswith("…")]
    assert len(lines) < 60 and sum(left) > 900  # counted once
    rows = [{"about": [], "copied": 8 * (k == 4), "calls": 1} for k in range(10)]
    assert [r for r, _ in fewer(rows, 9, 9)] == [-1, 3, 4, 5, -1, 8, 9]
    assert [r for r, _ in fewer(rows, 10)] == [*range(10)] and fewer([], 9) == []


def test_of_very_many_findings_the_largest_are_shown():
    """Every chain ends in a row that is shown and has its finding, wherever in the run that is."""

    def late(x, big):
        for _ in range(MOST):
            x = x.t().contiguous() + 1
        return big.t().contiguous(), x.t().contiguous().t()

    found = audit(late, torch.rand(2, 3), torch.rand(99, 98))
    run = run_of(found)
    rows, chains = run["rows"], run["chains"]
    assert len(rows) <= MOST and any("with findings" in row["line"] for row in rows)
    assert all(chain["finding"] in rows[chain["rows"][-1]]["about"] for chain in chains)
    assert any(row["copied"] == 99 * 98 * 4 for row in rows)
    w = CopyTracer(found)
    assert rows[w.row]["about"] == [1] and len(str(w).splitlines()) < 60
    w.row = len(rows) - 1
    assert f"  {w.row}  " in str(w)


def test_very_many_times_of_a_finding_are_not_all_told_and_a_row_tells_each_once():
    def loop(x):
        for _ in range(2 * MOST):
            x.contiguous()

    found = audit(loop, torch.rand(2, 3).t())
    run = run_of(found)
    assert len(found.findings[0].occurrences) == 2 * MOST and 0 < len(run["chains"]) <= MOST
    (row,) = run["rows"][1:]
    assert len(shown_chains(run, row)) == 1 < len(row["chains"])


def test_text_of_the_chosen_row():
    w = CopyTracer(audit(merge, torch.rand(2, 5, 12)), row=1)
    text = str(w).splitlines()
    assert text[0].startswith("CopyTracer: audit of merge: ") and len(w._run["rows"]) == 7
    assert text[8].startswith("  finding ") and any("to do" in line for line in text)
    w.row = 0
    assert len(str(w).splitlines()) == 8
    assert w.code == "CopyTracer(found, row=0)"
