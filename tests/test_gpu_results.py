"""The GPU experiments, run small on the CPU, so that the script works on a GPU machine."""

import importlib
import json
import re
import sys

import pytest
import torch

from stridekit.cost.warp import warp_sectors
from stridekit.lessons import __main__, gpu, gpu_experiments
from stridekit.lessons.gpu import gpu_results
from stridekit.timing import TimingError, machine
from stridekit.timing.clocks import CudaClock
from tests.fake_gpu import FakeQueue

needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@pytest.fixture(scope="module")
def results():
    return gpu.run("cpu", scale=16, rounds=1)


def test_every_experiment_runs_and_shows_each_of_its_variants(results):
    here = machine()
    on = f"{here['processor']}, torch {here['torch']}"
    assert results.source.startswith(f"measured here, live, on {on}, ")
    assert results.failed == {}
    assert list(results.comparisons) == [experiment.name for experiment in gpu.EXPERIMENTS]
    for experiment in gpu.EXPERIMENTS:
        names = results.comparisons[experiment.name].names
        assert set(experiment.published) <= set(names)
        assert not experiment.published or next(iter(experiment.published)) == names[0]
        assert [row[1:] for row in results.rows if row[0] == experiment.name] == [
            (name, f"{ratio} {ratio.verdict}")
            for name, ratio in results.comparisons[experiment.name].ratios.items()
        ]


def fake_compare(monkeypatch, compared=lambda functions: None):
    """Let `gpu.run` call `compared(functions)` in place of timing them; return the options it is given."""
    asked = []

    def compare(functions, **options):
        asked.append(options)
        compared(functions)
        return gpu.Comparison({"a": [[1.0]], "b": [[1.0]]}, [[0, 1]], {"a": 1, "b": 1}, 1, "cpu")

    monkeypatch.setattr(gpu, "compare", compare)
    return asked


def test_experiments_are_compared_with_what_run_was_asked_for(monkeypatch):
    """On the smallest tensors that there are, each function can be called."""
    asked = fake_compare(monkeypatch, lambda functions: [work() for work in functions.values()])
    assert gpu.run("cpu", scale=10**9, rounds=7, max_seconds=0.5).failed == {}
    flush = [options.pop("flush") for options in asked]
    assert asked == len(gpu.EXPERIMENTS) * [
        {"device": "cpu", "rounds": 7, "max_seconds": 0.5, "progress": False}
    ]
    unflushed = [e.name for e, on in zip(gpu.EXPERIMENTS, flush, strict=True) if not on]
    assert unflushed == ["x.sum(), in L2 or not", "copy, host to GPU", "copy, GPU to host"]


