"""audit: which lines of a run copy because of a layout, and which lines made that layout."""

from stridekit.audit.findings import Finding, Occurrence
from stridekit.audit.report import Audit, Trial, audit

__all__ = ["audit", "Audit", "Finding", "Occurrence", "Trial"]
