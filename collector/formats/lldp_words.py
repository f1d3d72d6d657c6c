"""The words of LLDP, and what changes in each answer although no fact does."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from collector.formats.text import spelled
from truerail.errors import UnreadableError
from truerail.model import Neighbor

# ----------------------------------------------------------------------------------------------------------------------
# Normalizes the words of LLDP: what counts as not reported, types of identifiers, MACs, addresses and times.

_NOT_REPORTED = frozenset({"", "-", "--", "n/a", "null", "not advertised"})
_LONGEST_NOT_REPORTED = 14
_TYPES = spelled(
    {
        # lldpd's words -> IEEE 802.1AB subtypes as vendors spell them, letters only
        "agent-circuit-id": "agentcircuitid",
        "component": "chassiscomponent, component, portcomponent",
        "ifalias": "ifalias, interfacealias",
        "ifname": "ifname, interfacename",
        "ip": "ip, networkaddress",
        "local": "local, locallyassigned",
        "mac": "mac, macaddress",
    }
)
_NOT_LETTERS = re.compile(r"[^a-z]+")
_MAC_SHAPE = re.compile(
    r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}|[0-9a-fA-F]{4}([.-])[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}"
)
_ADDRESS = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F:.]*::[0-9a-fA-F:.]*|(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}"
)
_LONGEST_ADDRESS = 45  # characters of an IPv6 address that embeds an IPv4 one, RFC 4291 section 2.2
_SPAN = re.compile(r"(?:(\d{1,5}) days?, ?)?(\d{1,5}):(\d\d):(\d\d)")
_NUMBER = re.compile(r"\d{1,9}(?!\d)")


def advertised(value: Any) -> str | None:
    """The text of a value without surrounding blanks, or None for the many ways to print that nothing was advertised.

    Raises `UnreadableError` if the value is neither text nor a number.
    """
    if type(value) is not str:
        return _advertised_otherwise(value)
    text: str = value.strip()
    return None if len(text) <= _LONGEST_NOT_REPORTED and text.lower() in _NOT_REPORTED else text


def _advertised_otherwise(value: Any) -> str | None:
    if value is None:
        return None
    if type(value) in (int, float):
        return str(value)
    raise UnreadableError("neither text nor a number", text=str(value))


def local_port(value: Any) -> str:
    """A local port's name. Raises `UnreadableError` if it is missing: every neighbour is on a port."""
    port = advertised(value)
    if port is None:
        raise UnreadableError("a neighbour without a local port")
    return port


@lru_cache(maxsize=1024)
def id_type(words: str) -> str | None:
    """The type of a chassis or port id in lldpd's terms: `MAC address (4)`, `macAddress`, `Mac address` are `mac`."""
    return _TYPES.get(_NOT_LETTERS.sub("", words.lower()))


def mac_of(text: str) -> str | None:
    """A MAC in canonical form, also where a device drops leading zeros of a group: `00c.297b.d2a8`, `2:0:0:0:0:3`.

    Same result as `names.canonical_mac` at a fifth of its cost: a switch's answer has hundreds of MACs.
    """
    bare = text.replace(":", "") if ":" in text else text.replace(".", "").replace("-", "")
    try:
        octets = bytes.fromhex(bare if len(bare) == 12 else _padded(text))
    except ValueError:
        return None
    return octets.hex(":") if len(octets) == 6 else None


def _padded(text: str) -> str:
    for separator, width in ((".", 4), (":", 2)):
        groups = text.split(separator)
        if len(groups) * width == 12:
            return "".join(group.rjust(width, "0") for group in groups)
    return ""


def identified(value: Any, words: Any = None) -> tuple[str | None, str | None]:
    """An id and its type. Text spelled like a MAC is a MAC if the answer gives no type or calls it an ifname."""
    text = advertised(value)
    if text is None:
        return None, None
    kind = id_type(words) if words else None
    like_mac = kind == "mac" or (kind in (None, "ifname") and _MAC_SHAPE.fullmatch(text))
    if like_mac and (mac := mac_of(text)) is not None:
        return mac, "mac"
    return text, kind


