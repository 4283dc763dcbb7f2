"""The kernel in which notebooks are refreshed and tested: the same one, whoever's machine it is."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

# What would else differ between machines or runs, and show in the outputs.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    # Sums of floats depend on the number of threads.
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # The stored outputs are those of a machine without a GPU.
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYTHONSTARTUP": "",
    "PYTHONWARNINGS": "",
    # Whether a progress bar shows depends on the speed of the machine.
    "TQDM_DISABLE": "1",
}


def use(folder: Path) -> None:
    """Let this process and its children find the kernel as "python3"; `folder` is its scratch.

    The variables go into the kernel's specification, not into this process: the rest of the tests
    keep the GPU and all threads. Profiles and settings of the user are replaced by empty ones.
    """
    settings = {"IPYTHONDIR": str(folder / "ipython"), "MATPLOTLIBRC": str(folder / "matplotlibrc")}
    specification = {
        "argv": [
            *(sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"),
            "--log-level=ERROR",
        ],
        "display_name": "Python 3",
        "language": "python",
        "env": ENVIRONMENT | settings,
    }
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    (folder / "matplotlibrc").touch()
    os.environ["JUPYTER_PATH"] = str(folder)


def warm_up() -> None:
    """Let matplotlib list the fonts, which it does once: in a cell, its message would be output."""
    import matplotlib.font_manager  # noqa: F401
