"""A service and a command line of different versions: one error that names both."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from truerail import __version__
from truerail.cli.oncall_service import document
from truerail.errors import CommandError
from truerail.model.names import printable


def explained(service: str, token_file: Path | None, name: str, given: Collection[str], error: str) -> str:
    """The error `error` about the command `name` with the parameters `given`, with both versions if they are why.

    `error` stays as it is if the versions are equal, if the service has this endpoint with these parameters, or if the
    service does not say its version.
    """
    try:
        described = document(service, token_file)
        theirs = printable(str(described["info"]["version"]), 40)
        lacking = _lacking(described, name, given)
    except (CommandError, LookupError, TypeError):
        return error
    if theirs == __version__ or not lacking:
        return error
    return _different(service, theirs, lacking)


def explained_answer(service: str, token_file: Path | None, error: str) -> str:
    """An error about the form of an answer, with both versions if they differ."""
    try:
        theirs = printable(str(document(service, token_file)["info"]["version"]), 40)
    except (CommandError, LookupError, TypeError):
        theirs = __version__
    if theirs == __version__:
        return f"{service}: not an answer of truerail: {error}"
    return _different(service, theirs, f"its answer has another form ({error})")


def _lacking(described: Any, name: str, given: Collection[str]) -> str:
    """What the service does not have of a command; empty if it has all of it."""
    endpoint = described["paths"].get(f"/api/v1/{name}")
    if endpoint is None:
        return f"it has no `{name}`"
    known = {one["name"] for one in endpoint["get"]["parameters"]}
    missing = ", ".join(f"`{one}`" for one in given if one not in known)
    return f"its `{name}` takes no {missing}" if missing else ""


def _different(service: str, theirs: str, why: str) -> str:
    return (
        f"{service}: runs truerail {theirs}, this command is truerail {__version__}, and {why}. Use one version of both"
    )
