"""Which calls of an answer count: where one function is asked for, or none, or not the whole work."""

import sys
from types import SimpleNamespace

import pytest
import torch

from stridekit import Layout, shares_memory, traffic
from stridekit.exercises.watch import ANY_MEANS, Means, Watch, name_of, without_a_tensor

X = torch.arange(24).view(4, 6)
TWIN = X.clone()
LAYOUT = Layout((2, 3))
BY_AS_STRIDED = Means("as_strided", "Only as_strided.")
QUESTIONED = Means(hint="Ask nothing.")
WHOLE = Means(hint="Work it out.", whole=("shares_memory", "Layout", "tril", "unique"))


def watched(means, answer, *arguments):
    """Return what a watch notes of an answer: the other calls, and whether the means were used."""
    watch = Watch(means)
    with watch.watching(*arguments):
        watch.is_on = True
        answer(*arguments)
        watch.is_on = False
    return [*watch.other_calls], watch.is_used


# Answers to a task that as_strided alone is to solve, the calls that do not fit, and whether it is used.
STRIDED = [
    (lambda x: x.as_strided((2,), (1,)), [], True),
    (lambda x: torch.as_strided(x, (2,), (1,)), [], True),
    (lambda x: x.clone().as_strided_((2,), (1,)), ["clone"], True),
    (lambda x: x[0], ["indexing"], False),
    (lambda x: [*x], ["unbind"], False),
    (lambda x: (x.t(), x.sum(0), x.diagonal(), x.t()), ["diagonal"], False),
    # A view with the numbers of the argument is the argument, whatever its dims are called.
    (lambda x: (x.t(), x.view(4, 6), x.unsqueeze(0), x.permute(1, 0), x.mT, x[None]), [], False),
    (lambda x: x.view(24), ["view"], False),
    (lambda x: x.t().diagonal(), ["diagonal"], False),
    (lambda x: x.unsqueeze(1).select(2, 3), ["select"], False),
    (lambda x: x.split(4), [], False),  # all of its pieces are the argument
    (lambda x: x.split(3), ["split"], False),
    # Numbers may be asked for, and new tensors may be made of them.
    (lambda x: (x.shape, x.stride(), x.storage_offset(), x.numel(), x.element_size()), [], False),
    (lambda x: torch.ones(x.size(0)).cumsum(0), [], False),
    (lambda x: x.tolist(), ["tolist"], False),
    (lambda x: x.data_ptr(), ["data_ptr"], False),
    (lambda x: x.new_zeros(2), ["new_zeros"], False),
    (lambda x: torch.cat([x, x]), ["cat"], False),
    (lambda x: torch.full_like(input=x, fill_value=1), ["full_like"], False),
    # A tensor of one element is a number.
    (lambda x: x.as_strided((1,), (1,)).item(), [], True),
]


@pytest.mark.parametrize(("answer", "calls", "is_used"), STRIDED)
def test_another_function_on_an_argument_counts(answer, calls, is_used):
    assert watched(BY_AS_STRIDED, answer, X) == (calls, is_used)
    assert watched(BY_AS_STRIDED, lambda _: answer(TWIN), X) == ([], is_used)


def test_arguments_of_one_element_and_without_strides_are_watched_too():
    one = torch.ones(1)
    assert watched(BY_AS_STRIDED, lambda x: x.abs(), one) == ([], False)
    assert watched(BY_AS_STRIDED, lambda x: x.abs(), torch.ones(2)) == (["abs"], False)
    sparse = torch.eye(3).to_sparse()
    assert watched(BY_AS_STRIDED, lambda x: x.abs(), sparse) == (["abs"], False)
    assert watched(BY_AS_STRIDED, lambda x: torch.eye(3).to_sparse().abs(), sparse) == ([], False)
    nested = watched(BY_AS_STRIDED, lambda pair: pair[0].abs(), [X, X])
    assert nested == (["abs"], False)


def test_a_view_elsewhere_in_the_storage_is_not_the_argument():
    base = torch.arange(48)
    first, second = base[:24].view(4, 6), base[24:].view(4, 6)
    assert watched(BY_AS_STRIDED, lambda _: second.abs(), first) == ([], False)
    assert watched(BY_AS_STRIDED, lambda _: base.view(8, 6)[:4].abs(), first) == (["abs"], False)
    assert watched(BY_AS_STRIDED, lambda _: base.view(24, 2)[:4].abs(), first) == ([], False)


# Answers to a task that forbids questions to torch, and the calls that count.
ASKING = [
    (lambda x: x.stride(), ["stride"]),
    (lambda x: x.storage_offset(), ["storage_offset"]),
    (lambda x: x.is_contiguous(), ["is_contiguous"]),
    (lambda x: x.data_ptr(), ["data_ptr"]),
    (lambda x: x.dim_order(), ["dim_order"]),
    (lambda x: torch.empty(2, 3).t().stride(), ["stride"]),
    (lambda x: (x.stride(), x.stride(), x.data_ptr()), ["stride", "data_ptr"]),
    (lambda x: (x.shape, x.numel(), x.t(), x[0], x + 1, x.element_size()), []),
]


@pytest.mark.parametrize(("answer", "calls"), ASKING)
def test_a_question_counts_where_the_task_forbids_it(answer, calls):
    assert watched(QUESTIONED, answer, X) == (calls, True)
    assert watched(Means(whole=("tril",)), answer, X) == ([], True)  # without a hint, none counts
    assert watched(ANY_MEANS, answer, X) == ([], True)


