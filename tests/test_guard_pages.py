"""Pages that kill whoever touches them lie before and after the memory: the reader survives.

So does the memory that it writes into, `out`: its storage ends at a guard, and however much `out` claims
to have beyond, or the page may not be written at all, no byte goes there.
"""

import ctypes
import itertools
import mmap
import signal
import subprocess
import sys

import pytest
import torch

from stridekit import read_element, read_storage
from stridekit.tensors.storage import storage_view

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="mprotect is called as Linux has it"
)
DTYPES = [torch.uint8, torch.bool, torch.bfloat16, torch.float32, torch.int64, torch.complex128]
NUMEL = 24
PAGE = mmap.PAGESIZE
PROT_NONE, PROT_READ = 0, 1
KEPT = []  # mappings that nothing else refers to: they go with the process


def guarded_page():
    """The address of a page of memory between two that may be neither read nor written."""
    KEPT.append(ctypes.c_char.from_buffer(mmap.mmap(-1, 3 * PAGE)))
    start = ctypes.addressof(KEPT[-1])
    for guard in (start, start + 2 * PAGE):
        protect(guard, PROT_NONE)
    return start + PAGE


def protect(page, access):
    mprotect = ctypes.CDLL(None).mprotect
    assert mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), access) == 0


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
    """Make the mistake that the reader avoids: read the storage's length from the view's start."""
    view = tensor_at(guarded_page() + PAGE - NUMEL * 4, NUMEL * 4, torch.float32)[5:]
    print(len(ctypes.string_at(view.data_ptr(), view.untyped_storage().nbytes())))


def claiming(base, numel, offset=0):
    """A tensor of `numel` elements, whatever its storage can hold, as resize_ can leave it."""
    return torch.ops.inductor._reinterpret_tensor(base, (numel,), (1,), offset)


def refusal(source, out):
    try:
        read_storage(source, out=out)
    except ValueError as error:
        return str(error)
    return ""


def write():
    """Write into every `out` that may be too long for a storage that ends at a guard; count the refusals.

    The bytes of the page are all known, so that one written beside the elements of `out` is seen.
    """
    page, canary, refused, written = guarded_page(), b"\xa5" * PAGE, 0, 0
    rooms, offsets, numels = [8, 16, 24, 56, 96, 384], [0, 1, 2, 5, 23, 24, 2**40], [0, 1, 2, 6, 24]
    for dtype, room, offset, numel in itertools.product(DTYPES, rooms, offsets, numels):
        if room % dtype.itemsize:
            continue
        base = tensor_at(page + PAGE - room, room, dtype)
        ctypes.memmove(page, canary, PAGE)
        start, nbytes = PAGE - room + offset * dtype.itemsize, numel * dtype.itemsize
        expected = canary
        told = refusal(torch.zeros(numel, dtype=dtype), claiming(base, numel, offset))
        if numel and start + nbytes > PAGE:
            end = (offset + numel) * dtype.itemsize
            assert f"to {end}, but its storage has only {room} bytes" in told
            refused += 1
        else:
            assert told == ""
            if numel:
                expected = canary[:start] + bytes(nbytes) + canary[start + nbytes :]
            written += 1
        assert ctypes.string_at(page, PAGE) == expected, (dtype, room, offset, numel)
    print(refused, written)


def write_where_only_reading_is_allowed():
    """Write to pages for reading, from the first byte to the last: each is refused in words."""
    page = guarded_page()
    outs = [tensor_at(page, NUMEL, torch.uint8), tensor_at(page + PAGE - NUMEL, NUMEL, torch.uint8)]
    beyond = guarded_page()  # the page before it may be written, and so the first half of this out
    protect(beyond - PAGE, PROT_READ | mmap.PROT_WRITE)
    outs.append(tensor_at(beyond - NUMEL // 2, NUMEL, torch.uint8))
    protect(page, PROT_READ)
    protect(beyond, PROT_READ)
    for out in outs:
        assert "may not be written" in refusal(torch.zeros(NUMEL, dtype=torch.uint8), out)
        assert out.tolist() == [1] * NUMEL
    print(len(outs))


def copy_to_a_page_for_reading():
    """Copy with torch into memory that may not be written: the reader has to ask the kernel first."""
    page = guarded_page()
    out = tensor_at(page, NUMEL, torch.uint8)
    protect(page, PROT_READ)
    print(out.copy_(torch.zeros(NUMEL)).sum())


def survive():
    for function in (read, write, write_where_only_reading_is_allowed):
        function()


def run(function):
    """Run the function in a process of its own."""
    command = [sys.executable, "-m", "tests.test_guard_pages", function.__name__]
    return subprocess.run(command, capture_output=True, text=True)


def test_no_guard_is_touched():
    """Every view is read to the last byte, every `out` that fits is written, and the process lives.

    Every other `out` is refused, and no other byte of the page changes.
    """
    done = run(survive)
    assert (done.returncode, done.stderr) == (0, "")
    read_bytes, refused, written, read_only = map(int, done.stdout.split())
    assert read_bytes > 100_000 and refused > 400 and written > 350 and read_only == 3


@pytest.mark.parametrize("function", [read_from_data_ptr, copy_to_a_page_for_reading])
def test_the_guards_kill(function):
    """A process that reads or writes past an end dies, so a reader that survives has not done so."""
    done = run(function)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "")


if __name__ == "__main__":
    if sys.platform.startswith("linux"):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a death that is meant leaves no file
    globals()[sys.argv[1]]()
