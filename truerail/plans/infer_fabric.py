"""What the discovery of an InfiniBand fabric adds to an inferred plan: switches, and hosts with their adapters.

No switch answers, and perhaps few hosts do; but a discovery names all of them. A switch's ports have numbers, a host's
are RDMA devices. An adapter that announces no host is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from truerail.analysis.cabling.discovery import discoveries
from truerail.analysis.cabling.host_nics import HostSays
from truerail.analysis.cabling.ib_names import canonical_guid, is_factory_name, spellings
from truerail.model import LoadBalancing, Neighbor, Plan, RdmaLink, Role, Snapshot, Transport
from truerail.model.names import natural_key


def fabric_roles(snapshot: Snapshot) -> dict[str, Role]:
    """Every named host and every switch of the discoveries; a switch without a name of its own under its GUID."""
    guids = _switches(snapshot)
    hosts = {fact.of: Role.HOST for fact in _ends(snapshot) if fact.of and not _numbered(fact)}
    return {name: role for name, role in hosts.items() if not canonical_guid(name)} | dict.fromkeys(guids, Role.LEAF)


def with_guids(plan: Plan, snapshot: Snapshot, renamed: Mapping[str, str]) -> Plan:
    """The plan of an InfiniBand fabric with the GUIDs of its switches, except those whose names seem swapped.

    This distinguishes labels swapped later from a crossed bundle. Other plans stay as they are.
    """
    guids = _switches(snapshot)
    if not guids:
        return plan
    devices = {
        name: replace(device, chassis_ids=(guids[name],)) if _has_guid(name, guids, renamed) else device
        for name, device in plan.devices.items()
    }
    return replace(plan, devices=devices, transport=Transport.INFINIBAND, load_balancing=LoadBalancing.ADAPTIVE)


def _has_guid(name: str, guids: Mapping[str, str], renamed: Mapping[str, str]) -> bool:
    return name in guids and guids[name] != name and name not in {*renamed, *renamed.values()}


def adapters(snapshot: Snapshot, says: Mapping[str, HostSays]) -> dict[str, HostSays]:
    """The RDMA devices of hosts that did not report them, from the discoveries. A host that lacks some that most hosts
    have is left out: its links may be down.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for fact in _ends(snapshot):
        if fact.of and not _numbered(fact) and not canonical_guid(fact.of) and not canonical_guid(fact.port):
            found[fact.of].add(fact.port)
    models = Counter(frozenset(names) for names in found.values())
    models.update(frozenset(link.device for link in one.links) for one in says.values() if one.links)
    return {
        host: HostSays(links=tuple(RdmaLink(name, 1, None, None) for name in sorted(names, key=natural_key)))
        for host, names in found.items()
        if not (host in says and says[host].links)
        and not any(names < model and count >= models[frozenset(names)] for model, count in models.items())
    }


def _ends(snapshot: Snapshot) -> Iterator[Neighbor]:
    for number in discoveries(snapshot).tolist():
        yield from (fact for fact in snapshot.readings[number].facts if isinstance(fact, Neighbor))


def _numbered(fact: Neighbor) -> bool:
    return fact.port.isdigit() and fact.of != fact.of_guid


def _switches(snapshot: Snapshot) -> dict[str, str]:
    """The GUID of every switch by its name; of one that shares its name, or has none of its own, under the GUID."""
    bearers: dict[str, dict[str, None]] = defaultdict(dict)
    for fact in _ends(snapshot):
        if fact.of and fact.of_guid and _numbered(fact):
            bearers[fact.of][fact.of_guid] = None
    found: dict[str, str] = {}
    for name, guids in bearers.items():
        alone = len(guids) == 1 and not is_factory_name(name)
        found |= {spellings(name)[-1] if alone else guid: guid for guid in guids}
    return found
