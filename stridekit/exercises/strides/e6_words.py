"""E6, the as_strided ladder: what its five exercises say in the same words."""

from __future__ import annotations

from stridekit.exercises.watch import Means

ABSOLUTE = (
    "The offset of as_strided counts from the start of the storage, not from x. Where x is a "
    "slice, it begins at `x.storage_offset()`, and you have to begin there too."
)
COPY = (
    "The right values, in new memory: that is a copy. as_strided on x itself moves nothing, and a "
    "write to x then shows in what you return."
)
SOMETIMES_A_COPY = (
    "`contiguous()` gives x back only if x is contiguous already. A slice or a transpose it "
    "copies, and then you stand on another storage. x's own strides will do."
)
BYTES = (
    "as_strided counts elements, and so does `x.storage_offset()`. Nothing here is in bytes: leave "
    "the size of an element out."
)
BY_AS_STRIDED = Means(
    "as_strided",
    "Right numbers. Now say them yourself: one call of `x.as_strided(size, stride, "
    "storage_offset)` makes just this view.",
)
