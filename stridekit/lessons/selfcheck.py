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

PYTHON, TORCH = (3, 11), (2, 13)  # the oldest; the lessons show what this torch answers


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
        return not any(wrong for wrong, _ in self.findings)

    def __repr__(self) -> str:
        lines = [f"✗ {about}: {wrong}" if wrong else f"✓ {about}" for wrong, about in self.findings]
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
    version, python = torch.__version__, ".".join(map(str, sys.version_info[:2]))
    numbers = tuple(map(int, version.split(".")[:2]))
    told = (
        f": this is {version}, and the lessons show the outputs of 2.13" if numbers > TORCH else ""
    )
    old_python = f"this is {python}: `make lab` looks for a newer one"
    old_torch = f"this is {version}, and lessons need features of 2.13: `make lab` installs it"
    checks: dict[str, Callable[[], str]] = {
        "Python 3.11 or newer": lambda: "" if sys.version_info >= PYTHON else old_python,
        f"torch 2.13 or newer{told}": lambda: "" if numbers >= TORCH else old_torch,
        "the address formula finds every element where torch does": _formula,
        "raw memory is read from the start of the storage": _storage,
        "widgets can be made": _widgets,
    }
    findings = []
    for about, check in checks.items():
        try:
            findings.append((check(), about))
        except Exception as error:  # any fault of this machine is reported to the reader
            findings.append((f"{type(error).__name__}: {error}", about))
    return SelfCheck(tuple(findings))


def _formula() -> str:
    for t in _tensors():
        for index in product(*map(range, t.shape)):
            if read_element(t, index) != t[index].item():
                return f"{Layout.of(t)} reads another element than torch at {index}"
    return ""


def _storage() -> str:
    wrong = [t for t in _tensors() if read_storage(t).tolist() != list(range(24))]
    return f"{Layout.of(wrong[0])} gives other bytes than its base" if wrong else ""


def _tensors() -> list[torch.Tensor]:
    x = torch.arange(24.0).view(4, 6)
    return [x, x.t(), x[1:, ::2], x.diagonal(), x[:1].expand(4, 6), x[3, 5]]


def _widgets() -> str:
    from stridekit.widgets import StrideExplorer

    StrideExplorer().close()
    return ""
