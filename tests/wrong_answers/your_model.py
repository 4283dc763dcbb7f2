"""Wrong answers to the exercises of notebook 07."""

import torch

from stridekit import Layout
from stridekit.exercises import your_model as ex
from tests.wrong_answers.collecting import formulas, general, unnamed, wrong


def chain(x, steps):
    """All tensors of a chain, the first of them x."""
    tensors = [x]
    for step in steps:
        tensors.append(step(tensors[-1]))
    return tensors


def flat(t):
    """True if `t.view(-1)` works."""
    try:
        t.view(-1)
    except RuntimeError:
        return False
    return True


# E1: the step that made the layout ----------------------------------------------------------------


@wrong(ex.made_by, "the first step after which no view")
def the_first_without_a_view(x, steps):
    for k, t in enumerate(chain(x, steps)[1:]):
        if not flat(t):
            return k
    return len(steps)


@wrong(ex.made_by, "whose result is not contiguous")
def the_first_that_is_not_contiguous(x, steps):
    flags = [t.is_contiguous() for t in chain(x, steps)[1:]]
    return flags.index(False) if False in flags else len(steps)


@wrong(ex.made_by, "You answer with the last step")
def the_last_one(x, steps):
    return len(steps) if flat(chain(x, steps)[-1]) else len(steps) - 1


@wrong(ex.made_by, "count the steps from 1")
def counted_from_one(x, steps):
    tensors = chain(x, steps)
    if flat(tensors[-1]):
        return len(steps) + 1
    bad = [k for k, t in enumerate(tensors[:-1]) if not flat(steps[k](t.contiguous()))]
    return bad[-1] + 1


@wrong(ex.made_by, "A step that another one undoes")
def without_asking_first(x, steps):
    made = len(steps)
    for k in range(len(steps)):
        t = chain(x, steps[:k])[-1].clone(memory_format=torch.contiguous_format)
        if not flat(steps[k](t)):
            made = k
    return made


general(ex.made_by, "len(steps) // 2", "made_by(x, steps) if len(steps) < 3 else 0")

# E2: channels that stay last ----------------------------------------------------------------------


