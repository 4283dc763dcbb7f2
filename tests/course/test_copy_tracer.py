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
from tests.core.test_audit_report import changed_texts


def check(result, run):
    """Check the rows and chains of any audit of which all rows are shown."""
    rows = run["rows"]
    chains = run["chains"]
    assert sum(row["copied"] for row in rows) == result.bytes
    assert len(chains) == sum(len(finding.occurrences) for finding in result.findings)
    for k, chain in enumerate(chains):
        rows_of_chain = [r for r, row in enumerate(rows) if k in row["chains"]]
        assert rows_of_chain == chain["rows"]
        check_chain(rows, chain, result.findings[chain["finding"] - 1])
    numbers = set()
    for row in rows:
        numbers.update(row["about"])
        if row["copied"]:
            assert row["did"].removeprefix("backward: ").startswith("copies ")
    assert numbers == set(range(1, len(result.findings) + 1))
    loaded = run_of(Audit.from_json(result.to_json()), most=10**6)
    assert json.loads(json.dumps(run)) == json.loads(json.dumps(loaded))


def check_chain(rows, chain, finding):
    first = rows[chain["rows"][0]]
    last = rows[chain["rows"][-1]]
    for row, next_row in pairwise(chain["rows"]):
        assert row < next_row
    assert chain["finding"] in last["about"]
    assert last["copied"] >= bool(finding.copied)
    places = [occurrence.place for occurrence in finding.occurrences if occurrence.place]
    if places:
        assert any(is_row_of(last, place) for place in places)
    if finding.cause:
        assert is_row_of(first, finding.cause)
    steps = chain["steps"]
    assert 1 <= len(steps) <= MOST_STEPS
    assert all(len(step) == 4 for step in steps)
    first_role, *_ = steps[0]
    last_role, *_ = steps[-1]
    if finding.copied:
        assert last_role == "copied by"
    elif finding.made_by:
        assert last_role == "kept by"
    else:
        assert last_role == "here"
    for role, *_ in steps[1:-1]:
        assert role == "passed on by"
    if first_role == "given as":
        assert any(occurrence.given for occurrence in finding.occurrences)
        assert first["line"] == steps[0][1]


def is_row_of(row, place):
    if place.expression.startswith("audit("):  # which is no line of the model's
        return row["line"] == ""
    return row["line"] == str(place) and place.expression in row["source"]


@pytest.mark.parametrize("name", MODELS)
def test_rows_and_chains_of_models(name):
    model, *inputs = MODELS[name]()
    result = audit(model, *inputs, backward=model(*inputs).requires_grad)
    check(result, run_of(result, most=10**6))


@pytest.mark.parametrize("name", DEFECTS)
def test_a_chain_leads_from_what_was_made_to_what_it_costs(name):
    defect = DEFECTS[name]
    result = audit(defect.planted, *defect.inputs)
    run = run_of(result)
    check(result, run)
    w = CopyTracer(result)
    line = f":{defect.planted.__code__.co_firstlineno}"
    assert run["rows"][w.row]["line"].endswith(line)
    role, place, *_ = run["chains"][0]["steps"][0]
    if defect.cause:
        assert role == "made by"
        assert place.endswith(line)
    elif result.findings[0].first.given:
        assert role == "given as"
        assert "input" in place


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
LOOPED = [
    ("", ""),
    ("x.relu()", "new, 48 B"),
]
NAMED = [
    ("", ""),
    ("", ""),
    ("x.t()", "view"),
    ("xx.t().contiguous()", "copies 48 B"),
]


@pytest.mark.parametrize(
    ("fn", "shapes", "expected"),
    [
        (merge, [(2, 5, 12)], MERGED),
        (made_here, [(3, 4)], MADE),
        (in_a_loop, [(3, 4)], LOOPED),
        (two_names, [(3, 4), (3, 4)], NAMED),
    ],
)
def test_a_row_for_each_expression_says_what_became_of_the_tensor(fn, shapes, expected):
    inputs = [torch.rand(shape) for shape in shapes]
    run = run_of(audit(fn, *inputs))
    rows = [(row["source"], row["did"]) for row in run["rows"]]
    assert rows == expected


