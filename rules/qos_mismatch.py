"""A port treats lossless traffic differently from the other end of its cable, or from its peers.

## Why it matters
RoCE is lossless only where all ports on the path agree: which field carries a packet's priority (trust), which priority
is paused instead of dropped, where congestion is marked, and that global pause, which stops everything, is off. One
port that differs drops traffic of everything that passes it, or pauses the wrong class, and shows nothing while load is
low.

## How it is detected
Trust, PFC priorities, ECN priorities and global pause are compared between the two ends of each cable (as found over
LLDP, else as planned), and, with the watchdog, with what most ports of the same role have: more than half of at least
three that report it. A NIC may respond to congestion on more priorities than its switch marks. What is not reported is
not compared; a port whose other end is silent is compared with its peers only. A port with link that reports no setting
is counted as unknown. Where more than half of a device's ports differ alike, that is one finding, on the device. Where
the two ends differ, and each is like all others of its role, the finding is on the switch; where no majority shows
which end is right, the finding says so.

Where a NIC's settings were not read (`mlnx_qos`, `dcb`), its counters show them: mlx5 counts pauses only of priorities
that have PFC, and bytes of all eight. A NIC that counts bytes by priority and no pauses has PFC off. This needs the
counters of two rounds.

## What to do
Set the port as its peers are: `mlnx_qos -i <nic> --trust dscp --pfc 0,0,0,1,0,0,0,0` and `ethtool -A <nic> rx off tx
off` on hosts, the switch's PFC, trust and WRED settings there. Then look for drops and pauses (PFC004, PFC005).

## Decide
- `peers)`: this device differs from most of its peers. Set it as they are.
- `(the other end)`: the two ends differ, and no majority shows which is right. Compare with your QoS standard before
  changing either.
- `its settings were not read`: concluded from its counters. Confirm with `mlnx_qos -i NIC` on the host first.
- `watchdog disabled`: no PFC watchdog here; a storm at this port spreads. Switch it on in a quiet hour.

## False positives
Storage or management ports on the same switch that differ on purpose: mute them. A rollout of new settings in
progress: the majority changes sides half way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rules._counter_evidence import other_ends, rail_at, subject_of
from rules._qos import FIELDS, Settings, settings_of
from rules._uncounted import blind_ports
from truerail.analysis.cabling import ONE_END, Wiring, evidence_of
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, PortQos, Severity, Transport
from truerail.model.columns import Codes
from truerail.model.names import printable

LEAST_REPORTED = 3
"""Ports of which more than half must agree to be a majority, as for MTUs (LNK002)."""
EITHER_END = 0.7
"""Confidence where two ends differ and no peers show which of them is right."""
_SHOWN = 4
_BY_COUNTERS = ", as the pauses that it counts by priority show (its settings were not read)"


@dataclass(frozen=True, slots=True)
class _Odd:
    """One setting of a port that is not as it should be. `support` is how many of how many peers have `want`."""

    field: str
    has: Any
    want: Any
    support: tuple[int, int] | None
    """None where only the other end differs."""

    def summary(self) -> str:
        """Such as `PFC on 4 instead of 3 (95 of 96 peers)`."""
        whose = "the other end" if self.support is None else "{} of {} peers".format(*self.support)
        return f"{_word(self.field, self.has)} instead of {_word(self.field, self.want)} ({whose})"


@rule(
    "CFG001",
    severity=Severity.WARNING,
    needs=[],
    transports=[Transport.ROCE],
    cause=CauseKind.CONFIGURATION,
)
def qos_mismatch(round: Round) -> Iterator[Finding]:
    """Ports, and devices, whose lossless settings differ from the other end's or from most of their role."""
    wiring = round.cabling
    other = other_ends(wiring)
    other = np.where(other < wiring.index.planned_ports, other, -1)
    settings = settings_of(wiring, other, round.telemetry, least_reported=LEAST_REPORTED)
    if not _comparable(settings, other):
        raise InsufficientDataError("too few ports report their PFC, trust and ECN settings to compare them")
    faults = _faults(wiring, settings, other)
    device = wiring.index.ports.device_of(np.arange(len(other)))
    reported = np.bincount(device[(settings.row >= 0) | settings.counted], minlength=len(wiring.index.devices.names))
    alike: dict[tuple[int, tuple[str, ...]], list[int]] = {}
    for port, odd in faults.items():
        alike.setdefault((int(device[port]), tuple(one.field for one in odd)), []).append(port)
    for (code, _), ports in alike.items():
        if len(ports) > 1 and 2 * len(ports) > reported[code]:
            yield _finding(wiring, settings, wiring.index.devices.names[code], ports, faults[ports[0]])
        else:
            for port in ports:
                yield _finding(wiring, settings, str(wiring.index.spell(port)), [port], faults[port])

    reporting = (settings.row >= 0) | settings.counted
    report_not_evaluated(blind_ports(wiring, reporting, "report no PFC, trust and ECN settings"))


