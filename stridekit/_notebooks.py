"""The lessons that come with stridekit: their notebooks as files."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def lessons() -> dict[str, bytes]:
    """Return the lessons by name: those in the wheel, or those of this checkout."""
    folder: Traversable = files("stridekit").joinpath("notebooks")
    if not folder.is_dir():
        folder = Path(__file__).parents[1] / "notebooks"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".ipynb"))
    return {name: folder.joinpath(name).read_bytes() for name in names}
