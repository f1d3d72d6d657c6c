"""What a device reported is old.

## Why it matters
A cable that was moved since then is evaluated as it was before. Old answers look like good ones: nothing else shows
that a poller hangs or that a device's clock is wrong.

## How it is detected
An answer about neighbors, links or counters is more than 300 seconds older than the round: these are queried every
minute, so five rounds have passed, and LLDP's own time to live (120 s) has run out twice. The discovery of an
InfiniBand fabric, every five minutes, may be 1,500 seconds old. What is queried less often and changes rarely
(topology, addresses, settings, identities) does not count. Where a query was answered twice, the newer answer counts.

## What to do
Look why the device is not read again: its errors (TEL001), the poller's load, the clock of either side (`chronyc
tracking`).

## Decide
- `ago, more than`: this answer is old, others are newer. See TruerailCollectorFailing for the whole fabric, and run
  the command by hand on this device.
- `is right`: the last state is shown, as old as the finding says. What changed since is unknown.

## False positives
A clock that is wrong, on the device or on truerail's machine: `chronyc tracking` on both.
"""

from datetime import datetime, timedelta

from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import HostSetting, LinkSpeed, Neighbor, NetLink, PortCounters, RdmaLink, Reading, Severity
from truerail.model.names import printable
from truerail.model.witness_facts import MachineIdentity

STALE_AFTER_SECONDS = 300.0
"""Five rounds of a query that runs every minute: two may fail and a third be slow before this is a finding."""

FREQUENT = (Neighbor, NetLink, RdmaLink, LinkSpeed, PortCounters)
"""Facts that are queried every minute or more often, by the collectors' own intervals."""
RARE_SECONDS = {"ib_fabric": 1500.0}
"""Collectors of such facts that are run less often: five of their rounds."""


@rule("TEL002", Severity.WARNING, [], first="where DEVICE")
def stale_data(round: Round) -> Findings:
    """Planned devices whose newest answer to a frequent question is old."""
    at = round.snapshot.at
    limit = at - timedelta(seconds=STALE_AFTER_SECONDS)
    old = [reading for reading in round.snapshot.readings if reading.at < limit and _counts(reading, at)]
    if not old:
        return
    fresh = {(reading.device, reading.collector) for reading in round.snapshot.readings if reading.at >= limit}
    devices = round.cabling.index.devices
    oldest: dict[int, Reading] = {}
    for reading in old:
        code = devices.find(reading.device)
        if 0 <= code < devices.planned and (reading.device, reading.collector) not in fresh:
            oldest[code] = min(oldest.get(code, reading), reading, key=lambda r: (r.at, r.collector))
    for code, reading in sorted(oldest.items()):
        age = (round.snapshot.at - reading.at).total_seconds()
        collector = printable(reading.collector, 64)
        yield stale_data.found(
            devices.names[code],
            summary=f"{devices.names[code]} answered {collector} {age:.0f} s ago, more than "
            f"{_allowed_seconds(reading):.0f} s",
            action=f"Poll {devices.names[code]} again; if it answers, compare its clock and the poller's.",
            detail=(("collector", collector), ("age_seconds", age)),
        )


def _counts(reading: Reading, at: datetime) -> bool:
    """Whether an answer that is older than usual is too old for what it is about."""
    allowed = timedelta(seconds=_allowed_seconds(reading))
    return bool(reading.facts) and isinstance(reading.facts[0], FREQUENT) and reading.at < at - allowed


def _allowed_seconds(reading: Reading) -> float:
    return RARE_SECONDS.get(reading.collector, STALE_AFTER_SECONDS)


PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0"

EXAMPLES = {
    "The leaf's answers are ten minutes old.": Case(
        {"gpu-1": [], "leaf-0": [NetLink("swp1")]}, "leaf-0", ages_seconds={"gpu-1": 60.0, "leaf-0": 600.0}
    ),
    # Quiet:
    "Settings and identities are queried every ten minutes, or every hour.": Case(
        {"gpu-1": [HostSetting("acs", "disabled", "0000:15:01.0")], "leaf-0": [MachineIdentity("chassis", "S1")]},
        ages_seconds={"gpu-1": 590.0, "leaf-0": 3500.0},
    ),
    "Answers of the last minutes are fresh.": Case({"gpu-1": [], "leaf-0": []}, ages_seconds={"leaf-0": 299.0}),
    "A device that the plan does not have may be old.": Case(
        {"gpu-1": [], "backup-7": [NetLink("eth0")]}, ages_seconds={"backup-7": 6000.0}
    ),
}
