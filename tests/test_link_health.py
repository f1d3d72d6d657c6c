"""Light, errors, falls and speed of both ends of each cable: worst first, and unknown where no device reports it."""

from dataclasses import replace

import pytest

from tests.small_fabric import make_plan
from tests.view_fabrics import faulty
from truerail.analysis.round import Round
from truerail.errors import QueryError
from truerail.model import Snapshot
from truerail.model.facts import BitErrorRate, Fact, Optic
from truerail.model.reading import Reading
from truerail.rounds import publication_of
from truerail.views.link_health import LinkHealth, link_health

AT = faulty().at


def with_facts(facts: dict[str, list[Fact]]) -> dict[str, LinkHealth]:
    """The cables of a small fabric of which only these facts are known, by subject, in their order."""
    readings = [Reading(device, "optics", AT, tuple(rows)) for device, rows in facts.items()]
    published = publication_of(Round(make_plan(), Snapshot(AT, readings)), fabric="lab")
    return {line.subject: line for line in link_health(published).items}


def test_what_no_device_reports_is_unknown_and_never_zero() -> None:
    lines = with_facts({})
    assert len(lines) == len(make_plan().cables)
    for line in lines.values():
        assert not line.reported
        for end in line.ends:
            values = (end.rx_dbm, end.tx_dbm, end.celsius, end.flaps, end.fec_uncorrected, end.ber_before_fec)
            assert values == (None,) * 6
            assert end.lanes == 0


def test_the_worst_lane_stands_for_a_module_and_the_worst_cable_comes_first() -> None:
    cable = next(c for c in make_plan().cables if c.a.device == "h2")
    lanes: list[Fact] = [
        Optic(cable.a.name, 1, -1.0, 0.5, temperature_celsius=40.0, vendor="ACME", part="P", serial="S1"),
        Optic(cable.a.name, 2, -20.0, 0.4, temperature_celsius=41.0, vendor="ACME", part="P", serial="S1"),
    ]
    lines = with_facts({"h2": lanes})
    first = next(iter(lines.values()))
    assert first.subject == str(cable.a)
    assert first.reported
    assert (first.severity, [one.rule for one in first.findings]) == ("warning", ["LNK005"])
    near, far = first.ends
    assert (near.rx_dbm, near.tx_dbm, near.celsius, near.lanes) == (-20.0, 0.4, 41.0, 2)
    assert (near.vendor, near.part, near.serial) == ("ACME", "P", "S1")
    assert (far.rx_dbm, far.serial) == (None, None)


def test_a_rate_that_a_device_computed_keeps_its_time() -> None:
    cable = make_plan().cables[0]
    lines = with_facts({cable.b.device: [BitErrorRate(cable.b.name, 2e-7, 0.0, 900.0)]})
    near, far = lines[str(cable.a)].ends
    assert (far.ber_before_fec, far.ber_after_fec, far.ber_seconds) == (2e-7, 0.0, 900.0)
    assert near.ber_before_fec is None


def test_filters_name_what_is_not_known() -> None:
    published = replace(faulty())
    everything = link_health(published).total
    assert link_health(published, rail=0).total + link_health(published, rail=1).total < everything
    assert link_health(published, reported=True).total + link_health(published, reported=False).total == everything
    assert {line.rail for line in link_health(published, nodes="gpu-001").items} == set(range(8))
    with pytest.raises(QueryError, match="loud"):
        link_health(published, severity="loud")
