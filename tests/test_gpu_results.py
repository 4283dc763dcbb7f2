"""The GPU experiments, run small on the CPU, so that the script works on a GPU machine."""

import json
import subprocess
import sys

import pytest
import torch

from stridekit.timing import TimingError, __main__, gpu, gpu_results

needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@pytest.fixture(scope="module")
def results():
    return gpu.run("cpu", scale=16, rounds=1)


def test_every_experiment_runs_and_shows_each_of_its_variants(results):
    assert results.source == "measured here, live"
    assert list(results.comparisons) == [experiment.name for experiment in gpu.EXPERIMENTS]
    for experiment in gpu.EXPERIMENTS:
        names = results.comparisons[experiment.name].names
        assert set(experiment.published) <= set(names)
        assert not experiment.published or next(iter(experiment.published)) == names[0]
        assert [row[1:] for row in results.rows if row[0] == experiment.name] == [
            (name, f"{ratio} {ratio.verdict}")
            for name, ratio in results.comparisons[experiment.name].ratios.items()
        ]


def test_experiments_are_compared_with_what_run_was_asked_for(monkeypatch):
    asked = []

    def compared(functions, **options):
        asked.append(options)
        for work in functions.values():
            work()  # on the smallest tensors that there are, each can
        return gpu.Comparison({"a": [[1.0]], "b": [[1.0]]}, [[0, 1]], {"a": 1, "b": 1}, 1, "cpu")

    monkeypatch.setattr(gpu, "compare", compared)
    gpu.run("cpu", scale=10**9, rounds=7, max_seconds=0.5)
    assert asked == len(gpu.EXPERIMENTS) * [
        {"device": "cpu", "rounds": 7, "max_seconds": 0.5, "progress": False}
    ]


# What is elementwise, for n = 8: the strides of the operands.
STRIDES = {
    "contiguous": [(64, 8, 1)],
    "permuted": [(1, 8, 64)],
    "stride 5": [(320, 40, 5)],
    "rows with holes": [(256, 32, 1)],
    "both alike": [(64, 8, 1), (64, 8, 1)],
    "one transposed (0, 2)": [(64, 8, 1), (1, 8, 64)],
    "one transposed (0, 1)": [(64, 8, 1), (8, 64, 1)],
    "one transposed (1, 2)": [(64, 8, 1), (64, 1, 8)],
    "both transposed": [(1, 8, 64), (1, 8, 64)],
    "a @ b": [(8, 1), (8, 1)],
    "a @ b.mT": [(8, 1), (1, 8)],
    "a.mT @ b": [(1, 8), (8, 1)],
    "a.mT @ b.mT": [(1, 8), (1, 8)],
    **{f"k = {k}": [(k, 1), (8, 1)] for k in (2, 4, 8, 16, 32)},
    **{f"stride {step}": [(1,), (step,)] for step in (1, 2, 4, 8, 16, 32)},
    "dim -1": [(8, 1), -1],
    "dim -2": [(8, 1), -2],
}


@pytest.mark.parametrize("experiment", gpu.EXPERIMENTS, ids=lambda e: e.name)
def test_variants_are_what_their_names_say_and_do_the_same_work(experiment):
    """All variants return the same number of elements, so only the layout differs."""
    sizes = set()
    for name, work in experiment.make(torch.device("cpu"), 8).items():
        answer = work()
        sizes.add((answer[0] if isinstance(answer, tuple) else answer).shape)
        given = [getattr(work.func, "__self__", None), *work.args]
        tensors = [t for t in given if isinstance(t, torch.Tensor)]
        if name in STRIDES:
            dims = [arg for arg in given if isinstance(arg, int) and arg < 0]
            assert [t.stride() for t in tensors] + dims == STRIDES[name]
        else:
            last = name == "channels-last"
            for t in tensors:
                assert t.is_contiguous(memory_format=torch.channels_last) == last
                assert t.is_contiguous() != last
    assert len(sizes) == 1


def test_a_record_says_where_it_was_made(results):
    found = json.loads(results.to_json())
    for on, name in (({"name": "Gee"}, "Gee"), (None, "Abacus")):
        where = {"gpu": on, "processor": "Abacus", "torch": "9.8", "date": "2001-02-03"}
        found["x.add(3)"]["machine"] |= where  # the first of them
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


def test_published_figures_say_that_they_are():
    found = gpu.published()
    assert found.comparisons == {}
    assert (
        repr(found)
        == """\
published figures of an article, for its own GPU: not measured here
  x.add(3)         permuted               1.00
  x.add(3)         stride 5               2.92
  x.add(3)         rows with holes        1.02
  x * y            one transposed (0, 2)  8.79
  x * y            both transposed        1.00
  x.max(dim)       dim -2                 1.47
  matmul           a @ b.mT               1.18
  matmul           a.mT @ b               0.96
  matmul           a.mT @ b.mT            0.99
  low-rank matmul  k = 4                  1.00
  low-rank matmul  k = 8                  0.98
  low-rank matmul  k = 16                 1.06
  low-rank matmul  k = 32                 1.06"""
    )


def test_other_text_is_refused_as_a_record():
    for text in ("", "[]", "{}", '{"matmul": {}}', "null"):
        with pytest.raises(TimingError, match=r"not a record of GPU results|has no results"):
            gpu.recorded(text)


@needs_no_gpu
def test_the_script_says_what_it_needs(tmp_path, monkeypatch, capsys):
    """A GPU, and the name of one file; without them nothing is written."""
    run = [sys.executable, "-m", "stridekit.timing", "results.json"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "no CUDA device here" in done.stderr
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["--help"], ["a.json", "b.json"]):
        monkeypatch.setattr("sys.argv", ["timing", *arguments])
        assert __main__.main() == 2 and "usage" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_script_writes_every_sample_and_prints_the_table(
    monkeypatch, tmp_path, capsys, results
):
    path = tmp_path / "results.json"
    monkeypatch.setattr(__main__, "why_no_cuda", lambda: "")
    monkeypatch.setattr(__main__, "run", lambda: results)
    monkeypatch.setattr("sys.argv", ["timing", str(path)])
    assert __main__.main() == 0
    assert path.read_text(encoding="utf-8") == results.to_json() + "\n"
    assert capsys.readouterr().out == f"{results}\n"


def test_the_script_needs_torch_and_numpy_alone(tmp_path):
    """A GPU machine has torch and little else, so the script must not import what notebooks need."""
    hidden = ["tqdm", "matplotlib", "ipywidgets", "anywidget", "IPython", "PIL", "traitlets"]
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({hidden!r}))\n"
        "from stridekit.timing import gpu\n"
        "print(len(gpu.run('cpu', scale=64, rounds=1).rows))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15
