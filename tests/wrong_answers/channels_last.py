"""Wrong answers to the exercises of notebook 04."""

import itertools
import math

import torch

from stridekit.exercises import channels_last as ex
from tests.wrong_answers.collecting import ANOTHER_KIND, CHANGES, unnamed, wrong

NHWC = torch.channels_last

# channels_last_stride -------------------------------------------------------------------------


@wrong(ex.channels_last_stride, "That is contiguous_format")
def stride_of_a_new_tensor(shape):
    return tuple(math.prod(shape[d + 1 :]) for d in range(4))


@wrong(ex.channels_last_stride, "that goes down the columns")
def stride_with_h_before_w(shape):
    stride, step = [0] * 4, 1
    for d in (1, 2, 3, 0):
        stride[d] = step
        step *= shape[d]
    return stride


@wrong(ex.channels_last_stride, "You forgot the channels on the way")
def stride_of_one_channel_images(shape):
    stride, step = [0, 1, 0, 0], 1
    for d in (3, 2, 0):
        stride[d] = step
        step *= shape[d]
    return stride


@wrong(ex.channels_last_stride, "The right four numbers, in the order N, H, W, C")
def stride_of_the_nhwc_shape(shape):
    n, c, h, w = shape
    nhwc = (n, h, w, c)
    return tuple(math.prod(nhwc[d + 1 :]) for d in range(4))


@wrong(ex.channels_last_stride, "You read the shape as (N, H, W, C)")
def stride_of_an_nhwc_reader(shape):
    packed = [math.prod(shape[d + 1 :]) for d in range(4)]
    return [packed[d] for d in (0, 3, 1, 2)]


@wrong(ex.channels_last_stride, "the wrong way round")
def stride_by_the_inverse_permutation(shape):
    packed = stride_of_the_nhwc_shape(shape)
    return tuple(packed[d] for d in (0, 2, 3, 1))


@wrong(ex.channels_last_stride, "You put the images between")
def stride_with_rows_outermost(shape):
    stride, step = [0] * 4, 1
    for d in (1, 0, 3, 2):
        stride[d] = step
        step *= shape[d]
    return stride


@wrong(ex.channels_last_stride, "Those are the dims, or the sizes")
def stride_or_permutation(shape):
    return [0, 2, 3, 1]


@wrong(ex.channels_last_stride, "Those are the dims, or the sizes")
def stride_or_sizes(shape):
    return [shape[d] for d in (0, 2, 3, 1)]


@wrong(ex.channels_last_stride, "torch counts a size of 0 as 1")
def stride_never_zero(shape):
    stride, step = [0] * 4, 1
    for d in (1, 3, 2, 0):
        stride[d] = step
        step *= max(1, shape[d])
    return stride


@wrong(ex.channels_last_stride, "A dim of size 1 gets its stride by the same rule")
def stride_of_one_at_size_one(shape):
    stride, step = [1] * 4, 1
    for d in (1, 3, 2, 0):
        if shape[d] != 1:
            stride[d] = step
        step *= shape[d]
    return stride


@wrong(ex.channels_last_stride, "A dim of size 1 gets its stride by the same rule")
def stride_of_zero_at_size_one(shape):
    new = torch.empty(shape, memory_format=NHWC).stride()
    return [s * (n != 1) for n, s in zip(shape, new, strict=True)]


@wrong(ex.channels_last_stride, "Where C is 1, or H and W are")
def stride_by_contiguous(shape):
    return torch.empty(shape).contiguous(memory_format=NHWC).stride()


@unnamed(ex.channels_last_stride)
def stride_by_heart(shape):
    return (60, 1, 15, 3)


@unnamed(ex.channels_last_stride)
def stride_of_square_images(shape):
    _, c, h, _ = shape
    return (h * h * c, 1, h * c, c)


@unnamed(ex.channels_last_stride)
def stride_in_bytes(shape):
    return [4 * s for s in torch.empty(shape, memory_format=NHWC).stride()]


@unnamed(ex.channels_last_stride)
def stride_of_all_but_the_batch(shape):
    return torch.empty(shape, memory_format=NHWC).stride()[1:]


# channels_last_view ---------------------------------------------------------------------------


@wrong(ex.channels_last_view, "but then you copy everything")
def view_made_contiguous(images):
    nchw = images.movedim(-1, 1)
    return torch.clone(nchw, memory_format=torch.contiguous_format)


@wrong(ex.channels_last_view, "but then you copy everything")
def view_stacked_by_channel(images):
    return torch.stack([images[..., c] for c in range(images.size(-1))], dim=1)


