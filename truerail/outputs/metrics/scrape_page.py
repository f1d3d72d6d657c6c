"""The text of one publication as Prometheus scrapes it, without the values of the moment: cut by pod."""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from struct import pack

from truerail.files.problems import nearest
from truerail.outputs.metrics.metric_series import Block
from truerail.outputs.metrics.plan_rows import REST

# ----------------------------------------------------------------------------------------------------------------------
# Text that is compressed once, and completed for each scrape by the values of the moment: one gzip file (RFC 1952).
#
# A full flush ends the compressed text at a byte, without a reference into it from what follows (zlib.h, `deflate`), so
# that other blocks may follow; the checksum continues over them.

_LEVEL = 3
_RAW = -zlib.MAX_WBITS
_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF))
"""Deflate, no name, no time, an unknown system."""


class PackedText:
    """The compressed parts."""

    def __init__(self, parts: Iterable[bytes | memoryview]) -> None:
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
        self._crc = self._size = 0
        packed = [_HEADER]
        for part in parts:
            self._crc, self._size = zlib.crc32(part, self._crc), self._size + len(part)
            packed.append(deflate.compress(part))
        packed.append(deflate.flush(zlib.Z_FULL_FLUSH))
        self._packed = b"".join(packed)

    def followed_by(self, rest: bytes) -> bytes:
        """The whole as gzip."""
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
        size = (self._size + len(rest)) & 0xFFFFFFFF
        trailer = pack("<II", zlib.crc32(rest, self._crc), size)
        return b"".join((self._packed, deflate.compress(rest), deflate.flush(), trailer))


# ----------------------------------------------------------------------------------------------------------------------
# The text of one publication as Prometheus scrapes it, without the values of the moment: cut by pod.


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
