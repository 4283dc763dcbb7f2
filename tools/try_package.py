"""Try an installed stridekit outside of the project: `make dist` runs this script."""

import importlib.metadata
from pathlib import Path

import torch

import stridekit
from stridekit.exercises import strides
from stridekit.widgets.offline import offline_page

assert "site-packages" in Path(stridekit.__file__).parts, stridekit.__file__
assert stridekit.Layout.of(torch.ones(2, 3).t()).why_not_view(6)
assert "of dims that do not merge" in repr(
    stridekit.diagnose("view size is not compatible with input tensor's size and stride")
)
assert stridekit.audit(lambda x: x.t().reshape(-1), torch.rand(3, 4)).findings
assert "bringToLife" in offline_page([stridekit.StrideExplorer()])
assert strides.row.hints
files = {str(file) for file in importlib.metadata.files("stridekit") or ()}
assert any("share/jupyter/labextensions" in file for file in files), (
    "JupyterLab's extension is missing"
)
print(f"stridekit {importlib.metadata.version('stridekit')} works in an empty environment")
