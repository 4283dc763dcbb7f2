"""Who may know whom in stridekit, and what `import stridekit` may load."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stridekit

PACKAGE = Path(__file__).parent.parent / "stridekit"

# For each module or subpackage: the others that it may import, and what else beside the standard
# library. The mathematics is below and knows no tensor; what draws and asks is on top, and of these
# none knows another. A new module needs a row here.
MAY_KNOW: dict[str, tuple[set[str], set[str]]] = {
    "_arguments": (set(), set()),
    "_table": (set(), set()),
    "palette": (set(), set()),
    "_defaults": (set(), {"torch"}),
    "rules": ({"_arguments"}, set()),
    "layout": ({"_arguments", "rules"}, set()),
    "elementwise": ({"_arguments", "rules", "layout"}, set()),
    "memory": ({"_arguments", "layout"}, set()),
    "tensors": ({"_arguments", "_table", "rules", "layout", "memory"}, {"torch"}),
    "cost": (
        {
            "_arguments",
            "_table",
            "_defaults",
            "layout",
            "elementwise",
            "memory",
            "tensors",
            "timing",
        },
        {"torch"},
    ),
    "timing": ({"_arguments", "_table", "_defaults", "plots"}, {"torch", "numpy", "tqdm"}),
    "plots": ({"_arguments", "palette"}, {"matplotlib", "numpy", "PIL"}),
    "widgets": (
        {
            "_arguments",
            "_defaults",
            "layout",
            "elementwise",
            "memory",
            "tensors",
            "cost",
            "plots",
            "palette",
        },
        {"torch", "anywidget", "ipywidgets", "traitlets", "matplotlib", "numpy", "PIL"},
    ),
    "notebook": (set(), {"nbformat", "nbclient", "jupyter_client", "matplotlib"}),
    "export": (
        {"palette", "timing", "widgets", "notebook"},
        {"stridekit", "traitlets", "nbformat", "nbconvert", "jinja2", "latex2mathml"},
    ),
    "selfcheck": ({"_defaults", "layout", "tensors", "widgets"}, {"torch"}),
    "exercises": (
        {"_arguments", "_defaults", "layout", "memory", "tensors"},
        {"torch", "numpy"},
    ),
    "__init__": (
        {"layout", "elementwise", "memory", "tensors", "cost", "selfcheck", "timing", "widgets"},
        set(),
    ),
}

FILES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path, package: Path = PACKAGE) -> str:
    """The module or subpackage directly under stridekit that a file belongs to."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def imports(source: str, package: list[str]) -> set[str]:
    """The full names that a source imports, on any level of it and however they are spelled."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base += node.module.split(".") if node.module else []
            # Only `from stridekit import layout` and the widgets' may name modules behind the import.
            bare = base in (["stridekit"], ["stridekit", "widgets"])
            found |= {".".join([*base, *([alias.name] if bare else [])]) for alias in node.names}
    return found


def forbidden(source: str, package: list[str], here: str) -> set[str]:
    """What a source in the module `here` imports and may not."""
    own, others = MAY_KNOW[here]
    allowed = others | {"stridekit." + name for name in {*own, here}}
    names = {
        ".".join(name.split(".")[:2]) if name.startswith("stridekit") else name.split(".")[0]
        for name in imports(source, package)
    }
    return {name for name in names - allowed if name not in sys.stdlib_module_names}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_knows_only_those_below(path):
    assert room(path) in MAY_KNOW, f"give {room(path)} a row in MAY_KNOW: whom may it know?"
    package = ["stridekit", *path.relative_to(PACKAGE).parts[:-1]]
    assert forbidden(path.read_text(encoding="utf-8"), package, room(path)) == set()


@pytest.mark.parametrize(
    ("here", "source"),
    [
        ("layout", "import torch"),
        ("layout", "import numpy.linalg as la"),
        ("memory", "from stridekit.tensors.storage import read_storage"),
        ("memory", "from stridekit import tensors"),
        ("memory", "from . import tensors"),
        ("memory", "from .tensors.storage import read_storage"),
        ("memory", "def f():\n    from .tensors.storage import read_storage"),
        ("memory", "if TYPE_CHECKING:\n    import stridekit.tensors.storage"),
        ("plots", "from stridekit.widgets import notation"),
        ("plots", "import stridekit.exercises.core"),
        ("widgets", "from ..exercises import core"),
        ("exercises", "from stridekit.widgets.notation import code"),
    ],
)
def test_the_reading_of_imports_sees_every_spelling(here, source):
    package = ["stridekit", here] if here in ("widgets", "exercises") else ["stridekit"]
    assert forbidden(source, package, here)


@pytest.mark.parametrize(
    ("here", "source"),
    [
        (
            "memory",
            "import os.path\nfrom .layout import Layout",
        ),
        (
            "widgets",
            "import torch\nfrom . import notation\nfrom stridekit import memory",
        ),
    ],
)
def test_the_reading_of_imports_allows_what_the_table_allows(here, source):
    package = ["stridekit", here] if here == "widgets" else ["stridekit"]
    assert forbidden(source, package, here) == set()


SOURCES = [p for end in ("py", "js") for p in sorted((PACKAGE / "widgets").glob(f"*/*.{end}"))]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_widget_knows_no_other_widget(path):
    """What lies in a widget's folder imports from there, and what all widgets share."""
    widgets, here, source = PACKAGE / "widgets", path.parent.name, path.read_text(encoding="utf-8")
    rooms = {folder.name for folder in widgets.iterdir() if folder.is_dir()} - {here}
    if path.suffix == ".js":
        rooms -= {"page"}
        paths = re.findall(r'^import .*"(.*)";$', source, re.MULTILINE)
        found = {(path.parent / name).resolve().parent.name for name in paths}
    else:
        names = imports(source, ["stridekit", "widgets", here])
        found = {name.split(".")[2] for name in names if name.count(".") > 1}
    assert found & rooms == set()


