"""The traffic of an operation: bytes, cache lines and sectors predicted, bandwidth measured."""
