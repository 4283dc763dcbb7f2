"""diagnose: each message as the library raises it, its decoded numbers, and its cure, which runs."""

import ast
import itertools
import re
import sys
import textwrap
import traceback
from functools import cache
from math import prod
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

from stridekit import Layout, diagnose
from stridekit._arguments import many
from stridekit.widgets.engine import Script
from tests.core.messages import BUCKET, ROWS, Row, in_group, meta, raised, run, sdpa, z

script = Script("diagnose/diagnose.js")
FAMILIES = {family["title"]: family for family in script.FAMILIES}
LABELS = ("means", "harm", "cause", "cure")
BACKWARDS = "a slice that runs backwards"
OF_THE_ROWS = torch.__version__.startswith("2.13")  # whose messages the rows have
error_of = cache(Row.error)


@cache
def messages() -> list[str]:
    errors = map(error_of, ROWS)
    return [*(str(getattr(error, "message", error)) for error in errors), BUCKET]


def told(error: object) -> dict[str, str]:
    return dict(diagnose(error).lines)


def special(error: object) -> str:
    """What the numbers mean, and the harm, cause and cure that hold for these numbers alone."""
    lines, family = told(error), FAMILIES[diagnose(error).title]
    return " | ".join(
        [lines["means"], *(lines[label] for label in LABELS[1:] if lines[label] != family[label])]
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call[:60])
def test_a_message_is_explained_as_raised_and_as_pasted(row: Row) -> None:
    error = error_of(row)
    diagnosis = diagnose(error)
    if not OF_THE_ROWS and diagnosis.title != row.title:
        pytest.skip(f"torch {torch.__version__} says something else: {error}")
    assert diagnosis.title == row.title
    if row.says.endswith(" …"):
        assert special(error).startswith(row.says[:-2])
    elif OF_THE_ROWS:  # another torch may give other numbers
        assert special(error) == row.says
    assert not re.search(r"undefined|null|NaN|\{\w+\}", str(diagnosis.lines[1:]))
    assert "others" not in told(str(getattr(error, "message", error)))
    if isinstance(error, BaseException):
        pasted = "".join(traceback.format_exception(error))
        wrapped = textwrap.wrap(pasted, 60, break_long_words=False, break_on_hyphens=False)
        assert diagnose("\n".join(["$ python a.py", *wrapped, ">>> "])) == diagnosis


@pytest.mark.parametrize("row", [row for row in ROWS if row.cure], ids=lambda row: row.cure[:60])
def test_a_cure_works(row: Row) -> None:
    run(row.cure)


def test_each_family_is_explained_by_a_section_of_a_lesson() -> None:
    books = {p.stem: nbformat.read(p, 4) for p in Path("notebooks").resolve().glob("*.ipynb")}
    for family in FAMILIES.values():
        heading = re.compile(rf"^#+ {re.escape(family['section'])}$", re.MULTILINE)
        cells = books[family["lesson"]].cells
        assert any(heading.search(cell.source) for cell in cells), family["title"]


@pytest.mark.skipif(not OF_THE_ROWS, reason="another torch may word a message otherwise")
def test_each_family_and_each_text_of_it_is_met() -> None:
    """A template of a library's message is met by a row if the row has its words in their order."""
    assert {row.title for row in ROWS} | {diagnose(BUCKET).title} == set(FAMILIES)
    lines = [" ".join(text.split()) for text in messages()]
    for family in FAMILIES.values():
        for template in family["templates"]:
            words = [re.escape(part) for part in re.split(r"\{\w*[,:*~+&]?\}", template)]
            assert any(re.search(".+?".join(words), line) for line in lines), template


# The numbers, judged by torch, NumPy and Layout ---------------------------------------------------

sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(st.permutations(range(4)), st.lists(st.integers(1, 4), min_size=4, max_size=4), st.data())
def test_a_view_that_fails_is_explained_as_layout_does(order, shape, data):
    x = z(*shape).permute(order)
    cut = data.draw(st.sampled_from([d for d in range(1, 144) if x.numel() % d == 0]))
    wanted = (cut, x.numel() // cut)
    why = Layout.of(x).why_not_view(wanted)
    if why:
        lines = told(
            f"Cannot view a tensor with shape {x.shape} and strides {x.stride()} as a tensor with shape "
            f"{wanted}!"
        )
        assert lines["means"] == f"{why}: no stride gives {wanted}"
        cure = f"x.reshape({cut}, {wanted[1]}), which copies all {x.numel()} "
        assert lines["cure"].startswith(cure)
    else:
        x.view(wanted)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=3), st.integers(0, 24))
