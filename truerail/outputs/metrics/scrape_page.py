"""The text of one publication as Prometheus scrapes it, without the values of the moment: cut by pod."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from truerail.files.problems import nearest
from truerail.outputs.metrics.metric_series import Block
from truerail.outputs.metrics.packed_text import PackedText
from truerail.outputs.metrics.plan_rows import REST


@dataclass(frozen=True)
class ScrapePage:
    """`blocks` are the series of cables and devices, `wide` those of the fabric. `pods` are in the order of each
    block's parts; `answered` is the query time of the newest readable answer to each collector.
    """

    pods: Sequence[str]
    blocks: Sequence[Block]
    wide: bytes
    answered: Mapping[str, datetime]
    packed: dict[str | None, PackedText] = field(default_factory=dict)
    """By pod, what a scraper that takes gzip has read."""

    def text(self, pod: str | None) -> Iterator[bytes | memoryview]:
        """The text of one pod, of everything without a pod (`-`), or of all. Raises LookupError."""
        if pod is None:
            return chain(self._of(None), (self.wide,))
        rank = {name: number for number, name in enumerate(self.pods)}
        if pod == REST:
            own = self._of(rank[REST]) if REST in rank else ()
            return chain(self._of(rank[""]), own, (self.wide,))
        if not pod or pod not in rank:
            raise LookupError(f"no pod is called {pod!r}{nearest(pod, [*self.pods[1:], REST])}")
        return self._of(rank[pod])

    def _of(self, pod: int | None) -> Iterator[bytes | memoryview]:
        """The series of cables and devices of one pod by its rank, or of all pods."""
        for block in self.blocks:
            yield from block.parts(pod)