def test_import_adds_to_torch_only_stridekit():
    """So that it is as quick as torch: plots and widgets load when they are first asked for."""
    program = (
        "import sys, json, torch; before = set(sys.modules); import stridekit; "
        "print(json.dumps([*before]), json.dumps([*set(sys.modules) - before]), sep=chr(10))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    before, added = (
        {name.partition(".")[0] for name in json.loads(line)} for line in done.stdout.splitlines()
    )
    assert added - sys.stdlib_module_names == {"stridekit"}
    heavy = re.compile("matplotlib|ipywidgets|anywidget|traitlets|IPython|ipykernel|jupyter")
    assert [name for name in before | added if heavy.match(name)] == []


def test_the_tab_key_offers_what_is_public():
    """Neither the modules behind it nor what they import; all that is offered is there."""
    offered = {name for name in dir(stridekit) if not name.startswith("__")}
    assert offered == {*stridekit.__all__, "exercises", "plots", "timing", "widgets"}
    for module in (stridekit, stridekit.timing, stridekit.widgets):
        assert {*module.__all__} <= {*dir(module)}
        assert all(getattr(module, name) is not None for name in dir(module))
    assert {*dir(stridekit.timing)} == {*stridekit.timing.__all__}
    assert {*dir(stridekit.widgets)} == {*stridekit.widgets.__all__}
    lessons = {p.parent.name for p in PACKAGE.glob("exercises/*/__init__.py")}
    assert {*dir(stridekit.exercises)} == {*stridekit.exercises.__all__, *lessons}


def test_modules_are_there_when_they_are_asked_for():
    """After `import stridekit` alone, as the tab key offers them."""
    program = (
        "import stridekit; print([m.__name__ for m in (stridekit.plots, stridekit.exercises)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"['stridekit.plots',", b"'stridekit.exercises']"]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        stridekit.nothing  # noqa: B018
