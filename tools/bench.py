"""`make bench`: the marks that stridekit sets itself, as ratios measured in one run.

`make bench BENCH_ARGS="memory timers"` measures some: import, memory, storage, timers, audit, latency.
An absolute time says as much about the machine as about the code, so each thing is measured in turns with
what it is compared with, in the same browser and kernel.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_audit import audits
from bench_memory import memory_sets, storage_bandwidth
from bench_timer import timers
from browser_lab import Lab, find_chromium, running_lab, write_notebook

IMPORTS = 9
ROUNDS, PRESSES, INTERACT_PRESSES, WARM_UPS = 3, 30, 6, 2

# The same grid of 6x8 on a tape of 64 twice: our explorer, and the way that needs only ipywidgets and
# matplotlib. WIDGETS has the source of each widget, and the node that takes the keys.
EXPLORER = "StrideExplorer(Layout((6, 8), (8, 1), 0, 4), 64)"
INTERACT = """import ipywidgets
import matplotlib.pyplot
from IPython.display import display
from stridekit.widgets.static import draw
@ipywidgets.interact(offset=(0, 16))
def show(offset=0):
    display(draw(Layout((6, 8), (8, 1), offset, 4), 64, (2, 3), "x"))"""
BARE = """from IPython.display import HTML
HTML('<input type=range oninput="this.nextSibling.data = this.value">0')"""
GRID = "[role=grid]"
OFFSET, COLUMNS = (
    f"[aria-label='the layout'] .sk-slider{kind} input" for kind in (".sk-offset", ".sk-d1")
)
WIDGETS = {
    "explorer": (EXPLORER, OFFSET),
    "explorer, 512 cells": ("StrideExplorer(Layout((16, 32)), 512)", GRID),
    "512 cells, offset": ("StrideExplorer(Layout((16, 32)), 576)", OFFSET),
    "512 cells, columns": ("StrideExplorer(Layout((16, 31)), 576)", COLUMNS),
    "explorer, 4,096 cells": ("StrideExplorer(Layout((64, 64)), 4096)", GRID),
    "4,096 cells, offset": ("StrideExplorer(Layout((64, 64)), 4160)", OFFSET),
    "4,096 cells, columns": ("StrideExplorer(Layout((64, 63)), 4160)", COLUMNS),
    "AliasExplorer": ("AliasExplorer()", GRID),
    "ReshapeStepper": ("ReshapeStepper()", GRID),
    "ChannelsLastExplorer": ("ChannelsLastExplorer()", GRID),
    "ChannelsLast, channels": ("ChannelsLastExplorer()", ".sk-sizes .sk-d1 input"),
    "AttentionExplorer": ("AttentionExplorer(heads=4)", ".sk-cut + .sk-memory [role=grid]"),
    "CacheExplorer": ("CacheExplorer(heads=3)", "input[type=range]"),
    "TraversalExplorer": ("walk = TraversalExplorer()\nwalk.visit = 20\nwalk", "input[type=range]"),
    "a bare input, the floor": (BARE, "input"),
    "Predict": ("Predict('Is x.T a copy?', 'no', choices=('yes', 'no'))", "input[type=radio]"),
}

# From the trusted key event to the frame that shows the change. A picture counts once it is decoded, a
# frame once the message sent in its animation callback has arrived: after the paint, and before what the
# page has put off until then.
WATCH = """(root) => {
  const images = () => [...root.querySelectorAll("img")];
  const shown = () => images().map((image) => image.src).join();
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  }));
  let [pressed, before, frame] = [null, "", null];
  root.addEventListener("keydown", (event) => {
    [pressed, before, frame] = [event.timeStamp, shown(), painted()];
    frame.then(() => { frame = null; });
  }, true);
  const changed = async () => {
    // Where there is a picture, it has to be a new one: the slider's own readout is not the answer.
    if (pressed === null || (images().length === 0) !== (before === "")) return;
    if (before !== "" && shown() === before) return;
    const start = pressed;
    pressed = null;
    await Promise.all(images().map((image) => image.decode().catch(() => 0)));
    await (frame ?? painted());
    window.waits.push(performance.now() - start);
  };
  // A radio button that is ticked changes no node: its own event tells.
  root.addEventListener("input", changed);
  new MutationObserver(changed)
    .observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
}"""


def import_time() -> None:
    """Print the time that `import stridekit` adds to `import torch`, in fresh processes."""
    code = "import torch, time; t = time.perf_counter(); import stridekit; print(time.perf_counter() - t)"
    added = []
    with tempfile.TemporaryDirectory(prefix="stridekit-") as compiled:
        given = {"PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(1 + IMPORTS):
            command = [sys.executable, "-c", code]
            added.append(float(subprocess.check_output(command, env=os.environ | given)))
    first, *others = added
    print(
        f"import stridekit, after torch: {_summary(others)}; the mark is 30 ms "
        f"(the very first time, when it is compiled, {first * 1e3:.0f} ms)"
    )


def latency() -> None:
    """Print the time from key press to painted frame, in a JupyterLab of its own."""
    if find_chromium() is None:
        print("latency: not measured, Chromium is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="stridekit-bench-", ignore_cleanup_errors=True) as name:
        root = Path(name) / "root"
        root.mkdir()
        for k, (made, _) in enumerate(WIDGETS.values()):  # the first also has interact
            sources = ["from stridekit import *", made, *([INTERACT] if k == 0 else [])]
            write_notebook(root / f"bench-{k}.ipynb", sources)
        with running_lab(root, Path(name) / "scratch") as lab:
            _latency(lab)


def _latency(lab: Lab) -> None:
    """Measure every widget on a page of its own, the explorer beside interact."""
    print("key press to painted frame; the marks are 12 ms, 30 ms at p95")
    medians: dict[str, float] = {}
    for k, (name, (_, keys)) in enumerate(WIDGETS.items()):
        page = lab.open(f"bench-{k}.ipynb", height=1400)
        lab.run_all(page)
        page.wait_for_timeout(1000)
        waits: dict[str, list[float]] = {name: []}
        for _ in range(ROUNDS):
            root = page.locator(".jp-CodeCell").nth(1)
            waits[name] += _press(page, root.locator(keys).first, root, PRESSES, 100)
            if k == 0:
                root = page.locator(".jp-CodeCell").nth(2)
                theirs = root.locator(".widget-slider [role=slider], .widget-slider input").first
                found = _press(page, theirs, root, INTERACT_PRESSES, 1500)
                waits.setdefault("interact", []).extend(found)
        medians |= {who: statistics.median(samples) for who, samples in waits.items()}
        for who, samples in waits.items():
            times = medians["interact"] / medians[who]
            summary = _summary([wait / 1000 for wait in samples])
            print(f"  {who:<22} {summary}, interact / this {times:.0f}", flush=True)
        lab.close(page)
    ratio = medians["interact"] / medians["explorer"]
    print(f"the explorer is {ratio:.0f} times faster than interact; the mark is 20")


def _press(page: Any, slider: Any, root: Any, count: int, pause: int) -> list[float]:
    """Press the right and left arrow keys in turn; return the waits in milliseconds."""
    slider.scroll_into_view_if_needed()
    slider.focus()
    if not root.evaluate("(node) => Boolean(node.watched)"):
        root.evaluate(WATCH)
        root.evaluate("(node) => { node.watched = true; }")
    page.evaluate("window.waits = []")
    for k in range(count + WARM_UPS):
        page.keyboard.press("ArrowRight" if k % 2 == 0 else "ArrowLeft")
        page.wait_for_timeout(pause)  # without questions that the page would have to answer
        until = time.monotonic() + 10
        while page.evaluate("window.waits.length") <= k and time.monotonic() < until:
            page.wait_for_timeout(100)
    waits: list[float] = page.evaluate("window.waits")
    return waits[WARM_UPS:]


def _summary(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    median = statistics.median(ordered)
    return f"median {median * 1e3:.1f} ms, p95 {p95 * 1e3:.1f} ms, {len(ordered)} times"


MARKS: dict[str, Callable[[], object]] = {
    "import": import_time,
    "memory": memory_sets,
    "storage": storage_bandwidth,
    "timers": timers,
    "audit": audits,
    "latency": latency,
}


def main() -> int:
    """Measure every mark, or those that the command line names; return the exit status."""
    wanted = sys.argv[1:] or list(MARKS)
    if strangers := [name for name in wanted if name not in MARKS]:
        print(f"no mark is called {', '.join(strangers)}: {', '.join(MARKS)} are", file=sys.stderr)
        return 2
    for name in wanted:
        MARKS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
