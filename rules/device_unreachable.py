"""A planned device did not answer.

## Why it matters
Facts that only this device reports are unknown: neither right nor wrong. Its cables may still be known from their other
ends, and then little is lost.

## How it is detected
The device did not answer at all, or every answer was an error; the errors are named. Warning where cables of the device
stay unknown because of it, info where each of them is known from its other end, or the host is down (CAB003 `pending`).
Where there are no answers from a whole role, as in a capture of the hosts alone, its devices were not queried: the
notes say so once. Planned devices that are not in the inventory were never queried: they are one finding together, with
the names of the inventory that may be meant, and no cause. Unknown for devices that truerail itself does not poll: no
poller of their zone runs, or the bus stores nothing (alert TruerailZoneWithoutPoller); the first round has not ended;
or a round ended before they had their time, because there are more devices than the machine polls in one round
(`truerail_collector_missed_total` rises: see docs/scale.md).

On InfiniBand a device that the discovery found is known by it: unless it was queried and failed, it is named only where
most of its role were queried. A device that the discovery did not find is named. So is a machine that was queried for
the fabric and failed, whether the plan has it or not: warning where no other machine reported the fabric. A switch
without a name of its own that is one planned switch by its host cables and another by its uplinks matches neither:
warning. So is a scheduler that was asked which jobs run and did not answer: its jobs are then those of its last answer.

## What to do
Try the same access by hand: name and address in the inventory, route, login, right to run the command. In a capture,
check that the device's folder exists and carries the device's name. Remove a host that is down for good from the plan.
Where a machine does not report its fabric, run `ibnetdiscover` there under the account of the inventory: it comes with
infiniband-diags, and requires access to `/dev/infiniband/umad*` and an InfiniBand port that is up. Where host cables
and uplinks disagree about a switch, one of the bundles is crossed: read its label before any cable moves, and give
GUIDs as chassis_ids in the plan.

## Decide
- `Permission denied`: truerail's key or user on this device. Compare with a device that answers.
- `host down`: no answer and no link: power or boot. Go to the BMC.
- `known from their other ends`: its cables are still evaluated; its counters and settings are not. It can wait for the
  day.
- `stays unknown`, `stay unknown`: its cables are unknown, not right. Query it by hand: `ssh` with truerail's user and
  key.
- `not in the plan`: a machine that discovers the InfiniBand fabric for the others did not do it. Run
  `ibnetdiscover` there under truerail's account.

## False positives
A device in maintenance, or taken out of service but still in the plan. Many at once indicate the management network or
truerail's own access: TruerailManyDevicesUnreachable.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial

from rules._examples import hears, railed, undecided
from rules._links import not_polled, unpolled
from rules._places import unknown_cables
from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.cabling.discovery import COLLECTOR as DISCOVERY
from truerail.analysis.coverage import not_listed, roles_not_asked
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import NetLink, RdmaLink, Severity, Transport
from truerail.model.names import printable
from truerail.model.probe_facts import LEFT_OUT, PROBE_COLLECTORS, ProbeTrouble

NOT_LISTED = "not in the inventory"
_SHOWN_ERRORS = 3
_UNMET = ", and the discovery of the fabric did not meet it"


@rule("TEL001", Severity.WARNING, [], first="where DEVICE")
def device_unreachable(round: Round) -> Findings:
    """Planned devices without any good answer."""
    wiring = round.cabling
    devices = wiring.index.devices
    find = {name: devices.find(name) for name in {reading.device for reading in round.snapshot.readings}}
    answered = {
        find[reading.device]
        for reading in round.snapshot.readings
        if not reading.error and reading.collector not in PROBE_COLLECTORS
    }
    absent = {role.tier for role in roles_not_asked(wiring)}
    contested = wiring.identity.contested
    away = {code: why for code, why in unpolled(round).items() if code not in answered}
    unlisted = not_listed(wiring)
    down = {*wiring.index.a_device[wiring.why == Why.PENDING].tolist()}
    left_out = {devices.find(name) for name in unlisted.devices}
    known = answered | away.keys() | _known_without(wiring, set(find.values())) | left_out
    known |= {by_hosts for by_hosts, _ in contested.values()}
    silent = [code for code in range(devices.planned) if code not in known and devices.tier[code] not in absent]
    unknown = unknown_cables(wiring)
    if unlisted.devices:
        count = int(unknown[sorted(left_out)].sum())
        yield device_unreachable.found(
            unlisted.devices[0],
            severity=Severity.WARNING if count else Severity.INFO,
            summary=f"{unlisted.summary}; {_left(count)}",
            action="Add them to the inventory under the plan's names, or take them out of the plan.",
            detail=(("unknown_cables", count), ("reason", NOT_LISTED), ("devices", unlisted.devices)),
        )
    errors: dict[int, dict[str, str]] = {code: {} for code in silent}
    for reading in round.snapshot.readings:
        if find[reading.device] in errors:
            errors[find[reading.device]].setdefault(printable(reading.error, 120), reading.collector)
    for code in silent:
        count, name = int(unknown[code]), devices.names[code]
        lost = bool(wiring.met) and code not in wiring.met
        yield device_unreachable.found(
            name,
            severity=Severity.WARNING if count else Severity.INFO,
            summary=f"{name} did not answer{_because(errors[code])}{_UNMET if lost else ''}; "
            + _left(count, down=code in down),
            action=f"Check that {name} has power and a link, then try the access to it by hand."
            if lost
            else f"Try the access to {name} by hand: address, login, and the command named.",
            detail=(("unknown_cables", count),),
        )
    for node, (by_hosts, by_uplinks) in sorted(contested.items()):
        name, other, count = devices.names[by_hosts], devices.names[by_uplinks], int(unknown[by_hosts])
        yield device_unreachable.found(
            name,
            summary=f"the switch {devices.names[node]} is {name} by its host cables and {other} by its uplinks, "
            f"and has no name of its own; {_left(count)}",
            action=f"Move no cable before the label of {devices.names[node]} is read: which switch is it?",
            detail=(("unknown_cables", count),),
        )
    if round.plan.transport is Transport.INFINIBAND:
        yield from _unreported(wiring, {devices.names[code] for code in (*silent, *away)})
    yield from _schedulers(round)
    report_not_evaluated(not_polled(round, away))


def _schedulers(round: Round) -> Findings:
    """Schedulers that were asked for their jobs and did not answer: which jobs run is then not known."""
    for source in round.jobs.away:
        name = printable(source.name, 64)
        left = "its jobs are unknown" if source.at is None else f"its jobs are as of {source.at:%Y-%m-%d %H:%M} UTC"
        yield device_unreachable.found(
            name,
            summary=f"{name} did not answer which jobs run ({printable(source.error, 240)}); {left}",
            action=f"Try the access to {name} by hand, and its client there: squeue or kubectl.",
            detail=(("unknown_cables", 0),),
        )


def _unreported(wiring: Wiring, named: Collection[str]) -> Findings:
    """Machines that were queried for the links of the fabric and did not report them, except those already `named`."""
    count = int(((wiring.state == State.UNKNOWN) & (wiring.why != Why.PENDING)).sum())
    unknown = f"{count} {'cable stays' if count == 1 else 'cables stay'} unknown"
    left = "another machine reported it" if wiring.met else unknown
    readings = wiring.seen.readings
    others = {reading.device for reading in readings if reading.collector != DISCOVERY}
    for reading in readings:
        asked = reading.source or reading.device not in others  # without any answer it has an error for each query
        if reading.collector != DISCOVERY or not reading.error or not asked or reading.device in named:
            continue
        name = printable(reading.device, 64)
        yield device_unreachable.found(
            name,
            severity=Severity.WARNING if count and not wiring.met else Severity.INFO,
            summary=f"{name} did not report the InfiniBand fabric ({printable(reading.error, 240)}); {left}",
            action=f"Run `ibnetdiscover` on {name} by hand, under the account of the inventory.",
            detail=(("unknown_cables", 0 if wiring.met else count),),
        )


def _known_without(wiring: Wiring, asked: Collection[int]) -> set[int]:
    """Devices that a discovery reports and that were not queried, where most of their role were not queried either."""
    tier, planned = wiring.index.devices.tier, range(wiring.index.devices.planned)
    of_role = Counter(tier[: wiring.index.devices.planned])
    asked_of_role = Counter(tier[code] for code in asked if code in planned)
    return {
        code
        for code in wiring.met.difference(asked)
        if code in planned and 2 * asked_of_role[tier[code]] < of_role[tier[code]]
    }


def _because(errors: Mapping[str, str]) -> str:
    """The distinct errors; where there are several, each with the first query that returned it."""
    if len(errors) == 1:
        return f" ({next(iter(errors))})"
    reported = [f"{collector}: {error}" for error, collector in errors.items()]
    more = f" and {len(reported) - _SHOWN_ERRORS} more" if len(reported) > _SHOWN_ERRORS else ""
    return f" ({'; '.join(reported[:_SHOWN_ERRORS])}{more})" if reported else ""


def _left(count: int, *, down: bool = False) -> str:
    if not count:
        return "host down, none of its ports has link" if down else "its cables are known from their other ends"
    return f"{count} of its cables {'stays' if count == 1 else 'stay'} unknown"


PLAN = railed(1, rails=2)

_INFINIBAND = "\n".join(f"gpu-{host}/mlx5_0 leaf-0/{host} rail=0" for host in (1, 2, 3))
_DISCOVERED = [hears(str(port), f"gpu-{port}/mlx5_0", via="InfiniBand", of="leaf-0") for port in (1, 2, 3)]
_infiniband = partial(Case, plan=_INFINIBAND, transport=Transport.INFINIBAND)

EXAMPLES = {
    "The discovery of the InfiniBand fabric did not find a host.": _infiniband({"gpu-1": _DISCOVERED[:2]}, "gpu-3"),
    "Most hosts answer, and one that the discovery found does not.": _infiniband(
        {"gpu-1": _DISCOVERED, "gpu-2": [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP")]}, "gpu-3"
    ),
    "The machine that discovers the InfiniBand fabric may not send management packets.": _infiniband(
        {"gpu-1": [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP")]},
        "gpu-2 gpu-3 leaf-0 ufm-1",
        errors={"ufm-1": "ibnetdiscover: exit status 1: can't open UMAD port ((null):0)"},
    ),
    "A host that probes left out because it is off has a recording all the same: that is no answer.": Case(
        {"gpu-1": [ProbeTrouble("", LEFT_OUT, 1, "r", None, "no login")], "leaf-0": [NetLink("p1")]},
        "gpu-1",
        plan="gpu-1/nic0 leaf-0/p1 rail=0",
        errors={"gpu-1": "no login within 10 s"},
    ),
    "One of two machines did not report the InfiniBand fabric.": _infiniband(
        {"ufm-2": _DISCOVERED}, "ufm-1", errors={"ufm-1": "no login within 10 s"}
    ),
    "The host is not read, and neither is one of its leaves: one cable is unknown.": Case(
        {"leaf-0": [hears("swp1", "gpu-1/nic0")]}, "gpu-1 leaf-1", errors={"gpu-1": "Permission denied"}
    ),
    "The host is not read; its leaves know both cables.": Case(
        {"leaf-0": [hears("swp1", "gpu-1/nic0")], "leaf-1": [hears("swp1", "gpu-1/nic1")]}, "gpu-1"
    ),
    # Quiet:
    "Every device answered something, if only about its links.": Case(
        {"gpu-1": [NetLink("nic0")], "leaf-0": [], "leaf-1": []}, errors={"gpu-1": "unable to connect to socket"}
    ),
    "Only one host was queried, and its discovery of the InfiniBand fabric found all others.": _infiniband(
        {"gpu-1": _DISCOVERED}
    ),
    "Only the host was queried, no leaf.": Case({"gpu-1": [NetLink("nic0")]}),
    "No poller runs for the host: it was not polled.": undecided(
        {"leaf-0": [], "leaf-1": []}, unpolled={"gpu-1": "no poller in zone dc1 since 03:12 UTC"}
    ),
}
