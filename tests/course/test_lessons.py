"""The lessons for Colab and VS Code give nothing away, and are the same lessons."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

import lessons
from stridekit import Predict, cli
from stridekit.exercises.lesson import lesson_of, minutes
from stridekit.exercises.progress import _lesson
from stridekit.lessons import notebook as form

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder with the lessons of a fork."""
    folder = tmp_path_factory.mktemp("lessons") / "out"
    lessons.main(["-o", str(folder), "--repository", "Fork/kit"])
    return folder


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_nothing_is_given_away(written, path):
    """No output, no why, no answer of a card; the words below a card are folded."""
    lesson = form.parse(path.read_text("utf-8"))
    copy = form.parse((written / path.name).read_text("utf-8"))
    for before, after in zip(lesson.cells, copy.cells, strict=True):
        assert not after.get("outputs")
        assert "outputs_hidden" not in after.metadata.get("jupyter", {})
        if form.asks(before):
            call = ast.parse(after.source).body[0].value
            assert call.func.attr == "packed" and "why" not in after.source
        elif before.cell_type == "markdown" and before.metadata.get("jupyter"):
            assert after.source.startswith("<details>") and before.source in after.source
    assert '"stridekit[widgets] @ https://github.com/Fork/kit/archive/' in copy.cells[1].source


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_map_of_progress_finds_the_same_exercises_and_cards(written, path):
    before = _lesson(path)
    after = _lesson(written / path.name)
    assert before.exercises == after.exercises
    for first_line, question in zip(before.cards, after.cards, strict=True):
        assert question.startswith(first_line)


def test_the_readme_of_a_fork_has_a_badge_for_each_lesson(written):
    text = (written / "README.md").read_text("utf-8")
    assert text.startswith("# stridekit: the lessons") and text.count("They were not run") == 1
    links = re.findall(r"^- \[!.*\]\((https://colab\.\S*)\) (\S+)$", text, re.MULTILINE)
    folder = "https://colab.research.google.com/github/Fork/kit/blob/lessons/"
    assert links == [(folder + path.name, path.name) for path in PATHS]
    assert "(https://fork.github.io/kit/)" in text


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_lesson_has_one_name(path):
    """The heading of its notebook, which its file, the map of progress and the tables repeat."""
    book = form.parse(path.read_text("utf-8"))
    title = form.title_of(book)
    assert re.sub(r"\W", "_", title.lower()) == path.stem
    assert _lesson(path).title == title
    tables = [ROOT / "README.md"]
    if path.stem != "00_start":
        tables.append(ROOT / "notebooks" / "00_start.ipynb")
    for table in tables:
        links = re.findall(
            rf"\[([^\]|\n]*)\]\(\S*?{path.stem}\.\w+\) \| (.*?) \|", table.read_text("utf-8")
        )
        ((shown, question),) = links
        assert shown == title
        assert book.cells[0].source.startswith(f"# {title}\n\n**{question}** ")


def rows(path, folder=""):
    """Return the rows of the table of lessons in a file, by the lesson that each links to."""
    text = path.read_text("utf-8").replace("\\n", "\n")
    links = re.findall(rf"\| \[[^|]*\]\({folder}(\w+)\.(?:ipynb|html)\) \| (.*) \|", text)
    return {name: cells.split(" | ") for name, cells in links}


def test_the_tables_of_lessons_agree_and_state_the_minutes():
    readme = rows(ROOT / "README.md", r"\S*/")
    assert [*readme] == [path.stem for path in PATHS]
    for name, cells in rows(ROOT / "notebooks" / "00_start.ipynb").items():
        assert cells[-1] == str(minutes([_lesson(ROOT / "notebooks" / f"{name}.ipynb")]))
        assert cells[:-1] == readme[name]


def longest_without(cells, is_there):
    """Return the length of the longest run of cells without a cell that is asked for."""
    longest = 0
    run = 0
    for cell in cells:
        run = 0 if is_there(cell) else run + 1
        longest = max(longest, run)
    return longest


def checks(cell):
    """Return True for a cell with an exercise."""
    return "exercise" in cell.metadata.get("tags", [])


@pytest.mark.parametrize("path", PATHS[1:], ids=lambda path: path.stem)
def test_a_lesson_asks_for_something_soon(path):
    cells = form.parse(path.read_text("utf-8")).cells
    assert longest_without(cells, form.asks) <= 30
    assert longest_without(cells, checks) <= 40


