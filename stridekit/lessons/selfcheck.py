"""self_check: check this machine for what the lessons need, and compare stridekit with its torch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import torch

from stridekit._defaults import torch_defaults
from stridekit.layout import Layout
from stridekit.tensors.storage import read_element, read_storage

OLDEST_PYTHON = (3, 11)
OLDEST_TORCH = (2, 13)  # the lessons show the outputs of this one


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """The result of `self_check`: each finding is the fault ("" for none) and the name of the check.

    >>> SelfCheck(findings=(("", "Python 3.11 or newer"), ("this is 2.12", "torch 2.13"))).passed
    False
    """

    findings: tuple[tuple[str, str], ...]

    @property
    def passed(self) -> bool:
        """True if nothing is wrong."""
        return not any(fault for fault, _ in self.findings)

    def __repr__(self) -> str:
        lines = [f"✗ {name}: {fault}" if fault else f"✓ {name}" for fault, name in self.findings]
        end = "Everything works." if self.passed else "Fix what has a ✗, then restart the kernel."
        return "\n".join([*lines, end])


@torch_defaults()
def self_check() -> SelfCheck:
    """Check Python, torch, the address formula and the widgets; say what to do if a check fails.

    A check that raises has failed, and its line says so: `self_check` itself never raises.

    >>> self_check()
    ✓ Python 3.11 or newer
    ✓ torch 2.13 or newer
    ✓ the address formula finds every element where torch does
    ✓ raw memory is read from the start of the storage
    ✓ widgets can be made
    Everything works.
    """
    torch_name = "torch 2.13 or newer"
    if _torch_version() > OLDEST_TORCH:
        torch_name += f": this is {torch.__version__}, and the lessons show the outputs of 2.13"
    checks: dict[str, Callable[[], str]] = {
        "Python 3.11 or newer": _check_python,
        torch_name: _check_torch,
        "the address formula finds every element where torch does": _check_formula,
        "raw memory is read from the start of the storage": _check_storage,
        "widgets can be made": _check_widgets,
    }
    findings = []
    for name, check in checks.items():
        try:
            fault = check()
        except Exception as error:  # any fault of this machine is reported to the reader
            fault = f"{type(error).__name__}: {error}"
        findings.append((fault, name))
    return SelfCheck(tuple(findings))


def _torch_version() -> tuple[int, ...]:
    return tuple(map(int, torch.__version__.split(".")[:2]))


def _check_python() -> str:
    if sys.version_info >= OLDEST_PYTHON:
        return ""
    version = ".".join(map(str, sys.version_info[:2]))
    return f"this is {version}: `make lab` looks for a newer one"


def _check_torch() -> str:
    if _torch_version() >= OLDEST_TORCH:
        return ""
    return f"this is {torch.__version__}, and lessons need features of 2.13: `make lab` installs it"


def _check_formula() -> str:
    for t in _tensors():
        for index in product(*map(range, t.shape)):
            if read_element(t, index) != t[index].item():
                return f"{Layout.of(t)} reads another element than torch at {index}"
    return ""


def _check_storage() -> str:
    for t in _tensors():
        if read_storage(t).tolist() != list(range(24)):
            return f"{Layout.of(t)} gives other bytes than its base"
    return ""


def _tensors() -> list[torch.Tensor]:
    """Return views of one storage that holds 0 to 23."""
    x = torch.arange(24.0).view(4, 6)
    return [x, x.t(), x[1:, ::2], x.diagonal(), x[:1].expand(4, 6), x[3, 5]]


def _check_widgets() -> str:
    from stridekit.widgets import StrideExplorer

    StrideExplorer().close()
    return ""
