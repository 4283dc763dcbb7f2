"""The names of widgets and lessons meet every kind of value, as those of the core do in tests/core.

The module tests/core/robustness.py explains the form of the tables.
"""

from contextlib import suppress

import pytest

import stridekit as sk
from stridekit import Layout, LayoutError
from stridekit.lessons import attention, gpu
from stridekit.lessons.claims import claim, show_runs
from stridekit.lessons.selfcheck import self_check
from tests.core import robustness as core
from tests.core.brute_force import numbers
from tests.core.robustness import CORE, PARAMETERS, TORCH_STRIDES, Question

WIDGETS = {name: getattr(sk, name) for name in sk.__all__ if name not in CORE}
LESSONS = {name: getattr(attention, name) for name in attention.__all__}
# The names that the calls in the tables use, beside examples.
NAMES = core.NAMES | WIDGETS | LESSONS
NAMES |= {"gpu": gpu, "claim": claim, "show_runs": show_runs, "self_check": self_check}


def all_names():
    return core.example_names() | NAMES


# Arguments that stand for a tensor -----------------------------------------------------------------


def matching(x):
    """Return an operand that x can be multiplied with, or x itself if x has no layout."""
    with suppress(LayoutError, TypeError):
        return Layout.of(x).mT
    return x


ONE_TENSOR = "arrays, uneven arrays, layouts: TypeError"
PAGE_STRIDES = "meta 2**62, array 2**62, layout 2**62, negative, layout negative: LayoutError"
HUGE = "meta 10**18, expanded 10**18, array 10**18, layout 10**12: LayoutError"
MATRICES = (
    f"{TORCH_STRIDES}; big-endian, object array: LayoutError; "
    "0-d, array 0-d, layout 0-d, conj, neg, imag of conj: LayoutError"
)
BATCHES = (
    f"{MATRICES}; empty, fake empty, array empty, layout empty, vmap, windows: LayoutError; "
    "bool, float8, float4, masked, field: LayoutError; "
    "meta 2**62, array 2**62, layout 2**62, layout 10**12: LayoutError"
)

