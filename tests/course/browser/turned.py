"""A model for CopyTracer, in a file of its own: the rows of hands.txt draw the numbers of its lines."""

import torch
from torch import nn


class Turned(nn.Module):
    """Rows 0 to 10: two findings meet in the first copy, and a call does nothing."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.act = nn.ReLU()

    def forward(self, x):
        y = x.permute(0, 2, 3, 1)
        y = self.norm(y).permute(0, 3, 1, 2)
        y = y.contiguous()
        y = self.act(y)
        y = y.contiguous()
        for _ in range(2):
            y = y.to(memory_format=torch.channels_last) * 1
            y = y.contiguous() + 1
        return y
