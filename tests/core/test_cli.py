"""The command `stridekit`: what it loads, prints and writes."""

import io
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from stridekit import cli

ROOT = Path(__file__).parents[2]
MESSAGE = "RuntimeError: shape '[5, -1]' is invalid for input of size 24"
COPIES = "import sys, torch\nprint(sys.argv[1:], torch.ones(3, 4).t().reshape(-1).sum())\n"


def run(*arguments, cwd=ROOT, text=""):
    """Run `python -m stridekit`; return its status, its output and its errors."""
    command = [sys.executable, "-m", "stridekit", *arguments]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True, env=env)
    return done.returncode, done.stdout, done.stderr


def test_the_package_has_the_command_and_the_lessons():
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert pyproject["project"]["scripts"] == {"stridekit": "stridekit.cli:main"}
    wheel = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "/notebooks/*.ipynb" in wheel["include"]
    assert wheel["sources"] == {"notebooks": "stridekit/notebooks"}
    assert set(cli.lessons()) == {path.name for path in ROOT.glob("notebooks/*.ipynb")}
    assert cli.FIRST_LESSON in cli.lessons()


def test_help_and_version_load_neither_torch_nor_numpy():
    program = (
        "import sys; sys.modules |= dict.fromkeys(['torch', 'numpy', 'IPython', 'jupyterlab'])\n"
        "from stridekit.cli import main\n"
        "main(sys.argv[1:])"
    )
    for option, words in [("--version", "stridekit 0"), ("--help", "  lab  ")]:
        done = [sys.executable, "-c", program, option]
        assert words in subprocess.check_output(done, cwd=ROOT, text=True)


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    printed = capsys.readouterr().out
    for command in ("lab", "audit", "diagnose", "export"):
        assert re.search(rf"^    {command} ", printed, re.MULTILINE)


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["labb"])
    assert end.value.code == 2
    assert "invalid choice: 'labb'" in capsys.readouterr().err


# diagnose, audit and export ----------------------------------------------------------------------


def test_diagnose_reads_a_log_or_standard_input(tmp_path):
    log = tmp_path / "my log.txt"
    log.write_bytes(b"\xff epoch 1\n" + MESSAGE.encode() + b"\n")
    for arguments, text in [([str(log)], ""), ([], MESSAGE), (["-"], MESSAGE)]:
        status, printed, errors = run("diagnose", *arguments, text=text)
        assert (status, errors) == (0, "")
        assert "-1 stands for 24 / 5, which is no whole number" in printed


def test_diagnose_names_a_log_that_it_cannot_read(capsys):
    assert cli.main(["diagnose", "no such log"]) == 1
    wanted = "stridekit diagnose: cannot read no such log: No such file or directory\n"
    assert capsys.readouterr().err == wanted


