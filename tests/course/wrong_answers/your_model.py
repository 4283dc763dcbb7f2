"""Wrong answers to the exercises of notebook 07."""

from stridekit.exercises import your_model as ex
from tests.course.wrong_answers.collecting import GENERAL, STOPS, refused

NO_VIEW = "Layout.of(step(x.contiguous())).why_not_view(-1)"
refused(
    ex.made_by,
    {
        "the first step after which no view": [
            f"{NO_VIEW} => Layout.of(step(x)).why_not_view(-1) && made = k => return k"
        ],
        "whose result is not contiguous": [
            f"{NO_VIEW} => not step(x).is_contiguous() && made = k => return k"
        ],
        "You answer with the last step": [f"{NO_VIEW} => k == len(steps) - 1"],
        "You count from 1": ["made_by(x, steps) + 1"],
        GENERAL: ["made_by(x, steps) if len(steps) < 3 else 0"],
    },
)

CUT = "x.view(x.size(0), groups, -1, *x.shape[2:]).transpose(1, 2).reshape(x.shape)"
LAST = "x.permute(0, 2, 3, 1)"
refused(
    ex.shuffle,
    {
        "no longer last": [CUT],
        "more new bytes than x has. One copy": [
            f"{CUT}.contiguous(memory_format=torch.channels_last)"
        ],
        "undoes this one": [f"{LAST}.unflatten(3, (-1, groups)).mT.flatten(3).permute(0, 3, 1, 2)"],
        "still the last dim of the shape": [f"{LAST}.unflatten(3, (groups, -1)).mT.flatten(3)"],
    },
)
refused(
    ex.features,
    {
        "in a view: as long as it lives": ["maps.detach()[..., 0, 0]"],
        "copies only what is not contiguous": ["maps.select(3, 0).select(2, 0).contiguous()"],
        "Index first, copy then": ["maps.clone().select(3, 0).select(2, 0)"],
        "an int takes it away": ["maps[:, :, 0:1, 0:1].clone()"],
        GENERAL: ["maps[:, :, 0, 0].clone() + 1"],
    },
)


SAME = "same and y.stride() == x.stride() and y.dtype == x.dtype"
refused(
    ex.does_nothing,
    {
        "addresses alone": [f"{SAME} => y.data_ptr() == x.data_ptr()"],
        "You compare values": [
            f"{SAME} => y.shape == x.shape and y.dtype == x.dtype and (y == x).all()"
        ],
        "You ask for the same object": [f"{SAME} => y is x"],
        "You run every step on the first x": ["x = y => y = x"],
        "You compare all but the address": ["same = y.data_ptr() == x.data_ptr() and => same ="],
        GENERAL: ["[]"],
    },
)


EQUAL = "left.dtype == whole.dtype and torch.equal(left, whole)"
refused(
    ex.can_go,
    {
        "whether the chain comes to its end": [f"{EQUAL} => k >= 0"],
        "You compare shapes alone": [f"{EQUAL} => list(left.shape) == list(whole.shape)"],
        "a `view` behind it can need it": [
            "left = run([*steps[:k], *steps[k + 1 :]]) => left, whole = run(steps[:k]), run(steps[: k + 1])"
        ],
        "Right unless both results are one object": [f"{EQUAL} => {EQUAL} and left is not whole"],
        STOPS: ["except (RuntimeError, IndexError) => except ZeroDivisionError"],
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
        "answer is 'harmless'": [f"s if (s := {RIGHT}) == 'other sizes' else 'harmless'"],
    },
)
