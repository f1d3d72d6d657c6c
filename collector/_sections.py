"""Answers about one port each that do not name it: the line above each does."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

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


def asks(tool: str, flag: str) -> re.Pattern[str]:
    """Matches a tool's command for one port after any prompt; group 1 is the port."""
    return re.compile(rf"\b{tool}\b[^|;&>]*?[ \t]{flag}[ \t]+([^\s|;&>-][^\s|;&>]*)")


def sections(text: Sequence[str], tool: str, asked: re.Pattern[str]) -> Iterator[Section]:
    """Each port's answer: the lines after one with `tool`'s command for a port, or with the port's framed bare name."""
    port, begun = "", 0
    for at in [at for at, line in enumerate(text) if tool in line or line[:1] in _FRAMES]:
        line = text[at]
        found = len(line) <= _LONGEST_COMMAND and (asked.search(line) or _FRAMED.fullmatch(line))
        if found:
            yield Section(port, begun + 1, text[begun:at])
            port, begun = named(found[1]), at + 1
    yield Section(port, begun + 1, text[begun:])


def named(word: str) -> str:
    """What a word of a command names, without quotes; empty for the variable of a loop, `ethtool -S $n`."""
    bare = word.strip("\"';&")
    return "" if "$" in bare else bare


def is_prompt(line: str) -> bool:
    """Whether a line is only a shell's prompt."""
    return _PROMPT.fullmatch(line) is not None


def is_login_prompt(line: str) -> bool:
    """Whether a line is a prompt with user and host, or its last character alone: rows of tables may end with one."""
    return _LOGIN.fullmatch(line) is not None
