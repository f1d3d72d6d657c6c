"""The scrape page in the view: the text of each metric as it is, so that one that did not change is not written."""

from collections.abc import Iterator
from itertools import accumulate, pairwise

from truerail.outputs.metrics.metric_series import Block
from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.viewfile.encoding import decoded, encoded
from truerail.viewfile.parts import METRICS, PageContents

CONTENTS = "contents"
"""The key of the part that is no text."""


def stored_page(page: ScrapePage) -> Iterator[tuple[str, list[bytes | memoryview]]]:
    """Key and pieces of each part."""
    sizes = tuple(tuple(map(len, block.pods)) for block in page.blocks)
    heads = tuple(block.head for block in page.blocks)
    yield CONTENTS, [encoded(PageContents(tuple(page.pods), heads, sizes, page.wide, dict(page.answered)))]
    for number, block in enumerate(page.blocks):
        yield str(number), list(block.pods)


def restored_page(rows: list[tuple[str, bytes]]) -> ScrapePage:
    """The page with these parts, by key."""
    bodies = dict(rows)
    contents: PageContents = decoded(METRICS, CONTENTS, bodies[CONTENTS])
    blocks = [
        Block(head, _cut(bodies[str(number)], sizes))
        for number, (head, sizes) in enumerate(zip(contents.heads, contents.sizes, strict=True))
    ]
    return ScrapePage(contents.pods, blocks, contents.wide, contents.answered)


def _cut(body: bytes, sizes: tuple[int, ...]) -> tuple[memoryview, ...]:
    whole = memoryview(body)
    return tuple(whole[a:b] for a, b in pairwise(accumulate(sizes, initial=0)))
