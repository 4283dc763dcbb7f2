"""The colours of the whole suite, for widgets (as CSS variables) and figures.

The hues are Okabe and Ito's, darkened or lightened until text is legible on them (4.5:1 or more, held by
a test). A colour never stands alone: each one comes with a label, a number or a line style.
"""

from __future__ import annotations

# One colour for each dim, for its label, slider, arc and term: (on light, on dark).
DIMS = (
    ("#9a4200", "#f4a261"),  # dim 0, rust
    ("#0a5cad", "#6db6ff"),  # dim 1, blue
    ("#00694a", "#52d3a4"),  # dim 2, green
    ("#9c2a68", "#f29ac9"),  # dim 3, plum
)
OFFSET = ("#5a3bc0", "#b8a2ff")  # violet

# Soft tints for the rows that elements belong to; ink is always legible on them. Their hues lie between
# those of the dims and of the offset, or they are grey, so that no row looks like a dim.
ROWS = (
    ("#bdf3f8", "#044751"),  # cyan
    ("#f8e097", "#513d00"),  # sand
    ("#ecd2f1", "#502160"),  # orchid
    ("#e2fab7", "#2a3b08"),  # lime
    ("#dce0e3", "#292f33"),  # grey
    ("#fed2d0", "#6f1820"),  # coral
)
INK = ("#16191d", "#f3f5f7")
MUTED = ("#57616b", "#a3adb7")
LINE = ("#ccd3da", "#434b54")
PAPER = ("#ffffff", "#111418")
PALE = ("#f6f8fa", "#191e24")
GOOD = ("#336314", "#93db6e")  # leaf, which is no dim's green
BAD = ("#a32132", "#fa9293")  # crimson

_BY_NAME = {
    "offset": OFFSET,
    "ink": INK,
    "muted": MUTED,
    "line": LINE,
    "paper": PAPER,
    "pale": PALE,
    "good": GOOD,
    "bad": BAD,
}
_BY_NAME |= {f"dim{d}": pair for d, pair in enumerate(DIMS)}
_BY_NAME |= {f"row{r}": pair for r, pair in enumerate(ROWS)}


def css_variables(selector: str) -> str:
    """Return the palette as `--sk-…` variables that follow the page's colour scheme.

    >>> print(css_variables(".x").splitlines()[1])
      --sk-offset: light-dark(#5a3bc0, #b8a2ff);
    """
    lines = [f"{selector} {{"]
    for name, (on_light, on_dark) in _BY_NAME.items():
        lines.append(f"  --sk-{name}: light-dark({on_light}, {on_dark});")
    return "\n".join([*lines, "}\n"])


def css_classes(selector: str) -> str:
    """Return the classes of dims, `sk-d0` …, with their hue, and of rows, `sk-r0` …, with their tint."""
    rules = []
    for d in range(len(DIMS)):
        rules.append(f':is(.sk-d{d}, [data-lit="{d}"]) {{ --hue: var(--sk-dim{d}); }}')
    for r in range(len(ROWS)):
        rules.append(f".sk-r{r} {{ --tint: var(--sk-row{r}); }}")
    return "".join(f"{selector} {rule}\n" for rule in rules)
