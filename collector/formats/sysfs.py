"""Files of sysfs with their content: the lines `path:value` of `grep -H .`, files below their names (`==> path <==`) as
`head` and `tail` print them or between two lines of colons as `more` does, or an archive in the format of `ttar`.
"""

import re
from collections.abc import Iterator

from collector.formats.counts import may_be_cut
from collector.formats.text import is_prompt, lines
from truerail.errors import UnreadableError

_PCI_COLON = (
    r"(?<=[0-9a-f]{4}):(?=[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/)|(?<=[0-9a-f]{4}:[0-9a-f]{2}):(?=[0-9a-f]{2}\.[0-7]/)"
)
_LINE = re.compile(rf"\s*((?:[^\s:]++|{_PCI_COLON})+):(.*)")
"""A path may contain a PCI address, whose colons are no separators."""
_TTAR = re.compile(r"^(?:Path|Directory): \S", re.MULTILINE)
_HEADED = re.compile(r"\s*==> (\S+) <==\s*")
_FRAME = re.compile(r"\s*:{14}\s*")
_NO_LINE_FEED = "EOF"
"""ttar's mark after content that does not end in a line feed."""


def files(answer: str) -> Iterator[tuple[str, str]]:
    """Path and content of each file, in the answer's order; each line of a file with several comes separately.

    Raises `UnreadableError` if the answer ends inside a file. A last line without a line feed is skipped, unless it
    is a 0: its value may be cut.
    """
    return _from_ttar(answer) if _TTAR.search(answer) else _from_grep(answer)


def _from_grep(answer: str) -> Iterator[tuple[str, str]]:
    text, path_above = lines(answer), ""
    for number, line in enumerate(text, 1):
        framed = "/" in line and _FRAME.fullmatch(text[number - 2]) and _FRAME.fullmatch("".join(text[number:][:1]))
        if heading := _HEADED.fullmatch(line):
            path_above = heading[1]
            continue
        if framed or _FRAME.fullmatch(line):
            path_above = line.strip() if framed else path_above
            continue
        if path_above:
            if line.strip() and not (number == len(text) and may_be_cut(answer, line)):
                yield path_above, line.strip()
            continue
        path_and_value = _LINE.match(line)
        last = number == len(text) and line.strip() and not is_prompt(line)
        if last and (path_and_value is None or not path_and_value[2]):
            raise UnreadableError("cut short inside a path", line=number, text=line)
        if path_and_value and not (last and may_be_cut(answer, path_and_value[2])):
            yield path_and_value[1], path_and_value[2].strip()


def _from_ttar(answer: str) -> Iterator[tuple[str, str]]:
    path, begun = "", 0
    content: list[str] = []
    for number, line in enumerate(lines(answer), 1):
        word, _, rest = line.partition(": ")
        if word == "Path":
            path, content, begun = rest.strip(), [], number
        elif word == "Mode" and path:
            yield path, "\n".join(content[1:]).removesuffix(_NO_LINE_FEED).strip()
            path = ""
        elif path:
            content.append(line)
    if path:
        raise UnreadableError("an archive that ends inside a file", line=begun, text=path)
