"""States and speeds of a switch's ports in any form of answer, and the commands for them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.formats import port_paragraphs, port_tables
from collector.formats.counts import may_be_cut
from collector.formats.documents import data_of, document, listed
from collector.formats.port_words import PortState, PortStatus, gbps, of_word, of_words, status
from collector.formats.text import lines
from collector.nos import cumulus_forms, model_forms
from collector.nos.model_forms import PORT_REQUESTS
from truerail.errors import UnreadableError
from truerail.model import Command, commands, saved_as

# ----------------------------------------------------------------------------------------------------------------------
# Ports and their speeds in JSON: EOS, NX-OS, Junos, NVUE, and the data models.
#
# - EOS: `interfaceStatuses` of `show interfaces status`, `interfaces` of `show interfaces`. `bandwidth` is in b/s, 0
#   for a virtual port. Some releases store 32 bits of it (100 Gb/s became 1215752192): a value that is no whole number
#   of Mb/s is discarded. Sources: recorded answers in arista-netdevops-community's ANTA and on GitHub.
# - NX-OS: `TABLE_interface` of `show interface status`, whose `speed` has no unit below 10 Gb/s (`1000`), and of `show
#   interface`, whose `eth_bw` is the configured speed and is not read. `state_rsn_desc` is the reason that the text has
#   in brackets. Sources: napalm's recordings, answers of NX-API quoted in public clients.
# - Junos: `interface-information`; every value is a list of one object. Source: suzieq's recordings.
# - NVUE: ports with a `link`. Its `state` is an object (`{"up": {}}`) up to Cumulus Linux 5.10, later a word, beside
#   `oper-status` and `admin-status`. Source: NVUE's reference of `nv show interface`.

_BITS_IN_GIGABIT = 1e9
_MEGABIT = 1_000_000
_LONGEST = 20
"""More digits than any valid number has."""


def json_statuses(found: Any) -> list[PortStatus]:
    """The ports in a document, in its order. Raises `UnreadableError` if it is about something else."""
    if of_model := model_forms.statuses_from_model(found):
        return of_model
    if isinstance(found, dict):
        for key, read in _READERS.items():
            if key in found:
                return list(read(found[key]))
        if any(isinstance(reported, dict) and isinstance(reported.get("link"), dict) for reported in found.values()):
            return list(_nvue(found))
    raise UnreadableError("JSON that does not speak of ports and their links")


def _eos(ports: Mapping[str, Any]) -> Iterator[PortStatus]:
    for port, reported in ports.items():
        bits = _count(reported.get("bandwidth"))
        whole = bits > 0 and bits % _MEGABIT == 0
        word = reported.get("linkStatus", reported.get("interfaceStatus"))
        yield status(port, of_word(word, reported.get("interfaceType")), bits / _BITS_IN_GIGABIT if whole else None)


def _nxos(table: Any) -> Iterator[PortStatus]:
    for part in listed(table):
        for row in listed(part["ROW_interface"]):
            word, why = row.get("state"), row.get("state_rsn_desc")
            state = of_words(word, row.get("admin_state"), why) if word in ("up", "down") else of_word(word)
            yield status(row["interface"], state, gbps(row.get("eth_speed", row.get("speed"))))


def _junos(found: Any) -> Iterator[PortStatus]:
    for information in listed(found):
        for port in listed(information.get("physical-interface")):
            state = of_words(data_of(port.get("oper-status")), data_of(port.get("admin-status")))
            yield status(str(data_of(port["name"])).strip(), state, gbps(data_of(port.get("speed"))))


def _nvue(ports: Mapping[str, Any]) -> Iterator[PortStatus]:
    for port, reported in ports.items():
        at = reported.get("link") or {}
        state = at.get("oper-status", at.get("state"))
        word = next(iter(state), None) if isinstance(state, dict) else state
        state = of_words(word, at.get("admin-status"))
        yield status(port, state, gbps(at.get("speed")), _count(at.get("mtu")) or None)


def _count(value: Any) -> int:
    """A number, which some exports quote; 0 if there is none."""
    if type(value) is str and value.isascii() and value.isdecimal() and len(value) < _LONGEST:
        return int(value)
    return value if type(value) is int else 0


_READERS = {"interfaceStatuses": _eos, "interfaces": _eos, "TABLE_interface": _nxos, "interface-information": _junos}


"""Ports and their speeds in prose: `show interface(s)` of Junos, EOS, NX-OS, AOS-CX and SR Linux, paragraphs of ports.

