"""Which outputs get a still, with which words, and when two pictures show the same."""

import base64
import io

import pytest
from nbformat import v4
from PIL import Image

import stills
from stridekit.lessons.notebook import WIDGET_VIEW, NotebookError
from stridekit.lessons.plots import ON_WHITE
from stridekit.widgets import Predict, StrideExplorer
from stridekit.widgets.offline import Offline


def encoded(image):
    """Return a picture in base64."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def grey(shade, width=480, height=240):
    return Image.new("RGB", (width, height), (shade, shade, shade))


@pytest.mark.parametrize(("shade", "is_same"), [(100, True), (125, True), (75, True), (126, False)])
def test_pictures_are_the_same_but_for_rounding(shade, is_same):
    assert stills.looks_same(encoded(grey(100)), encoded(grey(shade))) == is_same
    dotted = grey(100)
    dotted.putpixel((3, 5), (100, shade, 100))  # in one channel of one pixel
    assert stills.looks_same(encoded(grey(100)), encoded(dotted)) == is_same


def test_pictures_of_two_sizes_are_never_the_same():
    assert not stills.looks_same(encoded(grey(100)), encoded(grey(100, 481)))
    assert not stills.looks_same(encoded(grey(100)), encoded(grey(100, 480, 241)))


@pytest.mark.parametrize(
    ("shade", "is_alike"), [(148, True), (52, True), (149, False), (51, False)]
)
def test_pictures_are_alike_if_their_shades_are_near_from_afar(shade, is_alike):
    assert stills.looks_alike(encoded(grey(100)), encoded(grey(shade))) == is_alike


@pytest.mark.parametrize(
    ("height", "is_alike"), [(219, True), (218, False), (266, True), (267, False)]
)
def test_pictures_are_alike_if_their_heights_are(height, is_alike):
    """By a tenth of the second one."""
    assert stills.looks_alike(encoded(grey(100)), encoded(grey(100, 480, height))) == is_alike


def test_a_letter_more_does_not_count_from_afar_and_a_block_does():
    """In a picture of 480 by 240 px, a block has 10 by 24 px."""
    for height, is_alike in ((4, True), (24, False)):
        changed = grey(255)
        changed.paste((0, 0, 0), (100, 48, 110, 48 + height))
        assert stills.looks_alike(encoded(grey(255)), encoded(changed)) == is_alike
    coloured = Image.new("RGB", (480, 240), (100, 100, 160))
    assert stills.looks_alike(encoded(grey(100)), encoded(coloured))  # only light and dark count
    low = grey(255, 480, 20)  # not as high as a block
    assert stills.looks_alike(encoded(low), encoded(low))
    assert not stills.looks_alike(encoded(low), encoded(grey(0, 480, 20)))
    halves = grey(255, 480, 20)
    halves.paste((0, 0, 0), (0, 0, 480, 10))
    assert stills.looks_alike(encoded(halves), encoded(grey(128, 480, 20)))


# Outputs ---------------------------------------------------------------------------------------------


@pytest.fixture
def states():
    """The states of the models of a run by their ids: an explorer, a card, and a slider of others."""
    found = {}
    for widget in (StrideExplorer(), Predict("What is `1 + 1`?", 2)):
        for model in (widget, widget._code):
            found[model.model_id] = model.get_state()
    return found


def output_of(key, text="An explorer\nof two lines", **data):
    mime = {WIDGET_VIEW: {"model_id": key}} if key else {}
    return v4.new_output("display_data", {"text/plain": text} | mime | data)


@pytest.fixture
def drawn(monkeypatch):
    """The widgets whose pictures were taken; the pictures are their numbers."""
    widgets = []

    def pictures(shown):
        widgets.extend(shown)
        return [str(number) for number, _ in enumerate(shown)]

    monkeypatch.setattr(stills, "_pictures", pictures)
    monkeypatch.setattr(stills, "find_chromium", lambda: "/chromium")
    return widgets


def ids_of(states):
    return [key for key, state in states.items() if "_code" in state]


def test_each_widget_of_stridekit_gets_a_still_with_words(states, drawn):
    explorer, card = ids_of(states)
    outputs = [
        output_of(""),
        output_of(explorer),
        output_of("of a slider"),
        output_of(card, "Predict: What is"),
        v4.new_output("stream", text="printed"),
        output_of(explorer, **{"text/html": "a report"}),
    ]
    stills.take_stills(iter(outputs), states)
    shown = [output for output in outputs if "image/png" in output.get("data", {})]
    assert shown == [outputs[1], outputs[3]]
    assert [output.data["image/png"] for output in shown] == ["0", "1"]
    assert [widget.state["_state"] for widget in drawn] == [
        Offline.of(key, states).state["_state"] for key in (explorer, card)
    ]
    for output, words in zip(shown, ("An explorer", "Predict: What is"), strict=True):
        about = {"width": 900, "alt": f"Still picture of {words}"}
        assert output.metadata == {"image/png": about, **ON_WHITE}


def test_without_a_widget_no_browser_is_needed(states, drawn, monkeypatch):
    monkeypatch.setattr(stills, "find_chromium", lambda: None)
    output = output_of("of a slider")
    stills.take_stills([output], states)
    assert drawn == [] and "image/png" not in output.data
    with pytest.raises(NotebookError, match="need Chromium, which was not found"):
        stills.take_stills([output_of(ids_of(states)[0])], states)


def test_the_ribbon_says_what_shift_and_enter_does(states):
    explorer, card = (Offline.of(key, states) for key in ids_of(states))
    assert stills.ribbon(explorer) == "▶ Shift+Enter to play"
    assert stills.ribbon(card) == "▶ Shift+Enter to answer"


def test_a_screenshot_is_stored_with_few_colours():
    gradient = Image.linear_gradient("L").convert("RGB")
    shot = io.BytesIO()
    gradient.save(shot, "PNG")
    stored = Image.open(io.BytesIO(base64.b64decode(stills._small(shot.getvalue()))))
    assert (stored.size, stored.mode) == (gradient.size, "P")
    assert len(stored.getcolors()) == stills.COLOURS
    assert stills.looks_same(encoded(stored.convert("RGB")), encoded(gradient))
