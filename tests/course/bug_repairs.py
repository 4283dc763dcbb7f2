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
        "    x = x.reshape(3, height, width)\n =>  && x[:, top : top + side, left : left + side] => "
        "x[top : top + side, left : left + side].permute(2, 0, 1)",
    ],
    "fit": [
        "model.state_dict() => {k: v.clone() for k, v in model.state_dict().items()}",
        "model.state_dict() => __import__('copy').deepcopy(model.state_dict())",
        "model.state_dict() => __import__('copy').deepcopy(model).state_dict()",
        "model.state_dict() => nn.utils.parameters_to_vector(model.parameters()).detach() && "
        "model.load_state_dict(best) => nn.utils.vector_to_parameters(best, model.parameters())",
        "best = model.state_dict() => best = __import__('copy').deepcopy(model) && "
        "model.load_state_dict(best) => model = best",
        "best = model.state_dict() => file = io.BytesIO(); torch.save(model.state_dict(), file) && "
        "model.load_state_dict(best) => file.seek(0); model.load_state_dict(torch.load(file))",
    ],
    "save_states": [
        "all_states[-1] => all_states[-1].clone()",
        "all_states[-1] => torch.tensor(all_states[-1].tolist())",
        "all_states[-1] => all_states[[-1]][0]",
        "all_states[-1] => torch.empty(32).copy_(all_states[-1])",
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
        "torch.ones(longest, 1).expand(count, longest, 1) => torch.stack([(torch.arange(longest) < n)"
        ".float()[:, None] for n in lengths])",
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
        "    losses = []\n =>     losses = []\n    photos = photos.copy()\n && "
        "for _ in range => for epoch in range && x.sub_(0.5).div_(0.25) => "
        "x = x.sub_(0.5).div_(0.25) if epoch == 0 else x",
    ],
    "pack": [
        "    pixels = ctypes =>     part = part.contiguous()\n    pixels = ctypes",
        "    pixels = ctypes =>     part = part.clone(memory_format=torch.contiguous_format)\n"
        "    pixels = ctypes",
        "ctypes.string_at(part.data_ptr(), part.numel()) => part.numpy().tobytes()",
        "ctypes.string_at(part.data_ptr(), part.numel()) => bytes(part.flatten().tolist())",
        "ctypes.string_at(part.data_ptr(), part.numel()) => "
        "bytes(int(pixel) for row in part for pixel in row)",
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
        "torch.empty(x.shape) => "
        "x.new_empty(len(x), *x.shape[2:], x.size(1)).permute(0, 3, 1, 2)",
        f"{SWAPPED} =>     swapped = x.unflatten(1, (2, half)).flip(1).flatten(1, 2)\n",
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
        # A hook that only looks is harmless.
        "grad.mul_(0.1) => grad * 0.1 && loss = F => "
        "of_new.register_hook(lambda grad: None)\n        loss = F",
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
        "x.reshape(3, height, width) => x.permute(2, 0, 1) && .float() / 255 => .float()":
            "your batch has [0, 255, 510], once its mean and its spread are taken back",
        "x.reshape(3, height, width) => x.permute(2, 0, 1) && return ((x - mean) / spread) => return x":
            "The photo has no such levels. They are to lie between 0 and 1",
        "x.reshape(3, height, width) => x.permute(2, 0, 1).flip(2)":
            "and all pixels of the square are there, in another order",
        "x.reshape(3, height, width) => x.rot90(1, (0, 1)).permute(2, 0, 1)":
            "and all pixels of the square are there, in another order",
        "x.reshape(3, height, width) => x.permute(2, 0, 1) && .float() / 255 => .float() / 256":
            "values are a little off: one of them is -0.9885, and -0.9853 is right",
        "x.reshape(3, height, width) => x.permute(2, 0, 1) && mean) / spread => mean) / (spread - spread)":
            "48 of the 48 values of your batch are nan or infinite",
        "x.reshape(3, height, width) => x.permute(2, 1, 0) && (height - side) // 2 => 0":
            "the picture lies on its side",
    },
    "fit": {
        "model.state_dict() => dict(model.state_dict())":
            "its weights are those after the last step",
        "model.state_dict() => model.state_dict().copy()":
            "its weights are those after the last step",
        "model.state_dict() => {k: v.detach() for k, v in model.state_dict().items()}":
            "its weights are those after the last step",
        "lr=0.1 => lr=0.01": "So the training or its list of losses has changed",
        "momentum=0.95 => momentum=0.0": "So the training or its list of losses has changed",
        "            best = model.state_dict()\n =>             best = {k: v.clone() for k, v in "
        "model.state_dict().items()}\n        elif losses[-1] > 1.1 * lowest:\n            break\n":
            "losses, and 20 were asked for",
        "            lowest = losses[-1]\n            best = model.state_dict()\n => "
        "            lowest = losses[-1]\n && "
        "        optimizer.step()\n =>         optimizer.step()\n        if losses[-1] == lowest:\n"
        "            best = {k: v.clone() for k, v in model.state_dict().items()}\n":
            "that of epoch 5: you keep the weights after one step too many",
        "    model.load_state_dict(best)\n => ": "its weights are those after the last step",
        "model.state_dict() => model && model.load_state_dict(best) => model = best":
            "its weights are those after the last step",
        "model.state_dict() => {'weight': model.weight.clone(), 'bias': model.bias}":
            "which the training had at no step. So these weights are not all of one step",
        "model.state_dict() => {k: v.clone() for k, v in model.state_dict().items()} && "
        "if losses[-1] < lowest => if epochs": "that of epoch 20: the weights of epoch 4 are lost",
        "    model.load_state_dict(best)\n =>     model.load_state_dict(best)\n"
        "    losses.append(F.mse_loss(model(x), y).item())\n": "Your list has 21 losses, and 20",
        "    model.load_state_dict(best)\n =>     losses[-1] = min(losses)\n":
            "Loss 20 of 20 is 0.6983, and without the bug it is 6.4",
        "            best = model.state_dict()\n =>             best = best or {k: v.clone() for k, v "
        "in model.state_dict().items()}\n": "that of epoch 1: the weights of epoch",
    },
    "save_states": {
        "all_states[-1] => all_states[-1].contiguous()": "They need 128 bytes, and the file holds",
        "all_states[-1] => all_states[-1].detach()": "storages of 51,200 bytes",
        "all_states[-1] => __import__('copy').deepcopy(all_states[-1])": "storages of 51,200 bytes",
        "all_states[-1] => all_states.half()[-1]": "The states in your file are torch.float16",
        "all_states[-1] => all_states.mean(0)": "Your file holds other states. Number",
        "all_states[-1] => all_states[-1][:8].clone()": "Your file has a tensor of shape (8,).",
        "all_states[-1] => all_states[-1:].clone()": "Your file has a tensor of shape (1, 32).",
        "return file.getvalue() => return __import__('zlib').compress(file.getvalue())":
            "`torch.load` cannot read these",
        "network(vectors(words)) => network(vectors(words[-8:]))":
            "Your file holds other states. Number",
        "all_states[-1] => all_states[0].clone()": "Your file holds other states. Number",
        "all_states[-1] => all_states.clone()[-1]": "storages of 51,200 bytes",
        "all_states[-1] => all_states[-1].half()":
            "So the file is small, but digits are lost. In their own type, the numbers take no more",
        "all_states[-1] => all_states.double()[-1]":
            "take 128 bytes in their own type, and the storages in your file take 102,400",
        "torch.save(states, file) => torch.save(__import__('copy').deepcopy(states), file)":
            "storages of 51,200 bytes",
        "states[name] = all_states[-1] => pass": "one for each text: 'a'. Yours has none.",
        "states[name] => states[name.upper()]": "one for each text: 'a'. Yours has 'A'.",
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
        "return losses => return losses[60:]": "Your list has 0 losses, and 60 were asked for. How long",
        "zip(is_word, lengths, strict=True) => zip(is_word.clone(), lengths, strict=True)":
            "the loss if each sentence had all 7 words",
        "sentence[length:] = 0 => sentence[:] = 1; sentence[length:] = 0":
            "the loss if each sentence had 4 words, like the last one. The 4 sentences still share",
        ".expand(count, longest, 1) => .repeat(count, 1, 1) && sentence[length:] => sentence[:length]":
            "A sentence whose mask has zeros alone has a mean of no words, 0 / 0",
        ".expand(count, longest, 1) => .repeat(count, 1, 1) && range(60) => range(1)":
            "Your list has 1 loss, and 60 were asked for.",
        ".expand(count, longest, 1) => .repeat(count, 1, 1) && sentence[length:] => "
        "sentence[length + 1:]": "No step comes before the first loss, so the means are still wrong.",
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
        "    losses = []\n =>     losses = []\n    photos = photos.copy()\n":
            "Each epoch spreads the levels of your copy once more.",
        "    losses = []\n =>     losses = []\n    photos = photos.copy()\n && lr=0.1 => lr=1e-4":
            "So x has other values than it should, or another line of the training has changed.",
        "x.sub_(0.5).div_(0.25) => x = x.sub_(0.5).div(0.25)": "now lie between -1.5 and -0.503906",
        "            optimizer.step()\n =>             optimizer.step()\n"
        "            x.add_(0.5).mul_(0.25)\n":
            "Each epoch begins with what the last one left.",
        "x.sub_(0.5).div_(0.25) => x = (x - 0.5) / 0.25 && range(epochs) => range(1)":
            "Your list has 1 loss, and 3 were asked for.",
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
        "part.data_ptr(), => frame.data_ptr(),": "Your bytes begin at another place of the frame.",
        "    sizes = bytes =>     part = part.reshape(part.shape)\n    sizes = bytes":
            "15 pixels are wrong",
        "    if height > width:\n        part = part.t()  # the viewer shows a tall part lying on "
        "its side\n =>     part = part.contiguous()\n": "The packet is to begin with the sizes 2 and 6",
        "    sizes = bytes =>     part = part.clone()\n    sizes = bytes":
            "pixels are in your packet",
        "part.data_ptr(), part.numel() => part.data_ptr(), part.stride(0) * part.size(0)":
            "The bytes between two rows of the part belong to the frame.",
        "part.data_ptr(), part.numel() => part.data_ptr(), 4 * part.numel()":
            "read 480 bytes, and the memory of the tensor ends after 120 of them",
        "part.data_ptr(), part.numel() => part.flatten().data_ptr(), part.numel()":
            "no living tensor has any of them",
        "    pixels = ctypes =>     part.contiguous()\n    pixels = ctypes":
            "your packet has 21, and the part has 28. That is the neighbour of 20 in memory.",
        # One pixel wide, a part is a column: reshape finds a view of it, with the stride of the frame.
        "    pixels = ctypes.string_at(part.data_ptr(), part.numel()) =>     flat = part.reshape(-1)\n"
        "    pixels = ctypes.string_at(flat.data_ptr(), flat.numel())":
            "4 of 5 pixels are wrong. The first is at row 0, column 1: your packet has 60",
        "    sizes = bytes =>     part = part.flatten()\n    sizes = bytes":
            "The sizes are those of the part as it is sent, and they come first.",
        "    sizes = bytes =>     part = part.contiguous().t()\n    sizes = bytes":
            "A part is turned if it is taller than wide",
        "ctypes.string_at(part.data_ptr(), part.numel()) => part.numpy().tobytes(order='F')":
            "they come column by column, not row by row",
        "part.data_ptr(), part.numel() => (part := part.flip(0).contiguous()).data_ptr(), part.numel()":
            "they come in another order, not row by row",
        "part.data_ptr(), part.numel()) => part.data_ptr(), part.size(1))":
            "has 120 pixels, and your packet has 12. Each pixel of the part is sent once.",
        "return sizes + pixels => return b''": "sizes 10 and 12, and yours begins with nothing.",
        "part.data_ptr(), part.numel()) => part.data_ptr(), part.numel()) and bytes(part.numel())":
            "your packet has 0, and the part has 1.",
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
        "photos.to(memory_format=torch.channels_last) => photos && torch.empty(x.shape) => "
        "torch.empty_like(x)": "convolution 1 gets NCHW images. The weights were handed over in",
        "torch.empty(x.shape) => torch.zeros(x.shape)":
            "Before that, 3,168 bytes change their format on the way. The 864 bytes of the photos",
        f"{SWAPPED} =>     swapped = x[:, [*range(half, 2 * half), *range(half)]]\n":
            "convolution 2 gets NCHW images",
        "torch.empty(x.shape) => torch.empty_like(x) && return x.mean((2, 3)) => return x":
            "Your features have shape (2, 4, 6, 6), and (2, 4) is wanted",
        "second(swapped) => second(swapped.as_strided(swapped.shape, x.stride()))":
            "Your features are others",
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
        "of_old + of_new => of_old + of_new.clone()": "A hook still changes its gradient in place",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n =>         def slow(grad):\n"
        "            grad = grad * 0.1\n        of_old.register_hook(slow)\n":
            "A hook ran 10 times, changed nothing and returned None.",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n =>         of_old.register_hook("
        "lambda grad: grad.mul_(0.1))\n        of_new.register_hook(lambda grad: grad.mul_(10))\n":
            "a hook changed its gradient in place, 20 times",
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n =>  && "
        "of_old + of_new => 0.1 * of_old + of_new":
            "No step comes before the first loss, so the sum of the branches is another one.",
        "of_old.register_hook => old.weight.register_hook": "The old one moved by 0.0510, and 0.1347",
        "of_old.register_hook => of_old.detach().requires_grad_().register_hook":
            "Only the old branch is to learn at a tenth of the rate.",
        "        of_old = old(x)\n =>         of_old = old(x).detach()\n && "
        "        of_old.register_hook(lambda grad: grad.mul_(0.1))\n => ":
            "The old one moved by 0.0000, and",
    },
}  # fmt: skip
