"""The lock and environment.yml repeat the dependencies of pyproject.toml."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

# The packages with another name in conda-forge.
CONDA_NAMES = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
# The packages that conda-forge does not have.
FROM_PIP = {"quickjs-ng"}

# Addresses of package registries; with the backslashes, this file has none.
REGISTRIES = (
    r"pypi\.org|pythonhosted\.|download\.pytorch\.|registry\.npmjs\.|npmjs\.com|conda\.anaconda\."
    r"|repo\.anaconda\.|unpkg\.|jsdelivr\.|esm\.sh|(index-url|find-links)[ =]+[^ ]*:/"
)


def requirements(lines):
    """Requirements by name, the last one of each, without the package's own extras."""
    parsed = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): r for r in parsed if r.name != "stridekit"}


def locked():
    """The lines of the lock: one for each package, or one for each of its markers."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def conda():
    """The packages that environment.yml takes from conda-forge, by name, and those from pip."""
    content = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert content["channels"] == ["conda-forge", "nodefaults"]
    *packages, last = content["dependencies"]
    parts = [re.fullmatch(r"([\w-]+)(.*)", package).groups() for package in packages]
    return dict(parts), last["pip"]


ALL = requirements(PROJECT["dependencies"] + EXTRAS["lab"] + EXTRAS["export"] + EXTRAS["test"])


def test_the_lock_has_versions_in_the_range_and_names_no_machine():
    """Only names, versions and markers: no paths, addresses or hashes."""
    lines = locked()
    assert [pin for pin in lines if not re.fullmatch(r"[\w.-]+==[\w.]+( ; [^#/\\]+)?", pin)] == []
    pins = [Requirement(line) for line in lines]
    assert ALL.keys() <= {canonicalize_name(pin.name) for pin in pins}, "run make lock"
    for pin in pins:
        wanted = ALL.get(canonicalize_name(pin.name))
        assert wanted is None or next(iter(pin.specifier)).version in wanted.specifier, (
            "run make lock"
        )


def test_environment_yml_repeats_pyproject():
    """The ranges are the same for all packages that stridekit and JupyterLab need."""
    packages, pip = conda()
    needed = requirements(PROJECT["dependencies"] + EXTRAS["lab"])
    from_pip = [str(needed.pop(name)) for name in sorted(FROM_PIP)]
    expected = {CONDA_NAMES.get(name, name): r.specifier for name, r in needed.items()}
    found = {n: SpecifierSet(v) for n, v in packages.items() if n not in ("python", "pip")}
    assert found == expected
    assert (packages["pip"], pip) == ("", [*from_pip, "-e ."])


def test_the_extension_of_jupyterlab_is_of_this_version():
    """And pip puts it where JupyterLab looks."""
    extension = json.loads((ROOT / "labextension/package.json").read_text(encoding="utf-8"))
    assert [extension[name] for name in ("name", "version")] == [
        PROJECT["name"],
        PROJECT["version"],
    ]
    assert (ROOT / "labextension" / extension["jupyterlab"]["_build"]["load"]).is_file()
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shared = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"labextension": f"share/jupyter/labextensions/{extension['name']}"}


def test_oldest_python_is_the_same_everywhere():
    packages, _ = conda()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    oldest = re.search(r"^WANTED := Python (3\.\d+) to ", makefile, re.MULTILINE)[1]
    assert f"({oldest.replace('.', ', ')}) <= sys.version_info[:2]" in makefile
    assert PROJECT["requires-python"] == f">={oldest}"
    assert packages["python"] == f"={oldest}"


def test_no_file_names_a_package_registry():
    """Your own configuration decides where packages come from."""
    command = ["git", "grep", "--cached", "-nIE", REGISTRIES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 128:
        pytest.skip("needs git")
    assert done.stdout == ""