def test_a_chain_has_the_steps_in_between():
    run = run_of(audit(merge, torch.rand(2, 5, 12)))
    [chain] = [chain for chain in run["chains"] if "reshape" in chain["steps"][-1][2]]
    assert chain["rows"] == [1, 4, 6]
    assert chain["title"] == "960 B in 2 copies, explicit copy, in contiguous; call 2"
    line = merge.__code__.co_firstlineno
    view, relu, reshape = (f"test_copy_tracer.py:{line + k}" for k in (1, 3, 5))
    layout = "(2, 3, 5, 4): (60, 4, 12, 1)"
    assert chain["steps"] == [
        ("made by", view, "x.view(2, 5, 3, 4).transpose(1, 2)", layout),
        ("passed on by", relu, "torch.relu(heads)", layout),
        ("copied by", reshape, "y.reshape(2, 60)", f"{layout} to (60, 20, 4, 1)"),
    ]


class Turn(nn.Module):
    def forward(self, x):
        return x.t().contiguous()


def long(n, every):
    """Return a run of n calls that pass a layout on; one in `every` copies it."""
    layers = nn.Sequential()
    for k in range(1, n + 1):
        layers.append(Turn() if k % every == 0 else nn.ReLU())
    return lambda x: layers(x.t())


def test_a_long_chain_has_its_first_and_last_steps():
    result = audit(lambda x: long(20, 99)(x).reshape(-1), torch.rand(3, 4))
    (chain,) = run_of(result)["chains"]
    assert len(chain["steps"]) == MOST_STEPS
    assert len(chain["rows"]) == 22
    assert chain["steps"][2] == ("passed on by", "18 more calls", "", "")


class Twice(nn.Module):
    """One line that copies in two modules, on tensors of two shapes."""

    def __init__(self):
        super().__init__()
        self.turn = nn.ModuleList([Turn(), Turn()])

    def forward(self, x):
        return self.turn[0](x), self.turn[1](x[:2])


def test_each_occurrence_has_its_own_module_and_layout():
    first, second = run_of(audit(Twice(), torch.rand(4, 6)))["chains"]
    _, place, _, layouts = first["steps"][-1]
    assert place.startswith("turn.0 (Turn),")
    assert layouts == "(6, 4): (1, 6) to (4, 1)"
    assert first["title"].endswith("; call 1")
    _, place, _, layouts = second["steps"][-1]
    assert place.startswith("turn.1 (Turn),")
    assert layouts == "(6, 2): (1, 6) to (2, 1)"
    assert second["title"].endswith("; call 2")


def test_an_older_tensor_or_an_input_begins_a_chain():
    """It is the tensor that was copied, not another one in the same storage."""
    w = torch.rand(6, 8)[:, ::2]
    result = audit(lambda x: x @ w, torch.rand(5, 6))
    (chain,) = run_of(result)["chains"]
    assert chain["steps"][0] == ("made by", "code before the run", "", "(6, 4): (8, 2)")
    q, k, v = torch.rand(2, 12).chunk(3, -1)
    run = run_of(audit(lambda q, k, v: v.reshape(-1), q, k, v=v))
    lines = [row["line"] for row in run["rows"]]
    assert lines[:3] == ["input 0", "input 1", "v"]
    (chain,) = run["chains"]
    assert chain["steps"][0][:2] == ("given as", "v")
    assert chain["rows"][0] == 2


def test_an_audit_without_tensors_has_one_row():
    (row,) = run_of(audit(lambda: 1))["rows"]
    assert row["line"] == "nothing ran"


def test_rows_of_a_long_run_far_from_findings_are_left_out_and_counted():
    result = audit(long(1000, 100), torch.rand(3, 4))
    run = run_of(result)
    whole = run_of(result, most=10**6)
    assert len(run["rows"]) < 60 < MOST < len(whole["rows"])
    assert sum(row["calls"] for row in run["rows"]) == len(whole["rows"])
    for chain, whole_chain in zip(run["chains"], whole["chains"], strict=True):
        last_row = run["rows"][chain["rows"][-1]]
        assert last_row == whole["rows"][whole_chain["rows"][-1]]
    lines = str(CopyTracer(result)).splitlines()
    left_out = [int(line.split()[1]) for line in lines if line.strip().startswith("…")]
    assert len(lines) < 60
    assert sum(left_out) > 900  # counted once


