"""Wrong answers to the exercises of notebook 09."""

import torch

from stridekit import Layout, has_internal_overlap
from stridekit.exercises import way_back as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, CHANGES, GENERAL, STOPS, refused


def like(g):
    """Return a right target."""
    return torch.empty(g.shape, dtype=g.dtype)


def packed_if_strided(g):
    source = g
    if g.dim() > 0 and g.stride(g.dim() - 1) != 1:
        source = g.contiguous()
    return source, like(g)


def doubled(g):
    g.mul_(2)
    return g.contiguous(), like(g)


refused(
    ex.for_kernel,
    {
        "You hand g over as it lies": [lambda g: (g, like(g)), lambda g: (g[...], like(g))],
        "You copy g in its own order": [
            lambda g: (g.clone(), like(g)),
            lambda g: (g + 0, like(g)),
            lambda g: (torch.clone(g), torch.zeros(g.shape, dtype=g.dtype)),
        ],
        "You always copy": [lambda g: (torch.empty(g.shape, dtype=g.dtype).copy_(g), like(g))],
        "You clone what is not contiguous": [
            lambda g: (g if g.is_contiguous() else torch.empty_like(g).copy_(g), like(g)),
        ],
        "only if its last stride is not 1": [packed_if_strided],
        "You pack an expanded g alone": [
            lambda g: (g.contiguous() if 0 in g.stride() else g, like(g)),
        ],
        "You flatten g, which copies only what has no flat view": [
            lambda g: (torch.flatten(g), like(g)),
            lambda g: (g.reshape(g.numel()), like(g)),
        ],
        "You call `view`, which never copies": [lambda g: (g.view(g.numel()), like(g))],
        "Your target has the order of g": [
            lambda g: (g.contiguous(), torch.zeros_like(g)),
            lambda g: (g.contiguous(), torch.empty_like(g)),
        ],
        "Your target lies on a storage that is read": [
            lambda g: (g.contiguous(),) * 2,
            lambda g: (g.contiguous(), g.contiguous()[...]) if g.is_contiguous() else (g, g),
        ],
        "The values are right, the dtype is not": [
            lambda g: (g.contiguous(), torch.zeros(g.shape)),
        ],
        "Your target is flat": [
            lambda g: (g.contiguous(), g.new_empty(g.numel())),
            lambda g: (g.ravel(), torch.empty_like(g.ravel())),
        ],
        "Your target has the strides of g": [
            lambda g: (g.contiguous(), g.new_empty_strided(g.shape, g.stride())),
        ],
        ANOTHER_KIND: [lambda g: g.contiguous(), lambda g: (g.contiguous(), g.tolist())],
        CHANGES: [doubled],
    },
)

refused(
    ex.grad_stride,
    {
        "You give the gradient the parameter's stride, always": [lambda shape, stride: stride],
        "You make every gradient contiguous": [
            lambda shape, stride: Layout(shape).stride,
            lambda shape, stride: (
                stride if Layout(shape, stride).is_contiguous() else Layout(shape).stride
            ),
        ],
        "You look for a stride of 1": [
            lambda shape, stride: stride if 1 in stride or not stride else Layout(shape).stride,
        ],
        "You copy every stride without a 0": [
            lambda shape, stride: Layout(shape).stride if not all(stride) else stride
        ],
        "in its order of dims, as `clone` does": [
            "stride if layout => layout.clone().stride if layout "
            "&& Layout(shape).stride => layout.clone().stride",
        ],
        "that of the shape from back to front": [
            "Layout(shape).stride => Layout(tuple(reversed(shape))).stride",
        ],
        "You sort the strides": [lambda shape, stride: sorted(stride)[::-1]],
        "which has stride 0": [lambda shape, stride: tuple(0 * s for s in stride)],
        ANOTHER_KIND: [lambda shape, stride: shape.count],
    },
)


