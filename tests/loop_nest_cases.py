"""The loops of torch's own TensorIterator, asked once and kept: tests/fixtures/loop_nests.json.

`python -m tests.loop_nest_cases` compiles loop_nests.cpp with g++ against the headers in torch's wheel,
asks it about a few hundred generated cases and writes the file. `--fuzz N` writes nothing, and compares
N new cases with `stridekit.loop_nest`.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from torch.utils.cpp_extension import include_paths, library_paths

from stridekit import Layout
from stridekit.elementwise import loop_nest

FILE = Path(__file__).parent / "fixtures" / "loop_nests.json"
SOURCE = Path(__file__).parent / "loop_nests.cpp"
COUNT = 800
DTYPES = ("float32", "float64", "float16", "int64", "int32", "uint8", "bool", "complex64")
CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


# Cases ----------------------------------------------------------------------------------------------


def cases(seed, count):
    """Operands that broadcast, by their shapes, strides and dtypes: (out or None, inputs)."""
    r = random.Random(seed)
    for _ in range(count):
        sizes = (1, 2, 2, 3, 3) if r.random() < 0.8 else (0, 1, 1, 2, 3)
        full = r.choices(sizes, k=r.choice((*(1, 2, 2, 3, 3) * 3, *(4, 4, 5) * 3, 0)))
        orders = [list(range(len(full))), CHANNELS_LAST.get(len(full))]
        # Often all operands lie alike, or nearly so.
        order = r.choice([r.sample(range(len(full)), len(full)), *filter(None, orders), None])
        dtypes = r.choice((["float32"], ["float32"], r.sample(DTYPES, 2), r.choices(DTYPES, k=3)))
        inputs = [
            operand(r, broadcast(r, full), order, r.choice(dtypes))
            for _ in range(r.choice((1, 2, 2, 3)))
        ]
        shape = torch.broadcast_shapes(*(shape for shape, *_ in inputs))
        out = None
        if r.random() < 0.3:
            out = operand(r, list(shape), order, r.choice((*dtypes, *dtypes, "float64", "bool")))
        if out and any(step == 0 and size > 1 for size, step in zip(*out[:2], strict=True)):
            out = None  # torch does not write to repeated elements
        yield out, inputs


def broadcast(r, full):
    """A shape that broadcasts to the full one, often the full one itself."""
    if r.random() < 0.6:
        return full
    shape = [1 if r.random() < 0.4 else size for size in full]
    return shape[r.choice((0, 0, r.randint(0, len(full)))) :]


def operand(r, shape, order, dtype):
    """The shape, a stride (dense in this order or another, or with gaps, zeros and overlaps), the dtype."""
    if order is None or len(order) != len(shape) or r.random() < 0.2:
        order = r.sample(range(len(shape)), len(shape))
    kind, stride, step = r.random(), [0] * len(shape), 1
    for d in reversed(order):
        stride[d] = 0 if kind > 0.9 and r.random() < 0.5 else step
        step *= max(shape[d], 1) + (0.7 < kind < 0.9 and r.random() < 0.4)
    if 0.6 < kind < 0.7:
        stride = r.choices((0, 1, 1, 2, 3, 4, 6), k=len(shape))
    return shape, stride, dtype


# torch's answers ------------------------------------------------------------------------------------


def compile_torchs_loops():
    """The function of loop_nests.cpp, which the operating system keeps loaded until Python ends."""
    with tempfile.TemporaryDirectory(prefix="stridekit-") as folder:
        library = f"{folder}/loop_nests.so"
        abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
        flags = ["-std=c++20", "-shared", "-fPIC", abi]
        includes = [f"-I{path}" for path in include_paths()]
        links = [f"-L{path}" for path in library_paths()]
        torchs = ["-Wl,--no-as-needed", "-ltorch_cpu", "-lc10"]
        subprocess.run(
            ["g++", *flags, *includes, str(SOURCE), *links, *torchs, "-o", library], check=True
        )
        torch.ops.load_library(library)
    return torch.ops.stridekit_tests.loops


def tensor(shape, stride, dtype):
    return torch.empty(20_000, dtype=getattr(torch, dtype)).as_strided(shape, stride)


def answer(loops, out, inputs):
    """The nest as `loop_nest` gives it: sizes, strides in elements, outermost loop first, and itemsizes."""
    shape, *strides, itemsizes = loops(out and tensor(*out), [tensor(*one) for one in inputs])
    steps = [
        [step // itemsize for step in one[::-1]]
        for one, itemsize in zip(strides, itemsizes, strict=True)
    ]
    return shape[::-1], steps, itemsizes


def of_stridekit(out, inputs):
    """The answer of `loop_nest` to the same case, with Layouts as operands of one dtype."""
    make = tensor
    if len({dtype for *_, dtype in (*inputs, out or inputs[0])}) == 1:
        make = layout
    nest = loop_nest(*(make(*one) for one in inputs), out=out and make(*out))
    assert {one.shape for one in nest} == {nest[0].shape}
    return (
        list(nest[0].shape),
        [list(one.stride) for one in nest],
        [one.itemsize for one in nest],
    )


def layout(shape, stride, dtype):
    return Layout(shape, stride, 0, getattr(torch, dtype).itemsize)


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


def fuzz(loops, count):
    """Compare new cases; exits with the first that differs."""
    seed = random.randrange(10**9)
    for out, inputs in cases(seed, count):
        expected, found = answer(loops, out, inputs), of_stridekit(out, inputs)
        if found != expected:
            sys.exit(f"out={out} inputs={inputs}: loop_nest has {found}, torch {expected}")
    print(f"{count:,} cases, no mismatch, seed {seed}")


if __name__ == "__main__":
    torchs_loops = compile_torchs_loops()
    if sys.argv[1:2] == ["--fuzz"]:
        fuzz(torchs_loops, int(sys.argv[2]))
    else:
        FILE.write_text(text(torchs_loops), encoding="utf-8")
