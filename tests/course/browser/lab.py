"""A real JupyterLab for tests: its own directories, no network beyond loopback."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from jupyter_server.serverapp import list_running_servers
from playwright.sync_api import BrowserContext

from stridekit.widgets.saved import write_code
from tests.course.browser.pages import PATIENCE

ROOT = Path(__file__).parents[3]
QUIET = "JUPYTER_CONFIG_PATH=stridekit/jupyter"  # as `make lab` and `stridekit lab` set it
LAB = ["env", QUIET, sys.executable, "-m", "jupyterlab"]
LAB_OPTIONS = [
    "--no-browser",
    "--ServerApp.port=0",
    "--ServerApp.shutdown_no_activity_timeout=1200",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
]

FOLDERS = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "IPYTHONDIR": "ipython"}
SETTINGS = {
    # Keep cells that are scrolled out of sight in the page, for screenshots and queries.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}


def write_notebook(path, sources):
    """Write a notebook with these code cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


@dataclass
class Lab:
    """A running server, and a context of pages with one cache; `open` opens a page on a notebook."""

    url: str
    token: str
    root: Path
    context: BrowserContext
    outside: list = field(default_factory=list)  # requests that left loopback
    errors: list = field(default_factory=list)  # errors that no page has caught

    def open(self, notebook, page=None):
        """Open a page, or this one, on a notebook of the root, with its kernel connected and idle."""
        page = page or self.new_page()
        page.goto(self.address(notebook))
        page.wait_for_function(READY, polling=100)
        # The file browser takes a third of a narrow window.
        page.evaluate("jupyterapp.shell.collapseLeft()")
        return page

    def show(self, notebook, page):
        """Open a notebook in a tab of JupyterLab on a page that has it already, which is quick."""
        page.evaluate(
            "(path) => jupyterapp.commands.execute('docmanager:open', { path })", notebook
        )
        path = "jupyterapp.shell.currentWidget?.context?.path"
        page.wait_for_function(f"(path) => {path} === path", arg=notebook)
        page.wait_for_function(READY, polling=100)

    def new_page(self):
        """Open an empty page in a window of 1280 by 900 px."""
        page = self.context.new_page()
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="light")
        page.on("request", self._note_request)
        page.on("pageerror", self._note_error)
        return page

    def address(self, notebook):
        """Return the address of a notebook in a new workspace."""
        workspace = f"{self.url}lab/workspaces/{secrets.token_hex(4)}"
        return f"{workspace}/tree/{notebook}?token={self.token}"

    def set_theme(self, page, theme):
        """Change to a theme of JupyterLab, and wait for it."""
        change = "jupyterapp.commands.execute('apputils:change-theme', { theme })"
        page.evaluate(f"(theme) => {change}", theme)
        page.wait_for_function("(theme) => document.body.dataset.jpThemeName === theme", arg=theme)

    def run_all(self, page):
        """Run every cell; wait until each has its execution count and the kernel is idle."""
        page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait_for_function(_ALL_RUN, polling=100)

    def run_code(self, page, code):
        """Run code in the page's kernel, outside the notebook; return what it prints."""
        return page.evaluate(_RUN_CODE, code)

    def close(self, page):
        """End the page's kernel, then close the page."""
        page.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        page.close()

    def _note_error(self, error):
        if not str(error).startswith(_ERRORS_OF_OTHERS):
            self.errors.append(str(error))

    def _note_request(self, request):
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.outside.append(request.url)


_ERRORS_OF_OTHERS = (
    # JupyterLab's, when a notebook is closed before its kernel has answered everything
    "Canceled future for ",
    # ipywidgets', when a notebook is opened without a kernel
    "Cannot read properties of null (reading 'kernel')",
)

READY = """() => {
  const app = window.jupyterapp;
  const session = app?.shell.currentWidget?.sessionContext;
  return session?.isReady && session.session?.kernel?.status === 'idle'
    && session.session.kernel.connectionStatus === 'connected';
}"""

_ALL_RUN = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  const cells = [...panel.content.model.cells].filter((c) => c.type === 'code'
    && c.sharedModel.source.trim());
  return cells.length && cells.every((c) => c.executionCount > 0 && c.executionState !== 'running')
    && panel.sessionContext.session.kernel.status === 'idle';
}"""

_RUN_CODE = """async (code) => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  let text = "";
  const future = kernel.requestExecute({ code, store_history: false });
  future.onIOPub = ({ content }) => (text += content.text ?? content.evalue ?? "");
  await future.done;
  return text;
}"""


@contextmanager
def running_lab(root, scratch, browser, command=LAB):
    """Run JupyterLab on `root` until the block ends."""
    token = secrets.token_hex(16)
    env = os.environ | {"JUPYTER_PLATFORM_DIRS": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {name: str(scratch / folder) for name, folder in FOLDERS.items()}
    write_extension(scratch / "share")
    env["JUPYTER_PATH"] = os.pathsep.join([str(scratch / "share"), env.get("JUPYTER_PATH", "")])
    overrides = scratch / "config" / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(SETTINGS), encoding="utf-8")
    command = [*dict.fromkeys([*command, *LAB_OPTIONS])]  # an option twice would be an error
    command += [f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={token}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in command:
        command.append("--allow-root")
    with (scratch / "lab.log").open("wb") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=ROOT)
        try:
            url = _wait_for_url(server, scratch)
            context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
            context.set_default_timeout(PATIENCE)
            yield Lab(url, token, root, context)
            context.close()
        finally:
            _stop(server)


def write_extension(folder):
    """Write JupyterLab's extension as the wheel would have it, so that no test sees an older one."""
    extension = folder / "labextensions" / "stridekit"
    shutil.copytree(ROOT / "labextension", extension)
    write_code(extension / "static" / "widgets")


def _wait_for_url(server, scratch):
    until = time.monotonic() + 300
    while time.monotonic() < until and server.poll() is None:
        for info in list_running_servers(scratch / "data" / "runtime"):
            return info["url"]
        time.sleep(0.1)
    tail = (scratch / "lab.log").read_text(encoding="utf-8", errors="replace")[-2000:]
    raise RuntimeError(f"JupyterLab did not start:\n{tail}")


def _stop(server):
    """Ask the server to end, which ends its kernels too; kill it if it does not."""
    server.terminate()
    try:
        server.wait(timeout=15)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
