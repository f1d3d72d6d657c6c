"""A NIC's address belongs to another rail's subnet, or to none of its own rail's.

## Why it matters
Each rail has its subnets so that traffic stays on it. With an address of another rail the host answers on the wrong
interface (ARP flux), routes point elsewhere, and RDMA connections time out although every cable is right. Or the
cable is wrong and the address is right: then the two findings confirm each other.

## How it is detected
The addresses of planned NICs (`ip -j addr`) are compared with the subnets that the plan gives the rails, IPv4 and
IPv6 apart. Link-local, loopback and multicast addresses do not count, nor do rails to which the plan gives no subnet
of that kind. A second address outside the rail is tolerated if another one is inside and no other rail owns it.

## What to do
Where CAB001 names the same NIC, mend the cable first and look again. Else correct the address in the host's network
configuration, or the subnet in the plan.

## Decide
- `in the subnet of rail`: the address of another rail. If the cable is wrong too (CAB001), mend the cable only; the
  address is then right.
- `in no subnet of its rail`: a typing error, or a subnet that the plan does not have yet.

## False positives
A new subnet that was added to the fabric and not to the plan: all NICs of the rail then report it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from socket import AF_INET, AF_INET6, inet_pton

import numpy as np
import numpy.typing as npt

from rules._examples import railed
from rules._places import places
from truerail.analysis.cabling import ONE_END, Wiring, evidence_of
from truerail.analysis.probes.upper_links import planned_cables
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import NetAddress, Severity
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.names import printable

Halves = npt.NDArray[np.uint64]
_IPV4_MAPPED = bytes(10) + b"\xff\xff"
_NOT_OF_A_RAIL = ("127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "::1/128", "fe80::/10", "ff00::/8")


@rule("CFG002", Severity.WARNING, [NetAddress])
def rail_subnet_mismatch(round: Round) -> Findings:
    """Planned NICs with an address that is not of their rail."""
    nets = [_net(rail.index, text) for rail in round.plan.rails.values() for text in rail.subnets]
    if not nets:
        return
    wiring = round.cabling
    reported = _of_planned_nics(wiring)
    for i, other in _strays(reported, nets):
        cable = int(reported.cable[i])
        fact = round.snapshot.table(NetAddress).rows[int(reported.row[i])]
        mine = ", ".join(round.plan.rails[int(reported.rail[i])].subnets)
        where = f"the subnet of rail {other.rail} ({other.text})" if other else f"no subnet of its rail ({mine})"
        yield rail_subnet_mismatch.found(
            wiring.index.a_port(cable),
            summary=f"{places(round).subject(cable)} has the address {printable(fact.address, 64)}, in {where}",
            action=f"Give {wiring.index.a_port(cable)} an address in {mine}, unless its cable is wrong too.",
            rail=int(reported.rail[i]),
            confidence=ONE_END,
            evidence=(evidence_of(round.snapshot, NetAddress, int(reported.row[i])),),
            detail=(("address", printable(fact.address, 64)), ("subnets", mine)),
        )


@dataclass(frozen=True)
class _Net:
    """One subnet of a rail. Addresses are 128 bits in two halves, shape (addresses, 2); IPv4 is mapped into IPv6."""

    rail: int
    text: str
    version: int
    first: tuple[int, int]
    last: tuple[int, int]

    def holds(self, halves: Halves) -> Mask:
        """Which addresses are inside."""
        high, low = halves[:, 0], halves[:, 1]
        inside = (high >= self.first[0]) & (high <= self.last[0])
        if self.first[0] == self.last[0]:
            inside &= (low >= self.first[1]) & (low <= self.last[1])
        return np.asarray(inside, dtype=bool)


@dataclass(frozen=True)
class _Reported:
    """Addresses of planned NICs, shape (addresses,): table row, cable, rail, IP version, and the address itself."""

    row: Codes
    cable: Codes
    rail: Codes
    version: Codes
    halves: Halves


def _net(rail: int, text: str) -> _Net:
    network = ip_network(text, strict=False)
    first, last = (_halves([_packed(str(ip))]) for ip in (network[0], network[-1]))
    return _Net(rail, text, network.version, (int(first[0, 0]), int(first[0, 1])), (int(last[0, 0]), int(last[0, 1])))


def _packed(address: str) -> bytes:
    """16 bytes; empty for text that is no address."""
    try:
        if ":" in address:
            return inet_pton(AF_INET6, address.partition("%")[0])
        return _IPV4_MAPPED + inet_pton(AF_INET, address)
    except (OSError, ValueError):
        return b""


def _halves(packed: list[bytes]) -> Halves:
    return np.frombuffer(b"".join(packed), dtype=">u8").astype(np.uint64).reshape(-1, 2)


def _of_planned_nics(wiring: Wiring) -> _Reported:
    """The readable addresses of planned host ports."""
    table, index = wiring.seen.table(NetAddress), wiring.index
    name = index.ports.name_codes(table.column("netdev"))
    cable = planned_cables(wiring, wiring.identity.devices_of(table), name)
    row = np.flatnonzero(cable >= 0)
    row = row[index.rail[cable[row]] >= 0]
    cable = cable[row]
    packed = [_packed(table.rows[i].address) for i in row.tolist()]
    good = np.array([bool(p) for p in packed], dtype=bool)
    row, cable = row[good], cable[good]
    version = np.array([6 if ":" in table.rows[i].address else 4 for i in row.tolist()], dtype=np.int64)
    return _Reported(row, cable, index.rail[cable], version, _halves([p for p in packed if p]))


def _strays(reported: _Reported, nets: list[_Net]) -> Iterator[tuple[int, _Net | None]]:
    """The first address of each NIC that is not of its rail, and the other rail's subnet that it is in, if any."""
    own = _inside_own(reported, nets)
    astray = np.flatnonzero(~own & _evaluated(reported, nets))
    other = np.full(len(astray), NONE, dtype=np.int64)
    for number, net in enumerate(nets):
        other[(other < 0) & net.holds(reported.halves[astray])] = number
    excused = (other < 0) & np.isin(reported.cable[astray], reported.cable[own])
    _, first = np.unique(reported.cable[astray[~excused]], return_index=True)
    for i, number in zip(astray[~excused][first].tolist(), other[~excused][first].tolist(), strict=True):
        yield i, nets[number] if number >= 0 else None


