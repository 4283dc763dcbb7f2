"""The loops of torch's own TensorIterator, recorded once in tests/core/fixtures/loop_nests.json.

`python -m tests.core.loop_nest_cases` compiles loop_nests.cpp, which needs g++ and ninja, runs it on a
thousand random cases and writes the file.
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
            out = steps.tensor(r, shape, dtype)
            is_repeated = any(out.stride(d) == 0 and out.shape[d] > 1 for d in range(out.ndim))
            out = None if is_repeated else in_numbers(out)  # torch writes to no repeated element
        yield out, [in_numbers(x) for x in inputs]
        count -= 1


def in_numbers(x):
    """The shape, the stride and the dtype of a tensor, as JSON has them."""
    return list(x.shape), list(x.stride()), str(x.dtype).removeprefix("torch.")


def compile_torchs_loops():
    load("loop_nests", [str(SOURCE)], extra_cflags=["-std=c++20"], is_python_module=False)
    return torch.ops.stridekit_tests.loops


def tensor(shape, stride, dtype):
    return torch.empty(20_000, dtype=getattr(torch, dtype)).as_strided(shape, stride)


def torchs_nest(loops, out, inputs):
    """torch's nest as `loop_nest` returns it: sizes, strides in elements, outermost first; itemsizes."""
    out_tensor = out and tensor(*out)
    shape, *byte_strides, itemsizes = loops(out_tensor, [tensor(*x) for x in inputs])
    strides = []
    for byte_stride, itemsize in zip(byte_strides, itemsizes, strict=True):
        strides.append([step // itemsize for step in reversed(byte_stride)])
    return shape[::-1], strides, itemsizes


def stridekits_nest(out, inputs):
    """The nest of `loop_nest`, in the same form."""
    nest = loop_nest(*(tensor(*x) for x in inputs), out=out and tensor(*out))
    [shape] = {layout.shape for layout in nest}
    return list(shape), [list(x.stride) for x in nest], [x.itemsize for x in nest]


def text(loops):
    """The file's text: torch's version, then one case a line, each once."""
    lines = {}
    for out, inputs in cases("loop nests", COUNT):
        shape, strides, itemsizes = torchs_nest(loops, out, inputs)
        case = {
            "out": out,
            "inputs": inputs,
            "loops": shape,
            "strides": strides,
            "itemsizes": itemsizes,
        }
        lines[json.dumps(case)] = None
    version = json.dumps(torch.__version__.partition("+")[0])
    return f'{{"torch": {version}, "cases": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    FILE.write_text(text(compile_torchs_loops()), encoding="utf-8")
