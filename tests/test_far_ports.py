"""Numbers that a switch sends for its ports: what their order tells about ports that nothing else names."""

from small_fabric import AT

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.round import Round
from truerail.model import Neighbor, Reading, Snapshot
from truerail.testing.cases import Case, plan_of

HOSTS = 8


def heard(numbers: dict[int, int]) -> Wiring:
    """What hosts hear of a Junos leaf in whose port n each host n is planned: for each, the port that it is in."""
    plan = plan_of(Case("", "".join(f"h{n}/nic0 leaf-0/et-0/0/{n} rail=0\n" for n in range(HOSTS)), {}))
    readings = [
        Reading(
            f"h{host}",
            "lldp_host",
            AT,
            (
                Neighbor(
                    "nic0",
                    system_name="leaf-0",
                    port_id=str(517 + n),
                    port_id_type="local",
                    port_description=f"et-0/0/{n}",
                ),
            ),
        )
        for host, n in numbers.items()
    ]
    return Round(plan, Snapshot(AT, readings)).cabling


def test_a_number_out_of_order_names_a_port_whose_own_host_is_silent() -> None:
    """The host planned there hears no one, so that no other row says which name that number has."""
    found = heard({**{n: n for n in range(5)}, 5: 7})
    assert [int(state) for state in found.state[:5]] == [State.RIGHT] * 5
    assert found.state[5] == State.WRONG
    assert str(found.index.spell(int(found.place[5]))) == "leaf-0/et-0/0/7"
