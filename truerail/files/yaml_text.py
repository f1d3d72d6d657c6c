"""Writes lines of YAML: quoting, and entries of a section."""

import json
import re
from collections.abc import Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z0-9_](?:[\w./\[\],-]|:(?=\S))*", re.ASCII)
_UNSEEN = re.compile(r"[\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")

_PLAIN_IN_FLOW = re.compile(r"[A-Za-z0-9_~/][A-Za-z0-9_~/.@+-]*", re.ASCII)

Entry = Mapping[str, str | Sequence[str]]
"""A mapping of the file: each value one text, or a list of texts."""


def quoted(text: str) -> str:
    """A scalar for block context: plain where YAML reads it unchanged, else in double quotes."""
    return text if _PLAIN.fullmatch(text) else json_quoted(text)


def in_flow(text: str) -> str:
    """A scalar inside `{...}`: plain if it is a plain word, else in double quotes."""
    return text if _PLAIN_IN_FLOW.fullmatch(text) else json_quoted(text)


def json_quoted(text: str) -> str:
    """A scalar in double quotes, with invisible characters escaped."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def section(name: str, entries: Sequence[Entry]) -> list[str]:
    """A section of the file: one mapping, or a list of them. Empty without entries."""
    if not entries:
        return []
    lines = [f"{name}:"]
    for entry in entries:
        first = "  - " if len(entries) > 1 else "  "
        rest = " " * len(first)
        for at, (key, value) in enumerate((key, value) for key, value in entry.items() if value):
            lines += _pair(key, value, rest if at else first, rest)
    return lines


def _pair(key: str, value: str | Sequence[str], first: str, rest: str) -> list[str]:
    if isinstance(value, str):
        return [f"{first}{key}: {quoted(value)}"]
    # an item that starts with a bracket is a list of its own, already written
    return [f"{first}{key}:", *(f"{rest}  - {item if item[0] == '[' else quoted(item)}" for item in value)]
