"""ReshapeStepper without a browser: its presets and its state. tests/course/live.py compares its walk."""

import re
from itertools import pairwise, product
from math import prod

import pytest
import torch

from stridekit import Layout, ReshapeStepper
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_json, layout_of
from stridekit.widgets.reshape_stepper.widget import script

fields = Script("reshape_stepper/fields.js")
figure = Script("reshape_stepper/figure.js")


@pytest.mark.parametrize("preset", script.PRESETS, ids=lambda preset: preset["name"])
def test_presets_are_the_views_they_name(preset):
    """The expression, run by torch, has the preset's layout, and its targets hold the elements."""
    x = eval(preset["expression"], {"torch": torch})
    assert Layout.of(x) == layout_of(preset["layout"])
    for target in preset["targets"]:
        x.reshape(target)


def test_most_presets_offer_views_and_refusals():
    only_views = []
    for k, preset in enumerate(script.PRESETS):
        layout = layout_of(preset["layout"])
        refusals = [target for target in preset["targets"] if layout.why_not_view(target)]
        assert len(refusals) < len(preset["targets"])
        if not refusals:
            only_views.append(k)
    assert only_views == [0, 3, 5]


def test_a_layout_that_is_a_preset_is_not_repeated():
    assert ReshapeStepper()._given == []
    assert ReshapeStepper(Layout((6, 4), (1, 6), 0, 4))._given == []


def test_ones_own_layout_is_the_first_to_choose():
    """Its targets merge each two neighbours, or all dims."""
    x = torch.arange(24.0).view(2, 3, 4).permute(1, 0, 2)
    (preset,) = ReshapeStepper(x)._given
    assert preset["name"] == "as given"
    assert preset["targets"] == [[6, 4], [3, 8], [24]]
    assert preset["layout"] == layout_json(Layout.of(x))
    assert Layout.of(eval(preset["expression"])) == Layout.of(x)


VIEW = """
  4. New dim 1 of size 1 takes nothing: any stride would do, torch gives it 12.
  5. New dim 0 of size 2 gets stride 12 · 1 = 12. 12 · 2 = 24 of 24: this chunk is used up.
  6. Every chunk is used up. The view has stride (12, 12, 1): nothing moves.
  .view(2, 1, 12): a view: the same elements, 0 bytes are copied
  .reshape(2, 1, 12): the same view: reshape copies only where there is none
  .contiguous().view(2, 1, 12): the same view: x is contiguous as it is"""
COPY = """
  .reshape(24): copies all 24 elements, 96 bytes, into a storage of its own
  .contiguous().view(24): does the same in two steps: the copy, then a view of it"""


@pytest.mark.parametrize(
    ("x", "target", "end"),
    [
        pytest.param(Layout((4, 6)), (2, 1, 12), VIEW, id="view"),
        pytest.param(Layout((4, 8), itemsize=4)[:, :6], (24,), COPY, id="copy"),
    ],
)
def test_the_repr_ends_with_the_last_steps_and_the_alternatives(x, target, end):
    assert str(ReshapeStepper(x, target)).endswith(end)


GIVEN = {"shape": [4, 6], "stride": [6, 1], "storage_offset": 3, "itemsize": 8}
FORMS = ["2, 12", " [2 12] ", "(-1, 12,)", "2 * 12", "torch.Size([2, 12])"]
REFUSALS = {
    "2 by 12": 'cannot read "2 by 12": write sizes, such as 2, -1',
    "2--1": 'cannot read "2--1": write sizes, such as 2, -1',
    "5, 5": "(5, 5) has 25 elements, the layout has 24",
    "5, -1": "24 elements do not divide into 5: no size fits the -1",
    "9007199254740993": "numbers beyond 9007199254740991 are not exact in a browser",
}


@pytest.mark.parametrize("text", FORMS)
def test_a_new_shape_is_read_as_a_person_writes_it(text):
    assert fields.readTarget(text, GIVEN) == [[2, 12], ""]


@pytest.mark.parametrize(("text", "reason"), REFUSALS.items())
def test_other_texts_are_refused_with_the_reason(text, reason):
    assert fields.readTarget(text, GIVEN) == [None, reason]


def test_a_row_of_the_tape_holds_whole_runs_of_the_largest_stride_that_fits():
    rows = [script.perRow({"stride": [8, 1]}, 40, width) for width in (900, 500, 250, 100, 10)]
    assert rows == [24, 16, 8, 3, 1]


def widths(old, fresh, width):
    """Return the widths of the new dims in the figure."""
    return [width for _, width in figure.spread(old, fresh, width)["fresh"]]


