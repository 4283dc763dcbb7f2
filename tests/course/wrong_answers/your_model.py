"""Wrong answers to the exercises of notebook 07."""

import copy

import torch

from stridekit.exercises import your_model as ex
from tests.course.wrong_answers.collecting import GENERAL, refused

LAST_CHANNELS = "is_contiguous(memory_format=torch.channels_last)"
refused(
    ex.norm_bytes,
    {
        "You count the first call alone": [
            lambda x: 0 if x.permute(0, 2, 3, 1).is_contiguous() else x.nbytes
        ],
        "You count the second call alone": [
            "x.nbytes if x.size(1) > 1 and x.shape[2:].numel() > 1 else 0"
        ],
        "You count both calls as copies": [lambda x: x.nbytes + x.nbytes],
        "You ask whether x is contiguous": [
            lambda x: x.nbytes if x.is_contiguous() else x.nbytes * 2
        ],
        "You pass the layout of x on": [
            lambda x: sum(t.nbytes for t in (x, x.permute(0, 2, 3, 1)) if not t.is_contiguous())
        ],
        "You count elements": ["norm_bytes(x) // x.element_size()"],
        "You take 4 bytes": ["norm_bytes(x) // x.element_size() * 4"],
        "You count the storage": ["view.nbytes => len(x.untyped_storage())"],
        "Right wherever the second call copies": [
            f"x.nbytes * (2 - x.{LAST_CHANNELS})",
        ],
        GENERAL: ["norm_bytes(x) + x.size(0) - 2", "norm_bytes(x[:1])"],
    },
)

NO_VIEW = "Layout.of(t).why_not_view(-1)"
ALONE = "steps[k:] => [step]"
RESULT = "t = x.contiguous() => t = step(x) && steps[k:] => []"
NO_CHECK = "made if Layout.of(x).why_not_view(-1) else len(steps) => made"
refused(
    ex.made_by,
    {
        "You try each step alone": [
            ALONE,
            f"{ALONE} && x = step(x) => x = step(x.contiguous())",
        ],
        "the first step after which no view": [f"{RESULT} && made = k => return k"],
        "You answer with the first step whose result is not contiguous": [
            f"{RESULT} && {NO_VIEW} => not t.is_contiguous() && made = k => return k"
        ],
        "You answer with the last step whose result has no flat view": [f"{RESULT} && {NO_CHECK}"],
        "You answer with the last step whose result is not contiguous": [
            f"{RESULT} && {NO_VIEW} => not t.is_contiguous() && {NO_CHECK}"
        ],
        "the last step that changes the shape or the stride": [
            f"{RESULT} && {NO_VIEW} => t.stride() != x.stride() or t.shape != x.shape"
        ],
        "You answer with the last step wherever": [f"{NO_VIEW} => k == len(steps) - 1"],
        "You ask whether a tensor is contiguous": [
            f"{RESULT} && {NO_VIEW} => x.is_contiguous() and not t.is_contiguous() && "
            "Layout.of(x).why_not_view(-1) => not x.is_contiguous()"
        ],
        "You leave a step out": [
            "t = x.contiguous() => t = first && made = len(steps) => made, first = len(steps), x && "
            "steps[k:] => [*steps[:k], *steps[k + 1 :]] && if Layout.of(t) => if not Layout.of(t)"
        ],
        "turns a tensor with a flat view into a tensor without": [
            f"{RESULT} && {NO_VIEW} => x.is_contiguous() and {NO_VIEW}"
        ],
        "You stop at the first step for which the copy": ["made = k => return k"],
        "You make the result of step k contiguous": [
            "t = x.contiguous() => x = step(x); t = x.contiguous() && "
            "steps[k:] => steps[k + 1 :] && \n        x = step(x)\n => \n"
        ],
        "You count from 1": ["made_by(x, steps) + 1"],
        "Do not look for a step among the others": ["made = k => made = steps.index(step)"],
        GENERAL: ["made_by(x, steps) if len(steps) < 3 else 0"],
    },
)

CUT = "x.view(x.size(0), groups, -1, *x.shape[2:]).transpose(1, 2).reshape(x.shape)"
LAST = "x.permute(0, 2, 3, 1)"
refused(
    ex.shuffle,
    {
        "no longer last": [CUT],
        "with more new bytes than x has. The copy that merges": [
            f"{CUT}.contiguous(memory_format=torch.channels_last)"
        ],
        "Your shuffle undoes": [
            f"{LAST}.unflatten(3, (-1, groups)).mT.flatten(3).permute(0, 3, 1, 2)"
        ],
        "so your channels and pixels mix": [
            f"{LAST}.unflatten(3, (groups, -1)).mT.reshape(x.shape)"
        ],
        "still the last dim of the shape": [f"{LAST}.unflatten(3, (groups, -1)).mT.flatten(3)"],
    },
)
refused(
    ex.features,
    {
        "in a storage that holds more than the features": [
            lambda maps: copy.deepcopy(maps[..., 0, 0])
        ],
        "the task asks for (N, C)": ["maps[:, :, 0, 0].reshape(-1).clone()"],
        "in a view: as long as it lives": ["maps.detach()[..., 0, 0]"],
        "your answer is a view of maps, as from": ["maps.select(3, 0).select(2, 0).contiguous()"],
        "A view of a copy of maps": ["maps.clone().select(3, 0).select(2, 0)"],
        "and an int removes it": ["maps[:, :, 0:1, 0:1].clone()"],
        GENERAL: ["maps[:, :, 0, 0].clone() + 1"],
    },
)


