"""diagnose: each message as the library raises it, its decoded numbers, and its cure, which runs."""

import ast
import html
import itertools
import re
import sys
import textwrap
import traceback
from functools import cache
from math import prod

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from stridekit import Layout, diagnose
from stridekit._arguments import many
from stridekit.widgets.engine import Script
from tests.core.messages import (
    BUCKET,
    HAS_MESSAGES_OF_ROWS,
    ROWS,
    Row,
    in_group,
    meta,
    raised,
    run,
    sdpa,
    z,
)

script = Script("diagnose/diagnose.js")
FAMILIES = {family["title"]: family for family in script.FAMILIES}
BACKWARDS = "a slice that runs backwards"
UNKNOWN = "a message that stridekit does not know"
error_of = cache(Row.error)


@cache
def messages() -> list[str]:
    errors = map(error_of, ROWS)
    return [*(str(getattr(error, "message", error)) for error in errors), BUCKET]


def lines_of(error: object) -> dict[str, str]:
    return dict(diagnose(error).lines)


def decided_lines(error: object) -> dict[str, str]:
    """Return the lines that the numbers decide: the meaning, and what the family does not have."""
    diagnosis = diagnose(error)
    family = FAMILIES[diagnosis.title]
    lines = dict(diagnosis.lines)
    decided = {"means": lines["means"]}
    for label in ("harm", "cause", "cure"):
        if lines[label] != family[label]:
            decided[label] = lines[label]
    return decided


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.call[:60])
def test_a_message_is_explained_as_raised_and_as_pasted(row: Row) -> None:
    error = error_of(row)
    diagnosis = diagnose(error)
    if not HAS_MESSAGES_OF_ROWS and diagnosis.title != row.title:
        pytest.skip(f"this torch or NumPy says something else: {error}")
    assert diagnosis.title == row.title
    decided = decided_lines(error)
    beginning, ellipsis, _ = row.lines["means"].partition(" …")
    if ellipsis:
        assert decided["means"].startswith(beginning)
    elif HAS_MESSAGES_OF_ROWS:  # another torch may give other numbers
        assert decided == row.lines
    assert not re.search(r"undefined|null|NaN|\{\w+\}", str(diagnosis.lines[1:]))
    assert "others" not in lines_of(str(getattr(error, "message", error)))
    if isinstance(error, BaseException):
        pasted = "".join(traceback.format_exception(error))
        wrapped = textwrap.wrap(pasted, 60, break_long_words=False, break_on_hyphens=False)
        assert diagnose("\n".join(["$ python a.py", *wrapped, ">>> "])) == diagnosis


def code_of(cure):
    """Return the Python that a cure begins with, or None if it begins with words."""
    ends = r", (?:an?|with|which|the|all|as|for) |; | (?:for|before|after|if|where|is|or|joins|gives) |: "
    code = re.split(ends, cure)[0]
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        return None
    return code if re.search(r"[.([@*]", code) and "..." not in code else None


def is_met(row):
    """Return whether the row's call raises what the row is about; it has to on the rows' versions."""
    return HAS_MESSAGES_OF_ROWS or diagnose(error_of(row)).title == row.title


CURES = [row for row in ROWS if row.works]


@pytest.mark.parametrize("row", CURES, ids=lambda row: row.works[:60])
def test_a_cure_works(row: Row) -> None:
    """If the row says what the names of its cure stand for, the code of the cure itself runs."""
    if not is_met(row):
        pytest.skip(f"this torch or NumPy says something else: {error_of(row)}")
    names = run(f"dict({row.given})")
    if row.given:
        names["cured"] = run(code_of(lines_of(error_of(row))["cure"]), **names)
    run(row.works, **names)


def test_each_cure_that_is_code_is_tried():
    tried = {row.title for row in ROWS if row.works}
    cures = {row.title: lines_of(error_of(row))["cure"] for row in ROWS if is_met(row)}
    codes = {title: code_of(cure) for title, cure in cures.items()}
    assert {title: code for title, code in codes.items() if code and title not in tried} == {}


@pytest.mark.skipif(not HAS_MESSAGES_OF_ROWS, reason="another torch may word a message otherwise")
def test_each_family_and_each_text_of_it_is_met() -> None:
    """A row meets a template of a library's message if it has the template's words in their order."""
    assert {row.title for row in ROWS} | {diagnose(BUCKET).title} == set(FAMILIES)
    lines = [" ".join(text.split()) for text in messages()]
    for family in FAMILIES.values():
        for template in family["templates"]:
            words = [re.escape(part) for part in re.split(r"\{\w*[,:*~+&%]?\}", template)]
            pattern = re.compile(".+?".join(words))
            assert any(pattern.search(line) for line in lines), template


