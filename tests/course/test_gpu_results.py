"""The GPU experiments, run small on the CPU, so that they work on a GPU machine."""

import importlib
import re
import sys

import pytest
import torch

from stridekit.cost.warp import warp_sectors
from stridekit.exercises import hardware
from stridekit.exercises.hardware import recorded_bars
from stridekit.lessons import gpu
from stridekit.lessons.records import read
from stridekit.timing import Comparison, TimingError

BY_NAME = {experiment.name: experiment for experiment in gpu.EXPERIMENTS}
SMALL = {"device": "cpu", "scale": 10**9}


@pytest.mark.parametrize("name", BY_NAME)
def test_each_experiment_is_measured_and_recorded_by_its_variants(name):
    """This run takes the smallest tensors that there are; the record is of a GPU."""
    variants = [*BY_NAME[name].variants]
    here = gpu.measure(BY_NAME[name], **SMALL, rounds=1)
    machine, records = read(gpu.RECORD)
    assert machine["gpu"]["name"] == "NVIDIA H200" and {*records} == {*BY_NAME}
    for record in (here, records[name]):
        assert [[*record.seconds], [*record.ratios]] == [variants, variants[1:]]
    verdicts = {ratio.verdict for ratio in records[name].ratios.values()}
    assert not records[name].noise and "inconclusive" not in verdicts


@pytest.fixture
def on_a_gpu(monkeypatch):
    """Take the CPU for a GPU, and call functions without timing; return the options of each `compare`."""
    calls = []

    def compare(functions, **options):
        calls.append(options)
        if "dim -1" in functions:
            raise torch.OutOfMemoryError("CUDA out of memory.\n" + "Tried to allocate 9 GiB. " * 20)
        parts = {name: work()[0] for name, work in functions.items()}
        assert max(part.numel() for part in parts.values()) < 2000  # SMALL
        times = {name: [[1.0 + k]] for k, name in enumerate(parts)}
        return Comparison(times, [[0]], dict.fromkeys(times, 1), 1, "cpu")

    measure = gpu.measure
    machine = {"gpu": {"name": "mine"}, "torch": "2.9", "date": "today"}
    monkeypatch.setattr(gpu, "compare", compare)
    monkeypatch.setattr(gpu, "why_no_cuda", str)
    monkeypatch.setattr(gpu, "machine", lambda: machine)
    monkeypatch.setattr(gpu, "measure", lambda e: measure(e, **SMALL, rounds=7))
    return calls


def test_results_of_this_gpu_stand_beside_the_others(on_a_gpu):
    """An experiment that fails says why, and the others go on."""
    table = gpu.gpu_results()
    assert on_a_gpu == [{"device": "cpu", "rounds": 7}] * len(BY_NAME)
    assert table.head == ("experiment", "predicted", "published", "recorded", "here")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["x.add(3): stride 5"] == ("3.00", "2.92", "2.85", "3.00")
    assert rows["x.max(dim): dim -2"] == ("", "1.47", "1.58", "")
    *_, here, failure = table.title.split("\n")
    assert here == "here: mine, torch 2.9, today"
    assert failure.startswith("x.max(dim) failed: OutOfMemoryError: CUDA out of memory. Tried")
    assert len(failure) <= 200
    picture = gpu.gpu_results("x * y").plot()
    assert picture.measured and picture.where.splitlines()[-1] == here
    assert len(picture.ax.get_legend().get_texts()) == 4


def test_without_a_gpu_the_article_and_the_record_are_all(monkeypatch):
    monkeypatch.setattr(gpu, "why_no_cuda", lambda: "none")
    table = gpu.gpu_results("x * y", "x.max(dim)")
    assert repr(table).splitlines() == [
        "time, as multiples of the first variant",
        "published: “PyTorch for Scientists!” by nikitaved, torch 2.8.0.dev20250521+cu128, GPU not named",
        "recorded: NVIDIA H200, torch 2.11.0+cu130, 2026-11-26",
        "  experiment                    predicted  published  recorded",
        "  x * y: one transposed (0, 2)       3.33       8.79      3.92",
        "  x * y: one transposed (0, 1)       1.00                 1.30",
        "  x * y: one transposed (1, 2)       3.33                 2.61",
        "  x * y: both transposed             1.00       1.00      1.00",
        "  x.max(dim): dim -2                            1.47      1.58",
    ]
    picture = table.plot()
    assert not picture.measured and repr(picture) == repr(table)
    names = [label.get_text().replace("\n", " ") for label in picture.ax.get_yticklabels()]
    assert names == [row[0] for row in table.rows]
    assert len(gpu.gpu_results().rows) == sum(len(e.variants) - 1 for e in gpu.EXPERIMENTS)
    with pytest.raises(TimingError, match=r"'x.add\(4\)': these are x.add\(3\), x \* y, "):
        gpu.gpu_results("x * y", "x.add(4)")


