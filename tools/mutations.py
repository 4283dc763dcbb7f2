"""Defects, each with a name: what `make mutate` plants, one at a time, to see the tests turn red.

A mutation replaces the one place in a file where `old` stands. `tests` is what has to notice.
"""

# ruff: noqa: E501  (a line of source is quoted as it stands)

from __future__ import annotations

from typing import NamedTuple


class Mutation(NamedTuple):
    """A defect: its name, where it is planted, and the tests that have to notice."""

    name: str
    file: str
    old: str
    new: str
    tests: str


VIEWS, LAYOUT, FORMATS = "tests/test_views.py", "tests/test_layout.py", "tests/test_questions.py"
SETS, MEMORY, ALIAS = "tests/test_strided_set.py", "tests/test_memory.py", "tests/test_aliasing.py"
STORAGE, COPIES, ELEMENTWISE = (
    "tests/test_storage.py",
    "tests/test_copies.py",
    "tests/test_elementwise.py",
)
EXERCISES, SCRIPTS = "tests/test_exercises.py", "tests/test_stride_explorer.py"
MODES, HOSTILE = "tests/test_torch_modes.py", "tests/test_hostile_answers.py"
SETUP, TOOLS, EXPORT = "tests/test_setup_env.py", "tests/test_tools.py", "tests/test_export.py"
PARTS, DIMS, ELEMENTS = (f"stridekit/views_of_{what}.py" for what in ("parts", "dims", "elements"))

