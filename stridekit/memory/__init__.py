"""Sets of bytes and of integers that strides generate: counted, compared and cut, never enumerated."""
