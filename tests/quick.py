"""Source for the first cell of a kernel, which makes lessons and widgets quicker."""

# Widgets draw no picture for pages without a kernel, the slowest part of showing one.
NO_STILLS = """\
from stridekit.widgets import base
base.png = lambda figure, colours: ""
_kinds = [base.StateWidget]
for _kind in _kinds:
    _kinds += _kind.__subclasses__()
    _kind._still = lambda self: None
"""
# Comparisons end after three rounds, however unsure they are.
FEW_ROUNDS = """\
from stridekit.timing import comparing, comparison
comparing.FEWEST_ROUNDS, comparing.LEAST_SECONDS, comparing.NARROW = 3, 0, 1e9
comparison.RESAMPLES = 50
"""
