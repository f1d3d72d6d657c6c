"""An alert for each rule about a device, port or host, and for each severity that its findings have."""

from collections.abc import Iterator
from typing import NamedTuple

from dashboards.rules.declared import Alert, Group, Series, Severity, Story, labels
from dashboards.rules.records import FINDINGS
from dashboards.rules.words import ASK, CABLE, SUBJECT

C, W = Severity.CRITICAL, Severity.WARNING


class Found(NamedTuple):
    """A rule as alerts: what it says of its subject, the next step, and how many minutes it must last."""

    code: str
    name: str
    severities: tuple[Severity, ...]
    wait: int
    says: str
    next: str
    on: str = "nic"
    """What the story's finding is about: `nic`, `rail` (of a host), `host`, or `switch`."""


FOUND = (
    Found("RAL001", "RailImbalance", (C, W), 5, "loads this rail much less than its others",
          "Look at the low NIC: PCIe width, link speed, errors, pauses, and its leaf port."),
    Found("RAL002", "StragglerNic", (W,), 5, "is slower than the NICs of its rail in other hosts",
          "Compare its PCIe link, firmware and errors with those of a NIC beside it."),
    Found("RAL003", "RailCut", (C,), 6, "cannot reach the peers of its rail at all",
          "Keep jobs off this host, and bring the cable back to its leaf.", "rail"),
    Found("PFC001", "PfcStorm", (C, W), 1, "is where a PFC storm begins: it pauses its neighbour without end",
          "Drain the host, or shut its switch port; then look why it does not take traffic in."),
    Found("PFC003", "PfcDeadlock", (C, W), 1, "waits in a circle of switches: nothing on this priority moves again",
          "Shut one port of the circle to break it; then find the route that goes down and up again.", "switch"),
    Found("PFC002", "PausePressure", (W,), 10, "holds up its neighbours with pauses for minutes on end",
          "Look for the receiver that does not keep up, or for many senders to one."),
    Found("PFC004", "LosslessDrops", (C, W), 2, "drops packets of a lossless class although it is paused",
          "Compare PFC, buffers and headroom of both ends."),
    Found("PFC005", "PauseOnWrongPriority", (W,), 10, "pauses a priority that is not lossless, or the whole link",
          "Compare the PFC and trust settings of both ends."),
    Found("ECN001", "EcnCongestion", (C, W), 5, "receives many marked packets, or the loop that slows senders fails",
          "Look which flows meet there; compare DSCP trust, ECN and the priority of CNP packets along the path."),
    Found("INC001", "Incast", (W,), 10, "is where many senders meet",
          "Look which job sends there; spread it, or check DCQCN on the senders."),
    Found("LBL001", "EcmpPolarization", (C,), 10, "hashes flows as the tier below did: a part of its uplinks is idle",
          "Give the tiers different hash seeds, or hash over more fields.", "switch"),
    Found("LBL002", "UplinkImbalance", (W,), 15, "spreads its load over its uplinks unevenly",
          "Look at the hash fields, weights and what is down above it.", "switch"),
    Found("LBL003", "DeadMember", (W,), 10, "has an uplink that is up and carries nothing",
          "Look at the routes over it, and whether it is in its group at all.", "switch"),
    Found("CAP001", "Oversubscribed", (W,), 15, "has less uplink than its design gives it, or all of it is full",
          "Bring back the uplinks that are down; else move load away.", "switch"),
    Found("LNK004", "SignalDegraded", (C, W), 5, "receives errors: its signal is getting worse",
          "Clean and reseat the cable at both ends; then replace the module, then the cable."),
    Found("LNK005", "OpticsOutOfRange", (C, W), 5, "has a module with light or heat out of range",
          "Clean the connector, check airflow, then replace the module."),
    Found("LNK003", "LinkFlapping", (C, W), 1, "has a link that falls and comes back",
          "Reseat the cable at both ends; keep jobs off this NIC until it is quiet."),
    Found("LNK001", "SpeedMismatch", (W,), 5, "runs at another speed than planned",
          "Compare speed, FEC and autonegotiation of both ends; then the module."),
    Found("LNK002", "MtuMismatch", (W,), 5, "has an MTU that its switch port or its rail does not have",
          "Set the MTU that most of the rail has."),
    Found("NIC001", "GpuNicOrder", (W,), 5, "has GPUs whose nearest NICs are on other rails than their own",
          "Read the cause: rename the NICs, or exchange the cables of the whole host.", "host"),
    Found("NIC002", "RdmaPortDown", (W,), 5, "has an RDMA port that is not active",
          "Look at the port's state on the host, and at its subnet or link."),
    Found("NIC004", "GpudirectBroken", (W,), 5, "has GPUs that do not reach their NICs directly",
          "Compare ACS, IOMMU and the peer-memory module with a host that is well.", "host"),
    Found("NIC005", "PcieDowntrained", (C, W), 5, "has a PCIe link slower or narrower than it can be",
          "Drain the host and power it off and on; if that does not help, reseat the card.", "host"),
    Found("CFG001", "QosMismatch", (W,), 10, "treats lossless traffic otherwise than its peers or its other end",
          "Set PFC, DSCP and buffers as its peers have them."),
    Found("CFG002", "RailSubnetMismatch", (W,), 10, "has an address of another rail's subnet",
          "Give it an address of its own rail; if several are so, look at the cables first."),
    Found("CAB005", "EndsDisagree", (W,), 10, "is contradicted: its ends name different neighbours",
          "Look at both ends; wait for two LLDP intervals after a move."),
    Found("CAB007", "DuplicateIdentity", (C, W), 5, "announces a name that another device announces too",
          "Read the cause: two devices may carry each other's name. No cable has to move.", "switch"),
    Found("TEL001", "DeviceUnreachable", (W,), 10, "does not answer, or is not in the inventory",
          "Ask it by hand with truerail's user and key; check power and the management network.", "host"),
    Found("TEL002", "StaleData", (W,), 10, "tells nothing new: what is shown of it is old",
          "Look which question fails, and why.", "host"),
    Found("TEL003", "LldpSilent", (W,), 10, "answers, but hears no LLDP neighbour on its planned ports",
          "See that lldpd runs and that the NIC's firmware does not keep LLDP for itself.", "host"),
    Found("TEL004", "CounterSaturated", (W,), 10, "has a full counter that counts no more",
          "Note its value, then clear it (`perfquery -R`).", "host"),
)  # fmt: skip


