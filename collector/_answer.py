"""First steps of every parser: decode JSON or refuse it with a clear error, split text into clean lines."""

import json
import re
from typing import Any

import orjson

from truerail.errors import UnreadableError

_DECODER = json.JSONDecoder()
_DOCUMENT = re.compile(r"""^[ \t]*(?=\{\s*["}]|\[\s*["\]\[{])""", re.MULTILINE)
"""Where a JSON document begins: not at the bracket of a prompt, such as `[root@gpu-001 ~]#` or Junos' `{master:0}`."""

PASTED = "#> \t"
"""What indents, comments out or quotes a line."""


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
    second = _DOCUMENT.search(answer, end)
    if second is not None:
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


def object_of(value: Any) -> dict[str, Any]:
    """A value that should be an object of JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def text_in(found: dict[str, Any], key: str, about: str) -> str:
    """A text that is not empty, of an object that has to have it."""
    value = found.get(key)
    if type(value) is not str or not value:
        raise UnreadableError(f"{about} has no `{key}`", text=str(value)[:40])
    return value


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


def _refusal(text: str, at: int, why: str) -> UnreadableError:
    offset = len(text[:at].encode(errors="replace"))
    cut = "JSON cut short" if at >= len(text.rstrip()) or why.startswith("Unterminated") else "not JSON"
    return UnreadableError(
        f"{cut} at byte {offset} ({why.partition(':')[0]})", line=text.count("\n", 0, at) + 1, text=text[at : at + 40]
    )
