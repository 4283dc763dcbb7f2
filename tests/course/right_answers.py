"""Right answers in other forms than the solutions, and right ones that are made by other means."""

import fractions
import math
from itertools import pairwise

import numpy as np
import torch

from stridekit import Layout, memset, shares_memory, traffic
from stridekit.cost.warp import warp_sectors
from stridekit.exercises import (
    attention,
    channels_last,
    contiguity,
    hardware,
    performance,
    strides,
    views,
    way_back,
    your_model,
)
from stridekit.exercises.start import slot
from stridekit.lessons.attention import matmul_copies
from tests.course.wrong_answers.contiguity import torch_view

NHWC = torch.channels_last


def start(x, *index):
    """The element of the storage at which x[index] begins."""
    return x.storage_offset() + sum(i * step for i, step in zip(index, x.stride(), strict=False))


def shape_and_step(x):
    """The two numbers of a diagonal."""
    return (min(x.shape),), (sum(x.stride()),)


def exactly(convert, before, after):
    """With fractions, which round nothing."""
    saved = fractions.Fraction(before) - fractions.Fraction(after)
    if saved <= 0:
        return 0 if convert == 0 else math.inf
    return math.ceil(fractions.Fraction(convert) / saved)


def even_by_traffic(t):
    """With the line of the copy that is written only in part."""
    copy = t.contiguous()
    if copy is t:
        return 0
    making = traffic(t, copy).moved
    if making == 0:
        return 0
    saved = traffic(t).moved - traffic(copy).moved
    return math.ceil(making / saved) if saved > 0 else math.inf


def order_by(cost):
    """An order of the cheapest first, by this cost of a view."""
    return lambda expressions: sorted(expressions, key=lambda name: cost(expressions[name]))


def blocks_by_slices(pool, table):
    steps = {b - a for a, b in pairwise(table)}
    if len(table) < 1 or len(steps) > 1 or min(steps, default=0) < 0:
        return torch.stack([pool[k] for k in table]) if table else pool[:0]
    if not any(steps):
        return pool[table[0]].expand(len(table), *pool.shape[1:])
    return pool.narrow(0, table[0], table[-1] - table[0] + 1)[:: min(steps)]


def dense(shape, stride):
    """Whether the elements of a tensor fill their memory, sorted by stride."""
    place = 1
    for step, size in sorted(zip(stride, shape, strict=True)):
        if size > 1 and step != place:
            return False
        place *= size
    return True


def by_autograd(g, step, shape):
    """The gradient that autograd computes."""
    x = torch.zeros(shape, dtype=g.dtype, requires_grad=g.dtype.is_floating_point)
    name, dim, *rest = step
    if not x.requires_grad:
        return way_back.arrives.reference(g, step, shape)
    if name == "cat":
        before = [*shape]
        before[dim] = g.size(dim) - shape[dim]
        result = torch.cat([torch.zeros(before, dtype=g.dtype), x], dim)
    elif name == "slice":
        result = x.narrow(dim, *rest, g.size(dim))
    else:
        result = getattr(x, name)(dim, *rest)
    return torch.autograd.grad(result, x, g)[0]


