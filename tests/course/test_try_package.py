"""What `make dist` tries in an empty environment: it passes for a good package, and for no other."""

import importlib.metadata
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import stridekit
import try_package
from stridekit import widgets
from stridekit.exercises import strides
from stridekit.lessons import gpu
from stridekit.widgets import offline
from tests.course.widget_kinds import KINDS


@pytest.fixture
def installed(monkeypatch):
    """A package from a wheel, of which each test breaks one thing: its place, files, version, command."""
    files = [f"../../../{file}" for file in try_package.FILES]
    package = SimpleNamespace(files=files, version="1.2", command="stridekit 1.2\n")
    package.lessons = "*.ipynb"
    monkeypatch.setattr(stridekit, "__file__", "/venv/site-packages/stridekit/__init__.py")
    monkeypatch.setattr(importlib.metadata, "files", lambda name: package.files)
    monkeypatch.setattr(importlib.metadata, "version", lambda name: package.version)

    def run_command(*arguments, text=""):
        if arguments == ("--version",):
            return package.command
        if arguments == ("diagnose",):
            return str(stridekit.diagnose(text))
        command, folder, *options = arguments
        assert (command, options) == ("lab", ["--", "--version"])  # JupyterLab ends at once
        for path in try_package.LESSONS.glob(package.lessons):
            shutil.copy(path, folder)
        return ""

    monkeypatch.setattr(try_package, "run_command", run_command)
    package.figure = "a figure"
    monkeypatch.setattr(gpu, "gpu_results", lambda: SimpleNamespace(plot=lambda: package.figure))
    return package


def test_a_good_package_passes(installed):
    try_package.try_core()
    try_package.try_lab()
    assert [path.name for path in try_package.LESSONS.glob("00*")] == ["00_start.ipynb"]


def test_a_checkout_is_no_installed_package(installed, monkeypatch):
    monkeypatch.setattr(stridekit, "__file__", "/project/stridekit/__init__.py")
    with pytest.raises(AssertionError, match="/project/stridekit"):
        try_package.try_core()


@pytest.mark.parametrize("file", try_package.FILES)
def test_a_package_without_a_file_of_the_extension_fails(installed, file):
    installed.files.remove(f"../../../{file}")
    assert try_package.missing_files(installed.files) == [file]
    with pytest.raises(AssertionError):
        try_package.try_core()
    installed.files = None  # as importlib.metadata says it of a package without a record
    with pytest.raises(AssertionError):
        try_package.try_core()


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_a_command_of_another_version_fails(installed, version):
    installed.command = "stridekit 1.2\n"
    installed.version = version
    if version == "1.2":
        try_package.try_core()
    else:
        with pytest.raises(AssertionError):
            try_package.try_core()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("diagnose", "no known message"),
        ("audit", SimpleNamespace(findings=[])),
        ("Layout", SimpleNamespace(of=lambda x: SimpleNamespace(why_not_view=lambda size: None))),
    ],
)
def test_a_package_with_a_wrong_answer_fails(installed, monkeypatch, name, answer):
    wrong = answer if name == "Layout" else lambda *args: answer
    monkeypatch.setattr(stridekit, name, wrong)
    with pytest.raises(AssertionError):
        try_package.try_core()


def test_a_command_with_a_wrong_answer_fails(installed, monkeypatch):
    run_command = try_package.run_command
    answers = {"diagnose": "no known message"}
    monkeypatch.setattr(
        try_package,
        "run_command",
        lambda *arguments, text="": answers.get(arguments[0]) or run_command(*arguments, text=text),
    )
    with pytest.raises(AssertionError):
        try_package.try_core()


def test_a_package_without_a_figure_a_hint_or_a_lesson_fails(installed, monkeypatch):
    installed.lessons = "0*.ipynb"
    with pytest.raises(AssertionError):
        try_package.try_lab()
    installed.lessons = "*.ipynb"
    try_package.try_lab()
    installed.figure = None
    with pytest.raises(AssertionError):
        try_package.try_lab()
    installed.figure = "a figure"
    monkeypatch.setattr(strides.row, "hints", {})
    with pytest.raises(AssertionError):
        try_package.try_lab()


