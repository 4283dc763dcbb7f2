"""Source for the first cell of a kernel, which makes lessons quicker."""

# Comparisons end after three rounds, however unsure they are.
FEW_ROUNDS = """\
from stridekit.timing import comparison, rounds
rounds.FEWEST_ROUNDS, rounds.LEAST_SECONDS, rounds.NARROW = 3, 0, 1e9
comparison.RESAMPLES = 50
"""