def test_diagnose_asks_a_terminal_for_the_message(capsys, monkeypatch):
    terminal = SimpleNamespace(isatty=lambda: True, buffer=io.BytesIO(MESSAGE.encode()))
    monkeypatch.setattr(sys, "stdin", terminal)
    assert cli.main(["diagnose"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("Paste the message")
    assert "which is no whole number" in printed.out


def test_audit_runs_a_script_with_its_arguments(tmp_path):
    (tmp_path / "copies.py").write_text(COPIES)
    status, printed, errors = run("audit", "copies.py", "--lr", "1", cwd=tmp_path)
    assert (status, errors) == (0, "")
    assert printed.startswith("['--lr', '1'] tensor(12.)\naudit of copies")
    assert "copy by reshape" in printed


def test_audit_finds_modules_as_python_does_and_gives_them_their_arguments(
    tmp_path, monkeypatch, capsys
):
    """A console script has its own folder first on the path."""
    (tmp_path / "copies_of_mine.py").write_text(COPIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["/usr/bin", *sys.path])
    monkeypatch.setattr(sys, "argv", ["stridekit"])
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    assert cli.main(["audit", "-m", "copies_of_mine", "--lr", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("['--lr', '1'] tensor(12.)\naudit of copies_of_mine")
    assert "copy by reshape" in printed


def test_a_command_without_its_packages_names_the_extra(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    monkeypatch.setitem(sys.modules, "stridekit.export.site", None)
    assert cli.main(["lab"]) == cli.main(["export", "notebooks", "-o", "site"]) == 1
    lab, export = capsys.readouterr().err.splitlines()
    assert lab == 'stridekit lab: this needs jupyterlab: pip install "stridekit[lab]"'
    assert export.endswith(': pip install "stridekit[export]"')
    assert list(tmp_path.iterdir()) == []


# lab ---------------------------------------------------------------------------------------------

OLD = {"00_start.ipynb": b"start 1", "01_strides.ipynb": b"strides 1"}
NEW = {"00_start.ipynb": b"start 2", "01_strides.ipynb": b"strides 2", "02_views.ipynb": b"views"}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != cli.HASHES}


def test_lessons_that_nobody_changed_become_the_new_ones(tmp_path):
    assert cli.write_lessons(tmp_path, OLD) == []
    assert contents(tmp_path) == OLD
    assert cli.write_lessons(tmp_path, NEW) == []
    assert contents(tmp_path) == NEW


def test_a_changed_lesson_is_kept_and_named_once_there_is_a_newer_one(tmp_path):
    cli.write_lessons(tmp_path, OLD)
    path = tmp_path / "00_start.ipynb"
    path.write_bytes(b"my answers")
    assert cli.write_lessons(tmp_path, OLD) == []
    for _ in range(2):
        assert cli.write_lessons(tmp_path, NEW) == ["00_start.ipynb"]
        assert contents(tmp_path) == NEW | {"00_start.ipynb": b"my answers"}
    path.rename(tmp_path / "mine.ipynb")
    assert cli.write_lessons(tmp_path, NEW) == []
    assert contents(tmp_path) == NEW | {"mine.ipynb": b"my answers"}


@pytest.mark.parametrize("hashes", [None, "", "{", "[]", '{"00_start.ipynb": 1}'])
def test_a_file_of_unknown_origin_is_kept(hashes, tmp_path):
    """It may be the reader's, where the file with the hashes is lost or torn."""
    cli.write_lessons(tmp_path, OLD)
    if hashes is None:
        (tmp_path / cli.HASHES).unlink()
    else:
        (tmp_path / cli.HASHES).write_text(hashes)
    assert cli.write_lessons(tmp_path, NEW) == ["00_start.ipynb", "01_strides.ipynb"]
    assert contents(tmp_path) == OLD | {"02_views.ipynb": b"views"}
    assert cli.write_lessons(tmp_path, OLD) == []


@pytest.fixture
def opened(monkeypatch):
    """The options of each JupyterLab that was started; none starts."""
    options = []
    app = SimpleNamespace(launch_instance=options.append)
    lab = ModuleType("jupyterlab.labapp")
    lab.LabApp = app
    monkeypatch.setitem(sys.modules, "jupyterlab", ModuleType("jupyterlab"))
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", lab)
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "of the reader")
    return options


def test_lab_writes_the_lessons_and_opens_the_first(tmp_path, opened, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["lab"]) == 0
    folder = tmp_path / "stridekit-lessons"
    assert contents(folder) == cli.lessons()
    assert f"The lessons are in {folder}" in capsys.readouterr().out
    assert f"--ServerApp.root_dir={folder}" in opened[0]
    assert "--LabApp.default_url=/lab/tree/00_start.ipynb" in opened[0]
    assert os.environ["JUPYTER_PREFER_ENV_PATH"] == "1"
    first, last = os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert first == "of the reader"
    settings = json.loads((Path(last) / "labconfig/default_setting_overrides.json").read_text())
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_lab_hands_options_on_and_names_a_lesson_that_it_keeps(tmp_path, opened, capsys):
    folder = tmp_path / "my lessons"
    folder.mkdir()
    (folder / "02_views.ipynb").write_text("mine")
    assert cli.main(["lab", str(folder), "--", "--port", "9999"]) == 0
    assert opened[0][-2:] == ["--port", "9999"]
    first, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("02_views.ipynb has changes of yours and stays as it is")
    assert (folder / "02_views.ipynb").read_text() == "mine"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_lab_opens_a_page_where_one_can_be_shown(tmp_path, opened, monkeypatch):
    for display, user in [("", 0), (":0", 1000)]:
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(os, "getuid", lambda user=user: user)
        monkeypatch.setenv("DISPLAY", display)
        monkeypatch.setenv("WAYLAND_DISPLAY", "")
        cli.main(["lab", str(tmp_path)])
        assert ("--no-browser" in opened[-1]) is (not display)
        assert ("--allow-root" in opened[-1]) is (user == 0)


def test_lab_names_a_folder_that_cannot_be_written(tmp_path, opened, capsys):
    file = tmp_path / "a file"
    file.touch()
    assert cli.main(["lab", str(file)]) == 1
    assert capsys.readouterr().err == f"stridekit lab: cannot write to {file}: File exists\n"
    assert opened == []
