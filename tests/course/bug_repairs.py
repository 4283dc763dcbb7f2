"""Repairs of the bugs of notebook 10, as changes of the faulty program: "piece => other piece".

A wrong repair has words of the hint that it should get: what is still wrong, with numbers.
"""

SWAPPED = """\
    swapped = torch.empty(x.shape)
    swapped[:, :half] = x[:, half:]
    swapped[:, half:] = x[:, :half]
"""

RIGHT = {
    "prepare": [
        "x.reshape(3, height, width) => x.permute(2, 0, 1)",
        "x.reshape(3, height, width) => x.movedim(-1, 0)",
        "x.reshape(3, height, width) => x.transpose(0, 2).transpose(1, 2)",
        "x.reshape(3, height, width) => torch.stack(x.unbind(-1))",
        "x.reshape(3, height, width) => x.reshape(-1, 3).T.reshape(3, height, width)",
        "torch.from_numpy(photo) => torch.from_numpy(photo.transpose(2, 0, 1).copy())",
    ],
    "fit": [
        "model.state_dict() => {k: v.clone() for k, v in model.state_dict().items()}",
        "model.state_dict() => __import__('copy').deepcopy(model.state_dict())",
        "model.state_dict() => __import__('copy').deepcopy(model).state_dict()",
        "model.state_dict() => nn.utils.parameters_to_vector(model.parameters()).detach() && "
        "model.load_state_dict(best) => nn.utils.vector_to_parameters(best, model.parameters())",
        "best = model.state_dict() => file = io.BytesIO(); torch.save(model.state_dict(), file) && "
        "model.load_state_dict(best) => file.seek(0); model.load_state_dict(torch.load(file))",
    ],
    "save_states": [
        "all_states[-1] => all_states[-1].clone()",
        "all_states[-1] => torch.tensor(all_states[-1].tolist())",
        "all_states[-1] => all_states[[-1]][0]",
        "all_states, _ => _, last && all_states[-1] => last[0]",
        "torch.save(states, file) => "
        "torch.save({k: v + 0 for k, v in states.items()}, file)",
    ],
    "train_reader": [
        ".expand(count, longest, 1) => .repeat(count, 1, 1)",
        ".expand(count, longest, 1) => .expand(count, longest, 1).clone()",
        ".expand(count, longest, 1) => .expand(count, longest, 1).contiguous()",
        "torch.ones(longest, 1).expand(count, longest, 1) => torch.ones(count, longest, 1)",
        "(words * is_word).sum(1) / is_word.sum(1) => "
        "torch.stack([w[:n].mean(0) for w, n in zip(words, lengths)])",
        "(words * is_word).sum(1) / is_word.sum(1) => (words * (torch.arange(longest)[None] < "
        "torch.tensor(lengths)[:, None])[..., None]).sum(1) / torch.tensor(lengths)[:, None]",
    ],
    "train_photos": [
        "x.sub_(0.5).div_(0.25) => x = (x - 0.5) / 0.25",
        "x.sub_(0.5).div_(0.25) => x = x.sub(0.5).div_(0.25)",
        "torch.from_numpy(photos[start : start + 16]) => torch.tensor(photos[start : start + 16])",
        "torch.from_numpy(photos[start : start + 16]) => "
        "torch.from_numpy(photos[start : start + 16].copy())",
        "    losses = []\n =>     losses = []\n    photos = photos.copy()\n && "
        "x.sub_(0.5).div_(0.25) => x = (x - 0.5) / 0.25",
        "    losses = []\n =>     losses = []\n    photos = (photos - np.float32(0.5)) / "
        "np.float32(0.25)\n && x.sub_(0.5).div_(0.25) => pass",
        "            optimizer.step()\n =>             optimizer.step()\n"
        "            x.mul_(0.25).add_(0.5)\n",
    ],
    "pack": [
        "    pixels = ctypes =>     part = part.contiguous()\n    pixels = ctypes",
        "    pixels = ctypes =>     part = part.clone(memory_format=torch.contiguous_format)\n"
        "    pixels = ctypes",
        "ctypes.string_at(part.data_ptr(), part.numel()) => part.numpy().tobytes()",
        "ctypes.string_at(part.data_ptr(), part.numel()) => bytes(part.flatten().tolist())",
        "ctypes.string_at(part.data_ptr(), part.numel()) => "
        "b''.join(ctypes.string_at(row.data_ptr(), len(row)) for row in part.contiguous())",
        "ctypes.string_at(part.data_ptr(), part.numel()) => "
        "ctypes.string_at((copy := part.contiguous()).data_ptr(), copy.numel())",
        "    pixels = ctypes.string_at(part.data_ptr(), part.numel()) =>     import numpy as np\n"
        "    array = np.ascontiguousarray(part.numpy())\n"
        "    pixels = ctypes.string_at(array.ctypes.data, array.size)",
    ],
    "features": [
        "torch.empty(x.shape) => torch.empty_like(x)",
        "torch.empty(x.shape) => torch.empty(x.shape, memory_format=torch.channels_last)",
        f"{SWAPPED} =>     swapped = torch.cat((x[:, half:], x[:, :half]), 1)\n",
        f"{SWAPPED} =>     swapped = x.roll(half, 1)\n",
        f"{SWAPPED} =>  && second(swapped) => "
        "F.conv2d(x, second.weight.roll(half, 1), second.bias, padding=1)",
        "torch.empty(x.shape) => torch.zeros_like(x)",
    ],
    "train_branches": [
        "grad.mul_(0.1) => grad * 0.1",
        "grad.mul_(0.1) => grad.clone().mul_(0.1)",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n =>  && "
        "    losses = []\n =>     for weight in old.parameters():\n"
        "        weight.register_hook(lambda grad: grad.mul_(0.1))\n    losses = []\n",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n =>  && "
        "of_old + of_new => 0.1 * of_old + 0.9 * of_old.detach() + of_new",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n =>  && "
        "        optimizer.step()\n =>         for weight in old.parameters():\n"
        "            weight.grad *= 0.1\n        optimizer.step()\n",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n =>  && "
        "[*old.parameters(), *new.parameters()] => "
        "[{'params': old.parameters(), 'lr': 0.005}, {'params': new.parameters()}]",
    ],
}  # fmt: skip

