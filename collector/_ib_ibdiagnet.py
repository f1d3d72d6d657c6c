"""What the files that NVIDIA's ibdiagnet writes have in common, and its list of links, `ibdiagnet2.lst`.

Sources: ibutils' `ibdiagnet` manual, recorded files of ibdiagnet 2.10.
"""

import re
from collections.abc import Iterator

from collector._answer import lines
from collector._ib_links import Fact, Links
from collector._ib_words import adapter, gbps, guid_text, switch
from truerail.errors import UnreadableError

_BEGUN = re.compile("^# File created at", re.MULTILINE)
_CLOSED = re.compile("^# File closed at", re.MULTILINE)
_LISTED = re.compile(r"^[ \t]*\{ \w\w Ports:", re.MULTILINE)
_END = r"\{ (\w\w) Ports:[^{]* NodeGUID:([0-9a-fA-F]{1,16}) [^{]*?(?:\{(.*?)\} | )LID:[0-9a-fA-F]+ PN:([0-9a-fA-F]+) \}"
_LINK = re.compile(rf"\s*{_END} {_END} PHY=(\S+) LOG=\S+ SPD=(\S+)")


def refuse_unclosed(answer: str) -> None:
    """Raises `UnreadableError` for a file of ibdiagnet whose last line is missing."""
    if _BEGUN.search(answer) and not _CLOSED.search(answer):
        raise UnreadableError(
            "cut short: ibdiagnet closes its files with a line that is missing", line=answer.count("\n")
        )


def recognised(answer: str) -> bool:
    """Whether any line begins like a link of a `.lst` file."""
    return _LISTED.search(answer) is not None


def from_lst(answer: str) -> Iterator[Fact]:
    """Both ends of each link in a `.lst` file, which has a line for each. Raises `UnreadableError` with the line."""
    refuse_unclosed(answer)
    links = Links()
    for number, line in enumerate(lines(answer), 1):
        if not line.lstrip().startswith("{"):
            continue
        found = _LINK.fullmatch(line.rstrip())
        if found is None:
            raise UnreadableError("not a link, or cut short", line=number, text=line)
        ends = []
        for kind, guid, description, port in (found.group(1, 2, 3, 4), found.group(5, 6, 7, 8)):
            key = guid_text(guid)
            links.node(key, adapter if kind == "CA" else switch, key, description or "")
            ends.append((key, int(port, 16)))
        links.link(ends[0], ends[1], gbps(found[9], found[10]), number)
    return links.facts()
