"""The GPU experiments: run here on the CPU, in small, so that the script works where a GPU is."""

import subprocess
import sys

import pytest
import torch

from stridekit.timing import TimingError, gpu, gpu_results

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
        assert [row[1] for row in results.rows if row[0] == experiment.name] == list(names[1:])


@pytest.mark.parametrize("experiment", gpu.EXPERIMENTS, ids=lambda e: e.name)
def test_the_variants_of_an_experiment_do_the_same_work(experiment):
    """As many elements come out of each: only the layout differs."""
    made = experiment.make(torch.device("cpu"), 8)
    answers = [work() for work in made.values()]
    sizes = {
        torch.as_tensor(getattr(a, "values", a) if isinstance(a, tuple) else a).shape
        for a in answers
    }
    assert len(sizes) == 1


def test_a_record_brings_every_sample_back(results, tmp_path):
    path = tmp_path / "gpu.json"
    path.write_text(results.to_json(), encoding="utf-8")
    again = gpu.recorded(path.read_text(encoding="utf-8"))
    assert again.rows == results.rows
    assert again.source.startswith("recorded on ") and torch.__version__ in again.source
    assert again.comparisons["matmul"].samples == results.comparisons["matmul"].samples


@needs_no_gpu
def test_a_record_comes_before_what_was_published(results, tmp_path):
    path = tmp_path / "gpu.json"
    assert "not measured here" in gpu_results(path).source
    path.write_text(results.to_json(), encoding="utf-8")
    assert gpu_results(path).source.startswith("recorded on ")


def test_published_figures_say_that_they_are():
    found = gpu.published()
    assert found.source == "published figures of an article, for its own GPU: not measured here"
    assert ("x.add(3)", "stride 5", "2.92") in found.rows
    assert ("x * y", "one transposed (0, 2)", "8.79") in found.rows
    assert found.comparisons == {}
    assert repr(found).startswith(found.source) and found.source in found._repr_html_()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"matmul": {}}', "null"])
def test_another_text_is_no_record(text):
    with pytest.raises(TimingError, match=r"no record of GPU results|has no results"):
        gpu.recorded(text)


@needs_no_gpu
def test_a_run_without_a_gpu_says_so():
    with pytest.raises(TimingError, match="no CUDA device here"):
        gpu.run()


@needs_no_gpu
@pytest.mark.parametrize(("arguments", "status", "words"), [
    (["results.json"], 1, "no CUDA device here"), ([], 2, "usage"), (["--help"], 2, "usage"),
])  # fmt: skip
def test_the_script_says_what_it_needs(arguments, status, words, tmp_path):
    run = [sys.executable, "-m", "stridekit.timing", *arguments]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status and words in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_script_needs_torch_and_numpy_alone(tmp_path):
    """A GPU machine has torch and little else: what notebooks need must not be asked for."""
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
