"""The exercise of notebook 00: the slot of memory that an index of the first picture reads."""

from stridekit.exercises.core import exercise
from stridekit.exercises.readers.answers import read_number

__all__ = ["slot"]
__dir__ = __all__.copy  # let `ex.` and the tab key offer the exercise alone


@exercise(
    title="where does x[i, j] lie on the tape?",
    read=read_number,
    cases=[
        "i = 0; j = 0",
        "i = 0; j = 1",
        "i = 1; j = 0",
        "i = 0; j = 5",
        "i = 3; j = 0",
        "i = 2; j = 3",
        "i = 3; j = 5",
    ],
    hints=[
        "Begin at `x[0, 0]`: it lies in slot 2. How many slots further is `x[0, 1]`, and how many "
        "further is `x[1, 0]`?",
        "Each step of i walks 8 slots, and each step of j walks 1.",
        "Start at 2, add `8 * i`, and add `1 * j`.",
    ],
    otherwise=(
        "Reset the picture, point at `x[1, 0]`, and read its formula: the first slot, the steps of i "
        "and the steps of j. Which of the three parts differs from yours?"
    ),
    takeaway="Start at the offset. Each index walks its stride, once for each step.",
)
def slot(i: int, j: int) -> int:
    """The number of the slot on the tape from which x[i, j] reads, in the picture as it begins.

    i       the row: an int from 0 to 3
    j       the column: an int from 0 to 5
    return  an int. x has stride (8, 1) and offset 2: the first slot of the tape is slot 0, and
            x[0, 0] reads slot 2
    """
    return 2 + 8 * i + j


NO_OFFSET = (
    "You start at slot 0, and x begins at slot 2: add the offset. The first two slots of the tape "
    "lie before `x[0, 0]`."
)

slot.slots["2 +"] = {
    "": NO_OFFSET,
    ("3 +", "1 +"): (
        "You count from 1 somewhere. The first row is 0, the first column is 0, and so is the first "
        "slot of the tape: `x[0, 0]` reads slot 2."
    ),
}
slot.slots["8 * i"] = {
    "6 * i": (
        "You walk 6 slots from row to row, because a row has 6 numbers. The stride of the rows is 8: "
        "after each row, 2 slots are left out."
    ),
    "4 * i": (
        "You walk 4 slots from row to row. 4 is the number of rows; the stride of the rows is 8."
    ),
    ("i", "0"): (
        "Your rows lie too close together. A step of i walks 8 slots: that is the first stride."
    ),
}
slot.slots["+ j"] = {
    "": "You leave out j: all columns of a row read one slot. A step of j walks 1 slot.",
}
slot.wrong |= {
    ("i + 8 * j", "4 * (8 * i + j)"): NO_OFFSET,
    "2 + i + 8 * j": (
        "You exchange the two strides. The first stride, 8, belongs to the first index, which is i."
    ),
    ("2 + 8 * (i + 1) + j", "2 + 8 * (i - 1) + j - 1", "11 + 8 * i + j"): (
        "You count from 1 somewhere. The first row is row 0, and the first column is column 0."
    ),
    "4 * slot(i, j)": "You count bytes: each number has 4. The picture, and this task, count slots.",
    ("2 * (8 * i + j)", "(2 + i) * 8 + j", "(2 + i) * 6 + j", "2 * 8 * i + j"): (
        "You multiply by the offset. It only says where x begins: add it once."
    ),
}
