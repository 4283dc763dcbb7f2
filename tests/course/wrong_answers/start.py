"""Wrong answers to the exercise of notebook 00."""

from stridekit.exercises import start as ex
from tests.course.wrong_answers.collecting import ANOTHER_KIND, GENERAL, refused

refused(
    ex.slot,
    {
        "You start at slot 0": [
            lambda i, j: i * 8 + j * 1,
            lambda i, j: j * 8 + i,
            lambda i, j: (i * 8 + j) * 4,
        ],
        "You walk 6 slots from row to row": [
            lambda i, j: 2 + i * 6 + j,
            lambda i, j: [*range(2, 26)][i * 6 + j],
        ],
        "You exchange the two strides": [lambda i, j: 2 + sum(n * s for n, s in [(j, 8), (i, 1)])],
        "You walk 4 slots": [lambda i, j: 4 * i + j + 2],
        "You leave out j": [lambda i, j: 2 + 8 * i],
        "too close together": [lambda i, j: i + j + 2],
        "You count bytes": [lambda i, j: (2 + 8 * i + j) * 4],
        "You multiply by the offset": [lambda i, j: 2 * (8 * i + j), lambda i, j: (2 + i) * 6 + j],
        "The first row is row 0": [lambda i, j: 2 + 8 * (i + 1) + (j + 1)],
        GENERAL: [lambda i, j: 2 + 8 * i + j + (i == 3)],
        ANOTHER_KIND: [lambda i, j: (2 + 8 * i, j)],
    },
)