@pytest.mark.parametrize("before", [True, False])
def test_float32_is_convolved_without_tf32_which_is_restored(monkeypatch, before):
    """Also when the functions raise; all other experiments run as torch is set."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", before)
    seen = []

    def compared(functions):
        seen.append(torch.backends.cudnn.allow_tf32)
        raise MemoryError

    fake_compare(monkeypatch, compared)
    gpu.run("cpu", scale=10**9)
    assert torch.backends.cudnn.allow_tf32 == before
    assert seen == [before and "without TF32" not in e.name for e in gpu.EXPERIMENTS]


def test_an_experiment_that_fails_says_why_and_the_others_go_on(monkeypatch):
    """As when a GPU has too little memory: its row has the reason, and a record keeps it."""

    def compared(functions):
        if "dim -1" in functions:
            raise torch.OutOfMemoryError("CUDA out of memory.\n" + "Tried to allocate 9 GiB. " * 20)

    fake_compare(monkeypatch, compared)
    found = gpu.run("cpu", scale=10**9)
    assert list(found.failed) == ["x.max(dim)"]
    why = found.failed["x.max(dim)"]
    assert why.startswith("OutOfMemoryError: CUDA out of memory. Tried to allocate 9 GiB. Tried")
    assert len(why) <= 200
    assert ("x.max(dim)", "", f"unmeasured: {why}") in found.rows
    others = [e.name for e in gpu.EXPERIMENTS if e.name != "x.max(dim)"]
    assert list(found.comparisons) == others
    again = gpu.recorded(found.to_json())
    assert (again.failed, again.comparisons) == (found.failed, found.comparisons)
    assert sorted(again.rows) == sorted(found.rows)


def test_if_all_experiments_fail_nothing_could_be_measured(monkeypatch):
    monkeypatch.setattr(gpu, "compare", lambda *_, **__: 1 / 0)
    found = gpu.run("cpu", scale=10**9)
    assert found.source == "nothing could be measured" and found.comparisons == {}
    assert {row[2] for row in found.rows} == {"unmeasured: ZeroDivisionError: division by zero"}
    with pytest.raises(TimingError, match="has no results"):
        gpu.recorded(found.to_json())


# For n = 8, the strides of the operands of each variant whose name does not tell them.
STRIDES = {
    "contiguous": [(64, 8, 1)],
    "permuted": [(1, 8, 64)],
    "rows with holes": [(256, 32, 1)],
    "both alike": [(64, 8, 1), (64, 8, 1)],
    "one transposed (0, 2)": [(64, 8, 1), (1, 8, 64)],
    "one transposed (0, 1)": [(64, 8, 1), (8, 64, 1)],
    "one transposed (1, 2)": [(64, 8, 1), (64, 1, 8)],
    "both transposed": [(1, 8, 64), (1, 8, 64)],
    "stride 5": [(320, 40, 5)],
}


def strides_of(name):
    """The strides that a name tells, or None."""
    number = int((re.findall(r"\d+$", name) or ["1"])[0])
    if " @ " in name:
        return [(1, 8) if operand.endswith(".mT") else (8, 1) for operand in name.split(" @ ")]
    if "pageable" in name or "pinned" in name:
        return [(1,), (number,)]
    told = {"k": [(number, 1), (8, 1)], "stride": [(number,)], "from": [(64, 1)], "dim": [(8, 1)]}
    return STRIDES.get(name, told.get(name.split()[0]))


@pytest.mark.parametrize("experiment", gpu.EXPERIMENTS, ids=lambda e: e.name)
def test_variants_are_what_their_names_say_and_do_the_same_work(experiment):
    """All variants return the same number of elements, so only the layout differs."""
    sizes = set()
    for name, work in experiment.make(torch.device("cpu"), 8).items():
        answer = work()
        sizes.add((answer[0] if isinstance(answer, tuple) else answer).shape)
        given = [getattr(work.func, "__self__", None), *work.args]
        tensors = [t for t in given if isinstance(t, torch.Tensor)]
        first = int(name.removeprefix("from element ")) if "from element" in name else 0
        if strides := strides_of(name):
            assert [x.stride() for x in tensors] == strides
            assert tensors[0].storage_offset() == first
            assert "dim " not in name or given[-1] == int(name.split()[1])
        for x in tensors if "channels-last" in name or "NCHW" in name else ():
            last = name == "channels-last"
            assert x.is_contiguous(memory_format=torch.channels_last) == last != x.is_contiguous()
    assert len(sizes) == 1


def in_memory_order(tensors, out):
    """Views of the same elements, visited as torch visits them: in the order of the output's memory."""
    order = sorted(range(out.ndim), key=out.stride, reverse=True)
    return [tensor.permute(order) for tensor in tensors]


@pytest.mark.parametrize(
    "experiment", [e for e in gpu.EXPERIMENTS if e.sectors], ids=lambda e: e.name
)
def test_predicted_ratios_are_those_of_the_sectors_that_a_warp_reads_and_writes(experiment):
    functions = experiment.make(torch.device("cpu"), 64)
    assert list(experiment.sectors) == list(functions)
    for name, work in functions.items():
        out = work()
        given = [getattr(work.func, "__self__", None), *work.args]
        tensors = [out, *(t for t in given if isinstance(t, torch.Tensor))]
        found = [warp_sectors(t, 1).sectors for t in in_memory_order(tensors, out)]
        assert sum(found) == experiment.sectors[name], (name, found)


def test_channels_are_a_multiple_of_eight_and_not_and_dtypes_those_of_the_name():
    for experiment in [e for e in gpu.EXPERIMENTS if e.name.startswith("conv2d")]:
        channels = 63 if "63" in experiment.name else 64
        for work in experiment.make(torch.device("cpu"), 4).values():
            x, w = work.args
            assert (x.shape[1], w.shape[:2]) == (channels, (channels, channels))
            dtype = experiment.name.split()[2].rstrip(",")
            assert {str(x.dtype), str(w.dtype)} == {f"torch.{dtype}"}


