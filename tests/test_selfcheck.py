"""self_check: green here, and a clear line for each thing that may be broken elsewhere."""

import sys

import torch

from stridekit import Layout, selfcheck, widgets
from stridekit.selfcheck import self_check


def test_this_machine_passes():
    """The tests run where the suite runs."""
    assert self_check().passed


def test_an_old_python(monkeypatch):
    """The line names the version found."""
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    assert "✗ Python 3.11 or newer: this is 3.10: `make lab`" in repr(self_check())


def test_a_newer_python(monkeypatch):
    """There is no last one."""
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    assert self_check().passed


def test_what_is_wrong_is_the_last_word(monkeypatch):
    """And all is well only where everything is."""
    assert repr(self_check()).endswith("Everything works.")
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    assert repr(self_check()).endswith("\nMend what has a ✗, then restart the kernel.")


def test_every_way_to_lie_in_memory_is_tried():
    """By rows and columns, with an offset, with gaps, repeated, without dims."""
    layouts = [Layout.of(t) for t in selfcheck._tensors()]
    assert {layout.ndim for layout in layouts} == {0, 1, 2}
    assert {layout.stride for layout in layouts} >= {(6, 1), (1, 6), (6, 2), (7,), (0, 1)}
    assert {layout.storage_offset > 0 for layout in layouts} == {True, False}


def test_the_widget_that_was_made_is_closed(monkeypatch):
    closed = []
    monkeypatch.setattr(widgets.StrideExplorer, "close", lambda self: closed.append(self))
    assert self_check().passed and len(closed) == 1


def test_another_torch(monkeypatch):
    """2.130 is not 2.13."""
    monkeypatch.setattr(torch, "__version__", "2.130.0+cpu")
    assert not self_check().passed
    assert "this is 2.130.0+cpu, so some outputs may differ" in repr(self_check())


def test_a_reader_that_reads_elsewhere(monkeypatch):
    """An address that is off by one element is noticed, and so is a storage read from data_ptr."""
    monkeypatch.setattr(selfcheck, "read_element", lambda t, index: -1.0)
    monkeypatch.setattr(selfcheck, "read_storage", lambda t: t.flatten())
    text = repr(self_check())
    assert "reads another element than torch at (0, 0)" in text
    assert "gives other bytes than its base" in text


def test_widgets_that_do_not_load(monkeypatch):
    """A missing library is a line, not a traceback."""
    monkeypatch.setitem(sys.modules, "stridekit.widgets", None)
    assert "✗ widgets can be made: ModuleNotFoundError" in repr(self_check())
