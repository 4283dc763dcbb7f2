"""The lock and environment.yml repeat the dependencies of pyproject.toml."""

import json
import re
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

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
REGISTRIES = re.compile(
    r"pypi\.org|pythonhosted\.|download\.pytorch\.|registry\.npmjs\.|npmjs\.com|conda\.anaconda\."
    r"|repo\.anaconda\.|unpkg\.|jsdelivr\.|esm\.sh|(?:index-url|find-links)[ =]+\S*:/"
)


def requirements(lines):
    """Requirements by name, the last one of each, without the package's own extras."""
    parsed = [Requirement(line) for line in lines]
    return {canonicalize_name(r.name): r for r in parsed if r.name != "stridekit"}


def locked():
    """The versions of each package in the lock: one, or one for each marker."""
    versions = defaultdict(list)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            (pin,) = requirement.specifier
            assert pin.operator == "=="
            versions[canonicalize_name(requirement.name)].append(pin.version)
    return versions


def conda():
    """The packages that environment.yml takes from conda-forge, by name, and those from pip."""
    content = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert content["channels"] == ["conda-forge", "nodefaults"]
    *packages, last = content["dependencies"]
    parts = [re.fullmatch(r"([\w-]+)(.*)", package).groups() for package in packages]
    return dict(parts), last["pip"]


ALL = requirements(PROJECT["dependencies"] + EXTRAS["lab"] + EXTRAS["export"] + EXTRAS["test"])


def test_lock_has_versions_in_the_range():
    versions = locked()
    assert sorted(ALL.keys() - versions.keys()) == [], "run make lock"
    beyond = [(name, version) for name, requirement in ALL.items() for version in versions[name]
              if version not in requirement.specifier]  # fmt: skip
    assert beyond == [], "run make lock"


def test_lock_names_no_machine():
    """Only names, versions and markers: no paths, addresses or hashes."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pins = [line for line in text.splitlines() if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+( ; [^#/\\]+)?", pin)] == []


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


def files():
    """The files that git tracks or would track; without git, those in the tree."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\0")[:-1]
    if listed.returncode:
        names = (str(path.relative_to(ROOT)) for path in ROOT.rglob("*"))
        names = (name for name in names if not re.search(r"(^|/)(\.(?!ci|git)|__pycache__)", name))
    return [path for path in map(ROOT.joinpath, names) if path.is_file()]


def test_no_file_names_a_package_registry():
    """Your own configuration decides where packages come from."""
    found = {path: REGISTRIES.search(path.read_bytes().decode(errors="ignore")) for path in files()}
    assert {str(path): address[0] for path, address in found.items() if address} == {}


def test_the_search_for_registries_finds_them():
    for text in ("https://pypi" + ".org/simple", "https://download." + "pytorch.org/whl/cpu",
                 "--index-url" + " https://mirror/simple"):  # fmt: skip
        assert REGISTRIES.search(text)
