"""Messages in the box of Diagnose: what Python and the browser say of each, and of other numbers in it."""

import re
from collections.abc import Callable
from functools import cache
from random import Random

from stridekit import diagnose
from stridekit.widgets.diagnose.widget import Diagnose, known
from tests.pipe import ask, as_json
from tests.test_diagnose import MESSAGES, UNKNOWN
