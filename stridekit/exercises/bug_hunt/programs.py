"""The programs of notebook 10 as they were reported: each runs, and each is wrong or slow.

A cell of the notebook has the same source. A test compares the two.
"""

import ctypes
import io

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def prepare(photo: np.ndarray) -> torch.Tensor:
    """Cut a square from the middle of a photo, and make a batch of one for a network."""
    height, width, _ = photo.shape
    x = torch.from_numpy(photo).float() / 255
    x = x.reshape(3, height, width)
    side = min(height, width)
    top = (height - side) // 2
    left = (width - side) // 2
    x = x[:, top : top + side, left : left + side]
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    spread = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    return ((x - mean) / spread)[None]


def fit(x: torch.Tensor, y: torch.Tensor, epochs: int) -> tuple[nn.Module, list[float]]:
    """Fit a line; return the model at its lowest loss, and the loss of each epoch."""
    torch.manual_seed(0)
    model = nn.Linear(x.size(1), 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.95)
    lowest, best, losses = float("inf"), {}, []
    for _ in range(epochs):
        loss = F.mse_loss(model(x), y)
        losses.append(loss.item())
        if losses[-1] < lowest:
            lowest = losses[-1]
            best = model.state_dict()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.load_state_dict(best)
    return model, losses


def save_states(texts: dict[str, torch.Tensor]) -> bytes:
    """Read each text with a network; return a file with the last state of each."""
    torch.manual_seed(0)
    vectors = nn.Embedding(100, 16)
    network = nn.GRU(16, 32)
    states = {}
    with torch.no_grad():
        for name, words in texts.items():
            all_states, _ = network(vectors(words))
            states[name] = all_states[-1]
    file = io.BytesIO()
    torch.save(states, file)
    return file.getvalue()


def train_reader(words: torch.Tensor, lengths: list[int], labels: torch.Tensor) -> list[float]:
    """Train a classifier on the mean word of each sentence; return the loss of each step."""
    torch.manual_seed(0)
    count, longest, width = words.shape
    is_word = torch.ones(longest, 1).expand(count, longest, 1)
    for sentence, length in zip(is_word, lengths, strict=True):
        sentence[length:] = 0  # the rest is padding
    means = (words * is_word).sum(1) / is_word.sum(1)
    model = nn.Linear(width, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    losses = []
    for _ in range(60):
        loss = F.cross_entropy(model(means), labels)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def train_photos(photos: np.ndarray, labels: np.ndarray, epochs: int) -> list[float]:
    """Train a classifier on small photos; return the mean loss of each epoch."""
    torch.manual_seed(0)
    model = nn.Linear(photos[0].size, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(epochs):
        total = 0.0
        for start in range(0, len(photos), 16):
            x = torch.from_numpy(photos[start : start + 16])
            y = torch.from_numpy(labels[start : start + 16])
            x.sub_(0.5).div_(0.25)  # from 0 … 1 to -2 … 2
            loss = F.cross_entropy(model(x.flatten(1)), y)
            total += loss.item() * len(x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(total / len(photos))
    return losses


def pack(frame: torch.Tensor, top: int, left: int, height: int, width: int) -> bytes:
    """Cut a part from a grey frame, and pack it for a viewer: its two sizes, then its pixels."""
    part = frame[top : top + height, left : left + width]
    if height > width:
        part = part.t()  # the viewer shows a tall part lying on its side
    sizes = bytes(part.shape)
    pixels = ctypes.string_at(part.data_ptr(), part.numel())
    return sizes + pixels


def features(photos: torch.Tensor, first: nn.Module, second: nn.Module) -> torch.Tensor:
    """Run two convolutions in channels-last; halves of the channels swap in between."""
    x = photos.to(memory_format=torch.channels_last)
    x = F.relu(first(x))
    half = x.size(1) // 2
    swapped = torch.empty(x.shape)
    swapped[:, :half] = x[:, half:]
    swapped[:, half:] = x[:, :half]
    x = F.relu(second(swapped))
    return x.mean((2, 3))


def train_branches(
    x: torch.Tensor, y: torch.Tensor, steps: int
) -> tuple[list[float], nn.Module, nn.Module]:
    """Train two branches that are added; the old one learns at a tenth of the rate."""
    torch.manual_seed(0)
    old, new = nn.Linear(x.size(1), 1), nn.Linear(x.size(1), 1)
    optimizer = torch.optim.SGD([*old.parameters(), *new.parameters()], lr=0.05)
    losses = []
    for _ in range(steps):
        of_new = new(x)
        of_old = old(x)
        of_old.register_hook(lambda grad: grad.mul_(0.1))
        loss = F.mse_loss(of_old + of_new, y)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses, old, new
