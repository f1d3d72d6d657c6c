"""Answers of `ethtool` and of its like, which speak of one port and do not name it: what stands above them does."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FRAMED = re.compile(r"[=#*-]+[ \t]*([^\s=#*|:]+)[ \t]*:?[ \t]*[=#*-]*[ \t]*")
_PORT = r"[^|;&>]*?[ \t]{}[ \t]+([^\s|;&>]+)"
_PROMPT = re.compile(r"[^:]*[$#>%]\s*|\[[^\]]*\][$#>%]\s*|[\w.-]+@[^\s$#%]*[$#>%]\s*")


class Section(NamedTuple):
    """One port's answer. `port` is empty where nothing names it; `line` is the number of the first of `lines`."""

    port: str
    line: int
    lines: Sequence[str]


def asks(tool: str, flag: str) -> re.Pattern[str]:
    """Finds the command that asks a tool about a port, whatever prompt stands before it; group 1 is the port."""
    return re.compile(rf"\b{tool}\b" + _PORT.format(flag))


def sections(text: Sequence[str], tool: str, asked: re.Pattern[str]) -> Iterator[Section]:
    """Each port's answer: what follows a line that has `tool` in it and asks for a port, or frames its bare name."""
    port, begun = "", 0
    for at, line in enumerate(text):
        named = _names(line, tool, asked)
        if named:
            if begun or any(map(str.strip, text[:at])):
                yield Section(port, begun + 1, text[begun:at])
            port, begun = named, at + 1
    yield Section(port, begun + 1, text[begun:])


def is_prompt(line: str) -> bool:
    """Whether a line is a shell's prompt and nothing else."""
    return _PROMPT.fullmatch(line) is not None


def _names(line: str, tool: str, asked: re.Pattern[str]) -> str | None:
    if tool in line:
        found = asked.search(line)
    elif line[:1] in ("=", "#", "*", "-"):
        found = _FRAMED.fullmatch(line)
    else:
        return None
    return found[1] if found else None
