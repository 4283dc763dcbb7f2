"""The questions of the drill against torch, and the state that follows from the answers."""

import itertools
import json
import re
import zlib
from collections import Counter
from datetime import date

import pytest
import torch

from stridekit import Drill, LayoutError
from stridekit._notebooks import lessons
from stridekit.exercises import progress
from stridekit.widgets import kept
from stridekit.widgets.drill import widget as drill_widget
from stridekit.widgets.engine import Script

drill = Script("drill/drill.js")
questions = Script("drill/questions.js")


def ask(kind, seed, *answers):
    return drill.question({"kind": kind, "seed": seed, "answers": [*answers], "said": None})


# What torch says ------------------------------------------------------------------------------------


def tensors_of(question):
    """Return the tensors of a question, made by its own code."""
    tensors = {"torch": torch}
    exec(question["setup"], tensors)
    return tensors


def answer_of(question, tensors):
    """Return the value of the question's experiment; None if torch refuses."""
    try:
        return eval(question["experiment"], tensors)
    except RuntimeError:
        return None


def is_right_value(text, tensors, value):
    return int(text) == value


def is_right_stride(text, tensors, value):
    return eval(text) == value


def is_right_contiguity(text, tensors, is_contiguous):
    """Judge "yes", and "no" with its reason, by tensors on which only the named number is another."""
    x = tensors["x"]
    if text == "yes":
        return is_contiguous
    if "storage" in text:  # its offset, or its size
        elsewhere = torch.empty(x.numel() * 99).as_strided(x.shape, x.stride(), 0)
        assert elsewhere.is_contiguous() == is_contiguous
        return False
    dim, stride, needed = map(int, re.findall(r"\d+", text))
    assert x.stride(dim) == stride != needed
    row = x[tuple(slice(None) if d >= dim else 0 for d in range(x.ndim))]
    return (
        not is_contiguous
        and row.size(0) > 1
        and torch.empty(x.shape).stride(dim) == needed
        and not row.is_contiguous()
    )


def is_right_view(text, tensors, stride):
    x = tensors["x"]
    if text.startswith("yes"):
        return stride == eval(text.split("`")[1])
    if stride is not None:
        return False
    if "merge" in text:
        dims = [*map(int, re.findall(r"\d+", text))]
        pair = x[tuple(slice(None) if d in dims else 0 for d in range(x.ndim))]
        return not can_be_flat(pair)
    assert "number of elements" in text or "storage_offset" in text
    return False


def can_be_flat(x):
    try:
        x.view(-1)
    except RuntimeError:
        return False
    return True


def is_right_format(text, tensors, formats):
    names = {
        (True, False): "contiguous",
        (False, True): "channels_last",
        (True, True): "both",
        (False, False): "neither",
    }
    return text == names[tuple(formats)]


JUDGES = {
    "address": is_right_value,
    "strides": is_right_stride,
    "contiguous": is_right_contiguity,
    "view": is_right_view,
    "share": is_right_value,
    "format": is_right_format,
    "lines": is_right_value,
}


def assert_one_choice_is_torchs(question):
    """torch agrees with one choice alone, which is the right one; the others show known mistakes."""
    tensors = tensors_of(question)
    value = answer_of(question, tensors)
    judge = JUDGES[question["kind"]]
    texts = [choice["text"] for choice in question["choices"]]
    right = [k for k, text in enumerate(texts) if judge(text, tensors, value)]
    assert right == [question["right"]], question
    assert len({*texts}) == 4, question
    mistakes = [choice["mistake"] for choice in question["choices"]]
    assert mistakes.pop(question["right"]) == ""
    assert question["focus"] in mistakes
    assert {*mistakes} <= {*questions.MISTAKES[question["kind"]]}
    assert all(choice["remark"] for choice in question["choices"] if choice["mistake"])


def assert_picture_is_torchs(question):
    """Each grid has the elements of a tensor, and the tints say which elements are reached."""
    reached = set()
    for grid in question["picture"]["grids"]:
        layout = grid["layout"]
        numbers = [layout[name] for name in ("shape", "stride", "storage_offset")]
        reached |= {*torch.arange(9999).as_strided(*numbers).flatten().tolist()}
    tones = question["picture"]["tones"]
    assert {k for k, tone in enumerate(tones) if tone is not None} == reached


