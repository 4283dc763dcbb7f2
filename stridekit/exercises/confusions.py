"""Hints for confusions that occur in several exercises; each exercise fills in the `{}`."""

from __future__ import annotations

# Units and places ---------------------------------------------------------------------------------

ABSOLUTE = (
    "The offset of as_strided counts from the start of the storage, not from {0}. Where {0} is a "
    "slice, it begins at `{0}.storage_offset()`, and you have to begin there too."
)
ELEMENTS = (
    "Each of your numbers is the same multiple of the right number, as if you counted bytes. "
    "torch counts strides and offsets in elements, whatever their size. (NumPy counts strides in "
    "bytes.)"
)
ITEMSIZE = (
    "You take one number of bytes for every element. uint8 has 1, bfloat16 has 2, "
    "float64 has 8: `{}`."
)
VALUES = (
    "You compare values. Two new tensors of the same numbers share nothing, and two views of one "
    "tensor can show quite different values. Compare where they lie."
)
FROM_ZERO = "You count from 1. The first {} is 0, as in every list."
BACK_TO_FRONT = (
    "Your numbers are right, but from back to front: your list begins with the last dim."
)
SIZE_ONE = (
    "Right where no size is 1. No index steps along a dim of size 1, but torch gives it a stride "
    "by the same rule as any other dim."
)

ALIKE = "You answer the same for every {}. There are several kinds: try a few by hand."

# Views and copies ---------------------------------------------------------------------------------

COPY = (
    "You return the right values in new memory: that is a copy. as_strided on x itself moves "
    "nothing, and a write to x then shows in the result."
)
SOMETIMES_A_COPY = (
    "Your result is on x's storage only where {} is contiguous already. `contiguous()`, `reshape` "
    "and `flatten` copy most other tensors. You can use the strides that x has."
)
NO_TRANSPOSE = (
    "reshape does not transpose. It keeps the reading order and only cuts it anew, so your {} "
    "mix. Bring the dims into another order first."
)
AS_IF_PACKED = (
    "as_strided takes your strides as they are, and they fit a whole tensor that lies {1}. If {0} "
    "is sliced or transposed, it has other strides: print `{0}.stride()`."
)
NO_COPY = (
    "You never copy. That is a view only where {} already. Elsewhere torch refuses it, and one "
    "copy is needed."
)
CLONE_KEEPS_ORDER = (
    "clone keeps the order in memory, so the same dims still do not merge, and view still fails. "
    "Which method puts the elements in reading order?"
)
TWICE = (
    "You copy once too often: a tensor that is new already is copied again. Which of your copies "
    "does nothing for the result?"
)
DTYPE = (
    "The values are right, the dtype is not. Conversions change it, and torch has its own default "
    "for new memory and Python numbers. The task asks for the dtype of {}."
)
MINUS_ONE = (
    "Right wherever there is an element. From 0 elements torch cannot work out what a `-1` stands "
    "for. State the size itself, or call a function that multiplies the sizes."
)
NO_BFLOAT16 = "Right except for bfloat16, a dtype that NumPy does not have. Do it without NumPy."

# Chains of steps ----------------------------------------------------------------------------------

ON_THE_FIRST = "You run every {0} on the first x. Each {0} gets the result of the {0} before it."
INDEX = (
    "Right wherever no function is two steps. Do not look for a step among the others, as `index` "
    "and `remove` do: they find the first that is equal. `enumerate` gives each step its number."
)
NONE_IN_THE_CHAIN = (
    "Right wherever a {0} {1}. Where none does, the answer is `len({0}s)`, one "
    "more than the last number."
)
THE_OTHERS = "Those are the steps that {}. The task asks for the others."

# Lines, sectors and uses --------------------------------------------------------------------------

IN_BYTES = "The right {0}, in bytes. The task asks how many {0} there are."
NOT_WHOLE = (
    "Each element gets a number of its own, and neighbours in one {0} should get the same. The "
    "number of the {0} is `byte // {1}`, with `//`."
)
PLACE_IN = "`%` gives the place within a {0}. The {0} itself is `// {1}`."
DIVIDED_ELEMENTS = (
    "You divide numbers of elements by {1}, and a {0} has {1} bytes. Multiply by `itemsize` first."
)
OFFSET_IN_BYTES = (
    "You add the offset as bytes, but offset and stride both count elements. Multiply their sum "
    "by `itemsize`."
)
HULL = (
    "You count every {0} from the first element to the last. Where a stride jumps over whole "
    "{0}s, nobody asks for those in between, and they stay where they are."
)
STARTS_LATER = (
    "You lose where in its line a tensor starts. From the middle of a line it can reach into one "
    "line more. Start at `storage_offset()`. Like the strides, it counts elements."
)
STARTS_A_LINE = (
    "You let the new tensor start as deep in a line as the old tensor. But it has a storage of "
    "its own, which starts a line."
)
LAST_LINE = (
    "You drop the last line of the new tensor where it is not full. It travels whole: round up."
)
WRITTEN_TWICE = (
    "You count each written line twice. Many processors do read a line before they write it, but "
    "the task counts a line that is written whole once."
)
ROUNDED_DOWN = (
    "You round down. After that many uses the {} has not quite paid back: it takes one more."
)
ROUNDED = (
    "You round to the nearest number, which is sometimes too small: the {} has not quite paid back."
)
NOT_ROUNDED = (
    "The right quotient, not yet a count of uses: what is the smallest whole number that is enough?"
)
EXACTLY_EVEN = (
    "One use too many where the sums are equal: then the {} has paid back exactly, and that counts."
)
EQUAL = (
    "Where {} are equal, a use saves nothing, and you divide by 0. Nothing pays it back there: "
    "`math.inf`."
)
SMALL_COUNTS = (
    "Right for small n. Nothing limits n: where a use saves little, the {} pays back after "
    "thousands of uses or more. Where it never does, the two costs of a use say so."
)
