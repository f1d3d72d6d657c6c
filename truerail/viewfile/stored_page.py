"""The scrape page in the view: the text of each metric as it is, so that one that did not change is not written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, pairwise

from truerail.outputs.metrics.metric_series import Block
from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.viewfile.encoding import decoded, encoded

CONTENTS = "contents"
"""The key of the part that is no text."""


@dataclass(frozen=True, slots=True)
class _Contents:
    """All but the text of the series: the heads of the metrics, and the bytes of each pod in each of them."""

    pods: tuple[str, ...]
    heads: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]
    wide: bytes
    answered: Mapping[str, datetime]


def stored_page(page: ScrapePage) -> Iterator[tuple[str, list[bytes | memoryview]]]:
    """Key and pieces of each part."""
    sizes = tuple(tuple(map(len, block.pods)) for block in page.blocks)
    heads = tuple(block.head for block in page.blocks)
    yield CONTENTS, [encoded(_Contents(tuple(page.pods), heads, sizes, page.wide, dict(page.answered)))]
    for number, block in enumerate(page.blocks):
        yield str(number), list(block.pods)


def restored_page(rows: list[tuple[str, bytes]]) -> ScrapePage:
    """The page with these parts, by key."""
    bodies = dict(rows)
    contents: _Contents = decoded(bodies[CONTENTS])
    blocks = [
        Block(head, _cut(bodies[str(number)], sizes))
        for number, (head, sizes) in enumerate(zip(contents.heads, contents.sizes, strict=True))
    ]
    return ScrapePage(contents.pods, blocks, contents.wide, contents.answered)


def _cut(body: bytes, sizes: tuple[int, ...]) -> tuple[memoryview, ...]:
    whole = memoryview(body)
    return tuple(whole[a:b] for a, b in pairwise(accumulate(sizes, initial=0)))