def assert_many_are_torchs(count):
    for kind in questions.KINDS:
        foci = Counter()
        for seed in range(count):
            answers = [] if seed % 4 == 0 else right(kind)  # the first questions are easy
            question = ask(kind, seed, *answers)
            assert_one_choice_is_torchs(question)
            assert_picture_is_torchs(question)
            foci[question["focus"]] += 1
        if count >= 100:
            assert {*foci} == {*questions.MISTAKES[kind]}, kind


def test_one_choice_is_right_and_torch_says_so():
    assert_many_are_torchs(100)


@pytest.mark.long
def test_one_choice_is_right_in_20_000_questions():
    assert_many_are_torchs(20_000 // 7 + 1)


# What a wrong choice shows ---------------------------------------------------------------------------


def address_mistakes(question, names):
    """Return the byte at which each mistake looks for the element, worked out by torch."""
    x = names["x"]
    shape, stride, start = x.shape, x.stride(), x.storage_offset()
    name = question["experiment"].partition(".")[0]
    element = eval(name, names)
    rest = element.storage_offset() - start
    in_storage = torch.arange(10**4)
    by_rows = torch.empty(shape).stride()
    places = {
        "packed by rows": in_storage.as_strided(shape, by_rows, start),
        "strides in reverse": in_storage.as_strided(shape, stride[::-1], start),
    }
    found = {key: int(eval(name, {"x": t})) * x.itemsize for key, t in places.items()}
    return found | {
        "without the offset": rest * x.itemsize,
        "in elements": start + rest,
        "offset in bytes": start + rest * x.itemsize,
    }


def lines_mistakes(question, names):
    """Return the number of cache lines that each mistake counts."""
    x = names["x"]
    elements = sorted(x.flatten().int().tolist())
    per_line = 64 // x.itemsize
    first, last = elements[0], elements[-1]
    return {
        "bytes of the elements": -(-x.nbytes // 64),
        "a line for each element": x.numel(),
        "the whole range": last // per_line - first // per_line + 1,
        "without the offset": len({(k - x.storage_offset()) // per_line for k in elements}),
        "64 elements": len({k // 64 for k in elements}),
    }


def share_mistakes(question, names):
    """Return the bytes that each mistake takes to be shared."""
    y, z, size = names["y"], names["z"], names["x"].itemsize
    ranges = [range(int(t.min()), int(t.max()) + 1) for t in (y, z)]
    overlap = len({*ranges[0]} & {*ranges[1]})
    both = len({*y.flatten().tolist()} & {*z.flatten().tolist()})
    return {
        "another start": 0 if y.data_ptr() != z.data_ptr() else both * size,
        "ranges that overlap": overlap * size,
        "one storage": min(y.numel(), z.numel()) * size,
        "in elements": both or overlap,
    }


def strides_mistakes(question, names):
    """Return the strides that some of the mistakes give."""
    x = names["x"]
    result = eval(question["experiment"].removesuffix(".stride()"), names)
    stride = result.stride()
    mistakes = {
        "packed by rows": torch.empty(result.shape).stride(),
        "in bytes": tuple(step * x.itemsize for step in stride),
        "in reverse": stride[::-1],
    }
    if order := re.search(r"\.permute\((.*?)\)", question["experiment"]):
        dims = [*map(int, order[1].split(","))]
        mistakes["inverse permutation"] = x.permute([dims.index(d) for d in range(3)]).stride()
    return mistakes


MISTAKEN = {
    "address": address_mistakes,
    "lines": lines_mistakes,
    "share": share_mistakes,
    "strides": strides_mistakes,
}


@pytest.mark.parametrize("kind", MISTAKEN)
def test_a_wrong_choice_is_what_its_mistake_gives(kind):
    seen = set()
    for seed in range(60):
        question = ask(kind, seed, *right(kind))
        mistakes = MISTAKEN[kind](question, tensors_of(question))
        for choice in question["choices"]:
            if choice["mistake"] in mistakes:
                seen.add(choice["mistake"])
                assert eval(choice["text"]) == mistakes[choice["mistake"]], (choice, question)
    assert len(seen) >= 4


def test_mistaken_formats_are_told_apart():
    """The remark on "both" or "neither" depends on the layout."""
    for seed in range(100):
        question = ask("format", seed, *right("format"))
        x = tensors_of(question)["x"]
        texts = [choice["text"] for choice in question["choices"]]
        assert texts == ["contiguous", "channels_last", "both", "neither"]
        mistakes = {choice["text"]: choice["mistake"] for choice in question["choices"]}
        is_dense = x.numel() == 1 + sum(
            (n - 1) * step for n, step in zip(x.shape, x.stride(), strict=True)
        )
        if mistakes["both"]:
            assert mistakes["both"] == ("any dense tensor" if is_dense else "order without packing")
        if mistakes["neither"] and mistakes["both"]:
            expected = "size-1 dim" if 1 in x.shape else "order of the shape"
            assert mistakes["neither"] == expected
        if not mistakes["both"]:
            assert mistakes["contiguous"] == mistakes["channels_last"] == "one format only"


def test_a_mistaken_stride_or_layout_of_a_contiguous_tensor_is_named_rightly():
    names = {*questions.MISTAKES["contiguous"]} - {"has an offset", "larger storage"}
    for seed in range(100):
        question = ask("contiguous", seed, *right("contiguous"))
        x = tensors_of(question)["x"]
        for choice in question["choices"]:
            mistake = choice["mistake"]
            if mistake in ("next size alone", "own size", "size-1 dim"):
                dim, _, needed = map(int, re.findall(r"\d+", choice["text"]))
                sizes = {"next size alone": [*x.shape[1:], 1][dim], "own size": x.size(dim)}
                assert needed == sizes.get(mistake, needed)
                assert (x.size(dim) == 1) == (mistake == "size-1 dim")
                names.discard(mistake)
            if choice["text"] == "yes" and choice["mistake"]:
                steps = x.stride()
                falls = [*steps] == sorted(steps, reverse=True)
                reached = 1 + sum((n - 1) * s for n, s in zip(x.shape, steps, strict=True))
                if x.numel() == reached:
                    assert choice["mistake"] == "without holes"
                else:
                    assert choice["mistake"] == ("strides that fall" if falls else "any view")
                names -= {choice["mistake"]}
    assert names == set()


def assert_format_is_torchs(sentence, x, memory_format, is_in):
    """A sentence goes through the dims that count, up to the first whose stride is another."""
    needed = torch.empty(x.shape, memory_format=memory_format).stride()
    steps = re.findall(r"([NCHW]) has stride (\d+)(?: and needs (\d+))?", sentence)
    dims = ["NCHW".index(name) for name, _, _ in steps]
    for d, (_, stride, wanted) in zip(dims, steps, strict=True):
        assert (x.stride(d), needed[d]) == (int(stride), int(wanted or stride))
    assert len({*dims}) == len(dims) and sentence.endswith("so yes." if is_in else "so no.")
    if is_in:
        assert {*dims} == {d for d in range(4) if x.size(d) > 1}


TINTS = 6  # in the palette


def row_of_tint(question, names):
    """Return the tensor of a picture, and how many of its elements in reading order share a tint."""
    x = names["x"]
    if question["kind"] == "strides":
        result = eval(question["experiment"].removesuffix(".stride()"), names)
        if "contiguous" in question["experiment"]:
            result = torch.arange(result.numel()).view(result.shape)
        return result, result.size(-1)
    if question["kind"] == "format":
        return x, x.size(2) * x.size(3)
    if question["kind"] == "view":
        return x, int(re.search(r"(\d+),?\)\.stride", question["experiment"])[1])
    return x, x.size(-1)


@pytest.mark.parametrize("kind", [kind for kind in questions.KINDS if kind != "share"])
def test_a_tint_of_a_picture_is_a_row_of_the_tensor_or_of_the_wanted_shape(kind):
    for seed in range(40):
        question = ask(kind, seed, *right(kind))
        shown, count = row_of_tint(question, tensors_of(question))
        tones = {}
        for flat, element in enumerate(shown.flatten().int().tolist()):
            channels = shown.size(1) if kind == "format" else TINTS
            tones.setdefault(element, flat // count % channels % TINTS)
        drawn = question["picture"]["tones"]
        assert {k: tone for k, tone in enumerate(drawn) if tone is not None} == tones


def test_the_tints_of_shared_bytes_say_who_reaches_them():
    for seed in range(40):
        question = ask("share", seed, *right("share"))
        names = tensors_of(question)
        y, z = ({*map(int, names[name].flatten())} for name in "yz")
        wanted = {k: 5 if k in y & z else 0 if k in y else 1 for k in y | z}
        drawn = question["picture"]["tones"]
        assert {k: tone for k, tone in enumerate(drawn) if tone is not None} == wanted


def test_a_picture_of_strides_is_that_of_the_view_or_of_the_copy():
    for seed in range(30):
        question = ask("strides", seed, *right("strides"))
        result = question["experiment"].removesuffix(".stride()")
        stride = answer_of(question, tensors_of(question))
        picture = question["picture"]
        if "contiguous" in result:
            assert picture["grids"][0]["name"] == "copy" and "The copy" in picture["caption"]
        else:
            assert picture["grids"][0]["name"] == result
            steps = re.findall(r"along dim (\d) leads (\d+) further", picture["caption"])
            assert [(int(d), int(step)) for d, step in steps] == [*enumerate(stride)]


@pytest.mark.parametrize("kind", questions.KINDS)
def test_an_explanation_has_the_numbers_of_torch(kind):
    for seed in range(40):
        question = ask(kind, seed, *right(kind))
        names = tensors_of(question)
        x, why = names["x"], question["why"]
        answer = question["choices"][question["right"]]["text"]
        if kind == "address":
            assert f"so that it begins at byte {answer_of(question, names) // x.itemsize} · " in why
        elif kind == "share":
            y, z = names["y"], names["z"]
            both = len({*y.flatten().tolist()} & {*z.flatten().tolist()})
            elements = "1 element" if y.numel() == 1 else f"{y.numel()} elements"
            assert why.startswith(f"`y` reaches {elements} and `z` reaches {z.numel()}, with ")
            assert f": {both} · {x.itemsize} = {answer} bytes." in why
        elif kind == "lines":
            lines = sorted({int(k) * x.itemsize // 64 for k in x.flatten()})
            assert why.endswith(
                f" lie in lines {', '.join(map(str, lines))}: that is {len(lines)}."
            )
        elif kind == "contiguous":
            needed = torch.empty(x.shape).stride()
            for d in range(x.ndim):
                assert f"dim {d} of size {x.size(d)} needs {needed[d]}" in why
            verdict = answer.removeprefix("no: ").capitalize()
            yes = "Each stride is the needed one, and dims of size 1 do not count"
            assert why.endswith(f" {yes if answer == 'yes' else verdict}.")
        elif kind == "format":
            is_rows, is_channels = answer_of(question, names)
            rows, channels = why.split(" channels_last, ")
            assert_format_is_torchs(rows, x, torch.contiguous_format, is_rows)
            assert_format_is_torchs(channels, x, torch.channels_last, is_channels)
        elif kind == "strides" or answer.startswith("yes"):
            assert f"`{answer_of(question, names)}`." in why
        else:
            pair = re.search(r"dims (\d) and (\d)", answer)
            assert why.startswith(f"Dims {pair[1]} and {pair[2]} do not merge (stride ")


# Checksums of the numbers that seeds draw. Teachers name seeds, so a change has to be meant.
DRAWN = {
    "address": 258737615,
    "strides": 1393442245,
    "contiguous": 3202763738,
    "view": 2723214550,
    "share": 3086426875,
    "format": 3637473189,
    "lines": 4028125365,
}


@pytest.mark.parametrize("kind", questions.KINDS)
def test_a_seed_draws_the_same_numbers_as_before(kind):
    drawn = []
    for seed in range(60):
        question = ask(kind, seed, *right(kind))
        drawn += [question["setup"], question["experiment"]]
        for choice in question["choices"]:
            drawn += [choice["mistake"], *re.findall(r"\d+", choice["text"])]
    assert zlib.crc32(json.dumps(drawn).encode()) == DRAWN[kind]


# What comes next ------------------------------------------------------------------------------------

TODAY = "2026-11-29"
YESTERDAY = "2026-11-28"
EARLIER = "2026-11-27"
OFFSET = "without the offset"


def asked_after(answers, before=(), kind="mixed"):
    """Return kind and focus of the question after some answers, over 20 seeds."""
    seen = set()
    for seed in range(20):
        state = {"kind": kind, "seed": seed, "answers": answers, "said": None}
        question = drill.question(state, {"today": TODAY, "answers": [*before]})
        seen.add((question["kind"], question["focus"]))
    return seen


def right(*kinds):
    """Return right answers to questions about the first mistake of each kind."""
    return [[kind, questions.MISTAKES[kind][0], ""] for kind in kinds]


WRONG = ["address", "in elements", OFFSET]
OTHERS = ("view", "share", "format")


def test_a_mistake_comes_back_after_a_few_other_questions():
    for count in range(3):
        assert len(asked_after([WRONG, *right(*OTHERS[:count])])) > 1
    assert asked_after([WRONG, *right(*OTHERS)]) == {("address", OFFSET)}
    assert asked_after([WRONG, *right(*OTHERS, "lines")]) == {("address", OFFSET)}


def test_a_mistake_waits_for_its_kind():
    answers = [WRONG, *right(*OTHERS)]
    assert {kind for kind, _ in asked_after(answers, kind="view")} == {"view"}
    assert asked_after(answers, kind="address") == {("address", OFFSET)}


def test_a_right_answer_mends_a_mistake_and_a_wrong_one_does_not():
    back = ["address", OFFSET, ""]
    assert len(asked_after([WRONG, *right(*OTHERS), back, *right(*OTHERS)])) > 1
    again = ["address", OFFSET, "in elements"]
    assert len(asked_after([WRONG, *right(*OTHERS), again])) > 1
    # The mistake that waits longest comes first.
    after = [WRONG, *right(*OTHERS), again, *right(*OTHERS)]
    assert asked_after(after) <= {("address", OFFSET), ("address", "in elements")}
    assert len(asked_after(after)) == 1


def test_a_mended_mistake_comes_once_more_on_another_day():
    back = ["address", OFFSET, ""]
    before = [[*WRONG, YESTERDAY], [*back, YESTERDAY]]
    assert asked_after([], before) == {("address", OFFSET)}
    assert len(asked_after([back], before)) > 1
    assert len(asked_after([], [[*WRONG, TODAY], [*back, TODAY]])) > 1
    assert len(asked_after([], [[*WRONG, EARLIER], [*back, YESTERDAY]])) > 1


def test_kinds_that_go_wrong_come_up_more_often():
    wrong = [["view", "even steps", "packed by rows"], ["view", "packed by rows", ""]] * 2
    counts = Counter()
    for seed in range(300):
        state = {"kind": "mixed", "seed": seed, "answers": [*wrong, *right("address") * 20]}
        state["answers"] += [["view", "even steps", ""], ["view", "packed by rows", ""]]
        counts[drill.question({**state, "said": None})["kind"]] += 1
    assert counts["view"] > 1.5 * counts["address"] > 0
    assert counts["strides"] > 1.5 * counts["address"]  # which was never asked


def test_streak_and_shares_go_on_from_the_record():
    state = {"kind": "mixed", "seed": 0, "answers": right("view", "address"), "said": None}
    before = {"today": TODAY, "answers": []}
    before["answers"] = [[*answer, YESTERDAY] for answer in right(*OTHERS)]
    before["answers"] += [[*WRONG, YESTERDAY], ["gone", "x", "y", YESTERDAY]]
    assert drill.streak(state, before) == {"now": 2, "best": 3}
    assert drill.shares(state, before) == {
        "address": [1, 2],
        "view": [2, 2],
        "share": [1, 1],
        "format": [1, 1],
    }


def test_a_mixed_drill_begins_with_the_first_lesson_and_opens_the_next_kinds_one_by_one():
    assert kinds_after([]) == {"address"}
    assert kinds_after(right("address")) == {"address", "strides"}
    assert kinds_after(right("address", "strides")) == {"address", "strides", "share"}
    everything = right("address", "strides", "share", "contiguous", "view", "format")
    assert kinds_after(everything) == {*questions.KINDS}


def test_addresses_begin_with_small_matrices_until_one_is_right():
    wrong = ["address", OFFSET, "in elements"]
    for seed in range(30):
        for answers in ([], [wrong]):
            layout = ask("address", seed, *answers)["picture"]["grids"][0]["layout"]
            assert len(layout["shape"]) == 2 and torch.Size(layout["shape"]).numel() <= 20
    layouts = [ask("address", seed, *right("address"))["picture"]["grids"][0] for seed in range(30)]
    assert {len(grid["layout"]["shape"]) for grid in layouts} == {2, 3}


def test_a_kind_that_goes_wrong_three_times_does_not_keep_the_next_one_closed():
    for count, kinds in ((2, {"address"}), (3, {"address", "strides"})):
        # Another mistake in focus, and none to ask about again.
        wrong = [["address", OFFSET, OFFSET]] * count
        assert kinds_after(wrong) == kinds, count


def test_a_kind_that_was_asked_stays_open_and_a_chosen_kind_is_always_open():
    assert kinds_after(right("lines")) == {"address", "lines"}
    assert {kind for kind, _ in asked_after([], kind="lines")} == {"lines"}


def kinds_after(answers):
    return {kind for kind, _ in asked_after(answers)}


def test_equal_seeds_ask_equal_questions_and_others_do_not():
    texts = [[ask("view", seed)["text"] for seed in range(50)] for _ in range(2)]
    assert texts[0] == texts[1]
    assert len({*texts[0]}) == 50


# The widget -----------------------------------------------------------------------------------------


def answer_on_a_page(widget, number):
    """Change a widget as its page does."""
    state = drill.answer(widget._state, widget._before, number - 1)
    widget.set_state({"_state": state})


@pytest.fixture
def record(monkeypatch, tmp_path):
    path = tmp_path / kept.FOLDER / kept.RECORD
    monkeypatch.setattr(kept, "path", lambda: path)
    monkeypatch.setattr(kept, "today", lambda: date(2026, 11, 28))
    return path


def test_answers_on_a_page_are_on_record_and_the_next_drill_goes_on(record, monkeypatch):
    first = Drill("address", seed=1)
    answer_on_a_page(first, 2)
    first.next()
    answer_on_a_page(first, first._asked["right"] + 1)
    focus = first._asked["focus"]
    assert kept.record() == [
        {"drill": "address", "asked": "strides in reverse", "mistake": "in elements"},
        {"drill": "address", "asked": focus, "mistake": ""},
    ]
    monkeypatch.setattr(drill_widget, "_drills_made", itertools.count())
    second = Drill("address")
    assert (second.shares, second.streak) == ({"address": (1, 2)}, 1)
    assert second._state["seed"] == 2
    assert Drill("address").question != second.question
    assert second._before["answers"] == [
        ["address", "strides in reverse", "in elements", "2026-11-28"],
        ["address", focus, "", "2026-11-28"],
    ]
    # The same answer counts each time.
    answer_on_a_page(Drill("address", seed=1), 2)
    assert len(kept.record()) == 3


def test_answers_in_python_are_not_on_record(record):
    w = Drill("address", seed=1)
    assert w.answer(3) and w.streak == 1
    with pytest.raises(LayoutError, match="this question is answered: go on to the next one"):
        w.answer(1)
    w.next()
    with pytest.raises(LayoutError, match="there is no choice 4: give 0 to 3"):
        w.answer(5)
    assert not record.exists()


def test_a_record_that_cannot_be_read_is_told_and_the_drill_works(record):
    record.parent.mkdir()
    record.mkdir()
    w = Drill("address", seed=1)
    assert w._trouble.startswith("Your record cannot be read: record.jsonl is no regular file.")
    assert w.answer(3)


def test_each_lesson_that_a_question_names_has_that_section():
    for kind in questions.KINDS:
        file, section = ask(kind, 0)["lesson"]
        assert re.search(
            rf'"#+ {re.escape(section)}(\\n)?"', lessons()[f"{file}.ipynb"].decode()
        ), kind


def test_progress_has_a_row_and_a_sentence_about_the_drill(record):
    answers = [*right("view", "address", "view"), WRONG, *right("view")]
    for kind, asked, mistake in answers:
        kept.note(drill=kind, asked=asked, mistake=mistake)
    shown = progress()
    assert shown.rows[-1] == ("", ("Drill", "", "address", "5", "4"))
    words = "Right in `Drill()`: address 1 of 2, view 3 of 3; the best streak is 3."
    assert shown.note.startswith(words)
    kept.note(drill="gone", asked="x", mistake="")  # of another version of stridekit
    assert progress().note.startswith(words)