def arguments_of(work):
    """Return the arguments of a partial function, and the object of a method before them."""
    return [getattr(work.func, "__self__", None), *work.args]


def tensors_of(work):
    return [x for x in arguments_of(work) if isinstance(x, torch.Tensor)]


@pytest.mark.parametrize("experiment", gpu.EXPERIMENTS, ids=lambda e: e.name)
def test_all_variants_do_the_same_work(experiment):
    shapes = set()
    for work in experiment.functions(8).values():
        answer = work()
        values = answer[0] if isinstance(answer, tuple) else answer
        shapes.add(values.shape)
    assert len(shapes) == 1


VARIANTS = [(experiment, name) for experiment in gpu.EXPERIMENTS for name in experiment.variants]


@pytest.mark.parametrize(
    ("experiment", "name"), VARIANTS, ids=[f"{e.name}: {name}" for e, name in VARIANTS]
)
def test_a_variant_is_what_its_name_says(experiment, name):
    work = experiment.functions(8)[name]
    tensors = tensors_of(work)
    numbers = [*map(int, re.findall(r"\d+", name))]
    first_word = name.split()[0]
    if first_word == "one":  # "one transposed (0, 2)"
        assert tensors[0].is_contiguous() and tensors[1].transpose(*numbers).is_contiguous()
    elif first_word == "k":
        assert [x.stride() for x in tensors] == [(numbers[0], 1), (8, 1)]
    elif first_word == "from":
        assert tensors[0].storage_offset() == numbers[0]
    elif first_word == "dim":
        assert arguments_of(work)[-1] == -numbers[0]
    elif " @ " in name:
        is_turned = [operand.endswith(".mT") for operand in name.split(" @ ")]
        assert [x.stride() == (1, 8) for x in tensors] == is_turned
    if "channels-last" in name or "NCHW" in name:
        is_channels_last = name == "channels-last"
        for x in tensors:
            assert x.is_contiguous(memory_format=torch.channels_last) == is_channels_last
            assert x.is_contiguous() != is_channels_last
            assert str(x.shape[1]) in experiment.name and x.dtype == torch.bfloat16


def in_memory_order(tensors, out):
    """Return views of the same elements in the order of the output's memory, as torch visits them."""
    order = sorted(range(out.ndim), key=out.stride, reverse=True)
    return [tensor.permute(order) for tensor in tensors]


@pytest.mark.parametrize("name", [name for name in BY_NAME if BY_NAME[name].ratios("sectors")])
def test_predicted_ratios_are_those_of_the_sectors_that_a_warp_reads_and_writes(name):
    experiment = BY_NAME[name]
    functions = experiment.functions(64)
    for variant, work in functions.items():
        out = work()
        tensors = in_memory_order([out, *tensors_of(work)], out)
        sectors = [warp_sectors(t, 1).sectors for t in tensors]
        assert sum(sectors) == experiment.variants[variant].sectors, (variant, sectors)


def test_the_experiments_need_torch_and_numpy_alone(monkeypatch):
    """A GPU machine has torch and little else, so they must not import what notebooks need."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "stridekit"]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("matplotlib", "ipywidgets", "anywidget", "IPython", "PIL", "traitlets"):
        monkeypatch.setitem(sys.modules, name, None)
    imported_anew = importlib.import_module("stridekit.lessons.gpu")
    assert imported_anew is not gpu
    assert imported_anew.measure(imported_anew.EXPERIMENTS[0], **SMALL, rounds=1).ratios


def bar(task, answer, case):
    """Return the number that an answer gives for a case of `slowdown`, over the recorded bar."""
    return (
        answer(**case.arguments(task.parameters))
        / recorded_bars()[case.arguments(task.parameters)["stride"]]
    )


def test_bars_that_are_close_are_those_by_sectors_and_of_no_mistake():
    """The tolerance lies between the worst bar by sectors and the best that a mistake gets wrong."""
    task = hardware.slowdown
    by_sectors = [abs(bar(task, task.reference, case) - 1) for case in task.cases]
    assert max(by_sectors) < 0.15 < hardware.CLOSE
    for mistake in task.mistakes:
        misses = [abs(bar(task, mistake.answer, case) - 1) for case in task.cases]
        assert max(misses) > 0.2 > hardware.CLOSE
    read_alone = [abs(bar(task, lambda stride: stride, case) - 1) for case in task.cases]
    assert min(miss for miss in read_alone if miss > hardware.CLOSE) > 0.2
    _, records = read(gpu.RECORD)
    ratios = records["-x, by stride"].ratios | records["x.add(3)"].ratios
    for stride, recorded in recorded_bars().items():
        assert stride == 1 or recorded == ratios[f"stride {stride}"].value
