"""The GPU experiments, run small on the CPU, so that they work on a GPU machine."""

import importlib
import re
import sys

import pytest
import torch

from stridekit.cost.warp import warp_sectors
from stridekit.lessons import gpu
from stridekit.timing import Comparison, machine

needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@pytest.fixture(scope="module")
def results():
    return gpu.run("cpu", scale=16, rounds=1)


def test_every_experiment_runs_and_shows_each_of_its_variants(results):
    here = machine()
    on = f"{here['processor']}, torch {here['torch']}"
    assert results.source.startswith(f"measured here, live, on {on}, ")
    for experiment in gpu.EXPERIMENTS:
        names = list(experiment.functions(8))
        rows = [row[1:3] for row in results.rows if row[0] == experiment.name]
        assert [name for name, _ in rows] == names[1:]
        assert all(text.split()[-1] in "faster slower same inconclusive" for _, text in rows)


def fake_compare(monkeypatch, compared=lambda functions: None):
    """Let `gpu.run` call `compared(functions)` in place of timing them; return the options it is given."""
    asked = []

    def compare(functions, **options):
        asked.append(options)
        compared(functions)
        return Comparison({"a": [[1.0]], "b": [[1.0]]}, [[0, 1]], {"a": 1, "b": 1}, 1, "cpu")

    monkeypatch.setattr(gpu, "compare", compare)
    return asked


def test_experiments_are_compared_with_what_run_was_asked_for(monkeypatch):
    """On the smallest tensors that there are, each function can be called."""
    asked = fake_compare(monkeypatch, lambda functions: [work() for work in functions.values()])
    rows = gpu.run("cpu", scale=10**9, rounds=7, max_seconds=0.5).rows
    assert all(text.endswith(" same") for *_, text, _ in rows)
    options = {"device": "cpu", "rounds": 7, "max_seconds": 0.5}
    assert asked == len(gpu.EXPERIMENTS) * [options]


def test_an_experiment_that_fails_says_why_and_the_others_go_on(monkeypatch):
    """As when a GPU has too little memory: its row has the reason."""

    def compared(functions):
        if "dim -1" in functions:
            raise torch.OutOfMemoryError("CUDA out of memory.\n" + "Tried to allocate 9 GiB. " * 20)

    fake_compare(monkeypatch, compared)
    rows = gpu.run("cpu", scale=10**9).rows
    [(name, _, why, _)] = [row for row in rows if row[1] == ""]
    assert why.startswith(
        "unmeasured: OutOfMemoryError: CUDA out of memory. Tried to allocate 9 GiB."
    )
    assert name == "x.max(dim)" and len(why) <= 220
    assert len(rows) == len(gpu.EXPERIMENTS)


@pytest.mark.parametrize("experiment", gpu.EXPERIMENTS, ids=lambda e: e.name)
def test_variants_are_what_their_names_say_and_do_the_same_work(experiment):
    """All variants return the same number of elements, so only the layout differs."""
    sizes = set()
    for name, work in experiment.functions(8).items():
        answer = work()
        sizes.add((answer[0] if isinstance(answer, tuple) else answer).shape)
        given = [getattr(work.func, "__self__", None), *work.args]
        tensors = [t for t in given if isinstance(t, torch.Tensor)]
        numbers = [*map(int, re.findall(r"\d+", name))]
        kind = name.split()[0]
        if kind == "one":  # "one transposed (0, 2)"
            assert tensors[0].is_contiguous() and tensors[1].transpose(*numbers).is_contiguous()
        elif kind == "k":
            assert [x.stride() for x in tensors] == [(numbers[0], 1), (8, 1)]
        elif kind == "from":
            assert tensors[0].storage_offset() == numbers[0]
        elif kind == "dim":
            assert given[-1] == -numbers[0]
        elif " @ " in name:
            is_turned = [operand.endswith(".mT") for operand in name.split(" @ ")]
            assert [x.stride() == (1, 8) for x in tensors] == is_turned
        for x in tensors if "channels-last" in name or "NCHW" in name else ():
            last = name == "channels-last"
            assert x.is_contiguous(memory_format=torch.channels_last) == last != x.is_contiguous()
            assert str(x.shape[1]) in experiment.name and x.dtype == torch.bfloat16
    assert len(sizes) == 1


def in_memory_order(tensors, out):
    """Views of the same elements, visited as torch visits them: in the order of the output's memory."""
    order = sorted(range(out.ndim), key=out.stride, reverse=True)
    return [tensor.permute(order) for tensor in tensors]


@pytest.mark.parametrize(
    "experiment", [e for e in gpu.EXPERIMENTS if e.ratios(1)], ids=lambda e: e.name
)
def test_predicted_ratios_are_those_of_the_sectors_that_a_warp_reads_and_writes(experiment):
    functions = experiment.functions(64)
    for name, work in functions.items():
        out = work()
        given = [getattr(work.func, "__self__", None), *work.args]
        tensors = [out, *(t for t in given if isinstance(t, torch.Tensor))]
        found = [warp_sectors(t, 1).sectors for t in in_memory_order(tensors, out)]
        assert sum(found) == experiment.variants[name][1], (name, found)


@needs_no_gpu
def test_a_gpu_comes_before_what_was_published(monkeypatch):
    assert "not measured here" in gpu.gpu_results().source
    monkeypatch.setattr(gpu, "why_no_cuda", lambda: "")
    monkeypatch.setattr(gpu, "run", lambda: "live")
    assert gpu.gpu_results() == "live"


def test_published_figures_say_that_they_are_and_the_others_that_they_are_none():
    found = gpu.published()
    assert found.source == (
        "not measured here: figures of “PyTorch for Scientists!” by nikitaved (its torch: "
        "2.8.0.dev20250521+cu128), which does not name its GPU"
    )
    some = "x.add(3)", "x * y", "x.max(dim)", gpu.EXPERIMENTS[-1].name
    shown = repr(found.only(*some)).splitlines()
    assert shown[1:] == [
        "  experiment                         variant                ratio       predicted",
        "  x.add(3)                           permuted               1.00        1.00",
        "  x.add(3)                           stride 5               2.92        3.00",
        "  x.add(3)                           rows with holes        1.02        1.00",
        "  x * y                              one transposed (0, 2)  8.79        3.33",
        "  x * y                              one transposed (0, 1)  unmeasured  1.00",
        "  x * y                              one transposed (1, 2)  unmeasured  3.33",
        "  x * y                              both transposed        1.00        1.00",
        "  x.max(dim)                         dim -2                 1.47",
        "  conv2d 3x3, bfloat16, 63 channels  channels-last          unmeasured",
    ]
    assert {row[0] for row in found.rows} == {e.name for e in gpu.EXPERIMENTS}
    known = {(e.name, variant) for e in gpu.EXPERIMENTS for variant in e.ratios(0)}
    assert {row[:2] for row in found.rows if row[2] != "unmeasured"} == known


def test_the_experiments_need_torch_and_numpy_alone(monkeypatch):
    """A GPU machine has torch and little else, so they must not import what notebooks need."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "stridekit"]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("matplotlib", "ipywidgets", "anywidget", "IPython", "PIL", "traitlets"):
        monkeypatch.setitem(sys.modules, name, None)
    again = importlib.import_module("stridekit.lessons.gpu")
    assert again is not gpu and len(again.run("cpu", scale=64, rounds=1).rows) > 10