@pytest.mark.parametrize(("size", "chunk"), [(50 * 2**20, 50 * 2**18), (0, 2**23)])
def test_working_sets_are_a_quarter_of_l2_and_sixteen_of_them(monkeypatch, size, chunk):
    """L2's size is that of the device, or a usual one if it tells none; each call reads as much."""
    made, rand = [], torch.rand

    def properties(device):
        return type("Properties", (), {"L2_cache_size": size})

    def on_cpu(*shape, device):
        made.append(shape)
        return rand(shape[0], 2) if device.type == "cuda" else rand(shape)

    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    monkeypatch.setattr(torch, "rand", on_cpu)
    (of_l2,) = [e for e in gpu.EXPERIMENTS if "L2" in e.name]
    one, all_of_them = of_l2.make(torch.device("cuda"), of_l2.n).values()
    assert made == [(16, chunk // 4)]  # float32
    assert len({one().item() for _ in range(20)}) == 1
    assert len({all_of_them().item() for _ in range(40)}) == 16


@pytest.mark.parametrize("back", [False, True])
def test_host_copies_cross_over_and_only_the_pinned_are_pinned_and_need_no_wait(monkeypatch, back):
    made, rand = [], torch.rand

    def on_cpu(size, device, pin_memory):
        made.append((size, str(device), pin_memory))
        return rand(size)

    monkeypatch.setattr(torch, "rand", on_cpu)
    copies = gpu_experiments._host_copy(torch.device("cuda"), 8, back=back)
    pairs = list(zip(made[::2], made[1::2], strict=True))
    expected = []
    for name in copies:
        step, pinned = (2 if "stride 2" in name else 1), name.startswith("pinned")
        of_source, of_target = (8 * step, "cpu", pinned), (8, "cuda", False)
        if back:
            of_source, of_target = (8 * step, "cuda", False), (8, "cpu", pinned)
        expected.append((of_source, of_target))
        assert copies[name].keywords == {"non_blocking": pinned}
    assert pairs == expected


@pytest.mark.parametrize("calls", [1, 3])
def test_a_copy_that_blocks_the_host_is_timed_with_what_the_host_does_for_it(calls):
    queue = FakeQueue()

    def gather_and_copy():
        queue.host += 0.030
        queue.launch(0.003)
        queue.synchronize()

    taken, _ = CudaClock(flush=False, queue=queue).seconds(gather_and_copy, calls)
    assert abs(taken / calls - 0.033) < 25e-6  # the clock holds the queue for 20 microseconds


def test_a_record_says_where_it_was_made(results):
    found = json.loads(results.to_json())
    where = {"gpu": {"name": "Gee"}, "processor": "Abacus", "torch": "9.8", "date": "2001-02-03"}
    found["x.add(3)"]["machine"] |= where  # the first of them
    for device, name in (("cuda", "Gee"), ("cpu", "Abacus")):
        found["x.add(3)"]["device"] = device
        again = gpu.recorded(json.dumps(found))
        assert again.source == f"recorded on {name}, torch 9.8, 2001-02-03"


@needs_no_gpu
def test_a_gpu_comes_before_a_record_and_a_record_before_what_was_published(
    results, tmp_path, monkeypatch
):
    path = tmp_path / "gpu.json"
    assert "not measured here" in gpu_results(path).source
    path.write_text(results.to_json(), encoding="utf-8")
    again = gpu_results(path)
    assert again.source.startswith("recorded on ") and torch.__version__ in again.source
    assert (again.rows, again.comparisons) == (results.rows, results.comparisons)
    with pytest.raises(TimingError, match="no CUDA device here"):
        gpu.run()
    monkeypatch.setattr(gpu, "why_no_cuda", lambda: "")
    monkeypatch.setattr(gpu, "run", lambda: "live")
    assert gpu_results(path) == "live"


def test_published_figures_say_that_they_are_and_the_others_that_they_are_none():
    found = gpu.published()
    assert found.comparisons == {}
    assert found.source == (
        "not measured here, but published for a GPU that it does not name, in "
        "“PyTorch for Scientists!” by nikitaved (its torch: 2.8.0.dev20250521+cu128)"
    )
    shown = repr(found.only("x.add(3)", "x * y", "x.max(dim)", "max_pool2d 3x3")).splitlines()
    assert shown[1:] == [
        "  experiment      variant                ratio       predicted",
        "  x.add(3)        permuted               1.00        1.00",
        "  x.add(3)        stride 5               2.92        3.00",
        "  x.add(3)        rows with holes        1.02        1.00",
        "  x * y           one transposed (0, 2)  8.79        3.33",
        "  x * y           one transposed (0, 1)  unmeasured  1.00",
        "  x * y           one transposed (1, 2)  unmeasured  3.33",
        "  x * y           both transposed        1.00        1.00",
        "  x.max(dim)      dim -2                 1.47",
        "  max_pool2d 3x3                         unmeasured",
    ]
    assert {row[0] for row in found.rows} == {e.name for e in gpu.EXPERIMENTS}
    known = {(e.name, variant) for e in gpu.EXPERIMENTS for variant in list(e.published)[1:]}
    assert {row[:2] for row in found.rows if row[2] != "unmeasured"} == known


def test_experiments_are_shown_one_at_a_time(results):
    """With their prediction if there is one, in the order asked for, and where they were measured."""
    one = results.only("matmul")
    assert one.source == results.source and list(one.comparisons) == ["matmul"]
    assert [row[0] for row in one.rows] == ["matmul"] * 3
    assert "predicted" not in repr(one) and "predicted" not in one._repr_html_()
    both = results.only("-x, by stride", "x.add(3)")
    assert [row[0] for row in both.rows] == ["-x, by stride"] * 5 + ["x.add(3)"] * 3
    head = '<th scope="col">ratio</th><th scope="col">predicted</th>'
    row = f"<td>stride 2</td><td>{both.rows[0][2]}</td><td>1.50</td></tr>"
    assert head in both._repr_html_() and row in both._repr_html_()
    with pytest.raises(TimingError, match=r"not the name of an experiment: give x\.add\(3\); x"):
        results.only("x.add(4)")
    found = json.loads(results.to_json())
    older = gpu.recorded(json.dumps({"matmul": found["matmul"], "gone": found["x * y"]}))
    assert older.only("x.add(3)").rows == (("x.add(3)", "", "unmeasured"),)
    assert len(older.only("gone").rows) == 4 and "predicted" not in repr(older)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"matmul": {}}', "null", "[" * 10**5], ids=range(6)
)
def test_other_text_is_refused_as_a_record(text):
    with pytest.raises(TimingError, match=r"not a record of GPU results|has no results"):
        gpu.recorded(text)


