"""Small InfiniBand fabrics for tests: links as a discovery tells them, and the plans that they are held against."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from tests.small_fabric import AT
from truerail.analysis.cabling import Wiring
from truerail.analysis.round import Round
from truerail.model import (
    Cable,
    Device,
    Fact,
    LinkSpeed,
    Neighbor,
    NetLink,
    Plan,
    Port,
    RdmaLink,
    Reading,
    Role,
    Snapshot,
    Transport,
)

_COLLECTOR = {RdmaLink: "rdma_link", NetLink: "net_link", LinkSpeed: "link_speed"}
End = tuple[str, str, str]
"""GUID, what the node calls itself, port."""


def guid(number: int) -> str:
    return f"0xa088c203{number:08x}"


def row(own: End, far: End, label: str | None = None) -> Neighbor:
    """One end of a link. `label` is that of the far port."""
    return Neighbor(
        own[2],
        chassis_id=far[0],
        chassis_id_type="guid",
        system_name=far[1],
        port_id=far[2],
        port_id_type="ifname",
        port_description=label,
        via="InfiniBand",
        of=own[1],
        of_guid=own[0],
    )


def link(one: End, other: End) -> tuple[Neighbor, Neighbor]:
    return row(one, other), row(other, one)


def hca(host: int, device: int = 0, name: str | None = None, port: str | None = None) -> End:
    """An adapter of gpu-N: `gpu-N mlx5_D` unless it calls itself otherwise."""
    return guid(host << 8 | device), name or f"gpu-{host}", port or f"mlx5_{device}"


def switch(number: int, port: int, name: str | None = None) -> End:
    return guid(0xF0000 + number), name or f"leaf-{number}", str(port)


def discovery(
    *links: Sequence[Neighbor], by: str = "gpu-1", age_seconds: float = 0.0, speeds: Iterable[LinkSpeed] = ()
) -> Reading:
    at: datetime = AT - timedelta(seconds=age_seconds)
    facts: tuple[Fact, ...] = (*speeds, *(end for pair in links for end in pair))
    return Reading(by, "ib_fabric", at, facts)


def plan(cables: str, **devices: Device) -> Plan:
    """A plan of lines such as `gpu-1/mlx5_0 leaf-0/1`; `devices` replace those made of the names (`_` is `-`)."""
    pairs = [tuple(Port(*end.split("/", 1)) for end in line.split()) for line in cables.strip().splitlines()]
    names = dict.fromkeys(port.device for pair in pairs for port in pair)
    made = {name: Device(name, Role.HOST if name.startswith("gpu") else _tier(name)) for name in names}
    made |= {device.name: device for device in devices.values()}
    return Plan(made, tuple(Cable(a, b, rail=0) for a, b in pairs), transport=Transport.INFINIBAND)


def _tier(name: str) -> Role:
    return Role.SPINE if name.startswith("spine") else Role.LEAF


def answer(device: str, *facts: Fact) -> Reading:
    return Reading(device, _COLLECTOR[type(facts[0])], AT, facts)


def joined(planned: Plan, *readings: Reading) -> Wiring:
    return Round(planned, Snapshot(AT, readings)).cabling


def places(wiring: Wiring) -> list[str | None]:
    """Where the lower end of each cable is seen."""
    return [str(wiring.index.spell(port)) if port >= 0 else None for port in wiring.place.tolist()]
