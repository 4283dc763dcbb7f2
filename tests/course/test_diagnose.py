"""diagnose in notebooks: its magic, and the sections of lessons that it names."""

import re
import sys
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell

from stridekit.widgets.engine import Script


def test_each_family_is_explained_by_a_section_of_a_lesson() -> None:
    notebooks = {p.stem: nbformat.read(p, 4) for p in Path("notebooks").resolve().glob("*.ipynb")}
    for family in Script("diagnose/diagnose.js").FAMILIES:
        heading = re.compile(rf"^#+ {re.escape(family['section'])}$", re.MULTILINE)
        cells = notebooks[family["lesson"]].cells
        assert any(heading.search(cell.source) for cell in cells), family["title"]


def test_the_magic_explains_the_last_exception_and_pasted_text(capsys, monkeypatch):
    """`%diagnose` after an exception, with a text behind it, and with lines below it."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell replaces it
    shell = InteractiveShell()
    for source in (
        "%load_ext stridekit",
        "import torch; torch.zeros(4)[::-1]",
        "%diagnose",
        "%diagnose shape '[5]' is invalid for input of size 4",
        "%%diagnose\nview size is not compatible with\ninput tensor's size and stride",
    ):
        shell.run_cell(source)
    titles = re.findall("Out.*: *\n?(a .*)", capsys.readouterr().out)
    assert titles == [
        "a slice that runs backwards",
        "a shape for another number of elements",
        "a view of dims that do not merge",
    ]
