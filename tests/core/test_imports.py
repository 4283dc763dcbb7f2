"""The imports of stridekit, and what `import stridekit` may load.

The layers are import-linter's contracts in pyproject.toml; these tests hold what a contract cannot say.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

import stridekit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "stridekit"
GRAPH = grimp.build_graph("stridekit", include_external_packages=True, cache_dir=None)
MOST_MODULES = 40  # that `import stridekit` adds to `import torch`

# What each room needs beside the standard library; the others need nothing.
OTHERS = {
    "_defaults": "torch",
    "sdpa": "torch",
    "tensors": "torch",
    "cost": "torch numpy",
    "audit": "torch",
    "timing": "torch numpy",
    "lessons": "torch numpy matplotlib PIL ipykernel nbclient nbformat",
    "widgets": "torch anywidget ipywidgets quickjs traitlets matplotlib numpy PIL",
    "exercises": "torch numpy pygments",
    "export": "nbformat nbclient jupyter_client matplotlib sphinx docutils latex2mathml markdown_it "
    "mdit_py_plugins",
}


def known_by(module):
    """The modules that one imports, on any level of it and however they are spelled."""
    return GRAPH.find_modules_directly_imported_by(module)


def test_every_contract_is_kept(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0
    assert re.search(r"Contracts: [5-9] kept, 0 broken", capsys.readouterr().out)


def test_a_room_needs_only_what_it_says():
    """Only the room on top of all others imports `stridekit` itself."""
    for module in GRAPH.find_descendants("stridekit"):
        room = module.split(".")[1]
        others = {name for name in known_by(module) if not name.startswith("stridekit.")}
        allowed = {*OTHERS.get(room, "").split(), *(["stridekit"] if room == "export" else [])}
        assert others - allowed <= sys.stdlib_module_names, module


def test_a_widget_knows_no_other_widget():
    rooms = {folder.name for folder in (PACKAGE / "widgets").iterdir() if folder.is_dir()}
    for path in (PACKAGE / "widgets").glob("*/*.js"):
        names = re.findall(r'^import .*"(.*)";$', path.read_text("utf-8"), re.MULTILINE)
        known = {(path.parent / name).resolve().parent.name for name in names}
        assert known & rooms - {"page"} <= {path.parent.name}, path
    for path in (PACKAGE / "widgets").glob("*/*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        known = {part for name in known_by(module) for part in name.split(".")[2:3]}
        assert known & rooms <= {path.parent.name}, path


# A CUDA build without a GPU: torch looks for CUDA's compiler as it imports its extensions, and complains
# if it finds it alone.
PROGRAM = """\
import json, sys, torch
torch.cuda._is_compiled, torch.cuda.is_available = (lambda: True), bool
before = {*sys.modules}
import stridekit
from stridekit import diagnose
added = {*sys.modules} - before
from stridekit.timing import *
compare({"a": lambda: 0, "b": lambda: 1}, rounds=1); repr(measure(int))
assert stridekit.lessons and stridekit.exercises
import stridekit.lessons.plots
assert "torch.utils.cpp_extension" not in sys.modules
print(json.dumps([*before]), json.dumps([*added]), sep="\\n")
"""


def test_import_adds_to_torch_only_stridekit_and_says_nothing():
    """The import is as quick as torch's: plots and widgets load when they are first used."""
    run = [sys.executable, "-c", PROGRAM]
    env = os.environ | {"CUDA_HOME": str(ROOT), "ROCM_HOME": str(ROOT)}
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    before, added = map(json.loads, done.stdout.splitlines())
    assert {name.partition(".")[0] for name in added} - sys.stdlib_module_names == {"stridekit"}
    heavy = re.compile("matplotlib|ipywidgets|anywidget|traitlets|IPython|ipykernel|jupyter")
    assert [name for name in before + added if heavy.match(name)] == []
    assert len(added) <= MOST_MODULES
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        stridekit.nothing  # noqa: B018


def test_the_tab_key_offers_what_is_public():
    """It offers no private modules and none of their imports, and all that it offers exists."""
    offered = {name for name in dir(stridekit) if not name.startswith("__")}
    assert offered == {*stridekit.__all__, "exercises", "lessons", "timing", "widgets"}
    for module in (stridekit, stridekit.timing, stridekit.widgets):
        assert {*module.__all__} <= {*dir(module)}
        assert all(getattr(module, name) is not None for name in dir(module))
    assert {*dir(stridekit.timing)} == {*stridekit.timing.__all__}
    assert {*dir(stridekit.widgets)} == {*stridekit.widgets.__all__}
    lessons = {p.stem[3:] for p in PACKAGE.parent.glob("notebooks/0[1-8]_*.ipynb")}
    assert {*dir(stridekit.exercises)} == {*stridekit.exercises.__all__, *lessons}
