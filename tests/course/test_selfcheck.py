"""self_check: it passes here, and has a clear line for each thing that may be broken elsewhere."""

import sys

import torch

from stridekit import widgets
from stridekit.lessons import selfcheck
from stridekit.lessons.selfcheck import self_check


def test_this_machine_passes_and_leaves_no_widget(monkeypatch):
    closed = []
    monkeypatch.setattr(widgets.StrideExplorer, "close", lambda self: closed.append(self))
    assert self_check().passed
    assert len(closed) == 1
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    assert self_check().passed
    assert repr(self_check()).endswith("\nEverything works.")


def test_an_old_python_and_another_torch(monkeypatch):
    """The line names the version that is here: an older one fails, and a newer one is told what differs."""
    monkeypatch.setattr(torch, "__version__", "2.9.1+cpu")
    assert not self_check().passed
    assert "✗ torch 2.13 or newer: this is 2.9.1+cpu, and lessons" in repr(self_check())
    for newer in ("2.14.1", "2.130.0+cpu", "3.0.0a0"):
        monkeypatch.setattr(torch, "__version__", newer)
        assert self_check().passed
        line = f"✓ torch 2.13 or newer: this is {newer}, and the lessons show the outputs of 2.13"
        assert line in repr(self_check())
    monkeypatch.undo()
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    text = repr(self_check())
    assert "✗ Python 3.11 or newer: this is 3.10: `make lab`" in text
    assert text.endswith("\nFix what has a ✗, then restart the kernel.")


def test_what_reads_elsewhere_or_does_not_load(monkeypatch):
    monkeypatch.setattr(selfcheck, "read_element", lambda t, index: -1.0)
    monkeypatch.setattr(selfcheck, "read_storage", lambda t: t.flatten())
    monkeypatch.setitem(sys.modules, "stridekit.widgets", None)
    text = repr(self_check())
    assert "reads another element than torch at (0, 0)" in text
    assert "gives other bytes than its base" in text
    assert "✗ widgets can be made: ModuleNotFoundError" in text