# The numbers, judged by torch, NumPy and Layout ---------------------------------------------------

sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(st.permutations(range(4)), st.lists(st.integers(1, 4), min_size=4, max_size=4), st.data())
def test_a_view_that_fails_is_explained_as_layout_does(order, shape, data):
    x = z(*shape).permute(order)
    cut = data.draw(st.sampled_from([d for d in range(1, 144) if x.numel() % d == 0]))
    wanted = (cut, x.numel() // cut)
    why = Layout.of(x).why_not_view(wanted)
    if why:
        lines = lines_of(
            f"Cannot view a tensor with shape {x.shape} and strides {x.stride()} as a tensor with shape "
            f"{wanted}!"
        )
        assert lines["means"] == f"{why}: no stride gives {wanted}"
        cure = f"x.reshape({cut}, {wanted[1]}), which copies all {x.numel()} "
        assert lines["cure"].startswith(cure)
    else:
        x.view(wanted)


def shapes_that_fit(shape, numel):
    """Return the shapes of `numel` elements that differ in one size; the other sizes are not 0."""
    fitting = set()
    for dim, size in itertools.product(range(len(shape)), range(numel + 1)):
        changed = (*shape[:dim], size, *shape[dim + 1 :])
        if prod(changed) == numel and prod(shape[:dim] + shape[dim + 1 :]):
            fitting.add(changed)
    return fitting


@given(st.lists(st.integers(0, 12), min_size=1, max_size=3), st.integers(0, 24))
def test_the_advised_shapes_are_all_that_fit(shape, numel):
    if prod(shape) == numel:
        return
    cure = lines_of(raised(lambda: z(numel).view(shape)))["cure"]
    advised = {ast.literal_eval(text) for text in re.findall(r"\(.*?\)", cure)}
    assert advised == shapes_that_fit(shape, numel)
    assert bool(advised) == ("no change" not in cure)


@given(st.lists(st.integers(-1, 4), min_size=0, max_size=3), st.integers(0, 12))
def test_arrays_are_explained_as_their_shape_was_written(shape, numel):
    """NumPy prints a -1 as newaxis or not at all."""
    error = raised(lambda: [np.zeros(numel).reshape(shape), np.zeros(0).reshape(5)])
    if "unknown" in str(error):
        return
    means = lines_of(error)["means"]
    product = prod(size for size in shape if size != -1)
    if "into shape (5,)" in str(error) and shape != [5]:
        assert means == "shape (5,) has 5 elements, and there are 0"
    elif shape.count(-1) == 1 and (shape[0] != -1 or len(shape) == 2):
        if product:
            assert means.startswith(f"-1 stands for {numel} / {product},")
        else:
            assert means.startswith("the other sizes" if numel else "0 times any")
    elif -1 not in shape:
        assert f"has {product} element" in means and f"there are {numel}" in means


@given(sizes, sizes)
def test_shapes_that_do_not_broadcast_meet_in_the_dim_that_is_named(a, b):
    for call in (lambda: np.zeros(a) + np.zeros(b), lambda: meta(*a) + meta(*b)):
        try:
            np.broadcast_shapes(a, b)
        except ValueError:
            means = lines_of(raised(call))["means"]
            named = re.search(r"dim (\d) of the result sizes (\d) and (\d)", means)
            dim, *pair = map(int, named.groups())
            from_the_end = max(len(a), len(b)) - dim
            assert {a[-from_the_end], b[-from_the_end]} == set(pair) and 1 not in pair
            # Dims further on fit.
            np.broadcast_shapes(a[len(a) - from_the_end + 1 :], b[len(b) - from_the_end + 1 :])


dims = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=3)


@given(dims, st.integers(0, 9), st.integers(0, 30))
def test_a_layout_that_leaves_its_storage_ends_where_layout_says(dims, offset, stored):
    shape = [size for size, _ in dims]
    stride = [step for _, step in dims]
    layout = Layout(shape, stride, offset, 4)
    error = raised(lambda: [z(stored).as_strided(shape, stride, offset), z(6)[::-1]])
    is_outside = layout.numel > 0 and layout.span.stop > stored
    assert ("out of bounds" in str(error)) == is_outside
    if is_outside:
        storage = "is empty"
        if stored:
            storage = f"has {many(stored, 'element')}, and ends with element {stored - 1}"
        index = tuple(size - 1 for size in shape)
        last = layout.span.stop - 1
        assert lines_of(error)["means"] == f"index {index} is element {last}; the storage {storage}"


