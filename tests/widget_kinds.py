"""All widgets: how to make one, where it is on a page, and what its public state can and cannot be."""

from typing import Any, NamedTuple

import torch

from stridekit import Layout, audit, widgets


class Kind(NamedTuple):
    """Where a widget is on a page, by its class, and the source that makes one."""

    css: str
    make: str


KINDS = {
    "StrideExplorer": Kind(".sk-explorer", "StrideExplorer()"),
    "AliasExplorer": Kind(".sk-aliases", "AliasExplorer()"),
    "ReshapeStepper": Kind(".sk-reshape", "ReshapeStepper()"),
    "ChannelsLastExplorer": Kind(".sk-channels", "ChannelsLastExplorer()"),
    "FormatTracer": Kind(".sk-formats", "FormatTracer()"),
    "TraversalExplorer": Kind(".sk-traversal", "TraversalExplorer()"),
    "Predict": Kind(
        ".sk-predict",
        "Predict('What is the stride of `x.t()`?', (1, 6), why='`t()` swaps the two.', "
        "experiment='x.t().stride()', remarks={(6, 1): 'That is the stride of `x` itself.'})",
    ),
    "Sort": Kind(
        ".sk-sort",
        "Sort(torch.ones(4, 6, dtype=torch.float, device='cpu'), 'x.t(); x + 0; x.reshape(-1)', "
        "also='x.t(); x[1:]')",
    ),
    "AttentionExplorer": Kind(".sk-attention", "AttentionExplorer()"),
    "CacheExplorer": Kind(".sk-cache", "CacheExplorer()"),
    "CopyTracer": Kind(
        ".sk-copies",
        "CopyTracer(audit(nn.Sequential(nn.Flatten(0), nn.ReLU()), torch.ones(4, 6).t()))",
    ),
    "Diagnose": Kind(".sk-paste", "Diagnose('ValueError: step must be greater than zero')"),
}
# For a page on which all of them are made.
IMPORTS = f"""import torch
from torch import nn
from stridekit import Layout, audit
from stridekit.widgets import {", ".join(KINDS)}
"""
NAMES = {"torch": torch, "nn": torch.nn, "Layout": Layout, "audit": audit}
NAMES |= {name: getattr(widgets, name) for name in KINDS}


def make(kind: str, *changes: str) -> Any:
    """A widget of a kind, after some changes of it, `w`, as source."""
    w = eval(KINDS[kind].make, NAMES)
    for change in changes:
        exec(change, NAMES | {"w": w})
    return w


