"""A notebook's torch settings stay in place, and change no verdict, self-check, widget or answer."""

import random
import re
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from stridekit import audit, timing, widgets
from stridekit._defaults import torch_defaults
from stridekit.cost.bandwidth import bandwidth
from stridekit.exercises import strides as ex
from stridekit.lessons.selfcheck import self_check
from stridekit.widgets.format_tracer.network import network
from tests.core import test_robustness as core
from tests.core.robust_inputs import INPUTS
from tests.course import test_robustness as course
from tests.course.test_exercises import EXERCISES
from tests.course.widget_kinds import KINDS, NAMES, WRONG


@contextmanager
def setting(change, new, old):
    """A setting for all that follows, as in a cell of its own."""
    change(new)
    try:
        yield
    finally:
        change(old)


class Other(TorchFunctionMode):
    """A mode of the notebook's own, which turns every new tensor into another one."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result + 1 if func in (torch.arange, torch.ones, torch.zeros) else result


MODES = {
    "default device": lambda: setting(torch.set_default_device, "meta", None),
    "device context": lambda: torch.device("meta"),
    "float64": lambda: setting(torch.set_default_dtype, torch.float64, torch.float32),
    "float16": lambda: setting(torch.set_default_dtype, torch.float16, torch.float32),
    "inference": torch.inference_mode,
    "no_grad": torch.no_grad,
    "grad disabled": lambda: setting(torch.set_grad_enabled, False, True),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "deterministic": lambda: setting(torch.use_deterministic_algorithms, True, False),
    "function mode": Other,
    "threads": lambda: timing.sampling.threads(3 - min(torch.get_num_threads(), 2)),
}
# To ask for all answers takes a second.
SOME_AT_ONCE = [
    ("device context", "float16", "no_grad", "threads"),
    ("grad disabled", "float64", "deterministic"),
    ("function mode", "default device", "inference", "autocast"),
]

FEW = EXERCISES[::6]  # one function checks them all
ANSWERS = [(task, task.reference) for task in FEW]
ANSWERS += [(task, task.mistakes[0].answer) for task in FEW]
AUDITED = audit(torch.t, torch.ones(4, 6))
X = {name: INPUTS[name]() for name in ("grid", "requires_grad", "conj", "bfloat16", "empty")}


def all_answers():
    """Return the reprs of checks, of widgets set from Python, and of questions about old tensors."""
    answers = {"self_check": repr(self_check())}
    for task, answer in ANSWERS:
        answers[task.name, answer.__name__] = repr(task.check(answer))
    for name, kind in KINDS.items():
        # Auditing would run the model in the modes that are on.
        widget = eval(kind.make, NAMES | {"audit": lambda *_: AUDITED})
        for public in sorted({public for kind_name, public, *_ in WRONG if kind_name == name}):
            setattr(widget, public, getattr(widget, public))
        answers[name] = f"{widget!r} {widget._state}"
        widget.close()
    explorer = widgets.AliasExplorer((2, 3), ["y = x.t()", "z = y + 1"])
    explorer.steps += ("z *= 2", "y[0] = 7", "x += 1")
    answers["values"] = explorer.values
    explorer.close()
    for kind, x in X.items():
        for name, question in (core.QUESTIONS | course.QUESTIONS).items():
            answers[name, kind] = outcome(question.ask, x)
    return answers


def outcome(ask, x):
    try:
        return re.sub(r"0x\w+", "", repr(ask(x)))
    except Exception as error:
        return repr(error)


@contextmanager
def together(names):
    """Enter several modes at once; before, the exercises and the network forget their results."""
    network.cache_clear()
    for task in FEW:
        task._outcomes.clear()
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(MODES[name]())
        yield


def state():
    """All that a reader may have set, and the generators of random numbers."""
    return {
        "device": torch.get_default_device(),
        "function modes": _get_current_function_mode_stack(),
        "dtype": torch.get_default_dtype(),
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "threads": torch.get_num_threads(),
        "random": random.getstate(),
        "numpy": repr(np.random.get_state()),
        "torch": torch.get_rng_state().tolist(),
    }


@pytest.fixture(scope="module")
def plainly():
    with together([]):
        return all_answers()


@pytest.mark.parametrize("modes", SOME_AT_ONCE, ids=", ".join)
def test_modes_change_no_answer_and_stay_in_place(plainly, modes):
    with together(modes):
        before = state()
        assert all_answers() == plainly
        assert state() == before
    assert all_answers() == plainly


def test_a_widget_lives_on_where_its_mode_is_gone():
    with torch.inference_mode(), torch.device("meta"):
        explorer = widgets.AliasExplorer((2, 3), ["y = x.t()"])
    explorer.steps += ("y += 1",)
    with torch.inference_mode():
        explorer.steps += ("x *= 2",)
    assert explorer.values == {"x": [[2, 4, 6], [8, 10, 12]], "y": [[2, 8], [4, 10], [6, 12]]}


@pytest.mark.parametrize("modes", SOME_AT_ONCE, ids=", ".join)
def test_what_an_answer_sets_ends_with_its_call(modes):
    seen = []

    def sets_all(t, index):
        seen.append({name: state()[name] for name in plain})
        torch.set_default_device("meta")
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.device("meta").__enter__()
        torch.inference_mode().__enter__()
        return ex.address.reference(t, index)

    plain = {"device": torch.device("cpu"), "function modes": [], "dtype": torch.float32}
    plain |= {"grad": True, "inference": False, "autocast": False}
    ex.address._outcomes.clear()
    with together(modes):
        before = state()
        assert ex.address.check(sets_all).passed
        assert state() == before
    assert seen and all(settings == plain for settings in seen)
    assert torch.zeros(1).device.type == "cpu"


def test_defaults_are_there_again_after_an_error_and_however_often_they_are_set():
    torch.set_default_device("meta")
    try:
        with suppress(ZeroDivisionError), torch_defaults():
            torch.set_default_device("cpu")
            with torch_defaults():
                torch.set_default_device(None)
            torch.set_default_dtype(torch.float64)
            raise ZeroDivisionError
        assert torch.zeros(1).device.type == torch.get_default_device().type == "meta"
        assert torch.get_default_dtype() == torch.float32
    finally:
        torch.set_default_device(None)
    assert torch.zeros(1).device.type == "cpu" and not _get_current_function_mode_stack()


def test_times_are_measured_in_the_modes_that_are_there():
    """They belong to the measured work, but the bandwidth is that of float32 on the CPU."""
    seen = set()

    def work():
        seen.add((torch.zeros(1).device.type, torch.get_default_dtype()))

    with together(["float64", "default device"]):
        assert timing.measure(work, min_run_time=0.001).median > 0
        compared = timing.compare({"a": work, "b": work}, rounds=3)
        result = bandwidth(3 * 2**20, repetitions=2)
    assert compared.ratios["b"].value > 0 and seen == {("meta", torch.float64)}
    assert (result.nbytes, result.comparison.device) == (3 * 2**20, "cpu")