WRITE = "cache[:, :, t : t + 1] = k"
AS_STRIDED = torch.ops.aten.as_strided
RIGHT = [
    (strides.element, lambda index, stride: np.dot(index, stride)),
    (strides.element, "element(index[::-1], stride[::-1])"),
    (strides.address, lambda t, i: t[i].data_ptr() - t.untyped_storage().data_ptr()),
    (strides.contiguous_stride, "(step for step in contiguous_stride(shape))"),
    (
        strides.recover_slice,
        "start + view.numel() * step => start + max((len(view) - 1) * step + 1, 0)",
    ),
    (strides.recover_slice, "(recover_slice(base, view),)"),  # base[(s,)] is base[s]
    (strides.raw_bytes, "bytes(t.untyped_storage().tolist())"),
    (strides.raw_bytes, "storage.data_ptr() => ctypes.c_void_p(storage.data_ptr())"),
    (strides.row, lambda x, i: x[:].as_strided_(x.shape[1:], (x.stride(1),), start(x, i))),
    (strides.row, lambda x, i: torch.as_strided(x, x.shape[1:], x.stride()[1:], start(x, i))),
    (
        strides.row,
        lambda x, i: torch.Tensor.as_strided(
            x.detach(), x.shape[-1:], x.stride()[-1:], start(x, i)
        ),
    ),
    (strides.row, lambda x, i: x.as_strided((1, x.size(1)), (7, x.stride(1)), start(x, i))[0]),
    (strides.row, lambda x, i: strides.column.reference(x.t(), i)),
    (
        strides.column,
        lambda x, j: x.as_strided(
            storage_offset=start(x, 0, j), stride=[x.stride(0)], size=[len(x)]
        ),
    ),
    (strides.column, lambda x, j: x.as_strided((len(x), 1), x.stride(), start(x, 0, j))[:, 0]),
    (strides.diagonal, lambda x: AS_STRIDED(x, *shape_and_step(x))),
    (strides.diagonal, lambda x: AS_STRIDED.default(x, *shape_and_step(x))),
    (
        strides.trace,
        lambda x: sum(x.as_strided((), (), start(x, k, k)) for k in range(min(x.shape))),
    ),
    (strides.trace, lambda x: sum(x.as_strided(*shape_and_step(x)).tolist())),
    (strides.trace, lambda x: x.as_strided(*shape_and_step(x)).numpy().sum()),
    (strides.windows, lambda x, size: x.as_strided((size, len(x) - size + 1), x.stride() * 2).t()),
    (
        views.memset_of,
        "{t[i].data_ptr() - t.untyped_storage().data_ptr() + k "
        "for i in np.ndindex(*t.shape) for k in range(t.itemsize)}",
    ),
    (views.memset_of, "memset_of(t) or {}"),
    (views.share_bytes, "torch.tensor(share_bytes(a, b))"),
    (views.permute_layout, "[*map(torch.tensor, permute_layout(shape, stride, dims))]"),
    (views.permute_layout, "list(zip(*[(shape[d], stride[d]) for d in dims])) or ((), ())"),
    (views.keep_row, "big[i : i + 1].clone()[0]"),
    (views.keep_row, "big[i].to(big.dtype, copy=True)"),
    (views.keep_row, "torch.tensor(big[i].tolist(), dtype=big.dtype)"),
    (views.keep_row, "big[[i]][0]"),
    (views.keep_row, "big.clone()[i].clone()"),
    (views.keep_row, "torch.empty_like(big[i]).copy_(big[i])"),
    (views.first_copy, "(x.add_(1), x.sub_(1), first_copy(x, steps))[2]"),  # undoes what it writes
    (views.bump_first, "e + torch.eye(len(e), 1, dtype=e.dtype).view(-1, *[1] * (e.ndim - 1))"),
    (views.bump_first, "bump_first(e * 1)"),
    (views.bump_first, "torch.stack([row + (k == 0) for k, row in enumerate(e)])"),
    (contiguity.is_contiguous, "torch.tensor(is_contiguous(shape, stride))"),
    (
        contiguity.view_stride,
        "return (1,) => return (7,) && return tuple(new_stride) => "
        "return [7 if n == 1 else s for n, s in zip(new_shape, new_stride)]",
    ),
    (contiguity.unviewable, "unviewable(shape, stride) and (-1,)"),
    (contiguity.by_columns, "x.mT.contiguous().view(len(x), x.size(1) * x.size(2))"),
    (contiguity.by_columns, "torch.einsum('nhw->nwh', x).reshape(len(x), x.size(1) * x.size(2))"),
    (contiguity.by_columns, "x.transpose(1, 2).flatten(1).contiguous()"),
    (
        contiguity.by_columns,
        "x.as_strided(width(x), (x.size(1) * x.size(2), 1)) if x.mT.is_contiguous() "
        "else torch.empty(len(x), x.size(2), x.size(1), dtype=x.dtype).copy_(x.mT).view(width(x))",
    ),
    (channels_last.channels_last_view, "images.transpose(2, 3).transpose(1, 2)"),
    (channels_last.channels_last_view, "torch.einsum('nhwc->nchw', images)"),
    (channels_last.channels_last_view, "torch.from_numpy(images.numpy().transpose(0, 3, 1, 2))"),
    (channels_last.channels_last_view, "torch.from_dlpack(images).permute(0, 3, 1, 2)"),
    (channels_last.formats, "{getattr(torch, name) for name in formats(shape, stride)}"),
    (
        channels_last.formats,
        "{'nhwc' if 'last' in name else 'NCHW' for name in formats(shape, stride)}",
    ),
    (channels_last.formats, "[*map(np.str_, formats(shape, stride))]"),
    (channels_last.flatten_images, "torch.flatten(x, start_dim=1)"),
    (channels_last.flatten_images, "x.flatten(2).flatten(1)"),
    (
        channels_last.flatten_images,
        "x.reshape_as(torch.empty(len(x), x[:1].numel() if len(x) else "
        "math.prod(x.shape[1:]), device='meta'))",
    ),
    (channels_last.uses_to_pay_back, exactly),
    (channels_last.uses_to_pay_back, "np.float64(uses_to_pay_back(convert, before, after))"),
    (
        hardware.time_it,
        "samples = [] => samples = []; queue.clock(); queue.work(); queue.work() "
        "&& start = => queue.synchronize(); start = && sorted(samples) => np.sort(samples)",
    ),
    # In blocks of 64 bytes, these bars are the same.
    (
        hardware.slowdown,
        lambda stride: (len({k * stride * 4 // 64 for k in range(32)}) + 2) / 4,
    ),
    (hardware.slowdown, lambda stride: np.float32((1 + stride) / 2)),
    (
        your_model.norm_bytes,
        lambda x: (
            x.nbytes * (not x.permute(0, 2, 3, 1).is_contiguous())
            + x.nbytes * (x.size(1) > 1 and x.shape[2:].numel() > 1)
        ),
    ),
    (way_back.for_kernel, lambda g: (g.ravel(), g.new_empty(g.shape))),
    (
        way_back.for_kernel,
        lambda g: (
            g if g.is_contiguous() else torch.empty(g.shape, dtype=g.dtype).copy_(g),
            torch.empty_like(g, memory_format=torch.contiguous_format),
        ),
    ),
    (
        way_back.grad_stride,
        lambda shape, stride: (
            (Layout(shape, stride) if dense(shape, stride) else Layout(shape)).stride
        ),
    ),
    (
        way_back.arrives,
        "g.unsqueeze(dim).expand(shape) => g.unsqueeze(dim).broadcast_to(shape) && "
        "g.narrow(dim, before, shape[dim]) => g.tensor_split((before,), dim)[1] && "
        "g.transpose(a, b) => g.swapdims(b, a)",
    ),
    (way_back.arrives, by_autograd),
    (
        way_back.grad_views,
        "start = flat.storage_offset() => start = 0 && flat.as_strided(param.shape, param.stride(), start) "
        "=> flat[start:].as_strided(param.shape, param.stride())",
    ),
    (way_back.grad_views, "tuple(grad_views(flat, params))"),
    (way_back.may_write, "torch.tensor(may_write(t))"),
    (
        way_back.may_write,
        "not has_internal_overlap(t) => "
        "len({t[i].data_ptr() for i in np.ndindex(*t.shape)}) == t.numel()",
    ),
    (
        way_back.fake_halve,
        lambda images: images[:, :, ::2, ::2].clone(memory_format=NHWC),
    ),
    (
        way_back.fake_halve,
        lambda images: images.new_zeros(
            images.size(0), -(-images.size(2) // 2), -(-images.size(3) // 2), images.size(1)
        ).permute(0, 3, 1, 2),
    ),
    (slot, lambda i, j: torch.arange(40).as_strided((4, 6), (8, 1), 2)[i, j]),
    (performance.bytes_moved, "torch.tensor(bytes_moved(x, y, out))"),
    (performance.break_even, even_by_traffic),
    (performance.cheapest_first, order_by(lambda v: traffic(v, v + 1).moved)),
    # On one storage, where some partly written lines are read anyway.
    (
        performance.cheapest_first,
        order_by(
            lambda v: traffic(Layout.of(v), Layout(tuple(v.shape), itemsize=v.itemsize)).moved
        ),
    ),
    (performance.cheapest_first, "np.array(cheapest_first(expressions))"),
    (
        attention.head_layout,
        "(T * row, head, row, feature) => "
        "[s * (n > 1) for n, s in zip((B, H, T, D), (T * row, head, row, feature))]",
    ),
    (attention.merge_heads, "y.movedim(2, 1).flatten(-2)"),
    (attention.merge_heads, "torch.einsum('bhtd->bthd', y).flatten(2)"),
    (attention.append, f"{WRITE} => cache[:, :, t] = k[:, :, 0]"),
    (attention.append, f"{WRITE} => cache.select(2, t).copy_(k.squeeze(2))"),
    (attention.append, f"{WRITE} => cache.index_copy_(2, torch.tensor([t]), k)"),
    (attention.append, f"{WRITE} => cache.scatter_(2, torch.tensor(t).expand(k.shape), k)"),
    (attention.append, f"{WRITE} => cache.numpy()[:, :, t] = k.numpy()[:, :, 0]"),
    (
        attention.append,
        f"{WRITE} => cache[:, :, torch.full_like(torch.empty(1, dtype=torch.long), t)] = k",
    ),
    (attention.append, f"{WRITE} => cache[:, :, torch.arange(cache.size(2)) == t] = k"),
    (
        attention.append,
        "cache[:, :, : t + 1] => "
        "cache.as_strided((*k.shape[:2], t + 1, k.size(3)), cache.stride(), cache.storage_offset())",
    ),
    (attention.blocks, blocks_by_slices),
    (
        attention.blocks,
        "pool[table] => pool.index_select(0, torch.tensor(table, dtype=torch.long))",
    ),
    (attention.blocks, "pool[table] => pool[table].mT.contiguous().mT"),
    (
        attention.group_scores,
        "torch.stack([q[:, h] @ k[:, h // (q.size(1) // k.size(1))].mT "
        "for h in range(q.size(1))], 1)",
    ),
    (
        attention.group_scores,
        "rows @ k.mT => k @ rows.mT && .view(B, H, T, S) => .mT.reshape(B, H, T, S)",
    ),
    (
        attention.group_scores,
        "rows @ k.mT => torch.vmap(torch.vmap(lambda a, b: a @ b.mT))(rows, k)",
    ),
    (
        attention.group_scores,
        "torch.einsum('bgntd,bgsd->bgnts', q.unflatten(1, (k.size(1), -1)), k).flatten(1, 2)",
    ),
]

# Right, but not by as_strided alone ---------------------------------------------------------------

NOT_BY_AS_STRIDED = [
    (strides.row, "x[i]"),
    (strides.row, "x[i].as_strided((x.size(1),), (x.stride(1),))"),
    (strides.row, "x.as_strided(x[i].size(), x[i].stride(), x[i].storage_offset())"),
    (strides.row, "x.as_strided(x[0].size(), x[0].stride(), x.storage_offset() + i * x.stride(0))"),
    (strides.row, "x.as_strided(x.shape, x.stride())[i]"),
    (strides.row, "x[i] if i else x.as_strided((x.size(1),), (x.stride(1),))"),
    (
        strides.row,
        "x.new_empty(0).set_("
        "x.untyped_storage(), x[i].storage_offset(), x[i].shape, x[i].stride())",
    ),
    (strides.column, "x.unbind(1)[j]"),
    (strides.diagonal, "x.t().diagonal()"),
    (strides.diagonal, "x.as_strided(x.diagonal().shape, (sum(x.stride()),))"),
    (strides.trace, "sum(x[k, k].item() for k in range(min(x.shape)))"),
    (strides.trace, "(x.as_strided((1,), (1,), 0), x.trace())[1]"),
    (strides.trace, "torch.tensor(x.tolist()).as_strided((min(x.shape),), (x.size(1) + 1,)).sum()"),
    (strides.windows, "x.unfold(0, len(x) - size + 1, 1).t()"),
]

# Right, by stridekit itself; the function that the report names ------------------------------------


def memset_by_stridekit(t):
    storage = t.untyped_storage()
    return {b for b in range(storage.nbytes()) if storage.data_ptr() + b in memset(t)}


def merged_by_layout(shape, stride, d):
    joined = *shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]
    return not Layout(shape, stride).why_not_view(joined)


def permuted_by_layout(shape, stride, dims):
    x = Layout(shape, stride).permute(dims)
    return x.shape, x.stride


BY_STRIDEKIT = [
    (views.memset_of, memset_by_stridekit, "memset"),
    (views.share_bytes, shares_memory, "shares_memory"),
    (views.share_bytes, lambda a, b: not memset(a).isdisjoint(memset(b)), "memset"),
    (views.share_bytes, lambda a, b: any(map(shares_memory, [a], [b])), "shares_memory"),
    (views.permute_layout, permuted_by_layout, "Layout"),
    (strides.contiguous_stride, lambda shape: Layout([n or 1 for n in shape]).stride, "Layout"),
    (contiguity.is_contiguous, lambda *layout: np.bool_(Layout(*layout).is_contiguous()), "Layout"),
    (contiguity.clone_stride, lambda *layout: Layout(*layout).clone().stride, "Layout"),
    (contiguity.mergeable, merged_by_layout, "Layout"),
    (attention.matmul_clones, lambda a, b: matmul_copies(a, b)[:2], "matmul_copies"),
    (performance.cache_lines, lambda *layout: traffic(Layout(*layout)).lines_read, "traffic"),
    (performance.bytes_moved, lambda x, y, out: traffic(reads=(x, y), writes=out).moved, "traffic"),
    (
        hardware.warp_sectors,
        lambda stride, offset, itemsize: (
            warp_sectors(Layout((32,), (stride,), offset, itemsize)).sectors
        ),
        "warp_sectors",
    ),
]

# Right, by torch, which is not to be asked ---------------------------------------------------------


def part_of(shape, stride, offset, dim, start, stop, step):
    x = torch.empty(1000).as_strided(shape, stride, offset)
    part = x[(slice(None),) * dim + (slice(start, stop, step),)]
    return part.shape, part.stride(), part.storage_offset()


def turned(shape, stride, dims):
    y = torch.zeros(1000).as_strided(shape, stride).permute(dims)
    return y.shape, y.stride()


def formats_of(shape, stride):
    x = torch.empty_strided(shape, stride)
    names = ("contiguous_format", "channels_last")
    return {name for name in names if x.is_contiguous(memory_format=getattr(torch, name))}


def head(B, T, H, D, which, packing):
    sizes = [{"3": 3, "H": H, "D": D}[letter] for letter in packing]
    heads = torch.zeros(B, T, *sizes).select(2 + packing.index("3"), "qkv".index(which))
    heads = heads.transpose(1, 2)
    return heads.shape, heads.stride(), heads.storage_offset()


BY_TORCH = [
    (attention.head_layout, head),
    (strides.contiguous_stride, lambda shape: torch.empty(shape).stride()),
    (strides.slice_layout, part_of),
    (views.permute_layout, turned),
    (contiguity.is_contiguous, lambda *layout: torch.empty_strided(*layout).is_contiguous()),
    (contiguity.view_stride, torch_view),
    (contiguity.clone_stride, lambda *layout: torch.empty_strided(*layout).clone().stride()),
    (channels_last.formats, formats_of),
    (channels_last.channels_last_stride, lambda s: torch.empty(s, memory_format=NHWC).stride()),
]