@pytest.fixture
def script(monkeypatch):
    """The script on a machine with a GPU, to be called with its arguments."""

    def called(*arguments, run=lambda: pytest.fail("it was measured")):
        monkeypatch.setattr(__main__, "why_no_cuda", lambda: "")
        monkeypatch.setattr(__main__, "run", run)
        monkeypatch.setattr("sys.argv", ["timing", *map(str, arguments)])
        return __main__.main()

    return called


def test_the_script_writes_every_sample_and_prints_the_table(script, tmp_path, capsys, results):
    path = tmp_path / "results.json"
    assert script(path, run=lambda: results) == 0
    assert path.read_text(encoding="utf-8") == results.to_json() + "\n"
    assert capsys.readouterr().out == f"{results}\n"
    assert script(path, run=lambda: gpu.GpuResults("none", (), {})) == 1


def test_the_script_measures_nothing_without_a_file_that_can_be_written(script, tmp_path, capsys):
    for path in (tmp_path, tmp_path / "none" / "results.json"):
        assert script(path) == 2
        assert f"{path} cannot be written: " in capsys.readouterr().err
    for arguments in ([], ["--help"], ["a.json", "b.json"]):
        assert script(*arguments) == 2
        told = capsys.readouterr().err
        assert "usage" in told and "stridekit/lessons/gpu_record.json" in told


def test_the_script_needs_torch_and_numpy_alone(monkeypatch):
    """A GPU machine has torch and little else, so the script must not import what notebooks need."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "stridekit"]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("tqdm", "matplotlib", "ipywidgets", "anywidget", "IPython", "PIL", "traitlets"):
        monkeypatch.setitem(sys.modules, name, None)
    again = importlib.import_module("stridekit.lessons.gpu")
    assert again is not gpu and len(again.run("cpu", scale=64, rounds=1).rows) > 15
