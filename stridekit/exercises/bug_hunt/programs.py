"""The programs of notebook 10 as they were reported: each runs, and each is wrong or slow.

A cell of the notebook has the same source. A test compares the two.
"""

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
    lowest, best, losses = float("inf"), None, []
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