def test_sizes_of_1_leave_half_of_the_axis_for_the_others():
    *ones, last_but_one, last = widths([24], [1, 1, 1, 1, 1, 1, 2, 12], 500)
    assert len(ones) == 6
    assert last_but_one + last == 250
    assert last_but_one > 50


def test_each_of_many_dims_has_a_width():
    assert min(widths([2] * 6, [2, 2, 2, 1, 2, 2, 2, 1], 328)) > 40


LAYOUTS = [
    torch.arange(6).view(2, 3),
    torch.arange(6).view(3, 2).t(),
    torch.arange(12).view(3, 4)[:, :2],
    torch.arange(24).view(2, 3, 4)[:, :, ::2],
    torch.arange(24).view(2, 3, 4).permute(0, 2, 1),
    torch.arange(9)[3:].view(1, 6, 1),
    torch.arange(6).view(6, 1).expand(6, 2),
    torch.arange(8).view(2, 2, 2).transpose(0, 2),
    torch.arange(1).view(1, 1),
    torch.tensor(5),
]


def targets_of(numel):
    """Return all shapes of up to three dims with so many elements."""
    sizes = [size for size in range(1, numel + 1) if numel % size == 0]
    shapes = [shape for ndim in (1, 2, 3) for shape in product(sizes, repeat=ndim)]
    return [shape for shape in shapes if prod(shape) == numel]


def view_of(x, target):
    """Return torch's view; None if there is none."""
    try:
        return x.view(target)
    except RuntimeError:
        return None


@pytest.mark.parametrize("x", LAYOUTS, ids=lambda x: f"{(*x.shape,)}, {x.stride()}")
def test_each_sentence_has_the_numbers_of_torch(x):
    layout = layout_json(Layout.of(x))
    for target in targets_of(x.numel()):
        view = view_of(x, target)
        steps = script.stepsOf(layout, target)
        for step in steps:
            assert_true(step, x, target, view)
        verdict = steps[-1]["says"]
        if view is None:
            assert verdict.startswith("There is no such view: ")
        else:
            shown = "(" + ", ".join(map(str, view.stride())) + ("," if view.ndim == 1 else "") + ")"
            assert verdict == f"Every chunk is used up. The view has stride {shown}: nothing moves."
        names = {}
        state = layout | {"target": target, "step": 0, "flat": 0}
        exec(script.code(state, []), {"torch": torch}, names)
        assert names["x"].stride() == x.stride() and names["y"].shape == target
        method = "view" if view is not None else "reshape"
        assert f"y = x.{method}(" in script.code(state, [])


def assert_true(step, x, target, view):
    """Assert that the sentence on a step says what torch does."""
    says = step["says"]
    if found := re.search(r"Dim (\d+): stride (\d+) found, (\d+) · (\d+) = (\d+) needed", says):
        d, stride, count, gap, needed = map(int, found.groups())
        assert (stride, needed) == (x.stride(d), count * gap)
        end = next(e for e in range(d + 2, x.ndim + 1) if prod(x.shape[d + 1 : e]) == count)
        assert set(differences(elements_along(x, range(d + 1, end)))) <= {gap}
        merges = set(differences(elements_along(x, range(d, end)))) == {gap}
        assert ("It merges" in says) == merges == ("It does not merge" not in says)
    begun = "the chunk has|begins,|starts a chunk,"
    if chunk := re.search(rf"(?:{begun}) (\d+) (elements?)(?: in steps of (\d+))?\.$", says):
        count, gap = step["run"]
        assert int(chunk[1]) == count and (chunk[2] == "elements") == (count > 1)
        assert chunk[3] == (str(gap) if count > 1 else None)
    if taking := re.search(r"New dim (\d+) of size (\d+)", says):
        d = int(taking[1])
        assert int(taking[2]) == target[d]
        if step["part"] == "cut":
            count, _ = step["run"]
            assert count == prod(x.size(k) for k in step["dims"])
        stride = re.search(r"(?:gets stride (?:\d+ · \d+ = )?|torch gives it )(\d+)", says)
        if view is not None:
            assert int(stride[1]) == view.stride(d)
    for left, right, result in re.findall(r"(\d+) · (\d+) = (\d+)", says):
        assert int(left) * int(right) == int(result)


def elements_along(x, dims):
    """Return the elements of the storage along some dims, in row-major order, from index 0."""
    index = [slice(None) if d in dims else 0 for d in range(x.ndim)]
    return x[tuple(index)].flatten().tolist()


def differences(elements):
    return [after - before for before, after in pairwise(elements)]
