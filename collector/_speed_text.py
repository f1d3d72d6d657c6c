"""Ports and their speeds in prose: `show interface(s)` of Junos, EOS and NX-OS, a paragraph for each port.

Junos: `Physical interface: et-0/0/0, Enabled, Physical link is Up`, below it `Link-level type: ..., Speed: 400Gbps,`.
EOS and NX-OS: `Ethernet1 is up, ...`, below it `Full-duplex, 10Gb/s, ...`. What people write follows `Description:` and
is indented, so it begins no paragraph and is no such line. Sources: recorded answers in ntc-templates and genieparser,
Juniper's articles about its ACX series.
"""

import re
from collections.abc import Sequence

from collector._counted import may_be_cut
from collector._speed_status import PortStatus, gbps, link

_JUNOS = re.compile(
    r"[ \t]*Physical interface: ([\w/.:-]+)[ \t]*, (Enabled|Administratively down)[^,]{0,40}, "
    r"Physical link is (Up|Down)\b"
)
_CISCO = re.compile(r"([A-Za-z][\w/.:-]*) is (administratively down|up|down)\b(.{0,200})")
_SPEED = re.compile(
    r"[ \t]+(?:(?:Type|Link-level type): .{0,200}?\bSpeed: |(?:full|half|auto)-duplex, )([^,]+)(,?)", re.IGNORECASE
)


def statuses(answer: str, text: Sequence[str]) -> list[PortStatus]:
    """The ports in the lines of an answer, in its order; none where it is no such prose."""
    found: list[PortStatus] = []
    for at, line in enumerate(text, 1):
        begun = _begun(line)
        told = _SPEED.match(line) if found and not begun else None
        if begun:
            found.append(begun)
        elif told and found[-1].gbps is None and (told[2] or at < len(text) or not may_be_cut(answer, line)):
            found[-1] = found[-1]._replace(gbps=gbps(told[1]))
    return found


def _begun(line: str) -> PortStatus | None:
    junos = _JUNOS.match(line)
    if junos:
        return PortStatus(junos[1], *link(junos[3], "up" if junos[2] == "Enabled" else "down"))
    cisco = _CISCO.match(line)
    if cisco:
        off = "administratively" in f"{cisco[2]}{cisco[3]}".lower()
        return PortStatus(cisco[1], *link("down" if off else cisco[2], "down" if off else "up"))
    return None