def test_each_shape_that_is_advised_fits(shape, numel):
    """And each that differs in one size is advised."""
    if prod(shape) == numel:
        return
    cure = told(raised(lambda: z(numel).view(shape)))["cure"]
    fits = {
        tried
        for d, n in itertools.product(range(len(shape)), range(numel + 1))
        if prod(shape[:d] + shape[d + 1 :])
        and prod(tried := (*shape[:d], n, *shape[d + 1 :])) == numel
    }
    assert set(map(ast.literal_eval, re.findall(r"\(.*?\)", cure))) == fits
    assert bool(fits) == ("no change" not in cure)


@given(st.lists(st.integers(-1, 4), min_size=0, max_size=3), st.integers(0, 12))
def test_arrays_are_explained_as_their_shape_was_written(shape, numel):
    """NumPy prints a -1 as newaxis or not at all."""
    error = raised(lambda: [np.zeros(numel).reshape(shape), np.zeros(0).reshape(5)])
    if "unknown" in str(error):
        return
    means = told(error)["means"]
    known = prod(n for n in shape if n != -1)
    if "into shape (5,)" in str(error) and shape != [5]:
        assert means == "shape (5,) has 5 elements, and there are 0"
    elif shape.count(-1) == 1 and (shape[0] != -1 or len(shape) == 2):
        none = "the other sizes" if numel else "0 times any"
        expected = f"-1 stands for {numel} / {known}," if known else none
        assert means.startswith(expected)
    elif -1 not in shape:
        assert f"has {known} element" in means and f"there are {numel}" in means


@given(sizes, sizes)
def test_shapes_that_do_not_broadcast_meet_in_the_dim_that_is_named(a, b):
    for call in (lambda: np.zeros(a) + np.zeros(b), lambda: meta(*a) + meta(*b)):
        try:
            np.broadcast_shapes(a, b)
        except ValueError:
            means = told(raised(call))["means"]
            named = re.search(r"dim (\d) of the result sizes (\d) and (\d)", means)
            d, *pair = map(int, named.groups())
            back = max(len(a), len(b)) - d
            assert {a[-back], b[-back]} == set(pair) and 1 not in pair
            # Dims further on fit.
            np.broadcast_shapes(a[len(a) - back + 1 :], b[len(b) - back + 1 :])


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=3),
    st.integers(0, 9), st.integers(0, 30),
)  # fmt: skip
def test_a_layout_that_leaves_its_storage_ends_where_layout_says(dims, offset, held):
    shape, stride = [n for n, _ in dims], [s for _, s in dims]
    layout = Layout(shape, stride, offset, 4)
    error = raised(lambda: [z(held).as_strided(shape, stride, offset), z(6)[::-1]])
    assert ("out of bounds" in str(error)) == (layout.numel > 0 and layout.span.stop > held)
    if "out of bounds" in str(error):
        storage = "is empty"
        if held:
            storage = f"has {many(held, 'element')}, and ends with element {held - 1}"
        index, last = tuple(n - 1 for n in shape), layout.span.stop - 1
        assert told(error)["means"] == f"index {index} is element {last}; the storage {storage}"


@given(sizes.filter(prod), st.data())
def test_a_gradient_is_harmless_where_each_address_is_the_same(shape, data):
    strides = st.lists(st.integers(0, 9), min_size=len(shape), max_size=len(shape)).map(tuple)
    ours, theirs = data.draw(strides), data.draw(strides)
    everywhere = list(np.ndindex(*shape))
    a, b = ([Layout(shape, s).offset(index) for index in everywhere] for s in (ours, theirs))
    lines = told(bucket(shape, ours, theirs))
    assert ("harmless" in lines["harm"]) == (a == b) == (lines["cure"] == "nothing has to be done")
    if a != b:
        assert f" {prod(shape)} element" in lines["harm"]
        apart = [str(d) for d in range(len(shape)) if ours[d] != theirs[d]]
        assert re.findall(r"\d+", lines["means"].split("differ in ")[1]) == apart


def bucket(shape, ours, theirs):
    return (
        "Grad strides do not match bucket view strides.\n"
        f"grad.sizes() = {list(shape)}, strides() = {list(ours)}\n"
        f"bucket_view.sizes() = {list(shape)}, strides() = {list(theirs)}"
    )


def test_an_empty_gradient_lies_nowhere_else():
    lines = told(bucket([0, 3], [3, 1], [1, 9]))
    assert lines["means"] == "a gradient of shape (0, 3) has no elements"
    assert lines["harm"] == "no: there is nothing to copy"