def device(cell: Any) -> tuple[str | None, str | None, str | None]:
    """Chassis id, its type and system name from a column of names: that of a neighbour without a name has its id."""
    text, kind = identified(cell)
    return (text, kind, None) if kind else (None, None, text)


def addresses(*values: Any) -> tuple[str, ...]:
    """The IP addresses among `values`, each once, in order. MACs as management addresses are left out."""
    found: dict[str, None] = {}
    for value in values:
        text = advertised(value)
        if text and len(text) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(text):
            found[text] = None
    return tuple(found)


def seconds(value: Any) -> int | None:
    """Seconds from `120`, `120 seconds`, `0:01:11 ago` or `34 days, 19:40:42`; None where there is no such number."""
    if type(value) is int:
        return value
    text = advertised(value) or ""
    if span := _SPAN.match(text):
        days, hours, minutes, rest = (int(part or 0) for part in span.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + rest
    number = _NUMBER.match(text)
    return int(number.group()) if number else None


VALUES = ("chassis_id", "chassis_type", "name", "port_id", "port_type", "description", "ttl", "age")
"""What `neighbor` takes, in its order; a form has its own words for them."""


def neighbor(port: str, values: Iterable[Any], managed: Iterable[Any] = (), sent: str | None = None) -> Neighbor:
    """A neighbour from its values as printed, and its management addresses; `sent` is the local port's id."""
    chassis, chassis_type, name, far, far_type, description, ttl, age = values
    return Neighbor(
        port,
        *identified(chassis, chassis_type),
        advertised(name),
        *identified(far, far_type),
        advertised(description),
        seconds(ttl),
        seconds(age),
        addresses(*managed),
        local_port_id=sent,
    )


# ----------------------------------------------------------------------------------------------------------------------
# What changes in an LLDP neighbour's entry with each answer: its age, and the rest of its time to live.
#
# An age is a fact only where it says how long the neighbour has been there: of two neighbours on one port the younger
# one is the present one. So it is left out of a digest from ten minutes on. A neighbour that went and came back between
# two rounds, which are at most five minutes apart (`transport/kept_answers.py`), has a younger age, which is compared.
#
# Sources: lldpd's `src/client/display.c` (`0 day, 00:01:23`), answers of real daemons and switches. EOS'
# `lastContactTime`, `Time remaining` of NX-OS and IOS, and Junos' `lldp-age` are times since or until a frame.

_OLD_SPAN = rb"(?!0 days?, 00:0)\d+ days?, \d\d:\d\d:\d\d"
_OLD_SECONDS = rb"(?:[6-9]\d\d|\d{4,})"

LLDPD = {
    b'"age"': rb': ?"?(?:' + _OLD_SPAN + rb"|" + _OLD_SECONDS + rb'(?=[",\s}]))',
    b' age="': _OLD_SPAN + rb'(?=")',
    b".age=": _OLD_SPAN + rb"(?=\r?\n)",
    b", Time: ": _OLD_SPAN + rb"(?=\r?\n)",
}
"""lldpd's JSON, also NVUE's and OpenConfig's, its XML, its keyvalue and its plain form."""
OF_SWITCHES = {
    **LLDPD,
    b"Time:": rb"\s+" + _OLD_SPAN + rb"(?=\r?\n)",
    b'"lastContactTime"': rb": ?[\d.]+",
    b'"ttl"': rb': ?"?\d+"?(?=, ?"system_capability")',
    b"Time remaining: ": rb"\d+(?= seconds)",
    b"Information valid for next ": rb"\d+ seconds(?:\r?\nTime since last information change of this neighbor: "
    rb"[^\r\n]+)?(?=\r?\n)",
    b'"lldp-age"': rb'\s*:\s*\[\s*\{\s*"data"\s*:\s*"\d+"',
    b"<lldp-age>": rb"\d+",
}
"""The same, and NVUE's text, EOS' JSON, NX-OS' JSON, NX-OS and IOS, OS10, Junos' JSON and XML. EOS' text has two ages
for each neighbour, and is parsed each time: its JSON is asked for first.
"""