def test_fewer_rows_are_those_beside_copies_and_beside_the_chosen_row():
    rows = [{"about": [], "copied": 0, "calls": 1} for _ in range(10)]
    rows[4]["copied"] = 8
    numbers = [r for r, _ in fewer(rows, 9, 9)]
    assert numbers == [-1, 3, 4, 5, -1, 8, 9]
    numbers = [r for r, _ in fewer(rows, 10)]
    assert numbers == [*range(10)]
    assert fewer([], 9) == []


@pytest.mark.parametrize("most", range(5, 30))
def test_fewer_rows_are_no_more_than_asked_for(most):
    rows = [{"about": [], "copied": int(r % 5 == 2), "calls": 1} for r in range(200)]
    assert len(fewer(rows, most, also=22)) <= most


def test_the_largest_of_very_many_findings_are_shown():
    """Every chain ends in a row that is shown and has its finding, wherever in the run that is."""

    def late(x, big):
        for _ in range(MOST):
            x = x.t().contiguous() + 1
        return big.t().contiguous(), x.t().contiguous().t()

    result = audit(late, torch.rand(2, 3), torch.rand(99, 98))
    run = run_of(result)
    rows = run["rows"]
    chains = run["chains"]
    assert len(rows) <= MOST
    assert any("with findings" in row["line"] for row in rows)
    for chain in chains:
        last = rows[chain["rows"][-1]]
        assert chain["finding"] in last["about"]
    assert any(row["copied"] == 99 * 98 * 4 for row in rows)
    w = CopyTracer(result)
    assert rows[w.row]["about"] == [1]
    assert len(str(w).splitlines()) < 60
    w.row = len(rows) - 1
    assert f"  {w.row}  " in str(w)


def test_not_all_of_very_many_occurrences_are_shown_and_a_row_shows_each_finding_once():
    def loop(x):
        for _ in range(2 * MOST):
            x.contiguous()

    result = audit(loop, torch.rand(2, 3).t())
    run = run_of(result)
    assert len(result.findings[0].occurrences) == 2 * MOST
    assert 0 < len(run["chains"]) <= MOST
    (row,) = run["rows"][1:]
    assert len(shown_chains(run, row)) == 1 < len(row["chains"])


def test_text_of_the_chosen_row():
    w = CopyTracer(audit(merge, torch.rand(2, 5, 12)), row=1)
    text = str(w).splitlines()
    assert text[0].startswith("CopyTracer: audit of merge: ")
    assert len(w._run["rows"]) == 7
    assert text[8].startswith("  finding ")
    assert any("to do" in line for line in text)
    w.row = 0
    assert len(str(w).splitlines()) == 8
    assert w.code == "CopyTracer(found, row=0)"


def test_an_audit_whose_text_was_changed_has_a_tracer():
    original = audit(lambda x: x.transpose(1, 2).reshape(2, -1) * 2, torch.rand(2, 3, 4))
    count = 0
    for changed in changed_texts(original.to_json(), 300):
        try:
            result = Audit.from_json(changed)
        except ValueError:
            continue
        count += 1
        assert repr(CopyTracer(result))
    assert count > 5


def test_a_model_without_lines_of_ones_own_has_rows_without_the_call_of_audit():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(2), nn.Linear(36, 2))
    text = str(CopyTracer(audit(model, torch.rand(1, 3, 8, 8))))
    assert "audit(" not in text
    assert "  2  1 (Flatten)  flatten    view" in text


def test_a_row_says_that_it_belongs_to_the_backward_pass():
    def step(w):
        w.t().contiguous().mul(2).sum().backward()

    run = CopyTracer(audit(step, torch.ones(4, 6, requires_grad=True)))._run
    did = [row["did"] for row in run["rows"]]
    first = next(k for k, text in enumerate(did) if text.startswith("backward: "))
    assert "copies 96 B" in did[:first]
    assert did[first:] and all(text.startswith("backward: ") for text in did[first:])
