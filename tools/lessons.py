"""Write the lessons for Colab and VS Code: `python tools/lessons.py [-o FOLDER] [--repository OWNER/NAME]`.

Those hosts unfold all cells. So the copies have no outputs, the source of each card is packed, and words
that explain an answer are behind a fold. The first cell installs stridekit from the repository, and a
README has badges for it. By default, the repository is that of git's remote `origin`.
"""

from __future__ import annotations

import argparse
import ast
import base64
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

from stridekit.lessons import notebook as form

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "dist" / "lessons"
FOLD = "<details><summary>What torch says, and why</summary>\n\n{}\n\n</details>"
BADGE = "[![{0}](https://img.shields.io/badge/{0}-{1}-blue)]({2})"
# https://github.com/OWNER/NAME.git, git@github.com:OWNER/NAME.git, ssh://git@ssh.github.com:443/OWNER/NAME
GITHUB = re.compile(
    r"^(?:\w+://)?(?:[^@/]+@)?(?:www\.|ssh\.)?github\.com(?::\d+/|:|/)", re.IGNORECASE
)
NAME = re.compile(r"\w[\w-]*/[\w.-]+")
WHAT_TO_DO = (
    "name the repository on GitHub that Colab is to install from: "
    'make lessons LESSONS_ARGS="--repository OWNER/NAME"'
)


class NoRepository(Exception):
    """No repository on GitHub can be found; the message is one line that says what to do."""


def repository_of(address: str) -> str:
    """Return OWNER/NAME of an address on GitHub, or of OWNER/NAME itself. Raises NoRepository."""
    name = GITHUB.sub("", address.strip(), count=1).rstrip("/").removesuffix(".git")
    if not NAME.fullmatch(name):
        without_password = re.sub(r"//[^@/]*@", "//", address)
        raise NoRepository(f"{without_password} is no repository on GitHub: {WHAT_TO_DO}")
    return name


def origin(folder: Path = ROOT) -> str:
    """Return the address of git's remote `origin`. Raises NoRepository."""
    command = ["git", "-C", str(folder), "remote", "get-url", "origin"]
    # Without this, git would find the repository of a project around this folder.
    env = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    except (OSError, subprocess.CalledProcessError):
        raise NoRepository(f"git knows no remote `origin` here: {WHAT_TO_DO}") from None
    return done.stdout.strip()


def unspoilt(book: Any, address: str = form.ADDRESS) -> Any:
    """Return a notebook without outputs and without answers in the sources of cards, changed in place.

    Its first cell installs stridekit from the address.
    """
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
        if cell.source == form.GUARD:
            cell.source = cell.source.replace(form.ADDRESS, address)
        if form.asks(cell):
            question = ast.unparse(ast.parse(cell.source).body[0].value.args[0])
            packed = base64.b64encode(zlib.compress(cell.source.encode(), 9)).decode()
            cell.source = (
                f'# A card: run this cell, and answer it.\nPredict.packed({question}, "{packed}")'
            )
        if cell.metadata.pop("jupyter", {}).get("source_hidden"):
            cell.metadata.jupyter = {"source_hidden": True}
            if cell.cell_type == "markdown":
                cell.source = FOLD.format(cell.source)
    for cell, cell_id in zip(book.cells, form.ids(book), strict=True):
        cell.id = cell_id
    return book


def readme(repository: str, names: list[str]) -> str:
    """Return a page with a badge for each lesson in Colab, for Binder and for the site."""
    owner, _, project = repository.partition("/")
    colab = f"https://colab.research.google.com/github/{repository}/blob/lessons"
    rows = [f"- {BADGE.format('Colab', name[:2], f'{colab}/{name}')} {name}\n" for name in names]
    binder = f"https://mybinder.org/v2/gh/{repository}/HEAD?labpath=notebooks%2F{names[0]}"
    site = f"https://{owner.lower()}.github.io/{project}/"
    return (
        "# stridekit: the lessons for Colab and VS Code\n\n"
        f"{BADGE.format('Binder', 'JupyterLab', binder)} {BADGE.format('site', 'pages', site)}\n\n"
        "Copies without outputs and answers, which `make lessons` writes from the main branch.\n"
        "They were not run in Colab or VS Code: `make colab` runs each with Colab's versions of\n"
        "IPython, ipywidgets and NumPy.\n\n"
        f"{''.join(rows)}"
    )


def main(arguments: list[str] | None = None) -> None:
    """Write a copy of each lesson."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    parser.add_argument("--repository", help="OWNER/NAME on GitHub; by default that of `origin`")
    options = parser.parse_args(arguments)
    try:
        repository = repository_of(options.repository or origin())
    except NoRepository as error:
        sys.exit(f"lessons: {error}")
    address = form.ADDRESS.replace(form.REPOSITORY, f"https://github.com/{repository}")
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in paths:
        book = unspoilt(form.parse(path.read_text(encoding="utf-8")), address)
        (options.output / path.name).write_text(form.write(book), encoding="utf-8")
    text = readme(repository, [path.name for path in paths])
    (options.output / "README.md").write_text(text, encoding="utf-8")
    print(f"{len(paths)} lessons of {repository} in {options.output}")


if __name__ == "__main__":
    main()
