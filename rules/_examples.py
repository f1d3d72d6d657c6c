"""Plans of the examples of rules, and what devices report there: neighbors, probes of a few NICs, sweeps."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial, wraps
from itertools import permutations
from typing import Any, ParamSpec

from truerail.analysis.rule import Case
from truerail.model.facts import Fact, Neighbor, NetAddress, NetLink, RdmaLink
from truerail.model.nccl_facts import NcclNic
from truerail.model.probe_facts import ProbeHop, ProbeReach

finds_nic = partial(Case, finds="gpu-1/nic0")
"""An example that finds the first NIC of most plans."""
undecided = partial(Case, unknown=True)
"""An example whose data are insufficient for its rule."""
TWO_HOSTS = "h1/nic0 leaf-0/p1 rail=0\nh2/nic0 leaf-0/p2 rail=0"
_UPLINKS = "leaf-0/u1 spine-1/p1\nleaf-1/u1 spine-1/p2"
TWO_LEAVES = f"{TWO_HOSTS}\nh3/nic0 leaf-1/p1 rail=0\nh4/nic0 leaf-1/p2 rail=0\n{_UPLINKS}"
TWO_PLANES = "gpu-1/nic0p0 leaf-1/swp1 rail=0 plane=0\ngpu-1/nic0p1 leaf-2/swp1 rail=0 plane=1"
UNDER_A_SPINE = (
    "gpu-1/eth1 leaf-0/swp1 rail=0\ngpu-2/eth1 leaf-0/swp2 rail=0\nleaf-0/swp9 spine-1/swp1\nleaf-1/swp9 spine-1/swp2"
)
BETWEEN_LEAVES = (("h1", "h3"), ("h1", "h4"), ("h2", "h3"), ("h2", "h4"))
"""The pairs of hosts on different leaves, from the first leaf to the second."""
RUN, TOS, SMALL, LARGE, FIRST_PORT = "example", 104, 64, 9000, 30_000
Facts = dict[str, list[Fact]]
Rates = Mapping[str, float | Sequence[float]]
P = ParamSpec("P")


def hears(port: str, far: str, **more: Any) -> Neighbor:
    """A neighbor by LLDP: `device/port`, or the name of a device that does not report its port."""
    device, _, name = far.partition("/")
    reported = Neighbor(port, system_name=device, **more)
    return reported._replace(port_id=name, port_id_type="ifname") if name else reported


def alike(devices: str, facts: Sequence[Fact]) -> dict[str, Sequence[Fact]]:
    """The same facts of several devices, with a blank between their names."""
    return dict.fromkeys(devices.split(), facts)


def nccl_lists(host: str, order: tuple[int, ...] = (0, 1)) -> list[NcclNic]:
    """The NICs of a host in NCCL's order."""
    return [NcclNic(host, index, (f"mlx5_{nic}",), "RoCE") for index, nic in enumerate(order)]


def up(port: str) -> NetLink:
    """A port that is up."""
    return NetLink(port, operstate="UP")


def carrier(port: str) -> NetLink:
    """A port of Linux with carrier."""
    return NetLink(port, operstate="UP", flags=("UP", "LOWER_UP"))


def down(port: str) -> NetLink:
    """A port that is down; whether it is switched off is not reported."""
    return NetLink(port, operstate="DOWN")


def no_carrier(port: str) -> NetLink:
    """A port of Linux that is switched on, without carrier."""
    return NetLink(port, operstate="DOWN", flags=("UP", "NO-CARRIER"))


def switched_off(port: str) -> NetLink:
    """A port of Linux that its operator switched off."""
    return NetLink(port, operstate="DOWN", flags=("BROADCAST",))


def rdma(state: str | None = "ACTIVE", physical: str | None = "LINK_UP", **more: Any) -> RdmaLink:
    """The RDMA device of `nic0`, by the state of its port."""
    return RdmaLink("mlx5_0", 1, state, physical, "nic0")._replace(**more)


def sent(flow: int, port: str, peer: str, peer_port: str, packets: int = 3, **more: Any) -> ProbeReach:
    """A sender's row."""
    row = ProbeReach(port, peer, peer_port, "r", flow, "routed", 104, size=64, source_port=50000, sent=packets)
    return row._replace(left_by=port, address="10.0.0.1", peer_address="10.0.0.2", pinglist="A")._replace(**more)


def heard(flow: int, port: str, peer: str, peer_port: str, packets: int = 3, **more: Any) -> ProbeReach:
    """A listener's row; without a size and an interface where nothing was heard."""
    row = ProbeReach(port, peer, peer_port, "r", flow, "routed", 104, heard=packets)
    if packets:
        row = row._replace(size=64, source_port=50000, arrived_on=port, tos_heard=104)
    return row._replace(**more)


def each_to_each(hosts: int, of_pair: Callable[[str, str], Mapping[str, Any]]) -> dict[str, list[ProbeReach]]:
    """Probes from `nic0` of each of `h1`, `h2`, ... to that of each other one. `of_pair` gives the `packets` that the
    listener heard, or fields of its row.
    """
    facts: dict[str, list[ProbeReach]] = {f"h{host + 1}": [] for host in range(hosts)}
    for flow, (here, there) in enumerate(permutations(facts, 2)):
        facts[here].append(sent(flow, "nic0", there, "nic0"))
        facts[there].append(heard(flow, "nic0", here, "nic0", **of_pair(here, there)))
    return facts


