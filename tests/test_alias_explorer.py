"""AliasExplorer without a browser: what lines do against torch, the state, the picture and the text."""

import base64
import copy
import json
import warnings

import pytest
import torch

from stridekit import Layout, LayoutError
from stridekit.widgets import AliasExplorer
from stridekit.widgets.alias_explorer.story import MAX_CELLS, Story
from tests import alias_cases

STORIES = json.loads(alias_cases.FILE.read_text(encoding="utf-8"))


def test_the_fixture_is_what_python_says():
    """Where this fails, look at the change, then `python -m tests.alias_cases`."""
    assert alias_cases.FILE.read_text(encoding="utf-8") == alias_cases.text()


def test_the_fixture_is_what_torch_does():
    """The same lines, run as they are by Python on int64: values, storages and refusals."""
    for story in STORIES:
        n = len(Story(story["shape"]).tapes[0])
        names = {"x": torch.arange(n).view(story["shape"]), "torch": torch}
        places = {"x": 0}
        for line in story["lines"]:
            if "error" in line:
                assert_refused(line, names)
                continue
            run(line["text"], names)
            places = {
                name: place for name, (place, *_) in line.get("tensors", {}).items()
            } or places
            for name, place in places.items():
                assert storage(names[name]) == line["tapes"][place], line
                for other, its in places.items():
                    one = (
                        names[name].untyped_storage()._cdata
                        == names[other].untyped_storage()._cdata
                    )
                    assert one == (place == its), line
            for name, (_, *numbers) in line.get("tensors", {}).items():
                x = names[name]
                assert numbers == [[*x.shape], [*x.stride()], x.storage_offset()], line


def storage(x):
    """All that lies on the storage of a tensor of int64."""
    return x.as_strided((x.untyped_storage().nbytes() // 8,), (1,), 0).tolist()


def run(text, names):
    """A line as a person types it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, names)


def assert_refused(line, names):
    """A refusal that quotes torch is torch's; one that says "does not refuse" is not."""
    text, error = line["text"], line["error"]
    tensors = {k: v for k, v in names.items() if isinstance(v, torch.Tensor)}
    scratch = copy.deepcopy(tensors) | {"torch": torch}
    if "torch refuses" in error:
        with pytest.raises(RuntimeError) as raised:
            run(text, scratch)
        assert str(raised.value) in error
    elif "does not refuse" in error:
        run(text, scratch)
    elif error.startswith(("cannot view", "cannot expand", "cannot reshape", "index", "dim ")):
        with pytest.raises((RuntimeError, IndexError, ValueError)):
            run(text, scratch)


def test_the_fixture_shows_every_kind():
    """Views, copies, writes, warnings, both refusals of torch, and what torch does not define."""
    lines = [line for story in STORIES for line in story["lines"]]
    errors = [line["error"] for line in lines if "error" in line]
    entries = [line["entry"] for line in lines if "entry" in line]
    kinds = [entry["kind"] for entry in entries]
    assert min(kinds.count(kind) for kind in ("view", "copy", "write")) > 80
    assert sum(bool(entry["warning"]) for entry in entries) > 10
    for words in ("more than one element", "some elements of the input", "does not refuse"):
        assert sum(words in error for error in errors) > 3, words
    said = " ".join(text for line in lines for text in line.get("relations", []))
    for words in ("lies inside", "have the same", "interleave", "one ends before", "of y's", "two storages",
                  "overlaps itself", "is empty"):  # fmt: skip
        assert words in said, words


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (["w = x"], "w is not one of x, y and z"),
        (["y = w[0]"], "w is not one of x, y and z"),
        (["y = z"], "z is not there yet"),
        (["y = x.view(5)"], "(5,) has 5 elements, the layout has 24"),
        (
            ["y = x.unfold(1, 3, 1).unfold(0, 2, 1).expand(2, -1, -1, -1, -1)"],
            f"144 elements in 5 dims: the picture holds {MAX_CELLS} in 4",
        ),
        (
            ["y = x.as_strided((2, 2), (20, 5))"],
            "would reach element 25, and the storage ends at 23",
        ),
        (["y = x.t(", "z = x"], "cannot read"),
        (["x.__class__"], "__class__ is not known here"),
        (["y = x[torch.arange(2)]"], "cannot read"),
        (["y = x.add_(1)"], "cannot read"),
        (["x.T += 3"], "cannot read"),
        (["x += 0.5"], "cannot read"),
        (["x = y = x"], "cannot read"),
        (["import os"], "cannot read"),
        (["x *= 99999"], "the boxes hold five digits"),
        (["y = x[:1].expand(3, -1)", "y += 1"], "more than one element of the written-to tensor"),
        (["x[1:] += x[:-1]"], "x[1:] and x[:-1] share 12 elements, and torch refuses"),
        (["x[:, 1:] += x[:, :-1]"], "depends on the order of visit. Use x[:, :-1].clone()"),
    ],
)
def test_what_cannot_be_shown_is_refused(steps, sentence):
    """With a sentence, and the picture stays as it was."""
    explorer = AliasExplorer()
    before = repr(explorer), explorer.values
    with pytest.raises(LayoutError) as raised:
        explorer.steps = steps
    assert sentence in str(raised.value)
    assert (repr(explorer), explorer.values) == before
    with pytest.raises(LayoutError):
        AliasExplorer((4, 6), steps)


def test_a_refused_line_leaves_the_story_as_it_was():
    """Also one that torch would have run."""
    story = Story((4, 6))
    with pytest.raises(LayoutError):
        story.run("x[:, 1:] += x[:, :-1]")
    assert story.tapes[0].tolist() == list(range(24)) and story.log == []


def test_steps_are_the_state():
    """They are read, set and added to; the tensors follow, and the front end is followed."""
    explorer = AliasExplorer((4, 6), ["y = x[1:, ::2]"])
    explorer.steps += ("y += 100",)
    assert explorer.steps == ("y = x[1:, ::2]", "y += 100")
    assert explorer.tensors == {"x": Layout((4, 6), itemsize=8), "y": Layout((3, 3), (6, 2), 6, 8)}
    x = torch.arange(24).view(4, 6)
    x[1:, ::2] += 100
    assert explorer.values == {"x": x.tolist(), "y": x[1:, ::2].tolist()}
    sent = []
    explorer.observe(lambda change: sent.append(change["new"]), "_scene")
    state = {"shape": [4, 6], "steps": ["y = x.t()"]}
    explorer.set_state({"_scene": state})
    assert explorer.steps == ("y = x.t()",) and sent == [state]
    with pytest.raises(LayoutError, match="steps are a sequence of lines"):
        explorer.steps = "y = x"
    with pytest.raises(LayoutError, match="z is not there: x, y are"):
        explorer.relation("z", "x")


def test_picture_and_text():
    """A PNG and a repr that are the same on every run, also of nothing and of 4 dims."""
    for steps in (
        [],
        ["y = x[:0]"],
        ["y = x.view(2, 2, 2, 3)", "z = y[0, 0, 0, 0]"],
        ["y = x.t().flatten()"],
    ):
        explorer = AliasExplorer((4, 6), steps)
        data, _ = explorer._repr_mimebundle_()
        again, _ = AliasExplorer((4, 6), steps)._repr_mimebundle_()
        assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
        assert data["image/png"] == again["image/png"] and data["text/plain"] == again["text/plain"]
        assert data["text/plain"].startswith("AliasExplorer: x = torch.arange(24).view(4, 6)")