@wrong(ex.channels_last_view, "Right on a whole batch")
def view_made_channels_last(images):
    return images.movedim(3, 1).contiguous(memory_format=NHWC)


@wrong(ex.channels_last_view, "Right on a whole batch")
def view_of_a_contiguous_batch(images):
    return torch.permute(images.contiguous(), (0, 3, 1, 2))


@wrong(ex.channels_last_view, "does not take the tensor for channels-last")
def view_converted(images):
    n, h, w, c = range(4)
    return torch.permute(images, (n, c, h, w)).to(memory_format=NHWC)


@wrong(ex.channels_last_view, "A copy of its own")
def view_cloned(images):
    return images.clone().permute(0, 3, 1, 2)


@wrong(ex.channels_last_view, "`view` and `reshape` never reorder")
def view_by_reshape(images):
    return torch.reshape(images, [images.shape[d] for d in (0, 3, 1, 2)])


@wrong(ex.channels_last_view, "`view` and `reshape` never reorder")
def view_by_view(images):
    n, h, w, c = images.size()
    return images.view(n, c, h, w)


@wrong(ex.channels_last_view, "your images lie on their side")
def view_by_transpose(images):
    return images.transpose(1, 3)


@wrong(ex.channels_last_view, "That is the way back")
def view_by_the_way_back(images):
    return images.movedim(1, 3)


@wrong(ex.channels_last_view, "the strides of a whole new batch")
def view_by_new_strides(images):
    n, h, w, c = images.shape
    stride = torch.empty((n, c, h, w), memory_format=NHWC).stride()
    return images.as_strided((n, c, h, w), stride, images.storage_offset())


@wrong(ex.channels_last_view, "The images are as they were")
def view_detached(images):
    return images.detach()


@unnamed(ex.channels_last_view, CHANGES)
def view_in_place(images):
    return images.transpose_(1, 3).transpose_(2, 3)


@unnamed(ex.channels_last_view, ANOTHER_KIND)
def view_of_numpy(images):
    return images.numpy().transpose(0, 3, 1, 2)


@unnamed(ex.channels_last_view)
def view_of_batches_of_two(images):
    return images.permute(0, 3, 1, 2)[:2]


@unnamed(ex.channels_last_view)
def view_upside_down(images):
    return images.permute(0, 3, 1, 2).flip(2)


@unnamed(ex.channels_last_view)
def view_in_float(images):
    return images.permute(0, 3, 1, 2).float()


@unnamed(ex.channels_last_view)
def view_of_the_storage_s_start(images):
    n, h, w, c = images.shape
    stride = [images.stride(d) for d in (0, 3, 1, 2)]
    return images.as_strided((n, c, h, w), stride, 0)


# formats --------------------------------------------------------------------------------------


def both_flags(shape, stride):
    """Ask torch."""
    t = torch.empty_strided(shape, stride)
    return t.is_contiguous(), t.is_contiguous(memory_format=NHWC)


@wrong(ex.formats, "You stop at the first format that fits")
def formats_by_elif(shape, stride):
    first, second = both_flags(shape, stride)
    if first:
        return {"contiguous_format"}
    if second:
        return {"channels_last"}
    return set()


@wrong(ex.formats, "You stop at the first format that fits")
def formats_with_the_other_first(shape, stride):
    first, second = both_flags(shape, stride)
    return ["channels_last"] if second else ["contiguous_format"] if first else []


@wrong(ex.formats, "Not contiguous_format, so channels_last")
def formats_by_else(shape, stride):
    return {"contiguous_format" if both_flags(shape, stride)[0] else "channels_last"}


@wrong(ex.formats, "You compare all four strides")
def formats_by_new_strides(shape, stride):
    found = set()
    for memory_format in (torch.contiguous_format, NHWC):
        if torch.empty(shape, memory_format=memory_format).stride() == stride:
            found.add(memory_format)
    return found


@wrong(ex.formats, "the order of the strides alone")
def formats_by_sorting(shape, stride):
    found = set()
    if list(stride) == sorted(stride, reverse=True):
        found.add("contiguous_format")
    if stride[0] >= stride[2] >= stride[3] >= stride[1]:
        found.add("channels_last")
    return found


@wrong(ex.formats, "the order of the strides alone")
def formats_by_the_sorted_dims_that_step(shape, stride):
    n, c, h, w = (s if size != 1 else None for size, s in zip(shape, stride, strict=True))

    def falls(*steps):
        steps = [s for s in steps if s is not None]
        return all(a >= b for a, b in itertools.pairwise(steps))

    return [
        name
        for name, steps in (("contiguous_format", (n, c, h, w)), ("channels_last", (n, h, w, c)))
        if falls(*steps)
    ]


