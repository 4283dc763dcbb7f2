"""Packages that only some parts need: pip installs them with an extra, such as stridekit[widgets]."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import packages of an extra: where one is missing, the error says how to install them.

    >>> with extra("lab"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: this needs no_such_package: pip install "stridekit[lab]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        message = f'this needs {package}: pip install "stridekit[{name}]"'
        raise ModuleNotFoundError(message, name=error.name) from error
