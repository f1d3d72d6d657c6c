"""Names and identities that differ from the plan: forms of names, default names, clones, renamed interfaces."""

from dataclasses import replace
from typing import TYPE_CHECKING

from truerail.simulator.fabric.lldp_frames import Speaker
from truerail.simulator.fabric.servers import renumbered

if TYPE_CHECKING:
    from truerail.simulator.fabric.world import World

DOMAIN = "dc1.example.net"
_OTHER_DOMAIN = "mgmt.example.org"


def system_name(world: "World", machine: str, name: str) -> str:
    """The form in which a machine announces its name."""
    behaviours = world.behaviours
    swapped = machine in world.hostname  # it has another's name, without any other change
    if behaviours.hits("default_name", machine) and not swapped:
        return world.system(machine).default_name
    if world.is_host(machine) and not swapped:
        if behaviours.hits("rename", machine):
            return f"worker-{world.fabric.order[machine] + 701}"
        if is_clone(world, "clone_name", machine):
            return _original(world, machine)
    match behaviours.value_for("name_form", machine):
        case "fqdn":
            return f"{name}.{DOMAIN}"
        case "upper":
            return name.upper()
        case "other_domain":
            return f"{name}.{_OTHER_DOMAIN}"
        case "serial" if not world.is_host(machine):
            return f"{name}(TB{world.fabric.order[machine]:06}B)"
    return name


def has_own_name(world: "World", machine: str) -> bool:
    """Whether a machine's announced name can name its folder."""
    behaviours = world.behaviours
    given = [
        *(behaviours.hits(name, machine) for name in ("default_name", "rename")),
        is_clone(world, "clone_name", machine),
    ]
    return behaviours.value("name_form") != "serial" and (machine in world.hostname or not any(given))


def chassis_of(world: "World", machine: str) -> str:
    """The machine whose chassis id this one announces: itself, or the one whose image it has."""
    if is_clone(world, "clone_chassis", machine):
        return _original(world, machine)
    return mlag_pair(world, machine)[0] if shares_chassis(world, machine) else machine


def shown(world: "World", speaker: Speaker, machine: str, receiver: str) -> Speaker:
    """How a receiver with lldpd shows this speaker: one record per chassis id, so clones share a name."""
    if is_clone(world, "clone_chassis", machine):
        return replace(speaker, name=world.announced_name(_original(world, machine)))
    if shares_chassis(world, machine) and runs_lldpd(world, receiver):
        pair = mlag_pair(world, machine)
        if set(pair) <= {far.device for jack, far in world.far.items() if jack.device == receiver}:
            last = pair[int(world.behaviours.draw("mlag", receiver, pair[0]) * 2)]
            return replace(speaker, name=world.announced_name(last))
    return speaker


def runs_lldpd(world: "World", machine: str) -> bool:
    """Whether this machine's list of neighbours is lldpd's."""
    return world.system(machine).runs_lldpd


def mlag_pair(world: "World", switch: str) -> tuple[str, ...]:
    """The two leaves that are one for the hosts' bonds, in the plan's order: of two planes, or neighbours. Empty if the
    switch is in no pair, or a label of the pair is swapped.
    """
    if world.is_host(switch):
        return ()
    leaves = world.leaves()
    if switch not in leaves:
        return ()
    first = leaves.index(switch) // 2 * 2
    pair = tuple(leaves[first : first + 2])
    kinds = {(world.platform(one), world.fabric.plan.devices[one].pod) for one in pair}
    return pair if len(pair) == 2 and len(kinds) == 1 and world.hostname.keys().isdisjoint(pair) else ()


def is_mlag(world: "World", switch: str) -> bool:
    """Whether this switch is one of an MLAG's pair."""
    if "mlag" not in world.behaviours:
        return False
    pair = mlag_pair(world, switch)
    return bool(pair) and world.behaviours.hits("mlag", pair[0])


def shares_chassis(world: "World", switch: str) -> bool:
    """Whether this switch announces the system MAC of its MLAG as its chassis id."""
    return world.behaviours.value("mlag") == "shared" and is_mlag(world, switch)


def netdev(world: "World", host: str, planned: str) -> str:
    """The kernel's name of the interface with this planned name."""
    if not world.behaviours.hits("host_rename", host):
        return planned
    netdevs = [name.netdev for name in world.fabric.models[host].names]
    return f"ens{41 + netdevs.index(planned)}np0" if planned in netdevs else planned


def rdma(world: "World", host: str, planned: str) -> str:
    """The kernel's name of the RDMA device with this planned name: later numbers shift when an earlier NIC is missing.

    Names follow the order of probing, so a missing storage NIC renames all later NICs.
    """
    shifts = world.behaviours.hits("rdma_renumber", host) or world.behaviours.hits("ib_renumber", host)
    return renumbered(planned) if shifts else planned


def is_paired(world: "World", behaviour: str, machine: str) -> bool:
    """Whether this host has another's image, or another has this one's."""
    if behaviour not in world.behaviours or not world.is_host(machine):
        return False
    pair = [host for host in world.fabric.models if _original(world, host) == _original(world, machine)]
    return len(pair) > 1 and world.behaviours.hits(behaviour, pair[0])


def is_clone(world: "World", behaviour: str, machine: str) -> bool:
    """Whether this host has another's image: the second of a pair in the plan's order."""
    if behaviour not in world.behaviours or not world.is_host(machine):
        return False
    original = _original(world, machine)
    return original != machine and world.behaviours.hits(behaviour, original)


def _original(world: "World", machine: str) -> str:
    """The first host of this one's pair."""
    hosts = list(world.fabric.models)
    return hosts[hosts.index(machine) // 2 * 2]
