"""Wrong answers, as people write them, and a few words of the hint that each of them should get.

They are written on their own, not derived from the mistakes that the exercises know: what matters
is that a check recognises the reasoning in other people's code. There is one module per lesson.
"""

from tests.course.wrong_answers import (  # noqa: F401 (each fills the list)
    attention,
    channels_last,
    contiguity,
    hardware,
    performance,
    start,
    strides,
    views,
    way_back,
    your_model,
)
from tests.course.wrong_answers.collecting import GENERAL, WRONG

__all__ = ["GENERAL", "WRONG"]