def railed(hosts: int, rails: int = 1, more: str = "", *, nic: str = "nic", port: str = "swp") -> str:
    """A plan of hosts `gpu-1`, `gpu-2`, ... with a NIC on each rail's leaf; `more` follows each cable."""
    rows = ((host + 1, rail) for host in range(hosts) for rail in range(rails))
    return "\n".join(f"gpu-{host}/{nic}{rail} leaf-{rail}/{port}{host} rail={rail}{more}" for host, rail in rows)


def one_leaf(hosts: int, spines: int) -> str:
    """A plan of one leaf with hosts `h0`, `h1`, ... and an uplink to each spine, all at 400 Gb/s."""
    below = [f"h{n}/nic0 leaf-0/p{n} rail=0 speed=400" for n in range(hosts)]
    return "\n".join(below + [f"leaf-0/up{n} spine-{n}/p0 speed=400" for n in range(spines)])


def spines(leaves: int = 2) -> str:
    """A plan of leaves with a host each, and four spines."""
    hosts = [f"h{leaf + 1}/nic0 leaf-{leaf}/p1 rail=0" for leaf in range(leaves)]
    return "\n".join(hosts + [f"leaf-{leaf}/up{n} spine-{n}/d{leaf}" for n in range(4) for leaf in range(leaves)])


def over_spines(flow: int, leaf: int = 1) -> tuple[str, ...]:
    """The way of a flow from the first leaf to another one, over the four spines in turn."""
    return "leaf-0", f"spine-{flow % 4}", f"leaf-{leaf}"


class SweptFacts(Mapping[str, Sequence[Fact]]):
    """Facts that are made when they are first read: each process that loads the rules would make 30,000 otherwise."""

    def __init__(self, make: Callable[[], Facts]) -> None:
        self._make = make

    def __getitem__(self, device: str) -> Sequence[Fact]:
        return _made(self._make)[device]

    def __iter__(self) -> Iterator[str]:
        return iter(_made(self._make))

    def __len__(self) -> int:
        return len(_made(self._make))


@cache
def _made(make: Callable[[], Facts]) -> Facts:
    return make()


def _when_read(make: Callable[P, Facts]) -> Callable[P, SweptFacts]:
    @wraps(make)
    def declare(*arguments: P.args, **named: P.kwargs) -> SweptFacts:
        return SweptFacts(partial(make, *arguments, **named))

    return declare


@_when_read
def swept_example(
    path: Callable[[int], Sequence[str]] = over_spines,
    flows: int = 64,
    *,
    lost: Callable[[int], int] = lambda flow: 0,
    deepest: Callable[[int], int] = lambda flow: 99,
    ends: tuple[str, str] = ("h1", "h2"),
    number: int = 0,
    large: Callable[[int], int] | None = None,
    too_big: Callable[[int], str] = lambda flow: "",
    tos_heard: Callable[[int], int] = lambda flow: TOS,
) -> Facts:
    """What two hosts report of flows from `nic0` to `nic0` over the switches that `path` names for each flow, and the
    addresses of these switches. `lost` are the packets lost of each flow, `deepest` the last TTL that is answered;
    `large` the large ones heard of each flow, of 3, `too_big` the switch that refuses them.
    """
    here, there = ends
    facts: Facts = {here: [], there: []}
    for flow in range(flows):
        port, switches = FIRST_PORT + flow, path(flow)
        own = ProbeReach("nic0", there, "nic0", RUN, number, "routed", TOS, SMALL, port)
        facts[here].append(own._replace(sent=100))
        heard = 100 - lost(flow)
        there_heard = own._replace(peer=here, arrived_on="nic0", tos_heard=tos_heard(flow))
        if heard:
            facts[there].append(there_heard._replace(heard=heard))
        if large is not None:
            facts[here].append(own._replace(size=LARGE, sent=3))
            facts[there] += [there_heard._replace(size=LARGE, heard=large(flow))] if large(flow) else []
        if switch := too_big(flow):
            refused = ProbeHop("nic0", there, "nic0", RUN, number, port, 64, LARGE, 3, address_of(switch), 3)
            facts[here].append(refused._replace(kind="too big", mtu=1500))
        for ttl, switch in enumerate(switches, 1):
            hop = ProbeHop("nic0", there, "nic0", RUN, number, port, ttl, SMALL, 2)
            if ttl <= deepest(flow):
                hop = hop._replace(address=address_of(switch), answered=2, kind="time exceeded")
            facts[here].append(hop)
            facts[switch] = [NetAddress("lo", address_of(switch), 32)]
    facts[there].append(ProbeReach("nic0", here, "nic0", RUN, number, "routed", TOS, heard=0))
    return facts


def address_of(switch: str) -> str:
    """The loopback of a switch in an example."""
    words = switch.split("-")
    tier = ("leaf", "spine", "superspine").index(words[0])
    digits = [int(word) for word in words[1:]]
    return f"10.{200 + tier}.{digits[0]}.{digits[1] if len(digits) > 1 else 0}"


@_when_read
def together(*parts: SweptFacts) -> Facts:
    """Several sweeps as one; addresses are alike in all."""
    found: Facts = {}
    for part in parts:
        for device, facts in part.items():
            known = found.setdefault(device, [])
            known += [fact for fact in facts if fact not in known or not isinstance(fact, NetAddress)]
    return found
