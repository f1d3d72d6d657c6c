"""The interfaces of `ip link` and `ip addr`, text and JSON."""

import re
from collections.abc import Iterator
from typing import Any

from collector.formats.text import is_json, is_prompt, lines, list_in
from truerail.errors import NoAnswerError, UnreadableError

# ----------------------------------------------------------------------------------------------------------------------
# `ip link` and `ip addr` as text, in the shape of their JSON.
#
# Two or more lines for each interface, the first with its number and name; with `-o` one, with backslashes in between.
# Source: iproute2 `ip/ipaddress.c`, `print_linkinfo` and `print_addrinfo`. Traps:
#
# - `eth1.100@eth1` is on `eth1`, `veth0@if3` on an interface of another network namespace.
# - Names, of ALTNAME and alias too, are what users write: only the first word of a line says what it is.
# - Every interface has a line `link/`; where one is missing, the text was cut or filtered.

_INTERFACE = re.compile(r"\s*(\d+): ([^\s:@]+)(?:@([^\s:@]+))?: <([A-Z0-9,_-]*)> ?(.*)")
_OTHER_NAMESPACE = re.compile(r"if\d+|NONE")
_ADDRESS = re.compile(r"([0-9a-fA-F.:]+)(?: peer ([0-9a-fA-F.:]+))?(?:/(\d{1,3}))?(?: .*?)?\bscope (\S+).*")
_KINDS = frozenset(
    (
        *("bond", "bridge", "dummy", "gre", "ip6tnl", "ipip", "ipoib", "ipvlan", "macsec", "macvlan", "macvtap", "sit"),
        *("team", "tun", "veth", "vlan", "vrf", "vxlan", "xfrm"),
    )
)
"""Kinds whose line `-d` prints below the interface, and which are no ports."""


def from_text(answer: str) -> list[dict[str, Any]]:
    """The interfaces, loopback too, with the keys of the JSON. Raises `UnreadableError`."""
    text = lines(answer)
    if text[-1].strip() and not is_prompt(text[-1]):
        raise UnreadableError("cut short: its last line has no end", line=len(text), text=text[-1])
    found: list[tuple[int, dict[str, Any]]] = []
    for number, raw in enumerate(text, 1):
        for line in raw.split("\\"):
            if begun := _INTERFACE.fullmatch(line.rstrip()):
                found.append((number, _begun(begun)))
            elif found:
                _add(found[-1][1], line, number)
    for number, entry in found:
        if "link_type" not in entry:
            raise UnreadableError(f"interface {entry['ifname']} without its line link/: cut short", line=number)
    entries = [entry for _, entry in found]
    if any("addr_info" in entry for entry in entries):
        for entry in entries:
            entry.setdefault("addr_info", [])
    return entries


def _begun(found: re.Match[str]) -> dict[str, Any]:
    said = dict(_pairs(found[5]))
    entry: dict[str, Any] = {"ifname": found[2], "flags": found[4].split(","), "operstate": said.get("state")}
    if found[3] and not _OTHER_NAMESPACE.fullmatch(found[3]):
        entry["link"] = found[3]
    if said.get("mtu", "").isdecimal():
        entry["mtu"] = int(said["mtu"])
    return entry | {key: said[key] for key in ("master",) if key in said}


def _add(entry: dict[str, Any], line: str, number: int) -> None:
    """A line below an interface's first."""
    word, _, rest = line.strip().partition(" ")
    if word.startswith("link/"):
        said = dict(_pairs(rest.partition(" ")[2]))
        entry["link_type"] = word[len("link/") :]
        entry["address"] = rest.partition(" ")[0] or None
        entry |= {key: said[key] for key in ("permaddr", "parentbus", "parentdev") if key in said}
    elif word == "altname":
        entry.setdefault("altnames", []).append(rest.strip())
    elif word == "alias":
        entry["ifalias"] = rest.strip()
    elif word in ("inet", "inet6"):
        entry.setdefault("addr_info", []).append(_address(word, rest, line, number))
    elif word == "bond_slave":
        entry.setdefault("linkinfo", {})["info_slave_data"] = dict(_pairs(rest))
    elif word in _KINDS:
        entry.setdefault("linkinfo", {})["info_kind"] = word


def _address(family: str, text: str, line: str, number: int) -> dict[str, Any]:
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        raise UnreadableError("not an address, or cut short", line=number, text=line)
    length = int(found[3]) if found[3] else 32 if family == "inet" else 128
    return {"family": family, "local": found[1], "prefixlen": length, "scope": found[4]}


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Each word with the one behind it: keys and values, and words without a value between them."""
    words = text.split()
    yield from zip(words[-2::-1], words[:0:-1], strict=True)


# ----------------------------------------------------------------------------------------------------------------------
# The list of interfaces in the JSON of `ip -j link` and `ip -j addr`, or in the text of both.

_FOREIGN = frozenset({"port", "mac", "identifier"})
"""Keys beside `ifname` in lists of other things: `rdma -j`, `bridge -j fdb`, `ethtool --json -m`."""


def interfaces(answer: str) -> list[dict[str, Any]]:
    """The interfaces in the answer, without loopback.

    `ip -j` prints `{}` for an interface that its filter excludes; these are skipped. Raises `UnreadableError` if the
    answer is not a list of interfaces, or is one of several hosts.
    """
    is_text = not is_json(answer) and any(_INTERFACE.match(line) for line in lines(answer) if ": <" in line)
    document = from_text(answer) if is_text else list_in(answer, "interfaces")
    found = []
    addresses: dict[str, Any] = {}
    for entry in document:
        if type(entry) is not dict:
            raise UnreadableError("an interface is not an object", text=str(entry))
        if not entry:
            continue
        if type(entry.get("ifname")) is not str or not _FOREIGN.isdisjoint(entry):
            raise UnreadableError("an interface without `ifname`: not the answer of `ip -j link`")
        if addresses.setdefault(entry["ifname"], entry.get("address")) != entry.get("address"):
            raise UnreadableError(f"{entry['ifname']} with two MAC addresses: answers of several hosts")
        if entry.get("link_type") != "loopback":
            found.append(entry)
    if not addresses:
        raise NoAnswerError("no interface in it, not even loopback")
    return found
