"""The imports of stridekit, and what `import stridekit` may load.

The layers are import-linter's contracts in pyproject.toml; these tests hold what a contract cannot say.
"""

import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import grimp
import pytest
import torch
from importlinter.cli import lint_imports

import stridekit
from stridekit import Layout, _torch
from stridekit._defaults import torch_defaults
from stridekit.sdpa import flash_takes_few_heads, why_no_flash

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "stridekit"
GRAPH = grimp.build_graph("stridekit", include_external_packages=True, cache_dir=None)

# What each room needs beside the standard library; the others need nothing.
OTHERS = {
    "_defaults": "torch",
    "_torch": "torch numpy",
    "sdpa": "torch",
    "tensors": "torch",
    "cost": "torch numpy",
    "audit": "torch",
    "timing": "torch numpy",
    "lessons": "torch numpy matplotlib PIL ipykernel nbclient nbformat",
    "widgets": "torch anywidget ipywidgets quickjs traitlets numpy",
    "exercises": "torch numpy pygments ipywidgets",
    "export": "torch nbformat nbclient jupyter_client matplotlib sphinx docutils latex2mathml markdown_it "
    "mdit_py_plugins stridekit",
    "cli": "jupyterlab stridekit",
    "pytest_plugin": "pytest",
}


def known_by(module):
    """The modules that one imports, on any level of it and however they are spelled."""
    return GRAPH.find_modules_directly_imported_by(module)


def test_every_contract_is_kept(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True) == 0
    assert re.search(r"Contracts: [5-9] kept, 0 broken", capsys.readouterr().out)


def test_a_room_needs_only_what_it_says():
    for module in GRAPH.find_descendants("stridekit"):
        room = module.split(".")[1]
        others = {name for name in known_by(module) if not name.startswith("stridekit.")}
        allowed = {*OTHERS.get(room, "").split()}
        assert others - allowed <= sys.stdlib_module_names, module


