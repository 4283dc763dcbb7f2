"""The loops of torch's own TensorIterator, asked once and kept: tests/core/fixtures/loop_nests.json.

`python -m tests.loop_nest_cases` compiles loop_nests.cpp, for which it needs g++ and ninja,
asks it about a thousand random cases and writes the file.
"""

import json
import random
from pathlib import Path

import torch
from torch.utils.cpp_extension import load

from stridekit.elementwise import loop_nest
from tests.core import steps

FILE = Path(__file__).parent / "fixtures" / "loop_nests.json"
SOURCE = Path(__file__).parent / "loop_nests.cpp"
COUNT = 1000
DTYPES = [torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.uint8]
DTYPES += [torch.bool, torch.complex64]


def cases(seed, count):
    """Operands that broadcast, and at times an output: (out or None, inputs), each in numbers."""
    r = random.Random(seed)
    while count:
        dtypes = r.choice((DTYPES[:1], DTYPES[:1], r.sample(DTYPES, 2), r.choices(DTYPES, k=3)))
        inputs = steps.operands(r, r.choice((1, 2, 2, 3)), dtypes)
        try:
            shape = torch.broadcast_shapes(*(x.shape for x in inputs))
        except RuntimeError:
            continue
        out = None
        if r.random() < 0.3:
            dtype = r.choice((*dtypes, *dtypes, torch.float64, torch.bool))
            out = in_numbers(steps.tensor(r, shape, dtype))
        if out and any(step == 0 and size > 1 for size, step in zip(*out[:2], strict=True)):
            out = None  # torch does not write to repeated elements
        yield out, [in_numbers(x) for x in inputs]
        count -= 1


def in_numbers(x):
    return list(x.shape), list(x.stride()), str(x.dtype).removeprefix("torch.")


def compile_torchs_loops():
    load("loop_nests", [str(SOURCE)], extra_cflags=["-std=c++20"], is_python_module=False)
    return torch.ops.stridekit_tests.loops


def tensor(shape, stride, dtype):
    return torch.empty(20_000, dtype=getattr(torch, dtype)).as_strided(shape, stride)


def answer(loops, out, inputs):
    """The nest as `loop_nest` gives it: sizes, strides in elements, outermost loop first, and itemsizes."""
    shape, *strides, itemsizes = loops(out and tensor(*out), [tensor(*one) for one in inputs])
    pairs = zip(strides, itemsizes, strict=True)
    moves = [[step // itemsize for step in one[::-1]] for one, itemsize in pairs]
    return shape[::-1], moves, itemsizes


def of_stridekit(out, inputs):
    nest = loop_nest(*(tensor(*one) for one in inputs), out=out and tensor(*out))
    assert {one.shape for one in nest} == {nest[0].shape}
    return list(nest[0].shape), [list(one.stride) for one in nest], [one.itemsize for one in nest]


def text(loops):
    """The file's text: torch's version, then one case a line, each once."""
    lines = {}
    for out, inputs in cases("loop nests", COUNT):
        shape, strides, itemsizes = answer(loops, out, inputs)
        case = {"out": out, "inputs": inputs, "loops": shape}
        case |= {"strides": strides, "itemsizes": itemsizes}
        lines[json.dumps(case)] = None
    version = json.dumps(torch.__version__.partition("+")[0])
    return f'{{"torch": {version}, "cases": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    FILE.write_text(text(compile_torchs_loops()), encoding="utf-8")
