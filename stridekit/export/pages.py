"""Notebooks as web pages with live widgets that need neither a kernel nor a network.

    python -m stridekit.export notebooks -o site
    python -m stridekit.export notebooks/01_strides.ipynb -o site

A folder becomes a site with a front page, a reference made from the docstrings, and an index to search; a
notebook becomes one page. Each page is one file. The notebooks are executed, some seconds each; if one
fails, nothing is written. Files that the export did not write are never replaced.
"""

from __future__ import annotations

import argparse
import html
import os
import sys
import tempfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stridekit.export.site import FRONT, INDEX, INDEX_MARK, MARK, Page, Site, front_page, whole

if TYPE_CHECKING:
    from stridekit.export.lesson import Lesson


class ExportError(Exception):
    """The export failed and wrote nothing; the message is one line that says why."""


def export(source: Path, folder: Path) -> list[Path]:
    """Write a notebook, or a folder's notebooks with a front page and the reference; return the files.

    Raises ExportError if there is no notebook, one of them fails, or the folder is not writable.
    """
    notebooks = _notebooks(source)
    for path in notebooks:
        if not path.stem.isprintable():
            raise ExportError(f"{path.name!a} cannot be the name of a page: rename it")
    if folder.exists() and not folder.is_dir():
        raise ExportError(f"{folder} is a file: name a folder to write to")
    is_site = source.is_dir()
    names = [f"{path.stem}.html" for path in notebooks] + [FRONT, INDEX] * is_site
    _require_free(folder / name for name in names)
    lessons = {path.stem: _lesson(path) for path in notebooks}
    pages = [_lesson_page(name, found) for name, found in lessons.items()]
    return _write(_site(lessons, pages) if is_site else {pages[0].file: whole(pages[0])}, folder)


def _notebooks(source: Path) -> list[Path]:
    if source.is_dir():
        found = sorted(source.glob("*.ipynb"))
        if not found:
            raise ExportError(f"{source} has no notebooks")
        for path in found:
            name = path.stem.casefold()  # some file systems ignore case
            if name == "index" or name.startswith("reference-"):
                raise ExportError(
                    f"{path} would take the name of the front page or of a page of the reference: rename it"
                )
        return found
    if not source.is_file():
        raise ExportError(f"{source} does not exist: name a notebook, or a folder of notebooks")
    if source.suffix != ".ipynb":
        raise ExportError(f"{source} is not a notebook (.ipynb)")
    return [source]


def _lesson(path: Path) -> Lesson:
    """The executed notebook. Raises ExportError with the name of the notebook."""
    try:
        pages: Any = import_module("stridekit.export.lesson")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise ExportError(
            f"{package} is not installed: pip install 'stridekit[export]' brings it"
        ) from None
    except ImportError as error:
        raise ExportError(
            f"a package that pages are made with cannot be imported ({error}): "
            "pip install --force-reinstall 'stridekit[export]' repairs it"
        ) from None
    print(f"{path}: executing", flush=True)
    try:
        return pages.lesson(path)
    except pages.NotebookError as error:
        raise ExportError(f"{path}, {error}") from None


def _require_free(paths: Iterable[Path]) -> None:
    """Raise ExportError if one of the paths is anything but an earlier page or index."""
    for path in paths:
        if os.path.lexists(path) and not _is_page(path):
            raise ExportError(
                f"{path} exists and was not written by this export: move it, or name another folder to "
                "write to"
            )


def _is_page(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MARK)).startswith((MARK.encode(), INDEX_MARK.encode()))
    except OSError:
        return False


def _write(pages: dict[str, str], folder: Path) -> list[Path]:
    """Write all pages into a temporary folder, then move them to their places."""
    _require_free(folder / name for name in pages)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".stridekit-", dir=folder) as begun:
            for name, text in pages.items():
                (Path(begun) / name).write_text(text, encoding="utf-8", newline="\n")
            for name in pages:
                os.replace(Path(begun) / name, folder / name)
    except OSError as error:
        raise ExportError(f"cannot write to {folder}: {error.strerror}") from None
    return [folder / name for name in pages]


def _lesson_page(name: str, lesson: Lesson) -> Page:
    note = (
        f"The lesson <code>{html.escape(name)}.ipynb</code> as a page. What you can drag, press and "
        "answer is alive. The code was run when the page was made, and what it said stands below "
        "it; to run it yourself, get stridekit, call <code>make lab</code> and open the notebook."
    )
    return Page(name, lesson.title, lesson.body, lesson.styles, note, lesson.parts)


def _site(lessons: dict[str, Lesson], pages: list[Page]) -> dict[str, str]:
    """The files of a site: lessons, a page of the reference per subject, a front page, an index."""
    from stridekit.export.lesson import styles
    from stridekit.export.reference import contents, reference

    look, explained = styles(), reference()
    note = "Written from the docstrings; the examples are run by the tests."
    names = [
        Page(subject.file.removesuffix(".html"), subject.title, body, look, note)
        for subject, body in explained
    ]
    site = Site({"Lessons": pages, "Reference": names})
    files = {page.file: whole(page, site) for page in site.pages}
    abouts = [(page, lessons[page.name].about) for page in pages]
    files[FRONT] = front_page(abouts, contents([subject for subject, _ in explained]))
    return files | {INDEX: site.search_index()}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if nothing was written."""
    parser = argparse.ArgumentParser(
        prog="python -m stridekit.export",
        description="Write notebooks as web pages that need neither a kernel nor a network.",
    )
    parser.add_argument("source", type=Path, help="a notebook, or a folder of notebooks")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        written = export(options.source, options.output)
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    for path in written:
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    return 0
