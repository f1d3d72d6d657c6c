"""What commands share: errors and their exit codes, and options that are the fields of a dataclass.

CommandError  2   bad usage, bad plan, nothing collected
anything else    3   a bug
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, TypeVar

from truerail.errors import CommandError

T = TypeVar("T")


class ExitCode(IntEnum):
    """The exit codes, stable."""

    GOOD = 0
    """Nothing at or above --fail-on."""
    FOUND = 1
    """Findings."""
    CANNOT_EVALUATE = 2
    """Bad usage, bad plan, nothing collected."""
    BUG = 3
    INTERRUPTED = 130
    """Ctrl-C, as in shells."""


@contextmanager
def refusing(*kinds: type[Exception]) -> Iterator[None]:
    """Raises what these errors say as a CommandError."""
    try:
        yield
    except kinds as error:
        raise CommandError(str(error)) from error


@contextmanager
def refused_by_system(
    place: Path | str, words: str = "cannot be written: ", *, by_file: bool = False
) -> Iterator[None]:
    """Raises an OSError as a CommandError: the place, or `by_file` the file of the error if it names one, these words,
    and those of the system.
    """
    try:
        yield
    except OSError as error:
        where = (error.filename if by_file else None) or place
        raise CommandError(f"{where}: {words}{error.strerror or error}") from error


def with_parameters(run: Callable[..., None], parameters: Iterable[Parameter]) -> Callable[..., None]:
    """The function with the parameters that typer reads off it."""
    arguments = list(parameters)
    setattr(run, "__signature__", Signature(arguments))  # noqa: B010 - mypy knows no such attribute of a function
    run.__annotations__ = {one.name: one.annotation for one in arguments}
    return run


def with_options_of(options: Callable[..., T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Makes a command of a function that takes a dataclass: the fields are its options, as typer reads them."""

    def command(body: Callable[[T], None]) -> Callable[..., None]:
        @wraps(body)
        def run(**values: Any) -> None:
            body(options(**values))

        return with_parameters(run, signature(options).parameters.values())

    return command