WRONG = {
    "prepare": {
        "x.reshape(3, height, width) => x.permute(2, 1, 0)": "the picture lies on its side",
        "x.reshape(3, height, width) => x.view(3, height, width)":
            "Do these three values lie beside each other in the photo?",
        "x.reshape(3, height, width) => x.mean(2).expand(3, height, width)":
            "The three channels are equal, so all colour is gone: the first pixel reads [1, 1, 1]",
        "x.reshape(3, height, width) => x.permute(2, 0, 1).flip(0)":
            "Red and blue are exchanged in 16 of 16 pixels",
        "x.reshape(3, height, width) => x.permute(2, 0, 1) && [None] => ":
            "Your batch has shape (3, 4, 4)",
        "x.reshape(3, height, width) => x.permute(2, 0, 1) && (height - side) // 2 => "
        "height % side // 2":
            "4 of 4 pixels are wrong. At (0, 0) belongs the pixel [18, 19, 20] of the photo",
        "x.reshape(3, height, width) => x.permute(2, 0, 1).double()":
            "All 48 values of your batch are torch.float64",
        "    x = x.reshape(3, height, width)\n => "
        "    x = F.avg_pool2d(x.reshape(3, height, width), 3, 1, 1)\n":
            "16 of 16 pixels are wrong",
        "x.reshape(3, height, width) => x.reshape(width, height, 3).permute(2, 1, 0)":
            "the picture lies on its side",
    },
    "fit": {
        "model.state_dict() => dict(model.state_dict())":
            "its weights are those after the last step",
        "model.state_dict() => model.state_dict().copy()":
            "its weights are those after the last step",
        "model.state_dict() => {k: v.detach() for k, v in model.state_dict().items()}":
            "its weights are those after the last step",
        "lr=0.1 => lr=0.01": "So the training has changed",
        "momentum=0.95 => momentum=0.0": "So the training has changed",
        "            best = model.state_dict()\n =>             best = {k: v.clone() for k, v in "
        "model.state_dict().items()}\n        elif losses[-1] > 1.1 * lowest:\n            break\n":
            "rounds, and 20 were asked for",
        "            lowest = losses[-1]\n            best = model.state_dict()\n => "
        "            lowest = losses[-1]\n && "
        "        optimizer.step()\n =>         optimizer.step()\n        if losses[-1] == lowest:\n"
        "            best = {k: v.clone() for k, v in model.state_dict().items()}\n":
            "you keep the weights after one step too many",
        "    model.load_state_dict(best)\n => ": "its weights are those after the last step",
        "            best = model.state_dict()\n =>             best = best or {k: v.clone() for k, v "
        "in model.state_dict().items()}\n": "that of epoch 1: the weights of epoch",
    },
    "save_states": {
        "all_states[-1] => all_states[-1].contiguous()": "They need 128 bytes, and the file holds",
        "all_states[-1] => all_states[-1].detach()": "storages of 51,200 bytes",
        "all_states[-1] => __import__('copy').deepcopy(all_states[-1])": "storages of 51,200 bytes",
        "all_states[-1] => all_states.half()[-1]": "The states in your file are torch.float16",
        "all_states[-1] => all_states.mean(0)": "Your file holds other states. Number",
        "all_states[-1] => all_states[-1][:8].clone()": "Yours has 1, of the shapes (8,)",
        "all_states[-1] => all_states[-1:].clone()": "Yours has 1, of the shapes (1, 32)",
        "return file.getvalue() => return __import__('zlib').compress(file.getvalue())":
            "`torch.load` cannot read these",
        "network(vectors(words)) => network(vectors(words[-8:]))":
            "Your file holds other states. Number",
        "all_states[-1] => all_states[0].clone()": "Your file holds other states. Number",
    },
    "train_reader": {
        "range(60) => range(600)": "More steps learn from the same wrong means.",
        "lr=1.0 => lr=5.0": "words of the longer sentences are still lost",
        "(words * is_word) => (words * is_word.clone())": "the loss if each sentence had 2 words",
        "means = (words => is_word = is_word.contiguous()\n    means = (words":
            "the loss if each sentence had 2 words",
        "sentence[length:] = 0 => pass": "the loss if each sentence had all 7 words",
        "(words * is_word).sum(1) / is_word.sum(1) => words.mean(1)":
            "Your means count the padding, too.",
        "/ is_word.sum(1) => / torch.tensor(lengths)[:, None]":
            "No step comes before the first loss, so the means are still wrong.",
        ".expand(count, longest, 1) => .repeat(count, 1, 1) && lr=1.0 => lr=0.5":
            "The means are right, and the training after them has changed.",
        "zip(is_word, lengths, strict=True) => zip(is_word, [max(lengths)] * count, strict=True)":
            "the loss if each sentence had all 7 words",
    },
    "train_photos": {
        "x.sub_(0.5).div_(0.25) => x.sub_(0.5).div_(0.25).clamp_(-2, 2)":
            "Each epoch begins with what the last one left.",
        "lr=0.1 => lr=1e-4": "The array that the caller handed in is overwritten",
        "x.sub_(0.5).div_(0.25) => x.sub_(x.mean()).div_(x.std())":
            "The array that the caller handed in is overwritten",
        "torch.from_numpy(photos[start : start + 16]) => "
        "torch.as_tensor(photos[start : start + 16])": "lay between 0 and",
        "torch.from_numpy(photos[start : start + 16]) => "
        "torch.from_numpy(np.ascontiguousarray(photos[start : start + 16]))": "lay between 0 and",
        "    losses = []\n =>     losses = []\n    photos = photos[:]\n": "lay between 0 and",
        "for _ in range => for epoch in range && x.sub_(0.5).div_(0.25) => "
        "x = x.sub_(0.5).div_(0.25) if epoch == 0 else x": "The losses are right. The array",
        "x.sub_(0.5).div_(0.25) => pass": "The photos stay as they are.",
        "x.sub_(0.5).div_(0.25) => x = (x - x.mean()) / x.std()":
            "The photos stay as they are.",
        "x.sub_(0.5).div_(0.25) => x.sub_(0.5).div_(0.25); x = x.clone()":
            "Each epoch begins with what the last one left.",
        "return losses => return losses[:1] * epochs":
            "The array that the caller handed in is overwritten",
    },
    "pack": {
        "part.data_ptr(), => part.contiguous().data_ptr(),":
            "A copy without a name is freed as soon as its `data_ptr()` is returned",
        "left : left + width] => left : left + width].clone()":
            "All 12 pixels are in your packet, and 10 of them at a wrong place.",
        "part = part.t() => part = part.t().contiguous()": "15 pixels are wrong",
        "height > width => height >= width && part.data_ptr(), part.numel() => "
        "(part := part.contiguous()).data_ptr(), part.numel()":
            "All 16 pixels are in your packet, and 12 of them at a wrong place.",
        "part.data_ptr(), => frame.data_ptr(),": "pixels are wrong. The first is at row 0",
        "    sizes = bytes =>     part = part.reshape(part.shape)\n    sizes = bytes":
            "15 pixels are wrong",
        "    if height > width:\n        part = part.t()  # the viewer shows a tall part lying on "
        "its side\n =>     part = part.contiguous()\n": "The packet is to begin with the sizes 2 and 6",
        "    sizes = bytes =>     part = part.clone()\n    sizes = bytes":
            "pixels are in your packet",
        "part.data_ptr(), part.numel() => part.data_ptr(), part.stride(0) * part.size(0)":
            "The bytes between two rows of the part belong to the frame.",
        "part.data_ptr(), part.numel() => part.data_ptr(), 4 * part.numel()":
            "no living tensor has all of them",
    },
    "features": {
        "second(swapped) => second(swapped.contiguous(memory_format=torch.channels_last))":
            "Both convolutions get channels-last images, but",
        "photos.to(memory_format=torch.channels_last) => photos": "convolutions get NCHW images",
        "torch.empty(x.shape) => torch.empty(x.shape).contiguous()": "convolution 2 gets NCHW images",
        "torch.empty(x.shape) => x.contiguous()": "convolution 2 gets NCHW images",
        "torch.empty(x.shape) => x": "Your features are others",
        "second(swapped) => second(x)": "Your features are others",
        "return x.mean((2, 3)) => return x.contiguous(memory_format=torch.channels_last)"
        ".mean((2, 3))": "convolution 2 gets NCHW images",
        "torch.empty(x.shape) => torch.empty(x.shape).contiguous("
        "memory_format=torch.channels_last)": "Both convolutions get channels-last images, but",
    },
    "train_branches": {
        "lr=0.05 => lr=0.5": "A hook still changes its gradient in place",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n => ":
            "Only the old branch is to learn at a tenth of the rate.",
        "        of_new = new(x)\n        of_old = old(x)\n =>         of_old = old(x)\n"
        "        of_new = new(x)\n": "the order of two lines decides",
        "        of_new = new(x)\n        of_old = old(x)\n =>         of_old = old(x)\n"
        "        of_new = new(x)\n && grad.mul_(0.1) => grad.data.mul_(0.1)":
            "the order of two lines decides",
        "of_old.register_hook(lambda grad: grad.mul_(0.1)) => "
        "of_new.register_hook(lambda grad: grad * 0.1)":
            "Only the old branch is to learn at a tenth of the rate.",
        "grad.mul_(0.1) => grad.detach().mul_(0.1)": "A hook still changes its gradient in place",
        "grad.mul_(0.1) => grad.mul_(0.1).clone()": "A hook still changes its gradient in place",
        "grad.mul_(0.1) => grad.view_as(grad).mul_(0.1)":
            "A hook still changes its gradient in place",
        "of_old.register_hook => of_old.detach().requires_grad_().register_hook":
            "Only the old branch is to learn at a tenth of the rate.",
        "        of_old = old(x)\n =>         of_old = old(x).detach()\n && "
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n => ":
            "The old one moved by 0.0000, and",
    },
}  # fmt: skip
