"""The core works without the packages of the extras, and an error names the extra of a missing one."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A statement, a package that it needs, and the extra that brings it.
NEEDS = [
    ("from stridekit import StrideExplorer", "traitlets", "widgets"),
    ("from stridekit import explore", "anywidget", "widgets"),
    ("from stridekit.widgets import Diagnose", "ipywidgets", "widgets"),
    ("from stridekit.widgets.base import StateWidget", "anywidget", "widgets"),
    ("from stridekit.widgets.offline import offline_page", "ipywidgets", "widgets"),
    ("from stridekit.lessons.plots import Source", "matplotlib", "lab"),
    ("from stridekit.lessons.plots import Source", "PIL", "lab"),
    ("from stridekit.lessons.claims import claim", "matplotlib", "lab"),
    ("from stridekit.exercises import strides", "pygments", "lab"),
    ("from stridekit.lessons.notebook import run", "nbclient", "export"),
    ("import stridekit.export.__main__", "sphinx", "export"),
    ("import stridekit.export.__main__", "jupyter_client", "export"),
]
PACKAGES = sorted({package for _, package, _ in NEEDS})

CORE_ALONE = f"""\
import pydoc, sys
sys.modules |= dict.fromkeys({PACKAGES})
import torch
from stridekit import Layout, audit, diagnose, explain, is_view, memset, output_layout, traffic
from stridekit import measure, read_storage, relation
x = torch.arange(24.0).view(4, 6)
assert memset(x[::2]) < memset(x) and is_view(x.t(), x) and read_storage(x)[5] == 5
assert explain(x) and relation(x, x.t()) and traffic(x) and measure(int).seconds
run = audit(lambda x: x.t().reshape(-1), x)
assert run.findings and run._repr_html_() and type(run).from_json(run.to_json()).findings
import stridekit
assert "memset" in pydoc.render_doc(stridekit) and "explore" not in dir(stridekit)
from stridekit import *
assert "-1 stands for 24 / 5" in str(diagnose("shape '[5, -1]' is invalid for input of size 24"))
"""

ONE_MISSING = f"""\
import json, sys
import torch
messages = []
for statement, package, _ in {NEEDS}:
    for name in list(sys.modules):
        if name.partition(".")[0] in ("stridekit", package):
            del sys.modules[name]
    sys.modules[package] = None
    try:
        exec(statement)
    except ModuleNotFoundError as error:
        messages.append(str(error))
    del sys.modules[package]
print(json.dumps(messages))
"""


def run_python(program):
    """Run a program; return what it printed. It may print no warning."""
    run = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_core_works_without_the_packages_of_extras():
    run_python(CORE_ALONE)


@pytest.mark.skipif(
    not all(find_spec(package) for package in PACKAGES), reason="needs the packages of all extras"
)
def test_an_error_names_a_missing_package_and_its_extra():
    messages = json.loads(run_python(ONE_MISSING))
    wanted = [
        f'this needs {package}: pip install "stridekit[{extra}]"' for _, package, extra in NEEDS
    ]
    assert messages == wanted
