"""Values without a layout or without memory, and a sentence of the error each of them deserves."""

import warnings

from tests.robust_inputs import INPUTS, WORDS


def _with_words(*kinds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested and quantized tensors are deprecated or prototypes
        return {kind: (INPUTS[kind](), WORDS[kind]) for kind in kinds}


NO_LAYOUT = _with_words("None", "nan", "coo", "csr", "nested", "jagged", "quantized")
NO_MEMORY = _with_words("meta", "fake")
