"""No answer, however hostile, ends a check with an error, passes for right, or leaves something behind."""

import itertools
import math
import re
import sys
import time
from enum import IntEnum

import numpy as np
import pytest
import torch

from stridekit.exercises import channels_last, contiguity, core, performance, untrusted, views
from stridekit.exercises import strides as ex
from stridekit.exercises.answers import as_int, read_number, view_of
from stridekit.exercises.running import Unusable
from stridekit.exercises.untrusted import plain, presentable
from tests.test_exercises import EXERCISES, Tags, declared

each_exercise = pytest.mark.parametrize("task", EXERCISES, ids=lambda task: task.name)
STOPS = "Your function stops on this input."
NO_READING = "Your function comes to its end, but reading its answer raises"
ANOTHER_KIND = "That is another kind of answer"


def refuse(*args, **kwargs):
    raise ZeroDivisionError("told by the answer")


def liar(name, base=object, *methods, **others):
    """A class whose `methods` raise."""
    return type(name, (base,), dict.fromkeys(methods, refuse) | others)


# Errors -----------------------------------------------------------------------------------------------

NAMELESS = type("Nameless", (type,), {"__name__": property(refuse)})
ERRORS = {
    "mute": (liar("Mute", Exception, "__str__", "__repr__"), "raised Mute\n"),
    "no text": (liar("NoText", Exception, __str__=lambda self: 7), "raised NoText\n"),
    "ends Python": (liar("Ends", Exception, __str__=lambda self: sys.exit(3)), "raised Ends\n"),
    "own text": (
        liar("Own", Exception, __str__=lambda self: liar("Text", str, "split", "__format__")("so")),
        "raised Own: so\n",
    ),
    "no class": (liar("NoClass", Exception, __class__=property(refuse)), "raised NoClass\n"),
    "no trace": (liar("NoTrace", Exception, __traceback__=property(refuse)), "raised NoTrace\n"),
    "no name": (NAMELESS("NoName", (Exception,), {}), "raised NoName\n"),
    "lines": (type("Two\nlines\x1b", (Exception,), {}), "raised Two"),
    "GeneratorExit": (GeneratorExit, "raised GeneratorExit\n"),
    "SystemExit": (SystemExit, "raised SystemExit\n"),
    "StopIteration": (StopIteration, "raised StopIteration\n"),
    "BaseException": (liar("Base", BaseException), "raised Base\n"),
    "a group": (
        lambda: BaseExceptionGroup("all", [GeneratorExit()]),
        "raised BaseExceptionGroup: all",
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_told_however_it_behaves(error):
    make, said = ERRORS[error]

    def answer(t, index):
        raise make()

    report = ex.address.check(answer)
    assert report.status == "failed" and report.hint.startswith(STOPS)
    assert said in report.text + "\n" and "on the line: raise make()" in report.text
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", report.text)


def test_an_error_that_claims_to_be_a_blank_is_reported():
    """Its class claims to be NotImplementedError."""
    error = liar("Claims", Exception, __class__=property(lambda self: NotImplementedError))

    def answer(t, index):
        raise error

    assert "raised Claims" in ex.address.check(answer).text


def deep(*args):
    return deep(*args)


@pytest.mark.parametrize("at", ["call", "message", "answer", "signature"])
def test_an_interruption_ends_the_check(at):
    """At any point: each of them may hold an endless loop."""
    interrupt = liar("Interrupt", KeyboardInterrupt)

    def stop(*args):
        raise interrupt

    class Answers:
        def __call__(self, t, index):
            if at == "answer":
                return liar("Index", __index__=stop)()
            raise liar("Message", Exception, __str__=stop) if at == "message" else interrupt

    if at == "signature":
        Answers.__signature__ = property(stop)
    with pytest.raises(interrupt):
        ex.address.check(Answers())


# Functions --------------------------------------------------------------------------------------------


def right(t, index):
    return ex.address.reference(t, index)


class Callable:
    def __call__(self, t, index):
        return right(t, index)


@pytest.mark.parametrize(
    "others",
    [
        {"__signature__": property(refuse)},
        {"__signature__": "(t, index)"},
        {"__signature__": property(lambda self: sys.exit(2))},
        {"__class__": property(refuse)},
        {"__wrapped__": property(refuse)},
        {"__name__": property(refuse)},
        {"__globals__": property(refuse)},
        {"__code__": property(refuse)},
        {"__getattr__": refuse},
        {"__eq__": refuse, "__hash__": None},
        {"__bool__": refuse, "__len__": refuse},
        {"__repr__": refuse, "__str__": refuse},
    ],
    ids=lambda others: ",".join(others),
)
def test_a_function_that_hides_what_it_is_is_judged_by_its_answers(others):
    assert ex.address.check(type("Right", (Callable,), others)()).passed
    wrong = type("Wrong", (Callable,), others | {"__call__": lambda self, t, index: -1})()
    assert ex.address.check(wrong).status == "failed"
    assert ex.raw_bytes.check(wrong).status == "failed"  # whose fence looks at it, too


def test_anything_but_a_function_is_named():
    for kind in (
        liar("Thing", object, "__repr__", __class__=property(refuse)),
        NAMELESS("Thing", (), {}),
    ):
        assert "of type Thing, not a function" in ex.address.check(kind()).text


def test_a_type_without_a_name_is_named_so():
    assert ex.address.check(type("", (), {})()).status == "failed"
    assert ex.address.check(lambda t, index: type("", (), {})()).hint.startswith(ANOTHER_KIND)


# Answers ----------------------------------------------------------------------------------------------

HOOKS = (
    "__index__", "__int__", "__float__", "__bool__", "__len__", "__iter__", "__getitem__", "__hash__",
    "__eq__", "__ne__", "__lt__", "__str__", "__repr__", "__format__", "__buffer__", "is_integer", "item",
    "__getattr__", "__array__", "__contains__",
)  # fmt: skip


class Torch(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise ZeroDivisionError("told by the answer")


def nested():
    found = []
    for _ in range(5_000):
        found = [found]
    return found


DEEP = nested()
ANSWERS = {
    "object": lambda: liar("Object", object, *HOOKS)(),
    "class": lambda: liar("Object", object, __class__=property(refuse))(),
    "int": lambda: liar("Int", int, *HOOKS)(5),
    "float": lambda: liar("Float", float, *HOOKS)(5.5),
    "text": lambda: liar("Text", str, *HOOKS)("five"),
    "tuple": lambda: liar("Tuple", tuple, *HOOKS)([-1, -2, -3]),
    "list": lambda: liar("List", list, *HOOKS)([-1, -2, -3]),
    "set": lambda: liar("Set", set, *HOOKS)([-1, -2, -3]),
    "dict": lambda: liar("Dict", dict, *HOOKS)(),
    "ints": lambda: tuple(liar("Int", int, *HOOKS)(k - 7) for k in range(3)),
    "tensor": lambda: torch.ones(2).as_subclass(Torch),
    "array": lambda: np.full(3, -7).view(liar("Array", np.ndarray, *HOOKS[:6], "tolist")),
    "objects": lambda: np.array([liar("Int", int, *HOOKS)(5)], object),
    "one": lambda: liar("One", object, ndim=0, item=lambda self: liar("Int", int, *HOOKS)(5))(),
    "generator": lambda: (refuse() for _ in range(2)),
    "left generator": lambda: (sys.exit(2) for _ in range(2)),
    "deep": lambda: DEEP,
    "huge": lambda: 10**5000,
    "huge ints": lambda: (10**5000, -(10**5000), 10**5000),
    "large float": lambda: 1e300,
    "nan": lambda: math.nan,
    "nans": lambda: (math.nan, math.nan, math.nan),
    "inf": lambda: -math.inf,
    "meta tensor": lambda: torch.empty(2, device="meta"),
    "sparse tensor": lambda: torch.eye(3).to_sparse(),
    "surrogate": lambda: "\ud800",
    "type": lambda: int,
    "notebook": lambda: NotImplemented,
}


@each_exercise
def test_no_answer_ends_a_check_or_passes(task):
    """And each report can be shown, in every way."""
    for name, make in ANSWERS.items():
        report = task.check(lambda *args, make=make: make())
        assert report.status == "failed", name
        assert report.hint and "yours" in report.text, name
        assert len(report.text) < 12_000 or name == "deep", name
        report.text.encode()
        Tags(report._repr_html_())


def equal(*args):
    return True


EVERYTHING = dict.fromkeys(("__eq__", "__le__", "__ge__", "__contains__"), equal) | {
    "__ne__": lambda self, other: False,
    "__hash__": lambda self: 0,
    "__bool__": equal,
}


def always(value, **others):
    """A value of a class that is equal to everything."""
    kind = type(value)
    if kind is bool:
        return type("Bool", (), EVERYTHING | {"__class__": bool} | others)()
    if isinstance(value, torch.Tensor):
        return value.clone().as_subclass(type("Tensor", (torch.Tensor,), EVERYTHING | others))
    return type(kind.__name__, (kind,), EVERYTHING | others)(value)


def altered(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, bytes):
        return value + b"x"
    if isinstance(value, slice):
        return slice(0, 0, 1)
    if isinstance(value, torch.Tensor):
        return torch.full_like(value, 77) if value.numel() else torch.zeros(77)
    if isinstance(value, tuple | list):
        return type(value)(map(altered, value)) if value else (77,)
    if isinstance(value, set | frozenset):
        return {*value, 10**7}
    return 77  # None


def equals(value):
    """An altered value that says it is equal to all."""
    other = altered(value)
    if isinstance(other, tuple | list):
        return always(tuple(map(equals, other)) if not isinstance(other[0], str) else other)
    return other if isinstance(other, slice) else always(other)


@each_exercise
def test_an_answer_that_is_equal_to_everything_is_still_wrong(task):
    lying = task.check(lambda *args: equals(task.reference(*args)))
    honest = task.check(lambda *args: altered(task.reference(*args)))
    assert (lying.status, lying.headline) == ("failed", honest.headline)
    report = task.check(lambda *args: type("Any", (), EVERYTHING)())
    assert report.status == "failed" and "right on 0 of" in report.headline


def test_a_text_that_is_equal_to_everything_does_not_pass_for_a_name():
    named = type("Named", (), EVERYTHING | {"__str__": lambda self: next(names)})

    def answer(expressions):
        nonlocal names
        names = iter([*expressions, *expressions])
        return [named() for _ in expressions]

    names = iter(())
    assert not performance.cheapest_first.check(answer).passed


def test_an_error_while_an_answer_is_read_is_told_as_that():
    report = ex.contiguous_stride.check(lambda shape: liar("Int", tuple, "__iter__")())
    assert "yours     raised ZeroDivisionError: told by the answer" in report.text
    assert report.hint.startswith(NO_READING)


def test_a_generator_that_stops_is_a_function_that_stops():
    def answer(shape):
        yield shape[99]

    report = ex.contiguous_stride.check(answer)
    assert "on the line: yield shape[99]" in report.text and report.hint.startswith(STOPS)


def test_sizes_up_to_64_bits_are_read():
    with pytest.raises(Unusable, match="65 bits, where one number"):
        read_number(-(2**64), {})
    assert as_int(2**64 - 1) == 2**64 - 1


def test_subclasses_that_tell_the_truth_are_right():
    """An IntEnum, NumPy's numbers and texts, a parameter."""
    enum = IntEnum("Byte", {f"b{k}": k for k in range(2000)})
    assert ex.address.check(lambda *args: enum(right(*args))).passed
    assert ex.address.check(lambda *args: np.int64(right(*args))).passed
    assert ex.address.check(
        lambda *args: liar("Int", int, "__eq__", "__str__")(right(*args))
    ).passed
    kept = views.keep_row.reference
    assert views.keep_row.check(lambda big, i: kept(big, i).as_subclass(torch.nn.Buffer)).passed
    order = performance.cheapest_first.reference
    assert performance.cheapest_first.check(lambda e: np.array(order(e))).passed
    formats = channels_last.formats.reference
    assert channels_last.formats.check(lambda *args: [np.str_(f) for f in formats(*args)]).passed


def test_plain_values_are_pythons_own():
    found = plain(
        (liar("Int", int, "__int__")(5), [np.float64(2.5)], np.str_("a"), torch.Size((2,)))
    )
    assert found == (5, [2.5], "a", (2,))
    assert [type(it) for it in (*found, found[1][0])] == [int, list, str, tuple, float]
    with pytest.raises(TypeError, match="there is a slice in the answer"):
        plain((1, [slice(3)]))


SAME_SIZE = {1: torch.int8, 2: torch.float16, 4: torch.int32}

# What is left behind ----------------------------------------------------------------------------------


HARM = {
    "its layout": lambda t: t.unsqueeze_(0),
    "its values": lambda t: t.fill_(7),
    "its dtype": lambda t: setattr(t, "data", t.data.view(SAME_SIZE.get(t.itemsize, t.dtype))),
    "its storage freed": lambda t: t.untyped_storage().resize_(0),
    "another storage": lambda t: t.set_(),
    "another size": lambda t: t.resize_(100),
    "another class": lambda t: setattr(t, "__class__", Torch),
    "other data": lambda t: setattr(t, "data", torch.zeros(3, dtype=torch.int8)),
}


@pytest.mark.parametrize("name", HARM)
def test_an_input_that_was_spoilt_is_noticed(name):
    def answer(t, index):
        where = right(t, index)
        HARM[name](t)
        return where

    report = ex.address.check(answer)
    assert report.status == "failed" and report.hint
    raised = ("its storage freed", "another size", "another class")
    said = "raised " if name in raised else "`t` is no longer what it was before the call"
    assert said in report.text
    assert ex.address.check(right).passed


def test_steps_that_were_replaced_are_noticed():
    def answer(x, steps):
        k = views.first_copy.reference(x, steps)
        steps[:] = [liar("Step", object, *HOOKS)() for _ in steps]
        return k

    assert not views.first_copy.check(answer).passed
    assert views.first_copy.check(views.first_copy.reference).passed


def test_functions_that_end_late():
    """A recursion without end, a coroutine, a class, a generator function."""
    assert "raised RecursionError" in ex.address.check(lambda t, index: deep(t)).text

    async def later(t, index):
        return 1

    with pytest.warns(RuntimeWarning, match="never awaited"):
        assert "a coroutine, where an int" in ex.address.check(later).text
    assert ex.address.check(type("Byte", (), {"__init__": lambda *args: None})).status == "failed"


# Answers without an end -------------------------------------------------------------------------------


@pytest.fixture
def short(monkeypatch):
    """A twentieth of a second for each case, however slow the solution is."""
    monkeypatch.setattr(core, "LEAST_SECONDS", 0.05)
    monkeypatch.setattr(core, "PATIENCE", 0)


@pytest.fixture
def fair(short, monkeypatch):
    """Half a second: a right answer has that much even where the machine is busy."""
    monkeypatch.setattr(core, "LEAST_SECONDS", 0.5)


def test_an_endless_loop_is_stopped_and_said(fair):
    def answer(t, index):
        n = 1
        for _ in range(3):
            while n > 0:
                n += 1

    report = ex.address.check(answer)
    assert report.status == "failed" and report.text == (
        "✗ address: not yet (stopped on the first case)\n"
        "  input     t = torch.arange(10, dtype=torch.float32); index = (4,)\n"
        "            t: shape (10,), stride (1,), storage_offset 0, 4 bytes an element\n"
        "  expected  byte 16\n"
        "  yours     no answer after 0.5 s: stopped\n"
        "            in the loop: while n > 0:\n"
        "  hint      On this input your function had not come to its end after 0.5 s, so it was "
        "stopped.\n"
        "            Which condition should end its loop, and does each turn bring it nearer?"
    )
    assert ex.address.check(right).passed


def test_a_loop_that_is_endless_in_some_cases(fair):
    """What was tried before counts; the first wrong answer is shown, and its mistake is told."""

    def answer(t, index):
        while t.storage_offset():
            pass
        return right(t, index)

    assert "(right on 3 of 3 cases, stopped on the next)" in ex.address.check(answer).headline

    def wrong(t, index):
        return answer(t, index) // t.element_size()

    report = ex.address.check(wrong)
    assert "(right on 1 of 3 cases, stopped on the next)" in report.headline
    assert report.hint.startswith("That is the number of the element")


def catches_all(t, index):
    while True:
        try:
            t.numel()
        except BaseException:
            t.dim()


def too_late(t, index):
    try:
        catches_all(t, index)
    finally:
        return right(t, index)  # noqa: B012


@pytest.mark.parametrize(
    "answer",
    [
        catches_all,
        too_late,
        lambda t, index: time.sleep(60),
        lambda t, index: liar("Index", __index__=lambda self: catches_all(t, index))(),
    ],
    ids=["catches all", "too late", "sleeps", "when it is read"],
)
def test_whatever_does_not_end_is_stopped(answer, short):
    report = ex.address.check(answer)
    assert "no answer after 0.05 s: stopped" in report.text
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()


@each_exercise
def test_no_exercise_waits_for_an_answer_without_an_end(task, short):
    report = task.check(lambda *args: next(k for k in itertools.count() if k < 0))
    assert "(stopped on the first case)" in report.headline


def test_a_slow_machine_has_more_time(monkeypatch):
    """A hundred times what the solution took there."""
    monkeypatch.setattr(core, "LEAST_SECONDS", 0.01)

    def slow(n):
        """The number itself."""
        time.sleep(0.02)
        return n

    task = declared(slow, ("n = 1",))
    assert task.check(lambda n: time.sleep(0.2) or n).passed


def test_what_an_endless_loop_prints_is_cut(short, capsys):
    def answer(t, index):
        while True:
            print("again")

    ex.address.check(answer)
    printed = capsys.readouterr().out
    assert printed.startswith("again\nagain\n") and printed.count("\n") < 110
    assert printed.endswith("\n… (the rest is not shown)\n")


def test_each_case_may_print_something(capsys):
    """The lines of the case that the report is about are there, however many came before."""

    def answer(t, index):
        print("line\n" * 50, tuple(t.shape))
        return right(t, index) if t.dim() else -1

    ex.address.check(answer)
    printed = capsys.readouterr().out
    assert printed.count("line") == 50 * 17 and printed.endswith(" ()\n")


# Addresses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0x7f5c3e00 and 140033962414080.", "0x… and (an address)."),
        ("-94310000000000", "(an address)"),
        ("12345678901.5 and 1.123456789012", "12345678901.5 and 1.123456789012"),
        ("9" * 5000, "(an address)"),
        ("999999", "999999"),
    ],
)
def test_addresses_are_told_from_numbers(text, shown):
    assert presentable(text) == shown


@pytest.mark.parametrize("number", ["67108865", "1073741000", "1300000000"])
@pytest.mark.parametrize(("memory", "is_one"), [(2**30, True), (2**46, False)])
def test_a_number_is_an_address_where_memory_is_near(memory, number, is_one, monkeypatch):
    """Also an address divided by an itemsize: a system may have its memory below 10**9."""
    monkeypatch.setattr(untrusted, "_some_addresses", lambda: (2**46, memory))
    assert presentable(number) == ("(an address)" if is_one else number)
    for other in ("1400000", "5000000000"):  # plain numbers: too small, and too large
        assert presentable(other) == other


def test_real_addresses_are_recognised():
    for address in (id(object()), torch.empty(1, device="cpu").data_ptr()):
        assert presentable(str(address + 10**6)) == "(an address)"


def test_a_view_is_read_as_torch_has_it():
    """Even if the class of the answer lies about its shape."""
    shape = type("Shape", (torch.Tensor,), {"shape": property(lambda self: always((3,)))})
    x = torch.arange(24).view(4, 6)
    read = view_of("x")
    facts = plain(tuple(read(x[0].as_subclass(shape), {"x": x}).facts.values()))
    assert facts != plain(tuple(read(x[1], {"x": x}).facts.values()))


def test_contiguity_is_a_bool():
    assert not contiguity.is_contiguous.check(lambda *args: always(True)).passed
