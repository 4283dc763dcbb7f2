"""audit: which lines of a run copy because of a layout, and which lines made that layout."""

from stridekit.auditing.findings import Finding
from stridekit.auditing.report import Audit
from stridekit.auditing.run import audit

__all__ = ["audit", "Audit", "Finding"]
