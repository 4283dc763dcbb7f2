"""Try an installed stridekit outside of the project: `make dist` runs this script.

    python try_package.py PACKAGE

The package is what pip installed, such as dist/stridekit-0.1.0-py3-none-any.whl[widgets].
"""

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import torch

import stridekit

LESSONS = Path(__file__).resolve().parents[1] / "notebooks"
WIDGETS = (
    "Drill()",
    "StrideExplorer()",
    "AliasExplorer()",
    "ReshapeStepper()",
    "ChannelsLastExplorer()",
    "FormatTracer()",
    "TraversalExplorer()",
    "Predict('What is the stride of `x.t()`?', (1, 6))",
    "Sort(torch.ones(4, 6), 'x.t(); x + 0', also='x.t(); x[1:]')",
    "AttentionExplorer()",
    "CacheExplorer()",
    "CopyTracer(stridekit.audit(torch.nn.Flatten(0), torch.ones(4, 6).t()))",
    "Diagnose('ValueError: step must be greater than zero')",
)
SHARED = "share/jupyter/labextensions/stridekit/static"
FILES = (f"{SHARED}/extension.js", f"{SHARED}/widgets/predict.json")
MESSAGE = "view size is not compatible with input tensor's size and stride"


def try_core() -> None:
    """Ask what needs no extra, and call the command."""
    assert "site-packages" in Path(stridekit.__file__).parts, stridekit.__file__
    assert stridekit.Layout.of(torch.ones(2, 3).t()).why_not_view(6)
    assert "of dims that do not merge" in repr(stridekit.diagnose(MESSAGE))
    assert stridekit.audit(lambda x: x.t().reshape(-1), torch.rand(3, 4)).findings
    installed = importlib.metadata.files("stridekit") or ()
    assert missing_files(str(file) for file in installed) == []
    assert run_command("--version") == f"stridekit {importlib.metadata.version('stridekit')}\n"
    assert "of dims that do not merge" in run_command("diagnose", text=MESSAGE)


def missing_files(installed: Iterable[str]) -> list[str]:
    """Return the files of JupyterLab's extension that are not among the installed ones."""
    paths = list(installed)
    return [file for file in FILES if not any(path.endswith(file) for path in paths)]


def run_command(*arguments: str, text: str = "") -> str:
    """Run the command `stridekit` of this environment; return its output."""
    command = [str(Path(sys.executable).with_name("stridekit")), *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def try_refusals() -> None:
    """Use what needs an extra, without it."""
    message = ""
    try:
        stridekit.StrideExplorer  # noqa: B018
    except ModuleNotFoundError as error:
        message = str(error)
    assert message.endswith('pip install "stridekit[widgets]"'), message


def try_widgets() -> None:
    """Make each widget, and put it on a page."""
    from stridekit import widgets
    from stridekit.widgets.offline import offline_page

    names = {name: getattr(widgets, name) for name in dir(widgets)}
    for source in WIDGETS:
        widget = eval(source, {**names, "torch": torch, "stridekit": stridekit})
        assert repr(widget)
        assert "bringToLife" in offline_page([widget]), source


def try_lab() -> None:
    """Ask an exercise and a figure, and let the command write the lessons; JupyterLab ends at once."""
    from stridekit.exercises import strides
    from stridekit.lessons.gpu import gpu_results

    assert strides.row.hints
    assert gpu_results().plot()
    with tempfile.TemporaryDirectory() as folder:
        run_command("lab", folder, "--", "--version")
        written = {path.name for path in Path(folder).glob("*.ipynb")}
    assert written == {path.name for path in LESSONS.glob("*.ipynb")}


def size() -> str:
    """Return how many packages are installed beside pip, and how large they are."""
    packages = {dist.name for dist in importlib.metadata.distributions()} - {"pip", "setuptools"}
    folder = Path(torch.__file__).parents[1]
    return (
        f"{len(packages)} packages, {megabytes(folder)} MB, "
        f"of which {megabytes(folder / 'torch')} are torch {torch.__version__}"
    )


def megabytes(folder: Path) -> int:
    """Return the size of all files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return round(sum(file.stat().st_size for file in files) / 1e6)


def extra_of(package: str) -> str:
    """Return the extra with which a package was installed; "" without one."""
    brackets = re.search(r"\[(\w+)\]$", package)
    return brackets[1] if brackets else ""


def main(package: str) -> None:
    """Try what the package promises, and print how large it is."""
    installed = size()  # before Python compiles what is tried
    extra = extra_of(package)
    try_core()
    if extra in ("widgets", "lab"):
        try_widgets()
    else:
        try_refusals()
    if extra == "lab":
        try_lab()
    print(f"{Path(package).name} works in an empty environment: {installed}")


if __name__ == "__main__":
    main(sys.argv[1])
