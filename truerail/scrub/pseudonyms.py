"""Pseudonyms for names and numbers."""

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2s
from ipaddress import IPv4Address, IPv6Address

from truerail.errors import ScrubError
from truerail.model import Role
from truerail.model.names import canonical_mac, device_key, short_name

# ----------------------------------------------------------------------------------------------------------------------
# Keyed pseudonyms for numbers: under one key a number always maps to the same one, irreversible without the key.
#
# MACs are permuted in blocks of 256, so that a device's consecutive MACs stay consecutive. Addresses keep what they
# have in common: two that share a prefix of n bits share one of n bits afterwards, so subnets stay subnets (Xu, Fan,
# Ammar, Moon: "Prefix-preserving IP address anonymization", 2002).

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


# ----------------------------------------------------------------------------------------------------------------------
# Pseudonyms for names: `host-0007` for a host, `leaf-02` for a leaf, `other-0003` for a device only named by others.
#
# A name counts by any spelling: in capitals, as FQDN, with something before or behind it as in `to-gpu-012-nic3`.

_TOKEN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_SEPARATOR = re.compile(r"([._-])")
_OTHER = "other"
_VOCABULARY = """
lldp lldpv2 interface interfaces chassis port name names id type value values mgmt management bridge router station link
state active down up physical netdev neighbor neighbors local remote system description ttl age via rid capability
enabled string integer hex ifname mac descr auto role host leaf spine switch gpu nic linux ethernet mtu flags address
operstate unknown broadcast multicast true false null none device collectors commands
"""
_WORDS = frozenset(_VOCABULARY.split())
"""Words of the answers' own formats: a name like these cannot be distinguished from them."""


class Names:
    """The names of one capture. `planned` maps those of the inventory and the plan to roles, `heard` are all others."""

    def __init__(self, keyed: Keyed, planned: Mapping[str, Role | None], heard: Iterable[str]) -> None:
        self._of: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self._domains: dict[str, str] = {}
        for name in planned:
            if fault := _fault(device_key(name)):
                raise ScrubError(f"device {name!r} {fault}: its name cannot be replaced safely")
        shorts = {_stem(name): str(role or "device") for name, role in planned.items()}
        others = {_stem(name): _OTHER for name in heard if not _fault(_stem(name)) and _telling(_stem(name))}
        words = {**others, **shorts}
        by_word: dict[str, int] = {}
        width = max(4, len(str(len(words))))
        for stem in sorted(words, key=lambda one: keyed.number("name", one)):
            word = words[stem]
            by_word[word] = by_word.get(word, 0) + 1
            self._of[stem] = f"{word}-{by_word[word]:0{width}}"
        for name in (*planned, *heard):
            self._add_domain(device_key(name))
        self._odd = self._pattern(stem for stem in self._of if not _TOKEN.fullmatch(stem))

    def _add_domain(self, key: str) -> None:
        stem = short_name(key)
        domain = key[len(stem) + 1 :]
        if domain and stem in self._of:
            if domain not in self._domains:
                self._domains[domain] = f"d{len(self._domains) + 1}.invalid"
            self._of[key] = f"{self._of[stem]}.{self._domains[domain]}"
            self._of.setdefault(domain, self._domains[domain])

    def _pattern(self, odd: Iterable[str]) -> "re.Pattern[str] | None":
        """Matches names that are no single word, such as `leaf 1`; the longest first."""
        found = sorted(odd, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, found)), re.IGNORECASE) if found else None

    def name(self, name: str) -> str:
        """The pseudonym of a whole name, else the text with all names in it replaced."""
        return self._of.get(device_key(name)) or self.text(name)

    def text(self, text: str) -> str:
        """A text with all names in it replaced."""
        if self._odd:
            text = self._odd.sub(lambda found: self._of[found.group().lower()], text)
        return _TOKEN.sub(lambda found: self._token(found.group()), text)

    def _token(self, token: str) -> str:
        known = self._seen.get(token)
        if known is None:
            known = self._seen[token] = self._in_case(token)
        return known

    def _in_case(self, token: str) -> str:
        low = token.lower()
        made = self._of.get(low) or self._parts(low)
        if made is None:
            return token
        return made.upper() if token.isupper() else made

    def _parts(self, token: str) -> str | None:
        """The token with the names among its parts replaced, the longest first; None where there are none."""
        parts, made, at = _SEPARATOR.split(token), "", 0
        if len(parts) == 1:
            return None
        while at < len(parts):
            for end in range(len(parts), at, -2):
                stand_in = self._of.get("".join(parts[at:end]))
                if stand_in:
                    break
            else:
                stand_in, end = parts[at], at + 1
            made += stand_in + "".join(parts[end : end + 1])
            at = end + 1
        return made if made != token else None


def _stem(name: str) -> str:
    return short_name(device_key(name))


def _fault(key: str) -> str:
    """Why a name cannot be replaced in a text; empty where it can."""
    if key in _WORDS:
        return "is called like a word of the answers"
    return "is called by a number or a single letter" if len(key) < 2 or key.isdigit() else ""


def _telling(stem: str) -> bool:
    """Whether a text known only from neighbours is a name: neither a MAC nor a plain word, which may be anything."""
    return canonical_mac(stem) is None and not stem.isalpha() and not stem.replace(".", "").replace(":", "").isdigit()
