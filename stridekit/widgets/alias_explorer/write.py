"""A write in place by torch, refused where torch allows it but leaves the result undefined."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import NamedTuple

import torch

from stridekit.layout import Layout, LayoutError
from stridekit.widgets.notation import counted, element_name, elements

MAX_VALUE = 99_999  # fits a box


class Named(NamedTuple):
    """A tensor, and its storage as a 1-d tensor."""

    tape: torch.Tensor
    tensor: torch.Tensor

    @property
    def layout(self) -> Layout:
        """The numbers of the tensor."""
        return Layout.of(self.tensor)

    def indices(self) -> list[tuple[int, ...]]:
        """All indices, in row-major order."""
        return list(product(*map(range, self.tensor.shape)))

    def elements(self) -> list[int]:
        """The element of the storage at each index, in row-major order."""
        return elements(self.layout)


def shared_element(own: Named, name: str) -> str:
    """The first two indices of one element, in words; "" where each index has its own."""
    first: dict[int, tuple[int, ...]] = {}
    for index, element in zip(own.indices(), own.elements(), strict=True):
        if element in first:
            pair = f"{element_name(first[element], name)} and {element_name(index, name)}"
            return f"{pair} are both element {element}"
        first[element] = index
    return ""


class Write(NamedTuple):
    """`target.op(value)` or `target.op(other)`; the op of an assignment is "[]"."""

    name: str  # the target as typed
    source: str  # the source as typed
    op: str
    target: Named
    value: int | None
    other: Named | None

    def run(self) -> None:
        """Let torch write. Raises LayoutError, possibly after the write, if it cannot be shown."""
        elements, visited = self.target.elements(), self._visited()
        try:
            self._run_in_torch()
        except RuntimeError as error:
            raise LayoutError(
                f'{self._why_refused(str(error))}, and torch refuses: "{error}"'
            ) from None
        if self.other is not None and (self.op != "[]" or self.other.tensor.ndim):
            self._require_defined(elements, visited)
        if any(abs(value) > MAX_VALUE for value in self.target.tape.tolist()):
            raise LayoutError(f"{self.name} would pass {MAX_VALUE}: the boxes hold five digits")
        self.target.tape.add_(0.0)  # there is no -0

    def warning(self) -> str:
        """A warning about a write that torch allows; "" if there is none."""
        shared = shared_element(self.target, self.name)
        if not shared or (self.other is not None and self.op != "[]"):
            return ""
        if self.op in ("fill_", "zero_", "[]"):
            return f"{shared}: writing to one writes to the other"
        most = max(Counter(self.target.elements()).values())
        return (
            f"{shared}: torch does not refuse, and {self.op} runs once for each index, "
            f"up to {most} times on one element"
        )

    def _visited(self) -> list[int]:
        """The element of the other tensor that each index of the target reads."""
        if self.other is None:
            return []
        layout, shape = self.other.layout, self.target.tensor.shape
        while self.op == "[]" and layout.ndim and layout.shape[0] == 1:
            layout = layout[0]  # an assignment drops leading sizes of 1
        return elements(layout.expand(shape))

    def _run_in_torch(self) -> None:
        target, other = self.target.tensor, self.other.tensor if self.other else self.value
        if self.op == "[]":
            target[...] = other
        elif other is None:
            getattr(target, self.op)()
        else:
            getattr(target, self.op)(other)

    def _why_refused(self, error: str) -> str:
        if "some elements" not in error:
            return shared_element(self.target, self.name)
        both = len({*self.target.elements()} & {*self._visited()})
        return f"{self.name} and {self.source} share {counted(both, 'element')}"

    def _require_defined(self, elements: list[int], visited: list[int]) -> None:
        """Refuse writes that torch allows although the result depends on the order of visit."""
        same = self.other is not None and self.other.tape is self.target.tape
        if same and elements == visited and self.op in ("copy_", "[]"):
            return  # nothing changes
        if shared := shared_element(self.target, self.name):
            raise LayoutError(
                f"{shared}, and each would get a value of its own: torch does not refuse, and does "
                f"not define the result. Write to {self.name}.clone() instead"
            )
        writer = {element: k for k, element in enumerate(elements)}
        if self.op in ("copy_", "[]"):  # an element overwritten with itself does not change
            writer = {element: k for element, k in writer.items() if visited[k] != element}
        for k, element in enumerate(visited if same else []):
            if writer.get(element, k) != k:
                one, two = (
                    element_name(self.target.indices()[i], self.name) for i in (k, writer[element])
                )
                raise LayoutError(
                    f"{one} would read element {element}, which the same step writes as {two}: torch does "
                    f"not refuse, and the result depends on the order of visit. Use {self.source}.clone()"
                )