@wrong(ex.formats, "where a format begins, not where it ends")
def formats_by_the_unit_stride(shape, stride):
    if stride[1] == 1:
        return {"channels_last"}
    return {"contiguous_format"}


@wrong(ex.formats, "where a format begins, not where it ends")
def formats_by_both_unit_strides(shape, stride):
    names = []
    if stride[3] == 1:
        names.append("contiguous_format")
    if stride[1] == 1:
        names.append("channels_last")
    return names


@wrong(ex.formats, "can still be a slice with gaps")
def formats_by_the_ambiguous_sizes(shape, stride):
    if shape[1] == 1 or (shape[2] == 1 and shape[3] == 1):
        return {"contiguous_format", "channels_last"}
    flags = both_flags(shape, stride)
    names = ("contiguous_format", "channels_last")
    return [name for name, flag in zip(names, flags, strict=True) if flag]


@wrong(ex.formats, "An empty tensor counts as contiguous_format whatever")
def formats_of_what_is_there(shape, stride):
    found = []
    for name, dims in {"contiguous_format": "wHCN", "channels_last": "CwHN"}.items():
        step, fits = 1, True
        for d in ("NCHw".index(letter) for letter in dims):
            if shape[d] == 1:
                continue
            fits &= stride[d] == step
            step *= shape[d]
        if fits:
            found.append(name)
    return found


@wrong(ex.formats, "For an empty tensor torch is uneven")
def formats_of_nothing_are_both(shape, stride):
    first, second = both_flags(shape, stride)
    empty = math.prod(shape) == 0
    return [
        *(["contiguous_format"] if first or empty else []),
        *(["channels_last"] if second or empty else []),
    ]


@unnamed(ex.formats)
def formats_always_both(shape, stride):
    return {"contiguous_format", "channels_last"}


@unnamed(ex.formats)
def formats_never(shape, stride):
    return set()


@unnamed(ex.formats, ANOTHER_KIND)
def formats_as_flags(shape, stride):
    return both_flags(shape, stride)


@unnamed(ex.formats, ANOTHER_KIND)
def formats_as_a_word(shape, stride):
    return "both"


@unnamed(ex.formats)
def formats_as_torch_takes_them(shape, stride):
    t = torch.empty_strided(shape, stride)
    taken = t.to(memory_format=NHWC) is t
    return {"channels_last"} if taken else {"contiguous_format"}


# first_to_lose --------------------------------------------------------------------------------


