"""audit: which lines of a run copy because of a layout, and which lines made that layout."""

from stridekit.audit.findings import Finding, Occurrence
from stridekit.audit.result import Audit, audit
from stridekit.audit.trials import Trial

__all__ = ["audit", "Audit", "Finding", "Occurrence", "Trial"]
