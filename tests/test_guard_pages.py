"""Pages that kill whoever touches them lie before and after the memory: the reader survives."""

import ctypes
import itertools
import mmap
import signal
import subprocess
import sys

import pytest
import torch

from stridekit import read_element, read_storage
from stridekit.storage import storage_view

DTYPES = [torch.uint8, torch.bool, torch.bfloat16, torch.float32, torch.int64, torch.complex128]
NUMEL = 24
PAGE = mmap.PAGESIZE
PROT_NONE = 0
KEPT = []  # mappings that nothing else refers to: they go with the process


def guarded_page():
    """The address of a page of memory between two that may be neither read nor written."""
    KEPT.append(ctypes.c_char.from_buffer(mmap.mmap(-1, 3 * PAGE)))
    start = ctypes.addressof(KEPT[-1])
    mprotect = ctypes.CDLL(None).mprotect
    for guard in (start, start + 2 * PAGE):
        assert mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(PAGE), PROT_NONE) == 0
    return start + PAGE


def tensor_at(address, nbytes, dtype):
    """A 1-D tensor over exactly these bytes."""
    memory = (ctypes.c_char * nbytes).from_address(address)
    return torch.frombuffer(memory, dtype=torch.uint8).fill_(1).view(dtype)


def views(base):
    """Tensors over all of the storage, its start, its end, nothing, and some elements many times."""
    grid = base.view(4, 6)
    result = [base, base[-1:], base[-1], base[5:], base[:0], base[NUMEL:], grid.t(), grid[3, 2:]]
    result += [grid[1:, ::2], grid[3:, 5:].expand(3, 4), grid.diagonal(), base.unfold(0, 5, 2)]
    if base.is_complex():
        result += [base[7:].conj(), base[7:].conj().imag, grid.mH[2:]]
    return result


def read():
    """Read views of memory that begins after a guard, ends before one, or does both; count the bytes."""
    page, total = guarded_page(), 0
    for dtype in DTYPES:
        nbytes = NUMEL * dtype.itemsize
        first = tensor_at(page, nbytes, dtype)
        last = tensor_at(page + PAGE - nbytes, nbytes, dtype)
        whole = tensor_at(page, PAGE, dtype)[-NUMEL:]
        for view in [view for base in (first, last, whole) for view in views(base)]:
            total += read_storage(view).nbytes + storage_view(view).clone().nbytes
            for index in itertools.product(*map(range, view.shape)):
                read_element(view, index)
                total += view.element_size()
        total += read_storage(first, out=last).nbytes + read_storage(last, out=first).nbytes
    odd = tensor_at(page + PAGE - 27, 27, torch.uint8).untyped_storage()
    total += read_storage(torch.empty(0, dtype=torch.int64).set_(odd, 2, (1,), (1,))).nbytes
    print(total)


def read_from_data_ptr():
    """The mistake that the reader is there to avoid: the storage's length, from the view's start."""
    view = tensor_at(guarded_page() + PAGE - NUMEL * 4, NUMEL * 4, torch.float32)[5:]
    print(len(ctypes.string_at(view.data_ptr(), view.untyped_storage().nbytes())))


def read_one_before():
    """The byte in front of the first one."""
    print(len(ctypes.string_at(guarded_page() - 1, 1)))


linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="mprotect is called as Linux has it"
)


def run(function):
    """The function in a process of its own."""
    command = [sys.executable, "-m", "tests.test_guard_pages", function.__name__]
    return subprocess.run(command, capture_output=True, text=True)


@linux
def test_the_reader_touches_no_guard():
    """Every view of every storage is read to the last byte, and the process lives."""
    done = run(read)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 100_000


@linux
@pytest.mark.parametrize("function", [read_from_data_ptr, read_one_before])
def test_the_guards_kill(function):
    """Whoever reads past an end dies of it: the reader that lives has not done so."""
    done = run(function)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "")


if __name__ == "__main__":
    if sys.platform.startswith("linux"):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a death that is meant leaves no file
    globals()[sys.argv[1]]()
