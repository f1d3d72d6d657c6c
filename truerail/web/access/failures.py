"""Counts wrong tokens by source address and in total.

Callers over the limit have to wait, and are neither logged nor audited any more, so that guessing fills no disk. A
right token is never refused: 256 random bits are not found by trying, and a limit that refused right ones would let
anyone lock out all callers of the same address.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_network

from truerail.web.access.request import Address

MOST_PEERS = 4096
"""Most addresses counted; a new one replaces the one with the oldest failure."""
IN_TOTAL = 10
"""The limit for all addresses together, as a multiple of the limit of one."""
_MINUTE = 60.0


@dataclass(slots=True)
class _Bucket:
    """Fills by `size` a minute; each failure takes one out."""

    size: float
    left: float
    at: float

    def refill(self, now: float) -> None:
        self.left = min(self.size, self.left + (now - self.at) * self.size / _MINUTE)
        self.at = now

    @property
    def wait(self) -> float:
        """Seconds until one is available; 0 if one is."""
        return max(0.0, (1.0 - self.left) * _MINUTE / self.size)


class Failures:
    """The counts of one service."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._peers: OrderedDict[str, _Bucket] = OrderedDict()
        self._total = self._bucket(per_minute * IN_TOTAL)

    def limit(self, per_minute: int) -> None:
        """Sets the limit; an unchanged limit keeps the counts."""
        if per_minute == self._per_minute:
            return
        self._per_minute = per_minute
        self._peers.clear()
        self._total = self._bucket(per_minute * IN_TOTAL)

    def add(self, peer: Address | None) -> float:
        """Counts one failure. Returns the seconds to wait if that was too many, else 0."""
        buckets = (self._of(_neighbourhood(peer)), self._total)
        now = self._clock()
        for bucket in buckets:
            bucket.refill(now)
        wait = max(bucket.wait for bucket in buckets)
        if not wait:
            for bucket in buckets:
                bucket.left -= 1.0
        return wait

    def _of(self, peer: str) -> _Bucket:
        bucket = self._peers.get(peer)
        if bucket is None:
            bucket = self._peers[peer] = self._bucket(self._per_minute)
        self._peers.move_to_end(peer)
        if len(self._peers) > MOST_PEERS:
            self._peers.popitem(last=False)
        return bucket

    def _bucket(self, size: float) -> _Bucket:
        return _Bucket(size, size, self._clock())


def _neighbourhood(peer: Address | None) -> str:
    """An IPv4 address, or the /64 from which one IPv6 host can take all its addresses."""
    return str(ip_network((peer, 64), strict=False)) if isinstance(peer, IPv6Address) else str(peer)