# Answers to a task, and the calls that do all of its work.
WORKING = [
    (lambda x: shares_memory(LAYOUT, LAYOUT), ["stridekit.shares_memory"]),
    (lambda x: Layout((2, 3)), ["stridekit.Layout"]),
    (lambda x: LAYOUT.t(), ["stridekit.Layout"]),
    (lambda x: x.tril(), ["torch.tril"]),
    (lambda x: torch.tril(x).unique(), ["torch.tril", "torch.unique"]),
    (lambda x: x.tril_(), []),
    (lambda x: x.triu(), []),
    (lambda x: x.stride(), ["stride"]),
]


@pytest.mark.parametrize(("answer", "calls"), WORKING)
def test_a_function_that_does_the_whole_task_counts(answer, calls):
    assert watched(WHOLE, answer, X.clone()) == (calls, True)
    whole = [call for call in calls if "." in call]  # without a hint, no question counts
    assert watched(Means(whole=WHOLE.whole), answer, X.clone()) == (whole, True)


def test_other_functions_of_stridekit_and_those_of_exercises_do_not_count():
    means = Means(whole=("traffic", "name_of", "without_a_tensor"))
    assert watched(means, lambda: (shares_memory(X, X), without_a_tensor(), name_of(len))) == (
        [],
        True,
    )
    assert watched(means, lambda: traffic(X))[0] == ["stridekit.traffic"]


FRAMES = [  # of a call in Python: the event, its module, its name, its self, and what is noted
    ("call", "stridekit.tensors.sharing", "shares_memory", None, ["shares_memory"]),
    ("return", "stridekit.tensors.sharing", "shares_memory", None, []),
    ("c_call", "stridekit.tensors.sharing", "shares_memory", None, []),
    ("call", "stridekit.layout", "Layout.of.<locals>.unique", None, ["Layout", "unique"]),
    ("call", "stridekit.layout", "Base.t", Layout((2, 3)), ["Layout"]),
    ("call", "stridekit.layout", "shares", None, []),
    ("call", "stridekit.exercises.views", "shares_memory", None, []),
    ("call", "stridekitchen", "shares_memory", None, []),
    ("call", "stridekit", "shares_memory", None, []),
    ("call", "torch", "unique", Layout((2, 3)), []),
    ("call", "__main__", "unique", None, []),
]


@pytest.mark.parametrize(("event", "module", "name", "owner", "calls"), FRAMES)
@pytest.mark.parametrize("is_on", [True, False])
def test_a_call_in_python_counts_by_its_module_and_its_names(
    event, module, name, owner, calls, is_on
):
    watch = Watch(WHOLE)
    watch.is_on = is_on
    frame = SimpleNamespace(
        f_globals={"__name__": module},
        f_locals={} if owner is None else {"self": owner},
        f_code=SimpleNamespace(co_qualname=name),
    )
    watch._note_python_call(frame, event, None)
    assert {*watch.other_calls} == {f"stridekit.{call}" for call in calls if is_on}


@pytest.mark.parametrize("means", [BY_AS_STRIDED, QUESTIONED, WHOLE])
def test_nothing_counts_before_and_after_the_answer(means):
    """What the check itself does is no part of the answer; a second case begins switched off."""
    watch = Watch(means)
    for _ in range(2):
        with watch.watching(X):
            assert not watch.is_on
            (
                X.stride(),
                X.sum(),
                X.tril(),
                Layout((2,)),
                shares_memory(X, X),
                X.as_strided((1,), (1,)),
            )
            watch.is_on = True
    X.stride(), X.sum(), X.tril(), Layout((2,)), shares_memory(X, X), X.as_strided((1,), (1,))
    assert watch.other_calls == {} and watch.is_used == (not means.function)


def test_the_profile_of_a_debugger_comes_back():
    def profile(*_):
        return None

    sys.setprofile(profile)
    try:
        for means in (ANY_MEANS, WHOLE):
            with pytest.raises(KeyError), Watch(means).watching(X):
                raise KeyError
            assert sys.getprofile() is profile
        with Watch(QUESTIONED).watching(X):
            assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)


def test_a_change_of_an_argument_in_place_is_seen_by_its_layout_before():
    x = torch.arange(24).view(4, 6)
    assert watched(BY_AS_STRIDED, lambda x: x.resize_(2), x) == (["resize_"], False)


NAMES = [
    (torch.Tensor.view, "view"),
    (torch.Tensor.__getitem__, "indexing"),
    (torch.Tensor.__iter__, "iterating"),
    (torch.Tensor.shape.__get__, "shape"),
    (torch.Tensor.T.__get__, "T"),
    (torch.Tensor.__len__, "__len__"),
    (torch.ops.aten.add.Tensor, "add"),
    (torch.as_strided, "as_strided"),
    (object(), ""),
]


@pytest.mark.parametrize(("function", "name"), NAMES)
def test_a_function_is_named_as_people_write_it(function, name):
    assert name_of(function) == name


def test_the_means_of_a_task_on_numbers():
    means = without_a_tensor("Layout")
    assert (means.function, means.whole) == ("", ("Layout",)) and "Now do without it" in means.hint
    assert (ANY_MEANS.function, ANY_MEANS.hint, ANY_MEANS.whole) == ("", "", ())