MUTATIONS = (
    # The address formula, and the slices -----------------------------------------------------------
    Mutation("the formula drops the offset", "stridekit/layout.py",
             "return self.storage_offset + sum(", "return sum(", LAYOUT),
    Mutation("an address forgets the itemsize", "stridekit/layout.py",
             "return self.offset(index) * self.itemsize", "return self.offset(index)", LAYOUT),
    Mutation("a slice keeps the offset of its base", PARTS,
             "self.storage_offset + start * self.stride[dim],", "self.storage_offset,", VIEWS),
    Mutation("a slice keeps the stride of its base", PARTS,
             "change(self.stride, dim, self.stride[dim] * step)", "self.stride", VIEWS),
    Mutation("select moves by elements, not by strides", PARTS,
             "self._in_range(dim, index) * self.stride[dim]", "self._in_range(dim, index)", VIEWS),
    Mutation("a diagonal steps along its rows alone", PARTS,
             "self.stride[a] + self.stride[b]]", "self.stride[a]]", VIEWS),
    Mutation("the diagonals below start as those above", PARTS,
             "- min(offset, 0) * self.stride[a]", "- min(offset, 0) * self.stride[b]", VIEWS),
    Mutation("unfold makes one window too few", PARTS,
             "(length - size) // step + 1)", "(length - size) // step)", VIEWS),
    Mutation("chunk rounds down", PARTS,
             "-(-self.shape[dim] // count)", "max(self.shape[dim] // count, 1)", VIEWS),
    # Dims --------------------------------------------------------------------------------------------
    Mutation("permute is its own inverse", DIMS,
             "return self._pick(order)\n\n    def transpose",
             "return self._pick([order.index(d) for d in range(self.ndim)])\n\n    def transpose", VIEWS),
    Mutation("two strides are swapped", DIMS,
             "[self.stride[d] for d in dims])", "[self.stride[d] for d in dims][::-1])", VIEWS),
    Mutation("expand keeps the stride of what it repeats", DIMS,
             "stride[d] = step if shape[d] == old else 0", "stride[d] = step", VIEWS),
    Mutation("unsqueeze takes the stride alone", DIMS,
             "self.shape[dim] * self.stride[dim] if dim < self.ndim else 1",
             "self.stride[dim] if dim < self.ndim else 1", VIEWS),
    # The view rule, contiguity and order -----------------------------------------------------------
    Mutation("the view rule forgets sizes of 1", "stridekit/view_rule.py",
             "shape[d] == 1 or stride[d] ==", "stride[d] ==", VIEWS),
    Mutation("a view is filled in the wrong unit", "stridekit/view_rule.py",
             "new_stride[d] = filled * chunk.stride", "new_stride[d] = filled", VIEWS),
    Mutation("a broken boundary is named one dim off", "stridekit/view_rule.py",
             "outer = chunk.first - 1", "outer = max(chunk.first - 2, 0)", VIEWS),
    Mutation("contiguity looks at sizes of 1", "stridekit/memory_format.py",
             "if shape[d] != 1 and stride[d] != needed:", "if stride[d] != needed:", FORMATS),
    Mutation("an empty layout is not contiguous", "stridekit/memory_format.py",
             'if name == "contiguous_format" and prod(shape) == 0:', "if False:", FORMATS),
    Mutation("channels-last walks H before W", "stridekit/memory_format.py",
             '"channels_last": (1, 3, 2, 0)', '"channels_last": (1, 2, 3, 0)', FORMATS),
    Mutation("dense layouts may have holes", "stridekit/dim_order.py",
             "if step > needed:  #", "if False:  #", FORMATS),
    Mutation("ties between dims are not looked at", "stridekit/dim_order.py",
             "if shape[a] > shape[b]:", "if False:", ELEMENTWISE),
    # Copies and elementwise ------------------------------------------------------------------------
    Mutation("contiguous always copies", "stridekit/copies.py",
             "if not why_not_contiguous(self.shape, self.stride, name):\n            return self",
             "if False:\n            return self", COPIES),
    Mutation("clone always makes rows", "stridekit/copies.py",
             "self._preserved_stride() if name == PRESERVE else", "", COPIES),
    Mutation("flatten of one dim goes through reshape", "stridekit/copies.py",
             "if start == end:\n            return self", "if start == end:\n            return self.clone()",
             COPIES),
    Mutation("the result of a sum is always by rows", "stridekit/elementwise.py",
             "return packed_stride(shape, order)\n", "return contiguous_stride(shape)\n", ELEMENTWISE),
    Mutation("loops merge that do not fit", "stridekit/elementwise.py",
             "elif outer.size == 1 or outer.steps ==", "elif True or outer.steps ==", ELEMENTWISE),
    Mutation("a repeated operand keeps its stride", "stridekit/elementwise.py",
             "0 if own == 1 and size != 1 else step", "step", ELEMENTWISE),
    # Memory sets -------------------------------------------------------------------------------------
    Mutation("a reach is one step too long", "stridekit/strided_set.py",
             "return sum([c * (n - 1) for c, n in generators])", "return sum([c * n for c, n in generators])",
             SETS),
    Mutation("a digit may be one too large", "stridekit/strided_set.py",
             "if not 0 <= digit < generators[0][1]:", "if not 0 <= digit <= generators[0][1]:", SETS),
    Mutation("steps merge across a gap", "stridekit/strided_set.py",
             "c % step == 0 and c <= step * count", "c % step == 0", SETS),
    Mutation("an internal overlap of equal steps is missed", "stridekit/strided_set.py",
             "if c <= total:", "if c < total:", SETS),
    Mutation("inclusion looks at the hull alone", "stridekit/inclusion.py",
             "return base == 0 and not generators", "return True", MEMORY),
    Mutation("a memory set has a byte too many", "stridekit/memory.py",
             "[*pairs, (1, item)], space", "[*pairs, (1, item + 1)], space", MEMORY),
    Mutation("a memory set starts at the storage", "stridekit/memory.py",
             "return item * layout.storage_offset, [*pairs", "return 0, [*pairs", MEMORY),
    Mutation("interleaved sets are said to meet", "stridekit/memory.py",
             "return not meet(self._generators, other._generators, shift, steps)", "return False",
             MEMORY),
    Mutation("is_view is asked the other way round", "stridekit/aliasing.py",
             "return memset(y).issubset(memset(x), budget)", "return memset(x).issubset(memset(y), budget)",
             ALIAS),
    Mutation("sharing is told by the storage", "stridekit/aliasing.py",
             "return not memset(x).isdisjoint(memset(y), budget)", "return shares_storage(x, y)", ALIAS),
    # Raw memory ------------------------------------------------------------------------------------
    Mutation("an element is read from the storage's start", "stridekit/storage.py",
             "storage_address(t) + start, size)", "storage_address(t), size)", STORAGE),
    Mutation("a conjugate is read as it lies", "stridekit/storage.py",
             "value = value.conj() if t.is_conj() else value", "", STORAGE),
    Mutation("a shrunken storage is read all the same", "stridekit/storage.py",
             "if start + size > nbytes:", "if False:", STORAGE),
    # Exercises ---------------------------------------------------------------------------------------
    Mutation("a check accepts what it has not compared", "stridekit/exercises/running.py",
             "return self.outcome.facts == self.expected.facts", "return True", EXERCISES),
    Mutation("a check compares the words, not the facts", "stridekit/exercises/answers.py",
             '"sharing": sharing,', "", EXERCISES),
    Mutation("a solution forgets the offset", "stridekit/exercises/strides/e1_address.py",
             "return (t.storage_offset() + steps) * t.element_size()", "return steps * t.element_size()",
             "tests/test_exercises_strides.py"),
    Mutation("every wrong answer gets the first hint", "stridekit/exercises/core.py",
             "best_hint, most = mistake.hint, len(agree)", "best_hint, most = self.mistakes[0].hint, 99",
             EXERCISES),
    # The browser's half --------------------------------------------------------------------------------
    Mutation("the picture's formula drops the offset", "stridekit/widgets/page/core.js",
             "sum + i * layout.stride[d], layout.storage_offset);", "sum + i * layout.stride[d], 0);", SCRIPTS),
    Mutation("a slider goes one step too far", "stridekit/widgets/page/core.js",
             "stride: [storage_offset + rest, shape[dim] - 1],", "stride: [rest, shape[dim] - 1],", SCRIPTS),
    Mutation("the browser slices without its start", "stridekit/widgets/page/operations.js",
             "storage_offset: x.storage_offset + start * x.stride[d],", "storage_offset: x.storage_offset,",
             SCRIPTS),
    Mutation("the browser's view rule forgets sizes of 1", "stridekit/widgets/page/view_rule.js",
             "inner && (shape[d] === 1 || stride[d] ===", "inner && (stride[d] ===", SCRIPTS),
    Mutation("the browser's walk forgets the offset", "stridekit/widgets/traversal_explorer/traversal.js",
             "offset(walk, indexAt(walk, k));", "offset(walk, indexAt(walk, k)) - walk.storage_offset;",
             "tests/test_traversal_explorer.py"),
    # Timing ------------------------------------------------------------------------------------------
    Mutation("a GPU's time has the flush in it", "stridekit/timing/clocks.py",
             "            if self._erase:\n                self._erase()\n            begun = time.perf_counter()\n"
             "            start.record()\n",
             "            begun = time.perf_counter()\n            start.record()\n"
             "            if self._erase:\n                self._erase()\n",
             "tests/test_timing.py"),
    Mutation("threads stay as the benchmark set them", "stridekit/timing/sampling.py",
             "        torch.set_num_threads(before)", "        pass", "tests/test_timing.py"),
    Mutation("faster and slower are exchanged", "stridekit/timing/comparison.py",
             'return "slower" if self.low > 1', 'return "faster" if self.low > 1', "tests/test_timing.py"),
    # What is stored ------------------------------------------------------------------------------------
    Mutation("a stored sum is off by one", "notebooks/01_strides.ipynb",
             '"(55, 2, 2, 6, 3)"', '"(56, 2, 2, 6, 3)"', "notebooks/01_strides.ipynb"),
    Mutation("a stored verdict is turned round", "notebooks/00_start.ipynb",
             "Everything works.", "Nothing works.", "notebooks/00_start.ipynb"),
    Mutation("a cell is edited and not run again", "notebooks/01_strides.ipynb",
             '"x.diagonal().stride(), x.stride(0) + x.stride(1)"',
             '"x.diagonal().stride(), x.stride(0) + x.stride(0)"', "tests/test_notebooks.py"),
    # What a notebook has set, and hostile answers ------------------------------------------------------
    Mutation("a default device reaches an exercise", "stridekit/_defaults.py",
             "        _replace_modes([])\n", "", MODES),
    Mutation("a default dtype reaches an exercise", "stridekit/_defaults.py",
             "        torch.set_default_dtype(torch.float32)\n", "", MODES),
    Mutation("a device that an answer sets stays", "stridekit/_defaults.py",
             "            _replace_modes(modes)\n", "            pass\n", MODES),
    Mutation("what is equal to everything is right", "stridekit/exercises/running.py",
             "replace(outcome, facts={name: plain(it) for name, it in outcome.facts.items()})", "outcome",
             HOSTILE),
    Mutation("an error that cannot be told ends a check", "stridekit/exercises/untrusted.py",
             "        return str.__str__(str(error))\n    except KeyboardInterrupt:\n        raise\n"
             "    except BaseException:\n        return \"\"",
             "        return str.__str__(str(error))\n    finally:\n        pass", HOSTILE),
    Mutation("every long number is taken for an address", "stridekit/exercises/untrusted.py",
             'return "(an address)" if near or number >= _HIGH else found[0]', 'return "(an address)"', HOSTILE),
    # Words -----------------------------------------------------------------------------------------------
    Mutation("prose is not escaped", "stridekit/exercises/report.py",
             'r"<code>\\1</code>", escape(text))', 'r"<code>\\1</code>", text)', EXERCISES),
    Mutation("the stride of a dim of size 0 is no longer free", "stridekit/exercises/watch.py",
             's if n > 1 else "free"', '"free" if n == 1 else s', EXERCISES),
    Mutation("the first of two errors in a log is quoted", "tools/environment.py",
             "quote(telling[-1:])", "quote(telling[:1])", SETUP),
    # The export ------------------------------------------------------------------------------------------
    Mutation("a name is put into a link as it is", "stridekit/export.py",
             '{quote(name, safe="")}.html', "{name}.html", EXPORT),
    Mutation("a page of somebody else's is replaced", "stridekit/export.py",
             "if os.path.lexists(path) and not _is_page(path):", "if path.is_dir():", EXPORT),
    Mutation("an address without a scheme is not seen", "stridekit/fetched.py",
             "[a-z][a-z0-9+.-]*:|//", "[a-z][a-z0-9+.-]*:", "tests/test_fetched.py"),
    Mutation("pages lead the wrong way", "stridekit/api_pages.py",
             '((before, "prev", "← {}"), (after, "next", "{} →"))',
             '((after, "prev", "← {}"), (before, "next", "{} →"))', "tests/test_api_pages.py"),
    # The tools -------------------------------------------------------------------------------------------
    Mutation("what builds the package may change unnoticed", "tools/environment.py",
             'json.dumps([pyproject["build-system"], pyproject["project"]])', 'json.dumps(pyproject["project"])',
             SETUP),
    Mutation("the lock is not what is installed", "tools/environment.py",
             '"-c", "constraints.txt", "-e"', '"-e"', SETUP),
    Mutation("refresh forgets its arguments", "Makefile",
             "tools/refresh.py $(REFRESH_ARGS)", "tools/refresh.py", SETUP),
    Mutation("a kept output has the number of another cell", "tools/refresh.py",
             "now.execution_count = cell.execution_count", "pass", "tests/test_refresh.py"),
    Mutation("the kernel has as many threads as it likes", "tools/notebook_kernel.py",
             '    "OMP_NUM_THREADS": "1",\n', "", TOOLS),
    Mutation("a planted defect stays", "tools/mutate.py",
             '        finally:\n            path.write_text(text, encoding="utf-8", newline="\\n")',
             "        finally:\n            pass", TOOLS),
    Mutation("the lock is for this system alone", "tools/lock.py", '"--universal", ', "", TOOLS),
    Mutation("CI forgets that its last part was red", ".ci/run",
             'wait "$second" || status=$?', 'wait "$second" || true', "tests/test_ci.py"),
    Mutation("cells are run and not compared", "pyproject.toml", '    "--nbval",\n', '    "--nbval-lax",\n', TOOLS),
)  # fmt: skip

# What the tests themselves plant: one of the package, one of the browser's half, one stored output.
SHORT = (
    "a slice keeps the offset of its base",
    "the picture's formula drops the offset",
    "a stored verdict is turned round",
)
