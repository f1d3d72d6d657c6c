"""Lossless settings of each network port of a host: PFC, trust, ECN, and global pause.

Question: which priorities are paused, which field gives a packet's priority, which priorities react to congestion?
Needs: MLNX_OFED's or mlnx-tools' `mlnx_qos`, else iproute2's `dcb`; `ethtool`; root for some drivers.

Formats, recognised by their shape within each port's answer: `mlnx_qos -i IF`; `dcb pfc show` and `dcb apptrust
show` as text and JSON; `ethtool -a`; `path:value` lines of `grep -H .` over `/sys/class/net/*/ecn/roce_{np,rp}/enable`.
Sources: mlnx-tools' `mlnx_qos`, iproute2 `dcb/dcb_pfc.c` and `dcb/dcb_apptrust.c`, ethtool `netlink/pause.c`, recorded
answers.

Traps:

- None of the tools but `ethtool -a` names its port: the command above the answer does. Two without one are refused.
- ECN is on for a priority if the NIC both notifies senders (`roce_np`) and reacts to notifications (`roce_rp`); if one
  of the two is not reported for every priority that the other is, ECN is not reported.
- `ethtool -a` shows the global pause of IEEE 802.3x, which stops all priorities at once. It is off where PFC is on.
- `mlnx_qos` prints the DSCPs of a priority in lines of eight, so that a priority may have two; some releases print none
  where trust is PCP. No map is not an empty one, and one without the PFC settings below it may be cut.
- `dcb apptrust` prints an order: the first entry decides. A driver without it, or without PFC, reports nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from collector.formats.text import asks, decode, lines, sections
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Command, Device, PortQos, Role, collector, minutes, saved_as

_LIVE = (
    "cd /sys/class/net; for n in */device; do n=${n%/*}; [ -e $n/device/physfn ] || { "
    'echo "# mlnx_qos -i $n"; mlnx_qos -i $n || { dcb -j pfc show dev $n; dcb -j apptrust show dev $n; }; '
    "grep -sH . $n/ecn/*/enable/*; ethtool -a $n; }; done; :"
)
_ASKED = asks("(?:mlnx_qos|dcb|ethtool|configuration)", "(?:-i|dev|-a|device)")
"""Also the title of each device in the answers of a script: `== show configuration for device eth0 / mlx5_0 ==`."""
_PRIORITIES = 8
_TRUST = re.compile(r"Priority trust state: (dscp|pcp)\b.*")
_PFC_ROW = re.compile(r"enabled:?\s+([01](?:\s+[01])*)")
_PFC_LIST = re.compile(r"(?:pfc-cap .{0,80} )?prio-pfc\b(.*)")
_ON_OFF = re.compile(r"[0-7]:(on|off)\b")
_ORDER = re.compile(r"order:\s+(dscp|pcp)\b.*")
_PAUSED = re.compile(r"Pause parameters for (\S+):")
_PAUSE = re.compile(r"(RX|TX):\s+(on|off)")
_DSCP = re.compile(r"prio:([0-7])\s+dscp:((?:[0-9]{2},)*)")
_ECN = re.compile(r"(?:.*/)?([^/\s]+)/ecn/roce_(np|rp)/enable/([0-7])(?::| = )([01])")


@dataclass(slots=True)
class _Reported:
    """The settings of one port as read up to here."""

    port: str
    trust: str | None = None
    pfc: tuple[int, ...] | None = None
    pause: dict[str, bool] = field(default_factory=dict)
    ecn: dict[str, dict[int, bool]] = field(default_factory=dict)
    dscp: dict[int, int] = field(default_factory=dict)

    def take_pfc(self, on: list[bool], number: int, line: str) -> None:
        """Takes PFC of all priorities. Raises `UnreadableError` if there are fewer, or no line names their port."""
        if len(on) != _PRIORITIES:
            raise UnreadableError("PFC of not all priorities: cut short", line=number, text=line)
        if self.pfc is not None and not self.port:
            raise UnreadableError("PFC twice: of several ports, which no line names", line=number, text=line)
        self.pfc = tuple(priority for priority, enabled in enumerate(on) if enabled)

    def fact(self) -> PortQos:
        """The fact; settings that were not reported are None."""
        paused = set(self.pause.values())
        pauses = True in paused if len(self.pause) == 2 or True in paused else None
        asks, does = self.ecn.get("np", {}), self.ecn.get("rp", {})
        known = asks and asks.keys() == does.keys()
        ecn = tuple(sorted(priority for priority in asks if asks[priority] and does[priority])) if known else None
        dscp = tuple(sorted(self.dscp.items())) if self.dscp and self.pfc is not None else None
        return PortQos(self.port, self.trust, self.pfc, ecn, pauses, dscp_to_priority=dscp)


ASK = (
    Command(_LIVE),
    *saved_as("mlnx_qos -i {port}", "dcb -j pfc show dev {port}", "dcb pfc show dev {port}", "ethtool -a {port}"),
)


@collector(on=[Role.HOST], ask=ASK, every=minutes(10), yields=[PortQos], optional=True)
def nic_qos(answer: str, device: Device) -> list[PortQos]:
    """One `PortQos` for each port with any setting, in the answer's order. Raises `UnreadableError`."""
    text = lines(answer)
    ports: dict[str, _Reported] = {}
    for section in sections(text, "", _ASKED):
        port = section.port
        for number, raw in enumerate(section.lines, section.line):
            line = raw.strip()
            named = _PAUSED.fullmatch(line) or _ECN.fullmatch(line)
            port = named[1] if named else port
            _take(ports.setdefault(port, _Reported(port)), line, number)
    found = [fact for port, reported in ports.items() if (fact := reported.fact()) != PortQos(port)]
    if not found:
        raise NoAnswerError("no port's PFC, trust, ECN or pause in it", line=1, text=text[0])
    return found


def _take(reported: _Reported, line: str, number: int) -> None:
    """Adds the setting of a line, if any."""
    if line.startswith("{"):
        _take_document(reported, line, number)
    elif found := _TRUST.fullmatch(line) or _ORDER.fullmatch(line):
        reported.trust = found[1]
    elif found := _DSCP.fullmatch(line):
        reported.dscp |= {int(dscp): int(found[1]) for dscp in found[2].split(",") if dscp}
    elif found := _PFC_ROW.fullmatch(line):
        reported.take_pfc([word == "1" for word in found[1].split()], number, line)
    elif found := _PFC_LIST.fullmatch(line):
        reported.take_pfc([word == "on" for word in _ON_OFF.findall(found[1])], number, line)
    elif found := _PAUSE.fullmatch(line):
        reported.pause[found[1]] = found[2] == "on"
    elif found := _ECN.fullmatch(line):
        reported.ecn.setdefault(found[2], {})[int(found[3])] = found[4] == "1"


def _take_document(reported: _Reported, line: str, number: int) -> None:
    """Adds the settings of `dcb -j`: one object in one line, of PFC or of trust."""
    document: Mapping[str, Any] = decode(line)
    if "prio_pfc" in document:
        reported.take_pfc([on in (True, "on") for on in document["prio_pfc"]], number, line)
    if document.get("order"):
        reported.trust = str(document["order"][0])
