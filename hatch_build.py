"""Hatch runs this for each wheel: JupyterLab's extension gets the code of the widgets."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = "share/jupyter/labextensions/stridekit/static"


class WidgetsForJupyterLab(BuildHookInterface[Any]):
    """Adds the files of stridekit/widgets/saved.py to the extension."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files, and name them to Hatch."""
        sys.path.insert(0, self.root)
        from stridekit.widgets.saved import write_code

        self._folder = tempfile.TemporaryDirectory()
        code = Path(self._folder.name, "widgets")
        write_code(code)
        build_data["shared_data"][str(code)] = f"{STATIC}/widgets"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files, which are in the wheel."""
        self._folder.cleanup()