@wrong(ex.shuffle, "no longer last")
def as_it_is_found(x, groups):
    N, C, H, W = x.shape
    return x.view(N, groups, C // groups, H, W).transpose(1, 2).reshape(N, C, H, W)


@wrong(ex.shuffle, "more new bytes than x has. One copy")
def repaired_behind(x, groups):
    y = as_it_is_found(x, groups)
    return y.contiguous(memory_format=torch.channels_last)


@wrong(ex.shuffle, "undoes this one")
def turned_round(x, groups):
    N, C, H, W = x.shape
    y = x.permute(0, 2, 3, 1).reshape(N, H, W, C // groups, groups)
    return y.mT.reshape(N, H, W, C).permute(0, 3, 1, 2)


@wrong(ex.shuffle, "still the last dim of the shape")
def never_moved_back(x, groups):
    y = x.permute(0, 2, 3, 1)
    return y.unflatten(3, (groups, -1)).mT.flatten(3)


general(ex.shuffle, "x[:, ::groups]")

# E3: features that let their maps go --------------------------------------------------------------


@wrong(ex.features, "in a view: as long as it lives")
def detached(maps):
    return maps.detach()[..., 0, 0]


@wrong(ex.features, "copies only what is not contiguous")
def made_contiguous(maps):
    pixel = maps.select(3, 0).select(2, 0)
    return pixel.contiguous()


@wrong(ex.features, "Index first, copy then")
def copied_first(maps):
    return maps.clone().select(3, 0).select(2, 0)


@wrong(ex.features, "An int as an index takes it away")
def with_all_dims(maps):
    return maps[:, :, 0:1, 0:1].clone()


general(ex.features, "maps[:, :, 0, 0].clone() + 1")

# E4: calls that do nothing ------------------------------------------------------------------------


@wrong(ex.does_nothing, "addresses alone")
def same_address(x, steps):
    tensors = chain(x, steps)
    return [k for k in range(len(steps)) if tensors[k].data_ptr() == tensors[k + 1].data_ptr()]


@wrong(ex.does_nothing, "You compare values")
def same_values(x, steps):
    found = []
    for k, step in enumerate(steps):
        before, x = x, step(x)
        if before.shape == x.shape and before.dtype == x.dtype and (before == x).all():
            found.append(k)
    return found


@wrong(ex.does_nothing, "You ask for the same object")
def same_object(x, steps):
    tensors = chain(x, steps)
    return [k for k in range(len(steps)) if tensors[k] is tensors[k + 1]]


@wrong(ex.does_nothing, "You run every step on x")
def always_on_x(x, steps):
    seen = [step(x) for step in steps]
    same = [
        y.data_ptr() == x.data_ptr()
        and (y.shape, y.stride(), y.dtype) == (x.shape, x.stride(), x.dtype)
        for y in seen
    ]
    return [k for k, it in enumerate(same) if it]


@wrong(ex.does_nothing, "You compare all but the address")
def same_layout(x, steps):
    tensors = chain(x, steps)
    layouts = [(t.shape, t.stride(), t.dtype) for t in tensors]
    return [k for k in range(len(steps)) if layouts[k] == layouts[k + 1]]


general(ex.does_nothing, "[]", "[*range(len(steps))]")

# E5: steps that can go ----------------------------------------------------------------------------


def without(k, x, steps):
    """The result without step k; None if the chain stops."""
    try:
        return chain(x, [step for j, step in enumerate(steps) if j != k])[-1]
    except (RuntimeError, IndexError):
        return None


@wrong(ex.can_go, "whether the chain comes to its end")
def does_not_stop(x, steps):
    return [k for k in range(len(steps)) if without(k, x, steps) is not None]


@wrong(ex.can_go, "You compare shapes alone")
def same_shape(x, steps):
    wanted, found = chain(x, steps)[-1].shape, []
    for k in range(len(steps)):
        out = without(k, x, steps)
        if out is not None and out.shape == wanted:
            found.append(k)
    return found


@wrong(ex.can_go, "Each step is tried on its own")
def one_after_the_other(x, steps):
    left, numbers, found = list(steps), list(range(len(steps))), []
    wanted = chain(x, steps)[-1]
    for k in range(len(steps)):
        out = without(numbers.index(k), x, left)
        if out is not None and out.dtype == wanted.dtype and torch.equal(out, wanted):
            del left[numbers.index(k)]
            numbers.remove(k)
            found.append(k)
    return found


@wrong(ex.can_go, "a `view` behind it can need it")
def changes_no_value(x, steps):
    tensors, found = chain(x, steps), []
    for k in range(len(steps)):
        a, b = tensors[k], tensors[k + 1]
        if a.dtype == b.dtype and torch.equal(a, b):
            found.append(k)
    return found


unnamed(ex.can_go, "Your function stops on this input.")(
    lambda x, steps: [
        k for k in range(len(steps)) if chain(x, steps[:k] + steps[k + 1 :])[-1].equal(x)
    ]
)

# E6: what messages say ----------------------------------------------------------------------------


@wrong(ex.decode, "You compare all strides")
def every_stride(has, wants):
    (shape, stride), (wanted, steps) = has, wants
    if steps is None or shape != wanted:
        return ex.decode.reference(has, wants)
    return "harmless" if stride == steps or 0 in shape else "copy"


@wrong(ex.decode, "whether the tensor is contiguous")
def only_if_contiguous(has, wants):
    if wants[1] is None and Layout(*has).numel == Layout(wants[0]).numel:
        return "harmless" if Layout(*has).is_contiguous() else "copy"
    return ex.decode.reference(has, wants)


@wrong(ex.decode, "answer is 'harmless'")
def only_sizes(has, wants):
    said = ex.decode.reference(has, wants)
    return said if said == "other sizes" else "harmless"


formulas(ex.decode, {'else "harmless"\n    differ': ['else "copy"\n    differ']})