refused(
    ex.arrives,
    {
        "The gradient of your sum has the right values in new memory": [
            "g.unsqueeze(dim).expand(shape) => g.unsqueeze(dim).repeat_interleave(shape[dim], dim)",
        ],
        "You expand g without a new dim": [
            "g.unsqueeze(dim).expand(shape) => g.broadcast_to(shape)",
        ],
        "You divide by the number of elements": [
            "g.unsqueeze(dim).expand(shape) => (g / shape[dim]).unsqueeze(dim).expand(shape)",
        ],
        "The gradient of your sum has a single index": [
            "g.unsqueeze(dim).expand(shape) => torch.unsqueeze(g, dim)",
        ],
        "You answer 1 for each element that was summed": [
            "g.unsqueeze(dim).expand(shape) => g.new_ones(shape)",
        ],
        "The gradient of your transpose is a copy": [
            "g.transpose(a, b) => torch.transpose(g, a, b).clone()",
        ],
        "mixed values: reshape does not transpose": [
            "g.transpose(a, b) => g.reshape(*shape)",
        ],
        "Exchange the two dims of g as the step did": ["g.transpose(a, b) => g.view_as(g)"],
        "You cut out the first piece of g": [
            "g.narrow(dim, before, shape[dim]) => g.split([shape[dim], before], dim)[0]",
        ],
        "You exchange start and length": [
            "g.narrow(dim, before, shape[dim]) => "
            "torch.narrow(g, dim, shape[dim], g.size(dim) - shape[dim])",
        ],
        "The gradient of your cat is a copy where": [
            "g.narrow(dim, before, shape[dim]) => "
            "g.split([before, shape[dim]], dim)[1].contiguous()",
        ],
        "The gradient of your cat has the right values in new memory": [
            "g.narrow(dim, before, shape[dim]) => g.narrow_copy(dim, before, shape[dim])",
        ],
        "You write g at the beginning of the zeros": [
            "full.narrow(dim, start, g.size(dim)) => full.split(g.size(dim), dim)[0]",
        ],
        "The values are right, the dtype is not": [
            "torch.zeros(shape, dtype=g.dtype) => torch.zeros(*shape)",
        ],
        "outside of the slice the gradient 1": [
            "torch.zeros(shape, dtype=g.dtype) => g.new_ones(shape)",
        ],
        "You return g for a slice": ["return full => return g.view_as(g)"],
        STOPS: [lambda g, step, shape: g.backward()],
        CHANGES: [
            "g.unsqueeze(dim).expand(shape) => "
            "g.mul_(2).unsqueeze(dim).expand(shape) if g.is_contiguous() else "
            "g.unsqueeze(dim).expand(shape)"
        ],
    },
)


def as_view(flat, params):
    """Without the strides of the parameters, as `view` and `split` give them."""
    sizes = [param.numel() for param in params]
    pieces = flat[: sum(sizes)].split(sizes) if sizes else []
    return [piece.view(param.shape) for piece, param in zip(pieces, params, strict=True)]


def from_the_end(flat, params):
    views, start = [], flat.storage_offset()
    for param in reversed(params):
        views.insert(0, flat.as_strided(param.shape, param.stride(), start))
        start += param.numel()
    return views


def own_memory(flat, params):
    return [torch.empty_strided(p.shape, p.stride(), dtype=p.dtype) for p in params]


def first_place(flat, params):
    return [flat.as_strided(p.shape, p.stride()) for p in params]


refused(
    ex.grad_views,
    {
        "The offset of as_strided counts from the start of the storage": [
            "flat.storage_offset() => sum([])",
        ],
        "as if you counted bytes": [
            "flat.storage_offset() => flat.storage_offset() * 4 * (flat.itemsize // 4)"
        ],
        "Your views have contiguous strides": [as_view],
        "A size and its stride stand at different places": [
            "param.stride(), start => [*reversed(param.stride())], start",
        ],
        "You advance by the bytes": ["param.numel() => param.numel() * param.element_size()"],
        "You advance by the first size": ["param.numel() => (param.size(0) if param.ndim else 1)"],
        "You advance by the storage": [
            "param.numel() => len(param.untyped_storage()) // param.element_size()",
        ],
        "All your views begin at one place": [first_place],
        "You leave an element of flat free": ["param.numel() => 1 + param.numel()"],
        "Your list holds new tensors": ["views.append(view) => views += [view + 0]", own_memory],
        "Your views begin where the parameters begin": [
            lambda flat, params: [
                flat.as_strided(p.shape, p.stride(), p.storage_offset()) for p in params
            ],
        ],
        "The right views, the last one first": ["views.append(view) => views.insert(0, view)"],
        "You lay the last parameter first": [
            "views.append(view) => views.insert(0, view) && in params => in reversed(params) "
            "&& return views => return views[::-1]",
        ],
        GENERAL: [from_the_end],
    },
)