@given(sizes.filter(prod), st.data())
def test_a_gradient_is_harmless_where_each_address_is_the_same(shape, data):
    strides = st.lists(st.integers(0, 9), min_size=len(shape), max_size=len(shape)).map(tuple)
    of_grad = data.draw(strides)
    of_bucket = data.draw(strides)
    indices = list(np.ndindex(*shape))
    is_same = all(
        Layout(shape, of_grad).offset(i) == Layout(shape, of_bucket).offset(i) for i in indices
    )
    lines = lines_of(bucket(shape, of_grad, of_bucket))
    assert ("harmless" in lines["harm"]) == is_same
    assert (lines["cure"] == "nothing has to be done") == is_same
    if not is_same:
        assert f" {prod(shape)} element" in lines["harm"]
        different = [str(d) for d in range(len(shape)) if of_grad[d] != of_bucket[d]]
        assert re.findall(r"\d+", lines["means"].split("differ in ")[1]) == different


def bucket(shape, of_grad, of_bucket):
    return (
        "Grad strides do not match bucket view strides.\n"
        f"grad.sizes() = {list(shape)}, strides() = {list(of_grad)}\n"
        f"bucket_view.sizes() = {list(shape)}, strides() = {list(of_bucket)}"
    )


def test_an_empty_gradient_lies_nowhere_else():
    lines = lines_of(bucket([0, 3], [3, 1], [1, 9]))
    assert lines["means"] == "a gradient of shape (0, 3) has no elements"
    assert lines["harm"] == "no: there is nothing to copy"


DTYPES = st.sampled_from([torch.int32, torch.float64])


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 3), DTYPES)
def test_the_cure_of_a_dtype_view_works(rows, columns, start, dtype):
    x = z(start + rows * 10, dtype=torch.int16)[start:].view(rows, 10)[:, :columns]
    error = raised(lambda: [x.view(dtype), z(6)[::-1]])
    if "divisible" in str(error):
        cure = lines_of(error)["cure"]
        source = re.search(r"(?:x|F\.pad)[.\[(].*?\.view\(dtype\)", cure)[0]
        result = eval(source, {"x": x, "dtype": dtype, "torch": torch, "F": F})
        assert result.shape[0] == rows and result.dtype == dtype


@given(st.lists(st.integers(1, 4), min_size=3, max_size=5), st.sampled_from([1, 2, 3]))
def test_channels_are_looked_for_where_they_are(shape, wanted):
    convolve = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[len(shape)]
    x = z(*shape)
    weight = z(5, wanted, *[1] * (len(shape) - 2))
    error = raised(lambda: [convolve(x, weight), z(6)[::-1]])
    if "channels" not in str(error):
        return
    cure = lines_of(error)["cure"]
    if cure.startswith("x."):
        permuted = eval(code_of(cure), {"x": x})
        convolve(permuted, weight)
    else:
        assert wanted not in (shape[0], shape[-1])


# Texts ---------------------------------------------------------------------------------------------


def test_the_last_message_of_a_long_log_is_explained():
    noise = "step 1: loss 0.5 shape '[3' is invalid for\n" * 1_000
    log = f"ValueError: step must be greater than zero\n{noise}{BUCKET}\n{noise}"
    assert diagnose(log).title == "a gradient laid out unlike its bucket"
    assert lines_of(log)["others"] == "2 messages are known here; this is the last one"
    assert diagnose(f"{BUCKET}{noise}step must be greater than zero").title == BACKWARDS


def test_a_message_is_counted_once_and_shown_to_its_200th_letter():
    text = (
        "Cannot view a tensor with shape torch.Size([6, 4]) and strides (1, 6) as a tensor with "
        "shape (24,)!"
    )
    lines = lines_of(text)
    assert lines["message"] == text and "others" not in lines
    assert lines_of("😀" * 201)["message"] == "😀" * 200 + " …"
    assert lines_of("x" * 200)["message"] == "x" * 200


