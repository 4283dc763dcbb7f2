"""The reference: pages with every public name, made from the docstrings, in the style of the lessons.

No text is written for the reference alone. A name is on the page of the subject in which a learner meets
it, which follows from the order of `stridekit.__all__`.
"""

from __future__ import annotations

import doctest
import html
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import traitlets

import stridekit
from stridekit import timing
from stridekit.export.cells import code

TITLE = "The package, name by name"
# The pages by their first name: file, title and lead. Names that are public only in stridekit.timing follow
# those that are public in stridekit too.
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
    """Lines of code and their output, as in a doctest."""

    source: str
    output: str


class Entry(NamedTuple):
    """A public name, or a class member with its full name, and the parts of its docstring."""

    name: str
    kind: str  # of a member: "", "property", "trait, can be set and observed" …
    signature: str
    parts: list[str | Example]
    members: list[Entry]

    @property
    def contract(self) -> str:
        """The first paragraph of the docstring."""
        return next((part for part in self.parts if isinstance(part, str)), "")

    @property
    def module(self) -> str:
        """The module to import the name from."""
        return "stridekit" if self.name in stridekit.__all__ else "stridekit.timing"


class Subject(NamedTuple):
    """A page of the reference."""

    slug: str
    title: str
    about: str
    entries: list[Entry]

    @property
    def file(self) -> str:
        """The name of the page."""
        return f"reference-{self.slug}.html"


