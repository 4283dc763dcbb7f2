"""The cases that pin alias_explorer/story.js to torch: lines typed one by one, and what each of them does.

`python -m tests.alias_cases` writes them to tests/fixtures/aliases.json. A Python test holds the file equal
to story.py, which lets torch run the lines; the JavaScript tests hold story.js equal to it.
"""

import json
import random
from math import prod
from pathlib import Path

from stridekit import LayoutError, has_internal_overlap, is_view, shares_memory
from stridekit.widgets.alias_explorer.story import Story
from tests.operation_cases import operation

FILE = Path(__file__).parent / "fixtures" / "aliases.json"
STORIES, LINES = 60, 9
# What a lesson shows, and what the widget offers to run.
LESSONS = [
    [
        "y = x[1:, ::2]",
        "z = y.reshape(-1)",
        "y += 100",
        "z = x.t().flatten()",
        "z.zero_()",
        "z = y",
        "z[0] = 7",
    ],
    [
        "y = x[:, ::2]",
        "z = x[:, 1::2]",
        "y += z",
        "y.copy_(z)",
        "y[:] = z.clone()",
        "z = x[:0]",
        "x.neg_()",
    ],
    [
        "y = x[:2]",
        "z = x[2:]",
        "z = x[1:3]",
        "y += z",
        "y[0] = z[1]",
        "x = x.clone()",
        "y.fill_(-1)",
    ],
    [
        "y = x[:1].expand(3, -1)",
        "y += 1",
        "y.fill_(3)",
        "y[0] = 7",
        "y[:] = 7",
        "y = y.clone()",
        "y += 1",
    ],
    [
        "z = x[0].unfold(0, 3, 1)",
        "z.add_(100)",
        "z.fill_(5)",
        "z *= 2",
        "z[0] += z[1]",
        "z.copy_(x[:, :3])",
    ],
    [
        "y = x + 1",
        "y += 100",
        "z = x.t() * 2",
        "z = y[:1] - x[:, :1]",
        "y = x[:, 1:] + x",
        "y = 5 + 1",
        "z = 99 * x - 1",
        "y = 1 - x[:1].expand(3, -1)",
        "y = x[:2]",
        "x = x[1:]",
    ],
    [
        "x[1:] += x[:-1]",
        "x[1:] += x[:-1].clone()",
        "x[:, 1:] += x[:, :-1]",
        "x[:, 1:] += x[:, :-1].clone()",
    ],
    [
        "y = x[:, :4]",
        "y += y.t()",
        "y += y.t().clone()",
        "x += x",
        "x += x[0]",
        "x[:] = x[0]",
        "x[1:] = x[0]",
    ],
    [  # no element, and sizes beside the 0
        "y = x.as_strided((0, 96), (1, 1))",
        "y = x.as_strided((0, 97), (1, 1))",
        "y = x.as_strided((50000000, 0), (1, 1))",
    ],
]


def stories():
    """Each story: the shape of x, and its lines with what came of them."""
    rng = random.Random(0)
    for _ in range(STORIES):
        shape = [rng.choice([0, 1, 2, 3, 4, 4, 6]) for _ in range(rng.randint(0, 3))]
        shape = rng.choice([shape if prod(shape) <= 96 else [9], [4, 6], [8], [3, 4]])
        story, lines = Story(shape), []
        for _ in range(LINES):
            lines.append(after(story, line(rng, story)))
        yield {"shape": shape, "lines": lines}
    for steps in LESSONS:
        story = Story([4, 6])
        yield {"shape": [4, 6], "lines": [after(story, text) for text in steps]}


def after(story, text):
    """What a line does: the log's entry and the picture, or the refusal."""
    try:
        entry = story.run(text)
    except LayoutError as error:
        return {"text": text, "error": str(error)}
    picture = layouts(story) if entry.kind != "write" else {}
    tapes = [[int(value) for value in tape.tolist()] for tape in story.tapes]
    return {"text": text, "entry": entry._asdict(), "tapes": tapes, **picture}


