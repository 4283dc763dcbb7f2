"""Kernels of audit in torch's dispatcher: they see copies inside of ops, and name calls.

A dispatch mode is off while an op runs, so it sees neither the copies inside the op nor the call that
the op is part of. Two dispatch keys that no tensor carries lead to further kernels: torch keeps these
keys for its own tests. Under the first key, a kernel of `copy_` reports each copy. Under the second key,
kernels of calls that torch takes apart, such as reshape, note the call that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from stridekit._torch import private

_COPY_KEY_NAME = "TESTING_ONLY_GenericMode"
_CALL_KEY_NAME = "TESTING_ONLY_GenericWrapper"
_PRODUCTS = ("aten::matmul", "aten::linalg_matmul")

include = private("_C._dispatch_tls_set_dispatch_key_included")
exclude = private("_C._dispatch_tls_set_dispatch_key_excluded")
_all_op_names = private("_C._dispatch_get_all_op_names")
_has_kernel = private("_C._dispatch_has_kernel_for_dispatch_key")
_higher_order_operators = private("_ops._higher_order_ops")  # by their names
_skipped_by_new_operators = private("_ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS")
# These two say which op a gradient belongs to.
current_autograd_node = private("_C._current_autograd_node")
next_sequence_number = private("autograd._get_sequence_nr")


def _dispatch_key(name: str) -> Any:
    """Return a dispatch key; raise RuntimeError if this torch does not have it."""
    key = private("_C._parse_dispatch_key")(name)
    if key is None:
        raise RuntimeError(
            f"audit does not run on torch {torch.__version__}, which has no dispatch key {name}"
        )
    return key


COPY_KEY = _dispatch_key(_COPY_KEY_NAME)
CALL_KEY = _dispatch_key(_CALL_KEY_NAME)


class _RunningCall:
    """The outermost call that runs: its name, which is "" between calls, and its number."""

    __slots__ = ("name", "number")

    def __init__(self) -> None:
        self.name = ""
        self.number = 0


running_call = _RunningCall()
# While an audit watches, its function that takes the target and the source of each copy.
copy_listeners: list[Callable[[torch.Tensor, torch.Tensor], None]] = []


def _copy(target: torch.Tensor, source: Any, non_blocking: bool = False) -> torch.Tensor:
    include(COPY_KEY, False)  # a copy inside of a copy does not count
    try:
        for listener in copy_listeners:
            listener(target, torch.as_tensor(source))  # the source may be a number
        return torch.ops.aten.copy_.default(target, source, non_blocking)
    finally:
        include(COPY_KEY, True)


def _naming_kernel(schema_name: str, op: Any) -> Callable[..., Any]:
    """Return a kernel that notes the name of a call while the call runs."""
    name = schema_name.removeprefix("aten::")

    def call(*args: Any, **kwargs: Any) -> Any:
        include(CALL_KEY, False)  # a call inside of a call does not count
        running_call.name = name
        running_call.number += 1
        try:
            return op(*args, **kwargs)
        finally:
            running_call.name = ""
            include(CALL_KEY, True)

    return call


def _product_without_a_mode(op: Any) -> Callable[..., Any]:
    """Return a product of matrices that reaches the kernels which it reaches where no mode is on.

    Torch folds a batch of one matrix into the other operand if a gradient or a mode asks for it
    (aten/src/ATen/native/LinearAlgebra.cpp, _matmul_impl), and repeats the matrix otherwise.
    """

    def product(a: torch.Tensor, b: torch.Tensor, *rest: Any, **kwargs: Any) -> Any:
        if a.ndim == 3 and b.ndim == 3:
            if len(a) == 1 and not a.requires_grad:
                a = a.expand(len(b), -1, -1)
            elif len(b) == 1 and not b.requires_grad:
                b = b.expand(len(a), -1, -1)
        return op(a, b, *rest, **kwargs)

    return product


def _let_higher_order_operators_skip(key: Any) -> None:
    """Let operators that take functions, such as torch.cond, pass over a key: they know no fallback."""
    for operator in _higher_order_operators.values():
        operator.fallthrough(key)
    _skipped_by_new_operators.append(key)


@cache
def register() -> list[torch.library.Library]:
    """Register the kernels once, which takes 0.1 s; torch uses them as long as the libraries live."""
    libraries = []
    for key_name in (_COPY_KEY_NAME, _CALL_KEY_NAME):
        library = torch.library.Library("_", "IMPL", key_name)
        library.fallback(torch.library.fallthrough_kernel)
        libraries.append(library)
    copies = torch.library.Library("aten", "IMPL", _COPY_KEY_NAME)
    copies.impl("copy_", _copy)
    calls = torch.library.Library("aten", "IMPL", _CALL_KEY_NAME)
    for name in _all_op_names():
        namespace, _, path = name.partition("::")
        if namespace != "aten":
            continue
        packet, _, overload = path.partition(".")
        # An op in place counts, because autograd may clone what the op overwrites.
        is_in_place = packet.endswith("_") and not packet.endswith("__")
        if is_in_place or _has_kernel(name, "CompositeImplicitAutograd"):
            op = getattr(getattr(torch.ops.aten, packet), overload or "default")
            call = _product_without_a_mode(op) if name in _PRODUCTS else op
            calls.impl(op, _naming_kernel(op._schema.name, call))
    for key in (COPY_KEY, CALL_KEY):
        _let_higher_order_operators_skip(key)
    return [*libraries, copies, calls]
