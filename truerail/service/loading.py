"""Reads `truerail.yaml`: every problem with its line, the value and what was expected."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from truerail.errors import SettingsError
from truerail.files.file_text import read_text
from truerail.files.problems import Faults, FileError
from truerail.model.names import printable
from truerail.model.yaml_tree import Node, plain, read_tree
from truerail.service.settings import Settings

_PATHS: list[tuple[str, ...]] = [("inventory",), ("plan",), ("history", "path"), ("gate", "directory"), ("otlp", "ca")]
_PATHS += [("probe", "key"), ("notify", "webhook", "ca"), ("http", "tls", "certificate"), ("http", "tls", "key")]
"""The settings that are paths; of a list, in each of its items."""
_SQLITE = "sqlite:///"
_MOST_BYTES = 64 << 20


def load_settings(path: Path) -> Settings:
    """The settings in a file, environment overrides applied. Raises SettingsError."""
    try:
        text = read_text(path, _MOST_BYTES, FileError)
    except FileError as error:
        raise SettingsError([str(error)]) from error
    faults = Faults(str(path), FileError)
    tree = read_tree(text, faults) if text.strip() else None
    values = plain(tree, faults) if tree else None
    if faults.found:
        raise SettingsError([str(problem) for problem in faults.found])
    if not isinstance(values, dict):
        raise SettingsError([f"{path}: has no settings: write at least `inventory: inventory.yaml`"])
    try:
        return Settings(**_anchored(values, path.parent))
    except ValidationError as error:
        raise SettingsError([_reported(path, tree, problem) for problem in error.errors()]) from error


def _anchored(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Paths of the file are relative to the file."""
    found = dict(values)
    for path in _PATHS:
        found = _anchor(found, path, folder)
    journal = found.get("journal")
    url = journal.get("url") if isinstance(journal, Mapping) else "sqlite:///truerail.db"
    if isinstance(url, str) and url.startswith(_SQLITE) and not url.startswith(f"{_SQLITE}/"):
        at = f"{_SQLITE}{folder.absolute() / url.removeprefix(_SQLITE)}"
        found["journal"] = {**(journal if isinstance(journal, Mapping) else {}), "url": at}
    return found


def _anchor(value: Any, path: Sequence[str], folder: Path) -> Any:
    """A part of the settings with the path at this place in it, or in each item of a list there, below a folder."""
    if not path:
        return folder / Path(value).expanduser() if isinstance(value, str) else value
    if isinstance(value, list):
        return [_anchor(one, path, folder) for one in value]
    if isinstance(value, Mapping) and path[0] in value:
        return {**value, path[0]: _anchor(value[path[0]], path[1:], folder)}
    return value


def _reported(path: Path, tree: Node | None, problem: Any) -> str:
    """One line: file, line, setting, value, and what was expected."""
    where: tuple[Any, ...] = tuple(problem["loc"])
    line = _line(tree, where)
    name = ".".join(str(part) for part in where)
    summary = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        summary = "is not a setting"
    if problem["type"] == "missing":
        return f"{path}: {name} is missing"
    given = problem.get("input")
    shown = (
        f" {printable(str(given), 80)!r}" if isinstance(given, str | int | float) and not _hidden(where, given) else ""
    )
    return f"{path}{f':{line}' if line else ''}: {name}{shown}: {summary}" if name else f"{path}: {summary}"


def _hidden(where: Iterable[Any], given: object) -> bool:
    """Whether a value may be, or contain, a misplaced secret."""
    return "@" in str(given) or any(
        str(part) in ("hash", "password", "metrics_token", "tokens", "url", "secret", "headers") for part in where
    )


def _line(tree: Node | None, where: Sequence[Any]) -> int:
    """The line of the deepest part of the path that is in the file; 0 if none is."""
    line, node = 0, tree
    for part in where:
        found: Node | None = None
        if node is not None and node.pairs is not None:
            for key, value in node.pairs:
                if key.text == str(part):
                    line, found = key.line, value
        elif node is not None and node.items is not None and isinstance(part, int) and part < len(node.items):
            found = node.items[part]
            line = found.line
        if found is None:
            break
        node = found
    return line