Junos: `Physical interface: et-0/0/0, Enabled, Physical link is Up`, below it `Link-level type: ..., Speed: 400Gbps,`.
EOS and NX-OS: `Ethernet1 is up, ...`, below it `Full-duplex, 10Gb/s, ...`; NX-OS gives a reason in brackets and the
admin state in the next line, `admin state is up, Dedicated Interface`. AOS-CX: `Interface 1/1/1 is up`, below it `Admin
state is up`, `State information: No XCVR installed`, `Speed 400000 Mb/s`. Nokia SR Linux: `ethernet-1/1 is up, speed
100G, type None` or `is down, reason port-admin-disabled`, subinterfaces indented below. Free text follows
`Description:` and is indented, so it begins no paragraph and is no such line. Sources: recorded answers in
ntc-templates and genieparser, Juniper's articles about its ACX series, Nokia's documentation.
"""

_JUNOS = re.compile(
    r"[ \t]*Physical interface: ([\w/.:-]+)[ \t]*, (Enabled|Administratively down)[^,]{0,40}, "
    r"Physical link is (Up|Down)\b"
)
_CISCO = re.compile(r"(?:Interface |(?=[A-Za-z]))([A-Za-z0-9][\w/.:-]*) is (administratively down|up|down)\b(.{0,200})")
_REASON = re.compile(r".*?\((.+)\)|, reason ([\w-]+)")
_NOKIA = re.compile(r", speed (\d+[MGT])\b")
_ADMIN = re.compile(r"[ \t]*admin state is (up|down)\b", re.IGNORECASE)
_STATE = re.compile(r"[ \t]+State information: (.{1,200})")
_SPEED = re.compile(
    r"[ \t]+(?:(?:Type|Link-level type): .{0,200}?\bSpeed: |(?:full|half|auto)-duplex, |Speed )([^,]++)(,(?!\d)|(?!,))",
    re.IGNORECASE,
)


def text_statuses(answer: str, text: Sequence[str]) -> list[PortStatus]:
    """The ports in the lines of an answer, in its order; none if it is no such prose."""
    found: list[PortStatus] = []
    for at, line in enumerate(text, 1):
        begun = _begun(line)
        reported = _SPEED.match(line) if found and not begun else None
        admin = _ADMIN.match(line) if found and not begun else None
        if begun:
            found.append(begun)
        elif admin:
            found[-1] = _willed(found[-1], admin[1])
        elif found and (state := _STATE.match(line)) and found[-1].up is False and found[-1].enabled:
            found[-1] = found[-1]._replace(reason=of_word(state[1]).reason)
        elif reported and found[-1].gbps is None and (reported[2] or at < len(text) or not may_be_cut(answer, line)):
            found[-1] = found[-1]._replace(gbps=gbps(reported[1]))
    return found


def _begun(line: str) -> PortStatus | None:
    if junos := _JUNOS.match(line):
        return status(junos[1], of_words(junos[3], "up" if junos[2] == "Enabled" else "down"))
    cisco = _CISCO.match(line)
    if cisco is None:
        return None
    nokia = _NOKIA.match(cisco[3])
    return status(cisco[1], _cisco(cisco[2], cisco[3]), gbps(nokia[1]) if nokia else None)


def _cisco(word: str, rest: str) -> PortState:
    """The state from the first line of a port: `is down (Link not connected)`, `is down, line protocol is down
    (notconnect)`. A port that is down without being reported as disabled is enabled, unless its module is missing.
    """
    if "administratively" in f"{word}{rest}".lower():
        return of_words("down", "down")
    found = _REASON.match(rest)
    reason = found[1] or found[2] if found else None
    return of_words(word, None if of_word(reason).reason in ("no module", "switched off") else "up", reason)


def _willed(port: PortStatus, admin: str) -> PortStatus:
    """The port with the admin state of the line `admin state is down`."""
    if admin == "down" and not port.up:
        return port._replace(enabled=False, reason="switched off")
    return port._replace(enabled=admin == "up")


# ----------------------------------------------------------------------------------------------------------------------
# The commands for a switch's port states and speeds, and their parsers, chosen by the form of the answer.

ASK = (
    Command("show interfaces status | json", ("eos",)),
    Command("show interfaces status", ("eos", "sonic")),
    Command("show interface status | json", ("nxos",)),
    Command("show interfaces media | display json", ("junos",)),
    Command("info from state interface * | as json", ("srlinux",)),
    Command("show interfaces", ("junos", "iosxr")),
    Command("show interfaces brief", ("iosxr",)),
    Command("show interface physical", ("aoscx",)),
    Command("show interface", ("nxos", "aoscx", "os10", "sonic_cli")),
    Command("show interface status", ("os10", "sonic_cli")),
    *commands("comware vrp", "display interface", "display interface brief"),
    *PORT_REQUESTS,
    *saved_as("show interfaces | display xml", "show interfaces terse | display xml"),
    *saved_as("show interfaces extensive | display xml", "show interfaces | json", "show int status"),
    *saved_as(
        "show interface brief", "intfutil -c status", "show interface status | json-pretty", "show interface | json"
    ),
    *saved_as("show interfaces | display json", "show interfaces extensive | display json", "show interfaces media"),
    *saved_as("show interfaces extensive", "show interfaces terse", "nv show interface", "openconfig-interfaces"),
)
"""For each platform JSON first, the shortest output before the rest; OS10's has no administrative state and is last."""
_PARAGRAPHS = re.compile(
    r"^[ \t]*(?:LineSpeed \d|Current state: |(?:Full|Half)-duplex, \d+Mb/s, (?:THD, )?link type is )"
    r"|^ ?\S+ current state ?: ",
    re.MULTILINE | re.IGNORECASE,
)
"""Lines that only paragraphs of ports have."""


def answer_statuses(answer: str) -> list[PortStatus] | None:
    """The ports in a switch's answer; None if it is no such answer. Raises `UnreadableError`."""
    if (found := document(answer)) is not None:
        return json_statuses(found)
    text = lines(answer)
    if cumulus_forms.interface_is_table(text):
        return cumulus_forms.statuses_from_table(text)
    rows = port_tables.statuses(answer, text)
    if rows is not None:
        return rows
    return port_paragraphs.statuses(text) if _PARAGRAPHS.search(answer) else text_statuses(answer, text) or None
