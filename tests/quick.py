"""Source for the first cell of a kernel, which makes lessons quicker."""

# Comparisons end after three rounds, however unsure they are.
FEW_ROUNDS = """\
from stridekit.timing import comparing, comparison
comparing.FEWEST_ROUNDS, comparing.LEAST_SECONDS, comparing.NARROW = 3, 0, 1e9
comparison.RESAMPLES = 50
"""
