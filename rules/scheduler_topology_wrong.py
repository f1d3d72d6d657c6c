"""The topology that a scheduler places jobs by is not the one that is cabled.

## Why it matters
Slurm places a job on few switches of its topology. Where the file says that hosts are neighbours which are not, jobs
are spread over the fabric without need, or onto hosts that cannot reach each other; a host in no switch gets no job.

## How it is detected
The topology in force (`scontrol show topology`) is compared with the groups of hosts that share the leaves on which
their cables are seen: a host in a switch whose others are in another group, a host in several switches or in none, a
switch without a host of the plan, and switches under one parent that no uplinks join. Finer groups and other names are
no fault, and hosts with cables in unknown state are not judged by these.

## What to do
Print the topology that is seen, with `truerail export topology`, and put it in the scheduler's configuration. Where a
host is cabled to another group than planned, that is a finding of its own: repair it first if the plan is right.

## Decide
- `and seen in`: the file is out of date, or the host is cabled elsewhere than planned. The other findings on it tell.
- `in no switch`: add the host to the file: until then no job starts on it.

## False positives
A topology that is made by hand for a reason: a switch that is kept apart from others on purpose.
"""

from collections.abc import Iterator
from dataclasses import replace

from rules._examples import Facts, hears, undecided
from rules._jobs import listed
from truerail.analysis.cabling import State
from truerail.analysis.explained import DeviceCables, Explained
from truerail.analysis.host_groups import SeenGroups, TreeFault, group_of, groups_of, topology_faults
from truerail.analysis.rule import Case, Findings, NotApplicableError, report_not_evaluated, rule
from truerail.model import Fact, Finding, NotEvaluated, Reading, SchedulerNode, Severity, TopologyUnit
from truerail.model.names import folded, natural_key, printable

_COLLECTOR = "slurm_topology"


@rule("JOB008", Severity.WARNING, [], first="where DEVICE", after_causes=True)
def scheduler_topology_wrong(explained: Explained) -> Findings:
    """Faults of the topology of each scheduler."""
    asked = (one for one in explained.round.snapshot.readings if one.collector == _COLLECTOR and not one.error)
    readings = [one for one in asked if any(isinstance(fact, TopologyUnit) for fact in one.facts)]
    if not readings:
        raise NotApplicableError
    devices = explained.round.cabling.index.devices
    seen = _seen(explained)
    schedulers = {one.device for one in readings}
    listed = (one.facts for one in explained.round.snapshot.readings if one.device in schedulers)
    nodes = [fact for facts in listed for fact in facts if isinstance(fact, SchedulerNode)]

    def find(node: str) -> int:
        code = devices.find(node)
        return code if 0 <= code < devices.planned and devices.is_host(code) else -1

    if own := {code for node in nodes if (code := find(node.node)) >= 0}:  # other hosts have another scheduler
        seen = replace(seen, group={host: name for host, name in seen.group.items() if host in own})
    for reading in readings:
        units = [fact for fact in reading.facts if isinstance(fact, TopologyUnit)]
        found: dict[str, list[TreeFault]] = {}
        for fault in topology_faults(seen, units, find):
            names = sorted((devices.names[code] for code in fault.hosts), key=natural_key)
            found.setdefault(names[0] if names else reading.device, []).append(fault)
        for subject, faults in found.items():
            yield _finding(explained, reading, subject, faults)
    report_not_evaluated(
        _not_seen([devices.names[code] for code in seen.unseen if code in seen.group], len(seen.group))
    )


def _not_seen(hosts: list[str], of: int) -> Iterator[NotEvaluated]:
    """The hosts of which a cable's state is unknown: their group may be another one than those seen say."""
    if hosts:
        names = tuple(sorted(hosts, key=natural_key))
        why = f"the group of {folded(names)} is not known: not all of their cables are seen"
        yield NotEvaluated(why, "host", len(names), of, names, rest_evaluated=True)


def _seen(explained: Explained) -> SeenGroups:
    """The groups of hosts by where their cables are seen, and the connected parts that the groups are in."""
    wiring = explained.round.cabling
    index, of = wiring.index, wiring.index.plan.once(DeviceCables)
    hosts = [code for code in range(index.devices.planned) if index.devices.is_host(code)]
    cables = {host: of.at(index.devices.names[host]) for host in hosts}
    planned = {host: frozenset(index.b_device[own].tolist()) for host, own in cables.items()}
    groups = groups_of(planned)
    names = {group: listed(sorted((index.devices.names[leaf] for leaf in group), key=natural_key)) for group in groups}
    group: dict[int, str] = {}
    root: dict[int, str] = {}
    unseen: set[int] = set()
    for host, own in cables.items():
        known = own[(wiring.state[own] != State.UNKNOWN) & (explained.ends[own] >= 0)]
        home = next(one for one in groups if planned[host] <= one)
        place = group_of(home, explained.ends[known].tolist(), len(own), groups)
        group[host] = names[place]
        first = index.devices.names[int(explained.parts[min(place)])] if place else ""
        root[host] = f"the part of {first}" if place else names[place]
        if (wiring.state[own] == State.UNKNOWN).any():
            unseen.add(host)
    return SeenGroups(group, root, unseen)


def _finding(explained: Explained, reading: Reading, subject: str, faults: list[TreeFault]) -> Finding:
    names = explained.round.cabling.index.devices.names

    def words(fault: TreeFault) -> str:
        who = listed(sorted((names[code] for code in fault.hosts), key=natural_key))
        return f"{who or printable(fault.switch, 80)} {'is ' if fault.hosts else ''}{fault.summary}"

    more = f"; and {len(faults) - 1} more" if len(faults) > 1 else ""
    return scheduler_topology_wrong.found(
        subject,
        summary=f"topology of {reading.device}: {words(faults[0])}{more}",
        action="Replace the topology by what truerail export topology prints.",
        confidence=0.9,
        detail=(("faults", tuple(fault.kind for fault in faults)),),
    )


PLAN = "\n".join(f"gpu-{host}/nic0 leaf-{(host - 1) // 2}/swp{host} rail=0" for host in (1, 2, 3, 4))
_HEARD: Facts = {f"gpu-{host}": [hears("nic0", f"leaf-{(host - 1) // 2}/swp{host}")] for host in (1, 2, 3, 4)}


def _topology(*switches: str) -> Facts:
    units = [TopologyUnit(f"s{number}", "switch", tuple(nodes.split())) for number, nodes in enumerate(switches)]
    return _HEARD | {"slurm": [*units]}


_NODES: list[Fact] = [SchedulerNode(node, ("IDLE",), None) for node in ("gpu-1", "gpu-2")]

EXAMPLES = {
    "A host is in the switch of another group.": Case(_topology("gpu-1 gpu-2 gpu-3", "gpu-4"), "gpu-3"),
    "A host is in no switch.": Case(_topology("gpu-1 gpu-2", "gpu-3"), "gpu-4"),
    # Quiet:
    "The file has the groups that are seen.": Case(_topology("gpu-1 gpu-2", "gpu-3 gpu-4")),
    "The other hosts are not nodes of this scheduler.": Case(
        _HEARD | {"slurm": [*_topology("gpu-1 gpu-2")["slurm"], *_NODES]}
    ),
    "Its groups are finer.": Case(_topology("gpu-1", "gpu-2", "gpu-3 gpu-4")),
    "Nothing shows the cables of one host.": undecided({**_topology("gpu-1 gpu-2", "gpu-3 gpu-4"), "gpu-4": []}),
    "The scheduler places jobs by no topology.": Case(_HEARD | {"slurm": []}),
}