# Under a public name of a widget, or of several: the source of a wrong value, and words of its refusal.
_WRONG = """
# StrideExplorer.layout, ReshapeStepper.layout, TraversalExplorer.layout, TraversalExplorer.other_layout
None  =>  a NoneType has no layout
(4, 6)  =>  a tuple has no layout
torch.eye(3).to_sparse()  =>  sparse_coo tensor keeps indices and values apart
# StrideExplorer.chain, AliasExplorer.steps, FormatTracer.layers
None  =>  NAME is None, a NoneType
5  =>  NAME is 5, an int
[1]  =>  NAME[0] is 1, an int: give a text
# TraversalExplorer.order, TraversalExplorer.other_order
None  =>  order is None, a NoneType
(0, 0)  =>  order (0, 0) does not name each of the 2 dims once
(0, 1.0)  =>  order[1] is 1.0, a float
'rows'  =>  order 'rows' does not name each
# TraversalExplorer.layout, TraversalExplorer.other_layout
torch.zeros(30, 30)  =>  shape (30, 30) has 2 dims and 900 elements
Layout((4,), itemsize=3)  =>  torch has no such tensor: an element has 3 bytes
Layout((4,), (-1,), 3)  =>  torch has no such tensor: dim 0 has stride -1
# StrideExplorer.layout
Layout((5, 9), (8, 1))  =>  reaches element 40, and the storage ends at 39
Layout((2,) * 5)  =>  has 5 dims and 32 elements: the picture holds 4 and 4096
Layout((5000,), (0,))  =>  has 1 dims and 5000 elements
Layout((4096, 1), (0, 1))  =>  has 4096 rows: the picture holds 256; explore(t) shows
Layout((4,), (-1,), 3)  =>  stride (-1,) is negative: torch has no such tensors
# StrideExplorer.index
(4, 0)  =>  index 4 is out of range for dim 0 of size 4
(0, 1.5)  =>  index[1] is 1.5, a float
(True, 0)  =>  index[0] is True, a bool
'x'  =>  index
# StrideExplorer.chain
['.cumsum(0)']  =>  cumsum is not known here
['.view(7)']  =>  cannot view shape (4, 6)
'.select(0, 9)'  =>  index 9 is out of range for dim 0 of size 4
'.permute(1, 0).view(-1)'  =>  dims 0 and 1 do not merge
['.T', '.expand(2, 2, 2, 6, 4)']  =>  has 5 dims and 192 elements
['.as_strided((5, 9), (8, 1))']  =>  reaches element 42, and the storage ends at 39
# AliasExplorer.steps
'y = x'  =>  steps are a sequence of lines
['w = x']  =>  w is not one of x, y and z
['y = w[0]']  =>  w is not one of x, y and z
['y = x', 'x = z']  =>  z is not there yet
['y = x[9]']  =>  out of range
['y = x.expand(2, 2, 2, 4, 6)']  =>  192 elements in 5 dims: the picture holds 96 in 4
['y = x.as_strided((2, 2), (20, 5))']  =>  reach element 25, and the storage ends at 23
['x *= 99999']  =>  the boxes hold five digits
['x[1:] += x[:-1]']  =>  x[1:] and x[:-1] share 12 elements, and torch refuses
['x[:, 1:] += x[:, :-1]']  =>  depends on the order of visit. Use x[:, :-1].clone()
# ReshapeStepper.layout
torch.zeros(600)  =>  has 600 elements: the picture holds 256; give a smaller tensor
torch.zeros(24, 30)[:, 0]  =>  spans 691
Layout((4,), (-1,), 3)  =>  torch has no such tensor
# ReshapeStepper.target
(5, 5)  =>  (5, 5) has 25 elements
(-1, -1)  =>  only one can be worked out
(24, *[1] * 8)  =>  9 new dims do not fit
(2.0, 12)  =>  [0] is 2.0, a float
None  =>  None, a NoneType
'24'  =>  '24', a str
# ReshapeStepper.step
9  =>  step 9 is out of range: this walk has steps 0 to 5
1.0  =>  step is 1.0, a float
True  =>  step is True
# ReshapeStepper.index
(4, 0)  =>  index 4 is out of range
(0, 1.5)  =>  index[1] is 1.5
None  =>  index
# ChannelsLastExplorer.shape
(2, 3, 4)  =>  shape (2, 3, 4) does not fit the picture: give (N, C, H, W)
(2, 3, 2, 9)  =>  shape (2, 3, 2, 9) does not fit
(2, 0, 2, 4)  =>  from (1, 1, 1, 1) to (3, 4, 3, 5)
(2, 3, 2, 4.0)  =>  shape[3] is 4.0, a float
(2, 3, 2, True)  =>  shape[3] is True, a bool
4  =>  shape is 4, an int
# ChannelsLastExplorer.index
(0, 3, 0, 0)  =>  index 3 is out of range for dim 1 of size 3
(0, 0, 0, 1.5)  =>  index[3] is 1.5, a float
(0, 1)  =>  (0, 1)
(0, 1, 2, 3, 0)  =>  (0, 1, 2, 3, 0)
None  =>  index is None
# ChannelsLastExplorer.highlight
'image'  =>  highlight is 'image': give one of 'pixel', 'channel'
None  =>  highlight is None: give one of
# FormatTracer.layers
['gelu']  =>  layer 'gelu' is not known: unsqueeze, conv2d,
# FormatTracer.shape
(1, 3, 4, 4)  =>  not run on shape (1, 3, 4, 4): use one of (2,
(2, 3, 4, 4.0)  =>  shape[3] is 4.0, a float
2  =>  shape is 2, an int
# TraversalExplorer.visit
49  =>  visit is 49: the walk has 48, give 0 to 48
1.0  =>  visit is 1.0, a float
-1  =>  visit is -1
# TraversalExplorer.cache_lines
3  =>  cache_lines is 3: give one of 1, 2, 4, 8, 16, 32
True  =>  cache_lines is True, a bool
'4'  =>  cache_lines is '4', a str
# TraversalExplorer.alignment
4  =>  alignment is 4: give a multiple of the itemsize, 8, from 0 to 56
0.0  =>  alignment is 0.0, a float
# TraversalExplorer.warp
(4, 33, 0)  =>  stride of the warp is 33: the picture holds 0 to 32
(3, 1, 0)  =>  itemsize of the warp is 3: give one of 1, 2, 4, 8, 16
(4, 1.0, 0)  =>  warp[1] is 1.0, a float
(4, 1)  =>  give (itemsize, stride, offset)
'warp'  =>  warp is 'warp', a str
# Predict.committed
'x'  =>  I could not read “x”: write whole numbers with commas between them
6  =>  the prediction 6 is not a tuple, as the answer is
(1, 1.5)  =>  cannot be typed
(1, 2**60)  =>  beyond 2**53
# Sort.moves
None  =>  moves is None, a NoneType: give pairs, as in [('x.t()', 'view')]
['view']  =>  moves[0] is 'view', a str: give a sequence of texts
[('x.t()', 1)]  =>  moves[0][1] is 1, an int: give a text
[('x.T', 'view')]  =>  moves[0] is ('x.T', 'view'): give a call of this game and a bin
[('x.t()', 'copy'), ('x.t()', 'view'), ('x.t()', 'view')]  =>  moves[2]: x.t() is in its bin already
# AttentionExplorer.batch, AttentionExplorer.tokens, AttentionExplorer.heads
0  =>  NAME is 0: the picture holds 1 to
5  =>  NAME is 5: the picture holds 1 to
1.0  =>  NAME is 1.0, a float: give an int
True  =>  NAME is True, a bool: give an int
None  =>  NAME is None, a NoneType: give an int
# AttentionExplorer.dim
3  =>  dim is 3: give one of 2, 4
'4'  =>  dim is '4', a str: give an int
# AttentionExplorer.kv_heads
3  =>  2 heads do not divide into 3 groups: kv_heads divides heads
0  =>  kv_heads is 0: the picture holds 1 to 4
1.0  =>  kv_heads is 1.0, a float: give an int
# AttentionExplorer.packing
'DH3'  =>  packing is 'DH3': give one of '3HD', 'H3D', 'HD3'
3  =>  packing is 3: give one of
# AttentionExplorer.rotary, AttentionExplorer.attention
'flash'  =>  NAME is 'flash': give one of
None  =>  NAME is None: give one of
['@']  =>  NAME is ['@']: give one of
# AttentionExplorer.followed
('q', 0, 2, 0, 0)  =>  index 2 is out of range for dim 1 of size 2
('k', 0, 0, 0, 1.5)  =>  [3] is 1.5, a float
('out', 0, 0, 0, 0)  =>  followed is ('out', 0, 0, 0, 0), a tuple: give "q", "k" or "v" and an index
('q', 0, 0, 0)  =>  give "q", "k" or "v" and an index, as in ("q", 0, 1, 2, 3)
'q0000'  =>  followed is 'q0000', a str: give "q", "k" or "v"
None  =>  followed is None, a NoneType: give "q", "k" or "v"
# CacheExplorer.tokens
9  =>  tokens is 9: the picture holds 0 to 8
-1  =>  tokens is -1: the picture holds 0 to 8
3.0  =>  tokens is 3.0, a float: give an int
# CacheExplorer.batch, CacheExplorer.heads
0  =>  NAME is 0: the picture holds 1 to
4  =>  NAME is 4: the picture holds 1 to
True  =>  NAME is True, a bool: give an int
None  =>  NAME is None, a NoneType: give an int
# CacheExplorer.block
3  =>  block is 3: give one of 2, 4
'2'  =>  block is '2', a str: give an int
# CacheExplorer.order, CacheExplorer.attention
'flash'  =>  NAME is 'flash': give one of
None  =>  NAME is None: give one of
['@']  =>  NAME is ['@']: give one of
# CopyTracer.row
3  =>  row is 3: this run has rows 0 to 2
-1  =>  row is -1: this run has rows 0 to 2
1.0  =>  row is 1.0, a float: give an int
True  =>  row is True, a bool: give an int
None  =>  row is None, a NoneType: give an int
# Diagnose.text
None  =>  text is a NoneType: give the message, a str; diagnose takes errors
ValueError('a')  =>  text is a ValueError: give the message, a str
'x' * 20001  =>  text has 20,001 characters, the box takes 20,000: give its end, text[-20000:]
"""
WRONG = [
    (kind, name, value, said.replace("NAME", name))
    for names, *rows in (group.splitlines() for group in _WRONG.split("# ")[1:])
    for kind, name in (both.split(".") for both in names.split(", "))
    for value, said in (row.split("  =>  ") for row in rows)
]
WALK = {
    "name": "x",
    "shape": [6, 8],
    "stride": [8, 1],
    "storage_offset": 0,
    "itemsize": 8,
    "order": [0, 1],
}
# What can be, and moves the picture away from how it begins: states of a widget w, in Python.
RIGHT = {
    "StrideExplorer": (
        "w.index = (1, 1)",
        "w.layout = Layout((4, 6), (6, 1), 0, 4)",
        "w.chain = ('.T', '.reshape(-1)')",
    ),
    "AliasExplorer": ("w.steps = ['y = x.t()', 'y += 1']", "w.steps = ['y = x[1:, ::2]']"),
    "ReshapeStepper": ("w.step = 2", "w.target = (2, 12)", "w.index = (1, 1)"),
    "ChannelsLastExplorer": (
        "w.shape = (1, 2, 3, 4)",
        "w.index = (0, 1, 1, 3)",
        "w.highlight = 'channel'",
    ),
    "FormatTracer": ("w.layers = ['relu', 'flatten']", "w.shape = (2, 3, 1, 1)"),
    "TraversalExplorer": ("w.visit = 5", "w.warp = (8, 2, 1)", "w.alignment, w.order = 8, 'torch'"),
    "Predict": ("w.committed = (6, 1)", "w.show()"),
    "Sort": (
        "w.moves = [('x.t()', 'view')]",
        "w.moves = [('x + 0', 'view'), ('x.reshape(-1)', 'it depends')]",
    ),
    "AttentionExplorer": (
        "w.attention, w.rotary = 'SDPA', 'rot(x)*sin + x*cos'",
        "w.packing = 'H3D'",
        "w.heads = 4; w.kv_heads = 2; w.followed = ('k', 1, 0, 2, 3)",
        "w.batch, w.tokens, w.dim = 1, 4, 2",
    ),
    "CacheExplorer": (
        "w.tokens = 5",
        "w.order = 'tokens first'",
        "w.heads, w.batch, w.block = 3, 1, 4",
    ),
    "CopyTracer": ("w.row = 0", "w.row = 2"),
    "Diagnose": ("w.text = \"shape '[5]' is invalid for input of size 4\"", "w.text = ''"),
}
# States that no sound page sends: parts that cannot be, beside the parts that the state begins with.
UNFIT: dict[str, list[dict[str, Any]]] = {
    "StrideExplorer": [
        {"storage_offset": 11},
        {"shape": [4, 6, 1]},
        {"stride": [-1, 1]},
        {"index": [4, 0]},
        {"index": [0]},
        {"chain": {"source": "x", "start": {"shape": [2], "stride": [1]}, "steps": [".view(7)"]}},
    ],
    "AliasExplorer": [{"steps": ["y = x[9]"]}, {"steps": "y = x"}, {"shape": [-1]}],
    "ReshapeStepper": [
        {"target": [5, 5]},
        {"target": [2, -1]},
        {"step": 9},
        {"step": -1},
        {"flat": 24},
        {"flat": None},
        {"shape": [600], "stride": [1], "target": [600]},
    ],
    "ChannelsLastExplorer": [
        {"shape": [2, 3, 4, 9]},
        {"index": [0, 3, 0, 0]},
        {"index": [0, -1, 0, 0]},
        {"highlight": "image"},
    ],
    "FormatTracer": [{"layers": ["gelu"]}, {"input": 9}],
    "TraversalExplorer": [
        {"visit": 49},
        {"cache_lines": 3},
        {"alignment": 4},
        {"warp": {"itemsize": 4, "stride": 33, "offset": 0}},
        {"walks": []},
        {"walks": [WALK | {"order": [0, 0]}]},
        {"walks": [WALK | {"shape": [30, 30]}], "visit": 0},
    ],
    "Predict": [
        {"said": "x", "shown": True},
        {"said": 6, "shown": True},
        {"said": [1, 6], "shown": False},
        {"shown": None},
        {"first": [1, 6]},
        {"first": "x"},
    ],
    "Sort": [
        {"moves": moves}
        for moves in (None, [0], [[0]], [[3, 0]], [[-1, 0]], [[0, 3]], [[0.0, 0]], [[0, True]])
    ]
    + [{"moves": [[0, 1], [0, 0], [0, 0]]}],
    "AttentionExplorer": [
        {"tokens": 5},
        {"dim": 3},
        {"batch": 1.0},
        {"heads": 3},
        {"kv_heads": 1, "packing": "H3D"},
        {"packing": "DH3"},
        {"rotary": None},
        {"attention": "flash"},
        {"followed": ["q", 0, -1, 0, 0]},
        {"followed": ["k", 0, 2, 0, 0]},
        {"followed": ["out", 0, 0, 0, 0]},
        {"followed": None},
    ],
    "CacheExplorer": [
        {"tokens": 9},
        {"tokens": 1.0},
        {"heads": 0},
        {"block": 3},
        {"order": "heads"},
        {"attention": None},
    ],
    "CopyTracer": [{"row": 3}, {"row": -1}, {"row": 1.0}, {"row": None}],
    "Diagnose": [{"text": None}, {"text": ["a"]}, {"text": "x" * 20_001}],
}
