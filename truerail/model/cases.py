"""A rule's example made real: from a `Case` to the plan and the snapshot that the rule judges."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from truerail.model.facts import Fact, GpuNicPath, NetAddress, NetLink, PortCounters, RdmaLink
from truerail.model.plan import Cable, Device, Plan, Port, Rail, Role
from truerail.model.rule import Case
from truerail.model.snapshot import Reading, Snapshot

AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
"""When every example takes place."""

_COLLECTORS: dict[type[Fact], str] = {
    GpuNicPath: "gpu_nic_topology",
    RdmaLink: "rdma_link",
    NetLink: "net_link",
    NetAddress: "net_address",
    PortCounters: "port_counters",
}
_ROLES = {"leaf": Role.LEAF, "spine": Role.SPINE, "superspine": Role.SUPERSPINE}


def scene(case: Case) -> tuple[Plan, Snapshot]:
    """The plan and the snapshot of an example.

    Every device in `facts` was asked for its LLDP neighbours and answered, perhaps with none; unless `errors` names it
    too: then this question failed and its other answers stand. A device in `errors` alone did not answer at all.
    """
    return plan_of(case), Snapshot(AT, tuple(_readings(case)))


def plan_of(case: Case) -> Plan:
    """The plan of an example. Raises ValueError for a line that is no cable."""
    cables = tuple(_cable(line) for line in case.plan.splitlines() if line.strip())
    names = dict.fromkeys(end.device for cable in cables for end in (cable.a, cable.b))
    rails = {rail.index: rail for rail in map(_rail, case.rails.split())}
    return Plan({name: Device(name, _role(name)) for name in names}, cables, "example", rails)


def _role(name: str) -> Role:
    return _ROLES.get(name.rstrip("0123456789").rstrip("-"), Role.HOST)


def _cable(line: str) -> Cable:
    a, b, *words = line.split()
    given = dict(word.split("=", 1) for word in words)
    return Cable(
        _port(a),
        _port(b),
        rail=int(given["rail"]) if "rail" in given else None,
        plane=int(given["plane"]) if "plane" in given else None,
        speed_gbps=float(given["speed"]) if "speed" in given else None,
    )


def _port(text: str) -> Port:
    device, slash, name = text.partition("/")
    if not slash:
        raise ValueError(f"{text!r} is no port: expected device/port")
    return Port(device, name)


def _rail(text: str) -> Rail:
    index, _, subnets = text.partition("=")
    return Rail(int(index), subnets=tuple(subnets.split(",")))


def _readings(case: Case) -> Iterator[Reading]:
    for device, facts in case.facts.items():
        at = AT - timedelta(seconds=case.ages_seconds.get(device, 0.0))
        for collector, answer in _answers(device, facts):
            if collector != _lldp(device) or device not in case.errors:
                yield Reading(device, collector, at, answer)
    for device, error in case.errors.items():
        yield Reading(device, _lldp(device), AT, error=error)


def _answers(device: str, facts: Sequence[Fact]) -> Iterator[tuple[str, tuple[Fact, ...]]]:
    by_collector: dict[str, list[Fact]] = {_lldp(device): []}
    for fact in facts:
        by_collector.setdefault(_COLLECTORS.get(type(fact), _lldp(device)), []).append(fact)
    for collector, answer in by_collector.items():
        yield collector, tuple(answer)


def _lldp(device: str) -> str:
    return "lldp_host" if _role(device) is Role.HOST else "lldp_switch"