DTYPES = st.sampled_from([torch.int32, torch.float64])


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 3), DTYPES)
def test_a_dtype_view_that_fails_can_be_cured_as_told(rows, columns, start, dtype):
    x = z(start + rows * 10, dtype=torch.int16)[start:].view(rows, 10)[:, :columns]
    error = raised(lambda: [x.view(dtype), z(6)[::-1]])
    if "divisible" in str(error):
        cure = told(error)["cure"]
        source = re.search(r"(?:x|F\.pad)[.\[(].*?\.view\(dtype\)", cure)[0]
        result = eval(source, {"x": x, "dtype": dtype, "torch": torch, "F": F})
        assert result.shape[0] == rows and result.dtype == dtype


@given(st.lists(st.integers(1, 4), min_size=3, max_size=5), st.sampled_from([1, 2, 3]))
def test_channels_are_looked_for_where_they_are(shape, wanted):
    call = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[len(shape)]
    x, weight = z(*shape), z(5, wanted, *[1] * (len(shape) - 2))
    error = raised(lambda: [call(x, weight), z(6)[::-1]])
    if "channels" not in str(error):
        return
    cure = told(error)["cure"]
    if cure.startswith("x."):
        call(eval(cure.split(", a view")[0], {"x": x}), weight)
    else:
        assert wanted not in (shape[0], shape[-1])


# Texts ---------------------------------------------------------------------------------------------


def test_the_last_message_of_a_long_log_is_explained():
    noise = "step 1: loss 0.5 shape '[3' is invalid for\n" * 1_000
    log = f"ValueError: step must be greater than zero\n{noise}{BUCKET}\n{noise}"
    assert diagnose(log).title == "a gradient laid out unlike its bucket"
    assert told(log)["others"] == "2 messages are known here; this is the last one"
    assert diagnose(f"{BUCKET}{noise}step must be greater than zero").title == BACKWARDS


def test_a_message_is_counted_once_and_shown_to_its_200th_letter():
    text = "Cannot view a tensor with shape torch.Size([6, 4]) and strides (1, 6) as a tensor with "
    text += "shape (24,)!"
    assert told(text)["message"] == text and "others" not in told(text)
    assert told("😀" * 201)["message"] == "😀" * 200 + " …"
    assert told("x" * 200)["message"] == "x" * 200


def view():
    return z(4, 6).t().view(24)


def test_an_error_that_was_raised_comes_before_those_that_led_to_it():
    def chained(outer, how):
        try:
            view()
        except RuntimeError as inner:
            if how == "from":
                raise outer from inner
            if how == "none":
                raise outer from None
            raise outer  # noqa: B904

    for how in ("from", "while handling"):
        known = ValueError("step must be greater than zero")
        error = raised(lambda how=how, known=known: chained(known, how))
        assert diagnose(error).title == BACKWARDS and "raised" not in told(error)
        assert told(error)["others"].startswith("2 messages")
        error = raised(lambda how=how: chained(KeyError("a"), how))
        assert diagnose(error).title == ROWS[0].title
        assert told(error)["raised"].startswith("the error after this message is not known here")
    assert "does not know" in diagnose(raised(lambda: chained(KeyError("a"), "none"))).title


def test_the_errors_of_a_group_are_read():
    """And a ring of errors ends."""
    slice_, view_ = raised(lambda: z(4)[::-1]), raised(view)
    for errors, title in (([slice_, view_], ROWS[0].title), ([view_, slice_], BACKWARDS)):
        group = ExceptionGroup("a", [ValueError("b"), *errors])
        assert diagnose(group).title == title and "others" in told(group)
    nested = ExceptionGroup("a", [ExceptionGroup("b", [slice_]), KeyError("c")])
    assert diagnose(nested).title == BACKWARDS
    a, b = KeyError("a"), KeyError("b")
    a.__cause__, b.__cause__ = b, a
    assert "does not know" in diagnose(a).title


def test_grouped_heads_are_known_by_their_number_or_by_the_call():
    q, k = z(1, 8, 5, 16), z(1, 2, 5, 16)
    error = raised(lambda: sdpa(q, k, k))
    assert told(error)["cure"] == "scaled_dot_product_attention(..., enable_gqa=True)"
    sdpa(q, k, k, enable_gqa=True)
    assert "which needs enable_gqa=True" in told(str(error))["cause"]
    assert "enable_gqa" not in str(diagnose(raised(lambda: z(2, 8, 3) + z(2, 3, 3))))
    assert "enable_gqa" not in str(diagnose(raised(lambda: z(8, 3) + z(2, 3))))


