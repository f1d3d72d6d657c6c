"""Ids that show no port by themselves, and a switch's own names that the plan does not have."""

from rules._examples import hears
from tests.small_fabric import AT, make_plan, snapshot_of
from truerail.analysis.cabling import State, Wiring
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation, Neighbor, Port, Reading, Snapshot
from truerail.rounds import evaluate
from truerail.testing.cases import Case, plan_of

HOSTS = 8


def heard(numbers: dict[int, int]) -> Wiring:
    """What hosts hear of a Junos leaf in whose port n each host n is planned: for each, the port that it is in."""
    plan = plan_of(Case(plan="".join(f"h{n}/nic0 leaf-0/et-0/0/{n} rail=0\n" for n in range(HOSTS))))
    facts = {
        f"h{host}": [
            hears("nic0", "leaf-0", port_id=str(517 + n), port_id_type="local", port_description=f"et-0/0/{n}")
        ]
        for host, n in numbers.items()
    }
    return Round(plan, snapshot_of(facts)).cabling


def test_a_number_out_of_order_names_a_port_whose_own_host_is_silent() -> None:
    """The host planned there hears no one, so that no other row says which name that number has."""
    found = heard({**{n: n for n in range(5)}, 5: 7})
    assert [int(state) for state in found.state[:5]] == [State.RIGHT] * 5
    assert found.state[5] == State.WRONG
    assert str(found.index.spell(int(found.place[5]))) == "leaf-0/et-0/0/7"


def heard_by_leaf(sent: list[Neighbor], names: list[str]) -> Evaluation:
    """Hosts that hear nothing, on a leaf that names its ports otherwise than the plan."""
    plan = plan_of(Case(plan="".join(f"h{n}/nica leaf-0/{name} rail=0\n" for n, name in enumerate(names, 1))))
    readings = [Reading(f"h{i}", "lldp_host", AT, ()) for i in range(1, len(names) + 1)]
    readings.append(Reading("leaf-0", "lldp_switch", AT, tuple(sent)))
    return evaluate(Round(plan, Snapshot(AT, tuple(readings))))


def test_a_port_whose_own_name_is_unknown_is_not_another_port() -> None:
    """Plan in aliases of split ports that no scheme explains, hosts deaf: the leaf's own names show no place."""
    names = [f"Eth{1 + n // 4}/{1 + n % 4}(Port{1 + n // 4})" for n in range(8)]
    sent = [hears(f"Ethernet{n}", f"h{n + 1}/nica") for n in range(8)]
    found = heard_by_leaf(sent, names)
    assert set(found.cable_states.values()) == {CableState.RIGHT}
    assert found.causes == ()


def test_where_aliases_are_understood_an_own_name_without_alias_is_another_port() -> None:
    names = [f"etp{n}" for n in range(1, 9)]
    at = [*range(7), 20]
    sent = [hears(f"Ethernet{4 * at[n]}", f"h{n + 1}/nica") for n in range(8)]
    found = heard_by_leaf(sent, names)
    assert [cause.kind for cause in found.causes] == [CauseKind.CABLE_MOVE]
    assert found.cable_states[Port("h8", "nica")] == CableState.WRONG


def test_an_id_that_several_ports_of_a_host_send_names_none_of_them() -> None:
    """Each DPU sends `p0`. One is known, since its host hears the other end of it; the others may be exchanged."""
    plan = make_plan(hosts=4, rails=3, spines=0)
    of_hosts = {f"h{i}": [hears("nicc", f"leaf-2/swp{i}")] for i in range(1, 5)}
    of_leaves = {f"leaf-{rail}": [hears(f"swp{i}", f"h{i}/p0") for i in range(1, 5)] for rail in range(3)}
    found = evaluate(Round(plan, snapshot_of(of_hosts | of_leaves)))
    for nic, state in (("nica", CableState.UNKNOWN), ("nicb", CableState.UNKNOWN), ("nicc", CableState.RIGHT)):
        assert {found.cable_states[Port(f"h{i}", nic)] for i in range(1, 5)} == {state}, nic
    assert found.causes == ()