def _comparable(settings: Settings, other: Codes) -> bool:
    """Whether any port reported a setting that its other end, or enough of its peers, reported too."""
    for field in FIELDS:
        value = settings.value[field]
        if (settings.usual[field][value >= 0] >= 0).any() or ((value >= 0) & (other >= 0) & (value[other] >= 0)).any():
            return True
    return False


def _faults(wiring: Wiring, settings: Settings, other: Codes) -> Mapping[int, Sequence[_Odd]]:
    """By port, the settings that are not as they should be."""
    faults: dict[int, list[_Odd]] = {}
    for field in FIELDS:
        value, usual, words = settings.value[field], settings.usual[field], settings.words[field]
        odd = settings.odd(field)
        for port in np.flatnonzero(odd).tolist():
            most = settings.support[field][port]
            fault = _Odd(field, words[value[port]], words[usual[port]], (int(most[0]), int(most[1])))
            faults.setdefault(port, []).append(fault)
        link = settings.differ(wiring, other, field) & ~odd & ~odd[other] & (other[other] == np.arange(len(other)))
        for port in np.flatnonzero(link & (np.arange(len(other)) < other)).tolist():
            lower = subject_of(wiring.index, port, int(other[port]))
            upper = int(other[lower])
            chosen = upper if usual[port] >= 0 and usual[upper] >= 0 else lower
            fault = _Odd(field, words[value[chosen]], words[value[other[chosen]]], None)
            faults.setdefault(chosen, []).append(fault)
    return faults


def _finding(wiring: Wiring, settings: Settings, subject: str, ports: Sequence[int], odd: Sequence[_Odd]) -> Finding:
    unread = bool(settings.counted[ports].all())
    where = f"{len(ports)} ports of {subject} have" if len(ports) > 1 else f"{subject} has"
    unsure = all(one.support is None for one in odd)
    support = [one.support[0] / one.support[1] for one in odd if one.support is not None]
    return qos_mismatch.found(
        subject,
        summary=f"{where} {', '.join(one.summary() for one in odd)}{_BY_COUNTERS if unread else ''}",
        action="Find which end is right, and set the other one like it."
        if unsure
        else f"Set {subject} like its peers: {', '.join(_word(one.field, one.want) for one in odd)}.",
        expected=", ".join(_word(one.field, one.want) for one in odd),
        observed=", ".join(_word(one.field, one.has) for one in odd),
        rail=rail_at(wiring.index, ports[0]) if len(ports) == 1 else None,
        confidence=EITHER_END
        if unsure
        else round(min(ONE_END, *support), 2)
        if len(support) > 1
        else min(ONE_END, round(support[0], 2)),
        evidence=tuple(
            evidence_of(wiring.identity.seen, PortQos, int(settings.row[port]))
            for port in ports[:_SHOWN]
            if settings.row[port] >= 0
        ),
        detail=(("settings", tuple(one.field for one in odd)), ("ports", len(ports))),
    )


def _word(field: str, value: Any) -> str:
    """A setting in words."""
    if field in ("pfc_priorities", "ecn_priorities"):
        name = "PFC" if field == "pfc_priorities" else "ECN"
        return f"{name} on {'/'.join(map(str, value))}" if value else f"{name} off"
    if field == "global_pause":
        return f"global pause {'on' if value else 'off'}"
    return f"{field} {printable(str(value), 20)}"


