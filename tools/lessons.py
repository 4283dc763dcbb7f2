"""Write the lessons for Colab and VS Code: `python tools/lessons.py [-o FOLDER] [--repository OWNER/NAME]`.

Those hosts unfold all cells. So the copies have no outputs, the source of each card is packed, and words
that explain an answer are behind a fold. With a repository, the first cell installs stridekit from there,
and a README has badges for it.
"""

from __future__ import annotations

import argparse
import ast
import base64
import shutil
import zlib
from pathlib import Path
from typing import Any

from stridekit.lessons import notebook as form

ROOT = Path(__file__).resolve().parent.parent
FOLD = "<details><summary>What torch says, and why</summary>\n\n{}\n\n</details>"
BADGE = "[![{0}](https://img.shields.io/badge/{0}-{1}-blue)]({2})"


def unspoilt(book: Any, source: str = form.SOURCE) -> Any:
    """Return a notebook without outputs and without answers in the sources of cards, changed in place."""
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
        if cell.source == form.GUARD:
            cell.source = cell.source.replace(form.SOURCE, source)
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
    badges = [BADGE.format("Colab", name[:2], f"{colab}/{name}") for name in names]
    rows = [f"- {badge} {name}\n" for badge, name in zip(badges, names, strict=True)]
    binder = f"https://mybinder.org/v2/gh/{repository}/HEAD?labpath=notebooks%2F{names[0]}"
    site = f"https://{owner.lower()}.github.io/{project}/"
    return (
        "# stridekit: the lessons for Colab and VS Code\n\n"
        f"{BADGE.format('Binder', 'JupyterLab', binder)} {BADGE.format('site', 'pages', site)}\n\n"
        "Copies without outputs and answers, which `make lessons` writes from the main branch.\n"
        "They were not run in Colab or VS Code.\n\n"
        f"{''.join(rows)}"
    )


def main(arguments: list[str] | None = None) -> None:
    """Write a copy of each lesson."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist" / "lessons")
    parser.add_argument("--repository", default="", help="owner/name on GitHub")
    options = parser.parse_args(arguments)
    source = form.SOURCE
    if options.repository:
        # Colab's own torch and JupyterLab stay as they are.
        package = f"stridekit[widgets] @ git+https://github.com/{options.repository}"
        source = f'"{package}" matplotlib pillow'
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in paths:
        book = unspoilt(form.parse(path.read_text(encoding="utf-8")), source)
        (options.output / path.name).write_text(form.write(book), encoding="utf-8")
    if options.repository:
        text = readme(options.repository, [path.name for path in paths])
        (options.output / "README.md").write_text(text, encoding="utf-8")
    print(f"{len(paths)} lessons in {options.output}")


if __name__ == "__main__":
    main()