def subjects() -> list[Subject]:
    """All public names in the order in which a learner meets them, one page per subject.

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
    """The object with a public name."""
    return getattr(stridekit if name in stridekit.__all__ else timing, name)


def _entry(name: str) -> Entry:
    found = find(name)
    text, members = signature(found, name), []
    if isinstance(found, type):
        text, members = f"class {text}", list(_members(found))
        if issubclass(found, Exception):
            text = f"class {name}({found.__bases__[0].__name__})"
    return Entry(name, "", text, parts_of(inspect.getdoc(found)), members)


# Docstrings -----------------------------------------------------------------------------------------


def parts_of(doc: str | None) -> list[str | Example]:
    r"""The paragraphs and examples of a docstring, in order.

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
    """The call of a function or a class, with annotations as in the source.

    Only plain values are shown as defaults: others may differ between machines.

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
        if parameter.kind is parameter.KEYWORD_ONLY and not any(t[0] == "*" for t in texts):
            texts.append("*")
        texts.append(_parameter(parameter))
    result = "" if isinstance(found, type) else _annotation(whole.return_annotation)
    end = f") -> {result}" if result else ")"
    line = f"{name}({', '.join(texts)}{end}"
    if len(line) <= 96:
        return line
    return "\n".join([f"{name}(", *(f"    {text}," for text in texts), end])


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


def _members(cls: type) -> Iterator[Entry]:
    """The public methods, properties and traits that stridekit itself defines, in order."""
    seen: set[str] = set()
    for owner in cls.__mro__:
        if not owner.__module__.startswith("stridekit"):
            continue
        for name, value in vars(owner).items():
            if name not in seen and (name == "__getitem__" or not name.startswith("_")):
                seen.add(name)
                if member := _member(name, value, cls):
                    yield member


def _member(name: str, value: Any, cls: type) -> Entry | None:
    full, doc, kind = f"{cls.__name__}.{name}", inspect.getdoc(value), ""
    if isinstance(value, METHODS):
        kind = "class method" if isinstance(value, classmethod) else ""
        call = signature(getattr(cls, name), full, bound=isinstance(value, types.FunctionType))
    elif isinstance(value, property):
        kind = "property, can be set" if value.fset else "property"
        result = _annotation(inspect.signature(value.fget).return_annotation) if value.fget else ""
        call = f"{full}: {result}"
    elif isinstance(value, traitlets.TraitType):
        kind = "trait" if value.read_only else "trait, can be set and observed"
        call, doc = full, str(value.help)
    else:
        return None  # a field, which is in the signature and the docstring
    return Entry(full, kind, call, parts_of(doc), [])


# Pages ----------------------------------------------------------------------------------------------


def reference() -> list[tuple[Subject, str]]:
    """The subjects in the order in which a learner meets them, each with the body of its page.

    >>> [subject.file for subject, _ in reference()][:2]
    ['reference-layouts.html', 'reference-raw_memory.html']
    """
    found = subjects()
    places = _places(found)
    return [(subject, _page(subject, places)) for subject in found]


def contents(found: list[Subject]) -> str:
    """The list of the pages and their names, for the front page."""
    items = "".join(
        f'<li><a href="{subject.file}">{subject.title}</a>: '
        + ", ".join(
            f'<a href="{subject.file}#{entry.name}"><code>{entry.name}</code></a>'
            for entry in subject.entries
        )
        + "</li>"
        for subject in found
    )
    return f'<section class="sk-reference"><h2>{TITLE}</h2><ul>{items}</ul></section>'


def _places(found: list[Subject]) -> dict[str, str]:
    """The page and the anchor of each name, and of each member of a class."""
    return {
        one.name: f"{subject.file}#{one.name}"
        for subject in found
        for entry in subject.entries
        for one in (entry, *entry.members)
    }


def _page(subject: Subject, places: dict[str, str]) -> str:
    names = "".join(
        f'<li><a href="#{entry.name}"><code>{entry.name}</code></a>: '
        f"{_prose(entry.contract, places, entry.name, linked=False)}</li>"
        for entry in subject.entries
    )
    return (
        f'<div class="sk-names"><h1>{subject.title}</h1><p class="sk-lead">{subject.about}</p>'
        f'<nav aria-label="On this page"><ul>{names}</ul></nav>'
        + "".join(_section(entry, places) for entry in subject.entries)
        + "</div>"
    )


def _section(entry: Entry, places: dict[str, str]) -> str:
    overview = ""
    if len(entry.members) > 8:
        items = "".join(
            f'<li><a href="#{member.name}"><code>{member.name.partition(".")[2]}</code></a></li>'
            for member in entry.members
        )
        overview = f'<ul class="sk-members" aria-label="Members of {entry.name}">{items}</ul>'
    line = f"from {entry.module} import {entry.name}"
    return (
        "<section>"
        f'<h2 id="{entry.name}"><a href="#{entry.name}">{entry.name}</a></h2>'
        f'<p class="sk-from"><code>{line}</code></p>'
        f"{code(entry.signature)}{_parts(entry.parts, places, entry.name)}{overview}"
        + "".join(_subsection(member, entry.name, places) for member in entry.members)
        + "</section>"
    )


def _subsection(member: Entry, owner: str, places: dict[str, str]) -> str:
    kind = f' <small class="sk-form">{member.kind}</small>' if member.kind else ""
    return (
        f'<h3 id="{member.name}"><a href="#{member.name}">{member.name}</a>{kind}</h3>'
        f"{code(member.signature)}{_parts(member.parts, places, owner)}"
    )


def _parts(parts: list[str | Example], places: dict[str, str], owner: str) -> str:
    return "".join(
        f"<p>{_prose(part, places, owner)}</p>" if isinstance(part, str) else _cell(part)
        for part in parts
    )


def _cell(example: Example) -> str:
    """An example in the form of a lesson's cell."""
    output = ""
    if example.output:
        text = html.escape(example.output, quote=False)
        output = f'<div class="jp-OutputArea-output"><pre>{text}</pre></div>'
    return f'<div class="jp-CodeCell">{code(example.source)}{output}</div>'


def _prose(text: str, places: dict[str, str], owner: str, linked: bool = True) -> str:
    """Text with `code` between backticks, linked to the place that explains it.

    >>> _prose("As `f(x) < g`.", {}, "h")
    'As <code>f(x) &lt; g</code>.'
    >>> _prose("Like `memset`, or `of`", {"memset": "a.html#memset", "T.of": "#T.of"}, "T")
    'Like <a href="a.html#memset"><code>memset</code></a>, or <a href="#T.of"><code>of</code></a>'
    """
    found = []
    for k, piece in enumerate(re.split(r"`([^`]+)`", text)):
        shown = html.escape(piece, quote=False)
        if k % 2:
            shown = f"<code>{shown}</code>"
            place = _place(piece, places, owner)
            if linked and place:
                shown = f'<a href="{place}">{shown}</a>'
        found.append(shown)
    return "".join(found)


def _place(code: str, places: dict[str, str], owner: str) -> str | None:
    """The place that explains the name in a piece of code; None for other names."""
    name = code.removeprefix("stridekit.").removesuffix("()")
    if name == owner:
        return None
    return places.get(name) or places.get(f"{owner}.{name}")
