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

# Soft tints for the rows that elements belong to; ink is always legible on them.
ROWS = (
    ("#cfe4f8", "#1e4a70"),
    ("#fde2c2", "#6a421a"),
    ("#cdecdc", "#1f573f"),
    ("#f7d5e5", "#6d2c50"),
    ("#f5edb3", "#5a5217"),
    ("#e2def5", "#453d78"),
)
INK = ("#16191d", "#f3f5f7")
MUTED = ("#57616b", "#a3adb7")
LINE = ("#ccd3da", "#434b54")
PAPER = ("#ffffff", "#111418")
PALE = ("#f6f8fa", "#191e24")
GOOD = ("#00694a", "#52d3a4")
BAD = ("#9a4200", "#f4a261")

_NAMED = {"offset": OFFSET, "ink": INK, "muted": MUTED, "line": LINE, "paper": PAPER, "pale": PALE}
_NAMED |= {"good": GOOD, "bad": BAD}
_NAMED |= {f"dim{d}": pair for d, pair in enumerate(DIMS)}
_NAMED |= {f"row{r}": pair for r, pair in enumerate(ROWS)}


def css_variables(selector: str) -> str:
    """The palette as `--sk-…` variables that follow the page's colour scheme.

    >>> print(css_variables(".x").splitlines()[1])
      --sk-offset: light-dark(#5a3bc0, #b8a2ff);
    """
    lines = (
        f"  --sk-{name}: light-dark({light}, {dark});" for name, (light, dark) in _NAMED.items()
    )
    return "\n".join([f"{selector} {{", *lines, "}\n"])
