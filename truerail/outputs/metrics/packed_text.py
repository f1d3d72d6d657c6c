"""Text that is compressed once, and completed for each scrape by the values of the moment: one gzip file (RFC 1952).

A full flush ends the compressed text at a byte, without a reference into it from what follows (zlib.h, `deflate`), so
that other blocks may follow; the checksum continues over them.
"""

import zlib
from collections.abc import Iterable
from struct import pack

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