def test_a_widget_knows_no_other_widget():
    rooms = {folder.name for folder in (PACKAGE / "widgets").iterdir() if folder.is_dir()}
    for path in (PACKAGE / "widgets").glob("*/*.js"):
        names = re.findall(r'^import .*"(.*)";$', path.read_text("utf-8"), re.MULTILINE)
        known = {(path.parent / name).resolve().parent.name for name in names}
        assert known & rooms - {"page"} <= {path.parent.name}, path
    for path in (PACKAGE / "widgets").glob("*/*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        known = {part for name in known_by(module) for part in name.split(".")[2:3]}
        assert known & rooms <= {path.parent.name}, path


WITHOUT_TORCH = """\
import sys
sys.modules["torch"] = sys.modules["numpy"] = None
from stridekit import Layout, explain, is_view, memset, output_layout, relation, traffic
x = Layout((4, 6), itemsize=4)
assert memset(x[::2]) < memset(x) and is_view(x.t(), x)
assert output_layout(x, x.t().contiguous().t()).shape == (4, 6)
assert traffic(x).useful == 96
print(explain(x), relation(x[1:], x))
"""


def test_layouts_need_neither_torch_nor_numpy():
    run = [sys.executable, "-W", "error", "-c", WITHOUT_TORCH]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "lie inside" in done.stdout


def test_import_of_layout_loads_few_modules():
    program = "import sys; from stridekit import Layout; print(*sys.modules)"
    run = [sys.executable, "-c", program]
    modules = subprocess.run(
        run, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"torch", "numpy", "stridekit.audit", "importlib.resources"} & {*modules}
    assert len(modules) < 120


# Private names of torch --------------------------------------------------------------------------------

X = torch.arange(24.0).view(4, 6)
Q = Layout((2, 3, 5, 4), itemsize=4)


def import_audit():
    """Import it anew, because it looks up its names at its import; then put the old modules back."""
    module = stridekit.audit
    names = [name for name in sys.modules if name.startswith("stridekit.audit")]
    old_modules = {name: sys.modules.pop(name) for name in names}
    try:
        import_module("stridekit.audit")
    finally:
        sys.modules.update(old_modules)
        stridekit.audit = module


def read_shrunk():
    shrunk = torch.ones(4)
    shrunk.untyped_storage().resize_(0)
    assert stridekit.read_storage(shrunk).numel() == 0


def enter_torch_defaults():
    with torch_defaults():
        pass


USES = {
    "audit": import_audit,
    "audit of a compiled function": lambda: stridekit.audit(
        torch.compile(torch.relu, backend="eager"), X
    ),
    "audit of repeated heads": lambda: flash_takes_few_heads.__wrapped__(),
    "explain_view": lambda: stridekit.explain_view(X.t(), 24),
    "Layout": lambda: Layout.of(X).t().why_not_view(24),
    "memset": lambda: stridekit.memset(X[::2]).count(),
    "read_storage": lambda: stridekit.read_storage(X),
    "read_storage of a negated view": lambda: stridekit.read_storage(torch._neg_view(X)),
    "relation": lambda: stridekit.relation(X[1::2], X[::2]),
    "read_storage of a shrunk tensor": read_shrunk,
    "relation to a detached tensor": lambda: stridekit.relation(X.detach(), X),
    "shares_storage": lambda: stridekit.shares_storage(X[1:], X),
    "storages": lambda: stridekit.storages([X]),
    "torch_defaults": enter_torch_defaults,
    "why_no_flash": lambda: why_no_flash(Q, Q, Q),
}
READS = {"read_storage", "read_storage of a negated view", "read_storage of a shrunk tensor"}
ADDRESSES = READS | {
    *("memset", "relation", "relation to a detached tensor", "shares_storage", "storages"),
}
# The uses that fail without a private name.
NEEDED_BY = {
    "_C.DisableTorchFunction": ADDRESSES,
    "_C.DisableTorchFunctionSubclass": {"audit"},
    "_C.DispatchKey": {"audit"},
    "_C.DispatchKey.Python": {"read_storage of a shrunk tensor"},
    "_C._DisableTorchDispatch": ADDRESSES,
    "_C._current_autograd_node": {"audit"},
    "_C._data_address": ADDRESSES,
    "_C._disabled_torch_dispatch_impl": {"audit"},
    "_C._dispatch_get_all_op_names": {"audit"},
    "_C._dispatch_has_kernel_for_dispatch_key": {"audit"},
    "_C._dispatch_keys": {"read_storage of a shrunk tensor"},
    "_C._dispatch_tls_set_dispatch_key_excluded": {"audit"},
    "_C._dispatch_tls_set_dispatch_key_included": {"audit"},
    "_C._is_alias_of": {"relation", "relation to a detached tensor"},
    "_C._is_cow_tensor": {"relation to a detached tensor"},
    "_C._len_torch_dispatch_stack": {"audit"},
    "_C._overlaps": {"relation"},
    "_C._parse_dispatch_key": {"audit"},
    "_C._storage_address": {
        "relation",
        "relation to a detached tensor",
        "shares_storage",
        "storages",
    },
    "_GLOBAL_DEVICE_CONTEXT": {"torch_defaults"},
    "_dynamo.eval_frame._callback_from_stance": {"audit of a compiled function"},
    "_fused_sdp_choice": {"audit of repeated heads"},
    "_functorch.pyfunctorch.temporarily_clear_interpreter_stack": {"why_no_flash"},
    "_neg_view": {"read_storage of a negated view"},
    "_ops.HigherOrderOperator": {"audit"},
    "_ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS": {"audit"},
    "_ops._higher_order_ops": {"audit"},
    "autograd._get_sequence_nr": {"audit"},
    "overrides._get_current_function_mode_stack": {"torch_defaults"},
    "overrides._len_torch_function_stack": {"torch_defaults"},
    "overrides._pop_mode": {"torch_defaults"},
    "overrides._push_mode": {"torch_defaults"},
    "storage._dtype_to_storage_type_map": {"storages"},
    "storage._new_dtypes": {"storages"},
    "utils._python_dispatch._disable_current_modes": {"explain_view", "why_no_flash"},
    "utils._python_dispatch._get_current_dispatch_mode_stack": {"audit"},
}


def test_each_private_name_of_torch_has_a_row():
    paths = set()
    for file in PACKAGE.rglob("*.py"):
        paths.update(re.findall(r'private\("([\w.]+)"\)', file.read_text("utf-8")))
    assert paths == NEEDED_BY.keys()


@pytest.mark.parametrize("path", NEEDED_BY)
def test_without_a_private_name_only_the_functions_that_use_it_fail(path, monkeypatch):
    def resolve(name):
        if name == f"torch.{path}":
            raise AttributeError(name)
        return pkgutil.resolve_name(name)

    monkeypatch.setattr(_torch, "resolve_name", resolve)
    _torch.private.cache_clear()
    message = (
        rf"needs torch\.{re.escape(path)}, which torch {re.escape(torch.__version__)} does not"
    )
    failed = set()
    for name, use in USES.items():
        try:
            use()
        except RuntimeError as error:
            if not re.search(message, str(error)):
                raise
            failed.add(name)
    _torch.private.cache_clear()
    assert failed == NEEDED_BY[path]