def layouts(story):
    """What a write leaves as it was: where the tensors lie, and who shares with whom."""
    place = {id(tape): k for k, tape in enumerate(story.tapes)}
    tensors = {
        name: [
            place[id(named.tape)],
            *map(list, (named.layout.shape, named.layout.stride)),
            named.layout.storage_offset,
        ]
        for name, named in story.tensors.items()
    }
    return {"tensors": tensors, "relations": story.relations(), "facts": facts(story)}


def facts(story):
    """What stridekit answers on the real tensors: the words have to agree with it."""
    tensors = {name: named.tensor for name, named in story.tensors.items()}
    pairs = [(y, x) for y in tensors for x in tensors if y != x]
    return {
        "is_view": {f"{y} {x}": is_view(tensors[y], tensors[x]) for y, x in pairs},
        "shares_memory": {f"{y} {x}": shares_memory(tensors[y], tensors[x]) for y, x in pairs},
        "overlap": {name: has_internal_overlap(t) for name, t in tensors.items()},
    }


def line(rng, story):
    """A line that usually can be run, and often shows something."""
    name = rng.choice([*story.tensors, rng.choice("yzw") if rng.random() < 0.1 else "x"])
    if rng.random() < 0.12:
        return computed(rng, story)
    if name not in story.tensors or len(story.tensors) < 2 or rng.random() < 0.45:
        return f"{rng.choice('yyyyzzzzx')} = {chained(rng, story, name)}"
    target = rng.choice([name, indexed(rng, story, name), chained(rng, story, name)])
    value = rng.choice([str(rng.randint(-9, 100)), operand(rng, story, target)])
    as_statement = target.endswith("]") or target == name
    forms = [f"{target}.{op}({value})" for op in ("add_", "sub_", "mul_", "copy_")]
    forms += [f"{target}.fill_(7)", f"{target}.zero_()", f"{target}.neg_()"]
    if as_statement:
        forms += [f"{target} {op}= {value}" for op in "+-*"] * 2
    if target.endswith("]"):
        forms += [f"{target} = {value}"] * 4
    return rng.choice(forms)


def computed(rng, story):
    """Arithmetic out of place, of tensors that often broadcast, or of one and an int."""
    names = [*story.tensors]
    operands = [
        chained(rng, story, rng.choice(names)),
        rng.choice([str(rng.randint(-9, 100))] * 2 + names),
    ]
    rng.shuffle(operands)
    return f"{rng.choice('yz')} = {operands[0]} {rng.choice('+-*')} {operands[1]}"


def chained(rng, story, name):
    """A name with up to two operations on it."""
    if name not in story.tensors:
        return name
    text, layout = name, story.tensors[name].layout
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        step = rng.choice([operation(rng, layout), ".clone()", windows(rng, layout)])
        try:
            layout = eval(f"x{step}", {"x": layout})
        except (LayoutError, IndexError):
            return text + step
        text += step
    return text


def windows(rng, layout):
    """What makes two indices share an element."""
    if layout.ndim == 0:
        return ".expand(3)"
    if rng.random() < 0.5:
        return f".unfold({rng.randrange(layout.ndim)}, 2, 1)"
    return f".expand(2, {', '.join(['-1'] * layout.ndim)})"


def indexed(rng, story, name):
    """A slice of a name."""
    ndim = story.tensors[name].tensor.ndim
    items = [
        rng.choice([":", "1:", ":-1", "0", "::2", "1::2"])
        for _ in range(rng.randint(1, max(ndim, 1)))
    ]
    return f"{name}[{', '.join(items)}]"


def operand(rng, story, target):
    """A tensor that often has the shape of the target: the same, shifted, flipped over, or repeated."""
    name = rng.choice([*story.tensors])
    shifted = target.replace("1:", "?").replace(":-1", "1:").replace("?", ":-1")
    choices = [shifted, shifted, target, name, indexed(rng, story, name), chained(rng, story, name)]
    text = rng.choice(choices)
    return text + rng.choice(["", "", "", ".clone()", ".t()", "[0]", "[:1]"])


def text():
    """The file's text: one story a line, so that a change shows where it is."""
    return "[\n" + ",\n".join(json.dumps(story) for story in stories()) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
