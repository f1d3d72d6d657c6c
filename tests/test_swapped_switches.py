"""What swapped switches let a host be heard as: two cables that hear them are no second owner of its name."""

from tests.small_fabric import AT
from truerail.analysis.round import Round
from truerail.model import Neighbor, NetLink, Reading, Snapshot
from truerail.testing.cases import Case, plan_of

LEAVES, HOSTS = 4, 4


def mac(host: int, leaf: int) -> str:
    return f"02:00:00:00:{host:02}:{leaf:02}"


def test_swapped_switches_give_no_host_a_second_name() -> None:
    """leaf-0 and leaf-1 bear each other's names. Host 1, which sends nothing, and host 2 have swapped a cable each
    there, so that the same port of the one leaf and of the other leads to one and to the other.
    """
    plan = plan_of(
        Case(plan="".join(f"h{h}/nic{n} leaf-{n}/p{h} rail={n}\n" for h in range(HOSTS) for n in range(LEAVES)))
    )
    swapped = {(1, 0): 2, (2, 0): 1}
    sent = {0: "leaf-1", 1: "leaf-0"}
    hosts: dict[int, list[Neighbor]] = {h: [] for h in range(HOSTS)}
    leaves: dict[int, list[Neighbor]] = {n: [] for n in range(LEAVES)}
    for h in range(HOSTS):
        for n in range(LEAVES):
            port = swapped.get((h, n), h)
            hosts[h].append(Neighbor(f"nic{n}", system_name=sent.get(n, f"leaf-{n}"), port_id=f"p{port}"))
            if h != 1:
                leaves[n].append(Neighbor(f"p{port}", system_name=f"h{h}", port_id=mac(h, n), port_id_type="mac"))
    readings = [Reading(f"leaf-{n}", "lldp_switch", AT, tuple(rows)) for n, rows in leaves.items()]
    for h, rows in hosts.items():
        links = tuple(NetLink(f"nic{n}", mac=mac(h, n)) for n in range(LEAVES))
        readings += [Reading(f"h{h}", "lldp_host", AT, tuple(rows)), Reading(f"h{h}", "net_links", AT, links)]
    assert Round(plan, Snapshot(AT, readings)).cabling.identity.duplicates == {}


def test_swapped_hosts_below_swapped_switches_stay_swapped() -> None:
    """Every switch is one of a pair that is swapped: what these hear of hosts is all that there is."""
    plan = plan_of(
        Case(plan="".join(f"h{h}/nic{n} leaf-{n}/p{h} rail={n}\n" for h in range(HOSTS) for n in range(LEAVES)))
    )
    called = {0: 1, 1: 0}
    readings: list[Reading] = []
    for n in range(LEAVES):
        rows = [
            Neighbor(f"p{h}", system_name=f"h{called.get(h, h)}", port_id=mac(h, n), port_id_type="mac")
            for h in range(HOSTS)
        ]
        readings.append(Reading(f"leaf-{n}", "lldp_switch", AT, tuple(rows)))
    for h in range(HOSTS):
        heard = tuple(Neighbor(f"nic{n}", system_name=f"leaf-{n ^ 1}", port_id=f"p{h}") for n in range(LEAVES))
        links = tuple(NetLink(f"nic{n}", mac=mac(h, n)) for n in range(LEAVES))
        readings += [Reading(f"h{h}", "lldp_host", AT, heard), Reading(f"h{h}", "net_links", AT, links)]
    wiring = Round(plan, Snapshot(AT, readings)).cabling
    names = wiring.index.devices.names
    assert {names[a]: names[b] for a, b in wiring.identity.announces.items() if names[a].startswith("h")} == {
        "h0": "h1",
        "h1": "h0",
    }