@wrong(ex.first_to_lose, "You take `is_contiguous()` for the opposite")
def loser_is_contiguous(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if x.is_contiguous():
            return k
    return len(layers)


@wrong(ex.first_to_lose, "You compare the output's strides with those of the input")
def loser_has_other_strides(layers, x):
    before = x.stride()
    k = 0
    while k < len(layers):
        x = layers[k](x)
        if x.stride() != before:
            break
        k += 1
    return k


@wrong(ex.first_to_lose, "is not the whole of channels_last")
def loser_has_no_unit_stride(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if x.dim() < 4 or x.stride()[1] != 1:
            return k
    return len(layers)


@wrong(ex.first_to_lose, "with those of a new channels-last tensor")
def loser_is_not_like_new(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if x.dim() != 4 or x.stride() != torch.empty(x.shape, memory_format=NHWC).stride():
            return k
    return len(layers)


@wrong(ex.first_to_lose, "go by the order of the strides")
def loser_has_another_dim_order(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if tuple(x.dim_order()) != (0, 2, 3, 1):
            return k
    return len(layers)


@wrong(ex.first_to_lose, "You find the last layer that is not")
def loser_is_overwritten(layers, x):
    answer = len(layers)
    for k, layer in enumerate(layers):
        x = layer(x)
        if not x.is_contiguous(memory_format=NHWC):
            answer = k
    return answer


@wrong(ex.first_to_lose, "You only look at what comes out at the end")
def loser_by_the_end(layers, x):
    y, flags = x, []
    for layer in layers:
        y = layer(y)
        flags.append(y.is_contiguous(memory_format=NHWC))
    if not flags or flags[-1]:
        return len(layers)
    return flags.index(False)


@wrong(ex.first_to_lose, "Every layer gets the input x from you")
def loser_without_a_chain(layers, x):
    for k, layer in enumerate(layers):
        y = layer(x)
        if not y.is_contiguous(memory_format=NHWC):
            return k
    return len(layers)


@wrong(ex.first_to_lose, "You count the layers from 1")
def loser_from_one(layers, x):
    for k, layer in enumerate(layers, start=1):
        x = layer(x)
        if not x.is_contiguous(memory_format=NHWC):
            return k
    return len(layers)


@wrong(ex.first_to_lose, "Where none does, answer `len(layers)`")
def loser_or_minus_one(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if not x.is_contiguous(memory_format=NHWC):
            return k
    return -1


@wrong(ex.first_to_lose, "You name the last layer that still keeps the format")
def loser_or_last_keeper(layers, x):
    kept = -1
    for k, layer in enumerate(layers):
        x = layer(x)
        if not x.is_contiguous(memory_format=NHWC):
            break
        kept = k
    return kept


@unnamed(ex.first_to_lose)
def loser_is_always_the_first(layers, x):
    return 0


@unnamed(ex.first_to_lose)
def loser_is_nobody(layers, x):
    return len(layers)


@wrong(ex.first_to_lose, "go by the order of the strides")
def loser_as_torch_takes_it(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if x.ndim != 4 or x.to(memory_format=NHWC) is not x:
            return k
    return len(layers)


@unnamed(ex.first_to_lose, ANOTHER_KIND)
def loser_itself(layers, x):
    for layer in layers:
        x = layer(x)
        if not x.is_contiguous(memory_format=NHWC):
            return layer
    return len(layers)


@unnamed(ex.first_to_lose)
def loser_of_a_strict_dim_order(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if x.dim_order(ambiguity_check=True) != (0, 2, 3, 1):
            return k
    return len(layers)


@unnamed(ex.first_to_lose, "Your function runs to its end and answers None")
def loser_or_none(layers, x):
    for k, layer in enumerate(layers):
        x = layer(x)
        if not x.is_contiguous(memory_format=NHWC):
            return k
    return None


# flatten_images -------------------------------------------------------------------------------


@wrong(ex.flatten_images, "You copy whatever is not contiguous")
def rows_of_a_contiguous_batch(x):
    return x.contiguous().view(x.size(0), -1) if x.numel() else x.flatten(1)


@wrong(ex.flatten_images, "You copy whatever is not contiguous")
def rows_by_ravel(x):
    return x.ravel().reshape(x.shape[0], x.shape[1:].numel())


@wrong(ex.flatten_images, "Always a copy")
def rows_always_copied(x):
    return torch.stack(list(x)).reshape(len(x), -1) if len(x) else x.flatten(1)


@wrong(ex.flatten_images, "Always a copy")
def rows_copied_into_new(x):
    rows = torch.empty(x.shape, dtype=x.dtype)
    rows.copy_(x)
    return rows.flatten(1)


@wrong(ex.flatten_images, "One copy too many")
def rows_of_a_clone(x):
    return torch.clone(x).reshape(x.size(0), x[:0].flatten(1).size(1))


@wrong(ex.flatten_images, "`view` never copies, so it raises")
def rows_by_view(x):
    return x.view(x.size(0), x.size(1) * x.size(2) * x.size(3))


@wrong(ex.flatten_images, "Your rows stand in the order H, W, C")
def rows_of_pixels(x):
    return torch.flatten(x.movedim(1, -1), 1)


@wrong(ex.flatten_images, "Your rows stand in the order H, W, C")
def rows_of_pixels_where_c_is_innermost(x):
    n = x.size(0)
    if x.size(1) > 1 and x.stride(1) == 1 and x.is_contiguous(memory_format=NHWC) and x.numel():
        nhwc = x.permute(0, 2, 3, 1)
        return nhwc.view(n, -1)
    return x.flatten(1)


@wrong(ex.flatten_images, "You read the storage as it lies")
def rows_of_the_storage(x):
    n = x.size(0)
    m = x[0].numel() if n else 24
    return torch.as_strided(x, (n, m), (m, 1))


@wrong(ex.flatten_images, "All images in one row")
def rows_in_one(x):
    return x.reshape(-1)


@wrong(ex.flatten_images, "You copy whatever is not contiguous")
def rows_by_the_flag(x):
    if not x.is_contiguous():
        fresh = torch.empty(x.shape, dtype=x.dtype)
        fresh.copy_(x)
        x = fresh
    return x.flatten(1)


@wrong(ex.flatten_images, "One copy too many")
def rows_with_a_copy_thrown_away(x):
    x.clone()
    return x.flatten(1)


@wrong(ex.flatten_images, "cannot work out what -1 should be")
def rows_of_minus_one(x):
    return torch.reshape(x, (len(x), -1))


@unnamed(ex.flatten_images)
def rows_of_all_dims_but_one(x):
    return x.flatten(2)


@unnamed(ex.flatten_images)
def rows_in_float64(x):
    return x.flatten(1).double()


@unnamed(ex.flatten_images)
def rows_upside_down(x):
    return x.flatten(1).flip(0)


@unnamed(ex.flatten_images, "Your rows stand in memory that no operation of torch made")
def rows_through_numpy(x):
    return torch.from_numpy(x.numpy().reshape(len(x), math.prod(x.shape[1:])).copy())


@unnamed(ex.flatten_images, ANOTHER_KIND)
def rows_as_a_list(x):
    return x.flatten(1).tolist()


@unnamed(ex.flatten_images, ANOTHER_KIND)
def rows_as_an_array(x):
    return x.flatten(1).numpy()


@unnamed(ex.flatten_images)
def rows_with_two_copies_thrown_away(x):
    x.clone().clone()
    return x.flatten(1)


# uses_to_pay_back -----------------------------------------------------------------------------


@wrong(ex.uses_to_pay_back, "You round down")
def uses_rounded_down(convert, before, after):
    if before <= after:
        return math.inf if convert else 0
    return int(convert / (before - after))


@wrong(ex.uses_to_pay_back, "You round to the nearest number")
def uses_to_the_nearest(convert, before, after):
    if before <= after:
        return math.inf if convert else 0
    return round(convert / (before - after))


@wrong(ex.uses_to_pay_back, "not yet a count of uses")
def uses_in_fractions(convert, before, after):
    if before <= after:
        return math.inf if convert else 0
    return convert / (before - after)


@wrong(ex.uses_to_pay_back, "You divide by the time of one use")
def uses_of_the_new_time(convert, before, after):
    if convert == 0:
        return 0
    if before <= after:
        return math.inf
    return -(-convert // after) if after else -(-convert // (before - after))


@wrong(ex.uses_to_pay_back, "You divide by the time of one use")
def uses_of_the_old_time(convert, before, after):
    if convert == 0:
        return 0
    return math.ceil(convert / before) if before > after else float("inf")


@wrong(ex.uses_to_pay_back, "as if converting were free")
def uses_of_the_faster_one(convert, before, after):
    return math.inf if after >= before else 1


@wrong(ex.uses_to_pay_back, "as if converting were free")
def uses_of_the_faster_one_at_once(convert, before, after):
    if before > after:
        return 0
    return math.inf


@wrong(ex.uses_to_pay_back, "Where it gets no cheaper")
def uses_without_a_never(convert, before, after):
    return math.ceil(convert / (before - after))


@wrong(ex.uses_to_pay_back, "Where it gets no cheaper")
def uses_or_minus_one(convert, before, after):
    if convert == 0:
        return 0
    if before <= after:
        return -1
    return -int(-convert // (before - after))


@wrong(ex.uses_to_pay_back, "Where it gets no cheaper")
def uses_or_nought(convert, before, after):
    saved = max(before - after, 0)
    return math.ceil(convert / saved) if saved else 0


@wrong(ex.uses_to_pay_back, "Where it gets no cheaper")
def uses_of_a_distance(convert, before, after):
    if not convert:
        return 0
    distance = abs(after - before)
    return math.ceil(convert / distance) if distance else math.inf


@wrong(ex.uses_to_pay_back, "One use too many where the sums are equal")
def uses_until_faster(convert, before, after):
    if after >= before:
        return math.inf
    n = 0
    while convert + n * after >= n * before:
        n += 1
    return n


@wrong(ex.uses_to_pay_back, "A conversion that takes no time")
def uses_from_one(convert, before, after):
    if convert and before <= after:
        return math.inf
    n = 1
    while convert + n * after > n * before and convert:
        n += 1
    return n


@wrong(ex.uses_to_pay_back, "A conversion that takes no time")
def uses_never_where_nothing_is_saved(convert, before, after):
    if before - after <= 0:
        return math.inf
    return math.ceil(convert / (before - after))


@unnamed(ex.uses_to_pay_back)
def uses_by_heart(convert, before, after):
    return 10


@unnamed(ex.uses_to_pay_back)
def uses_as_a_speed_up(convert, before, after):
    return before / after if after else 1


@unnamed(ex.uses_to_pay_back)
def uses_given_up_early(convert, before, after):
    for n in range(100):
        if convert + n * after <= n * before:
            return n
    return math.inf


@unnamed(ex.uses_to_pay_back, ANOTHER_KIND)
def uses_in_words(convert, before, after):
    return "never"


@unnamed(ex.uses_to_pay_back, ANOTHER_KIND)
def uses_as_a_verdict(convert, before, after):
    return before > after