def _inside_own(reported: _Reported, nets: list[_Net]) -> Mask:
    inside = np.zeros(len(reported.row), dtype=bool)
    for net in nets:
        of_rail = np.flatnonzero(reported.rail == net.rail)
        inside[of_rail] |= net.holds(reported.halves[of_rail])
    return inside


def _evaluated(reported: _Reported, nets: list[_Net]) -> Mask:
    """Which addresses can be of a rail at all, and have a subnet of their kind to compare with."""
    evaluated = np.zeros(len(reported.row), dtype=bool)
    for rail, version in {(net.rail, net.version) for net in nets}:
        evaluated |= (reported.rail == rail) & (reported.version == version)
    for text in _NOT_OF_A_RAIL:
        evaluated &= ~_net(-1, text).holds(reported.halves)
    return evaluated


PLAN = railed(1, rails=3)
_LINKS = [NetAddress("lo", "127.0.0.1", 8), NetAddress("eno1", "192.0.2.7", 24)]


def _of(nic: str, *addresses: str) -> list[NetAddress]:
    """The addresses of a NIC, each with its length: `10.0.0.1/24`."""
    split = (address.rsplit("/", 1) for address in addresses)
    return [NetAddress(nic, address, int(length)) for address, length in split]


_on_rails = partial(Case, rails="0=10.0.0.0/24,fd00:0::/64 1=10.0.1.0/24")

EXAMPLES = {
    "An address of rail 1 on the NIC of rail 0.": _on_rails(
        {"gpu-1": [*_LINKS, *_of("nic0", "10.0.1.1/24"), *_of("nic1", "10.0.1.2/24")]}, "gpu-1/nic0"
    ),
    "An address of no rail.": _on_rails({"gpu-1": _of("nic0", "172.16.0.1/24", "172.16.0.2/24")}, "gpu-1/nic0"),
    "The same in IPv6; and one address inside does not excuse another rail's.": _on_rails(
        {"gpu-1": [*_of("nic0", "fd00:9::1/64"), *_of("nic1", "10.0.1.1/24", "10.0.0.1/24")]}, "gpu-1/nic0 gpu-1/nic1"
    ),
    # Quiet:
    "Each address is of its rail; link-local ones and those of a rail without subnets do not count.": _on_rails(
        {
            "gpu-1": [
                *_LINKS,
                *_of("nic0", "10.0.0.1/24", "fe80::1%nic0/64", "fd00::1/64", "192.0.2.99/32"),
                *_of("nic1", "10.0.1.1/24", "fd00:9::1/64", "not an address/0"),
                *_of("nic2", "10.0.0.9/24"),
            ]
        }
    ),
    "The plan gives no subnets.": Case({"gpu-1": _of("nic0", "10.0.1.1/24")}),
}