def rows_begin_at_16(t):
    """Whether all rows of a tensor are aligned."""
    steps = [
        step * t.itemsize for n, step in zip(t.shape[:-1], t.stride()[:-1], strict=True) if n > 1
    ]
    return not any(step % 16 for step in [t.data_ptr(), *steps])


refused(
    ex.may_write,
    {
        "You judge an empty tensor by its strides": ["t.numel() == 0 => t.numel() < 0"],
        "You ask for a last stride of 1 where a row has a single element": [
            lambda t: (
                t.numel() == 0
                or (t.stride(-1) == 1 and rows_begin_at_16(t) and not has_internal_overlap(t))
            ),
        ],
        "You ask for aligned strides where no index steps": ["size > 1 => size > 0"],
        "You do not ask where the first row begins": ["[t.data_ptr()] => [0]"],
        "The storage itself may begin anywhere": [
            "[t.data_ptr()] => [t.storage_offset() * t.element_size()]",
        ],
        "You look at the offset, in elements": ["[t.data_ptr()] => [t.storage_offset() + 16]"],
        "It counts elements, and the kernel's 16 are bytes": ["step * t.itemsize => 0 + step"],
        "You take 4 bytes for each element": ["step * t.itemsize => 4 * step"],
        "and not where the others do": [
            lambda t: (
                t.numel() == 0
                or (
                    (t.stride(-1) == 1 or t.size(-1) == 1)
                    and t.data_ptr() % 16 == 0
                    and not has_internal_overlap(t)
                )
            ),
        ],
        "You do not ask whether indices share an element": [
            lambda t: (
                t.numel() == 0 or ((t.stride(-1) == 1 or t.size(-1) == 1) and rows_begin_at_16(t))
            ),
        ],
        "You look for a stride of 0": [
            "not has_internal_overlap(t) => all(t.stride())",
        ],
        "You ask for a last stride of 1 alone": [lambda t: t.stride()[-1] == 1],
        "You ask whether t is contiguous": [lambda t: t.is_contiguous()],
        "You take contiguous tensors alone": [
            lambda t: not t.data_ptr() % 16 and t.contiguous() is t,
        ],
        "You ask for the address alone": [lambda t: not t.data_ptr() % 16],
        ANOTHER_KIND: [lambda t: "yes"],
    },
)


def real(images):
    return images[:, :, ::2, ::2].clone(memory_format=torch.channels_last)


refused(
    ex.fake_halve,
    {
        "You round odd sizes down": [
            "(h + 1) // 2 => int(h / 2) && (w + 1) // 2 => int(w / 2)",
        ],
        "You keep the size of the images": [
            lambda images: torch.empty_like(images, memory_format=torch.channels_last),
            lambda images: torch.empty(
                images.shape,
                dtype=images.dtype,
                device="meta",
                memory_format=torch.channels_last,
            ),
        ],
        "Your shape has the channels last": [lambda images: real(images).permute(0, 2, 3, 1)],
        "You halve the rows alone": [
            lambda images: images[:, :, ::2].clone(memory_format=torch.channels_last),
        ],
        "The values are right, the dtype is not": [lambda images: real(images.float())],
        "Your result is on the CPU": [
            lambda images: torch.empty(real(images).shape, dtype=images.dtype).contiguous(
                memory_format=torch.channels_last
            ),
        ],
        "You promise contiguous strides": [
            lambda images: images.new_empty(real(images).shape),
            lambda images: real(images).contiguous(),
        ],
        "You promise the order of images": [
            lambda images: torch.zeros_like(images[:, :, ::2, ::2]),
            lambda images: images[:, :, ::2, ::2] * 1,
        ],
        "You promise a result like images": [lambda images: torch.zeros_like(images)],
        "You return a view of images": [lambda images: images[..., ::2, ::2]],
        "You convert by `to`": [
            lambda images: images[..., ::2, ::2].to(memory_format=torch.channels_last),
        ],
        "`contiguous` copies only what has another order": [
            lambda images: images[..., ::2, ::2].contiguous(memory_format=torch.channels_last),
        ],
        STOPS: [lambda images: torch.tensor(images.tolist())],
        ANOTHER_KIND: [lambda images: real(images).shape],
    },
)
