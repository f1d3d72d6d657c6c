"""iproute2's `rdma` begins what it says of each object with `link`, and whoever mails it wraps its lines."""

import re
from collections.abc import Iterator

from collector._answer import PASTED, lines
from collector._sections import is_prompt

_ASKED = re.compile(r"\brdma\b.{0,200}\b(?:stat|res)")


def linked(answer: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each link, those of the lines below it up to the next one included, and the number of its line.

    Prompts and the command itself are left out, and so is what stands above the first link.
    """
    link: list[str] = []
    begun = 0
    for number, raw in enumerate(lines(answer), 1):
        words = raw.lstrip(PASTED).split()
        if words and words[0] == "link":
            if link:
                yield begun, link
            link, begun = words, number
        elif link and not _ASKED.search(raw) and not is_prompt(raw):
            link += words
    if link:
        yield begun, link
