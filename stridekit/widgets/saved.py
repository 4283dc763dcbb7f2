"""The code with which JupyterLab draws a saved widget, for labextension/static/extension.js.

The extension draws such a widget from the values in the notebook. It runs no code of the notebook, so it
neither has to trust the notebook nor to wait for a kernel. hatch_build.py puts the files into the wheel.
`make lab` writes them anew, because an editable install has those of its last set-up:

    python -m stridekit.widgets.saved FOLDER
"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path

from stridekit.widgets.assets import module, pack, pack_name, styles


def write_code(folder: Path) -> None:
    """Write the pack of each widget type, and the scripts that open it, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    host = f"{module('page/host.js')}\nexport {{ createModel }};\n"
    (folder / "host.js").write_text(host, encoding="utf-8")
    (folder / "code.js").write_text(module("page/code.js"), encoding="utf-8")
    for kind in _kinds():
        packed = pack(module(f"{kind}/widget.js"), *styles(kind))
        text = json.dumps({"key": pack_name(packed), "zip": packed})
        (folder / f"{kind}.json").write_text(text, encoding="utf-8")


def _kinds() -> list[str]:
    """Return the folder of each widget type."""
    folders = files("stridekit.widgets").iterdir()
    return sorted(folder.name for folder in folders if folder.joinpath("widget.js").is_file())


if __name__ == "__main__":
    write_code(Path(sys.argv[1]))