def test_the_end_of_a_long_text_counts_and_the_answer_says_so():
    log = "ValueError: step must be greater than zero\n" + "step 1: loss 0.5\n" * 10_000
    short = diagnose(f"{log}{BUCKET}"[-100_000:])
    long = diagnose(f"{log}{BUCKET}")
    assert long.title == diagnose(BUCKET).title and "others" not in dict(long.lines)
    assert long.lines == (*short.lines, ("read", "only the last 100,000 of 170,233 characters"))
    assert "read" not in dict(short.lines)
    assert lines_of(log)["read"] == "only the last 100,000 of 170,043 characters"
    assert diagnose(log).title == UNKNOWN
    assert lines_of("😀" * 100_001)["read"] == "only the last 100,000 of 100,001 characters"


@cache
def of_messages():
    """Return pairs of a message, behind the name of its error, and its diagnosis."""
    texts = {f"RuntimeError: {message}" for message in messages()}
    return [(text, diagnose(text)) for text in texts]


def marked_up(text):
    """Escape punctuation, as markdown does where it is not to count."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def coloured(text):
    return " ".join(f"\x1b[1;31m{word}\x1b[0m" for word in text.split())


def typographic(text):
    opened = re.sub(r"(^|[\s(\[])'", r"\1‘", text)
    return opened.replace("'", "’").replace('"', "”").replace("-1", "−1")


def page_source(text):
    return "<pre>" + html.escape(text).replace(" ", "&nbsp;").replace("\n", "<br>\n") + "</pre>"


def prefixed(prefix):
    """Return a disguise that breaks a text into short lines and puts a prefix in front of each."""

    def disguise(text):
        lines = textwrap.wrap(text, 40, break_long_words=False, break_on_hyphens=False)
        return "\n".join(prefix + line for line in lines)

    return disguise


TIME = "2026-11-28T09:05:03.1234567Z"
DISGUISES = {
    "colour": coloured,
    "colour of a log that drops the escape": lambda text: coloured(text).replace("\x1b", ""),
    "colour as it is written in JSON": lambda text: coloured(text).replace("\x1b", "\\u001b"),
    "HTML": page_source,
    "typographic quotes": typographic,
    "backslashes of markdown": marked_up,
    "a quotation in markdown": lambda text: marked_up(prefixed("> > ")(text)),
    "a quotation in HTML": lambda text: html.escape(prefixed("> ")(text)),
    "pytest": prefixed("E   "),
    "pytest with colours": lambda text: coloured(text).replace(" ", "\n\x1b[31mE       "),
    "torchrun": prefixed("[rank0]: "),
    "older torchrun": prefixed("[default1]:"),
    "mpirun": prefixed("[1,0]<stderr>:"),
    "Ray": prefixed("(RayTrainWorker pid=1234, ip=10.0.0.1) "),
    "docker compose": prefixed("trainer-1  | "),
    "Kubernetes": prefixed(f"{TIME} stderr F "),
    "GitHub": prefixed(f"{TIME} ##[error]"),
    "gh run view --log": prefixed(f"build (3.12)\tRun tests\t{TIME} "),
    "GitLab": prefixed(f"{TIME} 00O "),
    "logging": prefixed("2026-11-28 09:05:03,123 ERROR "),
    "basic logging": prefixed("ERROR:root:"),
    "rich": prefixed("[11/28/26 09:05:03] ERROR    "),
    "syslog": prefixed("Nov  8 09:05:03 "),
    "a group of exceptions": prefixed("  | "),
    "several at once": prefixed(f"{TIME} [rank0]: E   > "),
}


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_message_is_known_in_each_disguise(disguise, every):
    """By day a disguise has so many messages apart, each another share of them."""
    first = [*DISGUISES].index(disguise) % every
    for message, diagnosis in [*of_messages()][first::every]:
        assert diagnose(DISGUISES[disguise](message)) == diagnosis, message


@pytest.mark.parametrize("entity", ["&#1114111;", "&#1114112;", "&#x110000;", "&unknown;"])
def test_an_entity_is_read_only_if_it_is_a_character(entity):
    diagnosis = diagnose(f"ValueError: step must be greater than zero {entity}")
    assert diagnosis.title == "a slice that runs backwards"


def test_a_terminal_leaves_no_trace_in_a_message():
    """It sets a title, clears a line, links a word, and hides places where a line may break."""
    text = "\x1b]0;python a.py\x07\x1b[2Kstep\u200b must \x1b]8;;http://a/\x1b\\be\x1b]8;;\x1b\\ greater"
    assert diagnose(f"{text}&#32;than&#x20;zero").title == BACKWARDS


def test_a_comma_between_thousands_is_no_end_of_a_number():
    products = "mat1 and mat2 shapes cannot be multiplied"
    arrays = "operands could not be broadcast together with shapes"
    for text, means in {
        "shape '[5, 1,024]' is invalid for input of size 1,234,567": "5120 elements, and there are 1234567",
        "shape '[1,024]' is invalid for input of size 3": "shape (1024,) has 1024 elements",
        f"{products} (1,024x768 and 512x1,024)": "have 768 elements, the columns of mat2 have 512",
        f"{arrays} (2,100) (3,100) ": "in dim 0 of the result sizes 2 and 3 meet",
    }.items():
        assert means in lines_of(text)["means"]


def view():
    return z(4, 6).t().view(24)


def raise_after_view(error, how):
    """Raise an error from that of a failed view, while handling it, or from None."""
    try:
        view()
    except RuntimeError as inner:
        if how == "from":
            raise error from inner
        if how == "from None":
            raise error from None
        raise error  # noqa: B904


@pytest.mark.parametrize("how", ["from", "while handling"])
def test_an_error_that_was_raised_comes_before_those_that_led_to_it(how):
    error = raised(lambda: raise_after_view(ValueError("step must be greater than zero"), how))
    assert diagnose(error).title == BACKWARDS and "raised" not in lines_of(error)
    assert lines_of(error)["others"].startswith("2 messages")
    error = raised(lambda: raise_after_view(KeyError("a"), how))
    assert diagnose(error).title == ROWS[0].title
    assert lines_of(error)["raised"] == (
        "the error after this message is not known here, and this message led to it: KeyError: 'a'"
    )


def test_a_later_error_that_is_not_known_is_named():
    log = "ValueError: step must be greater than zero\nTraceback:\n  f()\nKeyError: 'a'\n"
    assert lines_of(log)["raised"] == (
        "an error after this message is not known here: KeyError: 'a'"
    )
    assert "raised" not in lines_of("\n".join(reversed(log.splitlines())))


def test_an_error_that_was_raised_from_none_hides_the_one_before():
    assert diagnose(raised(lambda: raise_after_view(KeyError("a"), "from None"))).title == UNKNOWN


def test_the_errors_of_a_group_are_read():
    of_slice = raised(lambda: z(4)[::-1])
    of_view = raised(view)
    for errors, title in (([of_slice, of_view], ROWS[0].title), ([of_view, of_slice], BACKWARDS)):
        group = ExceptionGroup("a", [ValueError("b"), *errors])
        assert diagnose(group).title == title and "others" in lines_of(group)
    nested = ExceptionGroup("a", [ExceptionGroup("b", [of_slice]), KeyError("c")])
    assert diagnose(nested).title == BACKWARDS


def test_a_ring_of_errors_ends():
    first = KeyError("a")
    second = KeyError("b")
    first.__cause__ = second
    second.__cause__ = first
    assert diagnose(first).title == UNKNOWN


def test_grouped_heads_are_known_by_their_number_or_by_the_call():
    q = z(1, 8, 5, 16)
    k = z(1, 2, 5, 16)
    error = raised(lambda: sdpa(q, k, k))
    assert lines_of(error)["cure"] == "scaled_dot_product_attention(..., enable_gqa=True)"
    sdpa(q, k, k, enable_gqa=True)
    assert "which needs enable_gqa=True" in lines_of(str(error))["cause"]
    assert "enable_gqa" not in str(diagnose(raised(lambda: z(2, 8, 3) + z(2, 3, 3))))
    assert "enable_gqa" not in str(diagnose(raised(lambda: z(8, 3) + z(2, 3))))


class Silent(Exception):
    """Fails when it is printed."""

    def __str__(self):
        raise ValueError


UNKNOWN_ERRORS = [
    "",
    "KeyError: 'a'",
    "x" * 10**6,
    "list index out of range",
    KeyError("a"),
    Silent(),
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "expected scalar type Half but found Float",
    f"shape '[5]' is invalid for input of size {'7' * 5000}",
    "element 0 of tensors does not require grad and does not have a grad_fn",
]


@pytest.mark.parametrize("error", UNKNOWN_ERRORS, ids=lambda error: str(type(error)))
def test_an_error_that_is_not_about_layouts_stays_unknown(error):
    diagnosis = diagnose(error)
    assert diagnosis.title == UNKNOWN
    assert f"{len(FAMILIES)} kinds of messages" in str(diagnosis) and len(str(diagnosis)) < 600


def raise_far_inside(depth, error):
    if depth:
        raise_far_inside(depth - 1, error)
    raise error


def test_an_unknown_error_quotes_its_message():
    error = raised(lambda: raise_far_inside(9, KeyError("a" * 300)))
    quoted = f"KeyError: '{'a' * 189} …"
    assert lines_of(error)["message"] == quoted
    pasted = "".join(traceback.format_exception(error))
    assert lines_of(f"step 1\n{pasted}")["message"] == quoted
    log = "step 1\n" * 99
    for text, message in {
        f"{log}a.py:3: UserWarning: slow\n  f()": "a.py:3: UserWarning: slow f()",
        f"{log}torch._dynamo.exc.Unsupported: a\nb": "torch._dynamo.exc.Unsupported: a b",
        f"{log}KeyboardInterrupt": "KeyboardInterrupt",
        f"{log}Killed": "Killed",
        "The kernel died.\nStart it again": "The kernel died. Start it again",
    }.items():
        assert lines_of(text)["message"] == message
    noted = KeyError("a")
    noted.add_note("b")
    assert lines_of(noted)["message"] == "KeyError: 'a' b"


NUMBERS = st.one_of(st.integers(-2, 9), st.integers(0, 2**64), st.just(10**5000))


@given(st.deferred(lambda: st.sampled_from(messages())), st.data())
def test_other_numbers_never_break_it(message, data):
    """Typing errors and other versions make them."""
    parts = []
    for part in re.split(r"(\d+)", message):
        if part.isdigit() and not data.draw(st.booleans()):
            part = f"{data.draw(NUMBERS):x}".replace("f", ", ")
        parts.append(part)
    lines = diagnose("".join(parts)).lines
    assert all(text for _, text in lines)
    assert not re.search(r"undefined|NaN|Infinity", str(lines[1:]))


@pytest.mark.parametrize("size", [2**53 - 1, 2**53, 10**18])
def test_numbers_are_exact_or_left_out(size):
    means = lines_of(f"shape '[2]' is invalid for input of size {size}").get("means", "")
    assert ("has 2 elements" in means) == (size < 2**53)


def test_no_pattern_looks_further_than_its_fields_are_long():
    assert not [source for source in script.PATTERNS if re.search(r"(?<!\\)[*+]|,\}", source)]


# Where errors come from ------------------------------------------------------------------------------


def turn_gradient(conv):
    conv.weight.register_hook(lambda grad: grad.as_strided(grad.shape, (4, 1, 4, 4)))


def turn_weight(conv):
    conv.weight.data = conv.weight.data.to(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("size", "turn", "harm"),
    [
        pytest.param(1, turn_gradient, "no: same addresses, harmless", id="1x1"),
        pytest.param(
            3, turn_weight, "in time: each step copies 288 elements in another order", id="3x3"
        ),
    ],
)
def test_a_gradient_in_another_order_than_its_bucket(size, turn, harm):
    """DistributedDataParallel itself warns."""

    def train():
        conv = torch.nn.Conv2d(4, 8, size, bias=False)
        model = torch.nn.parallel.DistributedDataParallel(conv)
        turn(conv)
        model(torch.rand(2, 4, 5, 5)).sum().backward()

    diagnosis = diagnose(raised(lambda: in_group(train)))
    assert diagnosis.title == diagnose(BUCKET).title and harm in str(diagnosis)


CUT_OFF = [
    "Grad strides do not match bucket view strides.",
    "Grad strides do not match bucket view strides. grad.sizes() = [3], strides() = [1, 1] "
    "bucket_view.sizes() = [3], strides() = [1]",
]


@pytest.mark.parametrize("text", CUT_OFF)
def test_numbers_that_are_cut_off_decide_nothing(text):
    assert lines_of(text)["harm"].startswith("at most in time: the strides at its end")


@pytest.mark.parametrize("name", ["last_exc", "last_value"])
def test_the_last_exception(name, monkeypatch):
    monkeypatch.delattr(sys, "last_exc", raising=False)
    monkeypatch.delattr(sys, "last_value", raising=False)
    with pytest.raises(ValueError, match="there is no last exception: pass an error"):
        diagnose()
    monkeypatch.setattr(sys, name, raised(view), raising=False)
    assert diagnose().title == ROWS[0].title
