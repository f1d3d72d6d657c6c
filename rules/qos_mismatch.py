"""A port treats lossless traffic differently from what the plan declares, from its other end, or from its peers.

## Why it matters
RoCE is lossless only where all ports on the path agree: which field carries a packet's priority (trust), which priority
is paused instead of dropped, where congestion is marked, and that global pause, which stops everything, is off. One
port that differs drops traffic of everything that passes it, or pauses the wrong class, and shows nothing while load is
low.

## How it is detected
Where the plan declares the QoS (`qos:` in docs/plan.md), each declared setting is compared with it: a fabric that is
wrong everywhere alike does not pass. Where more than half of all NICs, or of all switch ports of a tier, deviate alike,
that is one finding, on the first device. A declared setting that a port does not report is unknown there. SONiC reports
ECN thresholds and headroom; headroom that a switch computes itself is not in its configuration and stays unknown.

What is not declared is compared between ports. Trust, PFC priorities, ECN priorities and global pause are compared
between the two ends of each cable (as found over LLDP, else as planned), and, with the watchdog, with what most ports
of the same role have: more than half of at least three that report it. A NIC may respond to congestion on more
priorities than its switch marks. What is not reported is not compared; a port whose other end is silent is compared
with its peers only. A port with link that reports no setting is counted as unknown. Where more than half of a device's
ports differ alike, that is one finding, on the device. Where the two ends differ, and each is like all others of its
role, the finding is on the switch; where no majority shows which end is right, the finding says so.

Where a NIC's settings were not read (`mlnx_qos`, `dcb`), its counters show them: mlx5 counts pauses only of priorities
that have PFC, and bytes of all eight. A NIC that counts bytes by priority and no pauses has PFC off. This needs the
counters of two rounds.

## What to do
Set the port as its peers are: `mlnx_qos -i <nic> --trust dscp --pfc 0,0,0,1,0,0,0,0` and `ethtool -A <nic> rx off tx
off` on hosts, the switch's PFC, trust and WRED settings there. Then look for drops and pauses (PFC004, PFC005).

## Decide
- `(the plan)`: the plan declares another setting. Set the ports so, or correct `qos` in the plan.
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
from typing import Any

import numpy as np

from rules import _qos
from rules._examples import alike, finds_nic, railed, undecided
from rules._links import blind_ports, other_ends, rail_at
from truerail.analysis.cabling import Wiring, evidence_of
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Evidence, Finding, NetLink, PortQos, QosBuffer, QosProfile, Severity
from truerail.model.columns import Codes, distinct, grouped
from truerail.model.plan import Role, Transport

LEAST_REPORTED = 3
"""Ports of which more than half must agree to be a majority, as for MTUs (LNK002)."""
EITHER_END = 0.7
"""Confidence where two ends differ and no peers show which of them is right."""
_SHOWN = 4
_BY_COUNTERS = ", as the pauses that it counts by priority show (its settings were not read)"


@rule("CFG001", Severity.WARNING, [], transports=[Transport.ROCE], cause=CauseKind.CONFIGURATION)
def qos_mismatch(round: Round) -> Findings:
    """Ports, and devices, whose lossless settings differ from the plan, from the other end's or from most of their
    role.
    """
    wiring = round.cabling
    other = other_ends(wiring)
    other = np.where(other < wiring.index.planned_ports, other, -1)
    settings = _qos.settings_of(wiring, other, round.telemetry, least_reported=LEAST_REPORTED)
    intent = _qos.intent_of(wiring, settings, round.plan.qos)
    if not _comparable(settings, intent, other):
        raise InsufficientDataError("too few ports report their PFC, trust and ECN settings to compare them")
    faults = _qos.faults_of(wiring, settings, intent, other, round.plan.qos)
    yield from _everywhere(wiring, settings, intent, faults)
    device = wiring.index.ports.device_of(np.arange(len(other)))
    reported = np.bincount(device[settings.reported], minlength=len(wiring.index.devices.names))
    alike = grouped(((int(device[port]), tuple(one.field for one in odd)), port) for port, odd in faults.items())
    for (code, _), ports in alike.items():
        if len(ports) > 1 and 2 * len(ports) > reported[code]:
            yield _finding(wiring, settings, wiring.index.devices.names[code], ports, faults[ports[0]])
        else:
            for port in ports:
                yield _finding(wiring, settings, str(wiring.index.spell(port)), [port], faults[port])

    parts = [*blind_ports(wiring, settings.reported, "report no PFC, trust and ECN settings")]
    for words, missing in _qos.unreported(settings, intent):
        parts += blind_ports(wiring, ~missing, f"report no {', '.join(words)}, which the plan declares")
    report_not_evaluated(parts)


def _comparable(settings: _qos.Settings, intent: _qos.Intent, other: Codes) -> bool:
    """Whether any port reported a setting that the plan declares, or that its other end, or enough of its peers,
    reported too.
    """
    for field in _qos.COMPARED:
        value = settings.value[field]
        if (intent.declared[field] & (value >= 0)).any():
            return True
    for field in _qos.FIELDS:
        value = settings.value[field]
        if (settings.usual[field][value >= 0] >= 0).any() or ((value >= 0) & (other >= 0) & (value[other] >= 0)).any():
            return True
    return False


def _everywhere(
    wiring: Wiring, settings: _qos.Settings, intent: _qos.Intent, faults: dict[int, list[_qos.Odd]]
) -> Findings:
    """One finding for what most ports of a tier have unlike the plan, on its first device; its ports leave `faults`."""
    index = wiring.index
    ports = np.arange(index.planned_ports)
    device = index.ports.device_of(ports)
    tier = np.array([*index.devices.tier, -1])[device]
    read = np.bincount(tier[(intent.group >= 0) & settings.reported], minlength=int(tier.max(initial=0)) + 1)
    alike: dict[tuple[int, tuple[_qos.Odd, ...]], list[int]] = {}
    for port, odd in faults.items():
        planned = tuple(one for one in odd if one.source == _qos.PLANNED)
        if len(planned) == len(odd):
            alike.setdefault((int(tier[port]), planned), []).append(port)
    for (of, shared), members in alike.items():
        if len(distinct(device[members])) > 1 and 2 * len(members) > read[of]:
            yield _finding(wiring, settings, index.devices.names[int(device[members].min())], members, shared)
            for port in members:
                del faults[port]


def _finding(
    wiring: Wiring, settings: _qos.Settings, subject: str, ports: Sequence[int], odd: Sequence[_qos.Odd]
) -> Finding:
    unread = bool(settings.counted[ports].all())
    others = {wiring.index.spell(port).device for port in ports} - {subject}
    further = f" and {len(others)} other device{'s' * (len(others) > 1)}" if len(ports) > 1 and others else ""
    where = f"{len(ports)} ports of {subject}{further} have" if len(ports) > 1 else f"{subject} has"
    known = [one for one in odd if one.source != _qos.OTHER_END]
    return qos_mismatch.found(
        subject,
        summary=f"{where} {', '.join(one.summary() for one in odd)}{_BY_COUNTERS if unread else ''}",
        action=_action(subject + further, known),
        expected=", ".join(_qos.setting_word(one.field, one.want) for one in odd),
        observed=", ".join(_qos.setting_word(one.field, one.has) for one in odd),
        rail=rail_at(wiring.index, ports[0]) if len(ports) == 1 else None,
        confidence=min((one.sure for one in known), default=EITHER_END),
        evidence=tuple(_evidence(wiring, settings, ports[:_SHOWN], odd)),
        detail=(
            ("settings", tuple(one.field for one in odd)),
            ("ports", len(ports)),
            ("differing_ports", tuple(str(wiring.index.spell(port)) for port in ports)),
            ("actual", {one.field: one.has for one in odd}),
            ("wanted", {one.field: one.want for one in known}),
        ),
    )


def _action(subject: str, known: Sequence[_qos.Odd]) -> str:
    if not known:
        return "Find which end is right, and set the other one like it."
    like = "as the plan declares" if all(one.source == _qos.PLANNED for one in known) else "like its peers"
    return f"Set {subject} {like}: {', '.join(_qos.setting_word(one.field, one.want) for one in known)}."


def _evidence(
    wiring: Wiring, settings: _qos.Settings, ports: Sequence[int], odd: Sequence[_qos.Odd]
) -> Iterator[Evidence]:
    """The facts of the settings, each once."""
    kinds: Mapping[str, type[Any]] = {one.field: NetLink if one.field == "mtu" else PortQos for one in odd}
    rows = dict.fromkeys((kinds[one.field], int(settings.row[one.field][port])) for port in ports for one in odd)
    for kind, row in rows:
        if row >= 0:
            yield evidence_of(wiring.seen, kind, row)


PLAN = railed(4, rails=2)


def _nics(**more: Any) -> list[PortQos]:
    return [PortQos(f"nic{rail}", "dscp", (3,), (3,), False)._replace(**more) for rail in (0, 1)]


_LEAF = [PortQos(f"swp{host}", "dscp", (3,), (3,), False, "drop") for host in (1, 2, 3, 4)]

_ON_FOUR = [PortQos(f"swp{host}", pfc_priorities=(4,)) for host in (1, 2, 3, 4)]
_ONE_CABLE = "gpu-1/nic0 leaf-0/swp1 rail=0"
_THREE, _HOSTS, _LEAVES = "gpu-1 gpu-2 gpu-3", "gpu-1 gpu-2 gpu-3 gpu-4", "leaf-0 leaf-1"
_PROFILE = QosProfile(
    "dscp", (3,), (3,), False, "drop", ((26, 3),), 9000, (QosBuffer(None, 150000, 1500000, 0.05, 90000),)
)
_AS_DECLARED = PortQos("swp1", "dscp", (3,), (3,), False, "drop", ((26, 3),), 150000, 1500000, 0.05, 99328)
_UNLIKE = _AS_DECLARED._replace(dscp_to_priority=((26, 4),), ecn_min_bytes=1000, headroom_bytes=1000)
_ANSWERS_MORE = PortQos("nic0", "dscp", (3,), (3, 4), False, None, ((26, 3), (48, 6)))

EXAMPLES = {
    "One NIC pauses another priority than the others, and than its leaf.": Case(
        alike(_THREE, _nics()) | {"gpu-4": [PortQos("nic0", "dscp", (4,), (3,), False), *_nics()[1:]], "leaf-0": _LEAF},
        "gpu-4/nic0",
    ),
    "A host trusts PCP and pauses everything: one finding of the host.": Case(
        alike(_THREE, _nics()) | {"gpu-4": _nics(trust="pcp", pfc_priorities=(), global_pause=True)}, "gpu-4"
    ),
    "All NICs pause priority 3, all ports of the leaves priority 4: the leaves differ.": Case(
        alike(_HOSTS, _nics()) | alike(_LEAVES, _ON_FOUR), "leaf-0 leaf-1"
    ),
    "Two ends differ, and there are no peers: one of them is wrong.": finds_nic(
        {"gpu-1": [PortQos("nic0", "dscp", (3,))], "leaf-0": [PortQos("swp1", "pcp", (3,))]}
    ),
    "No settings were read, and one host of four counts pauses of no priority: PFC is off there.": Case(
        finds="gpu-4",
        rates={
            f"gpu-{host}/nic{rail}": {"rx_bytes:3": 1e9, **({"rx_pause_frames:3": 0.0} if host < 4 else {})}
            for host in (1, 2, 3, 4)
            for rail in (0, 1)
        },
    ),
    "The watchdog is off on one port of four.": Case(
        {"leaf-0": [*_LEAF[:3], _LEAF[3]._replace(watchdog="disabled")]}, "leaf-0/swp4"
    ),
    "All NICs and all leaves pause priority 4, the plan declares 3: one finding for each tier.": Case(
        alike(_HOSTS, _nics(pfc_priorities=(4,))) | alike(_LEAVES, _ON_FOUR),
        "gpu-1 leaf-0",
        qos=QosProfile(pfc_priorities=(3,)),
    ),
    "A switch gives DSCP 26 another priority than the plan, and marks and buffers less.": Case(
        {"leaf-0": [_UNLIKE, NetLink("swp1", mtu=1500)]}, "leaf-0/swp1", qos=_PROFILE
    ),
    "The majority is wrong: three NICs trust PCP, the plan and the fourth say DSCP.": Case(
        alike(_THREE, _nics(trust="pcp")[:1]) | {"gpu-4": _nics()[:1]}, "gpu-1", qos=QosProfile(trust="dscp")
    ),
    # Quiet:
    "All is as the plan declares; a NIC responds to congestion on more priorities, a switch takes larger frames.": Case(
        {"gpu-1": [_ANSWERS_MORE, NetLink("nic0", mtu=9000)], "leaf-0": [_AS_DECLARED, NetLink("swp1", mtu=9216)]},
        plan=_ONE_CABLE,
        qos=_PROFILE,
    ),
    "The plan declares a DSCP map, which no switch reports: unknown there.": undecided(
        {"gpu-1": [PortQos("nic0", dscp_to_priority=((26, 3),))], "leaf-0": [PortQos("swp1", "dscp")]},
        plan=_ONE_CABLE,
        qos=QosProfile(dscp_to_priority=((26, 3),)),
    ),
    "The profile is that of spines.": Case(
        {
            "gpu-1": [PortQos("nic0", "pcp"), PortQos("eno1", "pcp")],
            "leaf-0": [PortQos("swp1", "pcp"), PortQos("swp2", "pcp")],
        },
        plan="gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-1/eno1 leaf-0/swp2",
        qos=QosProfile(trust="dscp", roles=(Role.SPINE,)),
    ),
    "All agree; NICs answer congestion on all priorities, which does no harm.": Case(
        alike(_HOSTS, _nics(ecn_priorities=tuple(range(8)))) | alike(_LEAVES, _LEAF)
    ),
    "One leaf of two reports no settings.": undecided(alike(_HOSTS, _nics()) | {"leaf-0": _LEAF}),
    "Settings that were read stand; a driver that counts pauses of all priorities, or of none, "
    "shows nothing.": undecided(
        alike(_THREE, _nics()),
        rates={
            "gpu-4/nic0": {"rx_bytes:3": 1e9, **{f"rx_pause_frames:{priority}": 0.0 for priority in range(8)}},
            "gpu-4/nic1": {"rx_bytes": 1e9, "rx_pause_frames": 0.0},
            "gpu-1/nic0": {"rx_bytes:3": 1e9, "rx_pause_frames:4": 0.0},
        },
    ),
    "Two NICs differ: neither is the majority, and no cable connects them.": undecided(
        {"gpu-1": _nics()[:1], "gpu-2": [PortQos("nic0", "pcp")], "leaf-0": [PortQos("swp1", "dscp")]}
    ),
}
