"""Pseudonyms for names: `host-0007` for a host, `leaf-02` for a leaf, `other-0003` for a device only named by others.

A name counts by any spelling: in capitals, as FQDN, with something before or behind it as in `to-gpu-012-nic3`.
"""

import re
from collections.abc import Iterable, Mapping

from truerail.errors import ScrubError
from truerail.model import Role
from truerail.model.names import canonical_mac, device_key, short_name
from truerail.scrub.keyed import Keyed

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
    if len(key) < 2 or key.isdigit():
        return "is called by a number or a single letter"
    return ""


def _telling(stem: str) -> bool:
    """Whether a text known only from neighbours is a name: neither a MAC nor a plain word, which may be anything."""
    return canonical_mac(stem) is None and not stem.isalpha() and not stem.replace(".", "").replace(":", "").isdigit()
