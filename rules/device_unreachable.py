"""A planned device did not answer.

## Why it matters
What only this device could tell is not known: it is neither right nor wrong. Its cables may still be known from their
other ends, and then little is lost.

## How it is seen
There is no answer of the device at all, or every answer was an error; the errors are named. Warning where cables of
the device stay unknown for it, info where each of them is known from its other end or waits for power (CAB003
`pending`). Where the answers hold not one device of a role, as in a capture of the hosts alone, nobody was asked: that
is said once, in the notes.

## What to do
Try the same access by hand: name and address in the inventory, route, login, right to run the command. In a capture,
look whether the device's folder is there and carries the device's name. A host that is down for good belongs out of
the plan.
"""

from collections.abc import Iterator, Mapping

from rules._places import unknown_cables
from truerail.model import Finding, Neighbor, NetLink, Plan, Severity, Snapshot
from truerail.model.asked import roles_not_asked
from truerail.model.names import printable
from truerail.model.rule import Case, rule
from truerail.model.wiring import wiring_of

_SHOWN_ERRORS = 3


@rule("TEL001", severity=Severity.WARNING, needs=[])
def device_unreachable(plan: Plan, seen: Snapshot) -> Iterator[Finding]:
    """Planned devices without any good answer."""
    wiring = wiring_of(plan, seen)
    devices = wiring.index.devices
    find = {name: devices.find(name) for name in {reading.device for reading in seen.readings}}
    answered = {find[reading.device] for reading in seen.readings if not reading.error}
    absent = {role.tier for role in roles_not_asked(wiring)}
    silent = [c for c in range(devices.planned) if c not in answered and devices.tier[c] not in absent]
    unknown = unknown_cables(wiring)
    errors: dict[int, dict[str, str]] = {code: {} for code in silent}
    for reading in seen.readings:
        if find[reading.device] in errors:
            errors[find[reading.device]].setdefault(printable(reading.error, 120), reading.collector)
    for code in silent:
        count = int(unknown[code])
        yield device_unreachable.found(
            devices.names[code],
            severity=Severity.WARNING if count else Severity.INFO,
            says=f"{devices.names[code]} did not answer{_because(errors[code])}; {_left(count)}",
            do=f"Try the access to {devices.names[code]} by hand: address, login, and the command named.",
            detail=(("unknown_cables", count),),
        )


def _because(errors: Mapping[str, str]) -> str:
    """The distinct errors; where there are several, each with the first question that met it."""
    if len(errors) == 1:
        return f" ({next(iter(errors))})"
    told = [f"{collector}: {error}" for error, collector in errors.items()]
    more = f" and {len(told) - _SHOWN_ERRORS} more" if len(told) > _SHOWN_ERRORS else ""
    return f" ({'; '.join(told[:_SHOWN_ERRORS])}{more})" if told else ""


def _left(count: int) -> str:
    if not count:
        return "its cables are known from their other ends, or wait for power"
    return f"{count} of its cables {'stays' if count == 1 else 'stay'} unknown"


_PLAN = """
    gpu-1/nic0 leaf-0/swp1 rail=0
    gpu-1/nic1 leaf-1/swp1 rail=1
"""

FIRES = (
    Case(
        "The host is not read, and neither is one of its leaves: one cable is unknown.",
        _PLAN,
        {"leaf-0": [Neighbor("swp1", system_name="gpu-1", port_id="nic0", port_id_type="ifname")]},
        ("gpu-1", "leaf-1"),
        errors={"gpu-1": "Permission denied"},
    ),
    Case(
        "The host is not read; its leaves know both cables.",
        _PLAN,
        {
            "leaf-0": [Neighbor("swp1", system_name="gpu-1", port_id="nic0", port_id_type="ifname")],
            "leaf-1": [Neighbor("swp1", system_name="gpu-1", port_id="nic1", port_id_type="ifname")],
        },
        ("gpu-1",),
    ),
)

QUIET = (
    Case(
        "Every device answered something, if only about its links.",
        _PLAN,
        {"gpu-1": [NetLink("nic0")], "leaf-0": [], "leaf-1": []},
        errors={"gpu-1": "unable to connect to socket"},
    ),
    Case("Only the host was asked, no leaf.", _PLAN, {"gpu-1": [NetLink("nic0")]}),
)
