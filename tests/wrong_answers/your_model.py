"""Wrong answers to the exercises of notebook 07."""

from itertools import accumulate

from stridekit import Layout
from stridekit.exercises import your_model as ex
from tests.wrong_answers.collecting import GENERAL, STOPS, refused


def chain(x, steps):
    """All tensors of a chain, the first of them x."""
    return [*accumulate(steps, lambda t, step: step(t), initial=x)]


def flat(t):
    """True if `t.view(-1)` works."""
    return not Layout.of(t).why_not_view(-1)


def first(flags, otherwise):
    """The number of the first False, or the other number."""
    return flags.index(False) if False in flags else otherwise


refused(ex.made_by, {
    "the first step after which no view": [
        lambda x, steps: first([*map(flat, chain(x, steps)[1:])], len(steps))],
    "whose result is not contiguous": [
        lambda x, steps: first([t.is_contiguous() for t in chain(x, steps)[1:]], len(steps))],
    "You answer with the last step": [
        lambda x, steps: len(steps) if flat(chain(x, steps)[-1]) else len(steps) - 1],
    "You count from 1": ["made_by(x, steps) + 1"],
    GENERAL: ["made_by(x, steps) if len(steps) < 3 else 0"],
})  # fmt: skip

CUT = "x.view(x.size(0), groups, -1, *x.shape[2:]).transpose(1, 2).reshape(x.shape)"
LAST = "x.permute(0, 2, 3, 1)"
refused(ex.shuffle, {
    "no longer last": [CUT],
    "more new bytes than x has. One copy": [f"{CUT}.contiguous(memory_format=torch.channels_last)"],
    "undoes this one": [f"{LAST}.unflatten(3, (-1, groups)).mT.flatten(3).permute(0, 3, 1, 2)"],
    "still the last dim of the shape": [f"{LAST}.unflatten(3, (groups, -1)).mT.flatten(3)"],
})  # fmt: skip
refused(ex.features, {
    "in a view: as long as it lives": ["maps.detach()[..., 0, 0]"],
    "copies only what is not contiguous": ["maps.select(3, 0).select(2, 0).contiguous()"],
    "Index first, copy then": ["maps.clone().select(3, 0).select(2, 0)"],
    "an int takes it away": ["maps[:, :, 0:1, 0:1].clone()"],
    GENERAL: ["maps[:, :, 0, 0].clone() + 1"],
})  # fmt: skip


def layout(t):
    return t.shape, t.stride(), t.dtype


def same(by):
    """The steps before and after which a chain's tensors are equal by some measure."""

    def answer(x, steps):
        tensors = chain(x, steps)
        return [k for k in range(len(steps)) if by(tensors[k], tensors[k + 1])]

    return answer


def same_values(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and bool((a == b).all())


refused(ex.does_nothing, {
    "addresses alone": [same(lambda a, b: a.data_ptr() == b.data_ptr())],
    "You compare values": [same(same_values)],
    "You ask for the same object": [same(lambda a, b: a is b)],
    "You run every step on the first x": [
        lambda x, steps: [
            k for k, y in enumerate(step(x) for step in steps)
            if y.data_ptr() == x.data_ptr() and layout(y) == layout(x)]],
    "You compare all but the address": [same(lambda a, b: layout(a) == layout(b))],
    GENERAL: ["[]"],
})  # fmt: skip


def without(k, x, steps):
    """The result without step k; None if the chain stops."""
    try:
        return chain(x, steps[:k] + steps[k + 1 :])[-1]
    except (RuntimeError, IndexError):
        return None


refused(ex.can_go, {
    "whether the chain comes to its end": [
        lambda x, steps: [k for k in range(len(steps)) if without(k, x, steps) is not None]],
    "You compare shapes alone": [
        lambda x, steps: [
            k for k in range(len(steps))
            if getattr(without(k, x, steps), "shape", None) == chain(x, steps)[-1].shape]],
    "a `view` behind it can need it": [same(same_values)],
    "Right unless both results are one object": [
        lambda x, steps: [
            k for k in ex.can_go.reference(x, steps) if without(k, x, steps) is not chain(x, steps)[-1]]],
    STOPS: [
        lambda x, steps: [
            k for k in range(len(steps)) if chain(x, steps[:k] + steps[k + 1 :])[-1].equal(x)]],
})  # fmt: skip

RIGHT = "decode(has, wants)"
refused(ex.decode, {
    "You compare all strides": [
        f"{RIGHT} if wants[1] is None or has[0] != wants[0] "
        "else 'harmless' if has[1] == wants[1] or 0 in has[0] else 'copy'"],
    "whether the tensor is contiguous": [
        "('harmless' if Layout(*has).is_contiguous() else 'copy') "
        f"if wants[1] is None and Layout(*has).numel == Layout(wants[0]).numel else {RIGHT}"],
    "answer is 'harmless'": [f"s if (s := {RIGHT}) == 'other sizes' else 'harmless'"],
})  # fmt: skip
