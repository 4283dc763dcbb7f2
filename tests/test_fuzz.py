"""Random cases of every family, stridekit against torch, NumPy and brute force; `make fuzz` draws far more.

A family is a function that draws one case from a `random.Random` and compares. Hypothesis seeds the Random
and runs the family again with smaller seeds where it fails, to print the smallest. It takes a millisecond
for an example and a case takes a tenth of that, so an example is a batch of cases.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import fuzz_attention, fuzz_layout, fuzz_memory
from tests.agree import needs_odd_steps, needs_settled_dim_order

FAMILIES = fuzz_layout.CASES | fuzz_attention.CASES | fuzz_memory.CASES
BATCH = 10  # cases of one example: 1,000 of each family in the profile quick, 10,000 in long
FEWER = {"sdpa": 2}  # of a family whose cases take long
NEEDS = {"dim_order": needs_settled_dim_order, "view_as_complex": needs_odd_steps}


@pytest.mark.parametrize(
    "family", [pytest.param(name, marks=NEEDS.get(name, ())) for name in FAMILIES]
)
@given(r=st.randoms(use_true_random=True))
def test_family(family, r):
    for _ in range(FEWER.get(family, BATCH)):
        FAMILIES[family](r)
