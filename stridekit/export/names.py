"""What the reference says about the public names: their signatures, docstrings, examples and members.

Nothing is written for the reference alone. A name stands on the page of the subject during which a
learner meets it, which follows from the order of `stridekit.__all__`.
"""

from __future__ import annotations

import doctest
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import traitlets

import stridekit
from stridekit import timing

# The pages: the name that each begins with, its file, its title and what it is about. Names that are
# public in stridekit.timing alone follow those of it that are public in stridekit too.
PAGES = {
    "Layout": ("layouts", "Layouts", "Where each element of a tensor lives, as a value."),
    "read_storage": ("raw_memory", "Raw memory", "What really lies at those addresses."),
    "StrideExplorer": ("pictures", "Pictures", "Strides by hand, and questions to commit to."),
    "memset": ("sharing", "Sharing", "Which bytes a tensor reaches, and who shares them."),
    "ReshapeStepper": ("operations", "Operations", "What an operation does with strides."),
    "TraversalExplorer": ("cost", "Cost", "Bytes, cache lines and sectors, predicted."),
    "measure": ("time", "Time", "What it takes, measured as ratios that can be trusted."),
    "self_check": ("this_machine", "This machine", "Whether it can run the lessons."),
}
METHODS = (types.FunctionType, classmethod, staticmethod)
STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


class Example(NamedTuple):
    """Lines of code and what they show, as in a doctest."""

    source: str
    output: str


class Member(NamedTuple):
    """A public method, property or trait of a class."""

    name: str
    kind: str  # "", "property", "property, can be set" …
    signature: str
    parts: list[str | Example]


class Entry(NamedTuple):
    """A public name: paragraphs and examples of its docstring, and its members."""

    name: str
    module: str  # to import it from
    signature: str
    parts: list[str | Example]
    members: list[Member]

    @property
    def contract(self) -> str:
        """What the docstring begins with."""
        return next((part for part in self.parts if isinstance(part, str)), "")


class Subject(NamedTuple):
    """A page of the reference."""

    slug: str
    title: str
    about: str
    entries: list[Entry]


def subjects() -> list[Subject]:
    """All public names in the order in which a learner meets them, a subject a page.

    >>> [entry.name for entry in subjects()[1].entries]
    ['read_storage', 'read_element', 'storage_view']
    """
    found: list[Subject] = []
    for name in public_names():
        if name in PAGES:
            found.append(Subject(*PAGES[name], []))
        found[-1].entries.append(_entry(name))
    return found


def public_names() -> list[str]:
    """The names of stridekit.__all__ and stridekit.timing.__all__, each once."""
    names = list(stridekit.__all__)
    last = max(names.index(name) for name in timing.__all__ if name in names)
    return [*names[: last + 1], *(n for n in timing.__all__ if n not in names), *names[last + 1 :]]


def find(name: str) -> Any:
    """The object behind a public name."""
    return getattr(stridekit if name in stridekit.__all__ else timing, name)


def _entry(name: str) -> Entry:
    found = find(name)
    module = "stridekit" if name in stridekit.__all__ else "stridekit.timing"
    text = signature(found, name)
    if isinstance(found, type):
        text = f"class {text}"
        if issubclass(found, Exception):
            text = f"class {name}({found.__bases__[0].__name__})"
    members = list(_members(found)) if isinstance(found, type) else []
    return Entry(name, module, text, parts_of(inspect.getdoc(found)), members)


# Docstrings -----------------------------------------------------------------------------------------


def parts_of(doc: str | None) -> list[str | Example]:
    r"""A docstring as its paragraphs and its examples, in their order.

    >>> parts_of("Add\n one.\n\n>>> x = 1\n>>> x + 1  # doctest: +ELLIPSIS\n2")
    ['Add one.', Example(source='x = 1\nx + 1', output='2')]
    """
    found: list[str | Example] = []
    source = ""
    for part in doctest.DocTestParser().parse(doc or ""):
        if isinstance(part, str):
            if part.strip():
                found += [" ".join(text.split()) for text in re.split(r"\n\s*\n", part.strip())]
            continue
        source += part.source
        if part.want:
            found.append(_example(source, part.want))
            source = ""
    return [*found, _example(source)] if source else found


def _example(source: str, want: str = "") -> Example:
    return Example(re.sub(r" +# doctest:.*", "", source).rstrip("\n"), want.rstrip("\n"))


# Signatures and members -----------------------------------------------------------------------------


def signature(found: Any, name: str, bound: bool = False) -> str:
    """How a function or class is called, with annotations as their source has them.

    A default is shown where it is a plain value: others may differ from machine to machine.

    >>> signature(stridekit.shares_storage, "shares_storage")
    'shares_storage(x: Any, y: Any) -> bool'
    """
    try:
        whole = inspect.signature(found)
    except ValueError:  # an exception has Exception's
        return name
    shown = [p for p in whole.parameters.values() if not p.name.startswith("_")]
    texts: list[str] = []
    for parameter in shown[1:] if bound else shown:
        if parameter.kind is parameter.KEYWORD_ONLY and not _has_star(texts):
            texts.append("*")
        texts.append(_parameter(parameter))
    result = "" if isinstance(found, type) else _annotation(whole.return_annotation)
    end = f") -> {result}" if result else ")"
    line = f"{name}({', '.join(texts)}{end}"
    if len(line) <= 96:
        return line
    return "\n".join([f"{name}(", *(f"    {text}," for text in texts), end])


def _has_star(texts: list[str]) -> bool:
    return any(re.match(r"\*(?!\*)", text) for text in texts)


def _parameter(parameter: inspect.Parameter) -> str:
    star = STARS.get(parameter.kind, "")
    kind = _annotation(parameter.annotation)
    text = star + parameter.name + (f": {kind}" if kind else "")
    if parameter.default is parameter.empty:
        return text
    plain = parameter.default is None or isinstance(parameter.default, int | float | str | tuple)
    default = repr(parameter.default) if plain else "…"
    return f"{text} = {default}" if kind else f"{text}={default}"


def _annotation(value: Any) -> str:
    if value is inspect.Signature.empty:
        return ""
    text = getattr(value, "__forward_arg__", value)
    return text if isinstance(text, str) else inspect.formatannotation(text)


def _members(cls: type) -> Iterator[Member]:
    """The public methods, properties and traits that stridekit itself defines, in their order."""
    seen: set[str] = set()
    for owner in cls.__mro__:
        if not owner.__module__.startswith("stridekit"):
            continue
        for name, value in vars(owner).items():
            if name not in seen and (name == "__getitem__" or not name.startswith("_")):
                seen.add(name)
                if member := _member(name, value, cls):
                    yield member


def _member(name: str, value: Any, cls: type) -> Member | None:
    full = f"{cls.__name__}.{name}"
    if isinstance(value, METHODS):
        call = signature(getattr(cls, name), full, bound=isinstance(value, types.FunctionType))
        kind = "class method" if isinstance(value, classmethod) else ""
        return Member(name, kind, call, parts_of(inspect.getdoc(value)))
    if isinstance(value, property):
        result = _annotation(inspect.signature(value.fget).return_annotation) if value.fget else ""
        kind = "property, can be set" if value.fset else "property"
        return Member(name, kind, f"{full}: {result}", parts_of(inspect.getdoc(value)))
    if isinstance(value, traitlets.TraitType):
        kind = "trait" if value.read_only else "trait, can be set and observed"
        return Member(name, kind, full, parts_of(str(value.help)))
    return None  # a field: the signature has it, and the docstring says what it is
