"""Which poller polls a device: rendezvous hashing. Each poller computes it alone, from the names of those that run.

A poller that ends moves its own devices and no others; one that begins takes its share from all.
Source: D. Thaler, C. Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM ToN 6(1), 1998.
"""

from collections.abc import Iterable
from hashlib import blake2b

from truerail.model.names import device_key

TOKEN_BYTES = 8


def token(device: str) -> str:
    """A device's name as a part of a subject: 16 hexadecimal digits. Names have dots, which divide subjects."""
    return blake2b(device_key(device).encode(), digest_size=TOKEN_BYTES).hexdigest()


def owner(device: str, pollers: Iterable[str]) -> str:
    """The poller of a device; empty if there is none. Any order of `pollers` gives the same one."""
    key = device_key(device).encode()
    return max(pollers, key=lambda name: (_weight(name, key), name), default="")


def _weight(poller: str, key: bytes) -> bytes:
    return blake2b(key, digest_size=TOKEN_BYTES, key=blake2b(poller.encode(), digest_size=32).digest()).digest()
