"""The Chromium of tests, pictures and benchmarks: it asks nothing of any network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Keep Chromium's own traffic (updates, sync, field trials) out of the tests.
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    # The last two would open hidden pages beside each page, at 0.9 s of CPU.
    "--disable-features=Translate,OptimizationHints,MediaRouter,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
    # Playwright's way, a Python handler for each request, would switch the page's cache off.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]


def find_chromium() -> str | None:
    """Return the path of an installed Chromium, or None; the variable CHROMIUM overrides it."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Start Chromium; a process can have one at a time."""
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=find_chromium(), args=QUIET, chromium_sandbox=False
        )
