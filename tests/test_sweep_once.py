"""A path sweep is evaluated once for the same results of probes, and again for new ones."""

from dataclasses import replace
from datetime import UTC, datetime

from rules._examples import swept_example
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.analysis.sweep.swept import swept
from truerail.model import Neighbor, NetAddress, Reading, Snapshot
from truerail.model.facts import Fact
from truerail.testing.cases import plan_of

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
PLAN = plan_of(
    Case(
        {},
        plan="\n".join(
            ["h1/nic0 leaf-0/p1 rail=0", "h2/nic0 leaf-1/p1 rail=0"]
            + [f"leaf-{leaf}/up{spine} spine-{spine}/d{leaf}" for spine in range(4) for leaf in range(2)]
        ),
    )
)


def _snapshot(dead: int | None = None) -> Snapshot:
    """A sweep over four spines, of which one may lose everything that it sends down."""
    facts = swept_example(
        lambda flow: ("leaf-0", f"spine-{flow % 4}", "leaf-1"),
        lost=lambda flow: 100 if flow % 4 == dead else 0,
        deepest=lambda flow: 2 if flow % 4 == dead else 9,
    )
    readings = [
        Reading(device, "net_address" if isinstance(of[0], NetAddress) else "probe_results", AT, tuple(of))
        for device, of in facts.items()
    ]
    return Snapshot(AT, readings)


def _with(snapshot: Snapshot, device: str, *facts: Fact) -> Snapshot:
    """The same facts, and neighbours of a device."""
    return Snapshot(AT, [*snapshot.readings, Reading(device, "lldp_json", AT, facts)])


def test_rounds_with_the_same_results_share_one_sweep() -> None:
    first = Round(PLAN, _with(_snapshot(), "leaf-0"))
    found = swept(first)
    steady = Round(PLAN, replace(first.snapshot), cabled=first.cabling)
    assert swept(steady) is found
    named = Neighbor("up0", system_name="spine-0", port_id="d0", port_id_type="ifname")
    recabled = Round(PLAN, _with(_snapshot(), "leaf-0", named), cabled=first.cabling)
    assert recabled.cabling.index is not first.cabling.index
    assert swept(recabled) is found, "a neighbour that changes is no new result of a probe"


def test_new_results_and_other_addresses_are_evaluated_again() -> None:
    first = Round(PLAN, _snapshot())
    found = swept(first)
    assert not found.losses.seats
    later = swept(Round(PLAN, _snapshot(dead=2), cabled=first.cabling))
    assert [later.paths.graph.name(one) for one in later.losses.silent_seats[0].segments] == [
        "spine-2/d1 -> leaf-1/up2"
    ]
    unknown = [one for one in _snapshot().readings if one.device != "spine-1"]
    assert swept(Round(PLAN, Snapshot(AT, unknown))).strangers == ("10.201.1.0",)
    assert swept(Round(PLAN, _snapshot())).strangers == ()
