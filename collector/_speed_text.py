"""Ports and their speeds in prose: `show interface(s)` of Junos, EOS, NX-OS, AOS-CX and SR Linux, paragraphs of ports.

Junos: `Physical interface: et-0/0/0, Enabled, Physical link is Up`, below it `Link-level type: ..., Speed: 400Gbps,`.
EOS and NX-OS: `Ethernet1 is up, ...`, below it `Full-duplex, 10Gb/s, ...`; NX-OS gives a reason in brackets and the
admin state in the next line, `admin state is up, Dedicated Interface`. AOS-CX: `Interface 1/1/1 is up`, below it `Admin
state is up`, `State information: No XCVR installed`, `Speed 400000 Mb/s`. Nokia SR Linux: `ethernet-1/1 is up, speed
100G, type None` or `is down, reason port-admin-disabled`, subinterfaces indented below. Free text follows
`Description:` and is indented, so it begins no paragraph and is no such line. Sources: recorded answers in
ntc-templates and genieparser, Juniper's articles about its ACX series, Nokia's documentation.
"""

import re
from collections.abc import Sequence

from collector._counted import may_be_cut
from collector._port_words import PortState, of_word, of_words
from collector._speed_status import PortStatus, gbps, status

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


def statuses(answer: str, text: Sequence[str]) -> list[PortStatus]:
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
    junos = _JUNOS.match(line)
    if junos:
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
