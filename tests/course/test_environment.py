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

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))

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


def test_the_lock_has_versions_in_the_range_and_names_no_machine():
    """Only names, versions and markers: no paths, addresses or hashes."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    versions = {}
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.]+( ; [^#/\\]+)?", line)
        pin = Requirement(line)
        [specifier] = pin.specifier
        versions.setdefault(canonicalize_name(pin.name), []).append(specifier.version)
    needed = requirements(sum(EXTRAS.values(), PROJECT["dependencies"]))
    for name, requirement in needed.items():
        assert name in versions, "run make lock"
        for version in versions[name]:
            assert version in requirement.specifier, "run make lock"


def test_environment_yml_repeats_what_stridekit_and_jupyterlab_need():
    """And the oldest Python is the same everywhere."""
    *packages, last = CONDA["dependencies"]
    ranges = {}
    for package in packages:
        name, version_range = re.fullmatch(r"([\w-]+)(.*)", package).groups()
        ranges[name] = version_range
    script = (ROOT / "tools" / "environment.sh").read_text(encoding="utf-8")
    oldest = re.search(r'^WANTED="Python (3\.\d+) to ', script, re.MULTILINE)[1]
    assert ranges.pop("python") == f"={oldest}"
    assert PROJECT["requires-python"] == f">={oldest}"
    needed = requirements(PROJECT["dependencies"] + EXTRAS["widgets"] + EXTRAS["lab"])
    from_pip = [str(needed.pop(name)) for name in sorted(FROM_PIP)]
    assert ranges.pop("pip") == ""
    assert last["pip"] == [*from_pip, "-e ."]
    assert CONDA["channels"] == ["conda-forge", "nodefaults"]
    specifiers = {name: SpecifierSet(version_range) for name, version_range in ranges.items()}
    expected = {}
    for name, requirement in needed.items():
        conda_name = CONDA_NAMES.get(name, name)
        expected[conda_name] = requirement.specifier
    assert specifiers == expected


def test_the_extension_of_jupyterlab_is_of_this_version():
    """And pip puts it where JupyterLab looks."""
    extension = json.loads((ROOT / "labextension/package.json").read_text(encoding="utf-8"))
    assert extension["name"] == PROJECT["name"]
    assert extension["version"] == PROJECT["version"]
    entry_point = extension["jupyterlab"]["_build"]["load"]
    assert (ROOT / "labextension" / entry_point).is_file()
    shared = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"labextension": f"share/jupyter/labextensions/{extension['name']}"}


def test_no_file_names_a_package_registry():
    """Your own configuration decides where packages come from."""
    command = ["git", "grep", "--cached", "-nIE", REGISTRIES]
    search = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if search.returncode == 128:
        pytest.skip("needs git")
    assert search.stdout == ""
