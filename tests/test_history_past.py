"""Questions of the past with the counters of that time, from the history store."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.history_site import RecordedSite
from tests.journal_helpers import Settings
from truerail.analysis.counters.quantities import Quantity
from truerail.history.past_counters import PastCounters, counters_at
from truerail.journal import Journal, open_journal
from truerail.questions.past_publication import Past, past_of
from truerail.questions.question import Asked
from truerail.questions.rails import balance
from truerail.questions.rates import Rates, rates
from truerail.questions.storm import storm
from truerail.simulator.fabric.demo_fabric import living_shape
from truerail.simulator.traffic import FlowFault, FlowFaultKind

BEGAN = datetime(2026, 11, 20, 14, 41, tzinfo=UTC)
TROUBLES = (FlowFaultKind.STORM, FlowFaultKind.STRAGGLER)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RecordedSite, Journal]]:
    """Five minutes of a fabric at work, over the end of an hour, in journal and store."""
    folder = tmp_path_factory.mktemp("past")
    site, journal = RecordedSite(folder / "store", began=BEGAN), open_journal(Settings(f"sqlite:///{folder}/j.db"))
    site.journal = journal
    site.rounds(30)
    site.write()
    yield site, journal
    journal.close()


def past(site: RecordedSite, journal: Journal, at: datetime, counted: Any) -> Past:
    assert site.publication is not None
    return past_of(Asked(site.publication, journal, site.now, counted), at)


def shown(past: Past, port: str) -> Rates:
    return rates(past.publication, port)


def test_rates_of_a_time_are_those_of_the_minutes_before_it(recorded: tuple[RecordedSite, Journal]) -> None:
    site, journal = recorded
    at = site.now - timedelta(minutes=2)
    then = past(site, journal, at, lambda at: counters_at(site.folder, at))
    (line,) = shown(then, "gpu-001/enp26s0f0np0").ports
    live = shown_live(site, "gpu-001/enp26s0f0np0")
    assert line.tx_gbps[-1] == pytest.approx(live, rel=0.1)
    begins = shown(then, "gpu-001").begins
    assert begins[-1] == at.replace(second=0)
    assert any("minute by minute" in one for one in then.as_of.unknown)
    assert not any("keeps no counters" in one for one in then.as_of.unknown)


def shown_live(site: RecordedSite, port: str) -> float:
    assert site.publication is not None
    known = [one for one in rates(site.publication, port).ports[0].tx_gbps if one is not None]
    return float(np.mean(known))


def test_hours_answer_where_the_minutes_are_gone(recorded: tuple[RecordedSite, Journal], tmp_path: Path) -> None:
    site, journal = recorded
    hidden = [
        (path, path.with_suffix(".hidden")) for path in (site.folder.path / "counters_minutes").rglob("*.parquet")
    ]
    for path, other in hidden:
        path.rename(other)
    try:
        then = past(site, journal, datetime(2026, 11, 20, 14, 58, tzinfo=UTC), lambda at: counters_at(site.folder, at))
        gained = then.publication.round.telemetry.summed(Quantity.TX_BYTES).gained
        assert np.isfinite(gained).all()
        assert any("means of the hour" in one for one in then.as_of.unknown)
    finally:
        for path, other in hidden:
            other.rename(path)


def test_a_time_without_samples_has_no_counters(recorded: tuple[RecordedSite, Journal]) -> None:
    site, journal = recorded
    assert counters_at(site.folder, BEGAN - timedelta(days=1)) is None
    for later in (timedelta(minutes=5), timedelta(hours=5)):  # not written yet: no older ones in their place
        found: PastCounters | None = counters_at(site.folder, site.now + later)
        assert found is None
    then = past(site, journal, site.now, None)
    assert any("keeps no counters" in one for one in then.as_of.unknown)
    assert shown(then, "gpu-001").summary == "no device was polled for counters"


@pytest.mark.parametrize("kept", [True, False], ids=["with-store", "journal-alone"])
def test_a_storm_and_a_low_rail_that_are_over_are_shown_as_they_were(tmp_path: Path, kept: bool) -> None:
    site = RecordedSite(tmp_path / "store", shape=living_shape(16, 4, TROUBLES), began=BEGAN)
    site.journal = open_journal(Settings(f"sqlite:///{tmp_path}/j.db"))
    troubles = [site.site.director.disturb(FlowFault(kind)) for kind in TROUBLES]
    seen, at = site.rounds(20), site.now
    for trouble in troubles:
        site.site.director.fix(trouble)
    assert storm(site.rounds(13)).storms == ()
    site.write()
    then = past(site, site.journal, at, (lambda at: counters_at(site.folder, at)) if kept else None).publication
    (was,), (tree,) = storm(seen).storms, storm(then).storms
    assert (tree.culprit,) == troubles[0].cause.subjects
    for name in ("culprit", "behind", "level", "priority", "rail", "nodes", "hosts", "confidence", "summary"):
        assert getattr(tree, name) == getattr(was, name), name
    assert tree.action == ""
    assert [(one.waiting, one.on) for one in tree.edges] == [(one.waiting, one.on) for one in was.edges if kept]
    assert [one.culprit for one in storm(then, tree.hosts[0]).storms] == [tree.culprit]
    stranger = next(
        name for name in site.plan.devices if name.startswith("gpu-") and name not in tree.summary + "".join(tree.hosts)
    )
    calm = (
        f"no PFC storm was reported then that {stranger} takes part in"
        if kept
        else "whether there is a storm is unknown"
    )
    assert storm(then, stranger).summary.startswith(calm)
    lows = [(host.host, host.low, [nic.low for nic in host.rails]) for host in balance(seen).hosts if host.low]
    rails = balance(then)
    assert [(host.host, host.low, [nic.low for nic in host.rails]) for host in rails.hosts if host.low] == lows != []
    assert (rails.not_measured[0].why == "no counters of that time are kept") is not kept
    assert any(nic.load is not None for host in rails.hosts for nic in host.rails) is kept
    site.journal.close()