def test_the_first_exercise_of_the_first_lesson_comes_within_ten_minutes():
    cells = form.parse((ROOT / "notebooks" / "01_strides.ipynb").read_text("utf-8")).cells
    task = next(k for k, cell in enumerate(cells) if checks(cell)) - 1
    before = [(cell.cell_type, cell.source) for cell in cells[:task]]
    assert lesson_of(before, "01_strides").minutes <= 10


def test_a_packed_card_is_the_card():
    x = torch.arange(24).view(4, 6)
    source = 'Predict(\n    f"The stride of {x.dim()} dims?", x.t().stride(), why="It turns.")'
    book = form.nbformat.v4.new_notebook(cells=[form.nbformat.v4.new_code_cell(source)])
    packed = lessons.unspoilt(book).cells[0].source
    card = eval(packed, {"Predict": Predict, "x": x})
    assert card._problem["answer"] == [1, 6] and card._problem["why"] == "It turns."
    assert repr(card) == "Predict: The stride of 2 dims?"


def test_by_default_the_lessons_are_written_below_dist(monkeypatch, tmp_path):
    assert lessons.OUTPUT == ROOT / "dist" / "lessons"
    monkeypatch.setattr(lessons, "OUTPUT", tmp_path / "out")
    lessons.main(["--repository", "Fork/kit"])
    assert (tmp_path / "out" / "README.md").is_file()


def test_badges_are_those_of_the_fork(written):
    text = (written / "README.md").read_text("utf-8")
    assert "colab.research.google.com/github/Fork/kit/blob/lessons/01_strides.ipynb" in text
    first = "mybinder.org/v2/gh/Fork/kit/HEAD?labpath=notebooks%2F00_start.ipynb"
    assert first in text and "https://fork.github.io/kit/" in text


@pytest.mark.parametrize(
    "address",
    [
        "Fork/kit.js",
        "https://github.com/Fork/kit.js",
        "https://github.com/Fork/kit.js.git",
        "https://me:secret@github.com/Fork/kit.js.git/",
        "git@github.com:Fork/kit.js.git",
        "org-7@github.com:Fork/kit.js",
        "ssh://git@github.com/Fork/kit.js.git",
        "ssh://git@ssh.github.com:443/Fork/kit.js.git",
        "git://www.GitHub.com/Fork/kit.js",
    ],
)
def test_a_repository_is_found_in_each_form_of_its_address(address):
    assert lessons.repository_of(address) == "Fork/kit.js"


@pytest.mark.parametrize(
    ("address", "shown"),
    {
        "https://me:secret@gitlab.com/Fork/kit.git": "https://gitlab.com/Fork/kit.git",
        "git@bitbucket.org:Fork/kit.git": "git@bitbucket.org:Fork/kit.git",
        "https://github.com.evil.org/Fork/kit": "https://github.com.evil.org/Fork/kit",
        "https://evil.org/github.com/Fork/kit": "https://evil.org/github.com/Fork/kit",
        "https://notgithub.com/Fork/kit": "https://notgithub.com/Fork/kit",
        "https://github.com/Fork": "https://github.com/Fork",
        "/home/me/kit": "/home/me/kit",
        "../kit": "../kit",
        "kit": "kit",
    }.items(),
)
def test_another_address_stops_with_one_line_without_a_password(tmp_path, address, shown):
    """And writes nothing."""
    with pytest.raises(SystemExit) as stop:
        lessons.main(["-o", str(tmp_path / "out"), "--repository", address])
    assert stop.value.code == (
        f"lessons: {shown} is no repository on GitHub: name the repository on GitHub that Colab is "
        'to install from: make lessons LESSONS_ARGS="--repository OWNER/NAME"'
    )
    assert not (tmp_path / "out").exists()


def test_without_a_repository_it_is_that_of_the_remote(tmp_path, monkeypatch):
    """A folder that is no clone is not taken for the project around it."""
    project = tmp_path / "project"
    git = ["git", "-C", str(project)]
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    with pytest.raises(lessons.NoRepository, match="git knows no remote `origin` here: name the"):
        lessons.origin(project)
    subprocess.run([*git, "remote", "add", "origin", "git@github.com:Fork/kit.git"], check=True)
    assert lessons.origin(project) == "git@github.com:Fork/kit.git"
    unpacked = project / "stridekit-0.1.0"
    unpacked.mkdir()
    with pytest.raises(lessons.NoRepository):
        lessons.origin(unpacked)
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(unpacked))
        with pytest.raises(lessons.NoRepository):
            lessons.origin(project)
    monkeypatch.setattr(lessons, "origin", lambda: "https://github.com/Fork/kit.git")
    folder = tmp_path / "new" / "out"
    lessons.main(["-o", str(folder)])
    source = form.parse((folder / "01_strides.ipynb").read_text("utf-8")).cells[1].source
    assert "https://github.com/Fork/kit/archive/HEAD.zip" in source