SAME = "same and y.stride() == x.stride() and y.dtype == x.dtype"
refused(
    ex.does_nothing,
    {
        "addresses alone": [f"{SAME} => y.data_ptr() == x.data_ptr()"],
        "You compare storage offsets": [
            "same = y.data_ptr() == x.data_ptr() => same = y.storage_offset() == x.storage_offset()"
        ],
        "You compare each result with the first x": [
            "numbers = [] => numbers, first = [], x && y.data_ptr() == x.data_ptr() and y.shape == x.shape"
            " => y.data_ptr() == first.data_ptr() and y.shape == first.shape && "
            "y.stride() == x.stride() and y.dtype == x.dtype => "
            "y.stride() == first.stride() and y.dtype == first.dtype"
        ],
        "Do not look for a step among the others": [
            "numbers.append(k) => numbers.append(steps.index(step))"
        ],
        "You find no step that does nothing": ["[]"],
        "You ask whether the two share memory": [
            "y.data_ptr() == x.data_ptr() => "
            "x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()"
        ],
        "You compare values": [
            f"{SAME} => y.shape == x.shape and y.dtype == x.dtype and (y == x).all()"
        ],
        "You ask for the same object": [f"{SAME} => y is x"],
        "You run every step on the first x": ["x = y => y = x"],
        "You compare all but the address": ["same = y.data_ptr() == x.data_ptr() and => same ="],
        GENERAL: ["[0]"],
    },
)


EQUAL = "left.dtype == whole.dtype and torch.equal(left, whole)"
refused(
    ex.can_go,
    {
        "whether the chain comes to its end": [f"{EQUAL} => k >= 0"],
        "You compare shapes alone": [f"{EQUAL} => list(left.shape) == list(whole.shape)"],
        "a later `view` can need it": [
            "left = run([*steps[:k], *steps[k + 1 :]]) => left, whole = run(steps[:k]), run(steps[: k + 1])"
        ],
        "Right unless both results are one object": [f"{EQUAL} => {EQUAL} and left is not whole"],
        "The error is an answer": ["except (RuntimeError, IndexError) => except MemoryError"],
        "You catch RuntimeError alone": [
            "(RuntimeError, IndexError) => (RuntimeError, ValueError)"
        ],
        # The first try of many: two mistakes, each with its own input.
        "You leave the dtype out": [
            f"{EQUAL} => torch.equal(left, whole) && (RuntimeError, IndexError) => RuntimeError"
        ],
        "You ask for equal strides, too": [
            f"{EQUAL} => {EQUAL} and left.stride() == whole.stride()"
        ],
        "You compare addresses": [f"{EQUAL} => left.data_ptr() == whole.data_ptr()"],
        "which broadcasts": [
            "left = run([*steps[:k], *steps[k + 1 :]]) => left = run([*steps[:k], *steps[k + 1 :]]); "
            f"same = left.dtype == whole.dtype and (left == whole).all() && {EQUAL} => same"
        ],
        "Do not look for a step among the others": [
            "left = run([*steps[:k], *steps[k + 1 :]]) => "
            "rest = [*steps]; rest.remove(steps[k]); left = run(rest)"
        ],
    },
)

RIGHT = "decode(has, wants)"
refused(
    ex.decode,
    {
        "You compare all strides": [
            f"{RIGHT} if wants[1] is None or has[0] != wants[0] "
            "else 'harmless' if has[1] == wants[1] or 0 in has[0] else 'copy'"
        ],
        "whether the tensor is contiguous": [
            "('harmless' if Layout(*has).is_contiguous() else 'copy') "
            f"if wants[1] is None and Layout(*has).numel == Layout(wants[0]).numel else {RIGHT}"
        ],
        "You take an answer of `why_not_view`": [
            '"copy" if Layout(shape, stride).why_not_view(wanted) else "harmless" => '
            '"harmless" if Layout(shape, stride).why_not_view(wanted) else "copy"'
        ],
        "You compare numbers of dims": [
            "math.prod(shape) != math.prod(wanted) => len(shape) != len(wanted)"
        ],
        "You take another shape for other sizes, and compare all strides": [
            "'other sizes' if has[0] != wants[0] else 'copy' if has[1] != wants[1] else 'harmless'"
        ],
        'You answer "harmless" wherever the sizes fit': [
            f"s if (s := {RIGHT}) == 'other sizes' else 'harmless'"
        ],
    },
)


def shuffle_by_an_index_list(x, groups):
    size = x.size(1) // groups
    return x[:, [g * size + i for i in range(size) for g in range(groups)]]


def shuffle_back_and_convert(x, groups):
    N, C, H, W = x.shape
    parts = x.view(N, C // groups, groups, H, W).transpose(1, 2)
    return parts.reshape(N, C, H, W).contiguous(memory_format=torch.channels_last)


refused(
    ex.shuffle,
    {
        "An index list along C": [shuffle_by_an_index_list],
        "Your shuffle undoes the right one": [shuffle_back_and_convert],
    },
)
