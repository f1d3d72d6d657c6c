"""Lines of iproute2's `rdma`, which begins each object with `link`; mail programs may wrap them."""

import re
from collections.abc import Iterator

from collector._answer import PASTED, lines
from collector._sections import is_prompt

_ASKED = re.compile(r"\brdma\b.{0,200}\b(?:stat|res)")


def linked(answer: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each link, including those of the lines below it up to the next link, and its line number.

    Prompts, the command itself and everything above the first link are skipped.
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
