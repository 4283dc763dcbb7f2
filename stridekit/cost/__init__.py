"""What an operation moves: bytes, cache lines and sectors predicted, bandwidth measured."""