def test_the_command_is_that_of_this_python(tmp_path, monkeypatch):
    command = tmp_path / "stridekit"
    command.write_text('#!/bin/sh\necho "$@:"; cat; exit ${1#fails}\n')
    command.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert try_package.run_command("0", "a b", text="read") == "0 a b:\nread"
    assert try_package.run_command("0") == "0:\n"
    with pytest.raises(try_package.subprocess.CalledProcessError):
        try_package.run_command("fails3")


class WithoutExtra:
    """Stands for stridekit where a package of an extra is missing."""

    def __init__(self, words):
        self.words = words

    def __getattr__(self, name):
        raise ModuleNotFoundError(f"{name} needs ipywidgets: pip install {self.words}")


def test_without_the_extra_a_widget_names_it(monkeypatch):
    with pytest.raises(AssertionError):
        try_package.try_refusals()  # it is installed here
    monkeypatch.setattr(try_package, "stridekit", WithoutExtra('"stridekit[widgets]"'))
    try_package.try_refusals()
    monkeypatch.setattr(try_package, "stridekit", WithoutExtra("ipywidgets"))
    with pytest.raises(AssertionError, match="pip install ipywidgets"):
        try_package.try_refusals()


def test_each_widget_is_made_and_drawn(monkeypatch):
    assert {source.partition("(")[0] for source in try_package.WIDGETS} == {*KINDS}
    drawn = []

    def page(shown):
        drawn.extend(type(widget).__name__ for widget in shown)
        return "" if drawn[-1] == broken else "bringToLife"

    monkeypatch.setattr(offline, "offline_page", page)
    broken = ""
    try_package.try_widgets()
    assert sorted(drawn) == sorted(KINDS)
    broken = "Predict"
    (card,) = (source for source in try_package.WIDGETS if source.startswith(broken))
    monkeypatch.setattr(try_package, "WIDGETS", (card,))
    with pytest.raises(AssertionError, match="What is the stride"):
        try_package.try_widgets()
    monkeypatch.setattr(try_package, "WIDGETS", ("Drill()",))
    try_package.try_widgets()
    monkeypatch.setattr(widgets.Drill, "__repr__", lambda self: "")
    with pytest.raises(AssertionError):
        try_package.try_widgets()


def test_a_real_page_comes_to_life(monkeypatch):
    monkeypatch.setattr(try_package, "WIDGETS", ("Drill()",))
    try_package.try_widgets()


def test_the_size_is_that_of_all_packages_and_of_torch(tmp_path, monkeypatch):
    for name, size in (
        ("torch/lib/a.so", 3_400_000),
        ("torch/b.py", 200_000),
        ("numpy/c", 900_000),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(size))
    torch = SimpleNamespace(__file__=str(tmp_path / "torch" / "__init__.py"), __version__="2.9")
    names = ["pip", "setuptools", "torch", "numpy", "numpy"]
    found = [SimpleNamespace(name=name) for name in names]
    monkeypatch.setattr(try_package, "torch", torch)
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: found)
    assert try_package.size() == "2 packages, 4 MB, of which 4 are torch 2.9"


@pytest.mark.parametrize(
    ("package", "extra", "tried"),
    [
        ("dist/stridekit-1-py3-none-any.whl", "", ["core", "refusals"]),
        ("dist/stridekit-1.tar.gz", "", ["core", "refusals"]),
        ("dist/a[b]/stridekit-1.whl", "", ["core", "refusals"]),
        ("dist/stridekit-1.whl[widgets]", "widgets", ["core", "widgets"]),
        ("dist/stridekit-1.whl[lab]", "lab", ["core", "widgets", "lab"]),
    ],
)
def test_the_extra_says_what_is_tried(monkeypatch, capsys, package, extra, tried):
    assert try_package.extra_of(package) == extra
    done = []
    for name in ("core", "refusals", "widgets", "lab"):
        monkeypatch.setattr(try_package, f"try_{name}", lambda name=name: done.append(name))
    monkeypatch.setattr(try_package, "size", lambda: "3 packages")
    try_package.main(package)
    assert done == tried
    name = Path(package).name
    assert capsys.readouterr().out == f"{name} works in an empty environment: 3 packages\n"
