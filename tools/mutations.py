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
PARTS, DIMS, ELEMENTS = (f"stridekit/views_of_{what}.py" for what in ("parts", "dims", "elements"))
ON_STRIDES, ON_ALIASES, ON_RESHAPES, ON_CHANNELS, ON_WALKS, ON_PREDICTIONS, ON_ALL = (
    f"tests/browser/test_hands_{what}.py"
    for what in ("strides", "aliases", "reshapes", "channels", "walks", "predictions", "all")
)
STILLS, WIDGETS = "tests/test_stills.py", "stridekit/widgets"
PAGE, STRIDES, WALKS = (
    f"{WIDGETS}/{what}" for what in ("page", "stride_explorer", "traversal_explorer")
)

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
    # Widgets under a hand: keys, focus, pointer --------------------------------------------------------
    Mutation("keys move a strip and scroll the page too", f"{PAGE}/strip.js",
             "    event.preventDefault();\n    const next", "    const next", ON_ALIASES),
    Mutation("the first key in a strip skips a box", f"{PAGE}/strip.js",
             "reached === null ? 0 : led", "led", ON_ALIASES),
    Mutation("the outermost of four dims has no keys", f"{STRIDES}/widget.js",
             'event.shiftKey && event.key.startsWith("Page") ? `Shift+${event.key}` : event.key;', "event.key;",
             ON_STRIDES),
    Mutation("PageUp goes down", f"{STRIDES}/grid.js",
             'case "PageUp": return move(last - 2, -1)', 'case "PageUp": return move(last - 2, 1)', SCRIPTS),
    Mutation("a button lets JupyterLab have its keys", f"{PAGE}/panels.js",
             'text: "copy", ...OWN_KEYS,', 'text: "copy",', ON_ALL),
    Mutation("Space does nothing on the tape", f"{STRIDES}/widget.js",
             'event.key === "Enter" || event.key === " "', 'event.key === "Enter"', ON_STRIDES),
    Mutation("what was undone is not taken again by key", f"{STRIDES}/chain_panel.js",
             "    else if (later.length) goTo(stages.length);\n", "", ON_STRIDES),
    Mutation("a grip forgets the offset", f"{STRIDES}/widget.js",
             "const steps = slot - storage_offset;", "const steps = slot;", ON_STRIDES),
    Mutation("the reason of a slider outlives its change", f"{STRIDES}/widget.js",
             'const forget = () => own.sliding || sliders.say("");', "const forget = () => {};", ON_STRIDES),
    Mutation("the focus goes with the button that had it", f"{WIDGETS}/alias_explorer/widget.js",
             "    if (asked) input.focus(); // the button that had it is gone\n", "", ON_ALIASES),
    Mutation("ArrowLeft walks on", f"{WIDGETS}/reshape_stepper/widget.js",
             "{ ArrowLeft: -1,", "{ ArrowLeft: 1,", ON_RESHAPES),
    Mutation("a shared box never reaches its third owner", f"{WIDGETS}/reshape_stepper/widget.js",
             "owners[(owners.indexOf(view.flat) + 1) % owners.length]", "owners[owners[0] === view.flat ? 1 : 0]",
             ON_RESHAPES),
    Mutation("a followed number may be one too large", f"{WIDGETS}/reshape_stepper/follow.js",
             '"max", String(size - 1)', '"max", String(size)', ON_RESHAPES),
    Mutation("a preset goes on playing", f"{WALKS}/widget.js",
             "  function pick(preset) {\n    player.stop();\n", "  function pick(preset) {\n", ON_WALKS),
    Mutation("a complaint stays while one types", f"{WIDGETS}/predict/widget.js",
             'function take(draft) {\n    Object.assign(own, { draft, complaint: "" });',
             "function take(draft) {\n    Object.assign(own, { draft });", ON_PREDICTIONS),
    Mutation("a layer is never switched off", f"{WIDGETS}/channels_last_explorer/widget.js",
             "scene().layers.filter((other) => other !== name)", "scene().layers", ON_CHANNELS),
    # Widgets away from where they start: offsets, itemsizes, presets -----------------------------------
    Mutation("the total under the picture drops the offset", f"{STRIDES}/formula.js",
             "`= ${offset(layout, index)}`", "`= ${offset({ ...layout, storage_offset: 0 }, index)}`", ON_STRIDES),
    Mutation("a preset is not aligned anew", f"{WALKS}/widget.js",
             "visit: mostVisits(preset), alignment: aligned(walks[0].itemsize),", "visit: mostVisits(preset),",
             ON_WALKS),
    Mutation("what would do is counted to the end of the walk", f"{WALKS}/walk_pane.js",
             '["would do", counts.lines]', '["would do", counts.minimum]', ON_WALKS),
    Mutation("a preset looks pressed at every offset", f"{PAGE}/panels.js",
             " &&\n    a.storage_offset === b.storage_offset;\n  return {", ";\n  return {", ON_STRIDES),
    Mutation("a tape is found at the storage's start", f"{WIDGETS}/reshape_stepper/view.js",
             "view.found = start + stride[now.dims[0]];", "view.found = stride[now.dims[0]];", ON_RESHAPES),
    # Words on widgets and still pictures ---------------------------------------------------------------
    Mutation("a tooltip has a name for the code", f"{PAGE}/panels.js",
             '"title", presets[k].expression', '"title", presets[k].name', ON_STRIDES),
    Mutation("every tensor is called x where a slider stops", f"{PAGE}/core.js",
             "elementName(corner, name)", 'elementName(corner, "x")', SCRIPTS),
    Mutation("the signs of verdicts are exchanged", f"{PAGE}/panels.js",
             '[[true, "✓"], [false, "✗"]', '[[true, "✗"], [false, "✓"]', ON_STRIDES),
    Mutation("the second storage is called the first", f"{WIDGETS}/alias_explorer/widget.js",
             "of storage ${tape + 1}`", "of storage ${tape}`", ON_ALIASES),
    Mutation("one line is loaded 1 times", f"{WALKS}/walk_pane.js",
             'counted(count, "time")', "`${count} times`", ON_WALKS),
    Mutation("both inputs of the network are exchanged aloud", f"{WIDGETS}/channels_last_explorer/panes.js",
             "const [first, second] = last.map", "const [second, first] = last.map", ON_CHANNELS),
    Mutation("places are shown for values, and nobody says so", f"{STRIDES}/widget.py",
             '        notes.append("the numbers are places in the storage, not values")\n', "        pass\n",
             ON_STRIDES),
    Mutation("a still names strides in the order of its arcs", f"{WIDGETS}/static.py",
             'f"stride[{d}] = {layout.stride[d]}"', 'f"stride[{rank}] = {layout.stride[d]}"', STILLS),
    Mutation("a still counts bytes as elements", f"{WIDGETS}/static.py",
             'f"{row * PER_ROW * layout.itemsize} B"', 'f"{row * PER_ROW} B"', STILLS),
    Mutation("a still walk lies where the storage begins", f"{WALKS}/still.py",
             "((alignment + element * size) % CACHE_LINE)", "((element * size) % CACHE_LINE)", STILLS),
)  # fmt: skip

# What the tests themselves plant: one of the package, one of the browser's half, one stored output.
SHORT = (
    "a slice keeps the offset of its base",
    "the picture's formula drops the offset",
    "a stored verdict is turned round",
)