class Silent(Exception):
    """Fails when it is printed."""

    def __str__(self):
        raise ValueError


UNKNOWN = [
    *("", "KeyError: 'a'", "x" * 10**6, "list index out of range", KeyError("a"), Silent()),
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "expected scalar type Half but found Float",
    f"shape '[5]' is invalid for input of size {'7' * 5000}",
    "element 0 of tensors does not require grad and does not have a grad_fn",
]


@pytest.mark.parametrize("error", UNKNOWN, ids=lambda error: str(type(error)))
def test_what_is_not_about_layouts_stays_unknown(error):
    diagnosis = diagnose(error)
    assert diagnosis.title == "a message that stridekit does not know"
    assert f"{len(FAMILIES)} kinds of messages" in str(diagnosis) and len(str(diagnosis)) < 600


NUMBERS = st.one_of(st.integers(-2, 9), st.integers(0, 2**64), st.just(10**5000))


@given(st.deferred(lambda: st.sampled_from(messages())), st.data())
def test_other_numbers_never_break_it(message, data):
    """Typing errors and other versions make them."""
    parts = re.split(r"(\d+)", message)
    parts[1::2] = [
        part if data.draw(st.booleans()) else f"{data.draw(NUMBERS):x}".replace("f", ", ")
        for part in parts[1::2]
    ]
    lines = diagnose("".join(parts)).lines
    assert all(text for _, text in lines)
    assert not re.search(r"undefined|NaN|Infinity", str(lines[1:]))


@pytest.mark.parametrize("size", [2**53 - 1, 2**53, 10**18])
def test_numbers_are_exact_or_left_out(size):
    means = told(f"shape '[2]' is invalid for input of size {size}").get("means", "")
    assert ("has 2 elements" in means) == (size < 2**53)


def test_no_pattern_looks_further_than_its_fields_are_long():
    assert not [source for source in script.PATTERNS if re.search(r"(?<!\\)[*+]|,\}", source)]


# Where errors come from ------------------------------------------------------------------------------


def turn_gradient(conv):
    conv.weight.register_hook(lambda grad: grad.as_strided(grad.shape, (4, 1, 4, 4)))


def turn_weight(conv):
    conv.weight.data = conv.weight.data.to(memory_format=torch.channels_last)


@pytest.mark.parametrize(("size", "turn", "says"), [
    (1, turn_gradient, "no: same addresses, harmless"),
    (3, turn_weight, "in time: each step copies 288 elements in another order"),
], ids=["1x1", "3x3"])  # fmt: skip
def test_a_gradient_in_another_order_than_its_bucket(size, turn, says):
    """By DistributedDataParallel itself."""

    def train():
        conv = torch.nn.Conv2d(4, 8, size, bias=False)
        model = torch.nn.parallel.DistributedDataParallel(conv)
        turn(conv)
        model(torch.rand(2, 4, 5, 5)).sum().backward()

    told = diagnose(raised(lambda: in_group(train)))
    assert told.title == diagnose(BUCKET).title and says in str(told)


@pytest.mark.parametrize("text", [
    "Grad strides do not match bucket view strides.",
    "Grad strides do not match bucket view strides. grad.sizes() = [3], strides() = [1, 1] "
    "bucket_view.sizes() = [3], strides() = [1]",
])  # fmt: skip
def test_numbers_that_are_cut_off_decide_nothing(text):
    assert told(text)["harm"].startswith("at most in time: the strides at its end")


@pytest.mark.parametrize("name", ["last_exc", "last_value"])
def test_the_last_exception(name, monkeypatch):
    for known in ("last_exc", "last_value"):
        monkeypatch.delattr(sys, known, raising=False)
    with pytest.raises(ValueError, match="there is no last exception: pass an error"):
        diagnose()
    monkeypatch.setattr(sys, name, raised(view), raising=False)
    assert diagnose().title == ROWS[0].title


def test_in_a_notebook(capsys, monkeypatch):
    """`%diagnose` after an exception, with a text behind it, and with lines below it."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell replaces it
    shell = InteractiveShell()
    for source in (
        "%load_ext stridekit",
        "import torch; torch.zeros(4)[::-1]",
        "%diagnose",
        "%diagnose shape '[5]' is invalid for input of size 4",
        "%%diagnose\nview size is not compatible with\ninput tensor's size and stride",
    ):
        shell.run_cell(source)
    titles = re.findall("Out.*: *\n?(a .*)", capsys.readouterr().out)
    assert titles == [BACKWARDS, "a shape for another number of elements", ROWS[0].title]
