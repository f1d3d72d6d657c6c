"""Behaviours drawn at random for one fabric. The shares are choices, not facts: they exist to cover every cell."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from truerail.simulator.behaviours.catalogue import CATALOGUE, Behaviour

SWITCHES: Mapping[str, int] = {"sonic": 32, "cumulus": 14, "eos": 18, "nxos": 13, "junos": 13, "snmp": 10}
"""Relative frequency of the platforms of a fabric's switches."""
_NICS: Mapping[str, int] = {"rdma_down=mlx5": 60, "rdma_down=bnxt": 15, "rdma_down=ionic": 10, "bond": 15}
_AGENTS: Mapping[str, int] = {
    "": 50,
    "host_alias=peer": 14,
    "host_alias=stale_peer": 6,
    "networkd": 10,
    "fw_lldp=only": 5,
    "hpe_fw=local": 3,
    "hpe_fw=mac": 2,
    "fw_lldp=tx": 5,
    "fw_lldp=all": 5,
}
_DESCRIPTIONS: Mapping[str, int] = {
    "": 30,
    "descr=peer_of_plan": 40,
    "descr=peer_of_old_plan": 15,
    "descr=vendor_default": 10,
    "descr=alias": 5,
}
_ALWAYS = ("bond", "rdma_down", "host_alias", "networkd", "fw_lldp", "hpe_fw", "descr", "bond_hides_member")
"""Behaviours already drawn by the tables above."""
_NEVER = ("efa", "dpu_offset", "ib_renumber")
"""Behaviours that need another kind of fabric; they are measured alone."""
_OFTEN = ("sonic_alias", "management_servers", "unplanned_links", "ports_off", "rdma_text_forms", "switch_mac_shared")
_RARE_SHARE = (0.02, 0.1)
"""Share of devices or ports for behaviours that would silence a fabric if all showed them."""


def drawn(rng: Random, platforms: Sequence[str], planes: int) -> tuple[str, ...]:
    """The behaviours of one fabric, in written form."""
    if "infiniband" in platforms:
        return tuple(_others(rng, platforms, planes))
    nic = _choice(rng, {name: weight for name, weight in _NICS.items() if planes > 1 or name != "bond"})
    kinds = [nic, _choice(rng, _AGENTS), _choice(rng, _DESCRIPTIONS)]
    return tuple(kind for kind in (*kinds, *_others(rng, platforms, planes)) if kind)


def drawn_later(rng: Random, platforms: Sequence[str], planes: int) -> tuple[str, ...]:
    """Further behaviours, from their own random numbers: those added to the catalogue after the seeds were in use."""
    return tuple(_seldom(rng, (one for one in CATALOGUE.values() if one.later and _fits(one, platforms, planes))))


def _others(rng: Random, platforms: Sequence[str], planes: int) -> Iterator[str]:
    topologies = [name for name in CATALOGUE if name.startswith("topo_")]
    if rng.random() < 0.3:
        yield rng.choice(topologies)
    for one in CATALOGUE.values():
        is_drawn = one.later or one.name in (*_ALWAYS, *_NEVER, *topologies)
        if not is_drawn and _fits(one, platforms, planes):
            yield from _seldom(rng, (one,))


def _seldom(rng: Random, behaviours: Iterable[Behaviour]) -> Iterator[str]:
    for one in behaviours:
        if rng.random() < (0.5 if one.name in _OFTEN else 0.05):
            value = f"={rng.choice(one.values)}" if one.values else ""
            share = f"@{rng.uniform(*_RARE_SHARE):.3f}" if one.share < 1.0 else ""
            yield f"{one.name}{value}{share}"


def _fits(one: Behaviour, platforms: Sequence[str], planes: int) -> bool:
    """Whether a fabric of these platforms can show it. A behaviour without requirements fits everywhere."""
    if "infiniband" in platforms:
        return one.platform == "infiniband"
    return one.planes <= planes and (one.platform in ("", *platforms) or one.platform == "cumulus")


def _choice(rng: Random, weights: Mapping[str, int]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