QUESTIONS = {
    "explore": Question(
        lambda x: sk.explore(x).layout.stride[:4],
        "vmap, grad: ValueError; "
        "meta 2**62, array 2**62, layout 2**62, shrunk tensors: LayoutError",
        truth=lambda x: numbers(x)[1][:4],
        names_kind=False,
    ),
    "StrideExplorer": Question(
        lambda x: numbers(sk.StrideExplorer(x).layout),
        f"{PAGE_STRIDES}; {HUGE}; None, negative, layout negative, layout 10**12: answer",
        default=Layout((4, 6), (8, 1), 2, 4),
        names_kind=False,
    ),
    "ReshapeStepper": Question(
        lambda x: numbers(sk.ReshapeStepper(x).layout)[:2],
        f"{PAGE_STRIDES}; {HUGE}; structured, layout 3 bytes: LayoutError; None: answer",
        default=Layout((4, 6)),
        names_kind=False,
    ),
    "TraversalExplorer": Question(
        lambda x: numbers(sk.TraversalExplorer(x).layout)[1],
        f"{PAGE_STRIDES}; structured, layout 3 bytes: LayoutError; None: answer",
        default=Layout((6, 8)),
        names_kind=False,
    ),
    "Sort": Question(
        lambda x: sk.Sort(x, "x.view_as(x); x.clone()", also="x[None]").answers,
        f"{ONE_TENSOR}; meta tensors, wrapped tensors, in FakeTensorMode: ValueError; "
        "shrunk tensors, empty, expanded 10**18: ValueError",
        truth=lambda x: {"x.view_as(x)": "view", "x.clone()": "copy"},
        names_kind=False,
    ),
    "matmul_copies": Question(lambda x: attention.matmul_copies(x, matching(x)), MATRICES),
    "sdpa_output": Question(
        lambda x: numbers(attention.sdpa_output(x, x, x)), BATCHES, names_kind=False
    ),
    "why_no_flash": Question(lambda x: attention.why_no_flash(x, x, x), BATCHES, names_kind=False),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_kind_of_input_is_answered_or_refused(name):
    assert QUESTIONS[name].outcomes() == QUESTIONS[name].expected()


# Other arguments -----------------------------------------------------------------------------------

OF_LESSONS = PARAMETERS | {"words": "ValueError; 'x': answer"}
ARGUMENTS = """
# Widgets
explore(T, {text "T"})  =>  'x[2, 3] is element 15' in str(got)
StrideExplorer(goals={object []})  but []: answer  =>  got.goals == {}
StrideExplorer(goals=[Goal("a", reached={object 3})])  but -7, 10**30: answer
    =>  got.goals == {"a": False}
Goal({text "a"}, shape=(1,))  =>  got.text == J
AliasExplorer({size (2, 3)})
ChannelsLastExplorer({size (1, 2, 3, 4)})
FormatTracer({option "channels_last"})
AttentionExplorer({size 3})
CacheExplorer(heads={size 3})
CopyTracer({object audited})
Diagnose({text ""})  =>  'does not know' in got.found.title

# Questions to a learner
Predict({words "?"}, 1)  =>  str(J) in repr(got)
Predict("?", {choice 1})  but True, 1.0, [], -7: answer  =>  got.correct is None
Predict("?", 1, choices={choice None})  but None, array: answer  =>  got.correct is None
Predict("?", 1, why={words "w"})  =>  got.correct is None
Predict("?", 1, experiment={words "x"})  =>  got.correct is None
Predict("?", 1, experiment="x", output={words "1"})  but None: answer  =>  got.correct is None
Predict("?", 1, remarks={choice None})  but None, {}: answer  =>  got.correct is None
review({count 10})  but -7, 10**30: ValueError
Drill({option "view"})  =>  got.kind == J
Drill(seed={count 1})  but None: answer; -7, 10**30: LayoutError  =>  got.streak == 0
Sort(T, {label "x"}, also="x.t()")  =>  got.answers == {J: "view"}
Sort(T, "x", also={option "x.t()"})  but 'x', [], ['x']: ValueError

# Attention
packed_heads({count 2}, 5, 3, 4)  =>  got[0].shape[0] == J
packed_heads(2, {count 5}, 3, 4)  =>  got[0].shape[2] == J
packed_heads(2, 5, {count 3}, 4)  =>  got[0].shape[1] == J
packed_heads(2, 5, 3, {count 4})  =>  got[0].shape[3] == J
packed_heads(2, 5, 3, 4, {option "3HD"})
packed_heads(2, 5, 3, 4, itemsize={count 4})  but None: answer  =>  got[0].itemsize == (J or 1)
packed_heads(2, 5, 3, 4, kv_heads={size None})  but None: answer  =>  got[1].shape == (2, 3, 5, 4)
matmul_copies(x, {operand x})
matmul_copies(x, x.mT, requires_grad={option False})
sdpa_output(x, {operand x}, x)
sdpa_output(x, x, {operand x})
sdpa_output(x, x, x, {operand None})  but None: answer  =>  got.shape == (4, 6)
sdpa_output(x, x, x, dropout_p={option 0.0})  but 1.0: answer  =>  got.shape == (4, 6)
sdpa_output(x, x, x, is_causal={flag True})  =>  got.shape == (4, 6)
sdpa_output(x, x, x, enable_gqa={option False})
why_no_flash(x, x, {operand x})
why_no_flash(x, x, x, {operand None})  but None: answer  =>  "flash takes 4" in got
why_no_flash(x, x, x, dropout_p={option 0.0})  but 1.0: answer  =>  "flash has no dropout" in got
why_no_flash(x, x, x, is_causal={flag True})  =>  "flash takes 4" in got
why_no_flash(x, x, x, enable_gqa={option False})
"""
ROWS = core.read_arguments(ARGUMENTS, OF_LESSONS)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("argument", ROWS, ids=lambda argument: argument.call)
def test_junk_is_answered_or_refused(argument):
    assert argument.outcomes(all_names()) == argument.expected


# Every name ----------------------------------------------------------------------------------------

# Expressions whose values show a result.
RESULTS = """
self_check(); claim(ab, 1, rounds=2); gpu.gpu_results('matmul'); matmul_copies(x, x.mT)
"""


@pytest.fixture(scope="module")
def results():
    return core.read_results(RESULTS, all_names())


def test_every_public_name_has_a_row():
    """Give a new widget a question, and a row for each parameter."""
    assert {*WIDGETS} - core.words_of(*QUESTIONS, ARGUMENTS) == set()


def test_results_are_the_same_after_a_copy_and_a_pickle(results):
    for value in results.values():
        for duplicate in core.duplicates(value):
            assert type(duplicate) is type(value) and repr(duplicate) == repr(value)
            assert str(duplicate) == str(value)
            assert duplicate == value