# Run the first code of a lesson in IPython, without stridekit, where pip.py prints what it is asked for.
FIRST_CELL = """
import json, os, sys
from IPython.core.interactiveshell import InteractiveShell

name, *modules = sys.argv[1:]
sys.path = [path for path in sys.path if not os.path.isfile(f"{path}/stridekit/__init__.py")]
sys.modules.update(dict.fromkeys(modules, sys))
cells = json.load(open(name, encoding="utf-8"))["cells"]
source = "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))
InteractiveShell.instance().run_cell(source).raise_error()
"""
ADDRESS = "stridekit[widgets] @ https://github.com/stridekit/stridekit/archive/HEAD.zip"
OF_FORK = "stridekit[widgets] @ https://github.com/Fork/kit/archive/HEAD.zip"
PRINTED = "# stridekit is missing. Run this in a cell:\n%pip install -q "


def in_a_clone(folder, written):
    (folder / "clone" / "stridekit" / "lessons").mkdir(parents=True)
    return shutil.copytree(ROOT / "notebooks", folder / "clone" / "notebooks")


def in_a_bare_folder(folder, written):
    return shutil.copytree(ROOT / "notebooks", folder / "downloads")


def in_a_folder_of_another_project(folder, written):
    (folder / "pyproject.toml").write_text('[project]\nname = "other"\nversion = "1"\n')
    (folder / "other").mkdir()
    return shutil.copytree(ROOT / "notebooks", folder / "notebooks")


def beside_a_clone(folder, written):
    """The clone is a package without code, so stridekit still cannot be imported."""
    (folder / "here" / "stridekit" / "stridekit").mkdir(parents=True)
    return shutil.copytree(ROOT / "notebooks", folder / "here", dirs_exist_ok=True)


def as_the_command_wrote_it(folder, written):
    cli.write_lessons(folder, cli.lessons())
    return folder


def in_the_copies_of_a_fork(folder, written):
    return written


@pytest.mark.parametrize(
    ("place", "package"),
    {
        in_a_clone: "..[lab]",
        in_a_bare_folder: ADDRESS,
        in_a_folder_of_another_project: ADDRESS,
        beside_a_clone: ADDRESS,
        as_the_command_wrote_it: ADDRESS,
        in_the_copies_of_a_fork: OF_FORK,
    }.items(),
)
def test_the_guard_installs_stridekit_and_nothing_else(tmp_path, written, place, package):
    """It prints the line that does; in Colab, it runs that line."""
    stub = tmp_path / "stub"
    stub.mkdir()
    (stub / "pip.py").write_text("import sys; print(sys.argv[1:])")
    folder = place(tmp_path, written)
    command = [sys.executable, "-c", FIRST_CELL, "01_strides.ipynb"]
    env = os.environ | {"PYTHONPATH": str(stub), "IPYTHONDIR": str(tmp_path / "ipython")}

    def seen(*modules):
        return subprocess.check_output([*command, *modules], cwd=folder, env=env, text=True)

    assert seen() == f'{PRINTED}"{package}" matplotlib pillow\n'
    arguments = ["install", "-q", package, "matplotlib", "pillow"]
    assert seen("google.colab").splitlines()[0] == str(arguments)


def test_the_guard_does_nothing_where_stridekit_is(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    exec(form.GUARD, {})
    assert capsys.readouterr().out == ""


def test_the_page_of_each_lesson_in_the_readme_is_published():
    """The table leads to pages: GitHub shows the code of a notebook's cards, which has the answers."""
    owner, name = form.REPOSITORY.removeprefix("https://github.com/").split("/")
    readme = (ROOT / "README.md").read_text("utf-8")
    links = re.findall(r"^\| \[[^\]]*\]\((\S+)\)", readme, re.MULTILINE)
    assert links == [f"https://{owner}.github.io/{name}/{path.stem}.html" for path in PATHS]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^EXPORT_ARGS \?= notebooks -o dist/site$", makefile, re.MULTILINE)
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text("utf-8"))["jobs"]
    steps = jobs["build"]["steps"]
    assert "make export" in [step.get("run") for step in steps]
    assert [step["with"]["path"] for step in steps if "path" in step.get("with", {})] == [
        "dist/site"
    ]
    assert jobs["publish"]["environment"]["name"] == "github-pages"
    assert "](../../deployments/github-pages)" in readme
    (push,) = [step["run"] for step in jobs["lessons"]["steps"] if "run" in step]
    assert "git init -q -b lessons" in push and "](../../tree/lessons#readme)" in readme
