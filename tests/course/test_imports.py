"""What an import of the widgets and the lessons loads, and what the tab key offers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stridekit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "stridekit"
MOST_MODULES = 40  # that `import stridekit` adds to `import torch`


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
    lessons = {p.stem[3:] for p in PACKAGE.parent.glob("notebooks/*.ipynb")}
    assert {*dir(stridekit.exercises)} == {*stridekit.exercises.__all__, *lessons}
