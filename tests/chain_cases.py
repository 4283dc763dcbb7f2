"""The cases that pin chain.js to chain.py: chains, what each step comes to, and what is refused.

`python -m tests.chain_cases` writes them to tests/fixtures/chains.json. A Python test holds the file equal
to chain.py and to torch; the JavaScript tests hold chain.js equal to the file.
"""

import json
from itertools import pairwise
from pathlib import Path

from stridekit import Layout, LayoutError
from stridekit.widgets.stride_explorer.chain import Chain, steps_of

FILE = Path(__file__).parent / "fixtures" / "chains.json"
START, SIZE = Layout((5, 8), itemsize=4), 40
CHAINS = [
    (),
    (".permute(1, 0)", "[1:]"),
    ("[1:, ::2]", ".T", ".diagonal(1)"),
    (".T", ".contiguous()", ".view(5, 8)", "[:, 3]"),
    (".T", ".reshape(-1)", ".unfold(0, 8, 4)", ".reshape(4, 18)", "[1:]", ".contiguous()"),
    ("[:1]", ".expand(5, 8)", ".flatten()", ".contiguous()"),
    (".view(5, 2, 2, 2)", ".contiguous(memory_format=torch.channels_last)", ".flatten(1)"),
    (".view(5, 2, 2, 2)", ".permute(0, 2, 3, 1)", ".reshape(-1)"),
    ("[0:0]", ".T", ".contiguous()"),
    ("[2, 3]", ".contiguous()", ".unsqueeze(0)"),
    (".T", ".clone()", "[:, ::2]", ".clone()", ".contiguous()"),
    ("[:1]", ".expand(5, 8)", ".clone()", ".view(-1)"),
    (".view(5, 2, 2, 2)", ".clone(memory_format=torch.channels_last)", "[1:]", ".clone()"),
    (
        ".T",
        ".clone(memory_format=torch.contiguous_format)",
        ".clone(memory_format=torch.channels_last)",
    ),
    (".reshape(8, 5)", ".as_strided((3, 3), (4, 2), 1)", ".contiguous()"),
    (".T", ".contiguous()", ".as_strided((2, 2), (1, 1), 36)", ".T"),
    (".T", ".view(-1)"),
    (".as_strided((5, 9), (8, 1))",),
    (".view(5, 2, 2, 2, 1)",),
    ("[:1]", ".unsqueeze(0)", ".expand(200, 1, 8)", ".contiguous()", ".unfold(0, 9, 1)"),
    ("[:1, :1]", ".expand(257, 1)"),
    ("[:1, :1]", ".expand(256, 8, 1)", ".permute(0, 2, 1)", ".permute(1, 0, 2)"),
    ("[:1, :1]", ".unsqueeze(0)", ".expand(257, 1, 1)"),
    (".T", ".contiguous()", ".as_strided((41,), (1,), 0)"),
    ("[5]",),
    (".numpy()",),
    (".T()",),
    (".permute",),
]
TEXTS = ["permute(1, 0)", " .T ", "[1:]", "contiguous(torch.channels_last)",
         "contiguous('channels_last')", "contiguous( memory_format = torch.channels_last)",
         "clone('channels_last')", "view(2, -1)", ".t()[1:, ::2] .T  # two views"]  # fmt: skip


def answers(steps, labels=None):
    """What each step comes to, or the refusal."""
    chain = Chain("x", START, steps)
    try:
        stages = chain.stages(SIZE, labels)
    except (LayoutError, IndexError) as error:
        return {"steps": steps, "labels": labels, "error": str(error)}
    return {
        "steps": steps,
        "labels": labels,
        "code": chain.code,
        "stages": [
            {
                "shape": stage.layout.shape,
                "stride": stage.layout.stride,
                "storage_offset": stage.layout.storage_offset,
                "storage_size": stage.storage_size,
                "labels": stage.labels,
                "memory": stage.memory(before),
            }
            for before, stage in pairwise(stages)
        ],
    }


def text():
    """The file's text: one case a line, so that a change shows where it is."""
    named = [f"v{k}" for k in range(SIZE)]
    cases = [json.dumps(answers(steps, labels)) for steps in CHAINS for labels in (None, named)]
    tidy = json.dumps([[given, steps_of(given)] for given in TEXTS])
    return '{"cases": [\n' + ",\n".join(cases) + f'\n],\n"written": {tidy}}}\n'


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
