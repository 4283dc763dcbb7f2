"""audit: which lines of a run copy because of a layout, and which lines made that layout.

The module can be called like its function `audit`. So `stridekit.audit` means the same before and after
`import stridekit.audit`.
"""

import inspect
import sys
from types import ModuleType
from typing import Any

from stridekit.audit.findings import Finding, Occurrence
from stridekit.audit.result import Audit, audit
from stridekit.audit.trials import Trial

__all__ = ["audit", "Audit", "Finding", "Occurrence", "Trial"]


class _CallableModule(ModuleType):
    """A module that stands for its function `audit`."""

    __signature__ = inspect.signature(audit)

    def __call__(self, *args: Any, **kwargs: Any) -> Audit:
        """Run `audit`."""
        return audit(*args, **kwargs)


__doc__ = audit.__doc__ or ""  # for help(stridekit.audit) and the site
sys.modules[__name__].__class__ = _CallableModule