TOLD = {
    "nic": ("pod", "host", "nic", "rail", "plane"),
    "rail": ("pod", "host", "rail"),
    "host": ("pod", "host"),
    "switch": ("pod", "switch"),
}
"""The labels of findings on each: the rest of an alert's labels come from the cable."""


def alert(found: Found, severity: Severity) -> Alert:
    """The alert on findings of one rule and severity."""
    return Alert(
        name=f"Truerail{found.name}",
        severity=severity,
        expr=f'{FINDINGS}{{rule="{found.code}", severity="{severity.value}"}}',
        wait=found.wait,
        summary=f"{SUBJECT} {found.says}",
        description=f"{SUBJECT} {found.says} ({found.code}).{CABLE} Next: {found.next}{ASK}",
        page=found.code,
        story=_story(found, severity),
    )


def _story(found: Found, severity: Severity) -> Story:
    """One finding comes and goes. Beside it, muted, as information and of another rule, it says nothing."""
    fabric = f"{found.code}-{severity.value}"
    where = _where(found.on)
    device = {key: where[key] for key in TOLD[found.on]}
    one = {"fabric": fabric, **device, "rule": found.code, "severity": severity.value}
    return Story(
        series=(_number(fabric), *_links(found.on, fabric, where), _finding(**one, muted="no")),
        fires=labels(fabric=fabric, **where, rule=found.code),
        quiet=tuple(_quiet(found, one)),
    )


def _links(on: str, fabric: str, where: dict[str, str]) -> list[Series]:
    """The cable of the finding; where the finding names its NIC, beside another of the same rail."""
    cable = {"fabric": fabric, **where, "switch_rack": "net"}
    others = {"nic": [{**cable, "nic": "enp9s0", "plane": "0", "switch": "leaf-6"}], "rail": []}.get(on)
    return [] if others is None else [Series("truerail_link_info", labels(**one), 1, 1) for one in (cable, *others)]


def _quiet(found: Found, one: dict[str, str]) -> Iterator[Series]:
    fabric = one["fabric"] + "-quiet"
    yield _number(fabric)
    for change in ({"muted": "acknowledged"}, {"muted": "maintenance"}, {"severity": "info"}, {"rule": "XXX999"}):
        yield _finding(**{**one, "fabric": fabric, "muted": "no", **change})


def _where(on: str) -> dict[str, str]:
    if on == "switch":
        return {"pod": "p1", "switch": "leaf-7"}
    if on == "host":
        return {"pod": "p1", "host": "gpu-018"}
    plane = {"plane": "1"} if on == "nic" else {}
    leaf = {"switch": "leaf-7", "switch_port": "swp18", "rack": "r05"}
    return {"pod": "p1", "host": "gpu-018", "nic": "enp220s0f0np0", "rail": "7", **plane, **leaf}


def _finding(**values: str) -> Series:
    return Series("truerail_device_findings", labels(**values), None, 1)


def _number(fabric: str) -> Series:
    return Series("truerail_publication_number", labels(fabric=fabric), 7, 8)


FINDING_ALERTS = Group("truerail.findings", alerts=tuple(alert(f, s) for f in FOUND for s in f.severities))
