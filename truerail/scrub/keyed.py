"""Keyed pseudonyms for numbers: under one key a number always maps to the same one, irreversible without the key.

MACs are permuted in blocks of 256, so that a device's consecutive MACs stay consecutive. Addresses keep what they have
in common: two that share a prefix of n bits share one of n bits afterwards, so subnets stay subnets (Xu, Fan, Ammar,
Moon: "Prefix-preserving IP address anonymization", 2002).
"""

from hashlib import blake2s
from ipaddress import IPv4Address, IPv6Address

_HALF = 19
_HALF_MASK = (1 << _HALF) - 1
_ROUNDS = 4


class Keyed:
    """The pseudonyms of one capture. `key` is up to 32 bytes, random for each capture and not stored."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._flips: dict[tuple[int, int], int] = {}

    def number(self, purpose: str, text: str) -> int:
        """A 64-bit pseudonym of a text."""
        return int.from_bytes(blake2s(f"{purpose}\0{text}".encode(), key=self._key, digest_size=8).digest(), "big")

    def mac(self, octets: bytes) -> bytes:
        """The pseudonym of a MAC, six octets. Group addresses, and zero, identify no device: they stay as they are."""
        if octets[0] & 1 or not any(octets):
            return octets
        value = int.from_bytes(octets, "big")
        low, flags, high = value & 0xFF, value >> 40 & 0b11, value >> 42
        block = self._permuted(high << 32 | value >> 8 & 0xFFFFFFFF)
        return ((block >> 32) << 42 | flags << 40 | (block & 0xFFFFFFFF) << 8 | low).to_bytes(6, "big")

    def _permuted(self, block: int) -> int:
        """A permutation of 38 bits: a Feistel network, so no two MACs fall together."""
        left, right = block >> _HALF, block & _HALF_MASK
        for turn in range(_ROUNDS):
            left, right = right, left ^ self.number(f"mac{turn}", str(right)) & _HALF_MASK
        return left << _HALF | right

    def address(self, address: IPv4Address | IPv6Address, bits: int | None = None) -> IPv4Address | IPv6Address:
        """The pseudonym of an address. Loopback, multicast and the unspecified address stay; of a link-local one the
        prefix stays. `bits` limits it to a network's prefix; the bits behind it are zero.
        """
        if address.is_loopback or address.is_multicast or address.is_unspecified or address == _BROADCAST:
            return address
        length = address.max_prefixlen
        upto = length if bits is None else bits
        kept = 0 if not address.is_link_local else 64 if length == 128 else 16
        value, made = int(address), 0
        for bit in range(upto):
            prefix = value >> (length - bit)
            own = value >> (length - 1 - bit) & 1
            made = made << 1 | (own if bit < kept else own ^ self._flip(length, bit, prefix))
        return type(address)(made << (length - upto))

    def _flip(self, length: int, bit: int, prefix: int) -> int:
        """Whether the bit behind this prefix is turned over. The topmost stay: no address becomes a multicast one."""
        if bit < (4 if length == 32 else 8):
            return 0
        known = self._flips.get((length << 8 | bit, prefix))
        if known is None:
            known = self._flips[length << 8 | bit, prefix] = self.number(f"ip{length}/{bit}", str(prefix)) & 1
        return known


_BROADCAST = IPv4Address("255.255.255.255")
