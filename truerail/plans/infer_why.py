"""Why no plan can be inferred from a snapshot: what is missing, with the first answer that could not be read."""

from collections.abc import Mapping

from truerail.analysis.cabling.host_nics import HostSays
from truerail.model import Neighbor, Snapshot
from truerail.model.names import natural_key
from truerail.plans.infer_wires import Wires

_LISTENS = ("lldp", "ib_fabric")
"""Display names of the collectors that report what a port is wired to."""


def why_not(snapshot: Snapshot, wires: Wires, says: Mapping[str, HostSays], held_apart: Mapping[str, str]) -> str:
    """One sentence, or two: what is missing, and the answer that could not be read."""
    return _missing(snapshot, wires, says, held_apart) + _unread(snapshot)


def _missing(snapshot: Snapshot, wires: Wires, says: Mapping[str, HostSays], held_apart: Mapping[str, str]) -> str:
    neighbors = len(snapshot.table(Neighbor).rows)
    if not snapshot.readings:
        return "no device answered"
    if not neighbors:
        return "no answer reports a neighbor (LLDP of a host or a switch, or the discovery of an InfiniBand fabric)"
    if held_apart:
        return f"no host has the adapters of a GPU server: {', '.join(sorted(held_apart, key=natural_key)[:5])}"
    if not wires.hosts:
        return f"{neighbors:,} neighbors are reported, but no host answered and none can be identified by its name"
    if not wires.switches:
        return f"{neighbors:,} neighbors are reported, but no switch is among them"
    if not any(one.links for one in says.values()):
        return (
            "no host reports its RDMA NICs (`rdma link`, `ibdev2netdev`, `ibstat` or `nvidia-smi topo -m`), "
            "so that the rails cannot be numbered"
        )
    return f"{neighbors:,} neighbors are reported, but no RDMA NIC of a host is wired to a switch among them"


def _unread(snapshot: Snapshot) -> str:
    failed = [reading for reading in snapshot.readings if reading.error]
    failed.sort(key=lambda reading: (not reading.collector.startswith(_LISTENS), natural_key(reading.device)))
    if not failed:
        return ""
    first = failed[0]
    more = f" (and {len(failed) - 1:,} more answers)" if len(failed) > 1 else ""
    return f". Not read: {first.device} {first.collector}: {first.error}{more}"
