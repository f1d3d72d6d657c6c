"""Answers with all identifying values replaced: names, addresses, MACs, GUIDs, serials, in any format."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from truerail.scrub.keyed import Keyed
from truerail.scrub.pseudonyms import Names

_HEX = "[0-9A-Fa-f]"
# What stands before is looked at behind the first character: `re` finds those that begin with one twice as fast.
_MAC = re.compile(rf"{_HEX}(?<![\w:.-].){_HEX}([:-])(?:{_HEX}{{2}}\1){{4}}{_HEX}{{2}}(?![:-]?{_HEX})")
_CISCO = re.compile(rf"{_HEX}(?<![\w:.-].){_HEX}{{3}}\.{_HEX}{{4}}\.{_HEX}{{4}}(?![\w.])")
_BARE = re.compile(rf"(?<![\w.-])(0x)?({_HEX}{{12}})(?![\w-])")
_GUID = re.compile(
    rf"{_HEX}(?<![\w:.-].)(?:(?<=0)x{_HEX}{{16}}|{_HEX}{{3}}(?::{_HEX}{{4}}){{3}}|{_HEX}(?::{_HEX}{{2}}){{7}})(?![\w:])"
)
_INFINIBAND = re.compile(rf"(?<![\w:.-])((?:{_HEX}{{2}}:){{12}})((?:{_HEX}{{2}}:){{7}}{_HEX}{{2}})(?![\w:])")
_FABRIC = re.compile(rf"(?<![\w.-])([SHR]-|0x(?!{_HEX}{{16}})|)({_HEX}{{13,16}})(?![\w:-])")
"""GUIDs as InfiniBand's tools print them: `S-0008f10400410015`, `0x8f10400410015`, `(8f10400410015)`, all one."""
_UUID = re.compile(rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}")
_IPV4 = re.compile(r"\d(?<![\w.].)\d{0,2}\.(?:\d{1,3}\.){2}\d{1,3}(?!\.?\w)")
_IPV6 = re.compile(rf"(?<![\w:.]){_HEX}{{0,4}}(?::{_HEX}{{0,4}}){{2,7}}(?![\w:])")
_SERIALS = (
    re.compile(r'("[^"]*(?:serial|uuid|asset)[^"]*"\s*:\s*")([^"]+)(?=")', re.IGNORECASE),
    re.compile(r"((?:serial(?:[ _-]?(?:number|num|no))?|asset(?:[ _-]?id)?)\s*[:=]\s*)(\S+)", re.IGNORECASE),
    re.compile(r"((?<=[\w.-])\()([A-Z]{3}\d{4}[A-Z0-9]{4})(?=\))"),
)
_DIGITS = re.compile(rf"{_HEX}")


class Text:
    """Replaces identifying values in one text after the other, always in the same way."""

    def __init__(self, keyed: Keyed, names: Names) -> None:
        self._keyed = keyed
        self.names = names

    def __call__(self, text: str) -> str:
        """The text without identifying values. Its format stays: every replacement has the shape of the original."""
        for pattern in _SERIALS:
            text = pattern.sub(lambda m: m.group(1) + self._serial(m.group(2)), text)
        text = _UUID.sub(lambda m: self._digits("uuid", m.group()), text)
        text = _INFINIBAND.sub(lambda m: m.group(1) + self._digits("guid", m.group(2)), text)
        text = _GUID.sub(lambda m: self._digits("guid", m.group()), text)
        text = _FABRIC.sub(self._fabric_guid, text)
        text = _MAC.sub(lambda m: self.mac(m.group()), text)
        text = _CISCO.sub(lambda m: self.mac(m.group()), text)
        text = _BARE.sub(self._bare, text)
        text = _IPV4.sub(lambda m: self.address(m.group()), text)
        text = _IPV6.sub(lambda m: self.address(m.group()), text)
        return self.names.text(text)

    def mac(self, text: str) -> str:
        """A MAC in the spelling in which it came."""
        made = self._keyed.mac(bytes.fromhex("".join(_DIGITS.findall(text)))).hex()
        return _poured(made, text)

    def address(self, text: str, bits: int | None = None) -> str:
        """An IPv4 or IPv6 address; a text that is none stays."""
        try:
            found: IPv4Address | IPv6Address = IPv6Address(text) if ":" in text else IPv4Address(text)
        except AddressValueError:
            return text
        return str(self._keyed.address(found, bits))

    def _bare(self, found: "re.Match[str]") -> str:
        """Twelve hex digits in a row are a MAC, but twelve decimal digits may well be a counter."""
        digits = found.group(2)
        return found.group() if digits.isdigit() and not found.group(1) else (found.group(1) or "") + self.mac(digits)

    def _fabric_guid(self, found: "re.Match[str]") -> str:
        """A GUID, zeros before it or not. Decimal digits without a mark before them may well be a counter."""
        mark, digits = found.groups()
        return found.group() if digits.isdigit() and not mark else mark + self._digits("guid", digits.zfill(16))

    def _serial(self, text: str) -> str:
        return f"SN{self._keyed.number('serial', text.strip()) % 10**10:010}"

    def _digits(self, purpose: str, text: str) -> str:
        """Another number of the same shape, for what is a number by convention only."""
        head = "0x" if text.startswith("0x") else ""
        bare = "".join(_DIGITS.findall(text[len(head) :])).lower()
        if not bare.strip("0"):
            return text
        made = f"{self._keyed.number(purpose, bare):016x}{self._keyed.number(purpose + '2', bare):016x}"
        return head + _poured(made[: len(bare)], text[len(head) :])


def _poured(digits: str, shape: str) -> str:
    """Hex digits in the places of those of `shape`, in capitals where it has some."""
    coming = iter(digits.upper() if shape.upper() == shape and shape.lower() != shape else digits)
    return _DIGITS.sub(lambda _: next(coming), shape)
