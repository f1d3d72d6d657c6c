"""Answers as text: JSON found in them or refused, clean lines, and the parts of one port each."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import orjson

from truerail.errors import UnreadableError

# ----------------------------------------------------------------------------------------------------------------------
# First steps of every parser: decode JSON or refuse it with a clear error, split text into clean lines.

_DECODER = json.JSONDecoder()
_DOCUMENT = re.compile(r"""^[ \t]*(?=\{\s*["}]|\[\s*["\]\[{])""", re.MULTILINE)
"""Where a JSON document begins: not at the bracket of a prompt, such as `[root@gpu-001 ~]#` or Junos' `{master:0}`."""

PASTED = "#> \t"
"""What indents, comments out or quotes a line."""
Found = TypeVar("Found")


def read_first(answer: Any, readers: Iterable[Callable[[Any], Found | None]], why: str, *, line: int = 0) -> Found:
    """What the first reader finds in a text or a document: each returns None for another form than its own.

    Raises `UnreadableError` where all of them do, with the first line if `line` is 1.
    """
    for read in readers:
        if (found := read(answer)) is not None:
            return found
    raise UnreadableError(why, line=line, text=answer.strip().split("\n")[0] if line else "")


def decode(answer: str) -> Any:
    """The JSON document in `answer`; a prompt or a warning around it is skipped.

    Raises `UnreadableError` with line and byte offset where there is none, more than one, or only the beginning of one.
    """
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        start = _DOCUMENT.search(answer)
        if start is None:
            raise _refusal(answer, error.pos, error.msg) from error
    document, end = document_at(answer, start.end())
    if (second := _DOCUMENT.search(answer, end)) is not None:
        raise _refusal(answer, second.end(), "a second document")
    return document


def document_at(text: str, at: int) -> tuple[Any, int]:
    """The JSON document that begins at a place, and where it ends. Raises `UnreadableError` like `decode`."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise _refusal(text, error.pos, error.msg) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; a depth that no device has
        raise _refusal(text, at, str(error)) from error


def is_json(answer: str) -> bool:
    """Whether a JSON document begins at the start of any line."""
    return _DOCUMENT.search(answer) is not None


def begins_json(answer: str) -> bool:
    """Whether nothing is above a JSON document."""
    return _DOCUMENT.match(answer) is not None


def objects_of(value: Any) -> list[dict[str, Any]]:
    """The objects in a value that should be a list of them; none in anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def spelled(names: Mapping[str, str]) -> dict[str, str]:
    """Each spelling and what it means, from each meaning and its spellings: `{"ttl": "hold time, ttl"}`."""
    return {word: name for name, words in names.items() for word in words.split(", ")}


def object_of(value: Any) -> dict[str, Any]:
    """A value that should be an object of JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_in(answer: str, what: str) -> list[Any]:
    """The list that is an answer's document. Raises `UnreadableError`, also for another document."""
    document = decode(answer)
    if type(document) is not list:
        raise UnreadableError(f"not a list of {what}")
    return document


def recording(found: Any, key: str, command: str, version: int) -> dict[str, Any]:
    """A recording of one of our commands. Raises `UnreadableError` for anything else, and for another version."""
    if type(found) is not dict or key not in found:
        raise UnreadableError(f"not a recording of `{command}`")
    if found[key] != version:
        raise UnreadableError(f"version {found[key]!r:.20} of the recording: only {version} is known")
    return found


def text_in(found: dict[str, Any], key: str, about: str) -> str:
    """A text that is not empty, of an object that has to have it."""
    value = found.get(key)
    if type(value) is not str or not value:
        raise UnreadableError(f"{about} has no `{key}`", text=str(value)[:40])
    return value


def small_count(text: str | None) -> int | None:
    """A count in decimal digits, at most nine; None where there is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def last_line(output: str, most: int) -> str | None:
    """The last line of a program's output that has more than dashes, cut to `most` characters."""
    found = [line.strip() for line in output.split("\n") if line.strip(" -\t\r")]
    return found[-1][:most] if found else None


def lines(answer: str) -> list[str]:
    """The lines of `answer` without carriage returns: line N of the answer is item N - 1.

    Only a line feed ends a line: the other separators that `str.splitlines` knows may occur in a neighbour's name.
    Where every line is commented out with `#` or quoted with `>`, as in scripts and mails, the prefix is removed.
    """
    found = answer.replace("\r", "").split("\n")
    mark = answer.lstrip()[:1]
    if mark in ("#", ">") and all(line.lstrip().startswith(mark) for line in found if line.strip()):
        found = [line.lstrip()[1:] for line in found]
    return found


def whole_lines(answer: str) -> list[str]:
    """The same of an answer that ends with a line feed, or a prompt. Raises `UnreadableError` if it is cut."""
    found = lines(answer)
    if found[-1] and not is_login_prompt(found[-1]):
        raise UnreadableError("cut short: its last line has no end", line=len(found), text=found[-1][:80])
    return found


def _refusal(text: str, at: int, why: str) -> UnreadableError:
    offset = len(text[:at].encode(errors="replace"))
    cut = "JSON cut short" if at >= len(text.rstrip()) or why.startswith("Unterminated") else "not JSON"
    return UnreadableError(
        f"{cut} at byte {offset} ({why.partition(':')[0]})", line=text.count("\n", 0, at) + 1, text=text[at : at + 40]
    )


# ----------------------------------------------------------------------------------------------------------------------
# Answers about one port each that do not name it: the line above each does.

_FRAMED = re.compile(r"[=#*-]+[ \t]*([^\s=#*|:-][^\s=#*|:]*)[ \t]*:?[ \t]*[=#*-]*[ \t]*")
_FRAMES = frozenset("=#*-")
_PROMPT = re.compile(r"[^:]*[$#>%]\s*|[^\s:@]+@[^\s:@]+:[^:]*[$#]\s*")
_LOGIN = re.compile(r"(?:\S{0,80}@.{0,200})?[$#>%]\s*")
_LONGEST_COMMAND = 400
"""Most characters of a line that names a port, including a prompt before the command."""


class Section(NamedTuple):
    """One port's answer. `port` is empty if no line names it; `line` is the number of the first of `lines`."""

    port: str
    line: int
    lines: Sequence[str]


def blocks(text: Iterable[str], heading: re.Pattern[str]) -> list[tuple[re.Match[str], list[str]]]:
    """Each line that a pattern matches as a whole, with the lines below it up to the next such line."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in text:
        if head := heading.fullmatch(line):
            found.append((head, []))
        elif found:
            found[-1][1].append(line)
    return found


def asks(tool: str, flag: str) -> re.Pattern[str]:
    """Matches a tool's command for one port after any prompt; group 1 is the port."""
    return re.compile(rf"\b{tool}\b[^|;&>]*?[ \t]{flag}[ \t]+([^\s|;&>-][^\s|;&>]*)")


def sections(text: Sequence[str], tool: str, asked: re.Pattern[str]) -> Iterator[Section]:
    """Each port's answer: the lines after one with `tool`'s command for a port, or with the port's framed bare name."""
    port, begun = "", 0
    for at in [at for at, line in enumerate(text) if tool in line or line[:1] in _FRAMES]:
        line = text[at]
        if found := len(line) <= _LONGEST_COMMAND and (asked.search(line) or _FRAMED.fullmatch(line)):
            yield Section(port, begun + 1, text[begun:at])
            port, begun = argument(found[1]), at + 1
    yield Section(port, begun + 1, text[begun:])


def argument(word: str) -> str:
    """A command's argument without its quotes; empty for the variable of a loop, `ethtool -S $n`."""
    bare = word.strip("\"';&")
    return "" if "$" in bare else bare


def is_prompt(line: str) -> bool:
    """Whether a line is only a shell's prompt."""
    return _PROMPT.fullmatch(line) is not None


def is_login_prompt(line: str) -> bool:
    """Whether a line is a prompt with user and host, or its last character alone: rows of tables may end with one."""
    return _LOGIN.fullmatch(line) is not None