_PLAN = "\n".join(f"gpu-{host}/nic{rail} leaf-{rail}/swp{host} rail={rail}" for host in (1, 2, 3, 4) for rail in (0, 1))


def _nics(**more: Any) -> list[PortQos]:
    return [PortQos(f"nic{rail}", "dscp", (3,), (3,), False)._replace(**more) for rail in (0, 1)]


_LEAF = [PortQos(f"swp{host}", "dscp", (3,), (3,), False, "drop") for host in (1, 2, 3, 4)]

FIRES = (
    Case(
        "One NIC pauses another priority than the others, and than its leaf.",
        _PLAN,
        {
            **{f"gpu-{host}": _nics() for host in (1, 2, 3)},
            "gpu-4": [PortQos("nic0", "dscp", (4,), (3,), False), *_nics()[1:]],
            "leaf-0": _LEAF,
        },
        ("gpu-4/nic0",),
    ),
    Case(
        "A host trusts PCP and pauses everything: one finding of the host.",
        _PLAN,
        {
            **{f"gpu-{host}": _nics() for host in (1, 2, 3)},
            "gpu-4": _nics(trust="pcp", pfc_priorities=(), global_pause=True),
        },
        ("gpu-4",),
    ),
    Case(
        "All NICs pause priority 3, all ports of the leaves priority 4: the leaves differ.",
        _PLAN,
        {
            **{f"gpu-{host}": _nics() for host in (1, 2, 3, 4)},
            **{
                f"leaf-{rail}": [PortQos(f"swp{host}", pfc_priorities=(4,)) for host in (1, 2, 3, 4)] for rail in (0, 1)
            },
        },
        ("leaf-0", "leaf-1"),
    ),
    Case(
        "Two ends differ, and there are no peers: one of them is wrong.",
        _PLAN,
        {"gpu-1": [PortQos("nic0", "dscp", (3,))], "leaf-0": [PortQos("swp1", "pcp", (3,))]},
        ("gpu-1/nic0",),
    ),
    Case(
        "No settings were read, and one host of four counts pauses of no priority: PFC is off there.",
        _PLAN,
        {},
        ("gpu-4",),
        rates={
            f"gpu-{host}/nic{rail}": {"rx_bytes:3": 1e9, **({"rx_pause_frames:3": 0.0} if host < 4 else {})}
            for host in (1, 2, 3, 4)
            for rail in (0, 1)
        },
    ),
    Case(
        "The watchdog is off on one port of four.",
        _PLAN,
        {"leaf-0": [*_LEAF[:3], _LEAF[3]._replace(watchdog="disabled")]},
        ("leaf-0/swp4",),
    ),
)

QUIET = (
    Case(
        "All agree; NICs answer congestion on all priorities, which does no harm.",
        _PLAN,
        {
            **{f"gpu-{host}": _nics(ecn_priorities=tuple(range(8))) for host in (1, 2, 3, 4)},
            **dict.fromkeys(("leaf-0", "leaf-1"), _LEAF),
        },
    ),
    Case(
        "One leaf of two reports no settings.",
        _PLAN,
        {**{f"gpu-{host}": _nics() for host in (1, 2, 3, 4)}, "leaf-0": _LEAF},
        unknown=True,
    ),
    Case(
        "Settings that were read stand; a driver that counts pauses of all priorities, or of none, shows nothing.",
        _PLAN,
        {"gpu-1": _nics(), "gpu-2": _nics(), "gpu-3": _nics()},
        unknown=True,
        rates={
            "gpu-4/nic0": {"rx_bytes:3": 1e9, **{f"rx_pause_frames:{priority}": 0.0 for priority in range(8)}},
            "gpu-4/nic1": {"rx_bytes": 1e9, "rx_pause_frames": 0.0},
            "gpu-1/nic0": {"rx_bytes:3": 1e9, "rx_pause_frames:4": 0.0},
        },
    ),
    Case(
        "Two NICs differ: neither is the majority, and no cable connects them.",
        _PLAN,
        {"gpu-1": _nics()[:1], "gpu-2": [PortQos("nic0", "pcp")], "leaf-0": [PortQos("swp1", "dscp")]},
        unknown=True,
    ),
)
