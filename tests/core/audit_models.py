"""Small models as they are found in the wild, for `test_audit.py`, each with its inputs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LAST = torch.channels_last


class Residual(nn.Module):
    """ResNet's basic block, where the channels grow in number."""

    def __init__(self, c: int, out: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(c, out, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.short = nn.Conv2d(c, out, 1, 2, bias=False)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.short(x))


def resnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 1, 1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        Residual(8, 16),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 5),
    )


class ConvNext(nn.Module):
    """ConvNeXt's block: a LayerNorm over channels, in the middle of convolutions."""

    def __init__(self, c: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(c, c, 7, padding=3, groups=c)
        self.norm = nn.LayerNorm(c)
        self.up = nn.Linear(c, 4 * c)
        self.down = nn.Linear(4 * c, c)

    def forward(self, x):
        y = self.depthwise(x)
        y = y.permute(0, 2, 3, 1)
        y = self.norm(y)
        y = self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


class ByHand(nn.Module):
    """Attention as timm and many papers write it."""

    def __init__(self, c: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(c, 3 * c)
        self.proj = nn.Linear(c, c)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        a = (q @ k.transpose(-2, -1)).softmax(-1)
        return self.proj((a @ v).transpose(1, 2).reshape(b, n, c))


class Fused(ByHand):
    """The same by scaled_dot_product_attention, as nanoGPT writes it."""

    def forward(self, x):
        b, n, c = x.shape
        pieces = self.qkv(x).split(c, dim=2)
        q, k, v = (t.view(b, n, self.heads, c // self.heads).transpose(1, 2) for t in pieces)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(b, n, c))


class Block(nn.Module):
    """GPT's and ViT's block: two norms, attention and a small network."""

    def __init__(self, attention: type[nn.Module], c: int = 16) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(c)
        self.attention = attention(c)
        self.norm2 = nn.LayerNorm(c)
        self.mlp = nn.Sequential(nn.Linear(c, 2 * c), nn.GELU(), nn.Linear(2 * c, c))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.cls = nn.Parameter(torch.zeros(1, 1, 16))
        self.blocks = nn.Sequential(Block(ByHand), Block(ByHand))
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1)
        return self.head(self.blocks(x)[:, 0])


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(20, 16)
        self.positions = nn.Embedding(12, 16)
        self.blocks = nn.Sequential(Block(Fused), Block(Fused))
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 20, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


class Straight(torch.autograd.Function):
    """A function with a backward of its own, which turns its gradient around."""

    @staticmethod
    def forward(ctx, x):
        return x.t().contiguous()

    @staticmethod
    def backward(ctx, grad):
        turned = grad.t()
        return turned.contiguous()


def tokens(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


def indexed(x):
    chosen = torch.tensor([2, 0])
    results = [
        x[chosen],
        x.max(1).values,
        x.topk(1, 1).values,
        x.gather(1, chosen.expand(4, 2)),
        x.index_select(0, chosen),
        x[x > 0],
    ]
    return torch.cat([result.flatten() for result in results])


def functions_alone(x, w):
    y = torch.einsum("bnhd,bmhd->bhnm", x, x).softmax(-1)
    return F.linear(y, w[:, ::2]) + y.flip(-1).cumsum(-1)


def between_transposes(layer, x):
    """Run a convolution over time, as models of speech do."""
    return x + layer(x.transpose(1, 2)).transpose(1, 2)


def first_of(layer, *inputs, **options):
    return layer(*inputs, **options)[0]


def redone(block, of_torch, x):
    """Run two modules whose forward pass the backward pass repeats."""
    y = checkpoint(block, x, use_reentrant=False)
    return checkpoint(of_torch, y, use_reentrant=False)


encoder_layer = partial(nn.TransformerEncoderLayer, 16, 2, 32, batch_first=True)
PICTURES: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "resnet": lambda: (resnet(), torch.randn(2, 3, 8, 8)),
    "convnext": lambda: (ConvNext(8), torch.randn(2, 8, 8, 8)),
    "vit": lambda: (ViT(), torch.randn(2, 3, 8, 8)),
}


def last(make: Callable[[], tuple[nn.Module, torch.Tensor]]) -> tuple[Any, ...]:
    model, x = make()
    return model.to(memory_format=LAST), x.to(memory_format=LAST)


# Functions that return a model and its inputs.
MODELS: dict[str, Callable[[], tuple[Any, ...]]] = {
    **{f"{name}_channels_last": partial(last, make) for name, make in PICTURES.items()},
    **PICTURES,
    "resnet_in_eval": lambda: (resnet().eval(), torch.randn(2, 3, 8, 8)),
    "gpt": lambda: (GPT(), torch.randint(0, 20, (2, 10))),
    "attention_by_hand": lambda: (ByHand(), tokens(2, 6, 16)),
    "attention_by_sdpa": lambda: (Fused(), tokens(2, 6, 16)),
    "attention_of_torch": lambda: (
        partial(first_of, nn.MultiheadAttention(16, 2, batch_first=True), need_weights=False),
        *3 * [tokens(2, 6, 16)],
    ),
    "encoder_layer": lambda: (encoder_layer(), tokens(2, 6, 16)),
    "encoder_layer_on_its_fast_path": lambda: (
        encoder_layer().eval().requires_grad_(False),
        torch.randn(2, 6, 16),
    ),
    "speech": lambda: (partial(between_transposes, nn.Conv1d(16, 16, 3, 1, 1)), tokens(2, 6, 16)),
    "lstm": lambda: (
        partial(first_of, nn.LSTM(6, 6, batch_first=True, bidirectional=True)),
        tokens(2, 5, 6),
    ),
    "norms_of_pictures": lambda: (
        nn.Sequential(nn.InstanceNorm2d(8), nn.GroupNorm(2, 8), nn.LayerNorm(8)),
        tokens(2, 8, 8, 8),
    ),
    "indexed": lambda: (indexed, tokens(4, 6)),
    "functions_alone": lambda: (functions_alone, tokens(2, 6, 2, 8), tokens(6, 12)),
    "with_a_backward_of_its_own": lambda: (lambda x: Straight.apply(x * 2) * 3, tokens(4, 6)),
    "redone": lambda: (partial(redone, Block(ByHand), nn.LogSoftmax(-1)), tokens(2, 6, 16)),
}
