"""ReshapeStepper without a browser: its presets and its state. tests/course/live.py compares its walk."""

import pytest
import torch

from stridekit import Layout, ReshapeStepper
from stridekit.widgets.engine import Script
from stridekit.widgets.notation import layout_of
from stridekit.widgets.reshape_stepper.widget import script

PRESETS = [(p["expression"], layout_of(p["layout"]), p["targets"]) for p in script.PRESETS]
X = Layout((4, 8), itemsize=4)[:, :6]


def test_presets_are_the_views_they_name():
    """Each expression, run by torch, has the preset's layout; most offer views and refusals."""
    for expression, layout, targets in PRESETS:
        x = eval(expression, {"torch": torch})
        assert Layout.of(x) == layout, expression
        assert {x.reshape(target).numel() for target in targets} == {x.numel()}
    free = [{not layout.why_not_view(t) for t in targets} for _, layout, targets in PRESETS]
    assert [k for k, found in enumerate(free) if found == {True}] == [0, 3, 5]
    assert {False} not in free


def test_ones_own_layout_is_the_first_to_choose():
    """Its targets merge each two neighbours, or all dims; a layout that is a preset is not repeated."""
    assert ReshapeStepper()._given == ReshapeStepper(Layout((6, 4), (1, 6), 0, 4))._given == []
    (mine,) = ReshapeStepper(torch.arange(24.0).view(2, 3, 4).permute(1, 0, 2))._given
    assert mine["name"] == "as given" and mine["targets"] == [[6, 4], [3, 8], [24]]
    assert Layout.of(eval(mine["expression"])) == Layout(**mine["layout"])


WORDS = {
    (2, 1, 12): """
  4. New dim 1 of size 1 takes nothing: any stride would do, torch gives it 12.
  5. New dim 0 of size 2 gets stride 12 · 1 = 12. 12 · 2 = 24 of 24: this chunk is used up.
  6. Every chunk is used up. The view has stride (12, 12, 1): nothing moves.
  .view(2, 1, 12): a view: the same elements, 0 bytes are copied
  .reshape(2, 1, 12): the same view: reshape copies only where there is none
  .contiguous().view(2, 1, 12): the same view: x is contiguous as it is""",
    (24,): """
  .reshape(24): copies all 24 elements, 96 bytes, into a storage of its own
  .contiguous().view(24): does the same in two steps: the copy, then a view of it""",
}


@pytest.mark.parametrize(("x", "target"), zip((Layout((4, 6)), X), WORDS, strict=True))
def test_the_text_ends_with_the_last_steps_and_the_alternatives(x, target):
    assert str(ReshapeStepper(x, target)).endswith(WORDS[target])


fields, view = Script("reshape_stepper/fields.js"), Script("reshape_stepper/steps.js")
GIVEN = {"shape": [4, 6], "stride": [6, 1], "storage_offset": 3, "itemsize": 8}


@pytest.mark.parametrize(("text", "found"), [
    *[(text, [2, 12]) for text in ("2, 12", " [2 12] ", "(-1, 12,)", "2 * 12", "torch.Size([2, 12])")],
    ("2 by 12", 'cannot read "2 by 12": write sizes, such as 2, -1'),
    ("2--1", 'cannot read "2--1": write sizes, such as 2, -1'),
    ("5, 5", "(5, 5) has 25 elements, the layout has 24"),
    ("5, -1", "24 elements do not divide into 5: no size fits the -1"),
    ("9007199254740993", "numbers beyond 9007199254740991 are not exact in a browser"),
])  # fmt: skip
def test_a_new_shape_is_read_as_a_person_writes_it(text, found):
    wanted = [found, ""] if isinstance(found, list) else [None, found]
    assert fields.readTarget(text, GIVEN) == wanted


def test_a_row_of_the_tape_holds_whole_runs_of_the_largest_stride_that_fits():
    rows = [view.perRow({"stride": [8, 1]}, 40, width) for width in (900, 500, 250, 100, 10)]
    assert rows == [24, 16, 8, 3, 1]


def test_sizes_of_1_leave_room_for_the_others():
    spread = Script("reshape_stepper/figure.js").spread
    widths = [width for _, width in spread([24], [1, 1, 1, 1, 1, 1, 2, 12], 500)["fresh"]]
    assert widths[6] + widths[7] == 250 and widths[6] > 50
    many = spread([2] * 6, [2, 2, 2, 1, 2, 2, 2, 1], 328)["fresh"]
    assert min(width for _, width in many) > 40
